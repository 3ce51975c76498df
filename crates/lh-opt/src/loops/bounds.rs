//! Eliminates index checks in loops, by proof or by versioning the loop nest.
//!
//! ```text
//! for i in range(1, a.shape[0] - 1):      if n <= b.shape[0]:              # decided once
//!     b[i] = a[i - 1] + a[i + 1]              for i in range(1, n - 1): ...    # without checks
//!                                   ->    else:
//!                                             for i in range(1, n - 1): ...    # original loop
//! ```
//!
//! The range of an index over a nest of counted loops is computed from linear expressions of loop-invariant values. If
//! it is certainly within the extents (`a` above), the check and the wrap-around of negative indices go. If that
//! depends on values (`b`), the nest is copied: a test before it chooses between the copy without checks and the
//! original, which raises at the right iteration.
//!
//! Requires canonical counted loops as inference and `lower_array` make them; leaves counted loops. Values of the nest
//! with uses behind it become parameters of a block where both versions meet.

use crate::analysis::Analyses;
use crate::analysis::facts::{Facts, InstRef};
use crate::analysis::linear::{Leaf, Linear};
use crate::analysis::nest_range::Verdict;
use crate::edit::version::{Duplicate, Renamed, Versions, can_copy, condition};
use crate::edit::{Cursor, to};
use hashbrown::HashSet;
use lh_ir::cfg::Loop;
use lh_ir::func::{Device, Inst, Term};
use lh_ir::{Function, Value};
use std::cell::Cell;

/// Size limit for copying a nest, in instructions.
const MAX_COPIED: usize = 400;

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    let Some((safe, mut plans)) = planned(func, analyses) else { return false };
    let changed = !safe.is_empty() || !plans.is_empty();
    for a in safe {
        drop_check(func, a);
    }
    // Earlier nests come first: later plans may use values that earlier nests define, never the reverse.
    let (cfg, dom, loops) = (analyses.cfg(func), analyses.dom(func), analyses.loops(func));
    plans.sort_by_key(|p| cfg.position(loops.loops[p.nest].header));
    let mut versions = Versions::new(func, cfg, dom, analyses.users(func));
    for i in 0..plans.len() {
        if plans[i].is_stale {
            continue;
        }
        let l = &loops.loops[plans[i].nest];
        let own: HashSet<Value> = l.blocks.iter().flat_map(|b| versions.func.blocks[b.index()].defined()).collect();
        let renamed = version(&mut versions, l, &plans[i]);
        for p in &mut plans[i + 1..] {
            let header = loops.loops[p.nest].header;
            // A value that only a condition uses behind the nest has no name there.
            let is_stale = Cell::new(p.is_stale);
            p.rename(&|v| {
                let name = renamed.get(dom, header, v);
                is_stale.set(is_stale.get() || own.contains(&name));
                name
            });
            p.is_stale = is_stale.get();
        }
    }
    changed
}

/// Removes the checks that are proved, and copies nothing: a derivative has these accesses twice.
pub(crate) fn prove(func: &mut Function, analyses: &Analyses) -> bool {
    let safe = planned(func, analyses).map(|p| p.0).unwrap_or_default();
    for a in &safe {
        drop_check(func, *a);
    }
    !safe.is_empty()
}

/// The accesses that are proved, and the plans for nests with others; `None` if there is no check in a loop.
fn planned(func: &Function, analyses: &Analyses) -> Option<(HashSet<InstRef>, Vec<VersionPlan>)> {
    let loops = analyses.loops(func);
    if loops.loops.is_empty() || !func.blocks.iter().any(|b| b.insts.iter().any(|d| checks_index(&d.inst))) {
        return None;
    }
    let mut inner = vec![Vec::new(); loops.loops.len()];
    for (i, l) in loops.loops.iter().enumerate() {
        l.parent.into_iter().for_each(|p| inner[p].push(i));
    }
    let mut planner = Planner { facts: analyses.facts(func), inner, safe: HashSet::new(), plans: Vec::new() };
    for top in (0..loops.loops.len()).filter(|l| loops.loops[*l].parent.is_none()) {
        planner.plan(top);
    }
    Some((planner.safe, planner.plans))
}

/// Whether an access checks its index, or wraps a negative one around.
fn checks_index(inst: &Inst) -> bool {
    matches!(inst, Inst::ElemPtr { check, wrap, .. } if *check || *wrap)
}

fn drop_check(func: &mut Function, a: InstRef) {
    if let Inst::ElemPtr { wrap, check, .. } = &mut func.blocks[a.0.index()].insts[a.1].inst {
        (*wrap, *check) = (false, false);
    }
}

