//! Items that are whole numbers, floats, texts and tuples of these, read straight into the memory of a native
//! container. Each of their words has eight bytes, so that the words of an item follow each other.

use crate::call::tags::kind;
use crate::object::int::{self, Machine};
use crate::object::owner;
use lh_ir::Ty;
use lh_ir::consts::ASCII;
use lh_runtime::MemInfo;
use lh_runtime::alloc::set_references;
use lh_runtime::hash::table_hash;
use lh_runtime::items::ItemsRef;
use lh_runtime::string_index::SHORT;
use lh_runtime::tables::GOLDEN;
use pyo3::ffi;
use smallvec::{SmallVec, smallvec};
use std::ptr::null_mut;

/// The sign bit marks the hashes of entries.
pub const MARK: i64 = i64::MIN;

/// The most words of an item, and the deepest nesting of tuples in it.
const MAX_WORDS: usize = 24;
const MAX_DEPTH: usize = 4;
/// The texts that have one owner. Those that are used by different threads mostly have different ones, and a text that
/// outlives the call keeps few others.
const CHUNK: isize = 48;

/// The form that all items of a container have.
#[derive(PartialEq, Eq, Debug)]
pub enum Shape {
    Int,
    Float,
    Text,
    Tuple(Vec<Shape>),
}

impl Shape {
    /// The shape of an object; `None` if it has none.
    ///
    /// # Safety
    /// The object is alive, and the thread attached.
    pub unsafe fn of(o: *mut ffi::PyObject) -> Option<Shape> {
        // SAFETY: as promised.
        unsafe { Shape::nested(o, 0) }.filter(|shape| (1..=MAX_WORDS).contains(&shape.words()))
    }

    unsafe fn nested(o: *mut ffi::PyObject, depth: usize) -> Option<Shape> {
        // SAFETY: the exact classes fix the structs that are read.
        unsafe {
            let class = ffi::Py_TYPE(o);
            if class == &raw mut ffi::PyLong_Type {
                return Some(Shape::Int);
            }
            if class == &raw mut ffi::PyFloat_Type {
                return Some(Shape::Float);
            }
            if class == &raw mut ffi::PyUnicode_Type {
                return Some(Shape::Text);
            }
            if class != &raw mut ffi::PyTuple_Type || depth == MAX_DEPTH {
                return None;
            }
            let n = ffi::PyTuple_GET_SIZE(o);
            if n > MAX_WORDS as isize {
                return None;
            }
            let parts = (0..n).map(|i| Shape::nested(ffi::PyTuple_GET_ITEM(o, i), depth + 1));
            parts.collect::<Option<Vec<Shape>>>().map(Shape::Tuple)
        }
    }

    /// The tags of such items.
    pub fn tags(&self, tags: &mut SmallVec<[u64; 4]>) {
        match self {
            Shape::Int => tags.push(kind::INT),
            Shape::Float => tags.push(kind::FLOAT),
            Shape::Text => tags.push(kind::STR),
            Shape::Tuple(parts) => {
                tags.push(kind::TUPLE | (parts.len() as u64) << 8);
                parts.iter().for_each(|part| part.tags(tags));
            }
        }
    }

    /// The number of its words.
    pub fn words(&self) -> usize {
        match self {
            Shape::Int | Shape::Float => 1,
            Shape::Text => 3,
            Shape::Tuple(parts) => parts.iter().map(Shape::words).sum(),
        }
    }

    /// The mask of its words that are counted.
    pub fn mask(&self) -> u64 {
        match self {
            Shape::Int | Shape::Float => 0,
            Shape::Text => 1,
            Shape::Tuple(parts) => parts.iter().rev().fold(0, |mask, part| mask << part.words() | part.mask()),
        }
    }

    /// The code of keys of this shape for `make_index`: see `key_code`.
    pub fn key_code(&self) -> i64 {
        match self {
            Shape::Int => 8 | lh_runtime::tables::SIGNED,
            Shape::Float => 8 | lh_runtime::tables::FLOAT,
            Shape::Text | Shape::Tuple(_) => 0,
        }
    }

    /// Writes the words of an object, and moves on; `None` if it has another shape.
    ///
    /// # Safety
    /// The object is alive, there is room for its words, and the thread is attached.
    unsafe fn read(&self, o: *mut ffi::PyObject, to: &mut *mut u64, texts: &mut Texts) -> Option<()> {
        // SAFETY: the exact classes fix the structs that are read; the caller promises room.
        unsafe {
            let class = ffi::Py_TYPE(o);
            let word = match self {
                Shape::Int if class == &raw mut ffi::PyLong_Type => match int::machine(o) {
                    Machine::Signed(v) => v as u64,
                    Machine::Unsigned(_) | Machine::TooLarge => return None,
                },
                Shape::Float if class == &raw mut ffi::PyFloat_Type => {
                    (*o.cast::<ffi::PyFloatObject>()).ob_fval.to_bits()
                }
                Shape::Text if class == &raw mut ffi::PyUnicode_Type => return texts.read(o, to),
                Shape::Tuple(parts) if class == &raw mut ffi::PyTuple_Type => {
                    if ffi::PyTuple_GET_SIZE(o) != parts.len() as isize {
                        return None;
                    }
                    for (i, part) in parts.iter().enumerate() {
                        part.read(ffi::PyTuple_GET_ITEM(o, i as isize), to, texts)?;
                    }
                    return Some(());
                }
                _ => return None,
            };
            to.write(word);
            *to = to.add(1);
        }
        Some(())
    }

