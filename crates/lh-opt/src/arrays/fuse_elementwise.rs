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
//! The first computation must have no other use, and nothing between the two may write memory. They may lie in
//! different blocks, if the only way to the second leads over the first and enters no loop. An expression that fusion
//! evaluates several times per element (because its rank is lower, or because the second computation reads it more than
//! once) must be cheap.
//!
//! Exceptions keep their order: if something between the two may raise, such as the index of another operand, the first
//! computation stays without a use. `lower_array` makes of it the comparison of its operands' shapes.

use crate::analysis::effects::{Callees, has_no_effect};
use crate::edit::use_counts;
use hashbrown::HashMap;
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, InstData, MapExpr, Term};
use lh_ir::op::Lower;
use lh_ir::{Block, Function, Value};

const MAX_NODES: usize = 200;
/// Bound on the size of expressions that fusion may evaluate several times.
const MAX_CHEAP_NODES: usize = 8;
/// Bound on the number of blocks between two computations.
const MAX_BLOCKS: usize = 32;

/// A block and the position of an instruction in it.
type Place = (Block, usize);

pub(crate) fn run(func: &mut Function, callees: Callees<'_>) -> bool {
    let is_map = |d: &InstData| matches!(d.inst, Inst::Map(..));
    if !func.blocks.iter().any(|b| b.insts.iter().any(is_map)) {
        return false;
    }
    let cfg = Cfg::new(func);
    let users = users(func);
    let counts = use_counts(func);
    let mut changed = false;
    // Definitions come before uses, so that a chain is fused into its last computation.
    for b in cfg.rpo() {
        for i in 0..func.blocks[b.index()].insts.len() {
            let search = Search { func, cfg: &cfg, users: &users, counts: &counts, callees };
            let Some((user, stays)) = search.fusible_user((*b, i)) else { continue };
            fuse(func, (*b, i), user, stays);
            changed = true;
        }
    }
    // A computation that has moved left an instruction without result behind.
    let is_left = |d: &InstData| !(d.result.is_none() && matches!(d.inst, Inst::Zero));
    func.blocks.iter_mut().for_each(|b| b.insts.retain(is_left));
    changed
}

/// The elementwise computation that uses each value; one of them if there are several.
fn users(func: &Function) -> HashMap<Value, Place> {
    let mut users = HashMap::new();
    for (b, data) in func.blocks.iter().enumerate() {
        for (i, d) in data.insts.iter().enumerate() {
            if let Inst::Map(_, args) | Inst::MapInto(_, args) = &d.inst {
                users.extend(args.iter().map(|v| (*v, (Block::new(b), i))));
            }
        }
    }
    users
}

struct Search<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    users: &'a HashMap<Value, Place>,
    counts: &'a [u32],
    callees: Callees<'a>,
}

impl Search<'_> {
    fn inst(&self, (b, i): Place) -> &InstData {
        &self.func.blocks[b.index()].insts[i]
    }
    /// The later computation into which the one at `place` can be fused, and whether the first stays to raise what it
    /// raises.
    fn fusible_user(&self, place: Place) -> Option<(Place, bool)> {
        let d = self.inst(place);
        let (Inst::Map(inner, inner_args), Some(r)) = (&d.inst, d.result) else { return None };
        let user = *self.users.get(&r)?;
        let (outer, sources, whole) = match &self.inst(user).inst {
            Inst::Map(e, args) => (e, &args[..], self.inst(user).result?),
            Inst::MapInto(e, args) if args[0] != r => (e, &args[1..], args[0]),
            _ => return None,
        };
        let here = sources.iter().filter(|v| **v == r).count();
        if here != self.counts[r.index()] as usize {
            return None;
        }
        let rank = |v: Value| self.func.ty(v).as_array().map_or(0, |a| a.1);
        let reads: usize = (0..sources.len()).filter(|k| sources[*k] == r).map(|k| count_arg(outer, k as u32)).sum();
        let size = nodes(inner);
        let once = reads <= 1 && rank(r) == rank(whole);
        let fits = rank(r) <= rank(whole) && nodes(outer) + reads * size <= MAX_NODES;
        if !fits || !(once || (size <= MAX_CHEAP_NODES && is_cheap(inner))) {
            return None;
        }
        let passes_raise = self.way(place, user)?;
        if passes_raise && has_calls(inner) {
            return None;
        }
        let mut arrays = inner_args.iter().filter(|v| rank(**v) > 0);
        let first = arrays.next();
        let can_raise = arrays.any(|v| Some(v) != first);
        Some((user, passes_raise && can_raise))
    }
    /// Whether there is something on the way between two instructions that may raise; `None` if the first must not move
    /// to the second.
    fn way(&self, (from, start): Place, (to, end): Place) -> Option<bool> {
        let (mut b, mut end, mut passes_raise) = (to, end, false);
        for _ in 0..MAX_BLOCKS {
            let is_first = b == from;
            let insts = &self.func.blocks[b.index()].insts[if is_first { start + 1 } else { 0 }..end];
            for d in insts {
                if self.is_barrier(&d.inst) {
                    return None;
                }
                passes_raise |= d.inst.can_raise() && !matches!(d.inst, Inst::Map(..));
            }
            if is_first {
                return Some(passes_raise);
            }
            let [e] = self.cfg.preds(b) else { return None };
            e.target?;
            let data = &self.func.blocks[e.from.index()];
            passes_raise |= !matches!(data.term, Some(Term::Jump(_)));
            (b, end) = (e.from, data.insts.len());
        }
        None
    }
    /// Whether an elementwise computation must not move over an instruction.
    fn is_barrier(&self, inst: &Inst) -> bool {
        match inst {
            Inst::SlotSet(..) => false,
            other => !has_no_effect(other, self.callees),
        }
    }
}

/// Whether an expression calls functions, which may raise.
pub(super) fn has_calls(e: &MapExpr) -> bool {
    match e {
        MapExpr::Arg(..) | MapExpr::Const(_) => false,
        MapExpr::Cast(_, e) => has_calls(e),
        MapExpr::Op(_, _, es) => es.iter().any(has_calls),
        MapExpr::Call(..) => true,
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

/// `stays`: the first computation is kept without a use.
fn fuse(func: &mut Function, (b, i): Place, user: Place, stays: bool) {
    let d = &mut func.blocks[b.index()].insts[i];
    let r = d.result.expect("checked before");
    let inst = if stays { d.inst.clone() } else { std::mem::replace(&mut d.inst, Inst::Zero) };
    if !stays {
        d.result = None;
    }
    let Inst::Map(inner, inner_args) = inst else { lh_ir::bug!("not an elementwise computation") };
    let (outer, args, first) = match &mut func.blocks[user.0.index()].insts[user.1].inst {
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
