//! `operator.itemgetter`, `attrgetter` and `methodcaller`: closures of the library's functions of these names, which
//! capture what they were given. Names and integers are part of the type, since they may decide the type of a result.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::{Literal, TyKind};
use lh_ir::{FuncId, Ty};

/// Functions of the library that make functions which Python can be given.
pub const OF_LIBRARY: [&str; 6] = [
    "functools.partial",
    "functools.wraps",
    "contextlib.contextmanager",
    "operator.itemgetter",
    "operator.attrgetter",
    "operator.methodcaller",
];

/// The functions that make getters.
const GETTERS: [&str; 3] = ["operator.itemgetter", "operator.attrgetter", "operator.methodcaller"];

impl Infer<'_> {
    /// The path of a getter's function.
    pub(crate) fn getter_of(&mut self, func: FuncId) -> Option<&'static str> {
        GETTERS.into_iter().find(|path| self.is_library_function(func, path))
    }

    /// A call of a class of getters.
    pub(crate) fn getter(&mut self, path: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let wrong = |text: String| Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        let name = path.trim_start_matches("operator.");
        if !kwargs.is_empty() && name != "methodcaller" {
            return wrong(format!("`{name}` takes no keyword arguments"));
        }
        if args.is_empty() {
            return wrong(format!("`{name}` expected 1 argument, got 0"));
        }
        let named = match name {
            "attrgetter" => args.len(),
            "methodcaller" => 1,
            _ => 0,
        };
        if let Some(odd) = args[..named].iter().find(|a| a.as_str().is_none()) {
            let text = format!("`{name}` is given `{}` where a name has to be known while compiling", odd.ty);
            return wrong(text);
        }
        let captures = args.iter().map(as_literal).collect();
        Ok(self.library_closure(path, captures, kwargs))
    }

    /// A call of a getter.
    pub(crate) fn call_getter(&mut self, path: &str, f: &Val, args: &[Val], kwargs: &[(String, Val)]) -> Result<Val> {
        let TyKind::Closure { captures, named, .. } = f.ty.kind() else { lh_ir::bug!("no closure") };
        let ([object], []) = (args, kwargs) else {
            let name = path.trim_start_matches("operator.");
            let text = format!("`{name}` expected 1 argument, got {}", args.len() + kwargs.len());
            return Err(Diagnostic::new(diag::NO_MATCHING_CALL, text));
        };
        let parts: Vec<Val> = (0..captures.len() + named.len()).map(|i| self.captured(f, i)).collect();
        let (given, values) = parts.split_at(captures.len());
        let got = match path {
            "operator.methodcaller" => {
                let method = self.attribute_chain(object, &given[0], false)?;
                let named: Vec<(String, Val)> = named.iter().cloned().zip(values.iter().cloned()).collect();
                return self.call(&method, &given[1..], &named);
            }
            "operator.attrgetter" => given.iter().map(|name| self.attribute_chain(object, name, true)).collect(),
            _ => given.iter().map(|key| self.get_item(object, key)).collect::<Result<Vec<_>>>(),
        }?;
        match <[Val; 1]>::try_from(got) {
            Ok([one]) => Ok(one),
            Err(several) => Ok(Val::tuple(several)),
        }
    }

    /// A value that a closure of the library captured.
    fn captured(&mut self, f: &Val, at: usize) -> Val {
        let own = self.field(f, at as u32);
        match own.ty.kind() {
            TyKind::Literal(l) => Val::constant(l.value()),
            _ => own,
        }
    }

    /// An attribute by its name, in which dots lead to attributes of attributes.
    fn attribute_chain(&mut self, object: &Val, name: &Val, dots: bool) -> Result<Val> {
        let name = name.as_str().unwrap_or_default().to_owned();
        if !dots {
            return self.get_attr(object, &name);
        }
        let mut at = object.clone();
        for part in name.split('.') {
            at = self.get_attr(&at, part)?;
        }
        Ok(at)
    }
}

/// A value whose type says it, if there is such a type.
fn as_literal(v: &Val) -> Val {
    match v.as_const().and_then(Literal::of) {
        Some(literal) => Val { ty: Ty::new(TyKind::Literal(literal)), ..v.clone() },
        None => v.clone(),
    }
}
