//! Builtins that are questions about types, iteration, or one instruction; the others are library functions.

use crate::convert::{promote, unify};
use crate::cx::Infer;
use crate::operations::alternatives::is_several;
use crate::operations::iterators::{is_description, is_generator};
use crate::val::{Known, Lazy, Val};
use crate::world::{IMPLICIT, Object};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Semantics, parallel};
use lh_ir::time_unit::TimeUnit;
use lh_ir::types::{Chars, Record, TyKind};
use lh_ir::untyped::{BinOp, CmpOp};
use lh_ir::{Const, ObjId, Ty};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// A builtin; `None` when the library has to be asked.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each builtin")]
    pub(crate) fn builtin(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Val>> {
        check_keywords(path, kwargs)?;
        let rolled: Vec<Val>;
        let args = match args.iter().any(|a| unrolled(a).is_some()) {
            true => {
                // A loop over these takes them as a tuple.
                rolled = args.iter().map(|a| unrolled(a).unwrap_or(a).clone()).collect();
                &rolled
            }
            false => args,
        };
        match (path, args) {
            ("builtins.len", [x]) => match x.known.as_deref() {
                Some(Known::ExcArgs(e)) => self.exc_args_len(&e.clone()).map(Some),
                _ => self.len(x).map(Some),
            },
            ("lancehead.stencil", _) => self.make_stencil(args, kwargs).map(Some),
            // In the library, stencils use it.
            ("lancehead.prange", _)
                if self.options.parallel & (if self.is_library { parallel::STENCIL } else { parallel::PRANGE })
                    != 0 =>
            {
                let range = self.range(args)?;
                if range.ty.is_never() {
                    return Ok(Some(range));
                }
                Ok(Some(self.lazy(Lazy::Parallel(range))))
            }
            ("builtins.range" | "lancehead.prange", _) => self.range(args).map(Some),
            ("builtins.enumerate", [x, rest @ ..]) if rest.len() + kwargs.len() < 2 => {
                let start = rest.first().or(kwargs.first().map(|(_, v)| v)).cloned().unwrap_or(Val::int(0));
                if !start.ty.is_int() {
                    let text = format!("enumerate() starts from an integer, not `{}`", start.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                let start = self.cast(&start, Ty::int());
                Ok(Some(self.lazy(Lazy::Enumerate(x.clone(), start))))
            }
            ("builtins.zip", _) => {
                if let Some(a) = args.iter().find(|a| a.ty.is_number()) {
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` is not iterable", a.ty)));
                }
                let strict = kwargs.first().map(|(_, strict)| strict).filter(|s| s.as_bool() != Some(false));
                let is_empty = |a: &Val| a.ty.tuple_elems().is_some_and(<[Ty]>::is_empty);
                if strict.is_some() && args.iter().any(is_empty) && !args.iter().all(is_empty) {
                    let text = "zip(strict=True) of an empty tuple is not supported";
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("compare the lengths first"));
                }
                // Beside nothing there is nothing, of no type.
                if args.is_empty() || args.iter().any(is_empty) {
                    return Ok(Some(Val::tuple(Vec::new())));
                }
                match strict {
                    Some(strict) => {
                        let strict = self.truth(strict)?;
                        let given: Vec<Val> = std::iter::once(strict).chain(args.iter().cloned()).collect();
                        self.call_library("tuples.side_by_side", &given).map(Some)
                    }
                    None => Ok(Some(self.lazy_zip(args))),
                }
            }
            ("builtins.reversed", [x]) => Ok(Some(self.lazy(Lazy::Reversed(x.clone())))),
            ("builtins.map", [f, rest @ ..]) if !rest.is_empty() => {
                Ok(Some(self.lazy(Lazy::Map(f.clone(), rest.to_vec()))))
            }
            // Generators that go on after an exception have no derivative.
            ("builtins.filter", [f, items]) if !self.is_differentiated() => {
                Ok(Some(self.lazy(Lazy::Filter(f.clone(), items.clone()))))
            }
            // Of nothing there is one index.
            ("lancehead.pndindex", [a, ..])
                if self.options.parallel & parallel::PRANGE != 0
                    && a.ty.tuple_elems().is_none_or(|t| !t.is_empty()) =>
            {
                let index = self.ndindex(args)?;
                Ok(Some(self.lazy(Lazy::Parallel(index))))
            }
            ("numpy.ndindex" | "lancehead.pndindex", _) => self.ndindex(args).map(Some),
            ("numpy.ndenumerate", [a]) => Ok(Some(self.lazy(Lazy::NdEnumerate(a.clone())))),
            ("lancehead.typeof", [x]) if !crate::convert::has_pending(x.ty) && !x.ty.is_never() => {
                let o = self.world.type_object(x.ty.strong());
                self.object(o).map(Some)
            }
            // Items of a list have one type.
            ("lancehead.literal_unroll", [t]) if !t.ty.is_tuple() => Ok(Some(t.clone())),
            ("lancehead.literal_unroll", [t]) => {
                let t = self.mixed_items(t).unwrap_or_else(|| t.clone());
                Ok(Some(Val::known(Ty::new(TyKind::Iter(t.ty)), Known::Unroll(t))))
            }
            ("lancehead.literally", [x]) => self.literally(x).map(Some),
            ("builtins.issubclass", [t, c]) if Self::of_exception(t) == Some("__class__") => {
                let e = self.field(t, 0);
                self.exc_match(&e, c).map(Some)
            }
            ("contextlib._GeneratorContextManager", [func, args, named]) => {
                let (args, named) =
                    (self.tuple_parts(args).unwrap_or_default(), self.entries(named).unwrap_or_default());
                self.manager_of(func, &args, &named).map(Some)
            }
            ("builtins.isinstance", [x, c]) if x.ty == Ty::exc() && x.known.is_none() => self.exc_match(x, c).map(Some),
            ("builtins.isinstance", [x, c]) => self.isinstance(x, c).map(Some),
            ("builtins.slice", _) if !args.is_empty() && args.len() <= 3 => {
                let none = Val::constant(Const::None);
                Ok(Some(match args {
                    [b] => self.slice([none.clone(), b.clone(), none]),
                    [a, b] => self.slice([a.clone(), b.clone(), none]),
                    _ => self.slice([args[0].clone(), args[1].clone(), args[2].clone()]),
                }))
            }
            ("builtins.min" | "builtins.max", [_, _, ..])
                if kwargs.is_empty() && args.iter().all(|a| a.ty.is_number() && !a.ty.is_complex()) =>
            {
                self.min_max(args, path == "builtins.max").map(Some)
            }
            ("builtins.pow", [a, b]) if kwargs.is_empty() && a.ty.is_number() && b.ty.is_number() => {
                self.binary(BinOp::Pow, a, b, false).map(Some)
            }
            ("builtins.abs", [x]) if x.ty.is_signed() && self.options.overflow_check => {
                self.call_library("conversions.magnitude", std::slice::from_ref(x)).map(Some)
            }
            ("builtins.abs", [x]) if x.ty.is_float() || x.ty.is_signed() => Ok(Some(self.op("abs", &[x.clone()]))),
            ("builtins.abs", [x]) if let Some(parts) = self.vector_parts(x) => {
                let call = |own: &mut Self, x: &Val| own.call_path(path, std::slice::from_ref(x), &[]);
                let parts = parts.iter().map(|x| call(self, x)).collect::<Result<Vec<_>>>()?;
                self.vector_like(x, &parts).map(Some)
            }
            ("builtins.print", _) => {
                let args = args.iter().map(|a| self.shown(a, "__str__")).collect::<Result<Vec<_>>>()?;
                self.print(&args, kwargs).map(Some)
            }
            ("dataclasses.asdict" | "attr.asdict" | "attr._next_gen.asdict", [x]) if kwargs.is_empty() => {
                self.fields_dict(x).map(Some)
            }
            ("dataclasses.replace" | "attr.evolve", [x]) => self.replaced_fields(x, kwargs).map(Some),
            ("dataclasses.astuple" | "attr.astuple" | "attr._next_gen.astuple", [x]) if kwargs.is_empty() => {
                self.as_tuple(x).map(Some)
            }
            ("dataclasses.fields" | "attr.fields", [x]) if kwargs.is_empty() => self.record_fields(path, x).map(Some),
            ("dataclasses.is_dataclass" | "attr.has", [x]) if kwargs.is_empty() => {
                Ok(Some(Val::bool(self.is_record_class(x))))
            }
            ("builtins.super", _) if kwargs.is_empty() => self.super_of(args).map(Some),
            ("builtins.setattr", [v, name, x]) if v.ty.as_class().is_some() => {
                let name = attribute_name(name)?;
                self.set_class_field(v, &name, x)?;
                Ok(Some(Val::of_type(Ty::none())))
            }
            ("builtins.type", [x]) => self.class_of(x).map(Some),
            ("builtins.getattr", [x, name, rest @ ..]) if rest.len() < 2 => {
                self.getattr(x, name, rest.first()).map(Some)
            }
            ("builtins.hasattr", [x, name]) => {
                let name = attribute_name(name)?;
                let has = !is_numpys_alone(x.ty, &name) && self.get_attr(x, &name).is_ok();
                Ok(Some(Val::bool(has)))
            }
            ("builtins.iter", [x]) => self.iterator(x).map(Some),
            ("builtins.next", [x, rest @ ..]) if is_iterator(x) && rest.len() < 2 => {
                let x = self.iterator(x)?;
                if x.ty.is_never() { Ok(Some(x)) } else { self.next_item(&x, rest.first()).map(Some) }
            }
            ("builtins.list", [x]) if matches!(x.ty.kind(), TyKind::Generator(_)) => self.collect(x).map(Some),
            // Compiled code does not ask for the name of a function, and where it is from.
            ("functools.wraps", [_, ..]) => Ok(Some(self.library_closure(path, Vec::new(), &[]))),
            ("itertools.chain.from_iterable", [all]) if kwargs.is_empty() => {
                let path = self.kept_form("itertools.flat");
                self.call_library(path.as_deref().unwrap_or("itertools.flat"), std::slice::from_ref(all)).map(Some)
            }
            ("contextlib.contextmanager", [func]) if kwargs.is_empty() => {
                Ok(Some(self.library_closure(path, vec![func.clone()], &[])))
            }
            ("functools.partial", [func, rest @ ..]) => Ok(Some(self.partial(func, rest, kwargs))),
            ("operator.itemgetter" | "operator.attrgetter" | "operator.methodcaller", _) => {
                self.getter(path, args, kwargs).map(Some)
            }
            ("builtins.callable", [x]) => Ok(Some(Val::bool(matches!(
                x.ty.kind(),
                TyKind::Func(_) | TyKind::Closure { .. } | TyKind::Choice(_) | TyKind::BoundMethod { .. }
            )))),
            ("builtins.list", [x]) if matches!(x.ty.kind(), TyKind::Iter(_) | TyKind::Range(_)) => {
                self.collect(x).map(Some)
            }
            ("builtins.str" | "builtins.repr" | "builtins.hash", [x])
                if let Some(v) = self.named_call(x, &format!("__{}__", &path["builtins.".len()..]), &[])? =>
            {
                Ok(Some(v))
            }
            ("builtins.str", [x]) if let Some(v) = self.named_call(x, "__repr__", &[])? => Ok(Some(v)),
            ("builtins.repr", [x]) if x.ty == Ty::exc() => self.exception_text(x, "__repr__").map(Some),
            ("builtins.str", [x]) if x.ty == Ty::exc() => self.exception_text(x, "__str__").map(Some),
            ("builtins.tuple", []) => Ok(Some(Val::tuple(Vec::new()))),
            ("builtins.tuple", [x]) => self.tuple_of(x).map(Some),
            ("numpy.dtype" | "numpy.finfo" | "numpy.iinfo", [x]) => self.fold_type_call(path, x).map(Some),
            ("numpy.datetime64" | "numpy.timedelta64", _) => self.make_time(path, args, kwargs).map(Some),
            ("numpy.shape", [x]) if kwargs.is_empty() && x.ty.is_array() => self.get_attr(x, "shape").map(Some),
            ("numpy.ndim", [x]) if kwargs.is_empty() && x.ty.is_array() => self.get_attr(x, "ndim").map(Some),
            ("numpy.size", [x]) if kwargs.is_empty() && x.ty.is_array() => self.get_attr(x, "size").map(Some),
            _ => self.thread_setting(path, args, kwargs),
        }
    }

    /// `getattr(x, "name", default)`
    fn getattr(&mut self, x: &Val, name: &Val, default: Option<&Val>) -> Result<Val> {
        let name = attribute_name(name)?;
        match (self.get_attr(x, &name), default) {
            (Err(d), Some(v)) if matches!(d.id, diag::UNKNOWN_ATTRIBUTE | diag::UNSUPPORTED_TYPE) => Ok(v.clone()),
            (found, _) => found,
        }
    }

    /// `type(x)`
    pub(crate) fn class_of(&mut self, x: &Val) -> Result<Val> {
        if x.ty.is_number() {
            return Ok(Val::of_type(Ty::dtype(x.ty)));
        }
        let unknown = || {
            let text = format!("the class of `{}` is not known in compiled code", x.ty);
            Diagnostic::new(diag::NO_MATCHING_CALL, text).note("ask with `isinstance`")
        };
        let (module, name) = match x.ty.kind() {
            TyKind::Tuple { name: Some(n), .. } => return self.object(n.class),
            TyKind::Instance { .. } if let Some((_, class, _)) = x.ty.as_enum() => return self.object(class),
            TyKind::Instance { .. } if let Some((class, ..)) = x.ty.as_error() => return self.object(class),
            TyKind::Exc => {
                let known = match self.raised_classes(x)[..] {
                    [id] => self.world.exc_object(id),
                    _ => None,
                };
                // Where it may be one of several, or is one of Python's, it has a name only.
                return match known {
                    Some(class) => self.object(class),
                    None => Ok(self.builtin_bound(x, "__class__")),
                };
            }
            TyKind::Tuple { .. } => ("builtins", "tuple"),
            TyKind::Class(c) if x.ty.is_time() => ("numpy", c.class.name()),
            TyKind::Class(c) => {
                let class = self.python_class(c.class).ok_or_else(unknown)?;
                return self.object(class);
            }
            TyKind::Str => ("builtins", "str"),
            TyKind::None => ("types", "NoneType"),
            TyKind::Range(_) => ("builtins", "range"),
            TyKind::Slice(_) => ("builtins", "slice"),
            TyKind::Array { .. } => ("numpy", "ndarray"),
            _ => return Err(unknown()),
        };
        let class = self.world.import(module, Some(name)).ok_or_else(unknown)?;
        self.object(class)
    }

    pub(crate) fn range(&mut self, args: &[Val]) -> Result<Val> {
        let mut ints = Vec::new();
        for a in args {
            let a = self.unwrap_or_say(a, "'NoneType' object cannot be interpreted as an integer")?;
            if !(a.ty.is_int() || a.ty.is_bool() || a.ty.is_float()) {
                let has_length = a.ty.is_array() || a.ty.is_tuple() || a.ty.items().is_some();
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("range() takes integers, not `{}`", a.ty))
                    .note(if has_length { "count its items: `range(len(x))`" } else { "convert it with `int(...)`" }));
            }
            ints.push(self.cast(&a, Ty::int()));
        }
        let parts = match ints.len() {
            1 => vec![Val::int(0), ints[0].clone(), Val::int(1)],
            2 => vec![ints[0].clone(), ints[1].clone(), Val::int(1)],
            3 => ints,
            n => {
                return Err(Diagnostic::new(
                    diag::NO_MATCHING_CALL,
                    format!("range() takes 1 to 3 arguments, not {n}"),
                ));
            }
        };
        if !self.is_stride(&parts[0], &parts[2]) {
            let zero = self.op("eq", &[parts[2].clone(), Val::int(0)]);
            self.raise_if(&zero, crate::emit::exc::VALUE_ERROR, "range() arg 3 must not be zero");
            if self.dead {
                return Ok(Val::of_type(Ty::never()));
            }
        }
        Ok(self.pack(parts, Ty::new(TyKind::Range(Ty::int()))))
    }

    fn ndindex(&mut self, args: &[Val]) -> Result<Val> {
        let shape = match args {
            [t] if t.ty.is_tuple() => self.tuple_parts(t).expect("a tuple"),
            _ => args.to_vec(),
        };
        let shape = shape.iter().map(|s| self.cast(s, Ty::int())).collect();
        Ok(self.lazy(Lazy::NdIndex(shape)))
    }

    /// `min` and `max` of numbers: the first of equal ones, as Python.
    fn min_max(&mut self, args: &[Val], greatest: bool) -> Result<Val> {
        let mut best = args[0].clone();
        for x in &args[1..] {
            let better = self.compare(if greatest { CmpOp::Gt } else { CmpOp::Lt }, x, &best)?;
            if let Some(b) = better.as_bool() {
                best = if b { x.clone() } else { best };
                continue;
            }
            let same = x.ty == best.ty || x.ty.is_weak() == best.ty.is_weak() || self.semantics() == Semantics::Numba;
            let t = if same { unify(best.ty, x.ty, &mut self.pending) } else { promote(best.ty, x.ty) };
            let t = t.ok_or_else(|| self.no_op("min", best.ty, x.ty))?;
            let (a, b) = (self.cast(x, t), self.cast(&best, t));
            best = self.op("select", &[better, a, b]);
        }
        Ok(best)
    }

    /// Whether a value is a `dict`, from which those of `collections` derive.
    fn is_dictionary(&self, x: &Val) -> bool {
        let is_table = |c: Class| c.is_of_python() && c.parameter("V").is_some();
        x.ty.class().is_some_and(is_table) || self.entries(x).is_some()
    }

    pub(crate) fn isinstance(&mut self, x: &Val, c: &Val) -> Result<Val> {
        if is_several(x) {
            return self.each(std::slice::from_ref(x), &|_, _| None, &mut |own, x| own.isinstance(&x[0], c));
        }
        if let Some(parts) = self.tuple_parts(c) {
            let mut any = Val::bool(false);
            for p in parts {
                let e = self.isinstance(x, &p)?;
                any = self.either(&any, &e);
            }
            return Ok(any);
        }
        if x.ty == Ty::exc() || x.ty.as_error().is_some() {
            let e = self.plain_exception(x);
            return self.exc_is_instance(&e, c);
        }
        if let TyKind::Optional(t) = x.ty.kind() {
            let has = self.is_none(x, true);
            let inner = match t.several() {
                _ if *t == Ty::exc() => self.exc_unwrapped(x),
                // The inside of an empty optional is zeros: the first of several.
                Some(_) => {
                    let v = self.value(x);
                    self.push(lh_ir::func::Inst::Unwrap(v), *t)
                }
                None => Val::of_type(*t),
            };
            let inner = self.isinstance(&inner, c)?;
            return Ok(self.both(&has, &inner));
        }
        if x.ty.is_pyobject() {
            return self.object_isinstance(x, c);
        }
        Ok(Val::bool(self.is_of_class(x, c)?))
    }

    /// Whether the type of a value is that of a class.
    fn is_of_class(&mut self, x: &Val, c: &Val) -> Result<bool> {
        let t = x.ty;
        Ok(match c.ty.kind() {
            TyKind::DType(d) => is_of_number_class(t, *d),
            TyKind::Obj(o) if t.is_struct() => self.derives(t, *o),
            TyKind::Obj(o) => match self.world.object(*o) {
                Object::Path(p) => match p.as_str() {
                    p if crate::calls::times::is_of_class(t, p) => true,
                    "numpy.ndarray" => t.is_array(),
                    // `x.dtype` and `np.float64` have one type.
                    "numpy.dtype" if matches!(t.kind(), TyKind::DType(_)) => {
                        return Err(Diagnostic::new(
                            diag::NEEDS_CONSTANT,
                            "it is not known while compiling whether this is a dtype or a class of numbers",
                        )
                        .note("compare dtypes by `==`, or ask `np.issubdtype`"));
                    }
                    "builtins.tuple" => t.is_tuple() || t.class().is_some_and(Class::is_tuple),
                    "builtins.list" if t.class().is_some_and(Class::is_mixed) => true,
                    "builtins.dict" if self.is_dictionary(x) => true,
                    "builtins.str" => t.native() == Ty::str(),
                    "builtins.NoneType" | "types.NoneType" => t.is_none(),
                    "builtins.range" => matches!(t.kind(), TyKind::Range(_)),
                    "builtins.slice" => matches!(t.kind(), TyKind::Slice(_)),
                    "numpy.integer" => t.is_int(),
                    "numpy.signedinteger" => t.is_signed(),
                    "numpy.unsignedinteger" => t.is_int() && !t.is_signed(),
                    "numpy.floating" => t.is_float(),
                    "numpy.inexact" => t.is_float() || t.is_complex(),
                    "numpy.complexfloating" => t.is_complex(),
                    "numpy.number" => t.is_number() && !t.is_bool(),
                    "numpy.generic" => t.is_number(),
                    "builtins.object" => true,
                    p if t.as_buffer().map(|b| b.path()).or(t.class().map(Class::path)) == Some(p) => true,
                    "builtins.list" => false,
                    "lancehead.typed.List" => t.class() == Some(Class::list()),
                    "lancehead.typed.Dict" => t.class() == Some(Class::dict()) || self.is_dictionary(x),
                    "lancehead.typed.Set" => t.class() == Some(Class::set()),
                    _ => self.is_of_base(t, *o).map_or_else(|| self.known_class(*o, c), Ok)?,
                },
                Object::NamedTupleClass(n) => matches!(t.kind(), TyKind::Tuple { name: Some(m), .. } if *m == n),
                Object::Type(want) => t == want,
                Object::EnumClass(e) => t == e.ty(),
                Object::Class(wanted) => t.class() == Some(wanted.class) || self.derives(t, *o),
                _ => self.is_of_base(t, *o).map_or_else(|| self.known_class(*o, c), Ok)?,
            },
            _ => {
                return Err(Diagnostic::new(
                    diag::NEEDS_CONSTANT,
                    format!("`{}` is not a class known while compiling", c.ty),
                ));
            }
        })
    }

    /// Whether the class of instances derives from another.
    fn derives(&mut self, t: Ty, base: ObjId) -> bool {
        let Some(user) = t.class().and_then(Class::user) else { return false };
        let class = if user.is_struct { self.world.attr(user.class, "__proxy__") } else { Some(user.class) };
        let Some(order) = class.and_then(|class| self.world.attr(class, "__mro__")) else { return false };
        matches!(self.world.object(order), Object::Tuple(classes, _) if classes.contains(&base))
    }

    /// No value is of a class that has no meaning here. Other objects than classes, and abstract classes, are refused.
    fn known_class(&mut self, o: ObjId, c: &Val) -> Result<bool> {
        if self.world.attr(o, "__mro__").is_none() {
            let text = format!("isinstance() asks for a class, not `{}`", c.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        }
        if self.world.attr(o, "_abc_impl").is_some() {
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, "isinstance() of an abstract class is not supported")
                .note("ask for the classes themselves, such as `(int, float)`"));
        }
        Ok(false)
    }

    fn print(&mut self, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let named = |n: &str, d: &str| {
            let v = kwargs.iter().find(|(k, _)| k == n).map(|(_, v)| v.clone());
            v.filter(|v| !v.ty.is_none()).unwrap_or(Val::str(d))
        };
        const KNOWN: [&str; 3] = ["sep", "end", "flush"];
        if let Some((k, _)) = kwargs.iter().find(|(k, _)| !KNOWN.contains(&k.as_str())) {
            let text = format!("`print` has no argument `{k}` in compiled code");
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).instead_of(KNOWN));
        }
        let (sep, end) = (named("sep", " "), named("end", "\n"));
        for (i, a) in args.iter().enumerate() {
            if i > 0 {
                self.runtime(&rt::lh_print_str, &[sep.clone()], Ty::none())?;
            }
            self.print_value(a)?;
        }
        self.runtime(&rt::lh_print_str, &[end], Ty::none())?;
        self.runtime(&rt::lh_print_flush, &[], Ty::none())
    }

    /// Prints the text of a value; a GPU, which has no texts, formats numbers itself.
    fn print_value(&mut self, a: &Val) -> Result<Val> {
        let geometry = self.geometry_parts(a)?;
        let a = geometry.as_ref().unwrap_or(a);
        let t = a.ty;
        let on_gpu = self.options.device == Device::Gpu;
        if t.extension().is_some() {
            // The program may print by Python's means, which know nothing of what is waiting to be written.
            self.runtime(&rt::lh_print_flush, &[], Ty::none())?;
            if let Some(done) = self.struct_operation(IMPLICIT, "print_item", &[a])? {
                return Ok(done);
            }
        }
        if let Some(text) = self.user_text(a, true)? {
            return self.runtime(&rt::lh_print_str, &[text], Ty::none());
        }
        if let Some(text) = self.instance_text(a)? {
            return self.runtime(&rt::lh_print_str, &[text], Ty::none());
        }
        let (f, operands) = match t.kind() {
            TyKind::Str => (&rt::lh_print_str, vec![a.clone()]),
            TyKind::None if on_gpu => (&rt::lh_print_none, vec![]),
            TyKind::Bool if on_gpu => (&rt::lh_print_bool, vec![a.clone()]),
            TyKind::Int { signed: true, .. } if on_gpu => (&rt::lh_print_i64, vec![self.cast(a, Ty::i64())]),
            TyKind::Int { .. } if on_gpu => (&rt::lh_print_u64, vec![self.cast(a, Ty::u64())]),
            TyKind::Float { bits: 32, .. } if on_gpu => (&rt::lh_print_f32, vec![a.clone()]),
            TyKind::Float { bits: 16, .. } | TyKind::Bfloat16 if on_gpu => {
                (&rt::lh_print_f32, vec![self.cast(a, Ty::f32())])
            }
            TyKind::Float { .. } if on_gpu => (&rt::lh_print_f64, vec![a.clone()]),
            TyKind::Complex { .. } if on_gpu => {
                let parts = [self.field(a, 0), self.field(a, 1)];
                (&rt::lh_print_complex, parts.iter().map(|p| self.cast(p, Ty::f64())).collect())
            }
            _ => (&rt::lh_print_str, vec![self.call_library("text.text_of", std::slice::from_ref(a))?]),
        };
        self.runtime(f, &operands, Ty::none())
    }

    /// `np.dtype(x)`, `np.finfo(x)`, `np.iinfo(x)`: done while compiling.
    fn fold_type_call(&mut self, path: &str, x: &Val) -> Result<Val> {
        if path == "numpy.dtype" {
            return Ok(Val::of_type(Ty::dtype(self.named_dtype(x)?)));
        }
        let t = self.as_dtype(x)?;
        let name = self.world.object_of(&Const::Str(t.strong().to_string()));
        let numpy = self.world.import("numpy", None);
        let callee = numpy.and_then(|n| self.world.attr(n, path.trim_start_matches("numpy.")));
        match callee.and_then(|c| self.world.fold_call(c, &[name])) {
            Some(o) => Ok(Val::of_type(Ty::new(TyKind::Obj(o)))),
            None => Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{path}` of `{t}` has no meaning"))),
        }
    }

    /// The scalar type that the program names: a type or a string, but no value of the type.
    pub(crate) fn named_dtype(&mut self, x: &Val) -> Result<Ty> {
        if x.ty.is_number() {
            let text = format!("a dtype is needed here, not a value of type `{}`", x.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text)
                .note("write a class, a name such as `\"f4\"`, or `x.dtype`"));
        }
        self.as_dtype(x)
    }

    /// The scalar type that the library means: a type, a value of one, or a string.
    pub(crate) fn as_dtype(&mut self, x: &Val) -> Result<Ty> {
        if let TyKind::DType(t) = x.ty.kind() {
            return Ok(*t);
        }
        if x.ty.is_number() {
            return Ok(x.ty.strong());
        }
        if let Some(vector) = self.vector_class(x) {
            return Ok(vector);
        }
        if let Some((unit, is_span)) = x.as_str().and_then(TimeUnit::of_dtype) {
            return Ok(unit.ty(is_span));
        }
        if let TyKind::Obj(o) = x.ty.kind()
            && let Object::Path(p) = self.world.object(*o)
            && let Some((unit, is_span)) = p.strip_prefix("numpy.").and_then(TimeUnit::of_dtype)
        {
            return Ok(unit.ty(is_span));
        }
        let parsed = x.as_str().and_then(|s| {
            // The byte order of the machine may be said before a short code.
            let code = s.strip_prefix(['<', '=', '|']).filter(|c| c.len() <= 3 && c.ends_with(char::is_numeric));
            Some(match code.unwrap_or(s) {
                "bool" | "?" | "b1" => Ty::bool(),
                "int8" | "i1" | "b" => Ty::i8(),
                "int16" | "i2" | "h" => Ty::i16(),
                "int32" | "i4" | "i" => Ty::i32(),
                "int64" | "i8" | "l" | "q" | "int" | "intp" => Ty::i64(),
                "uint8" | "u1" | "B" => Ty::u8(),
                "uint16" | "u2" | "H" => Ty::u16(),
                "uint32" | "u4" | "I" => Ty::u32(),
                "uint64" | "u8" | "L" | "Q" | "uint" | "uintp" => Ty::u64(),
                "float16" | "f2" | "e" | "half" => Ty::f16(),
                "bfloat16" => Ty::bf16(),
                "float32" | "f4" | "f" | "single" => Ty::f32(),
                "float64" | "f8" | "d" | "float" | "double" => Ty::f64(),
                "complex64" | "c8" | "F" => Ty::c64(),
                "complex128" | "c16" | "D" | "complex" => Ty::c128(),
                _ => return text_dtype(s),
            })
        });
        parsed.ok_or_else(|| self.no_dtype(x))
    }

    fn no_dtype(&mut self, x: &Val) -> Box<Diagnostic> {
        let text = match (x.as_str(), x.ty.kind()) {
            (Some(s), _) => s.to_owned(),
            (None, TyKind::Obj(o)) => self.world.describe(*o),
            _ => String::new(),
        };
        let help = match text.trim_start_matches("builtins.").trim_start_matches("numpy.") {
            "str" | "str_" | "U" => "texts in arrays have a length: `\"U20\"`; or make a list, `[str(x) for x in a]`",
            "bytes" | "bytes_" | "S" => "bytes in arrays have a length: `\"S20\"`",
            "object" | "object_" | "O" => "use a list for objects; arrays hold numbers, records, and texts of a length",
            _ => "write it as `np.float64` and the like",
        };
        let text = if text.is_empty() { x.ty.to_string() } else { text };
        Diagnostic::new(diag::NEEDS_CONSTANT, format!("`{text}` is not a dtype known while compiling")).note(help)
    }
}

/// Whether values of a type are instances of a class of numbers.
fn is_of_number_class(t: Ty, class: Ty) -> bool {
    match class.kind() {
        TyKind::Int { weak: true, .. } => t.native().is_int() || t.is_bool(),
        TyKind::Float { weak: true, .. } => t.native().is_float() && t.native().bits() == 64,
        TyKind::Complex { weak: true, .. } => t.is_complex() && t.bits() == 128,
        TyKind::Bool => t.is_bool(),
        _ => t.strong() == class,
    }
}

/// The dtype of texts of fixed length that a text means: `U5`, `<U5`, `S5`.
fn text_dtype(s: &str) -> Option<Ty> {
    let s = s.strip_prefix(['<', '|', '=']).unwrap_or(s);
    let chars = [Chars::Bytes, Chars::CodePoints].into_iter().find(|c| s.starts_with(c.letter()))?;
    let n: usize = s[1..].parse().ok().filter(|n| (1..1 << 24).contains(n))?;
    Some(Ty::new(TyKind::Record(Record::text(chars, n * chars.size()))))
}

/// Keywords that builtins have which are answered here; those of the others are the parameters of library functions.
fn keywords_of(path: &str) -> Option<&'static [&'static str]> {
    Some(match path {
        "builtins.enumerate" => &["start"],
        "builtins.zip" => &["strict"],
        "builtins.abs"
        | "builtins.callable"
        | "builtins.getattr"
        | "builtins.hasattr"
        | "builtins.isinstance"
        | "builtins.iter"
        | "builtins.len"
        | "builtins.list"
        | "builtins.map"
        | "builtins.next"
        | "builtins.range"
        | "builtins.reversed"
        | "builtins.slice"
        | "builtins.tuple"
        | "builtins.type"
        | "lancehead.literal_unroll"
        | "lancehead.literally"
        | "lancehead.typeof"
        | "lancehead.pndindex"
        | "lancehead.prange"
        | "numpy.dtype"
        | "numpy.finfo"
        | "numpy.iinfo"
        | "numpy.ndenumerate"
        | "numpy.ndindex" => &[],
        _ => return None,
    })
}

/// Refuses keywords that a builtin does not have.
pub(super) fn check_keywords(path: &str, kwargs: &[(String, Val)]) -> Result<()> {
    let Some(known) = keywords_of(path) else { return Ok(()) };
    match kwargs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => {
            let path = path.trim_start_matches("builtins.");
            let text = format!("`{path}` has no argument `{name}` in compiled code");
            Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).instead_of(known.iter().copied()))
        }
        None => Ok(()),
    }
}

