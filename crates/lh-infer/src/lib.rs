//! Untyped IR and argument types to typed IR.

mod calls;
mod convert;
mod cx;
mod emit;
mod infer;
mod operations;
mod semantics;
mod shape;
mod stack;
mod step;
pub mod substitutes;
mod sweep;
mod val;
pub mod world;

pub use calls::OF_LIBRARY;
pub use convert::{cost, cost_of_all, has_objects_of, is_result_of};
pub use infer::{Output, infer, taught};
pub use operations::generator::receives;
pub use stack::{Frame, Stack};
pub use world::{Adjoint, ArgTy, FuncInfo, Linked, Object, Offsets, Overload, Overloaded, Spec, Taught, World};
