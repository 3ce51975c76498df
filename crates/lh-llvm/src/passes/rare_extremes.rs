//! Expects an item to be no new extreme:
//!
//! ```text
//! for i in range(n):
//!     if a[i] < least: least = a[i]; at = i
//! ```
//!
//! LLVM makes selects of this, so that an iteration waits for the one before. New extremes become rarer the more items
//! there are: a branch is predicted, and nothing waits. An extreme without a place is one instruction and stays. Inner
//! loops stay as well, since many of them are short, and each new extreme costs a misprediction.

use crate::ir::flow::Graph;
use crate::ir::{Module, Val};
use llvm_sys::LLVMOpcode::{LLVMFCmp, LLVMSelect};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// The weight of items that are no new extreme, beside 1.
const OFTEN: i64 = 1 << 20;

/// Marks the selects of extremes and their places in every function.
pub(crate) fn mark(m: &Module) {
    for f in m.functions().into_iter().filter(|f| !m.is_cold_definition(*f)) {
        let graph = Graph::new(m, f);
        let mut headers: HashMap<usize, HashSet<usize>> = HashMap::new();
        for (from, to) in graph.back_edges() {
            graph.body(from, to).into_iter().for_each(|b| _ = headers.entry(b).or_default().insert(to));
        }
        let outermost = headers.into_iter().filter(|(_, of)| of.len() == 1);
        for (b, _) in outermost {
            let selects: Vec<Val> = m.instructions_of(graph.blocks[b]).into_iter().filter(|i| is_select(*i)).collect();
            for extreme in &selects {
                let Some(keeps) = keeps(m, *extreme) else { continue };
                let weights = if keeps { [OFTEN, 1] } else { [1, OFTEN] };
                let cond = operand(*extreme, 0);
                let same: Vec<&Val> = selects.iter().filter(|s| operand(**s, 0) == cond).collect();
                if same.len() > 1 {
                    let [a, b] = weights.map(|w| m.md_int(m.t.i32, w));
                    let weights = m.node(&[m.md_text("branch_weights"), a, b]);
                    same.into_iter().for_each(|s| m.attach(*s, "prof", weights));
                }
            }
        }
    }
}

/// If a select chooses the lesser or greater of an item and a carried value: whether the condition keeps the latter.
fn keeps(m: &Module, select: Val) -> Option<bool> {
    let [cond, yes, no] = [0, 1, 2].map(|i| operand(select, i));
    // SAFETY: asks values of a live function what they are.
    let compares = unsafe { !LLVMIsAInstruction(cond).is_null() && LLVMGetInstructionOpcode(cond) == LLVMFCmp };
    if !compares || m.vector_bytes(yes) > 0 {
        return None;
    }
    let (a, b) = (operand(cond, 0), operand(cond, 1));
    if (a, b) != (yes, no) && (b, a) != (yes, no) {
        return None;
    }
    // SAFETY: as above.
    let is_carried =
        |v: Val| unsafe { !LLVMIsAPHINode(v).is_null() || (!LLVMIsAInstruction(v).is_null() && is_select(v)) };
    match (is_carried(yes), is_carried(no)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        (true, true) | (false, false) => None,
    }
}

fn is_select(inst: Val) -> bool {
    // SAFETY: an instruction of a live function.
    unsafe { LLVMGetInstructionOpcode(inst) == LLVMSelect }
}

fn operand(inst: Val, i: u32) -> Val {
    // SAFETY: selects have three operands, comparisons two.
    unsafe { LLVMGetOperand(inst, i) }
}
