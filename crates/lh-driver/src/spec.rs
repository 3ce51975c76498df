//! A specialisation: a function typed for argument types, and what it depends on.

use crate::source_info::SourceInfo;
use lh_ir::func::{Function, Inst, MapExpr, Options};
use lh_ir::runtime::{Items, Role};
use lh_ir::{FuncId, ObjId, SpecId, Ty, TyKind, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// The identity of a specialisation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub func: FuncId,
    /// Argument types; an argument that is known at compile time has its value, too.
    pub args: Vec<(Ty, Option<String>)>,
    pub options: Options,
}

/// A specialisation.
pub(crate) struct Spec {
    pub name: String,
    pub func: FuncId,
    pub ret: Ty,
    /// `None` while it is being typed.
    pub body: Option<Body>,
    pub is_library: bool,
}

/// A typed and optimised function.
pub(crate) struct Body {
    pub func: Arc<Function>,
    /// The function that calls of it are replaced by, if it is to be inlined.
    pub inlinable: Option<Arc<Function>>,
    pub callees: Vec<SpecId>,
    pub deps: Vec<Dep>,
    pub source: Arc<SourceInfo>,
    pub offsets: Vec<lh_infer::Offsets>,
    /// The function's effects on its parameters' memory.
    pub summary: Arc<lh_opt::Summary>,
    /// The function before all passes, if it may be differentiated.
    pub primal: Option<Arc<Function>>,
}

/// Something outside the code that compiled code has taken for constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dep {
    /// A global or builtin read by name; `value` is absent if there was none.
    Global { func: FuncId, name: String, value: Option<ObjId> },
    /// The content of a closure cell.
    Free { func: FuncId, index: u32, value: Option<ObjId> },
    /// An attribute of an object.
    Attribute { object: ObjId, name: String, value: Option<ObjId> },
    /// The object that `import name` or `from name import attr` inside a function gives.
    Import { name: String, attr: Option<String>, value: Option<ObjId> },
}

/// Visits the number of every specialisation that an instruction calls.
pub(crate) fn each_call(inst: &mut Inst, visit: &mut dyn FnMut(&mut SpecId)) {
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
    let insts = func.blocks.iter().flat_map(|b| &b.insts);
    let closes = insts.filter_map(|d| match &d.inst {
        Inst::Runtime(f, args) if f.role == Role::Items(Items::Closes) => args.first(),
        _ => None,
    });
    let next = |v: &Value| if let TyKind::Generator(g) = func.ty(*v).kind() { Some(g.next) } else { None };
    closes.filter_map(next).collect()
}

/// Functions that a typed function calls, in the order of their first calls: it is the same in every process, which the
/// numbers of specialisations are not.
pub(crate) fn callees(func: &Function) -> Vec<SpecId> {
    let mut out = Vec::new();
    for i in func.with_bodies().into_iter().flat_map(|f| &f.blocks).flat_map(|b| &b.insts) {
        if matches!(i.inst, Inst::Call(..) | Inst::Map(..) | Inst::MapInto(..)) {
            each_call(&mut i.inst.clone(), &mut |s| out.push(*s));
        }
    }
    out.extend(func.with_bodies().into_iter().flat_map(closed));
    let mut seen = HashSet::new();
    out.retain(|s| seen.insert(*s));
    out
}
