//! Items that are whole numbers, floats, truth values, texts, bytes and tuples of these, read straight into the memory
//! of a native container: in blocks, whose objects are prefetched. All other items are converted one by one.

use crate::call::tags::kind;
use crate::host::classes;
use crate::object::int::{self, Machine};
use crate::object::{numpy, owner, text};
use lh_ir::Ty;
use lh_ir::consts::ASCII;
use lh_ir::types::Buffer;
use lh_runtime::MemInfo;
use lh_runtime::alloc::set_references;
use lh_runtime::hash::{bytes_hash, table_hash};
use lh_runtime::items::ItemsRef;
use lh_runtime::string_index::SHORT;
use lh_runtime::tables::{GOLDEN, prefetch};
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::{SmallVec, smallvec};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The sign bit marks the hashes of entries.
pub const MARK: i64 = i64::MIN;

/// The most parts of a tuple, the most bytes of an item, and the deepest nesting of tuples in it.
const MAX_PARTS: usize = 24;
const MAX_SIZE: usize = 8 * MAX_PARTS;
const MAX_DEPTH: usize = 4;
/// So many objects are asked from memory before the first one is read: mostly they lie anywhere. Even, since the keys
/// and values of dictionaries come in turn.
pub const BLOCK: usize = 32;
/// Of so many items the objects are mostly not in the caches near the processor.
const FAR: usize = 2048;
/// The texts that have one owner. Those that are used by different threads mostly have different ones, and a text that
/// outlives the call keeps few others.
const CHUNK: usize = 48;

/// The form that all items of a container have.
#[derive(PartialEq, Eq, Debug)]
pub enum Shape {
    Int,
    Float,
    Bool,
    Text,
    Bytes,
    /// The class, which is that of a namedtuple if it is not `tuple`, and the parts.
    Tuple(*mut ffi::PyTypeObject, Vec<Shape>),
}

impl Shape {
    /// The shape of an object; `None` if it has none.
    ///
    /// # Safety
    /// The object is alive, and the thread attached.
    pub unsafe fn of(o: *mut ffi::PyObject) -> Option<Shape> {
        // SAFETY: as promised.
        unsafe { Shape::nested(o, 0) }.filter(|shape| (1..=MAX_SIZE).contains(&shape.layout().0))
    }

    unsafe fn nested(o: *mut ffi::PyObject, depth: usize) -> Option<Shape> {
        let leaves = [
            (&raw mut ffi::PyLong_Type, Shape::Int),
            (&raw mut ffi::PyFloat_Type, Shape::Float),
            (&raw mut ffi::PyUnicode_Type, Shape::Text),
            (&raw mut ffi::PyBool_Type, Shape::Bool),
            (&raw mut ffi::PyBytes_Type, Shape::Bytes),
        ];
        // SAFETY: the classes fix the structs that are read.
        unsafe {
            let class = ffi::Py_TYPE(o);
            if let Some((_, leaf)) = leaves.into_iter().find(|(of, _)| *of == class) {
                return Some(leaf);
            }
            if depth == MAX_DEPTH || class != &raw mut ffi::PyTuple_Type && !is_named_tuple(o) {
                return None;
            }
            let n = ffi::PyTuple_GET_SIZE(o);
            if n > MAX_PARTS as isize {
                return None;
            }
            let parts = (0..n).map(|i| Shape::nested(ffi::PyTuple_GET_ITEM(o, i), depth + 1));
            parts.collect::<Option<Vec<Shape>>>().map(|parts| Shape::Tuple(class, parts))
        }
    }

    /// The tags of such items.
    pub fn tags(&self, tags: &mut SmallVec<[u64; 4]>) {
        match self {
            Shape::Int => tags.push(kind::INT),
            Shape::Float => tags.push(kind::FLOAT),
            Shape::Bool => tags.push(kind::BOOL),
            Shape::Text => tags.push(kind::STR),
            Shape::Bytes => tags.extend(bytes_tags()),
            Shape::Tuple(class, parts) => {
                let n = (parts.len() as u64) << 8;
                if *class == &raw mut ffi::PyTuple_Type {
                    tags.push(kind::TUPLE | n);
                } else {
                    tags.extend([kind::NAMED | n, *class as u64]);
                }
                parts.iter().for_each(|part| part.tags(tags));
            }
        }
    }

    /// The size of an item in memory, and the mask of its words that are counted.
    pub fn layout(&self) -> (usize, u64) {
        layout_of(0, std::slice::from_ref(self))
    }

