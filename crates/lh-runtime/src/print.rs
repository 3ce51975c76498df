//! `print`: text is gathered per thread and written out by a hook, by default to standard output.

use crate::alloc::MemInfo;
use crate::classes::OS_ERROR;
use crate::exception::{is_pending, raise};
use crate::string::text;
use crate::symbol::{Symbol, functions};
use crate::text::{complex_repr, float_repr, float32_repr};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::RwLock;

/// Writes text out. On failure it may have made an exception pending.
pub type Sink = fn(&str) -> Result<(), ()>;

static SINK: RwLock<Sink> = RwLock::new(to_stdout);

thread_local! {
    static BUFFER: RefCell<String> = const { RefCell::new(String::new()) };
}

fn to_stdout(text: &str) -> Result<(), ()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|_| ())
}

/// Sets where printed text goes.
pub fn set_print_sink(sink: Sink) {
    *SINK.write().unwrap_or_else(|e| e.into_inner()) = sink;
}

fn add(write: impl FnOnce(&mut String)) {
    BUFFER.with(|b| write(&mut b.borrow_mut()));
}

fn add_display(value: impl std::fmt::Display) {
    add(|b| write!(b, "{value}").expect("strings take any text"));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_str(_mem: *mut MemInfo, data: *const u8, len: i64) {
    // SAFETY: compiled code passes a live string.
    add(|b| b.push_str(unsafe { text(data, len) }));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_i64(value: i64) {
    add_display(value);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_u64(value: u64) {
    add_display(value);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_f64(value: f64) {
    add(|b| b.push_str(&float_repr(value)));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_f32(value: f32) {
    add(|b| b.push_str(&float32_repr(value)));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_complex(re: f64, im: f64) {
    add(|b| b.push_str(&complex_repr(re, im)));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_bool(value: u8) {
    add(|b| b.push_str(if value != 0 { "True" } else { "False" }));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_none() {
    add(|b| b.push_str("None"));
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_print_flush() -> i32 {
    // Taken out first: the hook may run code that prints.
    let text = BUFFER.with(|b| std::mem::take(&mut *b.borrow_mut()));
    let sink = *SINK.read().unwrap_or_else(|e| e.into_inner());
    if text.is_empty() || sink(&text).is_ok() {
        return 0;
    }
    if !is_pending() {
        raise(OS_ERROR, "cannot write to sys.stdout");
    }
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_print_none lh_print_flush;
        (_) lh_print_i64 lh_print_u64 lh_print_f64 lh_print_f32 lh_print_bool;
        (_ _) lh_print_complex;
        (_ _ _) lh_print_str;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;
    use std::sync::Mutex;

    static WRITTEN: Mutex<String> = Mutex::new(String::new());

    fn to_test(text: &str) -> Result<(), ()> {
        if text == "fail" {
            return Err(());
        }
        WRITTEN.lock().unwrap().push_str(text);
        Ok(())
    }

    #[test]
    fn values_print_as_in_python() {
        set_print_sink(to_test);
        // SAFETY: strings are live.
        unsafe {
            lh_print_i64(-3);
            lh_print_str(std::ptr::null_mut(), " ".as_ptr(), 1);
            lh_print_u64(u64::MAX);
            lh_print_str(std::ptr::null_mut(), " é ".as_ptr(), 4);
            lh_print_f64(1e16);
            lh_print_bool(1);
            lh_print_none();
            lh_print_complex(1.0, 2.0);
            lh_print_f32(0.1);
            assert_eq!(lh_print_flush(), 0);
            assert_eq!(*WRITTEN.lock().unwrap(), "-3 18446744073709551615 é 1e+16TrueNone(1+2j)0.1");
            lh_print_str(std::ptr::null_mut(), "fail".as_ptr(), 4);
            assert_eq!(lh_print_flush(), 1);
        }
        assert_eq!(take_pending().unwrap().class, OS_ERROR);
    }
}