    /// The hash of a key, of which the words lie there: see `key_hash`.
    ///
    /// # Safety
    /// Words of this shape lie there.
    unsafe fn hash(&self, words: &mut *const u64) -> i64 {
        // SAFETY: as promised.
        unsafe {
            let first = **words;
            match self {
                Shape::Int => {
                    *words = words.add(1);
                    first as i64
                }
                Shape::Float => {
                    *words = words.add(1);
                    float_hash(first, Ty::f64())
                }
                Shape::Text => {
                    let (data, len) = (*words.add(1) as *const u8, *words.add(2) as i64);
                    *words = words.add(3);
                    table_hash(lh_runtime::text(data, len))
                }
                Shape::Tuple(parts) => {
                    let mut h = parts.len() as i64;
                    for part in parts {
                        h = mixed(h, part.hash(words));
                    }
                    h
                }
            }
        }
    }
}

/// The rows of a container being filled: entries of a table begin with a mark.
pub struct Rows {
    container: ItemsRef,
    shapes: SmallVec<[Shape; 2]>,
    texts: Texts,
    to: *mut u64,
    count: usize,
    room: usize,
    is_table: bool,
}

impl Rows {
    /// Fills a container, which has no items and room for so many.
    pub fn new(container: ItemsRef, shapes: SmallVec<[Shape; 2]>, room: usize, is_table: bool) -> Rows {
        // SAFETY: the container is alive.
        let to = unsafe { (*container.as_ptr()).mem.data.cast() };
        Rows { container, shapes, texts: Texts::default(), to, count: 0, room, is_table }
    }

    /// Adds an item, or an entry of these parts; `None` if they have other shapes or there is no room.
    ///
    /// # Safety
    /// The objects are alive, and the thread is attached.
    pub unsafe fn add(&mut self, parts: &[*mut ffi::PyObject]) -> Option<()> {
        if self.count == self.room {
            return None;
        }
        let start = self.to;
        // SAFETY: there is room for an item more; the words of a key follow its mark.
        unsafe {
            let mut to = start.add(usize::from(self.is_table));
            for (shape, part) in self.shapes.iter().zip(parts) {
                if shape.read(*part, &mut to, &mut self.texts).is_none() {
                    // The words that were written are let go with the container.
                    let size = (*self.container.as_ptr()).elem_size as usize / 8;
                    to.write_bytes(0, size - to.offset_from_unsigned(start));
                    if self.is_table {
                        start.write(0);
                    }
                    self.count += 1;
                    return None;
                }
            }
            if self.is_table {
                let mark = match self.shapes[0].key_code() {
                    0 => self.shapes[0].hash(&mut start.add(1).cast_const()) | MARK,
                    _ => -1,
                };
                start.cast::<i64>().write(mark);
            }
            self.to = to;
        }
        self.count += 1;
        Some(())
    }

    /// The container with its items, and their shapes.
    pub fn finish(mut self) -> (ItemsRef, SmallVec<[Shape; 2]>) {
        self.close();
        (self.container.clone(), std::mem::replace(&mut self.shapes, smallvec![]))
    }

    fn close(&mut self) {
        self.texts.close();
        // SAFETY: so many items were written.
        unsafe { (*self.container.as_ptr()).len = self.count as i64 };
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.close();
    }
}

/// The owners of the texts of a container: a tuple that holds some of them.
struct Texts {
    owner: *mut MemInfo,
    held: *mut ffi::PyObject,
    count: isize,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { owner: null_mut(), held: null_mut(), count: 0 }
    }
}

impl Texts {
    /// Writes the words of a `str`; `None` if it needs an owner of its own.
    unsafe fn read(&mut self, o: *mut ffi::PyObject, to: &mut *mut u64) -> Option<()> {
        let mut size = 0;
        // SAFETY: the object is a `str`, and lives as long as its text is used.
        unsafe {
            let text = ffi::PyUnicode_AsUTF8AndSize(o, &mut size);
            if text.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            let is_ascii = ffi::PyUnicode_GetLength(o) == size;
            if !is_ascii && size as usize > SHORT {
                return None;
            }
            let owner = self.hold(o)?;
            to.write(owner as u64);
            to.add(1).write(text as u64);
            to.add(2).write((size as i64 | if is_ascii { ASCII } else { 0 }) as u64);
            *to = to.add(3);
        }
        Some(())
    }

    /// The owner of one more text.
    unsafe fn hold(&mut self, o: *mut ffi::PyObject) -> Option<*mut MemInfo> {
        // SAFETY: the tuple is nobody else's until now, and has room.
        unsafe {
            if self.count == CHUNK || self.owner.is_null() {
                self.close();
                let held = ffi::PyTuple_New(CHUNK);
                if held.is_null() {
                    ffi::PyErr_Clear();
                    return None;
                }
                // Texts are in no cycles.
                ffi::PyObject_GC_UnTrack(held.cast());
                let owner = owner::foreign_owner(held);
                ffi::Py_DECREF(held);
                if owner.is_null() {
                    return None;
                }
                *self = Texts { owner, held, count: 0 };
            }
            ffi::Py_INCREF(o);
            ffi::PyTuple_SET_ITEM(self.held, self.count, o);
            self.count += 1;
        }
        Some(self.owner)
    }

    /// Gives the last owner a reference for each of its texts, and is without one.
    fn close(&mut self) {
        if !self.owner.is_null() {
            // SAFETY: nobody else refers to the owner until now; it has a text at least.
            unsafe { set_references(self.owner, self.count as i64) };
        }
        *self = Texts::default();
    }
}

pub fn float_hash(word: u64, ty: Ty) -> i64 {
    // Zeros of both signs are equal.
    (crate::object::words::float(word, ty) + 0.0).to_bits() as i64
}

pub fn mixed(h: i64, more: i64) -> i64 {
    let x = (h as u64 ^ more as u64).wrapping_mul(GOLDEN);
    (x ^ x >> 32) as i64
}
