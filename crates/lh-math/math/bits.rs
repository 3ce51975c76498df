//! Building blocks: fused products, exact sums, polynomials, floats as bits.
//!
//! Everything here is a handful of instructions without a branch, so that what is made of it can be vectorised.

/// `a * b + c`: fused where the machine can, two roundings elsewhere (a call would forbid vectorisation).
#[inline(always)]
pub fn fma(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(lh_fma) { a.mul_add(b, c) } else { a * b + c }
}

/// [`fma`] for `f32`.
#[inline(always)]
pub fn fmaf(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(lh_fma) { a.mul_add(b, c) } else { a * b + c }
}

/// The upper half of the significand, so that products of halves are exact.
#[inline(always)]
fn upper(a: f64) -> f64 {
    f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000)
}

/// `a * b - p` without rounding error, for `p` near `a * b`.
#[inline(always)]
pub fn prod_err(a: f64, b: f64, p: f64) -> f64 {
    if cfg!(lh_fma) {
        a.mul_add(b, -p)
    } else {
        let (ah, bh) = (upper(a), upper(b));
        let (al, bl) = (a - ah, b - bh);
        ((ah * bh - p) + ah * bl + al * bh) + al * bl
    }
}

/// `a * b` as a rounded product and what it lacks.
#[inline(always)]
pub fn two_prod(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, prod_err(a, b, p))
}

/// `a + b` as a rounded sum and what it lacks.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// [`two_sum`] for `|a| >= |b|` or `a == 0`.
#[inline(always)]
pub fn fast_two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, b - (s - a))
}

/// `a * b + c` as a rounded sum and what it lacks, for `|c| >= |a * b|` or `c == 0`.
#[inline(always)]
pub fn fma_sum(a: f64, b: f64, c: f64) -> (f64, f64) {
    if cfg!(lh_fma) {
        let s = a.mul_add(b, c);
        (s, a.mul_add(b, c - s))
    } else {
        let (p, e) = two_prod(a, b);
        let (s, f) = fast_two_sum(c, p);
        (s, e + f)
    }
}

/// `n / d`, for numbers given as a float and what it lacks: a float and what it lacks.
#[inline(always)]
pub fn quotient(n: (f64, f64), d: (f64, f64)) -> (f64, f64) {
    let inverse = 1.0 / d.0;
    let q = n.0 * inverse;
    // The remainder; `q * d.0` is nearly `n.0`.
    let left = -prod_err(q, d.0, n.0) + (n.1 - q * d.1);
    (q, left * inverse)
}

/// A polynomial by Horner's rule, lowest coefficient first. `$fma` is [`fma`] or [`fmaf`].
macro_rules! horner {
    ($fma:ident, $x:expr, [$c:expr $(,)?]) => { $c };
    ($fma:ident, $x:expr, [$c:expr, $($rest:expr),+ $(,)?]) => { $fma(horner!($fma, $x, [$($rest),+]), $x, $c) };
}
pub(crate) use horner;

/// A polynomial by Horner's rule in `x^2`, of pairs: for long ones, whose chain of products would be waited for.
macro_rules! pairs {
    ($fma:ident, $x:expr, [$($c:expr),+ $(,)?]) => {{
        let x = $x;
        let square = x * x;
        pairs!($fma, x, square, $($c),+)
    }};
    ($fma:ident, $x:ident, $y:ident, $a:expr, $b:expr, $($rest:expr),+) => {
        $fma(pairs!($fma, $x, $y, $($rest),+), $y, $fma($b, $x, $a))
    };
    ($fma:ident, $x:ident, $y:ident, $a:expr, $b:expr) => { $fma($b, $x, $a) };
    ($fma:ident, $x:ident, $y:ident, $a:expr) => { $a };
}
pub(crate) use pairs;

/// Adding it leaves an integer in the low bits of the sum: conversion without an instruction that AVX2 lacks.
pub const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The integer nearest to `x * y`, as a float and as the low bits of a word.
#[inline(always)]
pub fn round_product(x: f64, y: f64) -> (f64, u64) {
    let t = fma(x, y, MAGIC);
    (t - MAGIC, t.to_bits())
}

/// `x` with the sign bit flipped where `sign` has its top bit set.
#[inline(always)]
pub fn xor_sign(x: f64, sign: u64) -> f64 {
    f64::from_bits(x.to_bits() ^ (sign & (1 << 63)))
}

/// Functions of `f32` that are computed by the functions of `f64`.
macro_rules! through_double {
    ($($name:ident = $body:path;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            $body(x as f64) as f32
        }
    )*};
}
pub(crate) use through_double;

/// The same for `f32`.
pub mod float {

    /// See [`super::MAGIC`].
    pub const MAGIC: f32 = 12582912.0;

    #[inline(always)]
    pub fn clamp(x: f32, lo: f32, hi: f32) -> f32 {
        let x = if x > hi { hi } else { x };
        if x < lo { lo } else { x }
    }

    #[inline(always)]
    pub fn fast_two_sum(a: f32, b: f32) -> (f32, f32) {
        let s = a + b;
        (s, b - (s - a))
    }
}
