//! Finds the cuts of a kernel: barriers, and the branches that decide which barrier comes next.
//!
//! ```text
//! block1(): branch v3, block2(), block9()       ; decides if there is another barrier: a cut, v3 must be block-uniform
//! block2(): runtime lh_cuda_sync()              ; a barrier: a cut
//! block3(): branch v7, block4(), block5()       ; no barrier before both paths join: inside of the loops over threads
//! ```

use super::uniform::post_dominators;
use crate::analysis::counted::{Defs, compared, counted, is_short, stride};
use crate::analysis::uniform::divergence;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, Term};
use lh_ir::runtime::{self, Role, RuntimeFn};
use lh_ir::{Block, Function, Value};
use std::collections::HashMap;

/// The code behind a uniform branch is copied; further ones stay inside the loops over threads.
const MAX_BRANCHES: usize = 3;

/// A barrier at the end of a block.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    pub kind: runtime::Barrier,
    /// The argument and the result of a voting barrier.
    pub value: Option<(Value, Value)>,
    /// The block behind the barrier.
    pub resume: Block,
}

/// The first cut on all paths from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCut {
    /// There is none: all paths raise or loop for ever.
    Never,
    /// The end of the kernel.
    Exit,
    /// The cut at the end of this block.
    At(Block),
    /// Paths lead to different cuts.
    Different,
}

impl NextCut {
    fn or(self, other: NextCut) -> NextCut {
        match (self, other) {
            (NextCut::Never, x) | (x, NextCut::Never) => x,
            (a, b) if a == b => a,
            _ => NextCut::Different,
        }
    }
}

/// Splits blocks behind barriers.
pub(super) fn split_syncs(func: &mut Function) -> HashMap<Block, Barrier> {
    let mut syncs = HashMap::new();
    let mut i = 0;
    while i < func.blocks.len() {
        let is_sync = |inst: &Inst| matches!(inst, Inst::Runtime(f, _) if f.is_barrier());
        if let Some(at) = func.blocks[i].insts.iter().position(|d| is_sync(&d.inst)) {
            let resume = func.new_block();
            let data = &mut func.blocks[i];
            let rest = data.insts.split_off(at + 1);
            let sync = data.insts.pop().expect("found above");
            let Inst::Runtime(RuntimeFn { role: Role::Barrier(kind), .. }, args) = &sync.inst else {
                lh_ir::bug!("a barrier is a call")
            };
            let value = args.get(1).copied().zip(sync.result);
            let (term, span, unwind, cold) = (data.term.take(), data.term_span, data.unwind.clone(), data.cold);
            data.term = Some(Term::Jump(crate::edit::to(resume, &[])));
            syncs.insert(Block::new(i), Barrier { kind: *kind, value, resume });
            let next = &mut func.blocks[resume.index()];
            (next.insts, next.term, next.term_span, next.unwind, next.cold) = (rest, term, span, unwind, cold);
        }
        i += 1;
    }
    syncs
}

/// The headers of block-uniform loops that LLVM does not unroll, and block-uniform branches.
pub(super) fn uniform(
    func: &Function,
    cfg: &Cfg,
    syncs: &HashMap<Block, Barrier>,
    varies: &[bool],
) -> (Vec<Block>, Vec<Block>) {
    let dom = DomTree::new(cfg);
    let loops = Loops::new(func, cfg, &dom);
    let diverged = divergence(func, cfg, varies, &post_dominators(func, cfg));
    let defs = Defs::new(func);
    let uniform = |l: &Loop| {
        let counted = counted(func, cfg, &defs, l);
        let leaves = |b: &Block| targets(func, *b).any(|(n, t)| n.is_some() && !l.blocks.contains(&t.block));
        let same = |b: &Block| !matches!(&func.blocks[b.index()].term, Some(Term::Branch { cond, .. }) if varies[cond.index()]);
        let in_turn = l.blocks.iter().all(|b| *b == l.header || !leaves(b));
        let strides = || compared(func, cfg, &defs, l).is_some_and(|c| stride(func, cfg, &defs, l, &c).is_some());
        (counted.is_some() || strides())
            && !is_short(func, cfg, &defs, l)
            && same(&l.header)
            && !diverged[l.header.index()]
            && in_turn
    };
    let headers: Vec<Block> = loops.loops.iter().filter(|l| uniform(l)).map(|l| l.header).collect();
    // A loop that is no cut is inside the loops over threads, and so are its branches.
    let is_open = |b: Block| {
        let mut around = loops.innermost[b.index()].map(|l| &loops.loops[l]);
        while let Some(l) = around {
            let waits = || l.blocks.iter().any(|b| syncs.contains_key(b));
            if !headers.contains(&l.header) && !waits() {
                return false;
            }
            around = l.parent.map(|p| &loops.loops[p]);
        }
        true
    };
    let goes_on = |b: Block| !matches!(func.blocks[b.index()].term, Some(Term::Raise { .. } | Term::Unreachable));
    let decides = |b: &Block| match &func.blocks[b.index()].term {
        Some(Term::Branch { cond, then, els }) => {
            let uniform = !varies[cond.index()] && !diverged[b.index()] && is_open(*b);
            uniform && then.block != els.block && goes_on(then.block) && goes_on(els.block)
        }
        _ => false,
    };
    let is_header = |b: &Block| loops.loops.iter().any(|l| l.header == *b);
    let branches = cfg.rpo().iter().filter(|b| !is_header(b) && decides(b)).copied().take(MAX_BRANCHES).collect();
    (headers, branches)
}

/// Adds the branches that decide which cut comes next; answers with all cuts and the first cut from each block. `None`
/// if such a branch is divergent.
pub(super) fn find(
    func: &Function,
    cfg: &Cfg,
    syncs: &HashMap<Block, Barrier>,
    loops: &[Block],
    varies: &[bool],
) -> Option<(Vec<bool>, Vec<NextCut>)> {
    let mut is_cut = vec![false; func.blocks.len()];
    for b in syncs.keys().chain(loops) {
        is_cut[b.index()] = true;
    }
    loop {
        let first = next_cuts(func, cfg, &is_cut);
        let mut changed = false;
        for b in cfg.rpo() {
            let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { continue };
            let decides = first[then.block.index()].or(first[els.block.index()]) == NextCut::Different;
            if decides && !is_cut[b.index()] {
                if varies[cond.index()] {
                    return None;
                }
                is_cut[b.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return Some((is_cut, first));
        }
    }
}

fn next_cuts(func: &Function, cfg: &Cfg, is_cut: &[bool]) -> Vec<NextCut> {
    let mut first = vec![NextCut::Never; func.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for b in cfg.rpo().iter().rev() {
            let now = match &func.blocks[b.index()].term {
                _ if is_cut[b.index()] => NextCut::At(*b),
                Some(Term::Return(_)) => NextCut::Exit,
                _ => targets(func, *b)
                    .filter(|(n, _)| n.is_some())
                    .fold(NextCut::Never, |f, (_, t)| f.or(first[t.block.index()])),
            };
            changed |= std::mem::replace(&mut first[b.index()], now) != now;
        }
    }
    first
}
