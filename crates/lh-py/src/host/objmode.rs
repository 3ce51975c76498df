//! Functions with blocks of `objmode`: they are compiled in another form, in which the blocks are calls
//! (`lancehead/objectmode.py`).

use crate::object::by_code::{self, ByCode};
use crate::object::class_names;
use crate::object::lock::lock;
use pyo3::prelude::*;
use pyo3::{ffi, intern};
use std::sync::{LazyLock, Mutex};

/// The code of a function when it was looked at, and its other form if it has blocks.
struct Seen {
    code: Py<PyAny>,
    form: Option<Py<PyAny>>,
}

/// By the functions, as long as these live.
static SEEN: LazyLock<Mutex<ByCode<Seen>>> = LazyLock::new(Default::default);

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
    let known = lock(&SEEN).get_mut(&function).filter(|s| s.code.is(&code)).map(|s| s.form.clone_ref(py));
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
    by_code::insert(&SEEN, function, Seen { code: code.unbind(), form: form.clone_ref(py) })?;
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
