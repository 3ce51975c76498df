//! If-conversion of divergent loops: lanes that are elsewhere run through a piece that only computes, too, if no other
//! piece reads their results.
//!
//! ```text
//!                                    for lane in 0..32:
//! while x * x < 4:                       there = next[lane] == 1
//!     x = x * x + c        ->            x[lane] = x[lane] * x[lane] + c[lane]
//!     n += 1                             goes_on = there and x[lane] * x[lane] < 4
//!                                        if there: n[lane] += 1, next[lane] = 1 if goes_on else 2
//! ```
//!
//! `x` depends on `x` only. A select between the old and the new value would make it wait for the comparison of the
//! iteration before, and a vector is not faster with some lanes masked off.

use super::build::GangBuilder;
use super::piece::{Lane, Piece};
use crate::analysis::classify::is_cheap;
use crate::analysis::classify::is_speculative;
use crate::edit::to;
use lh_ir::cfg::targets;
use lh_ir::func::{Inst, Term};
use lh_ir::switches::is_off;
use lh_ir::{Block, Const, Ty, Value};

impl GangBuilder<'_> {
    /// Values stored at the end of a piece that no other piece reads, if lanes that are elsewhere can run through the
    /// piece.
    pub(super) fn private_keys(&self, p: Piece<'_>) -> Vec<Value> {
        if is_off("gangs.if_convert") || !p.mode.is_diverged() || !self.can_mask(p.blocks) {
            return Vec::new();
        }
        let others = self.plan.order.iter().filter(|h| **h != p.blocks[0]);
        let seen: Vec<Value> = others.flat_map(|h| self.plan.needs(self.old, *h)).collect();
        p.keys.iter().copied().filter(|k| !seen.contains(k)).collect()
    }
    /// Whether blocks only compute, without inner loops, and as vectors cost no more than for one lane.
    fn can_mask(&self, blocks: &[Block]) -> bool {
        blocks.iter().enumerate().all(|(i, b)| {
            let data = &self.old.blocks[b.index()];
            let goes_back = targets(self.old, *b).any(|(_, t)| blocks[1..=i].contains(&t.block));
            let jumps = matches!(data.term, Some(Term::Jump(_) | Term::Branch { .. } | Term::Return(_)));
            jumps && !goes_back && data.insts.iter().all(|d| is_speculative(&d.inst) && is_cheap(&d.inst, true))
        })
    }
    /// The condition of a branch; false for a lane that is elsewhere, whose values are garbage.
    pub(super) fn masked(&mut self, l: &Lane, cond: Value) -> Value {
        let Some(there) = l.there else { return cond };
        let no = self.inst(Inst::Const(Const::Bool(false)), Ty::bool());
        self.cursor(|c| c.select(there, cond, no))
    }
    /// The values to store at the end of a piece: `there` for a lane that is in the piece, else `elsewhere`.
    pub(super) fn blend(&mut self, l: &Lane, there: &[Value], elsewhere: &[Value]) -> Vec<Value> {
        let Some(cond) = l.there else { return there.to_vec() };
        let types: Vec<Ty> = there.iter().map(|v| self.out.ty(*v)).collect();
        let (merge, params) = self.cursor(|c| c.new_block(&types));
        self.end(Term::Branch { cond, then: to(merge, there), els: to(merge, elsewhere) });
        self.at = merge;
        params
    }
}
