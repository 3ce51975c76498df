//! Loop distribution: inner loops that only fill contiguous elements gain nothing from jamming and are vectorised by
//! themselves. The jammed loop runs such a loop once for each of its iterations, one after another.
//!
//! ```text
//! for j in range(n):                         for j in range(0, n - 3, 4):
//!     for k in range(m): s += a[j, k]            for k in range(m): s0 += a[j, k]; ... s3 += a[j + 3, k]
//!     for k in range(m): b[j, k] = s     ->      for r in range(4):
//!                                                    for k in range(m): b[j + r, k] = <s0 to s3, selected by r>
//! ```

use super::build::Names;
use super::plan::{JamPlan, MemRef};
use crate::analysis::counted::{in_loop, target_of};
use crate::analysis::facts::Facts;
use crate::analysis::strides::{contiguous, moves};
use crate::edit::{Cursor, rename, to};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Loop, targets};
use lh_ir::func::{Inst, Target, Term};
use lh_ir::switches::is_off;
use lh_ir::{Block, Function, Ty, Value};
use lh_ops::runtime as rt;

/// The headers of the inner loops to distribute.
pub(super) fn headers(facts: &Facts<'_>, at: usize, accesses: &[MemRef<'_>], varying: &HashSet<Value>) -> Vec<Block> {
    if is_off("unroll_and_jam.distribute") {
        return Vec::new();
    }
    let inside = facts.loops.loops.iter().enumerate().filter(|(_, l)| l.is_innermost && l.parent == Some(at));
    let fits =
        inside.filter(|(i, l)| only_fills(facts, *i, l, accesses) && can_distribute(facts, l, accesses, varying));
    fits.map(|(_, l)| l.header).collect()
}

/// Whether a loop carries nothing but its index, and its accesses are contiguous along it, or invariant reads.
fn only_fills(facts: &Facts<'_>, i: usize, l: &Loop, accesses: &[MemRef<'_>]) -> bool {
    let Some(counted) = &facts.counts[i] else { return false };
    let is_contiguous = |a: &MemRef<'_>| {
        contiguous(facts.func, a.array)
            .is_some_and(|d| d < a.index.len() && moves(facts.func, facts.defs, a.index[d], counted.index))
    };
    let mut own = accesses.iter().filter(|a| in_loop(facts.cfg, l, a.block));
    facts.func.blocks[l.header.index()].params.len() == 1
        && accesses.iter().any(|a| a.writes && in_loop(facts.cfg, l, a.block))
        && own.all(|a| is_contiguous(a) || !a.writes && a.index.iter().all(|v| facts.is_invariant(i, *v)))
}

/// Whether a loop has one entry and one exit and uses varying values only if they can be selected by the iteration.
fn can_distribute(facts: &Facts<'_>, l: &Loop, accesses: &[MemRef<'_>], varying: &HashSet<Value>) -> bool {
    let func = facts.func;
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let own: HashSet<Value> = l.blocks.iter().flat_map(|b| func.blocks[b.index()].defined()).collect();
    let enters = facts.cfg.preds(l.header).iter().filter(|e| !inside.contains(&e.from));
    let mut starts = enters.map(|e| target_of(func, *e).args.iter().any(|a| varying.contains(a)));
    let leaves = |b: &Block| {
        let mut out = targets(func, *b).filter(|(_, t)| !inside.contains(&t.block));
        out.all(|(_, t)| *b == l.header && !t.args.iter().any(|a| own.contains(a)))
    };
    let can_select = |v: Value| {
        let ty = func.ty(v);
        ty.is_int() || ty.is_float() || ty.is_bool() || accesses.iter().any(|a| a.array == v && a.view.is_some())
    };
    starts.next() == Some(false)
        && starts.next().is_none()
        && l.blocks.iter().all(leaves)
        && own.iter().all(|v| facts.users.outside(*v, &inside).next().is_none())
        && operands(func, l).into_iter().all(|v| own.contains(&v) || !varying.contains(&v) || can_select(v))
}

/// Prefetch of memory that a distributed loop will write, in a jammed loop before it whose sums leave memory idle.
pub(super) struct Prefetch {
    /// The latch of the jammed loop.
    pub block: Block,
    /// The induction variable of the jammed loop.
    pub index: Value,
    pub view: Value,
}

