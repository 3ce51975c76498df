//! Objects with items: a counted header with a growing buffer of items of one size.

use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::memory::alloc::{MemInfo, announce, decref, decref_by, incref, no_memory};
use crate::memory::live_count::count_live;
use crate::memory::small_blocks;
use crate::symbol::{Symbol, functions};
use lh_ir::class::layout;
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32};

/// Header of an object with items. `mem.data` is the buffer; compiled code knows the offsets.
#[repr(C)]
#[derive(Debug)]
pub struct Items {
    /// Count, destructor and buffer.
    pub mem: MemInfo,
    /// Number of items.
    pub len: i64,
    /// Number of items that the buffer has room for; [`FROZEN`] if the object must not change.
    pub cap: i64,
    /// Size of an item, bytes.
    pub elem_size: u32,
    /// Not 0 if Python shares the object: there it is a typed container, not a copy.
    shared: AtomicU32,
    /// Bit `i`: the `i`-th 8-byte word of an item is a counted pointer (or null).
    pub mask: u64,
}

/// A capacity that is never enough, so that compiled code asks for more room before any change.
const FROZEN: i64 = -1;

const _: () = assert!(offset_of!(Items, len) == layout::LEN && offset_of!(Items, cap) == layout::CAP);

/// Header of an object with entries and fields, which follow.
#[repr(C)]
#[derive(Debug)]
struct Entries {
    items: Items,
    /// Bit `i`: the `i`-th 8-byte word of the fields is a counted pointer (or null).
    fields_mask: u64,
}

const _: () = assert!(offset_of!(Entries, fields_mask) == layout::ENTRIES_MASK);
const _: () = assert!(size_of::<Entries>() == layout::ENTRIES_FIELDS);

/// A new object without items with one reference; null when there is no memory.
pub fn new_items(cap: usize, elem_size: usize, mask: u64) -> *mut Items {
    new_with_header(size_of::<Items>(), free_items, cap, elem_size, mask)
}

/// A new object without entries whose fields are zeros, with one reference; null when there is no memory.
fn new_entries(cap: usize, elem_size: usize, mask: u64, fields: usize, fields_mask: u64) -> *mut Items {
    let object = new_with_header(size_of::<Entries>() + fields, free_entries, cap, elem_size, mask);
    if !object.is_null() {
        // SAFETY: the header was just allocated with room for the fields.
        unsafe {
            (*object.cast::<Entries>()).fields_mask = fields_mask;
            object.byte_add(layout::ENTRIES_FIELDS).cast::<u8>().write_bytes(0, fields);
        }
    }
    object
}

/// Destructor of objects with entries and fields.
unsafe extern "C" fn free_entries(mem: *mut MemInfo) {
    // SAFETY: only such objects have this destructor; nobody refers to it any more, and its fields are valid.
    unsafe {
        let fields = mem.byte_add(layout::ENTRIES_FIELDS).cast::<*mut MemInfo>();
        let mut rest = (*mem.cast::<Entries>()).fields_mask;
        while rest != 0 {
            decref(fields.add(rest.trailing_zeros() as usize).read());
            rest &= rest - 1;
        }
        free_items(mem);
    }
}

fn new_with_header(
    header: usize,
    dtor: unsafe extern "C" fn(*mut MemInfo),
    cap: usize,
    elem_size: usize,
    mask: u64,
) -> *mut Items {
    let bytes = cap.checked_mul(elem_size).filter(|b| *b <= isize::MAX as usize);
    let (Some(bytes), Ok(elem_size)) = (bytes, u32::try_from(elem_size)) else {
        return ptr::null_mut();
    };
    // SAFETY: plain C allocations, freed again when the second fails.
    unsafe {
        let object = small_blocks::new(header).cast::<Items>();
        if object.is_null() {
            return object;
        }
        let data = if bytes == 0 { ptr::null_mut() } else { libc::malloc(bytes).cast::<u8>() };
        if bytes > 0 && data.is_null() {
            small_blocks::free(object.cast(), header);
            return ptr::null_mut();
        }
        announce(object.cast(), header);
        announce(data, bytes);
        let mem = MemInfo { refcount: AtomicI64::new(1), dtor, data, size: bytes };
        object.write(Items { mem, len: 0, cap: cap as i64, elem_size, shared: AtomicU32::new(0), mask });
        count_live(1);
        object
    }
}

