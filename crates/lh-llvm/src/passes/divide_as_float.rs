//! In loops over threads, divides integers of at most 32 bits as 64-bit floats. Vectors can do that, and it never
//! traps, so that LLVM need not predicate each lane:
//!
//! ```text
//! q = sdiv i32 a, b              q = fptosi (fdiv (sitofp a), (sitofp b))
//! r = srem i32 a, b       ->     r = sub a, (mul q, b)
//! ```
//!
//! The result is exact: a quotient of such integers that is not whole differs from all whole numbers by more than the
//! rounding error. Constant divisors are left to LLVM. Runs after inlining, so that all divisions are visible.

use crate::ir::flow::Graph;
use crate::ir::loop_metadata;
use crate::ir::{Module, Val};
use llvm_sys::LLVMOpcode::{self, LLVMSDiv, LLVMSRem, LLVMUDiv, LLVMURem};
use llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind;
use llvm_sys::core::*;
use std::collections::HashSet;

/// Rewrites the divisions of every function.
pub(crate) fn run(m: &Module) {
    for f in m.functions() {
        let graph = Graph::new(m, f);
        let mut inside = HashSet::new();
        for (from, to) in graph.back_edges() {
            if loop_metadata::read(m, m.last(graph.blocks[from])).threads {
                inside.extend(graph.body(from, to));
            }
        }
        for inst in inside.into_iter().flat_map(|b| m.instructions_of(graph.blocks[b])) {
            if let Some((op, a, b)) = division(inst) {
                m.before(inst);
                m.replace_with(inst, quotient(m, op, a, b));
            }
        }
    }
}

/// Matches the division of short integers by a value that is no constant.
fn division(inst: Val) -> Option<(LLVMOpcode, Val, Val)> {
    // SAFETY: an instruction of a live function; those asked for operands have two.
    unsafe {
        let op = LLVMGetInstructionOpcode(inst);
        let ty = LLVMTypeOf(inst);
        let divides = matches!(op, LLVMSDiv | LLVMSRem | LLVMUDiv | LLVMURem);
        if !divides || LLVMGetTypeKind(ty) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(ty) > 32 {
            return None;
        }
        let (a, b) = (LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1));
        LLVMIsAConstant(b).is_null().then_some((op, a, b))
    }
}

fn quotient(m: &Module, op: LLVMOpcode, a: Val, b: Val) -> Val {
    let ty = m.type_of(a);
    let q = if matches!(op, LLVMSDiv | LLVMSRem) {
        m.fptosi(m.fdiv(m.sitofp(a, m.t.f64), m.sitofp(b, m.t.f64)), ty)
    } else {
        m.fptoui(m.fdiv(m.uitofp(a, m.t.f64), m.uitofp(b, m.t.f64)), ty)
    };
    if matches!(op, LLVMSDiv | LLVMUDiv) { q } else { m.sub(a, m.mul(q, b)) }
}
