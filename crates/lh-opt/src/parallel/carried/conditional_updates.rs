//! Conditional updates: `if x < best: best = x; where = i`, or `if found(i): last = i`.
//!
//! Each block of iterations starts with the values before the loop; the results of blocks are combined in order. A
//! block's result is taken if its best value beats the best of the blocks before, or if a carried flag says that the
//! block has set it. `<` keeps the first of equal values and needs no flag; `<=` keeps the last.

use super::{LoopFacts, Use};
use crate::edit::row;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, Edge};
use lh_ir::func::{Inst, InstData};
use lh_ir::{Block, Const, Function, Op, Ty, Value};

/// Header parameters that are updated together.
pub(super) struct Group {
    /// Position of the compared parameter if there is one.
    pub(super) first: usize,
    pub(super) places: Vec<usize>,
    /// The comparison of a better value with the best so far.
    pub(super) by: Option<&'static Op>,
    /// The definitions of the first parameter in an iteration.
    steps: Vec<Step>,
}

impl Group {
    /// Whether the result of a block does not show if the block has set it.
    pub(super) fn needs_flag(&self) -> bool {
        self.by.is_none_or(|op| matches!(op.algebra, Algebra::Cmp(Cmp::Le | Cmp::Ge)))
    }
}

/// A definition in an iteration: a block parameter or a select.
struct Step {
    value: Value,
    at: StepKind,
    /// Its operands with the numbers of their definitions; `None` for a new value.
    from: Vec<(Value, Option<usize>)>,
}

#[derive(PartialEq)]
enum StepKind {
    /// A block parameter, with its incoming edges.
    Join(Block, Vec<Edge>),
    /// A select by a condition.
    Select(Value),
}

/// A comparison with a definition as its second operand.
struct Compared {
    result: Value,
    other: Value,
    step: Value,
    by: &'static Op,
}

/// All definitions of a header parameter in an iteration.
struct Web {
    place: usize,
    steps: Vec<Step>,
    compared: Vec<Compared>,
}

/// Groups the header parameters at some positions into conditional updates; `flags` are the definitions of their flags.
pub(super) fn groups(facts: &LoopFacts<'_>, places: &[usize], flags: &[Value]) -> Vec<Group> {
    let mut webs: Vec<Web> = places.iter().filter_map(|place| Web::of(facts, *place)).collect();
    let mut out = Vec::new();
    while let Some(i) = webs.iter().position(|w| !w.compared.is_empty()) {
        let best = webs.remove(i);
        let with: Vec<&Web> = webs.iter().filter(|w| best.updates_with(w)).collect();
        let places: Vec<usize> = [best.place].into_iter().chain(with.iter().map(|w| w.place)).collect();
        if best.is_extremum(facts, &|v| flags.contains(&v) || best.is_step(v) || with.iter().any(|w| w.is_step(v))) {
            webs.retain(|w| !places.contains(&w.place));
            out.push(Group { first: best.place, places, by: Some(best.compared[0].by), steps: best.steps });
        }
    }
    out.extend(webs.into_iter().map(|w| Group { first: w.place, places: vec![w.place], by: None, steps: w.steps }));
    out
}

