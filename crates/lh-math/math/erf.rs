//! The error function and its complement.

use super::bits::{fast_two_sum, fma, pairs, quotient, two_prod};
use super::exp::{clamp, reduce, scale, tail};

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
