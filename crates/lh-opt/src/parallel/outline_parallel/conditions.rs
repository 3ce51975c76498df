//! The assumptions of a proof, tested before the loop: if one fails, a single block has all iterations, in order.

use super::emit;
use super::plan::Plan;
use crate::edit::overlap::{addresses, is_spread};
use crate::edit::{Cursor, row, to};
use crate::parallel::races::{Need, Table};
use lh_ir::func::{Inst, Race, Term};
use lh_ir::types::TyKind;
use lh_ir::{Const, Span, Ty, Value};
use lh_ops::runtime as rt;

/// Iterations per block; all of them if an assumption fails.
pub(super) fn grain(c: &mut Cursor<'_>, plan: &Plan, n: Value) -> Value {
    let cost = plan.cost.as_ref().map(|cost| cost.emit(c)).unwrap_or_else(|| c.int(0));
    let mut grain = c.inst(Inst::Runtime(&rt::lh_parallel_grain, vec![n, cost]), Ty::int());
    let one = c.int(1);
    let all = c.add(n, one);
    for (need, _) in &plan.needs {
        grain = match need {
            Need::NonNegative(e) => {
                let (zero, v) = (c.int(0), emit(c, e));
                let holds = c.le(zero, v);
                c.select(holds, grain, all)
            }
            Need::Fits(a, b) => {
                let (a, b) = (emit(c, a), emit(c, b));
                let overflows = c.op(row("mul_ovf"), &[a, b], Ty::bool());
                c.select(overflows, all, grain)
            }
            Need::Distinct { .. } | Need::InTurn(..) | Need::Apart(..) => continue,
        };
    }
    let of_tables: Vec<&Need> =
        plan.needs.iter().map(|n| &n.0).filter(|n| matches!(n, Need::Distinct { .. } | Need::InTurn(..))).collect();
    for (is_one, text) in [
        (false, "arrays that the loop has under several names overlap in this call"),
        (true, "elements of an array overlap in this call"),
    ] {
        let is_of = |n: &&(Need, Span)| matches!(n.0, Need::Apart(a, b, _) if (a == b) == is_one);
        let needs: Vec<&(Need, Span)> = plan.needs.iter().filter(is_of).collect();
        let Some((_, first)) = needs.first() else { continue };
        let race = Race { text: text.to_owned(), way: Default::default(), first: *first, second: None };
        grain = tested(c, plan, (n, grain, all), Some(race), &|c| {
            let tests: Vec<Value> = needs.iter().map(|(need, _)| test(c, n, need)).collect();
            conjunction(c, &tests)
        });
    }
    // A test of all iterations only pays where several threads would share them.
    if !of_tables.is_empty() {
        grain = c.inst(Inst::Runtime(&rt::lh_parallel_tested, vec![n, grain, cost]), Ty::int());
        grain = tested(c, plan, (n, grain, all), plan.doubt.clone(), &|c| {
            let tests: Vec<Value> = of_tables.iter().map(|need| test(c, n, need)).collect();
            conjunction(c, &tests)
        });
    }
    grain
}

fn conjunction(c: &mut Cursor<'_>, all: &[Value]) -> Value {
    let first = all[0];
    all[1..].iter().fold(first, |all, v| c.and(all, *v))
}

