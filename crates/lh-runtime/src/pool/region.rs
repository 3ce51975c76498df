//! A parallel loop while it runs: each thread runs the blocks of its part, and then helps the others with theirs.

use super::board::{Board, Place};
use super::parts::Parts;
use super::settings::{Here, here, set_here};
use super::sync::ticks;
use super::workers::{forks, pool};
use crate::classes::KEYBOARD_INTERRUPT;
use crate::exception::{Pending, set_pending, take_pending};
use crate::interrupt;
use crate::random::split::{self, Split};
use std::ffi::c_void;
use std::sync::Mutex;

/// The body of a parallel loop: `status body(env, low, high, thread)` does the iterations from `low` to before `high`.
/// A status other than 0 says that an exception is pending in this thread.
pub type Body = unsafe extern "C" fn(*mut c_void, i64, i64, i64) -> i32;

/// The work of a loop.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) n: i64,
    /// Iterations of a block; the last one may have fewer.
    pub(super) grain: i64,
    pub(super) body: Body,
    pub(super) env: *mut c_void,
}

/// A loop on the pool.
pub(super) struct Region {
    work: Work,
    parts: Parts,
    /// The first exception in the order of iterations, with its block.
    failed: Mutex<Option<(i64, Box<Pending>)>>,
    /// Settings of the thread that began it.
    here: Here,
    /// Threads that it may use.
    limit: u32,
    split: Split,
}

impl Work {
    fn blocks(&self) -> i64 {
        (self.n / self.grain) + i64::from(self.n % self.grain != 0)
    }

    /// Runs a block; the exception that it ended with, if it did.
    fn block(&self, block: i64, id: u32) -> Result<(), Box<Pending>> {
        if interrupt::requested() {
            return Err(Pending::new(KEYBOARD_INTERRUPT, Vec::new()).into());
        }
        let low = block * self.grain;
        let high = self.n.min(low.saturating_add(self.grain));
        // SAFETY: whoever made the work vouches for the function and what it is given.
        match unsafe { (self.body)(self.env, low, high, id.into()) } {
            0 => Ok(()),
            _ => Err(take_pending().unwrap_or_else(|| Pending::new(crate::classes::SYSTEM_ERROR, Vec::new())).into()),
        }
    }

    /// Runs the loop with up to this many threads.
    pub(super) fn run(self, threads: u32) -> Result<(), Box<Pending>> {
        let blocks = self.blocks();
        let helpers = threads.min(u32::try_from(blocks).unwrap_or(u32::MAX)).saturating_sub(1);
        let mine = here();
        let mut region = Region {
            work: self,
            parts: Parts::new(blocks as u64, helpers + 1),
            failed: Mutex::new(None),
            here: mine,
            limit: threads,
            split: split::fork(),
        };
        let forks_before = forks();
        let place = if helpers == 0 {
            None
        } else {
            let pool = pool();
            pool.ensure(helpers);
            pool.board.publish(&raw mut region, helpers).map(|place| (&pool.board, place))
        };
        if place.is_none() {
            region.parts = Parts::new(blocks as u64, 1);
        }
        region.take_part(place, 0);
        if let Some((board, place)) = place {
            // In a forked child nobody else is left to wait for.
            if forks() == forks_before { board.close(place) } else { board.abandon(place) }
        }
        let failed = region.failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match failed {
            None => Ok(()),
            Some((_, mut pending)) => {
                if pending.class == KEYBOARD_INTERRUPT && mine.depth == 0 && interrupt::requested() {
                    let Pending { class, args, .. } = interrupt::serve();
                    (pending.class, pending.args) = (class, args);
                }
                Err(pending)
            }
        }
    }
}

impl Region {
    /// The part of a worker with this number.
    pub(super) fn help(&self, board: &Board<Region>, place: Place, worker: u32) {
        board.wake(place, self.parts.helpers());
        self.take_part(Some((board, place)), self.parts.enter(worker));
    }

    /// Runs blocks until there are no more.
    fn take_part(&self, place: Option<(&Board<Region>, Place)>, id: u32) {
        let outside = here();
        // The size of blocks was asked for of this loop, not of those that it begins.
        set_here(Here { id, depth: self.here.depth + 1, threads: self.limit, chunk: 0 });
        let stream = split::enter();
        let mut claims = self.parts.claims(id);
        while let Some(blocks) = claims.next(ticks()) {
            for block in blocks {
                stream.block(&self.split, block as u64);
                if let Err(pending) = self.work.block(block, id) {
                    self.fail(block, pending);
                    break;
                }
            }
        }
        drop(stream);
        // A body that sets the number of threads does so for what it calls, as if it ran on a thread of its own.
        set_here(outside);
        if let Some((board, place)) = place {
            board.seal(place);
        }
    }

    /// Notes an exception; that of the first block counts. So earlier blocks still run, unless Ctrl-C is to end all.
    #[cold]
    fn fail(&self, block: i64, pending: Box<Pending>) {
        self.parts.cut(if interrupt::requested() { 0 } else { block as u64 });
        let mut failed = self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(first, _)| block < *first) {
            *failed = Some((block, pending));
        }
    }
}

/// Runs a loop, and leaves its exception pending in this thread.
pub(super) fn run(work: Work, threads: u32) -> i32 {
    match work.run(threads) {
        Ok(()) => 0,
        Err(pending) => {
            set_pending(*pending);
            1
        }
    }
}
