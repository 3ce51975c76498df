//! Exponentials.

use super::bits::{MAGIC, fast_two_sum, fma, fma_sum, horner, pairs, prod_err, quotient, two_prod, two_sum};

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
fn power(biased: u64) -> f64 {
    f64::from_bits(biased << 52)
}

/// `e^x - 1` times `2^shift` as a float and what it lacks.
#[inline(always)]
fn expm1_sum(x: f64, shift: i64) -> (f64, f64) {
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

/// [`tanh`] within 4 ulp.
#[inline(always)]
pub fn tanh_fast(x: f64) -> f64 {
    let (s, e) = expm1_sum(2.0 * clamp(x.abs(), 0.0, 30.0), 0);
    let n = s + e;
    (n / (n + 2.0)).copysign(x)
}

#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let (s, e) = expm1_sum(2.0 * clamp(x.abs(), 0.0, 30.0), 0);
    let n = fast_two_sum(s, e);
    let (d, f) = two_sum(n.0, 2.0);
    let (q, rest) = quotient(n, (d, f + n.1));
    (q + rest).copysign(x)
}

/// For `|x| = k log(2) + r`: half of `sinh(k log(2))` and of `cosh(k log(2))`, `r`, `sinh - r` and `cosh - 1` of it.
struct Hyperbolic {
    sinh: (f64, f64),
    cosh: (f64, f64),
    r: f64,
    odd: f64,
    even: f64,
}

#[inline(always)]
fn hyperbolic(x: f64) -> Hyperbolic {
    let (k, r, c, biased) = reduce(clamp(x.abs(), 0.0, 710.7));
    let p = power(biased.wrapping_sub(1025));
    let inverse = power(3067u64.wrapping_sub(biased));
    let inverse = if k > 60.0 { 0.0 } else { inverse };
    let z = r * r;
    let odd = horner!(
        fma,
        z,
        [
            0.16666666666666666,
            0.008333333333334872,
            0.00019841269834104352,
            2.755733284923171e-06,
            2.5040764384622527e-08,
            1.9504353426944001e-10,
        ]
    );
    let even = horner!(
        fma,
        z,
        [
            0.041666666666666664,
            0.0013888888888889729,
            2.480158730766712e-05,
            2.75572934444171e-07,
            2.090737742265426e-09,
        ]
    );
    let even = z * fma(z, even, 0.5);
    Hyperbolic {
        sinh: fast_two_sum(p, -inverse),
        cosh: fast_two_sum(p, inverse),
        r,
        odd: fma(r * z, odd, c),
        even: fma(c, r, even),
    }
}

#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let h = hyperbolic(x);
    let (s, e) = fma_sum(h.cosh.0, h.r, h.sinh.0);
    let y = (s + (e + fma(h.cosh.0, h.odd, fma(h.sinh.0, h.even, h.sinh.1)))) * 2.0;
    let y = y.copysign(x);
    if x.abs() < TINY_ODD { x } else { y }
}

#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let h = hyperbolic(x);
    let (s, e) = fma_sum(h.sinh.0, h.r, h.cosh.0);
    (s + (e + fma(h.sinh.0, h.odd, fma(h.cosh.0, h.even, h.cosh.1)))) * 2.0
}
