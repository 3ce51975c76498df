//! Loops with barriers are not to be unrolled by what reads our PTX: waiting is what they do, not computing, and copies of
//! what is between barriers only cost instructions.

use crate::ir::{Bb, Module, Val};
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMMetadataRef;
use std::collections::{HashMap, HashSet};

/// Marks the loops of every function.
pub(crate) fn mark(m: &Module) {
    for f in m.functions() {
        let graph = Graph::new(m, f);
        for (from, to) in graph.back_edges() {
            if graph.body(from, to).iter().any(|b| graph.waits[*b]) {
                graph.forbid_unrolling(m, from);
            }
        }
    }
}

/// The blocks of a function by number, the entry first.
struct Graph {
    terminators: Vec<Val>,
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
    /// Whether a block has a barrier.
    waits: Vec<bool>,
}

impl Graph {
    fn new(m: &Module, f: Val) -> Graph {
        let blocks = m.blocks(f);
        let number: HashMap<Bb, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut g = Graph {
            terminators: Vec::new(),
            next: vec![Vec::new(); blocks.len()],
            before: vec![Vec::new(); blocks.len()],
            waits: Vec::new(),
        };
        for (i, b) in blocks.iter().enumerate() {
            // SAFETY: blocks of a complete function end in terminators, whose successors are blocks of it.
            unsafe {
                let t = LLVMGetBasicBlockTerminator(*b);
                g.terminators.push(t);
                for s in 0..LLVMGetNumSuccessors(t) {
                    let to = number[&LLVMGetSuccessor(t, s)];
                    g.next[i].push(to);
                    g.before[to].push(i);
                }
            }
            g.waits.push(m.calls_named(*b, "llvm.nvvm.barrier"));
        }
        g
    }

    /// Edges to a block that is being visited: those that close loops.
    fn back_edges(&self) -> Vec<(usize, usize)> {
        let (mut out, mut open, mut seen) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut work = vec![(0, 0)];
        if self.next.is_empty() {
            return out;
        }
        open.insert(0);
        seen.insert(0);
        while let Some((block, i)) = work.pop() {
            let Some(to) = self.next[block].get(i).copied() else {
                open.remove(&block);
                continue;
            };
            work.push((block, i + 1));
            if open.contains(&to) {
                out.push((block, to));
            } else if seen.insert(to) {
                open.insert(to);
                work.push((to, 0));
            }
        }
        out
    }

    /// The blocks of the loop that an edge closes.
    fn body(&self, from: usize, header: usize) -> HashSet<usize> {
        let mut body = HashSet::from([header, from]);
        let mut work = vec![from];
        while let Some(b) = work.pop().filter(|b| *b != header) {
            work.extend(self.before[b].iter().filter(|p| body.insert(**p)));
        }
        body
    }

    fn forbid_unrolling(&self, m: &Module, block: usize) {
        let no: LLVMMetadataRef = m.node(&[m.md_text("llvm.loop.unroll.disable")]);
        m.attach(self.terminators[block], "llvm.loop", m.distinct_node(&[no]));
    }
}
