//! The typed function: what `lh-infer` makes, `lh-opt` rewrites and `lh-llvm` lowers.
//!
//! SSA over blocks with parameters. Ownership: a function borrows its parameters; the result of every instruction,
//! and every block parameter, of a counted type is owned by the function; operands are borrowed; `Return` gives its
//! operand away. Until the `refcount` pass has run, counting is implicit; after it, `IncRef` and `DecRef` are explicit
//! and every exceptional way out releases what is owned.

pub use crate::device::{Device, Entry, GANG, Gangs, KernelFacts, waits};
pub use crate::hints::{LatchHint, LoopHint, Pragma};
pub use crate::options::{Derivative, Options, Semantics, fastmath, parallel};
pub use crate::parallel::{Fate, LoopNote, Parallel, Race};
pub use crate::target::Target;

use crate::consts::Const;
use crate::diag::Diagnostic;
use crate::entity::{Block, ExcId, ObjId, Slot, SpecId, Value};
use crate::meaning::Meaning;
use crate::op::Op;
use crate::runtime::RuntimeFn;
use crate::span::Span;
use crate::types::Ty;
use serde::{Deserialize, Serialize};

/// A typed function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Function {
    /// Symbol: unique within a compilation.
    pub name: String,
    /// The user's name for it, for tracebacks.
    pub qualname: String,
    /// Source file, for tracebacks and debug information.
    pub file: String,
    /// First line of the definition.
    pub first_line: u32,
    /// Result type.
    pub ret: Option<Ty>,
    /// Types of values.
    pub values: Vec<Ty>,
    /// Types of stack slots; never counted.
    pub slots: Vec<Ty>,
    /// Blocks; the first is the entry, whose parameters are the function's.
    pub blocks: Vec<BlockData>,
    /// Compile options that reach code generation.
    pub options: Options,
    /// Facts about code for a device.
    pub kernel: KernelFacts,
    /// Bodies of parallel loops, which [`Inst::ParFor`] runs. The last three parameters of each are where to begin,
    /// where to end (before it) and the number of the thread.
    pub bodies: Vec<Function>,
    /// Whether a body has been through all passes.
    pub is_finished: bool,
    /// Remarks about loops that were to run in parallel.
    #[serde(skip)]
    pub notes: Vec<LoopNote>,
    /// Parallel loops that run in order, because their iterations may depend on each other.
    #[serde(skip)]
    pub races: Vec<Race>,
    /// Warnings of passes that have been undone, because they left a function that does not verify.
    #[serde(skip)]
    pub undone: Vec<Diagnostic>,
    /// Names of variables, for messages about parallel loops; only where there may be some.
    pub names: Vec<(Value, String)>,
    /// Whether the function belongs to the library (its frames are not shown in tracebacks; it is inlined eagerly).
    pub is_library: bool,
    /// The meaning that the library declares for it.
    pub meaning: Option<Meaning>,
}

/// A description of code that was not compiled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    /// How it is called.
    pub abi: ForeignAbi,
    /// Arguments whose memory it may write: bit `i` for the `i`th, the last bit for all from there on.
    pub writes: u32,
}

/// How code is called that was not compiled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForeignAbi {
    /// As a C function of numbers and addresses. It raises nothing.
    C,
    /// As an exported function of a module made ahead of time, whose table describes it. May raise.
    Table,
}

impl Foreign {
    /// Whether it may write the memory of its `i`th argument.
    pub fn may_write(self, i: usize) -> bool {
        self.writes >> i.min(31) & 1 != 0
    }
}

/// A loop whose blocks of iterations run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParFor {
    /// Its position in [`Function::bodies`].
    pub body: u32,
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
    /// The handler of exceptions raised in the block (the exception stays pending in the run-time library); `None`: it
    /// leaves the function. The arguments are available at the start of the block.
    pub unwind: Option<Target>,
    /// Hardly ever runs: little compile time is spent on it.
    pub cold: bool,
    /// Begins a loop whose iterations may run in any order.
    pub parallel: Option<Parallel>,
    /// The treatment of the loop that begins here.
    pub hint: LoopHint,
    /// The program's pragma for the loop that begins here.
    pub pragma: Pragma,
    /// The loop that begins here does not poll for Ctrl-C. The code generator runs it in strips and polls between them;
    /// if a poll ends the loop early, `lh_stopped` after the loop raises.
    pub poll_free: bool,
    /// The relation between the iterations of the loop that this block is the latch of.
    pub latch: LatchHint,
}

