//! The tape: places for the values of loops that the reverse part needs. Loops push them onto stacks
//! ([`crate::stack`]). Parallel loops and those in them have memory for each value, with rows of places
//! ([`crate::nest`]), and so have loops of a kernel: a place for each iteration, counted over all runs of the loop.

use crate::builder::{Builder, MOST, iterations, product, row, to};
use crate::nest::{self, Nest};
use crate::normal::{Bounds, Flow, bounds, inst_anywhere};
use crate::reverse::Counting;
use crate::stack::{Counters, Stacks, is_object, pair, size, split, words};
use hashbrown::{HashMap, HashSet};
use lh_ir::device::Device;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{BlockData, Function, Inst, InstData, Term};
use lh_ir::runtime::{Items, Role};
use lh_ir::types::{Layout, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Block, Const, Slot, Span, Ty, Value, bug};
use lh_ops::exceptions::RUNTIME_ERROR;
use lh_ops::runtime as rt;

/// The memory of one value.
#[derive(Clone, Copy)]
struct Column {
    value: Value,
    /// Its owner and its address, together, so that the address never outlives the owner.
    memory: Slot,
    /// In a nest of loops, the array of rows that the memory is.
    rows: Option<Slot>,
}

/// The values of one loop.
#[derive(Clone)]
struct OfLoop {
    /// The place of the first iteration of the loop's present run.
    base: Slot,
    /// Places that there is memory for.
    room: Slot,
    columns: Vec<Column>,
    /// The parallel loop and those in it: then `base` and `room` count rows.
    nest: Option<Nest>,
}

/// The tape of a function.
pub(crate) struct Tape {
    loops: Vec<OfLoop>,
    /// The loop of each value.
    kept: HashMap<Value, usize>,
    stacks: Stacks,
    counting: Vec<Counting>,
    /// The list that keeps objects of each type alive: a place on the tape has the number of the item there.
    lists: HashMap<Ty, Value>,
    /// Their types, in the order of the parameters.
    types: Vec<Ty>,
}

/// The values that are kept.
pub(crate) struct Writing<'a> {
    /// Those outside of loops, which have slots.
    pub slots: &'a HashMap<Value, Slot>,
    /// Where values are defined.
    pub defs: &'a [Option<Block>],
    /// The list that keeps memory alive.
    pub owners: Option<Value>,
    /// Instructions that make memory to which only addresses are kept.
    pub alive: &'a HashSet<(Block, usize)>,
    /// The block that reverses each block.
    pub reverse: &'a HashMap<Block, Block>,
}

impl Tape {
    pub(crate) fn new(func: &mut Function, flow: &Flow, counting: &[Counting]) -> Tape {
        let mut one = || OfLoop {
            base: func.new_slot(Ty::int()),
            room: func.new_slot(Ty::int()),
            columns: Vec::new(),
            nest: None,
        };
        let loops = flow.loops.loops.iter().map(|_| one()).collect();
        let (kept, stacks, lists) = (HashMap::new(), Stacks::default(), HashMap::new());
        Tape { loops, kept, stacks, counting: counting.to_vec(), lists, types: Vec::new() }
    }

    /// Gives a value of a loop a place.
    pub(crate) fn keep(&mut self, func: &mut Function, l: usize, value: Value) {
        let memory = func.new_slot(pair());
        self.loops[l].columns.push(Column { value, memory, rows: None });
        self.kept.insert(value, l);
    }

    /// Gives the values of parallel loops and of those in them rows of places, where these are known before, and others
    /// places on stacks.
    pub(crate) fn arrange(&mut self, func: &mut Function, flow: &Flow) {
        if func.options.device != Device::Host {
            return;
        }
        let mut on_stacks = Vec::new();
        for (l, of) in self.loops.iter_mut().enumerate().filter(|(_, of)| !of.columns.is_empty()) {
            of.nest = nest::find(func, flow, l);
            if of.nest.is_none() {
                on_stacks.extend(of.columns.drain(..).map(|c| (l, c.value)));
            }
            for c in &mut of.columns {
                let ty = rows(func.ty(c.value));
                c.rows = Some(func.new_slot(ty));
            }
        }
        on_stacks.retain(|(_, v)| size(func.ty(*v)) > 0);
        self.stacks = Stacks::new(func, flow, &on_stacks);
    }

