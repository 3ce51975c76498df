//! The list of passes, and what happens around each: verifying (debug builds) and dumping.
//!
//! `LANCEHEAD_DUMP=<pass>` prints every function after that pass to standard error, `LANCEHEAD_DUMP=all` after every
//! pass, `LANCEHEAD_DUMP=input` before the first.

use crate::effects::{self, Callees, Summary};
use crate::elementwise::{self, Elementwise};
use crate::{
    bounds, check_ahead, check_races, contract, dce, fold, fuse_elementwise, inline, interrupt, jam, kernel_context,
    latches, let_others_go_on, list_lengths, local_arrays, lower_array, natural, nonzero, outline_parallel, own_sums,
    plain_texts, refcount, serialize_kernel, trim, while_loops,
};
use lh_ir::diag::Result;
use lh_ir::print::print;
use lh_ir::verify::verify;
use lh_ir::{Function, SpecId, bug};
use std::sync::{Arc, LazyLock};

/// A pass: rewrites a function, answers whether it changed.
pub struct Pass {
    /// Name, of its file and of the directory of its tests.
    pub name: &'static str,
    /// The pass.
    pub run: fn(&mut Function) -> bool,
}

/// Before this pass a function is as simple as it gets without its references being counted.
const SIMPLE_BEFORE: &str = "let_others_go_on";

/// What is done to every function, in this order.
pub const PIPELINE: &[Pass] = &[
    // Before anything looks at what texts are made of.
    Pass { name: "plain_texts", run: plain_texts::run },
    // Parameters that are always the same hide constants and single uses; fold only creates dead code.
    Pass { name: "dce", run: dce::run },
    Pass { name: "fold", run: fold::run },
    Pass { name: "dce", run: dce::run },
    // Needs dead uses gone, since it looks for single uses.
    Pass { name: "fuse_elementwise", run: fuse_elementwise::run },
    Pass { name: "lower_array", run: lower_array::run },
    // Only replaces tests by constants, for fold.
    Pass { name: "nonzero", run: nonzero::run },
    // Sees through views, and merges what lowering has cut.
    Pass { name: "fold", run: fold::run },
    Pass { name: "dce", run: dce::run },
    // Needs blocks that are merged; whatever looks for loops by what they ask first comes after.
    Pass { name: "while_loops", run: while_loops::run },
    // Sees the arithmetic of elementwise instructions, and leaves products that nothing uses.
    Pass { name: "contract", run: contract::run },
    // Needs sizes that are folded.
    Pass { name: "local_arrays", run: local_arrays::run },
    Pass { name: "dce", run: dce::run },
    // Needs loops to be what they ask, and no more.
    Pass { name: "let_others_go_on", run: let_others_go_on::run },
    // Needs calls to be instructions; what is written of threads is seen by the passes below as plain loops.
    Pass { name: "kernel_context", run: kernel_context::run },
    Pass { name: "natural", run: natural::run },
    Pass { name: "serialize_kernel", run: serialize_kernel::run },
    // Before anything cuts loops into pieces; what follows is done to the bodies as well.
    Pass { name: "outline_parallel", run: outline_parallel::run },
    Pass { name: "dce", run: dce::run },
    // Needs arrays to be loads and stores, of bodies too.
    Pass { name: "check_races", run: check_races::run },
    // Makes counted loops of those over lists.
    Pass { name: "list_lengths", run: list_lengths::run },
    // Needs canonical loops, in which nothing is counted yet.
    Pass { name: "bounds", run: bounds::run },
    // Looks for branches that bounds has looked at, in loops without checks.
    Pass { name: "trim", run: trim::run },
    // Needs canonical loops whose checks are gone.
    Pass { name: "own_sums", run: own_sums::run },
    // Before loops get more ways out of strips.
    Pass { name: "jam", run: jam::run },
    // Looks for what bounds has left of checks, and for ways out that polls would add to.
    Pass { name: "check_ahead", run: check_ahead::run },
    // Polls raise: they must be there when counting looks for ways out.
    Pass { name: "interrupt", run: interrupt::run },
    // What asks has one way back already; nothing after this looks for loops.
    Pass { name: "latches", run: latches::run },
    // Last, see its invariants.
    Pass { name: "refcount", run: refcount::run },
];

/// What the passes give beside the function.
pub struct Outcome {
    /// What became of its elementwise computations.
    pub elementwise: Vec<Elementwise>,
    /// What calls of it can be replaced by, if that is possible.
    pub inlinable: Option<Function>,
    /// What it does to its parameters.
    pub summary: Arc<Summary>,
}

