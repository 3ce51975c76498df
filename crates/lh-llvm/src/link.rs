//! The vector math library, linked into modules that use it.

use crate::ir::Module;

/// Whether the vector math library defines a function.
pub(crate) fn has_math(_name: &str) -> bool {
    false
}

/// Links the functions of the vector math library that a module declares.
pub(crate) fn add_math(_m: &Module) {}
