//! Loads objects into memory, with names of their functions for debuggers and profilers.

mod elf;
mod gdb;
mod half;
mod memory;
pub mod perf;

pub use elf::{EntryPoint, Loaded, load};
