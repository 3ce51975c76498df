//! Exception classes and their numbers in compiled code.

use crate::host::table;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::{ExcId, ObjId};
use lh_runtime::classes;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::{LazyLock, Mutex};

/// The module of our one class that is numbered like the builtin ones.
const OURS: &str = "lancehead.errors";

/// Python classes of numbers beyond the builtin ones.
static REGISTERED: Mutex<Vec<(ExcId, ObjId)>> = Mutex::new(Vec::new());

/// The others, by their numbers.
static BUILTIN: LazyLock<Mutex<HashMap<ExcId, Py<PyAny>>>> = LazyLock::new(Default::default);

/// The number of an exception class, registered with its bases when it is new.
pub fn class_id(class: &Bound<'_, PyType>) -> PyResult<ExcId> {
    let name = class.name()?.to_string();
    if class.module().is_ok_and(|m| m.to_str().is_ok_and(|m| m == "builtins" || m == OURS))
        && let Some(id) = classes::builtin(&name)
    {
        return Ok(id);
    }
    let object = table::intern(class.as_any());
    let known = |object| lock(&REGISTERED).iter().find(|(_, o)| *o == object).map(|(id, _)| *id);
    if let Some(id) = known(object) {
        return Ok(id);
    }
    let mut bases = Vec::new();
    for base in class.bases().iter() {
        let base = base.cast_into::<PyType>()?;
        if base.is_subclass_of::<pyo3::exceptions::PyBaseException>()? {
            bases.push(class_id(&base)?);
        }
    }
    let id = classes::register_class(&name, &bases);
    lock(&REGISTERED).push((id, object));
    Ok(id)
}

/// The object of a class that is not one of Python's.
pub fn registered(id: ExcId) -> Option<ObjId> {
    lock(&REGISTERED).iter().find(|(i, _)| *i == id).map(|(_, o)| *o)
}

/// The Python class of a number.
pub fn class_object(py: Python<'_>, id: ExcId) -> PyResult<Bound<'_, PyAny>> {
    if let Some(class) = lock(&BUILTIN).get(&id) {
        return Ok(class.bind(py).clone());
    }
    if let Some(o) = registered(id) {
        return Ok(table::object(py, o));
    }
    let module = if id == classes::PARALLEL_RACE_ERROR { OURS } else { "builtins" };
    let class = py.import(module)?.getattr(classes::class_name(id).as_str())?;
    lock(&BUILTIN).insert(id, class.clone().unbind());
    Ok(class)
}
