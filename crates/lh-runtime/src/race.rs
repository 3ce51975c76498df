//! Checks at run time that the iterations of parallel loops do not meet: `LANCEHEAD_RACE=1`.
//!
//! Checked loops run on the thread that begins them, block after block. Compiled code says which iteration begins, and
//! of each access the place in the source, the address and the size. For every element the checker keeps who wrote it
//! last and one of those who read it since: with iterations run in order that is enough to find a conflict at an element
//! if there is one (Feng and Leiserson 1997). What counts is the iteration, not the thread, so that the first conflict
//! is the same in every run.
//!
//! Iterations of loops inside loops form a tree: two accesses meet where their ways from the root part in two iterations
//! of one loop. Loops that come one after the other do not meet.

use crate::classes::PARALLEL_RACE_ERROR;
use crate::exception::raise;
use crate::list::List;
use crate::symbol::{Symbol, functions};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;

/// Bytes of a page of the shadow memory, as a power of two.
const PAGE: u32 = 12;
/// The coarsest elements, as a power of two: complex numbers.
const COARSEST: u32 = 4;

/// An iteration; number 0 is what is outside of all loops.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    depth: u32,
    /// Which run of which loop.
    region: u32,
    iteration: i64,
}

/// Who used an element: an iteration and a place; 0 and 0 if nobody.
#[derive(Clone, Copy, Default)]
struct Use {
    node: u32,
    site: u32,
}

#[derive(Clone, Copy, Default)]
struct Element {
    writer: Use,
    reader: Use,
}

/// Elements of one size, a power of two.
struct Page {
    shift: u32,
    elements: Vec<Element>,
}

impl Page {
    fn new(shift: u32) -> Page {
        Page { shift, elements: vec![Element::default(); 1 << (PAGE - shift)] }
    }

    /// Takes elements apart: somebody uses smaller ones.
    fn refine(&mut self, shift: u32) {
        if shift < self.shift {
            let parts = 1 << (self.shift - shift);
            self.elements = self.elements.iter().flat_map(|e| std::iter::repeat_n(*e, parts)).collect();
            self.shift = shift;
        }
    }
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct Site {
    file: String,
    line: i64,
}

/// The array or list that an access goes to.
#[derive(Default)]
struct Target {
    name: String,
    data: i64,
    item: i64,
    /// Extents and strides.
    dims: Vec<(i64, i64)>,
}

/// A loop that is being checked.
struct Region {
    number: u32,
    site: u32,
    /// The iteration that it is part of.
    around: u32,
    /// Memory that is not looked at: blocks' own results.
    own: Vec<(i64, i64)>,
}

#[derive(Default)]
struct Checker {
    nodes: Vec<Node>,
    now: u32,
    regions: Vec<Region>,
    /// Runs of loops so far.
    runs: u32,
    pages: HashMap<i64, Page>,
    sites: Vec<Site>,
    by_place: HashMap<(usize, i64), u32>,
    /// Where the user's code is, for accesses in the library's.
    place: u32,
    target: Target,
    /// A loop that is about to begin.
    next: Option<Region>,
}

thread_local! {
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static CHECKER: RefCell<Checker> = RefCell::default();
}

/// Whether a checked loop runs on this thread.
pub(crate) fn is_active() -> bool {
    ACTIVE.get()
}

/// Begins the loop that compiled code has announced; whether it has.
pub(crate) fn begin() -> bool {
    CHECKER.with_borrow_mut(|c| {
        let Some(mut region) = c.next.take() else { return false };
        if c.regions.is_empty() {
            c.nodes = vec![Node { parent: 0, depth: 0, region: 0, iteration: 0 }];
            (c.now, c.runs) = (0, 0);
            c.pages.clear();
        }
        c.runs += 1;
        (region.number, region.around) = (c.runs, c.now);
        c.regions.push(region);
        ACTIVE.set(true);
        true
    })
}

/// Takes an announcement back: the loop has no iterations.
pub(crate) fn forget() {
    CHECKER.with_borrow_mut(|c| c.next = None);
}

/// Ends the loop that began last.
pub(crate) fn end() {
    CHECKER.with_borrow_mut(|c| {
        if let Some(region) = c.regions.pop() {
            c.now = region.around;
        }
        if c.regions.is_empty() {
            ACTIVE.set(false);
            *c = Checker::default();
        }
    });
}

/// Memory is new: nobody has used it.
pub(crate) fn fresh(data: *const u8, bytes: usize) {
    if ACTIVE.get() && bytes > 0 {
        CHECKER.with_borrow_mut(|c| c.fresh(data as i64, bytes as i64));
    }
}

impl Checker {
    fn fresh(&mut self, start: i64, bytes: i64) {
        let end = start + bytes;
        for page in (start >> PAGE)..=((end - 1) >> PAGE) {
            let Some(p) = self.pages.get_mut(&page) else { continue };
            let base = page << PAGE;
            let (low, high) = ((start - base).max(0), (end - base).min(1 << PAGE));
            let (low, high) = (low >> p.shift, (high + (1 << p.shift) - 1) >> p.shift);
            p.elements[low as usize..high as usize].fill(Element::default());
        }
    }

