//! Vector math: branch-free elementary functions, compiled to bitcode and inlined into compiled loops.
//!
//! A file has all of its functions: those of `f64`, in `float` those of `f32`, in `wide` those of `f32` computed in
//! `f64`, and the lists under which names it exports them. A function and its `f32` form differ by the suffix `f`; one
//! with the suffix `_fast` is within 4 ulp and cheaper. `build.rs` makes one list of them all.
//!
//! Coefficients are fitted as `../fit.py` does. `build.rs` compiles this file on its own; the tests include it as a
//! module.
#![allow(missing_docs, dead_code, unused_imports)]

/// Exports functions: they are inlined into the loops that use them.
macro_rules! exports {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {$(
        #[cfg_attr(lh_bitcode, unsafe(no_mangle), inline(always))]
        pub extern "C" fn $name($($arg: $ty),+) -> $ret {
            $body($($arg),+)
        }
    )*};
}

/// Exports functions that are called for the few lanes of a vector that need it.
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

mod arc;
mod area;
mod bits;
mod erf;
mod exp;
mod gamma;
mod hyperbolic;
mod large;
mod log;
mod pow;
mod remainder;
mod root;
mod steps;
mod trig;

pub(crate) use arc::*;
pub(crate) use area::*;
pub(crate) use erf::*;
pub(crate) use exp::*;
pub(crate) use gamma::*;
pub(crate) use hyperbolic::*;
pub(crate) use log::*;
pub(crate) use pow::*;
pub(crate) use remainder::*;
pub(crate) use root::*;
pub(crate) use steps::*;
pub(crate) use trig::*;
