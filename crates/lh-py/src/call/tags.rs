//! Tags: words that say which type an argument has. The tags of a value determine its type exactly.

use crate::object::numpy;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// The first byte of a tag is the kind of value; the rest of the word is the payload that is given here.
pub mod kind {
    /// `int` in the range of `int64`.
    pub const INT: u64 = 1;
    /// `float`.
    pub const FLOAT: u64 = 2;
    /// `bool`.
    pub const BOOL: u64 = 3;
    /// `complex`.
    pub const COMPLEX: u64 = 4;
    /// `None`.
    pub const NONE: u64 = 5;
    /// `str`.
    pub const STR: u64 = 6;
    /// `int` beyond `int64`, within `uint64`.
    pub const UINT64: u64 = 7;
    /// NumPy scalar: type number.
    pub const SCALAR: u64 = 8;
    /// Array: type number, rank, contiguity, whether it can be written; then, of records and times, the number of
    /// their dtype.
    pub const ARRAY: u64 = 9;
    /// Tuple: length; then the tags of its items.
    pub const TUPLE: u64 = 10;
    /// Namedtuple: length; then the class; then the tags of its items.
    pub const NAMED: u64 = 11;
    /// List, or double-ended queue: which; then the tags of its items, which are the same for all.
    pub const LIST: u64 = 12;
    /// An object known while compiling; then the object.
    pub const OBJECT: u64 = 13;
    /// `range`.
    pub const RANGE: u64 = 14;
    /// `slice`; then the tags of its parts.
    pub const SLICE: u64 = 15;
    /// A record: the number of its dtype.
    pub const RECORD: u64 = 16;
    /// A member of an enumeration; then the class.
    pub const ENUM: u64 = 18;
    /// Memory: the number of its class; then the tag of its array.
    pub const BUFFER: u64 = 17;
    /// Instance of a class that a program defines: the number of its fields without a type; then the class; then the
    /// tags of those.
    pub const CLASS: u64 = 20;
    /// Dictionary: its class; then the tags of its keys, then those of its values, and of the factory if it has one.
    pub const DICT: u64 = 21;
    /// The class of dictionaries that have a factory.
    pub const WITH_FACTORY: u64 = 3;
    /// Set: its class; then the tags of its items.
    pub const SET: u64 = 22;
    /// A type that no tags say: its number.
    pub const TYPE: u64 = 23;
    /// Point or span of time: whether it is a span, the base of its unit, and how many of it are a tick.
    pub const TIME: u64 = 24;
    /// One of several functions: how many; then the tags of each.
    pub const CHOICE: u64 = 25;
    /// A closure as a value: how much it captures; then the function by which it is typed, and the tags of that.
    pub const CLOSURE: u64 = 26;
    /// An object whose class has no type.
    pub const PYOBJECT: u64 = 27;
    /// Series of `numpy.polynomial`: the number of its class, and the type number of its coefficients.
    pub const POLYNOMIAL: u64 = 28;
    /// A method of an instance; then the method's function, and the tags of the instance.
    pub const METHOD: u64 = 29;
    /// Items of a list that has none.
    pub const UNDECIDED: u64 = 19;
}

/// The number of tags of the first so many types.
pub fn first_tags(tags: &[u64], n: usize) -> usize {
    (0..n).fold(0, |at, _| at + tags_of_one(&tags[at..]))
}

/// The number of tags that the first type takes.
pub fn tags_of_one(tags: &[u64]) -> usize {
    let several = |start: usize, n: usize| (0..n).fold(start, |at, _| at + tags_of_one(&tags[at..]));
    let payload = (tags[0] >> 8) as usize;
    match tags[0] & 0xff {
        kind::TUPLE | kind::CHOICE => several(1, payload),
        kind::NAMED | kind::CLASS | kind::CLOSURE => several(2, payload),
        kind::LIST | kind::SET | kind::BUFFER => several(1, 1),
        kind::DICT => several(1, if payload as u64 == kind::WITH_FACTORY { 3 } else { 2 }),
        kind::SLICE => several(1, 3),
        kind::METHOD => several(2, 1),
        kind::OBJECT | kind::ENUM => 2,
        // Of an array of records or times, then the dtype.
        kind::ARRAY if numpy::has_more(i32::from((tags[0] >> 8) as u8)) => 2,
        _ => 1,
    }
}

