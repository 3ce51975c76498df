//! Passes over code for CUDA devices: kernels become loops over blocks and threads.
//!
//! `kernel_context` adds the context to all functions; `serialize_kernel` then chooses a form. `split_kernel` makes
//! loops over threads, cut at barriers; `gangs` runs 32 threads in lockstep if they diverge or exchange values; any
//! other kernel, and one that is checked (`debug=True`), runs each thread on a stack of its own. `grid_stride`,
//! `bounds` and `tighten_bounds` use the launch's geometry to remove checks and branches.

pub(crate) mod check_races;
pub(crate) mod check_results;
pub(crate) mod gangs;
pub(crate) mod grid_stride;
pub mod kernel_context;
pub(crate) mod serialize_kernel;
pub(crate) mod split_kernel;
pub(crate) mod yield_in_spin_loops;