    /// Puts the parts of an item behind those that end at `at`.
    fn place(&self, at: &mut usize, mask: &mut u64) {
        let words = match self {
            Shape::Bool => {
                *at += 1;
                return;
            }
            Shape::Tuple(_, parts) => return parts.iter().for_each(|part| part.place(at, mask)),
            Shape::Int | Shape::Float => 1,
            Shape::Text => 3,
            Shape::Bytes => 4,
        };
        *at = at.next_multiple_of(8);
        if words > 1 {
            *mask |= 1u64.checked_shl(*at as u32 / 8).unwrap_or_default();
        }
        *at += 8 * words;
    }

    /// Whether all parts are truth values, which need no alignment.
    fn is_narrow(&self) -> bool {
        match self {
            Shape::Bool => true,
            Shape::Tuple(_, parts) => parts.iter().all(Shape::is_narrow),
            _ => false,
        }
    }

    /// Whether there may be gaps between the parts.
    fn has_gaps(&self) -> bool {
        match self {
            Shape::Bool => true,
            Shape::Tuple(_, parts) => parts.iter().any(Shape::has_gaps),
            _ => false,
        }
    }

    /// The code of keys of this shape for `make_index`: see `key_code`.
    pub fn key_code(&self) -> i64 {
        match self {
            Shape::Int => 8 | lh_runtime::tables::SIGNED,
            Shape::Float => 8 | lh_runtime::tables::FLOAT,
            Shape::Bool => 1,
            Shape::Text | Shape::Bytes | Shape::Tuple(..) => 0,
        }
    }

    /// Asks for the memory of an object.
    #[inline]
    fn prefetch(&self, o: *mut ffi::PyObject) {
        prefetch(o);
        match self {
            // The characters, and the items, follow the header.
            Shape::Text => prefetch(o.cast::<u8>().wrapping_add(size_of::<ffi::PyASCIIObject>())),
            Shape::Bytes => prefetch(o.cast::<u8>().wrapping_add(32)),
            Shape::Tuple(_, parts) => prefetch(o.cast::<u64>().wrapping_add(2 + parts.len())),
            Shape::Int | Shape::Float | Shape::Bool => {}
        }
    }

    /// Asks for the memory of the parts of a tuple.
    ///
    /// # Safety
    /// The object is alive, and the thread attached.
    unsafe fn prefetch_parts(&self, o: *mut ffi::PyObject) {
        let Shape::Tuple(class, parts) = self else { return };
        // SAFETY: the class fixes the struct that is read.
        unsafe {
            if ffi::Py_TYPE(o) == *class && ffi::PyTuple_GET_SIZE(o) == parts.len() as isize {
                for (i, part) in parts.iter().enumerate() {
                    part.prefetch(ffi::PyTuple_GET_ITEM(o, i as isize));
                }
            }
        }
    }

    /// Writes the words of an object, and moves on; `None` if it has another shape.
    ///
    /// # Safety
    /// The object is alive, there is room for its words, and the thread is attached.
    unsafe fn read(&self, o: *mut ffi::PyObject, to: &mut *mut u8, texts: &mut Texts) -> Option<()> {
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
                Shape::Bool if class == &raw mut ffi::PyBool_Type => {
                    to.write(u8::from(o == ffi::Py_True()));
                    *to = to.add(1);
                    return Some(());
                }
                Shape::Bytes if class == &raw mut ffi::PyBytes_Type => return read_bytes(o, to),
                Shape::Tuple(own, parts) if class == *own => {
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
            write_words(to, [word]);
        }
        Some(())
    }

    /// The hash of a key, of which the words lie there: see `key_hash`.
    ///
    /// # Safety
    /// Words of this shape lie there.
    unsafe fn hash(&self, at: &mut *const u8) -> i64 {
        // SAFETY: as promised.
        unsafe {
            if let Shape::Tuple(_, parts) = self {
                return parts.iter().fold(parts.len() as i64, |h, part| mixed(h, part.hash(at)));
            }
            if let Shape::Bool = self {
                let word = at.read();
                *at = at.add(1);
                return word.into();
            }
            let words = aligned(at.cast_mut()).cast::<u64>().cast_const();
            let (count, h) = match self {
                Shape::Float => (1, float_hash(words.read(), Ty::f64())),
                Shape::Text => {
                    let (data, len) = (words.add(1).read() as *const u8, words.add(2).read() as i64);
                    (3, table_hash(lh_runtime::text(data, len)))
                }
                Shape::Bytes => {
                    let (data, len) = (words.add(1).read() as *const u8, words.add(2).read() as usize);
                    (4, bytes_hash(std::slice::from_raw_parts(data, len)))
                }
                _ => (1, words.read() as i64),
            };
            *at = words.add(count).cast();
            h
        }
    }
}

