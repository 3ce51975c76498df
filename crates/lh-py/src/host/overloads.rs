//! Functions, methods and attributes that `lancehead.extending` gives a meaning in compiled code.

use crate::host::types::Type;
use crate::host::{classify, table};
use crate::object::lock::lock;
use hashbrown::HashSet;
use lh_infer::world::Object;
use lh_infer::{Overload, Overloaded};
use lh_ir::{ObjId, Ty, TyKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyTuple};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

/// The names of attributes that stand for an overload begin with this.
pub const PREFIX: &str = "<overload> ";

/// Stands for all names of attributes.
pub const ANY: &str = "*";

/// Functions, and names of methods and attributes, that have overloads.
static KNOWN: LazyLock<Mutex<HashSet<ObjId>>> = LazyLock::new(Default::default);

/// Whether one of them may be called by functions of the library.
static IN_LIBRARY: AtomicBool = AtomicBool::new(false);

/// Lets the compiler ask for overloads of a function, or of a method or attribute by its name.
#[pyfunction]
pub fn overloaded(what: &Bound<'_, PyAny>) {
    let id = table::keep(what);
    lock(&KNOWN).insert(id);
    if !is_bar(what) {
        IN_LIBRARY.store(true, Ordering::Relaxed);
    }
}

/// Whether there are overloads that functions of the library may call.
pub fn are_known() -> bool {
    IN_LIBRARY.load(Ordering::Relaxed)
}

/// Whether an object is `lancehead.progress` or tqdm's.
fn is_bar(o: &Bound<'_, PyAny>) -> bool {
    let module = o.getattr("__module__").and_then(|m| m.extract::<String>());
    module.is_ok_and(|m| m == "lancehead.bars" || m.split('.').next() == Some("tqdm"))
}

/// Lets compiled code draw the bars of tqdm: their overloads are registered when the first one is met.
fn serve_bars(py: Python<'_>, o: ObjId) {
    let callee = table::object(py, o);
    if !lock(&KNOWN).contains(&o) && is_bar(&callee) {
        // Where it fails, the call is refused as that of any object.
        let bars = py.import("lancehead.bars");
        let _ = bars.and_then(|m| m.getattr("serve")).and_then(|serve| serve.call1((callee,)));
    }
}

/// The object that overloads are registered for, if there are any.
pub fn registered(py: Python<'_>, what: &Overload<'_>) -> Option<ObjId> {
    if let Some(TyKind::Obj(o)) = what.function.map(|t| t.kind()) {
        serve_bars(py, *o);
    }
    if lock(&KNOWN).is_empty() {
        return None;
    }
    let Some(callee) = what.function else {
        // The module stands for all names; the attribute's name carries the one that is meant.
        let is_known = |name: &str| {
            let name = name.into_pyobject(py).ok().map(pyo3::Bound::into_any);
            name.and_then(|n| table::find(&n)).is_some_and(|o| lock(&KNOWN).contains(&o))
        };
        let has_any = what.args.first().is_some_and(|t| t.extension().is_some());
        let is_known = is_known(what.name) || has_any && is_known(ANY);
        return is_known.then(|| finder(py).ok()).flatten().map(|f| table::intern(&f));
    };
    let o = match callee.kind() {
        TyKind::Func(f) => table::function_object(*f),
        TyKind::Obj(o) => (*o, true),
        TyKind::DType(t) => (table::find(&class_of_number(py, *t)?)?, true),
        _ => return None,
    };
    (o.1 && lock(&KNOWN).contains(&o.0)).then_some(o.0)
}

/// The class of Python that numbers of a type are made by.
fn class_of_number(py: Python<'_>, t: Ty) -> Option<Bound<'_, PyAny>> {
    let class = match t.kind() {
        TyKind::Bool => py.get_type::<PyBool>(),
        _ if t == Ty::int() => py.get_type::<PyInt>(),
        _ if t == Ty::float() => py.get_type::<PyFloat>(),
        _ if t == Ty::complex() => py.get_type::<PyComplex>(),
        _ => return None,
    };
    Some(class.into_any())
}

fn finder(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("lancehead.extending")?.getattr("find")
}

fn types_of<'py>(py: Python<'py>, types: &[Ty]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, types.iter().map(|t| Type::of(py, *t)).collect::<PyResult<Vec<_>>>()?)
}

/// The answer of the overloads, with a name for it.
pub fn ask(py: Python<'_>, o: ObjId, what: &Overload<'_>) -> PyResult<(String, Overloaded)> {
    let callee = table::object(py, o);
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
        Object::Tuple(parts, _) => {
            let (init, ty): (Bound<'_, PyAny>, PyRef<'_, Type>) = found.extract()?;
            let Object::Func(init) = classify::classify(&init) else { lh_ir::bug!("{parts:?} construct nothing") };
            Ok((name, Overloaded::Constructor { ty: ty.0, init, object: table::intern(&found) }))
        }
        _ => Err(PyTypeError::new_err("an overload must return a function")),
    }
}

/// Whether an exception says that no overload is for the types.
pub fn says_none_fits(e: &PyErr, py: Python<'_>) -> bool {
    let errors = py.import("lancehead.errors").and_then(|m| m.getattr("NumbaError"));
    e.is_instance_of::<PyTypeError>(py) || errors.is_ok_and(|class| e.value(py).is_instance(&class).unwrap_or(false))
}

/// The function around another one that converts its result as the program says; `None` if it says nothing.
pub fn returning(py: Python<'_>, f: ObjId, of: Ty, to: Ty) -> PyResult<Option<ObjId>> {
    let module = py.import("lancehead.lowlevel.implicit")?;
    let types = (table::object(py, f), Type::of(py, of)?, Type::of(py, to)?);
    let found = module.getattr("returning")?.call1(types)?;
    Ok((!found.is_none()).then(|| table::intern(&found)))
}

/// The function that stands for a method of a class, from `overload_classmethod`; `None` if there is none.
pub fn class_method<'py>(class: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !are_known() {
        return Ok(None);
    }
    let found = class.py().import("lancehead.extending")?.getattr("class_method")?.call1((class, name))?;
    Ok((!found.is_none()).then_some(found))
}

/// The function that such an attribute stands for.
pub fn named<'py>(o: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    o.py().import("lancehead.extending")?.getattr("named")?.call1((o, name))
}
