//! A specialisation: a function typed for argument types, and what it depends on.

use crate::source_info::SourceInfo;
use lh_ir::func::{Function, Options};
pub(crate) use lh_ir::spec::{callees, each_call};
use lh_ir::{FuncId, ObjId, SpecId, Ty};
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
    pub body: Option<Box<Body>>,
    pub is_library: bool,
    /// The scope of the host that holds the objects which it mentions; 0 if it mentions none.
    pub scope: u64,
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
