//! Exceptions: classes in `except` clauses, raising, instances as values, and what a handler asks them.
//!
//! A new instance that is raised at once stays knowledge of inference (`Known::Exc`); others are objects. The types of
//! arguments of a caught one are those with which the function and its callees raise the classes that the clause names.

use crate::cx::Infer;
use crate::emit::exc;
use crate::val::{Known, Val};
use crate::world::Object;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Inst, Term};
use lh_ir::types::TyKind;
use lh_ir::{ExcId, Function, ObjId, SpecId, Ty, Value};
use lh_ops::runtime as rt;

/// A place where an exception is raised: its class, and the types of its arguments.
type Site = (ExcId, Vec<Ty>);

impl Infer<'_> {
    /// Classes named in an `except` clause.
    fn exc_classes(&mut self, c: &Val) -> Result<Vec<ExcId>> {
        if let Some(parts) = self.tuple_parts(c) {
            if let Some(all) = parts.iter().map(|p| self.exc_class(p)).collect() {
                return Ok(all);
            }
        }
        if let Some(id) = self.exc_class(c) {
            return Ok(vec![id]);
        }
        Err(Diagnostic::new(
            diag::UNSUPPORTED_TYPE,
            format!("`{}` is not an exception class known while compiling", c.ty),
        ))
    }

    /// The exception class that a value is.
    pub(crate) fn exc_class(&mut self, c: &Val) -> Option<ExcId> {
        let TyKind::Obj(o) = c.ty.kind() else { return None };
        match self.world.object(*o) {
            Object::ExcClass(id, _) => Some(id),
            _ => None,
        }
    }

    /// The classes of a clause, if it is one of `isinstance` or `except` that can be answered.
    pub(crate) fn told_classes(&mut self, c: &Val) -> Option<Vec<ExcId>> {
        self.exc_classes(c).ok()
    }

    /// The number of an exception class; only those of builtin ones are the same in every process.
    pub(crate) fn exc_number(&mut self, id: ExcId) -> Val {
        if exc::is_builtin(id) {
            return Val::int(i128::from(id.0));
        }
        self.push(Inst::Extern(Extern::Class(id)), Ty::int())
    }

    pub(crate) fn exc_match(&mut self, e: &Val, c: &Val) -> Result<Val> {
        let mut any = Val::bool(false);
        for id in self.exc_classes(c)? {
            if id == exc::BASE_EXCEPTION {
                return Ok(Val::bool(true));
            }
            let m = self.exc_number(id);
            let m = self.runtime(&rt::lh_exc_matches, &[e.clone(), m], Ty::bool())?;
            any = self.either(&any, &m);
        }
        Ok(any)
    }

    /// `isinstance(e, C)`
    pub(crate) fn exc_is_instance(&mut self, e: &Val, c: &Val) -> Result<Val> {
        if self.exc_class(c).is_some() { self.exc_match(e, c) } else { Ok(Val::bool(false)) }
    }

    /// The exception of an optional one; null without one.
    pub(crate) fn exc_unwrapped(&mut self, e: &Val) -> Val {
        let whole = self.value(e);
        self.push(Inst::Unwrap(whole), Ty::exc())
    }

    /// A call of an exception class.
    pub(crate) fn make_exception(
        &mut self,
        id: ExcId,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        if let Some(made) = self.make_own_exception(id, name, args, kwargs)? {
            return Ok(made);
        }
        if exc::is_builtin(id) && !kwargs.is_empty() {
            let text = format!("`{name}` takes no keyword arguments in compiled code");
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("give them by position"));
        }
        if kwargs.is_empty() && args.iter().all(|a| crate::convert::carried(a.ty)) {
            return Ok(Val::known(Ty::exc(), Known::Exc(id, args.to_vec())));
        }
        for (_, x) in kwargs.iter().map(|(n, x)| (Some(n), x)).chain(args.iter().map(|x| (None, x))) {
            if x.ty.is_never() || crate::convert::has_pending(x.ty) {
                return Ok(Val::of_type(Ty::never()));
            }
        }
        let class = self.exc_number(id);
        self.runtime(&rt::lh_exc_begin, &[class], Ty::none())?;
        for x in args {
            self.put_argument(x, name)?;
        }
        for (keyword, x) in kwargs {
            self.runtime(&rt::lh_exc_open, &[], Ty::none())?;
            self.put_argument(&Val::str(keyword.as_str()), name)?;
            self.put_argument(x, name)?;
            self.runtime(&rt::lh_exc_close, &[Val::int(5)], Ty::none())?;
        }
        self.runtime(&rt::lh_exc_end, &[], Ty::exc())
    }

    pub(crate) fn put_argument(&mut self, x: &Val, class: &str) -> Result<()> {
        if is_plain(x.ty) {
            self.put_plain(x);
            return Ok(());
        }
        match self.call_library("exceptions.put", std::slice::from_ref(x)) {
            Ok(_) => Ok(()),
            Err(d) if d.id == diag::NEEDS_CONSTANT => Err(d),
            Err(_) => Err(Diagnostic::new(
                diag::UNSUPPORTED_TYPE,
                format!("`{class}` cannot carry `{}` out of compiled code", x.ty),
            )
            .note("give it numbers, strings, arrays, or tuples, lists, sets and dictionaries of them")),
        }
    }

    /// Adds an argument to the exception that is being made.
    fn put_plain(&mut self, x: &Val) {
        let mut put = |f: &'static lh_ir::runtime::RuntimeFn, args: &[Val]| {
            self.runtime(f, args, Ty::none()).unwrap_or_else(|_| lh_ir::bug!("{} of {}", f.name, x.ty));
        };
        match x.ty.kind() {
            TyKind::None => put(&rt::lh_exc_put_none, &[]),
            TyKind::Str => put(&rt::lh_exc_put_str, std::slice::from_ref(x)),
            TyKind::Exc => put(&rt::lh_exc_put_exception, std::slice::from_ref(x)),
            TyKind::Tuple { .. } => {
                put(&rt::lh_exc_open, &[]);
                for part in self.tuple_parts(x).expect("a tuple") {
                    self.put_plain(&part);
                }
                self.runtime(&rt::lh_exc_close, &[Val::int(0)], Ty::none())
                    .unwrap_or_else(|_| lh_ir::bug!("a tuple ends"));
            }
            TyKind::Complex { .. } => {
                let wide = self.cast(x, Ty::complex());
                let parts = [self.field(&wide, 0), self.field(&wide, 1)];
                self.put_number(&rt::lh_exc_put_complex, &parts);
            }
            TyKind::Bool => {
                let n = self.cast(x, Ty::int());
                self.put_number(&rt::lh_exc_put_bool, &[n]);
            }
            TyKind::Int { signed, bits, .. } => {
                let unsigned = !*signed && *bits == 64;
                let n = self.cast(x, Ty::int());
                self.put_number(if unsigned { &rt::lh_exc_put_uint } else { &rt::lh_exc_put_int }, &[n]);
            }
            _ => {
                let wide = self.cast(x, Ty::float());
                self.put_number(&rt::lh_exc_put_float, &[wide]);
            }
        }
    }

    fn put_number(&mut self, f: &'static lh_ir::runtime::RuntimeFn, args: &[Val]) {
        self.runtime(f, args, Ty::none()).unwrap_or_else(|_| lh_ir::bug!("{} takes numbers", f.name));
    }

    /// The object of a new exception with plain arguments.
    pub(crate) fn exception_object(&mut self, id: ExcId, args: &[Val]) -> Val {
        let class = self.exc_number(id);
        self.put_number(&rt::lh_exc_begin, &[class]);
        for x in args {
            self.put_plain(x);
        }
        self.runtime(&rt::lh_exc_end, &[], Ty::exc()).unwrap_or_else(|_| lh_ir::bug!("an exception ends"))
    }

    pub(crate) fn raise(&mut self, e: Value, cause: Option<Value>) -> Result<()> {
        let mut e = self.val(e);
        if e.ty.is_never() {
            self.stop();
            return Ok(());
        }
        let mut class = self.exc_class(&e);
        if let Some(made) = class.map_or(Ok(None), |id| self.make_own_exception(id, "", &[], &[]))? {
            (e, class) = (made, None);
        }
        let e = self.plain_exception(&e);
        let from = match cause {
            Some(cause) => {
                let cause = self.val(cause);
                Some(self.cause_of(&cause)?)
            }
            None => None,
        };
        let is_new = class.is_some() || (e.v.is_none() && matches!(e.known.as_deref(), Some(Known::Exc(..))));
        if let Some(from) = from {
            let of = if is_new || e.ty != Ty::exc() { self.push(Inst::Zero, Ty::exc()) } else { e.clone() };
            self.runtime(&rt::lh_exc_set_cause, &[of, from], Ty::none())?;
        }
        if let Some(id) = class {
            self.set_term(Term::Raise { exc: id, args: vec![] });
            return Ok(());
        }
        if let (Some(Known::Exc(id, args)), None) = (e.known.as_deref().cloned(), e.v) {
            let args = args.iter().map(|a| self.value(a)).collect();
            self.set_term(Term::Raise { exc: id, args });
            return Ok(());
        }
        self.raise_object(&e)?;
        // The statement adds its place to the traceback, which going on with an exception does not.
        self.set_term(Term::Raise { exc: exc::BASE_EXCEPTION, args: vec![] });
        Ok(())
    }

    fn raise_object(&mut self, e: &Val) -> Result<()> {
        self.make_pending(e)?;
        self.set_term(Term::Propagate);
        Ok(())
    }

    /// Makes an exception, or an instance of a class of exceptions, pending.
    pub(crate) fn make_pending(&mut self, e: &Val) -> Result<()> {
        let e = self.instance_of(e);
        if e.ty != Ty::exc() {
            return Err(Diagnostic::new(
                diag::UNSUPPORTED_SYNTAX,
                format!("exceptions must derive from BaseException, which `{}` does not", e.ty),
            )
            .note("raise an exception class or instance"));
        }
        self.runtime(&rt::lh_exc_restore, &[e], Ty::none())?;
        Ok(())
    }

    /// The cause in `raise ... from cause`: an exception, or null.
    fn cause_of(&mut self, cause: &Val) -> Result<Val> {
        let cause = self.instance_of(cause);
        if cause.ty.is_none() {
            return Ok(self.push(Inst::Zero, Ty::exc()));
        }
        if cause.ty == Ty::exc() {
            return Ok(cause);
        }
        let text = format!("exception causes must derive from BaseException, which `{}` does not", cause.ty);
        Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text))
    }

    /// A new instance of an exception class; anything else is itself.
    fn instance_of(&mut self, e: &Val) -> Val {
        match self.exc_class(e) {
            Some(id) => self.exception_object(id, &[]),
            None => self.plain_exception(e),
        }
    }

    pub(crate) fn reraise(&mut self, e: Value) -> Result<()> {
        let e = self.val(e);
        if e.ty.is_never() {
            self.stop();
            return Ok(());
        }
        self.raise_object(&e)
    }

    /// An attribute of an exception.
    pub(crate) fn exc_attr(&mut self, e: &Val, name: &str) -> Result<Option<Val>> {
        Ok(Some(match name {
            "__cause__" => self.exc_link(e, 0)?,
            "__context__" => self.exc_link(e, 1)?,
            "__suppress_context__" => self.runtime(&rt::lh_exc_suppressed, &[e.clone()], Ty::bool())?,
            "args" => self.exc_args(e)?,
            "__class__" => self.builtin_bound(e, "__class__"),
            "__traceback__" => self.builtin_bound(e, "__traceback__"),
            "add_note" => self.builtin_bound(e, "add_note"),
            "with_traceback" => self.builtin_bound(e, "with_traceback"),
            _ => match self.own_attr(e, name)? {
                Some(found) => found,
                None => return self.exc_fact(e, name),
            },
        }))
    }

    /// `__cause__` or `__context__`
    fn exc_link(&mut self, e: &Val, which: i128) -> Result<Val> {
        let link = self.runtime(&rt::lh_exc_link, &[e.clone(), Val::int(which)], Ty::exc())?;
        let is_none = self.runtime(&rt::lh_exc_is_none, &[link.clone()], Ty::bool())?;
        let ty = Ty::optional(Ty::exc());
        let (none, some) = self.branch(&is_none);
        let done = self.new_block();
        let result = self.out.new_param(done, ty);
        self.cur = none;
        let nothing = self.push(Inst::Zero, ty);
        self.jump(done, vec![nothing]);
        self.cur = some;
        let link = self.value(&link);
        let wrapped = self.push(Inst::Some(link), ty);
        self.jump(done, vec![wrapped]);
        self.cur = done;
        Ok(Val::new(ty, result))
    }

    /// Attributes of builtin classes that are arguments.
    fn exc_fact(&mut self, e: &Val, name: &str) -> Result<Option<Val>> {
        let (class, at) = match name {
            "value" => (exc::STOP_ITERATION, 0),
            "code" => (exc::SYSTEM_EXIT, 0),
            "errno" => (exc::OS_ERROR, 0),
            "strerror" => (exc::OS_ERROR, 1),
            "filename" => (exc::OS_ERROR, 2),
            _ => return Ok(None),
        };
        if !self.caught_classes(e).iter().any(|c| self.world.exc_is_subclass(*c, class)) {
            return Ok(None);
        }
        let sites = self.sites_of(e);
        if sites.iter().all(|(_, args)| args.len() <= at) {
            return Ok(Some(Val::of_type(Ty::none())));
        }
        if sites.iter().all(|(_, args)| args.len() > at) {
            return self.exc_arg(e, at).map(Some);
        }
        let mut ty = Some(Ty::none());
        for t in sites.iter().filter_map(|(_, args)| args.get(at)) {
            ty = ty.and_then(|known| joint(Some(known), kept(*t)));
        }
        match ty.filter(|t| is_readable(*t)) {
            // A missing argument reads as `None`.
            Some(ty) => self.exc_read(e, ty, &Val::int(at as i128 + 1), 0).map(Some),
            None => Err(unknown_arguments()),
        }
    }

    /// The classes that the clause of a caught exception names; that of a new one.
    pub(crate) fn caught_classes(&mut self, e: &Val) -> Vec<ExcId> {
        match e.known.as_deref() {
            Some(Known::Caught(classes)) => classes.clone(),
            Some(Known::Exc(id, _)) => vec![*id],
            _ => vec![exc::BASE_EXCEPTION],
        }
    }

    /// Where exceptions are raised, and what is stored in them.
    pub(crate) fn all_sites(&mut self) -> Sites {
        let mut sites = Sites::default();
        let mut calls = Vec::new();
        collect(&self.out, &mut sites, &mut calls);
        for f in self.world.functions(&calls) {
            collect(&f, &mut sites, &mut Vec::new());
        }
        sites
    }

    /// Where an exception may have been raised.
    pub(crate) fn sites_of(&mut self, e: &Val) -> Vec<Site> {
        if let Some(Known::Exc(id, args)) = e.known.as_deref() {
            return vec![(*id, args.iter().map(|a| a.ty).collect())];
        }
        let classes = self.caught_classes(e);
        let mut all = self.all_sites();
        let mut sites = Vec::new();
        for (id, args, own) in std::mem::take(&mut all.raised) {
            if !classes.iter().any(|c| self.world.exc_is_subclass(id, *c)) {
                continue;
            }
            // The arguments that `__init__` gives to Python's class replace its own.
            let class = self.world.exc_object(id).filter(|_| own);
            let given = all.args.iter().filter(|(of, _)| of.is_none() || *of == class);
            sites.extend(given.map(|(_, args)| (id, args.clone())));
            let is_replaced = |of: &Option<ObjId>| of.is_some() && *of == class;
            if !all.args.iter().any(|(of, _)| is_replaced(of)) || all.partial.iter().any(is_replaced) {
                sites.push((id, args));
            }
        }
        sites
    }

    /// The classes of exceptions that may be caught here: those that are raised.
    pub(crate) fn raised_classes(&mut self, e: &Val) -> Vec<ExcId> {
        let mut all: Vec<ExcId> = self.sites_of(e).iter().map(|(id, _)| *id).collect();
        if all.is_empty() {
            all = self.caught_classes(e);
        }
        all.sort_unstable_by_key(|id| id.0);
        all.dedup();
        // A class is asked for before those that it derives from.
        let bases = |cx: &mut Self, id: ExcId| all.iter().filter(|b| cx.world.exc_is_subclass(id, **b)).count();
        let mut ordered: Vec<(usize, ExcId)> = all.iter().map(|id| (bases(self, *id), *id)).collect();
        ordered.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
        ordered.into_iter().map(|(_, id)| id).collect()
    }

    /// `e.args`: the tuple, if everything that may be caught has the same types of arguments.
    fn exc_args(&mut self, e: &Val) -> Result<Val> {
        self.check_exc_text(e)?;
        if let Some(Known::Exc(_, args)) = e.known.as_deref() {
            return Ok(Val::tuple(args.clone()));
        }
        let sites = self.sites_of(e);
        if let Some((_, first)) = sites.first()
            && sites.iter().all(|(_, args)| args.iter().map(|t| t.weak()).eq(first.iter().map(|t| t.weak())))
        {
            return self.exc_args_tuple(e);
        }
        let ty = Ty::new(TyKind::BoundMethod { recv: e.ty, name: "args".to_owned() });
        Ok(Val::known(ty, Known::ExcArgs(e.clone())))
    }

    /// All arguments as a tuple.
    pub(crate) fn exc_args_tuple(&mut self, e: &Val) -> Result<Val> {
        let mut sites = self.sites_of(e);
        sites.dedup_by(|a, b| a.1 == b.1);
        let Some((_, first)) = sites.first().cloned() else { return Err(unknown_arguments()) };
        if sites.iter().any(|(_, args)| args.len() != first.len()) {
            return Err(Diagnostic::new(
                diag::CANNOT_UNIFY,
                "the exceptions that are caught here have different numbers of arguments",
            )
            .note("read them one by one: `e.args[0]`"));
        }
        let count = self.runtime(&rt::lh_exc_count, &[e.clone()], Ty::int())?;
        let other = self.compare(lh_ir::untyped::CmpOp::Ne, &count, &Val::int(first.len() as i128))?;
        self.raise_if(&other, exc::TYPE_ERROR, "the exception has another number of arguments");
        let parts = (0..first.len()).map(|i| self.exc_arg(e, i)).collect::<Result<Vec<_>>>()?;
        Ok(Val::tuple(parts))
    }

    /// Refuses questions about what only Python can say: the `__init__` of a class is none that can be compiled.
    pub(crate) fn check_exc_text(&mut self, e: &Val) -> Result<()> {
        if e.ty != Ty::exc() {
            return Ok(());
        }
        let classes = self.caught_classes(e);
        for (id, _, own) in self.all_sites().raised {
            let caught = classes.iter().any(|c| self.world.exc_is_subclass(id, *c));
            let is_axis = self.world.exc_object(id).is_some_and(|class| self.is_axis_error(class));
            if caught && !own && !is_axis && self.has_own_init(id) {
                let text = "the `__init__` of a class that is caught here runs in Python: it cannot be compiled";
                return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text)
                    .note("let the exception leave compiled code, or raise one whose arguments say all"));
            }
        }
        Ok(())
    }

    pub(crate) fn exc_args_len(&mut self, e: &Val) -> Result<Val> {
        self.runtime(&rt::lh_exc_count, &[e.clone()], Ty::int())
    }

    /// `e.args[k]`
    pub(crate) fn exc_args_item(&mut self, e: &Val, k: &Val) -> Result<Val> {
        match k.as_int().map(usize::try_from) {
            Some(Ok(at)) => self.exc_arg(e, at),
            _ => {
                let all = self.exc_args_tuple(e)?;
                self.get_item(&all, k)
            }
        }
    }

    pub(crate) fn exc_arg(&mut self, e: &Val, at: usize) -> Result<Val> {
        let sites = self.sites_of(e);
        let mut ty: Option<Ty> = None;
        for t in sites.iter().filter_map(|(_, args)| args.get(at)) {
            let t = kept(*t);
            let Some(met) = joint(ty, t) else {
                let text = format!("argument {at} of what is caught here is `{}` or `{t}`", ty.unwrap_or(t));
                return Err(Diagnostic::new(diag::CANNOT_UNIFY, text)
                    .note("name the class that you expect in a clause of its own"));
            };
            ty = Some(met);
        }
        let Some(ty) = ty.filter(|t| is_readable(*t)) else { return Err(unknown_arguments()) };
        let count = self.runtime(&rt::lh_exc_count, &[e.clone()], Ty::int())?;
        let beyond = self.compare(lh_ir::untyped::CmpOp::Le, &count, &Val::int(at as i128))?;
        self.raise_if(&beyond, exc::INDEX_ERROR, "tuple index out of range");
        self.exc_read(e, ty, &Val::int(at as i128 + 1), 0)
    }

    /// The argument at a path, of which one of another type than expected is a TypeError.
    pub(crate) fn exc_read(&mut self, e: &Val, ty: Ty, path: &Val, depth: u32) -> Result<Val> {
        if let TyKind::Optional(inner) = ty.kind() {
            return self.exc_read_optional(e, *inner, path, depth);
        }
        let kind = match ty.kind() {
            TyKind::None => 0,
            TyKind::Bool => 1,
            TyKind::Int { signed: false, bits: 64, .. } => 3,
            TyKind::Int { .. } => 2,
            TyKind::Complex { .. } => 5,
            TyKind::Str => 6,
            TyKind::Tuple { elems, .. } => 16 + elems.len() as i128,
            _ => 4,
        };
        let given = [e.clone(), path.clone()];
        let found = self.runtime(&rt::lh_exc_kind, &given, Ty::int())?;
        let other = self.compare(lh_ir::untyped::CmpOp::Ne, &found, &Val::int(kind))?;
        self.raise_if(&other, exc::TYPE_ERROR, &format!("the argument of the exception is no {ty}"));
        let part = |n| [e.clone(), path.clone(), Val::int(n)];
        Ok(match ty.kind() {
            TyKind::None => Val::of_type(ty),
            TyKind::Str => self.runtime(&rt::lh_exc_text, &given, Ty::str())?,
            TyKind::Tuple { elems, .. } => {
                let mut items = Vec::new();
                for (t, n) in elems.iter().zip(1i128..) {
                    let inner = self.op("add", &[path.clone(), Val::int(n << (8 * (depth + 1)))]);
                    items.push(self.exc_read(e, *t, &inner, depth + 1)?);
                }
                Val::tuple(items)
            }
            TyKind::Complex { .. } => {
                let re = self.runtime(&rt::lh_exc_float, &part(0), Ty::float())?;
                let im = self.runtime(&rt::lh_exc_float, &part(1), Ty::float())?;
                let (re, im) = (self.value(&re), self.value(&im));
                let whole = self.push(Inst::Pack(vec![re, im]), Ty::complex());
                self.cast(&whole, ty)
            }
            TyKind::Bool | TyKind::Int { .. } => {
                let n = self.runtime(&rt::lh_exc_int, &given, Ty::int())?;
                self.cast(&n, ty)
            }
            _ => {
                let x = self.runtime(&rt::lh_exc_float, &part(0), Ty::float())?;
                self.cast(&x, ty)
            }
        })
    }

    fn exc_read_optional(&mut self, e: &Val, inner: Ty, path: &Val, depth: u32) -> Result<Val> {
        let ty = Ty::optional(inner);
        let kind = self.runtime(&rt::lh_exc_kind, &[e.clone(), path.clone()], Ty::int())?;
        let is_none = self.compare(lh_ir::untyped::CmpOp::Eq, &kind, &Val::int(0))?;
        let (none, some) = self.branch(&is_none);
        let done = self.new_block();
        let result = self.out.new_param(done, ty);
        self.cur = none;
        let nothing = self.push(Inst::Zero, ty);
        self.jump(done, vec![nothing]);
        self.cur = some;
        let x = self.exc_read(e, inner, path, depth)?;
        let x = self.value(&x);
        let wrapped = self.push(Inst::Some(x), ty);
        self.jump(done, vec![wrapped]);
        self.cur = done;
        Ok(Val::new(ty, result))
    }

    /// A method of an exception; `None` if it has none of the name.
    pub(crate) fn exc_method(&mut self, e: &Val, name: &str, args: &[Val]) -> Result<Option<Val>> {
        match (name, args) {
            ("add_note", [text]) if text.ty == Ty::str() => {
                self.runtime(&rt::lh_exc_note, &[e.clone(), text.clone()], Ty::none())?;
                Ok(Some(Val::of_type(Ty::none())))
            }
            // Tracebacks are made when an exception leaves compiled code.
            ("with_traceback", [nothing]) if nothing.ty.is_none() => Ok(Some(e.clone())),
            ("super().__init__", _) => {
                let items = args.iter().map(|a| (*a).clone()).collect::<Vec<_>>();
                self.set_exc_args(e, &items)?;
                Ok(Some(Val::of_type(Ty::none())))
            }
            ("super().__str__", []) => self.runtime(&rt::lh_exc_str, &[e.clone()], Ty::str()).map(Some),
            ("super().__repr__", []) => self.runtime(&rt::lh_exc_repr, &[e.clone()], Ty::str()).map(Some),
            _ => Ok(None),
        }
    }
}

