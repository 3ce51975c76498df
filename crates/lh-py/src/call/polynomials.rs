//! Series of `numpy.polynomial`: in compiled code values of their coefficients, domain, window and symbol.

use lh_ir::class::Class;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::CStr;

const MODULE: &str = "numpy.polynomial";
/// Names of the classes; a tag has the place here.
const NAMES: [&str; 6] = ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"];

/// The class of compiled code with a number.
pub fn class(number: u64) -> Class {
    let path = format!("{MODULE}.{}", NAMES[number as usize]);
    Class::find(&path).unwrap_or_else(|| lh_ir::bug!("the library has no `{path}`"))
}

/// The number of the class of an object, if it is exactly one of these.
pub fn number(o: &Bound<'_, PyAny>) -> Option<u64> {
    let class = o.get_type();
    // Every argument of a class that is not known by its type comes here, so that no object is made of the name.
    // SAFETY: a type has a name for as long as it lives.
    let name = unsafe { CStr::from_ptr((*class.as_type_ptr()).tp_name) };
    let number = NAMES.iter().position(|own| own.as_bytes() == name.to_bytes())?;
    let own = o.py().import(MODULE).and_then(|module| module.getattr(NAMES[number])).ok()?;
    own.is(&class).then_some(number as u64)
}

/// The object for a series, of coefficients, domain, window and symbol.
pub fn object<'py>(py: Python<'py>, class: Class, parts: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    py.import(MODULE)?.getattr(class.name())?.call1(PyTuple::new(py, parts)?)
}
