//! Yields to other threads of a kernel in spin loops, which only read memory atomically until a condition holds: the
//! thread that makes it true may not have run yet, while a GPU runs all of them at once. Counted loops terminate and
//! are left alone.
//!
//! ```text
//! block1():                                        block1():
//!     v2 = runtime lh_cuda_add_i32(v1, 0)    ->        runtime lh_cuda_pause(context, 0)
//!     v3 = eq v2, 0                                    v2 = runtime lh_cuda_add_i32(v1, 0)
//!     branch v3, block1(), block2()                    ...
//! ```

use crate::analysis::effects::{Callees, has_no_effect};
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{Inst, InstData};
use lh_ir::runtime::{Memory, Rmw, Role};
use lh_ir::{Const, Function, Span, Ty, Value};
use lh_ops::runtime as rt;
use std::collections::HashMap;

pub(crate) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let constants: HashMap<Value, i128> = func.blocks.iter().flat_map(|b| &b.insts).filter_map(constant).collect();
    let asks = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, args) if is_read(f.role, args, &constants));
    let is_shape = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if f.is_launch_shape());
    let only_reads = |d: &InstData| is_shape(d) || has_no_effect(&d.inst, callees);
    let waits = |l: &&Loop| {
        let insts = || l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
        func.blocks[l.header.index()].params.is_empty()
            && insts().any(asks)
            && insts().all(|d| asks(d) || only_reads(d))
    };
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    let headers: Vec<_> = loops.iter().filter(waits).map(|l| l.header).collect();
    for header in &headers {
        let (cx, zero) = (func.new_value(Ty::ptr()), func.new_value(Ty::int()));
        let inst = |result, inst| InstData { result, inst, span: Span::default() };
        let pause = [
            inst(Some(cx), Inst::Runtime(&rt::lh_cuda_context, vec![])),
            inst(Some(zero), Inst::Const(Const::Int(0, Ty::int()))),
            inst(None, Inst::Runtime(&rt::lh_cuda_pause, vec![cx, zero])),
        ];
        func.blocks[header.index()].insts.splice(0..0, pause);
    }
    !headers.is_empty()
}

fn constant(d: &InstData) -> Option<(Value, i128)> {
    if let Inst::Const(Const::Int(n, _)) = d.inst { Some((d.result?, n)) } else { None }
}

/// Whether an atomic operation only reads, at least as long as the loop goes on.
fn is_read(role: Role, args: &[Value], constants: &HashMap<Value, i128>) -> bool {
    let known = |i: usize| args.get(i).and_then(|v| constants.get(v));
    match role {
        Role::Memory(Memory::Fence) => true,
        Role::Atomic(Rmw::Add | Rmw::Or | Rmw::Xor, _) => known(1) == Some(&0),
        // Where it changes something, as a lock does, the loop ends.
        Role::Atomic(Rmw::CompareExchange, _) => true,
        _ => false,
    }
}
