//! Parts of the compiler that can be switched off to measure them: `LANCEHEAD_PASSES=-bounds,-gangs.votes`.
//!
//! The passes over typed IR are switched by the pipeline in `lh-opt`, which also knows the other words of the variable.
//! The parts named here belong to larger passes, or work on LLVM's IR.

use std::sync::LazyLock;

/// Names of the parts, a pass before the dot.
pub const PARTS: &[&str] = &[
    "gangs",
    "gangs.if_convert",
    "gangs.merge_exits",
    "gangs.narrow",
    "gangs.sparse_lanes",
    "gangs.votes",
    "grid_stride",
    "llvm.balance_extremes",
    "llvm.branchless_search",
    "llvm.divide_as_float",
    "llvm.effort",
    "llvm.rare_extremes",
    "llvm.uniform_chains",
    "llvm.unroll_short",
    "parts",
    "poll_signals.short_loops",
    "split_kernel",
    "tighten_bounds.uniform_rows",
    "unroll_and_jam.distribute",
    "unroll_and_jam.strided_views",
];

/// The text of `LANCEHEAD_PASSES`.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| std::env::var("LANCEHEAD_PASSES").unwrap_or_default());
    &TEXT
}

/// Words of the variable.
pub fn words() -> impl Iterator<Item = &'static str> {
    text().split(',').map(str::trim).filter(|w| !w.is_empty())
}

/// Whether a part is switched off.
pub fn is_off(part: &'static str) -> bool {
    debug_assert!(PARTS.contains(&part), "`{part}` is not in the list");
    !text().is_empty() && words().any(|w| w.strip_prefix('-') == Some(part))
}
