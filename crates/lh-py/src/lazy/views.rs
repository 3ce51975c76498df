//! Views: arrays that lie in the memory of others, and the methods of arrays.

use crate::lazy::evaluate::{self, itemsize, numpy_array};
use crate::lazy::layout::{self, Lazy, Node, View};
use crate::lazy::setup::{Setup, field, node, setup};
use crate::object::array::ArrayObject;
use crate::object::numpy;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PySlice, PyTuple};
use pyo3::{ffi, intern};
use std::ffi::{CStr, c_int, c_void};

/// Little memory may stay as long as the view, when the array has other values.
const LITTLE: usize = 32768;

/// Another view of the same memory: `change` is applied to an array of the same extents and strides.
#[inline(always)]
fn view<'py>(
    setup: &Setup,
    array: &Lazy<'py>,
    change: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.0.py();
    let contents = node(array.node())?;
    let (owner, shadow, whole, now) = match array.view() {
        Some(of) => {
            // SAFETY: arrays refer to views.
            let of = unsafe { View::new(of) };
            (field(of.owner())?, field(of.shadow())?, field(of.whole())?, of.now())
        }
        None => match contents.value().filter(is_little) {
            Some(value) => (array.0.clone(), value.clone(), value, Some(contents.0.clone())),
            None => {
                let shadow = setup.shadow.bind(py).call1((contents.shape(), contents.dtype()))?;
                (array.0.clone(), shadow.clone(), shadow, None)
            }
        },
    };
    let changed = change(&shadow)?;
    // SAFETY: the class derives from that of views.
    let made = unsafe { View::new(layout::instance(setup.view.bind(py))?) };
    let none = py.None().into_bound(py);
    made.set_owner(owner);
    made.set_shadow(changed);
    made.set_whole(whole);
    made.set_now(now.unwrap_or_else(|| none.clone()));
    made.set_read(none.clone());
    made.set_version(none);
    made.set_asked(PyBool::new(py, false).to_owned().into_any());
    layout::array(setup.array.bind(py), contents.0, Some(made))
}

/// The node of a view's elements as they are now. `newest` is that of its owner.
pub fn read<'py>(setup: &Setup, view: &View<'py>, newest: Bound<'py, PyAny>) -> PyResult<Node<'py>> {
    let py = newest.py();
    let (shadow, whole) = (field(view.shadow())?, field(view.whole())?);
    let (Some(part), Some(all)) = (numpy_array(&shadow), numpy_array(&whole)) else { return slowly(view) };
    // SAFETY: the dtypes of live arrays.
    let (size, whole_size) = unsafe { (itemsize(numpy::number_of(part.descr)), itemsize(numpy::number_of(all.descr))) };
    // Fields of records lie at any byte.
    let (Some(size), Some(_)) = (size, whole_size) else { return slowly(view) };
    // SAFETY: the owner's node is one.
    let of = unsafe { Node::new(newest.clone()) };
    let op = setup.strided.bind(py).clone();
    let shape = shadow.getattr(intern!(py, "shape"))?;
    let facts = (shape.clone(), shadow.getattr(intern!(py, "dtype"))?);
    let is_now = view.now().is_some_and(|now| now.is(&newest));
    let made = if is_now && view.asked().is_some_and(|a| a.is_truthy().unwrap_or(false)) {
        let made = setup.node(op, PyTuple::empty(py), facts, of.device())?;
        made.set_value(shadow);
        made
    } else {
        let is_empty = part.extents().contains(&0);
        let first = if is_empty { 0 } else { (part.data as isize - all.data as isize) / size as isize };
        let strides = shadow.getattr(intern!(py, "strides"))?;
        let made = setup.node(op, PyTuple::new(py, [newest.clone()])?, facts, of.device())?;
        made.set_dynamic(PyTuple::new(py, [first.into_pyobject(py)?.into_any(), shape, strides])?.into_any());
        made
    };
    view.set_read(made.0.clone());
    view.set_version(newest);
    Ok(made)
}

#[cold]
fn slowly<'py>(view: &View<'py>) -> PyResult<Node<'py>> {
    node(Some(view.0.call_method0(intern!(view.0.py(), "node"))?))
}

/// A view of an array of NumPy, with so many bytes between both first elements.
pub fn part<'py>(
    of: &Bound<'py, PyAny>,
    array: &ArrayObject,
    offset: isize,
    shape: &[isize],
    strides: &[isize],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the dtype of a live array; callers stay within its memory.
    let (descr, data) = unsafe {
        let descr = Bound::from_borrowed_ptr(of.py(), array.descr.cast_mut().cast());
        (descr, array.data.offset(offset))
    };
    let writable = array.flags & numpy::WRITEABLE != 0;
    numpy::load(of.py())?.array_over(of.py(), descr, (data, shape, strides), writable, Some(of.clone()))
}

