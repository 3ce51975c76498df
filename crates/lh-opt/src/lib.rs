//! Optimisation of typed IR: [`run`] runs the passes, which [`pipeline`] lists.
//!
//! Rooms and their imports: `analysis <- {core, arrays} <- {loops, parallel} <- kernel <- pipeline`; `edit` is below.
//!
//! A pass is one file and one line of the list: its name, the kinds of functions on which it runs, and its function,
//! which answers whether it changed anything. Comments at the lines explain the order. Passes import analyses, `edit`
//! and, to clean up, `dce` and `fold`; only `serialize_kernel` calls other passes, those of its room. The verifier runs
//! after each pass in debug builds, and at a few places in all builds, where a pass that is at fault is undone.

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
