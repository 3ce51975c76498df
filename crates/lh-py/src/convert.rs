//! Arguments for a specialisation of other types: which may be converted, at what cost, and how.

use lh_ir::{Ty, TyKind};

pub use lh_infer::{cost, cost_of_all};

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
        TyKind::Int { bits, signed, .. } => {
            let shift = 64 - u32::from(bits);
            let v = if signed {
                i128::from((words[0] << shift) as i64 >> shift)
            } else {
                i128::from(words[0] << shift >> shift)
            };
            (v, v as f64, 0.0)
        }
        _ => {
            let half = from.real_part().bits();
            let part = |w: u64| crate::boxing::float(w, half);
            let re = part(words[0]);
            (re as i128, re, words.get(1).map_or(0.0, |w| part(*w)))
        }
    };
    let float = |x: f64, bits: u32| match bits {
        16 => u64::from(lh_ir::half::of_f64(x)),
        32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    };
    match to.kind() {
        TyKind::Bool => out.push(u64::from(re != 0.0 || im != 0.0)),
        TyKind::Int { .. } => out.push(int as u64),
        TyKind::Float { .. } => out.push(float(re, to.bits())),
        _ => out.extend([float(re, to.bits() / 2), float(im, to.bits() / 2)]),
    }
}
