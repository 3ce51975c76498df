//! Numbers, strings and `None` as constants.

use crate::object::{int, numpy};
use lh_ir::{Const, Ty};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyString};
use pyo3::{ffi, intern};

/// The constant that a number, string or `None` is.
pub fn constant(o: &Bound<'_, PyAny>) -> PyResult<Option<Const>> {
    let py = o.py();
    Ok(Some(if o.is_none() {
        Const::None
    } else if let Ok(b) = o.cast_exact::<PyBool>() {
        Const::Bool(b.is_true())
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
