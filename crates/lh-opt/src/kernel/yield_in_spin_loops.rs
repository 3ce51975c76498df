//! Yields to other threads of a kernel in spin loops, which only read memory atomically until a condition holds, by
//! themselves or in functions: the thread that makes it true may not have run yet, while a GPU runs all of them at
//! once. Counted loops terminate and are left alone. A thread that sleeps in such a loop does nothing but wait, as a
//! sleep of 0 ns says.
//!
//! ```text
//! block1():                                        block1():
//!     v2 = runtime lh_cuda_add_i32(v1, 0)    ->        runtime lh_cuda_pause(context, 0)
//!     v3 = eq v2, 0                                    v2 = runtime lh_cuda_add_i32(v1, 0)
//!     branch v3, block1(), block2()                    ...
//! ```

use crate::analysis::counted::Defs;
use crate::analysis::effects::{Callees, only_reads, polls};
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{Inst, InstData};
use lh_ir::runtime::{Role, Warp};
use lh_ir::{Const, Function, Span, Ty};
use lh_ops::runtime as rt;

pub(crate) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let defs = Defs::new(func);
    let asks = |d: &InstData| polls(func, &defs, &d.inst, callees);
    let waits = |l: &&Loop| {
        let insts = || l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
        func.blocks[l.header.index()].params.is_empty()
            && insts().any(asks)
            && insts().all(|d| asks(d) || is_pause(&d.inst) || only_reads(&d.inst, callees))
    };
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    let found: Vec<_> = loops.iter().filter(waits).map(|l| (l.header, l.blocks.clone())).collect();
    for (header, blocks) in &found {
        let (cx, zero) = (func.new_value(Ty::ptr()), func.new_value(Ty::int()));
        let inst = |result, inst| InstData { result, inst, span: Span::default() };
        let pause = [
            inst(Some(cx), Inst::Runtime(&rt::lh_cuda_context, vec![])),
            inst(Some(zero), Inst::Const(Const::Int(0, Ty::int()))),
            inst(None, Inst::Runtime(&rt::lh_cuda_pause, vec![cx, zero])),
        ];
        for b in blocks {
            for d in &mut func.blocks[b.index()].insts {
                if let Inst::Runtime(f, args) = &mut d.inst
                    && f.role == Role::Warp(Warp::Pause)
                {
                    args[1] = zero;
                }
            }
        }
        func.blocks[header.index()].insts.splice(0..0, pause);
    }
    !found.is_empty()
}

fn is_pause(inst: &Inst) -> bool {
    matches!(inst, Inst::Runtime(f, _) if f.role == Role::Warp(Warp::Pause))
}
