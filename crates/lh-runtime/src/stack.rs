//! Deep recursion: an exception instead of a dead process.

use crate::classes::RECURSION_ERROR;
use crate::exception::raise;
use crate::symbol::{CType, Symbol, functions};
use crate::{interrupt, poll};
use lh_ir::STACK_REGIONS;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room kept free below the check: for the frames of callees that do not check, and for what handles the exception.
const MARGIN: usize = 256 << 10;

/// Bytes of a region, as a power of two.
const REGION: u32 = 16;

/// Numbers of regions of memory that are well inside of a stack, or begin there, each at its place modulo the length; 0
/// where there is none. Compiled code reads them without synchronisation: an entry is written by a thread whose stack
/// it is in, and gone before that stack is.
#[unsafe(export_name = "lh_stack_regions")]
static REGIONS: [AtomicUsize; STACK_REGIONS] = [const { AtomicUsize::new(0) }; STACK_REGIONS];

/// Empties [`REGIONS`] when its thread ends.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        REGIONS.iter().for_each(|r| r.store(0, Ordering::Relaxed));
    }
}

thread_local! {
    /// Addresses below this one are too close to the end of the stack; 0 until it is known.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
    /// Lowest and highest address of the stack, if that is known.
    static BOUNDS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static FORGET: Forget = const { Forget };
    /// The stacks of a kernel's threads that take turns on this thread.
    static FIBERS: Cell<Fibers> = const { Cell::new(Fibers { start: 0, end: 0, stride: 0, guard: 0 }) };
}

/// Neighbouring stacks of one size, each with a guard at its lower end.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fibers {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stride: usize,
    pub(crate) guard: usize,
}

impl Fibers {
    /// Whether an address is too close to the end of its stack.
    fn is_near_end(&self, here: usize) -> bool {
        let above = (here.wrapping_sub(self.start)) % self.stride.max(1);
        (self.start..self.end).contains(&here) && above < self.guard + MARGIN.min(self.stride / 4)
    }
}

/// Tells on which stacks the thread goes on; answers with those before.
pub(crate) fn enter_fibers(fibers: Fibers) -> Fibers {
    FIBERS.replace(fibers)
}

/// Raises RecursionError when the stack is nearly used up, KeyboardInterrupt when the user has asked for it. Recursive
/// functions call it first, if either may be.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_check_stack(here: usize) -> i32 {
    if interrupt::requested() {
        return poll::raise_interrupt();
    }
    if LIMIT.get() == 0 {
        find_bounds();
    }
    let (limit, (low, high)) = (LIMIT.get(), BOUNDS.get());
    // Code may run on a stack that is not the thread's own (a coroutine's); nothing is known about that one. Where the
    // stack ends within a region another one may begin: its last region, which matters as little as that it has one
    // less to ask in.
    if here >> REGION << REGION >= limit && here < high && FORGET.try_with(|_| ()).is_ok() {
        REGIONS[(here >> REGION) % STACK_REGIONS].store(here >> REGION, Ordering::Relaxed);
    }
    if here < limit && here >= low || FIBERS.get().is_near_end(here) {
        raise(RECURSION_ERROR, "maximum recursion depth exceeded")
    } else {
        0
    }
}

#[cold]
#[inline(never)]
fn find_bounds() {
    // If nothing is known: never ask again, and never raise.
    let (low, high) = bounds().unwrap_or((0, 0));
    LIMIT.set((low + MARGIN.min((high - low) / 4)).max(1));
    BOUNDS.set((low, high));
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
    let mut all = functions! { (_) lh_check_stack; };
    let address = REGIONS.as_ptr().expose_provenance();
    all.push(Symbol { name: "lh_stack_regions", address, params: None, result: CType::I64 });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn recurse(depth: u64) -> u64 {
        let local = std::hint::black_box(0u8);
        // SAFETY: takes an address.
        if unsafe { lh_check_stack(std::ptr::from_ref(&local).addr()) } != 0 {
            return depth;
        }
        std::hint::black_box(recurse(depth + 1))
    }

    /// One test: what a thread knows is forgotten when another ends.
    #[test]
    fn recursion_ends_in_an_exception_and_regions_are_known_while_their_thread_lives() {
        recursion_ends();
        regions_are_known();
    }

    fn recursion_ends() {
        for size in [64 << 10, 1 << 20, 8 << 20] {
            let run = || (recurse(0), take_pending().map(|p| p.class), recurse(0));
            let (first, class, second) =
                std::thread::Builder::new().stack_size(size).spawn(run).unwrap().join().unwrap();
            assert_eq!(class, Some(RECURSION_ERROR));
            assert!(first > 100 && first.abs_diff(second) < 10);
        }
    }

    fn regions_are_known() {
        let known = |here: usize| REGIONS[(here >> REGION) % STACK_REGIONS].load(Ordering::Relaxed) == here >> REGION;
        let run = move || {
            recurse(0);
            take_pending();
            // Near to where the recursion ended.
            let here = LIMIT.get() + (512 << 10);
            (here, known(here))
        };
        let (here, inside) = std::thread::Builder::new().stack_size(8 << 20).spawn(run).unwrap().join().unwrap();
        assert_eq!((inside, known(here)), (true, false));
    }
}
