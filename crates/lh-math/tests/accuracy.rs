//! Accuracy of every function: within one unit in the last place, and the special values of C99, Annex F.
//!
//! The sources of the bitcode are compiled here as ordinary Rust. Doubles are compared with `reference.txt`, which
//! `reference.py` writes; singles with the C library's doubles.

#[path = "../math/lib.rs"]
mod functions;

use functions::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

type Unary = extern "C" fn(f64) -> f64;
type Binary = extern "C" fn(f64, f64) -> f64;

const UNARY: &[(&str, Unary)] = &[
    ("exp", lh_exp),
    ("exp2", lh_exp2),
    ("expm1", lh_expm1),
    ("log", lh_log),
    ("log2", lh_log2),
    ("log10", lh_log10),
    ("log1p", lh_log1p),
    ("sin", lh_sin),
    ("cos", lh_cos),
    ("tan", lh_tan),
    ("asin", lh_asin),
    ("acos", lh_acos),
    ("atan", lh_atan),
    ("sinh", lh_sinh),
    ("cosh", lh_cosh),
    ("tanh", lh_tanh),
    ("asinh", lh_asinh),
    ("acosh", lh_acosh),
    ("atanh", lh_atanh),
    ("cbrt", lh_cbrt),
    ("erf", lh_erf),
    ("erfc", lh_erfc),
];

const BINARY: &[(&str, Binary)] = &[("pow", lh_pow), ("atan2", lh_atan2), ("hypot", lh_hypot)];

