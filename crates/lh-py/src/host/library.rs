//! The library as it was stored when lancehead was built, used while the sources are those of the build. Its functions
//! need no Python modules; one is imported only for an object that has no other form, such as a named tuple.

use crate::host::code::raw_code;
use crate::host::stopping::Answer as _;
use crate::host::table::{self, Item};
use crate::object::attach::attach;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_driver::host::RawFunction;
use lh_driver::typed_library::TypedLibrary;
use lh_driver::{Digest, Hasher, Shipped};
use lh_infer::world::Object;
use lh_ir::ObjId;
use lh_ir::class::{Binding, Declaration};
use lh_ir::parse::Tables;
use lh_ir::untyped::{Code, PyConst};
use lh_library::{Function, Library, Meaning, sources};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyEllipsis, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/library.bin"));

/// The library that this process uses.
struct State {
    /// A hash of its sources.
    digest: u64,
    /// Whether there are modules beside those of lancehead.
    is_extended: bool,
    stored: Option<Stored>,
    typed: Option<TypedLibrary>,
    /// Directory of the package.
    package: PathBuf,
}

/// A stored library.
pub struct Stored {
    library: Library,
    /// Directory of the package.
    package: String,
    functions: Mutex<HashMap<u32, Arc<Known>>>,
}

/// A function that has been asked for.
struct Known {
    function: Function<Mutex<Option<Code>>>,
    globals: Mutex<HashMap<String, ObjId>>,
}

fn state(py: Python<'_>) -> PyResult<&'static State> {
    static STATE: PyOnceLock<State> = PyOnceLock::new();
    STATE.get_or_try_init(py, || {
        let packages: Vec<PathBuf> = py.import("lancehead")?.getattr("__path__")?.extract()?;
        let package = packages.first().map_or(Path::new(""), |p| p);
        let digest = sources::digest(&package.join("lib"))?;
        let wanted = std::env::var("LANCEHEAD_LIBRARY").unwrap_or_default();
        let library = Library::open(BYTES).filter(|l| wanted != "source" && l.digest() == digest);
        let file = if wanted.contains('/') { PathBuf::from(&wanted) } else { package.join("library.typed") };
        let (directory, package) = (package.to_owned(), package.to_string_lossy().into_owned());
        let more = extensions(py)?;
        let typed = library.as_ref().filter(|_| wanted != "decoded").and_then(|_| open(py, &file, digest, &package));
        let stored = library.map(|library| Stored { library, package, functions: Mutex::default() });
        Ok(State {
            digest: digest ^ more.unwrap_or_default(),
            is_extended: more.is_some(),
            stored,
            typed,
            package: directory,
        })
    })
}

/// A hash of the modules in further folders, if a program has appended such to `lancehead.lib.__path__`.
fn extensions(py: Python<'_>) -> PyResult<Option<u64>> {
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(library) = modules.get_item("lancehead.lib") else { return Ok(None) };
    let folders: Vec<PathBuf> = library.getattr("__path__")?.extract()?;
    let mut out = None;
    for folder in folders.iter().skip(1) {
        out = Some(out.unwrap_or(0u64).rotate_left(1) ^ sources::digest(folder)?);
    }
    Ok(out)
}

/// The declaration of a class, asked for by the compiler.
pub fn declaration(path: &str) -> Option<Declaration> {
    attach(|py| {
        stored(py)
            .and_then(|s| s.library.class(path))
            .or_else(|| imported(py, path).and_then(|c| declared(path, &c).answer()?))
    })
}

/// Whether functions of the library may have to be imported.
pub fn is_imported(py: Python<'_>) -> bool {
    state(py).is_ok_and(|s| s.stored.is_none() || s.is_extended)
}

/// The class of a library module.
fn imported<'py>(py: Python<'py>, path: &str) -> Option<Bound<'py, PyAny>> {
    if !is_imported(py) {
        return None;
    }
    let (module, name) = path.rsplit_once('.')?;
    py.import(format!("lancehead.lib.{module}")).answer()?.getattr(name).answer()
}

/// The declaration in a class, if it is one of compiled code.
fn declared(path: &str, class: &Bound<'_, PyAny>) -> PyResult<Option<Declaration>> {
    let own = class.getattr("__dict__")?;
    let told = |name: &str| own.get_item(name).ok();
    let Some(parameters) = told("__parameters__") else { return Ok(None) };
    let texts = |name: &str| match told(name) {
        Some(texts) => texts.cast_into::<PyDict>()?.items().extract(),
        None => Ok(Vec::new()),
    };
    Ok(Some(Declaration {
        path: path.to_owned(),
        parameters: parameters.extract()?,
        fields: texts("__fields__")?,
        items: told("__items__").map(|text| text.extract()).transpose()?,
        by_value: told("__by_value__").is_some(),
        entries: told("__entries__").map(|text| text.extract()).transpose()?,
        infers: texts("__infers__")?,
        user: None,
    }))
}

