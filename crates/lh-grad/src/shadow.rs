//! Shadows: beside each value that addresses active memory, the forward part computes the address of its shadow, memory
//! of the same form that holds adjoints. All of it is zero until the reverse part runs.

use crate::builder::{Builder, row};
use crate::derivatives::{Rule, Snapshot};
use crate::kernels::is_folded;
use crate::memory::{Memory, has_memory, is_lasting, is_shown, leaves, nulls, wanted};
use crate::program::Program;
use crate::snapshots::{self, refused_call};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::Cfg;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Derivative, Function, Inst, InstData, Term};
use lh_ir::runtime::{Items, Memory as Mem, Role, RuntimeFn};
use lh_ir::types::TyKind;
use lh_ir::verify::parts;
use lh_ir::{Block, Const, Ty, Value, bug};
use lh_ops::runtime as rt;

/// The shadow of each value that has one.
pub(crate) type Shadows = HashMap<Value, Value>;

/// Calls that rules differentiate, by result.
pub(crate) type Saved = HashMap<Value, RuleCall>;

/// By the result of a call of a function that calls itself: what it may change, and the copies of that.
pub(crate) type Copies = HashMap<Value, Vec<(Value, Snapshot, Value)>>;

/// A call that a rule differentiates.
pub(crate) struct RuleCall {
    pub rule: Rule,
    pub args: Vec<Value>,
    /// The value that the forward function has saved, if it has saved any.
    pub saved: Option<Value>,
}

/// The direction of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Shadows hold adjoints: they are zero until the reverse part.
    Reverse,
    /// Shadows hold tangents: `forward` adds the stores of floats.
    Forward,
}

/// Makes shadows of parameters that are not asked for, through whose memory derivatives flow nevertheless, since the
/// function writes to it: a scaled array, or a buffer.
pub(crate) fn of_others(
    func: &mut Function,
    memory: &Memory,
    program: &dyn Program,
    others: &[Value],
) -> Vec<(Value, Value)> {
    let mut b = Builder::new(func, lh_ir::Span::default());
    let mut made = Vec::new();
    for p in others.iter().filter(|p| memory.has_shadow(**p)) {
        let ty = b.func.ty(*p);
        if let Some(zeros) = program.derivatives().zeros(ty) {
            made.push((*p, b.inst(Inst::Call(zeros, vec![*p]), ty)));
        }
    }
    let insts = b.insts;
    func.blocks[0].insts.splice(0..0, insts);
    made
}

/// Adds the shadows to a function; `given` are those of its parameters.
///
/// # Errors
/// Active memory that has no shadow.
pub(crate) fn add(
    func: &mut Function,
    memory: &Memory,
    program: &dyn Program,
    given: &Shadows,
    mode: Mode,
) -> Result<(Shadows, Saved, Copies)> {
    let cfg = Cfg::new(func);
    let mut pass = Pass {
        memory,
        program,
        shadows: given.clone(),
        saved: Saved::new(),
        null: nulls(func),
        mode,
        copies: Copies::new(),
    };
    for p in func.params() {
        if memory.has_shadow(*p) && !given.contains_key(p) {
            return Err(Diagnostic::new(
                diag::NO_DERIVATIVE,
                "memory of an argument that is not asked for is joined with that of one that is",
            )
            .note("ask for the derivative with respect to both, or copy the array"));
        }
    }
    let mut params: Vec<Vec<(Value, Value)>> = vec![Vec::new(); func.blocks.len()];
    for &b in &cfg.rpo()[1..] {
        for p in func.blocks[b.index()].params.clone() {
            if memory.has_shadow(p) {
                let s = func.new_param(b, func.ty(p));
                pass.shadows.insert(p, s);
                params[b.index()].push((p, s));
            }
        }
    }
    for &b in cfg.rpo() {
        pass.block(func, b)?;
    }
    for &b in cfg.rpo() {
        let (mut term, mut unwind) = (func.blocks[b.index()].term.take(), func.blocks[b.index()].unwind.take());
        let span = func.blocks[b.index()].term_span;
        for t in term.as_mut().map(Term::targets_mut).unwrap_or_default().into_iter().chain(unwind.as_mut()) {
            for (at, p) in func.blocks[t.block.index()].params.clone().into_iter().enumerate() {
                if params[t.block.index()].iter().any(|(q, _)| *q == p) {
                    let shadow = pass.shadow_of(func, t.args[at]);
                    t.args.push(shadow.map_err(|d| d.at(&func.file, span))?);
                }
            }
        }
        (func.blocks[b.index()].term, func.blocks[b.index()].unwind) = (term, unwind);
    }
    Ok((pass.shadows, pass.saved, pass.copies))
}

