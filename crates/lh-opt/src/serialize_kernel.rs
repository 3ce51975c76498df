//! Makes a kernel a function that the CPU device calls. Where threads do not wait for each other, it runs a range of
//! blocks, one thread after the other, so that the loop over the threads of a row is one that can be vectorised:
//!
//! ```text
//! function %k(v0: ptr, v1: int, v2: int, v3: int, ...)      function %k(v0: ptr, ...)
//!     ...                                             ->        for block in first..last:
//!     return                                                        for z, y, x in the block's threads:
//!                                                                       ...
//! ```
//!
//! Where they do, it stays the function of one thread, and each thread gets a stack of its own. Either way a thread that
//! raises is noted.
//!
//! Needs `kernel_context`.

use crate::edit::{CountedLoop, Cursor, Replacements, runtime, to};
use crate::kernel_context::HANDED;
use lh_ir::func::{Device, Entry, Inst, Target, Term};
use lh_ir::{Block, Function, Span, Ty, Value};

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.device != Device::Kernel {
        return false;
    }
    note_failures(func);
    if func.waits == 0 {
        func.entry = Entry::Blocks;
        loop_over_threads(func);
    } else {
        func.entry = Entry::Thread;
    }
    true
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

/// Geometry by axis.
struct Axes([Value; 3]);

fn read(c: &mut Cursor<'_>, name: &str, cx: Value) -> Value {
    c.inst(Inst::Runtime(runtime(name), vec![cx]), Ty::int())
}

fn axes(c: &mut Cursor<'_>, what: &str, cx: Value) -> Axes {
    Axes(["x", "y", "z"].map(|a| read(c, &format!("lh_cuda_{what}_{a}"), cx)))
}

fn loop_over_threads(func: &mut Function) {
    // The entry must be the first block: the kernel's own first block moves to the end.
    let n = func.blocks.len();
    let body = func.new_block();
    let first = std::mem::take(&mut func.blocks[0]);
    let params = first.params.clone();
    func.blocks[body.index()] = first;
    func.blocks[body.index()].params.clear();
    for data in &mut func.blocks[1..=n] {
        for t in data.term.as_mut().map(lh_ir::func::Term::targets_mut).into_iter().flatten().chain(&mut data.unwind) {
            if t.block == Block(0) {
                t.block = body;
            }
        }
    }
    let (cx, tids) = (params[0], &params[1..HANDED]);
    func.blocks[0].params = std::iter::once(cx).chain(params[HANDED..].iter().copied()).collect();
    let mut c = Cursor { func, block: Block(0), span: Span::default(), unwind: None, cold: false };
    let (dim, grid) = (axes(&mut c, "bdim", cx), axes(&mut c, "gdim", cx));
    let (from, past) = (read(&mut c, "lh_cuda_first", cx), read(&mut c, "lh_cuda_last", cx));
    let count = c.sub(past, from);
    let blocks = c.begin_loop(count);
    let linear = c.add(from, blocks.index);
    let block = enter_block(&mut c, cx, linear, &grid);
    let (z, y, x) = thread_loops(&mut c, &dim);
    let latch = c.new_block(&[]).0;
    c.end(Term::Jump(to(body, &[])), latch);
    c.end_loop(&x);
    c.end_loop(&y);
    c.end_loop(&z);
    c.end_loop(&blocks);
    let none = c.inst(Inst::Zero, Ty::none());
    let end = c.block;
    let data = &mut func.blocks[end.index()];
    data.term = Some(Term::Return(none));
    let mut replaced = Replacements::new(func);
    for (tid, l) in tids.iter().zip([&x, &y, &z]) {
        replaced.set(*tid, l.index);
    }
    for data in &mut func.blocks[1..=n] {
        finish_threads(data, latch);
        geometry(data, &mut replaced, &[("bid", &block), ("bdim", &dim), ("gdim", &grid)]);
    }
    replaced.apply(func);
}

/// Index of a block by axes, which the context gets to know.
fn enter_block(c: &mut Cursor<'_>, cx: Value, linear: Value, grid: &Axes) -> Axes {
    let x = c.int_op("srem", linear, grid.0[0]);
    let rest = c.int_op("sdiv", linear, grid.0[0]);
    let y = c.int_op("srem", rest, grid.0[1]);
    let z = c.int_op("sdiv", rest, grid.0[1]);
    c.effect(Inst::Runtime(runtime("lh_cuda_enter_block"), vec![cx, x, y, z]));
    Axes([x, y, z])
}

fn thread_loops(c: &mut Cursor<'_>, dim: &Axes) -> (CountedLoop, CountedLoop, CountedLoop) {
    let z = c.begin_loop(dim.0[2]);
    let y = c.begin_loop(dim.0[1]);
    let x = c.begin_loop(dim.0[0]);
    (z, y, x)
}

/// A thread's end is where the next one begins.
fn finish_threads(data: &mut lh_ir::func::BlockData, latch: Block) {
    if let Some(Term::Return(_)) = data.term {
        data.term = Some(Term::Jump(to(latch, &[])));
    }
}

/// What is asked of the context is known.
fn geometry(data: &mut lh_ir::func::BlockData, replaced: &mut Replacements, known: &[(&str, &Axes)]) {
    data.insts.retain(|d| {
        let (Inst::Runtime(f, _), Some(r)) = (&d.inst, d.result) else { return true };
        let Some((what, axis)) = f.name.strip_prefix("lh_cuda_").and_then(|n| n.rsplit_once('_')) else { return true };
        let axis = ["x", "y", "z"].iter().position(|a| *a == axis);
        match (known.iter().find(|(name, _)| *name == what), axis) {
            (Some((_, axes)), Some(i)) => {
                replaced.set(r, axes.0[i]);
                false
            }
            _ => true,
        }
    });
}
