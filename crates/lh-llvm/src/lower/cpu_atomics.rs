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
    /// Address, operands. `None` if it is left to the run-time library.
    pub(super) fn cpu_atomic(&self, rmw: Rmw, prim: Prim, args: &[Value]) -> Option<Val> {
        let vals: Vec<Val> = args.iter().map(|v| self.one(*v)).collect();
        if !self.is_shared(args[0]) {
            // The instructions of CPUs.
            let has = matches!(rmw, Rmw::Add | Rmw::And | Rmw::Or | Rmw::Xor | Rmw::Exchange) && !prim.is_float();
            let op = Self::atomic_instruction(rmw, prim).filter(|_| has)?;
            return Some(self.atomic_rmw_anywhere(op, vals[0], vals[1]));
        }
        let size = prim.size();
        let old = self.load(self.type_of(vals[1]), vals[0], size);
        let new = self.changed(rmw, prim, old, &vals[1..]);
        self.store(new, vals[0], size);
        Some(old)
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
    pub(super) fn float_wins(&self, rmw: Rmw, x: Val, old: Val) -> Val {
        let better = if matches!(rmw, Rmw::Max | Rmw::NanMax) { LLVMRealOGT } else { LLVMRealOLT };
        let wins = self.fcmp(better, x, old);
        if matches!(rmw, Rmw::NanMax | Rmw::NanMin) { self.or(wins, self.fcmp(LLVMRealUNO, old, old)) } else { wins }
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
    pub(super) fn atomic_instruction(rmw: Rmw, prim: Prim) -> Option<LLVMAtomicRMWBinOp> {
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
