//! Integers as sums of products: what indices are made of.

use crate::counted::Defs;
use lh_ir::func::Inst;
use lh_ir::{Function, Value};
use serde::{Deserialize, Serialize};

/// A quantity that is not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Sym {
    /// A value.
    Val(Value),
    /// An extent of an array.
    Shape(Value, u32),
    /// A stride of an array.
    Stride(Value, u32),
    /// Anything from 0 to below a value: a dimension of that extent is gone over as a whole.
    Within(Value),
}

/// `constant + sum(coefficient * product of quantities)`; terms are sorted and their coefficients not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Expr {
    pub(crate) terms: Vec<(Vec<Sym>, i64)>,
    pub(crate) constant: i64,
}

/// The most terms of an expression; what has more is a quantity of its own.
const MAX_TERMS: usize = 8;
/// The deepest definition that is looked at.
const MAX_DEPTH: u32 = 24;

impl Expr {
    /// A constant.
    pub(crate) fn int(constant: i64) -> Expr {
        Expr { terms: Vec::new(), constant }
    }
    /// A quantity.
    pub(crate) fn sym(s: Sym) -> Expr {
        Expr { terms: vec![(vec![s], 1)], constant: 0 }
    }
    fn normal(mut terms: Vec<(Vec<Sym>, i64)>, constant: i64) -> Expr {
        terms.sort();
        let mut out: Vec<(Vec<Sym>, i64)> = Vec::new();
        for (product, c) in terms {
            match out.last_mut() {
                Some(last) if last.0 == product => last.1 = last.1.wrapping_add(c),
                _ => out.push((product, c)),
            }
        }
        out.retain(|t| t.1 != 0);
        Expr { terms: out, constant }
    }
    /// Sum.
    pub(crate) fn add(&self, other: &Expr) -> Expr {
        let terms = self.terms.iter().chain(&other.terms).cloned().collect();
        Expr::normal(terms, self.constant.wrapping_add(other.constant))
    }
    /// Multiple.
    pub(crate) fn scale(&self, c: i64) -> Expr {
        let terms = self.terms.iter().map(|(p, k)| (p.clone(), k.wrapping_mul(c))).collect();
        Expr::normal(terms, self.constant.wrapping_mul(c))
    }
    /// Difference.
    pub(crate) fn sub(&self, other: &Expr) -> Expr {
        self.add(&other.scale(-1))
    }
    /// Product, unless it has too many terms.
    pub(crate) fn mul(&self, other: &Expr) -> Option<Expr> {
        if self.terms.len() * other.terms.len() > MAX_TERMS {
            return None;
        }
        let mut sum = other.scale(self.constant);
        for (p, c) in &self.terms {
            let with_constant = (p.clone(), c.wrapping_mul(other.constant));
            sum.terms.push(with_constant);
            for (q, k) in &other.terms {
                let mut product = p.clone();
                product.extend(q);
                product.sort();
                sum.terms.push((product, c.wrapping_mul(*k)));
            }
        }
        Some(Expr::normal(sum.terms, sum.constant))
    }
    /// The constant that it is.
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
        Some(out)
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
    // What is computed in fewer bits comes round to where it was: only whole numbers are sums of their parts.
    let is_whole = func.ty(v).is_int() && func.ty(v).itemsize() == 8;
    let found = match defs.inst(func, v).filter(|inst| is_whole || matches!(inst, Inst::Const(_))) {
        Some(Inst::Const(lh_ir::Const::Int(i, _))) => i64::try_from(*i).ok().map(Expr::int),
        Some(Inst::Const(lh_ir::Const::Bool(b))) => Some(Expr::int((*b).into())),
        Some(Inst::Cast(x)) if func.ty(*x).is_int() => Some(of(*x)),
        Some(Inst::ArrayShape(a, d)) => Some(Expr::sym(Sym::Shape(*a, *d))),
        Some(Inst::ArrayStride(a, d)) => Some(Expr::sym(Sym::Stride(*a, *d))),
        Some(Inst::Op(op, args)) => match op.name {
            "add" => Some(of(args[0]).add(&of(args[1]))),
            "sub" => Some(of(args[0]).sub(&of(args[1]))),
            "mul" => of(args[0]).mul(&of(args[1])),
            "neg" => Some(of(args[0]).scale(-1)),
            "select" => unwrapped(func, defs, args).map(of),
            _ => None,
        },
        _ => None,
    };
    found.filter(|e| e.terms.len() <= MAX_TERMS).unwrap_or(opaque)
}

/// `x if not x < 0 else x + n`: an index that may count from the end.
fn unwrapped(func: &Function, defs: &Defs, args: &[Value]) -> Option<Value> {
    let Some(Inst::Op(op, compared)) = defs.inst(func, args[0]) else { return None };
    let is_wrapped = |sum: Value, x: Value| match defs.inst(func, sum) {
        Some(Inst::Op(op, parts)) => op.name == "add" && parts.contains(&x),
        _ => false,
    };
    let counts = op.name == "lt" && compared[0] == args[2] && defs.int(func, compared[1]) == Some(0);
    (counts && is_wrapped(args[1], args[2])).then_some(args[2])
}
