//! Finds the run of a pass that makes a command fail: `cargo xtask bisect python wrong.py`.
//!
//! The command is run with `LANCEHEAD_PASSES=limit=N` for several N, by bisection. It must succeed without optional
//! passes and fail with all of them, and compile the same functions in the same order each time.

use std::process::{Command, Stdio};

/// The first run of a pass with which the command fails, and the compiler's line about it.
///
/// # Errors
/// What keeps the search from an answer.
pub fn bisect(command: &[String]) -> Result<String, String> {
    let [program, arguments @ ..] = command else {
        return Err("usage: cargo xtask bisect <command that fails>".to_owned());
    };
    let run = |limit: Option<u64>| -> Result<(bool, String), String> {
        let mut c = Command::new(program);
        c.args(arguments).env_remove("LANCEHEAD_PASSES").env("LANCEHEAD_CACHE", "0").stdout(Stdio::null());
        if let Some(n) = limit {
            c.env("LANCEHEAD_PASSES", format!("limit={n}"));
        }
        let output = c.output().map_err(|e| format!("{program}: {e}"))?;
        Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
    };
    if run(None)?.0 {
        return Err("the command succeeds with all passes".to_owned());
    }
    if !run(Some(0))?.0 {
        return Err("the command fails without optional passes: no pass that can be left out is the cause".to_owned());
    }
    let mut good = 0;
    let mut bad = 64;
    while run(Some(bad))?.0 {
        (good, bad) = (bad, bad.checked_mul(2).ok_or("the command fails with all passes only")?);
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        let is_good = run(Some(middle))?.0;
        *if is_good { &mut good } else { &mut bad } = middle;
    }
    let errors = run(Some(bad))?.1;
    let told = errors.lines().find(|l| l.starts_with(&format!("LANCEHEAD_PASSES: run {bad} ")));
    told.map(str::to_owned).ok_or_else(|| format!("it fails from limit={bad} on"))
}
