//! Partitions in vector registers: the elements of a register that go to one side are packed in it and stored at once.
//!
//! A slice is partitioned in place. The registers at both of its ends are set aside, so that there is room for what
//! comes: each step reads a block from the side with less room, and writes all of it, some to either side.

use crate::long_sort::PIECE;
use std::arch::is_x86_feature_detected as has;
use std::arch::x86_64::*;

/// Registers of a block: as many are read before one is written.
const BLOCK: usize = 8;

/// The most elements of the ends of a slice, and of one that goes through a buffer.
const ENDS: usize = 3 * BLOCK * 8;

/// Elements that vectors partition.
pub(super) trait Item: Copy + PartialOrd {
    /// Whether this processor has the vectors.
    fn has_vectors() -> bool;
    /// Moves the elements before a pivot, or not after it, to the front; how many there are, or `None` if it ended
    /// early.
    ///
    /// # Safety
    /// There are vectors, and comparisons order all elements by the pivot.
    unsafe fn part(items: &mut [Self], pivot: Self, or_equal: bool, stop: fn() -> bool) -> Option<usize>;
    /// Copies the elements that are not before `low`, nor after `high`; how many there are, and how many are before
    /// `low`.
    ///
    /// # Safety
    /// There are vectors, comparisons order all elements by the bounds, and `to` has room for all elements.
    unsafe fn enclosed(items: &[Self], low: Option<Self>, high: Option<Self>, to: *mut Self) -> (usize, usize);
}

/// A register. There are values of it only on processors that have its instructions.
trait Vector: Copy {
    type Item: Item;
    const LANES: usize;
    /// # Safety
    /// The processor has the instructions.
    unsafe fn splat(item: Self::Item) -> Self;
    /// # Safety
    /// The processor has the instructions, and a register can be read there.
    unsafe fn load(from: *const Self::Item) -> Self;
    /// # Safety
    /// A register can be written there.
    unsafe fn store(self, to: *mut Self::Item);
    /// The lanes that are before those of another one.
    fn before(self, other: Self) -> u32;
    /// The lanes that are not after those of another one.
    fn not_after(self, other: Self) -> u32;
    /// The lanes of a mask, then the others.
    fn parted(self, mask: u32) -> Self;
}

/// By mask: the words of the lanes in it, each of `WORDS` words, then those of the others.
const fn orders<const N: usize, const WORDS: usize>() -> [[i32; 8]; N] {
    let (mut all, mut mask) = ([[0; 8]; N], 0);
    while mask < N {
        let (mut lane, mut left, mut right) = (0, 0, mask.count_ones() as usize);
        while lane * WORDS < 8 {
            let place = if mask >> lane & 1 == 1 { &mut left } else { &mut right };
            let mut word = 0;
            while word < WORDS {
                all[mask][*place * WORDS + word] = (lane * WORDS + word) as i32;
                word += 1;
            }
            *place += 1;
            lane += 1;
        }
        mask += 1;
    }
    all
}
static OF_FOUR: [[i32; 8]; 16] = orders::<16, 2>();
static OF_EIGHT: [[i32; 8]; 256] = orders::<256, 1>();

