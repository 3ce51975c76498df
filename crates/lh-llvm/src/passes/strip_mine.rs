//! Polls for Ctrl-C in loops, added after LLVM has vectorised and unrolled them.
//!
//! A counted loop runs in strips and polls between them; any other loop polls in each iteration. If the user has
//! pressed Ctrl-C, the loop ends as if it were complete, and the test behind it, [`stopped`], raises:
//!
//! ```text
//!                               outer: start = phi [0, before], [next, ask]
//!                                      more = n - start > 131072; limit = more ? start + 131072 : n
//! loop: i = phi [0, before]     loop:  i = phi [start, outer], [next, loop]
//!            [next, loop]              ...
//!       ...                 ->         br next != limit, loop, check
//!       br next != n, loop,     check: br next != n, ask, exit
//!                     exit      ask:   br <asked>, stop, outer
//!                               stop:  store true, slot; br exit
//! ```
//!
//! Between the end of the loop and the test there are only the remainder loops that LLVM has made for the last
//! iterations; these access the same memory as the full loop would.

use super::polls;
use crate::ir::flow::Graph;
use crate::ir::loop_metadata::{self, Description};
use crate::ir::walk::{called, is_call};
use crate::ir::{Bb, Module, Val};
use lh_ops::{runtime, symbols};
use llvm_sys::LLVMIntPredicate::{self, *};
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use std::collections::{HashMap, HashSet};
use std::ptr::null_mut;

/// The function that stands for the test if a loop has ended early.
const STOPPED: &str = "lh.loop.stopped";
/// Iterations of a strip without calls, which take well below a millisecond.
const STRIP: i64 = 1 << 17;
/// Iterations of a strip with calls; a callee that takes long polls itself.
const STRIP_WITH_CALLS: i64 = 1 << 13;
/// Minimum number of iterations of a strip.
const ROUNDS: i64 = 1 << 6;

/// Tests at the builder's position if the preceding loop has ended early.
pub(crate) fn stopped(m: &Module) -> Val {
    polls::stand_in(m, STOPPED, m.t.i1)
}

/// Adds polls; answers with the functions whose loops may end early, which record that in memory.
pub(crate) fn run(m: &Module) -> Vec<Val> {
    let mut functions: Vec<(Val, Val)> = Vec::new();
    let mut slots: HashMap<Val, Val> = HashMap::new();
    let mut questions = HashSet::new();
    m.forget_place();
    polls::replace(m, STOPPED, |call| {
        let f = function_of(call);
        let slot = *slots.entry(f).or_insert_with(|| {
            m.at_start(m.blocks(f)[0]);
            let slot = m.alloca(m.t.i8, 1);
            m.store(m.int(m.t.i8, 0), slot, 1);
            functions.push((f, slot));
            slot
        });
        m.before(call);
        let v = m.load(m.t.i8, slot, 1);
        let asked = m.icmp(LLVMIntNE, v, m.int(m.t.i8, 0));
        questions.insert(asked);
        asked
    });
    let (mut stopping, mut idle) = (Vec::new(), Vec::new());
    for (f, slot) in functions {
        let graph = Graph::new(m, f);
        let asks = |b: &usize| m.instructions_of(graph.blocks[*b]).iter().any(|i| questions.contains(i));
        let asking = (0..graph.blocks.len()).filter(asks).collect();
        let cx = Strips { m, f, slot, graph, questions: &questions, asking };
        let (calls, loops) = (cx.calls(), cx.loops());
        if calls || loops {
            stopping.push(f);
        } else {
            idle.push(slot);
        }
    }
    // Only now, as no function refers to the tests any more.
    idle.into_iter().for_each(|slot| forget(m, slot));
    stopping
}

/// Folds the tests of a function without loops that end early.
fn forget(m: &Module, slot: Val) {
    let user = |v: Val| unsafe {
        // SAFETY: an instruction of a live function; a use has a user.
        let first = LLVMGetFirstUse(v);
        (!first.is_null()).then(|| LLVMGetUser(first))
    };
    while let Some(access) = user(slot) {
        if let Some(question) = user(access) {
            m.replace_with(question, m.int(m.t.i1, 0));
        }
        // SAFETY: a store, or a load of which only the question was made.
        unsafe { LLVMInstructionEraseFromParent(access) };
    }
    // SAFETY: nothing uses it.
    unsafe { LLVMInstructionEraseFromParent(slot) };
}

