//! Facts about functions, which passes import. No pass lives here, and nothing here changes a function.

pub(crate) mod classify;
pub(crate) mod cost;
pub(crate) mod counted;
pub(crate) mod device;
pub(crate) mod dominating_branches;
pub(crate) mod effects;
pub(crate) mod facts;
pub(crate) mod int_range;
pub(crate) mod linear;
pub(crate) mod liveness;
pub(crate) mod nest_range;
pub(crate) mod sequential;
pub(crate) mod short_loops;
pub(crate) mod strides;
pub(crate) mod uniform;

pub use facts::Analyses;
