//! Sorting of contiguous arrays, NaN last as in NumPy. The sorts themselves are the standard library's, of parts of
//! long arrays: Ctrl-C ends them, and leaves all elements there.

use crate::interrupt::requested;
use crate::long_sort::{self, Order, PIECE};
use crate::poll::raise_interrupt;
use crate::symbol::{Symbol, functions};

#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
mod vectors;

/// An element with a total order that agrees with NumPy's; -0.0 equals 0.0, NaNs are equal and last.
trait Element: Copy {
    type Key: Ord + Copy;
    fn key(self) -> Self::Key;
    /// The key in the low 64 bits, in the same order, if it fits.
    fn packed(self) -> Option<u64> {
        None
    }
    /// Sorts a short slice; equal elements may change places.
    fn sort(items: &mut [Self]) {
        items.sort_unstable_by_key(|x| x.key());
    }
    /// Orders elements with equal keys in a slice that is sorted by keys, as [`Element::sort`] does.
    fn settle(_items: &mut [Self]) {}
    /// Longer slices are partitioned.
    fn shortest() -> usize {
        long_sort::SHORT
    }
    /// Moves the elements before a pivot, or not after it, to the front; how many there are, or `None` if it ended
    /// early.
    fn part(items: &mut [Self], pivot: Self, or_equal: bool) -> Option<usize> {
        ByValue.part_by_key(items, pivot, or_equal)
    }
    /// Copies the elements that are neither before `low` nor after `high`; how many there are, and how many are before
    /// `low`.
    ///
    /// # Safety
    /// `to` has room for all elements.
    unsafe fn enclosed(items: &[Self], low: Option<Self>, high: Option<Self>, to: *mut Self) -> (usize, usize) {
        // SAFETY: the caller's promise.
        unsafe { enclosed(items, low, high, to) }
    }
}

/// [`Element::enclosed`] without vectors.
///
/// # Safety
/// `to` has room for all elements.
unsafe fn enclosed<T: Element>(items: &[T], low: Option<T>, high: Option<T>, to: *mut T) -> (usize, usize) {
    let (low, high) = (low.map(T::key), high.map(T::key));
    let (mut kept, mut less) = (0, 0);
    for x in items {
        // Written whether it is kept or not, so that there is no branch.
        // SAFETY: the caller's promise.
        unsafe { to.add(kept).write(*x) };
        let is_less = low.is_some_and(|low| x.key() < low);
        kept += usize::from(!is_less & high.is_none_or(|high| x.key() <= high));
        less += usize::from(is_less);
    }
    (kept, less)
}

/// The order of elements by their values.
#[derive(Clone, Copy)]
struct ByValue;

impl<T: Element> Order<T> for ByValue {
    type Key = T::Key;
    fn key(self, item: &T) -> T::Key {
        item.key()
    }
    fn stop(self) -> bool {
        requested()
    }
    fn short(self, items: &mut [T]) {
        T::sort(items);
    }
    fn settle(self, items: &mut [T]) {
        T::settle(items);
    }
    fn shortest(self) -> usize {
        T::shortest()
    }
    fn part(self, items: &mut [T], pivot: T, or_equal: bool) -> Option<usize> {
        T::part(items, pivot, or_equal)
    }
}

/// The order of indices by a key.
#[derive(Clone, Copy)]
struct ByKey<F>(F);

impl<K: Ord + Copy, F: Fn(&i64) -> K + Copy> Order<i64> for ByKey<F> {
    type Key = K;
    fn key(self, item: &i64) -> K {
        self.0(item)
    }
    fn stop(self) -> bool {
        requested()
    }
    fn short(self, items: &mut [i64]) {
        items.sort_unstable_by_key(self.0);
    }
}

