//! Builds the jammed loop.

use super::distribute;
use super::plan::JamPlan;
use super::strided_views::{fit_in_cache, views_disjoint};
use crate::analysis::counted::Counted;
use crate::analysis::facts::Users;
use crate::edit::version::Versions;
use crate::edit::{Cursor, to};
use hashbrown::HashMap;
use lh_ir::cfg::{Cfg, DomTree, Loop};
use lh_ir::func::{BlockData, Inst, InstData, LoopHint, Target, Term};
use lh_ir::{Block, Function, Ty, Value};

/// Loops with indices beyond this run as the original, so that nothing here can overflow.
const MAX_INDEX: i64 = 1 << 45;

/// New names of the blocks and values of the loop; varying values have one for each jammed iteration.
pub(super) struct Names {
    pub blocks: HashMap<Block, Block>,
    values: HashMap<Value, Vec<Value>>,
}

impl Names {
    /// A value in the `i`-th jammed iteration.
    pub(super) fn of(&self, v: Value, i: usize) -> Value {
        match self.values.get(&v) {
            Some(names) => names[i.min(names.len() - 1)],
            None => v,
        }
    }
    pub(super) fn all(&self, v: Value) -> Vec<Value> {
        self.values.get(&v).cloned().unwrap_or_else(|| vec![v])
    }
    /// A target with all names of its arguments.
    pub(super) fn target(&self, func: &Function, t: &Target) -> Target {
        let block = self.blocks.get(&t.block).copied().unwrap_or(t.block);
        let params = &func.blocks[t.block.index()].params;
        let args = params.iter().zip(&t.args).flat_map(|(p, a)| {
            let copies = self.values.get(p).map_or(1, Vec::len);
            (0..copies).map(|i| self.of(*a, i))
        });
        Target { block, args: args.collect() }
    }
}

/// Puts the jammed loop before the original; answers with its header.
#[expect(clippy::too_many_arguments, reason = "what is known about the function")]
pub(super) fn jam(
    func: &mut Function,
    cfg: &Cfg,
    dom: &DomTree,
    users: &Users,
    l: &Loop,
    inner: &[&Loop],
    counted: &Counted,
    plan: &JamPlan,
) -> Block {
    let entrance = Versions::new(func, cfg, dom, users).choice_block(l);
    let span = func.blocks[l.header.index()].term_span;
    let start = func.blocks[entrance.index()].params[0];
    let mut c = Cursor { func, block: entrance, span, unwind: None, cold: false };
    let all = jam_condition(&mut c, counted, start, plan);
    let (width, rest) = (c.int(plan.factor), c.int(plan.factor - 1));
    let last = c.sub(counted.limit, rest);
    let (header, params) = c.new_block(&[Ty::int()]);
    let (body, _) = c.new_block(&[]);
    c.end(Term::Branch { cond: all, then: to(header, &[start]), els: to(l.header, &[start]) }, header);
    let index = params[0];
    let fits = c.lt(index, last);
    c.end(Term::Branch { cond: fits, then: to(body, &[]), els: to(l.header, &[index]) }, body);
    let next = c.add(index, width);
    let mut indices = vec![index];
    for i in 1..plan.factor {
        let i = c.int(i);
        indices.push(c.add(index, i));
    }
    let mut names = Names { blocks: HashMap::new(), values: HashMap::from([(counted.index, indices)]) };
    let (distributed, inner): (Vec<&Loop>, Vec<&Loop>) =
        inner.iter().partition(|l| plan.distributed.contains(&l.header));
    let is_distributed = |b: &Block| distributed.iter().any(|l| l.blocks.contains(b) && l.header != *b);
    let blocks: Vec<Block> = l.blocks.iter().copied().filter(|b| !is_distributed(b)).collect();
    let inner = |b: &Block| inner.iter().any(|l| l.header == *b);
    create_names(c.func, &blocks, plan, &mut names);
    names.blocks.insert(l.header, body);
    for l in &distributed {
        distribute::build(c.func, l, plan, &names, (counted.index, index));
    }
    for b in blocks.iter().filter(|b| !plan.distributed.contains(b)) {
        copy_block(c.func, *b, plan, &names);
        let new = names.blocks[b];
        let latch = c.func.blocks[b.index()].latch;
        let data = &mut c.func.blocks[new.index()];
        data.latch = latch;
        if inner(b) {
            data.hint = match (plan.rows, plan.slp) {
                // An inner loop that is not unrolled would keep the loop along the row from being vectorised.
                (true, _) => LoopHint::Unroll,
                (false, true) => LoopHint::VectorizeJammed,
                (false, false) => LoopHint::NoVectorize,
            };
        }
        let Some(term) = &mut c.func.blocks[new.index()].term else { lh_ir::bug!("a block ends") };
        for t in term.targets_mut() {
            if t.block == body {
                *t = to(header, &[next]);
            }
        }
    }
    for a in &plan.prefetch {
        a.build(c.func, plan, &names);
    }
    // The header's branch becomes a jump: all jammed iterations exist.
    let data = &mut c.func.blocks[body.index()];
    let Some(Term::Branch { then, els, .. }) = data.term.take() else {
        lh_ir::bug!("a counted loop begins with a branch")
    };
    data.term = Some(Term::Jump(if counted.body_first { then } else { els }));
    header
}

