//! Builds the new function: its frame, then one region after the other.

use super::cuts::{Barrier, NextCut};
use super::spill_slots;
use crate::analysis::counted::Defs;
use crate::analysis::device::HANDED;
use crate::analysis::liveness::parts;
use crate::analysis::strides::{contiguous, moves};
use crate::edit::{CountedLoop, Cursor, builder_methods, to};
use lh_ir::cfg::Cfg;
use lh_ir::func::{BlockData, GANG, Gangs, Inst, Term};
use lh_ir::runtime::{self, Axis, Combine, Geometry, RuntimeFn};
use lh_ir::{Block, Const, Function, Slot, Span, Ty, Value};
use lh_ops::families::geometry;
use lh_ops::runtime as rt;
use std::collections::{HashMap, HashSet};

/// The kernel with its cuts and analyses.
pub(super) struct CutPlan {
    pub syncs: HashMap<Block, Barrier>,
    pub varies: Vec<bool>,
    pub is_cut: Vec<bool>,
    pub first: Vec<NextCut>,
    pub available: Vec<bool>,
    pub alive: Vec<Vec<Value>>,
    /// Whether all blocks of the grid run together, because of grid barriers.
    pub by_grid: bool,
}

/// A spill location: of a value, or of a parameter of the block where a region starts.
pub(super) type Spill = (Option<Block>, Value);

#[derive(Clone, Copy)]
pub(super) struct Axes(pub [Value; 3]);

pub(super) struct Splitter<'a> {
    pub(super) old: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) plan: CutPlan,
    pub(super) out: Function,
    /// The current block.
    pub(super) at: Block,
    pub(super) span: Span,
    /// The first new block of each region, by its first old block.
    heads: HashMap<Block, Block>,
    queue: Vec<Block>,
    slots: HashMap<Spill, Vec<Slot>>,
    /// Locations that are coalesced with another one.
    shared: HashMap<Spill, Spill>,
    spills: HashMap<Spill, Vec<usize>>,
    /// Slots of uniform conditions and of votes, by the cut block.
    pub(super) decisions: HashMap<Block, Slot>,
    scratch: usize,
    /// Offsets of local arrays.
    pub(super) locals: HashMap<Value, usize>,
    /// Local arrays that no other region uses, so that threads can share their memory.
    pub(super) transient: HashSet<Value>,
    pub(super) frame: Option<Frame>,
    /// Axes of threads, and of blocks, from the innermost loop to the outermost.
    pub(super) order: [usize; 3],
    finish: Block,
}

/// Values from the entry of the function.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub dim: Axes,
    /// Number of threads, or gangs, of a block by axis.
    pub units: Axes,
    pub grid: Axes,
    pub first: Value,
    pub blocks: Value,
    pub scratch: Value,
    pub capacity: Value,
    /// Number of threads, or gangs, of a block.
    pub threads: Value,
    /// Index of the block, if blocks run one after the other.
    pub block: Option<Axes>,
}