impl BlockData {
    /// Values that the block defines.
    pub fn defined(&self) -> impl Iterator<Item = Value> {
        self.params.iter().copied().chain(self.insts.iter().filter_map(|d| d.result))
    }
}

/// An instruction with its result and place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InstData {
    /// Result; `None` where there is none or its type flattens to nothing and nobody needs it.
    pub result: Option<Value>,
    /// Operation.
    pub inst: Inst,
    /// Place.
    pub span: Span,
}

/// An operation. Closed: match it without `_`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Inst {
    /// A scalar or string constant of the result's type.
    Const(Const),
    /// A value that is never read (all bits zero), such as that of an empty optional.
    Zero,
    /// A number of this process, of the result's type (an address or `int`), which is put in when the code is loaded.
    #[serde(skip_serializing)]
    Extern(Extern),
    /// A row of the operation table.
    Op(&'static Op, Vec<Value>),
    /// Conversion between number types as C does it (float to int truncates; anything to bool is `!= 0`).
    Cast(Value),
    /// An aggregate (tuple, complex, range, slice, closure, bound method) from its parts in order of flattening.
    Pack(Vec<Value>),
    /// A part of an aggregate: tuple element; complex 0 real, 1 imaginary; range and slice parts; closure captures.
    Field(Value, u32),
    /// An optional that has this value.
    Some(Value),
    /// Whether an optional has a value.
    IsSome(Value),
    /// The value of an optional that has one.
    Unwrap(Value),
    /// A call of a compiled function. May raise.
    Call(SpecId, Vec<Value>),
    /// Runs the body of a parallel loop on blocks of iterations: their number, the iterations of a block, then what the
    /// body takes before its last three parameters. May raise; the place of the exception has been noted.
    ParFor(ParFor, Vec<Value>),
    /// A call of code that was not compiled here: its address, then its arguments.
    Foreign(Foreign, Vec<Value>),
    /// A call of the run-time library.
    Runtime(&'static RuntimeFn, Vec<Value>),
    /// Reads a stack slot.
    SlotGet(Slot),
    /// Writes a stack slot.
    SlotSet(Slot, Value),
    /// An array over memory kept alive by `owner` (a `MemInfo`, takes a new reference).
    ArrayMake { owner: Value, data: Value, shape: Vec<Value>, strides: Vec<Value> },
    /// Owner of an array or a string.
    ArrayOwner(Value),
    /// Address of an array's first element, or of a string's bytes.
    ArrayData(Value),
    /// Extent of a dimension (`int`).
    ArrayShape(Value, u32),
    /// Stride of a dimension in bytes (`int`).
    ArrayStride(Value, u32),
    /// Address of an element; indices are `int64`. `wrap`: negative ones count from the end. `check`: IndexError
    /// when out of range.
    ElemPtr { array: Value, index: Vec<Value>, wrap: bool, check: bool },
    /// Reads a value of the result's type from memory; a counted one gets a new reference.
    Load(Value),
    /// Moves a value out of memory: the memory's reference becomes the result's; the memory is uninitialised
    /// afterwards.
    Take(Value),
    /// Writes to memory: address, value. A counted value gets a new reference; the old value is not released.
    Store(Value, Value),
    /// Address plus a number of bytes.
    PtrAdd(Value, Value),
    /// Makes an instance of the result's class: without items and with a capacity, or with zeroed fields. May raise
    /// MemoryError.
    New(Value),
    /// Number of items of an instance of a class.
    ItemsLen(Value),
    /// Address of the first item of an instance of a class.
    ItemsData(Value),
    /// Address of a field of an instance of a class, by number.
    FieldPtr(Value, u32),
    /// Elementwise computation over broadcast operands; the result is a new C-contiguous array (F if all operands
    /// are). May raise ValueError (shapes) and MemoryError.
    Map(Box<MapExpr>, Vec<Value>),
    /// Elementwise computation stored into an existing array: destination first in the operands, see [`Inst::Map`].
    /// The expression counts operands without it: `Arg(0)` is the second one.
    MapInto(Box<MapExpr>, Vec<Value>),
    /// Takes a reference; made by the `refcount` pass.
    IncRef(Value),
    /// Drops a reference; made by the `refcount` pass.
    DecRef(Value),
}

/// A value that differs from process to process, so that it cannot be part of code that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum Extern {
    /// Address of the first element of a captured array.
    Array(ObjId),
    /// Number of an exception class that is not builtin.
    Class(ExcId),
    /// Address of code that was not compiled here, or of the table that describes it.
    Foreign(ObjId),
    /// Number of a type.
    Type(u32),
    /// A function as a value of a function type, by its object.
    Function(ObjId),
}