fn function_of(inst: Val) -> Val {
    // SAFETY: an instruction of a function.
    unsafe { LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)) }
}

/// A function with loops that are to poll.
struct Strips<'a> {
    m: &'a Module,
    f: Val,
    /// The stack slot that records whether a loop has ended early since the last test.
    slot: Val,
    graph: Graph,
    questions: &'a HashSet<Val>,
    /// The blocks with tests.
    asking: Vec<usize>,
}

/// A loop that is to poll.
struct Marked {
    header: Bb,
    latch: Bb,
    body: HashSet<Bb>,
    /// The block with the regular exit.
    from: Bb,
    vectorised: bool,
}

impl Marked {
    /// The targets of the exiting block: in the loop and out of it, and whether the exit is the first.
    fn ways(&self) -> (Bb, Bb, bool) {
        // SAFETY: the block ends in a branch of two ways, one of them out of the loop.
        let [a, b] = unsafe {
            let term = LLVMGetBasicBlockTerminator(self.from);
            [0, 1].map(|i| LLVMGetSuccessor(term, i))
        };
        if self.body.contains(&a) { (a, b, false) } else { (b, a, true) }
    }
}

/// The induction variable of a loop.
struct Count {
    phi: Val,
    /// The comparison of `value` and `bound` under which the loop continues.
    value: Val,
    goes_on: LLVMIntPredicate,
    bound: Val,
    step: i64,
    /// The start, if it is constant.
    start: Option<i64>,
}

