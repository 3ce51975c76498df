//! Unrolls short innermost loops that LLVM has left alone.
//!
//! A value that an iteration loads and the next one uses beside its own costs a register move per iteration. Two
//! iterations in a row need no moves:
//!
//! ```text
//! loop: old = phi [x, before], [new, loop]         loop: old = phi [x, before], [newer, loop]
//!       new = load ...                                   new = load ...
//!       ... old, new ...                     ->          ... old, new ...
//!       br ..., loop, exit                               newer = load ...
//!                                                        ... new, newer ...
//!                                                        br ..., loop, exit
//! ```
//!
//! In other short loops, four iterations in a row share the test of a counted loop, or the poll of a loop whose trip
//! count is unknown (`polls` keeps one of them); branches that depend on data are predicted better by several copies.
//! The scalar version of a vectorised loop is unrolled if it runs all iterations whenever accesses may overlap.
//! Loops that wait for divisions or roots gain nothing.

use super::polls;
use crate::ir::flow::Graph;
use crate::ir::loop_metadata;
use crate::ir::walk::{called, is_call};
use crate::ir::{Bb, Module, Val};
use llvm_sys::LLVMIntPredicate::{LLVMIntUGT, LLVMIntULT};
use llvm_sys::LLVMOpcode::{self, *};
use llvm_sys::core::*;
use std::collections::HashSet;

/// Size limit for loops that are unrolled twice, in instructions.
const SHORT: usize = 40;
/// Size limit for loops that are unrolled four times.
const SHORTER: usize = 24;

/// Marks such loops; answers with the functions that have any.
pub(crate) fn mark(m: &Module) -> Vec<Val> {
    let mut functions = m.functions();
    functions.retain(|f| !m.is_cold_definition(*f) && mark_loops(m, *f));
    functions
}

/// Marks the loops of a function; whether there are any.
fn mark_loops(m: &Module, f: Val) -> bool {
    let graph = Graph::new(m, f);
    let edges = graph.back_edges();
    let mut any = false;
    for (latch, header) in &edges {
        let body = graph.body(*latch, *header);
        let is_other = |(from, to): &(usize, usize)| (from, to) != (latch, header) && body.contains(to);
        if edges.iter().any(is_other) {
            continue;
        }
        let block = |b: &usize| graph.blocks[*b];
        let blocks: HashSet<Bb> = body.iter().map(block).collect();
        let l = Candidate { m, header: block(header), latch: block(latch), blocks };
        if let Some(times) = l.times() {
            let count = m.node(&[m.md_text("llvm.loop.unroll.count"), m.md_int(m.t.i32, times)]);
            loop_metadata::add(m, m.last(l.latch), count);
            any = true;
        }
    }
    any
}

/// An innermost loop with one latch.
struct Candidate<'a> {
    m: &'a Module,
    header: Bb,
    latch: Bb,
    blocks: HashSet<Bb>,
}

