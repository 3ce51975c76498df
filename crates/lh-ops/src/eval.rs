//! Building blocks of the rows' `eval` columns: reference semantics on constants.
//!
//! Integers are computed in 128 bits and wrapped to the width of their type; floats are computed in 64 bits and
//! rounded to theirs, which is exact for arithmetic and for square roots.

use lh_ir::types::TyKind;
use lh_ir::{Const, Ty};
use std::cmp::Ordering;

/// An integer of a type, from any integer of the same residue.
pub(crate) fn wrapped(v: i128, ty: Ty) -> Const {
    let shift = 128 - ty.bits();
    let v = if ty.is_signed() { (v << shift) >> shift } else { (((v as u128) << shift) >> shift) as i128 };
    Const::Int(v, ty)
}

/// A float of a type, rounded to it.
pub(crate) fn rounded(v: f64, ty: Ty) -> Const {
    Const::Float(lh_ir::half::rounded(v, ty), ty)
}

/// A bit pattern of an integer type, in the low bits.
fn bits(v: i128, ty: Ty) -> u64 {
    (v as u64) << (64 - ty.bits()) >> (64 - ty.bits())
}

pub(crate) fn reals1(a: &[Const], int: fn(i128) -> i128, float: fn(f64) -> f64) -> Option<Const> {
    match *a {
        [Const::Int(x, t)] => Some(wrapped(int(x), t)),
        [Const::Float(x, t)] => Some(rounded(float(x), t)),
        _ => None,
    }
}

pub(crate) fn reals2(a: &[Const], int: fn(i128, i128) -> i128, float: fn(f64, f64) -> f64) -> Option<Const> {
    match *a {
        [Const::Int(x, t), Const::Int(y, _)] => Some(wrapped(int(x, y), t)),
        [Const::Float(x, t), Const::Float(y, _)] => Some(rounded(float(x, y), t)),
        _ => None,
    }
}

pub(crate) fn float1(a: &[Const], f: fn(f64) -> f64) -> Option<Const> {
    match *a {
        [Const::Float(x, t)] => Some(rounded(f(x), t)),
        _ => None,
    }
}

/// A function of floats that changes no whole number.
pub(crate) fn rounding(a: &[Const], f: fn(f64) -> f64) -> Option<Const> {
    match a {
        [whole @ (Const::Int(..) | Const::Bool(_))] => Some(whole.clone()),
        _ => float1(a, f),
    }
}

pub(crate) fn float2(a: &[Const], f: fn(f64, f64) -> f64) -> Option<Const> {
    match *a {
        [Const::Float(x, t), Const::Float(y, _)] => Some(rounded(f(x, y), t)),
        _ => None,
    }
}

pub(crate) fn int1(a: &[Const], f: fn(i128) -> i128) -> Option<Const> {
    match *a {
        [Const::Int(x, t)] => Some(wrapped(f(x), t)),
        _ => None,
    }
}

/// A division of integers: nothing where the machine's is undefined.
pub(crate) fn quotient(a: &[Const], f: fn(i128, i128) -> i128) -> Option<Const> {
    match *a {
        [Const::Int(_, _), Const::Int(0, _)] => None,
        [Const::Int(x, t), Const::Int(-1, _)] if wrapped(-x, t) == Const::Int(x, t) && x != 0 => None,
        [Const::Int(x, t), Const::Int(y, _)] => Some(wrapped(f(x, y), t)),
        _ => None,
    }
}

/// A shift: nothing where the count is out of range.
pub(crate) fn shift(a: &[Const], f: fn(i128, u32) -> i128) -> Option<Const> {
    match *a {
        [Const::Int(x, t), Const::Int(n, _)] => {
            let n = u32::try_from(n).ok().filter(|n| *n < t.bits())?;
            Some(wrapped(f(x, n), t))
        }
        _ => None,
    }
}

