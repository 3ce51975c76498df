//! Lanes that are elsewhere go along through a piece that does nothing but compute, where nobody looks for what they find:
//!
//! ```text
//!                                    for lane in 0..32:
//! while x * x < 4:                       there = next[lane] == 1
//!     x = x * x + c        ->            x[lane] = x[lane] * x[lane] + c[lane]
//!     n += 1                             goes_on = there and x[lane] * x[lane] < 4
//!                                        if there: n[lane] += 1, next[lane] = 1 if goes_on else 2
//! ```
//!
//! So `x` depends on `x` only; were it chosen by `there`, it would wait for the comparison of the round before, and vectors do
//! nothing faster if some of their lanes are not there.

use super::build::Build;
use super::piece::{Lane, Piece};
use crate::analysis::classify::is_cheap;
use crate::analysis::classify::is_speculative;
use crate::edit::to;
use lh_ir::cfg::targets;
use lh_ir::func::{Inst, Term};
use lh_ir::switches::is_off;
use lh_ir::{Block, Const, Ty, Value};

impl Build<'_> {
    /// What is kept at the end of a piece that no other piece looks for, if lanes that are elsewhere can go along.
    pub(super) fn unseen(&self, p: Piece<'_>) -> Vec<Value> {
        if is_off("gangs.if_convert") || !p.way.is_apart() || !self.only_computes(p.blocks) {
            return Vec::new();
        }
        let others = self.plan.order.iter().filter(|h| **h != p.blocks[0]);
        let seen: Vec<Value> = others.flat_map(|h| self.plan.needs(self.old, *h)).collect();
        p.keys.iter().copied().filter(|k| !seen.contains(k)).collect()
    }
    /// Whether blocks, in order, compute what is done by vectors as fast for all lanes as for one, and nothing twice.
    fn only_computes(&self, blocks: &[Block]) -> bool {
        blocks.iter().enumerate().all(|(i, b)| {
            let data = &self.old.blocks[b.index()];
            let goes_back = targets(self.old, *b).any(|(_, t)| blocks[1..=i].contains(&t.block));
            let jumps = matches!(data.term, Some(Term::Jump(_) | Term::Branch { .. } | Term::Return(_)));
            jumps && !goes_back && data.insts.iter().all(|d| is_speculative(&d.inst) && is_cheap(&d.inst, true))
        })
    }
    /// A condition, which is false for a lane that only goes along: there it may be anything.
    pub(super) fn if_there(&mut self, l: &Lane, cond: Value) -> Value {
        let Some(there) = l.there else { return cond };
        let no = self.inst(Inst::Const(Const::Bool(false)), Ty::bool());
        self.cursor(|c| c.select(there, cond, no))
    }
    /// What is kept at the end of a piece, given that for a lane that is there and that for one that is not.
    pub(super) fn merged(&mut self, l: &Lane, there: &[Value], elsewhere: &[Value]) -> Vec<Value> {
        let Some(cond) = l.there else { return there.to_vec() };
        let types: Vec<Ty> = there.iter().map(|v| self.out.ty(*v)).collect();
        let (merge, params) = self.cursor(|c| c.new_block(&types));
        self.end(Term::Branch { cond, then: to(merge, there), els: to(merge, elsewhere) });
        self.at = merge;
        params
    }
}
