//! Functions computed in `f32`: exponential, logarithm, sine, cosine, hyperbolic tangent.
//!
//! They follow their `f64` forms step by step, with shorter polynomials.

use super::bits::{fmaf, horner};
use super::{large, trig};

const LOG2E: f32 = 1.442695;
const LN2_HI: f32 = 0.693359375;
const LN2_LO: f32 = -0.00021219444;
/// See [`super::bits::MAGIC`].
const MAGIC: f32 = 12582912.0;
/// Twice the exponent bias.
const BIAS2: f32 = 254.0;

#[inline(always)]
fn clamp(x: f32, lo: f32, hi: f32) -> f32 {
    let x = if x > hi { hi } else { x };
    if x < lo { lo } else { x }
}

#[inline(always)]
fn fast_two_sum(a: f32, b: f32) -> (f32, f32) {
    let s = a + b;
    (s, b - (s - a))
}

/// `k` as `k + 254`, `r` and what it lacks for `x = k log(2) + r`.
#[inline(always)]
fn reduce(x: f32) -> (u32, f32, f32) {
    let t = fmaf(x, LOG2E, MAGIC + BIAS2);
    let k = t - (MAGIC + BIAS2);
    let hi = fmaf(-k, LN2_HI, x);
    let r = fmaf(-k, LN2_LO, hi);
    (t.to_bits().wrapping_sub(MAGIC.to_bits()), r, fmaf(-k, LN2_LO, hi - r))
}

/// `(e^r - 1 - r) / r^2` for `|r| <= log(2) / 2`.
#[inline(always)]
fn tail(r: f32) -> f32 {
    horner!(fmaf, r, [0.5, 0.16666576, 0.041666463, 0.008363258, 0.0013935327])
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let (biased, r, _) = reduce(clamp(x, -105.0, 90.0));
    let s = 1.0 + r;
    let m = s + fmaf(r * r, tail(r), r - (s - 1.0));
    let half = biased >> 1;
    let rest = biased.wrapping_sub(half);
    m * f32::from_bits(half << 23) * f32::from_bits(rest << 23)
}

#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return super::exp::tanh(x as f64) as f32;
    }
    // (e^(2 x) - 1) / (e^(2 x) + 1)
    let (biased, r, c) = reduce(2.0 * clamp(x.abs(), 0.0, 15.0));
    let p = f32::from_bits(biased.wrapping_sub(127) << 23);
    let less = p - 1.0;
    let z = r * r;
    let t = fmaf(z, tail(r), fmaf(0.5, fmaf(r, r, -z), fmaf(c, r, c)));
    let s = fmaf(p, r, less);
    let e = fmaf(p, r, less - s);
    let (n, n_rest) = fast_two_sum(s, fmaf(p, t, e));
    let d = n + 2.0;
    let back = d - n;
    let d_rest = (n - (d - back)) + (2.0 - back) + n_rest;
    let inverse = 1.0 / d;
    let q = n * inverse;
    let left = fmaf(-q, d, n) + fmaf(-q, d_rest, n_rest);
    fmaf(left, inverse, q).copysign(x)
}

const SQRT_HALF: u32 = 0x3f35_04f3;
const ONE: u32 = 0x3f80_0000;

#[inline(always)]
pub fn log(x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let v = if tiny { x * 33554432.0 } else { x };
    let bias = if tiny { 152.0 } else { 127.0 };
    let t = v.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f32::from_bits((t >> 23) | MAGIC.to_bits()) - (MAGIC + bias);
    let f = f32::from_bits((t & 0x007f_ffff) + SQRT_HALF) - 1.0;
    let square = f * f;
    let p = horner!(
        fmaf,
        f,
        [0.3333333, -0.2499998, 0.2000068, -0.16669184, 0.14251374, -0.12396162, 0.11632367, -0.116625674, 0.07341281,]
    );
    // log(1 + f) = f - f^2 / 2 + f^3 p
    let low = fmaf(f * square, p, k * LN2_LO);
    let y = fmaf(k, LN2_HI, f - fmaf(0.5, square, -low));
    let y = if x < f32::INFINITY { y } else { x };
    let outside = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    if x > 0.0 { y } else { outside }
}

/// Half of pi; the second part has 12 bits, so that its multiples by 12 bits are exact.
const P1: f32 = 1.5707963705062866;
const P2: f32 = -4.3699401430785656e-08;
const P3: f32 = -1.1988570726428893e-11;
/// Where the reduction stops being exact enough.
const LIMIT: f32 = 4096.0;

