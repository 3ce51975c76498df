//! Linear expressions of values that are invariant in a loop nest.

use lh_ir::Value;
use smallvec::SmallVec;

/// An unknown of a linear expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Leaf {
    /// An integer.
    Value(Value),
    /// An extent of an array, never negative.
    Shape(Value, u32),
    /// A product of two integers, the lesser one first.
    Product(Value, Value),
    /// A quantity of the launch's geometry: non-negative, and small.
    Launch(Value),
    /// A product of two such quantities, one of them an extent of a block, so that it is small, too.
    LaunchProduct(Value, Value),
}

impl Leaf {
    /// A product in its canonical form.
    pub(crate) fn product(a: Value, b: Value) -> Leaf {
        Leaf::Product(a.min(b), a.max(b))
    }
    /// The leaf with its values renamed.
    pub(crate) fn renamed(self, name: &dyn Fn(Value) -> Value) -> Leaf {
        match self {
            Leaf::Value(v) => Leaf::Value(name(v)),
            Leaf::Shape(v, d) => Leaf::Shape(name(v), d),
            Leaf::Product(a, b) => Leaf::product(name(a), name(b)),
            Leaf::Launch(v) => Leaf::Launch(name(v)),
            Leaf::LaunchProduct(a, b) => {
                let (a, b) = (name(a), name(b));
                Leaf::LaunchProduct(a.min(b), a.max(b))
            }
        }
    }
    /// Whether the leaf is non-negative.
    fn is_nonnegative(self) -> bool {
        matches!(self, Leaf::Shape(..)) || self.is_launch()
    }
    /// Whether the leaf is small for every launch, so that it needs no test.
    pub(crate) fn is_launch(self) -> bool {
        matches!(self, Leaf::Launch(_) | Leaf::LaunchProduct(..))
    }
}

/// `constant + sum of coefficient * leaf`, leaves in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Linear {
    pub constant: i64,
    /// The rest; no coefficient is 0.
    pub terms: SmallVec<[(Leaf, i64); 2]>,
}

/// Expressions with larger coefficients or more terms are not represented. With leaves below [`MAX_LEAF`] no sum
/// overflows.
const MAX_COEFFICIENT: i64 = 1 << 10;
const MAX_CONSTANT: i64 = 1 << 40;
const MAX_TERMS: usize = 8;
/// The magnitude of leaves must be below this.
pub(crate) const MAX_LEAF: i64 = 1 << 45;
/// The magnitude of factors of products must be below this, so that the product does not overflow.
pub(crate) const MAX_FACTOR: i64 = 1 << 31;

impl Linear {
    pub(crate) fn number(constant: i64) -> Linear {
        Linear { constant, terms: SmallVec::new() }
    }
    pub(crate) fn leaf(leaf: Leaf) -> Linear {
        Linear { constant: 0, terms: SmallVec::from_slice(&[(leaf, 1)]) }
    }
    /// The number, if it is one.
    pub(crate) fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }
    /// `self + factor * other`.
    pub(crate) fn plus(&self, other: &Linear, factor: i64) -> Option<Linear> {
        let mut out = self.clone();
        out.constant = out.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (leaf, c) in &other.terms {
            let c = c.checked_mul(factor)?;
            match out.terms.binary_search_by_key(leaf, |t| t.0) {
                Ok(i) => out.terms[i].1 = out.terms[i].1.checked_add(c)?,
                Err(i) => out.terms.insert(i, (*leaf, c)),
            }
        }
        out.terms.retain(|t| t.1 != 0);
        let small = out.terms.iter().all(|t| t.1.abs() <= MAX_COEFFICIENT) && out.constant.abs() <= MAX_CONSTANT;
        (small && out.terms.len() <= MAX_TERMS).then_some(out)
    }
    /// The expression with its values renamed.
    pub(crate) fn renamed(&self, name: &dyn Fn(Value) -> Value) -> Linear {
        let mut terms: SmallVec<[(Leaf, i64); 2]> = self.terms.iter().map(|(l, c)| (l.renamed(name), *c)).collect();
        terms.sort_unstable();
        Linear { constant: self.constant, terms }
    }
    pub(crate) fn plus_number(&self, n: i64) -> Option<Linear> {
        self.plus(&Linear::number(n), 1)
    }
    /// Whether the expression is certainly non-negative, because extents and quantities of the geometry are.
    pub(crate) fn is_nonnegative(&self) -> bool {
        self.constant >= 0 && self.terms.iter().all(|(l, c)| l.is_nonnegative() && *c > 0)
    }
    /// Whether the expression is certainly negative.
    pub(crate) fn is_negative(&self) -> bool {
        self.constant < 0 && self.terms.iter().all(|(l, c)| l.is_nonnegative() && *c < 0)
    }
}
