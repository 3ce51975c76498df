//! The CPU that we compile for: one target machine per thread, made on first use.

use crate::ir::{cstring, take_message};
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use std::cell::OnceCell;
use std::ffi::CStr;
use std::sync::{Once, OnceLock};

/// The processor of this computer.
pub struct Host {
    /// LLVM's name of it.
    pub cpu: String,
    /// LLVM's list of its features.
    pub features: String,
    /// Target triple.
    pub triple: String,
}

/// The processor of this computer; asked once.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        // SAFETY: the three functions return texts that we own.
        unsafe {
            Host {
                cpu: take_message(LLVMGetHostCPUName()),
                features: take_message(LLVMGetHostCPUFeatures()),
                triple: take_message(LLVMGetDefaultTargetTriple()),
            }
        }
    })
}

/// A target machine with its data layout.
pub(crate) struct Machine {
    /// The machine.
    pub(crate) raw: LLVMTargetMachineRef,
    /// Layout of data, as text.
    pub(crate) layout: String,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: made by `Machine::new` and not shared.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}

impl Machine {
    fn new(level: LLVMCodeGenOptLevel) -> Machine {
        static INIT: Once = Once::new();
        INIT.call_once(|| {
            // SAFETY: registration of one target and one option that exists, once.
            unsafe {
                LLVMInitializeX86TargetInfo();
                LLVMInitializeX86Target();
                LLVMInitializeX86TargetMC();
                LLVMInitializeX86AsmPrinter();
                // What remains of a vectorised loop is not worth unrolling, and other loops do not gain by it.
                let args = [c"lancehead".as_ptr(), c"-unroll-runtime=false".as_ptr()];
                LLVMParseCommandLineOptions(args.len() as i32, args.as_ptr(), std::ptr::null());
            }
        });
        let h = host();
        let (triple, cpu, features) = (cstring(&h.triple), cstring(&h.cpu), cstring(&h.features));
        let mut target = std::ptr::null_mut();
        let mut error = std::ptr::null_mut();
        // SAFETY: texts outlive the calls; `target` is written when the result is 0. Position-independent code in the small model
        // is what our loader expects: everything of one object lies together, the rest is reached through its tables.
        unsafe {
            if LLVMGetTargetFromTriple(triple.as_ptr(), &raw mut target, &raw mut error) != 0 {
                lh_ir::bug!("no LLVM target for {}: {}", h.triple, take_message(error));
            }
            let raw = LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            );
            let data = LLVMCreateTargetDataLayout(raw);
            let text = LLVMCopyStringRepOfTargetData(data);
            let layout = CStr::from_ptr(text).to_string_lossy().into_owned();
            llvm_sys::core::LLVMDisposeMessage(text);
            LLVMDisposeTargetData(data);
            Machine { raw, layout }
        }
    }
}

/// Runs with this thread's machine; `optimised` chooses between code generation levels 2 and 0.
pub(crate) fn with<R>(optimised: bool, f: impl FnOnce(&Machine) -> R) -> R {
    thread_local! {
        static FAST: OnceCell<Machine> = const { OnceCell::new() };
        static PLAIN: OnceCell<Machine> = const { OnceCell::new() };
    }
    let level = if optimised {
        LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault
    } else {
        LLVMCodeGenOptLevel::LLVMCodeGenLevelNone
    };
    let cell = if optimised { &FAST } else { &PLAIN };
    cell.with(|m| f(m.get_or_init(|| Machine::new(level))))
}
