//! Strings: an owner (null for text in code), bytes ([`Text`]) and their number. The rows that make, compare and index
//! them.
//!
//! Parts of a string share its owner. [`ASCII`] in the number says that characters are found by their index.

use crate::classes::{INDEX_ERROR, OVERFLOW_ERROR, VALUE_ERROR};
use crate::exception::raise;
use crate::memory::alloc::{MemInfo, incref, no_memory};
use crate::repr::{DIGITS, complex_repr, complex64_repr, decimal, digits_of_bits, float_repr, float32_repr, str_repr};
use crate::strings::format_spec::{Failure, format_complex, format_float, format_int, format_str};
use crate::strings::index::{self, byte_of, char_count};
use crate::strings::make::{ascii_char, give_written, shared_char};
use crate::strings::parse_number::{parse_float, parse_int};
use crate::strings::questions::all_bytes;
use crate::symbol::{Symbol, functions};
use crate::text::{Point, Text, TextBuf};
use lh_ir::consts::ASCII;
use std::cmp::Ordering;

/// A string as compiled code holds it; one reference to `mem` belongs to it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StrValue {
    /// Owner, or null.
    pub mem: *mut MemInfo,
    /// The bytes, see [`Text`].
    pub data: *const u8,
    /// Number of bytes, with [`ASCII`] if they are known to be such.
    pub len: i64,
}

impl StrValue {
    /// A new string; `None` when there is no memory.
    pub fn new(s: impl AsRef<Text>) -> Option<StrValue> {
        let s = s.as_ref();
        let mut points = s.points();
        match (points.next().and_then(shared_char), points.next()) {
            (Some(single), None) => Some(single),
            _ => StrValue::written(s.len(), false, |out| out.text(s)),
        }
    }
    /// Its text.
    ///
    /// # Safety
    /// The string is live.
    pub unsafe fn text<'a>(self) -> &'a Text {
        // SAFETY: the caller's promise.
        unsafe { text(self.data, self.len) }
    }
}

/// The text of a string.
///
/// # Safety
/// `data` and `len` are those of a live string.
#[inline]
pub unsafe fn text<'a>(data: *const u8, len: i64) -> &'a Text {
    let len = len & !ASCII;
    if len <= 0 || data.is_null() {
        return Text::of(&[]);
    }
    // SAFETY: the caller's promise.
    Text::of(unsafe { std::slice::from_raw_parts(data, len as usize) })
}

/// The third word of a part of a string, whose third word is `n`.
#[inline]
pub(crate) fn part_len(n: i64, part: &Text) -> i64 {
    part.len() as i64 | if n & ASCII != 0 || part.is_ascii() { ASCII } else { 0 }
}

/// Returns a new string.
///
/// # Safety
/// `out` has room for it.
pub(crate) unsafe fn give(s: impl AsRef<Text>, out: *mut StrValue) -> i32 {
    let s = s.as_ref();
    match StrValue::new(s) {
        Some(v) => {
            // SAFETY: the caller's promise.
            unsafe { out.write(v) };
            0
        }
        None => no_memory(s.len() as i128),
    }
}

/// Returns a part of a string, which keeps its owner alive.
///
/// # Safety
/// `part` lies in a live string owned by `mem`, whose number of bytes is `n`; `out` has room for the result.
#[inline]
pub(crate) unsafe fn give_part(mem: *mut MemInfo, n: i64, part: &Text, out: *mut StrValue) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        incref(mem);
        out.write(StrValue { mem, data: part.as_bytes().as_ptr(), len: part_len(n, part) });
    }
    0
}

/// Returns a new string, or raises ValueError (OverflowError where the text says so).
///
/// # Safety
/// `out` has room for the result.
unsafe fn give_or_raise<T: AsRef<Text>>(s: Result<T, Failure>, out: *mut StrValue) -> i32 {
    match s {
        // SAFETY: the caller's promise.
        Ok(s) => unsafe { give(&s, out) },
        Err(failure) => raise(failure.class, failure.message),
    }
}

