//! The table of Python objects that compiled code knows: each has a number and lives as long as the process. An item
//! of the stored library needs no object until something asks for it.
//!
//! The table is locked for single operations only, never while Python code runs.

use crate::host::library;
use crate::host::parts::{self, MAX_DEPTH, function_of};
use crate::object::array;
use crate::object::function::Version;
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::untyped::Code;
use lh_ir::{FuncId, ObjId};
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::{LazyLock, Mutex};

/// An item of the stored library, which needs no Python object.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Item {
    /// A function, by number.
    Function(u32),
    /// The module `lancehead.lib.prim`.
    Prims,
    /// A primitive.
    Prim(String),
}

/// The meaning of a function number.
#[derive(Clone, Copy, Debug)]
pub enum FuncEntry {
    /// A Python function or a dispatcher.
    Object(ObjId),
    /// Code inside another function, without a function object of its own; a number of its name and line.
    Inner(FuncId, Option<u32>),
}

/// The key of objects that are equal by value.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Int(i128),
    Float(u64),
    Complex(u64, u64),
    Str(String),
    /// A class method of a class: the addresses of the function and the class, which it keeps alive.
    Method(usize, usize),
}

#[derive(Default)]
struct Table {
    /// `None` for an item of the stored library that has not been asked for.
    objects: Vec<Option<Py<PyAny>>>,
    items: HashMap<ObjId, Item>,
    by_item: HashMap<Item, ObjId>,
    /// Versions of the functions and dispatchers among them.
    versions: HashMap<ObjId, Version>,
    /// The parts, at that time, of objects that may change in place.
    states: HashMap<ObjId, Vec<isize>>,
    by_address: HashMap<usize, ObjId>,
    by_value: HashMap<Value, ObjId>,
    funcs: Vec<FuncEntry>,
    /// Code inside other functions.
    inner: Vec<Inner>,
    by_object: HashMap<ObjId, FuncId>,
}

/// The name and the line of code inside another function, and the variables that it captures.
type Inner = (String, u32, Vec<String>);

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Default::default);

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
        parts::class_method(o).map(|(function, class)| Value::Method(function.as_ptr().addr(), class.as_ptr().addr()))
    }
}

/// The parts of an object by their numbers, or the layout of an array; `None` if that is not known.
fn state_of(o: &Bound<'_, PyAny>) -> Option<Vec<isize>> {
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    if array::is_array(o) {
        return Some(parts::layout_of(o).collect());
    }
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let state = (depth < MAX_DEPTH).then(|| parts::inside(o).iter().map(|i| intern(i).index() as isize).collect());
    DEPTH.set(depth);
    state.filter(|s: &Vec<_>| !s.is_empty())
}

/// Whether an object has not changed since it got its number.
fn is_unchanged(o: &Bound<'_, PyAny>, id: ObjId) -> bool {
    if value_of(o).is_some_and(|v| !matches!(v, Value::Method(..))) {
        return true;
    }
    let function = function_of(o);
    let version = |f: &Bound<'_, PyAny>| lock(&TABLE).versions.get(&id).is_some_and(|v| v.is_of(f.as_ptr()));
    // Python code may run below, so the lock is not held.
    let state = lock(&TABLE).states.get(&id).cloned();
    function.as_ref().is_none_or(version) && state.is_none_or(|s| state_of(o).is_none_or(|now| now == s))
}

/// The number of an object that is in the table, or of an equal plain number or string there.
pub fn find(o: &Bound<'_, PyAny>) -> Option<ObjId> {
    let (address, value) = (o.as_ptr() as usize, value_of(o));
    let known = lock(&TABLE).by_address.get(&address).copied();
    match known {
        Some(id) => is_unchanged(o, id).then_some(id),
        None => lock(&TABLE).by_value.get(&value?).copied(),
    }
}

/// Gives an object a number. Equal plain numbers and strings share one. A function whose code or defaults were
/// replaced, an array whose layout has changed, and an object with such parts get a new one.
pub fn intern(o: &Bound<'_, PyAny>) -> ObjId {
    let old = lock(&TABLE).by_address.get(&(o.as_ptr() as usize)).copied();
    if let Some(id) = find(o) {
        return id;
    }
    let (value, version) = (value_of(o), function_of(o).map(|f| Version::of(&f)));
    let mut t = lock(&TABLE);
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
    // The object has its number now, which ends the recursion where it contains itself.
    let state = state_of(o);
    lock(&TABLE).states.extend(state.map(|s| (id, s)));
    id
}

/// The object of a number.
pub fn object(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let held = lock(&TABLE).objects[id.index()].as_ref().map(|o| o.bind(py).clone());
    held.unwrap_or_else(|| imported(py, id))
}

/// The object of an item of the stored library.
fn imported(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let Some((stored, item)) = library::item(py, id) else { lh_ir::bug!("{id} is no object") };
    let o = stored.python(py, &item).unwrap_or_else(|e| lh_ir::bug!("{item:?} of the library is not found: {e}"));
    let version = function_of(&o).map(|f| Version::of(&f));
    let mut t = lock(&TABLE);
    t.objects[id.index()] = Some(o.clone().unbind());
    t.by_address.insert(o.as_ptr() as usize, id);
    if let Some(v) = version {
        t.versions.insert(id, v);
    }
    o
}

/// The number of an item of the stored library.
pub fn stored(item: Item) -> ObjId {
    let mut t = lock(&TABLE);
    if let Some(id) = t.by_item.get(&item) {
        return *id;
    }
    let id = ObjId::new(t.objects.len());
    t.objects.push(None);
    t.items.insert(id, item.clone());
    t.by_item.insert(item, id);
    id
}

/// The item of the stored library that a number stands for.
pub fn item(id: ObjId) -> Option<Item> {
    lock(&TABLE).items.get(&id).cloned()
}

/// The function number of a Python function or dispatcher.
pub fn function(id: ObjId) -> FuncId {
    let mut t = lock(&TABLE);
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
pub fn inner_function(parent: FuncId, code: Option<&Code>) -> FuncId {
    let mut t = lock(&TABLE);
    let f = FuncId::new(t.funcs.len());
    let place = code.map(|code| {
        t.inner.push((code.name.to_string(), code.first_line, code.freevars.clone()));
        t.inner.len() as u32 - 1
    });
    t.funcs.push(FuncEntry::Inner(parent, place));
    f
}

/// Name and line of code inside another function, and the names of the variables that it captures.
pub fn inner_place(f: FuncId) -> Option<Inner> {
    let t = lock(&TABLE);
    match t.funcs.get(f.index()) {
        Some(FuncEntry::Inner(_, Some(at))) if f.as_stored().is_none() => Some(t.inner[*at as usize].clone()),
        _ => None,
    }
}

/// The function object whose globals a function number uses, and whether the number is that object's own.
pub fn function_object(f: FuncId) -> (ObjId, bool) {
    let t = lock(&TABLE);
    let (mut f, mut own) = (f, true);
    loop {
        if let Some(n) = f.as_stored() {
            drop(t);
            return (stored(Item::Function(n)), own);
        }
        match t.funcs[f.index()] {
            FuncEntry::Object(o) => return (o, own),
            FuncEntry::Inner(parent, _) => (f, own) = (parent, false),
        }
    }
}