impl Strips<'_> {
    /// Adds polls to loops; whether any may end early.
    fn loops(&self) -> bool {
        let mut any = false;
        let mut marked = Vec::new();
        for (latch, header) in self.graph.back_edges() {
            let Description { quiet, vectorised, .. } =
                loop_metadata::read(self.m, self.m.last(self.graph.blocks[latch]));
            let body = self.graph.body(latch, header);
            if quiet || body.iter().any(|b| self.m.calls_named(self.graph.blocks[*b], polls::ASK)) {
                continue;
            }
            let ends: HashSet<usize> = self.leads_to_question(&body);
            let leaves = |from: &usize| match self.graph.next[*from][..] {
                [a, b] => (!body.contains(&a) && ends.contains(&a)) != (!body.contains(&b) && ends.contains(&b)),
                _ => false,
            };
            // LLVM has proved that loops without an exit never end.
            let Some(from) = [latch, header].into_iter().chain(body.iter().copied()).find(leaves) else { continue };
            let block = |b: usize| self.graph.blocks[b];
            marked.push(Marked {
                header: block(header),
                latch: block(latch),
                body: body.iter().map(|b| block(*b)).collect(),
                from: block(from),
                vectorised,
            });
        }
        for l in &marked {
            match self.count(l) {
                Some(c) if c.is_short() || (l.vectorised && self.finishes(l, &c)) => continue,
                Some(c) => self.strip(l, &c),
                None => self.ask_in_each_round(l),
            }
            any = true;
        }
        any
    }

    /// Whether a loop of vectors finishes the iterations of another one: it starts where that has ended, or at 0.
    fn finishes(&self, l: &Marked, c: &Count) -> bool {
        // SAFETY: asks values of a live function what they are.
        let from_zero = |v: Val| unsafe {
            !LLVMIsAPHINode(v).is_null() && self.m.incoming(v).iter().any(|(v, _)| self.m.constant_int(*v) == Some(0))
        };
        self.m.incoming(c.phi).iter().any(|(v, from)| *from != l.latch && from_zero(*v))
            && l.body.iter().any(|b| self.m.instructions_of(*b).iter().any(|i| self.m.vector_bytes(*i) > 0))
    }

    /// Blocks outside of a loop from which a test can be reached without entering the loop.
    fn leads_to_question(&self, body: &HashSet<usize>) -> HashSet<usize> {
        let mut work: Vec<usize> = self.asking.iter().copied().filter(|b| !body.contains(b)).collect();
        let mut seen: HashSet<usize> = work.iter().copied().collect();
        while let Some(b) = work.pop() {
            work.extend(self.graph.before[b].iter().filter(|p| !body.contains(p) && seen.insert(**p)));
        }
        seen
    }

    /// Recognises a counted loop whose latch has the exit.
    fn count(&self, l: &Marked) -> Option<Count> {
        if l.from != l.latch {
            return None;
        }
        // SAFETY: the block ends in a branch, as `Marked` says; the rest asks values of a live function what they are.
        unsafe {
            let term = LLVMGetBasicBlockTerminator(l.latch);
            let cond = LLVMIsAICmpInst(LLVMGetCondition(term));
            if cond.is_null() {
                return None;
            }
            let goes_on = LLVMGetICmpPredicate(cond);
            let goes_on = if l.ways().2 { inverse(goes_on) } else { goes_on };
            let (a, b) = (LLVMGetOperand(cond, 0), LLVMGetOperand(cond, 1));
            [(a, b, goes_on), (b, a, swapped(goes_on))].into_iter().find_map(|(value, bound, goes_on)| {
                let inst = LLVMIsAInstruction(bound);
                let outside = inst.is_null() || !l.body.contains(&LLVMGetInstructionParent(inst));
                let (phi, step, start) = self.counts(l, value).filter(|_| outside)?;
                let ends = match goes_on {
                    LLVMIntNE => step != 0,
                    LLVMIntSLT | LLVMIntSLE | LLVMIntULT | LLVMIntULE => step > 0,
                    LLVMIntSGT | LLVMIntSGE | LLVMIntUGT | LLVMIntUGE => step < 0,
                    LLVMIntEQ => false,
                };
                ends.then_some(Count { phi, value, goes_on, bound, step, start })
            })
        }
    }

    /// Matches the induction variable or its next value: the phi, its step, and its start if that is constant.
    fn counts(&self, l: &Marked, value: Val) -> Option<(Val, i64, Option<i64>)> {
        // SAFETY: asks values of a live function what they are.
        unsafe {
            let wide = matches!(self.m.type_of(value), t if t == self.m.t.i64 || t == self.m.t.i32);
            let inst = LLVMIsAInstruction(value);
            if !wide || inst.is_null() {
                return None;
            }
            let is_phi = |v: Val| !LLVMIsAPHINode(v).is_null() && LLVMGetInstructionParent(v) == l.header;
            let phi = if is_phi(inst) { inst } else { LLVMGetOperand(inst, 0) };
            if !is_phi(phi) {
                return None;
            }
            let incoming = self.m.incoming(phi);
            let next = incoming.iter().find(|(_, from)| *from == l.latch)?.0;
            let is_sum = !LLVMIsAInstruction(next).is_null() && LLVMGetInstructionOpcode(next) == LLVMOpcode::LLVMAdd;
            if !is_sum || LLVMGetOperand(next, 0) != phi || (value != phi && value != next) {
                return None;
            }
            let step = self.m.constant_int(LLVMGetOperand(next, 1))?;
            let starts: Vec<Option<i64>> =
                incoming.iter().filter(|(_, from)| *from != l.latch).map(|(v, _)| self.m.constant_int(*v)).collect();
            let start = starts[0].filter(|_| starts.iter().all(|s| *s == starts[0]));
            (step.unsigned_abs() < 1 << 20).then_some((phi, step, start))
        }
    }

    /// Splits a counted loop into strips.
    fn strip(&self, l: &Marked, c: &Count) {
        let m = self.m;
        let calls = l.body.iter().any(|b| m.instructions_of(*b).into_iter().any(is_call));
        let rounds = (if calls { STRIP_WITH_CALLS } else { STRIP } / c.step.abs()).max(ROUNDS);
        let (outer, check, ask, stop) = (m.block(self.f), m.block(self.f), m.block(self.f), m.block(self.f));
        let (start, value) = self.enter_by(l, c, outer, ask);
        m.at_end(outer);
        let ty = m.type_of(c.bound);
        let width = m.int(ty, rounds * c.step.abs());
        let (low, high) = if c.step > 0 { (start, c.bound) } else { (c.bound, start) };
        let (more, is_before) = (m.sub(high, low), |p| m.icmp(p, low, high));
        let more = match c.goes_on {
            LLVMIntNE | LLVMIntEQ => m.icmp(LLVMIntUGT, more, width),
            LLVMIntULT | LLVMIntULE | LLVMIntUGT | LLVMIntUGE => {
                m.and(is_before(LLVMIntULT), m.icmp(LLVMIntUGT, more, width))
            }
            // If the difference overflows, the loop would run for years.
            LLVMIntSLT | LLVMIntSLE | LLVMIntSGT | LLVMIntSGE => m.icmp(LLVMIntSGT, more, width),
        };
        let near = if c.step > 0 { m.add(start, width) } else { m.sub(start, width) };
        // Without the freeze, LLVM would count each strip from 0 and compute new pointers.
        let limit = m.freeze(m.select(more, near, c.bound));
        m.br(l.header);
        let exit = l.ways().1;
        let old = m.last(l.latch);
        m.before(old);
        let cond = m.icmp(c.goes_on, value, limit);
        m.cond_br(cond, l.header, check);
        // SAFETY: it has no result; the branch before it is the block's now.
        unsafe { LLVMInstructionEraseFromParent(old) };
        m.at_end(check);
        let cond = m.icmp(c.goes_on, value, c.bound);
        m.cond_br(cond, ask, exit);
        self.ask_and_stop(ask, stop, outer, exit);
        self.rebuild_phis(exit, |v, from| if from == l.latch { vec![(v, check), (v, stop)] } else { vec![(v, from)] });
    }

    /// Routes the entry edges of a loop through a new block, to which `again` leads as well. Answers with the induction
    /// variable there, and with the compared value in the loop.
    fn enter_by(&self, l: &Marked, c: &Count, outer: Bb, again: Bb) -> (Val, Val) {
        let m = self.m;
        let (mut start, mut compared) = (null_mut(), c.value);
        for phi in m.phis(l.header) {
            let incoming = m.incoming(phi);
            m.at_end(outer);
            let before = m.phi(m.type_of(phi));
            m.at_start(l.header);
            let new = m.phi(m.type_of(phi));
            m.add_incoming(new, before, outer);
            for (v, from) in incoming {
                if from == l.latch {
                    m.add_incoming(new, v, l.latch);
                    m.add_incoming(before, v, again);
                } else {
                    m.add_incoming(before, v, from);
                    m.redirect(from, l.header, outer);
                }
            }
            if phi == c.phi {
                start = before;
            }
            if phi == c.value {
                compared = new;
            }
            m.replace_with(phi, new);
        }
        (start, compared)
    }

    /// Polls in each iteration, before the exiting block continues.
    fn ask_in_each_round(&self, l: &Marked) {
        let m = self.m;
        let (ask, stop) = (m.block(self.f), m.block(self.f));
        let (goes_on, exit, _) = l.ways();
        m.redirect(l.from, goes_on, ask);
        self.ask_and_stop(ask, stop, goes_on, exit);
        self.rebuild_phis(goes_on, |v, from| vec![(v, if from == l.from { ask } else { from })]);
        self.rebuild_phis(exit, |v, from| if from == l.from { vec![(v, from), (v, stop)] } else { vec![(v, from)] });
    }

    /// Builds the block that polls and the block that ends the loop early.
    fn ask_and_stop(&self, ask: Bb, stop: Bb, goes_on: Bb, exit: Bb) {
        let m = self.m;
        m.at_end(ask);
        let asked = polls::ask(m);
        self.rarely(m.cond_br(asked, stop, goes_on));
        m.at_end(stop);
        m.store(m.int(m.t.i8, 1), self.slot, 1);
        m.br(exit);
    }

    /// Marks the first target of a branch as very unlikely.
    fn rarely(&self, branch: Val) {
        let m = self.m;
        let weights = [m.md_text("branch_weights"), m.md_int(m.t.i32, 1), m.md_int(m.t.i32, 1 << 20)];
        m.attach(branch, "prof", m.node(&weights));
    }

    /// Rebuilds the phis of a block with other entries.
    fn rebuild_phis(&self, block: Bb, entries: impl Fn(Val, Bb) -> Vec<(Val, Bb)>) {
        let m = self.m;
        for phi in m.phis(block) {
            m.at_start(block);
            let new = m.phi(m.type_of(phi));
            for (v, from) in m.incoming(phi).into_iter().flat_map(|(v, from)| entries(v, from)) {
                m.add_incoming(new, v, from);
            }
            m.replace_with(phi, new);
        }
    }

    /// Lets loops that LLVM has turned into calls of `memset` or `memcpy` end early, too, and clears the record where
    /// the exception is raised. Whether there are any such calls.
    fn calls(&self) -> bool {
        let m = self.m;
        let mut any = false;
        for call in m.instructions(self.f) {
            let instead = match &called(call) {
                n if n.starts_with("llvm.memset.") => symbols::FILL,
                n if n.starts_with("llvm.memcpy.") => symbols::COPY,
                n if n == runtime::lh_stopped.name => {
                    m.before(call);
                    m.store(m.int(m.t.i8, 0), self.slot, 1);
                    continue;
                }
                _ => continue,
            };
            // SAFETY: calls of these functions have three operands and one more.
            let args = unsafe { [0, 1, 2].map(|i| LLVMGetOperand(call, i)) };
            if m.constant_int(args[2]).is_some() || !self.is_asked_after(call) {
                continue;
            }
            let ty = m.fn_type(&args.map(|a| m.type_of(a)), m.t.i8);
            let f = m.declare(instead, ty);
            m.attribute(f, "nounwind");
            m.before(call);
            let early = m.call(ty, f, &args);
            let before = m.load(m.t.i8, self.slot, 1);
            m.store(m.or(before, early), self.slot, 1);
            // SAFETY: it has no result.
            unsafe { LLVMInstructionEraseFromParent(call) };
            any = true;
        }
        any
    }

    /// Whether a test certainly follows an instruction.
    fn is_asked_after(&self, inst: Val) -> bool {
        const BLOCKS: usize = 8;
        let mut at = inst;
        // SAFETY: walks the blocks of a live function.
        unsafe {
            for _ in 0..BLOCKS {
                let block = LLVMGetInstructionParent(at);
                while !at.is_null() {
                    if self.questions.contains(&at) {
                        return true;
                    }
                    at = LLVMGetNextInstruction(at);
                }
                let term = LLVMGetBasicBlockTerminator(block);
                if LLVMGetNumSuccessors(term) != 1 {
                    return false;
                }
                at = LLVMGetFirstInstruction(LLVMGetSuccessor(term, 0));
            }
        }
        false
    }
}

