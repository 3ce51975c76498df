//! The identity of a module as it was lowered: what decides on its object.
//!
//! LLVM and our passes are deterministic, so that two modules with the same bitcode and settings, compiled by the same
//! passes for the same processor, have the same object.

use crate::ir::Module;
use crate::machine::Machine;
use crate::unit::Unit;
use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::{LLVMDisposeMemoryBuffer, LLVMGetBufferSize, LLVMGetBufferStart};

/// Digests of all that makes objects of modules: LLVM's version with our passes over LLVM IR and the lists of LLVM's
/// passes and options, and the math library.
pub fn compiler() -> [&'static str; 2] {
    [env!("LH_PASSES"), lh_math::DIGEST]
}

/// A module as it was lowered, before all passes, with what else decides on its object beside [`compiler`].
///
/// The bitcode is the same for all processors of a kind.
pub struct Lowered<'a> {
    /// The module.
    pub bitcode: &'a [u8],
    /// How it is compiled.
    pub settings: &'a str,
    /// LLVM's name of the processor, and its features.
    pub processor: (&'a str, &'a str),
}

/// Objects of modules that have been compiled before.
pub trait Objects {
    /// The object of a module, if there is one.
    fn find(&mut self, module: &Lowered<'_>) -> Option<Vec<u8>>;
    /// Takes the object of the module that was not found.
    fn keep(&mut self, object: &[u8]);
}

/// No object is known, and none is kept.
pub struct NoObjects;

impl Objects for NoObjects {
    fn find(&mut self, _: &Lowered<'_>) -> Option<Vec<u8>> {
        None
    }
    fn keep(&mut self, _: &[u8]) {}
}

/// Asks for the object of a module.
pub(crate) fn identify(
    m: &Module,
    unit: &Unit<'_>,
    machine: &Machine,
    (has_cold, has_threads): (bool, bool),
    objects: &mut dyn Objects,
) -> Option<Vec<u8>> {
    let (target, triple) = (machine.target, &machine.triple);
    let (debug, off) = (unit.debug(), lh_ir::switches::text());
    let settings = format!("{triple} debug={debug} cold={has_cold} threads={has_threads} off={off}");
    let (cpu, features) = (target.cpu(), target.features());
    with_bitcode(m, |bitcode| objects.find(&Lowered { bitcode, settings: &settings, processor: (&cpu, &features) }))
}

/// Calls a function with a module's bitcode.
fn with_bitcode<R>(m: &Module, f: impl FnOnce(&[u8]) -> R) -> R {
    // SAFETY: the module is alive, and the buffer lives until it is disposed of here.
    unsafe {
        let buffer = LLVMWriteBitcodeToMemoryBuffer(m.module);
        let bytes = std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast(), LLVMGetBufferSize(buffer));
        let result = f(bytes);
        LLVMDisposeMemoryBuffer(buffer);
        result
    }
}
