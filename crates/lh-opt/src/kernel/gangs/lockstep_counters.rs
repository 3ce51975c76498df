//! Separates uniform from divergent parts of induction variables: the start differs between lanes, the distance from it
//! does not.
//!
//! ```text
//! block3(i, n):                              block3(s, t):                 ; from 0 on
//!     branch n > 0                               i = add i0, s             ; computed where it is needed
//!     ...                             ->         n = add n0, t
//!     jump block3(i + step, n - 1)               branch n > 0
//!                                                ...
//!                                                jump block3(s + step, t - 1)
//! ```
//!
//! An induction variable with a uniform start is its own distance. Lanes that are in a loop together are in the same
//! iteration of it. Behind the loop they are not, so induction variables and values derived from them may only leave
//! the loop as block arguments.

use crate::analysis::counted::Defs;
use crate::edit::{Cursor, row};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::op::Op;
use lh_ir::{Block, Function, Value};
use std::collections::HashSet;

/// An induction variable with a uniform step.
struct Counter {
    header: Block,
    param: Value,
    place: usize,
    /// Its start, and the preheader.
    start: Value,
    from: Block,
    /// Its next value, with the operation and the step.
    next: Value,
    op: &'static Op,
    step: Value,
}

/// Rewrites induction variables; answers with the uniform values, the distances.
pub(super) fn counters(func: &mut Function, cfg: &Cfg, varies: &[bool]) -> HashSet<Value> {
    let loops = Loops::new(func, cfg, &DomTree::new(cfg));
    let defs = Defs::new(func);
    let mut found = Vec::new();
    for l in &loops.loops {
        for place in 0..func.blocks[l.header.index()].params.len() {
            found.extend(counter(func, cfg, &defs, l, varies, place));
        }
    }
    found.iter().map(|c| if varies[c.start.index()] { split_start(func, c) } else { c.param }).collect()
}

fn counter(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, varies: &[bool], place: usize) -> Option<Counter> {
    let p = func.blocks[l.header.index()].params[place];
    let inside = |b: Block| l.blocks.contains(&b);
    let (mut start, mut next) = (None, None);
    for e in cfg.preds(l.header) {
        e.target?;
        for (_, t) in targets(func, e.from).filter(|(_, t)| t.block == l.header) {
            let place_of = if inside(e.from) { &mut next } else { &mut start };
            if place_of.is_some_and(|(v, _)| v != t.args[place]) || (!inside(e.from) && place_of.is_some()) {
                return None;
            }
            *place_of = Some((t.args[place], e.from));
        }
    }
    let ((start, from), (next, _)) = (start?, next?);
    let Inst::Op(op, args) = defs.inst(func, next)? else { return None };
    let [a, step] = args[..] else { return None };
    let op = *op;
    matches!(op.algebra, Algebra::Add | Algebra::Sub).then_some(())?;
    let is_const = matches!(defs.inst(func, step), Some(Inst::Const(_)));
    let fixed = is_const || !varies[step.index()] && defs.block(step).is_some_and(|b| !inside(b));
    let is_int = |v: Value| func.ty(v).is_int();
    (a == p && fixed && is_int(p) && is_int(step) && func.ty(next) == func.ty(p)).then_some(())?;
    is_dead_behind(func, cfg, l, p).then_some(Counter {
        header: l.header,
        param: p,
        place,
        start,
        from,
        next,
        op,
        step,
    })
}

/// Whether nothing derived from a value is used behind the loop, other than as a block argument.
fn is_dead_behind(func: &Function, cfg: &Cfg, l: &Loop, p: Value) -> bool {
    let mut derived: HashSet<Value> = HashSet::from([p]);
    // Reverse postorder visits definitions before uses; block parameters count as values of their own.
    for b in cfg.rpo() {
        for d in &func.blocks[b.index()].insts {
            let mut uses = false;
            d.inst.for_each_operand(|v| uses |= derived.contains(&v));
            if uses && !l.blocks.contains(b) {
                return false;
            }
            derived.extend(d.result.filter(|_| uses));
        }
    }
    cfg.rpo().iter().all(|b| {
        let mut free = true;
        if let Some(t) = func.blocks[b.index()].term.clone().filter(|_| !l.blocks.contains(b)) {
            t.clone().for_each_operand_mut(&mut |v| free &= !derived.contains(v));
        }
        // A parameter of a block with several predecessors is divergent anyway.
        let passes = |t: &Target| !l.blocks.contains(&t.block) && t.args.iter().any(|v| derived.contains(v));
        free && targets(func, *b).all(|(_, t)| !passes(t) || cfg.preds(t.block).len() > 1)
    })
}

fn split_start(func: &mut Function, c: &Counter) -> Value {
    let (header, p) = (c.header.index(), c.param);
    let (ty, span) = (func.ty(p), func.blocks[header].term_span);
    let (distance, next_distance) = (func.new_value(ty), func.new_value(ty));
    func.blocks[header].params[c.place] = distance;
    let inst = Inst::Op(row("add"), vec![c.start, distance]);
    func.blocks[header].insts.insert(0, InstData { result: Some(p), inst, span });
    let zero = Cursor { func, block: c.from, span, unwind: None, cold: false }.inst(Inst::Zero, ty);
    for (b, data) in func.blocks.iter_mut().enumerate() {
        if let Some(at) = data.insts.iter().position(|d| d.result == Some(c.next)) {
            let inst = Inst::Op(c.op, vec![distance, c.step]);
            data.insts.insert(at, InstData { result: Some(next_distance), inst, span });
        }
        let pass = |t: &mut Target| {
            if t.block == c.header {
                t.args[c.place] = if Block::new(b) == c.from { zero } else { next_distance };
            }
        };
        match &mut data.term {
            Some(Term::Jump(t)) => pass(t),
            Some(Term::Branch { then, els, .. }) => {
                pass(then);
                pass(els);
            }
            _ => {}
        }
    }
    distance
}
