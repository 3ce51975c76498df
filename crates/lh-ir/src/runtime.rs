//! The rows of the table of run-time functions, as a type. The rows themselves are in `lh_ops::runtime`.
//!
//! Passes and the code generator query a row's columns, never its name: names are symbols for the linker, for textual
//! IR and for the library's `prim`.

use crate::types::Prim;

/// A function of the run-time library. `lh-runtime` supplies the addresses.
///
/// C signature: the arguments' primitives in order (`I1` as `u8`), then, if there is a result and (`raises` or the
/// result has several primitives), a pointer to where the result's primitives are stored as a C struct. Returns `i32`
/// status when `raises` (0: fine, 1: an exception is pending), else the single result primitive or nothing.
#[derive(Debug)]
pub struct RuntimeFn {
    /// Exported symbol.
    pub name: &'static str,
    /// A description of one line.
    pub doc: &'static str,
    /// Argument primitives.
    pub args: &'static [Prim],
    /// Result primitives.
    pub ret: &'static [Prim],
    /// Whether it can raise.
    pub raises: bool,
    /// Whether it has no effect but its result.
    pub pure: bool,
    /// Its meaning to passes and to the code generator.
    pub role: Role,
    /// Its effect on memory of the program.
    pub memory: Effect,
    /// Whether the code generator always emits it inline: then `lh-runtime` has no code for it.
    pub inlined: bool,
    /// Whether GPUs have it.
    pub gpu: bool,
    /// How threads of a kernel wait in it: bits of [`crate::func::waits`].
    pub waits: u8,
    /// Whether its result is the same for all threads of a block if its operands are.
    pub uniform: bool,
    /// The least and the greatest result, where these are known.
    pub limits: Option<(i64, i64)>,
}

impl PartialEq for RuntimeFn {
    fn eq(&self, other: &RuntimeFn) -> bool {
        std::ptr::eq(self, other)
    }
}

/// The effect of a run-time function on memory of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Unknown: it may write any memory.
    Unknown,
    /// It reads the memory that its operands address. Bits select operands by the place of their first primitive.
    Operands {
        /// Operands whose memory it writes.
        writes: u16,
        /// Lists whose length or storage it changes.
        resizes: u16,
    },
}

impl Effect {
    /// Writes no memory.
    const READS: Effect = Effect::Operands { writes: 0, resizes: 0 };
}

/// The meaning of a run-time function. Match it without `_`, so that a new role is a compile error wherever it would be
/// wrong to overlook it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A function that the other columns describe sufficiently.
    Plain,
    /// Reads a part of a launch's geometry, from the context unless it is the thread's index.
    Geometry(Geometry, Axis),
    /// Reads or updates the state of a kernel's call for a range of blocks, on the CPU device.
    Launch(Launch),
    /// A barrier.
    Barrier(Barrier),
    /// An operation of a warp.
    Warp(Warp),
    /// An operation on arrays with an element for each lane.
    Lanes(Lanes),
    /// An atomic operation on a primitive: address and operands. Returns the previous value.
    Atomic(Rmw, Prim),
    /// Allocation, copies, fences and cached accesses of memory.
    Memory(Memory),
    /// A conversion between addresses and integers.
    Address(Address),
    /// An operation on the items of an object.
    Items(Items),
    /// Whether two references are to the same object.
    IsSame,
    /// An operation on strings.
    Text(Text),
    /// Printing.
    Print(Print),
    /// Draws a number of a random stream.
    Random(Random),
    /// An operation of handlers on an exception.
    Exception(Exception),
    /// Raises IndexError unless an index is within the extent.
    CheckIndex,
    /// Builds the error of shapes that cannot be broadcast together.
    Shapes(Shapes),
    /// Reading of an array in parts.
    Parts(Parts),
    /// Polls for Ctrl-C.
    Poll(Poll),
    /// A report to the race checker.
    Race(Race),
    /// A query about the threads of parallel loops.
    Threads(Threads),
    /// A pragma for the innermost loop around the call or, outside of loops, for the function's elementwise
    /// computations: numbers as in [`crate::func::Pragma`].
    LoopHint,
}

/// Parts of a launch's geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geometry {
    /// `threadIdx`.
    Thread,
    /// `blockIdx`.
    Block,
    /// `blockDim`.
    BlockDim,
    /// `gridDim`.
    GridDim,
}

/// Axes of a launch's geometry, in the order of their storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All axes, in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// The axis with a name.
    pub fn of_name(name: &str) -> Option<Axis> {
        Axis::ALL.into_iter().zip(["x", "y", "z"]).find(|(_, n)| *n == name).map(|(a, _)| a)
    }
}

/// Operations on the state of a kernel's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Launch {
    Context,
    First,
    Last,
    Scratch,
    Capacity,
    EnterBlock,
    Failed,
}

/// Barriers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// For the threads of the block.
    Block(Combine),
    /// For all threads of the grid.
    Grid,
}

