//! Chooses the half in which a binary search continues without a branch, which would be unpredictable:
//!
//! ```text
//! while lo < hi:
//!     m = (lo + hi) // 2               below = a[m] < x
//!     if a[m] < x: lo = m + 1    ->    lo = m + 1 if below else lo       # conditional moves
//!     else: hi = m                     hi = hi if below else m
//! ```
//!
//! LLVM already has the selects, but turns them into branches again for the machine, where waiting for a comparison
//! costs more than a predicted branch. The pass marks selects as unpredictable that determine the next index of a load,
//! where the index is halved.

use crate::ir::{Module, Val};
use llvm_sys::LLVMIntPredicate::{LLVMIntUGE, LLVMIntULT};
use llvm_sys::LLVMOpcode::{LLVMAShr, LLVMCall, LLVMLShr, LLVMLoad, LLVMPHI, LLVMSDiv, LLVMSelect};
use llvm_sys::core::*;

/// Bound on the values that are visited to find from what an index or a condition is computed.
const MOST: usize = 32;

/// Marks these selects in every function.
pub(crate) fn mark(m: &Module) {
    for f in m.functions().into_iter().filter(|f| !m.is_cold_definition(*f)) {
        let halves = |i: &Val| opcode(*i).is_some_and(|op| op == LLVMSelect) && decides_a_half(m, *i);
        for select in m.instructions(f).into_iter().filter(halves) {
            m.attach(select, "unpredictable", m.node(&[]));
        }
    }
}

/// Whether a select depends on an element at a halved index, and determines the next index.
fn decides_a_half(m: &Module, select: Val) -> bool {
    // SAFETY: an instruction that chooses has three operands, one that loads has an address.
    let (cond, address) = unsafe { (LLVMGetOperand(select, 0), |load: Val| LLVMGetOperand(load, 0)) };
    let loads = made_of(cond).into_iter().filter(|v| opcode(*v) == Some(LLVMLoad));
    loads.map(|load| made_of(address(load))).any(|index| {
        let comes_back = |v: &Val| opcode(*v) == Some(LLVMPHI) && m.incoming(*v).iter().any(|(v, _)| *v == select);
        index.iter().any(|v| is_half(m, *v)) && index.iter().any(comes_back)
    })
}

fn is_half(m: &Module, v: Val) -> bool {
    // SAFETY: what divides or shifts has two operands.
    let by = || m.constant_int(unsafe { LLVMGetOperand(v, 1) });
    match opcode(v) {
        Some(LLVMSDiv) => by() == Some(2),
        Some(LLVMAShr | LLVMLShr) => by() == Some(1),
        _ => false,
    }
}

/// The values from which a value is computed, up to loads, calls and phis.
fn made_of(v: Val) -> Vec<Val> {
    let (mut out, mut at) = (vec![v], 0);
    while at < out.len() && out.len() < MOST {
        if let Some(v) = checked_index(out[at]).filter(|v| !out.contains(v)) {
            out.push(v);
        } else if opcode(out[at]).is_some_and(|op| !matches!(op, LLVMPHI | LLVMLoad | LLVMCall)) {
            // SAFETY: operands of a live instruction.
            let operands = unsafe { (0..LLVMGetNumOperands(out[at]) as u32).map(|i| LLVMGetOperand(out[at], i)) };
            for v in operands.collect::<Vec<_>>() {
                if opcode(v).is_some() && !out.contains(&v) {
                    out.push(v);
                }
            }
        }
        at += 1;
    }
    out
}

/// The index of which a phi is the position: a negative one counts from the end where a comparison with the size
/// branches to.
fn checked_index(phi: Val) -> Option<Val> {
    if opcode(phi) != Some(LLVMPHI) {
        return None;
    }
    // SAFETY: asks instructions of a live function; complete blocks have terminators, and comparisons two operands.
    unsafe {
        let pairs = (0..LLVMCountIncoming(phi)).map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i)));
        let mut pairs = pairs.filter(|(v, from)| {
            let term = LLVMGetBasicBlockTerminator(*from);
            let cond = if LLVMGetNumSuccessors(term) == 2 { LLVMGetCondition(term) } else { return false };
            let compares = !LLVMIsAICmpInst(cond).is_null()
                && matches!(LLVMGetICmpPredicate(cond), LLVMIntULT | LLVMIntUGE)
                && LLVMGetOperand(cond, 0) == *v;
            compares && opcode(*v).is_some_and(|op| op != LLVMPHI)
        });
        pairs.next().map(|(v, _)| v)
    }
}

/// The opcode of an instruction; `None` for other values.
fn opcode(v: Val) -> Option<llvm_sys::LLVMOpcode> {
    // SAFETY: a value of a live function.
    unsafe { (!LLVMIsAInstruction(v).is_null()).then(|| LLVMGetInstructionOpcode(v)) }
}
