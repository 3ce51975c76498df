//! Checks of kernels while they run: `@cuda.jit(debug=True)`, `LANCEHEAD_RACE=1`.
//!
//! Every thread of a checked kernel is a fiber, and all blocks run on the thread that launches. Of each element that is
//! used the checker keeps who wrote it last and two of those who read it or updated it atomically since, each with its
//! [`order::Moment`]. Two uses meet if they are of different threads, one of them writes, they are not both atomic, and
//! the later thread does not know the moment of the earlier. Shared and local memory is known to be written or not.
//! Where threads go on from a barrier, all of them must have come to the same one.

mod order;
mod report;

use super::Context;
use super::team::{Team, WARP};
use crate::race::place::{Sites, Target};
use crate::race::shadow::Shadow;
use lh_ir::diag::Diagnostic;
use lh_ops::runtime::access;
use order::{Moment, Order, Who};
use std::collections::HashSet;

const READ: u16 = 1;
const WRITE: u16 = 2;
const ATOMIC: u16 = 3;

/// A use of an element, or none: who, when, where and how.
#[derive(Clone, Copy, Default)]
struct Use {
    block: u32,
    epoch: u32,
    time: u16,
    site: u16,
    /// The thread, and above its bits the kind.
    thread_and_kind: u16,
}

impl Use {
    fn new(who: Who, when: Moment, site: u32, kind: u16) -> Use {
        let site = u16::try_from(site).unwrap_or(u16::MAX);
        let Moment { epoch, time } = when;
        Use { block: who.block, epoch, time, site, thread_and_kind: who.thread | kind << 12 }
    }
    fn who(&self) -> Who {
        Who { block: self.block, thread: self.thread_and_kind & 0xfff }
    }
    fn when(&self) -> Moment {
        Moment { epoch: self.epoch, time: self.time }
    }
    fn kind(&self) -> u16 {
        self.thread_and_kind >> 12
    }
    fn is_atomic(&self) -> bool {
        self.kind() == ATOMIC
    }
    /// Whether two uses of different threads that are in no order are a fault.
    fn disturbs(&self, other: &Use) -> bool {
        !matches!((self.kind(), other.kind()), (0, _) | (_, 0) | (READ, READ) | (ATOMIC, ATOMIC))
    }
}

#[derive(Clone, Copy, Default)]
struct Element {
    write: Use,
    others: [Use; 2],
    is_written: bool,
}

impl Element {
    /// Notes a use; the one that it meets.
    fn meet(&mut self, order: &Order, i: usize, mine: Use) -> Option<Use> {
        let knows = |u: &Use| order.knows(i, u.who(), u.when());
        let met = [self.write, self.others[0], self.others[1]].into_iter().find(|u| mine.disturbs(u) && !knows(u));
        self.is_written |= mine.kind() != READ;
        if mine.kind() == WRITE {
            (self.write, self.others) = (mine, [Use::default(); 2]);
            return met;
        }
        // Who is known need not be kept: whom it would meet this one would meet too.
        let replaced = |u: &Use| u.kind() == 0 || (knows(u) && (u.who() != mine.who() || u.kind() == mine.kind()));
        match self.others.iter().position(replaced) {
            Some(k) => self.others[k] = mine,
            // Two of one block say less than two of different blocks.
            None if self.others[0].block == self.others[1].block && mine.block != self.others[0].block => {
                self.others[1] = mine;
            }
            None => {}
        }
        met
    }
}

/// Bytes of a thread's own arrays.
#[derive(Clone, Copy, Default)]
struct Own {
    is_array: bool,
    is_written: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Global,
    Shared,
    Local,
}

/// Where a thread is.
#[derive(Clone, Copy, Default)]
struct Fiber {
    /// It waits there.
    wait: Option<u32>,
    /// It has ended there.
    exit: Option<u32>,
}

/// The check of a launch.
pub(crate) struct Check {
    block_dim: [i64; 3],
    grid_dim: [i64; 3],
    threads: usize,
    team: *const Team,
    fibers: Vec<Fiber>,
    order: Order,
    global: Shadow<Element>,
    shared: Shadow<Element>,
    local: Shadow<Own>,
    /// Addresses of shared memory and of stacks.
    shared_at: std::ops::Range<i64>,
    stacks: std::ops::Range<i64>,
    /// With the place that each points at.
    reports: Vec<(u32, Diagnostic)>,
    /// Places of races.
    raced: HashSet<u32>,
    seen: HashSet<(&'static str, Vec<u32>)>,
}

/// What is to be looked at of an access: where in the source, what it is part of, address, bytes and kind.
pub(crate) struct Access<'a> {
    pub(crate) sites: &'a Sites,
    pub(crate) target: &'a Target,
    pub(crate) site: u32,
    pub(crate) at: i64,
    pub(crate) bytes: i64,
    pub(crate) kind: i64,
}

