//! Builds a region: loops over threads around copies of the blocks between two cuts.
//!
//! ```text
//! block4(v9):                      for z, y, x in the block's threads:
//!     v10 = add v9, v2                 v9 = <reload>                       ; live-in, and different for each thread
//!     runtime lh_cuda_sync()   ->      v10 = add v9, v2
//! block5():                            <spill v10>                         ; live behind the cut
//!     v11 = mul v10, v2            <the region of block5>
//! ```

use super::build::{Axes, Number, Spill, Splitter};
use crate::analysis::classify::is_speculative;
use crate::analysis::device::{HANDED, waits_of_call};
use crate::analysis::liveness::{constant, parts};
use crate::edit::{CountedLoop, to};
use lh_ir::cfg::targets;
use lh_ir::func::{Gangs, Inst, InstData, LatchHint, LoopHint, Target, Term, waits};
use lh_ir::runtime::{Geometry, Launch, Memory, Role};
use lh_ir::{Block, Const, Slot, Ty, Value};
use std::collections::{HashMap, HashSet};

/// The new value for an old one in a region.
#[derive(Clone)]
enum New {
    Value(Value),
    /// Slots for a live-in value that the region redefines, by part.
    Slots(Vec<Slot>),
}

/// The region under construction.
struct Draft {
    entry: Block,
    /// Its blocks in reverse postorder.
    blocks: Vec<Block>,
    now: HashMap<Value, New>,
    copies: HashMap<Block, Block>,
    /// Blocks with one predecessor, whose parameters are replaced by the arguments.
    direct: HashSet<Block>,
    /// The arguments to these blocks.
    given: HashMap<Block, Vec<Value>>,
    /// Live-in values that the region does not redefine, so that their spills stay valid.
    kept: HashSet<Value>,
    /// Loaded live-in values by location.
    fetched: HashMap<Spill, Value>,
    thread: Number,
    latch: Block,
    /// The block before the loops over threads, and the values available there.
    before: Block,
    outside: HashSet<Value>,
    /// Slots to set behind the loops.
    after: Vec<(Slot, Value)>,
}

impl<'a> Splitter<'a> {
    pub(super) fn region(&mut self, entry: Block) -> Option<()> {
        self.at = self.head(entry);
        let blocks = self.blocks_of(entry);
        let (varying, uniform): (Vec<_>, Vec<_>) =
            self.incoming(entry).into_iter().partition(|(_, v)| self.plan.varies[v.index()]);
        let mut now = HashMap::new();
        for (home, v) in uniform {
            let x = self.fetch_uniform(home)?;
            now.insert(v, New::Value(x));
        }
        self.clear_sums(&blocks);
        let recomputed = self.recomputed(&blocks);
        self.hoist_uniform(&recomputed, &mut now)?;
        let outside = now.values().filter_map(|n| if let New::Value(v) = n { Some(*v) } else { None }).collect();
        let (once, before) = (self.is_uniform(&blocks), self.at);
        let (loops, axes, block, thread) = if once { self.first_thread() } else { self.begin_threads() };
        let latch = self.out.new_block();
        for (old, new) in self.old.params()[1..HANDED].iter().zip(axes.0) {
            now.insert(*old, New::Value(new));
        }
        let (copies, kept, after) = (HashMap::new(), HashSet::new(), Vec::new());
        let direct = self.single_entry(entry, &blocks);
        let (given, fetched) = (HashMap::new(), HashMap::new());
        let mut piece =
            Draft { entry, blocks, now, copies, direct, given, kept, fetched, thread, latch, before, outside, after };
        for (home, v) in varying {
            let x = self.fetch(home, thread)?;
            piece.fetched.insert(self.representative(home), x);
            piece.now.insert(v, New::Value(x));
        }
        for d in recomputed {
            let Some(r) = d.result.filter(|r| !piece.now.contains_key(r)) else { continue };
            let v = self.redo(&piece.now, d, block, Some(thread))?;
            piece.now.insert(r, New::Value(v));
        }
        self.put_in_slots(&mut piece)?;
        self.copy_blocks(&mut piece)?;
        self.at = latch;
        if self.old.kernel.gangs == Gangs::None && !once {
            self.out.blocks[latch.index()].latch = LatchHint::ParallelAccesses;
        }
        for l in &loops {
            self.cursor(|c| c.end_loop(l));
        }
        for (slot, v) in piece.after {
            self.effect(Inst::SlotSet(slot, v));
        }
        self.enter_next(entry)
    }

