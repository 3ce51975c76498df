//! Warnings of parallel loops that run in order, because their iterations depend on each other or may do so.

use crate::object::attach::attach;
use crate::object::errors;
use crate::runtime::{raise, render};
use lh_driver::Compiled;
use lh_ir::diag::Diagnostic;
use lh_ir::{Span, diag};
use lh_runtime::Text;
use lh_runtime::exception::set_pending;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;

const HEADLINE: &str = "this parallel loop runs in order: its iterations may meet in this call";
const VOUCH: &str = "use arrays that do not overlap, or say `parallel={\"unsafe\": True}`";

/// Installs the warning of compiled code in the run-time library.
pub fn install() {
    lh_runtime::pool::set_warner(found);
}

/// Tells the user once of all such loops of a compiled function, whether it comes from the compiler or from the cache.
pub fn tell(py: Python<'_>, compiled: &Compiled) -> PyResult<()> {
    if compiled.told.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let told = compiled.races().iter().try_for_each(|race| warn(py, race));
    // Where the warning is an error, the next call raises it again.
    compiled.told.store(told.is_ok(), Ordering::Relaxed);
    told
}

fn warn(py: Python<'_>, race: &Diagnostic) -> PyResult<()> {
    let text = render::text(py, race).replacen("error[", "warning[", 1);
    errors::warn(py, "ParallelRaceWarning", &text)
}

/// A test before a loop has found that its iterations meet: tells the user of the place.
fn found(file: &Text, span: i64, what: &Text) -> Result<(), ()> {
    let told = what.lossy();
    let (what, way) = told.split_once('\n').unwrap_or((&told, ""));
    let race = Diagnostic::new(diag::PARALLEL_RACE, HEADLINE).label(what).at(&file.lossy(), Span::unpacked(span));
    let race = race.note(if way.is_empty() { VOUCH } else { way });
    attach(|py| warn(py, &race).map_err(|error| set_pending(raise::pending(py, error))))
}
