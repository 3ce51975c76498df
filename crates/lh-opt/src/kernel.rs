//! Passes over code for CUDA devices: kernels become loops over blocks and threads.

pub(crate) mod check_races;
pub(crate) mod gangs;
pub(crate) mod grid_stride;
pub mod kernel_context;
pub(crate) mod serialize_kernel;
pub(crate) mod split_kernel;
pub(crate) mod yield_in_spin_loops;
