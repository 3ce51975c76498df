//! Loops that the threads of a block begin side by side and go through by the same step get the same number of rounds for all:
//!
//! ```text
//! i = start + t                          x = start
//! while i < stop:                        while x < stop:                ; the same for all threads
//!     a[i] = 0              ->               if t < stop - x:
//!     i = i + step                               a[x + t] = 0
//!                                            x = x + step
//! ```
//!
//! Then `split_kernel` puts the loops over threads inside, where a block goes through memory in order and nothing is asked of
//! single threads. Behind the loop nobody may look for the index, which now goes on for all.
//!
//! Indices do not overflow: from a place of the launch, by steps of at least 1, that takes more rounds than there is time for.

use crate::counted::{Compared, Defs, compared, counted, is_in, stride, target_of};
use crate::dce;
use crate::edit::{Cursor, row, to};
use crate::gangs::{divergence, is_speculative};
use crate::kernel_context::is_block_sync;
use crate::natural::{HUGE, Limits};
use crate::split_kernel::{self, is_short, uniform};
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, InstData, Target, Term, waits};
use lh_ir::{Block, Function, Ty, Value};
use std::collections::HashSet;

/// Threads that begin further apart are each in a part of memory of their own.
const MOST_APART: i128 = 1 << 20;
/// From here on, by such steps at most, no index overflows before the end of time.
const LATE: i128 = 1 << 44;

/// A loop that becomes one for all threads.
struct Plan {
    header: Block,
    blocks: Vec<Block>,
    compared: Compared,
    /// What is added in each round, and that as a number if it is one.
    step: (Value, Option<i64>),
    /// The way into the loop, and what is added up to where it begins: for all threads, and for one.
    before: Block,
    shared: Vec<Value>,
    own: Vec<Value>,
}

/// The kernel with such loops, if there are any.
pub(crate) fn run(func: &Function) -> Option<Function> {
    if func.waits & (waits::WARP | waits::IN_CALLEE) != 0 || !split_kernel::keeps(func) {
        return None;
    }
    let cfg = Cfg::new(func);
    let plans = plans(func, &cfg);
    let mut made = func.clone();
    plans.iter().for_each(|p| apply(&mut made, p));
    dce::run(&mut made);
    (!plans.is_empty()).then_some(made)
}

fn plans(func: &Function, cfg: &Cfg) -> Vec<Plan> {
    let dom = DomTree::new(cfg);
    let loops = Loops::new(func, cfg, &dom);
    let by_grid = func.waits & waits::GRID != 0;
    let varies = uniform::varying(func, cfg, by_grid, &HashSet::new(), &|_| true, &|_| false);
    let finder = Finder { func, cfg, defs: Defs::new(func), limits: Limits::new(func, cfg, &dom), varies };
    let mut plans: Vec<Plan> =
        loops.loops.iter().filter(|l| finder.is_deep(&loops, l)).filter_map(|l| finder.plan(l)).collect();
    // What threads decide differently now is not that.
    let mut varies = finder.varies;
    for p in &plans {
        if let Some(Term::Branch { cond, .. }) = &func.blocks[p.header.index()].term {
            varies[cond.index()] = false;
        }
    }
    let diverged = divergence(func, cfg, &varies, &uniform::post_dominators(func, cfg));
    plans.retain(|p| !diverged[p.header.index()]);
    plans
}

struct Finder<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: Defs,
    limits: Limits<'a>,
    varies: Vec<bool>,
}

