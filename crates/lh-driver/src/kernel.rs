//! Kernels for a CUDA device: where their static arrays are in memory, and the facts that a launch needs of them.

use crate::digest::Digest;
use lh_cuda::KernelInfo;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst, Term, parallel, waits};
use lh_ir::runtime::{Memory, Role, Warp};
use lh_ir::{Const, Function, ObjId, Ty, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A kernel for a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuKernel {
    /// Its symbol.
    pub symbol: String,
    /// PTX, or the machine code that was made of it.
    pub code: Vec<u8>,
    /// Where threads raise, by the number that they note: name of the class, message, function, file, line. None if
    /// that is not noted.
    pub sites: Vec<(String, String, String, String, u32)>,
    /// Arrays whose elements are in the code.
    pub captured: Vec<ObjId>,
    /// A hash of these elements.
    pub contents: Digest,
    /// Declared functions that NVIDIA's linker is still to add.
    pub linked: Vec<ObjId>,
}

/// Gives each static array in shared memory its place. The functions are a kernel and what it calls, the kernel first.
pub(crate) fn place_memory(functions: Vec<Arc<Function>>) -> (Vec<Arc<Function>>, Option<KernelInfo>) {
    let entry = &functions[0];
    if entry.options.device != Device::Kernel {
        return (functions, None);
    }
    let facts = &entry.kernel;
    let mut kernel = KernelInfo {
        entry: facts.entry,
        gangs: facts.gangs,
        is_cooperative: facts.waits & waits::GRID != 0,
        shared_bytes: 0,
        local_bytes: 0,
        scratch: facts.scratch,
        thread_cost: facts.thread_cost,
        prints: functions.iter().any(|f| calls(f, &|role| matches!(role, Role::Print(_)))),
        spins: functions.iter().any(|f| calls(f, &|role| *role == Role::Warp(Warp::Pause))),
        is_checked: entry.options.parallel & parallel::RACE != 0,
    };
    let mut places = HashMap::new();
    let functions = functions.into_iter().map(|f| place_in(f, &mut kernel, &mut places)).collect();
    (functions, Some(kernel))
}

/// Whether a function calls one of the run-time library with a role.
fn calls(func: &Function, is_wanted: &dyn Fn(&Role) -> bool) -> bool {
    func.insts().any(|d| matches!(&d.inst, Inst::Runtime(f, _) if is_wanted(&f.role)))
}

fn place_in(func: Arc<Function>, kernel: &mut KernelInfo, places: &mut HashMap<i64, usize>) -> Arc<Function> {
    let constants = constants(&func);
    let int = |v: &Value| *constants.get(v).unwrap_or_else(|| lh_ir::bug!("{v} of {} is no constant", func.name));
    let mut sites = HashMap::new();
    for d in func.insts() {
        let Inst::Runtime(f, args) = &d.inst else { continue };
        let Role::Memory(memory) = f.role else { continue };
        match memory {
            Memory::Shared => {
                let (site, bytes, align) = (int(&args[1]), int(&args[2]) as usize, int(&args[3]) as usize);
                let at = *places.entry(site).or_insert_with(|| {
                    let at = kernel.shared_bytes.next_multiple_of(align.max(1));
                    kernel.shared_bytes = at + bytes;
                    at
                });
                sites.insert(args[1], at);
            }
            Memory::Local => kernel.local_bytes += int(&args[0]) as usize,
            Memory::Allocate
            | Memory::AllocateZeroed
            | Memory::Temporary
            | Memory::Dynamic
            | Memory::DynamicBytes
            | Memory::Move
            | Memory::Moved
            | Memory::CopyRow
            | Memory::Line { .. }
            | Memory::Prefetch
            | Memory::Fence
            | Memory::LoadCached
            | Memory::StoreCached => {}
        }
    }
    if sites.is_empty() {
        return func;
    }
    let mut placed = Function::clone(&func);
    // The operand that says where it was written becomes the offset; each site has a constant of its own.
    for d in placed.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        if let Some(at) = d.result.and_then(|r| sites.get(&r)) {
            d.inst = Inst::Const(Const::Int(*at as i128, Ty::int()));
        }
    }
    Arc::new(placed)
}

fn constants(func: &Function) -> HashMap<Value, i64> {
    func.insts()
        .filter_map(|d| match (&d.inst, d.result) {
            (Inst::Const(Const::Int(i, _)), Some(r)) => Some((r, *i as i64)),
            _ => None,
        })
        .collect()
}

/// Refuses a kernel that returns something.
pub(crate) fn check_result(func: &Function, ret: Ty) -> Result<()> {
    if ret.is_none() || ret.is_never() {
        return Ok(());
    }
    let span = lh_ir::Span { line: func.first_line, end_line: func.first_line, ..Default::default() };
    Err(Diagnostic::new(
        diag::NO_MATCHING_CALL,
        format!("a kernel returns nothing, `{}` returns `{ret}`", func.qualname),
    )
    .note("write results into an array; for a function that kernels call, say `device=True`")
    .at(&func.file, span))
}

/// A diagnostic at the first place where a function returns.
pub(crate) fn at_return(d: Box<Diagnostic>, f: &Function) -> Box<Diagnostic> {
    let place = f.blocks.iter().find(|b| matches!(b.term, Some(Term::Return(_)))).map(|b| b.term_span);
    d.at(&f.file, place.unwrap_or_default())
}
