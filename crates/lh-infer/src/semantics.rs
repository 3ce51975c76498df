//! In which type an operator computes, by the semantics of a function: `docs/semantics.md` has both tables.
//!
//! Python's semantics are NumPy's (NEP 50), in [`promote`]. Numba's know no weak numbers: a literal is as wide as any
//! other integer or float. Operators on numbers compute in 64 bits unless floats are among them; ufuncs, also as
//! operators on arrays, take NumPy's loops, and the first that is as wide as the floats, whatever the integers beside
//! them.

use crate::convert::{float_for, promote, rank};
use crate::cx::Infer;
use crate::val::Val;
use lh_ir::class::Class;
use lh_ir::diag::Result;
use lh_ir::func::{MapExpr, Semantics};
use lh_ir::types::TyKind;
use lh_ir::untyped::{BinOp, UnOp};
use lh_ir::{FuncId, Meaning, Ty};

/// Arguments of a call, and those by name.
type Given = (Vec<Val>, Vec<(String, Val)>);

impl Infer<'_> {
    /// The semantics of the code at hand. The library is written in Python's.
    pub(crate) fn semantics(&self) -> Semantics {
        if self.is_library { Semantics::Python } else { self.options.semantics }
    }

    /// The type in which an operator computes on two numbers.
    pub(crate) fn scalar_type(&self, op: BinOp, a: Ty, b: Ty) -> Ty {
        match self.semantics() {
            Semantics::Python => python_scalars(op, a, b),
            Semantics::Numba => numba_scalars(op, a, b),
        }
    }

    /// Whether `-x`, `+x` and `~x` have 64 bits, although they compute in less.
    pub(crate) fn widens(&self, t: Ty) -> bool {
        self.semantics() == Semantics::Numba && t.is_int() && t.bits() < 64
    }

    /// The type in which `-x` computes on elements: in Numba truth values have one, too.
    pub(crate) fn sign_type(&self, op: UnOp, t: Ty) -> Ty {
        if op == UnOp::Neg && t.is_bool() && self.semantics() == Semantics::Numba { Ty::i8() } else { t }
    }

    /// The function of the library that overrides another one under Numba's semantics, where Numba's answers differ.
    pub(crate) fn numba_override(&mut self, path: &str) -> Option<FuncId> {
        match self.semantics() {
            Semantics::Python => None,
            Semantics::Numba => self.world.library(&format!("numba_semantics.{path}")).map(|(f, _)| f),
        }
    }

    /// A function of the library in the semantics of the code at hand.
    pub(crate) fn call_by_semantics(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if let Some(f) = self.numba_override(path) {
            return self.call_func(f, args, kwargs);
        }
        let result = self.call_library_path(path, args, kwargs)?;
        Ok(self.with_numba_type(path, result))
    }

    /// A result of a function of the library as Numba types it, where that is declared to differ.
    fn with_numba_type(&mut self, path: &str, result: Val) -> Val {
        if result.ty != Ty::f32() || self.semantics() == Semantics::Python {
            return result;
        }
        let meaning = self.world.library(path).and_then(|(f, _)| self.world.info(f).meaning);
        if meaning == Some(Meaning::Statistic) { self.cast(&result, Ty::f64()) } else { result }
    }

    /// Whether `int(x)` or `float(x)` leaves a number as it is: those of Numba keep the width.
    pub(crate) fn keeps_width(&self, to: Ty, from: Ty) -> bool {
        let is_kind = to.is_int() && from.is_int()
            || to.is_float() && from.is_float() && !from.is_half()
            || to.is_complex() && from == Ty::f32();
        self.semantics() == Semantics::Numba && to.is_weak() && is_kind
    }

    /// The type in which two numbers are compared, where they are not both integers.
    pub(crate) fn compared_type(&self, a: Ty, b: Ty) -> Ty {
        match self.semantics() {
            Semantics::Python => promote(a, b).expect("numbers"),
            Semantics::Numba => numba_scalars(BinOp::Add, a, b),
        }
    }

    /// The type in which a ufunc, or an operator on arrays, computes on elements of two types; `None` if not both are
    /// numbers.
    pub(crate) fn elementwise_type(&self, op: Option<BinOp>, a: Ty, b: Ty) -> Option<Ty> {
        if !a.is_number() || !b.is_number() {
            return None;
        }
        let is_division = op == Some(BinOp::TrueDiv);
        let t = match self.semantics() {
            Semantics::Numba => numba_elements(a, b, is_division),
            Semantics::Python => match promote(a, b)?.strong() {
                t if is_division && (t.is_int() || t.is_bool()) => Ty::f64(),
                t => t,
            },
        };
        let has_no_bools =
            matches!(op, Some(BinOp::FloorDiv | BinOp::Mod | BinOp::Pow | BinOp::LShift | BinOp::RShift));
        let is_difference = op == Some(BinOp::Sub) && self.semantics() == Semantics::Numba;
        Some(if t.is_bool() && (has_no_bools || is_difference) { Ty::i8() } else { t })
    }
}

