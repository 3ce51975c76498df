//! NumPy's C interface for making ufuncs: two entries of its table and the fields of `PyUFuncObject` that are read.

use crate::object::numpy;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// `PyUFuncGenericFunction`: addresses, extents, strides in bytes, data of the loop.
pub type InnerLoop = unsafe extern "C" fn(*mut *mut u8, *const isize, *const isize, *mut c_void);

/// The fields of `PyUFuncObject` that are used. They have stood here since NumPy 1.7.
#[repr(C)]
struct UFuncObject {
    base: ffi::PyObject,
    nin: c_int,
    nout: c_int,
    nargs: c_int,
    identity: c_int,
    functions: *mut c_void,
    data: *mut c_void,
    ntypes: c_int,
    reserved: c_int,
    name: *const c_char,
    types: *const c_char,
    doc: *const c_char,
    ptr: *mut c_void,
    /// The object that keeps the tables above alive.
    obj: *mut ffi::PyObject,
    userloops: *mut ffi::PyObject,
    core_enabled: c_int,
    core_num_dim_ix: c_int,
    core_num_dims: *mut c_int,
    core_dim_ixs: *mut c_int,
    core_offsets: *mut c_int,
    core_signature: *mut c_char,
    type_resolver: *mut c_void,
    dict: *mut ffi::PyObject,
    vectorcall: *mut c_void,
    reserved3: *mut c_void,
    /// Flags of NumPy's iterator for each operand; freed with the ufunc.
    op_flags: *mut c_uint,
}

/// `PyUFunc_One`, `PyUFunc_Zero`, `PyUFunc_None` and `PyUFunc_ReorderableNone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Identity {
    /// 1.
    One = 1,
    /// 0.
    Zero = 0,
    /// There is none, and reductions go in order.
    None = -1,
    /// There is none, but axes may be reduced in any order.
    Reorderable = -2,
}

/// The tables that a ufunc refers to as long as it lives.
pub struct Tables {
    /// Name.
    pub name: CString,
    /// Documentation.
    pub doc: CString,
    /// One for each loop.
    pub functions: Vec<InnerLoop>,
    /// One for each loop.
    pub data: Vec<*mut c_void>,
    /// Type numbers, `nin + nout` for each loop.
    pub types: Vec<c_char>,
    /// Core dimensions of a generalised ufunc.
    pub layout: Option<CString>,
}

type Make = unsafe extern "C" fn(
    *const InnerLoop,
    *const *mut c_void,
    *const c_char,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_char,
    *const c_char,
    c_int,
    *const c_char,
) -> *mut ffi::PyObject;

static CLASS: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(std::ptr::null_mut());
static MAKE: PyOnceLock<usize> = PyOnceLock::new();

fn make_function(py: Python<'_>) -> PyResult<Make> {
    let address = MAKE.get_or_try_init(py, || -> PyResult<usize> {
        let module =
            py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let capsule = module.getattr("_UFUNC_API")?;
        let table: *const *const c_void = capsule.cast::<PyCapsule>()?.pointer_checked(None)?.as_ptr().cast();
        // SAFETY: entries 0 and 31 are the type and this function in every NumPy since 1.7.
        unsafe {
            CLASS.store((*table).cast_mut().cast(), Ordering::Relaxed);
            Ok(*table.add(31) as usize)
        }
    })?;
    // SAFETY: the address is that of a function with this signature.
    Ok(unsafe { std::mem::transmute::<usize, Make>(*address) })
}

/// The struct of an object, if it is a ufunc.
fn fields(o: &Bound<'_, PyAny>) -> Option<*mut UFuncObject> {
    make_function(o.py()).ok()?;
    // SAFETY: a live object; instances of the class have this struct.
    unsafe { (ffi::Py_TYPE(o.as_ptr()) == CLASS.load(Ordering::Relaxed)).then(|| o.as_ptr().cast()) }
}

/// The object that a ufunc keeps alive, if it is one that was made by [`create`].
pub fn keeper<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let u = fields(o)?;
    // SAFETY: the field is null or an object, which the ufunc owns.
    unsafe { Bound::from_borrowed_ptr_or_opt(o.py(), (*u).obj) }
}

/// A new `numpy.ufunc` over tables that `keeper` owns.
pub fn create<'py>(
    py: Python<'py>,
    tables: &Tables,
    (nin, nout): (usize, usize),
    identity: Identity,
    keeper: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    numpy::load(py)?;
    let make = make_function(py)?;
    let text = |s: &CStr| s.as_ptr();
    // SAFETY: the tables have as many items as is said, and live as long as `keeper`, which the ufunc is given.
    unsafe {
        let made = make(
            tables.functions.as_ptr(),
            tables.data.as_ptr(),
            tables.types.as_ptr(),
            tables.functions.len() as c_int,
            nin as c_int,
            nout as c_int,
            identity as c_int,
            text(&tables.name),
            text(&tables.doc),
            0,
            tables.layout.as_deref().map_or(std::ptr::null(), text),
        );
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        (*made.as_ptr().cast::<UFuncObject>()).obj = keeper.into_ptr();
        Ok(made)
    }
}

/// Lets the inner loops write to inputs, and NumPy copy back what was written to a converted input.
pub fn make_writable(ufunc: &Bound<'_, PyAny>, inputs: &[usize]) {
    /// `NPY_ITER_READWRITE | NPY_ITER_UPDATEIFCOPY`
    const READ_WRITE: c_uint = 0x0001_0000 | 0x0080_0000;
    let Some(u) = fields(ufunc) else { return };
    // SAFETY: the array has one item for each operand.
    unsafe {
        for i in inputs {
            if *i < (*u).nargs as usize {
                *(*u).op_flags.add(*i) |= READ_WRITE;
            }
        }
    }
}

/// Lets the inner loops of a generalised ufunc leave elements of outputs as they are, also of outputs that NumPy
/// converts.
pub fn keep_outputs(ufunc: &Bound<'_, PyAny>) {
    /// The flags that NumPy takes for outputs where nothing is said (`NPY_ITER_` `ALIGNED`, `UPDATEIFCOPY`, `ALLOCATE`,
    /// `NO_SUBTYPE`, `NO_BROADCAST`), with `READWRITE` in place of `WRITEONLY`. `OVERLAP_ASSUME_ELEMENTWISE` is not
    /// among them: a call may read a whole row before it stores the first element, so an input that is the output is
    /// copied.
    const FLAGS: c_uint = 0x0b91_0000;
    let Some(u) = fields(ufunc) else { return };
    // SAFETY: the array has one item for each operand.
    unsafe {
        for i in (*u).nin..(*u).nargs {
            *(*u).op_flags.add(i as usize) = FLAGS;
        }
    }
}

/// Sets attributes that ufuncs can hold since NumPy 2.1; older ones go without.
pub fn set_attributes(ufunc: &Bound<'_, PyAny>, attributes: &Bound<'_, PyDict>) {
    for (k, v) in attributes.iter() {
        if let Ok(name) = k.extract::<String>() {
            let _ = ufunc.setattr(&*name, v);
        }
    }
}
