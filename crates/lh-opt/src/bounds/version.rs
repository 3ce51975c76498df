//! Copies a nest.

use super::linear::{Leaf, Linear, MAX_LEAF};
use super::{Access, Facts, Plan};
use crate::edit::{Cursor, to};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, DomTree, Loop, targets};
use lh_ir::func::{BlockData, Inst, Target, Term};
use lh_ir::{Block, Function, Ty, Value};

/// Whether a loop can be copied: every use behind it lies behind one of its ways out, where both copies meet.
pub(super) fn can_copy(facts: &Facts<'_>, l: usize) -> bool {
    let (func, l) = (facts.func, &facts.loops.loops[l]);
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let here = defined(func, &inside);
    let exits = exits(func, l, &inside);
    let mut fine = true;
    for b in facts.cfg.rpo().iter().filter(|b| !inside.contains(*b)) {
        for_each_use(func, *b, &mut |v| fine &= !here.contains(&v) || exit_of(facts.dom, &exits, *b).is_some());
        // The header is entered from outside by normal edges only.
        fine &= func.blocks[b.index()].unwind.as_ref().is_none_or(|t| t.block != l.header);
    }
    fine
}

/// Blocks outside that edges of a loop lead to.
fn exits(func: &Function, l: &Loop, inside: &HashSet<Block>) -> Vec<Block> {
    let mut out = Vec::new();
    for (_, t) in l.blocks.iter().flat_map(|b| targets(func, *b)) {
        if !inside.contains(&t.block) && !out.contains(&t.block) {
            out.push(t.block);
        }
    }
    out
}

fn exit_of(dom: &DomTree, exits: &[Block], b: Block) -> Option<Block> {
    exits.iter().copied().find(|e| dom.dominates(*e, b))
}

fn defined(func: &Function, blocks: &HashSet<Block>) -> HashSet<Value> {
    let mut out = HashSet::new();
    for b in blocks {
        let data = &func.blocks[b.index()];
        out.extend(data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)));
    }
    out
}

/// Uses in a block.
fn for_each_use(func: &Function, b: Block, f: &mut dyn FnMut(Value)) {
    let data = &func.blocks[b.index()];
    data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut *f));
    for (_, t) in targets(func, b) {
        t.args.iter().for_each(|v| f(*v));
    }
    match &data.term {
        Some(Term::Branch { cond: v, .. } | Term::Return(v)) => f(*v),
        Some(Term::Raise { args, .. }) => args.iter().for_each(|v| f(*v)),
        Some(Term::Jump(_) | Term::Propagate | Term::Unreachable) | None => {}
    }
}

/// Copies a nest, without the checks of the plan, and puts the choice before it. Answers what the nest's values are
/// called behind its ways out.
pub(super) fn version(func: &mut Function, cfg: &Cfg, dom: &DomTree, l: &Loop, plan: &Plan) -> Renamed {
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let renamed = meet_behind(func, cfg, dom, l, &inside);
    let entrance = choice_block(func, cfg, l, &inside);
    let copied_header = copy(func, &l.blocks, &plan.accesses)[&l.header];
    // What is left of the original raises, or looks at negative indices.
    l.blocks.iter().for_each(|b| func.blocks[b.index()].cold = true);
    let params = func.blocks[entrance.index()].params.clone();
    let span = func.blocks[l.header.index()].term_span;
    let mut c = Cursor { func, block: entrance, span, unwind: None, cold: false };
    let cond = condition(&mut c, plan);
    let term = Term::Branch { cond, then: to(copied_header, &params), els: to(l.header, &params) };
    c.end(term, entrance);
    renamed
}

/// New names of values, each behind one way out.
#[derive(Default)]
pub(super) struct Renamed(Vec<(Block, HashMap<Value, Value>)>);

impl Renamed {
    /// What a value is called in a block.
    pub(super) fn get(&self, dom: &DomTree, b: Block, v: Value) -> Value {
        let of =
            |(exit, names): &(Block, HashMap<Value, Value>)| names.get(&v).copied().filter(|_| dom.dominates(*exit, b));
        self.0.iter().find_map(of).unwrap_or(v)
    }
}

/// Puts a block before every way out behind which values of the nest are used. Its parameters are those values.
fn meet_behind(func: &mut Function, cfg: &Cfg, dom: &DomTree, l: &Loop, inside: &HashSet<Block>) -> Renamed {
    let here = defined(func, inside);
    let exits = exits(func, l, inside);
    let mut needed: HashMap<Block, Vec<Value>> = HashMap::new();
    let outside: Vec<Block> = cfg.rpo().iter().copied().filter(|b| !inside.contains(b)).collect();
    for &b in &outside {
        let Some(exit) = exit_of(dom, &exits, b) else { continue };
        for_each_use(func, b, &mut |v| {
            let list = needed.entry(exit).or_default();
            if here.contains(&v) && !list.contains(&v) {
                list.push(v);
            }
        });
    }
    let mut renamed = Renamed::default();
    for exit in exits {
        let Some(values) = needed.remove(&exit).filter(|v| !v.is_empty()) else { continue };
        let old = func.blocks[exit.index()].params.clone();
        let meeting = func.new_block();
        let params: Vec<Value> = old
            .iter()
            .chain(&values)
            .map(|v| func.ty(*v))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|t| func.new_value(t))
            .collect();
        for b in &l.blocks {
            let data = &mut func.blocks[b.index()];
            for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten().chain(&mut data.unwind) {
                if t.block == exit {
                    t.block = meeting;
                    t.args.extend(&values);
                }
            }
        }
        let names = values.into_iter().zip(params[old.len()..].iter().copied()).collect();
        let data = &mut func.blocks[meeting.index()];
        data.term = Some(Term::Jump(to(exit, &params[..old.len()])));
        data.params = params;
        renamed.0.push((exit, names));
    }
    for b in outside {
        let mut f = |v: &mut Value| *v = renamed.get(dom, b, *v);
        let data = &mut func.blocks[b.index()];
        data.insts.iter_mut().for_each(|d| d.inst.for_each_operand_mut(&mut f));
        if let Some(t) = &mut data.unwind {
            t.args.iter_mut().for_each(&mut f);
        }
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut f);
        }
    }
    renamed
}

