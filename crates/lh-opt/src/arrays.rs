//! Elementwise computations on whole arrays: fusion, and lowering to loops.

pub(crate) mod elementwise;
pub(crate) mod fuse_elementwise;
pub(crate) mod join_reductions;
pub(crate) mod local_arrays;
pub(crate) mod lower_array;
