//! Stacks for the values that loops keep: one for each outermost loop and kind of values, so that loops carry few
//! addresses, however many values they keep. The reverse part pops in the opposite order of that in which loops push.
//!
//! ```text
//! for i in range(n):          each iteration pushes its values, and where those of the one before are
//!     for j in range(m):      pushes the values of all iterations before the first
//!                             pushes where the values of its last iteration are when it is left
//! ```

use crate::builder::{Builder, MOST, iterations, row, to};
use crate::memory::{has_memory, leaves};
use crate::normal::{Bounds, Flow, bounds, entries, inst_anywhere, is_left_early};
use crate::reverse::Counting;
use hashbrown::HashMap;
use lh_ir::func::{BlockData, Function, Inst, Term};
use lh_ir::types::{ClassTy, TyKind};
use lh_ir::verify::parts;
use lh_ir::{Block, Const, Slot, Ty, Value, bug};
use lh_ops::runtime as rt;

/// The stack of a nest of loops.
#[derive(Clone, Copy)]
struct Stack {
    /// Its owner and its address, together, so that the address never outlives the owner.
    memory: Slot,
    /// Its size, and the bytes of it that are used.
    room: Slot,
    top: Slot,
}

/// How a loop pushes its values.
#[derive(Clone, Copy)]
enum Way {
    /// Those of all iterations at once: each value has a column. The number of iterations is known, and so is the
    /// number of rows in the slot.
    AtOnce(Bounds, Slot),
    /// Those of an iteration where it begins.
    Each,
    /// The same, with loops in it that push theirs: the place of the iteration before is behind the values.
    Around,
}

/// The values of a loop on one stack.
struct Frame {
    of: usize,
    stack: Stack,
    values: Vec<(Value, Ty)>,
    /// Bytes of an iteration.
    size: i64,
    /// The place of all iterations, or of the present one.
    at: Slot,
    way: Way,
    /// Bytes that loops around it and itself push when they are left.
    slack: i64,
    /// Whether it is the outermost loop.
    is_outermost: bool,
}

/// The stacks of a function.
#[derive(Default)]
pub(crate) struct Stacks {
    /// Frames of inner loops come first.
    frames: Vec<Frame>,
    /// Of each value the frame, and the bytes before it in an iteration.
    places: HashMap<Value, (usize, i64)>,
}

/// Values of one kind share a stack: addresses are apart from floats, and floats from those of another type, because
/// derivatives of derivatives have shadows of each kind of memory.
fn kind(ty: Ty) -> (bool, Option<Ty>) {
    let has = has_memory(ty);
    (has, leaves(ty).first().copied().or((!has).then(Ty::f64)))
}

const WORD: i64 = 8;

/// Steps of loops are at most that for their iterations to be counted before.
const MOST_STEP: i128 = 1 << 32;

/// The least that a stack grows by.
const LEAST: i64 = 1 << 10;

impl Stacks {
    /// Gives values of loops places.
    pub(crate) fn new(func: &mut Function, flow: &Flow, kept: &[(usize, Value)]) -> Stacks {
        let mut stacks: HashMap<(usize, (bool, Option<Ty>)), Stack> = HashMap::new();
        let mut frames: Vec<Frame> = Vec::new();
        let mut numbers: HashMap<(usize, (bool, Option<Ty>)), usize> = HashMap::new();
        let mut kept = kept.to_vec();
        kept.sort_by_key(|(l, _)| *l);
        for (l, v) in kept {
            let (ty, top) = (func.ty(v), *around(flow, l).last().unwrap_or(&l));
            let frame = *numbers.entry((l, kind(ty))).or_insert_with(|| {
                let mut slot = |ty| func.new_slot(ty);
                let mut new = || Stack { memory: slot(pair()), room: slot(Ty::int()), top: slot(Ty::int()) };
                let stack = *stacks.entry((top, kind(ty))).or_insert_with(&mut new);
                let (at, is_outermost) = (func.new_slot(Ty::int()), top == l);
                let (values, size, way, slack) = (Vec::new(), 0, Way::Each, 0);
                frames.push(Frame { of: l, stack, values, size, at, way, slack, is_outermost });
                frames.len() - 1
            });
            frames[frame].values.push((v, ty));
        }
        let ways: Vec<Way> = frames.iter().map(|f| way(func, flow, f, &frames)).collect();
        let mut places = HashMap::new();
        for (i, (f, way)) in frames.iter_mut().zip(ways).enumerate() {
            // Places are aligned if those of large values come first.
            f.values.sort_by_key(|(_, ty)| std::cmp::Reverse(size(*ty).trailing_zeros().min(3)));
            for (v, ty) in &f.values {
                places.insert(*v, (i, f.size));
                f.size += size(*ty);
            }
            f.way = way;
            if !matches!(way, Way::AtOnce(..)) {
                f.size = whole(f.size) + if matches!(way, Way::Around) { WORD } else { 0 };
            }
        }
        let open = |f: &Frame, g: &Frame| {
            matches!(g.way, Way::Around) && g.stack.top == f.stack.top && around(flow, f.of).contains(&g.of)
        };
        let slack: Vec<i64> = frames.iter().map(|f| frames.iter().filter(|g| open(f, g)).count() as i64).collect();
        frames.iter_mut().zip(slack).for_each(|(f, n)| f.slack = WORD * n);
        Stacks { frames, places }
    }

