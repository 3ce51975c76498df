//! Places `IncRef` and `DecRef`, and splits blocks where the owned values on the exceptional path change.

use super::own::{Ownership, SmallValues};
use hashbrown::HashMap;
use lh_ir::cfg::{Cfg, live_in, targets};
use lh_ir::func::{BlockData, Inst, InstData, Target, Term};
use lh_ir::{Block, Function, Span, Value};

pub(super) fn place(func: &mut Function, cfg: &Cfg, own: &Ownership) -> bool {
    let live = live_in(func, cfg, uses(func, cfg, own), &|v| own.home[v.index()].expect("owned values are defined"));
    let counted: Vec<bool> = func.values.iter().map(|t| t.is_counted()).collect();
    let mut rank = vec![0; func.values.len()];
    for (n, v) in cfg.rpo().iter().flat_map(|b| func.blocks[b.index()].defined()).enumerate() {
        rank[v.index()] = n;
    }
    let blocks = std::mem::take(&mut func.blocks);
    let params = blocks.iter().map(|b| b.params.clone()).collect();
    let prologues = vec![Vec::new(); blocks.len()];
    let mut p = Placer { func, cfg, own, live, rank, counted, params, prologues, cleanups: Cleanups::default() };
    // New blocks are appended, so that old numbers stay valid.
    p.func.blocks = (0..blocks.len()).map(|_| BlockData::default()).collect();
    for (i, data) in blocks.into_iter().enumerate() {
        p.block(Block::new(i), data);
    }
    for i in 0..p.prologues.len() {
        let prologue = std::mem::take(&mut p.prologues[i]);
        p.func.blocks[i].insts.splice(0..0, prologue);
    }
    true
}

/// All uses of owned values, with the block of the use.
fn uses(func: &Function, cfg: &Cfg, own: &Ownership) -> Vec<(Value, Block)> {
    let mut out = Vec::new();
    for &b in cfg.rpo() {
        let mut need = |v: Value| out.extend(own.roots(v).iter().map(|r| (*r, b)));
        let data = &func.blocks[b.index()];
        data.insts.iter().for_each(|d| d.inst.for_each_operand(&mut need));
        for (_, t) in targets(func, b) {
            t.args.iter().for_each(|v| need(*v));
        }
        match &data.term {
            Some(Term::Return(v)) => need(*v),
            Some(Term::Raise { args, .. }) => args.iter().for_each(|v| need(*v)),
            Some(Term::Jump(_) | Term::Branch { .. } | Term::Propagate | Term::Unreachable) | None => {}
        }
    }
    out
}

struct Placer<'a> {
    func: &'a mut Function,
    cfg: &'a Cfg,
    own: &'a Ownership,
    /// Owned values live at the start of every block, in ascending order.
    live: Vec<Vec<Value>>,
    /// Values by the order of their definitions along the control flow.
    rank: Vec<usize>,
    counted: Vec<bool>,
    params: Vec<Vec<Value>>,
    /// Instructions to insert at the start of blocks with one predecessor.
    prologues: Vec<Vec<InstData>>,
    cleanups: Cleanups,
}

/// A sorted set of owned values.
#[derive(Clone, Default, Debug)]
struct ValueSet(Vec<Value>);

impl ValueSet {
    fn has(&self, v: Value) -> bool {
        self.0.binary_search(&v).is_ok()
    }
    fn add(&mut self, v: Value) -> bool {
        match self.0.binary_search(&v) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, v);
                true
            }
        }
    }
    fn add_all(&mut self, values: &[Value]) {
        for v in values {
            self.add(*v);
        }
    }
    fn remove(&mut self, v: Value) -> bool {
        let at = self.0.binary_search(&v);
        at.map(|at| self.0.remove(at)).is_ok()
    }
}

/// Reference counting on an edge: references to take, then references to drop.
#[derive(Default, PartialEq, Eq, Hash)]
struct EdgeCounts {
    take: Vec<Value>,
    drop: Vec<Value>,
}

