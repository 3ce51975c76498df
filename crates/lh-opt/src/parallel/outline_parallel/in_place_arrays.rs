//! Makes carried arrays updated in place: an array that each iteration computes from that of the iteration before
//! becomes one array that iterations update.
//!
//! ```text
//! block1(v1: array, v2: int) parallel:             v5 = map(v0) $0
//!     ...                                          jump block1(v2)
//!     v4 = map(v1, v3) add($0, $1)          =>     ...
//!     jump block1(v4, v6)                          map_into(v5, v5, v3) add($0, $1)
//! ```

use crate::analysis::counted::Defs;
use crate::analysis::effects::{Callees, Effects};
use crate::edit::replace_uses;
use crate::parallel::carried::{LoopFacts, Use, uses};
use crate::parallel::races::reduction_updates::operator_of;
use crate::parallel::region::{reachable, region};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loops, targets};
use lh_ir::func::{Inst, InstData, MapExpr, Parallel};
use lh_ir::{Block, Function, Layout, Value};

pub(super) fn run(func: &mut Function, callees: Callees<'_>) {
    while let Some((way, place, members)) = next(func, callees) {
        let whole = func.new_value(func.ty(members[0]));
        let (dtype, ..) = func.ty(whole).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
        let from = &mut func.blocks[way.from.index()];
        let Some((term, number)) = from.term.as_mut().zip(way.target) else { return };
        let old = std::mem::replace(&mut term.targets_mut()[number as usize].args[place], whole);
        let inst = Inst::Map(Box::new(MapExpr::Arg(0, dtype)), vec![old]);
        from.insts.push(InstData { result: Some(whole), inst, span: from.term_span });
        for d in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
            if let (Inst::Map(e, args), true) = (&d.inst, d.result.is_some_and(|v| members.contains(&v))) {
                let args = std::iter::once(whole).chain(args.iter().copied()).collect();
                (d.inst, d.result) = (Inst::MapInto(e.clone(), args), None);
            }
        }
        replace_uses(func, &|v| if members.contains(&v) { whole } else { v });
        // Drops the array from the loop's parameters, as it no longer changes.
        crate::core::fold::run(func);
    }
}

/// The entry edge of a marked loop, the position of an array parameter, and all values that the array becomes.
fn next(func: &Function, callees: Callees<'_>) -> Option<(Edge, usize, Vec<Value>)> {
    let (cfg, defs) = (Cfg::new(func), Defs::new(func));
    let (dom, effects) = (DomTree::new(&cfg), Effects::new(func, &defs, callees));
    let loops = Loops::new(func, &cfg, &dom).loops;
    loops.iter().filter(|l| func.blocks[l.header.index()].parallel.is_some_and(Parallel::is_tested)).find_map(|l| {
        // A handler could see an array that is not combined yet.
        let r = region(func, &cfg, &dom, l).ok().filter(|r| r.unwind.is_none())?;
        let mut ways = cfg.preds(l.header).iter().filter(|e| !r.inside[e.from.index()]);
        let (Some(way), None) = (ways.next(), ways.next()) else { return None };
        let facts = LoopFacts { func, cfg: &cfg, dom: &dom, defs: &defs, r: &r, uses: &uses(func, &r), callees };
        let params = func.blocks[l.header.index()].params.iter().enumerate();
        let (place, all) = params.into_iter().find_map(|(i, p)| Some((i, members(&facts, &effects, *p)?)))?;
        Some((*way, place, all))
    })
}

/// All values that an array becomes within an iteration, if each only combines the one before with other operands.
fn members(facts: &LoopFacts<'_>, effects: &Effects<'_>, p: Value) -> Option<Vec<Value>> {
    let (func, ty) = (facts.func, facts.func.ty(p));
    ty.as_array().filter(|(dtype, _, layout, ro)| dtype.is_number() && *layout == Layout::C && !ro)?;
    let (mut all, mut at) = (vec![p], 0);
    while at < all.len() {
        let v = all[at];
        let (mut made, mut next) = (None, Vec::new());
        for u in &facts.uses[v.index()] {
            match *u {
                Use::Inst(b, i) if made.is_none() => {
                    let InstData { inst: Inst::Map(e, args), result, .. } = &func.blocks[b.index()].insts[i] else {
                        return None;
                    };
                    operator_of(effects, e, args.iter().position(|a| *a == v)? as u32)?;
                    made = Some(b);
                    next.push(result.filter(|x| func.ty(*x) == ty)?);
                }
                Use::Arg(to, i) if facts.r.inside[to.index()] => next.push(func.blocks[to.index()].params[i]),
                Use::Arg(..) if v == p => {}
                Use::Inst(..) | Use::Arg(..) | Use::Branch(_) | Use::Other => return None,
            }
        }
        if let Some(b) = made {
            // The old value must not be used after the new one exists.
            let home = facts.defs.block(v)?;
            let goes_to =
                |x: Block| targets(func, b).any(|(_, t)| reachable(func, t.block, home, &|_| true)[x.index()]);
            let passes = |x: &Block| targets(func, *x).any(|(_, t)| t.args.contains(&v));
            if facts.r.blocks.iter().any(|x| passes(x) && (*x == b || goes_to(*x))) {
                return None;
            }
        }
        next.retain(|x| !all.contains(x));
        all.extend(next);
        at += 1;
    }
    let is_made = |v: &Value| facts.inst(*v).is_some();
    let stays = |m: &Value| facts.edges(*m).iter().all(|(_, v)| all.contains(v));
    (all.iter().any(is_made) && all.iter().all(stays)).then_some(all)
}
