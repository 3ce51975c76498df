//! The cache as dispatchers use it: where a function's files are, what they must fit, what is told when they cannot be used.

use crate::host::PyHost;
use crate::{objects, render};
use lh_driver::Compiled;
use lh_driver::cache::{self, Answer, Digest, Entry, Facts, Hasher, Request, Turn};
use lh_ir::func::Options;
use lh_ir::{ObjId, Ty};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

/// Hash of the sources that this compiler is built from.
const BUILD: &str = env!("LANCEHEAD_BUILD");

/// How long a process waits for another one that compiles the same.
const PATIENCE: Duration = Duration::from_secs(20);

/// Directories for a function's files, the first that can be used first, and what the names begin with.
pub struct Home {
    dirs: Vec<PathBuf>,
    stem: String,
}

/// What has been found or not for a call.
pub struct Lookup {
    /// Where files of the function are, or would be.
    pub home: Home,
    /// The key, if the request has one.
    key: Option<Digest>,
    /// The right to compile, which other processes wait for.
    turn: Option<Turn>,
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
        // A module's place in its package, not on the disk, names its directory: files are found when sources move.
        let module = if module == "__main__" && is_source { &name } else { &module };
        let below = plain(module, 120);
        match setting(py, intern!(py, "CACHE_DIR")).and_then(|s| s.extract::<PathBuf>().ok()) {
            Some(dir) if !dir.as_os_str().is_empty() => dirs.push(dir.join(&below)),
            _ => {
                if let Some(parent) = file.parent().filter(|_| is_source) {
                    dirs.push(parent.join("__pycache__"));
                }
                dirs.extend(user_directory().map(|d| d.join(&below)));
            }
        }
        Ok(Home { dirs, stem })
    }

    /// The right to compile what has a key, in the first directory where that can be asked for.
    fn turn(&self, py: Python<'_>, key: &Digest) -> PyResult<Answer> {
        for dir in &self.dirs {
            if cache::make(dir).is_err() || !is_trusted(py, dir)? {
                continue;
            }
            match py.detach(|| cache::wait(dir, &short(key), PATIENCE)) {
                Answer::Unknown => {}
                answer => return Ok(answer),
            }
        }
        Ok(Answer::Unknown)
    }

    /// The directory that is tried first.
    pub fn path(&self) -> Option<&Path> {
        self.dirs.first().map(PathBuf::as_path)
    }
}

/// `~/.cache/lancehead`, or where the user has said that caches shall be.
fn user_directory() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|p| p.is_absolute()).or_else(|| set("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("lancehead"))
}

/// A name with letters that every file system takes, of limited length.
fn plain(name: &str, longest: usize) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let name: String = name.chars().filter(|c| is_plain(*c)).collect();
    let from = name.char_indices().rev().take(longest).last().map_or(0, |(i, _)| i);
    name[from..].trim_start_matches('.').to_owned()
}

/// Hash of compiler, library, interpreter, NumPy and processor.
fn environment(py: Python<'_>) -> PyResult<Digest> {
    static FIXED: PyOnceLock<Digest> = PyOnceLock::new();
    let fixed = FIXED.get_or_try_init(py, || -> PyResult<Digest> {
        let mut h = Hasher::new("environment");
        h.text(BUILD);
        h.text(py.import("sys")?.getattr("version")?.extract()?);
        h.text(py.import("numpy")?.getattr("__version__")?.extract()?);
        let package: Vec<PathBuf> = py.import("lancehead")?.getattr("__path__")?.extract()?;
        let library = package.first().map(|p| p.join("lib"));
        let mut files = Vec::new();
        if let Some(library) = &library {
            sources(library, library, &mut files).map_err(PyErr::from)?;
        }
        files.sort();
        for (name, text) in files {
            h.text(&name);
            h.bytes(&text);
        }
        Ok(h.finish())
    })?;
    let mut h = Hasher::new("machine");
    h.digest(fixed);
    let (cpu, features) = lh_driver::processor();
    h.text(cpu);
    h.text(features);
    Ok(h.finish())
}

/// Python files below a directory with their texts.
fn sources(root: &Path, dir: &Path, out: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "py") {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            out.push((name, std::fs::read(&path)?));
        } else if path.is_dir() && path.file_name().is_some_and(|n| n != "__pycache__") {
            sources(root, &path, out)?;
        }
    }
    Ok(())
}

fn request<'a>(py: Python<'_>, function: ObjId, args: &'a [Ty], options: Options) -> PyResult<Request<'a>> {
    Ok(Request { function, args, options, environment: environment(py)? })
}