/// The methods of elements that vectors partition, where there are any, until networks sort them.
macro_rules! by_vectors {
    ($int:ty) => {
        #[cfg(target_arch = "x86_64")]
        fn shortest() -> usize {
            if <Self as vectors::Item>::has_vectors() { 2 * <$int as network::Item>::most() } else { long_sort::SHORT }
        }
        #[cfg(target_arch = "x86_64")]
        fn part(items: &mut [Self], pivot: Self, or_equal: bool) -> Option<usize> {
            if !<Self as vectors::Item>::has_vectors() || pivot.partial_cmp(&pivot).is_none() {
                return ByValue.part_by_key(items, pivot, or_equal);
            }
            // SAFETY: there are vectors, and the pivot is not NaN.
            unsafe { vectors::Item::part(items, pivot, or_equal, requested) }
        }
        #[cfg(target_arch = "x86_64")]
        unsafe fn enclosed(items: &[Self], low: Option<Self>, high: Option<Self>, to: *mut Self) -> (usize, usize) {
            let is_ordered = [low, high].into_iter().flatten().all(|x| x.partial_cmp(&x).is_some());
            // SAFETY: the caller's promise; there are vectors, and the bounds are not NaN.
            unsafe {
                if <Self as vectors::Item>::has_vectors() && is_ordered {
                    vectors::Item::enclosed(items, low, high, to)
                } else {
                    enclosed(items, low, high, to)
                }
            }
        }
    };
}

macro_rules! ints {
    ($($int:ty, $offset:expr, $sort:expr $(, $by_vectors:ident)?;)*) => {$(
        impl Element for $int {
            type Key = $int;
            fn key(self) -> $int {
                self
            }
            fn packed(self) -> Option<u64> {
                Some((i128::from(self) - $offset) as u64)
            }
            fn sort(items: &mut [$int]) {
                $sort(items)
            }
            $($by_vectors!($int);)?
        }
    )*};
}
ints! {
    i8, i128::from(i8::MIN), by_digits; i16, i128::from(i16::MIN), by_digits;
    u8, 0, by_digits; u16, 0, by_digits;
    i32, i128::from(i32::MIN), |x: &mut _| by_network_or(x, by_digits), by_vectors;
    u32, 0, |x: &mut _| by_network_or(x, by_digits), by_vectors;
    i64, i128::from(i64::MIN), |x: &mut _| by_network_or(x, <[_]>::sort_unstable), by_vectors;
    u64, 0, |x: &mut _| by_network_or(x, <[_]>::sort_unstable), by_vectors;
}

/// Sorts short slices by a network where there are vectors, and others by `sort`.
#[cfg(target_arch = "x86_64")]
fn by_network_or<T: network::Item>(items: &mut [T], sort: impl Fn(&mut [T])) {
    if !network::sort(items) {
        sort(items);
    }
}
#[cfg(not(target_arch = "x86_64"))]
fn by_network_or<T>(items: &mut [T], sort: impl Fn(&mut [T])) {
    sort(items);
}

/// Sorts integers of up to four bytes: they are dealt by their bytes, from the low one to the high one.
fn by_digits<T: Element<Key: Ord>>(items: &mut [T]) {
    let few = if size_of::<T>() == 4 { 800 } else { 200 };
    let mut buffer: Vec<T> = Vec::new();
    if items.len() < few || buffer.try_reserve_exact(items.len()).is_err() {
        items.sort_unstable_by_key(|x| x.key());
        return;
    }
    if items.is_sorted_by_key(|x| x.key()) {
        return;
    }
    let digits = |x: &T| (x.packed().unwrap_or_default() as u32).to_le_bytes();
    let mut places = [[0_u32; 256]; size_of::<u32>()];
    for x in &*items {
        for (places, digit) in places[..size_of::<T>()].iter_mut().zip(digits(x)) {
            places[usize::from(digit)] += 1;
        }
    }
    let first = digits(&items[0]);
    buffer.extend_from_slice(items);
    let (mut from, mut to) = (&mut buffer[..], items);
    let mut is_in_buffer = true;
    for (l, places) in places[..size_of::<T>()].iter_mut().enumerate() {
        if places[usize::from(first[l])] as usize == from.len() {
            continue;
        }
        let mut next = 0;
        for place in places.iter_mut() {
            (*place, next) = (next, next + *place);
        }
        for x in &*from {
            let place = &mut places[usize::from(digits(x)[l])];
            to[*place as usize] = *x;
            *place += 1;
        }
        (from, to) = (to, from);
        is_in_buffer = !is_in_buffer;
    }
    if is_in_buffer {
        to.copy_from_slice(from);
    }
}

