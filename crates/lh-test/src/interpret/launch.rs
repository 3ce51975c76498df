//! Launches of kernels: threads that take turns, and wait for each other at barriers.

use super::grid::{Context, Place, Position, Request, Wait};
use super::state::{End, Flow, Machine, Thread};
use super::word::{Words, int};
use super::{Stop, warp};
use lh_ir::func::{Gangs, Inst, waits};
use lh_ir::runtime::{Barrier, Combine, Geometry, Launch as Ask, Memory, Role, Warp};
use lh_ir::{Function, bug};

/// How a function is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By each thread, which asks where it is.
    Asking,
    /// By each thread or gang, which is told where it is.
    Told(Gangs),
    /// For ranges of blocks.
    Blocks,
}

impl How {
    /// That of a function, given how many parameters are its own.
    pub fn of(func: &Function, params: usize) -> How {
        match func.params().len() - params {
            0 => How::Asking,
            1 => How::Blocks,
            _ => How::Told(func.kernel.gangs),
        }
    }
}

impl<'a> Machine<'a> {
    /// Launches a function; how its threads have ended, with where they are.
    pub fn launch(&mut self, func: &'a Function, args: &[Words], how: How) -> Result<Vec<(Position, End)>, Stop> {
        match how {
            How::Blocks => self.launch_blocks(func, args),
            How::Asking => self.launch_threads(func, args, Gangs::None, false),
            How::Told(gangs) => self.launch_threads(func, args, gangs, true),
        }
    }

    fn context(&mut self, linear: usize) -> u64 {
        let address = self.memory.make(0);
        let block = self.launch.block_of(linear);
        let context = Context { block, first: 0, last: 0, scratch: 0, capacity: 0 };
        self.launch.contexts.insert(address, context);
        address
    }

    /// Calls for ranges of blocks: for all at once, or for one after the other.
    fn launch_blocks(&mut self, func: &'a Function, args: &[Words]) -> Result<Vec<(Position, End)>, Stop> {
        let blocks = self.launch.blocks() as i64;
        let together = if func.kernel.waits & waits::GRID != 0 { blocks } else { 1 };
        let enters = |i: &Inst| matches!(i, Inst::Runtime(f, _) if f.role == Role::Launch(Ask::EnterBlock));
        let is_whole = func.blocks.iter().flat_map(|b| &b.insts).any(|d| enters(&d.inst));
        let ranges: Vec<(i64, i64)> = if together == 1 && (self.settings.backwards || !is_whole) {
            (0..blocks).rev().map(|b| (b, b + 1)).collect()
        } else {
            vec![(0, blocks)]
        };
        let capacity = ((func.kernel.gangs.count(self.launch.block) * together) as usize).next_multiple_of(64);
        let mut ends = Vec::new();
        for (first, last) in ranges {
            let address = self.context(first as usize);
            let scratch = self.memory.make(func.kernel.scratch * capacity);
            let cx = self.launch.contexts.get_mut(&address).unwrap_or_else(|| bug!("just made"));
            (cx.first, cx.last, cx.scratch, cx.capacity) = (first, last, scratch, capacity as i64);
            let all = std::iter::once(int(address as i64)).chain(args.iter().cloned()).collect();
            let place = Place { context: address, ..Place::default() };
            let end = self.run(func, all, place)?;
            ends.push((self.launch.failed.unwrap_or_default(), end));
        }
        Ok(ends)
    }

    fn launch_threads(
        &mut self,
        func: &'a Function,
        args: &[Words],
        gangs: Gangs,
        told: bool,
    ) -> Result<Vec<(Position, End)>, Stop> {
        let units = gangs.count(self.launch.block) as usize;
        let mut threads = Vec::new();
        for block in 0..self.launch.blocks() {
            let context = self.context(block);
            for linear in 0..units {
                let index = self.launch.index_of(gangs, linear as i64);
                let mut all = Vec::new();
                if told {
                    all.extend([int(context as i64), int(index[0]), int(index[1]), int(index[2])]);
                }
                all.extend(args.iter().cloned());
                threads.push(Thread::new(func, all, Place { block, index, linear, context }));
            }
        }
        self.take_turns(&mut threads, units)?;
        let ended = threads.into_iter().map(|t| {
            let at = (self.launch.block_of(t.place.block), t.place.index);
            (at, t.end.unwrap_or_else(|| bug!("all threads have ended")))
        });
        Ok(ended.collect())
    }

