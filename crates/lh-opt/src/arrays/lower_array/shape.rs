//! Extents: comparison, broadcasting, and shape errors.

use super::nest::Stream;
use super::operand::Operand;
use crate::edit::{Cursor, row};
use lh_ir::func::{Inst, Term};
use lh_ir::{Const, Layout, Ty, Value};
use lh_ops::runtime as rt;

/// Whether all operands, of one rank, have equal extents; `None` if that is static.
pub(super) fn all_equal(c: &mut Cursor<'_>, arrays: &[&Operand]) -> Option<Value> {
    let (first, others) = arrays.split_first()?;
    let mut all = None;
    for o in others.iter().filter(|o| o.value != first.value) {
        for (a, b) in first.shape.iter().zip(&o.shape).filter(|(a, b)| a != b) {
            let eq = c.eq(*a, *b);
            all = Some(all.map_or(eq, |x| c.and(x, eq)));
        }
    }
    all
}

pub(super) fn product(c: &mut Cursor<'_>, dims: &[Value]) -> Value {
    match dims {
        [] => c.int(1),
        [first, rest @ ..] => rest.iter().fold(*first, |n, d| c.mul(n, *d)),
    }
}

/// Size of an array in bytes, or -1 if it overflows, so that allocation fails.
pub(super) fn checked_bytes(c: &mut Cursor<'_>, dims: &[Value], itemsize: usize) -> Value {
    let mut bytes = c.int(itemsize as i64);
    let mut overflow = None;
    for (i, d) in dims.iter().enumerate() {
        if i > 0 {
            let o = c.op(row("mul_ovf"), &[bytes, *d], Ty::bool());
            overflow = Some(overflow.map_or(o, |x| c.or(x, o)));
        }
        bytes = c.mul(bytes, *d);
    }
    let Some(overflow) = overflow else { return bytes };
    let impossible = c.int(-1);
    c.select(overflow, impossible, bytes)
}

pub(super) fn contiguous_strides(c: &mut Cursor<'_>, dims: &[Value], itemsize: usize, fortran: bool) -> Vec<Value> {
    let mut out = vec![None; dims.len()];
    let mut stride = c.int(itemsize as i64);
    let inner_first: Vec<usize> = order(dims.len(), fortran).into_iter().rev().collect();
    for (i, &d) in inner_first.iter().enumerate() {
        out[d] = Some(stride);
        if i + 1 < dims.len() {
            stride = c.mul(stride, dims[d]);
        }
    }
    out.into_iter().map(|s| s.expect("every dimension was visited")).collect()
}

/// Dimensions from the outermost loop to the innermost.
pub(super) fn order(rank: usize, fortran: bool) -> Vec<usize> {
    if fortran { (0..rank).rev().collect() } else { (0..rank).collect() }
}

/// An operand's axis for axis `d` of the result, if it has one.
fn own_axis(o: &Operand, d: usize, rank: usize) -> Option<usize> {
    (d + o.rank()).checked_sub(rank)
}

/// Extents of the broadcast result; raises ValueError if the operands do not fit together.
pub(super) fn broadcast(c: &mut Cursor<'_>, ops: &[Operand], rank: usize) -> Vec<Value> {
    let mut fits = None;
    let mut dims = Vec::with_capacity(rank);
    for d in 0..rank {
        let mut extents: Vec<Value> = Vec::new();
        for o in ops {
            extents.extend(own_axis(o, d, rank).map(|i| o.shape[i]).filter(|e| !extents.contains(e)));
        }
        let mut dim = extents[0];
        for e in &extents[1..] {
            let one = c.int(1);
            let same = c.eq(dim, *e);
            let wide = c.eq(dim, one);
            let narrow = c.eq(*e, one);
            let either = c.or(wide, narrow);
            let ok = c.or(same, either);
            fits = Some(fits.map_or(ok, |f| c.and(f, ok)));
            dim = c.select(wide, *e, dim);
        }
        dims.push(dim);
    }
    if let Some(fits) = fits {
        let arrays: Vec<&Operand> = ops.iter().filter(|o| o.rank() > 0).collect();
        raise_unless(c, fits, &arrays, 0);
    }
    dims
}

