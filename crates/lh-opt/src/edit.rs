//! Building typed IR: a cursor that appends to a block, and rewriting of whole functions.

pub(crate) mod overlap;
pub(crate) mod version;

use hashbrown::HashMap;
use lh_ir::cfg::targets;
use lh_ir::func::{BlockData, Inst, InstData, LoopHint, Parallel, Target, Term};
use lh_ir::op::Op;
use lh_ir::{Block, Const, Function, Span, Ty, Value, bug};
use std::sync::LazyLock;

/// The operation of a name that passes emit.
pub(crate) fn row(name: &str) -> &'static Op {
    lh_ops::row(name).unwrap_or_else(|| bug!("no row `{name}`"))
}

/// Appends instructions to a block.
pub(crate) struct Cursor<'a> {
    pub func: &'a mut Function,
    /// Where instructions go.
    pub block: Block,
    /// Their place in the source.
    pub span: Span,
    /// Handler of new blocks.
    pub unwind: Option<Target>,
    /// Whether new blocks are cold.
    pub cold: bool,
}

/// Methods of a builder that makes the function `out` of the kernel `old` and appends to its block `at`.
macro_rules! builder_methods {
    () => {
        pub(super) fn cursor<R>(&mut self, f: impl FnOnce(&mut Cursor<'_>) -> R) -> R {
            let mut c = Cursor { func: &mut self.out, block: self.at, span: self.span, unwind: None, cold: false };
            let r = f(&mut c);
            self.at = c.block;
            r
        }
        pub(super) fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
            self.cursor(|c| c.inst(inst, ty))
        }
        pub(super) fn effect(&mut self, inst: Inst) {
            self.cursor(|c| c.effect(inst));
        }
        /// Ends the current block.
        pub(super) fn end(&mut self, term: Term) {
            let data = &mut self.out.blocks[self.at.index()];
            (data.term, data.term_span) = (Some(term), self.span);
        }
        pub(super) fn context(&self) -> Value {
            self.old.params()[0]
        }
    };
}
pub(crate) use builder_methods;

macro_rules! int_rows {
    ($($name:ident, $row:literal, $ret:ident;)*) => {$(
        #[doc = concat!("The row `", $row, "` on integers or truth values.")]
        pub(crate) fn $name(&mut self, a: Value, b: Value) -> Value {
            static ROW: LazyLock<&'static Op> = LazyLock::new(|| row($row));
            self.op(*ROW, &[a, b], Ty::$ret())
        }
    )*};
}

impl Cursor<'_> {
    int_rows! {
        add, "add", int;
        sub, "sub", int;
        mul, "mul", int;
        eq, "eq", bool;
        lt, "lt", bool;
        le, "le", bool;
        and, "and", bool;
        or, "or", bool;
        or_int, "or", int;
        and_int, "and", int;
    }
    /// The operation of a name on two integers.
    pub(crate) fn int_op(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.op(row(name), &[a, b], Ty::int())
    }
    /// Appends an instruction with a result.
    pub(crate) fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.func.new_value(ty);
        let d = InstData { result: Some(v), inst, span: self.span };
        self.func.blocks[self.block.index()].insts.push(d);
        v
    }
    /// Appends an instruction without a result.
    pub(crate) fn effect(&mut self, inst: Inst) {
        let d = InstData { result: None, inst, span: self.span };
        self.func.blocks[self.block.index()].insts.push(d);
    }
    pub(crate) fn op(&mut self, op: &'static Op, args: &[Value], ty: Ty) -> Value {
        self.inst(Inst::Op(op, args.to_vec()), ty)
    }
    pub(crate) fn int(&mut self, i: i64) -> Value {
        self.inst(Inst::Const(Const::Int(i.into(), Ty::int())), Ty::int())
    }
    pub(crate) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op(row("select"), &[cond, a, b], ty)
    }
    /// `a` if `cond` is true, else `b`, of any type; a branch selects types for which there is no operation `select`.
    pub(crate) fn choose(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        if row("select").sig.result(&[Ty::bool(), ty, ty], None).is_some() {
            return self.select(cond, a, b);
        }
        let other = self.branch(cond);
        let (join, chosen) = self.new_block(&[ty]);
        self.end(Term::Jump(to(join, &[a])), other);
        self.end(Term::Jump(to(join, &[b])), join);
        chosen[0]
    }
    pub(crate) fn new_block(&mut self, params: &[Ty]) -> (Block, Vec<Value>) {
        let b = self.func.new_block();
        let params: Vec<Value> = params.iter().map(|t| self.func.new_value(*t)).collect();
        self.func.blocks[b.index()].params.clone_from(&params);
        self.func.blocks[b.index()].unwind.clone_from(&self.unwind);
        self.func.blocks[b.index()].cold = self.cold;
        (b, params)
    }
    /// Ends the current block and continues in another.
    pub(crate) fn end(&mut self, term: Term, next: Block) {
        let data = &mut self.func.blocks[self.block.index()];
        (data.term, data.term_span) = (Some(term), self.span);
        self.block = next;
    }
    /// Ends the current block with a branch to two new blocks without parameters, and continues in the first.
    pub(crate) fn branch(&mut self, cond: Value) -> Block {
        let then = self.new_block(&[]).0;
        let els = self.new_block(&[]).0;
        let term = Term::Branch { cond, then: to(then, &[]), els: to(els, &[]) };
        self.end(term, then);
        els
    }
    /// Begins `for i in range(n)` and continues in its body; [`Cursor::end_loop`] closes the loop and continues after
    /// it.
    pub(crate) fn begin_loop(&mut self, n: Value) -> CountedLoop {
        let zero = self.int(0);
        let one = self.int(1);
        let (header, params) = self.new_block(&[Ty::int()]);
        let (body, _) = self.new_block(&[]);
        let (exit, _) = self.new_block(&[]);
        self.end(Term::Jump(to(header, &[zero])), header);
        let more = self.lt(params[0], n);
        self.end(Term::Branch { cond: more, then: to(body, &[]), els: to(exit, &[]) }, body);
        CountedLoop { header, exit, index: params[0], one }
    }
    /// Marks a loop as parallel: its iterations may run in any order.
    pub(crate) fn any_order(&mut self, l: &CountedLoop) {
        self.func.blocks[l.header.index()].parallel = Some(Parallel::Known);
    }
    /// Tells that no iteration of a loop accesses memory that another writes.
    pub(crate) fn elementwise(&mut self, l: &CountedLoop) {
        self.func.blocks[l.header.index()].hint = LoopHint::Elementwise;
    }
    /// Gives a loop of an elementwise computation the pragma of the function's entry.
    pub(crate) fn with_pragma(&mut self, l: &CountedLoop) {
        self.func.blocks[l.header.index()].pragma = self.func.blocks[0].pragma;
    }
    pub(crate) fn end_loop(&mut self, l: &CountedLoop) {
        let next = self.add(l.index, l.one);
        self.end(Term::Jump(to(l.header, &[next])), l.exit);
    }
}

