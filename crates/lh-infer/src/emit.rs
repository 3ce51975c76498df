//! Emitting typed instructions: values on demand, conversions, checks.

use crate::convert::has_pending;
use crate::cx::Infer;
use crate::val::{Known, Val};
use crate::world::{IMPLICIT, Object};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, InstData, Semantics, Term};
use lh_ir::op::Sig;
use lh_ir::types::{ClassTy, Layout, TyKind};
use lh_ir::{Const, ExcId, Op, Ty, Value};
use lh_ops::runtime as rt;

/// Ids that `lh-runtime` gives the builtin exception classes; see its `exception` module.
pub mod exc {
    pub use lh_ops::exceptions::*;
}

/// The row of an operation that the table is known to have.
pub fn row(name: &str) -> &'static Op {
    lh_ops::row(name).unwrap_or_else(|| lh_ir::bug!("no row `{name}`"))
}

impl Infer<'_> {
    /// Emits an instruction with a result.
    pub(crate) fn push(&mut self, inst: Inst, ty: Ty) -> Val {
        let v = self.out.new_value(ty);
        let span = self.span;
        self.out.blocks[self.cur.index()].insts.push(InstData { result: Some(v), inst, span });
        Val::new(ty, v)
    }

    /// Emits an instruction without a result.
    pub(crate) fn push_void(&mut self, inst: Inst) {
        let span = self.span;
        self.out.blocks[self.cur.index()].insts.push(InstData { result: None, inst, span });
    }

    /// The run-time value; constants and tuples are made here.
    pub(crate) fn value(&mut self, val: &Val) -> Value {
        if let Some(v) = val.v {
            return v;
        }
        let made = match val.known.as_deref() {
            Some(Known::Const(Const::None)) if val.ty.is_none() => self.push(Inst::Zero, val.ty),
            Some(Known::Const(c)) => self.push(Inst::Const(c.clone()), val.ty),
            Some(Known::Parts(parts)) => {
                let parts: Vec<Value> = parts.clone().iter().map(|p| self.value(p)).collect();
                self.push(Inst::Pack(parts), val.ty)
            }
            Some(Known::Method(recv, _)) => {
                let recv = recv.clone();
                let r = self.value(&recv);
                self.push(Inst::Pack(vec![r]), val.ty)
            }
            Some(Known::Exc(id, args)) => {
                let (id, args) = (*id, args.clone());
                self.exception_object(id, &args)
            }
            Some(Known::Super(e, _) | Known::ExcArgs(e)) => {
                let e = e.clone();
                let e = self.value(&e);
                self.push(Inst::Pack(vec![e]), val.ty)
            }
            _ => self.push(Inst::Zero, val.ty),
        };
        made.v.expect("just pushed")
    }

    /// Emits a row whose operands already have fitting types; folds constants.
    pub(crate) fn op(&mut self, name: &str, args: &[Val]) -> Val {
        self.op_row(row(name), args, None)
    }

    /// Emits a row; `wanted` is the result type of rows that leave it open.
    pub(crate) fn op_row(&mut self, op: &'static Op, args: &[Val], wanted: Option<Ty>) -> Val {
        let tys: Vec<Ty> = args.iter().map(|a| a.ty).collect();
        if tys.iter().any(|t| t.is_half()) && !matches!(op.sig, Sig::Select(_) | Sig::Fixed(..)) {
            return self.op_of_halves(op, args, wanted);
        }
        let Some(ty) = op.sig.result(&tys, wanted) else {
            // Python's numbers and NumPy's of the same width compute alike.
            if tys.windows(2).any(|t| t[0] != t[1]) && tys.windows(2).all(|t| t[0].strong() == t[1].strong()) {
                let args: Vec<Val> = args.iter().map(|a| self.cast(a, tys[0])).collect();
                return self.op_row(op, &args, wanted);
            }
            lh_ir::bug!("`{}` of {tys:?}", op.name)
        };
        let consts: Option<Vec<Const>> = args.iter().map(|a| a.as_const().cloned()).collect();
        if let Some(c) = consts.and_then(|c| (op.eval)(&c)) {
            let mut v = Val::constant(c);
            v.ty = ty;
            if let Some(Known::Const(Const::Int(i, _))) = v.known.as_deref() {
                v = Val::known(ty, Known::Const(Const::Int(*i, ty)));
            } else if let Some(Known::Const(Const::Float(x, _))) = v.known.as_deref() {
                v = Val::known(ty, Known::Const(Const::Float(*x, ty)));
            }
            return v;
        }
        let args = args.iter().map(|a| self.value(a)).collect();
        self.push(Inst::Op(op, args), ty)
    }

    /// A row on `float16` or `bfloat16` is computed in `float32` and rounded, as NumPy does. For arithmetic, the result
    /// is the nearest number, and LLVM uses a machine's own instructions. A `bfloat16` with a `float16` is a `float32`.
    fn op_of_halves(&mut self, op: &'static Op, args: &[Val], wanted: Option<Ty>) -> Val {
        let single = |t: Ty| if t.is_half() { Ty::f32() } else { t };
        let half = args.iter().map(|a| a.ty).find(|t| t.is_half()).expect("one is");
        let args: Vec<Val> = args.iter().map(|a| self.cast(a, single(a.ty))).collect();
        let result = self.op_row(op, &args, wanted.map(single));
        if result.ty == Ty::f32() { self.cast(&result, half) } else { result }
    }

    /// Converts a number to a number type, as C does.
    pub(crate) fn cast(&mut self, val: &Val, to: Ty) -> Val {
        if val.ty == to {
            return val.clone();
        }
        if let Some(c) = val.as_const().and_then(|c| cast_const(c, to)) {
            return Val::known(to, Known::Const(c));
        }
        if to.is_complex() && val.ty.is_complex() {
            let part = to.real_part();
            let (re, im) = (self.field(val, 0), self.field(val, 1));
            let (re, im) = (self.cast(&re, part), self.cast(&im, part));
            return self.pack(vec![re, im], to);
        }
        if to.is_complex() {
            let re = self.cast(val, to.real_part());
            let im = Val::constant(Const::Float(0.0, to.real_part()));
            return self.pack(vec![re, im], to);
        }
        let v = self.value(val);
        self.push(Inst::Cast(v), to)
    }

    /// An aggregate of parts, kept apart as long as possible.
    pub(crate) fn pack(&mut self, parts: Vec<Val>, ty: Ty) -> Val {
        Val::known(ty, Known::Parts(parts))
    }

    /// A part of an aggregate.
    pub(crate) fn field(&mut self, val: &Val, i: u32) -> Val {
        if let Some(p) = val.parts() {
            return p[i as usize].clone();
        }
        let ty = lh_ir::verify::part(val.ty, i).unwrap_or_else(|| lh_ir::bug!("part {i} of {}", val.ty));
        if let Some(Const::Complex(re, im, _)) = val.as_const() {
            return Val::constant(Const::Float(if i == 0 { *re } else { *im }, ty));
        }
        if ty.flatten().is_empty() {
            return Val::of_type(ty);
        }
        let v = self.value(val);
        self.push(Inst::Field(v, i), ty)
    }

    /// Parts of a tuple.
    pub(crate) fn tuple_parts(&mut self, val: &Val) -> Option<Vec<Val>> {
        let n = val.ty.tuple_elems()?.len();
        Some((0..n).map(|i| self.field(val, i as u32)).collect())
    }

    /// Converts where values of different types meet; the types have been unified already.
    pub(crate) fn convert(&mut self, val: &Val, to: Ty) -> Result<Val> {
        if val.ty == to {
            return Ok(val.clone());
        }
        if val.ty.is_never() {
            return Ok(self.push(Inst::Zero, to));
        }
        if val.ty.is_number() && to.is_number() {
            return Ok(self.cast(val, to));
        }
        let native = val.ty.native();
        if native != val.ty && (native == to || native.is_number() && to.is_number()) {
            let value = self.field(val, 0);
            return if native.is_number() { Ok(self.cast(&value, to)) } else { Ok(value) };
        }
        if to.is_open() && !to.is_tuple() {
            return self.function_value(val, to);
        }
        if let (TyKind::Instance { class: a, .. }, TyKind::Instance { of, class: b }) = (val.ty.kind(), to.kind())
            && a == b
        {
            let inner = self.field(val, 0);
            let inner = self.convert(&inner, *of)?;
            return Ok(self.pack(vec![inner], to));
        }
        self.convert_kinds(val, to)
    }

    /// Converts between types of which neither is a number.
    fn convert_kinds(&mut self, val: &Val, to: Ty) -> Result<Val> {
        match (val.ty.kind(), to.kind()) {
            (TyKind::Unbound, TyKind::MaybeUnbound(_)) | (TyKind::None, TyKind::Optional(_)) => {
                Ok(self.push(Inst::Zero, to))
            }
            (TyKind::MaybeUnbound(_), TyKind::MaybeUnbound(t)) => self.convert_wrapped(val, *t, to),
            (TyKind::Optional(_), TyKind::Optional(t)) => self.convert_wrapped(val, *t, to),
            (_, TyKind::Optional(t) | TyKind::MaybeUnbound(t)) => {
                let inner = self.convert(val, *t)?;
                let v = self.value(&inner);
                Ok(self.push(Inst::Some(v), to))
            }
            (TyKind::Class(_), TyKind::Class(_)) if val.ty.is_time() && to.is_time() => {
                let ticks = self.field(val, 0);
                Ok(self.pack(vec![ticks], to))
            }
            (TyKind::Optional(t), _) if *t == to || (t.is_number() && to.is_number()) => {
                let inner = self.unwrap_optional(val)?;
                self.convert(&inner, to)
            }
            (TyKind::Tuple { elems: given, .. }, TyKind::Tuple { elems, .. }) if given.len() == elems.len() => {
                let parts = self.tuple_parts(val).expect("a tuple");
                let parts = parts.iter().zip(elems).map(|(p, t)| self.convert(p, *t)).collect::<Result<Vec<_>>>()?;
                Ok(self.pack(parts, to))
            }
            (_, TyKind::Class(c)) if c.class.is_tuple() && !has_pending(val.ty) && !has_pending(to) => {
                self.tuple_of_parts(val, to)
            }
            (_, TyKind::Instance { of, .. }) if *of == val.ty && to.as_enum().is_none() => {
                Ok(self.pack(vec![val.clone()], to))
            }
            (_, TyKind::Choice(of)) => self.convert_choice(val, of, to),
            // C functions that return addresses without a type return numbers, as `ctypes` does.
            (_, TyKind::Ptr) if val.ty.is_int() => {
                let number = self.cast(val, Ty::int());
                self.runtime(&rt::lh_addr_ptr, &[number], to)
            }
            (TyKind::Array { .. }, TyKind::Array { .. }) if crate::cost(val.ty, to).is_some() => {
                Ok(self.relayout(val, to))
            }
            (TyKind::Record(a), TyKind::Record(b)) if crate::convert::begins_with(a, b) => {
                let parts = vec![self.field(val, 0), self.field(val, 1)];
                Ok(self.pack(parts, to))
            }
            // Lists whose items are not known yet: another sweep makes the types equal.
            (
                TyKind::Pending(..) | TyKind::Class(ClassTy { items: Some(_), .. }),
                TyKind::Pending(..) | TyKind::Class(ClassTy { items: Some(_), .. }),
            ) => {
                // Two that are both undecided wait for what decides one of them.
                let both = [val.ty, to].iter().all(|t| matches!(t.kind(), TyKind::Pending(..)));
                self.pending.changed |= val.ty != to && !both;
                Ok(self.push(Inst::Zero, to))
            }
            _ if val.ty.is_overloaded() || to.is_overloaded() => {
                let of_type = self.push(Inst::Zero, to);
                match self.struct_operation(IMPLICIT, "converted", &[val, &of_type])? {
                    Some(converted) if converted.ty == to => Ok(converted),
                    _ => Err(cannot_become(val.ty, to)),
                }
            }
            _ => Err(cannot_become(val.ty, to)),
        }
    }

    /// An optional of one type as an optional of another.
    fn convert_wrapped(&mut self, val: &Val, inner: Ty, to: Ty) -> Result<Val> {
        let v = self.value(val);
        let has = self.push(Inst::IsSome(v), Ty::bool());
        let from = match val.ty.kind() {
            TyKind::Optional(t) | TyKind::MaybeUnbound(t) => *t,
            _ => lh_ir::bug!("not wrapped: {}", val.ty),
        };
        let (yes, no) = self.branch(&has);
        let done = self.new_block();
        let result = self.out.new_param(done, to);
        self.cur = yes;
        let x = self.push(Inst::Unwrap(v), from);
        let x = self.convert(&x, inner)?;
        let x = self.value(&x);
        let some = self.push(Inst::Some(x), to);
        self.jump(done, vec![some]);
        self.cur = no;
        let zero = self.push(Inst::Zero, to);
        self.jump(done, vec![zero]);
        self.cur = done;
        Ok(Val::new(to, result))
    }

    /// Ends the current block with a jump inside one untyped block.
    pub(crate) fn jump(&mut self, block: lh_ir::Block, args: Vec<Val>) {
        let args = args.iter().map(|a| self.value(a)).collect();
        self.set_term(Term::Jump(lh_ir::func::Target { block, args }));
    }

    /// The same array under a type that promises less.
    fn relayout(&mut self, val: &Val, to: Ty) -> Val {
        let a = self.array_parts(val);
        self.make_array(&a, to)
    }

    /// Owner, data, shape and strides of an array.
    pub(crate) fn array_parts(&mut self, val: &Val) -> ArrayParts {
        let (_, ndim, ..) = val.ty.as_array().unwrap_or_else(|| lh_ir::bug!("{} is no array", val.ty));
        let v = self.value(val);
        let owner = self.push(Inst::ArrayOwner(v), Ty::meminfo());
        let data = self.push(Inst::ArrayData(v), Ty::ptr());
        let shape = (0..ndim).map(|i| self.push(Inst::ArrayShape(v, i as u32), Ty::int())).collect();
        let strides = (0..ndim).map(|i| self.push(Inst::ArrayStride(v, i as u32), Ty::int())).collect();
        ArrayParts { owner, data, shape, strides }
    }

    /// An array value from its parts.
    pub(crate) fn make_array(&mut self, a: &ArrayParts, ty: Ty) -> Val {
        let owner = self.value(&a.owner);
        let data = self.value(&a.data);
        let shape = a.shape.iter().map(|s| self.value(s)).collect();
        let strides = a.strides.iter().map(|s| self.value(s)).collect();
        self.push(Inst::ArrayMake { owner, data, shape, strides }, ty)
    }

    /// Raises when a condition holds; goes on where it does not.
    pub(crate) fn raise_if(&mut self, cond: &Val, exc: ExcId, text: &str) {
        match cond.as_bool() {
            Some(false) => return,
            Some(true) => {
                self.raise_text(exc, text);
                self.dead = true;
                return;
            }
            None => {}
        }
        let (bad, good) = self.branch(cond);
        self.cur = bad;
        self.raise_text(exc, text);
        self.cur = good;
    }

    /// Ends the current block by raising.
    pub(crate) fn raise_text(&mut self, exc: ExcId, text: &str) {
        let args = if text.is_empty() { Vec::new() } else { vec![self.value(&Val::str(text))] };
        self.set_term(Term::Raise { exc, args });
    }

    /// The value of an optional; TypeError where it is `None`.
    pub(crate) fn unwrap_optional(&mut self, val: &Val) -> Result<Val> {
        self.unwrap_or_raise(val, exc::TYPE_ERROR, |t| format!("expected {}, got None", t.numba()))
    }

    /// The same with Python's words for an operation that `None` does not have.
    pub(crate) fn unwrap_or_say(&mut self, val: &Val, text: impl Into<String>) -> Result<Val> {
        self.unwrap_or_raise(val, exc::TYPE_ERROR, |_| text.into())
    }

    /// The same for an attribute.
    pub(crate) fn unwrap_object(&mut self, val: &Val, name: &str) -> Result<Val> {
        self.unwrap_or_raise(val, exc::ATTRIBUTE_ERROR, |_| format!("'NoneType' object has no attribute '{name}'"))
    }

    /// The values of two operands; a TypeError in Python's words where one is `None`.
    pub(crate) fn unwrap_operands(&mut self, a: &Val, b: &Val, before: impl Fn() -> String) -> Result<(Val, Val)> {
        let (left, right) = (python_name(a.ty), python_name(b.ty));
        let a = self.unwrap_or_raise(a, exc::TYPE_ERROR, |_| format!("{}'NoneType' and '{right}'", before()))?;
        Ok((a, self.unwrap_or_raise(b, exc::TYPE_ERROR, |_| format!("{}'{left}' and 'NoneType'", before()))?))
    }

    fn unwrap_or_raise(&mut self, val: &Val, exc: ExcId, text: impl FnOnce(Ty) -> String) -> Result<Val> {
        if let Some((_, _, true)) = val.ty.as_enum() {
            return Ok(self.field(val, 0));
        }
        let TyKind::Optional(t) = val.ty.kind() else { return Ok(val.clone()) };
        let v = self.value(val);
        let has = self.push(Inst::IsSome(v), Ty::bool());
        let none = self.op("not", &[has]);
        self.raise_if(&none, exc, &text(*t));
        Ok(self.push(Inst::Unwrap(v), *t))
    }

    fn known_truth(&self, val: &Val) -> Option<bool> {
        match val.as_const() {
            Some(Const::None) => Some(false),
            Some(Const::Bool(b)) => Some(*b),
            Some(Const::Int(i, _)) => Some(*i != 0),
            Some(Const::Float(x, _)) => Some(*x != 0.0),
            Some(Const::Str(s)) => Some(!s.is_empty()),
            Some(Const::Complex(..)) | None => self.entries(val).map(|named| !named.is_empty()),
        }
    }

    /// Truth of a value, as `bool`.
    pub(crate) fn truth(&mut self, val: &Val) -> Result<Val> {
        if let Some(known) = self.known_truth(val) {
            return Ok(Val::bool(known));
        }
        match val.ty.kind() {
            TyKind::Bool => Ok(val.clone()),
            TyKind::Int { .. } | TyKind::Float { .. } | TyKind::Bfloat16 => Ok(self.cast(val, Ty::bool())),
            TyKind::Complex { .. } => {
                let (re, im) = (self.field(val, 0), self.field(val, 1));
                let (re, im) = (self.cast(&re, Ty::bool()), self.cast(&im, Ty::bool()));
                Ok(self.op("or", &[re, im]))
            }
            TyKind::Tuple { elems, .. } => Ok(Val::bool(!elems.is_empty())),
            TyKind::None => Ok(Val::bool(false)),
            TyKind::Optional(t) => self.truth_of_optional(val, *t),
            TyKind::Class(ClassTy { items: None, .. }) | TyKind::Extension { .. } => self.class_truth(val),
            TyKind::Choice(_) if val.ty.several().is_some() => {
                self.each(std::slice::from_ref(val), &|_, _| None, &mut |own, x| own.truth(&x[0]))
            }
            TyKind::Class(_) | TyKind::Pending(..) => {
                let v = self.value(val);
                let n = self.push(Inst::ItemsLen(v), Ty::int());
                Ok(self.cast(&n, Ty::bool()))
            }
            TyKind::Str | TyKind::Range(_) => {
                let n = self.len(val)?;
                Ok(self.cast(&n, Ty::bool()))
            }
            TyKind::Array { dtype, .. } if dtype.is_pyobject() => Err(no_elements(val.ty)),
            TyKind::Array { ndim: 0, dtype, .. } => {
                let x = self.load_item(val, &[], *dtype);
                self.truth(&x)
            }
            TyKind::Instance { .. } if !val.ty.is_function() => self.instance_truth(val),
            TyKind::Array { .. } => self.call_library("numpy.methods.truth_of", std::slice::from_ref(val)),
            TyKind::Func(_)
            | TyKind::Closure { .. }
            | TyKind::Choice(_)
            | TyKind::Instance { .. }
            | TyKind::Generator(_)
            | TyKind::DType(_)
            | TyKind::Obj(_)
            | TyKind::Ellipsis
            | TyKind::Exc => Ok(Val::bool(true)),
            _ => match self.overloaded_operation("builtins", "bool", &[val])? {
                Some(truth) => self.truth(&truth),
                None => {
                    let text = format!("the truth of `{}` is ambiguous or not supported", val.ty);
                    Err(Diagnostic::new(diag::NO_MATCHING_OP, text)
                        .note("use `.any()`, `.all()`, `len(...)` or a comparison"))
                }
            },
        }
    }

    /// Whether there is a value, and it is true.
    fn truth_of_optional(&mut self, val: &Val, t: Ty) -> Result<Val> {
        let v = self.value(val);
        let has = self.push(Inst::IsSome(v), Ty::bool());
        let inner = self.push(Inst::Unwrap(v), t);
        if t.several().is_some() || t.class().is_some_and(|c| c.user().is_some()) && !t.is_struct() {
            return self.truth_if(&has, &inner);
        }
        // The inside of an empty optional is zeros, whose truth is safe to ask for.
        let truth = self.truth(&inner)?;
        if t.is_overloaded() && truth.as_bool().is_none() {
            let text = format!("the truth of `{t}` is overloaded, and there may be none");
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("ask `x is not None` first"));
        }
        Ok(self.op("and", &[has, truth]))
    }

    /// Whether there is an object, and it is true. Its class is asked only where there is one.
    fn truth_if(&mut self, has: &Val, object: &Val) -> Result<Val> {
        let (yes, no) = self.branch(has);
        self.cur = yes;
        let truth = self.truth(object)?;
        let mut ways = vec![(no, Val::bool(false))];
        if !self.dead {
            ways.push((self.cur, truth));
        }
        self.dead = false;
        self.join(&ways, Ty::bool())
    }

    /// Converts a value for `return`; users must make compile-time iterables concrete.
    pub(crate) fn returnable(&mut self, val: Val) -> Result<Val> {
        match val.ty.kind() {
            TyKind::Iter(_) if matches!(val.known.as_deref(), Some(Known::Keywords(..))) => {
                Err(self.no_dictionary(&val))
            }
            TyKind::Iter(_) => Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, "an iterator cannot be returned")
                .note("return a list of its items")),
            TyKind::MaybeUnbound(_) | TyKind::Unbound => lh_ir::bug!("unchecked variable returned"),
            // Numba has no type for such an object, wherever it stands, and packages test for the error.
            _ if self.semantics() == Semantics::Numba => match self.opaque_object(val.ty) {
                Some(text) => Err(opaque(&text)),
                None => Ok(val),
            },
            _ => Ok(val),
        }
    }

    /// The object that a value is, or holds, and that has no meaning in compiled code.
    pub(crate) fn opaque_object(&mut self, t: Ty) -> Option<String> {
        match t.kind() {
            TyKind::Obj(o) => match self.world.object(*o) {
                Object::Other(text) => Some(text),
                _ => None,
            },
            TyKind::Tuple { elems, .. } => elems.iter().find_map(|t| self.opaque_object(*t)),
            _ => None,
        }
    }
}

