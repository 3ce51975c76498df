//! Instances of `bytes`, `bytearray`, `memoryview` and `array.array` as arrays over their memory, and back.

use crate::object::array::ArrayObject;
use crate::object::{class_names, numpy};
use lh_ir::Ty;
use lh_ir::types::Buffer;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use pyo3::{ffi, intern};

/// The class of memory that an object is an instance of.
fn buffer_class(o: &Bound<'_, PyAny>) -> Option<Buffer> {
    let class = o.get_type_ptr();
    // NumPy's items of arrays of bytes derive from `bytes`.
    if o.is_instance_of::<PyBytes>() {
        Some(Buffer::Bytes)
    } else if class == &raw mut ffi::PyByteArray_Type {
        Some(Buffer::ByteArray)
    } else if class == &raw mut ffi::PyMemoryView_Type {
        Some(Buffer::MemoryView)
    } else {
        class_names::is_a(o, "array", "array").then_some(Buffer::Array)
    }
}

/// An array over an object's memory, and the number of its class; an object without such memory has none.
pub fn array_of(py: Python<'_>, o: *mut ffi::PyObject) -> PyResult<Option<(u64, Py<PyAny>)>> {
    // SAFETY: the caller passes a live argument.
    let o = unsafe { Bound::from_borrowed_ptr(py, o) };
    let Some(class) = buffer_class(&o) else { return Ok(None) };
    let number = Buffer::ALL.iter().position(|b| *b == class).expect("all are listed") as u64;
    let numpy = numpy::load(py)?;
    let over = |data: *mut u8, size: usize, writable, base| {
        let num = numpy::num_of_ty(Ty::u8()).unwrap_or_else(|| lh_ir::bug!("NumPy has bytes"));
        numpy.array_over(py, numpy.descr(py, num)?, (data, &[size as isize], &[1]), writable, Some(base))
    };
    let array = if let Ok(bytes) = o.cast_exact::<PyBytes>() {
        over(bytes.as_bytes().as_ptr().cast_mut(), bytes.as_bytes().len(), false, o.clone())
    } else if let Ok(bytes) = o.cast_exact::<PyByteArray>() {
        // As long as the view lives, the memory stays where it is.
        over(bytes.data(), bytes.len(), true, PyMemoryView::from(&o)?.into_any())
    } else if class == Buffer::Bytes {
        let dtype = numpy.module(py).getattr(intern!(py, "uint8"))?;
        numpy.module(py).call_method1(intern!(py, "frombuffer"), (o, dtype))
    } else {
        numpy.module(py).call_method1(intern!(py, "asarray"), (o,))
    };
    match array {
        Ok(array) => Ok(Some((number, array.unbind()))),
        Err(error) if error.is_instance_of::<PyMemoryError>(py) => Err(error),
        // NumPy has no dtype for it.
        Err(_) => Ok(None),
    }
}

/// Whether the number is that of `bytearray`.
pub fn is_bytearray(number: u64) -> bool {
    Buffer::ALL.get(number as usize) == Some(&Buffer::ByteArray)
}

/// An array as an instance of a class of memory: the object that it is over, if it is all of it.
pub fn buffer<'py>(array: &Bound<'py, PyAny>, class: Buffer) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let base = array.getattr(intern!(py, "base"))?;
    // SAFETY: the object is an array, which has as many strides as dimensions.
    let is_forward = unsafe {
        let fields = &*array.as_ptr().cast::<ArrayObject>();
        (0..fields.nd as usize).all(|i| *fields.strides.add(i) >= 0)
    };
    if is_forward && buffer_class(&base) == Some(class) {
        let whole: usize = match class {
            Buffer::MemoryView => base.getattr(intern!(py, "nbytes"))?.extract()?,
            Buffer::Array => base.len()? * base.getattr(intern!(py, "itemsize"))?.extract::<usize>()?,
            Buffer::Bytes | Buffer::ByteArray => base.len()?,
        };
        if array.getattr(intern!(py, "nbytes"))?.extract::<usize>()? == whole {
            return Ok(base);
        }
    }
    let builtins = py.import(intern!(py, "builtins"))?;
    let bytes = || array.call_method0(intern!(py, "tobytes"));
    match class {
        Buffer::Bytes => bytes(),
        Buffer::ByteArray => builtins.call_method1(intern!(py, "bytearray"), (bytes()?,)),
        Buffer::MemoryView => builtins.call_method1(intern!(py, "memoryview"), (array,)),
        Buffer::Array => {
            let code = array.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "char"))?;
            py.import(intern!(py, "array"))?.call_method1(intern!(py, "array"), (code, bytes()?))
        }
    }
}
