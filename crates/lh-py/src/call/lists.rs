//! Python lists as native lists, and instances of dataclasses as native objects: they are copied before the call, and
//! changes are written back after it. `tables.rs` has dictionaries and sets.

use crate::call::args::ArgBuf;
use crate::call::boxing::{Boxer, release, set_attribute};
use crate::call::choices::{Choices, Family};
use crate::call::collections::{IS_DEQUE, is_deque};
use crate::call::convert;
use crate::call::copied::{AllCopied, Copied};
use crate::call::copies::{Copies, Copy};
use crate::call::decode::{Decoder, tags_of};
use crate::call::item::Item;
use crate::call::made::{Form, Maker};
use crate::call::rows::{BLOCK, Rows, Shape};
use crate::call::tags::{Refused, kind, tags_of_one};
use crate::call::widened::{Joint, Recast};
use crate::object::array::{ArrayObject, overlaps_itself};
use crate::object::class_names::short_text;
use crate::object::int::{self, Machine};
use crate::object::owner;
use crate::object::strong_ref::StrongRef;
use crate::object::words::write_prim;
use lh_ir::Ty;
use lh_ir::class::Class;
use lh_ir::types::Prim;
use lh_runtime::MemInfo;
use lh_runtime::items::{Items, ItemsRef};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::PyList;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The copies that one call makes: of lists, of instances of dataclasses, and of arrays that are not aligned.
#[derive(Default)]
pub struct Lists {
    pub lists: AllCopied,
    /// Those of instances.
    pub copies: Copies,
    /// Of the container that is being imported: the classes of its instances, if they are several.
    pub family: Option<Option<Arc<Family>>>,
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
    /// The copy of an object that this call has made.
    pub fn copied(&self, object: &Bound<'_, PyAny>) -> Option<&Copied> {
        self.lists.of(object.as_ptr())
    }

    /// The same, to change it.
    pub fn copied_mut(&mut self, object: &Bound<'_, PyAny>) -> Option<&mut Copied> {
        self.lists.of_mut(object.as_ptr())
    }

    /// Records the copy of an object, of which changes are to be written back.
    pub fn add_copy(&mut self, object: &Bound<'_, PyAny>, list: ItemsRef, tags: &[u64]) {
        let before = SmallVec::from_slice(bytes_of(&list));
        let count = list.len();
        self.lists.push(Copied { object: StrongRef::new(object), count, list, tags: tags.into(), before });
    }

    /// The native copy of an object that was made on the way to another one.
    pub fn take_copy(&mut self, object: &Bound<'_, PyAny>) -> ItemsRef {
        self.lists.take(object.as_ptr()).unwrap_or_else(|| lh_ir::bug!("there is no such copy"))
    }

    /// Records that a native object stands for a Python object, of which changes are not looked for.
    pub fn know(&mut self, object: &Bound<'_, PyAny>, list: ItemsRef, tags: &[u64]) {
        let count = list.len();
        let before = SmallVec::new();
        self.lists.push(Copied { object: StrongRef::new(object), count, list, tags: tags.into(), before });
    }

