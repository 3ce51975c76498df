//! Metadata of loops, at the branches of their latches: ours, and those of LLVM's passes.

use super::{Module, Val};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::HashSet;
use std::ptr::null_mut;

/// Loop metadata: the loop is to poll. LLVM may lose the metadata, so loops without any poll as well.
const MARK: &str = "lh.strips";
/// Loop metadata: the loop polls by itself or is certainly short.
const QUIET: &str = "lh.quiet";
/// Loop metadata: straight-line code of the function is to be vectorised (SLP).
pub(crate) const SLP: &str = "lh.slp";

/// The metadata of a loop that is to poll, or is not.
pub(crate) fn poll(m: &Module, asks: bool) -> LLVMMetadataRef {
    m.node(&[m.md_text(if asks { MARK } else { QUIET })])
}

/// The metadata of a loop, at the branch of its latch.
pub(crate) struct Description {
    /// It is to poll.
    pub(crate) marked: bool,
    /// It need not poll.
    pub(crate) quiet: bool,
    /// Straight-line code of its function is to be vectorised.
    pub(crate) slp: bool,
    /// It comes from a vectorised loop.
    pub(crate) vectorised: bool,
    /// It has been unrolled, or has a hint for that.
    pub(crate) unrolled: bool,
    /// Its iterations are threads of a kernel.
    pub(crate) threads: bool,
}

/// Reads the metadata of a loop at the branch of its latch.
pub(crate) fn read(m: &Module, branch: Val) -> Description {
    let mut texts = HashSet::new();
    // SAFETY: walks a node of two levels, whose parts are nodes, texts or values.
    unsafe {
        let kind = LLVMGetMDKindIDInContext(m.context, c"llvm.loop".as_ptr(), 9);
        let node = LLVMGetMetadata(branch, kind);
        let parts = if node.is_null() { Vec::new() } else { operands(node) };
        for part in parts.into_iter().skip(1).filter(|p| !p.is_null() && !LLVMIsAMDNode(*p).is_null()) {
            let mut len = 0;
            let Some(text) = operands(part).first().copied().filter(|t| !t.is_null() && !LLVMIsAMDString(*t).is_null())
            else {
                continue;
            };
            let text = LLVMGetMDString(text, &raw mut len);
            texts.insert(std::slice::from_raw_parts(text.cast::<u8>(), len as usize).to_vec());
        }
    }
    let says = |text: &str| texts.contains(text.as_bytes());
    // The vectoriser only says that its scalar version, which usually runs the last iterations, is not worth it.
    let of_vectoriser = b"llvm.loop.unroll.runtime.disable";
    let unrolled = texts.iter().any(|t| t.starts_with(b"llvm.loop.unroll.") && t != of_vectoriser);
    let (vectorised, threads) = (says("llvm.loop.isvectorized"), says("llvm.loop.parallel_accesses"));
    let (marked, quiet, slp) = (says(MARK), says(QUIET), says(SLP));
    Description { marked, quiet, slp, vectorised, unrolled, threads }
}

/// Adds to the metadata of a loop at the branch of its latch.
pub(crate) fn add(m: &Module, branch: Val, more: LLVMMetadataRef) {
    // SAFETY: the parts of a loop's node but the first, which is itself, are nodes.
    let mut parts: Vec<LLVMMetadataRef> = unsafe {
        let node = LLVMGetMetadata(branch, LLVMGetMDKindIDInContext(m.context, c"llvm.loop".as_ptr(), 9));
        let parts = if node.is_null() { Vec::new() } else { operands(node) };
        parts.into_iter().skip(1).map(|p| LLVMValueAsMetadata(p)).collect()
    };
    parts.push(more);
    m.attach(branch, "llvm.loop", m.loop_node(&parts));
}

/// The operands of a metadata node.
///
/// # Safety
/// `node` is one.
unsafe fn operands(node: Val) -> Vec<Val> {
    // SAFETY: as many are written as there are.
    unsafe {
        let mut all = vec![null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
        LLVMGetMDNodeOperands(node, all.as_mut_ptr());
        all
    }
}
