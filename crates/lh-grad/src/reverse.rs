//! The reverse part: each block of the function gets one that runs its instructions' adjoints in reverse order, and
//! goes on to those of the blocks before it. It refers to the values of the forward part as if they were available;
//! `keep` makes them so.

use crate::builder::{Builder, SUM, edge_args, to};
use crate::kernels::{self, Wait, is_folded};
use crate::memory::{Memory, leaves, wanted};
use crate::normal::{Flow, Selector, entries, origin};
use crate::partial::{self, Terms};
use crate::program::Program;
use crate::shadow::{
    Copies, RuleCall, Saved, Shadows, leaf_values, refused, refused_foreign, with_leaves, zero, zeroed,
};
use crate::snapshots::refused_call;
use crate::unchosen::unchosen;
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::Grad;
use lh_ir::cfg::Edge;
use lh_ir::device::Device;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Function, Inst, InstData, Term};
use lh_ir::runtime::{Barrier, Memory as Mem, Role};
use lh_ir::verify::{part, parts};
use lh_ir::{Block, Slot, SpecId, Ty, Value, bug};
use lh_ops::runtime as rt;

/// The state of a loop in the reverse part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    /// The counter of the loop's last iteration.
    pub last: Slot,
    /// The number of iterations that have been reversed.
    pub done: Slot,
}

/// The reverse part under construction.
pub(crate) struct Reverse<'a> {
    pub func: &'a mut Function,
    pub flow: &'a Flow,
    pub memory: &'a Memory,
    pub program: &'a dyn Program,
    pub shadows: &'a Shadows,
    pub saved: &'a Saved,
    pub copies: &'a Copies,
    /// The adjoint of each value: a slot for each of its floats.
    adjoints: HashMap<Value, Vec<Slot>>,
    /// The block that reverses each block.
    pub blocks: HashMap<Block, Block>,
    pub loops: Vec<Counting>,
    /// Values whose adjoints may be 0 because a selection does not choose them.
    unchosen: HashSet<Value>,
    /// Whether it is code for a device, whose threads share memory.
    device: bool,
}

/// Where the reverse part begins and ends.
pub(crate) struct End<'a> {
    /// The parameters whose adjoints it gives.
    pub asked: &'a [Value],
    /// Type of the result.
    pub ret: Ty,
    /// The adjoint of the function's result; 1 of the first float if there is none.
    pub seed: Option<Value>,
    /// The list that keeps memory alive.
    pub owners: Option<Value>,
}

/// Builds the reverse part, which begins where the function returned and returns what it returned, and adjoints.
///
/// # Errors
/// Something without a derivative.
pub(crate) fn build<'a>(mut r: Reverse<'a>, end: &End<'_>) -> Result<Reverse<'a>> {
    let order: Vec<Block> = r.flow.cfg.rpo().iter().copied().filter(|b| r.flow.returns[b.index()]).collect();
    for b in &order {
        let new = r.func.new_block();
        r.func.blocks[new.index()].cold = r.func.blocks[b.index()].cold;
        // Iterations that may run in any order are independent, and so are their adjoints, but for sums.
        r.func.blocks[new.index()].parallel = r.func.blocks[b.index()].parallel;
        r.blocks.insert(*b, new);
    }
    let last = r.flow.ret;
    let Some(Term::Return(result)) = r.func.blocks[last.index()].term else { bug!("it returns") };
    for b in order.into_iter().rev() {
        r.block(b, result, end)?;
    }
    r.func.blocks[last.index()].term = Some(Term::Jump(to(r.blocks[&last], Vec::new())));
    r.func.ret = Some(end.ret);
    Ok(r)
}

