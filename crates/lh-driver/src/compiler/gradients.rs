//! The compiler as `lh-grad` sees it, which differentiates specialisations.

use super::session::Session;
use crate::spec::{Body, Spec, callees};
use lh_grad::{ByLine, Derivatives, Program, Typed};
use lh_infer::{ArgTy, Object, World};
use lh_ir::diag::Result;
use lh_ir::func::{Derivative, Function, Options};
use lh_ir::untyped::Code;
use lh_ir::{FuncId, SpecId, Ty};
use lh_opt::pipeline::before_adjoint;
use std::collections::HashSet;
use std::sync::Arc;

impl Program for Session<'_> {
    fn derivatives(&self) -> &Derivatives {
        &self.compiler.derivatives
    }

    fn derivatives_mut(&mut self) -> &mut Derivatives {
        &mut self.compiler.derivatives
    }

    fn library(&mut self, path: &str) -> Option<FuncId> {
        World::library(self, path).map(|(f, _)| f)
    }

    fn code(&mut self, f: FuncId) -> Result<Arc<Code>> {
        World::code(self, f)
    }

    fn is_library(&mut self, f: FuncId) -> Option<bool> {
        (!self.compiler.parents.contains_key(&f)).then(|| self.info(f).is_library)
    }

    fn attribute(&mut self, f: FuncId, name: &str) -> Option<FuncId> {
        let o = self.host.function_object(f);
        let found = self.attr(o, name)?;
        if let Object::Func(f) = self.object(found) { Some(f) } else { None }
    }

    fn specialise(&mut self, f: FuncId, args: &[ArgTy], options: Options) -> Result<lh_infer::Spec> {
        World::specialise(self, f, args, options)
    }

    fn is_current(&mut self, s: SpecId) -> bool {
        self.is_usable(s)
    }

    fn typed(&self, s: SpecId) -> Typed<'_> {
        let Spec { name, ret, body, .. } = self.compiler.spec(s);
        let body = body.as_deref();
        Typed {
            func: body.map(|b| &*b.func),
            primal: body.and_then(|b| b.primal.as_ref()),
            name: body.map_or(name, |b| &b.func.qualname),
            ret: *ret,
            writes: body.map_or(u32::MAX, |b| b.summary.writes()),
        }
    }

    fn reserve(&mut self, of: SpecId, name: &str, ret: Ty) -> SpecId {
        let Spec { func, is_library, .. } = *self.compiler.spec(of);
        let id = SpecId::new(self.compiler.specs.len());
        let name = format!("{name}.{}", id.index());
        let scope = self.host.scope();
        self.compiler.specs.push(Spec { name, func, ret, body: None, is_library, scope });
        id
    }

    fn lower(&self, s: SpecId, func: &mut Function, bodies: &dyn Fn(SpecId) -> Option<Arc<Function>>) -> Result<()> {
        let done = self.compiler.with_known(s, |known| before_adjoint(func, known, bodies));
        self.compiler.warn(func.undone.drain(..));
        done
    }

    fn finish(
        &mut self,
        [id, of]: [SpecId; 2],
        mut func: Function,
        read: &HashSet<SpecId>,
        notes: ByLine,
    ) -> Result<()> {
        func.name.clone_from(&self.compiler.spec(id).name);
        func.options.derivative = Derivative::None;
        let primal = Arc::new(func.clone());
        let outcome = self.compiler.with_known(id, |known| lh_opt::run(&mut func, known))?;
        self.compiler.warn(func.undone.drain(..));
        let specs = &mut self.compiler.specs;
        let deps = read.iter().flat_map(|c| &specs[c.index()].body).flat_map(|b| b.deps.clone()).collect();
        let mut source = specs[of.index()].body.as_ref().map(|b| b.source.clone()).unwrap_or_default();
        if let Some(notes) = notes {
            Arc::make_mut(&mut source).derivative = notes;
        }
        specs[id.index()].body = Some(Box::new(Body {
            callees: callees(&func),
            func: Arc::new(func),
            inlinable: None,
            deps,
            source,
            summary: outcome.summary,
            offsets: Vec::new(),
            primal: Some(primal),
        }));
        Ok(())
    }
}
