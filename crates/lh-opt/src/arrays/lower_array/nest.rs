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
    elem: Ty,
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
        Stream { base, strides, elem, adjacent }
    }
    /// How it goes along a dimension, if that is known.
    fn way(&self, d: usize) -> Option<Way> {
        match self.strides[d] {
            None => Some(Way::Held),
            Some(_) => (self.adjacent == Some(d)).then_some(Way::Adjacent),
        }
    }
}

/// How a stream goes along the innermost dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Adjacent,
    Strided,
    /// One element for all.
    Held,
}

/// What the body gets of a stream.
#[derive(Clone, Copy)]
pub(super) enum At {
    /// The address of its element.
    Address(Value),
    /// The element itself, read before the innermost loop.
    Element(Value),
}

impl At {
    /// The element.
    pub(super) fn read(self, c: &mut Cursor<'_>, elem: Ty) -> Value {
        match self {
            At::Address(p) => c.inst(Inst::Load(p), elem),
            At::Element(v) => v,
        }
    }
    /// The address of a stream that is written to.
    pub(super) fn address(self) -> Value {
        match self {
            At::Address(p) => p,
            At::Element(_) => lh_ir::bug!("a destination moves along every dimension"),
        }
    }
}

type Body<'a> = dyn FnMut(&mut Cursor<'_>, &[At]) + 'a;

/// Loops over `dims` in `order`, outermost first; the body gets what it needs of every stream, the first of which is written to.
///
/// With `versions`, the innermost loop exists twice, once for elements that are adjacent in all streams.
pub(super) fn nest(
    c: &mut Cursor<'_>,
    dims: &[Value],
    order: &[usize],
    streams: &[Stream],
    versions: bool,
    body: &mut Body<'_>,
) {
    let mut at: Vec<Value> = streams.iter().map(|s| s.base).collect();
    let Some((&inner, outer)) = order.split_last() else {
        let at: Vec<At> = at.into_iter().map(At::Address).collect();
        return body(c, &at);
    };
    let known: Vec<Option<Way>> = streams.iter().map(|s| s.way(inner)).collect();
    let ways = |other: Way| -> Vec<Way> { known.iter().map(|w| w.unwrap_or(other)).collect() };
    let adjacent = if versions { all_adjacent(c, streams, inner) } else { None };
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
    let innermost = Innermost { n: dims[inner], at, streams, inner, alone: outer.is_empty() };
    if let Some(adjacent) = adjacent {
        let other = c.branch(adjacent);
        innermost.write(c, &ways(Way::Adjacent), body);
        let (join, _) = c.new_block(&[]);
        c.end(Term::Jump(crate::edit::to(join, &[])), other);
        innermost.write(c, &ways(Way::Strided), body);
        c.end(Term::Jump(crate::edit::to(join, &[])), join);
    } else {
        innermost.write(c, &ways(Way::Strided), body);
    }
    open.iter().rev().for_each(|l| c.end_loop(l));
}

/// Elements do not depend on each other: under `parallel=True` the outermost loop runs on the pool.
fn mark(c: &mut Cursor<'_>, l: &CountedLoop) {
    const ELEMENTWISE: u16 = parallel::NUMPY | parallel::SETITEM | parallel::INPLACE;
    if c.func.options.parallel & ELEMENTWISE != 0 && !c.cold {
        c.any_order(l);
    }
}

/// Whether elements are adjacent in all streams that move along a dimension; `None` if they surely are.
fn all_adjacent(c: &mut Cursor<'_>, streams: &[Stream], inner: usize) -> Option<Value> {
    let mut all = None;
    for s in streams.iter().filter(|s| s.way(inner).is_none()) {
        let size = c.int(s.elem.itemsize() as i64);
        let is_so = s.strides[inner].map(|stride| c.eq(stride, size));
        all = match (all, is_so) {
            (Some(a), Some(b)) => Some(c.and(a, b)),
            (a, b) => a.or(b),
        };
    }
    all
}

/// The innermost loop of a nest.
struct Innermost<'a> {
    n: Value,
    /// Where each stream is.
    at: Vec<Value>,
    streams: &'a [Stream],
    inner: usize,
    /// Whether there is no other loop.
    alone: bool,
}

impl Innermost<'_> {
    fn write(&self, c: &mut Cursor<'_>, ways: &[Way], body: &mut Body<'_>) {
        let mut starts: Vec<(At, Option<Value>)> = Vec::with_capacity(ways.len());
        for ((at, s), way) in self.at.iter().zip(self.streams).zip(ways) {
            let stride = match way {
                Way::Held => None,
                Way::Adjacent => Some(c.int(s.elem.itemsize() as i64)),
                Way::Strided => s.strides[self.inner],
            };
            // An element that is repeated is there even if the loop does not run.
            let start = if stride.is_some() { At::Address(*at) } else { At::Element(c.inst(Inst::Load(*at), s.elem)) };
            starts.push((start, stride));
        }
        let l = c.begin_loop(self.n);
        if self.alone {
            mark(c, &l);
        }
        let places: Vec<At> = starts
            .into_iter()
            .map(|(at, stride)| match at {
                At::Address(p) => At::Address(step(c, p, l.index, stride)),
                At::Element(_) => at,
            })
            .collect();
        body(c, &places);
        c.end_loop(&l);
    }
}

fn step(c: &mut Cursor<'_>, base: Value, index: Value, stride: Option<Value>) -> Value {
    let Some(stride) = stride else { return base };
    let bytes = c.mul(index, stride);
    c.inst(Inst::PtrAdd(base, bytes), Ty::ptr())
}