    /// The aligned copy of an array, always the same one; `None` if a copy would hide that the array overlaps itself,
    /// or a second one that two arrays overlap.
    pub fn aligned<'py>(&mut self, array: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = array.py();
        if let Some(known) = self.arrays.iter().find(|u| u.array.as_ptr() == array.as_ptr()) {
            return Ok(Some(known.copy.bind(py)));
        }
        // SAFETY: the object is an array, which lives as long as the reference to it.
        let fields = unsafe { &*array.as_ptr().cast::<ArrayObject>() };
        let itemsize = array.getattr(intern!(py, "itemsize"))?.extract()?;
        if is_writable(array)? && overlaps_itself(fields.extents(), fields.steps(), itemsize) {
            return Ok(None);
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
        if let Some(r) = self.lists.of(o) {
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
                let list = ItemsRef::new(0, 8, 0).ok_or(Refused::Memory)?;
                let header = list.as_ptr();
                self.lists.push(Copied {
                    object: held,
                    count: 0,
                    list,
                    tags: buf.tags[start..].into(),
                    before: SmallVec::new(),
                });
                return Ok(header);
            }
            match import_numbers(o, buf) {
                // Python's numbers are beside NumPy's, or the items are something else.
                Err(Refused::MixedList) => match list_of_rows(object, buf) {
                    Some(list) => list,
                    None => self.with_family(object.as_any(), buf, |lists, buf| lists.import_items(object, buf))?,
                },
                numbers => numbers?,
            }
        };
        let before = SmallVec::from_slice(bytes_of(&list));
        let header = list.as_ptr();
        self.lists.push(Copied { object: held, count: list.len(), list, tags: buf.tags[start..].into(), before });
        Ok(header)
    }

    /// Imports items of any kind, each through the argument buffer.
    unsafe fn import_items(&mut self, o: &Bound<'_, PyList>, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
        let (tag_start, slot_start, owner_start) = (buf.tags.len(), buf.slots.len(), buf.owners.len());
        let mut made: Option<(ItemsRef, Item)> = None;
        let mut joint = Joint { tags: tag_start, end: tag_start, slots: slot_start, fixed: 0, is_joined: false };
        let since = self.lists.len();
        let choices = Choices::of(o.iter());
        // SAFETY: items are held while they are looked at; typing one may run Python code that changes the list.
        unsafe {
            let mut i = 0;
            while i < o.len() {
                let Ok(object) = o.get_item(i) else { break };
                match &choices {
                    Some(choices) => push_choice(choices, &object, buf)?,
                    None => self.push_item(object.as_ptr(), buf)?,
                }
                let (list, item) = match &mut made {
                    None => {
                        joint.end = buf.tags.len();
                        let item =
                            Item::new(Decoder::new(o.py(), &buf.tags[tag_start..]).next_ty()).ok_or(Refused::Type)?;
                        let list = ItemsRef::new(o.len(), item.size, item.mask).ok_or(Refused::Memory)?;
                        made.insert((list, item))
                    }
                    Some(made) => {
                        if let Some(all) = joint.join(o.py(), &mut buf.tags, &mut buf.slots)? {
                            Recast::new(&[made.1.ty], &all).items(&made.1, &made.0);
                            made.1 = Item::new(all[0]).ok_or(Refused::Type)?;
                        }
                        made
                    }
                };
                let at = list.push().ok_or(Refused::Memory)?;
                own_item(buf, slot_start, owner_start, item);
                for ((p, offset), word) in item.prims.iter().zip(&item.offsets).zip(&buf.slots[slot_start..]) {
                    write_prim(at.add(*offset), *p, *word);
                }
                buf.slots.truncate(slot_start);
                i += 1;
            }
        }
        let (list, item) = made.ok_or(Refused::EmptyList)?;
        if joint.is_joined {
            self.lists.widen(o.py(), (&list, &item), &buf.tags[tag_start..], since)?;
        }
        Ok(list)
    }

    /// Pushes one item into the buffer; lists inside it are recorded here.
    ///
    /// # Safety
    /// The item stays alive while it is looked at.
    pub unsafe fn push_item(&mut self, item: *mut ffi::PyObject, buf: &mut ArgBuf) -> Result<(), Refused> {
        // SAFETY: the item is alive. Leaves have no copies, which costs a look at their class instead of an allocation.
        unsafe {
            let class = ffi::Py_TYPE(item);
            let leaves = [&raw mut ffi::PyLong_Type, &raw mut ffi::PyFloat_Type, &raw mut ffi::PyUnicode_Type];
            if leaves.contains(&class) {
                return buf.push(item);
            }
            // Containers in containers are frequent.
            if class == &raw mut ffi::PyList_Type {
                buf.enter()?;
                buf.tags.push(kind::LIST);
                let header = self.import(item, buf)?;
                buf.slots.push(header as u64);
                buf.leave();
                return Ok(());
            }
            if class == &raw mut ffi::PyDict_Type || class == &raw mut ffi::PySet_Type {
                return self.push_table(&Bound::from_borrowed_ptr(Python::assume_attached(), item), buf);
            }
        }
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
                kind::LIST if tags[0] >> 8 == IS_DEQUE => self.decide_deque(py, o, &tags[1..]),
                kind::LIST => {
                    let Some(record) = self.lists.of_mut(o) else { return };
                    record.tags = tags[1..].into();
                    let object = record.object.bind(py);
                    let Ok(object) = object.cast_into::<PyList>() else { return };
                    if object.is_empty() {
                        let item = Item::new(Decoder::new(py, &tags[1..]).next_ty());
                        let item = item.expect("a list of such items exists");
                        let header = record.list.as_ptr();
                        (*header).elem_size = item.size as u32;
                        (*header).mask = item.mask;
                    }
                    for item in object {
                        self.decide(py, item.as_ptr(), &tags[1..]);
                    }
                }
                kind::DICT | kind::SET => self.decide_table(py, o, tags),
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
        self.lists.with_header(header).map(|r| r.object.as_ptr())
    }

    /// The lists of plain numbers that are as they were imported, among the first containers of a call: those of many
    /// are not to be looked through for each container of its result.
    pub fn plain(&self) -> impl Iterator<Item = &Copied> + Clone {
        // SAFETY: a copy holds its object.
        let is_exact = |c: &Copied| unsafe { ffi::PyList_CheckExact(c.object.as_ptr()) != 0 };
        let is_list = move |c: &&Copied| c.count > 0 && c.before.len() == 8 * c.count && is_exact(c);
        self.lists.iter().take(8).filter(is_list)
    }

    /// Whether a call has changed the size of a list, a dictionary, a set or a `bytearray`.
    pub fn has_other_size(&self) -> bool {
        self.lists.iter().any(|r| r.list.len() != r.count) || self.copies.all.iter().any(Copy::has_other_memory)
    }

    /// Writes back what a generator has changed since the last time.
    pub fn reflect_again(&mut self, py: Python<'_>) -> PyResult<()> {
        self.reflect(py)?;
        for r in self.lists.iter_mut() {
            r.count = r.list.len();
            r.before = bytes_of(&r.list).into();
        }
        for copy in self.copies.all.iter_mut().filter(|copy| copy.ty != Ty::storage()) {
            copy.before = copy.bytes().to_vec();
        }
        Ok(())
    }

    /// Writes back what the call changed.
    pub fn reflect(&self, py: Python<'_>) -> PyResult<()> {
        for r in self.lists.iter() {
            let same = r.list.len() == r.count && bytes_of(&r.list) == &r.before[..];
            if is_deque(&r.object.bind(py)) {
                self.write_deque_back(py, r, same)?;
            } else if !same {
                self.write_back(py, r)?;
            }
        }
        self.reflect_instances(py)?;
        self.arrays.iter().try_for_each(|u| u.reflect(py))
    }

    fn write_back(&self, py: Python<'_>, r: &Copied) -> PyResult<()> {
        if !r.object.bind(py).is_instance_of::<PyList>() {
            return self.write_table_back(py, r);
        }
        let item = Item::new(Decoder::new(py, &r.tags).next_ty()).expect("the list was made of such items");
        let mut boxer = Boxer::new(py, Some(self));
        let form = Form::of(item.ty);
        let mut maker = form.as_ref().map(|form| Maker::new(self.plain(), std::slice::from_ref(form), r.list.len()));
        let object = r.object.bind(py).cast_into::<PyList>()?;
        let mut items = Vec::with_capacity(r.list.len());
        let now = bytes_of(&r.list);
        for i in 0..r.list.len() {
            let range = i * item.size..(i + 1) * item.size;
            let unchanged = i < r.count && i < object.len() && now[range.clone()] == r.before[range];
            items.push(if unchanged {
                object.get_item(i)?
            } else if let (Some(form), Some(maker)) = (&form, &mut maker) {
                // SAFETY: an item of the native list.
                unsafe { Bound::from_owned_ptr_or_err(py, maker.object(form, r.list.item(i)))? }
            } else {
                // SAFETY: an item of the native list.
                boxer.borrowed(item.ty, &unsafe { item.slots(r.list.item(i)) })?
            });
        }
        object.set_slice(0, object.len(), PyList::new(py, items)?.as_any())
    }
}

