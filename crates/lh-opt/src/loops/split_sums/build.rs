//! Builds the loops of a plan.

use super::plan::{MIN_TRIP_COUNT, Plan};
use crate::analysis::counted::Counted;
use crate::analysis::facts::Users;
use crate::edit::overlap::apart;
use crate::edit::version::Versions;
use crate::edit::{Cursor, rename, to};
use hashbrown::HashMap;
use lh_ir::cfg::{Cfg, DomTree, Loop};
use lh_ir::func::{BlockData, LoopHint, Term};
use lh_ir::{Block, Function, Value};

/// Splits a loop, whose original runs where the test before it fails; answers with the headers of all loops.
pub(super) fn split(
    func: &mut Function,
    cfg: &Cfg,
    dom: &DomTree,
    users: &Users,
    l: &Loop,
    counted: &Counted,
    plan: &Plan,
) -> Vec<Block> {
    let mut versions = Versions::new(func, cfg, dom, users);
    let duplicate = versions.duplicate(l, &[]);
    let (entrance, rest) = (duplicate.entrance, duplicate.copies.block(l.header));
    let func = versions.func;
    let mut headers = vec![l.header, rest];
    let params = func.blocks[entrance.index()].params.clone();
    let start = params[counted.place];
    // The loops run one after another, the one with what is left last.
    let mut next = to(rest, &params);
    for slice in &plan.loops {
        let header = sums(func, l, counted, plan.body, slice, &next);
        headers.push(header);
        next = to(header, &[start]);
    }
    let body = &mut func.blocks[duplicate.copies.block(plan.body).index()];
    let mut at = 0..;
    body.insts.retain(|_| !plan.moved.contains(&at.next().expect("endless")));
    func.blocks[rest.index()].hint = LoopHint::Elementwise;
    func.blocks[l.header.index()].cold = true;
    func.blocks[plan.body.index()].cold = true;
    let span = func.blocks[l.header.index()].term_span;
    let mut c = Cursor { func, block: entrance, span, unwind: None, cold: false };
    let fewest = c.int(MIN_TRIP_COUNT.saturating_mul(counted.step.abs()));
    let n = if counted.step > 0 { c.sub(counted.limit, start) } else { c.sub(start, counted.limit) };
    let enough = c.le(fewest, n);
    let holds = apart(&mut c, &plan.apart, enough);
    c.end(Term::Branch { cond: holds, then: next, els: to(l.header, &params) }, entrance);
    headers
}

/// A loop with some of the instructions, which leads on to a target.
fn sums(
    func: &mut Function,
    l: &Loop,
    counted: &Counted,
    body: Block,
    slice: &[usize],
    next: &lh_ir::func::Target,
) -> Block {
    let [header, new_body] = [func.new_block(), func.new_block()];
    let old = func.blocks[l.header.index()].clone();
    let mut iteration = func.blocks[body.index()].clone();
    let Some(Term::Jump(back)) = &iteration.term else { lh_ir::bug!("the body leads back") };
    let step = back.args[counted.place];
    let mut kept: Vec<usize> = slice.to_vec();
    let mut work = vec![step];
    while let Some(v) = work.pop() {
        if let Some(k) = iteration.insts.iter().position(|d| d.result == Some(v)).filter(|k| !kept.contains(k)) {
            kept.push(k);
            iteration.insts[k].inst.for_each_operand(|o| work.push(o));
        }
    }
    let mut at = 0..;
    iteration.insts.retain(|_| kept.contains(&at.next().expect("endless")));
    iteration.term = Some(Term::Jump(to(header, &[step])));
    let Some(Term::Branch { cond, .. }) = old.term else { lh_ir::bug!("a counted loop begins with a branch") };
    let (inside, outside) = (to(new_body, &[]), next.clone());
    let (then, els) = if counted.body_first { (inside, outside) } else { (outside, inside) };
    let data = BlockData {
        params: vec![counted.index],
        insts: old.insts,
        term: Some(Term::Branch { cond, then, els }),
        term_span: old.term_span,
        hint: LoopHint::Elementwise,
        ..BlockData::default()
    };
    let mut names: HashMap<Value, Value> = HashMap::new();
    for v in data.defined().chain(iteration.defined()).collect::<Vec<_>>() {
        let ty = func.ty(v);
        names.insert(v, func.new_value(ty));
    }
    for (b, mut data) in [(header, data), (new_body, iteration)] {
        rename(&mut data, &names, &HashMap::new());
        func.blocks[b.index()] = data;
    }
    header
}
