//! PTX for NVIDIA GPUs, from the same typed IR as code for the CPU.

use crate::machine::{self, Gpu};
use crate::passes::effort::Effort;
use crate::passes::{barrier_loops, cached_access, math_library};
use crate::unit::{RaiseSite, Timings, Unit, Wanted};
use crate::{lower, pipeline};
use lh_ir::diag::Result;
use std::time::Instant;

/// The output of [`compile_ptx`].
#[derive(Debug, Default)]
pub struct Ptx {
    /// The PTX.
    pub text: String,
    /// LLVM IR before optimisation, if wanted.
    pub llvm_ir: Option<String>,
    /// LLVM IR after optimisation, if wanted.
    pub llvm_ir_opt: Option<String>,
    /// The places that raise exceptions, by number.
    pub raise_sites: Vec<RaiseSite>,
    /// Time of the stages.
    pub timings: Timings,
}

/// Compiles a unit for a GPU.
///
/// # Errors
/// A diagnostic for an operation that a GPU does not have.
pub fn compile_ptx(unit: &Unit<'_>, gpu: Gpu) -> Result<Ptx> {
    let Wanted { llvm_ir, llvm_ir_opt, .. } = unit.wanted;
    lower::check_device(unit)?;
    machine::with_gpu(gpu, !unit.debug(), |machine| {
        let mut out = Ptx::default();
        let start = Instant::now();
        let lower::Lowered { mut module, raise_sites, rare } = lower::lower(unit, machine);
        out.raise_sites = raise_sites;
        math_library::add_math(&module, machine.target);
        out.timings.lower = start.elapsed();
        out.llvm_ir = llvm_ir.then(|| module.print());
        let start = Instant::now();
        let effort = (!unit.debug()).then_some(Effort::Full);
        pipeline::optimise(&mut module, machine, effort, !rare.is_empty(), false);
        barrier_loops::mark(&module);
        cached_access::lower(&module);
        out.timings.optimise = start.elapsed();
        out.llvm_ir_opt = llvm_ir_opt.then(|| module.print());
        let start = Instant::now();
        out.text = pipeline::assembly(&module, machine);
        if unit.wanted.lines && !unit.debug() {
            out.text = lines_only(&out.text);
        }
        out.timings.emit = start.elapsed();
        Ok(out)
    })
}

/// Keeps line numbers only: with LLVM's debug information, NVIDIA's compiler would not optimise.
fn lines_only(text: &str) -> String {
    let code = text.find("\t.section\t.debug").map_or(text, |at| &text[..at]);
    code.lines()
        .map(|l| if l.starts_with(".target") { l.trim_end_matches(", debug") } else { l }.to_owned() + "\n")
        .collect()
}
