//! Lists: a counted header with a growing buffer of items of one size.

use crate::memory::alloc::{MemInfo, announce, decref, incref, no_memory};
use crate::memory::live_count::count_live;
use crate::symbol::{Symbol, functions};
use lh_ir::class::layout;
use std::mem::offset_of;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicI64;

/// Header of a list. `mem.data` is the buffer; compiled code knows the offsets.
#[repr(C)]
#[derive(Debug)]
pub struct List {
    /// Count, destructor and buffer.
    pub mem: MemInfo,
    /// Number of items.
    pub len: i64,
    /// Number of items that the buffer has room for.
    pub cap: i64,
    /// Size of an item, bytes.
    pub elem_size: i64,
    /// Bit `i`: the `i`-th 8-byte word of an item is a counted pointer (or null).
    pub mask: u64,
}

const _: () = assert!(offset_of!(List, len) == layout::LEN && offset_of!(List, cap) == layout::CAP);

/// A new empty list with one reference; null when there is no memory.
pub fn new_list(cap: usize, elem_size: usize, mask: u64) -> *mut List {
    let Some(bytes) = cap.checked_mul(elem_size).filter(|b| *b <= isize::MAX as usize) else {
        return ptr::null_mut();
    };
    // SAFETY: plain C allocations, freed again when the second fails.
    unsafe {
        let list = libc::malloc(size_of::<List>()).cast::<List>();
        if list.is_null() {
            return list;
        }
        let data = if bytes == 0 { ptr::null_mut() } else { libc::malloc(bytes).cast::<u8>() };
        if bytes > 0 && data.is_null() {
            libc::free(list.cast());
            return ptr::null_mut();
        }
        announce(list.cast(), size_of::<List>());
        announce(data, bytes);
        let mem = MemInfo { refcount: AtomicI64::new(1), dtor: free_list, data, size: bytes };
        list.write(List { mem, len: 0, cap: cap as i64, elem_size: elem_size as i64, mask });
        count_live(1);
        list
    }
}

/// Destructor of lists.
unsafe extern "C" fn free_list(mem: *mut MemInfo) {
    let list = mem.cast::<List>();
    count_live(-1);
    // SAFETY: only lists have this destructor; nobody refers to it any more, and its first `len` items are valid.
    unsafe {
        let List { len, elem_size, mask, .. } = *list;
        if mask != 0 {
            for i in 0..len {
                let item = (*mem).data.offset((i * elem_size) as isize).cast::<*mut MemInfo>();
                let mut rest = mask;
                while rest != 0 {
                    decref(item.add(rest.trailing_zeros() as usize).read());
                    rest &= rest - 1;
                }
            }
        }
        libc::free((*mem).data.cast());
        libc::free(list.cast());
    }
}

/// Makes room for `n` items in all; false when there is no memory.
unsafe fn reserve(list: *mut List, n: i64) -> bool {
    // SAFETY: the caller passes a live list; its buffer came from `malloc`.
    unsafe {
        let list = &mut *list;
        if n <= list.cap {
            return true;
        }
        // Half as much again: appending costs constant time on average, and a third of the buffer is idle at most.
        let cap = n.max(list.cap + list.cap / 2).max(4);
        let Some(bytes) = cap.checked_mul(list.elem_size.max(1)) else { return false };
        let data = libc::realloc(list.mem.data.cast(), bytes as usize).cast::<u8>();
        if data.is_null() {
            return false;
        }
        announce(data, bytes as usize);
        list.mem.data = data;
        list.mem.size = bytes as usize;
        list.cap = cap;
        true
    }
}