fn unknown_arguments() -> Box<Diagnostic> {
    Diagnostic::new(diag::UNSUPPORTED_TYPE, "the arguments of the exceptions that are caught here are not known")
        .note("use `str(e)`, or catch the class that is raised with numbers, strings or tuples of them")
}

/// Facts that the typed code of functions tells about exceptions.
#[derive(Default)]
pub(crate) struct Sites {
    /// Classes that are raised, with the types of arguments, and whether `__init__` runs in compiled code.
    pub raised: Vec<(ExcId, Vec<Ty>, bool)>,
    /// The arguments that functions give to Python's `__init__`, by the class of their first argument.
    pub args: Vec<(Option<ObjId>, Vec<Ty>)>,
    /// Classes with a function that gives something to Python's `__init__` on some ways only.
    pub partial: Vec<Option<ObjId>>,
    /// Fields that functions store, by the class of their first argument.
    pub fields: Vec<(Option<ObjId>, String, Ty)>,
}

/// An exception that is being made, or a list of arguments for one: types of the tuples that are not complete.
struct Open {
    class: ExcId,
    stack: Vec<Vec<Ty>>,
}

impl Open {
    fn put(&mut self, ty: Ty) {
        if let Some(last) = self.stack.last_mut() {
            last.push(ty);
        }
    }
    fn all(self) -> Vec<Ty> {
        self.stack.into_iter().next().unwrap_or_default()
    }
}

