//! An index of specialisations by the tags of arguments, which every call reads.

use crate::call::overload::Entry;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// TagIndex in the order in which they were made: the newest of equal tags counts. They are added in place, while other
/// threads read, until there is no room; so that tables, which are kept, grow by doubling.
#[derive(Default)]
pub struct TagIndex {
    slots: Box<[OnceLock<Entry>]>,
    len: AtomicUsize,
}

impl TagIndex {
    /// A copy of some, with room for as many more.
    pub fn of<'a>(kept: impl Iterator<Item = &'a Entry>) -> TagIndex {
        let mut slots: Vec<OnceLock<Entry>> = kept.map(|e| OnceLock::from(e.clone())).collect();
        let len = AtomicUsize::new(slots.len());
        slots.resize_with(2 * slots.len() + 2, OnceLock::new);
        TagIndex { slots: slots.into(), len }
    }
    /// The entry at a position.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&Entry> {
        self.slots.get(at)?.get()
    }
    /// All, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.slots[..self.len.load(Ordering::Acquire)].iter().filter_map(OnceLock::get)
    }
    /// The position of the newest with these tags.
    pub fn newest(&self, tags: &[u64]) -> Option<usize> {
        (0..self.len.load(Ordering::Acquire)).rev().find(|at| self.get(*at).is_some_and(|e| e.tags[..] == *tags))
    }
    /// Adds one, by one thread at a time; its position, or `None` if there is no room.
    pub fn push(&self, entry: &Entry) -> Option<usize> {
        let at = self.len.load(Ordering::Relaxed);
        self.slots.get(at)?.set(entry.clone()).ok()?;
        self.len.store(at + 1, Ordering::Release);
        Some(at)
    }
}

impl Clone for TagIndex {
    fn clone(&self) -> TagIndex {
        TagIndex::of(self.iter())
    }
}
