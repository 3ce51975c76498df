//! The map of the code, `ARCHITECTURE.md`: it is short, names every crate and package, and names no file, folder or
//! crate that does not exist. The other pages for contributors keep the last of these, too.
//!
//! A name is a word in backticks with a slash or with the ending of a source file, or a crate. It is a path from one of
//! [`BASES`] or from anywhere below the page's folder. `<...>` stands for anything, and so do [`PLACEHOLDERS`]; `**` is
//! any number of folders. The target of a link is a path from the page's folder.

use std::fs;
use std::path::Path;

const MAP: &str = "ARCHITECTURE.md";
/// Folders that names leave out.
const BASES: [&[&str]; 3] = [&[], &["crates"], &["python", "lancehead"]];
/// Parts of paths that stand for a name of the reader's.
const PLACEHOLDERS: [&str; 4] = ["*", "NAME", "ID", "NNN"];
const ENDINGS: [&str; 14] =
    ["rs", "py", "pyi", "md", "toml", "yml", "txt", "json", "sh", "c", "cpp", "lir", "uir", "typed"];

/// Complains of the pages; `words` are the most that the map may have.
pub fn check(root: &Path, words: usize, complaints: &mut Vec<String>) {
    let mut files = Vec::new();
    collect(root, root, &mut files);
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    for page in files.iter().filter(|path| is_page(path)) {
        complaints.extend(faults(page, &read(page), &files, &read));
    }
    complaints.extend(faults_of_map(&read(MAP), words, &files));
}

/// The paths of all files below a folder, without those that builds make.
fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir()
            && !["target", "site", "__pycache__", "_pages"].contains(&name.as_str())
            && !name.starts_with('.')
        {
            collect(root, &path, files);
        } else if path.is_file() {
            files.extend(path.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned()));
        }
    }
}

/// Whether a file is a page for contributors.
fn is_page(path: &str) -> bool {
    let is_readme = path.ends_with("/README.md") && (path.starts_with("python/") || path.starts_with("tests/"));
    let is_decision = path.starts_with("docs/decisions/") && path.ends_with(".md");
    [MAP, "CONTRIBUTING.md", "docs/glossary.md"].contains(&path) || is_readme || is_decision
}

/// The faults that only the map has: too many words, and crates and packages without a row.
fn faults_of_map(text: &str, limit: usize, files: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let words = text.split_whitespace().count();
    if words > limit {
        found.push(format!("{MAP}:1: {words} words; the map has at most {limit}"));
    }
    let rooms = files.iter().filter_map(|file| match parts(file)[..] {
        ["crates", name, "Cargo.toml"] | ["python", "lancehead", name, "__init__.py"] => Some(name),
        _ => None,
    });
    found.extend(
        rooms.filter(|name| !text.contains(&format!("`{name}`"))).map(|name| format!("{MAP}:1: `{name}` has no row")),
    );
    found
}

/// The names on a page that stand for nothing.
fn faults(page: &str, text: &str, files: &[String], read: &dyn Fn(&str) -> String) -> Vec<String> {
    let home = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    for (line, span) in spans(text) {
        for word in span.split_whitespace() {
            let (path, symbol) = word.split_once("::").unwrap_or((word, ""));
            if let Some(path) = as_path(path)
                && !is_there(&path, symbol, home, files, read)
            {
                found.push(format!("{page}:{line}: `{word}` does not exist"));
            }
        }
    }
    for (number, line) in text.lines().enumerate() {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains(':') && !leads_somewhere(path, home, files) {
                found.push(format!("{page}:{}: the link to `{target}` leads nowhere", number + 1));
            }
        }
    }
    found
}

/// Code in the text, line by line. An open backtick spoils its own paragraph only.
fn spans(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut is_fenced, mut is_code) = (false, false);
    for (number, line) in text.lines().enumerate() {
        is_fenced ^= line.starts_with("```");
        is_code &= !line.is_empty();
        for (n, part) in line.split('`').enumerate().filter(|_| !is_fenced && !line.starts_with("```")) {
            is_code ^= n > 0;
            found.extend(is_code.then_some((number + 1, part)));
        }
    }
    found
}

/// The path that a word of code names, or `None` if it names something else.
fn as_path(word: &str) -> Option<String> {
    let is_crate = word.strip_prefix("lh-").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase()));
    if is_crate {
        return Some(format!("crates/{word}"));
    }
    let of_path = |c: char| c.is_ascii_alphanumeric() || "_-./*<>".contains(c);
    let ends = word.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && ENDINGS.contains(&end));
    // Builds make the files of `target`.
    let is_made = word.starts_with("target/");
    let is_path = word.chars().all(of_path) && !word.starts_with(['/', '.', '-', '<']) && (word.contains('/') || ends);
    (is_path && !is_made).then(|| word.trim_end_matches('/').to_owned())
}

/// Whether a path exists, and its file has the symbol.
fn is_there(path: &str, symbol: &str, home: &str, files: &[String], read: &dyn Fn(&str) -> String) -> bool {
    let (pattern, home) = (parts(path), parts(home));
    files.iter().any(|file| {
        let whole = parts(file);
        let below = whole.strip_prefix(&home[..]).unwrap_or_default();
        let is_it = BASES.iter().filter_map(|base| whole.strip_prefix(*base)).any(|rest| is_like(&pattern, rest))
            || (0..below.len()).any(|n| is_like(&pattern, &below[n..]));
        is_it && (symbol.is_empty() || read(file).contains(symbol))
    })
}

