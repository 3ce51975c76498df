//! The place of a panic, for the report; it is not printed.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Records the place and stack of each panic instead of printing them.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let stack = std::backtrace::Backtrace::force_capture();
            LAST.with(|l| *l.borrow_mut() = format!("at {place}\n{stack}"));
        }));
    });
}

/// The place and stack of this thread's last panic.
pub fn take() -> String {
    LAST.with(|l| std::mem::take(&mut *l.borrow_mut()))
}

/// Takes over those of another thread's panic.
pub fn put(place: String) {
    LAST.replace(place);
}
