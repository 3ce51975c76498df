//! Atomic operations on memory of the device; each returns the value before. The code generator emits instructions
//! instead of calls of most of them.

use crate::symbol::{Symbol, functions};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Replaces the value by `f` of it in a compare-and-swap loop; `None` leaves it.
macro_rules! update {
    ($word:ty, $at:expr, $of:expr, $bits:expr, $f:expr) => {{
        // SAFETY: compiled code passes the address of an element, which is aligned.
        let word = unsafe { &*$at.cast::<$word>() };
        let mut old = word.load(Ordering::Relaxed);
        loop {
            match $f($of(old)) {
                None => break $of(old),
                Some(new) => match word.compare_exchange_weak(old, $bits(new), Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => break $of(old),
                    Err(now) => old = now,
                },
            }
        }
    }};
}

macro_rules! atomics {
    ($($word:ty, $value:ty, $of:expr, $bits:expr => { $($name:ident |$old:ident, $x:ident| $new:expr;)* })*) => {$($(
        unsafe extern "C" fn $name(at: *mut u8, $x: $value) -> $value {
            update!($word, at, $of, $bits, |$old: $value| -> Option<$value> { $new })
        }
    )*)*};
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
mod table {
    use super::*;
    atomics! {
        AtomicU32, i32, |b: u32| b as i32, |v: i32| v as u32 => {
            lh_cuda_add_i32 |old, x| Some(old.wrapping_add(x));
            lh_cuda_max_i32 |old, x| (x > old).then_some(x);
            lh_cuda_min_i32 |old, x| (x < old).then_some(x);
            lh_cuda_max_u32 |old, x| (x as u32 > old as u32).then_some(x);
            lh_cuda_min_u32 |old, x| ((x as u32) < old as u32).then_some(x);
            lh_cuda_and_i32 |old, x| Some(old & x);
            lh_cuda_or_i32 |old, x| Some(old | x);
            lh_cuda_xor_i32 |old, x| Some(old ^ x);
            lh_cuda_exch_i32 |_old, x| Some(x);
            lh_cuda_inc_u32 |old, x| Some(if old as u32 >= x as u32 { 0 } else { old.wrapping_add(1) });
            lh_cuda_dec_u32 |old, x| Some(if old == 0 || old as u32 > x as u32 { x } else { old.wrapping_sub(1) });
        }
        AtomicU64, i64, |b: u64| b as i64, |v: i64| v as u64 => {
            lh_cuda_add_i64 |old, x| Some(old.wrapping_add(x));
            lh_cuda_max_i64 |old, x| (x > old).then_some(x);
            lh_cuda_min_i64 |old, x| (x < old).then_some(x);
            lh_cuda_max_u64 |old, x| (x as u64 > old as u64).then_some(x);
            lh_cuda_min_u64 |old, x| ((x as u64) < old as u64).then_some(x);
            lh_cuda_and_i64 |old, x| Some(old & x);
            lh_cuda_or_i64 |old, x| Some(old | x);
            lh_cuda_xor_i64 |old, x| Some(old ^ x);
            lh_cuda_exch_i64 |_old, x| Some(x);
            lh_cuda_inc_u64 |old, x| Some(if old as u64 >= x as u64 { 0 } else { old.wrapping_add(1) });
            lh_cuda_dec_u64 |old, x| Some(if old == 0 || old as u64 > x as u64 { x } else { old.wrapping_sub(1) });
        }
        AtomicU32, f32, f32::from_bits, f32::to_bits => {
            lh_cuda_add_f32 |old, x| Some(old + x);
            lh_cuda_max_f32 |old, x| (x > old).then_some(x);
            lh_cuda_min_f32 |old, x| (x < old).then_some(x);
            lh_cuda_nanmax_f32 |old, x| (x > old || old.is_nan()).then_some(x);
            lh_cuda_nanmin_f32 |old, x| (x < old || old.is_nan()).then_some(x);
        }
        AtomicU64, f64, f64::from_bits, f64::to_bits => {
            lh_cuda_add_f64 |old, x| Some(old + x);
            lh_cuda_max_f64 |old, x| (x > old).then_some(x);
            lh_cuda_min_f64 |old, x| (x < old).then_some(x);
            lh_cuda_nanmax_f64 |old, x| (x > old || old.is_nan()).then_some(x);
            lh_cuda_nanmin_f64 |old, x| (x < old || old.is_nan()).then_some(x);
        }
    }

    unsafe extern "C" fn lh_cuda_cas_i32(at: *mut u8, expected: i32, x: i32) -> i32 {
        update!(AtomicU32, at, |b: u32| b as i32, |v: i32| v as u32, |old: i32| (old == expected).then_some(x))
    }

    unsafe extern "C" fn lh_cuda_cas_i64(at: *mut u8, expected: i64, x: i64) -> i64 {
        update!(AtomicU64, at, |b: u64| b as i64, |v: i64| v as u64, |old: i64| (old == expected).then_some(x))
    }

    pub(crate) fn symbols() -> Vec<Symbol> {
        functions! {
            (_ _) lh_cuda_add_i32 lh_cuda_max_i32 lh_cuda_min_i32 lh_cuda_max_u32 lh_cuda_min_u32 lh_cuda_and_i32
                lh_cuda_or_i32 lh_cuda_xor_i32 lh_cuda_exch_i32 lh_cuda_inc_u32 lh_cuda_dec_u32
                lh_cuda_add_i64 lh_cuda_max_i64 lh_cuda_min_i64 lh_cuda_max_u64 lh_cuda_min_u64 lh_cuda_and_i64
                lh_cuda_or_i64 lh_cuda_xor_i64 lh_cuda_exch_i64 lh_cuda_inc_u64 lh_cuda_dec_u64
                lh_cuda_add_f32 lh_cuda_max_f32 lh_cuda_min_f32 lh_cuda_nanmax_f32 lh_cuda_nanmin_f32
                lh_cuda_add_f64 lh_cuda_max_f64 lh_cuda_min_f64 lh_cuda_nanmax_f64 lh_cuda_nanmin_f64;
            (_ _ _) lh_cuda_cas_i32 lh_cuda_cas_i64;
        }
    }
}
pub(crate) use table::symbols;
