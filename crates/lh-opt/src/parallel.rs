//! Parallel loops: dependence test and outlining.

pub(crate) mod carried;
pub(crate) mod outline_parallel;
pub(crate) mod races;
pub(crate) mod region;
