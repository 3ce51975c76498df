//! Integers below limits without bias, by multiplication (Lemire, 2019); narrow ones take parts of words of 32 bits.

use super::bits::{BATCH, Bits};
use super::discrete::interval;

/// Up to and including 32 bits.
#[inline(always)]
fn below_u32(bits: &mut impl Bits, most: u32) -> u32 {
    let count = u64::from(most) + 1;
    let mut product = u64::from(bits.next_u32()) * count;
    if (product as u32) < count as u32 {
        let threshold = (u32::MAX - most) % count as u32;
        while (product as u32) < threshold {
            product = u64::from(bits.next_u32()) * count;
        }
    }
    (product >> 32) as u32
}

#[inline(always)]
fn below_u64(bits: &mut impl Bits, most: u64) -> u64 {
    let count = most + 1;
    let mut product = u128::from(bits.next_u64()) * u128::from(count);
    if (product as u64) < count {
        let threshold = (u64::MAX - most) % count;
        while (product as u64) < threshold {
            product = u128::from(bits.next_u64()) * u128::from(count);
        }
    }
    (product >> 64) as u64
}

/// An integer from 0 to a limit, which is included.
#[inline(always)]
pub(super) fn up_to_u64(bits: &mut impl Bits, most: u64) -> u64 {
    const HALF: u64 = u32::MAX as u64;
    match most {
        0 => 0,
        HALF => bits.next_u32().into(),
        u64::MAX => bits.next_u64(),
        1..HALF => below_u32(bits, most as u32).into(),
        _ => below_u64(bits, most),
    }
}

#[inline(always)]
pub(super) fn up_to_u32(bits: &mut impl Bits, most: u32) -> u32 {
    match most {
        0 => 0,
        u32::MAX => bits.next_u32(),
        _ => below_u32(bits, most),
    }
}

/// The rest of a word of 32 bits, of which draws of a call take parts.
#[derive(Default)]
pub(super) struct Parts {
    word: u32,
    left: u32,
}

impl Parts {
    #[inline(always)]
    fn next(&mut self, bits: &mut impl Bits, width: u32) -> u32 {
        if self.left == 0 {
            self.word = bits.next_u32();
            self.left = 32 / width - 1;
        } else {
            self.word >>= width;
            self.left -= 1;
        }
        self.word & ((1 << width) - 1)
    }

    /// An integer from 0 to a limit of 8 or 16 bits, or of one, which is included.
    #[inline(always)]
    pub(super) fn up_to(&mut self, bits: &mut impl Bits, most: u32, width: u32) -> u32 {
        let all = (1 << width) - 1;
        if most == 0 {
            return 0;
        }
        if most == all {
            return self.next(bits, width);
        }
        let count = most + 1;
        let mut product = self.next(bits, width) * count;
        if product & all < count {
            let threshold = (all - most) % count;
            while product & all < threshold {
                product = self.next(bits, width) * count;
            }
        }
        product >> width
    }
}

/// Fills with integers of 8 or 16 bits, or of one, from a least one on: what is rejected is overwritten, which takes
/// no branch.
pub(super) fn fill_parts<T: Copy>(bits: &mut impl Bits, out: &mut [T], most: u32, width: u32, made: impl Fn(u32) -> T) {
    let (all, mut parts) = ((1 << width) - 1, Parts::default());
    if most == 0 || most == all {
        out.iter_mut().for_each(|x| *x = made(parts.up_to(bits, most, width)));
        return;
    }
    let count = most + 1;
    let threshold = (all - most) % count;
    let mut at = 0;
    while at < out.len() {
        let product = parts.next(bits, width) * count;
        out[at] = made(product >> width);
        at += usize::from(product & all >= threshold);
    }
}

/// Fills with integers of 32 bits up to a limit; what is rejected is overwritten, as in `fill_parts`.
pub(super) fn fill_u32<T>(bits: &mut impl Bits, out: &mut [T], most: u32, made: impl Fn(u32) -> T) {
    if most == 0 || most == u32::MAX {
        out.iter_mut().for_each(|x| *x = made(up_to_u32(bits, most)));
        return;
    }
    let (threshold, mut words, mut at) = ((u32::MAX - most) % (most + 1), [0; BATCH], 0);
    while at < out.len() {
        let words = &mut words[..BATCH.min(out.len() - at)];
        bits.fill_u32(words);
        for word in words {
            let product = u64::from(*word) * (u64::from(most) + 1);
            out[at] = made((product >> 32) as u32);
            at += usize::from(product as u32 >= threshold);
        }
    }
}

/// The same of 64 bits.
pub(super) fn fill_u64(bits: &mut impl Bits, out: &mut [u64], most: u64, made: impl Fn(u64) -> u64) {
    const HALF: u64 = u32::MAX as u64;
    match most {
        0 => out.fill(made(0)),
        u64::MAX => {
            bits.fill_u64(out);
            out.iter_mut().for_each(|x| *x = made(*x));
        }
        1..=HALF => fill_u32(bits, out, most as u32, |x| made(x.into())),
        _ => {
            let (threshold, mut words, mut at) = ((u64::MAX - most) % (most + 1), [0; BATCH], 0);
            while at < out.len() {
                let words = &mut words[..BATCH.min(out.len() - at)];
                bits.fill_u64(words);
                for word in words {
                    let product = u128::from(*word) * (u128::from(most) + 1);
                    out[at] = made((product >> 64) as u64);
                    at += usize::from(product as u64 >= threshold);
                }
            }
        }
    }
}

/// Puts the items of one dimension in random order, from the last down to the first one that takes part; as
/// `Generator.shuffle` draws their places.
///
/// # Safety
/// There are `n` items of type `T` at distances of `stride` bytes from `data` on.
pub(super) unsafe fn shuffle<T: Copy>(bits: &mut impl Bits, data: *mut u8, n: usize, first: usize, stride: isize) {
    let at = |i: usize| data.wrapping_offset(i as isize * stride).cast::<T>();
    for i in (first..n).rev() {
        let j = interval(bits, i as u64) as usize;
        // SAFETY: as promised.
        unsafe {
            let (x, y) = (at(i).read_unaligned(), at(j).read_unaligned());
            at(i).write_unaligned(y);
            at(j).write_unaligned(x);
        }
    }
}
