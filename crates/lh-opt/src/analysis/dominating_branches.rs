//! Branches whose outcome is known at a block.

use lh_ir::cfg::{Cfg, DomTree};
use lh_ir::func::Term;
use lh_ir::{Block, Function, Value};

/// A branch, one target of which dominates a block and is entered from it only.
pub(crate) struct Known {
    /// The block that branches.
    pub from: Block,
    pub cond: Value,
    /// The value of the condition on the way to the dominated block.
    pub holds: bool,
}

/// The branches with a known outcome at a block, innermost first, up to the branch that leads to `top`, exclusively.
pub(crate) fn dominating_branches(
    func: &Function,
    cfg: &Cfg,
    dom: &DomTree,
    block: Block,
    top: Block,
) -> impl Iterator<Item = Known> {
    let above = |b: &Block| Some(cfg.rpo()[dom.idom_position(cfg.position(*b)?)?]);
    std::iter::successors(Some(block), above).take_while(move |b| *b != top).filter_map(|b| {
        let [edge] = cfg.preds(b) else { return None };
        // An exception leaves a block before its branch.
        edge.target?;
        match &func.blocks[edge.from.index()].term {
            Some(Term::Branch { cond, then, els }) if then.block != els.block => {
                Some(Known { from: edge.from, cond: *cond, holds: then.block == b })
            }
            _ => None,
        }
    })
}
