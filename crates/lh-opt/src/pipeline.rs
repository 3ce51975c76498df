//! The list of passes and the pass manager: device and switches, verification, dumps, times.
//!
//! Debug builds verify after each pass, and stop at a fault. In release builds a pass that is at fault is undone, see
//! `guard.rs`.
//!
//! `LANCEHEAD_DUMP=<pass>` prints every function after that pass to standard error, `LANCEHEAD_DUMP=all` after every
//! pass, `LANCEHEAD_DUMP=input` before the first. `LANCEHEAD_PASSES` disables passes, see `switches.rs`.

mod guard;
mod switches;

use crate::analysis::Analyses;
use crate::analysis::effects::{self, Callees, Summary};
use crate::arrays::elementwise::{self, Elementwise};
use crate::arrays::{fuse_elementwise, join_reductions, local_arrays, lower_array};
use crate::core::{
    constant_messages, contract, dce, fold, inline, keep_generators, reduce_powers, refcount, value_numbering,
};
use crate::kernel::{
    check_races, check_results, gangs, grid_stride, kernel_context, serialize_kernel, yield_in_spin_loops,
};
use crate::loops::unroll_and_jam::row_calls;
use crate::loops::{
    bounds, delinearize, hoist_calls, hoist_lengths, inspect_strips, loop_hints, nonnegative, nonzero, poll_signals,
    privatize_sums, single_latch, split_sums, tighten_bounds, unroll_and_jam, unrotate, unswitch_raises,
};
use crate::parallel::outline_parallel;
use guard::{Guard, guarded};
use lh_ir::diag::Result;
use lh_ir::func::Device;
use lh_ir::print::print;
use lh_ir::verify::verify;
use lh_ir::{Function, SpecId, bug, stop};
use std::sync::{Arc, LazyLock};
use switches::{Switches, Timer};

/// A pass, which rewrites a function and answers whether it changed.
pub struct Pass {
    /// The name of its file and of the directory of its tests.
    pub name: &'static str,
    /// The functions on which it runs.
    pub on: On,
    pub run: Run,
    /// Whether code generation relies on it, so that it cannot be switched off.
    pub is_needed: bool,
}

/// Kinds of functions by where they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    All,
    /// Functions that run on the CPU, as the host or as a CUDA device.
    Cpu,
    /// Functions for a CUDA device, which may be the CPU.
    Cuda,
    /// Functions for the CPU as a CUDA device.
    CpuDevice,
    /// Kernels for the CPU as a CUDA device.
    Kernel,
    Gpu,
}

impl On {
    fn has(self, device: Device) -> bool {
        match self {
            On::All => true,
            On::Cpu => device != Device::Gpu,
            On::Cuda => device != Device::Host,
            On::CpuDevice => matches!(device, Device::Function | Device::Kernel),
            On::Kernel => device == Device::Kernel,
            On::Gpu => device == Device::Gpu,
        }
    }
}

/// The function of a pass, by its arguments.
#[derive(Clone, Copy)]
pub enum Run {
    /// Needs only the function.
    Alone(fn(&mut Function) -> bool),
    /// Needs analyses, which stay valid for later passes unless this one changes the function.
    Analysed(fn(&mut Function, &Analyses) -> bool),
    /// Needs facts about callees, or gives results to callers and reports. These passes do not run on bodies of
    /// parallel loops, nor on functions lifted from PTX.
    Linked(fn(&mut Function, &mut Link<'_>) -> Result<bool>),
}

/// The context of a function: facts about callees, and results.
pub struct Link<'a> {
    pub known: &'a Known<'a>,
    /// Results of the passes so far.
    pub outcome: Outcome,
    /// Elementwise computations before fusion.
    before: Option<elementwise::BeforeFusion>,
}

impl<'a> Link<'a> {
    fn new(known: &'a Known<'a>) -> Link<'a> {
        Link { known, outcome: Outcome::default(), before: None }
    }
}

/// Results of the passes beside the function.
#[derive(Default)]
pub struct Outcome {
    /// Elementwise computations after fusion.
    pub elementwise: Vec<Elementwise>,
    /// The body with which callers can replace calls.
    pub inlinable: Option<Function>,
    /// Its effects on its parameters.
    pub summary: Arc<Summary>,
}

/// Facts about a function's callees.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Bodies that replace calls.
    pub bodies: &'a inline::Bodies<'a>,
    /// Effects of functions on their parameters.
    pub summaries: Callees<'a>,
    /// The function's own number.
    pub spec: SpecId,
}

impl Known<'static> {
    pub fn nothing() -> Known<'static> {
        Known { bodies: &|_| None, summaries: &|_| None, spec: SpecId::new(0) }
    }
}

const fn pass(name: &'static str, on: On, run: Run) -> Pass {
    Pass { name, on, run, is_needed: false }
}

