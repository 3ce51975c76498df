//! Selects the guards of a loop and the instructions that the inspector needs to evaluate them.

use crate::analysis::dominating_branches::dominating_branches;
use crate::analysis::facts::{Facts, InstRef};
use crate::analysis::linear::{Leaf, Linear};
use crate::analysis::nest_range::Verdict;
use crate::analysis::sequential::{Order, may_reassociate, order};
use crate::edit::overlap::may_overlap_itself;
use crate::edit::version::can_copy;
use hashbrown::HashSet;
use lh_ir::func::{Inst, Term, fastmath};
use lh_ir::{Block, Value};

/// Size limit for loops, in instructions.
const MAX_BODY: usize = 200;
/// Size limit for the inspector, beyond which it costs more than it saves.
const MAX_SLICE: usize = 64;

/// A branch of the loop that raises.
pub(super) struct Guard {
    /// The block with the branch.
    pub block: Block,
    /// The condition of the branch.
    pub cond: Value,
    /// The truth value for which it raises.
    pub raises_if: bool,
    /// Conditions on the path to the block, with their values there.
    pub path: Vec<(Value, bool)>,
}

/// The split of a loop into inspector and executor.
pub(super) struct Split {
    pub at: usize,
    pub guards: Vec<Guard>,
    /// Instructions that compute the guards' conditions, in order.
    pub slice: Vec<InstRef>,
    /// Pairs of arrays that must not overlap, each other or themselves.
    pub disjoint: Vec<(Value, Value)>,
    /// Expressions that must be non-negative for all reads of the inspector to be within their arrays.
    pub conditions: Vec<Linear>,
    /// Values that must be of moderate size, so that the conditions do not overflow.
    pub leaves: Vec<Leaf>,
}

/// Plans a loop, if the split is possible and may pay.
pub(super) fn plan(facts: &Facts<'_>, at: usize) -> Option<Split> {
    let counted = facts.counts[at].as_ref().filter(|c| c.step == 1)?;
    let l = &facts.loops.loops[at];
    let blocks = || l.blocks.iter().map(|b| &facts.func.blocks[b.index()]);
    let size: usize = blocks().map(|d| d.insts.len()).sum();
    let is_supported = size <= MAX_BODY && blocks().all(|d| d.unwind.is_none() && !d.cold);
    if !is_supported || !can_reorder_carried(facts, at) || !can_copy(facts, at) {
        return None;
    }
    let stores = stores(facts, at).filter(|s| s.iter().all(|to| can_reorder_stores(facts, at, to)))?;
    let mut guards = guards(facts, at)?;
    let mut plan = Split { at, guards: vec![], slice: vec![], disjoint: vec![], conditions: vec![], leaves: vec![] };
    let mut slice = Slice { facts, at, index: counted.index, stores: &stores, insts: HashSet::new(), plan: &mut plan };
    for g in &mut guards {
        if !slice.add(g.cond) {
            return None;
        }
        // Without a path condition, the inspector may find a guard true that is never reached: slow but correct.
        g.path.retain(|(v, _)| slice.add(*v));
    }
    let insts = slice.insts;
    plan.slice = l
        .blocks
        .iter()
        .flat_map(|b| (0..facts.func.blocks[b.index()].insts.len()).map(|i| InstRef(*b, i)))
        .filter(|a| insts.contains(a))
        .collect();
    plan.guards = guards;
    (plan.slice.len() <= MAX_SLICE).then_some(plan)
}

/// Whether a vectoriser may reorder the loop-carried values: integers, floats that do not depend on themselves, and
/// sums that are added up in order from vectors of terms.
fn can_reorder_carried(facts: &Facts<'_>, at: usize) -> bool {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let params = &func.blocks[l.header.index()].params;
    let is_free = |p: &Value| may_reassociate(func, facts.cfg, facts.defs, l, *p);
    let mut floats = params.iter().filter(|p| !func.ty(**p).is_int());
    params.iter().all(|p| func.ty(*p).is_int() || func.ty(*p).is_float())
        && (floats.all(is_free) || order(func, facts.cfg, facts.defs, l) == Order::Vectors)
}

