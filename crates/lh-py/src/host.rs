//! The interpreter as the compiler sees it.

use crate::library::{self, Item};
use crate::{classify as classes, code, dispatcher, np, objects, overloads, paths};
use hashbrown::HashMap;
use lh_driver::cache::Digest;
use lh_driver::host::{Captured, Host, RawFunction, Source};
use lh_driver::typed::Typed;
use lh_infer::world::{Object, Overload, Overloaded};
use lh_ir::func::Extern;
use lh_ir::{Const, ExcId, FuncId, ObjId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyModule, PyTuple, PyType};
use std::sync::{LazyLock, Mutex};

pub use classes::classify;

/// Functions of the library by path; `None` for names that it does not have.
type Library = HashMap<String, Option<(ObjId, bool)>>;
static LIBRARY: LazyLock<Mutex<Library>> = LazyLock::new(Default::default);

/// What was raised while code was made ready for linking; it is raised in place of the diagnostic.
static LINK_ERROR: Mutex<Option<PyErr>> = Mutex::new(None);

/// Takes it.
pub fn take_link_error() -> Option<PyErr> {
    LINK_ERROR.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

/// The interpreter, while the thread is attached to it.
pub struct PyHost<'py> {
    py: Python<'py>,
    /// Hashes made so far; a host is for one request, during which nothing is expected to change.
    digests: HashMap<ObjId, Option<Digest>>,
}

