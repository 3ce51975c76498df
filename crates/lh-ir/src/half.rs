//! `float16` and `bfloat16` in numbers that Rust has: conversions, rounded once.

use crate::Ty;

/// The number of these bits of a type of 16 bits.
pub fn number(bits: u16, ty: Ty) -> f64 {
    if ty == Ty::bf16() { f64::from(f32::from_bits(u32::from(bits) << 16)) } else { to_f64(bits) }
}

/// The bits of the nearest number of a type of 16 bits.
pub fn bits(x: f64, ty: Ty) -> u16 {
    if ty == Ty::bf16() { bfloat(x) } else { of_f64(x) }
}

/// The number of these bits of a `float16`.
pub fn to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => fraction * 2f64.powi(-24),
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// The bits of the nearest `float16`; of two as near, the even one.
pub fn of_f64(x: f64) -> u16 {
    let sign = (x.to_bits() >> 48) as u16 & 0x8000;
    let size = x.abs();
    sign | if size.is_nan() {
        0x7e00
    } else if size >= 65520.0 {
        0x7c00
    } else if size < 2f64.powi(-14) {
        (size * 2f64.powi(24)).round_ties_even() as u16
    } else {
        let exponent = (size.to_bits() >> 52) as i32 - 1023;
        // From 1024 to 2048: rounding up to 2048 carries into the exponent by itself.
        let fraction = (size * 2f64.powi(10 - exponent)).round_ties_even() as u16;
        (exponent + 14) as u16 * 1024 + fraction
    }
}

/// The bits of the nearest `bfloat16`; of two as near, the even one.
fn bfloat(x: f64) -> u16 {
    if x.is_nan() {
        return 0x7fc0 | (x.to_bits() >> 48) as u16 & 0x8000;
    }
    // Rounded to odd in `float32`, so that the second rounding is correct: it still sees whether anything was cut off.
    let near = x as f32;
    let back = f64::from(near);
    let word = near.to_bits();
    let odd = if back == x { word } else { (word - u32::from(back.abs() > x.abs())) | 1 };
    ((u64::from(odd) + 0x7fff + u64::from(odd >> 16 & 1)) >> 16) as u16
}

/// An integer as a number that is rounded to any float type of 16 bits as the integer would be.
pub fn of_integer(i: i128) -> f64 {
    if i.unsigned_abs() < 1 << 53 {
        i as f64
    } else {
        ((i >> 12 << 12) + if i & 0xfff == 0 { 0 } else { 0x800 }) as f64
    }
}

/// A number rounded to a float type.
pub fn rounded(x: f64, ty: Ty) -> f64 {
    match ty.bits() {
        16 => number(bits(x, ty), ty),
        32 => f64::from(x as f32),
        _ => x,
    }
}