impl Infer<'_> {
    /// Whether the values of a dictionary's display become values of the first one's type. Numba converts those that
    /// lose nothing; Python leaves all as they are.
    pub(crate) fn take_the_first_type(&self, values: &[Ty]) -> bool {
        self.semantics() == Semantics::Numba && values.iter().all(|t| widens_safely(*t, values[0]))
    }

    /// The type of operands of a row or kernel that is a ufunc, or a function of `math`.
    pub(crate) fn operands_type(&self, types: &[Ty]) -> Ty {
        let both = |a: Ty, b: Ty| match self.semantics() {
            Semantics::Python => promote(a, b).expect("numbers"),
            Semantics::Numba => numba_elements(a, b, false),
        };
        types.iter().copied().reduce(both).expect("an operand")
    }

    /// Operands of a ufunc: in Numba integers beside complex numbers of 32 bits become such.
    pub(crate) fn with_complex(&mut self, ins: &[Val]) -> Vec<Val> {
        let types: Vec<Ty> = ins.iter().map(|a| a.ty.as_array().map_or(a.ty, |(d, ..)| d)).collect();
        let is_mixed = types.iter().any(|t| t.is_complex()) && types.iter().all(|t| t.is_number());
        if self.semantics() == Semantics::Python || !is_mixed {
            return ins.to_vec();
        }
        let t = self.operands_type(&types);
        ins.iter().zip(types).map(|(a, own)| self.as_type(a, own, t)).collect()
    }

    fn as_type(&mut self, a: &Val, own: Ty, t: Ty) -> Val {
        match a.ty.is_array() {
            _ if own == t => a.clone(),
            true => self.map(std::slice::from_ref(a), t, MapExpr::Cast(t, Box::new(MapExpr::Arg(0, own)))),
            false => self.cast(a, t),
        }
    }

    /// Arguments of a function of NumPy: Numba knows no weak numbers, and tuples of unknown length are lists.
    pub(crate) fn as_numpy_takes(
        &mut self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Given>> {
        let is_tuple = |v: &Val| v.ty.class().is_some_and(Class::is_tuple);
        if path.starts_with("numpy.") && args.iter().any(is_tuple) {
            let list = |v: &Val| match is_tuple(v) {
                true => self.call_library("builtins.list.__new__", std::slice::from_ref(v)),
                false => Ok(v.clone()),
            };
            return Ok(Some((args.iter().map(list).collect::<Result<_>>()?, kwargs.to_vec())));
        }
        let is_strict = self.semantics() == Semantics::Numba && path.starts_with("numpy.");
        let mut all = args.iter().chain(kwargs.iter().map(|(_, v)| v));
        if !is_strict || !all.any(|a| a.ty.is_weak()) {
            return Ok(None);
        }
        let args = args.iter().map(|a| self.cast(a, a.ty.strong())).collect();
        Ok(Some((args, kwargs.iter().map(|(name, v)| (name.clone(), self.cast(v, v.ty.strong()))).collect())))
    }
}

