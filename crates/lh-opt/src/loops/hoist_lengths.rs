//! Hoists the length of a container out of a loop that changes no length, which makes the loop a counted one.
//!
//! ```text
//!     jump block1(v1)                       v9 = items_len v0: int
//! block1(v2: int):                          jump block1(v1)
//!     v9 = items_len v0: int          ->  block1(v2: int):
//!     v3 = lt v2, v9: bool                  v3 = lt v2, v9: bool
//! ```

use crate::analysis::counted::in_loop;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, def_blocks};
use lh_ir::func::{Inst, InstData};
use lh_ir::{Block, Function};

pub(crate) fn run(func: &mut Function) -> bool {
    let reads = |d: &InstData| matches!(d.inst, Inst::ItemsLen(_));
    if !func.blocks.iter().any(|b| b.insts.iter().any(reads)) {
        return false;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let defined = def_blocks(func);
    let mut changed = false;
    // Inner loops come first: a length hoisted out of one may leave the loops around it, too.
    for l in &loops.loops {
        let keeps = |b: &Block| func.blocks[b.index()].insts.iter().all(|d| keeps_lengths(&d.inst));
        let Some(before) = preheader(&cfg, l).filter(|_| l.blocks.iter().all(keeps)) else { continue };
        let is_hoistable = |d: &mut InstData| matches!(d.inst, Inst::ItemsLen(v) if defined[v.index()].is_none_or(|b| !in_loop(&cfg, l, b)));
        for b in &l.blocks {
            let moved: Vec<InstData> = func.blocks[b.index()].insts.extract_if(.., is_hoistable).collect();
            changed |= !moved.is_empty();
            func.blocks[before.index()].insts.extend(moved);
        }
    }
    changed
}

/// The preheader of a loop: the only block outside with an edge to the header.
pub(crate) fn preheader(cfg: &Cfg, l: &Loop) -> Option<Block> {
    let mut ways = cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from));
    let way = ways.next().filter(|e| e.target.is_some())?;
    ways.next().is_none().then_some(way.from)
}

/// Whether an instruction certainly keeps the lengths of containers.
fn keeps_lengths(inst: &Inst) -> bool {
    inst.is_pure() || matches!(inst, Inst::Store(..) | Inst::SlotSet(..) | Inst::ElemPtr { .. })
}
