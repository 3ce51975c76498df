//! Undoes loop rotation: a loop that tests its condition before the first iteration and in the latch tests it once, in
//! the header, as other passes expect. Bytecode has rotated `while` loops.
//!
//! ```text
//!     branch lt v1, v0, block1(v1), block4(v1)        jump block3(v1)
//! block1(v2):                                     block3(v2):
//!     ...                                   ->        branch lt v2, v0, block1(), block4(v2)
//!     v3 = add v2, 1                              block1():
//!     branch lt v3, v0, block1(v3), block4(v3)        ...
//!                                                     jump block3(v3)
//! ```
//!
//! Both tests must compute the same function of the values that enter the header, and both exits must pass the same
//! functions of these values to the same block. The loop must have no other exit.

use crate::analysis::classify::is_speculative;
use crate::analysis::counted::Defs;
use crate::edit::{Cursor, to};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loop, Loops, targets};
use lh_ir::func::{Inst, Target, Term};
use lh_ir::{Block, Function, Ty, Value};
use std::collections::HashSet;

const MAX_DEPTH: usize = 6;

pub(crate) fn run(func: &mut Function) -> bool {
    let mut changed = false;
    loop {
        let plans = find(func);
        if plans.is_empty() {
            return changed;
        }
        plans.into_iter().for_each(|plan| apply(func, plan));
        changed = true;
    }
}

/// A test of the loop's condition, with its edge into the body and its exit.
struct LoopTest {
    from: Block,
    cond: Value,
    /// A block on the edge into the body without effects.
    between: Option<Block>,
    into: Target,
    out: Target,
    /// Whether the body is the first target.
    first: bool,
}

/// A value that both tests compute, as a function of the body's parameters.
enum Common {
    /// The same value in both.
    Same(Value),
    /// A parameter of the body, by position.
    Param(usize),
    /// The same instruction and type, with common operands.
    Inst(Inst, Ty, Vec<Common>),
}

struct Unrotation {
    body: Block,
    tests: [LoopTest; 2],
    cond: Common,
    /// The common exit block; `None` if both exits return.
    out: Option<Block>,
    exit_args: Vec<Common>,
}

/// Loops to transform whose blocks do not overlap.
fn find(func: &Function) -> Vec<Unrotation> {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let defs = Defs::new(func);
    let mut touched = HashSet::new();
    let mut apart = |p: &Unrotation| {
        let tests = p.tests.iter().flat_map(|w| std::iter::once(w.from).chain(w.between));
        let blocks: HashSet<Block> = tests.chain(p.out).chain([p.body]).collect();
        let is_apart = touched.is_disjoint(&blocks);
        touched.extend(blocks.into_iter().filter(|_| is_apart));
        is_apart
    };
    loops.loops.iter().filter_map(|l| plan(func, &cfg, &defs, l)).filter(|p| apart(p)).collect()
}

fn plan(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> Option<Unrotation> {
    let (back, into): (Vec<Edge>, Vec<Edge>) = cfg.preds(l.header).iter().partition(|e| l.blocks.contains(&e.from));
    let ([back], [into]) = (&back[..], &into[..]) else { return None };
    let tests = [loop_test(func, cfg, l.header, *into)?, loop_test(func, cfg, l.header, *back)?];
    let [a, b] = &tests;
    let (ends_a, ends_b) = (exit_chain(func, &a.out), exit_chain(func, &b.out));
    let ((out, gives), (_, others)) = common_exit(&ends_a, &ends_b)?;
    // A condition with several exits, such as `a and b`, has tests in several blocks.
    let stays = |from: &Block| targets(func, *from).all(|(n, t)| n.is_none() || l.blocks.contains(&t.block));
    let once = l.blocks.iter().all(|x| *x == b.from || stays(x));
    let exits_once = once && !l.blocks.contains(&a.from) && out.is_none_or(|b| !l.blocks.contains(&b));
    let handler = func.blocks[l.header.index()].unwind.as_ref().is_none_or(|t| t.args.is_empty());
    if !exits_once || !handler || a.first != b.first || !l.blocks.contains(&b.from) {
        return None;
    }
    let common = |x: Value, y: Value| common(func, defs, (x, y), [&a.into.args, &b.into.args], 0);
    let cond = common(a.cond, b.cond)?;
    let exit_args = gives.iter().zip(others).map(|(x, y)| common(*x, *y)).collect::<Option<Vec<Common>>>()?;
    Some(Unrotation { body: l.header, cond, out: *out, exit_args, tests })
}

/// A block and the arguments that it gets; no block for a return.
type ExitStep = (Option<Block>, Vec<Value>);

/// The blocks that a target reaches through blocks without effects, up to a return.
fn exit_chain(func: &Function, t: &Target) -> Vec<ExitStep> {
    let mut exit_chain = vec![(Some(t.block), t.args.clone())];
    let mut b = t.block;
    while exit_chain.len() < MAX_DEPTH {
        let data = &func.blocks[b.index()];
        if !data.params.is_empty() || !data.insts.iter().all(|d| is_speculative(&d.inst)) {
            break;
        }
        match &data.term {
            Some(Term::Jump(t)) => {
                exit_chain.push((Some(t.block), t.args.clone()));
                b = t.block;
            }
            Some(Term::Return(v)) => {
                exit_chain.push((None, vec![*v]));
                break;
            }
            _ => break,
        }
    }
    exit_chain
}

/// The first block that both exits reach, with the arguments of each.
fn common_exit<'a>(a: &'a [ExitStep], b: &'a [ExitStep]) -> Option<(&'a ExitStep, &'a ExitStep)> {
    a.iter().find_map(|x| b.iter().find(|y| x.0 == y.0).map(|y| (x, y)))
}

