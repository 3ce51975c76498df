//! Stripping and padding at the ends of a text.

use crate::memory::alloc::{MemInfo, no_memory};
use crate::strings::make::give_written;
use crate::strings::parse_number::is_space;
use crate::strings::questions::all_bytes;
use crate::strings::value::{StrValue, give_part, text};
use crate::symbol::{Symbol, functions};
use crate::text::{Point, Text};
use lh_ir::consts::ASCII;

type Mem = *mut MemInfo;
type Data = *const u8;

/// The sides that are stripped, as bits.
const LEFT: i64 = 1;
const RIGHT: i64 = 2;

/// A text without the first and last characters of a kind.
fn stripped(s: &Text, sides: i64, is_out: impl Fn(Point) -> bool) -> &Text {
    let size = |p: Point| if is_out(p) { Some(p.size()) } else { None };
    let begin = if sides & LEFT == 0 { 0 } else { s.points().map_while(size).sum() };
    let rest = &s[begin..];
    let cut = if sides & RIGHT == 0 { 0 } else { rest.points().rev().map_while(size).sum() };
    &rest[..rest.len() - cut]
}

/// The same where the kind is some of ASCII.
fn stripped_bytes(s: &Text, sides: i64, is_out: impl Fn(u8) -> bool) -> &Text {
    let mut rest = s.as_bytes();
    let stays = |b: &u8| !is_out(*b);
    if sides & LEFT != 0 {
        while let Some((many, others)) = rest.split_first_chunk::<64>()
            && all_bytes(many, &is_out)
        {
            rest = others;
        }
        rest = &rest[rest.iter().position(stays).unwrap_or(rest.len())..];
    }
    if sides & RIGHT != 0 {
        while let Some((others, many)) = rest.split_last_chunk::<64>()
            && all_bytes(many, &is_out)
        {
            rest = others;
        }
        rest = &rest[..rest.iter().rposition(stays).map_or(0, |last| last + 1)];
    }
    Text::of(rest)
}

/// Without white space at the ends.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_strip_space(mem: Mem, s: Data, n: i64, sides: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let s = text(s, n);
        let part = match n & ASCII {
            0 => stripped(s, sides, is_space),
            _ => stripped_bytes(s, sides, |b| matches!(b, 9..=13 | 28..=32)),
        };
        give_part(mem, n, part, out)
    }
}

/// Without some characters at the ends.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_strip(
    mem: Mem,
    s: Data,
    n: i64,
    _: Mem,
    chars: Data,
    cn: i64,
    sides: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes live strings and room for the result.
    unsafe {
        let (s, chars) = (text(s, n), text(chars, cn));
        let part = if cn & ASCII != 0 {
            let some = chars.as_bytes().iter().fold(0u128, |some, b| some | 1 << (b & 127));
            stripped_bytes(s, sides, |b| b.is_ascii() && some >> (b & 127) & 1 != 0)
        } else {
            stripped(s, sides, |p| chars.points().any(|c| c == p))
        };
        give_part(mem, n, part, out)
    }
}

/// A text with a character so many times after its first bytes, and at its end.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_pad(
    mem: Mem,
    s: Data,
    n: i64,
    inside: i64,
    left: i64,
    right: i64,
    _: Mem,
    fill: Data,
    fills: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes live strings and room for the result.
    unsafe {
        let (s, fill) = (text(s, n), text(fill, fills));
        if left <= 0 && right <= 0 {
            return give_part(mem, n, s, out);
        }
        let (left, right) = (left.max(0) as usize, right.max(0) as usize);
        let size = s.len() as u128 + (left as u128 + right as u128) * fill.len() as u128;
        let Ok(size) = usize::try_from(size) else { return no_memory(size as i128) };
        give_written(size, n & fills & ASCII != 0, out, |to| {
            to.text(&s[..inside as usize]);
            to.repeated(fill, left);
            to.text(&s[inside as usize..]);
            to.repeated(fill, right);
        })
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _ _) lh_str_strip_space;
        (_ _ _ _ _ _ _ _) lh_str_strip;
        (_ _ _ _ _ _ _ _ _ _) lh_str_pad;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::value::tests::{call, took};

    #[test]
    fn ends_are_stripped() {
        for (s, sides, want) in [
            ("  a b \t", 3, "a b"),
            ("  a ", 1, "a "),
            ("  a ", 2, "  a"),
            (" \x1c\u{3000}é\u{a0}", 3, "é"),
            ("  ", 3, ""),
            ("  ", 2, ""),
            ("", 3, ""),
            (&(" ".repeat(130) + "a \n b" + &"\t".repeat(64)), 3, "a \n b"),
            (&" ".repeat(128), 3, ""),
        ] {
            assert_eq!(took(|out| call!(lh_str_strip_space(s) sides, out)), want);
            // SAFETY: a live text.
            let ascii = took(|out| unsafe {
                lh_str_strip_space(std::ptr::null_mut(), s.as_ptr(), s.len() as i64 | ASCII, sides, out)
            });
            assert!(!s.is_ascii() || ascii == want);
        }
        assert_eq!(took(|out| call!(lh_str_strip("xyaéx", "yx") 3, out)), "aé");
        assert_eq!(took(|out| call!(lh_str_strip("éaéx", "éx") 3, out)), "a");
        assert_eq!(took(|out| call!(lh_str_strip("xx", "x") 2, out)), "");
    }

    #[test]
    fn ends_are_padded() {
        let padded = |s: &str, inside, left, right, fill: &str| {
            // SAFETY: live texts.
            took(|out| unsafe {
                let null = std::ptr::null_mut();
                let (n, fills) = (s.len() as i64, fill.len() as i64);
                lh_str_pad(null, s.as_ptr(), n, inside, left, right, null, fill.as_ptr(), fills, out)
            })
        };
        assert_eq!(padded("-5", 1, 2, 0, "0"), "-005");
        assert_eq!(padded("é", 0, 1, 2, "ü"), "üéüü");
        assert_eq!(padded("é", 0, -1, 0, "ü"), "é");
        assert!(padded("a", 0, i64::MAX, i64::MAX, "üü").starts_with("! Unable to allocate"));
    }
}
