//! Patterns of `match` that ask for a class or for keys.

use crate::cx::Infer;
use crate::val::Val;
use crate::world::Object;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::types::TyKind;
use lh_ir::{Const, Ty};

/// Classes whose only positional sub-pattern is the value itself.
const THEMSELVES: [&str; 8] = [
    "builtins.str",
    "builtins.bytes",
    "builtins.bytearray",
    "builtins.list",
    "builtins.dict",
    "builtins.set",
    "builtins.frozenset",
    "builtins.tuple",
];

fn nothing() -> Val {
    Val::constant(Const::None)
}

impl Infer<'_> {
    /// The attributes that `case class(...)` matches, as a tuple, or `None`.
    pub(crate) fn match_class(&mut self, subject: &Val, class: &Val, count: u32, names: &[String]) -> Result<Val> {
        let is_one = self.call_path("builtins.isinstance", &[subject.clone(), class.clone()], &[])?;
        match is_one.as_bool() {
            Some(false) => Ok(nothing()),
            Some(true) => Ok(self.matched(subject, class, count, names)?.unwrap_or_else(nothing)),
            None => {
                let (yes, no) = self.branch(&is_one);
                self.cur = yes;
                let present = match subject.ty.kind() {
                    TyKind::Optional(t) => {
                        let v = self.value(subject);
                        self.push(Inst::Unwrap(v), *t)
                    }
                    _ => subject.clone(),
                };
                let Some(found) = self.matched(&present, class, count, names)? else {
                    let ways = [(self.cur, nothing()), (no, nothing())];
                    return self.join(&ways, Ty::none());
                };
                let ty = Ty::optional(found.ty);
                self.join(&[(self.cur, found), (no, nothing())], ty)
            }
        }
    }

    /// The attributes of an instance, if it has all.
    fn matched(&mut self, subject: &Val, class: &Val, count: u32, names: &[String]) -> Result<Option<Val>> {
        let mut parts = Vec::new();
        let mut wanted = Vec::new();
        if count > 0 {
            match self.positional(class)? {
                None if count == 1 => parts.push(subject.clone()),
                known => {
                    let known = known.unwrap_or_else(|| vec![String::new()]);
                    if known.len() < count as usize {
                        let n = known.len();
                        let text = format!("this pattern has {count} positional sub-patterns, its class accepts {n}");
                        return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
                    }
                    wanted.extend(known.into_iter().take(count as usize));
                }
            }
        }
        wanted.extend(names.iter().cloned());
        for name in wanted {
            let Ok(part) = self.get_attr(subject, &name) else { return Ok(None) };
            parts.push(part);
        }
        Ok(Some(Val::tuple(parts)))
    }

    /// The names that positional sub-patterns of a class stand for; `None` if the only one is the value itself.
    fn positional(&mut self, class: &Val) -> Result<Option<Vec<String>>> {
        let TyKind::Obj(o) = class.ty.kind() else { return Ok(None) };
        match self.world.object(*o) {
            Object::Path(p) if THEMSELVES.contains(&p.as_str()) => return Ok(None),
            Object::NamedTupleClass(n) => return Ok(Some(n.fields)),
            _ => {}
        }
        let Some(names) = self.world.attr(*o, "__match_args__") else { return Ok(Some(Vec::new())) };
        let names = self.object(names)?;
        let names = self.tuple_parts(&names).unwrap_or_default();
        Ok(Some(names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()))
    }

    /// The values of keys, if a mapping has all of them, or `None`.
    pub(crate) fn match_keys(&mut self, subject: &Val, keys: &Val) -> Result<Val> {
        let keys = self.tuple_parts(keys).unwrap_or_default();
        if self.entries(subject).is_some() {
            let mut found = Vec::new();
            for key in &keys {
                match self.keyword(subject, key)? {
                    Some(value) => found.push(value),
                    None => return Ok(nothing()),
                }
            }
            return Ok(Val::tuple(found));
        }
        if keys.is_empty() {
            return Ok(Val::tuple(Vec::new()));
        }
        let mut lacking = Vec::new();
        for key in &keys {
            let has = self.contains(key, subject, false)?;
            let (yes, no) = self.branch(&has);
            lacking.push((no, nothing()));
            self.cur = yes;
        }
        let found = keys.iter().map(|k| self.get_item(subject, k)).collect::<Result<Vec<_>>>()?;
        if found.iter().any(|v| v.ty.is_never()) {
            return Ok(Val::of_type(Ty::never()));
        }
        let found = Val::tuple(found);
        let ty = Ty::optional(found.ty);
        lacking.push((self.cur, found));
        self.join(&lacking, ty)
    }

    /// Whether a value is the class, or the traceback, of an exception.
    pub(crate) fn of_exception(v: &Val) -> Option<&'static str> {
        match v.ty.kind() {
            TyKind::BoundMethod { recv, name } if *recv == Ty::exc() => {
                ["__class__", "__traceback__"].into_iter().find(|n| n == name)
            }
            _ => None,
        }
    }

    /// Refuses a comparison of an exception's class: which it is exactly, is not kept.
    pub(crate) fn check_not_of_exception(&self, a: &Val, b: &Val) -> Result<()> {
        match [a, b].into_iter().find_map(Self::of_exception) {
            Some(_) => {
                let text = "the class of an exception cannot be compared in compiled code";
                Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("ask `issubclass(kind, X)` or `isinstance(e, X)`"))
            }
            None => Ok(()),
        }
    }
}
