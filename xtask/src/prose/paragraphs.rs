//! The paragraphs of comments, of docstrings and of Markdown pages. An item of a list and a cell of a table are
//! paragraphs, too; code, doctests and headings are none.

use crate::tidy::Source;

/// Paragraphs, each with the line on which it starts.
#[derive(Default)]
struct Paragraphs {
    found: Vec<(usize, String)>,
    is_open: bool,
}

impl Paragraphs {
    /// Adds a line to the open paragraph, or to a new one; a line without text ends it.
    fn line(&mut self, number: usize, text: &str) {
        let text = text.trim();
        let item = text.strip_prefix("- ").or_else(|| text.strip_prefix("* "));
        self.is_open &= item.is_none() && !text.is_empty();
        if !self.is_open && !text.is_empty() {
            self.found.push((number, String::new()));
            self.is_open = true;
        }
        if let Some((_, paragraph)) = self.found.last_mut().filter(|_| self.is_open) {
            // A mark for bold text is no part of a sentence.
            paragraph.push_str(&item.unwrap_or(text).replace("**", ""));
            paragraph.push(' ');
        }
    }

    /// Adds a paragraph of one line.
    fn alone(&mut self, number: usize, text: &str) {
        self.end();
        self.line(number, text);
        self.end();
    }

    fn end(&mut self) {
        self.is_open = false;
    }
}

/// The paragraphs of a file.
pub fn of(source: &Source) -> Vec<(usize, String)> {
    let mut paragraphs = Paragraphs::default();
    match source.path.rsplit('.').next() {
        Some("rs") => rust(&source.text, &mut paragraphs),
        Some("py") => python(&source.text, &mut paragraphs),
        _ => page(&source.text, &mut paragraphs),
    }
    paragraphs.found
}

fn rust(text: &str, paragraphs: &mut Paragraphs) {
    for (number, line) in text.lines().enumerate() {
        match line.trim_start().strip_prefix("//") {
            Some(text) => paragraphs.line(number + 1, text.strip_prefix(['/', '!']).unwrap_or(text)),
            None => paragraphs.end(),
        }
    }
}

/// Comments of Python, those behind code, too, and docstrings: strings of three quotes that begin their line.
fn python(text: &str, paragraphs: &mut Paragraphs) {
    // The quotes of the string that a line begins in, and whether it is a docstring.
    let mut open: Option<(&str, bool)> = None;
    let mut is_doctest = false;
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        if open.is_none() {
            let at = ["\"\"\"", "'''"].into_iter().filter_map(|quote| Some((rest.find(quote)?, quote))).min();
            // `#:` is about the name in the next line.
            let (code, comment) = rest.split_once('#').unwrap_or((rest, ""));
            match at.filter(|(at, _)| *at < code.len()) {
                Some((at, quote)) => {
                    open = Some((quote, at == 0 || rest.starts_with('r') && at == 1));
                    rest = &rest[at + quote.len()..];
                    paragraphs.end();
                }
                None if code.is_empty() => paragraphs.line(number + 1, comment.trim_start_matches(':')),
                None if code.ends_with("  ") => paragraphs.alone(number + 1, comment),
                None => paragraphs.end(),
            }
        }
        let Some((quote, is_docstring)) = open else { continue };
        let (inside, end) = rest.split_once(quote).map_or((rest, None), |(inside, after)| (inside, Some(after)));
        is_doctest = !inside.trim().is_empty() && (is_doctest || inside.trim_start().starts_with(">>>"));
        match is_docstring && !is_doctest {
            true => paragraphs.line(number + 1, inside),
            false => paragraphs.end(),
        }
        if let Some(after) = end {
            paragraphs.end();
            // Code may go on behind the string, and open another one.
            open = (after.matches(quote).count() % 2 == 1).then_some((quote, false));
            is_doctest = false;
        }
    }
}

/// The text of a page of Markdown.
fn page(text: &str, paragraphs: &mut Paragraphs) {
    let mut fence = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(opened) => fence = (ticks < opened).then_some(opened),
            None if ticks >= 3 => fence = Some(ticks),
            None if line.starts_with('|') => line.split('|').for_each(|cell| paragraphs.alone(number + 1, cell)),
            None if !line.starts_with('#') => {
                paragraphs.line(number + 1, line);
                continue;
            }
            None => {}
        }
        paragraphs.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let found = of(&Source { path: path.to_owned(), text: text.to_owned() }).into_iter();
        found.map(|(line, text)| (line, text.trim_end().to_owned())).collect()
    }

    fn expect(path: &str, text: &str, expected: &[(usize, &str)]) {
        let expected: Vec<_> = expected.iter().map(|&(line, text)| (line, text.to_owned())).collect();
        assert_eq!(found(path, text), expected);
    }

    #[test]
    fn comments_of_rust_are_prose() {
        expect("a.rs", "//! A\n//! b.\n//!\n//! - C\n//!   d\nlet x = \"// e\";\n", &[(1, "A b."), (4, "C d")]);
    }

    #[test]
    fn comments_and_docstrings_of_python_are_prose() {
        let text = "r\"\"\"A\nb.\n\n>>> c\nd\n\nE\n\"\"\"\n#: F\n#: g\nx = 1  # H\n# I \"\"\"\ny = 2\n";
        expect("a.py", text, &[(1, "A b."), (7, "E"), (9, "F g"), (11, "H"), (12, "I \"\"\"")]);
        expect(
            "a.py",
            "'''A'''\nf(\"\"\"\nb\n# c\n\"\"\", \"\"\"\n# d\n\"\"\")\nx[\"# e\"]\n# F\n",
            &[(1, "A"), (9, "F")],
        );
    }

    #[test]
    fn text_of_pages_is_prose() {
        let text = "# A\nB\n**c.**\n* D\n  e\n````py\n```\nf\n````\nG\n| H | I |\n\n    J\n";
        expect("a.md", text, &[(2, "B c."), (4, "D e"), (10, "G"), (11, "H"), (11, "I"), (13, "J")]);
    }
}
