//! Roots: the hypotenuse and the cube root.

use super::bits::{fast_two_sum, prod_err, two_prod};

#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    let infinite = (a == f64::INFINITY) | (b == f64::INFINITY);
    let (a, b) = if a < b { (b, a) } else { (a, b) };
    let large = a > 1e150;
    let small = a < 1e-140;
    let factor = if large {
        2.409919865102884e-181
    } else if small {
        5.260135901548374e+210
    } else {
        1.0
    };
    let back = if large {
        4.149515568880993e+180
    } else if small {
        1.90109156629516e-211
    } else {
        1.0
    };
    let (a, b) = (a * factor, b * factor);
    let (p, e) = two_prod(a, a);
    let (q, f) = two_prod(b, b);
    let (s, g) = fast_two_sum(p, q);
    let h = s.sqrt();
    let left = -prod_err(h, h, s) + (g + (e + f));
    let d = if s > 0.0 { h + h } else { 1.0 };
    let y = (h + left / d) * back;
    if infinite { f64::INFINITY } else { y }
}

#[inline(always)]
pub fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    let tiny = a < f64::MIN_POSITIVE;
    let a = if tiny { a * 18014398509481984.0 } else { a };
    // The exponent over 3, by a product of 32 bits; good to 5 bits.
    let third = ((a.to_bits() >> 32).wrapping_mul(0x5555_5556) >> 32).wrapping_add(715_094_163);
    let t = f64::from_bits(third << 32);
    let r = (t * t) * (t / a);
    let t = t
        * ((1.87595182427177009643 + r * (-1.88497979543377169875 + r * 1.621429720105354466140))
            + ((r * r) * r) * (-0.758397934778766047437 + r * 0.145996192886612446982));
    // Short enough for an exact square; then a step of Newton's method.
    let t = f64::from_bits((t.to_bits().wrapping_add(0x8000_0000)) & 0xffff_ffff_c000_0000);
    let r = a / (t * t);
    let y = t + t * ((r - t) / (t + t + r));
    let y = if tiny { y * 3.814697265625e-06 } else { y };
    if (a > 0.0) & (a < f64::INFINITY) { y.copysign(x) } else { x }
}
