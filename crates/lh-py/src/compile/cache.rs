//! The cache as dispatchers use it: the places of a function's files, the conditions for their use, and the messages
//! when they cannot be used.

use crate::host::interpreter::PyHost;
use crate::host::{decorated, gpu_targets, library, table};
use crate::object::errors;
use crate::object::lock::lock;
use lh_driver::cache::{self, Entry, Facts, Folder, Lock, Refused, Request};
use lh_driver::{Compiled, Digest, Hasher, Level, ObjectStore};
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::exceptions::PyPermissionError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// Hash of the sources that this compiler is built from.
const BUILD: &str = env!("LANCEHEAD_BUILD");

/// Directory beside sources with code that is shipped with them.
const PACK: &str = "__lancehead__";

/// How long a process waits for another one that compiles the same.
const PATIENCE: Duration = Duration::from_secs(20);

/// Directories for the files of a function, in the order of preference, and the prefix of their names.
pub struct Home {
    dirs: Vec<Folder>,
    /// The directory of code that came with the sources.
    pack: Option<Folder>,
    /// The directory of limited size that contains the last of them.
    root: Option<PathBuf>,
    stem: String,
}

/// The result of a look-up.
pub struct Lookup {
    /// The files of the function.
    pub home: Home,
    /// The key, if the request has one.
    key: Option<Digest>,
    /// The right to compile; other processes wait for it.
    lock: Option<Lock>,
}

/// Whether a function is cached: by its decorator, or because everything (or nothing) is.
pub fn is_wanted(py: Python<'_>, decorator: bool) -> bool {
    match setting(py, intern!(py, "CACHE")) {
        Some(s) if !s.is_none() => s.is_truthy().unwrap_or(false),
        _ => decorator,
    }
}

fn setting<'py>(py: Python<'py>, name: &Bound<'py, pyo3::types::PyString>) -> Option<Bound<'py, PyAny>> {
    py.import(intern!(py, "lancehead.config")).and_then(|m| m.getattr(name)).ok()
}

/// The directory that a program's own locator gives for a function (`lancehead.caching`), and what tells its files from
/// others.
fn located(function: &Bound<'_, PyAny>, file: &Path) -> PyResult<Option<(PathBuf, String)>> {
    let modules = function.py().import(intern!(function.py(), "sys"))?.getattr(intern!(function.py(), "modules"))?;
    let caching = modules.cast::<PyDict>()?.get_item("lancehead.caching")?;
    caching.map_or(Ok(None), |m| m.call_method1("located", (function, file))?.extract())
}

impl Home {
    /// Where a Python function's files are.
    pub fn of(function: &Bound<'_, PyAny>) -> PyResult<Home> {
        let py = function.py();
        let code = function.getattr(intern!(py, "__code__"))?;
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        let line: i64 = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
        let qualname: String = function.getattr(intern!(py, "__qualname__"))?.extract()?;
        let module: String = function.getattr(intern!(py, "__module__"))?.extract().unwrap_or_default();
        let file = Path::new(&file);
        let is_source = file.is_file();
        let stem = if is_source { file.file_stem().and_then(|s| s.to_str()).unwrap_or("module") } else { &module };
        let version = py.version_info();
        let name = plain(&format!("{stem}.{qualname}"), 120);
        let stem = format!("{name}-{line}.lh-py{}{}", version.major, version.minor);
        let mut dirs = Vec::new();
        // The directory is named after the module's place in its package, not on the disk: files are found when
        // sources move. In processes that `multiprocessing` spawns the program is `__mp_main__`.
        let is_program = matches!(&*module, "__main__" | "__mp_main__");
        let module = if is_program && is_source { &name } else { &module };
        let below = plain(module, 120);
        let located = located(function, file)?;
        let stem = located.as_ref().map_or(stem.clone(), |(_, told)| format!("{stem}.{told}"));
        if let Some((dir, _)) = located {
            return Ok(Home { dirs: vec![Folder::new(dir, "")], pack: None, root: None, stem });
        }
        let parent = file.parent().filter(|_| is_source);
        let (root, is_set) = directory(py);
        if !is_set {
            dirs.extend(parent.map(|p| Folder::new(p.join("__pycache__"), "")));
        }
        dirs.extend(root.as_ref().map(|d| Folder::new(d, &below)));
        // The files that `lancehead cache pack` has copied from beside sources.
        let copied = root.as_ref().filter(|d| is_set && d.join("__pycache__").is_dir());
        dirs.extend(copied.map(|d| Folder::new(d, "__pycache__")));
        Ok(Home { dirs, pack: parent.map(|p| Folder::new(p.join(PACK), "")), root, stem })
    }

