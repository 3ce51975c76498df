//! Classifies loop-carried variables: induction variable, reduction, conditional update, or the value of the last
//! iteration.
//!
//! ```text
//! for i in prange(n):
//!     s += a[i]                   ; a reduction by `add`
//!     if a[i] > m:                ; a conditional update of `m` and `k`
//!         m, k = a[i], i
//!     last = b[i]                 ; the value of the last iteration
//!     p = a[i] - p                ; none of these: the next iteration depends on it
//! ```

mod conditional_updates;

use super::region::{CARRIED, Reason, Region};
use crate::analysis::counted::{Defs, target_of};
use crate::analysis::effects::{Callees, has_no_effect};
use lh_ir::algebra::{Algebra, AnyOrder, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Edge, targets};
use lh_ir::func::{Inst, Parallel, Term, fastmath};
use lh_ir::{Block, Const, Function, Meaning, Op, SpecId, Ty, Value};

/// A reduction operator; operands may be combined in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reduce {
    Add,
    Mul,
    And,
    Or,
    Xor,
    Max,
    Min,
    /// An idempotent operation.
    Row(&'static lh_ir::Op),
    /// A library function that multiplies complex numbers of this type.
    Product(SpecId, Ty),
    /// A private copy for each block of iterations; the copy of the last block survives.
    Private,
    /// An idempotent library function on numbers of this type.
    Call(SpecId, Ty),
}

impl Reduce {
    /// Whether blocks start with a neutral element rather than with the value before the loop.
    pub(super) fn has_neutral(self) -> bool {
        matches!(self, Reduce::Add | Reduce::Mul | Reduce::Xor | Reduce::Product(..))
    }
    /// Whether the low bits of a result depend only on the low bits of the operands.
    pub(crate) fn modular(self) -> bool {
        matches!(self, Reduce::Add | Reduce::Mul | Reduce::And | Reduce::Or | Reduce::Xor)
    }
    /// Whether the operator is defined for a type.
    pub(super) fn combines(self, ty: Ty) -> bool {
        ty.is_number() && (!ty.is_complex() || matches!(self, Reduce::Product(..) | Reduce::Call(..)))
    }
}

/// The class of a header parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Carried {
    /// The induction variable.
    Index,
    Reduced(Reduce),
    /// Set in each iteration and used only after the loop.
    Last,
    /// A conditional update. A block's value replaces that of the blocks before if the parameter at position `flag`
    /// says that the block has set it, and if the parameter at the other position compares so with its previous value.
    Conditional {
        flag: Option<usize>,
        best: Option<(usize, &'static Op)>,
    },
}

impl Carried {
    /// Whether each block stores a partial result, to be combined after the loop.
    pub(super) fn combines_after(self) -> bool {
        matches!(self, Carried::Reduced(_) | Carried::Conditional { .. })
    }
}

/// Header parameters with the flags that record whether they were set.
pub(crate) type Flags = [(Value, Value)];

/// Classifies the header parameters; also answers with the results of float operations that may be reassociated.
pub(crate) fn carried(
    func: &Function,
    cfg: &Cfg,
    r: &Region,
    callees: Callees<'_>,
    flags: &Flags,
) -> Result<(Vec<Carried>, Vec<Value>), Reason> {
    let Classes { all, reorderable, .. } = classify(func, cfg, r, callees, flags);
    let out = all.into_iter().collect::<Option<Vec<Carried>>>().ok_or(CARRIED)?;
    let params = &func.blocks[r.header.index()].params;
    if params.iter().zip(&out).any(|(p, kind)| *kind == Carried::Last && func.ty(*p).is_counted()) {
        return Err("an array or string that its last iteration makes is used after it");
    }
    Ok((out, reorderable))
}

/// Positions of the header parameters that need the order of iterations; whether that is only because of NaN.
pub(crate) fn order_dependent(func: &Function, cfg: &Cfg, r: &Region, callees: Callees<'_>) -> Vec<(usize, bool)> {
    let Classes { all, for_nan, .. } = classify(func, cfg, r, callees, &[]);
    (0..all.len()).filter(|place| all[*place].is_none()).map(|place| (place, for_nan.contains(&place))).collect()
}

/// Whether NaN and the signs of zeros matter.
pub(crate) fn is_exact(func: &Function, v: Value) -> bool {
    const FREE: u8 = fastmath::NNAN | fastmath::NSZ;
    func.ty(v).is_float() && func.options.fastmath & FREE != FREE
}

