//! Uniformity: values that are the same for all threads of a block (of the grid, where its blocks run together) each
//! time they are computed.
//!
//! A value varies if it depends on the thread's index, on memory or on a call that varies, or if it is a parameter of
//! a block where divergent threads meet.

use super::device::{HANDED, waits_of_call};
use lh_ir::cfg::{Cfg, DomTree, Loops, targets};
use lh_ir::func::{Inst, InstData, Term, waits};
use lh_ir::runtime::{Geometry, Role};
use lh_ir::{Block, Function, Value};

/// For each value, whether it varies. With `by_block`, the index of the block varies, too. Results that `keeps`
/// refuses vary; results that `same` accepts do not, unless threads have left a loop at different times.
pub(crate) fn varying(
    func: &Function,
    cfg: &Cfg,
    by_block: bool,
    keeps: &dyn Fn(&InstData) -> bool,
    same: &dyn Fn(&InstData) -> bool,
) -> Vec<bool> {
    let dom = DomTree::new(cfg);
    let mut a = Analysis {
        func,
        cfg,
        by_block,
        keeps,
        same,
        loops: Loops::new(func, cfg, &dom),
        varies: vec![false; func.values.len()],
        divergent_joins: vec![false; func.blocks.len()],
        reconvergence: vec![Vec::new(); func.blocks.len()],
        seen: vec![false; func.blocks.len()],
        postdoms: post_dominators(func, cfg),
        changed: true,
    };
    for v in &func.params()[1..HANDED] {
        a.varies[v.index()] = true;
    }
    while a.changed {
        a.changed = false;
        for b in cfg.rpo() {
            a.block(*b);
        }
    }
    a.varies
}

struct Analysis<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    by_block: bool,
    keeps: &'a dyn Fn(&InstData) -> bool,
    same: &'a dyn Fn(&InstData) -> bool,
    loops: Loops,
    varies: Vec<bool>,
    /// Blocks where divergent threads meet.
    divergent_joins: Vec<bool>,
    /// Where all divergent threads reconverge, the blocks that they come from: an argument that all of them pass is
    /// uniform.
    reconvergence: Vec<Vec<Block>>,
    /// Blocks whose branch is known to vary.
    seen: Vec<bool>,
    /// Post-dominators of each block.
    postdoms: Vec<Vec<bool>>,
    changed: bool,
}

