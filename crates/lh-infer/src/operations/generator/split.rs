//! A function with `yield` becomes two, one that makes the generator and one that goes on with it.
//!
//! A generator is an object with one item, its *frame*: where it goes on, its arguments, and every value that lives
//! across a `yield`. Such values have their home in the frame: they are stored where they are defined and loaded where
//! they are used, so that it does not matter through which `yield` a use is reached. The object releases what is left
//! in the frame when the generator goes.
//!
//! ```text
//! def f(n):                 f(n):     frame = (0, n, ...)
//!     a                     next(g):  state = frame.state; frame.state = -1
//!     yield x        ->               state == 0: a; frame.state = 1; return (True, x, ...)
//!     b                               state == 1: b; return (False, ...)
//!                                     state >= THROWN - 1: the pending exception leaves it
//!                                     otherwise:     return (False, ...)
//! ```
//!
//! While it runs, and after an exception, the state is that of an exhausted generator. Where an exception that is
//! thrown meets a handler, `THROWN + 1` has a place of its own.

use crate::cx::{Leave, Yield};
use lh_ir::cfg::{Cfg, def_blocks, live_in};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::types::TyKind;
use lh_ir::{Block, Const, Function, Span, Ty, Value};

/// The two functions of a generator.
pub(crate) struct Halves {
    /// Makes the generator.
    pub make: Function,
    /// Goes on with it.
    pub next: Function,
}

/// State of a generator that has no more items.
const EXHAUSTED: i128 = -1;
/// The summand of the state of a generator into which the pending exception is thrown.
pub(crate) const THROWN: i128 = lh_ir::class::layout::THROWN as i128;
/// Bytes of an item that may hold counted references.
const MAX_COUNTED: usize = 512;

/// A place where a generator goes on, by its state.
struct Way {
    state: i128,
    block: Block,
    /// Whether it takes what is sent.
    takes_sent: bool,
}

/// Splits a typed body with its `yield`s into the two functions of a generator of a type.
pub(crate) fn split(body: Function, yields: &[Yield], ty: Ty) -> Result<Halves> {
    let TyKind::Generator(g) = ty.kind() else { lh_ir::bug!("{ty} is no generator") };
    let args: Vec<Value> = body.params().to_vec();
    let arg_tys: Vec<Ty> = args.iter().map(|v| body.ty(*v)).collect();
    let mut f = body;
    let entry = f.new_block();
    f.blocks.swap(0, entry.index());
    f.blocks[entry.index()].params.clear();
    // The block that was the entry has another number now.
    let moved = |b: Block| if b == Block(0) { entry } else { b };
    let ways = ways(&f, entry, yields);
    let base = f.new_value(Ty::ptr());
    let sent = (!g.sent.flatten().is_empty()).then(|| f.new_value(g.sent));
    dispatch(&mut f, base, sent, &ways, g.step());
    let homes = Homes::new(&f, &args, &ways)?;
    let frame = homes.frame();
    open_frame(&mut f, base, sent, ty);
    homes.rewrite(&mut f, base, frame)?;
    for (k, y) in yields.iter().enumerate() {
        // A marked place is where it goes on after each exception, not only after the first one.
        let is_marked = matches!(y.leave, Leave::Marked);
        let data = &mut f.blocks[if is_marked { y.resume } else { moved(y.from) }.index()];
        let span = data.term_span;
        let state = new_const(&mut f.values, k as i128 + 1);
        let store = Inst::Store(base, state.0);
        let at = if is_marked { 0 } else { data.insts.len() };
        data.insts.splice(at..at, [state.1, InstData { result: None, inst: store, span }]);
    }
    let closes = yields.iter().any(|y| y.is_handled);
    let make = maker(&f, &arg_tys, &homes, (frame, closes), ty);
    f.name.push_str(".next");
    Ok(Halves { make, next: f })
}

