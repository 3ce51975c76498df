//! Instances of classes that programs define: methods, properties, constants and fields, and how one is made.
//!
//! A class that defines `__init__` is a new object, whose fields are zeros, given to that. In one whose `__init__` is
//! made of its fields (`@dataclass`, `attrs`), the arguments decide the types of fields that have no type of their own.

use crate::cx::Infer;
use crate::emit::exc;
use crate::operations::alternatives::is_several;
use crate::val::{Known, Method, Val};
use crate::world::{FieldInit, Object, UserClass};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Term};
use lh_ir::types::{Prim, TyKind};
use lh_ir::untyped::CmpOp;
use lh_ir::{FuncId, ObjId, Ty};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// An attribute of an instance of a class that a program defines, other than a field.
    pub(crate) fn user_attr(&mut self, v: &Val, class: ObjId, name: &str) -> Result<Option<Val>> {
        if name == "__class__" {
            let proxy = self.world.attr(class, "__proxy__").filter(|_| v.ty.is_struct());
            return self.object(proxy.unwrap_or(class)).map(Some);
        }
        let Some(member) = self.world.attr(class, name) else { return Ok(None) };
        match self.world.object(member) {
            Object::Func(f) if self.world.is_static(class, name) => Ok(Some(Val::of_type(Ty::new(TyKind::Func(f))))),
            Object::Func(f) => {
                let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
                Ok(Some(Val::known(ty, Known::Method(v.clone(), Method::Library(f)))))
            }
            Object::Cached(..) if !self.world.is_static(class, name) => {
                let text = format!("`functools` keeps results of `{name}` by its object, which compiled code cannot");
                Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text).note("decorate a function that is given the fields"))
            }
            Object::Property(Some(get), _) => {
                let get = self.object(get)?;
                self.call(&get, std::slice::from_ref(v), &[]).map(Some)
            }
            Object::Property(None, _) | Object::Other(_) | Object::Path(_) => Ok(None),
            _ => self.object(member).map(Some),
        }
    }

    /// A function that a class of the user's defines as a method.
    pub(crate) fn user_method(&mut self, class: Class, name: &str) -> Option<FuncId> {
        let member = self.world.attr(class.user()?.class, name)?;
        match self.world.object(member) {
            Object::Func(f) => Some(f),
            _ => None,
        }
    }

    /// Calls the setter of a property; false if there is none.
    pub(crate) fn set_property(&mut self, v: &Val, name: &str, x: &Val) -> Result<bool> {
        let Some(user) = v.ty.class().and_then(Class::user) else { return Ok(false) };
        let Some(member) = self.world.attr(user.class, name) else { return Ok(false) };
        let Object::Property(_, Some(set)) = self.world.object(member) else { return Ok(false) };
        let set = self.object(set)?;
        self.call(&set, &[v.clone(), x.clone()], &[])?;
        Ok(true)
    }

    /// Raises what an assignment to a field of an instance that cannot be changed raises; false if it can be.
    pub(crate) fn is_frozen(&mut self, v: &Val, name: &str) -> Result<bool> {
        let Some(user) = v.ty.class().and_then(Class::user) else { return Ok(false) };
        let Object::Class(known) = self.world.object(user.class) else { return Ok(false) };
        let Some((exception, has_text)) = known.frozen else { return Ok(false) };
        let Object::ExcClass(id, _) = self.world.object(exception) else { return Ok(false) };
        if has_text {
            self.raise_text(id, &format!("cannot assign to field '{name}'"));
        } else {
            self.set_term(Term::Raise { exc: id, args: vec![] });
        }
        self.dead = true;
        Ok(true)
    }

    /// A field that has been read: an object that nothing has been assigned to yet is no object.
    pub(crate) fn check_assigned(&mut self, v: &Val, name: &str, read: &Val) -> Result<()> {
        if v.ty.class().and_then(Class::user).is_none() || read.ty.flatten() != [Prim::Object] {
            return Ok(());
        }
        let nothing = self.push(Inst::Zero, read.ty);
        let missing = self.runtime(&rt::lh_object_is, &[read.clone(), nothing], Ty::bool())?;
        let class = v.ty.class().map_or("object", Class::name);
        self.raise_if(&missing, exc::ATTRIBUTE_ERROR, &format!("'{class}' object has no attribute '{name}'"));
        Ok(())
    }

    /// `C(...)` of a class that a program defines.
    pub(crate) fn make_instance(&mut self, c: &UserClass, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let Some(user) = c.class.user() else { lh_ir::bug!("the library's {:?}", c.class) };
        let init = self.world.attr(user.class, "__init__").map(|o| self.world.object(o));
        let Some(Object::Func(init)) = init else {
            if args.is_empty() && kwargs.is_empty() {
                return self.blank_instance(c, Vec::new());
            }
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}()` takes no arguments", c.class.name())));
        };
        if c.is_record {
            return self.make_record(c, init, args, kwargs);
        }
        let made = self.blank_instance(c, Vec::new())?;
        self.initialise(made, init, args, kwargs)
    }

    /// A new instance whose fields a function sets.
    pub(crate) fn construct(&mut self, ty: Ty, init: FuncId, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let made = self.zeroed_instance(ty)?;
        self.initialise(made, init, args, kwargs)
    }

    fn initialise(&mut self, made: Val, init: FuncId, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let given: Vec<Val> = std::iter::once(&made).chain(args).cloned().collect();
        let result = self.call_func(init, &given, kwargs)?;
        if !result.ty.is_none() && !result.ty.is_never() {
            let text = format!("__init__() should return None, not `{}`", result.ty);
            return Err(Diagnostic::new(diag::CANNOT_UNIFY, text));
        }
        Ok(made)
    }

    fn blank_instance(&mut self, c: &UserClass, types: Vec<Ty>) -> Result<Val> {
        if types.len() != c.class.declaration().parameters.len() {
            let text = format!("`{}` has fields of types that are not known", c.class.name());
            return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text)
                .note("annotate each of its fields with the type of its values"));
        }
        self.zeroed_instance(c.class.of(types, false))
    }

    /// A new instance whose fields are zeros.
    pub(crate) fn zeroed_instance(&mut self, ty: Ty) -> Result<Val> {
        if ty.object_layout().is_none() {
            return Err(Diagnostic::new(diag::TOO_LARGE, format!("`{ty}` has too many fields"))
                .note("put some of them into tuples or arrays"));
        }
        let none = self.value(&Val::int(0));
        Ok(self.push(Inst::New(none), ty))
    }

    /// An instance whose `__init__` stores its arguments.
    fn make_record(&mut self, c: &UserClass, init: FuncId, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let code = self.world.code(init)?;
        let info = self.world.info(init);
        let defaults = info.defaults.iter().map(|o| self.object(*o)).collect::<Result<Vec<_>>>()?;
        let kwdefaults =
            info.kwdefaults.iter().map(|(n, o)| Ok((n.clone(), self.object(*o)?))).collect::<Result<Vec<_>>>()?;
        let given: Vec<Val> = std::iter::once(Val::of_type(Ty::none())).chain(args.iter().cloned()).collect();
        let bound = self.bind(&code, &defaults, &kwdefaults, &given, kwargs)?;
        let argument = |name: &str| code.params.iter().position(|p| p.name == name).map(|i| bound[i].clone());
        let mut values = Vec::new();
        let mut types = Vec::new();
        for (field, (_, declared)) in c.makes.iter().zip(c.class.user_fields()) {
            let given = field.parameter.as_deref().and_then(argument);
            let Some(x) = self.initial_value(field, given, declared.map(Ty::defined))? else {
                if declared.is_none() {
                    return self.blank_instance(c, Vec::new());
                }
                continue;
            };
            if crate::convert::has_pending(x.ty) && declared.is_none() {
                let text = format!("the type of the field `{}` is not known", field.name);
                return Err(Diagnostic::new(diag::UNTYPED_LIST, text)
                    .note("annotate it with the type of its items: `list[int]`"));
            }
            if declared.is_none() {
                types.push(x.ty.weak());
            }
            values.push((field.name.as_str(), x));
        }
        let made = self.blank_instance(c, types)?;
        for (name, x) in values {
            self.store_field(&made, name, &x)?;
        }
        if let Some(after) = self.user_method(c.class, "__post_init__") {
            let extra = c.extra.iter().filter_map(|name| argument(name));
            let given: Vec<Val> = std::iter::once(made.clone()).chain(extra).collect();
            self.call_func(after, &given, &[])?;
        }
        Ok(made)
    }

    /// `dataclasses.replace(v, x=1)`
    pub(crate) fn replaced_fields(&mut self, v: &Val, changes: &[(String, Val)]) -> Result<Val> {
        let class = v.ty.class().and_then(Class::user).map(|user| self.world.object(user.class));
        let Some(Object::Class(c)) = class else {
            let text = format!("`replace` takes an instance of a dataclass, not `{}`", v.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        };
        let mut given = changes.to_vec();
        for field in &c.makes {
            if let Some(parameter) = field.parameter.as_ref().filter(|p| changes.iter().all(|(n, _)| n != *p)) {
                given.push((parameter.clone(), self.get_attr(v, &field.name)?));
            }
        }
        self.make_instance(&c, &[], &given)
    }

    /// The description of the class of an instance of a dataclass, or of the class itself.
    fn record_class(&mut self, v: &Val) -> Option<std::sync::Arc<UserClass>> {
        let class = match v.ty.kind() {
            TyKind::Obj(o) => *o,
            _ => v.ty.class().and_then(Class::user)?.class,
        };
        match self.world.object(class) {
            Object::Class(c) if !c.makes.is_empty() || c.is_record => Some(c),
            _ => None,
        }
    }

    pub(crate) fn is_record_class(&mut self, v: &Val) -> bool {
        self.record_class(v).is_some()
    }

    /// `dataclasses.fields(v)`: the objects that describe the fields, which are known while compiling.
    pub(crate) fn record_fields(&mut self, path: &str, v: &Val) -> Result<Val> {
        let class = match v.ty.kind() {
            TyKind::Obj(o) => Some(*o),
            _ => v.ty.class().and_then(Class::user).map(|user| user.class),
        };
        let (module, name) = path.split_once('.').expect("a path in a module");
        let fields = self.world.import(module, Some(name));
        if let (Some(class), Some(fields)) = (class.filter(|_| self.record_class(v).is_some()), fields)
            && let Some(made) = self.world.fold_call(fields, &[class])
        {
            return self.object(made);
        }
        let text = format!("`fields` takes a dataclass or an instance of one, not `{}`", v.ty);
        Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("call it with an instance"))
    }

    /// `dataclasses.astuple(v)`
    pub(crate) fn as_tuple(&mut self, v: &Val) -> Result<Val> {
        if matches!(v.ty.kind(), TyKind::Obj(_)) || self.record_class(v).is_none() {
            let text = format!("`astuple` takes an instance of a dataclass, not `{}`", v.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("call it with an instance"));
        }
        self.fields_tuple(v)
    }

    /// The fields of an instance as a tuple; containers are copied, and those of instances refused.
    fn fields_tuple(&mut self, v: &Val) -> Result<Val> {
        if matches!(v.ty.kind(), TyKind::Obj(_)) || self.record_class(v).is_none() {
            if let Some(parts) = self.tuple_parts(v) {
                let parts = parts.iter().map(|p| self.fields_tuple(p)).collect::<Result<Vec<_>>>()?;
                let TyKind::Tuple { name, .. } = v.ty.kind() else { return Ok(Val::tuple(parts)) };
                let ty = TyKind::Tuple { elems: parts.iter().map(|p| p.ty).collect(), name: name.clone() };
                return Ok(self.pack(parts, Ty::new(ty)));
            }
            if v.ty.mentions(&|t| t.class().and_then(Class::user).is_some()) {
                let text = format!("`astuple` of a `{}` of instances is not supported", v.ty);
                return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note("build the tuple of its parts"));
            }
            return if v.ty.is_container() || v.ty.is_array() { self.method(v, "copy", &[]) } else { Ok(v.clone()) };
        }
        let c = self.record_class(v).expect("just asked");
        let mut parts = Vec::new();
        for field in &c.makes {
            let x = self.get_attr(v, &field.name)?;
            parts.push(self.fields_tuple(&x)?);
        }
        Ok(Val::tuple(parts))
    }

    /// `dataclasses.asdict(v)`: a dictionary whose names and types of values are known, unless all values are of one
    /// type.
    pub(crate) fn fields_dict(&mut self, v: &Val) -> Result<Val> {
        if matches!(v.ty.kind(), TyKind::Obj(_)) || self.record_class(v).is_none() {
            let text = format!("`asdict` takes an instance of a dataclass, not `{}`", v.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("call it with an instance"));
        }
        let named = self.named_fields(v)?;
        let first = named.first().map(|(_, x)| x.ty.weak());
        let is_plain = named.iter().all(|(_, x)| Some(x.ty.weak()) == first && self.entries(x).is_none());
        match self.result.filter(|_| is_plain) {
            Some(site) => {
                let pairs: Vec<Vec<Val>> = named.into_iter().map(|(n, x)| vec![Val::str(n), x]).collect();
                self.display(Class::dict(), site, "__setitem__", &pairs)
            }
            None => Ok(self.named_entries(named)),
        }
    }

    fn named_fields(&mut self, v: &Val) -> Result<Vec<(String, Val)>> {
        let class = self.record_class(v).expect("an instance of a dataclass");
        let mut named = Vec::new();
        for field in &class.makes {
            let x = self.get_attr(v, &field.name)?;
            let inner = if matches!(x.ty.kind(), TyKind::Class(_)) { self.record_class(&x) } else { None };
            let x = match inner {
                Some(_) => {
                    let inner = self.named_fields(&x)?;
                    self.named_entries(inner)
                }
                None => self.fields_tuple(&x)?,
            };
            named.push((field.name.clone(), x));
        }
        Ok(named)
    }

    /// A comparison of instances of one class by a tuple of fields, where the class is declared to have it.
    pub(crate) fn ordered_by_fields(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        if a.ty != b.ty || matches!(op, CmpOp::Eq | CmpOp::Ne) {
            return Ok(None);
        }
        let Some(user) = a.ty.class().and_then(Class::user) else { return Ok(None) };
        let Object::Class(c) = self.world.object(user.class) else { return Ok(None) };
        let Some(order) = &c.order else { return Ok(None) };
        let mut parts = |v: &Val| order.iter().map(|name| self.get_attr(v, name)).collect::<Result<Vec<Val>>>();
        let (x, y) = (parts(a)?, parts(b)?);
        self.compare(op, &Val::tuple(x), &Val::tuple(y)).map(Some)
    }

    /// The value of a field of a new instance, if it gets one.
    fn initial_value(&mut self, field: &FieldInit, argument: Option<Val>, ty: Option<Ty>) -> Result<Option<Val>> {
        let (argument, factory) = match (argument, field.factory) {
            (Some(x), Some(factory)) => {
                let stands_for_call = field.default.map(|o| self.object(o)).transpose()?;
                let absent = stands_for_call.is_some_and(|v| v.ty == x.ty);
                (Some(x).filter(|_| !absent), Some(factory))
            }
            (None, None) => (field.default.map(|o| self.object(o)).transpose()?, None),
            other => other,
        };
        match (argument, factory) {
            (None, Some(factory)) if ty.is_some_and(|t| self.makes_empty(factory, t)) => {
                let ty = ty.expect("just asked");
                let count = Val::int(0);
                let none = self.value(&count);
                let made = self.push(Inst::New(none), ty);
                self.class_method(&made, "__prepare__", &[count])?;
                Ok(Some(made))
            }
            (None, Some(factory)) => {
                let factory = self.object(factory)?;
                self.call(&factory, &[], &[]).map(Some)
            }
            (found, _) => Ok(found),
        }
    }

    /// `int(v)` and the like, by a method of the class of `v`.
    pub(crate) fn user_number(&mut self, t: Ty, args: &[Val]) -> Result<Option<Val>> {
        let path = match t.kind() {
            TyKind::Bool => "builtins.bool",
            TyKind::Int { weak: true, .. } => "builtins.int",
            TyKind::Float { weak: true, .. } => "builtins.float",
            TyKind::Complex { weak: true, .. } => "builtins.complex",
            _ => return Ok(None),
        };
        match self.user_builtin(path, args, &[])? {
            Some(v) if t.is_bool() => self.truth(&v).map(Some),
            found => Ok(found.map(|v| self.cast(&v, t))),
        }
    }

    /// Whether a function is the class of containers of a type.
    fn makes_empty(&mut self, factory: ObjId, ty: Ty) -> bool {
        let class = ty.class().filter(|_| ty.is_container());
        matches!(self.world.object(factory), Object::Path(path) if class.is_some_and(|c| c.path() == path))
    }

    /// A builtin that asks the class of its argument: `abs(v)` is `v.__abs__()`. `None` if the class does not answer.
    pub(crate) fn user_builtin(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        const ASKING: [&str; 11] =
            ["abs", "bool", "complex", "divmod", "float", "format", "hash", "int", "pow", "reversed", "round"];
        if let ("builtins.str" | "builtins.repr", [x]) = (path, args)
            && x.ty.as_error().is_some()
        {
            return self.exception_text(x, if path == "builtins.str" { "__str__" } else { "__repr__" }).map(Some);
        }
        if let Some(v) = self.builtin_of_each(path, args, kwargs)? {
            return Ok(Some(v));
        }
        let (Some(name), Some((v, rest))) = (path.strip_prefix("builtins."), args.split_first()) else {
            return Ok(None);
        };
        if v.ty.class().and_then(Class::user).is_none() {
            return Ok(None);
        }
        match name {
            "object.__setattr__" => match rest {
                [name, x] if name.as_str().is_some() => {
                    self.store_field(v, name.as_str().unwrap_or_default(), x)?;
                    Ok(Some(Val::constant(lh_ir::Const::None)))
                }
                _ => Ok(None),
            },
            "str" => self.user_text(v, true),
            "repr" => self.user_text(v, false),
            _ if ASKING.contains(&name) => self.class_method(v, &format!("__{name}__"), rest),
            _ => Ok(None),
        }
    }

    /// `str(v)` or `repr(v)` of an instance of a class that a program defines; `None` of other values.
    pub(crate) fn user_text(&mut self, v: &Val, is_str: bool) -> Result<Option<Val>> {
        if is_several(v) {
            let text = |own: &mut Self, x: &[Val]| Ok(own.user_text(&x[0], is_str)?.expect("of an instance"));
            return self.each(std::slice::from_ref(v), &|_, _| None, &mut |own, x| text(own, x)).map(Some);
        }
        let Some(user) = v.ty.class().and_then(Class::user) else { return Ok(None) };
        if is_str && let Some(text) = self.class_method(v, "__str__", &[])? {
            return Ok(Some(text));
        }
        let Object::Class(c) = self.world.object(user.class) else { return Ok(None) };
        let Some((title, shown)) = &c.shown else {
            if let Some(text) = self.class_method(v, "__repr__", &[])? {
                return Ok(Some(text));
            }
            let module = c.class.path().strip_suffix(c.class.name()).unwrap_or_default();
            let name = self.qualified_name(user.class);
            return Ok(Some(Val::str(format!("<{module}{name} object>"))));
        };
        let mut parts = Vec::new();
        for name in shown {
            let x = self.get_attr(v, name)?;
            parts.push(Val::tuple(vec![Val::str(name.as_str()), x]));
        }
        self.call_library("text.fields_text", &[Val::str(title.as_str()), Val::tuple(parts)]).map(Some)
    }

    /// `__qualname__` of a class.
    pub(crate) fn qualified_name(&mut self, class: ObjId) -> String {
        let name = self.world.attr(class, "__qualname__").map(|o| self.world.object(o));
        match name {
            Some(Object::Const(lh_ir::Const::Str(name))) => name,
            _ => self.world.describe(class),
        }
    }
}