/// Refuses a field with a TypeError.
fn misfit(name: &str, wanted: Ty, value: &Bound<'_, PyAny>) -> Refused {
    let text = format!("the field '{name}' is annotated as `{wanted}` and holds {}", short_text(value));
    PyTypeError::new_err(text).restore(value.py());
    Refused::Raised
}

/// Whether values of a type may stand in a field that is annotated with another.
fn fits(from: Ty, to: Ty) -> bool {
    let rank = |t: Ty| [t.is_bool(), t.is_int(), t.is_float(), t.is_complex()].iter().position(|is| *is);
    match (rank(from), rank(to)) {
        (Some(a), Some(b)) => a <= b && (a != b || from.bits() <= to.bits()),
        _ => convert::cost_of_all(&[from], &[to]).is_some(),
    }
}

impl Lists {
    /// The native copy of an instance; appends the tags of its class to `buf`.
    pub fn import_instance(
        &mut self,
        o: &Bound<'_, PyAny>,
        class: Class,
        buf: &mut ArgBuf,
    ) -> Result<*mut MemInfo, Refused> {
        let open = class.declaration().parameters.len();
        buf.tags.extend([kind::CLASS | (open as u64) << 8, o.get_type_ptr() as u64]);
        if let Some(copy) = self.copies.of(o) {
            buf.tags.extend_from_slice(&copy.tags);
            return Ok(copy.native);
        }
        if open > 0 {
            return self.import_open(o, class, buf);
        }
        let at = self.copies.add(o, class.of(vec![], false), &[])?;
        self.copies.unfilled.push(at);
        if !std::mem::replace(&mut self.copies.is_filling, true) {
            let filled = self.fill(buf);
            self.copies.is_filling = false;
            filled?;
        }
        Ok(self.copies.all[at].native)
    }

