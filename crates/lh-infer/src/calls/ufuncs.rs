//! Ufuncs in compiled code, the user's and NumPy's: which loop is meant, and the loop fused with what is around it.

use crate::convert::{float_for, rank};
use crate::cx::Infer;
use crate::operations::comparisons::comparison_of;
use crate::operations::operators::{Kernel, cast_expr, element, operator_of, operator_path};
use crate::substitutes;
use crate::val::{Known, Method, Val};
use crate::world::{ArgTy, Object, Ufunc};
use lh_ir::algebra::Algebra;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{MapExpr, Semantics};
use lh_ir::op::{Class, Sig};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::{FuncId, ObjId, Op, Ty};

impl Infer<'_> {
    /// A call of a ufunc that the user made.
    pub(crate) fn call_user_ufunc(
        &mut self,
        f: &Val,
        u: &Ufunc,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        self.pending.taken_by_numpy(args.iter().map(|v| v.ty));
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
            let results = match spec.ret.tuple_elems() {
                Some(elems) if declared.is_empty() => elems,
                _ => &declared[..],
            };
            return self.call_several(u.func, &ins, &tys, results, &outs);
        }
        let args = tys.iter().enumerate().map(|(i, t)| cast_expr(*t, MapExpr::Arg(i as u32, element(ins[i].ty))));
        let ret = declared.first().copied().unwrap_or(spec.ret);
        if !ret.is_scalar() {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("a ufunc returns a number, not `{ret}`")));
        }
        let expr = cast_expr(ret, Kernel::Spec(spec.id, spec.ret).expr(args.collect()));
        let (ret, expr) = match outs.first().and_then(|out| out.ty.as_array()) {
            // Numba converts the results of a program's ufunc to what the array holds.
            Some((to, ..)) if self.semantics() == Semantics::Numba && is_real(to) && is_real(ret) => {
                (to, cast_expr(to, expr))
            }
            _ => (ret, expr),
        };
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

    /// The identity of a ufunc, its result for no elements: a number or `None`.
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
                TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Tuple { .. } => {
                    self.call_library("numpy.asarray", &[a])?
                }
                _ if a.ty.is_scalar() || a.ty.is_array() => a,
                _ => return Err(wrong(format!("the ufunc `{}` does not take `{}`", u.name, a.ty))),
            });
        }
        let several = u.layout.is_none() && outs.len() > 1;
        if let Some(bad) = outs.iter().find(|o| !(o.ty.is_array() || several && o.ty.is_none())) {
            return Err(wrong(format!("`out` must be an array, not `{}`", bad.ty)));
        }
        let written = u.writable.iter().filter_map(|i| inputs.get(*i));
        for a in outs.iter().filter(|o| o.ty.is_array()).chain(written) {
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
            // The result must not depend on loops compiled before.
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

    /// Several results: arrays filled by one loop of the library. An output of `None` is made.
    pub(crate) fn call_several(
        &mut self,
        f: FuncId,
        ins: &[Val],
        tys: &[Ty],
        results: &[Ty],
        outs: &[Val],
    ) -> Result<Val> {
        for (out, from) in outs.iter().zip(results).filter(|(out, _)| !out.ty.is_none()) {
            let Some((to, ..)) = out.ty.as_array() else {
                let text = format!("`out` must be an array, not `{}`", out.ty);
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
            };
            self.check_writable(out.ty)?;
            check_same_kind(*from, to)?;
        }
        let dtypes = |ts: &[Ty]| Val::tuple(ts.iter().map(|t| Val::of_type(Ty::dtype(t.strong()))).collect());
        let f = Val::of_type(Ty::new(TyKind::Func(f)));
        let given = Val::tuple(outs.to_vec());
        let args = [f, dtypes(tys), dtypes(results), Val::tuple(ins.to_vec()), given];
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

impl Infer<'_> {
    /// Operators by name, rows and scalar library kernels, mapped over arrays. `None` when the path is none of these.
    pub(crate) fn call_ufunc(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        if let "numpy.iscomplex" | "numpy.isreal" | "numpy.sinc" = path {
            return self.call_of_one(path, args, kwargs);
        }
        if let Some(v) = self.call_time_ufunc(path, args, kwargs)? {
            return Ok(Some(v));
        }
        let takes = self.operand_count(path)?;
        if let Some(n) = takes.filter(|_| path.starts_with("numpy.") && kwargs.iter().any(|(k, _)| k != "out")) {
            return self.call_with_keywords(path, n, args, kwargs).map(Some);
        }
        if let Some((name, _)) = kwargs.iter().find(|(k, _)| k != "out" || !path.starts_with("numpy.")) {
            return match takes {
                Some(_) => Err(wrong(format!("`{path}` has no argument `{name}` in compiled code"))),
                None => Ok(None),
            };
        }
        if takes.is_some_and(|n| args.len() > n && !kwargs.is_empty()) {
            return Err(wrong(format!("`{path}` has an output by position and one by keyword")));
        }
        let outs = self.given_outputs(path, kwargs)?;
        if outs.len() > 1 {
            return self.call_kernel(path, args, outs);
        }
        let name = path.strip_prefix("numpy.").or(path.strip_prefix("operator.")).unwrap_or(path);
        let operands = takes.or_else(|| operator_path(path, name).map(|_| 2));
        let args = match args.split_last() {
            // An output by position that is to be made.
            Some((last, ins)) if last.ty.is_none() && path.starts_with("numpy.") && operands == Some(ins.len()) => ins,
            _ => args,
        };
        let out = outs.first().filter(|out| !out.ty.is_none()).cloned();
        let args = &self.as_arrays(takes.filter(|_| path.starts_with("numpy.")), args)?;
        if let Some(v) = self.named_operator(path, name, args, out.as_ref())? {
            return Ok(Some(v));
        }
        let is_made = |(i, a): (usize, &Val)| a.ty.is_none() && takes.is_some_and(|n| i >= n);
        let fits = |(i, a): (usize, &Val)| a.ty.is_number() || a.ty.is_array() || is_made((i, a));
        if !args.iter().enumerate().all(fits) || args.is_empty() {
            return match takes.filter(|_| path.starts_with("numpy.")) {
                Some(n) => self.check_operands(path, &args[..n.min(args.len())]).map(|()| None),
                None => Ok(None),
            };
        }
        if let Some(op) = lh_ops::for_python(path) {
            let (mut ins, out) = match (args.split_last(), &out) {
                (Some((last, ins)), None) if path.starts_with("numpy.") && ins.len() == op.sig.arity() => {
                    (ins.to_vec(), Some(last.clone()))
                }
                _ => (args.clone(), out.clone()),
            };
            // To `math`, truth values and narrow integers are Python's.
            let is_narrow = |t: Ty| t.is_bool() || t.is_int() && t.bits() < 64;
            for x in ins.iter_mut().filter(|x| is_narrow(x.ty) && path.starts_with("math.")) {
                *x = self.cast(x, Ty::int());
            }
            if op.sig.arity() == ins.len()
                && let Some(v) = self.call_fitting_row(path, op, ins, out.as_ref())?
            {
                return Ok(Some(v));
            }
        }
        self.call_kernel(path, args, outs)
    }

    /// A ufunc of NumPy with what it takes beside operands and `out=`: operands become the `dtype=`, the result is
    /// stored where `where=` is true.
    fn call_with_keywords(&mut self, path: &str, takes: usize, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        const KNOWN: [&str; 7] = ["out", "where", "dtype", "casting", "order", "signature", "subok"];
        if let Some((name, _)) = kwargs.iter().find(|(k, _)| !KNOWN.contains(&k.as_str())) {
            return Err(wrong(format!("`{path}` has no argument `{name}` in compiled code")).instead_of(KNOWN));
        }
        // None stands for the default of the others.
        let refused = |(k, v): &&(String, Val)| v.ty.is_none() && matches!(&k[..], "casting" | "signature" | "subok");
        if let Some((name, _)) = kwargs.iter().find(refused) {
            return Err(wrong(format!("`{name}=` of `{path}` is not None")));
        }
        let given = |name: &str| kwargs.iter().find(|(k, v)| k == name && !v.ty.is_none()).map(|(_, v)| v.clone());
        if args.len() < takes {
            return Err(wrong(format!("`{path}` takes {takes} operands, but {} were given", args.len())));
        }
        if given("subok").is_some_and(|flag| flag.ty.native() != Ty::bool()) {
            return Err(wrong(format!("`subok=` of `{path}` is a truth value")));
        }
        let (ins, rest) = args.split_at(takes);
        if !rest.is_empty() && given("out").is_some() {
            return Err(wrong(format!("`{path}` has an output by position and one by keyword")));
        }
        let casting = given("casting").unwrap_or_else(|| Val::str("same_kind"));
        if casting.ty.native() != Ty::str() {
            return Err(wrong(format!("the rule of casts of `{path}` is a text, not a `{}`", casting.ty)));
        }
        if given("casting").is_some() {
            self.call_library("numpy.casting.check_rule", std::slice::from_ref(&casting))?;
        }
        let types = self.loop_types(path, takes, given("dtype"), given("signature"))?;
        let mut ins = ins.to_vec();
        for (x, dtype) in ins.iter_mut().zip(&types).filter(|(_, dtype)| !dtype.ty.is_none()) {
            *x = self.call_library("ufunc_methods.as_operand", &[x.clone(), dtype.clone(), casting.clone()])?;
        }
        let result = self.call_library_path(path, &ins, &[])?;
        let results = self.outputs(&result);
        if given("signature").is_some() && types.len() != takes + results.len() {
            return Err(wrong(format!("the signature of `{path}` has {takes} operands and {} results", results.len())));
        }
        let none = Val::of_type(Ty::none());
        let mut outs = given("out").map_or_else(|| rest.to_vec(), |out| self.outputs(&out));
        if outs.len() > results.len() || (given("out").is_some() && outs.len() < results.len()) {
            return Err(outputs_differ(path, results.len(), outs.len()));
        }
        outs.resize(results.len(), none.clone());
        let mask = given("where").unwrap_or_else(|| Val::bool(true));
        let mut stored = Vec::new();
        for (k, (result, out)) in results.into_iter().zip(outs).enumerate() {
            let dtype = types.get(takes + k).unwrap_or(&none).clone();
            let parts = [result, out.clone(), mask.clone(), dtype, casting.clone()];
            let made = self.call_library("ufunc_methods.stored", &parts)?;
            stored.push(match given("order") {
                Some(order) => {
                    self.call_library("ufunc_methods.ordered", &[made, order, out, Val::tuple(ins.clone())])?
                }
                None => made,
            });
        }
        Ok(if result.ty.is_tuple() { Val::tuple(stored) } else { stored.remove(0) })
    }

    /// The dtypes of the loop that `dtype=` or `signature=` asks for, of operands and then of results; `None` where any
    /// will do.
    fn loop_types(&mut self, path: &str, takes: usize, dtype: Option<Val>, of_all: Option<Val>) -> Result<Vec<Val>> {
        let none = Val::of_type(Ty::none());
        let mut types = match (&dtype, &of_all) {
            (Some(_), Some(_)) => return Err(wrong(format!("`{path}` takes `signature=` or `dtype=`, not both"))),
            // Results only, which at most two ufuncs have several of.
            (_, None) => [vec![none.clone(); takes], vec![dtype.unwrap_or(none.clone()); 2]].concat(),
            (None, Some(given)) => match (given.as_str().map(|text| text.split_once("->")), given.ty.is_tuple()) {
                (Some(Some((ins, outs))), _) if ins.len() == takes => {
                    ins.chars().chain(outs.chars()).map(|code| Val::str(code.to_string())).collect()
                }
                (None, true) if self.outputs(given).len() > takes => self.outputs(given),
                _ => {
                    let text = format!("the signature of `{path}` is a text of {takes} codes before `->`, or a tuple");
                    return Err(wrong(text));
                }
            },
        };
        // The dtype of the results alone is that of the operands, too, unless these are only asked something.
        if let (true, Some(last)) = (types.iter().take(takes).all(|t| t.ty.is_none()), types.last().cloned())
            && !last.ty.is_none()
            && !self.as_dtype(&last)?.is_bool()
        {
            types[..takes].fill(last);
        }
        let given = types[..takes].iter().filter(|t| !t.ty.is_none()).cloned().collect::<Vec<_>>();
        let dtypes = given.iter().map(|t| self.as_dtype(t)).collect::<Result<Vec<_>>>()?;
        // Integers are compared as they are; the exponents of `ldexp` are integers.
        let may_differ = path == "numpy.ldexp" || dtypes.iter().all(|t| t.is_int());
        if dtypes.iter().any(|t| *t != dtypes[0]) && !may_differ {
            return Err(wrong(format!("`{path}` has no loop of this signature")));
        }
        Ok(types)
    }

    /// Kernels of functions that are no ufuncs: they have no outputs, and their parameter has a name.
    fn call_of_one(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        match (args, kwargs) {
            ([_], []) => self.call_kernel(path, args, Vec::new()),
            ([], [(name, x)]) if name == "x" => self.call_kernel(path, std::slice::from_ref(x), Vec::new()),
            _ => Err(wrong(format!("`{path}` takes one argument"))),
        }
    }

    /// The outputs of `out=`, one at least.
    fn given_outputs(&mut self, path: &str, kwargs: &[(String, Val)]) -> Result<Vec<Val>> {
        let Some((_, out)) = kwargs.first() else { return Ok(Vec::new()) };
        let outs = self.outputs(out);
        if outs.is_empty() { Err(outputs_differ(path, 1, 0)) } else { Ok(outs) }
    }

    /// The outputs of `out=`: one, or those of a tuple. `None` stands for one that is to be made.
    pub(crate) fn outputs(&mut self, out: &Val) -> Vec<Val> {
        self.tuple_parts(out).unwrap_or_else(|| vec![out.clone()])
    }

    /// The library's scalar kernel of a ufunc for each element. Behind the operands stand outputs, if `out=` has none.
    fn call_kernel(&mut self, path: &str, args: &[Val], mut outs: Vec<Val>) -> Result<Option<Val>> {
        let Some(f) = self.ufunc_kernel(path) else {
            return match outs.len() {
                0 | 1 => Ok(None),
                n => Err(outputs_differ(path, 1, n)),
            };
        };
        let takes = self.world.code(f)?.params.len();
        let args = self.as_arrays(Some(takes), args)?;
        if args.len() < takes || (args.len() > takes && !outs.is_empty()) {
            return Err(wrong(format!("`{path}` takes {takes} operands, but {} were given", args.len())));
        }
        let ins = self.with_complex(&args[..takes]);
        self.check_operands(path, &ins)?;
        outs.extend_from_slice(&args[takes..]);
        let options = lh_ir::func::Options { numpy_errors: true, ..self.options };
        let Some(ins) = &self.in_range(f, ins, options)? else { return Ok(Some(Val::of_type(Ty::never()))) };
        let ins = &self.beside_truths(ins);
        let tys: Vec<Ty> = ins.iter().map(|a| element(a.ty)).collect();
        let arg_tys: Vec<ArgTy> = tys.iter().map(|t| ArgTy::from(*t)).collect();
        if !outs.is_empty() {
            let ret = self.world.specialise(f, &arg_tys, options)?.ret;
            let has = ret.tuple_elems().map_or(1, <[_]>::len);
            if outs.len() != has {
                return Err(outputs_differ(path, has, outs.len()));
            }
            if outs.iter().all(|out| out.ty.is_none()) {
                outs.clear();
            }
        }
        if outs.is_empty() && !ins.iter().any(|a| a.ty.is_array()) {
            let saved = std::mem::replace(&mut self.options, options);
            let result = self.call_func(f, ins, &[]);
            self.options = saved;
            return result.map(Some);
        }
        let spec = self.world.specialise(f, &arg_tys, options)?;
        if let Some(results) = spec.ret.tuple_elems() {
            let saved = std::mem::replace(&mut self.options, options);
            let made = self.call_several(f, ins, &tys, results, &outs);
            self.options = saved;
            return made.map(Some);
        }
        let expr = Kernel::Spec(spec.id, spec.ret)
            .expr(tys.iter().enumerate().map(|(i, t)| MapExpr::Arg(i as u32, *t)).collect());
        Ok(Some(self.map_out(ins, spec.ret, expr, outs.first())?))
    }

    /// Operands of a kernel that computes in a type of integers: a Python integer beside another one has its type, or
    /// raises. `None` of a literal that does not fit.
    fn in_range(&mut self, f: FuncId, ins: Vec<Val>, options: lh_ir::func::Options) -> Result<Option<Vec<Val>>> {
        let [a, b] = &ins[..] else { return Ok(Some(ins)) };
        let (s, t) = (element(a.ty), element(b.ty));
        if !s.is_int() || !t.is_int() || s.is_weak() == t.is_weak() {
            return Ok(Some(ins));
        }
        let ret = self.world.specialise(f, &[ArgTy::from(s), ArgTy::from(t)], options)?.ret;
        if !ret.tuple_elems().map_or(ret.is_int(), |all| all.iter().all(|t| t.is_int())) {
            return Ok(Some(ins));
        }
        self.in_type_of_other(ins)
    }

    /// Operands of which Python's integers have the type of their own that they have beside nothing but truth values.
    fn beside_truths(&mut self, ins: &[Val]) -> Vec<Val> {
        let is_weak = |a: &Val| a.ty.is_int() && a.ty.is_weak();
        if !ins.iter().all(|a| is_weak(a) || element(a.ty).is_bool()) || ins.iter().all(is_weak) {
            return ins.to_vec();
        }
        ins.iter().map(|a| if is_weak(a) { self.cast(a, Ty::i64()) } else { a.clone() }).collect()
    }

    /// Two integers, of which one that is Python's has the type of the other one, or raises; as `in_range`.
    fn in_type_of_other(&mut self, ins: Vec<Val>) -> Result<Option<Vec<Val>>> {
        let [a, b] = &ins[..] else { return Ok(Some(ins)) };
        let (s, t) = (element(a.ty), element(b.ty));
        if !s.is_int() || !t.is_int() || s.is_weak() == t.is_weak() {
            return Ok(Some(ins));
        }
        let (weak, other) = if s.is_weak() { (a, b) } else { (b, a) };
        let t = element(other.ty);
        if self.literal_out_of_range(weak, other, t).is_some() {
            return Ok(None);
        }
        let fitted = self.fitted(weak, other, t)?;
        Ok(Some(if s.is_weak() { vec![fitted, b.clone()] } else { vec![a.clone(), fitted] }))
    }

    /// Refuses what has no elements that are numbers; a missing number is found out when the program runs.
    fn check_operands(&mut self, path: &str, ins: &[Val]) -> Result<()> {
        let fits = |t: Ty| element(t).is_number() || t.is_never() || matches!(t.kind(), TyKind::Optional(_));
        match ins.iter().find(|a| !fits(a.ty)) {
            Some(odd) => {
                let d = wrong(format!("`{path}` takes numbers and arrays of them, not `{}`", odd.ty));
                Err(self.because_of_opaque(&d, [odd]).unwrap_or(d))
            }
            None => Ok(()),
        }
    }

    /// How many operands a function takes that is a row or a kernel; `None` of others.
    pub(crate) fn operand_count(&mut self, path: &str) -> Result<Option<usize>> {
        if let Some(op) = lh_ops::for_python(path) {
            return Ok(Some(op.sig.arity()));
        }
        self.ufunc_kernel(path).map(|f| Ok(self.world.code(f)?.params.len())).transpose()
    }

    /// Sequences given to NumPy's ufuncs as operands become arrays; those behind them are outputs.
    pub(crate) fn as_arrays(&mut self, takes: Option<usize>, args: &[Val]) -> Result<Vec<Val>> {
        let is_sequence = |t: Ty| {
            matches!(t.kind(), TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Tuple { .. })
                || t.class().is_some_and(lh_ir::class::Class::is_mixed)
        };
        let array = |(i, a): (usize, &Val)| {
            let is_operand = takes.is_some_and(|n| i < n) && is_sequence(a.ty);
            if is_operand { self.call_library("numpy.asarray", std::slice::from_ref(a)) } else { Ok(a.clone()) }
        };
        args.iter().enumerate().map(array).collect()
    }

    /// The library's scalar kernel of a ufunc.
    fn ufunc_kernel(&mut self, path: &str) -> Option<FuncId> {
        let name = path.strip_prefix("numpy.")?;
        self.world.library(&format!("numpy._ufuncs.{name}")).map(|(f, _)| f)
    }

    /// `operator.add(a, b)`, `np.add(a, b)`, `operator.lt`, ...
    fn named_operator(&mut self, path: &str, name: &str, args: &[Val], out: Option<&Val>) -> Result<Option<Val>> {
        let Some(numpy) = operator_path(path, name) else { return Ok(None) };
        // Complex numbers have an order only in NumPy's functions: real parts first.
        let ordered = matches!(name, "less" | "less_equal" | "greater" | "greater_equal");
        if ordered && args.iter().any(|a| element(a.ty).is_complex()) {
            return Ok(None);
        }
        let Some(args) = (if path.starts_with("numpy.") { self.numeric(args)? } else { Some(args.to_vec()) }) else {
            return Ok(None);
        };
        let saved = self.options;
        let numpy_numbers = path.starts_with("numpy.") && args.iter().all(|a| a.ty.is_number());
        self.options.numpy_errors |= path.starts_with("numpy.");
        let result = match &args[..] {
            [a, b] if out.is_none() => match (operator_of(numpy), comparison_of(numpy)) {
                (Some(op), _) if numpy_numbers => self.binary_as_ufunc(op, a, b).map(Some),
                (Some(op), _) => self
                    .binary(op, a, b, path.starts_with("operator.i") && name != "index" && name != "invert")
                    .map(Some),
                (_, Some(op)) => self.compare(op, a, b).map(Some),
                _ => match name {
                    "is_" => self.is(a, b, false).map(Some),
                    "is_not" => self.is(a, b, true).map(Some),
                    "contains" => self.contains(b, a, false).map(Some),
                    "getitem" => self.get_item(a, b).map(Some),
                    _ => Ok(None),
                },
            },
            [a, b] if path.starts_with("numpy.") => self.operator_out(numpy, a, b, out.expect("just asked")),
            [a, b, out] if path.starts_with("numpy.") => self.operator_out(numpy, a, b, out),
            [a] if path.starts_with("operator.") => match name {
                "neg" => self.unary(lh_ir::untyped::UnOp::Neg, a).map(Some),
                "pos" => self.unary(lh_ir::untyped::UnOp::Pos, a).map(Some),
                "invert" | "inv" => self.unary(lh_ir::untyped::UnOp::Invert, a).map(Some),
                "not_" => self.unary(lh_ir::untyped::UnOp::Not, a).map(Some),
                "truth" => self.truth(a).map(Some),
                "index" if a.ty.is_int() => Ok(Some(a.clone())),
                _ => Ok(None),
            },
            _ => Ok(None),
        };
        self.options = saved;
        result
    }

    /// Operands of a ufunc: sequences are arrays; `None` with texts and bytes, which it does not take.
    fn numeric(&mut self, args: &[Val]) -> Result<Option<Vec<Val>>> {
        if args.iter().any(|a| a.ty == Ty::str() || a.ty.as_buffer().is_some()) {
            return Ok(None);
        }
        // Of truth values alone NumPy makes truth values, Python integers. Behind two operands stands an output.
        let truths = args.iter().take(2).all(|a| a.ty.is_bool());
        let mut array = |a: &Val| match a.ty.kind() {
            TyKind::Bool if !truths => Ok(a.clone()),
            TyKind::Tuple { .. } | TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Bool => {
                self.call_library("numpy.asarray", std::slice::from_ref(a))
            }
            TyKind::None
            | TyKind::DType(_)
            | TyKind::Func(_)
            | TyKind::Obj(_)
            | TyKind::Range(_)
            | TyKind::Slice(_) => Err(wrong(format!("a ufunc takes numbers and arrays of them, not `{}`", a.ty))),
            _ => Ok(a.clone()),
        };
        args.iter()
            .enumerate()
            .map(|(i, a)| if i < 2 { array(a) } else { Ok(a.clone()) })
            .collect::<Result<_>>()
            .map(Some)
    }

    /// A ufunc form of an operator with `out=`: the result goes into that array, if its type allows it.
    fn operator_out(&mut self, name: &str, a: &Val, b: &Val, out: &Val) -> Result<Option<Val>> {
        let result = match (operator_of(name), comparison_of(name)) {
            (Some(op), _) => self.binary(op, a, b, false)?,
            (_, Some(op)) => self.compare(op, a, b)?,
            _ => return Ok(None),
        };
        let Some((to, ..)) = out.ty.as_array() else {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`out` must be an array, not `{}`", out.ty)));
        };
        check_ranks(std::slice::from_ref(&result), out)?;
        let from = element(result.ty);
        check_same_kind(from, to)?;
        // The result is that of a loop of NumPy's, not a Python number that the output has to hold.
        let result = if result.ty.is_number() { self.cast(&result, from.strong()) } else { result };
        self.set_item(out, &Val::of_type(Ty::ellipsis()), &result)?;
        Ok(Some(out.clone()))
    }

    /// As `call_row`; to NumPy, a Python integer beside another one has its type, or raises.
    fn call_fitting_row(
        &mut self,
        path: &str,
        op: &'static Op,
        mut ins: Vec<Val>,
        out: Option<&Val>,
    ) -> Result<Option<Val>> {
        if path.starts_with("numpy.") && matches!(op.sig, Sig::Same(_, class) if class.has(Ty::i64())) {
            let Some(fitting) = self.in_type_of_other(ins)? else { return Ok(Some(Val::of_type(Ty::never()))) };
            ins = fitting;
        } else if path.starts_with("numpy.") && matches!(op.sig, Sig::Same(_, Class::Floats)) {
            ins = self.beside_truths(&ins);
        }
        self.call_row(op, &ins, out)
    }

    /// A row on numbers or arrays; `None` when the operands' class does not fit.
    fn call_row(&mut self, op: &'static Op, ins: &[Val], out: Option<&Val>) -> Result<Option<Val>> {
        // The least integer has neither a negation nor an absolute value: functions of the library ask.
        if self.options.overflow_check && !self.is_library && (op.is(Algebra::Negate) || op.is(Algebra::Abs)) {
            return Ok(None);
        }
        let class = match op.sig {
            Sig::Same(_, c) | Sig::Pred(_, c) => c,
            Sig::Select(_) | Sig::Convert(..) | Sig::Fixed(..) => return Ok(None),
        };
        let common = |of: fn(Ty) -> Ty| {
            let types: Vec<Ty> = ins.iter().map(|a| of(element(a.ty))).collect();
            self.operands_type(&types)
        };
        let mut t = common(|t| t);
        if class == Class::Floats && (t.is_int() || t.is_bool()) {
            // Each operand for itself: `int16` and `uint16` meet in `int32`, but `float32` holds them both.
            t = common(float_for);
        }
        if !class.has(t) {
            return Ok(None);
        }
        if !ins.iter().any(|a| a.ty.is_array()) && out.is_none() {
            let args: Vec<Val> = ins.iter().map(|a| self.cast(a, t)).collect();
            return Ok(Some(self.op_row(op, &args, None)));
        }
        let t = t.strong();
        let ret = op.sig.result(&vec![t; ins.len()], None).expect("fits");
        let args = ins.iter().enumerate().map(|(i, a)| cast_expr(t, MapExpr::Arg(i as u32, element(a.ty)))).collect();
        Ok(Some(self.map_out(ins, ret, crate::operations::operators::row_expr(op, ret, args), out)?))
    }

    /// An elementwise result, into `out` if there is one.
    pub(crate) fn map_out(&mut self, ins: &[Val], ret: Ty, expr: MapExpr, out: Option<&Val>) -> Result<Val> {
        let Some(out) = out else { return Ok(self.map(ins, ret, expr)) };
        let Some((d, ..)) = out.ty.as_array() else {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`out` must be an array, not `{}`", out.ty)));
        };
        self.check_writable(out.ty)?;
        check_ranks(ins, out)?;
        check_same_kind(ret, d)?;
        let mut ins = ins.to_vec();
        let expr = self.time_expr(d, expr, &mut ins)?;
        self.map_into(out, &ins, expr);
        Ok(out.clone())
    }
}

fn is_real(t: Ty) -> bool {
    t.is_number() && !t.is_complex()
}

/// An output has all dimensions of the operands: none is left out, even if its extent is one.
fn check_ranks(ins: &[Val], out: &Val) -> Result<()> {
    let rank = |v: &Val| v.ty.as_array().map_or(0, |(_, n, ..)| n);
    let most = ins.iter().map(rank).max().unwrap_or(0);
    if most <= rank(out) {
        return Ok(());
    }
    Err(wrong(format!("the output has {} dimensions, but the operands have {most}", rank(out))))
}

/// Too many or too few outputs of a ufunc.
fn wrong(text: String) -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_MATCHING_CALL, text)
}

