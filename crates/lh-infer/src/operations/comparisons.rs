//! Comparisons, identity and membership.

use crate::cx::Infer;
use crate::emit::row;
use crate::operations::alternatives::{class_name, type_error};
use crate::operations::iterators::{is_description, is_generator};
use crate::operations::operators::{Kernel, cast_expr, element};
use crate::val::Val;
use lh_ir::diag::{Diagnostic, Result};
use lh_ir::func::{Inst, MapExpr, Semantics};
use lh_ir::types::TyKind;
use lh_ir::untyped::{CmpOp, UnOp};
use lh_ir::{Const, Ty};
use lh_ops::runtime as rt;

/// Whether a value says itself what it is equal to, whatever the type of the other.
fn compares_alone(t: Ty) -> bool {
    t.is_array() || matches!(t.kind(), TyKind::Record(_) | TyKind::Exc | TyKind::Iter(_) | TyKind::PyObject)
}

pub(crate) fn compare_name(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => "eq",
        CmpOp::Ne => "ne",
        CmpOp::Lt => "lt",
        CmpOp::Le => "le",
        CmpOp::Gt => "gt",
        CmpOp::Ge => "ge",
    }
}

/// The comparison of an `operator` function's name.
pub(crate) fn comparison_of(name: &str) -> Option<CmpOp> {
    [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge].into_iter().find(|op| compare_name(*op) == name)
}

/// Whether a comparison holds if one side, the first or the second, is below all values of the other's type.
fn below_all(op: CmpOp, is_first: bool) -> bool {
    match op {
        CmpOp::Eq => false,
        CmpOp::Ne => true,
        CmpOp::Lt | CmpOp::Le => is_first,
        CmpOp::Gt | CmpOp::Ge => !is_first,
    }
}

