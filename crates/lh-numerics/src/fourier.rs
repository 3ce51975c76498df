//! Fourier transforms of lines of numbers, by rustfft and realfft.
//!
//! Nothing is divided by the length. The plan of a length is made once in each thread, and kept.

use realfft::{FftNum, RealFftPlanner};
pub use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};
use std::cell::RefCell;

/// A plan costs memory: after so many lengths, a thread begins anew.
const PLANS: usize = 64;

/// The planners of a thread.
struct Plans<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    lengths: Vec<usize>,
    /// Memory that transforms work in.
    scratch: Vec<Complex<T>>,
}

impl<T: FftNum> Plans<T> {
    fn new() -> Plans<T> {
        Plans { complex: FftPlanner::new(), real: RealFftPlanner::new(), lengths: Vec::new(), scratch: Vec::new() }
    }
    /// Notes that a length is planned.
    fn note(&mut self, n: usize) {
        if !self.lengths.contains(&n) {
            if self.lengths.len() == PLANS {
                *self = Plans::new();
            }
            self.lengths.push(n);
        }
    }
    /// Memory of at least this length.
    fn scratch(&mut self, len: usize) -> &mut [Complex<T>] {
        if self.scratch.len() < len {
            self.scratch.resize(len, Complex { re: T::zero(), im: T::zero() });
        }
        &mut self.scratch[..len]
    }
}

fn complex<T: FftNum>(plans: &mut Plans<T>, n: usize, lines: &mut [Complex<T>], inverse: bool) {
    plans.note(n);
    let plan = plans.complex.plan_fft(n, if inverse { FftDirection::Inverse } else { FftDirection::Forward });
    let scratch = plans.scratch(plan.get_inplace_scratch_len());
    for line in lines.chunks_exact_mut(n) {
        plan.process_with_scratch(line, scratch);
    }
}

fn forward<T: FftNum>(plans: &mut Plans<T>, n: usize, lines: &mut [T], to: &mut [Complex<T>]) {
    plans.note(n);
    let plan = plans.real.plan_fft_forward(n);
    let scratch = plans.scratch(plan.get_scratch_len());
    for (line, to) in lines.chunks_exact_mut(n).zip(to.chunks_exact_mut(n / 2 + 1)) {
        // The lengths are those of the plan, which is all that can be wrong.
        let _ = plan.process_with_scratch(line, to, scratch);
    }
}

fn backward<T: FftNum>(plans: &mut Plans<T>, n: usize, lines: &mut [Complex<T>], to: &mut [T]) {
    plans.note(n);
    let plan = plans.real.plan_fft_inverse(n);
    let scratch = plans.scratch(plan.get_scratch_len());
    for (line, to) in lines.chunks_exact_mut(n / 2 + 1).zip(to.chunks_exact_mut(n)) {
        // The imaginary parts of the first number, and of the last one of an even length, have no meaning.
        line[0].im = T::zero();
        if n.is_multiple_of(2) {
            line[n / 2].im = T::zero();
        }
        let _ = plan.process_with_scratch(line, to, scratch);
    }
}

/// A type of real numbers with transforms of lines, which have at least one number.
pub trait Real: FftNum {
    /// Transforms lines of `n` complex numbers in place, one after the other.
    fn complex(n: usize, lines: &mut [Complex<Self>], inverse: bool);

    /// Transforms lines of `n` real numbers, which are destroyed, into lines of `n / 2 + 1` complex ones.
    fn forward(n: usize, lines: &mut [Self], to: &mut [Complex<Self>]);

    /// Transforms lines of `n / 2 + 1` complex numbers, which are destroyed, into lines of `n` real ones.
    fn backward(n: usize, lines: &mut [Complex<Self>], to: &mut [Self]);
}

macro_rules! reals {
    ($($t:ty: $plans:ident)*) => {$(
        thread_local! {
            static $plans: RefCell<Plans<$t>> = RefCell::new(Plans::new());
        }
        impl Real for $t {
            fn complex(n: usize, lines: &mut [Complex<$t>], inverse: bool) {
                $plans.with_borrow_mut(|plans| complex(plans, n, lines, inverse));
            }
            fn forward(n: usize, lines: &mut [$t], to: &mut [Complex<$t>]) {
                $plans.with_borrow_mut(|plans| forward(plans, n, lines, to));
            }
            fn backward(n: usize, lines: &mut [Complex<$t>], to: &mut [$t]) {
                $plans.with_borrow_mut(|plans| backward(plans, n, lines, to));
            }
        }
    )*};
}
reals! { f32: OF_F32 f64: OF_F64 }
