//! Iterators as values.
//!
//! `enumerate(a)` and the like stay descriptions ([`Lazy`]) where one consumer takes all that they give: a loop over
//! one is a counted loop then. Any other iterator is an object that goes on where it stopped, a generator of the
//! library (`calls.py`), which names, tuples, callers and callees share.

use crate::cx::Infer;
use crate::val::{Known, Lazy, Plan, Val};
use crate::world::Object;
use lh_ir::diag::Result;
use lh_ir::func::{Derivative, Semantics};
use lh_ir::types::{Buffer, ClassTy, TyKind};
use lh_ir::untyped::{self, Inst};
use lh_ir::{Block, Ty, Value};

/// How an instruction uses an iterator.
enum Use {
    /// It goes through the items, at once.
    Consumes,
    /// It asks for an item by its index, or for an attribute: `a.flat[0]`.
    Looks,
    /// It is an item of the loop over tuples that alone had the iterator before it was unrolled.
    Unrolled,
    /// It keeps the iterator, or advances it.
    Keeps,
}

fn use_of(inst: &Inst, v: Value) -> Use {
    match inst {
        Inst::Iter(_) | Inst::Unpack { .. } | Inst::YieldFrom(_) => Use::Consumes,
        Inst::UnpackItem(..) => Use::Unrolled,
        Inst::ListExtend(_, x) if *x == v => Use::Consumes,
        Inst::Contains { container, .. } if *container == v => Use::Consumes,
        Inst::Call { func, .. } if *func != v => Use::Consumes,
        Inst::GetItem(of, _) | Inst::SetItem(of, ..) | Inst::GetAttr(of, _) if *of == v => Use::Looks,
        _ => Use::Keeps,
    }
}

/// An iterator as the object that advances, if it is one.
pub(crate) fn is_generator(v: &Val) -> bool {
    matches!(v.ty.kind(), TyKind::Generator(_))
}

/// Whether a function of the library asks what it is given again after its end.
pub(crate) fn asks_again(callee: &untyped::Code) -> bool {
    callee.file.contains("kept_itertools") || callee.file.contains("itertools") && !callee.is_generator
}

/// Whether an iterator is one that exists only while compiling. A parallel range is no iterator: each loop over it
/// begins at its start.
pub(crate) fn is_description(v: &Val) -> bool {
    match v.known.as_deref() {
        Some(Known::Lazy(lazy)) => !matches!(lazy, Lazy::Parallel(_)) && !is_generator(v),
        _ => false,
    }
}

