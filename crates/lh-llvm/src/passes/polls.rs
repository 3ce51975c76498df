//! Polls of the flag for Ctrl-C.
//!
//! While LLVM's passes run, a poll is a call of a function that only accesses memory of its own. A volatile or atomic
//! load would order other accesses and keep invariant code from moving out of loops.

use crate::ir::flow::Graph;
use crate::ir::walk::called;
use crate::ir::{Module, Type, Val};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// The function that stands for a poll.
pub(crate) const ASK: &str = "lh.interrupt.asked";
/// The function that stands for a load of the flag.
const FLAG: &str = "lh.interrupt.flag";
/// The `memory` attribute of these functions: memory that is inaccessible to the module (two bits for each kind of
/// memory).
const INACCESSIBLE: u64 = 0b1100;

/// Polls at the builder's position: whether the user has pressed Ctrl-C.
pub(crate) fn ask(m: &Module) -> Val {
    stand_in(m, ASK, m.t.i1)
}

/// The flag: 0, or a number greater than the bits of any address in [`lh_ir::STACK_WINDOW`].
pub(crate) fn flag(m: &Module) -> Val {
    stand_in(m, FLAG, m.t.i32)
}

/// Calls a stand-in function at the builder's position.
pub(crate) fn stand_in(m: &Module, name: &str, answer: Type) -> Val {
    let ty = m.fn_type(&[], answer);
    let f = m.declare(name, ty);
    m.attribute(f, "nounwind");
    m.attribute(f, "willreturn");
    m.attribute(f, "nocallback");
    m.number_attribute(f, "memory", INACCESSIBLE);
    m.call(ty, f, &[])
}

/// Replaces the calls of a stand-in function.
pub(crate) fn replace(m: &Module, name: &str, mut meant: impl FnMut(Val) -> Val) {
    let Some(f) = m.function(name) else { return };
    // SAFETY: all uses of the function are the calls that `stand_in` has made; each is replaced by a value of its type
    // before it is erased, and the function has none left when it is deleted.
    unsafe {
        loop {
            let next = LLVMGetFirstUse(f);
            if next.is_null() {
                break;
            }
            let call = LLVMGetUser(next);
            LLVMPositionBuilderBefore(m.builder, call);
            LLVMReplaceAllUsesWith(call, meant(call));
            LLVMInstructionEraseFromParent(call);
        }
        LLVMDeleteFunction(f);
    }
}

/// Removes repeated polls of unrolled iterations: one poll per iteration of the new loop is enough.
fn drop_repeated(m: &Module, f: Val) {
    let graph = Graph::new(m, f);
    let asks = |b: usize| m.instructions_of(graph.blocks[b]).into_iter().find(|i| called(*i) == ASK);
    let asking: Vec<(usize, Val)> = (0..graph.blocks.len()).filter_map(|b| Some((b, asks(b)?))).collect();
    if asking.len() < 2 {
        return;
    }
    let mut loops: HashMap<usize, (HashSet<usize>, Vec<usize>)> = HashMap::new();
    for (from, header) in graph.back_edges() {
        let l = loops.entry(header).or_default();
        l.0.extend(graph.body(from, header));
        l.1.push(from);
    }
    let innermost = |b: usize| loops.iter().filter(|(_, l)| l.0.contains(&b)).min_by_key(|(_, l)| l.0.len());
    let mut always: HashMap<usize, usize> = HashMap::new();
    for (b, _) in &asking {
        if let Some((header, (_, latches))) = innermost(*b)
            && latches.iter().all(|l| !graph.reaches(*header, *l, *b))
        {
            always.insert(*header, *b);
        }
    }
    for (b, call) in asking {
        if innermost(b).and_then(|(header, _)| always.get(header)).is_some_and(|kept| *kept != b) {
            m.replace_with(call, m.bool(false));
        }
    }
}

/// Replaces polls by loads and comparisons of the flag.
pub(crate) fn resolve(m: &Module) {
    let flag = || {
        let value = m.load(m.t.i32, m.external(symbols::INTERRUPT_FLAG, m.t.i32), 4);
        m.make_monotonic(value);
        value
    };
    m.functions().into_iter().for_each(|f| drop_repeated(m, f));
    replace(m, ASK, |_| m.icmp(LLVMIntNE, flag(), m.int(m.t.i32, 0)));
    replace(m, FLAG, |_| flag());
}
