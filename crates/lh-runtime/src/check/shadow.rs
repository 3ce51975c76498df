//! Shadow memory: for each element of the memory that checked code uses, the accesses that a check keeps.

use std::collections::HashMap;

/// Bytes of a page, as a power of two.
const PAGE: u32 = 12;
/// The coarsest elements, as a power of two: complex numbers.
const COARSEST: u32 = 4;

/// Elements of one size, a power of two.
struct Page<E> {
    shift: u32,
    elements: Vec<E>,
}

impl<E: Copy + Default> Page<E> {
    fn new(shift: u32) -> Page<E> {
        Page { shift, elements: vec![E::default(); 1 << (PAGE - shift)] }
    }

    /// Splits elements, since an access is to smaller ones.
    fn refine(&mut self, shift: u32) {
        if shift < self.shift {
            let parts = 1 << (self.shift - shift);
            self.elements = self.elements.iter().flat_map(|e| std::iter::repeat_n(*e, parts)).collect();
            self.shift = shift;
        }
    }
}

/// Pages by address.
pub(super) struct Shadow<E>(HashMap<i64, Page<E>>);

impl<E> Default for Shadow<E> {
    fn default() -> Self {
        Shadow(HashMap::new())
    }
}

impl<E: Copy + Default> Shadow<E> {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets the accesses to some memory.
    pub(super) fn forget(&mut self, start: i64, bytes: i64) {
        let end = start + bytes;
        for page in (start >> PAGE)..=((end - 1) >> PAGE) {
            let Some(p) = self.0.get_mut(&page) else { continue };
            let base = page << PAGE;
            let (low, high) = ((start - base).max(0), (end - base).min(1 << PAGE));
            let (low, high) = (low >> p.shift, (high + (1 << p.shift) - 1) >> p.shift);
            p.elements[low as usize..high as usize].fill(E::default());
        }
    }

    /// Visits all elements.
    pub(super) fn for_each(&mut self, f: impl FnMut(&mut E)) {
        self.0.values_mut().flat_map(|p| &mut p.elements).for_each(f);
    }

    /// Visits the elements of some memory with their addresses, up to the first for which `f` gives something.
    pub(super) fn find<T>(&mut self, start: i64, bytes: i64, mut f: impl FnMut(i64, &mut E) -> Option<T>) -> Option<T> {
        let end = start + bytes;
        let fits = (start | bytes).trailing_zeros().min(COARSEST);
        let mut at = start;
        while at < end {
            let page = at >> PAGE;
            let base = page << PAGE;
            let p = self.0.entry(page).or_insert_with(|| Page::new(fits));
            p.refine(fits);
            let upto = end.min((page + 1) << PAGE);
            while at < upto {
                let k = (at - base) >> p.shift;
                if let Some(found) = f(at, &mut p.elements[k as usize]) {
                    return Some(found);
                }
                at = base + ((k + 1) << p.shift);
            }
        }
        None
    }
}
