//! A program whose functions are all known: those that it begins with, and derivatives of them.

use lh_grad::{ByLine, Derivatives, Program, Typed};
use lh_ir::diag::Result;
use lh_ir::func::{Function, Options};
use lh_ir::spec::{Adjoint, ArgTy, Spec};
use lh_ir::untyped::Code;
use lh_ir::{FuncId, SpecId, Ty, bug};
use lh_opt::pipeline::{Known, before_adjoint};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The program.
#[derive(Default)]
pub struct Functions {
    pub all: Vec<Arc<Function>>,
    pub derivatives: Derivatives,
    /// Names of functions that stand for the library's: `copy_back` is `derivatives.copy_back`.
    pub library: Vec<String>,
    /// Remarks about the adjoint of a number.
    pub remarks: HashMap<usize, Vec<String>>,
}

impl Functions {
    /// A program of some functions, which calls number.
    pub fn new(all: &[Function]) -> Functions {
        Functions { all: all.iter().cloned().map(Arc::new).collect(), ..Functions::default() }
    }

    /// The number of the function of a name.
    pub fn find(&self, name: &str) -> Option<SpecId> {
        self.all.iter().position(|func| func.name == name).map(SpecId::new)
    }

    /// The adjoint and the tangent of a function.
    ///
    /// # Errors
    /// One of them is refused.
    pub fn both(&mut self, s: SpecId, asked: &[bool]) -> Result<[Adjoint; 2]> {
        Ok([lh_grad::make_seeded(self, s, asked)?, lh_grad::make_tangent(self, s, asked)?])
    }
}

impl Program for Functions {
    fn derivatives(&self) -> &Derivatives {
        &self.derivatives
    }
    fn derivatives_mut(&mut self) -> &mut Derivatives {
        &mut self.derivatives
    }
    fn library(&mut self, path: &str) -> Option<FuncId> {
        let name = self.library.iter().find(|name| path.strip_prefix("derivatives.") == Some(name))?;
        self.find(name).map(|s| FuncId(s.0))
    }
    fn code(&mut self, f: FuncId) -> Result<Arc<Code>> {
        bug!("{f} is typed")
    }
    fn is_library(&mut self, _: FuncId) -> Option<bool> {
        None
    }
    fn attribute(&mut self, _: FuncId, _: &str) -> Option<FuncId> {
        None
    }
    fn specialise(&mut self, f: FuncId, _: &[ArgTy], _: Options) -> Result<Spec> {
        let id = SpecId(f.0);
        Ok(Spec { id, ret: self.typed(id).ret, is_open: false })
    }
    fn is_current(&mut self, _: SpecId) -> bool {
        true
    }
    fn typed(&self, s: SpecId) -> Typed<'_> {
        let func = &self.all[s.index()];
        let ret = func.ret.unwrap_or_else(Ty::none);
        Typed { func: Some(func), primal: Some(func), name: &func.name, ret, writes: u32::MAX }
    }
    fn reserve(&mut self, _: SpecId, name: &str, ret: Ty) -> SpecId {
        self.all.push(Arc::new(Function { name: name.to_owned(), ret: Some(ret), ..Function::default() }));
        SpecId::new(self.all.len() - 1)
    }
    fn lower(&self, _: SpecId, func: &mut Function, bodies: &dyn Fn(SpecId) -> Option<Arc<Function>>) -> Result<()> {
        before_adjoint(func, &Known::nothing(), bodies)
    }
    fn finish(&mut self, [id, _]: [SpecId; 2], mut func: Function, _: &HashSet<SpecId>, remarks: ByLine) -> Result<()> {
        self.remarks.insert(id.index(), remarks.into_iter().flatten().map(|(_, text)| text).collect());
        func.name.clone_from(&self.all[id.index()].name);
        self.all[id.index()] = Arc::new(func);
        Ok(())
    }
}
