//! Stores into memory that the same computation reads.

use super::nest::{Loops, Stream, address_at, nest};
use super::operand::Operand;
use super::{allocate, shape};
use crate::edit::overlap::are_spread;
use crate::edit::{Cursor, to};
use lh_ir::func::{Derivative, Device, Inst, Term, parallel};
use lh_ir::{Layout, Ty, Value};
use lh_ops::runtime as rt;

/// Whether each source either is disjoint from the destination or is it element by element, and the destination does
/// not overlap itself, unless it is `filled` with one value; `None` if nothing is to be tested.
///
/// `alike`: all operands have one contiguous layout and equal extents, so that equal addresses mean equal elements.
pub(super) fn is_safe(
    c: &mut Cursor<'_>,
    dest: &Operand,
    sources: &[&Operand],
    alike: bool,
    filled: bool,
) -> Option<Value> {
    let mut all = None;
    if dest.layout == Layout::A && dest.rank() > 0 && !filled {
        let axes: Vec<(Value, Value)> = dest.shape.iter().copied().zip(dest.strides.iter().copied()).collect();
        all = Some(are_spread(c, &axes, dest.elem.itemsize() as i64));
    }
    if sources.is_empty() {
        return all;
    }
    let to = ByteRange::of(c, dest);
    for o in sources {
        let from = ByteRange::of(c, o);
        let before = c.le(from.end, to.start);
        let after = c.le(to.end, from.start);
        let disjoint = c.or(before, after);
        let ok = match is_same_view(c, dest, o, &to, &from, alike) {
            Some(same) => c.or(disjoint, same),
            None => disjoint,
        };
        all = Some(all.map_or(ok, |a| c.and(a, ok)));
    }
    all
}

fn is_same_view(
    c: &mut Cursor<'_>,
    dest: &Operand,
    o: &Operand,
    to: &ByteRange,
    from: &ByteRange,
    alike: bool,
) -> Option<Value> {
    if dest.elem.itemsize() != o.elem.itemsize() || dest.rank() != o.rank() {
        return None;
    }
    let mut same = c.eq(to.first, from.first);
    if !alike {
        let pairs = dest.shape.iter().zip(&o.shape).chain(dest.strides.iter().zip(&o.strides));
        for (a, b) in pairs {
            let eq = c.eq(*a, *b);
            same = c.and(same, eq);
        }
    }
    Some(same)
}

/// Addresses of an array's first element, of its lowest byte, and past its highest byte.
struct ByteRange {
    first: Value,
    start: Value,
    end: Value,
}

impl ByteRange {
    fn of(c: &mut Cursor<'_>, o: &Operand) -> ByteRange {
        // `data` of an operand of rank 0 is its element.
        let data = if o.rank() == 0 { c.inst(Inst::ArrayData(o.value), Ty::ptr()) } else { o.data };
        let first = c.inst(Inst::Runtime(&rt::lh_ptr_addr, vec![data]), Ty::int());
        let size = c.int(o.elem.itemsize() as i64);
        if o.layout != Layout::A {
            let n = shape::product(c, &o.shape);
            let bytes = c.mul(n, size);
            return ByteRange { first, start: first, end: c.add(first, bytes) };
        }
        let (zero, one) = (c.int(0), c.int(1));
        let (mut start, mut end) = (first, c.add(first, size));
        for (n, stride) in o.shape.iter().zip(&o.strides) {
            let last = c.sub(*n, one);
            let far = c.mul(last, *stride);
            let down = c.lt(far, zero);
            let low = c.select(down, far, zero);
            let high = c.select(down, zero, far);
            start = c.add(start, low);
            end = c.add(end, high);
        }
        ByteRange { first, start, end }
    }
}

/// Memory that a nest writes.
pub(super) struct Destination {
    pub data: Value,
    pub strides: Vec<Value>,
}

/// The destination itself, or temporary memory of its shape if a direct store would overwrite elements before they are
/// read.
pub(super) fn target_or_temporary(c: &mut Cursor<'_>, dest: &Operand, harmful: Value) -> Destination {
    let rank = dest.rank();
    let mut tys = vec![Ty::meminfo(), Ty::ptr()];
    tys.extend(vec![Ty::int(); rank]);
    let (go, params) = c.new_block(&tys);
    let direct = c.branch(harmful);
    let nbytes = shape::checked_bytes(c, &dest.shape, dest.elem.itemsize());
    let on_gpu = c.func.options.device == Device::Gpu;
    let (owner, data) = allocate(c, if on_gpu { &rt::lh_cuda_temporary } else { &rt::lh_alloc }, nbytes);
    let strides = shape::contiguous_strides(c, &dest.shape, dest.elem.itemsize(), dest.layout == Layout::F);
    c.end(Term::Jump(to(go, &[&[owner, data][..], &strides].concat())), direct);
    let nobody = c.inst(Inst::Zero, Ty::meminfo());
    let data = address(c, dest);
    c.end(Term::Jump(to(go, &[&[nobody, data][..], &dest.strides].concat())), go);
    Destination { data: params[1], strides: params[2..].to_vec() }
}

/// Address of a destination's first element.
pub(super) fn address(c: &mut Cursor<'_>, dest: &Operand) -> Value {
    if dest.rank() == 0 { c.inst(Inst::ArrayData(dest.value), Ty::ptr()) } else { dest.data }
}

/// Copies the temporary array into the destination, in order: on the host row by row, by a function of the run-time
/// library. The race checker and derivatives see single items.
pub(super) fn copy(c: &mut Cursor<'_>, from: &Destination, dest: &Operand, order: &[usize]) {
    let data = address(c, dest);
    let options = &c.func.options;
    let is_plain = options.parallel & parallel::RACE == 0 && options.derivative == Derivative::None;
    let by_rows = options.device == Device::Host && is_plain;
    let Some((&inner, outer)) = order.split_last().filter(|_| by_rows) else {
        return copy_items(c, from, dest, order);
    };
    let (mut to, mut at, mut open) = (data, from.data, Vec::new());
    for &d in outer {
        let l = c.begin_loop(dest.shape[d]);
        to = address_at(c, to, l.index, Some(dest.strides[d]));
        at = address_at(c, at, l.index, Some(from.strides[d]));
        open.push(l);
    }
    let size = c.int(dest.elem.itemsize() as i64);
    c.effect(Inst::Runtime(&rt::lh_copy_row, vec![to, dest.strides[inner], at, dest.shape[inner], size]));
    open.iter().rev().for_each(|l| c.end_loop(l));
}

fn copy_items(c: &mut Cursor<'_>, from: &Destination, dest: &Operand, order: &[usize]) {
    let data = address(c, dest);
    let streams = [
        Stream::strided(data, dest.elem, dest.strides.clone(), None),
        Stream::strided(from.data, dest.elem, from.strides.clone(), None),
    ];
    let elem = dest.elem;
    nest(c, &dest.shape, order, &streams, Loops::IN_ORDER, &mut |c, at| {
        let v = at[1].read(c, elem);
        c.effect(Inst::Store(at[0].address(), v));
    });
}
