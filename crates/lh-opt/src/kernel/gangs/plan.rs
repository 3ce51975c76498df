//! What is known of a kernel before it is written for gangs: where lanes have to be together, and what goes on between.

use crate::analysis::classify::is_speculative;
use crate::analysis::device::{HANDED, is_block_sync, is_geometry, waits_of_call};
use crate::analysis::uniform::divergence;
use crate::analysis::{liveness, uniform};
use crate::edit::Replacements;
use lh_ir::cfg::{Cfg, DomTree, Loops, targets};
use lh_ir::func::{GANG, Inst, InstData, Term, waits};
use lh_ir::switches::is_off;
use lh_ir::{Block, Const, Function, Ty, Value};
use lh_ops::warp;
use std::collections::{HashMap, HashSet};

/// Loops of more blocks are left as loops.
const MOST_OF_A_ROUND: usize = 16;

/// An operation that the lanes of a gang do together, in a block of its own.
#[derive(Clone, Debug)]
pub(super) struct Wait {
    pub inst: InstData,
    /// What it gives: of an operation of a warp two numbers.
    pub results: Vec<Value>,
    /// Where lanes go on.
    pub resume: Block,
}

/// The function as pieces: each begins at its head, the only way in, and is left for heads of others. Inside there are no
/// loops, and nothing that lanes do together.
pub(super) struct Plan {
    pub waits: HashMap<Block, Wait>,
    /// The heads, in the order in which lanes that have gone different ways are served.
    pub order: Vec<Block>,
    /// The head of the piece that a block belongs to; `None` for handlers.
    pub head_of: Vec<Option<Block>>,
    /// Values that differ between lanes.
    pub varies: Vec<bool>,
    /// Integers that 32 bits hold, which lanes keep in so many, and compute with where all operands are such and some are kept.
    pub narrow: Vec<bool>,
    pub computed_narrow: Vec<bool>,
    /// Values that are computed where they are needed.
    pub available: Vec<bool>,
    /// Values that are needed from the start of a block on and not available.
    pub alive: Vec<Vec<Value>>,
    /// Where short loops begin in which lanes exchange values.
    pub rounds: Vec<Block>,
    /// Whether lanes leave a loop at different times in which none may raise: what each looks for by itself is done by threads.
    pub has_uneven_loops: bool,
}

/// Whether a run-time function is for the lanes of a gang together.
pub(super) fn is_wait(name: &str) -> bool {
    is_block_sync(name) || matches!(name, "lh_cuda_grid_sync" | "lh_cuda_warp" | "lh_cuda_activemask" | "lh_cuda_pause")
}

/// Puts such operations into blocks of their own.
pub(super) fn split_waits(func: &mut Function) -> HashMap<Block, Wait> {
    let mut found = HashMap::new();
    let mut i = 0;
    while i < func.blocks.len() {
        let is = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if is_wait(f.name));
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
            found.insert(alone, Wait { inst, results, resume });
        }
        i += 1;
    }
    found
}

/// The two numbers that an operation of a warp gives are values of their own.
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

/// What to do with a kernel, whose waits are in blocks of their own. Some counters are `alike`, some integers `narrow`.
pub(super) fn plan(
    func: &Function,
    cfg: &Cfg,
    waits: HashMap<Block, Wait>,
    alike: &HashSet<Value>,
    mut narrow: Vec<bool>,
) -> Option<Plan> {
    narrow.resize(func.values.len(), false);
    let dom = DomTree::new(cfg);
    let loops = Loops::new(func, cfg, &dom);
    let after = uniform::post_dominators(func, cfg);
    let available = liveness::available(func, cfg, true);
    let mut heads = fixed_heads(func, cfg, &loops, &waits);
    // Instructions that are computed once for a gang must be on the way of all its lanes, which depends on what varies.
    let mut spread: HashSet<Value> = HashSet::new();
    loop {
        let varies = varying(func, cfg, alike, &spread);
        let diverged = divergence(func, cfg, &varies, &after);
        let mut all = heads.clone();
        if func.kernel.waits & waits::WARP != 0 {
            part_after_few(func, cfg, &varies, &diverged, &after, &mut all);
        }
        let head_of = pieces(func, cfg, &varies, &diverged, &mut all);
        let is_shape = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if is_geometry(f.name));
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
        let has_uneven_loops = loops.loops.iter().any(uneven);
        let is_short = |l: &&lh_ir::cfg::Loop| {
            l.blocks.len() <= MOST_OF_A_ROUND && l.blocks.iter().any(|b| waits.contains_key(b) && !diverged[b.index()])
        };
        let rounds = loops.loops.iter().filter(is_short).map(|l| l.header).collect();
        let computed_narrow = computed_narrow(func, cfg, &narrow);
        let plan =
            Plan { waits, rounds, order, head_of, varies, narrow, computed_narrow, available, alive, has_uneven_loops };
        return plan.is_simple(func).then_some(plan);
    }
}

