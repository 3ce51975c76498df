//! `super()`, and special methods of named tuples, which are looked up in the class of the program.

use crate::cx::Infer;
use crate::operations::operators::operator_name;
use crate::val::{Known, Method, Val};
use crate::world::Object;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::TyKind;
use lh_ir::untyped::BinOp;
use lh_ir::{FuncId, ObjId, Ty};

impl Infer<'_> {
    /// `super()`, or `super(C, self)`.
    pub(crate) fn super_of(&mut self, args: &[Val]) -> Result<Val> {
        let refused = || {
            Diagnostic::new(diag::UNSUPPORTED_CALL, "`super` is supported in methods only, as `super()`")
                .note("write a function of its own, and call it by its name")
        };
        let (class, v) = match args {
            [] => {
                let at = self.code.freevars.iter().position(|n| n == "__class__").ok_or_else(refused)?;
                let class = self.world.free(self.id, at as u32).ok_or_else(refused)?;
                let own = *self.code.blocks[0].params.first().ok_or_else(refused)?;
                (class, self.val(own))
            }
            [class, v] => match class.ty.kind() {
                TyKind::Obj(o) => (*o, v.clone()),
                _ => return Err(refused()),
            },
            _ => return Err(refused()),
        };
        let of = match v.ty.kind() {
            TyKind::Class(c) => c.class.user().map(|user| user.class),
            TyKind::Tuple { name: Some(n), .. } => Some(n.class),
            TyKind::Exc => Some(class),
            TyKind::Instance { .. } => v.ty.as_error().map(|(class, ..)| class),
            TyKind::Obj(o) => Some(*o),
            _ => None,
        };
        let next = self.class_after(of.ok_or_else(refused)?, class).ok_or_else(refused)?;
        let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: "super()".to_owned() });
        Ok(Val::known(ty, Known::Super(v, next)))
    }

    /// The class that follows one among the bases of another; those of the class itself if it is none of them.
    fn class_after(&mut self, of: ObjId, class: ObjId) -> Option<ObjId> {
        for start in [of, class] {
            let mro = self.world.attr(start, "__mro__")?;
            let Object::Tuple(all, _) = self.world.object(mro) else { return None };
            if let Some(at) = all.iter().position(|c| *c == class) {
                return all.get(at + 1).copied();
            }
        }
        None
    }

    /// An attribute of `super()`.
    pub(crate) fn super_attr(&mut self, v: &Val, next: ObjId, name: &str) -> Result<Val> {
        let member = self.world.attr(next, name);
        match member.map(|m| (m, self.world.object(m))) {
            Some((_, Object::Func(f))) if self.world.is_static(next, name) => {
                Ok(Val::of_type(Ty::new(TyKind::Func(f))))
            }
            Some((_, Object::Func(f))) => {
                // The name is none of an attribute: as a value, the method is not known.
                let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: format!("super().{name}") });
                Ok(Val::known(ty, Known::Method(v.clone(), Method::Library(f))))
            }
            Some((_, Object::Property(Some(get), _))) => {
                let get = self.object(get)?;
                self.call(&get, std::slice::from_ref(v), &[])
            }
            _ if name == "__str__" && v.ty.as_error().is_some() => Ok(self.builtin_bound(v, "super().__str__")),
            _ if name == "__repr__" && v.ty.as_error().is_some() => Ok(self.builtin_bound(v, "super().__repr__")),
            _ if name == "__init__" => Ok(self.builtin_bound(v, "super().__init__")),
            Some((m, Object::Const(_) | Object::Tuple(..) | Object::Partial { .. } | Object::Getter { .. })) => {
                self.object(m)
            }
            _ => {
                let text = format!("`super()` has no attribute `{name}` in compiled code");
                Err(Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, text).note("call a function of the program"))
            }
        }
    }

    /// The function of the program that is a special method of a named tuple.
    fn named_method(&mut self, v: &Val, name: &str) -> Option<FuncId> {
        let TyKind::Tuple { name: Some(n), .. } = v.ty.kind() else { return None };
        // Those of the library define none, and a cache does not find their classes.
        if n.meaning.is_some() || !matches!(self.world.object(n.class), Object::NamedTupleClass(_)) {
            return None;
        }
        let member = self.world.attr(n.class, name)?;
        let Object::Func(f) = self.world.object(member) else { return None };
        // `namedtuple` defines some itself.
        let made = self.world.code(f).ok()?;
        let is_own = self.world.info(f).is_library || made.file.ends_with("collections/__init__.py");
        (!is_own).then_some(f)
    }

    /// A call of a special method that the class of a named tuple defines.
    pub(crate) fn named_call(&mut self, v: &Val, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let Some(f) = self.named_method(v, name) else { return Ok(None) };
        let all: Vec<Val> = std::iter::once(v).chain(args).cloned().collect();
        let made = self.call_func(f, &all, &[])?;
        let TyKind::Obj(o) = made.ty.kind() else { return Ok(Some(made)) };
        Ok((self.world.import("builtins", Some("NotImplemented")) != Some(*o)).then_some(made))
    }

    /// An operator that the class of a named tuple defines.
    pub(crate) fn named_binary(&mut self, op: BinOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let name = operator_name(op).trim_end_matches('_');
        if let Some(v) = self.named_call(a, &format!("__{name}__"), std::slice::from_ref(b))? {
            return Ok(Some(v));
        }
        self.named_call(b, &format!("__r{name}__"), std::slice::from_ref(a))
    }

    /// Whether instances of a class of the program are compared by identity: it says nothing about equality.
    pub(crate) fn is_compared_by_identity(&mut self, t: Ty) -> bool {
        t.class().and_then(Class::user).is_some() && !t.is_struct() && {
            let class = t.class().expect("just asked");
            !self.has_method(class, "__eq__")
        }
    }
}