    /// Fills the fields of instances whose types are known.
    fn fill(&mut self, buf: &mut ArgBuf) -> Result<(), Refused> {
        // SAFETY: arguments are read while the thread is attached.
        let py = unsafe { Python::assume_attached() };
        while let Some(at) = self.copies.unfilled.pop() {
            let copy = &self.copies.all[at];
            let (object, native, ty) = (copy.object.bind(py), copy.native, copy.ty);
            for field in ty.fields() {
                let tags = buf.tags.len();
                let (_, words) = self.import_field(&object, &field.name, Some(field.ty), buf)?;
                buf.tags.truncate(tags);
                // SAFETY: the field has room for its words, which are its own.
                unsafe { write(native, field.offset, field.ty, &words) };
            }
            let before = self.copies.all[at].bytes().to_vec();
            self.copies.all[at].before = before;
        }
        Ok(())
    }

    /// Imports an instance of which the values decide types of fields.
    fn import_open(&mut self, o: &Bound<'_, PyAny>, class: Class, buf: &mut ArgBuf) -> Result<*mut MemInfo, Refused> {
        buf.enter()?;
        let tag_start = buf.tags.len();
        let mut fields: Vec<(Ty, SmallVec<[u64; 8]>)> = Vec::new();
        let mut open = Vec::new();
        let mut imported = Ok(());
        for (name, declared) in class.user_fields() {
            let tags = buf.tags.len();
            match self.import_field(o, name, *declared, buf) {
                Ok(field) => {
                    if declared.is_some() {
                        buf.tags.truncate(tags);
                    } else {
                        open.push(field.0);
                    }
                    fields.push(field);
                }
                Err(why) => {
                    imported = Err(why);
                    break;
                }
            }
        }
        let tags = buf.tags[tag_start..].to_vec();
        let made = imported.and_then(|()| self.copies.add(o, class.of(open, false), &tags));
        let at = made.inspect_err(|_| fields.iter().for_each(|(ty, words)| release(*ty, words)))?;
        let copy = &mut self.copies.all[at];
        for (field, (_, words)) in copy.ty.fields().iter().zip(&fields) {
            // SAFETY: the field has room for its words, which are its own.
            unsafe { write(copy.native, field.offset, field.ty, words) };
        }
        copy.before = copy.bytes().to_vec();
        buf.leave();
        Ok(copy.native)
    }

