//! Arguments for a specialisation of other types: which may be converted, at what cost, and how.

use lh_ir::{Ty, TyKind};

pub use lh_infer::cost;

/// As between types of compiled code, of all arguments together; an integer may be an address, too.
pub fn cost_of_all(from: &[Ty], to: &[Ty]) -> Option<u32> {
    let own = |(i, f): (usize, &Ty)| to.get(i).copied().filter(|t| f.is_int() && t.is_address()).unwrap_or(*f);
    lh_infer::cost_of_all(&from.iter().enumerate().map(own).collect::<Vec<_>>(), to)
}

/// Whether the integers in the slots of a value keep their values as another type's.
pub fn fits(from: Ty, to: Ty, at: &mut &[u64]) -> bool {
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

/// The integer in a slot.
fn integer(ty: Ty, word: u64) -> i128 {
    let shift = 64 - ty.bits();
    if ty.is_signed() { i128::from((word << shift) as i64 >> shift) } else { i128::from(word << shift >> shift) }
}

/// Slots of a value as a value of another type, for pairs that have a cost.
pub fn slots(from: Ty, to: Ty, at: &mut &[u64], out: &mut Vec<u64>) {
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
        _ if from != to && from.is_number() && to.is_number() => {
            let words = take(from.flatten().len());
            number(from, to, words, out);
        }
        _ => out.extend_from_slice(take(from.flatten().len())),
    }
}

/// A number as C converts it.
fn number(from: Ty, to: Ty, words: &[u64], out: &mut Vec<u64>) {
    let (int, re, im) = match *from.kind() {
        TyKind::Bool => (i128::from(words[0] & 1), (words[0] & 1) as f64, 0.0),
        TyKind::Int { .. } => {
            let v = integer(from, words[0]);
            (v, v as f64, 0.0)
        }
        _ => {
            let part = |w: u64| crate::boxing::float(w, from.real_part());
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
