//! Computations that a reduction reads in parts: a part is filled where it is read, in memory of its own, or in the
//! whole array if that has other uses.

use super::nest::{Loops, Stream, nest};
use super::operand::Operand;
use super::{Element, New, allocate, common_layout, shape};
use crate::edit::{Cursor, to, uses_at_end};
use hashbrown::{HashMap, HashSet};
use lh_ir::func::{Inst, InstData, MapExpr, Term};
use lh_ir::runtime::{Parts, Role};
use lh_ir::{Block, Function, Span, Ty, Value};
use lh_ops::runtime as rt;

/// Parts of at most so many elements are on the stack.
const SHORT: i64 = 64;

/// A computation that is read in parts.
pub(super) struct Produced {
    expr: MapExpr,
    ops: Vec<Operand>,
    /// Extents of the result.
    dims: Vec<Value>,
    dtype: Ty,
    /// Owner and address of the whole array, if it is needed.
    whole: Option<(Value, Value)>,
    /// Whether all operands are contiguous memory of the result's shape, and the condition for that.
    flat: Option<Option<Value>>,
}

/// An instruction that reads a part: the computation, the first element and the number of elements.
pub(super) struct Part {
    pub computation: Value,
    start: Value,
    n: Value,
}

/// How a computation is read in parts.
pub(crate) struct InParts {
    /// Whether it has other uses, which need the whole array.
    pub is_whole: bool,
    /// The place of the reduction.
    pub span: Span,
}

/// The computations that are read in parts.
pub(crate) fn find(func: &Function) -> HashMap<Value, InParts> {
    let insts = || func.blocks.iter().flat_map(|b| &b.insts);
    let addresses = addresses(func);
    let part = |d: &InstData| {
        let array = computation(d, &addresses)?;
        Some((array, InParts { is_whole: false, span: d.span }))
    };
    let mut found: HashMap<Value, InParts> = insts().filter_map(part).collect();
    if found.is_empty() {
        return found;
    }
    let maps: HashSet<Value> = insts().filter(|d| matches!(d.inst, Inst::Map(..))).filter_map(|d| d.result).collect();
    found.retain(|r, _| maps.contains(r));
    let mut other = |v: Value| {
        let array = addresses.get(&v).copied().unwrap_or(v);
        if let Some(found) = found.get_mut(&array) {
            found.is_whole = true;
        }
    };
    for (b, data) in func.blocks.iter().enumerate() {
        for d in &data.insts {
            match &d.inst {
                Inst::ArrayShape(..) | Inst::ArrayData(_) | Inst::ArrayOwner(_) => {}
                _ if is_part(d) => {}
                inst => inst.for_each_operand(&mut other),
            }
        }
        uses_at_end(func, Block::new(b)).into_iter().for_each(&mut other);
    }
    found
}

/// The array of which each value is the address or owner.
fn addresses(func: &Function) -> HashMap<Value, Value> {
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let address = |d: &InstData| match d.inst {
        Inst::ArrayData(a) | Inst::ArrayOwner(a) => Some((d.result?, a)),
        _ => None,
    };
    insts.filter_map(address).collect()
}

pub(super) fn is_part(d: &InstData) -> bool {
    matches!(&d.inst, Inst::Runtime(f, _) if f.role == Role::Parts(Parts::Part))
}

fn computation(d: &InstData, addresses: &HashMap<Value, Value>) -> Option<Value> {
    let Inst::Runtime(_, args) = &d.inst else { return None };
    if !is_part(d) {
        return None;
    }
    addresses.get(&args[1]).copied()
}

/// The parts of computations in a function, by their results.
pub(super) fn parts(func: &Function, of: &HashMap<Value, Produced>) -> HashMap<Value, Part> {
    let addresses = addresses(func);
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let part = |d: &InstData| {
        let Inst::Runtime(_, args) = &d.inst else { return None };
        let computation = computation(d, &addresses).filter(|c| of.contains_key(c))?;
        Some((d.result?, Part { computation, start: args[2], n: args[3] }))
    };
    insts.filter_map(part).collect()
}

