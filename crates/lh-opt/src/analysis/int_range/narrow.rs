//! Integers whose ranges fit 32 bits for all arguments of a kernel: a vector holds twice as many of them.
//!
//! ```text
//! v1(n) = block3(0), block3(v2)
//! v2 = add v1, 1
//! branch lt v2, cast(v0: int32)         ; v1 and v2 are from 0 to what an int32 is at most
//! ```
//!
//! The ranges of induction variables are guessed from the comparisons that bound them and kept if they follow from
//! themselves; the ranges of other values follow from those.

use super::{ANY, Limits, Range, Ranges, is_int};
use crate::analysis::counted::Defs;
use lh_ir::cfg::{Cfg, DomTree, targets};
use lh_ir::func::Term;
use lh_ir::{Block, Function, Value};
use std::collections::HashMap;

/// For each value, whether its range fits 32 bits.
pub(crate) fn narrow(func: &Function, cfg: &Cfg) -> Vec<bool> {
    let dom = DomTree::new(cfg);
    let Limits(r) = Limits::new(func, cfg, &dom);
    let params = cfg.rpo().iter().skip(1).flat_map(|b| func.blocks[b.index()].params.iter().map(|p| (*p, *b)));
    let params: Vec<(Value, Block)> = params.filter(|(p, _)| is_int(func, *p)).collect();
    let mut proved: HashMap<Value, Range> =
        params.iter().map(|(p, b)| (*p, r.of_param(*p, *b))).filter(|(_, range)| range.is_narrow()).collect();
    loop {
        let known = Ranges { proved: Some(&proved), counts: Vec::new(), defs: Defs::new(func), ..r };
        let wrong = |(p, b): &&(Value, Block)| {
            proved.get(p).is_some_and(|range| {
                let now = known.of_param(*p, *b);
                now.lo < range.lo || now.hi > range.hi
            })
        };
        let gone: Vec<Value> = params.iter().filter(wrong).map(|(p, _)| *p).collect();
        let unproved = params.iter().filter(|(p, _)| gone.is_empty() && !proved.contains_key(p));
        let ranges = unproved.map(|(p, b)| (*p, known.of_param(*p, *b)));
        let more: Vec<(Value, Range)> = ranges.filter(|(_, range)| range.is_narrow()).collect();
        if gone.is_empty() && more.is_empty() {
            let mut narrow = vec![false; func.values.len()];
            for b in cfg.rpo() {
                let data = &func.blocks[b.index()];
                for v in data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)) {
                    narrow[v.index()] = is_int(func, v) && known.range(v, *b, 0).is_narrow();
                }
            }
            return narrow;
        }
        proved.retain(|p, _| !gone.contains(p));
        proved.extend(more);
    }
}

impl Range {
    fn is_narrow(self) -> bool {
        self.lo >= i128::from(i32::MIN) && self.hi <= i128::from(i32::MAX)
    }
}

impl Ranges<'_> {
    /// The range of a block parameter: the union over its incoming edges.
    fn of_param(&self, p: Value, b: Block) -> Range {
        let Some(i) = self.func.blocks[b.index()].params.iter().position(|x| *x == p) else { return ANY };
        let mut all: Option<Range> = None;
        for e in self.cfg.preds(b) {
            if e.target.is_none() {
                return ANY;
            }
            for (_, t) in targets(self.func, e.from).filter(|(n, t)| *n == e.target && t.block == b) {
                let r = self.passed(t.args[i], e.from, b);
                all = Some(all.map_or(r, |a| Range { lo: a.lo.min(r.lo), hi: a.hi.max(r.hi) }));
            }
        }
        all.unwrap_or(ANY)
    }

    /// The range of a value on the edge from one block to another.
    fn passed(&self, v: Value, from: Block, to: Block) -> Range {
        let mut r = self.range(v, from, 0);
        if let Some(Term::Branch { cond, then, els }) = &self.func.blocks[from.index()].term
            && then.block != els.block
            && let Some((op, args)) = self.comparison(*cond).filter(|(_, args)| args.contains(&v))
        {
            self.compared(v, (op, args, then.block == to), from, 0, &mut r);
        }
        r
    }
}
