//! Functions that run in the interpreter because the decorator says so: `jit(forceobj=True)`. Their dispatchers call
//! the Python function; of each call they note the types, which programs ask for as those of compiled functions.

use crate::call::args::ArgBuf;
use crate::call::state::{DispatcherObject, State};
use crate::call::vectorcall::{self, guarded};
use crate::object::array;
use lh_ir::func::Semantics;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{ffi, intern};

/// `tp_vectorcall` of such dispatchers.
pub unsafe extern "C" fn call(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this with a dispatcher, attached, and with arguments that outlive the call.
    unsafe {
        let py = Python::assume_attached();
        let state = (*callable.cast::<DispatcherObject>()).state();
        let object = Bound::from_borrowed_ptr(py, callable);
        let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
        if guarded(py, || note(&object, state, args, n, kwnames)).is_none() {
            return std::ptr::null_mut();
        }
        ffi::PyObject_Vectorcall(state.func.as_ptr(), args, nargsf, kwnames)
    }
}

/// Notes the types of the arguments if no call had arguments of these classes. Arguments that do not bind are left to
/// the function, which refuses them.
///
/// # Safety
/// The arguments of a call, which are alive.
unsafe fn note(
    object: &Bound<'_, PyAny>,
    state: &State,
    args: *const *mut ffi::PyObject,
    n: usize,
    kwnames: *mut ffi::PyObject,
) -> PyResult<()> {
    let py = object.py();
    // SAFETY: as promised.
    let bound = match unsafe { vectorcall::bound_to(py, state, args, n, kwnames) } {
        Ok(bound) => bound,
        // The interpreter refuses them itself.
        Err(_) if state.options().ir.semantics == Semantics::Python => return Ok(()),
        Err(e) => return Err(e),
    };
    // SAFETY: bound arguments are alive as long as what bound them.
    let bound_args: Vec<Bound<'_, PyAny>> =
        (0..bound.len()).map(|i| unsafe { Bound::from_borrowed_ptr(py, *bound.as_ptr().add(i)) }).collect();
    let mut buf = ArgBuf::default();
    for arg in &bound_args {
        // Arrays of one class have several types.
        // SAFETY: the argument is alive.
        if !array::is_array(arg) || unsafe { buf.push(arg.as_ptr()) }.is_err() {
            buf.tags.push(arg.get_type_ptr().addr() as u64);
        }
    }
    if !state.known().noted.insert(buf.tags.to_vec()) {
        return Ok(());
    }
    let types = py.import("lancehead.interpreted")?;
    types.call_method1(intern!(py, "note"), (object, PyTuple::new(py, bound_args)?)).map(drop)
}

/// The answer of `lancehead.interpreted` for such a dispatcher; `None` for those that compile.
///
/// # Errors
/// Those that it raises.
pub fn ask<'py>(
    object: &Bound<'py, PyAny>,
    state: &State,
    question: &str,
    given: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !state.options().interpreted {
        return Ok(None);
    }
    let module = object.py().import("lancehead.interpreted")?;
    match given {
        Some(given) => module.call_method1(question, (object, given)),
        None => module.call_method1(question, (object,)),
    }
    .map(Some)
}
