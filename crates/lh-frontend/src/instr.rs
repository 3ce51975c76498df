//! The version-neutral instruction: a stack machine to which every supported bytecode is normalised.
//!
//! Differences between versions end at the decoders: a method call is `Attr` and `Null`, all calls are [`Instr::Call`]
//! on `callable, self-or-null` in either order, jumps name instructions instead of byte offsets, variables are numbered
//! through locals and cells alike, and an exhausted `for` has its iterator popped already.

use crate::raw::{RawCode, RawConst};
use lh_ir::Span;
use lh_ir::diag::Id;
use lh_ir::untyped::{BinOp, CmpOp, UnOp};

/// A decoded code object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program<'a> {
    /// Instructions.
    pub(crate) ops: Vec<Op<'a>>,
    /// Protected regions: sorted, without overlaps, as ranges of `ops`.
    pub(crate) regions: Vec<Region>,
    /// Variables: locals and cells.
    pub(crate) vars: Vec<Var<'a>>,
}

/// A variable of the function.
#[derive(Clone, Debug)]
pub(crate) struct Var<'a> {
    /// Name.
    pub(crate) name: &'a str,
    /// Whether inner functions capture it.
    pub(crate) is_cell: bool,
}

/// A decoded instruction and its place.
#[derive(Clone, Debug)]
pub(crate) struct Op<'a> {
    /// What.
    pub(crate) instr: Instr<'a>,
    /// Where.
    pub(crate) span: Span,
}

/// A row of the exception table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// First instruction.
    pub(crate) start: u32,
    /// After the last.
    pub(crate) end: u32,
    /// The handler.
    pub(crate) target: u32,
    /// Depth of the stack which the handler finds.
    pub(crate) depth: u32,
    /// Whether the place of the exception is pushed before the exception.
    pub(crate) lasti: bool,
}

/// Why an instruction cannot be translated; reported only if it can be reached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    /// Kind of diagnostic.
    pub(crate) id: Id,
    /// Its headline.
    pub(crate) text: String,
    /// Advice; may be empty.
    pub(crate) note: &'static str,
}

