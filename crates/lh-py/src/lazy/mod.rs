//! Lazy arrays of `lancehead.xp` where each call counts: their objects, and the shortest ways from an operation to its
//! value. All else of them is Python, which these functions call for whatever is not simple.

pub mod evaluate;
pub mod functions;
pub mod layout;
pub mod setup;
pub mod views;
