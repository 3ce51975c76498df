//! The entry stub: `i32 entry(ptr arguments, ptr result)`, with each primitive in an 8-byte slot.

use super::cx::{Declared, Lowering, Returns};
use crate::ir::Val;
use lh_ir::types::Prim;
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE, LLVMIntULT};

pub(super) fn lower(cx: &mut Lowering<'_>, index: usize, symbol: &str) {
    let t = cx.m.t;
    let stub = cx.m.declare(symbol, cx.m.fn_type(&[t.ptr, t.ptr], t.i32));
    cx.attributes(stub, false);
    cx.m.at_end(cx.m.block(stub));
    if let Some(d) = &cx.debug {
        d.leave(&cx.m);
    }
    if cx.recursive.contains(&true) {
        leave_window(cx);
    }
    let (m, func, callee) = (&cx.m, &cx.unit.functions[index], &cx.functions[index]);
    let (from, to) = (m.param(stub, 0), m.param(stub, 1));
    let args = func.params().iter().flat_map(|p| func.ty(*p).flatten());
    let vals = args.enumerate().map(|(i, p)| cx.load_own(p, m.offset(from, 8 * i))).collect();
    let entered = cx.enter(callee, vals);
    let status = entered.status;
    let (ok, done) = (m.block(stub), m.block(stub));
    m.cond_br(m.icmp(LLVMIntEQ, status, m.int(t.i32, 0)), ok, done);
    m.at_end(ok);
    for (i, p) in callee.ret.flatten().into_iter().enumerate() {
        cx.store_own(cx.part(callee, &entered, i), p, m.offset(to, 8 * i));
    }
    m.br(done);
    m.at_end(done);
    m.ret(status);
}

/// Moves the stack out of the window of addresses in which frames check for the end of the stack, or of the addresses
/// close above: shallow recursion would otherwise check in each call.
fn leave_window(cx: &mut Lowering<'_>) {
    let t = cx.m.t;
    let (address, f) = cx.m.intrinsic("llvm.addressofreturnaddress", t.ptr);
    let m = &cx.m;
    let int = |v: i64| m.int(t.i64, v);
    // The lowest bit of the mask is the size of the window, below which are the bits of an address in it. Twice the
    // window is avoided.
    let part = lh_ir::STACK_WINDOW & -lh_ir::STACK_WINDOW;
    let offset = m.and(m.ptr_to_int(m.call(address, f, &[])), int(lh_ir::STACK_WINDOW | (part - 1)));
    let room = m.select(m.icmp(LLVMIntULT, offset, int(2 * part)), offset, int(0));
    // Volatile, since an unused `alloca` would be removed.
    m.make_volatile(m.store(m.int(t.i8, 0), m.array_alloca(t.i8, m.add(room, int(1))), 1));
}

/// The prefix of the symbols of stubs for C code.
pub const CALLBACK: &str = "cfunc.";

/// The stub for C code, with numbers and addresses as arguments and result. An exception is reported, and the result is
/// zero.
pub(super) fn lower_callback(cx: &mut Lowering<'_>, index: usize) {
    let t = cx.m.t;
    let (func, callee) = (&cx.unit.functions[index], cx.functions[index].clone());
    let prims: Vec<Prim> = func.params().iter().flat_map(|p| func.ty(*p).flatten()).collect();
    let ret = callee.ret.flatten();
    let in_c = |p: &Prim| if *p == Prim::I1 { t.i8 } else { cx.m.prim(*p) };
    let of = ret.first().map_or(t.void, in_c);
    let types: Vec<_> = prims.iter().map(in_c).collect();
    let stub = cx.m.declare(&format!("{CALLBACK}{}", func.qualname), cx.m.fn_type(&types, of));
    cx.attributes(stub, false);
    cx.m.at_end(cx.m.block(stub));
    if let Some(d) = &cx.debug {
        d.leave(&cx.m);
    }
    let given = |(i, p): (usize, &Prim)| {
        let v = cx.m.param(stub, i);
        if *p == Prim::I1 { cx.m.icmp(LLVMIntNE, v, cx.m.int(t.i8, 0)) } else { v }
    };
    let vals: Vec<Val> = prims.iter().enumerate().map(given).collect();
    let entered = cx.enter(&callee, vals);
    let status = entered.status;
    let (ok, failed) = (cx.m.block(stub), cx.m.block(stub));
    cx.m.cond_br(cx.m.icmp(LLVMIntEQ, status, cx.m.int(t.i32, 0)), ok, failed);
    cx.m.at_end(failed);
    let name = cx.text(&func.qualname);
    let tell = cx.external(symbols::CALLBACK_FAILED, &[t.ptr], t.void);
    cx.call_external(tell, &[name]);
    match ret.first() {
        Some(_) => cx.m.ret(cx.m.null(of)),
        None => cx.m.ret_void(),
    }
    cx.m.at_end(ok);
    match ret.first() {
        Some(Prim::I1) => cx.m.ret(cx.m.zext(cx.part(&callee, &entered, 0), t.i8)),
        Some(_) => cx.m.ret(cx.part(&callee, &entered, 0)),
        None => cx.m.ret_void(),
    }
}

/// The result of a call of a function of the unit.
struct Entered {
    status: Val,
    /// The returned struct, or the address of the result.
    result: Val,
}

impl Lowering<'_> {
    /// Calls a function of the unit.
    fn enter(&self, callee: &Declared, mut vals: Vec<Val>) -> Entered {
        let m = &self.m;
        if callee.returns == Returns::Memory {
            let (_, size, align) = callee.ret.mem_layout();
            let result = m.alloca(m.array_type(m.t.i8, size), align);
            vals.insert(0, result);
            return Entered { status: m.call(callee.ty, callee.value, &vals), result };
        }
        let result = m.call(callee.ty, callee.value, &vals);
        let status = if callee.ret.flatten().is_empty() { result } else { m.extract(result, 0) };
        Entered { status, result }
    }
    /// A primitive of the result.
    fn part(&self, callee: &Declared, entered: &Entered, i: usize) -> Val {
        if callee.returns == Returns::Registers {
            return self.m.extract(entered.result, i + 1);
        }
        let (offsets, ..) = callee.ret.mem_layout();
        self.load_own(callee.ret.flatten()[i], self.m.offset(entered.result, offsets[i]))
    }
    /// Loads a primitive from an 8-byte slot or other memory with our representation.
    pub(super) fn load_own(&self, p: Prim, at: Val) -> Val {
        let m = &self.m;
        if p == Prim::I1 {
            return m.icmp(LLVMIntNE, m.load(m.t.i8, at, 1), m.int(m.t.i8, 0));
        }
        m.load(m.prim(p), at, p.size())
    }
    /// Stores a primitive with our representation.
    pub(super) fn store_own(&self, v: Val, p: Prim, at: Val) {
        let v = if p == Prim::I1 { self.m.zext(v, self.m.t.i8) } else { v };
        self.m.store(v, at, p.size());
    }
}
