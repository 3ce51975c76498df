//! Targets: this computer's CPU, or a GPU. Each thread has one target machine for each, made on first use.

mod emitter;

use crate::ir::{Module, Val, cstring, take_message};
use emitter::{Emitter, target_names};
use lh_ir::stop;
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;
use std::cell::{OnceCell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::{Once, OnceLock};

pub struct Host {
    /// LLVM's name of the processor.
    pub cpu: String,
    /// LLVM's list of its features.
    pub features: String,
    /// Target triple.
    pub triple: String,
    /// Whether a setting names the processor or its features.
    pub is_named: bool,
}

/// A setting of ours, or Numba's setting with the same meaning.
fn setting(name: &str) -> Option<String> {
    ["LANCEHEAD_", "NUMBA_"].iter().find_map(|prefix| std::env::var(format!("{prefix}{name}")).ok())
}

/// The levels of x86-64 that this computer supports, highest first; processors of one level can share code.
pub fn levels() -> Vec<&'static str> {
    macro_rules! has {
        ($($feature:tt)*) => { true $(&& is_x86_feature_detected!($feature))* };
    }
    let second = has!("sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "cmpxchg16b");
    let third = second && has!("avx" "avx2" "bmi1" "bmi2" "f16c" "fma" "lzcnt" "movbe");
    let fourth = third && has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl");
    let all = [(fourth, "x86-64-v4"), (third, "x86-64-v3"), (second, "x86-64-v2")];
    all.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
}

/// Processors of AMD since Zen, where loading the elements of a vector one by one takes less time than a gather. LLVM
/// knows that it may be so, but not of which processors.
const SLOW_GATHERS: &str = "znver";

/// The processor to compile for: this computer's, or another one from the environment. Read once.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let level = |name: String| if name == "level" { levels().first().map(|l| (*l).to_owned()) } else { Some(name) };
        let (cpu, features) = (setting("CPU_NAME").and_then(level), setting("CPU_FEATURES"));
        // A named processor has its own features, not those of this computer.
        let features = features.or_else(|| cpu.as_ref().map(|_| String::new()));
        // LLVM accepts an unknown name of a processor, but then lacks this feature.
        let is_other = cpu.as_ref().is_some_and(|name| Level::named(name).is_none());
        // 64-bit atomic operations need `cx8`.
        let features =
            features.map(|f| if is_other { format!("+64bit,+cx8,{f}").trim_end_matches(',').to_owned() } else { f });
        let is_named = features.is_some();
        // SAFETY: the three functions return texts that we own.
        let mut host = unsafe {
            Host {
                is_named,
                cpu: cpu.unwrap_or_else(|| take_message(LLVMGetHostCPUName())),
                features: features.unwrap_or_else(|| take_message(LLVMGetHostCPUFeatures())),
                triple: take_message(LLVMGetDefaultTargetTriple()),
            }
        };
        if host.cpu.starts_with(SLOW_GATHERS) {
            host.features = format!("{},+prefer-no-gather", host.features).trim_start_matches(',').to_owned();
        }
        host
    })
}

/// The names of processors and features that LLVM knows.
pub fn known_processors() -> (Vec<String>, Vec<String>) {
    // A machine for the processor from the environment would make LLVM print complaints about a wrong name.
    with_level(Level::named("x86-64"), false, |machine| {
        // SAFETY: the machine is alive.
        unsafe { (target_names(machine.raw, false), target_names(machine.raw, true)) }
    })
}

/// An NVIDIA GPU as code generation sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gpu {
    /// Compute capability times ten: 90 is `sm_90`.
    pub sm: u32,
    /// Version of PTX times ten: 78 is `.version 7.8`.
    pub isa: u32,
}

