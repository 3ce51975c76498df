//! Roots: the hypotenuse and the cube root.

use super::bits::{MAGIC, fast_two_sum, fma, horner, prod_err, two_prod};

exports! {
    lh_cbrt(x: f64) -> f64 = cbrt;
    lh_cbrtf(x: f32) -> f32 = float::cbrt;
    lh_hypot(x: f64, y: f64) -> f64 = hypot;
    lh_hypotf(x: f32, y: f32) -> f32 = float::hypot;
}

rare! {
    lh_hypot_rare(x: f64, y: f64) -> f64 = hypot_rare;
    lh_hypotf_rare(x: f32, y: f32) -> f32 = wide::hypot;
    lh_cbrt_rare(x: f64) -> f64 = cbrt_rare;
    lh_cbrtf_rare(x: f32) -> f32 = wide::cbrt;
}

/// `sqrt(z)` and half of its inverse, to some 20 bits, for `z` positive and normal; zero and something finite for zero.
#[inline(always)]
fn roots(z: f64) -> (f64, f64) {
    // The exponent halved and the significand nearly linear: a guess of 4 bits, whose constant is the one for which the
    // quotient by the result varies least.
    let r = f64::from_bits(0x5fe4_b73f_d502_2800u64.wrapping_sub(z.to_bits() >> 1));
    let h = z * r;
    let d = fma(-h, r, 1.0);
    let p = horner!(fma, d, [0.9997380232574135, 0.5068956026465954, 0.3098044596735391, 0.5656008746905259]);
    (h * p, 0.5 * r * p)
}

/// `sqrt(z)` and what it lacks, for the same.
#[inline(always)]
pub fn root(z: f64) -> (f64, f64) {
    if !cfg!(lh_fma) {
        let h = z.sqrt();
        return (h, -0.5 * prod_err(h, h, z) / (h + f64::MIN_POSITIVE));
    }
    let (h, half) = roots(z);
    let d = fma(h, -half, 0.5);
    // (1 - 2 d)^(-1/2) = 1 + d + 3 d^2 / 2 + ...
    let h = fma(h, fma(d * d, 1.5, d), h);
    (h, fma(-h, h, z) * half)
}

/// `sqrt(z + rest)` and what it lacks, for the same.
#[inline(always)]
pub fn root_of_sum(z: f64, rest: f64) -> (f64, f64) {
    if !cfg!(lh_fma) {
        let h = z.sqrt();
        return (h, 0.5 * (rest - prod_err(h, h, z)) / (h + f64::MIN_POSITIVE));
    }
    let (h, half) = roots(z);
    let d = fma(h, -half, 0.5);
    let h = fma(h, fma(d * d, 1.5, d), h);
    (h, (fma(-h, h, z) + rest) * fma(half, d, half))
}

#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    if !cfg!(lh_fma) {
        return hypot_rare(x, y);
    }
    let p = x * x;
    let s = fma(y, y, p);
    let (h, half) = roots(s);
    let h = fma(fma(-h, h, s), half, h);
    let result = fma(fma(-h, h, s) + prod_err(x, x, p), half, h);
    // Neither overflow nor underflow, even of what is lost.
    let plain = s.to_bits().wrapping_sub(LEAST_SQUARE) < LARGEST_SQUARE - LEAST_SQUARE;
    if plain { result } else { lh_hypot_rare(x, y) }
}

/// The bits of 2^-900 and of 2^1000.
const LEAST_SQUARE: u64 = 123 << 52;
const LARGEST_SQUARE: u64 = 2023 << 52;

/// For very large and very small arguments, zeros, infinity and NaN.
#[inline(always)]
pub fn hypot_rare(x: f64, y: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    if (a == f64::INFINITY) | (b == f64::INFINITY) {
        return f64::INFINITY;
    }
    let (a, b) = if a < b { (b, a) } else { (a, b) };
    if (b == 0.0) | a.is_nan() | b.is_nan() {
        return a + b;
    }
    let (factor, back) = if a > 1e150 {
        (2.409919865102884e-181, 4.149515568880993e+180)
    } else if a < 1e-140 {
        (5.260135901548374e+210, 1.90109156629516e-211)
    } else {
        (1.0, 1.0)
    };
    let (a, b) = (a * factor, b * factor);
    let (p, e) = two_prod(a, a);
    let (q, f) = two_prod(b, b);
    let (s, g) = fast_two_sum(p, q);
    let h = s.sqrt();
    let left = -prod_err(h, h, s) + (g + (e + f));
    (h + left / (h + h)) * back
}

