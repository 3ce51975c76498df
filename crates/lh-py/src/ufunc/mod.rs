//! Ufuncs made by users: real `numpy.ufunc` objects over compiled inner loops.
//!
//! A [`Definition`] is a scalar function (or, with a layout, one of arrays) and the loops compiled for it so far. NumPy's
//! object is immutable: each new loop makes a new one, so that what others hold goes on working.

mod api;
mod flags;
mod growing;
mod inner;
mod layout;
mod loops;
mod overrides;

pub use growing::{DUFunc, ufunc_parts};
pub use layout::Layout;

use crate::objects;
use api::{Identity, Tables};
use inner::Loop;
use lh_infer::world::{CoreDims, Ufunc};
use lh_ir::Ty;
use lh_ir::func::Options;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CString;
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

/// What a ufunc is made from.
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
    /// Whether loops are shared out to the thread pool.
    pub parallel: bool,
    identity: Identity,
    name: CString,
    doc: CString,
    loops: Mutex<Vec<Arc<Typed>>>,
}

impl Definition {
    /// The loops, in the order in which they were added.
    pub fn loops(&self) -> Vec<Arc<Typed>> {
        self.lock().clone()
    }
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Typed>>> {
        // A push leaves the list whole.
        self.loops.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Keeps the tables of a ufunc alive, and leads from the ufunc back to its definition.
#[pyclass(frozen, module = "lancehead._core")]
pub struct Keeper {
    definition: Arc<Definition>,
    tables: Tables,
    _loops: Vec<Arc<Typed>>,
}

// SAFETY: the pointers in the tables lead to loops, which are shared between threads and never change.
unsafe impl Send for Keeper {}
// SAFETY: as above.
unsafe impl Sync for Keeper {}

/// The definition behind a ufunc, or behind one that grows; `true` if it still does.
pub fn definition(o: &Bound<'_, PyAny>) -> Option<(Arc<Definition>, bool)> {
    if let Ok(d) = o.cast::<DUFunc>() {
        return Some((d.get().definition().clone(), d.get().grows()));
    }
    let keeper = api::keeper(o)?;
    Some((keeper.cast::<Keeper>().ok()?.get().definition.clone(), false))
}

/// A ufunc as inference sees it; `None` for what is not one of the user's.
pub fn object(o: &Bound<'_, PyAny>) -> Option<Arc<Ufunc>> {
    let (definition, grows) = definition(o)?;
    let func = objects::function(objects::intern(definition.dispatcher.bind(o.py())));
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

/// A `numpy.ufunc` with the loops that there are now.
fn snapshot<'py>(py: Python<'py>, definition: &Arc<Definition>) -> PyResult<Bound<'py, PyAny>> {
    let loops = definition.loops();
    let nout = match (&definition.layout, loops.first()) {
        (Some(l), _) => l.outputs.len(),
        (None, Some(first)) => first.elements.len() - definition.nin,
        (None, None) => 1,
    };
    let number = |t: &Ty| crate::np::num_of_ty(*t).unwrap_or(0) as std::ffi::c_char;
    let tables = Tables {
        name: definition.name.clone(),
        doc: definition.doc.clone(),
        functions: vec![inner::run as api::InnerLoop; loops.len()],
        data: loops.iter().map(|l| Arc::as_ptr(&l.code).cast_mut().cast()).collect(),
        types: loops.iter().flat_map(|l| l.elements.iter().map(number)).collect(),
        layout: definition.layout.as_ref().map(|l| l.text.clone()),
    };
    let keeper = Bound::new(py, Keeper { definition: definition.clone(), tables, _loops: loops })?;
    let arity = (definition.nin, nout);
    let made = api::create(py, &keeper.get().tables, arity, definition.identity, keeper.clone().into_any())?;
    api::make_writable(&made, &definition.writable);
    let func = crate::dispatcher::py_func(definition.dispatcher.bind(py));
    if let Some(func) = func {
        let attributes = PyDict::new(py);
        for name in ["__module__", "__qualname__", "__wrapped__"] {
            let value = if name == "__wrapped__" { func.clone() } else { func.getattr(name)? };
            attributes.set_item(name, value)?;
        }
        api::set_attributes(&made, &attributes);
    }
    Ok(made)
}

/// A ufunc that grows: `dispatcher` is a compiled function, `layout` the core dimensions of a generalised ufunc.
#[pyfunction]
#[pyo3(signature = (dispatcher, layout=None, identity=None, parallel=false, writable=Vec::new()))]
pub fn dufunc(
    dispatcher: &Bound<'_, PyAny>,
    layout: Option<&str>,
    identity: Option<&Bound<'_, PyAny>>,
    parallel: bool,
    writable: Vec<usize>,
) -> PyResult<DUFunc> {
    let py = dispatcher.py();
    let Some(func) = crate::dispatcher::py_func(dispatcher) else {
        return Err(PyTypeError::new_err("a ufunc is made from a compiled function"));
    };
    let identity = identity_of(identity)?;
    let count: usize = func.getattr("__code__")?.getattr("co_argcount")?.extract()?;
    let layout = layout.map(Layout::parse).transpose()?;
    let nin = match &layout {
        Some(l) if l.inputs.len() + l.outputs.len() != count => {
            let text = format!("the layout has {} operands, the function {count} parameters", l.operands().count());
            return Err(PyTypeError::new_err(text));
        }
        Some(l) => l.inputs.len(),
        None => count,
    };
    if nin == 0 && layout.is_none() {
        return Err(PyTypeError::new_err("a ufunc needs at least one input"));
    }
    if writable.len() > nin || writable.iter().any(|i| *i >= nin) {
        return Err(PyValueError::new_err(format!("writable_args names inputs by position, of which there are {nin}")));
    }
    let text = |name: &str| -> PyResult<CString> {
        let value: Option<String> = func.getattr(name)?.extract()?;
        Ok(CString::new(value.unwrap_or_default()).unwrap_or_default())
    };
    let definition = Definition {
        dispatcher: dispatcher.clone().unbind(),
        options: crate::dispatcher::options_of(dispatcher).unwrap_or_default(),
        layout,
        nin,
        writable,
        parallel,
        identity,
        name: text("__name__")?,
        doc: text("__doc__")?,
        loops: Mutex::default(),
    };
    DUFunc::new(py, Arc::new(definition))
}

fn identity_of(o: Option<&Bound<'_, PyAny>>) -> PyResult<Identity> {
    let Some(o) = o.filter(|o| !o.is_none()) else { return Ok(Identity::None) };
    match o.extract::<i64>() {
        Ok(0) => return Ok(Identity::Zero),
        Ok(1) => return Ok(Identity::One),
        _ => {}
    }
    match o.extract::<String>() {
        Ok(s) if s == "reorderable" => Ok(Identity::Reorderable),
        _ => Err(PyValueError::new_err(format!("Identity value: {} (0, 1, None or 'reorderable')", o.repr()?))),
    }
}
