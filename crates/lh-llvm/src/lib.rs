//! Typed IR to machine code through LLVM: [`compile`] makes an object file in memory, [`load`] makes it executable.
//!
//! No address of ours is in the code: run-time functions are symbols, resolved when the object is loaded, so objects
//! can be kept in files.

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

/// What code for a GPU has of an object.
pub enum Captured {
    /// The elements of one of the host, in the order of its memory: they become part of the code.
    Bytes(Vec<u8>),
    /// Where one is that is in a GPU's memory.
    At(u64),
    /// The name of a function that NVIDIA's linker adds.
    Function(String),
}

/// What is compiled together: one entry and everything it calls.
#[derive(Default)]
pub struct Unit<'f> {
    /// Typed functions after the passes of `lh-opt`, bodies of parallel loops among them; names are unique.
    pub functions: Vec<Cow<'f, Function>>,
    /// Name of the function that a specialisation stands for.
    pub spec_names: HashMap<SpecId, String>,
    /// Which function is called from outside.
    pub entry: usize,
    /// Symbol of the function that calls it.
    pub entry_symbol: String,
    /// How that is called.
    pub abi: Abi,
    /// What is wanted beside the object.
    pub wanted: Wanted,
    /// What becomes of the functions that hardly ever run.
    pub rare: Rare,
    /// Captured arrays in code for a GPU.
    pub arrays: HashMap<ObjId, Captured>,
    /// What symbols of [`Outside`] end with: units that a linker joins mean different things by the same numbers.
    pub outside: String,
    /// The processors that it is for; none for this computer's.
    pub level: Option<Level>,
}

/// How a unit's entry is called.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Abi {
    /// `i32 stub(const u64* arguments, u64* result)`, on the CPU.
    #[default]
    Host,
    /// A kernel of a GPU: every primitive but owners of memory is a parameter.
    Kernel(KernelLimits),
    /// A device function `T f(...)`.
    CFunction,
    /// A device function `int f(T *result, ...)`, Numba's convention.
    StatusFunction,
}

/// What becomes of functions that hardly ever run, such as the checked versions of loops.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Rare {
    /// They are part of the object.
    #[default]
    Here,
    /// The object asks for each when it is called, by [`Outside::Rare`].
    Later,
    /// There is nothing else in the object; they are global.
    Only,
}

/// What a kernel is compiled for.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
pub struct KernelLimits {
    /// Threads of a block, at most.
    pub max_threads: Option<u32>,
    /// Blocks that a multiprocessor shall hold, at least.
    pub min_blocks: Option<u32>,
    /// Registers of a thread, at most.
    pub max_registers: Option<u32>,
    /// Blocks of a cluster, at most.
    pub max_cluster: Option<u32>,
}

/// What [`compile`] shall give beside the object.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wanted {
    /// LLVM IR before optimisation.
    pub llvm_ir: bool,
    /// LLVM IR after it.
    pub llvm_ir_opt: bool,
    /// Assembly.
    pub asm: bool,
    /// What the vectoriser says of each loop.
    pub remarks: bool,
    /// Lines of the source in the code.
    pub lines: bool,
}

impl Unit<'_> {
    /// Whether instructions carry their lines.
    fn lines(&self) -> bool {
        self.wanted.remarks || self.wanted.lines || self.debug()
    }
    /// The symbol of what an object needs from outside.
    fn symbol(&self, of: Outside) -> String {
        of.symbol() + &self.outside
    }
    /// Whether the entry is compiled for a debugger.
    fn debug(&self) -> bool {
        self.functions[self.entry].options.debug
    }
}

/// What [`compile`] gives.
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
    /// What the vectoriser said, if wanted.
    pub remarks: Vec<Remark>,
    /// Names of the functions that hardly ever run, in the order of their numbers.
    pub rare: Vec<String>,
    /// Where the time went.
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
            // Threads of a kernel are there to be taken together.
            link::widen(&module, machine.target, |_| true);
        }
        let has_variants = link::add_math(&module, machine.target);
        if unit.wanted.remarks {
            // The vectoriser would complain of a call.
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