impl<'py> PyHost<'py> {
    /// The interpreter of an attached thread.
    pub fn new(py: Python<'py>) -> Self {
        PyHost { py, digests: HashMap::new() }
    }
    fn get(&self, o: ObjId) -> Bound<'py, PyAny> {
        objects::object(self.py, o)
    }
    /// The Python function behind a function or dispatcher.
    fn python_function(&self, o: ObjId) -> Bound<'py, PyAny> {
        let o = self.get(o);
        dispatcher::py_func(&o).unwrap_or(o)
    }
    fn raw_function(&self, o: ObjId) -> PyResult<RawFunction> {
        let py = self.py;
        let f = self.python_function(o);
        let mut defaults = Vec::new();
        if let Ok(values) = f.getattr(intern!(py, "__defaults__"))?.cast::<PyTuple>() {
            defaults = values.iter().map(|v| objects::intern(&v)).collect();
        }
        let mut kwdefaults = Vec::new();
        if let Ok(values) = f.getattr(intern!(py, "__kwdefaults__"))?.cast::<PyDict>() {
            for (k, v) in values.iter() {
                kwdefaults.push((k.extract()?, objects::intern(&v)));
            }
        }
        let options = dispatcher::options_of(&self.get(o));
        Ok(RawFunction { defaults, kwdefaults, is_library: is_library(&f), options })
    }
    fn lookup_global(&self, f: FuncId, name: &str) -> PyResult<Option<ObjId>> {
        let object = objects::function_object(f).0;
        if let Some((stored, n)) = library::function(self.py, object) {
            let builtin = || self.py.import("builtins").ok()?.getattr(name).ok().map(|v| objects::intern(&v));
            return Ok(stored.global(self.py, n, name).or_else(builtin));
        }
        let function = self.python_function(object);
        let globals = function.getattr(intern!(self.py, "__globals__"))?;
        let globals = globals.cast::<PyDict>()?;
        if let Some(v) = globals.get_item(name)? {
            return Ok(Some(objects::intern(&v)));
        }
        let builtins = function.getattr(intern!(self.py, "__builtins__"))?;
        Ok(builtins.cast::<PyDict>()?.get_item(name)?.map(|v| objects::intern(&v)))
    }
    fn lookup_free(&self, f: FuncId, index: u32) -> PyResult<Option<ObjId>> {
        let (object, own) = objects::function_object(f);
        if !own {
            return Ok(None);
        }
        let closure = self.python_function(object).getattr(intern!(self.py, "__closure__"))?;
        let cell = closure.get_item(index)?;
        // An empty cell raises ValueError: a variable that is not assigned yet.
        Ok(cell.getattr(intern!(self.py, "cell_contents")).ok().map(|v| objects::intern(&v)))
    }
    fn may_read_attributes(&self, o: &Bound<'py, PyAny>) -> PyResult<bool> {
        if o.is_instance_of::<PyModule>() || o.is_instance_of::<PyType>() || o.is_instance_of::<crate::types::Type>() {
            return Ok(true);
        }
        let module = o.get_type().getattr(intern!(self.py, "__module__"))?;
        let module: String = module.extract().unwrap_or_default();
        let is_name =
            module == "lancehead.cuda.names" || module == "cffi.api" || classes::is_a(o, "_cffi_backend", "FFI");
        let is_enum = || o.is_instance(&self.py.import("enum")?.getattr("Enum")?);
        Ok(is_name || np::is_dtype(o)? || module == "numpy" || module.starts_with("numpy.") || is_enum()?)
    }
    fn read_attribute(&self, o: ObjId, name: &str) -> PyResult<Option<ObjId>> {
        if let Some(Item::Prims) = objects::item(o) {
            return Ok((!name.starts_with("__")).then(|| objects::stored(Item::Prim(name.to_owned()))));
        }
        let object = self.get(o);
        if name.starts_with(overloads::PREFIX) {
            let found = overloads::named(&object, name)?;
            return Ok((!found.is_none()).then(|| objects::intern(&found)));
        }
        if !self.may_read_attributes(&object)? {
            return Ok(None);
        }
        let Ok(value) = object.getattr(name) else { return Ok(None) };
        Ok(Some(objects::intern(&value)))
    }
    fn fold(&self, o: ObjId, args: &[ObjId]) -> PyResult<Option<ObjId>> {
        const FOLDED: &[&str] = &[
            "numpy.finfo",
            "numpy.iinfo",
            "numpy.dtype",
            "numpy.result_type",
            "numpy.promote_types",
            "numpy.can_cast",
            "numpy.issubdtype",
            "builtins.slice",
        ];
        let callee = self.get(o);
        let known = paths::path_of(&callee).is_some_and(|p| FOLDED.contains(&p.as_str()));
        if !known && !callee.is_instance_of::<crate::types::Type>() {
            return Ok(None);
        }
        let args = PyTuple::new(self.py, args.iter().map(|a| self.get(*a)))?;
        Ok(callee.call1(args).ok().map(|v| objects::intern(&v)))
    }
    fn constant_object(&self, c: &Const) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let (value, ty) = match c {
            Const::None => return Ok(py.None().into_bound(py)),
            Const::Bool(b) => return Ok(b.into_pyobject(py)?.to_owned().into_any()),
            Const::Str(s) => return Ok(s.into_pyobject(py)?.into_any()),
            Const::Int(i, t) => (i.into_pyobject(py)?.into_any(), *t),
            Const::Float(x, t) => (x.into_pyobject(py)?.into_any(), *t),
            Const::Complex(re, im, t) => (pyo3::types::PyComplex::from_doubles(py, *re, *im).into_any(), *t),
        };
        if ty.is_weak() {
            return Ok(value);
        }
        match np::load(py)?.scalar_class(py, ty) {
            Some(class) => class.call1((value,)),
            None => Ok(value),
        }
    }
    fn find_library(&self, path: &str) -> Option<(ObjId, bool)> {
        if let Some(stored) = library::stored(self.py) {
            return stored.find(path);
        }
        let parts: Vec<&str> = path.split('.').collect();
        // A class can have the name of the module that defines it: the package says which is meant.
        for split in 0..parts.len() {
            let Some(module) = self.library_module(&parts[..split]) else { continue };
            if let Some(found) = member(&module, &parts[split..]) {
                return Some(found);
            }
        }
        None
    }
    fn library_module(&self, parts: &[&str]) -> Option<Bound<'py, PyAny>> {
        let mut name = "lancehead.lib".to_owned();
        let mut module = self.py.import(&*name).ok()?;
        for part in parts {
            if !module.hasattr(intern!(self.py, "__path__")).ok()? {
                return None;
            }
            name = format!("{name}.{part}");
            module = match self.py.import(&*name) {
                Ok(m) => m,
                Err(e) if e.is_instance_of::<pyo3::exceptions::PyModuleNotFoundError>(self.py) => return None,
                // A mistake in the library itself must not look like a missing function.
                Err(e) => lh_ir::bug!("{name} cannot be imported: {e}"),
            };
        }
        Some(module.into_any())
    }
}

/// Whether an object is a module or class that may be expected to change: not one of the known packages'.
pub fn is_users(o: &Bound<'_, PyAny>) -> bool {
    let home = match o.cast::<PyModule>() {
        Ok(m) => m.name().map(Bound::into_any).ok(),
        Err(_) if o.is_instance_of::<PyType>() => o.getattr(intern!(o.py(), "__module__")).ok(),
        Err(_) => return false,
    };
    home.and_then(|h| h.extract::<String>().ok()).is_none_or(|h| !paths::is_known_package(&h))
}

