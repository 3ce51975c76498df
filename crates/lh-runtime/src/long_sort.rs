//! Sorting and selection in slices, which end early when they are told to.
//!
//! The standard library's sorts cannot be stopped, nor do they know vectors. A long slice is partitioned until its
//! parts are short; between parts, and now and then while it partitions, whether to stop is asked. A slice that was
//! left early has all its elements, in any order.

/// Elements that are gone through without asking.
pub(crate) const PIECE: usize = 1 << 16;

/// Elements that are sorted without asking, which takes some ten milliseconds; tests have shorter slices.
pub(crate) const SHORT: usize = if cfg!(test) { PIECE } else { 8 * PIECE };

/// Elements among which the standard library selects at once where vectors partition longer slices.
const FEW: usize = 128;

/// Elements among which a pivot is chosen, at most.
const SAMPLE: usize = 511;

/// An order of elements, and the ways in which these are sorted.
pub(crate) trait Order<T: Copy>: Copy {
    /// By which elements are compared.
    type Key: Ord + Copy;
    /// The key of an element.
    fn key(self, item: &T) -> Self::Key;
    /// Whether to end early.
    fn stop(self) -> bool;
    /// Sorts a slice; equal elements may change places.
    fn short(self, items: &mut [T]);
    /// Orders elements with equal keys in a slice that is sorted by keys, if [`Order::short`] has an order for them.
    fn settle(self, _items: &mut [T]) {}
    /// Longer slices are partitioned.
    fn shortest(self) -> usize {
        SHORT
    }
    /// Moves the elements before a pivot, or not after it, to the front; how many there are, or `None` if it ended
    /// early.
    fn part(self, items: &mut [T], pivot: T, or_equal: bool) -> Option<usize> {
        self.part_by_key(items, pivot, or_equal)
    }
    /// The same, by keys.
    fn part_by_key(self, items: &mut [T], pivot: T, or_equal: bool) -> Option<usize> {
        let key = self.key(&pivot);
        match or_equal {
            true => partition(items, |x| self.key(x) <= key, || self.stop()),
            false => partition(items, |x| self.key(x) < key, || self.stop()),
        }
    }
}

/// Sorts a slice; equal elements may change places. Whether it ended early.
pub(crate) fn sort<T: Copy, O: Order<T>>(items: &mut [T], order: O) -> bool {
    if items.len() <= order.shortest() {
        order.short(items);
        return false;
    }
    match run_at_start(items, order) {
        None => true,
        Some((n, descends)) if n == items.len() => {
            if descends {
                items.reverse();
            }
            order.settle(items);
            false
        }
        Some(_) => {
            let depth = 2 * (items.len() / order.shortest()).ilog2() + 8;
            sort_parts(items, order, None, depth)
        }
    }
}

/// Length of the ascending or strictly descending run that a slice begins with, and whether it descends. `None` if it
/// ended early.
fn run_at_start<T: Copy, O: Order<T>>(items: &[T], order: O) -> Option<(usize, bool)> {
    let is_less = |i: usize| order.key(&items[i]) < order.key(&items[i - 1]);
    let descends = is_less(1);
    let mut n = 1;
    while n < items.len() {
        if order.stop() {
            return None;
        }
        let end = (n + PIECE).min(items.len());
        let found = (n..end).find(|i| is_less(*i) != descends);
        n = found.unwrap_or(end);
        if found.is_some() {
            break;
        }
    }
    Some((n, descends))
}

/// Sorts a slice none of whose elements is less than `least`. A slice that parts badly too often is sorted as a short
/// one.
fn sort_parts<T: Copy, O: Order<T>>(mut items: &mut [T], order: O, mut least: Option<O::Key>, mut depth: u32) -> bool {
    while items.len() > order.shortest() && depth > 0 {
        depth -= 1;
        let pivot = sampled(items, order, |n| n / 2);
        let is_least = least.is_some_and(|least| least == order.key(&pivot));
        let Some(middle) = order.part(items, pivot, is_least) else { return true };
        let (left, right) = items.split_at_mut(middle);
        if is_least {
            order.settle(left);
        } else if sort_parts(left, order, least, depth) {
            return true;
        }
        (items, least) = (right, if is_least { None } else { Some(order.key(&pivot)) });
    }
    if order.stop() {
        return true;
    }
    order.short(items);
    false
}

/// Puts the element of rank `k` in its place, lesser ones before it and greater ones after it. Whether it ended early.
pub(crate) fn select<T: Copy, O: Order<T>>(items: &mut [T], k: usize, order: O) -> bool {
    if items.len() > shortest(order) {
        return select_long(items, k, order);
    }
    items.select_nth_unstable_by_key(k, |x| order.key(x));
    false
}

/// Longer slices are partitioned to select in them.
fn shortest<T: Copy>(order: impl Order<T>) -> usize {
    if order.shortest() < SHORT { FEW } else { SHORT }
}

