//! Exceptions of classes that programs define: `__init__`, fields, methods and properties, and how they are shown.
//!
//! The `__init__` of such a class runs where an exception is made. In methods the first argument is of a type that
//! names the class and the fields (`InstanceOf::Error`); everywhere else an exception is one of any class. The types of
//! fields are those of all stores that inference can see: in this function, and in those that it calls.

use crate::cx::Infer;
use crate::emit::exc;
use crate::operations::exceptions::{is_readable, joint};
use crate::val::{Known, Method, Val};
use crate::world::Object;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Device;
use lh_ir::types::{InstanceOf, TyKind};
use lh_ir::untyped::CmpOp;
use lh_ir::{ExcId, FuncId, ObjId, Ty};
use lh_ops::runtime as rt;
use std::rc::Rc;

/// The work for a class of an exception: it is given the exception as one of the class.
type ForClass<'f> = &'f mut dyn FnMut(&mut Infer<'_>, &Val, ObjId) -> Result<Val>;

/// The fields of exceptions of a class, and the types of their arguments if these can be read.
type Facts = (Vec<(String, Ty)>, Option<Vec<Ty>>);

impl Infer<'_> {
    /// The `__init__` that a class of the program defines, unless it defines `__new__`, too.
    fn own_init(&mut self, id: ExcId) -> Option<(ObjId, FuncId)> {
        let class = self.world.exc_object(id)?;
        if self.own_function(class, "__new__").is_some() {
            return None;
        }
        Some((class, self.own_function(class, "__init__")?))
    }

    /// Whether only the code of a class of the program knows what its instances hold.
    pub(crate) fn has_own_init(&mut self, id: ExcId) -> bool {
        let Some(class) = self.world.exc_object(id) else { return false };
        ["__new__", "__init__"].into_iter().any(|name| self.own_function(class, name).is_some())
    }

    /// Whether the `__init__` of a class of exceptions is Python's.
    pub(crate) fn is_pythons_init(&mut self, class: &Val, init: ObjId) -> bool {
        self.exc_class(class).is_some() && !matches!(self.world.object(init), Object::Func(_))
    }

    fn own_function(&mut self, class: ObjId, name: &str) -> Option<FuncId> {
        let member = self.world.attr(class, name)?;
        match self.world.object(member) {
            Object::Func(f) => Some(f),
            _ => None,
        }
    }

    /// A new exception of a class with an `__init__` of its own that can be compiled.
    pub(crate) fn make_own_exception(
        &mut self,
        id: ExcId,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        // The library's functions are typed once, for programs that never look at what they raise.
        if exc::is_builtin(id) || self.is_library || self.options.device != Device::Host {
            return Ok(None);
        }
        let Some((class, init)) = self.own_init(id) else { return Ok(None) };
        let given = || args.iter().chain(kwargs.iter().map(|(_, x)| x));
        if given().any(|x| x.ty.is_never() || crate::convert::has_pending(x.ty)) {
            return Ok(Some(Val::of_type(Ty::never())));
        }
        let number = self.exc_number(id);
        self.runtime(&rt::lh_exc_begin, &[number], Ty::none())?;
        for x in args {
            self.put_argument(x, name)?;
        }
        let made = self.runtime(&rt::lh_exc_end, &[], Ty::exc())?;
        self.runtime(&rt::lh_exc_own, std::slice::from_ref(&made), Ty::none())?;
        let own = self.error_of(&made, class, Vec::new(), None);
        let given: Vec<Val> = std::iter::once(own).chain(args.iter().cloned()).collect();
        match self.call_func(init, &given, kwargs) {
            Ok(_) if self.dead => Ok(Some(Val::of_type(Ty::never()))),
            Ok(_) => Ok(Some(Val { known: Some(Rc::new(Known::Caught(vec![id]))), ..made })),
            Err(d) if matches!(d.id, diag::NEEDS_CONSTANT | diag::NO_MATCHING_CALL) => Err(d),
            // Python runs it when the exception leaves compiled code.
            Err(_) => Ok(None),
        }
    }

    /// An exception as one of a class.
    fn error_of(&mut self, e: &Val, class: ObjId, fields: Vec<(String, Ty)>, args: Option<Vec<Ty>>) -> Val {
        let name = match self.world.object(class) {
            Object::ExcClass(_, name) => name,
            _ => "exception".to_owned(),
        };
        let class = InstanceOf::Error { name, class, fields, args };
        let ty = Ty::new(TyKind::Instance { of: Ty::exc(), class });
        let e = Val { known: None, ..e.clone() };
        self.pack(vec![e], ty)
    }

    /// An exception without what its type says of it; anything else is itself.
    pub(crate) fn plain_exception(&mut self, v: &Val) -> Val {
        let Some((class, ..)) = v.ty.as_error() else { return v.clone() };
        let e = self.field(v, 0);
        match self.world.object(class) {
            Object::ExcClass(id, _) => Val { known: Some(Rc::new(Known::Caught(vec![id]))), ..e },
            _ => e,
        }
    }

    /// Whether what is stored in instances of a class may be in an exception.
    fn concerns(&mut self, v: &Val, class: Option<ObjId>) -> bool {
        let Some(class) = class else { return true };
        if let Some((own, ..)) = v.ty.as_error() {
            return own == class;
        }
        let Object::ExcClass(id, _) = self.world.object(class) else { return true };
        self.caught_classes(v).into_iter().any(|c| self.world.exc_is_subclass(id, c))
    }

    /// The type of a field, if anything that is seen stores it.
    fn field_type(&mut self, v: &Val, name: &str) -> Result<Option<Ty>> {
        let known = v.ty.as_error().and_then(|(_, fields, _)| fields.iter().find(|(n, _)| n == name));
        let mut ty = known.map(|(_, t)| *t);
        for (class, field, t) in self.all_sites().fields {
            if field != name || !self.concerns(v, class) {
                continue;
            }
            let Some(met) = joint(ty, t) else {
                let text = format!("the field `{name}` of what is caught here is `{}` or `{t}`", ty.unwrap_or(t));
                return Err(Diagnostic::new(diag::CANNOT_UNIFY, text)
                    .note("name the class that you expect in a clause of its own, or store values of one type"));
            };
            ty = Some(met);
        }
        match ty {
            Some(t) if !is_readable(t) => {
                let text = format!("the field `{name}` of the exception holds what a handler cannot read");
                Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text)
                    .note("fields that handlers read are numbers, strings, None, or tuples of them"))
            }
            other => Ok(other),
        }
    }

    fn read_field(&mut self, v: &Val, name: &str, ty: Ty) -> Result<Val> {
        let e = self.plain_exception(v);
        let path = self.runtime(&rt::lh_exc_field, &[e.clone(), Val::str(name)], Ty::int())?;
        let missing = self.compare(CmpOp::Eq, &path, &Val::int(0))?;
        let class = match v.ty.kind() {
            TyKind::Instance { class: InstanceOf::Error { name, .. }, .. } => name.clone(),
            _ => "exception".to_owned(),
        };
        self.raise_if(&missing, exc::ATTRIBUTE_ERROR, &format!("'{class}' object has no attribute '{name}'"));
        self.exc_read(&e, ty, &path, 1)
    }

    /// An attribute of an exception in a method of its class.
    pub(crate) fn error_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        let Some((class, _, args)) = v.ty.as_error() else { return Ok(None) };
        let e = self.plain_exception(v);
        if let ("args", Some(args)) = (name, args) {
            let parts = args.iter().zip(1..).map(|(t, path)| self.exc_read(&e, *t, &Val::int(path), 0));
            return Ok(Some(Val::tuple(parts.collect::<Result<Vec<_>>>()?)));
        }
        if let Some(ty) = self.field_type(v, name)? {
            return self.read_field(v, name, ty).map(Some);
        }
        match self.user_attr(v, class, name)? {
            Some(found) => Ok(Some(found)),
            None => self.exc_attr(&e, name),
        }
    }

    /// An attribute that the classes of an exception define, or that their functions store.
    pub(crate) fn own_attr(&mut self, e: &Val, name: &str) -> Result<Option<Val>> {
        if let Some(ty) = self.field_type(e, name)? {
            return self.read_field(e, name, ty).map(Some);
        }
        let mut found = None;
        for id in self.raised_classes(e) {
            let Some(class) = self.world.exc_object(id) else { continue };
            let Some(member) = self.world.attr(class, name) else { continue };
            match self.world.object(member) {
                Object::Func(_) if !self.world.is_static(class, name) => found = Some(true),
                Object::Other(_) | Object::Path(_) | Object::Property(None, _) => {}
                _ => found = found.or(Some(false)),
            }
        }
        let Some(is_method) = found else { return Ok(None) };
        if is_method {
            let ty = Ty::new(TyKind::BoundMethod { recv: e.ty, name: name.to_owned() });
            return Ok(Some(Val::known(ty, Known::Method(e.clone(), Method::Error(Rc::from(name))))));
        }
        self.per_class(e, name, &mut |cx, own, _| cx.get_attr(own, name)).map(Some)
    }

    /// A call of a method of the class of an exception.
    pub(crate) fn call_error_method(
        &mut self,
        e: &Val,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        self.per_class(e, name, &mut |cx, own, _| {
            let method = cx.get_attr(own, name)?;
            cx.call(&method, args, kwargs)
        })
    }

    fn facts_of(&mut self, e: &Val, id: ExcId, class: ObjId) -> Result<Facts> {
        let probe = Val { known: Some(Rc::new(Known::Caught(vec![id]))), ..e.clone() };
        let mut fields: Vec<(String, Ty)> = Vec::new();
        for (of, name, _) in self.all_sites().fields {
            let own = of.is_none_or(|of| of == class);
            if own
                && fields.iter().all(|(n, _)| *n != name)
                && let Ok(Some(ty)) = self.field_type(&probe, &name)
            {
                fields.push((name, ty));
            }
        }
        fields.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let sites = self.sites_of(&probe);
        let first = sites.first().map(|(_, args)| args.clone());
        let args = first.filter(|first| sites.iter().all(|(_, args)| args == first));
        Ok((fields, args.filter(|args| args.iter().all(|t| is_readable(*t)))))
    }

    /// A value that depends on the class of an exception.
    fn per_class(&mut self, e: &Val, name: &str, f: ForClass<'_>) -> Result<Val> {
        let caught = self.caught_classes(e);
        let mut ends = Vec::new();
        let mut is_open = true;
        for id in self.raised_classes(e) {
            let Some(class) = self.world.exc_object(id) else { continue };
            let (fields, args) = self.facts_of(e, id, class)?;
            let all = caught.iter().all(|c| self.world.exc_is_subclass(*c, id));
            let number = self.exc_number(id);
            let is = if all {
                Val::bool(true)
            } else {
                self.runtime(&rt::lh_exc_matches, &[e.clone(), number], Ty::bool())?
            };
            let rest = (!all).then(|| self.branch(&is)).map(|(yes, no)| {
                self.cur = yes;
                no
            });
            let own = self.error_of(e, class, fields, args);
            let x = f(self, &own, class)?;
            if !std::mem::take(&mut self.dead) {
                ends.push((self.cur, x));
            }
            match rest {
                Some(no) => self.cur = no,
                None => {
                    is_open = false;
                    break;
                }
            }
        }
        if is_open {
            self.raise_text(exc::ATTRIBUTE_ERROR, &format!("the exception has no attribute '{name}'"));
        }
        self.meet(ends, name)
    }

    /// The value with which several blocks end.
    fn meet(&mut self, ends: Vec<(lh_ir::Block, Val)>, name: &str) -> Result<Val> {
        let Some((block, first)) = ends.first().cloned() else {
            self.dead = true;
            return Ok(Val::of_type(Ty::never()));
        };
        let mut ty = first.ty;
        for (_, x) in &ends {
            let Some(met) = crate::convert::unify(ty, x.ty, &mut self.pending) else {
                let text = format!("`{name}` of what is caught here is `{ty}` or `{}`", x.ty);
                return Err(Diagnostic::new(diag::CANNOT_UNIFY, text)
                    .note("name the class that you expect in a clause of its own"));
            };
            ty = met;
        }
        if let [_] = &ends[..] {
            self.cur = block;
            return Ok(first);
        }
        let done = self.new_block();
        let result = self.out.new_param(done, ty);
        for (block, x) in ends {
            self.cur = block;
            let x = self.convert(&x, ty)?;
            self.jump(done, vec![x]);
        }
        self.cur = done;
        Ok(Val::new(ty, result))
    }

    /// `str(e)` or `repr(e)`, by a method of the class if it has one.
    pub(crate) fn exception_text(&mut self, v: &Val, method: &'static str) -> Result<Val> {
        let plain = if method == "__str__" { &rt::lh_exc_str } else { &rt::lh_exc_repr };
        if let Some((class, ..)) = v.ty.as_error() {
            let e = self.plain_exception(v);
            if method == "__str__" && self.is_axis_error(class) {
                let (axis, ndim) = (self.exc_arg(&e, 0)?, self.exc_arg(&e, 1)?);
                return self.call_library("numpy.layout.text_of_axis", &[axis, ndim]);
            }
            return match self.own_function(class, method) {
                Some(f) => self.call_func(f, std::slice::from_ref(v), &[]),
                None => self.runtime(plain, &[e], Ty::str()),
            };
        }
        self.check_exc_text(v)?;
        let mut is_own = false;
        for id in self.raised_classes(v) {
            let class = self.world.exc_object(id);
            is_own |= class.is_some_and(|class| self.own_function(class, method).is_some());
        }
        if !is_own {
            return self.runtime(plain, &[v.clone()], Ty::str());
        }
        let (yes, no) = self.of_own_classes(v)?;
        self.cur = yes;
        let own = self.per_class(v, method, &mut |cx, own, _| cx.exception_text(own, method))?;
        let mut ends = Vec::new();
        if !std::mem::take(&mut self.dead) {
            ends.push((self.cur, own));
        }
        self.cur = no;
        let text = self.runtime(plain, &[v.clone()], Ty::str())?;
        ends.push((self.cur, text));
        self.meet(ends, method)
    }

    /// Whether a class is NumPy's `AxisError`, whose text is made by Python code that reads its arguments.
    pub(crate) fn is_axis_error(&mut self, class: ObjId) -> bool {
        self.world.describe(class) == "numpy.exceptions.AxisError"
    }

    /// Branches on whether the class of an exception is one of the program's that is raised here.
    fn of_own_classes(&mut self, e: &Val) -> Result<(lh_ir::Block, lh_ir::Block)> {
        let mut any = Val::bool(false);
        for id in self.raised_classes(e) {
            if self.world.exc_object(id).is_none() {
                continue;
            }
            let number = self.exc_number(id);
            let m = self.runtime(&rt::lh_exc_matches, &[e.clone(), number], Ty::bool())?;
            any = self.either(&any, &m);
        }
        Ok(self.branch(&any))
    }

    /// An exception as it is shown: by a text if a class of the program says how. Anything else is itself.
    pub(crate) fn shown(&mut self, v: &Val, method: &'static str) -> Result<Val> {
        if v.ty == Ty::exc() || v.ty.as_error().is_some() { self.exception_text(v, method) } else { Ok(v.clone()) }
    }

    /// Gives an exception other arguments.
    pub(crate) fn set_exc_args(&mut self, v: &Val, args: &[Val]) -> Result<()> {
        let e = self.plain_exception(v);
        self.runtime(&rt::lh_exc_begin, &[Val::int(0)], Ty::none())?;
        for x in args {
            self.put_argument(x, "__init__")?;
        }
        self.runtime(&rt::lh_exc_set_args, &[e], Ty::none())?;
        Ok(())
    }

    /// `e.name = x`
    pub(crate) fn set_exc_attr(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        if x.ty.is_never() || crate::convert::has_pending(x.ty) {
            return Ok(());
        }
        let e = self.plain_exception(v);
        if name == "args" {
            let Some(parts) = self.tuple_parts(x) else {
                let text = format!("the arguments of an exception are a tuple, not `{}`", x.ty);
                return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note("assign a tuple"));
            };
            return self.set_exc_args(&e, &parts);
        }
        if name.starts_with("__") && name.ends_with("__") {
            let text = format!("attribute `{name}` of an exception cannot be assigned");
            return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text).note("write `raise ... from ...`"));
        }
        for id in self.caught_classes(&e) {
            let Some(class) = self.world.exc_object(id) else { continue };
            let Some(member) = self.world.attr(class, name) else { continue };
            if let (Object::Property(_, Some(set)), true) = (self.world.object(member), v.ty.as_error().is_some()) {
                let set = self.object(set)?;
                return self.call(&set, &[v.clone(), x.clone()], &[]).map(|_| ());
            }
        }
        self.store_field_of(&e, name, x)
    }

    fn store_field_of(&mut self, e: &Val, name: &str, x: &Val) -> Result<()> {
        if !matches!(x.ty.kind(), TyKind::Optional(_)) {
            self.runtime(&rt::lh_exc_begin, &[Val::int(0)], Ty::none())?;
            self.put_argument(x, name)?;
            self.runtime(&rt::lh_exc_set_field, &[e.clone(), Val::str(name)], Ty::none())?;
            return Ok(());
        }
        let has = self.is_none(x, true);
        let (some, none) = self.branch(&has);
        let done = self.new_block();
        self.cur = some;
        let inner = self.unwrap_optional(x)?;
        self.store_field_of(e, name, &inner)?;
        self.jump(done, Vec::new());
        self.cur = none;
        self.store_field_of(e, name, &Val::of_type(Ty::none()))?;
        self.jump(done, Vec::new());
        self.cur = done;
        Ok(())
    }
}