/// What is known of functions that one calls.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// What calls of a function can be replaced by.
    pub bodies: &'a inline::Bodies<'a>,
    /// What a function does to its parameters.
    pub summaries: Callees<'a>,
    /// The function's own number.
    pub spec: SpecId,
}

/// Optimises a function that inference has made.
///
/// # Errors
/// The diagnostic for a loop that the program says is parallel and that is not.
pub fn run(func: &mut Function, known: &Known<'_>) -> Result<Outcome> {
    dce::split_entry(func);
    check(func, "input");
    dump(func, "input");
    if inline::run(func, known.bodies) {
        check(func, "inline");
    }
    dump(func, "inline");
    let (mut told, mut inlinable, mut summary) = (Vec::new(), None, Arc::<Summary>::default());
    for (i, pass) in PIPELINE.iter().enumerate() {
        // After products have been joined with sums, which is to be as on the CPU device.
        if pass.name == "local_arrays" && inline::whole(func, known.bodies) {
            check(func, "inline_whole");
        }
        if pass.name == SIMPLE_BEFORE {
            inlinable = inline::extract(func);
        }
        if pass.name == "jam" {
            inlinable = inlinable.or_else(|| jam::calls::extract(func));
            if jam::calls::run(func, known.bodies) {
                check(func, "jam_calls");
            }
        }
        if pass.name == "fuse_elementwise" {
            // Indices are as the program wrote them, and what is the same has one name.
            summary = Arc::new(effects::summary(func, known.spec, known.summaries));
            let mine = summary.clone();
            let of = |s| if s == known.spec { Some(mine.clone()) } else { (known.summaries)(s) };
            outline_asked(func, &of, i)?;
        }
        let before = (pass.name == "fuse_elementwise").then(|| elementwise::before(func));
        run_pass(func, pass);
        if let Some(before) = before {
            told = before.after(func);
        }
        if pass.name == "outline_parallel" {
            finish_bodies(func, i + 1);
        }
    }
    // Once in every build: LLVM would end the process over code that is not well-formed.
    if let Err(e) = verify(func) {
        bug!("after the passes: {e}\n{}", print(func));
    }
    Ok(Outcome { elementwise: told, inlinable, summary })
}

/// The passes for a function that has been optimised before it was written as PTX: its roundings stay as they are.
pub fn run_lifted(func: &mut Function) {
    dce::split_entry(func);
    check(func, "input");
    for pass in PIPELINE.iter().filter(|p| p.name != "contract") {
        run_pass(func, pass);
    }
}

/// Parallel loops of the program become functions, which go through the same passes from here on.
fn outline_asked(func: &mut Function, callees: Callees<'_>, next: usize) -> Result<()> {
    let changed = outline_parallel::run_asked(func, callees).map_err(|c| c.diagnostic(func))?;
    if changed {
        dce::run(func);
        check(func, "outline_parallel");
        dump(func, "outline_parallel");
        finish_bodies(func, next);
    }
    Ok(())
}

/// Runs the passes from one on over bodies that have not been through them.
fn finish_bodies(func: &mut Function, from: usize) {
    for body in func.bodies.iter_mut().filter(|b| !b.is_finished) {
        finish_bodies(body, from);
        for (i, pass) in PIPELINE.iter().enumerate().skip(from) {
            run_pass(body, pass);
            if pass.name == "outline_parallel" {
                finish_bodies(body, i + 1);
            }
        }
        body.is_finished = true;
    }
}

/// Runs one pass by its name; `inline`, `jam_calls` and `outline_asked`, which know of other functions, among them. `None` if there is
/// no such pass.
///
/// # Errors
/// That of `outline_asked`.
pub fn run_named(name: &str, func: &mut Function, known: &Known<'_>) -> Option<Result<bool>> {
    match name {
        "inline" => Some(Ok(inline::run(func, known.bodies))),
        "jam_calls" => Some(Ok(jam::calls::run(func, known.bodies))),
        "outline_asked" => {
            Some(outline_parallel::run_asked(func, known.summaries).map_err(|conflict| conflict.diagnostic(func)))
        }
        _ => find(name).map(|pass| Ok((pass.run)(func))),
    }
}

/// What calls of a function can be replaced by.
pub fn inlinable(func: &Function) -> Option<Arc<Function>> {
    inline::extract(func).or_else(|| jam::calls::extract(func)).map(Arc::new)
}

/// The pass of a name.
pub fn find(name: &str) -> Option<&'static Pass> {
    PIPELINE.iter().find(|p| p.name == name)
}

fn run_pass(func: &mut Function, pass: &Pass) {
    if (pass.run)(func) {
        check(func, pass.name);
    }
    dump(func, pass.name);
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
