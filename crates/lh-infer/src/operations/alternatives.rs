//! Values that are one of several alternatives: functions, or instances of classes with a common base.
//!
//! A number says which one it is ([`TyKind::Choice`]). An operation branches on it, is done on each alternative by
//! itself, and the results meet. So alternatives need no common signature or layout. An alternative that cannot do what
//! others can raises what CPython raises, when it comes there. Behind `isinstance`, only those are left that it names.

use crate::cx::Infer;
use crate::emit::{exc, python_name};
use crate::val::{Known, Method, Val};
use crate::world::Object;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Inst;
use lh_ir::types::TyKind;
use lh_ir::{Block, Const, ExcId, Ty};

/// The exception that an alternative raises instead of an operation, and its text.
pub(crate) type Raised = (ExcId, String);

/// The diagnostics by which an operation is refused for the types of its operands.
const REFUSALS: [diag::Id; 4] =
    [diag::NO_MATCHING_OP, diag::NO_MATCHING_CALL, diag::UNKNOWN_ATTRIBUTE, diag::UNSUPPORTED_CALL];

/// Functions that compiled code has for instances, which ask the class of an argument.
const ASKING: [&str; 5] = ["attr.", "builtins.", "copy.", "dataclasses.", "math."];

/// Those of them that only hold their arguments.
const HOLDING: [&str; 7] = [
    "builtins.enumerate",
    "builtins.filter",
    "builtins.iter",
    "builtins.map",
    "builtins.print",
    "builtins.reversed",
    "builtins.zip",
];

/// The name of the class of an alternative in texts of exceptions.
pub(crate) fn class_name(v: &Val) -> String {
    python_name(v.ty)
}

/// A TypeError with a text.
pub(crate) fn type_error(text: String) -> Option<Raised> {
    Some((exc::TYPE_ERROR, text))
}

fn no_attribute(v: &Val, name: &str) -> Raised {
    (exc::ATTRIBUTE_ERROR, format!("'{}' object has no attribute '{name}'", class_name(v)))
}

/// Whether a value is one of several instances.
pub(crate) fn is_several(v: &Val) -> bool {
    v.ty.several().is_some()
}

