//! Typing one function: abstract interpretation that emits typed IR as it goes.
//!
//! The untyped blocks are visited in reverse postorder. Each visit types an instruction and emits its typed form at
//! once; branches on conditions known while typing are followed one way only, so the other way is never typed. Types
//! at loop headers start from what enters the loop; when a back edge brings more, the sweep is repeated with the
//! wider type. One sweep is the rule, two where a variable changes its type in a loop.

use crate::convert::{Pending, unify};
use crate::generator::{self, Yield};
use crate::shape::Shape;
use crate::val::{Known, Val};
use crate::world::{ArgTy, Offsets, World};
use hashbrown::{HashMap, HashSet};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Function, Options, Term};
use lh_ir::types::TyKind;
use lh_ir::untyped::{self, Code};
use lh_ir::{Block, FuncId, Meaning, Span, SpecId, Ty, Value};
use std::sync::Arc;

/// The result of inference.
#[derive(Debug)]
pub struct Output {
    /// The typed function.
    pub func: Function,
    /// Its result type.
    pub ret: Ty,
    /// Types of the user's variables where they are assigned.
    pub annotations: Vec<(Span, String, Ty)>,
    /// Indices that it reads a stencil's arrays at.
    pub offsets: Vec<Offsets>,
    /// Of a generator, what gives its next item, and the number that it was given.
    pub next: Option<(SpecId, Function)>,
}

/// An edge between untyped blocks, to be completed when its target's parameter types are known.
pub(crate) struct Edge {
    /// Typed block at whose end the jump goes.
    pub from: Block,
    /// Untyped block that it leaves.
    pub src: Block,
    /// Values for the target's parameters.
    pub vals: Vec<Val>,
    /// Place, for messages.
    pub span: Span,
}

/// State of a `for` loop kept in extra parameters of its header.
pub(crate) struct LoopState {
    /// First block of the body: what it dominates carries the next state.
    pub body: Block,
    /// Header: what it dominates otherwise carries the current state.
    pub header: Block,
    /// Start, current and next value of each part.
    pub parts: Vec<(Val, Value, Value)>,
}

/// One inference in progress.
pub struct Infer<'w> {
    pub(crate) world: &'w mut dyn World,
    pub(crate) id: FuncId,
    pub(crate) code: Arc<Code>,
    pub(crate) options: Options,
    pub(crate) is_library: bool,
    pub(crate) meaning: Option<Meaning>,
    args: Vec<ArgTy>,
    /// Types that the decorator gives to variables.
    locals: Vec<(String, Ty)>,
    shape: Shape,
    sticky: HashMap<(Block, usize), Ty>,
    pub(crate) pending: Pending,
    sites: HashMap<Value, u32>,
    // One sweep:
    pub(crate) out: Function,
    pub(crate) vals: Vec<Option<Val>>,
    pub(crate) cur: Block,
    pub(crate) here: Block,
    pub(crate) span: Span,
    pub(crate) dead: bool,
    /// Untyped result of the instruction being typed.
    pub(crate) result: Option<Value>,
    unwind: Option<func::Target>,
    edges: HashMap<Block, Vec<Edge>>,
    entered: HashMap<Block, (Block, Vec<Val>)>,
    pub(crate) returns: Vec<(Block, Val, Span)>,
    pub(crate) yields: Vec<Yield>,
    pub(crate) loops: HashMap<Block, LoopState>,
    pub(crate) captures: Vec<Val>,
    pub(crate) restart: Option<(Block, u32)>,
    /// Optional values known to be present, or `None`, in the blocks that a block dominates.
    refined: HashMap<Value, Vec<(Block, Val)>>,
    /// List displays that only serve to make tuples.
    pub(crate) tuple_lists: HashSet<Value>,
    /// Items of list displays that become tuples.
    pub(crate) builders: HashMap<Value, Vec<Val>>,
    /// The list display that made a typed value.
    pub(crate) made_at: HashMap<Value, u32>,
    /// Of a display of lists made here: the displays that made those.
    pub(crate) rows_at: HashMap<u32, Vec<u32>>,
    /// Indices into a stencil's arrays.
    pub(crate) offsets: Vec<Offsets>,
}

