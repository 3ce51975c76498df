//! Series of `numpy.polynomial`: in compiled code values of their coefficients, domain, window and symbol.

use lh_ir::class::Class;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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
    let name = class.name().ok()?;
    let number = NAMES.iter().position(|own| name == *own)?;
    let own = o.py().import(MODULE).and_then(|module| module.getattr(NAMES[number])).ok()?;
    own.is(&class).then_some(number as u64)
}

/// The object for a series, of coefficients, domain, window and symbol.
pub fn object<'py>(py: Python<'py>, class: Class, parts: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    py.import(MODULE)?.getattr(class.name())?.call1(PyTuple::new(py, parts)?)
}
