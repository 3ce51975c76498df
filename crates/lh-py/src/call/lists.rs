//! Python lists as native lists: they are copied before the call, and changes are written back after it.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::decode::Decoder;
use crate::call::tags::{Refused, kind, merged, tags_of_one};
use crate::object::int::{self, Machine};
use crate::object::owner;
use crate::object::strong_ref::StrongRef;
use crate::object::words::{read_prim, write_prim};
use lh_ir::Ty;
use lh_ir::types::Prim;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;
use smallvec::SmallVec;

/// The layout of an item in memory.
pub struct Item {
    /// Type.
    pub ty: Ty,
    prims: Vec<Prim>,
    offsets: Vec<usize>,
    /// Size in bytes.
    pub size: usize,
    /// The 8-byte words that are reference-counted, as a mask.
    pub mask: u64,
}

impl Item {
    /// The layout of items of a type; `None` if lists cannot hold them.
    pub fn new(ty: Ty) -> Option<Item> {
        let prims = ty.flatten();
        let (offsets, size, _) = ty.mem_layout();
        let mut mask = 0u64;
        for (p, at) in prims.iter().zip(&offsets) {
            if p.is_counted() {
                mask |= 1u64.checked_shl(u32::try_from(at / 8).ok()?)?;
            }
        }
        Some(Item { ty, prims, offsets, size, mask })
    }
    /// Its primitives and their offsets.
    pub fn parts(&self) -> impl Iterator<Item = (Prim, usize)> {
        self.prims.iter().copied().zip(self.offsets.iter().copied())
    }
    /// Slots of the item at an address.
    ///
    /// # Safety
    /// An item of this type lies there.
    pub unsafe fn slots(&self, at: *const u8) -> SmallVec<[u64; 8]> {
        // SAFETY: as promised by the caller.
        self.prims.iter().zip(&self.offsets).map(|(p, o)| unsafe { read_prim(at.add(*o), *p) }).collect()
    }
}

/// One Python list and its native copy.
struct Record {
    /// The Python list. The reference is needed: another thread may remove it from the list that contains it.
    object: StrongRef,
    list: ItemsRef,
    tags: SmallVec<[u64; 4]>,
    /// The number of items and their bytes before the call.
    count: usize,
    before: Vec<u8>,
}

/// The copies that one call makes: of lists, and of arrays that are not aligned.
#[derive(Default)]
pub struct Lists {
    lists: Vec<Record>,
    arrays: Vec<Unaligned>,
}

/// An array that is not aligned, and its aligned copy.
struct Unaligned {
    array: StrongRef,
    copy: StrongRef,
}

impl Unaligned {
    /// Writes back what the call changed.
    fn reflect(&self, py: Python<'_>) -> PyResult<()> {
        let numpy = py.import(intern!(py, "numpy"))?;
        let (array, copy) = (self.array.bind(py), self.copy.bind(py));
        if is_writable(&array)? && !numpy.call_method1(intern!(py, "array_equal"), (&array, &copy))?.is_truthy()? {
            numpy.call_method1(intern!(py, "copyto"), (array, copy))?;
        }
        Ok(())
    }
}

fn is_writable(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = array.py();
    array.getattr(intern!(py, "flags"))?.getattr(intern!(py, "writeable"))?.is_truthy()
}