/// Reduction of the values that threads pass to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// No values are passed.
    Nothing,
    /// The number of values that are not 0.
    Count,
    /// Whether all values are not 0.
    All,
    /// Whether some value is not 0.
    Any,
}

/// Operations of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warp {
    /// A shuffle, a vote or a match.
    Exchange,
    /// The lanes that have not ended.
    ActiveMask,
    /// Yields in a spin loop.
    Pause,
}

/// Operations on arrays with an element for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// A copy.
    Copy,
    /// A shuffle.
    Move,
    /// Packs truth values into bits.
    Bits,
}

/// The value that an atomic operation stores. Where signedness makes no difference, there is one variant for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rmw {
    /// The sum.
    Add,
    /// The greater; of floats, the old value if one of them is NaN.
    Max,
    /// The greater of unsigned integers.
    UMax,
    /// The lesser; of floats, the old value if one of them is NaN.
    Min,
    /// The lesser of unsigned integers.
    UMin,
    /// The greater float, or the one that is not NaN.
    NanMax,
    /// The lesser float, or the one that is not NaN.
    NanMin,
    /// Conjunction of bits.
    And,
    /// Disjunction of bits.
    Or,
    /// Exclusive or of bits.
    Xor,
    /// The operand.
    Exchange,
    /// The old value plus 1, or 0 if it has reached the operand; unsigned.
    Inc,
    /// The old value minus 1, or the operand if it was 0 or greater than the operand; unsigned.
    Dec,
    /// The second operand if the old value equals the first, else the old value.
    CompareExchange,
}

/// Allocation, copies, fences and cached accesses of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Memory {
    Allocate,
    AllocateZeroed,
    /// On a GPU, a temporary for a value that is computed from the array to which it is stored.
    Temporary,
    /// Shared memory of constant size.
    Shared,
    /// Shared memory whose size the launch gives.
    Dynamic,
    DynamicBytes,
    /// Thread-local memory.
    Local,
    Move,
    /// Memory is copied to a larger block, and not used any more itself.
    Moved,
    /// Adjacent items are copied to places with a stride.
    CopyRow,
    /// Adjacent items are sorted, or searched for their order: the first operand is their address.
    Line {
        /// The size of an item in bytes.
        item: u8,
        /// The operand that is their number.
        number: u8,
    },
    Prefetch,
    Fence,
    LoadCached,
    StoreCached,
}

/// Reading of an array in parts, each element once, so that an elementwise computation can fill a part when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Whether the array is to be read in parts.
    IsProduced,
    /// A part: owner and address of the array, first element, number and size of the elements. The owner and address of
    /// the part.
    Part,
}

/// Conversions of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// From an address to an integer.
    ToNumber,
    /// From an integer to an address.
    OfNumber,
}

/// Operations on the items of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Items {
    Reserve,
    SetLen,
    Closes,
    Keeps,
}

/// Operations of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Concatenation.
    Concat,
    /// Anything else.
    Other,
}

/// The kind of value that is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Print {
    Str,
    Signed,
    Unsigned,
    F64,
    F32,
    Complex,
    Bool,
    None,
    /// Writes the buffer to `sys.stdout`.
    Flush,
}

/// Draws from a thread's random streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Random {
    /// A double of the stream of `random`.
    Python,
    /// A double of the stream of `numpy.random`.
    NumPy,
    /// An integer below a limit, of the upper bits of a word of `random`'s stream.
    PythonBelow,
    /// An integer up to a limit, of the lower bits of a word of `numpy.random`'s stream.
    NumPyUpTo,
}

/// Operations of handlers on an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Exception {
    Take,
    Matches,
    Restore,
    Chain,
    Str,
    Repr,
    /// Makes an exception, or asks one.
    Made,
}

/// Builds the error of shapes that cannot be broadcast together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// Begins a shape.
    Begin,
    /// Adds an extent.
    Extent,
    /// Raises ValueError.
    Raise,
}

/// Polls for Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// In a loop.
    Loop,
    /// In each iteration of a loop that LLVM could not vectorise anyway.
    Iteration,
    /// After a loop that Ctrl-C may have ended.
    After,
}

/// Reports to the race checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Race {
    /// An iteration of a parallel loop begins.
    Iteration,
    /// An access.
    Access,
    /// Anything else.
    Other,
}

/// Queries about the threads of parallel loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the rows say it")]
pub enum Threads {
    Number,
    ThreadId,
    ChunkSize,
    Grain,
}