pub(crate) struct VersionPlan {
    /// The outermost loop of the nest.
    pub nest: usize,
    /// Accesses without a check in the copy.
    pub accesses: Vec<InstRef>,
    /// Expressions that must be non-negative for the copy to run.
    pub conditions: Vec<Linear>,
    /// Values that must be of moderate size, so that the conditions do not overflow.
    pub leaves: Vec<Leaf>,
    /// Whether a nest that was copied before has values of the conditions that are not there behind it.
    pub is_stale: bool,
}

impl VersionPlan {
    fn add(&mut self, a: InstRef, conditions: Vec<Linear>, leaves: Vec<Leaf>) {
        self.accesses.push(a);
        for c in conditions {
            // If conditions differ only in the constant, the strictest implies the others.
            match self.conditions.iter_mut().find(|o| o.terms == c.terms) {
                Some(old) => old.constant = old.constant.min(c.constant),
                None => self.conditions.push(c),
            }
        }
        for l in leaves {
            if !self.leaves.contains(&l) {
                self.leaves.push(l);
            }
        }
    }
    /// Renames values after another nest was copied.
    fn rename(&mut self, name: &dyn Fn(Value) -> Value) {
        self.conditions.iter_mut().for_each(|c| *c = c.renamed(name));
        self.leaves.iter_mut().for_each(|l| *l = l.renamed(name));
    }
}

struct Planner<'a> {
    facts: Facts<'a>,
    /// The loops directly inside of each loop.
    inner: Vec<Vec<usize>>,
    safe: HashSet<InstRef>,
    plans: Vec<VersionPlan>,
}

impl Planner<'_> {
    /// Plans a loop, or else the loops inside it.
    fn plan(&mut self, l: usize) {
        let func = self.facts.func;
        let blocks = &self.facts.loops.loops[l].blocks;
        let size: usize = blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
        let mut plan =
            VersionPlan { nest: l, accesses: Vec::new(), conditions: Vec::new(), leaves: Vec::new(), is_stale: false };
        let mut left_inside = false;
        for a in self.checked(l) {
            let innermost = self.facts.loops.innermost[a.0.index()].expect("it is in a loop");
            match self.facts.verdict_of_check(l, a) {
                Verdict::Safe => {
                    self.safe.insert(a);
                }
                // On GPUs, where code size counts, wrap-around alone is no reason to copy a nest.
                Verdict::If(conditions, leaves) if func.options.device != Device::Gpu || self.facts.is_checked(a) => {
                    plan.add(a, conditions, leaves);
                }
                Verdict::If(..) => {}
                // An access that cannot be proved even for its innermost loop does not keep the nest from being
                // versioned.
                Verdict::Unknown => {
                    left_inside |=
                        innermost != l && !matches!(self.facts.verdict_of_check(innermost, a), Verdict::Unknown);
                }
            }
        }
        let is_cold = func.blocks[self.facts.loops.loops[l].header.index()].cold;
        if !left_inside && !is_cold && !plan.accesses.is_empty() && size <= MAX_COPIED && can_copy(&self.facts, l) {
            self.plans.push(plan);
            return;
        }
        for inner in self.inner[l].clone() {
            self.plan(inner);
        }
    }
    /// The checked accesses of a loop that are not proved safe.
    fn checked(&self, l: usize) -> Vec<InstRef> {
        let mut out = Vec::new();
        for b in &self.facts.loops.loops[l].blocks {
            for (i, d) in self.facts.func.blocks[b.index()].insts.iter().enumerate() {
                let a = InstRef(*b, i);
                if checks_index(&d.inst) && !self.safe.contains(&a) {
                    out.push(a);
                }
            }
        }
        out
    }
}

/// Versions a nest by its plan. Answers with the new names of the nest's values behind its exits.
fn version(versions: &mut Versions<'_>, l: &Loop, plan: &VersionPlan) -> Renamed {
    let Duplicate { renamed, entrance, copies } = versions.duplicate(l, &plan.accesses);
    // The original now runs only if a check may fail or an index may be negative.
    l.blocks.iter().for_each(|b| versions.func.blocks[b.index()].cold = true);
    let params = versions.func.blocks[entrance.index()].params.clone();
    let span = versions.func.blocks[l.header.index()].term_span;
    let mut c = Cursor { func: versions.func, block: entrance, span, unwind: None, cold: false };
    let cond = condition(&mut c, &plan.conditions, &plan.leaves).expect("a plan has conditions");
    let then = to(copies.block(l.header), &params);
    c.end(Term::Branch { cond, then, els: to(l.header, &params) }, entrance);
    renamed
}
