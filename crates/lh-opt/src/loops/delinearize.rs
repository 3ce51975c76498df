//! Makes nests of loops that count through the positions of a multi-dimensional index and divide:
//!
//! ```text
//!     v7 = mul v3, v4
//!     jump block1(v20, 0)                         jump block1(v20, 0)
//! block1(v8, v9):                             block1(v8, v9):
//!     branch lt v9, v7, block2(), block3()        branch lt v9, v3, block4(), block3()
//! block2():                                   block4():
//!     v13 = srem v9, v4                           jump block5(v8, 0)
//!     v14 = sdiv v9, v4                       block5(v21, v22):
//!     ... v14, v13, v8                  ->        branch lt v22, v4, block2(), block6()
//!     jump block1(v19, add v9, 1)             block2():
//! block3():                                       ... v9, v22, v21
//!     return v8                                   jump block5(v19, add v22, 1)
//!                                             block6():
//!                                                 jump block1(v21, add v9, 1)
//! ```
//!
//! Both loops are counted, so that later passes know the bounds of both indices. The position must have no other use in
//! the loop; behind it, where all iterations have run, it is the product.
//! The outer index may again be the position of an index with fewer dimensions.

use crate::analysis::counted::{Counted, Defs, counted, in_loop, target_of};
use crate::edit::{Cursor, replace_uses_in, row, to, uses_at_end};
use hashbrown::HashMap;
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops, targets};
use lh_ir::func::{Inst, LatchHint, LoopHint, Term};
use lh_ir::{Block, Const, Function, Value};

pub(crate) fn run(func: &mut Function) -> bool {
    let divides = |inst: &Inst| matches!(inst, Inst::Op(op, _) if op.is(Algebra::Remainder));
    if !func.blocks.iter().flat_map(|b| &b.insts).any(|d| divides(&d.inst)) {
        return false;
    }
    let mut changed = false;
    while let Some(plan) = find(func) {
        apply(func, &plan);
        changed = true;
    }
    changed
}

struct Plan {
    header: Block,
    /// All blocks of the loop but the header.
    body: Vec<Block>,
    count: Counted,
    /// Extents of the outer and of the inner index.
    extents: [Value; 2],
    /// Results of divisions of the position.
    quotients: Vec<Value>,
    /// Remainders of these divisions.
    remainders: Vec<Value>,
    /// Blocks outside of the loop that are reached from its body only.
    behind_body: Vec<Block>,
}

fn find(func: &Function) -> Option<Plan> {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let defs = Defs::new(func);
    loops.loops.iter().find_map(|l| plan(func, &cfg, &dom, &defs, l))
}

fn plan(func: &Function, cfg: &Cfg, dom: &DomTree, defs: &Defs, l: &Loop) -> Option<Plan> {
    let count = counted(func, cfg, defs, l).filter(|c| c.step == 1)?;
    let Some(Inst::Op(product, of)) = defs.inst(func, count.limit) else { return None };
    let header = &func.blocks[l.header.index()];
    let is_const = |v: Value| matches!(defs.inst(func, v), Some(Inst::Const(_)));
    let plain = product.is(Algebra::Mul)
        && header.parallel.is_none()
        && header.unwind.is_none()
        && header.hint == LoopHint::None
        && header.insts.iter().all(|d| d.result.is_some_and(|r| is_const(r) || is_test(func, l.header, r)));
    let mut entries = cfg.preds(l.header).iter().filter(|e| !in_loop(cfg, l, e.from));
    let starts_at_zero =
        entries.all(|e| e.target.is_some() && defs.int(func, target_of(func, *e).args[count.place]) == Some(0));
    let in_order = l.latches.iter().all(|b| func.blocks[b.index()].latch == LatchHint::None);
    if !plain || !starts_at_zero || !in_order {
        return None;
    }
    let body: Vec<Block> = l.blocks.iter().copied().filter(|b| *b != l.header).collect();
    let (quotients, remainders) = divisions(func, &body, &count, of[1])?;
    let behind_body = behind_body(func, cfg, dom, l)?;
    if behind_body.iter().any(|b| uses(func, *b, count.index)) {
        return None;
    }
    Some(Plan { header: l.header, body, count, extents: [of[0], of[1]], quotients, remainders, behind_body })
}

fn uses(func: &Function, b: Block, v: Value) -> bool {
    let mut found = uses_at_end(func, b).contains(&v);
    func.blocks[b.index()].insts.iter().for_each(|d| d.inst.for_each_operand(|o| found |= o == v));
    found
}

/// Whether a value is the condition at the end of a block.
fn is_test(func: &Function, b: Block, v: Value) -> bool {
    matches!(&func.blocks[b.index()].term, Some(Term::Branch { cond, .. }) if *cond == v)
}

