//! Builds the inspector and the executor.

use super::plan::{Guard, Split};
use crate::analysis::counted::Counted;
use crate::analysis::facts::Users;
use crate::edit::overlap::apart;
use crate::edit::version::{Duplicate, Versions, condition};
use crate::edit::{Cursor, row, to};
use hashbrown::HashMap;
use lh_ir::cfg::{Cfg, DomTree, Loop};
use lh_ir::func::{Inst, Target, Term};
use lh_ir::{Block, Function, Ty, Value};

/// Iterations of a strip: its reads are still in the first-level cache when the executor runs.
const STRIP: i64 = 1024;
/// Shorter loops run as the original.
const MIN_TRIP_COUNT: i64 = 32;
/// Loops with indices beyond this run as the original, so that the limit of a strip cannot overflow.
const MAX_INDEX: i64 = 1 << 45;

/// Splits a loop; answers with the headers of the new loops.
pub(super) fn split(
    func: &mut Function,
    cfg: &Cfg,
    dom: &DomTree,
    users: &Users,
    l: &Loop,
    counted: &Counted,
    plan: &Split,
) -> [Block; 3] {
    let mut versions = Versions::new(func, cfg, dom, users);
    let d = versions.duplicate(l, &[]);
    for g in &plan.guards {
        drop_guard(func, &d, g);
    }
    let span = func.blocks[l.header.index()].term_span;
    let params = func.blocks[d.entrance.index()].params.clone();
    let tys: Vec<Ty> = params.iter().map(|v| func.ty(*v)).collect();
    let mut c = Cursor { func, block: d.entrance, span, unwind: None, cold: false };
    let strip_condition = strip_condition(&mut c, counted, params[counted.place], plan);
    let (strip, carried) = c.new_block(&tys);
    c.end(Term::Branch { cond: strip_condition, then: to(strip, &params), els: to(l.header, &params) }, strip);
    // The strip ends at `limit`.
    let start = carried[counted.place];
    let length = c.int(STRIP);
    let near = c.add(start, length);
    let more = c.lt(near, counted.limit);
    let limit = c.select(more, near, counted.limit);
    let (inspector, raises) = inspect(&mut c, counted, plan, start, limit);
    let header = d.copies.block(l.header);
    c.end(Term::Branch { cond: raises, then: to(l.header, &carried), els: to(header, &carried) }, header);
    end_strip(&mut c, &d, l, counted, limit, more, strip);
    [inspector, header, strip]
}

/// In the copy, a guard's branch becomes a jump that stays in the loop.
fn drop_guard(func: &mut Function, d: &Duplicate, g: &Guard) {
    let data = &mut func.blocks[d.copies.block(g.block).index()];
    let Some(Term::Branch { then, els, .. }) = data.term.take() else { lh_ir::bug!("a guard is a branch") };
    data.term = Some(Term::Jump(if g.raises_if { els } else { then }));
}

/// The condition for strips: enough iterations, reads within their arrays, and no store to an array that the inspector
/// reads.
fn strip_condition(c: &mut Cursor<'_>, counted: &Counted, start: Value, plan: &Split) -> Value {
    let shortest = c.int(MIN_TRIP_COUNT);
    let (low, high) = (c.int(-MAX_INDEX), c.int(MAX_INDEX));
    let n = c.sub(counted.limit, start);
    let mut all = c.le(shortest, n);
    let mut require = |c: &mut Cursor<'_>, v: Value| all = c.and(all, v);
    let from = c.lt(low, start);
    require(c, from);
    let until = c.lt(counted.limit, high);
    require(c, until);
    if let Some(inside) = condition(c, &plan.conditions, &plan.leaves) {
        require(c, inside);
    }
    apart(c, &plan.disjoint, all)
}

/// Builds the inspector: a loop that evaluates the guards for iterations from `start` to `limit`. Answers with its
/// header and whether some guard holds; the cursor is behind the loop.
fn inspect(c: &mut Cursor<'_>, counted: &Counted, plan: &Split, start: Value, limit: Value) -> (Block, Value) {
    let zero = c.int(0);
    let one = c.int(1);
    let (header, params) = c.new_block(&[Ty::int(), Ty::int()]);
    let (body, _) = c.new_block(&[]);
    let (behind, _) = c.new_block(&[]);
    c.end(Term::Jump(to(header, &[start, zero])), header);
    let goes_on = c.lt(params[0], limit);
    c.end(Term::Branch { cond: goes_on, then: to(body, &[]), els: to(behind, &[]) }, body);
    let mut names: HashMap<Value, Value> = HashMap::from([(counted.index, params[0])]);
    for a in &plan.slice {
        let d = c.func.blocks[a.0.index()].insts[a.1].clone();
        let mut inst = d.inst;
        inst.for_each_operand_mut(&mut |v| *v = names.get(v).copied().unwrap_or(*v));
        let old = d.result.expect("an operand");
        let ty = c.func.ty(old);
        names.insert(old, c.inst(inst, ty));
    }
    let name = |v: Value| names.get(&v).copied().unwrap_or(v);
    let mut found = params[1];
    for g in &plan.guards {
        let mut raises = negate_unless(c, name(g.cond), g.raises_if);
        for (v, wanted) in &g.path {
            let way = negate_unless(c, name(*v), *wanted);
            raises = c.and(raises, way);
        }
        let raises = c.inst(Inst::Cast(raises), Ty::int());
        found = c.or_int(found, raises);
    }
    let next = c.add(params[0], one);
    c.end(Term::Jump(to(header, &[next, found])), behind);
    let none = c.eq(params[1], zero);
    (header, negate_unless(c, none, false))
}

/// A truth value, negated unless `wanted`.
fn negate_unless(c: &mut Cursor<'_>, v: Value, wanted: bool) -> Value {
    if wanted { v } else { c.op(row("not"), &[v], Ty::bool()) }
}

/// Ends the executor at the strip's limit, and enters the next strip if there are more iterations.
fn end_strip(c: &mut Cursor<'_>, d: &Duplicate, l: &Loop, counted: &Counted, limit: Value, more: Value, strip: Block) {
    let header = d.copies.block(l.header);
    let cond = c.lt(d.copies.value(counted.index), limit);
    let (check, _) = c.new_block(&[]);
    let data = &mut c.func.blocks[header.index()];
    let params = data.params.clone();
    let Some(Term::Branch { cond: old, then, els }) = &mut data.term else {
        lh_ir::bug!("a counted loop begins with a branch")
    };
    *old = cond;
    // The new condition is true for the body, so it must be the first target.
    if !counted.body_first {
        std::mem::swap(then, els);
    }
    let exit: Target = std::mem::replace(els, to(check, &[]));
    c.block = check;
    c.end(Term::Branch { cond: more, then: to(strip, &params), els: exit }, check);
}
