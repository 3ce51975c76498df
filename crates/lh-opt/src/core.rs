//! Scalar passes that every function goes through: folding, dead code, inlining, reference counts.

pub(crate) mod constant_messages;
pub(crate) mod contract;
pub(crate) mod dce;
pub(crate) mod fold;
pub(crate) mod inline;
pub(crate) mod keep_generators;
pub(crate) mod reduce_powers;
pub(crate) mod refcount;
pub(crate) mod value_numbering;
