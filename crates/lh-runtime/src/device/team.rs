//! Teams: the threads of blocks (or gangs of threads) that wait for each other, as fibers that take turns on one thread
//! of the computer. A fiber that waits tests its condition again when its turn comes; if no fiber has made progress for
//! a whole round, the kernel is in a deadlock, which is an error. Where fibers wait in loops of the program, only time
//! tells: other blocks get their turn, on which they may wait.

use super::stacks::Stacks;
use super::warp::Request;
use super::{Context, Kernel, fiber};
use crate::check::kernels::{Blocks, WARP};
use crate::classes::RUNTIME_ERROR;
use crate::exception::{Pending, raise, set_pending, take_pending};
use crate::stack::enter_fibers;
use crate::symbol::{Symbol, functions};
use crate::{check, interrupt, poll};
use lh_ir::func::{GANG, Gangs};
use smallvec::SmallVec;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Longer than a round of a loop in which a fiber waits, with the switch to it.
const ROUND: Duration = Duration::from_micros(20);
/// For so long fibers do nothing but wait in loops before other blocks get their turn.
pub const QUIET: Duration = Duration::from_micros(200);

/// A thread of a kernel.
pub(super) struct Fiber {
    stack: *mut u8,
    pub(super) done: bool,
    /// Its part in an operation of its warp, and the result.
    pub(super) request: Option<Request>,
    pub(super) answer: Option<[u64; 2]>,
}

/// The state of a barrier of a block, or of the grid.
#[derive(Default, Clone, Copy)]
struct Barrier {
    alive: usize,
    arrived: usize,
    generation: u64,
    /// Sum of the arguments so far, and of the barrier before.
    sum: i64,
    total: i64,
    /// Threads that have come to the barrier before.
    count: i64,
}

/// The threads of blocks that run together.
pub struct Team {
    pub(super) fibers: Vec<Fiber>,
    pub(super) current: usize,
    blocks: Vec<Barrier>,
    grid: Barrier,
    contexts: *mut Context,
    threads: usize,
    kernel: Kernel,
    /// The unit that a fiber runs.
    gangs: Gangs,
    args: *const [u64],
    main: *mut u8,
    alive: usize,
    /// Turns since a fiber last made progress.
    idle: usize,
    /// Counts threads that have ended and barriers that have opened.
    progress: u64,
    /// When a fiber last came to wait in a loop.
    paused: Instant,
    /// For how long fibers have done nothing else since one last made progress.
    quiet: Duration,
    /// Whether a fiber has slept that may have done something since it last did.
    has_slept: bool,
    failure: Option<Pending>,
    /// Number of requests to stop that had been served when the team began.
    served: u64,
}

/// Blocks whose threads run together.
pub struct Run {
    team: Box<Team>,
    stacks: Stacks,
}

impl Run {
    /// Every thread of some blocks. With several blocks their threads run together and may wait for the grid. `None`
    /// if there is no memory for their stacks, with the exception set.
    ///
    /// # Safety
    /// The kernel takes these arguments after its context and its thread's index; the contexts are blocks of one
    /// launch, with memory of their own. Both live until the run has ended.
    pub unsafe fn new(
        contexts: &mut [Context],
        kernel: Kernel,
        gangs: Gangs,
        args: &[u64],
        stack: usize,
    ) -> Option<Run> {
        let threads = gangs.count(contexts[0].block_dim) as usize;
        let count = threads * contexts.len();
        let Some(stacks) = Stacks::take(count, stack) else {
            raise(crate::classes::MEMORY_ERROR, "no memory for the stacks of the kernel's threads");
            return None;
        };
        let full = Barrier { alive: threads, ..Barrier::default() };
        let mut team = Box::new(Team {
            fibers: Vec::with_capacity(count),
            current: 0,
            blocks: vec![full; contexts.len()],
            grid: Barrier { alive: count, ..full },
            contexts: contexts.as_mut_ptr(),
            threads,
            kernel,
            gangs,
            args,
            main: std::ptr::null_mut(),
            alive: count,
            idle: 0,
            progress: 0,
            paused: Instant::now(),
            quiet: Duration::ZERO,
            has_slept: false,
            failure: None,
            served: interrupt::served(),
        });
        let at = &raw mut *team;
        for i in 0..count {
            // SAFETY: each fiber has a stack of its own, which lives until all are done.
            let stack = unsafe { fiber::prepare(stacks.top(i), thread_main, at.cast()) };
            team.fibers.push(Fiber { stack, done: false, request: None, answer: None });
        }
        contexts.iter_mut().for_each(|c| c.team = at);
        check::with_kernel(|k, _| k.enter(checked_blocks(contexts, at, stacks.range())));
        Some(Run { team, stacks })
    }

