//! Methods of `str` that walk over a whole text, and those that take or give several strings.

use crate::characters::{self, ALPHA, DECIMAL, DIGIT, LOWER, NUMERIC, PRINTABLE, TITLE, UPPER, is_in};
use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::items::{Items, ItemsRef};
use crate::memory::alloc::{MemInfo, incref_by};
use crate::strings::index::{byte_of, char_count};
use crate::strings::parse_number::is_space;
use crate::strings::value::{StrValue, give, give_part, part_len, text, with_room};
use crate::strings::words;
use crate::symbol::{Symbol, functions};
use crate::text::{Point, Text};
use lh_ir::consts::ASCII;
use std::ops::Range;

type Mem = *mut MemInfo;
type Data = *const u8;

/// From a start index; negative ones have been made positive by the caller.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_find(mem: Mem, s: Data, n: i64, _: Mem, part: Data, pn: i64, start: i64) -> i64 {
    // SAFETY: compiled code passes live strings.
    unsafe {
        let (s, part) = (text(s, n), text(part, pn));
        let skip = byte_of(mem, s, n, start.max(0) as usize);
        if skip == s.len() && start > char_count(mem, s, n) as i64 {
            return -1;
        }
        let rest = &s[skip..];
        // Counting takes no longer than the search did.
        let between = |at: usize| if n & ASCII != 0 { at } else { rest[..at].count() };
        rest.find(part).map_or(-1, |at| start.max(0) + between(at) as i64)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_rfind(mem: Mem, s: Data, n: i64, _: Mem, part: Data, pn: i64) -> i64 {
    // SAFETY: compiled code passes live strings.
    unsafe {
        let (s, part) = (text(s, n), text(part, pn));
        s.rfind(part).map_or(-1, |at| char_count(mem, &s[..at], n) as i64)
    }
}

/// The question that a predicate on texts asks of each character.
fn all(s: &Text, test: impl FnMut(Point) -> bool) -> bool {
    !s.is_empty() && s.points().all(test)
}

/// Predicates on texts.
macro_rules! predicates {
    ($($name:ident => $test:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(_: Mem, s: Data, n: i64) -> u8 {
            let test: fn(&Text) -> bool = $test;
            // SAFETY: compiled code passes a live string.
            u8::from(test(unsafe { text(s, n) }))
        }
    )*};
}

predicates! {
    lh_str_isascii => Text::is_ascii;
    lh_str_isspace => |s| all(s, is_space);
    lh_str_isdecimal => |s| all(s, |c| is_in(c, DECIMAL));
    lh_str_isdigit => |s| all(s, |c| is_in(c, DECIMAL | DIGIT));
    lh_str_isnumeric => |s| all(s, |c| is_in(c, NUMERIC));
    lh_str_isalpha => |s| all(s, |c| is_in(c, ALPHA));
    lh_str_isalnum => |s| all(s, |c| is_in(c, ALPHA | DECIMAL | DIGIT | NUMERIC));
    lh_str_isprintable => |s| s.points().all(|c| is_in(c, PRINTABLE));
    lh_str_isidentifier => characters::is_identifier;
    lh_str_isupper => |s| s.points().any(|c| is_in(c, UPPER)) && !s.points().any(|c| is_in(c, LOWER | TITLE));
    lh_str_islower => |s| s.points().any(|c| is_in(c, LOWER)) && !s.points().any(|c| is_in(c, UPPER | TITLE));
    lh_str_istitle => characters::is_titled;
    lh_str_is_utf8 => |s| s.as_str().is_some();
}

/// Replaces the first `limit` occurrences (all of them if it is negative).
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_replace(
    mem: Mem,
    s: Data,
    n: i64,
    _: Mem,
    old: Data,
    on: i64,
    _: Mem,
    new: Data,
    nn: i64,
    limit: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes live strings and room for the result.
    unsafe {
        let (s, old, new) = (text(s, n), text(old, on), text(new, nn));
        let limit = limit_of(limit);
        let found = s.matches(old).take(limit).count();
        if found == 0 {
            return give_part(mem, n, s, out);
        }
        let bytes = (s.len() - found * old.len()) as u128 + found as u128 * new.len() as u128;
        let Some(mut replaced) = with_room(usize::try_from(bytes).unwrap_or(usize::MAX)) else { return 1 };
        let mut done = 0;
        for at in s.matches(old).take(limit) {
            replaced.push_text(&s[done..at]);
            replaced.push_text(new);
            done = at + old.len();
        }
        replaced.push_text(&s[done..]);
        give(&replaced, out)
    }
}

/// The items of an object as texts.
unsafe fn items<'a>(object: *mut Items) -> &'a [StrValue] {
    // SAFETY: the caller passes a live object with strings as items.
    unsafe {
        match (*object).len {
            n if n > 0 => std::slice::from_raw_parts((*object).mem.data.cast(), n as usize),
            _ => &[],
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_join(_: Mem, sep: Data, sn: i64, parts: *mut Items, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string, a live object with strings as items and room for the result.
    unsafe {
        let (sep, items) = (text(sep, sn), items(parts));
        let all: u128 = items.iter().map(|i| i.text().len() as u128).sum();
        let bytes = all + sep.len() as u128 * items.len().saturating_sub(1) as u128;
        let Some(mut joined) = with_room(usize::try_from(bytes).unwrap_or(usize::MAX)) else { return 1 };
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                joined.push_text(sep);
            }
            joined.push_text(item.text());
        }
        give(&joined, out)
    }
}

/// Adds parts of a string, which share its owner, to the items of an object. Its references are taken together, since
/// one addition is cheaper than one for each part.
struct Parts<'a> {
    mem: Mem,
    n: i64,
    s: &'a Text,
    out: ItemsRef,
    count: i64,
    status: i32,
}

impl Parts<'_> {
    /// Adds a part; false when there is no memory.
    fn add(&mut self, range: Range<usize>) -> bool {
        let part = &self.s[range];
        let value = StrValue { mem: self.mem, data: part.as_bytes().as_ptr(), len: part_len(self.n, part) };
        // SAFETY: the items are strings.
        if unsafe { self.out.push_value(value) } {
            self.count += 1;
            return true;
        }
        self.status = crate::memory::alloc::no_memory((self.out.len() + 1) as i128 * size_of::<StrValue>() as i128);
        false
    }
}

