//! Builds a piece: code that runs once for the gang, the loop over lanes, and the transition to the next pieces.
//!
//! ```text
//! block2(v3):                                 <uniform values of the piece>          ; once for the gang
//!     branch v4, block3(), block5()           for lane in 0..32:
//! block3():                            ->         <block2 and block3 with the values of the lane>
//!     jump block7(v6)     ; an exit               next[lane] = <number of the piece that the lane enters>
//!                                             if <all lanes enter one piece>: <that piece, converged>
//!                                             else: <a detour, with the uniform values stored for each lane>
//! ```

use super::build::{GangBuilder, Mode};
use super::plan::Sparse;
use crate::analysis::classify::is_speculative;
use crate::analysis::device::HANDED;
use crate::edit::{row, to};
use lh_ir::cfg::targets;
use lh_ir::func::{Gangs, Inst, Target, Term};
use lh_ir::runtime::{Memory, Role};
use lh_ir::{Block, Const, Ty, Value};
use std::collections::{HashMap, HashSet};

/// An exit of a piece: the block, and the target; `None` for the end of the kernel.
type Exit<'a> = (Block, Option<&'a Target>);

/// State while the body of a loop over lanes is built.
pub(super) struct Lane {
    pub lane: Value,
    /// New values by old ones.
    pub now: HashMap<Value, Value>,
    copies: HashMap<Block, Block>,
    handler: Block,
    join: Block,
    /// Values to store at the end of the body, with their old contents.
    kept: Vec<(Value, Value)>,
    /// For each stored value, the values that some exits store; other exits may store the same instead of the old
    /// contents.
    leaving: HashMap<Value, Vec<Value>>,
    /// Whether lanes record their next piece.
    records: bool,
    choice: Option<Choice>,
    /// The predicate of a lane in an if-converted piece, which other lanes run through.
    pub(super) there: Option<Value>,
}

/// How the first branch of a piece with a sparse path is built.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    /// Lanes take the common path; an array records which of them should take the sparse one.
    Others(Sparse, Value),
    Guarded(Sparse),
}

/// A piece with its values.
#[derive(Clone, Copy)]
pub(super) struct Piece<'p> {
    pub mode: Mode,
    pub blocks: &'p [Block],
    /// Values to recompute, and values computed once for the gang.
    pub wanted: &'p [Value],
    pub once: &'p HashMap<Value, Value>,
    /// Live-in values of the lanes, and values that they store.
    pub live: &'p [Value],
    pub keys: &'p [Value],
    /// Whether lanes may re-enter the piece immediately.
    pub loops: bool,
    pub choice: Option<Choice>,
}

impl Lane {
    /// State for code that only computes.
    pub(super) fn bare(lane: Value, now: HashMap<Value, Value>) -> Lane {
        let none = Block(0);
        Lane {
            lane,
            now,
            copies: HashMap::new(),
            handler: none,
            join: none,
            kept: Vec::new(),
            leaving: HashMap::new(),
            records: false,
            choice: None,
            there: None,
        }
    }
}

impl<'a> GangBuilder<'a> {
    pub(super) fn piece(&mut self, mode: Mode, head: Block) -> Option<()> {
        self.at = self.head(mode, head);
        let mut once: HashMap<Value, Value> = HashMap::new();
        if !mode.is_diverged() {
            let params = self.out.blocks[self.at.index()].params.clone();
            once.extend(self.uniform_in(head).into_iter().zip(params));
        }
        if self.plan.waits.contains_key(&head) {
            return self.wait(mode, head, &mut once);
        }
        let blocks = self.plan.blocks(self.cfg, head);
        let wanted = self.wanted(&blocks);
        if !mode.is_diverged() {
            self.compute_once(head, &blocks, &wanted, &mut once)?;
        }
        if let Some(inner) = self.stay_edge(mode, &blocks) {
            self.vote_to_stay(mode, &blocks, inner, &wanted, &once)?;
        }
        self.build_lanes(mode, head, &blocks, &wanted, once)
    }

