//! The allocator of Rust code: small blocks are to be had when the C library has no more memory.
//!
//! An exception takes a few small blocks before anybody can learn of it, and so does a panic. They come from a room of
//! their own then, which is free again when all of them are. Who asks for more than the room has is left by a panic,
//! [`OutOfMemory`](crate::OutOfMemory), which becomes a MemoryError where compiled code or Python has called.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// Bytes of the room.
const ROOM: usize = 512 << 10;
/// Larger blocks are refused.
const MOST: usize = 16 << 10;

/// The allocator. A library that loads it tells it what to do for want of memory: to panic with
/// [`OutOfMemory`](crate::OutOfMemory).
#[derive(Debug)]
pub struct Emergency;

#[repr(align(64))]
struct Room(UnsafeCell<[MaybeUninit<u8>; ROOM]>);

// SAFETY: the places of blocks are given out under a lock.
unsafe impl Sync for Room {}

static PLACE: Room = Room(UnsafeCell::new([MaybeUninit::uninit(); ROOM]));

/// Bytes that are given out, from the beginning, and the number of blocks that are in use.
static USED: Mutex<(usize, usize)> = Mutex::new((0, 0));

fn begin() -> *mut u8 {
    PLACE.0.get().cast()
}

/// A block of the room; null if it has none.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if layout.size() > MOST || layout.align() > 64 {
        return null_mut();
    }
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = used.0.next_multiple_of(layout.align());
    if at + layout.size() > ROOM {
        return null_mut();
    }
    *used = (at + layout.size(), used.1 + 1);
    begin().wrapping_add(at)
}

#[inline]
fn is_inside(block: *mut u8) -> bool {
    block.addr().wrapping_sub(begin().addr()) < ROOM
}

#[cold]
fn give() {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    used.1 -= 1;
    if used.1 == 0 {
        used.0 = 0;
    }
}

// SAFETY: blocks are the C library's, or parts of the room that nobody else has; neither panics.
unsafe impl GlobalAlloc for Emergency {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { take(layout) } else { block }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as promised by the caller.
        let mut block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            block = take(layout);
            if !block.is_null() {
                // SAFETY: a block of that size.
                unsafe { block.write_bytes(0, layout.size()) };
            }
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_inside(block) {
            return give();
        }
        // SAFETY: as promised by the caller; the block is the C library's.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_inside(block) {
            // SAFETY: as promised by the caller; the block is the C library's.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: as promised by the caller: the new size has a layout, and both blocks have what is copied.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                new.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_is_free_again_when_all_blocks_are() {
        let layout = Layout::from_size_align(1000, 8).unwrap();
        let blocks: Vec<*mut u8> = std::iter::from_fn(|| Some(take(layout)).filter(|b| !b.is_null())).collect();
        assert_eq!(blocks.len(), ROOM / 1000);
        assert!(blocks.iter().all(|b| is_inside(*b)));
        // SAFETY: blocks of the room, of that layout.
        let grown = unsafe { Emergency.realloc(blocks[0], layout, 2000) };
        assert!(!is_inside(grown));
        // SAFETY: as above, and one of the C library.
        unsafe {
            blocks[1..].iter().for_each(|b| Emergency.dealloc(*b, layout));
            Emergency.dealloc(grown, Layout::from_size_align(2000, 8).unwrap());
        }
        assert_eq!(take(layout), begin());
        give();
        assert!(take(Layout::from_size_align(MOST + 1, 8).unwrap()).is_null());
    }
}
