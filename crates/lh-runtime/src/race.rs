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
//!
//! Kernels say the same of their accesses; what meets there is for `device/check`.

pub(crate) mod place;
pub(crate) mod shadow;

use crate::classes::PARALLEL_RACE_ERROR;
use crate::device::check::{Access, Check};
use crate::exception::raise;
use crate::list::List;
use crate::symbol::{Symbol, functions};
use lh_ir::Span;
use lh_ops::runtime::access;
use place::{Site, Sites, Target};
use shadow::Shadow;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;

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
    shadow: Shadow<Element>,
    sites: Sites,
    target: Target,
    /// What was there before the last store of what does not change in its loop.
    before: Vec<u8>,
    /// A loop that is about to begin.
    next: Option<Region>,
    /// The launch of a kernel that is being checked.
    kernel: Option<Box<Check>>,
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
            c.shadow.clear();
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
        CHECKER.with_borrow_mut(|c| {
            c.shadow.fresh(data as i64, bytes as i64);
            if let Some(k) = &mut c.kernel {
                k.fresh(data as i64, bytes as i64);
            }
        });
    }
}

/// Begins a checked launch.
pub(crate) fn begin_kernel(check: Check) {
    CHECKER.with_borrow_mut(|c| *c = Checker { kernel: Some(Box::new(check)), ..Checker::default() });
    ACTIVE.set(true);
}

/// Ends the launch that has begun.
pub(crate) fn end_kernel() -> Option<Box<Check>> {
    ACTIVE.set(false);
    CHECKER.take().kernel
}

/// Tells the check of the launch that runs on this thread something, if it is checked.
pub(crate) fn tell_kernel(tell: impl FnOnce(&mut Check, &Sites)) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| {
            if let Some(k) = &mut c.kernel {
                tell(k, &c.sites);
            }
        });
    }
}

/// Where the user's code is; another thread of a kernel is elsewhere.
pub(crate) fn place() -> u32 {
    if ACTIVE.get() { CHECKER.with_borrow(|c| c.sites.now) } else { 0 }
}

/// Goes back to a place.
pub(crate) fn set_place(place: u32) {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| c.sites.now = place);
    }
}

impl Checker {
    /// An access; the text of the error if it meets another. If it `agrees`, it writes what was there.
    fn access(&mut self, site: u32, start: i64, bytes: i64, writes: bool, agrees: bool) -> Option<String> {
        let end = start + bytes;
        if self.now == 0 || self.regions.iter().any(|r| r.own.iter().any(|(low, high)| *low <= start && end <= *high)) {
            return None;
        }
        let mine = Use { node: self.now, site };
        let nodes = &self.nodes;
        let (at, first, second) = self.shadow.find(start, bytes, |at, e| {
            let others = [(e.writer, true), (e.reader, false)];
            for (other, wrote) in
                others.into_iter().filter(|(o, wrote)| o.node != 0 && if *wrote { !agrees } else { writes })
            {
                if let Some((a, b)) = meet(nodes, other.node, mine.node) {
                    return Some((at, (a, other, wrote), (b, mine, writes)));
                }
            }
            // A reader stays while it may meet those who come: then it meets all whom this one would meet.
            let keeps = e.reader.node != 0 && meet(nodes, e.reader.node, mine.node).is_some();
            if writes {
                e.writer = mine;
            } else if !keeps {
                e.reader = mine;
            }
            None
        })?;
        Some(self.text(at, first, second))
    }