/// Types a function for argument types.
///
/// # Errors
/// The diagnostic for the first thing that cannot be typed.
pub fn infer(world: &mut dyn World, id: FuncId, args: &[ArgTy], options: Options, name: &str) -> Result<Output> {
    let code = world.code(id)?;
    let info = world.info(id);
    let shape = Shape::of(&code);
    let mut cx = Infer {
        world,
        id,
        shape,
        code,
        options,
        is_library: info.is_library,
        meaning: info.meaning,
        args: args.to_vec(),
        locals: info.locals,
        sticky: HashMap::new(),
        pending: Pending::default(),
        sites: HashMap::new(),
        out: Function::default(),
        vals: Vec::new(),
        cur: Block(0),
        here: Block(0),
        span: Span::default(),
        dead: false,
        result: None,
        unwind: None,
        edges: HashMap::new(),
        entered: HashMap::new(),
        returns: Vec::new(),
        yields: Vec::new(),
        loops: HashMap::new(),
        captures: Vec::new(),
        restart: None,
        refined: HashMap::new(),
        tuple_lists: HashSet::new(),
        builders: HashMap::new(),
        made_at: HashMap::new(),
        rows_at: HashMap::new(),
        offsets: Vec::new(),
    };
    cx.find_tuple_lists();
    cx.run(name)
}

