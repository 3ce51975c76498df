//! Stencils: arrays indexed relative to an element, and the function applied to every element.
//!
//! Inside the function, a relative array is a `Relative`, a tuple of the array that begins at the element and of the
//! first and last offsets that may be read. The default neighbourhood is the range of the constant indices.

use crate::cx::Infer;
use crate::emit::exc;
use crate::val::{Known, Method, Val};
use crate::world::{ArgTy, Offsets, Stencil};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::types::{NamedTuple, TyKind};
use lh_ir::{Const, TupleMeaning, Ty};
use std::rc::Rc;

/// Whether a namedtuple is the library's `Relative`.
pub(crate) fn is_relative(n: &NamedTuple) -> bool {
    n.meaning == Some(TupleMeaning::Relative)
}

pub(crate) fn bad(text: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(diag::BAD_STENCIL, text)
}

impl Infer<'_> {
    /// `a[i, j]` of an array indexed relative to an element.
    pub(crate) fn relative_item(&mut self, view: &Val, index: &Val) -> Result<Val> {
        let (array, low, high) = (self.field(view, 0), self.field(view, 1), self.field(view, 2));
        let (dtype, ndim, ..) = array.ty.as_array().expect("the first field is an array");
        let mut parts = match index.ty.kind() {
            TyKind::Tuple { .. } => self.tuple_parts(index).expect("a tuple"),
            _ => vec![index.clone()],
        };
        if parts.len() != ndim {
            return Err(
                bad("Stencil index does not match array dimensionality.").note(format!("it has {ndim} dimensions"))
            );
        }
        if parts.iter().any(|p| matches!(p.ty.kind(), TyKind::Slice(_))) {
            self.offsets.push(vec![None; ndim]);
            let index = Val::tuple(parts);
            return self.call_library("stencils.relative_slice", &[view.clone(), index]);
        }
        if let Some(other) = parts.iter().find(|p| !p.ty.is_int() && !p.ty.is_bool()) {
            return Err(bad("Non-tuple or non-integer used as stencil index.").note(format!("it is `{}`", other.ty)));
        }
        let known: Offsets = parts.iter().map(|p| p.as_int().and_then(|i| i64::try_from(i).ok())).collect();
        for (d, part) in parts.iter_mut().enumerate() {
            *part = self.cast(part, Ty::int());
            if known[d].is_none() {
                let (first, last) = (self.field(&low, d as u32), self.field(&high, d as u32));
                let before = self.op("lt", &[part.clone(), first]);
                let after = self.op("lt", &[last, part.clone()]);
                let outside = self.either(&before, &after);
                self.raise_if(&outside, exc::INDEX_ERROR, "stencil index outside of the neighborhood");
            }
        }
        self.offsets.push(known);
        let p = self.unchecked_address(&array, &parts);
        Ok(self.push(Inst::Load(p), dtype))
    }

    /// `stencil(f)` inside a function: called at once, or by its name.
    pub(crate) fn make_stencil(&mut self, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let named = |name: &str| kwargs.iter().find(|(n, _)| n == name).map(|(_, v)| v);
        if let Some((name, _)) = kwargs.iter().find(|(n, _)| !matches!(&**n, "func_or_mode" | "neighborhood")) {
            return Err(bad(format!("`{name}=` of a stencil that is made in compiled code is not supported"))
                .note("make the stencil outside"));
        }
        let f = args.first().or(named("func_or_mode")).filter(|_| args.len() < 2);
        let func = match f.map(|f| f.ty.kind()) {
            Some(TyKind::Func(id)) => Some(*id),
            Some(TyKind::Closure { func, captures, .. }) if captures.is_empty() => Some(*func),
            _ => None,
        };
        let (Some(f), Some(func)) = (f, func) else {
            return Err(bad("a stencil is made of one function, which captures no variables here")
                .note("pass what it needs as arguments, or make the stencil outside"));
        };
        let given = named("neighborhood");
        let text = "the neighborhood of a stencil that is made in compiled code is a tuple of pairs of integers";
        let pairs = given.map(|g| self.pairs(g).ok_or_else(|| bad(text))).transpose()?;
        let whole = |v: &Val| v.as_int().and_then(|i| i64::try_from(i).ok());
        let constant = |(low, high): &(Val, Val)| Some((whole(low)?, whole(high)?));
        let neighborhood: Option<Vec<_>> = pairs.and_then(|p| p.iter().map(constant).collect());
        let recv = given.filter(|_| neighborhood.is_none()).unwrap_or(f).clone();
        let name = self.world.code(func)?.name.clone();
        let s = Stencil { name, func, neighborhood, standard: Vec::new(), cval: None, shifts: Vec::new() };
        let ty = Ty::new(TyKind::BoundMethod { recv: recv.ty, name: "stencil".to_owned() });
        Ok(Val::known(ty, Known::Method(recv, Method::Stencil(Rc::new(s)))))
    }

    fn pairs(&mut self, given: &Val) -> Option<Vec<(Val, Val)>> {
        let mut found = Vec::new();
        for pair in self.tuple_parts(given)? {
            match &self.tuple_parts(&pair)?[..] {
                [low, high] if low.ty.is_int() && high.ty.is_int() => {
                    found.push((self.cast(low, Ty::int()), self.cast(high, Ty::int())));
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// First and last offsets that are known only at run time; constant indices are compared with them here.
    fn ranges(&mut self, pairs: &[(Val, Val)], shifts: &[i64], offsets: &[Offsets]) -> Result<(Val, Val)> {
        let mut outside = Val::bool(false);
        for (d, i) in offsets.iter().flat_map(|o| o.iter().enumerate()) {
            if let (Some(i), (low, high)) = (i, &pairs[d]) {
                let i = Val::int((i + shifts[d]).into());
                let (before, after) = (self.op("lt", &[i.clone(), low.clone()]), self.op("lt", &[high.clone(), i]));
                let apart = self.either(&before, &after);
                outside = self.either(&outside, &apart);
            }
        }
        self.raise_if(&outside, exc::VALUE_ERROR, "the stencil reads outside of its neighborhood");
        let (low, high) = pairs.iter().cloned().unzip();
        Ok((Val::tuple(low), Val::tuple(high)))
    }

    /// A call of a stencil; `of`: what its method is of, the offsets where these are known only at run time.
    pub(crate) fn call_stencil(
        &mut self,
        s: &Stencil,
        of: &Val,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let mut out = Val::of_type(Ty::none());
        for (name, v) in kwargs {
            if name != "out" {
                return Err(bad(format!("a stencil has no argument `{name}`")));
            }
            out = v.clone();
        }
        let code = self.world.code(s.func)?;
        if code.params.len() != args.len() {
            let text = format!("the stencil `{}` takes {} arguments, got {}", s.name, code.params.len(), args.len());
            return Err(bad(text));
        }
        let not_array = || bad("The first argument to a stencil kernel must be the primary input array.");
        let first = args.first().ok_or_else(not_array)?.ty;
        let Some((_, ndim, ..)) = first.as_array().filter(|a| a.1 > 0) else {
            return Err(not_array().note(format!("it is `{first}`")));
        };
        if !out.ty.is_none() && out.ty.as_array().is_none_or(|o| o.1 != ndim) {
            return Err(bad(format!("`out` must be an array of rank {ndim}, not `{}`", out.ty)));
        }
        let relative: Vec<bool> =
            args.iter().zip(&code.params).map(|(a, p)| a.ty.is_array() && !s.standard.contains(&p.name)).collect();
        for (a, r) in args.iter().zip(&relative).skip(1) {
            if *r && a.ty.as_array().is_some_and(|a| a.1 != ndim) {
                let text =
                    "Secondary stencil array does not have same number of dimensions as the first stencil input.";
                return Err(bad(text));
            }
        }
        let shifts = if s.shifts.is_empty() { vec![0; ndim] } else { s.shifts.clone() };
        if shifts.len() != ndim {
            return Err(bad(format!("{} index offsets for {ndim} dimensional input array", shifts.len())));
        }
        let flag = |r: &bool| Val::of_type(if *r { Ty::dtype(Ty::bool()) } else { Ty::none() });
        let flags = Val::tuple(relative.iter().map(flag).collect());
        let (ret, mut offsets) = self.stencil_kernel(s, args, &flags, ndim, false)?;
        let pairs = self.pairs(of);
        let given = pairs.as_ref().map(Vec::len).or(s.neighborhood.as_ref().map(Vec::len));
        if let Some(n) = given.filter(|n| *n != ndim) {
            return Err(bad(format!("{n} dimensional neighborhood specified for {ndim} dimensional input array")));
        }
        if s.neighborhood.is_none() && pairs.is_none() && offsets.iter().flatten().any(Option::is_none) {
            // Arguments that are constants here may be in the indices.
            offsets = self.stencil_kernel(s, args, &flags, ndim, true)?.1;
        }
        let many = |f: &dyn Fn(usize) -> i64| Val::tuple((0..ndim).map(|d| Val::int(i128::from(f(d)))).collect());
        let (low, high) = if let Some(pairs) = pairs {
            self.ranges(&pairs, &shifts, &offsets)?
        } else {
            let bounds = reach(s, ndim, &shifts, &offsets)?;
            (many(&|d| bounds[d].0), many(&|d| bounds[d].1))
        };
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        let cval = self.border_value(s, ret)?;
        let f = Val::of_type(Ty::new(TyKind::Func(s.func)));
        let dtype = Val::of_type(Ty::dtype(ret.strong()));
        let call = [f, dtype, flags, low, high, many(&|d| shifts[d]), cval, Val::tuple(args.to_vec()), out];
        self.call_library("stencils.apply", &call)
    }

    /// Result type of the function, and the indices it uses; `known`: for the values of arguments that are constants.
    fn stencil_kernel(
        &mut self,
        s: &Stencil,
        args: &[Val],
        flags: &Val,
        ndim: usize,
        known: bool,
    ) -> Result<(Ty, Vec<Offsets>)> {
        // The function for one element is typed for the values that the library passes to it.
        let zeros = Val::tuple(vec![Val::int(0); ndim]);
        let call = [flags.clone(), zeros.clone(), zeros.clone(), zeros.clone(), Val::tuple(args.to_vec()), zeros];
        let views = self.call_library("stencils.views", &call)?;
        let value = |v: &Val| v.as_const().filter(|_| known && v.ty.is_number()).cloned();
        let typed = |(t, v): (&Ty, &Val)| ArgTy { ty: *t, value: value(v), items: None };
        let tys: Vec<ArgTy> = views.ty.tuple_elems().unwrap_or_default().iter().zip(args).map(typed).collect();
        let spec = self.world.specialise(s.func, &tys, self.options)?;
        if !spec.ret.is_number() {
            return Err(bad("Stencil kernel must return a scalar and not a numpy array.")
                .note(format!("`{}` returns `{}`", s.name, spec.ret)));
        }
        Ok((spec.ret, self.world.offsets(spec.id)))
    }

    /// The value for elements at the border; `None` leaves those of `out` unchanged.
    fn border_value(&mut self, s: &Stencil, ret: Ty) -> Result<Val> {
        let Some(o) = s.cval else { return Ok(Val::of_type(Ty::none())) };
        let v = self.object(o)?;
        // A whole number fits whatever its type is.
        let whole = |c: &Const| matches!(c, Const::Float(x, _) if x.fract() == 0.0);
        let fits = ret.is_complex() || (!v.ty.is_complex() && (ret.is_float() || !v.ty.is_float()));
        if !v.ty.is_number() || !(fits || v.as_const().is_some_and(whole)) {
            return Err(bad("cval type does not match stencil return type.")
                .note(format!("`cval` is `{}`, the result `{ret}`", v.ty)));
        }
        Ok(self.cast(&v, ret.strong()))
    }
}

/// First and last offset in each dimension.
fn reach(s: &Stencil, ndim: usize, shifts: &[i64], offsets: &[Offsets]) -> Result<Vec<(i64, i64)>> {
    if offsets.is_empty() {
        return Err(bad("Stencil kernel with no accesses to relatively indexed arrays."));
    }
    if let Some(given) = &s.neighborhood {
        for (d, i) in offsets.iter().flat_map(|o| o.iter().enumerate()) {
            if let Some(i) = i.map(|i| i + shifts[d])
                && !(given[d].0..=given[d].1).contains(&i)
            {
                let text = format!("the stencil reads at offset {i} of dimension {d}, outside of its neighborhood");
                return Err(bad(text).note("widen the neighborhood"));
            }
        }
        return Ok(given.clone());
    }
    let mut bounds = vec![(0, 0); ndim];
    for (d, i) in offsets.iter().flat_map(|o| o.iter().enumerate()) {
        let Some(i) = i else {
            return Err(bad("stencil kernel index is not constant, 'neighborhood' option required"));
        };
        let i = i + shifts[d];
        bounds[d] = (bounds[d].0.min(i), bounds[d].1.max(i));
    }
    Ok(bounds)
}
