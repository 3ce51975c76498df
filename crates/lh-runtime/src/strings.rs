//! Strings of compiled code: their values and characters, `str`'s methods, conversion from and to numbers, hashing,
//! printing.

mod format_spec;
pub mod hash;
pub mod index;
mod letter_case;
mod methods;
mod parse_number;
pub mod print;
mod units;
pub mod value;
mod words;

use crate::symbol::Symbol;

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = value::symbols();
    all.extend(methods::symbols());
    all.extend(hash::symbols());
    all.extend(print::symbols());
    all.extend(units::symbols());
    all
}
