//! The tables of operations and of run-time functions.

mod rows;
mod runtime;
