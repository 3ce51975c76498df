//! Methods and attributes of dispatchers.

use crate::call::entry_point::EntryPoint;
use crate::call::overload::Overload;
use crate::call::state::{DispatcherObject, State};
use crate::call::tag_index::TagIndex;
use crate::call::{interpreted, specialise};
use crate::compile::{cache, compiler, report};
use crate::host::held::Scope;
use crate::host::signature::{Signature, canonical_all, signature};
use crate::host::types::type_tuple;
use crate::host::{decorated, frozen, table};
use crate::object::canonical::canonical;
use crate::runtime::render;
use lh_driver::Text;
use lh_ir::{Ty, TyKind};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{ffi, intern};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The arguments of a method.
struct Call<'a, 'py> {
    py: Python<'py>,
    this: &'a Bound<'py, PyAny>,
    args: Option<Bound<'py, PyTuple>>,
    keywords: Option<Bound<'py, PyDict>>,
}

type Method = for<'py> fn(&Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>>;

impl<'py> Call<'_, 'py> {
    fn state(&self) -> &State {
        // SAFETY: methods of the type are called with its instances.
        unsafe { (*self.this.as_ptr().cast::<DispatcherObject>()).state() }
    }
    /// An argument by position or name.
    fn argument(&self, position: usize, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(k) = &self.keywords
            && let Some(v) = k.get_item(name)?
        {
            return Ok(Some(v));
        }
        Ok(self.args.as_ref().and_then(|a| a.get_item(position).ok()))
    }
    fn overloads(&self) -> Vec<&Overload> {
        self.state().current()
    }
    /// The specialisation for a signature given as an argument, or all.
    fn chosen(&self, position: usize) -> PyResult<(Vec<&Overload>, bool)> {
        match self.argument(position, "signature")? {
            Some(sig) if !sig.is_none() => {
                let (_, args) = signature(&sig)?;
                Ok((vec![self.specialisation(&args)?], true))
            }
            _ => Ok((self.overloads(), false)),
        }
    }
    /// The specialisation for argument types, or the only one that differs from them in layouts of arrays.
    fn specialisation(&self, args: &[Ty]) -> PyResult<&Overload> {
        let all = self.overloads();
        if let Some(same) = all.iter().find(|o| canonical_all(o.args()) == args) {
            return Ok(*same);
        }
        // `float64[:]` is an array of any layout, and calls mostly pass arrays in C order.
        let near: Vec<&Overload> = all.iter().copied().filter(|o| are_alike(o.args(), args)).collect();
        if let [one] = near[..] {
            return Ok(one);
        }
        let name: String = self.this.getattr(intern!(self.py, "__qualname__"))?.extract()?;
        let known: Vec<String> = all.iter().map(|o| types_text(o.args())).collect();
        let known = if known.is_empty() { "nothing yet: call it first".to_owned() } else { known.join(" and ") };
        let text = format!("`{name}` is not compiled for {}; it is compiled for {known}", types_text(args));
        Err(PyKeyError::new_err(text))
    }
    /// A text of the chosen specialisation, or a dictionary of all by argument types.
    fn texts(&self, text: impl Fn(&lh_driver::Compiled) -> String) -> PyResult<Bound<'py, PyAny>> {
        let (chosen, one) = self.chosen(0)?;
        if one {
            return Ok(PyString::new(self.py, &text(&*self.shown(chosen[0])?)).into_any());
        }
        let out = PyDict::new(self.py);
        for o in chosen {
            out.set_item(type_tuple(self.py, o.args())?, text(&*self.shown(o)?))?;
        }
        Ok(out.into_any())
    }
    fn write(&self, position: usize, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let file = match self.argument(position, "file")? {
            Some(f) if !f.is_none() => f,
            _ => self.py.import("sys")?.getattr("stdout")?,
        };
        file.call_method1("write", (text,))?;
        Ok(self.py.None().into_bound(self.py))
    }
    /// The code with its texts; code from the cache is compiled anew.
    fn shown(&self, o: &Overload) -> PyResult<Arc<lh_driver::Compiled>> {
        if !o.compiled.is_loaded() {
            return Ok(o.compiled.clone());
        }
        let function = table::intern(self.this);
        Ok(compiler::compile(self.py, function, o.args(), self.state().options().ir, None, false)?.0)
    }
    fn none(&self) -> Bound<'py, PyAny> {
        self.py.None().into_bound(self.py)
    }
}

