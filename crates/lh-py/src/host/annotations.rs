//! Types that annotations of functions say.

use crate::host::types::as_ty;
use lh_ir::Ty;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Flag of the code of a function with `yield`.
const GENERATOR: u32 = 0x20;

/// The type of what is sent to a generator, by the annotation of its function's result.
pub fn sent(function: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = function.py();
    let flags: u32 = function.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_flags"))?.extract()?;
    if flags & GENERATOR == 0 {
        return Ok(None);
    }
    let annotations = function.getattr(intern!(py, "__annotations__"))?.cast_into::<PyDict>()?;
    if !annotations.contains(intern!(py, "return"))? {
        return Ok(None);
    }
    let found = py.import(intern!(py, "lancehead.annotations"))?.call_method1(intern!(py, "sent_to"), (function,))?;
    if found.is_none() { Ok(None) } else { as_ty(&found).map(|t| Some(t.weak())) }
}
