//! Untyped IR and argument types to typed IR.

pub mod world;

pub use world::{ArgTy, FuncInfo, Object, Spec, World};
