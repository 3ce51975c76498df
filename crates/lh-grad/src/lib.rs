//! Differentiation of typed functions. Reverse mode makes of a function one that computes its result and
//! then, in reverse order, the adjoints of its parameters. Forward mode makes of it one that computes the
//! tangent of each value beside the value.
//!
//! The function is given after inlining and after array expressions have become loops, so that loads, stores, loops and
//! rows of operations are all that has to be differentiated; functions with a rule of their own stay calls. The steps:
//!
//! - `generators` and `states` make control flow of generators;
//! - `landing` gives exceptions that are caught blocks of their own;
//! - `normal` brings control flow into the form that is reversed, after `reducible` has made loops of all cycles;
//! - `memory` finds what may address the same memory, and what depends on the parameters asked for;
//! - `shadow` adds, to the function itself, shadows: memory of the same form that holds adjoints;
//! - `unchosen` finds values that may be left unused, whose adjoints are zero then;
//! - `reverse` builds the reverse part, with a block for each block; `recursion` has the calls of functions that call
//!   themselves (`snapshots` copies their memory), `atomics` and `kernels` the memory that threads of a kernel share;
//! - `keep`, `tape`, `stack` and `nest` make the values available that it needs;
//! - `promote` makes SSA values of adjoints.
//!
//! Forward mode (`forward`) needs `memory` and `shadow` only. `modes` has these steps in order.
//!
//! [`make_adjoint`] and [`make_tangent`] (`specialised`) do this for a specialisation of a [`Program`]: they inline the
//! functions that it calls, find the rules of others (`rules`), and type functions of the library that derivatives call
//! (`parts`). Everything that is known of them is in [`Derivatives`].

mod atomics;
mod bits;
mod builder;
mod derivatives;
mod forward;
mod generators;
mod keep;
mod kernels;
mod landing;
mod memory;
mod modes;
mod nest;
mod normal;
mod partial;
mod parts;
mod program;
mod promote;
mod recursion;
mod reducible;
mod remarks;
mod reverse;
mod rules;
mod shadow;
mod snapshots;
mod specialised;
mod stack;
mod states;
mod tape;
mod unchosen;

pub use derivatives::{Derivatives, Push, Rule};
pub use program::{ByLine, Program, Typed};
pub use rules::{differentiated, has_rule, type_rule};
pub use specialised::{make_adjoint, make_seeded, make_tangent};
