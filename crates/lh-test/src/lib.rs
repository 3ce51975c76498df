//! Runs the file tests of passes, `tests/ir/<pass>/*.lir`.
//!
//! A file begins with `; test <pass> ...`; what follows `; ===` is the expected result of those passes, each line behind
//! `; `. `LH_BLESS=1` rewrites the expectations. Every file also checks that printing and parsing are inverse and that
//! the verifier is content before and after; after `refcount`, counting is tried out by [`counting`].

pub mod counting;
pub mod generate;
pub mod random;

use lh_ir::Function;
use lh_ir::parse::{Tables, parse};
use lh_ir::print::print;
use lh_ir::verify::verify;
use std::path::{Path, PathBuf};

/// Names in textual IR.
pub const TABLES: Tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };

const MARK: &str = "; ===\n";

/// All test files below a directory, sorted.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "lir") {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Runs a file; the message says what is wrong.
pub fn run_file(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (source, expected) = text.split_once(MARK).unwrap_or((&text, ""));
    let first = source.lines().next().unwrap_or_default();
    let passes = first.strip_prefix("; test ").ok_or("the first line must be `; test <pass>`")?;
    let got = transformed(source, passes)?;
    if got == expected {
        return Ok(());
    }
    if std::env::var_os("LH_BLESS").is_some() {
        return std::fs::write(path, format!("{source}{MARK}{got}")).map_err(|e| e.to_string());
    }
    Err(format!("expected\n{expected}\ngot\n{got}\n(`LH_BLESS=1` rewrites the expectation)"))
}

/// The functions of a text after passes, as comment lines.
fn transformed(source: &str, passes: &str) -> Result<String, String> {
    let mut out = String::new();
    let all = parse(source, TABLES).map_err(|e| e.to_string())?;
    // Calls mean the functions of the file by their order.
    let bodies: Vec<_> = all.iter().map(lh_opt::pipeline::inlinable).collect();
    for (number, mut func) in all.into_iter().enumerate() {
        checked(&func)?;
        let known = lh_opt::pipeline::Known {
            bodies: &|s| bodies.get(s.index()).cloned().flatten(),
            summaries: &|_| None,
            spec: lh_ir::SpecId::new(number),
        };
        for pass in passes.split_whitespace() {
            match lh_opt::pipeline::run_named(pass, &mut func, &known) {
                None => return Err(format!("no pass `{pass}`")),
                Some(Ok(_)) => {}
                Some(Err(d)) => {
                    out.push_str(&format!("; {}: {} at {}:{}\n", d.id.0, d.label, d.span.line, d.span.col));
                    break;
                }
            }
            checked(&func)?;
            if pass == "refcount" {
                counting::try_out(&func, 200).map_err(|e| format!("{e}\n{}", print(&func)))?;
            }
        }
        for line in print(&func).lines() {
            out.push_str("; ");
            out.push_str(line);
            out.push('\n');
        }
    }
    Ok(out)
}

/// Verifies a function and checks that its text can be parsed back.
pub fn checked(func: &Function) -> Result<(), String> {
    verify(func).map_err(|e| format!("{e}\n{}", print(func)))?;
    let text = print(func);
    let again = parse(&text, TABLES).map_err(|e| format!("{e} of\n{text}"))?;
    let back: String = again.iter().map(print).collect();
    if back == text { Ok(()) } else { Err(format!("printed\n{text}\nbut parsed as\n{back}")) }
}
