//! Inverse trigonometric functions.

use super::bits::{fast_two_sum, fma, halves, horner, prod_err, quotient, two_sum};
use super::exp::clamp;

const HALF_PI: (f64, f64) = (1.5707963267948966, 6.123233995736766e-17);
const PI: (f64, f64) = (3.141592653589793, 1.2246467991473532e-16);
const QUARTER_PI: (f64, f64) = (0.7853981633974483, 3.061616997868383e-17);
const THREE_QUARTER_PI: (f64, f64) = (2.356194490192345, 9.184850993605148e-17);

/// `s`, what it lacks, and `asin(s) - s`, for `s = |x|` up to 1/2 and the root of `(1 - |x|) / 2` beyond.
#[inline(always)]
fn arcsine(a: f64) -> (f64, f64, f64) {
    let outer = a > 0.5;
    let z = if outer { 0.5 - 0.5 * a } else { a * a };
    let root = z.sqrt();
    let s = if outer { root } else { a };
    let rest = -0.5 * prod_err(root, root, z) / (root + f64::MIN_POSITIVE);
    let p = halves!(
        fma,
        z,
        [
            0.16666666666666669,
            0.07499999999998022,
            0.04464285714699304,
            0.030381944095535886,
            0.02237217450290011,
            0.017352358600399898,
            0.013971691394129312,
            0.01147472938529839,
            0.010350534719028505,
            0.005343019278348221,
            0.017701465110111114,
            -0.015306063028060384,
            0.029058502193223673,
        ]
    );
    (s, if outer { rest } else { 0.0 }, s * z * p)
}

#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let a = x.abs();
    let (s, rest, p) = arcsine(a);
    let (h, e) = fast_two_sum(HALF_PI.0, -2.0 * s);
    let outer = h + (e + fma(-2.0, p + rest, HALF_PI.1));
    (if a > 0.5 { outer } else { s + p }).copysign(x)
}

#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let a = x.abs();
    let (s, rest, p) = arcsine(a);
    let outer = a > 0.5;
    let far = if x > 0.0 { (0.0, 0.0) } else { PI };
    let base = if outer { far } else { HALF_PI };
    // Subtracted from the base: the arc sine of x, or twice that of s, with the sign turned for x > 1/2.
    let factor = if outer { 2.0 } else { 1.0 };
    let factor = if outer == (x > 0.0) { -factor } else { factor };
    let (h, e) = fast_two_sum(base.0, -(factor * s));
    h + (e + fma(-factor, p + rest, base.1))
}

/// `(atan(t) - t) / t^3` as a polynomial in `z = t^2`.
#[inline(always)]
fn arctangent_tail(z: f64) -> f64 {
    halves!(
        fma,
        z,
        [
            -0.3333333333333333,
            0.19999999999996235,
            -0.1428571428477161,
            0.11111111022043467,
            -0.09090904812562173,
            0.07692187968262908,
            -0.06664571656826764,
            0.05858623309963942,
            -0.05087724054784626,
            0.039292318128269686,
            -0.01924589531580428,
        ]
    )
}

/// The angle of `(x, y)` for `x >= 0` and `y >= 0`, turned into the left half plane if `left`.
#[inline(always)]
fn angle(y: f64, x: f64, left: bool) -> f64 {
    let low = y < 0.41421356237309503 * x;
    let high = y > 2.414213562373095 * x;
    // In the middle, atan(y / x) = pi / 4 + atan((y - x) / (y + x)).
    let (minus, minus_rest) = two_sum(y, -x);
    let (plus, plus_rest) = two_sum(y, x);
    let n = if low {
        y
    } else if high {
        -x
    } else {
        minus
    };
    let d = if low {
        x
    } else if high {
        y
    } else {
        plus
    };
    let outer = low | high;
    let rest = |v: f64| if outer { 0.0 } else { v };
    let (t, t_rest) = quotient((n, rest(minus_rest)), (d, rest(plus_rest)));
    let z = t * t;
    let p = arctangent_tail(z);
    let pick = |a: (f64, f64), b: (f64, f64), c: (f64, f64)| {
        (
            if low {
                a.0
            } else if high {
                b.0
            } else {
                c.0
            },
            if low {
                a.1
            } else if high {
                b.1
            } else {
                c.1
            },
        )
    };
    let right = pick((0.0, 0.0), HALF_PI, QUARTER_PI);
    let turned = pick(PI, HALF_PI, THREE_QUARTER_PI);
    let base = if left { turned } else { right };
    let sign = if left { -1.0 } else { 1.0 };
    let (h, e) = fast_two_sum(base.0, sign * t);
    h + (e + fma(sign, fma(t * z, p, t_rest), base.1))
}

#[inline(always)]
pub fn atan(x: f64) -> f64 {
    angle(clamp(x.abs(), 0.0, 1e20), 1.0, false).copysign(x)
}

#[inline(always)]
pub fn atan2(y: f64, x: f64) -> f64 {
    let (v, u) = (y.abs(), x.abs());
    let nan = x.is_nan() | y.is_nan();
    let large = if u > v { u } else { v };
    // An infinite coordinate makes a finite one nothing; of two zeros the other axis decides.
    let infinite = large == f64::INFINITY;
    let unit = |w: f64| if w == f64::INFINITY { 1.0 } else { 0.0 };
    let (v, u) = (if infinite { unit(v) } else { v }, if infinite { unit(u) } else { u });
    let u = if large == 0.0 { 1.0 } else { u };
    // Neither may the sum overflow nor what the quotient leaves vanish.
    let factor = if large < 1e100 { 4.149515568880993e+180 } else { 1.0 };
    let factor = if large > 1e300 { 7.888609052210118e-31 } else { factor };
    let left = (x.to_bits() >> 63) != 0;
    let r = angle(v * factor, u * factor, left).copysign(y);
    if nan { x + y } else { r }
}