/// Where a generator goes on: at its start, after each `yield`, and where something handles what is thrown there.
fn ways(f: &Function, start: Block, yields: &[Yield]) -> Vec<Way> {
    let takes_sent = |b: Block| !f.blocks[b.index()].params.is_empty();
    let mut ways = vec![Way { state: 0, block: start, takes_sent: false }];
    for (k, y) in yields.iter().enumerate() {
        ways.push(Way { state: k as i128 + 1, block: y.resume, takes_sent: takes_sent(y.resume) });
    }
    for (k, y) in yields.iter().enumerate() {
        let data = &f.blocks[y.thrown.index()];
        if data.unwind.is_some() || !data.insts.is_empty() {
            ways.push(Way { state: THROWN + k as i128 + 1, block: y.thrown, takes_sent: false });
        }
    }
    ways
}

fn new_const(values: &mut Vec<Ty>, i: i128) -> (Value, InstData) {
    values.push(Ty::int());
    let v = Value::new(values.len() - 1);
    (v, InstData { result: Some(v), inst: Inst::Const(Const::Int(i, Ty::int())), span: Span::default() })
}

fn to(block: Block) -> Target {
    Target { block, args: vec![] }
}

/// Fills the entry: to the start, to where a `yield` left, or out. `base` is the address of the frame.
fn dispatch(f: &mut Function, base: Value, sent: Option<Value>, ways: &[Way], step: Ty) {
    let mut insts = Vec::new();
    let mut push = |f: &mut Function, inst: Inst, ty: Ty| {
        let v = f.new_value(ty);
        insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    };
    let state = push(f, Inst::Load(base), Ty::int());
    let done = push(f, Inst::Const(Const::Int(EXHAUSTED, Ty::int())), Ty::int());
    insts.push(InstData { result: None, inst: Inst::Store(base, done), span: Span::default() });
    f.blocks[0].insts = insts;
    let mut at = Block(0);
    for way in ways {
        let args = if way.takes_sent { sent.into_iter().collect() } else { vec![] };
        at = ask(f, at, "eq", state, way.state, Target { block: way.block, args });
    }
    let leave = f.new_block();
    f.blocks[leave.index()].term = Some(Term::Propagate);
    at = ask(f, at, "ge", state, THROWN - 1, to(leave));
    let parts: Vec<(Value, Inst)> =
        step.tuple_elems().expect("a tuple").iter().map(|t| (f.new_value(*t), Inst::Zero)).collect();
    let ret = f.new_value(step);
    let values = parts.iter().map(|(v, _)| *v).collect();
    let parts = parts.into_iter().chain([(ret, Inst::Pack(values))]);
    let block = &mut f.blocks[at.index()];
    block.insts = parts.map(|(v, inst)| InstData { result: Some(v), inst, span: Span::default() }).collect();
    block.term = Some(Term::Return(ret));
}

/// Ends a block with a comparison of the state, which leads away or to a new block.
fn ask(f: &mut Function, at: Block, op: &str, state: Value, number: i128, then: Target) -> Block {
    let (number, data) = new_const(&mut f.values, number);
    let here = f.new_value(Ty::bool());
    let inst = Inst::Op(crate::emit::row(op), vec![state, number]);
    let rest = f.new_block();
    let block = &mut f.blocks[at.index()];
    block.insts.extend([data, InstData { result: Some(here), inst, span: Span::default() }]);
    block.term = Some(Term::Branch { cond: here, then, els: to(rest) });
    rest
}

/// Makes the generator and what is sent the parameters and computes the address of the frame.
fn open_frame(f: &mut Function, base: Value, sent: Option<Value>, ty: Ty) {
    let (g, object) = (f.new_value(ty), f.new_value(Ty::suspended()));
    let result = |v: Value, inst: Inst| InstData { result: Some(v), inst, span: Span::default() };
    let entry = &mut f.blocks[0];
    entry.params = std::iter::once(g).chain(sent).collect();
    entry.insts.splice(0..0, [result(object, Inst::Field(g, 0)), result(base, Inst::ItemsData(object))]);
}

