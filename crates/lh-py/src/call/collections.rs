//! Classes of containers beside `list`: those of `collections`, and `frozenset`. Their tags are those of lists,
//! dictionaries and sets, whose payload says the class.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::decode::Decoder;
use crate::call::item::Item;
use crate::call::lists::{Copied, Lists};
use crate::call::tables;
use crate::call::tags::{Refused, kind};
use lh_ir::Ty;
use lh_ir::class::{Class, DICT, SET};
use lh_runtime::MemInfo;
use lh_runtime::alloc::incref;
use lh_runtime::items::ItemsRef;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyType};
use pyo3::{ffi, intern};

/// The path of double-ended queues in the library.
const DEQUE: &str = "collections.deque";
/// The payload of the tag of lists that says that it is one of a queue.
pub const IS_DEQUE: u64 = 1;

/// A class of dictionaries or sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// `dict`
    Dict,
    /// `collections.OrderedDict`
    Ordered,
    /// `collections.Counter`
    Counter,
    /// `collections.defaultdict`
    Default,
    /// `set`
    Set,
    /// `frozenset`
    Frozen,
}

impl Table {
    /// The tag of each, and the path of its class.
    const ALL: [(Table, u64, &'static str); 6] = [
        (Table::Dict, kind::DICT, DICT),
        (Table::Ordered, kind::DICT | 1 << 8, "collections.OrderedDict"),
        (Table::Counter, kind::DICT | 2 << 8, "collections.Counter"),
        (Table::Default, kind::DICT | kind::WITH_FACTORY << 8, "collections.defaultdict"),
        (Table::Set, kind::SET, SET),
        (Table::Frozen, kind::SET | 1 << 8, "builtins.frozenset"),
    ];

    /// The class of an object, if it is exactly one of these.
    pub fn of(o: &Bound<'_, PyAny>) -> Option<Table> {
        let (py, class) = (o.py(), o.get_type());
        if o.is_exact_instance_of::<PyDict>() {
            return Some(Table::Dict);
        }
        if o.is_exact_instance_of::<PySet>() {
            return Some(Table::Set);
        }
        if o.is_exact_instance_of::<PyFrozenSet>() {
            return Some(Table::Frozen);
        }
        let named = [Table::Ordered, Table::Counter, Table::Default];
        named.into_iter().find(|table| table.python_class(py).is_ok_and(|known| known.is(&class)))
    }
    /// The one with a tag.
    pub fn of_tag(tag: u64) -> Table {
        let found = Table::ALL.iter().find(|(_, own, _)| *own == tag);
        found.unwrap_or_else(|| lh_ir::bug!("tag {tag}")).0
    }
    /// The one whose class of compiled code this is.
    pub fn of_class(class: Class) -> Option<Table> {
        Table::ALL.iter().find(|(.., path)| *path == class.path()).map(|(table, ..)| *table)
    }
    fn row(self) -> &'static (Table, u64, &'static str) {
        Table::ALL.iter().find(|(table, ..)| *table == self).expect("all are listed")
    }
    /// Its tag.
    pub fn tag(self) -> u64 {
        self.row().1
    }
    /// Its class of compiled code.
    pub fn class(self) -> Class {
        Class::find(self.row().2).unwrap_or_else(|| lh_ir::bug!("the library has no `{}`", self.row().2))
    }
    /// The number of parts of an entry.
    pub fn width(self) -> usize {
        if matches!(self, Table::Set | Table::Frozen) { 1 } else { 2 }
    }
    fn python_class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static FOUND: [PyOnceLock<Py<PyType>>; 3] = [const { PyOnceLock::new() }; 3];
        let (at, name) = match self {
            Table::Counter => (0, "Counter"),
            Table::Default => (1, "defaultdict"),
            _ => (2, "OrderedDict"),
        };
        FOUND[at].import(py, "collections", name)
    }
    /// An empty dictionary of this class.
    pub fn empty_dict<'py>(self, py: Python<'py>, factory: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        match (self, factory) {
            (Table::Dict, _) => Ok(PyDict::new(py).into_any()),
            (_, Some(factory)) => self.python_class(py)?.call1((factory,)),
            (_, None) => self.python_class(py)?.call0(),
        }
    }
}

/// Whether an object is exactly a double-ended queue.
pub fn is_deque(o: &Bound<'_, PyAny>) -> bool {
    deque_class(o.py()).is_ok_and(|class| o.get_type().is(class))
}

fn deque_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static FOUND: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    FOUND.import(py, "collections", "deque")
}

/// The class of compiled code of double-ended queues.
pub fn deque() -> Class {
    Class::find(DEQUE).unwrap_or_else(|| lh_ir::bug!("the library has no `{DEQUE}`"))
}

/// Whether a type is that of double-ended queues.
pub fn is_deque_type(ty: Ty) -> bool {
    ty.class().is_some_and(|c| c.path() == DEQUE)
}

/// The word of a field.
fn field(native: &ItemsRef, ty: Ty, name: &str) -> *mut i64 {
    let field = ty.fields().iter().find(|f| f.name == name);
    let offset = field.unwrap_or_else(|| lh_ir::bug!("`{ty}` has no `{name}`")).offset;
    native.as_ptr().wrapping_byte_add(offset).cast()
}