/// Prefetches for distributed loops that have the trip count of a jammed loop before them.
pub(super) fn prefetch(facts: &Facts<'_>, at: usize, distributed: &[Block], accesses: &[MemRef<'_>]) -> Vec<Prefetch> {
    let inside = |b: Block| facts.loops.innermost[b.index()].expect("it is in a loop");
    let is_distributed = |a: &MemRef<'_>| distributed.contains(&facts.loops.loops[inside(a.block)].header);
    let mut out: Vec<Prefetch> = Vec::new();
    for a in accesses.iter().filter(|a| a.writes && is_distributed(a) && a.view.is_some()) {
        let Some(fill) = facts.counts[inside(a.block)].as_ref().filter(|c| a.index == [c.index]) else { continue };
        let position = |b: Block| facts.cfg.position(b);
        let before = facts.loops.loops.iter().zip(facts.counts).filter(|(l, c)| {
            l.is_innermost
                && l.parent == Some(at)
                && !distributed.contains(&l.header)
                && l.latches.len() == 1
                && position(l.header) < position(a.block)
                && c.as_ref().is_some_and(|c| c.limit == fill.limit && c.step == fill.step)
                && facts.defs.reaches(facts.dom, a.array, l.header)
        });
        let is_new =
            out.iter().all(|o| o.view != a.array) && accesses.iter().all(|o| o.array != a.array || is_distributed(o));
        if let (Some((l, Some(c))), true) = (before.max_by_key(|(l, _)| position(l.header)), is_new) {
            out.push(Prefetch { block: l.latches[0], index: c.index, view: a.array });
        }
    }
    out
}

impl Prefetch {
    /// Prefetches the elements of all jammed iterations.
    pub(super) fn build(&self, func: &mut Function, plan: &JamPlan, names: &Names) {
        let block = names.blocks[&self.block];
        let span = func.blocks[block.index()].term_span;
        let mut c = Cursor { func, block, span, unwind: None, cold: false };
        for i in 0..plan.factor as usize {
            let (array, index) = (names.of(self.view, i), vec![names.of(self.index, 0)]);
            let address = c.inst(Inst::ElemPtr { array, index, wrap: false, check: false }, Ty::ptr());
            c.effect(Inst::Runtime(&rt::lh_prefetch, vec![address]));
        }
    }
}

fn operands(func: &Function, l: &Loop) -> Vec<Value> {
    let mut out = Vec::new();
    for b in &l.blocks {
        let data = &func.blocks[b.index()];
        data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| out.push(v)));
        data.term.clone().iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| out.push(*v)));
    }
    out
}

/// Builds a distributed loop inside a loop over the jammed iterations; `old` is the induction variable of the original
/// loop, `index` its value in the first jammed iteration.
pub(super) fn build(func: &mut Function, l: &Loop, plan: &JamPlan, names: &Names, (old, index): (Value, Value)) {
    let block = names.blocks[&l.header];
    let (span, start) = (func.blocks[l.header.index()].term_span, func.blocks[block.index()].params[0]);
    let operands = operands(func, l);
    let mut c = Cursor { func, block, span, unwind: None, cold: false };
    let (zero, one, width) = (c.int(0), c.int(1), c.int(plan.factor));
    let (rounds, params) = c.new_block(&[Ty::int()]);
    let [(enter, _), (leave, _)] = [(); 2].map(|()| c.new_block(&[]));
    c.end(Term::Jump(to(rounds, &[zero])), rounds);
    let exits = targets(c.func, l.header).find(|(_, t)| !l.blocks.contains(&t.block)).map(|(_, t)| t.clone());
    let exit = names.target(c.func, &exits.expect("a counted loop ends"));
    let more = c.lt(params[0], width);
    c.end(Term::Branch { cond: more, then: to(enter, &[]), els: exit }, enter);
    let mut own: HashMap<Value, Value> = HashMap::new();
    let mut blocks: HashMap<Block, Block> = HashMap::new();
    for b in &l.blocks {
        for v in c.func.blocks[b.index()].defined().collect::<Vec<_>>() {
            let ty = c.func.ty(v);
            own.insert(v, c.func.new_value(ty));
        }
        blocks.insert(*b, c.func.new_block());
    }
    let i = c.add(index, params[0]);
    for v in operands {
        if !own.contains_key(&v) {
            let now = if v == old { i } else { select_iteration(&mut c, plan, names, v, (params[0], i)) };
            own.insert(v, now);
        }
    }
    c.end(Term::Jump(to(blocks[&l.header], &[start])), leave);
    let next = c.add(params[0], one);
    c.end(Term::Jump(to(rounds, &[next])), leave);
    for b in &l.blocks {
        let mut data = c.func.blocks[b.index()].clone();
        for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten() {
            if !l.blocks.contains(&t.block) {
                *t = Target { block: leave, args: Vec::new() };
            }
        }
        rename(&mut data, &own, &blocks);
        c.func.blocks[blocks[b].index()] = data;
    }
}

/// A value in iteration `i`, the `r`-th of the jammed iterations: a view made anew, or a chain of selects.
fn select_iteration(c: &mut Cursor<'_>, plan: &JamPlan, names: &Names, v: Value, (r, i): (Value, Value)) -> Value {
    let all = names.all(v);
    if all.len() == 1 {
        return all[0];
    }
    if let Some(view) = plan.views.iter().find(|w| w.array == v) {
        return view.at(c, i);
    }
    let (last, before) = all.split_last().expect("several");
    before.iter().enumerate().rev().fold(*last, |rest, (k, own)| {
        let k = c.int(k as i64);
        let is_this = c.eq(r, k);
        c.select(is_this, *own, rest)
    })
}
