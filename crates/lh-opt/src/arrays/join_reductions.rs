//! Joins reductions with the elementwise computations that they read: inlines the reduction, which then reads the
//! computation in parts. `lower_array` fills a part where it is read, so that its elements stay in the cache.
//!
//! ```text
//! v3 = map(v0, v1) mul($0: float64, $1: float64): float64: array(float64, 1, C)
//! v4 = call sum(v3): float64
//! ```
//! becomes
//! ```text
//! v3 = map(v0, v1) mul($0: float64, $1: float64): float64: array(float64, 1, C)
//! v5 = array_shape v3, 0: int
//! v6 = array_owner v3: mem
//! v7 = array_data v3: ptr
//! jump block2(...)
//! block2(...):                                          ; the loop of `sum` over parts
//! v9 = runtime lh_part(v6, v7, v8, ...): tuple(mem, ptr)
//! ...
//! ```
//!
//! A library function asks by `lh_is_produced` whether it is to read an array in parts; the answer is yes for the first
//! reduction after a computation, and no for all else. `is_produced` in `numpy/folds.py` has its promise.
//! If there are other uses, the parts are stored into the whole array.

use crate::analysis::effects::{Callees, has_no_effect};
use crate::arrays::fuse_elementwise::has_calls;
use crate::core::inline::{self, Bodies};
use crate::core::{dce, fold};
use crate::edit::uses_at_end;
use hashbrown::HashSet;
use lh_ir::cfg::targets;
use lh_ir::func::{Device, Inst, InstData, Term};
use lh_ir::runtime::{Parts, Role};
use lh_ir::{Block, Const, Function, Layout, Value};
use std::sync::Arc;

/// Bound on the depth of calls that pass an array on to a reduction.
const MAX_DEPTH: usize = 8;

pub(crate) fn run(func: &mut Function, bodies: &Bodies<'_>, callees: Callees<'_>) -> bool {
    let mut changed = false;
    if func.options.device != Device::Host {
        return false;
    }
    // The rest of a block after an inlined reduction becomes a new block, which the loop visits later.
    let mut b = 0;
    while b < func.blocks.len() {
        while let Some(found) = joinable(func, b, bodies, callees) {
            join(func, &found, bodies);
            changed = true;
        }
        b += 1;
    }
    if changed {
        // The reductions of the other answers are dead code.
        fold::run(func);
        dce::run(func);
    }
    changed
}

/// Answers all other questions whether an array is produced: no.
///
/// Where the question is a call that is not inlined, as for debugging, its parts are left in code that never runs.
pub(crate) fn settle(func: &mut Function) -> bool {
    let mut changed = false;
    for d in func.blocks.iter_mut().flat_map(|b| &mut b.insts) {
        let answer = match &d.inst {
            inst if asks(inst).is_some() => Inst::Const(Const::Bool(false)),
            Inst::Runtime(f, _) if f.role == Role::Parts(Parts::Part) => Inst::Zero,
            _ => continue,
        };
        d.inst = answer;
        changed = true;
    }
    if changed {
        fold::run(func);
        dce::run(func);
    }
    changed
}

/// The address of the array of which an instruction asks whether it is produced.
fn asks(inst: &Inst) -> Option<Value> {
    match inst {
        Inst::Runtime(f, args) if f.role == Role::Parts(Parts::IsProduced) => Some(args[0]),
        _ => None,
    }
}

/// Whether a function may read an array among its parameters in parts, so that it is inlined after a computation.
pub(crate) fn is_reduction(func: &Function, bodies: &Bodies<'_>) -> bool {
    let params = func.params();
    func.options.device == Device::Host
        && inline::can_splice(func)
        && (0..params.len()).any(|i| func.ty(params[i]).is_array() && may_read(func, i, bodies, MAX_DEPTH))
}

/// Whether a function may read an array, its parameter, in parts, itself or in functions that it passes the array to.
fn may_read(body: &Function, param: usize, bodies: &Bodies<'_>, depth: usize) -> bool {
    let v = body.params()[param];
    let insts = || body.blocks.iter().flat_map(|b| &b.insts);
    let data: HashSet<Value> =
        insts().filter(|d| matches!(d.inst, Inst::ArrayData(a) if a == v)).filter_map(|d| d.result).collect();
    insts().any(|d| match &d.inst {
        Inst::Call(spec, args) if depth > 0 && args.contains(&v) => {
            let at = args.iter().position(|a| *a == v).expect("it is among them");
            bodies(*spec).is_some_and(|b| inline::can_splice(&b) && may_read(&b, at, bodies, depth - 1))
        }
        Inst::Runtime(f, args) => matches!(f.role, Role::Parts(_)) && args.iter().any(|a| data.contains(a)),
        _ => false,
    })
}

/// The body of the reduction that an instruction calls with an array.
fn reduction(func: &Function, d: &InstData, r: Value, bodies: &Bodies<'_>) -> Option<Arc<Function>> {
    let Inst::Call(spec, args) = &d.inst else { return None };
    let mut places = (0..args.len()).filter(|i| args[*i] == r);
    let (place, other) = (places.next()?, places.next());
    let fits = |body: &Arc<Function>| other.is_none() && inline::fits(func, body, args, d.result);
    bodies(*spec).filter(fits).filter(|body| may_read(body, place, bodies, MAX_DEPTH))
}

