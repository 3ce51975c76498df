//! The functions for rare arguments as our own machine code: compiled modules call them by name, so that they need not
//! be compiled each time.

#[path = "../math/lib.rs"]
#[allow(clippy::approx_constant, clippy::too_many_lines, reason = "coefficients stand as they were fitted")]
mod functions;

macro_rules! rare {
    ($($name:ident($($arg:ident: $ty:ident),+) -> $ret:ident = $body:path;)*) => {
        /// Address of a function of [`RARE`](crate::RARE).
        pub fn address(name: &str) -> Option<usize> {
            match name {
                $(stringify!($name) => Some(functions::$name as extern "C" fn($($ty),+) -> $ret as usize),)*
                _ => None,
            }
        }
    };
}
each_of_rare!(rare);

#[cfg(test)]
mod tests {
    #[test]
    fn every_rare_function_has_an_address() {
        assert!(crate::RARE.iter().all(|rare| super::address(rare.name).is_some()));
        assert_eq!(super::address("lh_sin"), None);
    }
}
