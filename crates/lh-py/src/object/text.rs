//! Texts of compiled code as Python's, and the other way round. Both may have lone surrogates.

use lh_runtime::{Text, TextBuf};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{ffi, intern};
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The texts that CPython makes only once, by their code points; null until [`prepare`].
static SINGLE: [AtomicPtr<ffi::PyObject>; 256] = [const { AtomicPtr::new(null_mut()) }; 256];

/// Finds them.
pub fn prepare() {
    for (code, at) in SINGLE.iter().enumerate().filter(|(_, at)| at.load(Ordering::Relaxed).is_null()) {
        // SAFETY: called attached; we keep a reference.
        at.store(unsafe { ffi::PyUnicode_FromOrdinal(code as i32) }, Ordering::Relaxed);
    }
}

/// A new reference to the `str` of a single character of Latin-1; null for other texts.
///
/// # Safety
/// The thread is attached.
#[inline(always)]
pub unsafe fn single(bytes: &[u8]) -> *mut ffi::PyObject {
    let code = match *bytes {
        [byte @ 0..0x80] => usize::from(byte),
        [lead @ 0xc2..0xc4, inner @ 0x80..0xc0] => usize::from(lead & 3) << 6 | usize::from(inner & 0x3f),
        _ => return null_mut(),
    };
    let known = SINGLE[code].load(Ordering::Relaxed);
    // SAFETY: a live object, or null.
    unsafe { ffi::Py_XNewRef(known) }
}

/// A `str`.
pub fn object<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: attached, a new reference.
    unsafe { Bound::from_owned_ptr_or_err(py, raw(text, text.is_ascii())) }
}

/// A new `str` where it is known whether the text is ASCII, or null with an exception set.
///
/// # Safety
/// The thread is attached.
pub unsafe fn raw(text: &Text, is_ascii: bool) -> *mut ffi::PyObject {
    let bytes = text.as_bytes();
    // SAFETY: so many bytes, and the name of an error handler; attached.
    let decoded =
        || unsafe { ffi::PyUnicode_DecodeUTF8(bytes.as_ptr().cast(), bytes.len() as isize, c"surrogatepass".as_ptr()) };
    // The interpreter shares empty texts and single characters of Latin-1.
    if bytes.len() <= 2 {
        // SAFETY: attached.
        let single = unsafe { single(bytes) };
        return if single.is_null() { decoded() } else { single };
    }
    // SAFETY: the units of a text are as large as its largest character, whose highest bit is that of `all`; those of
    // ASCII are bytes.
    unsafe {
        if is_ascii {
            return new(bytes.len(), 0x7f, |data| copy(bytes, data));
        }
        // The first byte of the largest character says how many bytes each unit has.
        let (count, most) = (text.count(), bytes.iter().fold(0, |most, b| most.max(*b)));
        match most {
            // Bytes that are no text.
            0..0xc2 => decoded(),
            0xc2..0xc4 => new(count, 0xff, |data| text.write_units(room(data, count), |p| p as u8)),
            0xc4..0xf0 => new(count, 0xffff, |data| text.write_units(room(data.cast(), count), |p| p as u16)),
            0xf0.. => new(count, 0x10_ffff, |data| text.write_units(room(data.cast(), count), |p| p)),
        }
    }
}

/// The units of a new `str`.
unsafe fn room<'a, T>(data: *mut T, count: usize) -> &'a mut [MaybeUninit<T>] {
    // SAFETY: the caller has made it with so many.
    unsafe { std::slice::from_raw_parts_mut(data.cast(), count) }
}

/// A new `str` of so many characters, which a function writes. The largest of them is of the size of `largest`.
unsafe fn new(count: usize, largest: u32, write: impl FnOnce(*mut u8)) -> *mut ffi::PyObject {
    // SAFETY: nobody else has the new object until its characters are written.
    unsafe {
        let made = ffi::PyUnicode_New(count as ffi::Py_ssize_t, largest);
        if !made.is_null() {
            write(ffi::PyUnicode_DATA(made).cast());
        }
        made
    }
}

/// Copies bytes. Most texts are short, and two overlapping words take less time than a call.
///
/// # Safety
/// There is room.
unsafe fn copy(bytes: &[u8], to: *mut u8) {
    let n = bytes.len();
    // SAFETY: as promised.
    unsafe {
        match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last), ..) if n <= 16 => {
                to.cast::<[u8; 8]>().write(*first);
                to.add(n - 8).cast::<[u8; 8]>().write(*last);
            }
            (None, None, Some(first), Some(last)) => {
                to.cast::<[u8; 4]>().write(*first);
                to.add(n - 4).cast::<[u8; 4]>().write(*last);
            }
            _ => to.copy_from_nonoverlapping(bytes.as_ptr(), n),
        }
    }
}

/// The UTF-8 of a `str`, its size and whether it is ASCII. Null with an exception if it has surrogates.
///
/// # Safety
/// A live `str`, and the thread attached. The bytes live as long as it does.
#[inline]
pub unsafe fn utf8(o: *mut ffi::PyObject) -> (*const c_char, ffi::Py_ssize_t, bool) {
    // SAFETY: the caller's promise; the characters of a compact text of ASCII follow its header.
    unsafe {
        #[cfg(not(Py_3_14))]
        if ffi::PyUnicode_IS_COMPACT_ASCII(o) != 0 {
            let header = o.cast::<ffi::PyASCIIObject>();
            return (header.add(1).cast(), (*header).length, true);
        }
        let mut size = 0;
        let text = ffi::PyUnicode_AsUTF8AndSize(o, &mut size);
        (text, size, !text.is_null() && ffi::PyUnicode_GetLength(o) == size)
    }
}

/// The bytes of a `str` as compiled code has them.
pub fn encoded<'py>(text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyBytes>> {
    let py = text.py();
    let bytes = text.call_method1(intern!(py, "encode"), (intern!(py, "utf-8"), intern!(py, "surrogatepass")))?;
    Ok(bytes.cast_into()?)
}

/// The text of a `str`.
pub fn owned(text: &Bound<'_, PyString>) -> PyResult<TextBuf> {
    Ok(match text.to_str() {
        Ok(plain) => plain.into(),
        Err(_) => Text::of(encoded(text)?.as_bytes()).to_owned(),
    })
}
