//! Freed small blocks, kept by the thread that frees them for its next ones.
//!
//! Texts, small arrays and objects live shortly and in numbers. The C library keeps seven freed blocks of a size for a
//! thread; the others of a list of a hundred texts go to its general free lists, each way at several times the cost.

use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// Sizes are multiples of this, which is the alignment of `malloc`.
const STEP: usize = 16;
/// Blocks of more bytes are the C library's.
const MOST: usize = 512;
/// Bytes that a thread keeps of each size: those of a list of a thousand short texts.
const KEPT: usize = 128 << 10;

/// A free block: the next one, and how many there are from here on.
struct Free {
    next: *mut Free,
    count: usize,
}

/// The free blocks of a thread, by size.
struct Lists(UnsafeCell<[*mut Free; MOST / STEP]>);

impl Drop for Lists {
    fn drop(&mut self) {
        IS_OPEN.set(false);
        for list in self.0.get_mut() {
            while !list.is_null() {
                // SAFETY: a kept block, which `malloc` made and to which nobody else refers.
                unsafe {
                    let next = (**list).next;
                    libc::free((*list).cast());
                    *list = next;
                }
            }
        }
    }
}

thread_local! {
    static LISTS: Lists = const { Lists(UnsafeCell::new([ptr::null_mut(); MOST / STEP])) };
    /// Whether the lists are there: not before the first block that is freed, nor at the thread's end.
    static IS_OPEN: Cell<bool> = const { Cell::new(false) };
}

/// The list of blocks for so many bytes, at most [`MOST`] and at least one.
#[inline]
fn list(bytes: usize) -> *mut *mut Free {
    // SAFETY: the lists are there while `IS_OPEN` says so, and only this thread uses them; the place is below their
    // number.
    LISTS.with(|lists| unsafe { lists.0.get().cast::<*mut Free>().add((bytes - 1) / STEP) })
}

/// A block of so many bytes, aligned as by `malloc`; null when there is no memory.
#[inline]
pub(crate) fn new(bytes: usize) -> *mut u8 {
    if (1..=MOST).contains(&bytes) && IS_OPEN.get() {
        let list = list(bytes);
        // SAFETY: a kept block is one of this size, to which nobody else refers.
        unsafe {
            let first = *list;
            if !first.is_null() {
                *list = (*first).next;
                return first.cast();
            }
        }
    }
    // SAFETY: plain C allocation, of the size of all blocks of the list that it may come to.
    unsafe { libc::malloc(if bytes <= MOST { bytes.next_multiple_of(STEP) } else { bytes }) }.cast()
}

/// Frees a block of so many bytes.
///
/// # Safety
/// [`new`] made it for as many, and nobody refers to it any more.
#[inline]
pub(crate) unsafe fn free(block: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; a block has room for a link.
    unsafe {
        if !(1..=MOST).contains(&bytes) || !IS_OPEN.get() && !open() {
            return libc::free(block.cast());
        }
        let (list, block) = (list(bytes), block.cast::<Free>());
        let count = if (*list).is_null() { 0 } else { (**list).count };
        if count * bytes >= KEPT {
            return libc::free(block.cast());
        }
        block.write(Free { next: *list, count: count + 1 });
        *list = block;
    }
}

/// Makes the lists, which are given back when the thread ends; false at its end.
#[cold]
fn open() -> bool {
    let is_there = LISTS.try_with(|_| ()).is_ok();
    IS_OPEN.set(is_there);
    is_there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_by_size() {
        std::thread::spawn(|| {
            let (a, b) = (new(40), new(48));
            // SAFETY: just made, of these sizes.
            unsafe {
                free(a, 40);
                free(b, 48);
            }
            assert_eq!((new(33), new(48)), (b, a));
            // Of another size, and larger ones.
            let (other, large) = (new(49), new(MOST + 1));
            assert!(other != a && large != a);
            for (block, bytes) in [(b, 33), (a, 48), (other, 49), (large, MOST + 1)] {
                // SAFETY: just made, of these sizes.
                unsafe { free(block, bytes) };
            }
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_keeps_so_many_bytes() {
        std::thread::spawn(|| {
            let blocks: Vec<*mut u8> = (0..2 * KEPT / 64).map(|_| new(64)).collect();
            // SAFETY: just made, of that size.
            blocks.iter().for_each(|b| unsafe { free(*b, 64) });
            // SAFETY: a kept block.
            assert_eq!(unsafe { (**list(64)).count }, KEPT / 64);
        })
        .join()
        .unwrap();
    }
}
