//! The ufunc that grows: it compiles a loop when it meets new types, and otherwise is the `numpy.ufunc` it holds.

use super::{Definition, overrides, snapshot};
use crate::np;
use crate::types::{Signature, canonical};
use lh_ir::Ty;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit, intern};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A ufunc that compiles loops for the types it is called with.
#[pyclass(frozen, module = "lancehead._core", weakref, dict)]
pub struct DUFunc {
    definition: Arc<Definition>,
    ufunc: Mutex<Py<PyAny>>,
    frozen: AtomicBool,
}

impl DUFunc {
    /// One without loops.
    pub fn new(py: Python<'_>, definition: Arc<Definition>) -> PyResult<DUFunc> {
        let ufunc = snapshot(py, &definition)?.unbind();
        Ok(DUFunc { definition, ufunc: Mutex::new(ufunc), frozen: AtomicBool::new(false) })
    }
    /// What it is made from.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }
    /// Whether it still compiles.
    pub fn grows(&self) -> bool {
        !self.frozen.load(Ordering::Relaxed)
    }
    fn current<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.ufunc.lock().unwrap_or_else(std::sync::PoisonError::into_inner).bind(py).clone()
    }

    /// Compiles a loop unless there is one for these inputs.
    fn grow(&self, py: Python<'_>, ret: Option<Ty>, args: &[Ty]) -> PyResult<bool> {
        let typed = {
            let same = |known: &[Ty]| known.iter().zip(args).all(|(a, b)| a.strong() == b.strong());
            if self.definition.loops().iter().any(|l| l.declared.len() >= args.len() && same(&l.declared)) {
                return Ok(false);
            }
            self.definition.compile(py, ret, args)?
        };
        self.definition.lock().push(typed);
        let made = snapshot(py, &self.definition)?.unbind();
        *self.ufunc.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = made;
        Ok(true)
    }

    /// Calls something of the ufunc; when NumPy finds no loop, compiles one for the inputs and tries again.
    fn attempt<'py>(
        &self,
        py: Python<'py>,
        call: impl Fn(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
        types: impl FnOnce() -> PyResult<Option<Vec<Ty>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let error = match call(&self.current(py)) {
            Err(e) if e.is_instance_of::<PyTypeError>(py) && self.grows() => e,
            other => return other,
        };
        match types()? {
            Some(types) if self.grow(py, None, &types)? => call(&self.current(py)),
            _ => Err(error),
        }
    }

    /// A call whose operands are arrays and numbers.
    fn call<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let call = |u: &Bound<'py, PyAny>| u.call(args, kwargs);
        if self.grows() && self.definition.layout.is_some() {
            // Outputs are what the types are learned from.
            let types = self.core_types(args, kwargs)?;
            if let Some(types) = types {
                self.grow_core(py, types)?;
            }
            return call(&self.current(py));
        }
        self.attempt(py, call, || self.input_types(args))
    }

    fn texts<'py>(&self, py: Python<'py>, what: lh_driver::Text) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for l in self.definition.loops() {
            let sig = Bound::new(py, signature_of(&self.definition, &l.declared))?;
            all.set_item(sig, l.code.compiled().text(what))?;
        }
        Ok(all)
    }

    /// Types of the inputs of a call; `None` if their number is wrong.
    fn input_types(&self, args: &Bound<'_, PyTuple>) -> PyResult<Option<Vec<Ty>>> {
        if args.len() < self.definition.nin {
            return Ok(None);
        }
        args.iter().take(self.definition.nin).map(|a| element_type(&a)).collect()
    }

    /// Types of the operands of a call of a generalised ufunc; `None` if NumPy shall say what is wrong.
    fn core_types(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Option<Vec<Ty>>> {
        let Some(layout) = &self.definition.layout else { return Ok(None) };
        let mut operands: Vec<Bound<'_, PyAny>> = args.iter().collect();
        match kwargs.map(|k| k.get_item("out")).transpose()?.flatten() {
            Some(out) if out.is_instance_of::<PyTuple>() => operands.extend(out.cast::<PyTuple>()?.iter()),
            Some(out) => operands.push(out),
            None => {}
        }
        let (nin, count) = (layout.inputs.len(), layout.operands().count());
        if operands.len() == nin && nin < count {
            return Err(self.too_few());
        }
        if operands.len() != count {
            return Ok(None);
        }
        let elements = operands.iter().map(element_type).collect::<PyResult<Option<Vec<Ty>>>>()?;
        let Some(elements) = elements else { return Ok(None) };
        let typed = |(i, (t, dims)): (usize, (Ty, &Vec<usize>))| match dims.len() {
            0 if i < nin => t,
            rank => Ty::array(t, rank, lh_ir::Layout::A),
        };
        Ok(Some(elements.into_iter().zip(layout.operands()).enumerate().map(typed).collect()))
    }

    /// Compiles for operand types; outputs without core dimensions are arrays of rank 0, or of one element where the
    /// function treats them so.
    fn grow_core(&self, py: Python<'_>, types: Vec<Ty>) -> PyResult<()> {
        let elements: Vec<Ty> = types.iter().map(|t| t.as_array().map_or(*t, |(d, ..)| d).strong()).collect();
        if self.definition.loops().iter().any(|l| l.elements == elements) {
            return Ok(());
        }
        let error = match self.grow(py, None, &types) {
            Ok(_) => return Ok(()),
            Err(e) => e,
        };
        let one = |t: &Ty| match t.as_array() {
            Some((d, 0, ..)) => Ty::array(d, 1, lh_ir::Layout::A),
            _ => *t,
        };
        let longer: Vec<Ty> = types.iter().map(one).collect();
        if longer == types {
            return Err(error);
        }
        self.grow(py, None, &longer).map(|_| ()).map_err(|_| error)
    }

    fn too_few(&self) -> PyErr {
        let name = self.definition.name.to_string_lossy();
        PyTypeError::new_err(format!(
            "Too few arguments for function '{name}'. A generalised ufunc without signatures learns its types from all \
             its arguments: pass the outputs too"
        ))
    }
}

