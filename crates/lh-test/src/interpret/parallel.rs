//! Parallel loops: blocks of iterations, one after the other, in one order or the other.

use super::Stop;
use super::grid::{Place, THREADS};
use super::state::{End, Flow, Machine};
use super::word::{Words, int};
use lh_ir::Function;

impl<'a> Machine<'a> {
    /// Runs the blocks of a loop. The exception of the first block that raises is the loop's; others may have been run.
    pub(super) fn par_for(&mut self, body: &'a Function, args: Vec<Words>, place: Place) -> Result<Flow<'a>, Stop> {
        let number = |i: usize| args[i][0].map(|n| n as i64).ok_or_else(|| Stop::undefined("a loop of poison"));
        let (n, grain) = (number(0)?, number(1)?);
        let grain = grain.max(1);
        let count = if n <= grain { 1 } else { (n - 1) / grain + 1 };
        // The last block of a very long loop is not reached.
        let backwards = self.settings.backwards && count < 1000;
        let mut first = None;
        for i in 0..count {
            let low = (if backwards { count - 1 - i } else { i }) * grain;
            let high = if count == 1 { n } else { low.saturating_add(grain).min(n) };
            let mut all = args[2..].to_vec();
            all.extend([int(low), int(high), int(i % THREADS)]);
            if let End::Raised(exc) = self.run(body, all, place)?
                && first.as_ref().is_none_or(|(at, _)| low < *at)
            {
                first = Some((low, exc));
                self.is_partial = true;
            }
            if !backwards && first.is_some() {
                break;
            }
        }
        Ok(match first {
            Some((_, exc)) => Flow::Raise(exc),
            None => Flow::Next(Words::new()),
        })
    }
}