/// `x - k pi / 2` as a float and what it lacks, and `k` in the low bits of a word; for `0 <= x <= LIMIT`.
#[inline(always)]
fn quadrant(x: f32) -> (f32, f32, u32) {
    let t = fmaf(x, 0.63661975, MAGIC);
    let k = t - MAGIC;
    let r = fmaf(-k, P1, x);
    let hi = fmaf(-k, P2, r);
    (hi, fmaf(-k, P3, fmaf(-k, P2, r - hi)), t.to_bits())
}

/// The sine of `hi + lo`, or the cosine if `cosine`.
#[inline(always)]
fn kernel(hi: f32, lo: f32, cosine: bool) -> f32 {
    let z = hi * hi;
    let w = fmaf(-0.5, z, 1.0);
    let pick = |c: f32, s: f32| if cosine { c } else { s };
    let lead = pick(w, hi);
    let rest = pick(fmaf(-hi, lo, fmaf(-0.5, z, 1.0 - w)), lo);
    let factor = z * pick(z, hi);
    let q = horner!(
        fmaf,
        z,
        [
            pick(0.041666664, -0.16666667),
            pick(-0.0013888272, 0.008333397),
            pick(2.454394e-05, -0.00019861292),
            pick(0.0, 2.9217092e-06),
        ]
    );
    lead + fmaf(factor, q, rest)
}

#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return trig::sin(x as f64) as f32;
    }
    let a = x.abs();
    let (hi, lo, k) = quadrant(a);
    let sign = ((k << 30) ^ x.to_bits()) & (1 << 31);
    let y = f32::from_bits(kernel(hi, lo, k & 1 != 0).to_bits() ^ sign);
    if a > LIMIT { large::lh_sinf_large(x) } else { y }
}

#[inline(always)]
pub fn cos(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return trig::cos(x as f64) as f32;
    }
    let a = x.abs();
    let (hi, lo, k) = quadrant(a);
    let sign = (k.wrapping_add(1) << 30) & (1 << 31);
    let y = f32::from_bits(kernel(hi, lo, k & 1 == 0).to_bits() ^ sign);
    if a > LIMIT { large::lh_cosf_large(x) } else { y }
}

/// The sine of `r` for `|r| <= pi / 2`, within 2 ulp.
#[inline(always)]
fn half_wave(r: f32) -> f32 {
    let z = r * r;
    let p = horner!(fmaf, z, [-0.16666666, 0.008333233, -0.00019822032, 2.6331445e-06]);
    clamp(fmaf(r * z, p, r), -1.0, 1.0)
}

/// [`sin`] within 4 ulp.
#[inline(always)]
pub fn sin_fast(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return sin(x);
    }
    let a = x.abs();
    let t = fmaf(a, 0.31830987, MAGIC);
    let k = t - MAGIC;
    let r = fmaf(-k, 2.0 * P3, fmaf(-k, 2.0 * P2, fmaf(-k, 2.0 * P1, a)));
    let y = f32::from_bits(half_wave(r).to_bits() ^ (((t.to_bits() << 31) ^ x.to_bits()) & (1 << 31)));
    if a > LIMIT { large::lh_sinf_large(x) } else { y }
}

/// [`cos`] within 4 ulp.
#[inline(always)]
pub fn cos_fast(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return cos(x);
    }
    let a = x.abs();
    let t = fmaf(a - 1.5707964, 0.31830987, MAGIC);
    let q = fmaf(2.0, t - MAGIC, 1.0);
    let r = fmaf(-q, P3, fmaf(-q, P2, fmaf(-q, P1, a)));
    let y = f32::from_bits(half_wave(r).to_bits() ^ (!t.to_bits() << 31));
    if a > LIMIT { large::lh_cosf_large(x) } else { y }
}

/// [`tanh`] within 4 ulp.
#[inline(always)]
pub fn tanh_fast(x: f32) -> f32 {
    let (biased, r, _) = reduce(2.0 * clamp(x.abs(), 0.0, 15.0));
    let p = f32::from_bits(biased.wrapping_sub(127) << 23);
    let n = fmaf(p, fmaf(r * r, tail(r), r), p - 1.0);
    (n / (n + 2.0)).copysign(x)
}
