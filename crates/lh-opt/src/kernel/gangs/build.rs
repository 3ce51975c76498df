//! Builds the function for gangs: its entry, its pieces, and the dispatch between them.
//!
//! ```text
//! converged:  piece -> piece -> <lanes diverge>
//! detour:     dispatch -> the first piece that some lane enters, run for these lanes -> dispatch -> ...
//!             dispatch, when all lanes have reached the join -> converged: the join
//! ```

use super::plan::Pieces;
use crate::analysis::counted::Defs;
use crate::analysis::device::HANDED;
use crate::edit::{Cursor, builder_methods, to};
use lh_ir::cfg::{Cfg, DomTree};
use lh_ir::func::{BlockData, GANG, Gangs, Inst, InstData, KernelFacts, LatchHint, LoopHint, Target, Term, waits};
use lh_ir::runtime::{Axis, Geometry, Role, RuntimeFn};
use lh_ir::{Block, Const, Function, Slot, Span, Ty, Value};
use lh_ops::families::geometry;
use lh_ops::runtime as rt;
use std::collections::HashMap;

/// The mode in which a gang runs a copy of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// Converged, in a gang with all 32 lanes.
    Full,
    /// Converged, in a gang with fewer lanes.
    Partial,
    /// Diverged: each lane has recorded its next piece. The number is that of the detour.
    Diverged(usize),
}

impl Mode {
    pub(super) fn is_diverged(self) -> bool {
        matches!(self, Mode::Diverged(_))
    }
}

/// A divergent section of the kernel, which ends where all lanes reconverge.
struct Detour {
    /// The mode before and after the detour.
    mode: Mode,
    /// The piece where lanes reconverge; `None` at the end of the kernel.
    join: Option<Block>,
    /// The pieces of the detour, in the order of dispatch.
    pieces: Vec<Block>,
    dispatch: Block,
}

/// Values of the gang, computed at the entry.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// Index of the first lane's thread, unless warps continue from row to row.
    pub x: Value,
    pub y: Value,
    pub z: Value,
    /// Number of lanes.
    pub lanes: Value,
    /// Number of the first lane's thread in the block, for warps.
    pub first: Value,
    /// The lanes as a bit mask.
    pub mask: Value,
}

/// Arrays with an element for each lane, apart from those of values.
#[derive(Clone, Copy)]
pub(super) struct LaneArrays {
    /// The number of the next piece of each lane; the number of pieces means the end.
    pub next: Value,
    /// Thread indices of each lane, for warps.
    pub index: [Value; 3],
}

pub(super) struct GangBuilder<'a> {
    pub(super) old: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) plan: &'a Pieces,
    pub(super) out: Function,
    pub(super) at: Block,
    pub(super) span: Span,
    pub(super) start: Start,
    pub(super) arrays: LaneArrays,
    /// Definitions of the old function's values.
    pub(super) defs: HashMap<Value, &'a InstData>,
    pub(super) places: Defs,
    pub(super) dom: DomTree,
    geometry: HashMap<(Geometry, Axis), Value>,
    homes: HashMap<(bool, Value), Value>,
    /// Whether lanes store values in arrays that LLVM promotes to vector registers: such arrays are only accessed by
    /// loops over all 32 lanes and by warp operations. Other arrays stay in memory.
    pub(super) vectors: bool,
    /// Whether the current piece runs converged in a warp, with values in vectors.
    pub(super) full: bool,
    /// As `full`, with all 32 lanes in one row.
    pub(super) exact: bool,
    heads: HashMap<(Mode, Block), Block>,
    queue: Vec<(Mode, Block)>,
    /// The least and the greatest number of the lanes' next pieces.
    ends: [Slot; 2],
    /// Whether some lane re-enters the current piece; and a number that is 0 if all lanes do.
    pub(super) again: Slot,
    pub(super) others: Slot,
    detours: Vec<Detour>,
    /// While a version of a piece is built for lanes that all take one edge: that edge.
    pub(super) assumed: Option<(Block, Block)>,
    pub(super) finish: Block,
    /// Handler of code that runs once for a gang.
    pub(super) handler: Block,
    /// Whether rows consist of full gangs.
    whole: Value,
    /// Whether gangs of a block never wait for each other.
    pub(super) by_gang: bool,
}