macro_rules! vectors {
    ($($name:ident: $item:ident, $lanes:literal $orders:ident, $splat:expr, $mask:expr,
       |$a:ident, $b:ident| $less:expr, $greater:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name(__m256i);
        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn splat(item: $item) -> $name {
                // SAFETY: the caller's promise.
                unsafe { $name($splat(item)) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $item) -> $name {
                // SAFETY: the caller's promise.
                unsafe { $name(_mm256_loadu_si256(from.cast())) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $item) {
                // SAFETY: the caller's promise.
                unsafe { _mm256_storeu_si256(to.cast(), self.0) }
            }
            #[inline(always)]
            fn before(self, other: $name) -> u32 {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: there are values, so there are instructions.
                unsafe { $mask($less) as u32 }
            }
            #[inline(always)]
            fn not_after(self, other: $name) -> u32 {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: as above.
                unsafe { $mask($greater) as u32 ^ ((1 << $lanes) - 1) }
            }
            #[inline(always)]
            fn parted(self, mask: u32) -> $name {
                let order = &$orders[mask as usize % $orders.len()];
                // SAFETY: as above; the array has the size of a register.
                unsafe { $name(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256(order.as_ptr().cast()))) }
            }
        }
    )*};
}
vectors! {
    I32: i32, 8 OF_EIGHT, _mm256_set1_epi32, mask_of_eight, |a, b| _mm256_cmpgt_epi32(b, a), _mm256_cmpgt_epi32(a, b);
    U32: u32, 8 OF_EIGHT, |x: u32| _mm256_set1_epi32(x as i32), mask_of_eight,
        |a, b| _mm256_cmpgt_epi32(flipped_u32(b), flipped_u32(a)), _mm256_cmpgt_epi32(flipped_u32(a), flipped_u32(b));
    F32: f32, 8 OF_EIGHT, |x: f32| _mm256_castps_si256(_mm256_set1_ps(x)), mask_of_eight,
        |a, b| compared_f32::<_CMP_LT_OQ>(a, b), compared_f32::<_CMP_NLE_UQ>(a, b);
    I64: i64, 4 OF_FOUR, _mm256_set1_epi64x, mask_of_four, |a, b| _mm256_cmpgt_epi64(b, a), _mm256_cmpgt_epi64(a, b);
    U64: u64, 4 OF_FOUR, |x: u64| _mm256_set1_epi64x(x as i64), mask_of_four,
        |a, b| _mm256_cmpgt_epi64(flipped_u64(b), flipped_u64(a)), _mm256_cmpgt_epi64(flipped_u64(a), flipped_u64(b));
    F64: f64, 4 OF_FOUR, |x: f64| _mm256_castpd_si256(_mm256_set1_pd(x)), mask_of_four,
        |a, b| compared_f64::<_CMP_LT_OQ>(a, b), compared_f64::<_CMP_NLE_UQ>(a, b);
}

macro_rules! functions {
    ($($name:ident $(<const $parameter:ident>)? ($($x:ident: $ty:ty),*) -> $ret:ty { $body:expr })*) => {$(
        #[inline(always)]
        unsafe fn $name$(<const $parameter: i32>)?($($x: $ty),*) -> $ret {
            // SAFETY: the caller has a vector.
            unsafe { $body }
        }
    )*};
}
functions! {
    mask_of_eight(x: __m256i) -> i32 { _mm256_movemask_ps(_mm256_castsi256_ps(x)) }
    mask_of_four(x: __m256i) -> i32 { _mm256_movemask_pd(_mm256_castsi256_pd(x)) }
    // Unsigned numbers are in order as signed ones of the other sign.
    flipped_u32(x: __m256i) -> __m256i { _mm256_xor_si256(x, _mm256_set1_epi32(i32::MIN)) }
    flipped_u64(x: __m256i) -> __m256i { _mm256_xor_si256(x, _mm256_set1_epi64x(i64::MIN)) }
    compared_f32<const HOW>(a: __m256i, b: __m256i) -> __m256i {
        _mm256_castps_si256(_mm256_cmp_ps::<HOW>(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)))
    }
    compared_f64<const HOW>(a: __m256i, b: __m256i) -> __m256i {
        _mm256_castpd_si256(_mm256_cmp_pd::<HOW>(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)))
    }
}

/// The parts of a slice while it is partitioned: what is before `left` and from `right` on is in place.
struct Sides<T> {
    at: *mut T,
    left: usize,
    right: usize,
}

impl<T: Item> Sides<T> {
    /// Stores a register at both sides, where its elements belong.
    ///
    /// # Safety
    /// There is room for a register at either side.
    #[inline(always)]
    unsafe fn put<V: Vector<Item = T>, const OR_EQUAL: bool>(&mut self, v: V, pivot: V) {
        let mask = if OR_EQUAL { v.not_after(pivot) } else { v.before(pivot) };
        let number = mask.count_ones() as usize;
        let v = v.parted(mask);
        // SAFETY: the caller's promise. Stores beyond the elements of a side go to spare room.
        unsafe {
            v.store(self.at.add(self.left));
            v.store(self.at.add(self.right - V::LANES));
        }
        self.left += number;
        self.right -= V::LANES - number;
    }