/// Whether types are equal except for the layout and writability of arrays.
fn are_alike(a: &[Ty], b: &[Ty]) -> bool {
    let alike = |a: Ty, b: Ty| match (a.kind(), b.kind()) {
        (TyKind::Array { dtype: d, ndim: n, .. }, TyKind::Array { dtype: e, ndim: m, .. }) => (d, n) == (e, m),
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(canonical(*a), canonical(*b)))
}

/// Argument types as a tuple.
fn types_text(tys: &[Ty]) -> String {
    let names: Vec<String> = tys.iter().map(|t| canonical(*t).numba().to_string()).collect();
    format!("({})", names.join(", "))
}

fn signature_of(o: &Overload) -> Signature {
    Signature { ret: Some(canonical(o.explicit.unwrap_or(o.compiled.ret))), args: canonical_all(o.args()) }
}

fn compile<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let sig = c.argument(0, "sig")?.ok_or_else(|| PyTypeError::new_err("compile() takes a signature"))?;
    if let Some(known) = interpreted::ask(c.this, c.state(), "compile", Some(&sig))? {
        return Ok(known);
    }
    let (ret, args) = signature(&sig)?;
    let args = c.state().table().params.of_signature(c.py, args)?;
    if args.iter().any(|t| t.is_open()) {
        {
            let mut known = c.state().known();
            known.open.retain(|(known, _)| *known != args);
            known.open.push((args.clone(), ret));
        }
        return Ok(Bound::new(c.py, Signature { ret, args })?.into_any());
    }
    let existing = c.overloads().into_iter().find(|o| canonical_all(o.args()) == args);
    let overload = match existing {
        Some(o) => specialise::renew(c.py, c.state(), c.this, o)?,
        None if c.state().can_compile() => specialise::compile(c.py, c.state(), c.this, &args, ret, false)?,
        None => return Err(pyo3::exceptions::PyRuntimeError::new_err("compilation disabled")),
    };
    Ok(Bound::new(c.py, signature_of(overload))?.into_any())
}

fn disable_compile<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let value = c.argument(0, "val")?.map_or(Ok(true), |v| v.is_truthy())?;
    c.state().known().can_compile = !value;
    if !value {
        // Calls that were converted so far get code of their own.
        c.state().change(|t| t.entries = TagIndex::of(t.entries.iter().filter(|e| e.natural.is_none())));
    }
    Ok(c.none())
}

fn recompile<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    frozen::forget(table::intern(c.this));
    for overload in c.overloads() {
        c.state().forget(overload);
        specialise::compile(c.py, c.state(), c.this, &overload.compiled.args, overload.explicit, true)?;
    }
    // The guards of the old code still hold, so calls would go on using it.
    // SAFETY: overloads live as long as the state.
    c.state().change(|t| t.entries = TagIndex::of(t.entries.iter().filter(|e| unsafe { !(*e.overload).is_stale() })));
    Ok(c.none())
}

fn inspect_llvm<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    c.texts(|o| o.text(Text::Llvm))
}

fn inspect_asm<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    c.texts(|o| o.text(Text::Asm))
}

fn inspect_ir<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    c.texts(|o| o.text(Text::Typed))
}

fn inspect_types<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let (chosen, _) = c.chosen(1)?;
    let mut text = String::new();
    for o in chosen {
        text.push_str(&report::types(c.py, &*c.shown(o)?)?);
        text.push('\n');
    }
    c.write(0, &text)
}

