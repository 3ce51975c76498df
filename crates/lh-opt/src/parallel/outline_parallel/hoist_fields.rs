//! Reads arrays out of fields, and out of tuples, before parallel loops that do not change the fields, so that they are
//! known as arrays of their own.
//!
//! ```text
//! for i in prange(n):             x = a.x
//!     a.x[i] = b[i]        =>     for i in prange(n):
//!                                     x[i] = b[i]
//! ```

use crate::analysis::counted::Defs;
use crate::analysis::effects::{Callees, Effects, Kind, Root, has_memory};
use crate::edit::Replacements;
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{Inst, InstData, Parallel};
use lh_ir::{Block, Function, Value};

pub(super) fn run(func: &mut Function, callees: Callees<'_>) {
    hoist_parts(func);
    let mut names = Replacements::new(func);
    for (before, reads) in found(func, callees) {
        let mut known: Vec<(Inst, Value)> = Vec::new();
        for (address, value) in reads {
            // Equal reads are one.
            let mut moved = |result: Value, known: &mut Vec<(Inst, Value)>, names: &mut Replacements| {
                let Some(mut d) = taken(func, result) else { return };
                d.inst.for_each_operand_mut(&mut |v| *v = names.get(*v));
                match known.iter().find(|(inst, _)| *inst == d.inst) {
                    Some((_, same)) => names.set(result, *same),
                    None => {
                        known.push((d.inst.clone(), result));
                        func.blocks[before.index()].insts.push(d);
                    }
                }
            };
            moved(address, &mut known, &mut names);
            moved(value, &mut known, &mut names);
        }
    }
    names.apply(func);
}

/// Takes parts of tuples from before a loop before it.
fn hoist_parts(func: &mut Function) {
    let is_part = |func: &Function, d: &InstData| match (&d.inst, d.result) {
        (Inst::Field(..), Some(part)) => has_memory(func.ty(part)),
        _ => false,
    };
    if !func.blocks.iter().flat_map(|b| &b.insts).any(|d| is_part(func, d)) {
        return;
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    for l in &loops {
        if !func.blocks[l.header.index()].parallel.is_some_and(Parallel::is_tested) {
            continue;
        }
        let mut ways = cfg.preds(l.header).iter().filter(|e| !l.blocks.contains(&e.from));
        let (Some(way), None) = (ways.next(), ways.next()) else { continue };
        let mut own: HashSet<Value> = l.blocks.iter().flat_map(|b| func.blocks[b.index()].defined()).collect();
        for b in cfg.rpo().iter().filter(|b| l.blocks.contains(b)) {
            let insts = std::mem::take(&mut func.blocks[b.index()].insts);
            let (moved, rest): (Vec<InstData>, Vec<InstData>) = insts.into_iter().partition(|d| {
                let is_before = matches!(d.inst, Inst::Field(whole, _) if !own.contains(&whole));
                is_before && is_part(func, d) && d.result.is_some_and(|part| own.remove(&part))
            });
            func.blocks[b.index()].insts = rest;
            func.blocks[way.from.index()].insts.extend(moved);
        }
    }
}

/// Removes the instruction that defines a value.
fn taken(func: &mut Function, v: Value) -> Option<InstData> {
    func.blocks.iter_mut().find_map(|data| {
        let at = data.insts.iter().position(|d| d.result == Some(v))?;
        Some(data.insts.remove(at))
    })
}

/// The addresses of fields and the arrays in them that each parallel loop reads, with the block before it.
fn found(func: &Function, callees: Callees<'_>) -> Vec<(Block, Vec<(Value, Value)>)> {
    if !func.blocks.iter().flat_map(|b| &b.insts).any(|d| matches!(d.inst, Inst::FieldPtr(..))) {
        return Vec::new();
    }
    let (cfg, defs) = (Cfg::new(func), Defs::new(func));
    let loops = Loops::new(func, &cfg, &DomTree::new(&cfg)).loops;
    let is_asked = |l: &&Loop| func.blocks[l.header.index()].parallel.is_some_and(Parallel::is_tested);
    let mut all: Vec<Value> = Vec::new();
    let mut out = Vec::new();
    for l in loops.iter().rev().filter(is_asked) {
        let mut ways = cfg.preds(l.header).iter().filter(|e| !l.blocks.contains(&e.from));
        let (Some(way), None) = (ways.next(), ways.next()) else { continue };
        let reads: Vec<_> = reads(func, &defs, l, callees).into_iter().filter(|(_, v)| !all.contains(v)).collect();
        all.extend(reads.iter().map(|(_, v)| *v));
        out.push((way.from, reads));
    }
    out
}

/// Whether an instruction only stores a number.
fn stores_number(func: &Function, inst: &Inst) -> bool {
    matches!(inst, Inst::Store(_, v) if !has_memory(func.ty(*v)))
}

fn reads(func: &Function, defs: &Defs, l: &Loop, callees: Callees<'_>) -> Vec<(Value, Value)> {
    let effects = Effects::new(func, defs, callees);
    let writes = l.blocks.iter().flat_map(|b| effects.of_block(*b)).filter(|a| a.kind != Kind::Read);
    let changed: Vec<(Root, bool)> =
        writes.map(|a| (a.root, stores_number(func, &func.blocks[a.block.index()].insts[a.at].inst))).collect();
    let is_outside = |v: Value| defs.block(v).is_some_and(|b| !l.blocks.contains(&b));
    // Another object of its class may be the same, and objects may be reached through others.
    let may_change = |object: Value| {
        changed.iter().any(|(root, is_number)| match root {
            Root::Value(v) => func.ty(*v) == func.ty(object),
            Root::Inside(_) => !is_number,
            Root::Fresh => false,
            Root::Unknown => true,
        })
    };
    let all = l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
    all.filter_map(|d| {
        let (Inst::Load(p), Some(value)) = (&d.inst, d.result) else { return None };
        let Some(Inst::FieldPtr(object, _)) = defs.inst(func, *p) else { return None };
        let is_constant = is_outside(*object) && !is_outside(*p) && !may_change(*object);
        (is_constant && func.ty(value).as_array().is_some()).then_some((*p, value))
    })
    .collect()
}
