//! The entry stub: `i32 entry(ptr arguments, ptr result)`, every primitive in an 8-byte slot both ways.

use super::{Lowering, Returns};
use crate::ir::Val;
use lh_ir::types::Prim;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};

pub(super) fn lower(cx: &Lowering<'_>, index: usize, symbol: &str) {
    let (m, t) = (&cx.m, cx.m.t);
    let (func, callee) = (&cx.unit.functions[index], &cx.functions[index]);
    let stub = m.declare(symbol, m.fn_type(&[t.ptr, t.ptr], t.i32));
    cx.attributes(stub, false);
    m.at_end(m.block(stub));
    if let Some(d) = &cx.debug {
        d.leave(m);
    }
    let (from, to) = (m.param(stub, 0), m.param(stub, 1));
    let mut vals: Vec<Val> = Vec::new();
    let ret = callee.ret.flatten();
    let (offsets, size, align) = callee.ret.mem_layout();
    if callee.returns == Returns::Memory {
        vals.push(m.alloca(m.array_type(t.i8, size), align));
    }
    let args = func.params().iter().flat_map(|p| func.ty(*p).flatten());
    for (i, p) in args.enumerate() {
        vals.push(cx.load_own(p, m.offset(from, 8 * i)));
    }
    let result = m.call(callee.ty, callee.value, &vals);
    let in_struct = callee.returns == Returns::Registers && !ret.is_empty();
    let status = if in_struct { m.extract(result, 0) } else { result };
    let (ok, done) = (m.block(stub), m.block(stub));
    m.cond_br(m.icmp(LLVMIntEQ, status, m.int(t.i32, 0)), ok, done);
    m.at_end(ok);
    for (i, p) in ret.iter().enumerate() {
        let v = if in_struct { m.extract(result, i + 1) } else { cx.load_own(*p, m.offset(vals[0], offsets[i])) };
        cx.store_own(v, *p, m.offset(to, 8 * i));
    }
    m.br(done);
    m.at_end(done);
    m.ret(status);
}

impl Lowering<'_> {
    /// Reads a primitive from memory of ours.
    pub(super) fn load_own(&self, p: Prim, at: Val) -> Val {
        let m = &self.m;
        if p == Prim::I1 {
            return m.icmp(LLVMIntNE, m.load(m.t.i8, at, 1), m.int(m.t.i8, 0));
        }
        m.load(m.prim(p), at, p.size())
    }
    /// Writes a primitive to memory of ours.
    pub(super) fn store_own(&self, v: Val, p: Prim, at: Val) {
        let v = if p == Prim::I1 { self.m.zext(v, self.m.t.i8) } else { v };
        self.m.store(v, at, p.size());
    }
}
