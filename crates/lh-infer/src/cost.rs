//! Arguments for a specialisation of other types: which may be converted, and at what cost.

use crate::convert::rank;
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
        (_, TyKind::Instance { of, .. }) if to.is_function() => {
            let other = matches!(from.kind(), TyKind::Instance { .. }) && to != to.with_functions(from);
            ((to.is_open() && from.is_function() && !other) || *of == from).then_some(SAFE)
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
                // Of types that lose digits, the one that loses fewer.
                let lost = if to.bits() >= 64 { 1 } else { 2 };
                PROMOTE * (u32::from(b - a) + if exact { 0 } else { lost })
            }
        }),
    }
}

/// Cost of all arguments together.
pub fn cost_of_all(from: &[Ty], to: &[Ty]) -> Option<u32> {
    if from.len() != to.len() {
        return None;
    }
    from.iter().zip(to).map(|(f, t)| cost(*f, *t)).sum()
}
