//! `bytearray`: compiled code uses the memory of an argument itself, until it changes the size; then the bytes are
//! written back after the call.

use crate::call::args::ArgBuf;
use crate::call::boxing::Boxer;
use crate::call::copies::Copy;
use crate::call::decode::tags_of;
use crate::call::lists::{Lists, write};
use crate::call::tags::Refused;
use crate::object::array::ArrayObject;
use crate::object::owner;
use lh_ir::Ty;
use lh_ir::parse::Field;
use lh_ir::types::Layout;
use lh_runtime::MemInfo;
use lh_runtime::alloc::{decref, new_block};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PySlice};
use std::sync::{LazyLock, OnceLock};

/// The words of the array that an object holds: its owner, the address, the number of bytes, and their distance.
type Memory = [u64; 4];

fn array_field() -> &'static Field {
    static FOUND: OnceLock<&Field> = OnceLock::new();
    FOUND.get_or_init(|| Ty::storage().field("_array").unwrap_or_else(|| lh_ir::bug!("a `bytearray` has memory")))
}

/// Sets the buffer of an empty object: length and capacity are `size`.
///
/// # Safety
/// The object is what a `bytearray` holds; the owner's reference becomes its own.
unsafe fn set_memory(native: *mut MemInfo, owner: *mut MemInfo, data: u64, size: u64) {
    let room = Ty::storage().field("_room").unwrap_or_else(|| lh_ir::bug!("a `bytearray` has room"));
    // SAFETY: the object has these fields.
    unsafe {
        write(native, array_field().offset, array_field().ty, &[owner as u64, data, size, 1]);
        write(native, room.offset, room.ty, &[size]);
    }
}

fn memory(bytes: &[u8]) -> Memory {
    let start = array_field().offset - lh_ir::class::layout::FIELDS;
    let words = bytes[start..start + size_of::<Memory>()].chunks_exact(8);
    let mut words = words.map(|w| u64::from_ne_bytes(w.try_into().expect("eight bytes")));
    std::array::from_fn(|_| words.next().expect("four words"))
}

impl Lists {
    /// The native object of a `bytearray`, whose memory an array of NumPy's shows; appends the tags of its memory.
    pub fn import_bytearray(
        &mut self,
        object: &Bound<'_, PyAny>,
        array: &Bound<'_, PyAny>,
        buf: &mut ArgBuf,
    ) -> Result<*mut MemInfo, Refused> {
        static TAGS: LazyLock<Vec<u64>> = LazyLock::new(|| {
            let mut tags = Vec::new();
            tags_of(Ty::array(Ty::u8(), 1, Layout::C), &mut tags).unwrap_or_else(|| lh_ir::bug!("arrays have tags"));
            tags
        });
        buf.tags.extend_from_slice(&TAGS);
        if let Some(copy) = self.copies.of(object) {
            return Ok(copy.native);
        }
        let at = self.copies.add(object, Ty::storage(), &[])?;
        let copy = &mut self.copies.all[at];
        // SAFETY: an array of one dimension, which its owner keeps.
        let (data, count) = unsafe {
            let a = array.as_ptr().cast::<ArrayObject>();
            ((*a).data as u64, *(*a).dimensions as u64)
        };
        let holder = owner::foreign_owner(array.as_ptr());
        // SAFETY: the fields of the new object were zeros.
        unsafe { set_memory(copy.native, holder, data, count) };
        copy.before = copy.bytes().to_vec();
        Ok(copy.native)
    }
}

impl Copy {
    /// Whether it is a `bytearray` that has its bytes in memory of its own, since their number was changed.
    pub fn has_other_memory(&self) -> bool {
        self.ty == Ty::storage() && memory(self.bytes())[1..3] != memory(&self.before)[1..3]
    }

    /// Writes the bytes back if their number or place has changed. Others are in the memory of the object itself.
    pub fn write_bytes_back(&self, py: Python<'_>) -> PyResult<()> {
        if !self.has_other_memory() {
            return Ok(());
        }
        let now = memory(self.bytes());
        let size = now[2] as usize;
        // SAFETY: the object holds so many bytes.
        let bytes = if size == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(now[1] as *const u8, size) } };
        let new = PyBytes::new(py, bytes);
        let block = new_block(size, false);
        if block.is_null() {
            return Err(PyMemoryError::new_err(()));
        }
        // SAFETY: a new block of the size; the object gives up the memory of the `bytearray`, which cannot change its
        // size before.
        unsafe {
            (*block).data.copy_from_nonoverlapping(bytes.as_ptr(), size);
            set_memory(self.native, block, (*block).data as u64, now[2]);
            decref(now[0] as *mut MemInfo);
        }
        self.object.bind(py).set_item(PySlice::full(py), new)
    }
}

impl<'py> Boxer<'_, 'py> {
    /// The `bytearray` of a native object: the argument itself, or a new one.
    pub fn bytearray(&mut self, native: *mut MemInfo) -> PyResult<Bound<'py, PyAny>> {
        if let Some(object) = self.lists.and_then(|l| l.copies.object_of(native)) {
            // SAFETY: the object is an argument of the call that is being finished.
            return Ok(unsafe { Bound::from_borrowed_ptr(self.py(), object) });
        }
        if let Some((_, made)) = self.instances.get(&(native as usize)) {
            return Ok(made.clone());
        }
        // SAFETY: a live object, which has the field; its own memory has so many bytes.
        let made = unsafe {
            let [owner, data, size, _] = native.cast::<u8>().add(array_field().offset).cast::<Memory>().read();
            if owner::object_at(owner as *mut MemInfo).is_none() {
                let bytes = if size == 0 { &[] } else { std::slice::from_raw_parts(data as *const u8, size as usize) };
                PyByteArray::new(self.py(), bytes).into_any()
            } else {
                let array = self.field(native, array_field())?;
                crate::object::buffers::buffer(&array, lh_ir::types::Buffer::ByteArray)?
            }
        };
        self.instances.insert(native as usize, (Ty::storage(), made.clone()));
        Ok(made)
    }
}
