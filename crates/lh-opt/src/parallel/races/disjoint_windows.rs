//! Parts of arrays that iterations have to themselves: `for j in range(t * n // k, (t + 1) * n // k)`.
//!
//! With `f` a function of the loop's index that goes one way, the intervals from `f(i)` to before `f(i + 1)` share nothing:
//! they follow each other, or, where it goes down, all are empty. Products with and sums of what does not change in the
//! loop go one way, and what goes one way still does when it is divided (`//`) by, or limited by, such a quantity. An
//! interval may be less than that: `range(t * m, min(t * m + m, n))`.
//!
//! As everywhere in proofs, indices are taken not to count from the end; where they may, `wraps.rs` has it looked at.

use super::{Inner, Judge};
use crate::analysis::effects::expr::{Expr, Sym, expr};
use crate::analysis::effects::{Access, Meaning};
use lh_ir::Value;
use lh_ir::func::Inst;

/// An expression that is more than a multiple of the loop's index.
struct Parts {
    factor: Expr,
    /// What does not change in the loop.
    fixed: Expr,
    /// Quantities that do, and what they are multiplied by.
    rest: Vec<(Value, i64)>,
}

/// How deep bounds may be made of bounds.
pub(super) const MAX_STEPS: usize = 8;

impl Judge<'_> {
    /// Whether each iteration's indices lie between where it begins and where the next one does.
    pub(super) fn in_turn(&self, a: &Expr, b: &Expr) -> bool {
        let ends = |e: &Expr| {
            let low = self.limits(e, false, &|_| true)?.0;
            let end = self.limits(e, true, &|_| true)?.0.add(&Expr::int(1));
            Some((self.relaxed(low, false), self.relaxed(end, true)))
        };
        let (Some((low_a, end_a)), Some((low_b, end_b))) = (ends(a), ends(b)) else { return false };
        // Both end where both begin next.
        low_a.iter().any(|low| {
            let both = |end: &Vec<Expr>| end.iter().find(|e| self.follows(low, e)).cloned();
            let (Some(_), Some(end)) = (both(&end_a), both(&end_b)) else { return false };
            low_b.iter().any(|l| l == low || self.follows(l, &end))
        })
    }

    /// By which dimensions no element of one is one of the other, or only where both belong to the same iteration: some
    /// dimension's indices, or the differences of two, lie on different sides.
    pub(super) fn never_meet(&self, w: &Access, x: &Access) -> Vec<Vec<usize>> {
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

    /// Whether a measure of one access is always below that of the other, or as large only within an iteration.
    fn is_below(&self, m: &Expr, n: &Expr, of_m: &Access, of_n: &Access) -> bool {
        let (Some((high, at_high)), Some((low, at_low))) =
            (self.limits(m, true, &|_| true), self.limits(n, false, &|_| true))
        else {
            return false;
        };
        let whole = |e: &Expr, up: bool| {
            let (index, last) = (Sym::Val(self.index), self.limit.sub(&Expr::int(1)));
            let c = coefficient(e, index)?;
            let to = if (c > 0) == up { last } else { Expr::int(0) };
            Some(replaced(e, index, &to))
        };
        let (Some(most), Some(least)) = (whole(&high, true), whole(&low, false)) else { return false };
        if !self.is_all_fixed(&most) || !self.is_all_fixed(&least) {
            return false;
        }
        match least.sub(&most).as_int() {
            Some(d) if d >= 1 => true,
            // Where they touch, each is at its limit.
            Some(0) => of_m.index.iter().zip(&of_n.index).any(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => self.tells_apart(&applied(a, &at_high), &applied(b, &at_low)),
                _ => false,
            }),
            _ => false,
        }
    }

    pub(super) fn is_all_fixed(&self, e: &Expr) -> bool {
        e.terms.iter().all(|(product, _)| product.iter().all(|s| self.is_fixed(s)))
    }

    /// The greatest or the least value for all indices of inner loops (those asked for), in terms of the loop's own, and what was put for
    /// them.
    pub(super) fn limits(
        &self,
        e: &Expr,
        up: bool,
        among: &dyn Fn(&Inner) -> bool,
    ) -> Option<(Expr, Vec<(Sym, Expr)>)> {
        let (mut e, mut put) = (e.clone(), Vec::new());
        for _ in 0..MAX_STEPS {
            let bounds = |s: Sym| match s {
                Sym::Within(n) => Some((Expr::int(0), self.extent(Expr::sym(Sym::Val(n))))),
                Sym::Val(v) => {
                    let Inner { low, limit, .. } = self.inner.iter().find(|i| i.index == v && among(i))?;
                    let from_zero = low.as_int().is_some_and(|l| l >= 0);
                    let limit = if from_zero { self.extent(limit.clone()) } else { self.simplified(limit) };
                    Some((self.simplified(low), limit))
                }
                Sym::Shape(..) | Sym::Stride(..) | Sym::Overflow => None,
            };
            let next = e.terms.iter().find_map(|(product, c)| match product[..] {
                [s] => bounds(s).map(|b| (s, *c, b)),
                _ => None,
            });
            let Some((s, c, (low, limit))) = next else { return Some((e, put)) };
            let to = if (c > 0) == up { limit.sub(&Expr::int(1)) } else { low };
            e = replaced(&e, s, &to);
            put.push((s, to));
        }
        None
    }

    /// An index with parts of slices as they were written: where a slice has elements, it begins there, and it has none
    /// behind its end.
    pub(super) fn simplified(&self, e: &Expr) -> Expr {
        let of = |s: Sym| match s {
            Sym::Val(v) => Some(self.slice_part(v).unwrap_or_else(|| Expr::sym(s))),
            Sym::Shape(..) | Sym::Stride(..) | Sym::Within(_) | Sym::Overflow => Some(Expr::sym(s)),
        };
        e.replace(&of).unwrap_or_else(|| e.clone())
    }

    /// The expression, and others that are no greater as a beginning or no less as an end.
    pub(super) fn relaxed(&self, e: Expr, up: bool) -> Vec<Expr> {
        let mut out = vec![e];
        let mut at = 0;
        while at < out.len() && out.len() < MAX_STEPS {
            let e = out[at].clone();
            for (product, c) in &e.terms {
                let ([Sym::Val(v)], true) = (&product[..], *c > 0) else { continue };
                let mut put = |to: Value| out.push(replaced(&e, Sym::Val(*v), &self.of(to)));
                match self.choice(*v) {
                    Some((least, x, y)) if least == up => [x, y].into_iter().for_each(&mut put),
                    _ => {}
                }
            }
            at += 1;
        }
        out
    }

    /// Whether the second is the first one iteration later, and the first goes one way.
    fn follows(&self, now: &Expr, next: &Expr) -> bool {
        let (Some(a), Some(b)) = (self.parts(now), self.parts(next)) else { return false };
        if a.factor != b.factor {
            return false;
        }
        match (&a.rest[..], &b.rest[..]) {
            ([], []) => b.fixed.sub(&a.fixed) == a.factor,
            // A sum of several would not go one way.
            ([(v, c)], [(w, d)]) => c == d && a.factor == Expr::default() && a.fixed == b.fixed && self.goes_on(*v, *w),
            _ => false,
        }
    }

    /// What an expression is made of.
    fn parts(&self, e: &Expr) -> Option<Parts> {
        let rest: Vec<(Value, i64)> = e
            .terms
            .iter()
            .filter_map(|(product, c)| match product[..] {
                [Sym::Val(v)] if v != self.index && !self.is_fixed(&Sym::Val(v)) => Some((v, *c)),
                _ => None,
            })
            .collect();
        let known = rest.iter().fold(e.clone(), |e, (v, _)| replaced(&e, Sym::Val(*v), &Expr::int(0)));
        let split = self.split(&known).filter(|s| s.inner.is_empty())?;
        Some(Parts { factor: split.factor, fixed: split.fixed, rest })
    }

    /// The same of a quotient, which a shift is, too, or of the less or the greater of something that goes one way and something fixed.
    fn goes_on(&self, now: Value, next: Value) -> bool {
        let is_same = |x: Value, y: Value| self.of(x) == self.of(y) && self.is_all_fixed(&self.of(x));
        let goes = |x: Value, y: Value| self.follows(&self.of(x), &self.of(y));
        if let (Some((p, x, y)), Some((q, z, w))) = (self.choice(now), self.choice(next)) {
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
                f.name == "shr" && g.name == "shr" && goes(a[0], b[0]) && is_same(a[1], b[1])
            }
            _ => false,
        }
    }

    pub(super) fn of(&self, v: Value) -> Expr {
        self.simplified(&expr(self.func, self.defs, v))
    }

    /// `min(x, y)` (true) or `max(x, y)`.
    pub(super) fn choice(&self, v: Value) -> Option<(bool, Value, Value)> {
        let Inst::Op(op, args) = self.defs.inst(self.func, v)? else { return None };
        match (op.name, &args[..]) {
            ("minnum" | "minimum", [x, y]) => Some((true, *x, *y)),
            ("maxnum" | "maximum", [x, y]) => Some((false, *x, *y)),
            ("select", [cond, x, y]) => {
                let Inst::Op(op, sides) = self.defs.inst(self.func, *cond)? else { return None };
                let in_order = sides[..] == [*x, *y];
                (in_order || sides[..] == [*y, *x]).then_some(())?;
                match op.name {
                    "lt" | "le" => Some((in_order, *x, *y)),
                    "gt" | "ge" => Some((!in_order, *x, *y)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A number of elements, if there are any: the `x` of `max(x, 0)`.
    fn extent(&self, n: Expr) -> Expr {
        let [(product, 1)] = &n.terms[..] else { return self.simplified(&n) };
        let ([Sym::Val(v)], 0) = (&product[..], n.constant) else { return self.simplified(&n) };
        match self.choice(*v) {
            Some((false, x, y)) if self.defs.int(self.func, y) == Some(0) => self.of(x),
            _ => self.of(*v),
        }
    }

    /// What was written if a value is where a slice begins, ends or its step.
    pub(super) fn slice_part(&self, v: Value) -> Option<Expr> {
        if !self.is_read_into && !self.made[v.index()] {
            return None;
        }
        let Inst::Field(bounds, which @ 0..=2) = self.defs.inst(self.func, v)? else { return None };
        let Inst::Call(spec, args) = self.defs.inst(self.func, *bounds)? else { return None };
        let is_slice = (self.callees)(*spec).is_some_and(|s| s.meaning == Some(Meaning::SliceBounds));
        let Inst::Pack(parts) = self.defs.inst(self.func, *args.first().filter(|_| is_slice)?)? else { return None };
        let written = |k: usize| self.func.ty(parts[k]).is_int().then(|| expr(self.func, self.defs, parts[k]));
        if written(2).is_some_and(|step| step.as_int().is_none_or(|n| n <= 0)) {
            return None;
        }
        let of_none = if *which == 0 { Some(Expr::int(0)) } else { None };
        let part = written(*which as usize).or(of_none)?;
        part.as_int().is_none_or(|n| n >= 0).then_some(part)
    }
}

/// What a quantity is multiplied by, unless in a product with others.
pub(super) fn coefficient(e: &Expr, s: Sym) -> Option<i64> {
    let mut found = e.terms.iter().filter(|(product, _)| product.contains(&s));
    match (found.next(), found.next()) {
        (None, _) => Some(0),
        (Some((product, c)), None) if product.len() == 1 => Some(*c),
        _ => None,
    }
}

/// The expression with another one for a quantity that stands alone.
pub(super) fn replaced(e: &Expr, s: Sym, to: &Expr) -> Expr {
    let c = e.terms.iter().find(|(product, _)| product[..] == [s]).map_or(0, |t| t.1);
    e.sub(&Expr::sym(s).scale(c)).add(&to.scale(c))
}

fn applied(e: &Expr, put: &[(Sym, Expr)]) -> Expr {
    put.iter().fold(e.clone(), |e, (s, to)| replaced(&e, *s, to))
}
