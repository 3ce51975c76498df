//! Trigonometric functions of large arguments: an exact product with the bits of 2/pi that matter (Payne and Hanek).
//!
//! They are called, not inlined, as those of `rare.inc` are.

use super::bits::{prod_err, xor_sign};
use super::trig::{P1, P1_LOW, kernel, tangent};

/// 2/pi: the bits behind the binary point, with zeros up to a power of two of words.
static TWO_OVER_PI: [u64; 32] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
];

/// `|x| - k pi / 2` as a float and what it lacks, and `k` modulo 4, for finite `|x| >= 1`.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64, u64) {
    let bits = x.to_bits() & !(1 << 63);
    let m = ((bits & 0x000f_ffff_ffff_ffff) | (1 << 52)) as u128;
    // |x| = m * 2^e. Words of 2/pi whose product with it is a multiple of 4 do not matter.
    let e = (bits >> 52) as i64 - 1075;
    let top = e.wrapping_sub(2).max(0) as u64;
    let (first, shift) = (top >> 6, top & 63);
    let word = |i: u64| TWO_OVER_PI[((first + i) & 31) as usize] as u128;
    // Four words of product; the uppermost counts modulo 2^64.
    let p3 = m * word(3);
    let p2 = m * word(2) + (p3 >> 64);
    let p1 = m * word(1) + (p2 >> 64);
    let p0 = m * word(0) + (p1 >> 64);
    let (w1, low) = (p1 as u64 as u128, (p2 << 64) | (p3 as u64 as u128));
    // Left of the point stand the lowest 2 bits of the quotient and the zeros that the shift moves out.
    // For e < 2 there are none to move out, and the point is further left.
    let lead = e.wrapping_sub(2).min(0).unsigned_abs() & 63;
    let high = (p0 << (64 - lead)) | (w1 >> lead);
    let low = if lead > 0 { (low >> lead) | (w1 << (128 - lead)) } else { low };
    let shifted = if shift > 0 { (high << shift) | (low >> (128 - shift)) } else { high };
    let rest = low << shift;
    let quotient = (shifted >> 126) as u64;
    // A signed fraction of a quadrant, in [-1/2, 1/2).
    let fraction = (shifted << 2) | (rest >> 126);
    let negative = (fraction >> 127) != 0;
    let size = if negative { fraction.wrapping_neg() } else { fraction };
    let (hi, lo) = to_float(size);
    let r = hi * P1;
    let l = prod_err(hi, P1, r) + hi * P1_LOW + lo * P1;
    let sum = r + l;
    let sign = (negative as u64) << 63;
    (xor_sign(sum, sign), xor_sign((r - sum) + l, sign), quotient.wrapping_add(negative as u64))
}

/// `size * 2^-128` as a float of 53 bits and a second one.
#[inline(always)]
fn to_float(size: u128) -> (f64, f64) {
    let zeros = size.leading_zeros() as u64 & 127;
    let normal = size << zeros;
    let hi = (normal >> 75) as u64;
    let lo = (normal >> 22) as u64 & 0x001f_ffff_ffff_ffff;
    let unit = f64::from_bits((1023 - 53 - zeros) << 52);
    let unit_lo = f64::from_bits((1023 - 106 - zeros) << 52);
    (hi as i64 as f64 * unit, lo as i64 as f64 * unit_lo)
}

/// The sine of `|x| >= 1`, infinite or NaN.
#[inline(always)]
pub fn sin(x: f64) -> f64 {
    let (hi, lo, k) = reduce(x);
    let y = xor_sign(kernel(hi, lo, k & 1 != 0), (k << 62) ^ x.to_bits());
    if x.abs() < f64::INFINITY { y } else { f64::NAN }
}

/// The cosine of `|x| >= 1`, infinite or NaN.
#[inline(always)]
pub fn cos(x: f64) -> f64 {
    let (hi, lo, k) = reduce(x);
    let y = xor_sign(kernel(hi, lo, k & 1 == 0), k.wrapping_add(1) << 62);
    if x.abs() < f64::INFINITY { y } else { f64::NAN }
}

/// The tangent of `|x| >= 1`, infinite or NaN.
#[inline(always)]
pub fn tan(x: f64) -> f64 {
    let (hi, lo, k) = reduce(x);
    let y = xor_sign(tangent(hi, lo, k & 1 != 0), x.to_bits());
    if x.abs() < f64::INFINITY { y } else { f64::NAN }
}

#[inline(always)]
pub fn sinf(x: f32) -> f32 {
    super::lh_sin_large(x as f64) as f32
}

#[inline(always)]
pub fn cosf(x: f32) -> f32 {
    super::lh_cos_large(x as f64) as f32
}

#[inline(always)]
pub fn tanf(x: f32) -> f32 {
    super::lh_tan_large(x as f64) as f32
}
