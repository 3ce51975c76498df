//! The new function: its start, its pieces, and how they follow each other.

use super::plan::Plan;
use crate::analysis::counted::Defs;
use crate::analysis::device::{HANDED, is_geometry};
use crate::edit::{Cursor, runtime, to};
use lh_ir::cfg::{Cfg, DomTree};
use lh_ir::func::{BlockData, GANG, Gangs, Inst, InstData, KernelFacts, LatchHint, LoopHint, Target, Term, waits};
use lh_ir::{Block, Const, Function, Slot, Span, Ty, Value};
use std::collections::HashMap;

/// Which copy of the code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// All lanes of a full gang go together.
    Full,
    /// All lanes of a gang that has fewer go together.
    Short,
    /// Lanes have gone different ways: each knows the piece that it comes to next. The number is that of the detour.
    Apart(usize),
}

impl Way {
    pub(super) fn is_apart(self) -> bool {
        matches!(self, Way::Apart(_))
    }
}

/// Pieces that lanes go through in different ways, until they meet.
struct Detour {
    /// How they came, and go on.
    way: Way,
    /// Where they meet; `None`: at the end.
    join: Option<Block>,
    /// The pieces, in the order in which they are served.
    pieces: Vec<Block>,
    dispatch: Block,
}

/// What is known at the start of a gang.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// Index of the first lane's thread, where warps do not go from row to row.
    pub x: Value,
    pub y: Value,
    pub z: Value,
    /// Lanes that there are.
    pub lanes: Value,
    /// Number of the first lane's thread in the block, where gangs are warps.
    pub first: Value,
    /// Lanes that there are as bits.
    pub mask: Value,
}

/// Arrays with a place for each lane that belong to no value.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    /// Where a lane goes next: the number of a piece, or one more than there are.
    pub next: Value,
    /// Indices of the lanes' threads, where gangs are warps.
    pub index: [Value; 3],
}

/// The function being made.
pub(super) struct Build<'a> {
    pub(super) old: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) plan: &'a Plan,
    pub(super) out: Function,
    pub(super) at: Block,
    pub(super) span: Span,
    pub(super) start: Start,
    pub(super) arrays: Arrays,
    /// Definitions of old values.
    pub(super) defs: HashMap<Value, &'a InstData>,
    pub(super) places: Defs,
    pub(super) dom: DomTree,
    geometry: HashMap<&'static str, Value>,
    homes: HashMap<(bool, Value), Value>,
    /// What lanes keep is where only loops over 32 lanes look for it, and operations on such arrays: LLVM makes vectors of
    /// those, in registers. Elsewhere they keep it in memory.
    pub(super) vectors: bool,
    /// What is being written is for all lanes of a gang that is a warp, which keep what they have in vectors.
    pub(super) full: bool,
    /// All of them are there, and next to each other in a row.
    pub(super) exact: bool,
    heads: HashMap<(Way, Block), Block>,
    queue: Vec<(Way, Block)>,
    /// Least and greatest number of the pieces that lanes come to.
    ends: [Slot; 2],
    /// Whether any lane comes to the piece again in which it is; 0 if all do.
    pub(super) again: Slot,
    pub(super) others: Slot,
    detours: Vec<Detour>,
    /// A block at whose end all lanes take the way to another, while a piece is written of which that is known.
    pub(super) taken: Option<(Block, Block)>,
    pub(super) finish: Block,
    /// Where exceptions of what is done once for a gang go.
    pub(super) handler: Block,
    /// Whether all gangs of the block have all their lanes, in whole rows.
    whole: Value,
    /// Whether gangs of a block go on in different ways: none waits for the others.
    pub(super) by_gang: bool,
}

