//! How much LLVM does for a module: its time is to be linear in the length of a program.
//!
//! Some of LLVM's passes take the square of a function's length. Combining instructions looks at all conditions on a
//! value for each use of it, splitting aggregates at all blocks for each slot, register allocation at all blocks for
//! each value that lives long. Where there are so many conditions and blocks, and so few loops, that this is most of
//! the time, the program is long and mostly runs once per call, and gets the passes whose time is linear.
//!
//! The schedulers of code generation take the square of a block's length. They do not look past labels, and so long
//! blocks get some.

use crate::ir::flow::Graph;
use crate::ir::walk::is_declaration;
use crate::ir::{Module, Val};
use lh_ir::switches::is_off;
use llvm_sys::core::*;
use std::collections::HashMap;

/// How much is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Effort {
    /// Passes of linear time, and code generation as for debugging.
    Least,
    /// No pass that looks at all conditions on a value.
    Linear,
    /// All passes.
    Full,
}

/// A function with more conditional branches than this is long, unless it has a loop for so many of them.
const BRANCHES: usize = 1000;
const BRANCHES_OF_A_LOOP: usize = 25;
/// There is more to gain from passes than they cost for up to so many conditions on one value.
const CONDITIONS: usize = 300;
/// The instructions of a block between labels.
const BETWEEN_LABELS: usize = 500;

/// How much is worth the time for a module as it was lowered.
pub(crate) fn of(m: &Module) -> Effort {
    if is_off("llvm.effort") {
        return Effort::Full;
    }
    let functions = m.functions().into_iter().filter(|f| !is_declaration(*f));
    functions.map(|f| of_function(m, f)).min().unwrap_or(Effort::Full)
}

fn of_function(m: &Module, f: Val) -> Effort {
    let conditions: Vec<Val> = m.blocks(f).into_iter().filter_map(|b| condition(m.last(b))).collect();
    let has_few_loops = || Graph::new(m, f).back_edges().len() * BRANCHES_OF_A_LOOP < conditions.len();
    if conditions.len() > BRANCHES && has_few_loops() {
        return Effort::Least;
    }
    let mut counts: HashMap<Val, usize> = HashMap::new();
    if conditions.len() > CONDITIONS {
        // Constants are compared with, not asked about.
        let compared = conditions.iter().filter(|c| m.compares_integers(**c).is_some());
        // SAFETY: a comparison of a live function has two operands.
        let operands = compared.flat_map(|c| [0, 1].map(|i| unsafe { LLVMGetOperand(*c, i) }));
        operands.filter(|v| m.constant_int(*v).is_none()).for_each(|v| *counts.entry(v).or_default() += 1);
    }
    let most = counts.into_values().max().unwrap_or(0);
    if most > CONDITIONS { Effort::Linear } else { Effort::Full }
}

/// The condition of a conditional branch.
fn condition(last: Val) -> Option<Val> {
    // SAFETY: the last instruction of a block of a live function; the condition is asked for if there is one.
    unsafe { (!LLVMIsABranchInst(last).is_null() && LLVMIsConditional(last) != 0).then(|| LLVMGetCondition(last)) }
}

/// Puts labels into long blocks.
pub(crate) fn label(m: &mut Module) {
    let blocks: Vec<_> = m.functions().into_iter().flat_map(|f| m.blocks(f)).collect();
    for block in blocks {
        let instructions = m.instructions_of(block);
        if instructions.len() < 4 * BETWEEN_LABELS {
            continue;
        }
        let (ty, callee) = m.intrinsic("llvm.codeview.annotation", m.t.void);
        let name = m.metadata_value(m.node(&[m.md_text("label")]));
        for instruction in instructions.into_iter().skip(BETWEEN_LABELS).step_by(BETWEEN_LABELS) {
            // SAFETY: an instruction of a live block.
            if unsafe { LLVMIsAPHINode(instruction).is_null() } {
                m.before(instruction);
                m.call(ty, callee, &[name]);
            }
        }
    }
}
