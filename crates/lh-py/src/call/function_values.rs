//! Calls of function values (`function_words.rs`): they go through the dispatcher of the object.

use crate::call::convert;
use crate::call::function_words::object;
use crate::call::item::Item;
use crate::call::overload::Overload;
use crate::call::specialise;
use crate::call::state;
use crate::host::{decorated, table};
use crate::object::attach::attach;
use crate::object::lock::lock;
use crate::runtime::raise;
use hashbrown::HashMap;
use lh_ir::Ty;
use lh_runtime::exception::set_pending;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyFunction;
use std::sync::{LazyLock, Mutex};

/// Installs the calls in the run-time library.
pub fn install() {
    lh_runtime::python::set_function_caller(call);
}

/// How a function is called with values of some types.
struct Target {
    object: Py<PyAny>,
    /// Specialisations live as long as the state, which lives as long as the table of objects.
    overload: &'static Overload,
    /// Types of the bound arguments, whose words are those of the given tuple.
    natural: Vec<Ty>,
    given: Item,
    results: Item,
}

/// By the word of the function and the number of the types. A target whose dependencies have changed is replaced; calls
/// in progress may use it, so that none is freed.
static TARGETS: LazyLock<Mutex<HashMap<(i64, i64), &'static Target>>> = LazyLock::new(Default::default);

fn call(function: i64, types: i64, ins: *mut Items, outs: *mut Items) -> Result<(), ()> {
    attach(|py| {
        let run = || -> PyResult<bool> {
            let target = target(py, function, types)?;
            // SAFETY: compiled code passes two lists that are alive.
            unsafe { run(target, ins, outs) }
        };
        match run() {
            Ok(true) => Ok(()),
            // The exception is pending already.
            Ok(false) => Err(()),
            Err(error) => {
                set_pending(raise::pending(py, error));
                Err(())
            }
        }
    })
}

fn target(py: Python<'_>, function: i64, types: i64) -> PyResult<&'static Target> {
    let known = lock(&TARGETS).get(&(function, types)).copied();
    if let Some(target) = known.filter(|t| !t.overload.is_stale() && t.overload.guard.is_current(py)) {
        return Ok(target);
    }
    let object = match known {
        Some(target) => target.object.clone_ref(py).into_bound(py),
        None => dispatcher_of(&object(py, function as u64)?)?,
    };
    let Some([given, results]) = Ty::of_number(types as usize).and_then(Ty::tuple_elems) else {
        lh_ir::bug!("a function takes and gives a tuple")
    };
    let Some(state) = state::of(&object).map(state::DispatcherObject::state) else {
        return Err(PyTypeError::new_err("a function value has no dispatcher"));
    };
    let natural = state.params(py)?.of_signature(py, given.tuple_elems().unwrap_or(&[]).to_vec())?;
    let overload = specialise::for_types(py, state, &object, &natural)?;
    // SAFETY: the table of objects keeps the dispatcher, and that its specialisations.
    let overload: &'static Overload = unsafe { &*std::ptr::from_ref(overload) };
    let wanted = results.tuple_elems().unwrap_or(&[])[0];
    if lh_infer::cost(overload.compiled.ret.weak(), wanted.weak()).is_none() {
        let text =
            format!("mismatch of return type: {} returns {}, not {wanted}", object.str()?, overload.compiled.ret);
        return Err(PyTypeError::new_err(text));
    }
    let layout = |ty: Ty| Item::new(ty).ok_or_else(|| PyTypeError::new_err(format!("`{ty}` is too large")));
    let (given, results) = (layout(*given)?, layout(*results)?);
    table::keep(&object);
    let target = Target { object: object.unbind(), overload, natural, given, results };
    let made: &'static Target = Box::leak(Box::new(target));
    lock(&TARGETS).insert((function, types), made);
    Ok(made)
}

/// The dispatcher by which an object is called from compiled code.
fn dispatcher_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if decorated::is_dispatcher(object) {
        return Ok(object.clone());
    }
    if let Some(inner) = decorated::device_function(object)? {
        return Ok(inner);
    }
    let module = object.py().import("lancehead.escaped")?;
    let name = if object.is_exact_instance_of::<PyFunction>() { "compiled" } else { "caller" };
    module.call_method1(name, (object,))
}

/// Runs a target; false if it has raised.
///
/// # Safety
/// The first list has the tuple of arguments.
unsafe fn run(target: &Target, ins: *mut Items, outs: *mut Items) -> PyResult<bool> {
    // SAFETY: as promised; the words are those of the types.
    let (ins, mut outs) = unsafe { (ItemsRef::from_borrowed(ins), ItemsRef::from_borrowed(outs)) };
    // SAFETY: the only item of the list, of the type that the target is given.
    let slots = unsafe { target.given.slots(ins.item(0)) };
    let overload = target.overload;
    let mut args = Vec::new();
    let mut at = &slots[..];
    for (from, to) in target.natural.iter().zip(&overload.compiled.args) {
        convert::slots(*from, *to, &mut at, &mut args);
    }
    let mut ret = vec![0u64; overload.ret_words];
    // SAFETY: the words are those of the specialisation's argument types; the result has room.
    if unsafe { (overload.entry)(args.as_ptr(), ret.as_mut_ptr()) } != 0 {
        return Ok(false);
    }
    let mut made = Vec::new();
    let wanted = target.results.ty.tuple_elems().unwrap_or(&[])[0];
    convert::slots(overload.compiled.ret, wanted, &mut &ret[..], &mut made);
    let at = outs.push().ok_or_else(|| PyMemoryError::new_err(()))?;
    // SAFETY: room for an item of the type.
    unsafe { target.results.write(at, &made) };
    Ok(true)
}
