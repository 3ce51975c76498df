//! Symbolic ranges of integers over a loop nest: bounds are linear expressions of values that are invariant in it.

use super::counted::{Counted, Launch, in_loop, target_of};
use super::dominating_branches::dominating_branches;
use super::facts::{Facts, InstRef};
use super::linear::{Leaf, Linear};
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::Edge;
use lh_ir::func::{Inst, Term};
use lh_ir::{Block, Ty, Value};
use std::cell::RefCell;

/// The result of a range proof.
pub(crate) enum Verdict {
    /// Always in range.
    Safe,
    /// In range if none of the expressions is negative, and the leaves are of moderate size.
    If(Vec<Linear>, Vec<Leaf>),
    /// Not provable.
    Unknown,
}

/// An access as seen from a loop nest.
pub(super) struct Nest<'a> {
    pub facts: &'a Facts<'a>,
    pub nest: usize,
    /// Block of the access.
    pub access: Block,
    /// Unknowns of the ranges; sums of them must not overflow.
    pub leaves: RefCell<Vec<Leaf>>,
    /// Comparisons that hold at the access because of dominating branches.
    pub branch_facts: Vec<BranchFact>,
    /// Expressions that must be non-negative for these comparisons to narrow a range.
    assumed: RefCell<Vec<Linear>>,
}

/// A comparison of a value with an invariant of the nest.
#[derive(Clone)]
pub(crate) struct BranchFact {
    pub op: Cmp,
    pub value: Value,
    pub limit: Linear,
    /// The unknowns of the limit.
    leaves: Vec<Leaf>,
}

#[derive(Clone)]
pub(crate) struct LinearRange {
    pub lo: Linear,
    pub hi: Linear,
}

const MAX_DEPTH: usize = 12;
/// Bound on the distinct arguments of a block parameter.
const MAX_PASSED: usize = 4;
/// Bound on the step of an index, so that it cannot overflow in practice.
const MAX_STEP: i64 = 16;

