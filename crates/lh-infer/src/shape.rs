//! Order and dominators of untyped blocks.

use lh_ir::Block;
use lh_ir::cfg::number_tree;
use lh_ir::untyped::{self, Code};

/// Order and dominators of the untyped blocks.
pub(crate) struct Shape {
    pub(crate) order: Vec<Block>,
    pub(crate) is_header: Vec<bool>,
    pub(crate) pred_count: Vec<usize>,
    pub(crate) position: Vec<usize>,
    /// Depth-first numbers of the tree of dominators, by position.
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Shape {
    pub(crate) fn of(code: &Code) -> Shape {
        let n = code.blocks.len();
        let succ: Vec<Vec<Block>> = code
            .blocks
            .iter()
            .map(|b| {
                let t = b.term.as_ref().map(untyped::Term::targets).unwrap_or_default();
                t.into_iter().chain(&b.unwind).map(|t| t.block).collect()
            })
            .collect();
        let mut order = Vec::with_capacity(n);
        let mut state = vec![0u8; n];
        let mut stack = vec![(Block(0), 0usize)];
        state[0] = 1;
        while let Some((b, i)) = stack.pop() {
            if let Some(s) = succ[b.index()].get(i) {
                stack.push((b, i + 1));
                if state[s.index()] == 0 {
                    state[s.index()] = 1;
                    stack.push((*s, 0));
                }
            } else {
                order.push(b);
            }
        }
        order.reverse();
        let mut position = vec![usize::MAX; n];
        order.iter().enumerate().for_each(|(i, b)| position[b.index()] = i);
        let mut is_header = vec![false; n];
        let mut preds = vec![Vec::new(); n];
        for b in &order {
            for s in &succ[b.index()] {
                preds[s.index()].push(*b);
                is_header[s.index()] |= position[s.index()] <= position[b.index()];
            }
        }
        let idom = dominators(&order, &preds, &position);
        let pred_count = preds.iter().map(Vec::len).collect();
        let above = |b: &Block| idom[b.index()].map_or(0, |i: Block| position[i.index()] as u32);
        let (enter, leave) = number_tree(&order.iter().map(above).collect::<Vec<u32>>());
        Shape { order, is_header, pred_count, position, enter, leave }
    }

    pub(crate) fn dominates(&self, a: Block, b: Block) -> bool {
        let [a, b] = [a, b].map(|block| self.position[block.index()]);
        // A block that is not reached has no position.
        let reached = a < self.enter.len() && b < self.enter.len();
        if reached { self.enter[a] <= self.enter[b] && self.leave[b] <= self.leave[a] } else { a == b }
    }
}

/// Immediate dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm").
fn dominators(order: &[Block], preds: &[Vec<Block>], position: &[usize]) -> Vec<Option<Block>> {
    let mut idom = vec![None; preds.len()];
    idom[order[0].index()] = Some(order[0]);
    let mut changed = true;
    while changed {
        changed = false;
        for b in &order[1..] {
            let mut new: Option<Block> = None;
            // The latest first: where others come from above it, the way up is gone once for all of them.
            for p in preds[b.index()].iter().rev().filter(|p| idom[p.index()].is_some()).copied() {
                new = Some(match new {
                    None => p,
                    Some(mut x) => {
                        let mut y = p;
                        while x != y {
                            while position[x.index()] > position[y.index()] {
                                x = idom[x.index()].expect("processed");
                            }
                            while position[y.index()] > position[x.index()] {
                                y = idom[y.index()].expect("processed");
                            }
                        }
                        x
                    }
                });
            }
            if idom[b.index()] != new {
                idom[b.index()] = new;
                changed = true;
            }
        }
    }
    idom
}