/// The grain if a test holds, else all iterations, with a warning; there is no test if one block has them anyway.
fn tested(
    c: &mut Cursor<'_>,
    plan: &Plan,
    (n, grain, all): (Value, Value, Value),
    race: Option<Race>,
    test: &dyn Fn(&mut Cursor<'_>) -> Value,
) -> Value {
    let several = c.lt(grain, n);
    let (join, chosen) = c.new_block(&[Ty::int()]);
    let alone = c.branch(several);
    let holds = test(c);
    let fails = c.branch(holds);
    c.end(Term::Jump(to(join, &[grain])), fails);
    c.func.blocks[c.block.index()].cold = true;
    if let Some(race) = race.filter(|_| plan.warns) {
        let (file, what) = (Const::Str(c.func.file.clone()), Const::Str(format!("{}\n{}", race.text, race.way)));
        let [file, what] = [file, what].map(|text| c.inst(Inst::Const(text), Ty::str()));
        let span = c.int(race.first.packed());
        c.effect(Inst::Runtime(&rt::lh_parallel_ordered, vec![file, span, what]));
    }
    c.end(Term::Jump(to(join, &[all])), alone);
    c.end(Term::Jump(to(join, &[grain])), join);
    chosen[0]
}

/// An array before the loop: what names a field of a parameter may be defined elsewhere.
fn before(c: &mut Cursor<'_>, v: Value) -> Value {
    let all = c.func.blocks.iter().flat_map(|b| &b.insts);
    let field = all.into_iter().find(|d| d.result == Some(v)).and_then(|d| match d.inst {
        Inst::Field(whole, i) => Some((whole, i)),
        _ => None,
    });
    let Some((whole, i)) = field else { return v };
    let (whole, ty) = (before(c, whole), c.func.ty(v));
    c.inst(Inst::Field(whole, i), ty)
}

fn test(c: &mut Cursor<'_>, n: Value, need: &Need) -> Value {
    match need {
        Need::Distinct { table, array, dim, counts_back } => {
            let (holds, column) = column(c, table, n);
            let array = before(c, *array);
            let extent = c.inst(Inst::ArrayShape(array, *dim), Ty::int());
            let back = c.int((*counts_back).into());
            let [first, step, bits, offset] = column;
            guarded(c, holds, &|c| {
                let args = vec![first, step, bits, n, offset, extent, back];
                c.inst(Inst::Runtime(&rt::lh_parallel_distinct, args), Ty::bool())
            })
        }
        Need::InTurn(begin, end) => {
            let (begins, first) = column(c, begin, n);
            let (ends, last) = column(c, end, n);
            let holds = c.and(begins, ends);
            guarded(c, holds, &|c| {
                let args = first.iter().chain(&last).copied().chain([n]).collect();
                c.inst(Inst::Runtime(&rt::lh_parallel_in_turn, args), Ty::bool())
            })
        }
        Need::Apart(a, b, _) if a == b => {
            let array = before(c, *a);
            is_spread(c, array).unwrap_or_else(|| lh_ir::bug!("an array that cannot overlap itself"))
        }
        Need::Apart(a, b, may_be_same) => {
            let (a, b) = (before(c, *a), before(c, *b));
            apart(c, a, b, *may_be_same)
        }
        Need::NonNegative(_) | Need::Fits(..) => lh_ir::bug!("a test of numbers"),
    }
}

/// A condition, evaluated only if another one holds.
fn guarded(c: &mut Cursor<'_>, first: Value, then: &dyn Fn(&mut Cursor<'_>) -> Value) -> Value {
    let (join, holds) = c.new_block(&[Ty::bool()]);
    let other = c.branch(first);
    let second = then(c);
    c.end(Term::Jump(to(join, &[second])), other);
    c.end(Term::Jump(to(join, &[first])), join);
    holds[0]
}

