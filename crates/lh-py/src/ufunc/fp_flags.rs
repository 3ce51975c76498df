//! The processor's floating-point exception flags, by which NumPy warns (`np.errstate`).
//!
//! Vector code raises flags that no result justifies: by a comparison with NaN, by both sides of a select, by the sine
//! of infinity. After an elementwise loop, "invalid value" is kept only if some result is NaN while its operands are
//! not, and "overflow" likewise for infinity. Integers as results show nothing, and a division by zero need not: there
//! the first elements are computed again, by code without optimisation, in which only branches that are taken raise
//! flags.

use lh_ir::Ty;

const INVALID: u32 = 1;
const DIVIDE_BY_ZERO: u32 = 4;
const OVERFLOW: u32 = 8;
const ALL: u32 = 0x3f;
/// The most elements of a loop that are computed again.
const MAX_RECOMPUTED: isize = 1024;

/// Reads and clears the flags of this thread.
pub fn take() -> u32 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads and writes the control register, leaving the rounding mode and the masks alone.
    unsafe {
        let mut now = 0u32;
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut now);
        let cleared = now & !ALL;
        if now != cleared {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const cleared);
        }
        now & ALL
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Sets flags, in addition to those that are set.
pub fn set(flags: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as in `take`.
    unsafe {
        let mut now = 0u32;
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut now);
        let wanted = now | flags;
        if now != wanted {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const wanted);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = flags;
}

/// After a loop: drops flags that no result justifies, and restores those from before.
///
/// # Safety
/// As inner loops are called, with the types and sizes of operands, of which those from `outputs` on were written to.
/// `again` computes an element without writing to any operand.
pub unsafe fn keep_shown(
    before: u32,
    (operands, outputs): (&[(Ty, isize)], usize),
    (args, n, steps): (*const *mut u8, isize, *const isize),
    again: &dyn Fn(isize),
) {
    let raised = take();
    let told = [INVALID, DIVIDE_BY_ZERO, OVERFLOW];
    let mut kept = raised & !told.iter().sum::<u32>();
    for flag in told.into_iter().filter(|f| raised & f != 0) {
        let is_it = if flag == INVALID { f64::is_nan } else { f64::is_infinite };
        // SAFETY: as promised.
        let at = |k: usize| unsafe { *args.add(k) };
        // SAFETY: elements that the loop has read or written.
        let has = |k: usize, i: isize| unsafe { parts(operands[k].0, at(k).offset(i * *steps.add(k)), is_it) };
        // An operand that was overwritten is unknown.
        let known = |k: &usize| (outputs..operands.len()).all(|o| at(o) != at(*k));
        let given = |i: isize| (0..outputs).filter(known).any(|k| has(k, i));
        let raises = |i: isize| {
            take();
            again(i);
            take() & flag != 0
        };
        let raises_again = || !(0..outputs).all(|k| known(&k)) || (0..n.min(MAX_RECOMPUTED)).any(raises);
        let shows = if operands[outputs..].iter().any(|(t, _)| t.is_float() || t.is_complex()) {
            (0..n).any(|i| (outputs..operands.len()).any(|k| has(k, i)) && !given(i))
                || flag == DIVIDE_BY_ZERO && raises_again()
        } else {
            !(0..n).any(given) && raises_again()
        };
        kept |= if shows { flag } else { 0 };
    }
    set(before | kept);
}

/// Whether a predicate holds of a float or of a part of a complex number.
///
/// # Safety
/// There is such an element at the address.
unsafe fn parts(t: Ty, p: *const u8, is_it: fn(f64) -> bool) -> bool {
    let real = t.real_part();
    if !real.is_float() {
        return false;
    }
    // SAFETY: as promised; half floats are widened enough to tell infinity and NaN.
    let read = |i: usize| unsafe {
        match real.bits() {
            16 => {
                let half = u32::from(p.cast::<u16>().add(i).read_unaligned());
                let exponent = if half & 0x7c00 == 0x7c00 { 0x7f80_0000 } else { 0 };
                f64::from(f32::from_bits(exponent | half & 0x3ff))
            }
            32 => f64::from(p.cast::<f32>().add(i).read_unaligned()),
            _ => p.cast::<f64>().add(i).read_unaligned(),
        }
    };
    (0..t.itemsize() * 8 / real.bits() as usize).any(|i| is_it(read(i)))
}
