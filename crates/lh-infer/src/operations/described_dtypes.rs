//! Structured dtypes that functions describe themselves: `np.dtype([("x", np.int32), ("y", "f8", (3,))])`, or
//! `np.dtype({"names": ["x", "y"], "formats": ["i4", "f8"]})`.
//!
//! NumPy makes the dtype while the function is compiled. Its parts are constants, and lists and dictionaries are
//! displays that nothing else in the function sees.

use crate::cx::Infer;
use crate::val::Val;
use crate::world::Object;
use lh_ir::Ty;
use lh_ir::consts::Const;
use lh_ir::diag::Result;
use lh_ir::types::TyKind;
use lh_ir::untyped::{Inst, Term};
use lh_ir::{ObjId, Value};

impl Infer<'_> {
    /// The arguments of a call, with dtypes in place of their descriptions.
    pub(crate) fn with_described_dtypes(&mut self, func: &Val, args: &[Value], kwargs: &[(String, Value)]) -> Given {
        let all = |cx: &Self| {
            let named = kwargs.iter().map(|(n, v)| (n.clone(), cx.val(*v))).collect::<Vec<_>>();
            (args.iter().map(|a| cx.val(*a)).collect::<Vec<_>>(), named)
        };
        let mut given = all(self);
        let TyKind::Obj(o) = func.ty.kind() else { return Ok(given) };
        if !matches!(self.world.object(*o), Object::Path(p) if p.starts_with("numpy.")) {
            return Ok(given);
        }
        let is_dtype = matches!(self.world.object(*o), Object::Path(p) if p == "numpy.dtype");
        if let (true, [first, ..]) = (is_dtype, args)
            && let Some(dtype) = self.described_dtype(*first, align(&given.1))?
        {
            given.0[0] = dtype;
            given.1.retain(|(name, _)| name != "align");
            return Ok(given);
        }
        for (at, v) in args.iter().enumerate().filter(|_| !is_dtype) {
            if let Some(Display::Dict(_)) = self.only_use_of_display(*v)
                && let Some(dtype) = self.described_dtype(*v, false)?
            {
                given.0[at] = dtype;
            }
        }
        for (at, (name, v)) in kwargs.iter().enumerate() {
            if name == "dtype"
                && let Some(dtype) = self.described_dtype(*v, false)?
            {
                given.1[at].1 = dtype;
            }
        }
        Ok(given)
    }

    fn described_dtype(&mut self, v: Value, align: bool) -> Result<Option<Val>> {
        let formats = self.val(v).as_str().filter(|s| s.contains(',')).map(str::to_owned);
        let given = match formats {
            Some(text) => Some(self.world.object_of(&Const::Str(text))),
            None => self.python_display(v),
        };
        let Some(given) = given else { return Ok(None) };
        let align = self.world.object_of(&Const::Bool(align));
        let Some(dtype) = self.world.import("numpy", Some("dtype")) else { return Ok(None) };
        let Some(made) = self.world.fold_call(dtype, &[given, align]) else { return Ok(None) };
        let made = self.object(made)?;
        Ok(matches!(made.ty.kind(), TyKind::DType(_)).then_some(made))
    }

    /// A list or dictionary of Python of values that are known while compiling.
    fn python_display(&mut self, v: Value) -> Option<ObjId> {
        let (parts, helper) = match self.only_use_of_display(v)? {
            Display::List(items) => (items, "list_of"),
            Display::Dict(pairs) => (pairs.into_iter().flat_map(|(k, v)| [k, v]).collect(), "dict_of"),
        };
        let part = |cx: &mut Self, v: &Value| {
            cx.python_display(*v).or_else(|| {
                let x = cx.val(*v);
                cx.python_object(&x)
            })
        };
        let parts = parts.iter().map(|v| part(self, v)).collect::<Option<Vec<_>>>()?;
        let helper = self.world.import("lancehead.annotations", Some(helper))?;
        self.world.fold_call(helper, &parts)
    }

    /// The contents of a display of a list or a dictionary that is used once.
    fn only_use_of_display(&self, v: Value) -> Option<Display> {
        let code = self.code.clone();
        let insts = || code.blocks.iter().flat_map(|b| &b.insts);
        let display = insts().find_map(|i| match &i.inst {
            Inst::List(items) if i.result == Some(v) => Some(Display::List(items.clone())),
            Inst::Dict(pairs) if i.result == Some(v) => Some(Display::Dict(pairs.clone())),
            _ => None,
        })?;
        let mut uses = 0;
        insts().for_each(|i| i.inst.for_each_operand(|o| uses += usize::from(o == v)));
        for term in code.blocks.iter().filter_map(|b| b.term.as_ref()) {
            let given = term.targets().into_iter().flat_map(|t| &t.args).filter(|a| **a == v).count();
            uses += given + usize::from(matches!(term, Term::Return(r) if *r == v));
        }
        (uses == 1).then_some(display)
    }

    /// A tuple or list of Python of values that are known while compiling.
    fn python_parts(&mut self, parts: &[Val], helper: &str) -> Option<ObjId> {
        let parts = parts.iter().map(|p| self.python_object(p)).collect::<Option<Vec<_>>>()?;
        let helper = self.world.import("lancehead.annotations", Some(helper))?;
        self.world.fold_call(helper, &parts)
    }

    fn python_object(&mut self, x: &Val) -> Option<ObjId> {
        if let Some(c) = x.as_const().cloned() {
            return Some(self.world.object_of(&c));
        }
        match x.ty.kind() {
            TyKind::DType(t) => self.python_dtype(*t),
            TyKind::Tuple { .. } => {
                let parts = self.tuple_parts(x)?;
                self.python_parts(&parts, "tuple_of")
            }
            _ => None,
        }
    }

    fn python_dtype(&mut self, t: Ty) -> Option<ObjId> {
        if t.is_number() {
            return Some(self.world.object_of(&Const::Str(t.strong().to_string())));
        }
        let of = self.world.type_object(t);
        let helper = self.world.import("lancehead.annotations", Some("dtype_of"))?;
        self.world.fold_call(helper, &[of])
    }
}

/// Whether the fields of a described dtype are aligned.
fn align(kwargs: &[(String, Val)]) -> bool {
    kwargs.iter().any(|(name, x)| name == "align" && x.as_bool() == Some(true))
}

/// The items of a display, or its keys and values.
enum Display {
    List(Vec<Value>),
    Dict(Vec<(Value, Value)>),
}

/// The arguments of a call, by position and by name.
type Given = Result<(Vec<Val>, Vec<(String, Val)>)>;
