//! Double-ended queues as native rings: they are copied before the call, and changes are written back after it, as of
//! lists.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::collections::{deque, deque_class};
use crate::call::copied::Copied;
use crate::call::decode::Decoder;
use crate::call::item::Item;
use crate::call::lists::Lists;
use crate::call::tables;
use crate::call::tags::Refused;
use lh_ir::Ty;
use lh_runtime::MemInfo;
use lh_runtime::alloc::incref;
use lh_runtime::items::ItemsRef;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{ffi, intern};

/// The word of a field.
fn field(native: &ItemsRef, ty: Ty, name: &str) -> *mut i64 {
    let offset = ty.field(name).unwrap_or_else(|| lh_ir::bug!("`{ty}` has no `{name}`")).offset;
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

    /// Writes the items of a native queue back, if something has changed; `is_same` says that its bytes have not.
    pub fn write_deque_back(&self, py: Python<'_>, copied: &Copied, is_same: bool) -> PyResult<()> {
        if is_same && !has_moved(copied) {
            return Ok(());
        }
        let object = copied.object.bind(py);
        let ty = deque().of(vec![Decoder::new(py, &copied.tags).next_ty()], false);
        let items = Boxer::new(py, Some(self)).ring(ty, &copied.list)?;
        object.call_method0(intern!(py, "clear"))?;
        object.call_method1(intern!(py, "extend"), (items,)).map(drop)
    }
}

/// Whether the fields of a queue say that items have come, gone or moved.
fn has_moved(copied: &Copied) -> bool {
    // SAFETY: a queue of any type has the field, at the same place.
    unsafe { *field(&copied.list, deque().of(vec![Ty::int()], false), "_changes") != 0 }
}

/// A ring with copies of items.
fn ring_of(items: &ItemsRef, ty: Ty, limit: Option<i64>) -> Result<ItemsRef, Refused> {
    let (count, size) = (items.len(), items.elem_size());
    let places = if count == 0 { 0 } else { count.next_power_of_two().max(8) };
    // SAFETY: an `ItemsRef` keeps its object alive.
    let mask = unsafe { (*items.as_ptr()).mask };
    let made = ItemsRef::with_fields(places, size, mask, tables::fields_size(ty), 0).ok_or(Refused::Memory)?;
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