impl Produced {
    /// Compares shapes, makes the array if it is needed whole, and answers with a value for its extents.
    pub(super) fn begin(
        c: &mut Cursor<'_>,
        e: MapExpr,
        ops: Vec<Operand>,
        ty: Ty,
        is_whole: bool,
    ) -> (Produced, Value) {
        let (dtype, rank, ..) = ty.as_array().expect("a map makes an array");
        let arrays: Vec<&Operand> = ops.iter().filter(|o| o.rank() > 0).collect();
        let is_flat = common_layout(&arrays, rank).is_some() && !shape::differ(&arrays);
        let flat = is_flat.then(|| shape::all_equal(c, &arrays));
        let dims = shape::broadcast(c, &ops, rank);
        let new = New { dtype, ty, fortran: false };
        let (array, whole) = if is_whole {
            let nbytes = shape::checked_bytes(c, &dims, dtype.itemsize());
            let (array, data, _) = new.allocate(c, &dims, nbytes);
            let owner = c.inst(Inst::ArrayOwner(array), Ty::meminfo());
            (array, Some((owner, data)))
        } else {
            let (owner, data) = (c.inst(Inst::Zero, Ty::meminfo()), c.inst(Inst::Zero, Ty::ptr()));
            let strides = shape::contiguous_strides(c, &dims, dtype.itemsize(), false);
            (c.inst(Inst::ArrayMake { owner, data, shape: dims.clone(), strides }, ty), None)
        };
        (Produced { expr: e, ops, dims, dtype, whole, flat }, array)
    }
    /// Fills a part; answers with its owner and address.
    pub(super) fn fill(&self, c: &mut Cursor<'_>, part: &Part) -> Value {
        let size = c.int(self.dtype.itemsize() as i64);
        let (owner, data) = match self.whole {
            Some((owner, data)) => {
                let before = c.mul(part.start, size);
                (owner, c.inst(Inst::PtrAdd(data, before), Ty::ptr()))
            }
            None => self.memory(c, part.n, size),
        };
        match self.flat {
            Some(None) => self.fill_flat(c, part, data),
            Some(Some(same)) => {
                let general = c.branch(same);
                self.fill_flat(c, part, data);
                let (join, _) = c.new_block(&[]);
                c.end(Term::Jump(to(join, &[])), general);
                self.fill_general(c, part, data);
                c.end(Term::Jump(to(join, &[])), join);
            }
            None => self.fill_general(c, part, data),
        }
        c.inst(Inst::Pack(vec![owner, data]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]))
    }
    /// Owner and address of memory for a part: that of short ones is on the stack, without an owner.
    fn memory(&self, c: &mut Cursor<'_>, n: Value, size: Value) -> (Value, Value) {
        let limit = c.int(SHORT + 1);
        let is_short = c.lt(n, limit);
        let long = c.branch(is_short);
        let (owner, bytes) = (c.inst(Inst::Zero, Ty::meminfo()), c.int(SHORT * self.dtype.itemsize() as i64));
        let align = c.int(64);
        let data = c.inst(Inst::Runtime(&rt::lh_cuda_local, vec![bytes, align]), Ty::ptr());
        let (join, params) = c.new_block(&[Ty::meminfo(), Ty::ptr()]);
        c.end(Term::Jump(to(join, &[owner, data])), long);
        let nbytes = c.mul(n, size);
        let (owner, data) = allocate(c, &rt::lh_alloc, nbytes);
        c.end(Term::Jump(to(join, &[owner, data])), join);
        (params[0], params[1])
    }
    fn arrays(&self) -> impl Iterator<Item = &Operand> {
        self.ops.iter().filter(|o| o.rank() > 0)
    }
    fn fill_flat(&self, c: &mut Cursor<'_>, part: &Part, data: Value) {
        let mut streams = vec![Stream::flat(c, data, self.dtype)];
        for o in self.arrays() {
            let whole = Stream::flat(c, o.data, o.elem);
            streams.push(whole.after(c, 0, part.start));
        }
        self.line(c, part.n, &streams, false);
    }
    /// Fills a part of an array with any operands: one row after the other, as far as it is in the part.
    fn fill_general(&self, c: &mut Cursor<'_>, part: &Part, data: Value) {
        let (&width, outer) = self.dims.split_last().expect("a rank");
        let last = outer.len();
        if outer.is_empty() {
            let mut streams = vec![Stream::flat(c, data, self.dtype)];
            for o in self.arrays() {
                let whole = shape::broadcast_stream(c, o, &self.ops, 1);
                streams.push(whole.after(c, 0, part.start));
            }
            return self.line(c, part.n, &streams, self.flat.is_none());
        }
        let wholes: Vec<Stream> =
            self.arrays().map(|o| shape::broadcast_stream(c, o, &self.ops, self.dims.len())).collect();
        let zero = c.int(0);
        let (header, params) = c.new_block(&[Ty::int()]);
        let (body, _) = c.new_block(&[]);
        let (exit, _) = c.new_block(&[]);
        c.end(Term::Jump(to(header, &[zero])), header);
        let done = params[0];
        let more = c.lt(done, part.n);
        c.end(Term::Branch { cond: more, then: to(body, &[]), els: to(exit, &[]) }, body);
        let at = c.add(part.start, done);
        let mut rest = c.int_op("sdiv", at, width);
        let before = c.mul(rest, width);
        let column = c.sub(at, before);
        let (in_row, in_part) = (c.sub(width, column), c.sub(part.n, done));
        let is_less = c.lt(in_row, in_part);
        let n = c.select(is_less, in_row, in_part);
        let mut streams: Vec<Stream> = wholes.iter().map(|s| s.after(c, last, column)).collect();
        for (d, extent) in outer.iter().enumerate().rev() {
            let index = if d > 0 { c.int_op("srem", rest, *extent) } else { rest };
            streams = streams.iter().map(|s| s.after(c, d, index)).collect();
            if d > 0 {
                rest = c.int_op("sdiv", rest, *extent);
            }
        }
        let whole = Stream::flat(c, data, self.dtype);
        let mut all = vec![whole.after(c, 0, done)];
        all.extend(streams.iter().map(|s| s.along(last)));
        self.line(c, n, &all, self.flat.is_none());
        let next = c.add(done, n);
        c.end(Term::Jump(to(header, &[next])), exit);
    }
    fn line(&self, c: &mut Cursor<'_>, n: Value, streams: &[Stream], versions: bool) {
        let element = Element::new(&self.expr, &self.ops);
        let loops = Loops { on_pool: false, ..Loops::whole(versions) };
        nest(c, &[n], &[0], streams, loops, &mut |c, at| element.compute_and_store(c, at));
    }
}