const fn needed(name: &'static str, on: On, run: Run) -> Pass {
    Pass { name, on, run, is_needed: true }
}

use Run::{Alone, Analysed, Linked};

/// The passes in their order.
pub static PIPELINE: &[Pass] = &[
    // Callees are inlined as the passes up to `extract` leave them.
    pass("inline", On::All, Linked(|func, link| Ok(inline::run(func, link.known.bodies)))),
    // Before passes look at string operations.
    needed("constant_messages", On::Gpu, Alone(constant_messages::run)),
    // Redundant parameters hide constants and single uses; `fold` leaves dead code only.
    needed("dce", On::All, Alone(dce::run)),
    pass("fold", On::All, Alone(fold::run)),
    needed("dce", On::All, Alone(dce::run)),
    // Before passes look at memory, and before blocks of loops are copied.
    needed("loop_hints", On::All, Alone(loop_hints::run)),
    // Indices are still those of the program, and equal values share a name.
    needed("summarise", On::All, Linked(summarise)),
    // Needs arrays that are still views of others.
    needed(
        "check_results",
        On::Cuda,
        Linked(|func, link| check_results::run(func, link.known.summaries).map(|()| false)),
    ),
    // Operands of elementwise computations are compared by their names.
    pass("value_numbering", On::All, Linked(|func, link| Ok(value_numbering::run(func, link.known.summaries)))),
    // Outlined bodies go through all later passes.
    needed("outline_asked", On::All, Linked(outline_asked)),
    needed("note_elementwise", On::All, Linked(note_elementwise)),
    // Looks for single uses, so dead uses must be gone.
    pass("fuse_elementwise", On::All, Linked(|func, link| Ok(fuse_elementwise::run(func, link.known.summaries)))),
    // Joins what is left of a chain of computations, before it becomes loops.
    pass(
        "join_reductions",
        On::Cpu,
        Linked(|func, link| Ok(join_reductions::run(func, link.known.bodies, link.known.summaries))),
    ),
    needed("report_elementwise", On::All, Linked(report_elementwise)),
    needed("lower_array", On::All, Alone(lower_array::run)),
    // Leaves constant conditions to `fold`.
    pass("nonzero", On::All, Alone(nonzero::run)),
    // Resolves views, and merges blocks that lowering has split.
    pass("fold", On::All, Alone(fold::run)),
    needed("dce", On::All, Alone(dce::run)),
    // Needs merged blocks; all passes that look for counted loops come later.
    pass("unrotate", On::All, Alone(unrotate::run)),
    // Needs single names for equal extents; later passes see counted loops.
    pass("delinearize", On::All, Alone(delinearize::run)),
    // Needs the arithmetic of lowered elementwise computations; leaves unused products to `dce`.
    needed("contract", On::Cuda, Linked(|func, _| Ok(contract::run(func)))),
    // After `contract`, so that it contracts the same products as for the CPU device.
    needed("inline_whole", On::Gpu, Linked(|func, link| Ok(inline::inline_whole(func, link.known.bodies)))),
    // Needs constant extents.
    needed("local_arrays", On::Gpu, Alone(local_arrays::run)),
    needed("dce", On::All, Alone(dce::run)),
    // The simplest form before reference counts.
    pass("extract", On::All, Linked(extract)),
    // The questions that are left have no computation before them.
    needed("settle_parts", On::All, Alone(join_reductions::settle)),
    // Inlined functions have constant exponents where they are called; callers inline the power itself.
    pass("reduce_powers", On::All, Alone(reduce_powers::run)),
    // Needs spin loops that consist of their condition.
    needed(
        "yield_in_spin_loops",
        On::CpuDevice,
        Linked(|func, link| Ok(yield_in_spin_loops::run(func, link.known.summaries))),
    ),
    // For functions lifted from PTX, whose callees are not known.
    needed("yield_in_spin_loops", On::CpuDevice, Alone(|func| yield_in_spin_loops::run(func, &|_| None))),
    // Needs calls to be instructions; later passes see loops over threads.
    needed("kernel_context", On::CpuDevice, Alone(kernel_context::run)),
    pass("nonnegative", On::Cuda, Analysed(nonnegative::run)),
    needed("serialize_kernel", On::Kernel, Alone(serialize_kernel::run)),
    // Before loops are split into strips; later passes also run on the bodies.
    needed("outline_parallel", On::All, Alone(outline_parallel::run)),
    needed("dce", On::All, Alone(dce::run)),
    // Needs loads and stores instead of elementwise computations, in bodies, too.
    needed("check_races", On::Cpu, Alone(check_races::run)),
    // Before LLVM inlines calls into loops.
    pass("hoist_calls", On::Cpu, Linked(|func, link| Ok(hoist_calls::run(func, link.known.summaries)))),
    // Makes loops over containers counted.
    pass("hoist_lengths", On::All, Alone(hoist_lengths::run)),
    // Before `bounds`, which copies what this leaves.
    pass("unswitch_raises", On::Cpu, Analysed(unswitch_raises::run)),
    // Needs canonical counted loops.
    pass("bounds", On::All, Analysed(bounds::run)),
    // Looks for branches that `bounds` has used, in loops without checks.
    pass("tighten_bounds", On::CpuDevice, Alone(tighten_bounds::run)),
    // Needs canonical loops without checks.
    pass("privatize_sums", On::All, Analysed(privatize_sums::run)),
    // Needs loops without checks; makes some that are vectorised.
    pass("split_sums", On::Cpu, Alone(split_sums::run)),
    // Before strips add exits to loops.
    pass("row_calls", On::Cpu, Linked(row_calls)),
    pass("unroll_and_jam", On::All, Alone(unroll_and_jam::run)),
    // Looks for checks that `bounds` has left, and for exits, so that polls must come later.
    pass("inspect_strips", On::All, Alone(inspect_strips::run)),
    // Polls raise, so they must exist before references are counted on exceptional edges.
    pass("poll_signals", On::Cpu, Analysed(poll_signals::run)),
    // Polls leave several latches; no later pass looks for loops.
    pass("single_latch", On::All, Analysed(single_latch::run)),
    // Counting follows the last uses that this makes.
    needed("keep_generators", On::Cpu, Alone(keep_generators::run)),
    // Last: no instruction may move over a reference count.
    needed("refcount", On::All, Analysed(refcount::run)),
];