impl Web {
    fn of(facts: &LoopFacts<'_>, place: usize) -> Option<Web> {
        let LoopFacts { func, r, .. } = *facts;
        let p = func.blocks[r.header.index()].params[place];
        if func.ty(p).is_counted() || func.ty(p).mem_layout().1 == 0 {
            return None;
        }
        let (mut values, mut all, mut compared, mut at) = (vec![p], vec![p], Vec::new(), 0);
        while at < all.len() {
            let v = all[at];
            for u in &facts.uses[v.index()] {
                let next = match *u {
                    // The value also passes to another header parameter.
                    Use::Arg(to, i) if to == r.header && i != place => return None,
                    Use::Arg(to, i) if r.inside[to.index()] => func.blocks[to.index()].params[i],
                    Use::Arg(..) if v == p => continue,
                    Use::Inst(b, i) => {
                        let d = &func.blocks[b.index()].insts[i];
                        match (&d.inst, d.result?) {
                            (Inst::Op(op, args), next) if op.is(Algebra::Select) && args[0] != v => next,
                            (Inst::Cast(_), next) if facts.source(next) == facts.source(v) => next,
                            (Inst::Op(op, args), result) => {
                                compared.push(comparison(op, args, v, result)?);
                                continue;
                            }
                            _ => return None,
                        }
                    }
                    Use::Arg(..) | Use::Other | Use::Branch(_) => return None,
                };
                if !all.contains(&next) {
                    all.push(next);
                    values.extend(Some(next).filter(|v| facts.source(*v) == *v));
                }
            }
            at += 1;
        }
        let number = |v: &Value| (*v, values.iter().position(|x| *x == facts.source(*v)));
        let step = |v: &Value| match facts.inst(*v) {
            Some(Inst::Op(_, args)) => {
                Step { value: *v, at: StepKind::Select(args[0]), from: args[1..].iter().map(number).collect() }
            }
            _ => {
                let (edges, from): (_, Vec<Value>) = facts.edges(*v).into_iter().unzip();
                let b = facts.defs.block(*v).unwrap_or(r.header);
                Step { value: *v, at: StepKind::Join(b, edges), from: from.iter().map(number).collect() }
            }
        };
        let web = Web { place, steps: values.iter().map(step).collect(), compared };
        // At each update the old value is unambiguous, and there is at least one update.
        let is_clear = |s: &Step| {
            let mut old = s.from.iter().filter_map(|(_, n)| *n);
            let first = old.next();
            first.is_some() && (s.from.iter().all(|(_, n)| n.is_some()) || old.all(|n| Some(n) == first))
        };
        let is_set = web.steps.iter().flat_map(|s| &s.from).any(|(_, n)| n.is_none());
        (is_set && web.steps.iter().all(is_clear) && !web.compared.iter().any(|c| web.is_step(c.other))).then_some(web)
    }

    fn is_step(&self, v: Value) -> bool {
        self.steps.iter().any(|s| s.value == v)
    }

    /// Whether another parameter is updated in the same places.
    fn updates_with(&self, other: &Web) -> bool {
        let same = |(a, b): (&Step, &Step)| a.at == b.at && a.from.iter().map(|f| f.1).eq(b.from.iter().map(|f| f.1));
        other.compared.is_empty()
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(same)
    }

    /// Whether the parameter is set only to better values, and the comparisons decide nothing but the group.
    fn is_extremum(&self, facts: &LoopFacts<'_>, is_among: &dyn Fn(Value) -> bool) -> bool {
        let (mut branches, mut conditions) = (Vec::new(), Vec::new());
        for c in &self.compared {
            let mut all = vec![c.result];
            let mut at = 0;
            while at < all.len() {
                for u in &facts.uses[all[at].index()] {
                    match *u {
                        Use::Branch(b) if facts.only_selects(b, is_among) => branches.push((b, c)),
                        Use::Inst(b, i) => match &facts.func.blocks[b.index()].insts[i] {
                            InstData { inst: Inst::Op(op, _), result: Some(both), .. }
                                if op.is(Algebra::And) && facts.func.ty(*both).is_bool() =>
                            {
                                all.extend(Some(*both).filter(|v| !all.contains(v)));
                            }
                            d if d.result.is_some_and(is_among) => {}
                            _ => return false,
                        },
                        _ => return false,
                    }
                }
                at += 1;
            }
            conditions.extend(all.into_iter().map(|cond| (cond, c)));
        }
        // The branches after which a comparison holds.
        let is_after = |e: Edge, new: Value, by: &dyn Fn(&Compared, Value) -> bool| {
            branches.iter().any(|(b, c)| by(c, new) && facts.only_after(e, *b, true))
        };
        let is_better = |s: &Step| {
            let old = s.from.iter().find_map(|(_, n)| *n).map(|n| self.steps[n].value);
            let by = |c: &Compared, new: Value| Some(facts.source(c.step)) == old && facts.is_same(c.other, new);
            s.from.iter().enumerate().filter(|(_, f)| f.1.is_none()).all(|(i, (new, _))| match &s.at {
                StepKind::Select(cond) => {
                    let is_tested = i == 0 && conditions.iter().any(|(v, c)| v == cond && by(c, *new));
                    let within = || facts.defs.block(s.value).map(|from| Edge { from, target: None });
                    is_tested || within().is_some_and(|e| is_after(e, *new, &by))
                }
                StepKind::Join(_, edges) => is_after(edges[i], *new, &by),
            })
        };
        self.compared.iter().all(|c| c.by == self.compared[0].by) && self.steps.iter().all(is_better)
    }
}