/// The element type of what NumPy would make of an object; `None` if it is none of ours.
fn element_type(o: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = o.py();
    let numpy = np::load(py)?;
    let dtype = match o.getattr(intern!(py, "dtype")) {
        Ok(d) if np::is_dtype(&d)? => d,
        _ => numpy.module(py).call_method1(intern!(py, "asarray"), (o,))?.getattr(intern!(py, "dtype"))?,
    };
    // The byte order is NumPy's business: it converts.
    let num: std::ffi::c_int = dtype.getattr(intern!(py, "num"))?.extract()?;
    Ok(np::ty_of_num(num))
}

/// Forwards a method of ufuncs, compiling where its array needs a new loop.
macro_rules! reducing {
    ($this:expr, $name:literal, $args:expr, $kwargs:expr) => {{
        let (this, args, kwargs): (&DUFunc, Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>) = ($this, $args, $kwargs);
        let py = args.py();
        let call = |u: &Bound<'py, PyAny>| u.call_method($name, &args, kwargs.as_ref());
        this.attempt(py, call, || {
            let Ok(array) = args.get_item(0) else { return Ok(None) };
            let asked = kwargs.as_ref().and_then(|k| k.get_item("dtype").ok().flatten()).filter(|d| !d.is_none());
            let own = match asked {
                Some(d) => np::load(py)?.module(py).call_method1("empty", (0, d)).and_then(|a| element_type(&a))?,
                None => element_type(&array)?,
            };
            Ok(own.map(|t| vec![t; this.definition.nin]))
        })
    }};
}

