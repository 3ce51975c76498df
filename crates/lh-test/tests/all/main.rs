//! File tests of passes and of inference, and random functions and programs.

mod derivatives;
mod inference;
mod ir;
