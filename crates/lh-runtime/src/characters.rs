//! Classes of characters as CPython has them, which are not those of Rust's `char`: letters are those of a category,
//! superscripts are digits, and a character that Unicode names later is none.

mod table;

use crate::text::{Point, Text, TextBuf};
use std::sync::LazyLock;
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

/// Code points below this one are looked up: those of all alphabets in frequent use, and kana.
const NEAR: usize = 0x3100;

/// The classes of the near code points.
static NEAR_CLASSES: [u16; NEAR] = {
    let (mut near, mut code, mut run, mut now) = ([0; NEAR], 0, 0, 0);
    while code < NEAR {
        while run < RUNS.len() && (RUNS[run] >> BITS) as usize <= code {
            now = (RUNS[run] & ((1 << BITS) - 1)) as u16;
            run += 1;
        }
        near[code] = now;
        code += 1;
    }
    near
};

/// The classes of a character.
#[inline]
pub(crate) fn classes(c: impl Into<u32>) -> u32 {
    let code = c.into();
    NEAR_CLASSES.get(code as usize).map_or_else(|| far_classes(code), |classes| u32::from(*classes))
}

fn far_classes(code: u32) -> u32 {
    let key = (code << BITS) | ((1 << BITS) - 1);
    let at = RUNS.partition_point(|run| *run <= key);
    at.checked_sub(1).map_or(0, |at| RUNS[at] & ((1 << BITS) - 1))
}

/// Whether a character is in one of some classes.
pub(crate) fn is_in(c: impl Into<u32>, some: u32) -> bool {
    classes(c) & some != 0
}

/// A text with every character replaced: `ascii` changes bytes of ASCII, near characters have a form of the table of
/// cases, and `other` appends what becomes of any other character, which it gets with its place.
pub(crate) fn mapped(
    s: &Text,
    ascii: fn(&u8) -> u8,
    near: Option<Case>,
    mut other: impl FnMut(&mut TextBuf, usize, Point),
) -> TextBuf {
    let mut out = TextBuf::with_room(s.len()).unwrap_or_default();
    let cases = CASES.as_slice();
    let (bytes, mut at) = (s.as_bytes(), 0);
    while let Some(first) = bytes.get(at) {
        if first.is_ascii() {
            out.push_byte(ascii(first));
            at += 1;
            continue;
        }
        let Some(p) = s[at..].points().next() else { break };
        match near.and_then(|case| near_case_of(cases, p, case)) {
            Some(form) => out.push_pair(form),
            None => other(&mut out, at, p),
        }
        at += p.size();
    }
    out
}

/// A form of a character.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Case {
    Small,
    Capital,
    Title,
}

/// Code points from 128 on below this one have their forms in a table.
const CASED_NEAR: u32 = 0x590;
/// A capital sigma, whose small form depends on its place.
const SIGMA: u32 = 0x3a3;

/// The small form, the capital and the form at the beginning of a word of near characters, if that is one character of
/// two bytes.
static CASES: LazyLock<Vec<[[u8; 2]; 3]>> = LazyLock::new(|| {
    let form = |push: fn(&mut TextBuf, Point), p: Point| {
        let mut out = TextBuf::new();
        push(&mut out, p);
        let bytes: Option<[u8; 2]> = out.as_bytes().try_into().ok();
        bytes.filter(|b| !b[0].is_ascii()).unwrap_or_default()
    };
    let points = (0x80..CASED_NEAR).filter_map(Point::new);
    let mut forms: Vec<_> = points.map(|p| [push_lower, push_upper, push_title].map(|push| form(push, p))).collect();
    forms[(SIGMA - 0x80) as usize][Case::Small as usize] = [0; 2];
    forms
});

/// A form by the table.
#[inline]
pub(crate) fn near_case(p: Point, case: Case) -> Option<[u8; 2]> {
    near_case_of(&CASES, p, case)
}

#[inline]
fn near_case_of(cases: &[[[u8; 2]; 3]], p: Point, case: Case) -> Option<[u8; 2]> {
    let at = u32::from(p).wrapping_sub(0x80) as usize;
    cases.get(at).map(|forms| forms[case as usize]).filter(|form| form[0] != 0)
}

/// `str.casefold`
pub(crate) fn folded(s: &Text) -> TextBuf {
    mapped(s, u8::to_ascii_lowercase, None, |out, _, p| {
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

/// The character as the first of a word: its capital, of which only the first part stays one.
pub(crate) fn push_title(out: &mut TextBuf, p: Point) {
    let Some(c) = p.char() else { return out.push(p) };
    // A small iota below a vowel stays below it, but stands beside its capital.
    const IOTA: char = '\u{399}';
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => out.push('ǅ'),
        'Ǉ' | 'ǈ' | 'ǉ' => out.push('ǈ'),
        'Ǌ' | 'ǋ' | 'ǌ' => out.push('ǋ'),
        'Ǳ' | 'ǲ' | 'ǳ' => out.push('ǲ'),
        // Georgian has capitals for whole texts only.
        '\u{10d0}'..='\u{10ff}' => out.push(c),
        'ŉ' => out.extend(c.to_uppercase()),
        '\u{1f80}'..='\u{1faf}' => out.extend(char::from_u32(u32::from(c) | 8)),
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => out.extend(char::from_u32(u32::from(c) + 9)),
        _ if !is_in(c, LOWER) || c.to_uppercase().any(|u| classes(u) == 0) => out.push(c),
        _ => {
            let mut upper = c.to_uppercase();
            out.extend(upper.next());
            let is_greek = matches!(c, '\u{1fb2}'..='\u{1ff7}');
            out.extend(upper.flat_map(|p| if is_greek && p == IOTA { '\u{345}' } else { p }.to_lowercase()));
        }
    }
}

/// `str.upper`
pub(crate) fn upper(s: &Text) -> TextBuf {
    mapped(s, u8::to_ascii_uppercase, Some(Case::Capital), |out, _, p| push_upper(out, p))
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
    }
}
