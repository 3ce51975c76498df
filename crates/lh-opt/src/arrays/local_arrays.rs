//! Allocates small new arrays of constant size in the thread's local memory on a GPU, where kernels have no heap: the
//! temporary of `a[:] = a + b` of `cuda.local.array`s, for example.
//!
//! ```text
//! v2 = runtime lh_alloc(v1): tuple(mem, ptr)      ->      v3 = zero: mem
//!                                                         v4 = const 64: int
//!                                                         v5 = runtime lh_cuda_local(v1, v4): ptr
//!                                                         v2 = pack v3, v5: tuple(mem, ptr)
//! ```
//!
//! A loop reuses the memory of an allocation in each iteration, so allocations stay in loops that carry an array. A
//! function that returns an array is left alone: its local memory ends with it.
//!
//! First, extents that a dominating branch compares with constants become constants, and overlap tests against fresh
//! memory are folded.

use crate::analysis::classify::{allocated, makes_arrays};
use crate::analysis::counted::{Defs, target_of};
use crate::core::{dce, fold};
use crate::edit::replace_uses_in;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loops};
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::runtime::{Address, Memory, Role};
use lh_ir::types::Prim;
use lh_ir::verify::agree;
use lh_ir::{Block, Const, Function, Ty, Value};
use lh_ops::runtime as rt;
use std::collections::HashMap;
use std::rc::Rc;

/// Size limit for local arrays in bytes.
const MAX_BYTES: i128 = 1 << 16;
const ALIGNMENT: i128 = 64;
/// Bound on repetitions: a simplification may enable others.
const ROUNDS: usize = 8;

pub(crate) fn run(func: &mut Function) -> bool {
    if !makes_arrays(func) {
        return false;
    }
    for _ in 0..ROUNDS {
        propagate_extent_equalities(func);
        fold_extents_and_overlap_tests(func);
        if !(fold::run(func) | dce::run(func)) {
            break;
        }
    }
    use_local_memory(func);
    true
}

/// Replaces `n` by 4 in blocks that a branch on `n == 4` dominates.
fn propagate_extent_equalities(func: &mut Function) {
    let (defs, cfg) = (Defs::new(func), Cfg::new(func));
    // Facts of a block hold in the blocks that it dominates, which follow in this order.
    let mut known: Vec<Rc<HashMap<Value, Value>>> = Vec::with_capacity(cfg.len());
    let dom = DomTree::new(&cfg);
    for (at, b) in cfg.rpo().iter().enumerate() {
        let mut here = dom.idom_position(at).map_or_else(Rc::default, |above| known[above].clone());
        if let [Edge { from, .. }] = cfg.preds(*b)
            && let Some(Term::Branch { cond, then, .. }) = &func.blocks[from.index()].term
            && then.block == *b
        {
            let mut holds = vec![*cond];
            while let Some(c) = holds.pop() {
                let Some(Inst::Op(op, args)) = defs.inst(func, c) else { continue };
                let &[x, n] = &args[..] else { continue };
                let (x, n) = if defs.int(func, x).is_some() { (n, x) } else { (x, n) };
                if op.is(Algebra::And) {
                    holds.extend([x, n]);
                } else if op.is(Algebra::Cmp(Cmp::Eq)) && defs.int(func, n).is_some() && agree(func.ty(x), func.ty(n)) {
                    Rc::make_mut(&mut here).insert(x, n);
                }
            }
        }
        if !here.is_empty() {
            replace_uses_in(&mut func.blocks[b.index()], &|v| here.get(&v).copied().unwrap_or(v));
        }
        known.push(here);
    }
}

/// Replaces extents by constants, and overlap tests of disjoint memory by true.
fn fold_extents_and_overlap_tests(func: &mut Function) {
    let (defs, cfg) = (Defs::new(func), Cfg::new(func));
    for b in 0..func.blocks.len() {
        for i in 0..func.blocks[b].insts.len() {
            let known = match &func.blocks[b].insts[i].inst {
                Inst::ArrayShape(v, axis) => extent(func, &defs, &cfg, *v, *axis as usize),
                other => is_disjointness_test(func, &defs, other).map(|()| Const::Bool(true)),
            };
            if let Some(c) = known {
                func.blocks[b].insts[i].inst = Inst::Const(c);
            }
        }
    }
}

