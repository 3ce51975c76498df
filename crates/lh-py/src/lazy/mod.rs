//! Lazy arrays of `lancehead.xp` where each call counts: their objects, and the shortest ways from an operation to its
//! value. All else of them is Python, which these functions call for whatever is not simple.
//!
//! Nodes, views and arrays are structs whose fields Python reads as slots. This room calls compiled functions as any
//! extension module would, and knows nothing of how they are made.

pub mod evaluate;
pub mod functions;
pub mod layout;
pub mod regions;
pub mod setup;
pub mod views;
