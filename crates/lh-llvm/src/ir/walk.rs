//! Reads finished functions: their blocks, instructions and calls.

use super::{Bb, Module, Val};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};

impl Module {
    /// All functions, declared and defined.
    pub(crate) fn functions(&self) -> Vec<Val> {
        functions_of(self.module)
    }
    /// The blocks of a function.
    pub(crate) fn blocks(&self, function: Val) -> Vec<Bb> {
        // SAFETY: walks the list of a live function.
        unsafe { list(LLVMGetFirstBasicBlock(function), |b| LLVMGetNextBasicBlock(b)) }
    }
    /// Whether a block calls a function with this prefix.
    pub(crate) fn calls_named(&self, block: Bb, prefix: &str) -> bool {
        self.instructions_of(block).into_iter().any(|i| called(i).starts_with(prefix))
    }
    /// The instructions of a function.
    pub(crate) fn instructions(&self, function: Val) -> Vec<Val> {
        self.blocks(function).into_iter().flat_map(|b| self.instructions_of(b)).collect()
    }
    /// The instructions of a block.
    pub(crate) fn instructions_of(&self, block: Bb) -> Vec<Val> {
        // SAFETY: walks the list of a live block.
        unsafe { list(LLVMGetFirstInstruction(block), |i| LLVMGetNextInstruction(i)) }
    }
    /// The size of a vector in bytes; 0 for other values.
    pub(crate) fn vector_bytes(&self, v: Val) -> u64 {
        // SAFETY: types of this context; the layout belongs to the module.
        unsafe {
            let ty = LLVMTypeOf(v);
            if matches!(LLVMGetTypeKind(ty), llvm_sys::LLVMTypeKind::LLVMVectorTypeKind) {
                LLVMABISizeOfType(LLVMGetModuleDataLayout(self.module), ty)
            } else {
                0
            }
        }
    }
}

/// All functions of a module.
pub(crate) fn functions_of(m: LLVMModuleRef) -> Vec<Val> {
    // SAFETY: walks the list of functions of a live module.
    unsafe { list(LLVMGetFirstFunction(m), |f| LLVMGetNextFunction(f)) }
}

/// The elements of a list that ends in a null pointer.
fn list<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> Vec<*mut T> {
    let some = |p: *mut T| (!p.is_null()).then_some(p);
    std::iter::successors(some(first), |p| some(next(*p))).collect()
}

/// Whether the module does not define a function.
pub(crate) fn is_declaration(f: Val) -> bool {
    // SAFETY: a function of a live module.
    unsafe { LLVMIsDeclaration(f) != 0 }
}

/// The name of a function.
pub(crate) fn name_of(f: Val) -> String {
    let mut len = 0;
    // SAFETY: the name is read by length while the function lives.
    unsafe {
        let text = LLVMGetValueName2(f, &raw mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), len)).into_owned()
    }
}

/// The name of the called function; empty if the instruction is no direct call.
pub(crate) fn called(inst: Val) -> String {
    // SAFETY: a value of a live function; a call has a callee.
    let callee = unsafe { (!LLVMIsACallInst(inst).is_null()).then(|| LLVMGetCalledValue(inst)) };
    callee.map_or_else(String::new, name_of)
}

/// Whether an instruction calls a function other than an intrinsic.
pub(crate) fn is_call(inst: Val) -> bool {
    // SAFETY: an instruction of a live function.
    let calls = unsafe { !LLVMIsACallInst(inst).is_null() };
    calls && !called(inst).starts_with("llvm.")
}
