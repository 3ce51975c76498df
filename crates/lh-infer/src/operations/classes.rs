//! Instances of classes that the library declares: fields, and operators, `len` and the like, which call methods of the
//! class.

use crate::convert::has_pending;
use crate::cx::Infer;
use crate::operations::comparisons::compare_name;
use crate::operations::operators::operator_name;
use crate::val::{Known, Val};
use lh_ir::class::{Class, Teaching};
use lh_ir::consts::Const;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::untyped::{BinOp, CmpOp, UnOp};
use lh_ir::{FuncId, ObjId, Ty, Value};

impl Infer<'_> {
    /// Calls a method of the class of a value; `None` if there is none or if it returns `NotImplemented`.
    pub(crate) fn class_method(&mut self, recv: &Val, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let Some(class) = recv.ty.class() else { return Ok(None) };
        let Some(f) = self.method_of(class, name) else { return Ok(None) };
        let mut all = vec![recv.clone()];
        let mut words = class.teaching(name).map(Teaching::words);
        for x in args {
            let word = words.as_mut().and_then(Iterator::next);
            let is_data = word.is_some_and(|word| class.parameter(word.trim_start_matches('?')).is_some());
            all.push(if is_data { self.as_data(x) } else { x.clone() });
        }
        let made = self.call_func(f, &all, &[])?;
        let TyKind::Obj(o) = made.ty.kind() else { return Ok(Some(made)) };
        Ok((self.world.import("builtins", Some("NotImplemented")) != Some(*o)).then_some(made))
    }

    /// A key, an item or a value of a container, of which only the type matters: methods are not compiled anew for
    /// each constant.
    fn as_data(&mut self, x: &Val) -> Val {
        if matches!(x.as_const(), Some(Const::Str(_) | Const::Bool(_))) {
            return Val::new(x.ty, self.value(x));
        }
        x.clone()
    }

    /// The function of a method of a class.
    fn method_of(&mut self, class: Class, name: &str) -> Option<FuncId> {
        if class.user().is_some() {
            return self.user_method(class, name);
        }
        self.world.library(&format!("{}.{name}", class.path())).map(|(f, _)| f)
    }

    /// Whether a class has a method.
    pub(crate) fn has_method(&mut self, class: Class, name: &str) -> bool {
        self.method_of(class, name).is_some()
    }

    /// Applies an operator to operands of which one is an instance of a class.
    pub(crate) fn class_binary(&mut self, op: BinOp, a: &Val, b: &Val, inplace: bool) -> Result<Val> {
        if op == BinOp::Add && self.items_meet(a, b, inplace) {
            return Ok(Val::of_type(Ty::never()));
        }
        let name = operator_name(op).trim_end_matches('_');
        if let (true, TyKind::Pending(_, class)) = (inplace, a.ty.kind())
            && class.teaching(&format!("__i{name}__")).is_some()
        {
            return self.teaching_method(&format!("__i{name}__"), a, std::slice::from_ref(b), &[]);
        }
        if [a, b].iter().any(|v| matches!(v.ty.kind(), TyKind::Pending(..))) {
            self.guess_as_other(a, b);
            return Ok(Val::of_type(Ty::never()));
        }
        let own = [("i", a, b), ("", a, b), ("r", b, a)];
        for (prefix, recv, arg) in own.into_iter().skip(usize::from(!inplace)) {
            if let Some(v) = self.class_method(recv, &format!("__{prefix}{name}__"), std::slice::from_ref(arg))? {
                return Ok(v);
            }
        }
        Err(self.no_op(op.symbol(), a.ty, b.ty))
    }

    /// `-v` and the like; `None` if the class does not say what it is.
    pub(crate) fn class_unary(&mut self, op: UnOp, v: &Val) -> Result<Option<Val>> {
        let name = match op {
            UnOp::Neg => "__neg__",
            UnOp::Pos => "__pos__",
            UnOp::Invert => "__invert__",
            UnOp::Not => return Ok(None),
        };
        self.class_method(v, name, &[])
    }

    /// A call of what is no function: of an instance whose class has `__call__`.
    pub(crate) fn call_instance(&mut self, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        if f.ty.class().is_some_and(|class| self.has_method(class, "__call__")) {
            let method = self.get_attr(f, "__call__")?;
            return self.call(&method, args, kwargs);
        }
        Err(Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{}` is not callable", f.ty)))
    }

    /// The Python class of instances: that of a module of the library, if it is none of the interpreter's.
    pub(crate) fn python_class(&mut self, class: Class) -> Option<ObjId> {
        if let Some(user) = class.user() {
            return Some(user.class);
        }
        let (module, name) = class.path().rsplit_once('.')?;
        if class.is_mixed() || class.is_tuple() {
            return self.world.import("builtins", Some(if class.is_mixed() { "list" } else { "tuple" }));
        }
        let own = format!("lancehead.lib.{module}");
        self.world.import(if class.is_of_python() { module } else { &own }, Some(name))
    }

    /// Guesses the item types of an undecided operand from the other one: both are lists, or have keys and values, or
    /// keys alone.
    fn guess_as_other(&mut self, a: &Val, b: &Val) {
        for (open, other) in [(a, b), (b, a)] {
            let TyKind::Pending(site, class) = open.ty.kind() else { continue };
            let TyKind::Class(ClassTy { class: known, args, constant: _, .. }) = other.ty.kind() else { continue };
            let parameters = &class.declaration().parameters;
            let alike = known.declaration().items.is_some() == class.declaration().items.is_some();
            if !alike || !known.declaration().parameters.starts_with(parameters) {
                continue;
            }
            for (at, t) in args.iter().take(parameters.len()).enumerate() {
                self.pending.guess(*site, at, *t);
            }
        }
    }

    /// Whether containers that meet learn of each other's items, so that the next sweep makes them anew.
    fn items_meet(&mut self, a: &Val, b: &Val, inplace: bool) -> bool {
        match (a.ty.kind(), b.ty.kind()) {
            (TyKind::Pending(s, c), TyKind::Class(ClassTy { class, args, .. }))
            | (TyKind::Class(ClassTy { class, args, .. }), TyKind::Pending(s, c))
                if c == class =>
            {
                self.pending.learn_all(*s, args);
                true
            }
            // List displays of numbers are widened to a common type.
            (
                TyKind::Class(ClassTy { class: c, items: Some(t), .. }),
                TyKind::Class(ClassTy { class: d, items: Some(u), .. }),
            ) if c == d => self.widened(a, 0, *u) || (!inplace && self.widened(b, 0, *t)),
            _ => false,
        }
    }

    /// Compares operands of which one is an instance of a class; `None` if neither class defines the comparison.
    pub(crate) fn class_compare(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        if [a, b].iter().any(|v| matches!(v.ty.kind(), TyKind::Pending(..))) {
            self.guess_as_other(a, b);
            return Ok(Some(Val::of_type(Ty::never())));
        }
        if let Some(v) = self.ordered_by_fields(op, a, b)? {
            return Ok(Some(v));
        }
        if let Some(v) = self.class_method(a, &format!("__{}__", compare_name(op)), &[b.clone()])? {
            return Ok(Some(v));
        }
        let mirrored = match op {
            CmpOp::Eq | CmpOp::Ne => op,
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
        };
        if let Some(v) = self.class_method(b, &format!("__{}__", compare_name(mirrored)), &[a.clone()])? {
            return Ok(Some(v));
        }
        if matches!(op, CmpOp::Eq | CmpOp::Ne)
            && self.is_compared_by_identity(a.ty)
            && self.is_compared_by_identity(b.ty)
        {
            return self.is(a, b, op == CmpOp::Ne).map(Some);
        }
        if op != CmpOp::Ne {
            return Ok(None);
        }
        let Some(same) = self.class_method(a, "__eq__", &[b.clone()])? else { return Ok(None) };
        let same = self.truth(&same)?;
        Ok(Some(match same.as_bool() {
            Some(known) => Val::bool(!known),
            None => self.op("not", &[same]),
        }))
    }

    /// The truth value of an instance of a class without items.
    pub(crate) fn class_truth(&mut self, v: &Val) -> Result<Val> {
        if let Some(truth) = self.struct_operation("builtins", "bool", &[v])? {
            return self.truth(&truth);
        }
        if let Some(truth) = self.class_method(v, "__bool__", &[])? {
            return Ok(truth);
        }
        match self.class_method(v, "__len__", &[])? {
            Some(n) => Ok(self.cast(&n, Ty::bool())),
            None => Ok(Val::bool(true)),
        }
    }

    /// A field by name. Names that begin with an underscore are reserved to the library.
    fn class_field(&self, t: Ty, name: &str) -> Option<(u32, Ty)> {
        let at = t.fields().iter().position(|field| field.name == name)?;
        let is_users = t.class().is_some_and(|class| class.user().is_some());
        (self.is_library || is_users || !name.starts_with('_')).then(|| (at as u32, t.fields()[at].ty))
    }

    /// `v.name`, if it is a field.
    pub(crate) fn get_class_field(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        let Some((at, ty)) = self.class_field(v.ty, name) else { return Ok(None) };
        if v.ty.as_class().is_some_and(|c| c.parts.is_some()) {
            return Ok(Some(self.field(v, at)));
        }
        if ty.flatten().is_empty() {
            return Ok(Some(Val::of_type(ty)));
        }
        let object = self.value(v);
        let p = self.push(Inst::FieldPtr(object, at), Ty::ptr());
        let p = self.value(&p);
        let read = self.push(Inst::Load(p), ty);
        self.check_assigned(v, name, &read)?;
        Ok(Some(read))
    }

    /// `v.name = x`
    pub(crate) fn set_class_field(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        if self.class_field(v.ty, name).is_none() {
            if self.set_property(v, name, x)? {
                return Ok(());
            }
            let text = format!("`{}` has no attribute `{name}` that can be assigned", v.ty);
            let known = v.ty.fields().iter().map(|f| f.name.as_str());
            return Err(Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, text).instead_of(known));
        }
        if self.is_frozen(v, name)? {
            return Ok(());
        }
        self.store_field(v, name, x)
    }

    /// Stores a value in a field, whose old one is released.
    pub(crate) fn store_field(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        let Some((at, ty)) = self.class_field(v.ty, name) else { lh_ir::bug!("`{}` has no field `{name}`", v.ty) };
        self.check_writable(v.ty)?;
        if v.ty.as_class().is_some_and(|c| c.parts.is_some()) {
            let text = format!("a `{}` is a value, whose `{name}` cannot be assigned", v.ty);
            return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text).note("make a new one of the old one's parts"));
        }
        let refused =
            || Diagnostic::new(diag::CANNOT_UNIFY, format!("the field `{name}` holds `{ty}`, not `{}`", x.ty));
        let is_cast = v.ty.class().and_then(Class::user).is_some_and(|user| user.is_shared);
        if !is_cast && x.ty.is_number() && ty.is_number() && crate::convert::rank(x.ty) > crate::convert::rank(ty) {
            return Err(refused());
        }
        // A container that was made empty, or of other numbers: the next sweep makes it anew.
        if let (TyKind::Pending(site, class), Some(c)) = (x.ty.kind(), ty.as_class())
            && *class == c.class
        {
            self.pending.learn_all(*site, &c.args);
            return Ok(());
        }
        if self.widened_item(x, ty) {
            return Ok(());
        }
        let x = self.convert(x, ty).map_err(|_| refused())?;
        let (object, x) = (self.value(v), self.value(&x));
        let p = self.push(Inst::FieldPtr(object, at), Ty::ptr());
        let p = self.value(&p);
        if ty.is_counted() {
            self.push(Inst::Take(p), ty);
        }
        self.push_void(Inst::Store(p, x));
        Ok(())
    }

    /// `items.append(x)` of a list of the program's, which a function does nothing else with: Python appends.
    fn recorded(&mut self, name: &str, recv: &Val, args: &[Val]) -> Result<Option<Val>> {
        let (Some(Known::CopyOf(list)), "append", [x]) = (recv.known.as_deref(), name, args) else { return Ok(None) };
        let Some(block) = self.recorder(*list) else { return Ok(None) };
        if !has_pending(x.ty) {
            self.call_python(&Val::of_type(Ty::new(TyKind::Obj(block))), &Val::tuple(vec![x.clone()]))?;
        }
        Ok(Some(Val::of_type(Ty::none())))
    }

    /// The block that appends to a list of the program's, if this function does nothing else with it.
    pub(crate) fn recorder(&mut self, list: ObjId) -> Option<ObjId> {
        if self.options.device != Device::Host || self.is_library {
            return None;
        }
        let function = self.world.function_object(self.id)?;
        let recorder = self.world.import("lancehead.objectmode", Some("recorder"))?;
        let block = self.world.fold_call(recorder, &[function, list])?;
        self.world.attr(block, "result").map(|_| block)
    }

    /// Calls a method whose arguments say what the instance holds. If that is unknown yet, they determine it, and the
    /// next sweep infers the call.
    pub(crate) fn teaching_method(
        &mut self,
        name: &str,
        recv: &Val,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let Some(class) = recv.ty.class() else { lh_ir::bug!("`{}` has no `{name}`", recv.ty) };
        if let Some(recorded) = self.recorded(name, recv, args)? {
            return Ok(recorded);
        }
        let Some(teaching) = class.teaching(name) else { lh_ir::bug!("`{}` learns nothing by `{name}`", recv.ty) };
        let is_guess = |word: &str| word.starts_with('?') || word == "_";
        if matches!(recv.ty.kind(), TyKind::Class(_)) && !teaching.words().all(is_guess) {
            self.check_writable(recv.ty)?;
        }
        let mut changed = false;
        for (x, word) in args.iter().zip(teaching.words()) {
            let guesses = word.starts_with('?');
            let word = word.trim_start_matches('?');
            for (at, t) in self.taught(class, word, x, matches!(recv.ty.kind(), TyKind::Pending(..)))? {
                // Captures of a function are not found again in the type of their holder.
                if matches!(t.kind(), TyKind::Closure { .. } | TyKind::Choice(_)) && has_pending(t) {
                    continue;
                }
                match recv.ty.kind() {
                    TyKind::Pending(s, _) => {
                        let open = self.pending.argument(*s, at).is_never();
                        if guesses && !t.is_none() {
                            self.pending.guess(*s, at, t);
                        } else if !guesses && (open || !matches!(t.kind(), TyKind::Pending(..))) {
                            self.pending.learn(*s, at, t);
                        }
                    }
                    TyKind::Class(c) if !guesses => {
                        let wanted = c.args[at];
                        changed |= self.widened(recv, at, t);
                        changed |= class.parameter(word).is_some() && self.widened_item(x, wanted);
                    }
                    _ => {}
                }
            }
        }
        // Keywords are items of another instance, too: `d.update(a=1)`.
        if let (TyKind::Pending(s, _), true) = (recv.ty.kind(), class.parameter("V").is_some()) {
            for (_, x) in kwargs {
                self.pending.learn_all(*s, &[Ty::str(), x.ty]);
            }
        }
        args.iter().zip(teaching.words()).for_each(|(x, word)| self.learn_back(recv.ty, word, x));
        if changed || has_pending(recv.ty) || args.iter().any(|x| has_pending(x.ty)) {
            return Ok(self.taught_result(class, recv, teaching));
        }
        let mut all = vec![recv.clone()];
        let mut words = teaching.words();
        for x in args {
            let word = words.next().unwrap_or_default();
            all.push(match (class.parameter(word), recv.ty.as_class()) {
                (Some(at), Some(c)) => {
                    let x = self.item_value(x, c.args[at], recv.ty)?;
                    self.as_data(&x)
                }
                _ if class.parameter(word.trim_start_matches('?')).is_some() => self.as_data(x),
                _ => x.clone(),
            });
        }
        let path = format!("{}.{name}", class.path());
        let Some((f, _)) = self.world.library(&path) else { lh_ir::bug!("the library has no `{path}`") };
        self.call_func(f, &all, kwargs)
    }

    /// The type arguments that an argument of a method determines, by a word of [`Teaching`].
    pub(crate) fn taught(&mut self, class: Class, word: &str, x: &Val, open: bool) -> Result<Vec<(usize, Ty)>> {
        if let Some(at) = class.parameter(word) {
            return Ok(vec![(at, x.ty)]);
        }
        let own = class.declaration();
        // Dictionaries of other classes have keys and values, too, which stand first among their type arguments.
        let is_alike = |c: Class| own.entries.is_some() && c.declaration().entries == own.entries;
        Ok(match (word, x.ty.kind()) {
            ("Self", TyKind::Class(c)) if c.class == class => c.args.iter().copied().enumerate().collect(),
            (_, TyKind::Class(c)) if class.parameter("V").is_some() && is_alike(c.class) => {
                c.args.iter().copied().enumerate().take(2).collect()
            }
            (_, TyKind::Pending(s, c))
                if word == "Self" && *c == class || class.parameter("V").is_some() && is_alike(*c) =>
            {
                let known = self.pending.sites[*s as usize].1.iter().copied().enumerate().take(if *c == class {
                    usize::MAX
                } else {
                    2
                });
                known.filter(|(_, t)| !t.is_never()).collect()
            }
            // Anything else is an iterable of tuples.
            ("Self", _) => match self.items_of(x, open)?.and_then(Ty::tuple_elems) {
                Some(parts) if parts.len() == class.declaration().parameters.len().min(2) => {
                    parts.iter().copied().enumerate().collect()
                }
                _ => Vec::new(),
            },
            _ => match word.strip_prefix('*').and_then(|name| class.parameter(name)) {
                Some(at) => self.items_of(x, open)?.map(|t| (at, t)).into_iter().collect(),
                None => Vec::new(),
            },
        })
    }

    /// Type of the items of an iterable. It costs code to find that of an iterator, which is asked if nothing is known.
    pub(crate) fn items_of(&mut self, x: &Val, open: bool) -> Result<Option<Ty>> {
        Ok(match x.ty.kind() {
            TyKind::Class(ClassTy { items: Some(t), .. }) | TyKind::Range(t) => Some(*t),
            TyKind::Array { dtype, ndim: 1, .. } => Some(*dtype),
            TyKind::Tuple { elems, .. } => elems.first().copied(),
            TyKind::Str => Some(x.ty),
            TyKind::Pending(s, c) if c.declaration().parameters.len() == 1 => {
                Some(self.pending.argument(*s, 0)).filter(|t| !t.is_never())
            }
            TyKind::Class(_) | TyKind::Iter(_) | TyKind::Generator(_) if open => {
                let plan = self.plan(x, false)?;
                let states = self.plan_states(&plan);
                Some(self.probe_item(&plan, &states)?)
            }
            _ => None,
        })
    }

    /// Stands for the result of a method in a sweep that will be repeated.
    fn taught_result(&mut self, class: Class, recv: &Val, teaching: Teaching) -> Val {
        let args = match recv.ty.kind() {
            TyKind::Pending(s, _) => self.pending.sites[*s as usize].1.clone(),
            TyKind::Class(c) => c.args.clone(),
            _ => lh_ir::bug!("`{}` is no instance", recv.ty),
        };
        if teaching.result() == Some("Self") {
            return recv.clone();
        }
        let ty = teaching.result().map_or(Ty::none(), |text| class.parsed(text, &args, None));
        if ty.flatten().is_empty() { Val::of_type(ty) } else { self.push(Inst::Zero, ty) }
    }

    /// An instance of a class with what a display lists, which a method adds.
    pub(crate) fn display(&mut self, class: Class, site: Value, adds: &str, entries: &[Vec<Val>]) -> Result<Val> {
        let site = self.display_site(site, class);
        for entry in entries {
            for (at, x) in entry.iter().enumerate() {
                let known = self.pending.argument(site, at);
                if !self.pending.learn(site, at, x.ty) {
                    let text = format!("a {} cannot hold both `{known}` and `{}`", class.name(), x.ty);
                    return Err(Diagnostic::new(diag::CANNOT_UNIFY, text)
                        .note("use a tuple or a namedtuple for values of different types"));
                }
            }
        }
        let count = Val::int(entries.len() as i128);
        let n = self.value(&count);
        let object = self.push(Inst::New(n), self.pending.ty(site));
        self.made_at.extend(object.v.map(|v| (v, site)));
        if has_pending(object.ty) {
            return Ok(object);
        }
        self.class_method(&object, "__prepare__", &[count])?;
        for entry in entries {
            self.method(&object, adds, entry)?;
        }
        Ok(object)
    }

    /// `prim.of_fields(x, fields)`: a new instance of a class, with these fields, without a call of `__init__`; a tuple
    /// of the same class; or a closure that has `captured` other values.
    pub(crate) fn instance_like(&mut self, ty: Ty, captured: Option<Vec<Ty>>, given: &[Val]) -> Result<Val> {
        if let Some(of) = ty.tuple_elems().map(<[Ty]>::to_vec) {
            let parts = given.iter().zip(of).map(|(v, t)| self.convert(v, t)).collect::<Result<_>>()?;
            return Ok(self.pack(parts, ty));
        }
        let fields = ty.fields().to_vec();
        if let Some(of) = captured.or_else(|| ty.as_class().and_then(|c| c.parts.clone())) {
            let parts = given.iter().zip(of).map(|(v, t)| self.convert(v, t)).collect::<Result<_>>()?;
            return Ok(self.pack(parts, ty));
        }
        let made = self.zeroed_instance(ty)?;
        for (field, x) in fields.iter().zip(given) {
            self.store_field(&made, &field.name, x)?;
        }
        Ok(made)
    }

    /// `prim.value(path, fields, types...)`: an instance that is its fields.
    pub(crate) fn instance_of_parts(&mut self, path: &Val, fields: &Val, args: &[Val]) -> Result<Val> {
        let ty = self.instance_type(path, args);
        let of = ty.as_class().and_then(|c| c.parts.clone()).unwrap_or_else(|| lh_ir::bug!("`{ty}` is no value"));
        let given = self.tuple_parts(fields).unwrap_or_default();
        if given.len() != of.len() {
            lh_ir::bug!("`{ty}` has {} fields", of.len());
        }
        let parts = given.iter().zip(of).map(|(v, t)| self.convert(v, t)).collect::<Result<_>>()?;
        Ok(self.pack(parts, ty))
    }

    /// `prim.new(path, types...)`: a new instance of a class; type arguments are given as types or as values of them.
    pub(crate) fn new_instance(&mut self, path: &Val, args: &[Val]) -> Val {
        let ty = self.instance_type(path, args);
        let none = self.value(&Val::int(0));
        self.push(Inst::New(none), ty)
    }

    fn instance_type(&self, path: &Val, args: &[Val]) -> Ty {
        let path = path.as_str().unwrap_or_else(|| lh_ir::bug!("a class is known by its path"));
        let class = Class::find(path).unwrap_or_else(|| lh_ir::bug!("the library declares no class `{path}`"));
        let args = args.iter().map(|a| match a.ty.kind() {
            TyKind::DType(t) => *t,
            _ => a.ty,
        });
        class.of(args.collect(), false)
    }
}