/// Raising statements of a function, and the functions that it calls.
fn collect(func: &Function, sites: &mut Sites, calls: &mut Vec<SpecId>) {
    let first = func.blocks.first().and_then(|b| b.params.first()).and_then(|p| func.ty(*p).as_error());
    let of = first.map(|(class, ..)| class);
    if of.is_some() && gives_arguments_sometimes(func) {
        sites.partial.push(of);
    }
    for (func, block) in func.with_bodies().into_iter().flat_map(|f| f.blocks.iter().map(move |b| (f, b))) {
        let mut open: Option<Open> = None;
        for i in &block.insts {
            if let Inst::Call(s, _) = &i.inst {
                calls.push(*s);
            }
            made(func, of, &i.inst, &mut open, sites);
        }
        if let Some(Term::Raise { exc: class, args }) = &block.term
            && *class != exc::BASE_EXCEPTION
        {
            sites.raised.push((*class, args.iter().map(|a| func.ty(*a)).collect(), false));
        }
    }
}

/// Whether a method gives Python's `__init__` something, and may return without doing so.
fn gives_arguments_sometimes(func: &Function) -> bool {
    let gives = |b: &lh_ir::func::BlockData| {
        b.insts.iter().any(|i| match &i.inst {
            Inst::Runtime(f, _) => **f == rt::lh_exc_set_args,
            Inst::Call(_, args) => args.first().is_some_and(|v| func.ty(*v).as_error().is_some()),
            _ => false,
        })
    };
    if !func.blocks.iter().any(gives) {
        return false;
    }
    let (mut open, mut seen) = (vec![0], vec![false; func.blocks.len()]);
    while let Some(at) = open.pop() {
        let block = &func.blocks[at];
        if std::mem::replace(&mut seen[at], true) || gives(block) {
            continue;
        }
        match &block.term {
            Some(Term::Return(_)) => return true,
            Some(Term::Jump(to)) => open.push(to.block.index()),
            Some(Term::Branch { then, els, .. }) => open.extend([then.block.index(), els.block.index()]),
            _ => {}
        }
        open.extend(block.unwind.iter().map(|to| to.block.index()));
    }
    false
}

