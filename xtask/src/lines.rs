//! The budget of lines: Rust and Python without tests, benchmarks and examples, per crate and in all.

use crate::rooms::rust::{File, ModulePath, module_path, test_only};
use crate::rooms::tokens::lines_without_tests;
use crate::table::{Section, Table};
use crate::tidy::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Complains of parts that are above their budget, and gives the lines of each.
pub fn check(table: &Table, counted: &BTreeMap<String, usize>, complaints: &mut Vec<String>) -> Vec<String> {
    let nothing = Section::default();
    let budget = table.section("lines").unwrap_or(&nothing);
    let mut summary = Vec::new();
    for (part, &lines) in counted {
        let allowed = budget.number(part).unwrap_or(0);
        summary.push(format!("{lines:>7} {part}, of {allowed}"));
        if lines > allowed {
            complaints
                .push(format!("xtask/budget.toml: {part} has {lines} lines without tests, its budget is {allowed}"));
        }
    }
    let total: usize = counted.values().sum();
    let allowed = table.section("").and_then(|top| top.number("total_lines")).unwrap_or(0);
    summary.push(format!("{total:>7} in all without tests, of {allowed}"));
    if total > allowed {
        complaints.push(format!("xtask/budget.toml: {total} lines without tests, the budget is {allowed}"));
    }
    summary
}

/// The lines of each part. A crate of tests alone counts as little as the tests of the others.
pub fn count(sources: &[Source]) -> BTreeMap<String, usize> {
    let mut parts: BTreeMap<String, usize> = BTreeMap::new();
    let hidden = hidden(sources);
    for source in sources {
        let path: Vec<&str> = source.path.split('/').collect();
        let part = match path[..] {
            ["tests" | "benches", ..] | ["crates", "lh-test", ..] => continue,
            ["crates", _, "tests" | "benches" | "examples", ..] => continue,
            ["python", _, "lib", ..] => "python/lancehead/lib".to_owned(),
            ["xtask", ..] => "xtask".to_owned(),
            _ => path[..2].join("/"),
        };
        let lines = match source.path.ends_with(".rs") {
            true if is_hidden(&hidden, &source.path) => 0,
            true => lines_without_tests(&source.text),
            false => source.text.lines().count(),
        };
        *parts.entry(part).or_default() += lines;
    }
    parts
}

/// The crate that a file belongs to, and its path below `src` without `.rs`.
fn in_crate(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix(".rs")?.split_once("/src/")
}

/// Modules of crates that are declared for tests only.
fn hidden(sources: &[Source]) -> BTreeMap<&str, BTreeSet<ModulePath>> {
    let mut crates: BTreeMap<&str, Vec<File>> = BTreeMap::new();
    for source in sources {
        if let Some((name, path)) = in_crate(&source.path) {
            crates.entry(name).or_default().push(File { path, text: &source.text });
        }
    }
    crates.into_iter().map(|(name, files)| (name, test_only(&files))).collect()
}

fn is_hidden(hidden: &BTreeMap<&str, BTreeSet<ModulePath>>, path: &str) -> bool {
    in_crate(path).is_some_and(|(name, path)| {
        let module = module_path(path);
        hidden[name].iter().any(|other| module.starts_with(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count() {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let sources = [
            source("crates/a/src/lib.rs", "//! A.\nfn f() {}\n#[cfg(test)]\nmod t;\n#[cfg(test)]\nmod u {\n}\n"),
            source("crates/a/src/t.rs", "//! T.\n"),
            source("crates/a/tests/x.rs", "//! X.\n"),
            source("crates/lh-test/src/lib.rs", "//! Y.\n"),
            source("benches/b.py", "1\n"),
            source("tests/b.py", "1\n"),
            source("python/p/lib/b.py", "1\n2\n"),
            source("python/p/b.py", "1\n2\n3\n"),
        ];
        let found: Vec<(String, usize)> = count(&sources).into_iter().collect();
        let expected = [("crates/a", 2), ("python/lancehead/lib", 2), ("python/p", 3)];
        assert_eq!(found, expected.map(|(part, lines)| (part.to_owned(), lines)));
    }
}
