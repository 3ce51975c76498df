//! Exponentials.

use super::bits::{MAGIC, fma, poly};

pub const LOG2E: f64 = 1.4426950408889634;
/// The logarithm of two in two parts; the first has trailing zeros, so that its small multiples are exact.
pub const LN2_HI: f64 = 0.6931471805582987;
pub const LN2_LO: f64 = 1.6465949582897082e-12;

/// Twice the exponent bias, added to the exponent so that it can be halved as an unsigned number.
const BIAS2: f64 = 2046.0;

/// `x` within `[lo, hi]`; NaN stays.
#[inline(always)]
pub fn clamp(x: f64, lo: f64, hi: f64) -> f64 {
    let x = if x > hi { hi } else { x };
    if x < lo { lo } else { x }
}

/// The nearest integer `k`, and `k + 2046` as a word.
#[inline(always)]
pub fn exponent(x: f64, scale: f64) -> (f64, u64) {
    let t = fma(x, scale, MAGIC + BIAS2);
    (t - (MAGIC + BIAS2), t.to_bits().wrapping_sub(MAGIC.to_bits()))
}

/// `m * 2^k` for `k + 2046` in `biased`, in two steps: the result may be subnormal or infinite.
#[inline(always)]
pub fn scale(m: f64, biased: u64) -> f64 {
    let half = biased >> 1;
    let rest = biased.wrapping_sub(half);
    m * f64::from_bits(half << 52) * f64::from_bits(rest << 52)
}

/// `(e^r - 1 - r) / r^2` for `|r| <= log(2) / 2`.
#[inline(always)]
pub fn tail(r: f64) -> f64 {
    poly!(r, [
        0.5, 0.1666666666666667, 0.04166666666666668, 0.008333333333325895, 0.0013888888888876985,
        0.0001984126987541775, 2.4801587342422262e-05, 2.7557254814748976e-06, 2.75572570054771e-07,
        2.5105415041433347e-08, 2.092035009204448e-09,
    ])
}

/// `1 + r + t` for a small `t`, with one rounding that counts.
#[inline(always)]
fn one_plus(r: f64, t: f64) -> f64 {
    let s = 1.0 + r;
    s + ((r - (s - 1.0)) + t)
}

#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = clamp(x, -746.0, 710.0);
    let (k, biased) = exponent(x, LOG2E);
    let r = fma(-k, LN2_LO, fma(-k, LN2_HI, x));
    scale(one_plus(r, r * r * tail(r)), biased)
}
