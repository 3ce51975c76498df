//! Operations of kernels on a GPU: geometry, barriers, warps, atomics, shared and local memory.

use super::arith::fast_math_flags;
use super::function::FnCx;
use super::gpu::GRID_SYNC;
use crate::ir::Val;
use crate::passes::cached_access;
use lh_ir::Const;
use lh_ir::Value;
use lh_ir::algebra::Approx;
use lh_ir::func::Inst;
use lh_ir::runtime::{Axis, Barrier, Combine, Geometry, Memory, RuntimeFn, Warp};
use lh_ops::runtime::CACHE_OPERATORS;
use lh_ops::symbols;
use lh_ops::warp;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;

/// The last lane, for the clamp operand of shuffles.
const LAST_LANE: i64 = 31;

impl FnCx<'_, '_> {
    /// Reads a special register as an integer.
    pub(super) fn register(&mut self, name: &str) -> Val {
        self.zext(self.cx.special_register(name), self.t.i64)
    }

    /// The special register of a part of the launch's geometry.
    pub(super) fn geometry_register(&mut self, what: Geometry, axis: Axis) -> Val {
        let all = match what {
            Geometry::Thread => ["tid.x", "tid.y", "tid.z"],
            Geometry::Block => ["ctaid.x", "ctaid.y", "ctaid.z"],
            Geometry::BlockDim => ["ntid.x", "ntid.y", "ntid.z"],
            Geometry::GridDim => ["nctaid.x", "nctaid.y", "nctaid.z"],
        };
        self.register(all[axis as usize])
    }

    /// Lowers operations on memory of blocks and threads, fences and cached accesses.
    pub(super) fn gpu_memory(&mut self, memory: Memory, f: &RuntimeFn, args: &[Value]) -> Vec<Val> {
        match memory {
            Memory::Shared => vec![self.shared(args)],
            Memory::Dynamic => vec![self.dynamic_shared()],
            Memory::DynamicBytes => vec![self.register("dynamic_smem_size")],
            Memory::Local => vec![self.local(args)],
            Memory::Fence => {
                let scope = ["cta", "gl", "sys"][self.constant_operand(args[0]) as usize];
                self.effect(&format!("llvm.nvvm.membar.{scope}"), &[])
            }
            Memory::LoadCached => vec![self.cached_load(f, args, self.one(args[0]))],
            Memory::StoreCached => self.cached_store(args, self.one(args[0]), self.one(args[1])),
            Memory::Allocate
            | Memory::AllocateZeroed
            | Memory::Temporary
            | Memory::Move
            | Memory::Moved
            | Memory::CopyRow
            | Memory::Line { .. }
            | Memory::Prefetch => {
                lh_ir::bug!("`{}` is not for a GPU", f.name)
            }
        }
    }

    /// Lowers a barrier: context, and the value that is reduced, if any.
    pub(super) fn gpu_barrier(&mut self, barrier: Barrier, args: &[Value]) -> Vec<Val> {
        match barrier {
            Barrier::Block(Combine::Nothing) => {
                self.effect("llvm.nvvm.barrier.cta.sync.aligned.all", &[self.int(self.t.i32, 0)])
            }
            Barrier::Block(Combine::Count) => vec![self.reduce_barrier("popc", self.one(args[1]))],
            Barrier::Block(Combine::All) => vec![self.reduce_barrier("and", self.one(args[1]))],
            Barrier::Block(Combine::Any) => vec![self.reduce_barrier("or", self.one(args[1]))],
            Barrier::Grid => self.grid_sync(),
        }
    }

    /// Lowers an operation of a warp.
    pub(super) fn gpu_warp(&mut self, warp: Warp, args: &[Value]) -> Vec<Val> {
        let t = self.t;
        match warp {
            Warp::Pause => self.effect("llvm.nvvm.nanosleep", &[self.trunc(self.one(args[1]), t.i32)]),
            Warp::Exchange => {
                let vals: Vec<Val> = args.iter().map(|a| self.one(*a)).collect();
                self.warp(args, &vals)
            }
            Warp::ActiveMask => vec![self.zext(self.nvvm("activemask", &[], t.i32), t.i64)],
        }
    }

    fn nvvm(&self, name: &str, args: &[Val], ret: crate::ir::Type) -> Val {
        self.cx.intrinsic(name, args, ret)
    }

