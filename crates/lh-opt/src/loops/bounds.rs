//! Removes index checks in loops, or moves them out.
//!
//! ```text
//! for i in range(1, a.shape[0] - 1):      if n <= b.shape[0]:              # decided once
//!     b[i] = a[i - 1] + a[i + 1]              for i in range(1, n - 1): ...    # without checks
//!                                   ->    else:
//!                                             for i in range(1, n - 1): ...    # as it was
//! ```
//!
//! The range of an index over a whole nest of counted loops is found as linear expressions of values that do not change
//! in it. Where it lies within the extents for sure (`a` above), the check goes, and with it the look for a negative
//! index. Where that depends (`b`), the nest is copied: a test before it chooses the copy without checks, or the
//! original, in which the exception is raised where it always was, after all that comes before it.
//!
//! Requires canonical counted loops as inference and `lower_array` make them; leaves counted loops. Values of the nest
//! that are used behind it become parameters of a block in which both copies meet.

use crate::analysis::Analyses;
use crate::analysis::facts::{Facts, InstRef};
use crate::analysis::linear::{Leaf, Linear};
use crate::analysis::nest_range::Verdict;
use crate::edit::version::{Duplicate, Renamed, Versions, can_copy, condition};
use crate::edit::{Cursor, to};
use hashbrown::HashSet;
use lh_ir::Function;
use lh_ir::cfg::Loop;
use lh_ir::func::{Device, Inst, Term};

/// Nests of more instructions are not copied as a whole.
const MAX_COPIED: usize = 400;

/// Runs the pass.
pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    if !func.blocks.iter().any(|b| b.insts.iter().any(|d| asks(&d.inst))) {
        return false;
    }
    let (cfg, dom, loops) = (analyses.cfg(func), analyses.dom(func), analyses.loops(func));
    if loops.loops.is_empty() {
        return false;
    }
    let users = analyses.users(func);
    let (safe, mut plans) = {
        let facts = analyses.facts(func);
        let mut inner = vec![Vec::new(); loops.loops.len()];
        for (i, l) in loops.loops.iter().enumerate() {
            l.parent.into_iter().for_each(|p| inner[p].push(i));
        }
        let mut planner = Planner { facts, inner, safe: HashSet::new(), plans: Vec::new() };
        for top in (0..loops.loops.len()).filter(|l| loops.loops[*l].parent.is_none()) {
            planner.plan(top);
        }
        (planner.safe, planner.plans)
    };
    let changed = !safe.is_empty() || !plans.is_empty();
    for a in safe {
        uncheck(func, a);
    }
    // Earlier nests first: later ones may use what they leave, and never the other way round.
    plans.sort_by_key(|p| cfg.position(loops.loops[p.nest].header));
    let mut versions = Versions::new(func, cfg, dom, users);
    for i in 0..plans.len() {
        let renamed = version(&mut versions, &loops.loops[plans[i].nest], &plans[i]);
        if renamed.is_empty() {
            continue;
        }
        for p in &mut plans[i + 1..] {
            let header = loops.loops[p.nest].header;
            p.rename(&|v| renamed.get(dom, header, v));
        }
    }
    changed
}

/// Whether an instruction looks at an index: at its range, or (without checks too) whether it is negative.
fn asks(inst: &Inst) -> bool {
    matches!(inst, Inst::ElemPtr { check, wrap, .. } if *check || *wrap)
}

fn uncheck(func: &mut Function, a: InstRef) {
    if let Inst::ElemPtr { wrap, check, .. } = &mut func.blocks[a.0.index()].insts[a.1].inst {
        (*wrap, *check) = (false, false);
    }
}

/// A nest to be copied.
pub(crate) struct Plan {
    /// The outermost loop.
    pub nest: usize,
    /// Instructions that need no check in the copy.
    pub accesses: Vec<InstRef>,
    /// What must not be negative for that.
    pub conditions: Vec<Linear>,
    /// What must be of moderate size for that.
    pub leaves: Vec<Leaf>,
}

impl Plan {
    fn add(&mut self, a: InstRef, conditions: Vec<Linear>, leaves: Vec<Leaf>) {
        self.accesses.push(a);
        for c in conditions {
            // Of conditions that differ by a number the strictest will do.
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
    /// The plan after values got other names in its nest.
    fn rename(&mut self, name: &dyn Fn(lh_ir::Value) -> lh_ir::Value) {
        self.conditions.iter_mut().for_each(|c| *c = c.renamed(name));
        self.leaves.iter_mut().for_each(|l| *l = l.renamed(name));
    }
}

struct Planner<'a> {
    facts: Facts<'a>,
    /// By loop: those directly inside.
    inner: Vec<Vec<usize>>,
    safe: HashSet<InstRef>,
    plans: Vec<Plan>,
}

impl Planner<'_> {
    /// Plans for a loop and all inside.
    fn plan(&mut self, l: usize) {
        let func = self.facts.func;
        let blocks = &self.facts.loops.loops[l].blocks;
        let size: usize = blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum();
        let mut plan = Plan { nest: l, accesses: Vec::new(), conditions: Vec::new(), leaves: Vec::new() };
        let mut left_inside = false;
        for a in self.checked(l) {
            let innermost = self.facts.loops.innermost[a.0.index()].expect("it is in a loop");
            match self.facts.look(l, a) {
                Verdict::Safe => {
                    self.safe.insert(a);
                }
                // For GPUs, whose code shall be small, no nest is copied for the look at a sign.
                Verdict::If(conditions, leaves) if func.options.device != Device::Gpu || self.facts.is_checked(a) => {
                    plan.add(a, conditions, leaves);
                }
                Verdict::If(..) => {}
                // What cannot be told even for its own loop holds up nothing.
                Verdict::Unknown => {
                    left_inside |= innermost != l && !matches!(self.facts.look(innermost, a), Verdict::Unknown);
                }
            }
        }
        if !left_inside && !plan.accesses.is_empty() && size <= MAX_COPIED && can_copy(&self.facts, l) {
            self.plans.push(plan);
            return;
        }
        for inner in self.inner[l].clone() {
            self.plan(inner);
        }
    }
    /// Checked accesses of a loop that are not known to be safe.
    fn checked(&self, l: usize) -> Vec<InstRef> {
        let mut out = Vec::new();
        for b in &self.facts.loops.loops[l].blocks {
            for (i, d) in self.facts.func.blocks[b.index()].insts.iter().enumerate() {
                let a = InstRef(*b, i);
                if asks(&d.inst) && !self.safe.contains(&a) {
                    out.push(a);
                }
            }
        }
        out
    }
}

/// Copies a nest, without the checks of the plan, and puts the choice before it. Answers what the nest's values are
/// called behind its ways out.
fn version(versions: &mut Versions<'_>, l: &Loop, plan: &Plan) -> Renamed {
    let Duplicate { renamed, entrance, copies } = versions.duplicate(l, &plan.accesses);
    // What is left of the original raises, or looks at negative indices.
    l.blocks.iter().for_each(|b| versions.func.blocks[b.index()].cold = true);
    let params = versions.func.blocks[entrance.index()].params.clone();
    let span = versions.func.blocks[l.header.index()].term_span;
    let mut c = Cursor { func: versions.func, block: entrance, span, unwind: None, cold: false };
    let cond = condition(&mut c, &plan.conditions, &plan.leaves).expect("a plan has conditions");
    let then = to(copies.block(l.header), &params);
    c.end(Term::Branch { cond, then, els: to(l.header, &params) }, entrance);
    renamed
}
