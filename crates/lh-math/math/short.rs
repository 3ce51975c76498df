//! Functions of `f32` computed in `f64`, with polynomials that are just long enough for them.
//!
//! The range of `f64` spares them scaling, its precision the care for what a rounding loses.

use super::bits::{MAGIC, fma, horner, pairs};
use super::exp::{LOG2E, clamp};
use super::{log, pow, trig};

const LN2: f64 = std::f64::consts::LN_2;

/// `2^k` and `e^r - 1` for `x = k log(2) + r`.
#[inline(always)]
fn exp_parts(x: f64) -> (f64, f64) {
    let t = fma(x, LOG2E, MAGIC);
    let r = fma(-(t - MAGIC), LN2, x);
    let q = horner!(
        fma,
        r,
        [
            0.5,
            0.16666662693023682,
            0.041666507720947266,
            0.0083341822028160095,
            0.0013931039720773697,
            0.00019434292335063219,
        ]
    );
    (f64::from_bits(t.to_bits().wrapping_add(1023) << 52), fma(r * r, q, r))
}

/// `e^x - 1`.
#[inline(always)]
fn exp_less_one(x: f64) -> f64 {
    let (p, m) = exp_parts(x);
    fma(p, m, p - 1.0)
}

#[inline(always)]
fn exp2_wide(x: f64) -> f64 {
    let t = x + MAGIC;
    let r = x - (t - MAGIC);
    let m = pairs!(
        fma,
        r,
        [
            1.0,
            LN2,
            0.24022650760587302,
            0.05550410896371883,
            0.009618082551141029,
            0.0013333482446721502,
            0.0001545316540005391,
            1.5303704351867744e-05,
        ]
    );
    m * f64::from_bits(t.to_bits().wrapping_add(1023) << 52)
}

#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    exp2_wide(clamp(x as f64, -200.0, 200.0)) as f32
}

#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    (exp_less_one(clamp(x as f64, -40.0, 100.0)) as f32).copysign(x)
}

#[inline(always)]
pub fn sinh(x: f32) -> f32 {
    let a = clamp((x as f64).abs(), 0.0, 100.0);
    ((0.5 * (exp_less_one(a) - exp_less_one(-a))) as f32).copysign(x)
}

#[inline(always)]
pub fn cosh(x: f32) -> f32 {
    let a = clamp((x as f64).abs(), 0.0, 100.0);
    let ((p, m), (q, n)) = (exp_parts(a), exp_parts(-a));
    (0.5 * (fma(p, m, p) + fma(q, n, q))) as f32
}

/// `1 - e^-g`, where `g` is `x` times a polynomial.
#[inline(always)]
pub fn erf(x: f32) -> f32 {
    let a = clamp((x as f64).abs(), 0.0, 4.0);
    let h = pairs!(
        fma,
        a,
        [
            1.1283791669864334,
            0.6366197887620972,
            0.10277220689623169,
            -0.019124788085813662,
            -0.00022624453952285116,
            0.0017420966762441367,
            -0.000666788198842262,
            0.00010801942308397265,
            8.511413759009331e-06,
            -7.864180623207444e-06,
            1.5100813105680276e-06,
            -1.0577887924180813e-07,
        ]
    );
    ((-exp_less_one(-a * h)) as f32).copysign(x)
}

/// `exp(-a^2) t w` from zero on for `t = 1 / (a + 3)`, of which `w` is a polynomial.
#[inline(always)]
pub fn erfc(x: f32) -> f32 {
    let a = x.abs();
    let a = (if a > 10.1 { 10.1 } else { a }) as f64;
    let (p, less) = exp_parts(-a * a);
    // Cheaper than a division: a guess of 5 bits becomes one of 20, and one step more.
    let d = a + 3.0;
    let guess = f64::from_bits(0x7fd6_a080_0000_0000u64.wrapping_sub(d.to_bits()));
    let t = guess * horner!(fma, d * guess, [4.1797866821289062, -5.823211669921875, 2.7041168212890625]);
    let t = fma(t, fma(-d, t, 1.0), t);
    let w = horner!(
        fma,
        t,
        [
            0.56410798927114769,
            1.6981261315578169,
            4.6298066489472998,
            15.5443115234375,
            -0.29708003997802734,
            293.211669921875,
            -961.45703125,
            3507.328125,
            -5740.76953125,
            3284.806640625,
        ]
    );
    let y = (fma(p, less, p) * (w * t)) as f32;
    if x < 0.0 { 2.0 - y } else { y }
}

