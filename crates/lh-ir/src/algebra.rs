//! Facts about operations, as columns of their rows: passes ask these, and never which operation it is.

/// The operation that a row is in algebra. Match it without `_` where a further law would be wrong to miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algebra {
    /// `a + b`, of floats in the order written.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// A sum, difference or product of floats that may be part of one made in any order.
    AnyOrder,
    /// `a / b` of floats.
    Divide,
    /// The quotient of integers, towards zero.
    Quotient,
    /// The remainder of that.
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
    /// The contrary of a truth value.
    Not,
    /// Bits moved to higher places.
    ShiftLeft,
    /// Bits moved to lower places; the sign stays.
    ShiftRight,
    /// A comparison of two numbers.
    Cmp(Cmp),
    /// The second operand if the first is true, else the third.
    Select,
    /// The square root.
    Sqrt,
    /// A function that passes know no law of, but that no result is less than this.
    Function {
        /// The bound, or minus infinity.
        least: f64,
    },
}

impl Algebra {
    /// A function of which nothing is known.
    pub const UNKNOWN: Algebra = Algebra::Function { least: f64::NEG_INFINITY };
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
    /// The comparison that holds where this one does not; of floats, where neither operand is NaN.
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
    /// This comparison, or its negation if it does not hold.
    pub fn given(self, holds: bool) -> Cmp {
        if holds { self } else { self.negated() }
    }
}

/// How a GPU approximates a function of `float32`, where that is allowed: instructions are those of PTX that end in
/// `.approx.ftz`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Approx {
    /// An instruction.
    Inst(&'static str),
    /// The quotient of two instructions' results.
    Ratio(&'static str, &'static str),
    /// An instruction on the operand times a number.
    OfProduct(&'static str, f64),
    /// An instruction's result times a number.
    Product(&'static str, f64),
    /// An LLVM intrinsic with flags that allow approximation.
    Intrinsic(&'static str),
    /// The power of the first operand by base-2 logarithm and exponential.
    Power,
}

/// The derivative of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grad {
    /// It is 0 wherever there is one.
    Zero,
    /// There is none, for this reason.
    None(&'static str),
}
