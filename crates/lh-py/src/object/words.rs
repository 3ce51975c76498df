//! Machine words of compiled code: numbers in memory as words, and back.

use lh_ir::Ty;
use lh_ir::types::Prim;

/// Reads a machine primitive as a word. Integers are extended by zeros, since only their low bytes are used.
///
/// # Safety
/// `at` points to a value of the primitive.
pub unsafe fn read_prim(at: *const u8, p: Prim) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { read_word(at, p.size()) }
}

/// Reads a value of 1, 2, 4 or 8 bytes as a word.
///
/// # Safety
/// `at` points to so many bytes.
#[inline(always)]
pub unsafe fn read_word(at: *const u8, size: usize) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe {
        match size {
            1 => u64::from(at.read()),
            2 => u64::from(at.cast::<u16>().read_unaligned()),
            4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        }
    }
}

/// Writes a word to memory as a machine primitive.
///
/// # Safety
/// `at` has room for the primitive.
pub unsafe fn write_prim(at: *mut u8, p: Prim, word: u64) {
    // SAFETY: as promised by the caller.
    unsafe {
        match p.size() {
            1 => at.write(word as u8),
            2 => at.cast::<u16>().write_unaligned(word as u16),
            4 => at.cast::<u32>().write_unaligned(word as u32),
            _ => at.cast::<u64>().write_unaligned(word),
        }
    }
}

/// The float in a word.
pub fn float(word: u64, ty: Ty) -> f64 {
    match ty.bits() {
        16 => lh_ir::half::number(word as u16, ty),
        32 => f64::from(f32::from_bits(word as u32)),
        _ => f64::from_bits(word),
    }
}
