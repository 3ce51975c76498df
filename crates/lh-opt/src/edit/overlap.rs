//! Run-time alias tests: whether arrays overlap, each other or themselves.
//!
//! An array overlaps itself if two of its elements have memory in common: strides of views are any numbers, as
//! `as_strided` and `sliding_window_view` show. Different indices then do not mean different memory, which is what
//! loops rely on that run in another order than the program's.

use super::Cursor;
use hashbrown::HashMap;
use lh_ir::func::Inst;
use lh_ir::{Layout, Ty, Value};
use lh_ops::runtime as rt;

/// Tests that `all` holds and that the arrays of each pair do not overlap; a pair of an array and itself, that no two
/// of its elements do.
pub(crate) fn apart(c: &mut Cursor<'_>, pairs: &[(Value, Value)], mut all: Value) -> Value {
    let mut extents: HashMap<Value, (Value, Value)> = HashMap::new();
    for (a, b) in pairs {
        if a == b {
            if let Some(is_spread) = is_spread(c, *a) {
                all = c.and(all, is_spread);
            }
            continue;
        }
        let [a, b] = [a, b].map(|v| *extents.entry(*v).or_insert_with(|| addresses(c, *v)));
        let (before, after) = (c.le(a.1, b.0), c.le(b.1, a.0));
        let disjoint = c.or(before, after);
        all = c.and(all, disjoint);
    }
    all
}

/// The address of an array's lowest byte, and the address after its highest.
pub(crate) fn addresses(c: &mut Cursor<'_>, array: Value) -> (Value, Value) {
    let Some((dtype, ndim, layout, _)) = c.func.ty(array).as_array() else { lh_ir::bug!("an element of no array") };
    let data = c.inst(Inst::ArrayData(array), Ty::ptr());
    let first = c.inst(Inst::Runtime(&rt::lh_ptr_addr, vec![data]), Ty::int());
    let size = c.int(dtype.itemsize() as i64);
    let (mut start, mut end) = (first, c.add(first, size));
    if layout != Layout::A {
        let mut bytes = size;
        for d in 0..ndim {
            let n = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
            bytes = c.mul(bytes, n);
        }
        return (first, c.add(first, bytes));
    }
    let (zero, one) = (c.int(0), c.int(1));
    for d in 0..ndim {
        let n = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
        let stride = c.inst(Inst::ArrayStride(array, d as u32), Ty::int());
        let last = c.sub(n, one);
        let far = c.mul(last, stride);
        let down = c.lt(far, zero);
        let (low, high) = (c.select(down, far, zero), c.select(down, zero, far));
        start = c.add(start, low);
        end = c.add(end, high);
    }
    (start, end)
}

/// Whether an array of a type may overlap itself.
pub(crate) fn may_overlap_itself(ty: Ty) -> bool {
    ty.as_array().is_some_and(|(_, ndim, layout, _)| ndim > 0 && layout == Layout::A)
}

/// Whether no two elements of an array have memory in common; `None` if its type says so.
pub(crate) fn is_spread(c: &mut Cursor<'_>, array: Value) -> Option<Value> {
    let ty = c.func.ty(array);
    let (dtype, ndim, ..) = ty.as_array().filter(|_| may_overlap_itself(ty))?;
    let axis = |d| {
        let n = c.inst(Inst::ArrayShape(array, d as u32), Ty::int());
        (n, c.inst(Inst::ArrayStride(array, d as u32), Ty::int()))
    };
    let axes: Vec<(Value, Value)> = (0..ndim).map(axis).collect();
    Some(are_spread(c, &axes, dtype.itemsize() as i64))
}

/// Whether no two elements of some size have bytes in common: along each axis, the stride is at least the extent of
/// what lies inside it, which are the axes with smaller strides. Axes that interleave may pass for overlapping ones.
pub(crate) fn are_spread(c: &mut Cursor<'_>, axes: &[(Value, Value)], itemsize: i64) -> Value {
    let (zero, one, size) = (c.int(0), c.int(1), c.int(itemsize));
    let steps: Vec<(Value, Value)> = axes
        .iter()
        .map(|(n, stride)| {
            let (back, is_back) = (c.sub(zero, *stride), c.lt(*stride, zero));
            let (step, last) = (c.select(is_back, back, *stride), c.sub(*n, one));
            (step, c.mul(last, step))
        })
        .collect();
    let mut all = None;
    for (d, (n, _)) in axes.iter().enumerate() {
        let mut inside = size;
        for (step, way) in steps.iter().enumerate().filter(|(k, _)| *k != d).map(|(_, axis)| *axis) {
            let is_inside = c.le(step, steps[d].0);
            let more = c.select(is_inside, way, zero);
            inside = c.add(inside, more);
        }
        let (is_far, is_short) = (c.le(inside, steps[d].0), c.le(*n, one));
        let holds = c.or(is_far, is_short);
        all = Some(all.map_or(holds, |all| c.and(all, holds)));
    }
    all.unwrap_or_else(|| lh_ir::bug!("an array without axes has one element"))
}