fn comparison(op: &'static Op, args: &[Value], step: Value, result: Value) -> Option<Compared> {
    let swapped = match op.comparison()? {
        Cmp::Lt => "gt",
        Cmp::Le => "ge",
        Cmp::Gt => "lt",
        Cmp::Ge => "le",
        Cmp::Eq | Cmp::Ne => return None,
    };
    let is_second = args[1] == step;
    let by = if is_second { op } else { row(swapped) };
    Some(Compared { result, other: args[usize::from(!is_second)], step, by })
}

/// Adds a loop-carried flag that records whether an iteration has updated the group.
pub(super) fn add_flag(func: &mut Function, cfg: &Cfg, group: &Group) -> Value {
    let flags: Vec<Value> = group.steps.iter().map(|_| func.new_value(Ty::bool())).collect();
    for (s, flag) in group.steps.iter().zip(&flags) {
        let of = |n: Option<usize>| n.map(|n| flags[n]);
        match &s.at {
            StepKind::Join(b, edges) => {
                func.blocks[b.index()].params.push(*flag);
                for e in cfg.preds(*b) {
                    let known = edges.iter().position(|x| x == e).map(|i| of(s.from[i].1));
                    let at = func.blocks[e.from.index()].insts.len();
                    let constant = |func: &mut Function, is_set| {
                        let v = func.new_value(Ty::bool());
                        insert(func, e.from, at, v, Inst::Const(Const::Bool(is_set)));
                        v
                    };
                    let v = known.flatten().unwrap_or_else(|| constant(func, known.is_some()));
                    let term = func.blocks[e.from.index()].term.as_mut().zip(e.target);
                    term.into_iter().for_each(|(t, n)| t.targets_mut()[n as usize].args.push(v));
                }
            }
            StepKind::Select(cond) => {
                let has = |d: &InstData| d.result == Some(s.value);
                let found = func.blocks.iter().enumerate().find_map(|(b, d)| Some((b, d.insts.iter().position(has)?)));
                let Some((b, at)) = found.map(|(b, at)| (Block::new(b), at)) else { continue };
                let inst = match (of(s.from[0].1), of(s.from[1].1)) {
                    (Some(x), Some(y)) => Inst::Op(row("select"), vec![*cond, x, y]),
                    (Some(old), None) => {
                        let no = func.new_value(Ty::bool());
                        insert(func, b, at, no, Inst::Op(row("not"), vec![*cond]));
                        Inst::Op(row("or"), vec![old, no])
                    }
                    (_, old) => Inst::Op(row("or"), vec![old.unwrap_or(*cond), *cond]),
                };
                let at = at + usize::from(matches!((s.from[0].1, s.from[1].1), (Some(_), None)));
                insert(func, b, at, *flag, inst);
            }
        }
    }
    flags[0]
}

fn insert(func: &mut Function, b: Block, at: usize, result: Value, inst: Inst) {
    let data = &mut func.blocks[b.index()];
    let span = data.insts.get(at).map_or(data.term_span, |d| d.span);
    data.insts.insert(at, InstData { result: Some(result), inst, span });
}
