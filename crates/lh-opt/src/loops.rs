//! Loop transformations: removal of checks, canonical loops for LLVM, unrolling, polls for signals.

pub(crate) mod bounds;
pub(crate) mod delinearize;
pub(crate) mod hoist_calls;
pub(crate) mod hoist_lengths;
pub(crate) mod inspect_strips;
pub(crate) mod loop_hints;
pub(crate) mod nonnegative;
pub(crate) mod nonzero;
pub(crate) mod poll_signals;
pub(crate) mod privatize_sums;
pub(crate) mod single_latch;
pub(crate) mod split_sums;
pub(crate) mod tighten_bounds;
pub(crate) mod unroll_and_jam;
pub(crate) mod unrotate;
pub(crate) mod unswitch_raises;
