//! Tests conditions that raise before a loop in which they do not vary: the loop without them can become vectors.
//!
//! ```text
//! before: jump header(v1)              before: jump entrance(v1)
//! header(i): ...                ->     entrance(v2): v8 = eq v0, 0; branch v8, header(v2), copy(v2)
//!     v5 = eq v0, 0                    header(i): ...                  ; cold, with the test
//!     branch v5, raise(), next()       copy(i'): ... jump next'()      ; without it
//! ```
//!
//! The exception is still raised in the iteration that raises it, after what this does before. Only conditions that a
//! few pure instructions compute from values outside of the loop are tested again before it.

use crate::analysis::Analyses;
use crate::analysis::counted::Defs;
use crate::edit::version::{Duplicate, Versions, can_copy};
use crate::edit::{Cursor, row, to};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Loop, Loops};
use lh_ir::func::{Inst, Term};
use lh_ir::{Block, Function, Ty, Value};

/// Size limit for copying a nest, in instructions.
const MAX_COPIED: usize = 200;
/// The deepest tree of instructions that a condition is computed by.
const MAX_DEPTH: u32 = 8;

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    let loops = analyses.loops(func);
    if loops.loops.is_empty() {
        return false;
    }
    let (cfg, dom, users) = (analyses.cfg(func), analyses.dom(func), analyses.users(func));
    let plans = {
        let (facts, defs) = (analyses.facts(func), Defs::new(func));
        let mut plans = Vec::new();
        let mut order: Vec<usize> = (0..loops.loops.len()).collect();
        // A copy has the names of values that its original has when it is made: those of nests before it come first.
        order.sort_by_key(|l| cfg.position(loops.loops[*l].header));
        for top in order.iter().copied().filter(|l| loops.loops[*l].parent.is_none()) {
            plan(&Planner { func, loops, order: &order, defs: &defs }, top, &|l| can_copy(&facts, l), &mut plans);
        }
        plans
    };
    let mut versions = Versions::new(func, cfg, dom, users);
    for p in &plans {
        version(&mut versions, &loops.loops[p.nest], p);
    }
    !plans.is_empty()
}

/// A branch of a loop of which one side raises.
struct Check {
    block: Block,
    cond: Value,
    /// Whether it raises where the condition holds.
    raises_if: bool,
}

struct Plan {
    nest: usize,
    checks: Vec<Check>,
    /// The instructions that compute the conditions, operands first.
    insts: Vec<(Value, Inst)>,
}

struct Planner<'a> {
    func: &'a Function,
    loops: &'a Loops,
    /// All loops in reverse postorder of their headers.
    order: &'a [usize],
    defs: &'a Defs,
}

/// Plans a loop, or else the loops inside of it.
fn plan(p: &Planner<'_>, l: usize, can_copy: &dyn Fn(usize) -> bool, plans: &mut Vec<Plan>) {
    let nest = &p.loops.loops[l];
    let size: usize = nest.blocks.iter().map(|b| p.func.blocks[b.index()].insts.len()).sum();
    let (checks, insts) = if size <= MAX_COPIED { p.checks(nest) } else { Default::default() };
    // Values of a nest that is copied have other names behind it, which the plan of a later one would have to follow.
    let reads = |earlier: &Plan| {
        let inside = &p.loops.loops[earlier.nest].blocks;
        let uses = |v: Value| p.defs.block(v).is_some_and(|b| inside.contains(&b));
        insts.iter().any(|(_, inst)| {
            let mut found = false;
            inst.for_each_operand(|v: Value| found |= uses(v));
            found
        }) || checks.iter().any(|c| uses(c.cond))
    };
    if !checks.is_empty() && !p.func.blocks[nest.header.index()].cold && can_copy(l) && !plans.iter().any(reads) {
        plans.push(Plan { nest: l, checks, insts });
        return;
    }
    for inner in p.order.iter().copied().filter(|i| p.loops.loops[*i].parent == Some(l)) {
        plan(p, inner, can_copy, plans);
    }
}

impl Planner<'_> {
    /// The branches of a loop that raise by a condition which does not vary in it, with what computes the conditions.
    fn checks(&self, l: &Loop) -> (Vec<Check>, Vec<(Value, Inst)>) {
        let inside: HashSet<Block> = l.blocks.iter().copied().collect();
        let (mut checks, mut insts) = (Vec::new(), Vec::new());
        for b in &l.blocks {
            let Some(Term::Branch { cond, then, els }) = &self.func.blocks[b.index()].term else { continue };
            let raises = |b: Block| {
                let ends = matches!(self.func.blocks[b.index()].term, Some(Term::Raise { .. } | Term::Unreachable));
                ends && !inside.contains(&b)
            };
            let raises_if = match (raises(then.block), raises(els.block)) {
                (true, false) => true,
                (false, true) => false,
                _ => continue,
            };
            let known = insts.len();
            if self.collect(*cond, &inside, MAX_DEPTH, &mut insts) {
                checks.push(Check { block: *b, cond: *cond, raises_if });
            } else {
                insts.truncate(known);
            }
        }
        (checks, insts)
    }

    /// Adds the instructions that compute a value from others outside of a loop; false if that cannot be done.
    fn collect(&self, v: Value, inside: &HashSet<Block>, depth: u32, insts: &mut Vec<(Value, Inst)>) -> bool {
        if !self.defs.block(v).is_some_and(|b| inside.contains(&b)) || insts.iter().any(|(known, _)| *known == v) {
            return true;
        }
        let Some(inst @ (Inst::Const(_) | Inst::Op(..) | Inst::Cast(_))) = self.defs.inst(self.func, v) else {
            return false;
        };
        let mut operands = Vec::new();
        inst.for_each_operand(|v: Value| operands.push(v));
        let all = depth > 0 && operands.into_iter().all(|v| self.collect(v, inside, depth - 1, insts));
        if all {
            insts.push((v, inst.clone()));
        }
        all
    }
}

fn version(versions: &mut Versions<'_>, l: &Loop, plan: &Plan) {
    let Duplicate { entrance, copies, .. } = versions.duplicate(l, &[]);
    for check in &plan.checks {
        let data = &mut versions.func.blocks[copies.block(check.block).index()];
        if let Some(Term::Branch { then, els, .. }) = &data.term {
            let good = if check.raises_if { els } else { then };
            data.term = Some(Term::Jump(good.clone()));
        }
    }
    // The original now runs only if it raises.
    l.blocks.iter().for_each(|b| versions.func.blocks[b.index()].cold = true);
    let params = versions.func.blocks[entrance.index()].params.clone();
    let span = versions.func.blocks[l.header.index()].term_span;
    let mut c = Cursor { func: versions.func, block: entrance, span, unwind: None, cold: false };
    let mut names: HashMap<Value, Value> = HashMap::new();
    for (v, inst) in &plan.insts {
        let (mut inst, ty) = (inst.clone(), c.func.ty(*v));
        inst.for_each_operand_mut(&mut |v: &mut Value| *v = names.get(v).copied().unwrap_or(*v));
        let new = c.inst(inst, ty);
        names.insert(*v, new);
    }
    let mut raises = None;
    for check in &plan.checks {
        let cond = names.get(&check.cond).copied().unwrap_or(check.cond);
        let cond = if check.raises_if { cond } else { c.op(row("not"), &[cond], Ty::bool()) };
        raises = Some(raises.map_or(cond, |r| c.or(r, cond)));
    }
    let cond = raises.expect("a plan has checks");
    let els = to(copies.block(l.header), &params);
    c.end(Term::Branch { cond, then: to(l.header, &params), els }, entrance);
}
