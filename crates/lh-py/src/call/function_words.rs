//! Functions as values of function types: items and fields that do not say which function they are. The word is one
//! more than the number of the object, or zero. `function_values.rs` calls them.

use crate::host::table;
use lh_ir::types::InstanceOf;
use lh_ir::{ObjId, TyKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;

/// The object of a word.
///
/// # Errors
/// There is none.
pub fn object(py: Python<'_>, word: u64) -> PyResult<Bound<'_, PyAny>> {
    match word.checked_sub(1) {
        Some(number) => owner(table::object(py, ObjId(number as u32))),
        None => Err(PyRuntimeError::new_err("function address is null: no function was assigned")),
    }
}

/// The object that Python gets for a dispatcher: one that `cfunc` made is held by its object, which it knows.
pub fn owner(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    Ok(object.getattr_opt(intern!(object.py(), "__lancehead_owner__"))?.unwrap_or(object))
}

/// The word of a function that a type stands for.
pub fn word_of_type(of: &TyKind) -> u64 {
    let object = match of {
        TyKind::Func(f) => table::function_object(*f).0,
        TyKind::Obj(o) => *o,
        TyKind::Instance { of, class: InstanceOf::Function { .. } } => return word_of_type(of.kind()),
        _ => lh_ir::bug!("only functions become function values"),
    };
    // Nobody knows how long the word is in memory.
    table::keep_number(object);
    u64::from(object.0) + 1
}
