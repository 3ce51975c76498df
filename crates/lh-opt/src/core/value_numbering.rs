//! Gives equal values one name, in functions with elementwise computations.
//!
//! ```text
//! v9 = array_make(v1, v5, (v7), (v8))            v9 = array_make(v1, v5, (v7), (v8))
//! v19 = array_make(v1, v5, (v7), (v8))      =>
//! map_into(v3, v9, v19) add(...)                 map_into(v3, v9, v9) add(...)
//! ```
//!
//! Expressions on arrays make the same view again and again. Under one name, its extents are known to be equal, and
//! fusion makes it one operand, which is compared with the destination once and needs one address in the loop. LLVM
//! would merge the arithmetic, but not the operands, and takes longer for it.
//!
//! Checks of indices that an equal check dominates, and branches whose condition is known, are removed as well: they
//! would stand between computations that fuse.

use crate::analysis::effects::{Callees, deterministic};
use crate::edit::Replacements;
use hashbrown::HashMap;
use lh_ir::cfg::{Cfg, DomTree, Edge};
use lh_ir::func::{Device, Inst, Term};
use lh_ir::runtime::Role;
use lh_ir::{Block, Const, Function, Value};
use smallvec::SmallVec;
use std::mem::{Discriminant, discriminant};

pub(crate) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let mut insts = func.blocks.iter().flat_map(|b| &b.insts);
    let is_for_it = func.options.device == Device::Host && !func.options.debug;
    if !is_for_it || !insts.any(|d| matches!(d.inst, Inst::Map(..) | Inst::MapInto(..))) {
        return false;
    }
    let cfg = Cfg::new(func);
    let merged = merge(func, cfg.rpo(), callees);
    decide(func, &cfg) || merged
}

/// Replaces branches on conditions whose value is known, since an edge of another branch on them dominates the block.
fn decide(func: &mut Function, cfg: &Cfg) -> bool {
    let dom = DomTree::new(cfg);
    let mut known: HashMap<Value, Vec<(Block, bool)>> = HashMap::new();
    let mut changed = false;
    for b in cfg.rpo() {
        if let [Edge { from, target: Some(_) }] = cfg.preds(*b)
            && let Some(Term::Branch { cond, then, els }) = &func.blocks[from.index()].term
            && then.block != els.block
        {
            known.entry(*cond).or_default().push((*b, then.block == *b));
        }
        let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { continue };
        let facts = known.get(cond).into_iter().flatten();
        let Some((_, is_true)) = facts.into_iter().find(|(at, _)| dom.dominates(*at, *b)) else { continue };
        let taken = if *is_true { then.clone() } else { els.clone() };
        func.blocks[b.index()].term = Some(Term::Jump(taken));
        changed = true;
    }
    changed
}

/// The key of equal instructions: opcode, operands, constant, and for loads the memory state.
type Key = (Discriminant<Inst>, SmallVec<[Value; 4]>, u64, usize);

/// Replaces instructions in some blocks by equal ones that dominate them. Answers whether there were any.
pub(crate) fn merge(func: &mut Function, blocks: &[Block], callees: Callees<'_>) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    // Handlers do not see the results of the blocks that they guard.
    let reaches = |a: Block, b: Block| a == b || dom.results_reach(a, b);
    let mut names = Replacements::new(func);
    let mut known: HashMap<Key, Vec<(Block, Inst, Value)>> = HashMap::new();
    // The memory state at the end of each block, as a unique number.
    let (mut states, mut state) = (vec![0; func.blocks.len()], 0);
    let mut changed = false;
    for b in blocks {
        let before = state;
        let mut here = match cfg.preds(*b) {
            [e] if e.target.is_some() && states[e.from.index()] > 0 => states[e.from.index()],
            _ => before + 1,
        };
        state = before + 1;
        let insts = std::mem::take(&mut func.blocks[b.index()].insts);
        for d in insts {
            let mut inst = d.inst.clone();
            inst.for_each_operand_mut(&mut |v| *v = names.get(*v));
            if let Inst::Runtime(f, args) = &inst
                && f.role == Role::CheckIndex
            {
                let same = known.entry(key(&inst, 0)).or_default();
                if same.iter().any(|(at, other, _)| *other == inst && reaches(*at, *b)) {
                    changed = true;
                } else {
                    same.push((*b, inst.clone(), args[0]));
                    func.blocks[b.index()].insts.push(d);
                }
                continue;
            }
            let (Some(reads), Some(result)) = (deterministic(&inst, callees), d.result) else {
                if !inst.is_pure() {
                    state += 1;
                    here = state;
                }
                func.blocks[b.index()].insts.push(d);
                continue;
            };
            let same = known.entry(key(&inst, if reads { here } else { 0 })).or_default();
            let is_same = |(at, other, v): &&(Block, Inst, Value)| {
                *other == inst && func.ty(*v) == func.ty(result) && reaches(*at, *b)
            };
            match same.iter().find(is_same) {
                Some((_, _, v)) => {
                    names.set(result, *v);
                    changed = true;
                }
                None => {
                    same.push((*b, inst, result));
                    func.blocks[b.index()].insts.push(d);
                }
            }
        }
        states[b.index()] = here;
    }
    names.apply(func);
    changed
}

fn key(inst: &Inst, state: usize) -> Key {
    let mut operands = SmallVec::new();
    inst.for_each_operand(|v| operands.push(v));
    let constant = match inst {
        Inst::Const(Const::Int(i, _)) => *i as u64,
        Inst::Const(Const::Float(x, _)) => x.to_bits(),
        _ => 0,
    };
    (discriminant(inst), operands, constant, state)
}
