//! Points and spans of time, `datetime64` and `timedelta64`: their units are types, so that inference computes with
//! units; what is computed with ticks is in `lib/times.py`.

use crate::cx::Infer;
use crate::operations::comparisons::compare_name;
use crate::operations::operators::{Kernel, element, operator_name, operator_path};
use crate::val::Val;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, MapExpr};
use lh_ir::time_unit::{BASES, TimeUnit};
use lh_ir::untyped::{BinOp, CmpOp};
use lh_ir::{Const, Ty};

/// The type of points or spans of which both are; points and spans have none.
pub(crate) fn promote(a: Ty, b: Ty) -> Option<Ty> {
    match (a.as_time(), b.as_time()) {
        (Some(s), Some(t)) if s.1 == t.1 => Some(TimeUnit::common(s, t)?.ty(s.1)),
        // A number becomes a span in the unit of the other.
        (Some((_, true)), None) if b.is_int() || b.is_bool() => Some(a),
        (None, Some((_, true))) if a.is_int() || a.is_bool() => Some(b),
        _ => None,
    }
}

impl Infer<'_> {
    /// Questions of the library about types of points and spans, and values of such.
    pub(crate) fn prim_time(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let dtype = |t: Ty| Val::of_type(Ty::dtype(t));
        let ty = |v: &Val| match v.ty.kind() {
            lh_ir::TyKind::DType(t) => *t,
            _ => element(v.ty),
        };
        let unit = |v: &Val| ty(v).as_time().unwrap_or_else(|| lh_ir::bug!("`{}` has no unit", v.ty));
        Ok(Some(match (name, args) {
            ("unit", [x]) => Val::str(unit(x).0.parts().0),
            ("unit_count", [x]) => Val::int(i128::from(unit(x).0.parts().1)),
            ("span_of", [x]) => dtype(unit(x).0.ty(true)),
            ("point_of", [x]) => dtype(unit(x).0.ty(false)),
            // The type of spans in a unit by its name; none for what is no unit.
            ("span_in", [name]) => span_in(name)?,
            ("common_unit", [a, b]) => match TimeUnit::common(unit(a), unit(b)) {
                Some(common) => dtype(common.ty(true)),
                None => Val::constant(Const::None),
            },
            ("unit_factor", [from, to]) => match unit(from).0.factor(unit(to).0) {
                Some((num, denom)) => Val::tuple(vec![Val::int(num.into()), Val::int(denom.into())]),
                None => Val::constant(Const::None),
            },
            ("time", [ticks, t]) => {
                let ticks = self.cast(ticks, Ty::int());
                self.pack(vec![ticks], ty(t))
            }
            _ => return Ok(None),
        }))
    }

    /// A conversion of elements, of which some are points or spans. It gets a value of the target's type as one more
    /// operand.
    pub(crate) fn time_expr(&mut self, to: Ty, expr: MapExpr, args: &mut Vec<Val>) -> Result<MapExpr> {
        if expr.ty() == to {
            return Ok(expr);
        }
        if !to.is_time() && !expr.ty().is_time() {
            return self.fit_expr(to, expr);
        }
        let kernel = self.library_kernel("times.like", &[expr.ty(), to])?;
        let like = self.push(Inst::Zero, to);
        args.push(like);
        Ok(kernel.expr(vec![expr, MapExpr::Arg(args.len() as u32 - 1, to)]))
    }

    /// An operator on elements of which some are points or spans.
    pub(crate) fn binary_times(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        let kernel = self.time_kernel(operator_name(op).trim_matches('_'), op.symbol(), a, b)?;
        let expr = kernel.expr(operands(a, b));
        let mut args = vec![a.clone(), b.clone()];
        let Some((to, ..)) = a.ty.as_array().filter(|_| inplace) else {
            return Ok(self.map(&args, kernel.ret(), expr));
        };
        self.check_writable(a.ty)?;
        if to.as_time().map(|t| t.1) != kernel.ret().as_time().map(|t| t.1) {
            return Err(self.no_op(&format!("{}=", op.symbol()), a.ty, b.ty));
        }
        let expr = self.time_expr(to, expr, &mut args)?;
        self.map_into(a, &args, expr);
        Ok(a.clone())
    }

    /// A comparison of elements of which some are points or spans.
    pub(crate) fn compare_times(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let kernel = self.time_kernel(compare_name(op), op.symbol(), a, b)?;
        Ok(self.map(&[a.clone(), b.clone()], Ty::bool(), kernel.expr(operands(a, b))))
    }

    fn time_kernel(&mut self, name: &str, symbol: &str, a: &Val, b: &Val) -> Result<Kernel> {
        let path = format!("times.{name}");
        if self.world.library(&path).is_none() {
            return Err(self.no_op(symbol, a.ty, b.ty));
        }
        self.library_kernel(&path, &[element(a.ty), element(b.ty)]).map_err(|d| self.found_here(d))
    }

    /// An error of the library is one of the operation that the program has written.
    fn found_here(&self, mut d: Box<Diagnostic>) -> Box<Diagnostic> {
        if !self.is_library {
            d = d.at(&self.code.file, self.span);
            d.trail.clear();
        }
        d
    }

    /// A ufunc of points or spans, if the library has it for them; operators are called by their names elsewhere.
    pub(crate) fn call_time_ufunc(
        &mut self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        let name = path.strip_prefix("numpy.").filter(|_| args.iter().any(|a| element(a.ty).is_time()));
        let Some(name) = name.filter(|_| kwargs.iter().all(|(k, _)| k == "out")) else { return Ok(None) };
        let outs = kwargs.first().map_or(Vec::new(), |(_, out)| self.outputs(out));
        let own = format!("times.ufunc_{name}");
        let Some((f, _)) = self.world.library(&own) else {
            let is_ufunc = operator_path(path, name).is_none() && self.operand_count(path)?.is_some();
            let text = || format!("`{path}` is not defined for points and spans of time");
            return if is_ufunc { Err(Diagnostic::new(diag::NO_MATCHING_CALL, text())) } else { Ok(None) };
        };
        let takes = self.world.code(f)?.params.len();
        let args = self.as_arrays(Some(takes), args)?;
        let Some((ins, more)) = args.split_at_checked(takes) else { return Ok(None) };
        let out = outs.first().or(more.first()).filter(|out| !out.ty.is_none());
        if out.is_none() && !ins.iter().any(|a| a.ty.is_array()) {
            return self.call_func(f, ins, &[]).map(Some);
        }
        let tys: Vec<Ty> = ins.iter().map(|a| element(a.ty)).collect();
        let kernel = self.library_kernel(&own, &tys).map_err(|d| self.found_here(d))?;
        if let Some(results) = kernel.ret().tuple_elems() {
            return self.call_several(f, ins, &tys, results, &outs).map(Some);
        }
        let expr = kernel.expr(tys.iter().enumerate().map(|(i, t)| MapExpr::Arg(i as u32, *t)).collect());
        self.map_out(ins, kernel.ret(), expr, out).map(Some)
    }

    /// `np.datetime64(...)` and `np.timedelta64(...)`. A constant text is read while compiling.
    pub(crate) fn make_time(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if let (Some(Const::Str(text)), []) = (args.first().and_then(Val::as_const), kwargs) {
            if ["now", "today"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
                let text = format!("`{path}({text:?})` depends on when it is computed");
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("compute it outside and pass it in"));
            }
            let constants: Option<Vec<_>> = args.iter().map(|a| a.as_const().cloned()).collect();
            let class = self.world.import("numpy", path.strip_prefix("numpy."));
            let objects: Option<Vec<_>> =
                constants.map(|all| all.iter().map(|c| self.world.object_of(c)).collect::<Vec<_>>());
            let made = class.zip(objects).and_then(|(class, args)| self.world.fold_call(class, &args));
            match made {
                Some(o) => return self.object(o),
                // The library raises what NumPy does, if the unit of the result is known.
                None if args.len() > 1 => {}
                None => {
                    let text = format!("`{path}` does not understand {text:?}");
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
            }
        }
        let name = if path == lh_ir::time_unit::TIMEDELTA { "make_span" } else { "make_point" };
        let Some((f, _)) = self.world.library(&format!("times.{name}")) else { lh_ir::bug!("no `{name}`") };
        let args: Vec<Val> = args.iter().map(unit_of_pair).collect();
        let kwargs: Vec<_> = kwargs.iter().map(|(name, v)| (name.clone(), unit_of_pair(v))).collect();
        self.call_func(f, &args, &kwargs)
    }

    /// `int(x)` and the like of a time or an array of times, or to one; `None` of anything else.
    pub(crate) fn call_time_dtype(&mut self, t: Ty, x: &Val) -> Result<Option<Val>> {
        if x.ty.is_time() && t.is_bool() {
            return self.truth(x).map(Some);
        }
        if !element(x.ty).is_time() && !t.is_time() {
            return Ok(None);
        }
        self.call_library("times.called", &[x.clone(), Val::of_type(Ty::dtype(t))]).map(Some)
    }

    /// A constant point or span.
    pub(crate) fn time_constant(&mut self, ticks: i64, ty: Ty) -> Val {
        self.pack(vec![Val::int(i128::from(ticks))], ty)
    }
}

