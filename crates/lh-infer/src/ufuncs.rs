//! Ufuncs made by the user, called in compiled code: which loop is meant, and the loop fused with what is around it.

use crate::convert::rank;
use crate::infer::Infer;
use crate::operators::{Kernel, cast_expr, element};
use crate::val::{Known, Method, Val};
use crate::world::{ArgTy, Object, Ufunc};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::MapExpr;
use lh_ir::types::TyKind;
use lh_ir::{ObjId, Ty};

impl Infer<'_> {
    /// A call of a ufunc that the user made.
    pub(crate) fn call_user_ufunc(
        &mut self,
        f: &Val,
        u: &Ufunc,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let (masks, kwargs): (Vec<_>, Vec<_>) = kwargs
            .iter()
            .cloned()
            .partition(|(name, _)| name == "where" && u.layout.is_none() && u.nout.is_none_or(|n| n == 1));
        let (ins, outs) = self.ufunc_operands(u, args, &kwargs)?;
        if let Some((_, mask)) = masks.first().filter(|(_, m)| m.as_bool() != Some(true)) {
            let out = outs.first().cloned().unwrap_or(Val::of_type(Ty::none()));
            let mask = self.call_library("numpy.asarray", &[mask.clone()])?;
            return self.call_library("ufunc_methods.masked", &[f.clone(), Val::tuple(ins), out, mask]);
        }
        if u.layout.is_some() {
            return self.call_generalised(u, &ins, &outs);
        }
        let tys: Vec<Ty> = ins.iter().map(|a| element(a.ty)).collect();
        let (tys, declared) = self.ufunc_loop(u, &tys)?;
        let scalars = !ins.iter().any(|a| a.ty.is_array()) && outs.is_empty();
        if scalars {
            let args: Vec<Val> = ins.iter().zip(&tys).map(|(a, t)| self.cast(a, *t)).collect();
            let result = self.call_func(u.func, &args, &[])?;
            return self.ufunc_result(&result, &declared);
        }
        let arg_tys: Vec<ArgTy> = tys.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = self.world.specialise(u.func, &arg_tys, self.options)?;
        if spec.ret.is_tuple() || declared.len() > 1 {
            return self.call_several(u, &ins, &tys, spec.ret, &declared, &outs);
        }
        let args = tys.iter().enumerate().map(|(i, t)| cast_expr(*t, MapExpr::Arg(i as u32, element(ins[i].ty))));
        let ret = declared.first().copied().unwrap_or(spec.ret);
        if !ret.is_number() {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("a ufunc returns a number, not `{ret}`")));
        }
        let expr = cast_expr(ret, Kernel::Spec(spec.id, spec.ret).expr(args.collect()));
        self.map_out(&ins, ret, expr, outs.first())
    }

    /// `reduce` and its relatives, of a ufunc of the user's or of NumPy's.
    pub(crate) fn ufunc_method(&mut self, v: &Val, o: ObjId, name: &str) -> Option<Val> {
        if !matches!(name, "reduce" | "accumulate" | "reduceat" | "at" | "outer") {
            return None;
        }
        match self.world.object(o) {
            Object::Ufunc(_) => {}
            // Only ufuncs have `nin`.
            Object::Path(p) if p.starts_with("numpy.") && self.world.attr(o, "nin").is_some() => {}
            _ => return None,
        }
        let (f, _) = self.world.library(&format!("ufunc_methods.{name}"))?;
        let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
        Some(Val::known(ty, Known::Method(v.clone(), Method::Library(f))))
    }

    /// What a ufunc gives for no elements: a number or `None`.
    pub(crate) fn ufunc_identity(&mut self, u: &Val) -> Result<Val> {
        let none = Val::of_type(Ty::none());
        let TyKind::Obj(o) = u.ty.kind() else { return Ok(none) };
        match self.world.object(*o) {
            Object::Ufunc(u) => Ok(u.identity.map_or(none, |i| Val::int(i128::from(i)))),
            _ => match self.world.attr(*o, "identity") {
                Some(i) => self.object(i),
                None => Ok(none),
            },
        }
    }

    /// Inputs and outputs of a call.
    fn ufunc_operands(&mut self, u: &Ufunc, args: &[Val], kwargs: &[(String, Val)]) -> Result<(Vec<Val>, Vec<Val>)> {
        let wrong = |text: String| Diagnostic::new(diag::NO_MATCHING_CALL, text);
        if args.len() < u.nin {
            return Err(wrong(format!("the ufunc `{}` takes {} inputs, got {}", u.name, u.nin, args.len())));
        }
        let (ins, rest) = args.split_at(u.nin);
        let mut outs = rest.to_vec();
        for (name, v) in kwargs {
            if name != "out" {
                return Err(wrong(format!("`{name}=` of a ufunc is not supported in compiled code"))
                    .note("compute the whole, then use `np.where` or slices"));
            }
            match v.ty.kind() {
                TyKind::None => {}
                TyKind::Tuple { .. } => outs.extend(self.tuple_parts(v).expect("a tuple")),
                _ => outs.push(v.clone()),
            }
        }
        if let Some(n) = u.nout.filter(|n| !outs.is_empty() && outs.len() != *n) {
            return Err(wrong(format!("the ufunc `{}` has {n} outputs, got {}", u.name, outs.len())));
        }
        let mut inputs = Vec::new();
        for a in ins {
            let a = self.unwrap_optional(a)?;
            inputs.push(match a.ty.kind() {
                TyKind::List(..) | TyKind::Tuple { .. } => self.call_library("numpy.asarray", &[a])?,
                _ if a.ty.is_number() || a.ty.is_array() => a,
                _ => return Err(wrong(format!("the ufunc `{}` does not take `{}`", u.name, a.ty))),
            });
        }
        if let Some(bad) = outs.iter().find(|o| !o.ty.is_array()) {
            return Err(wrong(format!("`out` must be an array, not `{}`", bad.ty)));
        }
        let written = u.writable.iter().filter_map(|i| inputs.get(*i));
        for a in outs.iter().chain(written) {
            self.check_writable(a.ty)?;
        }
        Ok((inputs, outs))
    }

    /// Types of inputs and results of the loop that NumPy would choose; a ufunc that grows has one for any types.
    fn ufunc_loop(&mut self, u: &Ufunc, tys: &[Ty]) -> Result<(Vec<Ty>, Vec<Ty>)> {
        let natural = || tys.iter().map(|t| t.strong()).collect::<Vec<_>>();
        // A Python number takes the width of others of its kind, or of a higher one.
        let highest = tys.iter().filter(|t| !t.is_weak()).map(|t| rank(*t)).max();
        let settled = |t: Ty| if highest.is_some_and(|h| rank(t) <= h) { t } else { t.strong() };
        let fits = |declared: &[Ty]| tys.iter().zip(declared).all(|(from, to)| can_cast(settled(*from), element(*to)));
        if u.grows {
            // What happened to be compiled before does not matter.
            return Ok((natural(), Vec::new()));
        }
        match u.loops.iter().find(|l| fits(&l[..u.nin])) {
            Some(l) => Ok((l[..u.nin].iter().map(|t| element(*t).strong()).collect(), l[u.nin..].to_vec())),
            None => {
                let got = tys.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ");
                let text = format!("the ufunc `{}` has no loop for {got}", u.name);
                Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("add a signature to its decorator"))
            }
        }
    }

    /// Results of the declared types.
    fn ufunc_result(&mut self, result: &Val, declared: &[Ty]) -> Result<Val> {
        if declared.is_empty() {
            return Ok(result.clone());
        }
        match self.tuple_parts(result) {
            Some(parts) => Ok(Val::tuple(parts.iter().zip(declared).map(|(p, t)| self.cast(p, *t)).collect())),
            None if result.ty.is_number() => Ok(self.cast(result, declared[0])),
            None => Ok(result.clone()),
        }
    }

    /// Several results: arrays filled by one loop of the library.
    fn call_several(
        &mut self,
        u: &Ufunc,
        ins: &[Val],
        tys: &[Ty],
        ret: Ty,
        declared: &[Ty],
        outs: &[Val],
    ) -> Result<Val> {
        let results = match ret.tuple_elems() {
            Some(elems) if declared.is_empty() => elems.to_vec(),
            _ => declared.to_vec(),
        };
        let dtypes = |ts: &[Ty]| Val::tuple(ts.iter().map(|t| Val::of_type(Ty::dtype(t.strong()))).collect());
        let f = Val::of_type(Ty::new(TyKind::Func(u.func)));
        let given = Val::tuple(outs.to_vec());
        let args = [f, dtypes(tys), dtypes(&results), Val::tuple(ins.to_vec()), given];
        self.call_library("cores.several", &args)
    }

    fn call_generalised(&mut self, u: &Ufunc, ins: &[Val], outs: &[Val]) -> Result<Val> {
        let layout = u.layout.as_ref().expect("a generalised ufunc");
        let elements: Vec<Ty> = ins.iter().map(|a| element(a.ty)).collect();
        let declared: Vec<Ty> = if u.grows {
            if outs.len() + ins.len() != layout.operands.len() {
                let text = format!("`{}` has no signatures: its outputs have to be passed", u.name);
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("give its decorator signatures"));
            }
            let dispatch = |declared: &[Ty]| declared.iter().map(|t| ArgTy::from(*t)).collect::<Vec<_>>();
            let scalar = |t: Ty, rank: usize| if rank == 0 { t.strong() } else { Ty::array(t, rank, lh_ir::Layout::A) };
            let own = elements.iter().zip(&layout.operands).map(|(t, d)| scalar(*t, d.len()));
            let given = outs.iter().zip(&layout.operands[u.nin..]);
            let given: Vec<(Ty, usize)> = given.map(|(o, d)| (element(o.ty), d.len())).collect();
            let own: Vec<Ty> = own.collect();
            let with = |least: usize| -> Vec<Ty> {
                let outs = given.iter().map(|(t, rank)| Ty::array(*t, (*rank).max(least), lh_ir::Layout::A));
                own.iter().copied().chain(outs).collect()
            };
            // An output without core dimensions is an array of rank 0, or of one element where it is treated so.
            let flat = with(0);
            match self.world.specialise(u.func, &dispatch(&flat), self.options) {
                Ok(_) => flat,
                Err(_) => with(1),
            }
        } else {
            let (chosen, rest) = self.ufunc_loop(u, &elements)?;
            let l = u.loops.iter().find(|l| {
                l[..u.nin].iter().zip(&chosen).all(|(a, b)| element(*a).strong() == *b) && l[u.nin..] == rest[..]
            });
            l.unwrap_or_else(|| lh_ir::bug!("a chosen loop")).clone()
        };
        let number = |n: usize| Val::tuple(vec![Val::of_type(Ty::none()); n]);
        let kind = |t: &Ty| {
            let rank = t.as_array().map(|(_, rank, ..)| rank);
            let d = Val::of_type(Ty::dtype(element(*t).strong()));
            // A pair is an array of that rank, a dtype alone a number.
            rank.map_or(d.clone(), |r| Val::tuple(vec![d, number(r)]))
        };
        let kinds = Val::tuple(declared.iter().map(kind).collect());
        let dims = layout.operands.iter().map(|ds| Val::tuple(ds.iter().map(|d| number(*d)).collect()));
        let dims = Val::tuple(dims.collect());
        let sizes = Val::tuple(layout.sizes.iter().map(|n| Val::int(i128::from(*n))).collect());
        let f = Val::of_type(Ty::new(TyKind::Func(u.func)));
        let (name, text) = (Val::str(&*u.name), Val::str(&*layout.text));
        // A type, so that it is known while the library is typed: `None` for inputs that are only read.
        let written = |i| Val::of_type(if u.writable.contains(&i) { Ty::dtype(Ty::bool()) } else { Ty::none() });
        let writable = Val::tuple((0..u.nin).map(written).collect());
        let args = [f, name, text, kinds, dims, sizes, writable, Val::tuple(ins.to_vec()), Val::tuple(outs.to_vec())];
        self.call_library("cores.call_generalised", &args)
    }
}

/// Whether NumPy converts safely; a weak number takes the width of the others.
fn can_cast(from: Ty, to: Ty) -> bool {
    if from.is_bool() || from.strong() == to.strong() {
        return true;
    }
    if rank(from) > rank(to) || to.is_bool() {
        return false;
    }
    if from.is_weak() {
        return true;
    }
    let half = |t: Ty| if t.is_complex() { t.bits() / 2 } else { t.bits() };
    match (rank(from), rank(to)) {
        (1, 1) if from.is_signed() == to.is_signed() => from.bits() <= to.bits(),
        (1, 1) => to.is_signed() && from.bits() < to.bits(),
        (1, _) => half(to) >= 64 || from.bits() <= 16,
        _ => half(from) <= half(to),
    }
}
