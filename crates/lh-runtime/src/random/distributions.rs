//! `numpy.random`'s legacy distributions that draw a varying number of values: gamma, Poisson, binomial.
//!
//! The others are arithmetic on these and are written in the library. Every operation is done in NumPy's order: the
//! streams must agree to the last bit.

use super::numpy::{State, with};
use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::symbol::{Symbol, functions};

impl State {
    /// A gamma value of scale 1.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape == 1.0 {
            return self.exponential();
        }
        if shape == 0.0 {
            return 0.0;
        }
        if shape < 1.0 {
            return self.gamma_below_one(shape);
        }
        let b = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * b).sqrt();
        loop {
            let (mut x, mut v);
            loop {
                x = self.gauss();
                v = 1.0 + c * x;
                if v > 0.0 {
                    break;
                }
            }
            v = v * v * v;
            let u = self.double();
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + b * (1.0 - v + v.ln()) {
                return b * v;
            }
        }
    }

    fn gamma_below_one(&mut self, shape: f64) -> f64 {
        loop {
            let u = self.double();
            let v = self.exponential();
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
}

/// A source of doubles in [0, 1), which is all that these distributions draw.
pub(super) trait Doubles {
    fn double(&mut self) -> f64;
}

impl Doubles for State {
    fn double(&mut self) -> f64 {
        self.bits.next_f64()
    }
}

/// Poisson's distribution with what its draws have in common.
pub(super) enum Poisson {
    Zero,
    /// By multiplication, down to this product.
    Product(f64),
    /// Hoermann's transformed rejection, PTRS.
    Rejection {
        lam: f64,
        log_lam: f64,
        a: f64,
        b: f64,
        log_inv_alpha: f64,
        vr: f64,
    },
}

impl Poisson {
    pub(super) fn new(lam: f64) -> Poisson {
        if lam >= 10.0 {
            let b = 0.931 + 2.53 * lam.sqrt();
            let a = -0.059 + 0.02483 * b;
            let (inv_alpha, vr) = (1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0));
            return Poisson::Rejection { lam, log_lam: lam.ln(), a, b, log_inv_alpha: inv_alpha.ln(), vr };
        }
        if lam == 0.0 { Poisson::Zero } else { Poisson::Product((-lam).exp()) }
    }

    #[inline]
    pub(super) fn draw(&self, bits: &mut impl Doubles) -> i64 {
        match *self {
            Poisson::Zero => 0,
            Poisson::Product(end) => {
                let (mut count, mut product) = (0, 1.0);
                loop {
                    product *= bits.double();
                    if product <= end {
                        return count;
                    }
                    count += 1;
                }
            }
            Poisson::Rejection { lam, log_lam, a, b, log_inv_alpha, vr } => loop {
                let u = bits.double() - 0.5;
                let v = bits.double();
                let us = 0.5 - u.abs();
                let k = ((2.0 * a / us + b) * u + lam + 0.43).floor() as i64;
                if us >= 0.07 && v <= vr {
                    return k;
                }
                if k < 0 || (us < 0.013 && v > us) {
                    continue;
                }
                let accepted = v.ln() + log_inv_alpha - (a / (us * us) + b).ln();
                if accepted <= -lam + k as f64 * log_lam - log_gamma((k + 1) as f64) {
                    return k;
                }
            },
        }
    }
}

/// The binomial distribution with what its draws have in common.
pub(super) struct Binomial {
    n: i64,
    /// Whether failures are counted, which are fewer.
    is_turned: bool,
    by: By,
}

enum By {
    Nothing,
    Inversion {
        p: f64,
        q: f64,
        qn: f64,
        bound: i64,
    },
    /// The probabilities of all numbers up to the bound.
    Table(Vec<f64>),
    Rejection(Btpe),
}

impl Binomial {
    pub(super) fn new(n: i64, p: f64) -> Binomial {
        let is_turned = p > 0.5;
        let few = if is_turned { 1.0 - p } else { p };
        let by = match few * n as f64 {
            _ if n == 0 || p == 0.0 => By::Nothing,
            mean if mean <= 30.0 => {
                let (nf, q) = (n as f64, 1.0 - few);
                let np = nf * few;
                let bound = nf.min(np + 10.0 * (np * q + 1.0).sqrt()) as i64;
                By::Inversion { p: few, q, qn: (nf * (-few).ln_1p()).exp(), bound }
            }
            _ => By::Rejection(Btpe::new(n as f64, few)),
        };
        Binomial { n, is_turned: is_turned && !matches!(by, By::Nothing), by }
    }

