//! Partial results of blocks in memory, and their combination.
//!
//! There is one record for each block, in block order; before the first are the values set by the last iteration.
//! Records are combined in order, so that the result does not depend on which thread ran which block.

use super::plan::Plan;
use crate::edit::{Cursor, row, to};
use crate::parallel::carried::{Carried, Reduce};
use lh_ir::func::{Inst, Term};
use lh_ir::{Const, Function, Ty, Value};

/// The layout of results in memory.
pub(super) struct Partials {
    /// Offset of each header parameter, in the record or among the values of the last iteration; `None` for the index.
    offsets: Vec<Option<i64>>,
    /// Size of a record.
    pub(super) record: i64,
    /// Size of the values of the last iteration.
    pub(super) last: i64,
}

impl Partials {
    /// Lays out the results of a loop.
    pub(super) fn new(func: &Function, plan: &Plan) -> Partials {
        let (mut record, mut last) = (0, 0);
        let mut offsets = Vec::new();
        for (p, kind) in func.blocks[plan.region.header.index()].params.iter().zip(&plan.carried) {
            let size = func.ty(*p).mem_layout().1.next_multiple_of(8) as i64;
            let at = match kind {
                Carried::Index => {
                    offsets.push(None);
                    continue;
                }
                Carried::Reduced(_) | Carried::Conditional { .. } => &mut record,
                Carried::Last => &mut last,
            };
            offsets.push(Some(*at));
            *at += size;
        }
        // Records of different threads must not share cache lines.
        Partials { offsets, record: (record as usize).next_multiple_of(64) as i64, last }
    }

    /// Stores the results at the end of a body.
    #[expect(clippy::too_many_arguments, reason = "values of the body, each used once")]
    pub(super) fn store(
        &self,
        c: &mut Cursor<'_>,
        plan: &Plan,
        carried: &[Value],
        base: Value,
        block: Value,
        high: Value,
        n: Value,
    ) {
        let size = c.int(self.record);
        let offset = c.mul(block, size);
        let at = c.inst(Inst::PtrAdd(base, offset), Ty::ptr());
        for ((p, kind), offset) in carried.iter().zip(&plan.carried).zip(&self.offsets) {
            if let (true, Some(offset)) = (kind.combines_after(), offset) {
                let offset = c.int(*offset);
                let place = c.inst(Inst::PtrAdd(at, offset), Ty::ptr());
                c.effect(Inst::Store(place, *p));
            }
        }
        if self.last == 0 {
            return;
        }
        // Values of the last iteration are stored before the records.
        let is_last = c.eq(high, n);
        let other = c.branch(is_last);
        for ((p, kind), offset) in carried.iter().zip(&plan.carried).zip(&self.offsets) {
            if let (Carried::Last, Some(offset)) = (kind, offset) {
                let offset = c.int(*offset - self.last);
                let place = c.inst(Inst::PtrAdd(base, offset), Ty::ptr());
                c.effect(Inst::Store(place, *p));
            }
        }
        c.end(Term::Jump(to(other, &[])), other);
    }

    /// Combines the results after the loop; answers with the final values of the header parameters.
    pub(super) fn combine(
        &self,
        c: &mut Cursor<'_>,
        plan: &Plan,
        initial: &[Value],
        base: Value,
        blocks: Value,
        n: Value,
    ) -> Vec<Value> {
        let mut out = initial.to_vec();
        let reduced: Vec<(usize, Carried)> =
            plan.carried.iter().copied().enumerate().filter(|(_, k)| k.combines_after()).collect();
        if !reduced.is_empty() {
            let zero = c.int(0);
            let one = c.int(1);
            let tys: Vec<Ty> = reduced.iter().map(|(i, _)| c.func.ty(initial[*i])).collect();
            let mut params = vec![Ty::int()];
            params.extend(&tys);
            let (header, now) = c.new_block(&params);
            let (body, _) = c.new_block(&[]);
            let (exit, _) = c.new_block(&[]);
            let mut start = vec![zero];
            start.extend(reduced.iter().map(|(i, _)| initial[*i]));
            c.end(Term::Jump(to(header, &start)), header);
            let more = c.lt(now[0], blocks);
            c.end(Term::Branch { cond: more, then: to(body, &[]), els: to(exit, &[]) }, body);
            let size = c.int(self.record);
            let offset = c.mul(now[0], size);
            let at = c.inst(Inst::PtrAdd(base, offset), Ty::ptr());
            let mut next = vec![c.add(now[0], one)];
            let mut parts = Vec::new();
            for (k, (i, _)) in reduced.iter().enumerate() {
                let offset = c.int(self.offsets[*i].unwrap_or(0));
                let place = c.inst(Inst::PtrAdd(at, offset), Ty::ptr());
                parts.push(c.inst(Inst::Load(place), tys[k]));
                out[*i] = now[k + 1];
            }
            for (k, (_, kind)) in reduced.iter().enumerate() {
                let (old, part) = (now[k + 1], parts[k]);
                let number = |place: usize| reduced.iter().position(|(i, _)| *i == place).unwrap_or_default();
                next.push(match *kind {
                    Carried::Reduced(how) => apply(c, how, old, part, tys[k]),
                    Carried::Conditional { flag, best } => {
                        let better = best.map(|(b, by)| c.op(by, &[parts[number(b)], now[number(b) + 1]], Ty::bool()));
                        let set = flag.map(|f| parts[number(f)]);
                        match (better, set) {
                            (Some(x), Some(y)) => Some(c.and(x, y)),
                            (x, y) => x.or(y),
                        }
                        .map_or(old, |take| c.choose(take, part, old))
                    }
                    Carried::Index | Carried::Last => old,
                });
            }
            c.end(Term::Jump(to(header, &next)), exit);
        }
        if self.last > 0 {
            self.load_last(c, plan, initial, base, n, &mut out);
        }
        out
    }

