//! Forward mode: beside each float the function computes its tangent, and shadows hold the tangents of what is in
//! memory. Control flow stays as it is, and nothing is kept.

use crate::builder::{Builder, SUM};
use crate::memory::{Memory, leaves, wanted};
use crate::partial::{self, Terms};
use crate::program::Program;
use crate::shadow::{self, Mode, Shadows, leaf_values, refused, refused_foreign, with_leaves, zero};
use crate::snapshots::refused_call;
use hashbrown::HashMap;
use lh_ir::algebra::Grad;
use lh_ir::cfg::Cfg;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Function, Inst, InstData, Parallel, Term};
use lh_ir::verify::parts;
use lh_ir::{Block, SpecId, Ty, Value, bug};

/// Adds tangents to a function, whose parameters have those `given`; it then returns a tuple of its result and the
/// tangent of that.
///
/// # Errors
/// Something without a derivative.
pub(crate) fn build(
    func: &mut Function,
    memory: &Memory,
    program: &dyn Program,
    given: &[(Value, Value)],
    ret: Ty,
    zeros: Option<SpecId>,
) -> Result<()> {
    let shadows: Shadows = given.iter().copied().filter(|(p, _)| memory.has_shadow(*p)).collect();
    let (shadows, ..) = shadow::add(func, memory, program, &shadows, Mode::Forward)?;
    let cfg = Cfg::new(func);
    let mut pass = Pass { memory, program, shadows, tangents: HashMap::new() };
    let mut first = Vec::new();
    for (p, t) in given.iter().filter(|(p, _)| memory.is_active(*p)) {
        let ty = func.ty(*p);
        let mut b = Builder::new(func, lh_ir::Span::default());
        let of = leaf_values(&mut b, *t, ty);
        first.append(&mut b.insts);
        pass.tangents.insert(*p, of);
    }
    func.blocks[0].insts.splice(0..0, first);
    let mut params: Vec<Vec<Value>> = vec![Vec::new(); func.blocks.len()];
    for &b in &cfg.rpo()[1..] {
        for p in func.blocks[b.index()].params.clone().into_iter().filter(|p| memory.is_active(*p)) {
            let of = leaves(func.ty(p)).into_iter().map(|t| func.new_param(b, t)).collect();
            pass.tangents.insert(p, of);
            params[b.index()].push(p);
        }
    }
    for &b in cfg.rpo() {
        pass.block(func, b, ret, zeros)?;
        let data = &mut func.blocks[b.index()];
        data.parallel = data.parallel.map(|_| Parallel::Derived);
    }
    for &b in cfg.rpo() {
        pass.edges(func, b, &params);
    }
    func.ret = Some(ret);
    Ok(())
}

struct Pass<'a> {
    memory: &'a Memory,
    program: &'a dyn Program,
    shadows: Shadows,
    /// The tangents of a value's floats.
    tangents: HashMap<Value, Vec<Value>>,
}