/// Merges two sequences of tags: where one has a list without items, the other's item type is taken. `None` if they
/// differ otherwise.
pub fn merged(a: &[u64], b: &[u64]) -> Option<SmallVec<[u64; 8]>> {
    let (mut i, mut j, mut both) = (0, 0, SmallVec::new());
    while i < a.len() && j < b.len() {
        if a[i] == kind::UNDECIDED && b[j] != kind::UNDECIDED {
            let n = tags_of_one(&b[j..]);
            both.extend_from_slice(&b[j..j + n]);
            (i, j) = (i + 1, j + n);
        } else if b[j] == kind::UNDECIDED && a[i] != kind::UNDECIDED {
            let n = tags_of_one(&a[i..]);
            both.extend_from_slice(&a[i..i + n]);
            (i, j) = (i + n, j + 1);
        } else if a[i] == b[j] {
            both.push(a[i]);
            (i, j) = (i + 1, j + 1);
        } else {
            return None;
        }
    }
    (i == a.len() && j == b.len()).then_some(both)
}

/// The same of the tags of one value each, where ints among floats become floats, in lists, tuples and values of
/// dictionaries, too. Other parts must agree: keys, items of sets and fields keep what they are.
pub fn joined(a: &[u64], b: &[u64]) -> Option<SmallVec<[u64; 8]>> {
    let is_int = |tag| tag == kind::INT || tag == kind::UINT64;
    let header = match a[0] & 0xff {
        _ if (is_int(a[0]) && b[0] == kind::FLOAT) || (is_int(b[0]) && a[0] == kind::FLOAT) => {
            return Some(SmallVec::from_slice(&[kind::FLOAT]));
        }
        kind::TUPLE => 1,
        kind::NAMED => 2,
        kind::LIST if a[0] >> 8 == 0 => 1,
        kind::DICT if a[0] >> 8 != kind::WITH_FACTORY => 1 + tags_of_one(&a[1..]),
        _ => return merged(a, b),
    };
    if a[0] != b[0] || a[0] & 0xff == kind::LIST && [a[1], b[1]].contains(&kind::UNDECIDED) {
        return merged(a, b);
    }
    // The keys of dictionaries are in the header.
    let of_b = if a[0] & 0xff == kind::DICT { 1 + tags_of_one(&b[1..]) } else { header };
    let mut both = merged(&a[..header], &b[..of_b])?;
    let (mut a, mut b) = (&a[header..], &b[of_b..]);
    while !a.is_empty() && !b.is_empty() {
        let (one, other) = (tags_of_one(a), tags_of_one(b));
        both.extend_from_slice(&joined(&a[..one], &b[..other])?);
        (a, b) = (&a[one..], &b[other..]);
    }
    (a.is_empty() && b.is_empty()).then_some(both)
}

/// The reason why a value cannot be passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// No native form for objects of this type.
    Type,
    /// An int beyond 64 bits.
    TooLarge,
    /// An array of a foreign byte order or of an element type without a native form, or one of several that are not
    /// aligned and overlap.
    Array,
    /// An empty list: its item type is not known.
    EmptyList,
    /// A list whose items are not all of one type.
    MixedList,
    /// A dictionary or set whose keys, or whose values, are not all of one type.
    MixedTable,
    /// A typed container whose type nothing decides yet.
    Untyped,
    /// A tuple or list nested too deeply, or that contains itself.
    Depth,
    /// There is no memory for its native form.
    Memory,
    /// A Python exception is set.
    Raised,
}

impl Refused {
    /// The reason in a few words, or the exception that says it.
    pub fn reason(self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(match self {
            Refused::Type => "objects of this type have no native form",
            Refused::TooLarge => "it is beyond 64 bits",
            Refused::Array => "its element type or byte order has no native form",
            Refused::EmptyList => "the items of an empty list have no type",
            Refused::MixedList => "its items are not all of one type",
            Refused::MixedTable => "its keys or its values are not all of one type",
            Refused::Untyped => "it is a typed container whose type nothing decides yet",
            Refused::Depth => "it is nested too deeply",
            Refused::Memory => return Err(PyMemoryError::new_err(())),
            Refused::Raised => return Err(PyErr::fetch(py)),
        })
    }
}
