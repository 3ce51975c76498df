//! Optimisation of typed IR: [`run`] does everything, [`pipeline`] is the list.
//!
//! The rooms and the order of their arrows: `analysis <- {core, arrays} <- {loops, parallel} <- kernel <- pipeline`.
//! [`edit`] lies below all of them.

mod analysis;
mod arrays;
mod core;
mod edit;
mod kernel;
mod loops;
mod parallel;
pub mod pipeline;

pub use analysis::effects::Summary;
pub use arrays::elementwise::Elementwise;
pub use kernel::kernel_context;
pub use pipeline::{Outcome, run, run_lifted};
