//! Looks at the flag of Ctrl-C.
//!
//! While LLVM's passes run they are calls of a function that touches nothing but memory of its own: a load that must be
//! repeated would be taken for one that orders all others, and what does not change in a loop would stay in it.

use crate::ir::{Module, Type, Val};
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;

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
    // SAFETY: all uses of the function are the calls that `stand_in` has made; each is replaced by a value of its type before
    // it is erased, and the function has none left when it is deleted.
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

/// Puts the looks themselves in place.
pub(crate) fn resolve(m: &Module) {
    let flag = || {
        let value = m.load(m.t.i32, m.external("lh_interrupt_flag", m.t.i32), 4);
        m.make_monotonic(value);
        value
    };
    replace(m, ASK, |_| m.icmp(LLVMIntNE, flag(), m.int(m.t.i32, 0)));
    replace(m, FLAG, |_| flag());
}
