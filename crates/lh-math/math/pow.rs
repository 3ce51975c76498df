//! Powers: the binary logarithm in twice the precision, times the exponent, and back.

use super::bits::{fast_two_sum, fma, pairs, quotient, two_prod};
use super::exp::{clamp, exp2_sum};
use super::log::split;

/// 2 / log(2) and a third of it.
const FIRST: (f64, f64) = (2.8853900817779268, 4.0710547481862066e-17);
const THIRD: (f64, f64) = (0.9617966939259756, 5.0577616648125907e-17);

/// The binary logarithm of a positive finite number, to some 65 bits.
#[inline(always)]
fn log2_sum(x: f64) -> (f64, f64) {
    let (k, m) = split(x);
    let (d, d_rest) = fast_two_sum(1.0, m);
    // For m > 1 the order of the sum is wrong by one place, which loses nothing.
    let (s, s_rest) = quotient((m - 1.0, 0.0), (d, d_rest));
    let (z, e) = two_prod(s, s);
    let z_rest = fma(2.0 * s, s_rest, e);
    let series = pairs!(
        fma,
        z,
        [
            0.5770780163555853,
            0.4121985831112072,
            0.3205988979438995,
            0.2623081952317311,
            0.2219524759507834,
            0.1923944728281044,
            0.16857027750174694,
            0.17198382199881798,
        ]
    );
    let (q, e) = two_prod(z, series);
    let q_rest = fma(z_rest, series, e);
    let (c, c_rest) = fast_two_sum(THIRD.0, q);
    let c_rest = c_rest + (THIRD.1 + q_rest);
    let (cube, e) = two_prod(s, z);
    let cube_rest = fma(s, z_rest, fma(s_rest, z, e));
    let (b, e) = two_prod(cube, c);
    let b_rest = fma(cube, c_rest, fma(cube_rest, c, e));
    let (a, e) = two_prod(s, FIRST.0);
    let a_rest = fma(s, FIRST.1, fma(s_rest, FIRST.0, e));
    let (u, v) = fast_two_sum(a, b);
    let (t, w) = fast_two_sum(k, u);
    fast_two_sum(t, w + (v + (a_rest + b_rest)))
}

/// Whether `y` is an integer, and whether it is an odd one.
#[inline(always)]
fn parity(y: f64) -> (bool, bool) {
    let a = y.abs();
    let large = a >= 4503599627370496.0;
    let t = a + 4503599627370496.0;
    let integer = large | (t - 4503599627370496.0 == a);
    let bits = if large { a.to_bits() } else { t.to_bits() };
    (integer, integer & (a < 9007199254740992.0) & (bits & 1 != 0))
}

/// The result for any arguments, given the power of `|x|` wherever it is positive and finite.
#[inline(always)]
pub fn with_edges(x: f64, y: f64, magnitude: f64) -> f64 {
    let a = x.abs();
    let degenerate = (a == 0.0) | (a == f64::INFINITY);
    let limit = if (a == 0.0) == (y < 0.0) { f64::INFINITY } else { 0.0 };
    let magnitude = if degenerate { limit } else { magnitude };
    let (integer, odd) = parity(y);
    let sign = if odd { x.to_bits() & (1 << 63) } else { 0 };
    let r = f64::from_bits(magnitude.to_bits() | sign);
    let r = if (x < 0.0) & (a < f64::INFINITY) & !integer { f64::NAN } else { r };
    let r = if x.is_nan() | y.is_nan() { x + y } else { r };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { r }
}

#[inline(always)]
pub fn pow(x: f64, y: f64) -> f64 {
    let (hi, lo) = log2_sum(x.abs());
    // An infinite exponent behaves as a huge even one.
    let e = clamp(y, -1e25, 1e25);
    let (p, rest) = two_prod(hi, e);
    with_edges(x, y, exp2_sum(p, fma(lo, e, rest)))
}