/// Parts of passes, which have tests of their own.
static PARTS: &[Pass] = &[
    pass("prove_bounds", On::All, Analysed(bounds::prove)),
    pass("gangs", On::Kernel, Alone(|func| replace(func, gangs::run))),
    pass("grid_stride", On::Kernel, Alone(|func| replace(func, grid_stride::run))),
];

/// Replaces a function by the form that a part of a pass gives it, if that is possible.
fn replace(func: &mut Function, part: fn(&Function) -> Option<Function>) -> bool {
    let made = part(func);
    let changed = made.is_some();
    if let Some(made) = made {
        *func = made;
    }
    changed
}

fn summarise(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    link.outcome.summary = Arc::new(effects::summary(func, link.known.spec, link.known.summaries));
    Ok(false)
}

fn note_elementwise(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    link.before = Some(elementwise::before(func));
    Ok(false)
}

fn report_elementwise(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    link.outcome.elementwise = link.before.take().map(|b| b.after(func)).unwrap_or_default();
    Ok(false)
}

/// Outlines the loops that the program declares parallel.
fn outline_asked(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    let (known, mine) = (link.known, link.outcome.summary.clone());
    let of = |s| if s == known.spec { Some(mine.clone()) } else { (known.summaries)(s) };
    let changed = outline_parallel::run_asked(func, &of).map_err(|c| c.diagnostic(func))?;
    if changed {
        dce::run(func);
    }
    Ok(changed)
}

fn extract(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    link.outcome.inlinable = extracted(func, link.known.bodies);
    Ok(false)
}

fn row_calls(func: &mut Function, link: &mut Link<'_>) -> Result<bool> {
    if link.outcome.inlinable.is_none() {
        link.outcome.inlinable = row_calls::extract(func);
    }
    Ok(row_calls::run(func, link.known.bodies))
}

/// Optimises a function that inference has built.
///
/// # Errors
/// A diagnostic for a loop that is declared parallel and is not.
pub fn run(func: &mut Function, known: &Known<'_>) -> Result<Outcome> {
    enter(func);
    guarded(func, |func, guard| {
        let mut link = Link::new(known);
        run_from(func, 0, Some(&mut link), guard)?;
        Ok(link.outcome)
    })
}

/// Passes before differentiation: afterwards array expressions are loops, and calls with a body are inlined.
const BEFORE_ADJOINT: &[&str] = &[
    "settle_parts",
    "dce",
    "fold",
    "dce",
    "loop_hints",
    "value_numbering",
    "fuse_elementwise",
    "lower_array",
    "fold",
    "dce",
    "unrotate",
];

/// Brings a function that inference has built into the form that is differentiated; `bodies` are those of its callees
/// as inference has built them.
///
/// # Errors
/// Those of the passes.
pub fn before_adjoint(func: &mut Function, known: &Known<'_>, bodies: &inline::Bodies<'_>) -> Result<()> {
    enter(func);
    let run = |func: &mut Function, guard: &mut Guard, name: &str| {
        let pass = named(name).unwrap_or_else(|| bug!("no pass `{name}`"));
        guard.run(func, pass, |func| run_alone(pass, func, known))
    };
    guarded(func, |func, guard| {
        inline::inline_all(func, bodies);
        for name in BEFORE_ADJOINT.iter().copied() {
            run(func, guard, name)?;
        }
        // Functions that were mapped over elements.
        inline::inline_all(func, bodies);
        for name in ["dce", "fold", "dce", "prove_bounds"] {
            run(func, guard, name)?;
        }
        Ok(())
    })?;
    dump(func, "before_adjoint");
    Ok(())
}

