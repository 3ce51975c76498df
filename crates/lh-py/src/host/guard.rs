//! Guards: compiled code holds while everything that it has read of Python's state is unchanged.
//!
//! A check costs one comparison per dictionary, cell and function. The version of a dictionary changes with every
//! store into it; after that the names are looked up again.

use crate::host::held::Held;
use crate::host::stopping::Answer as _;
use crate::host::{decorated, objmode, overloads, parts, table};
use crate::object::class_names::short_text;
use crate::object::function::{self, Version};
use crate::object::{array, paths};
use lh_ir::func::Semantics;
use lh_ir::{FuncId, ObjId};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString, PyType};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// A dictionary of globals or builtins.
struct DictGuard {
    dict: Py<PyDict>,
    version: AtomicU64,
}

/// A name looked up in a dictionary, then in builtins, or among the attributes of a module or class.
struct NameGuard {
    owner: Py<PyAny>,
    builtins: Option<Py<PyDict>>,
    name: Py<PyString>,
    object: Option<ObjId>,
    value: *mut ffi::PyObject,
}

/// A captured variable.
struct CellGuard {
    cell: Py<PyAny>,
    object: Option<ObjId>,
    value: *mut ffi::PyObject,
}

/// A function's own parts.
struct FuncGuard {
    function: Py<PyAny>,
    version: Version,
}

impl FuncGuard {
    #[inline(always)]
    fn is_current(&self) -> bool {
        self.version.is_of(self.function.as_ptr())
    }
}

/// Everything that one specialisation depends on.
#[derive(Default)]
pub struct Guard {
    /// The function that is called.
    own: Option<FuncGuard>,
    /// Whether anything else is guarded.
    has_more: bool,
    dicts: Vec<DictGuard>,
    names: Vec<NameGuard>,
    cells: Vec<CellGuard>,
    funcs: Vec<FuncGuard>,
    /// Arrays that are read in place, with their layouts.
    arrays: Vec<(Py<PyAny>, Vec<isize>)>,
    /// Whether an attribute is computed: no dictionary shows its changes.
    is_computed: bool,
    /// The objects that the code was compiled with.
    pub held: Option<Py<Held>>,
}

