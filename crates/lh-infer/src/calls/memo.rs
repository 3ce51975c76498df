//! Calls of functions that `functools.cache` keeps results of: `kept` of `lib/functools.py` looks them up in a table
//! that the run-time library has for the function and the types.
//!
//! Tables of results are in `lh-runtime`, by the types of the arguments; `lh-py` finds the table of a decorated object.
//! `python/lancehead/kept.py` extends the object's `cache_clear` and `cache_info`.

use crate::convert::has_pending;
use crate::cx::Infer;
use crate::val::Val;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Extern, Inst, Term};
use lh_ir::types::{Buffer, TyKind};
use lh_ir::untyped::ParamKind;
use lh_ir::{ObjId, Ty};
use lh_ops::runtime as rt;

/// Arguments by position and by keyword.
type Given = (Vec<Val>, Vec<(String, Val)>);

impl Infer<'_> {
    /// A call of a function with a cache of so many results. Kernels have none, and call the function itself.
    pub(crate) fn call_cached(
        &mut self,
        o: ObjId,
        func: ObjId,
        limit: Option<u64>,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let function = self.object(func)?;
        if self.options.device != Device::Host || limit == Some(0) {
            return self.call(&function, args, kwargs);
        }
        let (args, kwargs) = self.in_order(&function, args, kwargs)?;
        let all: Vec<Val> = args.iter().chain(kwargs.iter().map(|(_, v)| v)).cloned().collect();
        if let Some(v) = all.iter().find(|v| !is_hashable(v.ty) && !v.ty.is_never()) {
            return Err(self.unhashable(o, v.ty));
        }
        if all.iter().any(|v| v.ty.is_never()) {
            return Ok(Val::of_type(Ty::never()));
        }
        // A value without words at run time, as a function, is part of the identity alone.
        let own: Vec<Val> = all.iter().filter(|v| v.ty.is_none() || !v.ty.flatten().is_empty()).cloned().collect();
        let mut parts = own.iter().map(|v| self.convert(v, alike(v.ty))).collect::<Result<Vec<_>>>()?;
        let key = if parts.len() == 1 { parts.remove(0) } else { Val::tuple(parts) };
        let identity = Ty::tuple(args.iter().map(|v| alike(v.ty)).collect());
        let identity = if kwargs.is_empty() {
            identity
        } else {
            let names = kwargs.iter().map(|(name, _)| name.clone()).collect();
            let named = self.type_of_entries(names, kwargs.iter().map(|(_, v)| alike(v.ty)).collect());
            Ty::tuple(vec![identity, named])
        };
        let identity = Val::of_type(Ty::dtype(identity));
        let limit = limit.map_or(Val::of_type(Ty::none()), |n| Val::int(i128::from(n)));
        let cache = Val::of_type(Ty::new(TyKind::Obj(o)));
        let found = self.world.library("functools.kept");
        let (kept, _) = found.unwrap_or_else(|| lh_ir::bug!("the library has no `functools.kept`"));
        self.call_func(kept, &[&[cache, identity, limit, key, function][..], &args].concat(), &kwargs)
    }

    /// The arguments in the order of the parameters with what the parameters have as defaults, as far as they can be
    /// given by position: so all ways to write a call find the same result.
    fn in_order(&mut self, function: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Given> {
        let TyKind::Func(f) = *function.ty.kind() else { return Ok((args.to_vec(), kwargs.to_vec())) };
        let code = self.world.code(f)?;
        if code.params.iter().any(|p| p.kind != ParamKind::Positional) {
            return Ok((args.to_vec(), kwargs.to_vec()));
        }
        let info = self.world.info(f);
        let defaults = info.defaults.iter().map(|o| self.object(*o)).collect::<Result<Vec<_>>>()?;
        Ok((self.bind(&code, &defaults, &[], args, kwargs)?, Vec::new()))
    }

    fn unhashable(&mut self, o: ObjId, t: Ty) -> Box<Diagnostic> {
        let name = self.world.describe(o);
        let text = format!("unhashable type: `{t}` is an argument of `{name}`, whose results `functools` keeps");
        Diagnostic::new(diag::NO_MATCHING_CALL, text).note(format!(
            "give it numbers, texts, bytes, None, members of enums or tuples of these, or call `{name}.__wrapped__`"
        ))
    }

    /// Primitives of `kept`.
    pub(crate) fn prim_memo(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        Ok(match (name, args) {
            ("memo", [cache]) => {
                let TyKind::Obj(o) = *cache.ty.kind() else { lh_ir::bug!("`{}` has no cache", cache.ty) };
                Some(self.push(Inst::Extern(Extern::Foreign(o)), Ty::ptr()))
            }
            ("memo_enter", [memo, identity, compute]) => {
                let ret = self.kept_type(compute)?;
                if ret.is_never() {
                    // It raises always, or nothing is known yet.
                    return self.call(compute, &[], &[]).map(Some);
                }
                let TyKind::DType(identity) = identity.ty.kind() else { lh_ir::bug!("an identity is a type") };
                let number = Ty::tuple(vec![*identity, ret]).number() as u32;
                let number = self.push(Inst::Extern(Extern::Type(number)), Ty::int());
                let enter = if is_plain(ret) { &rt::lh_memo_enter_plain } else { &rt::lh_memo_enter };
                Some(self.runtime(enter, &[memo.clone(), number], Ty::ptr())?)
            }
            ("memo_table", [word, key, compute]) => {
                let ret = self.kept_type(compute)?;
                if ret.is_never() || word.ty.is_never() {
                    return Ok(Some(Val::of_type(Ty::never())));
                }
                Some(self.memo_table(word, Class::dict().of(vec![key.ty, ret], false))?)
            }
            _ => return Ok(None),
        })
    }

    /// The type of a call's result. The call stands in a block that is thrown away.
    pub(crate) fn call_type(&mut self, f: &Val, args: &[Val]) -> Result<Ty> {
        let (saved, dead) = (self.cur, self.dead);
        self.cur = self.new_block();
        let made = self.call(f, args, &[]);
        if !self.dead {
            self.set_term(Term::Unreachable);
        }
        (self.cur, self.dead) = (saved, dead);
        Ok(made?.ty)
    }

    /// The type of what is kept.
    fn kept_type(&mut self, compute: &Val) -> Result<Ty> {
        let t = self.call_type(compute, &[])?;
        if is_kept(t) {
            return Ok(alike(t));
        }
        let text = format!("`functools` cannot keep results of type `{t}` in compiled code");
        Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text).note("decorate the function with `@njit` alone"))
    }

    /// The table that a word refers to; a new one if that is null.
    fn memo_table(&mut self, word: &Val, ty: Ty) -> Result<Val> {
        let at = self.value(word);
        let now = self.push(Inst::Load(at), Ty::int());
        let is_new = self.op("eq", &[now, Val::int(0)]);
        let (make, done) = self.branch(&is_new);
        self.cur = make;
        let made = self.new_container(ty, &Val::int(0));
        self.class_method(&made, "__prepare__", &[Val::int(0)])?;
        let made = self.value(&made);
        self.push_void(Inst::Store(at, made));
        self.jump(done, vec![]);
        self.cur = done;
        Ok(self.push(Inst::Load(at), ty))
    }
}

