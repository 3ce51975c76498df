//! Functions of elements of one or two arrays: what is known of an operation for its types is looked up.

use crate::lazy::layout::{self, Spec, class, member, offset};
use crate::lazy::setup::{Setup, field, setup};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{ffi, intern};
use std::ffi::c_void;

unsafe extern "C" {
    fn PyMethod_New(function: *mut ffi::PyObject, instance: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// A function of elements.
#[repr(C)]
struct FunctionObject {
    base: ffi::PyObject,
    /// By types of operands: the operation, the type of results, and types of the nodes of numbers.
    known: *mut ffi::PyObject,
    /// The function for types that are new, and for what is no array.
    slow: *mut ffi::PyObject,
    dict: *mut ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
}

/// The entry point for so many operands, and whether they are exchanged.
unsafe extern "C" fn call<const COUNT: usize, const EXCHANGED: bool>(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with an instance, attached, and with arguments that outlive the call.
    let result = unsafe {
        let py = Python::assume_attached();
        let count = ffi::PyVectorcall_NARGS(nargsf) as usize;
        if count == COUNT && kwnames.is_null() {
            let this = &*callable.cast::<FunctionObject>();
            let known = Bound::from_borrowed_ptr(py, this.known).cast_into_unchecked();
            let slow = Bound::from_borrowed_ptr(py, this.slow);
            let argument = |k: usize| Bound::from_borrowed_ptr(py, *args.add(k));
            match COUNT {
                1 => unary(&known, &slow, argument(0)),
                _ if EXCHANGED => binary(&known, &slow, argument(1), argument(0)),
                _ => binary(&known, &slow, argument(0), argument(1)),
            }
        } else {
            Err(misfit(&Bound::from_borrowed_ptr(py, callable), COUNT, count, !kwnames.is_null()))
        }
    };
    match result {
        Ok(found) => found.into_ptr(),
        Err(error) => {
            // SAFETY: as above.
            error.restore(unsafe { Python::assume_attached() });
            std::ptr::null_mut()
        }
    }
}

#[cold]
fn misfit(callable: &Bound<'_, PyAny>, wanted: usize, count: usize, has_names: bool) -> PyErr {
    let name = callable.getattr(intern!(callable.py(), "__name__")).map(|n| n.to_string()).unwrap_or_default();
    if has_names {
        return PyTypeError::new_err(format!("{name}() takes no keyword arguments"));
    }
    let ending = if wanted == 1 { "" } else { "s" };
    PyTypeError::new_err(format!("{name}() takes {wanted} positional argument{ending} but {count} were given"))
}

#[inline(always)]
fn unary<'py>(
    known: &Bound<'py, PyDict>,
    slow: &Bound<'py, PyAny>,
    x: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let setup = setup(x.py())?;
    if let Some(array) = setup.array_of(&x) {
        let a = setup.node_of(&array)?;
        if let Some(found) = look(known, &field(a.dtype())?)? {
            let (shape, device) = (field(a.shape())?, a.device());
            let inputs = PyTuple::new(x.py(), [a.0])?;
            return setup.lazy(found.get_item(0)?, inputs, (shape, found.get_item(1)?), device);
        }
    }
    slow.call1((x,))
}

#[inline(always)]
fn look<'py>(known: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    // SAFETY: what is known are tuples of two and more.
    Ok(known.get_item(key)?.map(|found| unsafe { found.cast_into_unchecked() }))
}

#[inline(always)]
fn binary<'py>(
    known: &Bound<'py, PyDict>,
    slow: &Bound<'py, PyAny>,
    x: Bound<'py, PyAny>,
    y: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let setup = setup(py)?;
    match (setup.array_of(&x), setup.array_of(&y)) {
        (Some(one), Some(other)) => {
            let (a, b) = (setup.node_of(&one)?, setup.node_of(&other)?);
            let (s, t) = (field(a.dtype())?, field(b.dtype())?);
            let found = if s.is(&t) { look(known, &s)? } else { look(known, PyTuple::new(py, [s, t])?.as_any())? };
            let (p, q) = (a.device(), b.device());
            let is_here = match (&p, &q) {
                (Some(p), Some(q)) => p.is(q),
                (p, q) => p.is_none() && q.is_none(),
            };
            if is_here && let Some(found) = found {
                let (s, t) = (field(a.shape())?, field(b.shape())?);
                let shape = if s.is(&t) || s.eq(&t)? { s } else { setup.broadcast.bind(py).call1((s, t))? };
                let inputs = PyTuple::new(py, [a.0, b.0])?;
                return setup.lazy(found.get_item(0)?, inputs, (shape, found.get_item(1)?), p);
            }
        }
        (Some(one), None) => {
            let a = setup.node_of(&one)?;
            let key = PyTuple::new(py, [field(a.dtype())?, y.get_type().into_any()])?;
            if let Some(found) = look(known, key.as_any())?
                && let Some(number) = number(setup, &y, found.get_item(2)?)?
            {
                let (shape, device) = (field(a.shape())?, a.device());
                let inputs = PyTuple::new(py, [a.0, number])?;
                return setup.lazy(found.get_item(0)?, inputs, (shape, found.get_item(1)?), device);
            }
        }
        (None, Some(other)) => {
            let b = setup.node_of(&other)?;
            let key = PyTuple::new(py, [x.get_type().into_any(), field(b.dtype())?])?;
            if let Some(found) = look(known, key.as_any())?
                && let Some(number) = number(setup, &x, found.get_item(2)?)?
            {
                let (shape, device) = (field(b.shape())?, b.device());
                let inputs = PyTuple::new(py, [number, b.0])?;
                return setup.lazy(found.get_item(0)?, inputs, (shape, found.get_item(1)?), device);
            }
        }
        (None, None) => {}
    }
    slow.call1((x, y))
}