/// Raises ValueError unless every source broadcasts to the destination. `in_place`: the destination is an operand, too,
/// so that no source may have a higher rank.
pub(super) fn check_into(c: &mut Cursor<'_>, dest: &Operand, sources: &[Operand], in_place: bool) {
    let mut fits = None;
    let mut need = |c: &mut Cursor<'_>, ok: Value| fits = Some(fits.map_or(ok, |f| c.and(f, ok)));
    for o in sources.iter().filter(|o| o.rank() > 0 && o.value != dest.value) {
        if in_place && o.rank() > dest.rank() {
            let never = c.inst(Inst::Const(Const::Bool(false)), Ty::bool());
            need(c, never);
            continue;
        }
        for (i, e) in o.shape.iter().enumerate() {
            let axis = (i + dest.rank()).checked_sub(o.rank());
            if axis.is_some_and(|d| dest.shape[d] == *e) {
                continue;
            }
            let one = c.int(1);
            let mut ok = c.eq(*e, one);
            if let Some(d) = axis {
                let same = c.eq(*e, dest.shape[d]);
                ok = c.or(ok, same);
            }
            need(c, ok);
        }
    }
    if let Some(fits) = fits {
        let arrays = sources.iter().filter(|o| c.func.ty(o.value).is_array()).chain([dest]).collect::<Vec<_>>();
        raise_unless(c, fits, &arrays, if in_place { 2 } else { 1 });
    }
}

fn raise_unless(c: &mut Cursor<'_>, fits: Value, arrays: &[&Operand], kind: i64) {
    let bad = c.branch(fits);
    let good = std::mem::replace(&mut c.block, bad);
    c.func.blocks[bad.index()].cold = true;
    for o in arrays {
        c.effect(Inst::Runtime(&rt::lh_shape_begin, vec![]));
        for e in &o.shape {
            c.effect(Inst::Runtime(&rt::lh_shape_extent, vec![*e]));
        }
    }
    let kind = c.int(kind);
    c.effect(Inst::Runtime(&rt::lh_raise_broadcast, vec![kind]));
    c.end(Term::Unreachable, good);
}

/// An operand's memory along the result's axes, with stride 0 where its extent is repeated.
pub(super) fn broadcast_stream(c: &mut Cursor<'_>, o: &Operand, ops: &[Operand], rank: usize) -> Stream {
    stream(c, o, rank, |d, extent| {
        // If all other operands have an extent of 1 or the same extent, nothing is repeated.
        let other = |p: &Operand| own_axis(p, d, rank).is_some_and(|j| p.shape[j] != extent && !p.unit_extents[j]);
        ops.iter().any(other)
    })
}

/// As [`broadcast_stream`], for a source of a store, which may have a higher rank than the destination.
pub(super) fn broadcast_stream_into(c: &mut Cursor<'_>, o: &Operand, dest: &Operand) -> Stream {
    stream(c, o, dest.rank(), |d, extent| dest.shape[d] != extent)
}

/// An operand's memory; `may_repeat` says whether an extent may be 1 where the result's is not.
fn stream(c: &mut Cursor<'_>, o: &Operand, rank: usize, may_repeat: impl Fn(usize, Value) -> bool) -> Stream {
    let mut strides = vec![None; rank];
    let mut repeats = vec![None; rank];
    for d in 0..rank {
        let Some(i) = own_axis(o, d, rank).filter(|i| !o.unit_extents[*i]) else { continue };
        strides[d] = Some(o.strides[i]);
        if may_repeat(d, o.shape[i]) {
            let (zero, one) = (c.int(0), c.int(1));
            let repeated = c.eq(o.shape[i], one);
            strides[d] = Some(c.select(repeated, zero, o.strides[i]));
            repeats[d] = Some(repeated);
        }
    }
    match adjacent(o, rank) {
        Some(d) => match repeats[d] {
            Some(repeated) => Stream::new(o.data, o.elem, strides, None).adjacent_unless(d, repeated),
            None => Stream::new(o.data, o.elem, strides, Some(d)),
        },
        None => Stream::new(o.data, o.elem, strides, None),
    }
}

/// Whether operands of one rank differ in their static extents of 1.
pub(super) fn differ(arrays: &[&Operand]) -> bool {
    (1..arrays.len()).any(|i| arrays[i].unit_extents != arrays[0].unit_extents)
}

/// The result's axis along which an operand's layout makes its elements adjacent.
fn adjacent(o: &Operand, rank: usize) -> Option<usize> {
    match o.layout {
        Layout::C => rank.checked_sub(1),
        Layout::F => rank.checked_sub(o.rank()),
        Layout::A => None,
    }
}