    /// Adds a parameter for each type of objects that are kept.
    pub(crate) fn add_lists(&mut self, func: &mut Function) {
        let mut found = Vec::new();
        for c in self.loops.iter().flat_map(|l| &l.columns) {
            objects(func.ty(c.value), &mut found);
        }
        // Lists that keep memory alive for a derivative that this one is of.
        found.extend(func.insts().filter_map(|d| Some(func.ty(keeps(func, d)?))));
        for ty in found {
            if !self.lists.contains_key(&ty) {
                let list = func.new_param(Block(0), Ty::list(ty));
                self.lists.insert(ty, list);
                self.types.push(Ty::list(ty));
            }
        }
    }

    /// The types of the parameters that keep objects alive.
    pub(crate) fn lists(&self) -> Vec<Ty> {
        self.types.clone()
    }

    /// The counter of the iteration that is reversed.
    pub(crate) fn counter(&self, b: &mut Builder<'_>, l: usize) -> Value {
        let Counting { last, done } = self.counting[l];
        let (last, done) = (b.get(last), b.get(done));
        b.int_op("sub", last, done)
    }

    /// The value of the iteration that is reversed.
    pub(crate) fn read(&self, b: &mut Builder<'_>, l: usize, v: Value, ty: Ty) -> Value {
        let p = self.place(b, l, v, &|b, l| self.counter(b, l));
        self.read_parts(b, p, &mut 0, ty)
    }

    /// Writes kept values where they are defined, and keeps memory alive to which only addresses are kept: that which
    /// the instructions `alive` make.
    ///
    /// # Errors
    /// Memory is to be kept, and there is no list for its owners.
    pub(crate) fn write(&self, func: &mut Function, flow: &Flow, with: &Writing<'_>) -> Result<()> {
        let mut blocks: HashSet<Block> =
            self.kept.keys().chain(with.slots.keys()).filter_map(|v| with.defs[v.index()]).collect();
        blocks.extend(with.alive.iter().map(|(b, _)| *b));
        let has_keeps = |b: &BlockData| b.insts.iter().any(|d| keeps(func, d).is_some());
        blocks.extend((0..func.blocks.len()).filter(|b| has_keeps(&func.blocks[*b])).map(Block::new));
        let mut blocks: Vec<Block> = blocks.into_iter().collect();
        blocks.sort_unstable();
        for block in blocks {
            let data = &mut func.blocks[block.index()];
            let (old, params, span) = (std::mem::take(&mut data.insts), data.params.clone(), data.term_span);
            let mut b = Builder::new(func, span);
            for p in params {
                self.note(&mut b, flow, p, with)?;
            }
            for (at, d) in old.into_iter().enumerate() {
                b.span = d.span;
                let (result, list) = (d.result, keeps(b.func, &d));
                b.insts.push(d);
                if let Some(list) = list {
                    let all = self.lists[&b.func.ty(list)];
                    append(&mut b, all, list);
                }
                let Some(r) = result else { continue };
                if with.alive.contains(&(block, at)) {
                    own(&mut b, with.owners, r)?;
                }
                self.note(&mut b, flow, r, with)?;
            }
            b.finish(block);
        }
        let used = || (0..self.loops.len()).filter(|l| !self.loops[*l].columns.is_empty());
        // Blocks are split below.
        let before = |l| (bounds(func, flow, self.outer(l)), words(func, flow, l));
        let all: Vec<_> = used().map(before).collect();
        for (l, before) in used().zip(all) {
            if func.options.device == Device::Host {
                self.grow(func, flow, l, before);
            } else {
                self.reserve(func, flow, l);
            }
            self.advance(func, flow, l, with.reverse);
        }
        self.stacks.write(func, flow, &self.counting, with.reverse);
        Ok(())
    }

    /// Writes a value that is kept.
    fn note(&self, b: &mut Builder<'_>, flow: &Flow, v: Value, with: &Writing<'_>) -> Result<()> {
        if let Some(s) = with.slots.get(&v) {
            let kept = if b.func.ty(v) == Ty::ptr() {
                let owner = b.inst(Inst::Zero, Ty::meminfo());
                b.inst(Inst::Pack(vec![owner, v]), pair())
            } else {
                v
            };
            b.set(*s, kept);
        }
        let Some(l) = self.kept.get(&v) else { return Ok(()) };
        let ty = b.func.ty(v);
        let p = self.place(b, *l, v, &|_, l| flow.counters[l]);
        self.write_parts(b, p, &mut 0, v, ty);
        if ty.is_counted() && b.func.options.device == Device::Host { own(b, with.owners, v) } else { Ok(()) }
    }