    /// Builds the loop over lanes and the transition.
    pub(super) fn build_lanes(
        &mut self,
        mode: Mode,
        head: Block,
        blocks: &[Block],
        wanted: &[Value],
        mut once: HashMap<Value, Value>,
    ) -> Option<()> {
        let exits = self.exits(blocks);
        let from: HashSet<Block> = exits.iter().map(|e| e.0).collect();
        let goals = self.goals(blocks);
        let decided = from.len() == 1 && self.is_uniform_exit(exits[0].0);
        let together = !mode.is_diverged() && (goals.len() <= 1 || decided);
        let keys = self.keys(mode, together, blocks, &exits);
        if !together && !mode.is_diverged() {
            self.clear_range();
        }
        let loops = !together && self.may_reenter(mode, head, &goals);
        if loops {
            let (no, none) = (self.inst(Inst::Const(Const::Bool(false)), Ty::bool()), self.number(0));
            self.effect(Inst::SlotSet(self.again, no));
            self.effect(Inst::SlotSet(self.others, none));
        }
        let live = self.live(mode, blocks, &keys);
        self.enter_mode(mode);
        let piece = Piece { mode, blocks, wanted, once: &once, live: &live, keys: &keys, loops, choice: None };
        // The sparse path runs after the common path has stored its values, so it must not read any of them.
        let apart = !keys.iter().any(|k| live.contains(k));
        let few = self.sparse_path(blocks).filter(|_| self.full && together && apart && self.assumed.is_none());
        match few {
            Some(few) => self.build_sparse(piece, few)?,
            None => self.all_lanes(piece, !together)?,
        }
        self.vectors = self.full;
        match mode {
            Mode::Diverged(_) => {
                let dispatch = to(self.dispatch(mode), &[]);
                // Lanes that re-enter the piece are next in the order of dispatch.
                let term = if loops {
                    let cond = self.inst(Inst::SlotGet(self.again), Ty::bool());
                    Term::Branch { cond, then: to(self.head(mode, head), &[]), els: dispatch }
                } else {
                    Term::Jump(dispatch)
                };
                self.end(term);
                Some(())
            }
            _ if together => self.converge(mode, &exits, &mut once),
            _ => self.diverge(mode, &exits, loops.then_some(head), &mut once),
        }
    }

