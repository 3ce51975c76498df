//! Functions with blocks of `objmode`: they are compiled in another form, in which the blocks are calls
//! (`lancehead/objectmode.py`).

use crate::object::class_names;
use crate::object::lock::lock;
use hashbrown::HashMap;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::sync::{LazyLock, Mutex};

/// A function that was looked at, its code at that time, and its other form if it has blocks.
struct Seen {
    _function: Py<PyAny>,
    code: Py<PyAny>,
    form: Option<Py<PyAny>>,
}

/// By the addresses of the functions, which are kept alive.
static SEEN: LazyLock<Mutex<HashMap<usize, Seen>>> = LazyLock::new(Default::default);

/// A function as it is compiled: another one if it has blocks.
///
/// # Errors
/// A block does what it cannot.
pub fn as_compiled(function: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = function.py();
    if !is_imported(py) {
        return Ok(function);
    }
    let code = function.getattr(intern!(py, "__code__"))?;
    let known = lock(&SEEN).get(&function.as_ptr().addr()).filter(|s| s.code.is(&code)).map(|s| s.form.clone_ref(py));
    let form = match known {
        Some(form) => form,
        None => see(&function, code)?,
    };
    Ok(form.map_or(function, |form| form.into_bound(py)))
}

/// Whether a program has named the module, without which no function has blocks.
fn is_imported(py: Python<'_>) -> bool {
    let modules = py.import("sys").and_then(|sys| sys.getattr("modules"));
    modules.is_ok_and(|m| m.contains("lancehead.objectmode").unwrap_or(false))
}

fn see(function: &Bound<'_, PyAny>, code: Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    let py = function.py();
    let made = py.import("lancehead.objectmode")?.call_method1("rewritten", (function,))?;
    let form = (!made.is_none()).then(|| made.unbind());
    let seen = Seen { _function: function.clone().unbind(), code: code.unbind(), form: form.clone_ref(py) };
    // The replaced one is dropped when the lock is free, since that may run code.
    let old = lock(&SEEN).insert(function.as_ptr().addr(), seen);
    drop(old);
    Ok(form)
}

trait CloneRef {
    fn clone_ref(&self, py: Python<'_>) -> Self;
}

impl CloneRef for Option<Py<PyAny>> {
    fn clone_ref(&self, py: Python<'_>) -> Self {
        self.as_ref().map(|o| o.clone_ref(py))
    }
}

/// Whether an object is the function of a block.
pub fn is_block(o: &Bound<'_, PyAny>) -> bool {
    class_names::is_a(o, "lancehead.objectmode", "Site")
}

/// The address of the Python function of a block, which the block keeps alive.
pub fn function_of_block(o: &Bound<'_, PyAny>) -> Option<usize> {
    if !is_block(o) {
        return None;
    }
    let body = o.getattr(intern!(o.py(), "body")).ok()?;
    let address: *mut ffi::PyObject = body.as_ptr();
    Some(address.expose_provenance())
}
