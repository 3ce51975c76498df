//! The vector math library, linked into modules that use it, so that loops which call it are vectorised.

use crate::ir::flow::Graph;
use crate::ir::loop_metadata;
use crate::ir::walk::{called, functions_of, is_declaration, name_of};
use crate::ir::{Module, Val, cstring, take_message};
use crate::machine::{Machine, Target};
use lh_math::Rare;
use lh_ops::symbols;
use llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use std::collections::HashSet;
use std::ffi::CStr;
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
///
/// Functions that are called conditionally get vector variants for the vectoriser to choose from. These are only
/// declared, since few are chosen.
pub(crate) fn add_math(m: &Module, target: Target) -> bool {
    let wanted = |f: &Val| is_declaration(*f) && has_math(&name_of(*f));
    if !m.functions().iter().any(wanted) {
        return false;
    }
    if target.is_gpu() {
        add_scalar_math(m);
        return false;
    }
    let before: HashSet<usize> =
        m.functions().into_iter().filter(|f| !is_declaration(*f)).map(|f| f as usize).collect();
    let vectors = m.functions().into_iter().any(|f| !is_declaration(f) && has_math_for_vectors(m, f));
    link_needed(m, parse_bitcode(m, lh_math::bitcode(target.has_fma())));
    widen(m, target, |f| vectors && before.contains(&(f as usize)));
    let mut variants = Vec::new();
    for f in m.functions().into_iter().filter(|f| !is_declaration(*f) && !before.contains(&(*f as usize))) {
        adopt(m, f, target);
        let name = name_of(f);
        if let Some(rare) = lh_math::rare(&name) {
            variants.extend(lh_math::mappings(rare).split(',').map(|text| declare_variant(m, rare, text)));
            declare_only(m, f, rare);
        } else {
            m.set_linkage(f, LLVMLinkage::LLVMInternalLinkage);
            m.attribute(f, "alwaysinline");
        }
    }
    keep(m, &variants);
    !variants.is_empty()
}

/// Whether calls of math functions may be vectorised: in loops marked for the vectoriser, or outside of loops, where an
/// inlining caller may have one.
fn has_math_for_vectors(m: &Module, f: Val) -> bool {
    let graph = Graph::new(m, f);
    let (mut marked, mut others) = (HashSet::new(), HashSet::new());
    for (latch, header) in graph.back_edges() {
        if loop_metadata::read(m, m.last(graph.blocks[latch])).marked { &mut marked } else { &mut others }
            .extend(graph.body(latch, header));
    }
    let calls = |b: &usize| m.instructions_of(graph.blocks[*b]).into_iter().any(|i| has_math(&called(i)));
    (0..graph.blocks.len()).any(|b| (marked.contains(&b) || !others.contains(&b)) && calls(&b))
}

/// Prefers 512-bit vectors. LLVM prefers 256 bits for most processors, as wider vectors gain little for memory-bound
/// code and lower the clock of some; they pay for code with much arithmetic.
pub(crate) fn widen(m: &Module, target: Target, of: impl Fn(Val) -> bool) {
    for f in m.functions().into_iter().filter(|f| target.has_wide() && !is_declaration(*f) && of(*f)) {
        m.text_attribute(f, "prefer-vector-width", "512");
    }
}

/// As [`add_math`], for targets without vectors; removes attributes for the CPU for which the library was compiled.
fn add_scalar_math(m: &Module) {
    let before: HashSet<usize> = m.functions().into_iter().map(|f| f as usize).collect();
    let had: HashSet<String> = m.functions().into_iter().filter(|f| !is_declaration(*f)).map(name_of).collect();
    link_needed(m, parse_bitcode(m, lh_math::BITCODE_GPU));
    for f in m.functions() {
        let name = name_of(f);
        if is_declaration(f)
            || had.contains(&name)
            || !(before.contains(&(f as usize)) || name.starts_with(symbols::PREFIX))
        {
            continue;
        }
        // SAFETY: attributes are removed by name from a live function; its comdat has no other members.
        unsafe {
            for a in ["target-cpu", "target-features", "probe-stack", "tune-cpu"] {
                LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, a.as_ptr().cast(), a.len() as u32);
            }
            LLVMSetComdat(f, null_mut());
        }
        m.set_linkage(f, LLVMLinkage::LLVMInternalLinkage);
        if lh_math::rare(&name).is_none() {
            m.attribute(f, "alwaysinline");
        }
    }
}

/// Turns a definition into a declaration, since the function exists as machine code.
fn declare_only(m: &Module, f: Val, rare: &Rare) {
    // SAFETY: the new function takes the name, the type and all uses of the old one, which is then deleted.
    unsafe {
        let new = LLVMAddFunction(m.module, c"".as_ptr(), LLVMGlobalGetValueType(f));
        LLVMReplaceAllUsesWith(f, new);
        LLVMDeleteFunction(f);
        LLVMSetValueName2(new, rare.name.as_ptr().cast(), rare.name.len());
        m.attribute(new, "nounwind");
        m.attribute(new, "cold");
        m.attribute_pure(new, false);
        m.text_attribute(new, "vector-function-abi-variant", &lh_math::mappings(rare));
    }
}