/// Version of a dictionary, which [`Guard::add_dict`] has looked at.
#[inline(always)]
fn version(dict: &Py<PyDict>) -> u64 {
    #[cfg(not(Py_3_14))]
    #[allow(deprecated, reason = "the field is kept up to date until 3.13")]
    // SAFETY: the object is a dictionary.
    unsafe {
        (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_version_tag
    }
    #[cfg(Py_3_14)]
    {
        let _ = dict;
        watch::version()
    }
}

/// CPython 3.14 keeps no version in dictionaries. It calls a watcher before a watched dictionary changes.
#[cfg(Py_3_14)]
mod watch {
    use pyo3::ffi;
    use pyo3::prelude::*;
    use std::ffi::c_int;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    unsafe extern "C" {
        fn PyDict_AddWatcher(callback: Callback) -> c_int;
    }

    type Callback = unsafe extern "C" fn(c_int, *mut ffi::PyObject, *mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

    static CHANGES: AtomicU64 = AtomicU64::new(1);
    /// Whether every dictionary is watched. Without the GIL none is: another thread might check between the call and
    /// the change.
    static WORKS: AtomicBool = AtomicBool::new(!cfg!(Py_GIL_DISABLED));

    unsafe extern "C" fn changes(
        _event: c_int,
        _dict: *mut ffi::PyObject,
        _key: *mut ffi::PyObject,
        _value: *mut ffi::PyObject,
    ) -> c_int {
        CHANGES.fetch_add(1, Ordering::Relaxed);
        0
    }

    /// The number of changes of watched dictionaries; one that never repeats if some are not watched.
    #[inline(always)]
    pub fn version() -> u64 {
        if WORKS.load(Ordering::Relaxed) {
            CHANGES.load(Ordering::Relaxed)
        } else {
            CHANGES.fetch_add(1, Ordering::Relaxed)
        }
    }

    /// Watches a dictionary.
    pub fn begin(py: Python<'_>, dict: *mut ffi::PyObject) {
        static WATCHER: OnceLock<c_int> = OnceLock::new();
        if !WORKS.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: the callback only counts; the object is a dictionary; attached.
        let done = unsafe {
            let watcher = *WATCHER.get_or_init(|| PyDict_AddWatcher(changes));
            watcher >= 0 && ffi::PyDict_Watch(watcher, dict) == 0
        };
        if !done {
            // CPython has only a few watchers, and all are taken.
            drop(PyErr::take(py));
            WORKS.store(false, Ordering::Relaxed);
        }
    }
}

/// The contents of a cell, to be compared only: another thread may replace them.
fn cell_value(cell: &Py<PyAny>) -> *mut ffi::PyObject {
    #[repr(C)]
    struct CellObject {
        base: ffi::PyObject,
        value: *mut ffi::PyObject,
    }
    // SAFETY: the object is a cell, whose struct has been this since Python 2.
    unsafe { (*cell.as_ptr().cast::<CellObject>()).value }
}

impl Guard {
    /// That of code which was compiled with some objects. In Numba's semantics globals and captured variables are what
    /// they were when it was compiled.
    pub fn of_code(self, semantics: Semantics, held: Py<Held>) -> Guard {
        let guard = if semantics == Semantics::Numba { Guard::default() } else { self };
        Guard { held: Some(held), ..guard }
    }

    /// Whether nothing has changed. Every call checks this.
    #[inline(always)]
    pub fn is_current(&self, py: Python<'_>) -> bool {
        self.own_is_current() && (!self.has_more || self.more_is_current(py))
    }

    /// Whether only the function itself is guarded.
    pub fn is_own_only(&self) -> bool {
        !self.has_more
    }

    /// As [`Guard::is_current`], for the function itself.
    #[inline(always)]
    pub fn own_is_current(&self) -> bool {
        self.own.as_ref().is_none_or(FuncGuard::is_current)
    }

    /// Names of what has changed, for the log of compilations.
    pub fn changed(&self, py: Python<'_>) -> Vec<String> {
        let names = self.names.iter().filter(|n| !n.is_same(py)).map(|n| format!("`{}`", n.name.bind(py)));
        let cells = self.cells.iter().filter(|c| !c.is_same(py)).map(|_| "a captured variable".to_owned());
        let functions = self.own.iter().chain(&self.funcs).filter(|f| !f.is_current());
        let functions = functions.map(|f| format!("the function `{}`", short_text(f.function.bind(py))));
        names.chain(cells).chain(functions).collect()
    }

    #[inline(always)]
    fn more_is_current(&self, py: Python<'_>) -> bool {
        self.funcs.iter().all(FuncGuard::is_current)
            && self.cells.iter().all(|c| cell_value(&c.cell) == c.value || c.is_same(py))
            && self.arrays.iter().all(|(a, layout)| parts::layout_of(a.bind(py)).eq(layout.iter().copied()))
            && (!self.is_computed && self.dicts.iter().all(|d| version(&d.dict) == d.version.load(Ordering::Relaxed))
                || self.names_are_same(py))
    }

    #[cold]
    fn names_are_same(&self, py: Python<'_>) -> bool {
        // The versions are read before the names, so that the next check sees a change in between.
        let versions: SmallVec<[u64; 4]> = self.dicts.iter().map(|d| version(&d.dict)).collect();
        if !self.names.iter().all(|n| n.is_same(py)) {
            return false;
        }
        for (d, version) in self.dicts.iter().zip(versions) {
            d.version.store(version, Ordering::Relaxed);
        }
        true
    }

    /// As [`Guard::is_current`], no matter what dictionaries say.
    pub fn is_true(&self, py: Python<'_>) -> bool {
        self.is_current(py) && self.names_are_same(py) && self.cells.iter().all(|c| c.is_same(py))
    }

    /// All objects that it refers to.
    pub fn references(&self) -> impl Iterator<Item = *mut ffi::PyObject> + '_ {
        let functions = self.own.iter().chain(&self.funcs);
        let names = self.names.iter().flat_map(|n| [Some(n.owner.as_ptr()), n.builtins.as_ref().map(Py::as_ptr)]);
        functions
            .flat_map(|f| std::iter::once(f.function.as_ptr()).chain(f.version.references()))
            .chain(names.flatten())
            .chain(self.dicts.iter().map(|d| d.dict.as_ptr()))
            .chain(self.cells.iter().map(|c| c.cell.as_ptr()))
            .chain(self.arrays.iter().map(|(a, _)| a.as_ptr()))
            .chain(self.held.iter().map(Py::as_ptr))
    }

    /// Adds a name that a function has looked up.
    pub fn add_name(&mut self, py: Python<'_>, f: FuncId, name: &str, object: Option<ObjId>) -> PyResult<()> {
        let Some(function) = user_function(py, f) else { return Ok(()) };
        let globals = function.getattr("__globals__")?.cast_into::<PyDict>()?;
        let builtins = function.getattr("__builtins__")?.cast_into::<PyDict>()?;
        if self.add_lookup(&globals, Some(&builtins), name, object) {
            let is_global = globals.contains(name)?;
            self.add_dict(&globals);
            if !is_global {
                self.add_dict(&builtins);
            }
        }
        Ok(())
    }

    /// Adds the parts of an object that may change in place: those of functions, functions in tuples, layouts of
    /// arrays.
    pub fn add_object(&mut self, py: Python<'_>, object: Option<ObjId>) {
        if let Some(id) = object.filter(|o| table::item(*o).is_none()) {
            self.add_inside(&table::object(py, id), 0);
        }
    }

    fn add_inside(&mut self, o: &Bound<'_, PyAny>, depth: usize) {
        if let Some(function) = parts::function_of(o) {
            self.add_python(&function, depth);
        } else if array::is_array(o) && !self.arrays.iter().any(|(a, _)| a.is(o)) {
            self.has_more = true;
            self.arrays.push((o.clone().unbind(), parts::layout_of(o).collect()));
        } else if depth < parts::MAX_DEPTH {
            if parts::is_partial(o)
                && let Ok(keywords) = o.getattr("keywords").and_then(|k| Ok(k.cast_into::<PyDict>()?))
            {
                self.add_values(&keywords);
            }
            parts::inside(o).iter().for_each(|i| self.add_inside(i, depth + 1));
        }
    }

    /// Adds an attribute of a module or class of the user's, and its parts.
    pub fn add_attribute(&mut self, py: Python<'_>, owner: ObjId, name: &str, value: Option<ObjId>) -> PyResult<()> {
        self.add_object(py, value);
        if table::item(owner).is_some() || name.starts_with(overloads::PREFIX) {
            return Ok(());
        }
        let owner = table::object(py, owner);
        if paths::is_users(&owner) && self.add_lookup(&owner, None, name, value) {
            let mut is_there = value.is_none();
            for o in owner.cast::<PyType>().map_or_else(|_| vec![owner.clone()], |c| c.mro().iter().collect()) {
                is_there |= o.getattr("__dict__")?.contains(name)?;
                if let Some(dict) = dict_of(&o).filter(|_| paths::is_users(&o)) {
                    self.add_dict(&dict);
                }
            }
            self.is_computed |= !is_there;
        }
        Ok(())
    }

    /// Adds a module, or an attribute of one, that a function imports.
    pub fn add_import(&mut self, py: Python<'_>, name: &str, attr: Option<&str>, value: Option<ObjId>) -> PyResult<()> {
        self.add_object(py, value);
        if paths::is_known_package(name) {
            return Ok(());
        }
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let module = modules.get_item(name)?.map(|m| table::intern(&m));
        self.add_lookup(&modules, Some(&modules), name, module);
        self.add_dict(&modules);
        match (attr, module) {
            (Some(attr), Some(module)) => self.add_attribute(py, module, attr, value),
            _ => Ok(()),
        }
    }

    /// Adds a look-up; false if it is there already.
    fn add_lookup(
        &mut self,
        owner: &Bound<'_, PyAny>,
        builtins: Option<&Bound<'_, PyDict>>,
        name: &str,
        object: Option<ObjId>,
    ) -> bool {
        self.has_more = true;
        let name = PyString::intern(owner.py(), name);
        if self.names.iter().any(|n| n.owner.is(owner) && n.name.is(&name)) {
            return false;
        }
        let value = object.map_or(std::ptr::null_mut(), |o| table::object(owner.py(), o).as_ptr());
        let (owner, builtins) = (owner.clone().unbind(), builtins.map(|b| b.clone().unbind()));
        self.names.push(NameGuard { owner, builtins, name: name.unbind(), object, value });
        true
    }

    /// Adds the values of a dictionary with names as keys.
    fn add_values(&mut self, dict: &Bound<'_, PyDict>) {
        for (name, value) in dict.iter() {
            let Ok(name) = name.extract::<String>() else { continue };
            self.add_lookup(dict, Some(dict), &name, Some(table::intern(&value)));
        }
        self.add_dict(dict);
    }

    fn add_dict(&mut self, dict: &Bound<'_, PyDict>) {
        self.has_more = true;
        if !self.dicts.iter().any(|d| d.dict.is(dict)) {
            #[cfg(Py_3_14)]
            watch::begin(dict.py(), dict.as_ptr());
            let dict = dict.clone().unbind();
            let version = AtomicU64::new(version(&dict));
            self.dicts.push(DictGuard { dict, version });
        }
    }

    /// Adds a captured variable that a function has read.
    pub fn add_free(&mut self, py: Python<'_>, f: FuncId, index: u32, object: Option<ObjId>) -> PyResult<()> {
        let Some(function) = user_function(py, f) else { return Ok(()) };
        let cell = objmode::as_compiled(function.clone())?.getattr("__closure__")?.get_item(index)?;
        self.has_more = true;
        if !self.cells.iter().any(|c| c.cell.is(&cell)) {
            let value = object.map_or(std::ptr::null_mut(), |o| table::object(py, o).as_ptr());
            self.cells.push(CellGuard { cell: cell.unbind(), object, value });
        }
        Ok(())
    }

    /// Adds a function that was compiled in.
    pub fn add_function(&mut self, py: Python<'_>, f: FuncId) {
        if let Some(function) = user_function(py, f) {
            self.add_python(&function, 0);
        }
    }

    fn add_python(&mut self, function: &Bound<'_, PyAny>, depth: usize) {
        if function::is_library(function) {
            return;
        }
        if self.own.iter().chain(&self.funcs).any(|g| g.function.is(function)) {
            return;
        }
        // Keyword defaults may change in place.
        if let Ok(defaults) = function.getattr("__kwdefaults__").and_then(|d| Ok(d.cast_into::<PyDict>()?)) {
            self.add_values(&defaults);
        }
        let guard = FuncGuard { version: Version::of(function), function: function.clone().unbind() };
        if self.own.is_none() {
            self.own = Some(guard);
        } else {
            self.has_more = true;
            self.funcs.push(guard);
        }
        if depth < parts::MAX_DEPTH {
            parts::inside(function).iter().for_each(|i| self.add_inside(i, depth + 1));
        }
    }
}

/// The dictionary in which a module or class keeps its attributes.
fn dict_of<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if let Ok(module) = o.cast::<PyModule>() {
        return Some(module.dict());
    }
    let class = o.cast::<PyType>().ok()?;
    // SAFETY: a class of the user's, whose dictionary is in its struct.
    unsafe { Bound::from_borrowed_ptr_or_opt(o.py(), (*class.as_type_ptr()).tp_dict)?.cast_into().ok() }
}