/// Whether points or spans of a type are instances of a class of NumPy's: spans are integers to it.
pub(crate) fn is_of_class(t: Ty, path: &str) -> bool {
    let spans = ["numpy.signedinteger", "numpy.integer", "numpy.number"];
    t.as_time().is_some_and(|(_, is_span)| path == "numpy.generic" || is_span && spans.contains(&path))
}

/// Whether NumPy compares values: two points, or spans and integers.
pub(crate) fn are_like(a: Ty, b: Ty) -> bool {
    let kind = |t: Ty| match t.as_time() {
        Some((_, is_span)) => Some(is_span),
        None => (t.is_int() || t.is_bool()).then_some(true),
    };
    kind(a).is_some() && kind(a) == kind(b)
}

/// A unit that is given as a pair, `("s", 10)`, as a text.
fn unit_of_pair(v: &Val) -> Val {
    match v.parts() {
        Some([name, count]) if name.as_str().is_some() && count.as_int().is_some() => {
            Val::str(format!("{}{}", count.as_int().unwrap_or(1), name.as_str().unwrap_or_default()))
        }
        _ => v.clone(),
    }
}

/// The type of spans in a unit by its name.
fn span_in(name: &Val) -> Result<Val> {
    let Some(name) = name.as_str() else {
        let text = "the unit of a time must be known while compiling";
        return Err(Diagnostic::new(diag::NEEDS_CONSTANT, text).note("write it as a text: `\"s\"`"));
    };
    let Some(unit) = TimeUnit::parse(name) else {
        let note = format!("units are {}", BASES[..BASES.len() - 1].join(" "));
        return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{name}` is no unit of time")).note(note));
    };
    Ok(Val::of_type(Ty::dtype(unit.ty(true))))
}

fn operands(a: &Val, b: &Val) -> Vec<MapExpr> {
    vec![MapExpr::Arg(0, element(a.ty)), MapExpr::Arg(1, element(b.ty))]
}
