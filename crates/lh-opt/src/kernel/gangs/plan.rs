//! Plans the rewriting for gangs: operations at which lanes synchronise, and the pieces of code between them.

use crate::analysis::classify::is_speculative;
use crate::analysis::device::{HANDED, waits_of_call};
use crate::analysis::uniform::divergence;
use crate::analysis::{liveness, uniform};
use crate::edit::Replacements;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, Loops, targets};
use lh_ir::func::{GANG, Inst, InstData, Term, waits};
use lh_ir::runtime::{Role, RuntimeFn, Warp};
use lh_ir::switches::is_off;
use lh_ir::{Block, Const, Function, Ty, Value};
use lh_ops::warp;
use std::collections::{HashMap, HashSet};

/// Size limit for complete unrolling, in blocks.
const MAX_UNROLLED: usize = 16;

/// An operation that all lanes of a gang execute together, in a block of its own.
#[derive(Clone, Debug)]
pub(super) struct GangOp {
    pub inst: InstData,
    /// Its results; a warp operation has two.
    pub results: Vec<Value>,
    pub resume: Block,
}

/// The function split into pieces, single-entry regions without loops or operations of all lanes. Exits of a piece lead
/// to the heads of pieces.
pub(super) struct Pieces {
    pub waits: HashMap<Block, GangOp>,
    /// The heads of pieces, in the order in which diverged lanes run them.
    pub order: Vec<Block>,
    /// The head of each block's piece; `None` for handlers.
    pub head_of: Vec<Option<Block>>,
    /// Divergent values.
    pub varies: Vec<bool>,
    /// Integers that fit into 32 bits and are stored so; and those also computed so, where all operands fit and one is
    /// stored so.
    pub narrow: Vec<bool>,
    pub computed_narrow: Vec<bool>,
    /// Values that are recomputed where they are used.
    pub available: Vec<bool>,
    /// Live-in values by block, other than available ones.
    pub alive: Vec<Vec<Value>>,
    /// Headers of short loops with warp operations, which are unrolled.
    pub unroll: Vec<Block>,
    /// Whether lanes leave some loop in different iterations. Loops that may raise do not count: stand-alone threads
    /// run them as well.
    pub has_uneven: bool,
}

/// Whether a run-time function is executed by all lanes together.
pub(super) fn is_gang_op(f: &RuntimeFn) -> bool {
    f.waits & (waits::BLOCK | waits::WARP | waits::GRID) != 0
}

/// Splits these operations into blocks of their own.
pub(super) fn split_gang_ops(func: &mut Function) -> HashMap<Block, GangOp> {
    let mut found = HashMap::new();
    let mut i = 0;
    while i < func.blocks.len() {
        let is = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if is_gang_op(f));
        if !found.contains_key(&Block::new(i))
            && let Some(at) = func.blocks[i].insts.iter().position(is)
        {
            let (alone, resume) = (func.new_block(), func.new_block());
            let data = &mut func.blocks[i];
            let rest = data.insts.split_off(at + 1);
            let inst = data.insts.pop().unwrap_or_else(|| lh_ir::bug!("found above"));
            let (term, span, unwind, cold) = (data.term.take(), data.term_span, data.unwind.clone(), data.cold);
            data.term = Some(Term::Jump(crate::edit::to(alone, &[])));
            let next = &mut func.blocks[resume.index()];
            (next.insts, next.term, next.term_span, next.unwind, next.cold) = (rest, term, span, unwind.clone(), cold);
            let results = take_apart(func, &inst, alone);
            let own = &mut func.blocks[alone.index()];
            own.insts.insert(0, inst.clone());
            (own.term, own.unwind, own.cold) = (Some(Term::Jump(crate::edit::to(resume, &[]))), unwind, cold);
            found.insert(alone, GangOp { inst, results, resume });
        }
        i += 1;
    }
    found
}

/// Replaces the pair that a warp operation returns by two values.
fn take_apart(func: &mut Function, wait: &InstData, alone: Block) -> Vec<Value> {
    let Some(r) = wait.result else { return Vec::new() };
    if !func.ty(r).is_tuple() {
        return vec![r];
    }
    let parts = [func.new_value(Ty::int()), func.new_value(Ty::int())];
    let mut with = Replacements::new(func);
    for data in &mut func.blocks {
        data.insts.retain(|d| match (&d.inst, d.result) {
            (Inst::Field(v, k), Some(x)) if *v == r => {
                with.set(x, parts[*k as usize]);
                false
            }
            _ => true,
        });
    }
    with.apply(func);
    for (k, part) in parts.iter().enumerate() {
        let inst = Inst::Field(r, k as u32);
        func.blocks[alone.index()].insts.push(InstData { result: Some(*part), inst, span: wait.span });
    }
    parts.to_vec()
}

