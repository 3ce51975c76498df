//! Powers: the binary logarithm in twice the precision, times the exponent, and back.

use super::bits::{fast_two_sum, fma, pairs, prod_err, two_prod, xor_sign};
use super::exp::{clamp, exp2_normal, exp2_sum};
use super::log::{is_plain, left, parts};

exports! {
    lh_pow(x: f64, y: f64) -> f64 = pow;
    lh_powf(x: f32, y: f32) -> f32 = wide::pow;
    lh_whole_pow(x: f64, n: f64) -> f64 = whole_pow;
    lh_whole_powf(x: f32, n: f32) -> f32 = wide::whole_pow;
}

rare! {
    lh_pow_rare(x: f64, y: f64) -> f64 = pow_rare;
    lh_powf_rare(x: f32, y: f32) -> f32 = wide::powf_rare;
}

/// 2 / log(2) in two parts, the first of 26 bits.
const LOG2_FACTOR: (f64, f64) = (2.8853901028633118, -2.1085384952858276e-08);

/// A third of it.
const THIRD: (f64, f64) = (0.9617966939259756, 5.0577616648125907e-17);

/// The binary logarithm of a plain number, to some 65 bits; `bias` as in [`parts`].
#[inline(always)]
fn log2_sum(x: f64, bias: f64) -> (f64, f64) {
    let (k, f, inverse, s) = parts(x, bias);
    // The square of the shorter one is exact, and so is its product with the factor.
    let s = f64::from_bits(s.to_bits() & 0xffff_ffff_f800_0000);
    let inverse = fma(inverse, fma(-inverse, f + 2.0, 1.0), inverse);
    let rest = left(f, s) * inverse;
    let square = s * s;
    let square_rest = fma(s, rest, (s + rest) * rest);
    let z = square + square_rest;
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
    let (c, c_rest) = fast_two_sum(THIRD.0, z * series);
    let (cube, e) = two_prod(s, square);
    let cube_rest = fma(rest, z, fma(s, square_rest, e));
    let (b, e) = two_prod(cube, c);
    let b_rest = fma(cube, c_rest + THIRD.1, fma(cube_rest, c, e));
    let a_rest = fma(LOG2_FACTOR.0 + LOG2_FACTOR.1, rest, LOG2_FACTOR.1 * s);
    let (u, v) = fast_two_sum(LOG2_FACTOR.0 * s, b);
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
    if cfg!(lh_gpu) {
        return pow_rare(x, y);
    }
    const INTEGERS: f64 = 4503599627370496.0;
    let a = x.abs();
    let (hi, lo) = log2_sum(a, 1021.0);
    let (p, rest) = two_prod(hi, y);
    let magnitude = exp2_normal(p, fma(lo, y, rest));
    let b = y.abs();
    let t = b + INTEGERS;
    let odd = t.to_bits() << 63;
    let fraction = (t - INTEGERS != b) | (b >= INTEGERS);
    let plain = is_plain(a) & (p.abs() < 1022.0) & !((x < 0.0) & fraction);
    // Those of which everybody knows the result.
    let magnitude = if y == 0.5 { a.sqrt() } else { magnitude };
    let magnitude = if y == 2.0 { a * a } else { magnitude };
    if plain { xor_sign(magnitude, odd & x.to_bits()) } else { lh_pow_rare(x, y) }
}

/// Of any numbers; called for zeros, infinity, NaN, negative numbers to fractions, and results that are not normal.
#[inline(always)]
pub fn pow_rare(x: f64, y: f64) -> f64 {
    let a = x.abs();
    let degenerate = (a == 0.0) | (y == 0.0) | (a == f64::INFINITY) | x.is_nan() | y.is_nan();
    if !cfg!(lh_gpu) & degenerate {
        let r = with_edges(x, y, 1.0);
        // Divided so that the flag of division by zero is set.
        return if (a == 0.0) & (y < 0.0) & (y > f64::NEG_INFINITY) { (1.0 / a).copysign(r) } else { r };
    }
    if !cfg!(lh_gpu) & (x < 0.0) & !parity(y).0 {
        // Not a number; divided so that the flag of an invalid operation is set.
        let zero = a + x;
        return zero / -zero;
    }
    let tiny = a < 1e-300;
    let (hi, lo) = log2_sum(if tiny { a * 18014398509481984.0 } else { a }, if tiny { 1075.0 } else { 1021.0 });
    // An infinite exponent behaves as a huge even one.
    let e = clamp(y, -1e25, 1e25);
    let (p, rest) = two_prod(hi, e);
    with_edges(x, y, exp2_sum(p, fma(lo, e, rest)))
}

/// A product of two numbers given as a float and what it lacks.
#[inline(always)]
fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (p, rest) = two_prod(a.0, b.0);
    (p, fma(a.0, b.1, fma(a.1, b.0, rest)))
}

/// `x` to the power of an integer from -16 to 16 except 0, by squares and products of twice the precision. Where `n` is
/// a constant, its bits choose while compiling.
#[inline(always)]
pub fn whole_pow(x: f64, n: f64) -> f64 {
    let n = n as i32;
    let inverse = 1.0 / x;
    let inverse = (inverse, -prod_err(inverse, x, 1.0) * inverse);
    let mut power = if n < 0 { inverse } else { (x, 0.0) };
    let mut square = if n < 0 { times(inverse, inverse) } else { two_prod(x, x) };
    let n = n.abs();
    for bit in [2, 4, 8, 16] {
        let product = if n & (bit - 1) == 0 { square } else { times(power, square) };
        power = if n & bit != 0 { product } else { power };
        square = times(square, square);
    }
    // The rest is not a number where a product or the inverse is infinite, and has another sign than a product of 0.
    if (power.1.abs() < f64::INFINITY) & (power.0 != 0.0) { power.0 + power.1 } else { power.0 }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::fma;
    use super::super::exp::wide::exp2_wide;
    use super::super::exp::{LOG2E, clamp};
    use super::super::log::wide::log_parts;

    #[inline(always)]
    pub fn pow(x: f32, y: f32) -> f32 {
        const INTEGERS: f32 = 8388608.0;
        let (a, b) = (x.abs(), y.abs());
        let (k, l) = log_parts(a as f64);
        let p = fma(l, LOG2E, k) * y as f64;
        let magnitude = exp2_wide(clamp(p, -400.0, 400.0)) as f32;
        let t = b + INTEGERS;
        let odd = t.to_bits() << 31;
        let fraction = (t - INTEGERS != b) | (b >= INTEGERS);
        let plain = (a > 0.0) & (a < f32::INFINITY) & (b < f32::INFINITY) & !((x < 0.0) & fraction);
        if plain { f32::from_bits(magnitude.to_bits() | (odd & x.to_bits())) } else { super::lh_powf_rare(x, y) }
    }

    /// See [`super::whole_pow`]; squares and products of doubles are exact enough.
    #[inline(always)]
    pub fn whole_pow(x: f32, n: f32) -> f32 {
        let n = n as i32;
        let x = x as f64;
        let (mut square, mut power) = (if n < 0 { 1.0 / x } else { x }, 1.0);
        for bit in [1, 2, 4, 8, 16] {
            power = if n.abs() & bit != 0 { power * square } else { power };
            square *= square;
        }
        power as f32
    }

    /// For what is rare as doubles, too, and negative numbers to large powers.
    #[inline(always)]
    pub fn powf_rare(x: f32, y: f32) -> f32 {
        super::pow(x as f64, y as f64) as f32
    }
}
