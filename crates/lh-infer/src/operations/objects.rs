//! Objects of Python whose classes have no type, and arrays of such. They are passed on, held in tuples, returned and
//! compared by `is`; overloads may give them more. Elements of arrays are references of Python's, which compiled code
//! neither reads nor writes.

use crate::cx::Infer;
use crate::emit::no_elements;
use crate::val::Val;
use crate::world::Object;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Extern, Inst as Typed};
use lh_ir::types::TyKind;
use lh_ir::untyped::{Code, Inst, UnOp};
use lh_ops::runtime as rt;

/// Files of the library whose functions hold values without looking at them.
const HOLDERS: [&str; 13] = [
    "calls",
    "cells",
    "collections",
    "contextlib",
    "dicts",
    "functools",
    "generators",
    "heapq",
    "itertools",
    "lists",
    "sets",
    "tables",
    "exceptions",
];

/// Attributes of an array that say nothing of its elements.
const SHAPE: [&str; 7] = ["shape", "strides", "ndim", "size", "itemsize", "nbytes", "T"];

/// Whether a type is that of an array of objects.
pub(crate) fn is_object_array(t: Ty) -> bool {
    t.as_array().is_some_and(|(dtype, ..)| dtype.is_pyobject())
}

/// Whether an attribute of an array of objects has its usual meaning.
pub(crate) fn is_of_shape(name: &str) -> bool {
    SHAPE.contains(&name)
}

impl Infer<'_> {
    /// Refuses an instruction that would look at the elements of an array of objects.
    pub(crate) fn check_objects(&self, i: &Inst) -> Result<()> {
        let operands = match i {
            Inst::Unary(_, a) | Inst::Iter(a) | Inst::Unpack { seq: a, .. } | Inst::UnpackItem(a, _) => [*a, *a],
            Inst::Format { value, .. } => [*value, *value],
            Inst::Binary { a, b, .. } | Inst::Compare(_, a, b) | Inst::Contains { item: a, container: b, .. } => {
                [*a, *b]
            }
            _ => return Ok(()),
        };
        let inner = |t: Ty| if let TyKind::Optional(t) = t.kind() { *t } else { t };
        match operands.into_iter().map(|v| inner(self.val(v).ty)).find(|t| is_object_array(*t)) {
            Some(t) => Err(no_elements(t)),
            None => Ok(()),
        }
    }

    /// Refuses a call of a function that the compiler or the library knows with an object, or an array of objects,
    /// except those that ask nothing of it.
    pub(crate) fn check_known_call(&self, name: &str, args: &[Val], kwargs: &[(String, Val)]) -> Result<()> {
        let is_asking = matches!(name, "builtins.len" | "builtins.isinstance");
        // Recorded code of extensions uses what the library does.
        if self.is_library || is_asking || name.starts_with("prim.") {
            return Ok(());
        }
        let mut all = args.iter().chain(kwargs.iter().map(|(_, v)| v));
        match all.find(|v| v.ty.is_pyobject() || is_object_array(v.ty)) {
            Some(v) => Err(takes_none(name, v.ty)),
            None => Ok(()),
        }
    }

    /// The same for a function of the library.
    pub(crate) fn check_library_call(&self, code: &Code, args: &[Val]) -> Result<()> {
        let has_object = |t: Ty| t.any_part(&|t| t.is_pyobject());
        let is_odd = |v: &&Val| !v.ty.is_number() && (has_object(v.ty) || v.ty.mentions_object_arrays());
        if self.is_library {
            return Ok(());
        }
        let Some(odd) = args.iter().find(is_odd) else { return Ok(()) };
        let file = code.file.rsplit('/').next().unwrap_or_default().trim_end_matches(".py");
        let is_holder = HOLDERS.contains(&file) && !code.file.contains("/numpy/");
        if is_holder || code.name == "is_same" && file == "layout" {
            return Ok(());
        }
        Err(takes_none(&code.name, odd.ty))
    }

    /// `a is b` if one of them is, or may be, an object without a type; `None` of other operands.
    pub(crate) fn is_of_objects(&mut self, a: &Val, b: &Val, negate: bool) -> Result<Option<Val>> {
        let inner = |v: &Val| if let TyKind::Optional(t) = v.ty.kind() { *t } else { v.ty };
        if !inner(a).is_pyobject() && !inner(b).is_pyobject() || a.ty.is_none() || b.ty.is_none() {
            return Ok(None);
        }
        let addresses = (self.address_of_object(a)?, self.address_of_object(b)?);
        let (Some(x), Some(y)) = addresses else {
            return Err(self.no_op("is", a.ty, b.ty).note("compare objects of Python with such objects, or with None"));
        };
        let same = self.op("eq", &[x, y]);
        if negate { self.unary(UnOp::Not, &same).map(Some) } else { Ok(Some(same)) }
    }

    /// The address of an object as a number, which is zero for None; `None` of values that are no such objects.
    fn address_of_object(&mut self, v: &Val) -> Result<Option<Val>> {
        let address = match v.ty.kind() {
            TyKind::PyObject => self.field(v, 1),
            TyKind::Optional(t) if t.is_pyobject() => {
                let v = self.value(v);
                // Without a value, the parts behind the flag are zeros.
                let object = self.push(Typed::Unwrap(v), *t);
                self.field(&object, 1)
            }
            TyKind::Obj(o) => match self.world.object(*o) {
                Object::Other(_) => self.push(Typed::Extern(Extern::Foreign(*o)), Ty::ptr()),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.runtime(&rt::lh_ptr_addr, &[address], Ty::int()).map(Some)
    }

    /// `isinstance(x, c)` of an object without a type.
    pub(crate) fn object_isinstance(&mut self, x: &Val, c: &Val) -> Result<Val> {
        if let TyKind::Obj(o) = c.ty.kind()
            && matches!(self.world.object(*o), Object::Path(p) if p == "builtins.object")
        {
            return Ok(Val::bool(true));
        }
        Err(Diagnostic::new(diag::NO_MATCHING_CALL, format!("isinstance() does not know the class of a `{}`", x.ty))
            .note("ask outside of the function, and pass the answer"))
    }
}

fn takes_none(name: &str, t: Ty) -> Box<Diagnostic> {
    let short = name.strip_prefix("builtins.").unwrap_or(name);
    Diagnostic::new(diag::UNSUPPORTED_TYPE, format!("`{short}()` takes no `{t}` in compiled code"))
        .note("call it outside of the function, or give it a meaning with `@overload`")
}
