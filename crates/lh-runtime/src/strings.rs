//! Strings of compiled code: their values and characters, `str`'s methods, conversion from and to numbers, hashing,
//! printing.

mod edges;
mod format_spec;
pub mod hash;
pub mod index;
mod letter_case;
mod lines;
mod make;
mod methods;
mod parse_number;
pub mod print;
mod questions;
mod units;
pub mod value;
mod words;

use crate::symbol::Symbol;

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = value::symbols();
    all.extend(methods::symbols());
    all.extend(questions::symbols());
    all.extend(letter_case::symbols());
    all.extend(edges::symbols());
    all.extend(lines::symbols());
    all.extend(hash::symbols());
    all.extend(print::symbols());
    all.extend(units::symbols());
    all
}
