//! Functions that compiled code calls to draw: one number, or memory full of them.

use super::bits::{BitGen, Bits, drawing, fill_each, kind as kinds};
use super::integers::{Parts, fill_parts, fill_u32, fill_u64, shuffle, up_to_u32, up_to_u64};
use super::native::here;
use super::ziggurat::{exponential, exponential32, normal, normal32};
use super::{continuous, discrete};
use crate::random::distributions::{Binomial, Poisson};
use crate::symbol::{Symbol, functions};

/// The `n` values at `out` as a slice.
///
/// # Safety
/// `out` has room for `n` values, which nobody else uses meanwhile.
unsafe fn slice<'a, T>(out: *mut T, n: i64) -> &'a mut [T] {
    match usize::try_from(n) {
        // SAFETY: the caller's promise.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts_mut(out, n) },
        _ => &mut [],
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_f64(bits: *mut BitGen, kind: i64) -> f64 {
    drawing!(here(bits, kind), b => b.next_f64())
}
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_normal(bits: *mut BitGen, kind: i64) -> f64 {
    drawing!(here(bits, kind), b => normal(b))
}
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_exponential(bits: *mut BitGen, kind: i64) -> f64 {
    drawing!(here(bits, kind), b => exponential(b))
}
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_raw(bits: *mut BitGen, kind: i64) -> i64 {
    let source = here(bits, kind);
    let word = match source.kind & kinds::MASK {
        // SAFETY: the functions of a bit generator take its state.
        kinds::FOREIGN => unsafe { ((*source.bits).next_raw)((*source.bits).state) },
        kinds::MT19937 => drawing!(source, b => b.next_u32().into()),
        _ => drawing!(source, b => b.next_u64()),
    };
    word as i64
}

/// An integer of so many bits up to a limit.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_up_to(bits: *mut BitGen, kind: i64, most: i64, width: i64) -> i64 {
    drawing!(here(bits, kind), b => match width {
        64 => up_to_u64(b, most as u64) as i64,
        32 => up_to_u32(b, most as u32).into(),
        _ => Parts::default().up_to(b, most as u32, width as u32).into(),
    })
}

/// A number in single precision: 0 uniform, 1 normal, 2 exponential, 3 exponential by inversion, 4 gamma.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_draw32(bits: *mut BitGen, kind: i64, which: i64, a: f32) -> f32 {
    let mut out = [0.0];
    // SAFETY: room for one.
    unsafe { lh_rng_fill32(bits, kind, which, out.as_mut_ptr(), 1, a) };
    out[0]
}

/// A number of a continuous distribution.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_draw(bits: *mut BitGen, kind: i64, which: i64, a: f64, b: f64, c: f64) -> f64 {
    drawing!(here(bits, kind), bits => continuous::draw(bits, which, [a, b, c]))
}

/// A number of a discrete distribution.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_count(
    bits: *mut BitGen,
    kind: i64,
    which: i64,
    a: f64,
    b: f64,
    x: i64,
    y: i64,
    z: i64,
) -> i64 {
    let of = discrete::Parameters { of: [a, b], counts: [x, y, z] };
    drawing!(here(bits, kind), bits => discrete::draw(bits, which, of))
}

/// An exponential number in single precision by inversion, rounded from double precision.
fn inverted32(bits: &mut impl Bits) -> f32 {
    -f64::from(-bits.next_f32()).ln_1p() as f32
}

/// Fills memory with numbers of a continuous distribution; the commonest ones in loops of their own.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_fill(
    bits: *mut BitGen,
    kind: i64,
    which: i64,
    out: *mut f64,
    n: i64,
    a: f64,
    b: f64,
    c: f64,
) {
    // SAFETY: compiled code passes an array of its own.
    let (out, source) = unsafe { (slice(out, n), here(bits, kind)) };
    match which {
        0 => drawing!(source, bits => bits.fill_f64(out)),
        1 => drawing!(source, bits => fill_each(bits, out, normal)),
        2 => drawing!(source, bits => fill_each(bits, out, exponential)),
        3 => drawing!(source, bits => fill_each(bits, out, |b| -(-b.next_f64()).ln_1p())),
        4 => {
            drawing!(source, bits => bits.fill_f64(out));
            out.iter_mut().for_each(|x| *x = a + b * *x);
        }
        5 => drawing!(source, bits => fill_each(bits, out, |x| a + b * normal(x))),
        6 => drawing!(source, bits => fill_each(bits, out, |x| a * exponential(x))),
        7 | 8 if a > 1.0 => {
            let (of, scale) = (continuous::of_shape(a), if which == 8 { b } else { 1.0 });
            drawing!(source, bits => fill_each(bits, out, |x| scale * continuous::gamma_above_one(x, of)))
        }
        9 if a > 1.0 && b > 1.0 => {
            let (first, second) = (continuous::of_shape(a), continuous::of_shape(b));
            drawing!(source, bits => fill_each(bits, out, |x| {
                let y = continuous::gamma_above_one(x, first);
                y / (y + continuous::gamma_above_one(x, second))
            }));
        }
        _ => drawing!(source, bits => out.iter_mut().for_each(|x| *x = continuous::draw(bits, which, [a, b, c]))),
    }
}

