//! The form of control flow that is reversed: one return; all flow is reducible; each loop has one edge into it, one
//! latch, a block of its own on each edge out of it, and a counter of its iterations; values of a loop are used in it
//! only (loop-closed SSA form); blocks where paths meet know the edge by which they were entered.

use crate::builder::{Builder, edge_args, redirect, to};
use crate::promote::{merge_params, promote};
use crate::{generators, landing, reducible};
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loops, def_blocks, targets};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{BlockData, Inst, InstData, LatchHint, Parallel, Target, Term};
use lh_ir::{Block, Const, Function, Slot, Span, Ty, Value};
use std::collections::BTreeMap;

/// Control flow of a function in normal form.
pub(crate) struct Flow {
    pub cfg: Cfg,
    pub dom: DomTree,
    pub loops: Loops,
    /// The counter of each loop: a parameter of its header.
    pub counters: Vec<Value>,
    /// The loops that are left on the way into a block, and the counter of each then.
    pub left: BTreeMap<Block, Vec<(usize, Value)>>,
    /// The block that returns.
    pub ret: Block,
    /// Blocks from which the function may return.
    pub returns: Vec<bool>,
    /// By what blocks know the edge by which they were entered.
    pub selectors: HashMap<Block, Selector>,
}

/// The edge by which a block was entered.
#[derive(Clone, Debug)]
pub(crate) enum Selector {
    /// The first of two edges if this is true, else the second.
    Condition(Value, [Edge; 2]),
    /// The number of the edge in this order.
    Number(Value, Vec<Edge>),
}

/// Edges into a block, in a fixed order.
pub(crate) fn entries(cfg: &Cfg, b: Block) -> Vec<Edge> {
    cfg.preds(b).to_vec()
}

/// The block whose end an edge is taken back to: an exception leaves a block before anything in it has run.
pub(crate) fn origin(cfg: &Cfg, e: &Edge) -> Block {
    match (e.target, cfg.preds(e.from)) {
        (None, [before]) => before.from,
        _ => e.from,
    }
}

/// Brings a function to normal form.
///
/// # Errors
/// It has control flow that is not reversed.
pub(crate) fn normalise(func: &mut Function) -> Result<Flow> {
    landing::add(func);
    promote(func, 0);
    generators::open(func);
    generators::check_flow(func)?;
    reducible::reduce(func);
    let ret = single_return(func)?;
    while shape_loops(func) {}
    while repeat_addresses(func) {}
    // Values that become parameters of other loops' headers on their way are removed there, or closed again.
    while close_loops(func) {}
    let counters = add_counters(func);
    let cfg = Cfg::new(func);
    let returns = cfg.leading_to([ret]);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let selectors = add_selectors(func, &cfg, &dom, &loops, &returns);
    let left = exits(func, &cfg, &loops, &counters);
    let counters = loops.loops.iter().map(|l| counters[&l.header]).collect();
    Ok(Flow { cfg, dom, loops, counters, left, ret, returns, selectors })
}

fn single_return(func: &mut Function) -> Result<Block> {
    let cfg = Cfg::new(func);
    let is_return = |b: &Block| matches!(func.blocks[b.index()].term, Some(Term::Return(_)));
    let found: Vec<Block> = cfg.rpo().iter().copied().filter(is_return).collect();
    let Some(first) = found.first() else {
        let span = Span { line: func.first_line, end_line: func.first_line, ..Span::default() };
        return Err(
            Diagnostic::new(diag::NO_DERIVATIVE, format!("`{}` never returns", func.qualname)).at(&func.file, span)
        );
    };
    let Some(Term::Return(v)) = func.blocks[first.index()].term else { unreachable!("it was asked") };
    let (ty, span) = (func.ty(v), func.blocks[first.index()].term_span);
    let ret = func.new_block();
    let result = func.new_param(ret, ty);
    let data = &mut func.blocks[ret.index()];
    (data.term, data.term_span) = (Some(Term::Return(result)), span);
    for b in found {
        let data = &mut func.blocks[b.index()];
        if let Some(Term::Return(v)) = data.term {
            data.term = Some(Term::Jump(to(ret, vec![v])));
        }
    }
    Ok(ret)
}

