//! Estimated cost of instructions and of calls on one core, in picoseconds.

use crate::analysis::counted::{Defs, counted};
use crate::analysis::effects::Callees;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Inst, Term};
use lh_ir::runtime::{Role, RuntimeFn};
use lh_ir::types::Prim;
use lh_ir::{Block, Function};

/// Calls that take longer are as those that may run for long, and sums of others do not overflow.
const LONG: i64 = 1_000_000_000;

/// The estimated cost of an instruction; `None` if it may run for long.
pub(crate) fn picoseconds(inst: &Inst, callees: Callees<'_>) -> Option<i64> {
    Some(match inst {
        Inst::Call(spec, _) => callees(*spec)?.picoseconds?,
        Inst::Foreign(..) | Inst::Map(..) | Inst::MapInto(..) | Inst::ParFor(..) => return None,
        Inst::New(_) => 50_000,
        Inst::Runtime(f, _) if f.role == Role::CheckIndex => 500,
        Inst::Runtime(..) => 20_000,
        Inst::Op(op, _) => op.cost.into(),
        Inst::Load(_) | Inst::Store(..) | Inst::Take(_) => 300,
        Inst::ElemPtr { check, .. } => {
            if *check {
                200
            } else {
                50
            }
        }
        _ => 0,
    })
}

/// The estimated cost of a call of a function that returns; `None` if it may run for long: because of a loop whose trip
/// count is no constant, a recursion, or a call of something of which nothing is known.
pub(crate) fn of_call(func: &Function, callees: Callees<'_>) -> Option<i64> {
    let of_block = |b: Block| {
        let insts = &func.blocks[b.index()].insts;
        let mut costs = insts.iter().map(|d| match &d.inst {
            Inst::Runtime(f, _) if may_be_long(f) => None,
            inst => picoseconds(inst, callees),
        });
        costs.try_fold(0i64, |sum, cost| Some(sum.saturating_add(cost?)))
    };
    if func.blocks.len() == 1 {
        return of_block(Block::new(0)).filter(|sum| *sum <= LONG);
    }
    let cfg = Cfg::new(func);
    let ends = (0..func.blocks.len()).map(Block::new).filter(|b| cfg.is_reachable(*b));
    let returns = cfg.leading_to(ends.filter(|b| matches!(func.blocks[b.index()].term, Some(Term::Return(_)))));
    let blocks: Vec<Block> = cfg.rpo().iter().copied().filter(|b| returns[b.index()]).collect();
    // Most functions that may run for long call others that may.
    let costs: Vec<i64> = blocks.iter().map(|b| of_block(*b)).collect::<Option<_>>()?;
    let dom = DomTree::new(&cfg);
    let goes_back = |to: Block, from: Block| cfg.position(from) >= cfg.position(to);
    let is_natural = |to: Block| {
        let mut back = cfg.preds(to).iter().filter(|e| goes_back(to, e.from));
        back.all(|e| e.target.is_some() && dom.dominates(to, e.from))
    };
    if !blocks.iter().all(|b| is_natural(*b)) {
        return None;
    }
    let loops = Loops::new(func, &cfg, &dom);
    let defs = Defs::new(func);
    let trips: Vec<Option<u64>> =
        loops.loops.iter().map(|l| counted(func, &cfg, &defs, l).and_then(|c| c.trips(func, &cfg, &defs, l))).collect();
    let mut sum = 0i64;
    for (b, cost) in blocks.iter().zip(costs) {
        let (mut all, mut at) = (cost, loops.innermost[b.index()]);
        while let Some(l) = at {
            all = all.saturating_mul(i64::try_from(trips[l]?).ok()?);
            at = loops.loops[l].parent;
        }
        sum = sum.saturating_add(all);
    }
    Some(sum).filter(|sum| *sum <= LONG)
}

/// Whether the time of a run-time function depends on memory: on the length of a text or the size of a matrix.
fn may_be_long(f: &RuntimeFn) -> bool {
    !f.inlined && f.args.iter().any(|p| matches!(p, Prim::Mem | Prim::Ptr | Prim::Object))
}