    /// Runs threads in turn until all have ended.
    fn take_turns(&mut self, threads: &mut [Thread<'a>], units: usize) -> Result<(), Stop> {
        let mut order: Vec<usize> = (0..threads.len()).collect();
        if self.settings.backwards {
            order.reverse();
        }
        loop {
            let mut is_idle = true;
            for i in &order {
                let t = &mut threads[*i];
                if t.end.is_none() && t.waits.is_none() {
                    is_idle = false;
                    std::mem::swap(&mut self.announced, &mut t.announced);
                    self.advance(t, self.settings.turn)?;
                    std::mem::swap(&mut self.announced, &mut t.announced);
                }
            }
            let has_failed = threads.iter().any(|t| matches!(t.end, Some(End::Raised(_))));
            for t in threads.iter_mut().filter(|t| has_failed && t.end.is_none() && t.waits.is_some()) {
                // It gets an exception of its own, which is not that of the launch.
                (t.end, t.waits, is_idle) = (Some(End::Returned(Words::new())), None, false);
            }
            if threads.iter().all(|t| t.end.is_some()) {
                return Ok(());
            }
            let released = threads.chunks_mut(units).fold(false, |any, block| release_block(block) | any);
            let released = threads.chunks_mut(units).fold(released, |any, block| warp::release(block) | any);
            if !(release_grid(threads) | released) && is_idle {
                return Err(Stop::undefined("threads wait for each other for ever"));
            }
        }
    }

    /// Functions by which threads ask for their place, and wait for others.
    pub(super) fn device_runtime(
        &mut self,
        t: &mut Thread<'a>,
        role: Role,
        args: &Words,
    ) -> Option<Result<Flow<'a>, Stop>> {
        let number = |i: usize| args[i].map_or(0, |n| n as i64);
        let context = args.first().copied().flatten().and_then(|a| self.launch.contexts.get_mut(&a));
        let made = match role {
            Role::Launch(Ask::Context) => int(t.place.context as i64),
            Role::Geometry(Geometry::Thread, axis) => int(t.place.index[axis as usize]),
            Role::Geometry(Geometry::Block, axis) => int(context?.block[axis as usize]),
            Role::Geometry(Geometry::BlockDim, axis) => int(self.launch.block[axis as usize]),
            Role::Geometry(Geometry::GridDim, axis) => int(self.launch.grid[axis as usize]),
            Role::Launch(Ask::First) => int(context?.first),
            Role::Launch(Ask::Last) => int(context?.last),
            Role::Launch(Ask::Scratch) => int(context?.scratch as i64),
            Role::Launch(Ask::Capacity) => int(context?.capacity),
            Role::Launch(Ask::EnterBlock) => {
                context?.block = [number(2), number(3), number(4)];
                Words::new()
            }
            Role::Launch(Ask::Failed) => {
                let at = (context?.block, [number(1), number(2), number(3)]);
                self.launch.failed.get_or_insert(at);
                Words::new()
            }
            Role::Memory(of @ (Memory::Shared | Memory::Dynamic)) => {
                let (key, size) = match of {
                    Memory::Shared => (number(1), number(2)),
                    _ => (i64::MIN, self.launch.dynamic),
                };
                let key = (context?.block, key);
                int(*self.launch.shared.entry(key).or_insert_with(|| self.memory.make(size as usize)) as i64)
            }
            Role::Memory(Memory::DynamicBytes) => int(self.launch.dynamic),
            Role::Memory(Memory::Local) => {
                let frame = t.frames.last_mut()?;
                let here = frame.here();
                int(*frame.local.entry(here).or_insert_with(|| self.memory.make(number(0).max(1) as usize)) as i64)
            }
            Role::Memory(Memory::Fence) => Words::new(),
            Role::Warp(Warp::Pause) => return Some(Ok(Flow::Turn(Words::new()))),
            Role::Warp(Warp::ActiveMask) => {
                return Some(Err(Stop::Unmodelled("which lanes of a warp are active".into())));
            }
            Role::Barrier(Barrier::Block(how)) => {
                return Some(Ok(Flow::Wait(Wait::Block(how, args.get(1).copied().flatten().map_or(0, |n| n as i64)))));
            }
            Role::Barrier(Barrier::Grid) => return Some(Ok(Flow::Wait(Wait::Grid))),
            Role::Warp(Warp::Exchange) => return Some(Ok(Flow::Wait(Wait::Warp(Request::new(t.place.linear, args))))),
            _ => return None,
        };
        Some(Ok(Flow::Next(made)))
    }
}

/// Threads of a block go on if all that have not ended have come to its barrier.
fn release_block(block: &mut [Thread<'_>]) -> bool {
    let mut values = Vec::new();
    for t in block.iter().filter(|t| t.end.is_none()) {
        let Some(Wait::Block(_, value)) = t.waits else { return false };
        values.push(value);
    }
    let true_ones = values.iter().filter(|v| **v != 0).count() as i64;
    for t in block.iter_mut().filter(|t| t.end.is_none()) {
        let Some(Wait::Block(how, _)) = t.waits.take() else { continue };
        t.answer = Some(match how {
            // A gang gives the number of its threads that say yes.
            Combine::Count => int(values.iter().sum()),
            Combine::All => int(i64::from(true_ones == values.len() as i64)),
            Combine::Any => int(i64::from(true_ones > 0)),
            Combine::Nothing => Words::new(),
        });
    }
    !values.is_empty()
}

/// The same of the grid.
fn release_grid(threads: &mut [Thread<'_>]) -> bool {
    if !threads.iter().all(|t| t.end.is_some() || matches!(t.waits, Some(Wait::Grid))) {
        return false;
    }
    let mut any = false;
    for t in threads.iter_mut().filter(|t| t.waits.is_some()) {
        (t.waits, t.answer, any) = (None, Some(Words::new()), true);
    }
    any
}