macro_rules! floats {
    ($($float:ty, $int:ty, $uint:ty;)*) => {$(
        impl Element for $float {
            type Key = $int;
            fn key(self) -> $int {
                // Adding zero makes -0.0 positive.
                if self.is_nan() { <$int>::MAX } else { order::<$int>((self + 0.0).to_bits() as $int) }
            }
            fn packed(self) -> Option<u64> {
                Some(u64::from((self.key() as $uint) ^ (1 << (<$int>::BITS - 1))))
            }
            fn sort(items: &mut [$float]) {
                // SAFETY: both types have the same size and alignment, and any bits are a value of either.
                let bits = unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<$int>(), items.len()) };
                // In the order of the bits a NaN is beyond infinity on the side of its sign: make all of them positive.
                for b in &mut *bits {
                    let positive = if <$float>::from_bits(*b as $uint).is_nan() { *b & <$int>::MAX } else { *b };
                    *b = order::<$int>(positive);
                }
                <$int as Element>::sort(bits);
                bits.iter_mut().for_each(|b| *b = order::<$int>(*b));
            }
            fn settle(items: &mut [$float]) {
                let (first, end) = (items.partition_point(|x| *x < 0.0), items.partition_point(|x| *x <= 0.0));
                let zeros = &mut items[first..end];
                let negative = zeros.iter().filter(|x| x.is_sign_negative()).count();
                zeros[..negative].fill(-0.0);
                zeros[negative..].fill(0.0);
            }
            by_vectors!($int);
        }
    )*};
}
floats! { f32, i32, u32; f64, i64, u64; }

/// Bits of a float as an integer of the same order, and back.
fn order<T: OrderBits>(bits: T) -> T {
    bits.order()
}

trait OrderBits {
    fn order(self) -> Self;
}
impl OrderBits for i32 {
    fn order(self) -> i32 {
        self ^ (self >> 31 & i32::MAX)
    }
}
impl OrderBits for i64 {
    fn order(self) -> i64 {
        self ^ (self >> 63 & i64::MAX)
    }
}

/// A complex number in memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex<T> {
    re: T,
    im: T,
}

macro_rules! complexes {
    ($($float:ty;)*) => {$(
        impl Element for Complex<$float> {
            type Key = (bool, bool, <$float as Element>::Key, <$float as Element>::Key);
            fn key(self) -> Self::Key {
                // NumPy's order: real and imaginary part, then those with NaN as imaginary part, as real part, as both.
                (self.re.is_nan(), self.im.is_nan(), self.re.key(), self.im.key())
            }
        }
    )*};
}
complexes! { f32; f64; }

/// Array data as a slice.
///
/// # Safety
/// `n` elements lie at `data`, aligned, which nobody else uses meanwhile.
unsafe fn slice<'a, T>(data: *mut T, n: i64) -> &'a mut [T] {
    match usize::try_from(n) {
        // SAFETY: the caller's promise.
        Ok(n) if n > 0 => unsafe { std::slice::from_raw_parts_mut(data, n) },
        _ => &mut [],
    }
}

/// Indices that sort the data; those of equal elements keep their order. Whether it ended early.
fn argsort<T: Element>(data: &[T], out: &mut [i64]) -> bool {
    argsort_packed(data, out).unwrap_or_else(|| {
        let key = |i: &i64| (data[*i as usize].key(), *i);
        out.iter_mut().enumerate().for_each(|(i, o)| *o = i as i64);
        long_sort::sort(out, ByKey(key))
    })
}

