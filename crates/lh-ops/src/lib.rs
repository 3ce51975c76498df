//! The table of primitive operations and the table of run-time functions.

pub mod runtime;
