//! Legality and profitability of unroll and jam.

use super::distribute::{self, Prefetch};
use super::strided_views::StridedView;
use crate::analysis::counted::is_short;
use crate::analysis::counted::{in_loop, target_of};
use crate::analysis::facts::Facts;
use crate::analysis::strides::{contiguous, moves};
use crate::edit::overlap::may_overlap_itself;
use hashbrown::HashSet;
use lh_ir::cfg::{Loop, targets};
use lh_ir::func::{BlockData, Inst, InstData, LatchHint, LoopHint, Term, fastmath};
use lh_ir::op::Lower;
use lh_ir::{Block, Value};

/// Size limit for loops, in instructions.
const MAX_BODY: usize = 48;
/// Unroll factors, for bodies of at most this many instructions and for larger ones.
const SMALL_BODY: usize = 28;
const FACTORS: (i64, i64) = (8, 4);
/// Inner loops with fewer iterations are jammed although they could be vectorised themselves.
const SHORT_TRIP_COUNT: i64 = 8;
/// Unroll factor for rows of threads, and the size limit for the completely unrolled loop of a thread in all rows.
const ROWS: i64 = 4;
const UNROLLED: u64 = 1024;

/// Approximates LLVM's threshold for complete unrolling, in instructions of the unrolled loops.
const MAX_UNROLLED_COST: u64 = 104;

/// The transformation of a loop.
pub(super) struct JamPlan {
    pub at: usize,
    pub factor: i64,
    /// Values that differ between the jammed iterations.
    pub varying: HashSet<Value>,
    /// Pairs of arrays that must not overlap, each other or themselves.
    pub disjoint: Vec<(Value, Value)>,
    /// Strided views: in each iteration another part of memory.
    pub views: Vec<StridedView>,
    /// Whether several inner loops access the views, so that they should stay in the cache.
    pub reread: bool,
    /// Headers of the distributed inner loops.
    pub distributed: Vec<Block>,
    pub prefetch: Vec<Prefetch>,
    /// Whether the jammed iterations become vector lanes.
    pub slp: bool,
    /// The inner loop's trip count is small if this value is less than the number.
    pub short: Option<(Value, i64)>,
    /// Whether the iterations are rows of threads, which are vectorised along the row.
    pub rows: bool,
}

/// A load or a store.
pub(super) struct MemRef<'a> {
    pub block: Block,
    /// The array, or the address of a scalar.
    pub array: Value,
    pub index: &'a [Value],
    pub writes: bool,
    /// The strided view that the iteration makes and accesses.
    pub view: Option<StridedView>,
}

