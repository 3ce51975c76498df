//! Fuses an elementwise computation into the one that uses its result, so that no temporary array is needed.
//!
//! ```text
//! v3 = map(v0, v1) mul($0: float64, $1: float64): float64: array(float64, 1, C)
//! v4 = map(v3, v2) add($0: float64, $1: float64): float64: array(float64, 1, C)
//! ```
//! becomes
//! ```text
//! v4 = map(v0, v1, v2) add(mul($0: float64, $1: float64): float64, $2: float64): float64: array(float64, 1, C)
//! ```
//!
//! The first computation must have no other use, and nothing between the two may write memory or raise, except other
//! elementwise computations into new arrays. An expression that fusion evaluates several times per element (because its
//! rank is lower, or because the second computation reads it more than once) must be cheap. Shape errors occur in
//! the same cases as before.

use crate::edit::use_counts;
use lh_ir::func::{Inst, InstData, MapExpr};
use lh_ir::op::Lower;
use lh_ir::{Function, Value};

const MAX_NODES: usize = 200;
/// Bound on the size of expressions that fusion may evaluate several times.
const MAX_CHEAP_NODES: usize = 8;

pub(crate) fn run(func: &mut Function) -> bool {
    let is_map = |d: &InstData| matches!(d.inst, Inst::Map(..));
    if !func.blocks.iter().any(|b| b.insts.iter().any(is_map)) {
        return false;
    }
    let counts = use_counts(func);
    let mut changed = false;
    for b in 0..func.blocks.len() {
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        let mut gone = vec![false; insts.len()];
        for (i, gone) in gone.iter_mut().enumerate() {
            if let Some(user) = fusible_user(func, &insts, i, &counts) {
                fuse(&mut insts, i, user);
                *gone = true;
                changed = true;
            }
        }
        let mut at = gone.iter();
        insts.retain(|_| !at.next().expect("one flag for each"));
        func.blocks[b].insts = insts;
    }
    changed
}

/// The later instruction into which instruction `i` can be fused.
fn fusible_user(func: &Function, insts: &[InstData], i: usize, counts: &[u32]) -> Option<usize> {
    let (Inst::Map(inner, _), Some(r)) = (&insts[i].inst, insts[i].result) else { return None };
    let uses_it = |d: &InstData| {
        let mut used = false;
        d.inst.for_each_operand(|v| used |= v == r);
        used
    };
    let mut user = i + 1;
    while !uses_it(insts.get(user)?) {
        if is_barrier(&insts[user].inst) {
            return None;
        }
        user += 1;
    }
    let (outer, sources, whole) = match &insts[user].inst {
        Inst::Map(e, args) => (e, &args[..], insts[user].result?),
        Inst::MapInto(e, args) if args[0] != r => (e, &args[1..], args[0]),
        _ => return None,
    };
    let here = sources.iter().filter(|v| **v == r).count();
    if here != counts[r.index()] as usize {
        return None;
    }
    let rank = |v: Value| func.ty(v).as_array().map_or(0, |a| a.1);
    let reads: usize = (0..sources.len()).filter(|k| sources[*k] == r).map(|k| count_arg(outer, k as u32)).sum();
    let size = nodes(inner);
    let once = reads <= 1 && rank(r) == rank(whole);
    let fits = rank(r) <= rank(whole) && nodes(outer) + reads * size <= MAX_NODES;
    (fits && (once || (size <= MAX_CHEAP_NODES && is_cheap(inner)))).then_some(user)
}

/// Whether an elementwise computation must not move over an instruction.
fn is_barrier(inst: &Inst) -> bool {
    match inst {
        Inst::Map(..) => false,
        Inst::Store(..) | Inst::Take(_) | Inst::MapInto(..) | Inst::DecRef(_) => true,
        Inst::Runtime(f, _) => f.raises || !f.pure,
        other => other.can_raise(),
    }
}

fn nodes(e: &MapExpr) -> usize {
    match e {
        MapExpr::Arg(..) | MapExpr::Const(_) => 1,
        MapExpr::Cast(_, e) => 1 + nodes(e),
        MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => 1 + es.iter().map(nodes).sum::<usize>(),
    }
}

fn count_arg(e: &MapExpr, arg: u32) -> usize {
    match e {
        MapExpr::Arg(i, _) => usize::from(*i == arg),
        MapExpr::Const(_) => 0,
        MapExpr::Cast(_, e) => count_arg(e, arg),
        MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => es.iter().map(|e| count_arg(e, arg)).sum(),
    }
}

/// Whether evaluating an expression costs about as much as a load.
fn is_cheap(e: &MapExpr) -> bool {
    match e {
        MapExpr::Arg(..) | MapExpr::Const(_) => true,
        MapExpr::Cast(_, e) => is_cheap(e),
        MapExpr::Op(op, _, es) => !matches!(op.host, Lower::Math(..) | Lower::Symbol(..)) && es.iter().all(is_cheap),
        MapExpr::Call(..) => false,
    }
}

fn fuse(insts: &mut [InstData], i: usize, user: usize) {
    let r = insts[i].result.expect("checked before");
    let Inst::Map(inner, inner_args) = std::mem::replace(&mut insts[i].inst, Inst::Zero) else {
        lh_ir::bug!("not an elementwise computation");
    };
    let (outer, args, first) = match &mut insts[user].inst {
        Inst::Map(e, args) => (e, args, 0),
        Inst::MapInto(e, args) => (e, args, 1),
        other => lh_ir::bug!("not an elementwise computation: {other:?}"),
    };
    let old = args.split_off(first);
    let number = |args: &mut Vec<Value>, v: Value| {
        let at = args[first..].iter().position(|a| *a == v);
        at.unwrap_or_else(|| {
            args.push(v);
            args.len() - 1 - first
        }) as u32
    };
    let mut inner = *inner;
    // Operands keep their order in the source, which the message of a shape error shows.
    let mut places = Vec::with_capacity(old.len());
    let mut inner_places = Vec::new();
    for v in old {
        if v == r {
            inner_places = inner_args.iter().map(|a| number(args, *a)).collect();
            places.push(None);
        } else {
            places.push(Some(number(args, v)));
        }
    }
    renumber(&mut inner, &inner_places);
    substitute(outer, &places, &inner);
}

fn renumber(e: &mut MapExpr, places: &[u32]) {
    match e {
        MapExpr::Arg(i, _) => *i = places[*i as usize],
        MapExpr::Const(_) => {}
        MapExpr::Cast(_, e) => renumber(e, places),
        MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => es.iter_mut().for_each(|e| renumber(e, places)),
    }
}

/// Renumbers arguments, and replaces those without a new number by the inner expression.
fn substitute(e: &mut MapExpr, places: &[Option<u32>], inner: &MapExpr) {
    match e {
        MapExpr::Arg(i, _) => match places[*i as usize] {
            Some(n) => *i = n,
            None => *e = inner.clone(),
        },
        MapExpr::Const(_) => {}
        MapExpr::Cast(_, e) => substitute(e, places, inner),
        MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => es.iter_mut().for_each(|e| substitute(e, places, inner)),
    }
}
