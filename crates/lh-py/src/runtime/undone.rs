//! Warnings of passes that have been undone, because they left a function that does not verify.

use crate::object::errors;
use crate::runtime::render;
use lh_ir::diag::Diagnostic;
use pyo3::prelude::*;
use std::fs::OpenOptions;
use std::io::Write;

/// Tells the user of each, and the tests: they name a file by `LANCEHEAD_UNDONE`, which has to be empty at their end.
pub fn tell(py: Python<'_>, warnings: &[Diagnostic]) -> PyResult<()> {
    for warning in warnings {
        let text = render::text(py, warning).replacen("error[", "warning[", 1);
        if let Some(path) = std::env::var_os("LANCEHEAD_UNDONE") {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.and_then(|mut f| writeln!(f, "{text}"))?;
        }
        errors::warn(py, "OptimisationWarning", &text)?;
    }
    Ok(())
}