/// A function of a bit pattern and its width; `f` gets the pattern in the low bits of 64.
pub(crate) fn bits1(a: &[Const], f: fn(u64, u32) -> u64) -> Option<Const> {
    match *a {
        [Const::Int(x, t)] => Some(wrapped(i128::from(f(bits(x, t), t.bits())), t)),
        _ => None,
    }
}

pub(crate) fn bitlike2(a: &[Const], f: fn(i128, i128) -> i128) -> Option<Const> {
    match *a {
        [Const::Int(x, t), Const::Int(y, _)] => Some(wrapped(f(x, y), t)),
        [Const::Bool(x), Const::Bool(y)] => Some(Const::Bool(f(i128::from(x), i128::from(y)) != 0)),
        _ => None,
    }
}

pub(crate) fn not(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Bool(x)] => Some(Const::Bool(!x)),
        _ => None,
    }
}

pub(crate) fn overflows(a: &[Const], f: fn(i128, i128) -> Option<i128>) -> Option<Const> {
    match *a {
        [Const::Int(x, t), Const::Int(y, _)] => {
            Some(Const::Bool(f(x, y).is_none_or(|r| wrapped(r, t) != Const::Int(r, t))))
        }
        _ => None,
    }
}

/// A comparison: `unordered` is its answer when an operand is NaN.
pub(crate) fn compare(a: &[Const], f: fn(Ordering) -> bool, unordered: bool) -> Option<Const> {
    let order = match *a {
        [Const::Int(x, _), Const::Int(y, _)] => Some(x.cmp(&y)),
        [Const::Bool(x), Const::Bool(y)] => Some(x.cmp(&y)),
        [Const::Float(x, _), Const::Float(y, _)] => x.partial_cmp(&y),
        _ => return None,
    };
    Some(Const::Bool(order.map_or(unordered, f)))
}

pub(crate) fn float_pred(a: &[Const], f: fn(f64) -> bool) -> Option<Const> {
    match *a {
        [Const::Float(x, _)] => Some(Const::Bool(f(x))),
        _ => None,
    }
}

pub(crate) fn select(a: &[Const]) -> Option<Const> {
    match a {
        [Const::Bool(c), x, y] => Some(if *c { x.clone() } else { y.clone() }),
        _ => None,
    }
}

pub(crate) fn float_minimum(x: f64, y: f64) -> f64 {
    match x.partial_cmp(&y) {
        None => f64::NAN,
        Some(Ordering::Less) => x,
        Some(Ordering::Greater) => y,
        Some(Ordering::Equal) => {
            if x.is_sign_negative() {
                x
            } else {
                y
            }
        }
    }
}

pub(crate) fn float_maximum(x: f64, y: f64) -> f64 {
    -float_minimum(-x, -y)
}

pub(crate) fn fma(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Float(x, t), Const::Float(y, _), Const::Float(z, _)] if t.bits() == 32 => {
            Some(Const::Float(f64::from((x as f32).mul_add(y as f32, z as f32)), t))
        }
        [Const::Float(x, t), Const::Float(y, _), Const::Float(z, _)] => Some(Const::Float(x.mul_add(y, z), t)),
        _ => None,
    }
}

pub(crate) fn nextafter(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Float(x, t), Const::Float(y, _)] if t.bits() == 32 => {
            Some(Const::Float(f64::from(libm::nextafterf(x as f32, y as f32)), t))
        }
        [Const::Float(x, t), Const::Float(y, _)] => Some(Const::Float(libm::nextafter(x, y), t)),
        _ => None,
    }
}

pub(crate) fn ldexp(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Float(x, t), Const::Int(n, _)] => Some(Const::Float(libm::ldexp(x, i32::try_from(n).ok()?), t)),
        _ => None,
    }
}

/// A double without its fraction; the least integer if that does not fit.
pub(crate) fn whole_of_float(args: &[Const]) -> Option<Const> {
    let [Const::Float(x, _)] = args else { return None };
    // Rust's cast gives the greatest integer for what is too large, and 0 for NaN.
    let fits = *x < 9_223_372_036_854_775_808.0;
    Some(Const::Int(i128::from(if fits { *x as i64 } else { i64::MIN }), Ty::i64()))
}

