//! Indexing: items, slices, views, stores.

use crate::convert::rank;
use crate::cx::Infer;
use crate::emit::{ArrayParts, any_layout, exc, no_elements};
use crate::operations::{alternatives::way_to_hold, operators::element};
use crate::val::{Known, Val};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Device, Inst, MapExpr};
use lh_ir::types::{ClassTy, Layout, TyKind};
use lh_ir::{Ty, Value};
use lh_ops::runtime as rt;

/// The most items of a tuple that are selected by a chain of comparisons, which LLVM turns into a lookup table.
const LONGEST_CHAIN: usize = 64;

/// One part of a basic index.
enum Part {
    Int(Val),
    Slice(Val),
    NewAxis,
    Ellipsis,
}

impl Infer<'_> {
    /// `v[k]`
    pub(crate) fn get_item(&mut self, v: &Val, k: &Val) -> Result<Val> {
        let own = self.own_item(v, k);
        self.or_overloaded(own, "operator", "getitem", &[v, k])
    }

    fn own_item(&mut self, v: &Val, k: &Val) -> Result<Val> {
        let v = &self.unwrap_or_say(v, "'NoneType' object is not subscriptable")?;
        if let Some(Known::ExcArgs(e)) = v.known.as_deref() {
            return self.exc_args_item(&e.clone(), k);
        }
        if let Some(item) = self.struct_operation("operator", "getitem", &[v, k])? {
            return Ok(item);
        }
        // The library reads the items themselves.
        if !self.is_library
            && let Some(item) = self.named_call(v, "__getitem__", std::slice::from_ref(k))?
        {
            return Ok(item);
        }
        let k = &self.index_of(v, k)?;
        if self.entries(v).is_some() {
            let found = self.keyword(v, k)?;
            return Ok(found.unwrap_or_else(|| {
                self.raise_text(exc::KEY_ERROR, k.as_str().unwrap_or_default());
                self.dead = true;
                Val::of_type(Ty::never())
            }));
        }
        match v.ty.kind() {
            TyKind::Tuple { name: Some(n), .. } if crate::operations::stencils::is_relative(n) => {
                self.relative_item(v, k)
            }
            TyKind::Tuple { .. } => self.tuple_item(v, k),
            TyKind::Instance { .. } => self.instance_item(v, k),
            TyKind::Choice(_) if v.ty.several().is_some() => self.item_of_each(v, k),
            TyKind::Obj(o) if k.ty == Ty::str() => self.enum_by_name(*o, k),
            TyKind::Array { .. } => self.array_item(v, k),
            TyKind::Record(_) => self.record_item(v, k),
            TyKind::Class(c @ ClassTy { items: Some(t), .. }) => match k.ty.kind() {
                TyKind::Int { .. } | TyKind::Bool => {
                    let text = format!("{} index out of range", c.class.name());
                    let at = self.checked_item_index(v, k, &text)?;
                    Ok(self.stored_item(v, &at, *t))
                }
                _ => self.method(v, "__getitem__", &[k.clone()]),
            },
            TyKind::Class(c) if c.class.is_mixed() => {
                let items = self.field(v, 0);
                self.mixed_item(&items, k)
            }
            TyKind::Pending(_, class) if class.teaching("__getitem__").is_none() => Ok(Val::of_type(Ty::never())),
            TyKind::Iter(_) | TyKind::Generator(_) if v.flat().is_some() => {
                self.flat_item(&v.flat().expect("just asked"), k)
            }
            TyKind::Str if k.ty.is_int() => {
                let k = self.cast(k, Ty::int());
                self.runtime(&rt::lh_str_getitem, &[v.clone(), k], Ty::str())
            }
            _ => self.method(v, "__getitem__", &[k.clone()]).map_err(|d| {
                if d.id == diag::UNKNOWN_ATTRIBUTE && d.file.is_empty() {
                    Diagnostic::new(diag::NO_MATCHING_OP, format!("`{}` cannot be indexed with `{}`", v.ty, k.ty))
                        .note("index a list, a tuple, a string or an array")
                } else {
                    d
                }
            }),
        }
    }

    /// `a.flat[k]`
    fn flat_item(&mut self, a: &Val, k: &Val) -> Result<Val> {
        if !k.ty.is_int() {
            let all = self.method(a, "flatten", &[])?;
            return self.get_item(&all, k);
        }
        let p = self.flat_address(a, k)?;
        let (dtype, ..) = a.ty.as_array().expect("an array");
        Ok(if self.dead { Val::of_type(Ty::never()) } else { self.element_at(a, p, dtype) })
    }

    /// A key or an index: `None` is no index, but may be a key.
    fn index_of(&mut self, v: &Val, k: &Val) -> Result<Val> {
        Infer::check_index(v, k)?;
        let has_keys = v.ty.class().is_some_and(|class| class.teaching("__getitem__").is_some());
        if has_keys { Ok(k.clone()) } else { self.unwrap_optional(k) }
    }

    fn tuple_item(&mut self, v: &Val, k: &Val) -> Result<Val> {
        let parts = self.tuple_parts(v).expect("a tuple");
        let n = parts.len() as i128;
        if let TyKind::Slice(_) = k.ty.kind() {
            let (start, stop, step) = self.constant_slice(k, n)?;
            let mut out = Vec::new();
            let mut i = start;
            while (step > 0 && i < stop) || (step < 0 && i > stop) {
                out.push(parts[i as usize].clone());
                i += step;
            }
            return Ok(Val::tuple(out));
        }
        if let Some(i) = k.as_int() {
            let at = if i < 0 { i + n } else { i };
            if at < 0 || at >= n {
                self.raise_text(exc::INDEX_ERROR, "tuple index out of range");
                self.dead = true;
                return Ok(Val::of_type(Ty::never()));
            }
            return Ok(parts[at as usize].clone());
        }
        if !(k.ty.is_int() || k.ty.is_bool()) {
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("a tuple cannot be indexed with `{}`", k.ty)));
        }
        self.tuple_item_at(&parts, k)
    }

    /// A tuple's item by an index known at run time: the items' types must unify.
    pub(crate) fn tuple_item_at(&mut self, parts: &[Val], k: &Val) -> Result<Val> {
        let n = parts.len() as i128;
        let mut ty = Ty::never();
        for p in parts {
            let Some(u) = crate::convert::unify(ty, p.ty, &mut self.pending) else {
                return Err(Diagnostic::new(
                    diag::NEEDS_CONSTANT,
                    "the index into a tuple of different types must be known while compiling",
                )
                .note("loop over the tuple itself, which is unrolled, or index with a literal"));
            };
            ty = u;
        }
        let k = self.cast(k, Ty::int());
        let negative = self.op("lt", &[k.clone(), Val::int(0)]);
        let wrapped = self.op("add", &[k.clone(), Val::int(n)]);
        let at = self.op("select", &[negative, wrapped, k]);
        let (uk, un) = (self.cast(&at, Ty::u64()), self.cast(&Val::int(n), Ty::u64()));
        let bad = self.op("ge", &[uk, un]);
        self.raise_if(&bad, exc::INDEX_ERROR, "tuple index out of range");
        if self.dead || parts.is_empty() {
            return Ok(Val::of_type(Ty::never()));
        }
        self.chosen_item(parts, 0, &at, ty)
    }

    /// The item with the index `at`, where `first` is the index of the first of `parts`. A long tuple is searched by
    /// halves, so that no block has many predecessors: passes of LLVM take time quadratic in their number.
    fn chosen_item(&mut self, parts: &[Val], first: usize, at: &Val, ty: Ty) -> Result<Val> {
        let done = self.new_block();
        if parts.len() > LONGEST_CHAIN {
            let (low, high) = parts.split_at(parts.len() / 2);
            let middle = first + low.len();
            let is_low = self.op("lt", &[at.clone(), Val::int(middle as i128)]);
            let (yes, no) = self.branch(&is_low);
            for (block, half, first) in [(yes, low, first), (no, high, middle)] {
                self.cur = block;
                let x = self.chosen_item(half, first, at, ty)?;
                self.jump(done, vec![x]);
            }
        } else {
            for (i, p) in parts.iter().enumerate() {
                if i + 1 < parts.len() {
                    let here = self.op("eq", &[at.clone(), Val::int((first + i) as i128)]);
                    let (yes, no) = self.branch(&here);
                    self.cur = yes;
                    let x = self.convert(p, ty)?;
                    self.jump(done, vec![x]);
                    self.cur = no;
                } else {
                    let x = self.convert(p, ty)?;
                    self.jump(done, vec![x]);
                }
            }
        }
        let v = self.out.new_param(done, ty);
        self.cur = done;
        Ok(Val::new(ty, v))
    }

    /// Bounds of a slice of constants applied to a length.
    fn constant_slice(&mut self, k: &Val, n: i128) -> Result<(i128, i128, i128)> {
        let mut parts = [None; 3];
        for (i, p) in parts.iter_mut().enumerate() {
            let v = self.field(k, i as u32);
            if !v.ty.is_none() {
                let Some(c) = v.as_int() else {
                    return Err(Diagnostic::new(
                        diag::NEEDS_CONSTANT,
                        "the bounds of a tuple's slice must be constants",
                    ));
                };
                *p = Some(c);
            }
        }
        let step = parts[2].unwrap_or(1);
        if step == 0 {
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, "slice step cannot be zero"));
        }
        let clamp = |x: i128, lo: i128, hi: i128| if x < 0 { (x + n).max(lo) } else { x.min(hi) };
        Ok(if step > 0 {
            (parts[0].map_or(0, |x| clamp(x, 0, n)), parts[1].map_or(n, |x| clamp(x, 0, n)), step)
        } else {
            (parts[0].map_or(n - 1, |x| clamp(x, -1, n - 1)), parts[1].map_or(-1, |x| clamp(x, -1, n - 1)), step)
        })
    }

    /// An index into stored items, checked and made non-negative.
    pub(crate) fn checked_item_index(&mut self, l: &Val, k: &Val, text: &str) -> Result<Val> {
        let n = self.len(l)?;
        let k = self.cast(k, Ty::int());
        let at = match k.as_int() {
            Some(i) if i >= 0 => k,
            Some(_) => self.op("add", &[k, n.clone()]),
            None => {
                let negative = self.op("lt", &[k.clone(), Val::int(0)]);
                let wrapped = self.op("add", &[k.clone(), n.clone()]);
                self.op("select", &[negative, wrapped, k])
            }
        };
        if self.options.boundscheck {
            let (uk, un) = (self.cast(&at, Ty::u64()), self.cast(&n, Ty::u64()));
            let bad = self.op("ge", &[uk, un]);
            self.raise_if(&bad, exc::INDEX_ERROR, text);
        }
        Ok(at)
    }

    /// Splits an index into its parts; `None` when it is not a basic one (masks, index arrays).
    fn parts_of(&mut self, k: &Val) -> Option<Vec<Part>> {
        let items = match k.ty.kind() {
            TyKind::Tuple { .. } => self.tuple_parts(k).expect("a tuple"),
            _ => vec![k.clone()],
        };
        let items = items.iter().map(|v| self.unwrap_optional(v).ok()).collect::<Option<Vec<_>>>()?;
        items
            .into_iter()
            .map(|v| match v.ty.kind() {
                TyKind::Int { .. } => Some(Part::Int(v)),
                TyKind::Slice(_) => Some(Part::Slice(v)),
                TyKind::None => Some(Part::NewAxis),
                TyKind::Ellipsis => Some(Part::Ellipsis),
                TyKind::Array { dtype, ndim: 0, .. } if dtype.is_int() => {
                    Some(Part::Int(self.load_item(&v, &[], *dtype)))
                }
                _ => None,
            })
            .collect()
    }

    fn array_item(&mut self, a: &Val, k: &Val) -> Result<Val> {
        let (dtype, ndim, ..) = a.ty.as_array().expect("an array");
        if let (Some(name), Some(_)) = (k.as_str(), dtype.as_record()) {
            return self.field_of_records(a, name);
        }
        let is_object = dtype.is_pyobject();
        let Some(parts) = self.parts_of(k) else {
            return if is_object { Err(no_elements(a.ty)) } else { self.fancy_item(a, k) };
        };
        if let Some(index) = all_ints(&parts, ndim) {
            if is_object {
                return Err(no_elements(a.ty));
            }
            let p = self.element_address(a, &index);
            return Ok(self.element_at(a, p, dtype));
        }
        self.view(a, &parts)
    }

    fn fancy_name(&self, k: &Val) -> &'static str {
        match k.ty.kind() {
            TyKind::Array { dtype, .. } if dtype.is_bool() => "mask",
            TyKind::Tuple { .. } => "tuple",
            // A single truth value means a new axis in NumPy: there is no such function.
            TyKind::Bool => "truth",
            _ => "take",
        }
    }

    fn fancy_item(&mut self, a: &Val, k: &Val) -> Result<Val> {
        if element(a.ty).as_record().is_some() && k.ty.items() == Some(Ty::str()) {
            let text = format!("`{}` cannot be indexed with several names", a.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("take one field after the other: `a[\"x\"]`"));
        }
        let name = format!("getitem_{}", self.fancy_name(k));
        self.method(a, &name, &[k.clone()]).map_err(|d| {
            if d.id == diag::UNKNOWN_ATTRIBUTE {
                Diagnostic::new(diag::NO_MATCHING_OP, format!("an array cannot be indexed with `{}`", k.ty))
            } else {
                d
            }
        })
    }

    /// Address of an element by indices that may be negative and out of range.
    pub(crate) fn element_address(&mut self, a: &Val, index: &[Val]) -> Value {
        let array = self.value(a);
        let wrap = !index.iter().all(|i| !i.ty.is_signed() || i.as_int().is_some_and(|i| i >= 0));
        let index = index.iter().map(|i| self.cast(i, Ty::i64())).collect::<Vec<_>>();
        let index = index.iter().map(|i| self.value(i)).collect();
        let check = self.options.boundscheck;
        self.push(Inst::ElemPtr { array, index, wrap, check }, Ty::ptr()).v.expect("just pushed")
    }

    /// An element by indices known to be right.
    pub(crate) fn load_item(&mut self, a: &Val, index: &[Val], dtype: Ty) -> Val {
        let p = self.unchecked_address(a, index);
        self.element_at(a, p, dtype)
    }

    /// Address of an element by indices known to be right.
    pub(crate) fn unchecked_address(&mut self, a: &Val, index: &[Val]) -> Value {
        let array = self.value(a);
        let index = index.iter().map(|i| self.cast(i, Ty::i64())).collect::<Vec<_>>();
        let index = index.iter().map(|i| self.value(i)).collect();
        self.push(Inst::ElemPtr { array, index, wrap: false, check: false }, Ty::ptr()).v.expect("just pushed")
    }

    /// `a[i]` of an array of rank above 1, the index known to be in range.
    pub(crate) fn subarray(&mut self, a: &Val, at: &Val) -> Result<Val> {
        let (dtype, ndim, layout, ro) = a.ty.as_array().expect("an array");
        let mut parts = self.array_parts(a);
        let offset = self.op("mul", &[at.clone(), parts.strides[0].clone()]);
        parts.data = self.offset(&parts.data.clone(), &offset);
        parts.shape.remove(0);
        parts.strides.remove(0);
        let layout = if layout == Layout::C { Layout::C } else { any_layout(ndim - 1) };
        Ok(self.make_array(&parts, Ty::array_ro(dtype, ndim - 1, layout, ro)))
    }

    pub(crate) fn offset(&mut self, data: &Val, bytes: &Val) -> Val {
        let (d, b) = (self.value(data), self.value(bytes));
        self.push(Inst::PtrAdd(d, b), Ty::ptr())
    }

    /// A view by integers, slices, new axes and an ellipsis.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of index")]
    fn view(&mut self, a: &Val, index: &[Part]) -> Result<Val> {
        let (dtype, ndim, layout, ro) = a.ty.as_array().expect("an array");
        let used = index.iter().filter(|p| matches!(p, Part::Int(_) | Part::Slice(_))).count();
        if used > ndim {
            return Err(Diagnostic::new(
                diag::NO_MATCHING_OP,
                format!("too many indices for array: array is {ndim}-dimensional, but {used} were indexed"),
            ));
        }
        let src = self.array_parts(a);
        let mut out = ArrayParts { owner: src.owner.clone(), data: src.data.clone(), shape: vec![], strides: vec![] };
        let mut dim = 0;
        let mut keep = KeepsC { c: layout == Layout::C, dims_seen: 0, partial: false };
        for p in index {
            match p {
                Part::Ellipsis => {
                    for _ in 0..ndim - used {
                        out.shape.push(src.shape[dim].clone());
                        out.strides.push(src.strides[dim].clone());
                        keep.full();
                        dim += 1;
                    }
                }
                Part::NewAxis => {
                    out.shape.push(Val::int(1));
                    out.strides.push(Val::int(0));
                    keep.c = false;
                }
                Part::Int(i) => {
                    let at = self.checked_index(i, &src.shape[dim], dim)?;
                    let off = self.op("mul", &[at, src.strides[dim].clone()]);
                    out.data = self.offset(&out.data.clone(), &off);
                    keep.int();
                    dim += 1;
                }
                Part::Slice(s) => {
                    let full = self.slice_dim(s, &src, dim, &mut out)?;
                    if full {
                        keep.full()
                    } else {
                        keep.slice(self.unit_step(s))
                    }
                    dim += 1;
                }
            }
            if self.dead {
                return Ok(Val::of_type(Ty::never()));
            }
        }
        while dim < ndim {
            out.shape.push(src.shape[dim].clone());
            out.strides.push(src.strides[dim].clone());
            keep.full();
            dim += 1;
        }
        let n = out.shape.len();
        let all_full = index.iter().all(|p| matches!(p, Part::Ellipsis));
        let layout = if all_full {
            layout
        } else if keep.c {
            Layout::C
        } else {
            any_layout(n)
        };
        Ok(self.make_array(&out, Ty::array_ro(dtype, n, layout, ro)))
    }

    fn unit_step(&mut self, s: &Val) -> bool {
        let step = self.field(s, 2);
        step.ty.is_none() || step.as_int() == Some(1)
    }

    fn checked_index(&mut self, i: &Val, n: &Val, axis: usize) -> Result<Val> {
        let i = self.cast(i, Ty::int());
        let at = match i.as_int() {
            Some(c) if c >= 0 => i.clone(),
            _ => {
                let negative = self.op("lt", &[i.clone(), Val::int(0)]);
                let wrapped = self.op("add", &[i.clone(), n.clone()]);
                self.op("select", &[negative, wrapped, i.clone()])
            }
        };
        if self.options.boundscheck {
            let args = [i, Val::int(axis as i128), n.clone(), at.clone()];
            self.runtime(&rt::lh_check_index, &args, Ty::none())?;
        }
        Ok(at)
    }

    /// Applies a slice to a dimension; tells whether it keeps all of it.
    fn slice_dim(&mut self, s: &Val, src: &ArrayParts, dim: usize, out: &mut ArrayParts) -> Result<bool> {
        let parts: Vec<Val> = (0..3).map(|i| self.field(s, i)).collect();
        let n = src.shape[dim].clone();
        if parts.iter().all(|p| p.ty.is_none()) {
            out.shape.push(n);
            out.strides.push(src.strides[dim].clone());
            return Ok(true);
        }
        let bounds = self.call_library("lists.slice_bounds", &[s.clone(), n])?;
        let (start, stop) = (self.field(&bounds, 0), self.field(&bounds, 1));
        let step = if parts[2].ty.is_none() { Val::int(1) } else { self.cast(&parts[2], Ty::int()) };
        let len = self.range_len(&start, &stop, &step)?;
        let off = self.op("mul", &[start, src.strides[dim].clone()]);
        out.data = self.offset(&out.data.clone(), &off);
        out.shape.push(len);
        let stride = src.strides[dim].clone();
        let stride = if parts[2].ty.is_none() {
            stride
        } else {
            let step = self.cast(&parts[2], Ty::int());
            self.op("mul", &[stride, step])
        };
        out.strides.push(stride);
        Ok(false)
    }

    pub(crate) fn check_writable(&self, t: Ty) -> Result<()> {
        match t.kind() {
            TyKind::Array { readonly: true, .. } => Err(Diagnostic::new(diag::READ_ONLY, "the array is read-only")
                .note("pass a writable array, or work on `a.copy()`")),
            TyKind::Class(ClassTy { class, constant: true, .. }) => {
                let name = class.name();
                let text = format!(
                    "the {name} is a global, a captured one or a default, which is a constant in compiled code"
                );
                Err(Diagnostic::new(diag::READ_ONLY, text)
                    .note(format!("pass the {name} as an argument, or change a copy: `items = {name}(GLOBAL)`")))
            }
            _ => Ok(()),
        }
    }

    /// `v[k] = x`
    pub(crate) fn set_item(&mut self, v: &Val, k: &Val, x: &Val) -> Result<()> {
        let own = self.set_own_item(v, k, x).map(|()| Val::of_type(Ty::none()));
        self.or_overloaded(own, "operator", "setitem", &[v, k, x]).map(|_| ())
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of container")]
    fn set_own_item(&mut self, v: &Val, k: &Val, x: &Val) -> Result<()> {
        let v = &self.unwrap_or_say(v, "'NoneType' object does not support item assignment")?;
        if v.ty.is_overloaded() && self.struct_operation("operator", "setitem", &[v, k, x])?.is_some() {
            return Ok(());
        }
        let k = &self.index_of(v, k)?;
        match v.ty.kind() {
            TyKind::Record(_) => {
                let name = self.record_key(v, k)?;
                self.set_record_field(v, &name, x)
            }
            TyKind::Array { dtype, .. } if dtype.is_pyobject() => Err(no_elements(v.ty)),
            TyKind::Array { .. } => self.set_array_item(v, k, x),
            TyKind::Instance { .. } => self.set_instance_item(v, k, x),
            TyKind::Choice(_) if v.ty.several().is_some() => self.set_item_of_each(v, k, x),
            TyKind::Iter(_) | TyKind::Generator(_) if v.flat().is_some() => {
                let a = v.flat().expect("just asked");
                self.check_writable(a.ty)?;
                if !k.ty.is_int() {
                    return self.method(&a, "setitem_flat", &[k.clone(), x.clone()]).map(|_| ());
                }
                let (dtype, ..) = a.ty.as_array().expect("an array");
                let p = self.flat_address(&a, k)?;
                if self.dead {
                    return Ok(());
                }
                self.store_element(p, x, dtype)
            }
            TyKind::Class(ClassTy { class, items: Some(t), .. })
                if (k.ty.is_int() || k.ty.is_bool()) && !class.is_tuple() =>
            {
                self.check_writable(v.ty)?;
                let text = format!("{} assignment index out of range", class.name());
                let at = self.checked_item_index(v, k, &text)?;
                if self.dead {
                    return Ok(());
                }
                if self.widened(v, 0, x.ty) {
                    return Ok(());
                }
                let x = self.item_value(x, *t, v.ty)?;
                let p = self.item_address(v, &at, *t);
                let p = self.value(&p);
                if t.is_counted() {
                    self.push(Inst::Take(p), *t);
                }
                let x = self.value(&x);
                self.push_void(Inst::Store(p, x));
                Ok(())
            }
            TyKind::Class(c) if c.class.is_mixed() => {
                let text = "Cannot mutate a literal list: a list of values of several types is constant";
                Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("make the items of one type"))
            }
            TyKind::Class(ClassTy { class, .. }) if self.has_method(*class, "__setitem__") => {
                self.method(v, "__setitem__", &[k.clone(), x.clone()]).map(|_| ())
            }
            TyKind::Pending(_, class) if class.teaching("__setitem__").is_some() => {
                self.method(v, "__setitem__", &[k.clone(), x.clone()]).map(|_| ())
            }
            TyKind::Pending(site, class) => {
                if matches!(k.ty.kind(), TyKind::Slice(_)) && class.declaration().items.is_some() {
                    for (at, t) in self.taught(*class, "*T", x, true)? {
                        self.pending.learn(*site, at, t);
                    }
                } else if k.ty.is_int() && class.declaration().parameters.len() == 1 {
                    // There is no item yet that could be replaced: what is assigned is one, if nothing else says it.
                    self.pending.guess(*site, 0, x.ty);
                }
                self.stop();
                Ok(())
            }
            TyKind::Tuple { name: Some(n), .. } if crate::operations::stencils::is_relative(n) => {
                Err(crate::operations::stencils::bad("Assignments to arrays passed to stencil kernels is not allowed.")
                    .note("return the element's value; what is written to is named by `standard_indexing=`"))
            }
            _ if self.entries(v).is_some() => Err(self.no_dictionary(v)),
            _ => Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("items of `{}` cannot be assigned", v.ty))
                .note("make a new value, or use a list or an array")),
        }
    }

    /// Address of the element at a position in row-major order, checked.
    fn flat_address(&mut self, a: &Val, k: &Val) -> Result<Value> {
        let shape = self.array_parts(a).shape;
        let n = self.product(&shape);
        let k = self.cast(k, Ty::int());
        let negative = self.op("lt", &[k.clone(), Val::int(0)]);
        let wrapped = self.op("add", &[k.clone(), n.clone()]);
        let at = self.op("select", &[negative, wrapped, k]);
        let (uk, un) = (self.cast(&at, Ty::u64()), self.cast(&n, Ty::u64()));
        let bad = self.op("ge", &[uk, un]);
        self.raise_if(&bad, exc::INDEX_ERROR, "index of `flat` is out of bounds");
        if self.dead {
            return Ok(self.value(&Val::of_type(Ty::none())));
        }
        let index = self.unravel(&at, &shape)?;
        Ok(self.unchecked_address(a, &index))
    }

    /// A value as an item of a container of items of a type.
    pub(crate) fn item_value(&mut self, x: &Val, t: Ty, container: Ty) -> Result<Val> {
        let refused = || {
            let name = container.class().map_or("container", Class::name);
            Diagnostic::new(diag::CANNOT_UNIFY, format!("a {name} of `{t}` cannot hold `{}`", x.ty))
                .note(way_to_hold(name, t, x.ty))
        };
        // No conversion loses information silently.
        if x.ty.is_number() && t.is_number() && rank(x.ty) > rank(t) {
            return Err(refused());
        }
        self.convert(x, t).map_err(|_| refused())
    }

    fn set_array_item(&mut self, a: &Val, k: &Val, x: &Val) -> Result<()> {
        self.check_writable(a.ty)?;
        let (dtype, ndim, ..) = a.ty.as_array().expect("an array");
        if let (Some(name), Some(_)) = (k.as_str(), dtype.as_record()) {
            let field = self.field_of_records(a, name)?;
            return self.assign(&field, x);
        }
        let Some(parts) = self.parts_of(k) else {
            let name = format!("setitem_{}", self.fancy_name(k));
            return self.method(a, &name, &[k.clone(), x.clone()]).map(|_| ());
        };
        let x = &self.stored(x, dtype)?;
        let is_one = x.ty.is_scalar() || x.ty.as_record().is_some() || dtype.chars().is_some() && !x.ty.is_array();
        let fills_record = dtype.is_record() && (x.ty.is_tuple() || x.ty.is_scalar());
        if let (Some(index), true) = (all_ints(&parts, ndim), fills_record) {
            let p = self.element_address(a, &index);
            let to = self.element_at(a, p, dtype);
            return if x.ty.is_tuple() { self.store_tuple(&to, x) } else { self.fill_record(&to, x) };
        }
        if let (Some(index), true) = (all_ints(&parts, ndim), is_one) {
            let p = self.element_address(a, &index);
            return self.store_element(p, x, dtype);
        }
        if let (Some(index), TyKind::Tuple { elems, name: Some(n) }) = (all_ints(&parts, ndim), dtype.kind()) {
            let x = self.vector(n, elems[0], std::slice::from_ref(x))?;
            let p = self.element_address(a, &index);
            self.store_vector(p, &x);
            return Ok(());
        }
        let is_item = all_ints(&parts, ndim).is_some() && !parts.iter().any(|p| matches!(p, Part::Ellipsis));
        if is_item && dtype.is_record() && x.ty.class() == Some(Class::list()) {
            let text = format!("`{}` cannot be stored in one element of `{}`", x.ty, a.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("a record is stored as a tuple"));
        }
        let is_sequence = x.ty.as_array().is_some_and(|(_, rank, ..)| rank > 0)
            || x.ty.is_tuple()
            || matches!(x.ty.kind(), TyKind::Class(ClassTy { items: Some(_), .. }));
        if is_item && is_sequence && !dtype.is_record() {
            // NumPy asks an array for a complex number, which only one of rank 0 has.
            let class = if dtype.is_complex() && x.ty.is_array() { exc::TYPE_ERROR } else { exc::VALUE_ERROR };
            self.raise_text(class, "setting an array element with a sequence.");
            self.dead = true;
            return Ok(());
        }
        let dst = self.view(a, &parts)?;
        if self.dead {
            return Ok(());
        }
        self.assign(&dst, x)
    }

    /// Stores a number, a record or a text as an element.
    pub(crate) fn store_element(&mut self, at: Value, x: &Val, dtype: Ty) -> Result<()> {
        if let Some(r) = dtype.as_record().filter(|r| r.chars.is_some()) {
            return self.store_text(&Val::new(Ty::ptr(), at), x, r);
        }
        if let (Some(to), Some(from)) = (dtype.as_record(), x.ty.as_record()) {
            return self.copy_record(at, to, x, from);
        }
        let is_host = self.options.device == Device::Host;
        if is_host && self.literal_out_of_range(x, &Val::of_type(dtype), dtype).is_some() {
            return Ok(());
        }
        let x = self.element_value(x, dtype)?;
        let x = self.value(&x);
        self.push_void(Inst::Store(at, x));
        Ok(())
    }

    /// A number as an element: complex numbers do not become real ones silently.
    pub(crate) fn element_value(&mut self, x: &Val, dtype: Ty) -> Result<Val> {
        if x.ty.is_time() || dtype.is_time() {
            return self.call_library("times.stored", &[x.clone(), Val::of_type(Ty::dtype(dtype))]);
        }
        if !x.ty.is_number() || !dtype.is_number() {
            let text = format!("`{}` cannot be stored in an array of `{dtype}`", x.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text));
        }
        if x.ty.is_complex() && !dtype.is_complex() {
            return Err(Diagnostic::new(
                diag::NO_MATCHING_OP,
                format!("`{}` cannot be stored in an array of `{dtype}`", x.ty),
            )
            .note("store `x.real`"));
        }
        self.fit(x, dtype)
    }

    /// `dst[...] = x`, with broadcasting.
    pub(crate) fn assign(&mut self, dst: &Val, x: &Val) -> Result<()> {
        let (dtype, ndim, ..) = dst.ty.as_array().expect("an array");
        if dtype.is_record() && (x.ty.is_tuple() || x.ty.class() == Some(Class::list())) {
            return self.assign_records(dst, x);
        }
        let x = if matches!(x.ty.kind(), TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Tuple { .. }) {
            self.call_library("numpy.asarray", std::slice::from_ref(x))?
        } else {
            x.clone()
        };
        let src = match x.ty.kind() {
            TyKind::Array { dtype: d, ndim: n, .. } => {
                if *n as usize > ndim {
                    // Leading dimensions of extent one are dropped.
                    let first = self.call_library("numpy.layout.only_one", std::slice::from_ref(&x))?;
                    return self.assign(dst, &first);
                }
                *d
            }
            _ if x.ty.is_scalar() || x.ty.as_record().is_some() => x.ty,
            _ if dtype.chars().is_some() => return self.assign_records(dst, &x),
            _ => {
                return Err(Diagnostic::new(
                    diag::NO_MATCHING_OP,
                    format!("`{}` cannot be assigned to array elements", x.ty),
                ));
            }
        };
        if src.is_time() || dtype.is_time() {
            return self.call_library("times.assign", &[dst.clone(), x]).map(|_| ());
        }
        if !src.is_number() || !dtype.is_number() {
            return self.assign_records(dst, &x);
        }
        if src.is_complex() && !dtype.is_complex() {
            return Err(Diagnostic::new(
                diag::NO_MATCHING_OP,
                format!("`{src}` cannot be stored in an array of `{dtype}`"),
            ));
        }
        // A Python integer fits, or raises.
        if x.ty.is_weak() && src.is_int() && dtype.is_int() && self.options.device == Device::Host {
            if self.literal_out_of_range(&x, dst, dtype).is_some() {
                return Ok(());
            }
            let x = self.fitted(&x, dst, dtype)?;
            self.map_into(dst, &[x], MapExpr::Arg(0, dtype));
            return Ok(());
        }
        let expr = self.fit_expr(dtype, MapExpr::Arg(0, src))?;
        self.map_into(dst, &[x], expr);
        Ok(())
    }
}

