//! Parallel loops: a function that the pool calls unpacks the captured values from memory and calls the body.

use super::function::FnCx;
use crate::ir::{Type, Val};
use lh_ir::Value;
use lh_ir::func::{ParFor, parallel};
use lh_ir::types::Prim;
use lh_ops::runtime;
use llvm_sys::LLVMIntPredicate::{LLVMIntNE, LLVMIntSLE};
use llvm_sys::LLVMLinkage;

impl FnCx<'_, '_> {
    /// Runs a body directly if there is only one block of iterations, else on the pool.
    pub(super) fn par_for(&mut self, p: ParFor, args: &[Value]) {
        let func = self.func;
        let name = &func.bodies[p.body as usize].name;
        let body = self.cx.bodies[name];
        let [n, grain, captured @ ..] = args else { lh_ir::bug!("a parallel loop without iterations") };
        let (n, grain) = (self.one(*n), self.one(*grain));
        let vals: Vec<Val> = captured.iter().flat_map(|v| self.get(*v)).copied().collect();
        let prims: Vec<Prim> = captured.iter().flat_map(|v| self.prims(*v)).copied().collect();
        let thunk = self.thunk(body, &format!("{}.block", self.cx.unit.function_symbol(body)), &prims);
        let t = self.t;
        // The race checker must observe all loops.
        let checked = func.options.parallel & parallel::RACE != 0;
        let single = if checked { self.int(t.i1, 0) } else { self.icmp(LLVMIntSLE, n, grain) };
        let (here, pool, join) = (self.new_block(), self.new_block(), self.new_block());
        self.cond_br(single, here, pool);
        self.at_end(here);
        let zero = self.int(t.i64, 0);
        let mut direct = vals.clone();
        direct.extend([zero, n, zero]);
        let callee = self.cx.functions[body].clone();
        let status_here = self.call(callee.ty, callee.value, &direct);
        let from_here = self.here();
        self.br(join);
        self.at_end(pool);
        let env = self.stack(self.array_type(t.i8, (8 * vals.len()).max(8)), 8);
        for (i, (v, prim)) in vals.iter().zip(&prims).enumerate() {
            let v = if *prim == Prim::I1 { self.zext(*v, t.i8) } else { *v };
            self.store(v, self.offset(env, 8 * i), prim.size());
        }
        let f = self.cx.external(runtime::lh_parallel_for.name, &[t.i64, t.i64, t.ptr, t.ptr], t.i32);
        let status_pool = self.cx.call_external(f, &[n, grain, thunk, env]);
        let from_pool = self.here();
        self.br(join);
        self.at_end(join);
        let status = self.phi(t.i32);
        self.add_incoming(status, status_here, from_here);
        self.add_incoming(status, status_pool, from_pool);
        self.check_noted(status);
    }

    /// Builds `i32 thunk(env, low, high, thread)`, which unpacks the captured values and calls the body.
    fn thunk(&self, body: usize, name: &str, prims: &[Prim]) -> Val {
        let (m, t) = (&self.cx.m, self.t);
        let callee = &self.cx.functions[body];
        let types: [Type; 4] = [t.ptr, t.i64, t.i64, t.i64];
        let thunk = m.declare(name, m.fn_type(&types, t.i32));
        m.set_linkage(thunk, LLVMLinkage::LLVMInternalLinkage);
        self.cx.attributes(thunk, false);
        let here = m.here();
        m.at_end(m.block(thunk));
        if let Some(d) = &self.cx.debug {
            d.leave(m);
        }
        let env = m.param(thunk, 0);
        let mut vals: Vec<Val> = Vec::new();
        for (i, p) in prims.iter().enumerate() {
            let at = m.offset(env, 8 * i);
            vals.push(match p {
                Prim::I1 => m.icmp(LLVMIntNE, m.load(t.i8, at, 1), m.int(t.i8, 0)),
                other => m.load(m.prim(*other), at, other.size()),
            });
        }
        vals.extend((1..4).map(|i| m.param(thunk, i)));
        m.ret(m.call(callee.ty, callee.value, &vals));
        m.at_end(here);
        if let Some(d) = &self.cx.debug {
            d.place(m, self.span);
        }
        thunk
    }

    /// Continues in a new block unless a status shows a pending exception, whose place has been recorded.
    fn check_noted(&mut self, status: Val) {
        let failed = self.icmp(LLVMIntNE, status, self.int(self.t.i32, 0));
        let (next, _) = self.unlikely(failed);
        let func = self.func;
        self.propagate(&func.blocks[self.block.index()]);
        self.at_end(next);
    }
}
