//! The end of a compilation before it is done: for a signal, a limit of time, or want of memory.
//!
//! Stages ask now and then ([`poll`]). A compilation that is to end is left by a panic, [`Stopped`]; whoever has set
//! what is asked ([`watch`]) catches it, and drops what was half made. Nobody asks in other threads.

use std::cell::Cell;
use std::panic::resume_unwind;

/// The panic by which a compilation is left.
#[derive(Clone, Copy, Debug)]
pub struct Stopped;

thread_local! {
    static ASK: Cell<Option<fn() -> bool>> = const { Cell::new(None) };
}

/// Ends the compilation of this thread if it is to end.
#[inline]
pub fn poll() {
    if ASK.get().is_some_and(|ask| ask()) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Has this thread ask a function from now on, until the result is dropped.
#[must_use]
pub fn watch(ask: fn() -> bool) -> Watch {
    Watch(ASK.replace(Some(ask)))
}

/// The question that was asked before.
#[derive(Debug)]
pub struct Watch(Option<fn() -> bool>);

impl Drop for Watch {
    fn drop(&mut self) {
        ASK.set(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_compilation_is_left_where_it_asks() {
        poll();
        {
            let _never = watch(|| false);
            poll();
            let left = catch_unwind(|| {
                let _at_once = watch(|| true);
                poll();
            });
            assert!(left.is_err_and(|panic| panic.is::<Stopped>()));
            poll();
        }
        poll();
    }
}
