//! Objects of classes with fields: a counted header, then the fields.

use crate::memory::alloc::{MemInfo, announce, decref, no_memory};
use crate::memory::live_count::count_live;
use crate::memory::small_blocks;
use crate::symbol::{Symbol, functions};
use lh_ir::class::layout;
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::AtomicI64;

const _: () = assert!(offset_of!(MemInfo, data) == layout::DATA && size_of::<MemInfo>() == layout::FIELDS);

/// A new object whose fields are zeros, with one reference; null when there is no memory. Bit `i` of `mask`: the `i`-th
/// 8-byte word of the fields is a counted pointer (or null). The header keeps it in place of the address of a buffer.
pub fn new_object(size: usize, mask: u64) -> *mut MemInfo {
    let Some(bytes) = size.checked_add(layout::FIELDS) else { return ptr::null_mut() };
    let object = small_blocks::new(bytes).cast::<MemInfo>();
    if object.is_null() {
        return object;
    }
    // SAFETY: just allocated, with room for the header and the fields.
    unsafe {
        object.byte_add(layout::FIELDS).cast::<u8>().write_bytes(0, size);
        announce(object.cast(), bytes);
        let data = ptr::without_provenance_mut(mask as usize);
        object.write(MemInfo { refcount: AtomicI64::new(1), dtor: free_object, data, size });
        count_live(1);
        object
    }
}

/// Destructor of objects with fields.
unsafe extern "C" fn free_object(mem: *mut MemInfo) {
    count_live(-1);
    // SAFETY: only such objects have this destructor; nobody refers to it any more, and its fields are valid.
    unsafe {
        let fields = mem.byte_add(layout::FIELDS).cast::<*mut MemInfo>();
        let mut rest = (*mem).data.addr() as u64;
        while rest != 0 {
            decref(fields.add(rest.trailing_zeros() as usize).read());
            rest &= rest - 1;
        }
        small_blocks::free(mem.cast(), (*mem).size + layout::FIELDS);
    }
}

/// `lh_object_new(size, mask, out)`: a new object with fields.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_object_new(size: i64, mask: u64, out: *mut *mut MemInfo) -> i32 {
    let object = new_object(size.max(0) as usize, mask);
    if object.is_null() {
        return no_memory(i128::from(size));
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(object) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_object_is(a: *const MemInfo, b: *const MemInfo) -> u8 {
    u8::from(ptr::eq(a, b))
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_object_is;
        (_ _ _) lh_object_new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::alloc::{incref, new_block};
    use std::sync::atomic::Ordering;

    #[test]
    fn counted_words_of_fields_are_released() {
        let mem = new_block(16, false);
        let object = new_object(24, 0b101);
        // SAFETY: both are live; the third word stays null.
        unsafe {
            incref(mem);
            object.byte_add(layout::FIELDS).cast::<*mut MemInfo>().write(mem);
            decref(object);
            assert_eq!((*mem).refcount.load(Ordering::Relaxed), 1);
            decref(mem);
        }
    }
}