/// The quotients and remainders of the position, if it has no other use in the body than these and the increment.
fn divisions(func: &Function, body: &[Block], count: &Counted, by: Value) -> Option<(Vec<Value>, Vec<Value>)> {
    let (mut quotients, mut remainders, mut next, mut other) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for d in body.iter().flat_map(|b| &func.blocks[b.index()].insts) {
        match (&d.inst, d.result) {
            (Inst::Op(op, args), Some(r)) if args[..] == [count.index, by] && func.ty(r) == func.ty(count.index) => {
                match op.algebra {
                    Algebra::Quotient => quotients.push(r),
                    Algebra::Remainder => remainders.push(r),
                    _ => other += 1,
                }
            }
            (Inst::Op(op, args), Some(r)) if op.is(Algebra::Add) && args.contains(&count.index) => next.push(r),
            (inst, _) => inst.for_each_operand(|v| other += usize::from(v == count.index)),
        }
    }
    // The next position is nothing but the argument of the back edges.
    let mut ends = 0;
    for b in body {
        let data = &func.blocks[b.index()];
        data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| ends += usize::from(next.contains(&v))));
        if let Some(Term::Branch { cond: v, .. } | Term::Return(v)) = &data.term {
            ends += usize::from(next.contains(v));
        }
        for (_, t) in targets(func, *b) {
            for (place, v) in t.args.iter().enumerate() {
                let counts = next.contains(v)
                    && place == count.place
                    && func.blocks[t.block.index()].params.contains(&count.index);
                ends += usize::from(*v == count.index || (next.contains(v) && !counts));
            }
        }
    }
    (other == 0 && ends == 0 && !remainders.is_empty()).then_some((quotients, remainders))
}

/// The blocks outside of the loop that only its body reaches and that use parameters of the header; `None` if both
/// the body and the header's exit reach such a block.
fn behind_body(func: &Function, cfg: &Cfg, dom: &DomTree, l: &Loop) -> Option<Vec<Block>> {
    let params = &func.blocks[l.header.index()].params;
    let exits = targets(func, l.header).map(|(_, t)| t.block).filter(|b| !in_loop(cfg, l, *b));
    let exits: Vec<Block> = exits.filter(|b| cfg.preds(*b).len() == 1).collect();
    let mut out = Vec::new();
    for b in (0..func.blocks.len()).map(Block::new).filter(|b| !in_loop(cfg, l, *b)) {
        let mut uses = false;
        let data = &func.blocks[b.index()];
        let mut see = |v: Value| uses |= params.contains(&v);
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut see));
        uses_at_end(func, b).into_iter().for_each(see);
        if !uses || exits.iter().any(|e| dom.dominates(*e, b)) {
            continue;
        }
        let is_behind = l.blocks.iter().any(|x| *x != l.header && dom.dominates(*x, b));
        is_behind.then(|| out.push(b))?;
    }
    Some(out)
}

fn apply(func: &mut Function, plan: &Plan) {
    let Plan { header, body, count, extents, .. } = plan;
    let old = &func.blocks[header.index()];
    let (params, span, cold) = (old.params.clone(), old.term_span, old.cold);
    let Some(Term::Branch { cond, then, els }) = old.term.clone() else {
        lh_ir::bug!("a counted loop begins with a branch");
    };
    let (into, mut exit) = if count.body_first { (then, els) } else { (els, then) };
    exit.args.iter_mut().filter(|v| **v == count.index).for_each(|v| *v = count.limit);
    let outside = |b: usize| b != header.index() && !body.contains(&Block::new(b));
    let outside: Vec<usize> = (0..func.blocks.len()).filter(|b| outside(*b)).collect();
    let types: Vec<_> = params.iter().map(|p| func.ty(*p)).collect();
    let mut c = Cursor { func, block: *header, span, unwind: None, cold };
    let (entrance, _) = c.new_block(&[]);
    let (inner, inner_params) = c.new_block(&types);
    let (latch, _) = c.new_block(&[]);
    c.func.blocks[inner.index()].pragma = std::mem::take(&mut c.func.blocks[header.index()].pragma);
    c.func.blocks[header.index()].insts.retain(|d| d.result != Some(cond));
    let more = c.lt(count.index, extents[0]);
    c.end(Term::Branch { cond: more, then: to(entrance, &[]), els: exit }, entrance);
    let mut first = params.clone();
    first[count.place] = c.inst(Inst::Const(Const::Int(0, types[count.place])), types[count.place]);
    c.end(Term::Jump(to(inner, &first)), inner);
    let more = c.lt(inner_params[count.place], extents[1]);
    c.end(Term::Branch { cond: more, then: into, els: to(latch, &[]) }, latch);
    let mut last = inner_params.clone();
    let one = c.inst(Inst::Const(Const::Int(1, types[count.place])), types[count.place]);
    last[count.place] = c.op(row("add"), &[count.index, one], types[count.place]);
    c.end(Term::Jump(to(*header, &last)), latch);
    let of_position = |of: &[Value], index: Value| of.iter().map(|v| (*v, index)).collect::<Vec<_>>();
    let mut divided: HashMap<Value, Value> = HashMap::new();
    divided.extend(of_position(&plan.quotients, count.index));
    divided.extend(of_position(&plan.remainders, inner_params[count.place]));
    let mut behind = divided.clone();
    behind.insert(count.index, count.limit);
    let mut renamed = divided.clone();
    renamed.extend(params.iter().copied().zip(inner_params));
    for b in (0..func.blocks.len()).map(Block::new) {
        let data = &mut func.blocks[b.index()];
        let is_inside = body.contains(&b);
        if is_inside {
            data.insts.retain(|d| d.result.is_none_or(|r| !divided.contains_key(&r)));
            for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten().filter(|t| t.block == *header) {
                t.block = inner;
            }
        }
        let follows = is_inside || plan.behind_body.contains(&b);
        let names = match outside.contains(&b.index()) && !follows {
            true => &behind,
            false if follows => &renamed,
            false => &divided,
        };
        replace_uses_in(data, &|v| names.get(&v).copied().unwrap_or(v));
    }
    // The edge into the body passes the inner loop's values.
    if let Some(Term::Branch { then, .. }) = &mut func.blocks[inner.index()].term {
        then.args.iter_mut().for_each(|v| *v = renamed.get(v).copied().unwrap_or(*v));
    }
}