/// Destructor of objects with items. Compared by address: never inlined, so that there is one copy of it.
#[inline(never)]
pub(crate) unsafe extern "C" fn free_items(mem: *mut MemInfo) {
    let object = mem.cast::<Items>();
    count_live(-1);
    // SAFETY: only such objects have this destructor; nobody refers to it any more, and its first `len` items are
    // valid.
    unsafe {
        let (len, elem_size, mask) = ((*object).len, i64::from((*object).elem_size), (*object).mask);
        if mask != 0 {
            // Items that follow each other often have one owner, as the parts of a text do.
            let (mut owner, mut count) = (ptr::null_mut::<MemInfo>(), 0);
            for i in 0..len {
                let item = (*mem).data.offset((i * elem_size) as isize).cast::<*mut MemInfo>();
                let mut rest = mask;
                while rest != 0 {
                    let next = item.add(rest.trailing_zeros() as usize).read();
                    rest &= rest - 1;
                    if next != owner {
                        decref_by(owner, count);
                        (owner, count) = (next, 0);
                    }
                    count += 1;
                }
            }
            decref_by(owner, count);
        }
        libc::free((*mem).data.cast());
        // The size of one with fields is not known here.
        if (*mem).dtor as usize == free_items as *const () as usize {
            small_blocks::free(object.cast(), size_of::<Items>());
        } else {
            libc::free(object.cast());
        }
    }
}

/// Makes room for `n` items in all; false when there is no memory.
unsafe fn reserve(object: *mut Items, n: i64) -> bool {
    // SAFETY: the caller passes a live object; its buffer came from `malloc`.
    unsafe {
        let object = &mut *object;
        if n <= object.cap {
            return true;
        }
        if object.cap == FROZEN {
            return false;
        }
        // Half as much again: appending costs constant time on average, and a third of the buffer is idle at most.
        grow(object, n.max(object.cap + object.cap / 2).max(4))
    }
}

/// Gives the buffer a capacity; false when there is no memory.
unsafe fn grow(object: &mut Items, cap: i64) -> bool {
    // SAFETY: the buffer came from `malloc`.
    unsafe {
        let Some(bytes) = cap.checked_mul(i64::from(object.elem_size.max(1))) else { return false };
        let data = libc::realloc(object.mem.data.cast(), bytes as usize).cast::<u8>();
        if data.is_null() {
            return false;
        }
        announce(data, bytes as usize);
        object.mem.data = data;
        object.mem.size = bytes as usize;
        object.cap = cap;
        true
    }
}

/// `lh_items_new(cap, elem_size, mask, out)`: a new object without items.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_new(cap: i64, elem_size: i64, mask: u64, out: *mut *mut Items) -> i32 {
    let object = new_items(cap.max(0) as usize, elem_size.max(0) as usize, mask);
    if object.is_null() {
        return no_memory(i128::from(cap) * i128::from(elem_size));
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(object) };
    0
}

