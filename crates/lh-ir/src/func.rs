//! The typed function: what `lh-infer` makes, `lh-opt` rewrites and `lh-llvm` lowers.
//!
//! SSA over blocks with parameters. Ownership: a function borrows its parameters; the result of every instruction,
//! and every block parameter, of a counted type is owned by the function; operands are borrowed; `Return` gives its
//! operand away. Until the `refcount` pass has run, counting is implicit; after it, `IncRef` and `DecRef` are explicit
//! and every exceptional way out releases what is owned.

use crate::consts::Const;
use crate::entity::{Block, ExcId, ObjId, Slot, SpecId, Value};
use crate::op::{Op, RuntimeFn};
use crate::span::Span;
use crate::types::Ty;
use serde::{Deserialize, Serialize};

/// A typed function.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Function {
    /// Symbol: unique within a compilation.
    pub name: String,
    /// What the user calls it, for tracebacks.
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
    /// How its threads wait for each other, callees included; see [`waits`].
    pub waits: u8,
    /// The same of each callee, in code for a CUDA device.
    pub callee_waits: Vec<(SpecId, u8)>,
    /// Memory that it needs beside its stack for each thread of a block, bytes, if it is a kernel on the CPU device.
    pub scratch: usize,
    /// What one of its threads costs, if it is a kernel: picoseconds, roughly; 0 if it may be long.
    pub thread_cost: u32,
    /// Whether it makes nothing that is counted, so that references need not be: arrays are its caller's.
    pub uncounted: bool,
    /// What it runs for at a time, if it is a kernel on the CPU device.
    pub gangs: Gangs,
    /// How it is entered, if it is a kernel on the CPU device.
    pub entry: Entry,
    /// Bodies of parallel loops, which [`Inst::ParFor`] runs. The last three parameters of each are where to begin, where to
    /// end (before it) and the number of the thread.
    pub bodies: Vec<Function>,
    /// Whether a body has been through all passes.
    pub is_finished: bool,
    /// What became of loops that were to run in parallel.
    #[serde(skip)]
    pub notes: Vec<LoopNote>,
    /// Names of variables, for messages about parallel loops; only where there may be some.
    pub names: Vec<(Value, String)>,
    /// Whether the function belongs to the library (its frames are not shown in tracebacks; it is inlined eagerly).
    pub is_library: bool,
}

/// What became of a loop that was to run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopNote {
    /// Where it stands.
    pub span: Span,
    /// Who says that it is parallel.
    pub what: Parallel,
    /// What became of it.
    pub fate: Fate,
}

/// How a loop runs that was to run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// On the pool.
    Pool {
        /// Variables whose values blocks of iterations combine.
        variables: usize,
        /// Arrays of which blocks have copies that are combined.
        arrays: usize,
        /// Iterations may meet: the program says that they do not.
        trusted: bool,
        /// In order where indices there count from the end, or the loop's index is multiplied by 0.
        ordered: Option<Span>,
    },
    /// On the thread that runs the loop around it, which stands there.
    Inside(Span),
    /// On the pool where the loop around it, which stands there, has fewer iterations than that; else on its thread.
    Nested(Span, i64),
    /// On one thread, for this reason.
    Serial(&'static str),
}

/// Options of `@njit` that change code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    /// LLVM fast-math flags, see [`fastmath`].
    pub fastmath: u8,
    /// Index checks.
    pub boundscheck: bool,
    /// Division by zero gives IEEE results (`error_model="numpy"`).
    pub numpy_errors: bool,
    /// Integer overflow raises (`overflow="check"`).
    pub overflow_check: bool,
    /// Source lines and no optimisation (`debug=True`).
    pub debug: bool,
    /// Whether it is code for a CUDA device.
    pub device: Device,
    /// What runs in parallel, see [`parallel`]; 0: nothing.
    pub parallel: u16,
    /// What the kernel is linked with, by a number of the host's; 0: nothing.
    pub link: u32,
    /// Whether C code calls it, too.
    pub callback: bool,
    /// The GPU that a kernel is compiled for, to be launched there.
    pub gpu: Option<GpuTarget>,
}

