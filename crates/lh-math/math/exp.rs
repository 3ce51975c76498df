//! Exponentials.

use super::bits::{MAGIC, fast_two_sum, fma, fma_sum, horner, pairs, prod_err, two_prod};

exports! {
    lh_exp(x: f64) -> f64 = exp;
    lh_expf(x: f32) -> f32 = float::exp;
    lh_exp2(x: f64) -> f64 = exp2;
    lh_exp2f(x: f32) -> f32 = float::exp2;
    lh_expm1(x: f64) -> f64 = expm1;
    lh_expm1f(x: f32) -> f32 = float::expm1;
}

pub const LOG2E: f64 = 1.4426950408889634;

/// The logarithm of two in two parts; the first has trailing zeros, so that its small multiples are exact.
pub const LN2_HI: f64 = 0.6931471805582987;
pub const LN2_LO: f64 = 1.6465949582897082e-12;

/// Twice the exponent bias, added to the exponent so that it can be halved as an unsigned number.
const BIAS2: f64 = 2046.0;

/// Below it, functions like `x + c x^2` are the identity.
pub const TINY: f64 = 1.1102230246251565e-16;

/// Below it, functions like `x + c x^3` are the identity.
pub const TINY_ODD: f64 = 3.725290298461914e-09;

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

/// Two powers of two whose product is `2^k`, which may be out of range, for `k + 2046` in the low 12 bits of `biased`.
#[inline(always)]
fn halves_of_power(biased: u64) -> (f64, f64) {
    let half = (biased << 51) & (0x7ff << 52);
    (f64::from_bits(half), f64::from_bits((biased << 52).wrapping_sub(half)))
}

/// `m * 2^k` for `k + 2046` in the low 12 bits of `biased`; the result may be subnormal or infinite.
#[inline(always)]
pub fn scale(m: f64, biased: u64) -> f64 {
    let (a, b) = halves_of_power(biased);
    m * a * b
}

/// `(1 + p) * 2^k`, as [`scale`].
#[inline(always)]
fn scale_one_plus(p: f64, biased: u64) -> f64 {
    let (a, b) = halves_of_power(biased);
    fma(p, a, a) * b
}

/// `(e^r - 1 - r) / r^2` for `|r| <= log(2) / 2`, by one of the ways to compute a polynomial.
macro_rules! tail {
    ($polynomial:ident, $r:expr) => {
        $polynomial!(
            fma,
            $r,
            [
                0.5,
                0.1666666666666667,
                0.04166666666666668,
                0.008333333333325895,
                0.0013888888888876985,
                0.0001984126987541775,
                2.4801587342422262e-05,
                2.7557254814748976e-06,
                2.75572570054771e-07,
                2.5105415041433347e-08,
                2.092035009204448e-09,
            ]
        )
    };
}

#[inline(always)]
pub fn tail(r: f64) -> f64 {
    tail!(pairs, r)
}

#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = clamp(x, -746.0, 710.0);
    let (k, biased) = exponent(x, LOG2E);
    // The first difference is exact, the second is only good for the smaller terms.
    let hi = fma(-k, LN2_HI, x);
    let lo = k * LN2_LO;
    let r = hi - lo;
    scale_one_plus(hi + fma(r * r, tail!(pairs, r), -lo), biased)
}

/// `(2^r - 1 - r log(2)) / r^2` for `|r| <= 1/2`.
#[inline(always)]
fn tail2(r: f64) -> f64 {
    pairs!(
        fma,
        r,
        [
            0.24022650695910072,
            0.0555041086648216,
            0.00961812910762772,
            0.0013333558146415914,
            0.00015403530395069034,
            1.5252733831061691e-05,
            1.3215485257129643e-06,
            1.0178061864734302e-07,
            7.0555175825781905e-09,
            4.4550557013873247e-10,
            2.482750512800414e-11,
        ]
    )
}

const LN2: f64 = 0.6931471805599453;
const LN2_REST: f64 = 2.3190468138462996e-17;

