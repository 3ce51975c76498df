//! Our passes over LLVM IR, and the names of functions that stand for something until such a pass replaces them.

pub(crate) mod balance_extremes;
pub(crate) mod barrier_loops;
pub(crate) mod branchless_search;
pub(crate) mod cached_access;
pub(crate) mod divide_as_float;
pub(crate) mod effort;
pub(crate) mod math_library;
pub(crate) mod ordered_groups;
pub(crate) mod polls;
pub(crate) mod rare_extremes;
pub(crate) mod strip_mine;
pub(crate) mod uniform_chains;
pub(crate) mod unroll_short;
