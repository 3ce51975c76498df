//! LLVM's passes and code generation.

use crate::ir::loop_metadata;
use crate::ir::{Module, Val, take_message};
use crate::machine::Machine;
use crate::passes::effort::{self, Effort};
use crate::passes::{
    balance_extremes, branchless_search, divide_as_float, ordered_groups, polls, rare_extremes, strip_mine,
    uniform_chains, unroll_short,
};
use lh_ir::switches::is_off;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::{LLVMDisposeMemoryBuffer, LLVMGetBufferSize, LLVMGetBufferStart};
use llvm_sys::target_machine::{LLVMCodeGenFileType, LLVMTargetMachineEmitToMemoryBuffer};
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::LazyLock;

/// Control-flow cleanup that keeps the shape of loops.
const TIDY: &str =
    "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;keep-loops;speculate-blocks;simplify-cond-branch>";
/// As [`TIDY`], with hoisting and sinking of common instructions.
const MERGE: &str = "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;switch-to-arithmetic;keep-loops;\
    hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>";
/// As [`MERGE`], for loops that have been vectorised.
const FLATTEN: &str = "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-arithmetic;\
    switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>";
/// One round of local simplification.
const COMBINE: &str = "instcombine<max-iterations=1;no-verify-fixpoint>";

/// The SLP vectoriser, with cleanup.
static SLP: LazyLock<CString> = LazyLock::new(|| {
    CString::new(format!("slp-vectorizer,{COMBINE},loop-mssa(licm<allowspeculation>)")).expect("no zero byte")
});

/// The passes: LLVM's `-O2` without those that do not pay for our code, which lacks the idioms of C++; ours take a
/// fifth of its time. The SLP vectoriser slows down more loops than it speeds up, so it only runs on functions with
/// loops that request it.
struct Passes {
    /// Promotes memory to values and inlines mandatory functions, so that later passes see all work.
    early: CString,
    /// The passes up to inlining, and those after it.
    calls: CString,
    vector: CString,
    /// `early` and `calls`.
    scalar: CString,
    /// The passes for cold functions.
    cold: CString,
}

static PASSES: LazyLock<Passes> = LazyLock::new(|| passes(COMBINE, "correlated-propagation,", "jump-threading,"));

/// Passes of linear time in the number of conditions on a value.
static LINEAR: LazyLock<Passes> = LazyLock::new(|| passes("instsimplify", "", ""));

/// Passes for what is too long for the others.
static LEAST: LazyLock<CString> = LazyLock::new(|| {
    let tidy = "mem2reg,early-cse<>,simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;keep-loops>";
    let text = format!("function({tidy}),ipsccp,globalopt,always-inline,function({tidy},instsimplify,adce),globaldce");
    CString::new(text).expect("no zero byte")
});

/// The passes, with those that combine instructions, that follow conditions, and that thread jumps.
fn passes(combine: &str, correlate: &str, thread: &str) -> Passes {
    let follow = if correlate.is_empty() { "" } else { ",constraint-elimination" };
    let text = |s: String| CString::new(s).expect("no zero byte");
    let early =
        format!("inferattrs,function<eager-inv>(sroa<modify-cfg>,early-cse<>,{TIDY}),ipsccp,globalopt,always-inline");
    let scalar = format!("sroa<modify-cfg>,early-cse<memssa>,{correlate}{TIDY},{combine},reassociate{follow}");
    let loops = format!(
        "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,\
         loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>,simple-loop-unswitch<no-nontrivial;trivial>),\
         {TIDY},{combine},loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)"
    );
    let memory = format!(
        "sroa<modify-cfg>,gvn<>,bdce,{combine},{thread}{correlate}adce,dse,\
         loop-mssa(licm<allowspeculation>),{MERGE},{combine}"
    );
    let calls = format!(
        "require<globals-aa>,require<profile-summary>,cgscc(devirt<4>(inline,\
         function-attrs<skip-non-recursive-function-attrs>,function<eager-inv;no-rerun>({scalar},{loops},{memory})))"
    );
    let vector = format!(
        "globaldce,recompute-globalsaa,function<eager-inv>(loop(loop-rotate<header-duplication;no-prepare-for-lto>,loop-deletion),\
         inject-tli-mappings,loop-vectorize,loop-load-elim,{combine},{FLATTEN},vector-combine,{combine},loop-unroll<O2>,\
         sroa<preserve-cfg>,{combine},loop-mssa(licm<allowspeculation>),loop-sink,instsimplify,div-rem-pairs,{TIDY})"
    );
    let vector = format!("{vector},globaldce,constmerge");
    let cold =
        format!("{TIDY},{combine},loop-mssa(loop-rotate,licm<allowspeculation>),early-cse<memssa>,{combine},{TIDY}");
    let scalar = text(format!("{early},{calls}"));
    Passes { early: text(early), calls: text(calls), vector: text(vector), scalar, cold: text(cold) }
}