/// `k` and `log(m)` for `x = 2^k m`, for a positive normal number.
#[inline(always)]
fn log_parts(x: f64) -> (f64, f64) {
    let (k, m) = log::split_normal(x, 1023.0);
    let f = m - 1.0;
    let p = pairs!(
        fma,
        f,
        [
            -0.5000000000167686,
            0.33333333656937925,
            -0.24999999097871115,
            0.19999935873966324,
            -0.16666707088249716,
            0.14289317742335786,
            -0.12501730666820032,
            0.11028415180888508,
            -0.09892454850288308,
            0.09886076761732877,
            -0.09966450424570748,
            0.0567913681748301,
        ]
    );
    (k, fma(f * f, p, f))
}

#[inline(always)]
pub fn log(x: f32) -> f32 {
    let x = x as f64;
    let (k, l) = log_parts(x);
    log::edges(x, fma(k, LN2, l)) as f32
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let x = x as f64;
    let (k, l) = log_parts(x);
    log::edges(x, fma(l, LOG2E, k)) as f32
}

#[inline(always)]
pub fn log10(x: f32) -> f32 {
    let x = x as f64;
    let (k, l) = log_parts(x);
    log::edges(x, fma(k, std::f64::consts::LOG10_2, l * std::f64::consts::LOG10_E)) as f32
}

#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    let x = x as f64;
    let u = 1.0 + x;
    let (k, l) = log_parts(u);
    let y = log::edges(u, fma(k, LN2, l));
    (if x.abs() < 1e-6 { fma(x * x, -0.5, x) } else { y }) as f32
}

#[inline(always)]
pub fn tan(x: f32) -> f32 {
    let x = x as f64;
    if !cfg!(lh_fma) {
        return trig::tan(x) as f32;
    }
    let a = x.abs();
    let t = fma(a, std::f64::consts::FRAC_2_PI, MAGIC);
    let k = t - MAGIC;
    let r = fma(-k, trig::P1_LOW, fma(-k, trig::P1, a));
    let z = r * r;
    let s = horner!(
        fma,
        z,
        [1.0, -0.16666666663858126, 0.008333331875272864, -0.00019840086864117686, 2.7249927346178807e-06,]
    );
    let c = horner!(
        fma,
        z,
        [
            1.0,
            -0.49999999999963907,
            0.04166666663739901,
            -0.0013888885091187832,
            2.4799862017295165e-05,
            -2.7237116800781954e-07,
        ]
    );
    let s = r * s;
    let odd = t.to_bits() & 1 != 0;
    let y = (if odd { -c } else { s }) / (if odd { s } else { c });
    let y = f64::from_bits(y.to_bits() ^ (x.to_bits() & (1 << 63)));
    (if a > 1e9 { super::lh_tan_large(x) } else { y }) as f32
}

#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    let (a, b) = (x as f64, y as f64);
    let r = fma(a, a, b * b).sqrt() as f32;
    if (x.abs() == f32::INFINITY) | (y.abs() == f32::INFINITY) { f32::INFINITY } else { r }
}

#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    const INTEGERS: f32 = 8388608.0;
    let (a, b) = (x.abs(), y.abs());
    let (k, l) = log_parts(a as f64);
    let p = fma(l, LOG2E, k) * y as f64;
    let magnitude = exp2_wide(clamp(p, -400.0, 400.0)) as f32;
    let t = b + INTEGERS;
    let odd = t.to_bits() << 31;
    let fraction = (t - INTEGERS != b) | (b >= INTEGERS);
    let plain = (a > 0.0) & (a < f32::INFINITY) & (b < f32::INFINITY) & !((x < 0.0) & fraction);
    if plain { f32::from_bits(magnitude.to_bits() | (odd & x.to_bits())) } else { super::lh_powf_rare(x, y) }
}

/// For what is rare as doubles, too, and negative numbers to large powers.
#[inline(always)]
pub fn powf_rare(x: f32, y: f32) -> f32 {
    pow::pow(x as f64, y as f64) as f32
}