    fn load_last(&self, c: &mut Cursor<'_>, plan: &Plan, initial: &[Value], base: Value, n: Value, out: &mut [Value]) {
        let places: Vec<usize> =
            (0..plan.carried.len()).filter(|i| matches!(plan.carried[*i], Carried::Last)).collect();
        let tys: Vec<Ty> = places.iter().map(|i| c.func.ty(initial[*i])).collect();
        let zero = c.int(0);
        let any = c.lt(zero, n);
        let none = c.branch(any);
        let mut loaded = Vec::new();
        for (i, ty) in places.iter().zip(&tys) {
            let offset = c.int(self.offsets[*i].unwrap_or(0) - self.last);
            let place = c.inst(Inst::PtrAdd(base, offset), Ty::ptr());
            loaded.push(c.inst(Inst::Load(place), *ty));
        }
        let (join, finals) = c.new_block(&tys);
        c.end(Term::Jump(to(join, &loaded)), none);
        let before: Vec<Value> = places.iter().map(|i| initial[*i]).collect();
        c.end(Term::Jump(to(join, &before)), join);
        for (i, v) in places.iter().zip(finals) {
            out[*i] = v;
        }
    }
}

/// Combines `a` and `b`.
fn apply(c: &mut Cursor<'_>, how: Reduce, a: Value, b: Value, ty: Ty) -> Value {
    let choose = |c: &mut Cursor<'_>, name: &str| {
        let better = c.op(row(name), &[b, a], Ty::bool());
        c.op(row("select"), &[better, b, a], ty)
    };
    match how {
        Reduce::Add => c.op(row("add"), &[a, b], ty),
        Reduce::Mul => c.op(row("mul"), &[a, b], ty),
        Reduce::And => c.op(row("and"), &[a, b], ty),
        Reduce::Or => c.op(row("or"), &[a, b], ty),
        Reduce::Xor => c.op(row("xor"), &[a, b], ty),
        Reduce::Max => choose(c, "gt"),
        Reduce::Min => choose(c, "lt"),
        Reduce::Row(op) => c.op(op, &[a, b], ty),
        Reduce::Private => b,
        Reduce::Product(f, _) | Reduce::Call(f, _) => c.inst(Inst::Call(f, vec![a, b]), ty),
    }
}

/// The neutral element of a reduction; `None` if blocks start with the initial value.
pub(super) fn identity(c: &mut Cursor<'_>, kind: Carried, ty: Ty) -> Option<Value> {
    let Carried::Reduced(how) = kind else { return None };
    let number = |x: f64| if ty.is_float() { Const::Float(x, ty) } else { Const::Int(x as i128, ty) };
    let constant = match how {
        Reduce::Add => number(-0.0),
        Reduce::Mul => number(1.0),
        Reduce::Xor if ty.is_bool() => Const::Bool(false),
        Reduce::Xor => number(0.0),
        Reduce::Product(..) => Const::Complex(1.0, 0.0, ty),
        Reduce::And | Reduce::Or | Reduce::Max | Reduce::Min | Reduce::Row(_) | Reduce::Call(..) | Reduce::Private => {
            return None;
        }
    };
    Some(c.inst(Inst::Const(constant), ty))
}
