//! Calls of Python functions by compiled code.

use crate::items::Items;
use crate::symbol::{Symbol, functions};
use std::sync::OnceLock;

/// Calls the function of a number with the arguments in the one item of a list, and appends its result to another one;
/// the types of both have a number, too. It leaves the exception pending if it fails.
pub type Caller = fn(i64, i64, *mut Items, *mut Items) -> Result<(), ()>;

static CALLER: OnceLock<Caller> = OnceLock::new();

/// Sets who calls.
pub fn set_caller(caller: Caller) {
    CALLER.get_or_init(|| caller);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_call_python(function: i64, types: i64, ins: *mut Items, outs: *mut Items) -> i32 {
    let caller = CALLER.get().expect("only functions of Python have such calls");
    i32::from(caller(function, types, ins, outs).is_err())
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_ _ _ _) lh_call_python; }
}
