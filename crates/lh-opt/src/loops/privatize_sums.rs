//! Privatises sums: inner loops add to a sum of their own from zero, if the order of additions may change.
//!
//! ```text
//! for i in range(m):                      for i in range(m):
//!     for j in range(n):                      t = 0.0
//!         s += a[i, j]            ->          for j in range(n):
//!                                                 t += a[i, j]
//!                                             s += t
//! ```
//!
//! A sum that is carried from one inner loop to the next makes each wait for the last addition of the one before, which
//! takes long for sums in vector lanes. Private sums of consecutive inner loops overlap in the pipeline.
//!
//! Requires counted inner loops whose only exits are the header's and raising ones; leaves such loops.

use crate::analysis::Analyses;
use crate::analysis::counted::{Counted, Defs, counted, in_loop, target_of};
use crate::edit::{Cursor, row, to};
use hashbrown::HashSet;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, Loop, targets};
use lh_ir::func::{Inst, Term, fastmath};
use lh_ir::{Block, Const, Function, Value};

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    const NEEDED: u8 = fastmath::REASSOC | fastmath::NSZ;
    if func.options.fastmath & NEEDED != NEEDED {
        return false;
    }
    let (cfg, loops, defs) = (analyses.cfg(func), analyses.loops(func), analyses.defs(func));
    let mut found = Vec::new();
    for l in loops.loops.iter().filter(|l| l.is_innermost && l.parent.is_some()) {
        if let Some(c) = counted(func, cfg, defs, l).filter(|_| ends_in_header(func, cfg, l)) {
            let sums = (0..func.blocks[l.header.index()].params.len()).filter(|i| is_sum(func, cfg, defs, l, *i));
            found.push((l, c, sums.collect::<Vec<_>>()));
        }
    }
    found.retain(|(.., sums)| !sums.is_empty());
    for (l, c, sums) in &found {
        sums.iter().for_each(|i| start_at_zero(func, cfg, l, c, *i));
    }
    !found.is_empty()
}

/// Whether all exits are the header's or raise without a handler, and the loop has a single entry edge.
fn ends_in_header(func: &Function, cfg: &Cfg, l: &Loop) -> bool {
    let raises = |b: Block| {
        let data = &func.blocks[b.index()];
        data.unwind.is_none() && matches!(data.term, Some(Term::Raise { .. }))
    };
    let stays = |b: &Block| targets(func, *b).all(|(_, t)| in_loop(cfg, l, t.block) || raises(t.block));
    let entries = cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from));
    l.blocks.iter().all(|b| func.blocks[b.index()].unwind.is_none() && (*b == l.header || stays(b)))
        && entries.count() == 1
}

/// Whether a header parameter only has values added or subtracted on all paths to the latches.
fn is_sum(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, place: usize) -> bool {
    let sum = func.blocks[l.header.index()].params[place];
    let entry = cfg.preds(l.header).iter().find(|e| !in_loop(cfg, l, e.from)).expect("a loop is entered");
    let start = target_of(func, *entry).args[place];
    let is_zero = matches!(defs.inst(func, start), Some(Inst::Const(_) | Inst::Zero));
    if !func.ty(sum).is_float() || is_zero {
        return false;
    }
    let candidates = sums_containing(func, cfg, l, sum);
    // The partial sums on the paths from the parameter to the latches.
    let mut partial = HashSet::from([sum]);
    for e in cfg.preds(l.header).iter().filter(|e| in_loop(cfg, l, e.from)) {
        let mut v = target_of(func, *e).args[place];
        while v != sum {
            partial.insert(v);
            let Some(Inst::Op(op, args)) = defs.inst(func, v) else { return false };
            v = match op.algebra {
                Algebra::Add if candidates.contains(&args[0]) => args[0],
                Algebra::Add => args[1],
                Algebra::Sub => args[0],
                _ => return false,
            };
        }
    }
    used_once(func, cfg, l, place, &partial)
}

