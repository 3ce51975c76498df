//! Nested counted loops over memory.

use crate::edit::{CountedLoop, Cursor};
use lh_ir::func::{Inst, Term, parallel};
use lh_ir::{Ty, Value};

/// Memory that a nest goes over.
pub(super) struct Stream {
    /// Address of the first element.
    base: Value,
    /// Stride of every dimension in bytes; `None`: not moved along it.
    strides: Vec<Option<Value>>,
    itemsize: i64,
    /// The dimension along which elements are known to be adjacent.
    adjacent: Option<usize>,
}

impl Stream {
    /// All elements one after the other, as one dimension.
    pub(super) fn flat(c: &mut Cursor<'_>, base: Value, elem: Ty) -> Stream {
        let size = c.int(elem.itemsize() as i64);
        Stream::strided(base, elem, vec![size], Some(0))
    }
    /// A stride for every dimension; `adjacent` is the dimension known to have the item's size.
    pub(super) fn strided(base: Value, elem: Ty, strides: Vec<Value>, adjacent: Option<usize>) -> Stream {
        Stream::new(base, elem, strides.into_iter().map(Some).collect(), adjacent)
    }
    /// Strides where there are any.
    pub(super) fn new(base: Value, elem: Ty, strides: Vec<Option<Value>>, adjacent: Option<usize>) -> Stream {
        Stream { base, strides, itemsize: elem.itemsize() as i64, adjacent }
    }
}

/// Loops over `dims` in `order`, outermost first; the body gets the address of the element of every stream.
///
/// With `versions`, the innermost loop exists twice, once for elements that are adjacent in all streams.
pub(super) fn nest(
    c: &mut Cursor<'_>,
    dims: &[Value],
    order: &[usize],
    streams: &[Stream],
    versions: bool,
    body: &mut dyn FnMut(&mut Cursor<'_>, &[Value]),
) {
    let mut at: Vec<Value> = streams.iter().map(|s| s.base).collect();
    let Some((&inner, outer)) = order.split_last() else { return body(c, &at) };
    let unknown = |s: &&Stream| s.strides[inner].is_some() && s.adjacent != Some(inner);
    let is_static = !streams.iter().any(|s| unknown(&s));
    let adjacent = if versions && !is_static { Some(all_adjacent(c, streams, inner)) } else { None };
    let mut open = Vec::new();
    for &d in outer {
        let l = c.begin_loop(dims[d]);
        for (a, s) in at.iter_mut().zip(streams) {
            *a = step(c, *a, l.index, s.strides[d]);
        }
        if open.is_empty() {
            mark(c, &l);
        }
        open.push(l);
    }
    let Some(adjacent) = adjacent else {
        innermost(c, dims[inner], &at, streams, inner, is_static, outer.is_empty(), body);
        return open.iter().rev().for_each(|l| c.end_loop(l));
    };
    let other = c.branch(adjacent);
    innermost(c, dims[inner], &at, streams, inner, true, outer.is_empty(), body);
    let (join, _) = c.new_block(&[]);
    c.end(Term::Jump(crate::edit::to(join, &[])), other);
    innermost(c, dims[inner], &at, streams, inner, false, outer.is_empty(), body);
    c.end(Term::Jump(crate::edit::to(join, &[])), join);
    open.iter().rev().for_each(|l| c.end_loop(l));
}

/// Elements do not depend on each other: under `parallel=True` the outermost loop runs on the pool.
fn mark(c: &mut Cursor<'_>, l: &CountedLoop) {
    const ELEMENTWISE: u16 = parallel::NUMPY | parallel::SETITEM | parallel::INPLACE;
    if c.func.options.parallel & ELEMENTWISE != 0 && !c.cold {
        c.any_order(l);
    }
}

fn all_adjacent(c: &mut Cursor<'_>, streams: &[Stream], inner: usize) -> Value {
    let mut all = None;
    for s in streams.iter().filter(|s| s.adjacent != Some(inner)) {
        let Some(stride) = s.strides[inner] else { continue };
        let size = c.int(s.itemsize);
        let eq = c.eq(stride, size);
        all = Some(all.map_or(eq, |a| c.and(a, eq)));
    }
    all.expect("some stride is unknown")
}

#[expect(clippy::too_many_arguments, reason = "the nest's own, each used once")]
fn innermost(
    c: &mut Cursor<'_>,
    n: Value,
    at: &[Value],
    streams: &[Stream],
    inner: usize,
    adjacent: bool,
    alone: bool,
    body: &mut dyn FnMut(&mut Cursor<'_>, &[Value]),
) {
    let sizes: Vec<Option<Value>> = streams
        .iter()
        .map(|s| s.strides[inner].map(|st| if adjacent || s.adjacent == Some(inner) { c.int(s.itemsize) } else { st }))
        .collect();
    let l = c.begin_loop(n);
    if alone {
        mark(c, &l);
    }
    let places: Vec<Value> = at.iter().zip(sizes).map(|(a, s)| step(c, *a, l.index, s)).collect();
    body(c, &places);
    c.end_loop(&l);
}

fn step(c: &mut Cursor<'_>, base: Value, index: Value, stride: Option<Value>) -> Value {
    let Some(stride) = stride else { return base };
    let bytes = c.mul(index, stride);
    c.inst(Inst::PtrAdd(base, bytes), Ty::ptr())
}