impl<'a> Nest<'a> {
    pub(super) fn new(facts: &'a Facts<'a>, nest: usize, access: Block) -> Nest<'a> {
        Nest { facts, nest, access, leaves: RefCell::default(), branch_facts: Vec::new(), assumed: RefCell::default() }
    }

    /// Whether indices are within the extents, or only non-negative. Branches are only consulted if that is not
    /// provable otherwise: they may add conditions.
    pub(super) fn verdict(&mut self, inst: &Inst, in_range: bool) -> Verdict {
        let without = self.prove(inst, in_range);
        if matches!(without, Verdict::Safe) {
            return without;
        }
        self.branch_facts = self.dominating_facts();
        if self.branch_facts.is_empty() {
            return without;
        }
        match self.prove(inst, in_range) {
            Verdict::Unknown => without,
            better => better,
        }
    }

    fn prove(&self, inst: &Inst, in_range: bool) -> Verdict {
        self.leaves.take();
        self.assumed.take();
        let Inst::ElemPtr { array, index, .. } = inst else { return Verdict::Unknown };
        let (mut conditions, mut all) = (Vec::new(), Vec::new());
        let mut is_safe = true;
        for (d, i) in index.iter().enumerate() {
            let needs = || {
                let r = self.range(*i, 0)?;
                let room = || self.extent(*array, d as u32)?.plus(&r.hi, -1)?.plus_number(-1);
                Some((if in_range { Some(room()?) } else { None }, r.lo))
            };
            let Some((room, least)) = needs() else { return Verdict::Unknown };
            for n in [least].into_iter().chain(room) {
                if n.is_negative() {
                    return Verdict::Unknown;
                }
                is_safe &= n.is_nonnegative();
                conditions.extend((!n.is_nonnegative()).then_some(n));
            }
            // A single extent with small constants cannot overflow.
            let leaves = self.leaves.take();
            let mut others = leaves.iter().filter(|l| !l.is_launch());
            is_safe &= matches!((others.next(), others.next()), (None | Some(Leaf::Shape(..)), None));
            all.extend(leaves);
        }
        conditions.extend(self.assumed.take());
        is_safe &= conditions.is_empty();
        if is_safe { Verdict::Safe } else { Verdict::If(conditions, all) }
    }
    fn leaf(&self, leaf: Leaf) -> Linear {
        let mut leaves = self.leaves.borrow_mut();
        if !leaves.contains(&leaf) {
            leaves.push(leaf);
        }
        Linear::leaf(leaf)
    }

    /// The extent of an array, if it is invariant in the nest.
    fn extent(&self, array: Value, d: u32) -> Option<Linear> {
        if self.facts.is_invariant(self.nest, array) {
            return match self.facts.defs.inst(self.facts.func, array) {
                Some(Inst::ArrayMake { shape, .. }) => self.invariant(shape[d as usize], 0),
                _ => Some(self.leaf(Leaf::Shape(array, d))),
            };
        }
        match self.facts.defs.inst(self.facts.func, array)? {
            Inst::ArrayMake { shape, .. } => {
                let r = self.range(shape[d as usize], 0)?;
                (r.lo == r.hi).then_some(r.lo)
            }
            _ => None,
        }
    }

    /// An invariant of the nest as a linear expression.
    fn invariant(&self, v: Value, depth: usize) -> Option<Linear> {
        let (func, defs) = (self.facts.func, self.facts.defs);
        if let Some(n) = defs.int(func, v) {
            return Some(Linear::number(n)).filter(|_| n.abs() < 1 << 40);
        }
        if defs.launch(func, v).is_some() {
            return Some(self.leaf(Leaf::Launch(v)));
        }
        let both = |a: Value, b: Value, f: i64| self.invariant(a, depth + 1)?.plus(&self.invariant(b, depth + 1)?, f);
        let deeper = match defs.inst(func, v) {
            Some(Inst::ArrayShape(a, d)) => self.extent(*a, *d),
            Some(Inst::Op(op, args)) if depth < MAX_DEPTH && op.is(Algebra::Add) => both(args[0], args[1], 1),
            Some(Inst::Op(op, args)) if depth < MAX_DEPTH && op.is(Algebra::Sub) => both(args[0], args[1], -1),
            Some(Inst::Op(op, args)) if depth < MAX_DEPTH && op.is(Algebra::Mul) => {
                match (defs.int(func, args[0]), defs.int(func, args[1])) {
                    (Some(k), _) => Linear::number(0).plus(&self.invariant(args[1], depth + 1)?, k),
                    (_, Some(k)) => Linear::number(0).plus(&self.invariant(args[0], depth + 1)?, k),
                    _ => self.launch_product(args[0], args[1]),
                }
            }
            Some(Inst::Cast(x)) if func.ty(*x).strong() == func.ty(v).strong() => self.invariant(*x, depth + 1),
            _ => None,
        };
        deeper.or_else(|| Some(self.leaf(Leaf::Value(v))))
    }

    /// The product of two quantities of the launch, if that is small.
    fn launch_product(&self, a: Value, b: Value) -> Option<Linear> {
        let (func, defs) = (self.facts.func, self.facts.defs);
        let small = |l| matches!(l, Launch::Block | Launch::Grid | Launch::Index(_));
        let (x, y) = (defs.launch(func, a)?, defs.launch(func, b)?);
        let fits = (x == Launch::Block && small(y)) || (y == Launch::Block && small(x));
        fits.then(|| self.leaf(Leaf::LaunchProduct(a.min(b), a.max(b))))
    }
    /// A linear expression of quantities of the launch, times another one.
    fn launch_times(&self, x: &Linear, w: Value) -> Option<Linear> {
        let mut out = Linear::number(0).plus(&self.invariant(w, 0)?, x.constant)?;
        for (leaf, k) in &x.terms {
            let Leaf::Launch(v) = leaf else { return None };
            out = out.plus(&self.launch_product(*v, w)?, *k)?;
        }
        Some(out)
    }

    /// The comparisons of branches between the nest's header and the access, outermost first.
    fn dominating_facts(&self) -> Vec<BranchFact> {
        let f = self.facts;
        let header = f.loops.loops[self.nest].header;
        let branches = dominating_branches(f.func, f.cfg, f.dom, self.access, header);
        let mut out: Vec<BranchFact> = branches.filter_map(|b| self.fact(b.cond, b.holds)).collect();
        out.reverse();
        out
    }
    fn fact(&self, cond: Value, holds: bool) -> Option<BranchFact> {
        let Inst::Op(op, args) = self.facts.defs.inst(self.facts.func, cond)? else { return None };
        let [a, b] = args[..] else { return None };
        if [a, b].iter().any(|v| self.facts.func.ty(*v).strong() != Ty::int().strong()) {
            return None;
        }
        let op = op.comparison()?.given(holds);
        self.leaves.take();
        let (op, value, limit) = match (self.linear(a, 0), self.linear(b, 0)) {
            (None, Some(limit)) => (op, a, limit),
            (Some(limit), None) => (op.mirrored(), b, limit),
            _ => return None,
        };
        Some(BranchFact { op, value, limit, leaves: self.leaves.take() })
    }
    /// A value as a linear expression, if it is invariant in the nest wherever it is computed.
    fn linear(&self, v: Value, depth: usize) -> Option<Linear> {
        if self.facts.is_invariant(self.nest, v) {
            return self.invariant(v, depth);
        }
        let (func, defs) = (self.facts.func, self.facts.defs);
        if let Some(n) = defs.int(func, v) {
            return (n.abs() < 1 << 40).then(|| Linear::number(n));
        }
        match defs.inst(func, v)? {
            _ if depth > MAX_DEPTH => None,
            Inst::ArrayShape(a, d) => self.extent(*a, *d),
            Inst::Op(op, args) if op.is(Algebra::Add) => {
                self.linear(args[0], depth + 1)?.plus(&self.linear(args[1], depth + 1)?, 1)
            }
            Inst::Op(op, args) if op.is(Algebra::Sub) => {
                self.linear(args[0], depth + 1)?.plus(&self.linear(args[1], depth + 1)?, -1)
            }
            Inst::Cast(x) if func.ty(*x).strong() == func.ty(v).strong() => self.linear(*x, depth + 1),
            _ => None,
        }
    }

    /// The range of a value at the access, narrowed by branches.
    pub(super) fn range(&self, v: Value, depth: usize) -> Option<LinearRange> {
        let mut r = self.range_of(v, depth);
        for f in &self.branch_facts {
            let (base, k) = self.facts.defs.offset(self.facts.func, f.value);
            // If the base is of moderate size, adding the constant has not overflowed.
            if base == v
                && (k == 0 || r.is_some())
                && let Some(limit) = f.limit.plus_number(-k)
            {
                r = match r {
                    // `!=` excludes the maximum, if the range does not exceed it.
                    Some(r) if f.op == Cmp::Ne && !limit.terms.is_empty() && r.lo != limit && r.hi != limit => {
                        let room = limit.plus(&r.hi, -1);
                        let below = limit.plus_number(-1).filter(|_| room.as_ref().is_some_and(|l| !l.is_negative()));
                        self.assumed.borrow_mut().extend(room.filter(|_| below.is_some()));
                        Some(LinearRange { hi: below.unwrap_or(r.hi), lo: r.lo })
                    }
                    r => narrowed(r, f.op, &limit),
                };
                f.leaves.iter().for_each(|l| drop(self.leaf(*l)));
            }
        }
        r
    }

    fn range_of(&self, v: Value, depth: usize) -> Option<LinearRange> {
        let (func, defs) = (self.facts.func, self.facts.defs);
        if self.facts.is_invariant(self.nest, v) {
            let x = self.invariant(v, depth)?;
            return Some(LinearRange { lo: x.clone(), hi: x });
        }
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(Launch::Index(extent)) = defs.launch(func, v) {
            let extent = extent.filter(|e| self.facts.is_invariant(self.nest, *e))?;
            let hi = self.leaf(Leaf::Launch(extent)).plus_number(-1)?;
            return Some(LinearRange { lo: Linear::number(0), hi });
        }
        if let Some(n) = defs.int(func, v) {
            let x = Linear::number(n);
            return (n.abs() < 1 << 40).then(|| LinearRange { lo: x.clone(), hi: x });
        }
        match defs.inst(func, v) {
            None => self.induction(v, depth).or_else(|| self.joined(v, depth)),
            Some(Inst::Op(op, args)) => match op.algebra {
                Algebra::Add => {
                    let (a, b) = (self.range(args[0], depth + 1)?, self.range(args[1], depth + 1)?);
                    Some(LinearRange { lo: a.lo.plus(&b.lo, 1)?, hi: a.hi.plus(&b.hi, 1)? })
                }
                Algebra::Sub => {
                    let (a, b) = (self.range(args[0], depth + 1)?, self.range(args[1], depth + 1)?);
                    Some(LinearRange { lo: a.lo.plus(&b.hi, -1)?, hi: a.hi.plus(&b.lo, -1)? })
                }
                Algebra::Mul => {
                    let (a, b) = (self.range(args[0], depth + 1)?, self.range(args[1], depth + 1)?);
                    let (x, k) =
                        match (a.lo.as_number().filter(|_| a.lo == a.hi), b.lo.as_number().filter(|_| b.lo == b.hi)) {
                            (_, Some(k)) => (a, k),
                            (Some(k), None) => (b, k),
                            (None, None) => {
                                let launched = |x: &LinearRange, w| {
                                    self.facts.is_invariant(self.nest, w).then_some(())?;
                                    Some(LinearRange {
                                        lo: self.launch_times(&x.lo, w)?,
                                        hi: self.launch_times(&x.hi, w)?,
                                    })
                                };
                                return launched(&a, args[1])
                                    .or_else(|| launched(&b, args[0]))
                                    .or_else(|| self.product(args[0], args[1]));
                            }
                        };
                    let zero = Linear::number(0);
                    let (lo, hi) = (zero.plus(&x.lo, k)?, zero.plus(&x.hi, k)?);
                    Some(if k >= 0 { LinearRange { lo, hi } } else { LinearRange { lo: hi, hi: lo } })
                }
                _ => None,
            },
            Some(Inst::Cast(x)) if func.ty(*x).strong() == func.ty(v).strong() => self.range(*x, depth + 1),
            Some(Inst::ArrayShape(a, d)) => {
                let x = self.extent(*a, *d)?;
                Some(LinearRange { lo: x.clone(), hi: x })
            }
            Some(_) => None,
        }
    }

    /// The product of two invariants, such as the offset of a row in a flat array.
    fn product(&self, a: Value, b: Value) -> Option<LinearRange> {
        let is_fixed =
            |v| self.facts.is_invariant(self.nest, v) && self.facts.func.ty(v).strong() == Ty::int().strong();
        let x = (is_fixed(a) && is_fixed(b)).then(|| self.leaf(Leaf::product(a, b)))?;
        Some(LinearRange { lo: x.clone(), hi: x })
    }

    /// The range of an induction variable in the body of its loop.
    fn induction(&self, v: Value, depth: usize) -> Option<LinearRange> {
        let f = self.facts;
        let header = f.defs.block(v)?;
        let at = f.loops.innermost[header.index()]?;
        let l = &f.loops.loops[at];
        let counted = f.counts[at].as_ref()?;
        if l.header != header || !self.is_in_body(header, counted) {
            return None;
        }
        let place = f.func.blocks[header.index()].params.iter().position(|p| *p == v)?;
        let start = self.start(at, place, depth)?;
        if v == counted.index {
            let limit = self.range(counted.limit, depth + 1)?;
            return Some(if counted.step > 0 {
                LinearRange { lo: start.lo, hi: limit.hi.plus_number(-1)? }
            } else {
                LinearRange { lo: limit.lo.plus_number(1)?, hi: start.hi }
            });
        }
        // Another induction variable of the loop has the same trip count.
        let step = self.step(at, v, place)?;
        let first = self.start(at, counted.place, depth)?;
        let limit = self.range(counted.limit, depth + 1)?;
        let trips = match counted.step {
            1 => limit.hi.plus(&first.lo, -1)?,
            -1 => first.hi.plus(&limit.lo, -1)?,
            _ => return None,
        };
        let far = |from: &Linear| from.plus(&trips.plus_number(-1)?, step);
        Some(if step >= 0 {
            LinearRange { hi: far(&start.hi)?, lo: start.lo }
        } else {
            LinearRange { lo: far(&start.lo)?, hi: start.hi }
        })
    }
    /// The range of other block parameters: the union over the incoming edges.
    fn joined(&self, v: Value, depth: usize) -> Option<LinearRange> {
        let f = self.facts;
        let block = f.defs.block(v)?;
        let place = f.func.blocks[block.index()].params.iter().position(|p| *p == v)?;
        if f.func.ty(v).strong() != Ty::int().strong() {
            return None;
        }
        if let Some(at) = f.loops.innermost[block.index()].filter(|l| f.loops.loops[*l].header == block) {
            return self.monotonic(v, at, place, depth);
        }
        let mut args: Vec<Value> = f.cfg.preds(block).iter().map(|e| target_of(f.func, *e).args[place]).collect();
        args.sort_unstable();
        args.dedup();
        if args.len() > MAX_PASSED {
            return None;
        }
        let mut all = args.into_iter().map(|a| self.range(a, depth + MAX_DEPTH / 3));
        let first = all.next()??;
        all.try_fold(first, |a, b| {
            let b = b?;
            let ordered =
                |a: Linear, b: Linear, number: bool| if a.as_number().is_some() == number { (a, b) } else { (b, a) };
            let (lo, hi) = (ordered(a.lo, b.lo, true), ordered(a.hi, b.hi, false));
            Some(LinearRange { lo: self.farther(lo.0, &lo.1, -1)?, hi: self.farther(hi.0, &hi.1, 1)? })
        })
    }
    /// The range of a header parameter that is monotonic, bounded by comparisons on the back edges or at the access.
    fn monotonic(&self, v: Value, at: usize, place: usize, depth: usize) -> Option<LinearRange> {
        let f = self.facts;
        let l = &f.loops.loops[at];
        let start = self.start(at, place, depth)?;
        let back: Vec<Edge> = f.cfg.preds(l.header).iter().filter(|e| in_loop(f.cfg, l, e.from)).copied().collect();
        let next = |e: &Edge| f.defs.offset(f.func, target_of(f.func, *e).args[place]);
        let way = back.iter().map(|e| next(e).1.signum()).find(|c| *c != 0)?;
        if back.iter().any(|e| next(e).0 != v || !(0..=MAX_STEP).contains(&(next(e).1 * way))) {
            return None;
        }
        let mut limits = back.iter().filter(|e| next(e).1 != 0).map(|e| {
            let there = Nest::new(f, self.nest, e.from);
            let mut known = there.dominating_facts();
            if let Some(Term::Branch { cond, then, els }) = &f.func.blocks[e.from.index()].term
                && then.block != els.block
            {
                known.extend(there.fact(*cond, then.block == l.header));
            }
            self.bound(&known, v, way)?.plus_number(next(e).1)
        });
        let first = limits.next()?;
        let far = match first.filter(|first| limits.all(|l| l.as_ref() == Some(first))) {
            Some(limit) => self.farther(limit, if way > 0 { &start.hi } else { &start.lo }, way)?,
            None => self.bound(&self.branch_facts, v, way)?,
        };
        Some(if way > 0 { LinearRange { lo: start.lo, hi: far } } else { LinearRange { lo: far, hi: start.hi } })
    }
    /// The upper bound of a value, or the lower one, that some comparison implies.
    fn bound(&self, known: &[BranchFact], v: Value, way: i64) -> Option<Linear> {
        known.iter().rev().find_map(|f| {
            let (base, k) = self.facts.defs.offset(self.facts.func, f.value);
            let beside = match (f.op, way) {
                (Cmp::Lt, 1) | (Cmp::Gt, -1) => way,
                (Cmp::Le, 1) | (Cmp::Ge, -1) => 0,
                _ => return None,
            };
            let limit = f.limit.plus_number(-k - beside).filter(|_| base == v)?;
            f.leaves.iter().for_each(|l| drop(self.leaf(*l)));
            Some(limit)
        })
    }
    /// The farther of two bounds in a direction; `a` under an assumption, if neither is certain.
    fn farther(&self, a: Linear, b: &Linear, way: i64) -> Option<Linear> {
        let beyond = Linear::number(0).plus(&a.plus(b, -1)?, way)?;
        if beyond.is_nonnegative() {
            return Some(a);
        }
        if beyond.as_number().is_some() {
            return Some(b.clone());
        }
        if way < 0 && a.is_nonnegative() && b.is_nonnegative() {
            return Some(Linear::number(0));
        }
        if beyond.is_negative() {
            return None;
        }
        self.assumed.borrow_mut().push(beyond);
        Some(a)
    }
    /// Whether the access is in the loop's body, behind the test.
    fn is_in_body(&self, header: Block, counted: &Counted) -> bool {
        let f = self.facts;
        let Some(Term::Branch { then, els, .. }) = &f.func.blocks[header.index()].term else { return false };
        let body = if counted.body_first { then.block } else { els.block };
        f.cfg.preds(body).len() == 1 && f.dom.dominates(body, self.access)
    }
    /// The range of a header parameter on entry to its loop.
    fn start(&self, l: usize, place: usize, depth: usize) -> Option<LinearRange> {
        let f = self.facts;
        let header = f.loops.loops[l].header;
        let mut found: Option<LinearRange> = None;
        for e in f.cfg.preds(header).iter().filter(|e| !in_loop(f.cfg, &f.loops.loops[l], e.from)) {
            let r = self.range(target_of(f.func, *e).args[place], depth + 1)?;
            match &found {
                Some(old) if old.lo != r.lo || old.hi != r.hi => return None,
                _ => found = Some(r),
            }
        }
        found
    }
    fn step(&self, l: usize, v: Value, place: usize) -> Option<i64> {
        let f = self.facts;
        let mut step = None;
        for e in f.cfg.preds(f.loops.loops[l].header).iter().filter(|e| in_loop(f.cfg, &f.loops.loops[l], e.from)) {
            let (base, c) = f.defs.offset(f.func, target_of(f.func, *e).args[place]);
            if base != v || *step.get_or_insert(c) != c {
                return None;
            }
        }
        step
    }
}

