//! Exceptions and warnings of `lancehead.errors`, by name.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// A class of `lancehead.errors` with a message.
pub fn error_of(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let made = py.import("lancehead.errors").and_then(|m| m.getattr(class)).and_then(|c| c.call1((message,)));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(_) => PyRuntimeError::new_err(message.to_owned()),
    }
}

/// Gives a warning of a class of `lancehead.errors`; an error if the user has made it one.
pub fn warn(py: Python<'_>, class: &str, message: &str) -> PyResult<()> {
    let class = py.import("lancehead.errors")?.getattr(class)?;
    py.import("lancehead.notices")?.call_method1("tell", (message, class)).map(|_| ())
}
