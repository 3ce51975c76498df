//! The table of Python objects that compiled code knows: each has a number, which is its own as long as code needs the
//! object (`held.rs`). An item of the stored library needs no object until something asks for it.
//!
//! The table is locked for single operations only, never while Python code runs.

use crate::host::parts::{self, MAX_DEPTH, function_of};
use crate::host::types::Type;
use crate::host::{constants, decorated, frozen, held, library};
use crate::object::array;
use crate::object::function::{self, Version};
use crate::object::lock::lock;
use hashbrown::HashMap;
use lh_ir::untyped::Code;
use lh_ir::{FuncId, ObjId};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyModule, PyType};
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
    /// Code inside another function, without a function object of its own.
    Inner(FuncId),
}

/// The key of objects that are equal by value.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Value {
    Int(i128),
    Float(u64),
    Complex(u64, u64),
    Str(String),
    /// A class method of a class: the addresses of the function and the class, which it keeps alive.
    Method(usize, usize),
}

/// An object with a number.
struct Known {
    /// Whoever holds the object gives the number back before.
    object: *mut ffi::PyObject,
    /// Whether the table itself holds it.
    is_kept: bool,
    /// Whether it stays until the object dies, which tells.
    is_dispatcher: bool,
    holders: usize,
    value: Option<Value>,
    /// That of a function or a dispatcher.
    version: Option<Version>,
    /// The parts, at that time, of an object that may change in place.
    state: Option<Vec<isize>>,
}

// SAFETY: the object is used by attached threads only.
unsafe impl Send for Known {}

#[derive(Default)]
struct Table {
    /// `None` for an item of the stored library that has not been asked for, and for an object that nobody holds.
    objects: Vec<Option<Box<Known>>>,
    items: HashMap<ObjId, Item>,
    by_item: HashMap<Item, ObjId>,
    by_address: HashMap<usize, ObjId>,
    by_value: HashMap<Value, ObjId>,
    funcs: Vec<FuncEntry>,
    /// Code inside other functions, and by these.
    inner: HashMap<FuncId, Inner>,
    children: HashMap<FuncId, Vec<FuncId>>,
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
fn state_of(o: &Bound<'_, PyAny>, number: fn(&Bound<'_, PyAny>) -> isize) -> Option<Vec<isize>> {
    thread_local!(static DEPTH: Cell<usize> = const { Cell::new(0) });
    if array::is_array(o) {
        return Some(parts::layout_of(o).collect());
    }
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let state = (depth < MAX_DEPTH).then(|| parts::inside(o).iter().map(number).collect());
    DEPTH.set(depth);
    state.filter(|s: &Vec<_>| !s.is_empty())
}

/// Whether an object has not changed since it got its number.
fn is_unchanged(o: &Bound<'_, PyAny>, id: ObjId) -> bool {
    if value_of(o).is_some_and(|v| !matches!(v, Value::Method(..))) {
        return true;
    }
    let function = function_of(o);
    let version = |f: &Bound<'_, PyAny>| {
        let t = lock(&TABLE);
        t.known(id).and_then(|k| k.version.as_ref()).is_some_and(|v| v.is_of(f.as_ptr()))
    };
    // Python code may run below, so the lock is not held.
    let state = lock(&TABLE).known(id).and_then(|k| k.state.clone());
    // A part without a number is a new one.
    let number = |part: &Bound<'_, PyAny>| find(part).map_or(-1, |id| id.index() as isize);
    function.as_ref().is_none_or(version) && state.is_none_or(|s| state_of(o, number).is_none_or(|now| now == s))
}

impl Table {
    fn known(&self, id: ObjId) -> Option<&Known> {
        self.objects.get(id.index())?.as_deref()
    }

    /// Notes an object for the code that is compiled, and gives it.
    fn held<'py>(&mut self, py: Python<'py>, id: ObjId) -> Option<Bound<'py, PyAny>> {
        let known = self.objects[id.index()].as_deref_mut()?;
        // SAFETY: somebody holds the object.
        let object = unsafe { Bound::from_borrowed_ptr(py, known.object) };
        if !known.is_kept && held::note(id, &object) {
            known.holders += 1;
        }
        Some(object)
    }

    /// Takes an object out.
    fn remove(&mut self, id: ObjId) -> Option<Box<Known>> {
        let known = self.objects[id.index()].take()?;
        let address = known.object.addr();
        if self.by_address.get(&address) == Some(&id) {
            self.by_address.remove(&address);
        }
        if let Some(value) = &known.value
            && self.by_value.get(value) == Some(&id)
        {
            self.by_value.remove(value);
        }
        if let Some(f) = self.by_object.remove(&id) {
            self.forget_inner(f);
        }
        Some(known)
    }

    fn forget_inner(&mut self, f: FuncId) {
        for inner in self.children.remove(&f).unwrap_or_default() {
            self.inner.remove(&inner);
            self.forget_inner(inner);
        }
    }
}

/// The number of an object that is in the table, or of an equal plain number or string there.
pub fn find(o: &Bound<'_, PyAny>) -> Option<ObjId> {
    let (address, value) = (o.as_ptr() as usize, value_of(o));
    let known = lock(&TABLE).by_address.get(&address).copied();
    let found = match known {
        Some(id) => is_unchanged(o, id).then_some(id),
        None => lock(&TABLE).by_value.get(&value?).copied(),
    };
    found.filter(|id| lock(&TABLE).held(o.py(), *id).is_some())
}