/// The function that makes the generator, of a frame and of whether something handles what is thrown into it: then it
/// is closed when it dies.
fn maker(next: &Function, args: &[Ty], homes: &Homes, (frame, closes): (Ty, bool), ty: Ty) -> Function {
    let mut f = Function {
        name: next.name.clone(),
        qualname: next.qualname.clone(),
        file: next.file.clone(),
        first_line: next.first_line,
        options: next.options,
        is_library: next.is_library,
        ret: Some(ty),
        ..Function::default()
    };
    let block = f.new_block();
    let params: Vec<Value> = args.iter().map(|t| f.new_value(*t)).collect();
    f.blocks[block.index()].params.clone_from(&params);
    let mut insts = Vec::new();
    let mut push = |f: &mut Function, inst: Inst, ty: Ty| {
        let v = f.new_value(ty);
        insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    };
    let one = push(&mut f, Inst::Const(Const::Int(1, Ty::int())), Ty::int());
    let object = push(&mut f, Inst::New(one), Ty::generator_object(frame));
    let data = push(&mut f, Inst::ItemsData(object), Ty::ptr());
    let elems = frame.tuple_elems().expect("a tuple").to_vec();
    let parts = elems.iter().enumerate().map(|(i, t)| match homes.argument_at(i) {
        Some(a) => params[a],
        None if i == 0 => push(&mut f, Inst::Const(Const::Int(0, Ty::int())), Ty::int()),
        None => push(&mut f, Inst::Zero, *t),
    });
    let parts = parts.collect();
    let value = push(&mut f, Inst::Pack(parts), frame);
    let g = f.new_value(ty);
    let set_len = &lh_ops::runtime::lh_items_set_len;
    let void = |inst: Inst| InstData { result: None, inst, span: Span::default() };
    insts.push(void(Inst::Store(data, value)));
    insts.push(void(Inst::Runtime(set_len, vec![object, one])));
    insts.push(InstData { result: Some(g), inst: Inst::Pack(vec![object]), span: Span::default() });
    if closes {
        insts.push(void(Inst::Runtime(&lh_ops::runtime::lh_generator_closes, vec![g])));
    }
    f.blocks[block.index()].insts = insts;
    f.blocks[block.index()].term = Some(Term::Return(g));
    f
}

/// Where a value that lives across a `yield` is.
#[derive(Clone)]
enum Home {
    /// It is computed anew where it is used.
    Again(Inst),
    /// An item of the frame.
    Frame(usize),
}

/// The homes of all such values, and the items of the frame.
struct Homes {
    of: Vec<Option<Home>>,
    elems: Vec<Ty>,
    /// Item of the frame and number of each argument.
    arguments: Vec<(usize, usize)>,
}

impl Homes {
    fn new(f: &Function, args: &[Value], ways: &[Way]) -> Result<Homes> {
        let mut wanted = crossing(f, ways);
        wanted.extend(args.iter().copied());
        wanted.sort_unstable();
        wanted.dedup();
        // Counted values come first: only the start of an item may hold them.
        wanted.sort_by_key(|v| !f.ty(*v).is_counted());
        let mut made = vec![None; f.values.len()];
        for d in f.blocks.iter().flat_map(|b| &b.insts) {
            if let Some(r) = d.result {
                made[r.index()] = Some(&d.inst);
            }
        }
        let mut homes = Homes { of: vec![None; f.values.len()], elems: vec![Ty::int()], arguments: Vec::new() };
        for v in wanted {
            let t = f.ty(v);
            homes.of[v.index()] = Some(match made[v.index()] {
                Some(i @ (Inst::Const(_) | Inst::Zero | Inst::Extern(_))) => Home::Again(i.clone()),
                _ if t.flatten().is_empty() => Home::Again(Inst::Zero),
                _ if t == Ty::ptr() => {
                    return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this `yield` is inside an expression")
                        .note("yield in a statement of its own"));
                }
                _ => {
                    // Every item starts at a multiple of 8 bytes.
                    if t.flatten()[0].size() < 8 {
                        homes.elems.push(Ty::int());
                    }
                    homes.elems.push(t);
                    Home::Frame(homes.elems.len() - 1)
                }
            });
            if let (Some(a), Some(Home::Frame(at))) = (args.iter().position(|p| *p == v), &homes.of[v.index()]) {
                homes.arguments.push((*at, a));
            }
        }
        Ok(homes)
    }

    fn frame(&self) -> Ty {
        Ty::tuple(self.elems.clone())
    }

    fn argument_at(&self, item: usize) -> Option<usize> {
        self.arguments.iter().find(|(at, _)| *at == item).map(|(_, a)| *a)
    }

    /// Lets definitions store into the frame and uses load from it.
    fn rewrite(&self, f: &mut Function, base: Value, frame: Ty) -> Result<()> {
        let mut starts = Vec::new();
        let mut prims = 0;
        let offsets = frame.mem_layout().0;
        for t in &self.elems {
            starts.push(offsets[prims]);
            prims += t.flatten().len();
            if t.is_counted() && offsets[prims - 1] >= MAX_COUNTED {
                return Err(Diagnostic::new(
                    diag::TOO_LARGE,
                    "too many values live across the `yield`s of a generator",
                )
                .note("split it into smaller ones"));
            }
        }
        for b in 0..f.blocks.len() {
            let data = std::mem::take(&mut f.blocks[b]);
            f.blocks[b] = Rewriter { homes: self, f, base, starts: &starts, out: Vec::new() }.block(data);
        }
        Ok(())
    }
}

