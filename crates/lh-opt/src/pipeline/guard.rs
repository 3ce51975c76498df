//! The last line of defence against passes that leave a function which does not verify: they are undone.
//!
//! Passes run without copies, and the function is verified at a few places and after the last one. If it does not
//! verify, all of them run again on the function as it was, each with a copy before it and verified after it. A pass
//! that is at fault is undone then, and [`Function::undone`] has a warning of it. Passes that code generation relies on
//! cannot be undone.
//!
//! The tests of the package fail if this happens in any of them. `LANCEHEAD_PASSES=damage=PASS` makes it happen.

use super::Pass;
use super::switches::Switches;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Inst, InstData};
use lh_ir::print::print;
use lh_ir::verify::{VerifyError, verify};
use lh_ir::{Function, Span, Ty, bug};

/// Passes before which functions are verified: a pass may crash on a function that does not verify, so that none shall
/// be far behind the one that is at fault.
const VERIFIED: &[&str] = &["lower_array", "extract", "check_races", "privatize_sums", "poll_signals"];

/// How passes run, and which of them have been undone.
#[derive(Default)]
pub(super) struct Guard {
    /// Whether each pass has a copy before it and is verified.
    is_careful: bool,
    undone: Vec<(&'static str, VerifyError)>,
}

impl Guard {
    /// Runs a pass and answers whether the function has changed.
    pub(super) fn run(
        &mut self,
        func: &mut Function,
        pass: &Pass,
        run: impl FnOnce(&mut Function) -> Result<bool>,
    ) -> Result<bool> {
        let before = self.is_careful.then(|| func.clone());
        let changed = run(func)?;
        if changed && Switches::get().damages(pass) {
            damage(func);
        }
        let (Some(before), true) = (before, changed) else { return Ok(changed) };
        let Err(fault) = verify(func) else { return Ok(true) };
        if pass.is_needed {
            bug!("after `{}`: {fault}\n{}", pass.name, print(func));
        }
        *func = before;
        self.undone.push((pass.name, fault));
        Ok(false)
    }

    /// Whether the passes from this one on need not run, since all have to run again.
    pub(super) fn is_broken(&self, func: &Function, pass: &Pass) -> bool {
        !self.is_careful && VERIFIED.contains(&pass.name) && verify(func).is_err()
    }
}

/// Runs passes on a function, and again without those that are at fault if it does not verify then.
pub(super) fn guarded<T>(
    func: &mut Function,
    mut passes: impl FnMut(&mut Function, &mut Guard) -> Result<T>,
) -> Result<T> {
    let before = func.clone();
    let done = passes(func, &mut Guard::default())?;
    if verify(func).is_ok() {
        return Ok(done);
    }
    *func = before;
    let mut guard = Guard { is_careful: true, undone: Vec::new() };
    let done = passes(func, &mut guard)?;
    // In every build, because LLVM crashes on malformed code.
    if let Err(e) = verify(func) {
        bug!("after the passes: {e}\n{}", print(func));
    }
    let warnings: Vec<_> = guard.undone.iter().map(|(pass, fault)| warning(func, pass, fault)).collect();
    func.undone.extend(warnings);
    Ok(done)
}

fn warning(func: &Function, pass: &str, fault: &VerifyError) -> Diagnostic {
    let span = Span { line: func.first_line, end_line: func.first_line, ..Span::default() };
    let headline = format!("`{}` is compiled without an optimisation that failed", func.qualname);
    let note = format!("its results are right, but it may be slower; please report this: `{pass}` gave {fault}");
    *Diagnostic::new(diag::OPTIMISATION_UNDONE, headline).at(&func.file, span).note(note)
}

/// Adds a use of a value that nothing defines.
fn damage(func: &mut Function) {
    let missing = func.new_value(Ty::str());
    func.blocks[0].insts.push(InstData { result: None, inst: Inst::IncRef(missing), span: Span::default() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{On, Run};
    use lh_ir::func::{BlockData, Term};
    use lh_ir::{Const, Value};

    fn broken(func: &mut Function) -> bool {
        damage(func);
        true
    }

    /// Adds a constant.
    fn sound(func: &mut Function) -> bool {
        let result = Some(func.new_value(Ty::int()));
        let inst = Inst::Const(Const::Int(1, Ty::int()));
        func.blocks[0].insts.push(InstData { result, inst, span: Span::default() });
        true
    }

    fn run(needed: bool) -> Function {
        let block = BlockData { term: Some(Term::Return(Value::new(0))), ..BlockData::default() };
        let mut func = Function { blocks: vec![block], ret: Some(Ty::int()), ..Function::default() };
        sound(&mut func);
        let pass = |name, run| Pass { name, on: On::All, run: Run::Alone(run), is_needed: needed };
        let passes = [pass("sound", sound), pass("broken", broken), pass("sound", sound)];
        let done = guarded(&mut func, |func, guard| {
            for pass in &passes {
                let Run::Alone(run) = pass.run else { continue };
                guard.run(func, pass, |func| Ok(run(func)))?;
            }
            Ok(func.blocks[0].insts.len())
        });
        assert_eq!(done.ok(), Some(3));
        func
    }

    #[test]
    fn the_pass_at_fault_is_undone_and_the_others_are_not() {
        let func = run(false);
        assert!(verify(&func).is_ok());
        let [warning] = &func.undone[..] else { panic!("one pass is at fault") };
        assert_eq!(warning.id, diag::OPTIMISATION_UNDONE);
        assert!(warning.notes[0].contains("`broken` gave"), "{}", warning.notes[0]);
    }

    #[test]
    #[should_panic(expected = "after `broken`")]
    fn a_pass_that_is_needed_is_not_undone() {
        run(true);
    }
}
