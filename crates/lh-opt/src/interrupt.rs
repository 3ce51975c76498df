//! Makes loops look now and then whether Ctrl-C was pressed.
//!
//! An innermost counted loop runs in strips, so that what is inside stays as it was and can be vectorised; the question
//! is asked between strips:
//!
//! ```text
//! block1(v2: int):                        block1(v2: int):            ; on the ways into the loop
//!     v3 = lt v2, v1: bool                    v8 = <strips after the first>
//!     branch v3, block2(), block3()           jump block4(v2, v8)
//! block2():                          ->   block4(v9: int, v10: int):  ; a strip
//!     ...                                     v11 = <v10 is 0>
//!     jump block1(v4)                         v12 = select v11, v1, <v9 + 131072>: int
//! block3():                                   jump block5(v9)
//!     ...                                 block5(v2: int):
//!                                             v3 = lt v2, v12: bool
//!                                             branch v3, block2(), block6()
//!                                         block2(): ... jump block5(v4)
//!                                         block6(): branch v11, block3(), block7()
//!                                         block7(): runtime lh_interrupted() ... jump block4(v2, <v10 - 1>)
//! ```
//!
//! Strips are counted, so that LLVM sees that a loop of few iterations is a single strip. A short strip that may raise is marked as one to be unrolled: LLVM
//! does not vectorise it, and would not put iterations in a row that may end early.
//!
//! Other loops ask each time they begin again, and so do those that hardly ever run and those that are neither unrolled nor vectorised since they carry
//! sums in strict order. Loops of few constant iterations, which LLVM unrolls, do not ask and do not count as loops inside others.
//!
//! The exception goes where one raised in the loop's header would; this pass is the reason why `dce` keeps handlers of
//! headers, and it drops them. A GPU cannot be asked.

use crate::counted::{Counted, Defs, counted};
use crate::dce;
use crate::edit::{Cursor, row, runtime, to};
use crate::sequential::is_sequential;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{Device, Inst, InstData, Target, Term};
use lh_ir::{Block, Const, Function, Ty, Value};

/// Iterations of a strip of a loop without calls: well below a millisecond.
const STRIP: u64 = 1 << 17;
/// The same with calls; what takes long in there asks by itself.
const STRIP_WITH_CALLS: u64 = 1 << 13;
/// Loops of more instructions are not unrolled.
const SHORT: usize = 24;
/// Nests of loops with constant bounds that run this often at most need not ask.
const FEW: u64 = 1024;

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.device == Device::Gpu {
        return false;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    if loops.loops.is_empty() {
        return false;
    }
    let defs = Defs::new(func);
    let counts: Vec<Option<Counted>> = loops.loops.iter().map(|l| counted(func, &cfg, &defs, l)).collect();
    let quiet = quiet_loops(func, &cfg, &defs, &loops, &counts);
    let mut busy_inside = vec![false; loops.loops.len()];
    for (i, l) in loops.loops.iter().enumerate() {
        if let Some(p) = l.parent {
            busy_inside[p] |= !quiet[i];
        }
    }
    let mut plans: Vec<Option<Plan>> = Vec::with_capacity(counts.len());
    for (i, (l, c)) in loops.loops.iter().zip(counts).enumerate() {
        plans.push(if quiet[i] {
            None
        } else {
            // A question in every round keeps LLVM from working on what hardly ever runs, and costs nothing where each
            // round waits for the one before.
            let header = &func.blocks[l.header.index()];
            let counted = c.filter(|_| !busy_inside[i] && !header.cold);
            let raises = counted.is_some() && may_raise(func, l) && is_short(func, l);
            let in_turn = !header.jammed && !raises && is_sequential(func, &cfg, &defs, l);
            // A handler would have to see the next index.
            let moves = in_turn && header.unwind.is_none();
            let (strip, turn) = if in_turn { (None, counted) } else { (counted, None) };
            let place = turn.as_ref().filter(|_| moves).map(|c| c.place);
            Some(Plan {
                header: l.header,
                entrance: copy_of_header(func, l.header, place),
                raises: strip.is_some() && raises,
                strip,
                turn,
                moves,
                calls: has_calls(func, &l.blocks),
            })
        });
    }
    redirect(func, &loops, &plans);
    for p in plans.into_iter().flatten() {
        p.build(func);
    }
    dce::drop_idle_handlers(func);
    true
}

