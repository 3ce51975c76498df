//! The functions that are compiled together, the settings of their compilation, and parts of its result.

use crate::machine::Level;
use crate::outside::Outside;
use lh_ir::func::{Extern, Function};
use lh_ir::{ExcId, ObjId, SpecId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

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
    /// Functions that other units have.
    pub linked: Vec<LinkedFunction>,
    /// The position of each number of the process that the unit refers to. Symbols name it by the position, so that the
    /// same code has the same symbols in every process.
    pub words: HashMap<Extern, u32>,
    /// Captured arrays in code for a GPU.
    pub arrays: HashMap<ObjId, Captured>,
    /// Suffix of the symbols of [`Outside`], since units that a linker joins use the same numbers for different
    /// objects.
    pub outside: String,
    /// The level of processors; `None` for this computer.
    pub level: Option<Level>,
}

/// A function that the unit calls and another unit has ([`Abi::Internal`]).
pub struct LinkedFunction {
    /// Its specialisation.
    pub spec: SpecId,
    /// The function, of which the unit needs parameters and result.
    pub function: Arc<Function>,
    /// The symbol by which the unit refers to it.
    pub symbol: String,
}

/// The calling convention of a unit's entry.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub enum Abi {
    /// `i32 stub(const u64* arguments, u64* result)`, on the CPU.
    #[default]
    Host,
    /// The convention of functions inside of a unit, for units that are linked with it.
    Internal,
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

/// Outputs of [`crate::compile`] beside the object.
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

impl Wanted {
    /// Whether an output needs LLVM's passes to run, although the object is known.
    pub(crate) fn needs_passes(self) -> bool {
        self.llvm_ir || self.llvm_ir_opt || self.asm || self.remarks
    }
}

impl Unit<'_> {
    /// Whether instructions carry their lines.
    pub(crate) fn lines(&self) -> bool {
        self.wanted.remarks || self.wanted.lines || self.debug()
    }
    /// The symbol of something outside of the object.
    pub(crate) fn symbol(&self, of: Outside) -> String {
        let of = match of {
            Outside::Word(word) => Outside::Word(self.words.get(&word).map_or(word, |n| word.numbered(*n))),
            other => other,
        };
        of.symbol() + &self.outside
    }
    /// The symbol of a function: its name without the numbers by which the driver tells specialisations of a process
    /// apart, and its position in the unit.
    pub(crate) fn function_symbol(&self, index: usize) -> String {
        if index == self.entry && self.abi == Abi::Internal {
            return self.entry_symbol.clone();
        }
        let name = &*self.functions[index].name;
        format!("{}.{index}", name.split_once('.').map_or(name, |(stem, _)| stem))
    }
    /// Whether the entry is compiled for a debugger.
    pub(crate) fn debug(&self) -> bool {
        self.functions[self.entry].options.debug
    }
}

/// A place where code for a GPU raises an exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseSite {
    /// Its class.
    pub exc: ExcId,
    /// Its message.
    pub text: String,
    /// The name of the function for users.
    pub function: String,
    /// Its file.
    pub file: String,
    /// The line.
    pub line: u32,
}

impl RaiseSite {
    /// Name of the class, if it is a builtin one.
    pub fn class(&self) -> &'static str {
        lh_ops::exceptions::ALL.iter().find(|c| c.0 == self.exc).map_or("Exception", |c| c.1)
    }
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