/// The name of the class that values of a type, or of an optional's, have in Python.
pub(crate) fn python_name(t: Ty) -> String {
    match t.kind() {
        TyKind::Optional(t) => python_name(*t),
        TyKind::Int { bits: 64, signed: true, .. } => "int".to_owned(),
        TyKind::Float { bits: 64, .. } => "float".to_owned(),
        TyKind::Complex { bits: 128, .. } => "complex".to_owned(),
        TyKind::Array { .. } => "ndarray".to_owned(),
        TyKind::Tuple { name: None, .. } => "tuple".to_owned(),
        _ => t.class().map_or_else(|| t.to_string(), |class| class.name().to_owned()),
    }
}

pub(crate) fn cannot_become(from: Ty, to: Ty) -> Box<Diagnostic> {
    Diagnostic::new(diag::CANNOT_UNIFY, format!("`{from}` cannot become `{to}`"))
}

/// The refusal of an object of the program that has no meaning in compiled code.
pub(crate) fn opaque(text: &str) -> Box<Diagnostic> {
    if text == "int" {
        return Diagnostic::new(diag::UNSUPPORTED_TYPE, "an int beyond 64 bits cannot be used in compiled code")
            .note("use a float, or two ints");
    }
    Diagnostic::new(diag::UNSUPPORTED_TYPE, format!("`{text}` cannot be used in compiled code"))
        .note("pass it as an argument, or what you need of it as numbers, tuples or arrays")
}

