//! Rows of the operation table: their `eval`, and poison around it.

use super::Stop;
use super::word::{Words, number, words_of};
use lh_ir::op::{Op, Sig};
use lh_ir::{Const, Ty};

/// A row of numbers; poison of an operand makes the result poison, as far as it matters for it.
pub fn row(op: &'static Op, args: &[(Ty, Words)]) -> Result<Words, Stop> {
    if let (Sig::Select(_), Some(cond)) = (op.sig, args[0].1[0]) {
        return Ok(args[if cond & 1 != 0 { 1 } else { 2 }].1.clone());
    }
    let known: Option<Vec<Const>> = args.iter().map(|(ty, words)| Some(number(words[0]?, *ty))).collect();
    let Some(known) = known else {
        return if op.may_trap() && args.get(1).is_some_and(|a| a.1[0].is_none()) {
            Err(Stop::undefined(format!("the divisor of {} is poison", op.name)))
        } else {
            Ok([None].into_iter().collect())
        };
    };
    match (op.eval)(&known) {
        Some(c) => Ok(words_of(&c)),
        None if op.may_trap() => Err(Stop::undefined(format!("{} of {known:?}", op.name))),
        None => Ok([None].into_iter().collect()),
    }
}
