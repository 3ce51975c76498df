//! Functions of `f32`, computed in `f64`: one rounding, and no care needed for ranges.

use super::{arc, exp, log, pow, root, trig};

macro_rules! through_double {
    ($($name:ident = $body:path;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            $body(x as f64) as f32
        }
    )*};
}
through_double! {
    exp = exp::exp;
    exp2 = exp::exp2;
    expm1 = exp::expm1;
    sinh = exp::sinh;
    cosh = exp::cosh;
    tanh = exp::tanh;
    log = log::log;
    log2 = log::log2;
    log10 = log::log10;
    log1p = log::log1p;
    sin = trig::sin;
    cos = trig::cos;
    tan = trig::tan;
    asin = arc::asin;
    acos = arc::acos;
    atan = arc::atan;
    cbrt = root::cbrt;
}

macro_rules! pairs_through_double {
    ($($name:ident = $body:path;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32, y: f32) -> f32 {
            $body(x as f64, y as f64) as f32
        }
    )*};
}
pairs_through_double! {
    atan2 = arc::atan2;
    hypot = root::hypot;
    pow = pow::pow;
}
