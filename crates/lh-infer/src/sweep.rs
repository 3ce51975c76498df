//! One sweep over the untyped blocks in reverse postorder, which types their instructions and completes the edges.

use crate::convert::unify_counts;
use crate::cx::{Edge, Infer};
use crate::substitutes::is_of_library;
use crate::val::{Known, Val};
use crate::world::Object;
use hashbrown::HashMap;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Function, Semantics, Term};
use lh_ir::types::TyKind;
use lh_ir::untyped;
use lh_ir::{Block, Span, Ty, Value};
use std::rc::Rc;

type Edges = HashMap<Block, Vec<Edge>>;

impl Infer<'_> {
    /// Types the function with the types known from earlier sweeps: its result, and whether a loop needs wider types.
    pub(crate) fn sweep(&mut self, name: &str) -> Result<(Ty, bool)> {
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
        self.makes.clear();
        self.calls_users = false;
        self.is_open = false;
        self.unknown_items = false;
        self.loops.clear();
        self.made_at.clear();
        self.initial.clear();
        self.frames.clear();
        self.rows_at.clear();
        self.refined.clear();
        self.enter_function()?;
        let code = self.code.clone();
        let mut failed = None;
        for i in 0..self.shape.order.len() {
            lh_ir::stop::poll();
            let b = self.shape.order[i];
            if i > 0 && !self.edges.contains_key(&b) {
                continue;
            }
            let entered = if i > 0 { self.enter_block(b) } else { Ok(()) };
            if let Err(d) = entered.and_then(|()| self.visit(b, &code.blocks[b.index()])) {
                if self.restart.is_some() || !self.shape.is_header.contains(&true) {
                    return Err(d);
                }
                // The rest may show that a loop needs wider types, with which there is no failure.
                let d = self.with_refusals(d);
                failed.get_or_insert(self.at_operation(d));
            }
        }
        if let Some(d) = failed {
            return Err(d);
        }
        let widened = self.finish_edges()?;
        let ret = if self.code.is_generator { self.finish_yields()? } else { self.finish_returns()? };
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
                    Val::known(a.ty, Known::Parts(items))
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
                    _ => {
                        let ty = self.with_inner_sites(vals.len(), a.ty);
                        let own = self.param(entry, ty);
                        self.received(own)
                    }
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

    /// The type of an argument that holds containers whose types are undecided: they are found by their use here.
    fn with_inner_sites(&mut self, index: usize, ty: Ty) -> Ty {
        if !crate::convert::has_pending(ty) {
            return ty;
        }
        let mut sites = self.inner_sites.remove(&index).unwrap_or_default();
        let mut at = 0;
        let open = crate::convert::map_pending(ty, &mut |class| {
            if at == sites.len() {
                sites.push(self.pending.add(class));
            }
            at += 1;
            self.pending.ty(sites[at - 1])
        });
        self.inner_sites.insert(index, sites);
        open
    }

    /// An instance whose type is undecided: its type is found by its use here.
    fn undecided_parameter(&mut self, entry: Block, index: usize, class: Class) -> Val {
        let site = match self.argument_sites.get(&index) {
            Some(site) => *site,
            None => self.pending.add(class),
        };
        self.argument_sites.insert(index, site);
        let v = self.param(entry, self.pending.ty(site));
        self.made_at.extend(v.v.map(|v| (v, site)));
        v
    }

    /// Types the parameters of a block from the edges seen so far and opens its typed block.
    fn enter_block(&mut self, b: Block) -> Result<()> {
        let block = self.out.new_block();
        let params = self.code.blocks[b.index()].params.clone();
        let mut vals = Vec::new();
        for (i, p) in params.iter().enumerate() {
            let mut ty = self.sticky.get(&(b, i)).copied();
            let counts = self.are_counts(&self.edges, b, i);
            let edges = &self.edges[&b];
            for e in edges {
                let t = e.vals[i].ty;
                ty = match ty {
                    None => Some(t),
                    Some(old) => match unify_counts(old, t, counts, &mut self.pending) {
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
            self.refusals.clear();
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
                // A block may have a handler of its own.
                let block = &mut self.out.blocks[t];
                block.unwind = block.unwind.take().or_else(|| self.unwind.clone());
            }
        }
        Ok(())
    }

    /// A diagnostic of the current instruction, with its place. Kernels of ufuncs and of operators of arrays are typed
    /// without a call, and stand at the operation that asks for them.
    pub(crate) fn at_operation(&self, mut d: Box<Diagnostic>) -> Box<Diagnostic> {
        if !self.is_library && is_of_library(&d.file) && d.trail.iter().all(|(file, ..)| is_of_library(file)) {
            (d.file, d.span) = (self.code.file.clone(), self.span);
            d.trail.clear();
        } else if !self.is_library && d.trail.is_empty() && !d.file.is_empty() && d.file != self.code.file {
            // A function of another file cannot be decoded.
            d.trail.push((self.code.file.clone(), self.span, "called from here".to_owned()));
        }
        d.at(&self.code.file, self.span)
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
            // An exception that is not raised at once is an object: it may be changed, and raised more than once.
            if let Some(Known::Exc(id, args)) = val.known.as_deref()
                && !self.is_raised(r)
            {
                let (id, args) = (*id, args.clone());
                let v = self.value(&val);
                val = Val { v: Some(v), known: Some(Rc::new(Known::Exc(id, args))), ..val };
            }
            val = self.kept(r, val)?;
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

    /// Whether the current block raises a value.
    fn is_raised(&self, v: Value) -> bool {
        let term = &self.code.blocks[self.here.index()].term;
        matches!(term, Some(untyped::Term::Raise { exc, cause }) if *exc == v && *cause != Some(v))
    }

    /// The type that `locals=` gives to the variable that a value is assigned to.
    fn declared(&self, v: Value) -> Option<Ty> {
        if self.locals.is_empty() {
            return None;
        }
        let name = self.code.value_names[v.index()].as_deref()?;
        self.locals.iter().find(|(n, _)| n == name).map(|(_, t)| *t)
    }

    /// Records an edge on which more is known about a value.
    fn refined_edge(&mut self, t: &untyped::Target, known: Option<(Value, Told)>) {
        let Some((v, told)) = known else { return self.edge_to(t, None) };
        let old = self.val(v);
        let present = match old.ty.kind() {
            TyKind::Optional(inner) if !matches!(told, Told::Absent) => {
                let x = self.value(&old);
                self.push(func::Inst::Unwrap(x), *inner)
            }
            TyKind::Optional(_) | TyKind::Choice(_) => old,
            _ => return self.edge_to(t, None),
        };
        let new = match told {
            Told::Absent => Val::of_type(Ty::none()),
            Told::Present => present,
            Told::Among(places) => self.among(&present, &places),
        };
        let vals = t.args.iter().map(|a| if *a == v { new.clone() } else { self.val(*a) }).collect();
        let edge = Edge { from: self.cur, src: self.here, vals, span: self.span };
        self.edges.entry(t.block).or_default().push(edge);
        if self.shape.pred_count[t.block.index()] == 1 {
            self.refined.entry(v).or_default().push((t.block, new));
        }
    }

    /// The facts about a value that follow from a condition of the current block, if it holds and if it does not.
    fn told_by(&mut self, cond: Value) -> [Option<(Value, Told)>; 2] {
        let code = self.code.clone();
        let inst = code.blocks[self.here.index()].insts.iter().find(|i| i.result == Some(cond)).map(|i| &i.inst);
        match inst {
            Some(untyped::Inst::Is { a, b, negate }) => {
                let v = match (self.val(*a).ty.is_none(), self.val(*b).ty.is_none()) {
                    (false, true) => *a,
                    (true, false) => *b,
                    _ => return [None, None],
                };
                let facts = [Some((v, Told::Absent)), Some((v, Told::Present))];
                if *negate { reversed(facts) } else { facts }
            }
            Some(untyped::Inst::Unary(untyped::UnOp::Not, x)) => reversed(self.told_by(*x)),
            Some(untyped::Inst::Call { func, args, kwargs }) if kwargs.is_empty() && args.len() == 2 => {
                self.told_by_class(*func, args[0], args[1])
            }
            // A true value is not `None`; a false one may be zero.
            _ => [Some((cond, Told::Present)), None],
        }
    }

    /// The same of `isinstance`: which classes are left of several, if it holds and if it does not.
    fn told_by_class(&mut self, f: Value, x: Value, class: Value) -> [Option<(Value, Told)>; 2] {
        let (f, own, class) = (self.val(f), self.val(x), self.val(class));
        let TyKind::Obj(o) = f.ty.kind() else { return [None, None] };
        let Object::Path(path) = self.world.object(*o) else { return [None, None] };
        let optional = if let TyKind::Optional(t) = own.ty.kind() { Some(*t) } else { None };
        let Some(of) = optional.unwrap_or(own.ty).several().filter(|_| path == "builtins.isinstance") else {
            return [None, None];
        };
        let mut places = [Vec::new(), Vec::new()];
        for (i, t) in of.iter().enumerate() {
            match self.isinstance(&Val::of_type(*t), &class).ok().and_then(|is| is.as_bool()) {
                Some(is) => places[usize::from(!is)].push(i),
                None => return [None, None],
            }
        }
        let [yes, no] = places.map(|places| Some((x, Told::Among(places))));
        // Anything else may be None.
        [yes, no.filter(|_| optional.is_none())]
    }

    /// Notes the classes of a caught exception where a clause has found that it is one of them.
    fn refine_caught(&mut self, cond: Value, then: &untyped::Target) {
        let code = self.code.clone();
        let inst = code.blocks[self.here.index()].insts.iter().find(|i| i.result == Some(cond)).map(|i| &i.inst);
        let Some(untyped::Inst::ExcMatch(e, c)) = inst else { return };
        let (old, classes) = (self.val(*e), self.val(*c));
        if let Some(classes) = self.told_classes(&classes)
            && self.shape.pred_count[then.block.index()] == 1
        {
            let new = Val { known: Some(Rc::new(Known::Caught(classes))), ..old };
            self.refined.entry(*e).or_default().push((then.block, new));
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
                        self.refine_caught(*cond, then);
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
        // In a fixed order, so that the output is reproducible.
        let mut targets: Vec<_> = edges.keys().copied().collect();
        targets.sort();
        for b in targets {
            let es = &edges[&b];
            let Some((block, params)) = self.entered.get(&b).cloned() else {
                es.iter().for_each(|e| self.out.blocks[e.from.index()].term = Some(Term::Unreachable));
                continue;
            };
            let passed = self.passed(block, &params);
            for e in es {
                for (i, p) in params.iter().enumerate() {
                    let t = e.vals[i].ty;
                    let counts = self.are_counts(&edges, b, i);
                    let Some(u) = unify_counts(p.ty, t, counts, &mut self.pending) else {
                        let v = self.code.blocks[b.index()].params[i];
                        return Err(self.cannot_unify(v, p.ty, t, e.span));
                    };
                    if u != p.ty {
                        let old = self.sticky.get(&(b, i)).copied().unwrap_or(Ty::never());
                        let u = unify_counts(old, u, counts, &mut self.pending).unwrap_or(u);
                        self.sticky.insert((b, i), u);
                        widened = true;
                    }
                }
                if !widened {
                    self.finish_edge(e, b, block, &passed)?;
                }
            }
        }
        Ok(widened)
    }

    /// After a failure, what loops have made of the types of their variables so far: whether that is more than the
    /// sweep began with, which may explain the failure.
    pub(crate) fn widen_headers(&mut self) -> bool {
        let mut widened = false;
        let edges = std::mem::take(&mut self.edges);
        for (&b, es) in &edges {
            let Some((_, params)) = self.entered.get(&b).cloned() else { continue };
            for (i, t) in es.iter().flat_map(|e| e.vals.iter().map(|v| v.ty).enumerate()) {
                let old = self.sticky.get(&(b, i)).copied().unwrap_or(params[i].ty);
                let counts = self.are_counts(&edges, b, i);
                match unify_counts(old, t, counts, &mut self.pending) {
                    Some(u) if u != old => {
                        self.sticky.insert((b, i), u);
                        widened = true;
                    }
                    _ => {}
                }
            }
        }
        widened
    }

    /// Whether a `uint64` is among the values that edges pass for a parameter, and none of the others is ever negative.
    fn are_counts(&self, edges: &Edges, b: Block, i: usize) -> bool {
        let passed = edges.get(&b).is_some_and(|es| es.iter().any(|e| e.vals[i].ty == Ty::u64()));
        (passed || self.sticky.get(&(b, i)) == Some(&Ty::u64()))
            && self.semantics() == Semantics::Python
            && self.pass_counts(edges, b, i, &mut Vec::new())
    }

    fn pass_counts(&self, edges: &Edges, b: Block, i: usize, seen: &mut Vec<(Block, usize)>) -> bool {
        if seen.contains(&(b, i)) {
            return true;
        }
        seen.push((b, i));
        edges.get(&b).is_some_and(|es| {
            es.iter().all(|e| {
                let v = &e.vals[i];
                is_count(v) || self.passed_through(v).is_some_and(|(b, i)| self.pass_counts(edges, b, i, seen))
            })
        })
    }

    /// Block and place of a parameter, such as a variable that goes through several loops has in each.
    fn passed_through(&self, v: &Val) -> Option<(Block, usize)> {
        self.entered
            .iter()
            .find_map(|(b, (_, params))| params.iter().position(|p| p.v.is_some() && p.v == v.v).map(|i| (*b, i)))
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
        let counts = self.semantics() == Semantics::Python && self.returns.iter().all(|r| is_count(&r.1));
        for (_, v, span) in &self.returns {
            let Some(t) = unify_counts(ret, v.ty, counts, &mut self.pending) else {
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
            let v = self.out_of_frames(v)?;
            let v = self.value(&v);
            self.set_term(Term::Return(v));
            self.returns.push((block, Val::of_type(ret), span));
        }
        self.out.ret = Some(ret);
        Ok(ret)
    }
}

/// A fact about a value, which a condition tells.
enum Told {
    /// It is not `None`.
    Present,
    /// It is `None`.
    Absent,
    /// It is one of these alternatives.
    Among(Vec<usize>),
}

fn reversed<T>([a, b]: [T; 2]) -> [T; 2] {
    [b, a]
}

/// Whether a value is an integer that is known not to be negative.
fn is_count(v: &Val) -> bool {
    v.ty == Ty::u64() || v.as_int().is_some_and(|k| k >= 0)
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
