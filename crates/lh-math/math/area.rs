//! Inverse hyperbolic functions, by the logarithm of one plus a number in twice the precision.

use super::bits::{fast_two_sum, fma_sum, quotient, two_sum};
use super::exp::TINY_ODD;
use super::log::{log_sum, log1p_sum};
use super::root::root_of_sum;

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
