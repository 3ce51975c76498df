//! Control-flow graphs of finished LLVM functions, and edits of them.

use super::{Bb, Module, Val};
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};
use std::ptr::null_mut;

/// The blocks of a function by number, the entry first, with successors and predecessors.
pub(crate) struct Graph {
    pub(crate) blocks: Vec<Bb>,
    pub(crate) next: Vec<Vec<usize>>,
    pub(crate) before: Vec<Vec<usize>>,
}

impl Graph {
    pub(crate) fn new(m: &Module, f: Val) -> Graph {
        let blocks = m.blocks(f);
        let number: HashMap<Bb, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut g = Graph { next: vec![Vec::new(); blocks.len()], before: vec![Vec::new(); blocks.len()], blocks };
        for i in 0..g.blocks.len() {
            // SAFETY: blocks of a complete function end in terminators, whose successors are blocks of it.
            unsafe {
                let t = LLVMGetBasicBlockTerminator(g.blocks[i]);
                for s in 0..LLVMGetNumSuccessors(t) {
                    let to = number[&LLVMGetSuccessor(t, s)];
                    g.next[i].push(to);
                    g.before[to].push(i);
                }
            }
        }
        g
    }

    /// Back edges of a depth-first search, which close loops.
    pub(crate) fn back_edges(&self) -> Vec<(usize, usize)> {
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

    /// Whether a path inside a loop leads from its header to a block without passing another one.
    pub(crate) fn reaches(&self, header: usize, to: usize, without: usize) -> bool {
        let mut seen = HashSet::from([without]);
        let mut work = vec![to];
        while let Some(b) = work.pop() {
            if seen.insert(b) && b != header {
                work.extend(&self.before[b]);
            }
        }
        seen.contains(&header) && header != without
    }

    /// The blocks of a loop, each after those of the same iteration that lead to it.
    pub(crate) fn order(&self, body: &HashSet<usize>, header: usize) -> Vec<usize> {
        let (mut out, mut seen) = (Vec::new(), HashSet::from([header]));
        let mut work = vec![(header, 0)];
        while let Some((block, i)) = work.pop() {
            match self.next[block].get(i) {
                None => out.push(block),
                Some(to) => {
                    work.push((block, i + 1));
                    if body.contains(to) && seen.insert(*to) {
                        work.push((*to, 0));
                    }
                }
            }
        }
        out.reverse();
        out
    }

    /// The blocks of the loop that an edge closes.
    pub(crate) fn body(&self, from: usize, header: usize) -> HashSet<usize> {
        let mut body = HashSet::from([header, from]);
        let mut work = vec![from];
        while let Some(b) = work.pop().filter(|b| *b != header) {
            work.extend(self.before[b].iter().filter(|p| body.insert(**p)));
        }
        body
    }
}

impl Module {
    /// Following instructions have no line.
    pub(crate) fn forget_place(&self) {
        // SAFETY: the builder is alive.
        unsafe { LLVMSetCurrentDebugLocation2(self.builder, null_mut()) }
    }
    /// Moves the builder before an instruction.
    pub(crate) fn before(&self, inst: Val) {
        // SAFETY: an instruction of a live function.
        unsafe { LLVMPositionBuilderBefore(self.builder, inst) }
    }
    pub(crate) fn phis(&self, b: Bb) -> Vec<Val> {
        // SAFETY: an instruction of a live function.
        self.instructions_of(b).into_iter().take_while(|i| unsafe { !LLVMIsAPHINode(*i).is_null() }).collect()
    }
    /// The incoming values of a phi with their blocks.
    pub(crate) fn incoming(&self, phi: Val) -> Vec<(Val, Bb)> {
        // SAFETY: a phi, asked for as many as it has.
        unsafe {
            (0..LLVMCountIncoming(phi)).map(|i| (LLVMGetIncomingValue(phi, i), LLVMGetIncomingBlock(phi, i))).collect()
        }
    }
    /// Replaces an instruction by a value.
    pub(crate) fn replace_with(&self, old: Val, new: Val) {
        // SAFETY: nothing refers to the instruction when it is erased.
        unsafe {
            LLVMReplaceAllUsesWith(old, new);
            LLVMInstructionEraseFromParent(old);
        }
    }
    /// Redirects edges of a block; phis are not updated.
    pub(crate) fn redirect(&self, from: Bb, old: Bb, new: Bb) {
        // SAFETY: blocks of a complete function end in terminators.
        unsafe {
            let t = LLVMGetBasicBlockTerminator(from);
            for s in (0..LLVMGetNumSuccessors(t)).filter(|s| LLVMGetSuccessor(t, *s) == old) {
                LLVMSetSuccessor(t, s, new);
            }
        }
    }
}
