//! Unrolls a `for` loop whose items have types of their own (a tuple, `literal_unroll`).
//!
//! ```text
//! block1(v2): for v3 in v1: block2, block3        block1(v2):  v9 = v0[[0]]; jump block2(v9)
//! block2(v3): ... jump block1(v4)            ─▶   block2(v3):  ... jump block5(v4)
//! block3: ...                                     block5(v10): v11 = v0[[1]]; jump block6(v11)   ... block3: ...
//! ```
//!
//! The loop's blocks are copied once for each item, the header once more for the way out. A value defined in the loop
//! and used behind it has a definition in each copy: blocks behind the loop get parameters for it.

use lh_ir::untyped::{BlockData, Code, Inst, InstData, Target, Term};
use lh_ir::{Block, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest code that unrolling may make, in blocks.
const MAX_BLOCKS: usize = 100_000;

/// The code with the loop at `header`, whose terminator is a `for`, unrolled `times` times.
///
/// `None` when the iterator is not made in plain sight, or the result would be too large.
pub fn unroll(code: &Code, header: Block, times: u32) -> Option<Code> {
    let Some(Term::ForIter { iter, .. }) = &code.blocks[header.index()].term else { return None };
    let seq = sequence_of(code, *iter)?;
    let members = loop_blocks(code, header);
    if code.blocks.len() + members.len() * (times as usize + 1) > MAX_BLOCKS {
        return None;
    }
    let mut cx = Unroll { out: code.clone(), header, seq, members, copies: Vec::new() };
    for k in 0..=times {
        cx.allocate(code, k, times);
    }
    for k in 0..=times {
        cx.fill(code, k, times);
    }
    cx.repair(code);
    Some(cx.out)
}

/// What an iterator iterates over.
fn sequence_of(code: &Code, iter: Value) -> Option<Value> {
    code.blocks.iter().flat_map(|b| &b.insts).find(|i| i.result == Some(iter)).and_then(|i| match &i.inst {
        Inst::Iter(v) => Some(*v),
        _ => None,
    })
}

fn successors(data: &BlockData) -> impl Iterator<Item = Block> + '_ {
    let term = data.term.as_ref().map(Term::targets).unwrap_or_default();
    term.into_iter().chain(&data.unwind).map(|t| t.block)
}

/// Blocks from which the header is reached again without leaving what it dominates, and the header.
fn loop_blocks(code: &Code, header: Block) -> BTreeSet<Block> {
    let mut outside = BTreeSet::new();
    let mut todo = if header == Block(0) { vec![] } else { vec![Block(0)] };
    while let Some(b) = todo.pop() {
        if outside.insert(b) {
            todo.extend(successors(&code.blocks[b.index()]).filter(|s| *s != header));
        }
    }
    let mut preds: HashMap<Block, Vec<Block>> = HashMap::new();
    for (i, data) in code.blocks.iter().enumerate() {
        let b = Block::new(i);
        if !outside.contains(&b) {
            successors(data).for_each(|s| preds.entry(s).or_default().push(b));
        }
    }
    let mut members = BTreeSet::from([header]);
    let mut todo = preds.get(&header).cloned().unwrap_or_default();
    while let Some(b) = todo.pop() {
        if members.insert(b) {
            todo.extend(preds.get(&b).into_iter().flatten());
        }
    }
    members
}

/// One copy of the loop: new names of blocks and values.
#[derive(Default)]
struct Copy {
    blocks: HashMap<Block, Block>,
    values: HashMap<Value, Value>,
}

struct Unroll {
    out: Code,
    header: Block,
    seq: Value,
    members: BTreeSet<Block>,
    copies: Vec<Copy>,
}

impl Unroll {
    fn new_value(&mut self, like: Option<Value>) -> Value {
        let v = Value::new(self.out.value_count);
        self.out.value_count += 1;
        let name = like.and_then(|l| self.out.value_names[l.index()].clone());
        self.out.value_names.push(name);
        v
    }

    /// Blocks of copy `k`; the last copy has only the header.
    fn blocks_of(&self, k: u32, times: u32) -> Vec<Block> {
        self.members.iter().copied().filter(|b| *b == self.header || k < times).collect()
    }

    /// Names the blocks and values of a copy; the first copy takes the place of the original.
    fn allocate(&mut self, code: &Code, k: u32, times: u32) {
        let mut copy = Copy::default();
        for b in self.blocks_of(k, times) {
            let data = &code.blocks[b.index()];
            let new = if k == 0 {
                b
            } else {
                self.out.blocks.push(BlockData::default());
                Block::new(self.out.blocks.len() - 1)
            };
            copy.blocks.insert(b, new);
            for v in data.params.iter().copied().chain(data.insts.iter().filter_map(|i| i.result)) {
                let w = if k == 0 { v } else { self.new_value(Some(v)) };
                copy.values.insert(v, w);
            }
        }
        self.copies.push(copy);
    }