struct Pass<'a> {
    memory: &'a Memory,
    program: &'a dyn Program,
    shadows: Shadows,
    saved: Saved,
    null: HashSet<Value>,
    mode: Mode,
    copies: Copies,
}

impl Pass<'_> {
    fn shadow_of(&self, func: &Function, v: Value) -> Result<Value> {
        let none = || {
            Diagnostic::new(diag::NO_DERIVATIVE, "memory that is constant meets memory that derivatives flow through")
                .note("copy the constant array before")
        };
        // A null pointer is its own shadow.
        match self.shadows.get(&v) {
            Some(s) => Ok(*s),
            None if !has_memory(func.ty(v)) || self.null.contains(&v) => Ok(v),
            None => Err(none()),
        }
    }

    fn block(&mut self, func: &mut Function, block: Block) -> Result<()> {
        let old = std::mem::take(&mut func.blocks[block.index()].insts);
        let file = func.file.clone();
        let mut b = Builder::new(func, lh_ir::Span::default());
        for (at, d) in old.into_iter().enumerate() {
            b.span = d.span;
            self.inst(&mut b, d, (block, at)).map_err(|e| e.at(&file, b.span))?;
        }
        b.finish(block);
        Ok(())
    }

    /// Replaces a call that a rule differentiates by that of the rule's first function.
    fn ruled(&mut self, b: &mut Builder<'_>, d: &InstData, place: (Block, usize)) -> bool {
        let Inst::Call(spec, args) = &d.inst else { return false };
        let is_active = |v: &Value| self.memory.is_active(*v) || self.memory.has_shadow(*v);
        let Some(rule) = self.program.derivatives().rules.get(spec).filter(|_| args.iter().any(is_active)) else {
            return false;
        };
        let mut given = args.clone();
        if rule.takes_lasting {
            let lasts = |v: &Value| self.memory.of(*v).iter().all(|k| is_lasting(b.func, self.memory, *k, place));
            let bits = args.iter().zip(&rule.params).filter(|(v, _)| lasts(v)).map(|(_, at)| 1i64 << at).sum();
            given.insert(0, b.int(bits));
        }
        let both = b.inst(Inst::Call(rule.forward.id, given), rule.forward.ret);
        let saved = parts(rule.forward.ret).nth(1).filter(|t| !t.flatten().is_empty());
        if let Some(r) = d.result {
            let value = InstData { result: Some(r), inst: Inst::Field(both, 0), span: d.span };
            b.insts.push(value);
            let saved = saved.map(|ty| b.inst(Inst::Field(both, 1), ty));
            if let Some(zero) = rule.zero.filter(|_| self.memory.has_shadow(r)) {
                let ty = b.func.ty(r);
                let s = b.inst(Inst::Call(zero, vec![r]), ty);
                self.shadows.insert(r, s);
            }
            self.saved.insert(r, RuleCall { rule: rule.clone(), args: args.clone(), saved });
        }
        true
    }

    /// Appends a call of a function that calls itself, after copies of what it may change.
    fn recursive(&mut self, b: &mut Builder<'_>, d: &InstData, place: (Block, usize)) -> Result<bool> {
        let Inst::Call(spec, args) = &d.inst else { return Ok(false) };
        let asked = wanted(self.memory, args);
        if self.program.derivatives().recursive(*spec, &asked, Derivative::Adjoint).is_none() {
            return Ok(false);
        }
        let r = d.result.unwrap_or_else(|| b.func.new_value(Ty::none()));
        if self.memory.has_shadow(r) {
            return Err(refused_call(self.program.typed(*spec).name));
        }
        let kept = snapshots::keep(b, self.memory, self.program, (*spec, args), place)?;
        self.copies.insert(r, kept);
        b.insts.push(InstData { result: Some(r), inst: d.inst.clone(), span: d.span });
        Ok(true)
    }

    /// Appends an instruction and what it is for shadows.
    fn inst(&mut self, b: &mut Builder<'_>, d: InstData, place: (Block, usize)) -> Result<()> {
        let is_active = |v: &Value| self.memory.is_active(*v) || self.memory.has_shadow(*v);
        if self.mode == Mode::Reverse && self.ruled(b, &d, place) {
            return Ok(());
        }
        if self.mode == Mode::Reverse && self.recursive(b, &d, place)? {
            return Ok(());
        }
        if let (Inst::Call(spec, args), Some(r)) = (&d.inst, d.result)
            && self.mode == Mode::Forward
            && self.program.derivatives().push(*spec).is_some()
            && (args.iter().any(is_active) || self.memory.has_shadow(r))
        {
            if self.memory.has_shadow(r) {
                // `forward` replaces the call by one that gives this, too.
                let ty = b.func.ty(r);
                let s = b.func.new_value(ty);
                self.shadows.insert(r, s);
            }
            b.insts.push(d);
            return Ok(());
        }
        if let (Inst::Runtime(f, _), Some(r), Mode::Reverse) = (&d.inst, d.result, self.mode)
            && f.role == Role::Memory(Mem::DynamicBytes)
        {
            // The second half is that of shadows.
            let ty = b.func.ty(r);
            let (all, two) = (b.inst(d.inst.clone(), ty), b.int(2));
            let half = Inst::Op(row("sdiv"), vec![all, two]);
            b.insts.push(InstData { result: Some(r), inst: half, span: d.span });
            return Ok(());
        }
        b.insts.push(d.clone());
        if let Inst::Runtime(f, _) = &d.inst
            && d.result.is_some()
            && !f.has_no_effect()
            && !f.allocates()
            && !is_folded(f)
            && self.memory.is_written_by(b.func, self.program, &d.inst)
        {
            return Err(if matches!(f.role, Role::Atomic(..)) { refused_atomic() } else { refused(f.name) });
        }
        if matches!(d.inst, Inst::Foreign(..)) && self.memory.is_written_by(b.func, self.program, &d.inst) {
            return Err(refused_foreign());
        }
        match (&d.inst, d.result) {
            (Inst::Store(p, v), _) if self.memory.has_shadow(*p) => self.store(b, *p, *v),
            (inst, None) if is_shown(b.func, inst) => Ok(()),
            (Inst::Runtime(f, args), None) => self.effect(b, f, args),
            (inst, Some(r)) if self.memory.has_shadow(r) => {
                let s = self.duplicate(b, inst, r)?;
                self.shadows.insert(r, s);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A store to active memory: its shadow gets the shadow of what is stored, the same integers, and zeros for floats.
    fn store(&mut self, b: &mut Builder<'_>, p: Value, v: Value) -> Result<()> {
        let ty = b.func.ty(v);
        if self.mode == Mode::Forward && !leaves(ty).is_empty() {
            return Ok(());
        }
        if !has_memory(ty) && !self.memory.is_object(p) {
            // The shadow of an array is zero already.
            return Ok(());
        }
        let to = self.shadow_of(b.func, p)?;
        let stored = match () {
            () if ty == Ty::meminfo() => self.shadows.get(&v).copied().unwrap_or(v),
            () if leaves(ty).is_empty() => self.shadow_of(b.func, v)?,
            () => {
                let s = self.shadow_of(b.func, v)?;
                zeroed(b, s)
            }
        };
        b.effect(Inst::Store(to, stored));
        Ok(())
    }

    fn effect(&mut self, b: &mut Builder<'_>, f: &'static lh_ir::runtime::RuntimeFn, args: &[Value]) -> Result<()> {
        let shadowed = args.iter().any(|v| self.memory.has_shadow(*v));
        if !shadowed {
            return Ok(());
        }
        let is_mirrored = match f.role {
            Role::Items(Items::Reserve | Items::SetLen | Items::Keeps) | Role::Memory(Mem::Moved) => true,
            Role::Memory(Mem::Move | Mem::CopyRow) => self.mode == Mode::Forward || self.memory.has_no_floats(args[0]),
            // The shadow of a table has its keys, in the same places.
            _ => std::ptr::eq(f, &rt::lh_table_index),
        };
        match f.role {
            _ if is_mirrored => {
                let args = args.iter().map(|v| self.shadow_of(b.func, *v)).collect::<Result<_>>()?;
                b.effect(Inst::Runtime(f, args));
                Ok(())
            }
            Role::Items(_) | Role::Poll(_) | Role::LoopHint | Role::CheckIndex | Role::Shapes(_) | Role::Print(_) => {
                Ok(())
            }
            Role::Memory(Mem::Prefetch | Mem::Fence) => Ok(()),
            // A shadow is never given to Python while the function runs.
            _ if [&rt::lh_items_share, &rt::lh_items_freeze].iter().any(|own| std::ptr::eq(f, *own)) => Ok(()),
            // The copies of what has no pointers are zeros.
            Role::Memory(Mem::Move | Mem::CopyRow)
                if self.memory.floats(args[0]).is_some_and(|t| self.program.derivatives().copy_back(t).is_some()) =>
            {
                Ok(())
            }
            _ if f.has_no_effect() => Ok(()),
            _ => Err(refused(f.name)),
        }
    }

    /// Shadows of shared and thread-local memory, filled with zeros.
    fn kernel_memory(&self, b: &mut Builder<'_>, f: &'static lh_ir::runtime::RuntimeFn, args: &[Value]) -> Value {
        let mut args = args.to_vec();
        let is_shared = f.role == Role::Memory(Mem::Shared);
        if is_shared {
            // Shared memory is known by its place in the source: that of a shadow has another bit.
            let site = b.int(1 << 61);
            args[1] = b.int_op("xor", args[1], site);
        }
        let bytes = args[if is_shared { 2 } else { 0 }];
        let p = b.inst(Inst::Runtime(f, args), Ty::ptr());
        self.fill(b, usize::from(!is_shared), p, bytes);
        p
    }

    /// Fills memory with zeros: shared memory by all threads, that of a thread by itself.
    fn fill(&self, b: &mut Builder<'_>, how: usize, p: Value, bytes: Value) {
        let fills = self.program.derivatives().fills(b.func.options);
        let fills = fills.unwrap_or_else(|| bug!("memory of kernels in code for a device"));
        let none = b.func.new_value(Ty::none());
        let fill = Inst::Call(fills[how], vec![p, bytes]);
        b.insts.push(InstData { result: Some(none), inst: fill, span: b.span });
    }

    fn duplicate(&mut self, b: &mut Builder<'_>, inst: &Inst, r: Value) -> Result<Value> {
        let ty = b.func.ty(r);
        match inst {
            Inst::Zero => return Ok(r),
            Inst::Runtime(f, args) if f.allocates() => {
                let is_zeroed = |g: &&'static RuntimeFn| {
                    g.role == Role::Memory(Mem::AllocateZeroed) && g.args == f.args && g.raises == f.raises
                };
                let Some(g) = rt::all().find(is_zeroed) else { bug!("no `{}` of zeroed memory", f.name) };
                return Ok(b.inst(Inst::Runtime(g, args.clone()), ty));
            }
            Inst::Runtime(f, args) if matches!(f.role, Role::Memory(Mem::Local | Mem::Shared)) => {
                return Ok(self.kernel_memory(b, f, args));
            }
            Inst::Runtime(f, args) if f.role == Role::Memory(Mem::Dynamic) => {
                let (all, two) = (b.inst(Inst::Runtime(&rt::lh_cuda_dynamic_bytes, args.clone()), Ty::int()), b.int(2));
                let bytes = b.int_op("sdiv", all, two);
                let p = b.inst(Inst::PtrAdd(r, bytes), Ty::ptr());
                self.fill(b, 0, p, bytes);
                return Ok(p);
            }
            Inst::New(n) => return Ok(b.inst(Inst::New(*n), ty)),
            Inst::Runtime(f, _) => return Err(refused(f.name)),
            Inst::Call(s, _) => {
                // Its arguments are constant: what is written later makes its memory active.
                let Some(zero) = self.program.derivatives().rules.get(s).and_then(|rule| rule.zero) else {
                    return Err(refused_call(self.program.typed(*s).name));
                };
                return Ok(b.inst(Inst::Call(zero, vec![r]), ty));
            }
            Inst::Foreign(..) => return Err(refused_foreign()),
            Inst::Extern(_) => {
                return Err(Diagnostic::new(
                    diag::NO_DERIVATIVE,
                    "a global array meets memory that derivatives flow through",
                )
                .note("pass the array as an argument, or copy it"));
            }
            _ => {}
        }
        let mut copy = inst.clone();
        let mut failed = None;
        // A part of an aggregate that is constant stays as it is: nobody asks for its shadow.
        let is_aggregate = matches!(inst, Inst::Pack(_));
        copy.for_each_operand_mut(&mut |v| match self.shadow_of(b.func, *v) {
            Err(_) if is_aggregate && !self.memory.has_shadow(*v) => {}
            Ok(s) => *v = s,
            Err(d) => failed = Some(d),
        });
        match failed {
            Some(d) => Err(d),
            None => Ok(b.inst(copy, ty)),
        }
    }
}

/// The refusal of an atomic operation that is no sum or extreme.
fn refused_atomic() -> Box<Diagnostic> {
    let text = "the order in which threads change memory by this atomic operation is not known to a derivative";
    Diagnostic::new(diag::NO_DERIVATIVE, text)
        .note("add by `cuda.atomic.add`, or let each thread write memory of its own")
}

/// The refusal of a function of the run-time library.
pub(crate) fn refused(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_DERIVATIVE, format!("this operation has no derivative (`{name}`)"))
        .note("state one for a function around it: `custom_vjp`")
}