    /// The place of a value, by the counters of loops.
    fn place(&self, b: &mut Builder<'_>, l: usize, v: Value, counter: &Counters<'_>) -> Value {
        if let Some(place) = self.stacks.place(b, v, counter) {
            return place;
        }
        let of = &self.loops[l];
        let Some(column) = of.columns.iter().find(|c| c.value == v) else {
            // It has no bytes.
            return b.inst(Inst::Zero, Ty::ptr());
        };
        let size = b.int(size(b.func.ty(v)));
        let base = b.get(of.base);
        let Some((nest, array)) = of.nest.as_ref().zip(column.rows) else {
            let k = counter(b, l);
            let at = b.int_op("add", base, k);
            let bytes = b.int_op("mul", at, size);
            let memory = b.get(column.memory);
            let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
            return b.inst(Inst::PtrAdd(data, bytes), Ty::ptr());
        };
        let k = counter(b, nest.root);
        let row = b.int_op("add", base, k);
        let mut at = b.int(0);
        for (l, places) in &nest.inner {
            let (k, places) = (counter(b, *l), b.get(*places));
            let before = b.int_op("mul", at, places);
            at = b.int_op("add", before, k);
        }
        if !b.func.ty(v).is_number() {
            at = b.int_op("mul", at, size);
        }
        let array = b.get(array);
        b.inst(Inst::ElemPtr { array, index: vec![row, at], wrap: false, check: false }, Ty::ptr())
    }

    /// Counts the iterations of a run of a loop when it is left, and takes them back where it is reversed.
    fn advance(&self, func: &mut Function, flow: &Flow, l: usize, reverse: &HashMap<Block, Block>) {
        let of = &self.loops[l];
        let (base, l) = (of.base, self.outer(l));
        for (exit, left) in &flow.left {
            let Some((_, count)) = left.iter().find(|(of, _)| *of == l) else { continue };
            let span = func.blocks[exit.index()].term_span;
            let mut b = Builder::new(func, span);
            let (old, one) = (b.get(base), b.int(1));
            let n = b.int_op("add", *count, one);
            let next = b.int_op("add", old, n);
            b.set(base, next);
            let mut insts = b.insts;
            insts.append(&mut func.blocks[exit.index()].insts);
            func.blocks[exit.index()].insts = insts;
            let Some(back) = reverse.get(exit) else { continue };
            let mut b = Builder::at_end(func, *back, span);
            let (old, last, one) = (b.get(base), b.get(self.counting[l].last), b.int(1));
            let n = b.int_op("add", last, one);
            let next = b.int_op("sub", old, n);
            b.set(base, next);
            self.set_rows(&mut b, of);
            b.finish(*back);
        }
    }

    /// The loop before which there is memory for a run.
    fn outer(&self, l: usize) -> usize {
        self.loops[l].nest.as_ref().map_or(l, |nest| nest.root)
    }

    /// Makes arrays of the memory of a nest, in which each iteration of the parallel loop has an index of its own.
    fn set_rows(&self, b: &mut Builder<'_>, of: &OfLoop) {
        let Some(nest) = &of.nest else { return };
        for c in &of.columns {
            let Some(array) = c.rows else { continue };
            let (ty, size) = (b.func.ty(c.value), size(b.func.ty(c.value)));
            let item = if ty.is_number() { size } else { 1 };
            let (memory, width, room) = (b.get(c.memory), b.get(nest.width), b.get(of.room));
            let owner = b.inst(Inst::Field(memory, 0), Ty::meminfo());
            let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
            let (items, item) = (b.int(size / item.max(1)), b.int(item));
            let width = b.int_op("mul", width, items);
            let stride = b.int_op("mul", width, item);
            let made = Inst::ArrayMake { owner, data, shape: vec![room, width], strides: vec![stride, item] };
            let made = b.inst(made, rows(ty));
            b.set(array, made);
        }
    }

