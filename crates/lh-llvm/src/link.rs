//! The vector math library, linked into modules that use it, so that loops which call it are vectorised.

use crate::ir::{Module, Val, cstring, take_message};
use crate::machine::{Machine, host};
use crate::pipeline;
use llvm_sys::LLVMLinkage;
use llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::LLVMModuleRef;
use std::collections::HashSet;
use std::ffi::{CStr};
use std::ptr::null_mut;
use std::sync::LazyLock;

static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| lh_math::names().iter().copied().collect());

/// Keeps the variants alive until the vectoriser has run.
const USED: &CStr = c"llvm.compiler.used";

/// Whether the vector math library defines a function.
pub(crate) fn has_math(name: &str) -> bool {
    NAMES.contains(name)
}

/// Links the functions of the vector math library that a module declares. Whether [`finish_math`] has something to do.
pub(crate) fn add_math(m: &Module) -> bool {
    let wanted = |f: &Val| is_declaration(*f) && has_math(&name_of(*f));
    if !functions(m.module).iter().any(wanted) {
        return false;
    }
    let before: HashSet<usize> = functions(m.module).into_iter().filter(|f| !is_declaration(*f)).map(|f| f as usize).collect();
    let has_fma = host().features.split(',').any(|f| f == "+fma");
    link(m, parse_bitcode(m, lh_math::bitcode(has_fma)));
    let linked: Vec<Val> =
        functions(m.module).into_iter().filter(|f| !is_declaration(*f) && !before.contains(&(*f as usize))).collect();
    let large: Vec<Val> = linked.iter().filter(|f| lh_math::LARGE.contains(&&*name_of(**f))).copied().collect();
    if !large.is_empty() {
        link(m, parse_text(m, &lh_math::VARIANTS));
    }
    for f in linked {
        adopt(m, f);
        if large.contains(&f) {
            m.text_attribute(f, "vector-function-abi-variant", &lh_math::mappings(&name_of(f)));
        } else {
            m.attribute(f, "alwaysinline");
        }
    }
    !large.is_empty()
}

/// Inlines the variants that the vectoriser has chosen and drops the others.
pub(crate) fn finish_math(m: &Module, machine: &Machine) {
    // SAFETY: the global is only there to be removed.
    unsafe {
        let used = LLVMGetNamedGlobal(m.module, USED.as_ptr());
        if !used.is_null() {
            LLVMDeleteGlobal(used);
        }
    }
    pipeline::run(m, machine, c"always-inline,function(simplifycfg),globaldce");
}

/// Makes a linked function one of ours; after this, nothing finds it by name.
fn adopt(m: &Module, f: Val) {
    m.set_linkage(f, LLVMLinkage::LLVMInternalLinkage);
    m.text_attribute(f, "target-cpu", &host().cpu);
    m.text_attribute(f, "target-features", &host().features);
    // SAFETY: the function is not in a group whose others are elsewhere.
    unsafe { LLVMSetComdat(f, null_mut()) }
}

fn parse_bitcode(m: &Module, bitcode: &'static [u8]) -> LLVMModuleRef {
    let mut module = null_mut();
    // SAFETY: the bytes live as long as the process; functions are read when they are linked, and the buffer is the module's.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode.as_ptr().cast(), bitcode.len(), c"math".as_ptr(), 0);
        if LLVMGetBitcodeModuleInContext2(m.context, buffer, &raw mut module) != 0 {
            lh_ir::bug!("the math library is not bitcode of this LLVM");
        }
    }
    for f in functions(module).into_iter().filter(|f| !is_declaration(*f)) {
        // What is linked once is linked only if it is used.
        m.set_linkage(f, LLVMLinkage::LLVMLinkOnceODRLinkage);
    }
    module
}

fn parse_text(m: &Module, text: &str) -> LLVMModuleRef {
    let text = cstring(text);
    let (mut module, mut message) = (null_mut(), null_mut());
    // SAFETY: the buffer outlives the call and is disposed of.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(text.as_ptr(), text.as_bytes().len(), c"variants".as_ptr(), 1);
        if LLVMParseIRInContext2(m.context, buffer, &raw mut module, &raw mut message) != 0 {
            lh_ir::bug!("variants of math functions: {}", take_message(message));
        }
        LLVMDisposeMemoryBuffer(buffer);
    }
    module
}

fn link(m: &Module, source: LLVMModuleRef) {
    // SAFETY: the source is consumed; its target is made ours before, so that LLVM sees no difference.
    unsafe {
        LLVMSetTarget(source, LLVMGetTarget(m.module));
        LLVMSetDataLayout(source, LLVMGetDataLayoutStr(m.module));
        if LLVMLinkModules2(m.module, source) != 0 {
            lh_ir::bug!("the math library does not link");
        }
    }
}

fn functions(m: LLVMModuleRef) -> Vec<Val> {
    let mut out = Vec::new();
    // SAFETY: walks the list of functions of a live module.
    unsafe {
        let mut f = LLVMGetFirstFunction(m);
        while !f.is_null() {
            out.push(f);
            f = LLVMGetNextFunction(f);
        }
    }
    out
}

fn is_declaration(f: Val) -> bool {
    // SAFETY: a function of a live module.
    unsafe { LLVMIsDeclaration(f) != 0 }
}

fn name_of(f: Val) -> String {
    let mut len = 0;
    // SAFETY: the name is read by length while the function lives.
    unsafe {
        let text = LLVMGetValueName2(f, &raw mut len);
        String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), len)).into_owned()
    }
}