/// A new block with parameters like those of another, to which it jumps.
fn before(func: &mut Function, block: Block, span: Span) -> Block {
    let new = func.new_block();
    let tys: Vec<Ty> = func.blocks[block.index()].params.iter().map(|p| func.ty(*p)).collect();
    let args: Vec<Value> = tys.into_iter().map(|t| func.new_param(new, t)).collect();
    let (cold, unwind) = (func.blocks[block.index()].cold, None);
    let data = &mut func.blocks[new.index()];
    (data.term, data.term_span, data.cold, data.unwind) = (Some(Term::Jump(to(block, args))), span, cold, unwind);
    new
}

/// Gives each loop a single latch, a preheader and a block on each edge out of it; answers whether one lacked them.
fn shape_loops(func: &mut Function) -> bool {
    let changed = shape_headers(func);
    shape_exits(func) || changed
}

/// Gives each header one edge into it from outside and one from inside, which are jumps.
fn shape_headers(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut changed = false;
    for l in &loops.loops {
        let span = func.blocks[l.header.index()].term_span;
        let (back, into): (Vec<Edge>, Vec<Edge>) =
            entries(&cfg, l.header).into_iter().partition(|e| dom.dominates(l.header, e.from));
        for edges in [&back, &into] {
            let is_jump = |e: &Edge| matches!(func.blocks[e.from.index()].term, Some(Term::Jump(_)));
            if edges.len() != 1 || !is_jump(&edges[0]) {
                let new = before(func, l.header, span);
                for e in edges {
                    let args = std::mem::take(edge_args(func, e));
                    redirect(func, e, new, args);
                }
                changed = true;
            }
        }
    }
    changed
}

/// Puts a block on each edge out of a loop that has none.
fn shape_exits(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let is_own = |t: &Target| {
        let to = &func.blocks[t.block.index()];
        cfg.preds(t.block).len() == 1 && to.params.is_empty() && matches!(to.term, Some(Term::Jump(_)))
    };
    let (mut found, mut seen): (Vec<(Edge, Target, Span)>, HashSet<Edge>) = (Vec::new(), HashSet::new());
    for l in &loops.loops {
        let inside: HashSet<Block> = l.blocks.iter().copied().collect();
        for &b in &l.blocks {
            for (target, t) in targets(func, b).filter(|(_, t)| !inside.contains(&t.block) && !is_own(t)) {
                let e = Edge { from: b, target };
                // The edge may leave several loops.
                if seen.insert(e) {
                    found.push((e, t.clone(), func.blocks[l.header.index()].term_span));
                }
            }
        }
    }
    for (e, t, span) in &found {
        let cold = func.blocks[t.block.index()].cold;
        let new = func.new_block();
        let term = Some(Term::Jump(t.clone()));
        func.blocks[new.index()] = BlockData { term, term_span: *span, cold, ..Default::default() };
        redirect(func, e, new, Vec::new());
    }
    !found.is_empty()
}

/// Computes addresses again where they are used behind their loop, which they would leave without their owners; answers
/// whether there was one.
fn repeat_addresses(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let defs = def_blocks(func);
    let is_address = |d: &&InstData| match d.inst {
        Inst::Field(..) | Inst::PtrAdd(..) | Inst::ArrayData(_) => d.result.is_some_and(|r| func.ty(r) == Ty::ptr()),
        _ => false,
    };
    let insts = func.insts().filter(is_address);
    let insts: HashMap<Value, Inst> = insts.filter_map(|d| Some((d.result?, d.inst.clone()))).collect();
    let leaves = |v: Value, b: Block| {
        let l = defs[v.index()].and_then(|d| loops.innermost[d.index()]);
        l.is_some_and(|l| !loops.loops[l].blocks.contains(&b))
    };
    let mut changed = false;
    for &b in cfg.rpo() {
        let mut again = |at: &mut Builder<'_>, v: &mut Value| {
            if let Some(inst) = insts.get(v).filter(|_| leaves(*v, b)) {
                *v = at.inst(inst.clone(), Ty::ptr());
                changed = true;
            }
        };
        let (old, span) = (std::mem::take(&mut func.blocks[b.index()].insts), func.blocks[b.index()].term_span);
        let mut term = func.blocks[b.index()].term.take();
        let mut at = Builder::new(func, span);
        for mut d in old {
            d.inst.for_each_operand_mut(&mut |v| again(&mut at, v));
            at.insts.push(d);
        }
        if let Some(t) = &mut term {
            t.for_each_operand_mut(&mut |v| again(&mut at, v));
        }
        at.finish(b);
        func.blocks[b.index()].term = term;
    }
    changed
}

