//! Constant ranges of integers, from definitions and from dominating branches.
//!
//! Block parameters are first assumed to be non-negative induction variables that do not overflow; the assumption is
//! dropped where it does not follow from itself. In code for a device most ranges come from the launch's geometry,
//! whose limits are known.

pub(crate) mod narrow;

use super::counted::Defs;
use super::dominating_branches::dominating_branches;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::cfg::{Cfg, DomTree, targets};
use lh_ir::func::Inst;
use lh_ir::{Block, Function, Ty, Value};
use std::collections::HashMap;

/// Definitions deeper than this are not followed.
const MAX_DEPTH: usize = 16;
/// Induction variables are assumed to stay below this.
pub(crate) const HUGE: i128 = 1 << 62;
/// With steps below this, which those of grid-stride loops are, induction variables do not overflow in the lifetime of
/// a machine.
const MAX_STEP: i128 = 1 << 44;

#[derive(Clone, Copy, PartialEq)]
struct Range {
    lo: i128,
    hi: i128,
}

const ANY: Range = Range { lo: i64::MIN as i128, hi: i64::MAX as i128 };

impl Range {
    /// The range, unless the computation may overflow.
    fn of(lo: i128, hi: i128) -> Range {
        if lo < ANY.lo || hi > ANY.hi { ANY } else { Range { lo, hi } }
    }
}

struct Ranges<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    defs: Defs,
    /// Block parameters that are still assumed to be non-negative.
    counts: Vec<bool>,
    /// Ranges of block parameters that are proved without the assumption; `None` while it is made.
    proved: Option<&'a HashMap<Value, Range>>,
}

/// Ranges of a function's integers.
pub(crate) struct Limits<'a>(Ranges<'a>);

