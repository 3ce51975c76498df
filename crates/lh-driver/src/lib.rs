//! The compiler as a whole: resolve, specialise, optimise, generate code. No globals.

pub mod host;
