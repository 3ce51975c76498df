//! Atomic operations of kernels on the CPU device, emitted inline. All threads of a block run on one thread of the
//! computer, so that plain loads and stores suffice for shared memory; other memory may be accessed by other blocks.

use super::function::FnCx;
use crate::ir::Val;
use lh_ir::Value;
use lh_ir::func::Inst;
use lh_ir::runtime::{Memory, Rmw, Role};
use lh_ir::types::Prim;
use llvm_sys::LLVMAtomicRMWBinOp;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSGT, LLVMIntSLT, LLVMIntUGE, LLVMIntUGT, LLVMIntULT};
use llvm_sys::LLVMRealPredicate::{LLVMRealOGT, LLVMRealOLT, LLVMRealUNO};

impl FnCx<'_, '_> {
    /// Lowers an atomic operation on an address with operands; returns the previous value.
    pub(super) fn atomic(&self, rmw: Rmw, prim: Prim, args: &[Value]) -> Val {
        let vals: Vec<Val> = args.iter().map(|v| self.one(*v)).collect();
        if !self.cx.target.is_gpu() && self.is_shared(args[0]) {
            let size = prim.size();
            let old = self.load(self.type_of(vals[1]), vals[0], size);
            let new = self.changed(rmw, prim, old, &vals[1..]);
            self.store(new, vals[0], size);
            return old;
        }
        match Self::atomic_instruction(rmw, prim) {
            Some(op) if self.cx.target.is_gpu() => self.atomic_rmw(op, vals[0], vals[1]),
            Some(op) => self.atomic_rmw_anywhere(op, vals[0], vals[1]),
            None if rmw == Rmw::CompareExchange => self.compare_and_swap(vals[0], vals[1], vals[2]),
            None => self.float_extreme(rmw, vals[0], vals[1]),
        }
    }

    fn compare_and_swap(&self, at: Val, want: Val, new: Val) -> Val {
        if self.cx.target.is_gpu() {
            self.compare_exchange(at, want, new)
        } else {
            self.compare_exchange_anywhere(at, want, new)
        }
    }

    /// The value in memory after an operation.
    fn changed(&self, rmw: Rmw, prim: Prim, old: Val, vals: &[Val]) -> Val {
        let x = vals[0];
        let number = |i| self.int(self.type_of(old), i);
        let better = |by| self.select(self.icmp(by, x, old), x, old);
        match rmw {
            Rmw::Add if prim.is_float() => self.fadd(old, x),
            Rmw::Add => self.add(old, x),
            Rmw::And => self.and(old, x),
            Rmw::Or => self.or(old, x),
            Rmw::Xor => self.xor(old, x),
            Rmw::Exchange => x,
            Rmw::CompareExchange => self.select(self.icmp(LLVMIntEQ, old, x), vals[1], old),
            Rmw::Max | Rmw::Min | Rmw::NanMax | Rmw::NanMin if prim.is_float() => {
                self.select(self.float_wins(rmw, x, old), x, old)
            }
            Rmw::Max | Rmw::NanMax => better(LLVMIntSGT),
            Rmw::UMax => better(LLVMIntUGT),
            Rmw::Min | Rmw::NanMin => better(LLVMIntSLT),
            Rmw::UMin => better(LLVMIntULT),
            Rmw::Inc => self.select(self.icmp(LLVMIntUGE, old, x), number(0), self.add(old, number(1))),
            Rmw::Dec => {
                let around = self.or(self.icmp(LLVMIntEQ, old, number(0)), self.icmp(LLVMIntUGT, old, x));
                self.select(around, x, self.sub(old, number(1)))
            }
        }
    }

    /// Whether a float replaces the one in memory.
    fn float_wins(&self, rmw: Rmw, x: Val, old: Val) -> Val {
        let better = if matches!(rmw, Rmw::Max | Rmw::NanMax) { LLVMRealOGT } else { LLVMRealOLT };
        let wins = self.fcmp(better, x, old);
        if matches!(rmw, Rmw::NanMax | Rmw::NanMin) { self.or(wins, self.fcmp(LLVMRealUNO, old, old)) } else { wins }
    }

    /// Atomic maximum or minimum of floats by a compare-and-swap loop. NaN in memory stays, and a NaN operand is
    /// ignored; some operations replace a NaN in memory.
    fn float_extreme(&self, rmw: Rmw, at: Val, x: Val) -> Val {
        let t = self.t;
        let float = self.type_of(x);
        let (int, size) = if float == t.f32 { (t.i32, 4) } else { (t.i64, 8) };
        let (start, again, done) = (self.new_block(), self.new_block(), self.new_block());
        let first = self.load(int, at, size);
        self.make_volatile(first);
        let from = self.here();
        self.br(start);
        self.at_end(start);
        let bits = self.phi(int);
        self.add_incoming(bits, first, from);
        let old = self.bitcast(bits, float);
        self.cond_br(self.float_wins(rmw, x, old), again, done);
        self.at_end(again);
        let now = self.compare_and_swap(at, bits, self.bitcast(x, int));
        self.add_incoming(bits, now, again);
        let same = self.icmp(LLVMIntEQ, now, bits);
        self.cond_br(same, done, start);
        self.at_end(done);
        self.bitcast(bits, float)
    }

    /// Whether an address is known to be in the block's shared memory.
    fn is_shared(&self, address: Value) -> bool {
        let mut v = address;
        loop {
            let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
            v = match insts.rev().find(|d| d.result == Some(v)).map(|d| &d.inst) {
                Some(Inst::ElemPtr { array: of, .. } | Inst::ArrayData(of) | Inst::PtrAdd(of, _)) => *of,
                Some(Inst::ArrayMake { data, .. }) => *data,
                Some(Inst::Runtime(f, _)) => return matches!(f.role, Role::Memory(Memory::Shared | Memory::Dynamic)),
                _ => return false,
            };
        }
    }

    /// LLVM's instruction for an atomic operation.
    fn atomic_instruction(rmw: Rmw, prim: Prim) -> Option<LLVMAtomicRMWBinOp> {
        use LLVMAtomicRMWBinOp::{
            LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpFAdd, LLVMAtomicRMWBinOpMax,
            LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpUDecWrap, LLVMAtomicRMWBinOpUIncWrap,
            LLVMAtomicRMWBinOpUMax, LLVMAtomicRMWBinOpUMin, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXor,
        };
        Some(match rmw {
            Rmw::Add if prim.is_float() => LLVMAtomicRMWBinOpFAdd,
            Rmw::Add => LLVMAtomicRMWBinOpAdd,
            Rmw::Max | Rmw::Min if prim.is_float() => return None,
            Rmw::Max => LLVMAtomicRMWBinOpMax,
            Rmw::UMax => LLVMAtomicRMWBinOpUMax,
            Rmw::Min => LLVMAtomicRMWBinOpMin,
            Rmw::UMin => LLVMAtomicRMWBinOpUMin,
            Rmw::And => LLVMAtomicRMWBinOpAnd,
            Rmw::Or => LLVMAtomicRMWBinOpOr,
            Rmw::Xor => LLVMAtomicRMWBinOpXor,
            Rmw::Exchange => LLVMAtomicRMWBinOpXchg,
            Rmw::Inc => LLVMAtomicRMWBinOpUIncWrap,
            Rmw::Dec => LLVMAtomicRMWBinOpUDecWrap,
            Rmw::NanMax | Rmw::NanMin | Rmw::CompareExchange => return None,
        })
    }
}
