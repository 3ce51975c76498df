//! The table of primitive operations (`table`) and the table of run-time functions (`runtime`).
//!
//! A row of the first has the name, doc, typing rule, reference semantics, lowering, algebra, cost, approximation,
//! derivative and examples of an operation; a row of the second has signature, role, effect on memory by operand, waits
//! and limits. Operations are described nowhere else, and nothing asks one by its name: passes and the code generator
//! match `op.algebra` and `f.role`, whose enums are in `lh-ir`. A row that is silent about memory may write any.

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
