//! Polls of the flag of Ctrl-C: functions that compiled loops call when they have seen it, and copies that poll it.

use crate::classes::KEYBOARD_INTERRUPT;
use crate::exception::{Pending, set_pending};
use crate::interrupt::{requested, serve};
use crate::pool;
use crate::symbol::{Symbol, functions};

/// Raises KeyboardInterrupt, or the host's exception: called by a loop that has seen the flag. It clears the flag,
/// unless the loop is part of a parallel loop: then the other threads must see it, too, and the thread that began the
/// outermost loop serves the request.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_interrupted() -> i32 {
    raise_interrupt()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_interrupted_in_turn() -> i32 {
    raise_interrupt()
}

/// Raises KeyboardInterrupt: called after a loop that has seen the flag and ended early, even if the request has been
/// served since.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_stopped() -> i32 {
    raise_interrupt()
}

/// Bytes that are written between two polls: some milliseconds.
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
unsafe extern "C-unwind" fn lh_fill(to: *mut u8, byte: u8, bytes: usize) -> u8 {
    // SAFETY: the caller says that the memory is there.
    by_pieces(bytes, |at, n| unsafe { to.add(at).write_bytes(byte, n) })
}

/// `memcpy` that may end early: in place of a loop that copies memory.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_copy(to: *mut u8, from: *const u8, bytes: usize) -> u8 {
    // SAFETY: the caller says that the memory is there, and does not overlap.
    by_pieces(bytes, |at, n| unsafe { to.add(at).copy_from_nonoverlapping(from.add(at), n) })
}

/// See [`lh_interrupted`].
pub(crate) fn raise_interrupt() -> i32 {
    set_pending(if pool::is_inside() { Pending::new(KEYBOARD_INTERRUPT, Vec::new()) } else { serve() });
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { () lh_interrupted lh_interrupted_in_turn lh_stopped; (_ _ _) lh_fill lh_copy; }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;
    use crate::interrupt::{clear, set};

    #[test]
    fn a_request_is_served_once() {
        set();
        // SAFETY: takes nothing.
        assert_eq!(unsafe { lh_interrupted() }, 1);
        assert_eq!(take_pending().unwrap().class, KEYBOARD_INTERRUPT);
        assert!(!clear());
    }
}
