//! Guards on the induction variable, and the loop bounds that follow.

use crate::analysis::counted::Counted;
use crate::analysis::facts::Facts;
use crate::edit::Cursor;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::func::Inst;
use lh_ir::{Block, Function, Ty, Value};

const MAX_ADDENDS: usize = 8;

pub(super) enum Guard {
    Invariant(Value),
    /// Comparison of the induction variable plus addends with an invariant number.
    Compare {
        op: Cmp,
        added: Vec<Value>,
        with: Value,
    },
}

/// The condition of the branch target that is taken if `cond` is `holds`.
pub(super) fn guard(
    facts: &Facts<'_>,
    at: usize,
    counted: &Counted,
    (branch, cond, holds): (Block, Value, bool),
    moved: &mut Vec<Value>,
) -> Option<Guard> {
    if holds && can_hoist(facts, at, cond, moved) {
        return Some(Guard::Invariant(cond));
    }
    let Inst::Op(op, args) = facts.defs.inst(facts.func, cond)? else { return None };
    let [a, b] = args[..] else { return None };
    let cmp = op.comparison()?.given(holds);
    if cmp == Cmp::Ne {
        return None;
    }
    let (op, value, with) = match (can_hoist(facts, at, a, moved), can_hoist(facts, at, b, moved)) {
        (false, true) => (cmp, a, b),
        (true, false) => (cmp.mirrored(), b, a),
        _ => return None,
    };
    let mut added = Vec::new();
    let is_int = facts.func.ty(value).strong() == Ty::i64() && facts.func.ty(with).strong() == Ty::i64();
    let fits = is_int && addends(facts, at, counted.index, value, &mut added, moved)?;
    let small = |v: &Value| facts.is_small(at, branch, *v);
    (fits && small(&original_limit(facts, counted.limit)) && added.iter().all(small)).then_some(Guard::Compare {
        op,
        added,
        with,
    })
}

/// The limit before previous tightenings, which is not smaller.
fn original_limit(facts: &Facts<'_>, mut limit: Value) -> Value {
    while let Some(Inst::Op(op, args)) = facts.defs.inst(facts.func, limit)
        && op.is(Algebra::Select)
    {
        let is_least = match facts.defs.inst(facts.func, args[0]) {
            Some(Inst::Op(less, sides)) => less.is(Algebra::Cmp(Cmp::Lt)) && sides[..] == args[1..],
            _ => false,
        };
        limit = match facts.defs.int(facts.func, args[2]) {
            _ if is_least => args[2],
            Some(0) => args[1],
            _ => return limit,
        };
    }
    limit
}

/// Whether a value can be computed before the loop; `moved` gets the instructions to hoist for that.
fn can_hoist(facts: &Facts<'_>, at: usize, v: Value, moved: &mut Vec<Value>) -> bool {
    if moved.contains(&v) || facts.is_invariant(at, v) {
        return true;
    }
    let Some(inst) = facts.defs.inst(facts.func, v) else { return false };
    let movable = match inst {
        Inst::Op(op, _) => !op.may_trap(),
        Inst::Const(_) | Inst::ArrayShape(..) | Inst::Cast(_) => true,
        _ => false,
    };
    let known = moved.len();
    let mut all = movable;
    inst.for_each_operand(|o| all = all && can_hoist(facts, at, o, moved));
    if all {
        moved.push(v);
    } else {
        moved.truncate(known);
    }
    all
}

/// Splits a sum into the induction variable and invariant addends; whether it contains the variable, exactly once.
fn addends(
    facts: &Facts<'_>,
    at: usize,
    index: Value,
    v: Value,
    out: &mut Vec<Value>,
    moved: &mut Vec<Value>,
) -> Option<bool> {
    if v == index {
        return Some(true);
    }
    if can_hoist(facts, at, v, moved) {
        out.push(v);
        return Some(false);
    }
    let Inst::Op(op, args) = facts.defs.inst(facts.func, v).filter(|_| out.len() < MAX_ADDENDS)? else { return None };
    if !op.is(Algebra::Add) {
        return None;
    }
    let (a, b) = (addends(facts, at, index, args[0], out, moved)?, addends(facts, at, index, args[1], out, moved)?);
    (a != b).then_some(true)
}

pub(super) fn hoist(func: &mut Function, moved: &[Value], before: Block) {
    for v in moved {
        for b in 0..func.blocks.len() {
            if let Some(at) = func.blocks[b].insts.iter().position(|d| d.result == Some(*v)) {
                let d = func.blocks[b].insts.remove(at);
                func.blocks[before.index()].insts.push(d);
                break;
            }
        }
    }
}

impl Guard {
    /// The bound that `op` implies for the induction variable. The compared sum is non-negative, so every negative
    /// number acts like the nearest one, 0 or -1, from which the addends can be subtracted without overflow.
    pub(super) fn bound(c: &mut Cursor<'_>, op: Cmp, added: &[Value], with: Value) -> Value {
        let nearly = c.int(if matches!(op, Cmp::Lt | Cmp::Ge) { 0 } else { -1 });
        let negative = c.lt(with, nearly);
        let bound = c.select(negative, nearly, with);
        added.iter().fold(bound, |bound, v| c.sub(bound, *v))
    }

    /// New bounds of a loop from 0 to `limit` for the threads that pass the guard: the start if it changes, and the
    /// limit.
    pub(super) fn new_bounds(&self, c: &mut Cursor<'_>, limit: Value) -> (Option<Value>, Value) {
        let zero = c.int(0);
        let (op, added, with) = match self {
            Guard::Invariant(cond) => return (None, c.select(*cond, limit, zero)),
            Guard::Compare { op, added, with } => (*op, added, *with),
        };
        let bound = Guard::bound(c, op, added, with);
        // The smaller of `limit` and `room + 1`, without overflow.
        let next = |c: &mut Cursor<'_>| {
            let one = c.int(1);
            let last = c.sub(limit, one);
            let less = c.lt(bound, last);
            let x = c.select(less, bound, last);
            c.add(x, one)
        };
        let from = match op {
            Cmp::Lt | Cmp::Le => None,
            Cmp::Gt => Some(next(c)),
            Cmp::Ge | Cmp::Eq | Cmp::Ne => Some(bound),
        };
        let from = from.map(|from| {
            let below = c.lt(from, zero);
            c.select(below, zero, from)
        });
        let to = match op {
            Cmp::Lt => bound,
            Cmp::Le | Cmp::Eq => next(c),
            Cmp::Gt | Cmp::Ge | Cmp::Ne => return (from, limit),
        };
        // A `select` whose third operand is the old limit, as `inspect_strips` makes it: analyses look for the limit
        // there.
        let less = c.lt(to, limit);
        (from, c.select(less, to, limit))
    }
}