/// Architectures that LLVM knows, with the first version of PTX for each.
const ARCHITECTURES: &[(u32, u32)] = &[
    (50, 40),
    (52, 41),
    (53, 42),
    (60, 50),
    (61, 50),
    (62, 50),
    (70, 60),
    (72, 61),
    (75, 63),
    (80, 70),
    (86, 71),
    (87, 74),
    (88, 90),
    (89, 78),
    (90, 78),
    (100, 86),
    (101, 86),
    (103, 88),
    (110, 90),
    (120, 87),
    (121, 88),
];
/// The version of PTX that every driver since CUDA 11.8 reads.
const COMMON_ISA: u32 = 78;
/// The newest version of PTX that LLVM emits.
pub const NEWEST_ISA: u32 = 90;
/// Limit on the size of a kernel's parameters in every version of PTX.
const PARAMETERS: usize = 4352;
/// The higher limit, with the first version of PTX and the first architecture that have it.
const MANY_PARAMETERS: usize = 32764;
const MANY_PARAMETERS_SINCE: (u32, u32) = (81, 70);

impl Gpu {
    /// The newest known architecture up to a compute capability, with the oldest sufficient version of PTX, so that old
    /// drivers read it. `None` below 5.0.
    pub fn new(major: u32, minor: u32) -> Option<Gpu> {
        let wanted = 10 * major + minor;
        // PTX of an older architecture runs on newer ones.
        let (sm, first) = ARCHITECTURES.iter().rev().find(|(sm, _)| *sm <= wanted)?;
        Some(Gpu { sm: *sm, isa: COMMON_ISA.max(*first) })
    }
    /// The same with another version of PTX, if LLVM emits it and it has the architecture.
    pub fn with_isa(self, isa: u32) -> Option<Gpu> {
        let (_, first) = ARCHITECTURES.iter().find(|(sm, _)| *sm == self.sm)?;
        (*first..=NEWEST_ISA).contains(&isa).then_some(Gpu { isa, ..self })
    }
    /// The same with a version of PTX, up to `newest`, that allows parameters of so many bytes.
    ///
    /// # Errors
    /// The highest possible number of bytes.
    pub fn with_parameters(self, bytes: usize, newest: u32) -> Result<Gpu, usize> {
        let (isa, sm) = MANY_PARAMETERS_SINCE;
        let most = if newest >= isa && self.sm >= sm { MANY_PARAMETERS } else { PARAMETERS };
        match bytes {
            n if n <= PARAMETERS => Ok(self),
            n if n <= most => Ok(Gpu { isa: self.isa.max(isa), ..self }),
            _ => Err(most),
        }
    }
}

/// A level of x86-64, the common features of its processors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Level(&'static str);

/// The levels, lowest first.
const LEVELS: [&str; 4] = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"];

impl Level {
    /// The level of a name.
    pub fn named(name: &str) -> Option<Level> {
        LEVELS.into_iter().find(|l| *l == name).map(Level)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
    fn has_fma(self) -> bool {
        matches!(self.0, "x86-64-v3" | "x86-64-v4")
    }
    fn has_wide(self) -> bool {
        self.0 == "x86-64-v4"
    }
}

/// The target of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Target {
    /// This computer's processor.
    Host,
    /// All processors of a level of x86-64.
    Level(Level),
    /// An NVIDIA GPU.
    Nvptx(Gpu),
}

