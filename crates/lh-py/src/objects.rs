//! The table of Python objects that compiled code knows: each has a number and lives as long as the process. What the stored library
//! has needs no object until something asks for it.
//!
//! The table is locked for single operations only, never while Python code runs.

use crate::guard::Version;
use crate::library::{self, Item};
use hashbrown::HashMap;
use lh_ir::{FuncId, ObjId};
use pyo3::prelude::*;
use pyo3::types::PyFunction;
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
    /// Attributes read of the user's modules and classes.
    attributes: HashMap<ObjId, Vec<(String, ObjId)>>,
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
fn function_of<'py>(o: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let func = crate::dispatcher::py_func(o).unwrap_or_else(|| o.clone());
    func.is_exact_instance_of::<PyFunction>().then_some(func)
}

/// Whether a function, module or class is as it was when it got its number.
fn is_unchanged(o: &Bound<'_, PyAny>, id: ObjId) -> bool {
    // Attributes are read without the lock, for that may run Python code.
    let attributes = attributes_of(id);
    let is_same = |now: PyResult<Bound<'_, PyAny>>, value: ObjId| now.ok().and_then(|v| find(&v)) == Some(value);
    let Some(function) = function_of(o) else {
        return attributes.iter().all(|(name, v)| is_same(o.getattr(&**name), *v));
    };
    table().versions.get(&id).is_some_and(|v| v.is_of(function.as_ptr()))
        && (attributes.is_empty()
            || o.getattr("__kwdefaults__")
                .is_ok_and(|d| attributes.iter().all(|(name, v)| is_same(d.get_item(name), *v))))
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
/// replaced, or a module or class of which something that was read has changed, gets a new one.
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
    id
}

/// Remembers that compiled code has read an attribute of the user's module or class, or a keyword's default of a function.
pub fn note_attribute(owner: ObjId, name: &str, value: ObjId) {
    let mut t = table();
    let known = t.attributes.entry(owner).or_default();
    if !known.iter().any(|(n, _)| n == name) {
        known.push((name.to_owned(), value));
    }
}

/// Attributes of an object that compiled code has read.
pub fn attributes_of(owner: ObjId) -> Vec<(String, ObjId)> {
    table().attributes.get(&owner).cloned().unwrap_or_default()
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
