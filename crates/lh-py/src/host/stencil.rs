//! Stencils as inference sees them: instances of `lancehead.stencils.StencilFunc`.

use crate::host::{parts, table};
use lh_infer::world::Stencil;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// A stencil's parts; `None` for other objects.
pub fn object(o: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Stencil>>> {
    if !parts::is_stencil(o) {
        return Ok(None);
    }
    let py = o.py();
    let kernel = o.getattr(intern!(py, "kernel"))?;
    let cval = o.getattr(intern!(py, "cval"))?;
    Ok(Some(Arc::new(Stencil {
        name: kernel.getattr(intern!(py, "__name__"))?.extract()?,
        func: table::function(table::intern(&kernel)),
        neighborhood: o.getattr(intern!(py, "neighborhood"))?.extract()?,
        standard: o.getattr(intern!(py, "standard_indexing"))?.extract()?,
        cval: if cval.is_none() { None } else { Some(table::intern(&cval)) },
        shifts: o.getattr(intern!(py, "index_offsets"))?.extract()?,
    })))
}
