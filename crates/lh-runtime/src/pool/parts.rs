//! The blocks of a loop that nobody has begun, in contiguous parts, one for each thread.
//!
//! A thread takes the blocks of its own part in order, and when there are no more of these, the last ones of others'.
//! Neighbouring blocks thus run on one core, and so do the same blocks of the next loop over the same range: their data
//! is in this core's cache. Of its own blocks that take less than a microsecond, a thread claims more and more
//! together, as long as several times as many are left. A part is one number that owner and thieves change, so a block
//! is claimed once; the model checker goes through the orders in which they meet (`tests/all/pool_model.rs`).

use super::sync::{AtomicU32, AtomicU64, Ordering};
use smallvec::SmallVec;
use std::ops::Range;

/// Parts of a loop on so few threads need no allocation.
const INLINE: usize = 4;

/// Claims that take less than so many ticks, half a microsecond or a little more, are short.
const SHORT: u64 = 1500;
/// The most units that are claimed together.
const TOGETHER: u32 = 8;

/// A thread's part; alone in its cache lines.
#[repr(align(128))]
struct Part {
    /// The units that are left: the first one, and from the 32nd bit on the one after the last.
    left: AtomicU64,
    /// Not 0 if the part is a thread's own.
    owned: AtomicU32,
}

/// The parts of a loop.
pub(crate) struct Parts {
    all: SmallVec<[Part; INLINE]>,
    blocks: u64,
    /// Adjacent blocks that are claimed together: more than one only if 32 bits do not number them.
    unit: u64,
    /// Parts that have units left.
    full: AtomicU32,
}

impl Parts {
    /// Cuts blocks into as many parts as threads may take part. The first one is the caller's own.
    pub(crate) fn new(blocks: u64, threads: u32) -> Parts {
        let unit = blocks.div_ceil(u32::MAX.into()).max(1);
        let (units, threads) = (blocks.div_ceil(unit), u64::from(threads.max(1)));
        let bound = |k| units * k / threads;
        let part =
            |k| Part { left: AtomicU64::new(bound(k) | bound(k + 1) << 32), owned: AtomicU32::new(u32::from(k == 0)) };
        let full = (0..threads).filter(|k| bound(*k) < bound(k + 1)).count() as u32;
        Parts { all: (0..threads).map(part).collect(), blocks, unit, full: AtomicU32::new(full) }
    }

    /// The threads that may take part beside the caller.
    pub(crate) fn helpers(&self) -> u32 {
        self.all.len() as u32 - 1
    }

    /// The part of a thread that joins: the one of its number, unless there is none or another thread has it.
    pub(crate) fn enter(&self, number: u32) -> u32 {
        let others = self.all.len().saturating_sub(1).max(1);
        let wish = (number as usize).saturating_sub(1);
        let mut parts = (0..others).map(|k| 1 + (wish + k) % others);
        let is_free = |p: &usize| self.all.get(*p).is_some_and(|part| part.owned.swap(1, Ordering::Relaxed) == 0);
        parts.find(is_free).unwrap_or_else(|| lh_ir::bug!("more threads than parts")) as u32
    }

    /// The claims of the owner of a part.
    pub(crate) fn claims(&self, own: u32) -> Claims<'_> {
        Claims { parts: self, own: own as usize, from: own as usize, began: None, most: 1 }
    }

    /// Nobody begins blocks from this one on any more, except of those that are claimed.
    pub(crate) fn cut(&self, block: u64) {
        // Not beyond what 32 bits number.
        let end = block.min(self.blocks).div_ceil(self.unit) as u32;
        for part in &self.all {
            self.change(part, |left| left.start..left.end.min(end).max(left.start));
        }
    }

    /// Changes the units that are left in a part; those that there were, if there were some.
    fn change(&self, part: &Part, f: impl Fn(Range<u32>) -> Range<u32>) -> Option<Range<u32>> {
        let mut now = part.left.load(Ordering::Relaxed);
        loop {
            let left = now as u32..(now >> 32) as u32;
            if left.is_empty() {
                return None;
            }
            let next = f(left.clone());
            let word = u64::from(next.start) | u64::from(next.end) << 32;
            match part.left.compare_exchange_weak(now, word, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    if next.is_empty() {
                        self.full.fetch_sub(1, Ordering::Relaxed);
                    }
                    return Some(left);
                }
                Err(other) => now = other,
            }
        }
    }

    fn blocks_of(&self, units: Range<u32>) -> Range<i64> {
        let block = |unit| (u64::from(unit) * self.unit).min(self.blocks) as i64;
        block(units.start)..block(units.end)
    }
}

/// The claims of a thread.
pub(crate) struct Claims<'a> {
    parts: &'a Parts,
    own: usize,
    /// The part that the last blocks came from.
    from: usize,
    /// When the last blocks were claimed.
    began: Option<u64>,
    /// The most units to be claimed together.
    most: u32,
}

impl Claims<'_> {
    /// The next blocks that the thread is to run, at a time in ticks; none are left if there are none.
    pub(crate) fn next(&mut self, now: u64) -> Option<Range<i64>> {
        match self.began.map(|began| now.wrapping_sub(began)) {
            Some(took) if took < SHORT => self.most = (2 * self.most).min(TOGETHER),
            Some(took) if took < 4 * SHORT => {}
            _ => self.most = 1,
        }
        self.began = Some(now);
        if self.from == self.own
            && let Some(blocks) = self.first()
        {
            return Some(blocks);
        }
        if self.parts.full.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let number = self.parts.all.len();
        let from = self.from;
        (0..number).map(|k| (from + k) % number).find_map(|victim| {
            let left = self.parts.change(&self.parts.all[victim], |left| left.start..left.end - 1)?;
            self.from = victim;
            Some(self.parts.blocks_of(left.end - 1..left.end))
        })
    }

    /// The first blocks of the thread's own part.
    fn first(&self) -> Option<Range<i64>> {
        let count = |left: &Range<u32>| (left.len() as u32 / 4).clamp(1, self.most);
        let left = self.parts.change(&self.parts.all[self.own], |left| left.start + count(&left)..left.end)?;
        Some(self.parts.blocks_of(left.start..left.start + count(&left)))
    }
}
