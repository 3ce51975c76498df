//! Makes values of the forward part available in the reverse part: those that dominate it are used as they are, others
//! are computed again or kept. A minimum cut between what cannot be computed again and what is needed decides which
//! values are kept, at the least memory.

use crate::builder::{Builder, trips};
use crate::memory::{Memory, has_memory, is_lasting};
use crate::normal::{Flow, bounds, entries, is_left_early};
use crate::remarks::{Remark, Remarks};
use crate::reverse::Counting;
use crate::shadow::Shadows;
use crate::stack::{pair, size};
use crate::tape::{Tape, Writing, is_keepable};
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::def_blocks;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::{Function, Inst, InstData};
use lh_ir::runtime::{Memory as Mem, Role};
use lh_ir::types::Prim;
use lh_ir::{Block, Slot, Span, Ty, Value, bug};

/// How the reverse part comes by a value of the forward part.
#[derive(Clone, Debug)]
enum Recipe {
    /// It dominates the reverse part.
    Direct,
    /// By its instruction, from these values.
    Again(Inst, Vec<Value>),
    /// The counter of a loop.
    Counter(usize),
    /// A parameter of a loop's header that begins with a value and grows by another.
    Induction(usize, Value, Value),
    /// The iterations of a counted loop, from where it begins to its limit in such steps.
    Trips(Value, Value, i64),
    /// Not.
    Kept,
}

/// Operations that cost more, in picoseconds, are not repeated in loops.
const DEAR: u32 = 10_000;

/// The forward part, as far as the reverse part refers to it.
pub(crate) struct Keeper<'a> {
    pub func: &'a mut Function,
    pub flow: &'a Flow,
    pub memory: &'a Memory,
    pub loops: &'a [Counting],
    /// The values whose shadows are given.
    of_shadow: HashMap<Value, Value>,
    defs: Vec<Option<Block>>,
    place: HashMap<Value, (Block, usize)>,
    /// Blocks of the forward part.
    forward: usize,
    recipes: HashMap<Value, Recipe>,
    kept: HashSet<Value>,
    slots: HashMap<Value, Slot>,
    /// The values that the reverse part computes again.
    again: HashSet<Value>,
}