    fn effect(&self, name: &str, args: &[Val]) -> Vec<Val> {
        self.nvvm(name.trim_start_matches("llvm.nvvm."), args, self.t.void);
        Vec::new()
    }

    /// The value of a constant operand.
    pub(super) fn constant_operand(&self, v: Value) -> i64 {
        let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        insts
            .filter(|i| i.result == Some(v))
            .find_map(|i| match &i.inst {
                Inst::Const(Const::Int(n, _)) => i64::try_from(*n).ok(),
                _ => None,
            })
            .unwrap_or_else(|| lh_ir::bug!("{v} of {} is no constant", self.func.name))
    }

    /// An array that the threads of a block share; the arguments are context, place in the source, size, alignment.
    /// Each place has one array.
    fn shared(&mut self, args: &[Value]) -> Val {
        let [site, bytes, align] = [1, 2, 3].map(|i| self.constant_operand(args[i]));
        let name = format!("shared.{site:x}");
        self.shared_variable(&name, self.array_type(self.t.i8, bytes as usize), align as u32, false)
    }

    /// Shared memory whose size the launch determines.
    fn dynamic_shared(&self) -> Val {
        const WIDEST: u32 = 16;
        self.shared_variable(symbols::DYNAMIC_SHARED, self.array_type(self.t.i8, 0), WIDEST, true)
    }

    fn local(&mut self, args: &[Value]) -> Val {
        let [bytes, align] = [0, 1].map(|i| self.constant_operand(args[i]));
        self.stack(self.array_type(self.t.i8, bytes as usize), align as usize)
    }

    /// A barrier of the block that counts or combines the values of its threads.
    fn reduce_barrier(&self, what: &str, value: Val) -> Val {
        let t = self.t;
        let (zero, set) = (self.int(t.i32, 0), self.icmp(LLVMIntNE, value, self.null(self.type_of(value))));
        let ret = if what == "popc" { t.i32 } else { t.i1 };
        let result = self.nvvm(&format!("barrier.cta.red.{what}.aligned.all"), &[zero, set], ret);
        self.zext(result, t.i64)
    }

    /// Calls the grid barrier, which `Lowering::define_grid_sync` builds.
    fn grid_sync(&mut self) -> Vec<Val> {
        let f = self.cx.external(GRID_SYNC, &[], self.t.void);
        self.cx.waits_for_grid = true;
        self.cx.call_external(f, &[]);
        Vec::new()
    }

    /// A warp operation; the arguments are context, kind, mask, value, lane.
    fn warp(&mut self, args: &[Value], vals: &[Val]) -> Vec<Val> {
        let t = self.t;
        let kind = self.constant_operand(args[1]);
        let narrow = kind & warp::NARROW != 0;
        let (mask, value, lane) = (self.trunc(vals[2], t.i32), vals[3], self.trunc(vals[4], t.i32));
        let none = self.int(t.i64, 0);
        let set = self.icmp(LLVMIntNE, value, none);
        let vote = |cx: &Self, name: &str| cx.zext(cx.nvvm(&format!("vote.{name}.sync"), &[mask, set], t.i1), t.i64);
        let answer = match kind & !warp::NARROW {
            warp::SYNC => {
                self.effect("bar.warp.sync", &[mask]);
                none
            }
            warp::SHFL => self.shuffle("idx", narrow, mask, value, lane, LAST_LANE),
            warp::UP => self.shuffle("up", narrow, mask, value, lane, 0),
            warp::DOWN => self.shuffle("down", narrow, mask, value, lane, LAST_LANE),
            warp::XOR => self.shuffle("bfly", narrow, mask, value, lane, LAST_LANE),
            warp::ALL => vote(self, "all"),
            warp::ANY => vote(self, "any"),
            warp::EQ => vote(self, "uni"),
            warp::BALLOT => self.zext(self.nvvm("vote.ballot.sync", &[mask, set], t.i32), t.i64),
            warp::MATCH_ANY => {
                let (width, value) = self.narrow(narrow, value);
                self.zext(self.nvvm(&format!("match.any.sync.{width}"), &[mask, value], t.i32), t.i64)
            }
            warp::MATCH_ALL => {
                let (width, value) = self.narrow(narrow, value);
                let pair =
                    self.nvvm(&format!("match.all.sync.{width}p"), &[mask, value], self.struct_type(&[t.i32, t.i1]));
                return vec![self.zext(self.extract(pair, 0), t.i64), self.zext(self.extract(pair, 1), t.i64)];
            }
            other => lh_ir::bug!("warp operation {other}"),
        };
        vec![answer, none]
    }

