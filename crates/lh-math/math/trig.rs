//! Sine, cosine, tangent: reduction to `|r| <= pi / 4` in three parts, and a polynomial chosen by the quadrant.
//!
//! The reduction is exact enough up to [`LIMIT`]. Beyond, a call that a vectorised loop makes for the lanes that
//! need it (see `large.rs`).

use super::bits::{fma, fma_sum, horner, quotient, round_product, two_prod, two_sum, xor_sign};
use super::exp::clamp;

exports! {
    lh_sin(x: f64) -> f64 = sin;
    lh_sinf(x: f32) -> f32 = float::sin;
    lh_cos(x: f64) -> f64 = cos;
    lh_cosf(x: f32) -> f32 = float::cos;
    lh_tan(x: f64) -> f64 = tan;
    lh_tanf(x: f32) -> f32 = float::tan;
    lh_sin_fast(x: f64) -> f64 = sin_fast;
    lh_sinf_fast(x: f32) -> f32 = float::sin_fast;
    lh_cos_fast(x: f64) -> f64 = cos_fast;
    lh_cosf_fast(x: f32) -> f32 = float::cos_fast;
    lh_tan_fast(x: f64) -> f64 = tan_fast;
}

rare! {
    lh_sin_large(x: f64) -> f64 = sin_large;
    lh_sinf_large(x: f32) -> f32 = float::sin_large;
    lh_cos_large(x: f64) -> f64 = cos_large;
    lh_cosf_large(x: f32) -> f32 = float::cos_large;
    lh_tan_large(x: f64) -> f64 = tan_large;
    lh_tanf_large(x: f32) -> f32 = float::tan_large;
}

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
            if $x.abs() > LIMIT { $called($x) } else { y }
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
    if a > LIMIT { lh_tan_large(x) } else { y }
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
    if a > LIMIT { lh_sin_large(x) } else { y }
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
    if x.abs() > LIMIT { lh_cos_large(x) } else { y }
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::float::{MAGIC, clamp};
    use super::super::bits::{fmaf, horner};

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
        let (hi, lo, k) = super::super::large::reduce_single(x);
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
                return super::$name($x as f64) as f32;
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
            return super::wide::tan(x);
        }
        if cfg!(lh_gpu) {
            return tan_large(x);
        }
        let y = f32::from_bits(tangent(quadrant(x.abs())).to_bits() ^ (x.to_bits() & (1 << 31)));
        if x.abs() > LIMIT { super::lh_tanf_large(x) } else { y }
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::{MAGIC, fma, horner};

    #[inline(always)]
    pub fn tan(x: f32) -> f32 {
        let x = x as f64;
        if !cfg!(lh_fma) {
            return super::tan(x) as f32;
        }
        let a = x.abs();
        let t = fma(a, std::f64::consts::FRAC_2_PI, MAGIC);
        let k = t - MAGIC;
        let r = fma(-k, super::P1_LOW, fma(-k, super::P1, a));
        let z = r * r;
        let s = horner!(
            fma,
            z,
            [1.0, -0.16666666663858126, 0.008333331875272864, -0.00019840086864117686, 2.7249927346178807e-06,]
        );
        let c = horner!(
            fma,
            z,
            [
                1.0,
                -0.49999999999963907,
                0.04166666663739901,
                -0.0013888885091187832,
                2.4799862017295165e-05,
                -2.7237116800781954e-07,
            ]
        );
        let s = r * s;
        let odd = t.to_bits() & 1 != 0;
        let y = (if odd { -c } else { s }) / (if odd { s } else { c });
        let y = f64::from_bits(y.to_bits() ^ (x.to_bits() & (1 << 63)));
        (if a > 1e9 { super::lh_tan_large(x) } else { y }) as f32
    }
}
