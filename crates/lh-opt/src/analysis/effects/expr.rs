//! Index expressions: integers as sums of products.
//!
//! Coefficients are exact. An expression whose coefficients do not fit 64 bits is [`Sym::Overflow`], which equals
//! nothing, propagates through sums and products, and is never invariant, so that no proof uses it.

use crate::analysis::counted::Defs;
use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::func::Inst;
use lh_ir::{Function, Value};
use serde::{Deserialize, Serialize};

/// An unknown of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Sym {
    /// A value.
    Val(Value),
    /// An extent of an array.
    Shape(Value, u32),
    /// A stride of an array.
    Stride(Value, u32),
    /// Any integer from 0 to below a value: the access covers a whole dimension of that extent.
    Within(Value),
    /// An unknown number, because a coefficient has left 64 bits.
    Overflow,
}

/// `constant + sum(coefficient * product of quantities)`; terms are sorted and their coefficients not 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Expr {
    pub(crate) terms: Vec<(Vec<Sym>, i64)>,
    pub(crate) constant: i64,
}

impl PartialEq for Expr {
    /// Whether both are certainly the same number. Overflow is equal to nothing.
    fn eq(&self, other: &Expr) -> bool {
        !self.is_overflow() && self.terms == other.terms && self.constant == other.constant
    }
}

/// The maximum number of terms; a value whose expression would have more is an unknown.
const MAX_TERMS: usize = 8;
/// Definitions deeper than this are unknowns.
const MAX_DEPTH: u32 = 24;

impl Expr {
    pub(crate) fn int(constant: i64) -> Expr {
        Expr { terms: Vec::new(), constant }
    }
    pub(crate) fn sym(s: Sym) -> Expr {
        Expr { terms: vec![(vec![s], 1)], constant: 0 }
    }
    /// The sum of terms, whose coefficients are exact in 128 bits.
    fn normal(mut terms: Vec<(Vec<Sym>, i128)>, constant: i128) -> Expr {
        terms.sort();
        let mut sums: Vec<(Vec<Sym>, i128)> = Vec::new();
        for (product, c) in terms {
            match sums.last_mut() {
                Some(last) if last.0 == product => last.1 += c,
                _ => sums.push((product, c)),
            }
        }
        if sums.iter().any(|t| t.0.contains(&Sym::Overflow)) {
            return Expr::sym(Sym::Overflow);
        }
        let narrow = |(product, c): (Vec<Sym>, i128)| Some((product, i64::try_from(c).ok()?));
        let terms: Option<Vec<_>> = sums.into_iter().filter(|t| t.1 != 0).map(narrow).collect();
        match (terms, i64::try_from(constant)) {
            (Some(terms), Ok(constant)) => Expr { terms, constant },
            (None, _) | (_, Err(_)) => Expr::sym(Sym::Overflow),
        }
    }
    /// The terms with wide coefficients, each multiplied by a number.
    fn times(&self, c: i64) -> impl Iterator<Item = (Vec<Sym>, i128)> + '_ {
        self.terms.iter().map(move |(p, k)| (p.clone(), i128::from(*k) * i128::from(c)))
    }
    pub(crate) fn add(&self, other: &Expr) -> Expr {
        let terms = self.times(1).chain(other.times(1)).collect();
        Expr::normal(terms, i128::from(self.constant) + i128::from(other.constant))
    }
    pub(crate) fn scale(&self, c: i64) -> Expr {
        // Overflow stays overflow, even times 0.
        let terms = if self.is_overflow() { self.times(1) } else { self.times(c) };
        Expr::normal(terms.collect(), i128::from(self.constant) * i128::from(c))
    }
    /// Whether nothing is known of it.
    pub(crate) fn is_overflow(&self) -> bool {
        self.terms.iter().any(|t| t.0.contains(&Sym::Overflow))
    }
    pub(crate) fn sub(&self, other: &Expr) -> Expr {
        self.add(&other.scale(-1))
    }
    /// Product, unless it has too many terms or too large numbers.
    pub(crate) fn mul(&self, other: &Expr) -> Option<Expr> {
        if self.terms.len() * other.terms.len() > MAX_TERMS {
            return None;
        }
        if self.is_overflow() || other.is_overflow() {
            return None;
        }
        let mut terms: Vec<(Vec<Sym>, i128)> = other.times(self.constant).chain(self.times(other.constant)).collect();
        for (p, c) in &self.terms {
            for (q, k) in other.times(*c) {
                let mut product = p.clone();
                product.extend(q);
                product.sort();
                terms.push((product, k));
            }
        }
        let product = Expr::normal(terms, i128::from(self.constant) * i128::from(other.constant));
        (!product.is_overflow()).then_some(product)
    }
    /// The factor of a quantity in a term, if the term has it.
    pub(crate) fn factor(product: &[Sym], c: i64, of: Sym) -> Option<Expr> {
        let at = product.iter().position(|s| *s == of)?;
        let rest: Vec<Sym> = [&product[..at], &product[at + 1..]].concat();
        Some(if rest.is_empty() { Expr::int(c) } else { Expr { terms: vec![(rest, c)], constant: 0 } })
    }
    /// Whether all quantities have a property.
    pub(crate) fn all(&self, has: impl FnMut(&Sym) -> bool) -> bool {
        self.terms.iter().flat_map(|t| &t.0).all(has)
    }
    /// Its value, if it is a constant.
    pub(crate) fn as_int(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
    /// The expression with quantities replaced.
    pub(crate) fn replace(&self, of: &dyn Fn(Sym) -> Option<Expr>) -> Option<Expr> {
        let mut out = Expr::int(self.constant);
        for (product, c) in &self.terms {
            let mut term = Expr::int(*c);
            for s in product {
                term = term.mul(&of(*s)?)?;
            }
            out = out.add(&term);
        }
        (!out.is_overflow()).then_some(out)
    }
}

