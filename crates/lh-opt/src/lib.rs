//! Optimisation of typed IR: [`run`] runs the passes, which [`pipeline`] lists.
//!
//! Rooms and their imports: `analysis <- {core, arrays} <- {loops, parallel} <- kernel <- pipeline`; `edit` lies below
//! all of them.

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
