//! Stores of the same shape in sequence, as in `u[1:-1] = ...; v[1:-1] = ...`, become one nest, so that what they read
//! is read once.
//!
//! Each element is stored by the first statement, then by the second. That is the program's meaning if no destination
//! overlaps an operand other than element by element, which is known of views of one array, and is tested of others. If
//! the test fails, the statements run one after the other.

use super::element::Element;
use super::nest::{Loops, Stream, nest};
use super::operand::{Operand, Views, operands};
use super::{Known, into_general, overlap, shape};
use crate::arrays::fuse_elementwise::has_calls;
use crate::edit::{Cursor, to};
use hashbrown::HashMap;
use lh_ir::func::{Device, Inst, MapExpr, Term};
use lh_ir::{Block, Function, Layout, Value};

/// Bound on the operands of both statements, each of which needs an address in the loop.
const MAX_OPERANDS: usize = 12;

/// Arrays of which others are views.
pub(super) struct Roots(HashMap<Value, Value>);

impl Roots {
    pub(super) fn of(func: &Function) -> Roots {
        let insts = func.blocks.iter().flat_map(|b| &b.insts);
        let above = insts.filter_map(|d| match &d.inst {
            Inst::PtrAdd(p, _) | Inst::ArrayData(p) => Some((d.result?, *p)),
            Inst::ArrayMake { data, .. } => Some((d.result?, *data)),
            _ => None,
        });
        Roots(above.collect())
    }
    fn root(&self, mut v: Value) -> Value {
        while let Some(above) = self.0.get(&v) {
            v = *above;
        }
        v
    }
}

/// The position of a store that can be joined with the one at a position of the block: nothing between the two reads
/// memory or may raise.
pub(super) fn partner(func: &Function, block: Block, at: usize, known: &Known) -> Option<usize> {
    if func.options.device != Device::Host {
        return None;
    }
    let insts = &func.blocks[block.index()].insts;
    let Inst::MapInto(first, a) = &insts[at].inst else { return None };
    let next = at + 1 + insts[at + 1..].iter().position(|d| !computes(&d.inst))?;
    let Inst::MapInto(second, b) = &insts[next].inst else { return None };
    let arrays =
        |of: &[Value]| of.iter().copied().filter(|v| func.ty(*v).as_array().is_some_and(|t| t.1 > 0)).collect();
    let (mine, others): (Vec<Value>, Vec<Value>) = (arrays(a), arrays(b));
    let dest = known.views.shape(a[0])?;
    let fits = |v: &Value| known.views.shape(*v).is_some_and(|s| s.len() <= dest.len() && dest.ends_with(s));
    let is_strided = |v: &Value| dest.len() == 1 || func.ty(*v).as_array().is_some_and(|t| t.2 == Layout::A);
    let same_shape = known.views.shape(b[0])? == dest && mine.iter().chain(&others).all(fits);
    // The test of addresses would always fail for other views of a destination.
    let apart = |d: Value, v: &Value| *v == d || known.roots.root(*v) != known.roots.root(d);
    let is_apart = mine.iter().chain(&others).all(|v| apart(a[0], v) && apart(b[0], v));
    // An array without dimensions is read before both.
    let is_element = |v: &Value| func.ty(*v).as_array().is_some_and(|t| t.1 == 0);
    let is_simple =
        !b.iter().any(is_element) && !has_calls(first) && !has_calls(second) && a.len() + b.len() <= MAX_OPERANDS;
    (same_shape && is_apart && is_simple && a[0] != b[0] && is_strided(&a[0]) && is_strided(&b[0])).then_some(next)
}

/// Whether an instruction computes a value that does not depend on memory.
fn computes(inst: &Inst) -> bool {
    inst.is_pure()
        && !inst.can_raise()
        && !matches!(inst, Inst::Load(_) | Inst::ItemsLen(_) | Inst::ItemsData(_) | Inst::SlotGet(_))
}

/// A store: its destination, sources and expression.
struct Store {
    expr: MapExpr,
    operands: Vec<Operand>,
}

impl Store {
    fn new(c: &mut Cursor<'_>, inst: Inst, views: &Views) -> Store {
        let Inst::MapInto(expr, args) = inst else { lh_ir::bug!("not a store: {inst:?}") };
        Store { expr: *expr, operands: operands(c, &args, views) }
    }
    fn dest(&self) -> &Operand {
        &self.operands[0]
    }
    fn streams(&self, c: &mut Cursor<'_>) -> Vec<Stream> {
        let dest = self.dest();
        // A destination moves along every dimension, also where its extent is always 1.
        let known = if dest.layout == Layout::A { None } else { dest.rank().checked_sub(1) };
        let own = Stream::strided(dest.data, dest.elem, dest.strides.clone(), known);
        let arrays = self.operands[1..].iter().filter(|o| o.rank() > 0);
        std::iter::once(own).chain(arrays.map(|o| shape::broadcast_stream_into(c, o, dest))).collect()
    }
    /// Whether the destination is apart from all other operands, of either store.
    fn is_safe(&self, c: &mut Cursor<'_>, other: &Store) -> Option<Value> {
        let all = self.operands.iter().chain(&other.operands);
        let mut others: Vec<&Operand> = Vec::new();
        for o in all.filter(|o| o.rank() > 0 && o.value != self.dest().value) {
            if !others.iter().any(|p| p.value == o.value) {
                others.push(o);
            }
        }
        overlap::is_safe(c, self.dest(), &others, false, false)
    }
}

/// Lowers two stores, and continues in `rest`.
pub(super) fn lower(c: &mut Cursor<'_>, first: Inst, second: Inst, views: &Views, rest: Block) {
    let (a, b) = (Store::new(c, first, views), Store::new(c, second, views));
    let safe = match (a.is_safe(c, &b), b.is_safe(c, &a)) {
        (Some(x), Some(y)) => Some(c.and(x, y)),
        (x, y) => x.or(y),
    };
    let apart = safe.map(|s| c.branch(s));
    let dest = a.dest();
    let mut streams = a.streams(c);
    let split = streams.len();
    streams.extend(b.streams(c));
    let order = shape::order(dest.rank(), dest.layout == Layout::F);
    let (one, other) = (Element::new(&a.expr, &a.operands[1..]), Element::new(&b.expr, &b.operands[1..]));
    nest(c, &dest.shape, &order, &streams, Loops::whole(true), &mut |c, at| {
        one.compute_and_store(c, &at[..split]);
        other.compute_and_store(c, &at[split..]);
    });
    c.end(Term::Jump(to(rest, &[])), rest);
    let Some(apart) = apart else { return };
    c.block = apart;
    c.cold = true;
    let (between, _) = c.new_block(&[]);
    into_general(c, &a.expr, a.dest(), &a.operands[1..], true, between);
    c.block = between;
    into_general(c, &b.expr, b.dest(), &b.operands[1..], true, rest);
}
