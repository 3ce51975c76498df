//! `cargo xtask check`: the steps that a change must pass, in three extents.
//!
//! Without options it is everything but what a night has time for: documentation of private items, code as it is
//! optimised everywhere, an empty store of compiled code, fresh random programs, sanitizers (`--all`). `--since REV`
//! runs the part that what has changed since a revision can break.

use crate::sanitizers;
use crate::since::{Scope, scope};
use crate::steps::{PYTHON, Step, report, run};
use crate::times;
use std::path::Path;
use std::time::{Duration, Instant};

/// `check` fails when its steps take longer, so that it stays something that is run before each change. On a bare
/// machine Cargo builds the tests first, which takes a third of it.
const LIMIT: Duration = Duration::from_secs(35 * 60);
/// The random functions and programs of Rust's tests at night.
const MANY: &str = "20000";

/// The extent of a check.
#[derive(Debug, PartialEq)]
enum Extent {
    Change,
    Since(String),
    /// With so many minutes of fresh random programs.
    All(u64),
}

fn extent(arguments: &[String]) -> Result<Extent, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let minutes = |text: &str| text.parse().map_err(|_| format!("{text} is no number of minutes"));
    match words[..] {
        [] => Ok(Extent::Change),
        ["--since", revision] => Ok(Extent::Since(revision.to_owned())),
        ["--all"] => Ok(Extent::All(20)),
        ["--all", "--minutes", number] => Ok(Extent::All(minutes(number)?)),
        _ => Err("usage: cargo xtask check [--since REV | --all [--minutes N]]".to_owned()),
    }
}

/// Runs the check. The names of what failed.
pub fn check(root: &Path, arguments: &[String]) -> Vec<String> {
    let start = Instant::now();
    let (extent, scope) = match extent(arguments).and_then(|extent| Ok((scope_of(root, &extent)?, extent))) {
        Ok((scope, extent)) => (extent, scope),
        Err(error) => return vec![error],
    };
    scope.reasons.iter().for_each(|reason| println!("{reason}"));
    // Tests that look at the store have a folder of their own.
    let cache = std::env::temp_dir().join(format!("lancehead-cache-{}", std::process::id()));
    let mut steps = rust(&scope, &extent);
    steps.extend(python(root, &scope, &extent));
    steps.extend(lints(&scope));
    if matches!(extent, Extent::All(_)) {
        steps.extend(sanitizers::steps());
        let path = cache.to_string_lossy().into_owned();
        steps = steps.into_iter().map(|step| step.with("XDG_CACHE_HOME", path.clone())).collect();
    }
    let outcomes = run(root, steps);
    let tests = times::measured(root);
    times::keep(root, &outcomes, &tests);
    let mut failed = report(&outcomes, start);
    // Another extent has other times.
    if extent == Extent::Change {
        failed.extend(times::above(root, &tests));
    }
    if !matches!(extent, Extent::All(_)) && start.elapsed() > LIMIT {
        failed.push(format!("the limit of {} s", LIMIT.as_secs()));
    }
    // It is not there if nothing was compiled.
    let _ = std::fs::remove_dir_all(cache);
    failed
}

fn scope_of(root: &Path, extent: &Extent) -> Result<Scope, String> {
    match extent {
        Extent::Since(revision) => scope(root, revision),
        Extent::Change | Extent::All(_) => Ok(Scope::everything(root)),
    }
}

fn rust(scope: &Scope, extent: &Extent) -> Vec<Step> {
    let packages = |names: &Option<Vec<String>>| match names {
        None => vec!["--workspace".to_owned()],
        Some(names) => names.iter().flat_map(|name| ["-p".to_owned(), name.clone()]).collect(),
    };
    let command = |first: &[&str], names, last: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        [words(first), packages(names), words(last)].concat()
    };
    let is_some = |names: &Option<Vec<String>>| names.as_ref().is_none_or(|names| !names.is_empty());
    let mut steps = vec![Step::cargo("fmt", &["fmt", "--all", "--check"])];
    if is_some(&scope.linted) {
        let last = ["--all-targets", "--quiet", "--", "-D", "warnings"];
        steps.push(Step::cargo("clippy", &command(&["clippy"], &scope.linted, &last)));
    }
    if is_some(&scope.tested) {
        // A step of its own, so that its seconds are known.
        steps.push(Step::cargo("tests are built", &command(&["test", "--quiet", "--no-run"], &scope.tested, &[])));
        let test = Step::cargo("cargo test", &command(&["test", "--quiet", "--no-fail-fast"], &scope.tested, &[]));
        steps.push(if matches!(extent, Extent::All(_)) { test.with("LH_FUZZ", MANY) } else { test });
    }
    if matches!(extent, Extent::All(_)) {
        let words = ["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"];
        // Private items are documented, too: links lead to them.
        let flags = "-D warnings -A rustdoc::private_intra_doc_links";
        steps.push(Step::cargo("cargo doc", &words).with("RUSTDOCFLAGS", flags));
    }
    steps
}

fn python(root: &Path, scope: &Scope, extent: &Extent) -> Vec<Step> {
    let optimised: &[&str] = if matches!(extent, Extent::All(_)) { &["--optimised", "--whole"] } else { &[] };
    let mut steps = Vec::new();
    if let Extent::All(minutes) = extent {
        let minutes = minutes.to_string();
        steps.push(Step::new("fresh programs", &[PYTHON, "tests/fuzz/night.py", "--minutes", &minutes]));
    }
    steps.extend(times::steps(root, times::parts(&scope.tests, times::recorded(root)), optimised));
    if !scope.pages.is_empty() {
        let some = format!("not test_every_block_runs_alone or {}", scope.pages.join(" or "));
        steps.push(Step::pytest("pages", &["tests/python/docs/test_docs.py", "-k", &some]));
    }
    steps
}

fn lints(scope: &Scope) -> Vec<Step> {
    let own = std::env::current_exe().map_or_else(|_| "xtask".to_owned(), |path| path.to_string_lossy().into_owned());
    let mut steps = vec![Step::new("tidy", &[own.as_str(), "tidy"])];
    if scope.has_licences {
        steps.push(Step::new("licences", &[PYTHON, "xtask/deny.py"]));
    }
    if scope.has_python {
        steps.push(Step::new("ruff format", &[PYTHON, "-m", "ruff", "format", "--check", "--quiet"]));
        steps.push(Step::new("ruff", &[PYTHON, "-m", "ruff", "check", "--quiet"]));
        steps.push(Step::new("mypy", &[PYTHON, "-m", "mypy"]));
    }
    if scope.has_package {
        steps.push(Step::new("stubtest", &[PYTHON, "-m", "mypy.stubtest", "lancehead._core"]));
        steps.extend(pages(&["--check"]));
    }
    steps
}

/// The generated pages of the manual.
pub fn pages(arguments: &[&str]) -> Vec<Step> {
    let page = |name: &str, script| Step::new(name, &[&[PYTHON, script], arguments].concat());
    vec![
        page("supported names", "xtask/supported.py"),
        page("names of NumPy", "xtask/numpy_page.py"),
        page("options", "xtask/options_page.py"),
        page("reference", "xtask/reference.py"),
        page("figures", "benches/tables.py"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_has_three_extents() {
        let of = |text: &str| extent(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of(""), Ok(Extent::Change));
        assert_eq!(of("--since main"), Ok(Extent::Since("main".to_owned())));
        assert_eq!((of("--all"), of("--all --minutes 60")), (Ok(Extent::All(20)), Ok(Extent::All(60))));
        assert!(of("--since").is_err() && of("--all --minutes many").is_err() && of("--quick").is_err());
    }
}
