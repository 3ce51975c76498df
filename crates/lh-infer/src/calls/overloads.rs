//! Calls that `lancehead.extending` gives a meaning: `@overload` and its sisters.
//!
//! An overload may ask for the value of an argument. If the chosen function wants a literal, the overload is asked
//! again with the literal's type; displays of constants keep what they hold (`Infer::initial`) for such a question.

use crate::convert::has_pending;
use crate::cx::{Infer, Wishes};
use crate::val::{Known, Method, Val};
use crate::world::{Object, Overload, Overloaded};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Device;
use lh_ir::types::{Initial, Literal, TyKind};
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
        // Operators convert values of programs' types before they ask overloads.
        if let [a, b] = args
            && (a.ty.extension().is_some() || b.ty.extension().is_some())
            && let Some(op) = function.and_then(|f| self.function_of_operator(f))
        {
            return self.binary(op, a, b, false).map(Some);
        }
        // Overloads of other operators are asked where the operator itself has nothing for the types.
        if function.is_some_and(|f| self.is_operator(f)) && !args.iter().any(|v| v.ty.is_overloaded()) {
            return Ok(None);
        }
        let made = self.call_chosen(function, name, args, kwargs);
        match function.map(|t| t.kind()) {
            // A function of NumPy or the like has a meaning of its own.
            Some(TyKind::Obj(o)) if !matches!(self.world.object(*o), Object::Other(_)) => match made {
                Err(d) if d.id != diag::EXTENSION_FAILED => Ok(None),
                other => other,
            },
            _ => made,
        }
    }

    /// The same. If what an overload chooses wants to know the value of an argument, `literally`, the overload is asked
    /// again with the literal type.
    fn call_chosen(
        &mut self,
        function: Option<Ty>,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        let mut literal = vec![false; args.len() + kwargs.len()];
        loop {
            let found = self.ask_overload(function, name, args, kwargs, &literal)?;
            let before = std::mem::replace(&mut self.wishes, Wishes::Reported);
            let made = self.call_overloaded(found, args, kwargs);
            let wish = match std::mem::replace(&mut self.wishes, before) {
                Wishes::Made(i) => self.argument_of(found, i, args.len(), kwargs)?.filter(|at| !literal[*at]),
                Wishes::Granted | Wishes::Reported => return made,
            };
            let Some(at) = wish else { return self.call_overloaded(found, args, kwargs) };
            literal[at] = true;
        }
    }

    /// The place among the arguments of the one that is for a parameter of the function that was chosen.
    fn argument_of(
        &mut self,
        found: Overloaded,
        parameter: usize,
        positional: usize,
        kwargs: &[(String, Val)],
    ) -> Result<Option<usize>> {
        let Overloaded::Function(f) = found else { return Ok(None) };
        if parameter < positional {
            return Ok(Some(parameter));
        }
        let code = self.world.code(f)?;
        let name = code.params.get(parameter).map(|p| &p.name);
        Ok(kwargs.iter().position(|(n, _)| Some(n) == name).map(|i| positional + i))
    }

    fn ask_overload(
        &mut self,
        function: Option<Ty>,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
        literal: &[bool],
    ) -> Result<Overloaded> {
        let all: Vec<&Val> = args.iter().chain(kwargs.iter().map(|(_, v)| v)).collect();
        let names = kwargs.iter().map(|(n, _)| n.clone()).collect();
        let mut what = self.overload_of(function, name, &all, Some(names));
        for (at, _) in literal.iter().enumerate().filter(|(_, wished)| **wished) {
            what.args[at] = what.literals[at];
        }
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
        if operands.iter().any(|v| v.ty.is_overloaded()) {
            self.overloaded_operation(module, name, operands)
        } else {
            Ok(None)
        }
    }

    /// An operation on other operands: where compiled code has none for the types, that which an overload gives them.
    /// As with Numba, overloads of programs come after what there is.
    pub(crate) fn or_overloaded(
        &mut self,
        own: Result<Val>,
        module: &str,
        name: &str,
        operands: &[&Val],
    ) -> Result<Val> {
        match own {
            Err(d) if d.id != diag::EXTENSION_FAILED && !operands.iter().any(|v| v.ty.is_overloaded()) => {
                match self.overloaded_operation(module, name, operands)? {
                    Some(given) => Ok(given),
                    None => Err(self.because_of_opaque(&d, operands.iter().copied()).unwrap_or(d)),
                }
            }
            own => own,
        }
    }

    pub(crate) fn overloaded_operation(&mut self, module: &str, name: &str, operands: &[&Val]) -> Result<Option<Val>> {
        let Some(function) = self.world.import(module, Some(name)) else { return Ok(None) };
        let function = self.object(function)?;
        let operands: Vec<Val> = operands.iter().copied().cloned().collect();
        match self.ask_overload(Some(function.ty), "", &operands, &[], &[]) {
            Ok(found) => self.call_overloaded(found, &operands, &[]),
            Err(d) if d.id == diag::EXTENSION_FAILED => Err(d),
            Err(d) => {
                // The notes of such a refusal are the reasons of overloads; without any it says nothing new.
                let said = if d.notes.is_empty() { None } else { Some(d.headline) };
                self.refusals.extend(said.into_iter().chain(d.notes));
                Ok(None)
            }
        }
    }

    /// An error with the reasons that overloads gave while nothing else was found.
    pub(crate) fn with_refusals(&mut self, d: Box<Diagnostic>) -> Box<Diagnostic> {
        if !d.file.is_empty() {
            return d;
        }
        self.refusals.drain(..).fold(d, Diagnostic::note)
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
        let plain = |v: &&Val| match v.ty.kind() {
            TyKind::Literal(l) => l.ty(),
            _ => v.ty,
        };
        let (mut args, mut literals) = (Vec::new(), Vec::new());
        for v in all {
            let composed = self.composed_type(v);
            literals.push(composed.or_else(|| self.literal_type(v)).unwrap_or(v.ty));
            args.push(composed.unwrap_or_else(|| plain(v)));
        }
        Overload {
            function,
            name,
            args,
            literals,
            is_call: names.is_some(),
            names: names.unwrap_or_default(),
            is_pending: all.iter().any(|v| has_pending(v.ty) || v.ty.is_never()),
            on_device: self.options.device != Device::Host,
        }
    }

    /// The type of a dictionary with constant keys, or of a list of values of several types: the types of those values
    /// are literal types always, as in Numba.
    fn composed_type(&mut self, v: &Val) -> Option<Ty> {
        if let Some(named) = self.entries(v) {
            let types = named.iter().map(|(_, x)| self.literal_type(x).unwrap_or(x.ty)).collect();
            return Some(self.type_of_entries(named.into_iter().map(|(key, _)| key).collect(), types));
        }
        let class = v.ty.class().filter(|c| c.is_mixed())?;
        let items = self.mixed_items(v)?;
        let types = self.tuple_parts(&items)?.iter().map(|x| self.literal_type(x).unwrap_or(x.ty)).collect();
        Some(class.of(vec![Ty::tuple(types)], false))
    }

    /// The literal type of a value that is known while compiling, or of a list or dictionary of such values, where it
    /// is made.
    pub(crate) fn literal_type(&self, v: &Val) -> Option<Ty> {
        self.literal(v).map(|l| Ty::new(TyKind::Literal(l)))
    }

    fn literal(&self, v: &Val) -> Option<Literal> {
        match v.as_const() {
            Some(Const::Int(_, t)) if !t.is_weak() => None,
            Some(c) => Literal::of(c),
            None => {
                let (keys, values) = self.initial.get(&v.v?)?;
                let all = |of: &[Val]| of.iter().map(|x| self.literal(x)).collect::<Option<Vec<_>>>();
                Some(Literal::Initial(Box::new(Initial { ty: v.ty, keys: all(keys)?, values: all(values)? })))
            }
        }
    }

    /// The items of a list display of constants, as a tuple; any other value itself.
    pub(crate) fn initial_tuple(&self, x: &Val) -> Val {
        match x.v.and_then(|v| self.initial.get(&v)) {
            Some((keys, items)) if keys.is_empty() => Val::tuple(items.clone()),
            _ => x.clone(),
        }
    }

    /// Keeps what a display holds for overloads that ask for its constants.
    pub(crate) fn keep_initial(&mut self, made: &Val, keys: &[Val], values: &[Val]) {
        let is_literal = |x: &Val| x.as_const().is_some() || x.v.is_some_and(|v| self.initial.contains_key(&v));
        if let (Some(at), false) = (made.v, has_pending(made.ty) || values.is_empty())
            && values.iter().chain(keys).all(is_literal)
        {
            self.initial.insert(at, (keys.to_vec(), values.to_vec()));
        }
    }
}
