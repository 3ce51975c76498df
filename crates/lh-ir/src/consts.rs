//! Constants: values known while compiling.

use crate::types::{Literal, Ty};
use serde::{Deserialize, Serialize};

/// Set in the number of bytes of a string, its third word, if it is known to be ASCII: its characters are its bytes.
pub const ASCII: i64 = 1 << 62;

/// A constant. Numbers carry their type, since `1` may be Python's `int` or `numpy.uint8`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Const {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of an integer type.
    Int(i128, Ty),
    /// A float of a float type; `float32` values are exact in it.
    Float(f64, Ty),
    /// A complex number of a complex type.
    Complex(f64, f64, Ty),
    /// A string.
    Str(String),
}

impl Const {
    /// The type of the constant.
    pub fn ty(&self) -> Ty {
        match self {
            Const::None => Ty::none(),
            Const::Bool(_) => Ty::bool(),
            Const::Int(_, t) | Const::Float(_, t) | Const::Complex(_, _, t) => *t,
            Const::Str(_) => Ty::str(),
        }
    }
    /// Identity of bits: NaN equals itself and zeros of different sign differ, so that constants can be keys.
    pub fn same(&self, other: &Const) -> bool {
        match (self, other) {
            (Const::Float(a, s), Const::Float(b, t)) => s == t && a.to_bits() == b.to_bits(),
            (Const::Complex(a, b, s), Const::Complex(c, d, t)) => {
                s == t && a.to_bits() == c.to_bits() && b.to_bits() == d.to_bits()
            }
            _ => self == other,
        }
    }
}

impl Literal {
    /// The literal as a constant.
    pub fn value(&self) -> Const {
        match self {
            Literal::Int(i) => Const::Int(i128::from(*i), Ty::int()),
            Literal::Bool(b) => Const::Bool(*b),
            Literal::Str(s) => Const::Str(s.clone()),
            Literal::Initial(d) => crate::bug!("a display of `{}` is no constant", d.ty),
        }
    }
    /// The literal of a constant, if there are literal types of its kind.
    pub fn of(c: &Const) -> Option<Literal> {
        match c {
            Const::Bool(b) => Some(Literal::Bool(*b)),
            Const::Int(i, _) => i64::try_from(*i).ok().map(Literal::Int),
            Const::Str(s) => Some(Literal::Str(s.clone())),
            Const::None | Const::Float(..) | Const::Complex(..) => None,
        }
    }
}
