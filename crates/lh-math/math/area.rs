//! Inverse hyperbolic functions, by the logarithm of one plus a number in twice the precision.

use super::bits::{fast_two_sum, fma_sum, quotient, two_sum};
use super::exp::TINY_ODD;
use super::log::{log_sum, log1p_sum};
use super::root::root_of_sum;

exports! {
    lh_asinh(x: f64) -> f64 = asinh;
    lh_asinhf(x: f32) -> f32 = float::asinh;
    lh_acosh(x: f64) -> f64 = acosh;
    lh_acoshf(x: f32) -> f32 = float::acosh;
    lh_atanh(x: f64) -> f64 = atanh;
    lh_atanhf(x: f32) -> f32 = float::atanh;
}

rare! {
    lh_asinhf_rare(x: f32) -> f32 = wide::asinh;
    lh_acoshf_rare(x: f32) -> f32 = wide::acosh;
    lh_atanhf_rare(x: f32) -> f32 = wide::atanh;
}

/// From here on the argument is all that matters under the root.
const LARGE: f64 = 1.152921504606847e18;

#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let large = a > LARGE;
    let v = if large { 1.0 } else { a };
    // asinh(a) = log(a + sqrt(1 + a^2))
    let (square, rest) = fma_sum(v, v, 1.0);
    let (h, h_rest) = root_of_sum(square, rest);
    let (u, e) = fast_two_sum(h, v);
    let y = log_sum(if large { a } else { u }, if large { 0.0 } else { e + h_rest }, if large { 1.0 } else { 0.0 });
    let y = y.copysign(x);
    if (a > TINY_ODD) & (a < f64::INFINITY) { y } else { x }
}

#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    let large = x > LARGE;
    let v = if large { 2.0 } else { x };
    // With t = x - 1, acosh(x) = log(x + sqrt(t (t + 2)))
    let t = v - 1.0;
    let (square, rest) = fma_sum(t, t, t + t);
    let (h, h_rest) = root_of_sum(square, rest);
    let (u, e) = fast_two_sum(v, h);
    let y = log_sum(if large { x } else { u }, if large { 0.0 } else { e + h_rest }, if large { 1.0 } else { 0.0 });
    let y = if x < f64::INFINITY { y } else { x };
    if x < 1.0 { f64::NAN } else { y }
}

#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let a = x.abs();
    // atanh(a) = log1p(2 a / (1 - a)) / 2
    let (h, l) = quotient((a + a, 0.0), two_sum(1.0, -a));
    let y = (0.5 * log1p_sum(h, l)).copysign(x);
    let y = if a > TINY_ODD { y } else { x };
    let edge = if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    if a < 1.0 { y } else { edge }
}

/// The functions of `f32`, computed in `f32`: a polynomial near zero, and logarithms of a number and what it
/// lacks.
pub mod float {
    use super::super::bits::float::fast_two_sum;
    use super::super::bits::{fmaf, horner};
    use super::super::log::float::{LN2, log_tail, split};
    use super::super::root::float::root;

    /// `log(u + rest)` for a plain `u` and a small rest.
    #[inline(always)]
    fn log_sum(u: f32, rest: f32) -> f32 {
        let (k, f) = split(u);
        // The power of two that makes 1 + f of u.
        let c = rest * f32::from_bits(0x7e80_0000u32.wrapping_sub(u.to_bits().wrapping_sub(0x0035_04f3) & 0xff80_0000));
        let low = fmaf(k, -1.9046543e-9, fmaf(fmaf(c, f, -c), f, c));
        fmaf(k, LN2, fmaf(f * f, log_tail(f), low) + f)
    }

    #[inline(always)]
    pub fn asinh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::asinh(x);
        }
        let a = x.abs();
        let z = a * a;
        let near =
            fmaf(a * z, horner!(fmaf, z, [-0.166666433, 0.0749864355, -0.0443835855, 0.0281648468, -0.0132303704]), a);
        let square = z + 1.0;
        let (h, rest) = root(square, fmaf(a, a, 1.0 - square));
        let (u, e) = fast_two_sum(h, a);
        let y = if a < 0.5 { near } else { log_sum(u, e + rest) };
        if a < 1e9 { y.copysign(x) } else { super::lh_asinhf_rare(x) }
    }

    #[inline(always)]
    pub fn acosh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::acosh(x);
        }
        let t = x - 1.0;
        let near = x < 1.5;
        let square = if near { t + t } else { fmaf(x, x, -1.0) };
        let (h, rest) = root(square, -0.0);
        let q = horner!(fmaf, t, [-0.0833332166, 0.0187466089, -0.00554794818, 0.00176030293, -0.000413449074]);
        let (u, e) = fast_two_sum(x, h);
        let y = if near { h + fmaf(h * t, q, rest) } else { log_sum(u, e + rest) };
        if (1.0..1e9).contains(&x) { y } else { super::lh_acoshf_rare(x) }
    }

    #[inline(always)]
    pub fn atanh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::atanh(x);
        }
        let a = x.abs();
        let z = a * a;
        let p = horner!(fmaf, z, [0.333332986, 0.200026006, 0.142212778, 0.118355364, 0.050929565, 0.17727235]);
        // Half of the logarithm of (1 + a) / (1 - a); the denominator is exact.
        let (n, d) = (1.0 + a, 1.0 - a);
        let inverse = 1.0 / d;
        let u = n * inverse;
        let rest = (fmaf(-u, d, n) + (a - (n - 1.0))) * inverse;
        let y = if a < 0.5 { fmaf(a * z, p, a) } else { 0.5 * log_sum(u, rest) };
        if a < 1.0 { y.copysign(x) } else { super::lh_atanhf_rare(x) }
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::through_double;

    through_double! {
        asinh = super::asinh;
        acosh = super::acosh;
        atanh = super::atanh;
    }
}
