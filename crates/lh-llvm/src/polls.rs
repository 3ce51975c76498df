//! Looks at the flag of Ctrl-C.
//!
//! While LLVM's passes run they are calls of a function that touches nothing but memory of its own: a load that must be
//! repeated would be taken for one that orders all others, and what does not change in a loop would stay in it.

use crate::ir::{Module, Val};
use llvm_sys::LLVMIntPredicate::LLVMIntNE;
use llvm_sys::core::*;

/// What stands for a look at the flag.
const ASK: &str = "lh.interrupt.asked";
/// [`ASK`] reads and writes memory that nothing else sees (two bits for each kind of memory).
const INACCESSIBLE: u64 = 0b1100;

/// Whether the user has pressed Ctrl-C, at the builder's place.
pub(crate) fn ask(m: &Module) -> Val {
    let ty = m.fn_type(&[], m.t.i1);
    let f = m.declare(ASK, ty);
    m.attribute(f, "nounwind");
    m.attribute(f, "willreturn");
    m.attribute(f, "nocallback");
    m.number_attribute(f, "memory", INACCESSIBLE);
    m.call(ty, f, &[])
}

/// Puts the looks themselves in place.
pub(crate) fn resolve(m: &Module) {
    let Some(f) = m.function(ASK) else { return };
    let flag = m.external("lh_interrupt_flag", m.t.i32);
    // SAFETY: all uses of the function are the calls that `ask` has made; each is replaced by a value of its type before
    // it is erased, and the function has none left when it is deleted.
    unsafe {
        loop {
            let next = LLVMGetFirstUse(f);
            if next.is_null() {
                break;
            }
            let call = LLVMGetUser(next);
            LLVMPositionBuilderBefore(m.builder, call);
            let value = m.load(m.t.i32, flag, 4);
            m.make_monotonic(value);
            LLVMReplaceAllUsesWith(call, m.icmp(LLVMIntNE, value, m.int(m.t.i32, 0)));
            LLVMInstructionEraseFromParent(call);
        }
        LLVMDeleteFunction(f);
    }
}