    /// Makes room in the memory of a thread, where the function begins.
    fn reserve(&self, func: &mut Function, flow: &Flow, l: usize) {
        let of = &self.loops[l];
        let row: i64 = of.columns.iter().map(|c| size(func.ty(c.value))).sum();
        let known = all_trips(func, flow, l).filter(|n| n.saturating_mul(row) <= MOST_LOCAL);
        let places = known.unwrap_or(ROOM / row.max(1));
        if known.is_none() {
            self.limit(func, flow, l, places);
        }
        let mut b = Builder::new(func, Span::default());
        for c in &of.columns {
            let bytes = b.int(places * size(b.func.ty(c.value)));
            let align = b.int(16);
            let p = b.inst(Inst::Runtime(&rt::lh_cuda_local, vec![bytes, align]), Ty::ptr());
            let owner = b.inst(Inst::Zero, Ty::meminfo());
            let both = b.inst(Inst::Pack(vec![owner, p]), pair());
            b.set(c.memory, both);
        }
        let insts = b.insts;
        func.blocks[0].insts.splice(0..0, insts);
    }

    /// Raises RuntimeError where a loop begins an iteration that there is no place for.
    fn limit(&self, func: &mut Function, flow: &Flow, l: usize, places: i64) {
        let header = flow.loops.loops[l].header;
        let [rest, full] = [func.new_block(), func.new_block()];
        let data = &mut func.blocks[header.index()];
        let (span, cold) = (data.term_span, data.cold);
        let (insts, term) = (std::mem::take(&mut data.insts), data.term.take());
        let (unwind, latch) = (data.unwind.take(), std::mem::take(&mut data.latch));
        func.blocks[rest.index()] =
            BlockData { insts, term, term_span: span, unwind, cold, latch, ..Default::default() };
        let mut b = Builder::new(func, span);
        let (base, room) = (b.get(self.loops[l].base), b.int(places));
        let at = b.int_op("add", base, flow.counters[l]);
        let fits = b.test("lt", at, room);
        b.end(header, Term::Branch { cond: fits, then: to(rest, vec![]), els: to(full, vec![]) });
        let mut b = Builder::new(func, span);
        let text = format!("a loop whose derivative keeps values runs more than {places} times in a thread");
        let text = b.inst(Inst::Const(Const::Str(text)), Ty::str());
        b.end(full, Term::Raise { exc: RUNTIME_ERROR, args: vec![text] });
        func.blocks[full.index()].cold = true;
    }

    /// Makes room for the iterations of a parallel loop before it.
    fn grow(&self, func: &mut Function, flow: &Flow, l: usize, (known, words): (Option<Bounds>, String)) {
        let known = known.unwrap_or_else(|| bug!("rows need the bounds of their loop"));
        let (of, header) = (&self.loops[l], flow.loops.loops[self.outer(l)].header);
        let (block, rest, more) = split(func, flow, header, false);
        let span = func.blocks[rest.index()].term_span;
        let mut b = Builder::at_end(func, block, span);
        let n = iterations(&mut b, (known.first, known.limit), MOST);
        let (base, one) = (b.get(of.base), b.int(1));
        let n = b.int_op("add", n, one);
        let need = b.int_op("add", base, n);
        let room = b.get(of.room);
        let fits = b.test("le", need, room);
        b.end(block, Term::Branch { cond: fits, then: to(rest, vec![]), els: to(more, vec![]) });
        let mut b = Builder::new(func, span);
        enlarge(&mut b, of, (need, room, base), words);
        b.end(more, Term::Jump(to(rest, vec![])));
        let mut b = Builder::at_end(func, rest, span);
        self.set_rows(&mut b, of);
        b.finish(rest);
    }
}

