//! Generators: `yield`, what is sent to them and thrown into them, and what they return.
//!
//! [`split`] makes two functions of one with `yield`s. A generator's type has the second, which goes on with it, but
//! not its frame, so that recursion has a type. A call of that takes what is sent, and answers whether there is an
//! item, the item, and what has been returned. To throw, a caller makes an exception pending and adds [`split::THROWN`]
//! to the state before the call.
//!
//! The type that is sent is `None`, or an optional of a type that the function finds that makes the generator, by the
//! calls of `send`: it specialises the generator's function for that, as a last argument ([`crate::ArgTy::sent`]).
//! Where nobody says it, it is guessed to be what is yielded.

pub(crate) mod split;

use crate::convert::{carried, unify};
use crate::cx::{Infer, Leave, Yield};
use crate::emit::exc;
use crate::val::{Known, Plan, Val};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Target, Term};
use lh_ir::types::{GeneratorTy, TyKind};
use lh_ir::untyped;
use lh_ir::{Block, Const, ExcId, Ty, Value};
use lh_ops::runtime as rt;

/// Whether anything is done with what is sent.
pub fn receives(code: &untyped::Code) -> bool {
    let insts = || code.blocks.iter().flat_map(|b| &b.insts);
    let sent: Vec<Value> =
        insts().filter(|i| matches!(i.inst, untyped::Inst::Yield(_))).flat_map(|i| i.result).collect();
    let mut is_used = insts().any(|i| matches!(i.inst, untyped::Inst::YieldFrom(_)));
    insts().for_each(|i| i.inst.for_each_operand(|v| is_used |= sent.contains(&v)));
    for t in code.blocks.iter().flat_map(|b| &b.term) {
        is_used |= t.targets().iter().any(|t| t.args.iter().any(|v| sent.contains(v)));
        is_used |= match t {
            untyped::Term::Branch { cond: v, .. }
            | untyped::Term::ForIter { iter: v, .. }
            | untyped::Term::Return(v) => sent.contains(v),
            _ => false,
        };
    }
    is_used
}

fn generator_of(g: &Val) -> &'static GeneratorTy {
    match g.ty.kind() {
        TyKind::Generator(g) => g,
        _ => lh_ir::bug!("{} is no generator", g.ty),
    }
}

fn none() -> Val {
    Val::constant(Const::None)
}

