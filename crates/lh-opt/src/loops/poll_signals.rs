//! Makes loops poll for Ctrl-C.
//!
//! An innermost counted loop does not poll in its iterations, so that it can be vectorised. The code generator later
//! splits it into strips and polls between them; if a poll ends the loop early, a call after the loop raises:
//!
//! ```text
//! block1(v2: int):                        block1(v2: int) poll_free:
//!     v3 = lt v2, v1: bool                    v3 = lt v2, v1: bool
//!     branch v3, block2(), block3()           branch v3, block2(), block4()
//! block2():                          ->   block2(): ... jump block1(v4)
//!     ...                                 block4():
//!     jump block1(v4)                         runtime lh_stopped()
//! block3():                                   jump block3()
//! ```
//!
//! A short loop that may raise gets the hint to unroll: LLVM does not vectorise it, and does not unroll loops with
//! several exits by itself.
//!
//! A loop polls in each iteration if it is not innermost, not counted, cold, compiled for debugging, or sequential
//! (sums of floats in strict order, which are neither vectorised nor unrolled). A loop of few constant iterations,
//! which LLVM unrolls, does not poll and does not count as an inner loop. An inner loop along an array with little work
//! does not poll either (`short_loops`): the loop around it does. The same holds for loops that the library declares
//! short; their headers get the hint for the code generator.
//!
//! The exception of a poll goes to the handler of the loop's header. `dce` keeps handlers of headers for this pass,
//! which drops them. Code on a GPU cannot poll.

use crate::analysis::Analyses;
use crate::analysis::counted::{Counted, Defs, Launch};
use crate::analysis::sequential::{Order, order};
use crate::analysis::short_loops::ShortLoop;
use crate::core::dce;
use crate::edit::{Cursor, row, to};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Loop, Loops};
use lh_ir::func::{GANG, Inst, InstData, LatchHint, LoopHint, Target, Term};
use lh_ir::runtime::RuntimeFn;
use lh_ir::switches::is_off;
use lh_ir::{Block, Const, Function, Value};
use lh_ops::runtime as rt;

/// Size limit for unrolling, in instructions.
const MAX_UNROLLED: usize = 24;
/// Bound on the total trip count of a nest with constant bounds that does not poll.
const MAX_UNPOLLED: u64 = 1024;
/// Bound on the trip count of a loop with constant bounds that does not poll although loops along arrays are inside.
const MAX_OUTER: u64 = 64;
/// Iterations of equal cost for a loop over the lanes of a warp, which becomes vectors.
const LANE_ITERATIONS: u64 = 4;

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    let (cfg, dom, loops) = (analyses.cfg(func), analyses.dom(func), analyses.loops(func));
    if loops.loops.is_empty() {
        return false;
    }
    let declared = declared_short(func, loops);
    let (defs, counts) = (analyses.defs(func), analyses.counts(func));
    let candidates: Vec<ShortLoop> = loops.loops.iter().map(|l| ShortLoop { func, cfg, dom, defs, l }).collect();
    let trips = trips(&candidates, counts);
    let short: Vec<bool> = trips.iter().zip(&declared).map(|(r, soon)| r.total.is_some() || *soon).collect();
    let mut has_inner = vec![false; loops.loops.len()];
    let mut polls_inside = has_inner.clone();
    let mut brief = has_inner.clone();
    for (i, (b, r)) in candidates.iter().zip(&trips).enumerate() {
        let is_inner = !is_off("poll_signals.short_loops") && !short[i] && !func.options.debug && b.l.parent.is_some();
        let follows = is_inner && !has_inner[i] && b.follows_array(r.inside.unwrap_or(1));
        // A loop of few iterations may be around loops along arrays, but not around another such loop: their trip
        // counts would multiply.
        let few = is_inner && !polls_inside[i] && r.own.is_some_and(|n| n <= MAX_OUTER);
        brief[i] = follows || few;
        if let Some(p) = b.l.parent {
            has_inner[p] |= !short[i];
            polls_inside[p] |= !short[i] && !follows;
        }
    }
    // Computed before the function changes.
    let orders: Vec<Order> = loops.loops.iter().map(|l| order(func, cfg, defs, l)).collect();
    let mut plans: Vec<Option<PollPlan>> = Vec::with_capacity(counts.len());
    for (i, (l, c)) in loops.loops.iter().zip(counts).enumerate() {
        if orders[i] == Order::Sums {
            sum_in_order(func, l.header);
        }
        // A poll in each iteration saves LLVM work on cold loops, and is free where each iteration waits for the one
        // before.
        let header = &func.blocks[l.header.index()];
        let can_poll_in_strips = !short[i] && !has_inner[i] && !header.cold && !func.options.debug;
        let counted = c.clone().filter(|_| can_poll_in_strips);
        let raises = counted.is_some() && may_raise(func, l) && is_short(func, l);
        let in_order = !header.hint.is_jammed() && !raises && orders[i] != Order::Vectors;
        plans.push(match counted {
            _ if short[i] => None,
            _ if brief[i] => {
                unroll_if(func, l.header, raises);
                None
            }
            Some(c) if !in_order => {
                poll_after(func, l.header, &c);
                unroll_if(func, l.header, raises);
                None
            }
            count => {
                // With a handler, it would have to see the next value of the induction variable.
                let moves = in_order && header.unwind.is_none();
                let place = count.as_ref().filter(|_| moves).map(|c| c.place);
                Some(PollPlan { header: l.header, entrance: copy_of_header(func, l.header, place), count, moves })
            }
        });
    }
    redirect(func, loops, &plans);
    for p in plans.into_iter().flatten() {
        p.build(func);
    }
    dce::drop_idle_handlers(func);
    true
}

