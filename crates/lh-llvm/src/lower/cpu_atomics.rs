//! Atomic operations of kernels on the CPU device, emitted inline. All threads of a block run on one thread of the
//! computer, so that plain loads and stores suffice for shared memory; other memory may be accessed by other blocks.

use super::function::FnCx;
use crate::ir::Val;
use lh_ir::Value;
use lh_ir::func::Inst;
use llvm_sys::LLVMAtomicRMWBinOp as Rmw;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSGT, LLVMIntSLT, LLVMIntUGE, LLVMIntUGT, LLVMIntULT};
use llvm_sys::LLVMRealPredicate::{LLVMRealOGT, LLVMRealOLT, LLVMRealUNO};

impl FnCx<'_, '_> {
    /// Lowers `<what>_<type>` on an address and operands; `None` if the run-time library does it.
    pub(super) fn cpu_atomic(&self, name: &str, args: &[Value]) -> Option<Val> {
        let (what, ty) = name.rsplit_once('_')?;
        let size = match ty {
            "i32" | "u32" | "f32" => 4,
            "i64" | "u64" | "f64" => 8,
            _ => return None,
        };
        let vals: Vec<Val> = args.iter().map(|v| self.one(*v)).collect();
        if !self.is_shared(args[0]) {
            let op = match what {
                "add" if !ty.starts_with('f') => Rmw::LLVMAtomicRMWBinOpAdd,
                "and" => Rmw::LLVMAtomicRMWBinOpAnd,
                "or" => Rmw::LLVMAtomicRMWBinOpOr,
                "xor" => Rmw::LLVMAtomicRMWBinOpXor,
                "exch" => Rmw::LLVMAtomicRMWBinOpXchg,
                _ => return None,
            };
            return Some(self.atomic_rmw_anywhere(op, vals[0], vals[1]));
        }
        let old = self.load(self.type_of(vals[1]), vals[0], size);
        let new = self.changed(what, ty, old, &vals[1..])?;
        self.store(new, vals[0], size);
        Some(old)
    }

    /// The value in memory after an operation.
    fn changed(&self, what: &str, ty: &str, old: Val, vals: &[Val]) -> Option<Val> {
        let x = vals[0];
        let (float, unsigned) = (ty.starts_with('f'), ty.starts_with('u'));
        let number = |i| self.int(self.type_of(old), i);
        Some(match what {
            "add" if float => self.fadd(old, x),
            "add" => self.add(old, x),
            "and" => self.and(old, x),
            "or" => self.or(old, x),
            "xor" => self.xor(old, x),
            "exch" => x,
            "cas" => self.select(self.icmp(LLVMIntEQ, old, x), vals[1], old),
            "max" | "min" | "nanmax" | "nanmin" if float => {
                let better = if what.ends_with("max") { LLVMRealOGT } else { LLVMRealOLT };
                let mut wins = self.fcmp(better, x, old);
                if what.starts_with("nan") {
                    wins = self.or(wins, self.fcmp(LLVMRealUNO, old, old));
                }
                self.select(wins, x, old)
            }
            "max" | "min" => {
                let better = match (what, unsigned) {
                    ("max", true) => LLVMIntUGT,
                    ("max", false) => LLVMIntSGT,
                    (_, true) => LLVMIntULT,
                    (_, false) => LLVMIntSLT,
                };
                self.select(self.icmp(better, x, old), x, old)
            }
            "inc" => self.select(self.icmp(LLVMIntUGE, old, x), number(0), self.add(old, number(1))),
            "dec" => {
                let around = self.or(self.icmp(LLVMIntEQ, old, number(0)), self.icmp(LLVMIntUGT, old, x));
                self.select(around, x, self.sub(old, number(1)))
            }
            _ => return None,
        })
    }

    /// Whether an address is known to be in the block's shared memory.
    fn is_shared(&self, address: Value) -> bool {
        let mut v = address;
        loop {
            let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
            v = match insts.rev().find(|d| d.result == Some(v)).map(|d| &d.inst) {
                Some(Inst::ElemPtr { array: of, .. } | Inst::ArrayData(of) | Inst::PtrAdd(of, _)) => *of,
                Some(Inst::ArrayMake { data, .. }) => *data,
                Some(Inst::Runtime(f, _)) => return matches!(f.name, "lh_cuda_shared" | "lh_cuda_dynamic"),
                _ => return false,
            };
        }
    }
}
