//! Untyped IR and argument types to typed IR, by abstract interpretation.
//!
//! Rooms and their imports: `val <- cx <- emit <- semantics <- operations <- calls <- {step, sweep} <- infer`. Below
//! all of them lie `convert` (all promotion rules), `world` (questions to the driver) and `substitutes`.
//!
//! - `cx` is the state, `Infer`, of which all rules are methods. `infer` repeats sweeps until types settle.
//! - `semantics` has the two tables of types in which operators compute, NumPy's and Numba's. The library is always
//!   typed by NumPy's.
//! - `operations` has the meaning of operations by the types of their operands, `calls` the callees that inference
//!   knows itself: builtins, `prim`, ufuncs, foreign functions. It asks the driver for all others.
//!
//! Functions and objects are numbers here; all that is known of one is the answer to a question of [`World`].
//! A recursive function whose returns all need items of its own calls is typed for an assumed result. A failing sweep
//! visits the other blocks, too, since a loop may turn out to be wider.

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
