//! The definitions behind ufuncs, and ufuncs as inference sees them.

use crate::host::table;
use crate::host::ufuncs::Look;
use crate::ufunc::definition::{Definition, Keeper};
use crate::ufunc::dufunc::{DUFunc, pickled, signature_of};
use crate::ufunc::numpy_api::{self, Identity};
use lh_infer::world::{CoreDims, Ufunc};
use lh_ir::Ty;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::Arc;

/// The functions by which lower rooms look into ufuncs.
pub const LOOK: Look = Look { dispatcher: |o| definition(o).map(|(d, _)| d.dispatcher.bind(o.py()).clone()), facts };

/// The definition behind a ufunc, and whether the ufunc still compiles loops.
fn definition(o: &Bound<'_, PyAny>) -> Option<(Arc<Definition>, bool)> {
    if let Ok(d) = o.cast::<DUFunc>() {
        return Some((d.get().definition().clone(), d.get().grows()));
    }
    let keeper = numpy_api::keeper(o)?;
    Some((keeper.cast::<Keeper>().ok()?.get().definition.clone(), false))
}

/// A ufunc as inference sees it; `None` for what is not one of the user's.
fn facts(o: &Bound<'_, PyAny>) -> Option<Arc<Ufunc>> {
    let (definition, grows) = definition(o)?;
    let func = table::function(table::intern(definition.dispatcher.bind(o.py())));
    let loops: Vec<Vec<Ty>> = definition.loops().iter().map(|l| l.declared.clone()).collect();
    let layout = definition.layout.as_ref().map(|l| CoreDims {
        text: l.text.to_string_lossy().into_owned(),
        sizes: l.names.iter().map(|n| n.parse().unwrap_or(-1)).collect(),
        operands: l.operands().cloned().collect(),
    });
    let nout = match &definition.layout {
        Some(l) => Some(l.outputs.len()),
        None => loops.first().map(|l| l.len() - definition.nin),
    };
    Some(Arc::new(Ufunc {
        name: definition.name.to_string_lossy().into_owned(),
        func,
        nin: definition.nin,
        nout,
        loops,
        grows,
        identity: match definition.identity {
            Identity::Zero => Some(0),
            Identity::One => Some(1),
            Identity::None | Identity::Reorderable => None,
        },
        writable: definition.writable.clone(),
        layout,
    }))
}

/// The parts that a ufunc was made from, for pickling and inspection; `None` for others' ufuncs.
#[pyfunction]
pub fn ufunc_parts<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = ufunc.py();
    let Some((definition, grows)) = definition(ufunc) else { return Ok(None) };
    let all = PyList::empty(py);
    for l in definition.loops() {
        all.append(Bound::new(py, signature_of(&definition, &l.declared))?)?;
    }
    pickled(py, &definition, all, grows).map(Some)
}
