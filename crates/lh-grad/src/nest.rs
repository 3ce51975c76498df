//! Places on the tape of loops inside of parallel loops. A stack would let each iteration of the parallel loop begin
//! where the one before it ended; so there is a row for each iteration, with places for all iterations of the loops in
//! it, whose numbers must be known before. Where these depend on the parallel loop's counter, rows have the greatest
//! width: linear functions have it at one of the ends.
//!
//! ```text
//! for i in prange(n):                     tape[base + i, j * (m + 1) + k]
//!     for j in range(l):
//!         for k in range(m):
//! ```

use crate::builder::{Builder, MOST, iterations, product, row};
use crate::normal::{Bounds, Flow, bounds, entries, is_left_early};
use hashbrown::HashMap;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::def_blocks;
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::{Block, Slot, Ty, Value};

/// The loops around kept values, from a parallel loop on.
#[derive(Clone)]
pub(crate) struct Nest {
    /// The parallel loop.
    pub root: usize,
    /// The loops in it, outer ones first, with the places for one run of each.
    pub inner: Vec<(usize, Slot)>,
    /// Places in a row.
    pub width: Slot,
}

/// Finds the nest of a loop, and computes its width before all loops; none if that is not known there.
pub(crate) fn find(func: &mut Function, flow: &Flow, l: usize) -> Option<Nest> {
    let mut around = vec![l];
    while let Some(p) = flow.loops.loops[*around.last()?].parent {
        around.push(p);
    }
    let is_parallel = |l: &usize| func.blocks[flow.loops.loops[*l].header.index()].parallel.is_some();
    let at = around.iter().rposition(is_parallel)?;
    let (root, top) = (around[at], *around.last()?);
    let inner: Vec<usize> = around[..at].iter().rev().copied().collect();
    let header = flow.loops.loops[top].header;
    let before = entries(&flow.cfg, header).into_iter().find(|e| !flow.dom.dominates(header, e.from))?.from;
    let outside = Outside::new(func, flow, top, root)?;
    let all: Option<Vec<Bounds>> = inner.iter().map(|c| outside.bounds(func, flow, *c)).collect();
    let all = all?;
    let inner: Vec<(usize, Slot)> = inner.into_iter().map(|c| (c, func.new_slot(Ty::int()))).collect();
    let width = func.new_slot(Ty::int());
    let span = func.blocks[before.index()].term_span;
    let mut b = Builder::at_end(func, before, span);
    let ends = outside.ends(&mut b);
    let mut all_places = b.int(1);
    for ((_, slot), of) in inner.iter().zip(&all) {
        let n = ends.iter().map(|end| {
            let (first, limit) = (outside.emit(&mut b, of.first, end), outside.emit(&mut b, of.limit, end));
            iterations(&mut b, (first, limit), MOST)
        });
        let n = n.collect::<Vec<_>>().into_iter().reduce(|x, y| {
            let is_more = b.test("lt", x, y);
            b.op(row("select"), &[is_more, y, x], Ty::int())
        })?;
        let one = b.int(1);
        let places = b.int_op("add", n, one);
        b.set(*slot, places);
        all_places = product(&mut b, all_places, places);
    }
    b.set(width, all_places);
    b.finish(before);
    Some(Nest { root, inner, width })
}

/// Values of a nest of loops as they are before it.
struct Outside<'a> {
    defs: Vec<Option<Block>>,
    /// Blocks of the outermost loop.
    inside: &'a [Block],
    /// Instructions of these that can be computed before.
    insts: HashMap<Value, Inst>,
    /// The parallel loop.
    root: Bounds,
    counter: Value,
}

/// Values of the parallel loop's counters in one of its iterations.
type End = HashMap<Value, Value>;

