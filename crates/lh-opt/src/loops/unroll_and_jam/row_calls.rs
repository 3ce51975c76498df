//! Inlines calls of functions with loops, as in the loops over rows of a generalised ufunc's operands, so that unroll
//! and jam applies.
//!
//! ```text
//! for i in range(n):           if out.shape[0] >= a.shape[0]:    # the checks of `f`, hoisted
//!     f(a[i], out[i])     ->       for i in range(0, n - 7, 8): f(a[i], out[i]); ... f(a[i + 7], out[i + 7])
//!                              for i in ...:                     # remaining iterations, or all
//!                                  f(a[i], out[i])
//! ```
//!
//! The callee is inlined into a copy of the loop, without the paths that raise: the conditions for these must be
//! invariant. If the copy cannot be jammed, it is dropped. The original loop runs the remaining iterations and still
//! calls, so that tracebacks show the callee's frame.

use super::jam_one;
use crate::analysis::counted::{Defs, counted};
use crate::analysis::facts::Users;
use crate::core::dce;
use crate::core::inline::Bodies;
use crate::edit::version::Versions;
use crate::edit::{Cursor, rename, row, to};
use hashbrown::{HashMap, HashSet};
use lh_ir::algebra::Algebra;
use lh_ir::cfg::{Cfg, DomTree, Loop, Loops};
use lh_ir::func::{BlockData, Device, Inst, InstData, Target, Term};
use lh_ir::{Block, Function, Span, Ty, Value};

/// Size limit for inlined functions.
const MAX_INSTS: usize = 160;

/// The function, if inlining it into loops may pay: it carries floats in loops and returns nothing.
pub(crate) fn extract(func: &Function) -> Option<Function> {
    let carries = |p: &Value| func.ty(*p).is_float() || func.ty(*p).is_complex();
    let fits = func.ret == Some(Ty::none())
        && !func.is_library
        && !func.options.debug
        && func.options.device == Device::Host
        && func.slots.is_empty()
        && func.bodies.is_empty()
        && func.blocks.iter().map(|b| b.insts.len()).sum::<usize>() <= MAX_INSTS
        && func.blocks.iter().skip(1).any(|b| b.params.iter().any(carries));
    fits.then(|| func.clone())
}

pub(crate) fn run(func: &mut Function, bodies: &Bodies<'_>) -> bool {
    let (mut seen, mut changed) = (HashSet::new(), false);
    while let Some(transformed) = transform_one(func, bodies, &mut seen) {
        changed |= transformed;
    }
    changed
}