/// The report on the specialisation for the signature that an argument gives, or on all.
fn report<'py>(c: &Call<'_, 'py>, position: usize) -> PyResult<Bound<'py, PyAny>> {
    let (chosen, _) = c.chosen(position)?;
    let name = c.this.getattr(intern!(c.py, "__qualname__"))?;
    let shown = chosen.into_iter().map(|o| c.shown(o)).collect::<PyResult<Vec<_>>>()?;
    report::explain(c.py, &name, shown.iter().map(|o| &**o))
}

fn parallel_diagnostics<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    if c.state().options().ir.parallel & lh_ir::func::parallel::ALL == 0 {
        return Err(PyValueError::new_err("nothing is known of parallel loops: the function has no parallel=True"));
    }
    let level = c.argument(1, "level")?.map_or(Ok(1), |l| l.extract::<i64>())?;
    if !(1..=4).contains(&level) {
        return Err(PyValueError::new_err("the level of parallel diagnostics is 1, 2, 3 or 4"));
    }
    report(c, 0)?.call_method1(intern!(c.py, "tell"), (level,))
}

fn explain<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let report = report(c, 1)?;
    if let Some(file) = c.argument(0, "file")?.filter(|f| !f.is_none()) {
        report.call_method1(intern!(c.py, "save"), (file,))?;
    }
    Ok(report)
}

fn get_metadata<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let (chosen, one) = c.chosen(0)?;
    let all = PyDict::new(c.py);
    for o in chosen {
        let facts = PyDict::new(c.py);
        let timings = PyDict::new(c.py);
        for (stage, t) in &o.compiled.timings {
            timings.set_item(*stage, t.as_secs_f64())?;
        }
        facts.set_item("timers", timings)?;
        facts.set_item("object_size", o.compiled.object_size)?;
        facts.set_item("functions", o.compiled.functions().len())?;
        if one {
            return Ok(facts.into_any());
        }
        all.set_item(type_tuple(c.py, o.args())?, facts)?;
    }
    Ok(all.into_any())
}

/// A copy of a function is the function itself, as in Python.
fn itself<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    Ok(c.this.clone())
}

/// Pickles by name if that leads back to the dispatcher, else by value.
fn reduce<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let pickling = c.py.import(intern!(c.py, "lancehead.pickling"))?;
    if pickling.call_method1(intern!(c.py, "is_named"), (c.this,))?.is_truthy()? {
        return c.this.getattr(intern!(c.py, "__qualname__"));
    }
    let data = pickling.call_method1(intern!(c.py, "dump"), (c.this,))?;
    Ok((pickling.getattr(intern!(c.py, "load"))?, (data,)).into_pyobject(c.py)?.into_any())
}

fn py_func<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    Ok(decorated::py_func(c.this).unwrap_or_else(|| c.none()))
}

fn signatures<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(known) = interpreted::ask(c.this, c.state(), "signatures", None)? {
        return Ok(known);
    }
    let all = c.state().signatures();
    let all = all.iter().map(|(args, _)| type_tuple(c.py, args)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(c.py, all)?.into_any())
}

fn nopython_signatures<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let open = c.state().known().open.clone().into_iter().map(|(args, ret)| Signature { ret, args });
    let passed = c.state().known().passed.clone().into_iter().map(|(args, ret)| Signature { ret, args });
    let made = c.overloads().into_iter().filter(|o| !o.is_instance());
    let all = open.chain(made.map(signature_of)).chain(passed).collect::<Vec<_>>();
    Ok(PyList::new(c.py, all)?.into_any())
}

fn namespace<'py>(py: Python<'py>, fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    py.import("types")?.getattr("SimpleNamespace")?.call((), Some(fields))
}

fn compile_result<'py>(c: &Call<'_, 'py>, fields: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    fields.set_item("dispatcher", c.this)?;
    c.py.import("lancehead.introspection")?.getattr("CompileResult")?.call((), Some(fields))
}

