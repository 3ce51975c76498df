//! PTX, NVIDIA's assembly language for GPUs, as typed IR: what was linked to a kernel runs on the CPU device, and the
//! code generator for GPUs is tested without one.
//!
//! [`lift()`] reads a module and makes a function of each of its functions. Registers become stack slots of unsigned
//! integers, parameters and local variables become memory, so that LLVM finds the values again. Barriers and atomic
//! operations become the run-time functions that kernels on the CPU device call.
//!
//! The language is that of NVIDIA's "PTX ISA", as far as compilers emit it for scalar code: no textures, no tensor
//! cores.

mod ast;
mod lex;
mod lift;
mod parse;

pub use lift::{Lifted, Lifting, Variable, lift};