impl<'a> Keeper<'a> {
    /// `forward` is the number of blocks of the forward part.
    pub(crate) fn new(
        func: &'a mut Function,
        flow: &'a Flow,
        memory: &'a Memory,
        loops: &'a [Counting],
        shadows: &Shadows,
        forward: usize,
    ) -> Keeper<'a> {
        let mut defs = def_blocks(func);
        for d in &mut defs {
            *d = d.filter(|b| b.index() < forward);
        }
        let mut place = HashMap::new();
        for (i, data) in func.blocks[..forward].iter().enumerate() {
            for (at, d) in data.insts.iter().enumerate() {
                if let Some(r) = d.result {
                    place.insert(r, (Block::new(i), at));
                }
            }
        }
        let of_shadow = shadows.iter().map(|(v, s)| (*s, *v)).collect();
        let (recipes, kept, slots, again) = (HashMap::new(), HashSet::new(), HashMap::new(), HashSet::new());
        Keeper { func, flow, memory, loops, of_shadow, defs, place, forward, recipes, kept, slots, again }
    }

    /// Makes all values available that the reverse part uses; `owners` is a list that keeps memory alive.
    ///
    /// # Errors
    /// A value that cannot be kept.
    pub(crate) fn run(
        mut self,
        reverse: &[Block],
        back: &HashMap<Block, Block>,
        owners: Option<Value>,
    ) -> Result<(Remarks, Vec<Ty>)> {
        let needed = self.needed(reverse);
        for v in &needed {
            self.recipe(*v);
        }
        self.cut(&needed)?;
        let mut tape = Tape::new(self.func, self.flow, self.loops);
        let mut kept: Vec<Value> = self.kept.iter().copied().collect();
        kept.sort_unstable();
        for v in kept {
            let block = self.defs[v.index()].unwrap_or_else(|| bug!("a value of the forward part"));
            match self.flow.loops.innermost[block.index()] {
                Some(l) => tape.keep(self.func, l, v),
                None => {
                    let ty = kept_type(self.func.ty(v));
                    let s = self.func.new_slot(ty);
                    self.slots.insert(v, s);
                }
            }
        }
        tape.add_lists(self.func);
        tape.arrange(self.func, self.flow);
        for b in reverse {
            self.rewrite(*b, &tape);
        }
        let alive = self.alive();
        let writing = Writing { slots: &self.slots, defs: &self.defs, owners, alive: &alive, reverse: back };
        let remarks = self.remarks();
        tape.write(self.func, self.flow, &writing)?;
        Ok((remarks, tape.lists()))
    }

    /// The values that are kept and those that are computed again, with their places.
    fn remarks(&self) -> Remarks {
        let span = |v: &Value| {
            let block = self.defs[v.index()].unwrap_or_else(|| bug!("a value of the forward part"));
            let own = self.place.get(v).map(|(b, i)| self.func.blocks[b.index()].insts[*i].span);
            own.unwrap_or(self.func.blocks[block.index()].term_span)
        };
        let kept = self.kept.iter().map(|v| {
            let bytes = u64::try_from(size(self.func.ty(*v))).unwrap_or(0);
            (span(v), Remark::Kept { bytes, each_iteration: self.innermost(*v).is_some() })
        });
        let is_shown = |v: &&Value| {
            let inst = self.place.get(*v).map(|(b, i)| &self.func.blocks[b.index()].insts[*i].inst);
            matches!(inst, Some(Inst::Op(..) | Inst::Load(_)))
        };
        kept.chain(self.again.iter().filter(is_shown).map(|v| (span(v), Remark::Again))).collect()
    }

    fn is_forward(&self, v: Value) -> bool {
        self.defs.get(v.index()).copied().flatten().is_some()
    }

    fn innermost(&self, v: Value) -> Option<usize> {
        self.flow.loops.innermost[self.defs[v.index()].expect("of the forward part").index()]
    }

    /// The values of the forward part that the reverse part names.
    fn needed(&self, reverse: &[Block]) -> Vec<Value> {
        let mut out = Vec::new();
        let mut note = |v: Value| {
            if self.is_forward(v) {
                out.push(v);
            }
        };
        for b in reverse {
            let data = &self.func.blocks[b.index()];
            data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut note));
            if let Some(t) = &data.term {
                t.clone().for_each_operand_mut(&mut |v| note(*v));
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The class of a value's memory; of a shadow, that of the value that it is the shadow of.
    fn class(&self, v: Value) -> Option<u32> {
        self.memory.class(self.of_shadow.get(&v).copied().unwrap_or(v))
    }

    fn recipe(&mut self, v: Value) -> Recipe {
        if let Some(r) = self.recipes.get(&v) {
            return r.clone();
        }
        let found = self.find(v);
        self.recipes.insert(v, found.clone());
        if let Recipe::Again(_, of) = &found {
            for o in of {
                self.recipe(*o);
            }
        }
        if let Recipe::Induction(_, a, b) | Recipe::Trips(a, b, _) = found {
            self.recipe(a);
            self.recipe(b);
        }
        self.recipes[&v].clone()
    }

    fn find(&self, v: Value) -> Recipe {
        let block = self.defs[v.index()].unwrap_or_else(|| bug!("{v} is of the forward part"));
        let ret = self.flow.ret;
        let l = self.flow.loops.innermost[block.index()];
        let reaches = block == ret || self.flow.dom.results_reach(block, ret);
        if l.is_none() && reaches && !self.is_movable(v) {
            return Recipe::Direct;
        }
        let Some(&(b, at)) = self.place.get(&v) else {
            return self.parameter(v, block, l);
        };
        let d = &self.func.blocks[b.index()].insts[at];
        let again = || {
            let mut of = Vec::new();
            d.inst.for_each_operand(|o| of.push(o));
            Recipe::Again(d.inst.clone(), of)
        };
        match &d.inst {
            Inst::Op(op, _) if l.is_some() && op.cost >= DEAR => Recipe::Kept,
            Inst::Const(_)
            | Inst::Zero
            | Inst::Extern(_)
            | Inst::Op(..)
            | Inst::Cast(_)
            | Inst::Pack(_)
            | Inst::Field(..)
            | Inst::Some(_)
            | Inst::IsSome(_)
            | Inst::Unwrap(_)
            | Inst::ArrayMake { .. }
            | Inst::ArrayOwner(_)
            | Inst::ArrayData(_)
            | Inst::ArrayShape(..)
            | Inst::ArrayStride(..)
            | Inst::ElemPtr { .. }
            | Inst::PtrAdd(..)
            | Inst::FieldPtr(..) => again(),
            // The storage of an object may have moved since; its items have kept their places.
            Inst::ItemsData(_) => again(),
            Inst::Load(p) | Inst::ItemsLen(p) => {
                // The shadow of an address is read where the address is.
                let place = self.of_shadow.get(&v).and_then(|o| self.place.get(o)).copied().unwrap_or((b, at));
                match self.class(*p) {
                    Some(k) if is_lasting(self.func, self.memory, k, place) => again(),
                    _ => Recipe::Kept,
                }
            }
            Inst::Runtime(f, _) if matches!(f.role, Role::Geometry(..)) => again(),
            // Another place has other memory.
            Inst::Runtime(f, _) if f.role == Role::Memory(Mem::Local) => Recipe::Kept,
            Inst::Runtime(f, args) if f.pure && !f.raises && !args.iter().any(|a| has_memory(self.func.ty(*a))) => {
                again()
            }
            _ => Recipe::Kept,
        }
    }

    /// Whether an address is that of an object's items, which move when the object grows.
    fn is_movable(&self, v: Value) -> bool {
        let Some((b, at)) = self.place.get(&v) else { return false };
        match &self.func.blocks[b.index()].insts[*at].inst {
            Inst::ItemsData(_) => true,
            Inst::PtrAdd(p, _) => self.is_movable(*p),
            _ => false,
        }
    }

    fn parameter(&self, v: Value, block: Block, l: Option<usize>) -> Recipe {
        let left = self.flow.left.get(&block).and_then(|left| left.iter().find(|(_, count)| *count == v));
        if let Some((l, _)) = left {
            let known = bounds(self.func, self.flow, *l).filter(|_| !is_left_early(self.flow, *l));
            let step = known.and_then(|k| i64::try_from(k.step).ok());
            return known.zip(step).map_or(Recipe::Kept, |(k, step)| Recipe::Trips(k.first, k.limit, step));
        }
        let Some(l) = l.filter(|l| self.flow.loops.loops[*l].header == block) else { return Recipe::Kept };
        if self.flow.counters[l] == v {
            return Recipe::Counter(l);
        }
        self.induction(v, l).map_or(Recipe::Kept, |(first, step)| Recipe::Induction(l, first, step))
    }

    /// Beginning and step of an integer parameter of a loop's header, if it grows by a value from outside.
    fn induction(&self, v: Value, l: usize) -> Option<(Value, Value)> {
        let header = self.flow.loops.loops[l].header;
        let at = self.func.blocks[header.index()].params.iter().position(|p| *p == v)?;
        if self.func.ty(v).strong() != Ty::i64() {
            return None;
        }
        let (mut first, mut next) = (None, None);
        for e in entries(&self.flow.cfg, header) {
            let term = self.func.blocks[e.from.index()].term.as_ref()?;
            let a = term.targets()[e.target? as usize].args[at];
            let is_back = self.flow.dom.dominates(header, e.from);
            *(if is_back { &mut next } else { &mut first }) = Some(a);
        }
        let (b, i) = *self.place.get(&next?)?;
        let Inst::Op(op, args) = &self.func.blocks[b.index()].insts[i].inst else { return None };
        let step = match args[..] {
            [x, s] if x == v => s,
            [s, x] if x == v => s,
            _ => return None,
        };
        let is_constant = self
            .place
            .get(&step)
            .is_some_and(|(b, i)| matches!(self.func.blocks[b.index()].insts[*i].inst, Inst::Const(_)));
        let home = self.defs[step.index()]?;
        let is_outside = !self.flow.loops.loops[l].blocks.contains(&home);
        (op.is(Algebra::Add) && (is_constant || is_outside)).then_some((first?, step))
    }

    /// Bytes that it takes to keep a value, by the depth of its loop; `None` if it cannot be kept.
    fn cost(&self, v: Value) -> Option<u64> {
        let ty = self.func.ty(v);
        let mut depth = 0;
        let mut l = self.innermost(v);
        while let Some(i) = l {
            depth += 1;
            l = self.flow.loops.loops[i].parent;
        }
        let is_again = !matches!(self.recipes.get(&v), Some(Recipe::Kept));
        // An address means nothing without its owner.
        if is_again && ty == Ty::ptr() || depth > 0 && !is_keepable(ty) {
            return None;
        }
        let size = u64::try_from(ty.mem_layout().1).unwrap_or(u64::MAX).max(1);
        Some(size.saturating_mul(16u64.saturating_pow(depth)))
    }

    fn operands(&self, v: Value) -> Vec<Value> {
        match &self.recipes[&v] {
            Recipe::Again(_, of) => of.clone(),
            Recipe::Induction(_, a, b) | Recipe::Trips(a, b, _) => vec![*a, *b],
            Recipe::Direct | Recipe::Counter(_) | Recipe::Kept => Vec::new(),
        }
    }

    /// Chooses the values that are kept.
    fn cut(&mut self, needed: &[Value]) -> Result<()> {
        let mut number: HashMap<Value, usize> = HashMap::new();
        let mut order = Vec::new();
        let mut work = needed.to_vec();
        while let Some(v) = work.pop() {
            if matches!(self.recipes[&v], Recipe::Direct | Recipe::Counter(_)) || number.contains_key(&v) {
                continue;
            }
            number.insert(v, order.len());
            order.push(v);
            work.extend(self.operands(v));
        }
        let mut net = Network::new(2 * order.len() + 2);
        let (source, sink) = (2 * order.len(), 2 * order.len() + 1);
        for (i, v) in order.iter().enumerate() {
            net.edge(2 * i, 2 * i + 1, self.cost(*v).unwrap_or(INFINITE));
            if matches!(self.recipes[v], Recipe::Kept) {
                net.edge(source, 2 * i, INFINITE);
            }
            for o in self.operands(*v).iter().filter_map(|o| number.get(o)) {
                net.edge(2 * o + 1, 2 * i, INFINITE);
            }
        }
        for v in needed.iter().filter_map(|v| number.get(v)) {
            net.edge(2 * v + 1, sink, INFINITE);
        }
        net.saturate(source, sink);
        let after = net.reaching(sink);
        for (i, v) in order.iter().enumerate() {
            if after[2 * i + 1] && !after[2 * i] {
                if self.cost(*v).is_none() {
                    return Err(self.cannot_keep(*v));
                }
                self.kept.insert(*v);
            }
        }
        match order.iter().enumerate().find(|(i, v)| after[2 * i] && matches!(self.recipes[*v], Recipe::Kept)) {
            Some((_, v)) => Err(self.cannot_keep(*v)),
            None => Ok(()),
        }
    }

    fn cannot_keep(&self, v: Value) -> Box<Diagnostic> {
        let span = self.place.get(&v).map_or(Span::default(), |(b, i)| self.func.blocks[b.index()].insts[*i].span);
        let text = format!("a value of type `{}` in a loop is needed again by the derivative", self.func.ty(v));
        Diagnostic::new(diag::NO_DERIVATIVE, text)
            .note("objects that a loop makes or reads have no derivative yet: use arrays")
            .at(&self.func.file, span)
    }

    /// Replaces the values of the forward part in a block of the reverse part.
    fn rewrite(&mut self, block: Block, tape: &Tape) {
        let insts = std::mem::take(&mut self.func.blocks[block.index()].insts);
        let span = self.func.blocks[block.index()].term_span;
        let mut at = Rewriting { insts: Vec::new(), span, memo: HashMap::new() };
        for mut d in insts {
            at.span = d.span;
            let mut of = Vec::new();
            d.inst.for_each_operand(|v| of.push(v));
            let names: HashMap<Value, Value> = of.into_iter().map(|v| (v, self.available(&mut at, v, tape))).collect();
            d.inst.for_each_operand_mut(&mut |v| *v = names[v]);
            // The iteration that is reversed changes: its counter is read anew.
            if matches!(d.inst, Inst::SlotSet(..)) && !self.is_adjoint(&d) {
                at.memo.clear();
            }
            at.insts.push(d);
        }
        at.span = span;
        let mut term = self.func.blocks[block.index()].term.take();
        if let Some(t) = &mut term {
            t.for_each_operand_mut(&mut |v| *v = self.available(&mut at, *v, tape));
        }
        let data = &mut self.func.blocks[block.index()];
        (data.insts, data.term) = (at.insts, term);
    }

    fn is_adjoint(&self, d: &InstData) -> bool {
        let Inst::SlotSet(s, _) = d.inst else { return false };
        !self.loops.iter().any(|l| l.done == s || l.last == s)
    }

    fn available(&mut self, at: &mut Rewriting, v: Value, tape: &Tape) -> Value {
        if !self.is_forward(v) {
            return v;
        }
        if let Some(found) = at.memo.get(&v) {
            return *found;
        }
        let ty = self.func.ty(v);
        let found = if self.kept.contains(&v) {
            let slot = self.slots.get(&v).copied();
            let l = self.innermost(v);
            at.with(self.func, |b| match slot {
                Some(s) if ty == Ty::ptr() => {
                    let both = b.get(s);
                    b.inst(Inst::Field(both, 1), ty)
                }
                Some(s) => b.get(s),
                None => tape.read(b, l.unwrap_or_else(|| bug!("a slot or a tape")), v, ty),
            })
        } else {
            match self.recipes[&v].clone() {
                Recipe::Direct => v,
                Recipe::Counter(l) => at.with(self.func, |b| tape.counter(b, l)),
                Recipe::Induction(l, first, step) => {
                    let first = self.available(at, first, tape);
                    let step = self.available(at, step, tape);
                    at.with(self.func, |b| {
                        let k = tape.counter(b, l);
                        let way = b.int_op("mul", k, step);
                        let sum = b.int_op("add", first, way);
                        b.cast(sum, ty)
                    })
                }
                Recipe::Trips(first, limit, step) => {
                    let (first, limit) = (self.available(at, first, tape), self.available(at, limit, tape));
                    at.with(self.func, |b| trips(b, first, limit, step))
                }
                Recipe::Again(mut inst, of) => {
                    self.again.insert(v);
                    let names: HashMap<Value, Value> =
                        of.into_iter().map(|o| (o, self.available(at, o, tape))).collect();
                    inst.for_each_operand_mut(&mut |o| *o = names[o]);
                    if let Inst::ElemPtr { check, .. } = &mut inst {
                        // The forward part has checked it.
                        *check = false;
                    }
                    at.with(self.func, |b| b.inst(inst, ty))
                }
                Recipe::Kept => bug!("{v} is needed and not kept"),
            }
        };
        at.memo.insert(v, found);
        found
    }

    /// The instructions that make memory to which the reverse part has addresses without owners.
    fn alive(&self) -> HashSet<(Block, usize)> {
        let mut out = HashSet::new();
        let is_address = |v: &Value| self.func.ty(*v).flatten().contains(&Prim::Ptr) && !self.func.ty(*v).is_counted();
        for v in self.kept.iter().filter(|v| is_address(v)) {
            let Some(k) = self.class(*v) else { continue };
            let is_shadow = self.of_shadow.contains_key(v);
            for (b, _) in self.memory.made(k) {
                for d in self.func.blocks[b.index()].insts.iter() {
                    let Some(r) = d.result else { continue };
                    let own = self.of_shadow.get(&r).copied();
                    let same = self.memory.class(own.unwrap_or(r)) == Some(k) && own.is_some() == is_shadow;
                    if same && makes(&d.inst) {
                        out.extend(self.place.get(&r).copied());
                    }
                }
            }
        }
        out.retain(|(b, _)| b.index() < self.forward);
        out
    }
}

