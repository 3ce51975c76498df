//! Attributes: of modules and classes while compiling, of values by their type.

use crate::cx::Infer;
use crate::emit::{opaque, wrap_int};
use crate::operations::objects::is_of_shape;
use crate::substitutes;
use crate::val::{Known, Lazy, Method, Val};
use crate::world::Object;
use lh_ir::class::{Binding, Class};
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, MapExpr, Semantics};
use lh_ir::types::{Buffer, InstanceOf, NamedTuple, TyKind};
use lh_ir::{Const, FuncId, TupleMeaning, Ty};
use lh_ops::runtime as rt;

/// Classes of the library in which methods of a type are looked up.
fn classes(t: Ty) -> Vec<&'static str> {
    if let Some(class) = t.class() {
        return if class.user().is_some() { vec![] } else { vec![class.path()] };
    }
    let of: &[&str] = match t.kind() {
        TyKind::Array { dtype, .. } if dtype.is_record() => &["record_values.ndarray", "numpy.ndarray"],
        TyKind::Array { .. } => &["numpy.ndarray"],
        TyKind::Record(_) => &["record_values.record"],
        TyKind::Str => &["builtins.str"],
        TyKind::Generator(_) => &["generators.generator"],
        TyKind::Instance { class: InstanceOf::Buffer(Buffer::Bytes), .. } => &["builtins.bytes"],
        TyKind::Instance { class: InstanceOf::Buffer(Buffer::ByteArray), .. } => &["builtins.bytearray"],
        TyKind::Instance { class: InstanceOf::Buffer(Buffer::MemoryView), .. } => &["builtins.memoryview"],
        TyKind::Tuple { name: Some(n), .. } if n.meaning == Some(TupleMeaning::ChunkSize) => &["threads.chunksize"],
        TyKind::Tuple { .. } => &["builtins.tuple"],
        TyKind::Range(_) => &["builtins.range"],
        TyKind::Slice(_) => &["builtins.slice"],
        TyKind::Int { .. } | TyKind::Bool => &["builtins.int", "numpy.generic"],
        TyKind::Float { .. } | TyKind::Bfloat16 => &["builtins.float", "numpy.generic"],
        TyKind::Complex { .. } => &["builtins.complex", "numpy.generic"],
        _ => &[],
    };
    of.to_vec()
}

/// A method of an instance, if its class declares what its arguments say about the instance's type.
fn teaches(t: Ty, name: &str) -> Option<&'static str> {
    t.class()?.declaration().infers.iter().map(|(method, _)| method.as_str()).find(|method| *method == name)
}

const EXIT_STACK: &str = "contextlib.ExitStack";

/// The name of such a method of a value.
pub(crate) fn stacks(t: Ty, name: &str) -> Option<&'static str> {
    let class = match t.kind() {
        TyKind::Pending(_, class) => *class,
        TyKind::Class(c) => c.class,
        _ => return None,
    };
    let found = ["__enter__", "enter_context", "push", "callback"].into_iter().find(|n| *n == name)?;
    (Class::find(EXIT_STACK) == Some(class)).then_some(found)
}

