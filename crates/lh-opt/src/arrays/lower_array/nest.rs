//! Loop nests over strided memory.

use crate::edit::{CountedLoop, Cursor};
use lh_ir::func::{Derivative, Device, Inst, Term, parallel};
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
    /// The dimension along which the stride is the item's size unless this condition holds, under which it is 0.
    adjacent_unless: Option<(usize, Value)>,
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
        Stream { base, strides, elem, adjacent, adjacent_unless: None }
    }
    /// The same memory, adjacent along a dimension unless a condition holds, under which one element is repeated.
    pub(super) fn adjacent_unless(self, dimension: usize, repeated: Value) -> Stream {
        Stream { adjacent_unless: Some((dimension, repeated)), ..self }
    }
    /// The memory from an index of a dimension on.
    pub(super) fn after(&self, c: &mut Cursor<'_>, d: usize, index: Value) -> Stream {
        Stream { base: address_at(c, self.base, index, self.strides[d]), strides: self.strides.clone(), ..*self }
    }
    /// One dimension.
    pub(super) fn along(&self, d: usize) -> Stream {
        let adjacent = self.adjacent.filter(|a| *a == d).map(|_| 0);
        let adjacent_unless = self.adjacent_unless.filter(|a| a.0 == d).map(|a| (0, a.1));
        Stream { strides: vec![self.strides[d]], adjacent, adjacent_unless, ..*self }
    }
    /// The static stride class along a dimension.
    fn stride_class(&self, d: usize, dest: &Stream, c: &Cursor<'_>) -> Option<StrideClass> {
        match self.strides[d] {
            None => Some(StrideClass::Repeated),
            Some(_) if self.adjacent == Some(d) => Some(StrideClass::Adjacent),
            Some(_) => {
                self.adjacent_unless.filter(|a| a.0 == d && self.fits_in(dest, d, c)).map(|a| StrideClass::Either(a.1))
            }
        }
    }
    /// Whether elements can be read from the destination, too, as [`StrideClass::Either`] does. Checked kernels would
    /// report that.
    fn fits_in(&self, dest: &Stream, d: usize, c: &Cursor<'_>) -> bool {
        let selects = crate::edit::row("select").sig.result(&[Ty::bool(), self.elem, self.elem], None).is_some();
        let fits = dest.adjacent == Some(d) && self.elem.itemsize() <= dest.elem.itemsize();
        selects && fits && !c.cold && c.func.options.device == Device::Host
    }
}

/// Stride class along the innermost dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StrideClass {
    Adjacent,
    Strided,
    /// Stride 0: one element for the whole loop.
    Repeated,
    /// Stride 0 under a condition, else adjacent. So that one loop without branches is right for both, it selects
    /// between the first element and the current one; under the condition, the current one is read from another
    /// operand or the destination, which is long enough.
    Either(Value),
}

/// The view of a stream that the body gets.
#[derive(Clone, Copy)]
pub(super) enum At {
    Address(Value),
    /// The element, loaded before the innermost loop.
    Element(Value),
    /// The element that was loaded before the innermost loop if a condition holds, else that at the address.
    Either {
        repeated: Value,
        first: Value,
        address: Value,
    },
}

impl At {
    pub(super) fn read(self, c: &mut Cursor<'_>, elem: Ty) -> Value {
        match self {
            At::Address(p) => c.inst(Inst::Load(p), elem),
            At::Element(v) => v,
            At::Either { repeated, first, address } => {
                let v = c.inst(Inst::Load(address), elem);
                c.select(repeated, first, v)
            }
        }
    }
    /// The address of the current element of a destination.
    pub(super) fn address(self) -> Value {
        match self {
            At::Address(p) => p,
            _ => lh_ir::bug!("a destination moves along every dimension"),
        }
    }
}

/// Properties of a nest's loops.
#[derive(Clone, Copy)]
pub(super) struct Loops {
    /// Whether the innermost loop has a second version for streams whose elements are all adjacent.
    pub versions: bool,
    /// Whether they may run on the pool for `parallel=True`.
    pub on_pool: bool,
    /// Whether no iteration accesses memory that another writes.
    pub independent: bool,
}

impl Loops {
    /// Those of a computation that is not read in parts.
    pub(super) fn whole(versions: bool) -> Loops {
        Loops { versions, on_pool: true, independent: true }
    }
    /// Those of stores whose order matters.
    pub(super) const IN_ORDER: Loops = Loops { versions: false, on_pool: false, independent: false };
}

type Body<'a> = dyn FnMut(&mut Cursor<'_>, &[At]) + 'a;

