//! Where threads announce work and others find it.
//!
//! A slot is one number: who owns it, whether more threads may join, how many may, and how many have joined and not
//! left. All that must be agreed on is agreed on by changing that number, so the orders in which things can happen are
//! few; the model checker goes through them (`tests/all/pool_model.rs`).
//!
//! The publisher gets its slot, writes the task's address and opens the slot. A worker joins an open slot by counting
//! itself in, and only then looks at the task. The publisher closes the slot and waits until those who joined have
//! left: it never waits for a thread that has not begun.

use super::sync::{AtomicPtr, AtomicU32, Ordering, SPINS, Word, apart, fence, pause};

/// The slot belongs to a publisher.
const BUSY: u32 = 1 << 31;
/// Threads may join.
const OPEN: u32 = 1 << 30;
/// The publisher sleeps until the last has left.
const WAITING: u32 = 1 << 29;
/// Threads that have joined and not left.
const JOINED: u32 = (1 << 12) - 1;
/// How many more may join, in these units.
const ROOM: u32 = 1 << 12;
const ROOM_MASK: u32 = JOINED * ROOM;

/// A thread wakes so many others: those wake more.
const WAKES: u32 = 2;

/// The most threads that can work on one task beside the publisher.
pub(crate) const MOST: u32 = JOINED;

/// A place for a task; alone in its cache lines.
#[repr(align(128))]
struct Slot<T> {
    state: Word,
    task: AtomicPtr<T>,
}

/// All slots, and the workers' bed.
pub(crate) struct Board<T> {
    slots: Vec<Slot<T>>,
    /// Counts announcements: a worker sleeps only if there was none since it began to look.
    news: Word,
    /// Workers that sleep or are about to.
    sleepers: AtomicU32,
}

/// A slot held: by a publisher, or by a worker that has joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    slot: usize,
    /// How many more could join then.
    room: u32,
}

impl<T> Board<T> {
    /// A board with this many slots.
    pub(crate) fn new(slots: usize) -> Board<T> {
        let slot = |_| Slot { state: Word::default(), task: AtomicPtr::new(std::ptr::null_mut()) };
        Board { slots: (0..slots).map(slot).collect(), news: Word::default(), sleepers: AtomicU32::new(0) }
    }

    /// Announces a task that up to `helpers` workers may join. `None` when all slots are taken.
    pub(crate) fn publish(&self, task: *mut T, helpers: u32) -> Option<Place> {
        let is_free = |s: &Slot<T>| {
            s.state.load(Ordering::Relaxed) == 0
                && s.state.compare_exchange(0, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let slot = self.slots.iter().position(is_free)?;
        let room = helpers.min(MOST);
        self.slots[slot].task.store(task, Ordering::Relaxed);
        self.slots[slot].state.store(BUSY | OPEN | (room * ROOM), Ordering::Release);
        self.news.fetch_add(1, Ordering::Release);
        // Between the two, so that either a worker sees the news or this thread sees the sleeper.
        fence(Ordering::SeqCst);
        let place = Place { slot, room };
        self.wake(place, room);
        Some(place)
    }

    /// Wakes some of those who may join a task that is for so many workers, at first those with the least numbers.
    pub(crate) fn wake(&self, place: Place, helpers: u32) {
        if place.room == 0 {
            return;
        }
        let asleep = self.sleepers.load(Ordering::Relaxed);
        if asleep > 0 {
            // Where there are other tasks, they may have these workers.
            let beds = if place.slot == 0 { beds_before(helpers) } else { EVERY_BED };
            self.news.wake(place.room.min(asleep).min(WAKES), beds);
        }
    }

    /// Lets nobody else join.
    pub(crate) fn seal(&self, place: Place) {
        self.slots[place.slot].state.fetch_and(!OPEN, Ordering::Relaxed);
    }

    /// The publisher's end: waits until all who joined have left, and gives the slot back.
    pub(crate) fn close(&self, place: Place) {
        let word = &self.slots[place.slot].state;
        let mut state = word.fetch_and(!OPEN, Ordering::Acquire) & !OPEN;
        for _ in 0..SPINS {
            if state & JOINED == 0 {
                break;
            }
            pause();
            state = word.load(Ordering::Acquire);
        }
        if state & JOINED != 0 {
            apart(&mut || wait_for_all(word));
        }
        word.store(0, Ordering::Release);
    }

    /// Gives a slot up without waiting: in a process in which nobody else is left.
    pub(crate) fn abandon(&self, place: Place) {
        self.slots[place.slot].state.store(0, Ordering::Release);
    }

    /// Joins an open slot, if there is one: the task may be looked at until the worker leaves.
    pub(crate) fn join(&self) -> Option<(Place, *mut T)> {
        for (i, slot) in self.slots.iter().enumerate() {
            let mut state = slot.state.load(Ordering::Relaxed);
            while state & OPEN != 0 && state & ROOM_MASK != 0 {
                let next = state - ROOM + 1;
                match slot.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                    Ok(_) => {
                        let place = Place { slot: i, room: (next & ROOM_MASK) / ROOM };
                        return Some((place, slot.task.load(Ordering::Relaxed)));
                    }
                    Err(now) => state = now,
                }
            }
        }
        None
    }

    /// The end of a worker's part in a task, which it does not look at any more.
    pub(crate) fn leave(&self, place: Place) {
        let word = &self.slots[place.slot].state;
        let before = word.fetch_sub(1, Ordering::Release);
        if before & JOINED == 1 && before & WAITING != 0 {
            word.wake(1, EVERY_BED);
        }
    }

    /// Number of announcements so far.
    pub(crate) fn news(&self) -> u32 {
        self.news.load(Ordering::Acquire)
    }

    /// Returns when there may have been an announcement since `seen`, of which this worker is told.
    pub(crate) fn rest(&self, seen: u32, worker: u32) {
        for _ in 0..SPINS {
            if self.news() != seen {
                return;
            }
            pause();
        }
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.news.wait(seen, bed(worker));
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The beds of all threads.
const EVERY_BED: u32 = u32::MAX;

/// The bed of a worker, a bit. Those with great numbers share the last one.
fn bed(worker: u32) -> u32 {
    1 << worker.saturating_sub(1).min(31)
}

/// The beds of so many workers.
fn beds_before(workers: u32) -> u32 {
    if workers < 32 { (1 << workers) - 1 } else { EVERY_BED }
}

/// Sleeps until all who joined a slot that is sealed have left.
fn wait_for_all(word: &Word) {
    let mut state = word.load(Ordering::Acquire);
    while state & JOINED != 0 {
        if state & WAITING == 0 {
            let _ = word.compare_exchange(state, state | WAITING, Ordering::Relaxed, Ordering::Relaxed);
        } else {
            word.wait(state, EVERY_BED);
        }
        state = word.load(Ordering::Acquire);
    }
}