/// Whether a function is one of the library's.
pub fn is_library(f: &Bound<'_, PyAny>) -> bool {
    let module = f.getattr(intern!(f.py(), "__module__")).and_then(|m| m.extract::<String>());
    module.is_ok_and(|m| m == "lancehead.lib" || m.starts_with("lancehead.lib."))
}

/// A function inside a library module, perhaps in a class; of a property its getter.
fn member(module: &Bound<'_, PyAny>, parts: &[&str]) -> Option<(ObjId, bool)> {
    let mut at = module.clone();
    for (i, part) in parts.iter().enumerate() {
        let Ok(class) = at.cast::<PyType>() else {
            at = at.getattr(*part).ok()?;
            continue;
        };
        // Raw, so that a property is seen as such.
        let raw = class.mro().iter().find_map(|c| c.getattr("__dict__").ok()?.get_item(*part).ok())?;
        let getter = raw.get_type().name().is_ok_and(|n| n == "property");
        let getter = if getter { raw.getattr("fget").ok() } else { None };
        if let Some(f) = getter {
            return (i + 1 == parts.len()).then(|| (objects::intern(&f), true));
        }
        at = at.getattr(*part).ok()?;
    }
    (at.is_instance_of::<PyFunction>() && is_library(&at)).then(|| (objects::intern(&at), false))
}

