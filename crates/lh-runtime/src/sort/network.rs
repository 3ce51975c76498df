//! Sorting networks in vector registers, for slices that are too short for digits to pay.
//!
//! A network has rows of lanes. First it sorts the columns, which takes no exchange between lanes; then it merges
//! columns, two by two, then four by four, and so on. These are Batcher's bitonic merges, whose first step compares
//! each element with the one at the mirrored place, so that all comparisons have one direction. The place of an element
//! is its lane times the number of rows plus its row, so that a transposition ends the sort.

use std::arch::is_x86_feature_detected as has;
use std::arch::x86_64::*;

/// Slices of fewer elements are sorted as fast by comparisons.
const FEW: usize = 20;

/// The most elements of a network.
const MOST: usize = 512;

/// Integers that networks sort.
pub(super) trait Item: Copy + Ord + Default {
    /// The most elements that a network takes on this processor; 0 if it has none.
    fn most() -> usize;
    /// Sorts at most so many elements.
    fn network(items: &mut [Self]);
}

/// Sorts a slice if two networks are enough, and answers whether it did.
pub(super) fn sort<T: Item>(items: &mut [T]) -> bool {
    let (n, most) = (items.len(), T::most());
    if !(FEW..=2 * most).contains(&n) {
        return false;
    }
    if n <= most {
        T::network(items);
        return true;
    }
    let mut memory = [T::default(); 2 * MOST];
    let (left, right) = memory[..n].split_at_mut(n / 2);
    left.copy_from_slice(&items[..n / 2]);
    right.copy_from_slice(&items[n / 2..]);
    T::network(left);
    T::network(right);
    merge(left, right, items);
    true
}

/// Merges two sorted slices, the second of which may have one element more, from both ends at once.
fn merge<T: Copy + Ord>(left: &[T], right: &[T], to: &mut [T]) {
    let (mut l, mut r, mut l_end, mut r_end) = (0, 0, left.len(), right.len());
    for i in 0..left.len() {
        let is_right = right[r] < left[l];
        to[i] = if is_right { right[r] } else { left[l] };
        (l, r) = (l + usize::from(!is_right), r + usize::from(is_right));
        let is_left = right[r_end - 1] < left[l_end - 1];
        to[to.len() - 1 - i] = if is_left { left[l_end - 1] } else { right[r_end - 1] };
        (l_end, r_end) = (l_end - usize::from(is_left), r_end - usize::from(!is_left));
    }
    if l < l_end {
        to[left.len()] = left[l];
    } else if r < r_end {
        to[left.len()] = right[r];
    }
}

/// A register of integers. There are values of it only on processors that have its instructions.
trait Vector: Copy {
    type Item: Item;
    const LANES: usize;
    /// A vector of the greatest number.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn greatest() -> Self;
    /// The lesser and the greater elements.
    fn ordered(self, other: Self) -> (Self, Self);
    /// Lanes whose numbers differ by the bits of `D` change places.
    fn swapped<const D: usize>(self) -> Self;
    /// Takes the lanes whose numbers have the bit `D` from another vector.
    fn with<const D: usize>(self, other: Self) -> Self;
}

/// For each lane of `WORDS` words, those of the lane whose number differs by the bits of `D`.
const fn partners<const D: usize, const N: usize, const WORDS: usize>() -> [i32; N] {
    let (mut all, mut i) = ([0; N], 0);
    while i < N {
        all[i] = (((i / WORDS) ^ D) * WORDS + i % WORDS) as i32;
        i += 1;
    }
    all
}

/// Ones in the lanes of `WORDS` words whose numbers have the bit `D`.
const fn having<const D: usize, const N: usize, const WORDS: usize>() -> [i32; N] {
    let (mut all, mut i) = ([0; N], 0);
    while i < N {
        all[i] = -((((i / WORDS) & D) != 0) as i32);
        i += 1;
    }
    all
}