impl Extern {
    /// The number of the object, class or type.
    pub fn number(self) -> u32 {
        match self {
            Extern::Array(o) | Extern::Foreign(o) | Extern::Function(o) => o.0,
            Extern::Class(c) => c.0,
            Extern::Type(n) => n,
        }
    }

    /// The same kind of number with another number.
    pub fn numbered(self, n: u32) -> Extern {
        match self {
            Extern::Array(_) => Extern::Array(ObjId(n)),
            Extern::Class(_) => Extern::Class(ExcId(n)),
            Extern::Foreign(_) => Extern::Foreign(ObjId(n)),
            Extern::Type(_) => Extern::Type(n),
            Extern::Function(_) => Extern::Function(ObjId(n)),
        }
    }
}

/// A scalar computation over elements of operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MapExpr {
    /// Element of operand `i` (a scalar operand is itself), of this type.
    Arg(u32, Ty),
    /// A constant.
    Const(Const),
    /// A row.
    Op(&'static Op, Ty, Vec<MapExpr>),
    /// A conversion to the type.
    Cast(Ty, Box<MapExpr>),
    /// A compiled scalar function returning the type.
    Call(SpecId, Ty, Vec<MapExpr>),
}

impl MapExpr {
    /// Its type.
    pub fn ty(&self) -> Ty {
        match self {
            MapExpr::Arg(_, t) | MapExpr::Op(_, t, _) | MapExpr::Cast(t, _) | MapExpr::Call(_, t, _) => *t,
            MapExpr::Const(c) => c.ty(),
        }
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Term {
    /// To another block.
    Jump(Target),
    /// On a `bool`.
    Branch { cond: Value, then: Target, els: Target },
    /// Returns a value.
    Return(Value),
    /// Raises an exception of a registered class with these arguments (numbers, strings, tuples of them).
    Raise { exc: ExcId, args: Vec<Value> },
    /// Goes on with the pending exception (to `unwind`, else to the caller).
    Propagate,
    /// Cannot be reached.
    Unreachable,
}

impl Function {
    /// The function, and the bodies of its parallel loops with those of their own.
    pub fn with_bodies(&self) -> Vec<&Function> {
        let mut out = vec![self];
        out.extend(self.bodies.iter().flat_map(Function::with_bodies));
        out
    }
    /// The instructions of all blocks.
    pub fn insts(&self) -> impl Iterator<Item = &InstData> {
        self.blocks.iter().flat_map(|b| &b.insts)
    }
    /// Type of a value.
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.index()]
    }
    /// A new value.
    pub fn new_value(&mut self, ty: Ty) -> Value {
        self.values.push(ty);
        Value::new(self.values.len() - 1)
    }
    /// A new parameter of a block.
    pub fn new_param(&mut self, block: Block, ty: Ty) -> Value {
        let v = self.new_value(ty);
        self.blocks[block.index()].params.push(v);
        v
    }
    /// A new stack slot.
    pub fn new_slot(&mut self, ty: Ty) -> Slot {
        self.slots.push(ty);
        Slot::new(self.slots.len() - 1)
    }
    /// A new empty block.
    pub fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }
    /// The function's parameters.
    pub fn params(&self) -> &[Value] {
        &self.blocks[0].params
    }
}

