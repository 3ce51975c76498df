//! The table of primitive operations and the table of run-time functions.

mod eval;
pub mod exceptions;
pub mod families;
pub mod layout;
pub mod runtime;
pub mod symbols;
mod table;
pub mod warp;

pub use eval::{agree, ulps};
pub use table::{all, for_python, row};