    /// Claims the compilation for a key, in the first directory that allows it.
    fn lock(&self, py: Python<'_>, key: &Digest) -> PyResult<Option<Lock>> {
        for dir in &self.dirs {
            let Some(dir) = trusted(py, dir.make().and_then(|d| d.trusted().map(|()| d)))? else { continue };
            let lock = py.detach(|| cache::acquire(dir, &short(key), PATIENCE));
            if lock.is_some() {
                return Ok(lock);
            }
        }
        Ok(None)
    }

    /// The directory that is tried first.
    pub fn path(&self) -> Option<PathBuf> {
        self.dirs.first().map(Folder::path)
    }
}

/// The directory of limited size for code, and whether it was set, which excludes the others.
pub fn directory(py: Python<'_>) -> (Option<PathBuf>, bool) {
    match setting(py, intern!(py, "CACHE_DIR")).and_then(|s| s.extract::<PathBuf>().ok()) {
        Some(dir) if !dir.as_os_str().is_empty() => (Some(dir), true),
        _ => (user_directory(), false),
    }
}

/// The store of objects of this process, in memory and in a folder, which may have a quarter of the size of the
/// directory's: its files are small, and many.
pub fn objects(py: Python<'_>) -> Arc<ObjectStore> {
    static OBJECTS: PyOnceLock<Arc<ObjectStore>> = PyOnceLock::new();
    if let Some(store) = OBJECTS.get(py) {
        return store.clone();
    }
    let folder = store_folder(py).map(|path| folder_of(py, &path));
    if let Some(folder) = &folder {
        // A warning that is made an error is none of a compilation's.
        let _ = trusted(py, folder.open().and_then(|f| f.trusted()));
    }
    let open = || {
        let folder = folder.map(|folder| (folder, size_limit(py) / 4));
        Arc::new(ObjectStore::new(folder, library::objects(py)))
    };
    OBJECTS.get_or_init(py, open).clone()
}

/// The folder of a path, which belongs to the directory of limited size if it is in there.
fn folder_of(py: Python<'_>, path: &Path) -> Folder {
    match directory(py).0.as_deref().and_then(|root| Some((root, path.strip_prefix(root).ok()?))) {
        Some((root, below)) => Folder::new(root, below),
        None => Folder::new(path, ""),
    }
}

/// The folder of the store of objects; `None` if there is none.
#[pyfunction]
pub fn store_folder(py: Python<'_>) -> Option<PathBuf> {
    match setting(py, intern!(py, "STORE")).and_then(|s| s.extract::<String>().ok()).as_deref() {
        Some("0") => None,
        Some(folder) if !folder.is_empty() => Some(PathBuf::from(folder)),
        _ if is_wanted(py, true) => directory(py).0.map(|root| root.join("objects")),
        _ => None,
    }
}

/// Whether a file of the store of objects is whole.
#[pyfunction]
pub fn store_is_whole(path: PathBuf) -> bool {
    lh_driver::is_whole(&path)
}

/// How many objects this process has found in the store, how many that came with lancehead it uses, and how many LLVM
/// has made for it.
#[pyfunction]
pub fn store_counts(py: Python<'_>) -> (usize, usize, usize) {
    objects(py).counts()
}

/// How long a compilation may take.
pub fn time_limit(py: Python<'_>) -> Option<Duration> {
    let seconds = setting(py, intern!(py, "COMPILE_SECONDS"))?.extract::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn size_limit(py: Python<'_>) -> u64 {
    setting(py, intern!(py, "CACHE_SIZE")).and_then(|s| s.extract::<u64>().ok()).unwrap_or(u64::MAX)
}

/// Keeps the directory within its limit. A process checks when it first writes there, and now and then.
fn limit(py: Python<'_>, home: &Home, written: &Path) -> PyResult<()> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let Some(root) = home.root.as_deref().filter(|r| written.starts_with(r)) else { return Ok(()) };
    if WRITTEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) {
        let bytes = size_limit(py);
        let gone = py.detach(|| Folder::new(root, "").open().map_or(0, |f| f.evict(cache::CODE, bytes)));
        if gone > 0 {
            log(py, &format!("{gone} files evicted from {}", root.display()))?;
        }
    }
    Ok(())
}

