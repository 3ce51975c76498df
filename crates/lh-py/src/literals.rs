//! Arguments whose values are part of the specialisation, since the code asks for it with `literally`.
//!
//! Their values follow the tags of all arguments, so that an entry fits only a call with the same ones.

use crate::args::ArgBuf;
use crate::typing::Decoder;
use crate::undecided::first_tags;
use crate::{objects, render};
use lh_ir::types::Literal;
use lh_ir::{Ty, TyKind};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Types of the arguments as they come, literal types for those that are to be known.
pub fn types(py: Python<'_>, literals: &[usize], buf: &ArgBuf, argc: usize) -> PyResult<Vec<Ty>> {
    let mut natural = Decoder::new(py, &buf.tags).many(argc);
    let values = literals.iter().map(|at| literal(py, &natural, buf, *at)).collect::<PyResult<Vec<_>>>()?;
    for (at, value) in literals.iter().zip(values) {
        natural[*at] = Ty::new(TyKind::Literal(value));
    }
    Ok(natural)
}

/// Adds the values that are to be known to the tags, in place of others.
pub fn tag(py: Python<'_>, literals: &[usize], buf: &mut ArgBuf, argc: usize) -> PyResult<()> {
    let natural = Decoder::new(py, &buf.tags).many(argc);
    let own = first_tags(&buf.tags, argc);
    buf.tags.truncate(own);
    for at in literals {
        let word = word(py, literal(py, &natural, buf, *at)?);
        buf.tags.push(word);
    }
    Ok(())
}

/// Whether an argument's value can be part of what is specialised for: an error says why not.
pub fn check(py: Python<'_>, buf: &ArgBuf, at: usize, argc: usize) -> PyResult<()> {
    let natural = Decoder::new(py, &buf.tags).many(argc);
    literal(py, &natural, buf, at).map(|_| ())
}

/// A word that differs for different values of one type.
fn word(py: Python<'_>, value: Literal) -> u64 {
    match value {
        Literal::Int(i) => i as u64,
        Literal::Bool(b) => u64::from(b),
        // Equal objects have one number.
        Literal::Str(s) => u64::from(objects::intern(PyString::new(py, &s).as_any()).0),
    }
}

fn literal(py: Python<'_>, natural: &[Ty], buf: &ArgBuf, at: usize) -> PyResult<Literal> {
    let first: usize = natural[..at].iter().map(|t| t.flatten().len()).sum();
    let slots = &buf.slots[first..];
    match natural[at].kind() {
        TyKind::Int { weak: true, .. } => Ok(Literal::Int(slots[0] as i64)),
        TyKind::Bool => Ok(Literal::Bool(slots[0] & 1 != 0)),
        TyKind::Str => {
            let (data, len) = (slots[1] as *const u8, slots[2] as i64);
            // SAFETY: the slots of a string point to so many bytes of UTF-8, which the argument keeps alive.
            Ok(Literal::Str(unsafe { lh_runtime::text(data, len) }.to_owned()))
        }
        TyKind::Array { .. } => Err(no_literal(py, "numpy.ndarray")),
        _ => Err(no_literal(py, &natural[at].to_string())),
    }
}

/// The error for a value without a literal type.
pub fn no_literal(py: Python<'_>, what: &str) -> PyErr {
    render::error_of(
        py,
        "LiteralTypingError",
        &format!("{what} cannot be used as a literal; ints, bools and strings can"),
    )
}