impl RuntimeFn {
    /// The defaults of rows: no facts are known, and it may write any memory.
    pub const SILENT: RuntimeFn = RuntimeFn {
        name: "",
        doc: "",
        args: &[],
        ret: &[],
        raises: false,
        pure: false,
        role: Role::Plain,
        memory: Effect::Unknown,
        inlined: false,
        gpu: false,
        waits: 0,
        uniform: false,
        limits: None,
    };
    /// It can raise.
    pub const fn raises(self) -> RuntimeFn {
        RuntimeFn { raises: true, ..self }
    }
    /// It has no effect but its result, and only reads memory.
    pub const fn pure(self) -> RuntimeFn {
        RuntimeFn { pure: true, uniform: true, memory: Effect::READS, ..self }
    }
    /// It has this role.
    pub const fn role(self, role: Role) -> RuntimeFn {
        RuntimeFn { role, ..self }
    }
    /// It reads what its operands address, and writes no memory of the program.
    pub const fn reads(self) -> RuntimeFn {
        RuntimeFn { memory: Effect::READS, ..self }
    }
    /// It writes what an operand addresses, by the place of the operand's first primitive, besides those named before,
    /// and reads the others.
    pub const fn writes(self, place: u32) -> RuntimeFn {
        let (before, resizes) = match self.memory {
            Effect::Operands { writes, resizes } => (writes, resizes),
            _ => (0, 0),
        };
        RuntimeFn { memory: Effect::Operands { writes: before | 1 << place, resizes }, ..self }
    }
    /// It changes the length or the storage of a container, by the place of the operand.
    pub const fn resizes(self, place: u32) -> RuntimeFn {
        RuntimeFn { memory: Effect::Operands { writes: 0, resizes: 1 << place }, ..self }
    }
    /// The code generator always emits it inline.
    pub const fn inlined(self) -> RuntimeFn {
        RuntimeFn { inlined: true, ..self }
    }
    /// GPUs have it.
    pub const fn on_gpu(self) -> RuntimeFn {
        RuntimeFn { gpu: true, ..self }
    }
    /// Threads of a kernel wait in it.
    pub const fn waits(self, waits: u8) -> RuntimeFn {
        RuntimeFn { waits, ..self }
    }
    /// Its result is the same for all threads of a block if its operands are.
    pub const fn uniform(self) -> RuntimeFn {
        RuntimeFn { uniform: true, ..self }
    }
    /// Its result may differ between threads of a block.
    pub const fn varies(self) -> RuntimeFn {
        RuntimeFn { uniform: false, ..self }
    }
    /// Its result lies between these, both included.
    pub const fn within(self, least: i64, most: i64) -> RuntimeFn {
        RuntimeFn { limits: Some((least, most)), ..self }
    }

    /// Whether it reads a part of the launch's geometry that all threads of a block share.
    pub fn is_launch_shape(&self) -> bool {
        matches!(self.role, Role::Geometry(Geometry::Block | Geometry::BlockDim | Geometry::GridDim, _))
    }
    /// Whether it is a barrier of the block.
    pub fn is_block_barrier(&self) -> bool {
        matches!(self.role, Role::Barrier(Barrier::Block(_)))
    }
    /// Whether it writes what its operand with a first primitive at this place addresses.
    pub fn writes_operand(&self, place: u32) -> bool {
        match self.memory {
            Effect::Unknown => true,
            Effect::Operands { writes, .. } => writes >> place & 1 == 1,
        }
    }
    /// Whether it is a barrier, of the block or the grid.
    pub fn is_barrier(&self) -> bool {
        matches!(self.role, Role::Barrier(_))
    }
    /// Whether it has no side effect, though it may raise.
    pub fn has_no_effect(&self) -> bool {
        self.pure || self.role == Role::CheckIndex
    }
    /// Whether it is only valid in kernels.
    pub fn is_for_kernels(&self) -> bool {
        match self.role {
            Role::Geometry(..)
            | Role::Launch(_)
            | Role::Barrier(_)
            | Role::Warp(_)
            | Role::Lanes(_)
            | Role::Atomic(..) => true,
            Role::Memory(kind) => match kind {
                Memory::Temporary
                | Memory::Shared
                | Memory::Dynamic
                | Memory::DynamicBytes
                | Memory::Local
                | Memory::Fence
                | Memory::LoadCached
                | Memory::StoreCached => true,
                Memory::Allocate
                | Memory::AllocateZeroed
                | Memory::Move
                | Memory::Moved
                | Memory::CopyRow
                | Memory::Line { .. }
                | Memory::Prefetch => false,
            },
            Role::Plain
            | Role::Address(_)
            | Role::Items(_)
            | Role::IsSame
            | Role::Text(_)
            | Role::Print(_)
            | Role::Random(_)
            | Role::Exception(_)
            | Role::CheckIndex
            | Role::Shapes(_)
            | Role::Parts(_)
            | Role::Poll(_)
            | Role::Race(_)
            | Role::Threads(_)
            | Role::LoopHint => false,
        }
    }
    /// Whether it allocates as many bytes as its first operand says.
    pub fn allocates(&self) -> bool {
        matches!(self.role, Role::Memory(Memory::Allocate | Memory::AllocateZeroed | Memory::Temporary))
    }
}
