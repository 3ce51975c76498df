//! Letter case: that of single characters may depend on those around them, and be several. ASCII is changed byte by
//! byte.
//!
//! The standard library's mappings are of a later version of Unicode than the classes, and have no titlecase.

use crate::characters::{
    CASED, Case, IGNORABLE, LOWER, UPPER, folded, is_in, mapped, near_case, push_lower, push_title, push_upper, upper,
};
use crate::memory::alloc::MemInfo;
use crate::strings::make::{Writer, give_written};
use crate::strings::questions::all_bytes;
use crate::strings::value::{StrValue, give, give_part, text};
use crate::symbol::{Symbol, functions};
use crate::text::{Point, Text, TextBuf};
use lh_ir::consts::ASCII;

/// `str.lower`
fn lower(s: &Text) -> TextBuf {
    mapped(s, u8::to_ascii_lowercase, Some(Case::Small), |out, at, c| push_small(out, s, at, c))
}

/// `str.swapcase`
fn swapped(s: &Text) -> TextBuf {
    mapped(
        s,
        |b| swapped_byte(*b),
        None,
        |out, at, c| {
            if is_in(c, UPPER) {
                push_small(out, s, at, c);
            } else if is_in(c, LOWER) {
                push_form(out, c, Case::Capital, push_upper);
            } else {
                out.push(c);
            }
        },
    )
}

fn swapped_byte(b: u8) -> u8 {
    b ^ u8::from(b.is_ascii_alphabetic()) << 5
}

/// `str.title`
fn titled(s: &Text) -> TextBuf {
    let mut inside = false;
    each(s, |out, at, c| {
        if inside {
            push_small(out, s, at, c);
        } else {
            push_form(out, c, Case::Title, push_title);
        }
        inside = is_in(c, CASED);
    })
}

/// A form of one character: by the table, if it is there.
fn push_form(out: &mut TextBuf, c: Point, case: Case, other: fn(&mut TextBuf, Point)) {
    match near_case(c, case) {
        Some(form) => out.push_pair(form),
        None => other(out, c),
    }
}

/// `str.capitalize`
fn capitalized(s: &Text) -> TextBuf {
    each(s, |out, at, c| if at == 0 { push_title(out, c) } else { push_small(out, s, at, c) })
}

/// A text made of what becomes of each character at its place.
fn each(s: &Text, mut push: impl FnMut(&mut TextBuf, usize, Point)) -> TextBuf {
    let mut out = TextBuf::with_room(s.len()).unwrap_or_default();
    s.places().for_each(|(at, c)| push(&mut out, at, c));
    out
}

/// The small form of the character at a place of a text.
fn push_small(out: &mut TextBuf, s: &Text, at: usize, c: Point) {
    if let Some(form) = near_case(c, Case::Small) {
        return out.push_pair(form);
    }
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

/// Methods that change the case of a text: how, in ASCII and in any text, and which bytes of ASCII always stay.
macro_rules! cases {
    ($($name:ident($out:ident, $bytes:ident) => $ascii:expr, $any:expr, $stays:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(mem: *mut MemInfo, s: *const u8, n: i64, out: *mut StrValue) -> i32 {
            // SAFETY: compiled code passes a live string and room for the result.
            unsafe {
                let s = text(s, n);
                if n & ASCII == 0 {
                    return give($any(s), out);
                }
                let $bytes = s.as_bytes();
                if all_bytes($bytes, $stays) {
                    return give_part(mem, n, s, out);
                }
                give_written(s.len(), true, out, |$out: &mut Writer<'_>| $ascii)
            }
        }
    )*};
}

/// Whether a byte is no letter.
fn is_bare(b: u8) -> bool {
    !b.is_ascii_alphabetic()
}

cases! {
    lh_str_upper(out, bytes) => out.mapped(bytes, |b| b.to_ascii_uppercase()), upper, |b| !b.is_ascii_lowercase();
    lh_str_lower(out, bytes) => out.mapped(bytes, |b| b.to_ascii_lowercase()), lower, |b| !b.is_ascii_uppercase();
    lh_str_casefold(out, bytes) => out.mapped(bytes, |b| b.to_ascii_lowercase()), folded, |b| !b.is_ascii_uppercase();
    lh_str_swapcase(out, bytes) => out.mapped(bytes, swapped_byte), swapped, is_bare;
    lh_str_title(out, bytes) => {
        let mut inside = 0;
        out.mapped(bytes, |b| {
            let (is_letter, small) = (u8::from(b.is_ascii_alphabetic()) << 5, b.to_ascii_lowercase());
            small ^ (is_letter & !std::mem::replace(&mut inside, is_letter))
        });
    }, titled, is_bare;
    lh_str_capitalize(out, bytes) => {
        let (first, rest) = bytes.split_at(bytes.len().min(1));
        out.mapped(first, |b| b.to_ascii_uppercase());
        out.mapped(rest, |b| b.to_ascii_lowercase());
    }, capitalized, is_bare;
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _) lh_str_upper lh_str_lower lh_str_casefold lh_str_swapcase lh_str_title lh_str_capitalize;
    }
}

#[cfg(test)]
mod tests {
    use super::{folded, lower, upper, *};
    use crate::strings::value::tests::took;

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

    /// Methods of ASCII are those of any text.
    #[test]
    fn ascii_is_changed_as_any_text() {
        let every: String = (0..128).map(char::from).collect();
        for s in [every.as_str(), "", "a", "aB cD-eF'g 1a", "AB", "zZ"] {
            let n = s.len() as i64 | ASCII;
            let of = |f: unsafe extern "C-unwind" fn(*mut MemInfo, *const u8, i64, *mut StrValue) -> i32| {
                // SAFETY: a live text, and room for the result.
                took(|out| unsafe { f(std::ptr::null_mut(), s.as_ptr(), n, out) })
            };
            let any: Vec<_> = [upper, lower, folded, super::swapped, super::titled, super::capitalized]
                .iter()
                .map(|f: &fn(&Text) -> TextBuf| f(s.as_ref()).lossy())
                .collect();
            let ascii = [lh_str_upper, lh_str_lower, lh_str_casefold, lh_str_swapcase, lh_str_title, lh_str_capitalize];
            assert_eq!(ascii.map(of).to_vec(), any);
        }
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
