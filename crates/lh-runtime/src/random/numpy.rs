//! `numpy.random`'s legacy functions: uniform, normal and bounded integers.

use super::mt19937::{Mark, Mt19937};
use super::split::{self, Family};
use crate::classes::VALUE_ERROR;
use crate::exception::raise;
use crate::symbol::{Symbol, functions};
use std::cell::UnsafeCell;

/// The legacy generator of a thread.
pub(crate) struct State {
    pub bits: Mt19937,
    /// The second value of the last pair of normal values.
    spare: Option<f64>,
    /// Whether the program has given a seed.
    is_seeded: bool,
}

thread_local! {
    static STATE: UnsafeCell<State> = const {
        UnsafeCell::new(State { bits: Mt19937::new(Family::Numpy), spare: None, is_seeded: false })
    };
}

/// Works on the thread's generator. `f` must not call this function.
#[inline]
pub(super) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    // SAFETY: the state belongs to this thread, whose end it outlives, and `f`, one of the few below, does not come
    // back here: there is one reference at a time.
    f(unsafe { &mut *STATE.with(UnsafeCell::get) })
}

/// Leaves the thread's stream to a block of a parallel loop.
pub(super) fn mark() -> Mark {
    with(|s| {
        let spare = s.spare.take();
        s.bits.mark(spare)
    })
}

/// Gives the thread its own stream back.
pub(super) fn unmark(aside: Option<Box<Mt19937>>, mark: Mark) {
    with(|s| {
        s.bits.unmark(aside, mark);
        s.spare = mark.spare;
    });
}

/// In a forked child a stream that nobody has seeded begins anew.
pub(super) fn forget() {
    with(|s| {
        if !s.is_seeded {
            s.bits.forget();
            s.spare = None;
            split::forget(Family::Numpy);
        }
    });
}

/// Two standard normal values by the polar method, of which the second is kept for the next call.
pub(super) fn polar(mut draw: impl FnMut() -> f64) -> (f64, f64) {
    loop {
        let x1 = 2.0 * draw() - 1.0;
        let x2 = 2.0 * draw() - 1.0;
        let r2 = x1 * x1 + x2 * x2;
        if r2 < 1.0 && r2 != 0.0 {
            let f = (-2.0 * r2.ln() / r2).sqrt();
            return (f * x2, f * x1);
        }
    }
}

impl State {
    #[inline]
    pub fn double(&mut self) -> f64 {
        self.bits.next_f64()
    }

    /// A standard normal value, by the polar method.
    pub fn gauss(&mut self) -> f64 {
        if let Some(x) = self.spare.take() {
            return x;
        }
        let (out, spare) = polar(|| self.double());
        self.spare = Some(spare);
        out
    }

