//! Lowers elementwise computations to loop nests.
//!
//! ```text
//! v2 = map(v0, v1) add($0: float64, $1: float64): float64: array(float64, 1, C)
//! ```
//! becomes, for two one-dimensional contiguous operands,
//! ```text
//!     branch <extents are equal>, block1(), block4()
//! block1():                               ; memory, then one counted loop over it
//!     v9 = runtime lh_alloc(v8): tuple(mem, ptr)
//!     ...
//! block2(v12: int):                       ; the loop: load, add, store
//!     ...
//! block4():                               ; general version: broadcast extents, ValueError if they do not fit,
//!     ...                                 ; one loop per dimension, stride 0 for repeated extents
//! ```
//!
//! Operands that are all contiguous in the same order need one loop whatever their rank. In the general nest, the
//! innermost loop has a second version for adjacent elements, which LLVM vectorises.
//!
//! A store into an array that overlaps itself, or that a source overlaps other than element by element, goes through
//! temporary memory: all elements are computed before the first is stored, and stored in order. Operands of rank 0 are
//! loaded once, before the loops.
//!
//! Of a computation whose result is not used, only the comparison of shapes remains.
//!
//! Exceptions go to the handler of the lowered instruction. The pass leaves no `Map` and no `MapInto`.

mod element;
mod joined;
mod nest;
mod operand;
mod overlap;
pub(super) mod parts;
mod shape;

use super::fuse_elementwise;
use crate::edit::{Cursor, to, use_counts};
use element::Element;
use hashbrown::HashMap;
use joined::Roots;
use lh_ir::func::{Inst, InstData, MapExpr, Term};
use lh_ir::runtime::RuntimeFn;
use lh_ir::{Block, Function, Layout, Ty, Value};
use lh_ops::runtime as rt;
use nest::{Loops, Stream, nest};
use operand::{Operand, Views, operands};
use parts::Produced;

pub(crate) fn run(func: &mut Function) -> bool {
    let is_map = |d: &InstData| matches!(d.inst, Inst::Map(..) | Inst::MapInto(..));
    if !func.blocks.iter().any(|b| b.insts.iter().any(is_map)) {
        return false;
    }
    let mut known = Known {
        views: Views::of(func),
        roots: Roots::of(func),
        counts: use_counts(func),
        in_parts: parts::find(func),
        produced: HashMap::new(),
    };
    each(func, is_map, |func, b, at| lower(func, b, at, &mut known));
    let parts = parts::parts(func, &known.produced);
    let is_part = |d: &InstData| d.result.is_some_and(|r| parts.contains_key(&r)) && parts::is_part(d);
    each(func, is_part, |func, b, at| {
        replace(func, b, at, |c, d, rest| {
            let r = d.result.expect("a part is a value");
            c.func.blocks[rest.index()].params = vec![r];
            let part = &parts[&r];
            let filled = known.produced[&part.computation].fill(c, part);
            c.end(Term::Jump(to(rest, &[filled])), rest);
        });
    });
    true
}

/// Calls a function with the places of some instructions, which it replaces by blocks.
fn each(func: &mut Function, is: impl Fn(&InstData) -> bool, mut f: impl FnMut(&mut Function, Block, usize)) {
    let mut b = 0;
    // The rest of a block after a lowered instruction becomes a new block, which the loop visits later.
    while b < func.blocks.len() {
        if let Some(at) = func.blocks[b].insts.iter().position(&is) {
            f(func, Block::new(b), at);
        }
        b += 1;
    }
}

/// Facts about a function whose computations are lowered.
struct Known {
    views: Views,
    roots: Roots,
    /// Uses of each value.
    counts: Vec<u32>,
    /// Computations that are read in parts.
    in_parts: HashMap<Value, parts::InParts>,
    /// Those that have begun.
    produced: HashMap<Value, Produced>,
}

