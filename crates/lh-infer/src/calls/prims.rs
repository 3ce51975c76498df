//! `prim.*`: what the library dialect may do beyond Python.

use crate::convert::{comparable, promote};
use crate::cx::Infer;
use crate::emit::ArrayParts;
use crate::operations::operators::{Kernel, element};
use crate::val::{Lazy, Val};
use crate::world::{ArgTy, Object};
use lh_ir::Ty;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{self, Device, Extern, Inst, LoopHint, MapExpr, parallel};
use lh_ir::types::{Buffer, Chars, ClassTy, Layout, TyKind};
use lh_ops::runtime as rt;

/// Most items of a tuple that a number says the length of.
const MOST_ITEMS: usize = 1 << 16;

/// The common type of two types of records, or of two types of texts: the longer one.
fn records_type(a: Ty, b: Ty) -> Option<Ty> {
    let of_same_kind = a.chars().is_some() && a.chars() == b.chars();
    (a == b && a.as_record().is_some() || of_same_kind).then(|| if a.itemsize() < b.itemsize() { b } else { a })
}

impl Infer<'_> {
    /// A call of a prim.
    pub(crate) fn prim(&mut self, name: &str, args: &[Val]) -> Result<Val> {
        if let Some(b) = self.prim_question(name, args) {
            return Ok(Val::bool(b));
        }
        if name == "blocks" {
            let range = self.range(args)?;
            return Ok(self.lazy(Lazy::Parallel(range)));
        }
        if let Some(v) = self.prim_type(name, args)? {
            return Ok(v);
        }
        if let Some(v) = self.prim_time(name, args)? {
            return Ok(v);
        }
        if let Some(v) = self.prim_array(name, args)? {
            return Ok(v);
        }
        if let Some(v) = self.prim_items(name, args)? {
            return Ok(v);
        }
        if let Some(v) = self.prim_tuple(name, args)? {
            return Ok(v);
        }
        if let Some(made) = self.prim_derivative(name, args)? {
            return Ok(made);
        }
        if let Some(v) = self.prim_memo(name, args)? {
            return Ok(v);
        }
        if name.starts_with(rt::PREFIX) {
            return self.prim_runtime(name, args);
        }
        match lh_ops::row(name) {
            Some(op) => self.prim_row(op, args),
            None => lh_ir::bug!("no prim `{name}`"),
        }
    }

    fn prim_row(&mut self, op: &'static lh_ir::Op, args: &[Val]) -> Result<Val> {
        let mut args = args.to_vec();
        let from = usize::from(matches!(op.sig, lh_ir::op::Sig::Select(_)));
        let tys: Vec<Ty> = args.iter().map(|a| a.ty).collect();
        if op.sig.result(&tys, None).is_none() && tys[from..].iter().all(|t| t.is_number()) && tys.len() > from {
            let t = tys[from..].iter().copied().reduce(|a, b| promote(a, b).expect("numbers")).expect("not empty");
            for a in &mut args[from..] {
                *a = self.cast(a, t);
            }
        }
        let tys: Vec<Ty> = args.iter().map(|a| a.ty).collect();
        if op.sig.result(&tys, None).is_none() {
            return Err(Diagnostic::new(
                diag::NO_MATCHING_CALL,
                format!("`{}` is not defined for {}", op.name, list_types(&tys)),
            ));
        }
        Ok(self.op_row(op, &args, None))
    }

    fn prim_runtime(&mut self, name: &str, args: &[Val]) -> Result<Val> {
        use lh_ir::types::Prim;
        let Some(f) = lh_ops::runtime::find(name) else {
            // One of those for each type of elements, which comes first.
            let t = self.as_dtype(&args[0])?;
            let letter = [(t.is_float(), 'f'), (t.is_complex(), 'c'), (t.is_signed(), 'i'), (true, 'u')];
            let letter = letter.iter().find(|(is_it, _)| *is_it).map_or('u', |l| l.1);
            return self.prim_runtime(&format!("{name}_{letter}{}", 8 * t.itemsize()), &args[1..]);
        };
        let ret = match f.ret {
            [] => Ty::none(),
            [Prim::I1] => Ty::bool(),
            [Prim::I8] => Ty::i8(),
            [Prim::I16] => Ty::i16(),
            [Prim::I32] => Ty::i32(),
            [Prim::I64] => Ty::int(),
            [Prim::F64] => Ty::float(),
            [Prim::F32] => Ty::f32(),
            [Prim::Ptr] => Ty::ptr(),
            [Prim::Mem, Prim::Ptr, Prim::I64] => Ty::str(),
            [Prim::Mem, Prim::Ptr] => Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]),
            [Prim::I64, Prim::I64] => Ty::tuple(vec![Ty::int(); 2]),
            [Prim::F64, Prim::F64] => Ty::complex(),
            [Prim::F32, Prim::F32] => Ty::c64(),
            other => lh_ir::bug!("`{name}` gives {other:?}"),
        };
        self.runtime(f, args, ret)
    }

    /// The name that the text of a class has.
    fn factory_name(&mut self, class: &Val) -> Result<String> {
        let unknown = || {
            Diagnostic::new(diag::NO_MATCHING_CALL, "no text form is known for a `defaultdict` of such a factory")
                .note("take the text of `dict(x)`")
        };
        match class.ty.kind() {
            TyKind::DType(t) => {
                let name = t.to_string();
                let is_python = matches!(name.as_str(), "int" | "float" | "bool" | "complex");
                Ok(if is_python { name } else { format!("numpy.{name}") })
            }
            TyKind::Obj(o) => match self.world.object(*o) {
                Object::Path(path) => path.strip_prefix("builtins.").map(str::to_owned).ok_or_else(unknown),
                _ => Err(unknown()),
            },
            _ => Err(unknown()),
        }
    }

    /// Questions about types, answered while typing.
    #[expect(clippy::too_many_lines, reason = "a table: one arm for each question")]
    fn prim_question(&self, name: &str, args: &[Val]) -> Option<bool> {
        let own = args.first().map_or(Ty::none(), |a| a.ty);
        // Number classes are asked of dtypes too.
        let t = match own.kind() {
            TyKind::DType(d) => *d,
            // Members of an `IntEnum` are integers.
            TyKind::Instance { of, .. } if of.is_number() && own.as_enum().is_none_or(|(_, _, values)| values) => *of,
            _ => own,
        };
        Some(match name {
            "is_int" => t.is_int(),
            "is_float" => t.is_float(),
            "is_complex" => t.is_complex(),
            "is_bool" => t.is_bool(),
            "is_number" => own.is_number(),
            "is_scalar" => own.is_scalar(),
            "is_time" => element(t).is_time(),
            "is_span" => t.as_time().is_some_and(|(_, is_span)| is_span),
            "is_point" => t.as_time().is_some_and(|(_, is_span)| !is_span),
            "is_calendar" => t.as_time().is_some_and(|(unit, _)| unit.is_calendar()),
            "is_like" => args.get(1).is_some_and(|b| crate::calls::times::are_like(t, b.ty)),
            // Whether a value is `bytes` or a `bytearray`.
            "is_bytes" => matches!(own.as_buffer(), Some(Buffer::Bytes | Buffer::ByteArray)),
            // Whether a value is memory of any class.
            "is_buffer" => own.as_buffer().is_some(),
            // Whether a value is `bytes`.
            "is_frozen" => own.as_buffer() == Some(Buffer::Bytes),
            "is_record" => t.as_record().is_some(),
            // Whether a value is a text of fixed length, or an array of such, and whether that is of bytes.
            "is_chars" => element(t).chars().is_some(),
            "is_char_bytes" => element(t).chars() == Some(Chars::Bytes),
            "is_array" => t.is_array(),
            // Whether a value is an instance of the class at a path, or at one of several.
            "is_a" => t.class().is_some_and(|c| args[1..].iter().any(|path| path.as_str() == Some(c.path()))),
            // Whether a value is a dictionary of any class, or a set of any.
            "is_dict" => is_of_kind(t, Class::dict()),
            "is_set" => is_of_kind(t, Class::set()),
            "is_tuple" => t.is_tuple(),
            "is_plain_tuple" => matches!(t.kind(), TyKind::Tuple { name: None, .. }),
            "is_str" => t == Ty::str(),
            "is_none" => t.is_none(),
            "is_dtype" => matches!(own.kind(), TyKind::DType(_)),
            "is_signed" => t.is_signed(),
            "is_weak" => t.is_weak(),
            "is_slice" => matches!(t.kind(), TyKind::Slice(_)),
            "is_range" => matches!(t.kind(), TyKind::Range(_)),
            "is_func" => {
                let is_other = matches!(t.kind(), TyKind::DType(_) | TyKind::Instance { .. });
                matches!(t.kind(), TyKind::BoundMethod { .. }) || t.is_function() && !is_other
            }
            "is_closure" => matches!(t.kind(), TyKind::Closure { captures, .. } if !captures.is_empty()),
            // Whether values of both types can be equal.
            "is_comparable" => args.get(1).is_some_and(|b| comparable(own, b.ty)),
            "is_optional" => matches!(t.kind(), TyKind::Optional(_)),
            "is_exc" => t == Ty::exc(),
            // Whether a value is a dictionary whose keys are known.
            "is_entries" => args.first().is_some_and(|a| self.entries(a).is_some()),
            // Whether a value is an instance of a class that a program defines.
            "is_user" => own.several().is_some() || own.class().is_some_and(|c| c.user().is_some()),
            // Whether a value is, or holds, something else than integers, truth values, texts and `None`.
            "is_differentiable" => own.mentions(&|t| {
                let is_container = t.is_tuple() || t.class().is_some_and(|c| c.user().is_none());
                !(t.is_int() || t.is_bool() || t == Ty::str() || t == Ty::none() || is_container)
            }),
            "is_enum" => own.as_enum().is_some(),
            "is_extension" => own.extension().is_some(),
            // Whether an exception can carry a value.
            "is_carried" => is_argument(own),
            "is_const" => args.first().is_some_and(|a| a.as_const().is_some()),
            "is_readonly" => matches!(t.kind(), TyKind::Array { readonly: true, .. }),
            "numpy_errors" => self.options.numpy_errors,
            "checks_overflow" => self.options.overflow_check,
            "boundscheck" => self.options.boundscheck,
            "is_differentiated" => self.options.derivative != func::Derivative::None,
            "on_gpu" => self.options.device == Device::Gpu,
            "in_kernel" => self.options.device != Device::Host,
            "parallel_reductions" => self.options.parallel & parallel::REDUCTION != 0,
            _ => return None,
        })
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each prim")]
    fn prim_type(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let dtype = |t: Ty| Val::of_type(Ty::dtype(t));
        Ok(Some(match (name, args) {
            ("cast", [x, d]) => {
                let t = self.as_dtype(d)?;
                let mut x = self.unwrap_optional(x)?;
                if t.is_time() {
                    return self.call_library("times.element", &[x, Val::of_type(Ty::dtype(t))]).map(Some);
                }
                if t.as_record().is_some() {
                    return Ok(Some(x));
                }
                if matches!(x.ty.as_enum(), Some((_, _, true))) {
                    x = self.field(&x, 0);
                }
                if !x.ty.is_number() {
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` is not a number", x.ty)));
                }
                if x.ty.is_complex() && !t.is_complex() {
                    let re = self.field(&x, 0);
                    self.cast(&re, t)
                } else {
                    self.cast(&x, t)
                }
            }
            ("dtype_of", [x]) => match x.ty.kind() {
                TyKind::DType(t) => dtype(*t),
                TyKind::Class(ClassTy { items: Some(t), .. }) if t.is_scalar() => dtype(*t),
                TyKind::Range(t) => dtype(*t),
                _ => {
                    let t = element(x.ty);
                    let t = t.native();
                    if !(t.is_scalar() || t.is_never() || matches!(t.kind(), TyKind::Record(_) | TyKind::Pending(..))) {
                        let text = format!("`{}` is no element of an array", x.ty);
                        return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                    }
                    dtype(t)
                }
            },
            ("as_dtype", [x]) => dtype(self.named_dtype(x)?.strong()),
            ("order", [x, default, allowed @ ..]) => {
                let order = named_order(x, default)?;
                if let Some(allowed) = allowed.first().and_then(Val::as_str).filter(|a| !a.contains(order)) {
                    let text = format!("the order is one of {allowed:?} here, not {order:?}");
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                Val::str(order)
            }
            ("result_type", [first, rest @ ..]) => {
                let of = |v: &Val| match v.ty.kind() {
                    TyKind::DType(t) => *t,
                    TyKind::Class(ClassTy { items: Some(t), .. }) => *t,
                    _ => element(v.ty),
                };
                let mut t = of(first);
                for r in rest {
                    let u = of(r);
                    let both = promote(t, u).or_else(|| crate::calls::times::promote(t, u));
                    t = both.or_else(|| records_type(t, u)).ok_or_else(|| self.no_op("result_type", t, u))?;
                }
                dtype(t)
            }
            // The position of a member of an enumeration, or its value where members are integers.
            ("enum_word", [x]) => self.field(x, 0),
            ("factory_name", [x]) => Val::str(self.factory_name(x)?),
            ("class_name", [x]) => match x.ty.kind() {
                TyKind::Tuple { name: Some(n), .. } => Val::str(n.name.as_str()),
                TyKind::Class(c) if c.class.user().is_none() => Val::str(c.class.name()),
                _ => Val::str(x.ty.as_enum().map_or("", |(class, ..)| class)),
            },
            ("cache_operator", [how]) => {
                let place = lh_ops::runtime::CACHE_OPERATORS.iter().position(|o| how.as_str() == Some(*o));
                Val::int(place.unwrap_or_else(|| lh_ir::bug!("no cache operator {:?}", how.as_str())) as i128)
            }
            // The number of the type of an array's elements, for the interpreter.
            ("type_number", [x]) => {
                let number = element(x.ty).number() as u32;
                self.push(Inst::Extern(Extern::Type(number)), Ty::int())
            }
            // The address of a record.
            ("record_data", [x]) => self.field(x, 1),
            // The numbers of `bytes`, as an array.
            ("bytes_array", [x]) => self.memory(x)?,
            // The object that holds the memory of a `bytearray`.
            ("storage", [x]) => self.field(x, 0),
            ("bytes_of", [a]) => self.bytes_of(a, Buffer::Bytes)?,
            ("bytearray_of", [a]) => self.bytes_of(a, Buffer::ByteArray)?,
            // A view of the memory of bytes or of an array.
            ("memoryview_of", [x]) => {
                let array = if x.ty.as_buffer().is_some() { self.exported(x)? } else { x.clone() };
                let ty = Ty::buffer(array.ty, Buffer::MemoryView);
                self.pack(vec![array], ty)
            }
            ("real_dtype", [d]) => dtype(self.as_dtype(d)?.real_part()),
            ("strong", [d]) => dtype(self.as_dtype(d)?.strong()),
            ("itemsize", [d]) => Val::int(self.as_dtype(d)?.itemsize() as i128),
            ("min_of" | "max_of", [d]) => {
                let t = self.as_dtype(d)?;
                self.extreme(t, name == "max_of")
            }
            ("error", [first, ..]) => {
                // Values among texts are told by their types.
                let said = args.iter().skip_while(|a| a.as_str().is_none());
                let text: String =
                    said.map(|a| a.as_str().map_or_else(|| format!("`{}`", a.ty), str::to_owned)).collect();
                let text = if text.is_empty() { format!("not supported for `{}`", first.ty) } else { text };
                return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
            }
            ("complex", [re, im]) => {
                let t = match re.ty.kind() {
                    TyKind::Float { bits: 32, .. } => Ty::c64(),
                    TyKind::Float { weak: true, .. } => Ty::complex(),
                    _ => Ty::c128(),
                };
                let (re, im) = (self.cast(re, t.real_part()), self.cast(im, t.real_part()));
                self.pack(vec![re, im], t)
            }
            ("example", [c]) => {
                let t = match c.ty.kind() {
                    TyKind::Class(ClassTy { items: Some(t), .. }) | TyKind::Range(t) | TyKind::Optional(t) => *t,
                    TyKind::Array { dtype, ndim: 0 | 1, .. } => *dtype,
                    TyKind::Array { dtype, ndim, readonly, .. } => {
                        Ty::array_ro(*dtype, *ndim as usize - 1, crate::emit::any_layout(*ndim as usize - 1), *readonly)
                    }
                    TyKind::Tuple { elems, .. } if !elems.is_empty() => elems[0],
                    TyKind::Str => Ty::str(),
                    TyKind::Pending(..) => return Ok(Some(Val::of_type(Ty::never()))),
                    _ => c.ty,
                };
                if t.flatten().is_empty() { Val::of_type(t) } else { self.push(Inst::Zero, t) }
            }
            // A value of the type that a call gives, which is not made.
            ("result_of", [f, given @ ..]) => {
                let t = self.call_type(f, given)?;
                if t.flatten().is_empty() { Val::of_type(t) } else { self.push(Inst::Zero, t) }
            }
            ("is_commutative", [f]) => Val::bool(self.is_commutative(f)?),
            ("ufunc_identity", [u]) => self.ufunc_identity(u)?,
            ("layout", [a]) => Val::str(match a.ty.as_array() {
                Some((_, _, Layout::C, _)) => "C",
                Some((_, _, Layout::F, _)) => "F",
                _ => "A",
            }),
            _ => return Ok(None),
        }))
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each prim")]
    fn prim_array(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        Ok(Some(match (name, args) {
            ("alloc" | "calloc", [n]) => {
                let t = Ty::tuple(vec![Ty::meminfo(), Ty::ptr()]);
                self.runtime(if name == "alloc" { &rt::lh_alloc } else { &rt::lh_calloc }, &[n.clone()], t)?
            }
            ("array", [owner, data, shape, strides, d, layout]) => {
                let t = self.as_dtype(d)?;
                let ints = |cx: &mut Self, v: &Val| -> Vec<Val> {
                    let parts = if v.ty.is_tuple() { cx.tuple_parts(v).expect("a tuple") } else { vec![v.clone()] };
                    parts.iter().map(|p| cx.cast(p, Ty::int())).collect()
                };
                let (shape, strides) = (ints(self, shape), ints(self, strides));
                let layout = match layout.as_str() {
                    Some("C") => Layout::C,
                    Some("F") => Layout::F,
                    _ => Layout::A,
                };
                let ty = Ty::array(t, shape.len(), layout);
                let parts = ArrayParts { owner: owner.clone(), data: data.clone(), shape, strides };
                self.make_array(&parts, ty)
            }
            ("readonly", [a]) => {
                let (d, ndim, layout, _) = a.ty.as_array().ok_or_else(|| self.no_op("readonly", a.ty, a.ty))?;
                let parts = self.array_parts(a);
                self.make_array(&parts, Ty::array_ro(d, ndim, layout, true))
            }
            // The owner of memory that outlives every use of it.
            ("nobody", []) => self.push(Inst::Zero, Ty::meminfo()),
            ("no_owner", []) => self.push(Inst::Zero, Ty::meminfo()),
            ("address", [p]) if p.ty.pointee().is_some() => self.field(p, 0),
            ("address", [p]) if p.ty == Ty::ptr() => p.clone(),
            ("pointee", [p, d]) => Val::of_type(Ty::dtype(pointee(p.ty, d.ty)?)),
            ("owner", [a]) => {
                let v = self.value(a);
                self.push(Inst::ArrayOwner(v), Ty::meminfo())
            }
            ("data", [a]) => {
                let v = self.value(a);
                self.push(Inst::ArrayData(v), Ty::ptr())
            }
            ("element_pointer" | "writable_element_pointer", [a, i]) => {
                if name == "writable_element_pointer" {
                    self.check_writable(a.ty)?;
                }
                let index = if i.ty.is_tuple() { self.tuple_parts(i).expect("a tuple") } else { vec![i.clone()] };
                Val::new(Ty::ptr(), self.element_address(a, &index))
            }
            ("load", [p, d]) => {
                let t = match d.ty.kind() {
                    TyKind::Obj(_) => self.type_meant(d),
                    _ => self.as_dtype(d)?,
                };
                let p = self.value(p);
                self.push(Inst::Load(p), t)
            }
            ("store", [p, x]) => {
                let (p, x) = (self.value(p), self.value(x));
                self.push_void(Inst::Store(p, x));
                Val::of_type(Ty::none())
            }
            ("ptr_add", [p, n]) => {
                let n = self.cast(n, Ty::i64());
                let (p, n) = (self.value(p), self.value(&n));
                self.push(Inst::PtrAdd(p, n), Ty::ptr())
            }
            ("item", [a, index @ ..]) => {
                let (d, ndim, ..) = a.ty.as_array().ok_or_else(|| self.no_op("item", a.ty, a.ty))?;
                if index.len() != ndim {
                    // The library takes for granted what it does not ask.
                    let text = format!("an array of {} dimensions is needed here, not `{}`", index.len(), a.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                self.load_item(a, index, d)
            }
            ("set_item", [a, rest @ ..]) => {
                let (d, ..) = a.ty.as_array().ok_or_else(|| self.no_op("item", a.ty, a.ty))?;
                self.check_writable(a.ty)?;
                let (x, index) = rest.split_last().expect("a value");
                let p = self.unchecked_address(a, index);
                self.store_element(p, x, d)?;
                Val::of_type(Ty::none())
            }
            // Stands in a loop that ends soon.
            ("abreast", []) => {
                self.out.blocks[self.cur.index()].hint = LoopHint::SlpOnly;
                Val::of_type(Ty::none())
            }
            ("loop_hint", [unroll, lanes]) => self.loop_hint(unroll, lanes)?,
            ("map", [f, ins @ ..]) => {
                let (ret, expr) = self.scalar_call(f, ins)?;
                self.map(ins, ret, expr)
            }
            ("map_into", [dst, f, ins @ ..]) => {
                self.check_writable(dst.ty)?;
                let (_, expr) = self.scalar_call(f, ins)?;
                let (d, ..) = dst.ty.as_array().ok_or_else(|| self.no_op("map_into", dst.ty, dst.ty))?;
                let mut ins = ins.to_vec();
                let expr = self.time_expr(d, expr, &mut ins)?;
                self.map_into(dst, &ins, expr);
                Val::of_type(Ty::none())
            }
            _ => return Ok(None),
        }))
    }

    /// A scalar function applied to elements of operands.
    fn scalar_call(&mut self, f: &Val, ins: &[Val]) -> Result<(Ty, MapExpr)> {
        if let Some(a) = ins.iter().find(|a| crate::operations::operators::element(a.ty).as_record().is_some()) {
            return Err(Diagnostic::new(
                diag::UNSUPPORTED_CALL,
                format!("functions of elements do not take `{}`", a.ty),
            )
            .note("work on the fields of records: `a[\"x\"]` is an array"));
        }
        let TyKind::Func(id) = f.ty.kind() else {
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{}` cannot be mapped over arrays", f.ty)));
        };
        let tys: Vec<Ty> = ins.iter().map(|a| element(a.ty)).collect();
        let args: Vec<ArgTy> = tys.iter().map(|t| ArgTy::from(*t)).collect();
        let spec = self.world.specialise(*id, &args, self.options)?;
        let args = tys.iter().enumerate().map(|(i, t)| MapExpr::Arg(i as u32, *t)).collect();
        Ok((spec.ret, Kernel::Spec(spec.id, spec.ret).expr(args)))
    }

    #[expect(clippy::too_many_lines, reason = "a table: one arm for each prim")]
    fn prim_items(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let item = |l: &Val| match l.ty.kind() {
            TyKind::Class(_) => l.ty.items(),
            _ => None,
        };
        if let ("items_take" | "items_put" | "items_reserve" | "items_set_len" | "items_move", [l, ..]) = (name, args) {
            self.check_writable(l.ty)?;
        }
        Ok(Some(match (name, args) {
            ("items_like", [l, cap]) => {
                let ty = l.ty.as_class().map_or(l.ty, |c| c.class.of(c.args.clone(), false));
                self.new_container(ty, cap)
            }
            ("new", [path, args @ ..]) => self.new_instance(path, args),
            // An instance whose type its uses say.
            ("empty", [path]) => {
                let path = path.as_str().unwrap_or_default();
                self.empty_and_filled(path, &[], &[])?.unwrap_or_else(|| lh_ir::bug!("`{path}` learns nothing"))
            }
            ("record_parts", [v]) => self.record_parts(v)?,
            // A value of a type that a program defines, of the parts of its model, and the other way.
            ("model_value", [ty, parts]) => {
                let ty = self.type_meant(ty);
                let model = ty.model().unwrap_or_else(|| lh_ir::bug!("`{ty}` has no model"));
                let parts = self.convert(parts, model)?;
                self.pack(vec![parts], ty)
            }
            ("model_parts", [x]) => self.field(x, 0),
            // The text of the object for a value of a type that a program defines.
            ("object_text", [x, which]) => {
                let text = self.world.import("lancehead.lowlevel.boxing", which.as_str());
                let site = self.object(text.unwrap_or_else(|| lh_ir::bug!("no way to make texts of objects")))?;
                let given = self.call_python(&site, &Val::tuple(vec![x.clone()]))?;
                self.field(&given, 0)
            }
            // A value as one of a type.
            ("as_type", [x, ty]) => {
                let ty = self.type_meant(ty);
                self.convert(x, ty)?
            }
            // The value of an optional, which is known to have one.
            ("unwrapped", [x]) => match x.ty.kind() {
                TyKind::Optional(t) => {
                    let v = self.value(x);
                    self.push(Inst::Unwrap(v), *t)
                }
                _ => x.clone(),
            },
            // References beside those that are counted by themselves.
            ("count_up" | "count_down", [x]) => {
                if x.ty.is_counted() {
                    let v = self.value(x);
                    self.push_void(if name == "count_up" { Inst::IncRef(v) } else { Inst::DecRef(v) });
                }
                Val::of_type(Ty::none())
            }
            // A call of a C function at an address.
            ("call_address", [address, ret, args @ ..]) => {
                let ret = self.type_meant(ret);
                let operands = std::iter::once(address).chain(args).map(|v| self.value(v)).collect();
                let what = func::Foreign { abi: func::ForeignAbi::C, writes: u32::MAX };
                if ret.flatten().is_empty() {
                    self.push_void(Inst::Foreign(what, operands));
                    Val::of_type(ret)
                } else {
                    self.push(Inst::Foreign(what, operands), ret)
                }
            }
            // A value that nobody reads before another is stored in its place.
            ("zero", [ty]) => {
                let ty = self.type_meant(ty);
                if ty.flatten().is_empty() { Val::of_type(ty) } else { self.push(Inst::Zero, ty) }
            }
            ("new_struct", [ty]) => {
                let ty = self.type_meant(ty);
                if !ty.is_struct() {
                    let text = format!("`new` takes a type of structs, not `{ty}`");
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                }
                self.zeroed_instance(ty)?
            }
            ("value", [path, fields, args @ ..]) => self.instance_of_parts(path, fields, args)?,
            ("has_method", [x, name]) => {
                let name = name.as_str().unwrap_or_default();
                let of = x.ty.several().unwrap_or(std::slice::from_ref(&x.ty));
                Val::bool(of.iter().all(|t| t.class().is_some_and(|c| self.has_method(c, name))))
            }
            ("items_new", [path, xs @ .., cap]) => {
                let class = path.as_str().and_then(Class::find);
                let class = class.unwrap_or_else(|| lh_ir::bug!("a class is known by its path"));
                let args = xs.iter().map(|x| self.type_meant(x).weak()).collect();
                self.new_container(class.of(args, false), cap)
            }
            ("call_python", [f, ins]) => self.call_python(f, ins)?,
            (n, _) if n.starts_with("generator_") => return self.prim_generator(n, args),
            ("items_share", [l]) if item(l).is_some() => self.runtime(&rt::lh_items_share, &[l.clone()], Ty::none())?,
            ("items_get", [l, i]) if item(l).is_some() => self.stored_item(l, i, item(l).expect("a container")),
            ("items_take", [l, i]) if item(l).is_some() => {
                let t = item(l).expect("a container");
                let p = self.item_address(l, i, t);
                let p = self.value(&p);
                self.push(Inst::Take(p), t)
            }
            ("items_len", [l]) if item(l).is_some() => {
                let l = self.value(l);
                self.push(Inst::ItemsLen(l), Ty::int())
            }
            // An item that owns nothing.
            ("items_nothing", [l]) if item(l).is_some() => self.push(Inst::Zero, item(l).expect("a container")),
            // A value as one of the type that a parameter of an instance's class stands for.
            ("as_argument", [l, name, x]) if l.ty.as_class().is_some() => {
                let c = l.ty.as_class().expect("just asked");
                let at = name.as_str().and_then(|name| c.class.parameter(name));
                self.item_value(x, c.args[at.unwrap_or_else(|| lh_ir::bug!("no such parameter"))], l.ty)?
            }
            ("items_put", [l, i, x]) if item(l).is_some() => {
                let t = item(l).expect("a container");
                let x = self.item_value(x, t, l.ty)?;
                let p = self.item_address(l, i, t);
                let (p, x) = (self.value(&p), self.value(&x));
                self.push_void(Inst::Store(p, x));
                Val::of_type(Ty::none())
            }
            ("items_reserve", [l, n]) => self.runtime(&rt::lh_items_reserve, &[l.clone(), n.clone()], Ty::none())?,
            ("items_set_len", [l, n]) => self.runtime(&rt::lh_items_set_len, &[l.clone(), n.clone()], Ty::none())?,
            ("items_move", [l, dst, src, n]) if item(l).is_some() => {
                let t = item(l).expect("a container");
                let (d, s) = (self.item_address(l, dst, t), self.item_address(l, src, t));
                let bytes = self.op("mul", &[n.clone(), Val::int(t.mem_layout().1 as i128)]);
                self.runtime(&rt::lh_memmove, &[d, s, bytes], Ty::none())?
            }
            (n, [l, ..]) if n.starts_with("items_") && matches!(l.ty.kind(), TyKind::Pending(..)) => {
                Val::of_type(Ty::never())
            }
            _ => return Ok(None),
        }))
    }

    /// A call of a block of `objmode` with the values that it reads: what it gives.
    pub(crate) fn call_python(&mut self, f: &Val, ins: &Val) -> Result<Val> {
        if self.options.device != Device::Host {
            let text = "a block of `objmode` needs the interpreter, which kernels do not have";
            return Err(Diagnostic::new(diag::UNSUPPORTED_CALL, text).note("call Python before or after the kernel"));
        }
        let TyKind::Obj(o) = *f.ty.kind() else { lh_ir::bug!("`{}` is no block of `objmode`", f.ty) };
        let result = self.world.attr(o, "result").unwrap_or_else(|| lh_ir::bug!("a block of `objmode` has a type"));
        let result = self.object(result)?;
        let ret = self.type_meant(&result);
        let types = Ty::tuple(vec![ins.ty, ret]);
        let given = self.list_of(std::slice::from_ref(ins), None)?;
        let outputs = self.new_container(Ty::list(ret), &Val::int(1));
        let block = self.push(Inst::Extern(Extern::Foreign(o)), Ty::ptr());
        let types = self.push(Inst::Extern(Extern::Type(types.number() as u32)), Ty::int());
        self.runtime(&rt::lh_call_python, &[block, types, given, outputs.clone()], Ty::none())?;
        Ok(self.stored_item(&outputs, &Val::int(0), ret))
    }

    /// The type that a value stands for, or else its own.
    fn type_meant(&mut self, x: &Val) -> Ty {
        match x.ty.kind() {
            TyKind::DType(t) => *t,
            TyKind::Obj(o) => match self.world.object(*o) {
                crate::Object::Type(t) => t,
                _ => x.ty,
            },
            _ => x.ty,
        }
    }

    pub(crate) fn new_container(&mut self, ty: Ty, cap: &Val) -> Val {
        let cap = self.cast(cap, Ty::int());
        let cap = self.value(&cap);
        self.push(Inst::New(cap), ty)
    }

    fn prim_tuple(&mut self, name: &str, args: &[Val]) -> Result<Option<Val>> {
        let parts = |cx: &mut Self, t: &Val| cx.tuple_parts(t).ok_or_else(|| cx.no_op(name, t.ty, t.ty));
        Ok(Some(match (name, args) {
            ("tuple_fill", [n, x]) => {
                let Some(n) = n.as_int() else {
                    let text = "the length of a tuple must be known while compiling";
                    let mut d = Diagnostic::new(diag::NEEDS_CONSTANT, text);
                    d.literal = self.parameter(n);
                    return Err(d);
                };
                let Some(n) = usize::try_from(n).ok().filter(|n| *n <= MOST_ITEMS) else {
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("a tuple has no {n} items")));
                };
                Val::tuple(vec![x.clone(); n])
            }
            ("einsum", [subscripts, operands]) => self.einsum_plan(subscripts, operands)?,
            ("einsum_letters", [subscripts, operands]) => self.einsum_letters(subscripts, operands)?,
            ("sized", [x]) => self.check_sized(x)?,
            ("literally", [x]) => self.literally(x)?,
            ("tuple_set", [t, i, x]) => {
                let p = parts(self, t)?;
                let out = p.iter().enumerate().map(|(k, old)| self.pick(i, k, x, old)).collect::<Result<Vec<_>>>()?;
                Val::tuple(out)
            }
            ("tuple_drop", [t, i]) => {
                let p = parts(self, t)?;
                let n = p.len().saturating_sub(1);
                let out = (0..n).map(|k| self.pick_from(i, k, &p[k], &p[k + 1])).collect::<Result<Vec<_>>>()?;
                Val::tuple(out)
            }
            ("tuple_insert", [t, i, x]) => {
                let p = parts(self, t)?;
                let mut out = Vec::new();
                for k in 0..=p.len() {
                    // Before `i` the old item, at `i` the new one, after it the old item before.
                    let before = p.get(k).cloned().unwrap_or_else(|| x.clone());
                    let after = if k == 0 { x.clone() } else { p[k - 1].clone() };
                    let here = self.pick(i, k, x, &after)?;
                    out.push(self.pick_from(i, k, &before, &here)?);
                }
                Val::tuple(out)
            }
            _ => return Ok(None),
        }))
    }

    /// `x if i == k else old`
    fn pick(&mut self, i: &Val, k: usize, x: &Val, old: &Val) -> Result<Val> {
        match i.as_int() {
            Some(c) => Ok(if c == k as i128 { x.clone() } else { old.clone() }),
            None => {
                let i = self.cast(i, Ty::int());
                let c = self.op("eq", &[i, Val::int(k as i128)]);
                let x = self.cast(x, old.ty);
                Ok(self.op("select", &[c, x, old.clone()]))
            }
        }
    }

    /// `a if k < i else b`
    fn pick_from(&mut self, i: &Val, k: usize, a: &Val, b: &Val) -> Result<Val> {
        match i.as_int() {
            Some(c) => Ok(if (k as i128) < c { a.clone() } else { b.clone() }),
            None => {
                let i = self.cast(i, Ty::int());
                let c = self.op("lt", &[Val::int(k as i128), i]);
                let b = self.cast(b, a.ty);
                Ok(self.op("select", &[c, a.clone(), b]))
            }
        }
    }
}

/// Whether a type is that of instances that have the entries of a class.
fn is_of_kind(t: Ty, class: Class) -> bool {
    t.class().is_some_and(|c| c.declaration().entries == class.declaration().entries)
}

fn list_types(tys: &[Ty]) -> String {
    tys.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", ")
}

/// The type at an address: the given one, unless the address has one of its own.
fn pointee(address: Ty, given: Ty) -> Result<Ty> {
    let wrong = |text: String| Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
    match (address.pointee(), given.kind()) {
        (Some(t), TyKind::None) => Ok(t),
        (Some(t), TyKind::DType(d)) if t.weak() != d.weak() => {
            wrong(format!("mismatching dtype '{}' for pointer type '{}'", d.numba(), address.numba()))
        }
        (_, TyKind::DType(d)) if address.is_address() => Ok(*d),
        (None, TyKind::None) if address.is_address() => wrong("an address without a type needs a dtype".to_owned()),
        _ => wrong(format!("`{address}` is not an address of memory")),
    }
}

/// How elements lie in memory as a program says it, in capitals: what is laid out has its own type for each order.
fn named_order(x: &Val, default: &Val) -> Result<&'static str> {
    let wrong = |text: String| Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
    let given = if x.ty.is_none() { default } else { x };
    match given.as_str() {
        Some("C" | "c") => Ok("C"),
        Some("F" | "f") => Ok("F"),
        Some("A" | "a") => Ok("A"),
        Some("K" | "k") => Ok("K"),
        Some(other) => wrong(format!("an order is 'C', 'F', 'A' or 'K', not {other:?}")),
        None if given.ty == Ty::str() => {
            Err(Diagnostic::new(diag::NEEDS_CONSTANT, "the order must be known while compiling")
                .note("write it as `order=\"F\"`"))
        }
        None => wrong(format!("an order is a string, not `{}`", given.ty)),
    }
}

/// Whether an exception holds a key as it is: numbers, texts and bytes, and tuples of such.
fn is_argument(t: Ty) -> bool {
    match t.kind() {
        TyKind::Tuple { elems, name: None, .. } => elems.iter().all(|t| is_argument(*t)),
        _ => crate::convert::carried(t) || t.as_buffer() == Some(Buffer::Bytes),
    }
}