/// The refusal of code that was not compiled here.
pub(crate) fn refused_foreign() -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_DERIVATIVE, "this call of a C function has no derivative")
        .note("state one for a function around it: `custom_vjp` or `custom_jvp`")
}

/// The value with zeros for its floats.
pub(crate) fn zeroed(b: &mut Builder<'_>, v: Value) -> Value {
    let ty = b.func.ty(v);
    match ty.kind() {
        TyKind::Float { .. } | TyKind::Bfloat16 => zero(b, ty),
        _ if leaves(ty).is_empty() => v,
        TyKind::Optional(t) | TyKind::MaybeUnbound(t) => {
            let own = b.inst(Inst::Unwrap(v), *t);
            let own = zeroed(b, own);
            b.inst(Inst::Some(own), ty)
        }
        _ => {
            let of: Vec<(usize, Ty)> = parts(ty).enumerate().collect();
            let mut made = Vec::new();
            for (i, t) in of {
                if !t.flatten().is_empty() {
                    let part = b.inst(Inst::Field(v, i as u32), t);
                    made.push(zeroed(b, part));
                }
            }
            b.inst(Inst::Pack(made), ty)
        }
    }
}

/// Zero of a float type.
pub(crate) fn zero(b: &mut Builder<'_>, ty: Ty) -> Value {
    if ty.is_half() { b.inst(Inst::Zero, ty) } else { b.inst(Inst::Const(Const::Float(0.0, ty)), ty) }
}