    /// Stores elements from elsewhere, for which there is just room.
    #[inline(always)]
    fn put_all<V: Vector<Item = T>, const OR_EQUAL: bool>(&mut self, items: &[T], pivot: V, item: T) {
        assert!(items.len() == self.right - self.left, "there is room for others");
        let mut rest = items;
        while rest.len() >= 2 * V::LANES {
            // SAFETY: these elements are there, and there is room for as many as remain.
            unsafe { self.put::<V, OR_EQUAL>(V::load(rest.as_ptr()), pivot) };
            rest = &rest[V::LANES..];
        }
        for x in rest {
            let is_left = if OR_EQUAL { *x <= item } else { *x < item };
            self.right -= usize::from(!is_left);
            // SAFETY: one place of the room is left for each element.
            unsafe { self.at.add(if is_left { self.left } else { self.right }).write(*x) };
            self.left += usize::from(is_left);
        }
    }
}

/// Moves the elements before a pivot, or not after it, to the front; how many there are, or `None` if it ended early.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn part<V: Vector, const OR_EQUAL: bool>(
    items: &mut [V::Item],
    item: V::Item,
    stop: fn() -> bool,
) -> Option<usize> {
    let (n, block) = (items.len(), BLOCK * V::LANES);
    let mut memory = [const { std::mem::MaybeUninit::<V::Item>::uninit() }; ENDS];
    let buffer = memory.as_mut_ptr().cast::<V::Item>();
    let mut sides = Sides { at: items.as_mut_ptr(), left: 0, right: n };
    // SAFETY: the caller's promise.
    let pivot = unsafe { V::splat(item) };
    // Whole blocks remain between the ends.
    let (mut from, mut to) = if n < 3 * block { (n, n) } else { (block + n % block, n - block) };
    // SAFETY: there is room for the ends, which are at most three blocks, and which nobody else uses.
    let ends = unsafe {
        buffer.copy_from_nonoverlapping(items.as_ptr(), from);
        buffer.add(from).copy_from_nonoverlapping(items.as_ptr().add(to), n - to);
        std::slice::from_raw_parts(buffer, from + n - to)
    };
    while from < to {
        // At the ends of pieces, whatever the sides are.
        if (to - from) % PIECE == 0 && stop() {
            let (left, right) = ends.split_at(from - sides.left);
            // SAFETY: the elements at the ends have room on both sides of those that are left.
            unsafe {
                sides.at.add(sides.left).copy_from_nonoverlapping(left.as_ptr(), left.len());
                sides.at.add(to).copy_from_nonoverlapping(right.as_ptr(), right.len());
            }
            return None;
        }
        let start = if from - sides.left <= sides.right - to {
            from += block;
            from - block
        } else {
            to -= block;
            to
        };
        // SAFETY: both sides together had room for two blocks at least, and the one with less of it has just got one,
        // so that each has room for one.
        unsafe {
            let at = sides.at.add(start);
            let block: [V; BLOCK] = std::array::from_fn(|i| V::load(at.add(i * V::LANES)));
            for v in block {
                sides.put::<V, OR_EQUAL>(v, pivot);
            }
        }
    }
    sides.put_all::<V, OR_EQUAL>(ends, pivot, item);
    Some(sides.left)
}

/// Copies the elements that are not before `low`, nor after `high`.
///
/// # Safety
/// The processor has the instructions, and `to` has room for all elements.
#[inline(always)]
unsafe fn enclosed<V: Vector>(
    items: &[V::Item],
    low: Option<V::Item>,
    high: Option<V::Item>,
    to: *mut V::Item,
) -> (usize, usize) {
    let (mut kept, mut less) = (0, 0);
    let registers = items.chunks_exact(V::LANES);
    for x in registers.remainder() {
        // SAFETY: the caller's promise.
        unsafe { to.add(kept).write(*x) };
        let is_less = low.is_some_and(|low| *x < low);
        kept += usize::from(!is_less && high.is_none_or(|high| *x <= high));
        less += usize::from(is_less);
    }
    let all = (1 << V::LANES) - 1;
    // Without a bound any element takes its place, and all lanes are on the right side of it.
    let (lows, highs) = (if low.is_some() { all } else { 0 }, if high.is_some() { 0 } else { all });
    let Some(any) = low.or(high).or(items.first().copied()) else { return (0, 0) };
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (V::splat(low.unwrap_or(any)), V::splat(high.unwrap_or(any))) };
    for register in registers {
        // SAFETY: these elements are there; the caller's promise.
        unsafe {
            let v = V::load(register.as_ptr());
            let before = v.before(low) & lows;
            let mask = (v.not_after(high) | highs) & !before;
            v.parted(mask).store(to.add(kept));
            kept += mask.count_ones() as usize;
            less += before.count_ones() as usize;
        }
    }
    (kept, less)
}

