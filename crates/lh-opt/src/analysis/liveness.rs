//! Values that threads spill across a barrier, and values that are rematerialised instead.

use super::classify::is_cheap;
use lh_ir::cfg::{Cfg, def_blocks, live_in, targets};
use lh_ir::func::{Inst, Term};
use lh_ir::runtime::{Memory, Role};
use lh_ir::types::TyKind;
use lh_ir::{Block, Const, Function, Ty, Value};

/// The maximum number of instructions that are recomputed instead of spilling their result.
const CHEAP: u32 = 24;

/// For each value, whether it is a parameter of the function or can be rematerialised from those.
///
/// Without barriers nothing is spilled, and only the launch's geometry is rematerialised.
pub(crate) fn available(func: &Function, cfg: &Cfg, waits: bool) -> Vec<bool> {
    let mut cost: Vec<Option<u32>> = vec![None; func.values.len()];
    for p in func.params() {
        cost[p.index()] = Some(0);
    }
    for b in cfg.rpo() {
        for d in &func.blocks[b.index()].insts {
            let Some(r) = d.result else { continue };
            let mut total = is_cheap(&d.inst, waits).then_some(1u32);
            if waits && func.ty(r).flatten().is_empty() && d.inst.is_pure() {
                total = Some(0);
            } else {
                d.inst.for_each_operand(|v| total = total.zip(cost[v.index()]).map(|(a, b)| a + b));
            }
            cost[r.index()] = total.filter(|c| *c <= CHEAP);
        }
    }
    cost.into_iter().map(|c| c.is_some()).collect()
}

/// Bytes of thread-local arrays.
pub(crate) fn local_array_bytes(func: &Function) -> usize {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let sizes = insts.filter_map(|d| match &d.inst {
        Inst::Runtime(f, args) if f.role == Role::Memory(Memory::Local) => constant(func, args[0]),
        _ => None,
    });
    sizes.sum()
}

/// The value of an integer constant.
pub(crate) fn constant(func: &Function, v: Value) -> Option<usize> {
    let mut insts = func.blocks.iter().flat_map(|b| &b.insts).filter(|d| d.result == Some(v));
    insts.find_map(|d| if let Inst::Const(Const::Int(i, _)) = d.inst { usize::try_from(i).ok() } else { None })
}

/// Values that are live at the start of each block and not available. The result of a barrier is defined at the end
/// of the block that it was split from.
pub(crate) fn alive(func: &Function, cfg: &Cfg, available: &[bool], given: &[(Value, Block)]) -> Vec<Vec<Value>> {
    let mut uses = Vec::new();
    for b in cfg.rpo() {
        let data = &func.blocks[b.index()];
        let mut note = |v: Value| {
            if !available[v.index()] {
                uses.push((v, *b));
            }
        };
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut note));
        targets(func, *b).for_each(|(_, t)| t.args.iter().for_each(|v| note(*v)));
        match &data.term {
            Some(Term::Branch { cond: v, .. } | Term::Return(v)) => note(*v),
            Some(Term::Raise { args, .. }) => args.iter().for_each(|v| note(*v)),
            Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
        }
    }
    let mut defined = def_blocks(func);
    given.iter().for_each(|(v, b)| defined[v.index()] = Some(*b));
    live_in(func, cfg, uses, &|v| defined[v.index()].unwrap_or(Block(0)))
}

/// Types of the parts as which a value is spilled; `None` if it cannot be.
pub(crate) fn parts(ty: Ty) -> Option<Vec<Ty>> {
    match ty.kind() {
        TyKind::Array { ndim, .. } => {
            let ints = std::iter::repeat_n(Ty::int(), 2 * *ndim as usize);
            Some(std::iter::once(Ty::ptr()).chain(ints).collect())
        }
        _ if ty.is_counted() || ty.flatten().is_empty() => None,
        _ => Some(vec![ty]),
    }
}
