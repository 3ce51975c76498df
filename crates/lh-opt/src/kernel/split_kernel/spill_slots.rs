//! Coalesces spill locations: a value and a block parameter to which it is passed share one if both are never live at
//! the same cut. Values that did not change then need no store.

use super::build::{CutPlan, Spill};
use crate::analysis::liveness::parts;
use lh_ir::Function;
use lh_ir::cfg::{Cfg, targets};
use lh_ir::func::Term;
use std::collections::{HashMap, HashSet};

/// The representative of each location's class.
pub(super) fn coalesce(func: &Function, cfg: &Cfg, plan: &CutPlan) -> HashMap<Spill, Spill> {
    let live_together = live_together(func, cfg, plan);
    let mut at: HashMap<Spill, usize> = HashMap::new();
    for h in live_together.iter().flatten() {
        let next = at.len();
        at.entry(*h).or_insert(next);
    }
    // The locations of each class; empty if it was merged into another.
    let mut classes: Vec<Vec<Spill>> = vec![Vec::new(); at.len()];
    at.iter().for_each(|(h, i)| classes[*i].push(*h));
    let mut meets: HashSet<(Spill, Spill)> = HashSet::new();
    for cut in &live_together {
        meets.extend(cut.iter().flat_map(|a| cut.iter().map(|b| (*a, *b))));
    }
    for (a, b) in passed(func, cfg) {
        let (Some(i), Some(j)) = (at.get(&a).copied(), at.get(&b).copied()) else { continue };
        let apart = |a: &Spill| classes[j].iter().all(|b| !meets.contains(&(*a, *b)));
        if i != j && func.ty(a.1) == func.ty(b.1) && classes[i].iter().all(apart) {
            let moved = std::mem::take(&mut classes[j]);
            moved.iter().for_each(|h| _ = at.insert(*h, i));
            classes[i].extend(moved);
        }
    }
    classes.iter().flat_map(|c| c.iter().map(|h| (*h, c[0]))).collect()
}

/// The locations of divergent values that are live at each cut.
fn live_together(func: &Function, cfg: &Cfg, plan: &CutPlan) -> Vec<Vec<Spill>> {
    let keeps = |h: &Spill| plan.varies[h.1.index()] && parts(func.ty(h.1)).is_some();
    let alive = |b: lh_ir::Block| plan.alive[b.index()].iter().map(|v| (None, *v));
    let mut out = Vec::new();
    for b in cfg.rpo().iter().filter(|b| plan.is_cut[b.index()]) {
        let mut homes: Vec<Spill> = match (plan.syncs.get(b), &func.blocks[b.index()].term) {
            (Some(sync), _) => alive(sync.resume).collect(),
            (None, Some(Term::Branch { then, els, .. })) => {
                let params = |b: lh_ir::Block| func.blocks[b.index()].params.iter().map(move |p| (Some(b), *p));
                [then.block, els.block].into_iter().flat_map(|t| params(t).chain(alive(t))).collect()
            }
            (None, _) => lh_ir::bug!("a cut is a barrier or a branch"),
        };
        homes.retain(keeps);
        homes.sort_unstable();
        homes.dedup();
        out.push(homes);
    }
    out
}

/// Pairs of locations of parameters and their arguments.
fn passed(func: &Function, cfg: &Cfg) -> Vec<(Spill, Spill)> {
    let mut out = Vec::new();
    for b in cfg.rpo() {
        for (_, t) in targets(func, *b) {
            for (p, a) in func.blocks[t.block.index()].params.iter().zip(&t.args) {
                out.extend([
                    ((None, *p), (Some(t.block), *p)),
                    ((None, *p), (None, *a)),
                    ((Some(t.block), *p), (None, *a)),
                ]);
            }
        }
    }
    out
}