/// `s[k, ...]`.
fn at<'py>(s: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>, rest: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(array) = numpy_array(s)
        && let ([n, shape @ ..], [step, strides @ ..]) = (array.extents(), array.steps())
        && let Ok(k) = key.extract::<isize>()
        && (-n..*n).contains(&k)
    {
        return part(s, array, (if k < 0 { k + n } else { k }) * step, shape, strides);
    }
    s.get_item(PyTuple::new(s.py(), [key, rest])?)
}

/// Whether a value is an array of NumPy in row-major order with little memory.
fn is_little(value: &Bound<'_, PyAny>) -> bool {
    let Some(array) = numpy_array(value) else { return false };
    // SAFETY: the dtype of a live array.
    let size = unsafe { itemsize(numpy::number_of(array.descr)) };
    let bytes = match size {
        Some(size) => array.extents().iter().fold(size, |bytes, n| bytes.saturating_mul(*n as usize)),
        None => value.getattr(intern!(value.py(), "nbytes")).and_then(|n| n.extract()).unwrap_or(usize::MAX),
    };
    array.flags & numpy::C_CONTIGUOUS != 0 && bytes <= LITTLE
}

/// `x[key]`: a view for a slice, an integer, and tuples of those and None; other keys take the longer way.
fn get<'py>(this: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    let setup = setup(py)?;
    // SAFETY: it is a method of arrays.
    let array = unsafe { Lazy::new(this.clone()) };
    if key.cast_exact::<PySlice>().is_ok() {
        return view(setup, &array, |s| s.get_item(key));
    }
    // With an Ellipsis the result is a view also where it has no axes.
    let rest = py.Ellipsis().into_bound(py);
    if key.cast_exact::<PyInt>().is_ok() {
        return view(setup, &array, |s| at(s, key, &rest));
    }
    if let Ok(keys) = key.cast_exact::<PyTuple>()
        && keys
            .iter_borrowed()
            .all(|k| k.is_none() || k.cast_exact::<PyInt>().is_ok() || k.cast_exact::<PySlice>().is_ok())
    {
        let all = PyTuple::new(py, keys.iter().chain([rest]).collect::<smallvec::SmallVec<[_; 8]>>())?;
        return view(setup, &array, |s| s.get_item(all));
    }
    setup.operator(intern!(py, "get"))?.call1((this, key))
}

/// The transposed matrix.
fn transposed<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let setup = setup(this.py())?;
    // SAFETY: it is a property of arrays.
    let array = unsafe { Lazy::new(this.clone()) };
    let ndim = shape(this)?.len()?;
    if ndim != 2 {
        let text = format!("T is of arrays with two axes, not {ndim}; write permute_dims or mT");
        return Err(PyValueError::new_err(text));
    }
    view(setup, &array, |s| match numpy_array(s).map(|a| (a, a.extents(), a.steps())) {
        Some((a, &[n, m], &[i, k])) => part(s, a, 0, &[m, n], &[k, i]),
        _ => s.getattr(intern!(s.py(), "T")),
    })
}

/// A property of the contents: of a view those of its part.
fn fact<'py>(
    this: &Bound<'py, PyAny>,
    of_node: impl FnOnce(&Node<'py>) -> Option<Bound<'py, PyAny>>,
    of_part: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: it is a property of arrays.
    let array = unsafe { Lazy::new(this.clone()) };
    match array.view() {
        None => field(of_node(&node(array.node())?)),
        // SAFETY: arrays refer to views.
        Some(view) => of_part(field(unsafe { View::new(view) }.shadow())?),
    }
}

fn shape<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    fact(this, Node::shape, |s| s.getattr(intern!(s.py(), "shape")))
}

fn dtype<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    fact(this, Node::dtype, |s| s.getattr(intern!(s.py(), "dtype")))
}

fn ndim<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(shape(this)?.len()?.into_pyobject(this.py())?.into_any())
}

fn size<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let shape = shape(this)?;
    let extents = shape.cast_exact::<PyTuple>()?.iter_borrowed();
    let n = extents.map(|n| n.extract::<isize>()).try_fold(1_isize, |all, n| n.map(|n| all.wrapping_mul(n)))?;
    Ok(n.into_pyobject(this.py())?.into_any())
}

fn contents<'py>(this: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: it is a method of arrays.
    let array = unsafe { Lazy::new(this.clone()) };
    setup(this.py())?.node_of(&array).map(|n| n.0)
}

type Answer = for<'py> fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;

/// Runs a function for an array that the interpreter passes.
unsafe fn answer(this: *mut ffi::PyObject, f: Answer) -> *mut ffi::PyObject {
    // SAFETY: CPython passes an instance, attached.
    let this = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), this) };
    given(this.py(), f(&this))
}

