//! Logarithms.

use super::bits::{MAGIC, fast_two_sum, fma, horner, two_prod, two_sum};
use super::exp::{LN2_HI, LN2_LO, TINY};

const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;

/// `x = 2^k * m` with `m` between the roots of 1/2 and 2, for positive finite `x`.
#[inline(always)]
pub fn split(x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let x = if tiny { x * 18014398509481984.0 } else { x };
    split_normal(x, if tiny { 1077.0 } else { 1023.0 })
}

/// [`split`] of a normal number whose exponent has this bias.
#[inline(always)]
pub fn split_normal(x: f64, bias: f64) -> (f64, f64) {
    let t = x.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f64::from_bits((t >> 52) | MAGIC.to_bits()) - (MAGIC + bias);
    (k, f64::from_bits((t & MANTISSA) + SQRT_HALF))
}

/// `(log((1 + s) / (1 - s)) - 2 s) / s` as a polynomial in `z = s^2`.
#[inline(always)]
pub fn series(z: f64) -> f64 {
    z * horner!(
        fma,
        z,
        [
            0.666666666666667,
            0.3999999999989928,
            0.28571428626210205,
            0.22222211090523247,
            0.18182892462867364,
            0.15331610842107626,
            0.1461779712462674,
        ]
    )
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

const INV_LN2: f64 = 1.4426950408889634;
const INV_LN2_REST: f64 = 2.0355273740931033e-17;
const INV_LN10: f64 = 0.4342944819032518;
const INV_LN10_REST: f64 = 1.098319650216765e-17;
/// The decimal logarithm of two in two parts; multiples of the first are exact.
const LOG10_2_HI: f64 = 0.30102999566361177;
const LOG10_2_LO: f64 = 3.694239077158931e-13;

/// `k * unit + log(m) * factor`, each constant in two parts.
#[inline(always)]
fn log_to_base(x: f64, unit: (f64, f64), factor: (f64, f64)) -> f64 {
    let (k, m) = split(x);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let half = 0.5 * f * f;
    let hi = f - half;
    let lo = fma(s, half + series(s * s), (f - hi) - half);
    let (p, e) = two_prod(hi, factor.0);
    let (t, g) = fast_two_sum(k * unit.0, p);
    let rest = fma(hi, factor.1, fma(lo, factor.0, e + g));
    edges(x, t + fma(k, unit.1, rest))
}

#[inline(always)]
pub fn log2(x: f64) -> f64 {
    log_to_base(x, (1.0, 0.0), (INV_LN2, INV_LN2_REST))
}

#[inline(always)]
pub fn log10(x: f64) -> f64 {
    log_to_base(x, (LOG10_2_HI, LOG10_2_LO), (INV_LN10, INV_LN10_REST))
}

/// `log(1 + x + rest)` plus `shift * log(2)`, for `x > -1` and `rest` small beside `x`.
#[inline(always)]
pub fn log1p_sum(x: f64, rest: f64, shift: f64) -> f64 {
    let (u, c) = two_sum(1.0, x);
    let (k, m) = split(u);
    let unit = f64::from_bits((k + (MAGIC - 1023.0)).to_bits().wrapping_neg() << 52);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let half = 0.5 * f * f;
    // log(m + c) - log(m) is nearly c / m, and 1 / m is (1 - s) / (1 + s).
    let c = (c + rest) * unit * ((1.0 - s) * fma(s, s, 1.0 - s));
    // Of no weight for a large `u`, whose unit may be out of range.
    let c = if x < 1.152921504606847e18 { c } else { 0.0 };
    let k = k + shift;
    let low = fma(s, half + series(s * s), fma(k, LN2_LO, c));
    fma(k, LN2_HI, f - (half - low))
}

#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let y = log1p_sum(x, 0.0, 0.0);
    let y = if x < f64::INFINITY { y } else { x };
    let outside = if x == -1.0 { f64::NEG_INFINITY } else { f64::NAN };
    let y = if x > -1.0 { y } else { outside };
    if x.abs() < TINY { x } else { y }
}
