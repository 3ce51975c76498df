//! `target="parallel"`: the elements of an inner loop on the pool of threads, where their order does not matter.
//!
//! NumPy copies an input that overlaps an output, except where a loop that goes through the elements in order reads
//! each before it is overwritten. `accumulate` even relies on this order: one of its inputs lies an element before its
//! output. So each call looks at its operands, and a loop in which an element writes memory that another element reads
//! or writes stays on one thread.

use crate::ufunc::fp_flags;
use crate::ufunc::inner_loop::Loop;
use lh_driver::Compiled;
use lh_runtime::pool;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// An operand of a loop whose elements are shared out.
pub struct Operand {
    /// Size of an item in bytes.
    pub itemsize: isize,
    /// Extent and stride of every core dimension, by number.
    pub dims: Vec<(usize, usize)>,
    /// Whether the loop writes to it.
    pub is_written: bool,
}

/// The facts that are needed to share the elements out to threads.
pub struct Shared {
    /// All operands.
    pub operands: Vec<Operand>,
    /// Number of core dimensions.
    pub core: usize,
}

/// The bytes of an operand: those of the first element, and their distance to those of the next one.
struct Bytes {
    first: Range<isize>,
    step: isize,
}

impl Bytes {
    /// Whether one of `n` elements has bytes in common with another element of an operand.
    fn meet_others(&self, other: &Bytes, n: isize) -> bool {
        if self.step != other.step || self.step == 0 {
            let (all, theirs) = (self.all(n), other.all(n));
            return all.start < theirs.end && theirs.start < all.end;
        }
        // Element `i` meets element `i + m` if `m` steps are between these distances.
        let step = self.step.abs();
        let (low, high) = (self.first.start - other.first.end, self.first.end - other.first.start);
        let (least, greatest) = (low.div_euclid(step) + 1, (high - 1).div_euclid(step));
        least.max(1 - n) <= greatest.min(n - 1) && (least < 0 || greatest > 0)
    }

    fn all(&self, n: isize) -> Range<isize> {
        let way = self.step.saturating_mul(n - 1);
        self.first.start.saturating_add(way.min(0))..self.first.end.saturating_add(way.max(0))
    }
}

/// The work of a thread.
struct Work<'a> {
    of: &'a Loop,
    shared: &'a Shared,
    code: &'a Compiled,
    args: *const *mut u8,
    dims: *const isize,
    steps: *const isize,
    /// Floating-point exceptions that occurred in any thread.
    flags: AtomicU32,
}

impl Shared {
    /// Whether the elements of a call may be computed in any order.
    ///
    /// # Safety
    /// As NumPy calls inner loops.
    pub unsafe fn may_reorder(&self, args: *const *mut u8, dims: *const isize, steps: *const isize) -> bool {
        // SAFETY: the numbers are within what NumPy passes for the ufunc's signature.
        let bytes = |(k, operand): (usize, &Operand)| unsafe {
            let at = *args.add(k) as isize;
            let mut first = at..at + operand.itemsize;
            for (dim, stride) in &operand.dims {
                let way = *steps.add(*stride) * (*dims.add(*dim) - 1).max(0);
                first = first.start + way.min(0)..first.end + way.max(0);
            }
            Bytes { first, step: *steps.add(k) }
        };
        // SAFETY: there is one extent at least.
        let n = unsafe { *dims };
        let all: SmallVec<[Bytes; 8]> = self.operands.iter().enumerate().map(bytes).collect();
        let written = all.iter().zip(&self.operands).filter(|(_, operand)| operand.is_written);
        n > 1 && written.into_iter().all(|(w, _)| w.step != 0 && !all.iter().any(|other| w.meet_others(other, n)))
    }

    /// Runs the loop on the pool.
    ///
    /// # Safety
    /// As NumPy calls inner loops; the code is one of the loop's, and its elements may be computed in any order.
    pub unsafe fn run(
        &self,
        of: &Loop,
        code: &Compiled,
        (args, dims, steps): (*const *mut u8, *const isize, *const isize),
    ) -> i32 {
        let flags = AtomicU32::new(fp_flags::take());
        let mut work = Work { of, shared: self, code, args, dims, steps, flags };
        // SAFETY: as promised; the body only reads the work, which outlives the call.
        let status = unsafe {
            let size: isize = (1..=self.core).map(|i| (*dims.add(i)).max(1)).product();
            let grain = pool::grain(*dims as i64, size as i64 + 1);
            pool::parallel_for(*dims as i64, grain, body, (&raw mut work).cast())
        };
        fp_flags::set(work.flags.into_inner());
        status
    }
}

unsafe extern "C" fn body(work: *mut c_void, low: i64, high: i64, _thread: i64) -> i32 {
    // SAFETY: the work of `run`, whose operands have so many elements.
    unsafe {
        let w = &*work.cast::<Work<'_>>();
        let at = |k| (*w.args.add(k)).offset(*w.steps.add(k) * low as isize);
        let args: SmallVec<[*mut u8; 16]> = (0..w.shared.operands.len()).map(at).collect();
        let mut dims: SmallVec<[isize; 8]> = (0..=w.shared.core).map(|i| *w.dims.add(i)).collect();
        dims[0] = (high - low) as isize;
        let words = w.of.words(args.as_ptr(), dims.as_ptr(), w.steps);
        fp_flags::take();
        let status = (w.code.entry)(words.as_ptr(), std::ptr::null_mut());
        w.flags.fetch_or(fp_flags::take(), Ordering::Relaxed);
        status
    }
}