impl Target {
    pub(crate) fn is_gpu(self) -> bool {
        matches!(self, Target::Nvptx(_))
    }
    fn triple(self) -> String {
        match self {
            Target::Host | Target::Level(_) => host().triple.clone(),
            Target::Nvptx(_) => "nvptx64-nvidia-cuda".to_owned(),
        }
    }
    pub(crate) fn cpu(self) -> String {
        match self {
            Target::Level(level) => level.0.to_owned(),
            Target::Host => host().cpu.clone(),
            Target::Nvptx(gpu) => format!("sm_{}", gpu.sm),
        }
    }
    pub(crate) fn features(self) -> String {
        match self {
            Target::Level(_) => String::new(),
            Target::Host => host().features.clone(),
            Target::Nvptx(gpu) => format!("+ptx{}", gpu.isa),
        }
    }
    /// Marks a function as one for this processor.
    pub(crate) fn mark(self, m: &Module, function: Val) {
        m.text_attribute(function, "target-cpu", &self.cpu());
        m.text_attribute(function, "target-features", &self.features());
    }
    /// Whether there is an instruction for fused multiply-add.
    pub(crate) fn has_fma(self) -> bool {
        match self {
            // A processor named by a level has no list of features.
            Target::Host => {
                host().features.split(',').any(|f| f == "+fma") || Level::named(&host().cpu).is_some_and(Level::has_fma)
            }
            Target::Level(level) => level.has_fma(),
            Target::Nvptx(_) => true,
        }
    }
    /// Whether there are vectors of 512 bits.
    pub(crate) fn has_wide(self) -> bool {
        match self {
            Target::Host => {
                host().features.split(',').any(|f| f == "+avx512f")
                    || Level::named(&host().cpu).is_some_and(Level::has_wide)
            }
            Target::Level(level) => level.has_wide(),
            Target::Nvptx(_) => false,
        }
    }
    fn initialise(self) {
        static HOST: Once = Once::new();
        static NVPTX: Once = Once::new();
        // SAFETY: registration of one target and of options that exist, once.
        HOST.call_once(|| unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            // The remainder of a vectorised loop is not worth unrolling; other loops to unroll, which may raise, carry
            // a hint. Complete unrolling on request is for short loops. A trip count that becomes constant by inlining
            // must not expand to thousands of instructions. As addresses count bytes, LLVM would version loops over
            // strided memory for a stride of one byte, and leave the version that runs scalar. Loops whose sums in
            // order do not profit from vectors have a hint. A program that asks for vectors does not ask for another
            // order of a sum. Conditional moves in loops stay: branches in their place are mispredicted where data
            // decides, as in an edit distance (1.7 times the time).
            // No loop is versioned for counters that might wrap: LLVM 22 takes the check of a wide one for that of a
            // narrow one too (`SCEVWrapPredicate::implies`), so that `a[i & 3] + b[(i + k) & 127]` read other elements.
            let args = [
                c"lancehead",
                c"-unroll-runtime=false",
                c"-enable-mem-access-versioning=false",
                c"-force-ordered-reductions",
                c"-hints-allow-reordering=false",
                c"-unroll-runtime-multi-exit",
                c"-pragma-unroll-full-max-iterations=8",
                c"-pragma-unroll-threshold=640",
                c"-x86-cmov-converter=0",
                c"-vectorize-scev-check-threshold=0",
                c"-pragma-vectorize-scev-check-threshold=0",
                c"-loop-load-elimination-scev-check-threshold=0",
                c"-loop-distribute-scev-check-threshold=0",
                c"-loop-distribute-scev-check-threshold-with-pragma=0",
            ]
            .map(CStr::as_ptr);
            LLVMParseCommandLineOptions(args.len() as i32, args.as_ptr(), std::ptr::null());
        });
        if self.is_gpu() {
            // SAFETY: as above.
            NVPTX.call_once(|| unsafe {
                LLVMInitializeNVPTXTargetInfo();
                LLVMInitializeNVPTXTarget();
                LLVMInitializeNVPTXTargetMC();
                LLVMInitializeNVPTXAsmPrinter();
            });
        }
    }
}

/// A target machine with its data layout.
pub(crate) struct Machine {
    /// The machine.
    pub(crate) raw: LLVMTargetMachineRef,
    /// The target.
    pub(crate) target: Target,
    /// LLVM's name of the target.
    pub(crate) triple: String,
    /// Layout of data, as text.
    pub(crate) layout: String,
    /// Code-generation passes, made on first use.
    emitter: OnceCell<Emitter>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.emitter.take();
        // SAFETY: made by `Machine::new` and not shared.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}

impl Machine {
    /// Runs the passes of a textual pipeline.
    pub(crate) fn run(&self, m: &Module, passes: &CStr) {
        stop::poll();
        // SAFETY: the module, the machine and the options live through the call.
        with_options(|options| unsafe { LLVMRunPasses(m.module, passes.as_ptr(), self.raw, options) });
    }