/// Plans a loop, if the transformation is legal and pays.
pub(super) fn plan(facts: &Facts<'_>, at: usize) -> Option<JamPlan> {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    facts.counts[at].as_ref().filter(|c| c.step == 1)?;
    let blocks = || l.blocks.iter().map(|b| &func.blocks[b.index()]);
    let size: usize = blocks().map(|d| d.insts.len()).sum();
    // Threads do not read each other's memory between two barriers.
    let rows = l.blocks.iter().any(|b| func.blocks[b.index()].latch.is_parallel() && is_row(facts, at, *b));
    let threads = l.latches.iter().any(|b| func.blocks[b.index()].latch.is_parallel());
    let has_lanes = |d: &BlockData| d.latch == LatchHint::VectorizeLanes || d.hint == LoopHint::UnrollFull;
    let fits =
        |d: &BlockData| if rows || threads { !has_lanes(d) } else { !d.latch.is_parallel() && d.unwind.is_none() };
    let is_legal = size <= 2 * MAX_BODY
        // A pragma is for the loop as it is.
        && !blocks().any(|d| d.pragma.is_some())
        && blocks().all(|d| fits(d) && !d.cold && d.insts.iter().all(|d| can_repeat(facts, &d.inst)))
        && func.blocks[l.header.index()].params.len() == 1
        && inside(facts, at).all(|l| facts.counts[l].is_some())
        && exits_at_header_only(facts, at)
        && has_no_live_out(facts, at);
    if !is_legal {
        return None;
    }
    let varying = varying(facts, at);
    let decides = |b: &Block| match &func.blocks[b.index()].term {
        Some(Term::Branch { cond, .. }) if *b != l.header => varying.contains(cond),
        _ => false,
    };
    if l.blocks.iter().any(decides) {
        return None;
    }
    if rows {
        let profitability = rows_profit(facts, at, &varying);
        let (disjoint, views, reread, distributed, prefetch) = Default::default();
        let (short, slp) = (None, false);
        let plan =
            JamPlan { at, factor: ROWS, varying, disjoint, views, reread, distributed, prefetch, slp, short, rows };
        return profitability.then_some(plan);
    }
    let accesses = accesses(facts, at)?;
    if size > MAX_BODY && accesses.iter().all(|a| a.view.is_none()) {
        return None;
    }
    // Short inner loops of threads are unrolled completely, and vectorised along the row.
    if threads && inside(facts, at).any(|i| is_short(func, facts.cfg, facts.defs, &facts.loops.loops[i])) {
        return None;
    }
    let disjoint = if threads { Vec::new() } else { disjoint(facts, at, &accesses)? };
    let short = match profitability(facts, at, &accesses, &varying) {
        Profit::No => return None,
        Profit::Always => None,
        Profit::WhileShort => Some(short_trip_count(facts, at)?),
    };
    let distributed = distribute::headers(facts, at, &accesses, &varying);
    let prefetch = distribute::prefetch(facts, at, &distributed, &accesses);
    let slp = slp(facts, at, &accesses, &varying, &distributed);
    let views = views(accesses);
    let longest_inner = if views.is_empty() { size } else { 2 * longest_inner(facts, at, &distributed) };
    let factor = if longest_inner <= SMALL_BODY { FACTORS.0 } else { FACTORS.1 };
    let trips = facts.counts[at].as_ref().and_then(|c| c.trips(func, facts.cfg, facts.defs, l));
    if trips.is_some_and(|n| n < factor.unsigned_abs()) || (views.is_empty() && unrolls_inner_loops(facts, at)) {
        return None;
    }
    let reread = facts.loops.loops.iter().filter(|l| l.parent == Some(at)).count() > 1;
    Some(JamPlan { at, factor, varying, disjoint, views, reread, distributed, prefetch, slp, short, rows })
}

/// Whether jammed iterations load adjacent elements in the inner loops, or their arithmetic outweighs the loads.
fn slp(facts: &Facts<'_>, at: usize, accesses: &[MemRef<'_>], varying: &HashSet<Value>, distributed: &[Block]) -> bool {
    let func = facts.func;
    let index = facts.counts[at].as_ref().map(|c| c.index);
    let inside = |b: Block| {
        let l = facts.loops.innermost[b.index()].filter(|l| *l != at);
        l.is_some_and(|l| !distributed.contains(&facts.loops.loops[l].header))
    };
    let is_contiguous = |a: &&MemRef<'_>| {
        let d = contiguous(facts.func, a.array).filter(|d| *d < a.index.len());
        a.view.is_none() && d.is_some_and(|d| index.is_some_and(|i| moves(facts.func, facts.defs, a.index[d], i)))
    };
    let is_math = |d: &InstData| matches!(&d.inst, Inst::Op(op, _) if matches!(op.host, Lower::Math(..)));
    let mut blocks = facts.loops.loops[at].blocks.iter().filter(|b| inside(**b));
    let varies = |a: &&MemRef<'_>| a.view.is_some() || a.index.iter().any(|i| varying.contains(i));
    let mut read = accesses.iter().filter(|a| !a.writes && inside(a.block)).filter(varies);
    read.all(|a| is_contiguous(&a)) || blocks.any(|b| func.blocks[b.index()].insts.iter().any(is_math))
}

/// Size of the longest jammed inner loop, in instructions.
fn longest_inner(facts: &Facts<'_>, at: usize, distributed: &[Block]) -> usize {
    let outer = &facts.loops.loops[at];
    let inside = facts.loops.loops.iter().filter(|l| l.is_innermost && in_loop(facts.cfg, outer, l.header));
    let size = |l: &Loop| l.blocks.iter().map(|b| facts.func.blocks[b.index()].insts.len()).sum();
    inside.filter(|l| !distributed.contains(&l.header)).map(size).max().unwrap_or(0)
}

/// All views without duplicates.
fn views(accesses: Vec<MemRef<'_>>) -> Vec<StridedView> {
    let mut out: Vec<StridedView> = Vec::new();
    for v in accesses.into_iter().filter_map(|a| a.view) {
        match out.iter_mut().find(|o| o.array == v.array) {
            Some(known) => known.writes |= v.writes,
            None => out.push(v),
        }
    }
    out
}

