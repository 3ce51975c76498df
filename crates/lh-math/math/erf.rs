//! The error function and its complement.

use super::bits::{fast_two_sum, fma, halves, horner, quotient, two_prod};
use super::exp::{clamp, reduce, scale, tail};

/// One of two lists of coefficients.
macro_rules! choose {
    ($first:expr; $($a:expr, $b:expr;)*) => { [$(if $first { $a } else { $b }),*] };
}

/// `1 - e^(g + g_rest)`, to the last place of one, for `g` between -40 and -1.
#[inline(always)]
fn one_minus_exp(g: f64, g_rest: f64) -> f64 {
    let (_, r, _, biased) = reduce(g);
    let r = r + g_rest;
    let q = halves!(
        fma,
        r,
        [
            0.5,
            0.16666666666666674,
            0.04166666666663549,
            0.008333333333322554,
            0.0013888888913804213,
            0.00019841269885765593,
            2.4801525086207305e-05,
            2.7557243122062363e-06,
            2.7618683887694407e-07,
            2.510979002821595e-08,
        ]
    );
    let m = fma(r, fma(r, q, 1.0), 1.0);
    fma(-m, f64::from_bits(biased.wrapping_sub(1023) << 52), 1.0)
}

/// Below 1, `x` plus `x` times a polynomial in `x^2 - 1/2`; beyond, one less the exponential of a polynomial.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let a = clamp(x.abs(), 0.0, 5.95);
    let small = a < 1.0;
    let square = if cfg!(lh_fma) {
        fma(a, a, -0.5)
    } else {
        let (p, e) = two_prod(a, a);
        (p - 0.5) + e
    };
    let v = if small { square } else { a - 1.25 };
    let top = halves!(
        fma,
        v,
        [
            -1.1233984189641389e-08,
            4.415654499674627e-09,
            -8.832160358056033e-10,
            9.865833906383312e-11,
            -4.865546012123375e-12
        ]
    );
    let c = choose!(
        small;
        -0.2810721780454342, -3.0677239416692372;
        0.0794099867559349, -0.8708101640587634;
        -0.018283884489153752, -0.03268700868291113;
        0.003480274496664558, 0.007791961610865923;
        -0.0005611894221073383, -0.0016069509505924125;
        7.82964952543245e-05, 0.0002467839908846603;
        -9.614808678797615e-06, -1.0041852686186383e-05;
        1.0536450368637973e-06, -1.0830470728296018e-05;
        -1.0420423995871237e-07, 5.166847076073997e-06;
        9.387144786377875e-09, -1.4489569171064506e-06;
        -7.770927424976201e-10, 2.579744661284833e-07;
        6.040326491428405e-11, -1.0617399836338498e-08;
    );
    let top = if small { -4.26891413923185e-12 } else { top };
    let q = halves!(fma, v, [c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], top]);
    let (g, g_rest) = fast_two_sum(-2.5626536619221256, v * q);
    let y = if small {
        fma(a, fma(v, q, -0.03453126133013269), a)
    } else {
        one_minus_exp(g, g_rest + -1.2523503312278152e-16)
    };
    y.copysign(x)
}

/// Below 0.7, one less the error function; beyond, `exp(-x^2) w / (1 + 2 x)`, where `w` varies little and is a
/// polynomial in `(x - 4) / (x + 4)`.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    let a = clamp(x.abs(), 0.0, 28.0);
    let small = a < 0.7;
    let v = if small { fma(a, a, -0.25) } else { (a - 4.0) / (a + 4.0) };
    let top = halves!(
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
    let p = halves!(fma, v, [c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], top]);
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
