//! Calls: what a callee is, binding of arguments, specialisation.

mod builtins;
mod commutative;
pub(crate) mod containers;
mod conversions;
pub(crate) mod cuda;
mod einsum;
pub(crate) mod exit_stacks;
mod foreign;
mod functions;
mod getters;
mod gradients;
mod linked;
mod loop_hints;
mod memo;
mod overloads;
mod prims;
mod refused;
mod threads;
pub(crate) mod times;
mod tuples;
mod ufuncs;
pub(crate) mod vectors;

pub use getters::OF_LIBRARY;

use crate::convert::passes_pending;
use crate::cx::{Infer, Wishes};
use crate::operations::attributes::no_field;
use crate::operations::iterators::is_description;
use crate::substitutes;
use crate::val::{Known, Plan, Val};
use crate::world::{ArgTy, Object, Spec};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::runtime::RuntimeFn;
use lh_ir::types::{Buffer, Holds, InstanceOf, Literal, NamedTuple, Prim, TyKind};
use lh_ir::untyped::{Code, ParamKind};
use lh_ir::{Const, FuncId, ObjId, Ty, Value};

/// Most machine primitives of an argument: a recursion with `(x, x)` would double them a hundred times over.
const MAX_PARTS: usize = 1 << 14;

impl Infer<'_> {
    /// `f(*args, **kwargs)`
    pub(crate) fn call(&mut self, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if let Some(Known::Method(recv, method)) = f.known.as_deref().cloned() {
            // Methods of texts take members that are texts or integers as such, but for those that fill in texts.
            let fills = matches!(f.ty.kind(), TyKind::BoundMethod { name, .. } if name.starts_with("format"));
            let is_template = matches!(f.ty.kind(), TyKind::BoundMethod { name, .. } if &**name == "format");
            if let Some(text) = if is_template { self.filled(&recv, args, kwargs)? } else { None } {
                return Ok(text);
            }
            if recv.ty == Ty::str() && !fills && args.iter().any(|a| a.ty.native() != a.ty) {
                let native = |a: &Val| if a.ty.native() == a.ty { a.clone() } else { self.field(a, 0) };
                let args = args.iter().map(native).collect::<Vec<_>>();
                return self.call_method(recv, &method, &args, kwargs);
            }
            if recv.ty.as_buffer() == Some(Buffer::MemoryView) {
                // A shape.
                let args: Vec<Val> = args.iter().map(|a| self.initial_tuple(a)).collect();
                let kwargs: Vec<_> = kwargs.iter().map(|(n, v)| (n.clone(), self.initial_tuple(v))).collect();
                return self.call_method(recv, &method, &args, &kwargs);
            }
            return self.call_method(recv, &method, args, kwargs);
        }
        if let (false, TyKind::Func(_) | TyKind::Obj(_)) = (self.is_library, f.ty.kind())
            && let Some(v) = self.call_overload(Some(f.ty), "", args, kwargs)?
        {
            return Ok(v);
        }
        if let Some(Known::Merge(map)) = f.known.as_deref() {
            return self.merge(*map, args);
        }
        match f.ty.kind() {
            TyKind::Func(id) => {
                let result = self.call_func(*id, args, kwargs);
                self.or_made_here(*id, args, kwargs, result)
            }
            TyKind::Closure { func, captures, .. } => {
                let result = self.call_closure(f, args, kwargs);
                if captures.is_empty() { self.or_made_here(*func, args, kwargs, result) } else { result }
            }
            TyKind::Choice(_) => self.call_choice(f, args, kwargs),
            TyKind::Instance { class: InstanceOf::Function { args: wanted, ret }, .. } => {
                self.call_as(f, wanted, *ret, args, kwargs)
            }
            TyKind::DType(t) => {
                let args = self.dtype_arguments(*t, args, kwargs)?;
                match (f.known.as_deref(), &args[..]) {
                    (Some(Known::PythonBool), [x]) => self.truth(x),
                    _ => self.call_dtype(*t, &args),
                }
            }
            TyKind::Obj(o) => self.call_object(*o, f, args, kwargs),
            TyKind::BoundMethod { name, .. } => {
                let r = self.field(f, 0);
                let m = self.get_attr(&r, name)?;
                self.call(&m, args, kwargs)
            }
            TyKind::Never => Ok(f.clone()),
            _ => self.call_instance(f, args, kwargs),
        }
    }

    /// A call of an object that is known while compiling.
    fn call_object(&mut self, o: ObjId, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let object = self.world.object(o);
        if let Object::Path(p) = &object {
            self.check_known_call(p, args, kwargs)?;
        } else if matches!(object, Object::Ufunc(_) | Object::Stencil(_) | Object::Foreign(_) | Object::Linked(_)) {
            let name = self.world.describe(o);
            self.check_known_call(&name, args, kwargs)?;
        }
        match object {
            // Before it is asked what an inner function captures.
            Object::Path(p) if matches!(&*p, "functools.cache" | "functools.lru_cache") => {
                let text = format!("`{p}` decorates functions outside of compiled code");
                let note = "move the inner function out, and give it what it captures as arguments";
                Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text).note(note))
            }
            Object::Path(p) => self.call_path(&p, args, kwargs),
            Object::ExcClass(id, name) => self.make_exception(id, &name, args, kwargs),
            Object::NamedTupleClass(_) | Object::EnumClass(_) | Object::Class(_) => self.call_class(o, args, kwargs),
            Object::Partial { .. } | Object::Getter { .. } => {
                let made = self.object(o)?;
                self.call(&made, args, kwargs)
            }
            Object::Cached(func, limit) => self.call_cached(o, func, limit, args, kwargs),
            Object::Ufunc(u) => self.call_user_ufunc(f, &u, args, kwargs),
            Object::Stencil(s) => self.call_stencil(&s, &Val::of_type(Ty::none()), args, kwargs),
            Object::Foreign(f) => self.call_foreign(o, &f, args, kwargs),
            Object::Linked(l) if kwargs.is_empty() => self.call_linked(o, &l, args),
            other => {
                let name = self.world.describe(o);
                let d = Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{name}` cannot be called in compiled code"));
                Err(match other {
                    Object::Module(_) => d.note("a module is not callable"),
                    _ if substitutes::of(&name).is_none() && self.world.attr(o, "__mro__").is_some() => {
                        d.note("decorate the class with `@dataclass` or `jitclass`, or call it outside of the function")
                    }
                    Object::BoundMethod(..) if substitutes::of(&name).is_none() => {
                        d.note(format!("{}, or pass the method as an argument", substitutes::OUTSIDE))
                    }
                    _ => d.note(substitutes::advice(&name)),
                })
            }
        }
    }

    /// A call of a class that a program defines.
    fn call_class(&mut self, o: ObjId, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        match self.world.object(o) {
            Object::NamedTupleClass(n) => self.call_namedtuple(&n, args, kwargs),
            Object::EnumClass(e) => self.call_enum(&e, args),
            Object::Class(c) => self.make_instance(&c, args, kwargs),
            other => lh_ir::bug!("no class: {other:?}"),
        }
    }

    /// `result`, or, for a function that only makes an untyped container, that container.
    fn or_made_here(&mut self, f: FuncId, args: &[Val], kwargs: &[(String, Val)], result: Result<Val>) -> Result<Val> {
        match result {
            Err(d) if d.id == diag::UNTYPED_LIST && args.is_empty() && kwargs.is_empty() => self.made_here(f)?.ok_or(d),
            other => other,
        }
    }

    /// A call of a Python function: binds arguments, specialises, emits.
    pub(crate) fn call_func(&mut self, f: FuncId, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let code = self.world.code(f)?;
        // Outside, `contextlib.contextmanager` makes such a function.
        if code.name == "helper"
            && code.file.ends_with("/contextlib.py")
            && let Some(at) = code.freevars.iter().position(|n| n == "func")
            && let Some(o) = self.world.free(f, at as u32)
        {
            let func = self.object(o)?;
            return self.manager_of(&func, args, kwargs);
        }
        let info = self.world.info(f);
        let defaults = info.defaults.iter().map(|o| self.object(*o)).collect::<Result<Vec<_>>>()?;
        let kwdefaults =
            info.kwdefaults.iter().map(|(n, o)| Ok((n.clone(), self.object(*o)?))).collect::<Result<Vec<_>>>()?;
        let mut bound = self.bind(&code, &defaults, &kwdefaults, args, kwargs)?;
        let signatures = if info.is_library { Vec::new() } else { self.world.signatures(f) };
        if signatures.is_empty() {
            return self.call_bound(f, bound, info.is_library, &code);
        }
        let best = self.best_signature(&code.name, "its decorator limits it to", &signatures, &bound)?;
        let (wanted, ret) = &signatures[best];
        for (v, t) in bound.iter_mut().zip(wanted) {
            *v = self.convert(v, t.with_functions(v.ty))?;
        }
        let result = self.call_bound(f, bound, false, &code)?;
        match ret {
            Some(t) if result.ty.is_number() && t.is_number() => Ok(self.cast(&result, *t)),
            _ => Ok(result),
        }
    }

    /// The signature that takes the arguments at the least cost of conversion.
    pub(crate) fn best_signature(
        &self,
        name: &str,
        limit: &str,
        signatures: &[(Vec<Ty>, Option<Ty>)],
        bound: &[Val],
    ) -> Result<usize> {
        let own: Vec<Ty> = bound.iter().map(|v| v.ty.weak()).collect();
        let cost = |i: &usize| {
            let args: Vec<Ty> = signatures[*i].0.iter().map(|t| t.weak()).collect();
            crate::cost_of_all(&own, &args)
        };
        (0..signatures.len()).filter(|i| cost(i).is_some()).min_by_key(cost).ok_or_else(|| {
            let given = bound.iter().map(|v| v.ty.numba().to_string()).collect::<Vec<_>>().join(", ");
            let text = format!("Invalid use of `{name}` with parameters ({given})");
            let has = signatures.iter().map(|(args, _)| format!("{args:?}")).collect::<Vec<_>>().join(" or ");
            Diagnostic::new(diag::NO_MATCHING_CALL, text).note(format!("{limit} {has}"))
        })
    }

    pub(crate) fn call_bound(&mut self, f: FuncId, mut bound: Vec<Val>, library: bool, code: &Code) -> Result<Val> {
        if library {
            self.check_library_call(code, &bound)?;
        }
        let mut tys = Vec::new();
        for v in &mut bound {
            *v = self.argument(v, code, library)?;
        }
        if bound.iter().any(|v| passes_pending(v.ty) || v.ty.is_never()) {
            let ret = if self.asks_callees { self.ask_callee(f, &bound)? } else { Ty::never() };
            return Ok(if ret.flatten().is_empty() { Val::of_type(ret) } else { self.push(Inst::Zero, ret) });
        }
        for v in &bound {
            if v.ty.flatten().len() > MAX_PARTS {
                return Err(Diagnostic::new(diag::TOO_LARGE, format!("an argument has more than {MAX_PARTS} parts"))
                    .note("a recursion whose argument types grow with every call never ends"));
            }
            let value = v.as_const().filter(|c| library && matches!(c, Const::Bool(_) | Const::Str(_))).cloned();
            tys.push(ArgTy { ty: v.ty, value, items: None });
        }
        if code.is_generator {
            self.makes.insert(f);
            tys.extend(self.sends.get(&f).map(|t| ArgTy::sent(*t)));
        }
        let spec = loop {
            match self.world.specialise(f, &tys, self.options) {
                Ok(spec) => break spec,
                // The callee needs a constant, which is known here, so it is typed for the value.
                Err(d)
                    if d.id == diag::NEEDS_CONSTANT
                        && (self.wishes == Wishes::Granted || d.literal.is_none())
                        && !library
                        && !tys[..bound.len()].iter().any(ArgTy::is_known)
                        && bound.iter().any(is_constant) =>
                {
                    for (t, v) in tys.iter_mut().zip(&bound) {
                        t.value = v.as_const().cloned();
                        t.items = v.parts().and_then(|p| p.iter().map(|x| x.as_const().cloned()).collect());
                    }
                }
                Err(d) if d.widen.is_some() || d.sent.is_some() => {
                    let widens = d.widen.is_some();
                    let heard = if widens { self.widened_by_callee(d, &bound) } else { self.sent_by_callee(d) };
                    heard.map_err(|d| self.called_from(d, code, library))?;
                    return Ok(Val::of_type(Ty::never()));
                }
                // A result of items of unknown type may be wrong only because of that.
                Err(_) if bound.iter().any(|v| has_unknown_items(v.ty)) => {
                    (self.is_open, self.unknown_items) = (true, true);
                    return Ok(Val::of_type(Ty::never()));
                }
                Err(d) => self.wished(d, &bound, &mut tys).map_err(|d| self.refused_call(d, &bound, code, library))?,
            }
        };
        Ok(self.call_specialised(spec, &bound, &tys, library))
    }

    /// Calls a specialisation with those of its arguments that are not known while compiling.
    fn call_specialised(&mut self, spec: Spec, bound: &[Val], tys: &[ArgTy], library: bool) -> Val {
        self.unknown_items |= has_unknown_items(spec.ret) || bound.iter().any(|v| has_unknown_items(v.ty));
        self.is_open |= spec.is_open || self.unknown_items;
        let run_time = bound.iter().zip(tys).filter(|(v, t)| !t.is_known() && !v.ty.flatten().is_empty());
        let args: Vec<Value> =
            run_time.map(|(v, _)| v.clone()).collect::<Vec<_>>().iter().map(|v| self.value(v)).collect();
        self.calls_users |= !library;
        let result = self.push(Inst::Call(spec.id, args), spec.ret);
        if spec.ret.is_never() {
            self.stop();
            return Val::of_type(spec.ret);
        }
        if spec.ret.flatten().is_empty() { Val::of_type(spec.ret) } else { result }
    }

    /// An argument as callees take it: iterators become objects, or lists of what they give for NumPy's functions.
    fn argument(&mut self, v: &Val, callee: &Code, library: bool) -> Result<Val> {
        let v = self.handed_over(v.clone());
        let is_numpy = library && callee.file.contains("/numpy/");
        let in_list = is_numpy || self.is_differentiated();
        let keeps = library && crate::operations::iterators::asks_again(callee);
        match (v.ty.kind(), v.flat()) {
            (_, Some(a)) if is_numpy => self.method(&a, "ravel", &[]),
            (TyKind::Iter(_), _) if !is_description(&v) || in_list => self.collect(&v),
            (TyKind::Iter(_), _) if library && !keeps => self.at_once(&v),
            (TyKind::Iter(_), _) => self.iterator(&v),
            // Such callees begin with `iter`.
            _ if keeps && !self.is_library && callee.is_generator && self.is_table(&v, "__place__") => {
                self.iterator(&v)
            }
            // Such as `*iterables`.
            (TyKind::Tuple { elems, .. }, _) if elems.iter().any(|t| matches!(t.kind(), TyKind::Iter(_))) => {
                let parts = self.tuple_parts(&v).unwrap_or_default();
                let parts = parts.iter().map(|part| self.argument(part, callee, library));
                Ok(Val::tuple(parts.collect::<Result<Vec<_>>>()?))
            }
            _ => Ok(v),
        }
    }

    /// Finds the types of undecided containers by what a callee stores in them; returns its result type, if it has one
    /// for these arguments. Another sweep emits the call.
    fn ask_callee(&mut self, f: FuncId, bound: &[Val]) -> Result<Ty> {
        let is_open = |v: &Val| matches!(v.ty.kind(), TyKind::Pending(..));
        if !bound.iter().any(is_open) || bound.iter().any(|v| v.ty.is_never() || (passes_pending(v.ty) && !is_open(v)))
        {
            return Ok(Ty::never());
        }
        // The callee numbers sites by itself. Empty lists from Python have the number after this one, since a function
        // that is typed for these takes those that its use does not decide for lists of integers.
        let anywhere = |t: Ty| match t.kind() {
            TyKind::Pending(_, class) => Ty::new(TyKind::Pending(u32::MAX - 1, *class)),
            _ => t,
        };
        let tys: Vec<ArgTy> = bound.iter().map(|v| ArgTy { ty: anywhere(v.ty), value: None, items: None }).collect();
        let taught = self.world.taught(f, &tys, self.options)?;
        for (v, args) in bound.iter().zip(taught.args) {
            if let TyKind::Pending(site, _) = v.ty.kind() {
                for (at, t) in args.iter().enumerate().filter(|(_, t)| !t.is_never()) {
                    self.pending.learn(*site, at, *t);
                }
            }
        }
        Ok(taught.ret)
    }

    /// Binds arguments to parameters as Python does; the result is one value for each parameter.
    pub(crate) fn bind(
        &mut self,
        code: &Code,
        defaults: &[Val],
        kwdefaults: &[(String, Val)],
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Vec<Val>> {
        let positional = code.params.iter().filter(|p| p.kind == ParamKind::Positional).count();
        let wrong = |text: String| Diagnostic::new(diag::NO_MATCHING_CALL, text);
        let name = &code.name;
        let mut out: Vec<Option<Val>> = vec![None; code.params.len()];
        for (i, a) in args.iter().take(positional).enumerate() {
            out[i] = Some(a.clone());
        }
        let rest = args.get(positional..).unwrap_or_default().to_vec();
        let varargs = code.params.iter().position(|p| p.kind == ParamKind::VarArgs);
        match varargs {
            Some(i) => out[i] = Some(Val::tuple(rest)),
            None if !rest.is_empty() => {
                return Err(wrong(format!(
                    "`{name}` takes {positional} positional arguments, but {} were given",
                    args.len()
                )));
            }
            None => {}
        }
        let mut extra = Vec::new();
        let takes_more = code.params.iter().any(|p| p.kind == ParamKind::VarKeywords);
        for (k, v) in kwargs {
            let at = code.params.iter().enumerate().position(|(i, p)| {
                p.name == *k && matches!(p.kind, ParamKind::Positional | ParamKind::KeywordOnly) && i >= code.posonly
            });
            match at {
                Some(i) if out[i].is_none() => out[i] = Some(v.clone()),
                Some(_) => return Err(wrong(format!("`{name}` got multiple values for argument `{k}`"))),
                None if takes_more => extra.push(Val::tuple(vec![name_of_keyword(k), v.clone()])),
                None => {
                    let known = code.params.iter().map(|p| p.name.as_str());
                    return Err(wrong(format!("`{name}` has no argument `{k}`")).instead_of(known));
                }
            }
        }
        let first_default = positional - defaults.len().min(positional);
        for (i, p) in code.params.iter().enumerate() {
            if out[i].is_some() {
                continue;
            }
            out[i] = match p.kind {
                ParamKind::Positional if i >= first_default => Some(defaults[i - first_default].clone()),
                ParamKind::KeywordOnly => kwdefaults.iter().find(|(n, _)| *n == p.name).map(|(_, v)| v.clone()),
                ParamKind::VarKeywords => Some(Val::tuple(extra.clone())),
                ParamKind::Positional | ParamKind::VarArgs => None,
            };
            if out[i].is_none() {
                return Err(wrong(format!("`{name}` is missing the argument `{}`", p.name)));
            }
        }
        Ok(out.into_iter().map(|v| v.expect("all bound")).collect())
    }

    fn call_namedtuple(&mut self, n: &NamedTuple, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if let (Some(base), []) = (crate::calls::vectors::vector_base(n), kwargs) {
            return self.vector(n, base, args);
        }
        let mut parts: Vec<Option<Val>> = args.iter().cloned().map(Some).collect();
        parts.resize(n.fields.len().max(parts.len()), None);
        for (k, v) in kwargs {
            match n.fields.iter().position(|f| f == k) {
                Some(i) if parts[i].is_none() => parts[i] = Some(v.clone()),
                Some(_) => {
                    let text = format!("`{}` got multiple values for `{k}`", n.name);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                None => return Err(no_field(n, k)),
            }
        }
        // The defaults are those of `__new__`, for the last fields.
        if let Some(o) = self.world.attr(n.class, "__new__")
            && let Object::Func(new) = self.world.object(o)
        {
            let defaults = self.world.info(new).defaults;
            let first = n.fields.len().saturating_sub(defaults.len());
            for (part, default) in parts.iter_mut().skip(first).zip(defaults) {
                if part.is_none() {
                    *part = Some(self.object(default)?);
                }
            }
        }
        let count = parts.len();
        let parts: Option<Vec<Val>> = parts.into_iter().collect();
        let Some(parts) = parts.filter(|_| count == n.fields.len()) else {
            let d = Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` takes {} values", n.name, n.fields.len()));
            return Err(d.note(format!("its fields are {}", n.fields.join(", "))));
        };
        let elems = parts.iter().map(|p| p.ty).collect();
        Ok(self.pack(parts, Ty::new(TyKind::Tuple { elems, name: Some(n.clone()) })))
    }

    /// A library function by path, in the semantics of the code at hand.
    pub(crate) fn call_library(&mut self, path: &str, args: &[Val]) -> Result<Val> {
        let found = self.numba_override(path).or_else(|| self.world.library(path).map(|(f, _)| f));
        match found {
            Some(f) => self.call_func(f, args, &[]),
            None => Err(ufuncs::unsupported(path, args)),
        }
    }

    /// A method of a value by name.
    pub(crate) fn method(&mut self, recv: &Val, name: &str, args: &[Val]) -> Result<Val> {
        let m = self.get_attr(recv, name)?;
        self.call(&m, args, &[])
    }

    /// A run-time function; numbers are converted to what it takes.
    pub(crate) fn runtime(&mut self, f: &'static RuntimeFn, args: &[Val], ret: Ty) -> Result<Val> {
        let mut at = 0;
        let mut values = Vec::new();
        for a in args {
            let a = match (a.ty.is_number() && !a.ty.is_complex(), f.args.get(at)) {
                (true, Some(Prim::I64)) if !a.ty.is_float() => self.cast(a, Ty::i64()),
                (true, Some(Prim::F64)) => self.cast(a, Ty::f64()),
                (true, Some(Prim::F32)) => self.cast(a, Ty::f32()),
                _ => a.clone(),
            };
            let prims = a.ty.flatten();
            // The library hands on what it was given.
            let is_no_number = a.ty.is_tuple() || a.ty.as_enum().is_some_and(|(_, _, values)| !values);
            if f.args.get(at..at + prims.len()) != Some(&prims[..]) || is_no_number {
                let wanted =
                    if f.args.get(at) == Some(&Prim::I64) { "an integer is needed" } else { "it does not fit" };
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` is given where {wanted}", a.ty)));
            }
            at += prims.len();
            values.push(self.value(&a));
        }
        if at != f.args.len() {
            let text = args.last().map_or(String::new(), |a| format!("`{}` does not fit here", a.ty));
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        if ret.flatten().is_empty() {
            self.push_void(Inst::Runtime(f, values));
            return Ok(Val::of_type(ret));
        }
        Ok(self.push(Inst::Runtime(f, values), ret))
    }

    /// Arguments of a number class in their order: `int(x, base=2)`, `complex(real=1.0, imag=2.0)`.
    fn dtype_arguments(&self, t: Ty, args: &[Val], kwargs: &[(String, Val)]) -> Result<Vec<Val>> {
        let mut all = args.to_vec();
        for (name, v) in kwargs {
            match (name.as_str(), all.len()) {
                ("base", 1) if t == Ty::int() => all.push(v.clone()),
                ("real", 0) if t == Ty::complex() => all.push(v.clone()),
                ("imag", 0) if t == Ty::complex() => all.extend([Val::int(0), v.clone()]),
                ("imag", 1) if t == Ty::complex() => all.push(v.clone()),
                _ => {
                    let text = format!("`{t}` has no argument `{name}` here");
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
            }
        }
        Ok(all)
    }

    /// `list()` and the like, whose type is found by the use of what it makes.
    fn empty_instance(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        let ([], []) = (args, kwargs) else { return Ok(None) };
        let shared = Class::of_shared(path);
        match (shared.or_else(|| Class::find(path)), self.result) {
            (Some(class), Some(site)) if !class.declaration().infers.is_empty() => {
                self.guess_types(class, site);
                if shared.is_some() {
                    let own = self.display_site(site, class);
                    self.pending.typed.insert(own);
                }
                let made = self.display(class, site, "", &[])?;
                if shared.is_some() {
                    self.prim("items_share", std::slice::from_ref(&made))?;
                }
                Ok(Some(made))
            }
            _ => Ok(None),
        }
    }

    /// A callable known by where it lives.
    pub(crate) fn call_path(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if let Some((args, kwargs)) = self.as_numpy_takes(path, args, kwargs)? {
            return self.call_path(path, &args, &kwargs);
        }
        if let Some(v) = self.empty_and_filled(path, args, kwargs)? {
            return Ok(v);
        }
        if let Some(kept) = self.kept_form(path) {
            return self.call_path(&kept, args, kwargs);
        }
        if let Some(args) = if path == "builtins.sum" { self.beginning_of_sum(args, kwargs)? } else { None } {
            return self.call_path(path, &args, &[]);
        }
        if let Some(v) = self.call_of_undecided(path, args, kwargs)? {
            return Ok(v);
        }
        if let Some(v) = self.empty_instance(path, args, kwargs)? {
            return Ok(v);
        }
        if let Some(name) = path.strip_prefix("prim.") {
            return self.prim(name, args);
        }
        if let Some(v) = self.user_builtin(path, args, kwargs)? {
            return Ok(v);
        }
        if let Some(args) = self.with_members(path, args)? {
            return self.call_path(path, &args, kwargs);
        }
        let native;
        let args = if args.iter().any(|a| matches!(a.ty.kind(), TyKind::Instance { .. }) && !a.ty.is_address()) {
            if let Some(v) = if kwargs.is_empty() { self.instance_builtin(path, args)? } else { None } {
                return Ok(v);
            }
            native = args.iter().map(|a| self.as_native(path, a)).collect::<Result<Vec<_>>>()?;
            native.as_slice()
        } else {
            args
        };
        if path.starts_with("cuda.") {
            return self.cuda_call(path, args, kwargs);
        }
        if let ("cffi.from_buffer", [a]) = (path, args) {
            return self.address_of_buffer(a);
        }
        crate::operations::records::check_arguments(path, args)?;
        if let Some(v) = self.unbound_method(path, args, kwargs)? {
            return Ok(v);
        }
        if let Some(v) = self.builtin(path, args, kwargs)? {
            return Ok(v);
        }
        if let ("builtins.dict", [d]) = (path, args)
            && self.entries(d).is_some()
        {
            return Err(self.no_dictionary(d));
        }
        if let Some(list) = self.as_whole(path, args)? {
            return self.call_path(path, &[list], kwargs);
        }
        self.call_by_semantics(path, args, kwargs)
    }

    /// A list of the items of an argument without indices, for functions that need all of them.
    fn as_whole(&mut self, path: &str, args: &[Val]) -> Result<Option<Val>> {
        let whole = matches!(path, "builtins.max" | "builtins.min" | "builtins.sorted");
        let (true, [g]) = (whole, args) else { return Ok(None) };
        let is_table = g.ty.class().is_some_and(|class| self.has_method(class, "__place__"));
        let is_lazy = matches!(g.known.as_deref(), Some(Known::Lazy(_)));
        let is_generator = matches!(g.ty.kind(), TyKind::Generator(_));
        let has_none = is_table || self.entries(g).is_some() || is_generator || is_lazy;
        if has_none { self.collect(g).map(Some) } else { Ok(None) }
    }

    /// Arguments with the members of a class of enumeration in place of the class, where a function goes through them.
    fn with_members(&mut self, path: &str, args: &[Val]) -> Result<Option<Vec<Val>>> {
        for (at, a) in args.iter().enumerate() {
            if let Some(members) = self.members_gone_through(path, a)? {
                let mut args = args.to_vec();
                args[at] = members;
                return Ok(Some(args));
            }
        }
        Ok(None)
    }

    /// A method of texts or bytes that is called with its object, `str.upper(s)`; `None` if the path is of no such.
    fn unbound_method(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        let Some((class, name)) = path.strip_prefix("builtins.").and_then(|path| path.split_once('.')) else {
            return Ok(None);
        };
        let (true, Some((recv, args))) = (matches!(class, "str" | "bytes" | "bytearray"), args.split_first()) else {
            return Ok(None);
        };
        let own = match recv.ty.kind() {
            TyKind::Str => "str",
            _ => recv.ty.as_buffer().map_or("", |b| b.name()),
        };
        if own != class {
            let text = format!("`{class}.{name}` is given `{}` as its object", recv.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        let method = self.get_attr(recv, name)?;
        self.call(&method, args, kwargs).map(Some)
    }

    /// A ufunc or a function of the library, by its path.
    pub(crate) fn call_library_path(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        // Where a number is needed, a missing one raises.
        let is_scalar =
            matches!(path, "builtins.abs" | "builtins.round" | "builtins.min" | "builtins.max" | "builtins.pow")
                || path.starts_with("math.")
                || lh_ops::for_python(path).is_some();
        let operands;
        let args = if is_scalar {
            operands = args.iter().map(|a| self.scalar_operand(path, a)).collect::<Result<Vec<_>>>()?;
            operands.as_slice()
        } else {
            args
        };
        if let Some(v) = self.call_ufunc(path, args, kwargs)? {
            return Ok(v);
        }
        let external = self.with_external_loop(path, args, kwargs);
        let kwargs = external.as_deref().unwrap_or(kwargs);
        for p in [path.to_owned(), format!("{path}.__new__")] {
            if let Some((f, _)) = self.world.library(&p) {
                return self.call_func(f, args, kwargs);
            }
        }
        Err(ufuncs::unsupported(path, args))
    }

    /// An operand where a number is needed. To functions of `math`, but for those of a sequence, an array without
    /// dimensions is one, and others are refused.
    fn scalar_operand(&mut self, path: &str, a: &Val) -> Result<Val> {
        if matches!(a.ty.kind(), TyKind::Optional(_)) {
            return match path {
                "builtins.abs" => self.unwrap_or_say(a, "bad operand type for abs(): 'NoneType'"),
                _ if path.starts_with("math.") => self.unwrap_or_say(a, "must be real number, not NoneType"),
                _ => self.unwrap_optional(a),
            };
        }
        match a.ty.as_array() {
            _ if !path.starts_with("math.") => Ok(a.clone()),
            Some((dtype, 0, ..)) if dtype.is_number() && !matches!(path, "math.ldexp" | "math.trunc") => {
                self.call_library("numpy.methods.only_item", std::slice::from_ref(a))
            }
            None if a.ty == Ty::str() && path != "math.fsum" => Err(self.no_conversion(Ty::float(), a.ty)),
            Some((_, n, ..)) if n > 0 && !matches!(path, "math.dist" | "math.fsum" | "math.prod" | "math.sumprod") => {
                let numpy = path.replacen("math.", "np.", 1);
                let text = format!("`{path}` takes a number, not `{}`", a.ty);
                Err(Diagnostic::new(diag::NO_MATCHING_CALL, text)
                    .note(format!("`{numpy}` takes arrays, where NumPy has it")))
            }
            _ => Ok(a.clone()),
        }
    }

    /// A compile-time iterable made into a list.
    pub(crate) fn collect(&mut self, iterable: &Val) -> Result<Val> {
        let started = self.iter(iterable)?;
        match started.known.as_deref().cloned() {
            Some(Known::Plan(plan, _)) => self.collect_plan(&plan),
            Some(Known::Unroll(inner)) => {
                let n = self.unroll_count(&inner).unwrap_or(0);
                let items = (0..n).map(|k| self.unrolled_item(&inner, k, n)).collect::<Result<Vec<_>>>()?;
                self.list_of(&items, None)
            }
            _ => Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this iterable cannot be made into a list")),
        }
    }

    fn collect_plan(&mut self, plan: &Plan) -> Result<Val> {
        let init = self.plan_states(plan);
        let (header, body, done) = (self.new_block(), self.new_block(), self.new_block());
        // The element type is found by typing one item in a block that is thrown away.
        let elem = self.probe_item(plan, &init)?;
        if elem.is_never() {
            // Items of a list whose type is not known yet.
            self.unknown_items = true;
            return Ok(Val::of_type(elem));
        }
        let list = self.list_of(&[], None)?;
        let list = Val { ty: list.ty.with_items(elem), ..list };
        if let Some(v) = list.v {
            self.out.values[v.index()] = list.ty;
        }
        self.jump(header, init.clone());
        self.cur = header;
        let current: Vec<Val> = init.iter().map(|s| Val::new(s.ty, self.out.new_param(header, s.ty))).collect();
        let more = self.plan_more(plan, &current)?;
        let cond = self.value(&more);
        let to = |block| lh_ir::func::Target { block, args: vec![] };
        self.set_term(lh_ir::func::Term::Branch { cond, then: to(body), els: to(done) });
        self.cur = body;
        let (item, after) = self.plan_item(plan, &current)?;
        self.append(&list, &item)?;
        self.jump(header, after);
        self.cur = done;
        Ok(list)
    }

    /// Type of the items of an iteration.
    pub(crate) fn probe_item(&mut self, plan: &Plan, init: &[Val]) -> Result<Ty> {
        let saved = self.cur;
        self.cur = self.new_block();
        // Of a tuple's items the first says little: what is asked for is any of them.
        let any: Vec<Val> = init.iter().map(|s| Val::new(s.ty, self.out.new_value(s.ty))).collect();
        self.out.blocks[self.cur.index()].params = any.iter().filter_map(|s| s.v).collect();
        let (item, _) = self.plan_item(plan, &any)?;
        self.set_term(lh_ir::func::Term::Unreachable);
        self.cur = saved;
        Ok(item.ty.weak())
    }
}

/// The name of a keyword that a function gathers: its type says all, so that the callee is typed for it.
fn name_of_keyword(name: &str) -> Val {
    let text = Const::Str(name.to_owned());
    let literal = Literal::of(&text).expect("a string has a literal type");
    Val::known(Ty::new(TyKind::Literal(literal)), Known::Const(text))
}

/// Whether a value, or every item of a tuple, is known while compiling.
pub(crate) fn is_constant(v: &Val) -> bool {
    v.as_const().is_some() || v.parts().is_some_and(|p| p.iter().all(|x| x.as_const().is_some()))
}

/// Whether a value is, or holds, a generator whose items are of an unknown type.
fn has_unknown_items(t: Ty) -> bool {
    match t.kind() {
        TyKind::Generator(g) => g.item.is_never(),
        _ => match t.holds() {
            Holds::Parts(a, b) => a.iter().chain(b).any(|t| has_unknown_items(*t)),
            Holds::Nothing | Holds::Memory | Holds::Objects => false,
        },
    }
}
