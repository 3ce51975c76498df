//! Derivatives in the interpreter: the adjoint against the tangent, and the tangent against differences of values, for
//! random functions ([`programs`]) and for those of files ([`texts`]).

mod compare;
mod known;
mod leaves;
mod programs;
mod statements;
pub mod texts;

pub use compare::{Compared, Wrong};
pub use programs::program;

use crate::files::checked;
use crate::wishes::Wishes;
use compare::Subject;
use known::Functions;
use lh_ir::print::print;
use lh_ir::spec::Adjoint;
use lh_ir::{Function, SpecId, Ty};
use lh_opt::pipeline::Known;

/// The inputs of random programs.
const INPUTS: &str = "; inputs: v2 in 1..6, v3[0] is v2, v4[0] is v2\nfunction ";

/// A random program with its derivatives.
pub struct Case {
    /// The program, what it calls, and derivatives.
    funcs: Vec<Function>,
    asked: Vec<bool>,
    adjoint: Adjoint,
    tangent: Adjoint,
    /// The adjoint after all passes.
    optimised: Option<Function>,
    wishes: Vec<Wishes>,
}

impl Case {
    /// Differentiates a random program.
    ///
    /// # Errors
    /// One of the functions is malformed, or the program is refused.
    pub fn new(seed: u64) -> Result<Case, String> {
        crate::library::declare_classes();
        let program = program(seed, 3 + seed as usize % 22);
        program.iter().try_for_each(checked)?;
        let asked: Vec<bool> = program[0].params().iter().map(|p| program[0].ty(*p) != Ty::int()).collect();
        let mut all = Functions::new(&program);
        let [adjoint, tangent] = all.both(SpecId(0), &asked).map_err(|d| d.headline.to_string())?;
        let funcs = all.all.iter().map(|f| (**f).clone()).collect::<Vec<Function>>();
        funcs[program.len()..].iter().try_for_each(checked)?;
        let mut optimised = None;
        if seed.is_multiple_of(8) {
            let mut func = funcs[adjoint.id.index()].clone();
            lh_opt::run(&mut func, &Known::nothing()).map_err(|d| format!("the passes: {}", d.headline))?;
            optimised = Some(func);
        }
        Ok(Case { funcs, asked, adjoint, tangent, optimised, wishes: Wishes::of(INPUTS)? })
    }

    /// The forms of the program, for messages.
    pub fn shown(&self) -> String {
        format!("{}\nwhose adjoint is\n{}", print(&self.funcs[0]), print(&self.funcs[self.adjoint.id.index()]))
    }

    /// Computes all of them for random inputs.
    ///
    /// # Errors
    /// A difference.
    pub fn check(&self, seed: u64) -> Result<Compared, Wrong> {
        let subject = Subject {
            funcs: &self.funcs,
            own: 0,
            asked: &self.asked,
            adjoint: Some(&self.adjoint),
            tangent: Some(&self.tangent),
            optimised: self.optimised.as_ref(),
            wishes: &self.wishes[0],
        };
        subject.check(seed)
    }
}
