//! Parallel loops: dependence test and outlining.
//!
//! Inference marks the headers of loops over `prange`, `lower_array` those of its own loops. `races` proves that
//! iterations are independent, by the effects that `analysis::effects` computes, or leaves tests for when the loop
//! begins. `outline_parallel` moves the body into a function of its own (`Function::bodies`), which `ParFor` runs on
//! the pool. A loop that stays open runs in order; `Function::races` tells which.

pub(crate) mod carried;
pub(crate) mod outline_parallel;
pub(crate) mod races;
pub(crate) mod region;