/// Whether LLVM will unroll the inner loops completely: then it vectorises the outer loop, whose iterations are
/// independent.
fn unrolls_inner_loops(facts: &Facts<'_>, at: usize) -> bool {
    let (func, loops) = (facts.func, &facts.loops.loops);
    let trips = |l: usize| facts.counts[l].as_ref()?.trips(func, facts.cfg, facts.defs, &loops[l]);
    // Index arithmetic and constants are free; integer operations are counted at the loads of integers.
    let cost = |d: &InstData| match &d.inst {
        Inst::Load(_) => 1 + u64::from(d.result.is_some_and(|r| !func.ty(r).is_float())),
        Inst::Store(..) => 1,
        Inst::Op(..) | Inst::Cast(_) => {
            u64::from(d.result.is_some_and(|r| !func.ty(r).is_int() && !func.ty(r).is_bool()))
        }
        _ => 0,
    };
    let rounds = |b: &Block| {
        let inside = std::iter::successors(facts.loops.innermost[b.index()], |l| loops[*l].parent);
        let times = inside.take_while(|l| *l != at).try_fold(1u64, |n, l| n.checked_mul(trips(l)?));
        times?.checked_mul(func.blocks[b.index()].insts.iter().map(cost).sum())
    };
    loops[at].blocks.iter().try_fold(0u64, |n, b| n.checked_add(rounds(b)?)).is_some_and(|n| n <= MAX_UNROLLED_COST)
}

/// Whether a block is the latch of a row of threads directly inside the loop.
fn is_row(facts: &Facts<'_>, at: usize, latch: Block) -> bool {
    facts.loops.innermost[latch.index()].is_some_and(|row| facts.loops.loops[row].parent == Some(at))
}

/// Whether threads have short inner loops with sums in strict order that share loads with other rows.
fn rows_profit(facts: &Facts<'_>, at: usize, varying: &HashSet<Value>) -> bool {
    let func = facts.func;
    let is_row = |l: usize| facts.loops.loops[l].parent == Some(at);
    let profitability = |(i, l): (usize, &Loop)| {
        let trips = facts.counts[i].as_ref().and_then(|c| c.trips(func, facts.cfg, facts.defs, l));
        let insts = || l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
        let size = ROWS as u64 * insts().count() as u64;
        let sums = func.blocks[l.header.index()].params.iter().any(|p| func.ty(*p).is_float() && varying.contains(p));
        let shares = insts().any(|d| matches!(&d.inst, Inst::Load(p) if !varying.contains(p)));
        sums && shares && trips.is_some_and(|n| n.saturating_mul(size) <= UNROLLED)
    };
    let all = facts.loops.loops.iter().enumerate();
    let mut inside = all.filter(|(_, l)| l.is_innermost && l.parent.is_some_and(is_row)).peekable();
    inside.peek().is_some() && inside.all(profitability)
}

/// Whether an instruction of several iterations may execute in a row.
fn can_repeat(facts: &Facts<'_>, inst: &Inst) -> bool {
    match inst {
        Inst::Const(_) | Inst::Zero | Inst::Op(..) | Inst::Cast(_) | Inst::Pack(_) | Inst::Field(..) => true,
        Inst::ArrayShape(..) | Inst::ArrayStride(..) | Inst::PtrAdd(..) => true,
        Inst::ElemPtr { wrap, check, .. } => !wrap && !check,
        Inst::Load(_) => true,
        Inst::ArrayMake { owner, .. } => matches!(facts.defs.inst(facts.func, *owner), Some(Inst::Zero)),
        Inst::Store(_, v) => facts.func.ty(*v).is_number() || facts.func.ty(*v).is_bool(),
        _ => false,
    }
}

fn inside(facts: &Facts<'_>, at: usize) -> impl Iterator<Item = usize> {
    let outer = &facts.loops.loops[at];
    (0..facts.loops.loops.len()).filter(move |l| *l != at && in_loop(facts.cfg, outer, facts.loops.loops[*l].header))
}