/// The node of a number of Python as a type; `None` for a number outside of it, which comparisons take.
#[inline(always)]
fn number<'py>(setup: &Setup, x: &Bound<'py, PyAny>, dtype: Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = x.py();
    // Zeros have signs, which equality does not see.
    if x.is_truthy()? {
        let key = PyTuple::new(py, [x.get_type().into_any(), x.clone(), dtype.clone()])?;
        if let Some(found) = setup.numbers.bind(py).get_item(key)? {
            return Ok(Some(found));
        }
    }
    match setup.number.bind(py).call1((x, dtype)) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_instance_of::<PyOverflowError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A function that is found on an instance is a method of it.
unsafe extern "C" fn bind_method(
    o: *mut ffi::PyObject,
    instance: *mut ffi::PyObject,
    _class: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live objects.
    unsafe {
        if instance.is_null() || instance == ffi::Py_None() { ffi::Py_NewRef(o) } else { PyMethod_New(o, instance) }
    }
}

/// Pickles name a function.
unsafe extern "C" fn reduce(o: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with an instance.
    unsafe { ffi::PyObject_GetAttrString(o, c"__qualname__".as_ptr()) }
}

unsafe extern "C" fn repr(o: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with an instance, attached.
    unsafe {
        let this = Bound::from_borrowed_ptr(Python::assume_attached(), o);
        match this.getattr(intern!(this.py(), "__qualname__")) {
            Ok(name) => pyo3::types::PyString::new(this.py(), &format!("<function {name}>")).into_ptr(),
            Err(error) => {
                error.restore(this.py());
                std::ptr::null_mut()
            }
        }
    }
}

/// Adds the class of functions.
pub fn add_type(m: &Bound<'_, PyModule>) -> PyResult<()> {
    // SAFETY: all zeros end the table, to which the class refers forever.
    let methods: &mut [ffi::PyMethodDef] = Box::leak(Box::new([
        ffi::PyMethodDef {
            ml_name: c"__reduce__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: reduce },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: std::ptr::null(),
        },
        ffi::PyMethodDef::zeroed(),
    ]));
    let spec = Spec {
        name: c"lancehead._core.ElementwiseFunction",
        doc: c"A function of elements of lazy arrays.",
        fields: [c"known", c"slow", c"__dict__"],
        size: size_of::<FunctionObject>(),
        members: &[
            member(c"__dictoffset__", ffi::Py_T_PYSSIZET, offset(2), ffi::Py_READONLY),
            member(c"__vectorcalloffset__", ffi::Py_T_PYSSIZET, offset(3), ffi::Py_READONLY),
        ],
        slots: &[
            (ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
            (ffi::Py_tp_descr_get, bind_method as *mut c_void),
            (ffi::Py_tp_repr, repr as *mut c_void),
            (ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        ],
        flags: ffi::Py_TPFLAGS_HAVE_VECTORCALL
            | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR
            | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION,
    };
    m.add("ElementwiseFunction", class(m.py(), &spec)?)
}

/// Makes a function of one or two arrays. `known` has operations by types; `slow` is called for those that are new.
/// The function has the names and the text of `slow`.
#[pyfunction]
#[pyo3(signature = (count, known, slow, exchanged = false))]
pub fn elementwise<'py>(
    count: usize,
    known: Bound<'py, PyDict>,
    slow: Bound<'py, PyAny>,
    exchanged: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = known.py();
    let made = layout::instance(&py.import("lancehead._core")?.getattr(intern!(py, "ElementwiseFunction"))?)?;
    let dict = PyDict::new(py);
    for name in ["__module__", "__name__", "__qualname__", "__doc__"] {
        dict.set_item(name, slow.getattr(name)?)?;
    }
    dict.set_item(intern!(py, "__wrapped__"), &slow)?;
    // SAFETY: nobody else knows the instance, whose fields are null.
    unsafe {
        let this = &mut *made.as_ptr().cast::<FunctionObject>();
        this.known = known.into_any().into_ptr();
        this.slow = slow.into_ptr();
        this.dict = dict.into_any().into_ptr();
        this.vectorcall = Some(match (count, exchanged) {
            (1, _) => call::<1, false>,
            (_, false) => call::<2, false>,
            (_, true) => call::<2, true>,
        });
    }
    Ok(made)
}
