//! Generators that are closed when they die: the run-time library calls a function that throws the pending exception
//! in.

use super::cx::Returns;
use super::function::FnCx;
use crate::ir::Val;
use lh_ir::class::layout;
use lh_ir::types::Prim;
use lh_ir::{TyKind, Value};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::LLVMLinkage;

impl FnCx<'_, '_> {
    /// Lets a new generator be closed.
    pub(super) fn generator_closes(&self, g: Value) {
        let TyKind::Generator(ty) = self.func.ty(g).kind() else { lh_ir::bug!("only generators are closed") };
        let Some(next) = self.cx.specs.get(&ty.next) else { lh_ir::bug!("{} is not in the unit", ty.next) };
        let closer = self.closer(*next, &ty.sent.flatten());
        let t = self.t;
        let f = self.cx.external(symbols::GENERATOR_CLOSES, &[t.ptr, t.ptr], t.void);
        self.cx.call_external(f, &[self.one(g), closer]);
    }

    /// Builds `i32 closer(object)`, which resumes the generator to close it and releases what it yields.
    fn closer(&self, next: usize, sent: &[Prim]) -> Val {
        let (m, t) = (&self.cx.m, self.t);
        let name = format!("{}.closer", self.cx.unit.function_symbol(next));
        if let Some(found) = m.function(&name) {
            return found;
        }
        let callee = &self.cx.functions[next];
        let closer = m.declare(&name, m.fn_type(&[t.ptr], t.i32));
        m.set_linkage(closer, LLVMLinkage::LLVMInternalLinkage);
        self.cx.attributes(closer, false);
        let here = m.here();
        m.at_end(m.block(closer));
        if let Some(d) = &self.cx.debug {
            d.leave(m);
        }
        let prims = callee.ret.flatten();
        let (_, size, align) = callee.ret.mem_layout();
        let in_memory = callee.returns == Returns::Memory;
        let out = in_memory.then(|| m.alloca(m.array_type(t.i8, size), align));
        let mut args: Vec<Val> = out.into_iter().collect();
        args.push(m.param(closer, 0));
        args.extend(sent.iter().map(|p| m.null(m.prim(*p))));
        let result = m.call(callee.ty, callee.value, &args);
        let status = if in_memory { result } else { m.extract(result, 0) };
        let (raised, done) = (m.block(closer), m.block(closer));
        m.cond_br(m.icmp(LLVMIntNE, status, m.int(t.i32, 0)), raised, done);
        m.at_end(raised);
        m.ret(m.int(t.i32, i64::from(layout::CLOSE_RAISED)));
        m.at_end(done);
        let parts: Vec<Val> = match out {
            Some(out) => self.load_value(out, callee.ret),
            None => (1..=prims.len()).map(|i| m.extract(result, i)).collect(),
        };
        let decref = self.cx.external(symbols::DECREF, &[t.ptr], t.void);
        for (v, p) in parts.iter().zip(&prims) {
            if matches!(p, Prim::Mem | Prim::Object) {
                self.cx.call_external(decref, &[*v]);
            }
        }
        // The first says whether it has yielded.
        m.ret(m.zext(parts[0], t.i32));
        m.at_end(here);
        if let Some(d) = &self.cx.debug {
            d.place(m, self.span);
        }
        closer
    }
}