impl Lists {
    /// The aligned copy of an array, always the same one; `None` if a second copy would hide that two arrays overlap.
    pub fn aligned<'py>(&mut self, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = array.py();
        if let Some(known) = self.arrays.iter().find(|u| u.array.as_ptr() == array.as_ptr()) {
            return Ok(Some(known.copy.bind(py)));
        }
        let numpy = py.import(intern!(py, "numpy"))?;
        for u in &self.arrays {
            let other = u.array.bind(py);
            if numpy.call_method1(intern!(py, "may_share_memory"), (array, &other))?.is_truthy()?
                && (is_writable(array)? || is_writable(&other)?)
            {
                return Ok(None);
            }
        }
        let copy = numpy.call_method1(intern!(py, "array"), (array,))?;
        copy.getattr(intern!(py, "flags"))?.setattr(intern!(py, "writeable"), is_writable(array)?)?;
        self.arrays.push(Unaligned { array: StrongRef::new(array), copy: StrongRef::new(&copy) });
        Ok(Some(copy))
    }

    /// The native copy of a Python list; appends the tags of its items to `buf`.
    ///
    /// # Safety
    /// `o` is a list that stays alive, and the thread is attached.
    pub unsafe fn import(&mut self, o: *mut ffi::PyObject, buf: &mut ArgBuf) -> Result<*mut Items, Refused> {
        // SAFETY: as promised.
        let object: Bound<'_, PyList> =
            unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), o).cast_into_unchecked() };
        with_critical_section(&object, || self.import_locked(&object, buf))
    }

    fn import_locked(&mut self, object: &Bound<'_, PyList>, buf: &mut ArgBuf) -> Result<*mut Items, Refused> {
        let o = object.as_ptr();
        if let Some(r) = self.lists.iter().find(|r| r.object.as_ptr() == o) {
            buf.tags.extend_from_slice(&r.tags);
            return Ok(r.list.as_ptr());
        }
        let start = buf.tags.len();
        let held = StrongRef::new(object);
        // SAFETY: `o` is a list, which no other thread changes meanwhile.
        let list = unsafe {
            let n = ffi::PyList_GET_SIZE(o);
            if n == 0 {
                buf.tags.push(kind::UNDECIDED);
                buf.undecided = true;
                let list = ItemsRef::new(0, 8, 0).ok_or(Refused::TooLarge)?;
                let header = list.as_ptr();
                self.lists.push(Record {
                    object: held,
                    count: 0,
                    list,
                    tags: buf.tags[start..].into(),
                    before: Vec::new(),
                });
                return Ok(header);
            }
            let class = ffi::Py_TYPE(ffi::PyList_GET_ITEM(o, 0));
            if class == &raw mut ffi::PyLong_Type {
                import_words(o, buf, kind::INT, class, |item| match int::machine(item) {
                    Machine::Signed(v) => Some(v as u64),
                    Machine::Unsigned(_) | Machine::TooLarge => None,
                })?
            } else if class == &raw mut ffi::PyFloat_Type {
                import_words(o, buf, kind::FLOAT, class, |item| {
                    Some((*item.cast::<ffi::PyFloatObject>()).ob_fval.to_bits())
                })?
            } else {
                self.import_items(object, buf)?
            }
        };
        let before = bytes_of(&list).to_vec();
        let header = list.as_ptr();
        self.lists.push(Record { object: held, count: list.len(), list, tags: buf.tags[start..].into(), before });
        Ok(header)
    }

    /// Imports items of any kind, each through the argument buffer.
    unsafe fn import_items(&mut self, o: &Bound<'_, PyList>, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
        let (tag_start, slot_start, owner_start) = (buf.tags.len(), buf.slots.len(), buf.owners.len());
        let mut made: Option<(ItemsRef, Item)> = None;
        let mut tag_end = tag_start;
        // SAFETY: items are held while they are looked at; typing one may run Python code that changes the list.
        unsafe {
            let mut i = 0;
            while let Ok(object) = o.get_item(i) {
                self.push_item(object.as_ptr(), buf)?;
                let (list, item) = match &mut made {
                    None => {
                        tag_end = buf.tags.len();
                        let item =
                            Item::new(Decoder::new(o.py(), &buf.tags[tag_start..]).next_ty()).ok_or(Refused::Type)?;
                        let list = ItemsRef::new(o.len(), item.size, item.mask).ok_or(Refused::TooLarge)?;
                        made.insert((list, item))
                    }
                    Some(made) => {
                        let (first, this) = buf.tags[tag_start..].split_at(tag_end - tag_start);
                        if first != this {
                            let both = merged(first, this).filter(|_| buf.undecided).ok_or(Refused::MixedList)?;
                            buf.tags.truncate(tag_start);
                            buf.tags.extend_from_slice(&both);
                            tag_end = buf.tags.len();
                        }
                        buf.tags.truncate(tag_end);
                        made
                    }
                };
                let at = list.push().ok_or(Refused::TooLarge)?;
                own_item(buf, slot_start, owner_start, item);
                for ((p, offset), word) in item.prims.iter().zip(&item.offsets).zip(&buf.slots[slot_start..]) {
                    write_prim(at.add(*offset), *p, *word);
                }
                buf.slots.truncate(slot_start);
                i += 1;
            }
        }
        made.map(|(list, _)| list).ok_or(Refused::EmptyList)
    }

    /// Pushes one item into the buffer; lists inside it are recorded here.
    unsafe fn push_item(&mut self, item: *mut ffi::PyObject, buf: &mut ArgBuf) -> Result<(), Refused> {
        buf.lists = Some(Box::new(std::mem::take(self)));
        // SAFETY: the item is alive in its list.
        let pushed = unsafe { buf.push(item) };
        *self = buf.lists.take().map(|b| *b).unwrap_or_default();
        pushed
    }

    /// Gives the lists in an argument their item types, which are decided now.
    ///
    /// # Safety
    /// The object is an argument of the call, and the tags are those of its type.
    pub unsafe fn decide(&mut self, py: Python<'_>, o: *mut ffi::PyObject, tags: &[u64]) {
        // SAFETY: tags of a tuple or list belong to such an object, which keeps its items alive.
        unsafe {
            match tags[0] & 0xff {
                kind::LIST => {
                    let Some(at) = self.lists.iter().position(|r| r.object.as_ptr() == o) else { return };
                    let record = &mut self.lists[at];
                    record.tags = tags[1..].into();
                    let object = record.object.bind(py);
                    let Ok(object) = object.cast_into::<PyList>() else { return };
                    if object.is_empty() {
                        let item = Item::new(Decoder::new(py, &tags[1..]).next_ty());
                        let item = item.expect("a list of such items exists");
                        let header = record.list.as_ptr();
                        (*header).elem_size = item.size as i64;
                        (*header).mask = item.mask;
                    }
                    for item in object {
                        self.decide(py, item.as_ptr(), &tags[1..]);
                    }
                }
                kind::TUPLE | kind::NAMED => {
                    let mut at = if tags[0] & 0xff == kind::NAMED { 2 } else { 1 };
                    for i in 0..ffi::PyTuple_GET_SIZE(o) {
                        let n = tags_of_one(&tags[at..]);
                        self.decide(py, ffi::PyTuple_GET_ITEM(o, i), &tags[at..at + n]);
                        at += n;
                    }
                }
                _ => {}
            }
        }
    }

    /// The Python list whose native copy has this header.
    pub fn object_of(&self, header: *mut Items) -> Option<*mut ffi::PyObject> {
        self.lists.iter().find(|r| r.list.as_ptr() == header).map(|r| r.object.as_ptr())
    }

    /// Writes back what the call changed.
    pub fn reflect(&self, py: Python<'_>) -> PyResult<()> {
        for r in &self.lists {
            let same = r.list.len() == r.count && bytes_of(&r.list) == &r.before[..];
            if !same {
                self.write_back(py, r)?;
            }
        }
        self.arrays.iter().try_for_each(|u| u.reflect(py))
    }

    fn write_back(&self, py: Python<'_>, r: &Record) -> PyResult<()> {
        let item = Item::new(Decoder::new(py, &r.tags).next_ty()).expect("the list was made of such items");
        let mut boxer = Boxer::new(py, Some(self));
        let object = r.object.bind(py).cast_into::<PyList>()?;
        let mut items = Vec::with_capacity(r.list.len());
        let now = bytes_of(&r.list);
        for i in 0..r.list.len() {
            let range = i * item.size..(i + 1) * item.size;
            let unchanged = i < r.count && i < object.len() && now[range.clone()] == r.before[range];
            items.push(if unchanged {
                object.get_item(i)?
            } else {
                // SAFETY: an item of the native list.
                boxer.borrowed(item.ty, &unsafe { item.slots(r.list.item(i)) })?
            });
        }
        object.set_slice(0, object.len(), PyList::new(py, items)?.as_any())
    }
}