    pub(super) fn exits(&self, blocks: &[Block]) -> Vec<Exit<'a>> {
        let (old, plan) = (self.old, self.plan);
        let mut exits = Vec::new();
        for b in blocks {
            if let Some(Term::Return(_)) = old.blocks[b.index()].term {
                exits.push((*b, None));
            }
            for (n, t) in targets(old, *b) {
                if self.assumed.is_some_and(|(at, to)| at == *b && to != t.block) {
                    continue;
                }
                let inside = plan.head_of[t.block.index()] == plan.head_of[b.index()] && !plan.order.contains(&t.block);
                if n.is_some() && !inside {
                    exits.push((*b, Some(t)));
                }
            }
        }
        exits
    }

    pub(super) fn goals(&self, blocks: &[Block]) -> HashSet<Option<Block>> {
        self.exits(blocks).iter().map(|e| e.1.map(|t| t.block)).collect()
    }

    /// Whether the branch of a block is uniform.
    fn is_uniform_exit(&self, b: Block) -> bool {
        match &self.old.blocks[b.index()].term {
            Some(Term::Branch { cond, .. }) => !self.plan.varies[cond.index()],
            _ => true,
        }
    }

    /// Values that a piece recomputes, in the order of their definitions.
    fn wanted(&self, blocks: &[Block]) -> Vec<Value> {
        let mut work: Vec<Value> = Vec::new();
        for b in blocks {
            let data = &self.old.blocks[b.index()];
            data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| work.push(v)));
            if let Some(t) = &data.term {
                t.clone().for_each_operand_mut(&mut |v| work.push(*v));
            }
        }
        self.again(work)
    }
    /// The recomputable values among `work` and their operands, in the order of their definitions.
    pub(super) fn again(&self, mut work: Vec<Value>) -> Vec<Value> {
        let mut wanted = HashSet::new();
        while let Some(v) = work.pop() {
            if let Some(d) = self.defs.get(&v)
                && self.plan.available[v.index()]
                && wanted.insert(v)
            {
                d.inst.for_each_operand(|v| work.push(v));
            }
        }
        let all = self.cfg.rpo().iter().flat_map(|b| &self.old.blocks[b.index()].insts);
        all.filter_map(|d| d.result).filter(|r| wanted.contains(r)).collect()
    }

    /// Computes the uniform values of a piece.
    fn compute_once(
        &mut self,
        head: Block,
        blocks: &[Block],
        wanted: &[Value],
        once: &mut HashMap<Value, Value>,
    ) -> Option<()> {
        let old = self.old;
        let same: Vec<Value> = wanted.iter().copied().filter(|v| !self.plan.varies[v.index()]).collect();
        for v in same {
            self.once(once, v)?;
        }
        if old.blocks[head.index()]
            .insts
            .iter()
            .any(|d| d.inst.can_raise() && d.result.is_some_and(|r| !self.plan.varies[r.index()]))
        {
            self.use_handler();
        }
        for b in blocks {
            for d in &old.blocks[b.index()].insts {
                if let Some(r) = d.result.filter(|r| !self.plan.varies[r.index()]) {
                    self.once(once, r)?;
                }
            }
        }
        Some(())
    }

    /// Computes a uniform value for the gang.
    pub(super) fn once(&mut self, once: &mut HashMap<Value, Value>, v: Value) -> Option<Value> {
        if let Some(x) = once.get(&v) {
            return Some(*x);
        }
        if self.old.params().contains(&v) {
            return Some(v);
        }
        let d = *self.defs.get(&v)?;
        let made = match self.launch_value(&d.inst) {
            Some(x) => x,
            None => {
                let mut inst = d.inst.clone();
                let mut known = Some(());
                let mut operands = Vec::new();
                d.inst.for_each_operand(|v| operands.push(v));
                let [tx, ty, tz] = [self.start.x, self.start.y, self.start.z];
                let handed = self.old.params()[1..HANDED].to_vec();
                let mut made = HashMap::new();
                for o in operands {
                    // A call that does not depend on the thread gets the index of the first lane.
                    let x = match handed.iter().position(|h| *h == o) {
                        Some(i) => [tx, ty, tz][i],
                        None => self.once(once, o)?,
                    };
                    made.insert(o, x);
                }
                inst.for_each_operand_mut(&mut |v| match made.get(v) {
                    Some(x) => *v = *x,
                    None => known = None,
                });
                known?;
                self.span = d.span;
                self.inst(inst, self.old.ty(v))
            }
        };
        once.insert(v, made);
        Some(made)
    }

    /// Values that lanes store at the end of a piece.
    fn keys(&self, mode: Mode, together: bool, blocks: &[Block], exits: &[Exit<'a>]) -> Vec<Value> {
        let inside: HashSet<Value> = blocks
            .iter()
            .flat_map(|b| {
                let data = &self.old.blocks[b.index()];
                data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result))
            })
            .collect();
        let head = blocks[0];
        let mut keys: Vec<Value> = Vec::new();
        for (_, t) in exits {
            let Some(t) = t else { continue };
            for v in self.plan.needs(self.old, t.block) {
                let varies = self.plan.varies[v.index()];
                let is_param = self.old.blocks[t.block.index()].params.contains(&v);
                let wanted = if is_param {
                    varies || !together
                } else {
                    let is_new = inside.contains(&v) && !self.old.blocks[head.index()].params.contains(&v);
                    is_new && (varies || mode.is_diverged())
                };
                if wanted && !keys.contains(&v) {
                    keys.push(v);
                }
            }
        }
        keys
    }

    /// Values that lanes load in a piece.
    fn live(&self, mode: Mode, blocks: &[Block], keys: &[Value]) -> Vec<Value> {
        let used = self.used(blocks);
        let needs = self.plan.needs(self.old, blocks[0]).into_iter();
        let own = needs.filter(|v| mode.is_diverged() || self.plan.varies[v.index()]);
        // A block parameter that is only stored again must be loaded, too.
        own.filter(|v| used.contains(v) || keys.contains(v)).collect()
    }

    /// Whether the divergent code of a piece only computes, so that it can become vectors.
    pub(super) fn only_computes(&self, blocks: &[Block]) -> bool {
        let insts = blocks.iter().flat_map(|b| &self.old.blocks[b.index()].insts);
        insts.filter(|d| d.result.is_none_or(|r| self.plan.varies[r.index()])).all(|d| is_speculative(&d.inst))
    }

    /// Builds the loop over all lanes.
    pub(super) fn all_lanes(&mut self, p: Piece<'_>, records: bool) -> Option<()> {
        // Lanes that do not exist must not record a next piece.
        self.vectors = self.full && self.only_computes(p.blocks) && (self.exact || !records);
        let apart = self.full && !self.vectors;
        if apart {
            let several = self.exits(p.blocks).len() > 1;
            let olds = p.keys.iter().filter(|k| several && !p.live.contains(k));
            let read: Vec<Value> = p.live.iter().chain(olds).copied().collect();
            self.copy_arrays(&read, false);
        }
        let width = self.width(p.mode);
        let mut result = Some(());
        self.lanes(width, |b, lane| result = b.body(p, lane, records));
        result?;
        if apart {
            self.copy_arrays(p.keys, true);
        }
        Some(())
    }

    pub(super) fn body(&mut self, p: Piece<'_>, lane: Value, records: bool) -> Option<()> {
        let Piece { mode, blocks, wanted, once, live, keys, loops, choice } = p;
        let head = blocks[0];
        let mut now = self.coordinates(mode, lane);
        for v in live {
            let x = self.load(*v, lane);
            now.insert(*v, x);
        }
        let needs_old = mode.is_diverged() || self.exits(blocks).len() > 1;
        let kept = keys.iter().map(|k| (*k, if needs_old { self.load(*k, lane) } else { lane })).collect();
        let active = (mode.is_diverged()).then(|| {
            let (n, own) = (self.next_of(lane), self.number(self.plan.number(head)));
            (n, self.cursor(|c| c.eq(n, own)))
        });
        let (body, join, handler) = (self.out.new_block(), self.out.new_block(), self.out.new_block());
        let leaving = self.leaving(blocks, keys);
        let private_keys = self.private_keys(p);
        let there = active.filter(|_| !private_keys.is_empty()).map(|a| a.1);
        let mut l = Lane { lane, now, copies: HashMap::new(), handler, join, kept, leaving, records, choice, there };
        for (k, _) in &l.kept {
            self.out.new_param(join, self.old.ty(*k));
        }
        if records {
            self.out.new_param(join, Ty::i32());
        }
        match active.filter(|_| there.is_none()) {
            None => self.end(Term::Jump(to(body, &[]))),
            Some((n, cond)) => {
                let stay: Vec<Value> = l.kept.iter().map(|k| k.1).chain(records.then_some(n)).collect();
                self.end(Term::Branch { cond, then: to(body, &[]), els: to(join, &stay) });
            }
        }
        self.at = body;
        self.copy_again(wanted, once, &mut l)?;
        self.copy_blocks(blocks, once, &mut l)?;
        self.at = handler;
        let coordinates = l.now.clone();
        self.copy_handler(&coordinates);
        self.at = join;
        let params = self.out.blocks[join.index()].params.clone();
        let stay = |((k, old), p): (&(Value, Value), &Value)| if private_keys.contains(k) { *p } else { *old };
        let stay: Vec<Value> =
            l.kept.iter().zip(&params).map(stay).chain(active.filter(|_| records).map(|a| a.0)).collect();
        let params = self.blend(&l, &params, &stay);
        for ((k, _), p) in l.kept.clone().into_iter().zip(&params) {
            self.store(k, lane, *p);
        }
        if let (true, Some(n)) = (records, params.last()) {
            self.set_next(lane, *n);
            if !mode.is_diverged() {
                self.extend_range(*n);
            }
            if loops {
                self.record_reentry(mode, head, *n);
            }
        }
        Some(())
    }

    /// The thread index of a lane.
    pub(super) fn coordinates(&mut self, mode: Mode, lane: Value) -> HashMap<Value, Value> {
        let (start, index) = (self.start, self.arrays.index);
        let axes = if mode == Mode::Full || self.out.kernel.gangs == Gangs::Rows {
            [self.cursor(|c| c.add(start.x, lane)), start.y, start.z]
        } else {
            index.map(|a| self.get(a, Ty::int(), lane))
        };
        self.old.params()[1..HANDED].iter().copied().zip(axes).collect()
    }

    fn used(&self, blocks: &[Block]) -> HashSet<Value> {
        let mut used = HashSet::new();
        for b in blocks {
            let data = &self.old.blocks[b.index()];
            data.insts.iter().for_each(|d| {
                d.inst.for_each_operand(|v| {
                    used.insert(v);
                })
            });
            if let Some(t) = &data.term {
                t.clone().for_each_operand_mut(&mut |v| {
                    used.insert(*v);
                });
            }
        }
        used.extend(self.wanted(blocks).iter().flat_map(|v| {
            let mut operands = Vec::new();
            self.defs[v].inst.for_each_operand(|o| operands.push(o));
            operands
        }));
        used
    }

    /// The new value for an old one in a lane.
    pub(super) fn current(&self, once: &HashMap<Value, Value>, l: &Lane, v: Value) -> Option<Value> {
        let known = l.now.get(&v).or_else(|| once.get(&v)).copied();
        known.or_else(|| self.old.params().contains(&v).then_some(v))
    }

    /// Recomputes values in a lane.
    pub(super) fn copy_again(&mut self, wanted: &[Value], once: &HashMap<Value, Value>, l: &mut Lane) -> Option<()> {
        for v in wanted {
            if once.contains_key(v) {
                continue;
            }
            let d = self.defs[v];
            let x = match (&d.inst, self.launch_value(&d.inst)) {
                (_, Some(x)) => x,
                (inst, None) if self.full && self.is_lane(inst) => l.lane,
                (Inst::Runtime(f, args), None) if f.role == Role::Memory(Memory::Local) => {
                    self.local(*v, args[0], l.lane)?
                }
                (inst, None) => {
                    let inst = self.renamed(inst, once, l)?;
                    self.span = d.span;
                    self.inst(inst, self.old.ty(*v))
                }
            };
            l.now.insert(*v, x);
        }
        Some(())
    }
    fn renamed(&self, inst: &Inst, once: &HashMap<Value, Value>, l: &Lane) -> Option<Inst> {
        let mut inst = inst.clone();
        let mut known = Some(());
        inst.for_each_operand_mut(&mut |v| match self.current(once, l, *v) {
            Some(x) => *v = x,
            None => known = None,
        });
        known.map(|()| inst)
    }
    /// A lane's part of a local array.
    fn local(&mut self, v: Value, bytes: Value, lane: Value) -> Option<Value> {
        let Inst::Const(lh_ir::Const::Int(size, _)) = self.defs.get(&bytes)?.inst else { return None };
        let size = usize::try_from(size).ok()?.next_multiple_of(16);
        let home = self.array_of_size((false, v), size);
        Some(self.place(home, size, lane))
    }

    fn copy_blocks(&mut self, blocks: &[Block], once: &HashMap<Value, Value>, l: &mut Lane) -> Option<()> {
        let old = self.old;
        for b in blocks {
            let copy = self.out.new_block();
            l.copies.insert(*b, copy);
            let data = &old.blocks[b.index()];
            self.out.blocks[copy.index()].cold = data.cold;
            self.out.blocks[copy.index()].unwind = Some(to(l.handler, &[]));
            if *b != blocks[0] {
                for p in &data.params {
                    let v = self.out.new_param(copy, old.ty(*p));
                    l.now.insert(*p, v);
                }
            } else {
                for p in data.params.iter().filter(|_| b.index() != 0) {
                    if !l.now.contains_key(p) && !once.contains_key(p) {
                        let v = self.inst(Inst::Zero, old.ty(*p));
                        l.now.insert(*p, v);
                    }
                }
            }
        }
        let first = l.copies[&blocks[0]];
        self.end(Term::Jump(to(first, &[])));
        for b in blocks {
            self.at = l.copies[b];
            self.copy_insts(*b, once, l)?;
            self.span = old.blocks[b.index()].term_span;
            self.copy_term(*b, once, l)?;
        }
        Some(())
    }

    pub(super) fn copy_insts(&mut self, b: Block, once: &HashMap<Value, Value>, l: &mut Lane) -> Option<()> {
        let old = self.old;
        for d in &old.blocks[b.index()].insts {
            if d.result.is_some_and(|r| self.plan.available[r.index()] || once.contains_key(&r)) {
                continue;
            }
            if let Some(r) = d.result.filter(|_| self.full && self.is_lane(&d.inst)) {
                l.now.insert(r, l.lane);
                continue;
            }
            let mut inst = self.renamed(&d.inst, once, l)?;
            self.span = d.span;
            match d.result {
                Some(r) => {
                    let mut ty = old.ty(r);
                    if self.plan.computed_narrow[r.index()] {
                        let i32s = Ty::i32();
                        inst.for_each_operand_mut(&mut |v| *v = self.cast(*v, i32s));
                        ty = if ty.is_bool() { ty } else { i32s };
                    }
                    let v = self.inst(inst, ty);
                    let v = self.cast(v, old.ty(r));
                    l.now.insert(r, v);
                }
                None => self.effect(inst),
            }
        }
        Some(())
    }

    fn copy_term(&mut self, b: Block, once: &HashMap<Value, Value>, l: &Lane) -> Option<()> {
        let Some(term) = &self.old.blocks[b.index()].term else { lh_ir::bug!("no terminator") };
        let term = match term {
            Term::Return(_) => Term::Jump(self.leave((b, None), once, l)?),
            Term::Jump(t) => Term::Jump(self.follow(b, t, once, l)?),
            Term::Branch { cond, then, els }
                if l.choice.is_some_and(|c| c.sparse_path().cond == *cond && c.sparse_path().at == b) =>
            {
                let choice = l.choice?;
                let goal = match choice {
                    Choice::Others(few, truth) => {
                        let mut is = self.current(once, l, *cond)?;
                        if few.guarded == els.block {
                            is = self.cursor(|c| c.op(row("not"), &[is], Ty::bool()));
                        }
                        self.put(truth, 1, l.lane, is);
                        few.other
                    }
                    Choice::Guarded(few) => few.guarded,
                };
                let t = if then.block == goal { then } else { els };
                Term::Jump(self.follow(b, t, once, l)?)
            }
            Term::Branch { then, els, .. } if self.assumed.is_some_and(|(at, _)| at == b) => {
                let goal = if self.assumed.is_some_and(|(_, to)| to == then.block) { then } else { els };
                Term::Jump(self.follow(b, goal, once, l)?)
            }
            Term::Branch { cond, then, els } => {
                let (a, b) = (self.follow(b, then, once, l)?, self.follow(b, els, once, l)?);
                if a == b {
                    Term::Jump(a)
                } else {
                    let cond = self.current(once, l, *cond)?;
                    Term::Branch { cond: self.masked(l, cond), then: a, els: b }
                }
            }
            Term::Raise { exc, args } => {
                let args = args.iter().map(|v| self.current(once, l, *v)).collect::<Option<Vec<Value>>>()?;
                Term::Raise { exc: *exc, args }
            }
            Term::Unreachable => Term::Unreachable,
            Term::Propagate => return None,
        };
        self.end(term);
        Some(())
    }
    /// For each stored value, the values that it gets at the exits.
    fn leaving(&self, blocks: &[Block], keys: &[Value]) -> HashMap<Value, Vec<Value>> {
        let mut leaving: HashMap<Value, Vec<Value>> = keys.iter().map(|k| (*k, Vec::new())).collect();
        for t in self.exits(blocks).iter().filter_map(|e| e.1) {
            let params = self.old.blocks[t.block.index()].params.iter().copied();
            let alive = self.plan.alive[t.block.index()].iter().map(|v| (*v, *v));
            for (k, v) in params.zip(t.args.iter().copied()).chain(alive) {
                leaving.entry(k).or_default().push(v);
            }
        }
        leaving
    }
    /// Whether a value is defined at the end of a block.
    fn is_defined_at(&self, v: Value, b: Block) -> bool {
        self.places.block(v) == Some(b) || self.places.reaches(&self.dom, v, b)
    }
    /// The new target of an edge: a copied block, or the end of the body.
    fn follow(&mut self, from: Block, t: &Target, once: &HashMap<Value, Value>, l: &Lane) -> Option<Target> {
        match l.copies.get(&t.block).filter(|_| !self.plan.order.contains(&t.block)) {
            None => self.leave((from, Some(t)), once, l),
            Some(copy) => {
                let args = t.args.iter().map(|v| self.current(once, l, *v)).collect::<Option<Vec<Value>>>()?;
                Some(to(*copy, &args))
            }
        }
    }
    /// The end of the body, with the values to store.
    fn leave(&mut self, (from, t): Exit<'_>, once: &HashMap<Value, Value>, l: &Lane) -> Option<Target> {
        let mut args = Vec::new();
        for (k, before) in &l.kept {
            let params = t.map(|t| &self.old.blocks[t.block.index()].params[..]).unwrap_or_default();
            let own = params.iter().position(|p| p == k);
            let needed = t.is_some_and(|t| self.plan.alive[t.block.index()].contains(k));
            args.push(match own {
                Some(i) => self.current(once, l, t?.args[i])?,
                None if needed => self.current(once, l, *k)?,
                // The value that another exit stores avoids a select, if it is defined here.
                None => match l.leaving[k].iter().find(|v| self.is_defined_at(**v, from)) {
                    Some(v) => self.current(once, l, *v)?,
                    None => *before,
                },
            });
        }
        if l.records {
            let number = t.map_or(self.end_number(), |t| self.plan.number(t.block));
            args.push(self.number(number));
        }
        Some(to(l.join, &args))
    }

    /// The transition if all lanes leave by the same exit.
    fn converge(&mut self, mode: Mode, exits: &[Exit<'a>], once: &mut HashMap<Value, Value>) -> Option<()> {
        let finish = to(self.finish, &[]);
        let Some((from, _)) = exits.first() else {
            self.end(Term::Jump(finish));
            return Some(());
        };
        let term = self.old.blocks[from.index()].term.clone();
        self.span = self.old.blocks[from.index()].term_span;
        let goals: HashSet<Option<Block>> = exits.iter().map(|e| e.1.map(|t| t.block)).collect();
        let term = match term {
            Some(Term::Branch { cond, then, els }) if goals.len() > 1 => {
                let cond = self.once(once, cond)?;
                Term::Branch { cond, then: self.next(mode, &then, once)?, els: self.next(mode, &els, once)? }
            }
            _ => match exits[0].1 {
                None => Term::Jump(finish),
                Some(t) => Term::Jump(self.next(mode, t, once)?),
            },
        };
        self.end(term);
        Some(())
    }
    /// The next piece with the arguments of a target.
    fn next(&mut self, mode: Mode, t: &Target, once: &mut HashMap<Value, Value>) -> Option<Target> {
        let params = self.old.blocks[t.block.index()].params.clone();
        self.target(mode, t.block, &mut |b, v| {
            let passed = params.iter().position(|p| *p == v).map_or(v, |i| t.args[i]);
            b.once(once, passed)
        })
    }

    /// The transition if lanes may diverge.
    fn diverge(
        &mut self,
        mode: Mode,
        exits: &[Exit<'a>],
        again: Option<Block>,
        once: &mut HashMap<Value, Value>,
    ) -> Option<()> {
        if let Some(head) = again {
            let moved = self.inst(Inst::SlotGet(self.others), Ty::i32());
            let (all, others) = self.branch_if(moved, 0);
            self.at = all;
            self.continue_at(mode, head, once)?;
            self.at = others;
        }
        let [low, high] = self.range();
        let same = self.cursor(|c| c.eq(low, high));
        let (one, several) = (self.out.new_block(), self.out.new_block());
        self.end(Term::Branch { cond: same, then: to(one, &[]), els: to(several, &[]) });
        let mut goals: Vec<Block> = exits.iter().filter_map(|e| e.1.map(|t| t.block)).collect();
        goals.sort_unstable();
        goals.dedup();
        self.at = one;
        for g in goals.iter().filter(|g| Some(**g) != again) {
            let (hit, miss) = self.branch_if(low, self.plan.number(*g));
            self.at = hit;
            self.continue_at(mode, *g, once)?;
            self.at = miss;
        }
        let finish = self.finish;
        self.end(Term::Jump(to(finish, &[])));
        self.at = several;
        let ends = exits.iter().any(|e| e.1.is_none());
        let detour = self.detour(mode, &goals, ends)?;
        self.scatter(mode, detour, &goals, once)
    }

    /// Continues converged with a piece.
    fn continue_at(&mut self, mode: Mode, head: Block, once: &mut HashMap<Value, Value>) -> Option<()> {
        let first = self.cursor(|c| c.int(0));
        let params = self.old.blocks[head.index()].params.clone();
        let target = self.target(mode, head, &mut |b, v| {
            if params.contains(&v) { Some(b.load(v, first)) } else { b.once(once, v) }
        })?;
        self.end(Term::Jump(target));
        Some(())
    }

    /// Enters a detour: stores uniform values for each lane, and moves vectors to memory.
    fn scatter(&mut self, mode: Mode, detour: usize, goals: &[Block], once: &mut HashMap<Value, Value>) -> Option<()> {
        // Block parameters of a target are already stored, also by lanes that go elsewhere.
        let params: Vec<Value> = goals.iter().flat_map(|g| self.old.blocks[g.index()].params.iter().copied()).collect();
        let given = goals.iter().flat_map(|g| self.uniform_in(*g));
        let mut shared: Vec<Value> = given.filter(|v| !params.contains(v)).collect();
        shared.sort_unstable();
        shared.dedup();
        let values = shared.iter().map(|v| self.once(once, *v)).collect::<Option<Vec<Value>>>()?;
        self.vectors = false;
        if self.has_vectors(mode) {
            let mut own: Vec<Value> = goals.iter().flat_map(|g| self.plan.needs(self.old, *g)).collect();
            own.retain(|v| !shared.contains(v));
            own.sort_unstable();
            own.dedup();
            self.copy_arrays(&own, false);
        }
        if mode == Mode::Full && self.out.kernel.gangs == Gangs::Warps {
            let (start, index) = (self.start, self.arrays.index);
            let width = self.width(mode);
            self.lanes(width, |b, lane| {
                let x = b.cursor(|c| c.add(start.x, lane));
                for (array, v) in index.into_iter().zip([x, start.y, start.z]) {
                    b.put(array, 8, lane, v);
                }
            });
        }
        let width = self.width(Mode::Full);
        let (last, lanes) = (self.end_number(), self.start.lanes);
        self.lanes(width, |b, lane| {
            for (k, v) in shared.iter().zip(&values) {
                b.store(*k, lane, *v);
            }
            if mode == Mode::Partial {
                let (before, end) = (b.next_of(lane), b.number(last));
                let n = b.cursor(|c| {
                    let is = c.lt(lane, lanes);
                    c.select(is, before, end)
                });
                b.set_next(lane, n);
            }
        });
        let dispatch = self.dispatch(Mode::Diverged(detour));
        self.end(Term::Jump(to(dispatch, &[])));
        Some(())
    }
}
