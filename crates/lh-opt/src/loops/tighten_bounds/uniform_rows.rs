//! Versions loops over threads with code for a single thread, for rows without that thread:
//!
//! ```text
//! for t in range(threads):                if not 0 <= -base < threads:
//!     if base + t == 0:                       for t in range(threads):
//!         a                         ->            b
//!     else:                               else:
//!         b                                   ...                       # original loop
//! ```
//!
//! When a row becomes vectors, code for a single thread costs as much as code for all.

use super::guard::{self, Guard, hoist};
use super::{thread_loop, transform_one};
use crate::analysis::facts::Facts;
use crate::edit::version::{Duplicate, Versions, can_copy};
use crate::edit::{Cursor, row, to};
use hashbrown::HashSet;
use lh_ir::algebra::Cmp;
use lh_ir::cfg::Loop;
use lh_ir::func::Term;
use lh_ir::{Block, Function, Ty, Value};

/// Size limit for copying a loop, in instructions.
const MAX_INSTS: usize = 200;

struct RowVersion {
    at: Loop,
    before: Block,
    limit: Value,
    /// Branches with their guards, and whether the single thread takes the first target.
    branches: Vec<(Block, Guard, bool)>,
    moved: Vec<Value>,
}

/// Versions the first loop not seen before; false if there is none.
pub(super) fn split_one(func: &mut Function, seen: &mut HashSet<Block>) -> bool {
    let found = seen.clone();
    let fresh = |facts: &Facts<'_>| {
        let loops = &facts.loops.loops;
        (0..loops.len()).filter(|l| !found.contains(&loops[*l].header)).find_map(|l| find(facts, l))
    };
    transform_one(func, fresh, |func, cfg, dom, users, plan| {
        hoist(func, &plan.moved, plan.before);
        let d = Versions::new(func, cfg, dom, users).duplicate(&plan.at, &[]);
        seen.extend([plan.at.header, d.copies.block(plan.at.header)]);
        build_choice(func, plan, &d);
    })
}

fn find(facts: &Facts<'_>, at: usize) -> Option<RowVersion> {
    let t = thread_loop(facts, at)?;
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let size: usize = l.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
    if !l.is_innermost || size > MAX_INSTS || !can_copy(facts, at) {
        return None;
    }
    let (mut branches, mut moved) = (Vec::new(), Vec::new());
    for b in l.blocks.iter().filter(|b| **b != l.header) {
        let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { continue };
        for holds in [true, false] {
            let mut own = moved.clone();
            let found = guard::guard(facts, at, t.counted, (*b, *cond, holds), &mut own);
            if let Some(g @ Guard::Compare { op: Cmp::Eq, .. }) = found
                && then.block != els.block
            {
                branches.push((*b, g, holds));
                moved = own;
                break;
            }
        }
    }
    let plan = RowVersion { at: l.clone(), before: t.before, limit: t.counted.limit, branches, moved };
    (!plan.branches.is_empty()).then_some(plan)
}

/// Chooses the version before the loop. In the copy, no thread passes a guard.
fn build_choice(func: &mut Function, plan: &RowVersion, d: &Duplicate) {
    let params = func.blocks[d.entrance.index()].params.clone();
    let span = func.blocks[plan.at.header.index()].term_span;
    let mut c = Cursor { func, block: d.entrance, span, unwind: None, cold: false };
    let zero = c.int(0);
    let mut any = None;
    for (b, guard, then) in &plan.branches {
        let Guard::Compare { added, with, .. } = guard else { lh_ir::bug!("asked before") };
        let bound = Guard::bound(&mut c, Cmp::Eq, added, *with);
        let (from, below) = (c.le(zero, bound), c.lt(bound, plan.limit));
        let here = c.and(from, below);
        any = Some(any.map_or(here, |a| c.or(a, here)));
        let data = &mut c.func.blocks[d.copies.block(*b).index()];
        let Some(Term::Branch { then: first, els, .. }) = data.term.take() else { lh_ir::bug!("it is a branch") };
        data.term = Some(Term::Jump(if *then { els } else { first }));
    }
    let Some(any) = any else { lh_ir::bug!("a plan has branches") };
    let none = c.op(row("not"), &[any], Ty::bool());
    let copy = d.copies.block(plan.at.header);
    c.end(Term::Branch { cond: none, then: to(copy, &params), els: to(plan.at.header, &params) }, copy);
}