impl Infer<'_> {
    /// Does something with values as each of their alternatives, and joins the results. Where only some can do it, the
    /// others raise what `raised` says; it is asked about refusals for the types alone, never about those of a method.
    pub(crate) fn each(
        &mut self,
        given: &[Val],
        raised: &dyn Fn(&[Val], &Diagnostic) -> Option<Raised>,
        act: &mut dyn FnMut(&mut Self, &[Val]) -> Result<Val>,
    ) -> Result<Val> {
        let mut ways = Vec::new();
        self.ways(given.to_vec(), &mut ways);
        let mut results: Vec<(Block, Val)> = Vec::new();
        let mut refused: Vec<(Block, Raised)> = Vec::new();
        let (mut first, mut ty) = (None, Ty::never());
        for (block, own) in &ways {
            self.cur = *block;
            match act(self, own) {
                Ok(_) if self.dead => {}
                Ok(r) => {
                    ty = crate::convert::unify(ty, r.ty, &mut self.pending)
                        .filter(|t| ways.len() == 1 || !matches!(t.kind(), TyKind::Iter(_)))
                        .ok_or_else(|| no_common_type(&given[0], ty, r.ty))?;
                    results.push((self.cur, r));
                }
                Err(d) => {
                    let is_own = d.file.is_empty() && d.widen.is_none() && d.literal.is_none();
                    match raised(own, &d).filter(|_| is_own && REFUSALS.contains(&d.id)) {
                        Some(raised) => refused.push((self.cur, raised)),
                        None => return Err(d),
                    }
                    first.get_or_insert(d);
                }
            }
            self.dead = false;
        }
        match first {
            Some(d) if refused.len() == ways.len() => return Err(d),
            _ => {}
        }
        for (block, (exc, text)) in refused {
            self.cur = block;
            self.raise_text(exc, &text);
        }
        let constant = results.first().and_then(|(_, r)| r.as_const()).cloned();
        let same = constant.filter(|c| results.iter().all(|(_, r)| r.as_const() == Some(c)));
        let joined = self.join(&results, ty)?;
        Ok(same.map_or(joined, |c| Val::known(ty, Known::Const(c))))
    }

    /// Branches on what values are, so that each block has them as one alternative.
    fn ways(&mut self, given: Vec<Val>, ways: &mut Vec<(Block, Vec<Val>)>) {
        let found = given.iter().enumerate().find_map(|(at, v)| match v.ty.kind() {
            TyKind::Choice(of) => Some((at, of)),
            _ => None,
        });
        let Some((at, of)) = found else {
            ways.push((self.cur, given));
            return;
        };
        let which = self.field(&given[at], 0);
        for i in 0..of.len() {
            let mut own = given.clone();
            let rest = if i + 1 < of.len() {
                let here = self.op("eq", &[which.clone(), Val::int(i as i128)]);
                let (yes, no) = self.branch(&here);
                self.cur = yes;
                Some(no)
            } else {
                None
            };
            own[at] = self.field(&given[at], i as u32 + 1);
            self.ways(own, ways);
            self.cur = rest.unwrap_or(self.cur);
        }
    }

    /// `v.name`. A method is looked up again by its call.
    pub(crate) fn attr_of_each(&mut self, v: &Val, of: &[Ty], name: &str) -> Result<Val> {
        if !of.iter().any(|t| self.is_method(*t, name)) {
            let found =
                self.each(std::slice::from_ref(v), &|own, _| Some(no_attribute(&own[0], name)), &mut |own, x| {
                    own.get_attr(&x[0], name)
                });
            return found.map_err(|d| if d.file.is_empty() { none_has(d, v, of, name) } else { d });
        }
        let which = self.field(v, 0);
        for (i, t) in of.iter().enumerate() {
            if !self.has_member(*t, name) {
                let here = self.op("eq", &[which.clone(), Val::int(i as i128)]);
                let (exc, text) = no_attribute(&Val::of_type(*t), name);
                self.raise_if(&here, exc, &text);
            }
        }
        let ty = Ty::new(TyKind::BoundMethod { recv: v.ty, name: name.to_owned() });
        Ok(Val::known(ty, Known::Method(v.clone(), Method::Each(name.into()))))
    }

    /// Calls the method of a name of whichever alternative a value is.
    pub(crate) fn call_method_of_each(
        &mut self,
        v: &Val,
        name: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Val> {
        let raised = |own: &[Val], d: &Diagnostic| match d.id {
            diag::UNKNOWN_ATTRIBUTE => Some(no_attribute(&own[0], name)),
            _ => type_error(d.headline.replace('`', "'")),
        };
        self.each(std::slice::from_ref(v), &raised, &mut |own, x| {
            let method = own.get_attr(&x[0], name)?;
            own.call(&method, args, kwargs)
        })
    }

    /// A call of whichever function or instance it is.
    pub(crate) fn call_choice(&mut self, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let raised = |own: &[Val], d: &Diagnostic| match own[0].ty.kind() {
            TyKind::Class(_) if d.id == diag::UNSUPPORTED_CALL => {
                type_error(format!("'{}' object is not callable", class_name(&own[0])))
            }
            TyKind::Class(_) | TyKind::Obj(_) => type_error(d.headline.replace('`', "'")),
            _ => None,
        };
        self.each(std::slice::from_ref(f), &raised, &mut |own, x| own.call(&x[0], args, kwargs))
    }

    /// A call of a function that asks the class of an argument; `None` of other functions and arguments.
    pub(crate) fn builtin_of_each(
        &mut self,
        path: &str,
        args: &[Val],
        kwargs: &[(String, Val)],
    ) -> Result<Option<Val>> {
        let asks = || ASKING.iter().any(|module| path.starts_with(module)) && !HOLDING.contains(&path);
        if !args.iter().any(is_several) || !asks() {
            return Ok(None);
        }
        let raised = |own: &[Val], d: &Diagnostic| {
            let class = class_name(&own[0]);
            type_error(match path {
                "builtins.abs" => format!("bad operand type for abs(): '{class}'"),
                "builtins.float" => format!("float() argument must be a string or a real number, not '{class}'"),
                "builtins.hash" => format!("unhashable type: '{class}'"),
                "builtins.len" => format!("object of type '{class}' has no len()"),
                "builtins.round" => format!("type {class} doesn't define __round__ method"),
                _ => d.headline.replace('`', "'"),
            })
        };
        let method = match path {
            "builtins.abs" | "builtins.float" | "builtins.hash" | "builtins.round" => path.strip_prefix("builtins."),
            _ => None,
        };
        let act = &mut |own: &mut Self, x: &[Val]| match (method, x[0].ty.class()) {
            (Some(name), Some(class)) if !own.has_method(class, &format!("__{name}__")) => {
                let text = format!("`{name}` is not defined for `{}`", x[0].ty);
                Err(Diagnostic::new(diag::NO_MATCHING_CALL, text))
            }
            _ => own.call_path(path, x, kwargs),
        };
        self.each(args, &raised, act).map(Some)
    }

    /// `v[k]`
    pub(crate) fn item_of_each(&mut self, v: &Val, k: &Val) -> Result<Val> {
        let raised =
            |x: &[Val], _: &Diagnostic| type_error(format!("'{}' object is not subscriptable", class_name(&x[0])));
        self.each(std::slice::from_ref(v), &raised, &mut |own, x| own.get_item(&x[0], k))
    }

    /// `v[k] = x`
    pub(crate) fn set_item_of_each(&mut self, v: &Val, k: &Val, x: &Val) -> Result<()> {
        let raised = |v: &[Val], _: &Diagnostic| {
            type_error(format!("'{}' object does not support item assignment", class_name(&v[0])))
        };
        let set = |own: &mut Self, v: &[Val]| own.set_item(&v[0], k, x).map(|()| Val::of_type(Ty::none()));
        self.each(std::slice::from_ref(v), &raised, &mut |own, v| set(own, v)).map(drop)
    }

    /// `v.name = x`
    pub(crate) fn set_attr_of_each(&mut self, v: &Val, name: &str, x: &Val) -> Result<()> {
        let raised = |v: &[Val], _: &Diagnostic| Some(no_attribute(&v[0], name));
        let set = |own: &mut Self, v: &[Val]| own.set_class_field(&v[0], name, x).map(|()| Val::of_type(Ty::none()));
        self.each(std::slice::from_ref(v), &raised, &mut |own, v| set(own, v)).map(drop)
    }

    /// A value that is known to be one of some of its alternatives.
    pub(crate) fn among(&mut self, v: &Val, places: &[usize]) -> Val {
        let Some(of) = v.ty.several() else { return v.clone() };
        if let [place] = places {
            return self.field(v, *place as u32 + 1);
        }
        let left: Vec<Ty> = places.iter().map(|i| of[*i]).collect();
        let Some(ty) = Ty::one_of(&left) else { return v.clone() };
        let old = self.field(v, 0);
        let mut parts = vec![Val::int(0)];
        for (new, i) in places.iter().enumerate() {
            let here = self.op("eq", &[old.clone(), Val::int(*i as i128)]);
            parts[0] = self.op("select", &[here, Val::int(new as i128), parts[0].clone()]);
            parts.push(self.field(v, *i as u32 + 1));
        }
        self.pack(parts, ty)
    }

    fn is_method(&mut self, t: Ty, name: &str) -> bool {
        let Some(class) = t.class() else { return false };
        let is_static = class.user().is_some_and(|user| self.world.is_static(user.class, name));
        !is_static && t.field(name).is_none() && self.user_method(class, name).is_some()
    }

    fn has_member(&mut self, t: Ty, name: &str) -> bool {
        let Some(user) = t.class().and_then(Class::user) else { return false };
        t.field(name).is_some() || self.world.attr(user.class, name).is_some()
    }

    /// `a is b` of values of which one may be several things, or None beside them; `None` of other values.
    pub(crate) fn is_of_each(&mut self, a: &Val, b: &Val, negate: bool) -> Result<Option<Val>> {
        let is_choice = |v: &Val| matches!(v.ty.kind(), TyKind::Choice(_));
        let inner = |v: &Val| if let TyKind::Optional(t) = v.ty.kind() { Val::of_type(*t) } else { v.clone() };
        if !is_choice(&inner(a)) && !is_choice(&inner(b)) {
            return Ok(None);
        }
        for (v, other) in [(a, b), (b, a)] {
            let TyKind::Optional(t) = v.ty.kind() else { continue };
            let has = self.is_none(v, true);
            let (yes, no) = self.branch(&has);
            self.cur = yes;
            let x = self.value(v);
            let x = self.push(Inst::Unwrap(x), *t);
            let there = self.is(&x, other, negate)?;
            let ways = [(self.cur, there)];
            self.cur = no;
            let none = self.is(&Val::constant(Const::None), other, negate)?;
            let ways = [&ways[..], &[(self.cur, none)]].concat();
            return self.join(&ways, Ty::bool()).map(Some);
        }
        let both = [a.clone(), b.clone()];
        self.each(&both, &|_, _| None, &mut |own, x| own.is(&x[0], &x[1], negate)).map(Some)
    }

    /// Whether the class of instances has the class, or derives from it; `None` of other values and objects.
    pub(crate) fn is_of_base(&mut self, t: Ty, base: lh_ir::ObjId) -> Option<bool> {
        let user = t.class().and_then(Class::user).filter(|user| !user.is_struct)?;
        let subclass = self.world.import("builtins", Some("issubclass"))?;
        let answer = self.world.fold_call(subclass, &[user.class, base])?;
        match self.world.object(answer) {
            Object::Const(Const::Bool(is)) => Some(is),
            _ => None,
        }
    }
}

