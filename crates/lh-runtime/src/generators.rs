//! Generators that die while they are suspended inside of `try` or `with`: they are closed first, as CPython does.

use crate::callback::tell;
use crate::classes::{GENERATOR_EXIT, RUNTIME_ERROR, STOP_ITERATION, is_subclass};
use crate::exception::{Pending, apart, raise, set_pending, take_pending};
use crate::items::{Items, free_items};
use crate::memory::alloc::{MemInfo, while_freeing};
use crate::symbol::{Symbol, functions};
use lh_ir::class::layout;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// Goes on with a generator, into which the pending exception is thrown: 0 if it ends, 1 if it yields, or
/// [`layout::CLOSE_RAISED`] if it raises.
type Close = unsafe extern "C" fn(*mut MemInfo) -> i32;

/// References that a generator seems to have while it is closed, so that it does not die a second time.
const CLOSING: i64 = 1 << 40;

/// Lets a generator be closed when its last reference goes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_generator_closed_by(object: *mut Items, close: *const u8) {
    // SAFETY: compiled code passes a new generator. It has one item for ever, so that its capacity is free for the
    // address of what closes it.
    unsafe {
        (*object).mem.dtor = free_generator;
        (*object).cap = close.expose_provenance() as i64;
    }
}

/// Destructor of generators that are closed.
unsafe extern "C" fn free_generator(mem: *mut MemInfo) {
    // SAFETY: only such generators have this destructor; nobody refers to it any more, and its item is its frame.
    unsafe {
        let state = (*mem).data.cast::<i64>();
        if *state > 0 {
            let address = (*mem.cast::<Items>()).cap as usize;
            let close = std::mem::transmute::<*const u8, Close>(ptr::with_exposed_provenance(address));
            (*mem).refcount.store(CLOSING, Relaxed);
            while_freeing(|| {
                apart(|| {
                    set_pending(Pending::new(GENERATOR_EXIT, vec![]));
                    *state += layout::THROWN;
                    finished(close(mem));
                });
            });
        }
        free_items(mem);
    }
}

/// Tells of an exception that nobody can catch.
fn finished(status: i32) {
    if status == layout::CLOSE_RAISED {
        let Some(raised) = take_pending() else { return };
        if is_subclass(raised.class, GENERATOR_EXIT) || is_subclass(raised.class, STOP_ITERATION) {
            return;
        }
        set_pending(raised);
    } else if status != 0 {
        raise(RUNTIME_ERROR, "generator ignored GeneratorExit");
    } else {
        return;
    }
    tell("a generator");
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_ _) lh_generator_closed_by; }
}
