//! Regions: the blocks of parallel loops, and the values that they use from outside.

use crate::analysis::counted::{Counted, Defs, counted, target_of};
use lh_ir::cfg::{Cfg, DomTree, Loop, targets};
use lh_ir::func::{Target, Term};
use lh_ir::{Block, Function, Value};

/// The reason why a loop cannot run in parallel, as remarks show it.
pub(crate) type Reason = &'static str;

/// The reason for loops with carried variables.
pub(crate) const UNPROVEN: Reason = "its iterations may depend on each other";
pub(crate) const CHECKED: Reason = "whether a sum overflows is asked in the order of iterations";
pub(crate) const CARRIED: Reason = "a variable carries a value from one iteration to the next";

/// A loop whose only entry and exit are in its header.
pub(crate) struct Region {
    pub(crate) header: Block,
    /// All blocks that are reachable only through the header, and the header.
    pub(crate) blocks: Vec<Block>,
    /// Membership by block.
    pub(crate) inside: Vec<bool>,
    pub(crate) counted: Counted,
    /// The target after the last iteration.
    pub(crate) exit: Target,
    /// The handler of exceptions that leave the loop.
    pub(crate) unwind: Option<Target>,
}

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
    // Handlers that end the loop, such as that of a `with` around it, stay outside unless they use values of an
    // iteration.
    parts(&|b| l.blocks.contains(&b)).or_else(|reason| parts(&|_| true).map_err(|_| reason))
}

/// Blocks reachable without the header; exceptional edges count only to certain handlers.
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

/// Follows jumps through empty blocks.
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
    /// Lists the blocks, finds the handler, and checks that the region is valid.
    fn complete(mut self, func: &Function, cfg: &Cfg, defs: &Defs) -> Result<Region, Reason> {
        self.blocks = cfg.rpo().iter().copied().filter(|b| self.inside[b.index()]).collect();
        let unwind = self.exception_target(func)?;
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

    /// The handler of exceptions that leave the loop, which must be one; no other edge but the header's exit may leave.
    fn exception_target(&self, func: &Function) -> Result<Option<Target>, Reason> {
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

    /// By value: whether the region defines it.
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

    /// Checks that only the header parameters are used outside.
    fn check_outside(&self, func: &Function) -> Result<(), Reason> {
        let mut made = self.defined(func);
        if self.unwind.iter().flat_map(|t| &t.args).any(|v| made[v.index()]) {
            return Err("an exception in it is handled outside of it, with values of the loop");
        }
        // A handler must not use the header parameters either: an exception does not tell their values.
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

    /// Values of the function that the region uses, in the order of their first use.
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
        // The limit becomes the body's own parameter, unless it has other uses.
        let mut more = false;
        for b in &self.blocks {
            for d in func.blocks[b.index()].insts.iter().filter(|d| !self.is_loop_condition(func, d.result)) {
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

    /// Whether a value is the condition of the header's branch.
    pub(crate) fn is_loop_condition(&self, func: &Function, v: Option<Value>) -> bool {
        matches!(&func.blocks[self.header.index()].term, Some(Term::Branch { cond, .. }) if Some(*cond) == v)
    }
}

/// Visits all uses in a block, with the arguments of targets.
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