impl Finder<'_> {
    fn plan(&self, l: &Loop) -> Option<Plan> {
        let (func, cfg) = (self.func, self.cfg);
        let c = compared(func, cfg, &self.defs, l).filter(|c| c.less)?;
        let step = stride(func, cfg, &self.defs, l, &c)?;
        let mut into = cfg.preds(l.header).iter().filter(|e| !is_in(cfg, l, e.from));
        let (edge, None) = (into.next().filter(|e| e.target.is_some())?, into.next()) else { return None };
        let start = target_of(func, *edge).args[c.place];
        let range = |v| self.limits.of(v, edge.from);
        let varies = |v: Value| self.varies[v.index()];
        let fits = varies(start) && !varies(step) && !varies(c.limit) && range(step).0 > 0;
        let most = range(start).1.max(range(step).1);
        let ends = most < LATE || most <= HUGE && range(c.limit).1 <= HUGE;
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        self.addends(start, &mut shared, &mut own);
        let natural = shared.iter().chain(&own).all(|v| range(*v).0 >= 0);
        let near = own.iter().all(|v| range(*v).1 < MOST_APART);
        if !fits || !ends || !natural || !near || !self.is_plain(l) || !self.is_kept_inside(l, c.index) {
            return None;
        }
        let blocks = l.blocks.clone();
        let step = (step, self.defs.int(func, step));
        Some(Plan { header: l.header, blocks, compared: c, step, before: edge.from, shared, own })
    }

    /// Whether what is in a loop is better done for one thread after the other: all loops inside are unrolled, or may raise in
    /// the midst of what lanes of gangs do together.
    fn is_deep(&self, loops: &Loops, l: &Loop) -> bool {
        let (func, cfg) = (self.func, self.cfg);
        let raises = |b: &Block| func.blocks[b.index()].insts.iter().any(|d| d.inst.can_raise());
        let asks = |b: Block| matches!(&func.blocks[b.index()].term, Some(Term::Branch { cond, .. }) if self.varies[cond.index()]);
        let inner = loops.loops.iter().filter(|x| x.header != l.header && l.blocks.contains(&x.header));
        let even = |x: &Loop| counted(func, cfg, &self.defs, x).is_some() && !asks(x.header);
        l.is_innermost || { inner }
            .all(|x| even(x) && (is_short(func, cfg, &self.defs, x) || x.blocks.iter().any(raises)))
    }

    /// What a value is the sum of.
    fn addends(&self, v: Value, shared: &mut Vec<Value>, own: &mut Vec<Value>) {
        match self.defs.inst(self.func, v) {
            _ if !self.varies[v.index()] => shared.push(v),
            Some(Inst::Op(op, args)) if op.name == "add" => args.iter().for_each(|a| self.addends(*a, shared, own)),
            _ => own.push(v),
        }
    }

    /// Whether a loop is left at its beginning only, where nothing is done, and no thread waits in it.
    fn is_plain(&self, l: &Loop) -> bool {
        let func = self.func;
        let stays = |b: &Block| targets(func, *b).all(|(n, t)| n.is_none() || l.blocks.contains(&t.block));
        let waits = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if is_block_sync(f.name) || f.name == "lh_cuda_grid_sync");
        l.blocks.iter().all(|b| {
            let insts = &func.blocks[b.index()].insts;
            let at_head = *b == l.header;
            (at_head || stays(b)) && insts.iter().all(|d| !waits(d) && (!at_head || is_speculative(&d.inst)))
        })
    }

    /// Whether nothing that is computed from a value is used behind the loop.
    fn is_kept_inside(&self, l: &Loop, index: Value) -> bool {
        let mut derived = HashSet::from([index]);
        for b in self.cfg.rpo() {
            let (data, inside) = (&self.func.blocks[b.index()], l.blocks.contains(b));
            for d in &data.insts {
                let mut uses = false;
                d.inst.for_each_operand(|v| uses |= derived.contains(&v));
                if uses && !inside {
                    return false;
                }
                derived.extend(d.result.filter(|_| uses));
            }
            let passes = |t: &Target| !l.blocks.contains(&t.block) && t.args.iter().any(|v| derived.contains(v));
            let asks = match &data.term {
                Some(Term::Branch { cond: v, .. } | Term::Return(v)) => derived.contains(v),
                Some(Term::Raise { args, .. }) => args.iter().any(|v| derived.contains(v)),
                _ => false,
            };
            if !inside && asks || targets(self.func, *b).any(|(_, t)| passes(t)) {
                return false;
            }
        }
        true
    }
}

fn apply(func: &mut Function, plan: &Plan) {
    let Compared { index, place, limit, body_first, .. } = plan.compared;
    let header = plan.header.index();
    let (span, unwind) = (func.blocks[header].term_span, func.blocks[header].unwind.clone());
    let mut c = Cursor { func, block: plan.before, span, unwind, cold: false };
    let sum =
        |c: &mut Cursor<'_>, vs: &[Value]| vs.iter().copied().reduce(|a, b| c.add(a, b)).unwrap_or_else(|| c.int(0));
    let (start, own) = (sum(&mut c, &plan.shared), sum(&mut c, &plan.own));
    let x = c.func.new_value(c.func.ty(index));
    let others: Vec<Value> =
        c.func.blocks[header].params.iter().copied().enumerate().filter(|(i, _)| *i != place).map(|(_, p)| p).collect();
    let kinds: Vec<Ty> = others.iter().map(|p| c.func.ty(*p)).collect();
    // What goes back goes by one way, on which all threads step alike.
    let (latch, kept) = c.new_block(&kinds);
    for b in &plan.blocks {
        let back = c.func.blocks[b.index()].term.iter_mut().flat_map(Term::targets_mut);
        for t in back.filter(|t| t.block == plan.header) {
            t.block = latch;
            t.args.remove(place);
        }
    }
    let into = c.func.blocks[plan.before.index()].term.iter_mut().flat_map(Term::targets_mut);
    into.filter(|t| t.block == plan.header).for_each(|t| t.args[place] = start);
    let data = &mut c.func.blocks[header];
    data.params[place] = x;
    // What is computed from the index is so for threads that go on.
    let (mut derived, mut moved) = (HashSet::from([index]), Vec::new());
    moved.push(InstData { result: Some(index), inst: Inst::Op(row("add"), vec![x, own]), span });
    data.insts.retain(|d| {
        let mut uses = false;
        d.inst.for_each_operand(|v| uses |= derived.contains(&v));
        derived.extend(d.result.filter(|_| uses));
        moved.extend(uses.then(|| d.clone()));
        !uses
    });
    let Some(Term::Branch { then, els, .. }) = data.term.take() else { lh_ir::bug!("it is a branch") };
    let (body, exit) = if body_first { (then, els) } else { (els, then) };
    c.block = plan.header;
    let (more, guard) = (c.lt(x, limit), c.new_block(&[]).0);
    c.end(Term::Branch { cond: more, then: to(guard, &[]), els: exit }, guard);
    let left = c.sub(limit, x);
    let here = c.lt(own, left);
    let go_on = c.new_block(&[]).0;
    c.func.blocks[go_on.index()].insts = moved;
    c.end(Term::Branch { cond: here, then: to(go_on, &[]), els: to(latch, &others) }, go_on);
    c.end(Term::Jump(body), latch);
    let step = plan.step.1.map_or(plan.step.0, |n| c.int(n));
    let next = c.add(x, step);
    let mut args = kept;
    args.insert(place, next);
    c.end(Term::Jump(to(plan.header, &args)), latch);
}
