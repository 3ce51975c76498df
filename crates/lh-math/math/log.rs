//! Logarithms.

use super::bits::{MAGIC, fma, poly};
use super::exp::{LN2_HI, LN2_LO};

const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;

/// `x = 2^k * m` with `m` between the roots of 1/2 and 2, for positive finite `x`.
#[inline(always)]
pub fn split(x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let x = if tiny { x * 18014398509481984.0 } else { x };
    let bias = if tiny { MAGIC + 1077.0 } else { MAGIC + 1023.0 };
    let t = x.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f64::from_bits((t >> 52) | MAGIC.to_bits()) - bias;
    (k, f64::from_bits((t & MANTISSA) + SQRT_HALF))
}

/// `(log((1 + s) / (1 - s)) - 2 s) / s` as a polynomial in `z = s^2`.
#[inline(always)]
pub fn series(z: f64) -> f64 {
    z * poly!(z, [
        0.666666666666667, 0.3999999999989928, 0.28571428626210205, 0.22222211090523247, 0.18182892462867364,
        0.15331610842107626, 0.1461779712462674,
    ])
}

/// The values outside the positive finite numbers, `y` inside.
#[inline(always)]
pub fn edges(x: f64, y: f64) -> f64 {
    let y = if x < f64::INFINITY { y } else { x };
    let outside = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    if x > 0.0 { y } else { outside }
}

#[inline(always)]
pub fn log(x: f64) -> f64 {
    let (k, m) = split(x);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let half = 0.5 * f * f;
    let low = fma(s, half + series(s * s), k * LN2_LO);
    edges(x, fma(k, LN2_HI, f - (half - low)))
}