/// Gives an object the parts that a function adds.
unsafe fn give_parts(mem: Mem, n: i64, s: &Text, out: *mut Items, cut: impl FnOnce(&mut Parts<'_>)) -> i32 {
    // SAFETY: the caller passes a live string owned by `mem` and a live object with strings as items.
    unsafe {
        let mut parts = Parts { mem, n, s, out: ItemsRef::from_borrowed(out), count: 0, status: 0 };
        cut(&mut parts);
        incref_by(mem, parts.count);
        parts.status
    }
}

/// A number of cuts; any number if it is negative.
fn limit_of(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// At most `limit` cuts (any number if it is negative).
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_split(
    mem: Mem,
    s: Data,
    n: i64,
    _: Mem,
    sep: Data,
    sn: i64,
    limit: i64,
    out: *mut Items,
) -> i32 {
    // SAFETY: compiled code passes live strings, and a live object with strings as items.
    unsafe {
        let (s, sep) = (text(s, n), text(sep, sn));
        match sep.as_bytes() {
            [] => raise(VALUE_ERROR, "empty separator"),
            [byte] => give_parts(mem, n, s, out, |parts| {
                words::cut_at_byte(s.as_bytes(), *byte, limit_of(limit), |range| parts.add(range));
            }),
            _ => give_parts(mem, n, s, out, |parts| {
                words::cut(s, sep, limit_of(limit)).all(|range| parts.add(range));
            }),
        }
    }
}

/// Cuts at runs of white space; at most `limit` times (any number if it is negative).
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_str_split_space(mem: Mem, s: Data, n: i64, limit: i64, out: *mut Items) -> i32 {
    // SAFETY: compiled code passes a live string, and a live object with strings as items.
    unsafe {
        let s = text(s, n);
        give_parts(mem, n, s, out, |parts| {
            if n & ASCII != 0 && limit < 0 {
                words::ascii_words(s.as_bytes(), |range| parts.add(range));
            } else {
                words::words(s, limit_of(limit)).all(|range| parts.add(range));
            }
        })
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _) lh_str_isspace lh_str_isdigit lh_str_isalpha lh_str_isalnum lh_str_isupper lh_str_islower lh_str_isascii;
        (_ _ _) lh_str_isdecimal lh_str_isnumeric lh_str_isprintable lh_str_isidentifier lh_str_istitle;
        (_ _ _) lh_str_is_utf8;
        (_ _ _ _ _) lh_str_join lh_str_split_space;
        (_ _ _ _ _ _) lh_str_rfind;
        (_ _ _ _ _ _ _) lh_str_find;
        (_ _ _ _ _ _ _ _) lh_str_split;
        (_ _ _ _ _ _ _ _ _ _ _) lh_str_replace;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;
    use crate::memory::alloc::decref;
    use crate::strings::value::tests::{call, took};

    #[test]
    fn searching() {
        assert_eq!(call!(lh_str_find("éabcab", "ab") 0), 1);
        assert_eq!(call!(lh_str_find("éabcab", "ab") 2), 4);
        assert_eq!(call!(lh_str_find("ab", "x") 0), -1);
        assert_eq!(call!(lh_str_find("ab", "") 2), 2);
        assert_eq!(call!(lh_str_find("ab", "") 3), -1);
        assert_eq!(call!(lh_str_rfind("éabcab", "ab")), 4);
        assert_eq!(call!(lh_str_rfind("ab", "")), 2);
    }

    #[test]
    fn predicates() {
        assert_eq!(
            [call!(lh_str_isspace(" \t\x1c")), call!(lh_str_isspace("")), call!(lh_str_isspace("a "))],
            [1, 0, 0]
        );
        assert_eq!([call!(lh_str_isdigit("012")), call!(lh_str_isdigit("²")), call!(lh_str_isdigit("1.0"))], [1, 1, 0]);
        assert_eq!([call!(lh_str_isalpha("aé")), call!(lh_str_isalpha("a1")), call!(lh_str_isalnum("a1"))], [1, 0, 1]);
        assert_eq!([call!(lh_str_isupper("AB1")), call!(lh_str_isupper("12")), call!(lh_str_isupper("Ab"))], [1, 0, 0]);
        assert_eq!([call!(lh_str_islower("ab1")), call!(lh_str_islower("")), call!(lh_str_islower("Ab"))], [1, 0, 0]);
    }

    #[test]
    fn changing() {
        assert_eq!(took(|out| call!(lh_str_replace("a-b-c", "-", "+=") - 1, out)), "a+=b+=c");
        assert_eq!(took(|out| call!(lh_str_replace("a-b-c", "-", "") 1, out)), "ab-c");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "", ".") - 1, out)), ".a.b.");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "", ".") 2, out)), ".a.b");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "x", ".") - 1, out)), "ab");
    }

    fn no_parts() -> ItemsRef {
        ItemsRef::new(0, size_of::<StrValue>(), 1).unwrap()
    }

    /// The parts that a function gives, joined.
    fn parts(f: impl FnOnce(*mut Items) -> i32) -> String {
        let parts = no_parts();
        if f(parts.as_ptr()) != 0 {
            return format!("! {}", take_pending().unwrap().message().lossy());
        }
        took(|out| call!(lh_str_join("|") parts.as_ptr(), out))
    }

    #[test]
    fn splitting_and_joining() {
        assert_eq!(parts(|out| call!(lh_str_split("a,é,,b", ",") - 1, out)), "a|é||b");
        assert_eq!(parts(|out| call!(lh_str_split("a,b,c", ",") 1, out)), "a|b,c");
        assert_eq!(parts(|out| call!(lh_str_split("", ",") - 1, out)), "");
        assert_eq!(parts(|out| call!(lh_str_split("a", "") - 1, out)), "! empty separator");
        assert_eq!(parts(|out| call!(lh_str_split_space("  a  b\tc ") - 1, out)), "a|b|c");
        assert_eq!(parts(|out| call!(lh_str_split_space("  a  b\tc ") 1, out)), "a|b\tc ");
        assert_eq!(parts(|out| call!(lh_str_split_space("  ") - 1, out)), "");
    }

    #[test]
    fn parts_share_their_owner() {
        let s = StrValue::new("a b").unwrap();
        let parts = no_parts();
        // SAFETY: the parts keep the text alive after our reference is dropped.
        unsafe {
            assert_eq!(lh_str_split_space(s.mem, s.data, s.len, -1, parts.as_ptr()), 0);
            decref(s.mem);
            assert_eq!(*items(parts.as_ptr())[1].text(), *"b");
        }
    }
}
