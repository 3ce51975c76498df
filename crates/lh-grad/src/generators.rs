//! Opens generators: where the function makes a generator and asks it itself, the items of the frame become slots, and
//! the generator is no object any more. `states` then makes control flow of its states.
//!
//! ```text
//! v1 = new v0: generators.generator[tuple(int, f64)]
//! v2 = items_data v1: ptr                                 (no object)
//! store v2, v3                                            slot_set slot0, 0; slot_set slot1, x
//! v4 = pack v1: generator                     ->
//! v5 = field v4, 0; v6 = items_data v5
//! v7 = load v6: int                                       v7 = slot_get slot0: int
//! ```
//!
//! One set of slots serves all generators that a place makes, so no older one of these may be asked later.

use crate::memory::Memory;
use crate::promote::{merge_params, promote};
use crate::states;
use hashbrown::{HashMap, HashSet};
use lh_ir::cfg::{Cfg, DomTree, def_blocks, live_in, targets};
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst, InstData, Term};
use lh_ir::runtime::{Items, Role};
use lh_ir::verify::parts;
use lh_ir::{Block, Const, Slot, Ty, TyKind, Value, bug};

/// Opens all generators that can be opened.
pub(crate) fn open(func: &mut Function) {
    if !func.values.iter().any(|t| is_generator(*t)) {
        return;
    }
    let mut states = 0;
    // The frame of one may have held another, which is a value of its own afterwards.
    while let Some(frames) = Frames::find(func) {
        states = frames.open(func, states);
        promote(func, states);
        merge_params(func);
    }
    states::unroll(func, states);
    promote(func, 0);
    merge_params(func);
}

/// Refuses generators that derivatives flow through and that are still objects.
///
/// # Errors
/// There is one.
pub(crate) fn check(func: &Function, memory: &Memory) -> Result<()> {
    let left = |d: &&InstData| d.result.is_some_and(|r| is_generator(func.ty(r)) && memory.has_shadow(r));
    let is_given = |p: &Value| is_generator(func.ty(*p)) && memory.has_shadow(*p);
    let found = func.insts().find(left).map(|d| d.span);
    let given = func.params().iter().any(is_given).then(lh_ir::Span::default);
    match found.or(given) {
        None => Ok(()),
        Some(span) => Err(Diagnostic::new(diag::NO_DERIVATIVE, "this generator has no derivative")
            .note(
                "ask it in the function that makes it, and one at a time; it may not handle exceptions or call itself",
            )
            .at(&func.file, span)),
    }
}