/// Sorts keys with their indices behind them in one integer, which is kinder to caches than looking elements up.
/// Whether it ended early; `None` when keys are no integers, or there is no memory for them.
fn argsort_packed<T: Element>(data: &[T], out: &mut [i64]) -> Option<bool> {
    let (mut least, mut most) = (u64::MAX, 0);
    for x in data {
        let key = x.packed()?;
        (least, most) = (least.min(key), most.max(key));
    }
    let mut pairs: Vec<u64> = Vec::new();
    pairs.try_reserve_exact(data.len()).ok()?;
    // Of keys that are far apart, low bits have no room.
    let bits = usize::BITS - data.len().leading_zeros();
    let dropped = (bits + u64::BITS - most.wrapping_sub(least).leading_zeros()).saturating_sub(u64::BITS);
    for part in data.chunks(PIECE) {
        if requested() {
            return Some(true);
        }
        let first = pairs.len();
        let pack =
            |(i, x): (usize, &T)| (x.packed().unwrap_or_default() - least) >> dropped << bits | (first + i) as u64;
        pairs.extend(part.iter().enumerate().map(pack));
    }
    if long_sort::sort(&mut pairs, ByValue) {
        return Some(true);
    }
    let index = |pair: u64| (pair & ((1 << bits) - 1)) as i64;
    out.iter_mut().zip(&pairs).for_each(|(o, p)| *o = index(*p));
    if dropped == 0 {
        return Some(false);
    }
    let mut rest = out;
    for near in pairs.chunk_by(|p, q| p >> bits == q >> bits) {
        let (group, others) = rest.split_at_mut(near.len());
        let key = |i: &i64| (data[*i as usize].packed(), *i);
        if group.len() > 1 && long_sort::sort(group, ByKey(key)) {
            return Some(true);
        }
        rest = others;
    }
    Some(false)
}

/// The status of a sort: an exception if it ended early.
fn status(ended_early: bool) -> i32 {
    if ended_early { raise_interrupt() } else { 0 }
}

