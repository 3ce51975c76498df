//! Computes the extreme of several values as a tree:
//!
//! ```text
//! a = maximum(p, x)                a = maximum(x, y)
//! b = maximum(a, y)        ->      b = maximum(z, w)
//! c = maximum(b, z)                c = maximum(a, b)
//! d = maximum(c, w)                d = maximum(p, c)
//! ```
//!
//! Unrolled loops over few items leave such chains, each of whose steps waits for the one before; with NaN and signs
//! of zeros in order, a step is several instructions. LLVM does so for sums, not for extremes. The order of operands
//! does not matter to the result. Values that a loop carries come last, so that one step waits for the one before.

use crate::ir::walk::called;
use crate::ir::{Bb, Module, Val};
use llvm_sys::core::*;

const EXTREMES: [&str; 2] = ["llvm.maximum.", "llvm.minimum."];
/// Fewer values are a tree already.
const FEWEST: usize = 4;

/// Balances the chains of every function.
pub(crate) fn run(m: &Module) {
    for f in m.functions().into_iter().filter(|f| !m.is_cold_definition(*f)) {
        for block in m.blocks(f) {
            let calls = m.instructions_of(block).into_iter().filter(|i| is_extreme(*i));
            // Later ones are the roots of chains; those of a chain are gone with its root.
            let roots: Vec<Val> = calls.filter(|i| !is_step(*i, block)).collect();
            roots.into_iter().for_each(|root| balance(m, root, block));
        }
    }
}

fn is_extreme(inst: Val) -> bool {
    let name = called(inst);
    EXTREMES.iter().any(|e| name.starts_with(e))
}

/// Whether an extreme is only an operand of a further one of its kind in the block.
fn is_step(inst: Val, block: Bb) -> bool {
    only_user(inst, block).is_some_and(|user| is_extreme(user) && called(user) == called(inst))
}

/// The only user of an instruction, if it is in the block.
fn only_user(inst: Val, block: Bb) -> Option<Val> {
    // SAFETY: walks the uses of a live instruction, whose users are instructions.
    unsafe {
        let first = LLVMGetFirstUse(inst);
        if first.is_null() || !LLVMGetNextUse(first).is_null() {
            return None;
        }
        let user = LLVMGetUser(first);
        (!LLVMIsAInstruction(user).is_null() && LLVMGetInstructionParent(user) == block).then_some(user)
    }
}

fn balance(m: &Module, root: Val, block: Bb) {
    let (mut steps, mut values, mut work) = (Vec::new(), Vec::new(), vec![root]);
    while let Some(step) = work.pop() {
        steps.push(step);
        for i in 0..2 {
            // SAFETY: the call of an extreme has two arguments.
            let v = unsafe { LLVMGetOperand(step, i) };
            let is_inner = called(v) == called(root) && is_in(v, block) && is_step(v, block);
            if is_inner { &mut work } else { &mut values }.push(v);
        }
    }
    if values.len() < FEWEST {
        return;
    }
    // SAFETY: the root is a call; calls of one intrinsic have one type and may have flags.
    let (ty, f, flags) = unsafe {
        let flags = steps.iter().map(|s| LLVMGetFastMathFlags(*s)).fold(!0, |a, b| a & b);
        (LLVMGetCalledFunctionType(root), LLVMGetCalledValue(root), flags)
    };
    m.before(root);
    let of = |a: Val, b: Val| {
        let v = m.call(ty, f, &[a, b]);
        // SAFETY: the call of an intrinsic of floats.
        unsafe { LLVMSetFastMathFlags(v, flags) };
        v
    };
    // SAFETY: asks values of a live function what they are.
    let (mut carried, mut row): (Vec<Val>, Vec<Val>) =
        values.into_iter().partition(|v| unsafe { !LLVMIsAPHINode(*v).is_null() });
    while row.len() > 1 {
        row = row.chunks(2).map(|pair| if let [a, b] = pair { of(*a, *b) } else { pair[0] }).collect();
    }
    carried.append(&mut row);
    let Some(all) = carried.into_iter().reduce(of) else { return };
    m.replace_with(root, all);
    for step in steps.into_iter().skip(1) {
        // SAFETY: steps come after the one that used them, which is gone.
        unsafe { LLVMInstructionEraseFromParent(step) };
    }
}

fn is_in(v: Val, block: Bb) -> bool {
    // SAFETY: asks a value of a live function what it is.
    unsafe { !LLVMIsAInstruction(v).is_null() && LLVMGetInstructionParent(v) == block }
}