    /// A standard exponential value.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.double()).ln()
    }

    /// An integer from 0 to `max`, both included: random bits under a mask until they fit.
    pub fn interval(&mut self, max: u64) -> u64 {
        if max == 0 {
            return 0;
        }
        let mask = u64::MAX >> max.leading_zeros();
        loop {
            let bits = if max <= u64::from(u32::MAX) { u64::from(self.bits.next_u32()) } else { self.bits.next_u64() };
            if bits & mask <= max {
                return bits & mask;
            }
        }
    }

    fn reset(&mut self, seed: impl FnOnce(&mut Mt19937)) {
        seed(&mut self.bits);
        self.spare = None;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_seed(seed: i64) -> i32 {
    let Ok(seed) = u32::try_from(seed) else { return raise(VALUE_ERROR, "Seed must be between 0 and 2**32 - 1") };
    with(|s| {
        s.reset(|bits| bits.seed(seed));
        s.is_seeded = true;
    });
    split::seeded(Family::Numpy, seed.into());
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_seed_os() {
    with(|s| {
        s.reset(Mt19937::seed_from_os);
        s.is_seeded = false;
    });
    split::seeded(Family::Numpy, Mt19937::entropy());
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_stream() -> *mut Mt19937 {
    with(|s| &raw mut s.bits)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_random_f64() -> f64 {
    with(State::double)
}

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
unsafe extern "C-unwind" fn lh_np_random_fill(out: *mut f64, n: i64) {
    // SAFETY: compiled code passes an array of its own.
    with(|s| s.bits.fill_f64(unsafe { slice(out, n) }));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_gauss() -> f64 {
    with(State::gauss)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_gauss_fill(out: *mut f64, n: i64) {
    // SAFETY: compiled code passes an array of its own.
    with(|s| unsafe { slice(out, n) }.fill_with(|| s.gauss()));
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_exponential() -> f64 {
    with(State::exponential)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_interval(max: i64) -> i64 {
    with(|s| s.interval(max as u64)) as i64
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_randint_fill(out: *mut i64, n: i64, low: i64, high: i64) -> i32 {
    if low >= high {
        return raise(VALUE_ERROR, "low >= high");
    }
    let max = (high as u64).wrapping_sub(low as u64) - 1;
    // SAFETY: compiled code passes an array of its own.
    with(|s| unsafe { slice(out, n) }.fill_with(|| low.wrapping_add(s.interval(max) as i64)));
    0
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_np_randint(low: i64, high: i64, out: *mut i64) -> i32 {
    // SAFETY: compiled code passes room for the result.
    unsafe { lh_np_randint_fill(out, 1, low, high) }
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_np_stream lh_np_seed_os lh_np_random_f64 lh_np_gauss lh_np_exponential;
        (_) lh_np_seed lh_np_interval;
        (_ _) lh_np_random_fill lh_np_gauss_fill;
        (_ _ _) lh_np_randint;
        (_ _ _ _) lh_np_randint_fill;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::exception::take_pending;

    /// Values after `numpy.random.seed(seed)`.
    pub fn stream<T>(seed: i64, n: usize, mut f: impl FnMut() -> T) -> Vec<T> {
        // SAFETY: takes a number.
        assert_eq!(unsafe { lh_np_seed(seed) }, 0);
        (0..n).map(|_| f()).collect()
    }

    fn randint(low: i64, high: i64) -> i64 {
        let mut out = 0;
        // SAFETY: room for the result.
        assert_eq!(unsafe { lh_np_randint(low, high, &mut out) }, 0);
        out
    }

    // The expected values of these tests were printed by NumPy 2.4.
    #[test]
    fn uniform_values() {
        // SAFETY: takes nothing.
        let f = || unsafe { lh_np_random_f64() };
        assert_eq!(stream(0, 4, f), [0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969]);
        assert_eq!(stream(42, 4, f), [0.3745401188473625, 0.9507143064099162, 0.7319939418114051, 0.5986584841970366]);
        assert_eq!(
            stream(4294967295, 4, f),
            [0.0976320289940138, 0.9123828453026218, 0.78903530185164, 0.7800035981134678]
        );
        assert_eq!(stream(1, 2000, f)[1998..], [0.030997959828255817, 0.9467282696079524]);
    }

    #[test]
    fn normal_values() {
        // SAFETY: takes nothing.
        let f = || unsafe { lh_np_gauss() };
        assert_eq!(
            stream(42, 5, f),
            [0.4967141530112327, -0.13826430117118466, 0.6476885381006925, 1.5230298564080254, -0.23415337472333597]
        );
        assert_eq!(stream(7, 4, f), [1.690525703800356, -0.4659373705408328, 0.0328201636785844, 0.40751628299650783]);
        assert_eq!(stream(1, 3000, f)[2998..], [-1.4000228868967703, -1.301066078757485]);
        // SAFETY: takes a number, and an array of that size.
        unsafe {
            assert_eq!(lh_np_seed(3), 0);
            lh_np_gauss();
            assert_eq!(lh_np_seed(3), 0);
            let (first, mut all) = (lh_np_gauss(), [0.0; 5]);
            lh_np_seed(3);
            lh_np_gauss_fill(all.as_mut_ptr(), 5);
            assert_eq!(first, all[0], "seeding forgets the spare value");
        }
    }

    #[test]
    fn exponential_values() {
        // SAFETY: takes nothing.
        let f = || unsafe { lh_np_exponential() };
        assert_eq!(stream(5, 4, f), [0.2510199773226526, 2.0458698788498744, 0.23157796536609507, 2.5085140191043713]);
    }

    #[test]
    fn integers() {
        assert_eq!(stream(9, 5, || randint(0, 10)), [5, 6, 8, 6, 1]);
        assert_eq!(stream(9, 5, || randint(-5, 6)), [0, 1, 3, 1, -4]);
        assert_eq!(stream(9, 5, || randint(0, 4294967296)), [44556670, 1565348188, 2155534974, 2143748597, 2129330102]);
        assert_eq!(stream(9, 5, || randint(0, 4294967295)), [44556670, 1565348188, 2155534974, 2143748597, 2129330102]);
        assert_eq!(
            stream(9, 5, || randint(0, 8589934593)),
            [4352184897, 1700316789, 5650926556, 1606108092, 4157116362]
        );
        assert_eq!(
            stream(9, 5, || randint(i64::MIN, i64::MAX)),
            [-9032002594820763300, 34580184003183093, -77968886344034248, -6754652892777147498, -6601885090657529279]
        );
        assert_eq!(stream(9, 5, || randint(0, 2147483648)), [44556670, 1565348188, 8051326, 2143748597, 2129330102]);
        assert_eq!(stream(9, 5, || randint(100, 1000000)), [516578, 872896, 711394, 459353, 720922]);
        assert_eq!(randint(7, 8), 7);
    }

    #[test]
    fn intervals_as_shuffle_draws_them() {
        let mut x: Vec<i64> = (0..20).collect();
        stream(11, 1, || {
            for i in (1..x.len()).rev() {
                // SAFETY: takes a number.
                x.swap(i, unsafe { lh_np_interval(i as i64) } as usize);
            }
        });
        assert_eq!(x, [3, 5, 10, 6, 14, 19, 15, 9, 18, 4, 11, 0, 8, 2, 7, 1, 12, 13, 17, 16]);
    }

    #[test]
    fn refusals() {
        // SAFETY: takes numbers and room for one.
        unsafe {
            for seed in [-1, 1 << 32] {
                assert_eq!(lh_np_seed(seed), 1);
                assert_eq!(take_pending().unwrap().message().lossy(), "Seed must be between 0 and 2**32 - 1");
            }
            assert_eq!(lh_np_randint(3, 3, &mut 0), 1);
            assert_eq!(take_pending().unwrap().message().lossy(), "low >= high");
        }
    }
}
