//! Inverse trigonometric functions.

use super::bits::{fast_two_sum, fma, horner, pairs, prod_err, xor_sign};
use super::root::root;
use std::f64::consts::{FRAC_PI_2, PI};

exports! {
    lh_asin(x: f64) -> f64 = asin;
    lh_asinf(x: f32) -> f32 = float::asin;
    lh_acos(x: f64) -> f64 = acos;
    lh_acosf(x: f32) -> f32 = float::acos;
    lh_atan(x: f64) -> f64 = atan;
    lh_atanf(x: f32) -> f32 = float::atan;
    lh_atan2(y: f64, x: f64) -> f64 = atan2;
    lh_atan2f(y: f32, x: f32) -> f32 = float::atan2;
}

rare! {
    lh_atan2_rare(y: f64, x: f64) -> f64 = atan2_rare;
    lh_atan2f_rare(y: f32, x: f32) -> f32 = wide::atan2;
}

/// `(asin(s) - s) / s^3` as a polynomial in `z = s^2`, for `s` up to 1/2.
#[inline(always)]
fn arcsine_tail(z: f64) -> f64 {
    pairs!(
        fma,
        z,
        [
            0.16666666666665383,
            0.07500000000342959,
            0.04464285682352424,
            0.03038195933025204,
            0.022371753536224896,
            0.01735977103646552,
            0.013884598064091201,
            0.012173289351956103,
            0.006510775778879171,
            0.019574219760776827,
            -0.016294738531852662,
            0.03195954975659219,
        ]
    )
}

/// The relative error of the parts of pi.
const REST: f64 = 3.8981718325193755e-17;

/// `base + t + rest + asin-tail`, where `z` is the square of half of `t`, or of `t` itself.
#[inline(always)]
fn arcs(base: f64, t: f64, rest: f64, z: f64) -> f64 {
    let (h, e) = fast_two_sum(base, t);
    h + fma(t * z, arcsine_tail(z), fma(base, REST, e) + rest)
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Beyond 1/2, by the root of `(1 - |x|) / 2`, which is less than `x^2` there.
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let a = x.abs();
    let outer = a > 0.5;
    let z = least(a * a, fma(-0.5, a, 0.5));
    let (s, rest) = root(z);
    let base = if outer { FRAC_PI_2 } else { 0.0 };
    let y = arcs(base, if outer { -2.0 * s } else { a }, if outer { -2.0 * rest } else { 0.0 }, z);
    if a <= 1.0 { y.copysign(x) } else { f64::NAN }
}

#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let a = x.abs();
    let outer = a > 0.5;
    let z = least(a * a, fma(-0.5, a, 0.5));
    let (s, rest) = root(z);
    let far = if x < 0.0 { PI } else { 0.0 };
    let base = if outer { far } else { FRAC_PI_2 };
    let twice = |v: f64| xor_sign(v + v, x.to_bits());
    let y = arcs(base, if outer { twice(s) } else { -x }, if outer { twice(rest) } else { 0.0 }, z);
    if a <= 1.0 { y } else { f64::NAN }
}

/// `base + atan(t + rest)` for `|t| <= 1`, where the base is zero or more than it.
#[inline(always)]
fn arctangent(base: f64, t: f64, rest: f64) -> f64 {
    let z = t * t;
    let p = horner!(
        fma,
        z,
        [
            -0.33333333333333093,
            0.1999999999995546,
            -0.14285714282803186,
            0.11111111013670939,
            pairs!(
                fma,
                z,
                [
                    -0.09090907119501802,
                    0.0769228118860919,
                    -0.06666415005826881,
                    0.05880592571762712,
                    -0.05253805513257895,
                    0.04723292894721435,
                    -0.042217158351958176,
                    0.036693472354011235,
                    -0.02998546180516654,
                    0.022084993794644632,
                    -0.013994820996480892,
                    0.007263230321845521,
                    -0.0029192723561465472,
                    0.0008434588808465046,
                    -0.0001547912640382899,
                    1.3488679922081987e-05,
                ]
            ),
        ]
    );
    let (h, e) = fast_two_sum(base, t);
    // The derivative, 1 / (1 + z), counts by a few bits.
    let low = fma(rest, fma(-0.5, z, 1.0), fma(base, REST, e));
    let cube = t * z;
    h + fma(cube, p, fma(prod_err(t, z, cube), p, low))
}

