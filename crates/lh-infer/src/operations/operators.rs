//! Operators: which row or library function an operator means for its operand types.

use crate::convert::rank;
use crate::cx::Infer;
use crate::emit::{exc, row};
use crate::operations::alternatives::{class_name, is_several, type_error};
use crate::val::Val;
use crate::world::{ArgTy, IMPLICIT, Object};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst, MapExpr, Semantics};
use lh_ir::types::{Buffer, TyKind};
use lh_ir::untyped::{BinOp, UnOp};
use lh_ir::{Const, Op, SpecId, Ty};
use lh_ops::runtime as rt;

/// A scalar function of operands of one type.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    /// A row.
    Row(&'static Op, Ty),
    /// A compiled library function.
    Spec(SpecId, Ty),
}

impl Kernel {
    /// Its result type.
    pub(crate) fn ret(self) -> Ty {
        match self {
            Kernel::Row(_, t) | Kernel::Spec(_, t) => t,
        }
    }
    /// It as an elementwise expression.
    pub(crate) fn expr(self, args: Vec<MapExpr>) -> MapExpr {
        match self {
            Kernel::Row(op, t) => row_expr(op, t, args),
            Kernel::Spec(s, t) => MapExpr::Call(s, t, args),
        }
    }
}

/// The function of module `operator` that an operator calls.
pub(crate) fn operator_name(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "add",
        BinOp::Sub => "sub",
        BinOp::Mul => "mul",
        BinOp::TrueDiv => "truediv",
        BinOp::FloorDiv => "floordiv",
        BinOp::Mod => "mod",
        BinOp::Pow => "pow",
        BinOp::MatMul => "matmul",
        BinOp::And => "and_",
        BinOp::Or => "or_",
        BinOp::Xor => "xor",
        BinOp::LShift => "lshift",
        BinOp::RShift => "rshift",
    }
}

/// The function of module `operator` that an assignment such as `+=` calls.
fn inplace_name(op: BinOp) -> String {
    format!("i{}", operator_name(op).trim_end_matches('_'))
}

fn unary_name(op: UnOp) -> &'static str {
    match op {
        UnOp::Neg => "neg",
        UnOp::Pos => "pos",
        UnOp::Invert => "invert",
        UnOp::Not => "not_",
    }
}

/// The name in `operator` of a ufunc that is an operator, or of a function of `operator`.
pub(crate) fn operator_path<'a>(path: &str, name: &'a str) -> Option<&'a str> {
    Some(match (path.strip_prefix("numpy."), name) {
        (Some(_), "subtract") => "sub",
        (Some(_), "multiply") => "mul",
        (Some(_), "divide" | "true_divide") => "truediv",
        (Some(_), "floor_divide") => "floordiv",
        (Some(_), "remainder" | "mod") => "mod",
        (Some(_), "power") => "pow",
        (Some(_), "bitwise_and") => "and_",
        (Some(_), "bitwise_or") => "or_",
        (Some(_), "bitwise_xor") => "xor",
        (Some(_), "left_shift") => "lshift",
        (Some(_), "right_shift") => "rshift",
        (Some(_), "equal") => "eq",
        (Some(_), "not_equal") => "ne",
        (Some(_), "less") => "lt",
        (Some(_), "less_equal") => "le",
        (Some(_), "greater") => "gt",
        (Some(_), "greater_equal") => "ge",
        (Some(_), "add") => "add",
        (Some(_), "matmul" | "invert" | "negative" | "positive") | (None, _) if path.starts_with("operator.") => name,
        _ => return None,
    })
}

/// The operator of an `operator` function's name.
pub(crate) fn operator_of(name: &str) -> Option<BinOp> {
    let name = name.strip_prefix('i').filter(|n| *n != "nvert").unwrap_or(name);
    BinOp::ALL.into_iter().find(|op| operator_name(*op).trim_end_matches('_') == name.trim_end_matches('_'))
}