/// Follows the making of an exception within a block.
fn made(func: &Function, of: Option<ObjId>, inst: &Inst, open: &mut Option<Open>, sites: &mut Sites) {
    let Inst::Runtime(f, args) = inst else { return };
    let defined = |v: Value| {
        let mut all = func.blocks.iter().flat_map(|b| &b.insts);
        all.find(|d| d.result == Some(v)).map(|d| &d.inst)
    };
    let made_by = |v: Value| match defined(v) {
        Some(Inst::Cast(of)) => defined(*of),
        other => other,
    };
    if **f == rt::lh_exc_begin {
        let class = match made_by(args[0]) {
            Some(Inst::Const(lh_ir::Const::Int(i, _))) => Some(ExcId(*i as u32)),
            Some(Inst::Extern(Extern::Class(id))) => Some(*id),
            _ => None,
        };
        *open = class.map(|class| Open { class, stack: vec![Vec::new()] });
        return;
    }
    if **f == rt::lh_exc_own {
        if let Some((.., own)) = sites.raised.last_mut() {
            *own = true;
        }
        return;
    }
    // Something that a function of the library puts may end a block: its type is not known.
    if **f == rt::lh_exc_set_field || **f == rt::lh_exc_set_args {
        let tys = open.take().map_or_else(|| vec![Ty::never()], Open::all);
        if **f == rt::lh_exc_set_args {
            sites.args.push((of, tys));
        } else if let Some(Inst::Const(lh_ir::Const::Str(name))) = made_by(args[1]) {
            sites.fields.push((of, name.to_string(), tys.first().copied().unwrap_or(Ty::never())));
        }
        return;
    }
    let Some(begun) = open else { return };
    if let Some(ty) = put_type(f) {
        begun.put(ty);
    } else if **f == rt::lh_exc_open {
        begun.stack.push(Vec::new());
    } else if **f == rt::lh_exc_close {
        let items = begun.stack.pop().unwrap_or_default();
        let is_tuple = matches!(made_by(args[0]), Some(Inst::Const(lh_ir::Const::Int(0, _))));
        begun.put(if is_tuple { Ty::tuple(items) } else { Ty::never() });
    } else if **f == rt::lh_exc_end {
        let Some(begun) = open.take() else { return };
        sites.raised.push((begun.class, begun.all(), false));
    }
}

