//! Arrays of NumPy: their struct, and their types in compiled code.

use crate::object::class_names::short_text;
use crate::object::numpy::{self, Descr};
use crate::object::record_dtype;
use lh_ir::{Layout, Ty};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::c_int;

/// The fields of `PyArrayObject` that are read.
#[repr(C)]
pub struct ArrayObject {
    base: ffi::PyObject,
    /// First element.
    pub data: *mut u8,
    /// Rank.
    pub nd: c_int,
    /// Extents.
    pub dimensions: *const isize,
    /// Strides in bytes.
    pub strides: *const isize,
    /// Owner of the memory.
    pub owner: *mut ffi::PyObject,
    /// Element type.
    pub descr: *const Descr,
    /// `NPY_ARRAY_*`.
    pub flags: c_int,
}

impl ArrayObject {
    /// Type number of the elements if they have a native form; `VOID` if they may be records or texts.
    ///
    /// # Safety
    /// The struct is that of a live array, and the thread is attached.
    #[inline(always)]
    pub unsafe fn element_number(&self) -> Option<c_int> {
        // SAFETY: as promised.
        let (num, order) = unsafe { (numpy::number_of(self.descr), (*self.descr).byteorder as u8) };
        let foreign = order == if cfg!(target_endian = "little") { b'>' } else { b'<' };
        (!foreign && (numpy::is_native(num) || numpy::has_more(num))).then_some(num)
    }
    /// Extents.
    #[inline(always)]
    pub fn extents(&self) -> &[isize] {
        // SAFETY: the struct is that of a live array, which has so many.
        if self.nd == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.dimensions, self.nd as usize) } }
    }
    /// Strides in bytes.
    #[inline(always)]
    pub fn steps(&self) -> &[isize] {
        // SAFETY: as for the extents.
        if self.nd == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.strides, self.nd as usize) } }
    }
    /// Whether the elements lie where compiled code may read them. That of records is decided by their type.
    #[inline(always)]
    pub fn is_aligned(&self) -> bool {
        self.flags & numpy::ALIGNED != 0
    }
}

/// Whether elements of an array may have memory in common: a stride is smaller than the extent of what lies inside it,
/// which are the axes with smaller strides.
pub fn overlaps_itself(extents: &[isize], strides: &[isize], itemsize: isize) -> bool {
    let axes = || extents.iter().zip(strides).map(|(n, stride)| (*n, stride.abs())).enumerate();
    axes().any(|(d, (n, stride))| {
        let inside = axes().filter(|(k, (_, step))| *k != d && *step <= stride);
        n > 1 && stride < inside.fold(itemsize, |sum, (_, (m, step))| sum.saturating_add((m - 1).saturating_mul(step)))
    })
}

/// The type of arrays with these flags.
pub fn type_of(dtype: Ty, rank: usize, flags: c_int) -> Ty {
    let layout = if flags & numpy::C_CONTIGUOUS != 0 {
        Layout::C
    } else if flags & numpy::F_CONTIGUOUS != 0 {
        Layout::F
    } else {
        Layout::A
    };
    Ty::array_ro(dtype, rank, layout, flags & numpy::WRITEABLE == 0)
}

/// Whether an object is an array.
pub fn is_array(o: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive, and so is NumPy's type once it is loaded.
    numpy::load(o.py()).is_ok() && unsafe { ffi::PyObject_TypeCheck(o.as_ptr(), numpy::ndarray_type()) != 0 }
}

/// An array as it lies in memory: its struct, and its type. `None` for other objects, and for arrays that compiled code
/// cannot read where they are. `readonly` forbids to write to it in any case.
pub fn in_place<'a>(o: &'a Bound<'_, PyAny>, readonly: bool) -> Option<(&'a ArrayObject, Ty)> {
    let is_exact = || o.get_type_ptr() == numpy::ndarray_type();
    if !is_array(o) || !is_exact() && is_masked(o) {
        return None;
    }
    // SAFETY: the object is an array, and the thread is attached.
    let (array, num) = unsafe {
        let array = &*o.as_ptr().cast::<ArrayObject>();
        (array, array.element_number()?)
    };
    let dtype = match num {
        // SAFETY: the dtype of a live array.
        n if numpy::has_more(n) => unsafe { record_dtype::at(o.py(), array.descr, array.data) }.ok()??.0,
        _ => numpy::ty_of_num(num)?,
    };
    let flags = array.flags & if readonly { !numpy::WRITEABLE } else { -1 };
    array.is_aligned().then(|| (array, type_of(dtype, array.nd as usize, flags)))
}

/// An array that is not [`in_place`], for messages.
pub fn refused_text(o: &Bound<'_, PyAny>) -> String {
    let text = |name: &str| o.getattr(name).and_then(|v| v.str()).map(|v| v.to_string()).unwrap_or_default();
    // SAFETY: callers pass arrays.
    match unsafe { (*o.as_ptr().cast::<ArrayObject>()).is_aligned() } {
        true => format!("{} of dtype {}", short_text(o), text("dtype")),
        false => format!("{} that is not aligned", short_text(o)),
    }
}

/// Whether an array is more than its memory: a masked one, of whose elements some do not count.
pub fn is_masked(o: &Bound<'_, PyAny>) -> bool {
    static MASKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = o.py();
    // Nobody has such arrays who has not loaded their module.
    let find = || py.import("sys")?.getattr("modules")?.get_item("numpy.ma")?.getattr("MaskedArray").map(Bound::unbind);
    MASKED.get_or_try_init(py, find).is_ok_and(|class| o.is_instance(class.bind(py)).unwrap_or(false))
}
