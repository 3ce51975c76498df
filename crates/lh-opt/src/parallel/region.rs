//! The blocks of a parallel loop, and what they need from outside.

use crate::analysis::counted::{Counted, Defs, counted, target_of};
use lh_ir::cfg::{Cfg, DomTree, Loop, targets};
use lh_ir::func::{Target, Term};
use lh_ir::{Block, Function, Value};

/// Why a loop cannot run in parallel, in the words of a remark.
pub(crate) type Reason = &'static str;

/// The reason of loops that need the order of their iterations.
pub(crate) const CARRIED: Reason = "a variable carries a value from one iteration to the next";

/// A loop with one entry and one exit, both in its header.
pub(crate) struct Region {
    pub(crate) header: Block,
    /// All blocks that only the loop reaches, the header among them.
    pub(crate) blocks: Vec<Block>,
    /// By block: whether it is one of them.
    pub(crate) inside: Vec<bool>,
    pub(crate) counted: Counted,
    /// Where the loop goes when it ends.
    pub(crate) exit: Target,
    /// Where exceptions that leave it go.
    pub(crate) unwind: Option<Target>,
}

/// The region of a loop.
pub(crate) fn region(func: &Function, cfg: &Cfg, dom: &DomTree, l: &Loop) -> Result<Region, Reason> {
    let defs = Defs::new(func);
    let counted = counted(func, cfg, &defs, l).filter(|c| c.step == 1).ok_or("it is not a counted loop")?;
    let Some(Term::Branch { then, els, .. }) = &func.blocks[l.header.index()].term else {
        return Err("it is not a counted loop");
    };
    let (body, exit) = if counted.body_first { (then, els) } else { (els, then) };
    let after = reachable(func, exit.block, l.header, &|_| true);
    let parts = |handlers: &dyn Fn(Block) -> bool| {
        let within = reachable(func, body.block, l.header, handlers);
        let mut inside: Vec<bool> =
            (0..func.blocks.len()).map(|b| within[b] && !after[b] && dom.dominates(l.header, Block::new(b))).collect();
        inside[l.header.index()] = true;
        let (header, counted) = (l.header, counted.clone());
        let region = Region { header, blocks: Vec::new(), inside, counted, exit: exit.clone(), unwind: None };
        region.complete(func, cfg, &defs)
    };
    // Handlers that end the loop stay outside, as that of a `with` around, unless they look at what an iteration made.
    parts(&|b| l.blocks.contains(&b)).or_else(|reason| parts(&|_| true).map_err(|_| reason))
}

/// Blocks that can be reached without entering the header, through such handlers only.
pub(super) fn reachable(func: &Function, from: Block, header: Block, handlers: &dyn Fn(Block) -> bool) -> Vec<bool> {
    let mut seen = vec![false; func.blocks.len()];
    let mut work = vec![from];
    while let Some(b) = work.pop() {
        if b != header && !std::mem::replace(&mut seen[b.index()], true) {
            work.extend(targets(func, b).filter(|(n, t)| n.is_some() || handlers(t.block)).map(|(_, t)| t.block));
        }
    }
    seen
}

/// Where a jump ends that goes through blocks which do nothing.
fn destination<'a>(func: &'a Function, mut t: &'a Target) -> &'a Target {
    for _ in 0..func.blocks.len() {
        let data = &func.blocks[t.block.index()];
        match &data.term {
            Some(Term::Jump(next)) if data.insts.is_empty() && data.params.is_empty() => t = next,
            _ => break,
        }
    }
    t
}

impl Region {
    /// Finds the blocks of what is inside, and where exceptions go.
    fn complete(mut self, func: &Function, cfg: &Cfg, defs: &Defs) -> Result<Region, Reason> {
        self.blocks = cfg.rpo().iter().copied().filter(|b| self.inside[b.index()]).collect();
        let unwind = self.way_of_exceptions(func)?;
        self.unwind = unwind.or_else(|| func.blocks[self.header.index()].unwind.clone());
        for e in cfg.preds(self.header).iter().filter(|e| !self.inside[e.from.index()]) {
            let start = target_of(func, *e).args[self.counted.place];
            if defs.int(func, start) != Some(0) {
                return Err("it does not begin at 0");
            }
        }
        self.check_outside(func)?;
        Ok(self)
    }

