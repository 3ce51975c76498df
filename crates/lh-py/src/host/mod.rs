//! The interpreter as the compiler sees it: the table of objects, types, code, hashes, guards, the stored library.

pub mod annotations;
pub mod classes;
pub mod classify;
pub mod code;
pub mod comptime;
pub mod constants;
pub mod decorated;
pub mod digest;
pub mod enums;
pub mod exc_classes;
pub mod foreign;
pub mod frozen;
pub mod gpu_targets;
pub mod guard;
pub mod interpreter;
pub mod library;
pub mod memos;
pub mod objmode;
pub mod overloads;
pub mod parts;
pub mod signature;
pub mod single_flight;
pub mod stencil;
pub mod table;
pub mod types;
pub mod ufuncs;
