//! Calls of Python functions by compiled code, and of functions that are values.

use crate::items::Items;
use crate::symbol::{Symbol, functions};
use std::ffi::c_void;
use std::sync::OnceLock;

/// Calls a Python function with the tuple in a list, and appends the tuple that it gives to another list; a number
/// stands for the types of both. It leaves the exception pending if it fails.
pub type Caller = fn(*mut c_void, i64, *mut Items, *mut Items) -> Result<(), ()>;

static CALLER: OnceLock<Caller> = OnceLock::new();

/// Sets who calls.
pub fn set_caller(caller: Caller) {
    CALLER.get_or_init(|| caller);
}

/// The same for a function that is a value of a function type, by its word.
pub type FunctionCaller = fn(i64, i64, *mut Items, *mut Items) -> Result<(), ()>;

static FUNCTION_CALLER: OnceLock<FunctionCaller> = OnceLock::new();

/// Sets who calls them.
pub fn set_function_caller(caller: FunctionCaller) {
    FUNCTION_CALLER.get_or_init(|| caller);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_call_function(function: i64, types: i64, ins: *mut Items, outs: *mut Items) -> i32 {
    let caller = FUNCTION_CALLER.get().expect("only functions of Python have such calls");
    i32::from(caller(function, types, ins, outs).is_err())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_call_python(
    function: *mut c_void,
    types: i64,
    ins: *mut Items,
    outs: *mut Items,
) -> i32 {
    let caller = CALLER.get().expect("only functions of Python have such calls");
    i32::from(caller(function, types, ins, outs).is_err())
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_ _ _ _) lh_call_python lh_call_function; }
}