/// The type of a slot for values of a type. An address is kept without its owner, which is not known, but kept alive.
fn kept_type(ty: Ty) -> Ty {
    if ty == Ty::ptr() { pair() } else { ty }
}

fn makes(inst: &Inst) -> bool {
    matches!(inst, Inst::Call(..)) || matches!(inst, Inst::Runtime(f, _) if f.allocates())
}

/// A block of the reverse part that is rewritten.
struct Rewriting {
    insts: Vec<InstData>,
    span: Span,
    memo: HashMap<Value, Value>,
}

impl Rewriting {
    fn with<R>(&mut self, func: &mut Function, f: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let mut b = Builder::new(func, self.span);
        b.insts = std::mem::take(&mut self.insts);
        let r = f(&mut b);
        self.insts = b.insts;
        r
    }
}

const INFINITE: u64 = u64::MAX / 4;

/// A flow network.
struct Network {
    /// Edges from each node: to which, and the number of the edge.
    from: Vec<Vec<usize>>,
    to: Vec<usize>,
    left: Vec<u64>,
}

impl Network {
    fn new(nodes: usize) -> Network {
        Network { from: vec![Vec::new(); nodes], to: Vec::new(), left: Vec::new() }
    }
    fn edge(&mut self, a: usize, b: usize, capacity: u64) {
        for (x, y, c) in [(a, b, capacity), (b, a, 0)] {
            self.from[x].push(self.to.len());
            self.to.push(y);
            self.left.push(c);
        }
    }
    /// Finds a maximum flow by shortest augmenting paths (Edmonds and Karp), or stops if it has no bound.
    fn saturate(&mut self, source: usize, sink: usize) {
        loop {
            let mut came: Vec<Option<usize>> = vec![None; self.from.len()];
            let mut queue = std::collections::VecDeque::from([source]);
            'search: while let Some(n) = queue.pop_front() {
                for &e in &self.from[n] {
                    let m = self.to[e];
                    if self.left[e] > 0 && came[m].is_none() && m != source {
                        came[m] = Some(e);
                        if m == sink {
                            break 'search;
                        }
                        queue.push_back(m);
                    }
                }
            }
            if came[sink].is_none() {
                return;
            }
            let (mut at, mut least) = (sink, u64::MAX);
            while let Some(e) = came[at] {
                least = least.min(self.left[e]);
                at = self.to[e ^ 1];
            }
            if least >= INFINITE {
                return;
            }
            at = sink;
            while let Some(e) = came[at] {
                if self.left[e] < INFINITE / 2 {
                    self.left[e] -= least;
                }
                self.left[e ^ 1] = (self.left[e ^ 1] + least).min(INFINITE);
                at = self.to[e ^ 1];
            }
        }
    }
    /// The nodes from which the sink can still be reached.
    fn reaching(&self, sink: usize) -> Vec<bool> {
        let mut seen = vec![false; self.from.len()];
        let mut work = vec![sink];
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut seen[n], true) {
                // The edge against one from here leads to where the one comes from.
                work.extend(self.from[n].iter().filter(|e| self.left[**e ^ 1] > 0).map(|e| self.to[*e]));
            }
        }
        seen
    }
}
