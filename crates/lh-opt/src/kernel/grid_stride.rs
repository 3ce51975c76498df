//! Aligns grid-stride loops: if the threads of a block start at consecutive indices and use the same step, all get the
//! same trip count, and the body is predicated:
//!
//! ```text
//! i = start + t                          x = start
//! while i < stop:                        while x < stop:                ; the same for all threads
//!     a[i] = 0              ->               if t < stop - x:
//!     i = i + step                               a[x + t] = 0
//!                                            x = x + step
//! ```
//!
//! `split_kernel` can then put the loops over threads inside this loop, so that a block accesses memory in order and
//! conditions are block-uniform. The index must be dead behind the loop, since it now also advances for threads that
//! are done. A loop that only contains such loops, as over the rows of a two-dimensional grid, needs no predicate
//! itself: its inner loops test both.
//!
//! Indices do not overflow: they start at a quantity of the launch and advance by at least 1, which would take a loop
//! of years.

use crate::analysis::classify::is_cheap;
use crate::analysis::classify::is_speculative;
use crate::analysis::counted::is_short;
use crate::analysis::counted::{ComparedLoop, Defs, compared, counted, in_loop, stride, target_of};
use crate::analysis::int_range::{HUGE, Limits};
use crate::analysis::uniform;
use crate::analysis::uniform::divergence;
use crate::core::dce;
use crate::edit::{Cursor, row, to};
use crate::kernel::split_kernel;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, InstData, Target, Term, waits};
use lh_ir::{Block, Function, Ty, Value};
use std::collections::HashSet;

/// Threads that start further apart access separate parts of memory.
const MAX_DISTANCE: i128 = 1 << 20;
/// With starts and steps below this, no index overflows in the lifetime of a machine.
const MAX_START: i128 = 1 << 44;

struct StrideLoop {
    header: Block,
    blocks: Vec<Block>,
    compared: ComparedLoop,
    /// The step, and its value if it is constant.
    step: (Value, Option<i64>),
    /// The preheader, and the addends of the start: the block-uniform ones, and those of the thread.
    before: Block,
    shared: Vec<Value>,
    own: Vec<Value>,
    /// Whether the loop only contains other aligned loops, which test its predicate.
    outer: bool,
}

/// The kernel with aligned loops, if there are any.
pub(crate) fn run(func: &Function) -> Option<Function> {
    if func.kernel.waits & (waits::WARP | waits::IN_CALLEE) != 0 || !split_kernel::cuts_loops(func) {
        return None;
    }
    let cfg = Cfg::new(func);
    let plans = plans(func, &cfg);
    let mut made = func.clone();
    let mut predicates: Vec<(&StrideLoop, Value)> = Vec::new();
    for p in &plans {
        let around = predicates.iter().filter(|(o, _)| o.outer && o.blocks.contains(&p.header));
        let around = around.map(|(_, cond)| *cond).collect();
        predicates.push((p, apply(&mut made, p, around)));
    }
    dce::run(&mut made);
    (!plans.is_empty()).then_some(made)
}

fn plans(func: &Function, cfg: &Cfg) -> Vec<StrideLoop> {
    let dom = DomTree::new(cfg);
    let loops = Loops::new(func, cfg, &dom);
    let by_grid = func.kernel.waits & waits::GRID != 0;
    let varies = uniform::varying(func, cfg, by_grid, &|_| true, &|_| false);
    let finder = StrideFinder { func, cfg, defs: Defs::new(func), limits: Limits::new(func, cfg, &dom), varies };
    let mut plans: Vec<StrideLoop> =
        loops.loops.iter().filter(|l| finder.can_align_inner(&loops, l)).filter_map(|l| finder.plan(l)).collect();
    // An outer loop comes first: the inner one may take its place at the back edge.
    plans.sort_by_key(|p| std::cmp::Reverse(p.blocks.len()));
    // The conditions of aligned loops are no longer divergent.
    let mut varies = finder.varies;
    for p in &plans {
        if let Some(Term::Branch { cond, .. }) = &func.blocks[p.header.index()].term {
            varies[cond.index()] = false;
        }
    }
    let diverged = divergence(func, cfg, &varies, &uniform::post_dominators(func, cfg));
    plans.retain(|p| !diverged[p.header.index()]);
    let headers: HashSet<Block> = plans.iter().map(|p| p.header).collect();
    for p in &mut plans {
        let at = loops.loops.iter().position(|l| l.header == p.header);
        p.outer = at.is_some_and(|at| is_outer(func, &loops, at, &headers));
    }
    plans
}

/// Whether a loop contains nothing but aligned loops, with these headers, and cheap code.
fn is_outer(func: &Function, loops: &Loops, at: usize, headers: &HashSet<Block>) -> bool {
    let l = &loops.loops[at];
    let inner = || loops.loops.iter().filter(|x| x.parent == Some(at));
    let alone = |l: &Loop| func.blocks[l.header.index()].params.len() == 1;
    let jumps = |b: &Block| *b == l.header || matches!(func.blocks[b.index()].term, Some(Term::Jump(_)));
    let computes = |b: &Block| jumps(b) && func.blocks[b.index()].insts.iter().all(|d| is_speculative(&d.inst));
    !l.is_innermost
        && inner().chain([l]).all(|x| alone(x) && headers.contains(&x.header))
        && l.blocks.iter().all(|b| computes(b) || inner().any(|x| x.blocks.contains(b)))
}

struct StrideFinder<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: Defs,
    limits: Limits<'a>,
    varies: Vec<bool>,
}

