//! Bytecode to untyped IR.
//!
//! ```text
//! RawCode ─▶ decode (cpython3xx) ─▶ comprehension ─▶ translate ─▶ tidy ─▶ Code
//! ```
//!
//! Decoders normalise each version's bytecode to one stack machine (`instr`); nothing behind them knows versions.
//! `unroll` rewrites translated code where inference asks for it, `lift` where functions share code.
//! Nothing recurses over the code, except into inner functions, whose depth is bounded.

mod build;
mod closures;
mod comprehension;
mod decode;
mod dominators;
mod instr;
mod lift;
mod mutual;
pub mod raw;
mod ssa;
mod stack;
mod step;
mod tidy;
mod translate;
mod unroll;
mod verify;
mod visit;

use instr::Program;
use lh_ir::Span;
use lh_ir::diag::{Diagnostic, Result, TOO_LARGE, UNSUPPORTED_SYNTAX};
use lh_ir::untyped::Code;
pub use lift::{Uses, lifted, uses};
pub use unroll::unroll;
pub use verify::verify;

/// How deep functions may be nested.
const MAX_NESTING: u32 = 64;
/// Flags of `co_flags` for coroutines and asynchronous generators.
const ASYNC: u32 = 0x80 | 0x100 | 0x200;

/// Translates a code object of CPython `version` (major, minor).
///
/// # Errors
/// A diagnostic for what the language does not have. Never panics, whatever the bytes.
pub fn translate(raw: &raw::RawCode, version: (u8, u8)) -> Result<Code> {
    translate_nested(raw, version, 0)
}

fn translate_nested(raw: &raw::RawCode, version: (u8, u8), depth: u32) -> Result<Code> {
    let program = program(raw, version, depth)?;
    translate::translate(raw, &program, &|inner| translate_nested(inner, version, depth + 1))
}

/// Decodes code, with its comprehensions inlined.
fn program(raw: &raw::RawCode, version: (u8, u8), depth: u32) -> Result<Program<'_>> {
    let refuse = |id, text: String| {
        let span = Span { line: raw.firstlineno, ..Span::default() };
        Err(Diagnostic::new(id, text).at(&raw.filename, span))
    };
    if depth > MAX_NESTING {
        return refuse(TOO_LARGE, format!("functions are nested deeper than {MAX_NESTING}"));
    }
    if raw.flags & ASYNC != 0 {
        return refuse(
            UNSUPPORTED_SYNTAX,
            format!("`{}` is `async`, which is not supported in compiled code", raw.name),
        );
    }
    let decoded = decode::decode(raw, version)?;
    comprehension::inline(decoded, raw, |inner| program(inner, version, depth + 1))
}
