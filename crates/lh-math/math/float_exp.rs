//! Functions of `f32` that are made of exponentials and logarithms, computed in `f32`.
//!
//! Each falls back on `short`, in `f64`, where products are not fused.

use super::bits::{fmaf, horner};
use super::float::{MAGIC, clamp, fast_two_sum, is_plain, log_of_any, power_of, reduce, split};
use super::short;

#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::exp2(x);
    }
    let x = clamp(x, -151.0, 129.0);
    let t = x + (MAGIC + 254.0);
    let f = x - (t - (MAGIC + 254.0));
    let q = horner!(fmaf, f, [0.24022655, 0.05550273, 0.009617057, 0.0013417547, 0.00015828287]);
    let p = fmaf(f, 0.69314724, f * f * q);
    let (a, b) = power_of(t.to_bits());
    fmaf(p, a, a) * b
}

#[inline(always)]
pub fn expm1(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::expm1(x);
    }
    let (biased, r, c) = reduce(clamp(x, -20.0, 88.8));
    // Scaled by half: 2^128 is out of range.
    let p = f32::from_bits(biased.wrapping_sub(128) << 23);
    let less = p - 0.5;
    let lost = (p - less) - 0.5;
    let q = horner!(fmaf, r, [0.5, 0.166666642, 0.0416664891, 0.00833393913, 0.0013932687, 0.00019530124]);
    let t = fmaf(r * r, q, c);
    let s = fmaf(p, r, less);
    let e = fmaf(p, r, less - s);
    let y = (s + fmaf(p, t, e + lost)) * 2.0;
    if x.abs() < 5e-8 { x } else { y }
}

/// See `hyperbolic` in `exp.rs`: half of `sinh(k log(2))` and of `cosh(k log(2))`, what
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
        return short::sinh(x);
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
        return short::cosh(x);
    }
    let (sinh, cosh, rest, r, odd, even) = hyperbolic(x);
    let s = fmaf(sinh, r, cosh);
    let e = fmaf(sinh, r, cosh - s);
    (s + (e + fmaf(sinh, odd, fmaf(cosh, even, rest)))) * 2.0
}

#[inline(always)]
fn log2_normal(x: f32, shift: f32) -> f32 {
    let (k, f) = split(x);
    let k = k + shift;
    let q = horner!(
        fmaf,
        f,
        [
            -0.721347392,
            0.480897993,
            -0.360693991,
            0.288581431,
            -0.239680275,
            0.204366788,
            -0.190365613,
            0.187391669,
            -0.113036856,
        ]
    );
    k + fmaf(f, std::f32::consts::LOG2_E, fmaf(f * f, q, f * 1.925962991e-8))
}

#[inline(always)]
pub fn log2_rare(x: f32) -> f32 {
    log_of_any(x, log2_normal)
}

#[inline(always)]
pub fn log2(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::log2(x);
    }
    if cfg!(lh_gpu) {
        return log2_rare(x);
    }
    if is_plain(x) { log2_normal(x, 0.0) } else { super::lh_log2f_rare(x) }
}

#[inline(always)]
fn log10_normal(x: f32, shift: f32) -> f32 {
    let (k, f) = split(x);
    let k = k + shift;
    let q = horner!(
        fmaf,
        f,
        [
            -0.217147186,
            0.144764796,
            -0.108580656,
            0.0868682936,
            -0.0721302107,
            0.0615688078,
            -0.0575069226,
            0.0561898984,
            -0.0332932845,
        ]
    );
    let low = fmaf(f * f, q, fmaf(k, -1.43209889e-8, f * -1.010305005e-8));
    fmaf(k, 0.30103001, fmaf(f, std::f32::consts::LOG10_E, low))
}

#[inline(always)]
pub fn log10_rare(x: f32) -> f32 {
    log_of_any(x, log10_normal)
}

#[inline(always)]
pub fn log10(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::log10(x);
    }
    if cfg!(lh_gpu) {
        return log10_rare(x);
    }
    if is_plain(x) { log10_normal(x, 0.0) } else { super::lh_log10f_rare(x) }
}

#[inline(always)]
pub fn log1p(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::log1p(x);
    }
    // Near zero there is nothing to split off; elsewhere 1 + x is rounded, and what it lacks counts a little.
    let near = (x > -0.2928932) & (x < 0.41421357);
    let plain = (x > -1.0) & (x < f32::INFINITY);
    let (u, c) = if x < 1.0 { fast_two_sum(1.0, x) } else { fast_two_sum(x, 1.0) };
    let (k, g) = split(u);
    let unit = f32::from_bits(127u32.wrapping_sub((k + MAGIC).to_bits()) << 23);
    let f = if near { x } else { g };
    let c = if near | (x > 1e7) { 0.0 } else { c * unit };
    let k = if near { 0.0 } else { k };
    let low = fmaf(k, -1.9046543e-9, fmaf(fmaf(c, f, -c), f, c));
    let y = fmaf(k, super::float::LN2, fmaf(f * f, super::float::log_tail(f), low) + f);
    let y = if x.abs() < 5e-8 { x } else { y };
    if plain { y } else { super::lh_logf_rare(u) }
}