#[pymethods]
impl DUFunc {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        this: &Bound<'py, Self>,
        args: Bound<'py, PyTuple>,
        kwargs: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match overrides::call(this, &args, kwargs.as_ref())? {
            Some(done) => Ok(done),
            None => this.get().call(&args, kwargs.as_ref()),
        }
    }
    /// Reduces an array along axes.
    #[pyo3(signature = (*args, **kwargs))]
    fn reduce<'py>(
        &self,
        args: Bound<'py, PyTuple>,
        kwargs: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reducing!(self, "reduce", args, kwargs)
    }
    /// Partial reductions along an axis.
    #[pyo3(signature = (*args, **kwargs))]
    fn accumulate<'py>(
        &self,
        args: Bound<'py, PyTuple>,
        kwargs: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reducing!(self, "accumulate", args, kwargs)
    }
    /// Reductions of slices along an axis.
    #[pyo3(signature = (*args, **kwargs))]
    fn reduceat<'py>(
        &self,
        args: Bound<'py, PyTuple>,
        kwargs: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        reducing!(self, "reduceat", args, kwargs)
    }
    /// Every pair of elements of two arrays.
    #[pyo3(signature = (*args, **kwargs))]
    fn outer<'py>(&self, args: Bound<'py, PyTuple>, kwargs: Option<Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let call = |u: &Bound<'py, PyAny>| u.call_method("outer", &args, kwargs.as_ref());
        self.attempt(args.py(), call, || self.input_types(&args))
    }
    /// In place at indices, which may repeat.
    #[pyo3(signature = (*args, **kwargs))]
    fn at<'py>(&self, args: Bound<'py, PyTuple>, kwargs: Option<Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        let call = |u: &Bound<'py, PyAny>| u.call_method("at", &args, kwargs.as_ref());
        self.attempt(args.py(), call, || {
            // The array, the indices, and the second operand if there is one.
            let operands = args.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, a)| element_type(&a));
            let types = operands.collect::<PyResult<Option<Vec<Ty>>>>()?;
            Ok(types.filter(|t| t.len() == self.definition.nin))
        })
    }
    /// Compiles a loop for a signature.
    fn add(&self, sig: &Bound<'_, PyAny>) -> PyResult<()> {
        let (ret, args) = crate::methods::signature(sig)?;
        if let Some(t) = ret.filter(|t| self.definition.layout.is_some() && !t.is_none()) {
            return Err(PyTypeError::new_err(format!("gufunc kernel must have void return type, not {t}")));
        }
        self.grow(sig.py(), ret, &args).map(|_| ())
    }
    /// Refuses types for which there is no loop from now on.
    fn disable_compile(&self) {
        self.frozen.store(true, Ordering::Relaxed);
    }
    /// The `numpy.ufunc` with the loops that there are now.
    #[getter]
    fn ufunc<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.current(py)
    }
    /// The compiled function.
    #[getter]
    fn _dispatcher<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.definition.dispatcher.bind(py).clone()
    }
    /// Whether it was made without signatures.
    #[getter]
    fn is_dynamic(&self) -> bool {
        true
    }
    #[getter]
    fn _frozen(&self) -> bool {
        !self.grows()
    }
    /// What was compiled, by signature.
    #[getter]
    fn signatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for l in self.definition.loops() {
            all.append(Bound::new(py, signature_of(&self.definition, &l.declared))?)?;
        }
        Ok(all)
    }
    /// LLVM IR of the inner loops after optimisation, by signature.
    fn inspect_llvm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.texts(py, lh_driver::Text::Llvm)
    }
    /// Assembly of the inner loops, by signature.
    fn inspect_asm<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.texts(py, lh_driver::Text::Asm)
    }
    /// Everything else is the ufunc's.
    fn __getattr__<'py>(&self, name: Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let text = name.to_str()?;
        if text.starts_with("__array_") {
            return Err(pyo3::exceptions::PyAttributeError::new_err(text.to_owned()));
        }
        self.current(name.py()).getattr(&name)
    }
    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.current(py).getattr("__doc__")
    }
    #[getter]
    fn __name__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.current(py).getattr("__name__")
    }
    fn __repr__(&self) -> String {
        format!("<lancehead.DUFunc '{}'>", self.definition.name.to_string_lossy())
    }
    fn __reduce__<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let own = this.get();
        let module = py.import("lancehead.ufuncs")?;
        if module.call_method1("_named", (&this,))?.is(&this) {
            return this.as_any().getattr("__name__");
        }
        let sigs = own.signatures(py)?;
        let args = pickled(py, &own.definition, sigs, own.grows())?;
        Ok((module.getattr("_rebuilt")?, args).into_pyobject(py)?.into_any())
    }
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.definition.dispatcher)
    }
}

/// The signature of a loop.
fn signature_of(definition: &Definition, declared: &[Ty]) -> Signature {
    let all: Vec<Ty> = declared.iter().map(|t| canonical(*t)).collect();
    if definition.layout.is_some() {
        return Signature { ret: Some(Ty::none()), args: all };
    }
    let (ins, outs) = all.split_at(definition.nin);
    let ret = if let [one] = outs { *one } else { Ty::tuple(outs.to_vec()) };
    Signature { ret: Some(ret), args: ins.to_vec() }
}

/// Arguments of `lancehead.ufuncs._rebuilt`.
pub(super) fn pickled<'py>(
    py: Python<'py>,
    definition: &Definition,
    signatures: Bound<'py, PyList>,
    grows: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let layout = definition.layout.as_ref().map(|l| l.text.to_string_lossy().into_owned());
    let identity = match definition.identity {
        super::Identity::None => py.None().into_bound(py),
        super::Identity::Reorderable => PyString::new(py, "reorderable").into_any(),
        known => (known as i32).into_pyobject(py)?.into_any(),
    };
    let writable = definition.writable.clone();
    let made = (definition.dispatcher.bind(py), layout, identity, definition.parallel, writable, signatures, grows);
    made.into_pyobject(py)
}

/// What the ufunc was made from, for pickling and for looking at: `None` for a ufunc of somebody else's.
#[pyfunction]
pub fn ufunc_parts<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = ufunc.py();
    let Some((definition, grows)) = super::definition(ufunc) else { return Ok(None) };
    let all = PyList::empty(py);
    for l in definition.loops() {
        all.append(Bound::new(py, signature_of(&definition, &l.declared))?)?;
    }
    pickled(py, &definition, all, grows).map(Some)
}
