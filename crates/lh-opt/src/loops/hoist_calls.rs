//! Hoists calls whose operands do not vary in a loop out of it, with the arithmetic that computes these.
//!
//! ```text
//!     jump block1(v1)                       v5 = add v0, v4: float
//! block1(v2: int):                          v6 = call spec1(v5): float
//!     ...                             ->    jump block1(v1)
//!     v5 = add v0, v4: float            block1(v2: int):
//!     v6 = call spec1(v5): float            ...
//! ```
//!
//! Only calls without effects, which raise nothing and end soon, in blocks that each iteration enters. LLVM would
//! inline them first: branches that do not vary stay in the loop then, with all that depends on them, and the time that
//! the vectoriser takes for chains of such values doubles with each.

use crate::analysis::counted::{Defs, in_loop};
use crate::analysis::effects::{self, Callees};
use crate::loops::hoist_lengths::preheader;
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, def_blocks};
use lh_ir::func::{Inst, InstData};
use lh_ir::{Block, Function, Value};

pub(crate) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let is_call = |d: &InstData| matches!(d.inst, Inst::Call(..)) && d.result.is_some();
    if func.options.debug || !func.insts().any(is_call) {
        return false;
    }
    let (cfg, defs) = (Cfg::new(func), Defs::new(func));
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut defined = def_blocks(func);
    let mut changed = false;
    // Inner loops come first: what leaves one may leave the loops around it, too.
    for l in &loops.loops {
        let Some(before) = preheader(&cfg, l) else { continue };
        let moved = movable(func, (&cfg, &dom, l), &defs, &defined, callees);
        if moved.is_empty() {
            continue;
        }
        for b in &l.blocks {
            let leaves = |d: &mut InstData| d.result.is_some_and(|r| moved.contains(&r));
            let insts: Vec<InstData> = func.blocks[b.index()].insts.extract_if(.., leaves).collect();
            func.blocks[before.index()].insts.extend(insts);
        }
        moved.iter().for_each(|v| defined[v.index()] = Some(before));
        changed = true;
    }
    changed
}

/// Results of the calls of a loop that may leave it, and of what computes their operands.
fn movable(
    func: &Function,
    (cfg, dom, l): (&Cfg, &DomTree, &Loop),
    defs: &Defs,
    defined: &[Option<Block>],
    callees: Callees<'_>,
) -> HashSet<Value> {
    let latches: Vec<Block> = cfg.preds(l.header).iter().map(|e| e.from).filter(|b| in_loop(cfg, l, *b)).collect();
    let is_outside = |v: Value| defined[v.index()].is_none_or(|b| !in_loop(cfg, l, b));
    let ends = |inst: &Inst| {
        let Inst::Call(f, _) = inst else { return false };
        callees(*f).is_some_and(|s| s.picoseconds.is_some()) && effects::is_total(func, defs, inst, callees)
    };
    let mut invariant: HashSet<Value> = HashSet::new();
    let (mut order, mut calls) = (Vec::new(), Vec::new());
    for b in &l.blocks {
        let is_always_run = latches.iter().all(|latch| dom.dominates(*b, *latch));
        for d in &func.blocks[b.index()].insts {
            let Some(r) = d.result else { continue };
            if effects::deterministic(&d.inst, callees) != Some(false) {
                continue;
            }
            let is_call = is_always_run && ends(&d.inst);
            if !(is_call || d.inst.is_pure() && !d.inst.can_raise()) {
                continue;
            }
            let mut is_known = true;
            d.inst.for_each_operand(|v| is_known &= is_outside(v) || invariant.contains(&v));
            if is_known {
                invariant.insert(r);
                order.push((r, &d.inst));
                calls.extend(is_call.then_some(r));
            }
        }
    }
    let mut moved: HashSet<Value> = calls.into_iter().collect();
    for (r, inst) in order.into_iter().rev() {
        if moved.contains(&r) {
            inst.for_each_operand(|v| {
                if invariant.contains(&v) {
                    moved.insert(v);
                }
            });
        }
    }
    moved
}
