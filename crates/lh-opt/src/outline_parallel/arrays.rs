//! Arrays that all iterations update: each block of iterations works on one of its own.

use super::carried::Reduce;
use crate::edit::{Cursor, row, runtime};
use crate::races::ArrayReduce;
use lh_ir::func::{Inst, MapExpr};
use lh_ir::{Const, Function, Layout, Ty, Value};

/// The most blocks of a loop that updates arrays: there is a copy for each.
const BLOCKS: i64 = 16;

/// Iterations of a block, so that there are few blocks.
pub(super) fn coarse(c: &mut Cursor<'_>, n: Value, grain: Value) -> Value {
    let blocks = c.int(BLOCKS);
    let fair = c.op(row("sdiv"), &[n, blocks], Ty::int());
    let one = c.int(1);
    let fair = c.add(fair, one);
    let less = c.lt(grain, fair);
    c.select(less, fair, grain)
}

/// Memory for all blocks' copies of an array: the address of the first.
pub(super) fn allocate(c: &mut Cursor<'_>, array: Value, blocks: Value) -> Value {
    let bytes = bytes(c, array);
    let all = c.mul(bytes, blocks);
    let pair = c.inst(Inst::Runtime(runtime("lh_alloc"), vec![all]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]));
    c.inst(Inst::Field(pair, 1), Ty::ptr())
}

/// Says that the copies belong to blocks, not to iterations.
pub(super) fn own(c: &mut Cursor<'_>, array: Value, base: Value, blocks: Value) {
    let bytes = bytes(c, array);
    let all = c.mul(bytes, blocks);
    c.effect(Inst::Runtime(runtime("lh_race_own"), vec![base, all]));
}

/// In a body: the block's copy, filled with what changes nothing.
pub(super) fn begin(c: &mut Cursor<'_>, what: &ArrayReduce, array: Value, base: Value, block: Value) -> Value {
    let copy = copy_of(c, array, base, block);
    let (dtype, ..) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let number = |x: f64| if dtype.is_float() { Const::Float(x, dtype) } else { Const::Int(x as i128, dtype) };
    match what.how {
        Reduce::Add => fill(c, copy, number(-0.0)),
        Reduce::Xor => fill(c, copy, number(0.0)),
        Reduce::Mul => fill(c, copy, number(1.0)),
        // Seeing a value twice does not matter.
        Reduce::And | Reduce::Or | Reduce::Max | Reduce::Min | Reduce::Row(_) => {
            c.effect(Inst::MapInto(Box::new(MapExpr::Arg(0, dtype)), vec![copy, array]));
        }
    }
    copy
}

fn fill(c: &mut Cursor<'_>, copy: Value, value: Const) {
    c.effect(Inst::MapInto(Box::new(MapExpr::Const(value)), vec![copy]));
}

/// After the loop: all copies, in order.
pub(super) fn combine(c: &mut Cursor<'_>, what: &ArrayReduce, base: Value, blocks: Value) {
    let l = c.begin_loop(blocks);
    let copy = copy_of(c, what.array, base, l.index);
    let (dtype, ..) = c.func.ty(what.array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
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
    };
    c.effect(Inst::MapInto(Box::new(e), vec![what.array, what.array, copy]));
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
    // The owner is not this memory's, which the caller keeps; it only has to be some owner.
    let owner = c.inst(Inst::ArrayOwner(array), Ty::meminfo());
    c.inst(Inst::ArrayMake { owner, data, shape, strides }, ty)
}

/// Bytes of a copy, of whole cache lines.
fn bytes(c: &mut Cursor<'_>, array: Value) -> Value {
    let (dtype, rank, ..) = c.func.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("an array"));
    let mut size = c.int(dtype.itemsize() as i64);
    for d in 0..rank {
        let n = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
        size = c.mul(size, n);
    }
    round_up(c, size)
}

fn round_up(c: &mut Cursor<'_>, size: Value) -> Value {
    let (most, line) = (c.int(63), c.int(-64));
    let more = c.add(size, most);
    c.op(row("and"), &[more, line], Ty::int())
}

/// Whether an array can be copied for blocks.
pub(super) fn can_copy(func: &Function, array: Value) -> bool {
    func.ty(array).as_array().is_some_and(|(dtype, rank, _, readonly)| rank > 0 && dtype.is_number() && !readonly)
}