/// The condition for the jammed loop: no index overflows, the inner loop is short where that matters, and arrays are
/// disjoint.
fn jam_condition(c: &mut Cursor<'_>, counted: &Counted, start: Value, plan: &JamPlan) -> Value {
    let (low, high) = (c.int(-MAX_INDEX), c.int(MAX_INDEX));
    let mut all = c.lt(low, start);
    for (a, b) in [(low, counted.limit), (counted.limit, high)] {
        let near = c.lt(a, b);
        all = c.and(all, near);
    }
    if let Some((length, end)) = plan.short {
        let end = c.int(end);
        let is_short = c.lt(length, end);
        all = c.and(all, is_short);
    }
    if plan.reread {
        all = fit_in_cache(c, &plan.views, plan.factor, all);
    }
    views_disjoint(c, &plan.views, &plan.disjoint, (start, counted.limit), all)
}

/// Creates new blocks with their parameters, and all new names.
fn create_names(func: &mut Function, blocks: &[Block], plan: &JamPlan, names: &mut Names) {
    let copies = |v: Value| if plan.varying.contains(&v) { plan.factor } else { 1 };
    for (i, b) in blocks.iter().enumerate() {
        let data = &func.blocks[b.index()];
        // The parameters of the loop's header, which comes first, are replaced.
        let params = if i == 0 { vec![] } else { data.params.clone() };
        let results: Vec<Value> = data.insts.iter().filter_map(|d| d.result).collect();
        for v in params.iter().chain(&results) {
            let ty = func.ty(*v);
            let new = (0..copies(*v)).map(|_| func.new_value(ty)).collect();
            names.values.insert(*v, new);
        }
        if i != 0 {
            let new = func.new_block();
            func.blocks[new.index()].params = params.iter().flat_map(|p| names.all(*p)).collect();
            names.blocks.insert(*b, new);
        }
    }
}

/// Copies a block; instructions that vary are copied once for each jammed iteration.
fn copy_block(func: &mut Function, b: Block, plan: &JamPlan, names: &Names) {
    let BlockData { insts, term, term_span, .. } = func.blocks[b.index()].clone();
    let mut out = Vec::new();
    for d in &insts {
        let varies = match (&d.inst, d.result) {
            (Inst::Store(..), _) => true,
            (_, Some(r)) => plan.varying.contains(&r),
            (_, None) => false,
        };
        for i in 0..if varies { plan.factor as usize } else { 1 } {
            let mut inst = d.inst.clone();
            inst.for_each_operand_mut(&mut |v| *v = names.of(*v, i));
            out.push(InstData { result: d.result.map(|r| names.of(r, i)), inst, span: d.span });
        }
    }
    let target = |t: &Target| names.target(func, t);
    let term = match term {
        Some(Term::Jump(t)) => Term::Jump(target(&t)),
        Some(Term::Branch { cond, then, els }) => {
            Term::Branch { cond: names.of(cond, 0), then: target(&then), els: target(&els) }
        }
        other => lh_ir::bug!("a loop's block ends with {other:?}"),
    };
    let data = &mut func.blocks[names.blocks[&b].index()];
    data.insts.extend(out);
    (data.term, data.term_span) = (Some(term), term_span);
}
