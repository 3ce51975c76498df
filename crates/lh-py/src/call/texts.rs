//! Texts and bytes of results: an argument that is returned whole is itself.

use crate::object::{owner, text};
use lh_ir::consts::ASCII;
use lh_runtime::alloc::decref;
use lh_runtime::{MemInfo, StrValue};
use pyo3::ffi;
use std::ffi::c_char;

/// Bytes of the header of a text of ASCII.
const HEADER: usize = size_of::<ffi::PyASCIIObject>();

/// The object of a text: a new reference, or null with an exception set.
///
/// # Safety
/// A live text; the thread is attached.
#[inline(always)]
pub unsafe fn object(value: StrValue) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        // Characters that compiled code has by themselves belong to nobody.
        if value.mem.is_null() {
            let single = text::single(value.text().as_bytes());
            if !single.is_null() {
                return single;
            }
        }
        other(value)
    }
}

/// # Safety
/// As of [`object`].
#[inline(never)]
unsafe fn other(value: StrValue) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        let (text, is_ascii) = (value.text(), value.len & ASCII != 0);
        match whole(value.mem, value.data, text.len(), is_ascii) {
            Some(o) => ffi::Py_NewRef(o),
            None => text::raw(text, is_ascii),
        }
    }
}

/// The same of a text whose reference the caller gives away.
///
/// # Safety
/// As of [`object`].
pub unsafe fn owned(value: StrValue) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    unsafe {
        let made = object(value);
        decref(value.mem);
        made
    }
}

/// The argument that has exactly these bytes, if they belong to arguments.
unsafe fn whole(mem: *mut MemInfo, data: *const u8, len: usize, is_ascii: bool) -> Option<*mut ffi::PyObject> {
    // The characters of a text of ASCII follow its header: most parts lie elsewhere than the whole.
    let near = (data as usize).wrapping_sub(HEADER) as *mut ffi::PyObject;
    // SAFETY: an owner holds its object, which is a `str` or, see `rows.rs`, a tuple of such, whose last places may be
    // null.
    unsafe {
        let owner = owner::object_at(mem)?;
        let is_it = |o: *mut ffi::PyObject| {
            if is_ascii && o != near || o.is_null() || ffi::Py_TYPE(o) != &raw mut ffi::PyUnicode_Type {
                return false;
            }
            let (own, size, _) = text::utf8(o);
            if own.is_null() {
                ffi::PyErr_Clear();
            }
            own.cast() == data && size as usize == len
        };
        if ffi::Py_TYPE(owner) != &raw mut ffi::PyTuple_Type {
            return is_it(owner).then_some(owner);
        }
        let count = ffi::PyTuple_GET_SIZE(owner) as usize;
        let items = std::slice::from_raw_parts((*owner.cast::<ffi::PyTupleObject>()).ob_item.as_ptr(), count);
        if is_ascii {
            return items.contains(&near).then_some(near).filter(|o| is_it(*o));
        }
        items.iter().copied().find(|o| is_it(*o))
    }
}

/// The object of `bytes`, given by owner, address, number and distance: a new reference, or null with an exception set.
/// `None` for memory of an object of another class.
///
/// # Safety
/// Live memory; the thread is attached.
pub unsafe fn bytes([mem, data, len, step]: [u64; 4]) -> Option<*mut ffi::PyObject> {
    let (data, len, step) = (data as *const c_char, len as isize, step as isize);
    // SAFETY: an owner holds its object, whose class says what it is; a new object has room for so many bytes.
    unsafe {
        if let Some(owner) = owner::object_at(mem as *mut MemInfo) {
            if ffi::Py_TYPE(owner) != &raw mut ffi::PyBytes_Type {
                return None;
            }
            let is_forward = step == 1 || len <= 1;
            if ffi::PyBytes_Size(owner) == len
                && is_forward
                && (len == 0 || ffi::PyBytes_AsString(owner) == data.cast_mut())
            {
                return Some(ffi::Py_NewRef(owner));
            }
        }
        if step == 1 || len == 0 {
            return Some(ffi::PyBytes_FromStringAndSize(data, len));
        }
        let made = ffi::PyBytes_FromStringAndSize(std::ptr::null(), len);
        if !made.is_null() {
            let to = ffi::PyBytes_AsString(made);
            (0..len).for_each(|i| to.offset(i).write(data.offset(i * step).read()));
        }
        Some(made)
    }
}