impl Check {
    fn new(grid: [i64; 3], block: [i64; 3]) -> Check {
        Check {
            block_dim: block,
            grid_dim: grid,
            threads: block.iter().product::<i64>() as usize,
            team: std::ptr::null(),
            fibers: Vec::new(),
            order: Order::default(),
            global: Shadow::default(),
            shared: Shadow::default(),
            local: Shadow::default(),
            shared_at: 0..0,
            stacks: 0..0,
            reports: Vec::new(),
            raced: HashSet::new(),
            seen: HashSet::new(),
        }
    }

    /// The fiber that runs.
    fn me(&self) -> usize {
        // SAFETY: the team is alive while one of its fibers runs.
        unsafe { (*self.team).current }
    }

    fn memory(&self, at: i64) -> Memory {
        match () {
            () if self.shared_at.contains(&at) => Memory::Shared,
            () if self.stacks.contains(&at) => Memory::Local,
            () => Memory::Global,
        }
    }

    pub(crate) fn access(&mut self, a: &Access<'_>) {
        let (i, memory) = (self.me(), self.memory(a.at));
        let kind = match a.kind {
            access::READ => READ,
            access::WRITE => WRITE,
            _ => ATOMIC,
        };
        let reads = !matches!(a.kind, access::WRITE | access::EXCHANGE);
        if memory == Memory::Local {
            let unwritten = self.local.find(a.at, a.bytes, |at, own| {
                let is_found = reads && own.is_array && !own.is_written;
                own.is_written |= kind != READ;
                is_found.then_some(at)
            });
            if let Some(at) = unwritten {
                self.report_unwritten(a.sites, memory, &a.target.element(at), i, a.site);
            }
            return;
        }
        if kind == ATOMIC {
            self.order.atomic(i, a.at);
        }
        let mine = Use::new(self.order.who(i), self.order.now(i), a.site, kind);
        let Check { order, shared, global, .. } = self;
        let is_shared = memory == Memory::Shared;
        let mut unwritten = None;
        let met = (if is_shared { shared } else { global }).find(a.at, a.bytes, |at, e| {
            if is_shared && reads && !e.is_written && unwritten.is_none() {
                unwritten = Some(at);
            }
            e.meet(order, i, mine).map(|other| (at, other))
        });
        if let Some((at, other)) = met {
            self.report_race(a.sites, memory, &a.target.element(at), &other, &mine);
        } else if let Some(at) = unwritten {
            self.report_unwritten(a.sites, memory, &a.target.element(at), i, a.site);
        }
    }

    /// Memory is new.
    pub(crate) fn fresh(&mut self, start: i64, bytes: i64) {
        self.global.fresh(start, bytes);
    }

    /// Memory of a thread's own, for an array or for something else.
    pub(crate) fn own(&mut self, start: i64, bytes: i64, is_array: bool) {
        self.local.find(start, bytes, |_, own| -> Option<()> {
            *own = Own { is_array, is_written: false };
            None
        });
    }

    /// Code that is not checked gets the address of some memory, and may write there.
    pub(crate) fn handed(&mut self, (start, bytes): (i64, i64)) {
        match self.memory(start) {
            Memory::Local => self.own(start, bytes, false),
            Memory::Shared => {
                self.shared.find(start, bytes, |_, e| -> Option<()> {
                    e.is_written = true;
                    None
                });
            }
            Memory::Global => {}
        }
    }

    pub(super) fn fence(&mut self) {
        self.order.fence(self.me());
    }

    /// Blocks begin.
    pub(super) fn enter(&mut self, contexts: &[Context], team: *const Team, stacks: std::ops::Range<i64>) {
        let [x, y, _] = self.grid_dim;
        self.team = team;
        self.stacks = stacks;
        let linear = |c: &Context| (c.block[0] + x * (c.block[1] + y * c.block[2])) as u32;
        self.order.enter(contexts.iter().map(linear), self.threads);
        self.fibers = vec![Fiber::default(); self.threads * contexts.len()];
        let (first, last) = (&contexts[0], &contexts[contexts.len() - 1]);
        let end = |c: &Context| c.shared as i64 + c.dynamic_at + c.dynamic_bytes;
        self.shared_at = first.shared as i64..end(last);
        self.shared.clear();
        self.local.clear();
    }