/// Brings loops into loop-closed SSA form, inner ones first; answers whether a value was used outside of its loop.
fn close_loops(func: &mut Function) -> bool {
    let mut changed = false;
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    for l in &loops.loops {
        let inside: HashSet<Block> = l.blocks.iter().copied().collect();
        let defs = def_blocks(func);
        let from_inside = |v: Value| defs[v.index()].is_some_and(|d| inside.contains(&d));
        let mut escaping: Vec<Value> = Vec::new();
        let mut note = |v: Value| {
            if from_inside(v) {
                escaping.push(v);
            }
        };
        for &b in cfg.rpo().iter().filter(|b| !inside.contains(*b)) {
            let data = &func.blocks[b.index()];
            data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut note));
            if let Some(t) = &data.term {
                t.clone().for_each_operand_mut(&mut |v| note(*v));
            }
        }
        escaping.sort_unstable();
        escaping.dedup();
        if escaping.is_empty() {
            continue;
        }
        let first = func.slots.len();
        let slots: HashMap<Value, Slot> = escaping.iter().map(|v| (*v, func.new_slot(func.ty(*v)))).collect();
        read_slots(func, &cfg, &inside, &slots);
        for &b in &l.blocks {
            let out: Vec<Edge> = targets(func, b)
                .filter(|(_, t)| !inside.contains(&t.block))
                .map(|(target, _)| Edge { from: b, target })
                .collect();
            for e in out {
                let exit = targets(func, b).find(|(at, _)| *at == e.target).expect("it was found").1.block;
                // The results of a block are not there yet when an exception leaves it.
                let own = e.target.is_some();
                let reach = escaping
                    .iter()
                    .filter(|v| defs[v.index()].is_some_and(|d| d == b && own || d != b && dom.results_reach(d, b)));
                for v in reach.copied().collect::<Vec<_>>() {
                    let p = func.new_param(exit, func.ty(v));
                    edge_args(func, &e).push(v);
                    let set = InstData { result: None, inst: Inst::SlotSet(slots[&v], p), span: Span::default() };
                    func.blocks[exit.index()].insts.insert(0, set);
                }
            }
        }
        promote(func, first);
        merge_params(func);
        changed = true;
    }
    changed
}

/// Reads values from slots in all blocks outside of a loop.
fn read_slots(func: &mut Function, cfg: &Cfg, inside: &HashSet<Block>, slots: &HashMap<Value, Slot>) {
    for &b in cfg.rpo().iter().filter(|b| !inside.contains(*b)) {
        let insts = std::mem::take(&mut func.blocks[b.index()].insts);
        let span = func.blocks[b.index()].term_span;
        let mut at = Builder::new(func, span);
        for mut d in insts {
            d.inst.for_each_operand_mut(&mut |v| {
                if let Some(s) = slots.get(v) {
                    *v = at.get(*s);
                }
            });
            at.insts.push(d);
        }
        let mut term = at.func.blocks[b.index()].term.take();
        if let Some(t) = &mut term {
            t.for_each_operand_mut(&mut |v| {
                if let Some(s) = slots.get(v) {
                    *v = at.get(*s);
                }
            });
        }
        at.finish(b);
        func.blocks[b.index()].term = term;
    }
}