/// The loops that the library declares short; marks their headers for the code generator.
fn declared_short(func: &mut Function, loops: &Loops) -> Vec<bool> {
    let is_short = |b: &Block| func.blocks[b.index()].hint == LoopHint::SlpOnly;
    let soon = loops.loops.iter().map(|l| l.blocks.iter().any(is_short));
    let soon: Vec<bool> = soon.collect();
    for (l, _) in loops.loops.iter().zip(&soon).filter(|(_, soon)| **soon) {
        let hint = &mut func.blocks[l.header.index()].hint;
        *hint = if hint.is_jammed() { LoopHint::VectorizeJammed } else { LoopHint::SlpOnly };
    }
    soon
}

/// Marks a loop for unrolling if it has no hint that contradicts it. A loop that may raise is not vectorised.
fn unroll_if(func: &mut Function, header: Block, raises: bool) {
    let hint = &mut func.blocks[header.index()].hint;
    if raises && matches!(hint, LoopHint::None | LoopHint::Elementwise | LoopHint::SumInOrder) {
        *hint = LoopHint::Unroll;
    }
}

/// Tells the code generator that vectors do not pay for a sum in order.
fn sum_in_order(func: &mut Function, header: Block) {
    let hint = &mut func.blocks[header.index()].hint;
    if *hint == LoopHint::None {
        *hint = LoopHint::SumInOrder;
    }
}

/// Lets the code generator poll in a loop, and adds the call that raises behind the loop.
fn poll_after(func: &mut Function, header: Block, counted: &Counted) {
    let data = &mut func.blocks[header.index()];
    data.poll_free = true;
    let (span, unwind, cold) = (data.term_span, data.unwind.clone(), data.cold);
    let end = func.new_block();
    let Some(Term::Branch { then, els, .. }) = &mut func.blocks[header.index()].term else {
        lh_ir::bug!("a counted loop begins with a branch");
    };
    let exit = std::mem::replace(if counted.body_first { els } else { then }, to(end, &[]));
    let mut c = Cursor { func, block: end, span, unwind: unwind.clone(), cold };
    c.func.blocks[end.index()].unwind = unwind;
    poll(&mut c, &rt::lh_stopped);
    c.end(Term::Jump(exit), header);
}

