//! Parallel loops: the dependence test, and outlining of their bodies.

pub(crate) mod carried;
pub(crate) mod outline_parallel;
pub(crate) mod races;
pub(crate) mod region;