impl Host for PyHost<'_> {
    fn locals(&mut self, o: ObjId) -> Vec<(String, lh_ir::Ty)> {
        if objects::item(o).is_some() { Vec::new() } else { dispatcher::locals_of(&self.get(o)) }
    }
    fn version(&self) -> (u8, u8) {
        let v = self.py.version_info();
        (v.major, v.minor)
    }
    fn code(&mut self, o: ObjId) -> Source {
        if let Some((stored, n)) = library::function(self.py, o) {
            return Source::Decoded(stored.code(n));
        }
        let raw = self.python_function(o).getattr(intern!(self.py, "__code__")).and_then(|c| code::raw_code(&c));
        Source::Bytecode(raw.unwrap_or_else(|e| lh_ir::bug!("a function cannot be read: {e}")))
    }
    fn function(&mut self, o: ObjId) -> RawFunction {
        if let Some((stored, n)) = library::function(self.py, o) {
            return stored.facts(self.py, n);
        }
        self.raw_function(o).unwrap_or_else(|e| lh_ir::bug!("a function cannot be read: {e}"))
    }
    fn options(&mut self, o: ObjId) -> Option<lh_ir::func::Options> {
        if objects::item(o).is_some() { None } else { dispatcher::options_of(&self.get(o)) }
    }
    fn signatures(&mut self, o: ObjId) -> Vec<(Vec<lh_ir::Ty>, Option<lh_ir::Ty>)> {
        if objects::item(o).is_some() { Vec::new() } else { dispatcher::signatures_of(&self.get(o)) }
    }
    fn object(&mut self, o: ObjId) -> Object {
        if let Some((stored, item)) = library::item(self.py, o) {
            return stored.classify(o, item);
        }
        classify(&self.get(o))
    }
    fn function_object(&mut self, f: FuncId) -> ObjId {
        objects::function_object(f).0
    }
    fn inner_function(&mut self, parent: FuncId) -> FuncId {
        objects::inner_function(parent)
    }
    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId> {
        self.lookup_global(f, name).ok().flatten()
    }
    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId> {
        self.lookup_free(f, index).ok().flatten()
    }
    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId> {
        // Importing runs code, so only what is loaded already is seen.
        let modules = self.py.import("sys").ok()?.getattr("modules").ok()?;
        let module = modules.get_item(name).ok()?;
        let found = match attr {
            None => module,
            Some(a) => module.getattr(a).or_else(|_| modules.get_item(format!("{name}.{a}"))).ok()?,
        };
        Some(objects::intern(&found))
    }
    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId> {
        self.read_attribute(o, name).ok().flatten()
    }
    fn library(&mut self, path: &str) -> Option<(ObjId, bool)> {
        let cached =
            |l: &Mutex<Library>| l.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(path).copied();
        if let Some(found) = cached(&LIBRARY) {
            return found;
        }
        let found = self.find_library(path);
        LIBRARY.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(path.to_owned(), found);
        found
    }
    fn typed_library(&mut self) -> Option<&'static Typed> {
        // Overloads may change what the library calls.
        if overloads::are_known() { None } else { library::typed(self.py) }
    }
    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId> {
        self.fold(o, args).ok().flatten()
    }
    fn overloaded(&mut self, what: &Overload<'_>) -> Option<ObjId> {
        overloads::registered(self.py, what)
    }
    fn overload(&mut self, o: ObjId, what: &Overload<'_>) -> Result<(String, Overloaded), String> {
        overloads::ask(self.py, o, what).map_err(|e| e.value(self.py).to_string())
    }
    fn object_of(&mut self, c: &Const) -> ObjId {
        match self.constant_object(c) {
            Ok(o) => objects::intern(&o),
            Err(e) => lh_ir::bug!("the constant {c:?} has no object: {e}"),
        }
    }
    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool {
        lh_runtime::classes::is_subclass(a, b)
    }
    fn word(&mut self, what: Extern) -> u64 {
        match what {
            // SAFETY: the object is an array, as inference has seen; the struct is NumPy's.
            Extern::Array(o) => unsafe {
                let array = classes::memory_of(&self.get(o));
                (*array.as_ptr().cast::<np::ArrayObject>()).data.addr() as u64
            },
            Extern::Class(c) => u64::from(c.0),
            Extern::Foreign(o) => crate::foreign::address(&self.get(o)) as u64,
        }
    }
    fn captured(&mut self, o: ObjId) -> Option<Captured> {
        if classes::is_on_gpu(&self.get(o)) {
            return Some(Captured::At(self.word(Extern::Array(o))));
        }
        let array = classes::memory_of(&self.get(o));
        let flags = array.getattr("flags").ok()?;
        let is = |name: &str| flags.getattr(name).is_ok_and(|f| f.is_truthy().unwrap_or(false));
        if !is("c_contiguous") && !is("f_contiguous") {
            return None;
        }
        array.call_method1("tobytes", ("A",)).ok()?.extract().ok().map(Captured::Bytes)
    }
    fn linked_ptx(&mut self, o: ObjId, link: u32) -> Result<(String, Option<String>), String> {
        let ptx = || -> PyResult<(String, Option<String>)> {
            let module = self.py.import("lancehead.cuda.linking")?;
            module.getattr("ptx_of")?.call1((self.get(o), link))?.extract()
        };
        ptx().map_err(|e| {
            let text = e.value(self.py).to_string();
            *LINK_ERROR.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(e);
            text
        })
    }
    fn class_object(&mut self, class: ExcId) -> Option<ObjId> {
        crate::raise::class_object(self.py, class).ok().map(|c| objects::intern(&c))
    }
    fn digest(&mut self, o: ObjId) -> Option<Digest> {
        if let Some(known) = self.digests.get(&o) {
            return *known;
        }
        let digest = match library::function(self.py, o) {
            Some((stored, n)) => Some(stored.digest_of(n)),
            None => crate::digest::of(self.py, o),
        };
        self.digests.insert(o, digest);
        digest
    }
    fn name_of(&mut self, o: ObjId) -> Option<(String, String)> {
        let object = self.get(o);
        let module: String = object.getattr(intern!(self.py, "__module__")).ok()?.extract().ok()?;
        let name: String = object.getattr(intern!(self.py, "__qualname__")).ok()?.extract().ok()?;
        (self.import(&module, Some(&name)) == Some(o)).then_some((module, name))
    }
    fn file(&mut self, o: ObjId) -> String {
        let code = self.python_function(o).getattr(intern!(self.py, "__code__"));
        code.and_then(|c| c.getattr(intern!(self.py, "co_filename"))?.extract()).unwrap_or_default()
    }
    fn defaults(&mut self, o: ObjId) -> Vec<ObjId> {
        let values = crate::digest::defaults(&self.python_function(o)).unwrap_or_default();
        values.iter().map(|(_, v)| objects::intern(v)).collect()
    }
    fn detached(&mut self, work: &mut (dyn FnMut() + Send)) {
        crate::flight::generating();
        self.py.detach(work);
    }
    fn describe(&mut self, o: ObjId) -> String {
        let o = self.get(o);
        if let Some(path) = paths::path_of(&o) {
            return path;
        }
        classes::short_text(&o)
    }
}
