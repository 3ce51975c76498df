//! Typed IR to machine code through LLVM: [`compile`] makes an object file in memory, [`load()`] makes it executable.
//!
//! Code contains no address: run-time functions are symbols that are resolved when the object is loaded, so that
//! objects can be stored in files.
//!
//! Rooms and their imports: `ir <- machine <- unit <- passes <- {lower, pipeline} <- ptx`. `passes` are ours, which
//! `pipeline` runs between LLVM's. The same typed IR becomes PTX in `ptx`.

mod ir;
mod load;
mod lower;
mod machine;
mod outside;
mod passes;
mod pipeline;
mod ptx;
mod remarks;
mod store;
mod unit;

pub use lh_ops::symbols;
pub use load::{EntryPoint, Loaded, load, perf};
pub use lower::{CALLBACK, ERROR, GRID_BARRIER};
pub use machine::{Gpu, Host, Level, NEWEST_ISA, host, known_processors, levels};
pub use outside::Outside;
pub use ptx::{Ptx, compile_ptx};
pub use remarks::Remark;
pub use store::{Lowered, NoObjects, Objects, compiler};
pub use unit::{Abi, Captured, KernelLimits, LinkedFunction, RaiseSite, Rare, Timings, Unit, Wanted};

use lh_ir::func::Entry;
use passes::effort::{self, Effort};
use passes::{math_library, polls};
use std::time::Instant;

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

/// Compiles a unit for a CPU.
pub fn compile(unit: &Unit<'_>) -> Output {
    compile_with(unit, &mut NoObjects)
}

/// Compiles a unit for a CPU, unless `objects` has the object of the same module.
pub fn compile_with(unit: &Unit<'_>, objects: &mut dyn Objects) -> Output {
    machine::with_level(unit.level, !unit.debug(), |machine| {
        let mut out = Output::default();
        let start = Instant::now();
        let lower::Lowered { mut module, rare, .. } = lower::lower(unit, machine);
        let has_cold = unit.rare != Rare::Later && !rare.is_empty();
        out.rare = rare;
        let has_threads = unit.functions[unit.entry].kernel.entry == Entry::Blocks;
        let is_sought = !unit.wanted.needs_passes();
        if is_sought {
            let found = store::identify(&module, unit, machine, (has_cold, has_threads), objects);
            out.timings.lower = start.elapsed();
            if let Some(object) = found {
                out.object = object;
                return out;
            }
        }
        for f in module.functions().into_iter().filter(|f| !ir::walk::is_declaration(*f)) {
            machine.target.mark(&module, f);
        }
        let listener = remarks::listen(&module, unit.wanted.remarks);
        if has_threads {
            // Loops over threads profit from wide vectors.
            math_library::widen(&module, machine.target, |_| true);
        }
        let effort = (!unit.debug()).then(|| effort::of(&module));
        let has_variants = math_library::add_math(&module, machine.target);
        if unit.wanted.remarks {
            // The vectoriser would report the call that stands for a poll.
            polls::resolve(&module);
        }
        out.timings.lower = start.elapsed();
        out.llvm_ir = unit.wanted.llvm_ir.then(|| module.print());
        let start = Instant::now();
        pipeline::optimise(&mut module, machine, effort, has_cold, has_threads);
        if has_variants {
            math_library::finish_math(&module, machine);
        }
        pipeline::align_stacks(&module);
        out.timings.optimise = start.elapsed();
        out.llvm_ir_opt = unit.wanted.llvm_ir_opt.then(|| module.print());
        let mut emit = |machine: &machine::Machine| {
            out.asm = unit.wanted.asm.then(|| pipeline::assembly(&module, machine));
            let start = Instant::now();
            out.object = pipeline::object(&module, machine);
            out.timings.emit = start.elapsed();
        };
        if effort == Some(Effort::Least) {
            machine::with_level(unit.level, false, emit)
        } else {
            emit(machine)
        }
        if is_sought {
            objects.keep(&out.object);
        }
        out.remarks = listener.take();
        out
    })
}
