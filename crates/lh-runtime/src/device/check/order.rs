//! What a thread of a kernel knows to have happened: its own past; that of its block up to the last barrier; that of its
//! warp up to the last `syncwarp`; and what others have published, by a fence and then an atomic operation, where it has
//! come to by an atomic operation of its own.

use crate::device::team::WARP;
use std::collections::HashMap;
use std::rc::Rc;

/// A moment of a thread: blocks count barriers, threads what else puts them in order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Moment {
    pub(super) epoch: u32,
    pub(super) time: u16,
}

/// A thread of the grid.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub(super) struct Who {
    pub(super) block: u32,
    pub(super) thread: u16,
}

/// What is known of others: everything before a moment.
#[derive(Clone, Default)]
struct Known {
    blocks: HashMap<u32, u32>,
    threads: HashMap<Who, Moment>,
}

impl Known {
    fn covers(&self, who: Who, when: Moment) -> bool {
        self.blocks.get(&who.block).is_some_and(|e| when.epoch < *e)
            || self.threads.get(&who).is_some_and(|m| when < *m)
    }

    fn block(&mut self, block: u32, epoch: u32) {
        let known = self.blocks.entry(block).or_default();
        *known = epoch.max(*known);
    }

    fn thread(&mut self, who: Who, before: Moment) {
        let known = self.threads.entry(who).or_default();
        *known = before.max(*known);
    }

    fn join(&mut self, other: &Known) {
        other.blocks.iter().for_each(|(b, e)| self.block(*b, *e));
        other.threads.iter().for_each(|(t, m)| self.thread(*t, *m));
    }
}

fn join(into: &mut Option<Rc<Known>>, other: &Rc<Known>) {
    match into {
        Some(known) if Rc::ptr_eq(known, other) => {}
        Some(known) => Rc::make_mut(known).join(other),
        None => *into = Some(other.clone()),
    }
}

struct BlockState {
    number: u32,
    epoch: u32,
    /// When one of its threads has passed a fence last.
    fenced: Option<u32>,
    known: Option<Rc<Known>>,
}

#[derive(Clone, Default)]
struct ThreadState {
    time: u16,
    /// Times of the threads of its warp since the last barrier that it knows all before.
    warp: [u16; WARP],
    fence: Option<Moment>,
    known: Option<Rc<Known>>,
}

/// The order among threads of the blocks that run.
#[derive(Default)]
pub(super) struct Order {
    threads: usize,
    blocks: Vec<BlockState>,
    states: Vec<ThreadState>,
    /// What atomic operations have published, by address.
    published: HashMap<i64, Rc<Known>>,
}

impl Order {
    /// These blocks run now, of so many threads each.
    pub(super) fn enter(&mut self, numbers: impl Iterator<Item = u32>, threads: usize) {
        self.threads = threads;
        self.blocks = numbers.map(|number| BlockState { number, epoch: 0, fenced: None, known: None }).collect();
        self.states = vec![ThreadState::default(); threads * self.blocks.len()];
    }

    pub(super) fn who(&self, i: usize) -> Who {
        Who { block: self.blocks[i / self.threads].number, thread: (i % self.threads) as u16 }
    }

    pub(super) fn now(&self, i: usize) -> Moment {
        Moment { epoch: self.blocks[i / self.threads].epoch, time: self.states[i].time }
    }

    /// Whether a running thread knows a moment of another.
    pub(super) fn knows(&self, i: usize, who: Who, when: Moment) -> bool {
        let (me, now) = (self.who(i), self.now(i));
        if who.block == me.block {
            let (lane, warp) = (who.thread as usize % WARP, who.thread as usize / WARP);
            let is_near = warp == me.thread as usize / WARP && self.states[i].warp[lane] > when.time;
            if who.thread == me.thread || when.epoch < now.epoch || is_near {
                return true;
            }
        }
        [&self.states[i].known, &self.blocks[i / self.threads].known].into_iter().flatten().any(|k| k.covers(who, when))
    }

    /// All threads of a block have met.
    pub(super) fn barrier(&mut self, block: usize) {
        let b = &mut self.blocks[block];
        b.epoch += 1;
        for s in &mut self.states[block * self.threads..(block + 1) * self.threads] {
            if let Some(known) = s.known.take() {
                join(&mut b.known, &known);
            }
            (s.time, s.warp) = (0, [0; WARP]);
        }
    }