macro_rules! sorts {
    ($($element:ty: $sort:ident $argsort:ident $partition:ident $enclosed:ident;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $sort(data: *mut $element, n: i64) -> i32 {
                // SAFETY: compiled code passes an array of its own.
                let items = unsafe { slice(data, n) };
                status(long_sort::sort(items, ByValue))
            }
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $argsort(data: *mut $element, out: *mut i64, n: i64) -> i32 {
                // SAFETY: compiled code passes an array, and one of its own for the indices.
                status(unsafe { argsort(slice(data, n), slice(out, n)) })
            }
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $partition(data: *mut $element, n: i64, k: i64) -> i32 {
                // SAFETY: compiled code passes an array of its own.
                let items = unsafe { slice(data, n) };
                status((0..n).contains(&k) && long_sort::select(items, k as usize, ByValue))
            }
            #[unsafe(no_mangle)]
            unsafe extern "C-unwind" fn $enclosed(
                data: *mut $element,
                n: i64,
                bounds: *const $element,
                which: i64,
                to: *mut $element,
                counts: *mut i64,
            ) {
                let given = |i: usize| which >> i & 1 == 1;
                // SAFETY: compiled code passes an array, two elements, and arrays of its own with room for all elements
                // and for two counts.
                unsafe {
                    let bound = |i: usize| given(i).then(|| *bounds.add(i));
                    let (kept, less) = <$element>::enclosed(slice(data, n), bound(0), bound(1), to);
                    counts.write(kept as i64);
                    counts.add(1).write(less as i64);
                }
            }
        )*
        pub(crate) fn symbols() -> Vec<Symbol> {
            functions! {
                (_ _) $($sort)*;
                (_ _ _) $($argsort $partition)*;
                (_ _ _ _ _ _) $($enclosed)*;
            }
        }
    };
}
sorts! {
    u8: lh_sort_u8 lh_argsort_u8 lh_partition_u8 lh_enclosed_u8;
    u16: lh_sort_u16 lh_argsort_u16 lh_partition_u16 lh_enclosed_u16;
    u32: lh_sort_u32 lh_argsort_u32 lh_partition_u32 lh_enclosed_u32;
    u64: lh_sort_u64 lh_argsort_u64 lh_partition_u64 lh_enclosed_u64;
    i8: lh_sort_i8 lh_argsort_i8 lh_partition_i8 lh_enclosed_i8;
    i16: lh_sort_i16 lh_argsort_i16 lh_partition_i16 lh_enclosed_i16;
    i32: lh_sort_i32 lh_argsort_i32 lh_partition_i32 lh_enclosed_i32;
    i64: lh_sort_i64 lh_argsort_i64 lh_partition_i64 lh_enclosed_i64;
    f32: lh_sort_f32 lh_argsort_f32 lh_partition_f32 lh_enclosed_f32;
    f64: lh_sort_f64 lh_argsort_f64 lh_partition_f64 lh_enclosed_f64;
    Complex<f32>: lh_sort_c64 lh_argsort_c64 lh_partition_c64 lh_enclosed_c64;
    Complex<f64>: lh_sort_c128 lh_argsort_c128 lh_partition_c128 lh_enclosed_c128;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below a bound, from a fixed sequence.
    pub(super) fn numbers_below(n: usize, bound: u64) -> Vec<u64> {
        let mut x = 7u64;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x.rotate_left(29) % bound
        };
        (0..n).map(|_| next()).collect()
    }

    /// Some numbers, many of them equal.
    fn numbers(n: usize) -> Vec<u64> {
        let mut x = 1u64;
        (0..n)
            .map(|i| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if i % 3 == 0 { (x >> 33) % 16 } else { x >> 7 }
            })
            .collect()
    }

    macro_rules! check {
        ($($t:ty, $sort:ident, $argsort:ident, $partition:ident, $enclosed:ident, $make:expr;)*) => {$(
            for n in [0, 1, 2, 30, 300, 1000, 1100, 5000] {
                let data: Vec<$t> = numbers(n).into_iter().map($make).collect();
                let mut stable: Vec<i64> = (0..n as i64).collect();
                stable.sort_by(|a, b| numpy_order(&data[*a as usize], &data[*b as usize]));
                let (mut sorted, mut copy, mut index) = (data.clone(), data.clone(), vec![0i64; n]);
                // SAFETY: arrays of that size.
                unsafe {
                    $sort(sorted.as_mut_ptr(), n as i64);
                    $argsort(copy.as_mut_ptr(), index.as_mut_ptr(), n as i64);
                    $partition(copy.as_mut_ptr(), n as i64, n as i64 / 2);
                }
                assert_eq!(index, stable, stringify!($argsort));
                for (s, i) in sorted.iter().zip(&stable) {
                    assert!(numpy_order(s, &data[*i as usize]).is_eq(), stringify!($sort));
                }
                if let Some(mid) = copy.get(n / 2) {
                    assert!(numpy_order(mid, &sorted[n / 2]).is_eq(), stringify!($partition));
                    assert!(copy[..n / 2].iter().all(|x| numpy_order(x, mid).is_le()));
                    assert!(copy[n / 2..].iter().all(|x| numpy_order(x, mid).is_ge()));
                    // Also bounds of which both or the second are NaN.
                    for (low, high) in [(n / 5, n / 2), (0, 0), (n / 2, n - 1), (n - 1, n - 1)] {
                        let bounds = [sorted[low], sorted[high]];
                        for which in 0..4 {
                            let mut kept = data.clone();
                            let mut counts = [0, 0];
                            // SAFETY: arrays of that size.
                            unsafe {
                                let (to, counts) = (kept.as_mut_ptr(), counts.as_mut_ptr());
                                $enclosed(copy.as_mut_ptr(), n as i64, bounds.as_ptr(), which, to, counts);
                                $sort(to, *counts);
                            }
                            let is_less = |x: &&$t| which & 1 == 1 && numpy_order(*x, &bounds[0]).is_lt();
                            let is_more = |x: &&$t| which & 2 == 2 && numpy_order(*x, &bounds[1]).is_gt();
                            let wanted: Vec<&$t> = sorted.iter().filter(|x| !is_less(x) && !is_more(x)).collect();
                            let less = sorted.iter().filter(is_less).count();
                            assert_eq!(counts, [wanted.len() as i64, less as i64], stringify!($enclosed));
                            assert!(kept.iter().zip(wanted).all(|(x, y)| numpy_order(x, y).is_eq()));
                        }
                    }
                }
            }
        )*};
    }

    /// An order told by comparisons, not by keys.
    trait NumpyOrder {
        fn less(&self, other: &Self) -> bool;
    }
    macro_rules! plain_order {
        ($($t:ty)*) => { $(impl NumpyOrder for $t { fn less(&self, other: &$t) -> bool { self < other } })* };
    }
    plain_order!(u8 u16 u32 u64 i8 i16 i32 i64);
    macro_rules! float_order {
        ($($t:ty)*) => {$(
            impl NumpyOrder for $t {
                fn less(&self, other: &$t) -> bool { self < other || (other.is_nan() && !self.is_nan()) }
            }
            impl NumpyOrder for Complex<$t> {
                // As in NumPy's `npysort`.
                fn less(&self, b: &Complex<$t>) -> bool {
                    let a = self;
                    if a.re < b.re {
                        !a.im.is_nan() || b.im.is_nan()
                    } else if a.re > b.re {
                        b.im.is_nan() && !a.im.is_nan()
                    } else if a.re == b.re || (a.re.is_nan() && b.re.is_nan()) {
                        a.im < b.im || (b.im.is_nan() && !a.im.is_nan())
                    } else {
                        b.re.is_nan()
                    }
                }
            }
        )*};
    }
    float_order!(f32 f64);
    fn numpy_order<T: NumpyOrder>(a: &T, b: &T) -> std::cmp::Ordering {
        b.less(a).cmp(&a.less(b))
    }

    fn float(x: u64) -> f64 {
        match x % 16 {
            0 => f64::NAN,
            1 => -f64::NAN,
            2 => f64::INFINITY,
            3 => f64::NEG_INFINITY,
            4 => 0.0,
            5 => -0.0,
            _ => (x as i64).wrapping_sub(1 << 56) as f64,
        }
    }

    #[test]
    fn all_types_sort_as_in_numpy() {
        check! {
            u8, lh_sort_u8, lh_argsort_u8, lh_partition_u8, lh_enclosed_u8, |x| x as u8;
            u16, lh_sort_u16, lh_argsort_u16, lh_partition_u16, lh_enclosed_u16, |x| x as u16;
            u32, lh_sort_u32, lh_argsort_u32, lh_partition_u32, lh_enclosed_u32, |x| x as u32;
            u64, lh_sort_u64, lh_argsort_u64, lh_partition_u64, lh_enclosed_u64, |x| x << 7;
            i8, lh_sort_i8, lh_argsort_i8, lh_partition_i8, lh_enclosed_i8, |x| x as i8;
            i16, lh_sort_i16, lh_argsort_i16, lh_partition_i16, lh_enclosed_i16, |x| x as i16;
            i32, lh_sort_i32, lh_argsort_i32, lh_partition_i32, lh_enclosed_i32, |x| x as i32;
            i64, lh_sort_i64, lh_argsort_i64, lh_partition_i64, lh_enclosed_i64, |x| (x << 7) as i64;
            f32, lh_sort_f32, lh_argsort_f32, lh_partition_f32, lh_enclosed_f32, |x| float(x) as f32;
            f64, lh_sort_f64, lh_argsort_f64, lh_partition_f64, lh_enclosed_f64, float;
            Complex<f32>, lh_sort_c64, lh_argsort_c64, lh_partition_c64, lh_enclosed_c64,
                |x| Complex { re: float(x >> 9) as f32, im: float(x) as f32 };
            Complex<f64>, lh_sort_c128, lh_argsort_c128, lh_partition_c128, lh_enclosed_c128,
                |x| Complex { re: float(x >> 9), im: float(x) };
        }
    }

    #[test]
    fn bad_positions_are_ignored() {
        let mut x = [3, 2, 1];
        // SAFETY: an array of that size.
        unsafe {
            lh_partition_i64(x.as_mut_ptr(), 3, 3);
            lh_partition_i64(x.as_mut_ptr(), 3, -1);
        }
        assert_eq!(x, [3, 2, 1]);
    }
}