    /// The place of a value, by the counters of loops.
    pub(crate) fn place(&self, b: &mut Builder<'_>, v: Value, counter: &Counters<'_>) -> Option<Value> {
        let (frame, before) = *self.places.get(&v)?;
        let f = &self.frames[frame];
        let (memory, at, before) = (b.get(f.stack.memory), b.get(f.at), b.int(before));
        let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
        let Way::AtOnce(_, rows) = f.way else {
            let at = b.int_op("add", at, before);
            return Some(b.inst(Inst::PtrAdd(data, at), Ty::ptr()));
        };
        let (rows, k) = (b.get(rows), counter(b, f.of));
        let size = b.int(size(b.func.ty(v)));
        let column = b.int_op("mul", rows, before);
        let column = b.int_op("add", at, column);
        let data = b.inst(Inst::PtrAdd(data, column), Ty::ptr());
        let bytes = b.int_op("mul", k, size);
        Some(b.inst(Inst::PtrAdd(data, bytes), Ty::ptr()))
    }

    /// Lets loops push, and the reverse part pop.
    pub(crate) fn write(
        &self,
        func: &mut Function,
        flow: &Flow,
        counting: &[Counting],
        reverse: &HashMap<Block, Block>,
    ) {
        // Blocks are split below.
        let words: Vec<String> = self.frames.iter().map(|f| words(func, flow, f.of)).collect();
        for (f, words) in self.frames.iter().zip(words) {
            f.push(func, flow, words);
        }
        for f in self.frames.iter().rev() {
            f.leave(func, flow, counting, reverse);
        }
    }
}

/// A loop and those around it.
fn around(flow: &Flow, l: usize) -> Vec<usize> {
    std::iter::successors(Some(l), |l| flow.loops.loops[*l].parent).collect()
}

fn way(func: &mut Function, flow: &Flow, f: &Frame, frames: &[Frame]) -> Way {
    let is_in = |g: &Frame| g.of != f.of && g.stack.top == f.stack.top && around(flow, g.of).contains(&f.of);
    if frames.iter().any(is_in) {
        return Way::Around;
    }
    // Where a loop may be left early, its limit says little: `range(10**18)` with a `break`.
    let known = bounds(func, flow, f.of).filter(|b| b.step <= MOST_STEP && !is_left_early(flow, f.of));
    match known {
        Some(known) => Way::AtOnce(known, func.new_slot(Ty::int())),
        None => Way::Each,
    }
}

fn whole(bytes: i64) -> i64 {
    (bytes + WORD - 1) / WORD * WORD
}

impl Frame {
    /// The bytes of so many iterations.
    fn bytes(&self, b: &mut Builder<'_>, rows: Value) -> Value {
        let size = b.int(self.size);
        let bytes = b.int_op("mul", rows, size);
        if self.size % WORD == 0 {
            return bytes;
        }
        let (more, mask) = (b.int(WORD - 1), b.int(-WORD));
        let bytes = b.int_op("add", bytes, more);
        b.int_op("and", bytes, mask)
    }

    /// The place of the iteration before, from that of the present one.
    fn back(&self, b: &mut Builder<'_>, at: Value) -> Value {
        let size = b.int(self.size);
        if !matches!(self.way, Way::Around) {
            return b.int_op("sub", at, size);
        }
        let p = self.link(b, at);
        b.inst(Inst::Load(p), Ty::int())
    }

    /// Where the place of the iteration before stands.
    fn link(&self, b: &mut Builder<'_>, at: Value) -> Value {
        let behind = b.int(self.size - WORD);
        let end = b.int_op("add", at, behind);
        self.address(b, end)
    }

    fn address(&self, b: &mut Builder<'_>, at: Value) -> Value {
        let memory = b.get(self.stack.memory);
        let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
        b.inst(Inst::PtrAdd(data, at), Ty::ptr())
    }

