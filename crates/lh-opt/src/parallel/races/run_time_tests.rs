//! Conflicts that a test before the loop may exclude.
//!
//! ```text
//! out[k[i]] = a[i]                ; independent if the items of `k` differ
//! out[b[i]:e[i]] = a[i]           ; independent if each interval begins where one before has ended, or later
//! for j in range(b[i], b[i + 1]): ; the same
//! x[i] = y[i + 1]                 ; as the program says if `x` and `y` do not overlap
//! ```
//!
//! Arrays of different variables may be one memory if both come from outside of the function. Of those that an
//! iteration writes, each pair with another array is tested; if all accesses are also independent when both are the
//! same array, they may be just that.

use super::{ArrayReduce, Conflict, Judge, Need, expr};
use crate::analysis::effects::expr::{Expr, Sym};
use crate::analysis::effects::{Access, Kind, Root};
use crate::edit::overlap::may_overlap_itself;
use lh_ir::func::Inst;
use lh_ir::{Span, Value};

/// Integers of an array from before the loop, one for each iteration, which the loop does not change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) array: Value,
    /// The place of the first one, along each dimension, and the steps to that of the next iteration.
    pub(crate) at: Vec<(Expr, i64)>,
    /// The loop adds this to each.
    pub(crate) offset: Expr,
}

impl Judge<'_> {
    /// A test that excludes that two accesses meet in different iterations, if there is one.
    pub(super) fn test_of(&self, w: &Access, x: &Access, accesses: &[Access]) -> Option<Need> {
        let Root::Value(root) = w.root else { return None };
        self.func.ty(root).as_array()?;
        if !self.is_before(root) {
            return None;
        }
        let ends = |e: &Expr| {
            let table = |e: &Expr| self.table(&self.expand_slices(e), accesses);
            let low = table(&self.bound(e, false, &|_| true)?.0)?;
            Some((low, table(&self.bound(e, true, &|_| true)?.0.add(&Expr::int(1)))?))
        };
        w.index.iter().zip(&x.index).enumerate().find_map(|(dim, (a, b))| {
            let (a, b) = (a.as_ref()?, b.as_ref()?);
            if let (Some(t), Some(other)) = (self.table(a, accesses), self.table(b, accesses)) {
                let counts_back = [w, x].iter().all(|access| self.length(access, dim).is_some());
                return (t == other).then_some(Need::Distinct { table: t, array: root, dim: dim as u32, counts_back });
            }
            let (begin, end) = ends(a)?;
            (ends(b)? == (begin.clone(), end.clone())).then_some(Need::InTurn(begin, end))
        })
    }

    /// The table that has an expression's value for each iteration.
    fn table(&self, e: &Expr, accesses: &[Access]) -> Option<Table> {
        let mut varying = e.terms.iter().filter(|(product, _)| !product.iter().all(|s| self.is_invariant(s)));
        let (&[Sym::Val(mut v)], 1) = varying.next().map(|(product, c)| (&product[..], *c))? else { return None };
        if varying.next().is_some() {
            return None;
        }
        let offset = e.sub(&Expr::sym(Sym::Val(v)));
        while let Some(Inst::Cast(from)) = self.defs.inst(self.func, v) {
            if !self.func.ty(*from).is_int() || self.func.ty(v).itemsize() < self.func.ty(*from).itemsize() {
                return None;
            }
            v = *from;
        }
        let Some(Inst::Load(p)) = self.defs.inst(self.func, v) else { return None };
        let Some(Inst::ElemPtr { array, index, .. }) = self.defs.inst(self.func, *p) else { return None };
        let (dtype, ..) = self.func.ty(*array).as_array()?;
        if self.inside[array.index()] || !dtype.is_int() {
            return None;
        }
        let places = index.iter().map(|i| {
            let split = self.split(&expr(self.func, self.defs, *i)).filter(|s| s.inner.is_empty())?;
            Some((split.fixed, split.factor.as_int()?))
        });
        let at = places.collect::<Option<Vec<(Expr, i64)>>>()?;
        let of_table = self.effects().of_address(*p);
        let is_changed = |root: Root| accesses.iter().any(|a| a.kind != Kind::Read && a.root == root);
        let is_known = |root: Root| matches!(root, Root::Value(_)) && !is_changed(root);
        let is_constant = of_table.iter().all(|place| is_known(place.root));
        (is_constant && at.iter().any(|(_, step)| *step != 0)).then_some(Table { array: *array, at, offset })
    }

    /// Tests that arrays which the program has under several names are several, and that arrays which the loop writes
    /// do not overlap themselves; a conflict where there is no such test.
    pub(super) fn alias_tests(
        &self,
        accesses: &[Access],
        updated: &[ArrayReduce],
    ) -> Result<Vec<(Need, Span)>, Conflict> {
        let mut roots: Vec<Value> = Vec::new();
        for a in accesses {
            if let Root::Value(v) = a.root
                && !roots.contains(&v)
                && self.func.ty(v).as_array().is_some()
            {
                roots.push(v);
            }
        }
        let of = |v: Value| accesses.iter().filter(move |a| a.root == Root::Value(v));
        let write = |v: Value| of(v).find(|a| a.kind != Kind::Read);
        let mut out = Vec::new();
        for (i, v) in roots.iter().enumerate() {
            for other in &roots[..=i] {
                let Some(first) = write(*v).or_else(|| write(*other)) else { continue };
                let is_in_doubt =
                    if v == other { may_overlap_itself(self.func.ty(*v)) } else { self.may_be_one(*v, *other) };
                if !is_in_doubt {
                    continue;
                }
                if !self.is_before(*v) || !self.is_before(*other) {
                    let text = "writes to an array that may overlap with another one".to_owned();
                    return Err(Conflict::of_elements(text, first.span, false));
                }
                if v == other {
                    out.push((Need::Apart(*v, *v, false), first.span));
                    continue;
                }
                let is_updated = |v: Value| updated.iter().any(|a| a.array == v);
                let meet = |a: &Access| {
                    let against = of(*other).filter(|b| a.kind != Kind::Read || b.kind != Kind::Read);
                    against.into_iter().any(|b| self.are_independent(a, b).is_none_or(|needs| !needs.is_empty()))
                };
                let is_alike = self.func.ty(*v) == self.func.ty(*other) && !is_updated(*v) && !is_updated(*other);
                out.push((Need::Apart(*v, *other, is_alike && !of(*v).any(meet)), first.span));
            }
        }
        Ok(out)
    }

    /// Whether a value can be read before the loop; a field of a parameter is read anew.
    fn is_before(&self, v: Value) -> bool {
        let is_field = matches!(self.defs.inst(self.func, v), Some(Inst::Field(..)));
        is_field || self.defs.reaches(&self.dom, v, self.region.header)
    }

    /// Whether two arrays may have memory in common: both come from outside, or one is the field of an object or made
    /// of others.
    fn may_be_one(&self, a: Value, b: Value) -> bool {
        let is_field = |v: Value| matches!(self.defs.inst(self.func, v), Some(Inst::Load(_)));
        let is_given = |v: Value| matches!(self.defs.inst(self.func, v), None | Some(Inst::Field(..)));
        let effects = self.effects();
        let is_lent = |v: Value| effects.is_lent(v);
        is_field(a) || is_field(b) || is_given(a) && is_given(b) || is_lent(a) || is_lent(b)
    }
}