/// Replaces an instruction by blocks, which `f` builds; they end with a jump to the rest of the block.
fn replace(func: &mut Function, block: Block, at: usize, f: impl FnOnce(&mut Cursor<'_>, InstData, Block)) {
    let data = &mut func.blocks[block.index()];
    let tail = data.insts.split_off(at + 1);
    let d = data.insts.pop().expect("the position is that of an instruction");
    let (term, term_span, unwind) = (data.term.take(), data.term_span, data.unwind.clone());
    let mut c = Cursor { func, block, span: d.span, unwind, cold: false };
    let (rest, _) = c.new_block(&[]);
    f(&mut c, d, rest);
    let data = &mut func.blocks[rest.index()];
    data.insts = tail;
    (data.term, data.term_span) = (term, term_span);
}

fn lower(func: &mut Function, block: Block, mut at: usize, known: &mut Known) {
    let partner = joined::partner(func, block, at, known).map(|next| {
        // The computations between the two come first.
        let insts = &mut func.blocks[block.index()].insts;
        let second = insts.remove(next);
        insts[at..next].rotate_left(1);
        at = next - 1;
        second.inst
    });
    replace(func, block, at, |c, d, rest| match (d.inst, d.result) {
        (Inst::Map(e, args), Some(r)) if known.in_parts.contains_key(&r) => {
            c.func.blocks[rest.index()].params = vec![r];
            let (ty, ops) = (c.func.ty(r), operands(c, &args, &known.views));
            let (produced, array) = Produced::begin(c, *e, ops, ty, known.in_parts[&r].is_whole);
            known.produced.insert(r, produced);
            c.end(Term::Jump(to(rest, &[array])), rest);
        }
        (Inst::Map(e, args), Some(r)) if known.counts[r.index()] == 0 && !fuse_elementwise::has_calls(&e) => {
            let ops = operands(c, &args, &known.views);
            let rank = c.func.ty(r).as_array().map_or(0, |a| a.1);
            shape::broadcast(c, &ops, rank);
            c.end(Term::Jump(to(rest, &[])), rest);
        }
        (Inst::Map(e, args), Some(r)) => {
            c.func.blocks[rest.index()].params = vec![r];
            let ty = c.func.ty(r);
            let ops = operands(c, &args, &known.views);
            lower_map(c, &e, &ops, ty, rest);
        }
        (first, None) if partner.is_some() => {
            joined::lower(c, first, partner.expect("there is one"), &known.views, rest);
        }
        (Inst::MapInto(e, args), _) => {
            let ops = operands(c, &args, &known.views);
            lower_map_into(c, &e, &ops, rest);
        }
        (other, _) => lh_ir::bug!("not an elementwise computation with a result: {other:?}"),
    });
}

/// Ends every version with a jump to `rest` that carries the result.
fn lower_map(c: &mut Cursor<'_>, e: &MapExpr, ops: &[Operand], ty: Ty, rest: Block) {
    let (dtype, rank, layout, _) = ty.as_array().expect("a map makes an array");
    let arrays: Vec<&Operand> = ops.iter().filter(|o| o.rank() > 0).collect();
    let new = New { dtype, ty, fortran: layout == Layout::F };
    if let Some(flat_layout) = common_layout(&arrays, rank).filter(|_| !shape::differ(&arrays)) {
        let flat = New { fortran: flat_layout == Layout::F, ..new };
        let same = shape::all_equal(c, &arrays);
        let general = same.map(|s| c.branch(s));
        new_flat(c, e, ops, &flat, &arrays[0].shape, rest);
        let Some(general) = general else { return };
        c.block = general;
        // With one dimension, an extent of 1 beside others is rare.
        c.cold = rank == 1;
        new_general(c, e, ops, &new, rank, false, rest);
    } else {
        new_general(c, e, ops, &new, rank, true, rest);
    }
}

/// The array that a `Map` makes.
#[derive(Clone, Copy)]
struct New {
    dtype: Ty,
    ty: Ty,
    fortran: bool,
}

impl New {
    /// Allocates the array; answers with it, its address and its strides.
    fn allocate(&self, c: &mut Cursor<'_>, shape: &[Value], nbytes: Value) -> (Value, Value, Vec<Value>) {
        let (owner, data) = allocate(c, &rt::lh_alloc, nbytes);
        let strides = shape::contiguous_strides(c, shape, self.dtype.itemsize(), self.fortran);
        let inst = Inst::ArrayMake { owner, data, shape: shape.to_vec(), strides: strides.clone() };
        (c.inst(inst, self.ty), data, strides)
    }
}

/// Calls an allocation function of the run-time library; answers with owner and address.
fn allocate(c: &mut Cursor<'_>, from: &'static RuntimeFn, nbytes: Value) -> (Value, Value) {
    let pair = c.inst(Inst::Runtime(from, vec![nbytes]), Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]));
    (c.inst(Inst::Field(pair, 0), Ty::meminfo()), c.inst(Inst::Field(pair, 1), Ty::ptr()))
}

/// The layout of all arrays if they have this rank and one contiguous layout.
fn common_layout(arrays: &[&Operand], rank: usize) -> Option<Layout> {
    let first = arrays.first()?.layout;
    let fits = |o: &&Operand| o.rank() == rank && o.layout == first;
    (first != Layout::A && arrays.iter().all(fits)).then_some(first)
}

fn new_flat(c: &mut Cursor<'_>, e: &MapExpr, ops: &[Operand], new: &New, shape: &[Value], rest: Block) {
    let n = shape::product(c, shape);
    let size = c.int(new.dtype.itemsize() as i64);
    let nbytes = c.mul(n, size);
    let (array, data, _) = new.allocate(c, shape, nbytes);
    let mut streams = vec![Stream::flat(c, data, new.dtype)];
    for o in ops.iter().filter(|o| o.rank() > 0) {
        streams.push(Stream::flat(c, o.data, o.elem));
    }
    let element = Element::new(e, ops);
    nest(c, &[n], &[0], &streams, Loops::whole(false), &mut |c, at| element.compute_and_store(c, at));
    c.end(Term::Jump(to(rest, &[array])), rest);
}

