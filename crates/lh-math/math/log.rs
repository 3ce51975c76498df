//! Logarithms.

use super::bits::{MAGIC, fma, fma_sum, horner, prod_err};
use super::exp::{LN2_HI, LN2_LO};

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

/// The smallest argument that is plain, above the smallest normal number, and the distance of infinity from it.
const LEAST: u64 = SQRT_HALF - (1021 << 52);
const PLAIN: u64 = (0x7ff << 52) - LEAST;

/// Whether a number is positive, finite and normal: all others take the way of `rare.inc`.
#[inline(always)]
pub fn is_plain(x: f64) -> bool {
    x.to_bits().wrapping_sub(LEAST) < PLAIN
}

/// For a plain `x = 2^k (1 + f)` with `1 + f` between the roots of 1/2 and 2, and `bias` 1021: `k`, `f`, `1 / (2 + f)`
/// and `s = f / (2 + f)`, both to some 28 bits.
#[inline(always)]
pub fn parts(x: f64, bias: f64) -> (f64, f64, f64, f64) {
    let t = x.to_bits().wrapping_sub(LEAST);
    let k = f64::from_bits((t >> 52) | MAGIC.to_bits()) - (MAGIC + bias);
    let m = f64::from_bits((t & MANTISSA) + SQRT_HALF);
    let (f, d) = (m - 1.0, m + 1.0);
    // Cheaper than a division: a guess of 9 bits, which become three times as many.
    let guess = horner!(fma, d, [1.4777739282819073, -0.7224540399259856, 0.11686348742478073]);
    let t = fma(-d, guess, 1.0);
    let inverse = fma(fma(t, t, t), guess, guess);
    (k, f, inverse, f * inverse)
}

/// `f - s (2 + f)` for `s` near `f / (2 + f)`; the first step is exact.
#[inline(always)]
pub fn left(f: f64, s: f64) -> f64 {
    -prod_err(s, f, fma(-2.0, s, f))
}

#[inline(always)]
fn log_normal(x: f64, bias: f64) -> f64 {
    let (k, f, inverse, s) = parts(x, bias);
    let s = fma(left(f, s), inverse, s);
    let half = 0.5 * f * f;
    let low = fma(s, half + series(s * s), k * LN2_LO);
    fma(k, LN2_HI, f - (half - low))
}

/// `k * unit + s * (factor + s^2 * tail(s^2))`, the constants but for the tail's in two parts; multiples of the first
/// part of the unit are exact.
#[inline(always)]
fn to_base(x: f64, bias: f64, unit: (f64, f64), factor: (f64, f64), c: [f64; 7]) -> f64 {
    let (k, f, inverse, s) = parts(x, bias);
    let rest = left(f, s) * inverse;
    let sum = s + rest;
    let z = sum * sum;
    let tail = horner!(fma, z, [factor.1, c[0], c[1], c[2], c[3], c[4], c[5], c[6]]);
    let (high, low) = fma_sum(factor.0, s, k * unit.0);
    let low = if unit.1 == 0.0 { low } else { fma(k, unit.1, low) };
    high + fma(sum, tail, fma(factor.0, rest, low))
}

/// 2 / log(2) in two parts, and the same of 10.
const LOG2_FACTOR: (f64, f64) = (2.8853900817779268, 4.0710547481862064e-17);
const LOG10_FACTOR: (f64, f64) = (0.8685889638065036, 2.1966393004335302e-17);

const LOG2_TAIL: [f64; 7] = [
    0.9617966939259854,
    0.5770780163471057,
    0.4121985855850557,
    0.32059855604683896,
    0.2623334185424248,
    0.2209340992659211,
    0.21346981769839854,
];

#[inline(always)]
fn log2_normal(x: f64, bias: f64) -> f64 {
    to_base(x, bias, (1.0, 0.0), LOG2_FACTOR, LOG2_TAIL)
}

/// The decimal logarithm of two in two parts; multiples of the first are exact.
const LOG10_2: (f64, f64) = (0.30102999566361177, 3.694239077158931e-13);

const LOG10_TAIL: [f64; 7] = [
    0.28952965460217084,
    0.17371779275875143,
    0.1240841384307098,
    0.09650978199802428,
    0.07897022490025695,
    0.06650786144010157,
    0.06426015239369399,
];

