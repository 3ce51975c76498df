//! Normal and exponential numbers by ziggurats: bits below a limit are inside of a layer; else the wedge or the tail
//! decides.

use super::bits::Bits;
use super::tables::{
    EXPONENTIAL_F, EXPONENTIAL_F32, EXPONENTIAL_K, EXPONENTIAL_K32, EXPONENTIAL_X, EXPONENTIAL_X32, NORMAL_F,
    NORMAL_F32, NORMAL_K, NORMAL_K32, NORMAL_X, NORMAL_X32,
};

/// Where the tail of the normal density begins.
const NORMAL_TAIL: f64 = 3.654_152_885_361_009;
const NORMAL_TAIL_INVERSE: f64 = 0.273_661_237_329_758_3;
const EXPONENTIAL_TAIL: f64 = 7.697_117_470_131_05;

/// A standard normal number.
#[inline(always)]
pub(super) fn normal(bits: &mut impl Bits) -> f64 {
    loop {
        let word = bits.next_u64();
        let (layer, inside) = ((word & 0xff) as usize, (word >> 9) & 0x000f_ffff_ffff_ffff);
        let size = inside as f64 * NORMAL_X[layer];
        // The sign is any, so that a branch would be mispredicted half the time.
        let x = f64::from_bits(size.to_bits() | (word & 0x100) << 55);
        if inside < NORMAL_K[layer] {
            return x;
        }
        if let Some(x) = normal_outside(bits, layer, inside, x) {
            return x;
        }
    }
}

#[cold]
#[inline(never)]
fn normal_outside(bits: &mut impl Bits, layer: usize, inside: u64, x: f64) -> Option<f64> {
    if layer > 0 {
        let (upper, lower) = (NORMAL_F[layer - 1], NORMAL_F[layer]);
        return ((upper - lower) * bits.next_f64() + lower < (-0.5 * x * x).exp()).then_some(x);
    }
    loop {
        let far = -NORMAL_TAIL_INVERSE * (-bits.next_f64()).ln_1p();
        let y = -(-bits.next_f64()).ln_1p();
        if y + y > far * far {
            return Some(if (inside >> 8) & 1 != 0 { -(NORMAL_TAIL + far) } else { NORMAL_TAIL + far });
        }
    }
}

/// A standard normal number in single precision.
#[inline(always)]
pub(super) fn normal32(bits: &mut impl Bits) -> f32 {
    loop {
        let word = bits.next_u32();
        let (layer, inside) = ((word & 0xff) as usize, word >> 9);
        let size = inside as f32 * NORMAL_X32[layer];
        let x = f32::from_bits(size.to_bits() | (word & 0x100) << 23);
        if inside < NORMAL_K32[layer] {
            return x;
        }
        if let Some(x) = normal32_outside(bits, layer, inside, x) {
            return x;
        }
    }
}

#[cold]
#[inline(never)]
fn normal32_outside(bits: &mut impl Bits, layer: usize, inside: u32, x: f32) -> Option<f32> {
    if layer > 0 {
        let (upper, lower) = (NORMAL_F32[layer - 1], NORMAL_F32[layer]);
        let height = (upper - lower) * bits.next_f32() + lower;
        return (f64::from(height) < (-0.5 * f64::from(x) * f64::from(x)).exp()).then_some(x);
    }
    loop {
        let far = -(NORMAL_TAIL_INVERSE as f32) * (-bits.next_f32()).ln_1p();
        let y = -(-bits.next_f32()).ln_1p();
        if y + y > far * far {
            let tail = NORMAL_TAIL as f32;
            return Some(if (inside >> 8) & 1 != 0 { -(tail + far) } else { tail + far });
        }
    }
}

/// A standard exponential number.
#[inline(always)]
pub(super) fn exponential(bits: &mut impl Bits) -> f64 {
    loop {
        let word = bits.next_u64() >> 3;
        let (layer, inside) = ((word & 0xff) as usize, word >> 8);
        let x = inside as f64 * EXPONENTIAL_X[layer];
        if inside < EXPONENTIAL_K[layer] {
            return x;
        }
        if let Some(x) = exponential_outside(bits, layer, x) {
            return x;
        }
    }
}

#[cold]
#[inline(never)]
fn exponential_outside(bits: &mut impl Bits, layer: usize, x: f64) -> Option<f64> {
    if layer == 0 {
        return Some(EXPONENTIAL_TAIL - (-bits.next_f64()).ln_1p());
    }
    let (upper, lower) = (EXPONENTIAL_F[layer - 1], EXPONENTIAL_F[layer]);
    ((upper - lower) * bits.next_f64() + lower < (-x).exp()).then_some(x)
}

/// A standard exponential number in single precision.
#[inline(always)]
pub(super) fn exponential32(bits: &mut impl Bits) -> f32 {
    loop {
        let word = bits.next_u32() >> 1;
        let (layer, inside) = ((word & 0xff) as usize, word >> 8);
        let x = inside as f32 * EXPONENTIAL_X32[layer];
        if inside < EXPONENTIAL_K32[layer] {
            return x;
        }
        if let Some(x) = exponential32_outside(bits, layer, x) {
            return x;
        }
    }
}

#[cold]
#[inline(never)]
fn exponential32_outside(bits: &mut impl Bits, layer: usize, x: f32) -> Option<f32> {
    if layer == 0 {
        return Some(EXPONENTIAL_TAIL as f32 - (-bits.next_f32()).ln_1p());
    }
    let (upper, lower) = (EXPONENTIAL_F32[layer - 1], EXPONENTIAL_F32[layer]);
    ((upper - lower) * bits.next_f32() + lower < (-x).exp()).then_some(x)
}
