//! Memory of loaded objects: whole pages of regions, which are mapped at once.
//!
//! A process may have 65,530 mappings, and neighbouring pages of equal protection are one. So an object takes its code
//! and constants from the start of a region, its variables from the end. Pages are writable until they are filled, then
//! executable, and stay so when their object is gone, until they are filled again. A large object has a mapping of its
//! own.

use std::ops::Range;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;

pub(super) const PAGE: usize = 4096;

/// Pages of a region.
const PAGES: usize = 1024;

/// Objects of more pages do not come from regions.
const LARGE: usize = PAGES / 8;

/// How often a thread looks whether the list is free. Whoever has locked it may not exist in a forked child, so that
/// nobody waits for it: an object has a mapping of its own then, and what is freed is lost.
const PATIENCE: usize = 1000;

const WRITABLE: i32 = libc::PROT_READ | libc::PROT_WRITE;
const EXECUTABLE: i32 = libc::PROT_READ | libc::PROT_EXEC;

/// A mapping that objects share.
struct Region {
    base: usize,
    /// The pages that nobody has, in order; no two ranges touch.
    free: Vec<Range<usize>>,
    /// Pages from here on have never been executable.
    untouched: usize,
}

static REGIONS: Mutex<Vec<Region>> = Mutex::new(Vec::new());

