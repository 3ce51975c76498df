//! Functions of `f32`, computed in `f64`: one rounding, and no care needed for ranges.

use super::{exp, log, trig};

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
    log = log::log;
    sin = trig::sin;
    cos = trig::cos;
}
