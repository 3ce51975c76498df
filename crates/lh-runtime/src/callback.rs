//! Functions that C code calls: what they raise has nowhere to go, and is told.

use crate::exception::take_pending;
use crate::symbol::{Symbol, functions};
use std::ffi::{CStr, c_char};
use std::sync::RwLock;

/// Tells of the pending exception of this thread, which the function of that name has raised.
pub type Teller = fn(&str);

static TELLER: RwLock<Teller> = RwLock::new(to_stderr);

fn to_stderr(name: &str) {
    if let Some(pending) = take_pending() {
        eprintln!("Exception ignored in: {name}\n{}", pending.message().lossy());
    }
}

/// Sets who tells.
pub fn set_teller(teller: Teller) {
    *TELLER.write().unwrap_or_else(|e| e.into_inner()) = teller;
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_callback_failed(name: *const c_char) {
    // SAFETY: compiled code passes a text with an end.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let tell = *TELLER.read().unwrap_or_else(|e| e.into_inner());
    tell(&name);
}

/// Tells of the pending exception of this thread, which something has raised that nobody waits for.
pub(crate) fn tell(name: &str) {
    let tell = *TELLER.read().unwrap_or_else(|e| e.into_inner());
    tell(name);
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! { (_) lh_callback_failed; }
}