    /// The number of a place; line 0 is the library's, which counts as the user's line that called it.
    fn site(&mut self, file: *const u8, len: i64, line: i64) -> u32 {
        if line == 0 {
            return self.place;
        }
        if let Some(s) = self.by_place.get(&(file as usize, line)) {
            return *s;
        }
        // SAFETY: compiled code passes the text of a constant.
        let bytes = unsafe { std::slice::from_raw_parts(file, len as usize) };
        let site = Site { file: String::from_utf8_lossy(bytes).into_owned(), line };
        let number = self.sites.iter().position(|s| *s == site).unwrap_or_else(|| {
            self.sites.push(site);
            self.sites.len() - 1
        });
        self.by_place.insert((file as usize, line), number as u32);
        number as u32
    }

    /// The iterations of one loop in which two nodes lie; `None` if one comes after the other.
    fn meet(&self, a: u32, b: u32) -> Option<(Node, Node)> {
        let (mut a, mut b) = (a as usize, b as usize);
        while self.nodes[a].depth > self.nodes[b].depth {
            a = self.nodes[a].parent as usize;
        }
        while self.nodes[b].depth > self.nodes[a].depth {
            b = self.nodes[b].parent as usize;
        }
        while a != b && self.nodes[a].parent != self.nodes[b].parent {
            (a, b) = (self.nodes[a].parent as usize, self.nodes[b].parent as usize);
        }
        let (a, b) = (self.nodes[a], self.nodes[b]);
        (a.region == b.region && a.iteration != b.iteration).then_some((a, b))
    }

    /// An access; the text of the error if it meets another.
    fn access(&mut self, site: u32, start: i64, bytes: i64, writes: bool) -> Option<String> {
        let end = start + bytes;
        if self.now == 0 || self.regions.iter().any(|r| r.own.iter().any(|(low, high)| *low <= start && end <= *high)) {
            return None;
        }
        let fits = ((start | bytes).trailing_zeros()).min(COARSEST);
        let mut at = start;
        while at < end {
            let page = at >> PAGE;
            let p = self.pages.entry(page).or_insert_with(|| Page::new(fits));
            p.refine(fits);
            let shift = p.shift;
            let upto = end.min((page + 1) << PAGE);
            while at < upto {
                let k = ((at - (page << PAGE)) >> shift) as usize;
                let element = self.pages[&page].elements[k];
                let mine = Use { node: self.now, site };
                let others = [(element.writer, true), (element.reader, false)];
                for (other, wrote) in others.into_iter().filter(|(o, wrote)| o.node != 0 && (*wrote || writes)) {
                    if let Some((a, b)) = self.meet(other.node, mine.node) {
                        return Some(self.text(at, (a, other, wrote), (b, mine, writes)));
                    }
                }
                // A reader stays while it may meet those who come: then it meets all whom this one would meet.
                let keeps = element.reader.node != 0 && self.meet(element.reader.node, mine.node).is_some();
                let e = &mut self.pages.get_mut(&page).expect("looked at above").elements[k];
                if writes {
                    e.writer = mine;
                } else if !keeps {
                    e.reader = mine;
                }
                at = ((at >> shift) + 1) << shift;
            }
        }
        None
    }

