//! Code generation with a list of passes that is built once for each machine, in `emitter.cpp`, our only C++: LLVM's C
//! interface can neither keep that list nor read the lists of processors.

use crate::ir::{Module, take_message};
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::LLVMTargetMachineRef;
use std::ffi::c_char;

/// The emitter of the C++ side.
#[repr(C)]
struct Raw {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn lh_emitter_new(machine: LLVMTargetMachineRef) -> *mut Raw;
    fn lh_emitter_free(emitter: *mut Raw);
    fn lh_emitter_object(emitter: *mut Raw, module: LLVMModuleRef, size: *mut usize) -> *const u8;
    fn lh_target_names(machine: LLVMTargetMachineRef, features: bool) -> *mut c_char;
}

/// Code-generation passes that write objects. The machine that owns them outlives them.
pub(crate) struct Emitter(*mut Raw);

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: made by `new` and freed once.
        unsafe { lh_emitter_free(self.0) }
    }
}

impl Emitter {
    /// # Safety
    /// The machine is alive and outlives the result.
    pub(crate) unsafe fn new(machine: LLVMTargetMachineRef) -> Emitter {
        // SAFETY: by contract.
        let raw = unsafe { lh_emitter_new(machine) };
        if raw.is_null() {
            lh_ir::bug!("LLVM writes no objects for this target");
        }
        Emitter(raw)
    }
    /// The module as an object file. Code generation changes the module.
    pub(crate) fn object(&self, m: &Module) -> Vec<u8> {
        lh_ir::stop::poll();
        let mut size = 0;
        // SAFETY: emitter and module are alive, and this thread's alone; the bytes are copied before the next call.
        unsafe {
            let start = lh_emitter_object(self.0, m.module, &raw mut size);
            std::slice::from_raw_parts(start, size).to_vec()
        }
    }
}

/// The names that a machine's target has for processors, or for features of processors.
///
/// # Safety
/// The machine is alive.
pub(crate) unsafe fn target_names(machine: LLVMTargetMachineRef, features: bool) -> Vec<String> {
    // SAFETY: by contract; the text is ours.
    let text = unsafe { take_message(lh_target_names(machine, features)) };
    text.lines().map(str::to_owned).collect()
}