    /// The type and the words of a field, with references of their own.
    fn import_field(
        &mut self,
        o: &Bound<'_, PyAny>,
        name: &str,
        declared: Option<Ty>,
        buf: &mut ArgBuf,
    ) -> Result<(Ty, SmallVec<[u64; 8]>), Refused> {
        let py = o.py();
        let value = o.getattr(name).map_err(|e| {
            e.restore(py);
            Refused::Raised
        })?;
        let (tag_start, slot_start, owner_start) = (buf.tags.len(), buf.slots.len(), buf.owners.len());
        let was_undecided = std::mem::take(&mut buf.undecided);
        // SAFETY: the value is held while it is looked at.
        unsafe { self.push_item(value.as_ptr(), buf)? };
        if buf.undecided {
            let mut tags = Vec::new();
            declared.and_then(|t| tags_of(t, &mut tags)).ok_or(Refused::EmptyList)?;
            // SAFETY: the tags are those of the field's type, of which the value is to be.
            unsafe { self.decide(py, value.as_ptr(), &tags) };
            buf.tags.truncate(tag_start);
            buf.tags.extend_from_slice(&tags);
        }
        buf.undecided = was_undecided;
        let from = Decoder::new(py, &buf.tags[tag_start..]).next_ty();
        let to = declared.map_or(from, Ty::defined);
        if from != to && !fits(from, to) {
            return Err(misfit(name, to, &value));
        }
        let item = Item::new(from).ok_or(Refused::Type)?;
        // SAFETY: the buffer's last words are those of the value, which is alive.
        unsafe { own_item(buf, slot_start, owner_start, &item) };
        let mut words = Vec::new();
        convert::slots(from, to, &mut &buf.slots[slot_start..], &mut words);
        buf.slots.truncate(slot_start);
        Ok((to, words.into()))
    }

    /// Writes back the fields that the call changed.
    pub fn reflect_instances(&self, py: Python<'_>) -> PyResult<()> {
        if self.copies.all.is_empty() {
            return Ok(());
        }
        let mut boxer = Boxer::new(py, Some(self));
        for copy in &self.copies.all {
            let now = copy.bytes();
            if copy.ty == Ty::storage() {
                copy.write_bytes_back(py)?;
                continue;
            }
            if now == &copy.before[..] {
                continue;
            }
            let start = lh_ir::class::layout::FIELDS;
            for field in copy.ty.fields() {
                let range = field.offset - start..field.offset - start + field.ty.mem_layout().1;
                if now[range.clone()] == copy.before[range] {
                    continue;
                }
                // SAFETY: a field of this type lies there.
                let value = unsafe { boxer.field(copy.native, field)? };
                set_attribute(&copy.object.bind(py), &field.name, &value)?;
            }
        }
        Ok(())
    }
}

/// Pushes an item that is one of several functions.
pub fn push_choice(choices: &Choices, item: &Bound<'_, PyAny>, buf: &mut ArgBuf) -> Result<(), Refused> {
    buf.slots.push(choices.number(item)?);
    buf.tags.extend(choices.tags());
    Ok(())
}

/// Writes the words of a value to a field.
///
/// # Safety
/// The native object has the field.
pub unsafe fn write(native: *mut MemInfo, offset: usize, ty: Ty, words: &[u64]) {
    if let Some(item) = Item::new(ty) {
        // SAFETY: as promised by the caller.
        unsafe { item.write(native.cast::<u8>().add(offset), words) };
    }
}

/// The bytes of a list's items.
fn bytes_of(list: &ItemsRef) -> &[u8] {
    let bytes = list.len() * list.elem_size();
    // SAFETY: the buffer holds that many bytes, all written: items are zeroed before their parts are. A list without
    // bytes may have no buffer.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts((*list.as_ptr()).mem.data, bytes) } }
}

