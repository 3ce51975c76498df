//! The compiler around this crate: [`Program`] has the questions about functions that only the compiler answers.

use crate::derivatives::Derivatives;
use lh_ir::diag::Result;
use lh_ir::func::{Derivative, Function, Options};
use lh_ir::spec::{ArgTy, Spec, callees};
use lh_ir::untyped::Code;
use lh_ir::{FuncId, SpecId, Ty};
use std::collections::HashSet;
use std::sync::Arc;

/// A specialisation, as far as it is typed.
pub struct Typed<'a> {
    /// The function after all passes.
    pub func: Option<&'a Function>,
    /// The function before all passes, if it may be differentiated.
    pub primal: Option<&'a Arc<Function>>,
    /// The name for messages; before it is typed, that of its symbol.
    pub name: &'a str,
    /// The type of its result.
    pub ret: Ty,
    /// The parameters whose memory it may write: one bit for each, the last for all from there on.
    pub writes: u32,
}

/// Remarks about a derivative by line; `None`: those of the function itself.
pub type ByLine = Option<Vec<(u32, String)>>;

/// A program whose functions are differentiated.
pub trait Program {
    /// Everything that is known of derivatives.
    fn derivatives(&self) -> &Derivatives;
    /// The same, to add to it.
    fn derivatives_mut(&mut self) -> &mut Derivatives;
    /// The library's function of a path.
    fn library(&mut self, path: &str) -> Option<FuncId>;
    /// Untyped code of a function.
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>>;
    /// Whether a function is the library's; `None` of one inside another function.
    fn is_library(&mut self, f: FuncId) -> Option<bool>;
    /// The function that is an attribute of a function of the program.
    fn attribute(&mut self, f: FuncId, name: &str) -> Option<FuncId>;
    /// Types a function for arguments.
    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<Spec>;
    /// Whether a specialisation of an earlier compilation, and all that it calls, may be used: its objects are alive,
    /// and nothing that it depends on has changed.
    fn is_current(&mut self, s: SpecId) -> bool;
    /// A specialisation.
    fn typed(&self, s: SpecId) -> Typed<'_>;
    /// A number for a derivative of a specialisation, whose symbol begins so.
    fn reserve(&mut self, of: SpecId, name: &str, ret: Ty) -> SpecId;
    /// Brings the code of a specialisation into the form that is differentiated; `bodies` are inlined.
    fn lower(&self, s: SpecId, func: &mut Function, bodies: &dyn Fn(SpecId) -> Option<Arc<Function>>) -> Result<()>;
    /// Optimises the derivative of a specialisation, the first of two; it has the dependencies of those that it has
    /// `read`.
    fn finish(&mut self, of: [SpecId; 2], func: Function, read: &HashSet<SpecId>, remarks: ByLine) -> Result<()>;
}

/// The code of a function before all passes, in the form that is inlined for a derivative.
pub(crate) fn primal(program: &dyn Program, s: SpecId, kind: Derivative) -> Option<Arc<Function>> {
    let text = program.derivatives().texts.get(&(s, kind)).copied();
    program.typed(text.unwrap_or(s)).primal.cloned()
}

/// The functions that a function calls, and those call, of those that are `entered`.
pub(crate) fn reached(
    program: &dyn Program,
    from: SpecId,
    kind: Derivative,
    entered: &dyn Fn(SpecId) -> bool,
) -> HashSet<SpecId> {
    let (mut found, mut work) = (HashSet::new(), vec![from]);
    while let Some(c) = work.pop() {
        let called = primal(program, c, kind).into_iter().flat_map(|f| callees(&f));
        work.extend(called.filter(|c| entered(*c) && found.insert(*c)));
    }
    found
}
