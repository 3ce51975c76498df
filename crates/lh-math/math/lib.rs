//! Vector math: branch-free elementary functions, compiled to bitcode and inlined into compiled loops.
//!
//! Coefficients are fitted as `../fit.py` does. `build.rs` compiles this file on its own; the tests include it as a
//! module.
#![allow(missing_docs, dead_code)]

mod arc;
mod area;
mod bits;
mod erf;
mod exp;
mod float;
mod float_arc;
mod float_area;
mod float_exp;
mod float_root;
mod gamma;
mod large;
mod log;
mod pow;
mod remainder;
mod root;
mod short;
mod single;
mod steps;
mod trig;

macro_rules! exports {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {$(
        #[cfg_attr(lh_bitcode, unsafe(no_mangle), inline(always))]
        pub extern "C" fn $name($($arg: $ty),+) -> $ret {
            $body($($arg),+)
        }
    )*};
}
include!("exports.inc");

macro_rules! rare {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {$(
        #[cold]
        #[inline(never)]
        #[cfg_attr(lh_bitcode, unsafe(no_mangle))]
        pub extern "C" fn $name($($arg: $ty),+) -> $ret {
            $body($($arg),+)
        }
    )*};
}
include!("rare.inc");