/// Whether a number that may be Python's has an attribute only where it is NumPy's: programs tell arrays by `shape`.
fn is_numpys_alone(t: Ty, name: &str) -> bool {
    const PYTHONS: &[&str] = &[
        "as_integer_ratio",
        "bit_count",
        "bit_length",
        "conjugate",
        "denominator",
        "fromhex",
        "from_bytes",
        "hex",
        "imag",
        "is_integer",
        "numerator",
        "real",
        "to_bytes",
    ];
    let may_be_pythons = t.is_bool() || [Ty::int(), Ty::float(), Ty::complex()].contains(&t.weak());
    may_be_pythons && !PYTHONS.contains(&name)
}

/// Whether `next` takes a value.
fn is_iterator(v: &Val) -> bool {
    is_generator(v) || is_description(v)
}

/// The tuple that `literal_unroll` was given.
fn unrolled(v: &Val) -> Option<&Val> {
    match v.known.as_deref() {
        Some(Known::Unroll(t)) => Some(t),
        _ => None,
    }
}

/// The name that `getattr` and `hasattr` are given.
fn attribute_name(name: &Val) -> Result<String> {
    name.as_str().map(str::to_owned).ok_or_else(|| {
        Diagnostic::new(diag::NEEDS_CONSTANT, "the name of the attribute must be a string known while compiling")
    })
}
