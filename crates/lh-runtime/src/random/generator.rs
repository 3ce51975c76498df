//! `numpy.random.Generator`: NumPy's streams, bit for bit, from its own bit generators and from those of compiled code.

pub mod bits;
mod continuous;
mod discrete;
mod fills;
mod integers;
pub mod native;
mod seeds;
#[expect(clippy::approx_constant, reason = "one of the logarithms of factorials is ln 2")]
mod tables;
mod ziggurat;

use crate::symbol::Symbol;

pub(super) fn symbols() -> Vec<Symbol> {
    let mut all = fills::symbols();
    all.extend(native::symbols());
    all.extend(seeds::symbols());
    all
}
