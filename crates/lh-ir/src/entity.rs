//! Newtyped indices. Data live in arenas; code holds these.

use serde::Deserialize;
use std::fmt;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in its arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
            /// The entity at a position of its arena.
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 entities"))
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

entity!(
    /// An SSA value, of an untyped or a typed function.
    Value, "v");
entity!(
    /// A basic block.
    Block, "block");
entity!(
    /// A mutable stack slot of a typed function (iterator states and the like).
    Slot, "slot");
entity!(
    /// A Python code object with its globals, which can be specialised. The driver numbers them.
    FuncId, "func");
entity!(
    /// A function compiled for one tuple of argument types. The driver numbers them.
    SpecId, "spec");
entity!(
    /// A Python object known while compiling (module, class, function, constant). The driver numbers them.
    ObjId, "obj");
entity!(
    /// A registered exception class; the run-time library keeps the table and the subclass relation.
    ExcId, "exc");

impl FuncId {
    /// The number of a function of the stored library, which is the same in every process.
    pub fn stored(n: u32) -> FuncId {
        FuncId(n | 1 << 31)
    }
    /// The number in the stored library, if the function belongs to it.
    pub fn as_stored(self) -> Option<u32> {
        (self.0 >> 31 != 0).then_some(self.0 & !(1 << 31))
    }
}