impl<'a> Build<'a> {
    pub(super) fn new(old: &'a Function, cfg: &'a Cfg, plan: &'a Plan, gangs: Gangs) -> Build<'a> {
        let entry = BlockData { params: old.params().to_vec(), ..BlockData::default() };
        let kernel = KernelFacts { gangs, ..old.kernel.clone() };
        let mut out = Function { blocks: vec![entry], kernel, ..old.clone() };
        let insts = old.blocks.iter().flat_map(|b| &b.insts);
        let defs = insts.filter_map(|d| Some((d.result?, d))).collect();
        let ends = [out.new_slot(Ty::i32()), out.new_slot(Ty::i32())];
        let (again, others) = (out.new_slot(Ty::bool()), out.new_slot(Ty::i32()));
        let (finish, handler) = (out.new_block(), out.new_block());
        let none = old.params()[0];
        let mut b = Build {
            old,
            cfg,
            plan,
            out,
            at: Block(0),
            span: Span::default(),
            start: Start { x: none, y: none, z: none, lanes: none, first: none, mask: none },
            arrays: Arrays { next: none, index: [none; 3] },
            defs,
            places: Defs::new(old),
            dom: DomTree::new(cfg),
            geometry: HashMap::new(),
            homes: HashMap::new(),
            vectors: false,
            full: false,
            exact: false,
            heads: HashMap::new(),
            queue: Vec::new(),
            ends,
            again,
            others,
            detours: Vec::new(),
            taken: None,
            finish,
            handler,
            whole: none,
            by_gang: old.kernel.waits & (waits::BLOCK | waits::GRID) == 0,
        };
        b.begin(gangs);
        b
    }

    pub(super) fn run(mut self) -> Option<Function> {
        let head = self.head(Way::Full, Block(0));
        let (whole, short) = (self.whole, self.out.new_block());
        self.end(Term::Branch { cond: whole, then: to(head, &[]), els: to(short, &[]) });
        self.at = short;
        if self.out.kernel.gangs == Gangs::Warps {
            if self.by_gang {
                self.fill_rows(head);
            }
            self.index_threads();
        }
        let head = self.head(Way::Short, Block(0));
        self.end(Term::Jump(to(head, &[])));
        while let Some((way, b)) = self.queue.pop() {
            self.piece(way, b)?;
        }
        self.write_handler();
        self.at = self.finish;
        let none = self.inst(Inst::Zero, Ty::none());
        self.end(Term::Return(none));
        Some(self.out)
    }

    pub(super) fn cursor<R>(&mut self, f: impl FnOnce(&mut Cursor<'_>) -> R) -> R {
        let mut c = Cursor { func: &mut self.out, block: self.at, span: self.span, unwind: None, cold: false };
        let r = f(&mut c);
        self.at = c.block;
        r
    }
    pub(super) fn inst(&mut self, inst: Inst, ty: Ty) -> Value {
        self.cursor(|c| c.inst(inst, ty))
    }
    pub(super) fn effect(&mut self, inst: Inst) {
        self.cursor(|c| c.effect(inst));
    }
    pub(super) fn end(&mut self, term: Term) {
        let data = &mut self.out.blocks[self.at.index()];
        (data.term, data.term_span) = (Some(term), self.span);
    }
    pub(super) fn context(&self) -> Value {
        self.old.params()[0]
    }
    /// An instruction at the start of the function.
    fn at_start(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.out.new_value(ty);
        self.out.blocks[0].insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    }
    /// The shape of the launch, read at the start.
    pub(super) fn geometry(&mut self, name: &'static str) -> Value {
        if let Some(v) = self.geometry.get(name) {
            return *v;
        }
        let v = self.at_start(Inst::Runtime(runtime(name), vec![self.context()]), Ty::int());
        self.geometry.insert(name, v);
        v
    }
    /// An array with a place of so many bytes for each lane.
    pub(super) fn array(&mut self, size: usize) -> Value {
        let int = |i: i64| Inst::Const(Const::Int(i.into(), Ty::int()));
        let bytes = self.at_start(int(GANG * size as i64), Ty::int());
        let align = self.at_start(int(64), Ty::int());
        self.at_start(Inst::Runtime(runtime("lh_cuda_local"), vec![bytes, align]), Ty::ptr())
    }
    /// Where lanes keep a value.
    pub(super) fn home(&mut self, v: Value) -> Value {
        let size = self.kept_as(v).mem_layout().1;
        self.home_of_size((self.vectors, v), size)
    }
    /// The type that lanes keep a value as.
    pub(super) fn kept_as(&self, v: Value) -> Ty {
        if self.plan.narrow[v.index()] { Ty::i32() } else { self.old.ty(v) }
    }
    pub(super) fn cast(&mut self, v: Value, ty: Ty) -> Value {
        if self.out.ty(v) == ty { v } else { self.inst(Inst::Cast(v), ty) }
    }

    /// Where lanes have so many bytes each, in vectors or not.
    pub(super) fn home_of_size(&mut self, key: (bool, Value), size: usize) -> Value {
        if let Some(h) = self.homes.get(&key) {
            return *h;
        }
        let h = self.array(size);
        self.homes.insert(key, h);
        h
    }
    /// Whether lanes that go this way keep what they have in vectors. A gang that has fewer lanes keeps anything for the rest.
    pub(super) fn has_vectors(&self, way: Way) -> bool {
        !way.is_apart() && self.out.kernel.gangs == Gangs::Warps
    }
    /// What follows is for lanes that go this way.
    pub(super) fn goes_together(&mut self, way: Way) {
        self.full = self.has_vectors(way);
        (self.vectors, self.exact) = (self.full, self.full && way == Way::Full);
    }
    /// Copies what lanes keep of values to vectors, or from there to memory.
    pub(super) fn transfer(&mut self, values: &[Value], vectors: bool) {
        for v in values {
            let size = self.kept_as(*v).mem_layout().1;
            let [from, to] = [!vectors, vectors].map(|side| self.home_of_size((side, *v), size));
            let size = self.cursor(|c| c.int(size as i64));
            self.effect(Inst::Runtime(runtime("lh_cuda_lanes_copy"), vec![from, to, size]));
        }
    }

    /// What is known of the gang: the parameters after the context are its place in its row, the row and the layer; its number
    /// in the block and twice 0, where warps go from row to row.
    fn begin(&mut self, gangs: Gangs) {
        let [dx, dy, dz] = ["lh_cuda_bdim_x", "lh_cuda_bdim_y", "lh_cuda_bdim_z"].map(|n| self.geometry(n));
        let [number, row, layer] = [1, 2, 3].map(|i| self.old.params()[i]);
        let (start, whole) = self.cursor(|c| {
            let size = c.int(GANG);
            let (zero, one) = (c.int(0), c.int(1));
            let odd = c.int_op("srem", dx, size);
            let whole = c.eq(odd, zero);
            let x = c.mul(number, size);
            let (first, threads) = if gangs == Gangs::Rows {
                (zero, dx)
            } else {
                let plane = c.mul(dx, dy);
                (x, c.mul(plane, dz))
            };
            let left = c.sub(threads, x);
            let few = c.lt(left, size);
            let lanes = c.select(few, left, size);
            let bits = c.int_op("shl", one, lanes);
            let mask = c.sub(bits, one);
            (Start { x, y: row, z: layer, lanes, first, mask }, whole)
        });
        (self.start, self.whole) = (start, whole);
        let next = self.array(4);
        let index = if gangs == Gangs::Warps { [(); 3].map(|()| self.array(8)) } else { [next; 3] };
        self.arrays = Arrays { next, index };
    }

    /// In the only row of a block all gangs but the last have all their lanes.
    fn fill_rows(&mut self, head: Block) {
        let (lanes, rest) = (self.start.lanes, self.out.new_block());
        let [dy, dz] = ["lh_cuda_bdim_y", "lh_cuda_bdim_z"].map(|n| self.geometry(n));
        let cond = self.cursor(|c| {
            let (one, size, rows) = (c.int(1), c.int(GANG), c.mul(dy, dz));
            let (alone, there) = (c.eq(rows, one), c.eq(lanes, size));
            c.and(alone, there)
        });
        self.end(Term::Branch { cond, then: to(head, &[]), els: to(rest, &[]) });
        self.at = rest;
    }
    /// Writes down the indices of the lanes' threads.
    pub(super) fn index_threads(&mut self) {
        let (start, index) = (self.start, self.arrays.index);
        let [dx, dy, dz] = ["lh_cuda_bdim_x", "lh_cuda_bdim_y", "lh_cuda_bdim_z"].map(|n| self.geometry(n));
        let (rows, line, done) = (self.out.new_block(), self.out.new_block(), self.out.new_block());
        let alone = self.cursor(|c| {
            let (one, more) = (c.int(1), c.mul(dy, dz));
            c.eq(more, one)
        });
        self.end(Term::Branch { cond: alone, then: to(line, &[]), els: to(rows, &[]) });
        for (block, in_line) in [(rows, false), (line, true)] {
            self.at = block;
            let width = if in_line { self.cursor(|c| c.int(GANG)) } else { start.lanes };
            self.lanes(width, |b, lane| {
                let parts = b.cursor(|c| {
                    let t = c.add(start.first, lane);
                    if in_line {
                        return [t, start.y, start.z];
                    }
                    let row = c.int_op("sdiv", t, dx);
                    [c.int_op("srem", t, dx), c.int_op("srem", row, dy), c.int_op("sdiv", row, dy)]
                });
                for (array, v) in index.into_iter().zip(parts) {
                    b.put(array, 8, lane, v);
                }
            });
            self.end(Term::Jump(to(done, &[])));
        }
        self.at = done;
    }

    /// A loop over lanes.
    pub(super) fn lanes(&mut self, n: Value, body: impl FnOnce(&mut Self, Value)) {
        let l = self.cursor(|c| c.begin_loop(n));
        body(self, l.index);
        let data = &mut self.out.blocks[self.at.index()];
        data.latch = if self.vectors { LatchHint::VectorizeLanes } else { LatchHint::ParallelAccesses };
        self.cursor(|c| c.end_loop(&l));
    }
    /// The number of lanes that a way has a loop over.
    pub(super) fn width(&mut self, way: Way) -> Value {
        if way == Way::Short && !self.vectors { self.start.lanes } else { self.cursor(|c| c.int(GANG)) }
    }
    /// Address of a lane's place.
    pub(super) fn place(&mut self, array: Value, size: usize, lane: Value) -> Value {
        let offset = self.cursor(|c| {
            let size = c.int(size as i64);
            c.mul(lane, size)
        });
        self.inst(Inst::PtrAdd(array, offset), Ty::ptr())
    }
    pub(super) fn put(&mut self, array: Value, size: usize, lane: Value, v: Value) {
        let p = self.place(array, size, lane);
        self.effect(Inst::Store(p, v));
    }
    pub(super) fn get(&mut self, array: Value, ty: Ty, lane: Value) -> Value {
        let p = self.place(array, ty.mem_layout().1, lane);
        self.inst(Inst::Load(p), ty)
    }
    /// What a lane keeps of a value.
    pub(super) fn fetch(&mut self, v: Value, lane: Value) -> Value {
        let home = self.home(v);
        let x = self.get(home, self.kept_as(v), lane);
        self.cast(x, self.old.ty(v))
    }
    pub(super) fn keep(&mut self, key: Value, lane: Value, v: Value) {
        let (home, ty) = (self.home(key), self.kept_as(key));
        let v = self.cast(v, ty);
        self.put(home, ty.mem_layout().1, lane, v);
    }

    /// Values that are the same for all lanes which a piece is given, in this order.
    pub(super) fn given(&self, head: Block) -> Vec<Value> {
        self.plan.needs(self.old, head).into_iter().filter(|v| !self.plan.varies[v.index()]).collect()
    }
    /// Values of which each lane has its own when a piece begins.
    pub(super) fn own(&self, head: Block) -> Vec<Value> {
        self.plan.needs(self.old, head).into_iter().filter(|v| self.plan.varies[v.index()]).collect()
    }
    /// Where the copy of a piece begins.
    pub(super) fn head(&mut self, way: Way, head: Block) -> Block {
        if let Some(b) = self.heads.get(&(way, head)) {
            return *b;
        }
        let b = self.out.new_block();
        if !way.is_apart() {
            for v in self.given(head) {
                self.out.new_param(b, self.old.ty(v));
            }
        }
        if self.has_vectors(way) && self.plan.rounds.contains(&head) {
            self.out.blocks[b.index()].hint = LoopHint::UnrollFull;
        }
        self.heads.insert((way, head), b);
        self.queue.push((way, head));
        b
    }
    /// A piece with what it is given, by old value.
    pub(super) fn target(
        &mut self,
        way: Way,
        head: Block,
        of: &mut dyn FnMut(&mut Self, Value) -> Option<Value>,
    ) -> Option<Target> {
        let block = self.head(way, head);
        let args = self.given(head).into_iter().map(|v| of(self, v)).collect::<Option<Vec<Value>>>()?;
        Some(Target { block, args })
    }
    /// The detour that lanes make who came together and have gone to different pieces, some to the end.
    pub(super) fn detour(&mut self, way: Way, goals: &[Block], ends: bool) -> Option<usize> {
        let join = if ends { None } else { self.plan.join(self.old, self.cfg, goals) };
        if let Some(i) = self.detours.iter().position(|d| d.way == way && d.join == join) {
            let new = goals.iter().any(|g| Some(*g) != join && !self.detours[i].pieces.contains(g));
            if !new {
                return Some(i);
            }
        }
        let pieces = self.plan.reachable(self.old, goals, join);
        let dispatch = self.out.new_block();
        self.detours.push(Detour { way, join, pieces, dispatch });
        let i = self.detours.len() - 1;
        let before = (self.at, self.vectors, self.full, self.exact);
        (self.at, self.vectors, self.full, self.exact) = (dispatch, false, false, false);
        self.serve(i)?;
        (self.at, self.vectors, self.full, self.exact) = before;
        Some(i)
    }
    /// Where lanes on a detour are served.
    pub(super) fn dispatch(&self, way: Way) -> Block {
        match way {
            Way::Apart(i) => self.detours[i].dispatch,
            Way::Full | Way::Short => lh_ir::bug!("lanes that go together are not on a detour"),
        }
    }
    /// Number of the end.
    pub(super) fn last(&self) -> i64 {
        self.plan.order.len() as i64
    }

    /// Serves the first piece that a lane comes to, until all have come to where they meet.
    fn serve(&mut self, detour: usize) -> Option<()> {
        let last = self.last();
        let met = self.detours[detour].join.map(|j| self.plan.number(j));
        self.clear_ends();
        let width = self.width(Way::Full);
        self.lanes(width, |b, lane| {
            let mut n = b.next_of(lane);
            // Those who have come to where all meet wait for the others.
            if let Some(met) = met {
                let (met, last) = (b.number(met), b.number(last));
                n = b.cursor(|c| {
                    let waits = c.eq(n, met);
                    c.select(waits, last, n)
                });
            }
            b.note_end(n);
        });
        let [low, _] = self.noted_ends();
        for piece in self.detours[detour].pieces.clone() {
            let (hit, miss) = self.test(low, self.plan.number(piece));
            self.at = hit;
            let head = self.head(Way::Apart(detour), piece);
            self.end(Term::Jump(to(head, &[])));
            self.at = miss;
        }
        let Detour { way, join, .. } = self.detours[detour];
        let goal = match join {
            None => to(self.finish, &[]),
            Some(join) => {
                if self.has_vectors(way) {
                    let own = self.own(join);
                    self.transfer(&own, true);
                }
                let first = self.cursor(|c| c.int(0));
                self.target(way, join, &mut |b, v| Some(b.fetch(v, first)))?
            }
        };
        self.end(Term::Jump(goal));
        Some(())
    }
    /// Branches on whether a number is another: the blocks for yes and for no.
    pub(super) fn test(&mut self, v: Value, number: i64) -> (Block, Block) {
        let n = self.number(number);
        let cond = self.cursor(|c| c.eq(v, n));
        let (yes, no) = (self.out.new_block(), self.out.new_block());
        self.end(Term::Branch { cond, then: to(yes, &[]), els: to(no, &[]) });
        (yes, no)
    }
    pub(super) fn clear_ends(&mut self) {
        let [low, high] = self.ends;
        let (a, b) = (self.number(i64::from(i32::MAX)), self.number(-1));
        self.effect(Inst::SlotSet(low, a));
        self.effect(Inst::SlotSet(high, b));
    }
    pub(super) fn noted_ends(&mut self) -> [Value; 2] {
        self.ends.map(|s| self.inst(Inst::SlotGet(s), Ty::i32()))
    }
    /// The number of a piece, as narrow as what lanes compute with, so that vectors hold as many of them.
    pub(super) fn number(&mut self, n: i64) -> Value {
        self.inst(Inst::Const(Const::Int(n.into(), Ty::i32())), Ty::i32())
    }
    /// The number of the piece that a lane comes to next.
    pub(super) fn next_of(&mut self, lane: Value) -> Value {
        self.get(self.arrays.next, Ty::i32(), lane)
    }
    pub(super) fn set_next(&mut self, lane: Value, n: Value) {
        self.put(self.arrays.next, 4, lane, n);
    }
    /// Whether a lane comes to the piece of this number next.
    pub(super) fn is_there(&mut self, number: i64, lane: Value) -> Value {
        let (n, own) = (self.next_of(lane), self.number(number));
        self.cursor(|c| c.eq(n, own))
    }
    /// A lane comes to a piece of this number.
    pub(super) fn note_end(&mut self, n: Value) {
        let [low, high] = self.ends;
        let [a, b] = self.noted_ends();
        let (a, b) = self.cursor(|c| {
            let less = c.lt(n, a);
            let more = c.lt(b, n);
            (c.select(less, n, a), c.select(more, n, b))
        });
        self.effect(Inst::SlotSet(low, a));
        self.effect(Inst::SlotSet(high, b));
    }

    /// What is done once for a gang raises in its first lane.
    fn write_handler(&mut self) {
        self.at = self.handler;
        let [dx, dy] = ["lh_cuda_bdim_x", "lh_cuda_bdim_y"].map(|n| self.geometry(n));
        let (start, from_row_to_row) = (self.start, self.out.kernel.gangs == Gangs::Warps);
        let thread = self.cursor(|c| {
            if !from_row_to_row {
                return [start.x, start.y, start.z];
            }
            let more = c.int_op("sdiv", start.first, dx);
            let (row, layer) = (c.int_op("srem", more, dy), c.int_op("sdiv", more, dy));
            [c.int_op("srem", start.first, dx), c.add(start.y, row), c.add(start.z, layer)]
        });
        let known = HashMap::from_iter(self.old.params()[1..HANDED].iter().copied().zip(thread));
        self.copy_handler(&known);
    }
    /// The instructions of the function's handler, with the thread's index replaced.
    pub(super) fn copy_handler(&mut self, known: &HashMap<Value, Value>) {
        let old = self.old;
        let Some(t) = old.blocks.iter().find_map(|b| b.unwind.as_ref()) else {
            return self.end(Term::Propagate);
        };
        let data = &old.blocks[t.block.index()];
        self.out.blocks[self.at.index()].cold = true;
        for d in &data.insts {
            let mut inst = d.inst.clone();
            inst.for_each_operand_mut(&mut |v| *v = known.get(v).copied().unwrap_or(*v));
            self.effect(inst);
        }
        self.end(Term::Propagate);
    }
    /// From here on exceptions of what is done once for a gang go to its handler.
    pub(super) fn guard(&mut self) {
        let b = self.out.new_block();
        self.end(Term::Jump(to(b, &[])));
        let handler = self.handler;
        self.out.blocks[b.index()].unwind = Some(to(handler, &[]));
        self.at = b;
    }
    /// What stands for a run-time function of the launch's shape.
    pub(super) fn shape(&mut self, inst: &Inst) -> Option<Value> {
        match inst {
            Inst::Runtime(f, _) if is_geometry(f.name) => Some(self.geometry(f.name)),
            _ => None,
        }
    }
}
