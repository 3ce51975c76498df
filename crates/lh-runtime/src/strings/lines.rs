//! Lines of a text, and columns of tabulators in them.

use crate::items::Items;
use crate::memory::alloc::{MemInfo, no_memory};
use crate::strings::make::give_written;
use crate::strings::methods::give_parts;
use crate::strings::value::{StrValue, give_part, text};
use crate::strings::words;
use crate::symbol::{Symbol, functions};
use crate::text::{Point, Text};
use lh_ir::consts::ASCII;
use smallvec::SmallVec;
use std::ops::Range;

type Mem = *mut MemInfo;
type Data = *const u8;

/// Whether a line ends at a character.
fn ends_line(p: Point) -> bool {
    matches!(u32::from(p), 10..=13 | 28..=30 | 0x85 | 0x2028 | 0x2029)
}

/// The lines of a text, while they are taken: where each begins, where it ends, and where the next one begins.
fn lines(s: &Text, is_ascii: bool, mut take: impl FnMut(usize, usize, usize) -> bool) {
    let mut begin = 0;
    let mut end_line = |at: usize, size: usize| {
        // The second character of a pair ends no line of its own.
        if at < begin {
            return true;
        }
        let is_pair = s.as_bytes()[at..].starts_with(b"\r\n");
        let next = at + size + usize::from(is_pair);
        let is_taken = take(begin, at, next);
        begin = next;
        is_taken
    };
    let all = if is_ascii {
        words::line_ends(s.as_bytes(), |at| end_line(at, 1))
    } else {
        s.places().filter(|(_, p)| ends_line(*p)).all(|(at, p)| end_line(at, p.size()))
    };
    if all && begin < s.len() {
        take(begin, s.len(), s.len());
    }
}

/// Adds the lines of a text to the items of an object, with their ends or without.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_split_lines(mem: Mem, s: Data, n: i64, keeps_ends: i64, out: *mut Items) -> i32 {
    // SAFETY: compiled code passes a live string, and a live object with strings as items.
    unsafe {
        let s = text(s, n);
        give_parts(mem, n, s, out, |parts| {
            lines(s, n & ASCII != 0, |begin, end, next| parts.add(begin..if keeps_ends != 0 { next } else { end }));
        })
    }
}

/// The parts of a text between tabulators, each with the number of blanks that follow it.
fn columns(s: &Text, size: i64, mut part: impl FnMut(Range<usize>, usize)) {
    let (mut begin, mut column) = (0, 0i64);
    let mut counted = 0;
    for at in memchr::memchr3_iter(b'\t', b'\n', b'\r', s.as_bytes()) {
        if s.as_bytes()[at] != b'\t' {
            (counted, column) = (at + 1, 0);
            continue;
        }
        column += s[counted..at].count() as i64;
        let blanks = if size > 0 { size - column % size } else { 0 };
        part(begin..at, blanks as usize);
        // Only the place within the columns is asked for.
        column = 0;
        (begin, counted) = (at + 1, at + 1);
    }
    part(begin..s.len(), 0);
}

/// `str.expandtabs`
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_expand_tabs(mem: Mem, s: Data, n: i64, size: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let s = text(s, n);
        if memchr::memchr(b'\t', s.as_bytes()).is_none() {
            return give_part(mem, n, s, out);
        }
        let mut bytes = 0u128;
        let mut parts: SmallVec<[(Range<usize>, usize); 32]> = SmallVec::new();
        columns(s, size, |range, blanks| {
            bytes += range.len() as u128 + blanks as u128;
            parts.push((range, blanks));
        });
        let Ok(bytes) = usize::try_from(bytes) else { return no_memory(bytes as i128) };
        give_written(bytes, n & ASCII != 0, out, |to| {
            for (range, blanks) in parts {
                to.text(&s[range]);
                to.fill(b' ', blanks);
            }
        })
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _) lh_str_split_lines lh_str_expand_tabs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::value::tests::{call, took};

    #[test]
    fn lines_of_ascii_are_those_of_any_text() {
        let long = "ab\r\n\nc\x0b".repeat(30);
        let split = ["x".repeat(63), "\r".to_owned(), "\n".repeat(65)].concat();
        for s in ["", "a", "a\n", "\n", "\r\n\r", "a\rb\x0c\x1c\x1d\x1ec\x1f", &long, &split] {
            let by = |is_ascii| {
                let mut found = Vec::new();
                lines(s.as_ref(), is_ascii, |begin, end, next| {
                    found.push((begin, end, next));
                    true
                });
                found
            };
            assert_eq!(by(true), by(false), "{s:?}");
        }
        let mut found = Vec::new();
        lines("é\u{85}a\u{2028}".as_ref(), false, |begin, end, next| {
            found.push((begin, end, next));
            true
        });
        assert_eq!(found, [(0, 2, 4), (4, 5, 8)]);
    }

    #[test]
    fn tabulators_go_to_columns() {
        for (s, size, want) in [
            ("a\tb", 4, "a   b"),
            ("\té\tb", 2, "  é b"),
            ("ab\nc\td", 4, "ab\nc   d"),
            ("a\tb", 0, "ab"),
            ("abcd\t\t", 4, "abcd        "),
            ("a\rb\tc", 3, "a\rb  c"),
        ] {
            assert_eq!(took(|out| call!(lh_str_expand_tabs(s) size, out)), want, "{s:?}");
        }
        assert!(took(|out| call!(lh_str_expand_tabs("\t\t\t") i64::MAX, out)).starts_with("! Unable to allocate"));
    }
}
