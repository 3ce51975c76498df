//! Makes a kernel a function that the CPU device calls: for a range of blocks, with loops over their threads, cut at barriers
//! (see `split_kernel`). Where that cannot be done, because warps exchange values, barriers are in callees or threads decide
//! differently which barrier comes next, it stays the function of one thread, and each thread gets a stack of its own. Either
//! way a thread that raises is noted. So does each thread of a kernel that is checked (see `check_races`).
//!
//! Needs `kernel_context`.

use crate::analysis::classify::allocates;
use crate::analysis::cost::picoseconds;
use crate::analysis::device::HANDED;
use crate::edit::{Cursor, runtime};
use crate::kernel::gangs;
use crate::kernel::grid_stride;
use crate::kernel::split_kernel::split;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Entry, Inst, InstData, Target, Term, parallel, waits};
use lh_ir::switches::is_off;
use lh_ir::{Function, Span, Value};

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    func.kernel.thread_cost = thread_cost(func);
    note_failures(func);
    func.kernel.uncounted = !allocates(func);
    if func.options.parallel & parallel::RACE != 0 {
        // The check tells threads apart.
        func.kernel.entry = Entry::Thread;
        return true;
    }
    let pauses = |d: &InstData| matches!(d.inst, Inst::Runtime(f, _) if f.name == "lh_cuda_pause");
    if func.blocks.iter().flat_map(|b| &b.insts).any(pauses) {
        // What a thread waits for may be another's to do, of a gang that has not begun.
        func.kernel.entry = Entry::Thread;
        return true;
    }
    // Threads of which each goes through all its rounds at once are for gangs.
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

/// Picoseconds of a thread without loops; 0 if there are any, or calls.
fn thread_cost(func: &Function) -> u32 {
    let cfg = Cfg::new(func);
    if !Loops::new(func, &cfg, &DomTree::new(&cfg)).loops.is_empty() {
        return 0;
    }
    let costs = func.blocks.iter().flat_map(|b| &b.insts).map(|d| match &d.inst {
        Inst::Runtime(f, _) if f.name.starts_with("lh_cuda_") => Some(100),
        inst => picoseconds(inst),
    });
    let sum: Option<i64> = costs.sum();
    sum.map_or(0, |s| u32::try_from(s.max(1)).unwrap_or(0))
}

/// Exceptions that would leave the kernel pass by a block that notes the thread.
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
    c.effect(Inst::Runtime(runtime("lh_cuda_failed"), handed));
    let data = &mut func.blocks[handler.index()];
    (data.term, data.cold) = (Some(Term::Propagate), true);
}
