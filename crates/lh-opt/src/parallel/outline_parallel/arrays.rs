//! Array reductions: each block of iterations updates a private copy of the array; copies are combined in block order.
//!
//! If the array is large and the iterations are few, copies would cost more than the loop. Integers are then updated in
//! place by atomic operations, whose order does not change the result; for floats, where it does, there are fewer
//! blocks. A single block updates the array itself.

use super::plan::Plan;
use crate::edit::overlap::is_spread;
use crate::edit::{Cursor, row, to};
use crate::parallel::carried::Reduce;
use crate::parallel::races::ArrayReduce;
use lh_ir::algebra::Algebra;
use lh_ir::func::{Inst, MapExpr, Term};
use lh_ir::op::Op;
use lh_ir::runtime::{Rmw, RuntimeFn};
use lh_ir::types::TyKind;
use lh_ir::{Const, Function, Layout, Ty, Value};
use lh_ops::families::atomic;
use lh_ops::runtime as rt;

/// Bound on the number of blocks, and so on copies.
const BLOCKS: i64 = 16;
/// Copies pay up to this many elements per iteration.
const WORTH: i64 = 4;
/// Instead of an address of copies: the only block updates the array itself.
const ALONE: i64 = 0;
/// Instead of an address of copies: blocks update the array by atomic operations.
const ATOMIC: i64 = 1;

/// Memory for private copies.
pub(super) struct PrivateCopies {
    /// Address of the first copy, or [`ALONE`] or [`ATOMIC`].
    pub(super) base: Value,
    /// The same memory as a value whose use after the loop keeps it alive.
    pub(super) data: Value,
    /// Number of copies, 0 for [`ALONE`] and [`ATOMIC`].
    count: Value,
    /// Size of all copies.
    pub(super) bytes: Value,
}

/// A larger grain, so that there are few blocks.
pub(super) fn coarse(c: &mut Cursor<'_>, plan: &Plan, n: Value, grain: Value) -> Value {
    let blocks = c.int(BLOCKS);
    let mut grain = at_least(c, grain, n, blocks);
    for a in &plan.arrays {
        if a.is_whole || atomics(c.func, plan, a).is_some() {
            continue;
        }
        let (worth, one) = (c.int(WORTH), c.int(1));
        let all = c.mul(n, worth);
        let (_, elements) = size(c, a.array);
        let none = c.lt(elements, one);
        let elements = c.select(none, one, elements);
        let few = c.op(row("sdiv"), &[all, elements], Ty::int());
        let none = c.lt(few, one);
        let few = c.select(none, one, few);
        grain = at_least(c, grain, n, few);
    }
    grain
}

/// The grain, enlarged until there are at most `blocks` blocks.
fn at_least(c: &mut Cursor<'_>, grain: Value, n: Value, blocks: Value) -> Value {
    let fair = c.op(row("sdiv"), &[n, blocks], Ty::int());
    let one = c.int(1);
    let fair = c.add(fair, one);
    let less = c.lt(grain, fair);
    c.select(less, fair, grain)
}

/// Allocates the copies of an array for all blocks.
pub(super) fn allocate(c: &mut Cursor<'_>, plan: &Plan, what: &ArrayReduce, n: Value, blocks: Value) -> PrivateCopies {
    let (bytes, elements) = size(c, what.array);
    let zero = c.int(0);
    // The race checker needs copies even for a single block, to tell them from the array.
    let more = c.int((!plan.checked).into());
    let mut copied = c.lt(more, blocks);
    if plan.checked
        && let Some(is_spread) = is_spread(c, what.array)
    {
        copied = c.and(copied, is_spread);
    }
    let mut instead = c.int(ALONE);
    if atomics(c.func, plan, what).is_some() {
        let worth = c.int(WORTH);
        let (most, all) = (c.mul(n, worth), c.mul(elements, blocks));
        let small = c.le(all, most);
        let atomic = c.int(ATOMIC);
        instead = c.select(copied, atomic, instead);
        copied = c.and(copied, small);
    }
    let count = c.select(copied, blocks, zero);
    let bytes = c.mul(bytes, count);
    let pair = c.inst(Inst::Runtime(&rt::lh_alloc, vec![bytes]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]));
    let data = c.inst(Inst::Field(pair, 1), Ty::ptr());
    let address = c.inst(Inst::Runtime(&rt::lh_ptr_addr, vec![data]), Ty::int());
    let address = c.select(copied, address, instead);
    let base = c.inst(Inst::Runtime(&rt::lh_addr_ptr, vec![address]), Ty::ptr());
    PrivateCopies { base, data, count, bytes }
}

