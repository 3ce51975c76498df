//! Reduction of large arguments of trigonometric functions: an exact product with the bits of 2/pi that matter (Payne
//! and Hanek).

use super::bits::{fma, prod_err};
use super::trig::{P1, P1_LOW};

/// 2/pi: the bits behind the binary point.
const TWO_OVER_PI: [u32; 37] = [
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561, 0xb7246e3a,
    0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41,
    0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf,
    0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08,
    0x56033046,
];

/// In each row the words from a place of 2/pi on, the first of which has so many words of zeros before it.
const fn rows<const N: usize, const ROWS: usize>(zeros: usize) -> [[u32; N]; ROWS] {
    let mut rows = [[0; N]; ROWS];
    let mut i = 0;
    while i < N * ROWS {
        let place = i / N + i % N;
        if place >= zeros && place - zeros < TWO_OVER_PI.len() {
            rows[i / N][i % N] = TWO_OVER_PI[place - zeros];
        }
        i += 1;
    }
    rows
}
static ROWS: [[u32; 7]; 64] = rows(2);
static ROWS_SINGLE: [[u32; 4]; 8] = rows(1);

/// The upper half of two words, shifted.
#[inline(always)]
fn shifted(upper: u32, lower: u32, shift: u32) -> u64 {
    ((((upper as u64) << 32) | lower as u64) << shift) >> 32
}

/// `|x| - k pi / 2` as a float and what it lacks, and `k` modulo 4, for finite `|x| >= 1`.
#[inline(always)]
pub fn reduce(x: f64) -> (f64, f64, u64) {
    let bits = x.to_bits() & !(1 << 63);
    let m = (bits & 0x000f_ffff_ffff_ffff) | (1 << 52);
    // The first of the 192 bits whose product with `m` counts: its unit is the double of a quadrant.
    let first = ((bits >> 52) as u32).wrapping_sub(1013);
    let row = &ROWS[(first >> 5) as usize & 63];
    let word = |i: usize| (shifted(row[i], row[i + 1], first & 31) << 32) | shifted(row[i + 1], row[i + 2], first & 31);
    let product = ((m.wrapping_mul(word(0)) as u128) << 64)
        .wrapping_add(m as u128 * word(2) as u128)
        .wrapping_add((m as u128 * word(4) as u128) >> 64);
    let quadrant = ((product >> 64) as u64).wrapping_add(1 << 61) >> 62;
    // A signed fraction of a quadrant: units of 2^-62, and words of what is left.
    let units = ((product >> 64) as u64).wrapping_sub(quadrant << 62) as i64;
    let (middle, low) = ((product >> 32) as u32 as f64, product as u32 as f64);
    let most = units as f64;
    let left = units.wrapping_sub(most as i64) as f64;
    let hi = fma(middle, 2.3283064365386963e-10, most);
    let lo = fma(middle, 2.3283064365386963e-10, most - hi) + fma(low, 5.421010862427522e-20, left);
    let unit = 2.168404344971009e-19;
    let r = hi * (unit * P1);
    let l = prod_err(hi, unit * P1, r) + (hi * (unit * P1_LOW) + lo * (unit * P1));
    let sum = r + l;
    (sum, (r - sum) + l, quadrant)
}

/// As [`reduce`], for `|x| >= 2^-6`.
#[inline(always)]
pub fn reduce_single(x: f32) -> (f32, f32, u32) {
    let bits = x.to_bits() & 0x7fff_ffff;
    let m = ((bits & 0x007f_ffff) | (1 << 23)) as u64;
    // The first of the 96 bits whose product with `m` counts: its unit is the double of a quadrant.
    let first = (bits >> 23).wrapping_sub(120);
    let row = &ROWS_SINGLE[(first >> 5) as usize & 7];
    let part = |i: usize| shifted(row[i], row[i + 1], first & 31);
    let product = (m.wrapping_mul(part(0)) << 32).wrapping_add(m * part(1)).wrapping_add((m * part(2)) >> 32);
    let quadrant = product.wrapping_add(1 << 61) >> 62;
    let fraction = product.wrapping_sub(quadrant << 62) as i64;
    let r = fraction as f64 * 3.406121580086554e-19;
    let hi = r as f32;
    (hi, (r - hi as f64) as f32, quadrant as u32)
}
