//! The untyped function: Python's semantics in SSA form, independent of the bytecode version.
//!
//! `lh-frontend` makes it, `lh-infer` reads it. Every instruction is a Python operation on Python values; nothing is
//! known about types. Blocks have parameters instead of phi nodes.

pub use crate::target::Target;

use crate::entity::Value;
use crate::span::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A Python function's code.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Code {
    /// `co_name`.
    pub name: String,
    /// `co_qualname`.
    pub qualname: String,
    /// `co_filename`.
    pub file: String,
    /// `co_firstlineno`.
    pub first_line: u32,
    /// Parameters in the order of Python's calling convention: positional, `*args`, keyword-only, `**kwargs`.
    /// The entry block's parameters are these.
    pub params: Vec<Param>,
    /// How many of `params` are positional-only.
    pub posonly: usize,
    /// `co_freevars`.
    pub freevars: Vec<String>,
    /// Code of inner functions, by [`Inst::MakeFunction`].
    pub inner: Vec<Arc<Code>>,
    /// Blocks; the first is the entry.
    pub blocks: Vec<BlockData>,
    /// Number of values.
    pub value_count: usize,
    /// Name of the local variable that a value was assigned to first, for messages; by value.
    pub value_names: Vec<Option<Arc<str>>>,
    /// Whether it contains `yield`.
    pub is_generator: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: ParamKind,
}

/// Kinds of parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamKind {
    /// Positional (or keyword, unless among the positional-only).
    Positional,
    /// `*args`.
    VarArgs,
    /// After `*`.
    KeywordOnly,
    /// `**kwargs`.
    VarKeywords,
}

/// A basic block.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BlockData {
    /// Parameters.
    pub params: Vec<Value>,
    /// Instructions.
    pub insts: Vec<InstData>,
    /// Terminator; `None` only while the function is being built.
    pub term: Option<Term>,
    /// Place of the terminator.
    pub term_span: Span,
    /// Where an exception raised by any instruction or by the terminator goes; `None`: to the caller.
    /// The arguments are values available at the start of the block (a store to a local inside `try` ends a block).
    pub unwind: Option<Target>,
}

/// An instruction with its result and place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstData {
    /// Result, if the operation has one.
    pub result: Option<Value>,
    /// Operation.
    pub inst: Inst,
    /// Place.
    pub span: Span,
}

/// A constant of the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PyConst {
    /// `None`.
    None,
    /// `True`, `False`.
    Bool(bool),
    /// An integer that fits.
    Int(i128),
    /// An integer beyond 128 bits: its decimal text, shortened for messages.
    BigInt(String),
    /// A float.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// A string.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// `...`
    Ellipsis,
    /// A tuple (`frozenset` too: `in {...}`).
    Tuple(Vec<PyConst>),
    /// A slice (3.14).
    Slice(Box<[PyConst; 3]>),
    /// The state of a variable before its first assignment or after `del`.
    Unbound,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnOp {
    /// `-x`
    Neg,
    /// `+x`
    Pos,
    /// `~x`
    Invert,
    /// `not x`
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    TrueDiv,
    /// `//`
    FloorDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
    /// `@`
    MatMul,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    LShift,
    /// `>>`
    RShift,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CmpOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl BinOp {
    /// All of them.
    pub const ALL: [BinOp; 13] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::TrueDiv,
        BinOp::FloorDiv,
        BinOp::Mod,
        BinOp::Pow,
        BinOp::MatMul,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::LShift,
        BinOp::RShift,
    ];
}

impl CmpOp {
    /// All of them.
    pub const ALL: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
}

