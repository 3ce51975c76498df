//! Votes of the gang: whether all lanes take one edge at the start of a piece, and whether lanes re-enter a piece.

use super::build::{GangBuilder, Mode};
use super::piece::Lane;
use crate::analysis::classify::is_speculative;
use crate::edit::row;
use lh_ir::func::{Inst, Term};
use lh_ir::switches::is_off;
use lh_ir::{Block, Ty, Value};
use std::collections::{HashMap, HashSet};

impl GangBuilder<'_> {
    /// The edge on which lanes stay in a piece whose first block only computes and has the only divergent exit, such as
    /// a loop's header: lanes that all take this edge stay converged.
    pub(super) fn stay_edge(&mut self, mode: Mode, blocks: &[Block]) -> Option<Block> {
        let data = &self.old.blocks[blocks[0].index()];
        let Some(Term::Branch { cond, then, els }) =
            data.term.as_ref().filter(|_| !mode.is_diverged() && !is_off("gangs.votes"))
        else {
            return None;
        };
        let inside = |b: &Block| blocks[1..].contains(b);
        let inner = match (inside(&then.block), inside(&els.block)) {
            (true, false) => then.block,
            (false, true) => els.block,
            _ => return None,
        };
        let rest = blocks[1..].iter().any(|b| !self.old.blocks[b.index()].insts.is_empty());
        let idle = rest && self.plan.varies[cond.index()] && data.insts.iter().all(|d| is_speculative(&d.inst));
        self.assumed = Some((blocks[0], inner));
        let then_alike = self.goals(blocks).len() == 1;
        self.assumed = None;
        (idle && then_alike && self.goals(blocks).len() > 1).then_some(inner)
    }

    /// Evaluates the first branch for all lanes before the rest of the piece. A version for lanes that all stay has no
    /// divergent exit.
    pub(super) fn vote_to_stay(
        &mut self,
        mode: Mode,
        blocks: &[Block],
        inner: Block,
        wanted: &[Value],
        once: &HashMap<Value, Value>,
    ) -> Option<()> {
        let (old, head) = (self.old, blocks[0]);
        let goes_on = matches!(&old.blocks[head.index()].term, Some(Term::Branch { then, .. }) if then.block == inner);
        let none = self.number(0);
        self.effect(Inst::SlotSet(self.others, none));
        self.enter_mode(mode);
        let (width, mut result) = (self.width(mode), Some(()));
        self.lanes(width, |b, lane| {
            result = b.stay_condition(mode, head, wanted, once, lane).map(|c| {
                let (no, yes) = (b.number(0), b.number(1));
                let mut other = b.cursor(|x| if goes_on { x.select(c, no, yes) } else { x.select(c, yes, no) });
                if mode == Mode::Partial {
                    let lanes = b.start.lanes;
                    other = b.cursor(|x| {
                        let is = x.lt(lane, lanes);
                        x.select(is, other, no)
                    });
                }
                b.record_leaver(other);
            });
        });
        result?;
        let others = self.inst(Inst::SlotGet(self.others), Ty::i32());
        let (all, some) = self.branch_if(others, 0);
        self.at = all;
        self.assumed = Some((head, inner));
        self.build_lanes(mode, head, blocks, wanted, once.clone())?;
        (self.assumed, self.at) = (None, some);
        Some(())
    }

    /// The condition of the first block's branch for a lane.
    fn stay_condition(
        &mut self,
        mode: Mode,
        head: Block,
        wanted: &[Value],
        once: &HashMap<Value, Value>,
        lane: Value,
    ) -> Option<Value> {
        let Some(Term::Branch { cond, .. }) = &self.old.blocks[head.index()].term else { return None };
        let mut l = Lane::bare(lane, self.coordinates(mode, lane));
        for v in self.plan.needs(self.old, head).into_iter().filter(|v| self.plan.varies[v.index()]) {
            let x = self.load(v, lane);
            l.now.insert(v, x);
        }
        self.copy_again(wanted, once, &mut l)?;
        self.copy_insts(head, once, &mut l)?;
        self.current(once, &l, *cond)
    }

    /// Records whether a lane with next piece `n` re-enters the current piece.
    pub(super) fn record_reentry(&mut self, mode: Mode, head: Block, n: Value) {
        let own = self.number(self.plan.number(head));
        if mode.is_diverged() {
            let before = self.inst(Inst::SlotGet(self.again), Ty::bool());
            let again = self.cursor(|c| {
                let is = c.eq(n, own);
                c.or(before, is)
            });
            return self.effect(Inst::SlotSet(self.again, again));
        }
        // LLVM vectorises the bitwise `or` of integers across control flow, unlike that of truth values, and turns it
        // into a test of a mask.
        let other = self.cursor(|c| c.op(row("ne"), &[n, own], Ty::bool()));
        let other = self.cast(other, Ty::i32());
        self.record_leaver(other);
    }

    /// Makes the result of the vote non-zero if a lane leaves.
    fn record_leaver(&mut self, other: Value) {
        let before = self.inst(Inst::SlotGet(self.others), Ty::i32());
        let others = self.cursor(|c| c.op(row("or"), &[before, other], Ty::i32()));
        self.effect(Inst::SlotSet(self.others, others));
    }

    /// Whether lanes may re-enter a piece immediately, before the dispatch runs any other piece.
    pub(super) fn may_reenter(&self, mode: Mode, head: Block, goals: &HashSet<Option<Block>>) -> bool {
        let first = self.plan.number(head);
        let is_first = || goals.iter().flatten().all(|g| self.plan.number(*g) >= first);
        goals.contains(&Some(head)) && (!mode.is_diverged() || is_first())
    }
}