fn overloads<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    if let Some(known) = interpreted::ask(c.this, c.state(), "overloads", None)? {
        return Ok(known);
    }
    let all = PyDict::new(c.py);
    for o in c.overloads() {
        let fields = PyDict::new(c.py);
        fields.set_item("signature", Bound::new(c.py, signature_of(o))?)?;
        fields.set_item("entry_point", Bound::new(c.py, EntryPoint::new(c.this, o))?)?;
        fields.set_item("objectmode", false)?;
        all.set_item(type_tuple(c.py, o.args())?, compile_result(c, &fields)?)?;
    }
    Ok(all.into_any())
}

/// The number of times that each signature occurs in a list.
fn counts<'py>(c: &Call<'_, 'py>, all: Vec<Vec<Ty>>) -> PyResult<Bound<'py, PyAny>> {
    let keys = all.iter().map(|args| type_tuple(c.py, args)).collect::<PyResult<Vec<_>>>()?;
    c.py.import("collections")?.getattr("Counter")?.call1((keys,))
}

fn cache_hits<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let found = c.state().known().found.clone();
    counts(c, found)
}

fn cache_misses<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let missed = c.state().known().missed.clone();
    counts(c, missed)
}

fn stats<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(c.py);
    let cached = c.state().options().cache;
    let function = py_func(c)?;
    let home = if cache::is_wanted(c.py, cached) { Some(cache::Home::of(&function)?) } else { None };
    fields
        .set_item("cache_path", home.as_ref().and_then(cache::Home::path).map(|p| p.to_string_lossy().into_owned()))?;
    fields.set_item("cache_hits", cache_hits(c)?)?;
    fields.set_item("cache_misses", cache_misses(c)?)?;
    let misses = c.state().known().misses;
    fields.set_item("compilations", misses)?;
    namespace(c.py, &fields)
}

fn target_options<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    Ok(c.state().options().given.bind(c.py).clone().into_any())
}

fn python_signature<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    c.py.import("inspect")?.call_method1("signature", (py_func(c)?,))
}

fn can_compile<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    Ok(pyo3::types::PyBool::new(c.py, c.state().can_compile()).to_owned().into_any())
}

fn func_attr<'py>(c: &Call<'_, 'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py_func(c)?.getattr(name)
}

fn attributes<'py>(c: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the type has a `__dictoffset__`, and this is an instance; the result is ours or null.
    unsafe { Bound::from_owned_ptr_or_err(c.py, ffi::PyObject_GenericGetDict(c.this.as_ptr(), std::ptr::null_mut())) }
}

/// Runs a method with panics and errors turned into Python exceptions.
unsafe fn enter(
    this: *mut ffi::PyObject,
    args: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
    f: Method,
) -> *mut ffi::PyObject {
    // SAFETY: CPython passes live objects of these types, attached.
    unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this);
        let _scope = Scope::new(Some(&this));
        let args = Bound::from_borrowed_ptr_or_opt(py, args).map(|a| a.cast_into_unchecked());
        let keywords = Bound::from_borrowed_ptr_or_opt(py, keywords).map(|k| k.cast_into_unchecked());
        let result = catch_unwind(AssertUnwindSafe(|| f(&Call { py, this: &this, args, keywords })));
        match result.unwrap_or_else(|panic| Err(render::internal_error(py, panic.as_ref()))) {
            Ok(o) => o.into_ptr(),
            Err(e) => {
                e.restore(py);
                std::ptr::null_mut()
            }
        }
    }
}