impl Candidate<'_> {
    /// The number of iterations in a row, if the loop is to be unrolled.
    fn times(&self) -> Option<i64> {
        let m = self.m;
        let known = loop_metadata::read(m, m.last(self.latch));
        if known.unrolled || known.threads || (known.vectorised && !self.is_fallback()) {
            return None;
        }
        let insts: Vec<Val> = self.blocks.iter().flat_map(|b| m.instructions_of(*b)).collect();
        let polls = insts.iter().filter(|i| called(**i) == polls::ASK).count();
        let stays = |i: &Val| is_call(*i) && called(*i) != polls::ASK;
        if insts.len() > SHORT || polls > 1 || insts.iter().any(stays) {
            return None;
        }
        if polls == 0 && !known.vectorised && m.phis(self.header).into_iter().any(|phi| self.hands_on(phi)) {
            return Some(2);
        }
        let pays = insts.len() <= SHORTER && !insts.iter().any(|i| self.is_slow(*i)) && !self.has_variable_step();
        pays.then_some(4)
    }

    /// Whether the scalar version of a vectorised loop begins where a test of addresses fails, not only where a test
    /// of the trip count does.
    fn is_fallback(&self) -> bool {
        let m = self.m;
        let mut starts: Vec<(Val, Bb)> = m.phis(self.header).into_iter().flat_map(|phi| m.incoming(phi)).collect();
        starts.retain(|(_, from)| !self.blocks.contains(from));
        let joined: Vec<Val> =
            starts.iter().flat_map(|(v, from)| m.phis(*from).into_iter().filter(move |p| p == v)).collect();
        starts.extend(joined.into_iter().flat_map(|phi| m.incoming(phi)));
        starts.into_iter().any(|(v, from)| m.constant_int(v) == Some(0) && !self.is_count_test(from))
    }

    /// Whether a block ends in a test whether a number is small.
    fn is_count_test(&self, block: Bb) -> bool {
        // SAFETY: a complete block ends in a terminator; the rest asks values of a live function what they are.
        unsafe {
            let term = LLVMGetBasicBlockTerminator(block);
            let cond =
                if LLVMGetNumSuccessors(term) == 2 { LLVMIsAICmpInst(LLVMGetCondition(term)) } else { return false };
            !cond.is_null()
                && matches!(LLVMGetICmpPredicate(cond), LLVMIntULT | LLVMIntUGT)
                && self.m.constant_int(LLVMGetOperand(cond, 1)).is_some()
        }
    }

    /// Whether an iteration waits for an instruction.
    fn is_slow(&self, inst: Val) -> bool {
        let divides_by_constant = || {
            // SAFETY: a division has two operands.
            self.m.constant_int(unsafe { LLVMGetOperand(inst, 1) }).is_some()
        };
        match opcode(inst) {
            Some(LLVMFDiv | LLVMFRem) => true,
            Some(LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem) => !divides_by_constant(),
            Some(LLVMCall) => called(inst).starts_with("llvm.sqrt."),
            _ => self.m.vector_bytes(inst) > 0,
        }
    }

    /// Whether an induction variable changes by an unknown number: the trip count would take a division.
    fn has_variable_step(&self) -> bool {
        self.m.phis(self.header).into_iter().any(|phi| {
            let Some(next) = self.next(phi).filter(|v| matches!(opcode(*v), Some(LLVMAdd | LLVMSub))) else {
                return false;
            };
            // SAFETY: what adds has two operands.
            let [a, b] = [0, 1].map(|i| unsafe { LLVMGetOperand(next, i) });
            let is_variable = |v: Val| !self.is_inside(v) && self.m.constant_int(v).is_none();
            (a == phi && is_variable(b)) || (b == phi && is_variable(a))
        })
    }

    /// Whether a phi in a loop of one block carries a value of the previous iteration that is not computed from the
    /// phi itself: sums and induction variables need no move in any case.
    fn hands_on(&self, phi: Val) -> bool {
        let Some(next) = self.next(phi).filter(|v| self.blocks.len() == 1 && self.is_inside(*v)) else { return false };
        let mut seen = HashSet::from([next]);
        let mut work = vec![next];
        while let Some(v) = work.pop() {
            // SAFETY: asks values of a live function what they are.
            let of = unsafe {
                let count = if LLVMIsAPHINode(v).is_null() { LLVMGetNumOperands(v) } else { 0 };
                (0..count as u32).map(|i| LLVMGetOperand(v, i)).collect::<Vec<Val>>()
            };
            work.extend(of.into_iter().filter(|v| self.is_inside(*v) && seen.insert(*v)));
        }
        !seen.contains(&phi)
    }

    /// The value of a phi for the next iteration.
    fn next(&self, phi: Val) -> Option<Val> {
        self.m.incoming(phi).into_iter().find(|(_, from)| *from == self.latch).map(|(v, _)| v)
    }

    fn is_inside(&self, v: Val) -> bool {
        // SAFETY: asks a value of a live function what it is.
        unsafe { !LLVMIsAInstruction(v).is_null() && self.blocks.contains(&LLVMGetInstructionParent(v)) }
    }
}

/// The opcode of an instruction; `None` for other values.
fn opcode(v: Val) -> Option<LLVMOpcode> {
    // SAFETY: a value of a live function.
    unsafe { (!LLVMIsAInstruction(v).is_null()).then(|| LLVMGetInstructionOpcode(v)) }
}