/// `~/.cache/lancehead`, or the directory that the user has chosen for caches.
fn user_directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).or_else(|| set("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("lancehead"))
}

/// The letters of a name that every file system allows; of a long name the last so many bytes.
fn plain(name: &str, longest: usize) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = name.chars().filter(|c| is_plain(*c)).collect();
    let from = name.char_indices().map(|(i, _)| i).find(|i| name.len() - i <= longest).unwrap_or(name.len());
    name[from..].trim_start_matches('.').to_owned()
}

/// The levels of x86-64 for which every entry shall have code; none if it is for this processor.
fn shared_levels(py: Python<'_>) -> Vec<Level> {
    let names: Option<Vec<String>> = setting(py, intern!(py, "CACHE_LEVELS")).and_then(|s| s.extract().ok());
    names.unwrap_or_default().iter().filter_map(|n| Level::named(n)).collect()
}

/// The hash of the dependencies of code that no entry lists.
fn environment(py: Python<'_>) -> PyResult<Digest> {
    let levels = shared_levels(py);
    let all = environments(py)?;
    if levels.is_empty() {
        return Ok(all.machines[0]);
    }
    let names: Vec<&str> = levels.iter().map(|l| l.name()).collect();
    Ok(machine(&all.fixed, "levels", &names.join(" ")))
}

/// Hashes of the dependencies of code that no entry lists.
struct Environments {
    /// Without the processor.
    fixed: Digest,
    /// With this processor, then with each level of x86-64 that it has.
    machines: Vec<Digest>,
}

/// Hashes of compiler, library, interpreter, NumPy and processor.
fn environments(py: Python<'_>) -> PyResult<&Environments> {
    static ALL: PyOnceLock<Environments> = PyOnceLock::new();
    ALL.get_or_try_init(py, || {
        let mut h = Hasher::new("environment");
        h.text(BUILD);
        h.text(lh_driver::chosen_passes());
        let version = py.version_info();
        h.text(&format!("{}.{} {}", version.major, version.minor, cfg!(Py_GIL_DISABLED)));
        let numpy: String = py.import("numpy")?.getattr("__version__")?.extract()?;
        // An entry lists the attributes of NumPy that were read, among its steps.
        h.text(numpy.split('.').next().unwrap_or_default());
        h.number(library::digest(py)?);
        let fixed = h.finish();
        let levels = lh_driver::processor_levels().into_iter().map(|l| (l, ""));
        let machines = std::iter::once(lh_driver::processor()).chain(levels);
        Ok(Environments { fixed, machines: machines.map(|(cpu, features)| machine(&fixed, cpu, features)).collect() })
    })
}

fn machine(fixed: &Digest, cpu: &str, features: &str) -> Digest {
    let mut h = Hasher::new("machine");
    h.digest(fixed);
    h.text(cpu);
    h.text(features);
    h.finish()
}

fn request<'a>(py: Python<'_>, function: ObjId, args: &'a [Ty], options: Options) -> PyResult<Request<'a>> {
    Ok(Request { function, args, options, environment: environment(py)? })
}

/// Looks for code of a function, and waits if another process is compiling it. `load` is false if the code shall be
/// made anew in any case.
///
/// The files belong to the function `home`: the compiled one, or the one whose ufunc it is.
pub fn find(
    py: Python<'_>,
    home: ObjId,
    function: ObjId,
    args: &[Ty],
    options: Options,
    load: bool,
) -> PyResult<(Lookup, Option<Compiled>)> {
    let o = table::object(py, home);
    let home = Home::of(&decorated::py_func(&o).unwrap_or(o))?;
    let request = request(py, function, args, options)?;
    let key = request.key(&mut PyHost::new(py));
    let mut lookup = Lookup { home, key, lock: None };
    let Some(key) = lookup.key.filter(|_| load) else { return Ok((lookup, None)) };
    if let Some(code) = search(py, &lookup.home, &request, &key)? {
        return Ok((lookup, Some(code)));
    }
    lookup.lock = lookup.home.lock(py, &key)?;
    // Another process may have finished between the search and the claim.
    let code = if lookup.lock.is_some() { search(py, &lookup.home, &request, &key)? } else { None };
    Ok((lookup, code))
}