impl<'a> Reverse<'a> {
    pub(crate) fn new(
        func: &'a mut Function,
        flow: &'a Flow,
        memory: &'a Memory,
        program: &'a dyn Program,
        shadows: &'a Shadows,
        (saved, copies): (&'a Saved, &'a Copies),
    ) -> Reverse<'a> {
        let count = flow.loops.loops.len();
        let mut slot = || Counting { last: func.new_slot(Ty::int()), done: func.new_slot(Ty::int()) };
        let loops = (0..count).map(|_| slot()).collect();
        let (adjoints, blocks) = (HashMap::new(), HashMap::new());
        let device = func.options.device != Device::Host;
        let unchosen = unchosen(func, flow, memory, saved);
        Reverse { func, flow, memory, program, shadows, saved, copies, adjoints, blocks, loops, unchosen, device }
    }

    /// Whether threads of a kernel have shadows in shared memory, which all of them fill with zeros.
    fn shares_memory(&self) -> bool {
        let is_shared = |d: &InstData| match (&d.inst, d.result) {
            (Inst::Runtime(f, _), Some(r)) => {
                matches!(f.role, Role::Memory(Mem::Shared | Mem::Dynamic)) && self.memory.has_shadow(r)
            }
            _ => false,
        };
        self.device && self.func.insts().any(is_shared)
    }

    fn block(&mut self, b: Block, result: Value, end: &End<'_>) -> Result<()> {
        let data = self.func.blocks[b.index()].clone();
        let new = self.blocks[&b];
        let mut out = Out { insts: Vec::new(), span: data.term_span };
        if b == self.flow.ret {
            self.wait(&mut out);
        }
        if b == self.flow.ret && self.memory.is_active(result) {
            let ty = self.func.ty(result);
            let first = self.with(&mut out, |b| match end.seed {
                Some(seed) => leaf_values(b, seed, ty),
                None => vec![b.float(1.0, leaves(ty)[0])],
            });
            first.into_iter().enumerate().for_each(|(i, d)| self.add(&mut out, result, i, d));
        }
        for d in data.insts.iter().rev() {
            out.span = d.span;
            self.inst(&mut out, d, end).map_err(|e| e.at(&self.func.file, d.span))?;
        }
        out.span = data.term_span;
        if b.0 == 0 {
            return self.finish(out, new, result, end);
        }
        let taken: Vec<Vec<Value>> = data.params.iter().map(|p| self.take(&mut out, *p)).collect();
        let edges = entries(&self.flow.cfg, b);
        if let Some(l) = self.flow.loops.loops.iter().position(|l| l.header == b) {
            self.loop_entry(out, new, l, &edges, &taken);
        } else if let [e] = edges[..] {
            self.leave_loops(&mut out, b);
            self.transfer(&mut out, &e, &taken);
            let term = Term::Jump(to(self.blocks[&origin(&self.flow.cfg, &e)], Vec::new()));
            out.end(self.func, new, term);
        } else {
            self.select(out, new, b, &taken);
        }
        Ok(())
    }

    /// Lets threads wait where the function has run: until all have filled shadows, and found extremes.
    fn wait(&mut self, out: &mut Out) {
        let f = match kernels::wait(self.func, self.memory) {
            Wait::Grid => &rt::lh_cuda_grid_sync,
            Wait::None if !self.shares_memory() => return,
            Wait::Block | Wait::None => &rt::lh_cuda_sync,
        };
        self.with(out, |b| {
            let context = b.inst(Inst::Runtime(&rt::lh_cuda_context, vec![]), Ty::ptr());
            b.effect(Inst::Runtime(f, vec![context]));
        });
    }

    /// The end of the block that reverses a loop's header: back to the iteration before, or to where the loop began.
    fn loop_entry(&mut self, mut out: Out, new: Block, l: usize, edges: &[Edge], taken: &[Vec<Value>]) {
        let Counting { last, done } = self.loops[l];
        let header = self.flow.loops.loops[l].header;
        let (mut back, mut into) = (None, None);
        for e in edges {
            let place = if self.flow.dom.dominates(header, e.from) { &mut back } else { &mut into };
            *place = Some(*e);
        }
        let (back, into) = (back.expect("a loop has a latch"), into.expect("a loop is entered"));
        let more = self.with(&mut out, |b| {
            let (done, last) = (b.get(done), b.get(last));
            b.test("lt", done, last)
        });
        let [latch, before] = [self.func.new_block(), self.func.new_block()];
        let span = out.span;
        out.end(self.func, new, Term::Branch { cond: more, then: to(latch, vec![]), els: to(before, vec![]) });
        let mut at = Out { insts: Vec::new(), span };
        self.with(&mut at, |b| {
            let (old, one) = (b.get(done), b.int(1));
            let next = b.int_op("add", old, one);
            b.set(done, next);
        });
        self.transfer(&mut at, &back, taken);
        at.end(self.func, latch, Term::Jump(to(self.blocks[&back.from], vec![])));
        let mut at = Out { insts: Vec::new(), span };
        self.transfer(&mut at, &into, taken);
        at.end(self.func, before, Term::Jump(to(self.blocks[&into.from], vec![])));
    }

    /// Sets the state of the loops that the function left on its way into a block.
    fn leave_loops(&mut self, out: &mut Out, b: Block) {
        for (l, at) in self.flow.left.get(&b).cloned().unwrap_or_default() {
            let Counting { last, done } = self.loops[l];
            self.with(out, |b| {
                b.set(last, at);
                let zero = b.int(0);
                b.set(done, zero);
            });
        }
    }

    /// The end of the block that reverses one in which paths meet.
    fn select(&mut self, mut out: Out, new: Block, b: Block, taken: &[Vec<Value>]) {
        let span = out.span;
        let side = |this: &mut Self, e: &Edge| {
            let block = this.func.new_block();
            let mut at = Out { insts: Vec::new(), span };
            this.transfer(&mut at, e, taken);
            at.end(this.func, block, Term::Jump(to(this.blocks[&e.from], vec![])));
            block
        };
        match self.flow.selectors[&b].clone() {
            Selector::Condition(cond, [x, y]) => {
                let [then, els] = [side(self, &x), side(self, &y)];
                out.end(self.func, new, Term::Branch { cond, then: to(then, vec![]), els: to(els, vec![]) });
            }
            Selector::Number(number, edges) => {
                let sides: Vec<Block> = edges.iter().map(|e| side(self, e)).collect();
                let mut at = new;
                for (i, block) in sides[..sides.len() - 1].iter().enumerate() {
                    let is_it = self.with(&mut out, |b| {
                        let i = b.int(i as i64);
                        b.test("eq", number, i)
                    });
                    let next = if i + 2 == sides.len() { sides[i + 1] } else { self.func.new_block() };
                    let term = Term::Branch { cond: is_it, then: to(*block, vec![]), els: to(next, vec![]) };
                    std::mem::replace(&mut out, Out { insts: Vec::new(), span }).end(self.func, at, term);
                    at = next;
                }
            }
        }
    }

    /// Adds the adjoints of a block's parameters to those of an edge's arguments.
    fn transfer(&mut self, out: &mut Out, e: &Edge, taken: &[Vec<Value>]) {
        let args = edge_args(self.func, e).clone();
        for (a, parts) in args.iter().zip(taken) {
            for (i, d) in parts.iter().enumerate() {
                self.add(out, *a, i, *d);
            }
        }
    }

    /// The end of the reverse part.
    fn finish(&mut self, mut out: Out, new: Block, result: Value, end: &End<'_>) -> Result<()> {
        let (asked, ret) = (end.asked, end.ret);
        let mut adjoints = Vec::new();
        let ty = part(ret, 1).unwrap_or_else(|| bug!("a value and adjoints"));
        for (p, _) in asked.iter().zip(parts(ty)).filter(|(_, t)| !t.flatten().is_empty()) {
            let taken = self.take(&mut out, *p);
            let ty = self.func.ty(*p);
            let shadow = self.shadows.get(p).copied();
            adjoints.push(self.with(&mut out, |b| with_leaves(b, shadow.unwrap_or(*p), ty, &mut taken.into_iter())));
        }
        let v = self.with(&mut out, |b| {
            let adjoints = b.inst(Inst::Pack(adjoints), ty);
            let both = [result, adjoints].into_iter().filter(|v| !b.func.ty(*v).flatten().is_empty()).collect();
            b.inst(Inst::Pack(both), ret)
        });
        out.end(self.func, new, Term::Return(v));
        Ok(())
    }

    /// The adjoint of a value, which is zero afterwards; nothing of one that is not active.
    pub(crate) fn take(&mut self, out: &mut Out, v: Value) -> Vec<Value> {
        if !self.memory.is_active(v) {
            return Vec::new();
        }
        let slots = self.slots(v);
        self.with(out, |b| {
            slots
                .iter()
                .map(|s| {
                    let d = b.get(*s);
                    let ty = b.func.ty(d);
                    let none = zero(b, ty);
                    b.set(*s, none);
                    d
                })
                .collect()
        })
    }

    /// Adds to the adjoint of the `i`th float of a value, if the value is active.
    pub(crate) fn add(&mut self, out: &mut Out, v: Value, i: usize, d: Value) {
        if self.memory.is_active(v) {
            let slot = self.slots(v)[i];
            self.with(out, |b| {
                let old = b.get(slot);
                let new = sum(b, old, d);
                b.set(slot, new);
            });
        }
    }

    /// Whether something has been added to the adjoint of a value.
    pub(crate) fn has_adjoint(&self, v: Value) -> bool {
        self.adjoints.contains_key(&v)
    }

    fn slots(&mut self, v: Value) -> Vec<Slot> {
        if !self.adjoints.contains_key(&v) {
            let slots = leaves(self.func.ty(v)).into_iter().map(|t| self.func.new_slot(t)).collect();
            self.adjoints.insert(v, slots);
        }
        self.adjoints[&v].clone()
    }

    pub(crate) fn with<R>(&mut self, out: &mut Out, f: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let mut b = Builder::new(self.func, out.span);
        b.insts = std::mem::take(&mut out.insts);
        let r = f(&mut b);
        out.insts = b.insts;
        r
    }

    /// The adjoint of an instruction.
    fn inst(&mut self, out: &mut Out, d: &InstData, end: &End<'_>) -> Result<()> {
        if let (Inst::Call(s, args), Some(r)) = (&d.inst, d.result)
            && let Some(own) = self.program.derivatives().recursive(*s, &wanted(self.memory, args), Derivative::Adjoint)
        {
            return self.recursive(out, (*s, own), args, r, end);
        }
        match (&d.inst, d.result) {
            (Inst::Store(p, v), _) => self.store(out, *p, *v),
            (
                Inst::Call(..)
                | Inst::Runtime(..)
                | Inst::Foreign(..)
                | Inst::ParFor(..)
                | Inst::Map(..)
                | Inst::MapInto(..),
                _,
            ) => {
                return self.call(out, d);
            }
            (Inst::Field(_, 0), Some(r)) if self.saved.contains_key(&r) => {
                let call = &self.saved[&r];
                self.rule(out, r, call);
            }
            (_, None) => {}
            (_, Some(r)) if !self.memory.is_active(r) => {}
            (Inst::Op(op, args), Some(r)) => {
                let texts = match op.grad {
                    Grad::Zero => return Ok(()),
                    Grad::Partials(texts) => texts,
                    Grad::None(why) => {
                        let text = format!("`{}` has no derivative: {why}", op.name);
                        return Err(Diagnostic::new(diag::NO_DERIVATIVE, text));
                    }
                };
                let [adjoint] = self.take(out, r)[..] else { bug!("a row gives one float") };
                let (ty, is_cut) = (self.func.ty(r), self.unchosen.contains(&r));
                let terms = Terms { operands: args, result: r, adjoint, ty, is_cut };
                for (a, text) in args.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
                    if self.memory.is_active(*a) {
                        let part = self.with(out, |b| partial::emit(b, text, &terms));
                        self.add(out, *a, 0, part);
                    }
                }
            }
            (Inst::Load(p) | Inst::Take(p), Some(r)) => return self.load(out, *p, r),
            (inst, Some(r)) => self.move_leaves(out, inst, r)?,
        }
        Ok(())
    }

    /// A load: the memory gets the adjoint of what was read.
    fn load(&mut self, out: &mut Out, p: Value, r: Value) -> Result<()> {
        let d = self.take(out, r);
        let is_shared = self.device && !self.memory.is_local(self.func, p);
        let (p, ty) = (self.shadows[&p], self.func.ty(r));
        if is_shared {
            return self.add_atomically(out, p, ty, &d);
        }
        self.with(out, |b| {
            let old = b.inst(Inst::Load(p), ty);
            let sums: Vec<Value> = leaf_values(b, old, ty).into_iter().zip(d).map(|(x, d)| sum(b, x, d)).collect();
            let new = with_leaves(b, old, ty, &mut sums.into_iter());
            b.effect(Inst::Store(p, new));
        });
        Ok(())
    }

    /// The adjoint of an instruction that passes floats on.
    fn move_leaves(&mut self, out: &mut Out, inst: &Inst, r: Value) -> Result<()> {
        let d = self.take(out, r);
        match inst {
            Inst::Cast(v) | Inst::Some(v) | Inst::Unwrap(v) => {
                // A real number becomes complex with an imaginary part that is constant.
                let own = leaves(self.func.ty(*v)).len();
                d.iter().take(own).enumerate().for_each(|(i, d)| self.add(out, *v, i, *d));
            }
            Inst::Pack(of) => {
                let mut d = d.into_iter();
                for v in of {
                    for i in 0..leaves(self.func.ty(*v)).len() {
                        let d = d.next().unwrap_or_else(|| bug!("an aggregate has the floats of its parts"));
                        self.add(out, *v, i, d);
                    }
                }
            }
            Inst::Field(v, n) => {
                let before: usize = parts(self.func.ty(*v)).take(*n as usize).map(|t| leaves(t).len()).sum();
                d.iter().enumerate().for_each(|(i, d)| self.add(out, *v, before + i, *d));
            }
            _ => return Err(Diagnostic::new(diag::NO_DERIVATIVE, "this value has no derivative")),
        }
        Ok(())
    }

    /// A store: what was stored gets the adjoint of the memory, which becomes zero, as before the store.
    fn store(&mut self, out: &mut Out, p: Value, v: Value) {
        let ty = self.func.ty(v);
        if !self.memory.has_shadow(p) || leaves(ty).is_empty() {
            return;
        }
        let p = self.shadows[&p];
        let d = self.with(out, |b| {
            let old = b.inst(Inst::Load(p), ty);
            let d = leaf_values(b, old, ty);
            let none = zeroed(b, old);
            b.effect(Inst::Store(p, none));
            d
        });
        for (i, d) in d.into_iter().enumerate() {
            self.add(out, v, i, d);
        }
    }

    /// A copy of memory: its adjoint goes to what was copied.
    fn copy(&mut self, out: &mut Out, args: &[Value], is_row: bool) {
        let Some(function) = self.memory.floats(args[0]).and_then(|t| self.program.derivatives().copy_back(t)) else {
            return;
        };
        let source = args[if is_row { 2 } else { 1 }];
        let to = self.shadows[&args[0]];
        let from = self.shadows.get(&source).copied();
        self.with(out, |b| {
            let (stride, n, size) = if is_row { (args[1], args[3], args[4]) } else { (args[2], b.int(1), args[2]) };
            let wanted = b.int(i64::from(from.is_some()));
            let given = [to, stride, from.unwrap_or(to), n, size, wanted];
            let none = b.func.new_value(Ty::none());
            let inst = Inst::Call(function, given.to_vec());
            b.insts.push(InstData { result: Some(none), inst, span: b.span });
        });
    }

    fn call(&mut self, out: &mut Out, d: &InstData) -> Result<()> {
        if let Inst::Runtime(f, args) = &d.inst
            && let Role::Memory(kind @ (Mem::Move | Mem::CopyRow)) = f.role
            && self.memory.has_shadow(args[0])
        {
            self.copy(out, args, kind == Mem::CopyRow);
            return Ok(());
        }
        if let Inst::Runtime(f, args) = &d.inst {
            match f.role {
                Role::Barrier(kind) => {
                    let f = if kind == Barrier::Grid { f } else { &rt::lh_cuda_sync };
                    let args = vec![args[0]];
                    self.with(out, |b| b.effect(Inst::Runtime(f, args)));
                    return Ok(());
                }
                Role::Memory(Mem::Moved) if self.memory.has_shadow(args[0]) => {
                    // Nobody has used the old memory since: its adjoints are zeros, and become those of the new one.
                    let (to, from) = (self.shadows[&args[1]], self.shadows[&args[0]]);
                    self.with(out, |b| b.effect(Inst::Runtime(f, vec![to, from, args[2]])));
                    return Ok(());
                }
                Role::Atomic(rmw, prim) if is_folded(f) && self.memory.has_shadow(args[0]) => {
                    return self.atomic(out, (rmw, prim), args, d.result);
                }
                _ => {}
            }
        }
        let mut active = d.result.is_some_and(|r| self.memory.is_active(r));
        d.inst.for_each_operand(|v| active |= self.memory.is_active(v));
        match &d.inst {
            Inst::Runtime(f, _) if self.memory.is_lost(self.func, d) => Err(refused(f.name)),
            // Texts and errors are constant.
            Inst::Runtime(..) => Ok(()),
            Inst::Call(s, _) if self.is_rule(*s) => Ok(()),
            Inst::Call(s, _) => {
                let gives = d.result.is_some_and(|r| self.memory.is_active(r));
                let gives = gives || self.memory.is_lost(self.func, d);
                let is_refused = gives || self.memory.is_written_by(self.func, self.program, &d.inst);
                if is_refused { Err(refused_call(self.program.typed(*s).name)) } else { Ok(()) }
            }
            _ if active => Err(refused_foreign()),
            _ => Ok(()),
        }
    }

    /// Whether a call belongs to a rule: it has no adjoint of its own.
    fn is_rule(&self, s: SpecId) -> bool {
        self.saved.values().any(|c| c.rule.forward.id == s || c.rule.zero == Some(s))
    }

    /// The adjoint of a call that a rule differentiates.
    fn rule(&mut self, out: &mut Out, r: Value, call: &RuleCall) {
        let ty = self.func.ty(r);
        let taken = self.take(out, r);
        let shadow = self.shadows.get(&r).copied().unwrap_or(r);
        let rule = &call.rule;
        let mut wanted = 0;
        let mut given = Vec::new();
        for (a, at) in call.args.iter().zip(&rule.params) {
            if self.memory.is_active(*a) || self.memory.has_shadow(*a) {
                wanted |= 1i64 << at;
            }
            given.push(self.shadows.get(a).copied().unwrap_or(*a));
        }
        let saved = call.saved;
        let adjoints = self.with(out, |b| {
            let wanted = b.int(wanted);
            let result = with_leaves(b, shadow, ty, &mut taken.into_iter());
            let mut args = vec![wanted];
            args.extend(saved);
            if !ty.flatten().is_empty() {
                args.push(result);
            }
            if !given.is_empty() {
                args.push(b.inst(Inst::Pack(given), rule.args));
            }
            b.inst(Inst::Call(rule.backward.id, args), rule.backward.ret)
        });
        for (a, at) in call.args.iter().zip(&rule.params) {
            if !self.memory.is_active(*a) {
                continue;
            }
            let Some(ty) = part(rule.backward.ret, *at as u32).filter(|t| !leaves(*t).is_empty()) else { continue };
            let d = self.with(out, |b| {
                let part = b.inst(Inst::Field(adjoints, *at as u32), ty);
                leaf_values(b, part, ty)
            });
            d.into_iter().enumerate().for_each(|(i, d)| self.add(out, *a, i, d));
        }
    }
}

/// Instructions of a block under construction.
pub(crate) struct Out {
    insts: Vec<InstData>,
    span: lh_ir::Span,
}

impl Out {
    fn end(self, func: &mut Function, block: Block, term: Term) {
        let data = &mut func.blocks[block.index()];
        (data.insts, data.term, data.term_span) = (self.insts, Some(term), self.span);
    }
}

/// The sum of two parts of an adjoint, of the first one's type.
fn sum(b: &mut Builder<'_>, old: Value, d: Value) -> Value {
    let ty = b.func.ty(old);
    let d = b.cast(d, ty);
    b.op(*SUM, &[old, d], ty)
}
