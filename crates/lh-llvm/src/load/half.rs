//! The conversions of `float16` from compilers' run-time libraries, for processors without instructions for it. Older
//! systems lack them, so the loader finds them here. A `half` is passed in the low bits of a vector register, like a
//! `float`.

use lh_ir::half::{of_f64, to_f64};

extern "C" fn extend(half: f32) -> f32 {
    to_f64(half.to_bits() as u16) as f32
}

extern "C" fn round_single(x: f32) -> f32 {
    f32::from_bits(u32::from(of_f64(f64::from(x))))
}

extern "C" fn round_double(x: f64) -> f32 {
    f32::from_bits(u32::from(of_f64(x)))
}

/// The address of a function by LLVM's name for it.
pub(crate) fn address(name: &str) -> Option<usize> {
    Some(match name {
        "__extendhfsf2" => extend as extern "C" fn(f32) -> f32 as usize,
        "__truncsfhf2" => round_single as extern "C" fn(f32) -> f32 as usize,
        "__truncdfhf2" => round_double as extern "C" fn(f64) -> f32 as usize,
        _ => return None,
    })
}
