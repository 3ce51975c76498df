//! Neighbours of a float, and its products with powers of two: for GPUs, as CPUs have the C library's.

exports! {
    lh_gpu_nextafter(x: f64, y: f64) -> f64 = nextafter;
    lh_gpu_nextafterf(x: f32, y: f32) -> f32 = nextafterf;
    lh_gpu_ldexp(x: f64, n: i32) -> f64 = ldexp;
}

macro_rules! neighbour {
    ($name:ident, $float:ident) => {
        #[inline(always)]
        pub fn $name(x: $float, to: $float) -> $float {
            if x.is_nan() || to.is_nan() {
                return x + to;
            }
            if x == to {
                return to;
            }
            if x == 0.0 {
                return $float::from_bits(1).copysign(to);
            }
            let away = (to > x) == (x > 0.0);
            $float::from_bits(if away { x.to_bits() + 1 } else { x.to_bits() - 1 })
        }
    };
}

neighbour!(nextafter, f64);

neighbour!(nextafterf, f32);

/// Two to a power from -1022 to 1023.
#[inline(always)]
fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// In three steps, of which only the last rounds.
#[inline(always)]
pub fn ldexp(x: f64, n: i32) -> f64 {
    // Where it takes several, what is less than 2^-53 after the first is nothing after the last.
    let step = |n: i32| match n {
        ..-1022 => -969,
        -1022..=1023 => n,
        _ => 1023,
    };
    let n = match n {
        ..-2200 => -2200,
        -2200..=3069 => n,
        _ => 3069,
    };
    let (a, b) = (step(n), step(n - step(n)));
    x * power(a) * power(b) * power(n - a - b)
}
