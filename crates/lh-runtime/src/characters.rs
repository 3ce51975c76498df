//! Classes of characters as CPython has them, which are not those of Rust's `char`: letters are those of a category,
//! superscripts are digits, and a character that Unicode names later is none.

mod table;

use crate::text::{Point, Text, TextBuf};
use table::{FOLDS, RUNS};

/// Bits of a class; `xtask/characters.py` has the same order.
const BITS: u32 = 11;
pub(crate) const ALPHA: u32 = 1;
pub(crate) const DECIMAL: u32 = 1 << 1;
pub(crate) const DIGIT: u32 = 1 << 2;
pub(crate) const NUMERIC: u32 = 1 << 3;
pub(crate) const PRINTABLE: u32 = 1 << 4;
pub(crate) const STARTS_NAME: u32 = 1 << 5;
pub(crate) const IN_NAME: u32 = 1 << 6;
pub(crate) const UPPER: u32 = 1 << 7;
pub(crate) const LOWER: u32 = 1 << 8;
pub(crate) const TITLE: u32 = 1 << 9;
/// A sigma's place in a word is found by looking past these.
pub(crate) const IGNORABLE: u32 = 1 << 10;
pub(crate) const CASED: u32 = UPPER | LOWER | TITLE;

/// The classes of a character.
pub(crate) fn classes(c: impl Into<u32>) -> u32 {
    let key = (c.into() << BITS) | ((1 << BITS) - 1);
    let at = RUNS.partition_point(|run| *run <= key);
    at.checked_sub(1).map_or(0, |at| RUNS[at] & ((1 << BITS) - 1))
}

/// Whether a character is in one of some classes.
pub(crate) fn is_in(c: impl Into<u32>, some: u32) -> bool {
    classes(c) & some != 0
}

/// A text with every character replaced: `ascii` changes runs of ASCII in place, `other` appends what becomes of any
/// other character, which it gets with its place.
pub(crate) fn mapped(s: &Text, ascii: fn(&mut [u8]), mut other: impl FnMut(&mut TextBuf, usize, Point)) -> TextBuf {
    let mut out = TextBuf::default();
    let mut at = 0;
    while at < s.len() {
        let run = s.as_bytes()[at..].iter().position(|b| !b.is_ascii()).unwrap_or(s.len() - at);
        out.push_changed(&s[at..at + run], ascii);
        at += run;
        if let Some(p) = s[at..].points().next() {
            other(&mut out, at, p);
            at += p.size();
        }
    }
    out
}

/// `str.casefold`
pub(crate) fn folded(s: &Text) -> TextBuf {
    mapped(s, <[u8]>::make_ascii_lowercase, |out, _, p| {
        match FOLDS.binary_search_by_key(&p, |(from, _)| Point::from(*from)) {
            Ok(at) => out.push_text(FOLDS[at].1),
            Err(_) => push_lower(out, p),
        }
    })
}

/// The small form of one character by itself.
pub(crate) fn push_lower(out: &mut TextBuf, p: Point) {
    match p.char().filter(|c| is_in(*c, UPPER | TITLE)) {
        Some(c) => out.extend(c.to_lowercase()),
        None => out.push(p),
    }
}

/// The capitals of one character. One that Unicode names later is none.
pub(crate) fn push_upper(out: &mut TextBuf, p: Point) {
    let changes = |c: &char| is_in(*c, LOWER | TITLE) && c.to_uppercase().all(|u| classes(u) != 0);
    match p.char().filter(changes) {
        Some(c) => out.extend(c.to_uppercase()),
        None => out.push(p),
    }
}

/// `str.upper`
pub(crate) fn upper(s: &Text) -> TextBuf {
    mapped(s, <[u8]>::make_ascii_uppercase, |out, _, p| push_upper(out, p))
}

/// `str.istitle`
pub(crate) fn is_titled(s: &Text) -> bool {
    let (mut is_inside, mut any) = (false, false);
    for c in s.points() {
        let is_first = is_in(c, UPPER | TITLE);
        let is_cased = is_in(c, CASED);
        if is_cased && is_first == is_inside {
            return false;
        }
        any |= is_cased;
        is_inside = is_cased;
    }
    any
}

/// `str.isidentifier`
pub(crate) fn is_identifier(s: &Text) -> bool {
    s.points().next().is_some_and(|c| is_in(c, STARTS_NAME)) && s.points().all(|c| is_in(c, IN_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_characters() {
        assert!(is_in('é', ALPHA) && is_in('é', LOWER) && !is_in('é', DIGIT));
        assert!(is_in('²', DIGIT) && !is_in('²', DECIMAL) && is_in('½', NUMERIC));
        assert!(is_in('一', NUMERIC) && is_in('٣', DECIMAL));
        assert!(is_in(' ', PRINTABLE) && !is_in('\u{a0}', PRINTABLE) && !is_in('\u{10ffff}', PRINTABLE));
        assert!(!is_in('\0', ALPHA | PRINTABLE));
    }

    #[test]
    fn words() {
        assert_eq!(folded("Straße ΑΣ ﬁ".as_ref()), "strasse ασ fi");
        let titled = |s: &str| is_titled(s.as_ref());
        assert!(titled("Ab Ǆ 1Cd") && !titled("ab") && !titled("AB") && !titled("1"));
        let name = |s: &str| is_identifier(s.as_ref());
        assert!(name("_é1") && !name("1a") && !name("") && !name("a b"));
    }
}