impl Infer<'_> {
    /// The result of an instruction, which is an object if it is an iterator that is kept.
    pub(crate) fn kept(&mut self, result: Value, val: Val) -> Result<Val> {
        let is_flat = val.flat().is_some();
        if !is_description(&val) {
            return Ok(val);
        }
        let waits = self.has_begun(&val) && !self.is_consumed_at_once(result);
        if !waits && self.has_one_consumer(result, is_flat) {
            return Ok(val);
        }
        let object = self.iterator(&val)?;
        // While the type of the items is unknown, another sweep follows.
        if object.ty.is_never() && !self.dead {
            return Ok(val);
        }
        // Items of `a.flat` have indices all the same.
        Ok(if is_flat { Val { known: val.known, ..object } } else { object })
    }

    /// Whether a value made in this block has at most one consumer, which runs once for each time that it is made.
    fn has_one_consumer(&self, v: Value, may_look: bool) -> bool {
        let mut consumer = None;
        for (i, data) in self.code.blocks.iter().enumerate() {
            for d in &data.insts {
                let mut uses = 0;
                d.inst.for_each_operand(|used| uses += usize::from(used == v));
                match use_of(&d.inst, v) {
                    _ if uses == 0 => {}
                    Use::Consumes if uses == 1 && consumer.is_none() => consumer = Some(Block::new(i)),
                    Use::Looks if uses == 1 && may_look => {}
                    Use::Unrolled => {}
                    Use::Consumes | Use::Looks | Use::Keeps => return false,
                }
            }
            let targets = data.term.iter().flat_map(untyped::Term::targets).chain(&data.unwind);
            let is_passed = targets.flat_map(|t| &t.args).any(|a| *a == v);
            let is_operand = match &data.term {
                Some(untyped::Term::Return(x) | untyped::Term::Branch { cond: x, .. }) => *x == v,
                _ => false,
            };
            if is_passed || is_operand {
                return false;
            }
        }
        consumer.is_none_or(|at| at == self.here || !self.comes_again(at))
    }

    /// The form of an iterator of `itertools` that is not made for one loop: it is asked again after its end, or after
    /// an exception.
    pub(crate) fn kept_form(&mut self, path: &str) -> Option<String> {
        let kept = format!("kept_itertools.{}", path.strip_prefix("itertools.")?);
        if self.is_library || self.is_differentiated() || self.world.library(&kept).is_none() {
            return None;
        }
        let is_for_one_loop = self.result.is_none_or(|r| self.is_for_one_loop(r));
        (!is_for_one_loop).then_some(kept)
    }

    /// Whether one loop takes all that an iterator gives, or one function that keeps nothing.
    fn is_for_one_loop(&mut self, v: Value) -> bool {
        let calls = self.code.blocks.iter().flat_map(|b| &b.insts).filter_map(|d| match &d.inst {
            Inst::Call { func, .. } => {
                let mut is_given = false;
                d.inst.for_each_operand(|used| is_given |= used == v);
                is_given.then_some((*func, d.result))
            }
            _ => None,
        });
        let calls: Vec<_> = calls.collect();
        let passes_on = |path: &str| {
            path.starts_with("itertools.")
                || matches!(path.strip_prefix("builtins."), Some("enumerate" | "filter" | "iter" | "map" | "zip"))
        };
        self.has_one_consumer(v, false)
            && calls.into_iter().all(|(func, result)| match self.path_of(func) {
                Some(path) if passes_on(&path) => result.is_none_or(|r| self.is_for_one_loop(r)),
                path => path.is_some(),
            })
    }

    /// Where what is called lives, if it is known already.
    fn path_of(&mut self, func: Value) -> Option<String> {
        let TyKind::Obj(o) = self.vals[func.index()].as_ref()?.ty.kind() else { return None };
        match self.world.object(*o) {
            Object::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Whether an iterator notes where it is made how long a sequence is, or the size of a table.
    fn has_begun(&mut self, v: &Val) -> bool {
        match v.known.as_deref().cloned() {
            Some(Known::Lazy(Lazy::Reversed(items))) => may_shrink(items.ty),
            Some(Known::Lazy(Lazy::Enumerate(items, _) | Lazy::Filter(_, items))) => self.has_begun(&items),
            Some(Known::Lazy(Lazy::Zip(all) | Lazy::Map(_, all))) => all.iter().any(|v| self.has_begun(v)),
            _ => self.is_table(v, "__place__"),
        }
    }

    /// Whether nothing can happen between an instruction of this block and the one that uses its result.
    fn is_consumed_at_once(&self, result: Value) -> bool {
        let insts = &self.code.blocks[self.here.index()].insts;
        let after = insts.iter().skip_while(|d| d.result != Some(result)).skip(1);
        let is_quiet = |i: &Inst| {
            matches!(
                i,
                Inst::Const(_) | Inst::Global(_) | Inst::Free(_) | Inst::Import { .. } | Inst::MakeFunction { .. }
            )
        };
        after.map(|d| &d.inst).find(|i| !is_quiet(i)).is_some_and(|i| {
            let mut is_used = false;
            i.for_each_operand(|v| is_used |= v == result);
            is_used
        })
    }

    /// Whether a block may run twice before this one runs again.
    fn comes_again(&self, at: Block) -> bool {
        let mut seen = vec![false; self.code.blocks.len()];
        seen[self.here.index()] = true;
        let mut next = vec![at];
        while let Some(b) = next.pop() {
            let data = &self.code.blocks[b.index()];
            for t in data.term.iter().flat_map(untyped::Term::targets).chain(&data.unwind) {
                if t.block == at {
                    return true;
                }
                if !std::mem::replace(&mut seen[t.block.index()], true) {
                    next.push(t.block);
                }
            }
        }
        false
    }

    /// `iter(v)`: the object that gives the items of an iterable, or the iterator itself.
    pub(crate) fn iterator(&mut self, v: &Val) -> Result<Val> {
        if is_generator(v) {
            return Ok(v.clone());
        }
        let (name, parts) = match v.known.as_deref().cloned() {
            Some(Known::Plan(Plan::Generator(g, _), _)) => return Ok(g),
            Some(Known::Lazy(Lazy::Parallel(items))) => ("calls.each", vec![items]),
            Some(Known::Lazy(Lazy::Enumerate(items, start))) => {
                ("calls.enumerated", vec![self.iterator(&items)?, start])
            }
            Some(Known::Lazy(Lazy::Zip(all))) => ("calls.zipped", self.iterators(&all)?),
            Some(Known::Lazy(Lazy::Map(f, all))) => {
                let all = self.iterators(&all)?;
                ("calls.map", std::iter::once(f).chain(all).collect())
            }
            Some(Known::Lazy(Lazy::Filter(f, items))) => ("calls.filter", vec![f, self.iterator(&items)?]),
            Some(Known::Lazy(Lazy::NdIndex(shape))) => ("calls.indices", vec![Val::tuple(shape)]),
            Some(Known::Lazy(Lazy::NdEnumerate(a))) => ("calls.numbered", vec![a]),
            Some(Known::Lazy(Lazy::Flat(a))) => ("calls.elements", vec![a]),
            Some(Known::Lazy(Lazy::Reversed(items))) => return self.iterator_from_end(&items),
            _ if self.is_table(v, "__place__") => {
                let token = self.class_method(v, "__places__", &[])?.unwrap_or_else(|| Val::int(0));
                ("calls.entries", vec![v.clone(), token])
            }
            // One iterator for all texts: this one is no part of its type.
            _ if v.as_str().is_some() => ("calls.each", vec![Val::new(v.ty, self.value(v))]),
            _ => ("calls.each", vec![v.clone()]),
        };
        self.call_library(name, &parts)
    }

    /// An iterator for a function of the library that goes through it once, and alone: what it takes of others need not
    /// be there for the next one that asks.
    pub(crate) fn at_once(&mut self, v: &Val) -> Result<Val> {
        let (name, parts) = match v.known.as_deref().cloned() {
            Some(Known::Lazy(Lazy::Enumerate(items, start))) => ("calls.enumerated_once", vec![items, start]),
            Some(Known::Lazy(Lazy::Zip(all))) => ("calls.zipped_once", all),
            Some(Known::Lazy(Lazy::Map(f, all))) => ("calls.mapped_once", std::iter::once(f).chain(all).collect()),
            Some(Known::Lazy(Lazy::Filter(f, items))) => ("calls.filtered_once", vec![f, items]),
            _ => return self.iterator(v),
        };
        self.call_library(name, &parts)
    }

    /// Whether derivatives are made of the function: not all generators have one.
    pub(crate) fn is_differentiated(&self) -> bool {
        self.options.derivative != Derivative::None
    }

    fn iterators(&mut self, all: &[Val]) -> Result<Vec<Val>> {
        all.iter().map(|v| self.iterator(v)).collect()
    }

    /// `reversed(v)`, which begins at the end that the sequence has now.
    pub(crate) fn iterator_from_end(&mut self, v: &Val) -> Result<Val> {
        if self.is_table(v, "__before__") {
            let token = self.class_method(v, "__places__", &[])?.unwrap_or_else(|| Val::int(0));
            return self.call_library("calls.entries_from_end", &[v.clone(), token]);
        }
        let name = if may_shrink(v.ty) { "calls.from_end" } else { "calls.backwards" };
        self.call_library(name, std::slice::from_ref(v))
    }

    /// Whether an instance says itself which entry comes next, by a method.
    pub(crate) fn is_table(&mut self, v: &Val, method: &str) -> bool {
        v.ty.class().is_some_and(|class| self.has_method(class, method))
    }

    /// Arguments with objects in place of iterators, for a callee that may keep them: only functions that the compiler
    /// and the library know by their paths go through a description.
    pub(crate) fn with_iterators(&mut self, func: &Val, mut args: Vec<Val>) -> Result<Vec<Val>> {
        if let TyKind::Obj(o) = func.ty.kind()
            && let Object::Path(p) = self.world.object(*o)
            && &*p != "functools.partial"
        {
            return Ok(args);
        }
        for arg in &mut args {
            if is_description(arg) && arg.flat().is_none() {
                *arg = self.iterator(arg)?;
            }
        }
        Ok(args)
    }

    /// Whether a value is an argument of a call in this block.
    pub(crate) fn is_given(&self, v: Value) -> bool {
        self.code.blocks[self.here.index()].insts.iter().any(|i| match &i.inst {
            Inst::Call { args, .. } => args.contains(&v),
            _ => false,
        })
    }

    /// The outermost iterable of a generator expression, as the function that runs it takes it.
    pub(crate) fn given_iterable(&mut self, v: &Val) -> Result<Val> {
        if self.is_differentiated() {
            return self.iter(v);
        }
        if is_description(v) || is_generator(v) || self.is_table(v, "__place__") {
            return self.iterator(v);
        }
        match v.ty.kind() {
            TyKind::Array { .. } | TyKind::Range(_) | TyKind::Str => Ok(v.clone()),
            TyKind::Class(ClassTy { items: Some(_), .. }) => Ok(v.clone()),
            _ => self.iter(v),
        }
    }

    /// Whether there is an item at an index of a sequence that may have lost items since its length was asked for.
    pub(crate) fn is_left(&mut self, seq: &Val, at: &Val) -> Result<Val> {
        if !may_shrink(seq.ty) {
            return Ok(Val::bool(true));
        }
        let len = self.len(seq)?;
        Ok(self.op("lt", &[at.clone(), len]))
    }

    /// The next items of an iterator, of which there must be so many and no more.
    pub(crate) fn unpack_iterator(&mut self, it: &Val, want: usize) -> Result<Val> {
        let mut items = Vec::new();
        for k in 0..want {
            let [has, item, _] = self.advance(it, &Val::of_type(Ty::none()))?;
            let missing = self.op("not", &[has]);
            let text = format!("not enough values to unpack (expected {want}, got {k})");
            self.raise_if(&missing, crate::emit::exc::VALUE_ERROR, &text);
            items.push(item);
        }
        let [more, ..] = self.advance(it, &Val::of_type(Ty::none()))?;
        let text = format!("too many values to unpack (expected {want})");
        self.raise_if(&more, crate::emit::exc::VALUE_ERROR, &text);
        Ok(Val::tuple(items))
    }

    /// The parts of an iterator that is no object yet, over tuples: its items have types of their own.
    pub(crate) fn unrolled_parts(&mut self, v: &Val) -> Result<Option<Val>> {
        if !is_description(v) || !self.is_unrolled(v) {
            return Ok(None);
        }
        let n = self.unroll_count(v).unwrap_or(0);
        let items = (0..n).map(|k| self.unrolled_item(v, k, n)).collect::<Result<Vec<_>>>()?;
        Ok(Some(Val::tuple(items)))
    }

    /// Arguments of `sum` with a beginning that has the type which the items ask for: an undecided container becomes
    /// like those that are added to it, and an integer of Python `uint64` where such are added, so that no digit is
    /// lost. `None` where the beginning is right as it is.
    pub(crate) fn beginning_of_sum(&mut self, args: &[Val], kwargs: &[(String, Val)]) -> Result<Option<Vec<Val>>> {
        let (all, start) = match (args, kwargs) {
            ([all], []) => (all, Val::int(0)),
            ([all, start], []) => (all, start.clone()),
            ([all], [(name, start)]) if name == "start" => (all, start.clone()),
            _ => return Ok(None),
        };
        match start.ty.kind() {
            TyKind::Pending(site, class) => {
                if let Some(TyKind::Class(c)) = self.items_of(all, true)?.map(Ty::kind)
                    && c.class == *class
                {
                    self.pending.learn_all(*site, &c.args);
                }
                Ok(None)
            }
            _ if start.ty == Ty::int() && self.semantics() == Semantics::Python => {
                let items = match all.ty.kind() {
                    TyKind::Generator(g) => Some(g.item),
                    kind => self.items_of(all, matches!(kind, TyKind::Iter(_)))?,
                };
                if items != Some(Ty::u64()) {
                    return Ok(None);
                }
                let dtype = Val::of_type(Ty::dtype(Ty::u64()));
                Ok(Some(vec![all.clone(), self.call_library("numpy.casting.fitting", &[start, dtype])?]))
            }
            _ => Ok(None),
        }
    }
}

/// Whether a sequence may lose items while it is gone through.
fn may_shrink(t: Ty) -> bool {
    match t.kind() {
        TyKind::Class(_) | TyKind::Pending(..) => true,
        _ => t.as_buffer() == Some(Buffer::ByteArray),
    }
}
