//! One piece of a kernel: the loops over threads, and in them copies of the blocks up to the next cuts.

use super::build::{Axes, Build, Home};
use super::keep::parts;
use crate::edit::{CountedLoop, to};
use crate::kernel_context::{HANDED, is_geometry};
use lh_ir::cfg::targets;
use lh_ir::func::{Gangs, Inst, InstData, Target, Term};
use lh_ir::{Block, Const, Slot, Ty, Value};
use std::collections::{HashMap, HashSet};

/// What stands for an old value in a piece.
#[derive(Clone)]
enum Now {
    Value(Value),
    /// It is there when the piece begins and defined again inside: its parts.
    Slots(Vec<Slot>),
}

/// The piece being made.
struct Piece {
    entry: Block,
    /// Its blocks, first to last.
    blocks: Vec<Block>,
    now: HashMap<Value, Now>,
    copies: HashMap<Block, Block>,
    /// Values that were kept when the piece began and are not defined again.
    kept: HashSet<Value>,
    thread: Value,
    latch: Block,
}

impl Build<'_> {
    pub(super) fn region(&mut self, entry: Block) -> Option<()> {
        self.at = self.head(entry);
        let blocks = self.blocks_of(entry);
        let (varying, uniform): (Vec<_>, Vec<_>) =
            self.incoming(entry).into_iter().partition(|(_, v)| self.plan.varies[v.index()]);
        let mut now = HashMap::new();
        for (home, v) in uniform {
            let x = self.fetch_uniform(home)?;
            now.insert(v, Now::Value(x));
        }
        self.clear_sums(&blocks);
        let (loops, axes, block, thread) = self.begin_threads();
        let latch = self.out.new_block();
        for (old, new) in self.old.params()[1..HANDED].iter().zip(axes.0) {
            now.insert(*old, Now::Value(new));
        }
        let mut piece = Piece { entry, blocks, now, copies: HashMap::new(), kept: HashSet::new(), thread, latch };
        for (home, v) in varying {
            let x = self.fetch(home, thread)?;
            piece.now.insert(v, Now::Value(x));
        }
        self.compute_again(&mut piece, block)?;
        self.hold_redefined(&mut piece)?;
        self.copy_blocks(&mut piece)?;
        self.at = latch;
        self.out.blocks[latch.index()].threads = self.old.gangs == Gangs::None;
        for l in &loops {
            self.cursor(|c| c.end_loop(l));
        }
        self.go_on(entry)
    }

    /// Blocks of a piece: up to the next cuts, handlers included.
    fn blocks_of(&self, entry: Block) -> Vec<Block> {
        let (mut seen, mut work) = (HashSet::from([entry]), vec![entry]);
        while let Some(b) = work.pop() {
            for (n, t) in targets(self.old, b) {
                if (n.is_none() || !self.plan.is_cut[b.index()]) && seen.insert(t.block) {
                    work.push(t.block);
                }
            }
        }
        self.cfg.rpo().iter().copied().filter(|b| seen.contains(b)).collect()
    }

    /// What is kept for a piece, with where.
    fn incoming(&self, entry: Block) -> Vec<(Home, Value)> {
        if entry.index() == 0 {
            return Vec::new();
        }
        let result = self.plan.syncs.values().find(|s| s.resume == entry).and_then(|s| s.value).map(|(_, r)| r);
        let params = self.old.blocks[entry.index()].params.iter().copied().chain(result);
        let own = params.map(|v| ((Some(entry), v), v)).filter(|(_, v)| !self.old.ty(*v).flatten().is_empty());
        let alive = self.plan.alive[entry.index()].iter().filter(|v| Some(**v) != result).map(|v| ((None, *v), *v));
        own.chain(alive).collect()
    }

    fn fetch_uniform(&mut self, home: Home) -> Option<Value> {
        let ty = self.old.ty(home.1);
        let slots = self.uniform_home(home)?;
        let values: Vec<Value> =
            slots.into_iter().zip(parts(ty)?).map(|(s, t)| self.inst(Inst::SlotGet(s), t)).collect();
        Some(self.join(&values, ty))
    }

    fn fetch(&mut self, home: Home, thread: Value) -> Option<Value> {
        let ty = self.old.ty(home.1);
        let mut values = Vec::new();
        for (i, t) in parts(ty)?.into_iter().enumerate() {
            let p = self.spill_home(home, i, t.mem_layout().1, thread)?;
            values.push(self.inst(Inst::Load(p), t));
        }
        Some(self.join(&values, ty))
    }

    /// A value from its parts.
    fn join(&mut self, values: &[Value], ty: Ty) -> Value {
        if !ty.is_array() {
            return values[0];
        }
        // Whoever launched the kernel owns what its arrays are over.
        let owner = self.inst(Inst::Zero, Ty::meminfo());
        let n = (values.len() - 1) / 2;
        let (shape, strides) = (values[1..=n].to_vec(), values[1 + n..].to_vec());
        self.inst(Inst::ArrayMake { owner, data: values[0], shape, strides }, ty)
    }

    fn take_apart(&mut self, v: Value, ty: Ty) -> Vec<Value> {
        let Some((_, ndim, ..)) = ty.as_array() else { return vec![v] };
        let mut out = vec![self.inst(Inst::ArrayData(v), Ty::ptr())];
        out.extend((0..ndim as u32).map(|i| self.inst(Inst::ArrayShape(v, i), Ty::int())).collect::<Vec<_>>());
        out.extend((0..ndim as u32).map(|i| self.inst(Inst::ArrayStride(v, i), Ty::int())).collect::<Vec<_>>());
        out
    }

    /// Sums over the threads begin at nothing.
    fn clear_sums(&mut self, blocks: &[Block]) {
        for b in blocks {
            if self.plan.syncs.get(b).is_some_and(|s| s.value.is_some()) {
                let slot = self.decision(*b, Ty::int());
                let zero = self.inst(Inst::Const(Const::Int(0, Ty::int())), Ty::int());
                self.effect(Inst::SlotSet(slot, zero));
            }
        }
    }

    /// The loops, innermost first; indices of the thread and of the block, and the thread's number.
    fn begin_threads(&mut self) -> (Vec<CountedLoop>, Axes, Axes, Value) {
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
        for axis in [2, 1, 0] {
            let l = self.cursor(|c| c.begin_loop(frame.units.0[axis]));
            loops.push(l);
        }
        loops.reverse();
        let axes = Axes([loops[0].index, loops[1].index, loops[2].index]);
        let thread = self.cursor(|c| {
            let plane = c.mul(axes.0[2], frame.units.0[1]);
            let row = c.add(plane, axes.0[1]);
            let start = c.mul(row, frame.units.0[0]);
            let start = before.map_or(start, |b| c.add(b, start));
            c.add(start, axes.0[0])
        });
        (loops, axes, block, thread)
    }

    /// Computes what is not kept because it is cheap.
    fn compute_again(&mut self, piece: &mut Piece, block: Axes) -> Option<()> {
        let old = self.old;
        let mut wanted: HashSet<Value> = HashSet::new();
        let mut work: Vec<Value> = Vec::new();
        for b in &piece.blocks {
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
                && wanted.insert(v)
            {
                d.inst.for_each_operand(|v| work.push(v));
            }
        }
        for b in self.cfg.rpo() {
            for d in &old.blocks[b.index()].insts {
                if let Some(r) = d.result.filter(|r| wanted.contains(r)) {
                    let v = self.again(piece, d, r, block)?;
                    piece.now.insert(r, Now::Value(v));
                }
            }
        }
        Some(())
    }

    fn again(&mut self, piece: &Piece, d: &InstData, r: Value, block: Axes) -> Option<Value> {
        if let Inst::Runtime(f, args) = &d.inst {
            if is_geometry(f.name) {
                let frame = self.frame();
                let axis = ["x", "y", "z"].iter().position(|a| f.name.ends_with(a))?;
                let of = if f.name.contains("_bid_") {
                    block
                } else if f.name.contains("_bdim_") {
                    frame.dim
                } else {
                    frame.grid
                };
                return Some(of.0[axis]);
            }
            if f.name == "lh_cuda_local" && !self.plan.syncs.is_empty() {
                return self.local(r, args[0], piece.thread);
            }
        }
        let mut inst = d.inst.clone();
        self.span = d.span;
        inst.for_each_operand_mut(&mut |v| *v = value_of(piece, *v));
        Some(self.inst(inst, self.old.ty(r)))
    }

    /// An array of each thread's own, which outlives the piece.
    fn local(&mut self, r: Value, bytes: Value, thread: Value) -> Option<Value> {
        let insts = self.old.blocks.iter().flat_map(|b| &b.insts);
        let size = insts.filter(|d| d.result == Some(bytes)).find_map(|d| match d.inst {
            Inst::Const(Const::Int(i, _)) => usize::try_from(i).ok(),
            _ => None,
        })?;
        let size = size.next_multiple_of(16);
        if !self.locals.contains_key(&r) {
            let place = self.reserve(size);
            self.locals.insert(r, place);
        }
        Some(self.scratch_at(self.locals[&r], size, thread))
    }

    /// Values that are there when the piece begins and defined again inside live in slots.
    fn hold_redefined(&mut self, piece: &mut Piece) -> Option<()> {
        let mut defined = HashSet::new();
        for b in &piece.blocks {
            let data = &self.old.blocks[b.index()];
            let results = data.insts.iter().filter_map(|d| d.result);
            let params = if *b == piece.entry { &[][..] } else { &data.params[..] };
            defined.extend(params.iter().copied().chain(results));
        }
        let alive = self.plan.alive[piece.entry.index()].clone();
        for v in alive {
            if !defined.contains(&v) {
                piece.kept.insert(v);
                continue;
            }
            let x = value_of(piece, v);
            let ty = self.old.ty(v);
            let slots: Vec<Slot> = parts(ty)?.into_iter().map(|t| self.out.new_slot(t)).collect();
            self.set_slots(&slots, x, ty);
            piece.now.insert(v, Now::Slots(slots));
        }
        Some(())
    }

    fn set_slots(&mut self, slots: &[Slot], v: Value, ty: Ty) {
        for (s, part) in slots.iter().zip(self.take_apart(v, ty)) {
            self.effect(Inst::SlotSet(*s, part));
        }
    }

    fn copy_blocks(&mut self, piece: &mut Piece) -> Option<()> {
        for b in piece.blocks.clone() {
            let copy = self.out.new_block();
            piece.copies.insert(b, copy);
        }
        let old = self.old;
        let given: Vec<Value> = if piece.entry.index() == 0 {
            Vec::new()
        } else {
            old.blocks[piece.entry.index()].params.iter().map(|p| self.given(piece, *p)).collect()
        };
        let first = piece.copies[&piece.entry];
        self.end(Term::Jump(to(first, &given)));
        for b in piece.blocks.clone() {
            self.copy_block(piece, b)?;
        }
        Some(())
    }

    /// What a parameter of the piece's first block begins as.
    fn given(&mut self, piece: &Piece, p: Value) -> Value {
        match piece.now.get(&p) {
            Some(_) => value_of(piece, p),
            None => self.inst(Inst::Zero, self.old.ty(p)),
        }
    }

    fn copy_block(&mut self, piece: &mut Piece, b: Block) -> Option<()> {
        let old = self.old;
        let data = &old.blocks[b.index()];
        self.at = piece.copies[&b];
        let copy = &mut self.out.blocks[self.at.index()];
        (copy.cold, copy.threads) = (data.cold, data.threads);
        if let Some(t) = &data.unwind {
            self.out.blocks[self.at.index()].unwind = Some(to(piece.copies[&t.block], &[]));
        }
        if b.index() != 0 {
            for p in &data.params {
                let v = self.out.new_value(old.ty(*p));
                self.out.blocks[self.at.index()].params.push(v);
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
            match d.result {
                Some(r) => {
                    let v = self.inst(inst, old.ty(r));
                    self.define(piece, r, v);
                }
                None => self.effect(inst),
            }
        }
        self.span = data.term_span;
        self.copy_term(piece, b)
    }

    fn copy_term(&mut self, piece: &mut Piece, b: Block) -> Option<()> {
        let latch = piece.latch;
        let Some(mut term) = self.old.blocks[b.index()].term.clone() else { lh_ir::bug!("no terminator") };
        if self.plan.is_cut[b.index()] {
            self.keep(piece, b, &term)?;
            self.end(Term::Jump(to(latch, &[])));
            return Some(());
        }
        if let Term::Return(_) = term {
            self.end(Term::Jump(to(latch, &[])));
            return Some(());
        }
        term.for_each_operand_mut(&mut |v| *v = self.current(piece, *v));
        for t in term.targets_mut() {
            t.block = piece.copies[&t.block];
        }
        self.end(term);
        Some(())
    }

    /// A value is defined in the piece.
    fn define(&mut self, piece: &mut Piece, old: Value, new: Value) {
        match piece.now.get(&old) {
            Some(Now::Slots(s)) => self.set_slots(s, new, self.old.ty(old)),
            _ => {
                piece.now.insert(old, Now::Value(new));
            }
        }
    }

    /// What an old value is now; one in slots is read.
    fn current(&mut self, piece: &Piece, v: Value) -> Value {
        match piece.now.get(&v) {
            Some(Now::Value(x)) => *x,
            Some(Now::Slots(s)) => {
                let ty = self.old.ty(v);
                let parts = parts(ty).unwrap_or_default();
                let values: Vec<Value> = s.iter().zip(parts).map(|(s, t)| self.inst(Inst::SlotGet(*s), t)).collect();
                self.join(&values, ty)
            }
            None => v,
        }
    }

    /// Keeps what is needed after the cut at the end of a block.
    fn keep(&mut self, piece: &Piece, b: Block, term: &Term) -> Option<()> {
        if let Some(sync) = self.plan.syncs.get(&b).cloned() {
            if let Some((value, _)) = sync.value {
                let (slot, v) = (self.decision(b, Ty::int()), self.current(piece, value));
                let sum = self.inst(Inst::SlotGet(slot), Ty::int());
                let sum = self.cursor(|c| c.add(sum, v));
                self.effect(Inst::SlotSet(slot, sum));
            }
            return self.keep_for(piece, &to(sync.resume, &[]), sync.value.map(|(_, r)| r));
        }
        let Term::Branch { cond, then, els } = term else { lh_ir::bug!("a cut is a barrier or a branch") };
        if then.block == els.block {
            return None;
        }
        let (slot, c) = (self.decision(b, Ty::bool()), self.current(piece, *cond));
        self.effect(Inst::SlotSet(slot, c));
        self.keep_for(piece, then, None)?;
        self.keep_for(piece, els, None)
    }

    fn keep_for(&mut self, piece: &Piece, target: &Target, except: Option<Value>) -> Option<()> {
        let params = self.old.blocks[target.block.index()].params.clone();
        for (p, a) in params.into_iter().zip(&target.args) {
            if !self.old.ty(p).flatten().is_empty() {
                let v = self.current(piece, *a);
                self.put((Some(target.block), p), v, piece.thread)?;
            }
        }
        for v in self.plan.alive[target.block.index()].clone() {
            // What was kept and not changed is kept still.
            if Some(v) != except && !piece.kept.contains(&v) {
                let x = self.current(piece, v);
                self.put((None, v), x, piece.thread)?;
            }
        }
        Some(())
    }

    fn put(&mut self, home: Home, v: Value, thread: Value) -> Option<()> {
        let ty = self.old.ty(home.1);
        let values = self.take_apart(v, ty);
        if !self.plan.varies[home.1.index()] {
            return self.set_uniform(home, &values);
        }
        for (i, (v, t)) in values.into_iter().zip(parts(ty)?).enumerate() {
            let p = self.spill_home(home, i, t.mem_layout().1, thread)?;
            self.effect(Inst::Store(p, v));
        }
        Some(())
    }
}

/// What stands for a value that is not in a slot; parameters of the function stand for themselves.
fn value_of(piece: &Piece, v: Value) -> Value {
    match piece.now.get(&v) {
        Some(Now::Value(x)) => *x,
        Some(Now::Slots(_)) => lh_ir::bug!("{v} is in a slot"),
        None => v,
    }
}
