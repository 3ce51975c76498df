//! Loop nests over strided memory.

use crate::edit::{CountedLoop, Cursor};
use lh_ir::func::{Inst, Term, parallel};
use lh_ir::{Ty, Value};

/// Memory that a nest walks over.
pub(super) struct Stream {
    /// Address of the first element.
    base: Value,
    /// Stride of each dimension in bytes; `None` where the address does not change along it.
    strides: Vec<Option<Value>>,
    elem: Ty,
    /// The dimension along which the stride is statically the item's size.
    adjacent: Option<usize>,
}

impl Stream {
    /// Contiguous memory as one dimension.
    pub(super) fn flat(c: &mut Cursor<'_>, base: Value, elem: Ty) -> Stream {
        let size = c.int(elem.itemsize() as i64);
        Stream::strided(base, elem, vec![size], Some(0))
    }
    /// A stride for each dimension; `adjacent` is the dimension whose stride is statically the item's size.
    pub(super) fn strided(base: Value, elem: Ty, strides: Vec<Value>, adjacent: Option<usize>) -> Stream {
        Stream::new(base, elem, strides.into_iter().map(Some).collect(), adjacent)
    }
    /// Strides for some dimensions.
    pub(super) fn new(base: Value, elem: Ty, strides: Vec<Option<Value>>, adjacent: Option<usize>) -> Stream {
        Stream { base, strides, elem, adjacent }
    }
    /// The static stride class along a dimension.
    fn stride_class(&self, d: usize) -> Option<StrideClass> {
        match self.strides[d] {
            None => Some(StrideClass::Repeated),
            Some(_) => (self.adjacent == Some(d)).then_some(StrideClass::Adjacent),
        }
    }
}

/// Stride class along the innermost dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StrideClass {
    Adjacent,
    Strided,
    /// Stride 0: one element for the whole loop.
    Repeated,
}

/// The view of a stream that the body gets.
#[derive(Clone, Copy)]
pub(super) enum At {
    Address(Value),
    /// The element, loaded before the innermost loop.
    Element(Value),
}

impl At {
    pub(super) fn read(self, c: &mut Cursor<'_>, elem: Ty) -> Value {
        match self {
            At::Address(p) => c.inst(Inst::Load(p), elem),
            At::Element(v) => v,
        }
    }
    /// The address of the current element of a destination.
    pub(super) fn address(self) -> Value {
        match self {
            At::Address(p) => p,
            At::Element(_) => lh_ir::bug!("a destination moves along every dimension"),
        }
    }
}

type Body<'a> = dyn FnMut(&mut Cursor<'_>, &[At]) + 'a;

/// Builds loops over `dims` in `order`, outermost first; the first stream is the destination.
///
/// With `versions`, the innermost loop has a second version for streams whose elements are all adjacent.
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
    let known: Vec<Option<StrideClass>> = streams.iter().map(|s| s.stride_class(inner)).collect();
    let classes = |other: StrideClass| -> Vec<StrideClass> { known.iter().map(|w| w.unwrap_or(other)).collect() };
    let adjacent = if versions { all_adjacent(c, streams, inner) } else { None };
    let mut open = Vec::new();
    for &d in outer {
        let l = c.begin_loop(dims[d]);
        c.elementwise(&l);
        for (a, s) in at.iter_mut().zip(streams) {
            *a = address_at(c, *a, l.index, s.strides[d]);
        }
        if open.is_empty() {
            mark_parallel(c, &l);
        }
        open.push(l);
    }
    let innermost = Innermost { n: dims[inner], at, streams, inner, alone: outer.is_empty() };
    if let Some(adjacent) = adjacent {
        let other = c.branch(adjacent);
        innermost.write(c, &classes(StrideClass::Adjacent), body);
        let (join, _) = c.new_block(&[]);
        c.end(Term::Jump(crate::edit::to(join, &[])), other);
        innermost.write(c, &classes(StrideClass::Strided), body);
        c.end(Term::Jump(crate::edit::to(join, &[])), join);
    } else {
        innermost.write(c, &classes(StrideClass::Strided), body);
    }
    open.iter().rev().for_each(|l| c.end_loop(l));
}

/// Marks a loop as parallel for `parallel=True`: elementwise iterations are independent.
fn mark_parallel(c: &mut Cursor<'_>, l: &CountedLoop) {
    const ELEMENTWISE: u16 = parallel::NUMPY | parallel::SETITEM | parallel::INPLACE;
    if c.func.options.parallel & ELEMENTWISE != 0 && !c.cold {
        c.any_order(l);
    }
}

/// Whether the strides of all streams along a dimension are the item's size; `None` if that is static.
fn all_adjacent(c: &mut Cursor<'_>, streams: &[Stream], inner: usize) -> Option<Value> {
    let mut all = None;
    for s in streams.iter().filter(|s| s.stride_class(inner).is_none()) {
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
    /// Current addresses of the streams.
    at: Vec<Value>,
    streams: &'a [Stream],
    inner: usize,
    /// Whether it is the only loop of the nest.
    alone: bool,
}

impl Innermost<'_> {
    fn write(&self, c: &mut Cursor<'_>, classes: &[StrideClass], body: &mut Body<'_>) {
        let mut starts: Vec<(At, Option<Value>)> = Vec::with_capacity(classes.len());
        for ((at, s), stride_class) in self.at.iter().zip(self.streams).zip(classes) {
            let stride = match stride_class {
                StrideClass::Repeated => None,
                StrideClass::Adjacent => Some(c.int(s.elem.itemsize() as i64)),
                StrideClass::Strided => s.strides[self.inner],
            };
            // Stride 0 means an extent of 1, so the element exists even if the loop has no iteration.
            let start = if stride.is_some() { At::Address(*at) } else { At::Element(c.inst(Inst::Load(*at), s.elem)) };
            starts.push((start, stride));
        }
        let l = c.begin_loop(self.n);
        c.elementwise(&l);
        if self.alone {
            mark_parallel(c, &l);
        }
        let places: Vec<At> = starts
            .into_iter()
            .map(|(at, stride)| match at {
                At::Address(p) => At::Address(address_at(c, p, l.index, stride)),
                At::Element(_) => at,
            })
            .collect();
        body(c, &places);
        c.end_loop(&l);
    }
}

pub(super) fn address_at(c: &mut Cursor<'_>, base: Value, index: Value, stride: Option<Value>) -> Value {
    let Some(stride) = stride else { return base };
    let bytes = c.mul(index, stride);
    c.inst(Inst::PtrAdd(base, bytes), Ty::ptr())
}