/// The conditions under which typed functions of the library hold: the compiler, the library, and the parts of Python
/// and NumPy that it reads.
fn made_for(py: Python<'_>, digest: u64) -> PyResult<String> {
    let version = py.version_info();
    let numpy: String = py.import("numpy")?.getattr("__version__")?.extract()?;
    let numpy = numpy.split('.').next().unwrap_or_default();
    let build = (env!("LANCEHEAD_BUILD"), lh_driver::chosen_passes());
    Ok(format!("{}{} {digest:016x} {}.{} {numpy}", build.0, build.1, version.major, version.minor))
}

/// A file of the package, mapped for as long as the process lives.
fn mapped(file: &Path) -> Option<&'static [u8]> {
    let file = std::fs::File::open(file).ok()?;
    // SAFETY: it belongs to the installed package, as the extension module does, which is mapped, too.
    let bytes = Box::leak(Box::new(unsafe { memmap2::Mmap::map(&file) }.ok()?));
    Some(bytes)
}

/// The objects that came with lancehead, for the highest level of processors that this one has and they are for.
pub fn objects(py: Python<'_>) -> Option<Shipped> {
    let state = state(py).ok()?;
    let level = lh_driver::shipped_level()?;
    Shipped::open(mapped(&state.package.join(format!("library.{level}")))?, (level, ""))
}

/// The typed functions in a file, if they hold for this process.
fn open(py: Python<'_>, file: &Path, digest: u64, package: &str) -> Option<TypedLibrary> {
    let bytes = mapped(file)?;
    let tables = Tables { row: lh_ops::row, runtime: lh_ops::runtime::find };
    TypedLibrary::open(bytes, &made_for(py, digest).ok()?, package, tables)
}

/// The typed functions of the library, if they hold for this process.
pub fn typed(py: Python<'_>) -> Option<&'static TypedLibrary> {
    state(py).ok()?.typed.as_ref()
}

/// The conditions under which functions of the stored library hold once they are typed, and the directory of the
/// package; `None` if the stored library is not used.
pub fn validity(py: Python<'_>) -> PyResult<Option<(String, &'static str)>> {
    let state = state(py)?;
    let Some(stored) = &state.stored else { return Ok(None) };
    Ok(Some((made_for(py, state.digest)?, &stored.package)))
}

/// A hash of the library's sources.
pub fn digest(py: Python<'_>) -> PyResult<u64> {
    state(py).map(|s| s.digest)
}

/// The stored library, if it is of these sources.
pub fn stored(py: Python<'_>) -> Option<&'static Stored> {
    state(py).ok()?.stored.as_ref()
}

/// The item of the stored library behind an object's number.
pub fn item(py: Python<'_>, o: ObjId) -> Option<(&'static Stored, Item)> {
    let item = table::item(o)?;
    Some((stored(py)?, item))
}

/// The number of the stored library's function for an object.
pub fn function(py: Python<'_>, o: ObjId) -> Option<(&'static Stored, u32)> {
    match item(py, o)? {
        (stored, Item::Function(n)) => Some((stored, n)),
        _ => None,
    }
}

impl Stored {
    /// The function at a path, and whether it is a property's getter.
    pub fn find(&self, path: &str) -> Option<(ObjId, Binding)> {
        let (n, binding) = self.library.find(path)?;
        Some((table::stored(Item::Function(n)), binding))
    }

    fn known(&self, n: u32) -> Arc<Known> {
        if let Some(known) = lock(&self.functions).get(&n) {
            return known.clone();
        }
        let Function { home, means, code, defaults, kwdefaults, globals } = self.library.function(n, &self.package);
        let function = Function { home, means, code: Mutex::new(Some(code)), defaults, kwdefaults, globals };
        let known = Arc::new(Known { function, globals: Mutex::default() });
        lock(&self.functions).entry(n).or_insert(known).clone()
    }

    /// Untyped code of a function, which the caller keeps.
    pub fn code(&self, n: u32) -> Code {
        let kept = lock(&self.known(n).function.code).take();
        kept.unwrap_or_else(|| self.library.function(n, &self.package).code)
    }

    /// Facts about a function.
    pub fn facts(&self, py: Python<'_>, n: u32) -> RawFunction {
        let known = self.known(n);
        let value = |m: &Meaning| self.object(py, m).unwrap_or_else(|| lh_ir::bug!("a default is not found: {m:?}"));
        RawFunction {
            defaults: known.function.defaults.iter().map(value).collect(),
            kwdefaults: known.function.kwdefaults.iter().map(|(name, m)| (name.clone(), value(m))).collect(),
            is_library: true,
            meaning: lh_ir::Meaning::of_word(&known.function.means),
            options: None,
        }
    }

    /// The object of a global name of a function, if its module has one.
    pub fn global(&self, py: Python<'_>, n: u32, name: &str) -> Option<ObjId> {
        let known = self.known(n);
        if let Some(o) = lock(&known.globals).get(name) {
            return Some(*o);
        }
        let (_, meaning) = known.function.globals.iter().find(|(g, _)| g == name)?;
        let o = self.object(py, meaning)?;
        lock(&known.globals).insert(name.to_owned(), o);
        Some(o)
    }

    fn object(&self, py: Python<'_>, m: &Meaning) -> Option<ObjId> {
        match m {
            Meaning::Function(n) => Some(table::stored(Item::Function(*n))),
            Meaning::Prims => Some(table::stored(Item::Prims)),
            Meaning::Const(c) => constant(py, c).ok().map(|c| table::keep(&c)),
            Meaning::Import(module, name) => found(py, module, name).ok().map(|o| table::keep(&o)),
        }
    }

    /// An item as the compiler sees it.
    pub fn classify(&self, o: ObjId, item: Item) -> Object {
        match item {
            Item::Function(_) => Object::Func(table::function(o)),
            Item::Prims => Object::Module("lancehead.lib.prim".to_owned()),
            Item::Prim(name) => Object::Path(format!("prim.{name}")),
        }
    }

    /// The hash of a function. The hash of the whole library covers its code.
    pub fn digest_of(&self, n: u32) -> Digest {
        let known = self.known(n);
        let mut h = Hasher::new("library");
        [&known.function.home.0, &known.function.home.1].iter().for_each(|t| h.text(t));
        h.finish()
    }

    /// The Python object of an item; imports its module.
    pub fn python<'py>(&self, py: Python<'py>, item: &Item) -> PyResult<Bound<'py, PyAny>> {
        const PRIMS: &str = "lancehead.lib.prim";
        match item {
            Item::Function(n) => {
                let known = self.known(*n);
                let o = found(py, &known.function.home.0, &known.function.home.1)?;
                if o.get_type().name()? == "property" { o.getattr("fget") } else { Ok(o) }
            }
            Item::Prims => found(py, PRIMS, ""),
            Item::Prim(name) => found(py, PRIMS, name),
        }
    }
}