/// Adds a flag that records conditional updates to each parameter that needs one.
pub(super) fn add_flags(func: &mut Function, cfg: &Cfg, r: &Region, callees: Callees<'_>) -> Vec<(Value, Value)> {
    let Classes { groups, .. } = classify(func, cfg, r, callees, &[]);
    let wanting = groups.iter().filter(|g| g.needs_flag());
    wanting
        .map(|g| (func.blocks[r.header.index()].params[g.first], conditional_updates::add_flag(func, cfg, g)))
        .collect()
}

/// Classes of the header parameters.
struct Classes {
    all: Vec<Option<Carried>>,
    /// Members of float reductions, which may be reassociated.
    reorderable: Vec<Value>,
    groups: Vec<conditional_updates::Group>,
    /// Positions of parameters that NaN makes dependent on the order: they keep their value if a comparison holds.
    for_nan: Vec<usize>,
}

fn classify(func: &Function, cfg: &Cfg, r: &Region, callees: Callees<'_>, flags: &Flags) -> Classes {
    let (defs, dom) = (Defs::new(func), DomTree::new(cfg));
    let facts = LoopFacts { func, cfg, dom: &dom, defs: &defs, r, uses: &uses(func, r), callees };
    let (mut out, mut reorderable, mut of_flags, mut for_nan) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let params = &func.blocks[r.header.index()].params;
    for (place, p) in params.iter().enumerate() {
        if place == r.counted.place {
            out.push(Some(Carried::Index));
            continue;
        }
        let chain = Chain::of(&facts, *p, place);
        out.push(chain.kind());
        for_nan.extend(chain.keeps_old.then_some(place));
        if matches!(chain.group, Some(Reduce::Add | Reduce::Mul)) && func.ty(*p).is_float() {
            reorderable.extend(&chain.members);
        } else if flags.iter().any(|(_, f)| f == p) {
            of_flags.extend(chain.members);
        }
    }
    let others: Vec<usize> = (0..out.len()).filter(|place| out[*place].is_none()).collect();
    let groups = conditional_updates::groups(&facts, &others, &of_flags);
    for t in &groups {
        let flag = flags.iter().find(|(p, _)| *p == params[t.first]);
        let flag = flag.and_then(|(_, f)| params.iter().position(|p| p == f));
        t.places.iter().for_each(|i| out[*i] = Some(Carried::Conditional { flag, best: t.by.map(|by| (t.first, by)) }));
    }
    Classes { all: out, reorderable, groups, for_nan }
}

/// A use of a value in the region.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// As an operand of an instruction.
    Inst(Block, usize),
    /// As an argument to a block's parameter, by position.
    Arg(Block, usize),
    /// As the condition of a branch.
    Branch(Block),
    /// By another terminator, or as an argument to a handler.
    Other,
}

/// The uses of all values in the region.
pub(crate) fn uses(func: &Function, r: &Region) -> Vec<Vec<Use>> {
    let mut out = vec![Vec::new(); func.values.len()];
    for b in &r.blocks {
        let data = &func.blocks[b.index()];
        for (i, d) in data.insts.iter().enumerate() {
            d.inst.for_each_operand(|v| out[v.index()].push(Use::Inst(*b, i)));
        }
        for (number, t) in targets(func, *b) {
            for (i, v) in t.args.iter().enumerate() {
                let kind = if number.is_some() { Use::Arg(t.block, i) } else { Use::Other };
                out[v.index()].push(kind);
            }
        }
        match &data.term {
            Some(Term::Branch { cond: v, .. }) => out[v.index()].push(Use::Branch(*b)),
            Some(Term::Return(v)) => out[v.index()].push(Use::Other),
            Some(Term::Raise { args, .. }) => args.iter().for_each(|v| out[v.index()].push(Use::Other)),
            Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
        }
    }
    out
}

/// The function with its analyses.
#[derive(Clone, Copy)]
pub(super) struct LoopFacts<'a> {
    pub(super) func: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) dom: &'a DomTree,
    pub(super) defs: &'a Defs,
    pub(super) r: &'a Region,
    pub(super) uses: &'a [Vec<Use>],
    pub(super) callees: Callees<'a>,
}

