//! Compiled code against what it is to compute, and what LLVM makes of it.

mod cold;
mod common;
mod process;
mod ptx;
mod rows;
mod run;
mod vectorise;
