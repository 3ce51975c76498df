//! One untyped instruction at a time.

use crate::cx::Infer;
use crate::emit::exc;
use crate::operations::iterators::{is_description, is_generator};
use crate::val::{Known, Lazy, Val};
use crate::world::Object;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Extern, Inst as Typed, Semantics};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::untyped::{Inst, InstData, PyConst};
use lh_ir::{Const, ObjId, Ty, Value};
use lh_ops::runtime as rt;
use std::rc::Rc;

impl Infer<'_> {
    /// Types and emits an instruction.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each instruction")]
    pub(crate) fn inst(&mut self, i: &InstData) -> Result<Option<Val>> {
        self.check_objects(&i.inst)?;
        match &i.inst {
            Inst::Const(c) => self.constant(c).map(Some),
            Inst::Global(name) => self.global(name).map(Some),
            Inst::Free(n) => self.free(*n).map(Some),
            Inst::Import { name, attr } => self.import(name, attr.as_deref()).map(Some),
            Inst::CheckBound { value, name } => self.check_bound(*value, name).map(Some),
            Inst::Unary(op, a) => self.unary(*op, &self.val(*a)).map(Some),
            Inst::Binary { op, a, b, inplace } => self.binary(*op, &self.val(*a), &self.val(*b), *inplace).map(Some),
            Inst::Compare(op, a, b) => self.compare(*op, &self.val(*a), &self.val(*b)).map(Some),
            Inst::Is { a, b, negate } => self.is(&self.val(*a), &self.val(*b), *negate).map(Some),
            Inst::Contains { item, container, negate } => {
                self.contains(&self.val(*item), &self.val(*container), *negate).map(Some)
            }
            Inst::GetAttr(v, name) if name == "__merge__" => Ok(Some(self.merging(*v))),
            Inst::GetAttr(v, name) => self.get_attr(&self.val(*v), name).map_err(|d| self.of_argument(d, *v)).map(Some),
            Inst::SetAttr(v, name, x) => self.set_attr(&self.val(*v), name, &self.val(*x)).map(|()| None),
            Inst::GetItem(v, k) => {
                self.get_item(&self.val(*v), &self.val(*k)).map_err(|d| self.of_argument(d, *v)).map(Some)
            }
            Inst::SetItem(v, k, x) => self.set_item(&self.val(*v), &self.val(*k), &self.val(*x)).map(|()| None),
            Inst::DelItem(v, k)
                if self.val(*v).ty.is_overloaded()
                    && self.struct_operation("operator", "delitem", &[&self.val(*v), &self.val(*k)])?.is_some() =>
            {
                Ok(None)
            }
            Inst::DelItem(v, k) => {
                let (v, k) = (self.val(*v), self.val(*k));
                let own = self.method(&v, "__delitem__", std::slice::from_ref(&k));
                self.or_overloaded(own, "operator", "delitem", &[&v, &k]).map(|_| None)
            }
            Inst::Tuple(vs) => Ok(Some(Val::tuple(vs.iter().map(|v| self.val(*v)).collect()))),
            Inst::List(vs) if i.result.is_some_and(|r| self.builds_tuple(r)) => {
                let items = vs.iter().map(|v| self.val(*v)).collect();
                self.builders.insert(i.result.expect("just asked"), items);
                Ok(Some(Val::of_type(Ty::none())))
            }
            Inst::List(vs)
                if self.is_folded(i.result, vs) || i.result.is_some_and(|r| self.sized_lists.contains(&r)) =>
            {
                Ok(Some(Val::tuple(vs.iter().map(|v| self.val(*v)).collect())))
            }
            Inst::List(vs) => self.list_display(i.result, vs).map(Some),
            Inst::Set(vs) => {
                let items: Vec<Vec<Val>> = vs.iter().map(|v| vec![self.val(*v)]).collect();
                self.display(Class::set(), i.result.expect("a display has a result"), "add", &items).map(Some)
            }
            Inst::SetAdd(set, x) => self.method(&self.val(*set), "add", &[self.val(*x)]).map(|_| None),
            Inst::Dict(pairs) => self.dict_display(i.result.expect("a display has a result"), pairs).map(Some),
            Inst::MapAdd(map, k, x) if self.entries(&self.val(*map)).is_some() => {
                self.add_keyword(*map, &self.val(*k), self.val(*x)).map(|()| None)
            }
            Inst::MapAdd(map, k, x) => {
                self.method(&self.val(*map), "__setitem__", &[self.val(*k), self.val(*x)]).map(|_| None)
            }
            Inst::Slice(parts) => {
                let parts = parts.map(|p| self.val(p));
                if let Some(odd) = parts.iter().find(|p| !crate::operations::index::bounds_a_slice(p.ty)) {
                    let text = format!("a slice has integers or nothing, not `{}`", odd.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("convert it, `int(...)`"));
                }
                Ok(Some(self.slice(parts)))
            }
            Inst::ListAppend(l, x) if self.builders.contains_key(l) => {
                let x = self.val(*x);
                self.builders.get_mut(l).expect("just asked").push(x);
                Ok(None)
            }
            Inst::ListExtend(l, x) if self.builders.contains_key(l) => {
                let x = self.val(*x);
                match self.tuple_parts(&x) {
                    Some(parts) => self.builders.get_mut(l).expect("just asked").extend(parts),
                    None => self.build_at_run_time(*l, &x)?,
                }
                Ok(None)
            }
            Inst::ListAppend(l, x) => self.append(&self.val(*l), &self.val(*x)).map(|()| None),
            Inst::ListExtend(l, x) => self.method(&self.val(*l), "extend", &[self.val(*x)]).map(|_| None),
            Inst::ListToTuple(v) => self.built_tuple(*v).map(Some),
            Inst::Format { value, conversion, spec } => {
                let spec = spec.map(|s| self.val(s));
                self.format(&self.val(*value), *conversion, spec.as_ref()).map(Some)
            }
            Inst::ConcatStr(vs) => {
                let parts: Vec<Val> = vs.iter().map(|v| self.val(*v)).collect();
                self.concatenated(&parts).map(Some)
            }
            Inst::Call { func, args, kwargs } => {
                let func = self.val(*func);
                let (args, kwargs) = self.with_described_dtypes(&func, args, kwargs)?;
                let args = self.with_iterators(&func, args)?;
                self.call(&func, &args, &kwargs).map(Some)
            }
            Inst::CallStar { func, args, kwargs } => self.call_star(*func, *args, *kwargs).map(Some),
            Inst::MakeFunction { code, defaults, kwdefaults, captures } => {
                self.make_function(*code, *defaults, kwdefaults, captures).map(Some)
            }
            Inst::Iter(v) => {
                let own = self.val(*v);
                let is_given = i.result.is_some_and(|r| self.is_given(r));
                let started = if is_given { self.given_iterable(&own) } else { self.iter(&own) };
                started.map(Some)
            }
            Inst::Unpack { seq, before, after } => self.unpack(&self.val(*seq), *before, *after).map(Some),
            Inst::UnpackItem(v, k) => self.unrolled_item(&self.val(*v), *k as usize, 0).map(Some),
            Inst::CatchExc => self.runtime(&rt::lh_exc_take, &[], Ty::exc()).map(Some),
            Inst::ExcMatch(e, c) => self.exc_match(&self.val(*e), &self.val(*c)).map(Some),
            Inst::Chain(raised, handled) => {
                let both = [self.val(*raised), self.val(*handled)];
                self.runtime(&rt::lh_exc_chain, &both, Ty::none()).map(|_| None)
            }
            Inst::Cell(_) => self.new_cell().map(Some),
            Inst::CellGet { cell, name } => self.cell_method("get", *cell, name).map(Some),
            Inst::CellSet(cell, x) => self.cell_set(*cell, *x).map(|()| None),
            Inst::CellDelete { cell, name } => self.cell_method("delete", *cell, name).map(|_| None),
            Inst::Sibling { code, defaults, kwdefaults } => Ok(Some(self.sibling(*code, *defaults, kwdefaults))),
            Inst::MatchClass { subject, class, count, names } => {
                self.match_class(&self.val(*subject), &self.val(*class), *count, names).map(Some)
            }
            Inst::MatchKeys { subject, keys } => self.match_keys(&self.val(*subject), &self.val(*keys)).map(Some),
            Inst::EndCatch(_) => Ok(None),
            Inst::Yield(v) => self.yield_value(self.val(*v)).map(Some),
            Inst::YieldFrom(v) => self.yield_from(*v).map(Some),
        }
    }

    /// A diagnostic about a value, which says which argument that is.
    fn of_argument(&self, d: Box<Diagnostic>, v: Value) -> Box<Diagnostic> {
        let Some(i) = self.code.blocks[0].params.iter().position(|p| *p == v).filter(|_| d.label.is_empty()) else {
            return d;
        };
        match self.code.params.get(i) {
            Some(p) if !self.is_library => d.label(format!("argument `{}` is `{}`", p.name, self.val(v).ty)),
            _ => d,
        }
    }

    /// A constant of the code.
    pub(crate) fn constant(&mut self, c: &PyConst) -> Result<Val> {
        Ok(match c {
            PyConst::None => Val::constant(Const::None),
            PyConst::Bool(b) => Val::bool(*b),
            PyConst::Int(i) if i64::try_from(*i).is_ok() => Val::int(*i),
            PyConst::Int(i) if u64::try_from(*i).is_ok() => Val::constant(Const::Int(*i, Ty::u64())),
            PyConst::Int(_) | PyConst::BigInt(_) => {
                return Err(Diagnostic::new(diag::TOO_LARGE, "this integer does not fit into 64 bits")
                    .note("compiled integers have 64 bits; use a float"));
            }
            PyConst::Float(x) => Val::constant(Const::Float(*x, Ty::float())),
            PyConst::Complex(a, b) => Val::constant(Const::Complex(*a, *b, Ty::complex())),
            PyConst::Str(s) => Val::str(s.as_str()),
            PyConst::Bytes(b) => self.bytes_display(b)?,
            PyConst::Ellipsis => Val::of_type(Ty::ellipsis()),
            PyConst::Tuple(items) => Val::tuple(items.iter().map(|i| self.constant(i)).collect::<Result<Vec<_>>>()?),
            PyConst::Slice(p) => {
                let parts = [self.constant(&p[0])?, self.constant(&p[1])?, self.constant(&p[2])?];
                self.slice(parts)
            }
            PyConst::Unbound => Val::of_type(Ty::new(TyKind::Unbound)),
        })
    }

    fn global(&mut self, name: &str) -> Result<Val> {
        match self.world.global(self.id, name) {
            Some(o) => self.object(o),
            // Compiled while it is being defined: its own name is not bound yet.
            None if name == self.code.name => Ok(Val::of_type(Ty::new(TyKind::Func(self.id)))),
            None => {
                let known = self.code.value_names.iter().flatten().map(|n| &**n);
                Err(Diagnostic::new(diag::UNKNOWN_NAME, format!("name `{name}` is not defined"))
                    .instead_of(known)
                    .instead_of(self.world.globals(self.id)))
            }
        }
    }

    fn import(&mut self, name: &str, attr: Option<&str>) -> Result<Val> {
        match self.world.import(name, attr) {
            Some(o) => self.object(o),
            None => Err(Diagnostic::new(diag::UNKNOWN_NAME, format!("module `{name}` cannot be imported here"))
                .note("import it at the top of the file")),
        }
    }

    fn free(&mut self, n: u32) -> Result<Val> {
        if let Some(v) = self.captures.get(n as usize).cloned() {
            if !matches!(v.ty.kind(), TyKind::Unbound) {
                return self.bound(&v, &self.code.freevars[n as usize].clone());
            }
            // A function that captured its own name before it was bound: itself.
            if self.code.freevars[n as usize] == self.code.name {
                let captures: Vec<Ty> = self.captures.iter().map(|c| c.ty).collect();
                let ty = Ty::new(TyKind::Closure { func: self.id, captures, defaults: vec![], named: vec![] });
                return Ok(self.pack(self.captures.clone(), ty));
            }
            return Err(Diagnostic::new(
                diag::UNKNOWN_NAME,
                "a captured variable is assigned after the function that uses it",
            )
            .note("pass it as an argument"));
        }
        match self.world.free(self.id, n) {
            Some(o) => self.object(o),
            // Compiled while it is being defined.
            None if self.code.freevars.get(n as usize) == Some(&self.code.name) => {
                Ok(Val::of_type(Ty::new(TyKind::Func(self.id))))
            }
            None => {
                let name = self.code.freevars.get(n as usize).cloned().unwrap_or_default();
                // While its decorator compiles it for a signature, a function's own name is not bound yet.
                if name == self.code.name {
                    return Ok(Val::of_type(Ty::new(TyKind::Func(self.id))));
                }
                Err(Diagnostic::new(diag::UNKNOWN_NAME, format!("the captured variable `{name}` has no value")))
            }
        }
    }

    /// The abstract value of a Python object known while compiling.
    pub(crate) fn object(&mut self, o: ObjId) -> Result<Val> {
        self.object_in(o, &[])
    }

    fn objects(&mut self, all: &[ObjId]) -> Result<Vec<Val>> {
        all.iter().map(|o| self.object(*o)).collect()
    }

    fn array_constant(&mut self, o: ObjId, ty: Ty, shape: Vec<i64>, strides: Vec<i64>) -> Val {
        let owner = self.push(Typed::Zero, Ty::meminfo());
        let data = self.push(Typed::Extern(Extern::Array(o)), Ty::ptr());
        let ints = |v: Vec<i64>| v.into_iter().map(|i| Val::int(i128::from(i))).collect();
        let parts = crate::emit::ArrayParts { owner, data, shape: ints(shape), strides: ints(strides) };
        self.make_array(&parts, ty)
    }

    fn table_constant(&mut self, o: ObjId, ty: Ty) -> Result<Val> {
        if self.options.device != Device::Host {
            let text = "a global or captured dictionary or set cannot be used in a kernel";
            return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note("use an array or a tuple"));
        }
        let cell = self.push(Typed::Extern(Extern::Foreign(o)), Ty::ptr());
        let cell = self.value(&cell);
        Ok(self.push(Typed::Load(cell), ty))
    }

    /// The same, inside of others.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each kind of object")]
    fn object_in(&mut self, o: ObjId, around: &[ObjId]) -> Result<Val> {
        if around.contains(&o) {
            return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, "a list or tuple that contains itself has no type"));
        }
        let inside = [around, &[o]].concat();
        Ok(match self.world.object(o) {
            Object::Const(c) => Val::constant(c),
            Object::Time(ticks, ty) => self.time_constant(ticks, ty),
            Object::Tuple(items, name) => {
                let parts = items.iter().map(|i| self.object_in(*i, &inside)).collect::<Result<Vec<_>>>()?;
                let elems = parts.iter().map(|p| p.ty).collect();
                Val::known(Ty::new(TyKind::Tuple { elems, name }), Known::Parts(parts))
            }
            Object::Func(f) => Val::of_type(Ty::new(TyKind::Func(f))),
            Object::DType(t) if t.is_bool() && self.world.describe(o) == "builtins.bool" => {
                Val::known(Ty::dtype(t), Known::PythonBool)
            }
            Object::DType(t) => Val::of_type(Ty::dtype(t)),
            Object::Bytes(b) => self.bytes_display(&b)?,
            Object::EnumMember(e, at) => self.enum_constant(&e, at)?,
            Object::Ellipsis => Val::of_type(Ty::ellipsis()),
            Object::Extension(f) => self.call_func(f, &[], &[])?,
            Object::Frame(bytes) => self.frame_memory(bytes)?,
            Object::Slice(parts) => {
                let parts = [self.object(parts[0])?, self.object(parts[1])?, self.object(parts[2])?];
                self.slice(parts)
            }
            Object::Array { ty, shape, strides, on_gpu } if !on_gpu || self.options.device != Device::Host => {
                self.array_constant(o, ty, shape, strides)
            }
            Object::List(items) => self.program_list(o, &items, &inside)?,
            Object::Table(ty, _) => self.table_constant(o, ty)?,
            Object::Path(p) if crate::calls::cuda::is_value(&p) => self.cuda_value(&p)?,
            Object::Array { .. } => {
                let text = "an array in the memory of a GPU cannot be used by the host";
                return Err(Diagnostic::new(diag::UNSUPPORTED_TYPE, text).note("copy it there, or write a kernel"));
            }
            Object::Partial { func, args, keywords } => {
                let (func, args) = (self.object(func)?, self.objects(&args)?);
                let named = keywords.into_iter().map(|(n, o)| Ok((n, self.object(o)?))).collect::<Result<Vec<_>>>()?;
                self.partial(&func, &args, &named)
            }
            Object::BoundMethod(own, name) => {
                let own = self.object_in(own, &inside)?;
                match own.ty.kind() {
                    // Of what is known by itself only, ufuncs have methods.
                    TyKind::Obj(ufunc) => match self.ufunc_method(&own, *ufunc, &name) {
                        Some(method) => method,
                        None => Val::of_type(Ty::new(TyKind::Obj(o))),
                    },
                    _ => self.get_attr(&own, &name)?,
                }
            }
            Object::Getter { class, args, keywords } => {
                let args = self.objects(&args)?;
                let named = keywords.into_iter().map(|(n, o)| Ok((n, self.object(o)?))).collect::<Result<Vec<_>>>()?;
                self.getter(&class, &args, &named)?
            }
            // Errors are reported at the use: where it is called, stored or computed with.
            Object::Other(_)
            | Object::Type(_)
            | Object::Module(_)
            | Object::Path(_)
            | Object::ExcClass(..)
            | Object::NamedTupleClass(_)
            | Object::EnumClass(_)
            | Object::Class(_)
            | Object::Property(..)
            | Object::Ufunc(_)
            | Object::Linked(_)
            | Object::Foreign(_)
            | Object::Cached(..)
            | Object::Stencil(_) => Val::of_type(Ty::new(TyKind::Obj(o))),
        })
    }

    /// `v.name = x`
    fn set_attr(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        let of_class = |t: Ty| t.as_class().is_some() || t.as_record().is_some() || t.several().is_some();
        match v.ty.kind() {
            TyKind::Optional(t) if of_class(*t) => {
                let v = self.unwrap_object(v, name)?;
                return if self.dead { Ok(()) } else { self.set_attr(&v, name, x) };
            }
            _ if v.ty.as_record().is_some() => return self.set_record_field(v, name, x),
            _ if v.ty.as_class().is_some() => return self.set_class_field(v, name, x),
            TyKind::Choice(_) if v.ty.several().is_some() => return self.set_attr_of_each(v, name, x),
            _ if v.ty == Ty::exc() || v.ty.as_error().is_some() => return self.set_exc_attr(v, name, x),
            TyKind::Array { .. } if matches!(name, "real" | "imag" | "flat") => {
                let part = self.get_attr(v, name)?;
                let none = Val::constant(Const::None);
                let whole = self.slice([none.clone(), none.clone(), none]);
                let index = if name == "flat" { whole } else { Val::of_type(Ty::ellipsis()) };
                return self.set_item(&part, &index, x);
            }
            _ => {}
        }
        let refused =
            Diagnostic::new(diag::UNSUPPORTED_SYNTAX, format!("attribute `{name}` of `{}` cannot be assigned", v.ty));
        Err(if v.ty.is_tuple() { refused.note("make a new one of the old one's parts") } else { refused })
    }

    fn check_bound(&mut self, v: Value, name: &str) -> Result<Val> {
        let v = self.val(v);
        self.bound(&v, name)
    }

    /// A variable that must be assigned.
    fn bound(&mut self, v: &Val, name: &str) -> Result<Val> {
        let text = format!("cannot access local variable '{name}' where it is not associated with a value");
        match v.ty.kind() {
            TyKind::Unbound => {
                self.raise_text(exc::UNBOUND_LOCAL_ERROR, &text);
                self.dead = true;
                Ok(Val::of_type(Ty::never()))
            }
            // A variable that is not assigned is zero or empty, which it is behind the flag, too.
            TyKind::MaybeUnbound(t) if self.semantics() == Semantics::Numba && has_zero(*t) => {
                let x = self.value(v);
                Ok(self.push(Typed::Unwrap(x), *t))
            }
            TyKind::MaybeUnbound(t) => {
                let x = self.value(v);
                let has = self.push(Typed::IsSome(x), Ty::bool());
                let missing = self.op("not", &[has]);
                self.raise_if(&missing, exc::UNBOUND_LOCAL_ERROR, &text);
                if t.flatten().is_empty() {
                    return Ok(Val::of_type(*t));
                }
                Ok(self.push(Typed::Unwrap(x), *t))
            }
            _ => Ok(v.clone()),
        }
    }

    pub(crate) fn slice(&mut self, parts: [Val; 3]) -> Val {
        let ty = Ty::new(TyKind::Slice([parts[0].ty, parts[1].ty, parts[2].ty]));
        Val::known(ty, Known::Parts(parts.to_vec()))
    }

    fn list_display(&mut self, result: Option<Value>, vs: &[Value]) -> Result<Val> {
        let items: Vec<Val> = vs.iter().map(|v| self.val(*v)).collect();
        let site = result.map(|r| self.display_site(r, Class::list()));
        let made = self.list_of(&items, site)?;
        self.keep_initial(&made, &[], &items);
        Ok(made)
    }

    /// A new list of items; its element type also fits what is appended later.
    pub(crate) fn list_of(&mut self, items: &[Val], site: Option<u32>) -> Result<Val> {
        self.list_like(items, site, false)
    }

    /// A list of these items which cannot be changed: each mention of a global list is one.
    /// A constant copy of a list of the program's. One to which the function only appends need not have a type.
    fn program_list(&mut self, o: ObjId, items: &[ObjId], inside: &[ObjId]) -> Result<Val> {
        const MANY: usize = 64;
        let known = Some(Rc::new(Known::CopyOf(o)));
        let open = Val { v: None, known: known.clone(), ty: Class::list().of(vec![Ty::never()], true) };
        if items.len() > MANY && self.recorder(o).is_some() {
            return Ok(open);
        }
        let parts = items.iter().map(|i| self.object_in(*i, inside)).collect::<Result<Vec<_>>>();
        match parts.and_then(|parts| self.constant_list(&parts)) {
            Ok(list) => Ok(Val { known: list.known.or(known), ..list }),
            Err(_) if self.recorder(o).is_some() => Ok(open),
            Err(why) => Err(why),
        }
    }

    fn constant_list(&mut self, items: &[Val]) -> Result<Val> {
        self.list_like(items, None, true)
    }

    fn list_like(&mut self, items: &[Val], site: Option<u32>, is_constant: bool) -> Result<Val> {
        let mut elem = Ty::never();
        for x in items {
            let t = x.ty.weak();
            let Some(u) = crate::convert::unify(elem, t, &mut self.pending) else {
                if self.align_rows(items) {
                    return Ok(Val::of_type(Ty::never()));
                }
                if let Some(site) = site.filter(|_| !self.is_library) {
                    self.sites.retain(|_, s| *s != site);
                    return self.mixed_list(items);
                }
                return Err(Diagnostic::new(diag::CANNOT_UNIFY, format!("a list cannot hold both `{elem}` and `{t}`"))
                    .note("use a tuple for values of different types"));
            };
            elem = u;
        }
        if let Some(s) = site {
            if !elem.is_never() && !self.pending.learn(s, 0, elem) {
                return Err(Diagnostic::new(diag::CANNOT_UNIFY, format!("this list holds `{elem}` and other types")));
            }
        }
        let ty = match site {
            Some(s) => self.pending.ty(s),
            None => Class::list().of(vec![elem], is_constant),
        };
        elem = ty.items().unwrap_or(Ty::never());
        let cap = self.value(&Val::int(items.len() as i128));
        let list = self.push(Typed::New(cap), ty);
        for (k, x) in items.iter().enumerate() {
            let x = self.item_value(x, elem, list.ty)?;
            let p = self.item_address(&list, &Val::int(k as i128), elem);
            let (p, x) = (self.value(&p), self.value(&x));
            self.push_void(Typed::Store(p, x));
        }
        if !items.is_empty() {
            self.runtime(&rt::lh_items_set_len, &[list.clone(), Val::int(items.len() as i128)], Ty::none())?;
        }
        if let (Some(s), Some(v)) = (site, list.v) {
            self.made_at.insert(v, s);
            let rows: Option<Vec<u32>> = items.iter().map(|x| self.site_of(x)).collect();
            self.rows_at.extend(rows.map(|rows| (s, rows)));
        }
        Ok(list)
    }

    /// Unifies the item types of lists made here, such as `[1, 2]` and `[3, 4.5]`, so that the next sweep gives them
    /// one type; whether a type has changed.
    fn align_rows(&mut self, rows: &[Val]) -> bool {
        let made = rows.iter().map(|row| match row.ty.kind() {
            TyKind::Class(ClassTy { items: Some(t), .. }) => Some((self.site_of(row)?, *t)),
            TyKind::Pending(s, _) => Some((*s, Ty::never())),
            _ => None,
        });
        made.collect::<Option<Vec<_>>>().is_some_and(|made| self.align_made(&made))
    }

    /// As [`Infer::align_rows`], for lists by the displays that make them, with the types of their items; if the items
    /// are lists themselves, for these.
    fn align_made(&mut self, made: &[(u32, Ty)]) -> bool {
        let mut elem = Some(Ty::never());
        for (_, t) in made {
            elem = elem.and_then(|e| crate::convert::unify(e, *t, &mut self.pending));
        }
        if let Some(elem) = elem {
            made.iter().for_each(|(site, _)| _ = self.pending.learn(*site, 0, elem));
            return true;
        }
        let items = made.iter().map(|(site, t)| match t.kind() {
            TyKind::Class(ClassTy { items: Some(inner), .. }) => {
                Some(self.rows_at.get(site)?.iter().map(|s| (*s, *inner)).collect::<Vec<_>>())
            }
            _ => None,
        });
        let Some(items) = items.collect::<Option<Vec<_>>>() else { return false };
        // Their item type is inferred again.
        made.iter().for_each(|(site, _)| self.pending.sites[*site as usize].1[0] = Ty::never());
        self.align_made(&items.concat())
    }

    /// Whether a list made here learns to hold what the items of a list do that it becomes one of.
    pub(crate) fn widened_item(&mut self, item: &Val, elem: Ty) -> bool {
        let TyKind::Class(c) = elem.kind() else { return false };
        let own = item.ty.class() == Some(c.class) && item.ty != elem;
        own && c.args.iter().enumerate().fold(false, |any, (at, t)| self.widened(item, at, *t) || any)
    }

    /// Adds an item to a list that a comprehension makes.
    pub(crate) fn append(&mut self, l: &Val, x: &Val) -> Result<()> {
        self.method(l, "append", std::slice::from_ref(x)).map(|_| ())
    }

    /// Whether an instance made here learns that a type argument has to be another, so that the next sweep makes it
    /// anew.
    pub(crate) fn widened(&mut self, l: &Val, at: usize, item: Ty) -> bool {
        let TyKind::Class(c) = l.ty.kind() else { return false };
        let t = c.args[at];
        let site = self.site_of(l);
        let is_guess = site.is_some_and(|s| self.pending.guessed.contains(&(s, at)));
        let known = if is_guess { Ty::never() } else { t };
        match (crate::convert::unify(known, item.weak(), &mut self.pending), site) {
            (Some(u), Some(site)) if u != t => {
                self.pending.learn(site, at, u);
                // This sweep has used the instance with the old type, so that another sweep is needed.
                let is_other = self.pending.argument(site, at) != t;
                self.pending.changed |= is_other;
                is_other
            }
            _ => false,
        }
    }

    /// The display that made an instance, if it is in this function.
    pub(crate) fn site_of(&self, l: &Val) -> Option<u32> {
        self.made_at.get(&l.v?).copied()
    }

    /// Whether a display of functions only serves to be reduced: what functions are composed to has a type of its own
    /// each time, so that the loop over them is unrolled.
    fn is_folded(&mut self, list: Option<Value>, items: &[Value]) -> bool {
        let Some(list) = list.filter(|_| !items.is_empty() && items.iter().all(|v| self.val(*v).ty.is_function()))
        else {
            return false;
        };
        let uses = self.count_uses(list);
        let caller = self.code.blocks[self.here.index()].insts.iter().find_map(|i| match &i.inst {
            Inst::Call { func, args, .. } if args.get(1) == Some(&list) => Some(*func),
            _ => None,
        });
        let Some(func) = caller.filter(|_| uses == 1) else { return false };
        match self.val(func).ty.kind() {
            TyKind::Obj(o) => matches!(self.world.object(*o), Object::Path(p) if p == "functools.reduce"),
            _ => false,
        }
    }

    pub(crate) fn count_uses(&self, list: Value) -> usize {
        let mut uses = 0;
        let mut count = |v: Value| uses += usize::from(v == list);
        for block in &self.code.blocks {
            block.insts.iter().for_each(|i| i.inst.for_each_operand(&mut count));
            let targets = block.term.iter().flat_map(|t| t.targets()).chain(&block.unwind);
            targets.for_each(|t| t.args.iter().for_each(|a| count(*a)));
        }
        uses
    }

    /// Makes a display a tuple from the next sweep on, if the list has no other use than the current one; whether it is
    /// not one yet.
    pub(crate) fn as_sized(&mut self, list: &Val) -> bool {
        let site = self.site_of(list);
        let display = self.sites.iter().find(|(_, s)| Some(**s) == site).map(|(display, _)| *display);
        let changes = display.filter(|d| self.count_uses(*d) == 1).is_some_and(|d| self.sized_lists.insert(d));
        self.pending.changed |= changes;
        changes
    }

    /// Whether a list display only serves to make a tuple: `(*a, b)`, `f(*a, *b)`.
    fn builds_tuple(&self, list: Value) -> bool {
        self.tuple_lists.contains(&list)
    }

    /// Ends this sweep: in the next one the display is a tuple.
    pub(crate) fn unknown_length(x: &Val) -> Box<Diagnostic> {
        let text = format!("a tuple cannot be made from `{}`, whose length is not known", x.ty);
        Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text)
    }

    pub(crate) fn unpack(&mut self, seq: &Val, before: u32, after: Option<u32>) -> Result<Val> {
        let mut seq = self.unwrap_or_say(seq, "cannot unpack non-iterable NoneType object")?;
        if seq.ty.class().is_some_and(|class| self.has_method(class, "__place__")) {
            seq = self.collect(&seq)?;
        }
        if let Some(parts) = self.unrolled_parts(&seq)? {
            seq = parts;
        } else if after.is_none() && (is_description(&seq) || is_generator(&seq)) {
            let it = self.iterator(&seq)?;
            return if it.ty.is_never() { Ok(it) } else { self.unpack_iterator(&it, before as usize) };
        }
        if seq.ty.is_number() {
            let text = format!("cannot unpack non-iterable `{}`", seq.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        let seq = &seq;
        let want = before as usize + after.unwrap_or(0) as usize;
        if let Some(parts) = self.tuple_parts(seq) {
            if parts.len() < want || (after.is_none() && parts.len() != want) {
                let (text, n) =
                    if parts.len() < want { ("not enough", parts.len()) } else { ("too many", parts.len()) };
                let got = if n < want { format!(", got {n}") } else { String::new() };
                self.raise_text(exc::VALUE_ERROR, &format!("{text} values to unpack (expected {want}{got})"));
                self.dead = true;
                return Ok(Val::of_type(Ty::never()));
            }
            let Some(after) = after else { return Ok(Val::tuple(parts)) };
            let (head, tail) = (before as usize, parts.len() - after as usize);
            let mut out = parts[..head].to_vec();
            let slice = if after == 0 { format!("[{head}:]") } else { format!("[{head}:-{after}]") };
            let instead = format!("`*` makes a list; for a tuple, index with `{slice}`");
            out.push(self.list_of(&parts[head..tail], None).map_err(|d| d.note(instead))?);
            out.extend_from_slice(&parts[tail..]);
            return Ok(Val::tuple(out));
        }
        if let Some(after) = after {
            return self.unpack_star(seq, i128::from(before), i128::from(after));
        }
        let n = self.len(seq)?;
        self.check_enough(&n, want as i128, "expected")?;
        let many = self.less(&Val::int(want as i128), &n)?;
        self.raise_if(&many, exc::VALUE_ERROR, &format!("too many values to unpack (expected {want})"));
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        let items = (0..want).map(|k| self.item_unchecked(seq, &Val::int(k as i128))).collect::<Result<Vec<_>>>()?;
        Ok(Val::tuple(items))
    }

    /// Raises unless there are as many values as are unpacked. On devices the message does not say how many there are.
    fn check_enough(&mut self, n: &Val, want: i128, expected: &str) -> Result<()> {
        let few = self.less(n, &Val::int(want))?;
        let text = format!("not enough values to unpack ({expected} {want}");
        if self.options.device != Device::Host || few.as_bool().is_some() {
            self.raise_if(&few, exc::VALUE_ERROR, &format!("{text})"));
            return Ok(());
        }
        let (yes, no) = self.branch(&few);
        self.cur = yes;
        self.call_library("lists.not_enough", &[Val::str(text), n.clone()])?;
        self.stop();
        self.cur = no;
        self.dead = false;
        Ok(())
    }

    /// `a, *b, c = seq` of what has its length at run time: the items in the middle are a list.
    fn unpack_star(&mut self, seq: &Val, before: i128, after: i128) -> Result<Val> {
        let all = self.call_library("builtins.list.__new__", std::slice::from_ref(seq))?;
        if all.ty.is_never() {
            return Ok(all);
        }
        let n = self.len(&all)?;
        self.check_enough(&n, before + after, "expected at least")?;
        if self.dead {
            return Ok(Val::of_type(Ty::never()));
        }
        let from_end = |i: i128| if i == 0 { Val::constant(Const::None) } else { Val::int(-i) };
        let middle = self.slice([Val::int(before), from_end(after), Val::constant(Const::None)]);
        let mut out = (0..before).map(|k| self.get_item(&all, &Val::int(k))).collect::<Result<Vec<_>>>()?;
        out.push(self.get_item(&all, &middle)?);
        for k in (1..=after).rev() {
            out.push(self.get_item(&all, &Val::int(-k))?);
        }
        Ok(Val::tuple(out))
    }

    /// Texts one after the other.
    pub(crate) fn concatenated(&mut self, parts: &[Val]) -> Result<Val> {
        let mut all = Val::str("");
        for part in parts {
            all = if all.as_str() == Some("") {
                part.clone()
            } else {
                self.binary(lh_ir::untyped::BinOp::Add, &all, part, false)?
            };
        }
        Ok(all)
    }

    /// The text of a value by a format.
    pub(crate) fn format(&mut self, v: &Val, conversion: Option<char>, spec: Option<&Val>) -> Result<Val> {
        let method = if conversion == Some('r') { "__repr__" } else { "__str__" };
        let is_exception = v.ty == Ty::exc() || v.ty.as_error().is_some();
        let v = &self.shown(v, method)?;
        let converted = match conversion.filter(|_| !is_exception) {
            Some('r') => self.call_library("text.text_repr", &[v.clone()])?,
            Some('a') => self.call_library("text.text_ascii", &[v.clone()])?,
            Some(_) if v.ty != Ty::str() => self.call_library("text.text_of", &[v.clone()])?,
            _ => v.clone(),
        };
        match spec.filter(|s| s.as_str() != Some("")) {
            None if converted.ty == Ty::str() => Ok(converted),
            None => self.call_library("text.text_of", &[converted]),
            Some(s) => self.format_spec(&converted, s),
        }
    }

    fn format_spec(&mut self, v: &Val, spec: &Val) -> Result<Val> {
        match v.ty.kind() {
            TyKind::Float { .. } => self.runtime(&rt::lh_str_format_f64, &[v.clone(), spec.clone()], Ty::str()),
            TyKind::Str => self.runtime(&rt::lh_str_format_str, &[v.clone(), spec.clone()], Ty::str()),
            _ => self.call_library("text.text_format", &[v.clone(), spec.clone()]),
        }
    }

    /// A lazy iterable over arguments of a call, used by builtins.
    pub(crate) fn lazy_zip(&self, vs: &[Val]) -> Val {
        self.lazy(Lazy::Zip(vs.to_vec()))
    }
}

/// Whether all zeros are a value of a type: a number, an empty array, `None`, or a tuple of these.
fn has_zero(t: Ty) -> bool {
    match t.kind() {
        TyKind::Optional(_) | TyKind::None => true,
        TyKind::Tuple { elems, .. } => elems.iter().all(|t| has_zero(*t)),
        _ => t.is_number() || t.is_time() || t.is_array(),
    }
}