/// Moves the values of a nest, which use some rows, to memory with more of them, at least so many as needed.
fn enlarge(b: &mut Builder<'_>, of: &OfLoop, (need, room, used): (Value, Value, Value), words: String) {
    let two = b.int(2);
    let double = b.int_op("mul", room, two);
    let is_more = b.test("lt", need, double);
    let new = b.op(row("select"), &[is_more, double, need], Ty::int());
    let place = b.inst(Inst::Const(Const::Str(words)), Ty::str());
    let width = of.nest.as_ref().map(|nest| b.get(nest.width));
    let bytes = |b: &mut Builder<'_>, places: Value, size: i64| {
        let mut n = b.int(size);
        if let Some(width) = width {
            n = product(b, n, width);
        }
        product(b, places, n)
    };
    let total = of.columns.iter().map(|c| size(b.func.ty(c.value))).sum();
    let total = bytes(b, new, total);
    for c in &of.columns {
        let size = size(b.func.ty(c.value));
        let n = bytes(b, new, size);
        let memory = b.inst(Inst::Runtime(&rt::lh_tape, vec![n, total, place]), pair());
        let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
        let used = bytes(b, used, size);
        let old = b.get(c.memory);
        let old = b.inst(Inst::Field(old, 1), Ty::ptr());
        b.effect(Inst::Runtime(&rt::lh_tape_moved, vec![data, old, used]));
        b.set(c.memory, memory);
    }
    b.set(of.room, new);
}

/// The type of the rows in which values of a nest of loops are kept.
fn rows(ty: Ty) -> Ty {
    let item = if ty.is_number() { ty } else { Ty::u8() };
    Ty::array(item, 2, Layout::C)
}

/// Most bytes that a thread of a kernel keeps for a loop with a constant number of iterations.
const MOST_LOCAL: i64 = 1 << 16;

/// Bytes that it keeps for a loop whose number of iterations is not known.
const ROOM: i64 = 1 << 12;

/// The number of places for all runs of a loop, if the numbers of iterations are constants.
fn all_trips(func: &Function, flow: &Flow, l: usize) -> Option<i64> {
    let of = bounds(func, flow, l)?;
    let number = |v: Value| match inst_anywhere(func, v)? {
        Inst::Const(Const::Int(n, _)) => i64::try_from(*n).ok(),
        _ => None,
    };
    let own = number(of.limit)?.checked_sub(number(of.first)?)?.max(0) + 1;
    let runs = flow.loops.loops[l].parent.map_or(Some(1), |p| all_trips(func, flow, p))?;
    own.checked_mul(runs)
}

fn offset(at: &mut i64, ty: Ty) -> i64 {
    let n = *at;
    *at += size(ty);
    n
}

fn moved(b: &mut Builder<'_>, p: Value, n: i64) -> Value {
    if n == 0 {
        return p;
    }
    let n = b.int(n);
    b.inst(Inst::PtrAdd(p, n), Ty::ptr())
}

/// Whether values of a type can be kept for each iteration of a loop.
pub(crate) fn is_keepable(ty: Ty) -> bool {
    match ty.kind() {
        TyKind::Array { .. } | TyKind::MemInfo => true,
        TyKind::Optional(_) | TyKind::MaybeUnbound(_) => !ty.is_counted(),
        _ => !ty.is_counted() || is_object(ty) || parts(ty).next().is_some() && parts(ty).all(is_keepable),
    }
}

/// The object that an instruction keeps until there; callers keep arguments.
fn keeps(func: &Function, d: &InstData) -> Option<Value> {
    let Inst::Runtime(f, args) = &d.inst else { return None };
    let keeps_object = f.role == Role::Items(Items::Keeps) && func.ty(args[0]) != Ty::meminfo();
    (keeps_object && !func.params().contains(&args[0])).then(|| args[0])
}

/// The types of the objects that a value has.
fn objects(ty: Ty, out: &mut Vec<Ty>) {
    if is_object(ty) {
        out.push(ty);
    } else if ty.is_counted() {
        parts(ty).for_each(|t| objects(t, out));
    }
}

impl Tape {
    /// Writes the parts of a value to a place.
    fn write_parts(&self, b: &mut Builder<'_>, p: Value, at: &mut i64, v: Value, ty: Ty) {
        if ty.flatten().is_empty() || ty == Ty::meminfo() {
            return;
        }
        if !ty.is_counted() {
            let to = offset(at, ty);
            let p = moved(b, p, to);
            b.effect(Inst::Store(p, v));
            return;
        }
        if let Some(list) = self.lists.get(&ty) {
            let n = append(b, *list, v);
            let to = offset(at, ty);
            let p = moved(b, p, to);
            b.effect(Inst::Store(p, n));
            return;
        }
        if let TyKind::Array { ndim, .. } = ty.kind() {
            let mut words = vec![b.inst(Inst::ArrayData(v), Ty::ptr())];
            words.extend((0..u32::from(*ndim)).map(|i| b.inst(Inst::ArrayShape(v, i), Ty::int())));
            words.extend((0..u32::from(*ndim)).map(|i| b.inst(Inst::ArrayStride(v, i), Ty::int())));
            let first = offset(at, ty);
            for (i, w) in words.into_iter().enumerate() {
                let p = moved(b, p, first + 8 * i as i64);
                b.effect(Inst::Store(p, w));
            }
            return;
        }
        for (i, t) in parts(ty).enumerate().collect::<Vec<_>>() {
            if !t.flatten().is_empty() {
                let part = b.inst(Inst::Field(v, i as u32), t);
                self.write_parts(b, p, at, part, t);
            }
        }
    }