/// The type of what a function of the run-time library puts into an exception.
fn put_type(f: &lh_ir::runtime::RuntimeFn) -> Option<Ty> {
    let all = [
        (&rt::lh_exc_put_none, Ty::none()),
        (&rt::lh_exc_put_bool, Ty::bool()),
        (&rt::lh_exc_put_uint, Ty::u64()),
        (&rt::lh_exc_put_int, Ty::int()),
        (&rt::lh_exc_put_float, Ty::float()),
        (&rt::lh_exc_put_complex, Ty::complex()),
        (&rt::lh_exc_put_str, Ty::str()),
    ];
    all.into_iter().find(|(own, _)| *f == **own).map(|(_, ty)| ty)
}

/// The type as which an argument is read.
fn kept(t: Ty) -> Ty {
    match t.kind() {
        TyKind::Literal(l) => l.ty(),
        _ => t.weak(),
    }
}

/// The type of what is read where values of two types are stored: one may be `None`.
pub(crate) fn joint(known: Option<Ty>, t: Ty) -> Option<Ty> {
    match known {
        None => Some(t),
        Some(k) if k == t => Some(k),
        Some(k) if k.is_none() => Some(Ty::optional(t)),
        Some(k) if t.is_none() => Some(Ty::optional(k)),
        Some(k) => match (k.kind(), t.kind()) {
            (TyKind::Optional(x), _) if *x == t => Some(k),
            (_, TyKind::Optional(x)) if *x == k => Some(t),
            _ => None,
        },
    }
}

/// Whether an argument is put into an exception without a function of the library.
pub(crate) fn is_plain(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_plain(*t)),
        TyKind::Exc => true,
        _ => t.is_number() || t.is_none() || t == Ty::str(),
    }
}

/// Whether an argument or a field of an exception can be read again.
pub(crate) fn is_readable(t: Ty) -> bool {
    match t.kind() {
        TyKind::Optional(inner) => is_readable(*inner),
        TyKind::Exc => false,
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| is_readable(*t)),
        _ => is_plain(t),
    }
}