/// An empty text with room for this many bytes; `None` (with the exception) when there is no memory.
pub(crate) fn with_room(bytes: usize) -> Option<TextBuf> {
    let room = TextBuf::with_room(bytes);
    if room.is_none() {
        no_memory(bytes as i128);
    }
    room
}

type Mem = *mut MemInfo;
type Data = *const u8;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_eq(_: Mem, a: Data, an: i64, _: Mem, b: Data, bn: i64) -> u8 {
    // SAFETY: compiled code passes live strings.
    u8::from(same_bytes(unsafe { text(a, an) }.as_bytes(), unsafe { text(b, bn) }.as_bytes()))
}

/// Whether texts are equal. Keys of tables are mostly short: two overlapping words are compared sooner than `memcmp` is
/// called.
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    fn ends<const N: usize>(s: &[u8]) -> Option<(&[u8; N], &[u8; N])> {
        Some((s.first_chunk()?, s.last_chunk()?))
    }
    a.len() == b.len()
        && match a.len() {
            4..8 => ends::<4>(a) == ends::<4>(b),
            8..=16 => ends::<8>(a) == ends::<8>(b),
            0 => true,
            n @ 1..4 => (a[0], a[n / 2], a[n - 1]) == (b[0], b[n / 2], b[n - 1]),
            _ => a == b,
        }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_cmp(_: Mem, a: Data, an: i64, _: Mem, b: Data, bn: i64) -> i64 {
    // The bytes are ordered as the code points are.
    // SAFETY: compiled code passes live strings.
    match unsafe { text(a, an).cmp(text(b, bn)) } {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

/// So many bytes are looked at one by one.
pub(crate) const FEW: usize = 32;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_in(_: Mem, part: Data, pn: i64, _: Mem, whole: Data, wn: i64) -> u8 {
    // SAFETY: compiled code passes live strings.
    let (whole, part) = unsafe { (text(whole, wn), text(part, pn)) };
    u8::from(match part.as_bytes() {
        // A search would take longer to begin.
        [byte] if whole.len() <= FEW => whole.as_bytes().contains(byte),
        _ => whole.find(part).is_some(),
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_len(mem: Mem, s: Data, n: i64) -> i64 {
    // SAFETY: compiled code passes a live string.
    unsafe { char_count(mem, text(s, n), n) as i64 }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_concat(
    am: Mem,
    a: Data,
    an: i64,
    bm: Mem,
    b: Data,
    bn: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes live strings and room for the result.
    unsafe {
        let (left, right) = (text(a, an), text(b, bn));
        if left.is_empty() {
            return give_part(bm, bn, right, out);
        }
        if right.is_empty() {
            return give_part(am, an, left, out);
        }
        let (left, right) = (StrValue { mem: am, data: a, len: an }, StrValue { mem: bm, data: b, len: bn });
        match left.followed_by(right) {
            Some(v) => out.write(v),
            None => return no_memory((an & !ASCII) as i128 + (bn & !ASCII) as i128),
        }
        0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_repeat(mem: Mem, s: Data, n: i64, times: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let one = text(s, n);
        if times == 1 {
            return give_part(mem, n, one, out);
        }
        let times = usize::try_from(times).unwrap_or(0);
        let Some(bytes) = one.len().checked_mul(times) else { return no_memory(one.len() as i128 * times as i128) };
        let times = if one.is_empty() { 0 } else { times };
        give_written(bytes, n & ASCII != 0, out, |all| all.repeated(one, times))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_getitem(mem: Mem, s: Data, n: i64, index: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let size = n & !ASCII;
        if n & ASCII != 0 {
            let at = if index < 0 { index.saturating_add(size) } else { index };
            if (0..size).contains(&at) {
                out.write(ascii_char(*s.add(at as usize)));
                return 0;
            }
        }
        let s = text(s, n);
        let from_start = if index < 0 { index.saturating_add(char_count(mem, s, n) as i64) } else { index };
        let part = usize::try_from(from_start).ok().map_or(Text::of(&[]), |i| &s[byte_of(mem, s, n, i)..]);
        match part.points().next() {
            Some(c) => give_char(mem, n, part, c, out),
            None => raise(INDEX_ERROR, "string index out of range"),
        }
    }
}

/// The character that begins at a byte.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_char(mem: Mem, s: Data, n: i64, at: i64, out: *mut StrValue) {
    // SAFETY: compiled code passes a live string, where in it a character begins, and room for the result.
    unsafe {
        let first = *s.add(at as usize);
        if first.is_ascii() {
            return out.write(ascii_char(first));
        }
        let rest = &text(s, n)[at as usize..];
        if let Some(c) = rest.points().next() {
            give_char(mem, n, rest, c, out);
        }
    }
}

/// The bytes of memory as characters with these numbers: all that finds characters by their index takes them so. No
/// other functions may be given such a text, and nobody else has it.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_over_bytes(mem: Mem, data: Data, n: i64, out: *mut StrValue) {
    // SAFETY: compiled code passes live memory of so many bytes, and room for the result.
    unsafe {
        incref(mem);
        out.write(StrValue { mem, data, len: n.max(0) | ASCII });
    }
}

/// Returns the character that a part of a string begins with.
///
/// # Safety
/// As of [`give_part`].
unsafe fn give_char(mem: Mem, n: i64, part: &Text, c: Point, out: *mut StrValue) -> i32 {
    // SAFETY: the caller's promise.
    unsafe {
        match shared_char(c) {
            Some(shared) => {
                out.write(shared);
                0
            }
            None => give_part(mem, n, &part[..c.size()], out),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_slice(mem: Mem, s: Data, n: i64, start: i64, stop: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let (start, stop) = (start.max(0) as usize, stop.max(0) as usize);
        let s = text(s, n);
        let begin = byte_of(mem, s, n, start);
        // The end of a short part is near.
        let end = match stop.saturating_sub(start) {
            count @ 0..index::NEAR if n & ASCII == 0 => begin + index::scan(&s[begin..], count),
            _ if n & ASCII == 0 && stop >= char_count(mem, s, n) => s.len(),
            _ => byte_of(mem, s, n, stop).max(begin),
        };
        give_part(mem, n, &s[begin..end], out)
    }
}

/// So many code points, from one on in steps.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_step(
    mem: Mem,
    s: Data,
    n: i64,
    start: i64,
    step: i64,
    count: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes a live string that has these characters, and room for the result.
    let s = unsafe { text(s, n) };
    let (count, bytes) = (usize::try_from(count).unwrap_or(0), s.as_bytes());
    if step == -1 && count > 0 {
        // SAFETY: as above; the part ends with the first character that is taken.
        return unsafe {
            let first = (start + 1) as usize - count;
            let is_whole = first == 0 && count == char_count(mem, s, n);
            let part = if is_whole { s } else { &s[byte_of(mem, s, n, first)..byte_of(mem, s, n, first + count)] };
            give_written(part.len(), n & ASCII != 0, out, |to| to.reversed(part))
        };
    }
    if n & ASCII != 0 || count == 0 {
        // SAFETY: as above.
        return unsafe {
            give_written(count, true, out, |to| {
                to.each((0..count).map(|k| bytes[(start + k as i64 * step) as usize]));
            })
        };
    }
    let Some(mut taken) = with_room(s.len()) else { return 1 };
    if step > 0 {
        taken.extend(s.points().skip(start as usize).step_by(step as usize).take(count));
    } else {
        // The last character that is taken is counted from the end.
        let behind = s.count() - 1 - start as usize;
        taken.extend(s.points().rev().skip(behind).step_by(step.unsigned_abs() as usize).take(count));
    }
    // SAFETY: as above.
    unsafe { give(&taken, out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_ord(mem: Mem, s: Data, n: i64, out: *mut i64) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        if n == 1 | ASCII {
            out.write(i64::from(*s));
            return 0;
        }
        let mut chars = text(s, n).points();
        match (chars.next(), chars.next()) {
            (Some(c), None) => {
                out.write(i64::from(u32::from(c)));
                0
            }
            _ => raise(
                crate::classes::TYPE_ERROR,
                format!("ord() expected a character, but string of length {} found", char_count(mem, text(s, n), n)),
            ),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_chr(code: i64, out: *mut StrValue) -> i32 {
    match u32::try_from(code).ok().and_then(Point::new) {
        // SAFETY: compiled code passes room for the result.
        Some(c) => unsafe {
            match shared_char(c) {
                Some(shared) => {
                    out.write(shared);
                    0
                }
                None => give(TextBuf::from_iter([c]), out),
            }
        },
        None => raise(VALUE_ERROR, "chr() arg not in range(0x110000)"),
    }
}

/// The result of a function that never fails.
fn made<T>(text: T) -> Result<T, Failure> {
    Ok(text)
}

/// Functions that give a new text, or raise.
macro_rules! texts {
    ($($name:ident($($arg:ident: $ty:ty),*) => $text:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name($($arg: $ty,)* out: *mut StrValue) -> i32 {
            // SAFETY: compiled code passes live strings and room for the result.
            unsafe { give_or_raise($text, out) }
        }
    )*};
}

texts! {
    lh_str_from_f64(value: f64) => made(float_repr(value));
    lh_str_from_f32(value: f32) => made(float32_repr(value));
    lh_str_from_c128(re: f64, im: f64) => made(complex_repr(re, im));
    lh_str_from_c64(re: f32, im: f32) => made(complex64_repr(re, im));
    lh_str_from_bool(value: u8) => made(if value != 0 { "True" } else { "False" }.to_owned());
    lh_str_format_f64(value: f64, _mem: Mem, spec: Data, n: i64) => format_float(value, text(spec, n));
    lh_str_format_c128(re: f64, im: f64, _mem: Mem, spec: Data, n: i64) => format_complex(re, im, text(spec, n));
    lh_str_format_u64(value: u64, _mem: Mem, spec: Data, n: i64) => format_int(i128::from(value), text(spec, n));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_repr(_: Mem, s: Data, n: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let s = text(s, n);
        let is_plain = |b: u8| (b' '..0x7f).contains(&b) & (b != b'\'') & (b != b'\\');
        if n & ASCII != 0 && all_bytes(s.as_bytes(), is_plain) {
            return give_written(s.len() + 2, true, out, |quoted| {
                quoted.byte(b'\'');
                quoted.text(s);
                quoted.byte(b'\'');
            });
        }
        give(str_repr(s), out)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_i64(value: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes room for the result.
    unsafe { give_digits(value < 0, value.unsigned_abs(), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_u64(value: u64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes room for the result.
    unsafe { give_digits(false, value, out) }
}

unsafe fn give_digits(is_negative: bool, magnitude: u64, out: *mut StrValue) -> i32 {
    let mut room = [0; DIGITS];
    let digits = decimal(is_negative, magnitude, &mut room);
    // SAFETY: the caller passes room for the result.
    unsafe {
        match digits {
            [digit] => {
                out.write(ascii_char(*digit));
                0
            }
            _ => give_written(digits.len(), true, out, |to| to.bytes(digits)),
        }
    }
}

/// `bin`, `oct` and `hex`: digits of one, three or four bits after a prefix.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_bits(value: i64, bits: i64, out: *mut StrValue) -> i32 {
    let prefix = match bits {
        1 => "0b",
        3 => "0o",
        _ => "0x",
    };
    // SAFETY: compiled code passes room for the result.
    unsafe { give_bits(value, bits as u32, prefix, out) }
}

unsafe fn give_bits(value: i64, bits: u32, prefix: &str, out: *mut StrValue) -> i32 {
    let mut room = [0; 64];
    let digits = digits_of_bits(value.unsigned_abs(), bits, &mut room);
    let sign = if value < 0 { "-" } else { "" };
    // SAFETY: the caller passes room for the result.
    unsafe {
        give_written(sign.len() + prefix.len() + digits.len(), true, out, |to| {
            to.bytes(sign.as_bytes());
            to.bytes(prefix.as_bytes());
            to.bytes(digits);
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_format_i64(value: i64, _: Mem, spec: Data, n: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        let spec = text(spec, n);
        // Most formats are these, which fill no field.
        match spec.as_bytes() {
            [] | [b'd'] => give_digits(value < 0, value.unsigned_abs(), out),
            [b'x'] => give_bits(value, 4, "", out),
            [b'b'] => give_bits(value, 1, "", out),
            _ => give_or_raise(format_int(i128::from(value), spec), out),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_format_str(
    mem: Mem,
    s: Data,
    n: i64,
    _: Mem,
    spec: Data,
    sn: i64,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes live strings and room for the result.
    unsafe {
        match text(spec, sn) {
            spec if spec.is_empty() => give_part(mem, n, text(s, n), out),
            spec => give_or_raise(format_str(text(s, n), spec), out),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_to_i64(_: Mem, s: Data, n: i64, base: i64, out: *mut i64) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        match parse_int(text(s, n), base as u32) {
            Ok(Some(value)) => {
                out.write(value);
                0
            }
            Ok(None) => raise(OVERFLOW_ERROR, "Python int too large to convert to C long"),
            Err(message) => raise(VALUE_ERROR, message),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_to_f64(_: Mem, s: Data, n: i64, out: *mut f64) -> i32 {
    // SAFETY: compiled code passes a live string and room for the result.
    unsafe {
        match parse_float(text(s, n)) {
            Ok(value) => {
                out.write(value);
                0
            }
            Err(message) => raise(VALUE_ERROR, message),
        }
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_str_from_i64 lh_str_from_u64 lh_str_from_f64 lh_str_from_f32 lh_str_from_bool lh_str_chr;
        (_ _ _) lh_str_len lh_str_from_c128 lh_str_from_c64 lh_str_from_bits;
        (_ _ _ _) lh_str_to_f64 lh_str_ord lh_str_over_bytes lh_str_repr;
        (_ _ _ _ _) lh_str_to_i64 lh_str_getitem lh_str_char lh_str_repeat lh_str_format_f64 lh_str_format_i64 lh_str_format_u64;
        (_ _ _ _ _ _) lh_str_format_c128 lh_str_eq lh_str_cmp lh_str_in lh_str_slice;
        (_ _ _ _ _ _ _) lh_str_concat lh_str_format_str lh_str_step;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::exception::take_pending;
    use crate::memory::alloc::decref;
    use std::ptr;

    /// The string that a function returns, or the message of what it raises.
    pub(crate) fn took(f: impl FnOnce(*mut StrValue) -> i32) -> String {
        let mut out = StrValue { mem: ptr::null_mut(), data: ptr::null(), len: 0 };
        if f(&mut out) != 0 {
            return format!("! {}", take_pending().unwrap().message().lossy());
        }
        // SAFETY: a live string whose reference is ours.
        unsafe {
            let s = out.text().lossy();
            decref(out.mem);
            s
        }
    }

    /// Calls a function with strings spread into owner, data and length.
    macro_rules! call {
        ($f:ident($($s:expr),*) $($rest:expr),*) => {
            // SAFETY: string literals live for ever.
            unsafe { call!(@ $f [$($s),*] [] [$($rest),*]) }
        };
        (@ $f:ident [$s:expr $(, $more:expr)*] [$($done:tt)*] [$($rest:expr),*]) => {
            call!(@ $f [$($more),*] [$($done)* std::ptr::null_mut(), $s.as_ptr(), $s.len() as i64,] [$($rest),*])
        };
        (@ $f:ident [] [$($done:tt)*] [$($rest:expr),*]) => { $f($($done)* $($rest),*) };
    }
    pub(crate) use call;

    #[test]
    fn comparison() {
        assert_eq!(call!(lh_str_eq("a", "a")), 1);
        assert_eq!(call!(lh_str_eq("", "a")), 0);
        assert_eq!(call!(lh_str_cmp("ab", "b")), -1);
        assert_eq!(call!(lh_str_cmp("é", "z")), 1);
        assert_eq!(call!(lh_str_cmp("", "")), 0);
        assert_eq!(call!(lh_str_in("ell", "hello")), 1);
        assert_eq!(call!(lh_str_in("hello", "ell")), 0);
        assert_eq!(
            [call!(lh_str_in("e", "hello")), call!(lh_str_in("x", "hello")), call!(lh_str_in("x", ""))],
            [1, 0, 0]
        );
    }

    #[test]
    fn indexing_by_code_point() {
        assert_eq!(call!(lh_str_len("aé😀")), 3);
        for (i, want) in [
            (0, "a"),
            (1, "é"),
            (2, "😀"),
            (-1, "😀"),
            (-3, "a"),
            (3, "! string index out of range"),
            (-4, "! string index out of range"),
            (i64::MIN, "! string index out of range"),
            (i64::MAX, "! string index out of range"),
        ] {
            assert_eq!(took(|out| call!(lh_str_getitem("aé😀") i, out)), want);
        }
        for (start, stop, want) in [(1, 3, "é😀"), (0, 2, "aé"), (2, 1, ""), (3, 9, ""), (0, 9, "aé😀"), (-2, -1, "")]
        {
            assert_eq!(took(|out| call!(lh_str_slice("aé😀") start, stop, out)), want);
        }
    }

    #[test]
    fn making_strings() {
        assert_eq!(took(|out| call!(lh_str_concat("ab", "é") out)), "abé");
        assert_eq!(took(|out| call!(lh_str_concat("", "é") out)), "é");
        assert_eq!(took(|out| call!(lh_str_repeat("ab") 3, out)), "ababab");
        assert_eq!(took(|out| call!(lh_str_repeat("ab") - 3, out)), "");
        assert_eq!(took(|out| call!(lh_str_repeat("") i64::MAX, out)), "");
        assert!(took(|out| call!(lh_str_repeat("ab") i64::MAX / 2, out)).starts_with("! Unable to allocate"));
        assert_eq!(took(|out| call!(lh_str_repr("a'") out)), "\"a'\"");
        // SAFETY: `out` is room for the result.
        unsafe {
            assert_eq!(took(|out| lh_str_from_i64(i64::MIN, out)), "-9223372036854775808");
            assert_eq!(took(|out| lh_str_from_u64(u64::MAX, out)), "18446744073709551615");
            assert_eq!(took(|out| lh_str_from_bool(1, out)), "True");
            for (spec, want) in
                [("", "-90"), ("d", "-90"), ("x", "-5a"), ("b", "-1011010"), ("5d", "  -90"), ("o", "-132")]
            {
                assert_eq!(
                    took(|out| lh_str_format_i64(-90, ptr::null_mut(), spec.as_ptr(), spec.len() as i64, out)),
                    want
                );
            }
            assert_eq!(took(|out| lh_str_chr(0x1f600, out)), "😀");
            assert_eq!(took(|out| lh_str_chr(-1, out)), "! chr() arg not in range(0x110000)");
        }
    }

    #[test]
    fn parts_keep_their_owner() {
        let s = StrValue::new("hello").unwrap();
        let mut part = s;
        // SAFETY: the owner lives until its second reference, the part's, is dropped.
        unsafe {
            assert_eq!(lh_str_getitem(s.mem, s.data, s.len, 1, &mut part), 0);
            decref(s.mem);
            assert_eq!(*part.text(), *"e");
            decref(part.mem);
        }
    }

    #[test]
    fn numbers_from_strings() {
        let int = |s: &str| {
            let mut out = 0;
            match call!(lh_str_to_i64(s) 10, &mut out) {
                0 => out.to_string(),
                _ => take_pending().unwrap().message().lossy(),
            }
        };
        assert_eq!(int(" -1_000\n"), "-1000");
        assert_eq!(int("9223372036854775808"), "Python int too large to convert to C long");
        assert_eq!(int("x'"), "invalid literal for int() with base 10: \"x'\"");
        let mut ord = 0;
        assert_eq!(call!(lh_str_ord("é") &mut ord), 0);
        assert_eq!(ord, 233);
    }
}
