//! The hypotenuse and the cube root of `f32`; see [`root`](super::root).

use super::bits::{fmaf, horner};
use super::float::is_plain;
use super::{short, single};

/// `sqrt(z)` and half of its inverse, to some 15 bits, for `z` positive and normal; zero and something finite for zero.
#[inline(always)]
fn roots(z: f32) -> (f32, f32) {
    let r = f32::from_bits(0x5f25_b9feu32.wrapping_sub(z.to_bits() >> 1));
    let h = z * r;
    let p = horner!(fmaf, fmaf(-h, r, 1.0), [1.00168109, 0.467164278, 0.57292527]);
    (h * p, 0.5 * r * p)
}

/// `sqrt(z)` and what it lacks for `sqrt(z + rest)`, for the same.
#[inline(always)]
pub fn root(z: f32, rest: f32) -> (f32, f32) {
    let (h, half) = roots(z);
    let h = fmaf(fmaf(-h, h, z), half, h);
    (h, fmaf(fmaf(-h, h, z), half, rest * half))
}

#[inline(always)]
pub fn hypot(x: f32, y: f32) -> f32 {
    if !cfg!(lh_fma) {
        return short::hypot(x, y);
    }
    let p = x * x;
    let s = fmaf(y, y, p);
    let (h, half) = roots(s);
    let result = fmaf(fmaf(-h, h, s) + fmaf(x, x, -p), half, h);
    // From 2^-70 to 2^120: neither overflow nor underflow, even of what is lost.
    let plain = s.to_bits().wrapping_sub(57 << 23) < 190 << 23;
    if plain { result } else { super::lh_hypotf_rare(x, y) }
}

#[inline(always)]
pub fn cbrt(x: f32) -> f32 {
    if !cfg!(lh_fma) {
        return single::cbrt(x);
    }
    let a = x.abs();
    let guess = fmaf((a.to_bits() >> 9) as i32 as f32, -1.0 / 3.0, 8388608.0 + 2_770_994.0);
    let r = f32::from_bits(guess.to_bits() << 9);
    let d = fmaf(-a * r, r * r, 1.0);
    let r = r * horner!(fmaf, d, [1.00479186, 0.276349515, 0.428331703]);
    let square = r * r;
    let y = a * square;
    let y = fmaf(y, fmaf(-y, r, 1.0) * 0.6666667, y);
    let p = y * y;
    let left = fmaf(-p, y, a) - fmaf(y, y, -p) * y;
    let y = fmaf(left, square * 0.33333334, y).copysign(x);
    if is_plain(a) { y } else { super::lh_cbrtf_rare(x) }
}
