//! Tuples whose length is known only at run time, and calls that are given so many arguments.

use crate::cx::Infer;
use crate::emit::cannot_become;
use crate::val::Val;
use crate::world::Object;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::{Ty, Value, untyped};
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// `tuple(x)`: of a known length where there is one.
    pub(crate) fn tuple_of(&mut self, x: &Val) -> Result<Val> {
        // Of a namedtuple it is a plain one.
        if let Some(parts) = self.tuple_parts(x) {
            return Ok(Val::tuple(parts));
        }
        if x.ty.class().is_some_and(Class::is_tuple) || x.ty.is_never() {
            return Ok(x.clone());
        }
        if let Some(items) = self.mixed_items(x).map_or_else(|| self.unrolled_parts(x), |items| Ok(Some(items)))? {
            return Ok(items);
        }
        if x.ty.as_list().is_some() {
            return if self.as_sized(x) { Err(Self::unknown_length(x)) } else { self.tuple_of_list(x, false) };
        }
        let list = self.call_path("builtins.list", std::slice::from_ref(x), &[])?;
        self.tuple_of_list(&list, true)
    }

    /// A tuple of the items of a list, which may be the only use of the list.
    fn tuple_of_list(&mut self, list: &Val, is_own: bool) -> Result<Val> {
        if list.ty.as_list().is_none_or(Ty::is_never) {
            return Ok(Val::of_type(Ty::never()));
        }
        self.call_library(if is_own { "tuples.moved" } else { "tuples.copied" }, std::slice::from_ref(list))
    }

    /// A tuple of known length as one of another type, whose length is not.
    pub(crate) fn tuple_of_parts(&mut self, val: &Val, ty: Ty) -> Result<Val> {
        let Some(parts) = self.tuple_parts(val) else { return Err(cannot_become(val.ty, ty)) };
        let item = ty.items().unwrap_or_else(|| lh_ir::bug!("`{ty}` has no items"));
        let count = Val::int(parts.len() as i128);
        let n = self.value(&count);
        let made = self.push(Inst::New(n), ty);
        for (k, x) in parts.iter().enumerate() {
            let x = self.convert(x, item)?;
            let p = self.item_address(&made, &Val::int(k as i128), item);
            let (p, x) = (self.value(&p), self.value(&x));
            self.push_void(Inst::Store(p, x));
        }
        self.runtime(&rt::lh_items_set_len, &[made.clone(), count], Ty::none())?;
        Ok(made)
    }

    /// An index of an array has as many parts as are known while compiling.
    pub(crate) fn check_index(v: &Val, k: &Val) -> Result<()> {
        if !v.ty.is_array() || !k.ty.class().is_some_and(Class::is_tuple) {
            return Ok(());
        }
        let text = format!("an array cannot be indexed with `{}`, whose length is not known", k.ty);
        Err(Diagnostic::new(diag::NO_MATCHING_OP, text)
            .note("give the items of the tuple one by one, or take elements by a list of them, `a[list(t)]`"))
    }

    /// Adds items of unknown number to `(*a, b)`, which is a list from then on.
    pub(crate) fn build_at_run_time(&mut self, display: Value, x: &Val) -> Result<()> {
        if self.as_sized(x) {
            return Err(Self::unknown_length(x));
        }
        let parts = self.builders.remove(&display).unwrap_or_default();
        let list = if parts.is_empty() {
            self.call_library("builtins.list.__new__", std::slice::from_ref(x))?
        } else {
            let list = self.list_of(&parts, None)?;
            self.method(&list, "extend", std::slice::from_ref(x))?;
            list
        };
        self.vals[display.index()] = Some(list);
        Ok(())
    }

    /// The tuple of `(*a, b)`.
    pub(crate) fn built_tuple(&mut self, display: Value) -> Result<Val> {
        match self.builders.remove(&display) {
            Some(parts) => Ok(Val::tuple(parts)),
            None => self.tuple_of_list(&self.val(display), true),
        }
    }

    /// `f(*args)` of so many arguments as are found at run time: `None` unless the function takes any number.
    pub(crate) fn call_spread(&mut self, f: &Val, args: &Val, named: &[(String, Val)]) -> Result<Option<Val>> {
        let TyKind::Obj(o) = f.ty.kind() else { return Ok(None) };
        let Object::Path(path) = self.world.object(*o) else { return Ok(None) };
        let library = match &*path {
            "builtins.zip" => return self.columns(args, named).map(Some),
            "builtins.print" => {
                let sep = named.iter().find(|(name, v)| name == "sep" && !v.ty.is_none());
                let sep = sep.map_or(Val::str(" "), |(_, v)| v.clone());
                let text = self.call_library("tuples.spread_text", &[args.clone(), sep])?;
                return self.call(f, &[text], named).map(Some);
            }
            "builtins.min" => "tuples.least",
            "builtins.max" => "tuples.greatest",
            _ => return Ok(None),
        };
        let key = match named {
            [] => Val::of_type(Ty::none()),
            [(name, key)] if name == "key" => key.clone(),
            _ => return Ok(None),
        };
        let items = self.tuple_of(args)?;
        self.call_library(library, &[items, key]).map(Some)
    }

    /// `zip(*rows)`
    fn columns(&mut self, rows: &Val, named: &[(String, Val)]) -> Result<Val> {
        super::builtins::check_keywords("builtins.zip", named)?;
        let strict = named.first().map_or(Val::bool(false), |(_, strict)| strict.clone());
        let has_items = rows.ty.as_class().is_some_and(|c| c.items.is_some());
        let rows = match rows.ty.as_array() {
            Some((_, ndim, ..)) if ndim > 1 => rows.clone(),
            _ if has_items => rows.clone(),
            _ => self.call_path("builtins.list", std::slice::from_ref(rows), &[])?,
        };
        let row = match rows.ty.kind() {
            TyKind::Class(ClassTy { items: Some(row), .. }) => *row,
            TyKind::Array { .. } => rows.ty,
            _ => return Ok(Val::of_type(Ty::never())),
        };
        match row.kind() {
            _ if row.is_never() || matches!(row.kind(), TyKind::Pending(..)) => Ok(Val::of_type(Ty::never())),
            _ if row.is_number() => Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("`{row}` is not iterable"))
                .note("`zip(*rows)` is of rows")),
            TyKind::Tuple { elems, .. } if elems.is_empty() => Ok(Val::tuple(Vec::new())),
            TyKind::Tuple { elems, .. } => match self.wanted_columns() {
                Some(wanted) => self.call_library("tuples.parted", &[rows, Val::int(wanted.into())]),
                None if elems.iter().all(|t| *t == elems[0]) => self.call_library("tuples.columns", &[rows, strict]),
                None => {
                    let text = format!("the columns of `{row}` have several types");
                    Err(Diagnostic::new(diag::UNSUPPORTED_SYNTAX, text)
                        .note("take them apart at once, `a, b = zip(*rows)`, or write `[row[0] for row in rows]`"))
                }
            },
            TyKind::Generator(_) => self.call_library("tuples.columns_of_iterators", &[rows, strict]),
            _ => self.call_library("tuples.columns", &[rows, strict]),
        }
    }

    /// The number of variables among which the result of this instruction is taken apart, if nothing else is done.
    fn wanted_columns(&self) -> Option<u32> {
        let result = self.result?;
        let insts = &self.code.blocks[self.here.index()].insts;
        let wanted = insts.iter().find_map(|i| match i.inst {
            untyped::Inst::Unpack { seq, before, after: None } if seq == result => Some(before),
            _ => None,
        })?;
        (self.count_uses(result) == 1).then_some(wanted)
    }
}
