//! Threads exits of loops to their final targets, so that lanes that leave by different exits enter the same piece, and
//! merges exit conditions: a condition that only leaves the loop by the same exit as the one before is evaluated
//! together with that, as vectors do for all lanes anyway.
//!
//! ```text
//! block5(n):                                 block5(n):
//!     branch n < most, block6(), block7()        branch n < most and x < 4, block5(m), block10(n)
//! block6():                           ->
//!     branch x < 4, block5(m), block9()
//! block7(): jump block10(n)
//! block9(): jump block10(n)
//! ```

use crate::analysis::classify::is_cheap;
use crate::analysis::classify::is_speculative;
use crate::edit::{Cursor, row};
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{BlockData, Inst, Target, Term};
use lh_ir::{Block, Const, Function, Ty, Value};

/// Threads exits through empty blocks and merges exit conditions of all loops.
pub(super) fn run(func: &mut Function) {
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg));
    let on: Vec<Option<Target>> = (0..func.blocks.len()).map(|b| jump_target(func, Block::new(b))).collect();
    for l in &loops.loops {
        l.blocks.iter().for_each(|b| thread_exits(func, l, *b, &on));
        // Backwards, so that each condition is merged with all that follow it.
        for b in l.blocks.iter().rev() {
            merge_tests(func, &cfg, l, *b);
        }
    }
}

/// The target of an empty block.
fn jump_target(func: &Function, b: Block) -> Option<Target> {
    let data = &func.blocks[b.index()];
    match &data.term {
        Some(Term::Jump(t)) if data.insts.is_empty() && data.params.is_empty() && !data.cold => Some(t.clone()),
        _ => None,
    }
}

fn thread_exits(func: &mut Function, l: &Loop, b: Block, on: &[Option<Target>]) {
    let Some(Term::Branch { then, els, .. }) = &mut func.blocks[b.index()].term else { return };
    let mut goals = [then.block, els.block];
    for (i, edge) in [then, els].into_iter().enumerate() {
        let is_outside = |b: Block| !l.blocks.contains(&b);
        let goal = on[edge.block.index()].as_ref().filter(|g| is_outside(edge.block) && is_outside(g.block));
        if let Some(goal) = goal.filter(|g| g.block != goals[1 - i]) {
            goals[i] = goal.block;
            *edge = goal.clone();
        }
    }
}

/// An exit branch: its condition, whether lanes stay in the loop if it is true, the target in the loop, and the exit.
type ExitBranch<'a> = (Value, bool, &'a Target, &'a Target);

fn exit_branch<'a>(func: &'a Function, l: &Loop, b: Block) -> Option<ExitBranch<'a>> {
    let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { return None };
    match [then, els].map(|t| l.blocks.contains(&t.block)) {
        [true, false] => Some((*cond, true, then, els)),
        [false, true] => Some((*cond, false, els, then)),
        _ => None,
    }
}

/// Merges the exit branch of the next block into that of `b`, if the next block only computes and leaves by the same
/// exit. Its condition then also runs for lanes that leave; the select ignores it.
fn merge_tests(func: &mut Function, cfg: &Cfg, l: &Loop, b: Block) -> Option<()> {
    let (first, if_first, stay, leave) = exit_branch(func, l, b)?;
    let next = stay.block;
    let (second, if_second, on, also) = exit_branch(func, l, next)?;
    let data = &func.blocks[next.index()];
    let computes = data.insts.iter().all(|d| is_speculative(&d.inst) && is_cheap(&d.inst, true));
    let alone = cfg.preds(next).len() == 1 && data.params.is_empty() && !data.cold;
    (computes && alone && leave == also).then_some(())?;
    let (then, els) = (on.clone(), leave.clone());
    let gone = BlockData { term: Some(Term::Unreachable), ..BlockData::default() };
    let insts = std::mem::replace(&mut func.blocks[next.index()], gone).insts;
    let data = &mut func.blocks[b.index()];
    data.insts.extend(insts);
    let (span, unwind, cold) = (data.term_span, data.unwind.clone(), data.cold);
    let mut c = Cursor { func, block: b, span, unwind, cold };
    let [first, second] =
        [(first, if_first), (second, if_second)].map(|(v, is)| if is { v } else { c.op(row("not"), &[v], Ty::bool()) });
    let no = c.inst(Inst::Const(Const::Bool(false)), Ty::bool());
    let cond = c.select(first, second, no);
    func.blocks[b.index()].term = Some(Term::Branch { cond, then, els });
    Some(())
}
