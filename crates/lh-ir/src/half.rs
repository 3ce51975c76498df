//! `float16` in numbers that Rust has: conversions, rounded once.

/// The number of these bits.
pub fn to_f64(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        31 if fraction > 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => fraction * 2f64.powi(-24),
        e => (1024.0 + fraction) * 2f64.powi(e - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// The bits of the nearest `float16`; of two as near, the even one.
pub fn of_f64(x: f64) -> u16 {
    let sign = (x.to_bits() >> 48) as u16 & 0x8000;
    let size = x.abs();
    sign | if size.is_nan() {
        0x7e00
    } else if size >= 65520.0 {
        0x7c00
    } else if size < 2f64.powi(-14) {
        (size * 2f64.powi(24)).round_ties_even() as u16
    } else {
        let exponent = (size.to_bits() >> 52) as i32 - 1023;
        // From 1024 to 2048: what is rounded up to the latter goes to the next exponent by itself.
        let fraction = (size * 2f64.powi(10 - exponent)).round_ties_even() as u16;
        (exponent + 14) as u16 * 1024 + fraction
    }
}

/// A number rounded to a float type of so many bits.
pub fn rounded(x: f64, bits: u32) -> f64 {
    match bits {
        16 => to_f64(of_f64(x)),
        32 => f64::from(x as f32),
        _ => x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_come_back() {
        for bits in 0..=u16::MAX {
            let x = to_f64(bits);
            assert!(x.is_nan() || of_f64(x) == bits, "{bits:#x}");
        }
    }

    #[test]
    fn between_two_numbers() {
        for bits in 0..0x7bffu16 {
            let (a, b) = (to_f64(bits), to_f64(bits + 1));
            let middle = (a + b) / 2.0;
            assert_eq!(of_f64(middle), bits + (bits & 1));
            assert_eq!(of_f64(middle - middle * 1e-12), bits);
            assert_eq!(of_f64(middle + middle * 1e-12), bits + 1);
        }
        assert_eq!(of_f64(65519.99), 0x7bff);
        assert_eq!(of_f64(-65520.0), 0xfc00);
    }
}