pub(crate) struct CountedLoop {
    header: Block,
    exit: Block,
    pub index: Value,
    one: Value,
}

pub(crate) fn to(block: Block, args: &[Value]) -> Target {
    Target { block, args: args.to_vec() }
}

/// Replaces every use of each value by the value that `of` gives for it.
pub(crate) fn replace_uses(func: &mut Function, of: &dyn Fn(Value) -> Value) {
    for data in &mut func.blocks {
        replace_uses_in(data, of);
    }
}

pub(crate) fn replace_uses_in(data: &mut BlockData, of: &dyn Fn(Value) -> Value) {
    let mut f = |v: &mut Value| *v = of(*v);
    for d in &mut data.insts {
        d.inst.for_each_operand_mut(&mut f);
    }
    if let Some(t) = &mut data.unwind {
        t.args.iter_mut().for_each(&mut f);
    }
    if let Some(t) = &mut data.term {
        t.for_each_operand_mut(&mut f);
    }
}

/// The replacement of each value; chains are followed.
pub(crate) struct Replacements(Vec<Value>);

impl Replacements {
    pub(crate) fn new(func: &Function) -> Replacements {
        Replacements((0..func.values.len()).map(Value::new).collect())
    }
    pub(crate) fn set(&mut self, old: Value, new: Value) {
        self.0[old.index()] = self.get(new);
    }
    /// The replacement of a value, or itself.
    pub(crate) fn get(&self, mut v: Value) -> Value {
        while let Some(&next) = self.0.get(v.index()) {
            if next == v {
                break;
            }
            v = next;
        }
        v
    }
    pub(crate) fn apply(&self, func: &mut Function) {
        replace_uses(func, &|v| self.get(v));
    }
}

/// Whether an exception can leave a block.
pub(crate) fn block_can_raise(data: &BlockData) -> bool {
    matches!(data.term, Some(Term::Raise { .. } | Term::Propagate)) || data.insts.iter().any(|d| d.inst.can_raise())
}

/// Number of uses of each value, in reachable and unreachable code.
pub(crate) fn use_counts(func: &Function) -> Vec<u32> {
    let mut counts = vec![0; func.values.len()];
    for (i, data) in func.blocks.iter().enumerate() {
        let mut count = |v: Value| counts[v.index()] += 1;
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut count));
        uses_at_end(func, Block::new(i)).into_iter().for_each(count);
    }
    counts
}

/// The values that a block uses after its instructions, those for its handler among them.
pub(crate) fn uses_at_end(func: &Function, b: Block) -> Vec<Value> {
    let mut used: Vec<Value> = targets(func, b).flat_map(|(_, t)| t.args.iter().copied()).collect();
    match &func.blocks[b.index()].term {
        Some(Term::Branch { cond: v, .. } | Term::Return(v)) => used.push(*v),
        Some(Term::Raise { args, .. }) => used.extend(args),
        Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
    }
    used
}

/// Renames the values and blocks of a copied block.
pub(crate) fn rename(data: &mut BlockData, values: &HashMap<Value, Value>, blocks: &HashMap<Block, Block>) {
    let name = |v: Value| values.get(&v).copied().unwrap_or(v);
    replace_uses_in(data, &name);
    data.params.iter_mut().for_each(|p| *p = name(*p));
    data.insts.iter_mut().filter_map(|d| d.result.as_mut()).for_each(|r| *r = name(*r));
    for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten() {
        t.block = blocks.get(&t.block).copied().unwrap_or(t.block);
    }
}
