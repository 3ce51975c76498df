//! Calls that `lancehead.extending` gives a meaning: `@overload` and its sisters.

use crate::convert::has_pending;
use crate::cx::Infer;
use crate::val::{Known, Method, Val};
use crate::world::{Object, Overload, Overloaded};
use lh_ir::diag::Result;
use lh_ir::func::Device;
use lh_ir::types::{Literal, TyKind};
use lh_ir::{Const, Ty};

impl Infer<'_> {
    /// A call of a function or method that may have overloads; `None` if none is meant.
    pub(crate) fn call_overload(
        &mut self,
        function: Option<Ty>,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        let asked = self.ask_overload(function, name, args, kwargs);
        let made = asked.and_then(|found| self.call_overloaded(found, args, kwargs));
        match function.map(|t| t.kind()) {
            // A function of NumPy or the like has a meaning of its own.
            Some(TyKind::Obj(o)) if !matches!(self.world.object(*o), Object::Other(_)) => Ok(made.ok().flatten()),
            _ => made,
        }
    }

    fn ask_overload(
        &mut self,
        function: Option<Ty>,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Overloaded> {
        let all: Vec<&Val> = args.iter().chain(kwargs.iter().map(|(_, v)| v)).collect();
        let names = kwargs.iter().map(|(n, _)| n.clone()).collect();
        let what = self.overload_of(function, name, &all, Some(names));
        self.world.overload(&what)
    }

    fn call_overloaded(&mut self, found: Overloaded, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        match found {
            Overloaded::No => Ok(None),
            Overloaded::Later => Ok(Some(Val::of_type(Ty::never()))),
            Overloaded::Method => lh_ir::bug!("a method's call is a method"),
            Overloaded::Function(f) => self.call_func(f, args, kwargs).map(Some),
            Overloaded::Constructor { ty, init, .. } => self.construct(ty, init, args, kwargs).map(Some),
        }
    }

    /// An operation on structs, which have only those that overloads of functions of `operator` and builtins give
    /// them; `None` if no operand is a struct, or if none of them is for these types.
    pub(crate) fn struct_operation(&mut self, module: &str, name: &str, operands: &[&Val]) -> Result<Option<Val>> {
        if !operands.iter().any(|v| v.ty.is_struct()) {
            return Ok(None);
        }
        let Some(function) = self.world.import(module, Some(name)) else { return Ok(None) };
        let function = self.object(function)?;
        let operands: Vec<Val> = operands.iter().copied().cloned().collect();
        match self.ask_overload(Some(function.ty), "", &operands, &[]) {
            Ok(found) => self.call_overloaded(found, &operands, &[]),
            Err(_) => Ok(None),
        }
    }

    /// An attribute or a method that an overload gives values of a type.
    pub(crate) fn overloaded_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        let what = self.overload_of(None, name, &[v], None);
        Ok(match self.world.overload(&what)? {
            Overloaded::No => None,
            Overloaded::Later => Some(Val::of_type(Ty::never())),
            Overloaded::Function(f) => Some(self.call_func(f, std::slice::from_ref(v), &[])?),
            Overloaded::Constructor { .. } => lh_ir::bug!("an attribute is no class"),
            Overloaded::Method => {
                let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
                Some(Val::known(ty, Known::Method(v.clone(), Method::Overloaded(name.into()))))
            }
        })
    }

    fn overload_of<'n>(
        &mut self,
        function: Option<Ty>,
        name: &'n str,
        all: &[&Val],
        names: Option<Vec<String>>,
    ) -> Overload<'n> {
        let literal = |v: &&Val| match v.as_const() {
            Some(Const::Int(_, t)) if !t.is_weak() => v.ty,
            Some(c) => Literal::of(c).map_or(v.ty, |l| Ty::new(TyKind::Literal(l))),
            None => v.ty,
        };
        let plain = |v: &&Val| match v.ty.kind() {
            TyKind::Literal(l) => l.ty(),
            _ => v.ty,
        };
        // The values of a dictionary with constant keys always have literal types, as in Numba.
        let mut type_of = |v: &&Val, other: &dyn Fn(&&Val) -> Ty| match self.entries(v) {
            Some(named) => {
                let types = named.iter().map(|(_, x)| literal(&x)).collect();
                self.type_of_entries(named.into_iter().map(|(key, _)| key).collect(), types)
            }
            None => other(v),
        };
        Overload {
            function,
            name,
            args: all.iter().map(|v| type_of(v, &plain)).collect(),
            literals: all.iter().map(|v| type_of(v, &literal)).collect(),
            is_call: names.is_some(),
            names: names.unwrap_or_default(),
            is_pending: all.iter().any(|v| has_pending(v.ty) || v.ty.is_never()),
            on_device: self.options.device != Device::Host,
        }
    }
}
