//! The table of Python objects that compiled code knows: each has a number and lives as long as the process. What the stored library
//! has needs no object until something asks for it.
//!
//! The table is locked for single operations only, never while Python code runs.

use crate::guard::Version;
use crate::library::{self, Item};
use crate::{classify, np};
use hashbrown::HashMap;
use lh_ir::{FuncId, ObjId};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyList, PyModule, PyTuple, PyType};
use std::cell::Cell;
use std::sync::{LazyLock, Mutex, MutexGuard};

/// A function number's meaning.
#[derive(Clone, Copy, Debug)]
pub enum FuncEntry {
    /// A Python function or a dispatcher.
    Object(ObjId),
    /// Code inside another function, without a function object of its own.
    Inner(FuncId),
}

/// Key of objects that are equal when their values are.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Int(i128),
    Float(u64),
    Complex(u64, u64),
    Str(String),
}

#[derive(Default)]
struct Table {
    /// None for an item of the stored library that was not asked for yet.
    objects: Vec<Option<Py<PyAny>>>,
    items: HashMap<ObjId, Item>,
    by_item: HashMap<Item, ObjId>,
    /// Versions of the functions and dispatchers among them.
    versions: HashMap<ObjId, Version>,
    /// What was inside of those that may change where they are.
    states: HashMap<ObjId, Vec<isize>>,
    by_address: HashMap<usize, ObjId>,
    by_value: HashMap<Value, ObjId>,
    funcs: Vec<FuncEntry>,
    by_object: HashMap<ObjId, FuncId>,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

fn table() -> MutexGuard<'static, Table> {
    // A panic while it is held leaves at worst an unused number behind.
    TABLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn value_of(o: &Bound<'_, PyAny>) -> Option<Value> {
    use pyo3::types::{PyComplex, PyComplexMethods, PyFloat, PyInt, PyString};
    if o.is_exact_instance_of::<PyInt>() {
        o.extract().ok().map(Value::Int)
    } else if o.is_exact_instance_of::<PyFloat>() {
        o.extract::<f64>().ok().map(|x| Value::Float(x.to_bits()))
    } else if o.is_exact_instance_of::<PyString>() {
        o.extract().ok().map(Value::Str)
    } else if let Ok(z) = o.cast_exact::<PyComplex>() {
        Some(Value::Complex(z.real().to_bits(), z.imag().to_bits()))
    } else {
        None
    }
}

/// The Python function that an object is, or has as a dispatcher.
pub fn function_of<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let func = crate::dispatcher::py_func(o).unwrap_or_else(|| o.clone());
    func.is_exact_instance_of::<PyFunction>().then_some(func)
}

/// How deeply it is looked for what is inside of objects that are read: they may contain themselves.
pub const MAX_DEPTH: usize = 4;

/// What compiled code takes of an object along with it, and that may change where it is: functions, classes and arrays in tuples and lists and as
/// defaults, the functions of ufuncs, stencils and kernels.
pub fn inside<'py>(o: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let may_change = |i: &Bound<'py, PyAny>| value_of(i).is_none() && !i.is_none();
    if let Some(f) = function_of(o) {
        return crate::digest::defaults(&f)
            .map_or_else(|_| Vec::new(), |all| all.into_iter().map(|(_, v)| v).collect());
    }
    if o.is_instance_of::<PyTuple>() || o.is_exact_instance_of::<PyList>() {
        return o.try_iter().map_or_else(|_| Vec::new(), |all| all.flatten().filter(may_change).collect());
    }
    if value_of(o).is_some() || o.is_instance_of::<PyType>() || o.is_instance_of::<PyModule>() {
        return Vec::new();
    }
    if let Some((ufunc, _)) = crate::ufunc::definition(o) {
        return vec![ufunc.dispatcher.bind(o.py()).clone().into_any()];
    }
    let stencil = crate::stencil::is_stencil(o).then(|| o.getattr("kernel").ok()).flatten();
    stencil.or_else(|| classify::device_function(o).ok().flatten()).into_iter().collect()
}

/// Whether an object is an array.
pub fn is_array(o: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive, and so is NumPy's type once it is loaded.
    np::load(o.py()).is_ok() && unsafe { ffi::PyObject_TypeCheck(o.as_ptr(), np::ndarray_type()) != 0 }
}

/// Where an array's elements are: address, element type, extents, strides.
pub fn layout_of<'a>(o: &'a Bound<'_, PyAny>) -> impl Iterator<Item = isize> + 'a {
    // SAFETY: callers pass arrays, whose lists have `nd` items.
    let (a, extents, strides) = unsafe {
        let a = &*o.as_ptr().cast::<np::ArrayObject>();
        let list = |p: *const isize| (0..a.nd as usize).map(move |i| *p.add(i));
        (a, list(a.dimensions), list(a.strides))
    };
    [a.data as isize, a.descr as isize].into_iter().chain(extents).chain(strides)
}