impl Infer<'_> {
    pub(crate) fn no_op(&self, sign: &str, a: Ty, b: Ty) -> Box<Diagnostic> {
        let (a, b) = (name_of(a), name_of(b));
        Diagnostic::new(diag::NO_MATCHING_OP, format!("`{sign}` is not supported between `{a}` and `{b}`"))
            .label(format!("left is `{a}`, right is `{b}`"))
    }

    pub(crate) fn unary(&mut self, op: UnOp, a: &Val) -> Result<Val> {
        let own = self.own_unary(op, a);
        self.or_overloaded(own, "operator", unary_name(op), &[a])
    }

    fn own_unary(&mut self, op: UnOp, a: &Val) -> Result<Val> {
        if op == UnOp::Not {
            let t = self.truth(a)?;
            return Ok(match t.as_bool() {
                Some(b) => Val::bool(!b),
                None => self.op("not", &[t]),
            });
        }
        if op == UnOp::Invert
            && let Some(v) = self.flags_inverted(a)?
        {
            return Ok(v);
        }
        let a = &self.unwrap_or_say(a, format!("bad operand type for unary {}: 'NoneType'", unary_sign(op)))?;
        if is_several(a) {
            let raised = |x: &[Val], _: &Diagnostic| {
                type_error(format!("bad operand type for unary {}: '{}'", unary_sign(op), class_name(&x[0])))
            };
            return self.each(std::slice::from_ref(a), &raised, &mut |own, x| own.own_unary(op, &x[0]));
        }
        if a.ty.is_array() {
            return self.unary_array(op, a);
        }
        let name = unary_name(op);
        if let Some(v) = self.struct_operation("operator", name, &[a])? {
            return Ok(v);
        }
        if let Some(v) = self.class_unary(op, a)? {
            return Ok(v);
        }
        if let Some(v) = self.named_call(a, &format!("__{name}__"), &[])? {
            return Ok(v);
        }
        if let Some(parts) = self.vector_parts(a) {
            let parts = parts.iter().map(|x| self.unary(op, x)).collect::<Result<Vec<_>>>()?;
            return self.vector_like(a, &parts);
        }
        // Truth values of run time are NumPy's, of which `~` is the negation; it is that of an int only of a literal.
        if op == UnOp::Invert && a.ty.is_bool() && a.as_bool().is_none() {
            return Ok(self.op("not", &[a.clone()]));
        }
        if self.widens(a.ty) {
            return self.unary_and_widen(op, a);
        }
        let a = &if a.ty.is_bool() { self.cast(a, Ty::int()) } else { a.clone() };
        match op {
            UnOp::Neg if a.ty.is_complex() => self.call_library("operator.neg", &[a.clone()]),
            UnOp::Neg if a.ty.is_int() && self.options.overflow_check => self.checked_negation(a),
            UnOp::Neg if a.ty.is_number() => Ok(self.op("neg", &[a.clone()])),
            UnOp::Pos if a.ty.is_number() => Ok(a.clone()),
            UnOp::Invert if a.ty.is_int() => Ok(self.op("invert", &[a.clone()])),
            _ => Err(no_unary(op, a.ty)),
        }
    }

    /// `-x` of an integer, or an OverflowError.
    pub(crate) fn checked_negation(&mut self, a: &Val) -> Result<Val> {
        let zero = self.cast(&Val::int(0), a.ty);
        self.binary_same(BinOp::Sub, &zero, a, a.ty)
    }

    /// `-x`, `+x` or `~x` in the width of `x`, which becomes 64 bits behind it.
    fn unary_and_widen(&mut self, op: UnOp, a: &Val) -> Result<Val> {
        if op == UnOp::Neg && self.options.overflow_check {
            let negated = self.checked_negation(a)?;
            return Ok(self.cast(&negated, if a.ty.is_signed() { Ty::int() } else { Ty::u64() }));
        }
        let name = match op {
            UnOp::Neg => "neg",
            UnOp::Invert => "invert",
            UnOp::Pos | UnOp::Not => "",
        };
        let result = if name.is_empty() { a.clone() } else { self.op(name, std::slice::from_ref(a)) };
        Ok(self.cast(&result, if a.ty.is_signed() { Ty::int() } else { Ty::u64() }))
    }

    fn unary_array(&mut self, op: UnOp, a: &Val) -> Result<Val> {
        let (own, ..) = a.ty.as_array().expect("an array");
        let t = self.sign_type(op, own);
        let kernel = match op {
            UnOp::Neg if t.is_complex() || t.is_int() && self.options.overflow_check => {
                self.library_kernel("operator.neg", &[t])?
            }
            UnOp::Neg if t.is_number() && !t.is_bool() => Kernel::Row(row("neg"), t),
            UnOp::Invert if t.is_bool() => Kernel::Row(row("not"), t),
            UnOp::Invert if t.is_int() => Kernel::Row(row("invert"), t),
            UnOp::Pos if t.is_number() => return self.method(a, "copy", &[]),
            UnOp::Neg | UnOp::Pos if t.is_time() => {
                self.library_kernel(if op == UnOp::Neg { "times.neg" } else { "times.pos" }, &[t])?
            }
            _ => return Err(no_unary(op, a.ty)),
        };
        let arg = cast_expr(t, MapExpr::Arg(0, own));
        Ok(self.map(&[a.clone()], kernel.ret(), kernel.expr(vec![arg])))
    }

    pub(crate) fn binary(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        let mut made = self.own_binary(op, a, b, inplace);
        if inplace {
            made = self.or_overloaded(made, "operator", &inplace_name(op), &[a, b]);
        }
        self.or_overloaded(made, "operator", operator_name(op), &[a, b])
    }

    fn own_binary(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        if let Some(v) = self.flags_binary(op, a, b)? {
            return Ok(v);
        }
        // A text is filled with what `str` gives.
        let filled = op == BinOp::Mod && a.ty.native() == Ty::str() && b.ty.as_enum().is_some();
        let b = &if filled { Val::tuple(vec![b.clone()]) } else { b.clone() };
        let equal = if inplace { "=" } else { "" };
        let words = || format!("unsupported operand type(s) for {}{equal}: ", op.symbol());
        let (a, b) = &self.unwrap_operands(a, b, words)?;
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        if a.ty.is_number() && b.ty.is_number() {
            return self.binary_numbers(op, a, b);
        }
        if is_several(a) || is_several(b) {
            let raised = |x: &[Val], _: &Diagnostic| {
                type_error(format!("{}'{}' and '{}'", words(), class_name(&x[0]), class_name(&x[1])))
            };
            let both = [a.clone(), b.clone()];
            return self.each(&both, &raised, &mut |own, x| own.own_binary(op, &x[0], &x[1], inplace));
        }
        if let Some(v) = self.named_binary(op, a, b)? {
            return Ok(v);
        }
        if let Some(v) = self.vector_binary(op, a, b)? {
            return Ok(v);
        }
        // As in Numba, what converts by itself is a number before overloads are asked.
        if let Some((a, b)) = self.as_numbers(a, b)? {
            return self.binary(op, &a, &b, inplace);
        }
        if inplace {
            if let Some(v) = self.struct_operation("operator", &inplace_name(op), &[a, b])? {
                return Ok(v);
            }
        }
        if let Some(v) = self.struct_operation("operator", operator_name(op), &[a, b])? {
            return Ok(v);
        }
        if op == BinOp::MatMul && (a.ty.is_array() || b.ty.is_array()) {
            return self.call_library("numpy.matmul", &[a.clone(), b.clone()]);
        }
        let arrayish = |t: Ty| t.is_array() || t.is_scalar();
        if (a.ty.is_array() || b.ty.is_array()) && arrayish(a.ty) && arrayish(b.ty) {
            return self.binary_arrays(op, a, b, inplace);
        }
        match self.arrays_of(a, b)? {
            Some((a, b)) => self.binary_arrays(op, &a, &b, inplace),
            None => self.binary_other(op, a, b, inplace),
        }
    }

    /// An array, and a list or a tuple beside it as one.
    pub(crate) fn arrays_of(&mut self, a: &Val, b: &Val) -> Result<Option<(Val, Val)>> {
        let is_sequence = |v: &Val| v.ty.is_tuple() || v.ty.as_class().is_some_and(|c| c.items.is_some());
        Ok(if a.ty.is_array() && is_sequence(b) {
            Some((a.clone(), self.call_library("numpy.asarray", std::slice::from_ref(b))?))
        } else if b.ty.is_array() && is_sequence(a) {
            Some((self.call_library("numpy.asarray", std::slice::from_ref(a))?, b.clone()))
        } else {
            None
        })
    }

    fn binary_other(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        let is_format = op == BinOp::Mod && a.ty == Ty::str();
        if !is_format && (a.ty.class().is_some() || b.ty.class().is_some()) {
            return self.class_binary(op, a, b, inplace);
        }
        match (a.ty.kind(), op, b.ty.kind()) {
            (TyKind::Tuple { .. }, BinOp::Add, TyKind::Tuple { .. }) => {
                let mut parts = self.tuple_parts(a).expect("a tuple");
                parts.extend(self.tuple_parts(b).expect("a tuple"));
                Ok(Val::tuple(parts))
            }
            (TyKind::Tuple { .. }, BinOp::Mul, _) if b.as_int().is_some() => {
                let parts = self.tuple_parts(a).expect("a tuple");
                let n = usize::try_from(b.as_int().expect("just checked")).unwrap_or(0);
                if parts.len().saturating_mul(n) > 1000 {
                    return Err(Diagnostic::new(diag::TOO_LARGE, "a tuple of more than 1000 items")
                        .note("use a list or an array"));
                }
                Ok(Val::tuple(parts.iter().cloned().cycle().take(parts.len() * n).collect()))
            }
            (TyKind::Str, BinOp::Add, TyKind::Str) => {
                if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
                    return Ok(Val::str(format!("{x}{y}")));
                }
                self.runtime(&rt::lh_str_concat, &[a.clone(), b.clone()], Ty::str())
            }
            (TyKind::Str, BinOp::Mul | BinOp::Mod, _) => {
                if let Some(text) = if op == BinOp::Mod { self.percent(a, b)? } else { None } {
                    return Ok(text);
                }
                self.call_library(&format!("builtins.str.__{}__", operator_name(op)), &[a.clone(), b.clone()])
            }
            (TyKind::Instance { .. }, BinOp::Add | BinOp::Mul, _)
                if inplace && a.ty.as_buffer() == Some(Buffer::ByteArray) =>
            {
                self.method(a, &format!("__i{}__", operator_name(op).trim_end_matches('_')), std::slice::from_ref(b))
            }
            (TyKind::Instance { .. }, BinOp::Add | BinOp::Sub, TyKind::Int { .. } | TyKind::Bool)
                if a.ty.pointee().is_some_and(Ty::is_scalar) =>
            {
                self.moved_pointer(op, a, b)
            }
            (TyKind::Instance { .. }, BinOp::Mod, _) if is_bytes(a) => {
                self.method(a, "__mod__", std::slice::from_ref(b))
            }
            (TyKind::Instance { .. }, BinOp::Mul, TyKind::Int { .. } | TyKind::Bool) if is_bytes(a) => {
                self.method(a, "__mul__", std::slice::from_ref(b))
            }
            (TyKind::Int { .. } | TyKind::Bool, BinOp::Mul, TyKind::Str) => self.binary_other(op, b, a, inplace),
            (TyKind::Int { .. } | TyKind::Bool, BinOp::Mul, TyKind::Instance { .. }) if is_bytes(b) => {
                self.binary_other(op, b, a, inplace)
            }
            (TyKind::Instance { .. }, BinOp::Add, TyKind::Instance { .. }) if a.ty.as_buffer().is_some() => {
                self.join_buffers(a, b)
            }
            _ => Err(self.no_op(op.symbol(), a.ty, b.ty)),
        }
    }

    /// The address so many values on, or back.
    fn moved_pointer(&mut self, op: BinOp, p: &Val, n: &Val) -> Result<Val> {
        let size = p.ty.pointee().expect("a pointer").itemsize() as i128;
        let n = self.cast(n, Ty::i64());
        let bytes = self.binary(BinOp::Mul, &n, &Val::int(if op == BinOp::Sub { -size } else { size }), false)?;
        let at = self.field(p, 0);
        let (at, bytes) = (self.value(&at), self.value(&bytes));
        let moved = self.push(Inst::PtrAdd(at, bytes), Ty::ptr());
        Ok(self.pack(vec![moved], p.ty))
    }

    /// Whether a function is an operator that compiled code has itself.
    pub(crate) fn is_operator(&mut self, function: Ty) -> bool {
        let TyKind::Obj(o) = function.kind() else { return false };
        let Object::Path(path) = self.world.object(*o) else { return false };
        path.strip_prefix("operator.").is_some_and(|name| {
            operator_of(name).is_some()
                || super::comparisons::comparison_of(name).is_some()
                || matches!(name, "neg" | "pos" | "invert" | "inv")
        })
    }

    /// The operator that a function of `operator` is.
    pub(crate) fn function_of_operator(&mut self, function: Ty) -> Option<BinOp> {
        let TyKind::Obj(o) = function.kind() else { return None };
        let Object::Path(path) = self.world.object(*o) else { return None };
        path.strip_prefix("operator.").and_then(operator_of)
    }

    /// Two operands with those as numbers that are of types which the program converts; `None` if neither is.
    pub(crate) fn as_numbers(&mut self, a: &Val, b: &Val) -> Result<Option<(Val, Val)>> {
        let mut converted = |v: &Val, other: &Val| match v.ty.extension() {
            Some(_) => self.struct_operation(IMPLICIT, "as_number", &[v, other]),
            None => Ok(None),
        };
        let (x, y) = (converted(a, b)?, converted(b, a)?);
        let is_any = x.is_some() || y.is_some();
        Ok(is_any.then(|| (x.unwrap_or_else(|| a.clone()), y.unwrap_or_else(|| b.clone()))))
    }

    fn binary_numbers(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val> {
        if op == BinOp::Pow {
            if let Some(v) = self.power_by_constant(a, b)? {
                return Ok(v);
            }
        }
        self.binary_in(op, a, b, self.scalar_type(op, a.ty, b.ty))
    }

    /// A ufunc that is an operator, on two numbers.
    pub(crate) fn binary_as_ufunc(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Val> {
        match self.semantics() {
            Semantics::Python => self.binary(op, a, b, false),
            Semantics::Numba => {
                let t = self.elementwise_type(Some(op), a.ty, b.ty).expect("numbers");
                self.binary_in(op, a, b, t)
            }
        }
    }

    /// An operator that computes in a type, where it exists.
    fn binary_in(&mut self, op: BinOp, a: &Val, b: &Val, t: Ty) -> Result<Val> {
        let shift = matches!(op, BinOp::LShift | BinOp::RShift);
        if matches!(op, BinOp::And | BinOp::Or | BinOp::Xor) || shift {
            if !(t.is_int() || t.is_bool()) {
                return Err(self.no_op(op.symbol(), a.ty, b.ty));
            }
        } else if t.is_complex() && matches!(op, BinOp::FloorDiv | BinOp::Mod) || op == BinOp::MatMul {
            return Err(self.no_op(op.symbol(), a.ty, b.ty));
        }
        if let Some(v) = self.literal_out_of_range(a, b, t).or_else(|| self.literal_out_of_range(b, a, t)) {
            return Ok(v);
        }
        let (x, y) = (self.fitted(a, b, t)?, self.fitted(b, a, t)?);
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        self.binary_same(op, &x, &y, t)
    }

    /// A number in the type in which it meets another. A Python integer that is known only at run time raises if it
    /// does not fit, as in NumPy.
    pub(crate) fn fitted(&mut self, x: &Val, other: &Val, t: Ty) -> Result<Val> {
        let narrows = t.is_int() && t.strong() != Ty::i64() && x.ty.is_weak() && x.ty.is_int();
        let is_exempt = self.is_library || self.semantics() == Semantics::Numba;
        if !narrows || element(other.ty).is_weak() || x.as_int().is_some() || is_exempt {
            return Ok(self.cast(x, t));
        }
        self.fitted_int(x, t)
    }

    /// A Python integer in a type, or an OverflowError.
    pub(crate) fn fitted_int(&mut self, x: &Val, t: Ty) -> Result<Val> {
        let narrow = self.cast(x, t);
        let same = {
            let back = self.cast(&narrow, Ty::int());
            self.op("eq", &[back, x.clone()])
        };
        let fits = if t.is_signed() {
            same
        } else {
            let positive = self.op("ge", &[x.clone(), Val::int(0)]);
            self.both(&same, &positive)
        };
        let (good, bad) = self.branch(&fits);
        self.cur = bad;
        self.call_library("scalars.out_of_bounds", &[x.clone(), Val::str(t.to_string())])?;
        self.cur = good;
        self.dead = false;
        Ok(narrow)
    }

    /// A Python integer literal that does not fit the typed operand raises, as in NumPy.
    pub(crate) fn literal_out_of_range(&mut self, literal: &Val, other: &Val, t: Ty) -> Option<Val> {
        let is_weak = literal.ty.is_weak() && !other.ty.is_weak() && self.semantics() == Semantics::Python;
        let i = literal.as_int().filter(|_| is_weak)?;
        let TyKind::Int { bits, signed, .. } = t.kind() else { return None };
        if crate::emit::wrap_int(i, u32::from(*bits), *signed) == i {
            return None;
        }
        self.raise_text(exc::OVERFLOW_ERROR, &format!("Python integer {i} out of bounds for {t}"));
        self.dead = true;
        Some(Val::of_type(Ty::never()))
    }

    /// An operator on two numbers of the type in which it computes.
    fn binary_same(&mut self, op: BinOp, x: &Val, y: &Val, t: Ty) -> Result<Val> {
        let plain = match op {
            BinOp::Add => Some("add"),
            BinOp::Sub => Some("sub"),
            BinOp::Mul => Some("mul"),
            BinOp::And => Some("and"),
            BinOp::Or => Some("or"),
            BinOp::Xor => Some("xor"),
            _ => None,
        };
        let args = [x.clone(), y.clone()];
        if let Some(name) = plain.filter(|_| !t.is_complex()) {
            if self.options.overflow_check && t.is_int() && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
                let over = self.op(&format!("{name}_ovf"), &args);
                self.raise_if(&over, exc::OVERFLOW_ERROR, "integer overflow");
            }
            return Ok(self.op(name, &args));
        }
        if op == BinOp::TrueDiv && t.is_float() {
            if !self.options.numpy_errors {
                let zero = Val::constant(Const::Float(0.0, t));
                let is_zero = self.op("eq", &[y.clone(), zero]);
                self.raise_if(&is_zero, exc::ZERO_DIVISION_ERROR, "division by zero");
                if self.dead {
                    return Ok(Val::of_type(Ty::never()));
                }
            }
            return Ok(self.op("fdiv", &args));
        }
        if op == BinOp::Pow && t.is_float() && !t.is_half() {
            return Ok(self.float_power(x, y, t));
        }
        let is_checked = op == BinOp::LShift && self.options.overflow_check;
        if let (BinOp::LShift | BinOp::RShift, Some(n), false) = (op, y.as_int(), is_checked) {
            if (0..i128::from(t.bits())).contains(&n) {
                return Ok(self.op(if op == BinOp::LShift { "shl" } else { "shr" }, &args));
            }
        }
        if matches!(op, BinOp::LShift | BinOp::RShift) && self.semantics() == Semantics::Numba {
            let name = if op == BinOp::LShift { "scalars.shifted_left" } else { "scalars.shifted_right" };
            return self.call_library(name, &args);
        }
        if let (BinOp::FloorDiv | BinOp::Mod, Some(n), TyKind::Int { signed, .. }) = (op, y.as_int(), t.kind()) {
            if !signed && n != 0 {
                return Ok(self.op(if op == BinOp::Mod { "srem" } else { "sdiv" }, &args));
            }
            // A shift or mask is visible to passes, and shorter than LLVM's correction of a truncating division. On
            // GPUs, the remainder stays an operation with few bits.
            let power = n > 0 && n.count_ones() == 1;
            if power && op == BinOp::FloorDiv {
                return Ok(self.op("shr", &[x.clone(), Val::constant(Const::Int(n.trailing_zeros().into(), t))]));
            }
            if power && self.options.device != Device::Gpu {
                return Ok(self.op("and", &[x.clone(), Val::constant(Const::Int(n - 1, t))]));
            }
        }
        if t.is_half() {
            let [x, y] = args.map(|a| self.cast(&a, Ty::f32()));
            let wide = self.binary_same(op, &x, &y, Ty::f32())?;
            return Ok(self.cast(&wide, t));
        }
        self.call_library(&format!("operator.{}", operator_name(op)), &args)
    }

    /// `x ** y`. As with a quotient, the test for zero is visible to passes.
    fn float_power(&mut self, x: &Val, y: &Val, t: Ty) -> Val {
        if !self.options.numpy_errors {
            let zero = Val::constant(Const::Float(0.0, t));
            let [is_zero, is_negative] =
                [("eq", x), ("lt", y)].map(|(name, v)| self.op(name, &[v.clone(), zero.clone()]));
            let is_refused = self.both(&is_negative, &is_zero);
            self.raise_if(&is_refused, exc::ZERO_DIVISION_ERROR, "0.0 cannot be raised to a negative power");
            if self.dead {
                return Val::of_type(Ty::never());
            }
        }
        self.op("pow", &[x.clone(), y.clone()])
    }

    /// `x ** n` for a small constant integer, by multiplication; see [`most_factors`].
    fn power_by_constant(&mut self, a: &Val, b: &Val) -> Result<Option<Val>> {
        let Some(n) = b.as_int().filter(|_| b.ty.is_int()) else { return Ok(None) };
        let t = self.scalar_type(BinOp::Pow, a.ty, b.ty);
        if n < 0 && t.is_int() && t.is_weak() && self.semantics() == Semantics::Python {
            let (x, y) = (self.cast(a, Ty::float()), self.cast(b, Ty::float()));
            return self.binary_same(BinOp::Pow, &x, &y, Ty::float()).map(Some);
        }
        if !(0..=most_factors(t)).contains(&n) || self.options.overflow_check {
            return Ok(None);
        }
        let mut square = self.cast(a, t);
        let mut result = self.cast(&Val::int(1), t);
        let (mut n, mut first) = (n, true);
        while n > 0 {
            if n & 1 == 1 {
                result = if first { square.clone() } else { self.binary_same(BinOp::Mul, &result, &square, t)? };
                first = false;
            }
            n >>= 1;
            if n > 0 {
                square = self.binary_same(BinOp::Mul, &square.clone(), &square, t)?;
            }
        }
        Ok(Some(result))
    }

    /// The scalar kernel of an operator between array elements of the type in which it computes.
    pub(crate) fn binary_kernel(&mut self, op: BinOp, t: Ty) -> Result<Kernel> {
        let logical = t.is_bool();
        let name = match op {
            BinOp::Add if logical => "or",
            BinOp::Mul if logical => "and",
            BinOp::Sub if logical => return Err(self.no_op("-", t, t).note("use `^` or np.logical_xor")),
            BinOp::Add | BinOp::Sub | BinOp::Mul if t.is_int() && self.options.overflow_check => {
                return self.library_kernel(&format!("operator.{}", operator_name(op)), &[t, t]);
            }
            BinOp::Add if !t.is_complex() => "add",
            BinOp::Sub if !t.is_complex() => "sub",
            BinOp::Mul if !t.is_complex() => "mul",
            BinOp::TrueDiv if t.is_float() => "fdiv",
            BinOp::And | BinOp::Or | BinOp::Xor if t.is_int() || logical => match op {
                BinOp::And => "and",
                BinOp::Or => "or",
                _ => "xor",
            },
            BinOp::And | BinOp::Or | BinOp::Xor | BinOp::LShift | BinOp::RShift if !t.is_int() => {
                return Err(self.no_op(op.symbol(), t, t));
            }
            _ => return self.library_kernel(&format!("operator.{}", operator_name(op)), &[t, t]),
        };
        Ok(Kernel::Row(row(name), t))
    }

    /// A library function specialised for element types, with NumPy's treatment of division by zero.
    pub(crate) fn library_kernel(&mut self, path: &str, tys: &[Ty]) -> Result<Kernel> {
        // Numba's own loops raise as its operators do.
        let own = self.numba_override(path);
        let numpy_errors = own.is_none() || self.options.numpy_errors;
        let Some(f) = own.or_else(|| self.world.library(path).map(|(f, _)| f)) else {
            lh_ir::bug!("no library function `{path}`")
        };
        let args: Vec<ArgTy> = tys.iter().map(|t| ArgTy::from(*t)).collect();
        let options = lh_ir::func::Options { numpy_errors, ..self.options };
        let spec = self.world.specialise(f, &args, options)?;
        Ok(Kernel::Spec(spec.id, spec.ret))
    }

    fn binary_arrays(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        let (ta, tb) = (element(a.ty), element(b.ty));
        if ta.is_time() || tb.is_time() {
            return self.binary_times(op, a, b, inplace);
        }
        let t = self.elementwise_type(Some(op), ta, tb).ok_or_else(|| self.no_op(op.symbol(), a.ty, b.ty))?;
        if op == BinOp::Pow {
            if let Some(n) = b.as_int().filter(|n| b.ty.is_int() && (0..=most_factors(t).min(16)).contains(n)) {
                let x = MapExpr::Cast(t, Box::new(MapExpr::Arg(0, ta)));
                let expr = self.power_expr(x, n, t)?;
                return self.finish_map(&[a.clone()], t, expr, a, inplace, "**");
            }
        }
        let is_reduced = op == BinOp::Pow && t.is_float() && !t.is_half() && b.as_const().is_some();
        let kernel = if is_reduced { Kernel::Row(row("pow"), t) } else { self.binary_kernel(op, t)? };
        let [a, b] = &match (a.ty.is_array(), b.ty.is_array()) {
            (true, false) => [a.clone(), self.fitted_scalar(b, a, t)?],
            (false, true) => [self.fitted_scalar(a, b, t)?, b.clone()],
            _ => [a.clone(), b.clone()],
        };
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        let (ta, tb) = (element(a.ty), element(b.ty));
        let args = vec![cast_expr(t, MapExpr::Arg(0, ta)), cast_expr(t, MapExpr::Arg(1, tb))];
        self.finish_map(&[a.clone(), b.clone()], kernel.ret(), kernel.expr(args), a, inplace, op.symbol())
    }

    /// A number that meets the elements of an array, in the type that both have.
    fn fitted_scalar(&mut self, x: &Val, array: &Val, t: Ty) -> Result<Val> {
        if self.literal_out_of_range(x, array, t).is_some() || !x.ty.is_int() || !t.is_int() {
            return Ok(x.clone());
        }
        self.fitted(x, array, t)
    }

    fn power_expr(&mut self, x: MapExpr, n: i128, t: Ty) -> Result<MapExpr> {
        let one = crate::emit::cast_const(&Const::Int(1, Ty::int()), t).expect("a number");
        let mul = self.binary_kernel(BinOp::Mul, t)?;
        let x = if let MapExpr::Cast(t, inner) = x { cast_expr(t, *inner) } else { x };
        Ok((1..n).fold(if n == 0 { MapExpr::Const(one) } else { x.clone() }, |acc, _| mul.expr(vec![acc, x.clone()])))
    }

    fn finish_map(
        &mut self,
        args: &[Val],
        ret: Ty,
        expr: MapExpr,
        dst: &Val,
        inplace: bool,
        sign: &str,
    ) -> Result<Val> {
        if !(inplace && dst.ty.is_array()) {
            return Ok(self.map(args, ret, expr));
        }
        let (dt, ..) = dst.ty.as_array().expect("an array");
        if rank(ret) > rank(dt) {
            return Err(self
                .no_op(&format!("{sign}="), dst.ty, ret)
                .note(format!("the result is `{ret}`, which does not fit into an array of `{dt}`")));
        }
        self.check_writable(dst.ty)?;
        let expr = self.fit_expr(dt, expr)?;
        self.map_into(dst, args, expr);
        Ok(dst.clone())
    }

    /// An elementwise computation into a new array; all-0-d operands give a scalar.
    pub(crate) fn map(&mut self, args: &[Val], ret: Ty, expr: MapExpr) -> Val {
        let shapes: Vec<_> = args.iter().filter_map(|a| a.ty.as_array()).collect();
        let ndim = shapes.iter().map(|s| s.1).max().unwrap_or(0);
        // An operand that varies along one axis at most says nothing about the order of axes.
        let mut with_order = shapes.iter().filter(|s| s.1 > 1).peekable();
        let fortran = with_order.peek().is_some() && with_order.all(|s| s.1 == ndim && s.2 == lh_ir::Layout::F);
        let layout = if fortran { lh_ir::Layout::F } else { lh_ir::Layout::C };
        let ty = Ty::array(ret, ndim, layout);
        let expr = cast_expr_from(ret, ret.strong(), expr);
        let vs = args.iter().map(|a| self.value(a)).collect();
        let result = self.push(Inst::Map(Box::new(expr), vs), ty);
        if ndim == 0 { self.load_item(&result, &[], ret.strong()) } else { result }
    }

    /// An elementwise computation into an existing array.
    pub(crate) fn map_into(&mut self, dst: &Val, args: &[Val], expr: MapExpr) {
        let vs = std::iter::once(dst).chain(args).map(|a| self.value(a)).collect();
        self.push_void(Inst::MapInto(Box::new(expr), vs));
    }
}

