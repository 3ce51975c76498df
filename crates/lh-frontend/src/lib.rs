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
mod plan;
pub mod raw;
mod ssa;
mod stack;
mod step;
mod tidy;
mod translate;
mod unroll;
mod verify;
mod visit;

use hashbrown::HashMap;
use instr::Program;
use lh_ir::Span;
use lh_ir::diag::{Diagnostic, Result, TOO_LARGE, UNSUPPORTED_SYNTAX};
use lh_ir::untyped::Code;
pub use lift::{Uses, lifted, uses};
use std::cell::RefCell;
use std::sync::Arc;
use translate::Inner;
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
    let known = Known::default();
    let Inner { code, assigned } = translate_nested(raw, version, 0, Vec::new(), &known)?;
    if let Some((index, span)) = assigned.first() {
        let name = &code.freevars[*index as usize];
        let text = format!("assigning to `{name}`, a variable of a function that is not compiled, is not supported");
        let refused = Diagnostic::new(UNSUPPORTED_SYNTAX, text).at(&raw.filename, *span);
        return Err(refused.note(format!("pass `{name}` as an argument and return its new value")));
    }
    drop(known);
    Ok(Arc::unwrap_or_clone(code))
}

/// Translated inner functions, by their code and which of their captured variables are shared.
type Known = RefCell<HashMap<(*const raw::RawCode, Vec<bool>), Inner>>;

fn translate_nested(
    raw: &raw::RawCode,
    version: (u8, u8),
    depth: u32,
    shared: Vec<bool>,
    known: &Known,
) -> Result<Inner> {
    let key = (std::ptr::from_ref(raw), shared);
    if let Some(found) = known.borrow().get(&key) {
        return Ok(found.clone());
    }
    let program = program(raw, version, depth)?;
    let inner = |inner: &_, shared| translate_nested(inner, version, depth + 1, shared, known);
    let translated = translate::translate(raw, &program, &inner, key.1.clone())?;
    known.borrow_mut().insert(key, translated.clone());
    Ok(translated)
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