/// Optimises a module with some effort, or not at all for debugging.
///
/// Cold functions, if there are any, get fewer passes. `has_threads`: a kernel for the CPU device has loops over
/// threads.
pub(crate) fn optimise(m: &mut Module, machine: &Machine, effort: Option<Effort>, has_cold: bool, has_threads: bool) {
    let optimised = effort.is_some();
    let passes = if effort == Some(Effort::Full) { &PASSES } else { &LINEAR };
    if cfg!(debug_assertions) {
        verify(m);
    }
    if !optimised {
        machine.run(m, c"default<O0>");
    } else if effort == Some(Effort::Least) {
        machine.run(m, &LEAST);
    } else if has_cold {
        // The cold functions may be the only ones that are needed.
        machine.run(m, c"globaldce");
        machine.run(m, &passes.early);
        m.functions().into_iter().filter(|f| m.is_cold_definition(*f)).for_each(|f| m.attribute(f, "optnone"));
        machine.run(m, &passes.calls);
        run_vector(m, machine, passes, has_threads);
        for f in m.functions().into_iter().filter(|f| m.is_cold_definition(*f)) {
            m.remove_attribute(f, "optnone");
            machine.run_on(f, &passes.cold);
        }
    } else {
        machine.run(m, &passes.scalar);
        run_vector(m, machine, passes, has_threads);
    }
    if effort > Some(Effort::Least) && !machine.target.is_gpu() {
        let wants_slp = |f: &Val| m.blocks(*f).into_iter().any(|b| loop_metadata::read(m, m.last(b)).slp);
        let functions = m.functions().into_iter().filter(|f| !m.is_cold_definition(*f) && wants_slp(f));
        functions.for_each(|f| machine.run_on(f, &SLP));
        if !is_off("llvm.balance_extremes") {
            balance_extremes::run(m);
        }
        if !is_off("llvm.rare_extremes") {
            rare_extremes::mark(m);
        }
        // Unrolled searches have the marks in all copies.
        if !is_off("llvm.branchless_search") {
            branchless_search::mark(m);
        }
        if !is_off("llvm.unroll_short") {
            unroll_short::mark(m).into_iter().for_each(|f| machine.run_on(f, c"loop-unroll<O2>"));
        }
    }
    if optimised && machine.target.is_gpu() {
        // Aligned accesses become fewer, wider instructions.
        machine.run(m, c"function(infer-address-spaces,infer-alignment)");
    }
    let stopping = strip_mine::run(m);
    if optimised {
        stopping.into_iter().for_each(|f| machine.run_on(f, c"mem2reg"));
    }
    polls::resolve(m);
    if !machine.target.is_gpu() && optimised {
        effort::label(m);
    }
}

fn run_vector(m: &Module, machine: &Machine, passes: &Passes, has_threads: bool) {
    if has_threads && !is_off("llvm.divide_as_float") {
        divide_as_float::run(m);
    }
    ordered_groups::run(m);
    if !is_off("llvm.uniform_chains") {
        uniform_chains::run(m);
    }
    machine.run(m, &passes.vector);
    if has_threads {
        // Jammed rows of threads are unrolled by now; common computations of several rows are merged.
        machine.run(m, c"function(early-cse<>)");
    }
}

/// Aligns the stack of functions that compute with vectors wider than its natural alignment: a spilled vector that
/// straddles cache lines costs several times as much, and code generation cannot realign a stack once it spills.
pub(crate) fn align_stacks(m: &Module) {
    const NATURAL: u64 = 16;
    for f in m.functions() {
        let widest = m.instructions(f).into_iter().map(|i| m.vector_bytes(i)).max().unwrap_or(0);
        if widest > NATURAL {
            m.number_attribute(f, "alignstack", widest.next_power_of_two().min(64));
        }
    }
}

/// Panics if LLVM finds the module malformed.
pub(crate) fn verify(m: &Module) {
    let mut message = null_mut();
    // SAFETY: the module is alive; the message is written and then freed.
    unsafe {
        let broken =
            LLVMVerifyModule(m.module, LLVMVerifierFailureAction::LLVMReturnStatusAction, &raw mut message) != 0;
        let text = take_message(message);
        if broken {
            lh_ir::bug!("malformed LLVM IR: {text}\n{}", m.print());
        }
    }
}

/// The module as an object file. Code generation changes the module.
pub(crate) fn object(m: &Module, machine: &Machine) -> Vec<u8> {
    machine.emitter().object(m)
}

/// The module as assembly. The module is copied first, since code generation changes it.
pub(crate) fn assembly(m: &Module, machine: &Machine) -> String {
    let (mut error, mut buffer) = (null_mut(), null_mut());
    let kind = LLVMCodeGenFileType::LLVMAssemblyFile;
    // SAFETY: module and machine are alive; the copy lives in the same context and is disposed of here, as is the
    // buffer.
    unsafe {
        let copy = llvm_sys::core::LLVMCloneModule(m.module);
        if LLVMTargetMachineEmitToMemoryBuffer(machine.raw, copy, kind, &raw mut error, &raw mut buffer) != 0 {
            lh_ir::bug!("LLVM's code generation: {}", take_message(error));
        }
        llvm_sys::core::LLVMDisposeModule(copy);
        let (start, size) = (LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
        let text = String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), size)).into_owned();
        LLVMDisposeMemoryBuffer(buffer);
        text
    }
}