impl LoopFacts<'_> {
    pub(super) fn inst(&self, v: Value) -> Option<&Inst> {
        self.defs.inst(self.func, v)
    }

    /// The value behind casts that keep the representation.
    pub(super) fn source(&self, v: Value) -> Value {
        match self.inst(v) {
            Some(Inst::Cast(from)) if self.func.ty(*from).strong() == self.func.ty(v).strong() => self.source(*from),
            _ => v,
        }
    }

    /// Whether two values are equal, directly or as casts of one value.
    pub(super) fn is_same(&self, a: Value, b: Value) -> bool {
        let source = |v: Value| match self.inst(v) {
            Some(Inst::Cast(from)) => Some((*from, self.func.ty(v).strong())),
            _ => None,
        };
        a == b || source(a).is_some_and(|from| source(b) == Some(from))
    }

    /// Edges within the loop to the block of a parameter, with the arguments that they pass.
    pub(super) fn edges(&self, v: Value) -> Vec<(Edge, Value)> {
        let Some(b) = self.defs.block(v) else { return Vec::new() };
        let Some(place) = self.func.blocks[b.index()].params.iter().position(|p| *p == v) else { return Vec::new() };
        let within = self.cfg.preds(b).iter().filter(|e| self.r.inside[e.from.index()]);
        within.map(|e| (*e, target_of(self.func, *e).args[place])).collect()
    }

    /// Whether an edge is reached only through one target of a block's branch.
    pub(super) fn only_after(&self, e: Edge, b: Block, first: bool) -> bool {
        let Some(Term::Branch { then, els, .. }) = &self.func.blocks[b.index()].term else { return false };
        let way = if first { then.block } else { els.block };
        (e.from == b && then.block != els.block && e.target == Some(u32::from(!first)))
            || (self.cfg.preds(way).len() == 1 && self.dom.dominates(way, e.from))
    }

    /// Whether a branch only selects the arguments of certain parameters: both paths are free of effects and join in
    /// one block.
    pub(super) fn only_selects(&self, b: Block, among: &dyn Fn(Value) -> bool) -> bool {
        let data = |b: Block| &self.func.blocks[b.index()];
        let Some(Term::Branch { then, els, .. }) = &data(b).term else { return false };
        let alone = |way: Block| way != self.r.header && self.cfg.preds(way).len() == 1;
        let on_way = |x: Block| [then, els].iter().any(|t| alone(t.block) && self.dom.dominates(t.block, x));
        let ways: Vec<Block> = self.r.blocks.iter().copied().filter(|x| on_way(*x)).collect();
        let goes_on = |x: &Block| matches!(data(*x).term, Some(Term::Jump(_) | Term::Branch { .. }));
        let has_no_effect = |x: &Block| data(*x).insts.iter().all(|d| has_no_effect(&d.inst, self.callees));
        if !ways.iter().all(|x| goes_on(x) && has_no_effect(x)) {
            return false;
        }
        let mut ends = Vec::new();
        for (number, t) in ways.iter().chain([&b]).flat_map(|x| targets(self.func, *x)) {
            match number {
                None if self.r.inside[t.block.index()] => return false,
                Some(_) if !ways.contains(&t.block) => ends.push(t),
                _ => {}
            }
        }
        let Some(first) = ends.first() else { return false };
        let params = &data(first.block).params;
        let agrees = |i: usize, args: &[Value]| args[i] == first.args[i] || among(params[i]);
        ends.iter().all(|t| t.block == first.block && (0..params.len()).all(|i| agrees(i, &t.args)))
    }
}

/// The values through which a loop-carried variable passes in an iteration: its definition chain.
struct Chain<'a> {
    facts: LoopFacts<'a>,
    members: Vec<Value>,
    /// Operands of the chain's operations that must not be members.
    others: Vec<Value>,
    /// Branches on a member.
    branches: Vec<(Block, Value)>,
    group: Option<Reduce>,
    /// Whether all uses of members fit a reduction.
    holds: bool,
    /// Whether an iteration uses the parameter.
    used: bool,
    /// Whether the old value survives if a comparison holds, so that NaN replaces it.
    keeps_old: bool,
}