/// Whether the header's exit is the only one.
fn exits_at_header_only(facts: &Facts<'_>, at: usize) -> bool {
    let l = &facts.loops.loops[at];
    // No instruction raises, so exceptional edges do not count.
    let ways = |b: Block| targets(facts.func, b).filter(|(n, _)| n.is_some());
    let stays = |b: &Block| ways(*b).all(|(_, t)| in_loop(facts.cfg, l, t.block));
    let ends = |b: &Block| matches!(facts.func.blocks[b.index()].term, Some(Term::Jump(_) | Term::Branch { .. }));
    let enters = facts.cfg.preds(l.header).iter().all(|e| e.target.is_some());
    enters && l.blocks.iter().all(|b| ends(b) && (*b == l.header || stays(b)))
}

/// Whether no value of the loop is used behind it.
fn has_no_live_out(facts: &Facts<'_>, at: usize) -> bool {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    l.blocks.iter().all(|b| {
        let data = &func.blocks[b.index()];
        let mut values = data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result));
        values.all(|v| facts.users.outside(v, &inside).next().is_none())
    })
}

/// Values that depend on the loop's induction variable.
fn varying(facts: &Facts<'_>, at: usize) -> HashSet<Value> {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let mut out: HashSet<Value> = func.blocks[l.header.index()].params.iter().copied().collect();
    loop {
        let before = out.len();
        for b in &l.blocks {
            for d in &func.blocks[b.index()].insts {
                let mut depends = false;
                d.inst.for_each_operand(|v| depends |= out.contains(&v));
                out.extend(d.result.filter(|_| depends));
            }
            for (_, t) in targets(func, *b).filter(|(_, t)| t.block != l.header && in_loop(facts.cfg, l, t.block)) {
                let params = &func.blocks[t.block.index()].params;
                out.extend(
                    params.iter().zip(&t.args).filter(|(_, a)| out.contains(*a)).map(|(p, _)| *p).collect::<Vec<_>>(),
                );
            }
        }
        if out.len() == before {
            return out;
        }
    }
}

/// All accesses; `None` unless each is to scalars in an invariant array or in a strided view.
fn accesses<'a>(facts: &Facts<'a>, at: usize) -> Option<Vec<MemRef<'a>>> {
    let func = facts.func;
    let mut out = Vec::new();
    for b in &facts.loops.loops[at].blocks {
        for d in &func.blocks[b.index()].insts {
            let (address, value, writes) = match (&d.inst, d.result) {
                (Inst::Load(p), Some(v)) => (*p, v, false),
                (Inst::Store(p, v), _) => (*p, *v, true),
                _ => continue,
            };
            let (array, index) = match facts.defs.inst(func, address) {
                Some(Inst::ElemPtr { array, index, .. }) => (*array, &index[..]),
                _ => (address, &[][..]),
            };
            let ty = func.ty(value);
            let view = StridedView::of(facts, at, array, ty, writes);
            let known = func.ty(array).is_array() && facts.is_invariant(at, array);
            if !(ty.is_number() || ty.is_bool()) || !known && view.is_none() {
                return None;
            }
            out.push(MemRef { block: *b, array, index, writes, view });
        }
    }
    Some(out)
}

/// Pairs of arrays to test for overlap; `None` unless each iteration writes elements of its own, adjacent to those of
/// the next iteration.
fn disjoint(facts: &Facts<'_>, at: usize, accesses: &[MemRef<'_>]) -> Option<Vec<(Value, Value)>> {
    let index = facts.counts[at].as_ref()?.index;
    let place = |a: &MemRef<'_>, d: usize| facts.defs.offset(facts.func, a.index[d]);
    let mut out = Vec::new();
    for w in accesses.iter().filter(|a| a.writes) {
        if w.view.is_some() {
            let others = accesses.iter().filter(|a| a.array != w.array);
            out.extend(others.map(|a| (a.array, w.array)));
            continue;
        }
        let d = contiguous(facts.func, w.array).filter(|d| *d < w.index.len() && place(w, *d).0 == index)?;
        for a in accesses {
            if a.array == w.array {
                if a.index.len() <= d || place(a, d) != place(w, d) {
                    return None;
                }
            } else if !out.contains(&(a.array, w.array)) && !out.contains(&(w.array, a.array)) {
                out.push((a.array, w.array));
            }
        }
    }
    // Views are also tested against those of other iterations.
    let profitability = !out.is_empty() || accesses.iter().any(|a| a.writes && a.view.is_some());
    let written = accesses.iter().filter(|a| a.writes && a.view.is_none()).map(|w| w.array);
    out.extend(written.filter(|a| may_overlap_itself(facts.func.ty(*a))).map(|a| (a, a)));
    let mut seen = HashSet::new();
    out.retain(|(a, b)| !seen.contains(&(*b, *a)) && seen.insert((*a, *b)));
    profitability.then_some(out)
}