/// Refuses control flow that is not made of loops with one entry, which generators may leave behind.
///
/// # Errors
/// There is some.
pub(crate) fn check_flow(func: &Function) -> Result<()> {
    if !func.values.iter().any(|t| is_generator(*t)) {
        return Ok(());
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    for b in cfg.rpo() {
        for e in cfg.preds(*b) {
            if cfg.position(e.from) >= cfg.position(*b) && !dom.dominates(*b, e.from) {
                let span = func.blocks[b.index()].term_span;
                return Err(Diagnostic::new(diag::NO_DERIVATIVE, "these generators together have no derivative")
                    .note("make a list of the items of one of them, or write a loop")
                    .at(&func.file, span));
            }
        }
    }
    Ok(())
}

/// Whether values of a type are generators or their objects.
fn is_generator(ty: Ty) -> bool {
    matches!(ty.kind(), TyKind::Generator(_)) || ty.as_class().is_some_and(|c| c.class == Class::generator())
}

/// The frames that can be opened.
struct Frames {
    /// The class of each generator, object and address in a frame; those of one class have one set of slots.
    class: HashMap<Value, usize>,
    /// The places of addresses in frames.
    offset: HashMap<Value, i64>,
    /// The type of the frame of each class.
    frame: HashMap<usize, Ty>,
}

impl Frames {
    fn find(func: &Function) -> Option<Frames> {
        let mut found = Analysis::new(func);
        found.join();
        found.addresses();
        found.frames();
        found.refuse_escaping();
        found.refuse_older();
        let Analysis { mut class, offset, frame, refused, .. } = found;
        let frame: HashMap<usize, Ty> = frame.into_iter().filter(|(k, _)| !refused.contains(k)).collect();
        class.retain(|_, k| frame.contains_key(k));
        (!frame.is_empty()).then_some(Frames { class, offset, frame })
    }

    /// Replaces the frames by slots, those of states first, from `first` on; gives the number after those.
    fn open(&self, func: &mut Function, first: usize) -> usize {
        let mut classes: Vec<usize> = self.frame.keys().copied().collect();
        classes.sort_unstable();
        let states: Vec<Slot> = classes.iter().map(|_| func.new_slot(Ty::int())).collect();
        let mut slots: HashMap<usize, Vec<Slot>> = HashMap::new();
        for (k, state) in classes.iter().zip(&states) {
            let mut own = vec![*state];
            own.extend(parts(self.frame[k]).skip(1).map(|t| func.new_slot(t)));
            slots.insert(*k, own);
        }
        self.drop_params(func);
        let packs = packs(func);
        for i in 0..func.blocks.len() {
            for d in std::mem::take(&mut func.blocks[i].insts) {
                self.inst(func, i, d, &slots, &packs);
            }
        }
        first + states.len()
    }

    /// Removes parameters that are generators, and their arguments.
    fn drop_params(&self, func: &mut Function) {
        let kept: Vec<Vec<bool>> =
            func.blocks.iter().map(|data| data.params.iter().map(|p| !self.class.contains_key(p)).collect()).collect();
        let drop = |values: &mut Vec<Value>, kept: &[bool]| {
            let mut kept = kept.iter();
            values.retain(|_| kept.next().copied().unwrap_or(true));
        };
        for (data, own) in func.blocks.iter_mut().zip(&kept) {
            drop(&mut data.params, own);
            let ways = data.term.as_mut().map(Term::targets_mut).unwrap_or_default();
            ways.into_iter().chain(&mut data.unwind).for_each(|t| drop(&mut t.args, &kept[t.block.index()]));
        }
    }

    /// Appends an instruction to a block, or what it is for slots.
    fn inst(
        &self,
        func: &mut Function,
        block: usize,
        d: InstData,
        slots: &HashMap<usize, Vec<Slot>>,
        packs: &HashMap<Value, Vec<Value>>,
    ) {
        let slot = |p: &Value| {
            let (k, at) = (self.class.get(p)?, self.offset.get(p)?);
            Some(slots[k][item(self.frame[k], *at).unwrap_or_else(|| bug!("it was looked for"))])
        };
        let own = |v: &Value| self.class.contains_key(v);
        let (span, result) = (d.span, d.result);
        let mut push = |inst: Inst, result: Option<Value>| {
            func.blocks[block].insts.push(InstData { result, inst, span });
        };
        match d.inst {
            Inst::Store(p, v) if own(&p) => {
                let all = &slots[&self.class[&p]];
                match packs.get(&v) {
                    Some(of) if of.len() == all.len() && func.values[v.index()] == self.frame[&self.class[&p]] => {
                        all.iter().zip(of).for_each(|(s, v)| push(Inst::SlotSet(*s, *v), None));
                    }
                    _ => push(Inst::SlotSet(slot(&p).unwrap_or_else(|| bug!("an address in a frame")), v), None),
                }
            }
            Inst::Load(p) | Inst::Take(p) if own(&p) => {
                push(Inst::SlotGet(slot(&p).unwrap_or_else(|| bug!("an address in a frame"))), result);
            }
            Inst::Runtime(_, args) if args.first().is_some_and(own) => {}
            _ if result.is_some_and(|r| own(&r)) => {}
            inst => push(inst, result),
        }
    }
}

/// The parts of values that are packed.
fn packs(func: &Function) -> HashMap<Value, Vec<Value>> {
    let own = |d: &InstData| if let Inst::Pack(of) = &d.inst { Some((d.result?, of.clone())) } else { None };
    func.insts().filter_map(own).collect()
}

/// The number of a frame's item at an offset.
fn item(frame: Ty, at: i64) -> Option<usize> {
    let offsets = frame.mem_layout().0;
    let mut prims = 0;
    for (n, t) in parts(frame).enumerate() {
        if i64::try_from(*offsets.get(prims)?).ok()? == at {
            return Some(n);
        }
        prims += t.flatten().len();
    }
    None
}

/// The search for frames.
struct Analysis<'a> {
    func: &'a Function,
    class: HashMap<Value, usize>,
    offset: HashMap<Value, i64>,
    frame: HashMap<usize, Ty>,
    /// The places that make objects of a class.
    makers: HashMap<usize, Vec<(Block, usize, Value)>>,
    refused: HashSet<usize>,
    /// Zeros, which stand for no generator.
    none: HashSet<Value>,
}

