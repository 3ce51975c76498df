//! Loop versioning: copies of a loop nest, one of which a condition before them chooses.
//!
//! ```text
//! before: jump header(v1)              before: jump entrance(v1)
//! header(i): ...                ->     entrance(v2): branch <condition>, copy(v2), header(v2)
//! exit: <uses values of the nest>      header(i): ...              ; both versions leave to a block that passes
//!                                      copy(i'): ...               ; the values of the nest as parameters to `exit`
//! ```

use crate::analysis::facts::{Facts, InstRef, Users};
use crate::analysis::linear::{Leaf, Linear, MAX_FACTOR, MAX_LEAF};
use crate::edit::{Cursor, to};
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, DomTree, Loop, targets};
use lh_ir::func::{BlockData, Inst, Target, Term};
use lh_ir::{Block, Function, Ty, Value};

/// Whether a loop can be versioned: every use after it is dominated by one of its exits, where both versions meet.
pub(crate) fn can_copy(facts: &Facts<'_>, l: usize) -> bool {
    let (func, l) = (facts.func, &facts.loops.loops[l]);
    let inside: HashSet<Block> = l.blocks.iter().copied().collect();
    let exits = exits(func, l, &inside);
    // An exit with a predecessor outside of the loop has no value of either version on that edge.
    let whole = |e: Block| facts.cfg.preds(e).iter().all(|p| inside.contains(&p.from));
    let meets = |v| facts.users.outside(v, &inside).all(|b| exit_of(facts.dom, &exits, b).is_some_and(whole));
    // The header is entered from outside by normal edges only.
    let enters = facts.cfg.preds(l.header).iter().all(|e| e.target.is_some() || inside.contains(&e.from));
    enters && defined(func, &l.blocks).all(meets)
}

/// Exit blocks: blocks outside of a loop to which its edges lead.
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

fn defined<'a>(func: &'a Function, blocks: &'a [Block]) -> impl Iterator<Item = Value> + 'a {
    blocks.iter().flat_map(|b| func.blocks[b.index()].defined())
}

/// The values of a loop that keep the memory at an address, which is a value of the loop, alive; none of other values.
fn owners(func: &Function, l: &Loop, address: Value) -> Vec<Value> {
    let (mut found, mut work) = (Vec::new(), vec![address]);
    if func.ty(address) != Ty::ptr() {
        return found;
    }
    let insts = || l.blocks.iter().flat_map(|b| &func.blocks[b.index()].insts);
    while let Some(v) = work.pop() {
        match insts().find(|d| d.result == Some(v)).map(|d| &d.inst) {
            Some(
                Inst::ArrayData(of)
                | Inst::ItemsData(of)
                | Inst::FieldPtr(of, _)
                | Inst::PtrAdd(of, _)
                | Inst::Field(of, _)
                | Inst::Some(of)
                | Inst::Unwrap(of)
                | Inst::ArrayOwner(of),
            ) => work.push(*of),
            Some(Inst::ElemPtr { array, .. }) => work.push(*array),
            Some(Inst::ArrayMake { owner, data, .. }) => work.extend([*owner, *data]),
            Some(Inst::Pack(parts)) => work.extend(parts),
            Some(made) => {
                if let Inst::Load(of) = made {
                    work.push(*of);
                }
                if func.ty(v).is_counted() {
                    found.push(v);
                }
            }
            // Beside an address that is a parameter stands its owner.
            None => {
                let block = l.blocks.iter().find(|b| func.blocks[b.index()].params.contains(&v));
                let beside = block.into_iter().flat_map(|b| &func.blocks[b.index()].params);
                found.extend(beside.filter(|p| func.ty(**p).is_counted()));
            }
        }
    }
    found
}

/// Versioning of several nests of a function.
pub(crate) struct Versions<'a> {
    pub func: &'a mut Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    users: &'a Users,
    /// New predecessors of old blocks.
    new_preds: HashMap<Block, Vec<Block>>,
}

/// A nest that has been copied.
pub(crate) struct Duplicate {
    /// New names of its values after its exits.
    pub renamed: Renamed,
    /// The block that has replaced the header on entering edges; its parameters are those of the header, its
    /// terminator is missing.
    pub entrance: Block,
    pub copies: CopyMap,
}

/// New names of values, for each exit of a nest.
#[derive(Default)]
pub(crate) struct Renamed(Vec<(Block, HashMap<Value, Value>)>);

