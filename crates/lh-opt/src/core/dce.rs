//! Dead code elimination: removes unreachable blocks, handlers of blocks that cannot raise (but for loop headers),
//! block parameters with one incoming value, unused parameters and unused pure instructions.
//!
//! ```text
//! block1(v3: int64, v4: int64):     ; always called with (v1, v1) or (v3, v9)
//!     v5 = mul v3, v3: int64        ; unused
//!     v9 = add v4, v3: int64
//!     branch v2, block1(v3, v9), block2()
//! ```
//! becomes
//! ```text
//! block1(v4: int64):
//!     v9 = add v4, v1: int64
//!     branch v2, block1(v9), block2()
//! ```
//!
//! Keeps the order of blocks.

use crate::edit::{block_can_raise, replace_uses};
use lh_ir::cfg::{Cfg, targets};
use lh_ir::func::{BlockData, Target, Term};
use lh_ir::single_valued::single_valued;
use lh_ir::{Block, Function, Ty, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    let mut changed = drop_handlers(func, true);
    changed |= drop_unreachable(func);
    changed |= drop_same_params(func);
    changed | drop_unused(func)
}

/// Gives the function an entry block that is no jump target.
pub(crate) fn split_entry(func: &mut Function) {
    let is_target = (0..func.blocks.len()).any(|b| targets(func, Block::new(b)).any(|(_, t)| t.block.0 == 0));
    if !is_target {
        return;
    }
    let moved = func.new_block();
    for i in 0..func.blocks.len() {
        for t in all_targets(&mut func.blocks[i]) {
            if t.block.0 == 0 {
                t.block = moved;
            }
        }
    }
    let tys: Vec<_> = func.params().iter().map(|p| func.ty(*p)).collect();
    let params: Vec<Value> = tys.into_iter().map(|t| func.new_value(t)).collect();
    let entry = BlockData {
        term: Some(Term::Jump(Target { block: moved, args: params.clone() })),
        params,
        ..BlockData::default()
    };
    func.blocks[moved.index()] = std::mem::replace(&mut func.blocks[0], entry);
}

fn all_targets(data: &mut BlockData) -> impl Iterator<Item = &mut Target> {
    data.term.as_mut().map(Term::targets_mut).into_iter().flatten().chain(&mut data.unwind)
}

/// Drops the handlers of all blocks that cannot raise, then unreachable blocks.
pub(crate) fn drop_idle_handlers(func: &mut Function) {
    drop_handlers(func, false);
    drop_unreachable(func);
}

/// `keep_headers` keeps the handlers of loop headers: the pass `poll_signals` has yet to add polls, which raise, there.
fn drop_handlers(func: &mut Function, keep_headers: bool) -> bool {
    if func.blocks.iter().all(|b| b.unwind.is_none()) {
        return false;
    }
    let cfg = Cfg::new(func);
    let mut changed = false;
    for i in 0..func.blocks.len() {
        let b = Block::new(i);
        let is_header = cfg.preds(b).iter().any(|e| cfg.position(e.from) >= cfg.position(b));
        let data = &mut func.blocks[i];
        if data.unwind.is_some() && !block_can_raise(data) && !(keep_headers && is_header) {
            data.unwind = None;
            changed = true;
        }
    }
    changed
}

/// Removes unreachable blocks and renumbers the others.
fn drop_unreachable(func: &mut Function) -> bool {
    let cfg = Cfg::new(func);
    if cfg.rpo().len() == func.blocks.len() {
        return false;
    }
    let mut number = Vec::with_capacity(func.blocks.len());
    let mut next = 0;
    for i in 0..func.blocks.len() {
        number.push(Block(next));
        next += u32::from(cfg.is_reachable(Block::new(i)));
    }
    let mut i = 0;
    func.blocks.retain(|_| {
        i += 1;
        cfg.is_reachable(Block::new(i - 1))
    });
    for data in &mut func.blocks {
        all_targets(data).for_each(|t| t.block = number[t.block.index()]);
    }
    true
}