impl<'a> Outside<'a> {
    fn new(func: &Function, flow: &'a Flow, top: usize, root: usize) -> Option<Outside<'a>> {
        let inside = &flow.loops.loops[top].blocks;
        let all = inside.iter().flat_map(|b| &func.blocks[b.index()].insts);
        let insts = all.filter(|d| is_simple(func, d)).filter_map(|d| Some((d.result?, d.inst.clone()))).collect();
        let counter = flow.counters[root];
        let root = bounds(func, flow, root).filter(|_| !is_left_early(flow, root))?;
        Some(Outside { defs: def_blocks(func), inside, insts, root, counter })
    }

    /// The bounds of a loop in the nest, if they are known before it but for the counter of the parallel loop.
    fn bounds(&self, func: &Function, flow: &Flow, l: usize) -> Option<Bounds> {
        let of = bounds(func, flow, l).filter(|_| !is_left_early(flow, l))?;
        [of.first, of.limit].iter().all(|v| self.degree(*v).is_some()).then_some(of)
    }

    fn is_outside(&self, v: Value) -> bool {
        self.defs[v.index()].is_some_and(|b| !self.inside.contains(&b))
    }

    /// 0 if a value does not depend on the counter of the parallel loop, 1 if it is linear in it; none if it cannot be
    /// computed before.
    fn degree(&self, v: Value) -> Option<u32> {
        if self.is_outside(v) {
            return Some(0);
        }
        if v == self.root.index || v == self.counter {
            let ends = [self.root.first, self.root.limit].map(|v| v != self.root.index && self.degree(v) == Some(0));
            return (self.root.step == 1 && ends == [true; 2]).then_some(1);
        }
        let inst = self.insts.get(&v)?;
        let mut of = Vec::new();
        self.operands(inst).into_iter().for_each(|v| of.push(self.degree(v)));
        let of: Vec<u32> = of.into_iter().collect::<Option<_>>()?;
        let most = of.iter().copied().max().unwrap_or(0);
        let sum = of.iter().sum();
        match inst {
            Inst::Cast(_) => Some(most),
            Inst::Op(op, _) if matches!(op.algebra, Algebra::Add | Algebra::Sub | Algebra::Negate) => Some(most),
            Inst::Op(op, _) if op.is(Algebra::Mul) => (sum <= 1).then_some(sum),
            _ => (most == 0).then_some(0),
        }
    }

    /// The operands that an instruction has before the loops.
    fn operands(&self, inst: &Inst) -> Vec<Value> {
        if let Some(n) = self.extent(inst) {
            return vec![n];
        }
        let mut of = Vec::new();
        inst.for_each_operand(|v| of.push(v));
        of
    }

    /// The extent that an instruction reads of an array that the loops make of others.
    fn extent(&self, inst: &Inst) -> Option<Value> {
        let Inst::ArrayShape(a, d) = inst else { return None };
        match self.insts.get(a)? {
            Inst::ArrayMake { shape, .. } => Some(shape[*d as usize]),
            _ => None,
        }
    }

    /// The first and the last iteration of the parallel loop.
    fn ends(&self, b: &mut Builder<'_>) -> Vec<End> {
        let none = HashMap::new();
        let zero = b.int(0);
        if [self.root.first, self.root.limit].iter().any(|v| self.degree(*v) != Some(0)) {
            return vec![none];
        }
        let (first, limit) = (self.emit(b, self.root.first, &none), self.emit(b, self.root.limit, &none));
        let one = b.int(1);
        let last = b.int_op("sub", limit, one);
        let many = b.int_op("sub", last, first);
        [(first, zero), (last, many)].map(|(i, k)| HashMap::from([(self.root.index, i), (self.counter, k)])).into()
    }

    /// A value in an iteration of the parallel loop, computed before all loops.
    fn emit(&self, b: &mut Builder<'_>, v: Value, end: &End) -> Value {
        if self.is_outside(v) {
            return v;
        }
        if let Some(n) = end.get(&v) {
            return *n;
        }
        let mut inst = self.insts[&v].clone();
        if let Some(n) = self.extent(&inst) {
            return self.emit(b, n, end);
        }
        inst.for_each_operand_mut(&mut |v| *v = self.emit(b, *v, end));
        let ty = b.func.ty(v);
        b.inst(inst, ty)
    }
}

/// Whether an instruction can run where it would not have run. Casts of floats are no linear functions.
fn is_simple(func: &Function, d: &InstData) -> bool {
    match &d.inst {
        Inst::Const(_) | Inst::ArrayShape(..) | Inst::Field(..) | Inst::ArrayMake { .. } => true,
        Inst::Cast(v) => func.ty(*v).is_int() && d.result.is_some_and(|r| func.ty(r).strong() == Ty::i64()),
        Inst::Op(op, _) => matches!(
            op.algebra,
            Algebra::Add
                | Algebra::Sub
                | Algebra::Mul
                | Algebra::Negate
                | Algebra::Select
                | Algebra::Max(_)
                | Algebra::Min(_)
                | Algebra::Cmp(_)
        ),
        _ => false,
    }
}
