//! Value numbering and if-conversion in parallel loops, so that updates such as `if x[i] > m: m = x[i]` and `a[1:3] +=
//! x` are recognised. Also removes calls that have no effect.
//!
//! ```text
//! branch c, block1(), block2()        v3 = select c, v1, v2
//! block1(): jump block3(v1)      =>   jump block3(v3)
//! block2(): jump block3(v2)
//! ```

use super::plan::marked;
use crate::analysis::counted::Defs;
use crate::analysis::effects::{Callees, is_total};
use crate::core::value_numbering::merge;
use crate::edit::{row, to, use_counts};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, InstData, Target, Term};
use lh_ir::{Block, Const, Function, Value};

pub(super) fn run(func: &mut Function, callees: Callees<'_>) {
    merge(func, &marked(func), callees);
    crate::core::dce::run(func);
    while forget(func, callees) {
        crate::core::dce::run(func);
    }
    let blocks = marked(func);
    // Predecessors of the original blocks suffice: if-conversion only removes edges.
    let cfg = Cfg::new(func);
    let truth = |d: &InstData| match d.inst {
        Inst::Const(Const::Bool(is_true)) => d.result.map(|v| (v, is_true)),
        _ => None,
    };
    let truths: HashMap<Value, bool> = func.blocks.iter().flat_map(|data| &data.insts).filter_map(truth).collect();
    for b in blocks {
        choose(func, &cfg, &truths, b);
    }
}

/// Removes calls that have no effect and whose result is not used.
fn forget(func: &mut Function, callees: Callees<'_>) -> bool {
    let (uses, defs, blocks) = (use_counts(func), Defs::new(func), marked(func));
    let is_dead =
        |d: &&InstData| d.result.is_some_and(|v| uses[v.index()] == 0) && is_total(func, &defs, &d.inst, callees);
    let all = blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
    let dead: HashSet<Option<Value>> = all.filter(is_dead).map(|d| d.result).collect();
    blocks.iter().for_each(|b| func.blocks[b.index()].insts.retain(|d| !dead.contains(&d.result)));
    !dead.is_empty()
}

/// If-converts a branch whose targets only pass different numbers to one block.
fn choose(func: &mut Function, cfg: &Cfg, truths: &HashMap<Value, bool>, b: Block) {
    let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term else { return };
    let (cond, ways) = (*cond, [then.block, els.block]);
    let (then, els) = (way(func, cfg, then).clone(), way(func, cfg, els).clone());
    let can_choose = |x: &Value, y: &Value| {
        let ty = func.ty(*x);
        x == y || (ty == func.ty(*y) && ty.is_number() && !ty.is_complex())
    };
    if then.block != els.block || !then.args.iter().zip(&els.args).all(|(x, y)| can_choose(x, y)) {
        return;
    }
    for w in ways.into_iter().filter(|w| *w != then.block) {
        let constants = func.blocks[w.index()].insts.clone();
        func.blocks[b.index()].insts.extend(constants.into_iter().filter(|_| cfg.preds(w).len() == 1));
    }
    let span = func.blocks[b.index()].term_span;
    let pairs = then.args.iter().zip(&els.args);
    let args: Vec<Value> = pairs.map(|(x, y)| choice(func, b, cond, (*x, *y), truths)).collect();
    let data = &mut func.blocks[b.index()];
    (data.term, data.term_span) = (Some(Term::Jump(to(then.block, &args))), span);
}

/// The target behind a block that has only constants and one predecessor.
fn way<'a>(func: &'a Function, cfg: &Cfg, t: &'a Target) -> &'a Target {
    let data = &func.blocks[t.block.index()];
    let is_constant = |d: &InstData| matches!(d.inst, Inst::Const(_)) && cfg.preds(t.block).len() == 1;
    match &data.term {
        Some(Term::Jump(next)) if data.insts.iter().all(is_constant) && data.params.is_empty() => next,
        _ => t,
    }
}

/// A select, simplified for truth values.
fn choice(func: &mut Function, b: Block, cond: Value, (x, y): (Value, Value), truths: &HashMap<Value, bool>) -> Value {
    if x == y {
        return x;
    }
    let ty = func.ty(x);
    let span = func.blocks[b.index()].term_span;
    let mut op = |name: &str, args: Vec<Value>| {
        let result = func.new_value(ty);
        let inst = Inst::Op(row(name), args);
        func.blocks[b.index()].insts.push(InstData { result: Some(result), inst, span });
        result
    };
    // A select between truth values, one of them a constant or the condition, is an `and` or `or`.
    match (truths.get(&x), truths.get(&y)) {
        _ if !ty.is_bool() => op("select", vec![cond, x, y]),
        // The condition itself.
        (Some(true), _) if y == cond => cond,
        (_, Some(false)) if x == cond => cond,
        (Some(true), _) => op("or", vec![y, cond]),
        (_, Some(false)) => op("and", vec![x, cond]),
        _ if x == cond => op("or", vec![y, cond]),
        _ if y == cond => op("and", vec![x, cond]),
        (Some(false), _) => {
            let no = op("not", vec![cond]);
            op("and", vec![y, no])
        }
        (_, Some(true)) => {
            let no = op("not", vec![cond]);
            op("or", vec![x, no])
        }
        _ => op("select", vec![cond, x, y]),
    }
}