/// Values that differ between lanes. Those in `spread` are computed for each.
pub(super) fn varying(func: &Function, cfg: &Cfg, alike: &HashSet<Value>, spread: &HashSet<Value>) -> Vec<bool> {
    let constants: HashMap<Value, i64> = func.blocks.iter().flat_map(|b| &b.insts).filter_map(constant).collect();
    let once = |d: &InstData| d.result.is_none_or(|r| !spread.contains(&r)) && is_gang_level(func, d);
    uniform::varying(func, cfg, false, alike, &once, &|d| is_vote_of_all(&d.inst, &constants))
}

fn constant(d: &InstData) -> Option<(Value, i64)> {
    match d.inst {
        Inst::Const(Const::Int(n, _)) => Some((d.result?, i64::try_from(n).ok()?)),
        _ => None,
    }
}

/// Whether an instruction asks all lanes whether something is true, which gives them the same.
fn is_vote_of_all(inst: &Inst, constants: &HashMap<Value, i64>) -> bool {
    const ALL_LANES: i64 = (1 << GANG) - 1;
    let Inst::Runtime(f, args) = inst else { return false };
    let is = |i: usize, of: &dyn Fn(i64) -> bool| args.get(i).and_then(|v| constants.get(v)).is_some_and(|n| of(*n));
    f.name == "lh_cuda_warp" && is(1, &|k| (warp::ALL..=warp::BALLOT).contains(&k)) && is(2, &|m| m == ALL_LANES)
}

/// Blocks that are heads whatever varies.
fn fixed_heads(func: &Function, cfg: &Cfg, loops: &Loops, waits: &HashMap<Block, Wait>) -> Vec<bool> {
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

/// Whether an instruction may be computed once for all lanes, if its operands are the same for them.
fn is_gang_level(func: &Function, d: &InstData) -> bool {
    match &d.inst {
        Inst::Runtime(f, _) if is_wait(f.name) || is_geometry(f.name) => true,
        Inst::Call(spec, args) => {
            let passes = |v: &Value| func.ty(*v).is_number() || func.ty(*v).flatten().is_empty();
            waits_of_call(func, *spec) & (waits::VARIES | waits::EFFECTS) == 0 && args[HANDED..].iter().all(passes)
        }
        Inst::Load(_) | Inst::Take(_) | Inst::SlotGet(_) => false,
        Inst::Op(..) => true,
        inst => is_speculative(inst),
    }
}

/// Where few lanes do something on their own, the others go on with the next piece, for all of them again.
fn part_after_few(
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
        if let Some(few) = few(func, *b)
            && varies[few.cond.index()]
            && after[few.guarded.index()][few.other.index()]
            && plain()
        {
            heads[few.other.index()] = true;
        }
    }
}

/// A branch that few lanes take.
#[derive(Clone, Copy)]
pub(super) struct Few {
    pub at: Block,
    pub cond: Value,
    /// What is compared.
    pub sides: [Value; 2],
    /// Where they go, and where the others do.
    pub guarded: Block,
    pub other: Block,
}

/// Whether a block ends in a branch for those for which two numbers are equal.
pub(super) fn few(func: &Function, b: Block) -> Option<Few> {
    if is_off("gangs.sparse_lanes") {
        return None;
    }
    let data = &func.blocks[b.index()];
    let Some(Term::Branch { cond, then, els }) = &data.term else { return None };
    let def = data.insts.iter().find(|d| d.result == Some(*cond))?;
    let Inst::Op(op, args) = &def.inst else { return None };
    let (guarded, other) = match op.name {
        "eq" => (then.block, els.block),
        "ne" => (els.block, then.block),
        _ => return None,
    };
    (guarded != other).then(|| Few { at: b, cond: *cond, sides: [args[0], args[1]], guarded, other })
}

