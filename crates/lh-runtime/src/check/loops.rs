//! Conflicts between the iterations of parallel loops.
//!
//! Checked loops run on the thread that begins them, block after block. For every element the check keeps the last
//! write and one of the reads since: with iterations run in order that is enough to find a conflict at an element if
//! there is one (Feng and Leiserson 1997). A conflict is between iterations, not threads, so that the first one found
//! is the same in every run.
//!
//! Iterations of nested loops form a tree. Two accesses conflict if the paths from the root to their iterations part in
//! two iterations of one loop. Loops that run one after the other do not conflict.

use super::shadow::Shadow;
use super::sites::{Site, Sites, Target};
use lh_ir::Span;

/// An iteration; number 0 is the code outside of all loops.
#[derive(Clone, Copy)]
struct Node {
    parent: u32,
    depth: u32,
    /// The number of a loop's run.
    region: u32,
    iteration: i64,
}

/// An access of an element: the iteration and the place in the source; 0 and 0 if there was none.
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
pub(super) struct Region {
    number: u32,
    site: u32,
    /// The iteration that it is part of.
    around: u32,
    /// Memory that is not checked: results that belong to one block of iterations.
    exempt: Vec<(i64, i64)>,
}

/// The check of the loops that run on a thread.
#[derive(Default)]
pub(super) struct LoopCheck {
    nodes: Vec<Node>,
    now: u32,
    regions: Vec<Region>,
    /// Number of loops that have run so far.
    runs: u32,
    shadow: Shadow<Element>,
    /// A loop that is about to begin.
    pub(super) next: Option<Region>,
}

/// Two accesses of one element in different iterations, each with whether it writes.
#[derive(Clone, Copy)]
pub(super) struct Conflict {
    at: i64,
    first: (Node, Use, bool),
    second: (Node, Use, bool),
}

impl LoopCheck {
    /// Announces a loop at a place in the source.
    pub(super) fn announce(&mut self, site: u32) {
        self.next = Some(Region { number: 0, site, around: 0, exempt: Vec::new() });
    }

    /// Leaves memory of the announced loop out of the check.
    pub(super) fn exempt(&mut self, start: i64, bytes: i64) {
        if let Some(next) = &mut self.next {
            next.exempt.push((start, start + bytes));
        }
    }

    /// Begins the announced loop; false if there is none.
    pub(super) fn begin(&mut self) -> bool {
        let Some(mut region) = self.next.take() else { return false };
        if self.regions.is_empty() {
            self.nodes = vec![Node { parent: 0, depth: 0, region: 0, iteration: 0 }];
            (self.now, self.runs) = (0, 0);
            self.shadow.clear();
        }
        self.runs += 1;
        (region.number, region.around) = (self.runs, self.now);
        self.regions.push(region);
        true
    }

    /// Begins an iteration of the innermost loop.
    pub(super) fn iteration(&mut self, iteration: i64) {
        let Some(&Region { number: region, around: parent, .. }) = self.regions.last() else { return };
        let depth = self.nodes[parent as usize].depth + 1;
        self.now = self.nodes.len() as u32;
        self.nodes.push(Node { parent, depth, region, iteration });
    }

    /// Ends the innermost loop; whether it was the outermost.
    pub(super) fn end(&mut self) -> bool {
        if let Some(region) = self.regions.pop() {
            self.now = region.around;
        }
        self.regions.is_empty()
    }

    /// Forgets the accesses to some memory.
    pub(super) fn forget(&mut self, start: i64, bytes: i64) {
        self.shadow.forget(start, bytes);
    }

    /// Notes an access; the conflict with an earlier one, if there is one. An access that `is_same` writes the value
    /// that was there, and does not conflict with other writes.
    pub(super) fn access(
        &mut self,
        site: u32,
        start: i64,
        bytes: i64,
        writes: bool,
        is_same: bool,
    ) -> Option<Conflict> {
        let end = start + bytes;
        let is_exempt = |r: &Region| r.exempt.iter().any(|(low, high)| *low <= start && end <= *high);
        if self.now == 0 || self.regions.iter().any(is_exempt) {
            return None;
        }
        let mine = Use { node: self.now, site };
        let nodes = &self.nodes;
        self.shadow.find(start, bytes, |at, e| {
            let others = [(e.writer, true), (e.reader, false)];
            for (other, wrote) in
                others.into_iter().filter(|(o, wrote)| o.node != 0 && if *wrote { !is_same } else { writes })
            {
                if let Some((a, b)) = parted(nodes, other.node, mine.node) {
                    return Some(Conflict { at, first: (a, other, wrote), second: (b, mine, writes) });
                }
            }
            // A reader is kept while it can conflict with this iteration: then it conflicts with every later iteration
            // that this one would conflict with.
            let keeps = e.reader.node != 0 && parted(nodes, e.reader.node, mine.node).is_some();
            if writes {
                e.writer = mine;
            } else if !keeps {
                e.reader = mine;
            }
            None
        })
    }

