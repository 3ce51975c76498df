//! Functions around a unit for a GPU: kernels, functions for other device code, and the barrier of the grid.

use super::cx::{Lowering, Returns};
use super::device_calls::{ERROR, NOTE_WORDS};
use crate::ir::{Type, Val};
use crate::unit::{Abi, KernelLimits, Unit};
use lh_ir::Span;
use lh_ir::types::Prim;
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE, LLVMIntSLT};
use llvm_sys::{LLVMAtomicRMWBinOp, LLVMLinkage};

/// The function that implements the grid barrier; `lh-ptx` recognises it by name.
pub(super) const GRID_SYNC: &str = symbols::GRID_SYNC;
/// The variable with the state of the grid barrier.
pub const GRID_BARRIER: &str = symbols::GRID_BARRIER;
/// LLVM's number of the calling convention for kernels.
const PTX_KERNEL: u32 = 71;

/// Builds the function with the unit's name: a kernel, or a device function with C's or Numba's calling convention.
pub(super) fn entry(cx: &mut Lowering<'_>, unit: &Unit<'_>) {
    match &unit.abi {
        Abi::Host | Abi::Internal => lh_ir::bug!("the host's entry on a GPU"),
        Abi::Kernel(limits) => kernel(cx, unit, *limits),
        Abi::CFunction => c_function(cx, unit),
        Abi::StatusFunction => status_function(cx, unit),
    }
}

/// `void kernel(...)`, with the primitives of the arguments except owners of memory, which are not counted on a GPU.
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

/// `T f(...)`; after an exception, the result is garbage.
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

/// `int f(T *result, ...)`, which returns 0, or 1 after an exception.
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

/// Types of the parameters, after those that the convention adds, and the primitives of the result.
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

/// Calls the function with the stub's parameters from `first` on; answers with its status and the primitives of its
/// result.
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
            // The caller of the launch owns the memory.
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

impl Lowering<'_> {
    /// Ends the thread. A lane that returned instead would wait where its branch reconverges, while the other lanes
    /// wait for it at a barrier.
    pub(super) fn end_thread(&self) {
        self.intrinsic("exit", &[], self.m.t.void);
        self.m.unreachable();
    }

    /// Calls LLVM's intrinsic `llvm.nvvm.<name>`.
    pub(super) fn intrinsic(&self, name: &str, args: &[Val], ret: Type) -> Val {
        let types: Vec<_> = args.iter().map(|a| self.m.type_of(*a)).collect();
        let f = self.external(&format!("llvm.nvvm.{name}"), &types, ret);
        self.call_external(f, args)
    }
    /// A special register by the name in its intrinsic.
    pub(super) fn special_register(&self, register: &str) -> Val {
        self.intrinsic(&format!("read.ptx.sreg.{register}"), &[], self.m.t.i32)
    }

    /// Builds the grid barrier, if it is called.
    ///
    /// One thread of each block adds to a counter: the first block so much that the highest bit flips when all have
    /// arrived, the others 1. So the counter needs no reset. If a thread raises, its block may never arrive; the
    /// recorded exception then ends the wait, and all threads, since the launch has failed.
    pub(super) fn define_grid_sync(&self) {
        let m = &self.m;
        let (_, f) = self.external(GRID_SYNC, &[], m.t.void);
        m.set_linkage(f, LLVMLinkage::LLVMInternalLinkage);
        m.attribute(f, "noinline");
        m.attribute(f, "convergent");
        let [entry, lead, wait, after, done] = [(); 5].map(|()| m.block(f));
        let barrier = || self.intrinsic("barrier.cta.sync.aligned.all", &[m.int(m.t.i32, 0)], m.t.void);
        let fence = || self.intrinsic("membar.gl", &[], m.t.void);
        m.at_end(entry);
        if let Some(d) = &self.debug {
            d.leave(m);
        }
        barrier();
        let is_first = |what: &str| {
            let [x, y, z] = ["x", "y", "z"].map(|a| self.special_register(&format!("{what}.{a}")));
            m.icmp(LLVMIntEQ, m.or(x, m.or(y, z)), m.int(m.t.i32, 0))
        };
        m.cond_br(is_first("tid"), lead, done);
        m.at_end(lead);
        let counter = m.device_variable(GRID_BARRIER, m.t.i32);
        let [nx, ny, nz] = ["x", "y", "z"].map(|a| self.special_register(&format!("nctaid.{a}")));
        let others = m.sub(m.mul(nx, m.mul(ny, nz)), m.int(m.t.i32, 1));
        let turn = m.sub(m.int(m.t.i32, i64::from(i32::MIN)), others);
        let step = m.select(is_first("ctaid"), turn, m.int(m.t.i32, 1));
        fence();
        let before = m.atomic_rmw(LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpAdd, counter, step);
        m.br(wait);
        m.at_end(wait);
        self.end_if_raised(f);
        let now = m.load(m.t.i32, counter, 4);
        m.make_volatile(now);
        let turned = m.icmp(LLVMIntSLT, m.xor(before, now), m.int(m.t.i32, 0));
        m.cond_br(turned, after, wait);
        m.at_end(after);
        fence();
        m.br(done);
        m.at_end(done);
        barrier();
        self.end_if_raised(f);
        m.ret_void();
    }

    /// Ends the thread if an exception is recorded, and continues in a new block.
    fn end_if_raised(&self, f: Val) {
        if self.raise_sites.is_empty() {
            return;
        }
        let m = &self.m;
        let noted = m.load(m.t.i32, m.device_variable(ERROR, m.array_type(m.t.i32, NOTE_WORDS)), 4);
        m.make_volatile(noted);
        let (end, next) = (m.block(f), m.block(f));
        m.cond_br(m.icmp(LLVMIntNE, noted, m.int(m.t.i32, 0)), end, next);
        m.at_end(end);
        self.end_thread();
        m.at_end(next);
    }
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