fn unary(name: &str) -> Option<Unary> {
    UNARY.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

fn binary(name: &str) -> Option<Binary> {
    BINARY.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

/// Distance of a result from `high + low`, in units of the last place.
fn error(got: f64, high: f64, low: f64) -> f64 {
    let exponent = (high.abs().to_bits() >> 52).max(1) as i32;
    // Divided by 2^(exponent - 1075) in two steps, neither of which overflows.
    let step = (1075 - exponent) / 2;
    let units = |x: f64| x * 2f64.powi(step) * 2f64.powi(1075 - exponent - step);
    (units(got - high) - units(low)).abs()
}

#[test]
fn doubles_are_within_one_unit() {
    let mut worst: Vec<(String, f64, String)> = Vec::new();
    for line in include_str!("reference.txt").lines() {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let bits = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits in hexadecimal"));
        let values: Vec<f64> = words.map(bits).collect();
        let (got, exact) = match (unary(name), binary(name)) {
            (Some(f), _) => (f(values[0]), &values[1..]),
            (_, Some(f)) => (f(values[0], values[1]), &values[2..]),
            _ => panic!("no function {name}"),
        };
        let e = error(got, exact[0], exact[1]);
        match worst.iter_mut().find(|w| w.0 == name) {
            Some(w) if e > w.1 || e.is_nan() => (w.1, w.2) = (e, line.to_owned()),
            Some(_) => {}
            None => worst.push((name.to_owned(), e, line.to_owned())),
        }
    }
    assert_eq!(worst.len(), UNARY.len() + BINARY.len());
    let bad: Vec<_> = worst.iter().filter(|w| w.1.is_nan() || w.1 > 1.0).collect();
    assert!(bad.is_empty(), "{bad:#?}");
}

/// A sequence of words that look random (splitmix64).
fn words(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Any float, or one of ordinary size.
fn single(word: u64) -> f32 {
    let bits = word as u32;
    if word >> 63 == 0 { f32::from_bits(bits) } else { f32::from_bits((bits & 0x87ff_ffff) | 0x3c00_0000) }
}

fn check_single(name: &str, arguments: &[f32], got: f32, exact: f64) {
    let rounded = exact as f32;
    if rounded.is_nan() || rounded.is_infinite() || rounded == 0.0 {
        let close = rounded.is_infinite() && (got.abs() == f32::MAX) || rounded == 0.0 && got.abs().to_bits() <= 1;
        assert!(close || same(got as f64, rounded as f64), "{name}{arguments:?} = {got}, not {exact}");
        return;
    }
    let place = ((rounded.abs().to_bits() >> 23).max(1) as i32) - 1;
    let e = (got as f64 - exact).abs() / 2f64.powi(place - 149);
    assert!(
        e <= 1.0 || got.is_infinite() && exact.abs() > f32::MAX as f64,
        "{name}{arguments:?} = {got}, not {exact}: {e} units"
    );
}

#[test]
fn singles_are_within_one_unit() {
    type Pair = (&'static str, extern "C" fn(f32) -> f32, fn(f64) -> f64);
    let pairs: &[Pair] = &[
        ("expf", lh_expf, f64::exp),
        ("exp2f", lh_exp2f, f64::exp2),
        ("expm1f", lh_expm1f, f64::exp_m1),
        ("logf", lh_logf, f64::ln),
        ("log2f", lh_log2f, f64::log2),
        ("log10f", lh_log10f, f64::log10),
        ("log1pf", lh_log1pf, f64::ln_1p),
        ("sinf", lh_sinf, f64::sin),
        ("cosf", lh_cosf, f64::cos),
        ("tanf", lh_tanf, f64::tan),
        ("asinf", lh_asinf, f64::asin),
        ("acosf", lh_acosf, f64::acos),
        ("atanf", lh_atanf, f64::atan),
        ("sinhf", lh_sinhf, f64::sinh),
        ("coshf", lh_coshf, f64::cosh),
        ("tanhf", lh_tanhf, f64::tanh),
        ("cbrtf", lh_cbrtf, f64::cbrt),
        ("asinhf", lh_asinhf, |x| lh_asinh(x)),
        ("acoshf", lh_acoshf, |x| lh_acosh(x)),
        ("atanhf", lh_atanhf, |x| lh_atanh(x)),
        ("erff", lh_erff, |x| lh_erf(x)),
        ("erfcf", lh_erfcf, |x| lh_erfc(x)),
    ];
    for (name, f, exact) in pairs {
        for word in words(1).take(1 << 17) {
            let x = single(word);
            check_single(name, &[x], f(x), exact(x as f64));
        }
    }
    type Two = (&'static str, extern "C" fn(f32, f32) -> f32, fn(f64, f64) -> f64);
    let pairs: &[Two] =
        &[("powf", lh_powf, f64::powf), ("atan2f", lh_atan2f, f64::atan2), ("hypotf", lh_hypotf, f64::hypot)];
    for (name, f, exact) in pairs {
        for (a, b) in words(2).zip(words(3)).take(1 << 17) {
            let (x, y) = (single(a), single(b));
            check_single(name, &[x, y], f(x, y), exact(x as f64, y as f64));
        }
    }
}

/// Those with less accuracy: within four units.
#[test]
fn fast_functions_are_within_four_units() {
    type Doubles = (&'static str, Unary, Unary);
    let doubles: &[Doubles] = &[
        ("sin", lh_sin_fast, lh_sin),
        ("cos", lh_cos_fast, lh_cos),
        ("tan", lh_tan_fast, lh_tan),
        ("tanh", lh_tanh_fast, lh_tanh),
        ("log2", lh_log2_fast, lh_log2),
        ("log10", lh_log10_fast, lh_log10),
    ];
    for (name, fast, exact) in doubles {
        for x in words(4).take(1 << 17).map(|w| single(w) as f64 * 1.000000123) {
            let (got, want) = (fast(x), exact(x));
            assert!(same(got, want) || error(got, want, 0.0) <= 3.0, "{name}({x}) = {got}, not {want}");
        }
    }
    type Singles = (&'static str, extern "C" fn(f32) -> f32, fn(f64) -> f64);
    let singles: &[Singles] =
        &[("sinf", lh_sinf_fast, f64::sin), ("cosf", lh_cosf_fast, f64::cos), ("tanhf", lh_tanhf_fast, f64::tanh)];
    for (name, fast, exact) in singles {
        for x in words(5).take(1 << 17).map(single) {
            let (got, want) = (fast(x), exact(x as f64));
            let place = (want.abs() as f32).to_bits() >> 23;
            let close = (got as f64 - want).abs() <= 4.0 * 2f64.powi(place.max(1) as i32 - 150);
            assert!(close || same(got as f64, want), "{name}({x}) = {got}, not {want}");
        }
    }
    assert_eq!((lh_cos_fast(0.0), lh_cosf_fast(0.0)), (1.0, 1.0));
    assert!(same(lh_sin_fast(-0.0), -0.0) && lh_sin_fast(INF).is_nan() && lh_cosf_fast(f32::NAN).is_nan());
}

/// Equal, zeros with their signs, and NaN to NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Arguments and results that must be exact.
const SPECIAL: &[(&str, &[(f64, f64)])] = &[
    ("exp", &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1e4, INF), (-1e4, 0.0)]),
    ("exp2", &[(0.0, 1.0), (INF, INF), (-INF, 0.0), (-1074.0, 5e-324), (1023.0, 8.98846567431158e307), (3.0, 8.0)]),
    ("expm1", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (5e-324, 5e-324), (-5e-324, -5e-324)]),
    ("log", &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN)]),
    ("log2", &[(1.0, 0.0), (0.0, -INF), (INF, INF), (-1.0, NAN), (8.0, 3.0), (5e-324, -1074.0)]),
    ("log10", &[(1.0, 0.0), (0.0, -INF), (INF, INF), (-1.0, NAN), (1000.0, 3.0), (1e-5, -5.0), (1e22, 22.0)]),
    ("log1p", &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-2.0, NAN), (5e-324, 5e-324)]),
    ("sin", &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (5e-324, 5e-324)]),
    ("cos", &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)]),
    ("tan", &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (-5e-324, -5e-324)]),
    ("asin", &[(0.0, 0.0), (-0.0, -0.0), (1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2), (1.5, NAN), (-INF, NAN)]),
    ("acos", &[(1.0, 0.0), (-1.0, PI), (0.0, FRAC_PI_2), (1.5, NAN), (-1.0000000000000002, NAN), (INF, NAN)]),
    ("atan", &[(0.0, 0.0), (-0.0, -0.0), (INF, FRAC_PI_2), (-INF, -FRAC_PI_2), (1.0, FRAC_PI_4), (5e-324, 5e-324)]),
    ("sinh", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (800.0, INF), (5e-324, 5e-324)]),
    ("cosh", &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (-800.0, INF)]),
    ("tanh", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (50.0, 1.0), (-5e-324, -5e-324)]),
    ("asinh", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (5e-324, 5e-324)]),
    ("acosh", &[(1.0, 0.0), (INF, INF), (0.5, NAN), (-INF, NAN)]),
    ("atanh", &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (1.5, NAN), (INF, NAN), (5e-324, 5e-324)]),
    ("cbrt", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (27.0, 3.0), (-1e-300, -1e-100)]),
    ("erf", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (10.0, 1.0)]),
    ("erfc", &[(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (-10.0, 2.0), (30.0, 0.0)]),
];

