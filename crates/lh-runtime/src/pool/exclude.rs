//! Tests before a parallel loop that its iterations do not meet, which only the values of a call show, and the warning
//! of a loop that runs in order because they do.

use super::settings::threads;
use crate::strings::value::text;
use crate::symbol::{Symbol, functions};
use crate::text::Text;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The marks of indices that have been seen may take so many bytes for each iteration.
const BYTES: i64 = 64;

/// The time that a test takes for an iteration, roughly, in nanoseconds.
const TEST: i64 = 3;

/// Warns of a loop: file, a packed `Span`, what a test has found. It leaves an exception pending if that is an error.
pub type Warner = fn(&Text, i64, &Text) -> Result<(), ()>;

static WARNER: OnceLock<Warner> = OnceLock::new();

/// Sets who warns.
pub fn set_warner(warner: Warner) {
    WARNER.get_or_init(|| warner);
}

/// Loops whose iterations met, which have been told: by the addresses of texts, which are parts of compiled code, and
/// places in the program.
static TOLD: Mutex<BTreeSet<(usize, i64)>> = Mutex::new(BTreeSet::new());

/// Forgets what code has told that is unloaded: other code may have its addresses.
pub fn forget_told(code: Range<usize>) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.is_empty() {
        told.retain(|(text, _)| !code.contains(text));
    }
}

/// Integers of a type at equal distances in memory.
#[derive(Clone, Copy)]
struct Column {
    first: *const u8,
    step: i64,
    /// Size in bits, negative without a sign.
    bits: i64,
    /// This is added to each.
    offset: i64,
}

/// An integer in memory.
trait Item: Copy + TryInto<i64> {}
impl<T: Copy + TryInto<i64>> Item for T {}

impl Column {
    /// An integer, and the sum with the offset; `None` if one of them does not fit.
    ///
    /// # Safety
    /// There are more than `i` integers of this type.
    unsafe fn at<T: Item>(self, i: i64) -> Option<(i64, i64)> {
        let p = self.first.wrapping_offset((i * self.step) as isize).cast::<T>();
        // SAFETY: by the contract; records and views may have unaligned fields.
        let value = unsafe { p.read_unaligned() }.try_into().ok()?;
        Some((value, value.checked_add(self.offset)?))
    }

    /// As [`Column::at`], for integers of any type.
    ///
    /// # Safety
    /// There are more than `i` integers.
    unsafe fn any_at(self, i: i64) -> Option<(i64, i64)> {
        // SAFETY: the same contract.
        unsafe {
            match self.bits {
                8 => self.at::<i8>(i),
                16 => self.at::<i16>(i),
                32 => self.at::<i32>(i),
                64 => self.at::<i64>(i),
                -8 => self.at::<u8>(i),
                -16 => self.at::<u16>(i),
                -32 => self.at::<u32>(i),
                _ => self.at::<u64>(i),
            }
        }
    }
}

/// Whether the first `n` integers are different indices of an axis of `extent` items.
///
/// # Safety
/// There are so many integers.
unsafe fn are_distinct(all: Column, n: i64, extent: i64, counts_back: bool) -> bool {
    if n > extent || extent > n.saturating_mul(BYTES) {
        return n <= 0;
    }
    // SAFETY: the same contract.
    unsafe {
        match all.bits {
            8 => are_distinct_of::<i8>(all, n, extent, counts_back),
            16 => are_distinct_of::<i16>(all, n, extent, counts_back),
            32 => are_distinct_of::<i32>(all, n, extent, counts_back),
            64 => are_distinct_of::<i64>(all, n, extent, counts_back),
            -8 => are_distinct_of::<u8>(all, n, extent, counts_back),
            -16 => are_distinct_of::<u16>(all, n, extent, counts_back),
            -32 => are_distinct_of::<u32>(all, n, extent, counts_back),
            _ => are_distinct_of::<u64>(all, n, extent, counts_back),
        }
    }
}

/// # Safety
/// There are `n` integers of this type.
unsafe fn are_distinct_of<T: Item>(all: Column, n: i64, extent: i64, counts_back: bool) -> bool {
    // Stores wait for nothing, as tests of each index would; the marks are counted afterwards.
    let mut seen = vec![0u8; extent as usize];
    for i in 0..n {
        // SAFETY: the contract.
        let Some((value, mut index)) = (unsafe { all.at::<T>(i) }) else { return false };
        if index < 0 && counts_back {
            index += extent;
        } else if value < 0 {
            return false;
        }
        match usize::try_from(index).ok().and_then(|index| seen.get_mut(index)) {
            Some(mark) => *mark = 1,
            None => return false,
        }
    }
    // Sums of 255 bytes fit a byte.
    let marks: u64 = seen.chunks(255).map(|part| u64::from(part.iter().sum::<u8>())).sum();
    marks == n.unsigned_abs()
}

/// Whether each of `n` intervals that is not empty begins where one before has ended, or later.
unsafe fn are_in_turn(begin: Column, end: Column, n: i64) -> bool {
    let mut free = 0;
    for i in 0..n {
        // SAFETY: the caller's contract.
        let (Some((low, from)), Some((high, to))) = (unsafe { (begin.any_at(i), end.any_at(i)) }) else { return false };
        if low.min(from) < 0 || high.min(to) < 0 {
            return false;
        }
        if from < to {
            if from < free {
                return false;
            }
            free = to;
        }
    }
    true
}

