//! Inverse hyperbolic functions, by the logarithm of one plus a number in twice the precision.

use super::bits::{fast_two_sum, fma, prod_err, quotient, two_prod, two_sum};
use super::exp::TINY_ODD;
use super::log::log1p_sum;

/// From here on the argument is all that matters under the root.
const LARGE: f64 = 1.152921504606847e18;

#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let large = a > LARGE;
    let v = if large { 1.0 } else { a };
    // asinh(a) = log1p(a + a^2 / (1 + sqrt(1 + a^2)))
    let root = fma(v, v, 1.0).sqrt();
    let (q, q_rest) = quotient(two_prod(v, v), two_sum(1.0, root));
    let (h, l) = fast_two_sum(v, q);
    let y = if large { log1p_sum(a, 0.0, 1.0) } else { log1p_sum(h, l + q_rest, 0.0) };
    let y = y.copysign(x);
    if (a > TINY_ODD) & (a < f64::INFINITY) { y } else { x }
}

#[inline(always)]
pub fn acosh(x: f64) -> f64 {
    let large = x > LARGE;
    let v = if large { 2.0 } else { x };
    // With t = x - 1, acosh(x) = log1p(t + sqrt(t (t + 2)))
    let (t, t_rest) = two_sum(v, -1.0);
    let (w, w_rest) = two_sum(v, 1.0);
    let (p, e) = two_prod(t, w);
    let root = p.sqrt();
    let left = fma(t, w_rest, fma(t_rest, w, e)) - prod_err(root, root, p);
    let root_rest = 0.5 * left / (root + f64::MIN_POSITIVE);
    let (h, l) = two_sum(root, t);
    let y = if large { log1p_sum(x, 0.0, 1.0) } else { log1p_sum(h, l + (t_rest + root_rest), 0.0) };
    let y = if x < f64::INFINITY { y } else { x };
    if x < 1.0 { f64::NAN } else { y }
}

#[inline(always)]
pub fn atanh(x: f64) -> f64 {
    let a = x.abs();
    // atanh(a) = log1p(2 a / (1 - a)) / 2
    let (h, l) = quotient((a + a, 0.0), two_sum(1.0, -a));
    let y = (0.5 * log1p_sum(h, l, 0.0)).copysign(x);
    let y = if a > TINY_ODD { y } else { x };
    let edge = if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    if a < 1.0 { y } else { edge }
}
