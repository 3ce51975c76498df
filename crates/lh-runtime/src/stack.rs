//! Deep recursion: an exception instead of a dead process.

use crate::classes::RECURSION_ERROR;
use crate::exception::raise;
use crate::interrupt;
use crate::symbol::{Symbol, functions};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Room kept free below the check: for the frames of callees that do not check, and for what handles the exception.
const MARGIN: usize = 256 << 10;

thread_local! {
    /// Addresses below this one are too close to the end of the stack; 0 until it is known.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// Raises RecursionError when the stack is nearly used up, KeyboardInterrupt when the user has asked for it. Recursive
/// functions call it first, if either may be.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_check_stack() -> i32 {
    // Not initialised: a store beside the return address would stall the return.
    if interrupt::requested() {
        return interrupt::raise_interrupt();
    }
    let local = MaybeUninit::<u8>::uninit();
    let here = std::hint::black_box(local.as_ptr()).addr();
    // An unknown limit must take the slow path: hence the subtraction.
    if here < LIMIT.get().wrapping_sub(1) { check_slowly(here) } else { 0 }
}

#[cold]
#[inline(never)]
fn check_slowly(here: usize) -> i32 {
    let Some((low, high)) = bounds() else {
        // Nothing is known: never ask again, and never raise.
        LIMIT.set(1);
        return 0;
    };
    let limit = low + MARGIN.min((high - low) / 4);
    LIMIT.set(limit + 1);
    // Code may run on a stack that is not the thread's own (a coroutine's); nothing is known about that one.
    if here < limit && here >= low { raise(RECURSION_ERROR, "maximum recursion depth exceeded") } else { 0 }
}

/// Lowest and highest address of the thread's stack.
fn bounds() -> Option<(usize, usize)> {
    // SAFETY: plain C calls on a local attribute object, which is initialised by the first and freed by the last.
    unsafe {
        let mut attr = std::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attr) != 0 {
            return None;
        }
        let (mut low, mut size, mut guard) = (std::ptr::null_mut(), 0, 0);
        let status = libc::pthread_attr_getstack(&attr, &mut low, &mut size);
        libc::pthread_attr_getguardsize(&attr, &mut guard);
        libc::pthread_attr_destroy(&mut attr);
        (status == 0 && size > guard).then(|| (low.addr() + guard, low.addr() + size))
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { () lh_check_stack; }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn recurse(depth: u64) -> u64 {
        // SAFETY: takes nothing.
        if unsafe { lh_check_stack() } != 0 {
            return depth;
        }
        std::hint::black_box(recurse(depth + 1))
    }

    #[test]
    fn recursion_ends_in_an_exception() {
        for size in [64 << 10, 1 << 20, 8 << 20] {
            let run = || (recurse(0), take_pending().map(|p| p.class), recurse(0));
            let (first, class, second) =
                std::thread::Builder::new().stack_size(size).spawn(run).unwrap().join().unwrap();
            assert_eq!(class, Some(RECURSION_ERROR));
            assert!(first > 100 && first.abs_diff(second) < 10);
        }
    }
}