    /// The same distribution, whose probabilities are computed once.
    pub(super) fn for_many(mut self) -> Binomial {
        if let By::Inversion { p, q, qn, bound } = self.by {
            let mut table = vec![qn];
            for x in 1..=bound {
                table.push(((self.n - x + 1) as f64 * p * table[table.len() - 1]) / (x as f64 * q));
            }
            self.by = By::Table(table);
        }
        self
    }

    #[inline]
    pub(super) fn draw(&self, bits: &mut impl Doubles) -> i64 {
        let k = match &self.by {
            By::Nothing => 0,
            By::Table(table) => looked_up(bits, table),
            By::Inversion { p, q, qn, bound } => inverted(bits, self.n, (*p, *q, *qn), *bound),
            By::Rejection(btpe) => btpe.draw(bits),
        };
        if self.is_turned { self.n - k } else { k }
    }
}

#[inline]
fn inverted(bits: &mut impl Doubles, n: i64, (p, q, qn): (f64, f64, f64), bound: i64) -> i64 {
    let (mut x, mut px, mut u) = (0, qn, bits.double());
    while u > px {
        x += 1;
        if x > bound {
            x = 0;
            px = qn;
            u = bits.double();
        } else {
            u -= px;
            px = ((n - x + 1) as f64 * p * px) / (x as f64 * q);
        }
    }
    x
}

/// As `inverted`, with the probabilities at hand.
#[inline]
fn looked_up(bits: &mut impl Doubles, table: &[f64]) -> i64 {
    loop {
        let mut u = bits.double();
        for (x, p) in table.iter().enumerate() {
            if u <= *p {
                return x as i64;
            }
            u -= p;
        }
    }
}

/// Kachitvichyanukul and Schmeiser's BTPE, for `r <= 0.5`.
struct Btpe {
    n: f64,
    r: f64,
    q: f64,
    m: f64,
    xm: f64,
    xl: f64,
    xr: f64,
    c: f64,
    laml: f64,
    lamr: f64,
    /// Where the parts of the density begin.
    p: [f64; 4],
}

impl Btpe {
    fn new(n: f64, r: f64) -> Btpe {
        let q = 1.0 - r;
        let fm = n * r + r;
        let m = fm.floor();
        let p1 = (2.195 * (n * r * q).sqrt() - 4.6 * q).floor() + 0.5;
        let xm = m + 0.5;
        let (xl, xr) = (xm - p1, xm + p1);
        let c = 0.134 + 20.5 / (15.3 + m);
        let tail = |a: f64| a * (1.0 + a / 2.0);
        let laml = tail((fm - xl) / (fm - xl * r));
        let lamr = tail((xr - fm) / (xr * q));
        let p2 = p1 * (1.0 + 2.0 * c);
        let p3 = p2 + c / laml;
        Btpe { n, r, q, m, xm, xl, xr, c, laml, lamr, p: [p1, p2, p3, p3 + c / lamr] }
    }

    #[inline]
    fn draw(&self, bits: &mut impl Doubles) -> i64 {
        let [p1, p2, p3, p4] = self.p;
        loop {
            let u = bits.double() * p4;
            let mut v = bits.double();
            let y;
            if u <= p1 {
                return (self.xm - p1 * v + u).floor() as i64;
            } else if u <= p2 {
                let x = self.xl + (u - p1) / self.c;
                v = v * self.c + 1.0 - (self.m - x + 0.5).abs() / p1;
                if v > 1.0 {
                    continue;
                }
                y = x.floor();
            } else if u <= p3 {
                y = (self.xl + v.ln() / self.laml).floor();
                if y < 0.0 || v == 0.0 {
                    continue;
                }
                v = v * (u - p2) * self.laml;
            } else {
                y = (self.xr - v.ln() / self.lamr).floor();
                if y > self.n || v == 0.0 {
                    continue;
                }
                v = v * (u - p3) * self.lamr;
            }
            if btpe_accepts(self, y, v) {
                return y as i64;
            }
        }
    }
}