/// The bytes of a list's items.
fn bytes_of(list: &ItemsRef) -> &[u8] {
    let bytes = list.len() * list.elem_size();
    // SAFETY: the buffer holds that many bytes, all written: items are zeroed before their parts are. A list without
    // bytes may have no buffer.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts((*list.as_ptr()).mem.data, bytes) } }
}

/// Imports items of one exact class, one word each.
unsafe fn import_words(
    o: *mut ffi::PyObject,
    buf: &mut ArgBuf,
    tag: u64,
    class: *mut ffi::PyTypeObject,
    word: impl Fn(*mut ffi::PyObject) -> Option<u64>,
) -> Result<ItemsRef, Refused> {
    // SAFETY: `o` is a list of `n` items, no Python code runs meanwhile, and the native list has room for them.
    unsafe {
        let n = ffi::PyList_GET_SIZE(o);
        let list = ItemsRef::new(n as usize, 8, 0).ok_or(Refused::TooLarge)?;
        let items = (*o.cast::<ffi::PyListObject>()).ob_item;
        let data = (*list.as_ptr()).mem.data.cast::<u64>();
        for i in 0..n {
            let item = *items.offset(i);
            if ffi::Py_TYPE(item) != class {
                return Err(Refused::MixedList);
            }
            *data.offset(i) = word(item).ok_or(Refused::TooLarge)?;
        }
        (*list.as_ptr()).len = n as i64;
        buf.tags.push(tag);
        Ok(list)
    }
}

/// Gives the counted words of an item references of their own, which the list will drop.
///
/// # Safety
/// The buffer's words from `slot_start` on are such an item, whose objects are alive.
pub unsafe fn own_item(buf: &mut ArgBuf, slot_start: usize, owner_start: usize, item: &Item) {
    for (at, object) in buf.owners.drain(owner_start..) {
        if buf.slots[at as usize] == 0 {
            buf.slots[at as usize] = owner::foreign_owner(object) as u64;
        }
    }
    for (i, p) in item.prims.iter().enumerate() {
        if *p == Prim::Object {
            // SAFETY: the header belongs to a record, which keeps it alive.
            unsafe { lh_runtime::alloc::incref(buf.slots[slot_start + i] as *mut lh_runtime::MemInfo) };
        }
    }
}