/// Whether a vectoriser may reorder the stores to an element: iterations store to different elements, or the sum of
/// floats may be reassociated.
fn can_reorder_stores(facts: &Facts<'_>, at: usize, to: &Inst) -> bool {
    let Inst::ElemPtr { array, index, .. } = to else { return false };
    let is_float = facts.func.ty(*array).as_array().is_some_and(|(element, ..)| element.is_float());
    let reorders = facts.func.options.fastmath & fastmath::REASSOC != 0;
    !is_float
        || reorders
        || !index.iter().all(|i| facts.is_invariant(at, *i) || facts.defs.int(facts.func, *i).is_some())
}

/// The addresses of all stores of a loop; `None` if it has other effects or writes to an array that changes.
fn stores<'a>(facts: &Facts<'a>, at: usize) -> Option<Vec<&'a Inst>> {
    let func = facts.func;
    let mut out = Vec::new();
    for d in facts.loops.loops[at].blocks.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        match &d.inst {
            Inst::Store(to, v) if func.ty(*v).is_number() || func.ty(*v).is_bool() => {
                let to = facts.defs.inst(func, *to)?;
                let Inst::ElemPtr { array, .. } = to else { return None };
                if !facts.is_invariant(at, *array) {
                    return None;
                }
                out.push(to);
            }
            // A call that passes numbers only cannot change an array.
            Inst::Call(_, args) => {
                let numbers = args.iter().chain(&d.result).all(|v| func.ty(*v).is_number() || func.ty(*v).is_bool());
                if !numbers {
                    return None;
                }
            }
            inst if inst.can_raise() || !inst.is_pure() => return None,
            _ => {}
        }
    }
    Some(out)
}

