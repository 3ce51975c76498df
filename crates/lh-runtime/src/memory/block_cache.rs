//! Freed blocks of large arrays, kept for the next request of their size.
//!
//! The C library gives large blocks back to the system as soon as they are free, so that a function with a temporary
//! array asks for its pages anew in each call; the system clears each page, and writing to a new one is a fault, which
//! together take longer than what most functions do with the elements.

use std::ptr;
use std::sync::Mutex;

/// Smaller blocks the C library keeps itself, or [`super::small_blocks`].
pub(super) const LEAST: usize = 128 << 10;
/// Larger blocks are freed: compared with a pass over them, new pages cost little.
const MOST: usize = 32 << 20;
/// Bytes that are kept in all.
const IN_ALL: usize = 64 << 20;

/// A block, and how many bytes it has.
struct Block(*mut u8, usize);

// SAFETY: nobody refers to a kept block but this list.
unsafe impl Send for Block {}

/// The blocks, the oldest first. It is never waited for: a child of a fork may find it locked for good.
static KEPT: Mutex<Vec<Block>> = Mutex::new(Vec::new());

/// The size of a block for so many bytes. Larger blocks have few different sizes, so that one can be reused for
/// another.
pub(crate) fn room(bytes: usize) -> usize {
    if (LEAST..=MOST).contains(&bytes) { bytes.next_multiple_of(bytes.next_power_of_two() / 16) } else { bytes }
}

/// A kept block of that room; null if there is none.
pub(crate) fn take(room: usize) -> *mut u8 {
    if !(LEAST..=MOST).contains(&room) {
        return ptr::null_mut();
    }
    let Ok(mut kept) = KEPT.try_lock() else { return ptr::null_mut() };
    // The youngest is the likeliest to be in a cache.
    let found = kept.iter().rposition(|b| b.1 == room);
    found.map_or(ptr::null_mut(), |i| kept.remove(i).0)
}

/// Keeps or frees a block of that room.
///
/// # Safety
/// `malloc` or `calloc` made the block, and nobody refers to it any more.
pub(crate) unsafe fn give(raw: *mut u8, room: usize) {
    let free = |raw: *mut u8| {
        // SAFETY: the caller's promise, also of the kept ones when they were given.
        unsafe { libc::free(raw.cast()) };
    };
    let kept = if (LEAST..=MOST).contains(&room) { KEPT.try_lock().ok() } else { None };
    let Some(mut kept) = kept else { return free(raw) };
    kept.push(Block(raw, room));
    let mut bytes: usize = kept.iter().map(|b| b.1).sum();
    while bytes > IN_ALL {
        let oldest = kept.remove(0);
        bytes -= oldest.1;
        free(oldest.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(room: usize) -> *mut u8 {
        // SAFETY: plain C allocation.
        unsafe { libc::malloc(room) }.cast()
    }

    #[test]
    fn rooms_are_few_and_hold_what_they_are_for() {
        for bytes in
            [0, 1, LEAST - 1, LEAST, LEAST + 1, 200_000, 1 << 20, (1 << 20) + 1, MOST, MOST + 1, usize::MAX / 2]
        {
            let r = room(bytes);
            assert!(r >= bytes && r - bytes <= bytes / 8, "{bytes}: {r}");
            assert_eq!(room(r), r);
        }
    }

    #[test]
    fn blocks_come_back_up_to_a_sum() {
        // A size that no other test asks for.
        let size = room(MOST - (3 << 20));
        let blocks: Vec<*mut u8> = (0..4).map(|_| new(size)).collect();
        // SAFETY: just allocated.
        blocks.iter().for_each(|b| unsafe { give(*b, size) });
        assert_eq!(take(size), blocks[3]);
        assert_eq!(take(size), blocks[2]);
        assert!(take(size).is_null());
        // SAFETY: the list has let go of them.
        blocks[2..].iter().for_each(|b| unsafe { libc::free(b.cast()) });
    }
}
