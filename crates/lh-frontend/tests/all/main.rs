//! Bytecode of all versions of CPython, as it was recorded.

mod damaged;
mod support;
mod translate;
mod unroll;
