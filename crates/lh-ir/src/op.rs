//! The rows of the operation table, as a type. The rows themselves are in `lh-ops`.

use crate::algebra::{Algebra, Approx, Cmp, Grad};
use crate::consts::Const;
use crate::types::Ty;

/// A primitive operation on numbers: one row describes it to every stage.
pub struct Op {
    /// Name in textual IR, and in the library dialect as `prim.<name>`.
    pub name: &'static str,
    /// One line for the manual.
    pub doc: &'static str,
    /// The Python callables that mean it on numbers: calling one on arrays maps it over the elements.
    pub python: &'static [&'static str],
    /// Operand and result types.
    pub sig: Sig,
    /// Reference semantics, for folding, the tests and the fuzzers. `None`: undefined for these operands.
    pub eval: fn(&[Const]) -> Option<Const>,
    /// Lowering for the CPU.
    pub host: Lower,
    /// Lowering for NVIDIA GPUs; [`Lower::No`] is a diagnostic, never a fallback.
    pub nvptx: Lower,
    /// Its algebraic operation.
    pub algebra: Algebra,
    /// The estimated cost on one core, in picoseconds.
    pub cost: u32,
    /// A GPU's approximation of it, if there is one.
    pub approx: Option<Approx>,
    /// Its derivative.
    pub grad: Grad,
    /// Operands and result, run on every backend.
    pub examples: &'static [(&'static [Const], Const)],
}

impl Op {
    /// Its comparison, if it is one.
    pub fn comparison(&self) -> Option<Cmp> {
        if let Algebra::Cmp(cmp) = self.algebra { Some(cmp) } else { None }
    }
    /// Whether this is its algebraic operation.
    pub fn is(&self, algebra: Algebra) -> bool {
        self.algebra == algebra
    }
    /// Whether some operands stop the process: the machine's division of integers does for a divisor of 0. Such an
    /// operation must not run where the program does not run it.
    pub fn may_trap(&self) -> bool {
        matches!(self.host, Lower::Inst { signed: LlvmInst::SDiv | LlvmInst::SRem, .. })
    }
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
impl PartialEq for Op {
    fn eq(&self, other: &Op) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Sets of number types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `bool`.
    Bool,
    /// Integers.
    Ints,
    /// `bool` and integers.
    BitLike,
    /// `float32`, `float64`.
    Floats,
    /// Integers and floats.
    Reals,
    /// `bool`, integers and floats.
    Ordered,
}

impl Class {
    /// Whether a type belongs to the set.
    pub fn has(self, t: Ty) -> bool {
        match self {
            Class::Bool => t.is_bool(),
            Class::Ints => t.is_int(),
            Class::BitLike => t.is_bool() || t.is_int(),
            Class::Floats => t.is_float(),
            Class::Reals => t.is_int() || t.is_float(),
            Class::Ordered => t.is_bool() || t.is_int() || t.is_float(),
        }
    }
}

/// Typing rule of a primitive, as data.
#[derive(Clone, Copy, Debug)]
pub enum Sig {
    /// `n` operands of one type of the class; the result is of that type.
    Same(usize, Class),
    /// `n` operands of one type of the class; the result is `bool`.
    Pred(usize, Class),
    /// A `bool`, then two of one type; the result is of that type.
    Select(Class),
    /// One operand of the first class; the result's type is given by the instruction and belongs to the second.
    Convert(Class, Class),
    /// Operand and result types spelled out.
    Fixed(&'static [fn() -> Ty], fn() -> Ty),
}

impl Sig {
    /// The result type, or `None` when the operands do not fit. `Convert` answers for its wanted result.
    pub fn result(&self, args: &[Ty], wanted: Option<Ty>) -> Option<Ty> {
        let same = |n: usize, c: Class| args.len() == n && args.iter().all(|t| *t == args[0]) && c.has(args[0]);
        match self {
            Sig::Same(n, c) => same(*n, *c).then(|| args[0]),
            Sig::Pred(n, c) => same(*n, *c).then(Ty::bool),
            Sig::Select(c) => {
                (args.len() == 3 && args[0].is_bool() && args[1] == args[2] && c.has(args[1])).then(|| args[1])
            }
            Sig::Convert(from, to) => wanted.filter(|w| args.len() == 1 && from.has(args[0]) && to.has(*w)),
            Sig::Fixed(want, ret) => {
                (args.len() == want.len() && args.iter().zip(*want).all(|(a, w)| a.strong() == w().strong())).then(ret)
            }
        }
    }
    /// Number of operands.
    pub fn arity(&self) -> usize {
        match self {
            Sig::Same(n, _) | Sig::Pred(n, _) => *n,
            Sig::Select(_) => 3,
            Sig::Convert(..) => 1,
            Sig::Fixed(a, _) => a.len(),
        }
    }
}

/// How a row becomes machine code.
#[derive(Clone, Copy, Debug)]
pub enum Lower {
    /// An LLVM instruction, chosen by signedness and kind of the operands' type.
    Inst { signed: LlvmInst, unsigned: LlvmInst, float: LlvmInst },
    /// An LLVM instruction on floats that may be part of a sum or product made in any order.
    AnyOrder(LlvmInst),
    /// An overloaded LLVM intrinsic, e.g. `llvm.sqrt`, by kind of the type; empty where the operand is the result.
    /// `flag` appends a constant `i1 false` operand (`llvm.abs`, `llvm.ctlz`).
    Intrinsic { signed: &'static str, unsigned: &'static str, float: &'static str, flag: bool },
    /// A function of the vector math library (bitcode): names for `float32` and `float64`.
    Math(&'static str, &'static str),
    /// A C function: names for `float32` and `float64`.
    Symbol(&'static str, &'static str),
    /// `llvm.is.fpclass` with this mask.
    FpClass(u32),
    /// The sign bit of a float, as a truth value.
    SignBit,
    /// Truncation of a `float64` to `int64`, with the least integer for what does not fit, as x86 has it.
    TruncateOrLeast,
    /// The flag of an LLVM intrinsic `llvm.*.with.overflow`, by signedness.
    Overflow { signed: &'static str, unsigned: &'static str },
    /// Not on this target.
    No,
}

/// LLVM instructions that rows can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are LLVM's")]
pub enum LlvmInst {
    Add,
    Sub,
    Mul,
    SDiv,
    UDiv,
    SRem,
    URem,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FNeg,
    Neg,
    Not,
    And,
    Or,
    Xor,
    Shl,
    AShr,
    LShr,
    Select,
    Bitcast,
    IEq,
    INe,
    ISlt,
    ISle,
    ISgt,
    ISge,
    IUlt,
    IUle,
    IUgt,
    IUge,
    FOeq,
    FUne,
    FOlt,
    FOle,
    FOgt,
    FOge,
    FUno,
    /// There is none for this kind of type.
    None,
}
