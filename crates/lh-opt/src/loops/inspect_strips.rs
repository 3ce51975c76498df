//! Inspector and executor: a loop over a strip of iterations finds out whether one of them would raise; if none does,
//! the strip runs in a copy of the loop without checks, which LLVM vectorises.
//!
//! ```text
//! for i in range(n):                      for strip in strips(range(n)):
//!     if b[i] == 0:                           if any(b[i] == 0 for i in strip):
//!         raise ZeroDivisionError                 break
//!     c[i] = a[i] / b[i]        ->            for i in strip:
//!                                                 c[i] = a[i] / b[i]
//!                                         for i in <the rest>:
//!                                             ...                       # original loop
//! ```
//!
//! The inspector evaluates the guards, conditions under which an innermost counted loop raises, for 1024 iterations. If
//! one holds, and for short loops, the original takes over and raises at the right iteration. Guards may read arrays if
//! a test before the loop shows that the loop does not write to them; an element may be read before it is written in
//! the same iteration. The inspector evaluates guards of iterations that are never reached, so their code must not
//! raise or trap, and their reads must be within the arrays for the whole loop, which `bounds` proves.
//!
//! Requires the output of `bounds`; leaves counted loops. Skips loops that LLVM would not vectorise anyway: with sums
//! of floats in strict order, or with calls of unknown effect.

mod build;
mod plan;

use crate::analysis::Analyses;
use hashbrown::HashSet;
use lh_ir::func::Term;
use lh_ir::{Block, Function};

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

/// Splits the first loop not seen before; false if there is none.
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