/// Transforms a loop whose induction variable is not in `seen`; `None` if there is none.
fn transform_one(func: &mut Function, bodies: &Bodies<'_>, seen: &mut HashSet<Value>) -> Option<bool> {
    let callee = |d: &InstData| match &d.inst {
        Inst::Call(spec, _) => bodies(*spec).filter(|b| b.blocks.len() > 1),
        _ => None,
    };
    if func.options.debug || !func.blocks.iter().any(|b| b.insts.iter().any(|d| callee(d).is_some())) {
        return None;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let defs = Defs::new(func);
    let site = |l: &Loop| {
        let &[_, body] = &l.blocks[..] else { return None };
        let index = counted(func, &cfg, &defs, l).filter(|c| c.step == 1)?.index;
        let place = func.blocks[body.index()].insts.iter().position(|d| matches!(d.inst, Inst::Call(..)))?;
        Some((index, body, place))
    };
    let (l, (index, body, place)) =
        loops.loops.iter().find_map(|l| Some((l, site(l).filter(|(index, ..)| !seen.contains(index))?)))?;
    seen.insert(index);
    let call = func.blocks[body.index()].insts[place].clone();
    let Some(callee) = callee(&call).filter(|b| b.options == func.options) else { return Some(false) };
    let users = Users::new(func, &cfg, &defs);
    let mut copy = func.clone();
    let entrance = Versions::new(&mut copy, &cfg, &dom, &users).choice_block(l);
    let mut splice = InlinedCopy::new(&mut copy, &callee, entrance, l);
    splice.hoist(l);
    let Some((header, latch)) = splice.build_copy(l, body) else { return Some(false) };
    let Some(_) = jam_one(&mut copy, &|x| x.header == header) else { return Some(false) };
    // The remaining iterations run in the original loop.
    for (_, data) in copy.blocks.iter_mut().enumerate().filter(|(i, _)| *i != latch.index()) {
        let ways = data.term.as_mut().map(Term::targets_mut).into_iter().flatten();
        ways.filter(|t| t.block == header).for_each(|t| t.block = l.header);
    }
    dce::run(&mut copy);
    *func = copy;
    Some(true)
}

/// A copy of a loop with its callee inlined.
struct InlinedCopy<'a> {
    func: &'a mut Function,
    callee: &'a Function,
    defs: Defs,
    /// The preheader; its parameters are those of the header.
    entrance: Block,
    /// New names of the loop's varying values.
    varying: HashMap<Value, Value>,
    /// New names of the callee's values.
    names: HashMap<Value, Value>,
    /// Arguments for the callee's parameters, as named in the original loop.
    args: HashMap<Value, Value>,
    /// Accesses of the callee whose checks are hoisted, by block and position.
    unchecked: HashSet<(Block, usize)>,
}

