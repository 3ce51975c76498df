//! The error function and its complement.

use super::bits::{fast_two_sum, fma, pairs, quotient, two_prod};
use super::exp::{clamp, reduce, scale, tail};

exports! {
    lh_erf(x: f64) -> f64 = erf;
    lh_erff(x: f32) -> f32 = float::erf;
    lh_erfc(x: f64) -> f64 = erfc;
    lh_erfcf(x: f32) -> f32 = wide::erfc;
}

/// One of two lists of coefficients.
macro_rules! choose {
    ($first:expr; $($a:expr, $b:expr;)*) => { [$(if $first { $a } else { $b }),*] };
}

/// Below 1.4, `x` times a polynomial in `x^2 - 1`; beyond, one less the eighth power of a polynomial over 16, whose
/// roundings matter little there.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    // Where erf(a) / a is a number of few bits.
    const CENTRE: f64 = 0.9792202741056858;
    let square = if cfg!(lh_fma) {
        fma(a, a, -CENTRE)
    } else {
        let (p, e) = two_prod(a, a);
        (p - CENTRE) + e
    };
    // erf(a) / a - c, small for the one `c` or the other.
    let near = a < 1.0;
    let c = if near { 1.0 } else { 0.5 };
    let c0 = if near { -0.15283203125 } else { 0.34716796875 };
    let p = pairs!(
        fma,
        square,
        [
            0.057359038812977256,
            -0.012745415030990916,
            0.00237186735292471,
            -0.0003765742160965285,
            5.1950632909005006e-05,
            -6.325323540684823e-06,
            6.885501757272249e-07,
            -6.773284375482427e-08,
            6.07519700159011e-09,
            -5.005533858746539e-10,
            3.813989050441579e-11,
            -2.743472998779256e-12,
            1.8161746317629302e-13,
        ]
    );
    let p = fma(square, fma(square, p, -0.21616403245414856), c0);
    let inner = fma(a, p, c * a);
    let v = (if a > 6.0 { 6.0 } else { a }) - 1.5;
    let q = pairs!(
        fma,
        v,
        [
            -0.40630338879237277,
            -0.01426139146912758,
            0.029318262238659583,
            -0.0007398847214138426,
            -0.0016056450266852785,
            0.00016864970591121812,
            4.382168197547297e-05,
            -7.920110085922419e-06,
            -3.9556232924010066e-07,
            5.3529171775519015e-08,
            4.514087987989077e-08,
            -9.80310369156174e-09,
            5.118204879329311e-10,
            4.650695207003264e-11,
            -5.021035255438043e-12,
        ]
    );
    let root = fma(v, q, 0.9263641038529463);
    let fourth = (root * root) * (root * root);
    // NaN is not more than anything, and stays what it is.
    (if a > 1.4 { fma(fourth * -0.0625, fourth, 1.0) } else { inner }).copysign(x)
}

/// Below 0.7, one less the error function; beyond, `exp(-x^2) w / (1 + 2 x)`, where `w` varies little and is a
/// polynomial in `(x - 4) / (x + 4)`.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    let a = clamp(x.abs(), 0.0, 28.0);
    let small = a < 0.7;
    let v = if small { fma(a, a, -0.25) } else { (a - 4.0) / (a + 4.0) };
    let top = pairs!(
        fma,
        v,
        [
            -0.0007577733453671546,
            -0.0001992571321453234,
            0.00015062202808617775,
            -2.4397347385912608e-05,
            -1.1223427389787072e-05,
            5.704593421717885e-06,
            2.973572805003008e-07,
            -8.163992863822102e-07,
            6.907752392763695e-08,
            1.0042094050862501e-07,
            -1.303753447591557e-08,
            -8.54716528971485e-09
        ]
    );
    let c = choose!(
        small;
        0.04099975562609307, 0.0;
        -0.32443435338129656, -0.13962111684056247;
        0.09452048120844603, 0.015379652102619655;
        -0.022140744383000927, 0.06809705425468625;
        0.004260723762442135, -0.10103906603629545;
        -0.0006922292297173702, 0.09373283499863587;
        9.711112685623309e-05, -0.0663303658125376;
        -1.1975202898633704e-05, 0.037167515531665085;
        1.3165567927678229e-06, -0.016197734052152076;
        -1.3069846928155757e-07, 0.005031970042936903;
    );
    let top = if small { 1.2255744320529002e-08 } else { top };
    let p = pairs!(fma, v, [c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], top]);
    // 1 - x - x p, for either sign of x.
    let (s, e) = fast_two_sum(1.0, -x);
    let inner = s + fma(-x, p, e);
    let outer = tail_area(a, p);
    let outer = if x < 0.0 { 2.0 - outer } else { outer };
    if small { inner } else { outer }
}

/// `exp(-a^2) (w + p) / (1 + 2 a)` for the constant term `w`.
#[inline(always)]
fn tail_area(a: f64, p: f64) -> f64 {
    let (square, square_rest) = two_prod(a, a);
    let (_, r, c, biased) = reduce(-square);
    let (r, c) = fast_two_sum(r, c - square_rest);
    let (m, m_rest) = fast_two_sum(1.0, r);
    let m_rest = m_rest + fma(r * r, tail(r), fma(c, r, c));
    let (w, w_rest) = fast_two_sum(1.2329951186255526, p);
    let (n, n_rest) = two_prod(m, w);
    let n_rest = n_rest + fma(m, w_rest + -4.541177408154148e-17, m_rest * w);
    let d = fast_two_sum(2.0 * a, 1.0);
    let (q, q_rest) = quotient((n, n_rest), d);
    scale(q + q_rest, biased)
}

/// The functions of `f32`, computed in `f32`.
pub mod float {
    use super::super::bits::float::MAGIC;
    use super::super::bits::{fmaf, horner};
    use super::super::exp::float::power;

    /// Below one, `x` plus `x` times a polynomial; beyond, `1 - 2^g` for a polynomial `g`.
    #[inline(always)]
    pub fn erf(x: f32) -> f32 {
        if !cfg!(lh_fma) {
            return super::wide::erf(x);
        }
        let a = x.abs();
        let z = a * a;
        let p = horner!(
            fmaf,
            z,
            [0.128379166, -0.37612626, 0.112835787, -0.0268533472, 0.0051871622, -0.000799785194, 7.80689006e-5]
        );
        let b = if a > 4.0 { 4.0 } else { a };
        let g = horner!(
            fmaf,
            b - 1.0,
            [-2.66841674, -3.80722141, -1.2164011, -0.0597041249, 0.0139614707, -0.00239441381, 0.000202368115]
        );
        let t = g + MAGIC;
        let large = 1.0 - power(g - (t - MAGIC), t.to_bits());
        (if a > 1.0 { large } else { fmaf(a, p, a) }).copysign(x)
    }
}

/// The functions of `f32`, computed in `f64`: where products are not fused, and for rare arguments.
pub mod wide {
    use super::super::bits::{fma, horner, pairs};
    use super::super::exp::clamp;
    use super::super::exp::wide::{exp_less_one, exp_parts};

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
}
