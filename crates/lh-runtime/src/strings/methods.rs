//! Methods of `str` that walk over a whole text, and those that take or give several strings.

use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::items::{Items, ItemsRef};
use crate::memory::alloc::{MemInfo, incref_by, no_memory};
use crate::strings::index::{byte_of, char_count};
use crate::strings::make::{ascii_char, give_written, shared_char};
use crate::strings::value::{FEW, StrValue, give_part, part_len, text};
use crate::strings::words;
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use lh_ir::consts::ASCII;
use smallvec::SmallVec;
use std::ops::Range;

type Mem = *mut MemInfo;
type Data = *const u8;

/// From a start index; negative ones have been made positive by the caller.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_find(mem: Mem, s: Data, n: i64, _: Mem, part: Data, pn: i64, start: i64) -> i64 {
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
unsafe extern "C-unwind" fn lh_str_rfind(mem: Mem, s: Data, n: i64, _: Mem, part: Data, pn: i64) -> i64 {
    // SAFETY: compiled code passes live strings.
    unsafe {
        let (s, part) = (text(s, n), text(part, pn));
        s.rfind(part).map_or(-1, |at| char_count(mem, &s[..at], n) as i64)
    }
}

/// Replaces the first `limit` occurrences (all of them if it is negative).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_replace(
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
        let is_ascii = n & nn & ASCII != 0;
        if let (&[old], &[new], usize::MAX) = (old.as_bytes(), new.as_bytes(), limit) {
            if memchr::memchr(old, s.as_bytes()).is_none() {
                return give_part(mem, n, s, out);
            }
            return give_written(s.len(), is_ascii, out, |to| {
                to.mapped(s.as_bytes(), |b| if b == old { new } else { b });
            });
        }
        if let (&[old], usize::MAX) = (old.as_bytes(), limit)
            && (s.len() <= FEW || new.is_empty())
        {
            let bytes = s.as_bytes();
            let found = bytes.iter().filter(|b| **b == old).count();
            if found == 0 {
                return give_part(mem, n, s, out);
            }
            let kept = bytes.len() - found;
            let more = found as u128 * new.len() as u128;
            let size = usize::try_from(kept as u128 + more).unwrap_or(usize::MAX);
            return give_written(size, is_ascii, out, |to| match new.as_bytes() {
                [] => to.without(bytes, old, kept),
                new => bytes.iter().for_each(|b| if *b == old { to.bytes(new) } else { to.byte(*b) }),
            });
        }
        let places: SmallVec<[usize; 32]> = s.matches(old).take(limit).collect();
        if places.is_empty() {
            return give_part(mem, n, s, out);
        }
        let found = places.len();
        let bytes = (s.len() - found * old.len()) as u128 + found as u128 * new.len() as u128;
        give_written(usize::try_from(bytes).unwrap_or(usize::MAX), is_ascii, out, |to| {
            let mut done = 0;
            for at in places {
                to.text(&s[done..at]);
                to.text(new);
                done = at + old.len();
            }
            to.text(&s[done..]);
        })
    }
}

/// Number of occurrences that do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_count(_: Mem, s: Data, n: i64, _: Mem, part: Data, pn: i64) -> i64 {
    // SAFETY: compiled code passes live strings.
    let (s, part) = unsafe { (text(s, n), text(part, pn)) };
    match part.as_bytes() {
        [byte] => memchr::memchr_iter(*byte, s.as_bytes()).count() as i64,
        _ => s.matches(part).count() as i64,
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

/// An ASCII text with each character replaced by the text at its place among 128.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_mapped(_: Mem, s: Data, n: i64, parts: *mut Items, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string, a live object with 128 strings as items and room for the result.
    unsafe {
        let (bytes, texts) = (text(s, n).as_bytes(), items(parts));
        let text_of = |b: &u8| texts[usize::from(*b)];
        let size: u128 = bytes.iter().map(|b| (text_of(b).len & !ASCII) as u128).sum();
        let is_ascii = texts.iter().fold(ASCII, |all, t| all & t.len) != 0;
        give_written(usize::try_from(size).unwrap_or(usize::MAX), is_ascii, out, |to| {
            for b in bytes {
                match text_of(b).text().as_bytes() {
                    [one] => to.byte(*one),
                    several => to.bytes(several),
                }
            }
        })
    }
}

/// Sorts the items of an object by code points; nobody can tell equal ones apart.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_sort(parts: *mut Items, descending: i64) {
    // SAFETY: compiled code passes a live object with strings as items, to which nobody else refers meanwhile.
    unsafe {
        let n = usize::try_from((*parts).len).unwrap_or(0);
        if n == 0 {
            return;
        }
        let items = std::slice::from_raw_parts_mut((*parts).mem.data.cast::<StrValue>(), n);
        let by_text = |a: &StrValue, b: &StrValue| a.text().cmp(b.text());
        let mut keyed: Vec<(u64, StrValue)> = Vec::new();
        if keyed.try_reserve_exact(n).is_ok() {
            keyed.extend(items.iter().map(|item| (first_bytes(item.text()), *item)));
            keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| by_text(&a.1, &b.1)));
            items.iter_mut().zip(keyed).for_each(|(item, (_, sorted))| *item = sorted);
        } else {
            items.sort_unstable_by(by_text);
        }
        if descending != 0 {
            items.reverse();
        }
    }
}