/// An attribute of a module by a dotted name.
fn found<'py>(py: Python<'py>, module: &str, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = py.import(module)?.into_any();
    name.split('.').filter(|part| !part.is_empty()).try_fold(module, |at, part| at.getattr(part))
}

fn constant<'py>(py: Python<'py>, c: &PyConst) -> PyResult<Bound<'py, PyAny>> {
    Ok(match c {
        PyConst::None => py.None().into_bound(py),
        PyConst::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
        PyConst::Int(i) => i.into_pyobject(py)?.into_any(),
        PyConst::Float(x) => x.into_pyobject(py)?.into_any(),
        PyConst::Complex(re, im) => PyComplex::from_doubles(py, *re, *im).into_any(),
        PyConst::Str(s) => s.into_pyobject(py)?.into_any(),
        PyConst::Bytes(b) => PyBytes::new(py, b).into_any(),
        PyConst::Ellipsis => PyEllipsis::get(py).to_owned().into_any(),
        PyConst::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|i| constant(py, i)).collect::<PyResult<_>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        PyConst::BigInt(_) | PyConst::Slice(_) | PyConst::Unbound => lh_ir::bug!("a library constant is {c:?}"),
    })
}

/// The stored function at a path, for tests: the function itself, the text of its code as stored and as decoded from
/// its bytecode, its defaults and globals. `None` if the stored library is not used or has no such function.
#[pyfunction]
pub fn stored_function<'py>(py: Python<'py>, path: &str) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let Some((stored, (o, _))) = stored(py).and_then(|s| Some((s, s.find(path)?))) else { return Ok(None) };
    let Some(Item::Function(n)) = table::item(o) else { return Ok(None) };
    let function = table::object(py, o);
    let raw = raw_code(&function.getattr("__code__")?)?;
    let version = py.version_info();
    let decoded = lh_frontend::translate(&raw, (version.major, version.minor));
    let decoded = decoded.unwrap_or_else(|d| lh_ir::bug!("{path}: {}", d.headline));
    let text = |code: &Code| format!("{} {}\n{code:#}", code.file, code.first_line);
    let (facts, known) = (stored.facts(py, n), stored.known(n));
    let python = |o: ObjId| table::object(py, o);
    let defaults: Vec<_> =
        facts.defaults.iter().chain(facts.kwdefaults.iter().map(|(_, o)| o)).map(|o| python(*o)).collect();
    let globals = PyDict::new(py);
    for (name, _) in &known.function.globals {
        globals.set_item(name, stored.global(py, n, name).map(python))?;
    }
    let parts = (function, text(&stored.code(n)), text(&decoded), defaults, globals);
    Ok(Some(parts.into_pyobject(py)?))
}