/// A Python operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Inst {
    /// A constant.
    Const(PyConst),
    /// A global, else a builtin, by name.
    Global(String),
    /// A captured variable, by index into `freevars`.
    Free(u32),
    /// `import name`; `from name import attr` when `attr` is given.
    Import { name: String, attr: Option<String> },
    /// Reading local `name`, which may be unassigned: the same value, or UnboundLocalError.
    CheckBound { value: Value, name: String },
    /// Unary operator.
    Unary(UnOp, Value),
    /// Binary operator; `inplace` for augmented assignment.
    Binary { op: BinOp, a: Value, b: Value, inplace: bool },
    /// Comparison.
    Compare(CmpOp, Value, Value),
    /// `a is b`, `a is not b`.
    Is { a: Value, b: Value, negate: bool },
    /// `item in container`.
    Contains { item: Value, container: Value, negate: bool },
    /// `v.name`
    GetAttr(Value, String),
    /// `v.name = x`
    SetAttr(Value, String, Value),
    /// `v[k]`
    GetItem(Value, Value),
    /// `v[k] = x`
    SetItem(Value, Value, Value),
    /// `del v[k]`
    DelItem(Value, Value),
    /// `(a, b)`
    Tuple(Vec<Value>),
    /// `[a, b]`
    List(Vec<Value>),
    /// `{a, b}`
    Set(Vec<Value>),
    /// `{k: v}`
    Dict(Vec<(Value, Value)>),
    /// `a:b:c`; a missing part is the constant `None`.
    Slice([Value; 3]),
    /// Comprehension's append; no result.
    ListAppend(Value, Value),
    /// `[*a]`: appends all items of the second; no result.
    ListExtend(Value, Value),
    /// Set comprehension's add; no result.
    SetAdd(Value, Value),
    /// Dict comprehension's store: map, key, value; no result.
    MapAdd(Value, Value, Value),
    /// `(*a,)`: a list's items as a tuple.
    ListToTuple(Value),
    /// One replacement field of an f-string; `conversion` is `s`, `r`, `a` or none.
    Format { value: Value, conversion: Option<char>, spec: Option<Value> },
    /// Joined parts of an f-string.
    ConcatStr(Vec<Value>),
    /// `f(a, b, k=c)`
    Call { func: Value, args: Vec<Value>, kwargs: Vec<(String, Value)> },
    /// `f(*args, **kwargs)`
    CallStar { func: Value, args: Value, kwargs: Option<Value> },
    /// A function object; `defaults` is a tuple value, `kwdefaults` names and values, `captures` fill its `freevars`.
    MakeFunction { code: u32, defaults: Option<Value>, kwdefaults: Vec<(String, Value)>, captures: Vec<Value> },
    /// `iter(v)`
    Iter(Value),
    /// Items of a sequence of exactly `before` (+ a starred list + `after`) items; read by [`Inst::UnpackItem`].
    Unpack { seq: Value, before: u32, after: Option<u32> },
    /// Item of an [`Inst::Unpack`].
    UnpackItem(Value, u32),
    /// First instruction of a handler: takes the exception being raised.
    CatchExc,
    /// Whether the exception (first) is an instance of the class or tuple of classes (second).
    ExcMatch(Value, Value),
    /// The first exception was raised while the second was handled; no result.
    Chain(Value, Value),
    /// The handler of this exception has ended normally; no result.
    EndCatch(Value),
    /// A `yield`: its value; the result is what is sent.
    Yield(Value),
    /// A `yield from`: an iterable; the result is what it returns.
    YieldFrom(Value),
    /// A new cell: a variable that functions share, by name.
    Cell(String),
    /// The value of a cell, which may be unassigned.
    CellGet { cell: Value, name: String },
    /// Assigns to a cell; no result.
    CellSet(Value, Value),
    /// `del` of a cell's variable; no result.
    CellDelete { cell: Value, name: String },
    /// The function of the enclosing function with this index, which captures what this one does; `defaults` and
    /// `kwdefaults` as of [`Inst::MakeFunction`].
    Sibling { code: u32, defaults: Option<Value>, kwdefaults: Vec<(String, Value)> },
    /// `case class(sub, ..., name=sub, ...)`: the attributes that are matched, as a tuple, or `None`. `count` are given
    /// by position.
    MatchClass { subject: Value, class: Value, count: u32, names: Vec<String> },
    /// `case {key: ...}`: the values of keys (a tuple), as a tuple, or `None`.
    MatchKeys { subject: Value, keys: Value },
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Term {
    /// To another block.
    Jump(Target),
    /// On the truth of a Python value.
    Branch { cond: Value, then: Target, els: Target },
    /// Next item of an iterator: `body`'s first parameter is the item, `args` fill the others.
    ForIter { iter: Value, body: Target, done: Target },
    /// Returns a value.
    Return(Value),
    /// `raise exc from cause`.
    Raise { exc: Value, cause: Option<Value> },
    /// `raise` without an operand, or the end of a `finally`: goes on with this exception.
    Reraise(Value),
    /// Cannot be reached.
    Unreachable,
}