    /// The text of the error for a conflict.
    pub(super) fn text(&self, conflict: &Conflict, sites: &Sites, target: &Target) -> String {
        let Conflict { at, first, second } = *conflict;
        let region = self.regions.iter().find(|r| r.number == second.0.region).map_or(0, |r| r.site);
        let Site { file, span } = sites.get(region);
        let line = span.line;
        let part = |(node, used, wrote): (Node, Use, bool)| {
            let Site { file: other, span: Span { line, .. } } = sites.get(used.site);
            let file = if other == file { String::new() } else { format!(" of {other}") };
            let verb = if wrote { "writes" } else { "reads" };
            format!("line {line}{file} {verb} it in iteration {}", node.iteration)
        };
        format!(
            "iterations {} and {} of the parallel loop at {file}:{line} meet at {}: {}, {}",
            first.0.iteration,
            second.0.iteration,
            target.element(at),
            part(first),
            part(second)
        )
    }
}

/// The two iterations of one loop in which the paths to two nodes part; `None` if they part in different loops, or one
/// node is in the other.
fn parted(nodes: &[Node], a: u32, b: u32) -> Option<(Node, Node)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn checker() -> LoopCheck {
        let root = Node { parent: 0, depth: 0, region: 0, iteration: 0 };
        LoopCheck { nodes: vec![root], ..LoopCheck::default() }
    }

    fn found(c: &mut LoopCheck, start: i64, bytes: i64, writes: bool) -> Option<String> {
        let conflict = c.access(0, start, bytes, writes, false)?;
        Some(c.text(&conflict, &Sites::default(), &Target::default()))
    }

    fn enter(c: &mut LoopCheck, parent: u32, region: u32, iteration: i64) -> u32 {
        let depth = c.nodes[parent as usize].depth + 1;
        c.nodes.push(Node { parent, depth, region, iteration });
        c.now = c.nodes.len() as u32 - 1;
        c.now
    }

    #[test]
    fn reads_do_not_conflict_and_a_write_does() {
        let mut c = checker();
        for i in 0..3 {
            enter(&mut c, 0, 1, i);
            assert_eq!(found(&mut c, 4096, 8, false), None);
        }
        assert!(found(&mut c, 4096, 8, true).is_some_and(|t| t.contains("iterations 0 and 2")));
        assert_eq!(found(&mut c, 4104, 8, true), None);
    }

    #[test]
    fn smaller_elements_are_told_apart() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(found(&mut c, 8192, 8, true), None);
        assert_eq!(found(&mut c, 8200, 1, true), None);
        enter(&mut c, 0, 1, 1);
        assert_eq!(found(&mut c, 8201, 1, true), None);
        assert!(found(&mut c, 8195, 1, true).is_some());
        // Across the end of a page.
        assert_eq!(found(&mut c, 12284, 8, true), None);
        enter(&mut c, 0, 1, 2);
        assert!(found(&mut c, 12288, 4, false).is_some());
    }

    #[test]
    fn loops_one_after_the_other_do_not_conflict() {
        let mut c = checker();
        let outer = enter(&mut c, 0, 1, 0);
        enter(&mut c, outer, 2, 0);
        assert_eq!(found(&mut c, 4096, 4, true), None);
        enter(&mut c, outer, 3, 1);
        assert_eq!(found(&mut c, 4096, 4, true), None);
        c.now = outer;
        assert_eq!(found(&mut c, 4096, 4, true), None);
        enter(&mut c, 0, 1, 1);
        assert!(found(&mut c, 4096, 4, false).is_some_and(|t| t.contains("iterations 0 and 1")));
    }

    #[test]
    fn new_memory_was_used_by_nobody() {
        let mut c = checker();
        enter(&mut c, 0, 1, 0);
        assert_eq!(found(&mut c, 4096, 8, true), None);
        c.forget(4090, 10);
        enter(&mut c, 0, 1, 1);
        assert_eq!(found(&mut c, 4096, 8, true), None);
    }
}