/// Adds a counter to each loop, by header.
fn add_counters(func: &mut Function) -> HashMap<Block, Value> {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let mut out = HashMap::new();
    for l in &loops.loops {
        let own = own_counter(func, &cfg, &dom, l.header);
        let counter = own.unwrap_or_else(|| func.new_param(l.header, Ty::int()));
        out.insert(l.header, counter);
        for e in entries(&cfg, l.header).into_iter().filter(|_| own.is_none()) {
            let span = func.blocks[e.from.index()].term_span;
            let mut b = Builder::at_end(func, e.from, span);
            let v = if dom.dominates(l.header, e.from) {
                let one = b.int(1);
                b.int_op("add", counter, one)
            } else {
                b.int(0)
            };
            b.finish(e.from);
            edge_args(func, &e).push(v);
        }
        // Hints are about loops without a tape. A derivative's sums may make a parallel loop depend on
        // its order.
        let data = &mut func.blocks[l.header.index()];
        data.parallel = data.parallel.map(|_| Parallel::Derived);
        l.latches.iter().for_each(|b| func.blocks[b.index()].latch = LatchHint::default());
    }
    out
}

/// The parameter of a loop's header that counts its iterations from 0 already. The dependence test knows that of a
/// parallel loop.
fn own_counter(func: &mut Function, cfg: &Cfg, dom: &DomTree, header: Block) -> Option<Value> {
    let params = func.blocks[header.index()].params.clone();
    params.into_iter().enumerate().find_map(|(at, p)| {
        let mut counts = func.ty(p) == Ty::int();
        for e in entries(cfg, header) {
            let v = *edge_args(func, &e).get(at)?;
            let is_number =
                |v: &Value, n| matches!(inst_anywhere(func, *v), Some(Inst::Const(Const::Int(i, _))) if *i == n);
            counts &= match inst_anywhere(func, v) {
                Some(Inst::Op(op, args)) if dom.dominates(header, e.from) => {
                    op.is(Algebra::Add) && args[0] == p && is_number(&args[1], 1)
                }
                _ => !dom.dominates(header, e.from) && is_number(&v, 0),
            };
        }
        counts.then_some(p)
    })
}

/// Passes counters to the blocks on the edges out of loops.
fn exits(
    func: &mut Function,
    cfg: &Cfg,
    loops: &Loops,
    counters: &HashMap<Block, Value>,
) -> BTreeMap<Block, Vec<(usize, Value)>> {
    let mut out: BTreeMap<Block, Vec<(usize, Value)>> = BTreeMap::new();
    for (i, l) in loops.loops.iter().enumerate() {
        let inside: HashSet<Block> = l.blocks.iter().copied().collect();
        for &b in &l.blocks {
            let edges: Vec<(Edge, Block)> = targets(func, b)
                .filter(|(_, t)| !inside.contains(&t.block))
                .map(|(target, t)| (Edge { from: b, target }, t.block))
                .collect();
            for (e, exit) in edges {
                debug_assert_eq!(cfg.preds(exit).len(), 1);
                let at = func.new_param(exit, Ty::int());
                edge_args(func, &e).push(counters[&l.header]);
                out.entry(exit).or_default().push((i, at));
            }
        }
    }
    out
}

fn add_selectors(
    func: &mut Function,
    cfg: &Cfg,
    dom: &DomTree,
    loops: &Loops,
    returns: &[bool],
) -> HashMap<Block, Selector> {
    let mut out = HashMap::new();
    for &b in cfg.rpo() {
        let edges = entries(cfg, b);
        let is_header = loops.loops.iter().any(|l| l.header == b);
        if !returns[b.index()] || edges.len() < 2 || is_header {
            continue;
        }
        if let Some(s) = by_condition(func, cfg, dom, b, &edges)
            && let Selector::Condition(_, [e, _]) = &s
            && let Some(above) = cfg.position(b).and_then(|p| dom.idom_position(p))
            && loops.innermost[cfg.rpo()[above].index()] == loops.innermost[b.index()]
            && e.target.is_some()
        {
            out.insert(b, s);
            continue;
        }
        let number = func.new_param(b, Ty::int());
        for (i, e) in edges.iter().enumerate() {
            let span = func.blocks[e.from.index()].term_span;
            let mut at = Builder::at_end(func, e.from, span);
            let v = at.int(i as i64);
            at.finish(e.from);
            edge_args(func, e).push(v);
        }
        out.insert(b, Selector::Number(number, edges));
    }
    out
}