impl Count {
    /// Whether the loop certainly has no more iterations than a strip: the remainder of an unrolled loop.
    fn is_short(&self) -> bool {
        // SAFETY: asks a value of a live function what it is.
        let mask = unsafe {
            let and = LLVMIsAInstruction(self.bound);
            let is_and = !and.is_null() && LLVMGetInstructionOpcode(and) == LLVMOpcode::LLVMAnd;
            is_and.then(|| LLVMGetOperand(and, 1)).filter(|v| !LLVMIsAConstantInt(*v).is_null())
        };
        // SAFETY: a constant.
        let most = mask.map(|v| unsafe { LLVMConstIntGetSExtValue(v) });
        self.start == Some(0) && most.is_some_and(|n| (0..=ROUNDS).contains(&n))
    }
}

/// The negated comparison.
fn inverse(p: LLVMIntPredicate) -> LLVMIntPredicate {
    match p {
        LLVMIntEQ => LLVMIntNE,
        LLVMIntNE => LLVMIntEQ,
        LLVMIntUGT => LLVMIntULE,
        LLVMIntUGE => LLVMIntULT,
        LLVMIntULT => LLVMIntUGE,
        LLVMIntULE => LLVMIntUGT,
        LLVMIntSGT => LLVMIntSLE,
        LLVMIntSGE => LLVMIntSLT,
        LLVMIntSLT => LLVMIntSGE,
        LLVMIntSLE => LLVMIntSGT,
    }
}

/// The comparison with exchanged operands.
fn swapped(p: LLVMIntPredicate) -> LLVMIntPredicate {
    match p {
        LLVMIntEQ | LLVMIntNE => p,
        LLVMIntUGT => LLVMIntULT,
        LLVMIntUGE => LLVMIntULE,
        LLVMIntULT => LLVMIntUGT,
        LLVMIntULE => LLVMIntUGE,
        LLVMIntSGT => LLVMIntSLT,
        LLVMIntSGE => LLVMIntSLE,
        LLVMIntSLT => LLVMIntSGT,
        LLVMIntSLE => LLVMIntSGE,
    }
}
