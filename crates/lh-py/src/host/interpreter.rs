//! The interpreter as the compiler sees it.

use crate::host::decorated::Decorated;
use crate::host::stopping::Answer as _;
use crate::host::table::{self, Item};
use crate::host::types::Type;
use crate::host::{
    annotations, aside, classify, code, constants, decorated, digest, exc_classes, foreign, frozen, gpu_targets, held,
    library, memos, objmode, overloads, parts, single_flight,
};
use crate::object::canonical::canonical;
use crate::object::lock::lock;
use crate::object::{array, class_names, descriptors, function, numpy, paths};
use hashbrown::HashMap;
use lh_driver::host::{CannotLink, Captured, GpuTarget, Host, Inherited, LinkedPtx, RawFunction, Source};
use lh_driver::typed_library::TypedLibrary;
use lh_driver::{Digest, Output};
use lh_infer::world::{Object, Overload, Overloaded};
use lh_ir::class::Binding;
use lh_ir::diag::{self, Diagnostic};
use lh_ir::func::{Extern, Options};
use lh_ir::untyped::Code;
use lh_ir::{Const, ExcId, FuncId, ObjId, Ty};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList, PyModule, PyTuple, PyType};
use std::sync::{LazyLock, Mutex};

/// Functions of the library by path; `None` for names that it does not have.
type Library = HashMap<String, Option<(ObjId, Binding)>>;
static LIBRARY: LazyLock<Mutex<Library>> = LazyLock::new(Default::default);

/// The exception that was raised while code was prepared for linking. It is raised instead of the diagnostic.
static LINK_ERROR: Mutex<Option<PyErr>> = Mutex::new(None);

/// Takes that exception.
pub fn take_link_error() -> Option<PyErr> {
    lock(&LINK_ERROR).take()
}

/// The interpreter, while the thread is attached to it.
pub struct PyHost<'py> {
    py: Python<'py>,
    /// Hashes made so far: nothing is expected to change during the one request that a host serves.
    digests: HashMap<ObjId, Option<Digest>>,
    /// The exception that an overload raised, with the headline of the diagnostic that stands for it.
    raised: Option<(String, PyErr)>,
}

