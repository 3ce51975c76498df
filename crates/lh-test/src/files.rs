//! Files of tests: where they are, their expectations, and what holds of every function in them.

use lh_ir::Function;
use lh_ir::parse::{Tables, parse};
use lh_ir::print::print;
use lh_ir::verify::verify;
use std::path::{Path, PathBuf};

/// Names in textual IR.
pub const TABLES: Tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };

pub(crate) const MARK: &str = "; ===\n";

/// All test files below a directory, by the end of their names, sorted.
pub fn files(dir: &Path, end: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.expect("a readable directory").path();
        if path.is_dir() {
            out.extend(files(&path, end));
        } else if path.extension().is_some_and(|e| e == end) {
            out.push(path);
        }
    }
    out.sort();
    out
}

/// Compares what came out with the expectation behind the mark, or rewrites that.
pub(crate) fn settle(path: &Path, source: &str, expected: &str, got: &str) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    if std::env::var_os("LH_BLESS").is_some() {
        return std::fs::write(path, format!("{source}{MARK}{got}")).map_err(|e| e.to_string());
    }
    Err(format!("expected\n{expected}\ngot\n{got}\n(`LH_BLESS=1` rewrites the expectation)"))
}

/// Verifies a function and checks that its text can be parsed back.
pub fn checked(func: &Function) -> Result<(), String> {
    verify(func).map_err(|e| format!("{e}\n{}", print(func)))?;
    let text = print(func);
    let again = parse(&text, TABLES).map_err(|e| format!("{e} of\n{text}"))?;
    let back: String = again.iter().map(print).collect();
    if back == text { Ok(()) } else { Err(format!("printed\n{text}\nbut parsed as\n{back}")) }
}
