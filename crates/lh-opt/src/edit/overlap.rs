//! Run-time alias tests: whether arrays overlap.

use super::Cursor;
use hashbrown::HashMap;
use lh_ir::func::Inst;
use lh_ir::{Layout, Ty, Value};
use lh_ops::runtime as rt;

/// Tests that `all` holds and that the arrays of each pair do not overlap.
pub(crate) fn apart(c: &mut Cursor<'_>, pairs: &[(Value, Value)], mut all: Value) -> Value {
    let mut extents: HashMap<Value, (Value, Value)> = HashMap::new();
    for (a, b) in pairs {
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