/// Builds loops over `dims` in `order`, outermost first; the first stream is the destination.
pub(super) fn nest(
    c: &mut Cursor<'_>,
    dims: &[Value],
    order: &[usize],
    streams: &[Stream],
    loops: Loops,
    body: &mut Body<'_>,
) {
    let mut at: Vec<Value> = streams.iter().map(|s| s.base).collect();
    let Some((&inner, outer)) = order.split_last() else {
        let at: Vec<At> = at.into_iter().map(At::Address).collect();
        return body(c, &at);
    };
    let known: Vec<Option<StrideClass>> = streams.iter().map(|s| s.stride_class(inner, &streams[0], c)).collect();
    let classes = |other: StrideClass| -> Vec<StrideClass> { known.iter().map(|w| w.unwrap_or(other)).collect() };
    let adjacent = if loops.versions { all_adjacent(c, streams, inner) } else { None };
    let mut open = Vec::new();
    for &d in outer {
        let l = c.begin_loop(dims[d]);
        if loops.independent {
            c.elementwise(&l);
        }
        for (a, s) in at.iter_mut().zip(streams) {
            *a = address_at(c, *a, l.index, s.strides[d]);
        }
        if open.is_empty() && loops.on_pool {
            mark_parallel(c, &l);
        }
        open.push(l);
    }
    let marked = outer.is_empty() && loops.on_pool;
    let innermost = Innermost { n: dims[inner], at, streams, inner, marked, independent: loops.independent };
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
    let unknown: Vec<&Stream> = streams.iter().filter(|s| s.stride_class(inner, &streams[0], c).is_none()).collect();
    for s in unknown {
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
    /// Whether it is the loop that may run on the pool.
    marked: bool,
    independent: bool,
}

impl Innermost<'_> {
    fn write(&self, c: &mut Cursor<'_>, classes: &[StrideClass], body: &mut Body<'_>) {
        // An element that may be the only one exists if the loop has an iteration.
        let guarded = classes.iter().any(|class| matches!(class, StrideClass::Either(_)));
        let after = guarded.then(|| {
            let zero = c.int(0);
            let runs = c.lt(zero, self.n);
            c.branch(runs)
        });
        // Memory that is long enough to be read in place of a repeated element. Other operands come before the
        // destination: LLVM, which may not know that iterations are independent, tests that they do not overlap it.
        let size = self.streams[0].elem.itemsize();
        let later = (2..classes.len()).find(|i| self.streams[*i].elem.itemsize() >= size);
        let later = later.and_then(|i| match classes[i] {
            StrideClass::Adjacent => Some(self.at[i]),
            StrideClass::Either(repeated) => Some(c.choose(repeated, self.at[0], self.at[i])),
            _ => None,
        });
        let mut spare = (later.unwrap_or(self.at[0]), size);
        let mut starts: Vec<(At, Option<Value>)> = Vec::with_capacity(classes.len());
        for (i, s) in self.streams.iter().enumerate() {
            let (at, stride) = self.start(c, s, self.at[i], classes[i], spare.0);
            let whole = match at {
                At::Either { address, .. } => Some(address),
                At::Address(address) if classes[i] == StrideClass::Adjacent => Some(address),
                _ => None,
            };
            if let Some(address) = whole.filter(|_| i > 0 && s.elem.itemsize() >= spare.1) {
                spare = (address, s.elem.itemsize());
            }
            starts.push((at, stride));
        }
        let l = c.begin_loop(self.n);
        if self.independent {
            c.elementwise(&l);
        }
        c.with_pragma(&l);
        if self.marked {
            mark_parallel(c, &l);
        }
        let places: Vec<At> = starts
            .into_iter()
            .map(|(at, stride)| match at {
                At::Address(p) => At::Address(address_at(c, p, l.index, stride)),
                At::Either { repeated, first, address } => {
                    At::Either { repeated, first, address: address_at(c, address, l.index, stride) }
                }
                At::Element(_) => at,
            })
            .collect();
        body(c, &places);
        c.end_loop(&l);
        if let Some(after) = after {
            c.end(Term::Jump(crate::edit::to(after, &[])), after);
        }
    }
    /// Where a stream begins, and its stride. `spare` is long enough for all elements.
    fn start(
        &self,
        c: &mut Cursor<'_>,
        s: &Stream,
        at: Value,
        class: StrideClass,
        spare: Value,
    ) -> (At, Option<Value>) {
        let size = |c: &mut Cursor<'_>| Some(c.int(s.elem.itemsize() as i64));
        // Addresses of several arrays meet in the choice, which would give constant arrays a derivative.
        let is_apart = c.func.options.derivative != Derivative::None;
        match if is_apart && matches!(class, StrideClass::Either(_)) { StrideClass::Strided } else { class } {
            // Stride 0 means an extent of 1, so the element exists even if the loop has no iteration.
            StrideClass::Repeated => (At::Element(c.inst(Inst::Load(at), s.elem)), None),
            StrideClass::Adjacent => (At::Address(at), size(c)),
            StrideClass::Strided => match s.strides[self.inner] {
                Some(stride) => (At::Address(at), Some(stride)),
                None => (At::Element(c.inst(Inst::Load(at), s.elem)), None),
            },
            StrideClass::Either(repeated) => {
                let first = c.inst(Inst::Load(at), s.elem);
                let address = c.choose(repeated, spare, at);
                (At::Either { repeated, first, address }, size(c))
            }
        }
    }
}

pub(super) fn address_at(c: &mut Cursor<'_>, base: Value, index: Value, stride: Option<Value>) -> Value {
    let Some(stride) = stride else { return base };
    let bytes = c.mul(index, stride);
    c.inst(Inst::PtrAdd(base, bytes), Ty::ptr())
}