/// Loops, with all inside, that surely end soon.
fn quiet_loops(func: &Function, cfg: &Cfg, defs: &Defs, loops: &Loops, counts: &[Option<Counted>]) -> Vec<bool> {
    // Iterations of a loop times those of the loops inside; inner loops come first.
    let mut inside = vec![Some(1u64); loops.loops.len()];
    let mut quiet = vec![false; loops.loops.len()];
    for (i, l) in loops.loops.iter().enumerate() {
        let trips = counts[i].as_ref().and_then(|c| c.trips(func, cfg, defs, l).or_else(|| threads(func, defs, c)));
        let total = trips.zip(inside[i]).and_then(|(a, b)| a.max(1).checked_mul(b)).filter(|n| *n <= FEW);
        quiet[i] = total.is_some();
        if let Some(p) = l.parent {
            inside[p] = inside[p].zip(total).map(|(a, b)| a.max(b));
        }
    }
    quiet
}

/// The threads of a block are few, though the number of each axis is not known.
fn threads(func: &Function, defs: &Defs, c: &Counted) -> Option<u64> {
    const OF_AN_AXIS: u64 = 8;
    let mut limit = defs.inst(func, c.limit)?;
    // For some of them only.
    while let Inst::Op(op, args) = limit
        && op.name == "select"
    {
        limit = defs
            .inst(func, args[1])
            .filter(|_| defs.int(func, args[2]) == Some(0))
            .or_else(|| defs.inst(func, args[2]))?;
    }
    matches!(limit, Inst::Runtime(f, _) if f.name.starts_with("lh_cuda_bdim_")).then_some(OF_AN_AXIS)
}

fn has_calls(func: &Function, blocks: &[Block]) -> bool {
    blocks.iter().any(|b| {
        func.blocks[b.index()]
            .insts
            .iter()
            .any(|d| matches!(d.inst, Inst::Call(..) | Inst::Foreign(..) | Inst::ParFor(..) | Inst::Runtime(..)))
    })
}

/// Whether unrolling a loop pays: what a longer one does takes longer than to count.
fn is_short(func: &Function, l: &Loop) -> bool {
    l.blocks.iter().map(|b| func.blocks[b.index()].insts.len()).sum::<usize>() <= SHORT
}

/// Whether an iteration may raise by itself, or in a function of numbers, which is likely to be inlined.
fn may_raise(func: &Function, l: &Loop) -> bool {
    let is_plain = |v: &Value| func.ty(*v).is_number() || func.ty(*v).is_bool();
    let raises = |d: &InstData| match &d.inst {
        Inst::ElemPtr { check, .. } => *check,
        Inst::Call(_, args) => d.inst.can_raise() && args.iter().chain(&d.result).all(is_plain),
        _ => false,
    };
    l.blocks.iter().map(|b| &func.blocks[b.index()]).any(|data| {
        let ends = |t: &Target| matches!(func.blocks[t.block.index()].term, Some(Term::Raise { .. }));
        data.insts.iter().any(raises) || data.term.iter().flat_map(Term::targets).any(ends)
    })
}

/// A block with the header's parameters but one, to stand before it.
fn copy_of_header(func: &mut Function, header: Block, without: Option<usize>) -> Block {
    let mut tys: Vec<_> = func.blocks[header.index()].params.iter().map(|p| func.ty(*p)).collect();
    without.map(|place| tys.remove(place));
    let b = func.new_block();
    func.blocks[b.index()].params = tys.into_iter().map(|t| func.new_value(t)).collect();
    b
}

/// What is done to a loop.
struct Plan {
    header: Block,
    /// The new block before the header: of a strip, on the ways into the loop; otherwise on the ways back.
    entrance: Block,
    strip: Option<Counted>,
    /// Of a loop that is not vectorised, whose rounds ask each.
    turn: Option<Counted>,
    /// Whether what counts does so behind the question: LLVM wants nothing to leave a loop where it closes.
    moves: bool,
    calls: bool,
    raises: bool,
}

fn redirect(func: &mut Function, loops: &Loops, plans: &[Option<Plan>]) {
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
                && is_inside(l) != p.strip.is_some()
            {
                t.block = p.entrance;
                p.moved().map(|c| t.args.remove(c.place));
            }
        }
    }
}

impl Plan {
    /// The loop, if it counts behind the question.
    fn moved(&self) -> Option<&Counted> {
        self.turn.as_ref().filter(|_| self.moves)
    }

    /// Asks before the loop counts and begins again.
    fn ask_and_count(&self, func: &mut Function, turn: &Counted) {
        let header = &func.blocks[self.header.index()];
        let (span, cold) = (header.term_span, header.cold);
        let mut args = func.blocks[self.entrance.index()].params.clone();
        let mut c = Cursor { func, block: self.entrance, span, unwind: None, cold };
        poll(&mut c, "lh_interrupted_in_turn");
        let (latch, _) = c.new_block(&[]);
        c.end(Term::Jump(to(latch, &[])), latch);
        let ty = c.func.ty(turn.index);
        let step = c.inst(Inst::Const(Const::Int(turn.step.into(), ty)), ty);
        args.insert(turn.place, c.op(row("add"), &[turn.index, step], ty));
        c.end(Term::Jump(to(self.header, &args)), self.header);
    }