/// The tags of `bytes`.
pub fn bytes_tags() -> [u64; 2] {
    static TAGS: OnceLock<[u64; 2]> = OnceLock::new();
    *TAGS.get_or_init(|| {
        let class = Buffer::ALL.iter().position(|b| *b == Buffer::Bytes).unwrap_or_default() as u64;
        let order = (numpy::C_CONTIGUOUS | numpy::F_CONTIGUOUS) as u64;
        let bytes = numpy::num_of_ty(Ty::u8()).unwrap_or_default() as u64;
        [kind::BUFFER | class << 8, kind::ARRAY | bytes << 8 | 1 << 16 | order << 32]
    })
}

/// Whether an object is a namedtuple, and of no class that has a form of its own.
unsafe fn is_named_tuple(o: *mut ffi::PyObject) -> bool {
    // SAFETY: the object is alive, and the thread attached. No code of the program runs: the class of its class is
    // `type`.
    unsafe {
        let class = ffi::Py_TYPE(o);
        ffi::PyType_IsSubtype(class, &raw mut ffi::PyTuple_Type) != 0
            && ffi::Py_TYPE(class.cast()) == &raw mut ffi::PyType_Type
            && ffi::PyObject_HasAttrString(class.cast(), c"_fields".as_ptr()) != 0
            && classes::find(&Bound::from_borrowed_ptr(Python::assume_attached(), o).get_type())
                .is_ok_and(|c| c.is_none())
    }
}

/// The size of items with these parts behind `start` bytes, and the mask of their words that are counted.
pub fn layout_of(start: usize, shapes: &[Shape]) -> (usize, u64) {
    let (mut size, mut mask) = (start, 0);
    shapes.iter().for_each(|shape| shape.place(&mut size, &mut mask));
    let is_narrow = start == 0 && shapes.iter().all(Shape::is_narrow);
    (if is_narrow { size } else { size.next_multiple_of(8) }, mask)
}

#[inline(always)]
fn aligned(at: *mut u8) -> *mut u8 {
    at.wrapping_add(at.addr().wrapping_neg() & 7)
}

/// Writes words at the next place that is aligned for them, and moves on.
///
/// # Safety
/// There is room.
#[inline(always)]
unsafe fn write_words<const N: usize>(to: &mut *mut u8, words: [u64; N]) {
    let at = aligned(*to);
    // SAFETY: as promised.
    unsafe {
        at.cast::<[u64; N]>().write(words);
        *to = at.add(8 * N);
    }
}

/// Writes the words of `bytes`; `None` if there is no memory for an owner.
///
/// # Safety
/// The object is an instance of `bytes`, and there is room.
unsafe fn read_bytes(o: *mut ffi::PyObject, to: &mut *mut u8) -> Option<()> {
    let owner = owner::foreign_owner(o);
    if owner.is_null() {
        return None;
    }
    // SAFETY: as promised; the last word is the distance of the items.
    unsafe { write_words(to, [owner as u64, ffi::PyBytes_AsString(o) as u64, ffi::PyBytes_Size(o) as u64, 1]) };
    Some(())
}

/// The rows of a container being filled: entries of a table begin with a mark.
pub struct Rows {
    container: ItemsRef,
    shapes: SmallVec<[Shape; 2]>,
    texts: Texts,
    to: *mut u8,
    size: usize,
    count: usize,
    room: usize,
    is_table: bool,
    has_gaps: bool,
}

impl Rows {
    /// Fills a container, which has no items and room for so many.
    pub fn new(container: ItemsRef, shapes: SmallVec<[Shape; 2]>, room: usize, is_table: bool) -> Rows {
        // SAFETY: the container is alive.
        let (to, size) = unsafe { ((*container.as_ptr()).mem.data, (*container.as_ptr()).elem_size as usize) };
        let texts = Texts::new(room.saturating_mul(layout_of(0, &shapes).1.count_ones() as usize));
        let has_gaps = shapes.iter().any(Shape::has_gaps);
        Rows { container, shapes, texts, to, size, count: 0, room, is_table, has_gaps }
    }

    /// Adds items, or entries whose parts follow each other; `None` if they have other shapes or there is no room.
    ///
    /// # Safety
    /// The objects are alive, and the thread is attached.
    pub unsafe fn add_all(&mut self, block: &[*mut ffi::PyObject]) -> Option<()> {
        // SAFETY: as promised.
        unsafe {
            if self.room >= FAR {
                self.prefetch(block);
            }
            if !self.is_table && self.shapes[..] == [Shape::Text] {
                return block.iter().try_for_each(|text| self.add_text(*text));
            }
            block.chunks_exact(self.shapes.len()).try_for_each(|parts| self.add(parts))
        }
    }

