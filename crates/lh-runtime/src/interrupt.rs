//! Ctrl-C: a flag that compiled loops look at.

use crate::classes::KEYBOARD_INTERRUPT;
use crate::exception::{Pending, set_pending};
use crate::pool;
use crate::symbol::{CType, Symbol, functions};
use std::sync::atomic::{AtomicI32, Ordering};

/// Not zero when compiled code shall stop. Compiled loops read it without synchronisation.
pub static INTERRUPT_FLAG: AtomicI32 = AtomicI32::new(0);

/// Asks running compiled code to stop; may be called from a signal handler.
pub fn set() {
    INTERRUPT_FLAG.store(1, Ordering::Relaxed);
}

/// Whether running code shall stop.
pub fn requested() -> bool {
    INTERRUPT_FLAG.load(Ordering::Relaxed) != 0
}

/// Takes the request back; whether there was one.
pub fn clear() -> bool {
    INTERRUPT_FLAG.swap(0, Ordering::Relaxed) != 0
}

/// Raises KeyboardInterrupt: called by a loop that has seen the flag. It clears the flag, unless it is part of a parallel
/// loop: the others must see it too, and who began the outermost one clears it.
unsafe extern "C" fn lh_interrupted() -> i32 {
    raise_interrupt()
}

/// Raises KeyboardInterrupt and clears the flag.
pub(crate) fn raise_interrupt() -> i32 {
    if !pool::is_inside() {
        clear();
    }
    set_pending(Pending::new(KEYBOARD_INTERRUPT, Vec::new()));
    1
}

pub(crate) fn symbols() -> Vec<Symbol> {
    let mut all = functions! { () lh_interrupted; };
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