/// Plans a kernel whose waits are in blocks of their own. `narrow` are integers of 32 bits.
pub(super) fn plan(func: &Function, cfg: &Cfg, waits: HashMap<Block, GangOp>, mut narrow: Vec<bool>) -> Option<Pieces> {
    narrow.resize(func.values.len(), false);
    let dom = DomTree::new(cfg);
    let loops = Loops::new(func, cfg, &dom);
    let after = uniform::post_dominators(func, cfg);
    let available = liveness::available(func, cfg, true);
    let mut heads = fixed_heads(func, cfg, &loops, &waits);
    // A uniform instruction with effects must be at the head of a piece, which depends on divergence; others become
    // divergent.
    let mut spread: HashSet<Value> = HashSet::new();
    loop {
        let varies = varying(func, cfg, &spread);
        let diverged = divergence(func, cfg, &varies, &after);
        let mut all = heads.clone();
        if func.kernel.waits & waits::WARP != 0 {
            rejoin_after_sparse(func, cfg, &varies, &diverged, &after, &mut all);
        }
        let head_of = pieces(func, cfg, &varies, &diverged, &mut all);
        let is_shape = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if f.is_launch_shape());
        let late = |b: Block, d: &InstData| !is_speculative(&d.inst) && !is_shape(d) && head_of[b.index()] != Some(b);
        let more: Vec<Value> = cfg
            .rpo()
            .iter()
            .filter(|b| !waits.contains_key(b))
            .flat_map(|b| {
                let insts = &func.blocks[b.index()].insts;
                let found = insts.iter().filter(|d| late(*b, d)).filter_map(|d| d.result);
                found.filter(|r| !varies[r.index()]).collect::<Vec<_>>()
            })
            .collect();
        if !more.is_empty() {
            spread.extend(more);
            continue;
        }
        heads = all;
        let given: Vec<_> = waits.iter().flat_map(|(b, w)| w.results.iter().map(|r| (*r, *b))).collect();
        let alive = liveness::alive(func, cfg, &available, &given);
        let order = order(cfg, &loops, &heads, &waits);
        let leaves = |l: &lh_ir::cfg::Loop, b: &Block| match &func.blocks[b.index()].term {
            Some(Term::Branch { cond, then, els }) if varies[cond.index()] => {
                !l.blocks.contains(&then.block) || !l.blocks.contains(&els.block)
            }
            _ => false,
        };
        let raises = |b: &Block| func.blocks[b.index()].insts.iter().any(|d| d.inst.can_raise());
        let uneven = |l: &lh_ir::cfg::Loop| l.blocks.iter().any(|b| leaves(l, b)) && !l.blocks.iter().any(raises);
        let has_uneven = loops.loops.iter().any(uneven);
        let is_short = |l: &&lh_ir::cfg::Loop| {
            l.blocks.len() <= MAX_UNROLLED && l.blocks.iter().any(|b| waits.contains_key(b) && !diverged[b.index()])
        };
        let unroll = loops.loops.iter().filter(is_short).map(|l| l.header).collect();
        let computed_narrow = computed_narrow(func, cfg, &narrow);
        let plan =
            Pieces { waits, unroll, order, head_of, varies, narrow, computed_narrow, available, alive, has_uneven };
        return plan.is_scalar(func).then_some(plan);
    }
}

/// Divergent values; those in `spread` are computed for each lane.
pub(super) fn varying(func: &Function, cfg: &Cfg, spread: &HashSet<Value>) -> Vec<bool> {
    let constants: HashMap<Value, i64> = func.blocks.iter().flat_map(|b| &b.insts).filter_map(constant).collect();
    let once = |d: &InstData| d.result.is_none_or(|r| !spread.contains(&r)) && is_gang_level(func, d);
    uniform::varying(func, cfg, false, &once, &|d| is_vote_of_all(&d.inst, &constants))
}

fn constant(d: &InstData) -> Option<(Value, i64)> {
    match d.inst {
        Inst::Const(Const::Int(n, _)) => Some((d.result?, i64::try_from(n).ok()?)),
        _ => None,
    }
}

/// Whether an instruction is a vote of all 32 lanes, with a uniform result.
fn is_vote_of_all(inst: &Inst, constants: &HashMap<Value, i64>) -> bool {
    const ALL_LANES: i64 = (1 << GANG) - 1;
    let Inst::Runtime(f, args) = inst else { return false };
    let is = |i: usize, of: &dyn Fn(i64) -> bool| args.get(i).and_then(|v| constants.get(v)).is_some_and(|n| of(*n));
    f.role == Role::Warp(Warp::Exchange)
        && is(1, &|k| (warp::ALL..=warp::BALLOT).contains(&k))
        && is(2, &|m| m == ALL_LANES)
}

