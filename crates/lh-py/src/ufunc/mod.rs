//! The user's ufuncs: real `numpy.ufunc` objects over compiled inner loops.
//!
//! An inner loop is a function of `python/lancehead/lib/loops.py`, specialised for the user's function, the types and
//! the pattern of strides. Rows of a generalised ufunc run jammed if they carry sums (`unroll_and_jam` of `lh-opt`).

pub mod definition;
pub mod dufunc;
pub mod fp_flags;
pub mod inner_loop;
pub mod layout;
pub mod lookup;
pub mod numpy_api;
pub mod overrides;
pub mod sharing;
pub mod specialise;