    /// Reads a value that `write_parts` has written.
    fn read_parts(&self, b: &mut Builder<'_>, p: Value, at: &mut i64, ty: Ty) -> Value {
        if ty == Ty::meminfo() {
            return b.inst(Inst::Zero, ty);
        }
        if !ty.is_counted() {
            let from = offset(at, ty);
            let p = moved(b, p, from);
            return b.inst(Inst::Load(p), ty);
        }
        if let Some(list) = self.lists.get(&ty) {
            let from = offset(at, ty);
            let p = moved(b, p, from);
            let n = b.inst(Inst::Load(p), Ty::int());
            let p = item(b, *list, n);
            return b.inst(Inst::Load(p), ty);
        }
        if let TyKind::Array { ndim, .. } = ty.kind() {
            let first = offset(at, ty);
            let n = usize::from(*ndim);
            let mut word = |i: usize, t: Ty| {
                let p = moved(b, p, first + 8 * i as i64);
                b.inst(Inst::Load(p), t)
            };
            let data = word(0, Ty::ptr());
            let shape = (0..n).map(|i| word(1 + i, Ty::int())).collect();
            let strides = (0..n).map(|i| word(1 + n + i, Ty::int())).collect();
            let owner = b.inst(Inst::Zero, Ty::meminfo());
            return b.inst(Inst::ArrayMake { owner, data, shape, strides }, ty);
        }
        let of: Vec<Ty> = parts(ty).filter(|t| !t.flatten().is_empty()).collect();
        let made = of.into_iter().map(|t| self.read_parts(b, p, at, t)).collect();
        b.inst(Inst::Pack(made), ty)
    }
}

/// Keeps the memory of a value alive until the function ends.
fn own(b: &mut Builder<'_>, owners: Option<Value>, v: Value) -> Result<()> {
    let ty = b.func.ty(v);
    let owner = match ty.kind() {
        TyKind::Array { .. } => b.inst(Inst::ArrayOwner(v), Ty::meminfo()),
        TyKind::MemInfo => v,
        // They are in a list of their own.
        _ if is_object(ty) => return Ok(()),
        _ => {
            for (i, t) in parts(ty).enumerate().filter(|(_, t)| t.is_counted()).collect::<Vec<_>>() {
                let part = b.inst(Inst::Field(v, i as u32), t);
                own(b, owners, part)?;
            }
            return Ok(());
        }
    };
    let Some(list) = owners else {
        return Err(Diagnostic::new(diag::NO_DERIVATIVE, "memory that a loop makes is needed again"));
    };
    append(b, list, owner);
    Ok(())
}

/// Appends a reference to a list; gives its number there.
fn append(b: &mut Builder<'_>, list: Value, v: Value) -> Value {
    let (n, one) = (b.inst(Inst::ItemsLen(list), Ty::int()), b.int(1));
    let more = b.int_op("add", n, one);
    b.effect(Inst::Runtime(&rt::lh_items_reserve, vec![list, more]));
    let p = item(b, list, n);
    b.effect(Inst::Store(p, v));
    b.effect(Inst::Runtime(&rt::lh_items_set_len, vec![list, more]));
    n
}

/// The address of a reference in a list.
fn item(b: &mut Builder<'_>, list: Value, n: Value) -> Value {
    let data = b.inst(Inst::ItemsData(list), Ty::ptr());
    let eight = b.int(8);
    let bytes = b.int_op("mul", n, eight);
    b.inst(Inst::PtrAdd(data, bytes), Ty::ptr())
}
