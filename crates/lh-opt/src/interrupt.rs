//! To come.

/// Runs the pass.
pub(crate) fn run(_func: &mut lh_ir::Function) -> bool {
    false
}