/// A type as keys and kept results have it: that of Python's numbers, where it is as wide as NumPy's.
fn alike(t: Ty) -> Ty {
    match t.kind() {
        TyKind::Tuple { elems, name } => {
            Ty::new(TyKind::Tuple { elems: elems.iter().map(|t| alike(*t)).collect(), name: name.clone() })
        }
        TyKind::Optional(t) => Ty::optional(alike(*t)),
        _ => t.weak(),
    }
}

/// Whether a value may be looked up by arguments of a type. Methods of the program's classes would run while other
/// threads wait.
fn is_hashable(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_hashable(*t)),
        TyKind::Optional(t) => is_hashable(*t),
        TyKind::Func(_) | TyKind::Obj(_) | TyKind::DType(_) => true,
        TyKind::Class(c) if Class::find("builtins.frozenset") == Some(c.class) => {
            c.args.iter().all(|t| is_hashable(*t))
        }
        _ => {
            t.is_number()
                || t.is_none()
                || t == Ty::str()
                || t.as_buffer() == Some(Buffer::Bytes)
                || t.as_enum().is_some()
                || t.is_time()
        }
    }
}

/// Whether values of a type refer to no memory that can be written.
fn is_plain(t: Ty) -> bool {
    is_hashable(t) && !t.any_part(&|t| t.as_class().is_some())
}

/// Whether results of a type can be kept: not those that an iteration uses up, or that are views of a call's variables.
fn is_kept(t: Ty) -> bool {
    !has_pending(t)
        && !t.any_part(&|t| {
            matches!(
                t.kind(),
                TyKind::Iter(_) | TyKind::Generator(_) | TyKind::BoundMethod { .. } | TyKind::MaybeUnbound(_)
            )
        })
        && (t.is_never() || t.is_none() || !t.flatten().is_empty())
}