    /// The same of one item that is a text, mostly of ASCII.
    ///
    /// # Safety
    /// The object is alive, and the thread is attached.
    #[inline(always)]
    unsafe fn add_text(&mut self, o: *mut ffi::PyObject) -> Option<()> {
        // SAFETY: as promised; there is room for an item more.
        unsafe {
            let is_short = self.count == self.room || self.texts.count == self.texts.room;
            if is_short || ffi::Py_TYPE(o) != &raw mut ffi::PyUnicode_Type || ffi::PyUnicode_IS_COMPACT_ASCII(o) == 0 {
                return self.add(&[o]);
            }
            let (text, size, _) = text::utf8(o);
            self.texts.hold_next(o);
            write_words(&mut self.to, [self.texts.owner as u64, text as u64, (size as i64 | ASCII) as u64]);
        }
        self.count += 1;
        Some(())
    }

    /// Asks for the memory of objects.
    ///
    /// # Safety
    /// The objects are alive, and the thread is attached.
    unsafe fn prefetch(&self, block: &[*mut ffi::PyObject]) {
        let width = self.shapes.len();
        for (first, shape) in self.shapes.iter().enumerate() {
            let mut at = first;
            while at < block.len() {
                shape.prefetch(block[at]);
                at += width;
            }
            at = if matches!(shape, Shape::Tuple(..)) { first } else { block.len() };
            while at < block.len() {
                // SAFETY: as promised.
                unsafe { shape.prefetch_parts(block[at]) };
                at += width;
            }
        }
    }

    /// Adds an item, or an entry of these parts; `None` if they have other shapes or there is no room.
    ///
    /// # Safety
    /// The objects are alive, and the thread is attached.
    unsafe fn add(&mut self, parts: &[*mut ffi::PyObject]) -> Option<()> {
        if self.count == self.room {
            return None;
        }
        let start = self.to;
        // SAFETY: there is room for an item more; the words of a key follow its mark.
        unsafe {
            let end = start.add(self.size);
            let mut to = start.add(if self.is_table { 8 } else { 0 });
            if self.has_gaps {
                start.write_bytes(0, self.size);
            }
            for (shape, part) in self.shapes.iter().zip(parts) {
                if shape.read(*part, &mut to, &mut self.texts).is_none() {
                    // The words that were written are let go with the container.
                    to.write_bytes(0, end.offset_from_unsigned(to));
                    if self.is_table {
                        start.cast::<u64>().write(0);
                    }
                    self.count += 1;
                    return None;
                }
            }
            if self.is_table {
                let mark = match self.shapes[0].key_code() {
                    0 => self.shapes[0].hash(&mut start.add(8).cast_const()) | MARK,
                    _ => -1,
                };
                start.cast::<i64>().write(mark);
            }
            self.to = end;
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
    room: isize,
    /// The most that are still to come.
    left: usize,
}

impl Texts {
    fn new(left: usize) -> Texts {
        Texts { owner: null_mut(), held: null_mut(), count: 0, room: 0, left }
    }

    /// Writes the words of a `str`; `None` if it needs an owner of its own.
    unsafe fn read(&mut self, o: *mut ffi::PyObject, to: &mut *mut u8) -> Option<()> {
        // SAFETY: the object is a `str`, and lives as long as its text is used.
        unsafe {
            let (text, size, is_ascii) = text::utf8(o);
            if text.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            if !is_ascii && size as usize > SHORT {
                return None;
            }
            let owner = self.hold(o)?;
            write_words(to, [owner as u64, text as u64, (size as i64 | if is_ascii { ASCII } else { 0 }) as u64]);
        }
        Some(())
    }

    /// The owner of one more text.
    unsafe fn hold(&mut self, o: *mut ffi::PyObject) -> Option<*mut MemInfo> {
        // SAFETY: the tuple is nobody else's until now, and has room.
        unsafe {
            if self.count == self.room {
                self.close();
                let room = self.left.clamp(1, CHUNK);
                let held = ffi::PyTuple_New(room as isize);
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
                *self = Texts { owner, held, count: 0, room: room as isize, left: self.left - room.min(self.left) };
            }
            self.hold_next(o);
        }
        Some(self.owner)
    }

    /// Holds a text where there is room.
    ///
    /// # Safety
    /// The object is alive, and the tuple nobody else's until now.
    #[inline(always)]
    unsafe fn hold_next(&mut self, o: *mut ffi::PyObject) {
        // SAFETY: as promised.
        unsafe {
            ffi::Py_INCREF(o);
            ffi::PyTuple_SET_ITEM(self.held, self.count, o);
        }
        self.count += 1;
    }

    /// Gives the last owner a reference for each of its texts, and is without one.
    fn close(&mut self) {
        if !self.owner.is_null() {
            // SAFETY: nobody else refers to the owner until now; it has a text at least.
            unsafe { set_references(self.owner, self.count as i64) };
        }
        *self = Texts::new(self.left);
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
