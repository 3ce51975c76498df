//! What is outside a function on a GPU: kernels and functions that other device code calls.

use super::{Lowering, Returns};
use crate::ir::{Type, Val};
use crate::{Abi, KernelLimits, Unit};
use lh_ir::Span;
use lh_ir::types::Prim;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;

/// LLVM's number of the calling convention of kernels.
const PTX_KERNEL: u32 = 71;

/// Makes the function of the unit's name: a kernel, or a device function of C's or Numba's calling convention.
pub(super) fn entry(cx: &mut Lowering<'_>, unit: &Unit<'_>) {
    match &unit.abi {
        Abi::Host => lh_ir::bug!("the host's entry on a GPU"),
        Abi::Kernel(limits) => kernel(cx, unit, *limits),
        Abi::CFunction => c_function(cx, unit),
        Abi::StatusFunction => status_function(cx, unit),
    }
}

/// `void kernel(...)`: the primitives of the arguments less the owners of memory, which a GPU does not count.
fn kernel(cx: &mut Lowering<'_>, unit: &Unit<'_>, limits: KernelLimits) {
    let (types, void) = (params(cx, unit, &[]).0, cx.m.t.void);
    let stub = begin(cx, unit, &types, void);
    let m = &cx.m;
    m.set_call_conv(stub, PTX_KERNEL);
    let number = |name: &str, n: Option<u32>| {
        if let Some(n) = n {
            m.text_attribute(stub, name, &n.to_string());
        }
    };
    if let Some(threads) = limits.max_threads {
        m.text_attribute(stub, "nvvm.maxntid", &format!("{threads},1,1"));
    }
    number("nvvm.minctasm", limits.min_blocks);
    number("nvvm.maxnreg", limits.max_registers);
    number("nvvm.maxclusterrank", limits.max_cluster);
    call(cx, unit, stub, 0);
    m.ret_void();
}

/// `T f(...)`; an exception ends in a result that is not looked at.
fn c_function(cx: &mut Lowering<'_>, unit: &Unit<'_>) {
    let (types, ret) = params(cx, unit, &[]);
    let result = match &ret[..] {
        [] => cx.m.t.void,
        [one] => c_type(cx, *one),
        many => cx.m.struct_type(&many.iter().map(|p| c_type(cx, *p)).collect::<Vec<_>>()),
    };
    let stub = begin(cx, unit, &types, result);
    let m = &cx.m;
    let (_, vals) = call(cx, unit, stub, 0);
    let vals: Vec<Val> = vals.into_iter().zip(&ret).map(|(v, p)| to_c(cx, *p, v)).collect();
    match &vals[..] {
        [] => m.ret_void(),
        [one] => m.ret(*one),
        many => m.ret(many.iter().enumerate().fold(m.poison(result), |agg, (i, v)| m.insert(agg, *v, i))),
    }
}

/// `int f(T *result, ...)`, which gives 0, or 1 after an exception.
fn status_function(cx: &mut Lowering<'_>, unit: &Unit<'_>) {
    let (first, status) = (cx.m.t.ptr, cx.m.t.i32);
    let (types, ret) = params(cx, unit, &[first]);
    let stub = begin(cx, unit, &types, status);
    let m = &cx.m;
    let (status, vals) = call(cx, unit, stub, 1);
    let (ok, done) = (m.block(stub), m.block(stub));
    let failed = m.icmp(LLVMIntNE, status, m.int(m.t.i32, 0));
    m.cond_br(failed, done, ok);
    m.at_end(ok);
    let (offsets, ..) = cx.functions[unit.entry].ret.mem_layout();
    for ((v, p), at) in vals.into_iter().zip(&ret).zip(offsets) {
        m.store(to_c(cx, *p, v), m.offset(m.param(stub, 0), at), p.size());
    }
    m.br(done);
    m.at_end(done);
    m.ret(status);
}

/// Types of the parameters, after some of the convention's own, and the primitives of the result.
fn params(cx: &Lowering<'_>, unit: &Unit<'_>, first: &[Type]) -> (Vec<Type>, Vec<Prim>) {
    let func = &unit.functions[unit.entry];
    let prims = func.params().iter().flat_map(|p| func.ty(*p).flatten());
    let types = prims.filter(|p| *p != Prim::Mem).map(|p| c_type(cx, p));
    (first.iter().copied().chain(types).collect(), cx.functions[unit.entry].ret.flatten())
}

fn begin(cx: &mut Lowering<'_>, unit: &Unit<'_>, types: &[Type], ret: Type) -> Val {
    let m = &cx.m;
    let stub = m.declare(&unit.entry_symbol, m.fn_type(types, ret));
    cx.attributes(stub, false);
    m.at_end(m.block(stub));
    if let Some(d) = &mut cx.debug {
        let func = &unit.functions[unit.entry];
        d.enter(&cx.m, stub, func);
        d.place(&cx.m, Span { line: func.first_line, ..Span::default() });
    }
    stub
}

/// Calls the function with the stub's parameters from one on: its status and the primitives of its result.
fn call(cx: &Lowering<'_>, unit: &Unit<'_>, stub: Val, first: usize) -> (Val, Vec<Val>) {
    let m = &cx.m;
    let (func, callee) = (&unit.functions[unit.entry], &cx.functions[unit.entry]);
    let mut vals: Vec<Val> = Vec::new();
    let (offsets, size, align) = callee.ret.mem_layout();
    if callee.returns == Returns::Memory {
        vals.push(m.alloca(m.array_type(m.t.i8, size), align));
    }
    let mut next = first;
    for p in func.params().iter().flat_map(|p| func.ty(*p).flatten()) {
        vals.push(match p {
            // Memory belongs to whoever launches.
            Prim::Mem => m.null(m.t.ptr),
            p => {
                next += 1;
                from_c(cx, p, m.param(stub, next - 1))
            }
        });
    }
    let result = m.call(callee.ty, callee.value, &vals);
    if !func.options.debug {
        m.call_attribute(result, "alwaysinline");
    }
    let ret = callee.ret.flatten();
    if callee.returns == Returns::Memory {
        let parts = ret.iter().zip(offsets).map(|(p, o)| {
            let v = m.load(c_type(cx, *p), m.offset(vals[0], o), p.size());
            from_c(cx, *p, v)
        });
        return (result, parts.collect());
    }
    if ret.is_empty() {
        return (result, Vec::new());
    }
    (m.extract(result, 0), (1..=ret.len()).map(|i| m.extract(result, i)).collect())
}

fn c_type(cx: &Lowering<'_>, p: Prim) -> Type {
    if p == Prim::I1 { cx.m.t.i8 } else { cx.m.prim(p) }
}

fn to_c(cx: &Lowering<'_>, p: Prim, v: Val) -> Val {
    if p == Prim::I1 { cx.m.zext(v, cx.m.t.i8) } else { v }
}

fn from_c(cx: &Lowering<'_>, p: Prim, v: Val) -> Val {
    if p == Prim::I1 { cx.m.icmp(LLVMIntNE, v, cx.m.int(cx.m.t.i8, 0)) } else { v }
}