/// Declares the function of a mapping such as `_ZGV_LLVM_M8v_f(f.v8)`.
fn declare_variant(m: &Module, rare: &Rare, mapping: &str) -> Val {
    let name = mapping.split_once('(').and_then(|(_, n)| n.strip_suffix(')'));
    let width = name.and_then(|n| n.rsplit_once(".v")?.1.parse().ok());
    let (Some(name), Some(width)) = (name, width) else { lh_ir::bug!("mapping {mapping}") };
    let element = if rare.single { m.t.f32 } else { m.t.f64 };
    // SAFETY: types of the module's context.
    let (lanes, mask) = unsafe { (LLVMVectorType(element, width), LLVMVectorType(m.t.i1, width)) };
    let mut types = vec![lanes; rare.arity];
    types.push(mask);
    let f = m.declare(name, m.fn_type(&types, lanes));
    m.attribute(f, "nounwind");
    m.attribute_pure(f, false);
    f
}

/// Keeps declarations alive until the vectoriser has run.
fn keep(m: &Module, functions: &[Val]) {
    if functions.is_empty() {
        return;
    }
    // SAFETY: a new global of the module; the array is copied.
    unsafe {
        let list = LLVMConstArray2(m.t.ptr, functions.as_ptr().cast_mut(), functions.len() as u64);
        let global = LLVMAddGlobal(m.module, LLVMTypeOf(list), USED.as_ptr());
        LLVMSetInitializer(global, list);
        LLVMSetLinkage(global, LLVMLinkage::LLVMAppendingLinkage);
        LLVMSetSection(global, c"llvm.metadata".as_ptr());
    }
}

/// Defines and inlines the variants that the vectoriser has chosen.
pub(crate) fn finish_math(m: &Module, machine: &Machine) {
    // SAFETY: what is deleted has no uses: the list has none, and each declaration is asked.
    unsafe {
        let used = LLVMGetNamedGlobal(m.module, USED.as_ptr());
        if !used.is_null() {
            LLVMDeleteGlobal(used);
        }
        for f in m.functions() {
            if is_declaration(f) && LLVMGetFirstUse(f).is_null() {
                LLVMDeleteFunction(f);
            }
        }
    }
    let variant_of = |name: &str| if name.contains(".v") { lh_math::rare(name) } else { None };
    let chosen: HashSet<&str> =
        m.functions().into_iter().filter_map(|f| variant_of(&name_of(f))).map(|rare| rare.name).collect();
    if !chosen.is_empty() {
        link_needed(m, parse_text(m, &lh_math::variants(|rare| chosen.contains(rare.name))));
    }
    for f in m.functions().into_iter().filter(|f| !is_declaration(*f)) {
        let name = name_of(f);
        if variant_of(&name).is_some() || name.starts_with(symbols::LANES) {
            m.set_linkage(f, LLVMLinkage::LLVMInternalLinkage);
            adopt(m, f, machine.target);
        }
    }
    machine.run(m, if !chosen.is_empty() { c"always-inline,function(simplifycfg),globaldce" } else { c"globaldce" });
}

/// Adapts a linked function to the target.
fn adopt(m: &Module, f: Val, target: Target) {
    target.mark(m, f);
    // SAFETY: the function is not in a group whose others are elsewhere.
    unsafe { LLVMSetComdat(f, null_mut()) }
}

fn parse_bitcode(m: &Module, bitcode: &'static [u8]) -> LLVMModuleRef {
    let mut module = null_mut();
    // SAFETY: the bytes live as long as the process; functions are read when they are linked, and the buffer is the
    // module's.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode.as_ptr().cast(), bitcode.len(), c"math".as_ptr(), 0);
        if LLVMGetBitcodeModuleInContext2(m.context, buffer, &raw mut module) != 0 {
            lh_ir::bug!("the math library is not bitcode of this LLVM");
        }
    }
    module
}

fn parse_text(m: &Module, text: &str) -> LLVMModuleRef {
    let text = cstring(text);
    let (mut module, mut message) = (null_mut(), null_mut());
    // SAFETY: the buffer outlives the call and is disposed of.
    unsafe {
        let buffer =
            LLVMCreateMemoryBufferWithMemoryRange(text.as_ptr(), text.as_bytes().len(), c"variants".as_ptr(), 1);
        if LLVMParseIRInContext2(m.context, buffer, &raw mut module, &raw mut message) != 0 {
            lh_ir::bug!("variants of math functions: {}", take_message(message));
        }
        LLVMDisposeMemoryBuffer(buffer);
    }
    module
}

/// Links the functions of another module that are used.
fn link_needed(m: &Module, source: LLVMModuleRef) {
    for f in functions_of(source).into_iter().filter(|f| !is_declaration(*f)) {
        // `linkonce` functions are linked only if they are used.
        m.set_linkage(f, LLVMLinkage::LLVMLinkOnceODRLinkage);
    }
    // SAFETY: the source is consumed; its target is made ours before, so that LLVM sees no difference.
    unsafe {
        LLVMSetTarget(source, LLVMGetTarget(m.module));
        LLVMSetDataLayout(source, LLVMGetDataLayoutStr(m.module));
        if LLVMLinkModules2(m.module, source) != 0 {
            lh_ir::bug!("the math library does not link");
        }
    }
}