    /// The blocks of a region up to the next cuts, with handlers, in reverse postorder.
    fn blocks_of(&self, entry: Block) -> Vec<Block> {
        let next = |b: Block| {
            let ways = targets(self.old, b).filter(|(n, _)| n.is_none() || !self.plan.is_cut[b.index()]);
            ways.map(|(_, t)| t.block).collect::<Vec<Block>>()
        };
        let (mut seen, mut open) = (HashSet::from([entry]), vec![(entry, next(entry))]);
        let mut order = Vec::new();
        while let Some((b, ways)) = open.last_mut() {
            match ways.pop() {
                Some(t) if seen.insert(t) => open.push((t, next(t))),
                Some(_) => {}
                None => {
                    order.push(*b);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }

    /// Whether a region computes only block-uniform values, so that one thread suffices.
    fn is_uniform(&self, blocks: &[Block]) -> bool {
        let varies = |v: &Value| self.plan.varies[v.index()];
        let same = |d: &InstData| match &d.inst {
            Inst::Runtime(f, _) if f.role == Role::Launch(Launch::Failed) => true,
            Inst::Call(spec, _) => {
                waits_of_call(self.old, *spec) & waits::EFFECTS == 0 && d.result.is_some_and(|r| !varies(&r))
            }
            // Cheap values are recomputed where they are needed.
            inst => d.result.is_some_and(|r| self.plan.available[r.index()] || (inst.is_pure() && !varies(&r))),
        };
        let keeps_same = |b: &Block| {
            let sums = self.plan.syncs.get(b).is_some_and(|s| s.value.is_some());
            let passed =
                targets(self.old, *b).all(|(_, t)| self.old.blocks[t.block.index()].params.iter().all(|p| !varies(p)));
            !sums
                && passed
                && !matches!(&self.old.blocks[b.index()].term, Some(Term::Branch { cond, .. }) if varies(cond))
        };
        blocks.iter().all(|b| keeps_same(b) && self.old.blocks[b.index()].insts.iter().all(same))
    }

    /// As [`Splitter::begin_threads`], for the first thread only.
    fn first_thread(&mut self) -> (Vec<CountedLoop>, Axes, Axes, Number) {
        let zero = self.cursor(|c| c.int(0));
        let block = self.frame().block.unwrap_or(Axes([zero; 3]));
        (Vec::new(), Axes([zero; 3]), block, Number { first: zero, along: zero })
    }

    /// The live-in values of a region with their locations.
    fn incoming(&self, entry: Block) -> Vec<(Spill, Value)> {
        if entry.index() == 0 {
            return Vec::new();
        }
        let result = self.result_before(entry);
        let params = self.old.blocks[entry.index()].params.iter().copied().chain(result);
        let own = params.map(|v| ((Some(entry), v), v)).filter(|(_, v)| !self.old.ty(*v).flatten().is_empty());
        let alive = self.plan.alive[entry.index()].iter().filter(|v| Some(**v) != result).map(|v| ((None, *v), *v));
        own.chain(alive).collect()
    }

    /// The result of the barrier before a region, which only lives in it.
    fn result_before(&self, entry: Block) -> Option<Value> {
        self.plan.syncs.values().find(|s| s.resume == entry).and_then(|s| s.value).map(|(_, r)| r)
    }

    fn fetch_uniform(&mut self, home: Spill) -> Option<Value> {
        let ty = self.old.ty(home.1);
        let slots = self.slots_of(home)?;
        let values: Vec<Value> =
            slots.into_iter().zip(parts(ty)?).map(|(s, t)| self.inst(Inst::SlotGet(s), t)).collect();
        Some(self.rebuild(&values, ty))
    }

    fn fetch(&mut self, home: Spill, thread: Number) -> Option<Value> {
        let ty = self.old.ty(home.1);
        let mut values = Vec::new();
        for (i, t) in parts(ty)?.into_iter().enumerate() {
            let p = self.spill_address(home, i, t.mem_layout().1, thread)?;
            values.push(self.inst(Inst::Load(p), t));
        }
        Some(self.rebuild(&values, ty))
    }

    /// Rebuilds a value from its parts.
    fn rebuild(&mut self, values: &[Value], ty: Ty) -> Value {
        if !ty.is_array() {
            return values[0];
        }
        // Arrays in kernels are owned by the caller of the launch.
        let owner = self.inst(Inst::Zero, Ty::meminfo());
        let n = (values.len() - 1) / 2;
        let (shape, strides) = (values[1..=n].to_vec(), values[1 + n..].to_vec());
        self.inst(Inst::ArrayMake { owner, data: values[0], shape, strides }, ty)
    }

    fn split_parts(&mut self, v: Value, ty: Ty) -> Vec<Value> {
        let Some((_, ndim, ..)) = ty.as_array() else { return vec![v] };
        let mut out = vec![self.inst(Inst::ArrayData(v), Ty::ptr())];
        out.extend((0..ndim as u32).map(|i| self.inst(Inst::ArrayShape(v, i), Ty::int())).collect::<Vec<_>>());
        out.extend((0..ndim as u32).map(|i| self.inst(Inst::ArrayStride(v, i), Ty::int())).collect::<Vec<_>>());
        out
    }

    /// Clears the sums of voting barriers.
    fn clear_sums(&mut self, blocks: &[Block]) {
        for b in blocks {
            if self.plan.syncs.get(b).is_some_and(|s| s.value.is_some()) {
                let slot = self.decision(*b, Ty::int());
                let zero = self.inst(Inst::Const(Const::Int(0, Ty::int())), Ty::int());
                self.effect(Inst::SlotSet(slot, zero));
            }
        }
    }

    /// Begins the loops over threads, innermost first in the result; with the thread's and the block's index, and the
    /// thread's number.
    fn begin_threads(&mut self) -> (Vec<CountedLoop>, Axes, Axes, Number) {
        let frame = self.frame();
        let mut loops = Vec::new();
        let (block, before) = match frame.block {
            Some(b) => (b, None),
            None => {
                let l = self.cursor(|c| c.begin_loop(frame.blocks));
                let before = self.cursor(|c| c.mul(l.index, frame.threads));
                let block = self.enter_block(l.index);
                loops.push(l);
                (block, Some(before))
            }
        };
        let (order, mut axes) = (self.order, Axes(frame.units.0));
        for axis in order.into_iter().rev() {
            let l = self.cursor(|c| c.begin_loop(frame.units.0[axis]));
            axes.0[axis] = l.index;
            loops.push(l);
        }
        loops.reverse();
        let [along, row, plane] = order.map(|axis| axes.0[axis]);
        let first = self.cursor(|c| {
            let plane = c.mul(plane, frame.units.0[order[1]]);
            let row = c.add(plane, row);
            let start = c.mul(row, frame.units.0[order[0]]);
            before.map_or(start, |b| c.add(b, start))
        });
        let thread = Number { first, along };
        (loops, axes, block, thread)
    }

    /// The cheap values that the region recomputes, in order.
    fn recomputed(&self, blocks: &[Block]) -> Vec<&'a InstData> {
        let old = self.old;
        let mut recomputed: HashSet<Value> = HashSet::new();
        let mut work: Vec<Value> = Vec::new();
        for b in blocks {
            let data = &old.blocks[b.index()];
            data.insts.iter().for_each(|d| d.inst.for_each_operand(|v| work.push(v)));
            if let Some(t) = &data.term {
                t.clone().for_each_operand_mut(&mut |v| work.push(*v));
            }
            work.extend(data.unwind.iter().flat_map(|t| t.args.iter().copied()));
            work.extend(self.plan.syncs.get(b).and_then(|s| s.value).map(|(v, _)| v));
        }
        let mut by_result: HashMap<Value, &InstData> = HashMap::new();
        for d in old.blocks.iter().flat_map(|b| &b.insts) {
            if let Some(r) = d.result.filter(|r| self.plan.available[r.index()]) {
                by_result.insert(r, d);
            }
        }
        while let Some(v) = work.pop() {
            if let Some(d) = by_result.get(&v)
                && recomputed.insert(v)
            {
                d.inst.for_each_operand(|v| work.push(v));
            }
        }
        let all = self.cfg.rpo().iter().flat_map(|b| &old.blocks[b.index()].insts);
        all.filter(|d| d.result.is_some_and(|r| recomputed.contains(&r))).collect()
    }

    /// Recomputes block-uniform values before the loops over threads.
    fn hoist_uniform(&mut self, recomputed: &[&InstData], now: &mut HashMap<Value, New>) -> Option<()> {
        let old = self.old;
        let frame = self.frame();
        // With grid barriers, the loop over blocks is one of the loops over threads, so block indices vary.
        let block = frame.block.unwrap_or(frame.grid);
        let is_of_block = |d: &InstData| matches!(&d.inst, Inst::Runtime(f, _) if !f.is_launch_shape());
        for d in recomputed {
            let same = |r: Value| !self.plan.varies[r.index()] && (old.kernel.uncounted || !old.ty(r).is_counted());
            let mut is_known = d.result.is_some_and(same) && (frame.block.is_some() || !is_of_block(d));
            d.inst.for_each_operand(|v| is_known &= now.contains_key(&v) || old.params().contains(&v));
            if let Some(r) = d.result.filter(|r| is_known && !now.contains_key(r)) {
                let v = self.redo(now, d, block, None)?;
                now.insert(r, New::Value(v));
            }
        }
        Some(())
    }

    /// Copies an instruction with the current values of its operands.
    fn redo(&mut self, now: &HashMap<Value, New>, d: &InstData, block: Axes, thread: Option<Number>) -> Option<Value> {
        let r = d.result?;
        if let Inst::Runtime(f, args) = &d.inst {
            if let Role::Geometry(what, axis) = f.role {
                let frame = self.frame();
                let of = match what {
                    Geometry::Block => block,
                    Geometry::BlockDim => frame.dim,
                    Geometry::GridDim => frame.grid,
                    Geometry::Thread => lh_ir::bug!("`kernel_context` hands the thread's index through"),
                };
                return Some(of.0[axis as usize]);
            }
            if f.role == Role::Memory(Memory::Local) && !self.transient.contains(&r) {
                return self.local(r, args[0], thread?);
            }
        }
        let mut inst = d.inst.clone();
        self.span = d.span;
        inst.for_each_operand_mut(&mut |v| *v = value_of(now, *v));
        Some(self.inst(inst, self.old.ty(r)))
    }

    /// Finds local arrays of gangs that no later region reads, nor the same one again: gangs share their memory.
    pub(super) fn find_transient(&mut self) {
        if self.old.kernel.gangs == Gangs::None {
            return;
        }
        let mut users: HashMap<Value, HashSet<Block>> = HashMap::new();
        let mut next: HashMap<Block, Vec<Block>> = HashMap::new();
        let mut work = vec![Block(0)];
        while let Some(entry) = work.pop() {
            if next.contains_key(&entry) {
                continue;
            }
            let blocks = self.blocks_of(entry);
            for d in self.recomputed(&blocks) {
                if let (Some(r), Inst::Runtime(f, _)) = (d.result, &d.inst)
                    && f.role == Role::Memory(Memory::Local)
                {
                    users.entry(r).or_default().insert(entry);
                }
            }
            let cuts = blocks.iter().filter(|b| self.plan.is_cut[b.index()]);
            let ways = cuts.flat_map(|b| match self.plan.syncs.get(b) {
                Some(s) => vec![s.resume],
                None => targets(self.old, *b).filter(|(n, _)| n.is_some()).map(|(_, t)| t.block).collect(),
            });
            let ways: Vec<Block> = ways.collect();
            work.extend(&ways);
            next.insert(entry, ways);
        }
        let later = |entry: Block| {
            let (mut seen, mut work) = (HashSet::new(), next[&entry].clone());
            while let Some(b) = work.pop() {
                if seen.insert(b) {
                    work.extend(&next[&b]);
                }
            }
            seen
        };
        let later: HashMap<Block, HashSet<Block>> = next.keys().map(|e| (*e, later(*e))).collect();
        let alone = |users: &HashSet<Block>| users.iter().all(|u| users.is_disjoint(&later[u]));
        self.transient = users.iter().filter(|(_, u)| alone(u)).map(|(r, _)| *r).collect();
    }

    /// The memory of a thread's local array, which outlives the region.
    fn local(&mut self, r: Value, bytes: Value, thread: Number) -> Option<Value> {
        let size = constant(self.old, bytes)?.next_multiple_of(16);
        if !self.locals.contains_key(&r) {
            let place = self.reserve(size);
            self.locals.insert(r, place);
        }
        Some(self.scratch_at(self.locals[&r], size, thread))
    }

    /// Puts live-in values that the region redefines into slots.
    fn put_in_slots(&mut self, piece: &mut Draft) -> Option<()> {
        let mut defined = HashSet::new();
        // Definitions in the last block are only visible behind the cut.
        for b in piece.blocks.iter().filter(|b| !self.is_last(piece, **b)) {
            let data = &self.old.blocks[b.index()];
            let results = data.insts.iter().filter_map(|d| d.result);
            let params = if *b == piece.entry { &[][..] } else { &data.params[..] };
            defined.extend(params.iter().copied().chain(results));
        }
        let alive = self.plan.alive[piece.entry.index()].clone();
        let last: Vec<Block> = piece.blocks.iter().copied().filter(|b| self.is_last(piece, *b)).collect();
        let at_last: HashSet<Value> = last.iter().flat_map(|b| self.defined_in(*b)).collect();
        let result = self.result_before(piece.entry);
        for v in alive {
            if !defined.contains(&v) {
                if Some(v) != result && !at_last.contains(&v) {
                    piece.kept.insert(v);
                }
                continue;
            }
            let x = value_of(&piece.now, v);
            let ty = self.old.ty(v);
            let slots: Vec<Slot> = parts(ty)?.into_iter().map(|t| self.out.new_slot(t)).collect();
            self.set_slots(&slots, x, ty);
            piece.now.insert(v, New::Slots(slots));
        }
        Some(())
    }

    /// Whether a block ends the region without also starting it.
    fn is_last(&self, piece: &Draft, b: Block) -> bool {
        self.plan.is_cut[b.index()] && b != piece.entry
    }
    fn defined_in(&self, b: Block) -> Vec<Value> {
        let data = &self.old.blocks[b.index()];
        data.params.iter().copied().chain(data.insts.iter().filter_map(|d| d.result)).collect()
    }

    fn set_slots(&mut self, slots: &[Slot], v: Value, ty: Ty) {
        for (s, part) in slots.iter().zip(self.split_parts(v, ty)) {
            self.effect(Inst::SlotSet(*s, part));
        }
    }

    fn copy_blocks(&mut self, piece: &mut Draft) -> Option<()> {
        for b in piece.blocks.clone() {
            let copy = self.out.new_block();
            piece.copies.insert(b, copy);
        }
        let old = self.old;
        let given = if piece.entry.index() == 0 { &[][..] } else { &old.blocks[piece.entry.index()].params[..] };
        let given: Vec<Value> = given.iter().map(|p| self.given(piece, *p)).collect();
        let first = self.enter(piece, piece.entry, &given);
        self.end(Term::Jump(first));
        for b in piece.blocks.clone() {
            let before: Vec<(Value, Option<New>)> = if self.is_last(piece, b) {
                self.defined_in(b).into_iter().map(|v| (v, piece.now.get(&v).cloned())).collect()
            } else {
                Vec::new()
            };
            self.copy_block(piece, b)?;
            for (v, now) in before {
                match now {
                    Some(now) => piece.now.insert(v, now),
                    None => piece.now.remove(&v),
                };
            }
        }
        Some(())
    }

    /// Blocks with a single incoming edge in the region.
    fn single_entry(&self, entry: Block, blocks: &[Block]) -> HashSet<Block> {
        let inside = blocks.iter().filter(|b| !self.plan.is_cut[b.index()]);
        let mut ways: HashMap<Block, usize> = HashMap::from([(entry, 1)]);
        for (_, t) in inside.flat_map(|b| targets(self.old, *b)) {
            *ways.entry(t.block).or_default() += 1;
        }
        let alive = &self.plan.alive[entry.index()];
        let last = |b: &Block| self.plan.is_cut[b.index()] && *b != entry;
        let fresh = |b: &Block| last(b) || self.old.blocks[b.index()].params.iter().all(|p| !alive.contains(p));
        ways.into_iter().filter(|(b, n)| *n == 1 && fresh(b)).map(|(b, _)| b).collect()
    }

    /// The target for an edge to a copied block.
    fn enter(&mut self, piece: &mut Draft, b: Block, args: &[Value]) -> Target {
        if !piece.direct.contains(&b) {
            return to(piece.copies[&b], args);
        }
        piece.given.insert(b, args.to_vec());
        to(piece.copies[&b], &[])
    }

    /// The initial value of a parameter of the region's first block.
    fn given(&mut self, piece: &Draft, p: Value) -> Value {
        match piece.now.get(&p) {
            Some(_) => value_of(&piece.now, p),
            None => self.inst(Inst::Zero, self.old.ty(p)),
        }
    }

    fn copy_block(&mut self, piece: &mut Draft, b: Block) -> Option<()> {
        let old = self.old;
        let data = &old.blocks[b.index()];
        self.at = piece.copies[&b];
        let copy = &mut self.out.blocks[self.at.index()];
        (copy.cold, copy.latch, copy.pragma) = (data.cold, data.latch, data.pragma);
        if data.hint == LoopHint::UnrollFull {
            copy.hint = LoopHint::UnrollFull;
        }
        if let Some(t) = &data.unwind {
            self.out.blocks[self.at.index()].unwind = Some(to(piece.copies[&t.block], &[]));
        }
        if let Some(given) = piece.given.remove(&b) {
            for (p, v) in data.params.iter().zip(given) {
                piece.now.insert(*p, New::Value(v));
            }
        } else if b.index() != 0 {
            for p in &data.params {
                let v = self.out.new_param(self.at, old.ty(*p));
                self.define(piece, *p, v);
            }
        }
        for d in &data.insts {
            if d.result.is_some_and(|r| self.plan.available[r.index()]) {
                continue;
            }
            self.span = d.span;
            let mut inst = d.inst.clone();
            inst.for_each_operand_mut(&mut |v| *v = self.current(piece, *v));
            let Some(r) = d.result else {
                self.effect(inst);
                continue;
            };
            let here = self.at;
            let can_hoist = self.can_hoist(piece, &inst, r);
            if can_hoist {
                self.at = piece.before;
            }
            let v = self.inst(inst, old.ty(r));
            self.at = here;
            if can_hoist {
                piece.outside.insert(v);
            }
            self.define(piece, r, v);
        }
        self.span = data.term_span;
        self.copy_term(piece, b)
    }

    /// Whether a block-uniform instruction can be hoisted out of the loops over threads.
    fn can_hoist(&self, piece: &Draft, inst: &Inst, r: Value) -> bool {
        let block = self.frame().block.is_some() || !matches!(inst, Inst::Runtime(..));
        let mut all = block && !self.plan.varies[r.index()] && is_speculative(inst);
        inst.for_each_operand(|v| all &= piece.outside.contains(&v) || self.old.params().contains(&v));
        all && (self.old.kernel.uncounted || !self.old.ty(r).is_counted())
            && !matches!(piece.now.get(&r), Some(New::Slots(_)))
    }

    fn copy_term(&mut self, piece: &mut Draft, b: Block) -> Option<()> {
        let latch = piece.latch;
        let Some(mut term) = self.old.blocks[b.index()].term.clone() else { lh_ir::bug!("no terminator") };
        if self.plan.is_cut[b.index()] {
            self.spill_at_cut(piece, b, &term)?;
            self.end(Term::Jump(to(latch, &[])));
            return Some(());
        }
        if let Term::Return(_) = term {
            self.end(Term::Jump(to(latch, &[])));
            return Some(());
        }
        term.for_each_operand_mut(&mut |v| *v = self.current(piece, *v));
        for t in term.targets_mut() {
            *t = self.enter(piece, t.block, &t.args);
        }
        self.end(term);
        Some(())
    }

    /// Records a definition.
    fn define(&mut self, piece: &mut Draft, old: Value, new: Value) {
        match piece.now.get(&old) {
            Some(New::Slots(s)) => self.set_slots(s, new, self.old.ty(old)),
            _ => {
                piece.now.insert(old, New::Value(new));
            }
        }
    }

    /// The current value of an old one, loaded if it is in slots.
    fn current(&mut self, piece: &Draft, v: Value) -> Value {
        match piece.now.get(&v) {
            Some(New::Value(x)) => *x,
            Some(New::Slots(s)) => {
                let ty = self.old.ty(v);
                let parts = parts(ty).unwrap_or_default();
                let values: Vec<Value> = s.iter().zip(parts).map(|(s, t)| self.inst(Inst::SlotGet(*s), t)).collect();
                self.rebuild(&values, ty)
            }
            None => v,
        }
    }

    /// Spills the values that are live behind the cut at the end of a block.
    fn spill_at_cut(&mut self, piece: &mut Draft, b: Block, term: &Term) -> Option<()> {
        if let Some(sync) = self.plan.syncs.get(&b).cloned() {
            if let Some((value, _)) = sync.value {
                let (slot, v) = (self.decision(b, Ty::int()), self.current(piece, value));
                let sum = self.inst(Inst::SlotGet(slot), Ty::int());
                let sum = self.cursor(|c| c.add(sum, v));
                self.effect(Inst::SlotSet(slot, sum));
            }
            return self.spill_for(piece, &to(sync.resume, &[]), sync.value.map(|(_, r)| r));
        }
        let Term::Branch { cond, then, els } = term else { lh_ir::bug!("a cut is a barrier or a branch") };
        if then.block == els.block {
            return None;
        }
        let (slot, c) = (self.decision(b, Ty::bool()), self.current(piece, *cond));
        self.set(piece, slot, c);
        self.spill_for(piece, then, None)?;
        self.spill_for(piece, els, None)
    }

    fn spill_for(&mut self, piece: &mut Draft, target: &Target, except: Option<Value>) -> Option<()> {
        let params = self.old.blocks[target.block.index()].params.clone();
        for (p, a) in params.into_iter().zip(&target.args) {
            if !self.old.ty(p).flatten().is_empty() {
                let v = self.current(piece, *a);
                self.spill(piece, (Some(target.block), p), v)?;
            }
        }
        for v in self.plan.alive[target.block.index()].clone() {
            // A spilled value that did not change is still valid.
            if Some(v) != except && !piece.kept.contains(&v) {
                let x = self.current(piece, v);
                self.spill(piece, (None, v), x)?;
            }
        }
        Some(())
    }

    /// Sets a slot of a block-uniform value, behind the loops if the value is available there.
    fn set(&mut self, piece: &mut Draft, slot: Slot, v: Value) {
        if piece.outside.contains(&v) {
            piece.after.push((slot, v));
        } else {
            self.effect(Inst::SlotSet(slot, v));
        }
    }

    fn spill(&mut self, piece: &mut Draft, home: Spill, v: Value) -> Option<()> {
        if piece.fetched.get(&self.representative(home)) == Some(&v) {
            return Some(());
        }
        let (ty, thread) = (self.old.ty(home.1), piece.thread);
        let values = self.split_parts(v, ty);
        if !self.plan.varies[home.1.index()] {
            let slots = self.slots_of(home)?;
            slots.into_iter().zip(values).for_each(|(s, v)| self.set(piece, s, v));
            return Some(());
        }
        for (i, (v, t)) in values.into_iter().zip(parts(ty)?).enumerate() {
            let p = self.spill_address(home, i, t.mem_layout().1, thread)?;
            self.effect(Inst::Store(p, v));
        }
        Some(())
    }
}

/// The current value of an old one that is in no slot; parameters of the function stay.
fn value_of(now: &HashMap<Value, New>, v: Value) -> Value {
    match now.get(&v) {
        Some(New::Value(x)) => *x,
        Some(New::Slots(_)) => lh_ir::bug!("{v} is in a slot"),
        None => v,
    }
}
