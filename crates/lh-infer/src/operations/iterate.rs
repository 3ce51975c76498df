//! `for`: iterables, and the state their iteration needs.
//!
//! The iterator of a loop is no object at run time. Its state (an index, a count) lives in extra parameters of the
//! loop's header, so that loops over ranges and arrays are counted loops. Those that are kept are objects
//! ([`super::iterators`]).

use crate::cx::{Infer, LoopState};
use crate::emit::ArrayParts;
use crate::operations::iterators::is_generator;
use crate::val::{Known, Lazy, Plan, Val};
use lh_ir::consts::ASCII;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, Parallel};
use lh_ir::types::{Buffer, ClassTy, TyKind};
use lh_ir::untyped::{self, CmpOp};
use lh_ir::{Layout, Ty, Value};
use lh_ops::runtime as rt;
use std::cell::RefCell;
use std::rc::Rc;

/// Where the items of the generators in a plan are kept.
fn generators<'p>(plan: &'p Plan, out: &mut Vec<&'p RefCell<Option<Val>>>) {
    match plan {
        Plan::Generator(_, item) | Plan::Places { found: item, .. } => out.push(item),
        Plan::Enumerate(inner, _) | Plan::Parallel(inner) => generators(inner, out),
        Plan::Zip(ps) | Plan::Map(_, ps) => ps.iter().for_each(|p| generators(p, out)),
        Plan::Range { .. } | Plan::Counted { .. } | Plan::Steps { .. } => {}
        Plan::Items { .. } | Plan::Chars { .. } | Plan::NdIndex { .. } => {}
    }
}

/// The limit of a counted loop.
fn limit(plan: &mut Plan) -> Option<&mut Val> {
    match plan {
        Plan::Range { stop: limit, .. } | Plan::Counted { count: limit, .. } => Some(limit),
        Plan::Parallel(inner) => match &mut **inner {
            Plan::NdIndex { total: limit, .. } => Some(limit),
            other => limit(other),
        },
        Plan::Steps { .. }
        | Plan::Items { .. }
        | Plan::Chars { .. }
        | Plan::Enumerate(..)
        | Plan::Zip(_)
        | Plan::Map(..)
        | Plan::Generator(..)
        | Plan::Places { .. }
        | Plan::NdIndex { .. } => None,
    }
}

/// Largest tuple that a loop is unrolled over.
const MAX_UNROLL: usize = 1000;

/// Largest tuple that a loop is unrolled over though its items have one type.
const MAX_UNROLL_UNIFORM: usize = 200;