impl<'a> Chain<'a> {
    fn of(facts: &LoopFacts<'a>, p: Value, place: usize) -> Chain<'a> {
        let (members, others, branches) = (vec![p], Vec::new(), Vec::new());
        let mut c =
            Chain { facts: *facts, members, others, branches, group: None, holds: true, used: false, keeps_old: false };
        let mut at = 0;
        while c.holds && at < c.members.len() {
            let v = c.members[at];
            for u in &c.facts.uses[v.index()] {
                c.follow(facts.r, p, place, v, *u);
            }
            at += 1;
        }
        c.holds &= !c.others.iter().any(|v| c.members.contains(v));
        for m in c.members.clone() {
            c.holds &= c.all_sources_are_members(m);
        }
        let decides = |c: &Chain<'a>, b: Block| facts.only_selects(b, &|v| c.members.contains(&v));
        c.holds &= c.branches.iter().all(|(b, _)| decides(&c, *b));
        c
    }

    /// The class of the parameter; `None` if iterations depend on each other through it.
    fn kind(&self) -> Option<Carried> {
        match self.group {
            _ if !self.holds => None,
            Some(group) => Some(Carried::Reduced(group)),
            None => (self.members.len() == 1 && !self.used).then_some(Carried::Last),
        }
    }

    fn add(&mut self, v: Value) {
        if !self.members.contains(&v) {
            self.members.push(v);
        }
    }

    fn set_group(&mut self, g: Reduce) {
        self.holds &= *self.group.get_or_insert(g) == g;
    }

    /// Adds a use of a member.
    fn follow(&mut self, r: &Region, p: Value, place: usize, v: Value, u: Use) {
        match u {
            Use::Branch(b) if self.facts.func.ty(v).is_bool() => {
                self.used = true;
                self.branches.push((b, v));
            }
            Use::Branch(_) | Use::Other => self.holds = false,
            // The exit uses the parameter itself, which is its value after the last iteration.
            Use::Arg(to, _) if !r.inside[to.index()] => self.holds &= v == p,
            Use::Arg(to, i) if to == r.header => {
                self.used = true;
                self.holds &= i == place;
            }
            Use::Arg(to, i) => {
                self.used = true;
                self.add(self.facts.func.blocks[to.index()].params[i]);
            }
            Use::Inst(b, i) => {
                self.used = true;
                let d = &self.facts.func.blocks[b.index()].insts[i];
                match (&d.inst, d.result) {
                    (Inst::Op(op, args), Some(result)) => self.follow_row(op, args, v, result),
                    (Inst::Call(f, args), Some(result)) => self.follow_call(*f, args, v, result),
                    (Inst::Cast(_), Some(result))
                        if self.facts.func.ty(v).strong() == self.facts.func.ty(result).strong() =>
                    {
                        self.add(result);
                    }
                    _ => self.holds = false,
                }
            }
        }
    }

    /// Whether the loop is of a derivative, in which sums of adjoints have no order.
    fn is_derived(&self) -> bool {
        self.facts.func.blocks[self.facts.r.header.index()].parallel == Some(Parallel::Derived)
    }

    fn follow_row(&mut self, op: &'static lh_ir::Op, args: &[Value], v: Value, result: Value) {
        let first = args[0] == v;
        let group = match op.algebra {
            Algebra::Add => Reduce::Add,
            Algebra::Sub if first => Reduce::Add,
            Algebra::Mul => Reduce::Mul,
            Algebra::Divide if first && self.facts.func.ty(v).is_float() => Reduce::Mul,
            Algebra::And => Reduce::And,
            Algebra::Or => Reduce::Or,
            Algebra::Xor => Reduce::Xor,
            Algebra::Max(_) | Algebra::Min(_) => Reduce::Row(op),
            Algebra::AnyOrder(AnyOrder::Add) if self.is_derived() => Reduce::Add,
            Algebra::Cmp(Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge) => return self.follow_comparison(args, v, result),
            Algebra::Select => return self.follow_select(args, v, result),
            _ => return self.holds = false,
        };
        let others = args.iter().copied().filter(|a| *a != v);
        self.others.extend(others.clone());
        self.holds &= others.count() == 1;
        self.set_group(group);
        self.add(result);
    }

    fn follow_call(&mut self, f: SpecId, args: &[Value], v: Value, result: Value) {
        let Some(group) = call_op(f, self.facts.func.ty(result), self.facts.callees) else {
            return self.holds = false;
        };
        let ty = |v: &Value| self.facts.func.ty(*v).strong();
        self.holds &= args.iter().all(|a| ty(a) == ty(&result));
        let others = args.iter().copied().filter(|a| *a != v);
        self.others.extend(others.clone());
        self.holds &= others.count() == 1;
        self.set_group(group);
        self.add(result);
    }

    /// A comparison may only be the condition of a select between its operands.
    fn follow_comparison(&mut self, args: &[Value], v: Value, result: Value) {
        let chooses = |u: &Use| match u {
            Use::Inst(b, i) => match &self.facts.func.blocks[b.index()].insts[*i].inst {
                Inst::Op(op, parts) if op.is(Algebra::Select) => {
                    let is_compared = |x: &Value| args.iter().any(|a| self.facts.is_same(*a, *x));
                    parts[0] == result && parts[1..].iter().all(is_compared) && !self.facts.is_same(parts[1], parts[2])
                }
                _ => false,
            },
            Use::Arg(..) | Use::Branch(_) | Use::Other => false,
        };
        self.holds &=
            args.iter().filter(|a| **a == v).count() == 1 && self.facts.uses[result.index()].iter().all(chooses);
    }

    fn follow_select(&mut self, args: &[Value], v: Value, result: Value) {
        self.add(result);
        let Some(Inst::Op(op, compared)) = self.facts.defs.inst(self.facts.func, args[0]) else { return };
        let (a, b) = (args[1], args[2]);
        let in_order = match compared[..] {
            [x, y] if self.facts.is_same(x, a) && self.facts.is_same(y, b) => true,
            [x, y] if self.facts.is_same(x, b) && self.facts.is_same(y, a) => false,
            // A conditional update: both operands must be members, which is checked at the end.
            _ => return,
        };
        let greater = match op.algebra {
            Algebra::Cmp(Cmp::Gt | Cmp::Ge) => in_order,
            Algebra::Cmp(Cmp::Lt | Cmp::Le) => !in_order,
            _ => return,
        };
        self.set_group(if greater { Reduce::Max } else { Reduce::Min });
        if is_exact(self.facts.func, v) {
            // If the old value survives a true comparison, a NaN replaces it; of equal zeros, the last survives.
            self.keeps_old |= self.facts.is_same(a, v);
            self.holds &= !self.keeps_old && matches!(op.algebra, Algebra::Cmp(Cmp::Lt | Cmp::Gt));
        }
    }

    /// Whether all reaching definitions of a member are members. A truth value may also be set to a constant, and `and`
    /// and `or` may be a branch on the first operand.
    fn all_sources_are_members(&mut self, m: Value) -> bool {
        let facts = self.facts;
        let is_member = |v: &Value| self.members.contains(v);
        match facts.inst(m) {
            Some(Inst::Op(op, args)) if op.is(Algebra::Select) => {
                let n = args[1..].iter().filter(|v| is_member(v)).count();
                let compares = matches!(facts.inst(args[0]), Some(Inst::Op(_, c)) if c.iter().any(is_member));
                return if compares { n == 1 } else { n == 2 };
            }
            Some(_) => return true,
            None => {}
        }
        let edges = facts.edges(m);
        if edges.is_empty() || !self.used {
            return !self.used;
        }
        let for_nan: Vec<Value> = edges.iter().map(|(_, v)| *v).filter(is_member).collect();
        for (e, v) in edges {
            if self.members.contains(&v) {
                continue;
            }
            let only_after = |(b, of): &(Block, Value), first| {
                for_nan.iter().all(|k| k == of) && facts.only_after(e, *b, first) && !for_nan.is_empty()
            };
            let group = match facts.inst(v) {
                Some(Inst::Const(Const::Bool(set))) => Some(if *set { Reduce::Or } else { Reduce::And }),
                _ if self.branches.iter().any(|b| only_after(b, true)) => Some(Reduce::And),
                _ if self.branches.iter().any(|b| only_after(b, false)) => Some(Reduce::Or),
                _ => None,
            };
            let Some(group) = group else { return false };
            self.set_group(group);
        }
        self.holds
    }
}

/// The reduction operator that a library function computes, if any.
pub(crate) fn call_op(f: SpecId, ty: Ty, callees: Callees<'_>) -> Option<Reduce> {
    match callees(f)?.meaning? {
        Meaning::ComplexProduct => Some(Reduce::Product(f, ty)),
        Meaning::Extreme => Some(Reduce::Call(f, ty)),
        Meaning::Quotient | Meaning::SliceBounds | Meaning::Fill => None,
        Meaning::ComplexSum | Meaning::ComplexDifference | Meaning::Selection | Meaning::Statistic => None,
    }
}
