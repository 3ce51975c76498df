//! Order in the source: headers, lengths of files and functions, words, homes of `unsafe` and of names, a page per
//! diagnostic, imports between rooms, the map, the budget of lines, and the commits that raise it.
//!
//! The numbers and words stand in `xtask/budget.toml`, the order of rooms in `xtask/rooms.toml`.

use crate::table::Table;
use crate::{lines, map, names, prose, ratchet, rooms};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Findings.
pub struct Report {
    /// Lines per part of the repository.
    pub summary: Vec<String>,
    /// `file:line: what is wrong`.
    pub complaints: Vec<String>,
}

/// Numbers and words of `budget.toml`.
struct Budget(Table);

impl Budget {
    fn number(&self, key: &str) -> usize {
        self.0.section("").and_then(|top| top.number(key)).unwrap_or(0)
    }

    fn words(&self, key: &str) -> &[String] {
        self.0.section("").map_or(&[], |top| top.list(key))
    }
}

/// A source file.
pub struct Source {
    pub path: String,
    pub text: String,
}

/// Checks the repository.
pub fn tidy(root: &Path) -> Report {
    let budget = Budget(read_table(root, "xtask/budget.toml"));
    let sources = sources(root);
    let mut complaints = Vec::new();
    for source in &sources {
        check_file(source, &budget, &mut complaints);
    }
    check_pages(root, &sources, &mut complaints);
    map::check(root, budget.number("map_words"), &mut complaints);
    check_test_modules(&sources, &mut complaints);
    names::check(&sources, &mut complaints);
    let pages = pages(root, budget.words("generated_pages"));
    prose::check(&budget.0, sources.iter().chain(&pages), &mut complaints);
    complaints.extend(rooms::check(&read_table(root, "xtask/rooms.toml"), &sources));
    let counted = lines::count(&sources);
    let summary = lines::check(&budget.0, &counted, &mut complaints);
    ratchet::check(root, &counted, &mut complaints);
    Report { summary, complaints }
}

/// A table of what is allowed.
pub fn read_table(root: &Path, path: &str) -> Table {
    Table::parse(&fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// All Rust and Python files of the repository that are written by hand.
pub fn sources(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    for part in ["crates", "python", "tests", "xtask", "benches"] {
        collect(&root.join(part), &["rs", "py"], &mut files);
    }
    read(root, files)
}

/// The manual, the pages at the root that users read, and the specification of the language, but for pages that are
/// generated: their texts are those of other files.
fn pages(root: &Path, generated: &[String]) -> Vec<Source> {
    let mut files = ["CHANGELOG.md", "CONTRIBUTING.md", "README.md"].map(|name| root.join(name)).to_vec();
    for part in ["docs", "tests/lang"] {
        collect(&root.join(part), &["md"], &mut files);
    }
    files.retain(|path| !generated.iter().any(|page| path.starts_with(root.join(page))));
    read(root, files)
}

fn read(root: &Path, mut files: Vec<PathBuf>) -> Vec<Source> {
    files.sort();
    let read = |path: PathBuf| Source {
        text: fs::read_to_string(&path).unwrap_or_default(),
        path: path.strip_prefix(root).expect("found below the root").to_string_lossy().into_owned(),
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, ends: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && name != "__pycache__" && !name.starts_with('.') {
            collect(&path, ends, files);
        } else if path.extension().is_some_and(|end| ends.iter().any(|known| end == *known)) {
            files.push(path);
        }
    }
}

fn check_file(source: &Source, budget: &Budget, complaints: &mut Vec<String>) {
    let Source { path, text } = source;
    let mut found = check_header(path, text);
    let lines = text.lines().count();
    let limit = budget.number("file_lines");
    if lines > limit && !budget.words("long_files").iter().any(|part| path.contains(part)) {
        found.push((1, format!("{lines} lines; a file has at most {limit}")));
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    if budget.words("file_names").iter().any(|bad| bad == name) {
        found.push((1, format!("`{name}` says nothing about what is in it")));
    }
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = budget.words("words").iter().find(|word| line.contains(word.as_str())) {
            found.push((number + 1, format!("`{word}` has no place here")));
        }
        if line.ends_with(' ') || line.ends_with('\t') {
            found.push((number + 1, "space at the end of the line".to_owned()));
        }
    }
    if path.starts_with("crates/lh-runtime/src/") {
        found.extend(check_exports(path, text));
    }
    let is_home = || budget.words("unsafe_homes").iter().any(|home| path.contains(home));
    if path.ends_with(".rs") && path.starts_with("crates/") && !is_home() {
        for (number, _) in text.lines().enumerate().filter(|(_, line)| is_unsafe(line)) {
            let message = "`unsafe` has its homes in `xtask/budget.toml`, and this is none of them";
            found.push((number + 1, message.to_owned()));
        }
    }
    let limit = budget.number("python_function_lines");
    if path.ends_with(".py") {
        for (number, name, length) in python_functions(text).into_iter().filter(|f| f.2 > limit) {
            found.push((number, format!("`{name}` has {length} lines; a function has at most {limit}")));
        }
    }
    complaints.extend(found.into_iter().map(|(line, message)| format!("{path}:{line}: {message}")));
}

/// A file begins with the sentence that says what it is.
fn check_header(path: &str, text: &str) -> Vec<(usize, String)> {
    let first = text.lines().find(|line| !line.starts_with("#![") && !line.starts_with("#!/") && !line.is_empty());
    let Some(first) = first else { return Vec::new() };
    let message = match path.ends_with(".rs") {
        true if !first.starts_with("//!") => "a file starts with `//!`: what it is and why",
        false if !first.starts_with("\"\"\"") && !first.starts_with("r\"\"\"") => "a module starts with its docstring",
        _ => return Vec::new(),
    };
    vec![(1, message.to_owned())]
}

/// Functions and globals of the run-time library keep their names, by which libraries made ahead of time link them.
fn check_exports(path: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if !path.contains("/device/") {
        let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
        let is_ours = |line: &str| line.contains("extern \"C\" fn lh_") || line.contains("extern \"C\" fn $");
        for (i, _) in lines.iter().enumerate().filter(|(i, line)| is_ours(line) && !lines[i - 1].contains("no_mangle"))
        {
            let message = "functions for compiled code are `no_mangle`: libraries made ahead of time link them";
            found.push((i + 1, message.to_owned()));
        }
    }
    for (i, line) in text.lines().enumerate() {
        let global = line.split_once("Symbol { name: \"").and_then(|(_, rest)| rest.split('"').next());
        if global.is_some_and(|name| !text.contains(&format!("export_name = \"{name}\""))) {
            found.push((i + 1, "globals for compiled code have an `export_name`, for the same reason".to_owned()));
        }
    }
    found
}

/// Whether a line of Rust opens something unsafe.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe("].iter().any(|form| code.contains(form))
}

/// Functions of a Python file: line, name, length. A function ends before the next line that is not deeper than it.
fn python_functions(text: &str) -> Vec<(usize, String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut functions = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("def ") else { continue };
        let own = depth(line);
        let is_inside =
            |other: &&&str| other.trim().is_empty() || depth(other) > own || other.trim_start().starts_with(')');
        let body: Vec<&&str> = lines[number + 1..].iter().take_while(is_inside).collect();
        let blank = body.iter().rev().take_while(|line| line.trim().is_empty()).count();
        let name = rest.split('(').next().unwrap_or_default().to_owned();
        functions.push((number + 1, name, body.len() - blank + 1));
    }
    functions
}