/// The first bytes of a text as a number, which is ordered as texts are: most texts differ in these.
fn first_bytes(s: &Text) -> u64 {
    let bytes = s.as_bytes();
    let mut first = [0; 8];
    let n = bytes.len().min(8);
    first[..n].copy_from_slice(&bytes[..n]);
    u64::from_be_bytes(first)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_join(_: Mem, sep: Data, sn: i64, parts: *mut Items, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string, a live object with strings as items and room for the result.
    unsafe {
        let (sep, items) = (text(sep, sn), items(parts));
        let (mut all, mut flags) = (0u128, sn);
        for item in items {
            all += (item.len & !ASCII) as u128;
            flags &= item.len;
        }
        let bytes = all + sep.len() as u128 * items.len().saturating_sub(1) as u128;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        give_written(bytes, flags & ASCII != 0, out, |joined| {
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    joined.text(sep);
                }
                joined.text(item.text());
            }
        })
    }
}

/// Adds parts of a string, which share its owner, to the items of an object. Its references are taken together, since
/// one addition is cheaper than one for each part.
pub(super) struct Parts<'a> {
    mem: Mem,
    n: i64,
    s: &'a Text,
    out: ItemsRef,
    count: i64,
    status: i32,
}

impl Parts<'_> {
    /// Adds a part; false when there is no memory.
    pub(super) fn add(&mut self, range: Range<usize>) -> bool {
        let part = &self.s[range];
        let value = StrValue { mem: self.mem, data: part.as_bytes().as_ptr(), len: part_len(self.n, part) };
        // SAFETY: the items are strings.
        if unsafe { self.out.push_value(value) } {
            self.count += 1;
            return true;
        }
        self.status = no_memory((self.out.len() + 1) as i128 * size_of::<StrValue>() as i128);
        false
    }
}

/// Gives an object the parts that a function adds.
///
/// # Safety
/// `s` is a live string owned by `mem`, and `out` a live object with strings as items.
pub(super) unsafe fn give_parts(mem: Mem, n: i64, s: &Text, out: *mut Items, cut: impl FnOnce(&mut Parts<'_>)) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        let mut parts = Parts { mem, n, s, out: ItemsRef::from_borrowed(out), count: 0, status: 0 };
        cut(&mut parts);
        incref_by(mem, parts.count);
        parts.status
    }
}

/// Adds the characters of a text to the items of an object.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_characters(mem: Mem, s: Data, n: i64, out: *mut Items) -> i32 {
    // SAFETY: compiled code passes a live string, and a live object with strings as items.
    unsafe {
        let s = text(s, n);
        let mut items = ItemsRef::from_borrowed(out);
        if n & ASCII != 0 {
            let is_done = items.extend_values(s.as_bytes().iter().map(|b| ascii_char(*b)));
            return if is_done { 0 } else { no_memory(s.len() as i128 * size_of::<StrValue>() as i128) };
        }
        items.reserve(items.len() + s.count());
        let mut of_text = 0;
        for (at, c) in s.places() {
            let value = shared_char(c).unwrap_or_else(|| {
                of_text += 1;
                let data = s[at..].as_bytes().as_ptr();
                StrValue { mem, data, len: c.size() as i64 }
            });
            if !items.push_value(value) {
                incref_by(mem, of_text);
                return no_memory((items.len() + 1) as i128 * size_of::<StrValue>() as i128);
            }
        }
        incref_by(mem, of_text);
        0
    }
}

/// A number of cuts; any number if it is negative.
fn limit_of(limit: i64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// At most `limit` cuts (any number if it is negative).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_split(
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
unsafe extern "C-unwind" fn lh_str_split_space(mem: Mem, s: Data, n: i64, limit: i64, out: *mut Items) -> i32 {
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
        (_ _) lh_str_sort;
        (_ _ _ _) lh_str_characters;
        (_ _ _ _ _) lh_str_mapped lh_str_join lh_str_split_space;
        (_ _ _ _ _ _) lh_str_rfind lh_str_count;
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
    fn changing() {
        assert_eq!(took(|out| call!(lh_str_replace("a-b-c", "-", "+=") - 1, out)), "a+=b+=c");
        assert_eq!(took(|out| call!(lh_str_replace("a-b-c", "-", "") 1, out)), "ab-c");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "", ".") - 1, out)), ".a.b.");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "", ".") 2, out)), ".a.b");
        assert_eq!(took(|out| call!(lh_str_replace("ab", "x", ".") - 1, out)), "ab");
        // Short texts, and parts that are left out, have ways of their own.
        for s in ["", "-", "--", "a-é-", &"é-b".repeat(40), &"-".repeat(50)] {
            for new in ["", "+", "é", "<->"] {
                assert_eq!(took(|out| call!(lh_str_replace(s, "-", new) - 1, out)), s.replace('-', new));
            }
        }
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
