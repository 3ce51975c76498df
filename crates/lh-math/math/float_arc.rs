//! Tangent, inverse trigonometric functions and the cube root of `f32`, computed in `f32`.
//!
//! Each falls back on functions of `f64` where products are not fused.

use super::bits::{fmaf, horner};
use super::float::{LIMIT, fast_two_sum, quadrant};
use super::{large, short, single};

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::tan(x);
    }
    let a = x.abs();
    let (hi, lo, k) = quadrant(a);
    let z = hi * hi;
    let p = horner!(
        fmaf,
        z,
        [0.333333522, 0.133325875, 0.0540676974, 0.0212453492, 0.010924398, -1.5680338e-5, 0.00442530308]
    );
    // The derivative is 1 + t^2.
    let z_rest = fmaf(hi, hi, -z);
    let u = fmaf(hi * z, p, fmaf(hi * z_rest, 0.75, lo));
    let t = hi + u;
    let rest = fmaf(t * t, lo, u - (t - hi));
    let inverse = -1.0 / t;
    let left = fmaf(inverse, rest, fmaf(inverse, t, 1.0));
    let y = if k & 1 != 0 { fmaf(inverse, left, inverse) } else { t + rest };
    let y = f32::from_bits(y.to_bits() ^ (x.to_bits() & (1 << 31)));
    if a > LIMIT { large::lh_tanf_large(x) } else { y }
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::atan(x);
    }
    let a = x.abs();
    let far = a > 1.0;
    let b = if a > 1e30 { 1e30 } else { a };
    let inverse = -1.0 / b;
    let t = if far { inverse } else { a };
    // What the quotient lacks; it counts by the derivative, 1 / (1 + t^2), which is nearly 1 - t^2 / 2.
    let rest = if far { inverse * fmaf(inverse, b, 1.0) } else { 0.0 };
    let z = t * t;
    let p = horner!(
        fmaf,
        z,
        [
            -0.333333015,
            0.199986279,
            -0.14265126,
            0.109569244,
            -0.0841747522,
            0.0581992269,
            -0.0314191431,
            0.0110440729,
            -0.00182249094,
        ]
    );
    let (base, base_rest) = if far { (1.5707964, -4.371139e-8) } else { (0.0, 0.0) };
    let (h, e) = fast_two_sum(base, t);
    (h + fmaf(t, z * p, e + fmaf(rest, fmaf(-0.5, z, 1.0), base_rest))).copysign(x)
}

/// See `arcsine` in `arc.rs`.
#[inline(always)]
fn arcsine(a: f32) -> (f32, f32, f32) {
    let outer = a > 0.5;
    let z = if outer { fmaf(-0.5, a, 0.5) } else { a * a };
    let root = z.sqrt();
    let s = if outer { root } else { a };
    let rest = 0.5 * fmaf(-root, root, z) / (root + f32::MIN_POSITIVE);
    let p = horner!(fmaf, z, [0.166666597, 0.0750051886, 0.0445144065, 0.0318274014, 0.01436859, 0.0376101807]);
    (s, if outer { rest } else { 0.0 }, s * (z * p))
}

const HALF_PI: (f32, f32) = (1.5707964, -4.371139e-8);
const PI: (f32, f32) = (3.1415927, -8.742278e-8);

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::asin(x);
    }
    let a = x.abs();
    let (s, rest, p) = arcsine(a);
    let (h, e) = fast_two_sum(HALF_PI.0, -2.0 * s);
    let outer = h + (e + fmaf(-2.0, p + rest, HALF_PI.1));
    (if a > 0.5 { outer } else { s + p }).copysign(x)
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::acos(x);
    }
    let a = x.abs();
    let (s, rest, p) = arcsine(a);
    let outer = a > 0.5;
    let far = if x > 0.0 { (0.0, 0.0) } else { PI };
    let base = if outer { far } else { HALF_PI };
    let factor = if outer { 2.0 } else { 1.0 };
    let factor = if outer == (x > 0.0) { -factor } else { factor };
    let (h, e) = fast_two_sum(base.0, -(factor * s));
    h + (e + fmaf(-factor, p + rest, base.1))
}

/// By `a^(-1/3)`: a first guess from the exponent, two steps, and a last one for the root itself.
#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::cbrt(x);
    }
    let a = x.abs();
    let tiny = a < f32::MIN_POSITIVE;
    let a = if tiny { a * 16777216.0 } else { a };
    let guess = fmaf((a.to_bits() >> 9) as i32 as f32, -1.0 / 3.0, 8388608.0 + 2770449.0);
    let mut r = f32::from_bits(guess.to_bits() << 9);
    for _ in 0..2 {
        // 1 / cbrt(1 - d) = 1 + d / 3 + 2 d^2 / 9 + 14 d^3 / 81 + ...
        let d = fmaf(-a * r, r * r, 1.0);
        r = fmaf(r, d * horner!(fmaf, d, [0.33333334, 0.22222222, 0.17283951]), r);
    }
    let y = a * r * r;
    let square = y * y;
    let left = fmaf(-square, y, a) - fmaf(y, y, -square) * y;
    let y = fmaf(left, r * r * 0.33333334, y);
    let y = if tiny { y * 0.00390625 } else { y };
    if (a > 0.0) & (a < f32::INFINITY) { y.copysign(x) } else { x }
}