/// The extent along an axis if all definitions that reach the array through block parameters agree on a constant.
fn extent(func: &Function, defs: &Defs, cfg: &Cfg, v: Value, axis: usize) -> Option<Const> {
    let (mut seen, mut at, mut all) = (vec![v], 0, None);
    while let Some(v) = seen.get(at).copied() {
        at += 1;
        if let Some(inst) = defs.inst(func, v) {
            let Inst::ArrayMake { shape, .. } = inst else { return None };
            let n = defs.int(func, shape[axis])?;
            if *all.get_or_insert(n) != n {
                return None;
            }
            continue;
        }
        let b = defs.block(v).filter(|b| b.index() > 0)?;
        let place = func.blocks[b.index()].params.iter().position(|p| *p == v)?;
        let from = cfg.preds(b).iter().map(|e| target_of(func, *e).args[place]);
        let new: Vec<Value> = from.filter(|v| !seen.contains(v)).collect();
        seen.extend(new);
    }
    all.map(|n| Const::Int(n.into(), Ty::int()))
}

/// Recognises `end of a <= start of b or end of b <= start of a` for different objects, one of them allocated here.
fn is_disjointness_test(func: &Function, defs: &Defs, inst: &Inst) -> Option<()> {
    let of = |inst: &Inst, algebra| match inst {
        Inst::Op(op, args) if op.is(algebra) => Some((args[0], args[1])),
        _ => None,
    };
    let (before, after) = of(inst, Algebra::Or)?;
    let (a, b) = of(defs.inst(func, before)?, Algebra::Cmp(Cmp::Le))?;
    let (c, d) = of(defs.inst(func, after)?, Algebra::Cmp(Cmp::Le))?;
    let [a, b, c, d] = [a, b, c, d].map(|v| allocation_root(func, defs, v));
    let (first, second) = (a?, b?);
    (a == d && b == c && first.0 != second.0 && (first.1 || second.1)).then_some(())
}

/// The object of which an address is part: an allocation (true) or a parameter of the function (false).
fn allocation_root(func: &Function, defs: &Defs, v: Value) -> Option<(Value, bool)> {
    match defs.inst(func, v) {
        None => func.params().contains(&v).then_some((v, false)),
        Some(Inst::Runtime(f, _)) if f.role == Role::Memory(Memory::Local) => Some((v, true)),
        Some(Inst::Runtime(f, args)) if f.role == Role::Address(Address::ToNumber) => {
            allocation_root(func, defs, args[0])
        }
        Some(Inst::Op(op, args)) if op.is(Algebra::Add) => allocation_root(func, defs, args[0]),
        Some(Inst::PtrAdd(p, _) | Inst::ArrayData(p)) => allocation_root(func, defs, *p),
        Some(Inst::Field(pair, 1)) => allocated(defs.inst(func, *pair)?).map(|_| (*pair, true)),
        Some(_) => None,
    }
}

/// Replaces allocations of constant size by local memory.
fn use_local_memory(func: &mut Function) {
    let defs = Defs::new(func);
    let is_known =
        |v: Value| matches!(defs.inst(func, v), Some(Inst::Const(Const::Int(n, _))) if (0..=MAX_BYTES).contains(n));
    let insts = func.blocks.iter().enumerate().flat_map(|(b, d)| d.insts.iter().enumerate().map(move |i| (b, i)));
    let mut places: Vec<(usize, usize)> =
        insts.filter(|(_, (_, d))| allocated(&d.inst).is_some_and(is_known)).map(|(b, (i, _))| (b, i)).collect();
    let holds = |v: &Value| func.ty(*v).flatten().iter().any(|p| matches!(p, Prim::Ptr | Prim::Mem));
    let leaves = |t: &Option<Term>| matches!(t, Some(Term::Return(v)) if holds(v));
    if func.blocks.iter().any(|b| leaves(&b.term)) {
        return;
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    let carries_array = |b: Block| func.blocks[b.index()].params.iter().any(holds);
    places.retain(|(b, _)| !loops.iter().any(|l| l.blocks.contains(&Block::new(*b)) && carries_array(l.header)));
    for (b, i) in places.iter().rev() {
        let [owner, align, data] = [Ty::meminfo(), Ty::int(), Ty::ptr()].map(|t| func.new_value(t));
        let d = &mut func.blocks[*b].insts[*i];
        let Inst::Runtime(_, args) = std::mem::replace(&mut d.inst, Inst::Pack(vec![owner, data])) else { continue };
        let insts = [
            (owner, Inst::Zero),
            (align, Inst::Const(Const::Int(ALIGNMENT, Ty::int()))),
            (data, Inst::Runtime(&rt::lh_cuda_local, vec![args[0], align])),
        ];
        let span = d.span;
        let new = insts.map(|(v, inst)| InstData { result: Some(v), inst, span });
        func.blocks[*b].insts.splice(*i..*i, new);
    }
}
