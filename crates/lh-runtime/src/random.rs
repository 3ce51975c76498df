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
use std::sync::Once;

/// Lets streams that the operating system has seeded begin anew in forked children, which would draw the same numbers.
fn reseed_in_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the function lives as long as the process and only writes to the state of its own thread.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    });
}

/// In a child, which has one thread: that of the fork.
unsafe extern "C" fn forget() {
    numpy::forget();
    python::forget();
}

pub(crate) fn symbols() -> Vec<Symbol> {
    // Compiled code draws nothing before it knows these functions.
    reseed_in_children();
    let mut all = numpy::symbols();
    all.extend(distributions::symbols());
    all.extend(python::symbols());
    all.extend(generator::symbols());
    all
}