/// A computation and the call of a reduction that can be joined with it.
struct Joinable {
    result: Value,
    block: usize,
    at: usize,
    body: Arc<Function>,
}

/// The first of a block.
fn joinable(func: &Function, block: usize, bodies: &Bodies<'_>, callees: Callees<'_>) -> Option<Joinable> {
    let data = &func.blocks[block];
    data.insts.iter().enumerate().find_map(|(i, d)| {
        let (Inst::Map(e, _), Some(result)) = (&d.inst, d.result) else { return None };
        let (_, rank, layout, _) = func.ty(result).as_array()?;
        let in_handler = data.unwind.as_ref().is_some_and(|t| t.args.contains(&result));
        if layout != Layout::C || rank == 0 || has_calls(e) || in_handler {
            return None;
        }
        let at = i + 1 + first_use(&data.insts[i + 1..], result, callees)?;
        let body = reduction(func, &data.insts[at], result, bodies)?;
        Some(Joinable { result, block, at, body })
    })
}

/// The first instruction that uses a value other than for its extents, if nothing before it has an effect.
fn first_use(insts: &[InstData], r: Value, callees: Callees<'_>) -> Option<usize> {
    for (i, d) in insts.iter().enumerate() {
        let mut uses = false;
        d.inst.for_each_operand(&mut |v| uses |= v == r);
        match &d.inst {
            Inst::ArrayShape(..) => {}
            _ if uses => return Some(i),
            inst if has_no_effect(inst, callees) => {}
            _ => return None,
        }
    }
    None
}

/// Inlines a reduction with all functions to which it passes the array on, and answers what they ask.
fn join(func: &mut Function, found: &Joinable, bodies: &Bodies<'_>) {
    let (r, entry) = (found.result, func.blocks.len());
    let rest = inline::splice(func, found.block, found.at, &found.body);
    let mut b = entry;
    while b < func.blocks.len() {
        if Block::new(b) != rest {
            let insts = &func.blocks[b].insts;
            let call = insts.iter().enumerate().find_map(|(i, d)| Some((i, reduction(func, d, r, bodies)?)));
            if let Some((at, body)) = call {
                inline::splice(func, b, at, &body);
            }
        }
        b += 1;
    }
    let questions = questions(func, r, entry);
    let answer = reads_in_parts_only(func, r, Block::new(entry), rest, &questions);
    for d in func.blocks[entry..].iter_mut().flat_map(|b| &mut b.insts) {
        if d.result.is_some_and(|v| questions.contains(&v)) {
            d.inst = Inst::Const(Const::Bool(answer));
        }
    }
}

/// The questions of the blocks from `entry` on whether an array is produced.
fn questions(func: &Function, array: Value, entry: usize) -> HashSet<Value> {
    let insts = || func.blocks[entry..].iter().flat_map(|b| &b.insts);
    let data: HashSet<Value> =
        insts().filter(|d| matches!(d.inst, Inst::ArrayData(a) if a == array)).filter_map(|d| d.result).collect();
    insts().filter(|d| asks(&d.inst).is_some_and(|a| data.contains(&a))).filter_map(|d| d.result).collect()
}

/// Whether the blocks from `entry` to `rest` use an array for its extents and parts only, if it is produced.
fn reads_in_parts_only(func: &Function, r: Value, entry: Block, rest: Block, questions: &HashSet<Value>) -> bool {
    let (mut seen, mut open): (HashSet<Block>, _) = ([entry, rest].into_iter().collect(), vec![entry]);
    let mut parts: HashSet<Value> = HashSet::new();
    let mut reached = Vec::new();
    while let Some(b) = open.pop() {
        reached.push(b);
        let block = &func.blocks[b.index()];
        let next = match &block.term {
            Some(Term::Branch { cond, then, .. }) if questions.contains(cond) => vec![then.block],
            _ => targets(func, b).filter(|(i, _)| i.is_some()).map(|(_, t)| t.block).collect(),
        };
        open.extend(next.into_iter().filter(|b| seen.insert(*b)));
        let memory =
            block.insts.iter().filter(|d| matches!(d.inst, Inst::ArrayData(a) | Inst::ArrayOwner(a) if a == r));
        parts.extend(memory.filter_map(|d| d.result));
    }
    reached.iter().all(|b| {
        let passes_on = uses_at_end(func, *b).iter().any(|v| *v == r || parts.contains(v));
        !passes_on && func.blocks[b.index()].insts.iter().all(|d| reads_part(&d.inst, r, &parts))
    })
}

/// Whether an instruction uses an array for its extents and parts only; `memory` are its owner and address.
fn reads_part(inst: &Inst, r: Value, memory: &HashSet<Value>) -> bool {
    match inst {
        Inst::ArrayShape(..) | Inst::ArrayData(_) | Inst::ArrayOwner(_) => true,
        Inst::Runtime(f, _) if matches!(f.role, Role::Parts(_)) => true,
        other => {
            let mut uses = false;
            other.for_each_operand(&mut |v| uses |= v == r || memory.contains(&v));
            !uses
        }
    }
}