    fn text(&self, at: i64, first: (Node, Use, bool), second: (Node, Use, bool)) -> String {
        let place = |site: u32| self.sites.get(site as usize).cloned().unwrap_or_default();
        let region = self.regions.iter().find(|r| r.number == second.0.region).map_or(0, |r| r.site);
        let Site { file, line } = place(region);
        let part = |(node, used, wrote): (Node, Use, bool)| {
            let Site { file: other, line } = place(used.site);
            let file = if other == file { String::new() } else { format!(" of {other}") };
            let verb = if wrote { "writes" } else { "reads" };
            format!("line {line}{file} {verb} it in iteration {}", node.iteration)
        };
        format!(
            "iterations {} and {} of the parallel loop at {file}:{line} meet at {}: {}, {}",
            first.0.iteration,
            second.0.iteration,
            self.target.element(at),
            part(first),
            part(second)
        )
    }
}

impl Target {
    /// The element of an address as Python writes it, as far as it is known.
    fn element(&self, at: i64) -> String {
        let known = !self.name.is_empty();
        match self.index(at) {
            Some(index) if known => format!("`{}[{index}]`", self.name),
            Some(index) => format!("element `[{index}]` of an array"),
            None if known => format!("`{}`", self.name),
            None => "an element".to_owned(),
        }
    }

