//! Privatisation of arrays that each iteration fills before it reads them: `for j in range(m): t[j] = ...`, then
//! `sum(t)`. Each block of iterations has a private copy; that of the last block survives.
//!
//! Before each read, the iteration must have written the elements that it reads, or all elements that any iteration
//! writes. The latter must also hold at the end of the iteration, unless the array is dead after the loop.

use super::disjoint_windows::coefficient;
use super::{Access, ArrayReduce, InnerLoop, Judge};
use crate::analysis::effects::expr::{Expr, Sym};
use crate::analysis::effects::{Kind, Root};
use crate::parallel::carried::Reduce;
use crate::parallel::region::for_each_use;
use lh_ir::cfg::targets;
use lh_ir::func::Inst;
use lh_ir::{Block, Meaning, Value};

/// The array of an access.
fn array_of(a: &Access) -> Option<Value> {
    if let Root::Value(array) = a.root { Some(array) } else { None }
}

/// An interval along one dimension with exclusive end; `None` is the whole dimension.
type Interval = Option<(Expr, Expr)>;

impl Judge<'_> {
    /// Privatises an array if each iteration writes it before it reads it.
    pub(super) fn privatize(&self, accesses: &[Access], array: Value) -> Option<ArrayReduce> {
        let mine = |of_reads: bool| {
            accesses.iter().filter(move |a| a.root == Root::Value(array) && (a.kind == Kind::Read) == of_reads)
        };
        let at_most = |x: &Expr, y: &Expr| y.sub(x).as_int().is_some_and(|n| n >= 0);
        let contains = |all: &Interval, what: &Interval, in_any: bool| match (all, what) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((a, b)), Some((c, d))) => {
                at_most(a, c) && at_most(d, b) && (!in_any || (self.all_fixed(c) && self.all_fixed(d)))
            }
        };
        // Whether the elements of an access, in this iteration or in any, are written on all paths to a place.
        let is_set = |a: &Access, in_any: bool, b: Block, at: usize| {
            mine(false).filter(|d| self.has_completed(d, array, b, at)).any(|d| {
                let beside = if in_any { self.region.header } else { d.block };
                let reaches = self.range_of(d, b, true).zip(self.range_of(a, beside, false));
                reaches.is_some_and(|(all, what)| all.iter().zip(&what).all(|(x, y)| contains(x, y, in_any)))
            })
        };
        let are_all_set = |b: Block, at: usize| mine(false).all(|w| is_set(w, true, b, at));
        let ends = |b: &&Block| targets(self.func, **b).any(|(_, t)| t.block == self.region.header);
        let is_dead = mine(true).next().is_some() && self.is_dead(array);
        let fits = mine(true).all(|r| is_set(r, false, r.block, r.at) || are_all_set(r.block, r.at))
            && (is_dead || self.region.blocks.iter().filter(ends).all(|b| are_all_set(*b, usize::MAX)));
        fits.then(|| ArrayReduce { array, how: Reduce::Private, updates: Vec::new(), is_whole: true })
    }

    /// Inner loops that contain one block but not the other, innermost first.
    fn loops_around(&self, b: Block, not: Block) -> Vec<&InnerLoop> {
        let is_around = |l: &&InnerLoop| l.body.contains(&b) && !l.body.contains(&not);
        let mut out: Vec<&InnerLoop> = self.inner.iter().filter(is_around).collect();
        out.sort_by_key(|l| l.body.len());
        out
    }

    /// Whether a write has written its whole range before a place: each loop around it, which its index uses, executes
    /// it in every iteration.
    fn has_completed(&self, d: &Access, array: Value, before: Block, at: usize) -> bool {
        let data = |b: Block| &self.func.blocks[b.index()];
        let does_all = match &data(d.block).insts[d.at].inst {
            Inst::MapInto(_, args) if args[0] == array => true,
            Inst::Store(..) | Inst::MapInto(..) => d.index.iter().all(Option::is_some),
            Inst::Call(f, args) => {
                args[0] == array && (self.callees)(*f).is_some_and(|s| s.meaning == Some(Meaning::Fill))
            }
            _ => false,
        };
        let stays = |b: Block| data(b).unwind.as_ref().is_none_or(|t| !self.region.inside[t.block.index()]);
        let mut from = d.block;
        let is_each_whole = self.loops_around(d.block, before).iter().all(|l| {
            let is_index = |e: &&Expr| e.terms.iter().any(|t| t.0.contains(&Sym::Val(l.index)));
            let in_loop = |b: Block| b == l.header || l.body.contains(&b);
            let goes_on = |b: &Block| stays(*b) && targets(self.func, *b).all(|(n, t)| n.is_none() || in_loop(t.block));
            let each_time = l.latches.iter().all(|b| self.dom.dominates(from, *b)) && l.step.abs() == 1;
            from = l.header;
            let by_one = d.index.iter().flatten().filter(is_index).count() == 1;
            each_time && by_one && stays(from) && l.body.iter().all(goes_on)
        });
        let is_before = if from == before { from == d.block && d.at < at } else { self.dom.dominates(from, before) };
        does_all && stays(d.block) && is_each_whole && is_before
    }

    /// The range of an access in an iteration, or in an iteration of the loops that also contain another block: a lower
    /// or an upper bound.
    fn range_of(&self, a: &Access, beside: Block, at_least: bool) -> Option<Vec<Interval>> {
        // The indices of an unknown part, such as a view that a callee makes, are missing.
        let rank = self.func.ty(array_of(a)?).as_array().map(|t| t.1);
        if rank.is_some_and(|rank| rank != a.index.len()) {
            return None;
        }
        let own = self.loops_around(a.block, beside);
        let is_own = |l: &InnerLoop| own.iter().any(|o| o.header == l.header);
        let is_clear = |s: &Sym| {
            let (Sym::Val(v) | Sym::Shape(v, _) | Sym::Stride(v, _) | Sym::Within(v)) = s else { return false };
            let b = self.defs.block(*v);
            !own.iter().any(|l| Some(l.header) == b || b.is_some_and(|b| l.body.contains(&b)))
        };
        let along = |(k, e): (u32, &Option<Expr>)| {
            let Some(e) = e else { return Some(None) };
            let ((low, put), (high, _)) = (self.bound(e, false, &is_own)?, self.bound(e, true, &is_own)?);
            // Of several inner variables, not every sum between the limits may occur.
            let is_one = put.is_empty() || put.len() == 1 && coefficient(e, put[0].0).is_some_and(|c| c.abs() == 1);
            let is_known = low.terms.iter().chain(&high.terms).flat_map(|t| &t.0).all(is_clear);
            let end = high.add(&Expr::int(1));
            let Root::Value(array) = a.root else { return None };
            let is_all = low == Expr::int(0) && end == Expr::sym(Sym::Shape(array, k));
            ((is_one || !at_least) && is_known).then(|| (!is_all).then_some((low, end)))
        };
        (0..).zip(&a.index).map(along).collect()
    }

    /// Whether only the loop uses an array that the function has allocated.
    fn is_dead(&self, array: Value) -> bool {
        let mut is_dead = matches!(self.defs.inst(self.func, array), Some(Inst::Map(..) | Inst::Call(..)));
        for b in (0..self.func.blocks.len()).filter(|b| !self.region.inside[*b]) {
            for_each_use(self.func, Block::new(b), |v| is_dead &= v != array);
        }
        is_dead
    }
}