fn regions() -> Option<MutexGuard<'static, Vec<Region>>> {
    for _ in 0..PATIENCE {
        match REGIONS.try_lock() {
            Ok(all) => return Some(all),
            Err(TryLockError::Poisoned(all)) => return Some(all.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

/// Memory of one object, filled with zeros. It is freed when dropped.
#[derive(Debug)]
pub(super) struct Memory {
    /// Code and constants, and variables: addresses and numbers of pages.
    code: (usize, usize),
    data: (usize, usize),
    is_shared: bool,
}

impl Memory {
    /// Writable memory for so many bytes of code and constants, and so many of variables.
    pub(super) fn new(code: usize, data: usize) -> Memory {
        let (code, data) = (code.div_ceil(PAGE).max(1), data.div_ceil(PAGE));
        let shared = if code + data > LARGE { None } else { regions().and_then(|mut all| take(&mut all, code, data)) };
        shared.unwrap_or_else(|| {
            let Some(base) = map(code + data) else { lh_ir::bug!("no memory for {} pages of code", code + data) };
            Memory { code: (base, code), data: (base + PAGE * code, data), is_shared: false }
        })
    }

    /// Address of the code.
    pub(super) fn code(&self) -> usize {
        self.code.0
    }

    /// Addresses of code and constants.
    pub(super) fn range(&self) -> Range<usize> {
        self.code.0..self.code.0 + PAGE * self.code.1
    }

    /// Address of the variables.
    pub(super) fn data(&self) -> usize {
        self.data.0
    }

    /// Writes to the memory, at an address, before it is executable.
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        let is_in = |(base, pages): (usize, usize)| base <= at && at + bytes.len() <= base + PAGE * pages;
        if !is_in(self.code) && !is_in(self.data) {
            lh_ir::bug!("an object is written beside its memory");
        }
        // SAFETY: the bytes are within memory that is ours and still writable.
        unsafe { with_exposed_provenance_mut::<u8>(at).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Makes code and constants executable, and no longer writable.
    pub(super) fn seal(&self) {
        protect(self.code, EXECUTABLE);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.is_shared {
            // SAFETY: the mapping was made by `new`, and whoever dropped us runs no code in it.
            unsafe { libc::munmap(with_exposed_provenance_mut(self.code.0), PAGE * (self.code.1 + self.data.1)) };
            return;
        }
        for (base, pages) in [self.code, self.data].into_iter().filter(|(_, pages)| *pages > 0) {
            // SAFETY: pages of a region that are ours; nobody uses them. They are empty afterwards.
            unsafe { libc::madvise(with_exposed_provenance_mut(base), PAGE * pages, libc::MADV_DONTNEED) };
        }
        if let Some(mut all) = regions() {
            give(&mut all, self.code);
            give(&mut all, self.data);
        }
    }
}

fn map(pages: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping.
    let base = unsafe { libc::mmap(null_mut(), PAGE * pages, WRITABLE, flags, -1, 0) };
    (base != libc::MAP_FAILED).then(|| base.expose_provenance())
}

fn protect((base, pages): (usize, usize), how: i32) {
    // SAFETY: whole pages that belong to the caller, which runs no code in them.
    if unsafe { libc::mprotect(with_exposed_provenance_mut(base), PAGE * pages, how) } != 0 {
        lh_ir::bug!("the system does not let the protection of memory change");
    }
}

/// Memory of a region for so many pages of code and of variables.
fn take(all: &mut Vec<Region>, code: usize, data: usize) -> Option<Memory> {
    let found = all.iter_mut().find_map(|r| r.take(code, data));
    let found = found.or_else(|| {
        let base = map(PAGES)?;
        // SAFETY: the new mapping. Huge pages would be touched as a whole, and split again.
        unsafe { libc::madvise(with_exposed_provenance_mut(base), PAGE * PAGES, libc::MADV_NOHUGEPAGE) };
        let whole = 0..PAGES;
        all.push(Region { base, free: vec![whole], untouched: 0 });
        all.last_mut()?.take(code, data)
    });
    let (code, data) = found?;
    Some(Memory { code, data, is_shared: true })
}

/// Gives pages back to their region. One that is empty is unmapped if there is another.
fn give(all: &mut Vec<Region>, (base, pages): (usize, usize)) {
    let is_in = |r: &Region| (r.base..r.base + PAGE * PAGES).contains(&base);
    let Some(at) = all.iter().position(is_in).filter(|_| pages > 0) else { return };
    let first = (base - all[at].base) / PAGE;
    all[at].give(first..first + pages);
    let is_empty = |r: &Region| r.free.first().is_some_and(|f| f.len() == PAGES);
    if is_empty(&all[at]) && all.iter().filter(|r| is_empty(r)).count() > 1 {
        let region = all.swap_remove(at);
        // SAFETY: a mapping of which nobody has a page.
        unsafe { libc::munmap(with_exposed_provenance_mut(region.base), PAGE * PAGES) };
    }
}

impl Region {
    /// Address and number of pages for code, and for variables.
    fn take(&mut self, code: usize, data: usize) -> Option<((usize, usize), (usize, usize))> {
        let at = self.free.iter().position(|f| f.len() >= code)?;
        let rest = if self.free[at].len() >= code + data { at } else { self.free.len() };
        let last = self.free.iter().rposition(|f| f.len() >= data);
        let last = last.filter(|l| *l != at).or(Some(rest)).filter(|l| data == 0 || *l < self.free.len())?;
        let start = self.free[at].start;
        self.free[at].start += code;
        let mut end = PAGES;
        if data > 0 {
            self.free[last].end -= data;
            end = self.free[last].end;
        }
        self.free.retain(|f| !f.is_empty());
        for (first, pages) in [(start, code), (end, data)] {
            if first < self.untouched && pages > 0 {
                protect((self.base + PAGE * first, pages), WRITABLE);
            }
        }
        self.untouched = self.untouched.max(start + code);
        Some(((self.base + PAGE * start, code), (self.base + PAGE * end, data)))
    }

    fn give(&mut self, pages: Range<usize>) {
        let at = self.free.partition_point(|f| f.start < pages.start);
        self.free.insert(at, pages);
        if self.free.get(at + 1).is_some_and(|next| next.start == self.free[at].end) {
            self.free[at].end = self.free.remove(at + 1).end;
        }
        if at > 0 && self.free[at - 1].end == self.free[at].start {
            self.free[at - 1].end = self.free.remove(at).end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region() -> Region {
        let whole = 0..PAGES;
        Region { base: map(PAGES).unwrap(), free: vec![whole], untouched: 0 }
    }

    #[test]
    fn pages_of_a_region_are_taken_and_joined_again() {
        let mut r = region();
        let base = r.base;
        let ((a, _), (x, _)) = r.take(2, 1).unwrap();
        let ((b, _), _) = r.take(3, 0).unwrap();
        let ((c, _), (y, _)) = r.take(1, 2).unwrap();
        assert_eq!([a, b, c].map(|at| (at - base) / PAGE), [0, 2, 5]);
        assert_eq!([x, y].map(|at| (at - base) / PAGE), [PAGES - 1, PAGES - 3]);
        r.give(2..5);
        // The first pages that are enough.
        assert_eq!(r.take(2, 0).unwrap().0, (base + 2 * PAGE, 2));
        r.give(2..4);
        r.give(0..2);
        r.give(PAGES - 1..PAGES);
        r.give(PAGES - 3..PAGES - 1);
        r.give(5..6);
        assert_eq!((r.free.len(), r.free[0].len()), (1, PAGES));
        let all = r.take(PAGES, 0).unwrap();
        assert!(r.take(1, 0).is_none() && r.free.is_empty());
        r.give(0..all.0.1);
        assert!(r.take(PAGES, 1).is_none());
        assert_eq!(r.free[0].len(), PAGES);
    }

    #[test]
    fn memory_is_empty_again_when_it_is_used_again() {
        for _ in 0..3 {
            let mut one = Memory::new(10, 5000);
            let (code, data) = (one.code(), one.data());
            for at in [code, data] {
                // SAFETY: the memory is ours.
                assert_eq!(unsafe { *with_exposed_provenance_mut::<u64>(at) }, 0);
                one.write(at, &[1; 8]);
            }
            one.seal();
            drop(one);
        }
        // A large object has a mapping of its own.
        drop(Memory::new(PAGE * PAGES, 1));
    }

    #[test]
    fn a_list_that_stays_locked_is_not_waited_for() {
        let locked = REGIONS.lock();
        drop(Memory::new(1, 1));
        drop(locked);
    }
}