#[test]
fn special_values_of_one_argument() {
    assert_eq!(SPECIAL.len(), UNARY.len());
    for (name, rows) in SPECIAL {
        let f = unary(name).expect("a function of the list");
        assert!(f(NAN).is_nan(), "{name}(nan)");
        for &(x, want) in *rows {
            assert!(same(f(x), want), "{name}({x}) = {}, not {want}", f(x));
        }
    }
}

const THREE_QUARTERS: f64 = 3.0 * FRAC_PI_4;

const POW: &[(f64, f64, f64)] = &[
    (NAN, 0.0, 1.0),
    (1.0, NAN, 1.0),
    (NAN, 1.0, NAN),
    (2.0, NAN, NAN),
    (0.0, 0.0, 1.0),
    (INF, -0.0, 1.0),
    (0.0, -1.0, INF),
    (-0.0, -1.0, -INF),
    (-0.0, -2.0, INF),
    (0.0, -INF, INF),
    (-0.0, 3.0, -0.0),
    (-0.0, 2.0, 0.0),
    (0.0, 0.5, 0.0),
    (-0.0, 0.5, 0.0),
    (-1.0, INF, 1.0),
    (-1.0, -INF, 1.0),
    (0.5, INF, 0.0),
    (0.5, -INF, INF),
    (2.0, INF, INF),
    (-2.0, -INF, 0.0),
    (-INF, -3.0, -0.0),
    (-INF, -2.0, 0.0),
    (-INF, 3.0, -INF),
    (-INF, 2.5, INF),
    (INF, 0.5, INF),
    (INF, -0.5, 0.0),
    (-8.0, 1.0 / 3.0, NAN),
    (-2.0, 3.0, -8.0),
    (-2.0, 4.0, 16.0),
    (2.0, -1074.0, 5e-324),
    (2.0, 1024.0, INF),
    (2.0, -1e9, 0.0),
    (-2.0, 9007199254740993.0, INF),
    (10.0, 22.0, 1e22),
    (-1.0, 4503599627370497.0, -1.0),
    (-1.0, 9007199254740991.0, -1.0),
    (0.9999999999999999, 1e300, 0.0),
];