    /// Pushes the values of a loop before it, or those of an iteration where it begins.
    fn push(&self, func: &mut Function, flow: &Flow, words: String) {
        let header = flow.loops.loops[self.of].header;
        let at_header = !matches!(self.way, Way::AtOnce(..));
        let (block, rest, more) = split(func, flow, header, at_header);
        let span = func.blocks[rest.index()].term_span;
        let mut b = Builder::at_end(func, block, span);
        let (old, last) = (b.get(self.stack.top), b.get(self.at));
        let bytes = match self.way {
            Way::AtOnce(known, rows) => {
                let n = rows_of(&mut b, &known, MOST / self.size);
                b.set(rows, n);
                self.bytes(&mut b, n)
            }
            _ => b.int(self.size),
        };
        b.set(self.at, old);
        let top = b.int_op("add", old, bytes);
        b.set(self.stack.top, top);
        let (slack, room) = (b.int(self.slack), b.get(self.stack.room));
        let need = b.int_op("add", top, slack);
        // An outermost loop that pushes all at once runs once.
        let is_first = self.is_outermost && !at_header;
        let term = if is_first {
            Term::Jump(to(more, vec![]))
        } else {
            let fits = b.test("le", need, room);
            Term::Branch { cond: fits, then: to(rest, vec![]), els: to(more, vec![]) }
        };
        b.end(block, term);
        let mut b = Builder::new(func, span);
        self.enlarge(&mut b, need, (room, old), words, is_first);
        b.end(more, Term::Jump(to(rest, vec![])));
        if matches!(self.way, Way::Around) {
            let mut b = Builder::new(func, span);
            let p = self.link(&mut b, old);
            b.effect(Inst::Store(p, last));
            let insts = b.insts;
            func.blocks[rest.index()].insts.splice(0..0, insts);
            // No loop around this one carries the place for the first iteration.
            let before = before(flow, header);
            let mut b = Builder::at_end(func, before, span);
            let none = b.int(0);
            b.set(self.at, none);
            b.finish(before);
        }
    }

    /// Moves the stack to memory with more room.
    fn enlarge(&self, b: &mut Builder<'_>, need: Value, (room, used): (Value, Value), words: String, is_first: bool) {
        let (double, some) = (b.int_op("add", room, room), b.int(LEAST));
        let double = b.int_op("add", double, some);
        let is_more = b.test("lt", need, double);
        let twice = b.op(row("select"), &[is_more, double, need], Ty::int());
        let new = if is_first { need } else { twice };
        let place = b.inst(Inst::Const(Const::Str(words)), Ty::str());
        let memory = b.inst(Inst::Runtime(&rt::lh_tape, vec![new, new, place]), pair());
        if !is_first {
            let data = b.inst(Inst::Field(memory, 1), Ty::ptr());
            let zero = b.int(0);
            let old = self.address(b, zero);
            b.effect(Inst::Runtime(&rt::lh_tape_moved, vec![data, old, used]));
        }
        b.set(self.stack.memory, memory);
        b.set(self.stack.room, new);
    }

    /// Notes where the last iteration's values are when a loop is left; in the reverse part, finds them there, and pops
    /// those of each iteration after it.
    fn leave(&self, func: &mut Function, flow: &Flow, counting: &[Counting], reverse: &HashMap<Block, Block>) {
        let exits: Vec<Block> =
            flow.left.iter().filter(|(_, l)| l.iter().any(|(l, _)| *l == self.of)).map(|(e, _)| *e).collect();
        let top = self.stack.top;
        for exit in exits {
            let Some(&back) = reverse.get(&exit) else { continue };
            let span = func.blocks[exit.index()].term_span;
            let mut b = Builder::at_end(func, back, span);
            let (end, word) = (b.get(top), b.int(WORD));
            let at = match self.way {
                Way::AtOnce(_, rows) => {
                    let (last, one) = (b.get(counting[self.of].last), b.int(1));
                    let n = b.int_op("add", last, one);
                    b.set(rows, n);
                    let bytes = self.bytes(&mut b, n);
                    let at = b.int_op("sub", end, bytes);
                    b.set(top, at);
                    at
                }
                Way::Each => self.back(&mut b, end),
                Way::Around => {
                    let end = b.int_op("sub", end, word);
                    b.set(top, end);
                    let p = self.address(&mut b, end);
                    b.inst(Inst::Load(p), Ty::int())
                }
            };
            b.set(self.at, at);
            b.finish(back);
            if matches!(self.way, Way::Around) {
                let mut b = Builder::new(func, span);
                let (end, at, word) = (b.get(top), b.get(self.at), b.int(WORD));
                let p = self.address(&mut b, end);
                b.effect(Inst::Store(p, at));
                let end = b.int_op("add", end, word);
                b.set(top, end);
                let insts = b.insts;
                func.blocks[exit.index()].insts.splice(0..0, insts);
            }
        }
        let header = flow.loops.loops[self.of].header;
        if let (Way::Each | Way::Around, Some(&back)) = (self.way, reverse.get(&header)) {
            let span = func.blocks[back.index()].term_span;
            let mut b = Builder::at_end(func, back, span);
            let at = b.get(self.at);
            b.set(top, at);
            let before = self.back(&mut b, at);
            b.set(self.at, before);
            b.finish(back);
        }
    }
}