fn new_general(c: &mut Cursor<'_>, e: &MapExpr, ops: &[Operand], new: &New, rank: usize, versions: bool, rest: Block) {
    let dims = shape::broadcast(c, ops, rank);
    let nbytes = shape::checked_bytes(c, &dims, new.dtype.itemsize());
    let (array, data, strides) = new.allocate(c, &dims, nbytes);
    let order = shape::order(rank, new.fortran);
    let mut streams = vec![Stream::strided(data, new.dtype, strides, order.last().copied())];
    for o in ops.iter().filter(|o| o.rank() > 0) {
        streams.push(shape::broadcast_stream(c, o, ops, rank));
    }
    let element = Element::new(e, ops);
    nest(c, &dims, &order, &streams, Loops::whole(versions), &mut |c, at| element.compute_and_store(c, at));
    c.end(Term::Jump(to(rest, &[array])), rest);
}

fn lower_map_into(c: &mut Cursor<'_>, e: &MapExpr, ops: &[Operand], rest: Block) {
    let (dest, sources) = ops.split_first().expect("a destination");
    // The destination as its own source always fits, and each element is read before it is written.
    let others: Vec<&Operand> = sources.iter().filter(|o| o.rank() > 0 && o.value != dest.value).collect();
    let mut all = vec![dest];
    all.extend(&others);
    if dest.rank() > 0 && common_layout(&all, dest.rank()).is_some() && !shape::differ(&all) {
        let same = shape::all_equal(c, &all);
        let apart = overlap::is_safe(c, dest, &others, true, false);
        let cond = match (same, apart) {
            (Some(a), Some(b)) => Some(c.and(a, b)),
            (a, b) => a.or(b),
        };
        let general = cond.map(|s| c.branch(s));
        into_flat(c, e, dest, sources, rest);
        let Some(general) = general else { return };
        c.block = general;
        // Operands that overlap are as common as those that do not, and as contiguous.
        into_general(c, e, dest, sources, true, rest);
    } else {
        into_general(c, e, dest, sources, true, rest);
    }
}

fn into_flat(c: &mut Cursor<'_>, e: &MapExpr, dest: &Operand, sources: &[Operand], rest: Block) {
    let n = shape::product(c, &dest.shape);
    let mut streams = vec![Stream::flat(c, dest.data, dest.elem)];
    for o in sources.iter().filter(|o| o.rank() > 0) {
        streams.push(Stream::flat(c, o.data, o.elem));
    }
    let element = Element::new(e, sources);
    nest(c, &[n], &[0], &streams, Loops::whole(false), &mut |c, at| element.compute_and_store(c, at));
    c.end(Term::Jump(to(rest, &[])), rest);
}

fn into_general(c: &mut Cursor<'_>, e: &MapExpr, dest: &Operand, sources: &[Operand], versions: bool, rest: Block) {
    let others: Vec<&Operand> = sources.iter().filter(|o| o.rank() > 0 && o.value != dest.value).collect();
    let in_place = sources.iter().any(|o| o.value == dest.value);
    let rank = dest.rank();
    shape::check_into(c, dest, sources, in_place);
    let order = shape::order(rank, dest.layout == Layout::F);
    let inner = order.last().copied();
    let filled = sources.iter().all(|o| o.rank() == 0) && !fuse_elementwise::has_calls(e);
    let safe = overlap::is_safe(c, dest, &others, false, filled);
    let harmful = safe.map(|a| c.op(crate::edit::row("not"), &[a], Ty::bool()));
    let target = match harmful {
        Some(h) => overlap::target_or_temporary(c, dest, h),
        None => overlap::Destination { data: overlap::address(c, dest), strides: dest.strides.clone() },
    };
    // Temporary memory has the destination's order.
    let known = if dest.layout == Layout::A { None } else { inner };
    let mut streams = vec![Stream::strided(target.data, dest.elem, target.strides.clone(), known)];
    for o in sources.iter().filter(|o| o.rank() > 0) {
        streams.push(if o.value == dest.value {
            Stream::strided(o.data, o.elem, o.strides.clone(), if dest.layout == Layout::A { None } else { inner })
        } else {
            shape::broadcast_stream_into(c, o, dest)
        });
    }
    let element = Element::new(e, sources);
    nest(c, &dest.shape, &order, &streams, Loops::whole(versions), &mut |c, at| element.compute_and_store(c, at));
    if let Some(h) = harmful {
        let direct = c.branch(h);
        overlap::copy(c, &target, dest, &order);
        c.end(Term::Jump(to(direct, &[])), direct);
    }
    c.end(Term::Jump(to(rest, &[])), rest);
}
