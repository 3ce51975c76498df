//! Random numbers: the streams of `numpy.random`'s legacy functions and generators, and of Python's `random`, bit for
//! bit.
//!
//! Each thread has one state per family of functions, seeded from the operating system on first use. Generators are
//! objects ([`generator`]).

mod distributions;
pub mod generator;
mod mt19937;
mod numpy;
mod python;
pub(crate) mod split;

use crate::symbol::Symbol;

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = numpy::symbols();
    all.extend(distributions::symbols());
    all.extend(python::symbols());
    all.extend(generator::symbols());
    all
}
