//! Functions computed in `f32`: exponential, logarithm, sine, cosine, hyperbolic tangent.
//!
//! They follow their `f64` forms step by step, with shorter polynomials.

use super::bits::{fmaf, horner};
use super::trig;

const LOG2E: f32 = 1.442695;
pub const LN2: f32 = std::f32::consts::LN_2;
const LN2_HI: f32 = 0.693359375;
const LN2_LO: f32 = -0.00021219444;
/// See [`super::bits::MAGIC`].
pub const MAGIC: f32 = 12582912.0;
/// Twice the exponent bias.
const BIAS2: f32 = 254.0;

#[inline(always)]
pub fn clamp(x: f32, lo: f32, hi: f32) -> f32 {
    let x = if x > hi { hi } else { x };
    if x < lo { lo } else { x }
}

#[inline(always)]
pub fn fast_two_sum(a: f32, b: f32) -> (f32, f32) {
    let s = a + b;
    (s, b - (s - a))
}

/// `k` as `k + 254`, `r` and what it lacks for `x = k log(2) + r`.
#[inline(always)]
pub fn reduce(x: f32) -> (u32, f32, f32) {
    let t = fmaf(x, LOG2E, MAGIC + BIAS2);
    let k = t - (MAGIC + BIAS2);
    let hi = fmaf(-k, LN2_HI, x);
    let r = fmaf(-k, LN2_LO, hi);
    (t.to_bits().wrapping_sub(MAGIC.to_bits()), r, fmaf(-k, LN2_LO, hi - r))
}

/// `(e^r - 1 - r) / r^2` for `|r| <= log(2) / 2`.
#[inline(always)]
pub fn tail(r: f32) -> f32 {
    horner!(fmaf, r, [0.5, 0.16666576, 0.041666463, 0.008363258, 0.0013935327])
}

/// Two powers of two whose product is `2^k`, which may be out of range, for `k + 254` in the low 9 bits of `biased`.
#[inline(always)]
pub fn power_of(biased: u32) -> (f32, f32) {
    let half = (biased << 22) & (0xff << 23);
    (f32::from_bits(half), f32::from_bits((biased << 23).wrapping_sub(half)))
}

#[inline(always)]
pub fn exp(x: f32) -> f32 {
    let x = clamp(x, -105.0, 90.0);
    let t = fmaf(x, LOG2E, MAGIC + BIAS2);
    let k = t - (MAGIC + BIAS2);
    // As in `exp.rs`.
    let hi = fmaf(-k, LN2_HI, x);
    let lo = k * LN2_LO;
    let r = hi - lo;
    let (a, b) = power_of(t.to_bits());
    fmaf(hi + fmaf(r * r, tail(r), -lo), a, a) * b
}

/// `2^(f + k)` for `|f| <= 1/2` and a result in range, with `k` in the low bits of a word.
#[inline(always)]
fn power(f: f32, k: u32) -> f32 {
    let m = horner!(fmaf, f, [1.0, 0.69314724, 0.24022655, 0.05550273, 0.009617057, 0.0013417547, 0.00015828287]);
    f32::from_bits(m.to_bits().wrapping_add(k << 23))
}

/// Below one, `x` plus `x^3` times a polynomial; beyond, `1 - w s(w)` for `w = e^(-2 x)`, where `s` is `2 / (1 + w)`.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return super::exp::tanh(x as f64) as f32;
    }
    let a = x.abs();
    let z = a * a;
    let p = horner!(
        fmaf,
        z,
        [-0.333332956, 0.133323461, -0.0538798422, 0.021486653, -0.00794595014, 0.00230115, -0.000358362973]
    );
    let small = fmaf(a, z * p, a);
    let b = if a > 9.5 { 9.5 } else { a };
    let t = fmaf(b, -2.885390, MAGIC);
    let f = fmaf(b, -2.885390, -(t - MAGIC));
    let w = power(f, t.to_bits());
    let s = horner!(fmaf, w, [1.99999857, -1.99984467, 1.99452186, -1.91458297, 1.37123394]);
    let large = fmaf(-w, s, 1.0);
    // NaN is not more than anything, and stays what it is.
    (if a > 1.0 { large } else { small }).copysign(x)
}

/// Below one, `x` plus `x` times a polynomial; beyond, `1 - 2^g` for a polynomial `g`.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return super::short::erf(x);
    }
    let a = x.abs();
    let z = a * a;
    let p = horner!(
        fmaf,
        z,
        [0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622, -0.000799785194, 7.80689006e-5]
    );
    let b = if a > 4.0 { 4.0 } else { a };
    let g = horner!(
        fmaf,
        b - 1.0,
        [-2.66841674, -3.80722141, -1.2164011, -0.0597041249, 0.0139614707, -0.00239441381, 0.000202368115]
    );
    let t = g + MAGIC;
    let large = 1.0 - power(g - (t - MAGIC), t.to_bits());
    (if a > 1.0 { large } else { fmaf(a, p, a) }).copysign(x)
}

/// The bits of the root of 1/2.
const SQRT_HALF: i32 = 0x3f35_04f3;

/// Whether a number is positive, finite and normal.
#[inline(always)]
pub fn is_plain(x: f32) -> bool {
    x.to_bits().wrapping_sub(1 << 23) < 0xfe << 23
}

/// `k` and `f` for `x = 2^k (1 + f)` with `1 + f` between the roots of 1/2 and 2, for positive normal `x`.
#[inline(always)]
pub fn split(x: f32) -> (f32, f32) {
    let t = (x.to_bits() as i32).wrapping_sub(SQRT_HALF);
    let f = f32::from_bits(((t & 0x007f_ffff) + SQRT_HALF) as u32) - 1.0;
    ((t >> 23) as f32, f)
}