/// The same in single precision.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_fill32(bits: *mut BitGen, kind: i64, which: i64, out: *mut f32, n: i64, a: f32) {
    // SAFETY: compiled code passes an array of its own.
    let (out, source) = unsafe { (slice(out, n), here(bits, kind)) };
    match which {
        0 => drawing!(source, bits => bits.fill_f32(out)),
        1 => drawing!(source, bits => out.iter_mut().for_each(|x| *x = normal32(bits))),
        2 => drawing!(source, bits => out.iter_mut().for_each(|x| *x = exponential32(bits))),
        3 => drawing!(source, bits => out.iter_mut().for_each(|x| *x = inverted32(bits))),
        _ => drawing!(source, bits => out.iter_mut().for_each(|x| *x = continuous::gamma32(bits, a))),
    }
}

/// Fills memory with numbers of a discrete distribution.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_counts(
    bits: *mut BitGen,
    kind: i64,
    which: i64,
    out: *mut i64,
    n: i64,
    a: f64,
    b: f64,
    x: i64,
    y: i64,
    z: i64,
) {
    // SAFETY: compiled code passes an array of its own.
    let (out, source) = unsafe { (slice(out, n), here(bits, kind)) };
    let of = discrete::Parameters { of: [a, b], counts: [x, y, z] };
    match which {
        discrete::POISSON => {
            let poisson = Poisson::new(a);
            drawing!(source, bits => out.iter_mut().for_each(|x| *x = poisson.draw(bits)));
        }
        discrete::BINOMIAL => {
            let binomial = Binomial::new(x, b).for_many();
            drawing!(source, bits => out.iter_mut().for_each(|x| *x = binomial.draw(bits)));
        }
        _ => drawing!(source, bits => out.iter_mut().for_each(|x| *x = discrete::draw(bits, which, of))),
    }
}

/// Fills memory with integers of so many bits from an offset on, up to a limit above it.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_integers(
    bits: *mut BitGen,
    kind: i64,
    out: *mut u8,
    n: i64,
    low: i64,
    most: i64,
    width: i64,
) {
    let source = here(bits, kind);
    let count = |of: i64| if width == of { n } else { 0 };
    // SAFETY: compiled code passes an array of its own, of items of that width: the other slices are empty.
    let (words, ints, shorts, bytes) = unsafe {
        let narrow = if width < 16 { n } else { 0 };
        (
            slice(out.cast::<u64>(), count(64)),
            slice(out.cast::<u32>(), count(32)),
            slice(out.cast::<u16>(), count(16)),
            slice(out, narrow),
        )
    };
    match width {
        64 => {
            let (low, most) = (low as u64, most as u64);
            drawing!(source, b => fill_u64(b, words, most, |x| low.wrapping_add(x)));
        }
        32 => {
            let (low, most) = (low as u32, most as u32);
            drawing!(source, b => fill_u32(b, ints, most, |x| low.wrapping_add(x)));
        }
        16 => drawing!(source, b => fill_parts(b, shorts, most as u32, 16, |x| (low as u16).wrapping_add(x as u16))),
        _ => drawing!(source, b => {
            fill_parts(b, bytes, most as u32, width as u32, |x| (low as u8).wrapping_add(x as u8));
        }),
    }
}

/// Puts items of a size in random order: address, number, the first that takes part, size, distance in bytes.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_shuffle(
    bits: *mut BitGen,
    kind: i64,
    data: *mut u8,
    n: i64,
    first: i64,
    size: i64,
    stride: i64,
) {
    let (n, first, stride) = (n.max(0) as usize, first as usize, stride as isize);
    // SAFETY: compiled code passes an array of its own.
    drawing!(here(bits, kind), b => match size {
        1 => shuffle::<u8>(b, data, n, first, stride),
        2 => shuffle::<u16>(b, data, n, first, stride),
        4 => shuffle::<u32>(b, data, n, first, stride),
        8 => shuffle::<u64>(b, data, n, first, stride),
        _ => shuffle::<[u64; 2]>(b, data, n, first, stride),
    });
}

/// The same, with an offset and a limit for each; both are replaced.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_rng_integers_each(
    bits: *mut BitGen,
    kind: i64,
    values: *mut i64,
    limits: *const i64,
    n: i64,
    width: i64,
) {
    // SAFETY: compiled code passes two arrays of that size.
    let (values, limits) = unsafe { (slice(values, n), slice(limits.cast_mut(), n)) };
    let (source, mut parts) = (here(bits, kind), Parts::default());
    drawing!(source, b => for (x, most) in values.iter_mut().zip(limits) {
        let drawn = match width {
            64 => up_to_u64(b, *most as u64) as i64,
            32 => up_to_u32(b, *most as u32).into(),
            _ => parts.up_to(b, *most as u32, width as u32).into(),
        };
        *x = x.wrapping_add(drawn);
    });
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_rng_f64 lh_rng_normal lh_rng_exponential lh_rng_raw;
        (_ _ _ _) lh_rng_up_to lh_rng_draw32;
        (_ _ _ _ _ _) lh_rng_draw lh_rng_fill32 lh_rng_integers_each;
        (_ _ _ _ _ _ _) lh_rng_integers lh_rng_shuffle;
        (_ _ _ _ _ _ _ _) lh_rng_count lh_rng_fill;
        (_ _ _ _ _ _ _ _ _ _) lh_rng_counts;
    }
}
