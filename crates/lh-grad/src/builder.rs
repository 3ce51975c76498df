//! Appending instructions to blocks of a function.

use lh_ir::cfg::Edge;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::op::Op;
use lh_ir::{Block, Const, Function, Slot, Span, Ty, Value, bug};
use std::sync::LazyLock;

/// The row of a name that this crate emits.
pub(crate) fn row(name: &str) -> &'static Op {
    lh_ops::row(name).unwrap_or_else(|| bug!("no row `{name}`"))
}

/// The sum of two parts of an adjoint, whose order means nothing.
pub(crate) static SUM: LazyLock<&'static Op> = LazyLock::new(|| row("add_any_order"));

/// A jump's target.
pub(crate) fn to(block: Block, args: Vec<Value>) -> Target {
    Target { block, args }
}

/// Appends instructions to a list, which belongs into some block.
pub(crate) struct Builder<'a> {
    pub func: &'a mut Function,
    pub insts: Vec<InstData>,
    /// Their place in the source.
    pub span: Span,
}

impl<'a> Builder<'a> {
    /// A builder of an empty list.
    pub(crate) fn new(func: &'a mut Function, span: Span) -> Builder<'a> {
        Builder { func, insts: Vec::new(), span }
    }
    /// A builder that continues a block, whose instructions it takes until [`Builder::finish`].
    pub(crate) fn at_end(func: &'a mut Function, block: Block, span: Span) -> Builder<'a> {
        let insts = std::mem::take(&mut func.blocks[block.index()].insts);
        Builder { func, insts, span }
    }
    /// Gives a block the instructions.
    pub(crate) fn finish(self, block: Block) {
        self.func.blocks[block.index()].insts = self.insts;
    }
    /// Gives a block the instructions and a terminator.
    pub(crate) fn end(self, block: Block, term: Term) {
        let data = &mut self.func.blocks[block.index()];
        (data.insts, data.term, data.term_span) = (self.insts, Some(term), self.span);
    }
    pub(crate) fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.func.new_value(ty);
        self.insts.push(InstData { result: Some(v), inst, span: self.span });
        v
    }
    pub(crate) fn effect(&mut self, inst: Inst) {
        self.insts.push(InstData { result: None, inst, span: self.span });
    }
    pub(crate) fn op(&mut self, op: &'static Op, args: &[Value], ty: Ty) -> Value {
        self.inst(Inst::Op(op, args.to_vec()), ty)
    }
    /// An operation on integers.
    pub(crate) fn int_op(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.op(row(name), &[a, b], Ty::int())
    }
    /// A comparison of integers.
    pub(crate) fn test(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.op(row(name), &[a, b], Ty::bool())
    }
    pub(crate) fn int(&mut self, n: i64) -> Value {
        self.inst(Inst::Const(Const::Int(i128::from(n), Ty::int())), Ty::int())
    }
    /// A number of a float type.
    pub(crate) fn float(&mut self, x: f64, ty: Ty) -> Value {
        self.inst(Inst::Const(Const::Float(x, ty)), ty)
    }
    pub(crate) fn get(&mut self, slot: Slot) -> Value {
        let ty = self.func.slots[slot.index()];
        self.inst(Inst::SlotGet(slot), ty)
    }
    pub(crate) fn set(&mut self, slot: Slot, v: Value) {
        self.effect(Inst::SlotSet(slot, v));
    }
    /// The value as another number type.
    pub(crate) fn cast(&mut self, v: Value, ty: Ty) -> Value {
        if self.func.ty(v) == ty { v } else { self.inst(Inst::Cast(v), ty) }
    }
}

/// A size that there is no memory for on any machine. Numbers of places and of bytes are at most that, so that none
/// overflows.
pub(crate) const MOST: i64 = 1 << 60;

/// The product of two numbers that are not negative, at most [`MOST`].
pub(crate) fn product(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let most = b.int(MOST);
    let [wide_x, wide_y, limit] = [x, y, most].map(|v| b.inst(Inst::Cast(v), Ty::f64()));
    let about = b.op(row("mul"), &[wide_x, wide_y], Ty::f64());
    let (fits, all) = (b.test("lt", about, limit), b.int_op("mul", x, y));
    b.op(row("select"), &[fits, all, most], Ty::int())
}

/// The iterations of a loop from `first` to `limit`, `most` if they are more: a loop that begins beyond its limit has
/// none.
pub(crate) fn iterations(b: &mut Builder<'_>, (first, limit): (Value, Value), most: i64) -> Value {
    let (n, none, most) = (b.int_op("sub", limit, first), b.int(0), b.int(most));
    let is_some = b.test("lt", first, limit);
    // The difference of distant limits is negative.
    let (fits, is_natural) = (b.test("lt", n, most), b.test("le", none, n));
    let n = b.op(row("select"), &[fits, n, most], Ty::int());
    let n = b.op(row("select"), &[is_natural, n, most], Ty::int());
    b.op(row("select"), &[is_some, n, none], Ty::int())
}

/// The iterations that a loop from `first` to `limit` has made.
pub(crate) fn trips(b: &mut Builder<'_>, first: Value, limit: Value, step: i64) -> Value {
    let (is_some, mut n, none) = (b.test("lt", first, limit), b.int_op("sub", limit, first), b.int(0));
    if step != 1 {
        let (one, step) = (b.int(1), b.int(step));
        n = b.int_op("sub", n, one);
        n = b.int_op("sdiv", n, step);
        n = b.int_op("add", n, one);
    }
    b.op(row("select"), &[is_some, n, none], Ty::int())
}

/// The target that an edge is.
fn target_of<'f>(func: &'f mut Function, e: &Edge) -> &'f mut Target {
    let data = &mut func.blocks[e.from.index()];
    let found = match e.target {
        Some(at) => data.term.as_mut().and_then(|t| t.targets_mut().into_iter().nth(at as usize)),
        None => data.unwind.as_mut(),
    };
    found.expect("the edge is there")
}

/// The arguments of an edge.
pub(crate) fn edge_args<'f>(func: &'f mut Function, e: &Edge) -> &'f mut Vec<Value> {
    &mut target_of(func, e).args
}

/// Lets an edge lead to another block.
pub(crate) fn redirect(func: &mut Function, e: &Edge, block: Block, args: Vec<Value>) {
    *target_of(func, e) = to(block, args);
}