/// Calls `$f` with a reference to every operand of an instruction, by `iter` or `iter_mut`.
macro_rules! operands {
    ($inst:expr, $f:ident, $iter:ident) => {
        match $inst {
            Inst::Const(_) | Inst::Global(_) | Inst::Free(_) | Inst::Import { .. } | Inst::Cell(_) | Inst::CatchExc => {
            }
            Inst::CheckBound { value: a, .. }
            | Inst::Unary(_, a)
            | Inst::GetAttr(a, _)
            | Inst::ListToTuple(a)
            | Inst::Iter(a)
            | Inst::Unpack { seq: a, .. }
            | Inst::UnpackItem(a, _)
            | Inst::EndCatch(a)
            | Inst::Yield(a)
            | Inst::CellGet { cell: a, .. }
            | Inst::CellDelete { cell: a, .. }
            | Inst::YieldFrom(a) => $f(a),
            Inst::Binary { a, b, .. }
            | Inst::Compare(_, a, b)
            | Inst::Is { a, b, .. }
            | Inst::Contains { item: a, container: b, .. }
            | Inst::SetAttr(a, _, b)
            | Inst::GetItem(a, b)
            | Inst::DelItem(a, b)
            | Inst::ListAppend(a, b)
            | Inst::ListExtend(a, b)
            | Inst::SetAdd(a, b)
            | Inst::CellSet(a, b)
            | Inst::MatchClass { subject: a, class: b, .. }
            | Inst::MatchKeys { subject: a, keys: b }
            | Inst::Chain(a, b)
            | Inst::ExcMatch(a, b) => {
                $f(a);
                $f(b);
            }
            Inst::SetItem(a, b, c) | Inst::MapAdd(a, b, c) => {
                $f(a);
                $f(b);
                $f(c);
            }
            Inst::Tuple(vs) | Inst::List(vs) | Inst::Set(vs) | Inst::ConcatStr(vs) => vs.$iter().for_each($f),
            Inst::Dict(kvs) => {
                for (k, v) in kvs {
                    $f(k);
                    $f(v);
                }
            }
            Inst::Slice(parts) => parts.$iter().for_each($f),
            Inst::Format { value, spec, .. } => {
                $f(value);
                spec.$iter().for_each($f);
            }
            Inst::Call { func, args, kwargs } => {
                $f(func);
                args.$iter().for_each(&mut $f);
                kwargs.$iter().for_each(|(_, v)| $f(v));
            }
            Inst::CallStar { func, args, kwargs } => {
                $f(func);
                $f(args);
                kwargs.$iter().for_each($f);
            }
            Inst::Sibling { defaults, kwdefaults, .. } => {
                defaults.$iter().for_each(&mut $f);
                kwdefaults.$iter().for_each(|(_, v)| $f(v));
            }
            Inst::MakeFunction { defaults, kwdefaults, captures, .. } => {
                defaults.$iter().for_each(&mut $f);
                kwdefaults.$iter().for_each(|(_, v)| $f(v));
                captures.$iter().for_each($f);
            }
        }
    };
}

impl Inst {
    /// Visits every operand.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        let mut f = |v: &Value| f(*v);
        operands!(self, f, iter);
    }
    /// Visits every operand, which may be replaced.
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        operands!(self, f, iter_mut);
    }
}

impl Term {
    /// Blocks that may follow, without the handler.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Term::Jump(t) => vec![t],
            Term::Branch { then, els, .. } => vec![then, els],
            Term::ForIter { body, done, .. } => vec![body, done],
            Term::Return(_) | Term::Raise { .. } | Term::Reraise(_) | Term::Unreachable => vec![],
        }
    }
}