const ATAN2: &[(f64, f64, f64)] = &[
    (0.0, 1.0, 0.0),
    (-0.0, 1.0, -0.0),
    (0.0, -1.0, PI),
    (-0.0, -1.0, -PI),
    (0.0, 0.0, 0.0),
    (-0.0, 0.0, -0.0),
    (0.0, -0.0, PI),
    (-0.0, -0.0, -PI),
    (1.0, 0.0, FRAC_PI_2),
    (-1.0, -0.0, -FRAC_PI_2),
    (INF, INF, FRAC_PI_4),
    (INF, -INF, THREE_QUARTERS),
    (-INF, -INF, -THREE_QUARTERS),
    (INF, 1.0, FRAC_PI_2),
    (-INF, 1.0, -FRAC_PI_2),
    (1.0, INF, 0.0),
    (-1.0, INF, -0.0),
    (1.0, -INF, PI),
    (-1.0, -INF, -PI),
    (NAN, INF, NAN),
    (1.0, NAN, NAN),
    (1e300, 1e300, FRAC_PI_4),
    (5e-324, 5e-324, FRAC_PI_4),
    (1e-300, 1e300, 0.0),
    (1.7e308, 1.7e308, FRAC_PI_4),
];

const HYPOT: &[(f64, f64, f64)] = &[
    (INF, NAN, INF),
    (NAN, -INF, INF),
    (NAN, 1.0, NAN),
    (0.0, -0.0, 0.0),
    (3.0, -4.0, 5.0),
    (0.0, 5e-324, 5e-324),
    (3e300, 4e300, 5e300),
    (3e-310, 4e-310, 5e-310),
    (1.7e308, 1.7e308, INF),
    (-INF, 0.0, INF),
];

#[test]
fn special_values_of_two_arguments() {
    for (name, rows) in [("pow", POW), ("atan2", ATAN2), ("hypot", HYPOT)] {
        let f = binary(name).expect("a function of the list");
        for &(x, y, want) in rows {
            assert!(same(f(x, y), want), "{name}({x}, {y}) = {}, not {want}", f(x, y));
        }
    }
}

#[test]
fn remainders_are_exact() {
    let special = [0.0, -0.0, 1.0, -1.5, 5e-324, 3e-310, f64::MIN_POSITIVE, f64::MAX, f64::MIN, INF, -INF, NAN];
    let random: Vec<f64> = words(9).take(600).map(f64::from_bits).collect();
    let near = words(10).take(600).map(|w| (w >> 32) as f64 * 0.125 - 1e8);
    let all: Vec<f64> = special.into_iter().chain(random).chain(near).collect();
    for x in &all {
        for y in &all {
            let (got, want) = (lh_fmod(*x, *y), x % y);
            assert!(same(got, want), "fmod({x:e}, {y:e}) = {got:e}, not {want:e}");
            let (x, y) = (*x as f32, *y as f32);
            let (got, want) = (lh_fmodf(x, y), x % y);
            assert!(same(got.into(), want.into()), "fmodf({x:e}, {y:e}) = {got:e}, not {want:e}");
        }
    }
}