fn given<'py>(py: Python<'py>, result: PyResult<Bound<'py, PyAny>>) -> *mut ffi::PyObject {
    match result {
        Ok(found) => found.into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// Functions for tables of methods and of properties.
macro_rules! answers {
    ($($method:ident $getter:ident $f:path;)*) => {$(
        #[allow(dead_code, reason = "one of both is used")]
        unsafe extern "C" fn $method(this: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
            // SAFETY: as for `answer`.
            unsafe { answer(this, $f) }
        }
        #[allow(dead_code, reason = "one of both is used")]
        unsafe extern "C" fn $getter(this: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
            // SAFETY: as for `answer`.
            unsafe { answer(this, $f) }
        }
    )*};
}

answers! {
    call_compute get_compute evaluate::compute;
    call_numpy get_numpy evaluate::numpy;
    call_node get_node contents;
    call_shape get_shape shape;
    call_dtype get_dtype dtype;
    call_ndim get_ndim ndim;
    call_size get_size size;
    call_transposed get_transposed transposed;
}

unsafe extern "C" fn subscript(this: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython passes an instance and an object, attached.
    unsafe {
        let py = Python::assume_attached();
        given(py, get(&Bound::from_borrowed_ptr(py, this), &Bound::from_borrowed_ptr(py, key)))
    }
}

unsafe extern "C" fn call_view(
    this: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes an instance and so many arguments, attached.
    unsafe {
        let py = Python::assume_attached();
        if count < 1 {
            return given(py, Err(PyTypeError::new_err("view() takes a function and its further arguments")));
        }
        let array = Lazy::new(Bound::from_borrowed_ptr(py, this));
        let change = |shadow: &Bound<'_, PyAny>| {
            let mut given: smallvec::SmallVec<[*mut ffi::PyObject; 6]> = smallvec::smallvec![shadow.as_ptr()];
            given.extend((1..count as usize).map(|k| *args.add(k)));
            let result = ffi::PyObject_Vectorcall(*args, given.as_ptr(), given.len(), std::ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, result)
        };
        given(py, setup(py).and_then(|setup| view(setup, &array, change)))
    }
}

/// The address of an array's first element.
#[pyfunction]
pub fn data_address(array: &Bound<'_, PyAny>) -> PyResult<usize> {
    if !crate::object::array::is_array(array) {
        return Err(PyTypeError::new_err("an array of NumPy is needed"));
    }
    // SAFETY: it is an array.
    Ok(unsafe { (*array.as_ptr().cast::<ArrayObject>()).data.addr() })
}

fn method(name: &'static CStr, f: ffi::PyMethodDefPointer, flags: c_int, doc: &'static CStr) -> ffi::PyMethodDef {
    ffi::PyMethodDef { ml_name: name.as_ptr(), ml_meth: f, ml_flags: flags, ml_doc: doc.as_ptr() }
}

fn property(name: &'static CStr, get: ffi::getter, doc: &'static CStr) -> ffi::PyGetSetDef {
    ffi::PyGetSetDef {
        name: name.as_ptr(),
        get: Some(get),
        set: None,
        doc: doc.as_ptr(),
        closure: std::ptr::null_mut(),
    }
}

/// The tables of the class of arrays, to which it refers as long as it lives, which is forever.
pub fn slots() -> [(c_int, *mut c_void); 3] {
    let none = |f| ffi::PyMethodDefPointer { PyCFunction: f };
    let compute = c"compute($self, /)\n--\n\nComputes the value now, and answers with the array itself. Raises what \
        the operations raise.";
    let numpy =
        c"numpy($self, /)\n--\n\nThe value as an array of NumPy, which is a copy unless nothing else can change it.";
    let node = c"node($self, /)\n--\n\nThe node of the array's contents as they are now.";
    let view = c"Another view of the same memory: a function is applied to an array of the same extents and strides.";
    let fast = ffi::PyMethodDefPointer { PyCFunctionFast: call_view };
    let methods = Box::leak(Box::new([
        method(c"compute", none(call_compute), ffi::METH_NOARGS, compute),
        method(c"numpy", none(call_numpy), ffi::METH_NOARGS, numpy),
        method(c"node", none(call_node), ffi::METH_NOARGS, node),
        method(c"view", fast, ffi::METH_FASTCALL, view),
        ffi::PyMethodDef::zeroed(),
    ]));
    let properties = Box::leak(Box::new([
        property(c"shape", get_shape, c"Extents."),
        property(c"dtype", get_dtype, c"Data type."),
        property(c"ndim", get_ndim, c"Number of axes."),
        property(c"size", get_size, c"Number of elements."),
        property(c"T", get_transposed, c"The transposed matrix; ValueError unless there are two axes."),
        ffi::PyGetSetDef::default(),
    ]));
    [
        (ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        (ffi::Py_tp_getset, properties.as_mut_ptr().cast()),
        (ffi::Py_mp_subscript, subscript as *mut c_void),
    ]
}