impl<'a> Analysis<'a> {
    fn new(func: &'a Function) -> Analysis<'a> {
        let none = crate::memory::nulls(func);
        let is_one = |v: &Value| is_generator(func.ty(*v)) && !none.contains(v);
        let defined = func.blocks.iter().flat_map(|b| b.defined());
        let class = defined.filter(is_one).enumerate().map(|(i, v)| (v, i)).collect();
        let (offset, frame, makers, refused) = Default::default();
        Analysis { func, class, offset, frame, makers, refused, none }
    }

    fn unify(&mut self, a: Value, b: Value) {
        if let (Some(x), Some(y)) = (self.class.get(&a).copied(), self.class.get(&b).copied())
            && x != y
        {
            self.class.values_mut().filter(|k| **k == y).for_each(|k| *k = x);
        }
    }

    /// Brings values into one class that may be one generator.
    fn join(&mut self) {
        let func = self.func;
        for (i, data) in func.blocks.iter().enumerate() {
            for d in &data.insts {
                if let (Inst::Field(v, 0), Some(r)) = (&d.inst, d.result) {
                    self.unify(*v, r);
                }
                if let (Inst::Pack(of), Some(r)) = (&d.inst, d.result)
                    && let [v] = of[..]
                {
                    self.unify(v, r);
                }
            }
            for (_, t) in targets(func, Block::new(i)) {
                for (a, p) in t.args.iter().zip(&func.blocks[t.block.index()].params) {
                    self.unify(*a, *p);
                }
            }
        }
    }

    /// Finds addresses in frames.
    fn addresses(&mut self) {
        let func = self.func;
        let number = |d: &InstData| match &d.inst {
            Inst::Const(Const::Int(n, _)) => Some((d.result?, i64::try_from(*n).ok()?)),
            _ => None,
        };
        let numbers: HashMap<Value, i64> = func.insts().filter_map(number).collect();
        for b in Cfg::new(func).rpo() {
            for d in &func.blocks[b.index()].insts {
                let found = match (&d.inst, d.result) {
                    (Inst::ItemsData(o), Some(r)) => self.class.get(o).map(|k| (r, *k, 0)),
                    (Inst::PtrAdd(p, n), Some(r)) => match (self.class.get(p), self.offset.get(p), numbers.get(n)) {
                        (Some(k), Some(at), Some(n)) => Some((r, *k, at + n)),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some((r, k, at)) = found {
                    self.class.insert(r, k);
                    self.offset.insert(r, at);
                }
            }
        }
    }

    /// Finds where generators are made, and their frames.
    fn frames(&mut self) {
        for (i, data) in self.func.blocks.iter().enumerate() {
            for (at, d) in data.insts.iter().enumerate() {
                let Some(k) = d.result.and_then(|r| self.class.get(&r)).copied() else { continue };
                match &d.inst {
                    Inst::New(_) => {
                        let r = d.result.unwrap_or_else(|| bug!("an object is a result"));
                        let frame = self.func.ty(r).as_class().and_then(|c| c.items).unwrap_or_else(Ty::none);
                        if *self.frame.entry(k).or_insert(frame) != frame {
                            self.refused.insert(k);
                        }
                        self.makers.entry(k).or_default().push((Block::new(i), at, r));
                    }
                    Inst::Field(..) | Inst::Pack(_) | Inst::ItemsData(_) | Inst::PtrAdd(..) => {}
                    _ => _ = self.refused.insert(k),
                }
            }
        }
        let given: Vec<usize> = self.func.params().iter().filter_map(|p| self.class.get(p)).copied().collect();
        self.refused.extend(given);
    }

    /// Refuses generators that are used otherwise than by the functions that make them and go on with them.
    fn refuse_escaping(&mut self) {
        let func = self.func;
        let mut escapes = Vec::new();
        for data in &func.blocks {
            for d in &data.insts {
                let mut operands = Vec::new();
                d.inst.for_each_operand(|v| operands.push(v));
                let result = d.result.is_some_and(|r| self.class.contains_key(&r));
                for (n, v) in operands.into_iter().enumerate() {
                    let Some(k) = self.class.get(&v).copied() else { continue };
                    if !(result || self.is_access(d, n, v, k)) {
                        escapes.push(k);
                    }
                }
            }
            let values = match &data.term {
                Some(Term::Return(v)) => vec![*v],
                Some(Term::Raise { args, .. }) => args.clone(),
                _ => Vec::new(),
            };
            escapes.extend(values.iter().filter_map(|v| self.class.get(v)));
            let all = data.term.iter().flat_map(Term::targets).chain(&data.unwind);
            for (a, p) in all.flat_map(|t| t.args.iter().zip(&func.blocks[t.block.index()].params)) {
                // An address is no generator.
                escapes.extend(self.class.get(a).filter(|_| !self.class.contains_key(p)));
                if !self.class.contains_key(a) && !self.none.contains(a) {
                    escapes.extend(self.class.get(p));
                }
            }
        }
        self.refused.extend(escapes);
    }

    /// Whether the `n`th operand of an instruction is an address in a frame that it reads or writes, or an object whose
    /// length it sets.
    fn is_access(&self, d: &InstData, n: usize, v: Value, k: usize) -> bool {
        let Some(frame) = self.frame.get(&k) else { return false };
        let fits = |ty: Ty| {
            let own = self.offset.get(&v).and_then(|at| item(*frame, *at));
            own.is_some_and(|i| parts(*frame).nth(i) == Some(ty))
        };
        match &d.inst {
            Inst::Load(_) | Inst::Take(_) => d.result.is_some_and(|r| fits(self.func.ty(r))),
            Inst::Store(_, x) if n == 0 => {
                let is_whole = self.offset.get(&v) == Some(&0) && self.func.ty(*x) == *frame;
                fits(self.func.ty(*x)) || is_whole && packs(self.func).contains_key(x)
            }
            Inst::Runtime(f, _) => n == 0 && matches!(f.role, Role::Items(Items::SetLen | Items::Keeps)),
            _ => false,
        }
    }

    /// Refuses generators of which an older one may be asked after another was made at the same place.
    fn refuse_older(&mut self) {
        let func = self.func;
        let (cfg, defs) = (Cfg::new(func), def_blocks(func));
        let mut uses = Vec::new();
        for (i, data) in func.blocks.iter().enumerate() {
            let mut note = |v: Value| {
                if self.class.contains_key(&v) {
                    uses.push((v, Block::new(i)));
                }
            };
            data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut note));
            data.term.clone().iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| note(*v)));
            data.unwind.iter().for_each(|t| t.args.iter().for_each(|v| note(*v)));
        }
        let nowhere = Block(u32::MAX);
        let live = live_in(func, &cfg, uses, &|v| defs[v.index()].unwrap_or(nowhere));
        let mut older = Vec::new();
        for (k, makers) in &self.makers {
            for (b, at, r) in makers {
                let own = derived(func, *r);
                let is_older = |v: &Value| self.class.get(v) == Some(k) && !own.contains(v);
                let data = &func.blocks[b.index()];
                let new: HashSet<Value> = data.insts[*at..].iter().filter_map(|d| d.result).collect();
                let mut used = false;
                let mut note = |v: Value| used |= is_older(&v) && !new.contains(&v);
                data.insts[*at..].iter().for_each(|d| d.inst.for_each_operand(&mut note));
                data.term.clone().iter_mut().for_each(|t| t.for_each_operand_mut(&mut |v| note(*v)));
                let mut next = targets(func, *b).flat_map(|(_, t)| &live[t.block.index()]);
                if used || next.any(|v| is_older(v) && !new.contains(v)) {
                    older.push(*k);
                }
            }
        }
        self.refused.extend(older);
    }
}

/// The values made of an object without a path between: each use of one is a use of the object that was made last.
fn derived(func: &Function, object: Value) -> HashSet<Value> {
    let mut found = HashSet::from([object]);
    for b in Cfg::new(func).rpo() {
        for d in &func.blocks[b.index()].insts {
            let of = match &d.inst {
                Inst::Field(v, _) | Inst::ItemsData(v) | Inst::PtrAdd(v, _) => Some(*v),
                Inst::Pack(of) => of.first().copied(),
                _ => None,
            };
            if of.is_some_and(|v| found.contains(&v)) {
                found.extend(d.result);
            }
        }
    }
    found
}