/// Gives an object a number. Equal plain numbers and strings share one. A function whose code or defaults were
/// replaced, an array whose layout has changed, and an object with such parts get a new one.
pub fn intern(o: &Bound<'_, PyAny>) -> ObjId {
    let id = numbered(o);
    if held::scope() == 0 {
        keep_number(id);
    }
    id
}

/// As [`intern`], for the lifetime of the process.
pub fn keep(o: &Bound<'_, PyAny>) -> ObjId {
    let id = numbered(o);
    keep_number(id);
    id
}

/// Keeps the object of a number for the lifetime of the process. The thread is attached.
pub fn keep_number(id: ObjId) {
    if let Some(known) = lock(&TABLE).objects[id.index()].as_deref_mut().filter(|k| !k.is_kept) {
        known.is_kept = true;
        // SAFETY: somebody holds the object.
        unsafe { ffi::Py_INCREF(known.object) };
    }
}

fn numbered(o: &Bound<'_, PyAny>) -> ObjId {
    let old = lock(&TABLE).by_address.get(&(o.as_ptr() as usize)).copied();
    if let Some(id) = find(o) {
        return id;
    }
    let (value, version) = (value_of(o), function_of(o).map(|f| Version::of(&f)));
    let is_kept = lives_on(o);
    let mut t = lock(&TABLE);
    if t.by_address.get(&(o.as_ptr() as usize)).copied() != old {
        // Another thread was quicker.
        drop(t);
        return numbered(o);
    }
    let id = ObjId::new(t.objects.len());
    t.by_address.insert(o.as_ptr() as usize, id);
    if let Some(v) = &value {
        t.by_value.insert(v.clone(), id);
    }
    let object = if is_kept { o.clone().into_ptr() } else { o.as_ptr() };
    let is_dispatcher = decorated::is_dispatcher(o);
    t.objects.push(Some(Box::new(Known { object, is_kept, is_dispatcher, holders: 0, value, version, state: None })));
    t.held(o.py(), id);
    drop(t);
    // The object has its number now, which ends the recursion where it contains itself.
    let state = state_of(o, |part| intern(part).index() as isize);
    if let Some(known) = lock(&TABLE).objects[id.index()].as_deref_mut() {
        known.state = state;
    }
    id
}

/// Whether an object mostly lives as long as the process, so that the table keeps it.
fn lives_on(o: &Bound<'_, PyAny>) -> bool {
    o.is_instance_of::<PyType>()
        || o.is_instance_of::<PyModule>()
        || o.is_instance_of::<PyCFunction>()
        || o.is_instance_of::<Type>()
        || o.is(o.py().NotImplemented())
        || function_of(o).is_some_and(|f| function::is_library(&f))
}

/// Gives numbers back; whoever does so holds the objects until afterwards.
pub fn release(ids: impl Iterator<Item = ObjId>) {
    let mut gone = Vec::new();
    let mut t = lock(&TABLE);
    for id in ids {
        let Some(known) = t.objects[id.index()].as_deref_mut() else { continue };
        known.holders -= 1;
        if known.holders == 0 && !known.is_kept && !known.is_dispatcher {
            gone.extend(t.remove(id).map(|known| (id, known)));
        }
    }
    drop(t);
    gone.into_iter().for_each(|(id, known)| forget(id, known));
}

/// Takes a dispatcher out that dies.
pub fn died(address: usize) {
    let mut t = lock(&TABLE);
    let id = t.by_address.get(&address).copied();
    let gone = id.and_then(|id| Some((id, t.remove(id)?)));
    drop(t);
    gone.into_iter().for_each(|(id, known)| forget(id, known));
}

/// Forgets what else is known of an object, without the lock: objects that die may run code.
fn forget(id: ObjId, known: Box<Known>) {
    constants::forget(id);
    frozen::forget(id);
    drop(known);
}

/// Whether an object has its number still.
pub fn is_alive(id: ObjId) -> bool {
    let t = lock(&TABLE);
    t.known(id).is_some() || t.items.contains_key(&id)
}

/// The object of a number.
pub fn object(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let found = lock(&TABLE).held(py, id);
    found.unwrap_or_else(|| imported(py, id))
}

/// The object of an item of the stored library.
fn imported(py: Python<'_>, id: ObjId) -> Bound<'_, PyAny> {
    let Some((stored, item)) = library::item(py, id) else { lh_ir::bug!("{id} is no object") };
    let o = stored.python(py, &item).unwrap_or_else(|e| lh_ir::bug!("{item:?} of the library is not found: {e}"));
    let version = function_of(&o).map(|f| Version::of(&f));
    let mut t = lock(&TABLE);
    t.by_address.insert(o.as_ptr() as usize, id);
    let (object, value, state) = (o.clone().into_ptr(), None, None);
    let known = Known { object, is_kept: true, is_dispatcher: false, holders: 0, value, version, state };
    t.objects[id.index()] = Some(Box::new(known));
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
    if let Some(code) = code {
        t.inner.insert(f, (code.name.to_string(), code.first_line, code.freevars.clone()));
    }
    t.children.entry(parent).or_default().push(f);
    t.funcs.push(FuncEntry::Inner(parent));
    f
}

/// Name and line of code inside another function, and the names of the variables that it captures.
pub fn inner_place(f: FuncId) -> Option<Inner> {
    lock(&TABLE).inner.get(&f).cloned()
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
            FuncEntry::Inner(parent) => (f, own) = (parent, false),
        }
    }
}
