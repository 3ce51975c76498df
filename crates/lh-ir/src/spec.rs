//! Specialisations as their callers see them: functions that are typed for arguments, and their derivatives.

use crate::consts::Const;
use crate::func::{Function, Inst, MapExpr};
use crate::runtime::{Items, Role};
use crate::{SpecId, Ty, TyKind, Value};
use std::collections::HashSet;

/// Type of an argument for which a function is specialised, with its value when the callee is specialised for that.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgTy {
    /// Type.
    pub ty: Ty,
    /// Value known while compiling.
    pub value: Option<Const>,
    /// Items of a tuple that are all known while compiling.
    pub items: Option<Vec<Const>>,
}

impl ArgTy {
    /// The last argument of a generator's function, to which something of a type is sent; `never` asks for a guess.
    pub fn sent(ty: Ty) -> ArgTy {
        // No argument is a dtype with the value `None`.
        ArgTy { ty: Ty::dtype(ty), value: Some(Const::None), items: None }
    }
    /// The type that such an argument says.
    pub fn as_sent(&self) -> Option<Ty> {
        match (self.ty.kind(), &self.value) {
            (TyKind::DType(t), Some(Const::None)) => Some(*t),
            _ => None,
        }
    }
    /// Whether the callee is typed for a value.
    pub fn is_known(&self) -> bool {
        self.value.is_some() || self.items.is_some()
    }
}

impl From<Ty> for ArgTy {
    fn from(ty: Ty) -> ArgTy {
        ArgTy { ty, value: None, items: None }
    }
}

/// A specialised function as its callers see it.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its number.
    pub id: SpecId,
    /// Result type; `Never` while a recursive function's result is still unknown, or if it always raises.
    pub ret: Ty,
    /// Whether `ret` is `Never` because the result of a function that is still being typed is unknown.
    pub is_open: bool,
}

/// The derivative of a function.
#[derive(Clone, Debug)]
pub struct Adjoint {
    /// The function: it takes the arguments, shadows, and a list of owners of memory.
    pub id: SpecId,
    /// Its result: that of the function itself, and a tuple of adjoints.
    pub ret: Ty,
    /// Of each argument asked for, whether its shadow is to be passed.
    pub shadowed: Vec<bool>,
    /// The parameters whose memory the function itself may write: one bit for each, the last for all from there on.
    pub writes: u32,
    /// Those through whose memory derivatives flow, in the same form.
    pub active: u32,
    /// The types of lists that it takes last.
    pub lists: Vec<Ty>,
}

/// Visits the number of every specialisation that an instruction calls.
pub fn each_call(inst: &mut Inst, visit: &mut dyn FnMut(&mut SpecId)) {
    fn in_expr(e: &mut MapExpr, visit: &mut dyn FnMut(&mut SpecId)) {
        match e {
            MapExpr::Arg(..) | MapExpr::Const(_) => {}
            MapExpr::Cast(_, e) => in_expr(e, visit),
            MapExpr::Op(_, _, es) => es.iter_mut().for_each(|e| in_expr(e, visit)),
            MapExpr::Call(s, _, es) => {
                visit(s);
                es.iter_mut().for_each(|e| in_expr(e, visit));
            }
        }
    }
    match inst {
        Inst::Call(s, _) => visit(s),
        Inst::Map(e, _) | Inst::MapInto(e, _) => in_expr(e, visit),
        _ => {}
    }
}

/// The functions by which generators are closed that a function makes.
fn closed(func: &Function) -> Vec<SpecId> {
    let closes = func.insts().filter_map(|d| match &d.inst {
        Inst::Runtime(f, args) if f.role == Role::Items(Items::Closes) => args.first(),
        _ => None,
    });
    let next = |v: &Value| if let TyKind::Generator(g) = func.ty(*v).kind() { Some(g.next) } else { None };
    closes.filter_map(next).collect()
}

/// Functions that a typed function calls, in the order of their first calls: it is the same in every process, which the
/// numbers of specialisations are not.
pub fn callees(func: &Function) -> Vec<SpecId> {
    let mut out = Vec::new();
    for i in func.with_bodies().into_iter().flat_map(Function::insts) {
        if matches!(i.inst, Inst::Call(..) | Inst::Map(..) | Inst::MapInto(..)) {
            each_call(&mut i.inst.clone(), &mut |s| out.push(*s));
        }
    }
    out.extend(func.with_bodies().into_iter().flat_map(closed));
    let mut seen = HashSet::new();
    out.retain(|s| seen.insert(*s));
    out
}
