//! Random numbers: the streams of `numpy.random`'s legacy functions and of Python's `random`, bit for bit.
//!
//! Each thread has one state per family, seeded from the operating system on first use.

mod distributions;
mod mt19937;
mod numpy;
mod python;
pub(crate) mod split;

use crate::symbol::Symbol;

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = numpy::symbols();
    all.extend(distributions::symbols());
    all.extend(python::symbols());
    all
}
