//! Synchronisation of calls in code for CUDA devices.

use lh_ir::func::waits;
use lh_ir::{Function, SpecId};

/// Number of parameters that the pass `kernel_context` puts before the function's own.
pub const HANDED: usize = 4;

/// The waits of a callee, see [`waits`]; all of them if it has not been compiled yet.
pub(crate) fn waits_of_call(func: &Function, spec: SpecId) -> u8 {
    func.kernel.callee_waits.iter().find(|(s, _)| *s == spec).map_or(waits::ALL, |(_, w)| *w)
}
