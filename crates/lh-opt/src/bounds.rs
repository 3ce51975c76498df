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

mod linear;
mod range;
mod version;

use crate::counted::{Counted, Defs, counted, is_in};
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::{Device, Inst};
use lh_ir::{Block, Function};
pub(crate) use linear::{Leaf, Linear};
use range::Nest;
pub(crate) use range::Verdict;
pub(crate) use version::{Duplicate, Users, Versions, can_copy, condition};

/// Nests of more instructions are not copied as a whole.
const MAX_COPIED: usize = 400;

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    if !func.blocks.iter().any(|b| b.insts.iter().any(|d| asks(&d.inst))) {
        return false;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    if loops.loops.is_empty() {
        return false;
    }
    let defs = Defs::new(func);
    let counts: Vec<Option<Counted>> = loops.loops.iter().map(|l| counted(func, &cfg, &defs, l)).collect();
    let users = Users::new(func, &cfg, &defs);
    let (safe, mut plans) = {
        let facts = Facts { func, cfg: &cfg, dom: &dom, loops: &loops, defs: &defs, counts: &counts, users: &users };
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
    let mut versions = Versions::new(func, &cfg, &dom, &users);
    for i in 0..plans.len() {
        let renamed = versions.version(&loops.loops[plans[i].nest], &plans[i]);
        if renamed.is_empty() {
            continue;
        }
        for p in &mut plans[i + 1..] {
            let header = loops.loops[p.nest].header;
            p.rename(&|v| renamed.get(&dom, header, v));
        }
    }
    changed
}

/// Whether an instruction looks at an index: at its range, or (without checks too) whether it is negative.
fn asks(inst: &Inst) -> bool {
    matches!(inst, Inst::ElemPtr { check, wrap, .. } if *check || *wrap)
}

/// An instruction by block and place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Access(pub Block, pub usize);

fn uncheck(func: &mut Function, a: Access) {
    if let Inst::ElemPtr { wrap, check, .. } = &mut func.blocks[a.0.index()].insts[a.1].inst {
        (*wrap, *check) = (false, false);
    }
}

/// What is known about the function.
pub(crate) struct Facts<'a> {
    pub func: &'a Function,
    pub cfg: &'a Cfg,
    pub dom: &'a DomTree,
    pub loops: &'a Loops,
    pub defs: &'a Defs,
    pub counts: &'a [Option<Counted>],
    pub users: &'a Users,
}

/// A nest to be copied.
pub(crate) struct Plan {
    /// The outermost loop.
    pub nest: usize,
    /// Instructions that need no check in the copy.
    pub accesses: Vec<Access>,
    /// What must not be negative for that.
    pub conditions: Vec<Linear>,
    /// What must be of moderate size for that.
    pub leaves: Vec<Leaf>,
}

impl Plan {
    fn add(&mut self, a: Access, conditions: Vec<Linear>, leaves: Vec<Leaf>) {
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
    safe: HashSet<Access>,
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
        if !left_inside && !plan.accesses.is_empty() && size <= MAX_COPIED && version::can_copy(&self.facts, l) {
            self.plans.push(plan);
            return;
        }
        for inner in self.inner[l].clone() {
            self.plan(inner);
        }
    }
    /// Checked accesses of a loop that are not known to be safe.
    fn checked(&self, l: usize) -> Vec<Access> {
        let mut out = Vec::new();
        for b in &self.facts.loops.loops[l].blocks {
            for (i, d) in self.facts.func.blocks[b.index()].insts.iter().enumerate() {
                let a = Access(*b, i);
                if asks(&d.inst) && !self.safe.contains(&a) {
                    out.push(a);
                }
            }
        }
        out
    }
}

impl Facts<'_> {
    /// Whether a value is defined outside of a loop.
    pub(crate) fn is_invariant(&self, l: usize, v: lh_ir::Value) -> bool {
        self.defs.block(v).is_some_and(|b| !is_in(self.cfg, &self.loops.loops[l], b))
    }
    /// What can be said about an access in all iterations of a loop.
    pub(crate) fn verdict(&self, l: usize, a: Access) -> Verdict {
        Nest::new(self, l, a.0).verdict(&self.func.blocks[a.0.index()].insts[a.1].inst, true)
    }
    /// The same about what an access looks at: without a check that is the sign of the index.
    fn look(&self, l: usize, a: Access) -> Verdict {
        Nest::new(self, l, a.0).verdict(&self.func.blocks[a.0.index()].insts[a.1].inst, self.is_checked(a))
    }
    fn is_checked(&self, a: Access) -> bool {
        matches!(self.func.blocks[a.0.index()].insts[a.1].inst, Inst::ElemPtr { check: true, .. })
    }
    /// Whether a value is natural and of moderate size wherever a block of a loop is, because the launch is.
    pub(crate) fn is_small(&self, l: usize, access: Block, v: lh_ir::Value) -> bool {
        let nest = Nest::new(self, l, access);
        let range = nest.range(v, 0);
        range.is_some_and(|r| r.lo.is_natural()) && nest.leaves.take().iter().all(|l| l.is_launch())
    }
}