fn search(py: Python<'_>, home: &Home, request: &Request<'_>, key: &Digest) -> PyResult<Option<Compiled>> {
    let mut host = PyHost::new(py);
    for dir in &home.dirs {
        let found = search_dir(py, &mut host, home, dir, request, key)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    // Packs have code for levels of processors; the highest level is the best.
    let wanted = setting(py, intern!(py, "PACKS")).is_none_or(|s| s.is_truthy().unwrap_or(true));
    let Some(pack) = home.pack.as_ref().filter(|p| wanted && p.path().is_dir()) else { return Ok(None) };
    for environment in environments(py)?.machines.iter().copied() {
        let request = Request { environment, ..*request };
        let Some(key) = request.key(&mut host) else { continue };
        let found = search_dir(py, &mut host, home, pack, &request, &key)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn search_dir(
    py: Python<'_>,
    host: &mut PyHost<'_>,
    home: &Home,
    dir: &Folder,
    request: &Request<'_>,
    key: &Digest,
) -> PyResult<Option<Compiled>> {
    let start = format!("{}.{}.", home.stem, short(key));
    // A directory that cannot be read has no entries.
    let Some(folder) = trusted(py, dir.open())? else { return Ok(None) };
    for name in folder.list(&start, cache::CODE).unwrap_or_default() {
        let Some((bytes, file)) = trusted(py, folder.read(&name))? else { continue };
        let entry = Entry::read(&bytes).filter(|e| e.key == *key);
        if let Some(code) = entry.and_then(|e| request.load(host, &e)) {
            cache::mark_used(&file);
            let dir = dir.path();
            log(py, &format!("index loaded from {}/{}{}", dir.display(), home.stem, cache::INDEX))?;
            log(py, &format!("data loaded from {}", dir.join(name).display()))?;
            return Ok(Some(code));
        }
    }
    Ok(None)
}

/// Keeps code that was just compiled, if that is possible.
pub fn keep(
    py: Python<'_>,
    lookup: &Lookup,
    (home, function): (ObjId, ObjId),
    args: &[Ty],
    options: Options,
    compiled: &Compiled,
) -> PyResult<()> {
    let Some(key) = lookup.key else { return Ok(()) };
    let mut host = PyHost::new(py);
    let facts = facts(py, home)?;
    let request = request(py, function, args, options)?;
    // The objects that were read may have changed during the compilation: then the key differs, or there is no entry.
    let levels = if options.gpu == 0 { shared_levels(py) } else { Vec::new() };
    let mut entry = match request.entry(&mut host, compiled, facts, &levels) {
        Ok(entry) if entry.key == key => entry,
        Ok(_) => return log(py, &format!("not kept: {} has changed meanwhile", lookup.home.stem)),
        Err(why) => return log(py, &format!("not kept: {}: {why}", lookup.home.stem)),
    };
    if let Some(gpu) = gpu_targets::find(options.gpu) {
        let ((major, minor), cuda) = (gpu.capability, gpu.driver);
        entry.facts.cpu = format!("sm_{major}{minor}/{}.{}", cuda / 1000, cuda % 1000 / 10);
    }
    if !levels.is_empty() {
        py.detach(|| entry.variants = levels.iter().map(|l| (l.name().to_owned(), compiled.object_for(*l))).collect());
        entry.facts.cpu = levels.iter().map(|l| l.name()).collect::<Vec<_>>().join("+");
    }
    let name = format!("{}.{}.{}{}", lookup.home.stem, short(&key), short(&entry.dependencies()), cache::CODE);
    let (bytes, index) = (entry.write(), index(&entry.facts));
    let mut failure = None;
    for dir in &lookup.home.dirs {
        let index_name = format!("{}{}", lookup.home.stem, cache::INDEX);
        match dir.make().and_then(|folder| Ok((folder.save(&name, &bytes)?, folder))) {
            Ok((path, folder)) => {
                // The index is for people; an entry is complete without it.
                if let Ok(index) = folder.save(&index_name, &index) {
                    log(py, &format!("index saved to {}", index.display()))?;
                }
                log(py, &format!("data saved to {}", path.display()))?;
                return limit(py, &lookup.home, &path);
            }
            Err(Refused::Failed(e)) => failure = Some(format!("{}: {e}", dir.path().display())),
            Err(Refused::Untrusted(why)) => warn_untrusted(py, &why)?,
        }
    }
    match failure {
        Some(why) => warn_once(py, &format!("compiled functions cannot be kept in {why}")),
        None => Ok(()),
    }
}

fn short(d: &Digest) -> String {
    d.to_string()[..20].to_owned()
}

/// The text of an index: the function that a group of files belongs to.
fn index(facts: &Facts) -> Vec<u8> {
    format!("lancehead cache 1\nfunction {}\nline {}\n", facts.function, facts.line).into_bytes()
}

fn facts(py: Python<'_>, function: ObjId) -> PyResult<Facts> {
    let o = table::object(py, function);
    let f = decorated::py_func(&o).unwrap_or(o);
    let module: String = f.getattr(intern!(py, "__module__"))?.extract().unwrap_or_default();
    let qualname: String = f.getattr(intern!(py, "__qualname__"))?.extract()?;
    let code = f.getattr(intern!(py, "__code__"))?;
    Ok(Facts {
        function: format!("{module}.{qualname}"),
        file: code.getattr(intern!(py, "co_filename"))?.extract()?,
        line: code.getattr(intern!(py, "co_firstlineno"))?.extract::<i64>()?.max(0) as u32,
        signature: String::new(),
        cpu: lh_driver::processor().0.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The content of a file or folder that only trusted users can have written; otherwise a warning is given once.
fn trusted<T>(py: Python<'_>, found: Result<T, Refused>) -> PyResult<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Refused::Untrusted(why)) => warn_untrusted(py, &why).map(|()| None),
        Err(Refused::Failed(_)) => Ok(None),
    }
}

fn warn_untrusted(py: Python<'_>, why: &str) -> PyResult<()> {
    let way = "or let LANCEHEAD_CACHE_DIR name a directory of your own";
    warn_once(py, &format!("the cache is not used where others may write: {why}; {way} [untrusted-cache]"))
}

/// Logs to the standard output if that is wanted.
fn log(py: Python<'_>, text: &str) -> PyResult<()> {
    if setting(py, intern!(py, "DEBUG_CACHE")).is_some_and(|s| s.is_truthy().unwrap_or(false)) {
        py.import("builtins")?.call_method1("print", (format!("[cache] {text}"),))?;
    }
    Ok(())
}

/// Gives a warning once in a process.
fn warn_once(py: Python<'_>, text: &str) -> PyResult<()> {
    static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Default::default);
    let is_new = lock(&TOLD).insert(text.to_owned());
    if is_new { errors::warn(py, "NumbaWarning", text) } else { Ok(()) }
}

/// The facts in a file of the cache; `None` if it is damaged or of another version.
#[pyfunction]
pub fn cache_entry<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Option<Bound<'py, PyDict>>> {
    let bytes = cache::read(&path)?;
    let Some(entry) = Entry::read(&bytes) else { return Ok(None) };
    let out = PyDict::new(py);
    let facts = &entry.facts;
    let texts = [
        ("function", &facts.function),
        ("file", &facts.file),
        ("signature", &facts.signature),
        ("cpu", &facts.cpu),
        ("version", &facts.version),
    ];
    for (name, text) in texts {
        out.set_item(name, text)?;
    }
    out.set_item("line", facts.line)?;
    out.set_item("size", bytes.len())?;
    let objects = entry.variants.iter().map(|(_, o)| o).chain(entry.parts.iter().map(|p| &p.object));
    let code = entry.object.len() + objects.map(Vec::len).sum::<usize>();
    out.set_item("code", code)?;
    out.set_item("reads", entry.reads())?;
    Ok(Some(out))
}

/// The bytes of a file of the cache; `None` if there is none, or none of trusted users, about which there is a warning.
#[pyfunction]
pub fn kept_file<'py>(py: Python<'py>, folder: PathBuf, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let found = trusted(py, folder_of(py, &folder).open().and_then(|f| f.read(name)))?;
    Ok(found.map(|(bytes, _)| PyBytes::new(py, &bytes)))
}

/// Writes a file of the cache, whole or not at all.
#[pyfunction]
pub fn keep_file(py: Python<'_>, folder: PathBuf, name: &str, data: &[u8]) -> PyResult<()> {
    folder_of(py, &folder).make().and_then(|f| f.save(name, data)).map(|_| ()).map_err(os_error)
}

/// The bytes of a file that a program names and that becomes code, if nobody else may have written them.
#[pyfunction]
pub fn named_file<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyBytes>> {
    py.detach(|| cache::read_trusted(&path)).map(|bytes| PyBytes::new(py, &bytes)).map_err(os_error)
}

fn os_error(refused: Refused) -> PyErr {
    match refused {
        Refused::Untrusted(why) => PyPermissionError::new_err(why),
        Refused::Failed(error) => error.into(),
    }
}

/// The directory for code that is not kept beside its source.
#[pyfunction]
pub fn cache_directory(py: Python<'_>) -> Option<PathBuf> {
    directory(py).0
}
