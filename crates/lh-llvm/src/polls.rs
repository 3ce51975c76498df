//! Looks at the flag of Ctrl-C.
//!
//! While LLVM's passes run they are calls of a function that touches nothing but memory of its own: a load that must be
//! repeated would be taken for one that orders all others, and what does not change in a loop would stay in it.

use crate::flow::Graph;
use crate::ir::{Module, Type, Val};
use crate::strips::called;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// What stands for a look at the flag.
pub(crate) const ASK: &str = "lh.interrupt.asked";
/// What stands for the flag itself.
const FLAG: &str = "lh.interrupt.flag";
/// Such functions read and write memory that nothing else sees (two bits for each kind of memory).
const INACCESSIBLE: u64 = 0b1100;

/// Whether the user has pressed Ctrl-C, at the builder's place.
pub(crate) fn ask(m: &Module) -> Val {
    stand_in(m, ASK, m.t.i1)
}

/// The flag: 0, or more than any part of [`lh_ir::STACK_WINDOW`].
pub(crate) fn flag(m: &Module) -> Val {
    stand_in(m, FLAG, m.t.i32)
}

/// Calls the function of a name that stands for a question, at the builder's place.
pub(crate) fn stand_in(m: &Module, name: &str, answer: Type) -> Val {
    let ty = m.fn_type(&[], answer);
    let f = m.declare(name, ty);
    m.attribute(f, "nounwind");
    m.attribute(f, "willreturn");
    m.attribute(f, "nocallback");
    m.number_attribute(f, "memory", INACCESSIBLE);
    m.call(ty, f, &[])
}

/// Puts what is meant in place of the calls of such a function.
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

/// Rounds of a loop that LLVM has put in a row look once in a round of the loop around it, not once each.
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

/// Puts the looks themselves in place.
pub(crate) fn resolve(m: &Module) {
    let flag = || {
        let value = m.load(m.t.i32, m.external("lh_interrupt_flag", m.t.i32), 4);
        m.make_monotonic(value);
        value
    };
    m.functions().into_iter().for_each(|f| drop_repeated(m, f));
    replace(m, ASK, |_| m.icmp(LLVMIntNE, flag(), m.int(m.t.i32, 0)));
    replace(m, FLAG, |_| flag());
}