/// The heads that do not depend on divergence.
fn fixed_heads(func: &Function, cfg: &Cfg, loops: &Loops, waits: &HashMap<Block, GangOp>) -> Vec<bool> {
    let mut heads = vec![false; func.blocks.len()];
    heads[0] = true;
    for (b, w) in waits {
        (heads[b.index()], heads[w.resume.index()]) = (true, true);
    }
    for l in &loops.loops {
        heads[l.header.index()] = true;
    }
    for b in cfg.rpo() {
        for (n, t) in targets(func, *b) {
            let inside = |x: Block| loops.innermost[x.index()];
            let leaves = |l: usize| !loops.loops[l].blocks.contains(&t.block);
            if n.is_some() && inside(*b).is_some_and(leaves) {
                heads[t.block.index()] = true;
            }
        }
    }
    heads
}

/// Whether an instruction with uniform operands can run once for all lanes.
fn is_gang_level(func: &Function, d: &InstData) -> bool {
    match &d.inst {
        Inst::Runtime(f, _) if is_gang_op(f) || f.is_launch_shape() => true,
        Inst::Call(spec, args) => {
            let passes = |v: &Value| func.ty(*v).is_number() || func.ty(*v).flatten().is_empty();
            waits_of_call(func, *spec) & (waits::VARIES | waits::EFFECTS) == 0 && args[HANDED..].iter().all(passes)
        }
        Inst::Load(_) | Inst::Take(_) | Inst::SlotGet(_) => false,
        Inst::Op(..) => true,
        inst => is_speculative(inst),
    }
}

/// Starts a new piece where a sparse path joins the common one, so that all lanes run that converged.
fn rejoin_after_sparse(
    func: &Function,
    cfg: &Cfg,
    varies: &[bool],
    diverged: &[bool],
    after: &[Vec<bool>],
    heads: &mut [bool],
) {
    for b in cfg.rpo() {
        if !heads[b.index()] || diverged[b.index()] {
            continue;
        }
        let data = &func.blocks[b.index()];
        let plain =
            || data.insts.iter().all(|d| is_speculative(&d.inst) || d.result.is_some_and(|r| !varies[r.index()]));
        if let Some(few) = sparse_path(func, *b)
            && varies[few.cond.index()]
            && after[few.guarded.index()][few.other.index()]
            && plain()
        {
            heads[few.other.index()] = true;
        }
    }
}

/// A branch to a sparse path, which few lanes take.
#[derive(Clone, Copy)]
pub(super) struct Sparse {
    pub at: Block,
    pub cond: Value,
    /// The compared values.
    pub sides: [Value; 2],
    /// The targets of the sparse path and of the common one.
    pub guarded: Block,
    pub other: Block,
}

/// Recognises a branch on equality of two numbers.
pub(super) fn sparse_path(func: &Function, b: Block) -> Option<Sparse> {
    if is_off("gangs.sparse_lanes") {
        return None;
    }
    let data = &func.blocks[b.index()];
    let Some(Term::Branch { cond, then, els }) = &data.term else { return None };
    let def = data.insts.iter().find(|d| d.result == Some(*cond))?;
    let Inst::Op(op, args) = &def.inst else { return None };
    let (guarded, other) = match op.comparison()? {
        Cmp::Eq => (then.block, els.block),
        Cmp::Ne => (els.block, then.block),
        Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge => return None,
    };
    (guarded != other).then(|| Sparse { at: b, cond: *cond, sides: [args[0], args[1]], guarded, other })
}

/// Assigns blocks to pieces; a block reached from several pieces becomes a head.
fn pieces(func: &Function, cfg: &Cfg, varies: &[bool], diverged: &[bool], heads: &mut [bool]) -> Vec<Option<Block>> {
    for b in cfg.rpo() {
        if let Some(Term::Branch { cond, then, els }) = &func.blocks[b.index()].term
            && !varies[cond.index()]
            && !diverged[b.index()]
        {
            (heads[then.block.index()], heads[els.block.index()]) = (true, true);
        }
    }
    let mut of: Vec<Option<Block>> = vec![None; func.blocks.len()];
    for b in cfg.rpo() {
        let mut froms = cfg.preds(*b).iter().filter(|e| e.target.is_some()).map(|e| of[e.from.index()]);
        let first = froms.next();
        of[b.index()] = match first {
            _ if heads[b.index()] => Some(*b),
            // A handler.
            None => None,
            Some(piece) if froms.all(|p| p == piece) => piece,
            Some(_) => {
                heads[b.index()] = true;
                Some(*b)
            }
        };
    }
    of
}

