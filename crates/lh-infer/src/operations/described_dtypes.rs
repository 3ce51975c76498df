//! Structured dtypes that functions describe themselves: `np.dtype([("x", np.int32), ("y", "f8", (3,))])`.
//!
//! NumPy makes the dtype while the function is compiled. Its parts are constants, and the list is a display that
//! nothing else in the function sees.

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
            && let Some(dtype) = self.described_dtype(*first)?
        {
            given.0[0] = dtype;
        }
        for (at, (name, v)) in kwargs.iter().enumerate() {
            if name == "dtype"
                && let Some(dtype) = self.described_dtype(*v)?
            {
                given.1[at].1 = dtype;
            }
        }
        Ok(given)
    }

    fn described_dtype(&mut self, v: Value) -> Result<Option<Val>> {
        let formats = self.val(v).as_str().filter(|s| s.contains(',')).map(str::to_owned);
        let given = match (formats, self.only_use_of_list(v)) {
            (Some(text), _) => Some(self.world.object_of(&Const::Str(text))),
            (None, Some(items)) => {
                let items: Vec<Val> = items.iter().map(|i| self.val(*i)).collect();
                self.python_parts(&items, "list_of")
            }
            (None, None) => None,
        };
        let Some(given) = given else { return Ok(None) };
        let Some(dtype) = self.world.import("numpy", Some("dtype")) else { return Ok(None) };
        let Some(made) = self.world.fold_call(dtype, &[given]) else { return Ok(None) };
        let made = self.object(made)?;
        Ok(matches!(made.ty.kind(), TyKind::DType(_)).then_some(made))
    }

    /// The items of a list display that is used once.
    fn only_use_of_list(&self, v: Value) -> Option<Vec<Value>> {
        let code = self.code.clone();
        let insts = || code.blocks.iter().flat_map(|b| &b.insts);
        let items = insts().find_map(|i| match &i.inst {
            Inst::List(items) if i.result == Some(v) => Some(items.clone()),
            _ => None,
        })?;
        let mut uses = 0;
        insts().for_each(|i| i.inst.for_each_operand(|o| uses += usize::from(o == v)));
        for term in code.blocks.iter().filter_map(|b| b.term.as_ref()) {
            let given = term.targets().into_iter().flat_map(|t| &t.args).filter(|a| **a == v).count();
            uses += given + usize::from(matches!(term, Term::Return(r) if *r == v));
        }
        (uses == 1).then_some(items)
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

/// The arguments of a call, by position and by name.
type Given = Result<(Vec<Val>, Vec<(String, Val)>)>;