/// The indices when every part is an integer and there is one for each dimension.
fn all_ints(parts: &[Part], ndim: usize) -> Option<Vec<Val>> {
    let ints: Option<Vec<Val>> = parts
        .iter()
        .filter(|p| !matches!(p, Part::Ellipsis))
        .map(|p| match p {
            Part::Int(v) => Some(v.clone()),
            Part::Slice(_) | Part::NewAxis | Part::Ellipsis => None,
        })
        .collect();
    ints.filter(|i| i.len() == ndim)
}

/// Follows whether a view of a C-contiguous array is contiguous: leading integers, then at most one contiguous slice,
/// then whole dimensions.
struct KeepsC {
    c: bool,
    dims_seen: usize,
    partial: bool,
}

impl KeepsC {
    fn int(&mut self) {
        self.c &= self.dims_seen == 0;
    }
    fn full(&mut self) {
        self.dims_seen += 1;
    }
    fn slice(&mut self, unit: bool) {
        self.c &= unit && self.dims_seen == 0 && !self.partial;
        self.partial = true;
        self.dims_seen += 1;
    }
}

/// Whether a value of the type may begin or end a slice.
pub(crate) fn bounds_a_slice(t: Ty) -> bool {
    match t.kind() {
        TyKind::Optional(inner) => bounds_a_slice(*inner),
        TyKind::Array { ndim, dtype, .. } => *ndim == 0 && dtype.is_int(),
        kind => t.is_int() || t.is_bool() || t.is_none() || t.is_never() || matches!(kind, TyKind::Instance { .. }),
    }
}
