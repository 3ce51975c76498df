//! Functions of `f32`, computed by the functions of `f64`.

use super::{arc, area, root};

macro_rules! through_double {
    ($($name:ident = $body:path;)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            $body(x as f64) as f32
        }
    )*};
}
through_double! {
    asin = arc::asin;
    acos = arc::acos;
    cbrt = root::cbrt;
    asinh = area::asinh;
    acosh = area::acosh;
    atanh = area::atanh;
    atan = arc::atan;
}

#[inline(always)]
pub fn atan2(y: f32, x: f32) -> f32 {
    arc::atan2(y as f64, x as f64) as f32
}
