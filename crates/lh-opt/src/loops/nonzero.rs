//! Folds comparisons of floats with zero that are always false, so that divisions by these need no check.
//!
//! ```text
//! k = 1.0 / (1.0 + 0.25 * abs(d))         ; 1.0 + ... is at least 1.0, or NaN
//!     v5 = eq v4, 0.0: bool       ->      v5 = const false: bool
//! ```
//!
//! A range is computed bottom-up from constants, rounded as the operations round, and narrowed by dominating branches
//! on comparisons with constants. `fold` then removes the branch.

use crate::analysis::counted::{Counted, Defs, counted, in_loop, target_of};
use crate::analysis::dominating_branches::dominating_branches;
use lh_ir::algebra::{Algebra, Cmp, Nan};
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::Inst;
use lh_ir::{Block, Const, Function, Value};

const MAX_DEPTH: usize = 10;

pub(crate) fn run(func: &mut Function) -> bool {
    if func.options.numpy_errors {
        return false;
    }
    let defs = Defs::new(func);
    let mut tests = Vec::new();
    for (b, data) in func.blocks.iter().enumerate() {
        for (i, d) in data.insts.iter().enumerate() {
            if let Inst::Op(op, args) = &d.inst
                && op.is(Algebra::Cmp(Cmp::Eq))
                && func.ty(args[0]).is_float()
                && float_constant(func, &defs, args[1]) == Some(0.0)
            {
                tests.push((Block::new(b), i, args[0]));
            }
        }
    }
    if tests.is_empty() {
        return false;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let counts = loops.loops.iter().map(|l| counted(func, &cfg, &defs, l)).collect();
    let facts = FloatRanges { func, cfg: &cfg, dom: &dom, loops: &loops, defs: &defs, counts };
    tests.retain(|(b, _, v)| cfg.is_reachable(*b) && facts.is_nonzero(*b, *v));
    for (b, i, _) in &tests {
        func.blocks[b.index()].insts[*i].inst = Inst::Const(Const::Bool(false));
    }
    !tests.is_empty()
}

/// Minimum and maximum; the value may also be NaN.
#[derive(Clone, Copy)]
struct Bounds {
    lo: f64,
    hi: f64,
}

const ALL: Bounds = Bounds { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

struct FloatRanges<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    dom: &'a DomTree,
    loops: &'a Loops,
    defs: &'a Defs,
    counts: Vec<Option<Counted>>,
}

impl FloatRanges<'_> {
    fn is_nonzero(&self, at: Block, v: Value) -> bool {
        let r = self.range(v, 0);
        r.lo > 0.0 || r.hi < 0.0 || self.is_excluded_by_branches(at, v, r)
    }

    /// Whether dominating branches exclude zero.
    fn is_excluded_by_branches(&self, at: Block, v: Value, mut r: Bounds) -> bool {
        let mut branches = dominating_branches(self.func, self.cfg, self.dom, at, Block(0));
        branches.any(|b| self.narrow(b.cond, b.holds, v, &mut r))
    }

    /// Narrows a range by a condition with a known truth value; true if that excludes zero.
    fn narrow(&self, cond: Value, holds: bool, v: Value, r: &mut Bounds) -> bool {
        let Some(Inst::Op(op, args)) = self.defs.inst(self.func, cond) else { return false };
        let float_constant = |v| float_constant(self.func, self.defs, v);
        let Some(cmp) = op.comparison() else { return false };
        let (cmp, c) = match args[..] {
            [a, b] if a == v => (cmp, float_constant(b)),
            [a, b] if b == v => (cmp.mirrored(), float_constant(a)),
            _ => return false,
        };
        let Some(c) = c else { return false };
        // A false comparison admits NaN, which a range always includes.
        match cmp.given(holds) {
            Cmp::Ne if c == 0.0 => return true,
            Cmp::Ne => {}
            Cmp::Eq => *r = Bounds { lo: c, hi: c },
            Cmp::Gt => r.lo = r.lo.max(c.next_up()),
            Cmp::Ge => r.lo = r.lo.max(c),
            Cmp::Lt => r.hi = r.hi.min(c.next_down()),
            Cmp::Le => r.hi = r.hi.min(c),
        }
        r.lo > 0.0 || r.hi < 0.0
    }

    fn range(&self, v: Value, depth: usize) -> Bounds {
        if let Some(x) = float_constant(self.func, self.defs, v) {
            return Bounds { lo: x, hi: x };
        }
        if depth > MAX_DEPTH {
            return ALL;
        }
        let range = match self.defs.inst(self.func, v) {
            Some(Inst::Op(op, args)) => self.operation(op.algebra, args, depth + 1),
            Some(Inst::Cast(x)) if self.func.ty(*x).is_float() => self.range(*x, depth + 1),
            Some(Inst::Cast(x)) if self.func.ty(*x).is_int() => self.integer(*x),
            _ => ALL,
        };
        // A NaN bound comes from operations on infinities: the range is unknown.
        let range = if range.lo <= range.hi { range } else { ALL };
        let ty = self.func.ty(v);
        Bounds { lo: lh_ir::half::rounded(range.lo, ty), hi: lh_ir::half::rounded(range.hi, ty) }
    }

    fn operation(&self, algebra: Algebra, args: &[Value], depth: usize) -> Bounds {
        let of = |i: usize| self.range(args[i], depth);
        match algebra {
            Algebra::Abs => {
                let r = of(0);
                let (a, b) = (r.lo.abs(), r.hi.abs());
                Bounds { lo: if r.lo <= 0.0 && r.hi >= 0.0 { 0.0 } else { a.min(b) }, hi: a.max(b) }
            }
            Algebra::Sqrt => {
                let r = of(0);
                Bounds { lo: r.lo.max(0.0).sqrt(), hi: r.hi.max(0.0).sqrt() }
            }
            Algebra::Function { least } => Bounds { lo: least, hi: f64::INFINITY },
            Algebra::Negate => {
                let r = of(0);
                Bounds { lo: -r.hi, hi: -r.lo }
            }
            Algebra::Add => {
                let (a, b) = (of(0), of(1));
                Bounds { lo: a.lo + b.lo, hi: a.hi + b.hi }
            }
            Algebra::Sub => {
                let (a, b) = (of(0), of(1));
                Bounds { lo: a.lo - b.hi, hi: a.hi - b.lo }
            }
            Algebra::Mul if self.same(args[0], args[1], 0) => {
                let r = self.operation(Algebra::Abs, args, depth);
                Bounds { lo: r.lo * r.lo, hi: r.hi * r.hi }
            }
            Algebra::Mul => product(of(0), of(1)),
            Algebra::Divide => quotient(of(0), of(1)),
            Algebra::Max(nan) => {
                let (a, b) = (of(0), of(1));
                let lo = match nan {
                    Nan::Stays => a.lo.max(b.lo),
                    Nan::Yields => self.greater_number(args, a, b),
                };
                Bounds { lo, hi: a.hi.max(b.hi) }
            }
            Algebra::Select => {
                let (a, b) = (of(1), of(2));
                Bounds { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) }
            }
            Algebra::AnyOrder(_)
            | Algebra::Quotient
            | Algebra::Remainder
            | Algebra::Min(_)
            | Algebra::And
            | Algebra::Or
            | Algebra::Xor
            | Algebra::Not
            | Algebra::ShiftLeft
            | Algebra::ShiftRight
            | Algebra::Cmp(_)
            | Algebra::Bits
            | Algebra::OfBits
            | Algebra::Power => ALL,
        }
    }

    /// The minimum of `maxnum`, which ignores a NaN operand; only constants are certainly not NaN.
    fn greater_number(&self, args: &[Value], a: Bounds, b: Bounds) -> f64 {
        let is_number = |v| float_constant(self.func, self.defs, v).is_some();
        match (is_number(args[0]), is_number(args[1])) {
            (true, true) => a.lo.max(b.lo),
            (true, false) => a.lo,
            (false, true) => b.lo,
            (false, false) => a.lo.min(b.lo),
        }
    }

    /// Whether two values are equal expressions of the same values, without loads.
    fn same(&self, a: Value, b: Value, depth: usize) -> bool {
        if a == b {
            return true;
        }
        match (self.defs.inst(self.func, a), self.defs.inst(self.func, b)) {
            (Some(Inst::Const(a)), Some(Inst::Const(b))) => a == b,
            (Some(Inst::Op(p, x)), Some(Inst::Op(q, y))) if std::ptr::eq(*p, *q) && depth < 3 => {
                x.len() == y.len() && x.iter().zip(y).all(|(a, b)| self.same(*a, *b, depth + 1))
            }
            _ => false,
        }
    }

    /// The range of the induction variable of a counted loop plus a constant: the minimum is the start.
    fn integer(&self, v: Value) -> Bounds {
        const FAR: i64 = 1 << 62;
        let (base, plus) = self.defs.offset(self.func, v);
        let counter = || {
            let header = self.defs.block(base)?;
            let at = self.loops.innermost[header.index()]?;
            let l = &self.loops.loops[at];
            let c = self.counts[at].as_ref().filter(|c| c.index == base && c.step > 0 && l.header == header)?;
            let mut least = i64::MAX;
            for e in self.cfg.preds(header).iter().filter(|e| !in_loop(self.cfg, l, e.from)) {
                least = least.min(self.defs.int(self.func, target_of(self.func, *e).args[c.place])?);
            }
            let lo = least.checked_add(plus)?;
            // The start is too far from the minimum of `int64` for the sum to wrap around.
            (least > -FAR && least < FAR && plus.abs() < FAR).then_some(Bounds { lo: lo as f64, hi: f64::INFINITY })
        };
        counter().unwrap_or(ALL)
    }
}

fn product(a: Bounds, b: Bounds) -> Bounds {
    if a.lo >= 0.0 && b.lo >= 0.0 {
        let lo = a.lo * b.lo;
        return Bounds { lo: if lo.is_nan() { 0.0 } else { lo }, hi: f64::INFINITY };
    }
    let all = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
    if all.iter().any(|x| x.is_nan()) {
        return ALL;
    }
    Bounds { lo: all.into_iter().fold(f64::INFINITY, f64::min), hi: all.into_iter().fold(f64::NEG_INFINITY, f64::max) }
}

fn quotient(a: Bounds, b: Bounds) -> Bounds {
    if a.lo >= 0.0 && b.lo >= 0.0 {
        let lo = a.lo / b.hi;
        return Bounds { lo: if lo.is_nan() { 0.0 } else { lo }, hi: f64::INFINITY };
    }
    ALL
}

/// The value of a float constant other than NaN.
fn float_constant(func: &Function, defs: &Defs, v: Value) -> Option<f64> {
    match defs.inst(func, v)? {
        Inst::Const(Const::Float(x, _)) if !x.is_nan() => Some(*x),
        _ => None,
    }
}