/// The atomic operation that updates elements of the array, if there is one and the order of updates does not matter.
pub(super) fn atomics(func: &Function, plan: &Plan, what: &ArrayReduce) -> Option<&'static RuntimeFn> {
    let (dtype, ..) = func.ty(what.array).as_array()?;
    let TyKind::Int { signed, .. } = dtype.kind() else { return None };
    let (max, min) = if *signed { (Rmw::Max, Rmw::Min) } else { (Rmw::UMax, Rmw::UMin) };
    let rmw = match what.how {
        Reduce::Add => Rmw::Add,
        Reduce::And => Rmw::And,
        Reduce::Or => Rmw::Or,
        Reduce::Xor => Rmw::Xor,
        Reduce::Max => max,
        Reduce::Min => min,
        Reduce::Row(Op { algebra: Algebra::Max(_), .. }) => max,
        Reduce::Row(Op { algebra: Algebra::Min(_), .. }) => min,
        Reduce::Mul | Reduce::Row(_) | Reduce::Product(..) | Reduce::Call(..) | Reduce::Private => return None,
    };
    let fits = !plan.checked && !what.updates.is_empty();
    atomic(rmw, dtype.flatten()[0]).filter(|_| fits)
}

/// In a body: the block's copy or the array itself, and whether updates must be atomic.
pub(super) fn enter(c: &mut Cursor<'_>, what: &ArrayReduce, array: Value, base: Value, block: Value) -> (Value, Value) {
    let address = c.inst(Inst::Runtime(&rt::lh_ptr_addr, vec![base]), Ty::int());
    let atomic = c.int(ATOMIC);
    let itself = c.le(address, atomic);
    let atomic = c.eq(address, atomic);
    let (join, params) = c.new_block(&[c.func.ty(array)]);
    let copied = c.branch(itself);
    c.end(Term::Jump(to(join, &[array])), copied);
    let copy = begin(c, what, array, base, block);
    c.end(Term::Jump(to(join, &[copy])), join);
    (params[0], atomic)
}

/// The block's copy, initialised with the neutral element.
fn begin(c: &mut Cursor<'_>, what: &ArrayReduce, array: Value, base: Value, block: Value) -> Value {
    let whole = copy_of(c, array, base, block);
    let (copy, array) = (real(c, what, whole), real(c, what, array));
    let (dtype, ..) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let number = |x: f64| if dtype.is_float() { Const::Float(x, dtype) } else { Const::Int(x as i128, dtype) };
    match what.how {
        Reduce::Add => fill(c, copy, number(-0.0)),
        Reduce::Xor if dtype.is_bool() => fill(c, copy, Const::Bool(false)),
        Reduce::Xor => fill(c, copy, number(0.0)),
        Reduce::Mul => fill(c, copy, number(1.0)),
        Reduce::Product(..) => fill(c, copy, Const::Complex(1.0, 0.0, dtype)),
        // Idempotent operators can start with the array's values.
        Reduce::And | Reduce::Or | Reduce::Max | Reduce::Min | Reduce::Row(_) | Reduce::Call(..) | Reduce::Private => {
            c.effect(Inst::MapInto(Box::new(MapExpr::Arg(0, dtype)), vec![copy, array]));
        }
    }
    whole
}

/// For sums, a complex array as an array of its real and imaginary parts; any other array unchanged.
fn real(c: &mut Cursor<'_>, what: &ArrayReduce, array: Value) -> Value {
    let (dtype, rank, layout, readonly) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    if !dtype.is_complex() || what.how != Reduce::Add {
        return array;
    }
    let part = dtype.real_part();
    let layout = if layout == Layout::C { Layout::C } else { Layout::A };
    let ty = Ty::array_ro(part, rank + 1, layout, readonly);
    let owner = c.inst(Inst::ArrayOwner(array), Ty::meminfo());
    let data = c.inst(Inst::ArrayData(array), Ty::ptr());
    let (mut shape, mut strides) = (Vec::new(), Vec::new());
    for d in 0..rank as u32 {
        shape.push(c.inst(Inst::ArrayShape(array, d), Ty::int()));
        strides.push(c.inst(Inst::ArrayStride(array, d), Ty::int()));
    }
    shape.push(c.int(2));
    strides.push(c.int(part.itemsize() as i64));
    c.inst(Inst::ArrayMake { owner, data, shape, strides }, ty)
}

