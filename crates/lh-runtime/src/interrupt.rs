//! Ctrl-C: a flag that compiled loops look at.

use crate::classes::KEYBOARD_INTERRUPT;
use crate::exception::{Pending, set_pending};
use crate::pool;
use crate::symbol::{CType, Symbol, functions};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// Not zero when compiled code shall stop: [`SET`]. Compiled loops read it without synchronisation.
#[unsafe(export_name = "lh_interrupt_flag")]
pub static INTERRUPT_FLAG: AtomicI32 = AtomicI32::new(0);

/// Above all offsets that compiled code compares it with, so that recursive functions ask two things at once.
const SET: i32 = 2 * lh_ir::STACK_WINDOW as i32;

/// Asks running compiled code to stop; may be called from a signal handler.
pub fn set() {
    INTERRUPT_FLAG.store(SET, Ordering::Relaxed);
}

/// Whether running code shall stop.
pub fn requested() -> bool {
    INTERRUPT_FLAG.load(Ordering::Relaxed) != 0
}

/// Takes the request back; whether there was one.
pub fn clear() -> bool {
    INTERRUPT_FLAG.swap(0, Ordering::Relaxed) != 0
}

/// What the host does about a request: the exception to raise, None for a plain KeyboardInterrupt.
pub type Host = fn() -> Option<Pending>;

/// Asked when a request is served, in the thread that serves it.
static HOST: OnceLock<Host> = OnceLock::new();

/// Has a host asked what to raise. The host that was named first stays.
pub fn set_host(host: Host) {
    HOST.get_or_init(|| host);
}

/// Requests that were served.
static SERVED: AtomicU64 = AtomicU64::new(0);

/// How many requests were served so far.
pub(crate) fn served() -> u64 {
    SERVED.load(Ordering::Relaxed)
}

/// Takes the request back and gives what is to be raised for it.
pub(crate) fn serve() -> Pending {
    // First of all: what the host runs may be compiled code, which must not be stopped.
    clear();
    SERVED.fetch_add(1, Ordering::Relaxed);
    HOST.get().and_then(|host| host()).unwrap_or_else(|| Pending::new(KEYBOARD_INTERRUPT, Vec::new()))
}

/// Raises KeyboardInterrupt, or what the host wants: called by a loop that has seen the flag. It clears the flag, unless it
/// is part of a parallel loop: the others must see it too, and who began the outermost one serves the request.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_interrupted() -> i32 {
    raise_interrupt()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_interrupted_in_turn() -> i32 {
    raise_interrupt()
}

/// Raises KeyboardInterrupt: called behind a loop that has seen the flag and ended for it, whoever has served the request since.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_stopped() -> i32 {
    raise_interrupt()
}

/// Bytes that are written between two looks at the flag: some milliseconds.
const PIECE: usize = 16 << 20;

/// Calls with the beginning and the length of piece after piece of so many bytes; 1 if it ended early.
fn by_pieces(bytes: usize, write: impl Fn(usize, usize)) -> u8 {
    let mut at = 0;
    while at < bytes && !requested() {
        let n = PIECE.min(bytes - at);
        write(at, n);
        at += n;
    }
    u8::from(at < bytes)
}

/// `memset` that may end early: in place of a loop that fills memory.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_fill(to: *mut u8, byte: u8, bytes: usize) -> u8 {
    // SAFETY: the caller says that the memory is there.
    by_pieces(bytes, |at, n| unsafe { to.add(at).write_bytes(byte, n) })
}

/// `memcpy` that may end early: in place of a loop that copies memory.
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_copy(to: *mut u8, from: *const u8, bytes: usize) -> u8 {
    // SAFETY: the caller says that the memory is there, and does not overlap.
    by_pieces(bytes, |at, n| unsafe { to.add(at).copy_from_nonoverlapping(from.add(at), n) })
}

/// See [`lh_interrupted`].
pub(crate) fn raise_interrupt() -> i32 {
    set_pending(if pool::is_inside() { Pending::new(KEYBOARD_INTERRUPT, Vec::new()) } else { serve() });
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = functions! { () lh_interrupted lh_interrupted_in_turn lh_stopped; (_ _ _) lh_fill lh_copy; };
    let address = std::ptr::from_ref(&INTERRUPT_FLAG).expose_provenance();
    all.push(Symbol { name: "lh_interrupt_flag", address, params: None, result: CType::I32 });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    #[test]
    fn a_request_is_served_once() {
        set();
        // SAFETY: takes nothing.
        assert_eq!(unsafe { lh_interrupted() }, 1);
        assert_eq!(take_pending().unwrap().class, KEYBOARD_INTERRUPT);
        assert!(!clear());
    }
}