/// Upper bounds on trip counts.
struct Trips {
    /// The trip count of the loop itself.
    own: Option<u64>,
    /// The total trip count of the loops inside for one of its iterations.
    inside: Option<u64>,
    /// The product of both, if it is small.
    total: Option<u64>,
}

fn trips(candidates: &[ShortLoop<'_>], counts: &[Option<Counted>]) -> Vec<Trips> {
    // Inner loops come before the loops around them.
    let mut out: Vec<Trips> = candidates.iter().map(|_| Trips { own: None, inside: Some(1), total: None }).collect();
    for (i, brief) in candidates.iter().enumerate() {
        let ShortLoop { func, cfg, defs, l, .. } = brief;
        let counted = |c: &Counted| c.trips(func, cfg, defs, l).or_else(|| block_threads(func, defs, c.limit));
        // A loop over lanes becomes vectors.
        let ends_lane = |b: Block| func.blocks[b.index()].latch == LatchHint::VectorizeLanes;
        let own = if cfg.preds(l.header).iter().any(|e| ends_lane(e.from)) {
            Some(LANE_ITERATIONS)
        } else {
            counts[i].as_ref().and_then(counted).or_else(|| brief.bits())
        };
        let total = own.zip(out[i].inside).and_then(|(a, b)| a.max(1).checked_mul(b)).filter(|n| *n <= MAX_UNPOLLED);
        (out[i].own, out[i].total) = (own, total);
        if let Some(p) = l.parent {
            out[p].inside = out[p].inside.zip(total).map(|(a, b)| a.max(b));
        }
    }
    out
}

/// An upper bound on the trip count of loops over the threads or gangs of a block, which are few although the block's
/// extents are unknown.
fn block_threads(func: &Function, defs: &Defs, limit: Value) -> Option<u64> {
    const OF_AN_AXIS: u64 = 8;
    let limit = defs.offset(func, limit).0;
    if defs.launch(func, limit) == Some(Launch::Block) {
        return Some(OF_AN_AXIS);
    }
    let few = |v: Value| block_threads(func, defs, v);
    let Inst::Op(op, args) = defs.inst(func, limit)? else { return None };
    match op.algebra {
        Algebra::Select => match defs.int(func, args[2]) {
            // A condition excludes some threads.
            Some(0) => few(args[1]),
            // Either gangs follow a row of threads, or the row is short.
            Some(1) => few(args[1]).map(|_| 1),
            _ => few(args[2]),
        },
        Algebra::Mul => few(args[0])?.checked_mul(few(args[1])?),
        Algebra::Quotient if defs.int(func, args[1]) == Some(GANG) => few(args[0]).map(|_| OF_AN_AXIS),
        _ => None,
    }
}

/// Whether unrolling pays: in a longer loop, the overhead of counting is negligible.
fn is_short(func: &Function, l: &Loop) -> bool {
    l.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum::<usize>() <= MAX_UNROLLED
}

/// Whether an iteration may raise itself, or in a call with numbers only, which LLVM probably inlines.
fn may_raise(func: &Function, l: &Loop) -> bool {
    let is_scalar = |v: &Value| func.ty(*v).is_number() || func.ty(*v).is_bool();
    let raises = |d: &InstData| match &d.inst {
        Inst::ElemPtr { check, .. } => *check,
        Inst::Call(_, args) => d.inst.can_raise() && args.iter().chain(&d.result).all(is_scalar),
        _ => false,
    };
    l.blocks.iter().map(|b| &func.blocks[b.index()]).any(|data| {
        let ends = |t: &Target| matches!(func.blocks[t.block.index()].term, Some(Term::Raise { .. }));
        data.insts.iter().any(raises) || data.term.iter().flat_map(Term::targets).any(ends)
    })
}

/// A new block with the header's parameters, except the one at `without`.
fn copy_of_header(func: &mut Function, header: Block, without: Option<usize>) -> Block {
    let mut tys: Vec<_> = func.blocks[header.index()].params.iter().map(|p| func.ty(*p)).collect();
    without.map(|place| tys.remove(place));
    let b = func.new_block();
    func.blocks[b.index()].params = tys.into_iter().map(|t| func.new_value(t)).collect();
    b
}

/// The poll of a loop that polls in each iteration.
struct PollPlan {
    header: Block,
    /// The new block on the back edges.
    entrance: Block,
    /// The induction variable, if the loop is counted and sequential.
    count: Option<Counted>,
    /// Whether the increment moves behind the poll: LLVM wants a latch without an exit.
    moves: bool,
}

fn redirect(func: &mut Function, loops: &Loops, plans: &[Option<PollPlan>]) {
    let by_header: hashbrown::HashMap<Block, usize> =
        loops.loops.iter().enumerate().map(|(i, l)| (l.header, i)).collect();
    for b in 0..loops.innermost.len() {
        let is_inside = |l: usize| {
            let mut at = loops.innermost[b];
            while at.is_some_and(|x| x != l) {
                at = at.and_then(|x| loops.loops[x].parent);
            }
            at.is_some()
        };
        let data = &mut func.blocks[b];
        for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten().chain(&mut data.unwind) {
            if let Some((l, p)) = by_header.get(&t.block).and_then(|l| plans[*l].as_ref().map(|p| (*l, p)))
                && is_inside(l)
            {
                t.block = p.entrance;
                p.moved().map(|c| t.args.remove(c.place));
            }
        }
    }
}

impl PollPlan {
    /// The induction variable, if its increment moves behind the poll.
    fn moved(&self) -> Option<&Counted> {
        self.count.as_ref().filter(|_| self.moves)
    }

    /// Polls on the back edge, then increments the induction variable.
    fn poll_and_increment(&self, func: &mut Function, count: &Counted) {
        let header = &func.blocks[self.header.index()];
        let (span, cold) = (header.term_span, header.cold);
        let mut args = func.blocks[self.entrance.index()].params.clone();
        let mut c = Cursor { func, block: self.entrance, span, unwind: None, cold };
        poll(&mut c, &rt::lh_interrupted_in_turn);
        let (latch, _) = c.new_block(&[]);
        c.end(Term::Jump(to(latch, &[])), latch);
        let ty = c.func.ty(count.index);
        let step = c.inst(Inst::Const(Const::Int(count.step.into(), ty)), ty);
        args.insert(count.place, c.op(row("add"), &[count.index, step], ty));
        c.end(Term::Jump(to(self.header, &args)), self.header);
    }

    fn build(self, func: &mut Function) {
        if let Some(count) = self.moved() {
            return self.poll_and_increment(func, count);
        }
        let header = &func.blocks[self.header.index()];
        let (span, unwind, cold) = (header.term_span, header.unwind.clone(), header.cold);
        let (outer, inner) = (func.blocks[self.entrance.index()].params.clone(), header.params.clone());
        // The handler must see the values of the next iteration.
        let new = |v: &Value| inner.iter().position(|p| p == v).map_or(*v, |i| outer[i]);
        let unwind = unwind.map(|t| Target { block: t.block, args: t.args.iter().map(new).collect() });
        let mut c = Cursor { func, block: self.entrance, span, unwind: unwind.clone(), cold };
        c.func.blocks[self.entrance.index()].unwind = unwind;
        poll(&mut c, if self.count.is_some() { &rt::lh_interrupted_in_turn } else { &rt::lh_interrupted });
        c.end(Term::Jump(to(self.header, &outer)), self.header);
    }
}

fn poll(c: &mut Cursor<'_>, function: &'static RuntimeFn) {
    c.effect(Inst::Runtime(function, Vec::new()));
}