/// What a kernel for a GPU is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GpuTarget {
    /// Compute capability.
    pub capability: (u32, u32),
    /// The newest PTX that the driver reads, times ten.
    pub isa: u32,
    /// Version of the driver, which makes machine code of it.
    pub driver: i32,
    /// Threads of a block, at most; blocks of a multiprocessor, at least; registers of a thread and blocks of a cluster, at most.
    pub limits: (Option<u32>, Option<u32>, Option<u32>, Option<u32>),
    /// Whether it has line numbers.
    pub lines: bool,
}

/// What a function is on a CUDA device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Device {
    /// It is not for one.
    #[default]
    Host,
    /// A function that kernels call.
    Function,
    /// A kernel.
    Kernel,
    /// A kernel, or a function that kernels call, for a GPU.
    Gpu,
}

/// How the threads of a block, of a warp or of a grid wait for each other in a function: bits of [`Function::waits`].
pub mod waits {
    /// For all threads of the block.
    pub const BLOCK: u8 = 1;
    /// For threads of the warp.
    pub const WARP: u8 = 2;
    /// For all threads of the grid.
    pub const GRID: u8 = 4;
    /// One of these waits is in a callee.
    pub const IN_CALLEE: u8 = 8;
    /// Not a wait: results may differ between threads that pass the same arguments.
    pub const VARIES: u8 = 16;
    /// Not a wait: it reads or writes memory, or does something else that can be seen.
    pub const EFFECTS: u8 = 32;
    /// Any of these: not known yet.
    pub const ALL: u8 = 63;
}

/// How a kernel is entered on the CPU device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry {
    /// Not a kernel.
    #[default]
    Plain,
    /// Once for each range of blocks: it loops over blocks and threads.
    Blocks,
    /// Once for each thread, which has a stack of its own.
    Thread,
}

/// What a call of a kernel, or a round of its loop, is for on the CPU device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gangs {
    /// One thread.
    #[default]
    None,
    /// Up to 32 threads that are neighbours along the first axis.
    Rows,
    /// A warp.
    Warps,
}

/// Threads of a gang.
pub const GANG: i64 = 32;

impl Gangs {
    /// How many there are in a block.
    pub fn count(self, [x, y, z]: [i64; 3]) -> i64 {
        match self {
            Gangs::None => x * y * z,
            Gangs::Rows => (x + GANG - 1) / GANG * y * z,
            Gangs::Warps => (x * y * z + GANG - 1) / GANG,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            fastmath: 0,
            boundscheck: true,
            numpy_errors: false,
            overflow_check: false,
            debug: false,
            device: Device::Host,
            parallel: 0,
            link: 0,
            callback: false,
            gpu: None,
        }
    }
}

/// Bits of [`Options::fastmath`], LLVM's flags.
pub mod fastmath {
    /// No NaN.
    pub const NNAN: u8 = 1;
    /// No infinities.
    pub const NINF: u8 = 2;
    /// Signs of zeros do not matter.
    pub const NSZ: u8 = 4;
    /// Reciprocals for divisions.
    pub const ARCP: u8 = 8;
    /// Contraction (FMA).
    pub const CONTRACT: u8 = 16;
    /// Approximate functions.
    pub const AFN: u8 = 32;
    /// Reassociation.
    pub const REASSOC: u8 = 64;
    /// All.
    pub const FAST: u8 = 127;
}