    fn index(&self, at: i64) -> Option<String> {
        if self.dims.is_empty() {
            return None;
        }
        let lowest: i64 = self.dims.iter().map(|(n, stride)| ((n - 1) * stride).min(0)).sum();
        let mut offset = at - self.data - lowest;
        let mut order: Vec<usize> = (0..self.dims.len()).collect();
        order.sort_by_key(|d| std::cmp::Reverse(self.dims[*d].1.abs()));
        let mut index = vec![0; self.dims.len()];
        for d in order {
            let (n, stride) = self.dims[d];
            let k = if stride == 0 { 0 } else { (offset / stride.abs()).min(n - 1) };
            offset -= k * stride.abs();
            index[d] = if stride < 0 { n - 1 - k } else { k };
        }
        let fits = (0..self.item.max(1)).contains(&offset);
        fits.then(|| index.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_loop(_owner: *const c_void, file: *const u8, len: i64, line: i64) {
    CHECKER.with_borrow_mut(|c| {
        let site = c.site(file, len, line);
        c.next = Some(Region { number: 0, site, around: 0, own: Vec::new() });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_own(data: *const u8, bytes: i64) {
    CHECKER.with_borrow_mut(|c| {
        if let Some(next) = &mut c.next {
            next.own.push((data as i64, data as i64 + bytes));
        }
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_iteration(iteration: i64) {
    if !ACTIVE.get() {
        return;
    }
    CHECKER.with_borrow_mut(|c| {
        let Some(Region { number: region, around: parent, .. }) =
            c.regions.last().map(|r| Region { own: Vec::new(), ..*r })
        else {
            return;
        };
        let depth = c.nodes[parent as usize].depth + 1;
        c.now = c.nodes.len() as u32;
        c.nodes.push(Node { parent, depth, region, iteration });
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_place(_owner: *const c_void, file: *const u8, len: i64, line: i64) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.place = c.site(file, len, line));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_array(_owner: *const c_void, name: *const u8, len: i64, data: *const u8, item: i64) {
    if !ACTIVE.get() {
        return;
    }
    // SAFETY: compiled code passes the text of a constant.
    let name = unsafe { std::slice::from_raw_parts(name, len as usize) };
    CHECKER.with_borrow_mut(|c| {
        c.target.name.clear();
        c.target.name.push_str(&String::from_utf8_lossy(name));
        (c.target.data, c.target.item) = (data as i64, item);
        c.target.dims.clear();
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_extent(n: i64, stride: i64) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.target.dims.push((n, stride)));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_access(
    _owner: *const c_void,
    file: *const u8,
    len: i64,
    line: i64,
    address: *const u8,
    bytes: i64,
    writes: i64,
) -> i32 {
    if !ACTIVE.get() || bytes <= 0 {
        return 0;
    }
    let found = CHECKER.with_borrow_mut(|c| {
        let site = c.site(file, len, line);
        c.access(site, address as i64, bytes, writes != 0)
    });
    found.map_or(0, |text| raise(PARALLEL_RACE_ERROR, text))
}

/// See [`lh_race_access`].
#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_list(
    owner: *const c_void,
    file: *const u8,
    len: i64,
    line: i64,
    list: *const List,
    bytes: i64,
    writes: i64,
) -> i32 {
    // Its name is told, and no index.
    CHECKER.with_borrow_mut(|c| c.target.dims.clear());
    // SAFETY: as for any access; the header is looked at as an address only.
    unsafe { lh_race_access(owner, file, len, line, list.cast(), bytes, writes) }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        (_) lh_race_iteration;
        (_ _) lh_race_own lh_race_extent;
        (_ _ _ _) lh_race_loop lh_race_place;
        (_ _ _ _ _) lh_race_array;
        (_ _ _ _ _ _ _) lh_race_access lh_race_list;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checker() -> Checker {
        let root = Node { parent: 0, depth: 0, region: 0, iteration: 0 };
        Checker { nodes: vec![root], sites: vec![Site::default()], ..Checker::default() }
    }

    fn enter(c: &mut Checker, parent: u32, region: u32, iteration: i64) -> u32 {
        let depth = c.nodes[parent as usize].depth + 1;
        c.nodes.push(Node { parent, depth, region, iteration });
        c.now = c.nodes.len() as u32 - 1;
        c.now
    }

    #[test]
    fn reads_do_not_meet_and_a_write_meets_them() {
        let mut c = checker();
        for i in 0..3 {
            enter(&mut c, 0, 1, i);
            assert_eq!(c.access(0, 4096, 8, false), None);
        }
        assert!(c.access(0, 4096, 8, true).is_some_and(|t| t.contains("iterations 0 and 2")));
        assert_eq!(c.access(0, 4104, 8, true), None);
    }

    #[test]
    fn smaller_elements_are_told_apart() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(c.access(0, 8192, 8, true), None);
        assert_eq!(c.access(0, 8200, 1, true), None);
        enter(&mut c, 0, 1, 1);
        assert_eq!(c.access(0, 8201, 1, true), None);
        assert!(c.access(0, 8195, 1, true).is_some());
        // Across the end of a page.
        assert_eq!(c.access(0, 12284, 8, true), None);
        enter(&mut c, 0, 1, 2);
        assert!(c.access(0, 12288, 4, false).is_some());
    }

    #[test]
    fn loops_one_after_the_other_do_not_meet() {
        let mut c = checker();
        let outer = enter(&mut c, 0, 1, 0);
        enter(&mut c, outer, 2, 0);
        assert_eq!(c.access(0, 4096, 4, true), None);
        enter(&mut c, outer, 3, 1);
        assert_eq!(c.access(0, 4096, 4, true), None);
        c.now = outer;
        assert_eq!(c.access(0, 4096, 4, true), None);
        enter(&mut c, 0, 1, 1);
        assert!(c.access(0, 4096, 4, false).is_some_and(|t| t.contains("iterations 0 and 1")));
    }

    #[test]
    fn new_memory_was_used_by_nobody() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(c.access(0, 4096, 8, true), None);
        c.fresh(4090, 10);
        enter(&mut c, 0, 1, 1);
        assert_eq!(c.access(0, 4096, 8, true), None);
    }

    #[test]
    fn elements_are_named_by_index() {
        let dims = vec![(3, 32), (4, -8)];
        let t = Target { name: "a".to_owned(), data: 1024, item: 8, dims };
        assert_eq!(t.element(1024 + 32 - 16), "`a[1, 2]`");
        assert_eq!(Target { name: String::new(), ..Target::default() }.element(5), "an element");
    }
}