fn fill(c: &mut Cursor<'_>, copy: Value, value: Const) {
    c.effect(Inst::MapInto(Box::new(MapExpr::Const(value)), vec![copy]));
}

/// Combines all copies after the loop, in order.
pub(super) fn combine(c: &mut Cursor<'_>, what: &ArrayReduce, copies: &PrivateCopies) {
    let l = c.begin_loop(copies.count);
    let copy = copy_of(c, what.array, copies.data, l.index);
    let (copy, array) = (real(c, what, copy), real(c, what, what.array));
    let (dtype, ..) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let (old, new) = (MapExpr::Arg(0, dtype), MapExpr::Arg(1, dtype));
    let both = |name: &str| MapExpr::Op(row(name), dtype, vec![old.clone(), new.clone()]);
    let better = |name: &str| {
        let c = MapExpr::Op(row(name), Ty::bool(), vec![new.clone(), old.clone()]);
        MapExpr::Op(row("select"), dtype, vec![c, new.clone(), old.clone()])
    };
    let e = match what.how {
        Reduce::Add => both("add"),
        Reduce::Mul => both("mul"),
        Reduce::And => both("and"),
        Reduce::Or => both("or"),
        Reduce::Xor => both("xor"),
        Reduce::Max => better("gt"),
        Reduce::Min => better("lt"),
        Reduce::Row(op) => MapExpr::Op(op, dtype, vec![old.clone(), new.clone()]),
        Reduce::Private => new,
        Reduce::Product(f, ty) | Reduce::Call(f, ty) => {
            let cast = |e: MapExpr, to: Ty| if ty == dtype { e } else { MapExpr::Cast(to, Box::new(e)) };
            cast(MapExpr::Call(f, ty, vec![cast(old, ty), cast(new, ty)]), dtype)
        }
    };
    c.effect(Inst::MapInto(Box::new(e), vec![array, array, copy]));
    c.end_loop(&l);
}

/// Copy number `block` as an array of the same type.
fn copy_of(c: &mut Cursor<'_>, array: Value, base: Value, block: Value) -> Value {
    let ty = c.func.ty(array);
    let (dtype, rank, layout, _) = ty.as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let shape: Vec<Value> = (0..rank).map(|d| c.inst(Inst::ArrayShape(array, d as u32), Ty::int())).collect();
    let mut stride = c.int(dtype.itemsize() as i64);
    let mut strides = vec![stride; rank];
    let order: Vec<usize> = if layout == Layout::F { (0..rank).collect() } else { (0..rank).rev().collect() };
    for d in order {
        strides[d] = stride;
        stride = c.mul(stride, shape[d]);
    }
    let bytes = round_up(c, stride);
    let offset = c.mul(bytes, block);
    let data = c.inst(Inst::PtrAdd(base, offset), Ty::ptr());
    // The caller keeps the memory alive; the owner here only has to be a valid one.
    let owner = c.inst(Inst::ArrayOwner(array), Ty::meminfo());
    c.inst(Inst::ArrayMake { owner, data, shape, strides }, ty)
}

/// Size of a copy in bytes, rounded up to cache lines, and its number of elements.
fn size(c: &mut Cursor<'_>, array: Value) -> (Value, Value) {
    let (dtype, rank, ..) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let mut elements = c.int(1);
    for d in 0..rank {
        let n = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
        elements = c.mul(elements, n);
    }
    let item = c.int(dtype.itemsize() as i64);
    let bytes = c.mul(elements, item);
    (round_up(c, bytes), elements)
}

fn round_up(c: &mut Cursor<'_>, size: Value) -> Value {
    let (most, line) = (c.int(63), c.int(-64));
    let more = c.add(size, most);
    c.op(row("and"), &[more, line], Ty::int())
}

/// Whether blocks can have copies of an array.
pub(super) fn can_copy(func: &Function, array: Value) -> bool {
    func.ty(array).as_array().is_some_and(|(dtype, rank, _, readonly)| rank > 0 && dtype.is_number() && !readonly)
}