    /// Where exceptions that leave the loop go; nothing else may leave it but at its end.
    fn way_of_exceptions(&self, func: &Function) -> Result<Option<Target>, Reason> {
        let mut unwind: Option<Option<Target>> = None;
        for b in &self.blocks {
            if matches!(func.blocks[b.index()].term, Some(Term::Return(_))) {
                return Err("`return` leaves it early");
            }
            for (number, t) in targets(func, *b) {
                let is_end = *b == self.header && t.block == self.exit.block;
                if self.inside[t.block.index()] || (number.is_some() && is_end) {
                    continue;
                }
                if number.is_some() {
                    return Err("`break` or `return` leaves it early");
                }
                let t = destination(func, t);
                if unwind.as_ref().is_some_and(|u| u.as_ref() != Some(t)) {
                    return Err("exceptions in it are handled outside of it, in several ways");
                }
                unwind = Some(Some(t.clone()));
            }
        }
        Ok(unwind.flatten())
    }

    /// Values that the region makes, by value.
    pub(crate) fn defined(&self, func: &Function) -> Vec<bool> {
        let mut made = vec![false; func.values.len()];
        for b in &self.blocks {
            let data = &func.blocks[b.index()];
            for v in data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)) {
                made[v.index()] = true;
            }
        }
        made
    }

    /// Nothing but the header's parameters may be used outside.
    fn check_outside(&self, func: &Function) -> Result<(), Reason> {
        let mut made = self.defined(func);
        if self.unwind.iter().flat_map(|t| &t.args).any(|v| made[v.index()]) {
            return Err("an exception in it is handled outside of it, with values of the loop");
        }
        // Handlers do not see what the loop ended with.
        let handled = match &self.unwind {
            Some(t) => reachable(func, t.block, self.header, &|_| true),
            None => vec![false; func.blocks.len()],
        };
        let mut used = false;
        for (b, _) in handled.iter().enumerate().filter(|(b, handled)| **handled && !self.inside[*b]) {
            for_each_use(func, Block::new(b), |v| used |= made[v.index()]);
        }
        if used {
            return Err("an exception in it is handled outside of it, with values of the loop");
        }
        for p in &func.blocks[self.header.index()].params {
            made[p.index()] = false;
        }
        used = self.exit.args.iter().any(|v| made[v.index()]);
        for (b, _) in self.inside.iter().enumerate().filter(|(_, inside)| !**inside) {
            for_each_use(func, Block::new(b), |v| used |= made[v.index()]);
        }
        if used { Err("what it computes last is used after it") } else { Ok(()) }
    }

    /// Values made outside that the region uses, each once, in the order of use.
    pub(crate) fn captured(&self, func: &Function) -> Vec<Value> {
        let mut seen = self.defined(func);
        let mut out = Vec::new();
        for b in &self.blocks {
            for_each_use(func, *b, |v| {
                if v != self.counted.limit && !std::mem::replace(&mut seen[v.index()], true) {
                    out.push(v);
                }
            });
        }
        // The limit is where the body ends, unless it is more than that.
        let mut more = false;
        for b in &self.blocks {
            for d in func.blocks[b.index()].insts.iter().filter(|d| !self.is_condition(func, d.result)) {
                d.inst.for_each_operand(|v| more |= v == self.counted.limit);
            }
            for t in targets(func, *b).filter(|(_, t)| self.inside[t.block.index()]) {
                more |= t.1.args.contains(&self.counted.limit);
            }
        }
        if more {
            out.push(self.counted.limit);
        }
        out
    }

    /// Whether a value is the condition on which the loop goes on.
    pub(crate) fn is_condition(&self, func: &Function, v: Option<Value>) -> bool {
        matches!(&func.blocks[self.header.index()].term, Some(Term::Branch { cond, .. }) if Some(*cond) == v)
    }
}

/// Visits everything a block uses, arguments of targets included.
pub(crate) fn for_each_use(func: &Function, b: Block, mut f: impl FnMut(Value)) {
    for d in &func.blocks[b.index()].insts {
        d.inst.for_each_operand(&mut f);
    }
    for (_, t) in targets(func, b) {
        t.args.iter().copied().for_each(&mut f);
    }
    match &func.blocks[b.index()].term {
        Some(Term::Branch { cond: v, .. } | Term::Return(v)) => f(*v),
        Some(Term::Raise { args, .. }) => args.iter().copied().for_each(&mut f),
        Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
    }
}
