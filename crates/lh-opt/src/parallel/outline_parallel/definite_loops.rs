//! Variables that a loop in a parallel one assigns in each of its iterations: after it they do not depend on their
//! values before it, if it has an iteration.
//!
//! ```text
//! for i in prange(n):                         block4(v5: int, v6: float64):       ; v6 is used after the loop only
//!     for j in range(1):                          branch (lt v5, 1), block5(), block6()
//!         s = 0.0                          =>
//!     o[i] = s                                jump block4(0, s)    becomes    jump block4(0, 0.0)
//! ```
//!
//! Of a number of iterations that is the same in all of the parallel loop, one at least or none, the variable enters
//! with its value before the parallel loop: if there are none, nothing else assigns it.

use super::plan::marked;
use crate::analysis::counted::{Counted, Defs, counted, target_of};
use lh_ir::cfg::{Cfg, DomTree, Edge, Loop, Loops, targets};
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::types::TyKind;
use lh_ir::{Block, Function, Value};

pub(super) fn run(func: &mut Function) {
    hoist_constants(func);
    while let Some((edge, place, start)) = next(func) {
        let start = match start {
            Start::Before(v) => v,
            Start::Like(latest) => {
                let ty = func.ty(latest);
                let constant =
                    Defs::new(func).inst(func, latest).filter(|inst| matches!(inst, Inst::Const(_))).cloned();
                let start = func.new_value(ty);
                let data = &mut func.blocks[edge.from.index()];
                let inst = constant.unwrap_or(Inst::Zero);
                data.insts.push(InstData { result: Some(start), inst, span: data.term_span });
                start
            }
        };
        let data = &mut func.blocks[edge.from.index()];
        if let Some((term, number)) = data.term.as_mut().zip(edge.target) {
            term.targets_mut()[number as usize].args[place] = start;
        }
    }
}

/// Moves constants out of the headers of loops in parallel ones, whose limits they may be.
fn hoist_constants(func: &mut Function) {
    let cfg = Cfg::new(func);
    let asked = marked(func);
    // Outer loops come first: theirs are the constants that inner ones repeat.
    for l in Loops::new(func, &cfg, &DomTree::new(&cfg)).loops.iter().rev() {
        let mut ways = cfg.preds(l.header).iter().filter(|e| !l.blocks.contains(&e.from));
        let (Some(way), None) = (ways.next(), ways.next()) else { continue };
        let data = &mut func.blocks[l.header.index()];
        if asked.contains(&l.header) && data.parallel.is_none() {
            let is_constant = |d: &InstData| matches!(d.inst, Inst::Const(_));
            let (constants, rest) = std::mem::take(&mut data.insts).into_iter().partition(is_constant);
            data.insts = rest;
            let constants: Vec<InstData> = constants;
            func.blocks[way.from.index()].insts.extend(constants);
        }
    }
}

/// The value with which a variable enters a loop that assigns it.
enum Start {
    /// The constant that it has at the end of an iteration, or a zero of its type.
    Like(Value),
    /// That before the parallel loop.
    Before(Value),
}

/// The entry edge of a loop in a parallel one, the position of such a variable that still enters with another value,
/// and that with which it shall.
fn next(func: &Function) -> Option<(Edge, usize, Start)> {
    let (cfg, defs) = (Cfg::new(func), Defs::new(func));
    let dom = DomTree::new(&cfg);
    let asked = marked(func);
    Loops::new(func, &cfg, &dom).loops.iter().find_map(|l| {
        let is_inner = asked.contains(&l.header) && func.blocks[l.header.index()].parallel.is_none();
        let c = counted(func, &cfg, &defs, l).filter(|_| is_inner)?;
        let mut ways = cfg.preds(l.header).iter().filter(|e| !l.blocks.contains(&e.from));
        let (Some(edge), None) = (ways.next().filter(|e| e.target.is_some()), ways.next()) else { return None };
        let before = &target_of(func, *edge).args;
        let Some((first, limit)) = defs.int(func, before[c.place]).zip(defs.int(func, c.limit)) else {
            let steady = Steady { func, cfg: &cfg, defs: &defs, asked: &asked };
            if !steady.is_same(before[c.place], 0) || !steady.is_same(c.limit, 0) {
                return None;
            }
            let body = body_of(func, l, &c)?;
            return (0..before.len()).find_map(|place| {
                latest(func, &cfg, l, &c, place)?;
                let start = steady.before(before[place], &|v| defs.block(v).is_some_and(|b| dom.dominates(body, b)))?;
                let is_there = start != before[place] && defs.reaches(&dom, start, edge.from);
                is_there.then_some((*edge, place, Start::Before(start)))
            });
        };
        if (c.step > 0 && first >= limit) || (c.step < 0 && first <= limit) {
            return None;
        }
        (0..before.len()).find_map(|place| {
            let is_set = matches!(defs.inst(func, before[place]), Some(Inst::Zero | Inst::Const(_)));
            let latest = latest(func, &cfg, l, &c, place)?;
            (!is_set).then_some((*edge, place, Start::Like(latest)))
        })
    })
}