    /// All threads of the grid have met.
    pub(super) fn grid(&mut self) {
        (0..self.blocks.len()).for_each(|b| self.barrier(b));
    }

    /// Lanes of a warp have met; its first thread and they.
    pub(super) fn warp(&mut self, first: usize, lanes: &[usize]) {
        let (mut times, mut known) = ([0; WARP], None);
        for l in lanes {
            let s = &self.states[first + l];
            times.iter_mut().zip(s.warp).for_each(|(t, other)| *t = other.max(*t));
            if let Some(k) = &s.known {
                join(&mut known, k);
            }
        }
        lanes.iter().for_each(|l| times[*l] = self.states[first + l].time.saturating_add(1));
        for l in lanes {
            let s = &mut self.states[first + l];
            (s.warp, s.time) = (times, s.time.saturating_add(1));
            s.known.clone_from(&known);
        }
    }

    /// What a thread knows can be published from now on.
    pub(super) fn fence(&mut self, i: usize) {
        let block = &mut self.blocks[i / self.threads];
        let s = &mut self.states[i];
        s.time = s.time.saturating_add(1);
        s.fence = Some(Moment { epoch: block.epoch, time: s.time });
        block.fenced = Some(block.epoch);
    }

    /// A thread comes to an address by an atomic operation: it publishes what it may, and learns what others have.
    pub(super) fn atomic(&mut self, i: usize, at: i64) {
        let (me, now) = (self.who(i), self.now(i));
        let (block, s) = (&self.blocks[i / self.threads], &self.states[i]);
        if let Some(fenced) = block.fenced {
            let own = s.fence.filter(|f| f.epoch == now.epoch);
            let mut made = Known::default();
            made.block(me.block, if own.is_some() { now.epoch } else { now.epoch.min(fenced + 1) });
            if let Some(fence) = own {
                made.thread(me, fence);
                let first = me.thread as usize / WARP * WARP;
                for (l, time) in s.warp.iter().enumerate().filter(|(_, t)| **t > 0) {
                    let who = Who { block: me.block, thread: (first + l) as u16 };
                    made.thread(who, Moment { epoch: now.epoch, time: *time });
                }
            }
            [&s.known, &block.known].into_iter().flatten().for_each(|k| made.join(k));
            Rc::make_mut(self.published.entry(at).or_default()).join(&made);
        }
        if let Some(known) = self.published.get(&at) {
            join(&mut self.states[i].known, known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(blocks: u32) -> Order {
        let mut o = Order::default();
        o.enter(0..blocks, 64);
        o
    }

    #[test]
    fn barriers_put_the_block_in_order() {
        let mut o = order(2);
        let (who, when) = (o.who(3), o.now(3));
        assert!(o.knows(3, who, when) && !o.knows(4, who, when) && !o.knows(64, who, when));
        o.barrier(0);
        assert!(o.knows(4, who, when) && !o.knows(64, who, when));
    }

    #[test]
    fn lanes_that_met_know_each_other_s_past() {
        let mut o = order(1);
        let (who, when) = (o.who(1), o.now(1));
        o.warp(0, &[0, 1]);
        assert!(o.knows(0, who, when) && !o.knows(2, who, when));
        assert!(!o.knows(0, who, o.now(1)));
        o.warp(0, &[0, 2]);
        assert!(o.knows(2, who, when) && !o.knows(33, who, when));
        o.barrier(0);
        assert!(o.knows(33, who, when) && !o.knows(0, who, o.now(1)));
    }

    #[test]
    fn a_fence_and_two_atomic_operations_hand_over() {
        let mut o = order(2);
        let (who, when) = (o.who(0), o.now(0));
        o.atomic(0, 8);
        o.atomic(64, 8);
        assert!(!o.knows(64, who, when));
        o.fence(0);
        let late = o.now(0);
        o.atomic(0, 8);
        o.atomic(64, 16);
        assert!(!o.knows(64, who, when));
        o.atomic(64, 8);
        assert!(o.knows(64, who, when) && !o.knows(64, who, late) && !o.knows(65, who, when));
        o.barrier(1);
        assert!(o.knows(65, who, when));
    }

    #[test]
    fn a_thread_publishes_for_its_block_after_a_barrier() {
        let mut o = order(2);
        let (who, when) = (o.who(5), o.now(5));
        o.fence(5);
        o.barrier(0);
        o.atomic(0, 8);
        o.atomic(64, 8);
        assert!(o.knows(64, who, when) && !o.knows(64, who, o.now(5)));
    }
}
