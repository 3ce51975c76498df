//! The user's ufuncs: real `numpy.ufunc` objects over compiled inner loops.

pub mod definition;
pub mod dufunc;
pub mod fp_flags;
pub mod inner_loop;
pub mod layout;
pub mod lookup;
pub mod numpy_api;
pub mod overrides;
pub mod specialise;