    /// Lets the threads go on until all are done, or they do nothing but wait in loops for a while; whether all are
    /// done.
    pub fn resume(&mut self) -> bool {
        let before = enter_fibers(self.stacks.fibers());
        let at = &raw mut *self.team;
        // SAFETY: the team outlives the fibers, which run only until the switch comes back; nothing else refers to it
        // meanwhile.
        unsafe {
            let first = (&(*at).fibers)[(*at).current].stack;
            fiber::switch(&raw mut (*at).main, first);
        }
        enter_fibers(before);
        self.team.alive == 0
    }

    /// A number that changes whenever a thread ends or a barrier opens.
    pub fn progress(&self) -> u64 {
        self.team.progress
    }

    /// Whether a thread has slept elsewhere than in a loop that only waits.
    pub fn has_slept(&self) -> bool {
        self.team.has_slept
    }

    /// Lets all threads end: they wait for each other for ever.
    pub fn give_up(&mut self) {
        self.team.fail_in_deadlock();
    }

    /// Ends a run whose threads are done; its status, with the exception set.
    pub fn end(self) -> i32 {
        let Run { mut team, stacks } = self;
        stacks.give();
        for block in 0..team.blocks.len() {
            // SAFETY: the contexts are alive.
            unsafe { (*team.contexts.add(block)).team = std::ptr::null_mut() };
        }
        match team.failure.take() {
            Some(p) => {
                set_pending(p);
                1
            }
            None => 0,
        }
    }
}

/// The blocks of a team, for the check of their accesses.
fn checked_blocks(contexts: &[Context], team: *const Team, stacks: Range<i64>) -> Blocks {
    let [x, y, _] = contexts[0].grid_dim;
    let number = |c: &Context| (c.block[0] + x * (c.block[1] + y * c.block[2])) as u32;
    let (first, last) = (&contexts[0], &contexts[contexts.len() - 1]);
    let end = last.shared as i64 + last.dynamic_at + last.dynamic_bytes;
    // SAFETY: the team is alive while its fibers run, which is when the number is read.
    let current = unsafe { &raw const (*team).current };
    Blocks { numbers: contexts.iter().map(number).collect(), shared: first.shared as i64..end, stacks, current }
}

/// The main function of a fiber.
unsafe extern "C" fn thread_main(team: *mut u8) -> ! {
    let team = team.cast::<Team>();
    // SAFETY: the team is alive while a fiber runs; no reference into it is kept across a switch.
    unsafe {
        let me = (*team).current;
        let (block, thread) = (me / (*team).threads, (me % (*team).threads) as i64);
        let cx = (*team).contexts.add(block);
        let [x, y, _] = (*cx).block_dim;
        let mut words: SmallVec<[u64; 32]> = SmallVec::new();
        words.push(cx.expose_provenance() as u64);
        let index = match (*team).gangs {
            Gangs::None => [thread % x, thread / x % y, thread / (x * y)],
            Gangs::Warps if x % GANG != 0 => [thread, 0, 0],
            Gangs::Rows | Gangs::Warps => {
                let strips = Gangs::Rows.count([x, 1, 1]);
                [thread % strips, thread / strips % y, thread / (strips * y)]
            }
        };
        words.extend(index.map(|i| i as u64));
        words.extend_from_slice(&*(*team).args);
        let mut nothing = [0u64; 2];
        // After an interrupt no further thread begins.
        let is_over = Team::has_failed(team) && (*team).served != interrupt::served();
        let status = if is_over { 0 } else { ((*team).kernel)(words.as_ptr(), nothing.as_mut_ptr()) };
        drop(words);
        Team::finish(team, me, block, status);
        let mut dead = std::ptr::null_mut();
        let to = match Team::next(team) {
            Some(i) => {
                (*team).current = i;
                (&(*team).fibers)[i].stack
            }
            None => (*team).main,
        };
        fiber::switch(&raw mut dead, to);
        std::process::abort()
    }
}

impl Team {
    /// Threads of a block.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }
    /// Notes that a waiting fiber can go on.
    pub(super) fn made_progress(&mut self) {
        (self.idle, self.quiet) = (0, Duration::ZERO);
        self.progress += 1;
    }

    /// Notes that a fiber waits in a loop; whether all of them have done so for a while.
    fn is_quiet(&mut self) -> bool {
        // It may have computed something, so that others can go on.
        self.idle = 0;
        let now = Instant::now();
        let since = now - std::mem::replace(&mut self.paused, now);
        // Who takes longer than a round of such a loop does more than to wait, or has been interrupted.
        if since < ROUND {
            self.quiet += since;
        }
        self.quiet > QUIET
    }