impl EdgeCounts {
    fn is_empty(&self) -> bool {
        self.take.is_empty() && self.drop.is_empty()
    }
    fn insts(&self, span: Span) -> impl Iterator<Item = InstData> + '_ {
        let inc = self.take.iter().map(|v| Inst::IncRef(*v));
        let dec = self.drop.iter().map(|v| Inst::DecRef(*v));
        inc.chain(dec).map(move |inst| InstData { result: None, inst, span })
    }
}

/// Shared blocks of exceptional edges: chains of releases that end at a handler or leave the function.
#[derive(Default)]
struct Cleanups {
    ends: HashMap<(Block, Vec<Value>), Block>,
    links: HashMap<(Option<Block>, EdgeCounts), Block>,
}

/// The part of a block since the last split.
#[derive(Default)]
struct Segment {
    insts: Vec<InstData>,
    /// The exceptional edge of the instructions so far that may raise.
    unwind: Option<Option<Target>>,
    /// Owned values defined since the split: they are not defined on an exceptional edge from here.
    fresh: Vec<Value>,
}

impl Placer<'_> {
    fn block(&mut self, b: Block, data: BlockData) {
        let Some(_) = self.cfg.position(b) else {
            self.func.blocks[b.index()] = data;
            return;
        };
        // All parts of a block that is split have its flags.
        let head = &mut self.func.blocks[b.index()];
        (head.cold, head.hint, head.pragma, head.poll_free) = (data.cold, data.hint, data.pragma, data.poll_free);
        let handler = data.unwind.clone();
        let deaths = self.deaths(b, &data, handler.as_ref());
        let mut owned = ValueSet(self.live[b.index()].clone());
        let mut seg = Segment::default();
        let mut at = b;
        for p in data.params.iter().filter(|p| b.0 != 0 && self.own.owned[p.index()]) {
            owned.add(*p);
        }
        for p in &deaths[0] {
            owned.remove(*p);
            seg.insts.push(drop_of(*p, Span::default()));
        }
        for (d, dying) in data.insts.into_iter().zip(&deaths[1..]) {
            if d.inst.can_raise() {
                let way = self.exceptional_edge(&owned, handler.as_ref(), d.span);
                at = self.split_if_needed(at, &mut seg, way, &owned);
            }
            self.inst(d, dying, &mut owned, &mut seg);
        }
        self.func.blocks[b.index()].params = data.params;
        self.func.blocks[at.index()].latch = data.latch;
        self.end(at, seg, owned, data.term.expect("verified"), data.term_span, handler.as_ref());
    }

    /// The values that die before the first instruction, and after each one.
    fn deaths(&self, b: Block, data: &BlockData, handler: Option<&Target>) -> Vec<SmallValues> {
        let term = data.term.as_ref().expect("verified");
        let mut live = ValueSet::default();
        for t in term.targets() {
            live.add_all(&self.live[t.block.index()]);
        }
        let add = |live: &mut ValueSet, v: Value, dying: Option<&mut SmallValues>| {
            let new: SmallValues = self.own.roots(v).iter().copied().filter(|r| live.add(*r)).collect();
            dying.into_iter().for_each(|d| d.extend(new.iter().copied()));
        };
        term.clone().for_each_operand_mut(&mut |v| add(&mut live, *v, None));
        let raises = matches!(term, Term::Raise { .. } | Term::Propagate);
        if let Some(h) = handler.filter(|_| raises) {
            live.add_all(&self.live[h.block.index()]);
            h.args.iter().for_each(|v| add(&mut live, *v, None));
        }
        let mut out = vec![SmallValues::new(); data.insts.len() + 1];
        for (i, d) in data.insts.iter().enumerate().rev() {
            let dying = &mut out[i + 1];
            let result = d.result.filter(|r| self.own.owned[r.index()]);
            if let Some(r) = result
                && !live.remove(r)
            {
                dying.push(r);
            }
            d.inst.for_each_operand(|v| add(&mut live, v, Some(dying)));
            if let Some(h) = handler.filter(|_| d.inst.can_raise()) {
                for r in &self.live[h.block.index()] {
                    if live.add(*r) {
                        dying.push(*r);
                    }
                }
                h.args.iter().for_each(|v| add(&mut live, *v, Some(dying)));
            }
        }
        for p in data.params.iter().filter(|p| b.0 != 0 && self.own.owned[p.index()]) {
            if !live.has(*p) {
                out[0].push(*p);
            }
        }
        out
    }

    fn inst(&mut self, d: InstData, dying: &[Value], owned: &mut ValueSet, seg: &mut Segment) {
        let span = d.span;
        let mut dying = SmallValues::from_slice(dying);
        if let Inst::Store(_, v) = d.inst {
            if self.counted[v.index()] && !self.try_move(v, &mut dying) {
                seg.insts.push(InstData { result: None, inst: Inst::IncRef(v), span });
            } else {
                // A moved value's references belong to the memory.
                for r in self.own.exact[v.index()].iter().flatten() {
                    owned.remove(*r);
                }
            }
        }
        if let Some(r) = d.result.filter(|r| self.own.owned[r.index()]) {
            owned.add(r);
            seg.fresh.push(r);
        }
        let loaded = d.result.filter(|r| self.own.owned[r.index()] && matches!(d.inst, Inst::Load(_)));
        seg.insts.push(d);
        // A load copies a reference that the memory keeps; the count must follow immediately.
        seg.insts.extend(loaded.map(|r| InstData { result: None, inst: Inst::IncRef(r), span }));
        for v in dying {
            owned.remove(v);
            seg.insts.push(drop_of(v, span));
        }
    }
    /// Whether a value can be moved because all its references die here; they are removed from `dying`.
    fn try_move(&self, v: Value, dying: &mut SmallValues) -> bool {
        let Some(exact) = &self.own.exact[v.index()] else { return false };
        let distinct = exact.iter().enumerate().all(|(i, r)| !exact[..i].contains(r));
        if !distinct || !exact.iter().all(|r| dying.contains(r)) {
            return false;
        }
        dying.retain(|r| !exact.contains(r));
        true
    }

    /// The counting on an edge where the values in `owned` are owned.
    fn counts(&self, owned: &ValueSet, to: Option<&Target>) -> EdgeCounts {
        let mut counts = EdgeCounts::default();
        let empty = Vec::new();
        let (kept, args, params) = match to {
            Some(t) => (&self.live[t.block.index()], &t.args, &self.params[t.block.index()]),
            None => (&empty, &empty, &empty),
        };
        let mut left: SmallValues = owned.0.iter().copied().filter(|v| kept.binary_search(v).is_err()).collect();
        for (a, p) in args.iter().zip(params) {
            if self.counted[p.index()] && !self.try_move(*a, &mut left) {
                counts.take.push(*a);
            }
        }
        counts.drop = left.into_vec();
        counts
    }

    /// The exceptional edge at a point where the values in `owned` are owned.
    fn exceptional_edge(&mut self, owned: &ValueSet, handler: Option<&Target>, span: Span) -> Option<Target> {
        let mut counts = self.counts(owned, handler);
        if counts.is_empty() {
            return handler.cloned();
        }
        // Chains share their ends if the value that was defined first is released last.
        counts.drop.sort_unstable_by_key(|v| self.rank[v.index()]);
        // No end block is needed outside of handlers: the first link propagates.
        let mut at = handler.map(|t| {
            let key = (t.block, t.args.clone());
            self.cleanups.ends.get(&key).copied().unwrap_or_else(|| {
                let end = self.new_block(&EdgeCounts::default(), Term::Jump(t.clone()), span);
                self.cleanups.ends.insert(key, end);
                end
            })
        });
        for v in counts.drop {
            at = Some(self.link(at, EdgeCounts { take: Vec::new(), drop: vec![v] }, span));
        }
        // References are taken before any is dropped, so the block that takes them is linked last.
        if !counts.take.is_empty() {
            at = Some(self.link(at, EdgeCounts { take: counts.take, drop: Vec::new() }, span));
        }
        at.map(|block| Target { block, args: Vec::new() })
    }
    /// The block that counts and then goes to `next`, or leaves the function.
    fn link(&mut self, next: Option<Block>, counts: EdgeCounts, span: Span) -> Block {
        let key = (next, counts);
        if let Some(b) = self.cleanups.links.get(&key) {
            return *b;
        }
        let term = next.map_or(Term::Propagate, |block| Term::Jump(Target { block, args: Vec::new() }));
        let link = self.new_block(&key.1, term, span);
        self.cleanups.links.insert(key, link);
        link
    }
    fn new_block(&mut self, counts: &EdgeCounts, term: Term, span: Span) -> Block {
        let b = self.func.new_block();
        let data = &mut self.func.blocks[b.index()];
        data.insts.extend(counts.insts(span));
        (data.term, data.term_span) = (Some(term), span);
        b
    }

    /// Makes `way` the exceptional edge of the next instruction, in a new block if the current one has another edge.
    fn split_if_needed(&mut self, at: Block, seg: &mut Segment, way: Option<Target>, owned: &ValueSet) -> Block {
        let hidden = way.is_some() && seg.fresh.iter().any(|v| owned.has(*v));
        if !hidden && seg.unwind.as_ref().is_none_or(|u| *u == way) {
            seg.unwind = Some(way);
            return at;
        }
        let next = self.func.new_block();
        self.func.blocks[next.index()].cold = self.func.blocks[at.index()].cold;
        let full = std::mem::replace(seg, Segment { unwind: Some(way), ..Segment::default() });
        let span = full.insts.last().map_or(Span::default(), |d| d.span);
        self.finish(at, full, Term::Jump(Target { block: next, args: Vec::new() }), span);
        next
    }
    fn finish(&mut self, at: Block, seg: Segment, term: Term, span: Span) {
        let data = &mut self.func.blocks[at.index()];
        data.insts = seg.insts;
        data.unwind = seg.unwind.flatten();
        (data.term, data.term_span) = (Some(term), span);
    }

    fn end(
        &mut self,
        mut at: Block,
        mut seg: Segment,
        owned: ValueSet,
        mut term: Term,
        span: Span,
        handler: Option<&Target>,
    ) {
        match &mut term {
            Term::Jump(t) => seg.insts.extend(self.counts(&owned, Some(t)).insts(span)),
            Term::Branch { then, els, .. } => {
                for t in [then, els] {
                    let counts = self.counts(&owned, Some(t));
                    self.edge(t, counts, span);
                }
            }
            Term::Return(v) => {
                let mut left: SmallValues = owned.0.iter().copied().collect();
                let take = self.counted[v.index()] && !self.try_move(*v, &mut left);
                let counts = EdgeCounts { take: if take { vec![*v] } else { Vec::new() }, drop: left.into_vec() };
                seg.insts.extend(counts.insts(span));
            }
            Term::Raise { .. } | Term::Propagate => {
                let way = self.exceptional_edge(&owned, handler, span);
                at = self.split_if_needed(at, &mut seg, way, &owned);
            }
            Term::Unreachable => {}
        }
        self.finish(at, seg, term, span);
    }
    /// Counts on one edge of a branch: in the successor if this is its only edge, else in a new block.
    fn edge(&mut self, t: &mut Target, counts: EdgeCounts, span: Span) {
        if counts.is_empty() {
            return;
        }
        if self.cfg.preds(t.block).len() == 1 {
            self.prologues[t.block.index()].extend(counts.insts(span));
            return;
        }
        let old = t.clone();
        *t = Target { block: self.new_block(&counts, Term::Jump(old), span), args: Vec::new() };
    }
}

fn drop_of(v: Value, span: Span) -> InstData {
    InstData { result: None, inst: Inst::DecRef(v), span }
}