impl<'a> Limits<'a> {
    /// Computes the ranges of a function.
    pub(crate) fn new(func: &'a Function, cfg: &'a Cfg, dom: &'a DomTree) -> Limits<'a> {
        let counts = vec![true; func.values.len()];
        let mut r = Ranges { func, cfg, dom, defs: Defs::new(func), counts, proved: None };
        r.drop_unproven();
        Limits(r)
    }
    /// Whether a value is never negative in a block.
    pub(crate) fn is_nonnegative(&self, v: Value, b: Block) -> bool {
        self.0.range(v, b, 0).lo >= 0
    }
    /// The minimum and maximum of a value in a block.
    pub(crate) fn of(&self, v: Value, b: Block) -> (i128, i128) {
        let r = self.0.range(v, b, 0);
        (r.lo, r.hi)
    }
}

impl Ranges<'_> {
    /// Drops the assumption for parameters for which it does not follow from itself.
    fn drop_unproven(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for b in self.cfg.rpo().iter().filter(|b| b.index() != 0) {
                for (i, p) in self.func.blocks[b.index()].params.iter().enumerate() {
                    if !self.counts[p.index()] || !is_int(self.func, *p) {
                        continue;
                    }
                    let nonnegative = self.cfg.preds(*b).iter().all(|e| {
                        let mut args = targets(self.func, e.from).filter(|(n, t)| *n == e.target && t.block == *b);
                        e.target.is_some() && args.all(|(_, t)| Self::is_assumed(self.range(t.args[i], e.from, 0)))
                    });
                    if !nonnegative {
                        self.counts[p.index()] = false;
                        changed = true;
                    }
                }
            }
        }
    }

    /// Whether a block parameter with an argument of this range may be assumed to be a small non-negative number.
    fn is_assumed(argument: Range) -> bool {
        argument.lo >= 0 && argument.hi <= HUGE + MAX_STEP
    }

    /// Range of a value in a block.
    fn range(&self, v: Value, b: Block, depth: usize) -> Range {
        if depth > MAX_DEPTH || !is_int(self.func, v) {
            return ANY;
        }
        let mut r = self.defined(v, b, depth);
        self.narrow_by_branches(v, b, depth, &mut r);
        r
    }

    fn defined(&self, v: Value, b: Block, depth: usize) -> Range {
        let at = |x: Value| self.range(x, b, depth + 1);
        match self.defs.inst(self.func, v) {
            None if self.proved.is_some_and(|p| p.contains_key(&v)) => self.proved.map_or(ANY, |p| p[&v]),
            None if self.proved.is_none()
                && self.defs.block(v).is_some_and(|d| d.index() != 0)
                && self.counts[v.index()] =>
            {
                Range { lo: 0, hi: HUGE }
            }
            // The indices of the thread are the first parameters after the context.
            None if self.func.params().iter().take(4).skip(1).any(|p| *p == v) => Range { lo: 0, hi: 1023 },
            None => ANY,
            Some(Inst::Const(lh_ir::Const::Int(i, _))) => Range::of(*i, *i),
            Some(Inst::ArrayShape(..) | Inst::ItemsLen(_)) => Range { lo: 0, hi: HUGE },
            Some(Inst::Cast(x)) if is_int(self.func, *x) => at(*x),
            Some(Inst::Cast(x)) => range_of_type(self.func.ty(*x)),
            Some(Inst::Runtime(f, _)) => f.limits.map_or(ANY, |(lo, hi)| Range { lo: lo.into(), hi: hi.into() }),
            Some(Inst::Op(op, args)) => match op.algebra {
                Algebra::Add => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    Range::of(x.lo + y.lo, x.hi + y.hi)
                }
                Algebra::Sub => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    Range::of(x.lo - y.hi, x.hi - y.lo)
                }
                Algebra::Mul => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    if x.lo < 0 || y.lo < 0 { ANY } else { Range::of(x.lo * y.lo, x.hi.saturating_mul(y.hi)) }
                }
                Algebra::Quotient => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    if x.lo < 0 || y.lo < 1 { ANY } else { Range { lo: 0, hi: x.hi } }
                }
                Algebra::Remainder => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    if x.lo < 0 || y.lo < 1 { ANY } else { Range { lo: 0, hi: x.hi.min(y.hi - 1) } }
                }
                Algebra::And => {
                    let (x, y) = (at(args[0]), at(args[1]));
                    if x.lo < 0 && y.lo < 0 { ANY } else { Range { lo: 0, hi: x.hi.max(y.hi) } }
                }
                Algebra::ShiftRight => {
                    let x = at(args[0]);
                    if x.lo < 0 { ANY } else { Range { lo: 0, hi: x.hi } }
                }
                Algebra::Select => {
                    let (x, y) = (at(args[1]), at(args[2]));
                    Range { lo: x.lo.min(y.lo), hi: x.hi.max(y.hi) }
                }
                _ => ANY,
            },
            Some(_) => ANY,
        }
    }

    /// Narrows a range by the branches that dominate a block.
    fn narrow_by_branches(&self, v: Value, b: Block, depth: usize, r: &mut Range) {
        for k in dominating_branches(self.func, self.cfg, self.dom, b, Block(0)) {
            if let Some((cmp, args)) = self.comparison(k.cond).filter(|(_, args)| args.contains(&v)) {
                self.compared(v, (cmp, args, k.holds), b, depth, r);
            }
        }
    }

    fn comparison(&self, cond: Value) -> Option<(Cmp, &[Value])> {
        match self.defs.inst(self.func, cond)? {
            Inst::Op(op, args) => op.comparison().map(|cmp| (cmp, &args[..])),
            _ => None,
        }
    }

    /// Narrows a range by a comparison that is known to hold or not.
    fn compared(&self, v: Value, (cmp, args, holds): (Cmp, &[Value], bool), b: Block, depth: usize, r: &mut Range) {
        let first = args[0] == v;
        let other = if first { args[1] } else { args[0] };
        if let Some(c) = self.defs.int(self.func, other) {
            return narrow(r, cmp, c.into(), !first, holds);
        }
        let cmp = if first { cmp } else { cmp.mirrored() }.given(holds);
        let strict = cmp == Cmp::Lt;
        if (strict || cmp == Cmp::Le) && depth < MAX_DEPTH / 2 {
            r.hi = r.hi.min(self.defined(other, b, depth + 1).hi - i128::from(strict));
        }
    }
}

/// Narrows a range by a comparison with a constant that is true or false.
fn narrow(r: &mut Range, cmp: Cmp, c: i128, flipped: bool, holds: bool) {
    match if flipped { cmp.mirrored() } else { cmp }.given(holds) {
        Cmp::Gt => r.lo = r.lo.max(c + 1),
        Cmp::Ge => r.lo = r.lo.max(c),
        Cmp::Lt => r.hi = r.hi.min(c - 1),
        Cmp::Le => r.hi = r.hi.min(c),
        Cmp::Eq => (r.lo, r.hi) = (c, c),
        Cmp::Ne if r.lo == c => r.lo += 1,
        Cmp::Ne => {}
    }
}

fn is_int(func: &Function, v: Value) -> bool {
    func.ty(v).strong() == Ty::i64()
}

/// Limits of a type that is cast to an integer.
fn range_of_type(t: Ty) -> Range {
    match t.is_int().then(|| (t.is_signed(), t.bits())) {
        _ if t.is_bool() => Range { lo: 0, hi: 1 },
        Some((true, bits)) => Range { lo: -1 << (bits - 1), hi: (1 << (bits - 1)) - 1 },
        Some((false, bits)) if bits < 64 => Range { lo: 0, hi: (1 << bits) - 1 },
        _ => ANY,
    }
}
