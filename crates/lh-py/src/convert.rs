//! Arguments for a specialisation of other types: which may be converted, at what cost, and how.

use lh_ir::{Layout, Ty, TyKind};

/// Cost of passing a value of the first type where the second is wanted; `None` if that is not done.
///
/// A wider type of the same kind costs least, a change of kind more, a loss of range or precision most.
pub fn cost(from: Ty, to: Ty) -> Option<u32> {
    const SAFE: u32 = 1;
    const PROMOTE: u32 = 10;
    const UNSAFE: u32 = 1000;
    if from == to {
        return Some(0);
    }
    match (from.kind(), to.kind()) {
        (TyKind::Tuple { elems: a, name: n }, TyKind::Tuple { elems: b, name: m }) if n == m => cost_of_all(a, b),
        (TyKind::None, TyKind::Optional(_)) => Some(SAFE),
        (TyKind::Never, _) => Some(SAFE),
        (_, TyKind::Optional(t)) => cost(from, *t).map(|c| c + SAFE),
        (
            TyKind::Array { dtype: d, ndim: n, layout: l, readonly: r },
            TyKind::Array { dtype: e, ndim: m, layout: k, readonly: s },
        ) => {
            let fits = d == e && n == m && (l == k || *k == Layout::A) && (!r || *s);
            fits.then_some(SAFE)
        }
        _ if !from.is_number() || !to.is_number() => None,
        _ => Some(match (rank(from), rank(to)) {
            (a, b) if a == b => {
                let widens = to.bits() > from.bits() && (!to.is_int() || from.is_signed() == to.is_signed());
                let into_signed = to.is_signed() && to.bits() > from.bits();
                if widens || into_signed { SAFE } else { UNSAFE }
            }
            // Complex numbers have no real value.
            (a, b) if a > b => {
                if a == 3 {
                    return None;
                }
                UNSAFE * 2
            }
            (a, b) => {
                let exact = a == 0 || 2 * from.bits() <= to.bits() || (b == 3 && a == 2);
                PROMOTE * (b - a) + if exact { 0 } else { PROMOTE }
            }
        }),
    }
}

fn rank(t: Ty) -> u32 {
    match t.kind() {
        TyKind::Bool => 0,
        TyKind::Int { .. } => 1,
        TyKind::Float { .. } => 2,
        _ => 3,
    }
}

/// Cost of all arguments together.
pub fn cost_of_all(from: &[Ty], to: &[Ty]) -> Option<u32> {
    if from.len() != to.len() {
        return None;
    }
    from.iter().zip(to).map(|(f, t)| cost(*f, *t)).sum()
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
            let part = |w: u64| if half == 32 { f64::from(f32::from_bits(w as u32)) } else { f64::from_bits(w) };
            let re = part(words[0]);
            (re as i128, re, words.get(1).map_or(0.0, |w| part(*w)))
        }
    };
    let float = |x: f64, bits: u32| if bits == 32 { u64::from((x as f32).to_bits()) } else { x.to_bits() };
    match to.kind() {
        TyKind::Bool => out.push(u64::from(re != 0.0 || im != 0.0)),
        TyKind::Int { .. } => out.push(int as u64),
        TyKind::Float { .. } => out.push(float(re, to.bits())),
        _ => out.extend([float(re, to.bits() / 2), float(im, to.bits() / 2)]),
    }
}