impl Lists {
    /// The native copy of a double-ended queue; appends the tags of its items to `buf`.
    pub fn import_deque(&mut self, object: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
        let start = buf.tags.len();
        if let Some(copied) = self.copied(object) {
            buf.tags.extend_from_slice(&copied.tags);
            return Ok(copied.list.clone());
        }
        let py = object.py();
        let raised = |e: PyErr| {
            e.restore(py);
            Refused::Raised
        };
        let list = object.py().get_type::<PyList>().call1((object,)).map_err(raised)?;
        // SAFETY: a list, which is held.
        unsafe { self.import(list.as_ptr(), buf)? };
        let limit: Option<i64> = object.getattr(intern!(py, "maxlen")).and_then(|n| n.extract()).map_err(raised)?;
        let items = self.take_copy(&list);
        let elem = if items.is_empty() { Ty::int() } else { Decoder::new(py, &buf.tags[start..]).next_ty() };
        let made = ring_of(&items, deque().of(vec![elem], false), limit)?;
        self.add_copy(object, made.clone(), &buf.tags[start..]);
        Ok(made)
    }

    /// Gives an empty queue the type of items that is decided now.
    ///
    /// # Safety
    /// The object is an argument of the call, and the tags are those of its items.
    pub unsafe fn decide_deque(&mut self, py: Python<'_>, o: *mut ffi::PyObject, tags: &[u64]) {
        // SAFETY: the tags belong to a queue.
        let object = unsafe { Bound::from_borrowed_ptr(py, o) };
        let Some(copied) = self.copied_mut(&object) else { return };
        copied.tags = tags.into();
        if copied.list.is_empty() {
            let item = Item::new(Decoder::new(py, tags).next_ty()).expect("a queue of such items exists");
            // SAFETY: an empty queue has items of any type.
            unsafe {
                (*copied.list.as_ptr()).elem_size = item.size as u32;
                (*copied.list.as_ptr()).mask = item.mask;
            }
        }
        for item in object.try_iter().into_iter().flatten().flatten() {
            // SAFETY: an item of the argument, and the tags of its type.
            unsafe { self.decide(py, item.as_ptr(), tags) };
        }
    }

    /// Writes the items of a native queue back, if something has changed.
    pub fn write_deque_back(&self, py: Python<'_>, copied: &Copied) -> PyResult<()> {
        let object = copied.object.bind(py);
        let ty = deque().of(vec![Decoder::new(py, &copied.tags).next_ty()], false);
        let items = Boxer::new(py, Some(self)).ring(ty, &copied.list)?;
        object.call_method0(intern!(py, "clear"))?;
        object.call_method1(intern!(py, "extend"), (items,)).map(drop)
    }
}

/// Whether the fields of a queue say that items have come, gone or moved.
pub fn has_moved(copied: &Copied) -> bool {
    // SAFETY: a queue of any type has the field, at the same place.
    unsafe { *field(&copied.list, deque().of(vec![Ty::int()], false), "_changes") != 0 }
}

/// A ring with copies of items.
fn ring_of(items: &ItemsRef, ty: Ty, limit: Option<i64>) -> Result<ItemsRef, Refused> {
    let (count, size) = (items.len(), items.elem_size());
    let places = if count == 0 { 0 } else { count.next_power_of_two().max(8) };
    // SAFETY: an `ItemsRef` keeps its object alive.
    let mask = unsafe { (*items.as_ptr()).mask };
    let made = ItemsRef::with_fields(places, size, mask, tables::fields_size(ty), 0).ok_or(Refused::TooLarge)?;
    // SAFETY: there is room for so many places, of which those without an item are zeros; each copy has references of
    // its own.
    unsafe {
        let (from, to) = ((*items.as_ptr()).mem.data, (*made.as_ptr()).mem.data);
        if count > 0 {
            to.copy_from_nonoverlapping(from, count * size);
            to.add(count * size).write_bytes(0, (places - count) * size);
        }
        for i in 0..count {
            let words = to.add(i * size).cast::<*mut MemInfo>();
            (0..size / 8).filter(|bit| mask >> bit & 1 != 0).for_each(|bit| incref(words.add(bit).read()));
        }
        (*made.as_ptr()).len = places as i64;
        field(&made, ty, "_count").write(count as i64);
        field(&made, ty, "_limit").write(limit.unwrap_or(-1));
    }
    Ok(made)
}

impl<'py> Boxer<'_, 'py> {
    /// The items of a native queue, as a list.
    pub fn ring(&mut self, ty: Ty, native: &ItemsRef) -> PyResult<Bound<'py, PyList>> {
        let elem = ty.items().unwrap_or_else(|| lh_ir::bug!("`{ty}` has no items"));
        let item = Item::new(elem).unwrap_or_else(|| lh_ir::bug!("`{ty}` has no items"));
        let list = PyList::empty(self.py());
        // SAFETY: a queue of this type has the fields.
        let (first, count) = unsafe { (*field(native, ty, "_first") as usize, *field(native, ty, "_count") as usize) };
        for i in 0..count {
            // SAFETY: a place of the ring that has an item.
            let slots = unsafe { item.slots(native.item((first + i) & (native.len() - 1))) };
            list.append(self.borrowed(elem, &slots)?)?;
        }
        Ok(list)
    }

    /// The object for a native queue.
    pub fn deque(&mut self, ty: Ty, native: &ItemsRef) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py();
        // SAFETY: a queue of this type has the field.
        let limit = unsafe { *field(native, ty, "_limit") };
        let limit = (limit >= 0).then_some(limit);
        let made = deque_class(py)?.call1(((), limit))?;
        self.made.insert(native.as_ptr() as usize, (ty, made.clone()));
        made.call_method1(intern!(py, "extend"), (self.ring(ty, native)?,))?;
        Ok(made)
    }
}