/// The function object of a number, unless it belongs to the library, which does not change.
fn user_function(py: Python<'_>, f: FuncId) -> Option<Bound<'_, PyAny>> {
    let object = table::function_object(f).0;
    if table::item(object).is_some() {
        return None;
    }
    let object = table::object(py, object);
    let function = decorated::py_func(&object).unwrap_or(object);
    (!function::is_library(&function)).then_some(function)
}

impl NameGuard {
    fn is_same<'py>(&self, py: Python<'py>) -> bool {
        // A name that is missing makes no exception here: calls check this, and PyO3 keeps what they drop for later. If
        // comparing keys raises, the name is not found.
        let find = |d: &Bound<'py, PyDict>| d.get_item(&self.name).ok().flatten();
        let owner = self.owner.bind(py);
        let now = match &self.builtins {
            Some(builtins) => owner.cast().ok().and_then(find).or_else(|| find(builtins.bind(py))),
            None => owner.getattr(&self.name).answer(),
        };
        is_same_object(now.as_ref(), self.value, self.object)
    }
}

impl CellGuard {
    fn is_same(&self, py: Python<'_>) -> bool {
        // SAFETY: the object is a cell; the result is null or a new reference.
        let now = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyCell_Get(self.cell.as_ptr())) };
        is_same_object(now.as_ref(), self.value, self.object)
    }
}

/// Whether a value is the recorded object or an equal constant.
fn is_same_object(now: Option<&Bound<'_, PyAny>>, value: *mut ffi::PyObject, object: Option<ObjId>) -> bool {
    let Some(now) = now else { return value.is_null() };
    // The address of an equal number is not recorded, because the guard does not keep that number alive.
    now.as_ptr() == value || object.is_some() && object == table::find(now)
}
