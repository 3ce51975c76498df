//! Disables vectorisation of loops on which LLVM's loop vectoriser takes exponential time.
//!
//! The vectoriser asks whether a value is uniform, which is the same in all lanes, by asking for its operands, without
//! memoisation: in a chain of uniform values, each of which uses the one before twice, it walks through every path.
//! Most such chains leave the loop before; those behind branches stay:
//!
//! ```text
//! loop: br c[i], then, next          a1 = phi [x, ...], [y, ...]      ; does not vary
//! then: ... a2 = select p, a1, -a1;  a3 = select q, a2, -a2; ...      ; 2**n paths to a1
//! ```
//!
//! Runs after inlining. The number of paths is counted with answers kept.

use crate::ir::flow::Graph;
use crate::ir::loop_metadata;
use crate::ir::{Module, Val};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};

/// More paths than this are too many.
const MOST: u64 = 1 << 16;

/// Marks the loops of all functions that have too many paths as not to be vectorised.
pub(crate) fn run(m: &Module) {
    for f in m.functions() {
        let graph = Graph::new(m, f);
        let edges = graph.back_edges();
        for (latch, header) in &edges {
            let body = graph.body(*latch, *header);
            let is_other = |(from, to): &(usize, usize)| (from, to) != (latch, header) && body.contains(to);
            // Without a branch nothing stays in the loop that does not vary.
            if body.len() > 2 && !edges.iter().any(is_other) && Loop::new(m, &graph, &body, *header).has_many_paths() {
                let off = m.node(&[m.md_text("llvm.loop.vectorize.enable"), m.md_int(m.t.i1, 0)]);
                loop_metadata::add(m, m.last(graph.blocks[*latch]), off);
            }
        }
    }
}

/// An innermost loop.
struct Loop<'a> {
    m: &'a Module,
    graph: &'a Graph,
    body: &'a HashSet<usize>,
    header: usize,
    /// Paths to operands from outside of the loop, of values that do not vary; `None` for others.
    paths: HashMap<Val, Option<u64>>,
    /// Paths of the condition under which a block runs.
    masks: HashMap<usize, Option<u64>>,
}

impl<'a> Loop<'a> {
    fn new(m: &'a Module, graph: &'a Graph, body: &'a HashSet<usize>, header: usize) -> Loop<'a> {
        Loop { m, graph, body, header, paths: HashMap::new(), masks: HashMap::new() }
    }

    fn has_many_paths(mut self) -> bool {
        for block in self.graph.order(self.body, self.header) {
            let mask = self.mask(block);
            self.masks.insert(block, mask);
            for inst in self.m.instructions_of(self.graph.blocks[block]) {
                let found = self.of_instruction(inst, block);
                if found.is_some_and(|n| n > MOST) {
                    return true;
                }
                self.paths.insert(inst, found);
            }
        }
        false
    }

    fn mask(&self, block: usize) -> Option<u64> {
        if block == self.header {
            return Some(0);
        }
        self.graph.before[block].iter().try_fold(0, |n: u64, p| Some(n.saturating_add(self.edge(*p)?)))
    }

    /// The condition under which a block runs and leaves by one of its edges.
    fn edge(&self, from: usize) -> Option<u64> {
        let mask = self.masks.get(&from).copied().flatten()?;
        // SAFETY: blocks of a complete function end in terminators; those with a condition have one.
        let condition = unsafe {
            let term = LLVMGetBasicBlockTerminator(self.graph.blocks[from]);
            (LLVMGetNumSuccessors(term) > 1 && LLVMGetNumOperands(term) > 0).then(|| LLVMGetOperand(term, 0))
        };
        Some(mask.saturating_add(condition.map_or(Some(0), |c| self.of(c))?))
    }

    fn of(&self, v: Val) -> Option<u64> {
        self.paths.get(&v).copied().unwrap_or(Some(0))
    }

    fn of_instruction(&self, inst: Val, block: usize) -> Option<u64> {
        // SAFETY: asks an instruction of a live function for its operands.
        let (is_phi, count) = unsafe { (!LLVMIsAPHINode(inst).is_null(), LLVMGetNumOperands(inst)) };
        if is_phi && block == self.header {
            return None;
        }
        // SAFETY: there are as many operands.
        let mut operands = (0..count as u32).map(|i| unsafe { LLVMGetOperand(inst, i) });
        let n = operands.try_fold(1, |n: u64, v| Some(n.saturating_add(self.of(v)?)))?;
        if !is_phi {
            return Some(n);
        }
        self.graph.before[block].iter().try_fold(n, |n, p| Some(n.saturating_add(self.edge(*p)?)))
    }
}
