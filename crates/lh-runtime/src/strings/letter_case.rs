//! `str.swapcase`, `str.title`, `str.capitalize`: case of single characters that depends on those around them.
//!
//! The standard library's mappings are of a later version of Unicode than the classes, and have no titlecase.

use crate::characters::{CASED, IGNORABLE, LOWER, UPPER, classes, is_in, mapped, push_lower, push_upper};
use crate::text::{Point, Text, TextBuf};

/// `str.lower`
pub(crate) fn lower(s: &Text) -> TextBuf {
    mapped(s, <[u8]>::make_ascii_lowercase, |out, at, c| push_small(out, s, at, c))
}

/// `str.swapcase`
pub(crate) fn swapped(s: &Text) -> TextBuf {
    let swap = |out: &mut TextBuf, c: Point, small: &Text| {
        if is_in(c, UPPER) {
            out.push_text(small);
        } else if is_in(c, LOWER) {
            push_upper(out, c);
        } else {
            out.push(c);
        }
    };
    with_small(s, swap)
}

/// `str.title`
pub(crate) fn titled(s: &Text) -> TextBuf {
    let mut inside = false;
    with_small(s, |out, c, small| {
        if inside {
            out.push_text(small);
        } else {
            push_title(out, c);
        }
        inside = is_in(c, CASED);
    })
}

/// `str.capitalize`
pub(crate) fn capitalized(s: &Text) -> TextBuf {
    let mut is_first = true;
    with_small(s, |out, c, small| {
        if std::mem::take(&mut is_first) {
            push_title(out, c);
        } else {
            out.push_text(small);
        }
    })
}

/// A text made of every character and its small form at that place: a sigma has another one at the end of a word.
fn with_small(s: &Text, mut push: impl FnMut(&mut TextBuf, Point, &Text)) -> TextBuf {
    let mut out = TextBuf::default();
    let mut small = TextBuf::default();
    for (at, c) in s.places() {
        small.clear();
        push_small(&mut small, s, at, c);
        push(&mut out, c, &small);
    }
    out
}

/// The small form of the character at a place of a text.
fn push_small(out: &mut TextBuf, s: &Text, at: usize, c: Point) {
    let is_last = || begins_with_letter(s[..at].points().rev()) && !begins_with_letter(s[at + c.size()..].points());
    match c.char() {
        Some('Σ') if is_last() => out.push('ς'),
        _ => push_lower(out, c),
    }
}

/// Whether the first of some characters is a letter that has case, behind what is looked past.
fn begins_with_letter(mut characters: impl Iterator<Item = Point>) -> bool {
    characters.find(|c| !is_in(*c, IGNORABLE)).is_some_and(|c| is_in(c, CASED))
}

/// The character as the first of a word: its capital, of which only the first part stays one.
fn push_title(out: &mut TextBuf, p: Point) {
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

#[cfg(test)]
mod tests {
    use crate::text::{Text, TextBuf};

    fn by(method: fn(&Text) -> TextBuf, s: &str) -> String {
        method(s.as_ref()).lossy()
    }

    fn swapped(s: &str) -> String {
        by(super::swapped, s)
    }

    fn titled(s: &str) -> String {
        by(super::titled, s)
    }

    fn capitalized(s: &str) -> String {
        by(super::capitalized, s)
    }

    #[test]
    fn a_sigma_ends_a_word_in_its_own_form() {
        assert_eq!(swapped("ΑΣ ασ Σ"), "ας ΑΣ σ");
        assert_eq!(titled("ΑΣ ΑΣΑ"), "Ας Ασα");
        assert_eq!(capitalized("ΑΣ."), "Ας.");
    }

    #[test]
    fn capitals_of_several_letters() {
        assert_eq!(titled("ßa ﬁx ǆ ŉa"), "Ssa Fix ǅ ʼNa");
        assert_eq!(capitalized("\u{1fb3}"), "\u{1fbc}");
        assert_eq!(capitalized("\u{1fb7}"), "\u{391}\u{342}\u{345}");
        assert_eq!(swapped("ßİ"), "SSi\u{307}");
    }
}
