//! Exceptions as values of compiled code: counted objects that are made, caught, asked and raised.
//!
//! One is made by `lh_exc_begin`, the arguments in order, and `lh_exc_end`. Arguments that have items are opened, put
//! one by one, and closed as what they are. A path is the place of an argument: a byte for each tuple on the way, the
//! number of an item plus one, the outermost first.

use crate::classes::{ExcId, SYSTEM_ERROR, class_name, is_subclass};
use crate::exception::{ExcArg, Pending, set_pending, with_state};
use crate::memory::alloc::{MemInfo, foreign_owner, new_foreign};
use crate::raise::add_arg;
use crate::strings::value::{StrValue, give, text};
use crate::symbol::{Symbol, functions};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// Drops the exception of an object; the address tells objects of exceptions from others.
#[inline(never)]
unsafe extern "C" fn release(owner: *mut c_void) {
    // SAFETY: only objects made by `object` are released by this, once.
    drop(unsafe { Box::from_raw(owner.cast::<Mutex<Pending>>()) });
}

/// An object with one reference; null without memory.
fn object(pending: Pending) -> *mut MemInfo {
    let owner = Box::into_raw(Box::new(Mutex::new(pending)));
    let made = new_foreign(null_mut(), 0, owner.cast(), release);
    if made.is_null() {
        // SAFETY: nobody has the exception.
        unsafe { release(owner.cast()) };
    }
    made
}

/// Uses the exception of an object; of null, one that says so.
///
/// # Safety
/// `exc` is null or a live object of an exception.
unsafe fn with<R>(exc: *mut MemInfo, f: impl FnOnce(&mut Pending) -> R) -> R {
    // SAFETY: as promised; an owner with this way of release is an exception.
    match unsafe { foreign_owner(exc, release).map(|owner| &*owner.cast::<Mutex<Pending>>()) } {
        Some(shared) => f(&mut shared.lock().unwrap_or_else(PoisonError::into_inner)),
        None => f(&mut nothing()),
    }
}

/// A copy of the exception of an object.
///
/// # Safety
/// `exc` is null or a live object of an exception.
pub unsafe fn copy(exc: *mut MemInfo) -> Pending {
    // SAFETY: as promised.
    unsafe { same(exc) }
}

fn nothing() -> Pending {
    Pending::new(SYSTEM_ERROR, vec![ExcArg::Str("no exception is pending".into())])
}

