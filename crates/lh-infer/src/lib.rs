//! Untyped IR and argument types to typed IR.

mod attributes;
mod builtins;
mod calls;
mod classes;
mod comparisons;
mod convert;
mod cuda;
mod emit;
mod foreign;
mod functions;
mod generator;
mod index;
mod infer;
mod instances;
mod iterate;
mod linked;
mod operators;
mod overloads;
mod prims;
mod records;
mod shape;
mod stack;
mod stencils;
mod step;
pub mod substitutes;
mod threads;
mod ufuncs;
mod val;
pub mod world;

pub use convert::{cost, cost_of_all};
pub use infer::{Output, infer};
pub use stack::{Frame, Stack};
pub use world::{ArgTy, FuncInfo, Linked, Object, Offsets, Overload, Overloaded, Spec, World};