enum Profit {
    No,
    /// Jamming pays if the inner loop has few iterations.
    WhileShort,
    Always,
}

/// Whether the inner loops wait for sums, and vectorising them by themselves would be worse.
fn profitability(facts: &Facts<'_>, at: usize, accesses: &[MemRef<'_>], varying: &HashSet<Value>) -> Profit {
    let (func, l) = (facts.func, &facts.loops.loops[at]);
    let inner = |b: Block| facts.loops.innermost[b.index()] != Some(at);
    let counters: Vec<Value> = facts.counts.iter().flatten().map(|c| c.index).collect();
    let carried = |b: &&Block| facts.loops.loops.iter().any(|x| x.header == **b) && **b != l.header;
    let params = l.blocks.iter().filter(carried).flat_map(|b| &func.blocks[b.index()].params);
    let sums: Vec<Value> = params.copied().filter(|v| varying.contains(v) && !counters.contains(v)).collect();
    // A sum in memory: the inner loop loads and stores an element that does not depend on its index.
    let stays = |a: &MemRef<'_>| {
        a.writes && inner(a.block) && {
            let inside = facts.loops.innermost[a.block.index()];
            a.index.iter().all(|i| inside.is_some_and(|x| facts.is_invariant(x, invariant_part(facts, *i))))
        }
    };
    if sums.is_empty() && !accesses.iter().any(stays) {
        return Profit::No;
    }
    let reorders = func.options.fastmath & fastmath::REASSOC != 0;
    let strict = !reorders && (sums.is_empty() || sums.iter().any(|v| func.ty(*v).is_float()));
    // Sums in any order are vectorised along the inner loop, unless elements are adjacent along the outer loop.
    let index = facts.counts[at].as_ref().map(|c| c.index);
    let is_contiguous = |a: &&MemRef<'_>| {
        let d = contiguous(facts.func, a.array).filter(|d| *d < a.index.len());
        d.is_some_and(|d| index.is_some_and(|i| moves(facts.func, facts.defs, a.index[d], i)))
    };
    // An element that is invariant in the inner loop says nothing about adjacency there.
    let stays_inside = |a: &MemRef<'_>| {
        let inside = facts.loops.innermost[a.block.index()];
        a.index.iter().all(|i| inside.is_some_and(|x| facts.is_invariant(x, invariant_part(facts, *i))))
    };
    let depends = |a: &&MemRef<'_>| {
        !a.writes && inner(a.block) && a.index.iter().any(|i| varying.contains(i)) && !(reorders && stays_inside(a))
    };
    let mut depending = accesses.iter().filter(depends).peekable();
    let has_neighbours = !reorders || depending.peek().is_some();
    match strict || has_neighbours && depending.all(|a| is_contiguous(&a)) {
        true => Profit::Always,
        false if reorders => Profit::WhileShort,
        false => Profit::No,
    }
}

/// The trip count of the only inner loop is below [`SHORT_TRIP_COUNT`] if the value is less than the number; `None`
/// if it varies in the outer loop.
fn short_trip_count(facts: &Facts<'_>, at: usize) -> Option<(Value, i64)> {
    let outer = &facts.loops.loops[at];
    let mut inside =
        (0..facts.loops.loops.len()).filter(|l| *l != at && in_loop(facts.cfg, outer, facts.loops.loops[*l].header));
    let (inner, counted) = inside.next().and_then(|l| Some((&facts.loops.loops[l], facts.counts[l].as_ref()?)))?;
    let mut enters = facts.cfg.preds(inner.header).iter().filter(|e| !in_loop(facts.cfg, inner, e.from));
    let start = facts.defs.int(facts.func, target_of(facts.func, *enters.next()?).args[counted.place])?;
    let is_legal = inside.next().is_none() && enters.next().is_none() && counted.step == 1;
    (is_legal && facts.is_invariant(at, counted.limit)).then_some((counted.limit, start.checked_add(SHORT_TRIP_COUNT)?))
}

fn invariant_part(facts: &Facts<'_>, v: Value) -> Value {
    facts.defs.offset(facts.func, v).0
}