/// A new block that takes over the ways into the loop.
fn choice_block(func: &mut Function, cfg: &Cfg, l: &Loop, inside: &HashSet<Block>) -> Block {
    let tys: Vec<Ty> = func.blocks[l.header.index()].params.iter().map(|p| func.ty(*p)).collect();
    let entrance = func.new_block();
    func.blocks[entrance.index()].params = tys.into_iter().map(|t| func.new_value(t)).collect();
    for b in (0..func.blocks.len()).map(Block::new) {
        // Blocks made by copying another nest are outside of this one.
        if b == entrance || inside.contains(&b) || (cfg_knows(cfg, b) && !cfg.is_reachable(b)) {
            continue;
        }
        for t in func.blocks[b.index()].term.as_mut().map(Term::targets_mut).into_iter().flatten() {
            if t.block == l.header {
                t.block = entrance;
            }
        }
    }
    entrance
}

fn cfg_knows(cfg: &Cfg, b: Block) -> bool {
    b.index() < cfg.len()
}

struct Copies {
    blocks: HashMap<Block, Block>,
    values: HashMap<Value, Value>,
}

fn copy(func: &mut Function, blocks: &[Block], unchecked: &[Access]) -> HashMap<Block, Block> {
    let mut copies = Copies { blocks: HashMap::new(), values: HashMap::new() };
    for b in blocks {
        let new = func.new_block();
        copies.blocks.insert(*b, new);
        let data = &func.blocks[b.index()];
        let old: Vec<Value> = data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)).collect();
        for v in old {
            let ty = func.ty(v);
            let new = func.new_value(ty);
            copies.values.insert(v, new);
        }
    }
    let mut free: HashSet<(Block, usize)> = HashSet::new();
    free.extend(unchecked.iter().map(|a| (a.0, a.1)));
    for b in blocks {
        let mut data = func.blocks[b.index()].clone();
        for (i, d) in data.insts.iter_mut().enumerate() {
            if let (Inst::ElemPtr { wrap, check, .. }, true) = (&mut d.inst, free.contains(&(*b, i))) {
                (*wrap, *check) = (false, false);
            }
        }
        copies.rename(&mut data);
        func.blocks[copies.blocks[b].index()] = data;
    }
    copies.blocks
}

impl Copies {
    fn value(&self, v: Value) -> Value {
        self.values.get(&v).copied().unwrap_or(v)
    }
    fn rename(&self, data: &mut BlockData) {
        let target = |t: &mut Target| {
            t.block = self.blocks.get(&t.block).copied().unwrap_or(t.block);
        };
        data.params.iter_mut().for_each(|v| *v = self.value(*v));
        for d in &mut data.insts {
            d.result = d.result.map(|v| self.value(v));
            d.inst.for_each_operand_mut(&mut |v| *v = self.value(*v));
        }
        if let Some(t) = &mut data.term {
            t.for_each_operand_mut(&mut |v| *v = self.value(*v));
            t.targets_mut().into_iter().for_each(target);
        }
        if let Some(t) = &mut data.unwind {
            t.args.iter_mut().for_each(|v| *v = self.value(*v));
            target(t);
        }
    }
}

/// Whether no condition of a plan is negative, with leaves small enough for that to mean what it says.
fn condition(c: &mut Cursor<'_>, plan: &Plan) -> Value {
    let mut leaves: HashMap<Leaf, Value> = HashMap::new();
    let mut all = None;
    let mut require = |c: &mut Cursor<'_>, v: Value| all = Some(all.map_or(v, |a| c.and(a, v)));
    let (min, max) = (c.int(-MAX_LEAF), c.int(MAX_LEAF));
    for &leaf in &plan.leaves {
        let v = match leaf {
            Leaf::Value(v) => v,
            Leaf::Shape(a, d) => c.inst(Inst::ArrayShape(a, d), Ty::int()),
        };
        leaves.insert(leaf, v);
        if matches!(leaf, Leaf::Value(_)) {
            let low = c.lt(min, v);
            require(c, low);
        }
        let high = c.lt(v, max);
        require(c, high);
    }
    for l in &plan.conditions {
        let v = compute(c, l, &leaves);
        let zero = c.int(0);
        let fine = c.le(zero, v);
        require(c, fine);
    }
    all.expect("a plan has conditions")
}

fn compute(c: &mut Cursor<'_>, l: &Linear, leaves: &HashMap<Leaf, Value>) -> Value {
    let mut sum = if l.constant == 0 { None } else { Some(c.int(l.constant)) };
    // What is added comes first, so that most sums begin without a zero.
    let positive = l.terms.iter().filter(|t| t.1 > 0);
    for (leaf, k) in positive.chain(l.terms.iter().filter(|t| t.1 < 0)) {
        let mut term = leaves[leaf];
        if k.abs() != 1 {
            let k = c.int(k.abs());
            term = c.mul(k, term);
        }
        sum = Some(match sum {
            None if *k > 0 => term,
            None => {
                let zero = c.int(0);
                c.sub(zero, term)
            }
            Some(s) if *k > 0 => c.add(s, term),
            Some(s) => c.sub(s, term),
        });
    }
    sum.unwrap_or_else(|| c.int(0))
}