/// The times that the header of a loop runs, `most` if they are more.
fn rows_of(b: &mut Builder<'_>, known: &Bounds, most: i64) -> Value {
    let n = iterations(b, (known.first, known.limit), most);
    if known.step == 1 {
        let one = b.int(1);
        return b.int_op("add", n, one);
    }
    // Rounded up, and one more.
    let (more, step) = (b.int(2 * known.step as i64 - 1), b.int(known.step as i64));
    let n = b.int_op("add", n, more);
    b.op(row("sdiv"), &[n, step], Ty::int())
}

/// The type of an owner with an address.
pub(crate) fn pair() -> Ty {
    Ty::tuple(vec![Ty::meminfo(), Ty::ptr()])
}

/// Splits the block before a loop at its end, or the loop's header at its beginning. Gives the block, the rest of it,
/// and a further block.
pub(crate) fn split(func: &mut Function, flow: &Flow, header: Block, at_header: bool) -> (Block, Block, Block) {
    let block = if at_header { header } else { before(flow, header) };
    let [rest, more] = [func.new_block(), func.new_block()];
    let mut data = std::mem::take(&mut func.blocks[block.index()]);
    let (params, parallel, cold) = (std::mem::take(&mut data.params), data.parallel.take(), data.cold);
    let insts = if at_header { Vec::new() } else { std::mem::take(&mut data.insts) };
    func.blocks[block.index()] =
        BlockData { params, insts, parallel, cold, term_span: data.term_span, ..Default::default() };
    func.blocks[rest.index()] = data;
    (block, rest, more)
}

/// The block from which a loop is entered.
pub(crate) fn before(flow: &Flow, header: Block) -> Block {
    let found = entries(&flow.cfg, header).into_iter().find(|e| !flow.dom.dominates(header, e.from));
    found.unwrap_or_else(|| bug!("a loop is entered")).from
}

/// Finds the place of a value by the counters of loops.
pub(crate) type Counters<'a> = dyn Fn(&mut Builder<'_>, usize) -> Value + 'a;

/// A loop in words, for an error.
pub(crate) fn words(func: &Function, flow: &Flow, l: usize) -> String {
    // Memory of a tape is allocated with the loop in words.
    let text = |block: usize| {
        func.blocks[block].insts.iter().find_map(|d| match &d.inst {
            Inst::Runtime(f, args) if f.allocates() => args.iter().find_map(|a| match inst_anywhere(func, *a) {
                Some(Inst::Const(Const::Str(text))) => Some(text.clone()),
                _ => None,
            }),
            _ => None,
        })
    };
    // The places of a derivative's loops are those of calls that were inlined.
    let known: Vec<(usize, String)> = (0..flow.loops.innermost.len()).filter_map(|b| Some((b, text(b)?))).collect();
    if let Some((_, text)) = known.iter().find(|(b, _)| flow.loops.innermost[*b] == Some(l)) {
        return text.clone();
    }
    if !known.is_empty() {
        return "a loop of a derivative".to_owned();
    }
    let file = func.file.rsplit(['/', '\\']).next().unwrap_or_default();
    format!("the loop at line {} of {file}", func.blocks[flow.loops.loops[l].header.index()].term_span.line)
}

/// Bytes of a value on the tape.
pub(crate) fn size(ty: Ty) -> i64 {
    match ty.kind() {
        TyKind::Array { ndim, .. } => 8 * (1 + 2 * i64::from(*ndim)),
        TyKind::MemInfo => 0,
        _ if is_object(ty) => 8,
        _ if ty.is_counted() => parts(ty).map(size).sum(),
        // Places are aligned for what follows only where there are several.
        _ => i64::try_from(ty.mem_layout().1).unwrap_or(8),
    }
}

/// Whether a value is one reference to an object of a class.
pub(crate) fn is_object(ty: Ty) -> bool {
    matches!(ty.kind(), TyKind::Class(ClassTy { parts: None, .. }))
}
