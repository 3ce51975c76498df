//! Stacks of fibers: one mapping for a team, with a guard page below each stack. A thread keeps them for its next
//! launch.

use crate::stack::Fibers;
use std::cell::RefCell;
use std::ptr::NonNull;

const PAGE: usize = 4096;

thread_local! {
    static KEPT: RefCell<Option<Stacks>> = const { RefCell::new(None) };
}

/// Stacks of one size.
pub(super) struct Stacks {
    base: NonNull<u8>,
    count: usize,
    size: usize,
}

impl Stacks {
    /// `count` stacks of at least `size` bytes; `None` if the system has no memory for them.
    pub(super) fn take(count: usize, size: usize) -> Option<Stacks> {
        let size = size.next_multiple_of(PAGE);
        let kept = KEPT.with(|k| k.borrow_mut().take());
        kept.filter(|s| s.count >= count && s.size >= size).or_else(|| Stacks::map(count, size))
    }

    /// Keeps them for the thread's next launch.
    pub(super) fn give(self) {
        KEPT.with(|k| *k.borrow_mut() = Some(self));
    }

    fn map(count: usize, size: usize) -> Option<Stacks> {
        let stride = size + PAGE;
        // SAFETY: a new private mapping; the pages made inaccessible are our own.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let at = libc::mmap(std::ptr::null_mut(), stride * count, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if at == libc::MAP_FAILED {
                return None;
            }
            let base = NonNull::new(at.cast::<u8>())?;
            for i in 0..count {
                // Where the kernel refuses another mapping, the stack has no guard.
                libc::mprotect(base.as_ptr().add(i * stride).cast(), PAGE, libc::PROT_NONE);
            }
            Some(Stacks { base, count, size })
        }
    }

    /// All of them.
    pub(super) fn range(&self) -> std::ops::Range<i64> {
        let start = self.base.as_ptr() as i64;
        start..start + ((self.size + PAGE) * self.count) as i64
    }

    /// Where each of them ends.
    pub(super) fn fibers(&self) -> Fibers {
        let range = self.range();
        Fibers { start: range.start as usize, end: range.end as usize, stride: self.size + PAGE, guard: PAGE }
    }

    /// The address after a stack's last byte, where it begins to grow down.
    pub(super) fn top(&self, i: usize) -> *mut u8 {
        assert!(i < self.count);
        let stride = self.size + PAGE;
        // Stacks at multiples of the page size would all use the same cache sets: they begin at different lines.
        let colour = (i % 32) * 128;
        // SAFETY: within the mapping.
        unsafe { self.base.as_ptr().add((i + 1) * stride - colour) }
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing runs on it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), (self.size + PAGE) * self.count) };
    }
}
