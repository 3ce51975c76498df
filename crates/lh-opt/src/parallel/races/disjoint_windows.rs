//! Intervals of arrays that belong to one iteration: `for j in range(t * n // k, (t + 1) * n // k)`.
//!
//! For a monotonic function `f` of the induction variable, the intervals from `f(i)` to `f(i + 1)`, exclusive, are
//! disjoint: if `f` falls, they are empty. Sums and products with invariants are monotonic; so are quotients (`//`),
//! minima and maxima of a monotonic function and an invariant. An interval may be smaller: `range(t * m, min(t * m + m,
//! n))`.
//!
//! Proofs assume that indices do not count from the end; [`super::assumptions`] adds the tests for that.

use super::{InnerLoop, Judge};
use crate::analysis::effects::Access;
use crate::analysis::effects::expr::{Expr, Sym, expr};
use lh_ir::Meaning;
use lh_ir::Value;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::func::Inst;

/// An expression split into terms.
struct Terms {
    factor: Expr,
    /// Loop-invariant terms.
    fixed: Expr,
    /// Other values that vary, with their coefficients.
    rest: Vec<(Value, i64)>,
}

/// Depth limit for expressions.
pub(super) const MAX_STEPS: usize = 8;

impl Judge<'_> {
    /// Whether the interval of each iteration ends before that of the next one begins.
    pub(super) fn follow_in_order(&self, a: &Expr, b: &Expr) -> bool {
        let ends = |e: &Expr| {
            let low = self.bound(e, false, &|_| true)?.0;
            let end = self.bound(e, true, &|_| true)?.0.add(&Expr::int(1));
            Some((self.relax(low, false), self.relax(end, true)))
        };
        let (Some((low_a, end_a)), Some((low_b, end_b))) = (ends(a), ends(b)) else { return false };
        // Both intervals must end before either next one begins.
        low_a.iter().any(|low| {
            let both = |end: &Vec<Expr>| end.iter().find(|e| self.is_next(low, e)).cloned();
            let (Some(_), Some(end)) = (both(&end_a), both(&end_b)) else { return false };
            low_b.iter().any(|l| l == low || self.is_next(l, &end))
        })
    }

    /// Dimensions along which two accesses are disjoint, or meet only within an iteration: the indices, or the
    /// difference of two, lie in disjoint ranges.
    pub(super) fn disjoint(&self, w: &Access, x: &Access) -> Vec<Vec<usize>> {
        let rank = w.index.len();
        let pairs = (0..rank).flat_map(|d| (0..=d).map(move |e| (d, e)));
        let found = pairs.filter(|(d, e)| {
            let (d, e) = (*d, *e);
            let measure = |a: &Access| match (a.index.get(d)?, a.index.get(e)?) {
                (Some(x), Some(y)) => Some(if d == e { x.clone() } else { x.sub(y) }),
                _ => None,
            };
            let (Some(m), Some(n)) = (measure(w), measure(x)) else { return false };
            self.is_below(&m, &n, w, x) || self.is_below(&n, &m, x, w)
        });
        found.map(|(d, e)| vec![d, e]).collect()
    }

    /// Whether a measure of one access is always below that of the other, or equal to it only within an iteration.
    fn is_below(&self, m: &Expr, n: &Expr, of_m: &Access, of_n: &Access) -> bool {
        let (Some((high, at_high)), Some((low, at_low))) =
            (self.bound(m, true, &|_| true), self.bound(n, false, &|_| true))
        else {
            return false;
        };
        let whole = |e: &Expr, up: bool| {
            let (index, last) = (Sym::Val(self.index), self.limit.sub(&Expr::int(1)));
            let c = coefficient(e, index)?;
            let to = if (c > 0) == up { last } else { Expr::int(0) };
            Some(substitute(e, index, &to))
        };
        let (Some(most), Some(least)) = (whole(&high, true), whole(&low, false)) else { return false };
        if !self.all_fixed(&most) || !self.all_fixed(&least) {
            return false;
        }
        match least.sub(&most).as_int() {
            Some(d) if d >= 1 => true,
            // Where the ranges touch, both measures are at their limits.
            Some(0) => of_m.index.iter().zip(&of_n.index).any(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => self.differs(&substitute_all(a, &at_high), &substitute_all(b, &at_low)),
                _ => false,
            }),
            _ => false,
        }
    }

    pub(super) fn all_fixed(&self, e: &Expr) -> bool {
        e.all(|s| self.is_invariant(s))
    }

    /// The maximum or minimum over the induction variables of certain inner loops, as a function of the loop's own, and
    /// the values that were substituted.
    pub(super) fn bound(
        &self,
        e: &Expr,
        up: bool,
        among: &dyn Fn(&InnerLoop) -> bool,
    ) -> Option<(Expr, Vec<(Sym, Expr)>)> {
        let (mut e, mut put) = (e.clone(), Vec::new());
        for _ in 0..MAX_STEPS {
            let bounds = |s: Sym| match s {
                Sym::Within(n) => Some((Expr::int(0), self.length_of(Expr::sym(Sym::Val(n))))),
                Sym::Val(v) => {
                    let InnerLoop { low, limit, .. } = self.inner.iter().find(|i| i.index == v && among(i))?;
                    let from_zero = low.as_int().is_some_and(|l| l >= 0);
                    let limit = if from_zero { self.length_of(limit.clone()) } else { self.expand_slices(limit) };
                    Some((self.expand_slices(low), limit))
                }
                Sym::Shape(..) | Sym::Stride(..) | Sym::Overflow => None,
            };
            let next = e.terms.iter().find_map(|(product, c)| match product[..] {
                [s] => bounds(s).map(|b| (s, *c, b)),
                _ => None,
            });
            let Some((s, c, (low, limit))) = next else { return Some((e, put)) };
            let to = if (c > 0) == up { limit.sub(&Expr::int(1)) } else { low };
            e = substitute(&e, s, &to);
            put.push((s, to));
        }
        None
    }

    /// Replaces parts of a slice by the bounds in the program: a slice that is not empty begins and ends within these.
    pub(super) fn expand_slices(&self, e: &Expr) -> Expr {
        let expr_of = |s: Sym| match s {
            Sym::Val(v) => Some(self.slice_bound(v).unwrap_or_else(|| Expr::sym(s))),
            Sym::Shape(..) | Sym::Stride(..) | Sym::Within(_) | Sym::Overflow => Some(Expr::sym(s)),
        };
        e.replace(&expr_of).unwrap_or_else(|| e.clone())
    }

    /// The expression and weaker bounds: not greater for a beginning, not less for an end.
    pub(super) fn relax(&self, e: Expr, up: bool) -> Vec<Expr> {
        let mut out = vec![e];
        let mut at = 0;
        while at < out.len() && out.len() < MAX_STEPS {
            let e = out[at].clone();
            for (product, c) in &e.terms {
                let ([Sym::Val(v)], true) = (&product[..], *c > 0) else { continue };
                let mut put = |to: Value| out.push(substitute(&e, Sym::Val(*v), &self.expr_of(to)));
                match self.min_or_max(*v) {
                    Some((least, x, y)) if least == up => [x, y].into_iter().for_each(&mut put),
                    _ => {}
                }
            }
            at += 1;
        }
        out
    }

    /// Whether the second is the first for the next iteration, and monotonic.
    fn is_next(&self, now: &Expr, next: &Expr) -> bool {
        let (Some(a), Some(b)) = (self.terms_of(now), self.terms_of(next)) else { return false };
        if a.factor != b.factor {
            return false;
        }
        match (&a.rest[..], &b.rest[..]) {
            ([], []) => b.fixed.sub(&a.fixed) == a.factor,
            // A sum of several monotonic terms need not be monotonic.
            ([(v, c)], [(w, d)]) => {
                c == d && a.factor == Expr::default() && a.fixed == b.fixed && self.is_monotonic(*v, *w)
            }
            _ => false,
        }
    }

    /// Splits an expression into terms.
    fn terms_of(&self, e: &Expr) -> Option<Terms> {
        let rest: Vec<(Value, i64)> = e
            .terms
            .iter()
            .filter_map(|(product, c)| match product[..] {
                [Sym::Val(v)] if v != self.index && !self.is_invariant(&Sym::Val(v)) => Some((v, *c)),
                _ => None,
            })
            .collect();
        let known = rest.iter().fold(e.clone(), |e, (v, _)| substitute(&e, Sym::Val(*v), &Expr::int(0)));
        let split = self.split(&known).filter(|s| s.inner.is_empty())?;
        Some(Terms { factor: split.factor, fixed: split.fixed, rest })
    }

    /// As [`Judge::is_next`], for quotients and shifts by invariants, and for the minimum or maximum with an invariant.
    fn is_monotonic(&self, now: Value, next: Value) -> bool {
        let is_same = |x: Value, y: Value| self.expr_of(x) == self.expr_of(y) && self.all_fixed(&self.expr_of(x));
        let goes = |x: Value, y: Value| self.is_next(&self.expr_of(x), &self.expr_of(y));
        if let (Some((p, x, y)), Some((q, z, w))) = (self.min_or_max(now), self.min_or_max(next)) {
            let ordered = |x, y, z, w| goes(x, z) && is_same(y, w);
            return p == q
                && [ordered(x, y, z, w), ordered(x, y, w, z), ordered(y, x, z, w), ordered(y, x, w, z)]
                    .contains(&true);
        }
        match (self.defs.inst(self.func, now), self.defs.inst(self.func, next)) {
            (Some(Inst::Call(f, a)), Some(Inst::Call(g, b))) => {
                let is_quotient = |s| (self.callees)(s).is_some_and(|s| s.meaning == Some(Meaning::Quotient));
                is_quotient(*f) && is_quotient(*g) && goes(a[0], b[0]) && is_same(a[1], b[1])
            }
            (Some(Inst::Op(f, a)), Some(Inst::Op(g, b))) => {
                f.is(Algebra::ShiftRight) && g.is(Algebra::ShiftRight) && goes(a[0], b[0]) && is_same(a[1], b[1])
            }
            _ => false,
        }
    }

    pub(super) fn expr_of(&self, v: Value) -> Expr {
        self.expand_slices(&expr(self.func, self.defs, v))
    }

    /// Matches `min(x, y)` (true) or `max(x, y)` (false).
    pub(super) fn min_or_max(&self, v: Value) -> Option<(bool, Value, Value)> {
        let Inst::Op(op, args) = self.defs.inst(self.func, v)? else { return None };
        match (op.algebra, &args[..]) {
            (Algebra::Min(_), [x, y]) => Some((true, *x, *y)),
            (Algebra::Max(_), [x, y]) => Some((false, *x, *y)),
            (Algebra::Select, [cond, x, y]) => {
                let Inst::Op(op, sides) = self.defs.inst(self.func, *cond)? else { return None };
                let in_order = sides[..] == [*x, *y];
                (in_order || sides[..] == [*y, *x]).then_some(())?;
                match op.comparison()? {
                    Cmp::Lt | Cmp::Le => Some((in_order, *x, *y)),
                    Cmp::Gt | Cmp::Ge => Some((!in_order, *x, *y)),
                    Cmp::Eq | Cmp::Ne => None,
                }
            }
            _ => None,
        }
    }

    /// The length `x` in `max(x, 0)`.
    fn length_of(&self, n: Expr) -> Expr {
        let [(product, 1)] = &n.terms[..] else { return self.expand_slices(&n) };
        let ([Sym::Val(v)], 0) = (&product[..], n.constant) else { return self.expand_slices(&n) };
        match self.min_or_max(*v) {
            Some((false, x, y)) if self.defs.int(self.func, y) == Some(0) => self.expr_of(x),
            _ => self.expr_of(*v),
        }
    }

    /// The program's expression for the begin, end or step of a slice.
    pub(super) fn slice_bound(&self, v: Value) -> Option<Expr> {
        if !self.expand_slices && !self.inside[v.index()] {
            return None;
        }
        let Inst::Field(bounds, which @ 0..=2) = self.defs.inst(self.func, v)? else { return None };
        let Inst::Call(spec, args) = self.defs.inst(self.func, *bounds)? else { return None };
        let is_slice = (self.callees)(*spec).is_some_and(|s| s.meaning == Some(Meaning::SliceBounds));
        let Inst::Pack(terms_of) = self.defs.inst(self.func, *args.first().filter(|_| is_slice)?)? else { return None };
        let written = |k: usize| self.func.ty(terms_of[k]).is_int().then(|| expr(self.func, self.defs, terms_of[k]));
        if written(2).is_some_and(|step| step.as_int().is_none_or(|n| n <= 0)) {
            return None;
        }
        let of_none = if *which == 0 { Some(Expr::int(0)) } else { None };
        let part = written(*which as usize).or(of_none)?;
        part.as_int().is_none_or(|n| n >= 0).then_some(part)
    }
}

/// The coefficient of a symbol, unless it occurs in products with others.
pub(super) fn coefficient(e: &Expr, s: Sym) -> Option<i64> {
    let mut found = e.terms.iter().filter(|(product, _)| product.contains(&s));
    match (found.next(), found.next()) {
        (None, _) => Some(0),
        (Some((product, c)), None) if product.len() == 1 => Some(*c),
        _ => None,
    }
}

/// Substitutes a symbol that occurs as a linear term.
pub(super) fn substitute(e: &Expr, s: Sym, to: &Expr) -> Expr {
    let c = e.terms.iter().find(|(product, _)| product[..] == [s]).map_or(0, |t| t.1);
    e.sub(&Expr::sym(s).scale(c)).add(&to.scale(c))
}

fn substitute_all(e: &Expr, put: &[(Sym, Expr)]) -> Expr {
    put.iter().fold(e.clone(), |e, (s, to)| substitute(&e, *s, to))
}
