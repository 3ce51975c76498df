//! Sine, cosine, tangent: reduction to `|r| <= pi / 4` in three parts, and a polynomial chosen by the quadrant.
//!
//! The reduction is exact enough up to [`LIMIT`]. Beyond, a call that a vectorised loop makes for the lanes that
//! need it (see `large.rs`).

use super::bits::{fma, fma_sum, horner, quotient, round_product, two_prod, two_sum, xor_sign};
use super::exp::clamp;

const TWO_OVER_PI: f64 = 0.6366197723675814;
/// Half of pi.
pub const P1: f64 = 1.5707963267948966;
/// The error of `P1`.
pub const P1_LOW: f64 = 6.123233995736766e-17;
/// The error of `P1` in two parts: the first has 31 bits, so that its multiples by 22 bits are exact.
const P2: f64 = 6.12323399409214e-17;
const P3: f64 = 1.6446256936324258e-26;
/// Half of pi in parts of 33 bits, whose multiples by 20 bits are exact.
const Q1: f64 = 1.5707963267341256;
const Q2: f64 = 6.077100506303966e-11;
const Q3: f64 = 2.0222662487111665e-21;
const Q4: f64 = 8.4784276603689e-32;

/// Where the reduction stops being exact enough.
pub const LIMIT: f64 = if cfg!(lh_fma) { 4194304.0 } else { 1048576.0 };

/// `x - k pi / 2` as a float and what it lacks, and `k` in the low bits of a word; for `0 <= x <= LIMIT`.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64, u64) {
    let (k, bits) = round_product(x, TWO_OVER_PI);
    if cfg!(lh_fma) {
        // The first two are exact: `x` and `k * P1` are close, and `r` is a multiple of the last place of `k * P2`.
        let r = fma(-k, P1, x);
        let hi = fma(-k, P2, r);
        let lo = fma(-k, P3, fma(-k, P2, r - hi));
        (hi, lo, bits)
    } else {
        let (a, e) = two_sum(x - k * Q1, -(k * Q2));
        let (b, f) = two_sum(a, -(k * Q3));
        let low = (e + f) - k * Q4;
        let hi = b + low;
        (hi, (b - hi) + low, bits)
    }
}

/// `(sin(r) - r) / r^3` as a polynomial in `z = r^2`, for `|r| <= pi / 4`.
#[inline(always)]
fn sine_tail(z: f64) -> f64 {
    horner!(
        fma,
        z,
        [
            -0.16666666666666666,
            0.00833333333333131,
            -0.0001984126983708634,
            2.755731622356832e-06,
            -2.5051151383160554e-08,
            1.591927597916292e-10,
        ]
    )
}

/// `(cos(r) - 1 + r^2 / 2) / r^4` as a polynomial in `z = r^2`, for `|r| <= pi / 4`.
#[inline(always)]
fn cosine_tail(z: f64) -> f64 {
    horner!(
        fma,
        z,
        [
            0.041666666666666664,
            -0.0013888888888887061,
            2.4801587298460354e-05,
            -2.7557317158347916e-07,
            2.0876127842972785e-09,
            -1.1381543392982513e-11,
        ]
    )
}

/// The sine of `hi + lo`, or the cosine if `cosine`: both, which costs less than a choice of each coefficient.
#[inline(always)]
fn kernel(hi: f64, lo: f64, cosine: bool) -> f64 {
    let z = hi * hi;
    let sine_value = hi + fma(hi, z * sine_tail(z), lo);
    let cosine_value = if cfg!(lh_fma) {
        // 1 + hi (hi q - lo): only the innermost product is rounded on its own.
        fma(hi, fma(hi, fma(z, cosine_tail(z), -0.5), -lo), 1.0)
    } else {
        let w = 1.0 - 0.5 * z;
        w + (((1.0 - w) - 0.5 * z) + (z * z * cosine_tail(z) - hi * lo))
    };
    if cosine { cosine_value } else { sine_value }
}

/// [`reduce`] of the absolute value of any number.
#[inline(always)]
fn reduce_any(x: f64) -> (f64, f64, u64) {
    if x.abs() <= LIMIT {
        return reduce(x.abs());
    }
    let (hi, lo, k) = super::large::reduce(x);
    (if x.abs() < f64::INFINITY { hi } else { x * 0.0 }, lo, k)
}