/// `lh_entries_new(cap, elem_size, mask, fields, fields_mask, out)`: a new object with entries and fields.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_entries_new(
    cap: i64,
    elem_size: i64,
    mask: u64,
    fields: i64,
    fields_mask: u64,
    out: *mut *mut Items,
) -> i32 {
    let [cap, elem_size, fields] = [cap, elem_size, fields].map(|n| n.max(0) as usize);
    let object = new_entries(cap, elem_size, mask, fields, fields_mask);
    if object.is_null() {
        return no_memory(cap as i128 * elem_size as i128);
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(object) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_reserve(object: *mut Items, n: i64) -> i32 {
    // SAFETY: compiled code passes a live object.
    unsafe {
        if reserve(object, n) {
            return 0;
        }
        if (*object).cap == FROZEN {
            return raise(VALUE_ERROR, "list is immutable");
        }
        no_memory(i128::from(n) * i128::from((*object).elem_size))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_set_len(object: *mut Items, n: i64) {
    // SAFETY: compiled code passes a live object, of which it has filled or emptied the items concerned.
    unsafe { (*object).len = n };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_share(object: *mut Items) {
    // SAFETY: compiled code passes a live object.
    unsafe { (*object).shared.store(1, Relaxed) };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_is_shared(object: *mut Items) -> u8 {
    // SAFETY: compiled code passes a live object.
    unsafe { u8::from((*object).shared.load(Relaxed) != 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_freeze(object: *mut Items, frozen: u8) {
    // SAFETY: compiled code passes a live object.
    unsafe { (*object).cap = if frozen & 1 == 1 { FROZEN } else { lh_items_allocated(object) } };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_is_frozen(object: *mut Items) -> u8 {
    // SAFETY: compiled code passes a live object.
    unsafe { u8::from((*object).cap == FROZEN) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_items_allocated(object: *mut Items) -> i64 {
    // SAFETY: compiled code passes a live object.
    unsafe {
        match ((*object).cap, (*object).elem_size) {
            // Items without bytes need no memory.
            (FROZEN, 0) => (*object).len,
            (FROZEN, size) => (*object).mem.size as i64 / i64::from(size),
            (cap, _) => cap,
        }
    }
}

/// An owned reference to an object with items, for Rust code.
#[derive(Debug)]
pub struct ItemsRef(NonNull<Items>);

impl ItemsRef {
    /// A new object without items; `None` when there is no memory.
    pub fn new(cap: usize, elem_size: usize, mask: u64) -> Option<ItemsRef> {
        NonNull::new(new_items(cap, elem_size, mask)).map(ItemsRef)
    }
    /// A new object without entries, with so many bytes of fields, which are zero; `None` when there is no memory.
    pub fn with_fields(cap: usize, elem_size: usize, mask: u64, fields: usize, fields_mask: u64) -> Option<ItemsRef> {
        NonNull::new(new_entries(cap, elem_size, mask, fields, fields_mask)).map(ItemsRef)
    }
    /// Takes over a reference.
    ///
    /// # Safety
    /// `object` is a live object, one of whose references is the caller's to give.
    pub unsafe fn from_owned(object: *mut Items) -> ItemsRef {
        // SAFETY: a live object is not null.
        ItemsRef(unsafe { NonNull::new_unchecked(object) })
    }
    /// Takes a new reference.
    ///
    /// # Safety
    /// `object` is a live object.
    pub unsafe fn from_borrowed(object: *mut Items) -> ItemsRef {
        // SAFETY: the caller's promise.
        unsafe {
            incref(object.cast());
            ItemsRef::from_owned(object)
        }
    }
    /// Gives the reference to somebody else.
    pub fn into_raw(self) -> *mut Items {
        let object = self.0.as_ptr();
        std::mem::forget(self);
        object
    }
    /// The object.
    pub fn as_ptr(&self) -> *mut Items {
        self.0.as_ptr()
    }
    /// Makes Python share the object from now on.
    pub fn share(&self) {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { lh_items_share(self.0.as_ptr()) };
    }
    /// Makes room for so many items and no more, if there is less; false if there is no memory for that.
    pub fn reserve(&self, n: usize) -> bool {
        // SAFETY: an `ItemsRef` keeps its object alive.
        let object = unsafe { &mut *self.0.as_ptr() };
        let Ok(n) = i64::try_from(n) else { return false };
        // SAFETY: as above.
        object.cap == FROZEN || n <= object.cap || unsafe { grow(object, n) }
    }
    /// The number of items that there is memory for.
    pub fn allocated(&self) -> usize {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { lh_items_allocated(self.0.as_ptr()) as usize }
    }
    /// Whether changes of the object raise.
    pub fn is_frozen(&self) -> bool {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { self.0.as_ref().cap == FROZEN }
    }
    /// Makes changes of the object raise, or not any more.
    pub fn freeze(&self, frozen: bool) {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { lh_items_freeze(self.0.as_ptr(), u8::from(frozen)) };
    }
    /// Whether Python shares the object.
    pub fn is_shared(&self) -> bool {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { self.0.as_ref().shared.load(Relaxed) != 0 }
    }
    /// Number of items.
    pub fn len(&self) -> usize {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { self.0.as_ref().len as usize }
    }
    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Size of an item, bytes.
    pub fn elem_size(&self) -> usize {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { self.0.as_ref().elem_size as usize }
    }
    /// Address of an item.
    pub fn item(&self, index: usize) -> *mut u8 {
        assert!(index < self.len(), "item {index} of {}", self.len());
        // SAFETY: inside the buffer, as just checked.
        unsafe { self.0.as_ref().mem.data.add(index * self.elem_size()) }
    }
    /// Appends an item; false when there is no memory.
    ///
    /// # Safety
    /// Items are of this type.
    #[inline]
    pub unsafe fn push_value<T>(&mut self, value: T) -> bool {
        let object = self.0.as_ptr();
        // SAFETY: an `ItemsRef` keeps its object alive; the new item lies in the buffer, where `reserve` made room.
        unsafe {
            let n = (*object).len;
            if n >= (*object).cap && !reserve(object, n + 1) {
                return false;
            }
            (*object).mem.data.cast::<T>().add(n as usize).write(value);
            (*object).len = n + 1;
        }
        true
    }
    /// Appends items, and makes room for no more; false when there is no memory.
    ///
    /// # Safety
    /// As [`ItemsRef::push_value`].
    pub(crate) unsafe fn extend_values<T>(&mut self, values: impl ExactSizeIterator<Item = T>) -> bool {
        let (len, more) = (self.len(), values.len());
        if self.is_frozen() || !self.reserve(len + more) {
            return false;
        }
        let object = self.0.as_ptr();
        // SAFETY: an `ItemsRef` keeps its object alive; the buffer has room for the new items behind the others.
        unsafe {
            let to = (*object).mem.data.cast::<T>().add(len);
            for (i, value) in values.enumerate().take(more) {
                to.add(i).write(value);
            }
            (*object).len = (len + more) as i64;
        }
        true
    }
    /// Appends an item of zero bytes and returns its address, for the caller to fill before anything else happens to
    /// the object; `None` when there is no memory.
    pub fn push(&mut self) -> Option<*mut u8> {
        let object = self.0.as_ptr();
        // SAFETY: an `ItemsRef` keeps its object alive; the new item lies in the buffer, where `reserve` made room.
        unsafe {
            let n = (*object).len;
            if !reserve(object, n + 1) {
                return None;
            }
            let item = (*object).mem.data.offset((n * i64::from((*object).elem_size)) as isize);
            item.write_bytes(0, (*object).elem_size as usize);
            (*object).len = n + 1;
            Some(item)
        }
    }
    /// Sets the number of items to zero and releases what they held.
    pub fn clear(&mut self) {
        // An object of the same items dies in place of this one: there is one place that knows how items are released.
        // SAFETY: an `ItemsRef` keeps its object alive.
        if let Some(mut twin) = ItemsRef::new(0, self.elem_size(), unsafe { self.0.as_ref().mask }) {
            self.exchange_items(&mut twin);
        }
    }
    fn exchange_items(&mut self, other: &mut ItemsRef) {
        let (a, b) = (self.0.as_ptr(), other.0.as_ptr());
        // SAFETY: both are alive, and a buffer goes with its number of items.
        unsafe {
            ptr::swap(&raw mut (*a).mem.data, &raw mut (*b).mem.data);
            ptr::swap(&raw mut (*a).mem.size, &raw mut (*b).mem.size);
            ptr::swap(&raw mut (*a).len, &raw mut (*b).len);
            ptr::swap(&raw mut (*a).cap, &raw mut (*b).cap);
        }
    }
    /// Exchanges items, and the fields behind the header, with another object of the same type.
    ///
    /// # Safety
    /// The types are the same and have so many bytes of fields.
    pub unsafe fn exchange(&mut self, other: &mut ItemsRef, fields: usize) {
        self.exchange_items(other);
        if fields > 0 {
            // SAFETY: as promised by the caller.
            unsafe {
                let at = |object: &ItemsRef| object.as_ptr().byte_add(layout::ENTRIES_FIELDS).cast::<u8>();
                ptr::swap_nonoverlapping(at(self), at(other), fields);
            }
        }
    }
}

impl Clone for ItemsRef {
    fn clone(&self) -> ItemsRef {
        // SAFETY: an `ItemsRef` keeps its object alive.
        unsafe { ItemsRef::from_borrowed(self.0.as_ptr()) }
    }
}

impl Drop for ItemsRef {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { decref(self.0.as_ptr().cast()) };
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_) lh_items_share;
        (_) lh_items_is_shared lh_items_is_frozen;
        (_) lh_items_allocated;
        (_ _) lh_items_freeze;
        (_ _) lh_items_reserve lh_items_set_len;
        (_ _ _ _) lh_items_new;
        (_ _ _ _ _ _) lh_entries_new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::MEMORY_ERROR;
    use crate::exception::take_pending;
    use crate::memory::alloc::new_block;
    use std::sync::atomic::Ordering;

    #[test]
    fn offsets_are_those_of_the_code_generator() {
        assert_eq!(offset_of!(MemInfo, refcount), 0);
        assert_eq!(offset_of!(MemInfo, dtor), 8);
        assert_eq!(offset_of!(MemInfo, size), 24);
        assert_eq!(offset_of!(Items, elem_size), 48);
        assert_eq!(offset_of!(Items, mask), 56);
    }

    #[test]
    fn items_are_kept_while_the_buffer_grows() {
        let mut object = ItemsRef::new(0, 8, 0).unwrap();
        for i in 0..10_000i64 {
            // SAFETY: room for one item of 8 bytes.
            unsafe { object.push().unwrap().cast::<i64>().write(i) };
        }
        for i in 0..10_000 {
            // SAFETY: an item written above.
            assert_eq!(unsafe { object.item(i).cast::<i64>().read() }, i as i64);
        }
    }

    #[test]
    fn counted_words_of_items_are_released() {
        let mem = new_block(16, false);
        let mut object = ItemsRef::new(2, 24, 0b101).unwrap();
        for _ in 0..3 {
            let item = object.push().unwrap().cast::<*mut MemInfo>();
            // SAFETY: a live object with one reference for each word; the third word stays null.
            unsafe {
                incref(mem);
                item.write(mem);
            }
        }
        // SAFETY: `mem` is alive until its last reference, which is ours, is dropped.
        unsafe {
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 4);
            object.clear();
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 1);
            decref(mem);
        }
        assert!(object.is_empty());
    }

    #[test]
    fn counted_words_of_entries_and_fields_are_released() {
        let mem = new_block(16, false);
        let object = new_entries(4, 16, 0b10, 24, 0b1);
        // SAFETY: all are live; of two entries the second owns nothing.
        unsafe {
            let words = (*object).mem.data.cast::<*mut MemInfo>();
            [ptr::null_mut(), mem, ptr::null_mut(), ptr::null_mut()].iter().enumerate().for_each(|(i, word)| {
                words.add(i).write(*word);
            });
            (*object).len = 2;
            incref(mem);
            let fields = object.byte_add(layout::ENTRIES_FIELDS).cast::<*mut MemInfo>();
            assert!(fields.read().is_null());
            fields.write(mem);
            incref(mem);
            decref(object.cast());
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 1);
            decref(mem);
        }
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let mut outer = ItemsRef::new(1, 8, 1).unwrap();
        for _ in 0..1_000_000 {
            let mut next = ItemsRef::new(1, 8, 1).unwrap();
            // SAFETY: room for one pointer; the object takes over the reference.
            unsafe { next.push().unwrap().cast::<*mut Items>().write(outer.into_raw()) };
            outer = next;
        }
        drop(outer);
    }

    #[test]
    fn impossible_sizes_raise_memory_error() {
        let mut out = ptr::null_mut();
        // SAFETY: `out` is room for the result.
        unsafe {
            assert_eq!(lh_items_new(i64::MAX, 8, 0, &mut out), 1);
            assert_eq!(take_pending().unwrap().class, MEMORY_ERROR);
            assert_eq!(lh_items_new(0, 8, 0, &mut out), 0);
            assert_eq!(lh_items_reserve(out, i64::MAX / 4), 1);
            assert_eq!(take_pending().unwrap().class, MEMORY_ERROR);
            decref(out.cast());
        }
    }
}