/// Values that live at the start of a block where a `yield` goes on.
fn crossing(f: &Function, ways: &[Way]) -> Vec<Value> {
    let mut uses = Vec::new();
    for (i, data) in f.blocks.iter().enumerate() {
        let b = Block::new(i);
        data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| uses.push((v, b))));
        if let Some(mut t) = data.term.clone() {
            t.for_each_operand_mut(&mut |v| uses.push((*v, b)));
        }
        data.unwind.iter().for_each(|t| uses.extend(t.args.iter().map(|v| (*v, b))));
    }
    let defs = def_blocks(f);
    let outside = Block(u32::MAX);
    let cfg = Cfg::new(f);
    // Only uses in reachable blocks count.
    uses.retain(|(_, b)| cfg.is_reachable(*b));
    let live = live_in(f, &cfg, uses, &|v| defs[v.index()].unwrap_or(outside));
    let entry = |v: &&Value| defs[v.index()] != Some(Block(0));
    let resumes = ways.iter().skip(1).map(|w| w.block);
    resumes.flat_map(|r| live[r.index()].iter().filter(entry).copied().collect::<Vec<_>>()).collect()
}

struct Rewriter<'a> {
    homes: &'a Homes,
    f: &'a mut Function,
    base: Value,
    starts: &'a [usize],
    out: Vec<InstData>,
}

impl Rewriter<'_> {
    fn block(mut self, mut data: lh_ir::func::BlockData) -> lh_ir::func::BlockData {
        let span = data.insts.first().map_or(data.term_span, |d| d.span);
        for p in data.params.clone() {
            self.store(p, span);
        }
        if let Some(t) = &mut data.unwind {
            for a in &mut t.args {
                *a = self.load(*a, span);
            }
        }
        for mut d in std::mem::take(&mut data.insts) {
            let span = d.span;
            d.inst.for_each_operand_mut(&mut |v| *v = self.load(*v, span));
            let result = d.result;
            self.out.push(d);
            if let Some(r) = result {
                self.store(r, span);
            }
        }
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut |v| *v = self.load(*v, data.term_span));
        }
        data.insts = self.out;
        data
    }

    fn push(&mut self, inst: Inst, ty: Ty, span: Span) -> Value {
        let v = self.f.new_value(ty);
        self.out.push(InstData { result: Some(v), inst, span });
        v
    }

    fn home(&self, v: Value) -> Option<Home> {
        self.homes.of.get(v.index()).cloned().flatten()
    }

    fn address(&mut self, item: usize, span: Span) -> Value {
        let at = self.push(Inst::Const(Const::Int(self.starts[item] as i128, Ty::int())), Ty::int(), span);
        self.push(Inst::PtrAdd(self.base, at), Ty::ptr(), span)
    }

    fn load(&mut self, v: Value, span: Span) -> Value {
        let ty = self.f.ty(v);
        match self.home(v) {
            None => v,
            Some(Home::Again(inst)) => self.push(inst, ty, span),
            Some(Home::Frame(item)) => {
                let p = self.address(item, span);
                self.push(Inst::Load(p), ty, span)
            }
        }
    }

    fn store(&mut self, v: Value, span: Span) {
        let Some(Home::Frame(item)) = self.home(v) else { return };
        let p = self.address(item, span);
        if self.f.ty(v).is_counted() {
            // Drops the old item.
            self.push(Inst::Take(p), self.f.ty(v), span);
        }
        self.out.push(InstData { result: None, inst: Inst::Store(p, v), span });
    }
}