impl<'a> GangBuilder<'a> {
    pub(super) fn new(old: &'a Function, cfg: &'a Cfg, plan: &'a Pieces, gangs: Gangs) -> GangBuilder<'a> {
        let entry = BlockData { params: old.params().to_vec(), ..BlockData::default() };
        let kernel = KernelFacts { gangs, ..old.kernel.clone() };
        let mut out = Function { blocks: vec![entry], kernel, ..old.clone() };
        let insts = old.blocks.iter().flat_map(|b| &b.insts);
        let defs = insts.filter_map(|d| Some((d.result?, d))).collect();
        let ends = [out.new_slot(Ty::i32()), out.new_slot(Ty::i32())];
        let (again, others) = (out.new_slot(Ty::bool()), out.new_slot(Ty::i32()));
        let (finish, handler) = (out.new_block(), out.new_block());
        let none = old.params()[0];
        let mut b = GangBuilder {
            old,
            cfg,
            plan,
            out,
            at: Block(0),
            span: Span::default(),
            start: Start { x: none, y: none, z: none, lanes: none, first: none, mask: none },
            arrays: LaneArrays { next: none, index: [none; 3] },
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
            assumed: None,
            finish,
            handler,
            whole: none,
            by_gang: old.kernel.waits & (waits::BLOCK | waits::GRID) == 0,
        };
        b.begin(gangs);
        b
    }

    pub(super) fn run(mut self) -> Option<Function> {
        let head = self.head(Mode::Full, Block(0));
        let (whole, short) = (self.whole, self.out.new_block());
        self.end(Term::Branch { cond: whole, then: to(head, &[]), els: to(short, &[]) });
        self.at = short;
        if self.out.kernel.gangs == Gangs::Warps {
            if self.by_gang {
                self.fill_rows(head);
            }
            self.index_threads();
        }
        let head = self.head(Mode::Partial, Block(0));
        self.end(Term::Jump(to(head, &[])));
        while let Some((mode, b)) = self.queue.pop() {
            self.piece(mode, b)?;
        }
        self.build_handler();
        self.at = self.finish;
        let none = self.inst(Inst::Zero, Ty::none());
        self.end(Term::Return(none));
        Some(self.out)
    }

    builder_methods!();
    /// Appends an instruction to the entry.
    fn at_start(&mut self, inst: Inst, ty: Ty) -> Value {
        let v = self.out.new_value(ty);
        self.out.blocks[0].insts.push(InstData { result: Some(v), inst, span: Span::default() });
        v
    }
    /// A quantity of the launch, read in the entry.
    pub(super) fn geometry(&mut self, what: Geometry, axis: Axis) -> Value {
        if let Some(v) = self.geometry.get(&(what, axis)) {
            return *v;
        }
        let v = self.at_start(Inst::Runtime(geometry(what, axis), vec![self.context()]), Ty::int());
        self.geometry.insert((what, axis), v);
        v
    }
    /// An array with `size` bytes for each lane.
    pub(super) fn array(&mut self, size: usize) -> Value {
        let int = |i: i64| Inst::Const(Const::Int(i.into(), Ty::int()));
        let bytes = self.at_start(int(GANG * size as i64), Ty::int());
        let align = self.at_start(int(64), Ty::int());
        self.at_start(Inst::Runtime(&rt::lh_cuda_local, vec![bytes, align]), Ty::ptr())
    }
    /// The array in which lanes store a value.
    pub(super) fn lane_array(&mut self, v: Value) -> Value {
        let size = self.stored_type(v).mem_layout().1;
        self.array_of_size((self.vectors, v), size)
    }
    /// The type in which lanes store a value.
    pub(super) fn stored_type(&self, v: Value) -> Ty {
        if self.plan.narrow[v.index()] { Ty::i32() } else { self.old.ty(v) }
    }
    pub(super) fn cast(&mut self, v: Value, ty: Ty) -> Value {
        if self.out.ty(v) == ty { v } else { self.inst(Inst::Cast(v), ty) }
    }

    /// The array of a key, with `size` bytes for each lane.
    pub(super) fn array_of_size(&mut self, key: (bool, Value), size: usize) -> Value {
        if let Some(h) = self.homes.get(&key) {
            return *h;
        }
        let h = self.array(size);
        self.homes.insert(key, h);
        h
    }
    /// Whether values are in vectors in a mode. Warps with fewer than 32 lanes have garbage in the others.
    pub(super) fn has_vectors(&self, mode: Mode) -> bool {
        !mode.is_diverged() && self.out.kernel.gangs == Gangs::Warps
    }
    /// Sets the state for a piece in a mode.
    pub(super) fn enter_mode(&mut self, mode: Mode) {
        self.full = self.has_vectors(mode);
        (self.vectors, self.exact) = (self.full, self.full && mode == Mode::Full);
    }
    /// Copies lane arrays from memory to vectors, or back.
    pub(super) fn copy_arrays(&mut self, values: &[Value], vectors: bool) {
        for v in values {
            let size = self.stored_type(*v).mem_layout().1;
            let [from, to] = [!vectors, vectors].map(|side| self.array_of_size((side, *v), size));
            let size = self.cursor(|c| c.int(size as i64));
            self.effect(Inst::Runtime(&rt::lh_cuda_lanes_copy, vec![from, to, size]));
        }
    }

    /// Computes the values of the gang. The parameters after the context are the gang's index in its row, the row and
    /// the plane; or, if warps continue from row to row, its number in the block and twice 0.
    fn begin(&mut self, gangs: Gangs) {
        let [dx, dy, dz] = Axis::ALL.map(|a| self.geometry(Geometry::BlockDim, a));
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
        self.arrays = LaneArrays { next, index };
    }

    /// If the block is a single row, all gangs but the last have all lanes and run in the full mode.
    fn fill_rows(&mut self, head: Block) {
        let (lanes, rest) = (self.start.lanes, self.out.new_block());
        let [dy, dz] = [Axis::Y, Axis::Z].map(|a| self.geometry(Geometry::BlockDim, a));
        let cond = self.cursor(|c| {
            let (one, size, rows) = (c.int(1), c.int(GANG), c.mul(dy, dz));
            let (alone, there) = (c.eq(rows, one), c.eq(lanes, size));
            c.and(alone, there)
        });
        self.end(Term::Branch { cond, then: to(head, &[]), els: to(rest, &[]) });
        self.at = rest;
    }
    /// Stores the thread indices of all lanes.
    pub(super) fn index_threads(&mut self) {
        let (start, index) = (self.start, self.arrays.index);
        let [dx, dy, dz] = Axis::ALL.map(|a| self.geometry(Geometry::BlockDim, a));
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

    /// Builds a loop over lanes.
    pub(super) fn lanes(&mut self, n: Value, body: impl FnOnce(&mut Self, Value)) {
        let l = self.cursor(|c| c.begin_loop(n));
        body(self, l.index);
        let data = &mut self.out.blocks[self.at.index()];
        data.latch = if self.vectors { LatchHint::VectorizeLanes } else { LatchHint::ParallelAccesses };
        self.cursor(|c| c.end_loop(&l));
    }
    /// The trip count of loops over lanes in a mode.
    pub(super) fn width(&mut self, mode: Mode) -> Value {
        if mode == Mode::Partial && !self.vectors { self.start.lanes } else { self.cursor(|c| c.int(GANG)) }
    }
    /// The address of a lane's element.
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
    /// Loads a lane's element of a value.
    pub(super) fn load(&mut self, v: Value, lane: Value) -> Value {
        let home = self.lane_array(v);
        let x = self.get(home, self.stored_type(v), lane);
        self.cast(x, self.old.ty(v))
    }
    pub(super) fn store(&mut self, key: Value, lane: Value, v: Value) {
        let (home, ty) = (self.lane_array(key), self.stored_type(key));
        let v = self.cast(v, ty);
        self.put(home, ty.mem_layout().1, lane, v);
    }

    /// Uniform values that a piece gets as block parameters, in this order.
    pub(super) fn uniform_in(&self, head: Block) -> Vec<Value> {
        self.plan.needs(self.old, head).into_iter().filter(|v| !self.plan.varies[v.index()]).collect()
    }
    /// Divergent live-in values of a piece.
    pub(super) fn divergent_in(&self, head: Block) -> Vec<Value> {
        self.plan.needs(self.old, head).into_iter().filter(|v| self.plan.varies[v.index()]).collect()
    }
    /// The first block of a piece's copy for a mode.
    pub(super) fn head(&mut self, mode: Mode, head: Block) -> Block {
        if let Some(b) = self.heads.get(&(mode, head)) {
            return *b;
        }
        let b = self.out.new_block();
        if !mode.is_diverged() {
            for v in self.uniform_in(head) {
                self.out.new_param(b, self.old.ty(v));
            }
        }
        if self.has_vectors(mode) && self.plan.unroll.contains(&head) {
            self.out.blocks[b.index()].hint = LoopHint::UnrollFull;
        }
        self.heads.insert((mode, head), b);
        self.queue.push((mode, head));
        b
    }
    /// A target of a piece, with arguments for its uniform live-in values.
    pub(super) fn target(
        &mut self,
        mode: Mode,
        head: Block,
        of: &mut dyn FnMut(&mut Self, Value) -> Option<Value>,
    ) -> Option<Target> {
        let block = self.head(mode, head);
        let args = self.uniform_in(head).into_iter().map(|v| of(self, v)).collect::<Option<Vec<Value>>>()?;
        Some(Target { block, args })
    }
    /// The detour for lanes that have diverged to these pieces, some of them possibly to the end.
    pub(super) fn detour(&mut self, mode: Mode, goals: &[Block], ends: bool) -> Option<usize> {
        let join = if ends { None } else { self.plan.join(self.old, self.cfg, goals) };
        if let Some(i) = self.detours.iter().position(|d| d.mode == mode && d.join == join) {
            let new = goals.iter().any(|g| Some(*g) != join && !self.detours[i].pieces.contains(g));
            if !new {
                return Some(i);
            }
        }
        let pieces = self.plan.reachable(self.old, goals, join);
        let dispatch = self.out.new_block();
        self.detours.push(Detour { mode, join, pieces, dispatch });
        let i = self.detours.len() - 1;
        let before = (self.at, self.vectors, self.full, self.exact);
        (self.at, self.vectors, self.full, self.exact) = (dispatch, false, false, false);
        self.build_dispatch(i)?;
        (self.at, self.vectors, self.full, self.exact) = before;
        Some(i)
    }
    /// The dispatch block of a detour.
    pub(super) fn dispatch(&self, mode: Mode) -> Block {
        match mode {
            Mode::Diverged(i) => self.detours[i].dispatch,
            Mode::Full | Mode::Partial => lh_ir::bug!("lanes that go together are not on a detour"),
        }
    }
    /// The number that stands for the end of the kernel.
    pub(super) fn end_number(&self) -> i64 {
        self.plan.order.len() as i64
    }

    /// Builds the dispatch of a detour: runs the first piece that some lane enters, until all lanes wait at the join.
    fn build_dispatch(&mut self, detour: usize) -> Option<()> {
        let last = self.end_number();
        let met = self.detours[detour].join.map(|j| self.plan.number(j));
        self.clear_range();
        let width = self.width(Mode::Full);
        self.lanes(width, |b, lane| {
            let mut n = b.next_of(lane);
            // Lanes that have reached the join wait there.
            if let Some(met) = met {
                let (met, last) = (b.number(met), b.number(last));
                n = b.cursor(|c| {
                    let waits = c.eq(n, met);
                    c.select(waits, last, n)
                });
            }
            b.extend_range(n);
        });
        let [low, _] = self.range();
        for piece in self.detours[detour].pieces.clone() {
            let (hit, miss) = self.branch_if(low, self.plan.number(piece));
            self.at = hit;
            let head = self.head(Mode::Diverged(detour), piece);
            self.end(Term::Jump(to(head, &[])));
            self.at = miss;
        }
        let Detour { mode, join, .. } = self.detours[detour];
        let goal = match join {
            None => to(self.finish, &[]),
            Some(join) => {
                if self.has_vectors(mode) {
                    let own = self.divergent_in(join);
                    self.copy_arrays(&own, true);
                }
                let first = self.cursor(|c| c.int(0));
                self.target(mode, join, &mut |b, v| Some(b.load(v, first)))?
            }
        };
        self.end(Term::Jump(goal));
        Some(())
    }
    /// Branches on `v == number`; the blocks for true and false.
    pub(super) fn branch_if(&mut self, v: Value, number: i64) -> (Block, Block) {
        let n = self.number(number);
        let cond = self.cursor(|c| c.eq(v, n));
        let (yes, no) = (self.out.new_block(), self.out.new_block());
        self.end(Term::Branch { cond, then: to(yes, &[]), els: to(no, &[]) });
        (yes, no)
    }
    pub(super) fn clear_range(&mut self) {
        let [low, high] = self.ends;
        let (a, b) = (self.number(i64::from(i32::MAX)), self.number(-1));
        self.effect(Inst::SlotSet(low, a));
        self.effect(Inst::SlotSet(high, b));
    }
    pub(super) fn range(&mut self) -> [Value; 2] {
        self.ends.map(|s| self.inst(Inst::SlotGet(s), Ty::i32()))
    }
    /// The number of a piece, in 32 bits like most values of lanes, so that vectors hold as many of them.
    pub(super) fn number(&mut self, n: i64) -> Value {
        self.inst(Inst::Const(Const::Int(n.into(), Ty::i32())), Ty::i32())
    }
    /// The next piece of a lane.
    pub(super) fn next_of(&mut self, lane: Value) -> Value {
        self.get(self.arrays.next, Ty::i32(), lane)
    }
    pub(super) fn set_next(&mut self, lane: Value, n: Value) {
        self.put(self.arrays.next, 4, lane, n);
    }
    /// Whether a lane's next piece has this number.
    pub(super) fn has_next(&mut self, number: i64, lane: Value) -> Value {
        let (n, own) = (self.next_of(lane), self.number(number));
        self.cursor(|c| c.eq(n, own))
    }
    /// Includes a lane's next piece in the range of all.
    pub(super) fn extend_range(&mut self, n: Value) {
        let [low, high] = self.ends;
        let [a, b] = self.range();
        let (a, b) = self.cursor(|c| {
            let less = c.lt(n, a);
            let more = c.lt(b, n);
            (c.select(less, n, a), c.select(more, n, b))
        });
        self.effect(Inst::SlotSet(low, a));
        self.effect(Inst::SlotSet(high, b));
    }

    /// Builds the handler of code that runs once for a gang: the first lane has raised.
    fn build_handler(&mut self) {
        self.at = self.handler;
        let [dx, dy] = [Axis::X, Axis::Y].map(|a| self.geometry(Geometry::BlockDim, a));
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
    /// Copies the instructions of the old function's handler, with another thread index.
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
    /// Starts a block whose exceptions go to the gang's handler.
    pub(super) fn use_handler(&mut self) {
        let b = self.out.new_block();
        self.end(Term::Jump(to(b, &[])));
        let handler = self.handler;
        self.out.blocks[b.index()].unwind = Some(to(handler, &[]));
        self.at = b;
    }
    /// The value of a run-time function that reads the launch's geometry.
    pub(super) fn launch_value(&mut self, inst: &Inst) -> Option<Value> {
        match inst {
            Inst::Runtime(RuntimeFn { role: Role::Geometry(what, axis), .. }, _) => Some(self.geometry(*what, *axis)),
            _ => None,
        }
    }
}
