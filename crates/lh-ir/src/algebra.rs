//! Properties of operations, as columns of their table. Passes query these columns, never an operation's name.

/// The algebraic operation of a row. Match it without `_` where it would be wrong to overlook a new variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algebra {
    /// `a + b`, of floats in the order written.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// A combination of floats that may be reassociated.
    AnyOrder(AnyOrder),
    /// `a / b` of floats.
    Divide,
    /// The quotient of integers, towards zero.
    Quotient,
    /// The remainder of the quotient of integers towards zero.
    Remainder,
    /// `-a`.
    Negate,
    /// The absolute value.
    Abs,
    /// The lesser of two floats.
    Min(Nan),
    /// The greater of two floats.
    Max(Nan),
    /// Conjunction of bits or truth values.
    And,
    /// Disjunction of bits or truth values.
    Or,
    /// Exclusive or of bits or truth values.
    Xor,
    /// Negation of a truth value.
    Not,
    /// Left shift.
    ShiftLeft,
    /// Right shift: arithmetic for signed integers, logical for unsigned ones.
    ShiftRight,
    /// A comparison of two numbers.
    Cmp(Cmp),
    /// The second operand if the first is true, else the third.
    Select,
    /// The square root.
    Sqrt,
    /// `a` to the power of `b`, of floats.
    Power,
    /// The bits of a float as an integer.
    Bits,
    /// The float of the bits that an integer has.
    OfBits,
    /// A function without known laws, but with a lower bound of its results.
    Function {
        /// The bound, or minus infinity.
        least: f64,
    },
}

impl Algebra {
    /// A function without known laws or bounds.
    pub const UNKNOWN: Algebra = Algebra::Function { least: f64::NEG_INFINITY };
}

/// Combinations of floats whose order means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum AnyOrder {
    Add,
    Sub,
    Mul,
}

/// The treatment of NaN in the lesser or greater of two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nan {
    /// The result is NaN if an operand is.
    Stays,
    /// The result is the other operand.
    Yields,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the usual ones")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    /// The comparison of the operands in the other order.
    pub fn mirrored(self) -> Cmp {
        match self {
            Cmp::Eq | Cmp::Ne => self,
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
        }
    }
    /// The negated comparison; for floats it is only equivalent if neither operand is NaN.
    pub fn negated(self) -> Cmp {
        match self {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            Cmp::Lt => Cmp::Ge,
            Cmp::Le => Cmp::Gt,
            Cmp::Gt => Cmp::Le,
            Cmp::Ge => Cmp::Lt,
        }
    }
    /// The comparison that is known to be true: this one if it `holds`, else its negation.
    pub fn given(self, holds: bool) -> Cmp {
        if holds { self } else { self.negated() }
    }
}

/// A GPU's approximation of a function of `float32`, where fastmath allows it. Instructions are those of PTX that end
/// in `.approx.ftz`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Approx {
    /// An instruction.
    Inst(&'static str),
    /// The quotient of the results of two instructions.
    Ratio(&'static str, &'static str),
    /// An instruction on the product of the operand and a constant.
    OfProduct(&'static str, f64),
    /// The product of an instruction's result and a constant.
    Product(&'static str, f64),
    /// An LLVM intrinsic with flags that allow approximation.
    Intrinsic(&'static str),
    /// The power of the first operand by base-2 logarithm and exponential.
    Power,
}

/// The derivative of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grad {
    /// Zero wherever it is defined.
    Zero,
    /// For each operand, its part of the operand's adjoint as a text that `lh-grad` reads: operands are `a`, `b`, `c`,
    /// the result is `r` and its adjoint `d`; other names are rows. `cut(x)` is `x`, but 0 where it is NaN
    /// and `d` is 0, so that infinite slopes do not leak out of values that nobody uses.
    Partials(&'static [&'static str]),
    /// Not available, for this reason.
    None(&'static str),
}