/// Whether Numba takes a number for one of another type without being asked for a conversion.
fn widens_safely(from: Ty, to: Ty) -> bool {
    if from.weak() == to.weak() {
        return true;
    }
    if !from.is_number() || !to.is_number() || rank(from) > rank(to) || to.is_bool() {
        return false;
    }
    let digits = if to.is_complex() { to.bits() / 2 } else { to.bits() };
    match (from.is_int(), to.is_int()) {
        _ if from.is_bool() => true,
        (true, true) => to.bits() > from.bits() && (to.is_signed() || !from.is_signed()),
        (true, false) => digits == 64 || digits == 32 && from.bits() <= if from.is_signed() { 16 } else { 8 },
        _ => digits >= if from.is_complex() { from.bits() / 2 } else { from.bits() },
    }
}

fn python_scalars(op: BinOp, a: Ty, b: Ty) -> Ty {
    let t = promote(a, b).expect("numbers");
    let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
    match op {
        BinOp::TrueDiv if t.is_bool() || t.is_weak() && t.is_int() => Ty::float(),
        BinOp::TrueDiv if t.is_int() => Ty::f64(),
        _ if t.is_bool() && !bits => Ty::int(),
        _ => t,
    }
}

/// Numba's choice of a signature for two numbers. Those of 64 bits are Python's.
fn numba_scalars(op: BinOp, a: Ty, b: Ty) -> Ty {
    let is_int = |t: Ty| t.is_int() || t.is_bool();
    let is_unsigned = |t: Ty| t.is_int() && !t.is_signed();
    if is_int(a) && is_int(b) {
        return match op {
            BinOp::And | BinOp::Or | BinOp::Xor if a.is_bool() && b.is_bool() => Ty::bool(),
            BinOp::TrueDiv => Ty::float(),
            // The width and the sign of what is shifted.
            BinOp::LShift | BinOp::RShift if is_unsigned(a) => Ty::u64(),
            BinOp::LShift | BinOp::RShift => Ty::int(),
            _ if is_unsigned(a) && is_unsigned(b) => Ty::u64(),
            _ => Ty::int(),
        };
    }
    // A power of a float by an integer is as wide as the float.
    let a_is_wide = is_wide(a, false);
    let b_is_wide = is_wide(b, op == BinOp::Pow && a.is_float());
    of_width(a, b, a_is_wide || b_is_wide)
}

/// Whether a number asks for 64 bits where it meets floats.
fn is_wide(t: Ty, is_exponent: bool) -> bool {
    match t.kind() {
        TyKind::Bool | TyKind::Bfloat16 => false,
        TyKind::Int { bits, signed, .. } => !is_exponent && *bits > if *signed { 16 } else { 8 },
        TyKind::Complex { bits, .. } => *bits > 64,
        _ => t.bits() > 32,
    }
}

fn of_width(a: Ty, b: Ty, is_wide: bool) -> Ty {
    match (rank(a).max(rank(b)) > 2, is_wide) {
        (false, false) => Ty::f32(),
        (false, true) => Ty::float(),
        (true, false) => Ty::c64(),
        (true, true) => Ty::complex(),
    }
}

/// The loop of a ufunc that Numba finds first.
fn numba_elements(a: Ty, b: Ty, is_division: bool) -> Ty {
    let (a, b) = (a.strong(), b.strong());
    let is_int = |t: Ty| t.is_int() || t.is_bool();
    match (is_int(a), is_int(b)) {
        (true, true) if is_division => promote(float_for(a), float_for(b)).expect("numbers"),
        (true, true) => promote(a, b).expect("numbers"),
        _ => of_width(a, b, [a, b].into_iter().any(|t| !is_int(t) && is_wide(t, false))).strong(),
    }
}