/// Removes parameters that have one value on every path.
fn drop_same_params(func: &mut Function) -> bool {
    if func.blocks.iter().skip(1).all(|b| b.params.is_empty()) {
        return false;
    }
    let cfg = Cfg::new(func);
    let single = single_valued(func, &cfg, &|b| b.0 != 0, &|v| v);
    if single.is_empty() {
        return false;
    }
    let dropped: Vec<Vec<bool>> =
        func.blocks.iter().map(|b| b.params.iter().map(|p| single.contains_key(p)).collect()).collect();
    replace_uses(func, &|v| single.get(&v).copied().unwrap_or(v));
    remove_params(func, &dropped);
    true
}

fn remove_params(func: &mut Function, dropped: &[Vec<bool>]) {
    for i in 0..func.blocks.len() {
        let mut at = dropped[i].iter();
        func.blocks[i].params.retain(|_| !at.next().expect("one flag for each"));
        for t in all_targets(&mut func.blocks[i]) {
            let mut at = dropped[t.block.index()].iter();
            t.args.retain(|_| !at.next().expect("one flag for each"));
        }
    }
}

/// Removes unused parameters and unused pure instructions.
fn drop_unused(func: &mut Function) -> bool {
    let needed = needed_values(func);
    let mut dropped: Vec<Vec<bool>> =
        func.blocks.iter().map(|b| b.params.iter().map(|p| !needed[p.index()]).collect()).collect();
    dropped[0].fill(false);
    let mut changed = dropped.iter().flatten().any(|d| *d);
    if changed {
        remove_params(func, &dropped);
    }
    for data in &mut func.blocks {
        let before = data.insts.len();
        data.insts.retain(|d| !d.inst.is_pure() || d.result.is_some_and(|r| needed[r.index()]));
        changed |= data.insts.len() != before;
    }
    changed
}

/// The definition of a value.
#[derive(Clone, Copy)]
enum Source {
    Nothing,
    Param(u32, u32),
    Inst(u32, u32),
}

/// The values that effects and terminators use, directly or through others.
fn needed_values(func: &Function) -> Vec<bool> {
    let cfg = Cfg::new(func);
    let mut source = vec![Source::Nothing; func.values.len()];
    let mut needed = vec![false; func.values.len()];
    let mut work = Vec::new();
    let mut need = |v: Value, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut needed[v.index()], true) {
            work.push(v);
        }
    };
    for (b, data) in func.blocks.iter().enumerate() {
        for (i, p) in data.params.iter().enumerate() {
            source[p.index()] = Source::Param(b as u32, i as u32);
        }
        for (i, d) in data.insts.iter().enumerate() {
            if let Some(r) = d.result {
                source[r.index()] = Source::Inst(b as u32, i as u32);
            }
            if !d.inst.is_pure() {
                d.inst.for_each_operand(|v| need(v, &mut work));
            }
        }
        match &data.term {
            Some(Term::Branch { cond: v, .. } | Term::Return(v)) => need(*v, &mut work),
            Some(Term::Raise { args, .. }) => args.iter().for_each(|v| need(*v, &mut work)),
            Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
        }
    }
    while let Some(v) = work.pop() {
        match source[v.index()] {
            Source::Nothing | Source::Param(0, _) => {}
            Source::Param(b, i) => {
                if func.ty(v) == Ty::ptr() {
                    // A parameter of the same block may keep the memory at this address alive.
                    let owners = func.blocks[b as usize].params.iter().filter(|p| func.ty(**p).is_counted());
                    owners.for_each(|p| need(*p, &mut work));
                }
                for e in cfg.preds(Block(b)) {
                    let (_, t) = targets(func, e.from).find(|t| t.0 == e.target).expect("an edge has a target");
                    need(t.args[i as usize], &mut work);
                }
            }
            Source::Inst(b, i) => {
                func.blocks[b as usize].insts[i as usize].inst.for_each_operand(|v| need(v, &mut work));
            }
        }
    }
    needed
}