    /// Ends all threads, which wait for each other for ever.
    fn fail_in_deadlock(&mut self) {
        if self.failure.is_none() {
            check::with_kernel(|k, sites| k.deadlock(sites));
            let text = "the threads of the kernel wait for each other for ever: \
                        a barrier or warp operation is not reached by all that it is for, or nothing ends a loop in which \
                        all of them wait";
            raise(RUNTIME_ERROR, text);
            self.failure = take_pending();
        }
    }

    /// The barrier of the grid, or of the running thread's block.
    fn barrier(&mut self, of_grid: bool) -> &mut Barrier {
        let block = self.current / self.threads;
        if of_grid { &mut self.grid } else { &mut self.blocks[block] }
    }

    /// Tells the check that the threads of a block, or of the grid, leave a barrier.
    fn released(&self, block: Option<usize>) {
        if self.failure.is_none() {
            check::with_kernel(|k, sites| k.released(sites, block));
        }
    }

    /// Ends a thread.
    ///
    /// # Safety
    /// The team is alive, and this is its running fiber.
    unsafe fn finish(team: *mut Team, me: usize, block: usize, status: i32) {
        // SAFETY: by contract; the reference ends with the function.
        let team = unsafe { &mut *team };
        if status != 0 {
            let pending = take_pending();
            if team.failure.is_none() {
                team.failure = pending;
            }
        }
        team.fibers[me].done = true;
        team.alive -= 1;
        team.made_progress();
        check::with_kernel(|k, sites| k.exits(me, sites.now));
        let (block_goes_on, grid_goes_on) = (team.blocks[block].leave(), team.grid.leave());
        if block_goes_on {
            team.released(Some(block));
        }
        if grid_goes_on {
            team.released(None);
        }
        let first = me / team.threads * team.threads + me % team.threads / WARP * WARP;
        let last = (first + WARP).min((block + 1) * team.threads);
        for lane in first..last {
            team.answer_warp(lane);
        }
    }

    /// The fiber whose turn is next.
    ///
    /// # Safety
    /// The team is alive.
    unsafe fn next(team: *mut Team) -> Option<usize> {
        // SAFETY: by contract; the reference ends with the function.
        let team = unsafe { &*team };
        let n = team.fibers.len();
        let after = (team.current + 1..n).chain(0..=team.current);
        if team.alive == 0 { None } else { after.into_iter().find(|i| !team.fibers[*i].done) }
    }

    /// Switches to the other fibers. Raises if the kernel has failed meanwhile.
    ///
    /// # Safety
    /// The team is alive, and its current fiber runs.
    pub(super) unsafe fn pause(team: *mut Team) -> i32 {
        // SAFETY: by contract; references end before the switch.
        unsafe {
            if Team::has_failed(team) {
                return raise(RUNTIME_ERROR, "another thread of the kernel has failed");
            }
            let me = (*team).current;
            if let Some(i) = Team::next(team)
                && i != me
            {
                (*team).current = i;
                let (save, to) = (&raw mut (&mut (*team).fibers)[me].stack, (&(*team).fibers)[i].stack);
                let place = check::place();
                fiber::switch(save, to);
                check::set_place(place);
            }
            if Team::has_failed(team) {
                return raise(RUNTIME_ERROR, "another thread of the kernel has failed");
            }
        }
        0
    }

    /// Switches to who has resumed the team, which may let other blocks run.
    ///
    /// # Safety
    /// As [`Team::pause`].
    unsafe fn suspend(team: *mut Team) -> i32 {
        if interrupt::INTERRUPT_FLAG.load(std::sync::atomic::Ordering::Relaxed) != 0 {
            return poll::raise_interrupt();
        }
        // SAFETY: by contract; references end before the switch.
        unsafe {
            (*team).quiet = Duration::ZERO;
            let (me, main) = ((*team).current, (*team).main);
            let save = &raw mut (&mut (*team).fibers)[me].stack;
            let place = check::place();
            fiber::switch(save, main);
            check::set_place(place);
        }
        0
    }

    unsafe fn has_failed(team: *mut Team) -> bool {
        // SAFETY: the team is alive; the reference ends with the function.
        unsafe {
            let team = &*team;
            team.failure.is_some()
        }
    }

