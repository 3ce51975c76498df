//! Typed IR to machine code through LLVM: [`compile`] makes an object file in memory, [`load`] makes it executable.
//!
//! Code contains no address: run-time functions are symbols that are resolved when the object is loaded, so that
//! objects can be stored in files.

mod barrier_loops;
mod bisect;
mod cached_access;
mod debug;
mod divide;
mod elf;
mod emitter;
mod flow;
mod gdb;
mod half;
mod ir;
mod lanes;
mod link;
mod lower;
mod machine;
mod outside;
mod pairs;
pub mod perf;
mod pipeline;
mod polls;
mod ptx;
mod remarks;
mod strips;

pub use elf::{EntryPoint, Loaded, load};
pub use lh_ops::symbols;
pub use lower::{CALLBACK, ERROR, GRID_BARRIER};
pub use machine::{Gpu, Host, Level, NEWEST_ISA, host, known_processors, levels};
pub use outside::Outside;
pub use ptx::{Ptx, RaiseSite, compile_ptx};
pub use remarks::Remark;

use lh_ir::func::Entry;
use lh_ir::func::Function;
use lh_ir::{ObjId, SpecId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A captured array or function in code for a GPU.
pub enum Captured {
    /// The elements of an array of the host in memory order; they become part of the code.
    Bytes(Vec<u8>),
    /// The address of an array in a GPU's memory.
    At(u64),
    /// The name of a function that NVIDIA's linker adds.
    Function(String),
}

/// The functions that are compiled together: an entry and all its callees.
#[derive(Default)]
pub struct Unit<'f> {
    /// Typed functions after the passes of `lh-opt`, with bodies of parallel loops; names are unique.
    pub functions: Vec<Cow<'f, Function>>,
    /// The name of each specialisation's function.
    pub spec_names: HashMap<SpecId, String>,
    /// Index of the function that is called from outside.
    pub entry: usize,
    /// Symbol of the entry stub.
    pub entry_symbol: String,
    /// Calling convention of the entry.
    pub abi: Abi,
    /// Additional outputs.
    pub wanted: Wanted,
    /// Treatment of cold functions.
    pub rare: Rare,
    /// Captured arrays in code for a GPU.
    pub arrays: HashMap<ObjId, Captured>,
    /// Suffix of the symbols of [`Outside`], since units that a linker joins use the same numbers for different
    /// objects.
    pub outside: String,
    /// The level of processors; `None` for this computer.
    pub level: Option<Level>,
}

/// The calling convention of a unit's entry.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Abi {
    /// `i32 stub(const u64* arguments, u64* result)`, on the CPU.
    #[default]
    Host,
    /// A kernel for a GPU: all flattened arguments except owners of memory are parameters.
    Kernel(KernelLimits),
    /// A device function `T f(...)`.
    CFunction,
    /// A device function `int f(T *result, ...)`, Numba's convention.
    StatusFunction,
}

/// The treatment of cold functions, such as the checked versions of loops.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Rare {
    /// The object contains them.
    #[default]
    Here,
    /// The object requests each on its first call, through [`Outside::Rare`].
    Later,
    /// The object contains only them; they are global.
    Only,
}

/// Launch bounds of a kernel.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
pub struct KernelLimits {
    /// Maximum number of threads in a block.
    pub max_threads: Option<u32>,
    /// Minimum number of blocks on a multiprocessor.
    pub min_blocks: Option<u32>,
    /// Maximum number of registers of a thread.
    pub max_registers: Option<u32>,
    /// Maximum number of blocks in a cluster.
    pub max_cluster: Option<u32>,
}

/// Outputs of [`compile`] beside the object.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    /// LLVM IR before optimisation.
    pub llvm_ir: bool,
    /// LLVM IR after it.
    pub llvm_ir_opt: bool,
    /// Assembly.
    pub asm: bool,
    /// The vectoriser's remarks on loops.
    pub remarks: bool,
    /// Line tables.
    pub lines: bool,
}

impl Unit<'_> {
    /// Whether instructions carry their lines.
    fn lines(&self) -> bool {
        self.wanted.remarks || self.wanted.lines || self.debug()
    }
    /// The symbol of something outside of the object.
    fn symbol(&self, of: Outside) -> String {
        of.symbol() + &self.outside
    }
    /// Whether the entry is compiled for a debugger.
    fn debug(&self) -> bool {
        self.functions[self.entry].options.debug
    }
}

/// The output of [`compile`].
#[derive(Debug, Default)]
pub struct Output {
    /// An ELF relocatable object.
    pub object: Vec<u8>,
    /// LLVM IR before optimisation, if wanted.
    pub llvm_ir: Option<String>,
    /// LLVM IR after optimisation, if wanted.
    pub llvm_ir_opt: Option<String>,
    /// Assembly, if wanted.
    pub asm: Option<String>,
    /// The vectoriser's remarks, if wanted.
    pub remarks: Vec<Remark>,
    /// Names of the cold functions by number.
    pub rare: Vec<String>,
    /// Time of the stages.
    pub timings: Timings,
}

/// Time of each stage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Making LLVM IR.
    pub lower: Duration,
    /// LLVM's passes.
    pub optimise: Duration,
    /// Machine code.
    pub emit: Duration,
}

/// Compiles a unit for a CPU.
pub fn compile(unit: &Unit<'_>) -> Output {
    machine::with_level(unit.level, !unit.debug(), |machine| {
        let mut out = Output::default();
        let start = Instant::now();
        let lower::Lowered { module, rare, .. } = lower::lower(unit, machine);
        let has_cold = unit.rare != Rare::Later && !rare.is_empty();
        out.rare = rare;
        let listener = remarks::listen(&module, unit.wanted.remarks);
        let has_threads = unit.functions[unit.entry].kernel.entry == Entry::Blocks;
        if has_threads {
            // Loops over threads profit from wide vectors.
            link::widen(&module, machine.target, |_| true);
        }
        let has_variants = link::add_math(&module, machine.target);
        if unit.wanted.remarks {
            // The vectoriser would report the call that stands for a poll.
            polls::resolve(&module);
        }
        out.timings.lower = start.elapsed();
        out.llvm_ir = unit.wanted.llvm_ir.then(|| module.print());
        let start = Instant::now();
        pipeline::optimise(&module, machine, !unit.debug(), has_cold, has_threads);
        if has_variants {
            link::finish_math(&module, machine);
        }
        pipeline::align_stacks(&module);
        out.timings.optimise = start.elapsed();
        out.llvm_ir_opt = unit.wanted.llvm_ir_opt.then(|| module.print());
        out.asm = unit.wanted.asm.then(|| pipeline::assembly(&module, machine));
        let start = Instant::now();
        out.object = pipeline::object(&module, machine);
        out.timings.emit = start.elapsed();
        out.remarks = listener.take();
        out
    })
}
