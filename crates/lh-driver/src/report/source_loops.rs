//! Loops of typed functions as ranges of source lines.

use lh_ir::Function;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::Fate;

/// A loop in the source; copies of one loop are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceLoop {
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Whether no loop of other lines is inside.
    pub is_innermost: bool,
}

/// The loops of a function, those in the bodies of its parallel loops among them.
pub(crate) fn source_loops(f: &Function) -> Vec<SourceLoop> {
    let mut out: Vec<SourceLoop> = Vec::new();
    for part in f.with_bodies() {
        let cfg = Cfg::new(part);
        let loops = Loops::new(part, &cfg, &DomTree::new(&cfg));
        for l in loops.loops.iter().filter(|l| !joins_threads(part, l)) {
            let Some((first, last)) = place(part, l) else { continue };
            if !out.iter().any(|o| (o.first, o.last) == (first, last)) {
                out.push(SourceLoop { first, last, is_innermost: true });
            }
        }
    }
    let all = out.clone();
    for l in &mut out {
        let is_inside = |o: &SourceLoop| l.first < o.first && o.last <= l.last;
        l.is_innermost = !all.iter().any(is_inside);
    }
    out
}

/// Whether a loop of the source repeats a block, by block.
pub(crate) fn repeated_blocks(f: &Function) -> Vec<bool> {
    let cfg = Cfg::new(f);
    let loops = Loops::new(f, &cfg, &DomTree::new(&cfg));
    let mut out = vec![false; f.blocks.len()];
    for l in loops.loops.iter().filter(|l| !joins_threads(f, l)) {
        l.blocks.iter().for_each(|b| out[b.index()] = true);
    }
    out
}

/// Whether a loop only combines results of blocks of a parallel loop: all of it stands where that loop begins.
fn joins_threads(f: &Function, l: &Loop) -> bool {
    let mut spans = l.blocks.iter().flat_map(|b| f.blocks[b.index()].insts.iter().map(|d| d.span));
    let Some(first) = spans.next() else { return false };
    f.notes.iter().any(|n| n.span == first && matches!(n.fate, Fate::Pool { .. })) && spans.all(|s| s == first)
}

/// First and last line of a loop. The test of a `while` is compiled behind the body, but stands before it.
fn place(f: &Function, l: &Loop) -> Option<(u32, u32)> {
    let spans = l.blocks.iter().flat_map(|b| {
        let data = &f.blocks[b.index()];
        data.insts.iter().map(|d| d.span).chain([data.term_span])
    });
    let lines = spans.map(|s| s.line).filter(|l| *l > 0);
    lines.fold(None, |seen, l| Some(seen.map_or((l, l), |(a, b): (u32, u32)| (a.min(l), b.max(l)))))
}

/// The innermost loop around a line.
pub(crate) fn loop_at(loops: &[SourceLoop], line: u32) -> Option<&SourceLoop> {
    loops.iter().filter(|l| (l.first..=l.last).contains(&line)).min_by_key(|l| (l.last - l.first, l.first))
}