/// Imports items of one shape, and appends its tags.
fn list_of_rows(object: &Bound<'_, PyList>, buf: &mut ArgBuf) -> Option<ItemsRef> {
    let room = object.len();
    // SAFETY: the list holds its items, which no Python code changes after their shape is known.
    unsafe {
        let shape = Shape::of(ffi::PyList_GET_ITEM(object.as_ptr(), 0))?;
        let (size, mask) = shape.layout();
        let mut rows = Rows::new(ItemsRef::new(room, size, mask)?, smallvec![shape], room, false);
        let items = (*object.as_ptr().cast::<ffi::PyListObject>()).ob_item;
        let items = std::slice::from_raw_parts(items, object.len());
        items.chunks(BLOCK).try_for_each(|block| rows.add_all(block))?;
        let (list, shapes) = rows.finish();
        let mut tags = SmallVec::new();
        shapes[0].tags(&mut tags);
        buf.tags.extend_from_slice(&tags);
        Some(list)
    }
}

/// The float that an exact int or float is.
///
/// # Safety
/// The object is alive.
pub unsafe fn float_of(item: *mut ffi::PyObject) -> Option<f64> {
    // SAFETY: as promised; the class says what it is.
    unsafe {
        let class = ffi::Py_TYPE(item);
        if class == &raw mut ffi::PyFloat_Type {
            return Some((*item.cast::<ffi::PyFloatObject>()).ob_fval);
        }
        if class != &raw mut ffi::PyLong_Type {
            return None;
        }
        match int::machine(item) {
            Machine::Signed(v) => Some(v as f64),
            Machine::Unsigned(v) => Some(v as f64),
            Machine::TooLarge => None,
        }
    }
}

/// Imports items that are ints, or floats; floats if some are ints and some are floats, as NumPy's arrays are.
///
/// # Safety
/// `o` is a list that has an item, and no other thread changes it.
unsafe fn import_numbers(o: *mut ffi::PyObject, buf: &mut ArgBuf) -> Result<ItemsRef, Refused> {
    let (int, float) = (&raw mut ffi::PyLong_Type, &raw mut ffi::PyFloat_Type);
    // SAFETY: as promised; the class says which object an item is.
    unsafe {
        let class = ffi::Py_TYPE(ffi::PyList_GET_ITEM(o, 0));
        let word = |item| match int::machine(item) {
            Machine::Signed(v) => Some(v as u64),
            Machine::Unsigned(_) | Machine::TooLarge => None,
        };
        let made = match class {
            c if c == int => import_words(o, buf, kind::INT, |c| c == int, word),
            c if c == float => import_words(o, buf, kind::FLOAT, |c| c == float, |x| float_of(x).map(f64::to_bits)),
            _ => return Err(Refused::MixedList),
        };
        let is_float = |i| ffi::Py_TYPE(ffi::PyList_GET_ITEM(o, i)) == float;
        match made {
            Err(Refused::MixedList | Refused::TooLarge) if (0..ffi::PyList_GET_SIZE(o)).any(is_float) => {
                import_words(o, buf, kind::FLOAT, |c| c == int || c == float, |x| float_of(x).map(f64::to_bits))
            }
            made => made,
        }
    }
}

/// Imports items of exact classes, one word each.
unsafe fn import_words(
    o: *mut ffi::PyObject,
    buf: &mut ArgBuf,
    tag: u64,
    is_class: impl Fn(*mut ffi::PyTypeObject) -> bool,
    word: impl Fn(*mut ffi::PyObject) -> Option<u64>,
) -> Result<ItemsRef, Refused> {
    // SAFETY: `o` is a list of `n` items, no Python code runs meanwhile, and the native list has room for them.
    unsafe {
        let n = ffi::PyList_GET_SIZE(o);
        let list = ItemsRef::new(n as usize, 8, 0).ok_or(Refused::Memory)?;
        let items = (*o.cast::<ffi::PyListObject>()).ob_item;
        let data = (*list.as_ptr()).mem.data.cast::<u64>();
        for i in 0..n {
            let item = *items.offset(i);
            if !is_class(ffi::Py_TYPE(item)) {
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