/// A function of the reduced argument, and of any number: that is called for large ones, infinity and NaN.
macro_rules! waves {
    ($($name:ident, $large:ident, $called:ident = |$x:ident, $parts:pat_param| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $large($x: f64) -> f64 {
            let $parts = reduce_any($x);
            $value
        }

        #[inline(always)]
        pub fn $name($x: f64) -> f64 {
            if cfg!(lh_gpu) {
                return $large($x);
            }
            let $parts = reduce($x.abs());
            let y = $value;
            if $x.abs() > LIMIT { super::$called($x) } else { y }
        }
    )*};
}
waves! {
    sin, sin_large, lh_sin_large = |x, (hi, lo, k)| xor_sign(kernel(hi, lo, k & 1 != 0), (k << 62) ^ x.to_bits());
    cos, cos_large, lh_cos_large = |x, (hi, lo, k)| xor_sign(kernel(hi, lo, k & 1 == 0), k.wrapping_add(1) << 62);
    tan, tan_large, lh_tan_large = |x, (hi, lo, k)| xor_sign(tangent(hi, lo, k & 1 != 0), x.to_bits());
}

/// `tan(r) / r` as a quotient of `1 + z n` and `1 + z d`, for `z = r^2` and `|r| <= pi / 4`: `n` and `d`.
#[inline(always)]
fn tangent_parts(z: f64) -> (f64, f64) {
    (
        horner!(fma, z, [-0.12828249183623935, 0.0028058091955229345, -7.482577950382887e-06]),
        horner!(fma, z, [-0.4616158251695707, 0.023344417585321214, -0.00020843238478978333]),
    )
}

/// The tangent of `hi + lo`, or minus the cotangent.
#[inline(always)]
fn tangent(hi: f64, lo: f64, cotangent: bool) -> f64 {
    let (z, z_rest) = two_prod(hi, hi);
    let (p, q) = tangent_parts(z);
    // Errors of the argument and of its square only need a few bits of the derivatives.
    let rest = fma(hi * z_rest, 0.4, lo * fma(z, 0.78, 1.0));
    let (n, n_rest) = fma_sum(hi * z, p, hi);
    let n_rest = n_rest + rest;
    let (d, d_rest) = fma_sum(z, q, 1.0);
    let pick = |a: f64, b: f64| if cotangent { a } else { b };
    let (t, rest) = quotient((pick(d, n), pick(d_rest, n_rest)), (pick(n, d), pick(n_rest, d_rest)));
    xor_sign(t + rest, (cotangent as u64) << 63)
}

/// [`tan`] within 4 ulp.
#[inline(always)]
pub fn tan_fast(x: f64) -> f64 {
    if !cfg!(lh_fma) {
        return tan(x);
    }
    let a = x.abs();
    let (k, bits) = round_product(a, TWO_OVER_PI);
    let r = fma(-k, P3, fma(-k, P2, fma(-k, P1, a)));
    let z = r * r;
    let (p, q) = tangent_parts(z);
    let (n, d) = (fma(r * z, p, r), fma(z, q, 1.0));
    let cotangent = bits & 1 != 0;
    let y = if cotangent { d } else { n } / if cotangent { n } else { d };
    let y = xor_sign(y, (bits << 63) ^ x.to_bits());
    if a > LIMIT { super::lh_tan_large(x) } else { y }
}

/// The sine of `r` for `|r| <= pi / 2`, within 2 ulp.
#[inline(always)]
fn half_wave(r: f64) -> f64 {
    let z = r * r;
    let p = horner!(
        fma,
        z,
        [
            -0.16666666666666666,
            0.008333333333333153,
            -0.00019841269841167268,
            2.755731919783191e-06,
            -2.505210484961759e-08,
            1.6058772667019347e-10,
            -7.635316904265592e-13,
            2.5366375552289884e-15,
            1.810951810380078e-17
        ]
    );
    clamp(fma(r * z, p, r), -1.0, 1.0)
}

/// [`sin`] within 4 ulp: by half turns, which needs one polynomial and no choice.
#[inline(always)]
pub fn sin_fast(x: f64) -> f64 {
    if !cfg!(lh_fma) {
        return sin(x);
    }
    let a = x.abs();
    let (k, bits) = round_product(a, 0.5 * TWO_OVER_PI);
    let r = fma(-k, 2.0 * P3, fma(-k, 2.0 * P2, fma(-k, 2.0 * P1, a)));
    let y = xor_sign(half_wave(r), (bits << 63) ^ x.to_bits());
    if a > LIMIT { super::lh_sin_large(x) } else { y }
}

/// [`cos`] within 4 ulp, as the sine of a distance from an odd multiple of `pi / 2`.
#[inline(always)]
pub fn cos_fast(x: f64) -> f64 {
    if !cfg!(lh_fma) {
        return cos(x);
    }
    let (k, bits) = round_product(x.abs() - 0.5 * std::f64::consts::PI, 0.5 * TWO_OVER_PI);
    let q = fma(2.0, k, 1.0);
    let r = fma(-q, P3, fma(-q, P2, fma(-q, P1, x.abs())));
    let y = xor_sign(half_wave(r), !bits << 63);
    if x.abs() > LIMIT { super::lh_cos_large(x) } else { y }
}