impl Infer<'_> {
    /// Number of items.
    pub(crate) fn len(&mut self, val: &Val) -> Result<Val> {
        if let Some(named) = self.entries(val) {
            return Ok(Val::int(named.len() as i128));
        }
        if let Some(s) = val.as_str() {
            return Ok(Val::int(s.chars().count() as i128));
        }
        if let Some(n) = self.named_call(val, "__len__", &[])? {
            return Ok(n);
        }
        match val.ty.kind() {
            TyKind::Tuple { elems, .. } => Ok(Val::int(elems.len() as i128)),
            TyKind::Record(r) => Ok(Val::int(r.fields.len() as i128)),
            TyKind::Array { ndim: 0, .. } => Err(Diagnostic::new(diag::NO_MATCHING_CALL, "len() of a 0-d array")),
            TyKind::Array { .. } => {
                let v = self.value(val);
                Ok(self.push(Inst::ArrayShape(v, 0), Ty::int()))
            }
            TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Pending(..) => {
                let v = self.value(val);
                Ok(self.push(Inst::ItemsLen(v), Ty::int()))
            }
            TyKind::Choice(_) if val.ty.several().is_some() => {
                self.builtin_of_each("builtins.len", std::slice::from_ref(val), &[]).map(|n| n.expect("one of several"))
            }
            TyKind::Class(_) => self
                .class_method(val, "__len__", &[])?
                .ok_or_else(|| Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` has no length", val.ty))),
            TyKind::Str => self.runtime(&rt::lh_str_len, &[val.clone()], Ty::int()),
            TyKind::Instance { .. } if val.ty.as_buffer().is_some() => {
                let array = self.memory(val)?;
                self.len(&array)
            }
            TyKind::Range(_) => {
                let parts: Vec<Val> = (0..3).map(|i| self.field(val, i)).collect();
                self.range_len(&parts[0], &parts[1], &parts[2])
            }
            TyKind::Optional(_) => {
                let inner = self.unwrap_or_say(val, "object of type 'NoneType' has no len()")?;
                self.len(&inner)
            }
            TyKind::Instance { .. }
                if val.ty.as_enum().is_some()
                    && let Some(flags) = self.flags_in(val)? =>
            {
                self.len(&flags)
            }
            TyKind::Instance { .. } if val.ty.native() != val.ty => {
                let value = self.field(val, 0);
                self.len(&value)
            }
            TyKind::Obj(o) if matches!(self.world.object(*o), crate::world::Object::EnumClass(_)) => {
                let crate::world::Object::EnumClass(e) = self.world.object(*o) else { lh_ir::bug!("just asked") };
                Ok(Val::int(e.members.len() as i128))
            }
            _ => self.len_of_others(val),
        }
    }

    fn len_of_others(&mut self, val: &Val) -> Result<Val> {
        match (val.flat(), val.known.as_deref()) {
            (Some(a), _) => self.get_attr(&a, "size"),
            (None, Some(Known::Unroll(t))) if matches!(val.ty.kind(), TyKind::Iter(_)) => self.len(t),
            _ => match self.method(val, "__len__", &[]) {
                Ok(v) => Ok(v),
                // It says what an object of the program is.
                Err(d) if d.id == diag::UNSUPPORTED_TYPE && matches!(val.ty.kind(), TyKind::Obj(_)) => Err(d),
                Err(_) => Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{}` has no len()", val.ty))),
            },
        }
    }

    /// `len(range(start, stop, step))`
    pub(crate) fn range_len(&mut self, start: &Val, stop: &Val, step: &Val) -> Result<Val> {
        let t = Ty::int();
        let (start, stop, step) = (self.cast(start, t), self.cast(stop, t), self.cast(step, t));
        match step.as_int() {
            Some(1) => {
                let n = self.op("sub", &[stop, start]);
                Ok(self.op("maxnum", &[n, Val::int(0)]))
            }
            by => match constant_len(start.as_int(), stop.as_int(), by) {
                Some(n) => Ok(Val::int(n.into())),
                None => self.call_library("lists.slice_length", &[start, stop, step]),
            },
        }
    }

    /// `iter(v)`, started in the current block.
    pub(crate) fn iter(&mut self, val: &Val) -> Result<Val> {
        if let Some(Known::Unroll(t)) = val.known.as_deref() {
            return Ok(Val::known(Ty::new(TyKind::Iter(t.ty)), Known::Unroll(t.clone())));
        }
        if let Some(flags) = self.flags_in(val)? {
            return self.iter(&flags);
        }
        if val.ty.native() != val.ty {
            let value = self.field(val, 0);
            return self.iter(&value);
        }
        if let Some(items) = self.mixed_items(val) {
            return self.iter(&items);
        }
        if self.entries(val).is_some() {
            let keys = self.keywords_method("keys", val, &[])?;
            return self.iter(&keys);
        }
        if let TyKind::Obj(o) = val.ty.kind()
            && let crate::world::Object::EnumClass(e) = self.world.object(*o)
        {
            let members = self.enum_members(&e)?;
            return self.iter(&members);
        }
        if self.is_unrolled(val) && !self.is_long_and_uniform(val) {
            return Ok(Val::known(Ty::new(TyKind::Iter(val.ty)), Known::Unroll(val.clone())));
        }
        let mut plan = self.plan(val, false)?;
        // The limit is made before the loop, also when it is a constant: the loop counts up to one value.
        if let Some(limit) = limit(&mut plan) {
            let v = self.value(limit);
            limit.v = Some(v);
        }
        Ok(Val::known(Ty::new(TyKind::Iter(val.ty)), Known::Plan(plan, self.here)))
    }

    /// Whether a loop over the iterable has to be unrolled: its items have types of their own.
    pub(crate) fn is_unrolled(&self, val: &Val) -> bool {
        match val.known.as_deref() {
            Some(Known::Lazy(Lazy::Enumerate(inner, _) | Lazy::Reversed(inner))) => self.is_unrolled(inner),
            Some(Known::Lazy(Lazy::Zip(vs) | Lazy::Map(_, vs))) => {
                !vs.is_empty() && vs.iter().all(|v| self.is_unrolled(v))
            }
            _ => val.ty.is_tuple(),
        }
    }

    /// Whether a loop that could be unrolled has many items of one type, which are indexed instead.
    fn is_long_and_uniform(&self, val: &Val) -> bool {
        fn is_uniform(val: &Val) -> bool {
            match val.known.as_deref() {
                Some(Known::Lazy(Lazy::Enumerate(inner, _) | Lazy::Reversed(inner))) => is_uniform(inner),
                Some(Known::Lazy(Lazy::Zip(vs) | Lazy::Map(_, vs))) => vs.iter().all(is_uniform),
                _ => val.ty.tuple_elems().is_some_and(|elems| elems.iter().all(|t| *t == elems[0])),
            }
        }
        self.unroll_count(val).is_some_and(|n| n > MAX_UNROLL_UNIFORM) && is_uniform(val)
    }

    /// Number of items of an iterable that is unrolled.
    pub(crate) fn unroll_count(&self, val: &Val) -> Option<usize> {
        match val.known.as_deref() {
            Some(Known::Lazy(Lazy::Enumerate(inner, _) | Lazy::Reversed(inner))) => self.unroll_count(inner),
            Some(Known::Lazy(Lazy::Zip(vs) | Lazy::Map(_, vs))) => {
                if vs.iter().any(|v| !self.is_unrolled(v)) {
                    return None;
                }
                vs.iter().filter_map(|v| self.unroll_count(v)).min()
            }
            _ => val.ty.tuple_elems().map(<[Ty]>::len),
        }
    }

    /// Item `k` of an iterable that is unrolled, or of a sequence that is unpacked.
    pub(crate) fn unrolled_item(&mut self, val: &Val, k: usize, n: usize) -> Result<Val> {
        match val.known.as_deref().cloned() {
            Some(Known::Unroll(inner)) => self.unrolled_item(&inner, k, n),
            Some(Known::Lazy(Lazy::Enumerate(inner, start))) => {
                let i = match start.as_int() {
                    Some(s) => Val::int(s + k as i128),
                    None => self.op("add", &[start.clone(), Val::int(k as i128)]),
                };
                let x = self.unrolled_item(&inner, k, n)?;
                Ok(Val::tuple(vec![i, x]))
            }
            Some(Known::Lazy(Lazy::Reversed(inner))) => {
                let n = self.unroll_count(&inner).unwrap_or(n);
                self.unrolled_item(&inner, n - 1 - k, n)
            }
            Some(Known::Lazy(Lazy::Zip(vs))) => {
                let items = vs.iter().map(|v| self.unrolled_item(v, k, n)).collect::<Result<Vec<_>>>()?;
                Ok(Val::tuple(items))
            }
            Some(Known::Lazy(Lazy::Map(f, vs))) => {
                let items = vs.iter().map(|v| self.unrolled_item(v, k, n)).collect::<Result<Vec<_>>>()?;
                self.call(&f, &items, &[])
            }
            _ if self.entries(val).is_some() => {
                let keys = self.keywords_method("keys", val, &[])?;
                self.get_item(&keys, &Val::int(k as i128))
            }
            _ if matches!(val.ty.kind(), TyKind::Obj(_)) => self.enum_item(val, k),
            _ => self.get_item(val, &Val::int(k as i128)),
        }
    }

    pub(crate) fn plan(&mut self, val: &Val, reversed: bool) -> Result<Plan> {
        match val.known.as_deref().cloned() {
            Some(Known::Lazy(lazy)) if !is_generator(val) => self.plan_lazy(&lazy, reversed),
            _ => self.plan_of_type(val, reversed),
        }
    }

    fn plan_of_type(&mut self, val: &Val, reversed: bool) -> Result<Plan> {
        match val.ty.kind() {
            TyKind::Range(_) => self.plan_range(val, reversed),
            TyKind::Array { ndim: 0, .. } => Err(Diagnostic::new(diag::NO_MATCHING_OP, "iteration over a 0-d array")),
            TyKind::Str if !reversed => {
                let bytes = self.bytes_of_text(val);
                Ok(Plan::Chars { text: val.clone(), bytes })
            }
            TyKind::Array { .. } | TyKind::Str | TyKind::Tuple { .. } => {
                let len = self.len(val)?;
                Ok(Plan::Items { seq: val.clone(), len: Some(len), reversed })
            }
            TyKind::Class(ClassTy { items: Some(_), .. }) | TyKind::Pending(..) => {
                let len = if reversed { Some(self.len(val)?) } else { None };
                Ok(Plan::Items { seq: val.clone(), len, reversed })
            }
            TyKind::Class(ClassTy { class, .. }) if self.has_method(*class, "__place__") => {
                if reversed && self.is_table(val, "__before__") {
                    return Ok(Plan::Generator(self.iterator_from_end(val)?, Rc::default()));
                }
                if reversed {
                    let text = format!("`{}` has no order, and cannot be reversed", val.ty);
                    return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text).note("reverse a list of its items"));
                }
                let token = self.class_method(val, "__places__", &[])?.unwrap_or_else(|| Val::int(0));
                Ok(Plan::Places { of: val.clone(), token, found: Rc::default() })
            }
            TyKind::Class(ClassTy { class, .. }) if self.has_method(*class, "__iter__") && !reversed => {
                let items = self.class_method(val, "__iter__", &[])?.unwrap_or_else(|| val.clone());
                self.plan(&items, reversed)
            }
            TyKind::Class(ClassTy { class, .. }) if self.has_method(*class, "__getitem__") => {
                let len = if reversed { Some(self.len(val)?) } else { None };
                Ok(Plan::Items { seq: val.clone(), len, reversed })
            }
            TyKind::Optional(_) => {
                let inner = self.unwrap_or_say(val, "'NoneType' object is not iterable")?;
                self.plan(&inner, reversed)
            }
            TyKind::Generator(_) if !reversed => Ok(Plan::Generator(val.clone(), Rc::default())),
            // It may grow meanwhile.
            TyKind::Instance { .. } if val.ty.as_buffer() == Some(Buffer::ByteArray) => {
                let len = if reversed { Some(self.len(val)?) } else { None };
                Ok(Plan::Items { seq: val.clone(), len, reversed })
            }
            TyKind::Instance { of, .. } if of.is_array() => self.plan_buffer(val, *of, reversed),
            TyKind::Iter(_) => match val.known.as_deref() {
                Some(Known::Keywords(..)) => {
                    let keys = self.keywords_method("keys", val, &[])?;
                    self.plan(&keys, reversed)
                }
                Some(Known::Plan(p, _)) if !reversed => Ok(p.clone()),
                _ => Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this iterator cannot be used here")),
            },
            _ => match self.overloaded_operation("builtins", "iter", &[val])? {
                Some(items) => self.plan(&items, reversed),
                None => Err(Diagnostic::new(diag::NO_MATCHING_OP, format!("`{}` cannot be iterated over", val.ty))
                    .note("loop over a range, an array, a list, a tuple or a string")),
            },
        }
    }

    /// The items of an `array.array` or the like, which are Python's numbers.
    fn plan_buffer(&mut self, val: &Val, of: Ty, reversed: bool) -> Result<Plan> {
        let (dtype, ..) = of.as_array().unwrap_or_else(|| lh_ir::bug!("{of} is no array"));
        let array = self.field(val, 0);
        let class = Val::of_type(Ty::dtype(crate::operations::instances::python_number(dtype)));
        Ok(Plan::Map(class, vec![self.plan(&array, reversed)?]))
    }

    fn plan_lazy(&mut self, lazy: &Lazy, reversed: bool) -> Result<Plan> {
        match lazy {
            Lazy::Reversed(inner) => self.plan(inner, !reversed),
            Lazy::Parallel(inner) => self.plan_parallel(inner),
            _ if reversed => Err(Diagnostic::new(diag::NO_MATCHING_CALL, "this iterable cannot be reversed")),
            Lazy::Enumerate(inner, start) => Ok(Plan::Enumerate(Box::new(self.plan(inner, false)?), start.clone())),
            Lazy::Zip(vs) => Ok(Plan::Zip(vs.iter().map(|v| self.plan(v, false)).collect::<Result<Vec<_>>>()?)),
            Lazy::Map(f, vs) => {
                Ok(Plan::Map(f.clone(), vs.iter().map(|v| self.plan(v, false)).collect::<Result<Vec<_>>>()?))
            }
            Lazy::Filter(f, items) => {
                let items = self.call_library("calls.filtered_once", &[f.clone(), items.clone()])?;
                self.plan(&items, false)
            }
            Lazy::NdIndex(shape) => {
                let total = self.product(shape);
                Ok(Plan::NdIndex { shape: shape.clone(), total, array: None, with_index: true })
            }
            Lazy::Flat(a) if a.ty.as_array().is_some_and(|(_, _, layout, _)| layout == Layout::C) => {
                let line = self.line(a);
                self.plan(&line, false)
            }
            Lazy::NdEnumerate(a) | Lazy::Flat(a) => {
                let shape = self.array_parts(a).shape;
                let total = self.product(&shape);
                let with_index = matches!(lazy, Lazy::NdEnumerate(_));
                Ok(Plan::NdIndex { shape, total, array: Some(a.clone()), with_index })
            }
        }
    }

    /// The index from the end of a sequence of so many items.
    fn place_from_end(&mut self, n: &Val, i: Val) -> Val {
        let last = self.op("sub", &[n.clone(), Val::int(1)]);
        self.op("sub", &[last, i])
    }

    fn take_char(&mut self, text: &Val, at: Val, after: &mut Vec<Val>) -> Result<Val> {
        let c = self.runtime(&rt::lh_str_char, &[text.clone(), at.clone()], Ty::str())?;
        let size = self.bytes_of_text(&c);
        after.push(self.op("add", &[at, size]));
        Ok(c)
    }

    /// Number of bytes of a string.
    fn bytes_of_text(&mut self, text: &Val) -> Val {
        let bytes = self.field(text, 2);
        self.op("and", &[bytes, Val::int((!ASCII).into())])
    }

    /// A row-major array's elements as one dimension.
    fn line(&mut self, a: &Val) -> Val {
        let (elem, _, layout, readonly) = a.ty.as_array().unwrap_or_else(|| lh_ir::bug!("{} is no array", a.ty));
        let parts = self.array_parts(a);
        let total = self.product(&parts.shape);
        let size = Val::int(elem.itemsize() as i128);
        let parts = ArrayParts { shape: vec![total], strides: vec![size], ..parts };
        self.make_array(&parts, Ty::array_ro(elem, 1, layout, readonly))
    }

    /// Product of extents.
    pub(crate) fn product(&mut self, shape: &[Val]) -> Val {
        shape.iter().fold(Val::int(1), |acc, s| {
            if acc.as_int() == Some(1) { s.clone() } else { self.op("mul", &[acc, s.clone()]) }
        })
    }

    fn plan_range(&mut self, val: &Val, reversed: bool) -> Result<Plan> {
        let p: Vec<Val> = (0..3).map(|i| self.field(val, i)).collect();
        let p: Vec<Val> = p.iter().map(|v| self.cast(v, Ty::int())).collect();
        let (start, stop, step) = (p[0].clone(), p[1].clone(), p[2].clone());
        match (step.as_int(), reversed) {
            (Some(1 | -1), false) => Ok(Plan::Range { start, stop, step }),
            _ if !reversed && self.is_stride(&start, &step) => Ok(Plan::Range { start, stop, step }),
            (Some(1), true) => {
                let one = Val::int(1);
                let (first, last) = (self.op("sub", &[stop, one.clone()]), self.op("sub", &[start, one]));
                Ok(Plan::Range { start: first, stop: last, step: Val::int(-1) })
            }
            _ => {
                let count = self.range_len(&start, &stop, &step)?;
                if !reversed {
                    return Ok(Plan::Steps { start, step, count });
                }
                let back = self.op("sub", &[count.clone(), Val::int(1)]);
                let back = self.op("mul", &[back, step.clone()]);
                let start = self.op("add", &[start, back]);
                let step = self.op("neg", &[step]);
                Ok(Plan::Steps { start, step, count })
            }
        }
    }

    /// A parallel loop counts from 0, whatever the range.
    fn plan_parallel(&mut self, val: &Val) -> Result<Plan> {
        if val.known.as_deref().is_some_and(|k| matches!(k, Known::Lazy(_))) {
            return Ok(Plan::Parallel(Box::new(self.plan(val, false)?)));
        }
        let p: Vec<Val> = (0..3).map(|i| self.field(val, i)).collect();
        let p: Vec<Val> = p.iter().map(|v| self.cast(v, Ty::int())).collect();
        let (start, stop, step) = (p[0].clone(), p[1].clone(), p[2].clone());
        if start.as_int() == Some(0) && step.as_int() == Some(1) {
            return Ok(Plan::Parallel(Box::new(Plan::Range { start, stop, step })));
        }
        let count = self.range_len(&start, &stop, &step)?;
        Ok(Plan::Parallel(Box::new(Plan::Counted { start, step, count })))
    }

    /// Start values of the states.
    fn states(&mut self, p: &Plan, out: &mut Vec<Val>) {
        match p {
            Plan::Range { start, .. } => out.push(start.clone()),
            Plan::Steps { start, count, .. } => out.extend([start.clone(), count.clone()]),
            Plan::Items { .. }
            | Plan::Chars { .. }
            | Plan::NdIndex { .. }
            | Plan::Counted { .. }
            | Plan::Places { .. } => {
                out.push(Val::int(0));
            }
            Plan::Parallel(inner) => self.states(inner, out),
            Plan::Generator(..) => {}
            Plan::Enumerate(inner, start) => {
                out.push(start.clone());
                self.states(inner, out);
            }
            Plan::Zip(ps) | Plan::Map(_, ps) => ps.iter().for_each(|p| self.states(p, out)),
        }
    }

    /// Whether a sequence has an item at an index, from its end on if it is reversed; without a length its own counts.
    fn has_item(&mut self, seq: &Val, len: Option<&Val>, reversed: bool, i: Val) -> Result<Val> {
        let n = len.cloned().map_or_else(|| self.len(seq), Ok)?;
        let has = self.op("lt", &[i.clone(), n.clone()]);
        if !reversed {
            return Ok(has);
        }
        let at = self.place_from_end(&n, i);
        let is_left = self.is_left(seq, &at)?;
        Ok(self.both(&has, &is_left))
    }

    /// Whether there is a next item, given the current states (taken from the front).
    fn has_next(&mut self, p: &Plan, states: &mut std::slice::Iter<'_, Val>) -> Result<Val> {
        let mut next = || states.next().expect("one state each").clone();
        match p {
            Plan::Range { stop, step, .. } => {
                let i = next();
                Ok(self.op(if step.as_int() == Some(-1) { "gt" } else { "lt" }, &[i, stop.clone()]))
            }
            Plan::Counted { count: end, .. } | Plan::Chars { bytes: end, .. } | Plan::NdIndex { total: end, .. } => {
                let i = next();
                Ok(self.op("lt", &[i, end.clone()]))
            }
            Plan::Parallel(inner) => self.has_next(inner, states),
            Plan::Steps { .. } => {
                next();
                let left = next();
                Ok(self.op("gt", &[left, Val::int(0)]))
            }
            Plan::Items { seq, len, reversed } => self.has_item(seq, len.as_ref(), *reversed, next()),
            Plan::Places { of, token, found } => {
                let i = next();
                let Some(at) = self.class_method(of, "__place__", &[i, token.clone()])? else {
                    lh_ir::bug!("`{}` has no places", of.ty)
                };
                // The types of items may be found later: what follows the loop is looked at meanwhile.
                let is_open = at.ty.is_never() && !self.dead;
                let at = if is_open { self.push(Inst::Zero, Ty::int()) } else { at };
                found.replace(Some(at.clone()));
                Ok(if at.ty.is_never() { at } else { self.op("ge", &[at, Val::int(0)]) })
            }
            Plan::Generator(g, last) => {
                let [has, item, _] = self.advance(g, &Val::constant(lh_ir::Const::None))?;
                last.replace(Some(item));
                Ok(has)
            }
            Plan::Enumerate(inner, _) => {
                next();
                self.has_next(inner, states)
            }
            Plan::Zip(ps) | Plan::Map(_, ps) => {
                let mut all = Val::bool(!ps.is_empty());
                for p in ps {
                    let mut items = Vec::new();
                    generators(p, &mut items);
                    let h = if items.is_empty() || all.as_bool() == Some(true) {
                        self.has_next(p, states)?
                    } else {
                        self.has_next_if(&all, p, &items, states)?
                    };
                    all = self.both(&all, &h);
                }
                Ok(all)
            }
        }
    }

    /// Whether there is a next item, if a condition holds: an exhausted generator must not be resumed.
    fn has_next_if(
        &mut self,
        cond: &Val,
        p: &Plan,
        items: &[&RefCell<Option<Val>>],
        states: &mut std::slice::Iter<'_, Val>,
    ) -> Result<Val> {
        let (yes, no) = self.branch(cond);
        self.cur = yes;
        let has = self.has_next(p, states)?;
        let given = items.iter().map(|i| i.borrow().clone().expect("it was just asked for"));
        let found = Val::tuple(std::iter::once(has).chain(given).collect());
        let from = self.cur;
        self.cur = no;
        let nothing = self.push(Inst::Zero, found.ty);
        let ty = found.ty;
        let found = self.join(&[(from, found), (no, nothing)], ty)?;
        for (k, item) in items.iter().enumerate() {
            item.replace(Some(self.field(&found, k as u32 + 1)));
        }
        Ok(self.field(&found, 0))
    }

    /// The item, and the next states (appended).
    #[expect(clippy::too_many_lines, reason = "one arm for each plan")]
    fn take_item(&mut self, p: &Plan, states: &mut std::slice::Iter<'_, Val>, after: &mut Vec<Val>) -> Result<Val> {
        let mut next = || states.next().expect("one state each").clone();
        match p {
            Plan::Range { step, .. } => {
                let i = next();
                after.push(self.op("add", &[i.clone(), step.clone()]));
                Ok(i)
            }
            Plan::Counted { start, step, .. } => {
                let i = next();
                after.push(self.op("add", &[i.clone(), Val::int(1)]));
                let far = if step.as_int() == Some(1) { i } else { self.op("mul", &[i, step.clone()]) };
                Ok(self.op("add", &[start.clone(), far]))
            }
            Plan::Parallel(inner) => self.take_item(inner, states, after),
            Plan::Steps { step, .. } => {
                let (i, left) = (next(), next());
                after.push(self.op("add", &[i.clone(), step.clone()]));
                after.push(self.op("sub", &[left, Val::int(1)]));
                Ok(i)
            }
            Plan::Items { seq, len, reversed } => {
                let i = next();
                after.push(self.op("add", &[i.clone(), Val::int(1)]));
                let at = match len {
                    Some(n) if *reversed => self.place_from_end(n, i),
                    _ => i,
                };
                self.item_unchecked(seq, &at)
            }
            Plan::Chars { text, .. } => self.take_char(text, next(), after),
            Plan::NdIndex { shape, array, with_index, .. } => {
                let i = next();
                after.push(self.op("add", &[i.clone(), Val::int(1)]));
                let index = self.unravel(&i, shape)?;
                let Some(a) = array else { return Ok(Val::tuple(index)) };
                let (t, ..) = a.ty.as_array().expect("an array");
                let x = self.load_item(a, &index, t);
                Ok(if *with_index { Val::tuple(vec![Val::tuple(index), x]) } else { x })
            }
            Plan::Places { of, found, .. } => {
                // Only the type of an item may be asked for.
                let start = next();
                let at = found.borrow().clone().unwrap_or(start);
                after.push(self.op("add", &[at.clone(), Val::int(1)]));
                match self.class_method(of, "__item__", &[at])? {
                    Some(item) => Ok(item),
                    None => lh_ir::bug!("`{}` has no items", of.ty),
                }
            }
            Plan::Generator(g, last) => Ok(self.generated(g, last.borrow().clone())),
            Plan::Enumerate(inner, _) => {
                let i = next();
                after.push(self.op("add", &[i.clone(), Val::int(1)]));
                let x = self.take_item(inner, states, after)?;
                Ok(Val::tuple(vec![i, x]))
            }
            Plan::Zip(ps) => {
                let items = ps.iter().map(|p| self.take_item(p, states, after)).collect::<Result<Vec<_>>>()?;
                Ok(Val::tuple(items))
            }
            Plan::Map(f, ps) => {
                let items = ps.iter().map(|p| self.take_item(p, states, after)).collect::<Result<Vec<_>>>()?;
                self.call(f, &items, &[])
            }
        }
    }

    /// A row-major position as an index; the extents are positive because there is an item.
    pub(crate) fn unravel(&mut self, at: &Val, shape: &[Val]) -> Result<Vec<Val>> {
        let mut rest = at.clone();
        let mut index = Vec::new();
        for (d, n) in shape.iter().enumerate().rev() {
            if d == 0 {
                index.push(rest.clone());
            } else {
                index.push(self.op("srem", &[rest.clone(), n.clone()]));
                rest = self.op("sdiv", &[rest, n.clone()]);
            }
        }
        index.reverse();
        Ok(index)
    }

    /// The `for` terminator.
    pub(crate) fn for_iter(&mut self, iter: Value, body: &untyped::Target, done: &untyped::Target) -> Result<()> {
        let it = self.val(iter);
        let (plan, started) = match it.known.as_deref() {
            Some(Known::Plan(p, b)) => (p.clone(), *b),
            Some(Known::Unroll(t)) => {
                let Some(n) = self.unroll_count(t).filter(|n| *n <= MAX_UNROLL) else {
                    return Err(Diagnostic::new(diag::TOO_LARGE, "this loop over a tuple is too long to unroll")
                        .note("use an array or a list"));
                };
                self.restart = Some((self.here, n as u32));
                return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this loop over a tuple cannot be unrolled"));
            }
            _ if it.ty.is_never() => {
                self.stop();
                return Ok(());
            }
            _ => return Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, "this iterator cannot be used here")),
        };
        let mut init = Vec::new();
        self.states(&plan, &mut init);
        let mut current = init.clone();
        if started != self.here {
            let header = self.typed_start(self.here);
            if matches!(plan, Plan::Parallel(_)) {
                // The library knows that its iterations do not depend on each other.
                let why = if self.is_library { Parallel::Known } else { Parallel::Asked };
                self.out.blocks[header.index()].parallel = Some(why);
            }
            current = init.iter().map(|s| Val::new(s.ty, self.out.new_param(header, s.ty))).collect();
        }
        let more = self.has_next(&plan, &mut current.iter())?;
        if more.ty.is_never() {
            self.stop();
            return Ok(());
        }
        let (yes, no) = self.branch(&more);
        self.cur = no;
        self.edge_to(done, None);
        self.cur = yes;
        let mut after = Vec::new();
        let item = self.take_item(&plan, &mut current.iter(), &mut after)?;
        if started != self.here {
            // Start values that are constants are made where the edges that carry them are completed.
            let parts = init.into_iter().zip(current).zip(after);
            let parts = parts.map(|((s, c), n)| (s, self.value(&c), self.value(&n))).collect();
            self.loops.insert(self.here, LoopState { body: body.block, header: self.here, parts });
        }
        if item.ty.is_never() {
            self.unknown_items = true;
            self.stop();
            return Ok(());
        }
        self.edge_to(body, Some(item));
        Ok(())
    }

    /// An item by an index known to be in range.
    pub(crate) fn item_unchecked(&mut self, seq: &Val, at: &Val) -> Result<Val> {
        match seq.ty.kind() {
            TyKind::Array { dtype, ndim: 1, .. } => Ok(self.load_item(seq, std::slice::from_ref(at), *dtype)),
            TyKind::Array { .. } => self.subarray(seq, at),
            TyKind::Class(ClassTy { items: Some(t), .. }) => Ok(self.stored_item(seq, at, *t)),
            TyKind::Pending(..) => Ok(Val::of_type(Ty::never())),
            TyKind::Str => self.runtime(&rt::lh_str_getitem, &[seq.clone(), at.clone()], Ty::str()),
            _ => self.get_item(seq, at),
        }
    }

    /// A stored item by an index known to be in range.
    pub(crate) fn stored_item(&mut self, object: &Val, at: &Val, t: Ty) -> Val {
        let p = self.item_address(object, at, t);
        let p = self.value(&p);
        if t.flatten().is_empty() { Val::of_type(t) } else { self.push(Inst::Load(p), t) }
    }

    /// Address of a stored item.
    pub(crate) fn item_address(&mut self, object: &Val, at: &Val, t: Ty) -> Val {
        let l = self.value(object);
        let data = self.push(Inst::ItemsData(l), Ty::ptr());
        let size = Val::int(t.mem_layout().1 as i128);
        let offset = self.op("mul", &[at.clone(), size]);
        let (d, o) = (self.value(&data), self.value(&offset));
        self.push(Inst::PtrAdd(d, o), Ty::ptr())
    }

    /// Compares for the smaller of two lengths and the like.
    pub(crate) fn less(&mut self, a: &Val, b: &Val) -> Result<Val> {
        self.compare(CmpOp::Lt, a, b)
    }

    /// A lazy iterable.
    pub(crate) fn lazy(&self, lazy: Lazy) -> Val {
        let ty = Ty::new(TyKind::Iter(Ty::none()));
        Val { ty, v: None, known: Some(Rc::new(Known::Lazy(lazy))) }
    }
}

impl Infer<'_> {
    /// Start values of a plan's states.
    pub(crate) fn plan_states(&mut self, p: &Plan) -> Vec<Val> {
        let mut out = Vec::new();
        self.states(p, &mut out);
        out
    }
    /// Whether there is a next item.
    pub(crate) fn plan_more(&mut self, p: &Plan, states: &[Val]) -> Result<Val> {
        self.has_next(p, &mut states.iter())
    }
    /// The item and the next states.
    pub(crate) fn plan_item(&mut self, p: &Plan, states: &[Val]) -> Result<(Val, Vec<Val>)> {
        let mut after = Vec::new();
        let item = self.take_item(p, &mut states.iter(), &mut after)?;
        Ok((item, after))
    }
}

/// The length of a range of constants; a step of 0 is an error at run time.
fn constant_len(start: Option<i128>, stop: Option<i128>, step: Option<i128>) -> Option<i64> {
    let (start, stop, step) = (start?, stop?, step.filter(|s| *s != 0)?);
    let far = ((stop - start) * step.signum()).max(0);
    let each = step.abs();
    i64::try_from(far / each + i128::from(far % each != 0)).ok()
}