/// `p` for `2^(hi + lo) = 2^k (1 + p)`, and `k + 1023` in the low bits of a word.
#[inline(always)]
fn exp2_parts(hi: f64, lo: f64) -> (f64, u64) {
    let t = hi + (MAGIC + 1023.0);
    let (r, rest) = fast_two_sum(hi - (t - (MAGIC + 1023.0)), lo);
    let low = fma(r * r, tail2(r), fma(rest, LN2, r * LN2_REST));
    let p = if cfg!(lh_fma) { fma(r, LN2, low) } else { r * LN2 + (low + prod_err(r, LN2, r * LN2)) };
    (p, t.to_bits())
}

/// `2^(hi + lo)` for a result that is a normal number.
#[inline(always)]
pub fn exp2_normal(hi: f64, lo: f64) -> f64 {
    let (p, biased) = exp2_parts(hi, lo);
    let unit = power(biased);
    fma(p, unit, unit)
}

/// `2^(hi + lo)` for `lo` small beside one; the range is cut to where the result is zero or infinite.
#[inline(always)]
pub fn exp2_sum(hi: f64, lo: f64) -> f64 {
    let lo = if hi.abs() > 1100.0 { 0.0 } else { lo };
    let (p, biased) = exp2_parts(clamp(hi, -1100.0, 1100.0), lo);
    scale_one_plus(p, biased.wrapping_add(1023))
}

#[inline(always)]
pub fn exp2(x: f64) -> f64 {
    let x = clamp(x, -1080.0, 1030.0);
    let (k, biased) = exponent(x, 1.0);
    let r = x - k;
    scale_one_plus(fma(r, LN2, r * r * tail2(r)), biased)
}

/// `k`, `r` and what `r` lacks for `x = k log(2) + r`, with `k + 2046` as a word.
#[inline(always)]
pub fn reduce(x: f64) -> (f64, f64, f64, u64) {
    let (k, biased) = exponent(x, LOG2E);
    let hi = fma(-k, LN2_HI, x);
    let r = fma(-k, LN2_LO, hi);
    (k, r, fma(-k, LN2_LO, hi - r), biased)
}

/// A power of two from its biased exponent.
#[inline(always)]
pub fn power(biased: u64) -> f64 {
    f64::from_bits(biased << 52)
}

/// `e^x - 1` times `2^shift` as a float and what it lacks.
#[inline(always)]
pub fn expm1_sum(x: f64, shift: i64) -> (f64, f64) {
    let (_, r, c, biased) = reduce(x);
    let p = power(biased.wrapping_add((shift - 1023) as u64));
    let one = power((1023 + shift) as u64);
    let (z, z_rest) = two_prod(r, r);
    let t = fma(z, tail!(horner, r), fma(0.5, z_rest, fma(c, r, c)));
    let less = p - one;
    let lost = (p - less) - one;
    let (s, e) = fma_sum(p, r, less);
    (s, fma(p, t, e + lost))
}