/// The guards of a loop: its exits other than the header's. `None` if there are none or if one does not raise.
fn guards(facts: &Facts<'_>, at: usize) -> Option<Vec<Guard>> {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let raises = |b: Block| matches!(func.blocks[b.index()].term, Some(Term::Raise { .. }));
    let mut out = Vec::new();
    for b in l.blocks.iter().filter(|b| **b != l.header) {
        match &func.blocks[b.index()].term {
            Some(Term::Jump(t)) if inside.contains(&t.block) => {}
            Some(Term::Branch { cond, then, els }) => {
                match (inside.contains(&then.block), inside.contains(&els.block)) {
                    (true, true) => {}
                    (false, true) if raises(then.block) => {
                        out.push(Guard { block: *b, cond: *cond, raises_if: true, path: path(facts, at, *b) });
                    }
                    (true, false) if raises(els.block) => {
                        out.push(Guard { block: *b, cond: *cond, raises_if: false, path: path(facts, at, *b) });
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Conditions of dominating branches within the loop, as far as a block has a single predecessor.
fn path(facts: &Facts<'_>, at: usize, block: Block) -> Vec<(Value, bool)> {
    let (func, header) = (facts.func, facts.loops.loops[at].header);
    let raises = |b: &Block| matches!(func.blocks[b.index()].term, Some(Term::Raise { .. }));
    let is_guard =
        |from: Block| func.blocks[from.index()].term.iter().flat_map(Term::targets).any(|t| raises(&t.block));
    let branches = dominating_branches(func, facts.cfg, facts.dom, block, header);
    branches.filter(|b| b.from != header && !is_guard(b.from)).map(|b| (b.cond, b.holds)).collect()
}

/// Collects the instructions that compute the guards' conditions.
struct Slice<'a, 'p> {
    facts: &'a Facts<'a>,
    at: usize,
    index: Value,
    stores: &'a [&'a Inst],
    insts: HashSet<InstRef>,
    plan: &'p mut Split,
}

impl Slice<'_, '_> {
    /// Adds a value with its operands; adds nothing and answers false if the inspector cannot compute it.
    fn add(&mut self, v: Value) -> bool {
        let before = self.insts.clone();
        let sizes = (self.plan.disjoint.len(), self.plan.conditions.len(), self.plan.leaves.len());
        let fits = self.visit(v);
        if !fits {
            self.insts = before;
            self.plan.disjoint.truncate(sizes.0);
            self.plan.conditions.truncate(sizes.1);
            self.plan.leaves.truncate(sizes.2);
        }
        fits
    }

    fn visit(&mut self, v: Value) -> bool {
        if v == self.index || self.facts.is_invariant(self.at, v) {
            return true;
        }
        let (func, defs) = (self.facts.func, self.facts.defs);
        let (Some(inst), Some(b)) = (defs.inst(func, v), defs.block(v)) else { return false };
        let at = InstRef(b, defs.place(v));
        if self.insts.contains(&at) {
            return true;
        }
        if self.insts.len() > MAX_SLICE || !self.can_inspect(at, inst) {
            return false;
        }
        self.insts.insert(at);
        let mut all = true;
        inst.for_each_operand(|o| all = all && self.visit(o));
        all
    }

    /// Whether an instruction neither raises nor traps, and gives the same result before the strip as in it.
    fn can_inspect(&mut self, at: InstRef, inst: &Inst) -> bool {
        match inst {
            Inst::Const(_) | Inst::Zero | Inst::Cast(_) | Inst::Pack(_) | Inst::Field(..) => true,
            Inst::Op(op, _) => !op.may_trap(),
            Inst::ArrayShape(..) | Inst::ArrayStride(..) => true,
            Inst::ElemPtr { wrap, check, .. } => !*wrap && !*check && self.stays_inside(at),
            Inst::Load(from) => {
                let number = self.facts.func.ty(self.result(at)).is_number();
                let from = self.facts.defs.inst(self.facts.func, *from);
                number && from.is_some_and(|f| self.is_not_overwritten(f))
            }
            _ => false,
        }
    }

    fn result(&self, at: InstRef) -> Value {
        self.facts.func.blocks[at.0.index()].insts[at.1].result.expect("it is an operand")
    }

    /// Whether an access is within its array for the whole loop; conditions for that are added to the plan.
    fn stays_inside(&mut self, at: InstRef) -> bool {
        match self.facts.verdict(self.at, at) {
            Verdict::Safe => true,
            Verdict::If(conditions, leaves) => {
                let (c, l) = (&mut self.plan.conditions, &mut self.plan.leaves);
                conditions.into_iter().for_each(|x| {
                    if !c.contains(&x) {
                        c.push(x)
                    }
                });
                leaves.into_iter().for_each(|x| {
                    if !l.contains(&x) {
                        l.push(x)
                    }
                });
                true
            }
            Verdict::Unknown => false,
        }
    }

    /// Whether no earlier iteration writes the element that is read; adds pairs of arrays to test to the plan.
    fn is_not_overwritten(&mut self, from: &Inst) -> bool {
        let Inst::ElemPtr { array, index, .. } = from else { return false };
        if !self.facts.is_invariant(self.at, *array) {
            return false;
        }
        for to in self.stores {
            let Inst::ElemPtr { array: written, index: places, .. } = to else { return false };
            let pair = (*array, *written);
            let is_tested = written != array || may_overlap_itself(self.facts.func.ty(*array));
            if is_tested && !self.plan.disjoint.contains(&pair) {
                self.plan.disjoint.push(pair);
            }
            if written != array {
                continue;
            }
            // Each iteration accesses an element of its own.
            let moves = |i: &Value| self.facts.defs.offset(self.facts.func, *i).0 == self.index;
            if index != places || !index.iter().any(moves) {
                return false;
            }
        }
        true
    }
}