#[test]
fn gamma_of_gpus_is_near() {
    let units = |got: f64, exact: f64| {
        if got == exact || got.is_nan() && exact.is_nan() { 0.0 } else { error(got, exact, 0.0) }
    };
    let edges = [
        0.0,
        -0.0,
        1.0,
        2.0,
        0.5,
        1.5,
        2.5,
        12.0,
        171.6,
        172.0,
        3e305,
        1e308,
        -1.0,
        -170.0,
        -170.5,
        -184.5,
        -1e9 - 0.5,
        1e-310,
        -1e-17,
    ];
    for x in
        words(7).take(20_000).map(|w| (w >> 11) as f64 / 2f64.powi(45) - 120.0).chain(edges).chain([INF, -INF, NAN])
    {
        let (g, l) = (libm::tgamma(x), libm::lgamma(x));
        assert!(units(lh_gpu_tgamma(x), g) <= 16.0, "gamma({x}) = {}, not {g}", lh_gpu_tgamma(x));
        // Where the logarithm goes through zero, what counts is its distance.
        let close = x < 0.0 && (lh_gpu_lgamma(x) - l).abs() < 2e-14 * l.abs().max(1.0);
        assert!(close || units(lh_gpu_lgamma(x), l) <= 16.0, "lgamma({x}) = {}, not {l}", lh_gpu_lgamma(x));
        assert!(
            (lh_gpu_tgammaf(x as f32) as f64 - libm::tgammaf(x as f32) as f64).abs() <= 1e-6 * g.abs()
                || g.abs() > 1e38
                || x < 0.0
                || x.is_nan()
        );
    }
}

#[test]
fn steps_of_gpus_are_exact() {
    let floats: Vec<f64> = words(3)
        .take(2000)
        .map(f64::from_bits)
        .chain([0.0, -0.0, INF, -INF, NAN, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1.0])
        .collect();
    for (i, x) in floats.iter().copied().enumerate() {
        let y = floats[(i * 7 + 3) % floats.len()];
        assert!(same(lh_gpu_nextafter(x, y), libm::nextafter(x, y)), "nextafter({x}, {y})");
        assert!(same(lh_gpu_nextafterf(x as f32, y as f32) as f64, libm::nextafterf(x as f32, y as f32) as f64));
        for n in [
            0,
            1,
            -1,
            52,
            -53,
            -969,
            -970,
            -1022,
            -1074,
            1023,
            1024,
            2046,
            2098,
            -2098,
            -2150,
            i32::MAX,
            i32::MIN,
            i as i32 * 2 - 2000,
        ] {
            assert!(
                same(lh_gpu_ldexp(x, n), libm::ldexp(x, n)),
                "ldexp({x:e}, {n}) = {:e}, not {:e}",
                lh_gpu_ldexp(x, n),
                libm::ldexp(x, n)
            );
        }
    }
}

#[test]
fn whole_powers_are_within_one_unit_of_powers() {
    let special = [0.0, -0.0, 1.0, -1.0, 2.0, 5e-324, -3e-310, f64::MIN_POSITIVE, f64::MAX, f64::MIN, INF, -INF, NAN];
    let random = words(11).take(2000).map(f64::from_bits);
    let near = words(12).take(4000).map(|w| ((w >> 11) as f64 / 2f64.powi(46) - 64.0).exp2());
    let negative = words(13).take(2000).map(|w| (w >> 11) as f64 / 2f64.powi(50) - 4.0);
    for x in special.into_iter().chain(random).chain(near).chain(negative) {
        for n in (-16..=16).filter(|n| *n != 0).map(f64::from) {
            let (got, want) = (lh_whole_pow(x, n), lh_pow(x, n));
            assert!(same(got, want) || error(got, want, 0.0) <= 1.0, "{x:e} ** {n} = {got:e}, not {want:e}");
            let x = x as f32;
            check_single("whole_pow", &[x, n as f32], lh_whole_powf(x, n as f32), (x as f64).powf(n));
        }
    }
}