impl<'a> InlinedCopy<'a> {
    fn new(func: &'a mut Function, callee: &'a Function, entrance: Block, l: &Loop) -> InlinedCopy<'a> {
        let mut varying = HashMap::new();
        for b in &l.blocks {
            for v in func.blocks[b.index()].defined().collect::<Vec<_>>() {
                let new = func.new_value(func.ty(v));
                varying.insert(v, new);
            }
        }
        let (names, args, unchecked) = Default::default();
        InlinedCopy { func, callee, defs: Defs::new(callee), entrance, varying, names, args, unchecked }
    }

    /// Hoists invariant instructions into the preheader.
    fn hoist(&mut self, l: &Loop) {
        for b in &l.blocks {
            for d in std::mem::take(&mut self.func.blocks[b.index()].insts) {
                let mut varies = !can_speculate(&d.inst);
                d.inst.for_each_operand(|v| varies |= self.varying.contains_key(&v));
                let to = if varies { *b } else { self.entrance };
                if let Some(r) = d.result.filter(|_| !varies) {
                    self.varying.remove(&r);
                }
                self.func.blocks[to.index()].insts.push(d);
            }
        }
    }

    /// Builds the copy; answers with its header and its latch.
    fn build_copy(&mut self, l: &Loop, body: Block) -> Option<(Block, Block)> {
        let [header, first, latch] = [(); 3].map(|()| self.func.new_block());
        let mut before = self.func.blocks[body.index()].clone();
        let place = before.insts.iter().position(|d| matches!(d.inst, Inst::Call(..)))?;
        let mut after =
            BlockData { insts: before.insts.split_off(place), term: before.term.take(), ..BlockData::default() };
        let call = after.insts.remove(0);
        let Inst::Call(_, args) = &call.inst else { return None };
        self.args = self.callee.params().iter().copied().zip(args.iter().copied()).collect();
        self.names = self.args.iter().map(|(p, a)| (*p, self.varying.get(a).copied().unwrap_or(*a))).collect();
        after.insts.extend(call.result.map(|r| InstData { result: Some(r), inst: Inst::Zero, span: call.span }));
        let blocks = self.non_raising_blocks()?;
        let start = self.func.blocks[self.entrance.index()].params.clone();
        let mut conditions = self.hoist_checks(&blocks, call.span);
        for (v, wanted) in self.guards(&blocks) {
            let v = self.in_preheader(v, call.span)?;
            conditions.push(if wanted { v } else { self.cursor(call.span).op(row("not"), &[v], Ty::bool()) });
        }
        let mut c = self.cursor(call.span);
        let all = conditions.into_iter().reduce(|all, holds| c.and(all, holds));
        let then = to(header, &start);
        self.func.blocks[self.entrance.index()].term = Some(match all {
            Some(cond) => Term::Branch { cond, then, els: to(l.header, &start) },
            None => Term::Jump(then),
        });
        let renamed = HashMap::from([(l.header, header), (body, first)]);
        let head = self.func.blocks[l.header.index()].clone();
        for (b, mut data) in [(header, head), (first, before), (latch, after)] {
            rename(&mut data, &self.varying, &renamed);
            self.func.blocks[b.index()] = data;
        }
        self.copy_callee(&blocks, first, latch, call.span);
        Some((header, latch))
    }

    /// The blocks of the callee that run if nothing raises.
    fn non_raising_blocks(&self) -> Option<Vec<Block>> {
        let (mut blocks, mut i) = (vec![Block::new(0)], 0);
        while let Some(b) = blocks.get(i).copied() {
            let term = self.terminator(b).filter(|_| self.callee.blocks[b.index()].unwind.is_none())?;
            let next: Vec<Block> = term.targets().iter().map(|t| t.block).filter(|t| !blocks.contains(t)).collect();
            blocks.extend(next);
            i += 1;
        }
        Some(blocks)
    }

    /// The conditions under which nothing raises, with their truth values.
    fn guards(&self, blocks: &[Block]) -> Vec<(Value, bool)> {
        let of = |b: &Block| match (&self.callee.blocks[b.index()].term, self.terminator(*b)) {
            (Some(Term::Branch { cond, then, .. }), Some(Term::Jump(t))) => Some((*cond, t.block == then.block)),
            _ => None,
        };
        blocks.iter().filter_map(of).collect()
    }

    /// The terminator of a block without its cold targets.
    fn terminator(&self, b: Block) -> Option<Term> {
        let is_cold = |t: &Target| self.callee.blocks[t.block.index()].cold;
        match self.callee.blocks[b.index()].term.clone()? {
            Term::Branch { then, els, .. } if is_cold(&then) && is_cold(&els) => None,
            Term::Branch { then, els, .. } if is_cold(&els) => Some(Term::Jump(then)),
            Term::Branch { then, els, .. } if is_cold(&then) => Some(Term::Jump(els)),
            t @ (Term::Branch { .. } | Term::Jump(_) | Term::Return(_)) => Some(t),
            Term::Raise { .. } | Term::Propagate | Term::Unreachable => None,
        }
    }

    /// Hoists the checks of accesses with constant indices; answers with the conditions.
    fn hoist_checks(&mut self, blocks: &[Block], span: Span) -> Vec<Value> {
        let mut out = Vec::new();
        for b in blocks {
            for (i, d) in self.callee.blocks[b.index()].insts.iter().enumerate() {
                let Inst::ElemPtr { array, index, check: true, .. } = &d.inst else { continue };
                let at = |v: &Value| self.defs.int(self.callee, *v).filter(|i| *i >= 0);
                let places: Option<Vec<i64>> = index.iter().map(at).collect();
                let extent =
                    |d| self.part_of_argument(&Inst::ArrayShape(*array, d)).filter(|n| !self.varying.contains_key(n));
                let extents: Option<Vec<Value>> = (0..index.len() as u32).map(extent).collect();
                let (Some(places), Some(extents)) = (places, extents) else { continue };
                let mut c = self.cursor(span);
                for (place, extent) in places.into_iter().zip(extents) {
                    let place = c.int(place);
                    out.push(c.lt(place, extent));
                }
                self.unchecked.insert((*b, i));
            }
        }
        out
    }

    fn cursor(&mut self, span: Span) -> Cursor<'_> {
        Cursor { func: self.func, block: self.entrance, span, unwind: None, cold: false }
    }

    /// Computes a value of the callee in the preheader, if it is invariant.
    fn in_preheader(&mut self, v: Value, span: Span) -> Option<Value> {
        if let Some(a) = self.args.get(&v) {
            return Some(*a).filter(|a| !self.varying.contains_key(a));
        }
        let mut inst = self.defs.inst(self.callee, v)?.clone();
        if let Some(part_of_argument) = self.part_of_argument(&inst) {
            return Some(part_of_argument).filter(|p| !self.varying.contains_key(p));
        }
        let mut known = can_speculate(&inst);
        inst.for_each_operand_mut(&mut |v| match self.in_preheader(*v, span) {
            Some(new) if known => *v = new,
            _ => known = false,
        });
        let ty = self.callee.ty(v);
        known.then(|| self.cursor(span).inst(inst, ty))
    }

    /// The loop's value for an extent or a stride of an array that the loop makes as an argument.
    fn part_of_argument(&self, inst: &Inst) -> Option<Value> {
        let (array, d, of_shape) = match inst {
            Inst::ArrayShape(a, d) => (a, *d, true),
            Inst::ArrayStride(a, d) => (a, *d, false),
            _ => return None,
        };
        let array = self.args.get(array)?;
        let mut insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        match &insts.find(|d| d.result == Some(*array))?.inst {
            Inst::ArrayMake { shape, strides, .. } => Some(if of_shape { shape } else { strides }[d as usize]),
            _ => None,
        }
    }

    /// Copies the callee's blocks: from the end of `first` to the start of `latch`.
    fn copy_callee(&mut self, blocks: &[Block], first: Block, latch: Block, span: Span) {
        let mut renamed = HashMap::from([(Block::new(0), first)]);
        for b in blocks {
            for v in self.callee.blocks[b.index()].defined().filter(|v| !self.args.contains_key(v)) {
                let part_of_argument = self.defs.inst(self.callee, v).and_then(|inst| self.part_of_argument(inst));
                let new = match part_of_argument {
                    Some(part) => self.varying.get(&part).copied().unwrap_or(part),
                    None => self.func.new_value(self.callee.ty(v)),
                };
                self.names.insert(v, new);
            }
            if *b != Block::new(0) {
                renamed.insert(*b, self.func.new_block());
            }
        }
        for b in blocks {
            let mut data = self.callee.blocks[b.index()].clone();
            for (i, d) in data.insts.iter_mut().enumerate() {
                if let (Inst::ElemPtr { wrap, check, .. }, true) = (&mut d.inst, self.unchecked.contains(&(*b, i))) {
                    (*wrap, *check) = (false, false);
                }
            }
            data.insts.retain(|d| self.part_of_argument(&d.inst).is_none());
            data.insts.iter_mut().for_each(|d| d.span = span);
            (data.term, data.term_span) = (self.terminator(*b), span);
            rename(&mut data, &self.names, &renamed);
            if let Some(Term::Return(_)) = data.term {
                data.term = Some(Term::Jump(to(latch, &[])));
            }
            let new = &mut self.func.blocks[renamed[b].index()];
            if *b == Block::new(0) {
                new.insts.extend(data.insts);
                new.term = data.term;
            } else {
                *new = data;
            }
        }
    }
}

/// Whether an instruction may be speculated: it reads no memory and has no effect.
fn can_speculate(inst: &Inst) -> bool {
    match inst {
        Inst::Const(_) | Inst::Zero | Inst::Field(..) => true,
        Inst::ArrayData(_) | Inst::ArrayShape(..) | Inst::ArrayStride(..) => true,
        Inst::Op(op, _) => matches!(
            op.algebra,
            Algebra::Add | Algebra::Sub | Algebra::Mul | Algebra::Cmp(_) | Algebra::And | Algebra::Or | Algebra::Not
        ),
        _ => false,
    }
}
