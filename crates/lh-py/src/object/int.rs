//! Python ints read from their struct: the first two digits without a call.

use pyo3::ffi;
use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `PyLongObject`, as far as it is read.
#[repr(C)]
struct LongObject {
    base: ffi::PyObject,
    /// Before 3.12 the signed number of digits; since then digits << 3 | sign (0 positive, 1 zero, 2 negative).
    size: isize,
    digits: [u32; 2],
}

/// An int as a machine integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machine {
    /// Fits `int64`.
    Signed(i64),
    /// Fits `uint64` only.
    Unsigned(u64),
    /// Fits neither.
    TooLarge,
}

/// Value of an int of up to two digits.
///
/// # Safety
/// `o` is an instance of `int`.
#[inline(always)]
unsafe fn short(o: *mut ffi::PyObject) -> Option<i64> {
    let o = o.cast::<LongObject>();
    // SAFETY: the caller gives an int; digits beyond `count` are not read.
    unsafe {
        let size = (*o).size;
        let (count, negative) = if cfg!(Py_3_12) { (size >> 3, size & 3 == 2) } else { (size.abs(), size < 0) };
        let magnitude = match count {
            0 => return Some(0),
            1 => i64::from((*o).digits[0]),
            2 => i64::from((*o).digits[0]) | i64::from((*o).digits[1]) << 30,
            _ => return None,
        };
        Some(if negative { -magnitude } else { magnitude })
    }
}

/// The machine integer of an int.
///
/// # Safety
/// `o` is an instance of `int`, and the thread is attached to the interpreter.
#[inline(always)]
pub unsafe fn machine(o: *mut ffi::PyObject) -> Machine {
    // SAFETY: as promised by the caller.
    match unsafe { short(o) } {
        Some(v) => Machine::Signed(v),
        // SAFETY: as promised by the caller.
        None => unsafe { long(o) },
    }
}

#[cold]
unsafe fn long(o: *mut ffi::PyObject) -> Machine {
    let mut overflow: c_int = 0;
    // SAFETY: the caller gives an int. `PyErr_Clear` drops the OverflowError of the second conversion.
    unsafe {
        let v = ffi::PyLong_AsLongLongAndOverflow(o, &mut overflow);
        if overflow == 0 {
            return Machine::Signed(v);
        }
        if overflow > 0 {
            let v = ffi::PyLong_AsUnsignedLongLong(o);
            if ffi::PyErr_Occurred().is_null() {
                return Machine::Unsigned(v);
            }
            ffi::PyErr_Clear();
        }
    }
    Machine::TooLarge
}

/// The ints that CPython makes only once, in order from `LEAST`; null until [`prepare`].
static SMALL: [AtomicPtr<ffi::PyObject>; 262] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 262];
const LEAST: i64 = -5;

/// Finds them.
pub fn prepare() {
    if SMALL[0].load(Ordering::Relaxed).is_null() {
        // In reverse order: the first one is there only if all are.
        for (i, at) in SMALL.iter().enumerate().rev() {
            // SAFETY: called attached; small ints are never freed, and we keep a reference.
            at.store(unsafe { ffi::PyLong_FromLongLong(LEAST + i as i64) }, Ordering::Relaxed);
        }
    }
}

/// A new reference to one of them.
///
/// # Safety
/// The thread is attached.
#[inline(always)]
pub unsafe fn small(v: i64) -> Option<*mut ffi::PyObject> {
    let small = SMALL.get(v.wrapping_sub(LEAST) as usize)?.load(Ordering::Relaxed);
    // SAFETY: a live object, and the thread is attached.
    (!small.is_null()).then(|| unsafe { ffi::Py_NewRef(small) })
}

/// The object of an int: a new reference, or null with an exception set.
///
/// # Safety
/// The thread is attached.
#[inline(always)]
pub unsafe fn object(v: i64) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe { small(v).unwrap_or_else(|| ffi::PyLong_FromLongLong(v)) }
}