impl Infer<'_> {
    fn run(&mut self, name: &str) -> Result<Output> {
        let mut provisional = Ty::never();
        for _ in 0..100 {
            self.pending.changed = false;
            self.offsets.clear();
            let swept = self.sweep(name);
            if let Some((header, times)) = self.restart.take() {
                self.unroll(header, times)?;
                continue;
            }
            // A list whose element type was learnt in this sweep may explain the failure.
            if swept.is_err() && self.pending.changed {
                continue;
            }
            let (ret, widened) = swept.map_err(|d| d.at(&self.code.file, self.span))?;
            let used = self.world.provisional(ret);
            let again = widened || self.pending.changed || (used && ret != provisional);
            provisional = ret;
            if !again && used && ret.is_never() {
                return Err(self.endless());
            }
            if !again && self.decide_parameters() {
                continue;
            }
            if !again {
                self.check_lists()?;
                let annotations = self.annotations();
                self.name_shared();
                let (func, offsets) = (std::mem::take(&mut self.out), std::mem::take(&mut self.offsets));
                if !self.code.is_generator {
                    return Ok(Output { func, ret, annotations, offsets, next: None });
                }
                let number = self.world.reserve(self.id, &format!("{name}.next"));
                let halves = generator::split(func, &self.yields, number);
                let generator::Halves { make, next, ty } = halves.map_err(|d| d.at(&self.code.file, self.span))?;
                return Ok(Output { func: make, ret: ty, annotations, offsets, next: Some((number, next)) });
            }
        }
        let d = Diagnostic::new(diag::CANNOT_UNIFY, format!("the types in `{}` do not settle", self.code.name));
        Err(d.at(&self.code.file, self.span))
    }

    fn find_tuple_lists(&mut self) {
        let insts = self.code.blocks.iter().flat_map(|b| &b.insts);
        self.tuple_lists = insts
            .filter_map(|i| match i.inst {
                untyped::Inst::ListToTuple(v) => Some(v),
                _ => None,
            })
            .collect();
    }

    fn endless(&self) -> Box<Diagnostic> {
        let name = &self.code.name;
        let d = Diagnostic::new(diag::UNTYPED_RECURSION, format!("`{name}` calls itself on every way through it"));
        let span = Span { line: self.code.first_line, end_line: self.code.first_line, ..Span::default() };
        d.note("return a value without calling it on one way").at(&self.code.file, span)
    }

    fn unroll(&mut self, header: Block, times: u32) -> Result<()> {
        let Some(code) = self.world.unroll(&self.code, header, times) else {
            let d = Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this loop over a tuple cannot be unrolled");
            return Err(d.at(&self.code.file, self.span));
        };
        self.code = code;
        self.shape = Shape::of(&self.code);
        self.find_tuple_lists();
        self.sticky.clear();
        self.sites.clear();
        self.pending = Pending::default();
        Ok(())
    }

    fn check_lists(&self) -> Result<()> {
        for (value, site) in &self.sites {
            let used = self.vals.get(value.index()).is_some_and(Option::is_some);
            if used && self.pending.elem[*site as usize].is_none() {
                let span = self.code.blocks.iter().flat_map(|b| &b.insts).find(|i| i.result == Some(*value));
                let d = Diagnostic::new(diag::UNTYPED_LIST, "the type of this list's items cannot be found")
                    .note("append an item, or start from one: `[0][:0]` is an empty list of integers");
                return Err(d.at(&self.code.file, span.map_or(self.span, |i| i.span)));
            }
        }
        Ok(())
    }

    /// Names of what iterations of parallel loops may meet at.
    fn name_shared(&mut self) {
        if self.options.parallel & (func::parallel::PRANGE | func::parallel::RACE) == 0 || self.is_library {
            return;
        }
        for (name, val) in self.code.value_names.iter().zip(&self.vals) {
            if let (Some(name), Some(Val { ty, v: Some(v), .. })) = (name, val)
                && (ty.is_array() || ty.is_number() || matches!(ty.kind(), TyKind::Class(_) | TyKind::Tuple { .. }))
            {
                self.out.names.push((*v, name.to_string()));
            }
        }
    }

    /// Places where variables are assigned to and their types; the item of a loop is where the loop begins.
    fn annotations(&self) -> Vec<(Span, String, Ty)> {
        let mut out = Vec::new();
        let mut add = |value: Value, span: Span| {
            if let (Some(name), Some(Some(val))) = (&self.code.value_names[value.index()], self.vals.get(value.index()))
            {
                out.push((span, name.to_string(), val.ty));
            }
        };
        for b in &self.code.blocks {
            b.insts.iter().for_each(|i| i.result.into_iter().for_each(|r| add(r, i.span)));
            if let Some(untyped::Term::ForIter { body, .. }) = &b.term {
                self.code.blocks[body.block.index()].params.first().into_iter().for_each(|p| add(*p, b.term_span));
            }
        }
        out
    }

    /// Site number of a list display, the same in every sweep.
    pub(crate) fn list_site(&mut self, result: Value) -> u32 {
        if let Some(s) = self.sites.get(&result) {
            return *s;
        }
        let s = self.pending.elem.len() as u32;
        self.pending.elem.push(None);
        self.sites.insert(result, s);
        s
    }

    fn sweep(&mut self, name: &str) -> Result<(Ty, bool)> {
        self.out = Function {
            name: name.to_owned(),
            qualname: self.code.qualname.clone(),
            file: self.code.file.clone(),
            first_line: self.code.first_line,
            options: self.options,
            is_library: self.is_library,
            meaning: self.meaning,
            ..Function::default()
        };
        self.vals = vec![None; self.code.value_count];
        self.edges.clear();
        self.entered.clear();
        self.returns.clear();
        self.yields.clear();
        self.loops.clear();
        self.made_at.clear();
        self.rows_at.clear();
        self.refined.clear();
        self.enter_function()?;
        let code = self.code.clone();
        for i in 0..self.shape.order.len() {
            let b = self.shape.order[i];
            if i > 0 && !self.edges.contains_key(&b) {
                continue;
            }
            if i > 0 {
                self.enter_block(b)?;
            }
            self.visit(b, &code.blocks[b.index()])?;
        }
        let widened = self.finish_edges()?;
        let ret = if self.code.is_generator {
            self.finish_yields()?;
            Ty::never()
        } else {
            self.finish_returns()?
        };
        Ok((ret, widened))
    }

    /// Makes the entry block: parameters for the arguments that exist at run time.
    fn enter_function(&mut self) -> Result<()> {
        let entry = self.out.new_block();
        self.cur = entry;
        self.here = Block(0);
        let args = self.args.clone();
        let mut vals = Vec::new();
        for a in &args {
            let val = match &a.value {
                _ if a.items.is_some() => {
                    let items = a.items.iter().flatten().cloned().map(Val::constant).collect();
                    Val::known(a.ty, crate::val::Known::Parts(items))
                }
                Some(c) => {
                    let mut v = Val::constant(c.clone());
                    v.ty = a.ty;
                    v
                }
                None => match a.ty.kind() {
                    // Its slot is there, but nobody reads it.
                    TyKind::Literal(l) => {
                        self.param(entry, l.ty());
                        Val::constant(l.value())
                    }
                    TyKind::Pending(_, class) => self.undecided_parameter(entry, vals.len(), *class),
                    _ => self.param(entry, a.ty),
                },
            };
            vals.push(val);
        }
        let n = self.code.params.len();
        self.captures = vals.split_off(n.min(vals.len()));
        // A generator expression is given its outermost iterable as an iterator.
        if self.code.params.first().is_some_and(|p| p.name == ".0") {
            vals[0] = self.iter(&vals[0].clone())?;
        }
        if let Some(at) = self.code.params.iter().position(|p| p.kind == untyped::ParamKind::VarKeywords) {
            vals[at] = self.gathered_keywords(&vals[at].clone());
        }
        let params = &self.code.blocks[0].params;
        for (p, v) in params.iter().zip(&vals) {
            self.vals[p.index()] = Some(v.clone());
        }
        self.entered.insert(Block(0), (entry, vals));
        // The untyped entry may be a loop header: it keeps its own block.
        if self.shape.is_header[0] {
            let vals = self.entered[&Block(0)].1.clone();
            self.edges.entry(Block(0)).or_default().push(Edge {
                from: entry,
                src: Block(0),
                vals,
                span: Span::default(),
            });
        }
        Ok(())
    }

    /// A list given without items: what it holds is learnt from its use.
    fn undecided_parameter(&mut self, entry: Block, index: usize, class: Class) -> Val {
        let site = self.list_site(self.code.blocks[0].params[index]);
        let elem = self.pending.elem[site as usize];
        let ty = Ty::new(TyKind::Pending(site, class));
        let v = self.param(entry, elem.map_or(ty, |t| ty.with_items(t)));
        self.made_at.extend(v.v.map(|v| (v, site)));
        v
    }

    /// Lists given without items whose use says nothing are lists of integers; tells whether there are any.
    fn decide_parameters(&mut self) -> bool {
        let params = self.code.blocks[0].params.clone();
        let sites: Vec<u32> = params.iter().filter_map(|p| self.sites.get(p).copied()).collect();
        let open: Vec<u32> = sites.into_iter().filter(|s| self.pending.elem[*s as usize].is_none()).collect();
        for s in &open {
            self.pending.learn(*s, Ty::int());
        }
        !open.is_empty()
    }

    /// The parameter of this function that a value is, if it is one.
    pub(crate) fn parameter(&self, x: &Val) -> Option<usize> {
        let (_, params) = self.entered.get(&Block(0))?;
        params.iter().position(|p| p.v.is_some() && p.v == x.v)
    }

    /// A parameter of a typed block, or the value a type already says.
    fn param(&mut self, block: Block, ty: Ty) -> Val {
        if ty.flatten().is_empty() {
            return Val::of_type(ty);
        }
        let v = self.out.new_param(block, ty);
        Val::new(ty, v)
    }

    /// Types the parameters of a block from the edges seen so far and opens its typed block.
    fn enter_block(&mut self, b: Block) -> Result<()> {
        let block = self.out.new_block();
        let params = self.code.blocks[b.index()].params.clone();
        let mut vals = Vec::new();
        for (i, p) in params.iter().enumerate() {
            let mut ty = self.sticky.get(&(b, i)).copied();
            let edges = &self.edges[&b];
            for e in edges {
                let t = e.vals[i].ty;
                ty = match ty {
                    None => Some(t),
                    Some(old) => match unify(old, t, &mut self.pending) {
                        Some(u) => Some(u),
                        None => return Err(self.cannot_unify(*p, old, t, e.span)),
                    },
                };
            }
            let ty = ty.unwrap_or(Ty::never());
            let first = edges[0].vals[i].clone();
            let same =
                !self.shape.is_header[b.index()] && first.ty == ty && edges.iter().all(|e| is_same(&first, &e.vals[i]));
            vals.push(if same { first } else { self.block_param(block, ty, b, i)? });
        }
        for (p, v) in params.iter().zip(&vals) {
            self.vals[p.index()] = Some(v.clone());
        }
        self.entered.insert(b, (block, vals));
        self.cur = block;
        Ok(())
    }

    fn block_param(&mut self, block: Block, ty: Ty, b: Block, i: usize) -> Result<Val> {
        if let TyKind::Iter(_) = ty.kind() {
            let first = &self.edges[&b][0].vals[i];
            if self.edges[&b].iter().all(|e| is_same(first, &e.vals[i])) {
                return Ok(first.clone());
            }
            return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "an iterator cannot depend on a condition")
                .note("put the loop into each branch, or choose between lists or arrays"));
        }
        Ok(self.param(block, ty))
    }

    fn cannot_unify(&self, p: Value, a: Ty, b: Ty, span: Span) -> Box<Diagnostic> {
        let name = self.code.value_names[p.index()].as_deref().unwrap_or("a value").to_owned();
        if let (Some(x), Some(y)) = (a.as_class(), b.as_class())
            && x.constant != y.constant
        {
            let class = x.class.name();
            let text = format!(
                "`{name}` is a global or captured {class}, a constant, on one way here and another {class} on another"
            );
            return Diagnostic::new(diag::CANNOT_UNIFY, text)
                .label(format!("`{name}` becomes the other one before this point"))
                .note(format!("use a copy of the constant one: `{class}(GLOBAL)`"))
                .at(&self.code.file, span);
        }
        Diagnostic::new(diag::CANNOT_UNIFY, format!("`{name}` is `{a}` on one way here and `{b}` on another"))
            .label(format!("`{name}` becomes `{b}` before this point"))
            .note(format!("use one type for `{name}`, or two names"))
            .at(&self.code.file, span)
    }

    fn visit(&mut self, b: Block, data: &untyped::BlockData) -> Result<()> {
        self.here = b;
        self.dead = false;
        self.unwind = None;
        if b == Block(0) && self.shape.is_header[0] {
            self.enter_block(b)?;
        }
        if let Some(t) = &data.unwind {
            let e = self.out.new_block();
            let vals = t.args.iter().map(|v| self.val(*v)).collect();
            self.edges.entry(t.block).or_default().push(Edge { from: e, src: b, vals, span: data.term_span });
            self.unwind = Some(func::Target { block: e, args: vec![] });
        }
        let first = self.out.blocks.len();
        let start = self.cur;
        for i in &data.insts {
            self.span = i.span;
            self.step(i)?;
            if self.dead {
                break;
            }
        }
        if !self.dead {
            self.span = data.term_span;
            self.terminate(data.term.as_ref().unwrap_or(&untyped::Term::Unreachable))?;
        }
        if self.unwind.is_some() {
            for t in std::iter::once(start.index()).chain(first..self.out.blocks.len()) {
                // Edge blocks only convert and jump, which cannot raise.
                self.out.blocks[t].unwind = self.unwind.clone();
            }
        }
        Ok(())
    }

    fn step(&mut self, i: &untyped::InstData) -> Result<()> {
        let mut never = false;
        i.inst.for_each_operand(|v| never |= self.vals[v.index()].as_ref().is_some_and(|v| v.ty.is_never()));
        if never {
            self.stop();
            return Ok(());
        }
        self.result = i.result;
        let val = self.inst(i)?;
        if let Some(r) = i.result {
            let mut val = val.unwrap_or_else(|| Val::of_type(Ty::none()));
            if let Some(t) = self.declared(r) {
                val = self.convert(&val, t)?;
            }
            if val.ty.is_never() {
                self.stop();
            }
            self.vals[r.index()] = Some(val);
        }
        Ok(())
    }

    /// The type that `locals=` gives to the variable that a value is assigned to.
    fn declared(&self, v: Value) -> Option<Ty> {
        if self.locals.is_empty() {
            return None;
        }
        let name = self.code.value_names[v.index()].as_deref()?;
        self.locals.iter().find(|(n, _)| n == name).map(|(_, t)| *t)
    }

    /// Nothing after this point of the block is reached.
    pub(crate) fn stop(&mut self) {
        if !self.dead {
            self.set_term(Term::Unreachable);
            self.dead = true;
        }
    }

    /// The abstract value of an untyped one.
    pub(crate) fn val(&self, v: Value) -> Val {
        if let Some(list) = self.refined.get(&v) {
            if let Some((_, val)) = list.iter().rev().find(|(b, _)| self.shape.dominates(*b, self.here)) {
                return val.clone();
            }
        }
        self.vals[v.index()].clone().unwrap_or_else(|| Val::of_type(Ty::never()))
    }

    /// Records an edge from the current typed block.
    pub(crate) fn edge_to(&mut self, t: &untyped::Target, first: Option<Val>) {
        let vals = first.into_iter().chain(t.args.iter().map(|v| self.val(*v))).collect();
        let edge = Edge { from: self.cur, src: self.here, vals, span: self.span };
        self.edges.entry(t.block).or_default().push(edge);
    }

    /// Records an edge on which an optional value is known to be present, or to be `None`.
    fn refined_edge(&mut self, t: &untyped::Target, known: Option<(Value, bool)>) {
        let Some((v, is_some)) = known else { return self.edge_to(t, None) };
        let old = self.val(v);
        let TyKind::Optional(inner) = old.ty.kind() else { return self.edge_to(t, None) };
        let new = if is_some {
            let x = self.value(&old);
            self.push(func::Inst::Unwrap(x), *inner)
        } else {
            Val::of_type(Ty::none())
        };
        let vals = t.args.iter().map(|a| if *a == v { new.clone() } else { self.val(*a) }).collect();
        let edge = Edge { from: self.cur, src: self.here, vals, span: self.span };
        self.edges.entry(t.block).or_default().push(edge);
        if self.shape.pred_count[t.block.index()] == 1 {
            self.refined.entry(v).or_default().push((t.block, new));
        }
    }

    /// The facts about an optional value that follow from a condition of the current block, if it holds and if it does
    /// not.
    fn told_by(&self, cond: Value) -> [Option<(Value, bool)>; 2] {
        let code = self.code.clone();
        let inst = code.blocks[self.here.index()].insts.iter().find(|i| i.result == Some(cond)).map(|i| &i.inst);
        match inst {
            Some(untyped::Inst::Is { a, b, negate }) => {
                let v = match (self.val(*a).ty.is_none(), self.val(*b).ty.is_none()) {
                    (false, true) => *a,
                    (true, false) => *b,
                    _ => return [None, None],
                };
                [Some((v, *negate)), Some((v, !negate))]
            }
            Some(untyped::Inst::Unary(untyped::UnOp::Not, x)) => {
                let [yes, no] = self.told_by(*x);
                [no, yes]
            }
            // A true value is not `None`; a false one may be zero.
            _ => [Some((cond, true)), None],
        }
    }

    fn terminate(&mut self, term: &untyped::Term) -> Result<()> {
        match term {
            untyped::Term::Jump(t) => self.edge_to(t, None),
            untyped::Term::Branch { cond, then, els } => {
                let c = self.val(*cond);
                if c.ty.is_never() {
                    self.stop();
                    return Ok(());
                }
                let c = self.truth(&c)?;
                match c.as_bool() {
                    Some(true) => self.edge_to(then, None),
                    Some(false) => self.edge_to(els, None),
                    None => {
                        let [yes, no] = self.told_by(*cond);
                        let (x, y) = self.branch(&c);
                        self.cur = x;
                        self.refined_edge(then, yes);
                        self.cur = y;
                        self.refined_edge(els, no);
                    }
                }
            }
            untyped::Term::ForIter { iter, body, done } => self.for_iter(*iter, body, done)?,
            untyped::Term::Return(v) => {
                let v = self.val(*v);
                if v.ty.is_never() {
                    self.stop();
                } else {
                    let v = self.returnable(v)?;
                    self.returns.push((self.cur, v, self.span));
                }
            }
            untyped::Term::Raise { exc, cause } => self.raise(*exc, *cause)?,
            untyped::Term::Reraise(v) => self.reraise(*v)?,
            untyped::Term::Unreachable => self.set_term(Term::Unreachable),
        }
        Ok(())
    }

    /// Completes every edge; tells whether a loop needs wider types.
    fn finish_edges(&mut self) -> Result<bool> {
        let mut widened = false;
        let edges = std::mem::take(&mut self.edges);
        let mut targets: Vec<_> = edges.into_iter().collect();
        // In a fixed order, so that the output is reproducible.
        targets.sort_by_key(|(b, _)| *b);
        for (b, es) in targets {
            let Some((block, params)) = self.entered.get(&b).cloned() else {
                es.iter().for_each(|e| self.out.blocks[e.from.index()].term = Some(Term::Unreachable));
                continue;
            };
            let passed = self.passed(block, &params);
            for e in es {
                for (i, p) in params.iter().enumerate() {
                    let t = e.vals[i].ty;
                    let Some(u) = unify(p.ty, t, &mut self.pending) else {
                        let v = self.code.blocks[b.index()].params[i];
                        return Err(self.cannot_unify(v, p.ty, t, e.span));
                    };
                    if u != p.ty {
                        let old = self.sticky.get(&(b, i)).copied().unwrap_or(Ty::never());
                        let u = unify(old, u, &mut self.pending).unwrap_or(u);
                        self.sticky.insert((b, i), u);
                        widened = true;
                    }
                }
                if !widened {
                    self.finish_edge(&e, b, block, &passed)?;
                }
            }
        }
        Ok(widened)
    }

    /// Types of a block's parameters as edges pass them; `None` for a value that its type or a constant determines, and
    /// that has no parameter.
    fn passed(&self, block: Block, params: &[Val]) -> Vec<Option<Ty>> {
        // Parameters were made in this order.
        let mut made = self.out.blocks[block.index()].params.iter().peekable();
        params.iter().map(|p| made.next_if(|m| Some(**m) == p.v).map(|_| p.ty)).collect()
    }

    fn finish_edge(&mut self, e: &Edge, b: Block, block: Block, passed: &[Option<Ty>]) -> Result<()> {
        self.cur = e.from;
        self.span = e.span;
        self.here = e.src;
        let mut args = Vec::new();
        for (ty, v) in passed.iter().zip(&e.vals) {
            if let Some(ty) = ty {
                let v = self.convert(v, *ty)?;
                args.push(self.value(&v));
            }
        }
        if let Some(state) = self.loops.remove(&b) {
            let next = self.shape.dominates(state.body, e.src);
            let current = !next && self.shape.dominates(state.header, e.src);
            for (s, c, n) in &state.parts {
                args.push(if next {
                    *n
                } else if current {
                    *c
                } else {
                    self.value(s)
                });
            }
            self.loops.insert(b, state);
        }
        if self.out.blocks[self.cur.index()].term.is_none() {
            self.set_term(Term::Jump(func::Target { block, args }));
        }
        Ok(())
    }

    fn finish_returns(&mut self) -> Result<Ty> {
        let mut ret = Ty::never();
        for (_, v, span) in &self.returns {
            let Some(t) = unify(ret, v.ty, &mut self.pending) else {
                let d = Diagnostic::new(
                    diag::CANNOT_UNIFY,
                    format!("`{}` returns `{ret}` in one place and `{}` in another", self.code.name, v.ty),
                );
                return Err(d.note("return one type everywhere").at(&self.code.file, *span));
            };
            ret = t;
        }
        for (block, v, span) in std::mem::take(&mut self.returns) {
            self.cur = block;
            self.span = span;
            let v = self.convert(&v, ret)?;
            let v = self.value(&v);
            self.set_term(Term::Return(v));
            self.returns.push((block, Val::of_type(ret), span));
        }
        self.out.ret = Some(ret);
        Ok(ret)
    }

    /// Ends the current typed block.
    pub(crate) fn set_term(&mut self, term: Term) {
        let b = &mut self.out.blocks[self.cur.index()];
        b.term = Some(term);
        b.term_span = self.span;
    }

    /// Ends the current block with a branch to two new ones.
    pub(crate) fn branch(&mut self, cond: &Val) -> (Block, Block) {
        let c = self.value(cond);
        let (x, y) = (self.new_block(), self.new_block());
        let to = |block| func::Target { block, args: vec![] };
        self.set_term(Term::Branch { cond: c, then: to(x), els: to(y) });
        (x, y)
    }

    /// A new typed block of the untyped block being visited.
    pub(crate) fn new_block(&mut self) -> Block {
        self.out.new_block()
    }

    /// The typed block where an untyped block starts.
    pub(crate) fn typed_start(&self, b: Block) -> Block {
        self.entered[&b].0
    }
}

/// Whether two values are the very same, so that no parameter is needed where they meet.
fn is_same(a: &Val, b: &Val) -> bool {
    if a.ty != b.ty {
        return false;
    }
    if a.v.is_some() || b.v.is_some() {
        return a.v == b.v;
    }
    match (a.known.as_deref(), b.known.as_deref()) {
        (Some(Known::Const(x)), Some(Known::Const(y))) => x.same(y),
        (Some(Known::Parts(x)), Some(Known::Parts(y))) => {
            x.len() == y.len() && x.iter().zip(y).all(|(s, t)| is_same(s, t))
        }
        (Some(x), Some(y)) => std::ptr::eq(x, y),
        (None, None) => a.ty.flatten().is_empty(),
        _ => false,
    }
}
