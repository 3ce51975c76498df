//! The list of passes, and what happens around each: verifying (debug builds) and dumping.
//!
//! `LANCEHEAD_DUMP=<pass>` prints every function after that pass to standard error, `LANCEHEAD_DUMP=all` after every
//! pass, `LANCEHEAD_DUMP=input` before the first.

use crate::elementwise::{self, Elementwise};
use crate::{
    bounds, check_ahead, dce, fold, fuse_elementwise, inline, interrupt, kernel_context, lower_array, nonzero,
    refcount, serialize_kernel,
};
use lh_ir::print::print;
use lh_ir::verify::verify;
use lh_ir::{Function, bug};
use std::sync::LazyLock;

/// A pass: rewrites a function, answers whether it changed.
pub struct Pass {
    /// Name, of its file and of the directory of its tests.
    pub name: &'static str,
    /// The pass.
    pub run: fn(&mut Function) -> bool,
}

/// Before this pass a function is as simple as it gets without its references being counted.
const SIMPLE_BEFORE: &str = "serialize_kernel";

/// What is done to every function, in this order.
pub const PIPELINE: &[Pass] = &[
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
    // Needs calls to be instructions; what is written of threads is seen by the passes below as plain loops.
    Pass { name: "kernel_context", run: kernel_context::run },
    Pass { name: "serialize_kernel", run: serialize_kernel::run },
    // Needs canonical loops, in which nothing is counted yet.
    Pass { name: "bounds", run: bounds::run },
    // Looks for what bounds has left of checks, and for ways out that polls would add to.
    Pass { name: "check_ahead", run: check_ahead::run },
    // Polls raise: they must be there when counting looks for ways out.
    Pass { name: "interrupt", run: interrupt::run },
    // Last, see its invariants.
    Pass { name: "refcount", run: refcount::run },
];

/// What the passes give beside the function.
pub struct Outcome {
    /// What became of its elementwise computations.
    pub elementwise: Vec<Elementwise>,
    /// What calls of it can be replaced by, if that is possible.
    pub inlinable: Option<Function>,
}

/// Optimises a function that inference has made. `bodies` answers what calls of a function can be replaced by.
pub fn run(func: &mut Function, bodies: &inline::Bodies<'_>) -> Outcome {
    dce::split_entry(func);
    check(func, "input");
    dump(func, "input");
    if inline::run(func, bodies) {
        check(func, "inline");
    }
    dump(func, "inline");
    let (mut told, mut inlinable) = (Vec::new(), None);
    for pass in PIPELINE {
        if pass.name == SIMPLE_BEFORE {
            inlinable = inline::extract(func);
        }
        let before = (pass.name == "fuse_elementwise").then(|| elementwise::before(func));
        run_pass(func, pass);
        if let Some(before) = before {
            told = before.after(func);
        }
    }
    // Once in every build: LLVM would end the process over code that is not well-formed.
    if let Err(e) = verify(func) {
        bug!("after the passes: {e}\n{}", print(func));
    }
    Outcome { elementwise: told, inlinable }
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
