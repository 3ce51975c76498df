//! Continuous distributions. Every operation is done in NumPy's order: the streams must agree to the last bit.

use super::bits::Bits;
use super::ziggurat::{exponential, exponential32, normal, normal32};
use crate::random::distributions::Poisson;
use std::f64::consts::PI;

/// A number of the distribution with this number in `lib/numpy/generators/`.
#[inline]
pub(super) fn draw(bits: &mut impl Bits, which: i64, [a, b, c]: [f64; 3]) -> f64 {
    match which {
        0 => bits.next_f64(),
        1 => normal(bits),
        2 => exponential(bits),
        3 => -(-bits.next_f64()).ln_1p(),
        4 => a + b * bits.next_f64(),
        5 => a + b * normal(bits),
        6 => a * exponential(bits),
        7 => gamma(bits, a),
        8 => b * gamma(bits, a),
        9 => beta(bits, a, b),
        10 => chisquare(bits, a),
        11 => noncentral_chisquare(bits, a, b),
        12 => f(bits, a, b),
        13 => noncentral_f(bits, a, b, c),
        14 => {
            let x = normal(bits);
            x / normal(bits)
        }
        15 => {
            let (x, y) = (normal(bits), gamma(bits, a / 2.0));
            (a / 2.0).sqrt() * x / y.sqrt()
        }
        16 => (a + b * normal(bits)).exp(),
        17 => laplace(bits, a, b),
        18 => gumbel(bits, a, b),
        19 => logistic(bits, a, b),
        20 if a == 0.0 => 0.0,
        20 => exponential(bits).powf(1.0 / a),
        21 => (exponential(bits) / a).exp_m1(),
        22 => (-(-exponential(bits)).exp_m1()).powf(1.0 / a),
        23 => a * (2.0 * exponential(bits)).sqrt(),
        24 => triangular(bits, a, b, c),
        25 => vonmises(bits, a, b),
        26 => wald(bits, a, b),
        _ => lh_ir::bug!("a distribution with the number {which}"),
    }
}

/// A gamma number of scale 1 (Marsaglia and Tsang).
pub(super) fn gamma(bits: &mut impl Bits, shape: f64) -> f64 {
    if shape == 1.0 {
        return exponential(bits);
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let u = bits.next_f64();
            let v = exponential(bits);
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    gamma_above_one(bits, of_shape(shape))
}

/// The constants of a gamma distribution whose shape is above 1.
pub(super) fn of_shape(shape: f64) -> (f64, f64) {
    let b = shape - 1.0 / 3.0;
    (b, 1.0 / (9.0 * b).sqrt())
}

/// A gamma number of scale 1 and a shape above 1.
#[inline]
pub(super) fn gamma_above_one(bits: &mut impl Bits, (b, c): (f64, f64)) -> f64 {
    loop {
        let (mut x, mut v);
        loop {
            x = normal(bits);
            v = 1.0 + c * x;
            if v > 0.0 {
                break;
            }
            if v.is_nan() {
                break;
            }
        }
        v = v * v * v;
        let u = bits.next_f64();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
        if v.is_nan() {
            return f64::NAN;
        }
    }
}

/// The same in single precision.
pub(super) fn gamma32(bits: &mut impl Bits, shape: f32) -> f32 {
    if shape == 1.0 {
        return exponential32(bits);
    }
    if shape == 0.0 {
        return 0.0;
    }
    if shape < 1.0 {
        loop {
            let u = bits.next_f32();
            let v = exponential32(bits);
            if u <= 1.0 - shape {
                let x = u.powf(1.0 / shape);
                if x <= v {
                    return x;
                }
            } else {
                let y = -((1.0 - u) / shape).ln();
                let x = (1.0 - shape + shape * y).powf(1.0 / shape);
                if x <= v + y {
                    return x;
                }
            }
        }
    }
    let b = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * b).sqrt();
    loop {
        let (mut x, mut v);
        loop {
            x = normal32(bits);
            v = 1.0 + c * x;
            if v > 0.0 || v.is_nan() {
                break;
            }
        }
        v = v * v * v;
        let u = bits.next_f32();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
            return b * v;
        }
        if v.is_nan() {
            return f32::NAN;
        }
    }
}

fn beta(bits: &mut impl Bits, a: f64, b: f64) -> f64 {
    /// Below it powers of random numbers are zero.
    const TINY: f64 = 3e-103;
    if !(a <= 1.0 && b <= 1.0) {
        let x = gamma(bits, a);
        return x / (x + gamma(bits, b));
    }
    if a < TINY && b < TINY {
        let u = bits.next_f64();
        return f64::from((a + b) * u < a);
    }
    loop {
        let (u, v) = (bits.next_f64(), bits.next_f64());
        let (x, y) = (u.powf(1.0 / a), v.powf(1.0 / b));
        if !(x + y <= 1.0 && u + v > 0.0) {
            continue;
        }
        if x > 0.0 && y > 0.0 {
            return x / (x + y);
        }
        let delta = u.ln() / a - v.ln() / b;
        return if delta > 0.0 { (-(-delta).exp().ln_1p()).exp() } else { (delta - delta.exp().ln_1p()).exp() };
    }
}