/// Optimises a function that was lifted from PTX, whose contractions stay as they are.
pub fn run_lifted(func: &mut Function) {
    enter(func);
    if let Err(d) = guarded(func, |func, guard| run_from(func, 0, None, guard)) {
        bug!("no pass of a lifted function refuses it: {}", d.headline);
    }
}

fn enter(func: &mut Function) {
    dce::split_entry(func);
    check(func, "input");
    dump(func, "input");
}

/// Runs the passes from `first` on; outlined bodies go through the passes after the one that outlined them.
fn run_from(func: &mut Function, first: usize, mut link: Option<&mut Link<'_>>, guard: &mut Guard) -> Result<()> {
    let (mut analyses, mut timer) = (Analyses::default(), Timer::new());
    for (i, pass) in PIPELINE.iter().enumerate().skip(first) {
        if !pass.on.has(func.options.device) || !Switches::get().allow(pass, &func.name) {
            continue;
        }
        if matches!(pass.run, Linked(_)) && link.is_none() {
            continue;
        }
        if guard.is_broken(func, pass) {
            return Ok(());
        }
        stop::poll();
        let before = cfg!(debug_assertions).then(|| print(func));
        let changed = guard.run(func, pass, |func| match (pass.run, &mut link) {
            (Alone(run), _) => Ok(run(func)),
            (Analysed(run), _) => Ok(run(func, &analyses)),
            (Linked(run), Some(link)) => run(func, link),
            (Linked(_), None) => Ok(false),
        })?;
        timer.passed(pass.name);
        if changed {
            analyses = Analyses::default();
            check(func, pass.name);
        } else if before.is_some_and(|b| b != print(func)) {
            bug!("`{}` changed `{}` and answers that it did not", pass.name, func.name);
        }
        dump(func, pass.name);
        finish_bodies(func, i + 1, guard)?;
    }
    timer.report(func);
    Ok(())
}

/// Runs the passes from `from` on over new bodies.
fn finish_bodies(func: &mut Function, from: usize, guard: &mut Guard) -> Result<()> {
    for body in func.bodies.iter_mut().filter(|b| !b.is_finished) {
        finish_bodies(body, from, guard)?;
        run_from(body, from, None, guard)?;
        body.is_finished = true;
    }
    Ok(())
}

/// Runs one pass, or part of a pass, by name on a function of any kind; `None` if there is none.
///
/// # Errors
/// Those of the pass.
pub fn run_named(name: &str, func: &mut Function, known: &Known<'_>) -> Option<Result<bool>> {
    Some(run_alone(named(name)?, func, known))
}

fn named(name: &str) -> Option<&'static Pass> {
    PIPELINE.iter().chain(PARTS).find(|p| p.name == name)
}

fn run_alone(pass: &Pass, func: &mut Function, known: &Known<'_>) -> Result<bool> {
    if !pass.on.has(func.options.device) {
        return Ok(false);
    }
    match pass.run {
        Alone(run) => Ok(run(func)),
        Analysed(run) => Ok(run(func, &Analyses::default())),
        Linked(run) => run(func, &mut Link::new(known)),
    }
}

/// The names of the passes that `LANCEHEAD_PASSES` with this text leaves enabled, in order.
pub fn enabled(text: &str) -> Vec<&'static str> {
    let switches = Switches::parse(text);
    PIPELINE.iter().filter(|pass| switches.allow(pass, "f")).map(|pass| pass.name).collect()
}

/// The body that replaces calls of a function, given those of its callees.
pub fn inlinable(func: &Function, bodies: &inline::Bodies<'_>) -> Option<Arc<Function>> {
    extracted(func, bodies).or_else(|| row_calls::extract(func)).map(Arc::new)
}

fn extracted(func: &Function, bodies: &inline::Bodies<'_>) -> Option<Function> {
    inline::extract(func).or_else(|| join_reductions::is_reduction(func, bodies).then(|| func.clone()))
}

fn check(func: &Function, after: &str) {
    if cfg!(debug_assertions)
        && let Err(e) = verify(func)
    {
        bug!("after {after}: {e}\n{}", print(func));
    }
}

fn dump(func: &Function, after: &str) {
    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("LANCEHEAD_DUMP").ok());
    if WANTED.as_ref().is_some_and(|w| w == after || w == "all") {
        eprintln!("; after {after}\n{}", print(func));
    }
}
