//! The user's ufuncs, for rooms below `ufunc`. That room makes them, and registers how they are looked into.

use lh_infer::world::Ufunc;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// How an object is looked into; both answer `None` for what is not one of the user's ufuncs.
pub struct Look {
    /// The dispatcher of the function that it applies.
    pub dispatcher: for<'py> fn(&Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>>,
    /// The ufunc as inference sees it.
    pub facts: fn(&Bound<'_, PyAny>) -> Option<Arc<Ufunc>>,
}

static LOOK: OnceLock<Look> = OnceLock::new();

/// Registers it, once.
pub fn register(look: Look) {
    LOOK.get_or_init(|| look);
}

/// The dispatcher of the function that a ufunc applies.
pub fn dispatcher<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    (LOOK.get()?.dispatcher)(o)
}

/// A ufunc as inference sees it.
pub fn facts(o: &Bound<'_, PyAny>) -> Option<Arc<Ufunc>> {
    (LOOK.get()?.facts)(o)
}