/// The refusal of an operation on elements of an array of objects.
pub(crate) fn no_elements(t: Ty) -> Box<Diagnostic> {
    Diagnostic::new(diag::UNSUPPORTED_TYPE, format!("elements of `{t}` are neither read nor written in compiled code"))
        .note("convert the objects outside of the function: `a.astype(float)` of numbers, `list(a)` of texts")
}

/// Parts of an array value.
#[derive(Clone)]
pub(crate) struct ArrayParts {
    pub owner: Val,
    pub data: Val,
    pub shape: Vec<Val>,
    pub strides: Vec<Val>,
}

/// A number constant as another number type.
pub(crate) fn cast_const(c: &Const, to: Ty) -> Option<Const> {
    let (re, im) = match c {
        Const::Bool(b) => (f64::from(u8::from(*b)), 0.0),
        Const::Int(i, _) => (*i as f64, 0.0),
        Const::Float(x, _) => (*x, 0.0),
        Const::Complex(a, b, _) => (*a, *b),
        Const::None | Const::Str(_) => return None,
    };
    let narrow = |x: f64, t: Ty| match c {
        Const::Int(i, _) if t.is_half() => lh_ir::half::rounded(lh_ir::half::of_integer(*i), t),
        _ => lh_ir::half::rounded(x, t),
    };
    match to.kind() {
        TyKind::Bool => Some(Const::Bool(re != 0.0 || im != 0.0)),
        TyKind::Int { bits, signed, .. } => {
            let i = match c {
                Const::Bool(b) => i128::from(*b),
                Const::Int(i, _) => *i,
                Const::Float(x, _) if x.is_finite() && x.abs() < 9e18 => *x as i128,
                _ => return None,
            };
            Some(Const::Int(wrap_int(i, u32::from(*bits), *signed), to))
        }
        TyKind::Float { .. } | TyKind::Bfloat16 if !matches!(c, Const::Complex(..)) => {
            Some(Const::Float(narrow(re, to), to))
        }
        TyKind::Complex { .. } => {
            let part = to.real_part();
            Some(Const::Complex(narrow(re, part), narrow(im, part), to))
        }
        _ => None,
    }
}

/// An integer reduced to a width, as two's complement does.
pub(crate) fn wrap_int(i: i128, bits: u32, signed: bool) -> i128 {
    let m = i & ((1i128 << bits) - 1);
    if signed && m >> (bits - 1) & 1 == 1 { m - (1i128 << bits) } else { m }
}

/// The layout of a view whose contiguity is not known.
pub(crate) fn any_layout(ndim: usize) -> Layout {
    if ndim == 0 { Layout::C } else { Layout::A }
}