/// By `a^(-1/3)`: a guess of the exponent over 3, one step to 20 bits, one to all, and a last one for the root itself.
#[inline(always)]
fn cbrt_normal(a: f64) -> f64 {
    // The upper half of the bits as a float; a third of it is taken from that of the exponent, as an integer.
    let upper = f64::from_bits((a.to_bits() >> 32) | MAGIC.to_bits());
    let guess = fma(upper, -1.0 / 3.0, MAGIC + MAGIC / 3.0 + 1_430_042_432.0);
    let r = f64::from_bits(guess.to_bits() << 32);
    let d = fma(-a * r, r * r, 1.0);
    let r = r * horner!(fma, d, [0.9987457482655373, 0.3535469524715278, 0.10583010373874502, 0.44125222487337085]);
    // (1 - d)^(-1/3) = 1 + d / 3 + 2 d^2 / 9 + ...
    let square = r * r;
    let d = fma(-a * r, square, 1.0);
    let third = square * (1.0 / 3.0);
    let y = a * square;
    let y = fma(y, d * fma(d, 5.0 / 9.0, 2.0 / 3.0), y);
    let (p, e) = two_prod(y, y);
    fma(fma(-p, y, a) - e * y, third, y)
}

#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    let plain = a.to_bits().wrapping_sub(1 << 52) < 0x7fe << 52;
    if plain { cbrt_normal(a).copysign(x) } else { lh_cbrt_rare(x) }
}

/// For zeros, subnormal numbers, infinity and NaN.
#[inline(always)]
pub fn cbrt_rare(x: f64) -> f64 {
    let a = x.abs();
    if (a > 0.0) & (a < f64::MIN_POSITIVE) {
        return (cbrt_normal(a * 18014398509481984.0) * 3.814697265625e-06).copysign(x);
    }
    x
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::{fmaf, horner};
    use super::super::log::float::is_plain;

    /// `sqrt(z)` and half of its inverse, to some 15 bits, for `z` positive and normal; zero and something finite for
    /// zero.
    #[inline(always)]
    fn roots(z: f32) -> (f32, f32) {
        let r = f32::from_bits(0x5f25_b9feu32.wrapping_sub(z.to_bits() >> 1));
        let h = z * r;
        let p = horner!(fmaf, fmaf(-h, r, 1.0), [1.00168109, 0.467164278, 0.57292527]);
        (h * p, 0.5 * r * p)
    }

    /// `sqrt(z)` and what it lacks for `sqrt(z + rest)`, for the same.
    #[inline(always)]
    pub fn root(z: f32, rest: f32) -> (f32, f32) {
        let (h, half) = roots(z);
        let h = fmaf(fmaf(-h, h, z), half, h);
        (h, fmaf(fmaf(-h, h, z), half, rest * half))
    }

    #[inline(always)]
    pub fn hypot(x: f32, y: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::hypot(x, y);
        }
        let p = x * x;
        let s = fmaf(y, y, p);
        let (h, half) = roots(s);
        let result = fmaf(fmaf(-h, h, s) + fmaf(x, x, -p), half, h);
        // From 2^-70 to 2^120: neither overflow nor underflow, even of what is lost.
        let plain = s.to_bits().wrapping_sub(57 << 23) < 190 << 23;
        if plain { result } else { super::lh_hypotf_rare(x, y) }
    }

    #[inline(always)]
    pub fn cbrt(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::cbrt(x);
        }
        let a = x.abs();
        let guess = fmaf((a.to_bits() >> 9) as i32 as f32, -1.0 / 3.0, 8388608.0 + 2_770_994.0);
        let r = f32::from_bits(guess.to_bits() << 9);
        let d = fmaf(-a * r, r * r, 1.0);
        let r = r * horner!(fmaf, d, [1.00479186, 0.276349515, 0.428331703]);
        let square = r * r;
        let y = a * square;
        let y = fmaf(y, fmaf(-y, r, 1.0) * 0.6666667, y);
        let p = y * y;
        let left = fmaf(-p, y, a) - fmaf(y, y, -p) * y;
        let y = fmaf(left, square * 0.33333334, y).copysign(x);
        if is_plain(a) { y } else { super::lh_cbrtf_rare(x) }
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::{fma, through_double};

    through_double! {
        cbrt = super::cbrt;
    }

    #[inline(always)]
    pub fn hypot(x: f32, y: f32) -> f32 {
        let (a, b) = (x as f64, y as f64);
        let r = fma(a, a, b * b).sqrt() as f32;
        if (x.abs() == f32::INFINITY) | (y.abs() == f32::INFINITY) { f32::INFINITY } else { r }
    }
}