    /// A fiber waits, or does not any more.
    pub(super) fn waits(&mut self, i: usize, at: Option<u32>) {
        self.fibers[i].wait = at;
    }

    /// A fiber has come to its end.
    pub(super) fn exits(&mut self, i: usize, at: u32) {
        self.fibers[i] = Fiber { wait: None, exit: Some(at) };
    }

    /// The threads of a block, or of all, go on from a barrier.
    pub(super) fn released(&mut self, sites: &Sites, block: Option<usize>) {
        let all = 0..self.fibers.len();
        let fibers = block.map_or(all, |b| b * self.threads..(b + 1) * self.threads);
        self.report_barrier(sites, fibers.clone());
        self.fibers[fibers].iter_mut().for_each(|f| f.wait = None);
        match block {
            Some(b) => self.order.barrier(b),
            None => {
                self.order.grid();
                // All that was is known to all.
                let forget = |e: &mut Element| *e = Element { is_written: e.is_written, ..Element::default() };
                self.global.for_each(forget);
                self.shared.for_each(forget);
            }
        }
    }

    /// Nobody gets on any more.
    pub(super) fn deadlock(&mut self, sites: &Sites) {
        self.report_deadlock(sites);
    }

    /// A thread asks its warp for something.
    pub(super) fn asks(&mut self, sites: &Sites, mask: u32) {
        let i = self.me();
        self.waits(i, Some(sites.now));
        if mask >> (i % self.threads % WARP) & 1 == 0 {
            self.report_mask(sites, i, sites.now, mask);
        }
    }

    /// Lanes of a warp have been answered: its first thread, they, whether memory is in order after it, and from which lanes
    /// that are not among them some have read.
    pub(super) fn answered(
        &mut self,
        sites: &Sites,
        first: usize,
        lanes: &[usize],
        syncs: bool,
        missing: &[(usize, usize)],
    ) {
        for (lane, source) in missing {
            self.report_lane(sites, first + lane, *source);
        }
        lanes.iter().for_each(|l| self.waits(first + l, None));
        if syncs {
            self.order.warp(first, lanes);
        }
    }
}

/// Runs a launch with checks: what it gives, and what was found.
pub fn checked<T>(grid: [i64; 3], block: [i64; 3], run: impl FnOnce() -> T) -> (T, Vec<Diagnostic>) {
    crate::race::begin_kernel(Check::new(grid, block));
    let result = run();
    let reports = crate::race::end_kernel().map_or_else(Vec::new, |c| c.reports);
    (result, reports.into_iter().map(|(_, d)| d).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element() -> (Order, Element) {
        let mut order = Order::default();
        order.enter(0..2, 64);
        (order, Element::default())
    }

    fn used(e: &mut Element, order: &Order, i: usize, kind: u16) -> Option<usize> {
        let mine = Use::new(order.who(i), order.now(i), 0, kind);
        e.meet(order, i, mine).map(|u| u.who().block as usize * 64 + u.who().thread as usize)
    }

    #[test]
    fn a_write_meets_one_of_several_readers() {
        let (mut order, mut e) = element();
        assert_eq!(used(&mut e, &order, 0, READ), None);
        assert_eq!(used(&mut e, &order, 1, READ), None);
        assert_eq!(used(&mut e, &order, 2, READ), None);
        assert_eq!(used(&mut e, &order, 0, WRITE), Some(1));
        order.barrier(0);
        assert_eq!(used(&mut e, &order, 5, WRITE), None);
        assert_eq!(used(&mut e, &order, 64, READ), Some(5));
    }

    #[test]
    fn atomic_operations_disturb_plain_ones_only() {
        let (order, mut e) = element();
        assert_eq!(used(&mut e, &order, 0, ATOMIC), None);
        assert_eq!(used(&mut e, &order, 70, ATOMIC), None);
        assert_eq!(used(&mut e, &order, 70, READ), Some(0));
        assert_eq!(used(&mut e, &order, 3, WRITE), Some(0));
    }

    #[test]
    fn readers_of_different_blocks_are_kept() {
        let (mut order, mut e) = element();
        for i in [0, 1, 2, 64] {
            assert_eq!(used(&mut e, &order, i, READ), None);
        }
        order.barrier(0);
        assert_eq!(used(&mut e, &order, 0, WRITE), Some(64));
    }
}
