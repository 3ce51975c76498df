//! Texts as memory: of fixed length in arrays, code points of 32 bits with zeros after the last, and in encodings.

use crate::classes::{UNICODE_ERROR, VALUE_ERROR};
use crate::exception::raise;
use crate::memory::alloc::MemInfo;
use crate::strings::make::give_written;
use crate::strings::value::{StrValue, give, text};
use crate::symbol::{Symbol, functions};
use crate::text::{Point, TextBuf};
use lh_ir::consts::ASCII;

/// `lh_str_from_units(units, n, out)`: the text of at most `n` code points, which may lie at any address.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_units(units: *const u32, n: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes the memory of an element, and room for the result.
    unsafe {
        let mut n = n.max(0) as usize;
        while n > 0 && units.add(n - 1).read_unaligned() == 0 {
            n -= 1;
        }
        let points = (0..n).map(|i| Point::new(units.add(i).read_unaligned()));
        match points.collect::<Option<TextBuf>>() {
            Some(made) => give(&made, out),
            None => raise(VALUE_ERROR, "an item of the array holds what is no text: a number that is no code point"),
        }
    }
}

/// `lh_str_to_units(mem, data, len, units, n)`: stores a text as `n` code points.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_to_units(_mem: *mut MemInfo, data: *const u8, len: i64, units: *mut u32, n: i64) {
    // SAFETY: compiled code passes a live text and the memory of an element, which is not that of the text.
    unsafe {
        let chars = text(data, len).points().map(u32::from).chain(std::iter::repeat(0));
        for (i, unit) in chars.take(n.max(0) as usize).enumerate() {
            units.add(i).write_unaligned(unit);
        }
    }
}

/// `lh_str_cmp_units(mem, data, len, units, n)`: the order of a text and one of at most `n` code points. Zeros at the
/// ends do not count.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_cmp_units(
    _mem: *mut MemInfo,
    data: *const u8,
    len: i64,
    units: *const u32,
    n: i64,
) -> i64 {
    // SAFETY: compiled code passes a live text and the memory of an element.
    unsafe {
        let mut points = text(data, len).points().map(u32::from);
        for i in 0..n.max(0) as usize {
            let (ours, unit) = (points.next().unwrap_or(0), units.add(i).read_unaligned());
            if ours != unit {
                return if ours < unit { -1 } else { 1 };
            }
        }
        i64::from(points.any(|p| p != 0))
    }
}

/// An encoding by its number: the largest code point of one byte, whether others have several, and the name.
fn encoding(number: i64) -> (u32, bool, &'static str) {
    match number {
        0 => (127, true, "utf-8"),
        1 => (127, false, "ascii"),
        _ => (255, false, "latin-1"),
    }
}

/// The first byte that is greater than a number.
fn beyond(bytes: &[u8], last: u32) -> Option<usize> {
    if last >= 255 { None } else { bytes.iter().position(|b| u32::from(*b) > last) }
}

/// `lh_str_from_bytes(bytes, n, encoding, out)`: the text of bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_bytes(bytes: *const u8, n: i64, number: i64, out: *mut StrValue) -> i32 {
    let (last, is_utf8, name) = encoding(number);
    // SAFETY: compiled code passes memory of so many bytes, and room for the result.
    unsafe {
        let bytes = if n > 0 { std::slice::from_raw_parts(bytes, n as usize) } else { &[] };
        let refused = |at: usize| {
            let byte = bytes.get(at).copied().unwrap_or_default();
            raise(UNICODE_ERROR, format!("'{name}' codec can't decode byte 0x{byte:02x} in position {at}"))
        };
        if bytes.is_ascii() {
            return give_written(bytes.len(), true, out, |to| to.bytes(bytes));
        }
        if is_utf8 {
            return match std::str::from_utf8(bytes) {
                Ok(made) => give(made, out),
                Err(error) => refused(error.valid_up_to()),
            };
        }
        match beyond(bytes, last) {
            Some(at) => refused(at),
            None => {
                let more = bytes.iter().filter(|b| !b.is_ascii()).count();
                give_written(bytes.len() + more, false, out, |to| to.latin(bytes, more))
            }
        }
    }
}

/// `lh_str_valid_end(bytes, n, at, encoding)`: the first byte, from one on, at which bytes are no text.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_valid_end(bytes: *const u8, n: i64, at: i64, number: i64) -> i64 {
    let bytes = if n > at {
        // SAFETY: compiled code passes memory of so many bytes, one of which is the first.
        unsafe { std::slice::from_raw_parts(bytes.add(at as usize), (n - at) as usize) }
    } else {
        &[]
    };
    let valid = match encoding(number) {
        (_, true, _) => std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len),
        (last, ..) => beyond(bytes, last).unwrap_or(bytes.len()),
    };
    at + valid as i64
}

/// `lh_str_encoded_size(mem, data, len, encoding, out)`: the number of bytes of a text. UTF-8 has surrogates as other
/// characters here.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_encoded_size(
    _mem: *mut MemInfo,
    data: *const u8,
    len: i64,
    number: i64,
    out: *mut i64,
) -> i32 {
    let (last, is_utf8, name) = encoding(number);
    // SAFETY: compiled code passes a live text, and room for the result.
    unsafe {
        let s = text(data, len);
        if is_utf8 || len & ASCII != 0 {
            out.write(s.len() as i64);
            return 0;
        }
        match s.points().position(|c| u32::from(c) > last) {
            Some(at) => raise(
                UNICODE_ERROR,
                format!("'{name}' codec can't encode character in position {at}: ordinal not in range({})", last + 1),
            ),
            None => {
                out.write(s.count() as i64);
                0
            }
        }
    }
}

/// `lh_str_encode(mem, data, len, encoding, to)`: stores the bytes of a text.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_encode(_mem: *mut MemInfo, data: *const u8, len: i64, number: i64, to: *mut u8) {
    // SAFETY: compiled code passes a live text, and memory of as many bytes as it needs.
    unsafe {
        let s = text(data, len);
        // ASCII is the same in all of them.
        if encoding(number).1 || len & ASCII != 0 {
            to.copy_from_nonoverlapping(s.as_bytes().as_ptr(), s.len());
        } else {
            s.points().enumerate().for_each(|(i, c)| to.add(i).write(u32::from(c) as u8));
        }
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _) lh_str_from_units;
        (_ _ _ _) lh_str_from_bytes lh_str_valid_end;
        (_ _ _ _ _) lh_str_cmp_units lh_str_to_units lh_str_encoded_size lh_str_encode;
    }
}
