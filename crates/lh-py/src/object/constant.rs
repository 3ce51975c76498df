//! Numbers, strings and `None` as constants.

use crate::object::{int, numpy};
use lh_ir::{Const, Ty};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyString, PyType};
use pyo3::{ffi, intern};

/// The constant that a number, string or `None` is.
pub fn constant(o: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    let py = o.py();
    Ok(Some(if o.is_none() {
        Const::None
    } else if let Ok(b) = o.cast_exact::<PyBool>() {
        Const::Bool(b.is_true())
    } else if overrides(o) {
        return Ok(None);
    } else if o.is_instance_of::<PyInt>() {
        // SAFETY: just checked to be an int.
        match unsafe { int::machine(o.as_ptr()) } {
            int::Machine::Signed(v) => Const::Int(i128::from(v), Ty::int()),
            int::Machine::Unsigned(v) => Const::Int(i128::from(v), Ty::u64()),
            int::Machine::TooLarge => return Ok(None),
        }
    } else if o.is_instance_of::<PyFloat>() {
        Const::Float(o.extract()?, Ty::float())
    } else if let Ok(z) = o.cast::<PyComplex>() {
        Const::Complex(z.real(), z.imag(), Ty::complex())
    } else if o.is_exact_instance_of::<PyString>() {
        Const::Str(o.extract()?)
    } else {
        let class = o.get_type_ptr();
        numpy::load(py)?;
        // SAFETY: both are live types.
        if unsafe { ffi::PyType_IsSubtype(class, numpy::generic_type()) } == 0 {
            return Ok(None);
        }
        let Some(ty) = numpy::scalar_num(class).and_then(numpy::ty_of_num) else { return Ok(None) };
        scalar(&o.call_method0(intern!(py, "item"))?, ty.weak())?
    }))
}

/// Whether the class of an instance of a subclass of `int`, `float` or `str` replaces methods of theirs, which compiled
/// code would not call. Enumerations and NumPy's scalars have a form of their own.
pub fn overrides(o: &Bound<'_, PyAny>) -> bool {
    let py = o.py();
    let bases = [py.get_type::<PyInt>(), py.get_type::<PyFloat>(), py.get_type::<PyString>()];
    let class = o.get_type();
    let is_plain = class.get_type().is(py.get_type::<PyType>());
    if !is_plain || bases.iter().any(|base| class.is(base)) {
        return false;
    }
    let object = names(py.get_type::<PyAny>().as_any());
    for derived in class.mro() {
        let Some(base) = bases.iter().find(|base| o.is_instance(base).unwrap_or(false)) else { return false };
        if derived.is(base) {
            return false;
        }
        // Static types are those of extension modules.
        let is_program = derived.cast::<PyType>().is_ok_and(|t| {
            // SAFETY: a live type.
            unsafe { (*t.as_type_ptr()).tp_flags & ffi::Py_TPFLAGS_HEAPTYPE != 0 }
        });
        let (Ok(own), Ok(theirs), Ok(object)) = (names(&derived), names(base), &object) else { return false };
        let replaced = |name: &Bound<'_, PyAny>| {
            let is_theirs = theirs.contains(name).unwrap_or(false) || object.contains(name).unwrap_or(false);
            is_theirs && !name.extract::<String>().is_ok_and(|name| NO_ANSWER.contains(&&*name))
        };
        if is_program && own.try_iter().is_ok_and(|mut own| own.any(|name| name.is_ok_and(|name| replaced(&name)))) {
            return true;
        }
    }
    false
}

fn names<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    class.getattr(intern!(class.py(), "__dict__"))
}

/// Methods and attributes that no answer of compiled code depends on: they make, describe and copy instances.
const NO_ANSWER: [&str; 14] = [
    "__new__",
    "__init__",
    "__doc__",
    "__module__",
    "__init_subclass__",
    "__subclasshook__",
    "__class_getitem__",
    "__dir__",
    "__sizeof__",
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__getnewargs__",
    "__setattr__",
];

/// A NumPy scalar's value as a constant of its type.
fn scalar(value: &Bound<'_, PyAny>, ty: Ty) -> PyResult<Const> {
    Ok(if ty.is_bool() {
        Const::Bool(value.extract()?)
    } else if ty.is_int() {
        Const::Int(value.extract()?, ty)
    } else if ty.is_float() {
        Const::Float(value.extract()?, ty)
    } else {
        let z = value.cast::<PyComplex>()?;
        Const::Complex(z.real(), z.imag(), ty)
    })
}
