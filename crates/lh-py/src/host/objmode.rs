//! Functions with blocks of `objmode`: they are compiled in another form, in which the blocks are calls
//! (`lancehead/objectmode.py`).

use crate::object::class_names;
use crate::object::lock::lock;
use hashbrown::HashMap;
use pyo3::prelude::*;
use std::sync::{LazyLock, Mutex};

/// The functions and their other forms, by their addresses.
type Forms = HashMap<usize, (Py<PyAny>, Py<PyAny>)>;
static FORMS: LazyLock<Mutex<Forms>> = LazyLock::new(Default::default);

/// A function as it is compiled.
pub fn as_compiled(function: Bound<'_, PyAny>) -> Bound<'_, PyAny> {
    let py = function.py();
    let form = lock(&FORMS).get(&function.as_ptr().addr()).map(|(_, form)| form.clone_ref(py));
    form.map_or(function, |form| form.into_bound(py))
}

/// Whether an object is the function of a block.
pub fn is_block(o: &Bound<'_, PyAny>) -> bool {
    class_names::is_a(o, "lancehead.objectmode", "Site")
}

/// Makes the other form of a function if it has such blocks.
///
/// # Errors
/// A block does what it cannot.
pub fn rewrite(function: &Bound<'_, PyAny>) -> PyResult<()> {
    let modules = function.py().import("sys")?.getattr("modules")?;
    let Ok(module) = modules.get_item("lancehead.objectmode") else { return Ok(()) };
    let made = module.call_method1("rewritten", (function,))?;
    if !made.is_none() {
        lock(&FORMS).insert(function.as_ptr().addr(), (function.clone().unbind(), made.unbind()));
    }
    Ok(())
}