macro_rules! vectors {
    ($($name:ident: $lanes:literal $item:ident of $words:literal words,
       ($register:ty, $load:ident, $set:ident, $permute:ident)
       |$a:ident, $b:ident| $ordered:expr, |$x:ident, $y:ident, $mask:ident| $with:expr;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name($register);
        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn greatest() -> $name {
                // SAFETY: the caller's promise.
                unsafe { $name($set($item::MAX)) }
            }
            #[inline(always)]
            fn ordered(self, other: $name) -> ($name, $name) {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: there are vectors, so there are instructions.
                let (less, greater) = unsafe { $ordered };
                ($name(less), $name(greater))
            }
            #[inline(always)]
            fn swapped<const D: usize>(self) -> $name {
                let from = const { &partners::<D, { $lanes * $words }, $words>() };
                // SAFETY: as above; the array has the size of the register.
                unsafe { $name($permute($load(from.as_ptr().cast()), self.0)) }
            }
            #[inline(always)]
            fn with<const D: usize>(self, other: $name) -> $name {
                let ($x, $y) = (self.0, other.0);
                let mask = const { &having::<D, { $lanes * $words }, $words>() };
                // SAFETY: as above.
                unsafe {
                    let $mask = $load(mask.as_ptr().cast());
                    $name($with)
                }
            }
        }
    )*};
}
vectors! {
    I32x8: 8 i32 of 1 words, (__m256i, _mm256_loadu_si256, _mm256_set1_epi32, permuted)
        |a, b| (_mm256_min_epi32(a, b), _mm256_max_epi32(a, b)), |x, y, mask| _mm256_blendv_epi8(x, y, mask);
    I64x4: 4 i64 of 2 words, (__m256i, _mm256_loadu_si256, _mm256_set1_epi64x, permuted)
        |a, b| {
            let is_greater = _mm256_cmpgt_epi64(a, b);
            (_mm256_blendv_epi8(a, b, is_greater), _mm256_blendv_epi8(b, a, is_greater))
        },
        |x, y, mask| _mm256_blendv_epi8(x, y, mask);
    I32x16: 16 i32 of 1 words, (__m512i, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_permutexvar_epi32)
        |a, b| (_mm512_min_epi32(a, b), _mm512_max_epi32(a, b)),
        |x, y, mask| _mm512_mask_blend_epi32(_mm512_test_epi32_mask(mask, mask), x, y);
    I64x8: 8 i64 of 2 words, (__m512i, _mm512_loadu_si512, _mm512_set1_epi64, _mm512_permutexvar_epi32)
        |a, b| (_mm512_min_epi64(a, b), _mm512_max_epi64(a, b)),
        |x, y, mask| _mm512_mask_blend_epi64(_mm512_test_epi64_mask(mask, mask), x, y);
}

#[inline(always)]
unsafe fn permuted(from: __m256i, x: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_permutevar8x32_epi32(x, from) }
}

/// Orders the rows whose numbers differ by the bits of `M`, the highest of which is `D`. There is no test in these
/// loops, so that they are unrolled and all rows stay in registers.
#[inline(always)]
fn rows<V: Vector, const R: usize, const D: usize, const M: usize>(rows: &mut [V; R]) {
    if D < R {
        for pair in 0..R / 2 {
            let i = (pair & !(D - 1)) + pair;
            (rows[i], rows[i ^ M]) = rows[i].ordered(rows[i ^ M]);
        }
    }
}

/// Orders the lanes whose numbers differ by `D`.
#[inline(always)]
fn lanes<V: Vector, const R: usize, const D: usize>(rows: &mut [V; R]) {
    for row in rows {
        let (less, greater) = row.ordered(row.swapped::<D>());
        *row = less.with::<D>(greater);
    }
}

/// Sorts the columns.
#[inline(always)]
fn sort_columns<V: Vector, const R: usize>(of: &mut [V; R]) {
    rows::<V, R, 1, 1>(of);
    rows::<V, R, 2, 3>(of);
    rows::<V, R, 1, 1>(of);
    rows::<V, R, 4, 7>(of);
    rows::<V, R, 2, 2>(of);
    rows::<V, R, 1, 1>(of);
    if R > 8 {
        rows::<V, R, 8, 15>(of);
        rows::<V, R, 4, 4>(of);
        rows::<V, R, 2, 2>(of);
        rows::<V, R, 1, 1>(of);
    }
    if R > 16 {
        rows::<V, R, 16, 31>(of);
        rows::<V, R, 8, 8>(of);
        rows::<V, R, 4, 4>(of);
        rows::<V, R, 2, 2>(of);
        rows::<V, R, 1, 1>(of);
    }
}

/// Merges sorted groups of `D` columns, two by two; `M` is `2 * D - 1`.
#[inline(always)]
fn merge_columns<V: Vector, const R: usize, const D: usize, const M: usize>(of: &mut [V; R]) {
    for i in 0..R / 2 {
        let mirrored = R - 1 - i;
        let (less, greater) = of[i].ordered(of[mirrored].swapped::<M>());
        of[i] = less.with::<D>(greater);
        of[mirrored] = greater.with::<D>(less).swapped::<M>();
    }
    if D > 4 {
        lanes::<V, R, 4>(of);
    }
    if D > 2 {
        lanes::<V, R, 2>(of);
    }
    if D > 1 {
        lanes::<V, R, 1>(of);
    }
    rows::<V, R, 16, 16>(of);
    rows::<V, R, 8, 8>(of);
    rows::<V, R, 4, 4>(of);
    rows::<V, R, 2, 2>(of);
    rows::<V, R, 1, 1>(of);
}

/// One step of a transposition: the bit `D` of the number of the row and that of the lane change places.
#[inline(always)]
fn transpose<V: Vector, const R: usize, const D: usize>(rows: &mut [V; R]) {
    for pair in 0..R / 2 {
        let i = (pair & !(D - 1)) + pair;
        let (a, b) = (rows[i], rows[i + D]);
        rows[i] = a.with::<D>(b.swapped::<D>());
        rows[i + D] = a.swapped::<D>().with::<D>(b);
    }
}

