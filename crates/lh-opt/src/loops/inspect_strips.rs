//! Looks ahead whether a loop will raise, so that the loop proper need not look and can be vectorised.
//!
//! ```text
//! for i in range(n):                      for strip in strips(range(n)):
//!     if b[i] == 0:                           if any(b[i] == 0 for i in strip):
//!         raise ZeroDivisionError                 break
//!     c[i] = a[i] / b[i]        ->            for i in strip:
//!                                                 c[i] = a[i] / b[i]
//!                                         for i in what is left:
//!                                             ...                       # as it was
//! ```
//!
//! The conditions under which an innermost counted loop raises are computed for a thousand iterations at a time. If none
//! holds, these run in a copy of the loop that asks nothing. Otherwise, and for short loops, the original goes on, and
//! raises where it always did, after all that comes before. Conditions may read arrays, of which a test before the loop
//! makes sure that the loop does not write to them (but for an element that is read before it is written, in the same
//! iteration). They are computed for iterations that are then not reached, so they must not raise or trap themselves,
//! and what they read must lie in the arrays for the whole loop, as `bounds` finds it.
//!
//! Requires what `bounds` leaves. Leaves counted loops. Does nothing for loops that would not be vectorised anyway: with
//! sums of floats in strict order, or with calls of which the effect is not known.

mod build;
mod plan;

use crate::analysis::Analyses;
use hashbrown::HashSet;
use lh_ir::func::Term;
use lh_ir::{Block, Function};

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    let raises = |b: Block| matches!(func.blocks[b.index()].term, Some(Term::Raise { .. }));
    let guards = |t: &Term| matches!(t, Term::Branch { then, els, .. } if raises(then.block) != raises(els.block));
    if func.options.debug || !func.blocks.iter().any(|d| d.term.as_ref().is_some_and(guards)) {
        return false;
    }
    let mut seen = HashSet::new();
    while split_one(func, &mut seen) {}
    !seen.is_empty()
}

/// Splits the first loop that has not been looked at; whether there was one.
fn split_one(func: &mut Function, seen: &mut HashSet<Block>) -> bool {
    let analyses = Analyses::default();
    let facts = analyses.facts(func);
    let loops = analyses.loops(func);
    let innermost = (0..loops.loops.len()).filter(|l| loops.loops.iter().all(|inner| inner.parent != Some(*l)));
    let mut found = innermost.filter(|l| !seen.contains(&loops.loops[*l].header)).filter_map(|l| plan::plan(&facts, l));
    let Some(plan) = found.next() else { return false };
    let l = &loops.loops[plan.at];
    seen.insert(l.header);
    let counted = analyses.counts(func)[plan.at].as_ref().expect("planned");
    let (cfg, dom, users) = (analyses.cfg(func), analyses.dom(func), analyses.users(func));
    seen.extend(build::split(func, cfg, dom, users, l, counted, &plan));
    true
}
