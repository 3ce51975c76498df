//! Conversion of arguments for a specialisation of other types.

use crate::call::args::ArgBuf;
use crate::call::function_words;
use crate::call::overload::Overload;
use crate::object::words;
use lh_ir::types::InstanceOf;
use lh_ir::{Ty, TyKind};
use lh_runtime::MemInfo;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

/// The cost of converting all arguments, as between types of compiled code; an integer may also be an address.
pub fn cost_of_all(from: &[Ty], to: &[Ty]) -> Option<u32> {
    let own = |(i, f): (usize, &Ty)| to.get(i).copied().filter(|t| f.is_int() && t.is_address()).unwrap_or(*f);
    lh_infer::cost_of_all(&from.iter().enumerate().map(own).collect::<Vec<_>>(), to)
}

/// Whether the integers in a value keep their values in another type.
pub fn fits(from: Ty, to: Ty, at: &mut &[u64]) -> bool {
    let from = from.native();
    match (from.kind(), to.kind()) {
        (TyKind::Tuple { elems: a, .. }, TyKind::Tuple { elems: b, .. }) => {
            a.iter().zip(b).all(|(f, t)| fits(*f, *t, at))
        }
        (f, TyKind::Optional(t)) if !matches!(f, TyKind::Optional(_) | TyKind::None) => fits(from, *t, at),
        _ => {
            let (words, rest) = at.split_at(from.flatten().len());
            *at = rest;
            let TyKind::Int { bits, signed, .. } = *to.kind() else { return true };
            let value = if from.is_int() { integer(from, words[0]) } else { 0 };
            let low = if signed { -(1i128 << (bits - 1)) } else { 0 };
            (low..low + (1i128 << bits)).contains(&value)
        }
    }
}

/// The integer in a word.
fn integer(ty: Ty, word: u64) -> i128 {
    let shift = 64 - ty.bits();
    if ty.is_signed() { i128::from((word << shift) as i64 >> shift) } else { i128::from(word << shift >> shift) }
}

/// The words of a value converted to another type, for pairs of types with a cost.
pub fn slots(from: Ty, to: Ty, at: &mut &[u64], out: &mut Vec<u64>) {
    let from = if to.as_enum().is_some() { from } else { from.native() };
    let mut take = |n: usize| {
        let (these, rest) = at.split_at(n);
        *at = rest;
        these
    };
    match (from.kind(), to.kind()) {
        (TyKind::Tuple { elems: a, .. }, TyKind::Tuple { elems: b, .. }) => {
            a.iter().zip(b).for_each(|(f, t)| slots(*f, *t, at, out));
        }
        (TyKind::None, TyKind::Optional(_)) => out.extend(std::iter::repeat_n(0, to.flatten().len())),
        (f, TyKind::Optional(t)) if !matches!(f, TyKind::Optional(_)) => {
            out.push(1);
            slots(from, *t, at, out);
        }
        (f, TyKind::Instance { class: InstanceOf::Function { .. }, .. })
            if to.is_open() && from.flatten().is_empty() =>
        {
            out.push(function_words::word_of_type(f));
        }
        _ if from != to && from.is_number() && to.is_number() => {
            let words = take(from.flatten().len());
            number(from, to, words, out);
        }
        _ => out.extend_from_slice(take(from.flatten().len())),
    }
}

/// Converts a number as C does.
fn number(from: Ty, to: Ty, words: &[u64], out: &mut Vec<u64>) {
    let (int, re, im) = match *from.kind() {
        TyKind::Bool => (i128::from(words[0] & 1), (words[0] & 1) as f64, 0.0),
        TyKind::Int { .. } => {
            let v = integer(from, words[0]);
            (v, v as f64, 0.0)
        }
        _ => {
            let part = |w: u64| words::float(w, from.real_part());
            let re = part(words[0]);
            (re as i128, re, words.get(1).map_or(0.0, |w| part(*w)))
        }
    };
    let float = |x: f64, ty: Ty| match ty.bits() {
        16 => u64::from(lh_ir::half::bits(x, ty)),
        32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    };
    match to.kind() {
        TyKind::Bool => out.push(u64::from(re != 0.0 || im != 0.0)),
        TyKind::Int { .. } => out.push(int as u64),
        TyKind::Float { .. } | TyKind::Bfloat16 => out.push(float(re, to)),
        _ => out.extend([float(re, to.real_part()), float(im, to.real_part())]),
    }
}

/// Converts the arguments in a buffer to the types of a specialisation. Integers must fit, except for kernels: CUDA
/// takes their low bits.
#[cold]
pub fn convert_all(natural: &[Ty], overload: &Overload, buf: &mut ArgBuf) -> PyResult<()> {
    let mut at = &buf.slots[..];
    for (i, (from, to)) in natural.iter().zip(&overload.compiled.args).enumerate() {
        if !fits(*from, *to, &mut at) && overload.compiled.kernel.is_none() {
            return Err(PyOverflowError::new_err(format!("argument {} is out of bounds for {to}", i + 1)));
        }
    }
    if overload.compiled.escapes {
        buf.own();
    }
    let owned = buf.owners.drain(..).map(|(at, _)| buf.slots[at as usize] as *mut MemInfo);
    buf.held.extend(owned);
    let mut out = Vec::new();
    let mut at = &buf.slots[..];
    for (from, to) in natural.iter().zip(&overload.compiled.args) {
        slots(*from, *to, &mut at, &mut out);
    }
    buf.slots.clear();
    buf.slots.extend_from_slice(&out);
    Ok(())
}
