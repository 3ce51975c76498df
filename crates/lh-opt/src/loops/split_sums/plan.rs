//! The sums of a loop, and which of them may share one.

use super::is_free;
use crate::analysis::cost::picoseconds;
use crate::analysis::counted::{Counted, in_loop};
use crate::analysis::facts::Facts;
use crate::analysis::strides::contiguous;
use crate::edit::overlap::may_overlap_itself;
use crate::edit::use_counts;
use crate::edit::version::can_copy;
use hashbrown::HashSet;
use lh_ir::algebra::{Algebra, AnyOrder};
use lh_ir::cfg::Loop;
use lh_ir::func::{Inst, LoopHint, Term};
use lh_ir::{Block, Layout, Value};

/// Fewest iterations of a loop that is split.
pub(super) const MIN_TRIP_COUNT: i64 = 16;

/// Most pairs of arrays that the test before the loops compares.
const MAX_PAIRS: usize = 16;

/// How many times the loop's own cost computing terms again may take: vectors make up for more.
const MAX_AGAIN: i64 = 2;

/// The distribution of a loop.
pub(super) struct Plan {
    /// The block with the iteration.
    pub body: Block,
    /// The instructions of each new loop, by their place in the body.
    pub loops: Vec<Vec<usize>>,
    /// The instructions of the body that the loop loses.
    pub moved: Vec<usize>,
    /// Pairs of arrays that may not overlap, each other or themselves.
    pub apart: Vec<(Value, Value)>,
}

/// An addition to an element.
struct Sum<'a> {
    at: ElementOf<'a>,
    /// The place of its store.
    store: usize,
    /// Places of its other instructions, which nothing else uses.
    own: Vec<usize>,
}

#[derive(Clone, Copy)]
struct ElementOf<'a> {
    array: Value,
    index: &'a [Value],
}

impl ElementOf<'_> {
    fn is(&self, other: &ElementOf<'_>) -> bool {
        self.array == other.array && self.index == other.index
    }
}

/// The relation of two elements of one array in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// Each iteration has the same element for both, and a different one from all others.
    Same,
    /// No iteration has an element that any has for the other.
    Apart,
    /// One has the element that the other has in another iteration.
    Neighbours,
    Unknown,
}

struct Planner<'a> {
    facts: &'a Facts<'a>,
    at: usize,
    l: &'a Loop,
    counted: &'a Counted,
    body: Block,
    uses: Vec<u32>,
}

pub(super) fn plan(facts: &Facts<'_>, at: usize) -> Option<Plan> {
    let l = &facts.loops.loops[at];
    let header = &facts.func.blocks[l.header.index()];
    let [_, body] = l.blocks[..] else { return None };
    let data = &facts.func.blocks[body.index()];
    let is_plain = header.hint == LoopHint::None && !header.pragma.is_some() && !header.cold;
    let is_closed = matches!(data.term, Some(Term::Jump(_))) && header.unwind.is_none() && data.unwind.is_none();
    if !is_plain || !is_closed || l.header == body || !header.insts.iter().all(|d| is_simple(&d.inst)) {
        return None;
    }
    let counted = facts.counts[at].as_ref()?;
    let trips = counted.trips(facts.func, facts.cfg, facts.defs, l);
    if trips.is_some_and(|n| n < MIN_TRIP_COUNT.unsigned_abs()) {
        return None;
    }
    Planner { facts, at, l, counted, body, uses: use_counts(facts.func) }.plan()
}

/// Whether an instruction reads no memory and has no effect.
fn is_simple(inst: &Inst) -> bool {
    inst.is_pure() && !matches!(inst, Inst::Load(_) | Inst::New(_))
}