    fn text(&self, at: i64, first: (Node, Use, bool), second: (Node, Use, bool)) -> String {
        let region = self.regions.iter().find(|r| r.number == second.0.region).map_or(0, |r| r.site);
        let Site { file, span } = self.sites.get(region);
        let line = span.line;
        let part = |(node, used, wrote): (Node, Use, bool)| {
            let Site { file: other, span: Span { line, .. } } = self.sites.get(used.site);
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

/// The iterations of one loop in which two nodes lie; `None` if one comes after the other.
fn meet(nodes: &[Node], a: u32, b: u32) -> Option<(Node, Node)> {
    let (mut a, mut b) = (a as usize, b as usize);
    while nodes[a].depth > nodes[b].depth {
        a = nodes[a].parent as usize;
    }
    while nodes[b].depth > nodes[a].depth {
        b = nodes[b].parent as usize;
    }
    while a != b && nodes[a].parent != nodes[b].parent {
        (a, b) = (nodes[a].parent as usize, nodes[b].parent as usize);
    }
    let (a, b) = (nodes[a], nodes[b]);
    (a.region == b.region && a.iteration != b.iteration).then_some((a, b))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_loop(_owner: *const c_void, file: *const u8, len: i64, line: i64) {
    CHECKER.with_borrow_mut(|c| {
        let site = c.sites.number(file, len, line);
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
        CHECKER.with_borrow_mut(|c| c.sites.now = c.sites.number(file, len, line));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_array(_owner: *const c_void, name: *const u8, len: i64, data: *const u8, item: i64) {
    if !ACTIVE.get() {
        return;
    }
    CHECKER.with_borrow_mut(|c| {
        c.target.name = (name, len);
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
    kind: i64,
) -> i32 {
    if !ACTIVE.get() || bytes <= 0 {
        return 0;
    }
    let found = CHECKER.with_borrow_mut(|c| {
        let site = c.sites.number(file, len, line);
        if let Checker { kernel: Some(kernel), sites, target, .. } = c {
            kernel.access(&Access { sites, target, site, at: address as i64, bytes, kind });
            return None;
        }
        // SAFETY: compiled code stores to these bytes, or has just done so.
        let there = || unsafe { std::slice::from_raw_parts(address, bytes as usize) };
        if kind == access::BEFORE {
            c.before = there().to_vec();
            return None;
        }
        let agrees = kind == access::SAME && c.before == there();
        c.access(site, address as i64, bytes, kind != access::READ, agrees)
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
    kind: i64,
) -> i32 {
    // Its name is told, and no index.
    CHECKER.with_borrow_mut(|c| c.target.dims.clear());
    // SAFETY: as for any access; the header is looked at as an address only.
    unsafe { lh_race_access(owner, file, len, line, list.cast(), bytes, kind) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_memory(data: *const u8, bytes: i64, is_array: i64) {
    if bytes > 0 {
        tell_kernel(|k, _| k.own(data as i64, bytes, is_array != 0));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lh_race_handed() {
    if ACTIVE.get() {
        CHECKER.with_borrow_mut(|c| {
            if let (Some(k), (start, bytes @ 1..)) = (&mut c.kernel, c.target.extent()) {
                k.handed((start, bytes));
            }
        });
    }
}

pub(crate) fn symbols() -> Vec<Symbol> {
    functions! {
        () lh_race_handed;
        (_) lh_race_iteration;
        (_ _) lh_race_own lh_race_extent;
        (_ _ _) lh_race_memory;
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
        Checker { nodes: vec![root], ..Checker::default() }
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
            assert_eq!(c.access(0, 4096, 8, false, false), None);
        }
        assert!(c.access(0, 4096, 8, true, false).is_some_and(|t| t.contains("iterations 0 and 2")));
        assert_eq!(c.access(0, 4104, 8, true, false), None);
    }

    #[test]
    fn smaller_elements_are_told_apart() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(c.access(0, 8192, 8, true, false), None);
        assert_eq!(c.access(0, 8200, 1, true, false), None);
        enter(&mut c, 0, 1, 1);
        assert_eq!(c.access(0, 8201, 1, true, false), None);
        assert!(c.access(0, 8195, 1, true, false).is_some());
        // Across the end of a page.
        assert_eq!(c.access(0, 12284, 8, true, false), None);
        enter(&mut c, 0, 1, 2);
        assert!(c.access(0, 12288, 4, false, false).is_some());
    }

    #[test]
    fn loops_one_after_the_other_do_not_meet() {
        let mut c = checker();
        let outer = enter(&mut c, 0, 1, 0);
        enter(&mut c, outer, 2, 0);
        assert_eq!(c.access(0, 4096, 4, true, false), None);
        enter(&mut c, outer, 3, 1);
        assert_eq!(c.access(0, 4096, 4, true, false), None);
        c.now = outer;
        assert_eq!(c.access(0, 4096, 4, true, false), None);
        enter(&mut c, 0, 1, 1);
        assert!(c.access(0, 4096, 4, false, false).is_some_and(|t| t.contains("iterations 0 and 1")));
    }

    #[test]
    fn new_memory_was_used_by_nobody() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(c.access(0, 4096, 8, true, false), None);
        c.shadow.fresh(4090, 10);
        enter(&mut c, 0, 1, 1);
        assert_eq!(c.access(0, 4096, 8, true, false), None);
    }
}