/// Whether a link leads to a file or folder.
fn leads_somewhere(path: &str, home: &str, files: &[String]) -> bool {
    let mut place = parts(home);
    for part in parts(path) {
        match part {
            ".." => drop(place.pop()),
            _ => place.push(part),
        }
    }
    files.iter().any(|file| parts(file).starts_with(&place))
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Whether the parts of a path begin as a pattern says.
fn is_like(pattern: &[&str], parts: &[&str]) -> bool {
    match pattern {
        [] => true,
        ["**", rest @ ..] => (0..=parts.len()).any(|n| is_like(rest, &parts[n..])),
        [first, rest @ ..] => parts.first().is_some_and(|part| fits(first, part)) && is_like(rest, &parts[1..]),
    }
}

/// Whether a part of a path is as a part of a pattern says, which has one hole at most.
fn fits(pattern: &str, part: &str) -> bool {
    let hole = PLACEHOLDERS.iter().find_map(|word| pattern.split_once(word));
    match hole.or_else(|| pattern.split_once('<').and_then(|(start, rest)| Some((start, rest.split_once('>')?.1)))) {
        Some((start, end)) => part.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => pattern == part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 9] = [
        "ARCHITECTURE.md",
        "docs/decisions/001-first.md",
        "docs/diagnostics/read-only.md",
        "crates/lh-opt/Cargo.toml",
        "crates/lh-opt/src/pipeline.rs",
        "python/lancehead/xp/__init__.py",
        "python/lancehead/xp/graph.py",
        "python/lancehead/lib/numpy/linalg.py",
        "tests/ir/fold/one.lir",
    ];

    fn found(page: &str, text: &str) -> Vec<String> {
        let files = FILES.map(str::to_owned);
        let read = |path: &str| if path.ends_with("linalg.py") { "def norm(x):" } else { "" }.to_owned();
        faults(page, text, &files, &read)
    }

    #[test]
    fn names_that_exist_pass() {
        let text = "`crates/lh-opt/`, `lh-opt`, `lh-opt/src/pipeline.rs`, `pipeline.rs`, `tests/ir/<pass>/*.lir`,\n\
            `tests/**/*.lir`, `docs/diagnostics/ID.md`, `lib/numpy/linalg.py::norm`, `cargo xtask test -p lh-opt\n\
            tests/ir` and [one](docs/decisions/001-first.md#text), [two](https://example.org), [three](#here).";
        assert_eq!(found(MAP, text), [""; 0]);
        assert_eq!(found("python/lancehead/xp/README.md", "`graph.py`, `lib/numpy`, `xp/graph.py`"), [""; 0]);
        assert_eq!(found("docs/decisions/001-first.md", "[the map](../../ARCHITECTURE.md)"), [""; 0]);
    }

    #[test]
    fn other_code_is_no_name() {
        let text = "`a / b`, `//`, `f(x)/2`, `.lir`, `np.linalg.norm`, `Compiler::compile`, `lh_alloc`, `-p`\n\n\
            ```text\n`gone.rs`\n```\n";
        assert_eq!(found(MAP, text), [""; 0]);
    }

    #[test]
    fn names_that_do_not_exist_are_found() {
        assert_eq!(found(MAP, "text\n\nof `lh-op`\n"), [format!("{MAP}:3: `lh-op` does not exist")]);
        for name in ["crates/lh-opt/gone/", "gone.rs", "tests/ir/*.uir", "lib/numpy/linalg.py::det", "xp/gone"] {
            assert_eq!(found(MAP, &format!("`{name}`")).len(), 1, "{name}");
        }
        // A page inside of a package names another package's files with their folder.
        assert_eq!(found("python/lancehead/xp/README.md", "`linalg.py` and `pipeline.rs`").len(), 2);
        // An open backtick spoils its own paragraph only.
        assert_eq!(found(MAP, "an open ` here\n\nand `gone.rs`\n").len(), 1);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        assert_eq!(found(MAP, "[a](docs/decisions/002.md)").len(), 1);
        assert_eq!(found("docs/decisions/001-first.md", "[a](ARCHITECTURE.md)").len(), 1);
    }

    #[test]
    fn the_map_is_short_and_complete() {
        let files = FILES.map(str::to_owned);
        assert_eq!(faults_of_map("`lh-opt` and [`xp`](x)", 3, &files), [""; 0]);
        assert_eq!(faults_of_map("one two three four `lh-opt` `xp`", 5, &files).len(), 1);
        assert_eq!(faults_of_map("", 5, &files).len(), 2);
    }

    #[test]
    fn pages_are_those_for_contributors() {
        let pages = [MAP, "CONTRIBUTING.md", "python/lancehead/xp/README.md", "docs/decisions/001-first.md"];
        assert!(pages.into_iter().all(is_page));
        assert!(!["README.md", "docs/start.md", "benches/README.md"].into_iter().any(is_page));
    }
}
