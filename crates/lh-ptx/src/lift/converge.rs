//! Finds threads of a warp that part before a barrier.
//!
//! A GPU has lanes that have left a divergent branch wait at its reconvergence point, the immediate post-dominator, for
//! those that have not. If these come to a barrier that is for the whole warp meanwhile, neither goes on. So a branch
//! with such a barrier before its reconvergence point must have one condition for the whole warp:
//!
//! ```text
//! block1():                                          block1():
//!     branch v1, block2(), block3()            ->        v2 = cast v1
//! block2():                                              v3 = runtime lh_cuda_warp(context, EQ, all, v2, 0)
//!     runtime lh_cuda_sync(context)                      ... raise RuntimeError unless v3, then the branch
//!     jump block3()
//! ```
//!
//! Lanes that have ended wait nowhere. They end by `exit`, or by `ret` of the kernel itself in a block of its own,
//! which NVIDIA's assembler turns into `exit`.

use super::build::FnLift;
use lh_ir::func::{Inst, Term};
use lh_ir::{Block, Const, Ty, Value};
use lh_ops::exceptions::RUNTIME_ERROR;
use lh_ops::runtime as rt;
use lh_ops::warp;

/// Whether an operation is a barrier that a whole warp must come to together.
pub(super) fn is_aligned_barrier(op: &[String]) -> bool {
    let has = |word: &str| op.iter().any(|w| w == word);
    match op[0].as_str() {
        "bar" => !has("warp") && !has("arrive"),
        "barrier" => has("aligned"),
        _ => false,
    }
}

/// Sets of blocks, by number.
type Set = Vec<bool>;

/// Successors of each block, less those where threads only end.
struct Flow {
    successors: Vec<Vec<usize>>,
}

impl Flow {
    fn new(f: &FnLift<'_, '_>) -> Flow {
        let targets = |b: usize| -> Vec<usize> {
            let term = f.func.blocks[b].term.as_ref();
            term.map(Term::targets).unwrap_or_default().iter().map(|t| t.block.index()).collect()
        };
        let n = f.func.blocks.len();
        // Blocks after which a thread can only end, without a barrier before.
        let mut ends: Set = (0..n).map(|b| f.exits.contains(&Block::new(b)) || is_trap(f, b)).collect();
        let leads_there = |ends: &Set, b: usize| {
            !ends[b]
                && !f.aligned.contains(&Block::new(b))
                && !targets(b).is_empty()
                && targets(b).iter().all(|t| ends[*t])
        };
        while let Some(b) = (0..n).find(|b| leads_there(&ends, *b)) {
            ends[b] = true;
        }
        ends.iter_mut().enumerate().for_each(|(b, e)| *e |= is_return(f, b));
        let successors = (0..n).map(|b| targets(b).into_iter().filter(|t| !ends[*t]).collect()).collect();
        Flow { successors }
    }

    /// For each block, those that every way from it to the end goes through, itself among them.
    fn post_dominators(&self) -> Vec<Set> {
        let n = self.successors.len();
        let mut after: Vec<Set> = vec![vec![true; n]; n];
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..n).rev() {
                let mut all = vec![!self.successors[b].is_empty(); n];
                for s in &self.successors[b] {
                    all.iter_mut().zip(&after[*s]).for_each(|(a, x)| *a &= x);
                }
                all[b] = true;
                changed |= all != after[b];
                after[b] = all;
            }
        }
        after
    }

    /// Blocks between a branch and the first of those that are on all ways from it.
    fn region(&self, branch: usize, after: &[Set]) -> Set {
        let mut seen = vec![false; self.successors.len()];
        let mut work = self.successors[branch].clone();
        while let Some(b) = work.pop() {
            if b != branch && after[branch][b] || std::mem::replace(&mut seen[b], true) {
                continue;
            }
            work.extend(&self.successors[b]);
        }
        seen
    }
}

fn is_trap(f: &FnLift<'_, '_>, b: usize) -> bool {
    matches!(f.func.blocks[b].term, Some(Term::Raise { .. }))
}

/// Whether a block of a kernel returns and does nothing else.
fn is_return(f: &FnLift<'_, '_>, b: usize) -> bool {
    let block = &f.func.blocks[b];
    f.source.is_entry
        && matches!(block.term, Some(Term::Return(_)))
        && block.insts.iter().all(|i| matches!(i.inst, Inst::Zero))
}

impl FnLift<'_, '_> {
    /// Lets each branch with a barrier before its reconvergence point ask whether its warp goes one way.
    pub(super) fn check_convergence(&mut self) {
        if self.aligned.is_empty() {
            return;
        }
        let flow = Flow::new(self);
        let after = flow.post_dominators();
        for b in 0..flow.successors.len() {
            let Some(Term::Branch { cond, .. }) = self.func.blocks[b].term else { continue };
            let region = flow.region(b, &after);
            if flow.successors[b].len() == 2 && self.aligned.iter().any(|a| region[a.index()]) {
                self.check_branch(Block::new(b), cond);
            }
        }
    }

    fn check_branch(&mut self, b: Block, cond: Value) {
        const ALL_LANES: i128 = 0xFFFF_FFFF;
        let Some(cx) = self.context else { return };
        let term = self.func.blocks[b.index()].term.take();
        self.block = b;
        self.line = self.func.blocks[b.index()].term_span.line;
        let [kind, mask, lane] = [warp::EQ.into(), ALL_LANES, 0].map(|n| self.int(n, Ty::int()));
        let value = self.cast(cond, Ty::int());
        let answer = self.call(&rt::lh_cuda_warp, vec![cx, kind, mask, value, lane], Ty::tuple(vec![Ty::int(); 2]));
        let same = self.push(Inst::Field(answer, 0), Ty::int());
        let same = self.op("ne", &[same, lane]);
        let (go_on, part) = (self.func.new_block(), self.func.new_block());
        self.branch(same, go_on, part);
        self.block = part;
        let text =
            format!("line {} of the PTX: threads of a warp part here, and some of them come to a barrier", self.line);
        let text = self.push(Inst::Const(Const::Str(text)), Ty::str());
        self.terminate(Term::Raise { exc: RUNTIME_ERROR, args: vec![text] });
        self.func.blocks[go_on.index()].term = term;
    }
}
