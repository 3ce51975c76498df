//! The run-time library for modules compiled ahead of time, as an archive for the C linker: its functions under their
//! symbols (`no_mangle`), and functions by which C code reads exceptions and releases owners.
//!
//! The other side is `python/lancehead/_command/ahead.c`, which declares these functions; `lancehead build` links both
//! with objects from `Compiled::linkable`. Calls between such a module and compiled code are `foreign` of `lh-runtime`.

use lh_runtime::alloc::{MemInfo, decref, foreign_owner, new_foreign};
use lh_runtime::exception::{ExcArg, Pending};
use lh_runtime::foreign::Argument;
use lh_runtime::{classes, take_pending};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::ptr;

/// An exception as C reads it.
struct Taken {
    class: CString,
    message: CString,
    args: Vec<(ExcArg, CString)>,
}

thread_local! {
    static TAKEN: RefCell<Option<Taken>> = const { RefCell::new(None) };
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

fn taken(pending: &Pending) -> Taken {
    Taken {
        class: c_text(&classes::class_name(pending.class)),
        message: c_text(&pending.message().lossy()),
        args: pending.args.iter().map(|a| (a.clone(), c_text(&a.str().lossy()))).collect(),
    }
}

/// Takes the pending exception of this thread; answers with the name of its class, or null. Its texts are valid until
/// the thread takes the next exception.
#[unsafe(no_mangle)]
pub extern "C" fn lh_aot_take() -> *const c_char {
    let Some(pending) = take_pending() else { return ptr::null() };
    TAKEN.with_borrow_mut(|t| t.insert(taken(&pending)).class.as_ptr())
}

/// `str(exception)` of the exception that was taken last; null if none was.
#[unsafe(no_mangle)]
pub extern "C" fn lh_aot_message() -> *const c_char {
    TAKEN.with_borrow(|t| t.as_ref().map_or(ptr::null(), |t| t.message.as_ptr()))
}

/// An argument of the exception that was taken last; 0 if it has no more.
///
/// # Safety
/// `out` is room for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lh_aot_argument(index: i64, out: *mut Argument) -> i32 {
    TAKEN.with_borrow(|t| {
        let Some((arg, text)) = t.as_ref().and_then(|t| t.args.get(usize::try_from(index).ok()?)) else { return 0 };
        let none = Argument { kind: 0, integer: 0, real: 0.0, imaginary: 0.0, text: ptr::null(), length: 0 };
        let said = match arg {
            ExcArg::None => none,
            ExcArg::Bool(b) => Argument { kind: 1, integer: u64::from(*b), ..none },
            ExcArg::Int(i) => Argument { kind: 2, integer: *i as u64, ..none },
            ExcArg::Uint(u) => Argument { kind: 3, integer: *u, ..none },
            ExcArg::Float(x) => Argument { kind: 4, real: *x, ..none },
            ExcArg::Complex(re, im) => Argument { kind: 5, real: *re, imaginary: *im, ..none },
            // Others are texts in a language without Python's types.
            _ => Argument { kind: 6, text: text.as_ptr(), length: text.as_bytes().len() as i64, ..none },
        };
        // SAFETY: as promised.
        unsafe { out.write(said) };
        1
    })
}

/// An owner for memory of a Python object, which has `release(object)` called at the end; null if there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn lh_aot_owner(
    data: *mut u8,
    object: *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
) -> *mut MemInfo {
    new_foreign(data, 0, object, release)
}

/// The object of an owner made by [`lh_aot_owner`] with this `release`; null for other owners.
///
/// # Safety
/// `owner` is null or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lh_aot_object(owner: *mut MemInfo, release: unsafe extern "C" fn(*mut c_void)) -> *mut c_void {
    // SAFETY: as promised.
    unsafe { foreign_owner(owner, release) }.unwrap_or(ptr::null_mut())
}

/// Drops a reference to an owner, which may be null.
///
/// # Safety
/// The reference is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lh_aot_release(owner: *mut MemInfo) {
    // SAFETY: as promised.
    unsafe { decref(owner) }
}

/// Functions of the math library for rare arguments under the names by which compiled code calls them.
macro_rules! rare {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name($($arg: $ty),+) -> $ret {
            let Some(at) = lh_math::address(stringify!($name)) else { return <$ret>::NAN };
            // SAFETY: the function of that name has this signature.
            unsafe { std::mem::transmute::<usize, extern "C" fn($($ty),+) -> $ret>(at)($($arg),+) }
        }
    )*};
}
lh_math::each_of_rare!(rare);