impl<'a> Planner<'a> {
    fn insts(&self) -> &'a [lh_ir::func::InstData] {
        &self.facts.func.blocks[self.body.index()].insts
    }

    /// The instruction of the body that defines a value, with its place.
    fn own(&self, v: Value) -> Option<(usize, &'a Inst)> {
        let place = self.facts.defs.place(v);
        (self.facts.defs.block(v) == Some(self.body)).then(|| self.insts().get(place).map(|d| (place, &d.inst)))?
    }

    fn plan(&self) -> Option<Plan> {
        let sums: Vec<Sum<'a>> = (0..self.insts().len()).filter_map(|k| self.sum(k)).collect();
        if sums.len() < 2 {
            return None;
        }
        let groups = self.groups(&sums)?;
        let own: HashSet<usize> = sums.iter().flat_map(|s| s.own.iter().copied().chain([s.store])).collect();
        // Accesses but for those of sums: what they read, and what they write.
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (k, d) in self.insts().iter().enumerate() {
            match &d.inst {
                _ if own.contains(&k) => {}
                Inst::Load(p) => reads.push(self.element(*p)?),
                Inst::Store(p, _) => writes.push(self.element(*p)?),
                inst if is_simple(inst) => {}
                _ => return None,
            }
        }
        let apart = self.apart(&sums, &reads, &writes)?;
        let mut plan = Plan { body: self.body, loops: Vec::new(), moved: Vec::new(), apart };
        let mut again = 0;
        for group in &groups[1..] {
            let slice = self.slice(group.iter().map(|s| &sums[*s]))?;
            again += slice.iter().map(|k| picoseconds(&self.insts()[*k].inst, &|_| None)).sum::<Option<i64>>()?;
            plan.moved.extend(group.iter().flat_map(|s| sums[*s].own.iter().copied().chain([sums[*s].store])));
            plan.loops.push(slice);
        }
        let whole = self.insts().iter().map(|d| picoseconds(&d.inst, &|_| None)).sum::<Option<i64>>()?;
        (again <= MAX_AGAIN * whole && can_copy(self.facts, self.at)).then_some(plan)
    }

    /// The sum that an instruction stores.
    fn sum(&self, store: usize) -> Option<Sum<'a>> {
        let Inst::Store(address, v) = self.insts()[store].inst else { return None };
        let at = self.element(address)?;
        let mut sum = Sum { at, store, own: Vec::new() };
        let ty = self.facts.func.ty(v);
        (ty.is_float() && !ty.is_half() && self.chain(v, &mut sum)).then_some(sum)
    }

    /// Whether a value is the element with terms added to it, and nothing else uses that.
    fn chain(&self, v: Value, sum: &mut Sum<'a>) -> bool {
        let Some((place, inst)) = self.own(v).filter(|_| self.uses[v.index()] == 1) else { return false };
        let found = match inst {
            Inst::Load(p) => self.element(*p).is_some_and(|e| e.is(&sum.at)),
            Inst::Op(op, args) if is_free(self.facts.func, op) => {
                let is_sum = matches!(op.algebra, Algebra::Add | Algebra::AnyOrder(AnyOrder::Add));
                let orders: &[usize] = if is_sum { &[0, 1] } else { &[0] };
                orders.iter().any(|old| self.chain(args[*old], sum))
            }
            _ => false,
        };
        sum.own.extend(found.then_some(place));
        found
    }

    /// The element of an array from before the loop at an address that has been checked.
    fn element(&self, address: Value) -> Option<ElementOf<'a>> {
        match self.facts.defs.inst(self.facts.func, address)? {
            Inst::ElemPtr { array, index, wrap: false, check: false } if self.facts.is_invariant(self.at, *array) => {
                Some(ElementOf { array: *array, index })
            }
            _ => None,
        }
    }

    /// How far an index moves with each iteration.
    fn step(&self, v: Value) -> Option<i64> {
        if v == self.counted.index {
            return Some(self.counted.step);
        }
        if self.facts.is_invariant(self.at, v) || self.facts.defs.int(self.facts.func, v).is_some() {
            return Some(0);
        }
        match self.facts.defs.inst(self.facts.func, v)? {
            Inst::Op(op, args) if op.is(Algebra::Add) => self.step(args[0])?.checked_add(self.step(args[1])?),
            Inst::Op(op, args) if op.is(Algebra::Sub) => self.step(args[0])?.checked_sub(self.step(args[1])?),
            Inst::Cast(x) if self.facts.func.ty(*x).strong() == self.facts.func.ty(v).strong() => self.step(*x),
            _ => None,
        }
    }

    fn relation(&self, a: &ElementOf<'a>, b: &ElementOf<'a>) -> Relation {
        let (func, defs) = (self.facts.func, self.facts.defs);
        // An index as a value plus a constant, or as a constant.
        let parts = |v: Value| match defs.int(func, v) {
            Some(n) => (None, n),
            None => (Some(defs.offset(func, v).0), defs.offset(func, v).1),
        };
        let (mut moves, mut same, mut apart, mut known) = (false, true, false, a.index.len() == b.index.len());
        for (x, y) in a.index.iter().zip(b.index) {
            let ((p, m), (q, n)) = (parts(*x), parts(*y));
            match self.step(*x) {
                Some(step) if p == q => {
                    moves |= step != 0;
                    same &= m == n;
                    apart |= step == 0 && m != n;
                }
                _ => known = false,
            }
        }
        match (known, apart) {
            (_, true) => Relation::Apart,
            (true, false) if same && moves => Relation::Same,
            (true, false) if moves => Relation::Neighbours,
            _ => Relation::Unknown,
        }
    }

    /// Whether vectors of neighbouring iterations are contiguous at an element.
    fn is_contiguous(&self, e: &ElementOf<'a>) -> bool {
        let func = self.facts.func;
        let is_whole = func.ty(e.array).as_array().is_some_and(|(_, _, layout, _)| layout != Layout::A);
        let along = contiguous(func, e.array);
        is_whole
            && e.index
                .iter()
                .enumerate()
                .all(|(d, v)| self.step(*v).is_some_and(|s| if Some(d) == along { s.abs() == 1 } else { s == 0 }))
    }

    /// Sums that share a loop, by their numbers; the first group stays. `None` if there is no reason to split.
    fn groups(&self, sums: &[Sum<'a>]) -> Option<Vec<Vec<usize>>> {
        let fits = |group: &[usize], s: &Sum<'a>| {
            // The sum itself is one of them: each of its iterations has to have another element.
            let all = group.iter().map(|o| &sums[*o].at).chain([&s.at]);
            all.filter(|o| o.array == s.at.array)
                .all(|o| matches!(self.relation(o, &s.at), Relation::Same | Relation::Apart))
        };
        let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
        for (i, s) in sums.iter().enumerate() {
            match groups.iter_mut().find(|g| fits(g, s)) {
                Some(g) => g.push(i),
                None if self.is_contiguous(&s.at) => groups.push(vec![i]),
                None => return None,
            }
        }
        (groups.len() > 1).then_some(groups)
    }

    /// The pairs of arrays that must not overlap, each other or themselves, for the loops to do what the one did and
    /// for each to be free of dependences between iterations; `None` if accesses to one array are in the way.
    fn apart(
        &self,
        sums: &[Sum<'a>],
        reads: &[ElementOf<'a>],
        writes: &[ElementOf<'a>],
    ) -> Option<Vec<(Value, Value)>> {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        let mut add = |a: Value, b: Value| {
            let pair = (a.min(b), a.max(b));
            let is_tested = a != b || may_overlap_itself(self.facts.func.ty(a));
            if is_tested && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        };
        for s in sums {
            // Sums into one array commute, and groups are free of dependences.
            sums.iter().for_each(|o| add(s.at.array, o.at.array));
            for e in reads.iter().chain(writes) {
                if e.array == s.at.array {
                    return None;
                }
                add(s.at.array, e.array);
            }
        }
        for w in writes {
            for e in reads.iter().chain(writes) {
                if e.array == w.array && self.relation(w, e) != Relation::Same {
                    return None;
                }
                add(w.array, e.array);
            }
        }
        (pairs.len() <= MAX_PAIRS).then_some(pairs)
    }

    /// The instructions that sums need, in their order; `None` if they need what the loop carries beside its index.
    fn slice<'s>(&self, sums: impl Iterator<Item = &'s Sum<'a>>) -> Option<Vec<usize>>
    where
        'a: 's,
    {
        let mut found: HashSet<usize> = HashSet::new();
        let mut work: Vec<Value> = Vec::new();
        for s in sums {
            found.insert(s.store);
            self.insts()[s.store].inst.for_each_operand(|o| work.push(o));
        }
        while let Some(v) = work.pop() {
            if let Some((place, inst)) = self.own(v) {
                if found.insert(place) {
                    inst.for_each_operand(|o| work.push(o));
                }
            } else if self.facts.func.blocks[self.l.header.index()].params.contains(&v) {
                if v != self.counted.index {
                    return None;
                }
            } else if let Some(inst) = self.facts.defs.inst(self.facts.func, v)
                && self.facts.defs.block(v).is_some_and(|b| in_loop(self.facts.cfg, self.l, b))
            {
                // The header is copied whole.
                inst.for_each_operand(|o| work.push(o));
            }
        }
        let mut out: Vec<usize> = found.into_iter().collect();
        out.sort_unstable();
        Some(out)
    }
}
