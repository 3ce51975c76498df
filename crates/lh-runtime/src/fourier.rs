//! Fourier transforms of lines of numbers, for compiled code. Threads of the pool share the lines of large arrays.

use crate::interrupt::requested;
use crate::poll::raise_interrupt;
use crate::pool;
use crate::symbol::{Symbol, functions};
use lh_numerics::fourier::{Complex, Real};
use std::ffi::c_void;
use std::slice::from_raw_parts_mut;

/// Numbers that one thread transforms before others help, or before it looks whether Ctrl-C was pressed.
const PIECE: usize = 1 << 15;

/// Lines that threads share.
struct Lines<T> {
    n: usize,
    complex: *mut Complex<T>,
    real: *mut T,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Forward,
    Inverse,
    RealToComplex,
    ComplexToReal,
}

impl<T: Real> Lines<T> {
    /// Transforms the lines from `low` to before `high`: the body of a loop.
    unsafe extern "C" fn part(lines: *mut c_void, low: i64, high: i64, _thread: i64) -> i32 {
        if requested() {
            return raise_interrupt();
        }
        // SAFETY: called with lines, which do not overlap.
        unsafe {
            let Lines { n, complex, real, kind } = *lines.cast::<Lines<T>>();
            let (low, count) = (low as usize, (high - low) as usize);
            let of_complex = |width: usize| from_raw_parts_mut(complex.add(low * width), count * width);
            let of_real = || from_raw_parts_mut(real.add(low * n), count * n);
            match kind {
                Kind::Forward => T::complex(n, of_complex(n), false),
                Kind::Inverse => T::complex(n, of_complex(n), true),
                Kind::RealToComplex => T::forward(n, of_real(), of_complex(n / 2 + 1)),
                Kind::ComplexToReal => T::backward(n, of_complex(n / 2 + 1), of_real()),
            }
        }
        0
    }

    /// Transforms `count` lines; not 0 with an exception pending if Ctrl-C was pressed.
    ///
    /// # Safety
    /// There are as many lines in memory.
    unsafe fn transform(mut self, count: i64) -> i32 {
        if self.n == 0 || count <= 0 {
            return 0;
        }
        let lines = (&raw mut self).cast();
        let grain = PIECE.div_ceil(self.n) as i64;
        // SAFETY: the lines outlive the call, and are disjoint.
        unsafe {
            if grain >= count {
                Self::part(lines, 0, count, 0)
            } else {
                pool::parallel_for(count, grain, Self::part, lines)
            }
        }
    }
}

macro_rules! transforms {
    ($($t:ty: $fft:ident $rfft:ident $irfft:ident;)*) => {$(
        // Length and number of the lines, their address, whether to transform back.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $fft(n: i64, count: i64, data: *mut Complex<$t>, inverse: i64) -> i32 {
            let kind = if inverse != 0 { Kind::Inverse } else { Kind::Forward };
            // SAFETY: compiled code passes an array of its own, of this size, as below.
            unsafe { Lines { n: n as usize, complex: data, real: std::ptr::null_mut(), kind }.transform(count) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $rfft(n: i64, count: i64, real: *mut $t, complex: *mut Complex<$t>) -> i32 {
            // SAFETY: as above.
            unsafe { Lines { n: n as usize, complex, real, kind: Kind::RealToComplex }.transform(count) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $irfft(n: i64, count: i64, real: *mut $t, complex: *mut Complex<$t>) -> i32 {
            // SAFETY: as above.
            unsafe { Lines { n: n as usize, complex, real, kind: Kind::ComplexToReal }.transform(count) }
        }
    )*};
}
transforms! {
    f32: lh_fft_f32 lh_rfft_f32 lh_irfft_f32;
    f64: lh_fft_f64 lh_rfft_f64 lh_irfft_f64;
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _ _ _) lh_fft_f32 lh_fft_f64 lh_rfft_f32 lh_rfft_f64 lh_irfft_f32 lh_irfft_f64;
    }
}
