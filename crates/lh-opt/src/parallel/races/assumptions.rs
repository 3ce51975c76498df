//! Assumptions of proofs, tested at run time: indices and slice bounds do not change between counting from the start
//! and from the end (`a[-1 - i] = a[i]`), the induction variable is not multiplied by 0, and its products do not
//! overflow. Only the dimensions that a proof uses count: `i` alone makes `a[i, j - 1]` independent.

use super::disjoint_windows::{MAX_STEPS, substitute};
use super::{Judge, Need, expr};
use crate::analysis::effects::expr::{Expr, Sym};
use crate::analysis::effects::{Access, Effects, Root};
use lh_ir::Meaning;
use lh_ir::Value;
use lh_ir::algebra::Algebra;
use lh_ir::func::Inst;

impl Judge<'_> {
    /// Assumptions under which the indices along some dimensions are as the proof reads them; `None` if one is not
    /// computable before the loop.
    pub(super) fn needs(&self, w: &Access, x: &Access, along: &[usize]) -> Option<Vec<Need>> {
        let (mut out, mut factors, one) = (Vec::new(), Vec::new(), Expr::int(1));
        for d in along {
            let length = |a: &Access| self.length(a, *d).filter(|_| w.index[*d] == x.index[*d]);
            let n = length(w).and_then(|_| length(x));
            for a in [w, x] {
                let at = a.index[*d].as_ref()?;
                let factor = self.split(at).map(|s| s.factor).filter(|f| f.as_int().is_none());
                out.extend(factor.and_then(|f| f.mul(&f)).map(|square| square.sub(&one)));
                self.factors(at, &mut factors, 0);
                a.written[*d].iter().for_each(|e| self.factors(e, &mut factors, 0));
                let (mut simple, mut is_known) = (Vec::new(), true);
                for e in self.sign_sensitive(a, *d) {
                    match self.bound(&e, false, &|_| true).and_then(|(low, _)| self.not_negative(&low, 0)) {
                        Some(needs) => simple.extend(needs.into_iter().filter(|e| !self.is_certain(e))),
                        None => is_known = false,
                    }
                }
                // The first and last index must be less than the extent apart.
                let both = || Some((self.at_ends(at, false)?, self.at_ends(at, true)?));
                match n.as_ref().filter(|_| !is_known || !simple.is_empty()).zip(both()) {
                    Some((n, ([a, b], [c, d]))) => {
                        out.extend([n.sub(&one).sub(&d).add(&a), n.sub(&one).sub(&c).add(&b)])
                    }
                    None if is_known => out.extend(simple),
                    None => return None,
                }
            }
        }
        out.retain(|e| !self.is_certain(e));
        if out.iter().any(Expr::is_overflow) {
            return None;
        }
        let fit =
            |f: Expr| (f.as_int().is_none_or(|c| self.may_overflow(c))).then(|| Need::Fits(f, self.limit.clone()));
        Some(out.into_iter().map(Need::NonNegative).chain(factors.into_iter().filter_map(fit)).collect())
    }

    /// Whether a multiple of the induction variable may overflow. With a factor below 2**16 that takes a loop of days.
    fn may_overflow(&self, c: i64) -> bool {
        c.unsigned_abs() >= 1 << 16 && self.limit.as_int().is_none_or(|n| c.checked_mul(n).is_none())
    }

    /// Collects the coefficients of the induction variable in an expression and in all values that it is computed from.
    fn factors(&self, e: &Expr, out: &mut Vec<Expr>, depth: usize) {
        let index = Sym::Val(self.index);
        for (product, c) in &e.terms {
            if let Some(factor) = Expr::factor(product, *c, index) {
                // Proofs use no other products.
                if !self.all_fixed(&factor) {
                    continue;
                }
                if !out.contains(&factor) {
                    out.push(factor);
                }
            }
            for s in product.iter().filter(|s| **s != index && depth < MAX_STEPS) {
                let (Sym::Val(v) | Sym::Within(v)) = *s else { continue };
                self.parts_of(v).iter().for_each(|e| self.factors(e, out, depth + 1));
            }
        }
    }

    /// Expressions from which a value in the loop is computed.
    fn parts_of(&self, v: Value) -> Vec<Expr> {
        if let Some(part) = self.slice_bound(v) {
            return vec![part];
        }
        if let Some((_, x, y)) = self.min_or_max(v) {
            return vec![self.expr_of(x), self.expr_of(y)];
        }
        if let Some(i) = self.inner.iter().find(|i| i.index == v) {
            return vec![i.low.clone(), i.limit.clone()];
        }
        match self.defs.inst(self.func, v) {
            Some(Inst::Op(_, args) | Inst::Call(_, args)) if self.inside[v.index()] => {
                args.iter().filter(|a| self.func.ty(**a).is_int()).map(|a| self.expr_of(*a)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The extent of a dimension, if an access indexes the whole array.
    pub(super) fn length(&self, a: &Access, d: usize) -> Option<Expr> {
        let Root::Value(root) = a.root else { return None };
        let is_all = match &self.func.blocks[a.block.index()].insts[a.at].inst {
            Inst::Call(_, args) => args.contains(&root),
            Inst::Load(p) | Inst::Store(p, _) => {
                matches!(self.defs.inst(self.func, *p), Some(Inst::ElemPtr { array, .. }) if *array == root)
            }
            _ => false,
        };
        let is_array = is_all && self.func.ty(root).as_array().is_some();
        is_array.then(|| Expr::sym(Sym::Shape(root, d as u32)))
    }

    /// Expressions along a dimension that a negative value would change to count from the end.
    fn sign_sensitive(&self, a: &Access, d: usize) -> Vec<Expr> {
        let Root::Value(root) = a.root else { return Vec::new() };
        let effects = Effects::new(self.func, self.defs, self.callees);
        let mut out: Vec<Expr> = a.index[d].iter().cloned().collect();
        match &self.func.blocks[a.block.index()].insts[a.at].inst {
            Inst::Call(f, args) if !args.contains(&root) => out.extend(effects.indices_of_call(*f, args)),
            Inst::Load(p) | Inst::Store(p, _) => match self.defs.inst(self.func, *p) {
                Some(Inst::ElemPtr { array, wrap: false, .. }) if *array == root => return Vec::new(),
                Some(Inst::ElemPtr { array, index, wrap: true, .. }) if *array != root => {
                    let along = effects.along(*array);
                    let is_here = |k: usize| along.get(k).is_none_or(|to| to.is_none_or(|to| to == d));
                    out.extend(index.iter().enumerate().filter(|(k, _)| is_here(*k)).map(|(_, v)| self.expr_of(*v)));
                }
                _ => {}
            },
            _ => {}
        }
        a.written[d].iter().for_each(|e| self.bounds_of_slices(e, &mut out, 0));
        out
    }

    /// Collects the slice bounds in an expression.
    fn bounds_of_slices(&self, e: &Expr, out: &mut Vec<Expr>, depth: usize) {
        for s in e.terms.iter().flat_map(|t| &t.0).filter(|_| depth < MAX_STEPS) {
            let (Sym::Val(v) | Sym::Within(v)) = *s else { continue };
            if let Some(part) = self.slice_bound(v) {
                out.push(part);
            } else if let Some((_, x, y)) = self.min_or_max(v) {
                [x, y].iter().for_each(|v| self.bounds_of_slices(&expr(self.func, self.defs, *v), out, depth + 1));
            } else if let Some(i) = self.inner.iter().find(|i| i.index == v) {
                [&i.low, &i.limit].iter().for_each(|e| self.bounds_of_slices(e, out, depth + 1));
            } else if *s == Sym::Within(v) {
                self.bounds_of_slices(&expr(self.func, self.defs, v), out, depth + 1);
            }
        }
    }

    /// Expressions that are non-negative only if another one is non-negative in all iterations.
    fn not_negative(&self, e: &Expr, depth: usize) -> Option<Vec<Expr>> {
        let inside = e.terms.iter().find_map(|(product, c)| match product[..] {
            [Sym::Val(v)] if v != self.index && self.inside[v.index()] => Some((v, *c)),
            _ => None,
        });
        let Some((v, c)) = inside.filter(|_| depth < MAX_STEPS) else {
            return self.at_ends(e, false).map(Vec::from);
        };
        let rest = substitute(e, Sym::Val(v), &Expr::int(0));
        let both = |x: Option<Vec<Expr>>, y: Option<Vec<Expr>>| Some([x?, y?].concat());
        if c != 1 {
            let parts =
                || both(self.not_negative(&Expr::sym(Sym::Val(v)), depth + 1), self.not_negative(&rest, depth + 1));
            return (c > 1).then(parts).flatten();
        }
        if let Some((is_least, x, y)) = self.min_or_max(v) {
            let [x, y] = [x, y].map(|v| self.not_negative(&rest.add(&self.expr_of(v)), depth + 1));
            return if is_least { both(x, y) } else { x.into_iter().chain(y).min_by_key(Vec::len) };
        }
        let (x, by) = match self.defs.inst(self.func, v)? {
            Inst::Call(f, args) if (self.callees)(*f)?.meaning == Some(Meaning::Quotient) => {
                (args[0], self.expr_of(args[1]))
            }
            Inst::Op(op, args) if op.is(Algebra::Quotient) => (args[0], self.expr_of(args[1])),
            Inst::Op(op, args) if op.is(Algebra::Remainder) => {
                return both(self.not_negative(&self.expr_of(args[0]), depth + 1), self.not_negative(&rest, depth + 1));
            }
            Inst::Op(op, args) if op.is(Algebra::ShiftRight) => {
                (args[0], Expr::int(1 << self.expr_of(args[1]).as_int().filter(|n| (0..63).contains(n))?))
            }
            _ => return None,
        };
        // `x // n + k` is non-negative if `x + n * k` is.
        let needs = self.not_negative(&self.expr_of(x).add(&by.mul(&rest)?), depth + 1);
        both(needs, Some(vec![by.sub(&Expr::int(1))]).filter(|_| self.all_fixed(&by)))
    }

    /// The minimum, or with `up` the maximum, in the first and in the last iteration, if computable before the loop.
    fn at_ends(&self, e: &Expr, up: bool) -> Option<[Expr; 2]> {
        let split = self.split(&self.bound(e, up, &|_| true)?.0).filter(|s| s.inner.is_empty())?;
        let last = split.fixed.add(&split.factor.mul(&self.limit.sub(&Expr::int(1)))?);
        // One of the two is enough if the sign of the coefficient is known.
        match split.factor.as_int() {
            Some(c) if (c >= 0) != up => Some([split.fixed.clone(), split.fixed]),
            Some(_) => Some([last.clone(), last]),
            None => Some([split.fixed, last]),
        }
    }

    fn is_certain(&self, e: &Expr) -> bool {
        let is_extent = |s: &Sym| matches!(s, Sym::Shape(..));
        e.constant >= 0 && e.terms.iter().all(|(product, c)| *c > 0 && product.iter().all(is_extent))
    }
}
