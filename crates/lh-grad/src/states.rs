//! Makes control flow of the states of generators that `generators` has opened: each block is copied for each
//! combination of states in which it runs. So the body of a loop stands where the generator yields, once for each
//! `yield`, and the generator's own loops are loops of the function.
//!
//! ```text
//! block1():                                        block1():            (state 0)
//!     v1 = slot_get slot0: int                         ...
//!     slot_set slot0, -1                               jump block2()
//!     v2 = eq v1, 0: bool                   ->     block2():            (state 1: the loop's body, then what
//!     branch v2, block3(), block4()                    ...               follows the `yield`)
//! ```

use crate::promote::live_slots;
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, def_blocks};
use lh_ir::func::{BlockData, Function, Inst, InstData, Target, Term};
use lh_ir::{Block, Const, Slot, Span, Value};
use std::collections::BTreeMap;

/// The states that are known where a block begins.
type Known = BTreeMap<Slot, i128>;

/// The parameters of a block that are known, by place: a truth value, or a tuple that begins with one, as the answer of
/// a generator does.
type Answers = BTreeMap<usize, bool>;

/// A function grows by this factor at most.
const MOST: usize = 12;

/// Copies blocks for the values of the first `states` slots. A function that would grow too much stays as it is.
pub(crate) fn unroll(func: &mut Function, states: usize) {
    if states == 0 {
        return;
    }
    let before = func.clone();
    apart(func);
    let tracked = tracked(func, states);
    let live = live_slots(func, &Cfg::new(func), 0);
    let live: Vec<HashSet<Slot>> =
        live.into_iter().map(|all| all.into_iter().filter(|s| tracked.contains(s)).collect()).collect();
    let old = std::mem::take(&mut func.blocks);
    let number = |d: &InstData| match &d.inst {
        Inst::Const(c @ (Const::Int(..) | Const::Bool(_))) => Some((d.result?, c.clone())),
        _ => None,
    };
    let fixed = old[0].insts.iter().filter_map(number).collect();
    let (known, work) = (HashMap::new(), Vec::new());
    let mut copies = Copies { func, old: &old, live: &live, tracked: &tracked, known, fixed, work };
    copies.entry();
    if !copies.run() {
        *func = before;
    }
}

/// Passes values from block to block by slots, but for those of the entry block and constants.
fn apart(func: &mut Function) {
    let defs = def_blocks(func);
    let mut constants: HashMap<Value, Inst> = HashMap::new();
    for d in func.insts() {
        if let (Inst::Const(_) | Inst::Zero, Some(r)) = (&d.inst, d.result) {
            constants.insert(r, d.inst.clone());
        }
    }
    let mut slots: HashMap<Value, Slot> = HashMap::new();
    for i in 0..func.blocks.len() {
        let is_other = |v: Value| defs[v.index()].is_some_and(|b| b.0 != 0 && b.index() != i);
        let mut wanted = Vec::new();
        let mut note = |v: Value| wanted.extend(is_other(v).then_some(v));
        let data = &func.blocks[i];
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut note));
        data.term.clone().iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| note(*v)));
        data.unwind.iter().for_each(|t| t.args.iter().for_each(|v| note(*v)));
        wanted.sort_unstable();
        wanted.dedup();
        let mut names: HashMap<Value, Value> = HashMap::new();
        let mut first = Vec::new();
        for v in wanted {
            let ty = func.ty(v);
            let own = func.new_value(ty);
            let inst = match constants.get(&v) {
                Some(inst) => inst.clone(),
                None => Inst::SlotGet(*slots.entry(v).or_insert_with(|| func.new_slot(ty))),
            };
            first.push(InstData { result: Some(own), inst, span: Span::default() });
            names.insert(v, own);
        }
        let of = |v: &mut Value| *v = names.get(v).copied().unwrap_or(*v);
        let data = &mut func.blocks[i];
        data.insts.iter_mut().for_each(|d| d.inst.for_each_operand_mut(&mut |v| of(v)));
        data.term.iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| of(v)));
        data.unwind.iter_mut().for_each(|t| t.args.iter_mut().for_each(of));
        data.insts.splice(0..0, first);
    }
    for data in &mut func.blocks {
        let set = |v: Value| {
            let inst = Inst::SlotSet(*slots.get(&v)?, v);
            Some(InstData { result: None, inst, span: Span::default() })
        };
        let mut insts: Vec<InstData> = data.params.iter().filter_map(|p| set(*p)).collect();
        for d in std::mem::take(&mut data.insts) {
            let after = d.result.and_then(set);
            insts.push(d);
            insts.extend(after);
        }
        data.insts = insts;
    }
}

