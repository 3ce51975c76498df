//! Calls of number types: `int(x)`, `np.float32(a)`, `complex(re, im)`.

use crate::cx::Infer;
use crate::operations::operators::cast_expr;
use crate::val::{Known, Val};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, MapExpr, Semantics};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::untyped::BinOp;
use lh_ir::{Const, Ty};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// `int(x)`, `np.float32(x)` and the like.
    pub(crate) fn call_dtype(&mut self, t: Ty, args: &[Val]) -> Result<Val> {
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
        if t.is_complex()
            && let Some(parts) = self.vector_parts(x)
        {
            let [re, im] = &parts[..] else { return Err(self.no_conversion(t, x.ty)) };
            return self.complex_of(if self.keeps_width(t, re.ty) { Ty::c64() } else { t }, re, im);
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
        self.number_of(t, x)
    }

    /// A number of type `t` of a number of another type.
    fn number_of(&mut self, t: Ty, x: &Val) -> Result<Val> {
        if !x.ty.is_number() || (x.ty.is_complex() && !t.is_complex()) {
            return Err(self.no_conversion(t, x.ty));
        }
        if self.keeps_width(t, x.ty) {
            return Ok(if t.is_complex() { self.cast(x, Ty::c64()) } else { x.clone() });
        }
        if t.is_int() && t.is_weak() && x.ty.is_float() {
            return self.call_library("scalars.int_of_float", std::slice::from_ref(x));
        }
        if self.is_library {
            return Ok(self.cast(x, t));
        }
        // To NumPy's types, a Python integer fits, or raises.
        let is_pythons = x.ty.is_weak() && x.ty.is_int() && t.is_int() && !t.is_weak();
        if is_pythons && self.options.device == Device::Host && self.semantics() == Semantics::Python {
            return self.fitting_int(x, t);
        }
        self.fit(x, t)
    }

    /// A Python integer in a type of NumPy's, or an OverflowError.
    fn fitting_int(&mut self, x: &Val, t: Ty) -> Result<Val> {
        if self.literal_out_of_range(x, &Val::of_type(t), t).is_some() {
            return Ok(Val::of_type(Ty::never()));
        }
        if x.as_int().is_some() || t == Ty::i64() {
            return Ok(self.cast(x, t));
        }
        self.fitted_int(x, t)
    }

    /// A conversion, under `overflow="check"` of what has to fit.
    pub(crate) fn fit(&mut self, x: &Val, t: Ty) -> Result<Val> {
        if !self.may_not_fit(x.ty, t) {
            return Ok(self.cast(x, t));
        }
        let like = self.cast(&Val::int(0), t);
        self.call_library("conversions.fitting", &[x.clone(), like])
    }

    /// As [`Infer::fit`], of an element.
    pub(crate) fn fit_expr(&mut self, t: Ty, e: MapExpr) -> Result<MapExpr> {
        if !self.may_not_fit(e.ty(), t) {
            return Ok(cast_expr(t, e));
        }
        let kernel = self.library_kernel("conversions.fitting", &[e.ty(), t])?;
        let like = crate::emit::cast_const(&Const::Int(0, Ty::int()), t).expect("a number");
        Ok(kernel.expr(vec![e, MapExpr::Const(like)]))
    }

    /// Whether a conversion raises if the number does not fit.
    fn may_not_fit(&self, from: Ty, to: Ty) -> bool {
        let (mine, others) = (from.bits(), to.bits());
        let holds = match (from.is_signed(), to.is_signed()) {
            (true, true) | (false, false) => mine <= others,
            (false, true) => mine < others,
            (true, false) => false,
        };
        self.options.overflow_check && to.is_int() && (from.is_float() || from.is_int() && !holds)
    }

    fn call_dtype_of_array(&mut self, t: Ty, x: &Val, dtype: Ty, ndim: usize) -> Result<Val> {
        if !dtype.is_number() {
            return Err(self.no_conversion(t, x.ty));
        }
        if ndim == 0 {
            let item = self.load_item(x, &[], dtype);
            return self.call_dtype(t, &[item]);
        }
        let expr = self.fit_expr(t.strong(), MapExpr::Arg(0, dtype))?;
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
