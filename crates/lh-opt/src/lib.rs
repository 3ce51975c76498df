//! Optimisation of typed IR: [`run`] does everything, [`pipeline`] is the list.

mod bounds;
mod brief;
mod check_ahead;
mod check_races;
mod contract;
mod counted;
mod dce;
mod edit;
mod effects;
mod elementwise;
mod fold;
mod fuse_elementwise;
mod gangs;
mod inline;
mod interrupt;
mod jam;
pub mod kernel_context;
mod latches;
mod list_lengths;
mod lower_array;
mod natural;
mod nonzero;
mod outline_parallel;
mod own_sums;
pub mod pipeline;
mod races;
mod refcount;
mod rounds;
mod sequential;
mod serialize_kernel;
mod split_kernel;
mod trim;
mod while_loops;

pub use effects::Summary;
pub use elementwise::Elementwise;
pub use pipeline::{Outcome, run, run_lifted};
