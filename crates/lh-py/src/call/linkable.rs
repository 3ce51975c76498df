//! Compiled code for C: objects for libraries that are made ahead of time, and addresses of C functions.

use crate::call::state;
use crate::host::{decorated, parts, table, types};
use crate::object::canonical::canonical;
use crate::object::class_names::short_text;
use lh_driver::Level;
use lh_ir::func::Extern;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Makes an object file of a function with one signature; the entry stub is named `symbol`. Returns it with the
/// symbols that it needs: arrays, exception classes and names of source files, and with the arguments whose memory it
/// may write.
#[pyfunction]
#[pyo3(signature = (function, symbol, level=None))]
pub fn linkable<'py>(function: &Bound<'py, PyAny>, symbol: &str, level: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
    let py = function.py();
    let Some(d) = state::of(function) else {
        return Err(PyTypeError::new_err("a compiled function was expected"));
    };
    let Some(overload) = d.state().current().into_iter().next() else {
        return Err(PyTypeError::new_err("the function has no signature"));
    };
    let level = match level {
        Some(name) => Some(Level::named(name).ok_or_else(|| {
            PyValueError::new_err(format!("{name:?} is not a level of x86-64: x86-64, x86-64-v2, x86-64-v3, x86-64-v4"))
        })?),
        None => None,
    };
    let compiled = overload.compiled.clone();
    let mut object = Vec::new();
    py.detach(|| object = compiled.linkable(symbol, level));
    let made = PyDict::new(py);
    made.set_item("object", PyBytes::new(py, &object))?;
    made.set_item("args", types::type_tuple(py, &compiled.args)?)?;
    made.set_item("ret", types::Type::of(py, canonical(compiled.ret))?)?;
    made.set_item("writes", compiled.writes)?;
    let (mut foreign, mut cached) = (Vec::new(), Vec::new());
    let (arrays, classes, sources) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for (word, symbol) in compiled.outside_words(symbol) {
        match word {
            Extern::Array(o) => arrays.set_item(symbol, table::object(py, o))?,
            Extern::Class(c) => classes.set_item(symbol, lh_runtime::classes::class_name(c))?,
            Extern::Foreign(o) => {
                let object = table::object(py, o);
                if parts::is_cached(&object) { &mut cached } else { &mut foreign }.push(short_text(&object));
            }
            // Only calls of blocks have one, which are foreign.
            Extern::Type(_) => {}
            Extern::Function(o) => foreign.push(short_text(&table::object(py, o))),
        }
    }
    for (func, symbol) in compiled.outside_files(symbol) {
        let (object, _) = table::function_object(func);
        let code = decorated::py_func(&table::object(py, object)).unwrap_or(table::object(py, object));
        sources.set_item(symbol, code.getattr("__code__")?.getattr("co_filename")?)?;
    }
    made.set_item("arrays", arrays)?;
    made.set_item("classes", classes)?;
    made.set_item("foreign", foreign)?;
    made.set_item("cached", cached)?;
    made.set_item("files", sources)?;
    Ok(made)
}

/// The address of the C function of a dispatcher with one signature.
#[pyfunction]
pub fn callback_address(function: &Bound<'_, PyAny>) -> PyResult<usize> {
    // Whoever has the address may call it at any time.
    table::keep(function);
    let found = state::of(function).and_then(|d| d.state().current().first()?.compiled.callback);
    found.ok_or_else(|| PyTypeError::new_err("it is no C function"))
}
