//! Parts of objects that compiled code takes along with them, and that a program may replace in place.

use crate::host::stopping::Answer as _;
use crate::host::{decorated, ufuncs};
use crate::object::array::ArrayObject;
use crate::object::{class_names, descriptors, function};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyFunction, PyInt, PyList, PyModule, PyString, PyTuple, PyType};

unsafe extern "C" {
    static PyMethod_Type: ffi::PyTypeObject;
    fn PyMethod_Self(method: *mut ffi::PyObject) -> *mut ffi::PyObject;
    fn PyMethod_Function(method: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// The Python function that an object is, or that its dispatcher wraps.
pub fn function_of<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let func = decorated::py_func(o).unwrap_or_else(|| o.clone());
    func.is_exact_instance_of::<PyFunction>().then_some(func)
}

/// Whether an object is a number or string: equal ones are interchangeable.
fn is_plain_value(o: &Bound<'_, PyAny>) -> bool {
    o.is_exact_instance_of::<PyInt>()
        || o.is_exact_instance_of::<PyFloat>()
        || o.is_exact_instance_of::<PyString>()
        || o.is_exact_instance_of::<PyComplex>()
}

/// The depth to which parts of parts are followed: objects may contain themselves.
pub const MAX_DEPTH: usize = 4;

/// The parts of an object that compiled code takes along with it and that may change in place: functions, classes and
/// arrays in tuples, in lists and as defaults, and the functions of ufuncs, stencils and kernels.
pub fn inside<'py>(o: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let may_change = |i: &Bound<'py, PyAny>| !is_plain_value(i) && !i.is_none();
    if let Some(f) = function_of(o) {
        return function::defaults(&f).map_or_else(|_| Vec::new(), |all| all.into_iter().map(|(_, v)| v).collect());
    }
    if o.is_instance_of::<PyTuple>() || o.is_exact_instance_of::<PyList>() {
        return o.try_iter().map_or_else(|_| Vec::new(), |all| all.flatten().filter(may_change).collect());
    }
    if let Ok(dict) = o.cast::<PyDict>() {
        return dict.values().iter().filter(may_change).collect();
    }
    if is_plain_value(o) || o.is_instance_of::<PyType>() || o.is_instance_of::<PyModule>() {
        return Vec::new();
    }
    if descriptors::is_property(o) {
        let parts = ["fget", "fset"].map(|name| o.getattr(name).answer());
        return parts.into_iter().flatten().filter(may_change).collect();
    }
    if let Some((function, class)) = class_method(o) {
        return vec![function, class];
    }
    if is_partial(o) {
        let parts = ["func", "args", "keywords"].map(|name| o.getattr(name).answer());
        let keywords = parts[2].as_ref().and_then(|k| k.call_method0("values").ok());
        let all = parts[1].iter().chain(&keywords).flat_map(|p| p.try_iter().into_iter().flatten().flatten());
        // The values by name may be replaced, whatever they are.
        return parts[0].iter().cloned().chain(all).collect();
    }
    if is_cached(o) {
        return o.getattr("__wrapped__").into_iter().collect();
    }
    let stencil = || is_stencil(o).then(|| o.getattr("kernel").ok()).flatten();
    let device_function = || decorated::device_function(o).answer().flatten();
    ufuncs::dispatcher(o).or_else(stencil).or_else(device_function).into_iter().collect()
}

/// The layout of an array: address, element type, extents, strides.
pub fn layout_of<'a>(o: &'a Bound<'_, PyAny>) -> impl Iterator<Item = isize> + 'a {
    // SAFETY: callers pass arrays, whose lists have `nd` items.
    let (a, extents, strides) = unsafe {
        let a = &*o.as_ptr().cast::<ArrayObject>();
        let list = |p: *const isize| (0..a.nd as usize).map(move |i| *p.add(i));
        (a, list(a.dimensions), list(a.strides))
    };
    [a.data as isize, a.descr as isize].into_iter().chain(extents).chain(strides)
}

/// Whether an object is a `functools.partial`.
pub fn is_partial(o: &Bound<'_, PyAny>) -> bool {
    class_names::is_a(o, "functools", "partial")
}

/// Whether an object is an `operator.itemgetter`, `attrgetter` or `methodcaller`.
pub fn is_getter(o: &Bound<'_, PyAny>) -> bool {
    ["itemgetter", "attrgetter", "methodcaller"].iter().any(|class| class_names::is_a(o, "operator", class))
}

/// Whether `functools` keeps the results of an object.
pub fn is_cached(o: &Bound<'_, PyAny>) -> bool {
    class_names::is_a(o, "functools", "_lru_cache_wrapper")
}

/// The function and the class of a class method that was looked up on its class; each look-up makes a new object.
pub fn class_method<'py>(o: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (own, function) = method(o)?;
    (own.is_instance_of::<PyType>() && function_of(&function).is_some()).then_some((function, own))
}

/// The instance and the function of a method that was looked up on an instance, if its class has it by its name.
pub fn bound_method<'py>(o: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (own, function) = method(o)?;
    let name = function.getattr(intern!(o.py(), "__name__")).ok()?.cast_into::<PyString>().ok()?;
    let is_own = own.get_type().getattr_opt(name).ok()??.is(&function);
    (is_own && !own.is_instance_of::<PyType>()).then_some((own, function))
}

/// The object and the function of a method whose code is Python's.
fn method<'py>(o: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    // SAFETY: attached, and a live object; a method has both parts, which are borrowed.
    unsafe {
        if o.get_type_ptr().cast_const() != &raw const PyMethod_Type {
            return None;
        }
        let own = Bound::from_borrowed_ptr(o.py(), PyMethod_Self(o.as_ptr()));
        Some((own, Bound::from_borrowed_ptr(o.py(), PyMethod_Function(o.as_ptr()))))
    }
}

/// Whether an object is a stencil.
pub fn is_stencil(o: &Bound<'_, PyAny>) -> bool {
    class_names::is_a(o, "lancehead.stencils", "StencilFunc")
}
