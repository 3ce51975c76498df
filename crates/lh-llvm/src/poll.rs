//! Where compiled code looks for Ctrl-C.
//!
//! A look at the flag in a loop keeps LLVM from vectorising it. Back edges of loops that would not be vectorised anyway get
//! one: loops that contain another loop or a call, and loops that are not counted.

use lh_ir::Block;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{Function, Inst, Term};

/// The blocks of a function that poll before their terminator.
pub(crate) struct Polls(Vec<bool>);

impl Polls {
    /// Decides for a function.
    pub(crate) fn of(func: &Function, cfg: &Cfg) -> Polls {
        let mut at = vec![false; func.blocks.len()];
        // Without a back edge there is no loop: later blocks of the order only lead on.
        let leads_back = |b: &Block| cfg.preds(*b).iter().any(|e| cfg.position(e.from) >= cfg.position(*b));
        if cfg.rpo().iter().any(leads_back) {
            let loops = Loops::new(func, cfg, &DomTree::new(cfg));
            for l in loops.loops.iter().filter(|l| wants_poll(func, l)) {
                l.latches.iter().for_each(|b| at[b.index()] = true);
            }
        }
        Polls(at)
    }

    /// Whether a block polls.
    pub(crate) fn at(&self, b: Block) -> bool {
        self.0[b.index()]
    }
}

fn wants_poll(func: &Function, l: &Loop) -> bool {
    let calls = |b: &Block| {
        let insts = &func.blocks[b.index()].insts;
        insts.iter().any(|i| matches!(i.inst, Inst::Call(..) | Inst::Runtime(..)))
    };
    !l.is_innermost || l.blocks.iter().any(calls) || !is_counted(func, l)
}

/// Whether the header, or the only latch, leaves the loop by a comparison of a parameter of the header: `for` loops over
/// ranges and arrays do.
fn is_counted(func: &Function, l: &Loop) -> bool {
    let header = &func.blocks[l.header.index()];
    let steps = |v| header.params.contains(&v);
    let by_comparison = |b: Block| {
        let data = &func.blocks[b.index()];
        let Some(Term::Branch { cond, then, els }) = &data.term else { return false };
        let leaves = !l.blocks.contains(&then.block) || !l.blocks.contains(&els.block);
        let compared = l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts).find(|i| i.result == Some(*cond));
        let on_counter = compared.is_some_and(|i| match &i.inst {
            Inst::Op(op, args) => matches!(op.name, "lt" | "le" | "gt" | "ge" | "ne" | "eq") && args.iter().any(|a| steps(*a)),
            _ => false,
        });
        leaves && on_counter
    };
    by_comparison(l.header)
}