/// A normalised instruction. Stack effects are written `before -> after`, the top last.
#[derive(Clone, Debug)]
pub(crate) enum Instr<'a> {
    /// Nothing.
    Nop,
    /// `-> constant`
    Const(&'a RawConst),
    /// `-> integer`
    Int(i64),
    /// `-> NULL`
    Null,
    /// `-> junk`: something that is only popped again.
    Junk,
    /// `x ->`
    Pop,
    /// `.. x .. -> .. x .. x`: the n-th from the top, from 1.
    Copy(u32),
    /// Swaps the top with the n-th from the top, from 1.
    Swap(u32),
    /// `-> x`, of a variable; checked for being bound.
    Load(u32),
    /// `-> x`, of a variable; unchecked (a cell on its way to a closure).
    LoadRaw(u32),
    /// `-> x`, of a variable that becomes unbound; unchecked.
    LoadClear(u32),
    /// `x ->`
    Store(u32),
    /// `x ->`, to a variable that has no cell, or has its cell on the stack: a comprehension puts it back.
    StoreRaw(u32),
    /// Gives a captured variable a new cell.
    MakeCell(u32),
    /// `->`
    Delete(u32),
    /// `-> x`, of the n-th captured variable.
    LoadFree(u32),
    /// The same, on its way to a closure.
    LoadFreeRaw(u32),
    /// `x ->`, to the n-th captured variable.
    StoreFree(u32),
    /// `->`, of the n-th captured variable.
    DeleteFree(u32),
    /// `-> x`, of a global or builtin.
    Global(&'a str),
    /// `level fromlist -> module`
    Import(&'a str),
    /// `module -> module x`
    ImportFrom(&'a str),
    /// `x -> y`
    Unary(UnOp),
    /// `a b -> c`
    Binary(BinOp, bool),
    /// `a b -> c`
    Compare(CmpOp),
    /// `a b -> c`; negated if set.
    Is(bool),
    /// `item container -> c`; negated if set.
    Contains(bool),
    /// `x -> x.name`
    Attr(&'a str),
    /// `value x ->`: `x.name = value`.
    StoreAttr(&'a str),
    /// `x k -> x[k]`
    Item,
    /// `value x k ->`
    StoreItem,
    /// `x k ->`
    DeleteItem,
    /// `x a b -> x[a:b]`
    LoadSlice,
    /// `value x a b ->`
    StoreSlice,
    /// `n values -> tuple`
    Tuple(u32),
    /// `n values -> list`
    List(u32),
    /// `n values -> set`
    Set(u32),
    /// `n pairs -> dict`
    Map(u32),
    /// `n values, tuple of names -> dict`
    ConstKeyMap(u32),
    /// `2 or 3 values -> slice`
    Slice(u32),
    /// `n strings -> string`
    Concat(u32),
    /// `x ->`: appends to the list n-th from the top afterwards.
    ListAppend(u32),
    /// `xs ->`
    ListExtend(u32),
    /// `x ->`
    SetAdd(u32),
    /// `xs ->`
    SetUpdate(u32),
    /// `k v ->`
    MapAdd(u32),
    /// `map ->`
    MapUpdate(u32),
    /// `list -> tuple`
    ListToTuple,
    /// `x -> str`, by `s`, `r` or `a`: part of an f-string.
    Convert(char),
    /// `x [spec] -> str`
    Format { conversion: Option<char>, spec: bool },
    /// `callable self-or-null n values -> result`; the last arguments are keywords with these names.
    Call { argc: u32, names: Option<&'a RawConst> },
    /// The same with the tuple of names on the stack.
    CallKw(u32),
    /// `callable self-or-null args [kwargs] -> result`; with `maybe_null` kwargs may be NULL.
    CallStar { kwargs: bool },
    /// `[defaults] [kwdefaults] [annotations] [closure] code -> function`, by flags.
    MakeFunction(u32),
    /// `attribute function -> function`
    SetFunctionAttr(u32),
    /// `x -> iterator`
    Iter,
    /// `it -> it item`, or `it ->` and a jump.
    ForIter(u32),
    /// `xs -> n items`, the first on top.
    Unpack(u32),
    /// `xs -> items`, around a starred one.
    UnpackEx(u32, u32),
    /// A jump.
    Jump(u32),
    /// `x ->`, and a jump if its truth is this.
    JumpIf(bool, u32),
    /// `x ->`, and a jump if that it is `None` is this.
    JumpIfNone(bool, u32),
    /// `x -> x` and a jump if its truth is this, else `x ->`.
    JumpIfOrPop(bool, u32),
    /// `x ->`
    Return,
    /// `[exception [cause]] ->`
    Raise(u32),
    /// `exception ->`
    Reraise,
    /// `exc -> handled exc`
    PushExcInfo,
    /// `handled ->`
    PopExcept,
    /// `exc class -> exc bool`
    ExcMatch,
    /// `manager -> exit entered`
    BeforeWith,
    /// `.. -> .. suppress`: the exit function stands n-th from the top.
    WithExceptStart(u32),
    /// `x -> sent`
    Yield,
    /// `x None -> returned`
    YieldFrom,
    /// `x class names -> attributes or None`; so many are given by position.
    MatchClass(u32),
    /// `x -> x bool`
    MatchMapping,
    /// `x keys -> x keys values or None`
    MatchKeys,
    /// `x -> x len(x)`
    GetLen,
    /// `x -> x bool`
    MatchSequence,
    /// An instruction that cannot be translated.
    Unsupported(Box<Problem>),
}

impl<'a> Instr<'a> {
    /// The instruction's jump target.
    pub(crate) fn target_mut(&mut self) -> Option<&mut u32> {
        match self {
            Instr::ForIter(t)
            | Instr::Jump(t)
            | Instr::JumpIf(_, t)
            | Instr::JumpIfNone(_, t)
            | Instr::JumpIfOrPop(_, t) => Some(t),
            _ => None,
        }
    }
    /// The instruction's jump target.
    pub(crate) fn target(&self) -> Option<u32> {
        match self {
            Instr::ForIter(t)
            | Instr::Jump(t)
            | Instr::JumpIf(_, t)
            | Instr::JumpIfNone(_, t)
            | Instr::JumpIfOrPop(_, t) => Some(*t),
            _ => None,
        }
    }
    /// The variable it reads or writes.
    pub(crate) fn var_mut(&mut self) -> Option<&mut u32> {
        match self {
            Instr::Load(v)
            | Instr::LoadRaw(v)
            | Instr::LoadClear(v)
            | Instr::Store(v)
            | Instr::StoreRaw(v)
            | Instr::MakeCell(v)
            | Instr::Delete(v) => Some(v),
            _ => None,
        }
    }
    /// Whether the next instruction is not reached from this one.
    pub(crate) fn ends_flow(&self) -> bool {
        matches!(self, Instr::Jump(_) | Instr::Return | Instr::Raise(_) | Instr::Reraise | Instr::Unsupported(_))
    }
    /// Whether it changes what a handler may see: a variable, or the exception that is being handled.
    pub(crate) fn is_store(&self) -> bool {
        matches!(
            self,
            Instr::Store(_)
                | Instr::StoreRaw(_)
                | Instr::MakeCell(_)
                | Instr::Delete(_)
                | Instr::LoadClear(_)
                | Instr::PushExcInfo
        )
    }
    /// The code that a constant holds.
    pub(crate) fn code(&self) -> Option<&'a RawCode> {
        match self {
            Instr::Const(RawConst::Code(code)) => Some(code),
            _ => None,
        }
    }
}