/// What is inside of an object now, by numbers, or of an array its layout; `None` if that is not known.
fn state_of(o: &Bound<'_, PyAny>) -> Option<Vec<isize>> {
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    if is_array(o) {
        return Some(layout_of(o).collect());
    }
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let state = (depth < MAX_DEPTH).then(|| inside(o).iter().map(|i| intern(i).index() as isize).collect());
    DEPTH.set(depth);
    state.filter(|s: &Vec<_>| !s.is_empty())
}

/// Whether an object is as it was when it got its number.
fn is_unchanged(o: &Bound<'_, PyAny>, id: ObjId) -> bool {
    if value_of(o).is_some() {
        return true;
    }
    let function = function_of(o);
    let version = |f: &Bound<'_, PyAny>| table().versions.get(&id).is_some_and(|v| v.is_of(f.as_ptr()));
    // Python code may run below: without the lock.
    let state = table().states.get(&id).cloned();
    function.as_ref().is_none_or(version) && state.is_none_or(|s| state_of(o).is_none_or(|now| now == s))
}

/// The number of an object that is in the table, or of an equal plain number or string there.
pub fn find(o: &Bound<'_, PyAny>) -> Option<ObjId> {
    let (address, value) = (o.as_ptr() as usize, value_of(o));
    let known = table().by_address.get(&address).copied();
    match known {
        Some(id) => is_unchanged(o, id).then_some(id),
        None => table().by_value.get(&value?).copied(),
    }
}

/// The number of an object. Equal plain numbers and strings share one; a function whose code or defaults were
/// replaced, an array of another layout or what has such things inside, gets a new one.
pub fn intern(o: &Bound<'_, PyAny>) -> ObjId {
    let old = table().by_address.get(&(o.as_ptr() as usize)).copied();
    if let Some(id) = find(o) {
        return id;
    }
    let (value, version) = (value_of(o), function_of(o).map(|f| Version::of(&f)));
    let mut t = table();
    if t.by_address.get(&(o.as_ptr() as usize)).copied() != old {
        // Another thread was quicker.
        drop(t);
        return intern(o);
    }
    let id = ObjId::new(t.objects.len());
    t.objects.push(Some(o.clone().unbind()));
    t.by_address.insert(o.as_ptr() as usize, id);
    if let Some(v) = version {
        t.versions.insert(id, v);
    }
    if let Some(v) = value {
        t.by_value.insert(v, id);
    }
    drop(t);
    // The object has its number now, which ends this where it is inside of itself.
    let state = state_of(o);
    table().states.extend(state.map(|s| (id, s)));
    id
}

/// The object of a number.
pub fn object(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let held = table().objects[id.index()].as_ref().map(|o| o.bind(py).clone());
    held.unwrap_or_else(|| imported(py, id))
}

/// The object of an item of the stored library.
fn imported(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let Some((stored, item)) = library::item(py, id) else { lh_ir::bug!("{id} is no object") };
    let o = stored.python(py, &item).unwrap_or_else(|e| lh_ir::bug!("{item:?} of the library is not found: {e}"));
    let version = function_of(&o).map(|f| Version::of(&f));
    let mut t = table();
    t.objects[id.index()] = Some(o.clone().unbind());
    t.by_address.insert(o.as_ptr() as usize, id);
    if let Some(v) = version {
        t.versions.insert(id, v);
    }
    o
}

/// The number of an item of the stored library.
pub fn stored(item: Item) -> ObjId {
    let mut t = table();
    if let Some(id) = t.by_item.get(&item) {
        return *id;
    }
    let id = ObjId::new(t.objects.len());
    t.objects.push(None);
    t.items.insert(id, item.clone());
    t.by_item.insert(item, id);
    id
}

/// What the stored library has for a number.
pub fn item(id: ObjId) -> Option<Item> {
    table().items.get(&id).cloned()
}

/// The function number of a Python function or dispatcher.
pub fn function(id: ObjId) -> FuncId {
    let mut t = table();
    if let Some(Item::Function(n)) = t.items.get(&id) {
        return FuncId::stored(*n);
    }
    if let Some(f) = t.by_object.get(&id) {
        return *f;
    }
    let f = FuncId::new(t.funcs.len());
    t.funcs.push(FuncEntry::Object(id));
    t.by_object.insert(id, f);
    f
}

/// A new function number for code inside another function.
pub fn inner_function(parent: FuncId) -> FuncId {
    let mut t = table();
    let f = FuncId::new(t.funcs.len());
    t.funcs.push(FuncEntry::Inner(parent));
    f
}

/// The function object whose globals a function number uses, and whether the number is that object's own.
pub fn function_object(f: FuncId) -> (ObjId, bool) {
    let t = table();
    let (mut f, mut own) = (f, true);
    loop {
        if let Some(n) = f.as_stored() {
            drop(t);
            return (stored(Item::Function(n)), own);
        }
        match t.funcs[f.index()] {
            FuncEntry::Object(o) => return (o, own),
            FuncEntry::Inner(parent) => (f, own) = (parent, false),
        }
    }
}