    /// Runs passes over one function.
    pub(crate) fn run_on(&self, function: Val, passes: &CStr) {
        stop::poll();
        // SAFETY: the function, the machine and the options live through the call.
        with_options(|options| unsafe { LLVMRunPassesOnFunction(function, passes.as_ptr(), self.raw, options) });
    }

    fn new(what: Target, level: LLVMCodeGenOptLevel) -> Machine {
        what.initialise();
        let text = what.triple();
        let (triple, cpu, features) = (cstring(&text), cstring(&what.cpu()), cstring(&what.features()));
        let mut target = std::ptr::null_mut();
        let mut error = std::ptr::null_mut();
        // SAFETY: texts outlive the calls; `target` is written when the result is 0. Position-independent code in the
        // small model is what our loader expects: everything of one object lies together, the rest is reached through
        // its tables.
        unsafe {
            if LLVMGetTargetFromTriple(triple.as_ptr(), &raw mut target, &raw mut error) != 0 {
                lh_ir::bug!("no LLVM target for {text}: {}", take_message(error));
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
            let layout_text = LLVMCopyStringRepOfTargetData(data);
            let layout = CStr::from_ptr(layout_text).to_string_lossy().into_owned();
            llvm_sys::core::LLVMDisposeMessage(layout_text);
            LLVMDisposeTargetData(data);
            Machine { raw, target: what, triple: text, layout, emitter: OnceCell::new() }
        }
    }
    /// The emitter of objects.
    pub(crate) fn emitter(&self) -> &Emitter {
        // SAFETY: this machine is alive, and `drop` frees the passes first.
        self.emitter.get_or_init(|| unsafe { Emitter::new(self.raw) })
    }
}

/// Runs with this thread's machine; `optimised` selects code-generation level 2 or 0.
pub(crate) fn with<R>(optimised: bool, f: impl FnOnce(&Machine) -> R) -> R {
    thread_local! {
        static FAST: OnceCell<Machine> = const { OnceCell::new() };
        static PLAIN: OnceCell<Machine> = const { OnceCell::new() };
    }
    let cell = if optimised { &FAST } else { &PLAIN };
    cell.with(|m| f(m.get_or_init(|| Machine::new(Target::Host, level(optimised)))))
}

/// As [`with`], for a level of processors, or for this computer if there is none.
pub(crate) fn with_level<R>(wanted: Option<Level>, optimised: bool, f: impl FnOnce(&Machine) -> R) -> R {
    match wanted {
        None => with(optimised, f),
        Some(wanted) => f(&Machine::new(Target::Level(wanted), level(optimised))),
    }
}

/// As [`with`], for a GPU. The last machine is kept.
pub(crate) fn with_gpu<R>(gpu: Gpu, optimised: bool, f: impl FnOnce(&Machine) -> R) -> R {
    thread_local! {
        static LAST: RefCell<Option<(bool, Rc<Machine>)>> = const { RefCell::new(None) };
    }
    let target = Target::Nvptx(gpu);
    let last = LAST.with_borrow(Clone::clone).filter(|(o, m)| *o == optimised && m.target == target);
    let (_, machine) = last.unwrap_or_else(|| {
        let new = (optimised, Rc::new(Machine::new(target, level(optimised))));
        LAST.set(Some(new.clone()));
        new
    });
    f(&machine)
}

fn level(optimised: bool) -> LLVMCodeGenOptLevel {
    if optimised { LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault } else { LLVMCodeGenOptLevel::LLVMCodeGenLevelNone }
}

fn with_options(run: impl FnOnce(LLVMPassBuilderOptionsRef) -> LLVMErrorRef) {
    // SAFETY: the options are disposed of once; an error is ours to take the text of.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = run(options);
        LLVMDisposePassBuilderOptions(options);
        if !error.is_null() {
            let text = LLVMGetErrorMessage(error);
            let message = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeErrorMessage(text);
            lh_ir::bug!("LLVM's passes: {message}");
        }
    }
}