impl Infer<'_> {
    /// `yield v`, whose value is what is sent.
    pub(crate) fn yield_value(&mut self, v: Val) -> Result<Val> {
        let val = self.returnable(v)?;
        let resume = self.leave(Leave::With(val));
        Ok(if self.sent.is_none() || self.sent.is_never() {
            Val::of_type(self.sent)
        } else {
            self.param(resume, self.sent)
        })
    }

    /// Notes where the body is left, and goes on in the block where it will be resumed.
    pub(crate) fn leave(&mut self, leave: Leave) -> Block {
        let (resume, thrown) = (self.new_block(), self.new_block());
        self.yields.push(Yield { from: self.cur, leave, span: self.span, resume, thrown, is_handled: false });
        self.cur = thrown;
        self.set_term(Term::Propagate);
        self.cur = resume;
        resume
    }

    /// The type of the generator that a function makes, as far as it is known.
    fn generator_type(&mut self) -> Result<Ty> {
        let mut item = Ty::never();
        for y in &self.yields {
            let Leave::With(val) = &y.leave else { continue };
            item = unify(item, val.ty, &mut self.pending).ok_or_else(|| {
                let text = format!("`{}` yields `{item}` in one place and `{}` in another", self.code.name, val.ty);
                let d = Diagnostic::new(diag::CANNOT_UNIFY, text).note("yield one type everywhere");
                d.at(&self.code.file, y.span)
            })?;
        }
        let mut ret = Ty::never();
        for (_, v, span) in &self.returns {
            ret = unify(ret, v.ty, &mut self.pending).ok_or_else(|| {
                let text = format!("`{}` returns `{ret}` in one place and `{}` in another", self.code.name, v.ty);
                Diagnostic::new(diag::CANNOT_UNIFY, text).note("return one type everywhere").at(&self.code.file, *span)
            })?;
        }
        let known = |t: Ty| if t.is_never() { Ty::none() } else { t };
        let ret = known(ret);
        let ret = if ret.is_none() || matches!(ret.kind(), TyKind::Optional(_)) { ret } else { Ty::optional(ret) };
        let next = match self.next {
            Some(next) => next,
            None => self.world.reserve(self.id, &format!("{}.next", self.out.name)),
        };
        self.next = Some(next);
        let sent = known(self.sent);
        let item = if self.is_open && !self.yields_nothing { item } else { known(item) };
        Ok(Ty::new(TyKind::Generator(GeneratorTy { item, sent, ret, func: self.id, next })))
    }

    /// Completes the ways out of a generator's body; returns its type.
    pub(crate) fn finish_yields(&mut self) -> Result<Ty> {
        let ty = self.generator_type()?;
        let TyKind::Generator(g) = ty.kind() else { lh_ir::bug!("a generator") };
        for i in 0..self.yields.len() {
            let Yield { from, span, resume, ref leave, .. } = self.yields[i];
            let leave = leave.clone();
            self.cur = from;
            self.span = span;
            let nothing = self.push(Inst::Zero, g.ret);
            match leave {
                Leave::With(val) => {
                    let val = self.convert(&val, g.item)?;
                    self.finish_with(g.step(), [Val::bool(true), val, nothing]);
                }
                Leave::Paused => {
                    let item = self.push(Inst::Zero, g.item);
                    self.finish_with(g.step(), [Val::bool(false), item, nothing]);
                }
                Leave::Marked => self.jump(resume, vec![]),
            }
            self.yields[i].from = self.cur;
        }
        for (block, val, span) in std::mem::take(&mut self.returns) {
            self.cur = block;
            self.span = span;
            let val = self.convert(&val, g.ret)?;
            let nothing = self.push(Inst::Zero, g.item);
            self.finish_with(g.step(), [Val::bool(false), nothing, val]);
        }
        self.out.ret = Some(g.step());
        for y in &mut self.yields {
            let data = &self.out.blocks[y.thrown.index()];
            y.is_handled = data.unwind.is_some() || !data.insts.is_empty();
        }
        let is_iterator = self.yields.iter().any(|y| matches!(y.leave, Leave::Marked));
        if !is_iterator && self.may_stop() {
            self.convert_stops();
        }
        Ok(ty)
    }

    fn finish_with(&mut self, ret: Ty, parts: [Val; 3]) {
        let v = self.pack(parts.to_vec(), ret);
        let v = self.value(&v);
        self.set_term(Term::Return(v));
    }

    /// Whether the body may raise `StopIteration`.
    fn may_stop(&self) -> bool {
        let raises = |t: &Option<Term>| matches!(t, Some(Term::Raise { exc, .. }) if *exc == exc::STOP_ITERATION);
        self.calls_users || self.out.blocks.iter().any(|b| raises(&b.term))
    }

    /// Makes `RuntimeError` of a `StopIteration` that leaves the body: callers would take it for the end.
    fn convert_stops(&mut self) {
        let landing = self.new_block();
        for block in &mut self.out.blocks {
            block.unwind.get_or_insert(Target { block: landing, args: vec![] });
        }
        let first = landing.index();
        self.cur = landing;
        let e = self.take_exception();
        let stops = self.matches(&e, exc::STOP_ITERATION);
        let (yes, no) = self.branch(&stops);
        self.cur = yes;
        self.raise_text(exc::RUNTIME_ERROR, "generator raised StopIteration");
        self.cur = no;
        self.restore_exception(&e);
        self.set_term(Term::Propagate);
        self.out.blocks[first..].iter_mut().for_each(|b| b.unwind = None);
    }

    fn take_exception(&mut self) -> Val {
        self.push(Inst::Runtime(&rt::lh_exc_take, vec![]), Ty::exc())
    }

    fn restore_exception(&mut self, e: &Val) {
        let e = self.value(e);
        self.push_void(Inst::Runtime(&rt::lh_exc_restore, vec![e]));
    }

    fn matches(&mut self, e: &Val, class: ExcId) -> Val {
        let (e, class) = (self.value(e), self.value(&Val::int(i128::from(class.0))));
        self.push(Inst::Runtime(&rt::lh_exc_matches, vec![e, class]), Ty::bool())
    }

    /// Goes on with a generator: whether there is an item, the item, and what it has returned.
    pub(crate) fn advance(&mut self, g: &Val, sent: &Val) -> Result<[Val; 3]> {
        let ty = generator_of(g);
        let mut args = vec![self.value(g)];
        if !ty.sent.flatten().is_empty() {
            let sent = self.convert(sent, ty.sent)?;
            args.push(self.value(&sent));
        }
        let step = self.push(Inst::Call(ty.next, args), ty.step());
        Ok([0, 1, 2].map(|i| self.field(&step, i)))
    }

    /// The item that a generator gave; asked before the first time, only its type matters.
    pub(crate) fn generated(&mut self, g: &Val, item: Option<Val>) -> Val {
        item.unwrap_or_else(|| self.push(Inst::Zero, generator_of(g).item))
    }

    /// `next(g)` and `next(g, default)`.
    pub(crate) fn next_item(&mut self, g: &Val, default: Option<&Val>) -> Result<Val> {
        let [has, x, ret] = self.advance(g, &none())?;
        let Some(d) = default else {
            self.stop_unless(&has, &ret);
            return Ok(x);
        };
        let t = unify(x.ty, d.ty, &mut self.pending).ok_or_else(|| self.no_op("next", x.ty, d.ty))?;
        let (yes, no) = self.branch(&has);
        self.join(&[(yes, x), (no, d.clone())], t)
    }

    /// Raises `StopIteration` where there is no item.
    fn stop_unless(&mut self, has: &Val, ret: &Val) {
        let (yes, no) = self.branch(has);
        self.cur = no;
        match ret.ty.kind() {
            TyKind::Optional(t) if carried(*t) => {
                let value = self.value(ret);
                let returned = self.push(Inst::IsSome(value), Ty::bool());
                let (now, before) = self.branch(&returned);
                self.cur = now;
                let value = self.push(Inst::Unwrap(value), *t);
                let args = vec![self.value(&value)];
                self.set_term(Term::Raise { exc: exc::STOP_ITERATION, args });
                self.cur = before;
                self.set_term(Term::Raise { exc: exc::STOP_ITERATION, args: vec![] });
            }
            _ => self.set_term(Term::Raise { exc: exc::STOP_ITERATION, args: vec![] }),
        }
        self.cur = yes;
    }

    /// Methods of generators that the library does not have.
    pub(crate) fn generator_method(&mut self, name: &str, g: &Val, args: &[Val]) -> Result<Val> {
        match (name, args) {
            ("__next__", []) => self.next_item(g, None),
            ("send", [x]) => self.send(g, x),
            ("throw", [e]) => self.throw(g, e),
            _ => {
                let text = format!("`{name}` of a generator takes one argument");
                Err(Diagnostic::new(diag::NO_MATCHING_CALL, text))
            }
        }
    }

    /// `g.send(x)`
    fn send(&mut self, g: &Val, x: &Val) -> Result<Val> {
        if !self.accepts(g, x.ty)? {
            return Ok(Val::of_type(Ty::never()));
        }
        if !x.ty.is_none() {
            let state = self.generator_state(g);
            let early = self.op("eq", &[state, Val::int(0)]);
            let early = match x.ty.kind() {
                TyKind::Optional(_) => {
                    let x = self.value(x);
                    let is_some = self.push(Inst::IsSome(x), Ty::bool());
                    self.both(&early, &is_some)
                }
                _ => early,
            };
            self.raise_if(&early, exc::TYPE_ERROR, "can't send non-None value to a just-started generator");
        }
        let [has, item, ret] = self.advance(g, x)?;
        self.stop_unless(&has, &ret);
        Ok(item)
    }

    /// Whether a value of a type can be sent to a generator. If its function is called here, the next sweep makes a
    /// generator that takes it.
    fn accepts(&mut self, g: &Val, t: Ty) -> Result<bool> {
        let own = generator_of(g);
        let wanted = match t.kind() {
            TyKind::None | TyKind::Optional(_) => t,
            _ => Ty::optional(t.weak()),
        };
        if t.is_none() || unify(own.sent, wanted, &mut self.pending) == Some(own.sent) {
            return Ok(true);
        }
        let known = self.sends.get(&own.func).copied().unwrap_or(Ty::never());
        let Some(all) = unify(known, wanted, &mut self.pending) else {
            let text = format!("a generator is sent `{known}` in one place and `{wanted}` in another");
            return Err(Diagnostic::new(diag::CANNOT_UNIFY, text).note("send one type everywhere"));
        };
        self.widen_sent(own.func, all)
    }

    /// Lets the next sweep make generators of a function that take a type; a failure asks the caller to.
    fn widen_sent(&mut self, func: lh_ir::FuncId, t: Ty) -> Result<bool> {
        if self.makes.contains(&func) && self.sends.insert(func, t) != Some(t) {
            self.pending.changed = true;
            return Ok(false);
        }
        let text = format!("`{t}` cannot be sent to this generator: where it is made, nothing says so");
        let note = "annotate its function, `-> Generator[yielded, sent, returned]`";
        let mut d = Diagnostic::new(diag::NO_MATCHING_CALL, text).note(note);
        d.sent = Some((func, t));
        Err(d)
    }

    /// Answers a callee's request for generators that take a type.
    pub(crate) fn sent_by_callee(&mut self, d: Box<Diagnostic>) -> Result<()> {
        let Some((func, t)) = d.sent.filter(|(func, _)| self.makes.contains(func)) else { return Err(d) };
        let known = self.sends.get(&func).copied().unwrap_or(Ty::never());
        match unify(known, t, &mut self.pending) {
            Some(all) if all != known => self.widen_sent(func, all).map(|_| ()),
            _ => Err(d),
        }
    }

    /// `g.throw(e)`
    fn throw(&mut self, g: &Val, e: &Val) -> Result<Val> {
        self.make_pending(e)?;
        let [has, item, ret] = self.advance_thrown(g)?;
        self.stop_unless(&has, &ret);
        Ok(item)
    }

    /// Throws an exception into a generator: whether it yields then.
    pub(crate) fn throw_into(&mut self, g: &Val, e: &Val) -> Result<Val> {
        self.make_pending(e)?;
        let [has, ..] = self.advance_thrown(g)?;
        Ok(has)
    }

    /// Goes on with a generator, into which the pending exception is thrown.
    fn advance_thrown(&mut self, g: &Val) -> Result<[Val; 3]> {
        let state = self.generator_state(g);
        let state = self.op("add", &[state, Val::int(split::THROWN)]);
        self.set_generator_state(g, &state);
        self.advance(g, &none())
    }

    fn frame_of(&mut self, g: &Val) -> Value {
        let object = self.field(g, 0);
        let object = self.value(&object);
        let data = self.push(Inst::ItemsData(object), Ty::ptr());
        self.value(&data)
    }

    /// Where a generator goes on: 0 at its start, negative at its end.
    pub(crate) fn generator_state(&mut self, g: &Val) -> Val {
        let frame = self.frame_of(g);
        self.push(Inst::Load(frame), Ty::int())
    }

    pub(crate) fn set_generator_state(&mut self, g: &Val, state: &Val) {
        let (frame, state) = (self.frame_of(g), self.value(state));
        self.push_void(Inst::Store(frame, state));
    }

    /// A primitive of the library for generators.
    pub(crate) fn prim_generator(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        match (name, args) {
            ("generator_throw", [g, e]) => return self.throw_into(g, e).map(Some),
            ("generator_state", [g]) => return Ok(Some(self.generator_state(g))),
            ("generator_end", [g]) => self.set_generator_state(g, &Val::int(-1)),
            // Places of an iterator, which outlives its end and exceptions.
            ("generator_mark", []) => _ = self.leave(Leave::Marked),
            ("generator_pause", []) => _ = self.leave(Leave::Paused),
            _ => return Ok(None),
        }
        Ok(Some(none()))
    }

    /// `yield from v`, whose value is what that returns.
    pub(crate) fn yield_from(&mut self, operand: Value) -> Result<Val> {
        let v = self.val(operand);
        if v.ty.is_never() {
            return Ok(v);
        }
        if let TyKind::Generator(_) = v.ty.kind() {
            let is_new = self.is_new(operand);
            return self.delegate(&v, is_new);
        }
        let started = self.iter(&v)?;
        match started.known.as_deref().cloned() {
            Some(Known::Plan(plan, _)) => self.yield_all(&plan)?,
            Some(Known::Unroll(inner)) => {
                let n = self.unroll_count(&inner).unwrap_or(0);
                for k in 0..n {
                    let item = self.unrolled_item(&inner, k, n)?;
                    self.yield_to_iterator(item)?;
                }
            }
            _ => {
                let text = format!("`yield from` of `{}` is not supported", v.ty);
                return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text).note("write a loop"));
            }
        }
        Ok(if self.dead { Val::of_type(Ty::never()) } else { none() })
    }

    /// Whether a value is the result of a call in this block, and used here only: a generator that has not begun.
    fn is_new(&self, v: Value) -> bool {
        let is_call = |i: &&untyped::InstData| {
            i.result == Some(v) && matches!(i.inst, untyped::Inst::Call { .. } | untyped::Inst::CallStar { .. })
        };
        let mut uses = 0;
        let mut count = |used: Value| uses += usize::from(used == v);
        for block in &self.code.blocks {
            block.insts.iter().for_each(|i| i.inst.for_each_operand(&mut count));
            let targets = block.term.iter().flat_map(untyped::Term::targets).chain(&block.unwind);
            targets.for_each(|t| t.args.iter().for_each(|a| count(*a)));
        }
        uses == 1 && self.code.blocks[self.here.index()].insts.iter().any(|i| is_call(&i))
    }

    fn yield_to_iterator(&mut self, item: Val) -> Result<()> {
        let sent = self.yield_value(item)?;
        if sent.ty.is_never() {
            self.stop();
        } else if !sent.ty.is_none() {
            let sent = self.value(&sent);
            let is_some = self.push(Inst::IsSome(sent), Ty::bool());
            self.raise_if(&is_some, exc::ATTRIBUTE_ERROR, "'iterator' object has no attribute 'send'");
        }
        Ok(())
    }

    /// Yields all items of an iteration.
    fn yield_all(&mut self, plan: &Plan) -> Result<()> {
        let init = self.plan_states(plan);
        if self.probe_item(plan, &init)?.is_never() {
            self.stop();
            return Ok(());
        }
        let (header, body, done) = (self.new_block(), self.new_block(), self.new_block());
        self.jump(header, init.clone());
        self.cur = header;
        let current: Vec<Val> = init.iter().map(|s| Val::new(s.ty, self.out.new_param(header, s.ty))).collect();
        let more = self.plan_more(plan, &current)?;
        let cond = self.value(&more);
        let to = |block| Target { block, args: vec![] };
        self.set_term(Term::Branch { cond, then: to(body), els: to(done) });
        self.cur = body;
        let (item, after) = self.plan_item(plan, &current)?;
        self.yield_to_iterator(item)?;
        if !self.dead {
            self.jump(header, after);
        }
        self.cur = done;
        self.dead = false;
        Ok(())
    }

    /// Hands on to another generator what is sent and thrown, and yields what it gives.
    fn delegate(&mut self, g: &Val, is_new: bool) -> Result<Val> {
        let inner = generator_of(g);
        if self.sent.is_none() && !inner.sent.is_none() && self.sent_is_open {
            self.sent = inner.sent;
            self.pending.changed = true;
            return Ok(Val::of_type(Ty::never()));
        }
        if !self.sent.is_never() && !self.accepts(g, self.sent)? {
            return Ok(Val::of_type(Ty::never()));
        }
        let v = self.value(g);
        let g = &Val::new(g.ty, v);
        let (header, after) = (self.new_block(), self.new_block());
        let sent = if self.sent.is_never() { Ty::none() } else { self.sent };
        let first = self.convert(&none(), sent)?;
        self.jump_with(header, &[first]);
        self.cur = header;
        let given = self.param(header, sent);
        let step = self.advance(g, &given)?;
        self.jump_with(after, &step);
        self.cur = after;
        let [has, item, ret] = [Ty::bool(), inner.item, inner.ret].map(|t| self.param(after, t));
        let (yes, no) = self.branch(&has);
        self.cur = yes;
        let given = self.yield_value(item)?;
        let thrown = self.yields.last().expect("just added").thrown;
        if given.ty.is_never() {
            self.set_term(Term::Unreachable);
        } else {
            self.jump_with(header, &[given]);
        }
        self.cur = thrown;
        self.hand_on_thrown(g, after)?;
        self.cur = no;
        match inner.ret.kind() {
            TyKind::Optional(t) if is_new => {
                let ret = self.value(&ret);
                if t.flatten().is_empty() {
                    return Ok(Val::of_type(*t));
                }
                Ok(self.push(Inst::Unwrap(ret), *t))
            }
            _ => Ok(ret),
        }
    }

    /// Throws the pending exception into a generator and goes on with what it answers; at `GeneratorExit` closes it.
    fn hand_on_thrown(&mut self, g: &Val, after: Block) -> Result<()> {
        let e = self.take_exception();
        let closes = self.matches(&e, exc::GENERATOR_EXIT);
        let (yes, no) = self.branch(&closes);
        self.cur = yes;
        self.call_library("generators.generator.close", std::slice::from_ref(g))?;
        self.set_term(Term::Raise { exc: exc::GENERATOR_EXIT, args: vec![] });
        self.cur = no;
        self.restore_exception(&e);
        let step = self.advance_thrown(g)?;
        self.jump_with(after, &step);
        Ok(())
    }

    /// Ends the current block with a jump that passes values which exist at run time.
    fn jump_with(&mut self, block: Block, vals: &[Val]) {
        self.jump(block, vals.iter().filter(|v| !v.ty.flatten().is_empty()).cloned().collect());
    }
}