/// Narrows a range by a comparison; its limit replaces the old one, as programs compare to rely on it.
fn narrowed(r: Option<LinearRange>, op: Cmp, limit: &Linear) -> Option<LinearRange> {
    let (Some(below), Some(above)) = (limit.plus_number(-1), limit.plus_number(1)) else { return r };
    let Some(mut r) = r else {
        return (op == Cmp::Eq).then(|| LinearRange { lo: limit.clone(), hi: limit.clone() });
    };
    match op {
        Cmp::Lt => r.hi = below,
        Cmp::Le => r.hi = limit.clone(),
        // A non-negative minimum is not replaced by an unknown one.
        Cmp::Gt if !r.lo.is_nonnegative() || above.is_nonnegative() => r.lo = above,
        Cmp::Ge if !r.lo.is_nonnegative() || limit.is_nonnegative() => r.lo = limit.clone(),
        Cmp::Eq => r = LinearRange { lo: limit.clone(), hi: limit.clone() },
        Cmp::Ne if r.lo == *limit => r.lo = above,
        Cmp::Ne if r.hi == *limit => r.hi = below,
        Cmp::Gt | Cmp::Ge | Cmp::Ne => {}
    }
    Some(r)
}

impl Facts<'_> {
    /// Whether an access is within the extents in all iterations of a loop.
    pub(crate) fn verdict(&self, l: usize, a: InstRef) -> Verdict {
        Nest::new(self, l, a.0).verdict(&self.func.blocks[a.0.index()].insts[a.1].inst, true)
    }
    /// As [`Facts::verdict`]; for an access without a check, whether its index is non-negative.
    pub(crate) fn verdict_of_check(&self, l: usize, a: InstRef) -> Verdict {
        Nest::new(self, l, a.0).verdict(&self.func.blocks[a.0.index()].insts[a.1].inst, self.is_checked(a))
    }
    pub(crate) fn is_checked(&self, a: InstRef) -> bool {
        matches!(self.func.blocks[a.0.index()].insts[a.1].inst, Inst::ElemPtr { check: true, .. })
    }
    /// Whether a value is non-negative and small at a block in all iterations, given the limits of a launch.
    pub(crate) fn is_small(&self, l: usize, access: Block, v: Value) -> bool {
        let nest = Nest::new(self, l, access);
        let range = nest.range(v, 0);
        range.is_some_and(|r| r.lo.is_nonnegative()) && nest.leaves.take().iter().all(|l| l.is_launch())
    }
}