/// The block in which an iteration begins.
fn body_of(func: &Function, l: &Loop, c: &Counted) -> Option<Block> {
    match &func.blocks[l.header.index()].term {
        Some(Term::Branch { then, els, .. }) => Some(if c.body_first { then.block } else { els.block }),
        _ => None,
    }
}

/// Values in parallel loops, of whose blocks there is a list.
struct Steady<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: &'a Defs,
    asked: &'a [Block],
}

impl Steady<'_> {
    fn is_outside(&self, v: Value) -> bool {
        self.defs.block(v).is_some_and(|b| !self.asked.contains(&b))
    }

    /// Whether a number is the same in all iterations of a parallel loop.
    fn is_same(&self, v: Value, depth: u32) -> bool {
        const MAX_DEPTH: u32 = 8;
        self.is_outside(v)
            || depth < MAX_DEPTH
                && match self.defs.inst(self.func, v) {
                    Some(Inst::Const(_)) => true,
                    Some(Inst::Op(_, args)) => args.iter().all(|a| self.is_same(*a, depth + 1)),
                    Some(Inst::Cast(a) | Inst::Field(a, _) | Inst::ArrayShape(a, _)) => self.is_same(*a, depth + 1),
                    _ => false,
                }
    }

    /// The value of a variable before the parallel loop, if in it only such values are assigned to it that are known to
    /// come from iterations of the inner loop.
    fn before(&self, v: Value, is_assigned: &dyn Fn(Value) -> bool) -> Option<Value> {
        let (mut seen, mut work, mut found) = (vec![v], vec![v], None);
        while let Some(v) = work.pop() {
            if self.is_outside(v) {
                if *found.get_or_insert(v) != v {
                    return None;
                }
                continue;
            }
            if is_assigned(v) {
                continue;
            }
            let b = self.defs.block(v)?;
            let place = self.func.blocks[b.index()].params.iter().position(|p| *p == v)?;
            for e in self.cfg.preds(b) {
                let from = target_of(self.func, *e).args[place];
                if !seen.contains(&from) {
                    seen.push(from);
                    work.push(from);
                }
            }
        }
        found
    }
}

/// The value of a variable at the end of an iteration, if each assigns it and none reads what it was.
fn latest(func: &Function, cfg: &Cfg, l: &Loop, c: &Counted, place: usize) -> Option<Value> {
    let p = func.blocks[l.header.index()].params[place];
    let ty = func.ty(p);
    // An empty array, or no value at all, refers to nothing.
    let is_safe = !ty.is_counted() || ty.as_array().is_some() || matches!(ty.kind(), TyKind::MaybeUnbound(_));
    if place == c.place || !is_safe || is_read(func, l, p) {
        return None;
    }
    let ends = cfg.preds(l.header).iter().filter(|e| l.blocks.contains(&e.from));
    ends.map(|e| target_of(func, *e).args[place]).next_back()
}

fn is_read(func: &Function, l: &Loop, p: Value) -> bool {
    let mut found = false;
    for b in &l.blocks {
        let data = &func.blocks[b.index()];
        data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| found |= v == p));
        found |= matches!(&data.term, Some(Term::Branch { cond: v, .. } | Term::Return(v)) if *v == p);
        found |= matches!(&data.term, Some(Term::Raise { args, .. }) if args.contains(&p));
        // Only the exit of the header, after the last iteration, may pass it on.
        let leaves = |to: Block| *b == l.header && !l.blocks.contains(&to);
        found |= targets(func, *b).any(|(number, t)| t.args.contains(&p) && !(number.is_some() && leaves(t.block)));
    }
    found
}