macro_rules! items {
    ($($item:ident $vector:ident;)*) => {$(
        impl Item for $item {
            fn has_vectors() -> bool {
                has!("avx2") && has!("popcnt")
            }
            unsafe fn part(items: &mut [$item], pivot: $item, or_equal: bool, stop: fn() -> bool) -> Option<usize> {
                #[target_feature(enable = "avx2,popcnt")]
                fn before(items: &mut [$item], pivot: $item, stop: fn() -> bool) -> Option<usize> {
                    // SAFETY: this function has the features.
                    unsafe { part::<$vector, false>(items, pivot, stop) }
                }
                #[target_feature(enable = "avx2,popcnt")]
                fn not_after(items: &mut [$item], pivot: $item, stop: fn() -> bool) -> Option<usize> {
                    // SAFETY: this function has the features.
                    unsafe { part::<$vector, true>(items, pivot, stop) }
                }
                // SAFETY: the caller's promise.
                unsafe { if or_equal { not_after(items, pivot, stop) } else { before(items, pivot, stop) } }
            }
            unsafe fn enclosed(
                items: &[$item],
                low: Option<$item>,
                high: Option<$item>,
                to: *mut $item,
            ) -> (usize, usize) {
                type Bound = Option<$item>;
                #[target_feature(enable = "avx2,popcnt")]
                unsafe fn all(items: &[$item], low: Bound, high: Bound, to: *mut $item) -> (usize, usize) {
                    // SAFETY: this function has the features; the caller's promise.
                    unsafe { enclosed::<$vector>(items, low, high, to) }
                }
                // SAFETY: the caller's promise.
                unsafe { all(items, low, high, to) }
            }
        }
    )*};
}
items! {
    i32 I32;
    u32 U32;
    i64 I64;
    u64 U64;
    f32 F32;
    f64 F64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::tests::numbers_below;

    fn check<T: Item>(n: usize, make: impl Fn(u64) -> T, bits: impl Fn(&T) -> u64 + Copy) {
        for bound in [2, 50, u64::MAX] {
            let items: Vec<T> = numbers_below(n, bound).into_iter().map(&make).collect();
            let sorted = |items: &[T]| {
                let mut all: Vec<u64> = items.iter().map(bits).collect();
                all.sort_unstable();
                all
            };
            for pivot in items.iter().copied().filter(|x| x.partial_cmp(x).is_some()).take(3) {
                for or_equal in [false, true] {
                    let is_left = |x: &T| *x < pivot || or_equal && *x == pivot;
                    let mut parts = items.clone();
                    // SAFETY: there are vectors, and the pivot is a number.
                    let left = unsafe { T::part(&mut parts, pivot, or_equal, || false) };
                    assert_eq!(left, Some(items.iter().filter(|x| is_left(x)).count()), "{n} elements");
                    let (left, right) = parts.split_at(left.unwrap_or_default());
                    assert!(left.iter().all(is_left) && !right.iter().any(is_left), "{n} elements");
                    assert_eq!(sorted(&parts), sorted(&items));
                    // SAFETY: as above.
                    let ended = unsafe { T::part(&mut parts, pivot, or_equal, || true) };
                    assert_eq!(ended.is_none(), n > 2 * PIECE);
                    assert_eq!(sorted(&parts), sorted(&items));
                }
            }
        }
    }

    #[test]
    fn all_lengths_are_partitioned() {
        if !i32::has_vectors() {
            return;
        }
        let float = |x: u64| if x % 5 == 1 { f64::NAN } else { (x as i64 >> 3) as f64 };
        for n in (0..700).chain([1 << 16, (1 << 18) + 5]) {
            check(n, |x| x as i32, |x| *x as u64);
            check(n, |x| x as u32, |x| u64::from(*x));
            check(n, |x| x as i64, |x| *x as u64);
            check(n, |x| x, |x| *x);
            check(n, |x| float(x) as f32, |x| u64::from(x.to_bits()));
            check(n, float, |x| x.to_bits());
        }
    }
}
