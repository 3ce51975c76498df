//! A dynamic ufunc: it compiles a loop for new types, and otherwise forwards to the `numpy.ufunc` that it holds.

use crate::host::decorated;
use crate::host::signature::{Signature, signature};
use crate::host::types::as_ty;
use crate::object::canonical::canonical;
use crate::object::lock::lock;
use crate::object::numpy;
use crate::ufunc::definition::{Definition, snapshot};
use crate::ufunc::layout::Layout;
use crate::ufunc::numpy_api::Identity;
use crate::ufunc::overrides;
use lh_ir::Ty;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit, intern};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A ufunc that compiles loops for the types of its calls.
#[pyclass(frozen, module = "lancehead._core", weakref, dict)]
pub struct DUFunc {
    definition: Arc<Definition>,
    ufunc: Mutex<Py<PyAny>>,
    frozen: AtomicBool,
    /// Whether a signature has points or spans of time, for which NumPy has no loops that know units.
    of_times: AtomicBool,
}

impl DUFunc {
    /// One without loops.
    pub fn new(py: Python<'_>, definition: Arc<Definition>) -> PyResult<DUFunc> {
        let ufunc = snapshot(py, &definition)?.unbind();
        let of_times = AtomicBool::new(false);
        Ok(DUFunc { definition, ufunc: Mutex::new(ufunc), frozen: AtomicBool::new(false), of_times })
    }
    /// The definition that it is made from.
    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }
    /// Whether it still compiles.
    pub fn grows(&self) -> bool {
        !self.frozen.load(Ordering::Relaxed)
    }
    fn current<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        lock(&self.ufunc).bind(py).clone()
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
        *lock(&self.ufunc) = made;
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

    /// Whether inputs of a call are points or spans of time, or arrays of such.
    fn takes_times(&self, args: &Bound<'_, PyTuple>) -> bool {
        self.definition.layout.is_none() && args.iter().take(self.definition.nin).any(|a| numpy::is_time(&a))
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
            // The types of outputs are needed, too.
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

    /// The types of the operands of a call of a generalised ufunc; `None` if NumPy shall report the error.
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

    /// Compiles for operand types. Outputs without core dimensions are arrays of rank 0, or of one element if the
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

/// The element type of the array that NumPy would make of an object; `None` if it has no native form.
fn element_type(o: &Bound<'_, PyAny>) -> PyResult<Option<Ty>> {
    let py = o.py();
    let numpy = numpy::load(py)?;
    let dtype = match o.getattr(intern!(py, "dtype")) {
        Ok(d) if numpy::is_dtype(&d)? => d,
        _ => numpy.module(py).call_method1(intern!(py, "asarray"), (o,))?.getattr(intern!(py, "dtype"))?,
    };
    // NumPy converts the byte order.
    let num: std::ffi::c_int = dtype.getattr(intern!(py, "num"))?.extract()?;
    if numpy::TIMES.contains(&num) {
        return numpy::ty_of_dtype(&dtype);
    }
    Ok(numpy::ty_of_num(num))
}

/// Forwards a method of ufuncs, and compiles if its array needs a new loop.
macro_rules! reducing {
    ($this:expr, $name:literal, $args:expr, $kwargs:expr) => {{
        let (this, args, kwargs): (&DUFunc, Bound<'py, PyTuple>, Option<Bound<'py, PyDict>>) = ($this, $args, $kwargs);
        let py = args.py();
        let call = |u: &Bound<'py, PyAny>| u.call_method($name, &args, kwargs.as_ref());
        this.attempt(py, call, || {
            let Ok(array) = args.get_item(0) else { return Ok(None) };
            let asked = kwargs.as_ref().and_then(|k| k.get_item("dtype").ok().flatten()).filter(|d| !d.is_none());
            let own = match asked {
                Some(d) => numpy::load(py)?.module(py).call_method1("empty", (0, d)).and_then(|a| element_type(&a))?,
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
        match overrides::call(this.as_any(), this.get().definition.nin, &args, kwargs.as_ref())? {
            Some(done) => Ok(done),
            None if this.get().takes_times(&args) => {
                let module = args.py().import("lancehead.ufuncs")?;
                module.getattr("_on_times")?.call1((this, &args, kwargs))
            }
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
        let (ret, args) = signature(sig)?;
        if self.definition.layout.is_none() && args.iter().any(|t| t.is_time()) {
            self.of_times.store(true, Ordering::Relaxed);
            return Ok(());
        }
        if let Some(t) = ret.filter(|t| self.definition.layout.is_some() && !t.is_none()) {
            return Err(PyTypeError::new_err(format!("gufunc kernel must have void return type, not {t}")));
        }
        self.grow(sig.py(), ret, &args).map(|_| ())
    }
    /// Refuses types without a loop from now on.
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
    /// Whether a signature has points or spans of time.
    #[getter]
    fn _of_times(&self) -> bool {
        self.of_times.load(Ordering::Relaxed)
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
    #[setter(_frozen)]
    fn set_frozen(&self, frozen: bool) {
        self.frozen.store(frozen, Ordering::Relaxed);
    }
    /// Compiles a loop for types of inputs: Numba's name, which programs call.
    #[pyo3(signature = (argtys, return_type=None))]
    fn _compile_for_argtys(&self, argtys: &Bound<'_, PyTuple>, return_type: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let types = argtys.iter().map(|t| as_ty(&t)).collect::<PyResult<Vec<_>>>()?;
        self.grow(argtys.py(), return_type.map(as_ty).transpose()?, &types).map(|_| ())
    }
    /// The signatures of the compiled loops.
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
    /// Other attributes are those of the ufunc.
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
    /// Numba builds it with this, of which programs see the signatures.
    #[getter]
    fn gufunc_builder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = PyDict::new(py);
        known.set_item("_sigs", self.signatures(py)?)?;
        py.import("types")?.getattr("SimpleNamespace")?.call((), Some(&known))
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

/// Makes a dynamic ufunc: `dispatcher` is a compiled function, `layout` the core dimensions of a generalised ufunc.
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
    let Some(func) = decorated::py_func(dispatcher) else {
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
        options: decorated::of(dispatcher).map(|d| d.options()).unwrap_or_default(),
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

/// The signature of a loop.
pub fn signature_of(definition: &Definition, declared: &[Ty]) -> Signature {
    let all: Vec<Ty> = declared.iter().map(|t| canonical(*t)).collect();
    if definition.layout.is_some() {
        return Signature { ret: Some(Ty::none()), args: all };
    }
    let (ins, outs) = all.split_at(definition.nin);
    let ret = if let [one] = outs { *one } else { Ty::tuple(outs.to_vec()) };
    Signature { ret: Some(ret), args: ins.to_vec() }
}

/// Arguments of `lancehead.ufuncs._rebuilt`.
pub fn pickled<'py>(
    py: Python<'py>,
    definition: &Definition,
    signatures: Bound<'py, PyList>,
    grows: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let layout = definition.layout.as_ref().map(|l| l.text.to_string_lossy().into_owned());
    let identity = match definition.identity {
        Identity::None => py.None().into_bound(py),
        Identity::Reorderable => PyString::new(py, "reorderable").into_any(),
        known => (known as i32).into_pyobject(py)?.into_any(),
    };
    let writable = definition.writable.clone();
    let made = (definition.dispatcher.bind(py), layout, identity, definition.parallel, writable, signatures, grows);
    made.into_pyobject(py)
}
