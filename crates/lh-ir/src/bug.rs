//! Bugs of the compiler itself.

/// Reports a bug of the compiler: `lh-py` turns the panic into `InternalError`.
#[macro_export]
macro_rules! bug {
    ($($arg:tt)*) => { panic!("bug: {}", format_args!($($arg)*)) };
}
