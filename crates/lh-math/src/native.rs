//! The functions for large arguments as our own machine code: compiled modules call them by name, so that they need not be
//! compiled each time.

#[path = "../math/lib.rs"]
mod functions;

use functions::large::{lh_cos_large, lh_sin_large, lh_tan_large};

/// Address of a function of [`LARGE`](crate::LARGE).
pub fn address(name: &str) -> Option<usize> {
    let f: extern "C" fn(f64) -> f64 = match name {
        "lh_sin_large" => lh_sin_large,
        "lh_cos_large" => lh_cos_large,
        "lh_tan_large" => lh_tan_large,
        _ => return None,
    };
    Some(f as usize)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_large_function_has_an_address() {
        assert!(crate::LARGE.iter().all(|name| super::address(name).is_some()));
        assert_eq!(super::address("lh_sin"), None);
    }
}