/// Bits of [`Options::parallel`].
pub mod parallel {
    /// Loops over `prange` and `pndindex`.
    pub const PRANGE: u16 = 1;
    /// Elementwise computations that make or fill arrays.
    pub const SETITEM: u16 = 2;
    /// Reductions of the library.
    pub const REDUCTION: u16 = 4;
    /// Other functions of the library.
    pub const NUMPY: u16 = 8;
    /// Stencils.
    pub const STENCIL: u16 = 16;
    /// Merging of elementwise computations.
    pub const FUSION: u16 = 32;
    /// Array comprehensions.
    pub const COMPREHENSION: u16 = 64;
    /// Augmented assignments of arrays.
    pub const INPLACE: u16 = 128;
    /// Loops are taken for independent even where that cannot be shown.
    pub const UNSAFE: u16 = 256;
    /// Accesses to memory say so at run time, which finds iterations that meet.
    pub const RACE: u16 = 512;
    /// What `parallel=True` means.
    pub const ALL: u16 = 255;
}

/// Why the iterations of a loop may run in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Parallel {
    /// The program says so.
    Asked,
    /// The compiler made the loop, and knows.
    Known,
}

/// What is known of code that was not compiled here.
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
    /// Which of [`Function::bodies`].
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
    /// Where an exception raised in the block goes (the exception stays pending in the run-time library); `None`: it
    /// leaves the function. The arguments are available at the start of the block.
    pub unwind: Option<Target>,
    /// Hardly ever runs: what is there is not worth compile time.
    pub cold: bool,
    /// Begins a loop whose iterations may run in any order.
    pub parallel: Option<Parallel>,
    /// The loop that begins here does several iterations of the loop around it at a time: it is not to be vectorised.
    pub jammed: bool,
    /// Of such a loop: its iterations are next to each other, and to be the places of vectors. Of any other: it ends soon, and what
    /// stands in it side by side is to be the places of vectors.
    pub abreast: bool,
    /// Iterations of the loop that begins here are to be put in a row, though one of them may raise.
    pub unrolled: bool,
    /// Rounds of the loop that begins here do not ask for Ctrl-C; the code generator may end it early if that was pressed, and where it
    /// ends, `lh_stopped` asks whether that happened.
    pub strips: bool,
    /// Ends a round of a loop whose rounds neither read nor write what others write: threads that do not wait for each other.
    pub threads: bool,
    /// Ends a round of a loop over the lanes of a gang that is to be made of vectors with a place for each of them; or begins a
    /// loop of the whole gang, whose rounds are to be put in a row if they are few.
    pub lanes: bool,
}

impl BlockData {
    /// Values that the block defines.
    pub fn defined(&self) -> impl Iterator<Item = Value> {
        self.params.iter().copied().chain(self.insts.iter().filter_map(|d| d.result))
    }
}

/// A block with arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Where to.
    pub block: Block,
    /// Arguments.
    pub args: Vec<Value>,
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
    /// A value that is never looked at (all bits zero): the inside of an empty optional.
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
    /// Runs the body of a parallel loop on blocks of iterations: their number, the iterations of a block, then what the body
    /// takes before its last three parameters. May raise; the place of the exception has been noted.
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
    /// Moves a value out of memory: the memory's reference becomes the result's, what is left there is meaningless.
    Take(Value),
    /// Writes to memory: address, value. A counted one gets a new reference; what was there is not released.
    Store(Value, Value),
    /// Address plus a number of bytes.
    PtrAdd(Value, Value),
    /// A new empty list of the result's type with room for this many items. May raise MemoryError.
    ListNew(Value),
    /// Number of items.
    ListLen(Value),
    /// Address of the first item.
    ListData(Value),
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

/// What differs from process to process, so that it cannot be part of code which is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub enum Extern {
    /// Address of the first element of a captured array.
    Array(ObjId),
    /// Number of an exception class that is not builtin.
    Class(ExcId),
    /// Address of code that was not compiled here, or of the table that describes it.
    Foreign(ObjId),
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
            | Inst::ListNew(v)
            | Inst::ListLen(v)
            | Inst::ListData(v)
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
            Inst::Call(..) | Inst::ParFor(..) | Inst::ListNew(_) | Inst::Map(..) | Inst::MapInto(..) => true,
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
            | Inst::ListLen(_)
            | Inst::ListData(_)
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
            | Inst::ListNew(_)
            | Inst::ListLen(_)
            | Inst::ListData(_) => true,
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