/// Looks for code of a function that fits; `load` is false if it shall be made anew in any case. If another process is
/// making it, waits for that.
///
/// The files are those of the function `home`: the one that is compiled, or whose ufunc it is.
pub fn find(
    py: Python<'_>,
    home: ObjId,
    function: ObjId,
    args: &[Ty],
    options: Options,
    load: bool,
) -> PyResult<(Lookup, Option<Compiled>)> {
    let o = objects::object(py, home);
    let home = Home::of(&crate::dispatcher::py_func(&o).unwrap_or(o))?;
    let request = request(py, function, args, options)?;
    let key = request.key(&mut PyHost::new(py));
    let mut lookup = Lookup { home, key, turn: None };
    let Some(key) = lookup.key.filter(|_| load) else { return Ok((lookup, None)) };
    if let Some(code) = search(py, &lookup.home, &request, &key)? {
        return Ok((lookup, Some(code)));
    }
    let answer = lookup.home.turn(py, &key)?;
    if let Answer::Free(turn) | Answer::After(turn) = answer {
        lookup.turn = Some(turn);
    }
    // Between the search and the turn another process may have finished, too.
    let code = if lookup.turn.is_some() { search(py, &lookup.home, &request, &key)? } else { None };
    Ok((lookup, code))
}

fn search(py: Python<'_>, home: &Home, request: &Request<'_>, key: &Digest) -> PyResult<Option<Compiled>> {
    let mut host = PyHost::new(py);
    let start = format!("{}.{}.", home.stem, short(key));
    for dir in &home.dirs {
        // A directory that cannot be read has nothing for us.
        let files = cache::list(dir, &start, cache::CODE).unwrap_or_default();
        if files.is_empty() || !is_trusted(py, dir)? {
            continue;
        }
        for file in files {
            if !is_trusted(py, &file)? {
                continue;
            }
            let entry = std::fs::read(&file).ok().and_then(|bytes| Entry::read(&bytes)).filter(|e| e.key == *key);
            if let Some(code) = entry.and_then(|e| request.load(&mut host, &e)) {
                log(py, &format!("index loaded from {}/{}{}", dir.display(), home.stem, cache::INDEX))?;
                log(py, &format!("data loaded from {}", file.display()))?;
                return Ok(Some(code));
            }
        }
    }
    Ok(None)
}

/// Keeps code that was just compiled, where that can be done.
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
    // What was read may have changed while it was compiled: then the key has, too, or there is no entry.
    let entry = match request.entry(&mut host, compiled, facts) {
        Ok(entry) if entry.key == key => entry,
        Ok(_) => return log(py, &format!("not kept: {} has changed meanwhile", lookup.home.stem)),
        Err(why) => return log(py, &format!("not kept: {}: {why}", lookup.home.stem)),
    };
    let name = format!("{}.{}.{}{}", lookup.home.stem, short(&key), short(&entry.dependencies()), cache::CODE);
    let (bytes, index) = (entry.write(), index(&entry.facts));
    let mut failure = None;
    for dir in &lookup.home.dirs {
        if dir.is_dir() && !is_trusted(py, dir)? {
            continue;
        }
        let index_name = format!("{}{}", lookup.home.stem, cache::INDEX);
        match cache::save(dir, &name, &bytes) {
            Ok(path) => {
                // For people; an entry is whole without it.
                if !dir.join(&index_name).is_file() && cache::save(dir, &index_name, &index).is_ok() {
                    log(py, &format!("index saved to {}", dir.join(&index_name).display()))?;
                }
                return log(py, &format!("data saved to {}", path.display()));
            }
            Err(e) => failure = Some(format!("{}: {e}", dir.display())),
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

/// What a group of files is of.
fn index(facts: &Facts) -> Vec<u8> {
    format!("lancehead cache 1\nfunction {}\nline {}\n", facts.function, facts.line).into_bytes()
}

fn facts(py: Python<'_>, function: ObjId) -> PyResult<Facts> {
    let o = objects::object(py, function);
    let f = crate::dispatcher::py_func(&o).unwrap_or(o);
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

/// Whether nobody else may have written what is at a path; if somebody may, that is told once.
fn is_trusted(py: Python<'_>, path: &Path) -> PyResult<bool> {
    match cache::distrust(path) {
        Ok(None) => Ok(true),
        Ok(Some(why)) => {
            let text = format!("the cache is not used where others may write: {why} [untrusted-cache]");
            warn_once(py, &text)?;
            Ok(false)
        }
        Err(_) => Ok(false),
    }
}

/// What the cache does, on the standard output, if that is wanted.
fn log(py: Python<'_>, text: &str) -> PyResult<()> {
    if setting(py, intern!(py, "DEBUG_CACHE")).is_some_and(|s| s.is_truthy().unwrap_or(false)) {
        py.import("builtins")?.call_method1("print", (format!("[cache] {text}"),))?;
    }
    Ok(())
}

/// A warning that a process gives once.
fn warn_once(py: Python<'_>, text: &str) -> PyResult<()> {
    static TOLD: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Default::default);
    let is_new = TOLD.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(text.to_owned());
    if is_new { render::warn(py, "NumbaWarning", text) } else { Ok(()) }
}