fn btpe_accepts(p: &Btpe, y: f64, v: f64) -> bool {
    let Btpe { n, r, q, m, xm, .. } = *p;
    let nrq = n * r * q;
    let k = (y - m).abs();
    if !(k > 20.0 && k < nrq / 2.0 - 1.0) {
        let s = r / q;
        let a = s * (n + 1.0);
        let ratio = |i: i64| a / i as f64 - s;
        let (from, to) = (m as i64, y as i64);
        let up = (from + 1..=to).fold(1.0, |f, i| f * ratio(i));
        return v <= (to + 1..=from).fold(up, |f, i| f / ratio(i));
    }
    let rho = (k / nrq) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / nrq + 0.5);
    let t = -k * k / (2.0 * nrq);
    let a = v.ln();
    if a < t - rho {
        return true;
    }
    if a > t + rho {
        return false;
    }
    let (x1, f1, z, w) = (y + 1.0, m + 1.0, n + 1.0 - m, n - y + 1.0);
    let stirling = |x: f64| {
        let x2 = x * x;
        (13680. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.
    };
    a <= xm * (f1 / x1).ln()
        + (n - m + 0.5) * (z / w).ln()
        + (y - m) * (w * r / (x1 * q)).ln()
        + stirling(f1)
        + stirling(z)
        + stirling(x1)
        + stirling(w)
}