/// The selector of a block in which both sides of one branch meet.
fn by_condition(func: &Function, cfg: &Cfg, dom: &DomTree, b: Block, edges: &[Edge]) -> Option<Selector> {
    let [x, y] = edges[..] else { return None };
    let above = cfg.rpo()[dom.idom_position(cfg.position(b)?)?];
    let Some(Term::Branch { cond, then, els }) = &func.blocks[above.index()].term else { return None };
    // An edge belongs to a side if it is that edge of the branch, or comes from below a block that only it leads to.
    let side = |e: &Edge| {
        if e.from == above {
            return e.target;
        }
        let under = |t: Block| t != b && cfg.preds(t).len() == 1 && dom.dominates(t, e.from);
        match (under(then.block), under(els.block)) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    };
    match (side(&x)?, side(&y)?) {
        (0, 1) => Some(Selector::Condition(*cond, [x, y])),
        (1, 0) => Some(Selector::Condition(*cond, [y, x])),
        _ => None,
    }
}

/// The bounds of a counted loop, whose iterations are `limit - first` at most.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The parameter that counts.
    pub index: Value,
    pub first: Value,
    pub limit: Value,
    /// At least 1.
    pub step: i128,
}

/// The bounds of a loop that are known where it begins, if each iteration adds 1 or more.
pub(crate) fn bounds(func: &Function, flow: &Flow, l: usize) -> Option<Bounds> {
    let lp = &flow.loops.loops[l];
    let header = &func.blocks[lp.header.index()];
    let Some(Term::Branch { cond, .. }) = &header.term else { return None };
    let inst = |v: Value| lp.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts).find(|d| d.result == Some(v));
    let Inst::Op(op, args) = &inst(*cond)?.inst else { return None };
    let [i, limit] = args[..] else { return None };
    let at = header.params.iter().position(|p| *p == i)?;
    let is_inside =
        |v: Value| inst(v).is_some() || lp.blocks.iter().any(|b| func.blocks[b.index()].params.contains(&v));
    let (mut first, mut step) = (None, 1);
    for e in entries(&flow.cfg, lp.header) {
        let term = func.blocks[e.from.index()].term.as_ref()?;
        let a = term.targets()[e.target? as usize].args[at];
        if flow.dom.dominates(lp.header, e.from) {
            let Inst::Op(next, of) = &inst(a)?.inst else { return None };
            let by = of.iter().find(|v| **v != i)?;
            let Inst::Const(Const::Int(n, _)) = inst_anywhere(func, *by)? else { return None };
            if !next.is(Algebra::Add) || !of.contains(&i) || *n < 1 {
                return None;
            }
            step = *n;
        } else {
            first = Some(a);
        }
    }
    let fits = op.comparison() == Some(Cmp::Lt) && !is_inside(limit) && func.ty(limit).strong() == Ty::i64();
    if fits { Some(Bounds { index: i, first: first?, limit, step }) } else { None }
}

pub(crate) fn inst_anywhere(func: &Function, v: Value) -> Option<&Inst> {
    func.insts().find(|d| d.result == Some(v)).map(|d| &d.inst)
}

/// Whether a loop has an exit other than that of its header.
pub(crate) fn is_left_early(flow: &Flow, l: usize) -> bool {
    let header = flow.loops.loops[l].header;
    let own = flow.left.iter().filter(|(exit, left)| flow.returns[exit.index()] && left.iter().any(|(of, _)| *of == l));
    own.flat_map(|(exit, _)| flow.cfg.preds(*exit)).any(|e| e.from != header)
}
