//! Bytecode to untyped IR.

pub mod raw;

use lh_ir::diag::Result;
use lh_ir::untyped::Code;

/// Translates a code object of CPython `version` (major, minor).
///
/// # Errors
/// A diagnostic for what the language does not have. Never panics, whatever the bytes.
pub fn translate(raw: &raw::RawCode, version: (u8, u8)) -> Result<Code> {
    let _ = (raw, version);
    todo!()
}
