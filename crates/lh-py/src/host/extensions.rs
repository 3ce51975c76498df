//! Types that programs define with `lancehead.extending`, and the objects that have them. `lancehead/lowlevel/` keeps
//! what programs register.

use crate::host::classify;
use crate::host::types::{Type, as_ty};
use lh_infer::world::Object;
use lh_ir::{Ty, TyKind};
use pyo3::intern;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How values of such types are taken out of objects, and put into objects.
pub struct Exchange {
    /// The words of an object of a type, with references of their own.
    pub words: fn(&Bound<'_, PyAny>, Ty) -> PyResult<Vec<u64>>,
    /// The object for the words of a value, whose references the caller keeps.
    pub object: for<'py> fn(Python<'py>, Ty, &[u64]) -> PyResult<Bound<'py, PyAny>>,
}

static EXCHANGE: OnceLock<Exchange> = OnceLock::new();

/// Registers how, once: compiled code does it, for which `call` is responsible.
pub fn register(exchange: Exchange) {
    EXCHANGE.get_or_init(|| exchange);
}

/// How values are taken out of objects, and put into objects.
pub fn exchange() -> &'static Exchange {
    EXCHANGE.get().unwrap_or_else(|| lh_ir::bug!("nothing exchanges values of types of programs"))
}

/// Whether a program has said of which type objects of a class are.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Whether packages that extend Numba have yet to register what they have.
static ARE_PENDING: AtomicBool = AtomicBool::new(false);

/// Has packages that extend Numba register what they have before anything else is typed or compiled.
#[pyfunction]
pub fn extensions_pending() {
    ARE_PENDING.store(true, Ordering::Relaxed);
}

thread_local! {
    /// Whether packages are not to be loaded now: one that is being imported may ask for the type of an object.
    static ONLY_TYPES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function without letting packages register.
pub fn without_loading<T>(run: impl FnOnce() -> T) -> T {
    let before = ONLY_TYPES.replace(true);
    let made = run();
    ONLY_TYPES.set(before);
    made
}

/// Lets packages that extend Numba register what they have, if they have not yet.
pub fn load(py: Python<'_>) -> PyResult<()> {
    if ARE_PENDING.load(Ordering::Relaxed) && !ONLY_TYPES.get() && ARE_PENDING.swap(false, Ordering::Relaxed) {
        py.import(intern!(py, "lancehead.entrypoints"))?.call_method0(intern!(py, "init_all"))?;
    }
    Ok(())
}

/// How often programs have registered something for objects.
static REGISTRATIONS: AtomicU64 = AtomicU64::new(0);

/// Lets calls ask for the types of objects that have no native form, and for the functions that box and unbox.
#[pyfunction]
pub fn extensions_known() {
    ARE_KNOWN.store(true, Ordering::Relaxed);
    REGISTRATIONS.fetch_add(1, Ordering::Relaxed);
}

/// A number that changes when programs register something for objects.
pub fn registrations() -> u64 {
    REGISTRATIONS.load(Ordering::Relaxed)
}

/// A new type, whose name and model are said later.
#[pyfunction]
pub fn extension_type(py: Python<'_>) -> PyResult<Py<Type>> {
    Py::new(py, Type(Ty::new_extension()))
}

/// Gives a new type its name.
#[pyfunction]
pub fn name_extension(ty: &Type, name: &str) {
    ty.0.set_extension_name(name);
}

/// Says of which type the values of a type of the program consist.
#[pyfunction]
pub fn model_extension(ty: &Bound<'_, Type>, model: &Bound<'_, PyAny>) -> PyResult<()> {
    let model = as_ty(model)?;
    Type::represents(ty, ty.get().0.set_model(model));
    Ok(())
}

/// Bytes and alignment of values of a type in memory.
#[pyfunction]
pub fn size_of_type(of: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
    let (_, size, align) = as_ty(of)?.mem_layout();
    Ok((size, align))
}

/// The type of owners of memory, and the address of the table by which C code manages such.
#[pyfunction]
pub fn owner_type(py: Python<'_>) -> PyResult<(Py<Type>, usize)> {
    Ok((Type::of(py, Ty::meminfo())?, (&raw const lh_runtime::nrt_api::API).expose_provenance()))
}

/// The type of an object that a program has registered.
pub fn type_of(o: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    load(o.py())?;
    registered(o)
}

/// Whether a program has registered types by now.
pub fn are_known() -> bool {
    ARE_KNOWN.load(Ordering::Relaxed)
}

/// The type of an object that a program has registered by now.
pub fn registered(o: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = o.py();
    if !are_known() {
        return Ok(None);
    }
    let found = py.import(intern!(py, "lancehead.lowlevel.boxing"))?.getattr("registered")?.call1((o,))?;
    if found.is_none() {
        return Ok(None);
    }
    as_ty(&found).map(Some)
}

/// An object of a type of the program, which compiled code reads as a constant: the function that makes its value.
pub fn constant(o: &Bound<'_, PyAny>) -> PyResult<Option<Object>> {
    let Some(ty) = type_of(o)? else { return Ok(None) };
    if !matches!(ty.kind(), TyKind::Extension { .. }) {
        return Ok(None);
    }
    let py = o.py();
    let made =
        py.import(intern!(py, "lancehead.lowlevel.boxing"))?.getattr("constant")?.call1((Type::of(py, ty)?, o))?;
    match classify::classify(&made) {
        Object::Func(f) => Ok(Some(Object::Extension(f))),
        _ => Ok(None),
    }
}