/// `(log(1 + f) - f) / f^2`.
#[inline(always)]
pub fn log_tail(f: f32) -> f32 {
    horner!(
        fmaf,
        f,
        [
            -0.5,
            0.333333164,
            -0.250008106,
            0.200022995,
            -0.16624555,
            0.141809598,
            -0.131285489,
            0.12883082,
            -0.078618288,
        ]
    )
}

/// A logarithm of any number, given that of `2^k x` for normal `x`.
#[inline(always)]
pub fn log_of_any(x: f32, normal: impl Fn(f32, f32) -> f32) -> f32 {
    let (factor, shift) = if x < f32::MIN_POSITIVE { (33554432.0, -25.0) } else { (1.0, 0.0) };
    let y = normal(x * factor, shift);
    let y = if x.to_bits() < 0x7f80_0000 { y } else { fmaf(x, f32::INFINITY, f32::INFINITY) };
    // Divided so that the flag of division by zero is set.
    if x != 0.0 {
        y
    } else if cfg!(lh_gpu) {
        f32::NEG_INFINITY
    } else {
        -1.0 / x.abs()
    }
}

#[inline(always)]
fn log_normal(x: f32, shift: f32) -> f32 {
    let (k, f) = split(x);
    fmaf(k + shift, LN2, fmaf(f * f, log_tail(f), f))
}

#[inline(always)]
pub fn log_rare(x: f32) -> f32 {
    log_of_any(x, log_normal)
}

#[inline(always)]
pub fn log(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return super::short::log(x);
    }
    if cfg!(lh_gpu) {
        return log_rare(x);
    }
    if is_plain(x) { log_normal(x, 0.0) } else { super::lh_logf_rare(x) }
}

/// Half of pi; the second part has 12 bits, so that its multiples by 12 bits are exact.
const P1: f32 = 1.5707963705062866;
const P2: f32 = -4.3699401430785656e-08;
const P3: f32 = -1.1988570726428893e-11;
/// Where the reduction stops being exact enough.
pub const LIMIT: f32 = 4096.0;

/// `x - k pi / 2` as a float and what it lacks, and `k` in the low bits of a word; for `0 <= x <= LIMIT`.
#[inline(always)]
pub fn quadrant(x: f32) -> (f32, f32, u32) {
    let t = fmaf(x, 0.63661975, MAGIC);
    let k = t - MAGIC;
    let r = fmaf(-k, P1, x);
    let hi = fmaf(-k, P2, r);
    (hi, fmaf(-k, P3, fmaf(-k, P2, r - hi)), t.to_bits())
}

/// [`quadrant`] of the absolute value of any number.
#[inline(always)]
pub fn any_quadrant(x: f32) -> (f32, f32, u32) {
    if x.abs() <= LIMIT {
        return quadrant(x.abs());
    }
    let (hi, lo, k) = super::large::reduce_single(x);
    (if x.abs() < f32::INFINITY { hi } else { x * 0.0 }, lo, k)
}

/// The sine of `hi + lo`, or the cosine if `cosine`: both, which costs less than a choice of each coefficient.
#[inline(always)]
fn kernel(hi: f32, lo: f32, cosine: bool) -> f32 {
    let z = hi * hi;
    let p = horner!(fmaf, z, [-0.16666655, 0.008332192, -0.00019518782]);
    let sine = hi + fmaf(hi, z * p, lo);
    let q = horner!(fmaf, z, [-0.5, 0.041666646, -0.0013887301, 2.4430683e-05]);
    // 1 + hi^2 q - hi lo
    let cosine_value = fmaf(hi, fmaf(hi, q, -lo), 1.0);
    if cosine { cosine_value } else { sine }
}

/// A function of the reduced argument, and of any number: that is called for large ones, infinity and NaN.
macro_rules! waves {
    ($($name:ident, $large:ident, $called:ident = |$x:ident, $parts:pat_param| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $large($x: f32) -> f32 {
            let $parts = any_quadrant($x);
            $value
        }

        #[inline(always)]
        pub fn $name($x: f32) -> f32 {
            if !cfg!(lh_fma) {
                return trig::$name($x as f64) as f32;
            }
            if cfg!(lh_gpu) {
                return $large($x);
            }
            let $parts = quadrant($x.abs());
            let y = $value;
            if $x.abs() > LIMIT { super::$called($x) } else { y }
        }
    )*};
}
#[inline(always)]
fn xor_sign(x: f32, sign: u32) -> f32 {
    f32::from_bits(x.to_bits() ^ (sign & (1 << 31)))
}

waves! {
    sin, sin_large, lh_sinf_large = |x, (hi, lo, k)| xor_sign(kernel(hi, lo, k & 1 != 0), (k << 30) ^ x.to_bits());
    cos, cos_large, lh_cosf_large = |x, (hi, lo, k)| xor_sign(kernel(hi, lo, k & 1 == 0), k.wrapping_add(1) << 30);
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
    if a > LIMIT { super::lh_sinf_large(x) } else { y }
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
    if a > LIMIT { super::lh_cosf_large(x) } else { y }
}

/// [`tanh`] within 4 ulp.
#[inline(always)]
pub fn tanh_fast(x: f32) -> f32 {
    let (biased, r, _) = reduce(2.0 * clamp(x.abs(), 0.0, 15.0));
    let p = f32::from_bits(biased.wrapping_sub(127) << 23);
    let n = fmaf(p, fmaf(r * r, tail(r), r), p - 1.0);
    (n / (n + 2.0)).copysign(x)
}