/// The floats of a value.
pub(crate) fn leaf_values(b: &mut Builder<'_>, v: Value, ty: Ty) -> Vec<Value> {
    if ty.is_float() {
        return vec![v];
    }
    if let (TyKind::Optional(t) | TyKind::MaybeUnbound(t), false) = (ty.kind(), leaves(ty).is_empty()) {
        let own = b.inst(Inst::Unwrap(v), *t);
        return leaf_values(b, own, *t);
    }
    let mut out = Vec::new();
    for (i, t) in parts(ty).enumerate().filter(|(_, t)| !leaves(*t).is_empty()).collect::<Vec<_>>() {
        let part = b.inst(Inst::Field(v, i as u32), t);
        out.extend(leaf_values(b, part, t));
    }
    out
}

/// The value with other floats.
pub(crate) fn with_leaves(b: &mut Builder<'_>, v: Value, ty: Ty, with: &mut dyn Iterator<Item = Value>) -> Value {
    if ty.is_float() {
        return with.next().unwrap_or(v);
    }
    if leaves(ty).is_empty() {
        return v;
    }
    if let TyKind::Optional(t) | TyKind::MaybeUnbound(t) = ty.kind() {
        // In a shadow nobody asks whether a value is there.
        let own = b.inst(Inst::Unwrap(v), *t);
        let own = with_leaves(b, own, *t, with);
        return b.inst(Inst::Some(own), ty);
    }
    let of: Vec<(usize, Ty)> = parts(ty).enumerate().filter(|(_, t)| !t.flatten().is_empty()).collect();
    let mut made = Vec::new();
    for (i, t) in of {
        let part = b.inst(Inst::Field(v, i as u32), t);
        made.push(with_leaves(b, part, t, with));
    }
    b.inst(Inst::Pack(made), ty)
}
