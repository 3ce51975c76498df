//! Gives each loop a single latch.
//!
//! ```text
//!                                               block4(): ... jump block6(v14, v7)
//! block4(): ... jump block1(v14, v7)     ->     block5(): jump block6(v3, v7)
//! block5(): jump block1(v3, v7)                 block6(v15: int, v16: int):
//!                                                   jump block1(v15, v16)
//! ```
//!
//! LLVM turns a loop with several latches, one of which passes a value unchanged, into two nested loops, before it
//! could make a select of the paths; it then vectorises neither.

use crate::analysis::Analyses;
use crate::analysis::counted::in_loop;
use crate::edit::to;
use lh_ir::func::Term;
use lh_ir::{Block, Function};

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    let (cfg, loops) = (analyses.cfg(func), analyses.loops(func));
    let mut changed = false;
    for l in &loops.loops {
        let mut back: Vec<Block> = cfg
            .preds(l.header)
            .iter()
            .filter(|e| e.target.is_some() && in_loop(cfg, l, e.from))
            .map(|e| e.from)
            .collect();
        if back.len() < 2 {
            continue;
        }
        back.dedup();
        let header = &func.blocks[l.header.index()];
        let (span, cold) = (header.term_span, header.cold);
        let tys: Vec<_> = header.params.iter().map(|p| func.ty(*p)).collect();
        let latch = func.new_block();
        let params: Vec<_> = tys.into_iter().map(|t| func.new_value(t)).collect();
        let data = &mut func.blocks[latch.index()];
        (data.term, data.term_span, data.cold) = (Some(Term::Jump(to(l.header, &params))), span, cold);
        data.params = params;
        for b in back {
            let targets = func.blocks[b.index()].term.as_mut().map(Term::targets_mut).into_iter().flatten();
            targets.filter(|t| t.block == l.header).for_each(|t| t.block = latch);
        }
        changed = true;
    }
    changed
}