/// All values of the loop that are `sum` plus or minus other values.
fn sums_containing(func: &Function, cfg: &Cfg, l: &Loop, sum: Value) -> HashSet<Value> {
    let mut all = HashSet::from([sum]);
    // In reverse postorder, definitions come before uses.
    for b in cfg.rpo().iter().filter(|b| in_loop(cfg, l, **b)) {
        for d in &func.blocks[b.index()].insts {
            let (Some(r), Inst::Op(op, args)) = (d.result, &d.inst) else { continue };
            let terms = match op.algebra {
                Algebra::Add => &args[..],
                Algebra::Sub => &args[..1],
                _ => &[],
            };
            if terms.iter().any(|a| all.contains(a)) {
                all.insert(r);
            }
        }
    }
    all
}

/// Whether each partial sum is used only for the next one, on the back edge, or behind the loop.
fn used_once(func: &Function, cfg: &Cfg, l: &Loop, place: usize, partial: &HashSet<Value>) -> bool {
    let mut once = true;
    for b in &l.blocks {
        for d in &func.blocks[b.index()].insts {
            let mut uses = 0;
            d.inst.for_each_operand(|v| uses += usize::from(partial.contains(&v)));
            once &= uses == usize::from(uses > 0 && d.result.is_some_and(|r| partial.contains(&r)));
        }
        for (_, t) in targets(func, *b) {
            let hands_on = t
                .args
                .iter()
                .enumerate()
                .any(|(i, v)| partial.contains(v) && (t.block, i) != (l.header, place) && in_loop(cfg, l, t.block));
            let raises = *b != l.header && !in_loop(cfg, l, t.block);
            once &= !hands_on
                && !(raises && (t.args.iter().any(|v| partial.contains(v)) || uses_any(func, t.block, partial)));
        }
    }
    once
}

/// Whether a block that raises uses one of the values.
fn uses_any(func: &Function, b: Block, values: &HashSet<Value>) -> bool {
    let data = &func.blocks[b.index()];
    let mut found = false;
    let mut use_of = |v: Value| found |= values.contains(&v);
    data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut use_of));
    if let Some(Term::Raise { args, .. }) = &data.term {
        args.iter().for_each(|v| use_of(*v));
    }
    found
}

/// Starts the sum at zero, and adds its old start value behind the loop.
fn start_at_zero(func: &mut Function, cfg: &Cfg, l: &Loop, counted: &Counted, place: usize) {
    let sum = func.blocks[l.header.index()].params[place];
    let ty = func.ty(sum);
    let entry = *cfg.preds(l.header).iter().find(|e| !in_loop(cfg, l, e.from)).expect("a loop is entered");
    let start = target_of(func, entry).args[place];
    let (span, cold) = (func.blocks[l.header.index()].term_span, func.blocks[l.header.index()].cold);
    let mut c = Cursor { func, block: entry.from, span, unwind: None, cold };
    let zero = c.inst(Inst::Const(Const::Float(0.0, ty)), ty);
    let way_in = c.func.blocks[entry.from.index()].term.as_mut().expect("it leads into the loop");
    way_in.targets_mut().into_iter().filter(|t| t.block == l.header).for_each(|t| t.args[place] = zero);
    let (behind, _) = c.new_block(&[]);
    let Some(Term::Branch { then, els, .. }) = &mut c.func.blocks[l.header.index()].term else {
        lh_ir::bug!("a counted loop begins with a branch");
    };
    let exit = std::mem::replace(if counted.body_first { els } else { then }, to(behind, &[]));
    c.block = behind;
    let total = c.op(row("add"), &[start, sum], ty);
    c.end(Term::Jump(exit), behind);
    // All uses of the sum outside of the loop are behind it.
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let mut new = |v: &mut Value| {
        if *v == sum {
            *v = total;
        }
    };
    for (i, data) in c.func.blocks.iter_mut().enumerate().filter(|(i, _)| !inside.contains(&Block::new(*i))) {
        let first = if i == behind.index() { data.insts.len() } else { 0 };
        data.insts[first..].iter_mut().for_each(|d| d.inst.for_each_operand_mut(&mut new));
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut new);
        }
        if let Some(t) = &mut data.unwind {
            t.args.iter_mut().for_each(&mut new);
        }
    }
}