/// Gives every block its piece, making heads of blocks that belong to none or to several.
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

/// Heads in the order in which they are served: what may lead to a piece comes before it; a loop's beginning comes after what
/// is in the loop, so that lanes wait there for others; what the block waits for comes last.
fn order(cfg: &Cfg, loops: &Loops, heads: &[bool], waits: &HashMap<Block, Wait>) -> Vec<Block> {
    let mut order: Vec<Block> = cfg.rpo().iter().copied().filter(|b| heads[b.index()]).collect();
    for l in loops.loops.iter().rev() {
        let Some(from) = order.iter().position(|b| *b == l.header) else { continue };
        let Some(last) = order.iter().rposition(|b| l.blocks.contains(b)) else { continue };
        order[from..=last].rotate_left(1);
    }
    let is_sync = |b: &Block| {
        let block = |w: &Wait| matches!(&w.inst.inst, Inst::Runtime(f, _) if is_block_sync(f.name) || f.name == "lh_cuda_grid_sync");
        waits.get(b).is_some_and(block)
    };
    let (syncs, mut rest): (Vec<Block>, Vec<Block>) = order.into_iter().partition(is_sync);
    rest.extend(syncs);
    rest
}

impl Plan {
    /// Whether everything that is kept is a number.
    fn is_simple(&self, func: &Function) -> bool {
        self.order.iter().flat_map(|h| self.needs(func, *h)).all(|v| is_number(func, v))
    }
    /// Blocks of a piece in order.
    pub(super) fn blocks(&self, cfg: &Cfg, head: Block) -> Vec<Block> {
        cfg.rpo().iter().copied().filter(|b| self.head_of[b.index()] == Some(head)).collect()
    }
    /// The first piece that all lanes come to who go to some.
    pub(super) fn join(&self, func: &Function, cfg: &Cfg, goals: &[Block]) -> Option<Block> {
        let after = uniform::post_dominators(func, cfg);
        let mut common = self.order.iter().filter(|h| goals.iter().all(|g| after[g.index()][h.index()]));
        // Of those the one that the others come after; in a loop, the one before which the others do not come.
        common
            .clone()
            .copied()
            .find(|h| common.clone().all(|o| o == h || after[h.index()][o.index()] && !after[o.index()][h.index()]))
            .or_else(|| common.next().copied())
    }
    /// The pieces that lanes can come to before one, in order.
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
    /// Number of a head in the order.
    pub(super) fn number(&self, head: Block) -> i64 {
        self.order.iter().position(|b| *b == head).unwrap_or_else(|| lh_ir::bug!("{head} is no head")) as i64
    }
    /// Values that a piece finds when it begins: parameters of its head, and what else is needed.
    pub(super) fn needs(&self, func: &Function, head: Block) -> Vec<Value> {
        let params = func.blocks[head.index()].params.iter().copied().filter(|_| head.index() != 0);
        let all = params.chain(self.alive[head.index()].iter().copied());
        all.filter(|v| !func.ty(*v).flatten().is_empty()).collect()
    }
}

/// Instructions that are for integers of 32 bits.
fn computed_narrow(func: &Function, cfg: &Cfg, narrow: &[bool]) -> Vec<bool> {
    let mut computed = vec![false; func.values.len()];
    for b in cfg.rpo().iter().skip(1) {
        let data = &func.blocks[b.index()];
        data.params.iter().for_each(|p| computed[p.index()] = narrow[p.index()]);
        for d in &data.insts {
            let (Some(r), Inst::Op(op, args)) = (d.result, &d.inst) else { continue };
            let fits = match op.name {
                "add" | "sub" | "mul" => narrow[r.index()],
                "lt" | "le" | "gt" | "ge" | "eq" | "ne" => true,
                _ => false,
            };
            let some = args.iter().any(|a| computed[a.index()]);
            computed[r.index()] = fits && some && args.iter().all(|a| narrow[a.index()]);
        }
    }
    computed
}

/// Whether a value is one number, or an address.
fn is_number(func: &Function, v: Value) -> bool {
    let ty = func.ty(v);
    !ty.is_counted() && !ty.is_array() && ty.flatten().len() == 1
}