impl StrideFinder<'_> {
    fn plan(&self, l: &Loop) -> Option<StrideLoop> {
        let (func, cfg) = (self.func, self.cfg);
        let c = compared(func, cfg, &self.defs, l).filter(|c| c.less)?;
        let step = stride(func, cfg, &self.defs, l, &c)?;
        let mut into = cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from));
        let (edge, None) = (into.next().filter(|e| e.target.is_some())?, into.next()) else { return None };
        let start = target_of(func, *edge).args[c.place];
        let range = |v| self.limits.of(v, edge.from);
        let varies = |v: Value| self.varies[v.index()];
        let fits = varies(start) && !varies(step) && !varies(c.limit) && range(step).0 > 0;
        let most = range(start).1.max(range(step).1);
        let ends = most < MAX_START || most <= HUGE && range(c.limit).1 <= HUGE;
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        self.split_sum(start, &mut shared, &mut own);
        let nonnegative = shared.iter().chain(&own).all(|v| range(*v).0 >= 0);
        let near = own.iter().all(|v| range(*v).1 < MAX_DISTANCE);
        if !fits || !ends || !nonnegative || !near || !self.has_simple_exit(l) || !self.is_dead_behind(l, c.index) {
            return None;
        }
        let blocks = l.blocks.clone();
        let step = (step, self.defs.int(func, step));
        Some(StrideLoop { header: l.header, blocks, compared: c, step, before: edge.from, shared, own, outer: false })
    }

    /// Whether inner loops do not keep a loop from being aligned: they are aligned themselves, or uniform and either
    /// unrolled or raising, so that gangs gain nothing from them.
    fn can_align_inner(&self, loops: &Loops, l: &Loop) -> bool {
        let (func, cfg) = (self.func, self.cfg);
        let raises = |b: &Block| func.blocks[b.index()].insts.iter().any(|d| d.inst.can_raise());
        let asks = |b: Block| matches!(&func.blocks[b.index()].term, Some(Term::Branch { cond, .. }) if self.varies[cond.index()]);
        let inner = loops.loops.iter().filter(|x| x.header != l.header && l.blocks.contains(&x.header));
        let even = |x: &Loop| counted(func, cfg, &self.defs, x).is_some() && !asks(x.header);
        l.is_innermost || { inner }.all(|x| {
            even(x) && (is_short(func, cfg, &self.defs, x) || x.blocks.iter().any(raises)) || self.plan(x).is_some()
        })
    }

    /// Splits a sum into block-uniform addends and others.
    fn split_sum(&self, v: Value, shared: &mut Vec<Value>, own: &mut Vec<Value>) {
        match self.defs.inst(self.func, v) {
            _ if !self.varies[v.index()] => shared.push(v),
            Some(Inst::Op(op, args)) if op.is(Algebra::Add) => {
                args.iter().for_each(|a| self.split_sum(*a, shared, own))
            }
            _ => own.push(v),
        }
    }

    /// Whether a loop has its only exit in the header, whose code can be speculated, and contains no barrier.
    fn has_simple_exit(&self, l: &Loop) -> bool {
        let func = self.func;
        let stays = |b: &Block| targets(func, *b).all(|(n, t)| n.is_none() || l.blocks.contains(&t.block));
        let waits = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if f.is_barrier());
        l.blocks.iter().all(|b| {
            let insts = &func.blocks[b.index()].insts;
            let at_head = *b == l.header;
            (at_head || stays(b)) && insts.iter().all(|d| !waits(d) && (!at_head || is_speculative(&d.inst)))
        })
    }

    /// Whether nothing derived from a value is used behind the loop.
    fn is_dead_behind(&self, l: &Loop, index: Value) -> bool {
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

/// Aligns a loop whose body also tests the predicates in `predicates`; answers with the loop's own predicate.
fn apply(func: &mut Function, plan: &StrideLoop, mut predicates: Vec<Value>) -> Value {
    let ComparedLoop { index, place, limit, body_first, .. } = plan.compared;
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
    // A single latch advances the index for all threads.
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
    // Values derived from the index are computed behind the predicate.
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
    predicates.push(here);
    let mut inside = plan.blocks.iter().copied().filter(|b| *b != plan.header).collect::<HashSet<_>>();
    for cond in predicates.iter().filter(|_| !plan.outer) {
        inside.insert(c.block);
        let go_on = c.new_block(&[]).0;
        c.end(Term::Branch { cond: *cond, then: to(go_on, &[]), els: to(latch, &others) }, go_on);
    }
    inside.insert(c.block);
    c.func.blocks[c.block.index()].insts.extend(moved);
    c.end(Term::Jump(body), latch);
    let step = plan.step.1.map_or(plan.step.0, |n| c.int(n));
    let next = c.add(x, step);
    let mut args = kept;
    args.insert(place, next);
    c.end(Term::Jump(to(plan.header, &args)), latch);
    if predicates.len() > 1 && !plan.outer {
        sink(func, guard, &inside);
    }
    here
}

/// Sinks cheap computations into the only blocks that use them, so that no value lives across a cut.
fn sink(func: &mut Function, first: Block, inside: &HashSet<Block>) {
    for b in Cfg::new(func).rpo().iter().rev().filter(|b| !inside.contains(b)) {
        for at in (0..func.blocks[b.index()].insts.len()).rev() {
            let d = func.blocks[b.index()].insts[at].clone();
            let mut needed = true;
            for (_, data) in func.blocks.iter().enumerate().filter(|(b, _)| !inside.contains(&Block::new(*b))) {
                let mut look = |v: Value| needed &= Some(v) != d.result;
                data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut look));
                data.term.clone().iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| look(*v)));
            }
            if needed && is_speculative(&d.inst) && is_cheap(&d.inst, true) {
                func.blocks[b.index()].insts.remove(at);
                func.blocks[first.index()].insts.insert(0, d);
            }
        }
    }
}