impl Inst {
    /// Visits every operand, mutably.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            Inst::Const(_) | Inst::Zero | Inst::Extern(_) | Inst::SlotGet(_) => {}
            Inst::Op(_, vs)
            | Inst::Pack(vs)
            | Inst::Call(_, vs)
            | Inst::ParFor(_, vs)
            | Inst::Foreign(_, vs)
            | Inst::Runtime(_, vs)
            | Inst::Map(_, vs)
            | Inst::MapInto(_, vs) => vs.iter_mut().for_each(f),
            Inst::Cast(v)
            | Inst::Field(v, _)
            | Inst::Some(v)
            | Inst::IsSome(v)
            | Inst::Unwrap(v)
            | Inst::SlotSet(_, v)
            | Inst::ArrayOwner(v)
            | Inst::ArrayData(v)
            | Inst::ArrayShape(v, _)
            | Inst::ArrayStride(v, _)
            | Inst::Load(v)
            | Inst::Take(v)
            | Inst::New(v)
            | Inst::ItemsLen(v)
            | Inst::ItemsData(v)
            | Inst::FieldPtr(v, _)
            | Inst::IncRef(v)
            | Inst::DecRef(v) => f(v),
            Inst::Store(a, b) | Inst::PtrAdd(a, b) => {
                f(a);
                f(b);
            }
            Inst::ElemPtr { array, index, .. } => {
                f(array);
                index.iter_mut().for_each(f);
            }
            Inst::ArrayMake { owner, data, shape, strides } => {
                f(owner);
                f(data);
                shape.iter_mut().chain(strides).for_each(f);
            }
        }
    }
    /// Visits every operand.
    pub fn for_each_operand(&self, mut f: impl FnMut(Value)) {
        // Cloning is cheap beside what callers do, and keeps one list of operands.
        self.clone().for_each_operand_mut(&mut |v| f(*v));
    }
    /// Whether it may raise.
    pub fn can_raise(&self) -> bool {
        match self {
            Inst::Call(..) | Inst::ParFor(..) | Inst::New(_) | Inst::Map(..) | Inst::MapInto(..) => true,
            Inst::Runtime(f, _) => f.raises,
            Inst::Foreign(f, _) => f.abi == ForeignAbi::Table,
            Inst::ElemPtr { check, .. } => *check,
            Inst::Const(_)
            | Inst::Zero
            | Inst::Extern(_)
            | Inst::Op(..)
            | Inst::Cast(_)
            | Inst::Pack(_)
            | Inst::Field(..)
            | Inst::Some(_)
            | Inst::IsSome(_)
            | Inst::Unwrap(_)
            | Inst::SlotGet(_)
            | Inst::SlotSet(..)
            | Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::Load(_)
            | Inst::Take(_)
            | Inst::Store(..)
            | Inst::PtrAdd(..)
            | Inst::ItemsLen(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..)
            | Inst::IncRef(_)
            | Inst::DecRef(_) => false,
        }
    }
    /// Whether it may be removed when its result is unused.
    pub fn is_pure(&self) -> bool {
        match self {
            Inst::Runtime(f, _) => f.pure && !f.raises,
            Inst::Call(..)
            | Inst::ParFor(..)
            | Inst::Foreign(..)
            | Inst::SlotSet(..)
            | Inst::Take(_)
            | Inst::Store(..)
            | Inst::Map(..)
            | Inst::MapInto(..)
            | Inst::IncRef(_)
            | Inst::DecRef(_) => false,
            Inst::ElemPtr { check, .. } => !*check,
            Inst::Const(_)
            | Inst::Zero
            | Inst::Extern(_)
            | Inst::Op(..)
            | Inst::Cast(_)
            | Inst::Pack(_)
            | Inst::Field(..)
            | Inst::Some(_)
            | Inst::IsSome(_)
            | Inst::Unwrap(_)
            | Inst::SlotGet(_)
            | Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::Load(_)
            | Inst::PtrAdd(..)
            | Inst::New(_)
            | Inst::ItemsLen(_)
            | Inst::ItemsData(_)
            | Inst::FieldPtr(..) => true,
        }
    }
}

impl Term {
    /// Visits every operand and target argument, mutably.
    pub fn for_each_operand_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        match self {
            Term::Jump(t) => t.args.iter_mut().for_each(f),
            Term::Branch { cond, then, els } => {
                f(cond);
                then.args.iter_mut().chain(&mut els.args).for_each(f);
            }
            Term::Return(v) => f(v),
            Term::Raise { args, .. } => args.iter_mut().for_each(f),
            Term::Propagate | Term::Unreachable => {}
        }
    }
    /// Blocks that may follow, without the handler.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Term::Jump(t) => vec![t],
            Term::Branch { then, els, .. } => vec![then, els],
            Term::Return(_) | Term::Raise { .. } | Term::Propagate | Term::Unreachable => vec![],
        }
    }
    /// Blocks that may follow, without the handler, mutably.
    pub fn targets_mut(&mut self) -> Vec<&mut Target> {
        match self {
            Term::Jump(t) => vec![t],
            Term::Branch { then, els, .. } => vec![then, els],
            Term::Return(_) | Term::Raise { .. } | Term::Propagate | Term::Unreachable => vec![],
        }
    }
}