/// # Safety
/// There are `n` integers.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_distinct(
    first: *const u8,
    step: i64,
    bits: i64,
    n: i64,
    offset: i64,
    extent: i64,
    counts_back: i64,
) -> u8 {
    // SAFETY: the same contract.
    u8::from(unsafe { are_distinct(Column { first, step, bits, offset }, n, extent, counts_back != 0) })
}

/// # Safety
/// There are `n` integers of both kinds.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_in_turn(
    first: *const u8,
    step: i64,
    bits: i64,
    offset: i64,
    end_first: *const u8,
    end_step: i64,
    end_bits: i64,
    end_offset: i64,
    n: i64,
) -> u8 {
    let begin = Column { first, step, bits, offset };
    let end = Column { first: end_first, step: end_step, bits: end_bits, offset: end_offset };
    // SAFETY: the same contract.
    u8::from(unsafe { are_in_turn(begin, end, n) })
}

/// Whether threads save more than a test takes; a cost of 0 may be any.
fn is_worth_a_test(cost: i64, threads: i64) -> bool {
    threads > 1 && (cost <= 0 || cost.saturating_mul(threads - 1) >= TEST * threads)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_tested(n: i64, grain: i64, cost: i64) -> i64 {
    if is_worth_a_test(cost, threads() as i64) { grain } else { n.saturating_add(1) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_beside(distance: i64, every: i64, size: i64, other: i64) -> u8 {
    if every <= 0 {
        return u8::from(distance >= size || -distance >= other);
    }
    let apart = distance.rem_euclid(every);
    u8::from(apart >= size && every - apart >= other)
}

/// # Safety
/// Both are live texts.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn lh_parallel_ordered(
    _owner: *const c_void,
    file: *const u8,
    file_len: i64,
    span: i64,
    _text_owner: *const c_void,
    what: *const u8,
    len: i64,
) -> i32 {
    // SAFETY: the contract.
    let (file, what) = unsafe { (text(file, file_len), text(what, len)) };
    let key = (what.as_bytes().as_ptr().addr(), span);
    let told = || TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told().insert(key) {
        return 0;
    }
    let failed = WARNER.get().is_some_and(|warn| warn(file, span, what).is_err());
    if failed {
        // Where the warning is an error, the next call raises it again.
        told().remove(&key);
    }
    i32::from(failed)
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_ _) lh_gcd;
        (_ _ _) lh_parallel_tested;
        (_ _ _ _) lh_parallel_beside;
        (_ _ _ _ _ _ _) lh_parallel_distinct lh_parallel_ordered;
        (_ _ _ _ _ _ _ _ _) lh_parallel_in_turn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(all: &[i64], extent: i64, counts_back: bool) -> bool {
        let all_of = Column { first: all.as_ptr().cast(), step: 8, bits: 64, offset: 0 };
        // SAFETY: so many integers are there.
        unsafe { are_distinct(all_of, all.len() as i64, extent, counts_back) }
    }

    #[test]
    fn indices_that_count_from_the_end_are_those_that_count_from_the_start() {
        assert!(distinct(&[2, 0, 1], 3, true));
        assert!(distinct(&[2, 0, -2], 3, true));
        assert!(!distinct(&[2, 0, -1], 3, true));
        assert!(!distinct(&[2, 0, -2], 3, false));
        assert!(!distinct(&[2, 0, 3], 3, true));
        assert!(!distinct(&[1, 1], 9, true));
        assert!(distinct(&[], 0, true));
    }

    #[test]
    fn intervals_may_be_empty_anywhere() {
        let in_turn = |begin: &[u16], end: &[u16]| {
            let of = |all: &[u16]| Column { first: all.as_ptr().cast(), step: 2, bits: -16, offset: 0 };
            // SAFETY: so many integers are there.
            unsafe { are_in_turn(of(begin), of(end), begin.len() as i64) }
        };
        assert!(in_turn(&[0, 2, 9, 5], &[2, 5, 9, 6]));
        assert!(!in_turn(&[0, 1], &[2, 5]));
        assert!(!in_turn(&[5, 0], &[9, 3]));
    }

    #[test]
    fn a_test_must_pay() {
        assert!(is_worth_a_test(0, 2) && is_worth_a_test(10, 2) && is_worth_a_test(4, 16));
        assert!(!is_worth_a_test(10, 1) && !is_worth_a_test(2, 16) && !is_worth_a_test(4, 2));
    }

    #[test]
    fn columns_of_a_table_lie_beside_each_other() {
        // SAFETY: the functions take any numbers.
        unsafe {
            assert_eq!(lh_gcd(-24, 16), 8);
            assert_eq!(lh_parallel_beside(8, 24, 8, 8), 1);
            assert_eq!(lh_parallel_beside(-16, 24, 8, 8), 1);
            assert_eq!(lh_parallel_beside(4, 24, 8, 8), 0);
            assert_eq!(lh_parallel_beside(16, 24, 8, 16), 0);
        }
    }
}
