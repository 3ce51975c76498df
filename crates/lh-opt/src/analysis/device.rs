//! Questions about code for CUDA devices: which calls wait, which results are block-uniform.

use lh_ir::func::waits;
use lh_ir::op::RuntimeFn;
use lh_ir::{Function, SpecId};

/// Number of parameters that the pass `kernel_context` puts before the function's own.
pub const HANDED: usize = 4;

/// The waits of a callee, see [`waits`]; all of them if it has not been compiled yet.
pub(crate) fn waits_of_call(func: &Function, spec: SpecId) -> u8 {
    func.kernel.callee_waits.iter().find(|(s, _)| *s == spec).map_or(waits::ALL, |(_, w)| *w)
}

/// Whether the result of a run-time function is block-uniform if its operands are.
pub(crate) fn is_uniform(f: &RuntimeFn) -> bool {
    match f.name {
        "lh_cuda_local" => false,
        "lh_cuda_sync_count" | "lh_cuda_sync_and" | "lh_cuda_sync_or" => true,
        name if name.starts_with("lh_cuda_") => is_geometry(name) || f.pure,
        _ => f.pure,
    }
}

/// Whether a run-time function reads the launch's geometry.
pub(crate) fn is_geometry(name: &str) -> bool {
    ["lh_cuda_bid_", "lh_cuda_bdim_", "lh_cuda_gdim_"].iter().any(|n| name.starts_with(n))
}

/// Whether a run-time function is a barrier of the block.
pub(crate) fn is_block_sync(name: &str) -> bool {
    matches!(name, "lh_cuda_sync" | "lh_cuda_sync_count" | "lh_cuda_sync_and" | "lh_cuda_sync_or")
}