/// The test from which an edge into the body comes, directly or through a block without effects.
fn loop_test(func: &Function, cfg: &Cfg, body: Block, edge: Edge) -> Option<LoopTest> {
    edge.target?;
    let data = &func.blocks[edge.from.index()];
    let (from, between, into) = match (&data.term, cfg.preds(edge.from)) {
        (Some(Term::Jump(t)), [above]) if data.params.is_empty() && above.target.is_some() => {
            let has_no_effect = data.insts.iter().all(|d| is_speculative(&d.inst) && d.result.is_some());
            has_no_effect.then(|| (above.from, Some(edge.from), t.clone()))?
        }
        _ => (edge.from, None, targets(func, edge.from).find(|(n, _)| *n == edge.target)?.1.clone()),
    };
    let Some(Term::Branch { cond, then, els }) = &func.blocks[from.index()].term else { return None };
    let next = between.unwrap_or(body);
    let (first, out) = if then.block == next { (true, els) } else { (false, then) };
    (then.block != els.block).then(|| LoopTest { from, cond: *cond, between, into, out: out.clone(), first })
}

/// The common function for two values, given the arguments of the entry edge and of the back edge.
fn common(func: &Function, defs: &Defs, (x, y): (Value, Value), params: [&[Value]; 2], depth: usize) -> Option<Common> {
    let same = |a: Value, b: Value| {
        a == b
            || matches!((defs.inst(func, a), defs.inst(func, b)), (Some(Inst::Const(m)), Some(Inst::Const(n))) if m == n && func.ty(a) == func.ty(b))
    };
    if let Some(place) = (0..params[0].len()).find(|i| same(params[0][*i], x) && same(params[1][*i], y)) {
        return Some(Common::Param(place));
    }
    if x == y {
        return Some(Common::Same(x));
    }
    let (a, b) = (defs.inst(func, x)?, defs.inst(func, y)?);
    let operands = |inst: &Inst| {
        let mut all = Vec::new();
        inst.for_each_operand(|v| all.push(v));
        all
    };
    let (of_a, of_b) = (operands(a), operands(b));
    let mut renamed = b.clone();
    let mut next = of_a.iter();
    renamed.for_each_operand_mut(&mut |v| *v = next.next().copied().unwrap_or(*v));
    let alike = of_a.len() == of_b.len() && renamed == *a && func.ty(x) == func.ty(y);
    (alike && is_speculative(a) && depth < MAX_DEPTH).then_some(())?;
    let parts = of_a.iter().zip(of_b).map(|(x, y)| common(func, defs, (*x, y), params, depth + 1));
    Some(Common::Inst(a.clone(), func.ty(x), parts.collect::<Option<Vec<Common>>>()?))
}

fn apply(func: &mut Function, plan: Unrotation) {
    let Unrotation { body, tests, cond, out, exit_args } = plan;
    let head = func.new_block();
    let params = std::mem::take(&mut func.blocks[body.index()].params);
    let (unwind, cold) = (func.blocks[body.index()].unwind.clone(), func.blocks[body.index()].cold);
    for w in &tests {
        let computed = w.between.map(|b| {
            let data = &mut func.blocks[b.index()];
            data.term = Some(Term::Unreachable);
            std::mem::take(&mut data.insts)
        });
        let data = &mut func.blocks[w.from.index()];
        data.insts.extend(computed.into_iter().flatten());
        data.term = Some(Term::Jump(to(head, &w.into.args)));
    }
    let span = func.blocks[tests[0].from.index()].term_span;
    let mut c = Cursor { func, block: head, span, unwind, cold };
    let cond = materialize(&mut c, &params, &cond);
    let args: Vec<Value> = exit_args.iter().map(|v| materialize(&mut c, &params, v)).collect();
    let leave = match out {
        Some(b) => to(b, &args),
        None => {
            let end = c.new_block(&[]).0;
            let data = &mut c.func.blocks[end.index()];
            (data.term, data.term_span) = (Some(Term::Return(args[0])), span);
            to(end, &[])
        }
    };
    let go_on = to(body, &[]);
    let (then, els) = if tests[0].first { (go_on, leave) } else { (leave, go_on) };
    let parallel = c.func.blocks[body.index()].parallel.take();
    let pragma = std::mem::take(&mut c.func.blocks[body.index()].pragma);
    let data = &mut c.func.blocks[head.index()];
    (data.params, data.unwind, data.cold, data.parallel) = (params, c.unwind, c.cold, parallel);
    data.pragma = pragma;
    (data.term, data.term_span) = (Some(Term::Branch { cond, then, els }), span);
}

fn materialize(c: &mut Cursor<'_>, params: &[Value], v: &Common) -> Value {
    match v {
        Common::Same(v) => *v,
        Common::Param(i) => params[*i],
        Common::Inst(inst, ty, parts) => {
            let parts: Vec<Value> = parts.iter().map(|p| materialize(c, params, p)).collect();
            let (mut inst, mut next) = (inst.clone(), parts.into_iter());
            inst.for_each_operand_mut(&mut |v| *v = next.next().unwrap_or(*v));
            c.inst(inst, *ty)
        }
    }
}
