//! Exceptions as compiled code raises and handles them.
//!
//! Compiled code raises by `lh_raise_begin`, then the arguments in order, then a failure status. Each function that the
//! exception leaves adds its frame with `lh_traceback`.

use crate::classes::{ExcId, INDEX_ERROR, SYSTEM_ERROR};
use crate::exception::{ExcArg, Frame, FunctionInfo, Pending, raise, set_pending, with_state};
use crate::memory::alloc::{MemInfo, no_memory};
use crate::strings::value::text;
use crate::symbol::{OutOfMemory, Panic, Symbol, functions, text_of};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_begin(class: i32) {
    if with_state(|s| std::mem::take(&mut s.restored) && s.pending.is_some()) {
        return;
    }
    let cause = with_state(|s| s.cause.take());
    let mut made = Pending::new(ExcId(class as u32), Vec::new());
    if let Some(cause) = cause {
        made.set_cause(cause);
    }
    set_pending(made);
}

/// Adds an argument to the exception that is being made.
pub(crate) fn add_arg(arg: ExcArg) {
    with_state(|s| match (s.open.last_mut(), &mut s.pending) {
        (Some(tuple), _) => tuple.push(arg),
        (None, Some(pending)) => pending.args.push(arg),
        (None, None) => {}
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_none() {
    add_arg(ExcArg::None);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_bool(value: u8) {
    add_arg(ExcArg::Bool(value != 0));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_int(value: i64) {
    add_arg(ExcArg::Int(value));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_uint(value: u64) {
    add_arg(ExcArg::Uint(value));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_float(value: f64) {
    add_arg(ExcArg::Float(value));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_complex(re: f64, im: f64) {
    add_arg(ExcArg::Complex(re, im));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_str(_mem: *mut MemInfo, data: *const u8, len: i64) {
    // SAFETY: compiled code passes a live string.
    add_arg(ExcArg::Str(unsafe { text(data, len) }.to_owned()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_tuple_begin() {
    with_state(|s| s.open.push(Vec::new()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_arg_tuple_end() {
    if let Some(items) = with_state(|s| s.open.pop()) {
        add_arg(ExcArg::Tuple(items));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_raise_index(index: i64, axis: i64, size: i64) -> i32 {
    raise(INDEX_ERROR, format!("index {index} is out of bounds for axis {axis} with size {size}"))
}

/// `at` is the index counted from the start.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_check_index(index: i64, axis: i64, size: i64, at: i64) -> i32 {
    // SAFETY: takes numbers only.
    if (0..size).contains(&at) { 0 } else { unsafe { lh_raise_index(index, axis, size) } }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_traceback(info: *const FunctionInfo, line: i32) {
    with_state(|s| {
        if let Some(p) = &mut s.pending {
            p.add_frame(Frame { info, line });
        }
    });
}

/// Raises the exception for a panic that has left a function of this library.
pub(crate) fn of_panic(panic: &Panic) -> i32 {
    match panic.downcast_ref::<OutOfMemory>() {
        Some(OutOfMemory { bytes }) => no_memory(*bytes as i128),
        None => raise(SYSTEM_ERROR, text_of(panic)),
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_raise_arg_none lh_raise_arg_tuple_begin lh_raise_arg_tuple_end;
        (_) lh_raise_begin lh_raise_arg_int lh_raise_arg_uint lh_raise_arg_float lh_raise_arg_bool;
        (_ _) lh_raise_arg_complex lh_traceback;
        (_ _ _) lh_raise_arg_str lh_raise_index;
        (_ _ _ _) lh_check_index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::VALUE_ERROR;
    use crate::exception::{INNER_FRAMES, OUTER_FRAMES, take_pending};

    #[test]
    fn arguments_may_be_nested_tuples() {
        // SAFETY: the calls that compiled code makes; the string is live.
        unsafe {
            lh_raise_begin(VALUE_ERROR.0 as i32);
            lh_raise_arg_str(std::ptr::null_mut(), "bad".as_ptr(), 3);
            lh_raise_arg_tuple_begin();
            lh_raise_arg_int(-1);
            lh_raise_arg_tuple_begin();
            lh_raise_arg_tuple_end();
            lh_raise_arg_tuple_begin();
            lh_raise_arg_uint(u64::MAX);
            lh_raise_arg_tuple_end();
            lh_raise_arg_tuple_end();
            lh_raise_arg_bool(1);
            lh_raise_arg_none();
            lh_raise_arg_float(1.0);
            lh_raise_arg_complex(0.0, -2.0);
        }
        let p = take_pending().unwrap();
        assert_eq!(p.message(), "('bad', (-1, (), (18446744073709551615,)), True, None, 1.0, -2j)");
        assert!(take_pending().is_none());
    }

    #[test]
    fn deep_tracebacks_keep_both_ends() {
        raise(VALUE_ERROR, "x");
        for line in 0..100_000 {
            // SAFETY: the pointer is stored, not followed.
            unsafe { lh_traceback(std::ptr::null(), line) };
        }
        let p = take_pending().unwrap();
        assert_eq!(p.frames.len(), INNER_FRAMES + OUTER_FRAMES);
        assert_eq!(p.frames[INNER_FRAMES - 1].line, INNER_FRAMES as i32 - 1);
        assert_eq!(p.frames.last().unwrap().line, 99_999);
        assert_eq!(p.omitted as usize, 100_000 - p.frames.len());
        assert_eq!(p.omitted_at(), Some(INNER_FRAMES));
    }
}
