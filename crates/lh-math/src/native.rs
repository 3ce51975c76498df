//! The functions for large arguments as our own machine code: compiled modules call them by name, so that they need not be
//! compiled each time.

#[path = "../math/lib.rs"]
#[allow(clippy::approx_constant, clippy::too_many_lines, reason = "coefficients stand as they were fitted")]
mod functions;

use functions::large::{lh_cos_large, lh_cosf_large, lh_sin_large, lh_sinf_large, lh_tan_large, lh_tanf_large};

/// Address of a function of [`LARGE`](crate::LARGE).
pub fn address(name: &str) -> Option<usize> {
    let double = |f: extern "C" fn(f64) -> f64| Some(f as usize);
    let single = |f: extern "C" fn(f32) -> f32| Some(f as usize);
    match name {
        "lh_sin_large" => double(lh_sin_large),
        "lh_cos_large" => double(lh_cos_large),
        "lh_tan_large" => double(lh_tan_large),
        "lh_sinf_large" => single(lh_sinf_large),
        "lh_cosf_large" => single(lh_cosf_large),
        "lh_tanf_large" => single(lh_tanf_large),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_large_function_has_an_address() {
        assert!(crate::LARGE.iter().all(|name| super::address(name).is_some()));
        assert_eq!(super::address("lh_sin"), None);
    }
}