/// How a container of values of a type can come to hold another.
pub(crate) fn way_to_hold(container: &str, t: Ty, other: Ty) -> String {
    match Ty::one_of(&[t, other]) {
        Some(_) => format!("make a new {container} of its items, which can hold both, or start from one that has both"),
        None => format!(
            "items of a {container} have one type: convert the value, or start from a {container} of the wider type"
        ),
    }
}

/// Why results of alternatives cannot meet.
fn no_common_type(v: &Val, a: Ty, b: Ty) -> Box<Diagnostic> {
    if is_several(v) {
        let text = format!("for one class of `{}` this gives `{a}`, for another `{b}`", v.ty);
        let note = "give it one type in all classes, or do this in a method of each class";
        return Diagnostic::new(diag::CANNOT_UNIFY, text).note(note);
    }
    let text = format!("one of the functions called here gives `{a}`, another `{b}`");
    Diagnostic::new(diag::CANNOT_UNIFY, text).note("functions chosen at run time return one type")
}

/// The refusal of an attribute that no alternative has.
fn none_has(mut d: Box<Diagnostic>, v: &Val, of: &[Ty], name: &str) -> Box<Diagnostic> {
    if d.id == diag::UNKNOWN_ATTRIBUTE && is_several(v) {
        d.headline = format!("`{}` has no attribute `{name}` in compiled code", v.ty);
        d.names = of.iter().flat_map(|t| t.fields()).map(|f| f.name.clone()).collect();
    }
    d
}
