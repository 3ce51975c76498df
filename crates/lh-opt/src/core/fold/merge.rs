//! Merges a block into its only predecessor if that ends in a jump.

use crate::edit::{Replacements, block_can_raise};
use lh_ir::cfg::Cfg;
use lh_ir::func::{BlockData, Term};
use lh_ir::{Block, Function};

/// Merges all such pairs; the merged blocks become unreachable.
pub(super) fn merge_blocks(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    let mut with = Replacements::new(func);
    let mut merged = vec![false; func.blocks.len()];
    let mut changed = false;
    // Unreachable blocks may jump to merged ones.
    for b in (0..func.blocks.len()).map(Block::new).filter(|b| !cfg.is_reachable(*b)) {
        func.blocks[b.index()] = unreachable_block();
    }
    for &b in cfg.rpo() {
        let mut raises = block_can_raise(&func.blocks[b.index()]);
        while !merged[b.index()] {
            let Some(Term::Jump(t)) = &func.blocks[b.index()].term else { break };
            let t = t.clone();
            if t.block == b || cfg.preds(t.block).len() != 1 || !handlers_agree(func, b, raises, t.block) {
                break;
            }
            for (p, a) in func.blocks[t.block.index()].params.clone().into_iter().zip(&t.args) {
                with.set(p, *a);
            }
            merged[t.block.index()] = true;
            let tail = std::mem::replace(&mut func.blocks[t.block.index()], unreachable_block());
            let data = &mut func.blocks[b.index()];
            if block_can_raise(&tail) {
                data.unwind = tail.unwind;
                raises = true;
            }
            data.insts.extend(tail.insts);
            (data.term, data.term_span) = (tail.term, tail.term_span);
            changed = true;
        }
    }
    if changed {
        with.apply(func);
    }
    changed
}

fn unreachable_block() -> BlockData {
    BlockData { term: Some(Term::Unreachable), ..BlockData::default() }
}

/// Whether one handler can serve both blocks.
fn handlers_agree(func: &Function, first: Block, first_raises: bool, second: Block) -> bool {
    let (a, b) = (&func.blocks[first.index()], &func.blocks[second.index()]);
    if !block_can_raise(b) {
        return true;
    }
    if first_raises {
        return a.unwind == b.unwind;
    }
    // All values that the handler uses, not only its arguments, must be defined before the merged block.
    b.unwind.is_none() || a.unwind == b.unwind || !a.insts.iter().any(|d| d.result.is_some())
}
