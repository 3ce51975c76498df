//! Ctrl-C: a flag that compiled loops poll.

use crate::classes::KEYBOARD_INTERRUPT;
use crate::exception::Pending;
use crate::symbol::{CType, Symbol};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// Not zero when compiled code shall stop: [`SET`]. Compiled loops read it without synchronisation.
#[unsafe(export_name = "lh_interrupt_flag")]
pub static INTERRUPT_FLAG: AtomicI32 = AtomicI32::new(0);

/// Above all offsets of the stack that compiled code compares it with, so that recursive functions need one comparison
/// for both the flag and the stack.
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

/// The host's answer to a request: the exception to raise, None for a plain KeyboardInterrupt.
pub type Host = fn() -> Option<Pending>;

/// Asked when a request is served, in the thread that serves it.
static HOST: OnceLock<Host> = OnceLock::new();

/// Sets the host. The first one that is set stays.
pub fn set_host(host: Host) {
    HOST.get_or_init(|| host);
}

/// Requests that were served.
static SERVED: AtomicU64 = AtomicU64::new(0);

/// How many requests were served so far.
pub(crate) fn served() -> u64 {
    SERVED.load(Ordering::Relaxed)
}

/// Takes the request back and gives the exception that is to be raised for it.
pub(crate) fn serve() -> Pending {
    // First of all: the host may run compiled code, which must not be stopped.
    clear();
    SERVED.fetch_add(1, Ordering::Relaxed);
    HOST.get().and_then(|host| host()).unwrap_or_else(|| Pending::new(KEYBOARD_INTERRUPT, Vec::new()))
}

pub(crate) fn symbols() -> Vec<Symbol> {
    let address = std::ptr::from_ref(&INTERRUPT_FLAG).expose_provenance();
    vec![Symbol { name: "lh_interrupt_flag", address, params: None, result: CType::I32 }]
}
