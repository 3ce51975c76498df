//! Functions as values: inner functions, and functions chosen at run time.
//!
//! A variable that may be one of several functions has the type [`TyKind::Choice`], as `alternatives.rs` describes.
//!
//! A library function that must know how many items an argument has asks with `prim.sized`. For a list, it asks its
//! caller for a tuple instead: a display without another use becomes one in the next sweep.

use crate::calls::is_constant;
use crate::convert::alternatives;
use crate::cx::{Infer, Wishes};
use crate::val::{Known, Val};
use crate::world::ArgTy;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Extern, Inst};
use lh_ir::types::{InstanceOf, Literal, NamedTuple, TyKind};
use lh_ir::{Block, Const, FuncId, TupleMeaning, Ty, Value};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// A function object made at run time.
    pub(crate) fn make_function(
        &mut self,
        code: u32,
        defaults: Option<Value>,
        kwdefaults: &[(String, Value)],
        captures: &[Value],
    ) -> Result<Val> {
        let func = self.world.inner(self.id, code);
        let captures = captures.iter().map(|c| self.val(*c)).collect();
        Ok(self.closure(func, captures, defaults, kwdefaults))
    }

    /// An inner function with what it captures, and its defaults.
    pub(crate) fn closure(
        &mut self,
        func: FuncId,
        captures: Vec<Val>,
        defaults: Option<Value>,
        kwdefaults: &[(String, Value)],
    ) -> Val {
        let mut parts = captures;
        let captures: Vec<Ty> = parts.iter().map(|p| p.ty).collect();
        if let Some(d) = defaults {
            let d = self.val(d);
            parts.extend(self.tuple_parts(&d).unwrap_or_default());
        }
        parts.extend(kwdefaults.iter().map(|(_, v)| self.val(*v)));
        let defaults = parts[captures.len()..].iter().map(|p| p.ty).collect();
        let named = kwdefaults.iter().map(|(n, _)| n.clone()).collect();
        self.pack(parts, Ty::new(TyKind::Closure { func, captures, defaults, named }))
    }

    /// `functools.partial`: a closure of the library's function of that name, which captures a function and its first
    /// arguments and has those by name as defaults.
    pub(crate) fn partial(&mut self, func: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Val {
        let captures: Vec<Val> = std::iter::once(func).chain(args).cloned().collect();
        self.library_closure("functools.partial", captures, kwargs)
    }

    /// A closure of a function of the library that the compiler calls itself.
    pub(crate) fn library_closure(&mut self, path: &str, captures: Vec<Val>, kwargs: &[(String, Val)]) -> Val {
        let mut parts = captures;
        let captures = parts.iter().map(|p| p.ty).collect();
        parts.extend(kwargs.iter().map(|(_, v)| v.clone()));
        let defaults = kwargs.iter().map(|(_, v)| v.ty).collect();
        let named = kwargs.iter().map(|(n, _)| n.clone()).collect();
        let found = self.world.library(path);
        let (func, _) = found.unwrap_or_else(|| lh_ir::bug!("the library has no `{path}`"));
        let ty = Ty::new(TyKind::Closure { func, captures, defaults, named });
        self.pack(parts, ty)
    }

    /// The context manager of a generator, which a function makes.
    pub(crate) fn manager_of(&mut self, func: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let generator = self.call(func, args, kwargs)?;
        if generator.ty.is_never() {
            return Ok(generator);
        }
        self.call_library("contextlib.manager", &[generator])
    }

    /// Whether a function is one of the library.
    pub(crate) fn is_library_function(&mut self, func: FuncId, path: &str) -> bool {
        self.world.library(path).is_some_and(|(f, _)| f == func)
    }

    pub(crate) fn call_closure(&mut self, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let TyKind::Closure { func, captures, defaults, named } = f.ty.kind() else { lh_ir::bug!("no closure") };
        if let Some(path) = self.getter_of(*func) {
            return self.call_getter(path, f, args, kwargs);
        }
        if let (true, [wrapper]) = (self.is_library_function(*func, "functools.wraps"), args) {
            return Ok(wrapper.clone());
        }
        if self.is_library_function(*func, "contextlib.contextmanager") {
            let made = self.field(f, 0);
            return self.manager_of(&made, args, kwargs);
        }
        if self.is_library_function(*func, "functools.partial") {
            let parts: Vec<Val> = (0..captures.len() + defaults.len()).map(|i| self.field(f, i as u32)).collect();
            let (first, values) = parts.split_at(captures.len());
            let kept = named.iter().zip(values).filter(|(n, _)| kwargs.iter().all(|(own, _)| own != *n));
            let kept: Vec<(String, Val)> = kept.map(|(n, v)| (n.clone(), v.clone())).collect();
            return self.call(&first[0], &[&first[1..], args].concat(), &[&kept[..], kwargs].concat());
        }
        let code = self.world.code(*func)?;
        let n = captures.len();
        let parts: Vec<Val> = (0..n + defaults.len()).map(|i| self.field(f, i as u32)).collect();
        let (positional, rest) = parts[n..].split_at(defaults.len() - named.len());
        let kwdefaults: Vec<(String, Val)> = named.iter().cloned().zip(rest.iter().cloned()).collect();
        let mut bound = self.bind(&code, positional, &kwdefaults, args, kwargs)?;
        bound.extend_from_slice(&parts[..n]);
        self.call_bound(*func, bound, self.is_library, &code)
    }

    /// `literally(x)`: where the value is not known yet, the caller is asked to make it so.
    pub(crate) fn literally(&mut self, x: &Val) -> Result<Val> {
        if is_constant(x) || x.ty.flatten().is_empty() {
            return Ok(x.clone());
        }
        let mut d = Diagnostic::new(
            diag::NEEDS_CONSTANT,
            format!("literally() of `{}`, whose value is not known while compiling", x.ty),
        );
        d.literal = self.parameter(x);
        Err(d.note("give it a parameter of the function as it came"))
    }

    /// Resolves a callee's request for a constant argument: by its value, or by a request of this function's own.
    pub(crate) fn wished(&mut self, mut d: Box<Diagnostic>, bound: &[Val], tys: &mut [ArgTy]) -> Result<()> {
        let Some(i) = d.literal.take() else { return Err(d) };
        if d.id != diag::NEEDS_CONSTANT {
            return Err(self.sized(d, &bound[i]));
        }
        if self.wishes == Wishes::Reported && self.literal_type(&bound[i]).is_some() {
            self.wishes = Wishes::Made(i);
            return Err(d);
        }
        match bound[i].as_const() {
            Some(c) if tys[i].value.is_none() => {
                tys[i].value = Some(c.clone());
                Ok(())
            }
            None if tys[i].items.is_none() && is_constant(&bound[i]) => {
                tys[i].items = bound[i].parts().and_then(|p| p.iter().map(|x| x.as_const().cloned()).collect());
                Ok(())
            }
            _ => {
                d.literal = self.parameter(&bound[i]);
                Err(d)
            }
        }
    }

    /// `prim.sized(x)`: an argument whose number of items must be known. In place of a list the caller is asked for a
    /// tuple, which it has if the list is a display of its own.
    pub(crate) fn check_sized(&mut self, x: &Val) -> Result<Val> {
        if !is_list(x) {
            return Ok(x.clone());
        }
        let text = "an integer or a tuple is needed here: how long a list or a range is, is no part of its type";
        let d =
            Diagnostic::new(diag::NO_MATCHING_CALL, text).note("write a tuple, `(2, 3)`, or the list where it is used");
        Err(self.sized(d, x))
    }

    /// Resolves such a request: by tuples in place of displays in the next sweep, or by a request of its own.
    fn sized(&mut self, mut d: Box<Diagnostic>, given: &Val) -> Box<Diagnostic> {
        let parts = given.parts().unwrap_or(std::slice::from_ref(given));
        let lists: Vec<Val> = parts.iter().filter(|x| is_list(x)).cloned().collect();
        lists.iter().for_each(|list| _ = self.as_sized(list));
        if self.is_library {
            let found = lists.iter().find_map(|list| self.parameter_of_part(list));
            d.literal = found.or_else(|| self.parameter_of_part(given));
        }
        d
    }

    /// `{k: x, ...}`. If it is unpacked in a call, or if constant strings name values of different types, its keys and
    /// the types of its values are known while compiling, and it cannot be changed.
    pub(crate) fn dict_display(&mut self, result: Value, pairs: &[(Value, Value)]) -> Result<Val> {
        let values: Vec<Ty> = pairs.iter().map(|(_, x)| self.val(*x).ty.weak()).collect();
        let is_named = pairs.iter().all(|(k, _)| self.val(*k).as_str().is_some());
        // Functions of several types are one of several functions, and so are instances.
        let are_functions = values.iter().all(|t| t.is_function() && !matches!(t.kind(), TyKind::DType(_)));
        let differ = values.iter().any(|t| *t != values[0]) && !are_functions && Ty::one_of(&values).is_none();
        let is_unpacked = self.keyword_maps.contains(&result);
        let are_converted = differ && !is_unpacked && self.take_the_first_type(&values);
        if is_named && (differ && !are_converted || is_unpacked) {
            return self.keywords(pairs);
        }
        let mut entries: Vec<Vec<Val>> = pairs.iter().map(|(k, x)| vec![self.val(*k), self.val(*x)]).collect();
        if are_converted {
            let first = entries[0][1].ty;
            for entry in &mut entries {
                entry[1] = self.convert(&entry[1], first)?;
            }
        }
        let made = self.display(Class::dict(), result, "__setitem__", &entries)?;
        let (keys, values): (Vec<Val>, Vec<Val>) = pairs.iter().map(|(k, x)| (self.val(*k), self.val(*x))).unzip();
        self.keep_initial(&made, &keys, &values);
        Ok(made)
    }

    fn keywords(&mut self, pairs: &[(Value, Value)]) -> Result<Val> {
        let mut named = Vec::new();
        for (k, v) in pairs {
            let Some(name) = self.val(*k).as_str().map(str::to_owned) else {
                let text = "`**` takes names that are known while compiling, and this key is not";
                return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text));
            };
            named.retain(|(n, _)| *n != name);
            named.push((name, self.val(*v)));
        }
        Ok(Val::known(Ty::new(TyKind::Iter(Ty::str())), Known::Keywords(named, self.span)))
    }

    /// A dictionary whose names and types of values are known while compiling.
    pub(crate) fn named_entries(&mut self, named: Vec<(String, Val)>) -> Val {
        Val::known(Ty::new(TyKind::Iter(Ty::str())), Known::Keywords(named, self.span))
    }

    /// A parameter `**kwargs`: pairs whose first part says its text by its type.
    pub(crate) fn gathered_keywords(&mut self, pairs: &Val) -> Val {
        let mut named = Vec::new();
        for p in self.tuple_parts(pairs).unwrap_or_default() {
            let name = self.field(&p, 0);
            let TyKind::Literal(Literal::Str(text)) = name.ty.kind() else { lh_ir::bug!("a keyword without a name") };
            named.push((text.clone(), self.field(&p, 1)));
        }
        Val::known(Ty::new(TyKind::Iter(Ty::str())), Known::Keywords(named, self.span))
    }

    /// The type of a dictionary whose keys are known, for a callee: a tuple of the values, named by the keys.
    pub(crate) fn type_of_entries(&mut self, keys: Vec<String>, elems: Vec<Ty>) -> Ty {
        let class = self.world.import("builtins", Some("dict"));
        let class = class.unwrap_or_else(|| lh_ir::bug!("Python has dictionaries"));
        let meaning = Some(TupleMeaning::Entries);
        let name = Some(NamedTuple { name: "dict".to_owned(), class, fields: keys, meaning });
        Ty::new(TyKind::Tuple { elems, name })
    }

    /// An argument; of a dictionary whose keys are known, all values.
    pub(crate) fn handed_over(&mut self, v: Val) -> Val {
        let Some(named) = self.entries(&v) else { return v };
        let (keys, parts): (Vec<String>, Vec<Val>) = named.into_iter().map(|(k, v)| (k, self.handed_over(v))).unzip();
        let ty = self.type_of_entries(keys, parts.iter().map(|p| p.ty).collect());
        self.pack(parts, ty)
    }

    /// A parameter for what [`Infer::handed_over`] made.
    pub(crate) fn received(&mut self, v: Val) -> Val {
        let TyKind::Tuple { name: Some(n), .. } = v.ty.kind() else { return v };
        if n.meaning != Some(TupleMeaning::Entries) {
            return v;
        }
        let mut part = |i: usize| {
            let own = self.field(&v, i as u32);
            self.received(own)
        };
        let named = n.fields.iter().enumerate().map(|(i, key)| (key.clone(), part(i))).collect();
        Val::known(Ty::new(TyKind::Iter(Ty::str())), Known::Keywords(named, self.span))
    }

    /// The entries of a dictionary whose keys are known.
    pub(crate) fn entries(&self, v: &Val) -> Option<Vec<(String, Val)>> {
        match v.known.as_deref() {
            Some(Known::Keywords(named, _)) => Some(named.clone()),
            _ => None,
        }
    }

    /// Methods of a dictionary whose keys are known.
    pub(crate) fn keywords_method(&mut self, name: &str, recv: &Val, args: &[Val]) -> Result<Val> {
        let named = self.entries(recv).unwrap_or_default();
        let key = |n: &String| Val::str(n.as_str());
        Ok(match (name, args) {
            ("keys", []) => Val::tuple(named.iter().map(|(n, _)| key(n)).collect()),
            ("values", []) => Val::tuple(named.into_iter().map(|(_, v)| v).collect()),
            ("items", []) => Val::tuple(named.into_iter().map(|(n, v)| Val::tuple(vec![key(&n), v])).collect()),
            ("get", [k]) => self.keyword(recv, k)?.unwrap_or(Val::constant(Const::None)),
            ("get", [k, default]) => self.keyword(recv, k)?.unwrap_or(default.clone()),
            _ => {
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{name}` does not take these arguments")));
            }
        })
    }

    /// The refusal of a dictionary that is more than constant keys, at the place where it is made.
    pub(crate) fn no_dictionary(&self, map: &Val) -> Box<Diagnostic> {
        let text = "a dictionary with values of several types cannot be changed or have keys of run time";
        let note = "give all values one type, or use a tuple, a namedtuple or two dictionaries";
        let d = Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note(note);
        match map.known.as_deref() {
            Some(Known::Keywords(_, made)) if made.line > 0 => d.at(&self.code.file, *made),
            _ => d,
        }
    }

    /// The value of a key, if there is one.
    pub(crate) fn keyword(&mut self, map: &Val, key: &Val) -> Result<Option<Val>> {
        let Some(text) = key.as_str() else { return Err(self.no_dictionary(map)) };
        Ok(self.entries(map).unwrap_or_default().into_iter().find(|(n, _)| n == text).map(|(_, v)| v))
    }

    /// Adds an entry to a new dictionary whose keys are known.
    pub(crate) fn add_keyword(&mut self, map: Value, key: &Val, x: Val) -> Result<()> {
        let own = self.val(map);
        let (Some(Known::Keywords(named, made)), Some(name)) = (own.known.as_deref(), key.as_str()) else {
            return Err(self.no_dictionary(&own));
        };
        let (mut named, made) = (named.clone(), *made);
        named.retain(|(n, _)| n != name);
        named.push((name.to_owned(), x));
        self.vals[map.index()] = Some(Val::known(own.ty, Known::Keywords(named, made)));
        Ok(())
    }

    /// The function that merges a dictionary into a new one; the front end emits it for `{**a}` and `f(**a)`.
    pub(crate) fn merging(&mut self, map: Value) -> Val {
        if self.val(map).ty.is_never() {
            return Val::of_type(Ty::never());
        }
        Val::known(Ty::new(TyKind::Iter(Ty::str())), Known::Merge(map))
    }

    /// Merges a dictionary into a new one.
    pub(crate) fn merge(&mut self, map: Value, args: &[Val]) -> Result<Val> {
        let other = args.first().and_then(|a| a.known.as_deref().cloned());
        let own = self.val(map);
        if let (TyKind::Pending(..) | TyKind::Class(_), [x]) = (own.ty.kind(), args) {
            let Some(Known::Keywords(named, made)) = other else {
                return self.method(&own, "update", args);
            };
            // A copy of names for values of different types is such again.
            if let TyKind::Pending(..) = own.ty.kind() {
                self.vals[map.index()] = Some(Val::known(x.ty, Known::Keywords(named, made)));
                return Ok(Val::of_type(Ty::none()));
            }
            for (name, v) in named {
                self.method(&own, "__setitem__", &[Val::str(name), v])?;
            }
            return Ok(Val::of_type(Ty::none()));
        }
        let (Some(Known::Keywords(named, made)), Some(Known::Keywords(more, _))) = (own.known.as_deref(), other) else {
            return Err(self.unknown_keywords(args.first()));
        };
        let (mut named, made) = (named.clone(), *made);
        for (name, v) in more {
            named.retain(|(n, _)| *n != name);
            named.push((name, v));
        }
        self.vals[map.index()] = Some(Val::known(own.ty, Known::Keywords(named, made)));
        Ok(Val::of_type(Ty::none()))
    }

    fn unknown_keywords(&self, given: Option<&Val>) -> Box<Diagnostic> {
        let t = given.map_or(Ty::none(), |g| g.ty);
        let text = format!("`**` of `{t}`, whose keys are not known while compiling");
        Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text)
            .note("write the arguments as `name=value`, or give a dictionary display with constant keys")
    }

    /// `f(*args, **kwargs)`
    pub(crate) fn call_star(&mut self, func: Value, args: Value, kwargs: Option<Value>) -> Result<Val> {
        let named = match kwargs.map(|k| self.val(k)) {
            None => Vec::new(),
            Some(k) => match k.known.as_deref() {
                Some(Known::Keywords(named, _)) => named.clone(),
                _ => return Err(self.unknown_keywords(Some(&k))),
            },
        };
        let a = self.val(args);
        let Some(parts) = self.tuple_parts(&a) else {
            if !self.as_sized(&a)
                && let Some(v) = self.call_spread(&self.val(func), &a, &named)?
            {
                return Ok(v);
            }
            return Err(Diagnostic::new(
                diag::UNSUPPORTED_SYNTAX,
                format!("`*` of `{}`, whose length is not known while compiling", a.ty),
            )
            .note("give the items one by one, `f(x[0], x[1])`, or all of them in one argument"));
        };
        self.call(&self.val(func), &parts, &named)
    }

    /// A function as a value of a function type that does not say which it is.
    pub(crate) fn function_value(&mut self, val: &Val, to: Ty) -> Result<Val> {
        let object = match val.ty.kind() {
            TyKind::Instance { class: InstanceOf::Function { .. }, .. } if to.with_functions(val.ty) == val.ty => {
                let inner = self.field(val, 0);
                return self.function_value(&inner, to);
            }
            TyKind::Func(f) => self.world.function_object(*f),
            TyKind::Obj(o) => Some(*o),
            TyKind::Choice(of) => return self.chosen_value(val, of, to),
            _ => None,
        };
        let Some(object) = object else {
            let text = format!("`{}` cannot become `{to}`", val.ty);
            let note = "functions of a module can, and those that have a name there; pass captured values as arguments";
            return Err(Diagnostic::new(diag::CANNOT_UNIFY, text).note(note));
        };
        let word = self.push(Inst::Extern(Extern::Function(object)), Ty::int());
        Ok(self.pack(vec![word], to))
    }

    fn chosen_value(&mut self, val: &Val, of: &[Ty], to: Ty) -> Result<Val> {
        let which = self.field(val, 0);
        let mut word = None;
        for i in 0..of.len() {
            let function = self.field(val, i as u32 + 1);
            let function = self.function_value(&function, to)?;
            let own = self.field(&function, 0);
            word = Some(match word {
                None => own,
                Some(other) => {
                    let here = self.op("eq", &[which.clone(), Val::int(i as i128)]);
                    self.op("select", &[here, own, other])
                }
            });
        }
        Ok(self.pack(word.into_iter().collect(), to))
    }

    /// Calls a function that is a value, through the dispatcher of its object.
    fn call_value(&mut self, f: &Val, wanted: &[Ty], ret: Ty, args: Vec<Val>) -> Result<Val> {
        if self.options.device != Device::Host {
            let text = "kernels cannot call functions that are items or fields";
            return Err(Diagnostic::new(diag::NOT_ON_DEVICE, text).note("pass the function itself to the kernel"));
        }
        let (given, results) = (Ty::tuple(wanted.to_vec()), Ty::tuple(vec![ret]));
        let types = Ty::tuple(vec![given, results]).number() as u32;
        let ins = self.pack(args, given);
        let ins = self.list_of(&[ins], None)?;
        let outs = self.new_container(Ty::list(results), &Val::int(1));
        let types = self.push(Inst::Extern(Extern::Type(types)), Ty::int());
        let word = self.field(f, 0);
        self.runtime(&rt::lh_call_function, &[word, types, ins, outs.clone()], Ty::none())?;
        let made = self.stored_item(&outs, &Val::int(0), results);
        Ok(self.field(&made, 0))
    }

    /// Calls a function that a signature says the types of.
    pub(crate) fn call_as(
        &mut self,
        f: &Val,
        wanted: &[Ty],
        ret: Ty,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let given: Vec<Ty> = args.iter().map(|a| a.ty.weak()).collect();
        let own: Vec<Ty> = wanted.iter().map(|t| t.weak()).collect();
        if !kwargs.is_empty() || crate::cost_of_all(&given, &own).is_none() {
            let names = kwargs.iter().map(|(n, v)| format!("{n}={}", v.ty));
            let shown: Vec<String> = args.iter().map(|a| a.ty.to_string()).chain(names).collect();
            let text = format!("`{}` cannot be called with ({})", f.ty, shown.join(", "));
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text)
                .note("a function whose types a signature says takes arguments of these, by position"));
        }
        let args = args.iter().zip(wanted).map(|(a, t)| self.convert_argument(a, *t)).collect::<Result<Vec<_>>>()?;
        if f.ty.is_open() {
            return self.call_value(f, wanted, ret, args);
        }
        let callee = self.field(f, 0);
        let result = self.call(&callee, &args, &[])?;
        if self.dead || crate::cost(result.ty.weak(), ret.weak()).is_some() {
            return if self.dead { Ok(result) } else { self.convert_argument(&result, ret) };
        }
        let text = format!("mismatch of return type: a function given as `{}` returns `{}`", f.ty, result.ty);
        Err(Diagnostic::new(diag::CANNOT_UNIFY, text))
    }

    /// A value as one of the type that a signature says.
    fn convert_argument(&mut self, v: &Val, to: Ty) -> Result<Val> {
        if v.ty.is_number() && to.is_number() {
            return Ok(self.cast(v, to.strong()));
        }
        self.convert(v, to.with_functions(v.ty))
    }

    /// Converts the result of each way to a type and goes on where they meet.
    pub(crate) fn join(&mut self, results: &[(Block, Val)], ty: Ty) -> Result<Val> {
        if results.is_empty() {
            self.dead = true;
            return Ok(Val::of_type(Ty::never()));
        }
        let done = self.new_block();
        let has_value = !ty.flatten().is_empty();
        for (block, r) in results {
            self.cur = *block;
            let r = self.convert(r, ty)?;
            self.jump(done, if has_value { vec![r] } else { vec![] });
        }
        self.cur = done;
        if !has_value {
            return Ok(Val::of_type(ty));
        }
        let v = self.out.new_param(done, ty);
        Ok(Val::new(ty, v))
    }

    /// A function, or an instance, as one of several.
    pub(crate) fn convert_choice(&mut self, val: &Val, of: &[Ty], to: Ty) -> Result<Val> {
        let own = alternatives(val.ty);
        let place = |t: &Ty| of.iter().position(|u| u == t);
        let Some(places) = own.iter().map(place).collect::<Option<Vec<_>>>() else {
            return Err(Diagnostic::new(diag::CANNOT_UNIFY, format!("`{}` cannot become `{to}`", val.ty)));
        };
        let chosen = matches!(val.ty.kind(), TyKind::Choice(_));
        let mut which = Val::int(places[0] as i128);
        if chosen {
            let old = self.field(val, 0);
            for (i, at) in places.iter().enumerate().skip(1) {
                let here = self.op("eq", &[old.clone(), Val::int(i as i128)]);
                which = self.op("select", &[here, Val::int(*at as i128), which]);
            }
        }
        let mut parts = vec![which];
        for t in of {
            parts.push(match own.iter().position(|u| u == t) {
                Some(i) if chosen => self.field(val, i as u32 + 1),
                Some(_) => val.clone(),
                None if t.flatten().is_empty() => Val::of_type(*t),
                None => self.push(Inst::Zero, *t),
            });
        }
        Ok(self.pack(parts, to))
    }
}

fn is_list(x: &Val) -> bool {
    x.ty.class().is_some_and(|class| class == Class::list() || class.is_tuple())
}
