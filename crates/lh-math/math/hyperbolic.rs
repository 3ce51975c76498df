//! Hyperbolic functions.

use super::bits::{fast_two_sum, fma, fma_sum, horner, quotient, two_sum};
use super::exp::{TINY_ODD, clamp, expm1_sum, power, reduce};

exports! {
    lh_sinh(x: f64) -> f64 = sinh;
    lh_sinhf(x: f32) -> f32 = float::sinh;
    lh_cosh(x: f64) -> f64 = cosh;
    lh_coshf(x: f32) -> f32 = float::cosh;
    lh_tanh(x: f64) -> f64 = tanh;
    lh_tanhf(x: f32) -> f32 = float::tanh;
    lh_tanh_fast(x: f64) -> f64 = tanh_fast;
    lh_tanhf_fast(x: f32) -> f32 = float::tanh_fast;
}

/// [`tanh`] within 4 ulp.
#[inline(always)]
pub fn tanh_fast(x: f64) -> f64 {
    let (s, e) = expm1_sum(2.0 * clamp(x.abs(), 0.0, 30.0), 0);
    let n = s + e;
    (n / (n + 2.0)).copysign(x)
}

#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let (s, e) = expm1_sum(2.0 * clamp(x.abs(), 0.0, 30.0), 0);
    let n = fast_two_sum(s, e);
    let (d, f) = two_sum(n.0, 2.0);
    let (q, rest) = quotient(n, (d, f + n.1));
    (q + rest).copysign(x)
}

/// For `|x| = k log(2) + r`: half of `sinh(k log(2))` and of `cosh(k log(2))`, `r`, `sinh - r` and `cosh - 1` of it.
struct Hyperbolic {
    sinh: (f64, f64),
    cosh: (f64, f64),
    r: f64,
    odd: f64,
    even: f64,
}

#[inline(always)]
fn hyperbolic(x: f64) -> Hyperbolic {
    let (k, r, c, biased) = reduce(clamp(x.abs(), 0.0, 710.7));
    let p = power(biased.wrapping_sub(1025));
    let inverse = power(3067u64.wrapping_sub(biased));
    let inverse = if k > 60.0 { 0.0 } else { inverse };
    let z = r * r;
    let odd = horner!(
        fma,
        z,
        [
            0.16666666666666666,
            0.008333333333334872,
            0.00019841269834104352,
            2.755733284923171e-06,
            2.5040764384622527e-08,
            1.9504353426944001e-10,
        ]
    );
    let even = horner!(
        fma,
        z,
        [
            0.041666666666666664,
            0.0013888888888889729,
            2.480158730766712e-05,
            2.75572934444171e-07,
            2.090737742265426e-09,
        ]
    );
    let even = z * fma(z, even, 0.5);
    Hyperbolic {
        sinh: fast_two_sum(p, -inverse),
        cosh: fast_two_sum(p, inverse),
        r,
        odd: fma(r * z, odd, c),
        even: fma(c, r, even),
    }
}

#[inline(always)]
pub fn sinh(x: f64) -> f64 {
    let h = hyperbolic(x);
    let (s, e) = fma_sum(h.cosh.0, h.r, h.sinh.0);
    let y = (s + (e + fma(h.cosh.0, h.odd, fma(h.sinh.0, h.even, h.sinh.1)))) * 2.0;
    let y = y.copysign(x);
    if x.abs() < TINY_ODD { x } else { y }
}

#[inline(always)]
pub fn cosh(x: f64) -> f64 {
    let h = hyperbolic(x);
    let (s, e) = fma_sum(h.sinh.0, h.r, h.cosh.0);
    (s + (e + fma(h.sinh.0, h.odd, fma(h.cosh.0, h.even, h.cosh.1)))) * 2.0
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::float::{MAGIC, clamp, fast_two_sum};
    use super::super::bits::{fmaf, horner};
    use super::super::exp::float::{power, reduce, tail};

    /// See `hyperbolic` of `f64`: half of `sinh(k log(2))` and of `cosh(k log(2))`, what
    /// the latter lacks, `r`, `sinh - r` and `cosh - 1` of it.
    #[inline(always)]
    fn hyperbolic(x: f32) -> (f32, f32, f32, f32, f32, f32) {
        let (biased, r, c) = reduce(clamp(x.abs(), 0.0, 89.5));
        let p = f32::from_bits(biased.wrapping_sub(129) << 23);
        let inverse = f32::from_bits(379u32.wrapping_sub(biased) << 23);
        // Of no weight where it would be subnormal.
        let inverse = if biased > 300 { 0.0 } else { inverse };
        let z = r * r;
        let odd = horner!(fmaf, z, [0.166666672, 0.00833317544, 0.000199741044]);
        let even = z * horner!(fmaf, z, [0.5, 0.0416664593, 0.00139354263]);
        let (cosh, rest) = fast_two_sum(p, inverse);
        (p - inverse, cosh, rest, r, fmaf(r * z, odd, c), fmaf(c, r, even))
    }

    #[inline(always)]
    pub fn sinh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::sinh(x);
        }
        let (sinh, cosh, _, r, odd, even) = hyperbolic(x);
        let s = fmaf(cosh, r, sinh);
        let e = fmaf(cosh, r, sinh - s);
        let y = ((s + (e + fmaf(cosh, odd, sinh * even))) * 2.0).copysign(x);
        if x.abs() < 4e-4 { x } else { y }
    }

    #[inline(always)]
    pub fn cosh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::cosh(x);
        }
        let (sinh, cosh, rest, r, odd, even) = hyperbolic(x);
        let s = fmaf(sinh, r, cosh);
        let e = fmaf(sinh, r, cosh - s);
        (s + (e + fmaf(sinh, odd, fmaf(cosh, even, rest)))) * 2.0
    }

    /// Below one, `x` plus `x^3` times a polynomial; beyond, `1 - w s(w)` for `w = e^(-2 x)`, where `s` is `2 / (1 +
    /// w)`.
    #[inline(always)]
    pub fn tanh(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::tanh(x as f64) as f32;
        }
        let a = x.abs();
        let z = a * a;
        let p = horner!(
            fmaf,
            z,
            [-0.333332956, 0.133323461, -0.0538798422, 0.021486653, -0.00794595014, 0.00230115, -0.000358362973]
        );
        let small = fmaf(a, z * p, a);
        let b = if a > 9.5 { 9.5 } else { a };
        let t = fmaf(b, -2.885390, MAGIC);
        let f = fmaf(b, -2.885390, -(t - MAGIC));
        let w = power(f, t.to_bits());
        let s = horner!(fmaf, w, [1.99999857, -1.99984467, 1.99452186, -1.91458297, 1.37123394]);
        let large = fmaf(-w, s, 1.0);
        // NaN is not more than anything, and stays what it is.
        (if a > 1.0 { large } else { small }).copysign(x)
    }

    /// [`tanh`] within 4 ulp.
    #[inline(always)]
    pub fn tanh_fast(x: f32) -> f32 {
        let (biased, r, _) = reduce(2.0 * clamp(x.abs(), 0.0, 15.0));
        let p = f32::from_bits(biased.wrapping_sub(127) << 23);
        let n = fmaf(p, fmaf(r * r, tail(r), r), p - 1.0);
        (n / (n + 2.0)).copysign(x)
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::fma;
    use super::super::exp::clamp;
    use super::super::exp::wide::{exp_less_one, exp_parts};

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
}
