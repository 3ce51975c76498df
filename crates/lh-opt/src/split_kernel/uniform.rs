//! Which values are the same for all threads of a block (of the grid, where its blocks run together) each time they are
//! computed.
//!
//! A value varies if it comes from the thread's index, from memory or calls that vary, or from a block where threads meet
//! that went different ways.

use crate::kernel_context::{HANDED, is_uniform, waits_of_call};
use lh_ir::cfg::{Cfg, targets};
use lh_ir::func::{Inst, Term, waits};
use lh_ir::{Block, Function, Value};

/// For each value whether it varies. `by_block`: the index of the block varies too.
pub(super) fn varying(func: &Function, cfg: &Cfg, by_block: bool) -> Vec<bool> {
    let mut a = Analysis {
        func,
        cfg,
        by_block,
        varies: vec![false; func.values.len()],
        meets: vec![false; func.blocks.len()],
        seen: vec![false; func.blocks.len()],
        after: post_dominators(func, cfg),
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
    varies: Vec<bool>,
    /// Blocks where threads meet that went different ways.
    meets: Vec<bool>,
    /// Blocks whose branch is known to vary.
    seen: Vec<bool>,
    /// Blocks through which every way out of a block leads.
    after: Vec<Vec<bool>>,
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
                let varies = self.inst(&d.inst);
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

    fn params(&mut self, b: Block) {
        let func = self.func;
        for (i, p) in func.blocks[b.index()].params.iter().enumerate() {
            let mut varies = self.meets[b.index()];
            for e in self.cfg.preds(b) {
                // What an exception leaves behind is not followed.
                varies |= e.target.is_none();
                for (n, t) in targets(func, e.from) {
                    varies |= n == e.target && t.block == b && self.varies[t.args[i].index()];
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
            Inst::Runtime(f, args) => {
                !is_uniform(f) || (self.by_block && f.name.starts_with("lh_cuda_bid_")) || operands(args)
            }
            Inst::SlotGet(_) | Inst::Take(_) => true,
            other => {
                other.for_each_operand(|v| any |= self.varies[v.index()]);
                any
            }
        }
    }

    /// Threads go different ways from a block: where they may meet before all ways lead through one block, and there.
    fn diverge(&mut self, b: Block) {
        let succs: Vec<Block> = targets(self.func, b).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block).collect();
        let stop = |x: Block| succs.iter().all(|s| self.after[s.index()][x.index()]);
        let mut reached = vec![false; self.func.blocks.len()];
        let mut work = succs.clone();
        while let Some(x) = work.pop() {
            if std::mem::replace(&mut reached[x.index()], true) || stop(x) {
                continue;
            }
            work.extend(targets(self.func, x).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block));
        }
        for (x, r) in reached.iter().enumerate() {
            if *r && self.cfg.preds(Block::new(x)).len() > 1 {
                self.meets[x] = true;
            }
        }
    }
}

/// For each block the blocks through which every way from it to an end leads, itself included; exceptions are not ways.
fn post_dominators(func: &Function, cfg: &Cfg) -> Vec<Vec<bool>> {
    let n = func.blocks.len();
    let mut after = vec![vec![true; n]; n];
    let mut changed = true;
    while changed {
        changed = false;
        for b in cfg.rpo().iter().rev() {
            let succs: Vec<usize> =
                targets(func, *b).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block.index()).collect();
            let mut now = vec![!succs.is_empty(); n];
            for s in succs {
                now.iter_mut().zip(&after[s]).for_each(|(a, b)| *a &= *b);
            }
            now[b.index()] = true;
            if now != after[b.index()] {
                after[b.index()] = now;
                changed = true;
            }
        }
    }
    after
}