/// `select` in a long slice. It is not inlined, because that made selection in short slices slower by a tenth.
#[inline(never)]
fn select_long<T: Copy, O: Order<T>>(mut items: &mut [T], mut k: usize, order: O) -> bool {
    let (mut depth, mut least) = (64, None);
    while items.len() > shortest(order) && depth > 0 {
        depth -= 1;
        let (rank, of) = (k, items.len());
        // With high probability the wanted element is on the side that has few others.
        let pivot = sampled(items, order, |n| {
            let (near, margin) = (rank * n / of, n.isqrt() / 2 + 1);
            if 2 * rank < of { (near + margin).min(n - 1) } else { near.saturating_sub(margin) }
        });
        let is_least = least.is_some_and(|least| least == order.key(&pivot));
        let Some(middle) = order.part(items, pivot, is_least) else { return true };
        if is_least {
            if k < middle {
                return false;
            }
            (items, k, least) = (&mut items[middle..], k - middle, None);
        } else if k < middle {
            items = &mut items[..middle];
        } else {
            (items, k, least) = (&mut items[middle..], k - middle, Some(order.key(&pivot)));
        }
    }
    if order.stop() {
        return true;
    }
    items.select_nth_unstable_by_key(k, |x| order.key(x));
    false
}

/// The element of a rank in a sample, which is told by the size of the sample.
fn sampled<T: Copy, O: Order<T>>(items: &[T], order: O, rank: impl FnOnce(usize) -> usize) -> T {
    let n = if items.len() < 8192 {
        31
    } else if items.len() < PIECE {
        127
    } else {
        SAMPLE
    };
    let step = items.len() / n;
    let mut sample = [items[0]; SAMPLE];
    let sample = &mut sample[..n];
    // Places vary within their steps, so that slices with a period are sampled as others.
    sample.iter_mut().enumerate().for_each(|(i, x)| *x = items[i * step + i * 40_503 % step]);
    let rank = rank(n);
    *sample.select_nth_unstable_by_key(rank, |x| order.key(x)).1
}

/// Moves the elements of which `is_left` is true to the front; how many there are, or `None` if it ended early.
fn partition<T: Copy>(items: &mut [T], is_left: impl Fn(&T) -> bool, stop: impl Fn() -> bool) -> Option<usize> {
    let (n, p) = (items.len(), items.as_mut_ptr());
    let mut left = 0;
    let mut i = 0;
    while i < n {
        if stop() {
            return None;
        }
        let end = (i + PIECE).min(n);
        while i < end {
            // SAFETY: `left <= i < n`. Between them stand elements of the right part, so that any of these may move to
            // `i`.
            unsafe {
                let x = p.add(i).read();
                p.add(i).write(p.add(left).read());
                p.add(left).write(x);
                left += usize::from(is_left(&x));
            }
            i += 1;
        }
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The order of the numbers, which ends early as a function tells.
    #[derive(Clone, Copy)]
    struct Until<F>(F);
    impl<F: Fn() -> bool + Copy> Order<u64> for Until<F> {
        type Key = u64;
        fn key(self, item: &u64) -> u64 {
            *item
        }
        fn stop(self) -> bool {
            self.0()
        }
        fn short(self, items: &mut [u64]) {
            items.sort_unstable();
        }
    }
    fn never() -> bool {
        false
    }

    /// Slices that are random, of few values, in order, in reverse, and of pieces in order.
    fn slices() -> Vec<Vec<u64>> {
        let n = 5 * PIECE as u64 + 17;
        let mix = |i: u64| i.wrapping_mul(6_364_136_223_846_793_005).rotate_left(29).wrapping_mul(i | 1);
        let makes: [&dyn Fn(u64) -> u64; 8] =
            [&mix, &|i| mix(i) % 3, &|_| 7, &|i| i, &|i| n - i, &|i| i % 1000, &|i| i.min(n - i), &|i| {
                u64::from(i == 5)
            }];
        makes.iter().map(|make| (0..n).map(make).collect()).collect()
    }

    #[test]
    fn long_slices_are_sorted() {
        for mut items in slices() {
            let mut want = items.clone();
            want.sort_unstable();
            assert!(!sort(&mut items, Until(never)));
            assert!(items == want);
        }
    }

    #[test]
    fn elements_are_selected_by_rank() {
        for items in slices() {
            let mut want = items.clone();
            want.sort_unstable();
            let n = items.len();
            for k in [0, 1, n / 3, n / 2, n - 1] {
                let mut parts = items.clone();
                assert!(!select(&mut parts, k, Until(never)));
                assert_eq!(parts[k], want[k]);
                assert!(parts[..k].iter().all(|x| *x <= want[k]) && parts[k..].iter().all(|x| *x >= want[k]));
            }
        }
    }

    #[test]
    fn a_slice_that_was_left_early_has_all_its_elements() {
        for items in slices() {
            let mut want = items.clone();
            want.sort_unstable();
            for asked in [0u32, 1, 3, 10, 30] {
                let left = Cell::new(asked);
                let stop = &|| left.replace(left.get().saturating_sub(1)) == 0;
                let (mut sorted, mut selected) = (items.clone(), items.clone());
                let early = sort(&mut sorted, Until(stop));
                assert!(early || sorted == want);
                left.set(asked);
                select(&mut selected, items.len() / 2, Until(stop));
                sorted.sort_unstable();
                selected.sort_unstable();
                assert!(sorted == want && selected == want);
            }
        }
    }
}