    fn fill(&mut self, code: &Code, k: u32, times: u32) {
        for b in self.blocks_of(k, times) {
            let mut data = code.blocks[b.index()].clone();
            let values = &self.copies[k as usize].values;
            let rename = |v: &mut Value| {
                if let Some(w) = values.get(v) {
                    *v = *w;
                }
            };
            data.params.iter_mut().for_each(rename);
            for i in &mut data.insts {
                rename_inst(&mut i.inst, &rename);
                i.result.iter_mut().for_each(rename);
            }
            if b == self.header {
                let Some(Term::ForIter { body, done, .. }) = data.term.take() else { lh_ir::bug!("not a loop") };
                data.term = Some(Term::Jump(if k == times { done } else { body }));
            }
            if let Some(t) = &mut data.term {
                rename_term(t, &rename);
            }
            if let Some(t) = &mut data.unwind {
                t.args.iter_mut().for_each(rename);
            }
            if b == self.header && k < times {
                let item = self.new_value(None);
                let span = data.term_span;
                data.insts.push(InstData { result: Some(item), inst: Inst::UnpackItem(self.seq, k), span });
                if let Some(Term::Jump(t)) = &mut data.term {
                    t.args.insert(0, item);
                }
            }
            for t in targets_mut(&mut data) {
                t.block = self.target(t.block, k, times);
            }
            let at = self.copies[k as usize].blocks[&b];
            self.out.blocks[at.index()] = data;
        }
    }

    /// Where an edge of copy `k` to an original block leads.
    fn target(&self, b: Block, k: u32, times: u32) -> Block {
        if b == self.header {
            return self.copies[(k + 1).min(times) as usize].blocks[&b];
        }
        self.copies[k as usize].blocks.get(&b).copied().unwrap_or(b)
    }

    /// Parameters for values of the loop that are used behind it.
    fn repair(&mut self, code: &Code) {
        let defined: BTreeSet<Value> = self.copies[0].values.keys().copied().collect();
        let owner: HashMap<Block, usize> =
            self.copies.iter().enumerate().flat_map(|(k, c)| c.blocks.values().map(move |b| (*b, k))).collect();
        let mut preds: HashMap<Block, Vec<Block>> = HashMap::new();
        for (i, data) in self.out.blocks.iter().enumerate() {
            for s in successors(data).collect::<BTreeSet<_>>() {
                preds.entry(s).or_default().push(Block::new(i));
            }
        }
        let mut live: BTreeMap<Value, BTreeSet<Block>> = BTreeMap::new();
        for (i, data) in code.blocks.iter().enumerate() {
            let b = Block::new(i);
            if !self.members.contains(&b) {
                for v in uses(data).into_iter().filter(|v| defined.contains(v)) {
                    live.entry(v).or_default().insert(b);
                }
            }
        }
        for (v, users) in live {
            self.repair_value(v, users, &owner, &preds);
        }
    }

    fn repair_value(
        &mut self,
        v: Value,
        users: BTreeSet<Block>,
        owner: &HashMap<Block, usize>,
        preds: &HashMap<Block, Vec<Block>>,
    ) {
        // Blocks behind the loop where the value is live on entry.
        let mut live = BTreeSet::new();
        let mut todo: Vec<Block> = users.into_iter().collect();
        while let Some(b) = todo.pop() {
            if live.insert(b) {
                todo.extend(preds.get(&b).into_iter().flatten().filter(|p| !owner.contains_key(p)));
            }
        }
        let mut entry: HashMap<Block, Value> = HashMap::new();
        for b in &live {
            let name = self.new_value(Some(v));
            entry.insert(*b, name);
        }
        for b in &live {
            let old = entry[b];
            let data = &mut self.out.blocks[b.index()];
            let rename = |w: &mut Value| {
                if *w == v {
                    *w = old;
                }
            };
            data.insts.iter_mut().for_each(|i| rename_inst(&mut i.inst, &rename));
            if let Some(t) = &mut data.term {
                rename_term(t, &rename);
            }
            if let Some(t) = &mut data.unwind {
                t.args.iter_mut().for_each(rename);
            }
        }
        for b in &live {
            self.out.blocks[b.index()].params.push(entry[b]);
        }
        for i in 0..self.out.blocks.len() {
            let p = Block::new(i);
            let value = match owner.get(&p) {
                Some(k) => self.copies[*k].values.get(&v).copied(),
                None => entry.get(&p).copied(),
            };
            for t in targets_mut(&mut self.out.blocks[i]) {
                if live.contains(&t.block) {
                    // A way on which the value does not exist cannot lead to a use of it: any value will do.
                    t.args.push(value.unwrap_or(v));
                }
            }
        }
    }
}

