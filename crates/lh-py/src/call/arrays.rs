//! Results that are arrays.

use crate::object::array::ArrayObject;
use crate::object::memory::Memory;
use crate::object::{buffers, numpy, owner, record_dtype};
use lh_ir::Ty;
use lh_ir::types::Buffer;
use lh_runtime::MemInfo;
use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The dtype of elements of a type.
pub fn descr_of(py: Python<'_>, dtype: Ty) -> PyResult<Bound<'_, PyAny>> {
    match numpy::num_of_ty(dtype) {
        Some(num) => numpy::load(py)?.descr(py, num),
        None => record_dtype::dtype_of(py, dtype)?.ok_or_else(|| no_object(dtype)),
    }
}

/// Whether two dtypes have equal elements: number types if they are the same, times if units
/// are, records only with the very same dtype.
///
/// # Safety
/// Both are dtypes.
unsafe fn same_elements(a: *const numpy::Descr, b: *const numpy::Descr) -> bool {
    // SAFETY: as promised by the caller.
    let (x, y) = unsafe { (numpy::number_of(a), numpy::number_of(b)) };
    // SAFETY: as above, and the thread is attached: an object is made.
    let equal = || unsafe { ffi::PyObject_RichCompareBool(a.cast_mut().cast(), b.cast_mut().cast(), ffi::Py_EQ) == 1 };
    let is_time = numpy::TIMES.contains(&x);
    a == b || is_time && equal() || !numpy::has_more(x) && numpy::ty_of_num(x) == numpy::ty_of_num(y)
}

/// Boxes an array; the argument itself if it is returned unchanged.
pub fn array<'py>(py: Python<'py>, dtype: Ty, readonly: bool, slots: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    let (mem, data, dims) = (slots[0] as *mut MemInfo, slots[1] as *mut u8, &slots[2..]);
    let (shape, strides) = dims.split_at(dims.len() / 2);
    let as_signed = |words: &[u64]| words.iter().map(|w| *w as isize).collect::<smallvec::SmallVec<[isize; 8]>>();
    let (shape, strides) = (as_signed(shape), as_signed(strides));
    let descr = descr_of(py, dtype)?;
    // SAFETY: `mem` is null or alive: the value holds a reference.
    let owner = match unsafe { owner::object_of(py, mem) } {
        Some(object) => {
            if is_same_array(&object, &descr, data, &shape, &strides, readonly) {
                return Ok(object);
            }
            Some(object)
        }
        None if mem.is_null() => None,
        None => {
            // SAFETY: the value holds a reference.
            let memory = unsafe { Memory::new(mem) };
            Some(Bound::new(py, memory)?.into_any())
        }
    };
    numpy::load(py)?.array_over(py, descr, (data, &shape, &strides), !readonly, owner)
}

/// The object of bytes that [`crate::call::texts::bytes`] has none for: a new reference, or null with an exception set.
///
/// # Safety
/// The words of bytes that are alive; the thread is attached.
pub unsafe fn bytes_of_array(words: [u64; 4]) -> *mut ffi::PyObject {
    // SAFETY: as promised.
    let py = unsafe { Python::assume_attached() };
    let made = array(py, Ty::u8(), true, &words).and_then(|array| buffers::buffer(&array, Buffer::Bytes));
    made.map_or_else(
        |error| {
            error.restore(py);
            std::ptr::null_mut()
        },
        Bound::into_ptr,
    )
}

/// Whether an object is the array with exactly this memory.
fn is_same_array(
    o: &Bound<'_, PyAny>,
    descr: &Bound<'_, PyAny>,
    data: *mut u8,
    shape: &[isize],
    strides: &[isize],
    readonly: bool,
) -> bool {
    // SAFETY: the struct is read after the type check; its lists have `nd` items.
    unsafe {
        if ffi::PyObject_TypeCheck(o.as_ptr(), numpy::ndarray_type()) == 0 {
            return false;
        }
        let a = &*o.as_ptr().cast::<ArrayObject>();
        let nd = a.nd as usize;
        let list = |p: *const isize| if nd == 0 { &[][..] } else { std::slice::from_raw_parts(p, nd) };
        a.data == data
            && same_elements(a.descr, descr.as_ptr().cast())
            && nd == shape.len()
            && list(a.dimensions) == shape
            && list(a.strides) == strides
            && (a.flags & numpy::WRITEABLE == 0) == readonly
    }
}

/// The error of a value that has no object.
pub fn no_object(ty: Ty) -> PyErr {
    PySystemError::new_err(format!("a value of type {ty} cannot be returned to Python"))
}
