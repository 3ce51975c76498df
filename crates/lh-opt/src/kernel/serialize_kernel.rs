//! Turns a kernel into a function that runs a range of blocks, with loops over their threads, split at barriers
//! ([`split_kernel`](super::split_kernel)). If that is impossible, because of warp operations, barriers in callees or
//! divergent barriers, the function runs one thread, and each thread gets a stack. In either case, a thread that raises
//! is recorded. Kernels that are checked for races also run one thread per stack.
//!
//! Requires `kernel_context`.

use crate::analysis::classify::allocates;
use crate::analysis::cost::picoseconds;
use crate::analysis::device::HANDED;
use crate::edit::Cursor;
use crate::kernel::gangs;
use crate::kernel::grid_stride;
use crate::kernel::split_kernel::split;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Entry, Inst, InstData, Target, Term, parallel, waits};
use lh_ir::runtime::{Role, Warp};
use lh_ir::switches::is_off;
use lh_ir::{Function, Span, Value};
use lh_ops::runtime as rt;

pub(crate) fn run(func: &mut Function) -> bool {
    func.kernel.thread_cost = thread_cost(func);
    note_failures(func);
    func.kernel.uncounted = !allocates(func);
    if func.options.parallel & parallel::RACE != 0 {
        // The race check needs to know the thread of each access.
        func.kernel.entry = Entry::Thread;
        return true;
    }
    let pauses = |d: &InstData| matches!(d.inst, Inst::Runtime(f, _) if f.role == Role::Warp(Warp::Pause));
    if func.blocks.iter().flat_map(|b| &b.insts).any(pauses) {
        // The spin loop may wait for a thread of another gang, which has to run meanwhile.
        func.kernel.entry = Entry::Thread;
        return true;
    }
    // Aligned loops are preferred, unless threads still diverge in them: that is for gangs.
    let even =
        (!is_off("grid_stride")).then(|| grid_stride::run(func)).flatten().filter(|made| gangs::run(made).is_none());
    if let Some(made) = even.or_else(|| gangs::run(func)) {
        *func = made;
    }
    let cut = if !is_off("split_kernel") && func.kernel.waits & (waits::WARP | waits::IN_CALLEE) == 0 {
        split(func)
    } else {
        None
    };
    match cut {
        Some(cut) => {
            *func = cut;
            func.kernel.entry = Entry::Blocks;
        }
        None => func.kernel.entry = Entry::Thread,
    }
    true
}

/// Estimated picoseconds of a thread; 0 if it has loops or calls.
fn thread_cost(func: &Function) -> u32 {
    let cfg = Cfg::new(func);
    if !Loops::new(func, &cfg, &DomTree::new(&cfg)).loops.is_empty() {
        return 0;
    }
    let costs = func.blocks.iter().flat_map(|b| &b.insts).map(|d| match &d.inst {
        Inst::Runtime(f, _) if f.is_for_kernels() => Some(100),
        inst => picoseconds(inst, &|_| None),
    });
    let sum: Option<i64> = costs.sum();
    sum.map_or(0, |s| u32::try_from(s.max(1)).unwrap_or(0))
}

/// Adds a handler that records the thread to all instructions whose exceptions leave the kernel.
fn note_failures(func: &mut Function) {
    let handed: Vec<Value> = func.params()[..HANDED].to_vec();
    let n = func.blocks.len();
    let handler = func.new_block();
    for data in &mut func.blocks[..n] {
        if data.unwind.is_none() {
            data.unwind = Some(Target { block: handler, args: Vec::new() });
        }
    }
    let mut c = Cursor { func, block: handler, span: Span::default(), unwind: None, cold: true };
    c.effect(Inst::Runtime(&rt::lh_cuda_failed, handed));
    let data = &mut func.blocks[handler.index()];
    (data.term, data.cold) = (Some(Term::Propagate), true);
}