#[inline(always)]
pub fn atan(x: f64) -> f64 {
    angle(least(1e20, x.abs()), 1.0, 0).copysign(x)
}

#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (v, u) = (y.abs(), x.abs());
    // From 2^-900 to 2^1000, and the lesser zero or above 2^-960: then what the quotient lacks is a normal number.
    let plain = (u + v).to_bits().wrapping_sub(123 << 52) < 1900 << 52;
    let plain = plain & (least(u, v).to_bits().wrapping_sub(1) >= 63 << 52);
    let r = angle(v, u, x.to_bits()).copysign(y);
    if plain { r } else { lh_atan2_rare(y, x) }
}

/// The angle of `(x, y)` for `y >= 0` and `x` of which `u` is the absolute value, and the uppermost bit of `left` the
/// sign.
#[inline(always)]
fn angle(v: f64, u: f64, left: u64) -> f64 {
    let right = if (left >> 63) != 0 { PI } else { 0.0 };
    let base = if v > u { FRAC_PI_2 } else { right };
    // Added to the base, or subtracted from it.
    let n = xor_sign(least(u, v), left ^ (u - v).to_bits());
    let d = if u > v { u } else { v };
    let inverse = 1.0 / d;
    let t = n * inverse;
    arctangent(base, t, -prod_err(t, d, n) * inverse)
}

/// Of zeros, infinity and NaN, and where products or quotients leave the range.
#[inline(always)]
pub fn atan2_rare(y: f64, x: f64) -> f64 {
    if x.is_nan() | y.is_nan() {
        return x + y;
    }
    let (v, u) = (y.abs(), x.abs());
    let (v, u) = if u.max(v) == f64::INFINITY {
        // A finite coordinate is nothing beside an infinite one.
        let unit = |w: f64| if w == f64::INFINITY { 1.0 } else { 0.0 };
        (unit(v), unit(u))
    } else if u + v == 0.0 {
        (0.0, 1.0)
    } else if u.max(v) > 1e100 {
        (v * 7.888609052210118e-31, u * 7.888609052210118e-31)
    } else {
        (v * 4.149515568880993e+180, u * 4.149515568880993e+180)
    };
    angle(v, u, x.to_bits()).copysign(y)
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::float::fast_two_sum;
    use super::super::bits::{fmaf, horner};
    use super::super::root::float::root;
    use std::f32::consts::{FRAC_PI_2, PI};

    /// The relative error of the parts of pi.
    const REST: f32 = -2.7827534e-8;

    /// See `arctangent` of `f64`.
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

    /// See `angle` of `f64`.
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
            return super::wide::atan(x);
        }
        angle(least(1e30, x.abs()), 1.0, 0).copysign(x)
    }

    #[inline(always)]
    pub fn atan2(y: f32, x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::atan2(y, x);
        }
        let (v, u) = (y.abs(), x.abs());
        let r = angle(v, u, x.to_bits()).copysign(y);
        // From 2^-70 to 2^120, and the lesser zero or above 2^-100: then what the quotient lacks is a normal number.
        let plain = (u + v).to_bits().wrapping_sub(57 << 23) < 190 << 23;
        let plain = plain & (least(u, v).to_bits().wrapping_sub(1) >= 27 << 23);
        if plain { r } else { super::lh_atan2f_rare(y, x) }
    }

    /// See `arcs` of `f64`.
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
            return super::wide::asin(x);
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
            return super::wide::acos(x);
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
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::through_double;

    through_double! {
        asin = super::asin;
        acos = super::acos;
        atan = super::atan;
    }

    #[inline(always)]
    pub fn atan2(y: f32, x: f32) -> f32 {
        super::atan2(y as f64, x as f64) as f32
    }
}
