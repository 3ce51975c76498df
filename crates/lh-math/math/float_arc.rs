//! Tangent, inverse trigonometric functions and the cube root of `f32`, computed in `f32`.
//!
//! Each falls back on functions of `f64` where products are not fused.

use super::bits::{fmaf, horner};
use super::float::{LIMIT, any_quadrant, fast_two_sum, quadrant};
use super::float_root::root;
use super::{short, single};
use std::f32::consts::{FRAC_PI_2, PI};

/// The relative error of the parts of pi.
const REST: f32 = -2.7827534e-8;

/// The tangent of `hi + lo` and `k` quadrants.
#[inline(always)]
fn tangent((hi, lo, k): (f32, f32, u32)) -> f32 {
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
    let inverse = -(1.0 / t);
    let left = fmaf(inverse, rest, fmaf(inverse, t, 1.0));
    if k & 1 != 0 { fmaf(inverse, left, inverse) } else { t + rest }
}

/// Of any number; called for large ones, infinity and NaN.
#[inline(always)]
pub fn tan_large(x: f32) -> f32 {
    f32::from_bits(tangent(any_quadrant(x)).to_bits() ^ (x.to_bits() & (1 << 31)))
}

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::tan(x);
    }
    if cfg!(lh_gpu) {
        return tan_large(x);
    }
    let y = f32::from_bits(tangent(quadrant(x.abs())).to_bits() ^ (x.to_bits() & (1 << 31)));
    if x.abs() > LIMIT { super::lh_tanf_large(x) } else { y }
}

/// See `arctangent` in `arc.rs`.
#[inline(always)]
fn arctangent(base: f32, t: f32, rest: f32) -> f32 {
    let z = t * t;
    let p = horner!(
        fmaf,
        z,
        [
            -0.333333284,
            0.199997216,
            -0.142804682,
            0.11062257,
            -0.0882583484,
            0.0677451119,
            -0.0451460108,
            0.0229226444,
            -0.00749614974,
            0.00114909594,
        ]
    );
    let (h, e) = fast_two_sum(base, t);
    let low = fmaf(rest, fmaf(-0.5, z, 1.0), fmaf(base, REST, e));
    let cube = t * z;
    h + fmaf(cube, p, fmaf(fmaf(t, z, -cube), p, low))
}

/// See `angle` in `arc.rs`.
#[inline(always)]
fn angle(v: f32, u: f32, left: u32) -> f32 {
    let right = if (left >> 31) != 0 { PI } else { 0.0 };
    let base = if v > u { FRAC_PI_2 } else { right };
    let n = f32::from_bits(least(u, v).to_bits() ^ ((left ^ (u - v).to_bits()) & (1 << 31)));
    let d = if u > v { u } else { v };
    let inverse = 1.0 / d;
    let t = n * inverse;
    arctangent(base, t, fmaf(-t, d, n) * inverse)
}

#[inline(always)]
pub fn atan(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::atan(x);
    }
    angle(least(1e30, x.abs()), 1.0, 0).copysign(x)
}

#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::atan2(y, x);
    }
    let (v, u) = (y.abs(), x.abs());
    let r = angle(v, u, x.to_bits()).copysign(y);
    // From 2^-70 to 2^120, and the lesser zero or above 2^-100: then what the quotient lacks is a normal number.
    let plain = (u + v).to_bits().wrapping_sub(57 << 23) < 190 << 23;
    let plain = plain & (least(u, v).to_bits().wrapping_sub(1) >= 27 << 23);
    if plain { r } else { super::lh_atan2f_rare(y, x) }
}

/// See `arcs` in `arc.rs`.
#[inline(always)]
fn arcs(base: f32, t: f32, rest: f32, z: f32) -> f32 {
    let p = horner!(fmaf, z, [0.166666597, 0.0750051886, 0.0445144065, 0.0318274014, 0.01436859, 0.0376101807]);
    let (h, e) = fast_two_sum(base, t);
    h + fmaf(t * z, p, fmaf(base, REST, e) + rest)
}

#[inline(always)]
fn least(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[inline(always)]
pub fn asin(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::asin(x);
    }
    let a = x.abs();
    let outer = a > 0.5;
    let z = least(a * a, fmaf(-0.5, a, 0.5));
    let (s, rest) = root(z, -0.0);
    let base = if outer { FRAC_PI_2 } else { 0.0 };
    let y = arcs(base, if outer { -2.0 * s } else { a }, if outer { -2.0 * rest } else { 0.0 }, z);
    if a <= 1.0 { y.copysign(x) } else { f32::NAN }
}

#[inline(always)]
pub fn acos(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::acos(x);
    }
    let a = x.abs();
    let outer = a > 0.5;
    let z = least(a * a, fmaf(-0.5, a, 0.5));
    let (s, rest) = root(z, -0.0);
    let far = if x < 0.0 { PI } else { 0.0 };
    let base = if outer { far } else { FRAC_PI_2 };
    let twice = |v: f32| f32::from_bits((v + v).to_bits() ^ (x.to_bits() & (1 << 31)));
    let y = arcs(base, if outer { twice(s) } else { -x }, if outer { twice(rest) } else { 0.0 }, z);
    if a <= 1.0 { y } else { f32::NAN }
}