impl Infer<'_> {
    /// `v.name`
    pub(crate) fn get_attr(&mut self, v: &Val, name: &str) -> Result<Val> {
        if let TyKind::Optional(_) = v.ty.kind() {
            let inner = self.unwrap_object(v, name)?;
            return self.get_attr(&inner, name);
        }
        if matches!(v.known.as_deref(), Some(Known::Keywords(..))) {
            const METHODS: [&str; 4] = ["keys", "values", "items", "get"];
            let method = METHODS.into_iter().find(|m| *m == name);
            return method.map(|m| self.builtin_bound(v, m)).ok_or_else(|| self.no_dictionary(v));
        }
        if let (Some(array), "data") = (self.array_of_ctypes(v), name) {
            let address = self.address_of(&array)?;
            let number = self.runtime(&rt::lh_ptr_addr, &[address], Ty::int())?;
            return Ok(self.cast(&number, Ty::u64()));
        }
        if let Some(Known::Super(own, next)) = v.known.as_deref() {
            let (own, next) = (own.clone(), *next);
            return self.super_attr(&own, next, name);
        }
        if let Some(x) = self.known_attr(v, name)? {
            return Ok(x);
        }
        if name == "__class__" {
            return self.class_of(v);
        }
        // Names that begin with one underscore are the library's own, but for those of `typed.List`.
        let is_hidden = !self.is_library
            && name.starts_with('_')
            && !name.starts_with("__")
            && v.ty.class().is_some_and(|c| c != Class::list());
        for class in classes(v.ty).into_iter().filter(|_| !is_hidden) {
            let path = format!("{class}.{name}");
            let overriding = self.numba_override(&path).map(|f| (f, Binding::Method));
            if let Some((f, binding)) = overriding.or_else(|| self.world.library(&path)) {
                match binding {
                    Binding::Property => return self.call_func(f, std::slice::from_ref(v), &[]),
                    Binding::Static => return Ok(Val::of_type(Ty::new(TyKind::Func(f)))),
                    Binding::Method => {}
                }
                let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
                return Ok(Val::known(ty, Known::Method(v.clone(), Method::Library(f))));
            }
        }
        if let Some(x) = self.overloaded_attr(v, name)? {
            return Ok(x);
        }
        if v.ty.class().is_some_and(Class::is_mixed) {
            return Err(Infer::no_mixed_attr(name));
        }
        if matches!(name, "__enter__" | "__exit__") {
            return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, format!("`with` on `{}` is not supported", v.ty))
                .note("use try and finally"));
        }
        let text = format!("`{}` has no attribute `{name}` in compiled code", v.ty);
        let of_record = v.ty.as_record().map_or(&[][..], |r| &r.fields).iter().map(|f| &*f.name);
        let known = v.ty.fields().iter().map(|f| f.name.as_str()).filter(|n| !n.starts_with('_')).chain(of_record);
        let d = Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, text).instead_of(known).instead_of(self.names_of(v.ty));
        let builtin = || substitutes::of(&format!("builtins.{}.{name}", v.ty));
        Err(match substitutes::of_attribute(&classes(v.ty), name).or_else(builtin) {
            Some(text) => d.note(text),
            None => d.note("compute it outside of the function and pass it in"),
        })
    }

    /// Names of the attributes of values of a type: those of a class of the program, else the classes that have them.
    fn names_of(&mut self, t: Ty) -> Vec<String> {
        let class = match t.kind() {
            TyKind::Tuple { name: Some(n), .. } => Some(n.class),
            _ => t.class().and_then(Class::user).map(|user| user.class),
        };
        let mut out = class.map_or_else(Vec::new, |class| self.world.names(class));
        out.extend(classes(t).into_iter().filter(|c| !t.is_weak() || *c != "numpy.generic").map(str::to_owned));
        if matches!(t.kind(), TyKind::DType(_)) {
            out.push("numpy.dtype".to_owned());
        }
        out
    }

    /// Attributes that inference knows itself.
    fn known_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        if let Some(name) = stacks(v.ty, name) {
            return Ok(Some(self.builtin_bound(v, name)));
        }
        match v.ty.kind() {
            TyKind::Obj(o) => self.object_attr(v, *o, name),
            TyKind::Choice(of) => self.attr_of_each(v, of, name).map(Some),
            TyKind::DType(t) => Ok(self.dtype_attr(*t, name).or_else(|| {
                let found = if *t == Ty::int() { self.world.library(&format!("builtins.int.{name}")) } else { None };
                let (f, _) = found.filter(|(_, binding)| *binding == Binding::Static)?;
                Some(Val::of_type(Ty::new(TyKind::Func(f))))
            })),
            TyKind::Instance { .. } if v.ty.as_error().is_some() => self.error_attr(v, name),
            TyKind::Instance { .. } => self.instance_attr(v, name),
            TyKind::Exc => self.exc_attr(v, name),
            TyKind::BoundMethod { .. } if name == "__name__" && Self::of_exception(v) == Some("__class__") => {
                let e = self.field(v, 0);
                self.runtime(&rt::lh_exc_name, &[e], Ty::str()).map(Some)
            }
            TyKind::Func(f) | TyKind::Closure { func: f, .. } if name == "__name__" => self.name_of(*f).map(Some),
            TyKind::Array { .. } => self.array_attr(v, name),
            TyKind::Record(r) => match r.field(name) {
                Some(f) => self.record_field(v, r, f).map(Some),
                None => Ok((name == "dtype").then(|| Val::of_type(Ty::dtype(v.ty)))),
            },
            TyKind::Tuple { name: Some(n), .. } => match n.fields.iter().position(|f| f == name) {
                Some(i) => Ok(Some(self.field(v, i as u32))),
                None if name == "_fields" => Ok(Some(Val::tuple(n.fields.iter().map(Val::str).collect()))),
                None if name == "_replace" => Ok(Some(self.builtin_bound(v, "_replace"))),
                None => self.user_attr(v, n.class, name),
            },
            TyKind::Slice(_) if let Some(f) = self.numba_override(&format!("slices.{name}")) => {
                self.call_func(f, std::slice::from_ref(v), &[]).map(Some)
            }
            TyKind::Range(_) | TyKind::Slice(_) => {
                let at = ["start", "stop", "step"].iter().position(|n| *n == name);
                Ok(at.map(|i| self.field(v, i as u32)))
            }
            TyKind::Class(c) => match (self.get_class_field(v, name)?, c.class.user()) {
                (Some(field), _) => Ok(Some(field)),
                (None, Some(user)) => self.user_attr(v, user.class, name),
                (None, None) if v.ty.is_time() && name != "real" && name != "imag" => Ok(self.number_attr(v, name)),
                (None, None) => Ok(teaches(v.ty, name).map(|name| self.builtin_bound(v, name))),
            },
            TyKind::Generator(_) => {
                let found = ["send", "throw", "__next__"].into_iter().find(|n| *n == name);
                Ok(found.map(|name| self.builtin_bound(v, name)))
            }
            TyKind::Pending(site, class) => Ok(Some(match (teaches(v.ty, name), self.class_function(*class, name)) {
                (Some(name), _) => self.builtin_bound(v, name),
                (None, Some((f, Binding::Static))) => {
                    // Nothing else may say what the instance holds, which does not matter here.
                    for at in 0..class.declaration().parameters.len() {
                        self.pending.guess(*site, at, Ty::int());
                    }
                    Val::of_type(Ty::new(TyKind::Func(f)))
                }
                _ => Val::of_type(Ty::never()),
            })),
            _ if v.ty.is_number() => Ok(self.number_attr(v, name)),
            _ => Ok(None),
        }
    }

    /// The name of a function.
    fn name_of(&mut self, f: FuncId) -> Result<Val> {
        match self.world.function_object(f).and_then(|o| self.world.attr(o, "__name__")) {
            Some(own) => self.object(own),
            None => Ok(Val::str(self.world.code(f)?.name.clone())),
        }
    }

    /// Attributes of an object that is known while compiling.
    fn object_attr(&mut self, v: &Val, o: lh_ir::ObjId, name: &str) -> Result<Option<Val>> {
        if let Some(method) = self.ufunc_method(v, o, name) {
            return Ok(Some(method));
        }
        if let Some(found) = self.class_attr(v, o, name) {
            return Ok(Some(found));
        }
        if name == "__members__"
            && let Some(members) = self.members_by_name(o)?
        {
            return Ok(Some(members));
        }
        if let (Object::Cached(func, _), "__wrapped__") = (self.world.object(o), name) {
            return self.object(func).map(Some);
        }
        let Some(x) = self.world.attr(o, name) else { return Err(self.no_attr(o, name)) };
        if name == "__init__" && self.is_pythons_init(v, x) {
            return Ok(Some(self.builtin_bound(v, "exception.__init__")));
        }
        self.object(x).map(Some)
    }

    /// Why an object of the program has no attribute of a name.
    fn no_attr(&mut self, o: lh_ir::ObjId, name: &str) -> Box<Diagnostic> {
        let what = self.world.describe(o);
        let object = self.world.object(o);
        if let Object::Foreign(f) = &object
            && let Some(why) = &f.refused
        {
            return Diagnostic::new(diag::UNSUPPORTED_CALL, why.clone());
        }
        if let Object::Cached(..) = object {
            let text = format!("`{what}` has no attribute `{name}` in compiled code");
            return Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, text).note("use it outside of the function");
        }
        let names = self.world.names(o);
        if let (Object::Other(text), []) = (object, &*names) {
            return opaque(&text);
        }
        let d =
            Diagnostic::new(diag::UNKNOWN_ATTRIBUTE, format!("`{what}` has no attribute `{name}`")).instead_of(names);
        match substitutes::of(&format!("{what}.{name}")) {
            Some(text) => d.note(text),
            None => d,
        }
    }

    /// Attributes of classes of namedtuples and of the library that are not read from the class.
    fn class_attr(&mut self, v: &Val, o: lh_ir::ObjId, name: &str) -> Option<Val> {
        if !matches!(name, "_fields" | "_make") {
            // Functions of a declared class: `dict.fromkeys`.
            let crate::world::Object::Path(path) = self.world.object(o) else { return None };
            let f = match Class::find(&path) {
                Some(class) => self.class_function(class, name)?.0,
                // A class of the library that is not one of values.
                None => self.world.library(&format!("{path}.{name}")).filter(|(_, b)| *b == Binding::Static)?.0,
            };
            return Some(Val::of_type(Ty::new(TyKind::Func(f))));
        }
        let crate::world::Object::NamedTupleClass(n) = self.world.object(o) else { return None };
        Some(match name {
            "_fields" => Val::tuple(n.fields.iter().map(Val::str).collect()),
            _ => self.builtin_bound(v, "_make"),
        })
    }

    fn class_function(&mut self, class: Class, name: &str) -> Option<(lh_ir::FuncId, Binding)> {
        self.world.library(&format!("{}.{name}", class.path()))
    }

    pub(crate) fn builtin_bound(&mut self, v: &Val, name: &'static str) -> Val {
        let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
        Val::known(ty, Known::Method(v.clone(), Method::Builtin(name)))
    }

    /// A call of a method bound to a value.
    pub(crate) fn call_method(
        &mut self,
        recv: Val,
        method: &Method,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let with_recv = || -> Vec<Val> { std::iter::once(recv.clone()).chain(args.iter().cloned()).collect() };
        // Of a ufunc; `at` takes the array and its indices first.
        if let (TyKind::Obj(_), Some(x)) = (recv.ty.kind(), args.first()) {
            self.pending.taken_by_numpy(std::iter::once(x.ty));
        }
        match method {
            Method::Library(id) => self.call_func(*id, &with_recv(), kwargs),
            Method::Builtin(name) => self.builtin_method(name, &recv, args, kwargs),
            Method::Each(name) => self.call_method_of_each(&recv, name, args, kwargs),
            Method::Error(name) => self.call_error_method(&recv, name, args, kwargs),
            Method::Stencil(s) => self.call_stencil(s, &recv, args, kwargs),
            Method::Overloaded(name) => {
                self.call_overload(None, name, &with_recv(), kwargs).map(|v| v.expect("a method"))
            }
        }
    }

    /// Methods that inference does itself.
    pub(crate) fn builtin_method(
        &mut self,
        name: &str,
        recv: &Val,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        match (name, args) {
            _ if self.entries(recv).is_some() => self.keywords_method(name, recv, args),
            _ if matches!(recv.ty.kind(), TyKind::Generator(_)) => self.generator_method(name, recv, args),
            _ if (recv.ty == Ty::exc() || recv.ty.as_error().is_some())
                && let e = self.plain_exception(recv)
                && let Some(found) = self.exc_method(&e, name, args)? =>
            {
                Ok(found)
            }
            ("exception.__init__", [e, rest @ ..]) => {
                self.set_exc_args(e, rest)?;
                Ok(Val::of_type(Ty::none()))
            }
            ("super().__init__", []) => Ok(Val::of_type(Ty::none())),
            ("_replace", []) => self.replaced(recv, kwargs),
            ("_make", [items]) => self.made_of(recv, items),
            _ if stacks(recv.ty, name).is_some() => self.stack_up(name, recv, args, kwargs),
            _ if teaches(recv.ty, name).is_some() => self.teaching_method(name, recv, args, kwargs),
            _ => Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{name}` takes one argument"))),
        }
    }

    /// `point._replace(x=1)`
    fn replaced(&mut self, point: &Val, kwargs: &[(String, Val)]) -> Result<Val> {
        let TyKind::Tuple { name: Some(n), .. } = point.ty.kind() else { lh_ir::bug!("not a namedtuple") };
        let mut parts = self.tuple_parts(point).expect("a tuple");
        for (k, v) in kwargs {
            let Some(at) = n.fields.iter().position(|f| f == k) else {
                return Err(no_field(n, k));
            };
            parts[at] = v.clone();
        }
        let elems = parts.iter().map(|p| p.ty).collect();
        Ok(self.pack(parts, Ty::new(TyKind::Tuple { elems, name: Some(n.clone()) })))
    }

    /// `Point._make(items)`
    fn made_of(&mut self, class: &Val, items: &Val) -> Result<Val> {
        let TyKind::Obj(o) = class.ty.kind() else { lh_ir::bug!("not a class") };
        let crate::world::Object::NamedTupleClass(n) = self.world.object(*o) else { lh_ir::bug!("not a namedtuple") };
        let Some(parts) = self.tuple_parts(items) else {
            let parts = self.unpack(items, n.fields.len() as u32, None)?;
            let parts = self.tuple_parts(&parts).unwrap_or_default();
            return self.call(class, &parts, &[]);
        };
        self.call(class, &parts, &[])
    }

    fn number_attr(&mut self, v: &Val, name: &str) -> Option<Val> {
        // Numbers of Python have no more, nor do any in Numba.
        let is_scalar = self.is_library || v.ty.is_time() || !v.ty.is_weak() && self.semantics() == Semantics::Python;
        if !is_scalar && !matches!(name, "real" | "imag") {
            return None;
        }
        match (name, v.ty.is_complex()) {
            ("real", true) => Some(self.field(v, 0)),
            ("imag", true) => Some(self.field(v, 1)),
            ("real", false) => Some(if v.ty.is_bool() { self.cast(v, Ty::int()) } else { v.clone() }),
            ("imag", false) => Some(self.cast(&Val::int(0), if v.ty.is_bool() { Ty::int() } else { v.ty })),
            ("dtype", _) => Some(Val::of_type(Ty::dtype(v.ty.strong()))),
            ("ndim", _) => Some(Val::int(0)),
            ("size", _) => Some(Val::int(1)),
            ("shape", _) => Some(Val::tuple(vec![])),
            ("itemsize" | "nbytes", _) => Some(Val::int(v.ty.itemsize() as i128)),
            _ => None,
        }
    }

    fn dtype_attr(&mut self, t: Ty, name: &str) -> Option<Val> {
        let int = |i: i128| Val::constant(Const::Int(i, Ty::int()));
        let kind = match t.kind() {
            TyKind::Bool => "b",
            TyKind::Int { signed: true, .. } => "i",
            TyKind::Int { .. } => "u",
            TyKind::Float { .. } => "f",
            TyKind::Record(_) | TyKind::Bfloat16 => "V",
            _ if t.is_time() => {
                if t.as_time().is_some_and(|(_, is_span)| is_span) {
                    "m"
                } else {
                    "M"
                }
            }
            _ => "c",
        };
        match name {
            "itemsize" => Some(int(t.itemsize() as i128)),
            "names" => t.as_record().map(|r| Val::tuple(r.fields.iter().map(|f| Val::str(&f.name)).collect())),
            "kind" => Some(Val::str(kind)),
            "alignment" => Some(int(t.real_part().itemsize() as i128)),
            "char" if t.is_time() => Some(Val::str(kind)),
            "char" if t.is_number() => {
                // By bytes of an item: 1, 2, 4, 8 and 16.
                let letters = match kind {
                    "b" => "?",
                    "i" => "bhil",
                    "u" => "BHIL",
                    "f" => " efd",
                    _ => "   FD",
                };
                let at = t.itemsize().ilog2() as usize;
                Some(Val::str(&letters[at..=at]))
            }
            "name" | "__name__" => Some(Val::str(t.to_string())),
            "type" => Some(Val::of_type(Ty::dtype(t))),
            "bitwidth" => Some(int(i128::from(t.bits()))),
            _ => None,
        }
    }

    fn array_attr(&mut self, v: &Val, name: &str) -> Result<Option<Val>> {
        let (dtype, ndim, _, ro) = v.ty.as_array().expect("an array");
        if dtype.is_pyobject() && !is_of_shape(name) {
            return Ok(None);
        }
        if let Some(r) = dtype.as_record() {
            if r.field(name).is_some() {
                return self.field_of_records(v, name).map(Some);
            }
            if r.chars.is_none() {
                self.check_record_attribute(name)?;
            }
        }
        Ok(Some(match name {
            "shape" | "strides" => {
                let a = self.array_parts(v);
                Val::tuple(if name == "shape" { a.shape } else { a.strides })
            }
            "ndim" => Val::int(ndim as i128),
            "dtype" => Val::of_type(Ty::dtype(dtype)),
            "ctypes" => self.builtin_bound(v, "ctypes"),
            "size" => {
                let a = self.array_parts(v);
                self.product(&a.shape)
            }
            "itemsize" => Val::int(dtype.itemsize() as i128),
            "nbytes" => {
                let a = self.array_parts(v);
                let n = self.product(&a.shape);
                self.op("mul", &[n, Val::int(dtype.itemsize() as i128)])
            }
            "T" if ndim < 2 => v.clone(),
            "flat" => self.lazy(Lazy::Flat(v.clone())),
            "real" if !dtype.is_complex() => v.clone(),
            "real" | "imag" if dtype.is_complex() => {
                let mut a = self.array_parts(v);
                let part = dtype.real_part();
                if name == "imag" {
                    let (d, b) = (self.value(&a.data), Val::int(part.itemsize() as i128));
                    let b = self.value(&b);
                    a.data = self.push(Inst::PtrAdd(d, b), Ty::ptr());
                }
                let layout = crate::emit::any_layout(ndim);
                self.make_array(&a, Ty::array_ro(part, ndim, layout, ro))
            }
            "imag" => {
                let zero = crate::emit::cast_const(&Const::Int(0, Ty::int()), dtype).expect("a number");
                let zeros = self.map(std::slice::from_ref(v), dtype, MapExpr::Const(zero));
                // As NumPy's: nobody shall store imaginary parts that real numbers do not have.
                match zeros.ty.as_array() {
                    Some((_, _, layout, _)) => {
                        let parts = self.array_parts(&zeros);
                        self.make_array(&parts, Ty::array_ro(dtype, ndim, layout, true))
                    }
                    None => zeros,
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Least or greatest finite value of a type.
    pub(crate) fn extreme(&self, t: Ty, greatest: bool) -> Val {
        let c = match t.kind() {
            TyKind::Int { bits, signed, .. } => {
                let bits = u32::from(*bits);
                let top = if *signed { (1i128 << (bits - 1)) - 1 } else { (1i128 << bits) - 1 };
                let i = if greatest { top } else { wrap_int(top + 1, bits, *signed) };
                Const::Int(i, t)
            }
            TyKind::Bfloat16 => {
                let most = lh_ir::half::number(0x7f7f, t);
                Const::Float(if greatest { most } else { -most }, t)
            }
            TyKind::Float { bits: 16, .. } => Const::Float(if greatest { 65504.0 } else { -65504.0 }, t),
            TyKind::Float { bits: 32, .. } => Const::Float(f64::from(if greatest { f32::MAX } else { f32::MIN }), t),
            TyKind::Float { .. } => Const::Float(if greatest { f64::MAX } else { f64::MIN }, t),
            _ => Const::Bool(greatest),
        };
        Val::known(t, Known::Const(c))
    }
}

/// The refusal of a field that a named tuple lacks.
pub(crate) fn no_field(n: &NamedTuple, name: &str) -> Box<Diagnostic> {
    Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` has no field `{name}`", n.name)).instead_of(n.fields.iter())
}
