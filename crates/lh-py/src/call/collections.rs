//! Classes of containers beside `list`: those of `collections`, and `frozenset`. Their tags are those of lists,
//! dictionaries and sets, whose payload says the class. `deques.rs` copies and boxes double-ended queues.

use crate::call::tags::kind;
use lh_ir::Ty;
use lh_ir::class::{Class, DICT, SET};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFrozenSet, PySet, PyType};
use std::sync::OnceLock;

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
    /// The size of the fields of such a table, in bytes, and the mask of their words that are counted, once known.
    pub fn fields(self) -> &'static OnceLock<(usize, u64)> {
        static FOUND: [OnceLock<(usize, u64)>; 6] = [const { OnceLock::new() }; 6];
        &FOUND[self as usize]
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

/// The class of such objects.
pub fn deque_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
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
