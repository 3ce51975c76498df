//! The gamma function and its logarithm for GPUs: within 16 units of the last place, but where the logarithm goes
//! through zero below 0. CPUs have the C library's.

use super::bits::{fma, horner};
use super::exp::exp;
use super::log::log;
use super::pow::pow;
use super::trig::sin;
use std::f64::consts::PI;

exports! {
    lh_gpu_tgamma(x: f64) -> f64 = tgamma;
    lh_gpu_tgammaf(x: f32) -> f32 = tgammaf;
    lh_gpu_lgamma(x: f64) -> f64 = lgamma;
    lh_gpu_lgammaf(x: f32) -> f32 = lgammaf;
}

/// From here on by Stirling's formula.
const LARGE: f64 = 12.0;

/// `ln gamma(2 + t)` for `t` up to 1/2: after the first, coefficients are `(-1)^k (zeta(k) - 1) / k`.
#[rustfmt::skip]
#[inline(always)]
fn near_two(t: f64) -> f64 {
    t * horner!(fma, t, [
        0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
        0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05,
        -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06,
        9.55141213040742e-07, -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
        -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09,
    ])
}

/// A number from 3/2 on, lowered by as many ones as make it nearly 2: what it exceeds that by, and the product of what
/// gamma is for each one less.
#[inline(always)]
fn lowered(x: f64) -> (f64, f64) {
    let (mut y, mut product) = (x, 1.0);
    while y >= 2.5 {
        y -= 1.0;
        product *= y;
    }
    (y - 2.0, product)
}

/// The error of Stirling's formula.
#[inline(always)]
fn rest(x: f64) -> f64 {
    let r = 1.0 / x;
    let p = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0, 1.0 / 156.0];
    r * horner!(fma, r * r, [p[0], p[1], p[2], p[3], p[4], p[5], p[6]])
}

/// The sine of half turns, for numbers that are no integers.
#[inline(always)]
fn sin_pi(x: f64) -> f64 {
    let whole = x.floor();
    let part = x - whole;
    let s = sin(PI * if part > 0.5 { 1.0 - part } else { part });
    if whole * 0.5 == (whole * 0.5).floor() { s } else { -s }
}

#[inline(always)]
pub fn tgamma(x: f64) -> f64 {
    const ROOT_TAU: f64 = 2.5066282746310002;
    if x.is_nan() || x == f64::NEG_INFINITY || x < 0.0 && x == x.floor() {
        return f64::NAN;
    }
    // Beyond 200 it is infinite, or nothing.
    let (small, y) = (x.abs() < 0.5, x.abs().min(200.0));
    // The result is a product, as it may be in range where a power is not.
    let (a, b) = if y >= LARGE {
        let half = pow(y, fma(0.5, y, -0.25));
        (half, half * exp(-y) * (ROOT_TAU * exp(rest(y))))
    } else {
        let (t, factor) = match () {
            () if small => (x, 1.0 / ((1.0 + x) * x)),
            () if y < 1.5 => (y - 1.0, 1.0 / y),
            () => lowered(y),
        };
        (exp(near_two(t)), factor)
    };
    if x > 0.0 || small { a * b } else { -PI / (x * sin_pi(x)) / a / b }
}

#[inline(always)]
pub fn lgamma(x: f64) -> f64 {
    const HALF_LOG_TAU: f64 = 0.9189385332046727;
    let a = x.abs();
    if a == f64::INFINITY || x <= 0.0 && x == x.floor() {
        return f64::INFINITY;
    }
    let of = if a >= LARGE {
        fma(a - 0.5, log(a) - 1.0, HALF_LOG_TAU - 0.5) + rest(a)
    } else {
        let (t, factor, sign) = match () {
            () if a < 0.5 => (x, (1.0 + x) * a, -1.0),
            () if a < 1.5 => (a - 1.0, a, -1.0),
            () => {
                let (t, product) = lowered(a);
                (t, product, 1.0)
            }
        };
        fma(sign, log(factor), near_two(t))
    };
    if x <= -0.5 { log(PI / (a * sin_pi(x).abs())) - of } else { of }
}

#[inline(always)]
pub fn tgammaf(x: f32) -> f32 {
    tgamma(x as f64) as f32
}

#[inline(always)]
pub fn lgammaf(x: f32) -> f32 {
    lgamma(x as f64) as f32
}