#[inline(always)]
pub fn expm1(x: f64) -> f64 {
    // Scaled by half: 2^1024 is out of range.
    let (s, e) = expm1_sum(clamp(x, -60.0, 710.0), -1);
    let y = (s + e) * 2.0;
    if x.abs() < TINY { x } else { y }
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::float::{MAGIC, clamp};
    use super::super::bits::{fmaf, horner};

    const LOG2E: f32 = 1.442695;
    const LN2_HI: f32 = 0.693359375;
    const LN2_LO: f32 = -0.00021219444;

    /// Twice the exponent bias.
    const BIAS2: f32 = 254.0;

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

    /// Two powers of two whose product is `2^k`, which may be out of range, for `k + 254` in the low 9 bits of
    /// `biased`.
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
        // As in `exp` of `f64`.
        let hi = fmaf(-k, LN2_HI, x);
        let lo = k * LN2_LO;
        let r = hi - lo;
        let (a, b) = power_of(t.to_bits());
        fmaf(hi + fmaf(r * r, tail(r), -lo), a, a) * b
    }

    /// `2^(f + k)` for `|f| <= 1/2` and a result in range, with `k` in the low bits of a word.
    #[inline(always)]
    pub fn power(f: f32, k: u32) -> f32 {
        let m = horner!(fmaf, f, [1.0, 0.69314724, 0.24022655, 0.05550273, 0.009617057, 0.0013417547, 0.00015828287]);
        f32::from_bits(m.to_bits().wrapping_add(k << 23))
    }

    #[inline(always)]
    pub fn exp2(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::exp2(x);
        }
        let x = clamp(x, -151.0, 129.0);
        let t = x + (MAGIC + 254.0);
        let f = x - (t - (MAGIC + 254.0));
        let q = horner!(fmaf, f, [0.24022655, 0.05550273, 0.009617057, 0.0013417547, 0.00015828287]);
        let p = fmaf(f, 0.69314724, f * f * q);
        let (a, b) = power_of(t.to_bits());
        fmaf(p, a, a) * b
    }

    #[inline(always)]
    pub fn expm1(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::expm1(x);
        }
        let (biased, r, c) = reduce(clamp(x, -20.0, 88.8));
        // Scaled by half: 2^128 is out of range.
        let p = f32::from_bits(biased.wrapping_sub(128) << 23);
        let less = p - 0.5;
        let lost = (p - less) - 0.5;
        let q = horner!(fmaf, r, [0.5, 0.166666642, 0.0416664891, 0.00833393913, 0.0013932687, 0.00019530124]);
        let t = fmaf(r * r, q, c);
        let s = fmaf(p, r, less);
        let e = fmaf(p, r, less - s);
        let y = (s + fmaf(p, t, e + lost)) * 2.0;
        if x.abs() < 5e-8 { x } else { y }
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments. Polynomials are
/// just long enough for `f32`; the range of `f64` spares scaling, its precision the care for what a rounding loses.
pub mod wide {
    use super::super::bits::{MAGIC, fma, horner, pairs};
    use super::{LOG2E, clamp};

    const LN2: f64 = std::f64::consts::LN_2;

    /// `2^k` and `e^r - 1` for `x = k log(2) + r`.
    #[inline(always)]
    pub fn exp_parts(x: f64) -> (f64, f64) {
        let t = fma(x, LOG2E, MAGIC);
        let r = fma(-(t - MAGIC), LN2, x);
        let q = horner!(
            fma,
            r,
            [
                0.5,
                0.16666662693023682,
                0.041666507720947266,
                0.0083341822028160095,
                0.0013931039720773697,
                0.00019434292335063219,
            ]
        );
        (f64::from_bits(t.to_bits().wrapping_add(1023) << 52), fma(r * r, q, r))
    }

    /// `e^x - 1`.
    #[inline(always)]
    pub fn exp_less_one(x: f64) -> f64 {
        let (p, m) = exp_parts(x);
        fma(p, m, p - 1.0)
    }

    #[inline(always)]
    pub fn exp2_wide(x: f64) -> f64 {
        let t = x + MAGIC;
        let r = x - (t - MAGIC);
        let m = pairs!(
            fma,
            r,
            [
                1.0,
                LN2,
                0.24022650760587302,
                0.05550410896371883,
                0.009618082551141029,
                0.0013333482446721502,
                0.0001545316540005391,
                1.5303704351867744e-05,
            ]
        );
        m * f64::from_bits(t.to_bits().wrapping_add(1023) << 52)
    }

    #[inline(always)]
    pub fn exp2(x: f32) -> f32 {
        exp2_wide(clamp(x as f64, -200.0, 200.0)) as f32
    }

    #[inline(always)]
    pub fn expm1(x: f32) -> f32 {
        (exp_less_one(clamp(x as f64, -40.0, 100.0)) as f32).copysign(x)
    }
}
