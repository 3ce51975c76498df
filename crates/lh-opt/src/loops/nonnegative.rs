//! Eliminates the wrap-around of indices that are never negative:
//!
//! ```text
//! v2 = add v0, v1: int                 ; block's start and thread's index
//! v3 = elem_ptr wrap v4[v2]: ptr   ->  v3 = elem_ptr v4[v2]: ptr
//! ```

use crate::analysis::Analyses;
use crate::analysis::int_range::Limits;
use lh_ir::Function;
use lh_ir::func::Inst;

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    let (cfg, dom) = (analyses.cfg(func), analyses.dom(func));
    let limits = Limits::new(func, cfg, dom);
    let mut found = Vec::new();
    for b in cfg.rpo() {
        for (i, d) in func.blocks[b.index()].insts.iter().enumerate() {
            if let Inst::ElemPtr { index, wrap: true, .. } = &d.inst
                && index.iter().all(|v| limits.is_nonnegative(*v, *b))
            {
                found.push((*b, i));
            }
        }
    }
    for (b, i) in &found {
        if let Inst::ElemPtr { wrap, .. } = &mut func.blocks[b.index()].insts[*i].inst {
            *wrap = false;
        }
    }
    !found.is_empty()
}
