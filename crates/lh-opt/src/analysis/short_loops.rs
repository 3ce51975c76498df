//! Loops that end soon although their trip count is unknown:
//!
//! ```text
//! while x:                 while j >= 0 and a[j] > t:        for k in range(n):
//!     x &= x - 1               a[j + 1] = a[j]                   s += row[k]
//!                              j -= 1
//! ```
//!
//! The first clears a bit in each iteration. The others walk along an array and end with it at the latest, which is
//! soon enough if an iteration does little and the loop is inside of another that polls for signals.

use crate::analysis::counted::{Defs, in_loop, steps, target_of};
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Loop};
use lh_ir::func::{Inst, Term};
use lh_ir::op::Lower;
use lh_ir::{Block, Function, Value};

/// The maximum number of instructions in an iteration of a loop along an array.
const MAX_INSTS: u64 = 64;

/// A loop with the analyses of its function.
pub(crate) struct ShortLoop<'a> {
    pub func: &'a Function,
    pub cfg: &'a Cfg,
    pub dom: &'a DomTree,
    pub defs: &'a Defs,
    pub l: &'a Loop,
}

impl ShortLoop<'_> {
    /// The maximum trip count of a loop that clears a bit of a number in each iteration until none is left.
    pub(crate) fn bits(&self) -> Option<u64> {
        let params = &self.func.blocks[self.l.header.index()].params;
        let ends = |(place, p): (usize, &Value)| {
            let next = self.next(place)?;
            let positive = self.exits_at_zero(*p, next)?;
            let most = self.first(place).map_or(self.func.ty(*p).bits(), |n| u64::BITS - n.leading_zeros());
            self.loses_a_bit(*p, next, positive).then_some(most.into())
        };
        params.iter().enumerate().filter(|(_, p)| self.func.ty(**p).is_int()).find_map(ends)
    }

    /// Whether each iteration accesses the next element of an array and does little else. `inside` is the trip count
    /// of inner loops in an iteration.
    pub(crate) fn follows_array(&self, inside: u64) -> bool {
        let blocks = || self.l.blocks.iter().map(|b| &self.func.blocks[b.index()]);
        if inside.saturating_mul(blocks().map(|d| d.insts.len() as u64).sum()) > MAX_INSTS {
            return false;
        }
        let params = &self.func.blocks[self.l.header.index()].params;
        let inductions: Vec<Value> =
            params.iter().enumerate().filter(|(place, _)| self.is_monotonic(*place)).map(|(_, p)| *p).collect();
        !inductions.is_empty()
            && blocks().flat_map(|d| &d.insts).all(|d| is_cheap_inst(&d.inst))
            && self.always_executed().any(|b| {
                self.func.blocks[b.index()].insts.iter().any(|d| match &d.inst {
                    Inst::ElemPtr { index, .. } => index.iter().any(|i| self.is_induction(*i, &inductions)),
                    _ => false,
                })
            })
    }

    /// Whether a number is one of the induction variables plus a constant and invariant values.
    fn is_induction(&self, v: Value, inductions: &[Value]) -> bool {
        let (base, _) = self.defs.offset(self.func, v);
        let is_outside = |v: Value| self.defs.block(v).is_some_and(|b| !in_loop(self.cfg, self.l, b));
        !is_outside(base)
            && (inductions.contains(&base)
                || match self.defs.inst(self.func, base) {
                    Some(Inst::Op(op, args)) if op.is(Algebra::Add) => {
                        (is_outside(args[0]) && self.is_induction(args[1], inductions))
                            || (is_outside(args[1]) && self.is_induction(args[0], inductions))
                    }
                    Some(Inst::Op(op, args)) if op.is(Algebra::Sub) => {
                        is_outside(args[1]) && self.is_induction(args[0], inductions)
                    }
                    _ => false,
                })
    }

    /// Blocks that every iteration executes.
    fn always_executed(&self) -> impl Iterator<Item = Block> {
        let latches = || self.cfg.preds(self.l.header).iter().filter(|e| in_loop(self.cfg, self.l, e.from));
        let all = move |b: Block| latches().all(|e| self.dom.dominates(b, e.from));
        self.l.blocks.iter().copied().filter(move |b| all(*b))
    }

    /// The non-negative constant with which a header parameter begins.
    fn first(&self, place: usize) -> Option<u64> {
        let mut ways = self.cfg.preds(self.l.header).iter().filter(|e| !in_loop(self.cfg, self.l, e.from));
        let n = self.defs.int(self.func, *target_of(self.func, *ways.next()?).args.get(place)?)?;
        ways.next().is_none().then_some(u64::try_from(n).ok()?)
    }

    /// The argument for a header parameter on the back edges, if it is the same on all.
    fn next(&self, place: usize) -> Option<Value> {
        let mut latches = self.cfg.preds(self.l.header).iter().filter(|e| in_loop(self.cfg, self.l, e.from));
        let arg = |e| target_of(self.func, e).args.get(place).copied();
        let first = arg(*latches.next()?)?;
        latches.all(|e| arg(*e) == Some(first)).then_some(first)
    }

    /// Whether a header parameter changes by a constant in each iteration, always in the same direction.
    fn is_monotonic(&self, place: usize) -> bool {
        let mut steps = steps(self.func, self.cfg, self.defs, self.l, place).map(|s| s.map_or(0, i64::signum));
        let first = steps.next().unwrap_or(0);
        first != 0 && steps.all(|s| s == first)
    }

    /// Whether the loop exits in each iteration in which a number is 0; `Some(true)` if also when it is negative.
    fn exits_at_zero(&self, param: Value, next: Value) -> Option<bool> {
        self.always_executed().find_map(|b| {
            let Some(Term::Branch { cond, then, els }) = &self.func.blocks[b.index()].term else { return None };
            let stays = match (in_loop(self.cfg, self.l, then.block), in_loop(self.cfg, self.l, els.block)) {
                (true, false) => true,
                (false, true) => false,
                _ => return None,
            };
            let is_it = |v: Value| v == param || v == next;
            match self.defs.inst(self.func, *cond)? {
                Inst::Cast(v) if is_it(*v) && stays => Some(false),
                Inst::Op(op, args) if is_it(args[0]) && self.defs.int(self.func, args[1]) == Some(0) => {
                    match op.comparison()?.given(stays) {
                        Cmp::Ne => Some(false),
                        Cmp::Gt => Some(true),
                        Cmp::Eq | Cmp::Lt | Cmp::Le | Cmp::Ge => None,
                    }
                }
                _ => None,
            }
        })
    }

    /// Whether `next` has fewer bits than `param`, which is not negative if `positive`.
    fn loses_a_bit(&self, param: Value, next: Value, positive: bool) -> bool {
        let Some(Inst::Op(op, args)) = self.defs.inst(self.func, next) else { return false };
        match op.algebra {
            Algebra::And => {
                let less = |v: Value| self.defs.offset(self.func, v) == (param, -1);
                (args[0] == param && less(args[1])) || (args[1] == param && less(args[0]))
            }
            Algebra::ShiftRight => {
                let some = self.defs.int(self.func, args[1]).is_some_and(|n| n > 0);
                args[0] == param && some && (positive || !self.func.ty(param).is_signed())
            }
            _ => false,
        }
    }
}

/// Whether an instruction takes a few cycles.
fn is_cheap_inst(inst: &Inst) -> bool {
    match inst {
        Inst::Op(op, _) => !matches!(op.host, Lower::Math(..) | Lower::Symbol(..)),
        Inst::Call(..)
        | Inst::Runtime(..)
        | Inst::Foreign(..)
        | Inst::ParFor(..)
        | Inst::Map(..)
        | Inst::MapInto(..)
        | Inst::New(_) => false,
        _ => true,
    }
}
