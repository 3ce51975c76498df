//! Python's `random` module: what its other functions are made of in the library.

use super::mt19937::{Mark, Mt19937};
use super::numpy::polar;
use super::split::{self, Family};
use crate::classes::{OVERFLOW_ERROR, VALUE_ERROR};
use crate::exception::raise;
use crate::symbol::{Symbol, functions};
use std::cell::UnsafeCell;

struct State {
    bits: Mt19937,
    /// The second value of the last pair from `gauss`.
    spare: Option<f64>,
}

thread_local! {
    static STATE: UnsafeCell<State> = const { UnsafeCell::new(State { bits: Mt19937::new(Family::Python), spare: None }) };
}

#[inline]
fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
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

/// In a forked child the stream begins anew, as CPython's does.
pub(super) fn forget() {
    with(|s| {
        s.bits.forget();
        s.spare = None;
        split::forget(Family::Python);
    });
}

impl State {
    /// Random bits, up to 64.
    fn bits(&mut self, n: u32) -> u64 {
        match n {
            0 => 0,
            1..=32 => u64::from(self.bits.next_u32() >> (32 - n)),
            _ => {
                let low = u64::from(self.bits.next_u32());
                u64::from(self.bits.next_u32() >> (64 - n)) << 32 | low
            }
        }
    }

    /// A standard normal value by the polar method, which is NumPy's and Numba's.
    fn polar(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        let (out, spare) = polar(|| self.bits.next_f64());
        self.spare = Some(spare);
        out
    }

    fn gauss(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        let angle = self.bits.next_f64() * std::f64::consts::TAU;
        let radius = (-2.0 * (1.0 - self.bits.next_f64()).ln()).sqrt();
        self.spare = Some(angle.sin() * radius);
        angle.cos() * radius
    }
}

/// `random.seed(int)`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_seed(seed: i64) {
    let magnitude = seed.unsigned_abs();
    let words = [magnitude as u32, (magnitude >> 32) as u32];
    let used = if words[1] == 0 { 1 } else { 2 };
    with(|s| {
        s.bits.seed_array(&words[..used]);
        s.spare = None;
    });
    split::seeded(Family::Python, magnitude);
}

/// `random.seed(int)` of Numba, which starts the stream as NumPy does.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_seed_word(seed: i64) {
    with(|s| {
        s.bits.seed(seed as u32);
        s.spare = None;
    });
    split::seeded(Family::Python, seed as u64);
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_seed_os() {
    with(|s| {
        s.bits.seed_from_os();
        s.spare = None;
    });
    split::seeded(Family::Python, Mt19937::entropy());
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_stream() -> *mut Mt19937 {
    with(|s| &raw mut s.bits)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_random() -> f64 {
    with(|s| s.bits.next_f64())
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_gauss() -> f64 {
    with(State::gauss)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_polar() -> f64 {
    with(State::polar)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_getrandbits(bits: i64, out: *mut i64) -> i32 {
    match bits {
        ..0 => raise(VALUE_ERROR, "number of bits must be non-negative"),
        64.. => raise(OVERFLOW_ERROR, "Python int too large to convert to C long"),
        bits => {
            // SAFETY: compiled code passes room for the result.
            unsafe { out.write(with(|s| s.bits(bits as u32)) as i64) };
            0
        }
    }
}

/// An integer from 0 to before `n`, as `randrange`, `shuffle`, `choice` and `sample` draw it; 0 if there is none.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_py_randbelow(n: i64) -> i64 {
    let Some(n) = u64::try_from(n).ok().filter(|n| *n > 0) else { return 0 };
    with(|s| {
        loop {
            let x = s.bits(u64::BITS - n.leading_zeros());
            if x < n {
                return x as i64;
            }
        }
    })
}

pub(super) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_py_stream lh_py_seed_os lh_py_random lh_py_gauss lh_py_polar;
        (_) lh_py_seed lh_py_seed_word lh_py_randbelow;
        (_ _) lh_py_getrandbits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::take_pending;

    fn stream<T>(seed: i64, n: usize, mut f: impl FnMut() -> T) -> Vec<T> {
        // SAFETY: takes a number.
        unsafe { lh_py_seed(seed) };
        (0..n).map(|_| f()).collect()
    }

    fn getrandbits(bits: i64) -> i64 {
        let mut out = 0;
        // SAFETY: room for the result.
        assert_eq!(unsafe { lh_py_getrandbits(bits, &mut out) }, 0);
        out
    }

    // The expected values of these tests were printed by CPython.
    #[test]
    fn values() {
        // SAFETY: takes nothing.
        let random = || unsafe { lh_py_random() };
        assert_eq!(stream(0, 3, random), [0.8444218515250481, 0.7579544029403025, 0.420571580830845]);
        assert_eq!(stream(12345, 3, random), [0.41661987254534116, 0.010169169457068361, 0.8252065092537432]);
        assert_eq!(stream(-7, 3, random), [0.32383276483316237, 0.15084917392450192, 0.6509344730398537]);
        assert_eq!(stream(1099511627779, 3, random), [0.21978710637116716, 0.5494687768352203, 0.09461190973523603]);
        // SAFETY: takes nothing.
        let gauss = || unsafe { lh_py_gauss() };
        assert_eq!(
            stream(1, 4, gauss),
            [1.2881847531554629, 1.449445608699771, 0.06633580893826191, -0.7645436509716318]
        );
    }

    #[test]
    fn integers() {
        assert_eq!(stream(2, 4, || getrandbits(1)), [1, 1, 1, 1]);
        assert_eq!(stream(2, 4, || getrandbits(5)), [30, 27, 30, 27]);
        assert_eq!(stream(2, 4, || getrandbits(31)), [2053067961, 1853513164, 2035444029, 1823332324]);
        assert_eq!(stream(2, 4, || getrandbits(32)), [4106135923, 3707026329, 4070888059, 3646664648]);
        assert_eq!(stream(2, 4, || getrandbits(33)), [8401103219, 8365855355, 242886303, 364522461]);
        assert_eq!(
            stream(2, 4, || getrandbits(63)),
            [7960778426191620467, 7831152705390563963, 844720600218478239, 3330167399431941085]
        );
        // SAFETY: takes a number.
        let below = |n| unsafe { lh_py_randbelow(n) };
        assert_eq!(stream(4, 5, || below(1)), [0, 0, 0, 0, 0]);
        assert_eq!(stream(4, 5, || below(10)), [3, 4, 1, 6, 7]);
        assert_eq!(stream(4, 5, || below(2147483648)), [1013818839, 1302657532, 443094727, 1701057193, 2056767043]);
        assert_eq!(
            stream(4, 5, || below(1099511627777)),
            [666733749719, 1053968044713, 198234096474, 43235353137, 639597746697]
        );
        assert_eq!(below(0), 0);
    }

    #[test]
    fn refusals() {
        // SAFETY: room for the result.
        unsafe {
            assert_eq!(lh_py_getrandbits(-1, &mut 0), 1);
            assert_eq!(take_pending().unwrap().class, VALUE_ERROR);
            assert_eq!(lh_py_getrandbits(64, &mut 0), 1);
            assert_eq!(take_pending().unwrap().class, OVERFLOW_ERROR);
        }
    }
}
