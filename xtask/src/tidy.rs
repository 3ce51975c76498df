//! Order in the source: headers, lengths of files and functions, words, homes of `unsafe`, a page per diagnostic, and the budget of lines.
//!
//! The numbers and words stand in `xtask/budget.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What was found.
pub struct Report {
    /// Lines per part of the repository.
    pub summary: Vec<String>,
    /// `file:line: what is wrong`.
    pub complaints: Vec<String>,
}

/// Numbers and words of `budget.toml`.
#[derive(Debug, Default)]
struct Budget {
    file_lines: usize,
    python_function_lines: usize,
    total_lines: usize,
    long_files: Vec<String>,
    unsafe_homes: Vec<String>,
    words: Vec<String>,
    file_names: Vec<String>,
}

/// A source file.
struct Source {
    path: String,
    text: String,
}

/// Checks the repository.
pub fn tidy(root: &Path) -> Report {
    let budget =
        parse_budget(&fs::read_to_string(root.join("xtask/budget.toml")).expect("xtask/budget.toml can be read"));
    let sources = sources(root);
    let mut complaints = Vec::new();
    for source in &sources {
        check_file(source, &budget, &mut complaints);
    }
    check_pages(root, &sources, &mut complaints);
    check_test_modules(&sources, &mut complaints);
    let summary = check_total(&sources, &budget, &mut complaints);
    Report { summary, complaints }
}

/// `key = number` and `key = [words]` over several lines: all of TOML that the budget needs.
fn parse_budget(text: &str) -> Budget {
    let mut budget = Budget::default();
    let mut key = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        let value = match line.split_once(" = ") {
            Some((name, value)) => {
                name.clone_into(&mut key);
                value
            }
            None => line,
        };
        let words = value.split('"').skip(1).step_by(2).map(str::to_owned);
        let number = || value.replace('_', "").parse().unwrap_or(0);
        match key.as_str() {
            "file_lines" => budget.file_lines = budget.file_lines.max(number()),
            "python_function_lines" => budget.python_function_lines = budget.python_function_lines.max(number()),
            "total_lines" => budget.total_lines = budget.total_lines.max(number()),
            "long_files" => budget.long_files.extend(words),
            "unsafe_homes" => budget.unsafe_homes.extend(words),
            "words" => budget.words.extend(words),
            "file_names" => budget.file_names.extend(words),
            _ => {}
        }
    }
    budget
}

/// All Rust and Python files of the repository that are written by hand.
fn sources(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    for part in ["crates", "python", "tests", "xtask", "benches"] {
        collect(&root.join(part), &mut files);
    }
    files.sort();
    let read = |path: PathBuf| Source {
        text: fs::read_to_string(&path).unwrap_or_default(),
        path: path.strip_prefix(root).expect("found below the root").to_string_lossy().into_owned(),
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "target" && name != "__pycache__" && !name.starts_with('.') {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "py") {
            files.push(path);
        }
    }
}

fn check_file(source: &Source, budget: &Budget, complaints: &mut Vec<String>) {
    let Source { path, text } = source;
    let is_rust = path.ends_with(".rs");
    let mut complain = |line: usize, what: String| complaints.push(format!("{path}:{line}: {what}"));
    let first = text.lines().find(|line| !line.starts_with("#![") && !line.starts_with("#!/") && !line.is_empty());
    match first {
        Some(line) if is_rust && !line.starts_with("//!") => {
            complain(1, "a file starts with `//!`: what it is and why".to_owned())
        }
        Some(line) if !is_rust && !line.starts_with("\"\"\"") && !line.starts_with("r\"\"\"") => {
            complain(1, "a module starts with its docstring".to_owned());
        }
        _ => {}
    }
    let lines = text.lines().count();
    if lines > budget.file_lines && !budget.long_files.iter().any(|part| path.contains(part)) {
        complain(1, format!("{lines} lines; a file has at most {}", budget.file_lines));
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    if budget.file_names.iter().any(|bad| bad == name) {
        complain(1, format!("`{name}` says nothing about what is in it"));
    }
    for (number, line) in text.lines().enumerate() {
        if let Some(word) = budget.words.iter().find(|word| line.contains(word.as_str())) {
            complain(number + 1, format!("`{word}` has no place here"));
        }
        if line.ends_with(' ') || line.ends_with('\t') {
            complain(number + 1, "space at the end of the line".to_owned());
        }
    }
    if path.starts_with("crates/lh-runtime/src/") && !path.contains("/device/") {
        let lines: Vec<&str> = text.split("#[cfg(test)]").next().unwrap_or_default().lines().collect();
        let is_ours = |line: &str| line.contains("extern \"C\" fn lh_") || line.contains("extern \"C\" fn $");
        for (i, _) in lines.iter().enumerate().filter(|(i, line)| is_ours(line) && !lines[i - 1].contains("no_mangle"))
        {
            complain(
                i + 1,
                "functions for compiled code are `no_mangle`: libraries made ahead of time link them".to_owned(),
            );
        }
    }
    for (i, line) in text.lines().enumerate().filter(|_| path.starts_with("crates/lh-runtime/src/")) {
        let global = line.split_once("Symbol { name: \"").and_then(|(_, rest)| rest.split('"').next());
        if global.is_some_and(|name| !text.contains(&format!("export_name = \"{name}\""))) {
            complain(i + 1, "globals for compiled code have an `export_name`, for the same reason".to_owned());
        }
    }
    if is_rust && path.starts_with("crates/") && !budget.unsafe_homes.iter().any(|home| path.contains(home)) {
        for (number, _) in text.lines().enumerate().filter(|(_, line)| is_unsafe(line)) {
            complain(number + 1, "`unsafe` has its homes in `xtask/budget.toml`, and this is none of them".to_owned());
        }
    }
    if !is_rust {
        for (number, name, length) in python_functions(text).into_iter().filter(|f| f.2 > budget.python_function_lines)
        {
            complain(
                number,
                format!("`{name}` has {length} lines; a function has at most {}", budget.python_function_lines),
            );
        }
    }
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

/// Lines per crate and in all, against the budget.
fn check_total(sources: &[Source], budget: &Budget, complaints: &mut Vec<String>) -> Vec<String> {
    let mut parts: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources {
        let part: Vec<&str> = source.path.split('/').take(2).collect();
        *parts.entry(part.join("/")).or_default() += source.text.lines().count();
    }
    let total: usize = parts.iter().filter(|(part, _)| !part.starts_with("tests/")).map(|(_, lines)| lines).sum();
    if total > budget.total_lines {
        complaints
            .push(format!("xtask/budget.toml: {total} lines without tests, the budget is {}", budget.total_lines));
    }
    let mut summary: Vec<String> = parts.iter().map(|(part, lines)| format!("{lines:>7} {part}")).collect();
    summary.push(format!("{total:>7} in all without tests, of {}", budget.total_lines));
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        let budget = Budget {
            file_lines: 5,
            python_function_lines: 2,
            unsafe_homes: vec!["crates/own/".to_owned()],
            words: vec!["forbidden".to_owned()],
            file_names: vec!["util.rs".to_owned()],
            ..Budget::default()
        };
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

    #[test]
    fn the_budget_is_read() {
        let budget = parse_budget(
            "# c\nfile_lines = 800\ntotal_lines = 60_000\nwords = [\n    \"a b\",\n    \"c\",\n]\nunsafe_homes = [\"x\", \"y\"]\n",
        );
        assert_eq!((budget.file_lines, budget.total_lines), (800, 60_000));
        assert_eq!(budget.words, ["a b", "c"]);
        assert_eq!(budget.unsafe_homes, ["x", "y"]);
    }
}
