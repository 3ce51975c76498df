//! Compilation: the compilers of the process, the cache in files, reports.

pub mod cache;
pub mod compiler;
pub mod operations;
pub mod report;
pub mod typed_library;
