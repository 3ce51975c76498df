//! The happens-before relation among the threads of a kernel, by vector clocks.
//!
//! An earlier operation happens before the present one of a thread if it is the thread's own; if it is of the same
//! block and before the last barrier; if it is of the same warp and before the last `syncwarp` of both; or if its
//! thread has published it, by a fence and then an atomic operation on an address on which this thread has operated
//! atomically since.

use super::kernels::WARP;
use std::collections::HashMap;
use std::rc::Rc;

/// The logical time of a thread: the block's number of barriers, then the number of other operations that order memory.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Time {
    pub(super) epoch: u32,
    pub(super) time: u16,
}

/// A thread of the grid.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub(super) struct ThreadId {
    pub(super) block: u32,
    pub(super) thread: u16,
}

/// A vector clock: for each block and thread, the time before which everything has been seen.
#[derive(Clone, Default)]
struct VectorClock {
    blocks: HashMap<u32, u32>,
    threads: HashMap<ThreadId, Time>,
}

impl VectorClock {
    fn covers(&self, who: ThreadId, when: Time) -> bool {
        self.blocks.get(&who.block).is_some_and(|e| when.epoch < *e)
            || self.threads.get(&who).is_some_and(|m| when < *m)
    }

    fn block(&mut self, block: u32, epoch: u32) {
        let clock = self.blocks.entry(block).or_default();
        *clock = epoch.max(*clock);
    }

    fn thread(&mut self, who: ThreadId, before: Time) {
        let clock = self.threads.entry(who).or_default();
        *clock = before.max(*clock);
    }

    fn join(&mut self, other: &VectorClock) {
        other.blocks.iter().for_each(|(b, e)| self.block(*b, *e));
        other.threads.iter().for_each(|(t, m)| self.thread(*t, *m));
    }
}

fn join(into: &mut Option<Rc<VectorClock>>, other: &Rc<VectorClock>) {
    match into {
        Some(clock) if Rc::ptr_eq(clock, other) => {}
        Some(clock) => Rc::make_mut(clock).join(other),
        None => *into = Some(other.clone()),
    }
}

struct BlockState {
    number: u32,
    epoch: u32,
    /// The epoch in which one of its threads has passed a fence last.
    fenced: Option<u32>,
    seen: Option<Rc<VectorClock>>,
}

#[derive(Clone, Default)]
struct ThreadState {
    time: u16,
    /// For each lane of its warp, the time since the last barrier before which everything has been seen.
    warp: [u16; WARP],
    fence: Option<Time>,
    seen: Option<Rc<VectorClock>>,
}

/// The clocks of the threads of the blocks that run together.
#[derive(Default)]
pub(super) struct HappensBefore {
    threads: usize,
    blocks: Vec<BlockState>,
    states: Vec<ThreadState>,
    /// Clocks that atomic operations have published, by address.
    published: HashMap<i64, Rc<VectorClock>>,
}

impl HappensBefore {
    /// Begins blocks of so many threads each.
    pub(super) fn enter(&mut self, numbers: &[u32], threads: usize) {
        self.threads = threads;
        let block = |number: &u32| BlockState { number: *number, epoch: 0, fenced: None, seen: None };
        self.blocks = numbers.iter().map(block).collect();
        self.states = vec![ThreadState::default(); threads * self.blocks.len()];
    }

    pub(super) fn who(&self, i: usize) -> ThreadId {
        ThreadId { block: self.blocks[i / self.threads].number, thread: (i % self.threads) as u16 }
    }

    pub(super) fn now(&self, i: usize) -> Time {
        Time { epoch: self.blocks[i / self.threads].epoch, time: self.states[i].time }
    }

    /// Whether another thread's operation at a time happens before the present one of a running thread.
    pub(super) fn has_seen(&self, i: usize, who: ThreadId, when: Time) -> bool {
        let (me, now) = (self.who(i), self.now(i));
        if who.block == me.block {
            let (lane, warp) = (who.thread as usize % WARP, who.thread as usize / WARP);
            let is_near = warp == me.thread as usize / WARP && self.states[i].warp[lane] > when.time;
            if who.thread == me.thread || when.epoch < now.epoch || is_near {
                return true;
            }
        }
        [&self.states[i].seen, &self.blocks[i / self.threads].seen].into_iter().flatten().any(|k| k.covers(who, when))
    }

    /// All threads of a block have come to a barrier.
    pub(super) fn barrier(&mut self, block: usize) {
        let b = &mut self.blocks[block];
        b.epoch += 1;
        for s in &mut self.states[block * self.threads..(block + 1) * self.threads] {
            if let Some(clock) = s.seen.take() {
                join(&mut b.seen, &clock);
            }
            (s.time, s.warp) = (0, [0; WARP]);
        }
    }