/// A copy that counts as the same exception.
unsafe fn same(exc: *mut MemInfo) -> Pending {
    // SAFETY: the caller's promise.
    unsafe {
        with(exc, |p| {
            p.identify();
            p.clone()
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_take() -> *mut MemInfo {
    let taken = with_state(|s| {
        s.restored = false;
        s.pending.take()
    });
    object(taken.map_or_else(nothing, |p| *p))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_matches(exc: *mut MemInfo, class: i64) -> u8 {
    // SAFETY: compiled code passes a live exception.
    u8::from(is_subclass(unsafe { with(exc, |p| p.class) }, ExcId(class as u32)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_restore(exc: *mut MemInfo) {
    // SAFETY: compiled code passes a live exception.
    set_pending(unsafe { same(exc) });
    with_state(|s| s.restored = true);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_is(a: *mut MemInfo, b: *mut MemInfo) -> u8 {
    // SAFETY: compiled code passes live exceptions.
    u8::from(a == b || unsafe { with(a, Pending::identify) == with(b, Pending::identify) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_str(exc: *mut MemInfo, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live exception and room for the result.
    unsafe { give(with(exc, |p| p.message()), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_repr(exc: *mut MemInfo, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live exception and room for the result.
    unsafe { give(with(exc, |p| p.repr()), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_name(exc: *mut MemInfo, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live exception and room for the result.
    unsafe { give(with(exc, |p| class_name(p.class)), out) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_chain(exc: *mut MemInfo, handled: *mut MemInfo) {
    // SAFETY: compiled code passes live exceptions.
    unsafe {
        let handled = same(handled);
        with(exc, |p| p.chain(handled));
    }
}

/// Without an exception, the cause is that of the one that is raised next.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_set_cause(exc: *mut MemInfo, cause: *mut MemInfo) {
    // SAFETY: compiled code passes a live exception or null, and another one or null for `None`.
    unsafe {
        let cause = (!cause.is_null()).then(|| same(cause));
        if exc.is_null() {
            with_state(|s| s.cause = Some(cause));
        } else {
            with(exc, |p| p.set_cause(cause));
        }
    }
}

/// `__cause__` (0) or `__context__` (1); null if there is none.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_link(exc: *mut MemInfo, which: i64) -> *mut MemInfo {
    // SAFETY: compiled code passes a live exception.
    let link = unsafe { with(exc, |p| if which == 0 { p.cause.clone() } else { p.context.clone() }) };
    link.map_or(null_mut(), |p| object(Arc::unwrap_or_clone(p)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_is_none(exc: *mut MemInfo) -> u8 {
    u8::from(exc.is_null())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_suppressed(exc: *mut MemInfo) -> u8 {
    // SAFETY: compiled code passes a live exception.
    u8::from(unsafe { with(exc, |p| p.suppressed) })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_note(exc: *mut MemInfo, _mem: *mut MemInfo, data: *const u8, len: i64) {
    // SAFETY: compiled code passes a live exception and a live string.
    unsafe { with(exc, |p| p.notes.push(text(data, len).lossy())) };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_begin(class: i64) {
    with_state(|s| {
        s.class = ExcId(class as u32);
        s.open = vec![Vec::new()];
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_none() {
    add_arg(ExcArg::None);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_bool(value: i64) {
    add_arg(ExcArg::Bool(value != 0));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_int(value: i64) {
    add_arg(ExcArg::Int(value));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_uint(value: i64) {
    add_arg(ExcArg::Uint(value.cast_unsigned()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_float(value: f64) {
    add_arg(ExcArg::Float(value));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_complex(re: f64, im: f64) {
    add_arg(ExcArg::Complex(re, im));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_str(_mem: *mut MemInfo, data: *const u8, len: i64) {
    // SAFETY: compiled code passes a live string.
    add_arg(ExcArg::Str(unsafe { text(data, len) }.to_owned()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_bytes(data: *const u8, len: i64) {
    let len = usize::try_from(len).unwrap_or(0);
    if len == 0 {
        // Any address is one of nothing.
        return add_arg(ExcArg::Bytes(Vec::new()));
    }
    // SAFETY: compiled code passes an address of so many bytes.
    add_arg(ExcArg::Bytes(unsafe { std::slice::from_raw_parts(data, len) }.to_vec()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_put_exception(exc: *mut MemInfo) {
    // SAFETY: compiled code passes a live exception.
    add_arg(ExcArg::Exception(Arc::new(unsafe { same(exc) })));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_open() {
    with_state(|s| s.open.push(Vec::new()));
}

/// As a tuple (0), list (1), set (2), dictionary (3), array (4), or as a name and a value (5).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_close(kind: i64) {
    let Some(mut items) = with_state(|s| s.open.pop()) else { return };
    add_arg(match kind {
        0 => ExcArg::Tuple(items),
        1 => ExcArg::List(items),
        2 => ExcArg::Set(items),
        3 => ExcArg::Dict(items),
        4 => ExcArg::Array(items),
        _ => match (items.pop(), items.pop()) {
            (Some(value), Some(name)) => ExcArg::Named(name.str().lossy(), Box::new(value)),
            _ => ExcArg::None,
        },
    });
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_end() -> *mut MemInfo {
    let (class, all) = with_state(|s| (s.class, std::mem::take(&mut s.open).into_iter().next().unwrap_or_default()));
    let mut made = Pending::new(class, Vec::new());
    for x in all {
        match x {
            ExcArg::Named(name, x) => made.keywords.push((name, *x)),
            x => made.args.push(x),
        }
    }
    object(made)
}

/// Says that compiled code runs the `__init__` of the class of an exception.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_own(exc: *mut MemInfo) {
    // SAFETY: compiled code passes a live exception.
    unsafe { with(exc, |p| p.fields = Some(Vec::new())) };
}

/// Takes what has been put since `lh_exc_begin`.
fn taken() -> Vec<ExcArg> {
    with_state(|s| std::mem::take(&mut s.open).into_iter().next().unwrap_or_default())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_set_args(exc: *mut MemInfo) {
    let args = taken();
    // SAFETY: compiled code passes a live exception.
    unsafe { with(exc, |p| p.args = args) };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_set_field(exc: *mut MemInfo, _mem: *mut MemInfo, data: *const u8, len: i64) {
    let Some(value) = taken().pop() else { return };
    // SAFETY: compiled code passes a live exception and a live string.
    unsafe {
        let name = text(data, len).lossy();
        with(exc, |p| {
            let fields = p.fields.get_or_insert_default();
            match fields.iter_mut().find(|(n, _)| *n == name) {
                Some((_, old)) => *old = value,
                None => fields.push((name, value)),
            }
        });
    }
}

/// The path of a field; 0 if the exception has none of the name.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_field(exc: *mut MemInfo, _mem: *mut MemInfo, data: *const u8, len: i64) -> i64 {
    // SAFETY: compiled code passes a live exception and a live string.
    unsafe {
        let name = text(data, len).lossy();
        let at = with(exc, |p| p.fields.as_ref().and_then(|all| all.iter().position(|(n, _)| *n == name)));
        at.filter(|at| *at < 255).map_or(0, |at| FIELD | (at as i64 + 1) << 8)
    }
}

/// The first byte of the path of a field.
const FIELD: i64 = 255;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_count(exc: *mut MemInfo) -> i64 {
    // SAFETY: compiled code passes a live exception.
    unsafe { with(exc, |p| p.args.len() as i64) }
}

fn find(args: &[ExcArg], path: i64) -> Option<&ExcArg> {
    let x = args.get((path as u64 & 255).checked_sub(1)? as usize)?;
    match (path >> 8, x) {
        (0, x) => Some(x),
        (rest, ExcArg::Tuple(items)) => find(items, rest),
        _ => None,
    }
}

unsafe fn read<R>(exc: *mut MemInfo, path: i64, f: impl FnOnce(&ExcArg) -> R) -> R {
    // SAFETY: the caller's promise.
    unsafe {
        with(exc, |p| {
            let field = (path & 255 == FIELD).then(|| {
                let at = ((path >> 8) as u64 & 255).checked_sub(1)? as usize;
                let (_, x) = p.fields.as_ref()?.get(at)?;
                if path >> 16 == 0 {
                    Some(x)
                } else if let ExcArg::Tuple(items) = x {
                    find(items, path >> 16)
                } else {
                    None
                }
            });
            let found = field.unwrap_or_else(|| find(&p.args, path));
            f(found.unwrap_or(&ExcArg::None))
        })
    }
}

/// The kind of an argument: none (0), a truth value (1), an integer (2), an unsigned one (3), a float (4), complex (5),
/// a text (6), something else (7), or a tuple (16 and the number of its items).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_kind(exc: *mut MemInfo, path: i64) -> i64 {
    // SAFETY: compiled code passes a live exception.
    unsafe {
        read(exc, path, |x| match x {
            ExcArg::None => 0,
            ExcArg::Bool(_) => 1,
            ExcArg::Int(_) => 2,
            ExcArg::Uint(_) => 3,
            ExcArg::Float(_) => 4,
            ExcArg::Complex(..) => 5,
            ExcArg::Str(_) => 6,
            ExcArg::Tuple(items) => 16 + items.len() as i64,
            _ => 7,
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_int(exc: *mut MemInfo, path: i64) -> i64 {
    // SAFETY: compiled code passes a live exception.
    unsafe {
        read(exc, path, |x| match x {
            ExcArg::Int(i) => *i,
            ExcArg::Uint(u) => u.cast_signed(),
            ExcArg::Bool(b) => i64::from(*b),
            _ => 0,
        })
    }
}

/// The real part (0) or the imaginary one (1).
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_float(exc: *mut MemInfo, path: i64, part: i64) -> f64 {
    // SAFETY: compiled code passes a live exception.
    unsafe {
        read(exc, path, |x| match x {
            ExcArg::Float(x) => *x,
            ExcArg::Complex(re, im) => [*re, *im][usize::from(part != 0)],
            _ => 0.0,
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_exc_text(exc: *mut MemInfo, path: i64, out: *mut StrValue) -> i32 {
    // SAFETY: compiled code passes a live exception and room for the result.
    unsafe { give(read(exc, path, ExcArg::str), out) }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_exc_take lh_exc_put_none lh_exc_open lh_exc_end;
        (_) lh_exc_restore lh_exc_begin lh_exc_put_bool lh_exc_put_int lh_exc_put_uint lh_exc_put_float
            lh_exc_put_exception lh_exc_close lh_exc_own lh_exc_set_args lh_exc_count lh_exc_is_none lh_exc_suppressed;
        (_ _) lh_exc_matches lh_exc_is lh_exc_str lh_exc_repr lh_exc_name lh_exc_chain lh_exc_set_cause lh_exc_link
            lh_exc_put_complex lh_exc_put_bytes lh_exc_kind lh_exc_int;
        (_ _ _) lh_exc_put_str lh_exc_float lh_exc_text;
        (_ _ _ _) lh_exc_note lh_exc_set_field lh_exc_field;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{EXCEPTION, KEY_ERROR, VALUE_ERROR};
    use crate::exception::{is_pending, raise, take_pending};
    use crate::memory::alloc::decref;
    use crate::strings::value::tests::took;

    #[test]
    fn caught_ones_match_and_are_raised_again() {
        // SAFETY: the calls that compiled code makes; the reference is dropped once, last.
        unsafe {
            raise(VALUE_ERROR, "bad");
            let exc = lh_exc_take();
            assert!(!is_pending());
            assert_eq!(lh_exc_matches(exc, i64::from(EXCEPTION.0)), 1);
            assert_eq!(lh_exc_matches(exc, i64::from(KEY_ERROR.0)), 0);
            assert_eq!(took(|out| lh_exc_str(exc, out)), "bad");
            lh_exc_restore(exc);
            let again = lh_exc_take();
            assert_eq!(lh_exc_is(exc, again), 1);
            lh_exc_chain(again, exc);
            assert!(lh_exc_link(again, 1).is_null());
            decref(again);
            decref(exc);
        }
    }

    #[test]
    fn made_ones_have_arguments_and_causes() {
        // SAFETY: the calls that compiled code makes; references are dropped once.
        unsafe {
            lh_exc_begin(i64::from(KEY_ERROR.0));
            lh_exc_open();
            lh_exc_put_int(-1);
            lh_exc_put_bytes(b"a'\n".as_ptr(), 3);
            lh_exc_close(1);
            lh_exc_open();
            lh_exc_put_bool(1);
            lh_exc_close(0);
            let key = lh_exc_end();
            assert_eq!(took(|out| lh_exc_repr(key, out)), r#"KeyError([-1, b"a'\n"], (True,))"#);
            assert_eq!((lh_exc_count(key), lh_exc_kind(key, 2), lh_exc_kind(key, 0x102)), (2, 17, 1));
            lh_exc_begin(i64::from(VALUE_ERROR.0));
            let value = lh_exc_end();
            lh_exc_set_cause(value, key);
            lh_exc_restore(value);
            decref(key);
            decref(value);
            let pending = take_pending().unwrap();
            assert_eq!(pending.cause.map(|c| c.class), Some(KEY_ERROR));
            assert!(pending.suppressed);
        }
    }

    #[test]
    fn chains_end() {
        // SAFETY: the calls that compiled code makes; references are dropped once.
        unsafe {
            raise(VALUE_ERROR, "first");
            let mut last = lh_exc_take();
            for _ in 0..100_000 {
                raise(VALUE_ERROR, "next");
                let next = lh_exc_take();
                lh_exc_chain(next, last);
                decref(last);
                last = next;
            }
            decref(last);
        }
    }
}