/// The order of dispatch: predecessors before successors, a loop's header after its body, so that lanes wait there for
/// others, and barriers of the block last.
fn order(cfg: &Cfg, loops: &Loops, heads: &[bool], waits: &HashMap<Block, GangOp>) -> Vec<Block> {
    let mut order: Vec<Block> = cfg.rpo().iter().copied().filter(|b| heads[b.index()]).collect();
    for l in loops.loops.iter().rev() {
        let Some(from) = order.iter().position(|b| *b == l.header) else { continue };
        let Some(last) = order.iter().rposition(|b| l.blocks.contains(b)) else { continue };
        order[from..=last].rotate_left(1);
    }
    let is_sync = |b: &Block| {
        let block = |w: &GangOp| matches!(&w.inst.inst, Inst::Runtime(f, _) if f.is_barrier());
        waits.get(b).is_some_and(block)
    };
    let (syncs, mut rest): (Vec<Block>, Vec<Block>) = order.into_iter().partition(is_sync);
    rest.extend(syncs);
    rest
}

impl Pieces {
    /// Whether all values that cross pieces are scalars.
    fn is_scalar(&self, func: &Function) -> bool {
        self.order.iter().flat_map(|h| self.needs(func, *h)).all(|v| is_number(func, v))
    }
    /// The blocks of a piece in reverse postorder.
    pub(super) fn blocks(&self, cfg: &Cfg, head: Block) -> Vec<Block> {
        cfg.rpo().iter().copied().filter(|b| self.head_of[b.index()] == Some(head)).collect()
    }
    /// The first common post-dominator among the pieces.
    pub(super) fn join(&self, func: &Function, cfg: &Cfg, goals: &[Block]) -> Option<Block> {
        let after = uniform::post_dominators(func, cfg);
        let mut common = self.order.iter().filter(|h| goals.iter().all(|g| after[g.index()][h.index()]));
        // The candidate that all others post-dominate. In a loop they may post-dominate each other; then the first in
        // order.
        common
            .clone()
            .copied()
            .find(|h| common.clone().all(|o| o == h || after[h.index()][o.index()] && !after[o.index()][h.index()]))
            .or_else(|| common.next().copied())
    }
    /// The pieces that lanes can enter before they reach the join, in order.
    pub(super) fn reachable(&self, func: &Function, goals: &[Block], join: Option<Block>) -> Vec<Block> {
        let mut seen: HashSet<Block> = HashSet::new();
        let mut work: Vec<Block> = goals.to_vec();
        while let Some(h) = work.pop() {
            if Some(h) == join || !seen.insert(h) {
                continue;
            }
            for (b, _) in self.head_of.iter().enumerate().filter(|(_, of)| **of == Some(h)) {
                let ways = targets(func, Block::new(b)).filter(|(n, _)| n.is_some());
                work.extend(ways.map(|(_, t)| t.block).filter(|t| self.order.contains(t)));
            }
        }
        self.order.iter().copied().filter(|h| seen.contains(h)).collect()
    }
    /// The position of a head in the order.
    pub(super) fn number(&self, head: Block) -> i64 {
        self.order.iter().position(|b| *b == head).unwrap_or_else(|| lh_ir::bug!("{head} is no head")) as i64
    }
    /// The live-in values of a piece: parameters of its head, and others.
    pub(super) fn needs(&self, func: &Function, head: Block) -> Vec<Value> {
        let params = func.blocks[head.index()].params.iter().copied().filter(|_| head.index() != 0);
        let all = params.chain(self.alive[head.index()].iter().copied());
        all.filter(|v| !func.ty(*v).flatten().is_empty()).collect()
    }
}

/// Operations that are computed in 32 bits.
fn computed_narrow(func: &Function, cfg: &Cfg, narrow: &[bool]) -> Vec<bool> {
    let mut computed = vec![false; func.values.len()];
    for b in cfg.rpo().iter().skip(1) {
        let data = &func.blocks[b.index()];
        data.params.iter().for_each(|p| computed[p.index()] = narrow[p.index()]);
        for d in &data.insts {
            let (Some(r), Inst::Op(op, args)) = (d.result, &d.inst) else { continue };
            let fits = match op.algebra {
                Algebra::Add | Algebra::Sub | Algebra::Mul => narrow[r.index()],
                Algebra::Cmp(_) => true,
                _ => false,
            };
            let some = args.iter().any(|a| computed[a.index()]);
            computed[r.index()] = fits && some && args.iter().all(|a| narrow[a.index()]);
        }
    }
    computed
}

/// Whether a value is a scalar or an address.
fn is_number(func: &Function, v: Value) -> bool {
    let ty = func.ty(v);
    !ty.is_counted() && !ty.is_array() && ty.flatten().len() == 1
}
