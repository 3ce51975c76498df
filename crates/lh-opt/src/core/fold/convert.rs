//! Constant conversion with the rules of C.

use lh_ir::{Const, Ty};

/// The constant with another type of the same representation, such as `int` for `int64`.
pub(super) fn with_type(c: Const, ty: Ty) -> Option<Const> {
    if c.ty().strong() != ty.strong() {
        return None;
    }
    Some(match c {
        Const::Int(i, _) => Const::Int(i, ty),
        Const::Float(x, _) => Const::Float(x, ty),
        Const::Complex(re, im, _) => Const::Complex(re, im, ty),
        Const::None | Const::Bool(_) | Const::Str(_) => c,
    })
}

/// The constant cast to a number type; `None` where C leaves the result undefined or the constant is no number.
pub(super) fn cast(c: &Const, to: Ty) -> Option<Const> {
    let (re, im) = match c {
        Const::Bool(b) => return cast(&Const::Int(i128::from(*b), Ty::i64()), to),
        Const::Int(i, _) if to.is_int() => return Some(Const::Int(wrap(*i, to), to)),
        Const::Int(i, _) if to.is_bool() => return Some(Const::Bool(*i != 0)),
        Const::Int(i, _) => (round(*i as f64, to, Some(*i)), 0.0),
        Const::Float(x, _) => (*x, 0.0),
        Const::Complex(re, im, _) => (*re, *im),
        Const::None | Const::Str(_) => return None,
    };
    if to.is_bool() {
        Some(Const::Bool(re != 0.0 || im != 0.0))
    } else if to.is_int() {
        let i = re.trunc();
        let limit = 2f64.powi(to.bits() as i32 - i32::from(to.is_signed()));
        let fits = if to.is_signed() { -limit <= i && i < limit } else { 0.0 <= i && i < limit };
        fits.then_some(Const::Int(i as i128, to))
    } else if to.is_float() {
        Some(Const::Float(round(re, to, None), to))
    } else if to.is_complex() {
        Some(Const::Complex(round(re, to, None), round(im, to, None), to))
    } else {
        None
    }
}

fn wrap(i: i128, to: Ty) -> i128 {
    let shift = 128 - to.bits();
    if to.is_signed() { (i << shift) >> shift } else { (((i as u128) << shift) >> shift) as i128 }
}

/// Rounds to the precision of a type; from the exact integer if there is one, to avoid double rounding.
fn round(x: f64, to: Ty, exact: Option<i128>) -> f64 {
    match exact {
        Some(i) if to.real_part().bits() == 32 => f64::from(i as f32),
        Some(i) if to.is_half() => lh_ir::half::rounded(lh_ir::half::of_integer(i), to),
        _ => lh_ir::half::rounded(x, to.real_part()),
    }
}
