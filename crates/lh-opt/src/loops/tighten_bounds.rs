//! Tightens the bounds of loops over threads whose bodies are guarded by a condition on the index.
//!
//! ```text
//! for t in range(threads):                for t in range(min(threads, n - base)):
//!     if base + t < n:              ->        a[base + t] = 0
//!         a[base + t] = 0
//! ```
//!
//! Loops with a branch for a single thread, such as the first, are versioned: [`uniform_rows`].
//!
//! The body must be a branch with nothing on its other path. If the condition is invariant, the limit becomes 0 where
//! it fails. The index plus the invariant addends must be non-negative and of moderate size, as the launch's geometry
//! guarantees, so that the new limits cannot overflow.
//!
//! Runs after `bounds`, which derives the ranges of indices from these branches.

mod guard;
mod uniform_rows;

use crate::analysis::Analyses;
use crate::analysis::counted::{Counted, in_loop, target_of};
use crate::analysis::facts::{Facts, Users};
use crate::edit::Cursor;
use guard::{Guard, hoist};
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree};
use lh_ir::func::Term;
use lh_ir::switches::is_off;
use lh_ir::{Block, Function, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    if !func.blocks.iter().any(|b| b.latch.is_parallel() && !b.cold) {
        return false;
    }
    let mut changed = false;
    let mut seen = HashSet::new();
    loop {
        let first = |facts: &Facts<'_>| (0..facts.loops.loops.len()).find_map(|l| find(facts, l));
        if !transform_one(func, first, |func, _, _, _, plan| apply(func, plan))
            && (is_off("tighten_bounds.uniform_rows") || !uniform_rows::split_one(func, &mut seen))
        {
            return changed;
        }
        changed = true;
    }
}

/// A loop whose guard can move into its bounds.
struct Tightening {
    /// The preheader.
    before: Block,
    header: Block,
    place: usize,
    limit: Value,
    /// Whether the body is the first target of the header's branch.
    body_first: bool,
    /// The guard's block, and whether the guarded code is its first target.
    branch: Block,
    then: bool,
    guard: Guard,
    /// Values to hoist out of the loop for the new bounds, in order.
    moved: Vec<Value>,
}

/// Finds one opportunity and transforms it.
fn transform_one<P>(
    func: &mut Function,
    find: impl FnOnce(&Facts<'_>) -> Option<P>,
    apply: impl FnOnce(&mut Function, &Cfg, &DomTree, &Users, &P),
) -> bool {
    let analyses = Analyses::default();
    let Some(plan) = find(&analyses.facts(func)) else { return false };
    let (cfg, dom, users) = (analyses.cfg(func), analyses.dom(func), analyses.users(func));
    apply(func, cfg, dom, users, &plan);
    true
}

struct ThreadLoop<'a> {
    counted: &'a Counted,
    /// The preheader.
    before: Block,
    latch: Block,
}

/// Recognises a loop over threads from 0 with step 1.
fn thread_loop<'a>(facts: &Facts<'a>, at: usize) -> Option<ThreadLoop<'a>> {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let counted = facts.counts[at].as_ref().filter(|c| c.step == 1)?;
    let (mut back, mut into) = (None, None);
    for e in facts.cfg.preds(l.header) {
        let place = if in_loop(facts.cfg, l, e.from) { &mut back } else { &mut into };
        if place.replace(*e).is_some() {
            return None;
        }
    }
    let (latch, before) = (back?.from, into?.from);
    let header = &func.blocks[l.header.index()];
    let jumps = matches!(func.blocks[before.index()].term, Some(Term::Jump(_)));
    let start = facts.defs.int(func, target_of(func, into?).args[counted.place]);
    let is_supported = func.blocks[latch.index()].latch.is_parallel() && !header.cold && header.params.len() == 1;
    (is_supported && jumps && start == Some(0)).then_some(ThreadLoop { counted, before, latch })
}

fn find(facts: &Facts<'_>, at: usize) -> Option<Tightening> {
    let ThreadLoop { counted, before, latch } = thread_loop(facts, at)?;
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let inside = |b: Block| in_loop(facts.cfg, l, b);
    let Some(Term::Branch { then, els, .. }) = &func.blocks[l.header.index()].term else { return None };
    // The code before the guard must have no effect.
    let mut b = if counted.body_first { then.block } else { els.block };
    let has_no_effect = |b: Block| func.blocks[b.index()].insts.iter().all(|d| d.inst.is_pure() && !d.inst.can_raise());
    // A latch with effects, such as stores of gang lanes, runs for all threads.
    if !has_no_effect(latch) {
        return None;
    }
    let (branch, cond, then) = loop {
        if !has_no_effect(b) || b == latch {
            return None;
        }
        match &func.blocks[b.index()].term {
            Some(Term::Jump(t)) if inside(t.block) => b = t.block,
            Some(Term::Branch { cond, then, els }) => {
                let nothing = |t: Block| is_empty_path_to(func, t, latch);
                match (nothing(then.block), nothing(els.block)) {
                    (false, true) => break (b, *cond, true),
                    (true, false) => break (b, *cond, false),
                    _ => return None,
                }
            }
            _ => return None,
        }
    };
    let mut moved = Vec::new();
    let guard = guard::guard(facts, at, counted, (branch, cond, then), &mut moved)?;
    let (place, limit, body_first) = (counted.place, counted.limit, counted.body_first);
    Some(Tightening { before, header: l.header, place, limit, body_first, branch, then, guard, moved })
}

/// Whether a block leads to the latch without any instruction.
fn is_empty_path_to(func: &Function, mut b: Block, latch: Block) -> bool {
    for _ in 0..func.blocks.len() {
        if b == latch {
            return true;
        }
        match &func.blocks[b.index()] {
            data if !data.insts.is_empty() => return false,
            data => match &data.term {
                Some(Term::Jump(t)) => b = t.block,
                _ => return false,
            },
        }
    }
    false
}

fn apply(func: &mut Function, plan: &Tightening) {
    let data = &mut func.blocks[plan.branch.index()];
    let Some(Term::Branch { then, els, .. }) = data.term.take() else { lh_ir::bug!("it is a branch") };
    data.term = Some(Term::Jump(if plan.then { then } else { els }));
    let span = data.term_span;
    hoist(func, &plan.moved, plan.before);
    let mut c = Cursor { func, block: plan.before, span, unwind: None, cold: false };
    let (start, limit) = plan.guard.new_bounds(&mut c, plan.limit);
    let index = c.func.blocks[plan.header.index()].params[plan.place];
    c.block = plan.header;
    let cond = c.lt(index, limit);
    if let (Some(start), Some(Term::Jump(enter))) = (start, &mut c.func.blocks[plan.before.index()].term) {
        enter.args[plan.place] = start;
    }
    let Some(Term::Branch { cond: old, then, els }) = &mut c.func.blocks[plan.header.index()].term else { return };
    // The new condition is true for the body, so it must be the first target.
    if !plan.body_first {
        std::mem::swap(then, els);
    }
    *old = cond;
}
