//! Inverse hyperbolic functions of `f32`: a polynomial near zero, and logarithms of a number and what it lacks.

use super::bits::{fmaf, horner};
use super::float::{LN2, fast_two_sum, log_tail, split};
use super::float_root::root;
use super::single;

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
        return single::asinh(x);
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
        return single::acosh(x);
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
        return single::atanh(x);
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