/// Sorts at most `R` rows of elements; `R` is a power of two of at least 8, and a multiple of the number of lanes.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn network<V: Vector, const R: usize>(items: &mut [V::Item]) {
    assert!(items.len() <= R * V::LANES);
    // SAFETY: the caller's promise.
    let mut memory = [unsafe { V::greatest() }; R];
    // SAFETY: the rows have room for all elements.
    unsafe { memory.as_mut_ptr().cast::<V::Item>().copy_from_nonoverlapping(items.as_ptr(), items.len()) };
    let mut rows = memory;
    sort_columns(&mut rows);
    merge_columns::<V, R, 1, 1>(&mut rows);
    merge_columns::<V, R, 2, 3>(&mut rows);
    if V::LANES > 4 {
        merge_columns::<V, R, 4, 7>(&mut rows);
    }
    if V::LANES > 8 {
        merge_columns::<V, R, 8, 15>(&mut rows);
    }
    transpose::<V, R, 1>(&mut rows);
    transpose::<V, R, 2>(&mut rows);
    if V::LANES > 4 {
        transpose::<V, R, 4>(&mut rows);
    }
    if V::LANES > 8 {
        transpose::<V, R, 8>(&mut rows);
    }
    // If there are several squares, rows of one place in them follow each other.
    let squares = R / V::LANES;
    for (i, row) in rows.into_iter().enumerate() {
        memory[i % V::LANES * squares + i / V::LANES] = row;
    }
    // SAFETY: the elements that come first are at most all.
    unsafe { items.as_mut_ptr().copy_from_nonoverlapping(memory.as_ptr().cast(), items.len()) };
}

macro_rules! items {
    ($($signed:ident $unsigned:ident: $($feature:tt $vector:ident $rows:literal),*;)*) => {$(
        impl Item for $signed {
            fn most() -> usize {
                let sizes = [$(if has!($feature) { $rows * $vector::LANES } else { 0 }),*];
                sizes.into_iter().fold(0, usize::max)
            }
            fn network(items: &mut [$signed]) {
                $(if has!($feature) && items.len() <= $rows * $vector::LANES {
                    #[target_feature(enable = $feature)]
                    fn sorted(items: &mut [$signed]) {
                        // SAFETY: this function has the feature.
                        unsafe { network::<$vector, $rows>(items) }
                    }
                    // SAFETY: the feature was just checked.
                    return unsafe { sorted(items) };
                })*
            }
        }
        impl Item for $unsigned {
            fn most() -> usize {
                $signed::most()
            }
            fn network(items: &mut [$unsigned]) {
                let (at, n) = (items.as_mut_ptr().cast::<$signed>(), items.len());
                // SAFETY: both types have the same size and alignment, and any bits are a value of either.
                let signed = unsafe { std::slice::from_raw_parts_mut(at, n) };
                signed.iter_mut().for_each(|x| *x ^= $signed::MIN);
                $signed::network(signed);
                signed.iter_mut().for_each(|x| *x ^= $signed::MIN);
            }
        }
    )*};
}
// The first that fits is taken.
items! {
    i32 u32: "avx2" I32x8 8, "avx2" I32x8 16, "avx512f" I32x16 16, "avx512f" I32x16 32, "avx2" I32x8 32;
    i64 u64: "avx2" I64x4 8, "avx2" I64x4 16, "avx512f" I64x8 16, "avx512f" I64x8 32, "avx2" I64x4 32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::tests::numbers_below;

    fn check<T: Item + std::fmt::Debug>(make: impl Fn(u64) -> T) {
        let lengths = (0..=2 * MOST + 1).filter(|n| n % 16 < 2 || n % 61 == 0);
        for n in lengths {
            for bound in [50, u64::MAX] {
                let data: Vec<T> = numbers_below(n, bound).into_iter().map(&make).collect();
                let mut expected = data.clone();
                expected.sort_unstable();
                let mut items = data.clone();
                let is_sorted = sort(&mut items);
                assert_eq!(is_sorted, (FEW..=2 * T::most()).contains(&n));
                assert_eq!(items, if is_sorted { expected } else { data }, "{n} elements");
            }
        }
    }

    #[test]
    fn all_lengths_are_sorted() {
        check(|x| x as i32);
        check(|x| x as u32);
        check(|x| x as i64);
        check(|x| x);
    }

    /// Networks that another processor would take.
    #[test]
    fn all_networks_sort() {
        fn check<V: Vector>(has_it: bool, sorted: unsafe fn(&mut [V::Item]), lanes: usize, make: fn(u64) -> V::Item)
        where
            V::Item: std::fmt::Debug,
        {
            for n in (0..=32 * lanes).step_by(29).filter(|_| has_it) {
                let mut items: Vec<_> = numbers_below(n, 1 << 20).into_iter().map(make).collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                // SAFETY: the processor has the instructions.
                unsafe { sorted(&mut items) };
                assert_eq!(items, expected);
            }
        }
        check::<I64x4>(has!("avx2"), network::<I64x4, 32>, 4, |x| x as i64 - 1000);
        check::<I32x16>(has!("avx512f"), network::<I32x16, 32>, 16, |x| x as i32 - 1000);
    }
}
