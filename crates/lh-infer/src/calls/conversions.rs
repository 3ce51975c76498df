//! Calls of number types: `int(x)`, `np.float32(a)`, `complex(re, im)`.

use crate::cx::Infer;
use crate::operations::operators::cast_expr;
use crate::val::{Known, Val};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::MapExpr;
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::untyped::BinOp;
use lh_ir::{Const, Ty};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// `int(x)`, `np.float32(x)` and the like.
    pub(super) fn call_dtype(&mut self, t: Ty, args: &[Val]) -> Result<Val> {
        if matches!(t.kind(), TyKind::Record(_)) {
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, "records are not made by calling their dtype")
                .note("make an array of them, `np.zeros(1, dtype)[0]`"));
        }
        if let ([x], true) = (args, t.is_weak() || t.is_bool()) {
            let name = if t.is_bool() { "bool".to_owned() } else { t.to_string() };
            if let Some(v) = self.struct_operation("builtins", &name, &[x])? {
                return Ok(v);
            }
        }
        let zero = crate::emit::cast_const(&Const::Int(0, Ty::int()), t);
        let Some(x) = args.first() else {
            return zero.map(|c| Val::known(t, Known::Const(c))).ok_or_else(|| self.no_conversion(t, Ty::none()));
        };
        let x = &self.unwrap_optional(x)?;
        let of_time = if args.len() == 1 { self.call_time_dtype(t, x)? } else { None };
        if let Some(v) = of_time.map_or_else(|| self.user_number(t, args), |v| Ok(Some(v)))? {
            return Ok(v);
        }
        if matches!(x.ty.kind(), TyKind::Instance { .. }) {
            return if t.is_bool() { self.truth(x) } else { Err(self.no_conversion(t, x.ty)) };
        }
        if let (true, [_, im]) = (t.is_complex(), args) {
            return self.complex_of(t, x, im);
        }
        if let ([_, base], true) = (args, t == Ty::int() && x.ty == Ty::str()) {
            return self.call_library("strings.int_of_digits", &[x.clone(), base.clone()]);
        }
        if args.len() > 1 {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{t}` takes one argument")));
        }
        if x.ty.is_array() && t.is_weak() {
            let item = self.call_library("numpy.methods.only_item", std::slice::from_ref(x))?;
            return self.call_dtype(t, &[item]);
        }
        if let Some((d, ndim, ..)) = x.ty.as_array() {
            return self.call_dtype_of_array(t, x, d, ndim);
        }
        if x.ty == Ty::str() {
            return self.number_of_text(t, x);
        }
        // NumPy's classes of numbers make arrays of sequences.
        let is_sequence = x.ty.is_tuple() || matches!(x.ty.kind(), TyKind::Class(ClassTy { items: Some(_), .. }));
        if is_sequence && !t.is_weak() && !t.is_bool() {
            return self.call_library("numpy.asarray", &[x.clone(), Val::of_type(Ty::dtype(t))]);
        }
        if t.is_bool() {
            return self.truth(x);
        }
        if !x.ty.is_number() || (x.ty.is_complex() && !t.is_complex()) {
            return Err(self.no_conversion(t, x.ty));
        }
        if self.keeps_width(t, x.ty) {
            return Ok(if t.is_complex() { self.cast(x, Ty::c64()) } else { x.clone() });
        }
        if t.is_int() && t.is_weak() && x.ty.is_float() {
            return self.call_library("scalars.int_of_float", std::slice::from_ref(x));
        }
        Ok(self.cast(x, t))
    }

    fn call_dtype_of_array(&mut self, t: Ty, x: &Val, dtype: Ty, ndim: usize) -> Result<Val> {
        if !dtype.is_number() {
            return Err(self.no_conversion(t, x.ty));
        }
        if ndim == 0 {
            let item = self.load_item(x, &[], dtype);
            return self.call_dtype(t, &[item]);
        }
        let expr = cast_expr(t.strong(), MapExpr::Arg(0, dtype));
        Ok(self.map(std::slice::from_ref(x), t.strong(), expr))
    }

    /// `complex(re, im)`: of complex numbers, `re + 1j * im`.
    fn complex_of(&mut self, t: Ty, re: &Val, im: &Val) -> Result<Val> {
        if let Some(odd) = [re, im].iter().find(|a| !a.ty.is_number()) {
            return Err(self.no_conversion(t, odd.ty));
        }
        if re.ty.is_complex() || im.ty.is_complex() {
            let i = Val::constant(Const::Complex(0.0, 1.0, t));
            let turned = self.binary(BinOp::Mul, im, &i, false)?;
            let sum = self.binary(BinOp::Add, re, &turned, false)?;
            return Ok(self.cast(&sum, t));
        }
        let (re, im) = (self.cast(re, t.real_part()), self.cast(im, t.real_part()));
        Ok(self.pack(vec![re, im], t))
    }

    fn number_of_text(&mut self, t: Ty, x: &Val) -> Result<Val> {
        match t.kind() {
            TyKind::Int { .. } => {
                let i = self.runtime(&rt::lh_str_to_i64, &[x.clone(), Val::int(10)], Ty::int())?;
                Ok(self.cast(&i, t))
            }
            TyKind::Float { .. } | TyKind::Bfloat16 => {
                let f = self.runtime(&rt::lh_str_to_f64, &[x.clone()], Ty::float())?;
                Ok(self.cast(&f, t))
            }
            TyKind::Bool => self.truth(x),
            _ => Err(self.no_conversion(t, x.ty)),
        }
    }

    pub(super) fn no_conversion(&self, t: Ty, from: Ty) -> Box<Diagnostic> {
        Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{from}` cannot be converted to `{t}`"))
    }
}
