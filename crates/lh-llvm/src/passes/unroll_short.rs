//! Unrolls short loops with carried values twice, if LLVM has not changed them otherwise.
//!
//! A value that an iteration loads and the next one uses beside its own costs a register move per iteration. Two
//! iterations in a row need no moves:
//!
//! ```text
//! loop: old = phi [x, before], [new, loop]         loop: old = phi [x, before], [newer, loop]
//!       new = load ...                                   new = load ...
//!       ... old, new ...                     ->          ... old, new ...
//!       br ..., loop, exit                               newer = load ...
//!                                                        ... new, newer ...
//!                                                        br ..., loop, exit
//! ```
//!
//! Values that are computed from themselves, such as sums and induction variables, need no move in any case.

use crate::ir::loop_metadata;
use crate::ir::walk::is_call;
use crate::ir::{Bb, Module, Val};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Size limit for loops, in instructions.
const SHORT: usize = 40;

/// Marks such loops; answers with the functions that have any.
pub(crate) fn mark(m: &Module) -> Vec<Val> {
    let mut functions = m.functions();
    functions
        .retain(|f| !m.is_cold_definition(*f) && m.blocks(*f).into_iter().filter(|b| mark_loop(m, *b)).count() > 0);
    functions
}

/// Marks a block that is such a loop; whether it is one.
fn mark_loop(m: &Module, block: Bb) -> bool {
    let branch = m.last(block);
    // SAFETY: a block of a complete function ends in a branch or the like.
    let is_loop = unsafe { (0..LLVMGetNumSuccessors(branch)).any(|s| LLVMGetSuccessor(branch, s) == block) };
    if !is_loop || loop_metadata::read(m, branch).is_settled() {
        return false;
    }
    let insts = m.instructions_of(block);
    let marks = insts.len() <= SHORT
        && !insts.iter().any(|i| is_call(*i))
        && m.phis(block).into_iter().any(|phi| hands_on(m, block, phi));
    if marks {
        let twice = m.node(&[m.md_text("llvm.loop.unroll.count"), m.md_int(m.t.i32, 2)]);
        loop_metadata::add(m, branch, twice);
    }
    marks
}

/// Whether a phi in a loop of one block carries a value of the previous iteration that is not computed from the phi
/// itself.
fn hands_on(m: &Module, block: Bb, phi: Val) -> bool {
    // SAFETY: asks values of a live function what they are.
    unsafe {
        let is_inside = |v: Val| !LLVMIsAInstruction(v).is_null() && LLVMGetInstructionParent(v) == block;
        let next = m.incoming(phi).into_iter().find(|(_, from)| *from == block).map(|(v, _)| v);
        let Some(next) = next.filter(|v| is_inside(*v)) else { return false };
        let mut seen = HashSet::from([next]);
        let mut work = vec![next];
        while let Some(v) = work.pop() {
            let count = if LLVMIsAPHINode(v).is_null() { LLVMGetNumOperands(v) } else { 0 };
            let of = (0..count as u32).map(|i| LLVMGetOperand(v, i));
            work.extend(of.filter(|v| is_inside(*v) && seen.insert(*v)));
        }
        !seen.contains(&phi)
    }
}
