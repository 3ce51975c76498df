//! How instances of a class become arguments, remembered for those classes that say it for all their instances.
//!
//! The long way asks many questions of an object; the answers for named tuples, slices, ranges, functions and dtypes
//! depend on the state of the class only, which CPython numbers.

use crate::host::{comptime, extensions};
use pyo3::ffi;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The kinds of instances of a class.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Way {
    /// Tuples with names.
    Named = 1,
    Range,
    Slice,
    /// Constants.
    Constant,
    /// Memory.
    Buffer,
}

impl Way {
    const ALL: [Way; 5] = [Way::Named, Way::Range, Way::Slice, Way::Constant, Way::Buffer];
}

/// The numbers of states of classes with their ways, at places that the numbers say.
static KNOWN: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

/// The number of the state of a class, which no other class or state has; 0 if CPython has given none.
unsafe fn state_of(class: *mut ffi::PyTypeObject) -> u64 {
    // SAFETY: a live class; without the GIL another thread may write the number.
    unsafe { AtomicU32::from_ptr(&raw mut (*class).tp_version_tag).load(Ordering::Relaxed).into() }
}

/// The way of a class that was remembered.
///
/// # Safety
/// A live class.
#[inline]
pub unsafe fn find(class: *mut ffi::PyTypeObject) -> Option<Way> {
    // SAFETY: as promised.
    let state = unsafe { state_of(class) };
    let known = KNOWN[state as usize % KNOWN.len()].load(Ordering::Relaxed);
    // A program that registers types of its own may do so for any class.
    if state == 0 || known >> 8 != state || extensions::are_known() {
        return None;
    }
    Way::ALL.into_iter().find(|way| *way as u64 == known & 0xff)
}

/// Remembers the way of a class whose instances all have it.
///
/// # Safety
/// A live class.
pub unsafe fn remember(class: *mut ffi::PyTypeObject, way: Way) {
    // SAFETY: as promised.
    let state = unsafe { state_of(class) };
    if way != Way::Constant || comptime::is_class_of_constants(class) {
        KNOWN[state as usize % KNOWN.len()].store(state << 8 | way as u64, Ordering::Relaxed);
    }
}