/// `lh_list_new(cap, elem_size, mask, out)`: a new empty list.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_list_new(cap: i64, elem_size: i64, mask: u64, out: *mut *mut List) -> i32 {
    let list = new_list(cap.max(0) as usize, elem_size.max(0) as usize, mask);
    if list.is_null() {
        return no_memory(i128::from(cap) * i128::from(elem_size));
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(list) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_list_reserve(list: *mut List, n: i64) -> i32 {
    // SAFETY: compiled code passes a live list.
    unsafe { if reserve(list, n) { 0 } else { no_memory(i128::from(n) * i128::from((*list).elem_size)) } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_list_set_len(list: *mut List, n: i64) {
    // SAFETY: compiled code passes a live list, of which it has filled or emptied the items concerned.
    unsafe { (*list).len = n };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_list_is(a: *const List, b: *const List) -> u8 {
    u8::from(std::ptr::eq(a, b))
}

/// An owned reference to a list, for Rust code.
#[derive(Debug)]
pub struct ListRef(NonNull<List>);

impl ListRef {
    /// A new empty list; `None` when there is no memory.
    pub fn new(cap: usize, elem_size: usize, mask: u64) -> Option<ListRef> {
        NonNull::new(new_list(cap, elem_size, mask)).map(ListRef)
    }
    /// Takes over a reference.
    ///
    /// # Safety
    /// `list` is a live list, one of whose references is the caller's to give.
    pub unsafe fn from_owned(list: *mut List) -> ListRef {
        // SAFETY: a live list is not null.
        ListRef(unsafe { NonNull::new_unchecked(list) })
    }
    /// Takes a new reference.
    ///
    /// # Safety
    /// `list` is a live list.
    pub unsafe fn from_borrowed(list: *mut List) -> ListRef {
        // SAFETY: the caller's promise.
        unsafe {
            incref(list.cast());
            ListRef::from_owned(list)
        }
    }
    /// Gives the reference to somebody else.
    pub fn into_raw(self) -> *mut List {
        let list = self.0.as_ptr();
        std::mem::forget(self);
        list
    }
    /// The list.
    pub fn as_ptr(&self) -> *mut List {
        self.0.as_ptr()
    }
    /// Number of items.
    pub fn len(&self) -> usize {
        // SAFETY: a `ListRef` keeps its list alive.
        unsafe { self.0.as_ref().len as usize }
    }
    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Size of an item, bytes.
    pub fn elem_size(&self) -> usize {
        // SAFETY: a `ListRef` keeps its list alive.
        unsafe { self.0.as_ref().elem_size as usize }
    }
    /// Address of an item.
    pub fn item(&self, index: usize) -> *mut u8 {
        assert!(index < self.len(), "item {index} of a list of {}", self.len());
        // SAFETY: inside the buffer, as just checked.
        unsafe { self.0.as_ref().mem.data.add(index * self.elem_size()) }
    }
    /// Appends an item of zero bytes and returns its address, for the caller to fill before anything else happens to
    /// the list; `None` when there is no memory.
    pub fn push(&mut self) -> Option<*mut u8> {
        let list = self.0.as_ptr();
        // SAFETY: a `ListRef` keeps its list alive; the new item lies in the buffer, where `reserve` made room.
        unsafe {
            let n = (*list).len;
            if !reserve(list, n + 1) {
                return None;
            }
            let item = (*list).mem.data.offset((n * (*list).elem_size) as isize);
            item.write_bytes(0, (*list).elem_size as usize);
            (*list).len = n + 1;
            Some(item)
        }
    }
    /// Sets the number of items to zero and releases what they held.
    pub fn clear(&mut self) {
        // A list of the same items dies in place of this one: there is one place that knows how items are released.
        let list = self.0.as_ptr();
        // SAFETY: the twin takes over the buffer with its items, and this list is left without one.
        unsafe {
            let twin = new_list(0, self.elem_size(), (*list).mask);
            if twin.is_null() {
                return;
            }
            std::ptr::swap(&raw mut (*twin).mem.data, &raw mut (*list).mem.data);
            std::ptr::swap(&raw mut (*twin).mem.size, &raw mut (*list).mem.size);
            std::ptr::swap(&raw mut (*twin).len, &raw mut (*list).len);
            std::ptr::swap(&raw mut (*twin).cap, &raw mut (*list).cap);
            decref(twin.cast());
        }
    }
}

impl Clone for ListRef {
    fn clone(&self) -> ListRef {
        // SAFETY: a `ListRef` keeps its list alive.
        unsafe { ListRef::from_borrowed(self.0.as_ptr()) }
    }
}

impl Drop for ListRef {
    fn drop(&mut self) {
        // SAFETY: the reference is ours.
        unsafe { decref(self.0.as_ptr().cast()) };
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_list_reserve lh_list_set_len lh_list_is;
        (_ _ _ _) lh_list_new;
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
        assert_eq!(offset_of!(List, elem_size), 48);
        assert_eq!(offset_of!(List, mask), 56);
    }

    #[test]
    fn items_are_kept_while_the_list_grows() {
        let mut list = ListRef::new(0, 8, 0).unwrap();
        for i in 0..10_000i64 {
            // SAFETY: room for one item of 8 bytes.
            unsafe { list.push().unwrap().cast::<i64>().write(i) };
        }
        for i in 0..10_000 {
            // SAFETY: an item written above.
            assert_eq!(unsafe { list.item(i).cast::<i64>().read() }, i as i64);
        }
    }

    #[test]
    fn counted_words_of_items_are_released() {
        let mem = new_block(16, false);
        let mut list = ListRef::new(2, 24, 0b101).unwrap();
        for _ in 0..3 {
            let item = list.push().unwrap().cast::<*mut MemInfo>();
            // SAFETY: a live object with one reference for each word; the third word stays null.
            unsafe {
                incref(mem);
                item.write(mem);
            }
        }
        // SAFETY: `mem` is alive until its last reference, which is ours, is dropped.
        unsafe {
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 4);
            list.clear();
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 1);
            decref(mem);
        }
        assert!(list.is_empty());
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let mut outer = ListRef::new(1, 8, 1).unwrap();
        for _ in 0..1_000_000 {
            let mut next = ListRef::new(1, 8, 1).unwrap();
            // SAFETY: room for one pointer; the list takes over the reference.
            unsafe { next.push().unwrap().cast::<*mut List>().write(outer.into_raw()) };
            outer = next;
        }
        drop(outer);
    }

    #[test]
    fn impossible_sizes_raise_memory_error() {
        let mut out = ptr::null_mut();
        // SAFETY: `out` is room for the result.
        unsafe {
            assert_eq!(lh_list_new(i64::MAX, 8, 0, &mut out), 1);
            assert_eq!(take_pending().unwrap().class, MEMORY_ERROR);
            assert_eq!(lh_list_new(0, 8, 0, &mut out), 0);
            assert_eq!(lh_list_reserve(out, i64::MAX / 4), 1);
            assert_eq!(take_pending().unwrap().class, MEMORY_ERROR);
            decref(out.cast());
        }
    }
}
