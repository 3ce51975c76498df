//! Types functions of the library ahead of time, for a wheel.

use crate::compile::compiler::with_compiler;
use crate::host::types::Type;
use crate::host::{library, table};
use lh_driver::Level;
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Types functions for types of arguments, and writes to a file all of the stored library that was typed for them.
/// Functions that cannot be typed are passed over.
#[pyfunction]
pub fn keep_typed(
    py: Python<'_>,
    path: PathBuf,
    programs: Vec<(Bound<'_, PyAny>, Vec<Bound<'_, Type>>)>,
) -> PyResult<()> {
    let Some((made_for, package)) = library::validity(py)? else { return Ok(()) };
    let programs: Vec<(ObjId, Vec<Ty>)> =
        programs.iter().map(|(f, types)| (table::intern(f), types.iter().map(|t| t.get().0).collect())).collect();
    let bytes = with_compiler(py, |compiler, host| {
        for (f, args) in &programs {
            let _ = compiler.result_type(host, *f, args, Options::default());
        }
        Ok(compiler.export_library(host, &made_for, package))
    })?;
    Ok(std::fs::write(path, bytes)?)
}

/// Compiles the units of the library that functions need for types of arguments, for levels of processors, and writes
/// their objects to a file.
#[pyfunction]
pub fn keep_objects(
    py: Python<'_>,
    path: PathBuf,
    programs: Vec<(Bound<'_, PyAny>, Vec<Bound<'_, Type>>)>,
    levels: Vec<String>,
) -> PyResult<()> {
    let programs: Vec<(ObjId, Vec<Ty>)> =
        programs.iter().map(|(f, types)| (table::intern(f), types.iter().map(|t| t.get().0).collect())).collect();
    let levels: Vec<Level> = levels.iter().filter_map(|l| Level::named(l)).collect();
    let bytes = with_compiler(py, |compiler, host| Ok(compiler.export_objects(host, &programs, &levels)))?;
    Ok(std::fs::write(path, bytes)?)
}

/// The levels of processors for which lancehead comes with objects.
#[pyfunction]
pub fn shipped_levels() -> Vec<&'static str> {
    lh_driver::SHIPPED_LEVELS.to_vec()
}