impl Pass<'_> {
    fn block(&mut self, func: &mut Function, block: Block, ret: Ty, zeros: Option<SpecId>) -> Result<()> {
        let old = std::mem::take(&mut func.blocks[block.index()].insts);
        let file = func.file.clone();
        let mut b = Builder::new(func, lh_ir::Span::default());
        for d in old {
            b.span = d.span;
            if self.ruled(&mut b, &d) {
                continue;
            }
            b.insts.push(d.clone());
            self.inst(&mut b, &d).map_err(|e| e.at(&file, d.span))?;
        }
        b.span = b.func.blocks[block.index()].term_span;
        if let Some(Term::Return(v)) = b.func.blocks[block.index()].term {
            let both = self.result(&mut b, v, ret, zeros);
            b.func.blocks[block.index()].term = Some(Term::Return(both));
        }
        b.finish(block);
        Ok(())
    }

    /// The result with its tangent.
    fn result(&self, b: &mut Builder<'_>, v: Value, ret: Ty, zeros: Option<SpecId>) -> Value {
        let ty = b.func.ty(v);
        let own = match (self.shadows.get(&v), zeros) {
            (Some(s), _) => *s,
            (None, Some(zeros)) => b.inst(Inst::Call(zeros, vec![v]), ty),
            (None, None) => v,
        };
        let of = self.of(b, v);
        let tangent = with_leaves(b, own, ty, &mut of.into_iter());
        let pair = if ty.flatten().is_empty() { Vec::new() } else { vec![v, tangent] };
        b.inst(Inst::Pack(pair), ret)
    }

    /// Passes tangents along the edges out of a block.
    fn edges(&self, func: &mut Function, block: Block, params: &[Vec<Value>]) {
        let span = func.blocks[block.index()].term_span;
        let mut term = func.blocks[block.index()].term.take();
        let mut unwind = func.blocks[block.index()].unwind.take();
        let mut b = Builder::at_end(func, block, span);
        let targets = term.as_mut().map(Term::targets_mut).unwrap_or_default();
        for t in targets.into_iter().chain(unwind.as_mut()) {
            let of: Vec<Value> = b.func.blocks[t.block.index()].params.clone();
            for p in &params[t.block.index()] {
                let at = of.iter().position(|q| q == p).unwrap_or_else(|| bug!("it is a parameter"));
                let a = t.args[at];
                let tangents = self.of(&mut b, a);
                t.args.extend(tangents);
            }
        }
        b.finish(block);
        let data = &mut func.blocks[block.index()];
        (data.term, data.unwind) = (term, unwind);
    }

    /// The tangents of a value's floats; zeros if it is constant.
    fn of(&self, b: &mut Builder<'_>, v: Value) -> Vec<Value> {
        match self.tangents.get(&v) {
            Some(of) => of.clone(),
            None => leaves(b.func.ty(v)).into_iter().map(|t| zero(b, t)).collect(),
        }
    }

    /// A value of the tangents of a value, with the shadows of its memory.
    fn tangent(&self, b: &mut Builder<'_>, v: Value) -> Value {
        let (ty, of) = (b.func.ty(v), self.of(b, v));
        with_leaves(b, self.shadows.get(&v).copied().unwrap_or(v), ty, &mut of.into_iter())
    }

    fn inst(&mut self, b: &mut Builder<'_>, d: &InstData) -> Result<()> {
        if let Inst::Store(p, v) = &d.inst
            && self.memory.has_shadow(*p)
        {
            if !leaves(b.func.ty(*v)).is_empty() {
                let stored = self.tangent(b, *v);
                b.effect(Inst::Store(self.shadows[p], stored));
            }
            return Ok(());
        }
        if let Inst::Call(s, args) = &d.inst
            && self.recursive(b, *s, args, d.result)
        {
            return Ok(());
        }
        let Some(r) = d.result.filter(|r| self.memory.is_active(*r)) else {
            return match &d.inst {
                Inst::Call(s, _) if self.memory.is_written_by(b.func, self.program, &d.inst) => {
                    Err(refused_call(self.program.typed(*s).name))
                }
                Inst::Runtime(f, _) if self.memory.is_lost(b.func, d) => Err(refused(f.name)),
                Inst::Call(s, _) if self.memory.is_lost(b.func, d) => Err(refused_call(self.program.typed(*s).name)),
                _ => Ok(()),
            };
        };
        let ty = b.func.ty(r);
        let made = match &d.inst {
            Inst::Op(op, args) => vec![self.row(b, op, args, r, ty)?],
            Inst::Load(p) | Inst::Take(p) => {
                let s = match self.shadows.get(&r) {
                    Some(s) => *s,
                    None => b.inst(Inst::Load(self.shadows[p]), ty),
                };
                leaf_values(b, s, ty)
            }
            Inst::Cast(v) => {
                let mut of = self.of(b, *v).into_iter();
                let fit = |t: Ty| match of.next() {
                    Some(x) => b.cast(x, t),
                    None => zero(b, t),
                };
                leaves(ty).into_iter().map(fit).collect()
            }
            Inst::Some(v) | Inst::Unwrap(v) => self.of(b, *v),
            Inst::Pack(of) => of.iter().flat_map(|v| self.of(b, *v)).collect(),
            Inst::Field(v, n) => {
                let before: usize = parts(b.func.ty(*v)).take(*n as usize).map(|t| leaves(t).len()).sum();
                self.of(b, *v)[before..before + leaves(ty).len()].to_vec()
            }
            Inst::Runtime(f, _) => return Err(refused(f.name)),
            Inst::Call(s, _) => return Err(refused_call(self.program.typed(*s).name)),
            Inst::Foreign(..) => return Err(refused_foreign()),
            _ => return Err(Diagnostic::new(diag::NO_DERIVATIVE, "this value has no derivative in forward mode")),
        };
        self.tangents.insert(r, made);
        Ok(())
    }

    /// Replaces a call with a rule by one that gives the tangent, too.
    fn ruled(&mut self, b: &mut Builder<'_>, d: &InstData) -> bool {
        let (Inst::Call(s, args), Some(r)) = (&d.inst, d.result) else { return false };
        let is_active = |v: &Value| self.memory.is_active(*v) || self.memory.has_shadow(*v);
        let is_one = args.iter().any(is_active) || self.memory.has_shadow(r);
        let Some(rule) = self.program.derivatives().push(*s).filter(|_| is_one) else { return false };
        let tangents = args.iter().map(|v| self.tangent(b, *v)).collect();
        let tangents = b.inst(Inst::Pack(tangents), rule.args);
        let bits = args.iter().zip(&rule.params).filter(|(v, _)| is_active(v)).map(|(_, at)| 1i64 << at).sum();
        let mut given = vec![b.int(bits), tangents];
        if rule.is_stated {
            given.push(b.inst(Inst::Pack(args.clone()), rule.args));
        } else {
            given.extend(args);
        }
        let both = b.inst(Inst::Call(rule.function.id, given), rule.function.ret);
        let ty = b.func.ty(r);
        b.insts.push(InstData { result: Some(r), inst: Inst::Field(both, 0), span: d.span });
        let tangent = match self.shadows.get(&r) {
            Some(s) => {
                b.insts.push(InstData { result: Some(*s), inst: Inst::Field(both, 1), span: d.span });
                *s
            }
            None => b.inst(Inst::Field(both, 1), ty),
        };
        if self.memory.is_active(r) {
            let of = leaf_values(b, tangent, ty);
            self.tangents.insert(r, of);
        }
        true
    }

    /// Replaces a call of a function that calls itself by that of its derivative; answers whether it is such a call.
    fn recursive(&mut self, b: &mut Builder<'_>, s: SpecId, args: &[Value], result: Option<Value>) -> bool {
        let asked = wanted(self.memory, args);
        let Some((derivative, ret)) = self.program.derivatives().recursive(s, &asked, Derivative::Tangent) else {
            return false;
        };
        b.insts.pop();
        let mut given = args.to_vec();
        given.extend(args.iter().zip(&asked).filter(|(_, w)| **w).map(|(a, _)| self.tangent(b, *a)));
        let both = b.inst(Inst::Call(derivative, given), ret);
        let Some(r) = result else { return true };
        let ty = b.func.ty(r);
        let value = if ty.flatten().is_empty() { Inst::Zero } else { Inst::Field(both, 0) };
        b.insts.push(InstData { result: Some(r), inst: value, span: b.span });
        if self.memory.is_active(r) {
            let tangent = b.inst(Inst::Field(both, 1), ty);
            let of = leaf_values(b, tangent, ty);
            self.tangents.insert(r, of);
        }
        true
    }

    /// The tangent of a row's result: the sum of its operands' parts.
    fn row(&self, b: &mut Builder<'_>, op: &'static lh_ir::Op, args: &[Value], r: Value, ty: Ty) -> Result<Value> {
        let texts = match op.grad {
            Grad::Partials(texts) => texts,
            Grad::Zero => return Ok(zero(b, ty)),
            Grad::None(why) => {
                let text = format!("`{}` has no derivative: {why}", op.name);
                return Err(Diagnostic::new(diag::NO_DERIVATIVE, text));
            }
        };
        let mut sum: Option<Value> = None;
        for (a, text) in args.iter().zip(texts).filter(|(a, text)| self.memory.is_active(**a) && !text.is_empty()) {
            let adjoint = self.of(b, *a)[0];
            let terms = Terms { operands: args, result: r, adjoint, ty, is_cut: false };
            let part = partial::emit(b, text, &terms);
            sum = Some(match sum {
                Some(s) => b.op(*SUM, &[s, part], ty),
                None => part,
            });
        }
        Ok(sum.unwrap_or_else(|| zero(b, ty)))
    }
}
