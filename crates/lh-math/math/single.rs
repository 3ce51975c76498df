//! Functions of `f32`, computed in `f64`: one rounding, and no care needed for ranges.

use super::{arc, area, erf, exp, log, pow, root, trig};

macro_rules! through_double {
    ($($name:ident = $body:path;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            $body(x as f64) as f32
        }
    )*};
}
through_double! {
    exp2 = exp::exp2;
    expm1 = exp::expm1;
    sinh = exp::sinh;
    cosh = exp::cosh;
    log2 = log::log2;
    log10 = log::log10;
    log1p = log::log1p;
    tan = trig::tan;
    asin = arc::asin;
    acos = arc::acos;
    atan = arc::atan;
    cbrt = root::cbrt;
    asinh = area::asinh;
    acosh = area::acosh;
    atanh = area::atanh;
    erf = erf::erf;
    erfc = erf::erfc;
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