    /// All threads of the grid have come to a barrier.
    pub(super) fn grid(&mut self) {
        (0..self.blocks.len()).for_each(|b| self.barrier(b));
    }

    /// Lanes of the warp that begins with thread `first` synchronise.
    pub(super) fn warp(&mut self, first: usize, lanes: &[usize]) {
        let (mut times, mut clock) = ([0; WARP], None);
        for l in lanes {
            let s = &self.states[first + l];
            times.iter_mut().zip(s.warp).for_each(|(t, other)| *t = other.max(*t));
            if let Some(k) = &s.seen {
                join(&mut clock, k);
            }
        }
        lanes.iter().for_each(|l| times[*l] = self.states[first + l].time.saturating_add(1));
        for l in lanes {
            let s = &mut self.states[first + l];
            (s.warp, s.time) = (times, s.time.saturating_add(1));
            s.seen.clone_from(&clock);
        }
    }

    /// A thread's fence: its next atomic operation publishes everything that happened before.
    pub(super) fn fence(&mut self, i: usize) {
        let block = &mut self.blocks[i / self.threads];
        let s = &mut self.states[i];
        s.time = s.time.saturating_add(1);
        s.fence = Some(Time { epoch: block.epoch, time: s.time });
        block.fenced = Some(block.epoch);
    }

    /// An atomic operation on an address publishes the thread's clock as of its last fence, and joins the clocks that
    /// others have published there.
    pub(super) fn atomic(&mut self, i: usize, at: i64) {
        let (me, now) = (self.who(i), self.now(i));
        let (block, s) = (&self.blocks[i / self.threads], &self.states[i]);
        if let Some(fenced) = block.fenced {
            let own = s.fence.filter(|f| f.epoch == now.epoch);
            let mut made = VectorClock::default();
            made.block(me.block, if own.is_some() { now.epoch } else { now.epoch.min(fenced + 1) });
            if let Some(fence) = own {
                made.thread(me, fence);
                let first = me.thread as usize / WARP * WARP;
                for (l, time) in s.warp.iter().enumerate().filter(|(_, t)| **t > 0) {
                    let who = ThreadId { block: me.block, thread: (first + l) as u16 };
                    made.thread(who, Time { epoch: now.epoch, time: *time });
                }
            }
            [&s.seen, &block.seen].into_iter().flatten().for_each(|k| made.join(k));
            Rc::make_mut(self.published.entry(at).or_default()).join(&made);
        }
        if let Some(clock) = self.published.get(&at) {
            join(&mut self.states[i].seen, clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(blocks: u32) -> HappensBefore {
        let mut o = HappensBefore::default();
        o.enter(&(0..blocks).collect::<Vec<_>>(), 64);
        o
    }

    #[test]
    fn barriers_put_the_block_in_order() {
        let mut o = order(2);
        let (who, when) = (o.who(3), o.now(3));
        assert!(o.has_seen(3, who, when) && !o.has_seen(4, who, when) && !o.has_seen(64, who, when));
        o.barrier(0);
        assert!(o.has_seen(4, who, when) && !o.has_seen(64, who, when));
    }

    #[test]
    fn lanes_that_met_know_each_other_s_past() {
        let mut o = order(1);
        let (who, when) = (o.who(1), o.now(1));
        o.warp(0, &[0, 1]);
        assert!(o.has_seen(0, who, when) && !o.has_seen(2, who, when));
        assert!(!o.has_seen(0, who, o.now(1)));
        o.warp(0, &[0, 2]);
        assert!(o.has_seen(2, who, when) && !o.has_seen(33, who, when));
        o.barrier(0);
        assert!(o.has_seen(33, who, when) && !o.has_seen(0, who, o.now(1)));
    }

    #[test]
    fn a_fence_and_two_atomic_operations_hand_over() {
        let mut o = order(2);
        let (who, when) = (o.who(0), o.now(0));
        o.atomic(0, 8);
        o.atomic(64, 8);
        assert!(!o.has_seen(64, who, when));
        o.fence(0);
        let late = o.now(0);
        o.atomic(0, 8);
        o.atomic(64, 16);
        assert!(!o.has_seen(64, who, when));
        o.atomic(64, 8);
        assert!(o.has_seen(64, who, when) && !o.has_seen(64, who, late) && !o.has_seen(65, who, when));
        o.barrier(1);
        assert!(o.has_seen(65, who, when));
    }

    #[test]
    fn a_thread_publishes_for_its_block_after_a_barrier() {
        let mut o = order(2);
        let (who, when) = (o.who(5), o.now(5));
        o.fence(5);
        o.barrier(0);
        o.atomic(0, 8);
        o.atomic(64, 8);
        assert!(o.has_seen(64, who, when) && !o.has_seen(64, who, o.now(5)));
    }
}
