//! Arguments whose values are compiled in, since the code asks for that with `literally`.
//!
//! The values follow the tags of all arguments, so an entry fits only calls with equal ones.

use crate::call::args::ArgBuf;
use crate::call::decode::Decoder;
use crate::call::tags::first_tags;
use crate::host::table;
use crate::host::types::no_literal;
use lh_ir::types::Literal;
use lh_ir::{Ty, TyKind};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The types of the arguments, with literal types for those whose values are compiled in.
pub fn types(py: Python<'_>, literals: &[usize], buf: &ArgBuf, argc: usize) -> PyResult<Vec<Ty>> {
    let mut natural = Decoder::new(py, &buf.tags).many(argc);
    let values = literals.iter().map(|at| literal(py, &natural, buf, *at)).collect::<PyResult<Vec<_>>>()?;
    for (at, value) in literals.iter().zip(values) {
        natural[*at] = Ty::new(TyKind::Literal(value));
    }
    Ok(natural)
}

/// Appends the values that are compiled in to the tags.
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

/// Checks that the value of an argument can be compiled in.
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
        Literal::Str(s) => u64::from(table::intern(PyString::new(py, &s).as_any()).0),
        Literal::Initial(d) => lh_ir::bug!("`{}` is no literal of an argument", d.ty),
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
            // SAFETY: the slots of a string point to so many bytes, which the argument keeps alive.
            let text = unsafe { lh_runtime::text(data, len) }.as_str();
            text.map(|s| Literal::Str(s.to_owned())).ok_or_else(|| no_literal(py, "str with lone surrogates"))
        }
        TyKind::Array { .. } => Err(no_literal(py, "numpy.ndarray")),
        _ => Err(no_literal(py, &natural[at].to_string())),
    }
}
