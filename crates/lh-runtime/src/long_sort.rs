//! Sorting and selection in long slices, which end early when they are told to.
//!
//! The standard library's sorts cannot be stopped. A long slice is partitioned until its parts are short enough for
//! them; between parts, and now and then while it partitions, `stop` is asked. A slice that was left early has all its
//! elements, in any order.

/// Elements that are gone through without asking.
pub(crate) const PIECE: usize = 1 << 16;

/// Elements that are sorted without asking, which takes some ten milliseconds; tests have shorter slices.
const SHORT: usize = if cfg!(test) { PIECE } else { 8 * PIECE };

/// Elements among which a pivot is chosen.
const SAMPLE: usize = 127;

/// Sorts by a key, parts of a slice by `short`; equal elements may change places. Whether it ended early.
pub(crate) fn sort<T: Copy, K: Ord + Copy>(
    items: &mut [T],
    key: impl Fn(&T) -> K + Copy,
    short: impl Fn(&mut [T]) + Copy,
    stop: impl Fn() -> bool + Copy,
) -> bool {
    if items.len() <= SHORT {
        short(items);
        return false;
    }
    match run_at_start(items, key, stop) {
        None => true,
        Some((n, descends)) if n == items.len() => {
            if descends {
                items.reverse();
            }
            false
        }
        Some(_) => {
            let depth = 2 * (items.len() / SHORT).ilog2() + 8;
            sort_parts(items, key, short, stop, None, depth)
        }
    }
}

/// Length of the ascending or strictly descending run that a slice begins with, and whether it descends. `None` if it
/// ended early.
fn run_at_start<T, K: Ord>(
    items: &[T],
    key: impl Fn(&T) -> K + Copy,
    stop: impl Fn() -> bool,
) -> Option<(usize, bool)> {
    let descends = key(&items[1]) < key(&items[0]);
    let mut n = 1;
    while n < items.len() {
        if stop() {
            return None;
        }
        let end = (n + PIECE).min(items.len());
        let found = (n..end).find(|i| (key(&items[*i]) < key(&items[i - 1])) != descends);
        n = found.unwrap_or(end);
        if found.is_some() {
            break;
        }
    }
    Some((n, descends))
}

/// Sorts a slice none of whose elements is less than `least`. A slice that parts badly too often is left to `short`.
fn sort_parts<T: Copy, K: Ord + Copy>(
    mut items: &mut [T],
    key: impl Fn(&T) -> K + Copy,
    short: impl Fn(&mut [T]) + Copy,
    stop: impl Fn() -> bool + Copy,
    mut least: Option<K>,
    mut depth: u32,
) -> bool {
    while items.len() > SHORT && depth > 0 {
        depth -= 1;
        let pivot = sampled(items, key, items.len() / 2);
        let is_least = least.is_some_and(|least| least == pivot);
        let parted = match is_least {
            true => partition(items, |x| key(x) <= pivot, stop),
            false => partition(items, |x| key(x) < pivot, stop),
        };
        let Some(mid) = parted else { return true };
        let (left, right) = items.split_at_mut(mid);
        if !is_least && sort_parts(left, key, short, stop, least, depth) {
            return true;
        }
        (items, least) = (right, if is_least { None } else { Some(pivot) });
    }
    if stop() {
        return true;
    }
    short(items);
    false
}

/// Puts the element of rank `k` in its place, lesser ones before it and greater ones after it. Whether it ended early.
pub(crate) fn select<T: Copy, K: Ord + Copy>(
    items: &mut [T],
    k: usize,
    key: impl Fn(&T) -> K + Copy,
    stop: impl Fn() -> bool + Copy,
) -> bool {
    if items.len() > SHORT {
        return select_long(items, k, key, stop);
    }
    items.select_nth_unstable_by_key(k, key);
    false
}

/// `select` in a long slice. It is not inlined, because that made selection in short slices slower by a tenth.
#[inline(never)]
fn select_long<T: Copy, K: Ord + Copy>(
    mut items: &mut [T],
    mut k: usize,
    key: impl Fn(&T) -> K + Copy,
    stop: impl Fn() -> bool + Copy,
) -> bool {
    let mut depth = 64;
    while items.len() > SHORT && depth > 0 {
        depth -= 1;
        let pivot = sampled(items, key, k);
        let Some(mid) = partition(items, |x| key(x) < pivot, stop) else { return true };
        if k < mid {
            items = &mut items[..mid];
            continue;
        }
        (items, k) = (&mut items[mid..], k - mid);
        let Some(equal) = partition(items, |x| key(x) <= pivot, stop) else { return true };
        if k < equal {
            return false;
        }
        (items, k) = (&mut items[equal..], k - equal);
    }
    items.select_nth_unstable_by_key(k, key);
    false
}

/// The key that has about the rank `k`.
fn sampled<T, K: Ord + Copy>(items: &[T], key: impl Fn(&T) -> K, k: usize) -> K {
    let step = items.len() / SAMPLE;
    let mut keys: [K; SAMPLE] = std::array::from_fn(|i| key(&items[i * step + step / 2]));
    keys.sort_unstable();
    keys[(k / step).min(SAMPLE - 1)]
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
            assert!(!sort(&mut items, |x| *x, |part| part.sort_unstable(), never));
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
                assert!(!select(&mut parts, k, |x| *x, never));
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
                let stop = || left.replace(left.get().saturating_sub(1)) == 0;
                let (mut sorted, mut selected) = (items.clone(), items.clone());
                let early = sort(&mut sorted, |x| *x, |part| part.sort_unstable(), stop);
                assert!(early || sorted == want);
                left.set(asked);
                select(&mut selected, items.len() / 2, |x| *x, stop);
                sorted.sort_unstable();
                selected.sort_unstable();
                assert!(sorted == want && selected == want);
            }
        }
    }
}
