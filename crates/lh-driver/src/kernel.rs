//! Kernels for a CUDA device: their memory, and what a launch has to know of them.

use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Entry, Gangs, Inst, parallel, waits};
use lh_ir::{Const, Function, Ty, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// What a launch has to know of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// How it is entered.
    pub entry: Entry,
    /// What it runs for at a time.
    pub gangs: Gangs,
    /// Whether its threads wait for the whole grid.
    pub is_cooperative: bool,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: usize,
    /// Memory of each thread's own, bytes.
    pub local_bytes: usize,
    /// Memory beside the stack for each thread of a block, bytes.
    pub scratch: usize,
    /// What a thread costs: picoseconds, roughly; 0 if it may be long.
    pub thread_cost: u32,
    /// Whether it prints: blocks do so one after the other.
    pub prints: bool,
    /// Whether it says what it does to memory, to be checked.
    pub is_checked: bool,
}

/// Gives each static array in shared memory its place. The functions are a kernel and what it calls, the kernel first.
pub(crate) fn place_memory(functions: Vec<Arc<Function>>) -> (Vec<Arc<Function>>, Option<Kernel>) {
    let entry = &functions[0];
    if entry.options.device != Device::Kernel {
        return (functions, None);
    }
    let mut kernel = Kernel {
        entry: entry.entry,
        gangs: entry.gangs,
        is_cooperative: entry.waits & waits::GRID != 0,
        shared_bytes: 0,
        local_bytes: 0,
        scratch: entry.scratch,
        thread_cost: entry.thread_cost,
        prints: functions.iter().any(|f| prints(f)),
        is_checked: entry.options.parallel & parallel::RACE != 0,
    };
    let mut places = HashMap::new();
    let functions = functions.into_iter().map(|f| place_in(f, &mut kernel, &mut places)).collect();
    (functions, Some(kernel))
}

fn prints(func: &Function) -> bool {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts.into_iter().any(|d| matches!(&d.inst, Inst::Runtime(f, _) if f.name.starts_with("lh_print_")))
}

fn place_in(func: Arc<Function>, kernel: &mut Kernel, places: &mut HashMap<i64, usize>) -> Arc<Function> {
    let constants = constants(&func);
    let int = |v: &Value| *constants.get(v).unwrap_or_else(|| lh_ir::bug!("{v} of {} is no constant", func.name));
    let mut sites = HashMap::new();
    for d in func.blocks.iter().flat_map(|b| &b.insts) {
        let Inst::Runtime(f, args) = &d.inst else { continue };
        match f.name {
            "lh_cuda_shared" => {
                let (site, bytes, align) = (int(&args[1]), int(&args[2]) as usize, int(&args[3]) as usize);
                let at = *places.entry(site).or_insert_with(|| {
                    let at = kernel.shared_bytes.next_multiple_of(align.max(1));
                    kernel.shared_bytes = at + bytes;
                    at
                });
                sites.insert(args[1], at);
            }
            "lh_cuda_local" => kernel.local_bytes += int(&args[0]) as usize,
            _ => {}
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
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    insts
        .filter_map(|d| match (&d.inst, d.result) {
            (Inst::Const(Const::Int(i, _)), Some(r)) => Some((r, *i as i64)),
            _ => None,
        })
        .collect()
}

/// Kernels give nothing back.
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