    fn build(self, func: &mut Function) {
        if let Some(turn) = self.moved() {
            return self.ask_and_count(func, turn);
        }
        let header = &func.blocks[self.header.index()];
        let (span, unwind, cold) = (header.term_span, header.unwind.clone(), header.cold);
        let (outer, inner) = (func.blocks[self.entrance.index()].params.clone(), header.params.clone());
        let go = Term::Jump(to(self.header, &outer));
        let Some(counted) = self.strip else {
            // The handler sees the values with which the loop begins again.
            let new = |v: &Value| inner.iter().position(|p| p == v).map_or(*v, |i| outer[i]);
            let unwind = unwind.map(|t| Target { block: t.block, args: t.args.iter().map(new).collect() });
            let mut c = Cursor { func, block: self.entrance, span, unwind: unwind.clone(), cold };
            c.func.blocks[self.entrance.index()].unwind = unwind;
            poll(&mut c, if self.turn.is_some() { "lh_interrupted_in_turn" } else { "lh_interrupted" });
            return c.end(go, self.header);
        };
        func.blocks[self.header.index()].unrolled |= self.raises;
        let mut c = Cursor { func, block: self.entrance, span, unwind, cold };
        let width = counted.step.unsigned_abs().saturating_mul(if self.calls { STRIP_WITH_CALLS } else { STRIP });
        let width = i64::try_from(width).unwrap_or(i64::MAX);
        let more = strips(&mut c, outer[counted.place], &counted, width);
        let tys: Vec<Ty> = outer.iter().chain([&more]).map(|v| c.func.ty(*v)).collect();
        let (strip, params) = c.new_block(&tys);
        c.func.blocks[strip.index()].unwind = None;
        let first = [&outer[..], &[more]].concat();
        c.end(Term::Jump(to(strip, &first)), strip);
        let (start, left) = (params[counted.place], params[outer.len()]);
        let zero = c.int(0);
        let is_last = c.eq(left, zero);
        let width = c.int(if counted.step > 0 { width } else { -width });
        let near = c.add(start, width);
        let limit = c.select(is_last, counted.limit, near);
        c.end(Term::Jump(to(self.header, &params[..outer.len()])), self.header);
        let (check, _) = c.new_block(&[]);
        // Now in the header, after its instructions.
        let cond = goes_on(&mut c, &counted, limit);
        let Some(Term::Branch { cond: old, then, els }) = &mut c.func.blocks[self.header.index()].term else {
            lh_ir::bug!("a counted loop begins with a branch");
        };
        *old = cond;
        // With the condition made anew, the body is the first target.
        if !counted.body_first {
            std::mem::swap(then, els);
        }
        let exit = std::mem::replace(els, to(check, &[]));
        c.block = check;
        let (asking, _) = c.new_block(&[]);
        c.func.blocks[check.index()].unwind = None;
        c.end(Term::Branch { cond: is_last, then: exit, els: to(asking, &[]) }, asking);
        poll(&mut c, "lh_interrupted");
        let one = c.int(1);
        let left = c.sub(left, one);
        let next = [&inner[..], &[left]].concat();
        c.end(Term::Jump(to(strip, &next)), asking);
    }
}

fn poll(c: &mut Cursor<'_>, function: &str) {
    c.effect(Inst::Runtime(runtime(function), Vec::new()));
}

/// `index < limit` or `index > limit`.
fn goes_on(c: &mut Cursor<'_>, counted: &Counted, limit: Value) -> Value {
    if counted.step > 0 { c.lt(counted.index, limit) } else { c.lt(limit, counted.index) }
}

/// How many strips of this width follow the first.
fn strips(c: &mut Cursor<'_>, start: Value, counted: &Counted, width: i64) -> Value {
    let (low, high) = if counted.step > 0 { (start, counted.limit) } else { (counted.limit, start) };
    let runs = c.lt(low, high);
    let span = c.sub(high, low);
    let one = c.int(1);
    let span = c.sub(span, one);
    // The difference of two signed numbers may be too large for one.
    let span = c.inst(Inst::Cast(span), Ty::u64());
    let width = c.inst(Inst::Const(Const::Int(width.into(), Ty::u64())), Ty::u64());
    let strips = c.op(row("sdiv"), &[span, width], Ty::u64());
    let strips = c.inst(Inst::Cast(strips), Ty::int());
    let zero = c.int(0);
    c.select(runs, strips, zero)
}
