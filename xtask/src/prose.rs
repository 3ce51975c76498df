//! The form of comments: they end before column 120, and no sentence of a Rust comment begins with "What" or "Which"
//! unless it asks: a subject and a verb are understood at first reading, a noun clause in place of both is not.

use crate::table::Table;
use crate::tidy::Source;
use std::collections::BTreeMap;

const COLUMNS: usize = 120;

/// Complains of comments; `long_comments` and `noun_clauses` in the budget say how many a crate may still have.
pub fn check(budget: &Table, sources: &[Source], complaints: &mut Vec<String>) {
    let mut long: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut clauses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        let part = source.path.split('/').take(2).collect::<Vec<_>>().join("/");
        let place = |line: usize, what: &str| format!("{}:{line}: {what}", source.path);
        let found = long_comments(source).into_iter().map(|line| place(line, "a comment goes beyond column 120"));
        long.entry(part.clone()).or_default().extend(found);
        if source.path.ends_with(".rs") {
            let found = noun_clauses(&source.text).into_iter();
            let found = found.map(|line| place(line, "a sentence begins with \"What\" or \"Which\" and does not ask"));
            clauses.entry(part).or_default().extend(found);
        }
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
    let marker = if source.path.ends_with(".rs") { "//" } else { "#" };
    let is_long = |line: &str| line.chars().count() > COLUMNS && line.trim_start().starts_with(marker);
    source.text.lines().enumerate().filter(|(_, line)| is_long(line)).map(|(number, _)| number + 1).collect()
}

/// The text of a comment's line.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.strip_prefix(['/', '!']).unwrap_or(text).trim())
}

/// The lines on which paragraphs start that have such a sentence.
fn noun_clauses(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut start, mut paragraph) = (0, String::new());
    for (number, line) in text.lines().chain([""]).enumerate() {
        match comment(line).filter(|text| !text.is_empty()) {
            Some(text) => {
                if paragraph.is_empty() {
                    start = number + 1;
                }
                paragraph.push_str(text);
                paragraph.push(' ');
            }
            None => {
                found.extend(sentences(&paragraph).filter(|sentence| is_noun_clause(sentence)).map(|_| start));
                paragraph.clear();
            }
        }
    }
    found
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

    #[test]
    fn sentences_that_are_noun_clauses_are_found() {
        assert_eq!(noun_clauses("/// What a thing is.\nfn f() {}\n\n//! Text. Which is\n//! wrong.\n"), [1, 4]);
        assert!(
            noun_clauses("// What is it? It is\n// What a word.\n\n// Says what it is.\nlet a = \"What b\";\n")
                .is_empty()
        );
    }
}
