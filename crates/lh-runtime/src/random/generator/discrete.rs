//! Discrete distributions, in NumPy's order of operations. `distributions.rs` has the parts that the
//! legacy streams share.

use super::bits::Bits;
use super::continuous::gamma;
use super::tables::LOG_FACTORIALS;
use super::ziggurat::exponential;
use crate::random::distributions::{Binomial, Doubles, Poisson};

/// The parameters of a discrete distribution: two of floating point, three integers.
#[derive(Clone, Copy)]
pub(super) struct Parameters {
    pub(super) of: [f64; 2],
    pub(super) counts: [i64; 3],
}

impl<B: Bits> Doubles for B {
    #[inline(always)]
    fn double(&mut self) -> f64 {
        self.next_f64()
    }
}

/// A number of the distribution with this number in `lib/numpy/generators/discrete.py`.
#[inline]
pub(super) fn draw(bits: &mut impl Bits, which: i64, p: Parameters) -> i64 {
    let Parameters { of: [a, b], counts } = p;
    match which {
        POISSON => Poisson::new(a).draw(bits),
        BINOMIAL => Binomial::new(counts[0], b).draw(bits),
        2 => negative_binomial(bits, a, b),
        3 => geometric(bits, a),
        4 => logseries(bits, a),
        5 => zipf(bits, a),
        6 => hypergeometric(bits, counts),
        7 => interval(bits, counts[0] as u64) as i64,
        _ => lh_ir::bug!("a distribution with the number {which}"),
    }
}

pub(super) const POISSON: i64 = 0;
pub(super) const BINOMIAL: i64 = 1;

fn negative_binomial(bits: &mut impl Bits, n: f64, p: f64) -> i64 {
    let lam = (1.0 - p) / p * gamma(bits, n);
    Poisson::new(lam).draw(bits)
}

fn geometric(bits: &mut impl Bits, p: f64) -> i64 {
    if p < 0.333_333_333_333_333_3 {
        // A conversion of what is too large gives the greatest integer.
        return (-exponential(bits) / (-p).ln_1p()).ceil() as i64;
    }
    let u = bits.next_f64();
    let (mut x, mut sum, mut product) = (1, p, p);
    while u > sum {
        product *= 1.0 - p;
        sum += product;
        x += 1;
    }
    x
}

fn logseries(bits: &mut impl Bits, p: f64) -> i64 {
    let r = (-p).ln_1p();
    loop {
        let v = bits.next_f64();
        if v >= p {
            return 1;
        }
        let u = bits.next_f64();
        let q = -(r * u).exp_m1();
        if v <= q * q {
            let x = (1.0 + v.ln() / q.ln()).floor() as i64;
            if x < 1 || v == 0.0 {
                continue;
            }
            return x;
        }
        return if v >= q { 1 } else { 2 };
    }
}

fn zipf(bits: &mut impl Bits, a: f64) -> i64 {
    if a >= 1025.0 {
        return 1;
    }
    const MOST: f64 = i64::MAX as f64;
    let am1 = a - 1.0;
    let b = 2.0_f64.powf(am1);
    let least = MOST.powf(-am1);
    loop {
        let u01 = bits.next_f64();
        let u = u01 * least + (1.0 - u01);
        let v = bits.next_f64();
        let x = u.powf(-1.0 / am1).floor();
        let too_large = x > MOST;
        if too_large || x < 1.0 {
            continue;
        }
        let t = (1.0 + 1.0 / x).powf(am1);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b {
            return x as i64;
        }
    }
}

fn hypergeometric(bits: &mut impl Bits, [good, bad, sample]: [i64; 3]) -> i64 {
    if sample >= 10 && sample <= good + bad - 10 {
        hypergeometric_by_ratio(bits, good, bad, sample)
    } else {
        hypergeometric_one_by_one(bits, good, bad, sample)
    }
}

fn hypergeometric_one_by_one(bits: &mut impl Bits, good: i64, bad: i64, sample: i64) -> i64 {
    let total = good + bad;
    let mut left = if sample > total / 2 { total - sample } else { sample };
    let (mut in_all, mut good_left) = (total, good);
    while left > 0 && good_left > 0 && in_all > good_left {
        in_all -= 1;
        if (interval(bits, in_all as u64) as i64) < good_left {
            good_left -= 1;
        }
        left -= 1;
    }
    if in_all == good_left {
        good_left -= left;
    }
    if sample > total / 2 { good_left } else { good - good_left }
}

/// An integer up to a limit: random bits under a mask until they fit.
#[inline]
pub(super) fn interval(bits: &mut impl Bits, most: u64) -> u64 {
    if most == 0 {
        return 0;
    }
    let mask = u64::MAX >> most.leading_zeros();
    loop {
        let word = if most <= u64::from(u32::MAX) { bits.next_u32().into() } else { bits.next_u64() };
        if word & mask <= most {
            return word & mask;
        }
    }
}

fn log_factorial(n: i64) -> f64 {
    /// `log(2 * pi) / 2`.
    const HALF_LOG: f64 = 0.918_938_533_204_672_8;
    match LOG_FACTORIALS.get(n as usize) {
        Some(known) => *known,
        None => {
            let k = n as f64;
            (k + 0.5) * k.ln() - k + (HALF_LOG + (1.0 / k) * (1.0 / 12.0 - 1.0 / (360.0 * k * k)))
        }
    }
}

/// Stadlober's ratio of uniforms.
fn hypergeometric_by_ratio(bits: &mut impl Bits, good: i64, bad: i64, sample: i64) -> i64 {
    let total = good + bad;
    let n = sample.min(total - sample);
    let (few, many) = (good.min(bad), good.max(bad));
    let (p, q) = (few as f64 / total as f64, many as f64 / total as f64);
    let a = n as f64 * p + 0.5;
    let variance = (total - n) as f64 * n as f64 * p * q / (total - 1) as f64;
    let c = (variance + 0.5).sqrt();
    let h = 1.715_527_769_921_413_5 * c + 0.898_916_162_058_898_8;
    let m = ((n + 1) as f64 * (few + 1) as f64 / (total + 2) as f64).floor() as i64;
    let logs = |k: i64| log_factorial(k) + log_factorial(few - k) + log_factorial(n - k) + log_factorial(many - n + k);
    let g = logs(m);
    let b = ((n.min(few) + 1) as f64).min((a + 16.0 * c).floor());
    let k = loop {
        let (u, v) = (bits.next_f64(), bits.next_f64());
        let x = a + h * (v - 0.5) / u;
        if x < 0.0 || x >= b {
            continue;
        }
        let k = x.floor() as i64;
        let t = g - logs(k);
        if u * (4.0 - u) - 3.0 <= t {
            break k;
        }
        if u * (u - t) >= 1.0 {
            continue;
        }
        if 2.0 * u.ln() <= t {
            break k;
        }
    };
    let k = if good > bad { n - k } else { k };
    if n < sample { good - k } else { k }
}