fn chisquare(bits: &mut impl Bits, df: f64) -> f64 {
    2.0 * gamma(bits, df / 2.0)
}

fn noncentral_chisquare(bits: &mut impl Bits, df: f64, nonc: f64) -> f64 {
    if nonc.is_nan() {
        return f64::NAN;
    }
    if nonc == 0.0 {
        return chisquare(bits, df);
    }
    if 1.0 < df {
        let central = chisquare(bits, df - 1.0);
        let n = normal(bits) + nonc.sqrt();
        return central + n * n;
    }
    let i = Poisson::new(nonc / 2.0).draw(bits);
    chisquare(bits, df + 2.0 * i as f64)
}

fn f(bits: &mut impl Bits, dfnum: f64, dfden: f64) -> f64 {
    let x = chisquare(bits, dfnum) * dfden;
    x / (chisquare(bits, dfden) * dfnum)
}

fn noncentral_f(bits: &mut impl Bits, dfnum: f64, dfden: f64, nonc: f64) -> f64 {
    let x = noncentral_chisquare(bits, dfnum, nonc) * dfden;
    x / (chisquare(bits, dfden) * dfnum)
}

fn laplace(bits: &mut impl Bits, loc: f64, scale: f64) -> f64 {
    loop {
        let u = bits.next_f64();
        if u >= 0.5 {
            return loc - scale * (2.0 - u - u).ln();
        }
        if u > 0.0 {
            return loc + scale * (u + u).ln();
        }
    }
}

fn gumbel(bits: &mut impl Bits, loc: f64, scale: f64) -> f64 {
    loop {
        let u = 1.0 - bits.next_f64();
        if u < 1.0 {
            return loc - scale * (-u.ln()).ln();
        }
    }
}

fn logistic(bits: &mut impl Bits, loc: f64, scale: f64) -> f64 {
    loop {
        let u = bits.next_f64();
        if u > 0.0 {
            return loc + scale * (u / (1.0 - u)).ln();
        }
    }
}

fn triangular(bits: &mut impl Bits, left: f64, mode: f64, right: f64) -> f64 {
    let (base, left_base) = (right - left, mode - left);
    let ratio = left_base / base;
    let (left_product, right_product) = (left_base * base, (right - mode) * base);
    let u = bits.next_f64();
    if u <= ratio { left + (u * left_product).sqrt() } else { right - ((1.0 - u) * right_product).sqrt() }
}

fn vonmises(bits: &mut impl Bits, mu: f64, kappa: f64) -> f64 {
    if kappa.is_nan() {
        return f64::NAN;
    }
    if kappa < 1e-8 {
        return PI * (2.0 * bits.next_f64() - 1.0);
    }
    if kappa > 1e6 {
        let mut x = mu + (1.0 / kappa).sqrt() * normal(bits);
        if x < -PI {
            x += 2.0 * PI;
        }
        if x > PI {
            x -= 2.0 * PI;
        }
        return x;
    }
    let s = if kappa < 1e-5 {
        1.0 / kappa + kappa
    } else {
        let r = 1.0 + (1.0 + 4.0 * kappa * kappa).sqrt();
        let rho = (r - (2.0 * r).sqrt()) / (2.0 * kappa);
        (1.0 + rho * rho) / (2.0 * rho)
    };
    let w = loop {
        let z = (PI * bits.next_f64()).cos();
        let w = (1.0 + s * z) / (s + z);
        let y = kappa * (s - w);
        let v = bits.next_f64();
        if y * (2.0 - y) - v >= 0.0 || (y / v).ln() + 1.0 - y >= 0.0 {
            break w;
        }
    };
    let u = bits.next_f64();
    let angle = if u < 0.5 { -w.acos() } else { w.acos() } + mu;
    let turned = (angle.abs() + PI) % (2.0 * PI) - PI;
    if angle < 0.0 { -turned } else { turned }
}

fn wald(bits: &mut impl Bits, mean: f64, scale: f64) -> f64 {
    let mut y = normal(bits);
    y = mean * y * y;
    let d = 1.0 + (1.0 + 4.0 * scale / y).sqrt();
    let x = mean * (1.0 - 2.0 / d);
    let u = bits.next_f64();
    if u <= mean / (mean + x) { x } else { mean * mean / x }
}