    /// The operand as 32 bits if it is `narrow`, with LLVM's name of the type.
    fn narrow(&self, narrow: bool, value: Val) -> (&'static str, Val) {
        if narrow { ("i32", self.trunc(value, self.t.i32)) } else { ("i64", value) }
    }

    /// A shuffle; 64 bits are shuffled in halves.
    fn shuffle(&self, kind: &str, narrow: bool, mask: Val, value: Val, lane: Val, clamp: i64) -> Val {
        let t = self.t;
        let clamp = self.int(t.i32, clamp);
        let half = |v: Val| self.nvvm(&format!("shfl.sync.{kind}.i32"), &[mask, v, lane, clamp], t.i32);
        let low = self.zext(half(self.trunc(value, t.i32)), t.i64);
        if narrow {
            return low;
        }
        let bits = self.int(t.i64, 32);
        let high = half(self.trunc(self.lshr(value, bits), t.i32));
        self.or(low, self.shl(self.zext(high, t.i64), bits))
    }

    /// Whether the GPU may approximate a function of these operands.
    pub(super) fn may_approximate(&self, vals: &[Val]) -> bool {
        let allowed = self.cx.target.is_gpu() && self.func.options.fastmath & lh_ir::func::fastmath::AFN != 0;
        allowed && self.type_of(vals[0]) == self.t.f32
    }

    /// Lowers a function of `float32` to the GPU's approximation.
    pub(super) fn approximate(&mut self, approx: Approx, vals: &[Val]) -> Val {
        let t = self.t.f32;
        // Only this intrinsic is overloaded.
        let end = |what: &str| if what == "ex2" { "f32" } else { "f" };
        let call = |cx: &Self, what: &str, v: Val| cx.nvvm(&format!("{what}.approx.ftz.{}", end(what)), &[v], t);
        let scale = |cx: &Self, v: Val, by: f64| cx.fmul(v, cx.real(t, by));
        match approx {
            Approx::Inst(what) => call(self, what, vals[0]),
            Approx::Ratio(over, under) => self.fdiv(call(self, over, vals[0]), call(self, under, vals[0])),
            Approx::OfProduct(what, by) => call(self, what, scale(self, vals[0], by)),
            Approx::Product(what, by) => scale(self, call(self, what, vals[0]), by),
            Approx::Intrinsic(name) => {
                let (fn_type, f) = self.cx.m.intrinsic(name, t);
                let v = self.call(fn_type, f, vals);
                self.set_fast_math(v, fast_math_flags(self.func.options.fastmath));
                v
            }
            Approx::Power => call(self, "ex2", self.fmul(vals[1], call(self, "lg2", vals[0]))),
        }
    }

    /// A load with a cache operator; the arguments are address and operator.
    fn cached_load(&self, f: &RuntimeFn, args: &[Value], address: Val) -> Val {
        let how = CACHE_OPERATORS[self.constant_operand(args[1]) as usize];
        let ty = self.prim(f.ret[0]);
        let fn_type = self.fn_type(&[self.t.ptr], ty);
        let load = cached_access::declare(&self.cx.m, &format!("ld.{how}"), 8 * f.ret[0].size() as u32, fn_type);
        self.call(fn_type, load, &[address])
    }

    /// A store with a cache operator; the arguments are address, value and operator.
    fn cached_store(&self, args: &[Value], address: Val, value: Val) -> Vec<Val> {
        let how = CACHE_OPERATORS[self.constant_operand(args[2]) as usize];
        let fn_type = self.fn_type(&[self.t.ptr, self.type_of(value)], self.t.void);
        let bits = 8 * self.prims(args[1])[0].size() as u32;
        let store = cached_access::declare(&self.cx.m, &format!("st.{how}"), bits, fn_type);
        self.call(fn_type, store, &[address, value]);
        Vec::new()
    }
}
