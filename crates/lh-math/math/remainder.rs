//! The remainder of a truncated quotient, exact.

exports! {
    lh_fmod(x: f64, y: f64) -> f64 = fmod;
    lh_fmodf(x: f32, y: f32) -> f32 = fmodf;
}

/// Bits of a quotient that one round takes away.
const BITS: i64 = 52;

/// Exponent of a positive finite number.
#[inline(always)]
fn exponent(x: f64) -> i64 {
    let raw = |x: f64| (x.to_bits() >> 52) as i64;
    if x < f64::MIN_POSITIVE { raw(x * 18014398509481984.0) - 54 } else { raw(x) }
}

/// `2^k` for `0 <= k`; a quotient of two doubles has less than 2100 bits, so it takes several of them.
#[inline(always)]
fn scaled(mut y: f64, mut k: i64) -> f64 {
    while k > 1000 {
        y *= 1.0715086071862673e301;
        k -= 1000;
    }
    y * f64::from_bits(((k + 1023) as u64) << 52)
}

/// C's `fmod`. Each round takes from the dividend a multiple of the divisor, times a power of two, which leaves less
/// than that; all of it is exact. Nearly always there is one round.
#[inline(always)]
pub fn fmod(x: f64, y: f64) -> f64 {
    let (mut rest, divisor) = (x.abs(), y.abs());
    if rest.is_nan() | divisor.is_nan() | (rest == f64::INFINITY) | (divisor == 0.0) {
        return f64::NAN;
    }
    while rest >= divisor {
        let excess = exponent(rest) - exponent(divisor) - BITS;
        let step = if excess > 0 { scaled(divisor, excess) } else { divisor };
        let quotient = (rest / step).trunc();
        // Fused on every machine: the product need not be a double, the difference is one.
        rest = quotient.mul_add(-step, rest);
        // The quotient may have been rounded up.
        rest = if rest < 0.0 { rest + step } else { rest };
    }
    rest.copysign(x)
}

/// [`fmod`] of singles: the doubles' is one.
#[inline(always)]
pub fn fmodf(x: f32, y: f32) -> f32 {
    fmod(x as f64, y as f64) as f32
}