/// An integer value as an expression.
pub(crate) fn expr(func: &Function, defs: &Defs, v: Value) -> Expr {
    expr_at(func, defs, v, 0)
}

fn expr_at(func: &Function, defs: &Defs, v: Value, depth: u32) -> Expr {
    let opaque = Expr::sym(Sym::Val(v));
    if depth > MAX_DEPTH {
        return opaque;
    }
    let of = |v: Value| expr_at(func, defs, v, depth + 1);
    // Narrow integers wrap around, so only 64-bit integers are sums of their operands.
    let is_whole = func.ty(v).is_int() && func.ty(v).itemsize() == 8;
    let found = match defs.inst(func, v).filter(|inst| is_whole || matches!(inst, Inst::Const(_))) {
        Some(Inst::Const(lh_ir::Const::Int(i, _))) => i64::try_from(*i).ok().map(Expr::int),
        Some(Inst::Const(lh_ir::Const::Bool(b))) => Some(Expr::int((*b).into())),
        Some(Inst::Cast(x)) if func.ty(*x).is_int() => Some(of(*x)),
        Some(Inst::ArrayShape(a, d)) => Some(Expr::sym(Sym::Shape(*a, *d))),
        Some(Inst::ArrayStride(a, d)) => Some(Expr::sym(Sym::Stride(*a, *d))),
        Some(Inst::Op(op, args)) => match op.algebra {
            Algebra::Add => Some(of(args[0]).add(&of(args[1]))),
            Algebra::Sub => Some(of(args[0]).sub(&of(args[1]))),
            Algebra::Mul => of(args[0]).mul(&of(args[1])),
            Algebra::Negate => Some(of(args[0]).scale(-1)),
            Algebra::Select => unwrapped(func, defs, args).map(of),
            _ => None,
        },
        _ => None,
    };
    found.filter(|e| e.terms.len() <= MAX_TERMS && !e.is_overflow()).unwrap_or(opaque)
}

/// `x if not x < 0 else x + n`: an index that may count from the end.
fn unwrapped(func: &Function, defs: &Defs, args: &[Value]) -> Option<Value> {
    let Some(Inst::Op(op, compared)) = defs.inst(func, args[0]) else { return None };
    let is_wrapped = |sum: Value, x: Value| match defs.inst(func, sum) {
        Some(Inst::Op(op, parts)) => op.is(Algebra::Add) && parts.contains(&x),
        _ => false,
    };
    let counts = op.is(Algebra::Cmp(Cmp::Lt)) && compared[0] == args[2] && defs.int(func, compared[1]) == Some(0);
    (counts && is_wrapped(args[1], args[2])).then_some(args[2])
}