/// The number of a thread, or gang, in its block: that of the first in its row, and the offset in the row. The
/// addresses of spilled values then differ by a constant along a row.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub first: Value,
    pub along: Value,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(old: &'a Function, cfg: &'a Cfg, plan: CutPlan) -> Splitter<'a> {
        let params: Vec<Value> =
            std::iter::once(old.params()[0]).chain(old.params()[HANDED..].iter().copied()).collect();
        let entry = BlockData { params, ..BlockData::default() };
        let out = Function { blocks: vec![entry], ..old.clone() };
        let shared = spill_slots::coalesce(old, cfg, &plan);
        Splitter {
            old,
            cfg,
            plan,
            out,
            at: Block(0),
            span: Span::default(),
            heads: HashMap::new(),
            queue: Vec::new(),
            slots: HashMap::new(),
            shared,
            spills: HashMap::new(),
            decisions: HashMap::new(),
            scratch: 0,
            locals: HashMap::new(),
            transient: HashSet::new(),
            frame: None,
            order: order(old),
            finish: Block(0),
        }
    }

    pub(super) fn run(mut self) -> Option<Function> {
        self.finish = self.out.new_block();
        self.find_transient();
        let blocks = self.begin();
        let start = self.head(Block(0));
        self.end(Term::Jump(to(start, &[])));
        while let Some(b) = self.queue.pop() {
            self.region(b)?;
        }
        self.at = self.finish;
        if let Some(l) = blocks {
            self.cursor(|c| c.end_loop(&l));
        }
        let none = self.inst(Inst::Zero, Ty::none());
        self.end(Term::Return(none));
        self.out.kernel.scratch = self.scratch;
        Some(self.out)
    }

    builder_methods!();
    pub(super) fn frame(&self) -> Frame {
        self.frame.unwrap_or_else(|| lh_ir::bug!("no frame yet"))
    }

    fn read(&mut self, f: &'static RuntimeFn, ty: Ty) -> Value {
        let cx = self.context();
        self.inst(Inst::Runtime(f, vec![cx]), ty)
    }
    fn axes(&mut self, what: Geometry) -> Axes {
        Axes(Axis::ALL.map(|a| self.read(geometry(what, a), Ty::int())))
    }

    /// Builds the frame, and the loop over blocks if it is the outermost.
    fn begin(&mut self) -> Option<CountedLoop> {
        let (dim, grid) = (self.axes(Geometry::BlockDim), self.axes(Geometry::GridDim));
        let (first, last) = (self.read(&rt::lh_cuda_first, Ty::int()), self.read(&rt::lh_cuda_last, Ty::int()));
        let scratch = self.read(&rt::lh_cuda_scratch, Ty::ptr());
        let capacity = self.read(&rt::lh_cuda_capacity, Ty::int());
        let blocks = self.cursor(|c| c.sub(last, first));
        let gangs = self.old.kernel.gangs;
        let units = self.cursor(|c| {
            let (one, most, size) = (c.int(1), c.int(GANG - 1), c.int(GANG));
            let padded = |c: &mut Cursor<'_>, n| {
                let n = c.add(n, most);
                c.int_op("sdiv", n, size)
            };
            match gangs {
                Gangs::None => dim,
                Gangs::Rows => Axes([padded(c, dim.0[0]), dim.0[1], dim.0[2]]),
                Gangs::Warps => {
                    // Warps follow rows if these consist of full warps; else they continue from row to row.
                    let odd = c.int_op("srem", dim.0[0], size);
                    let zero = c.int(0);
                    let whole = c.eq(odd, zero);
                    let row = c.mul(dim.0[0], dim.0[1]);
                    let all = c.mul(row, dim.0[2]);
                    let of = c.select(whole, dim.0[0], all);
                    Axes([padded(c, of), c.select(whole, dim.0[1], one), c.select(whole, dim.0[2], one)])
                }
            }
        });
        let threads = self.cursor(|c| {
            let row = c.mul(units.0[0], units.0[1]);
            c.mul(row, units.0[2])
        });
        let frame = Frame { dim, units, grid, first, blocks, scratch, capacity, threads, block: None };
        self.frame = Some(frame);
        if self.plan.by_grid {
            return None;
        }
        let l = self.cursor(|c| c.begin_loop(blocks));
        let block = self.enter_block(l.index);
        self.frame = Some(Frame { block: Some(block), ..frame });
        Some(l)
    }

    /// Computes the index of a block by axis from its number in this call, and stores it in the context.
    pub(super) fn enter_block(&mut self, place: Value) -> Axes {
        let (frame, cx, order) = (self.frame(), self.context(), self.order);
        let [along, row, _] = order.map(|axis| frame.grid.0[axis]);
        self.cursor(|c| {
            let linear = c.add(frame.first, place);
            // The first row of the grid, which is often the only one, needs no division.
            let zero = c.int(0);
            let in_first = c.lt(linear, along);
            let later = c.branch(in_first);
            let (join, index) = c.new_block(&[Ty::int(), Ty::int(), Ty::int()]);
            c.end(Term::Jump(to(join, &[linear, zero, zero])), later);
            let x = c.int_op("srem", linear, along);
            let rest = c.int_op("sdiv", linear, along);
            let y = c.int_op("srem", rest, row);
            let z = c.int_op("sdiv", rest, row);
            c.end(Term::Jump(to(join, &[x, y, z])), join);
            let [x, y, z] = [0, 1, 2].map(|axis| index[order.iter().position(|a| *a == axis).unwrap_or(axis)]);
            c.effect(Inst::Runtime(&rt::lh_cuda_enter_block, vec![cx, place, x, y, z]));
            Axes([x, y, z])
        })
    }

    /// The first new block of the region that starts at an old block.
    pub(super) fn head(&mut self, b: Block) -> Block {
        if let Some(h) = self.heads.get(&b) {
            return *h;
        }
        let h = self.out.new_block();
        self.heads.insert(b, h);
        self.queue.push(b);
        h
    }

    /// Jumps to the next region, behind the loops over threads.
    pub(super) fn enter_next(&mut self, entry: Block) -> Option<()> {
        let b = match self.plan.first[entry.index()] {
            NextCut::At(b) => b,
            NextCut::Exit | NextCut::Never => {
                let finish = self.finish;
                self.end(Term::Jump(to(finish, &[])));
                return Some(());
            }
            NextCut::Different => return None,
        };
        if let Some(sync) = self.plan.syncs.get(&b).cloned() {
            if let Some((_, result)) = sync.value {
                let total = self.vote_result(b, sync.kind);
                self.set_uniform((Some(sync.resume), result), &[total]);
            }
            let head = self.head(sync.resume);
            self.end(Term::Jump(to(head, &[])));
            return Some(());
        }
        let Some(Term::Branch { then, els, .. }) = self.old.blocks[b.index()].term.clone() else {
            lh_ir::bug!("a cut is a barrier or a branch")
        };
        let cond = self.inst(Inst::SlotGet(self.decisions[&b]), Ty::bool());
        let (then, els) = (self.head(then.block), self.head(els.block));
        self.end(Term::Branch { cond, then: to(then, &[]), els: to(els, &[]) });
        Some(())
    }

    /// The result of a voting barrier from the sum over the threads.
    fn vote_result(&mut self, b: Block, barrier: runtime::Barrier) -> Value {
        let sum = self.inst(Inst::SlotGet(self.decisions[&b]), Ty::int());
        let frame = self.frame();
        self.cursor(|c| {
            let (zero, one) = (c.int(0), c.int(1));
            let cond = match barrier {
                runtime::Barrier::Block(Combine::Count) => return sum,
                runtime::Barrier::Block(Combine::All) => c.eq(sum, frame.threads),
                runtime::Barrier::Block(Combine::Any) => c.lt(zero, sum),
                runtime::Barrier::Block(Combine::Nothing) | runtime::Barrier::Grid => {
                    lh_ir::bug!("this barrier has no result")
                }
            };
            c.select(cond, one, zero)
        })
    }

    /// The slot of a condition or a sum at a cut.
    pub(super) fn decision(&mut self, b: Block, ty: Ty) -> Slot {
        if let Some(s) = self.decisions.get(&b) {
            return *s;
        }
        let s = self.out.new_slot(ty);
        self.decisions.insert(b, s);
        s
    }

    /// The slots of a block-uniform value.
    pub(super) fn slots_of(&mut self, home: Spill) -> Option<Vec<Slot>> {
        if let Some(s) = self.slots.get(&home) {
            return Some(s.clone());
        }
        let slots: Vec<Slot> = parts(self.old.ty(home.1))?.into_iter().map(|t| self.out.new_slot(t)).collect();
        self.slots.insert(home, slots.clone());
        Some(slots)
    }
    pub(super) fn set_uniform(&mut self, home: Spill, values: &[Value]) -> Option<()> {
        for (s, v) in self.slots_of(home)?.into_iter().zip(values) {
            self.effect(Inst::SlotSet(s, *v));
        }
        Some(())
    }

    /// The location with which a location is coalesced.
    pub(super) fn representative(&self, home: Spill) -> Spill {
        self.shared.get(&home).copied().unwrap_or(home)
    }
    /// The address of a part of a spilled value.
    pub(super) fn spill_address(&mut self, home: Spill, part: usize, size: usize, thread: Number) -> Option<Value> {
        let home = self.representative(home);
        if !self.spills.contains_key(&home) {
            let sizes: Vec<usize> = parts(self.old.ty(home.1))?.iter().map(|t| t.mem_layout().1).collect();
            let places = sizes.iter().map(|s| self.reserve(*s)).collect();
            self.spills.insert(home, places);
        }
        let place = self.spills[&home][part];
        Some(self.scratch_at(place, size, thread))
    }
    /// Reserves spill memory, in bytes per thread.
    pub(super) fn reserve(&mut self, size: usize) -> usize {
        let at = self.scratch;
        self.scratch += size;
        at
    }
    pub(super) fn scratch_at(&mut self, place: usize, size: usize, thread: Number) -> Value {
        let frame = self.frame();
        let int = |i: usize| Inst::Const(Const::Int(i as i128, Ty::int()));
        let (place, size) = (self.inst(int(place), Ty::int()), self.inst(int(size), Ty::int()));
        let offsets = self.cursor(|c| {
            [(place, frame.capacity), (size, thread.first), (size, thread.along)].map(|(a, b)| c.mul(a, b))
        });
        offsets.into_iter().fold(frame.scratch, |base, by| self.inst(Inst::PtrAdd(base, by), Ty::ptr()))
    }
}

/// The axes from the innermost loop to the outermost, chosen so that innermost accesses are contiguous.
fn order(func: &Function) -> [usize; 3] {
    let defs = Defs::new(func);
    let mut along = [0; 3];
    for d in func.blocks.iter().flat_map(|b| &b.insts) {
        let Inst::ElemPtr { array, index, .. } = &d.inst else { continue };
        let Some(i) = contiguous(func, *array).and_then(|d| index.get(d)) else { continue };
        (0..3).for_each(|a| along[a] += u32::from(moves(func, &defs, *i, func.params()[1 + a])));
    }
    match along {
        [0, y, z] if func.kernel.gangs == Gangs::None && y < z => [2, 1, 0],
        [0, y, _] if func.kernel.gangs == Gangs::None && y > 0 => [1, 0, 2],
        _ => [0, 1, 2],
    }
}