impl Infer<'_> {
    /// Equality of dictionaries whose keys are known: that of their values, if the keys are the same.
    fn compare_entries(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let (own, other) = match (self.entries(a), self.entries(b)) {
            (Some(own), Some(other)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => (own, other),
            (Some(_), _) => return Err(self.no_dictionary(a)),
            (_, Some(_)) => return Err(self.no_dictionary(b)),
            (None, None) => return Ok(None),
        };
        let find = |key: &String| other.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone());
        let matching: Option<Vec<Val>> = own.iter().map(|(key, _)| find(key)).collect();
        let Some(matching) = matching.filter(|m| m.len() == other.len()) else {
            return Ok(Some(Val::bool(op == CmpOp::Ne)));
        };
        let values = Val::tuple(own.into_iter().map(|(_, v)| v).collect());
        self.compare(op, &values, &Val::tuple(matching)).map(Some)
    }

    /// A comparison that a program gives a meaning: by conversions to numbers, overloads, or methods of its classes.
    fn compare_as_programs_say(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        if [a, b].iter().any(|v| matches!(v.ty.kind(), TyKind::Choice(_))) {
            let raised = |x: &[Val], _: &Diagnostic| {
                let names = format!("'{}' and '{}'", class_name(&x[0]), class_name(&x[1]));
                type_error(format!("'{}' not supported between instances of {names}", op.symbol()))
            };
            let both = [a.clone(), b.clone()];
            return self.each(&both, &raised, &mut |own, x| own.own_compare(op, &x[0], &x[1])).map(Some);
        }
        if let Some((a, b)) = self.as_numbers(a, b)? {
            return self.compare(op, &a, &b).map(Some);
        }
        if let Some(v) = self.struct_operation("operator", compare_name(op), &[a, b])? {
            return Ok(Some(v));
        }
        self.named_call(a, &format!("__{}__", compare_name(op)), std::slice::from_ref(b))
    }

    pub(crate) fn compare(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let own = self.own_compare(op, a, b);
        self.or_overloaded(own, "operator", compare_name(op), &[a, b])
    }

    fn own_compare(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let whole = self.compare_none(op, a, b);
        if let Some(v) = whole.map_or_else(|| self.compare_entries(op, a, b), |v| Ok(Some(v)))? {
            return Ok(v);
        }
        self.check_not_of_exception(a, b)?;
        if let Some(v) = self.compare_optionals(op, a, b)? {
            return Ok(v);
        }
        let words = || format!("'{}' not supported between instances of ", op.symbol());
        let (a, b) = &self.unwrap_operands(a, b, words)?;
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        if a.ty.is_number() && b.ty.is_number() {
            return self.compare_numbers(op, a, b);
        }
        if let Some(v) = self.compare_as_programs_say(op, a, b)? {
            return Ok(v);
        }
        if let Some(v) = self.compare_records(op, a, b)? {
            return Ok(v);
        }
        if let Some(v) = self.compare_texts(op, a, b)? {
            return Ok(v);
        }
        let arrayish = |t: Ty| t.is_array() || t.is_scalar();
        if (a.ty.is_array() || b.ty.is_array()) && arrayish(a.ty) && arrayish(b.ty) {
            return self.compare_arrays(op, a, b);
        }
        if let Some((a, b)) = self.arrays_of(a, b)? {
            return self.compare_arrays(op, &a, &b);
        }
        if a.ty.class().is_some() || b.ty.class().is_some() {
            if let Some(v) = self.class_compare(op, a, b)? {
                return Ok(v);
            }
        }
        match (a.ty.kind(), b.ty.kind()) {
            (TyKind::Instance { .. }, TyKind::Instance { .. }) => self.compare_instances(op, a, b),
            (TyKind::Str, TyKind::Str) => self.compare_strings(op, a, b),
            (TyKind::Tuple { .. }, TyKind::Tuple { .. }) => self.compare_tuples(op, a, b),
            (TyKind::DType(x), TyKind::DType(y)) if equality => {
                Ok(Val::bool((x.strong() == y.strong()) == (op == CmpOp::Eq)))
            }
            (TyKind::Range(_), TyKind::Range(_)) if equality => {
                self.call_library(&format!("builtins.range.__{}__", compare_name(op)), &[a.clone(), b.clone()])
            }
            (TyKind::Slice(_), TyKind::Slice(_)) if equality => {
                let [a, b] = [a, b].map(|v| Val::tuple((0..3).map(|i| self.field(v, i)).collect()));
                self.compare_tuples(op, &a, &b)
            }
            _ if equality && a.ty == b.ty && a.ty.flatten().is_empty() => Ok(Val::bool(op == CmpOp::Eq)),
            (TyKind::DType(_), TyKind::Str) | (TyKind::Str, TyKind::DType(_)) if equality => {
                self.compare_dtype_text(op, a, b)
            }
            // Values of one type that are not compared above may be equal.
            _ if equality && a.ty != b.ty && ![a, b].iter().any(|v| compares_alone(v.ty)) => {
                Ok(Val::bool(op == CmpOp::Ne))
            }
            _ => Err(self.no_op(op.symbol(), a.ty, b.ty)),
        }
    }

    /// A dtype and its name.
    fn compare_dtype_text(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let named = [a, b].map(|v| match v.ty.kind() {
            TyKind::DType(t) => Val::str(t.strong().to_string()),
            _ => v.clone(),
        });
        self.compare_strings(op, &named[0], &named[1])
    }

    /// Comparing an optional with `None`.
    fn compare_none(&mut self, op: CmpOp, a: &Val, b: &Val) -> Option<Val> {
        let negate = match op {
            CmpOp::Eq => false,
            CmpOp::Ne => true,
            _ => return None,
        };
        // The class of an object decides whether it is equal to None.
        let is_object = |t: Ty| t.is_pyobject();
        if !a.ty.is_none() && !b.ty.is_none() || is_object(a.ty) || is_object(b.ty) {
            return None;
        }
        let x = if a.ty.is_none() { b } else { a };
        Some(self.is_none(x, negate))
    }

    /// `a == b` and `a != b` where one may be None, which is equal to None only; `None` of other operands.
    fn compare_optionals(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let inner = |v: &Val| if let TyKind::Optional(t) = v.ty.kind() { *t } else { v.ty };
        let is_value = |t: Ty| t.is_array() || t == Ty::exc();
        if !matches!(op, CmpOp::Eq | CmpOp::Ne)
            || (inner(a) == a.ty && inner(b) == b.ty)
            || is_value(inner(a))
            || is_value(inner(b))
        {
            return Ok(None);
        }
        let has = [a, b].map(|v| self.is_none(v, true));
        let (both, any) = (self.both(&has[0], &has[1]), self.either(&has[0], &has[1]));
        let none = self.unary(UnOp::Not, &any)?;
        let values = [a, b].map(|v| {
            if inner(v) == v.ty {
                return v.clone();
            }
            let x = self.value(v);
            self.push(Inst::Unwrap(x), inner(v))
        });
        let equal = if values.iter().all(|v| v.ty.native().is_number()) {
            // Where there is no value, the answer does not matter.
            let same = self.compare(CmpOp::Eq, &values[0], &values[1])?;
            let same = self.both(&both, &same);
            self.either(&same, &none)
        } else {
            self.compare_where_values(&both, &values, &none)?
        };
        if op == CmpOp::Ne { self.unary(UnOp::Not, &equal).map(Some) } else { Ok(Some(equal)) }
    }

    /// Whether values are equal where a condition holds; else another answer.
    fn compare_where_values(&mut self, condition: &Val, values: &[Val; 2], otherwise: &Val) -> Result<Val> {
        let (yes, no) = self.branch(condition);
        let after = self.new_block();
        self.cur = yes;
        let same = self.compare(CmpOp::Eq, &values[0], &values[1])?;
        let same = self.truth(&same)?;
        if !self.dead {
            self.jump(after, vec![same]);
        }
        self.dead = false;
        self.cur = no;
        self.jump(after, vec![otherwise.clone()]);
        self.cur = after;
        Ok(self.param(after, Ty::bool()))
    }

    /// `x is None`, or `x is not None`.
    pub(crate) fn is_none(&mut self, x: &Val, negate: bool) -> Val {
        match x.ty.kind() {
            TyKind::None => Val::bool(!negate),
            TyKind::Optional(_) => {
                let v = self.value(x);
                let has = self.push(Inst::IsSome(v), Ty::bool());
                if negate { has } else { self.op("not", &[has]) }
            }
            _ => Val::bool(negate),
        }
    }

    fn compare_numbers(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let name = compare_name(op);
        if a.ty.is_complex() || b.ty.is_complex() {
            if !matches!(op, CmpOp::Eq | CmpOp::Ne) {
                return Err(self.no_op(op.symbol(), a.ty, b.ty));
            }
            let t = self.compared_type(a.ty, b.ty);
            let (x, y) = (self.cast(a, t), self.cast(b, t));
            return self.call_library(&format!("operator.{name}"), &[x, y]);
        }
        let ints = |t: Ty| t.is_int() || t.is_bool();
        let unsigned64 = |t: Ty| t.bits() == 64 && t.is_int() && !t.is_signed();
        if ints(a.ty) && ints(b.ty) && a.ty != b.ty {
            return match (unsigned64(a.ty), unsigned64(b.ty)) {
                (false, false) => {
                    let (x, y) = (self.cast(a, Ty::i64()), self.cast(b, Ty::i64()));
                    Ok(self.op(name, &[x, y]))
                }
                (true, false) => Ok(self.compare_unsigned(name, a, b, true)),
                (false, true) => Ok(self.compare_unsigned(name, b, a, false)),
                (true, true) => Ok(self.op(name, &[a.clone(), b.clone()])),
            };
        }
        let t = self.compared_type(a.ty, b.ty);
        let (x, y) = (self.cast(a, t), self.cast(b, t));
        Ok(self.op(name, &[x, y]))
    }

    /// `uint64` against a signed integer, exactly: a negative one is below every unsigned one.
    fn compare_unsigned(&mut self, name: &str, u: &Val, s: &Val, u_first: bool) -> Val {
        let wide = self.cast(s, Ty::i64());
        let zero = Val::constant(Const::Int(0, Ty::i64()));
        let negative = self.op("lt", &[wide.clone(), zero]);
        let as_u = self.cast(&wide, Ty::u64());
        let args = if u_first { [u.clone(), as_u] } else { [as_u, u.clone()] };
        let usual = self.op(name, &args);
        let if_negative = match name {
            "ne" => true,
            "gt" | "ge" => u_first,
            "lt" | "le" => !u_first,
            _ => false,
        };
        if if_negative {
            self.op("or", &[negative, usual])
        } else {
            let not = self.op("not", &[negative]);
            self.op("and", &[not, usual])
        }
    }

    /// Arrays of integers beside what their type does not hold: a Python integer that is out of its range, or integers
    /// with a sign beside 64 bits without one. `None` where all values fit the type in which they would be compared.
    fn compare_integer_arrays(&mut self, op: CmpOp, a: &Val, b: &Val, t: Ty) -> Option<Val> {
        let ints = |t: Ty| t.is_int() || t.is_bool();
        let (ta, tb) = (element(a.ty), element(b.ty));
        if self.semantics() == Semantics::Numba || !ints(ta) || !ints(tb) {
            return None;
        }
        let scalar = |x: &Val, t: Ty| x.ty.is_int() && x.ty.is_weak() && t.is_int() && t.strong() != Ty::i64();
        if scalar(b, t) || scalar(a, t) {
            let is_first = scalar(a, t);
            let (array, x) = if is_first { (b, a) } else { (a, b) };
            return self.compare_with_integer(op, array, x, t, is_first);
        }
        let is_wide = |t: Ty| t == Ty::u64();
        if t != Ty::f64() || is_wide(ta) == is_wide(tb) {
            return None;
        }
        let [u, s] = if is_wide(ta) { [0, 1] } else { [1, 0] };
        let types = [ta, tb];
        let arg = |i: usize, to: Ty| cast_expr(to, MapExpr::Arg(i as u32, types[i]));
        let truth = |name: &str, args: Vec<MapExpr>| MapExpr::Op(row(name), Ty::bool(), args);
        let zero = MapExpr::Const(Const::Int(0, Ty::i64()));
        let negative = truth("lt", vec![arg(s, Ty::i64()), zero]);
        let unsigned = |i: usize| match i == u {
            true => arg(i, Ty::u64()),
            false => MapExpr::Cast(Ty::u64(), Box::new(arg(i, Ty::i64()))),
        };
        let usual = truth(compare_name(op), vec![unsigned(0), unsigned(1)]);
        let expr = match below_all(op, s == 0) {
            true => truth("or", vec![negative, usual]),
            false => truth("and", vec![truth("not", vec![negative]), usual]),
        };
        Some(self.map(&[a.clone(), b.clone()], Ty::bool(), expr))
    }

    /// An array of integers and a Python integer, which may be out of the range of these.
    fn compare_with_integer(&mut self, op: CmpOp, array: &Val, x: &Val, t: Ty, is_first: bool) -> Option<Val> {
        let narrow = self.cast(x, t);
        let (back, zero) = (self.cast(&narrow, Ty::int()), Val::int(0));
        let negative = self.op("lt", &[x.clone(), zero]);
        let same = self.op("eq", &[back, x.clone()]);
        let fits = if t.is_signed() {
            same
        } else {
            let not = self.op("not", &[negative.clone()]);
            self.both(&same, &not)
        };
        if fits.as_bool() == Some(true) {
            return None;
        }
        // Out of range, the answer is that for a number below all elements, or that for one above all.
        let (below, above) = (below_all(op, is_first), below_all(op, !is_first));
        let outside = match (below, above) {
            (true, true) => Val::bool(true),
            (false, false) => Val::bool(false),
            (true, false) => negative,
            (false, true) => self.op("not", &[negative]),
        };
        let unfit = self.op("not", &[fits.clone()]);
        let outside = self.both(&unfit, &outside);
        let (element, args) = (element(array.ty), [array.clone(), narrow, fits, outside]);
        let operands = [MapExpr::Arg(0, element), MapExpr::Arg(1, t)];
        let [first, second] = if is_first { [1, 0] } else { [0, 1] }.map(|i: usize| cast_expr(t, operands[i].clone()));
        let truth = |name: &str, args: Vec<MapExpr>| MapExpr::Op(row(name), Ty::bool(), args);
        let usual = truth(compare_name(op), vec![first, second]);
        let usual = truth("and", vec![usual, MapExpr::Arg(2, Ty::bool())]);
        let expr = truth("or", vec![usual, MapExpr::Arg(3, Ty::bool())]);
        Some(self.map(&args, Ty::bool(), expr))
    }

    fn compare_arrays(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let (ta, tb) = (element(a.ty), element(b.ty));
        if ta.is_time() || tb.is_time() {
            return self.compare_times(op, a, b);
        }
        let t = self.elementwise_type(None, ta, tb).ok_or_else(|| self.no_op(op.symbol(), a.ty, b.ty))?;
        if let Some(v) = self.compare_integer_arrays(op, a, b, t) {
            return Ok(v);
        }
        let kernel = if t.is_complex() {
            let path = match op {
                CmpOp::Eq => "operator.eq",
                CmpOp::Ne => "operator.ne",
                // Arrays have the order of NumPy's functions: real parts first.
                CmpOp::Lt => "numpy.less",
                CmpOp::Le => "numpy.less_equal",
                CmpOp::Gt => "numpy.greater",
                CmpOp::Ge => "numpy.greater_equal",
            };
            self.library_kernel(path, &[t, t])?
        } else {
            Kernel::Row(row(compare_name(op)), Ty::bool())
        };
        let args = vec![cast_expr(t, MapExpr::Arg(0, ta)), cast_expr(t, MapExpr::Arg(1, tb))];
        Ok(self.map(&[a.clone(), b.clone()], Ty::bool(), kernel.expr(args)))
    }

    fn compare_strings(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
            return Ok(Val::bool(match op {
                CmpOp::Eq => x == y,
                CmpOp::Ne => x != y,
                CmpOp::Lt => x < y,
                CmpOp::Le => x <= y,
                CmpOp::Gt => x > y,
                CmpOp::Ge => x >= y,
            }));
        }
        let args = [a.clone(), b.clone()];
        match op {
            CmpOp::Eq => self.runtime(&rt::lh_str_eq, &args, Ty::bool()),
            CmpOp::Ne => {
                let eq = self.runtime(&rt::lh_str_eq, &args, Ty::bool())?;
                Ok(self.op("not", &[eq]))
            }
            _ => {
                let c = self.runtime(&rt::lh_str_cmp, &args, Ty::int())?;
                Ok(self.op(compare_name(op), &[c, Val::int(0)]))
            }
        }
    }

    /// Whether a comparison of items holds: that of arrays has no answer if they have several elements.
    fn holds(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let answer = self.compare(op, a, b)?;
        self.truth(&answer)
    }

    fn compare_tuples(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Val> {
        let (x, y) = (self.tuple_parts(a).expect("a tuple"), self.tuple_parts(b).expect("a tuple"));
        match op {
            CmpOp::Eq | CmpOp::Ne => {
                let mut all = Val::bool(x.len() == y.len());
                if x.len() == y.len() {
                    for (s, t) in x.iter().zip(&y) {
                        let e = self.holds(CmpOp::Eq, s, t)?;
                        all = self.both(&all, &e);
                    }
                }
                if op == CmpOp::Eq { Ok(all) } else { self.unary(UnOp::Not, &all) }
            }
            _ => self.compare_tuples_order(op, &x, &y),
        }
    }

    /// Lexicographic order: the first unequal pair decides.
    fn compare_tuples_order(&mut self, op: CmpOp, x: &[Val], y: &[Val]) -> Result<Val> {
        let (Some(s), Some(t)) = (x.first(), y.first()) else {
            let (n, m) = (x.len(), y.len());
            return Ok(Val::bool(match op {
                CmpOp::Lt => n < m,
                CmpOp::Le => n <= m,
                CmpOp::Gt => n > m,
                _ => n >= m,
            }));
        };
        let strict = match op {
            CmpOp::Lt | CmpOp::Le => CmpOp::Lt,
            _ => CmpOp::Gt,
        };
        let first = self.holds(strict, s, t)?;
        let equal = self.holds(CmpOp::Eq, s, t)?;
        let rest = self.compare_tuples_order(op, &x[1..], &y[1..])?;
        let rest = self.both(&equal, &rest);
        Ok(self.either(&first, &rest))
    }

    /// `a and b` of truth values, both evaluated.
    pub(crate) fn both(&mut self, a: &Val, b: &Val) -> Val {
        match (a.as_bool(), b.as_bool()) {
            (Some(false), _) | (_, Some(false)) => Val::bool(false),
            (Some(true), _) => b.clone(),
            (_, Some(true)) => a.clone(),
            (None, None) => self.op("and", &[a.clone(), b.clone()]),
        }
    }

    /// `a is b` of values of a type that a program defines: by an overload of it or of equality; else they are not, as
    /// with Numba.
    fn is_of_extensions(&mut self, a: &Val, b: &Val, negate: bool) -> Result<Val> {
        let own = self.struct_operation("operator", if negate { "is_not" } else { "is_" }, &[a, b])?;
        if own.is_some() || a.ty != b.ty {
            return Ok(own.unwrap_or_else(|| Val::bool(negate)));
        }
        match self.struct_operation("operator", "eq", &[a, b])? {
            Some(same) if negate => self.unary(UnOp::Not, &same),
            Some(same) => Ok(same),
            None => Ok(Val::bool(negate)),
        }
    }

    /// `a or b` of truth values, both evaluated.
    pub(crate) fn either(&mut self, a: &Val, b: &Val) -> Val {
        match (a.as_bool(), b.as_bool()) {
            (Some(true), _) | (_, Some(true)) => Val::bool(true),
            (Some(false), _) => b.clone(),
            (_, Some(false)) => a.clone(),
            (None, None) => self.op("or", &[a.clone(), b.clone()]),
        }
    }

    pub(crate) fn is(&mut self, a: &Val, b: &Val, negate: bool) -> Result<Val> {
        if a.ty.extension().is_some() || b.ty.extension().is_some() {
            return self.is_of_extensions(a, b, negate);
        }
        if b.ty.is_none() {
            return Ok(self.is_none(a, negate));
        }
        if a.ty.is_none() {
            return Ok(self.is_none(b, negate));
        }
        self.check_not_of_exception(a, b)?;
        if let Some(same) = self.is_of_each(a, b, negate)? {
            return Ok(same);
        }
        if let Some(same) = self.is_of_objects(a, b, negate)? {
            return Ok(same);
        }
        if a.ty.is_bool() && b.ty.is_bool() || a.ty == b.ty && a.ty.is_int() {
            return self.compare(if negate { CmpOp::Ne } else { CmpOp::Eq }, a, b);
        }
        let inner = |v: &Val| if let TyKind::Optional(t) = v.ty.kind() { *t } else { v.ty };
        let t = inner(a);
        if (a.ty != t || b.ty != inner(b)) && t == inner(b) && (t.is_bool() || t.is_int() || t.as_enum().is_some()) {
            return self.compare(if negate { CmpOp::Ne } else { CmpOp::Eq }, a, b);
        }
        if let (TyKind::Optional(t), _) | (_, TyKind::Optional(t)) = (a.ty.kind(), b.ty.kind())
            && t.class().is_some()
            && (a.ty != b.ty || a.ty == Ty::optional(*t))
        {
            return self.is_optional_object(a, b, Ty::optional(*t), negate);
        }
        if a.ty != b.ty {
            return Ok(Val::bool(negate));
        }
        if a.ty.as_enum().is_some() {
            let (x, y) = (self.field(a, 0), self.field(b, 0));
            return self.compare(if negate { CmpOp::Ne } else { CmpOp::Eq }, &x, &y);
        }
        if a.ty.flatten().is_empty() {
            return Ok(Val::bool(!negate));
        }
        if a.ty == Ty::bytearray() || is_generator(a) {
            let (x, y) = (self.field(a, 0), self.field(b, 0));
            return self.is(&x, &y, negate);
        }
        if a.ty.as_class().is_some_and(|c| c.parts.is_none()) {
            let same = self.runtime(&rt::lh_object_is, &[a.clone(), b.clone()], Ty::bool())?;
            return if negate { self.unary(UnOp::Not, &same) } else { Ok(same) };
        }
        if a.ty == Ty::exc() {
            let same = self.runtime(&rt::lh_exc_is, &[a.clone(), b.clone()], Ty::bool())?;
            return if negate { self.unary(UnOp::Not, &same) } else { Ok(same) };
        }
        if a.ty.is_array() {
            let same = self.call_library("numpy.layout.is_same", &[a.clone(), b.clone()])?;
            return if negate { self.unary(UnOp::Not, &same) } else { Ok(same) };
        }
        Err(self.no_op("is", a.ty, b.ty).note("compare values with `==`, or test for None"))
    }

    /// `a is b` of objects of which one may be None. Without a value, the object is null.
    fn is_optional_object(&mut self, a: &Val, b: &Val, ty: Ty, negate: bool) -> Result<Val> {
        let (Ok(a), Ok(b)) = (self.convert(a, ty), self.convert(b, ty)) else { return Ok(Val::bool(negate)) };
        let TyKind::Optional(object) = ty.kind() else { lh_ir::bug!("`{ty}` is no optional") };
        let (a, b) = (self.value(&a), self.value(&b));
        let (a, b) = (self.push(Inst::Unwrap(a), *object), self.push(Inst::Unwrap(b), *object));
        let same = self.runtime(&rt::lh_object_is, &[a, b], Ty::bool())?;
        if negate { self.unary(UnOp::Not, &same) } else { Ok(same) }
    }

    /// The text that a member is; of a text, itself.
    fn field_of_text(&mut self, v: &Val) -> Val {
        if v.ty == Ty::str() { v.clone() } else { self.field(v, 0) }
    }

    pub(crate) fn contains(&mut self, item: &Val, container: &Val, negate: bool) -> Result<Val> {
        let own = self.own_contains(item, container);
        let found = self.or_overloaded(own, "operator", "contains", &[container, item])?;
        if found.ty.is_never() {
            return Ok(found);
        }
        let found = self.truth(&found)?;
        match found.as_bool() {
            Some(b) => Ok(Val::bool(b != negate)),
            None if negate => Ok(self.op("not", &[found])),
            None => Ok(found),
        }
    }

    fn own_contains(&mut self, item: &Val, container: &Val) -> Result<Val> {
        if let Some(found) = self.enum_contains(item, container)? {
            return Ok(found);
        }
        let container =
            &if container.ty.native() == Ty::str() { self.field_of_text(container) } else { container.clone() };
        let number = matches!(item.ty.as_enum(), Some((_, _, true))) && !container.ty.is_tuple();
        let item = &if number { self.field(item, 0) } else { item.clone() };
        let overloaded = self.struct_operation("operator", "contains", &[container, item])?;
        Ok(match container.ty.kind() {
            TyKind::Class(_) | TyKind::Extension { .. } if let Some(found) = &overloaded => self.truth(found)?,
            TyKind::Iter(_) if self.entries(container).is_some() => Val::bool(self.keyword(container, item)?.is_some()),
            TyKind::Iter(_) if is_description(container) => {
                let it = self.iterator(container)?;
                if it.ty.is_never() { it } else { self.method(&it, "__contains__", std::slice::from_ref(item))? }
            }
            TyKind::Tuple { .. } => {
                let mut any = Val::bool(false);
                for p in self.tuple_parts(container).expect("a tuple") {
                    let e = self.holds(CmpOp::Eq, item, &p)?;
                    any = self.either(&any, &e);
                }
                any
            }
            TyKind::Str if item.ty == Ty::str() => match (item.as_str(), container.as_str()) {
                (Some(x), Some(y)) => Val::bool(y.contains(x)),
                _ => self.runtime(&rt::lh_str_in, &[item.clone(), container.clone()], Ty::bool())?,
            },
            TyKind::Str => return Err(self.no_op("in", item.ty, container.ty)),
            TyKind::Pending(_, class) if class.teaching("__contains__").is_none() => Val::of_type(Ty::never()),
            TyKind::Instance { .. } => self.instance_contains(container, item)?,
            TyKind::Choice(_) => {
                let raised = |x: &[Val], _: &Diagnostic| {
                    let text = format!("argument of type '{}' is not iterable", class_name(&x[0]));
                    type_error(text).filter(|_| x[0].ty.class().is_some())
                };
                self.each(std::slice::from_ref(container), &raised, &mut |own, x| {
                    let own_method = own.get_attr(&x[0], "__contains__")?;
                    let found = own.call(&own_method, std::slice::from_ref(item), &[])?;
                    own.truth(&found)
                })?
            }
            _ => self
                .method(container, "__contains__", &[item.clone()])
                .map_err(|_| self.no_op("in", item.ty, container.ty))?,
        })
    }
}