pub(crate) fn bits_of_float(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Float(x, t)] if t.bits() == 16 => Some(wrapped(i128::from(lh_ir::half::bits(x, t)), Ty::i16())),
        [Const::Float(x, t)] if t.bits() == 32 => Some(wrapped(i128::from((x as f32).to_bits()), Ty::i32())),
        [Const::Float(x, _)] => Some(wrapped(i128::from(x.to_bits()), Ty::i64())),
        _ => None,
    }
}

pub(crate) fn bfloat_of_bits(a: &[Const]) -> Option<Const> {
    let [Const::Int(x, _)] = *a else { return None };
    Some(Const::Float(lh_ir::half::number(x as u16, Ty::bf16()), Ty::bf16()))
}

pub(crate) fn float_of_bits(a: &[Const]) -> Option<Const> {
    match *a {
        [Const::Int(x, t)] if t.bits() == 16 => Some(Const::Float(lh_ir::half::to_f64(x as u16), Ty::f16())),
        [Const::Int(x, t)] if t.bits() == 32 => Some(Const::Float(f64::from(f32::from_bits(x as u32)), Ty::f32())),
        [Const::Int(x, _)] => Some(Const::Float(f64::from_bits(x as u64), Ty::f64())),
        _ => None,
    }
}

/// Examples, kept for ever: types are interned at run time, so rows cannot be constants.
pub(crate) fn eg(list: Vec<(Vec<Const>, Const)>) -> &'static [(&'static [Const], Const)] {
    Vec::leak(list.into_iter().map(|(args, result)| (&*Vec::leak(args), result)).collect())
}

macro_rules! constants {
    ($($name:ident: $kind:ident as $wide:ty;)*) => {$(
        /// A constant of the type, for examples.
        pub(crate) fn $name(v: $name) -> Const {
            Const::$kind(<$wide>::from(v), Ty::$name())
        }
    )*};
}
constants! {
    i8: Int as i128;
    i16: Int as i128;
    i32: Int as i128;
    i64: Int as i128;
    u8: Int as i128;
    u64: Int as i128;
    f32: Float as f64;
    f64: Float as f64;
}

/// A `bfloat16` constant, for examples.
pub(crate) fn bf16(v: f64) -> Const {
    Const::Float(v, Ty::bf16())
}

/// A `float16` constant, for examples.
pub(crate) fn f16(v: f64) -> Const {
    Const::Float(v, Ty::f16())
}

/// Whether two constants are the same value: bits, but any NaN is every other.
pub fn agree(a: &Const, b: &Const) -> bool {
    match (a, b) {
        (Const::Float(x, s), Const::Float(y, t)) if x.is_nan() && y.is_nan() => s == t,
        _ => a.same(b),
    }
}

/// Distance of two floats of one type in units of the last place; NaN is far from all but NaN.
pub fn ulps(a: &Const, b: &Const) -> Option<u64> {
    let (Const::Float(x, s), Const::Float(y, t)) = (a, b) else { return None };
    if s != t {
        return None;
    }
    if x.is_nan() || y.is_nan() {
        return Some(if x.is_nan() && y.is_nan() { 0 } else { u64::MAX });
    }
    let line = |v: f64| -> i64 {
        // Maps floats to integers in their order, so that neighbours differ by one.
        let b = if matches!(s.kind(), TyKind::Float { bits: 32, .. }) {
            i64::from((v as f32).to_bits() as i32) << 32 >> 32
        } else {
            v.to_bits() as i64
        };
        let least = if s.bits() == 32 { i64::from(i32::MIN) } else { i64::MIN };
        if b < 0 { least.wrapping_sub(b) } else { b }
    };
    Some(line(*x).abs_diff(line(*y)))
}
