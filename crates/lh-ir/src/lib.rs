//! The compiler's data: types, classes that the library declares, untyped and typed functions, constants, operations,
//! spans and diagnostics. Everything a stage makes can be printed, parsed again and verified here: both IRs have a text
//! form. This crate knows no Python and no LLVM.

pub mod algebra;
mod bug;
pub mod cfg;
mod choice;
pub mod class;
pub mod consts;
pub mod device;
pub mod diag;
pub mod entity;
pub mod func;
pub mod half;
pub mod hints;
pub mod meaning;
pub mod op;
pub mod options;
pub mod parallel;
pub mod parse;
pub mod parse_untyped;
pub mod print;
mod print_untyped;
pub mod runtime;
pub mod single_valued;
pub mod span;
pub mod spec;
pub mod stop;
pub mod stored;
pub mod switches;
mod target;
pub mod time_unit;
mod type_names;
pub mod types;
pub mod untyped;
pub mod verify;

/// Entries of the table in which recursive functions look up whether they are well inside of their stack; a power of
/// two.
pub const STACK_REGIONS: usize = 64;

/// Bits of an address in a region (64 KiB) that are 0 in its first eighth, where compiled code looks at the stack.
pub const STACK_WINDOW: i64 = 0xe000;

pub use consts::Const;
pub use diag::{Diagnostic, Id};
pub use entity::{Block, ExcId, FuncId, ObjId, Slot, SpecId, Value};
pub use func::Function;
pub use meaning::{Meaning, TupleMeaning};
pub use op::Op;
pub use span::Span;
pub use types::{Layout, Ty, TyKind};