impl Renamed {
    /// The name of a value in a block.
    pub(crate) fn get(&self, dom: &DomTree, b: Block, v: Value) -> Value {
        let of =
            |(exit, names): &(Block, HashMap<Value, Value>)| names.get(&v).copied().filter(|_| dom.dominates(*exit, b));
        self.0.iter().find_map(of).unwrap_or(v)
    }
}

impl<'a> Versions<'a> {
    pub(crate) fn new(func: &'a mut Function, cfg: &'a Cfg, dom: &'a DomTree, users: &'a Users) -> Versions<'a> {
        Versions { func, cfg, dom, users, new_preds: HashMap::new() }
    }

    /// Copies a nest, without the checks of these accesses. No edge leads to the copy yet.
    pub(crate) fn duplicate(&mut self, l: &Loop, unchecked: &[InstRef]) -> Duplicate {
        let inside: HashSet<Block> = l.blocks.iter().copied().collect();
        let renamed = self.merge_exits(l, &inside);
        let entrance = self.choice_block(l);
        Duplicate { renamed, entrance, copies: self.copy(&l.blocks, unchecked) }
    }

    /// Puts a block before each exit after which values of the nest are used; those values become its parameters.
    fn merge_exits(&mut self, l: &Loop, inside: &HashSet<Block>) -> Renamed {
        let exits = exits(self.func, l, inside);
        let mut needed: HashMap<Block, Vec<Value>> = HashMap::new();
        let mut using: Vec<Block> = Vec::new();
        for v in defined(self.func, &l.blocks) {
            for b in self.users.outside(v, inside) {
                let exit = exit_of(self.dom, &exits, b).expect("asked before copying");
                let list = needed.entry(exit).or_default();
                if list.last() != Some(&v) {
                    list.push(v);
                }
                using.push(b);
            }
        }
        let mut renamed = Renamed::default();
        for exit in exits {
            if let Some(mut values) = needed.remove(&exit) {
                for address in values.clone() {
                    for owner in owners(self.func, l, address) {
                        if !values.contains(&owner) {
                            values.push(owner);
                        }
                    }
                }
                let names = self.merge_before_exit(l, exit, values);
                renamed.0.push((exit, names));
            }
        }
        using.sort_unstable();
        using.dedup();
        for b in using {
            let mut f = |v: &mut Value| *v = renamed.get(self.dom, b, *v);
            let data = &mut self.func.blocks[b.index()];
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
    fn merge_before_exit(&mut self, l: &Loop, exit: Block, values: Vec<Value>) -> HashMap<Value, Value> {
        let func = &mut *self.func;
        let old = func.blocks[exit.index()].params.len();
        let tys: Vec<Ty> = func.blocks[exit.index()].params.iter().chain(&values).map(|v| func.ty(*v)).collect();
        let meeting = func.new_block();
        let params: Vec<Value> = tys.into_iter().map(|t| func.new_value(t)).collect();
        for b in &l.blocks {
            let data = &mut func.blocks[b.index()];
            for t in data.term.as_mut().map(Term::targets_mut).into_iter().flatten().chain(&mut data.unwind) {
                if t.block == exit {
                    t.block = meeting;
                    t.args.extend(&values);
                }
            }
        }
        let names = values.into_iter().zip(params[old..].iter().copied()).collect();
        let data = &mut func.blocks[meeting.index()];
        data.term = Some(Term::Jump(to(exit, &params[..old])));
        data.params = params;
        self.new_preds.entry(exit).or_default().push(meeting);
        names
    }

    /// A new block that replaces the header on the edges that enter the loop.
    pub(crate) fn choice_block(&mut self, l: &Loop) -> Block {
        let func = &mut *self.func;
        let tys: Vec<Ty> = func.blocks[l.header.index()].params.iter().map(|p| func.ty(*p)).collect();
        let entrance = func.new_block();
        func.blocks[entrance.index()].params = tys.into_iter().map(|t| func.new_value(t)).collect();
        let old = self.cfg.preds(l.header).iter().map(|e| e.from).filter(|b| !l.blocks.contains(b));
        let new = self.new_preds.get(&l.header).into_iter().flatten().copied();
        for b in old.chain(new) {
            for t in func.blocks[b.index()].term.as_mut().map(Term::targets_mut).into_iter().flatten() {
                if t.block == l.header {
                    t.block = entrance;
                }
            }
        }
        entrance
    }

    fn copy(&mut self, blocks: &[Block], unchecked: &[InstRef]) -> CopyMap {
        let func = &mut *self.func;
        let mut copies = CopyMap { blocks: HashMap::new(), values: HashMap::new() };
        for b in blocks {
            let new = func.new_block();
            copies.blocks.insert(*b, new);
            for v in defined(func, &[*b]).collect::<Vec<_>>() {
                let ty = func.ty(v);
                let new = func.new_value(ty);
                copies.values.insert(v, new);
            }
        }
        let free: HashSet<(Block, usize)> = unchecked.iter().map(|a| (a.0, a.1)).collect();
        for b in blocks {
            let mut data = func.blocks[b.index()].clone();
            for (i, d) in data.insts.iter_mut().enumerate() {
                if let (Inst::ElemPtr { wrap, check, .. }, true) = (&mut d.inst, free.contains(&(*b, i))) {
                    (*wrap, *check) = (false, false);
                }
            }
            copies.rename(&mut data);
            let new = copies.blocks[b];
            for t in data.term.iter().flat_map(Term::targets).filter(|t| t.block.index() < self.cfg.len()) {
                self.new_preds.entry(t.block).or_default().push(new);
            }
            func.blocks[new.index()] = data;
        }
        copies
    }
}

/// Blocks and values of a copy by those of the original.
pub(crate) struct CopyMap {
    blocks: HashMap<Block, Block>,
    values: HashMap<Value, Value>,
}

impl CopyMap {
    pub(crate) fn block(&self, b: Block) -> Block {
        self.blocks[&b]
    }
    /// The copy of a value; values from outside are themselves.
    pub(crate) fn value(&self, v: Value) -> Value {
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

/// Tests that no condition is negative, and that leaves are small enough for the conditions not to overflow; `None`
/// if there is no condition and no leaf.
pub(crate) fn condition(c: &mut Cursor<'_>, conditions: &[Linear], bounded: &[Leaf]) -> Option<Value> {
    let mut leaves: HashMap<Leaf, Value> = HashMap::new();
    let mut all = None;
    let mut require = |c: &mut Cursor<'_>, v: Value| all = Some(all.map_or(v, |a| c.and(a, v)));
    let (min, max) = (c.int(-MAX_LEAF), c.int(MAX_LEAF));
    let mut require_between = |c: &mut Cursor<'_>, min: Option<Value>, v: Value, max: Value| {
        if let Some(min) = min {
            let low = c.lt(min, v);
            require(c, low);
        }
        let high = c.lt(v, max);
        require(c, high);
    };
    for &leaf in bounded {
        let v = match leaf {
            Leaf::Value(v) => v,
            Leaf::Shape(a, d) => c.inst(Inst::ArrayShape(a, d), Ty::int()),
            Leaf::Product(a, b) => {
                let (min, max) = (c.int(-MAX_FACTOR), c.int(MAX_FACTOR));
                require_between(c, Some(min), a, max);
                require_between(c, Some(min), b, max);
                c.mul(a, b)
            }
            Leaf::Launch(v) => v,
            Leaf::LaunchProduct(a, b) => c.mul(a, b),
        };
        leaves.insert(leaf, v);
        if leaf.is_launch() {
            continue;
        }
        require_between(c, (!matches!(leaf, Leaf::Shape(..))).then_some(min), v, max);
    }
    let mut fits = None;
    for l in conditions {
        // The negative terms are compared with the positive ones: LLVM then sees invariant minima of outer loops.
        let (less, more) = (compute(c, l, &leaves, -1), compute(c, l, &leaves, 1));
        let fine = c.le(less, more);
        fits = Some(fits.map_or(fine, |f| c.and(f, fine)));
    }
    fits.into_iter().chain(all).reduce(|f, a| c.and(f, a))
}

/// The sum of the terms of one sign, as magnitudes.
fn compute(c: &mut Cursor<'_>, l: &Linear, leaves: &HashMap<Leaf, Value>, sign: i64) -> Value {
    let constant = l.constant * sign;
    let mut sum = (constant > 0).then(|| c.int(constant));
    for (leaf, k) in l.terms.iter().filter(|t| t.1.signum() == sign) {
        let mut term = leaves[leaf];
        if k.abs() != 1 {
            let k = c.int(k.abs());
            term = c.mul(k, term);
        }
        sum = Some(sum.map_or(term, |s| c.add(s, term)));
    }
    sum.unwrap_or_else(|| c.int(0))
}
