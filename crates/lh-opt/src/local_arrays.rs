//! New arrays of a known, small size are memory of the thread's own on a GPU, which has no other: what comes between in
//! `a[:] = a + b` of `cuda.local.array`s, for example.
//!
//! ```text
//! v2 = runtime lh_alloc(v1): tuple(mem, ptr)      ->      v3 = zero: mem
//!                                                         v4 = const 64: int
//!                                                         v5 = runtime lh_cuda_local(v1, v4): ptr
//!                                                         v2 = pack v3, v5: tuple(mem, ptr)
//! ```
//!
//! There is one such place for all rounds of a loop, so nothing in memory may be handed from one round to the next. No array is
//! returned, as its place goes with the function.

use crate::counted::Defs;
use crate::edit::runtime;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Device, Inst, InstData, Term};
use lh_ir::types::Prim;
use lh_ir::{Block, Const, Function, Ty, Value};

/// Bytes that an array may have.
const MOST: i128 = 1 << 16;
const ALIGNMENT: i128 = 64;

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.device != Device::Gpu {
        return false;
    }
    let defs = Defs::new(func);
    let is_known =
        |v: Value| matches!(defs.inst(func, v), Some(Inst::Const(Const::Int(n, _))) if (0..=MOST).contains(n));
    let is_new = |i: &Inst| matches!(i, Inst::Runtime(f, args) if f.name == "lh_alloc" && is_known(args[0]));
    let insts = func.blocks.iter().enumerate().flat_map(|(b, d)| d.insts.iter().enumerate().map(move |i| (b, i)));
    let mut places: Vec<(usize, usize)> =
        insts.filter(|(_, (_, d))| is_new(&d.inst)).map(|(b, (i, _))| (b, i)).collect();
    let holds = |v: &Value| func.ty(*v).flatten().iter().any(|p| matches!(p, Prim::Ptr | Prim::Mem));
    let leaves = |t: &Option<Term>| matches!(t, Some(Term::Return(v)) if holds(v));
    if places.is_empty() || func.blocks.iter().any(|b| leaves(&b.term)) {
        return false;
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    let hands_on = |b: Block| func.blocks[b.index()].params.iter().any(holds);
    places.retain(|(b, _)| !loops.iter().any(|l| l.blocks.contains(&Block::new(*b)) && hands_on(l.header)));
    for (b, i) in places.iter().rev() {
        let [owner, align, data] = [Ty::meminfo(), Ty::int(), Ty::ptr()].map(|t| func.new_value(t));
        let local = runtime("lh_cuda_local");
        let d = &mut func.blocks[*b].insts[*i];
        let Inst::Runtime(_, args) = std::mem::replace(&mut d.inst, Inst::Pack(vec![owner, data])) else { continue };
        let insts = [
            (owner, Inst::Zero),
            (align, Inst::Const(Const::Int(ALIGNMENT, Ty::int()))),
            (data, Inst::Runtime(local, vec![args[0], align])),
        ];
        let span = d.span;
        let new = insts.map(|(v, inst)| InstData { result: Some(v), inst, span });
        func.blocks[*b].insts.splice(*i..*i, new);
    }
    !places.is_empty()
}
