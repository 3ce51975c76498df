//! `print`: text is gathered per thread and written out by a hook, by default to standard output. Arrays are given
//! their text by another hook, since NumPy is what knows it.

use crate::classes::{OS_ERROR, RUNTIME_ERROR};
use crate::exception::{is_pending, raise};
use crate::memory::alloc::MemInfo;
use crate::repr::{complex_repr, float_repr, float32_repr};
use crate::strings::value::{StrValue, give, text};
use crate::symbol::{Symbol, functions};
use crate::text::{Text, TextBuf};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::RwLock;

/// Writes text out. On failure it may have made an exception pending.
pub type Sink = fn(&Text) -> Result<(), ()>;

/// An array whose text is wanted.
pub struct ArrayText<'a> {
    /// Letter of NumPy's for the class of its dtype, and bytes of an item.
    pub dtype: (u8, usize),
    /// Extents, then strides in bytes.
    pub dims: &'a [i64],
    /// Where the first item is.
    pub data: *const u8,
    /// Whether `repr` is meant, else `str`.
    pub repr: bool,
}

/// Gives the text of an array. On failure it has made an exception pending.
pub type Writer = fn(&ArrayText<'_>) -> Result<String, ()>;

static SINK: RwLock<Sink> = RwLock::new(to_stdout);
static WRITER: RwLock<Writer> = RwLock::new(without_numpy);

fn without_numpy(_: &ArrayText<'_>) -> Result<String, ()> {
    raise(RUNTIME_ERROR, "an array has no text where there is no NumPy");
    Err(())
}

/// Sets what gives arrays their text.
pub fn set_array_writer(writer: Writer) {
    *WRITER.write().unwrap_or_else(|e| e.into_inner()) = writer;
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_str_from_array(
    class: i64,
    size: i64,
    rank: i64,
    dims: *const i64,
    data: *const u8,
    repr: u8,
    out: *mut StrValue,
) -> i32 {
    // SAFETY: compiled code passes so many extents and strides, and room for the result.
    unsafe {
        let dims = if rank == 0 { &[][..] } else { std::slice::from_raw_parts(dims, 2 * rank as usize) };
        let writer = *WRITER.read().unwrap_or_else(|e| e.into_inner());
        match writer(&ArrayText {
            dtype: (b"biufcVTR"[class as usize], size as usize),
            dims,
            data,
            repr: repr & 1 != 0,
        }) {
            Ok(text) => give(&text, out),
            Err(()) => 1,
        }
    }
}

thread_local! {
    static BUFFER: RefCell<TextBuf> = const { RefCell::new(TextBuf::new()) };
}

fn to_stdout(text: &Text) -> Result<(), ()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|_| ())
}

/// Sets where printed text goes.
pub fn set_print_sink(sink: Sink) {
    *SINK.write().unwrap_or_else(|e| e.into_inner()) = sink;
}

fn add(write: impl FnOnce(&mut TextBuf)) {
    BUFFER.with(|b| write(&mut b.borrow_mut()));
}

fn add_display(value: impl std::fmt::Display) {
    add(|b| write!(b, "{value}").expect("strings take any text"));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_str(_mem: *mut MemInfo, data: *const u8, len: i64) {
    // SAFETY: compiled code passes a live string.
    add(|b| b.push_text(unsafe { text(data, len) }));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_i64(value: i64) {
    add_display(value);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_u64(value: u64) {
    add_display(value);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_f64(value: f64) {
    add(|b| b.push_text(float_repr(value)));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_f32(value: f32) {
    add(|b| b.push_text(float32_repr(value)));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_complex(re: f64, im: f64) {
    add(|b| b.push_text(complex_repr(re, im)));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_bool(value: u8) {
    add(|b| b.push_text(if value != 0 { "True" } else { "False" }));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_none() {
    add(|b| b.push_text("None"));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_print_flush() -> i32 {
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
        (_ _ _ _ _ _ _) lh_str_from_array;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;
    use std::sync::Mutex;

    static WRITTEN: Mutex<TextBuf> = Mutex::new(TextBuf::new());

    fn to_test(text: &Text) -> Result<(), ()> {
        if *text == *"fail" {
            return Err(());
        }
        WRITTEN.lock().unwrap().push_text(text);
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