/// Every kind of diagnostic has its page, and every page its kind.
fn check_pages(root: &Path, sources: &[Source], complaints: &mut Vec<String>) {
    let Some(table) = sources.iter().find(|source| source.path == "crates/lh-ir/src/diag.rs") else { return };
    let Some((_, rows)) = table.text.split_once("\nids! {") else { return };
    let ids: Vec<&str> = rows.lines().filter_map(|line| line.split('"').nth(1)).collect();
    for id in &ids {
        if !root.join(format!("docs/diagnostics/{id}.md")).exists() {
            complaints.push(format!("docs/diagnostics/{id}.md: missing"));
        }
    }
    let Ok(pages) = fs::read_dir(root.join("docs/diagnostics")) else { return };
    for page in pages.flatten().map(|entry| entry.path()) {
        let stem = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if stem != "README" && !ids.contains(&stem.as_str()) {
            complaints.push(format!("docs/diagnostics/{stem}.md: no diagnostic has this id"));
        }
    }
}

/// Tests import each other by bare names, from several folders: no name stands for two modules.
fn check_test_modules(sources: &[Source], complaints: &mut Vec<String>) {
    let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
    for path in sources.iter().map(|source| source.path.as_str()) {
        let name = path.rsplit('/').next().unwrap_or_default();
        if !path.starts_with("tests/") || !path.ends_with(".py") || name == "conftest.py" {
            continue;
        }
        if let Some(other) = homes.insert(name, path) {
            complaints.push(format!("{path}:1: {other} has the same name, and one of them hides the other"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let budget = Budget(Table::parse(
            "file_lines = 5\npython_function_lines = 2\nunsafe_homes = [\"crates/own/\"]\nwords = [\"forbidden\"]\nfile_names = [\"util.rs\"]\n",
        ));
        let mut found = Vec::new();
        check_file(&Source { path: path.to_owned(), text: text.to_owned() }, &budget, &mut found);
        found
    }

    #[test]
    fn good_files_pass() {
        assert!(complaints("crates/a/src/lib.rs", "//! Text.\nfn f() {}\n").is_empty());
        assert!(complaints("crates/own/src/lib.rs", "//! Text.\nunsafe { f() }\n").is_empty());
        assert!(complaints("python/a.py", "\"\"\"Text.\"\"\"\ndef f():\n    pass\n\nx = 1").is_empty());
        assert!(complaints("python/a.py", "").is_empty());
    }

    #[test]
    fn each_fault_is_found() {
        assert_eq!(complaints("crates/a/src/lib.rs", "fn f() {}\n").len(), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! T\n1\n2\n3\n4\n5\n").len(), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! T\nlet forbidden = 1;\n").len(), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! T\nunsafe { f() }\n").len(), 1);
        assert_eq!(complaints("crates/a/src/lib.rs", "//! T \n").len(), 1);
        assert_eq!(complaints("crates/a/src/util.rs", "//! T\n").len(), 1);
        assert_eq!(complaints("python/a.py", "x = 1\n").len(), 1);
        assert_eq!(complaints("python/a.py", "\"\"\"T\"\"\"\ndef f():\n    a\n    b\n").len(), 1);
    }

    #[test]
    fn modules_of_tests_share_no_name() {
        let source = |path: &str| Source { path: path.to_owned(), text: String::new() };
        let found = |paths: &[&str]| {
            let mut complaints = Vec::new();
            check_test_modules(&paths.iter().map(|path| source(path)).collect::<Vec<_>>(), &mut complaints);
            complaints.len()
        };
        assert_eq!(found(&["tests/a/x.py", "tests/b/y.py", "tests/a/conftest.py", "tests/conftest.py"]), 0);
        assert_eq!(found(&["tests/a/x.py", "tests/b/x.py"]), 1);
    }
}