/// The slots of states, and those that only hold what these held.
fn tracked(func: &Function, states: usize) -> HashSet<Slot> {
    let mut found: HashSet<Slot> = (0..states).map(Slot::new).collect();
    let mut sets: HashMap<Slot, Vec<Option<Slot>>> = HashMap::new();
    for data in &func.blocks {
        let mut read: HashMap<Value, Slot> = HashMap::new();
        for d in &data.insts {
            match (&d.inst, d.result) {
                (Inst::SlotGet(s), Some(r)) => _ = read.insert(r, *s),
                (Inst::SlotSet(s, v), _) => sets.entry(*s).or_default().push(read.get(v).copied()),
                _ => {}
            }
        }
    }
    loop {
        let is_copy = |of: &[Option<Slot>]| of.iter().all(|s| s.is_some_and(|s| found.contains(&s)));
        let more: Vec<Slot> =
            sets.iter().filter(|(s, of)| !found.contains(*s) && is_copy(of)).map(|(s, _)| *s).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

struct Copies<'a> {
    func: &'a mut Function,
    old: &'a [BlockData],
    /// The tracked slots that each block may read before it writes them.
    live: &'a [HashSet<Slot>],
    tracked: &'a HashSet<Slot>,
    /// The copies of blocks.
    known: HashMap<(Block, Known, Answers), Block>,
    /// The numbers of the entry block.
    fixed: HashMap<Value, Const>,
    work: Vec<(Block, Known, Answers, Block)>,
}

impl Copies<'_> {
    fn entry(&mut self) {
        self.copy(Block(0), &Known::new(), Answers::new());
    }

    /// Makes all copies; answers whether they are not too many.
    fn run(&mut self) -> bool {
        while let Some((b, known, answers, new)) = self.work.pop() {
            if self.func.blocks.len() > MOST * self.old.len() {
                return false;
            }
            self.block(b, known, &answers, new);
        }
        true
    }

    /// The copy of a block for states.
    fn copy(&mut self, b: Block, known: &Known, answers: Answers) -> Block {
        let own: Known =
            known.iter().filter(|(s, _)| self.live[b.index()].contains(*s)).map(|(s, n)| (*s, *n)).collect();
        let key = (b, own, answers);
        if let Some(new) = self.known.get(&key) {
            return *new;
        }
        let new = self.func.new_block();
        self.work.push((key.0, key.1.clone(), key.2.clone(), new));
        self.known.insert(key, new);
        new
    }

    fn block(&mut self, b: Block, mut known: Known, answers: &Answers, new: Block) {
        let mut data = self.old[b.index()].clone();
        let mut names: HashMap<Value, Value> = HashMap::new();
        // The values of the entry block, of which there is one copy, are those of all others, too.
        if b.0 != 0 {
            for v in data.defined().collect::<Vec<_>>() {
                let ty = self.func.ty(v);
                names.insert(v, self.func.new_value(ty));
            }
        }
        let start = known.clone();
        let given = answers.iter().map(|(i, holds)| (data.params[*i], Const::Bool(*holds)));
        let mut numbers: HashMap<Value, Const> = given.collect();
        for d in &data.insts {
            self.evaluate(d, &mut known, &mut numbers);
        }
        if let Some(Term::Branch { cond, then, els }) = &data.term
            && let Some(Const::Bool(holds)) = self.number(&numbers, *cond)
        {
            data.term = Some(Term::Jump(if holds { then.clone() } else { els.clone() }));
        }
        let ways = data.term.iter().flat_map(Term::targets).map(|t| self.answers(t, &numbers)).collect::<Vec<_>>();
        let of = |v: &mut Value| *v = names.get(v).copied().unwrap_or(*v);
        data.params.iter_mut().for_each(of);
        for d in &mut data.insts {
            d.inst.for_each_operand_mut(&mut |v| of(v));
            d.result.iter_mut().for_each(of);
        }
        data.term.iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| of(v)));
        data.unwind.iter_mut().for_each(|t| t.args.iter_mut().for_each(of));
        for (t, answers) in data.term.iter_mut().flat_map(Term::targets_mut).zip(ways) {
            t.block = self.copy(t.block, &known, answers);
        }
        // An exception leaves a block before anything in it has run.
        data.unwind.iter_mut().for_each(|t| t.block = self.copy(t.block, &start, Answers::new()));
        self.func.blocks[new.index()] = data;
    }

    /// The arguments of an edge that are known.
    fn answers(&self, t: &Target, numbers: &HashMap<Value, Const>) -> Answers {
        let own = |(i, a): (usize, &Value)| match self.number(numbers, *a) {
            Some(Const::Bool(holds)) => Some((i, holds)),
            _ => None,
        };
        t.args.iter().enumerate().filter_map(own).collect()
    }

    fn number(&self, numbers: &HashMap<Value, Const>, v: Value) -> Option<Const> {
        numbers.get(&v).or_else(|| self.fixed.get(&v)).cloned()
    }

    /// Notes what an instruction gives, as far as that is known; of a tuple that begins with a truth value, that.
    fn evaluate(&self, d: &InstData, known: &mut Known, numbers: &mut HashMap<Value, Const>) {
        let is_truth = |v: Value| self.func.ty(v).is_bool();
        let found = match &d.inst {
            Inst::Const(c @ (Const::Int(..) | Const::Bool(_))) => Some(c.clone()),
            Inst::Field(v, 0) => self.number(numbers, *v).filter(|_| d.result.is_some_and(is_truth)),
            Inst::Pack(of) => of.first().filter(|v| is_truth(**v)).and_then(|v| self.number(numbers, *v)),
            Inst::SlotGet(s) => known.get(s).map(|n| Const::Int(*n, lh_ir::Ty::int())),
            Inst::Op(op, args) => {
                let args: Option<Vec<Const>> = args.iter().map(|a| self.number(numbers, *a)).collect();
                args.and_then(|a| (op.eval)(&a))
            }
            Inst::SlotSet(s, v) if self.tracked.contains(s) => {
                match self.number(numbers, *v) {
                    Some(Const::Int(n, _)) => _ = known.insert(*s, n),
                    _ => _ = known.remove(s),
                }
                None
            }
            _ => None,
        };
        if let (Some(c), Some(r)) = (found, d.result) {
            numbers.insert(r, c);
        }
    }
}