impl Analysis<'_> {
    fn mark(&mut self, v: Value, varies: bool) {
        if varies && !std::mem::replace(&mut self.varies[v.index()], true) {
            self.changed = true;
        }
    }

    fn block(&mut self, b: Block) {
        let func = self.func;
        let data = &func.blocks[b.index()];
        if b.index() != 0 {
            self.params(b);
        }
        for d in &data.insts {
            if let Some(r) = d.result {
                let varies = !(self.keeps)(d) || self.inst(&d.inst) && !((self.same)(d) && self.uniform_trips(b));
                self.mark(r, varies);
            }
        }
        if let Some(Term::Branch { cond, .. }) = &data.term
            && self.varies[cond.index()]
            && !std::mem::replace(&mut self.seen[b.index()], true)
        {
            self.diverge(b);
            self.changed = true;
        }
    }

    /// Whether the loops around a block have uniform trip counts.
    fn uniform_trips(&self, b: Block) -> bool {
        let mut around = self.loops.innermost[b.index()];
        while let Some(l) = around.map(|l| &self.loops.loops[l]) {
            if self.divergent_joins[l.header.index()] {
                return false;
            }
            around = l.parent;
        }
        true
    }

    fn params(&mut self, b: Block) {
        let func = self.func;
        for (i, p) in func.blocks[b.index()].params.iter().enumerate() {
            let mut varies = self.divergent_joins[b.index()];
            let mut passed = None;
            for e in self.cfg.preds(b) {
                // State after an exception is not tracked.
                varies |= e.target.is_none();
                for (n, t) in targets(func, e.from) {
                    if n != e.target || t.block != b {
                        continue;
                    }
                    varies |= self.varies[t.args[i].index()];
                    if self.reconvergence[b.index()].contains(&e.from) {
                        varies |= passed.is_some_and(|v| v != t.args[i]);
                        passed = Some(t.args[i]);
                    }
                }
            }
            self.mark(*p, varies);
        }
    }

    fn inst(&self, inst: &Inst) -> bool {
        let mut any = false;
        let operands = |vs: &[Value]| vs.iter().any(|v| self.varies[v.index()]);
        match inst {
            Inst::Call(spec, args) => {
                let varies = waits_of_call(self.func, *spec) & waits::VARIES != 0;
                varies || operands(&args[HANDED..])
            }
            // The result of a voting barrier is the same for all threads.
            Inst::Runtime(f, _) if f.is_block_barrier() => false,
            Inst::Runtime(f, args) => {
                let is_index = matches!(f.role, Role::Geometry(Geometry::Block, _));
                !f.uniform || (self.by_block && is_index) || operands(args)
            }
            Inst::SlotGet(_) | Inst::Take(_) => true,
            other => {
                other.for_each_operand(|v| any |= self.varies[v.index()]);
                any
            }
        }
    }

    /// Threads diverge at a block and meet in the blocks that both targets reach. Threads that stay in a loop which
    /// others leave reach its header more often.
    fn diverge(&mut self, b: Block) {
        let succs: Vec<Block> = targets(self.func, b).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block).collect();
        let stop = |x: Block| succs.iter().all(|s| self.postdoms[s.index()][x.index()]);
        let ways: Vec<Vec<bool>> = succs
            .iter()
            .map(|s| {
                let mut reached = vec![false; self.func.blocks.len()];
                let mut work = vec![*s];
                while let Some(x) = work.pop() {
                    if std::mem::replace(&mut reached[x.index()], true) || stop(x) {
                        continue;
                    }
                    work.extend(targets(self.func, x).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block));
                }
                reached
            })
            .collect();
        for x in (0..self.func.blocks.len()).map(Block::new) {
            let preds = self.cfg.preds(x);
            if !ways.iter().all(|w| w[x.index()]) || preds.len() < 2 {
                continue;
            }
            if stop(x) {
                let apart = |from: &Block| *from == b || ways.iter().any(|w| w[from.index()]);
                self.reconvergence[x.index()].extend(preds.iter().map(|e| e.from).filter(apart));
            } else {
                self.divergent_joins[x.index()] = true;
            }
        }
        let mut around = self.loops.innermost[b.index()];
        while let Some(l) = around.map(|l| &self.loops.loops[l]) {
            let outside = |w: &Vec<bool>| (0..w.len()).any(|x| w[x] && !l.blocks.contains(&Block::new(x)));
            if ways.iter().any(outside) {
                self.divergent_joins[l.header.index()] = true;
            }
            around = l.parent;
        }
    }
}

/// For each block, the blocks that post-dominate it, itself included; exceptional edges do not count.
pub(crate) fn post_dominators(func: &Function, cfg: &Cfg) -> Vec<Vec<bool>> {
    let n = func.blocks.len();
    let mut postdoms = vec![vec![true; n]; n];
    let mut changed = true;
    while changed {
        changed = false;
        for b in cfg.rpo().iter().rev() {
            let succs: Vec<usize> =
                targets(func, *b).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block.index()).collect();
            let mut now = vec![!succs.is_empty(); n];
            for s in succs {
                now.iter_mut().zip(&postdoms[s]).for_each(|(a, b)| *a &= *b);
            }
            now[b.index()] = true;
            if now != postdoms[b.index()] {
                postdoms[b.index()] = now;
                changed = true;
            }
        }
    }
    postdoms
}

/// Divergent blocks: those between a divergent branch and its reconvergence point.
pub(crate) fn divergence(func: &Function, cfg: &Cfg, varies: &[bool], postdoms: &[Vec<bool>]) -> Vec<bool> {
    let mut diverged = vec![false; func.blocks.len()];
    for b in cfg.rpo() {
        let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { continue };
        if !varies[cond.index()] {
            continue;
        }
        let succs = [then.block.index(), els.block.index()];
        let mut work = vec![then.block, els.block];
        while let Some(x) = work.pop() {
            let met = succs.iter().all(|s| postdoms[*s][x.index()]);
            if met || std::mem::replace(&mut diverged[x.index()], true) {
                continue;
            }
            work.extend(targets(func, x).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block));
        }
    }
    diverged
}