macro_rules! table {
    (methods: $($name:literal $f:path, $doc:literal;)*) => {
        /// `tp_methods`.
        pub fn methods() -> &'static mut [ffi::PyMethodDef] {
            Box::leak(Box::new([$({
                unsafe extern "C" fn call(
                    this: *mut ffi::PyObject, args: *mut ffi::PyObject, keywords: *mut ffi::PyObject,
                ) -> *mut ffi::PyObject {
                    // SAFETY: as CPython calls methods.
                    unsafe { enter(this, args, keywords, |c| $f(c)) }
                }
                ffi::PyMethodDef {
                    ml_name: const { cstr(concat!($name, "\0")) }.as_ptr(),
                    ml_meth: ffi::PyMethodDefPointer { PyCFunctionWithKeywords: call },
                    ml_flags: ffi::METH_VARARGS | ffi::METH_KEYWORDS,
                    ml_doc: const { cstr(concat!($doc, "\0")) }.as_ptr(),
                }
            },)* ffi::PyMethodDef::zeroed()]))
        }
    };
    (getters: $($name:literal $f:expr, $doc:literal;)*) => {
        /// `tp_getset`.
        pub fn getters() -> &'static mut [ffi::PyGetSetDef] {
            Box::leak(Box::new([$({
                unsafe extern "C" fn get(this: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
                    // SAFETY: as CPython calls getters.
                    unsafe { enter(this, std::ptr::null_mut(), std::ptr::null_mut(), $f) }
                }
                ffi::PyGetSetDef {
                    name: const { cstr(concat!($name, "\0")) }.as_ptr(),
                    get: Some(get),
                    set: None,
                    doc: const { cstr(concat!($doc, "\0")) }.as_ptr(),
                    closure: std::ptr::null_mut(),
                }
            },)* ffi::PyGetSetDef {
                name: std::ptr::null(), get: None, set: None, doc: std::ptr::null(), closure: std::ptr::null_mut(),
            }]))
        }
    };
}

const fn cstr(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(c) => c,
        Err(_) => panic!("a name with a zero byte"),
    }
}

table! { methods:
    "compile" compile, "Compiles for a signature; returns the signature with its result type.";
    "disable_compile" disable_compile, "Refuses (or, given False, allows) argument types not compiled for yet.";
    "recompile" recompile, "Compiles every specialisation anew.";
    "inspect_types" inspect_types, "Writes the source with the types of its variables.";
    "inspect_llvm" inspect_llvm, "LLVM IR after optimisation, by argument types or of one signature.";
    "inspect_asm" inspect_asm, "Assembly, by argument types or of one signature.";
    "inspect_ir" inspect_ir, "Typed IR, by argument types or of one signature.";
    "get_metadata" get_metadata, "Facts of compilation, by argument types or of one signature.";
    "explain" explain, "A report on the function: types, loops, allocations, checks, times; HTML in a notebook.";
    "parallel_diagnostics" parallel_diagnostics, "Writes which loops run in parallel, which do not, and why.";
    "__copy__" itself, "The function itself.";
    "__deepcopy__" itself, "The function itself.";
    "__reduce__" reduce, "Pickles by name where that leads back here.";
}

table! { getters:
    "py_func" py_func, "The Python function.";
    "signatures" signatures, "Argument types compiled for.";
    "nopython_signatures" nopython_signatures, "Signatures compiled for.";
    "overloads" overloads, "Specialisations by argument types.";
    "stats" stats, "Counts of compilations and of what the cache had.";
    "_cache_hits" cache_hits, "Signatures whose code came from the cache.";
    "_cache_misses" cache_misses, "Signatures that had to be compiled.";
    "targetoptions" target_options, "Options of the decorator. A change counts when something is compiled next, as by `recompile()`.";
    "_can_compile" can_compile, "Whether new argument types are compiled for.";
    "__signature__" python_signature, "Parameters of the Python function.";
    "__code__" |c| func_attr(c, "__code__"), "Code of the Python function.";
    "__globals__" |c| func_attr(c, "__globals__"), "Globals of the Python function.";
    "__defaults__" |c| func_attr(c, "__defaults__"), "Defaults of the Python function.";
    "__kwdefaults__" |c| func_attr(c, "__kwdefaults__"), "Keyword-only defaults of the Python function.";
    "__closure__" |c| func_attr(c, "__closure__"), "Captured variables of the Python function.";
    "__dict__" attributes, "Attributes that were set, beside those of the Python function.";
}
