//! Numbers of a call's lists: a result that has them again gets their objects, as in Python, which takes less time than
//! making new ones.

use crate::call::copied::Copied;
use crate::call::tags::kind;
use crate::object::int::{self, Machine};
use pyo3::ffi;
use smallvec::SmallVec;
use std::ptr::null_mut;

/// Numbers are looked for only if the result has at least this share of theirs, or a few.
const SHARE: usize = 8;
const FEW: usize = 64;
/// Each number that is where it is expected adds one to the patience, up to this and two searches. Those that are
/// elsewhere take some of it: making a new object takes less time than a long search.
const PATIENCE: isize = 256;

/// The numbers of a list as they were before the call.
struct Source {
    list: *mut ffi::PyObject,
    words: *const u64,
    first: usize,
    count: usize,
}

impl Source {
    /// A number by its place.
    fn word(&self, at: usize) -> Option<u64> {
        let i = at.wrapping_sub(self.first);
        // SAFETY: the call keeps the words.
        (i < self.count).then(|| unsafe { self.words.add(i).read_unaligned() })
    }
}

/// Where the last number of a sequence was found, and how far from the one before it.
#[derive(Clone, Copy)]
pub struct Cursor {
    source: usize,
    last: usize,
    step: usize,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor { source: 0, last: usize::MAX, step: 1 }
    }
}

/// The numbers of one class in the arguments of a call.
pub struct Kept {
    class: *mut ffi::PyTypeObject,
    sources: SmallVec<[Source; 2]>,
    count: usize,
    patience: isize,
    most_patience: isize,
}

impl Kept {
    /// The numbers of a call's lists, if there are any, for a result of so many.
    pub fn new<'a>(lists: impl Iterator<Item = &'a Copied>, class: *mut ffi::PyTypeObject, wanted: usize) -> Kept {
        let tag = if class == &raw mut ffi::PyLong_Type { kind::INT } else { kind::FLOAT };
        let (mut sources, mut count) = (SmallVec::new(), 0);
        // Without the GIL other threads may change a list meanwhile.
        let is_of_class = |copied: &&Copied| !cfg!(Py_GIL_DISABLED) && wanted > 0 && copied.tags[..] == [tag];
        for copied in lists.filter(is_of_class) {
            let (list, words) = (copied.object.as_ptr(), copied.before.as_ptr().cast());
            sources.push(Source { list, words, first: count, count: copied.count });
            count += copied.count;
        }
        let is_worth_it = count > 0 && count <= wanted.saturating_mul(SHARE).max(FEW);
        let most_patience = PATIENCE + 2 * search_cost(count);
        Kept { class, sources, count, patience: if is_worth_it { most_patience } else { 0 }, most_patience }
    }

    /// A new reference to the object of a number, the next one of a sequence, or null.
    #[inline(always)]
    pub fn find(&mut self, cursor: &mut Cursor, word: u64) -> *mut ffi::PyObject {
        if self.patience <= 0 {
            return null_mut();
        }
        // Results mostly have them in the order of an argument, or in the opposite one.
        let next = cursor.last.wrapping_add(cursor.step);
        if self.sources[cursor.source].word(next) == Some(word) {
            cursor.last = next;
            self.patience = (self.patience + 1).min(self.most_patience);
            return self.object(cursor, word);
        }
        self.find_elsewhere(cursor, word)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, cursor: &mut Cursor, word: u64) -> *mut ffi::PyObject {
        // Results that leave some out have the next one soon.
        let near = [1, 2, 3, 0, usize::MAX].map(|step| cursor.last.wrapping_add(step));
        self.patience -= 2;
        let at = near.into_iter().find(|at| self.word(*at, &mut cursor.source) == Some(word));
        let Some(at) = at.or_else(|| self.search(word)) else { return null_mut() };
        self.word(at, &mut cursor.source);
        cursor.step = at.wrapping_sub(cursor.last);
        cursor.last = at;
        self.object(cursor, word)
    }

    /// The number at a place, and the source that it is in.
    fn word(&self, at: usize, source: &mut usize) -> Option<u64> {
        if at >= self.count {
            return None;
        }
        let word = self.sources[*source].word(at);
        word.or_else(|| {
            *source = self.sources.partition_point(|s| s.first + s.count <= at);
            self.sources[*source].word(at)
        })
    }

    /// The object at a place of the list, if that is still the number.
    #[inline(always)]
    fn object(&self, cursor: &Cursor, word: u64) -> *mut ffi::PyObject {
        let source = &self.sources[cursor.source];
        let i = (cursor.last - source.first) as isize;
        // SAFETY: the call holds the list, whose items are alive; the class says what an item is.
        unsafe {
            if i >= ffi::PyList_GET_SIZE(source.list) {
                return null_mut();
            }
            let item = ffi::PyList_GET_ITEM(source.list, i);
            let is_it = ffi::Py_TYPE(item) == self.class
                && if self.class == &raw mut ffi::PyFloat_Type {
                    (*item.cast::<ffi::PyFloatObject>()).ob_fval.to_bits() == word
                } else {
                    int::machine(item) == Machine::Signed(word as i64)
                };
            if is_it { ffi::Py_NewRef(item) } else { null_mut() }
        }
    }

    /// The first place of a number.
    fn search(&mut self, word: u64) -> Option<usize> {
        self.patience -= search_cost(self.count);
        self.sources.iter().find_map(|source| {
            // SAFETY: the call keeps the words.
            let words = (0..source.count).map(|i| unsafe { source.words.add(i).read_unaligned() });
            // A loop without an exit is one of vectors.
            let is_there = words.clone().fold(false, |any, w| any | (w == word));
            words.filter(|_| is_there).position(|w| w == word).map(|i| source.first + i)
        })
    }
}

/// The patience that a search among so many numbers takes.
fn search_cost(count: usize) -> isize {
    8 + count as isize / 16
}
