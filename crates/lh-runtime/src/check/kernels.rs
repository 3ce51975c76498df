//! Conflicts between the threads of kernels.
//!
//! Every thread of a checked kernel is a fiber, and all blocks run on the thread that launches. For each element the
//! check keeps the last write and two of the reads or atomic updates since, each with the thread's logical time
//! ([`happens_before`](super::happens_before)). Two accesses conflict if they are of different threads, at least one
//! writes, they are not both atomic, and the earlier does not happen before the later. For shared and local memory the
//! check keeps whether it has been written. At a barrier it checks that all threads have come to the same one.

use super::findings::{Barrier, Finding, FindingKind, Findings, Group, Lane, Memory, Race, ThreadAt, Verb};
use super::happens_before::{HappensBefore, ThreadId, Time};
use super::shadow::Shadow;
use super::sites::{Sites, Target};
use super::{begin_kernel, end_kernel};
use lh_ops::runtime::access;
use std::ops::Range;

/// Threads of a warp.
pub(crate) const WARP: usize = 32;

const READ: u16 = 1;
const WRITE: u16 = 2;
const ATOMIC: u16 = 3;

/// An access of an element, or none: thread, time, place and kind.
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
    fn new(who: ThreadId, when: Time, site: u32, kind: u16) -> Use {
        let site = u16::try_from(site).unwrap_or(u16::MAX);
        let Time { epoch, time } = when;
        Use { block: who.block, epoch, time, site, thread_and_kind: who.thread | kind << 12 }
    }
    fn who(&self) -> ThreadId {
        ThreadId { block: self.block, thread: self.thread_and_kind & 0xfff }
    }
    fn when(&self) -> Time {
        Time { epoch: self.epoch, time: self.time }
    }
    fn kind(&self) -> u16 {
        self.thread_and_kind >> 12
    }
    /// Whether two unordered accesses of different threads conflict.
    fn conflicts(&self, other: &Use) -> bool {
        !matches!((self.kind(), other.kind()), (0, _) | (_, 0) | (READ, READ) | (ATOMIC, ATOMIC))
    }
    fn verb(&self) -> Verb {
        match self.kind() {
            ATOMIC => Verb::Updates,
            WRITE => Verb::Writes,
            _ => Verb::Reads,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Element {
    write: Use,
    others: [Use; 2],
    is_written: bool,
}

impl Element {
    /// Notes an access of fiber `i`; the earlier one that it conflicts with.
    fn access(&mut self, order: &HappensBefore, i: usize, mine: Use) -> Option<Use> {
        let is_before = |u: &Use| order.has_seen(i, u.who(), u.when());
        let earlier = [self.write, self.others[0], self.others[1]];
        let conflict = earlier.into_iter().find(|u| mine.conflicts(u) && !is_before(u));
        self.is_written |= mine.kind() != READ;
        if mine.kind() == WRITE {
            (self.write, self.others) = (mine, [Use::default(); 2]);
            return conflict;
        }
        // An access that happens before this one need not be kept: this one conflicts with every later access that the
        // other would conflict with.
        let replaced = |u: &Use| u.kind() == 0 || (is_before(u) && (u.who() != mine.who() || u.kind() == mine.kind()));
        match self.others.iter().position(replaced) {
            Some(k) => self.others[k] = mine,
            // Accesses of two blocks find more conflicts than two of one block.
            None if self.others[0].block == self.others[1].block && mine.block != self.others[0].block => {
                self.others[1] = mine;
            }
            None => {}
        }
        conflict
    }
}

/// Bytes of a thread's own memory.
#[derive(Clone, Copy, Default)]
struct Local {
    is_array: bool,
    is_written: bool,
}

/// The state of a fiber, with its place in the source.
#[derive(Clone, Copy)]
enum Fiber {
    Runs,
    Waits(u32),
    Ended(u32),
}

/// The check of a launch.
pub(crate) struct KernelCheck {
    block_dim: [i64; 3],
    grid_dim: [i64; 3],
    threads: usize,
    /// The number of the fiber that runs.
    current: *const usize,
    fibers: Vec<Fiber>,
    order: HappensBefore,
    global: Shadow<Element>,
    shared: Shadow<Element>,
    local: Shadow<Local>,
    /// Addresses of shared memory and of stacks.
    shared_at: Range<i64>,
    stacks: Range<i64>,
    findings: Findings,
}

/// An access to check: place in the source, the array that it is to, address, bytes and kind.
pub(crate) struct Access<'a> {
    pub(crate) sites: &'a Sites,
    pub(crate) target: &'a Target,
    pub(crate) site: u32,
    pub(crate) at: i64,
    pub(crate) bytes: i64,
    pub(crate) kind: i64,
}

/// Blocks that run together: their linear indices, shared memory and the stacks of their threads.
pub(crate) struct Blocks {
    pub(crate) numbers: Vec<u32>,
    pub(crate) shared: Range<i64>,
    pub(crate) stacks: Range<i64>,
    /// The number of the fiber that runs, as long as the blocks run.
    pub(crate) current: *const usize,
}

impl KernelCheck {
    fn new(grid: [i64; 3], block: [i64; 3]) -> KernelCheck {
        KernelCheck {
            block_dim: block,
            grid_dim: grid,
            threads: block.iter().product::<i64>() as usize,
            current: std::ptr::null(),
            fibers: Vec::new(),
            order: HappensBefore::default(),
            global: Shadow::default(),
            shared: Shadow::default(),
            local: Shadow::default(),
            shared_at: 0..0,
            stacks: 0..0,
            findings: Findings::default(),
        }
    }

    /// The fiber that runs.
    fn me(&self) -> usize {
        // SAFETY: the number is alive while a fiber runs.
        unsafe { *self.current }
    }

    fn memory(&self, at: i64) -> Memory {
        match () {
            () if self.shared_at.contains(&at) => Memory::Shared,
            () if self.stacks.contains(&at) => Memory::Local,
            () => Memory::Global,
        }
    }

    /// The indices of a fiber's block and thread.
    fn indices(&self, who: ThreadId) -> ThreadAt {
        let index = |at: i64, [x, y, _]: [i64; 3]| [at % x, at / x % y, at / (x * y)];
        ThreadAt {
            block: index(i64::from(who.block), self.grid_dim),
            thread: index(i64::from(who.thread), self.block_dim),
        }
    }

    fn report(&mut self, kind: FindingKind) {
        self.findings.add(Finding { kind, block_dim: self.block_dim });
    }

    pub(super) fn access(&mut self, a: &Access<'_>) {
        let (i, memory) = (self.me(), self.memory(a.at));
        let kind = match a.kind {
            access::READ => READ,
            access::WRITE => WRITE,
            _ => ATOMIC,
        };
        let reads = !matches!(a.kind, access::WRITE | access::EXCHANGE);
        if memory == Memory::Local {
            let unwritten = self.local.find(a.at, a.bytes, |at, local| {
                let is_found = reads && local.is_array && !local.is_written;
                local.is_written |= kind != READ;
                is_found.then_some(at)
            });
            if let Some(at) = unwritten {
                self.report_unwritten(a, memory, at, i);
            }
            return;
        }
        if kind == ATOMIC {
            self.order.atomic(i, a.at);
        }
        let mine = Use::new(self.order.who(i), self.order.now(i), a.site, kind);
        let KernelCheck { order, shared, global, .. } = self;
        let is_shared = memory == Memory::Shared;
        let mut unwritten = None;
        let conflict = (if is_shared { shared } else { global }).find(a.at, a.bytes, |at, e| {
            if is_shared && reads && !e.is_written && unwritten.is_none() {
                unwritten = Some(at);
            }
            e.access(order, i, mine).map(|other| (at, other))
        });
        if let Some((at, other)) = conflict {
            self.report_race(a, memory, at, &other, &mine);
        } else if let Some(at) = unwritten {
            self.report_unwritten(a, memory, at, i);
        }
    }

    fn report_unwritten(&mut self, a: &Access<'_>, memory: Memory, at: i64, i: usize) {
        let (reader, element) = (self.indices(self.order.who(i)), a.target.element(at));
        self.report(FindingKind::Unwritten { memory, element, reader, site: a.sites.get(a.site) });
    }

    fn report_race(&mut self, a: &Access<'_>, memory: Memory, at: i64, first: &Use, second: &Use) {
        let part = |u: &Use| (self.indices(u.who()), u.verb(), a.sites.get(u32::from(u.site)));
        let warp = |u: &Use| u.who().thread as usize / WARP;
        let race = Race {
            memory,
            element: a.target.element(at),
            first: part(first),
            second: part(second),
            is_one_warp: warp(first) == warp(second),
        };
        self.report(FindingKind::Race(race));
    }

    /// Forgets the accesses to memory that has been allocated anew.
    pub(super) fn forget(&mut self, start: i64, bytes: i64) {
        self.global.forget(start, bytes);
    }

    /// Memory of a thread's own, for an array or for something else.
    pub(super) fn local(&mut self, start: i64, bytes: i64, is_array: bool) {
        self.local.find(start, bytes, |_, local| -> Option<()> {
            *local = Local { is_array, is_written: false };
            None
        });
    }

    /// The address of some memory escapes to code that is not checked, and that may write there.
    pub(super) fn escapes(&mut self, (start, bytes): (i64, i64)) {
        match self.memory(start) {
            Memory::Local => self.local(start, bytes, false),
            Memory::Shared => {
                self.shared.find(start, bytes, |_, e| -> Option<()> {
                    e.is_written = true;
                    None
                });
            }
            Memory::Global => {}
        }
    }

    pub(crate) fn fence(&mut self) {
        self.order.fence(self.me());
    }

    /// Blocks begin.
    pub(crate) fn enter(&mut self, blocks: Blocks) {
        self.fibers = vec![Fiber::Runs; self.threads * blocks.numbers.len()];
        self.order.enter(&blocks.numbers, self.threads);
        (self.current, self.shared_at, self.stacks) = (blocks.current, blocks.shared, blocks.stacks);
        self.shared.clear();
        self.local.clear();
    }

    /// A fiber waits at a place.
    pub(crate) fn waits(&mut self, i: usize, site: u32) {
        self.fibers[i] = Fiber::Waits(site);
    }

    /// A fiber has come to its end.
    pub(crate) fn exits(&mut self, i: usize, site: u32) {
        self.fibers[i] = Fiber::Ended(site);
    }

    /// The threads of a block, or of all, leave a barrier.
    pub(crate) fn released(&mut self, sites: &Sites, block: Option<usize>) {
        let all = 0..self.fibers.len();
        let fibers = block.map_or(all, |b| b * self.threads..(b + 1) * self.threads);
        self.check_barrier(sites, fibers.clone());
        for fiber in &mut self.fibers[fibers] {
            if let Fiber::Waits(_) = fiber {
                *fiber = Fiber::Runs;
            }
        }
        match block {
            Some(b) => self.order.barrier(b),
            None => {
                self.order.grid();
                // Every access so far happens before every later one.
                let forget = |e: &mut Element| *e = Element { is_written: e.is_written, ..Element::default() };
                self.global.for_each(forget);
                self.shared.for_each(forget);
            }
        }
    }

    /// Reports a barrier that not all threads of a block have come to.
    fn check_barrier(&mut self, sites: &Sites, fibers: Range<usize>) {
        let waiting =
            self.groups(sites, fibers.clone(), |f| if let Fiber::Waits(site) = f { Some(site) } else { None });
        let ended = self.groups(sites, fibers.clone(), |f| if let Fiber::Ended(site) = f { Some(site) } else { None });
        if waiting.len() > 1 || !ended.is_empty() {
            let block = self.indices(self.order.who(fibers.start)).block;
            self.report(FindingKind::Barrier(Barrier { block, waiting, ended }));
        }
    }

    /// The threads in a state, by their places.
    fn groups(&self, sites: &Sites, fibers: Range<usize>, state: fn(Fiber) -> Option<u32>) -> Vec<Group> {
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        for i in fibers {
            let Some(site) = state(self.fibers[i]) else { continue };
            match groups.iter_mut().find(|(s, _)| *s == site) {
                Some((_, of)) => of.push(i),
                None => groups.push((site, vec![i])),
            }
        }
        groups.into_iter().map(|(site, threads)| Group { site: sites.get(site), threads }).collect()
    }

    /// No thread can go on.
    pub(crate) fn deadlock(&mut self, sites: &Sites) {
        let waiting = self.groups(sites, 0..self.fibers.len(), |f| match f {
            Fiber::Waits(site) | Fiber::Ended(site) => Some(site),
            Fiber::Runs => None,
        });
        self.report(FindingKind::Deadlock { waiting });
    }

    /// A thread comes to an operation of its warp, which is for the lanes of `mask`.
    pub(crate) fn comes_to_warp(&mut self, sites: &Sites, mask: u32) {
        let i = self.me();
        self.waits(i, sites.now);
        let lane = self.lane(i);
        if mask >> lane & 1 == 0 {
            let at = Lane { thread: self.indices(self.order.who(i)), lane, site: sites.get(sites.now) };
            self.report(FindingKind::NotInMask { at, mask });
        }
    }

    fn lane(&self, i: usize) -> usize {
        i % self.threads % WARP
    }

    /// Lanes of the warp that begins with fiber `first` leave an operation of it; `syncs` if it orders memory. Each of
    /// `missing` is a lane and the lane that it has read from, which does not take part.
    pub(crate) fn leaves_warp(
        &mut self,
        sites: &Sites,
        first: usize,
        lanes: &[usize],
        syncs: bool,
        missing: &[(usize, usize)],
    ) {
        for (lane, source) in missing {
            let i = first + lane;
            let site = if let Fiber::Waits(site) = self.fibers[i] { site } else { 0 };
            let at = Lane { thread: self.indices(self.order.who(i)), lane: self.lane(i), site: sites.get(site) };
            self.report(FindingKind::MissingLane { at, source: *source });
        }
        lanes.iter().for_each(|l| self.fibers[first + l] = Fiber::Runs);
        if syncs {
            self.order.warp(first, lanes);
        }
    }
}

/// Runs a launch with checks: its result, and the findings.
pub fn checked<T>(grid: [i64; 3], block: [i64; 3], run: impl FnOnce() -> T) -> (T, Vec<Finding>) {
    begin_kernel(KernelCheck::new(grid, block));
    let result = run();
    (result, end_kernel().map_or_else(Vec::new, |c| c.findings.into_list()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element() -> (HappensBefore, Element) {
        let mut order = HappensBefore::default();
        order.enter(&[0, 1], 64);
        (order, Element::default())
    }

    fn used(e: &mut Element, order: &HappensBefore, i: usize, kind: u16) -> Option<usize> {
        let mine = Use::new(order.who(i), order.now(i), 0, kind);
        e.access(order, i, mine).map(|u| u.who().block as usize * 64 + u.who().thread as usize)
    }

    #[test]
    fn a_write_conflicts_with_one_of_several_readers() {
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
    fn atomic_operations_conflict_with_plain_ones_only() {
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
