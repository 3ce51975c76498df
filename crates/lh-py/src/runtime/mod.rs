//! The interpreter's side of the run-time library: exceptions and diagnostics, signals, printing, threads.

pub mod in_order;
pub mod print;
pub mod raise;
pub mod render;
pub mod signals;
pub mod threads;
pub mod undone;
