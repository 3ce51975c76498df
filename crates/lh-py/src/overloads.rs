//! Functions, methods and attributes that `lancehead.extending` gives a meaning in compiled code.

use crate::types::Type;
use crate::{classify, objects};
use hashbrown::HashSet;
use lh_infer::world::Object;
use lh_infer::{Overload, Overloaded};
use lh_ir::{ObjId, Ty, TyKind};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// What the names of attributes begin with that stand for an overload.
pub const PREFIX: &str = "<overload> ";

/// Functions, and names of methods and attributes, that have overloads.
static KNOWN: LazyLock<Mutex<HashSet<ObjId>>> = LazyLock::new(Default::default);

fn known() -> MutexGuard<'static, HashSet<ObjId>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has the compiler ask for overloads of a function, or of a method or attribute by its name.
#[pyfunction]
pub fn overloaded(what: &Bound<'_, PyAny>) {
    let id = objects::intern(what);
    known().insert(id);
}

/// Whether there are any.
pub fn are_known() -> bool {
    !known().is_empty()
}

/// The object that overloads are registered for, if there are any.
pub fn registered(py: Python<'_>, what: &Overload<'_>) -> Option<ObjId> {
    if known().is_empty() {
        return None;
    }
    let Some(callee) = what.function else {
        // The module stands for the names, which are in the names of its attributes.
        let is_known =
            objects::find(&what.name.into_pyobject(py).ok()?.into_any()).is_some_and(|o| known().contains(&o));
        return is_known.then(|| finder(py).ok()).flatten().map(|f| objects::intern(&f));
    };
    let o = match callee.kind() {
        TyKind::Func(f) => objects::function_object(*f),
        TyKind::Obj(o) => (*o, true),
        _ => return None,
    };
    (o.1 && known().contains(&o.0)).then_some(o.0)
}

fn finder(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("lancehead.extending")?.getattr("find")
}

fn types_of<'py>(py: Python<'py>, types: &[Ty]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, types.iter().map(|t| Type::of(py, *t)).collect::<PyResult<Vec<_>>>()?)
}

/// What they say, with a name for it.
pub fn ask(py: Python<'_>, o: ObjId, what: &Overload<'_>) -> PyResult<(String, Overloaded)> {
    let callee = objects::object(py, o);
    let key = if what.function.is_some() { callee } else { what.name.into_pyobject(py)?.into_any() };
    let names = PyTuple::new(py, &what.names)?;
    let args = (key, types_of(py, &what.args)?, types_of(py, &what.literals)?, names, what.is_call, what.on_device);
    let (name, found): (String, Bound<'_, PyAny>) = finder(py)?.call1(args)?.extract()?;
    if found.is_none() {
        return Ok((name, Overloaded::No));
    }
    if found.is_instance_of::<PyBool>() {
        return Ok((name, Overloaded::Method));
    }
    match classify::classify(&found) {
        Object::Func(f) => Ok((name, Overloaded::Function(f))),
        _ => Err(pyo3::exceptions::PyTypeError::new_err("an overload must return a function")),
    }
}

/// The function of such a name.
pub fn named<'py>(o: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    o.py().import("lancehead.extending")?.getattr("named")?.call1((o, name))
}
