//! Keeps the generator of a loop until the loop is left, so that it is closed then and not before: a path that leads
//! out of the loop does not use it any more.
//!
//! ```text
//! block1():                                 block1():
//!     v2 = call spec1(v0): step                 v2 = call spec1(v0): step
//!     v3 = field v2, 0: bool                    v3 = field v2, 0: bool
//!     branch v3, block2(), block4()      ->     branch v3, block2(), block4()
//! block2():                                 block2():
//!     ...                                       ...
//!     jump block4()                             runtime lh_object_kept(v0)
//!                                               jump block4()
//! ```

use crate::analysis::counted::Defs;
use lh_ir::cfg::{Cfg, DomTree};
use lh_ir::func::{Inst, InstData, Term};
use lh_ir::{Block, Function, TyKind, Value};
use lh_ops::runtime as rt;

pub(crate) fn run(func: &mut Function) -> bool {
    if !func.values.iter().any(|t| matches!(t.kind(), TyKind::Generator(_))) {
        return false;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let kept: Vec<(Block, Value)> = bodies(func)
        .into_iter()
        .filter(|(body, _)| cfg.is_reachable(*body) && cfg.preds(*body).len() == 1)
        .flat_map(|(body, g)| ways_out(func, &cfg, &dom, body).into_iter().map(move |b| (b, g)))
        .collect();
    for (b, g) in &kept {
        let data = &mut func.blocks[b.index()];
        let inst = Inst::Runtime(&rt::lh_object_kept, vec![*g]);
        data.insts.push(InstData { result: None, inst, span: data.term_span });
    }
    !kept.is_empty()
}

/// Blocks where a generator has given an item, and the generator.
fn bodies(func: &Function) -> Vec<(Block, Value)> {
    let defs = Defs::new(func);
    let body = |term: &Term| {
        let Term::Branch { cond, then, .. } = term else { return None };
        let Some(Inst::Field(step, 0)) = defs.inst(func, *cond) else { return None };
        let Some(Inst::Call(_, args)) = defs.inst(func, *step) else { return None };
        let g = args.first().filter(|g| matches!(func.ty(**g).kind(), TyKind::Generator(_)))?;
        Some((then.block, *g))
    };
    func.blocks.iter().filter_map(|b| b.term.as_ref()).filter_map(body).collect()
}

/// Blocks of the body of a loop that end outside of the loop.
fn ways_out(func: &Function, cfg: &Cfg, dom: &DomTree, body: Block) -> Vec<Block> {
    let inside = |b: Block| cfg.is_reachable(b) && dom.dominates(body, b);
    let leaves = |b: &Block| match &func.blocks[b.index()].term {
        Some(Term::Return(_) | Term::Raise { .. } | Term::Propagate) => true,
        Some(term) => term.targets().iter().any(|t| !inside(t.block) && !dom.dominates(t.block, body)),
        None => false,
    };
    (0..func.blocks.len()).map(Block::new).filter(|b| inside(*b)).filter(leaves).collect()
}