/// NumPy's own logarithm of the gamma function, for `x >= 1`.
fn log_gamma(x: f64) -> f64 {
    const A: [f64; 10] = [
        8.333333333333333e-02,
        -2.777777777777778e-03,
        7.936507936507937e-04,
        -5.952380952380952e-04,
        8.417508417508418e-04,
        -1.917526917526918e-03,
        6.41025641025641e-03,
        -2.955065359477124e-02,
        1.796443723688307e-01,
        -1.39243221690590e+00,
    ];
    /// `log(2 * pi)`.
    const LG2PI: f64 = 1.8378770664093453e+00;
    if x == 1.0 || x == 2.0 {
        return 0.0;
    }
    let n = if x < 7.0 { (7.0 - x) as i64 } else { 0 };
    let mut x0 = x + n as f64;
    let x2 = (1.0 / x0) * (1.0 / x0);
    let series = A[..9].iter().rev().fold(A[9], |g, a| g * x2 + a);
    let mut g = series / x0 + 0.5 * LG2PI + (x0 - 0.5) * x0.ln() - x0;
    for _ in 0..n {
        g -= (x0 - 1.0).ln();
        x0 -= 1.0;
    }
    g
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_gamma(shape: f64, out: *mut f64) -> i32 {
    if shape.is_sign_negative() && !shape.is_nan() {
        return raise(VALUE_ERROR, "shape < 0");
    }
    let value = if shape.is_nan() { shape } else { with(|s| s.gamma(shape)) };
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(value) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_poisson(lam: f64, out: *mut i64) -> i32 {
    /// Beyond it the values would not fit: `2**63 - 1 - 10 * sqrt(2**63 - 1)`.
    const MOST: f64 = 9.223372006484771e18;
    if lam.is_nan() || lam < 0.0 {
        return raise(VALUE_ERROR, "lam < 0 or lam is NaN");
    }
    if lam > MOST {
        return raise(VALUE_ERROR, "lam value too large");
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(with(|s| Poisson::new(lam).draw(s))) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_binomial(n: i64, p: f64, out: *mut i64) -> i32 {
    if n < 0 {
        return raise(VALUE_ERROR, "n < 0");
    }
    if !(0.0..=1.0).contains(&p) {
        return raise(VALUE_ERROR, "p < 0, p > 1 or p is NaN");
    }
    // SAFETY: compiled code passes room for the result.
    unsafe { out.write(with(|s| Binomial::new(n, p).draw(s))) };
    0
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_np_gamma lh_np_poisson;
        (_ _ _) lh_np_binomial;
    }
}

#[cfg(test)]
mod tests {
    use super::super::numpy::tests::stream;
    use super::*;
    use crate::exception::take_pending;

    fn gamma(shape: f64) -> f64 {
        let mut out = 0.0;
        // SAFETY: room for the result.
        assert_eq!(unsafe { lh_np_gamma(shape, &mut out) }, 0);
        out
    }
    fn poisson(lam: f64) -> i64 {
        let mut out = 0;
        // SAFETY: room for the result.
        assert_eq!(unsafe { lh_np_poisson(lam, &mut out) }, 0);
        out
    }
    fn binomial(n: i64, p: f64) -> i64 {
        let mut out = 0;
        // SAFETY: room for the result.
        assert_eq!(unsafe { lh_np_binomial(n, p, &mut out) }, 0);
        out
    }

    // The expected values of these tests were printed by NumPy 2.4; sums stand for many values.
    #[test]
    fn gamma_values() {
        assert_eq!(
            stream(3, 4, || gamma(0.3)),
            [0.13697487917463022, 0.0163118287587, 1.030784020492117, 0.0009918884013517483]
        );
        assert_eq!(stream(3, 2000, || gamma(0.3))[1999], 0.026369171787718037);
        assert_eq!(
            stream(3, 4, || gamma(0.9)),
            [0.7000126915711397, 0.2766301545095972, 2.1795251605114268, 0.1000560309751672]
        );
        assert_eq!(stream(3, 2000, || gamma(0.9))[1999], 1.0360426998476082);
        assert_eq!(
            stream(3, 4, || gamma(1.0)),
            [0.8002823868824798, 1.2315078467403449, 0.3437654016911953, 0.7150403060288149]
        );
        assert_eq!(stream(3, 2000, || gamma(1.0))[1999], 1.608085223398121);
        assert_eq!(
            stream(3, 4, || gamma(2.5)),
            [6.009833246106926, 2.8747981597832424, 1.7834733227529087, 1.6853034840381327]
        );
        assert_eq!(stream(3, 2000, || gamma(2.5))[1999], 4.058336380561423);
        assert_eq!(
            stream(3, 4, || gamma(50.0)),
            [63.36842041510378, 52.80690230084697, 47.73732081638655, 47.20823426973014]
        );
        assert_eq!(stream(3, 2000, || gamma(50.0))[1999], 48.88398758448202);
    }

    #[test]
    fn poisson_values() {
        assert_eq!(stream(3, 1000, || poisson(0.0)).iter().sum::<i64>(), 0);
        assert_eq!(stream(3, 1000, || poisson(0.5)).iter().sum::<i64>(), 515);
        assert_eq!(stream(3, 1000, || poisson(3.0)).iter().sum::<i64>(), 2987);
        assert_eq!(stream(3, 1000, || poisson(9.99)).iter().sum::<i64>(), 9949);
        assert_eq!(stream(3, 1000, || poisson(10.0)).iter().sum::<i64>(), 10189);
        assert_eq!(stream(3, 1000, || poisson(25.5)).iter().sum::<i64>(), 25752);
        assert_eq!(stream(3, 1000, || poisson(10000.0)).iter().sum::<i64>(), 10001479);
        assert_eq!(stream(3, 1000, || poisson(1000000000000.0)).iter().sum::<i64>(), 1000000012594092);
        assert_eq!(stream(3, 5, || poisson(25.5)), [26, 22, 19, 14, 28]);
    }

    #[test]
    fn binomial_values() {
        assert_eq!(stream(3, 1000, || binomial(10, 0.5)).iter().sum::<i64>(), 5042);
        assert_eq!(stream(3, 1000, || binomial(10, 0.9)).iter().sum::<i64>(), 9014);
        assert_eq!(stream(3, 1000, || binomial(1000, 0.01)).iter().sum::<i64>(), 10043);
        assert_eq!(stream(3, 1000, || binomial(1000, 0.4)).iter().sum::<i64>(), 401363);
        assert_eq!(stream(3, 1000, || binomial(1000, 0.7)).iter().sum::<i64>(), 698745);
        assert_eq!(stream(3, 1000, || binomial(100000, 0.3)).iter().sum::<i64>(), 30010634);
        assert_eq!(stream(3, 1000, || binomial(1000000000, 0.5)).iter().sum::<i64>(), 500001167291);
        assert_eq!(stream(3, 1000, || binomial(5, 0.0)).iter().sum::<i64>(), 0);
        assert_eq!(stream(3, 1000, || binomial(5, 1.0)).iter().sum::<i64>(), 5000);
        assert_eq!(stream(3, 1000, || binomial(0, 0.5)).iter().sum::<i64>(), 0);
        assert_eq!(stream(3, 5, || binomial(1000, 0.4)), [403, 397, 399, 388, 387]);
    }

    #[test]
    fn refusals() {
        let message = |status: i32| {
            assert_eq!(status, 1);
            take_pending().unwrap().message().lossy()
        };
        // SAFETY: room for the results.
        unsafe {
            assert_eq!(message(lh_np_gamma(-1.0, &mut 0.0)), "shape < 0");
            assert_eq!(message(lh_np_poisson(-1.0, &mut 0)), "lam < 0 or lam is NaN");
            assert_eq!(message(lh_np_poisson(f64::NAN, &mut 0)), "lam < 0 or lam is NaN");
            assert_eq!(message(lh_np_poisson(1e19, &mut 0)), "lam value too large");
            assert_eq!(message(lh_np_binomial(-1, 0.5, &mut 0)), "n < 0");
            assert_eq!(message(lh_np_binomial(1, 1.5, &mut 0)), "p < 0, p > 1 or p is NaN");
            assert_eq!(message(lh_np_binomial(1, f64::NAN, &mut 0)), "p < 0, p > 1 or p is NaN");
        }
    }
}