fn outputs_differ(path: &str, has: usize, given: usize) -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{path}` has {has} outputs, but {given} were given"))
}

/// Refuses a result of a type that NumPy does not store as another without being asked: `same_kind` casting.
pub(crate) fn check_same_kind(from: Ty, to: Ty) -> Result<()> {
    if from.is_time() || to.is_time() {
        let fits = from.is_time() && to.is_time();
        let text = format!("a result of `{from}` does not go into an array of `{to}`");
        return if fits { Ok(()) } else { Err(Diagnostic::new(diag::NO_MATCHING_CALL, text)) };
    }
    let rank = |t: Ty| match t.kind() {
        TyKind::Bool => 0,
        TyKind::Int { signed: false, .. } => 1,
        TyKind::Int { .. } => 2,
        TyKind::Float { .. } | TyKind::Bfloat16 => 3,
        _ => 4,
    };
    if rank(from) <= rank(to) {
        return Ok(());
    }
    let text = format!("the result, of `{from}`, cannot be stored as `{to}`");
    Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("convert it with `.astype(...)`"))
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

/// The refusal of a function that is not compiled, or not for complex numbers.
pub(super) fn unsupported(path: &str, args: &[Val]) -> Box<Diagnostic> {
    let is_complex = |a: &&Val| element(a.ty).is_complex();
    if let Some(a) = args.iter().find(is_complex).filter(|_| lh_ops::for_python(path).is_some()) {
        return wrong(format!("`{path}` is not defined for `{}`", a.ty))
            .note("it takes real numbers, as in NumPy: `abs(z)`, `z.real` and `z.imag` are such");
    }
    Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{path}` is not supported in compiled code"))
        .note(substitutes::advice(path))
}