    /// As [`Team::pause`], for a thread that waits for another to do something.
    ///
    /// # Safety
    /// As [`Team::pause`].
    pub(super) unsafe fn wait(team: *mut Team) -> i32 {
        // SAFETY: by contract; the reference ends before the pause.
        unsafe {
            let t = &mut *team;
            t.idle += 1;
            if t.idle > 2 * t.alive + 2 {
                t.fail_in_deadlock();
                return raise(RUNTIME_ERROR, "another thread of the kernel has failed");
            }
            if interrupt::INTERRUPT_FLAG.load(std::sync::atomic::Ordering::Relaxed) != 0 {
                return poll::raise_interrupt();
            }
            Team::pause(team)
        }
    }
}

impl Barrier {
    /// Counts an arrival; whether it was the last.
    fn arrive(&mut self, value: i64) -> bool {
        self.arrived += 1;
        self.sum += value;
        self.release()
    }
    /// Counts a thread that has ended; whether the waiting threads go on.
    fn leave(&mut self) -> bool {
        self.alive -= 1;
        self.arrived > 0 && self.release()
    }
    fn release(&mut self) -> bool {
        if self.arrived < self.alive {
            return false;
        }
        self.count = self.arrived as i64;
        (self.arrived, self.total, self.sum) = (0, self.sum, 0);
        self.generation += 1;
        true
    }
}

/// Waits at a barrier of the team; the sum of the arguments and the number of threads that have come.
unsafe fn barrier(team: *mut Team, of_grid: bool, value: i64) -> Result<(i64, i64), i32> {
    // SAFETY: callers pass the live team of the running fiber; references end before another fiber runs.
    unsafe {
        let before = {
            let t = &mut *team;
            let (me, block) = (t.current, t.current / t.threads);
            check::with_kernel(|k, sites| k.waits(me, sites.now));
            let b = t.barrier(of_grid);
            let before = b.generation;
            if b.arrive(value) {
                let result = (b.total, b.count);
                t.made_progress();
                t.released((!of_grid).then_some(block));
                return Ok(result);
            }
            before
        };
        loop {
            let status = Team::wait(team);
            if status != 0 {
                return Err(status);
            }
            let b = (&mut *team).barrier(of_grid);
            if b.generation != before {
                return Ok((b.total, b.count));
            }
        }
    }
}

/// `syncthreads` with a value: its sum over the block's threads and their number. A kernel without a team never waits;
/// its threads run one after the other.
unsafe fn sync(cx: *mut Context, value: i64) -> Result<(i64, i64), i32> {
    // SAFETY: kernels pass the context of their block.
    unsafe {
        let team = (*cx).team;
        if team.is_null() { Ok((value, 1)) } else { barrier(team, false, value) }
    }
}

unsafe extern "C-unwind" fn lh_cuda_sync(cx: *mut Context) -> i32 {
    // SAFETY: as for `sync`.
    unsafe { sync(cx, 0) }.err().unwrap_or(0)
}

unsafe extern "C-unwind" fn lh_cuda_grid_sync(cx: *mut Context) -> i32 {
    // SAFETY: as for `sync`.
    unsafe {
        let team = (*cx).team;
        if team.is_null() { 0 } else { barrier(team, true, 0).err().unwrap_or(0) }
    }
}

macro_rules! sync_with {
    ($($name:ident |$value:ident| $given:expr, |$sum:ident, $count:ident| $result:expr;)*) => {$(
        unsafe extern "C-unwind" fn $name(cx: *mut Context, $value: i64, out: *mut i64) -> i32 {
            // SAFETY: as for `sync`; `out` has room for the result.
            unsafe {
                match sync(cx, $given) {
                    Ok(($sum, $count)) => {
                        *out = $result;
                        0
                    }
                    Err(status) => status,
                }
            }
        }
    )*};
}
sync_with! {
    // The argument of a gang is the number of its threads whose condition is true.
    lh_cuda_sync_count |value| value, |sum, _count| sum;
    lh_cuda_sync_and |value| i64::from(value != 0), |sum, count| i64::from(sum == count);
    lh_cuda_sync_or |value| i64::from(value != 0), |sum, _count| i64::from(sum > 0);
}

/// `nanosleep`: switches to the other fibers. 0 ns: the fiber does nothing but wait.
unsafe extern "C-unwind" fn lh_cuda_pause(cx: *mut Context, ns: i64) -> i32 {
    // SAFETY: as for `sync`; no reference to the team is kept across a switch.
    unsafe {
        let team = (*cx).team;
        if team.is_null() {
            return 0;
        }
        (*team).has_slept |= ns != 0;
        if (&mut *team).is_quiet() {
            let status = Team::suspend(team);
            if status != 0 {
                return status;
            }
        }
        Team::pause(team)
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_) lh_cuda_sync lh_cuda_grid_sync;
        (_ _) lh_cuda_pause;
        (_ _ _) lh_cuda_sync_count lh_cuda_sync_and lh_cuda_sync_or;
    }
}