/// A type for messages.
/// The refusal of a sign that a type does not have.
fn unary_sign(op: UnOp) -> &'static str {
    match op {
        UnOp::Neg => "-",
        UnOp::Pos => "+",
        UnOp::Invert | UnOp::Not => "~",
    }
}

fn no_unary(op: UnOp, t: Ty) -> Box<Diagnostic> {
    let d = Diagnostic::new(diag::NO_MATCHING_OP, format!("unary `{}` is not supported for `{t}`", unary_sign(op)));
    match t.as_array() {
        Some((dtype, ..)) if dtype.is_bool() => d.note("negate truth values by `~a`"),
        _ => d,
    }
}

fn name_of(t: Ty) -> String {
    match t.kind() {
        TyKind::Obj(_) => "a Python object".to_owned(),
        _ => t.to_string(),
    }
}

/// The most factors of a power that is a product: of floats those whose rounding is within a unit of the power's.
fn most_factors(t: Ty) -> i128 {
    match t.kind() {
        TyKind::Int { .. } => 64,
        _ if t.is_half() => 2,
        _ if t.is_float() => 3,
        _ => 16,
    }
}

/// Element type of an array, or the type itself.
pub(crate) fn element(t: Ty) -> Ty {
    t.as_array().map_or(t, |(d, ..)| d)
}

/// A row inside an elementwise expression; of `float16` and `bfloat16` as everywhere, in `float32` and rounded.
pub(crate) fn row_expr(op: &'static Op, ret: Ty, args: Vec<MapExpr>) -> MapExpr {
    if !args.iter().any(|e| e.ty().is_half()) {
        return MapExpr::Op(op, ret, args);
    }
    let wide = |e: MapExpr| if e.ty().is_half() { cast_expr(Ty::f32(), e) } else { e };
    let single = if ret.is_half() { Ty::f32() } else { ret };
    cast_expr(ret, MapExpr::Op(op, single, args.into_iter().map(wide).collect()))
}

/// A conversion inside an elementwise expression, left out where it changes nothing.
pub(crate) fn cast_expr(t: Ty, e: MapExpr) -> MapExpr {
    cast_expr_from(e.ty(), t, e)
}

fn cast_expr_from(from: Ty, t: Ty, e: MapExpr) -> MapExpr {
    if from == t { e } else { MapExpr::Cast(t, Box::new(e)) }
}

fn is_bytes(v: &Val) -> bool {
    matches!(v.ty.as_buffer(), Some(Buffer::Bytes | Buffer::ByteArray))
}