/// Whether a table has a number for each of `n` iterations; the address of the first, the distance to the next, the
/// bits of one and what is added to it.
fn column(c: &mut Cursor<'_>, table: &Table, n: Value) -> (Value, [Value; 4]) {
    let Some((dtype, ..)) = c.func.ty(table.array).as_array() else { lh_ir::bug!("a table that is no array") };
    let TyKind::Int { bits, signed, .. } = *dtype.kind() else { lh_ir::bug!("a table without integers") };
    let (zero, one) = (c.int(0), c.int(1));
    let (mut bytes, mut step, mut tests) = (zero, zero, Vec::new());
    let last_iteration = c.sub(n, one);
    for (d, (start, factor)) in table.at.iter().enumerate() {
        let stride = c.inst(Inst::ArrayStride(table.array, d as u32), Ty::int());
        let extent = c.inst(Inst::ArrayShape(table.array, d as u32), Ty::int());
        let (start, factor) = (emit(c, start), c.int(*factor));
        let way = c.mul(last_iteration, factor);
        let last = c.add(start, way);
        for at in [start, last] {
            let (after, before) = (c.le(zero, at), c.lt(at, extent));
            tests.extend([after, before]);
        }
        let (from, each) = (c.mul(start, stride), c.mul(factor, stride));
        (bytes, step) = (c.add(bytes, from), c.add(step, each));
    }
    let holds = conjunction(c, &tests);
    let data = c.inst(Inst::ArrayData(table.array), Ty::ptr());
    let first = c.inst(Inst::PtrAdd(data, bytes), Ty::ptr());
    let bits = c.int(if signed { i64::from(bits) } else { -i64::from(bits) });
    let offset = emit(c, &table.offset);
    (holds, [first, step, bits, offset])
}

/// Whether two arrays have no byte in common; or are the same, if they may be.
fn apart(c: &mut Cursor<'_>, a: Value, b: Value, may_be_same: bool) -> Value {
    let ((low, end), (other, other_end)) = (addresses(c, a), addresses(c, b));
    let (before, after) = (c.le(end, other), c.le(other_end, low));
    let apart = c.or(before, after);
    let (join, holds) = c.new_block(&[Ty::bool()]);
    let near = c.branch(apart);
    c.end(Term::Jump(to(join, &[apart])), near);
    c.func.blocks[c.block.index()].cold = true;
    let far = beside(c, a, b);
    let far = if may_be_same {
        let same = is_same(c, a, b);
        c.or(far, same)
    } else {
        far
    };
    c.end(Term::Jump(to(join, &[far])), join);
    holds[0]
}

fn address(c: &mut Cursor<'_>, array: Value) -> Value {
    let data = c.inst(Inst::ArrayData(array), Ty::ptr());
    c.inst(Inst::Runtime(&rt::lh_ptr_addr, vec![data]), Ty::int())
}

/// Extents and strides of an array.
fn axes(c: &mut Cursor<'_>, array: Value) -> Vec<(Value, Value)> {
    let rank = c.func.ty(array).as_array().map_or(0, |(_, ndim, ..)| ndim);
    let axis = |d| {
        let extent = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
        (extent, c.inst(Inst::ArrayStride(array, d as u32), Ty::int()))
    };
    (0..rank).map(axis).collect()
}

/// Whether items lie in between of those of another array, as columns of a table do.
fn beside(c: &mut Cursor<'_>, a: Value, b: Value) -> Value {
    let distance = {
        let (x, y) = (address(c, a), address(c, b));
        c.sub(y, x)
    };
    let mut every = c.int(0);
    for array in [a, b] {
        for (_, stride) in axes(c, array) {
            every = c.inst(Inst::Runtime(&rt::lh_gcd, vec![every, stride]), Ty::int());
        }
    }
    let size = |c: &mut Cursor<'_>, v: Value| {
        let bytes = c.func.ty(v).as_array().map_or(0, |(dtype, ..)| dtype.itemsize());
        c.int(bytes as i64)
    };
    let (x, y) = (size(c, a), size(c, b));
    c.inst(Inst::Runtime(&rt::lh_parallel_beside, vec![distance, every, x, y]), Ty::bool())
}

fn is_same(c: &mut Cursor<'_>, a: Value, b: Value) -> Value {
    let (x, y) = (address(c, a), address(c, b));
    let mut same = c.eq(x, y);
    for ((n, stride), (m, other)) in axes(c, a).into_iter().zip(axes(c, b)) {
        let (extents, strides) = (c.eq(n, m), c.eq(stride, other));
        let both = c.and(extents, strides);
        same = c.and(same, both);
    }
    same
}
