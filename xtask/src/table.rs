//! The part of TOML that the tables of `cargo xtask tidy` use: sections, numbers, and lists of strings over several
//! lines.

use std::collections::BTreeMap;

/// A file's sections by name; keys before the first header are in the section with the empty name.
#[derive(Debug, Default)]
pub struct Table(BTreeMap<String, Section>);

/// The keys of one section.
#[derive(Debug, Default)]
pub struct Section {
    numbers: BTreeMap<String, usize>,
    lists: BTreeMap<String, Vec<String>>,
}

impl Section {
    /// The number of a key.
    pub fn number(&self, key: &str) -> Option<usize> {
        self.numbers.get(key).copied()
    }

    /// All lists by their keys.
    pub fn lists(&self) -> &BTreeMap<String, Vec<String>> {
        &self.lists
    }

    /// All numbers by their keys.
    pub fn numbers(&self) -> &BTreeMap<String, usize> {
        &self.numbers
    }

    /// The strings of a key; none if it is not there.
    pub fn list(&self, key: &str) -> &[String] {
        self.lists.get(key).map_or(&[], Vec::as_slice)
    }
}

impl Table {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Table {
        let mut table = Table::default();
        let (mut section, mut key) = (String::new(), String::new());
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
                && !line.contains('"')
                && !line.is_empty()
            {
                name.clone_into(&mut section);
                table.0.entry(section.clone()).or_default();
                continue;
            }
            let value = match line.split_once(" = ") {
                Some((name, value)) => {
                    name.trim_matches('"').clone_into(&mut key);
                    value
                }
                None => line,
            };
            let entry = table.0.entry(section.clone()).or_default();
            match value.replace('_', "").parse() {
                Ok(number) => drop(entry.numbers.insert(key.clone(), number)),
                Err(_) => {
                    let words = value.split('"').skip(1).step_by(2).map(str::to_owned);
                    entry.lists.entry(key.clone()).or_default().extend(words);
                }
            }
        }
        table
    }

    /// A section by name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.0.get(name)
    }

    /// All sections by name.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &Section)> {
        self.0.iter().map(|(name, section)| (name.as_str(), section))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_numbers_and_lists_are_read() {
        let table = Table::parse(
            "# c\nfile_lines = 800\ntotal = 60_000\nwords = [\n    \"a b\",\n    \"c\",\n]\n\n[crates/x]\nn = 3\nempty = []\nl = [\"x\", \"y\"]\n",
        );
        let top = table.section("").unwrap();
        assert_eq!(
            (top.number("file_lines"), top.number("total"), top.number("none")),
            (Some(800), Some(60_000), None)
        );
        assert_eq!(top.list("words"), ["a b", "c"]);
        let other = table.section("crates/x").unwrap();
        assert_eq!(
            (other.number("n"), other.list("l"), other.list("empty").len()),
            (Some(3), &["x".to_owned(), "y".to_owned()][..], 0)
        );
        assert!(table.section("crates/y").is_none());
    }
}
