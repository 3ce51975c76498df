//! Elementwise computations on whole arrays: fusion, and lowering to loops.
//!
//! `fuse_elementwise` makes one computation of several; `join_reductions` inlines a reduction behind the computation
//! that it reads, so that `lower_array` fills each part of that where it is read. `lower_array` makes one nest of
//! adjacent stores of one shape, and writes the loops.

pub(crate) mod elementwise;
pub(crate) mod fuse_elementwise;
pub(crate) mod join_reductions;
pub(crate) mod local_arrays;
pub(crate) mod lower_array;