fn targets_mut(data: &mut BlockData) -> Vec<&mut Target> {
    let mut out: Vec<&mut Target> = Vec::new();
    match &mut data.term {
        Some(Term::Jump(t)) => out.push(t),
        Some(Term::Branch { then, els, .. }) => out.extend([then, els]),
        Some(Term::ForIter { body, done, .. }) => out.extend([body, done]),
        Some(Term::Return(_) | Term::Raise { .. } | Term::Reraise(_) | Term::Unreachable) | None => {}
    }
    out.extend(&mut data.unwind);
    out
}

/// Values that a block reads.
fn uses(data: &BlockData) -> Vec<Value> {
    let mut out = Vec::new();
    data.insts.iter().for_each(|i| i.inst.for_each_operand(|v| out.push(v)));
    let mut term = data.term.clone();
    if let Some(t) = &mut term {
        let seen = std::cell::RefCell::new(&mut out);
        rename_term(t, &|v| seen.borrow_mut().push(*v));
    }
    out.extend(data.unwind.iter().flat_map(|t| t.args.iter().copied()));
    out
}

fn rename_term(t: &mut Term, f: &dyn Fn(&mut Value)) {
    match t {
        Term::Jump(t) => t.args.iter_mut().for_each(f),
        Term::Branch { cond, then, els } => {
            f(cond);
            then.args.iter_mut().chain(&mut els.args).for_each(f);
        }
        Term::ForIter { iter, body, done } => {
            f(iter);
            body.args.iter_mut().chain(&mut done.args).for_each(f);
        }
        Term::Return(v) | Term::Reraise(v) => f(v),
        Term::Raise { exc, cause } => {
            f(exc);
            cause.iter_mut().for_each(f);
        }
        Term::Unreachable => {}
    }
}

fn rename_inst(inst: &mut Inst, f: &dyn Fn(&mut Value)) {
    match inst {
        Inst::Const(_) | Inst::Global(_) | Inst::Free(_) | Inst::Import { .. } | Inst::CatchExc => {}
        Inst::CheckBound { value: a, .. }
        | Inst::Unary(_, a)
        | Inst::GetAttr(a, _)
        | Inst::ListToTuple(a)
        | Inst::Iter(a)
        | Inst::Unpack { seq: a, .. }
        | Inst::UnpackItem(a, _)
        | Inst::EndCatch(a)
        | Inst::Yield(a) => f(a),
        Inst::Binary { a, b, .. }
        | Inst::Compare(_, a, b)
        | Inst::Is { a, b, .. }
        | Inst::Contains { item: a, container: b, .. }
        | Inst::SetAttr(a, _, b)
        | Inst::GetItem(a, b)
        | Inst::DelItem(a, b)
        | Inst::ListAppend(a, b)
        | Inst::ListExtend(a, b)
        | Inst::SetAdd(a, b)
        | Inst::ExcMatch(a, b) => {
            f(a);
            f(b);
        }
        Inst::SetItem(a, b, c) | Inst::MapAdd(a, b, c) => [a, b, c].into_iter().for_each(f),
        Inst::Tuple(vs) | Inst::List(vs) | Inst::Set(vs) | Inst::ConcatStr(vs) => vs.iter_mut().for_each(f),
        Inst::Dict(kvs) => kvs.iter_mut().for_each(|(k, v)| {
            f(k);
            f(v);
        }),
        Inst::Slice(parts) => parts.iter_mut().for_each(f),
        Inst::Format { value, spec, .. } => {
            f(value);
            spec.iter_mut().for_each(f);
        }
        Inst::Call { func, args, kwargs } => {
            f(func);
            args.iter_mut().for_each(f);
            kwargs.iter_mut().for_each(|(_, v)| f(v));
        }
        Inst::CallStar { func, args, kwargs } => {
            f(func);
            f(args);
            kwargs.iter_mut().for_each(f);
        }
        Inst::MakeFunction { defaults, kwdefaults, captures, .. } => {
            defaults.iter_mut().for_each(f);
            kwdefaults.iter_mut().for_each(|(_, v)| f(v));
            captures.iter_mut().for_each(f);
        }
    }
}
