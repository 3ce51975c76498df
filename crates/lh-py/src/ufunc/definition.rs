//! Definitions of ufuncs: a scalar function (or, with a layout, one of arrays) and the loops compiled for it so far.
//! NumPy's object is immutable: each new loop makes a new one, so that others' references go on working.

use crate::host::decorated;
use crate::object::lock::lock;
use crate::object::numpy;
use crate::ufunc::inner_loop::{self, Loop};
use crate::ufunc::layout::Layout;
use crate::ufunc::numpy_api::{self, Identity, InnerLoop, Tables};
use lh_ir::Ty;
use lh_ir::func::Options;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{CString, c_char};
use std::sync::{Arc, Mutex, MutexGuard};

/// A loop with the operand types that it is for: inputs, then outputs.
pub struct Typed {
    /// Types as given by the signature: arrays for operands with core dimensions.
    pub declared: Vec<Ty>,
    /// Element types of all operands.
    pub elements: Vec<Ty>,
    /// The code.
    pub code: Arc<Loop>,
}

/// The parts that a ufunc is made from.
pub struct Definition {
    /// A dispatcher of the user's function.
    pub dispatcher: Py<PyAny>,
    /// Its options.
    pub options: Options,
    /// Core dimensions, of a generalised ufunc.
    pub layout: Option<Layout>,
    /// Number of inputs.
    pub nin: usize,
    /// Inputs that are written to as well.
    pub writable: Vec<usize>,
    /// Whether the elements of a loop are shared out to the thread pool.
    pub parallel: bool,
    /// Identity of reductions.
    pub identity: Identity,
    /// Its name.
    pub name: CString,
    /// Its documentation.
    pub doc: CString,
    /// The loops.
    pub loops: Mutex<Vec<Arc<Typed>>>,
}

impl Definition {
    /// The loops, in the order in which they were added.
    pub fn loops(&self) -> Vec<Arc<Typed>> {
        self.lock().clone()
    }
    /// The list of loops, to add one.
    pub fn lock(&self) -> MutexGuard<'_, Vec<Arc<Typed>>> {
        lock(&self.loops)
    }
}

/// Keeps the tables of a ufunc alive, and leads back from it to its definition.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Keeper {
    /// The definition.
    pub definition: Arc<Definition>,
    tables: Tables,
    _loops: Vec<Arc<Typed>>,
}

// SAFETY: the pointers in the tables lead to loops, which are shared between threads and never change.
unsafe impl Send for Keeper {}
// SAFETY: as above.
unsafe impl Sync for Keeper {}

/// Makes a `numpy.ufunc` with the present loops.
pub fn snapshot<'py>(py: Python<'py>, definition: &Arc<Definition>) -> PyResult<Bound<'py, PyAny>> {
    let loops = definition.loops();
    let nout = match (&definition.layout, loops.first()) {
        (Some(l), _) => l.outputs.len(),
        (None, Some(first)) => first.elements.len() - definition.nin,
        (None, None) => 1,
    };
    let number = |t: &Ty| numpy::num_of_ty(*t).or_else(|| numpy::num_of_text(*t)).unwrap_or(0) as c_char;
    let tables = Tables {
        name: definition.name.clone(),
        doc: definition.doc.clone(),
        functions: vec![inner_loop::run as InnerLoop; loops.len()],
        data: loops.iter().map(|l| Arc::as_ptr(&l.code).cast_mut().cast()).collect(),
        types: loops.iter().flat_map(|l| l.elements.iter().map(number)).collect(),
        layout: definition.layout.as_ref().map(|l| l.text.clone()),
    };
    let keeper = Bound::new(py, Keeper { definition: definition.clone(), tables, _loops: loops })?;
    let arity = (definition.nin, nout);
    let made = numpy_api::create(py, &keeper.get().tables, arity, definition.identity, keeper.clone().into_any())?;
    numpy_api::make_writable(&made, &definition.writable);
    if definition.layout.is_some() {
        numpy_api::keep_outputs(&made);
    }
    let func = decorated::py_func(definition.dispatcher.bind(py));
    if let Some(func) = func {
        let attributes = PyDict::new(py);
        for name in ["__module__", "__qualname__", "__wrapped__"] {
            let value = if name == "__wrapped__" { func.clone() } else { func.getattr(name)? };
            attributes.set_item(name, value)?;
        }
        numpy_api::set_attributes(&made, &attributes);
    }
    Ok(made)
}
