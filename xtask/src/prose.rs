//! The form of prose: comments end before column 120, and no sentence of a comment, a docstring or a page begins with
//! "What" or "Which" unless it asks: a subject and a verb are understood at first reading, a noun clause in place of
//! both is not.

mod paragraphs;

use crate::table::Table;
use crate::tidy::Source;
use std::collections::BTreeMap;

const COLUMNS: usize = 120;

/// Complains of comments, docstrings and pages; `long_comments` and `noun_clauses` in the budget say how many of them a
/// part may still have.
pub fn check<'a>(budget: &Table, sources: impl Iterator<Item = &'a Source>, complaints: &mut Vec<String>) {
    let mut long: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut clauses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        let part = source.path.split('/').take(2).collect::<Vec<_>>().join("/");
        let place = |line: usize, what: &str| format!("{}:{line}: {what}", source.path);
        let found = long_comments(source).into_iter().map(|line| place(line, "a comment goes beyond column 120"));
        long.entry(part.clone()).or_default().extend(found);
        let found = noun_clauses(source).into_iter();
        let found = found.map(|line| place(line, "a sentence begins with \"What\" or \"Which\" and does not ask"));
        clauses.entry(part).or_default().extend(found);
    }
    for (key, found) in [("long_comments", long), ("noun_clauses", clauses)] {
        for (part, found) in found {
            let allowed = budget.section(key).and_then(|section| section.number(&part)).unwrap_or(0);
            if found.len() > allowed {
                complaints.extend(found);
            }
        }
    }
}

/// The lines of comments that are too long.
fn long_comments(source: &Source) -> Vec<usize> {
    let marker = match () {
        () if source.path.ends_with(".rs") => "//",
        () if source.path.ends_with(".py") => "#",
        () => return Vec::new(),
    };
    let is_long = |line: &str| line.chars().count() > COLUMNS && line.trim_start().starts_with(marker);
    source.text.lines().enumerate().filter(|(_, line)| is_long(line)).map(|(number, _)| number + 1).collect()
}

/// The lines on which paragraphs start that have such a sentence.
fn noun_clauses(source: &Source) -> Vec<usize> {
    let found = paragraphs::of(source).into_iter();
    found.flat_map(|(line, text)| vec![line; sentences(&text).filter(|s| is_noun_clause(s)).count()]).collect()
}

/// The sentences of a paragraph with the mark at their end.
fn sentences(paragraph: &str) -> impl Iterator<Item = &str> {
    [". ", "? ", "! "]
        .into_iter()
        .fold(vec![paragraph], |parts, end| parts.into_iter().flat_map(|part| part.split_inclusive(end)).collect())
        .into_iter()
        .map(str::trim)
}

fn is_noun_clause(sentence: &str) -> bool {
    (sentence.starts_with("What ") || sentence.starts_with("Which ")) && !sentence.ends_with('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_comments_are_found() {
        let source = |path: &str, text: String| Source { path: path.to_owned(), text };
        let long = "x".repeat(120);
        assert_eq!(long_comments(&source("a.rs", format!("// {long}\nlet a = {long};\n    /// {long}"))), [1, 3]);
        assert_eq!(long_comments(&source("a.py", format!("# {long}\n# short"))), [1]);
    }

    fn clauses(path: &str, text: &str) -> Vec<usize> {
        noun_clauses(&Source { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn sentences_that_are_noun_clauses_are_found() {
        assert_eq!(clauses("a.rs", "/// What a thing is.\nfn f() {}\n\n//! Text. Which is\n//! wrong.\n"), [1, 4]);
        let good = "// What is it? It is\n// What a word.\n\n// Says what it is.\nlet a = \"What b\";\n";
        assert_eq!(clauses("a.rs", good), []);
        assert_eq!(clauses("a.py", "\"\"\"What a\nthing is. Which it\nis.\"\"\"\n"), [1, 1]);
        assert_eq!(clauses("a.md", "One **word.** What\nelse.\n\n| **What it is** | (What is it?) |\n"), [1, 4]);
    }
}