#[inline(always)]
fn log10_normal(x: f64, bias: f64) -> f64 {
    to_base(x, bias, LOG10_2, LOG10_FACTOR, LOG10_TAIL)
}

/// As [`to_base`], without what each step loses.
#[inline(always)]
fn to_base_fast(x: f64, unit: f64, factor: f64, c: [f64; 7]) -> f64 {
    let (k, f, inverse, s) = parts(x, 1021.0);
    let s = fma(left(f, s), inverse, s);
    let z = s * s;
    let tail = horner!(fma, z, [c[0], c[1], c[2], c[3], c[4], c[5], c[6]]);
    fma(k, unit, s * fma(z, tail, factor))
}

/// [`log2`] within 4 ulp.
#[inline(always)]
pub fn log2_fast(x: f64) -> f64 {
    let y = to_base_fast(x, 1.0, LOG2_FACTOR.0, LOG2_TAIL);
    if is_plain(x) { y } else { super::lh_log2_rare(x) }
}

/// [`log10`] within 4 ulp.
#[inline(always)]
pub fn log10_fast(x: f64) -> f64 {
    let y = to_base_fast(x, LOG10_2.0 + LOG10_2.1, LOG10_FACTOR.0, LOG10_TAIL);
    if is_plain(x) { y } else { super::lh_log10_rare(x) }
}

macro_rules! logarithms {
    ($($name:ident, $normal:ident, $rare:ident, $called:ident;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f64) -> f64 {
            if cfg!(lh_gpu) {
                return $rare(x);
            }
            let y = $normal(x, 1021.0);
            if is_plain(x) { y } else { super::$called(x) }
        }

        /// Of any number; called for zero, subnormal and negative numbers, infinity and NaN.
        #[inline(always)]
        pub fn $rare(x: f64) -> f64 {
            let tiny = x < 1e-300;
            let y = $normal(if tiny { x * 18014398509481984.0 } else { x }, if tiny { 1075.0 } else { 1021.0 });
            if x == 0.0 {
                // Divided so that the flag of division by zero is set.
                return if cfg!(lh_gpu) { f64::NEG_INFINITY } else { -1.0 / x.abs() };
            }
            if x.to_bits() < 0x7ff << 52 { y } else { fma(x, f64::INFINITY, f64::INFINITY) }
        }
    )*};
}
logarithms! {
    log, log_normal, log_rare, lh_log_rare;
    log2, log2_normal, log2_rare, lh_log2_rare;
    log10, log10_normal, log10_rare, lh_log10_rare;
}
/// `log(u + c)` plus `shift * log(2)`, for a plain `u` and a small `c`.
#[inline(always)]
pub fn log_sum(u: f64, c: f64, shift: f64) -> f64 {
    let (k, f, inverse, s) = parts(u, 1021.0);
    let s = fma(left(f, s), inverse, s);
    // 2^(2 - k), which is in range.
    let unit = (2046u64 << 52).wrapping_sub(u.to_bits().wrapping_sub(LEAST) & !MANTISSA);
    let half = 0.5 * f * f;
    // log(m + c) - log(m) is nearly c / m, and 1 / m is (1 - s) / (1 + s).
    let c = c * f64::from_bits(unit) * fma(s, fma(s, 0.5, -0.5), 0.25);
    let k = k + shift;
    let low = fma(s, half + series(s * s), fma(k, LN2_LO, c));
    fma(k, LN2_HI, f - (half - low))
}

/// `log(1 + x + rest)`, for `x > -1` and `rest` small beside `x`.
#[inline(always)]
pub fn log1p_sum(x: f64, rest: f64) -> f64 {
    // The rounding error of the sum is exact, except for large `x`, where it does not matter.
    let u = 1.0 + x;
    log_sum(u, (x - (u - 1.0)) + rest, -0.0)
}

#[inline(always)]
pub fn log1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let y = log1p_sum(x, -0.0).copysign(x);
    if cfg!(lh_gpu) {
        return edges(u, y);
    }
    if u.to_bits().wrapping_sub(1) < (0x7ff << 52) - 1 { y } else { super::lh_log_rare(u) }
}