impl<'py> PyHost<'py> {
    /// The interpreter of an attached thread.
    pub fn new(py: Python<'py>) -> Self {
        PyHost { py, digests: HashMap::new(), raised: None }
    }
    /// The exception of an overload that a diagnostic stands for.
    pub fn take_raised(&mut self, d: &Diagnostic) -> Option<PyErr> {
        self.raised
            .take()
            .filter(|(headline, _)| d.id == diag::NO_MATCHING_CALL && *headline == d.headline)
            .map(|r| r.1)
    }
    fn get(&self, o: ObjId) -> Bound<'py, PyAny> {
        table::object(self.py, o)
    }
    /// Asks a decorated function; `None` for other objects.
    fn ask<R>(&self, o: ObjId, question: impl FnOnce(&dyn Decorated) -> R) -> Option<R> {
        if table::item(o).is_some() { None } else { decorated::of(&self.get(o)).map(question) }
    }
    /// The Python function behind a function or dispatcher.
    fn python_function(&self, o: ObjId) -> Bound<'py, PyAny> {
        let o = self.get(o);
        let function = decorated::py_func(&o).unwrap_or(o);
        // Where its code is asked for, a block that cannot be is refused.
        objmode::as_compiled(function.clone()).unwrap_or(function)
    }
    fn raw_function(&self, o: ObjId) -> PyResult<RawFunction> {
        let f = self.python_function(o);
        let (is_library, meaning) = (function::is_library(&f), function::meaning(&f));
        // Compilers remember what they know of functions of the library.
        let number = if is_library { table::keep } else { table::intern };
        let (mut defaults, mut kwdefaults) = (Vec::new(), Vec::new());
        for (name, value) in function::defaults(&f)? {
            match name {
                None => defaults.push(number(&value)),
                Some(name) => kwdefaults.push((name, number(&value))),
            }
        }
        let options = decorated::of(&self.get(o)).map(|d| d.options());
        Ok(RawFunction { defaults, kwdefaults, is_library, meaning, options })
    }
    fn lookup_global(&self, f: FuncId, name: &str) -> PyResult<Option<ObjId>> {
        let object = table::function_object(f).0;
        if let Some((stored, n)) = library::function(self.py, object) {
            let builtin = || self.py.import("builtins").answer()?.getattr(name).answer().map(|v| table::intern(&v));
            return Ok(stored.global(self.py, n, name).or_else(builtin));
        }
        let function = self.python_function(object);
        let globals = function.getattr(intern!(self.py, "__globals__"))?;
        let globals = globals.cast::<PyDict>()?;
        if let Some(v) = globals.get_item(name)? {
            return Ok(Some(table::intern(&v)));
        }
        let builtins = function.getattr(intern!(self.py, "__builtins__"))?;
        Ok(builtins.cast::<PyDict>()?.get_item(name)?.map(|v| table::intern(&v)))
    }
    fn lookup_free(&self, f: FuncId, index: u32) -> PyResult<Option<ObjId>> {
        let (object, own) = table::function_object(f);
        if !own {
            return Ok(None);
        }
        let closure = self.python_function(object).getattr(intern!(self.py, "__closure__"))?;
        let cell = closure.get_item(index)?;
        // An empty cell raises ValueError: the variable is not assigned yet.
        Ok(cell.getattr(intern!(self.py, "cell_contents")).answer().map(|v| table::intern(&v)))
    }
    fn may_read_attributes(&self, o: &Bound<'py, PyAny>) -> PyResult<bool> {
        if o.is_instance_of::<PyModule>() || o.is_instance_of::<PyType>() || o.is_instance_of::<Type>() {
            return Ok(true);
        }
        let module = o.get_type().getattr(intern!(self.py, "__module__"))?;
        let module: String = module.extract().unwrap_or_default();
        let is_name =
            module == "lancehead.cuda.names" || module == "cffi.api" || class_names::is_a(o, "_cffi_backend", "FFI");
        let is_enum = || o.is_instance(&self.py.import("enum")?.getattr("Enum")?);
        let is_numpys = (module == "numpy" || module.starts_with("numpy.")) && !array::is_array(o);
        let is_field = class_names::is_a(o, "dataclasses", "Field") || class_names::is_a(o, "attr._make", "Attribute");
        let is_name = is_name || is_field || objmode::is_block(o);
        Ok(is_name || numpy::is_dtype(o)? || is_numpys || is_enum()?)
    }
    fn read_attribute(&self, o: ObjId, name: &str) -> PyResult<Option<ObjId>> {
        if let Some(Item::Prims) = table::item(o) {
            return Ok((!name.starts_with("__")).then(|| table::stored(Item::Prim(name.to_owned()))));
        }
        let object = self.get(o);
        if name.starts_with(overloads::PREFIX) {
            let found = overloads::named(&object, name)?;
            return Ok((!found.is_none()).then(|| table::intern(&found)));
        }
        if STATED.contains(&name) {
            // They are on the function itself, which a decorator may have wrapped.
            let own = object.getattr("py_func").unwrap_or(object);
            return Ok(own.getattr(name).answer().map(|v| table::intern(&v)));
        }
        if !self.may_read_attributes(&object)? {
            return Ok(None);
        }
        let value = match object.getattr(name) {
            Ok(value) => Some(value),
            Err(_) if object.is_instance_of::<PyType>() => overloads::class_method(&object, name)?,
            Err(_) => None,
        };
        Ok(value.map(|v| table::intern(&v)))
    }
    fn fold(&self, o: ObjId, args: &[ObjId]) -> PyResult<Option<ObjId>> {
        const FOLDED: &str = "numpy.finfo numpy.iinfo numpy.dtype numpy.result_type numpy.promote_types numpy.can_cast \
                              numpy.issubdtype numpy.datetime64 numpy.timedelta64 builtins.slice \
                              lancehead.annotations.tuple_of lancehead.annotations.list_of \
                              lancehead.annotations.dtype_of lancehead.annotations.dict_of \
                              builtins.issubclass dataclasses.fields attr.fields";
        let callee = self.get(o);
        let known = paths::path_of(&callee).is_some_and(|p| FOLDED.split(' ').any(|known| known == p));
        let recorder = || self.py.import("lancehead.objectmode")?.getattr("recorder");
        if !known && !callee.is_instance_of::<Type>() && !recorder()?.is(&callee) {
            return Ok(None);
        }
        let args = PyTuple::new(self.py, args.iter().map(|a| self.get(*a)))?;
        Ok(callee.call1(args).answer().map(|v| table::intern(&v)))
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
        match numpy::load(py)?.scalar_class(py, ty) {
            Some(class) => class.call1((value,)),
            None => Ok(value),
        }
    }
    fn find_library(&self, path: &str) -> Option<(ObjId, Binding)> {
        let found = library::stored(self.py).and_then(|stored| stored.find(path));
        if found.is_some() || !library::is_imported(self.py) {
            return found;
        }
        let parts: Vec<&str> = path.split('.').collect();
        // A class can have the name of the module that defines it; the package decides between them.
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
        let mut module = self.py.import(&*name).answer()?;
        for part in parts {
            if !module.hasattr(intern!(self.py, "__path__")).answer()? {
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

/// A function of a library module or of a class in one; of a property the getter.
fn member(module: &Bound<'_, PyAny>, parts: &[&str]) -> Option<(ObjId, Binding)> {
    let (mut at, mut binding) = (module.clone(), Binding::Method);
    for (i, part) in parts.iter().enumerate() {
        let Ok(class) = at.cast::<PyType>() else {
            at = at.getattr(*part).answer()?;
            continue;
        };
        // The raw attribute shows how it is bound.
        let raw = class.mro().iter().find_map(|c| c.getattr("__dict__").answer()?.get_item(*part).answer())?;
        binding = match raw.get_type().name().answer()?.to_str().answer()? {
            "property" => Binding::Property,
            "staticmethod" => Binding::Static,
            _ => Binding::Method,
        };
        if binding == Binding::Property {
            let getter = raw.getattr("fget").answer()?;
            return (i + 1 == parts.len()).then(|| (table::intern(&getter), binding));
        }
        at = at.getattr(*part).answer()?;
    }
    (at.is_instance_of::<PyFunction>() && function::is_library(&at)).then(|| (table::intern(&at), binding))
}

/// Attributes of functions that state their derivatives (`custom_vjp` and `custom_jvp` of `lancehead/gradients.py`).
const STATED: [&str; 3] = ["__forward__", "__backward__", "__tangent__"];

impl Host for PyHost<'_> {
    fn locals(&mut self, o: ObjId) -> Vec<(String, Ty)> {
        self.ask(o, |d| d.locals(self.py)).unwrap_or_default()
    }
    fn sent(&mut self, o: ObjId) -> Option<Ty> {
        if table::item(o).is_some() {
            return None;
        }
        annotations::sent(&self.python_function(o)).unwrap_or_default()
    }
    fn version(&self) -> (u8, u8) {
        let v = self.py.version_info();
        (v.major, v.minor)
    }
    fn code(&mut self, o: ObjId) -> Source {
        if let Some((stored, n)) = library::function(self.py, o) {
            return Source::Decoded(stored.code(n));
        }
        let object = self.get(o);
        let function = decorated::py_func(&object).unwrap_or(object);
        let form = objmode::as_compiled(function.clone()).unwrap_or_else(|error| {
            *lock(&LINK_ERROR) = Some(error);
            function
        });
        let raw = form.getattr(intern!(self.py, "__code__")).and_then(|c| code::raw_code(&c));
        Source::Bytecode(raw.unwrap_or_else(|e| lh_ir::bug!("a function cannot be read: {e}")))
    }
    fn function(&mut self, o: ObjId) -> RawFunction {
        if let Some((stored, n)) = library::function(self.py, o) {
            return stored.facts(self.py, n);
        }
        self.raw_function(o).unwrap_or_else(|e| lh_ir::bug!("a function cannot be read: {e}"))
    }
    fn options(&mut self, o: ObjId) -> Option<Options> {
        self.ask(o, |d| d.options())
    }
    fn inherited(&mut self, o: ObjId) -> Inherited {
        let py = self.py;
        self.ask(o, |d| d.inherited(py)).unwrap_or_default()
    }
    fn signatures(&mut self, o: ObjId) -> Vec<(Vec<Ty>, Option<Ty>)> {
        self.ask(o, |d| d.limits()).unwrap_or_default()
    }
    fn object(&mut self, o: ObjId) -> Object {
        if let Some((stored, item)) = library::item(self.py, o) {
            return stored.classify(o, item);
        }
        classify::classify(&self.get(o))
    }
    fn function_object(&mut self, f: FuncId) -> ObjId {
        table::function_object(f).0
    }
    fn type_object(&mut self, ty: Ty) -> ObjId {
        match Type::of(self.py, canonical(ty)) {
            Ok(t) => table::intern(t.bind(self.py).as_any()),
            Err(e) => lh_ir::bug!("`{ty}` has no object: {e}"),
        }
    }
    fn inner_function(&mut self, parent: FuncId, code: Option<&Code>) -> FuncId {
        table::inner_function(parent, code)
    }
    fn global(&mut self, f: FuncId, name: &str) -> Option<ObjId> {
        self.lookup_global(f, name).answer().flatten()
    }
    fn frozen(&mut self, f: FuncId, args: &[Ty], name: &str, now: Option<ObjId>) -> Option<ObjId> {
        let object = table::function_object(f).0;
        if self.ask(object, |_| ()).is_none() { now } else { frozen::value(object, args, name, now, table::is_alive) }
    }
    fn free(&mut self, f: FuncId, index: u32) -> Option<ObjId> {
        self.lookup_free(f, index).answer().flatten()
    }
    fn import(&mut self, name: &str, attr: Option<&str>) -> Option<ObjId> {
        // An import would run code, so only loaded modules and our own are found.
        let modules = self.py.import("sys").answer()?.getattr("modules").answer()?;
        let module = match modules.get_item(name) {
            Err(_) if name.starts_with("lancehead.") => self.py.import(name).answer()?.into_any(),
            found => found.answer()?,
        };
        let found = match attr {
            None => module,
            Some(a) => module.getattr(a).or_else(|_| modules.get_item(format!("{name}.{a}"))).answer()?,
        };
        Some(table::intern(&found))
    }
    fn attr(&mut self, o: ObjId, name: &str) -> Option<ObjId> {
        self.read_attribute(o, name).answer().flatten()
    }
    fn names(&mut self, o: ObjId) -> Vec<String> {
        let object = self.get(o);
        match self.may_read_attributes(&object).answer() {
            Some(true) => public(object.dir()),
            _ => Vec::new(),
        }
    }
    fn globals(&mut self, f: FuncId) -> Vec<String> {
        let object = table::function_object(f).0;
        if library::function(self.py, object).is_some() {
            return Vec::new();
        }
        let globals = self.python_function(object).getattr(intern!(self.py, "__globals__"));
        public(globals.and_then(|g| Ok(g.cast::<PyDict>()?.keys())))
    }
    fn is_static(&mut self, class: ObjId, name: &str) -> bool {
        descriptors::is_static(&self.get(class), name)
    }
    fn library(&mut self, path: &str) -> Option<(ObjId, Binding)> {
        let known = lock(&LIBRARY).get(path).copied();
        if let Some(found) = known {
            return found;
        }
        let found = self.find_library(path);
        lock(&LIBRARY).insert(path.to_owned(), found);
        found
    }
    fn typed_library(&mut self) -> Option<&'static TypedLibrary> {
        // Overloads may change what the library calls.
        if overloads::are_known() { None } else { library::typed(self.py) }
    }
    fn fold_call(&mut self, o: ObjId, args: &[ObjId]) -> Option<ObjId> {
        self.fold(o, args).answer().flatten()
    }
    fn overloaded(&mut self, what: &Overload<'_>) -> Option<ObjId> {
        overloads::registered(self.py, what)
    }
    fn overload(&mut self, o: ObjId, what: &Overload<'_>) -> diag::Result<(String, Overloaded)> {
        overloads::ask(self.py, o, what).map_err(|e| {
            let failed = class_names::is_a(e.value(self.py), "lancehead.errors", "LoweringError");
            let id = if failed { diag::EXTENSION_FAILED } else { diag::NO_MATCHING_CALL };
            let reasons =
                e.value(self.py).getattr("reasons").and_then(|r| r.extract::<Vec<String>>()).unwrap_or_default();
            let d = reasons.into_iter().fold(Diagnostic::new(id, e.value(self.py).to_string()), Diagnostic::note);
            // Any other exception of an overload is an error of the program's.
            if !failed && !overloads::says_none_fits(&e, self.py) {
                self.raised = Some((d.headline.clone(), e));
            }
            d
        })
    }
    fn object_of(&mut self, c: &Const) -> ObjId {
        match self.constant_object(c) {
            Ok(o) => table::intern(&o),
            Err(e) => lh_ir::bug!("the constant {c:?} has no object: {e}"),
        }
    }
    fn exc_is_subclass(&mut self, a: ExcId, b: ExcId) -> bool {
        lh_runtime::classes::is_subclass(a, b)
    }
    fn exc_object(&mut self, class: ExcId) -> Option<ObjId> {
        exc_classes::registered(class)
    }
    fn word(&mut self, what: Extern) -> u64 {
        match what {
            // SAFETY: the object is an array, as inference has seen; the struct is NumPy's.
            Extern::Array(o) => unsafe {
                let array = classify::memory_of(&self.get(o));
                (*array.as_ptr().cast::<array::ArrayObject>()).data.addr() as u64
            },
            Extern::Class(c) => u64::from(c.0),
            Extern::Foreign(o) => {
                let object = self.get(o);
                if let Ok(Some((_, cell))) = constants::table(&object) {
                    return cell as u64;
                }
                if parts::is_cached(&object) {
                    return memos::of(&object) as u64;
                }
                if let Some(function) = objmode::function_of_block(&object) {
                    return function as u64;
                }
                // An object that compiled code only compares by `is`: the table of objects holds it.
                if let Object::Other(_) = classify::classify(&object) {
                    return object.as_ptr() as u64;
                }
                foreign::address(&object) as u64
            }
            Extern::Type(n) => u64::from(n),
            Extern::Function(o) => {
                table::keep_number(o);
                u64::from(o.0) + 1
            }
        }
    }
    fn captured(&mut self, o: ObjId) -> Option<Captured> {
        if classify::is_on_gpu(&self.get(o)) {
            return Some(Captured::At(self.word(Extern::Array(o))));
        }
        let array = classify::memory_of(&self.get(o));
        let flags = array.getattr("flags").answer()?;
        let is = |name: &str| flags.getattr(name).is_ok_and(|f| f.is_truthy().unwrap_or(false));
        if !is("c_contiguous") && !is("f_contiguous") {
            return None;
        }
        array.call_method1("tobytes", ("A",)).answer()?.extract().answer().map(Captured::Bytes)
    }
    fn linked_ptx(&mut self, o: ObjId, link: u32) -> Result<LinkedPtx, CannotLink> {
        let ptx = || -> PyResult<(String, Option<String>)> {
            let module = self.py.import("lancehead.cuda.linking")?;
            module.getattr("ptx_of")?.call1((self.get(o), link))?.extract()
        };
        let linked = ptx().map(|(text, without)| LinkedPtx { text, without });
        linked.map_err(|e| {
            let text = CannotLink(e.value(self.py).to_string());
            *lock(&LINK_ERROR) = Some(e);
            text
        })
    }
    fn scope(&mut self) -> u64 {
        held::scope()
    }
    fn hold(&mut self, scope: u64) -> bool {
        held::hold(self.py, scope)
    }
    fn is_held(&mut self, scope: u64) -> bool {
        held::is_held(self.py, scope)
    }
    fn ended(&mut self) -> usize {
        held::ended()
    }
    fn is_alive(&mut self, f: FuncId) -> bool {
        table::is_alive(table::function_object(f).0)
    }
    fn class_object(&mut self, class: ExcId) -> Option<ObjId> {
        exc_classes::class_object(self.py, class).answer().map(|c| table::intern(&c))
    }
    fn digest(&mut self, o: ObjId) -> Option<Digest> {
        if let Some(known) = self.digests.get(&o) {
            return *known;
        }
        let digest = match library::function(self.py, o) {
            Some((stored, n)) => Some(stored.digest_of(n)),
            None => digest::of(self.py, o),
        };
        self.digests.insert(o, digest);
        digest
    }
    fn name_of(&mut self, o: ObjId) -> Option<(String, String)> {
        let object = self.get(o);
        let module: String = object.getattr(intern!(self.py, "__module__")).answer()?.extract().answer()?;
        let name: String = object.getattr(intern!(self.py, "__qualname__")).answer()?.extract().answer()?;
        (self.import(&module, Some(&name)) == Some(o)).then_some((module, name))
    }
    fn gpu(&mut self, number: u32) -> GpuTarget {
        gpu_targets::find(number).unwrap_or_else(|| lh_ir::bug!("GPU {number} is not known"))
    }
    fn file(&mut self, o: ObjId) -> String {
        let code = self.python_function(o).getattr(intern!(self.py, "__code__"));
        code.and_then(|c| c.getattr(intern!(self.py, "co_filename"))?.extract()).unwrap_or_default()
    }
    fn defaults(&mut self, o: ObjId) -> Vec<ObjId> {
        let values = function::defaults(&self.python_function(o)).unwrap_or_default();
        values.iter().map(|(_, v)| table::intern(v)).collect()
    }
    fn detached(&mut self, work: Box<dyn FnOnce() -> Output + Send>, instructions: usize) -> Output {
        single_flight::mark_generating();
        aside::run(self.py, work, instructions)
    }
    fn describe(&mut self, o: ObjId) -> String {
        let o = self.get(o);
        if let Some(path) = paths::path_of(&o) {
            return path;
        }
        class_names::short_text(&o)
    }
}

/// Those of some names that programs may use.
fn public(names: PyResult<Bound<'_, PyList>>) -> Vec<String> {
    let names: Vec<String> = names.and_then(|names| names.extract()).answer().unwrap_or_default();
    names.into_iter().filter(|name| !name.starts_with('_')).collect()
}
