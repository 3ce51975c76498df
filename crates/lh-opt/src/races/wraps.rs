//! What proofs take for granted, to be looked at when the loop runs: that indices of an array do not count from the end
//! here and from the front there (`a[-1 - i] = a[i]`), and that what the loop's index is multiplied by is not 0.

use super::Judge;
use crate::effects::expr::{Expr, Sym};
use crate::effects::{Access, Kind, Root};
use lh_ir::func::Inst;

impl Judge<'_> {
    /// Expressions that are at least 0 if what the proofs take for granted holds.
    pub(super) fn conditions(&self, accesses: &[Access]) -> Vec<Expr> {
        let (mut out, one) = (Vec::new(), Expr::int(1));
        let is_written = |a: &Access| accesses.iter().any(|w| w.kind != Kind::Read && w.root == a.root);
        for a in accesses.iter().filter(|a| is_written(a)) {
            let alone = accesses.iter().filter(|x| x.root == a.root).all(|x| x.index == a.index);
            for (e, n) in self.counted_from_the_end(a) {
                let split = self.split(&e).filter(|s| s.inner.is_empty() && s.factor.as_int().is_none());
                out.extend(split.and_then(|s| s.factor.mul(&s.factor)).map(|square| square.sub(&one)));
                let (least, most) = (self.at_both_ends(&e, false), self.at_both_ends(&e, true));
                match (n.filter(|_| alone), &least[..], &most[..]) {
                    (_, [a, b], _) if [a, b].iter().all(|e| e.as_int().is_some_and(|n| n >= 0)) => {}
                    // From the first to the last there are no more than all.
                    (Some(n), [a, b], [c, d]) => out.extend([n.sub(&one).sub(d).add(a), n.sub(&one).sub(c).add(b)]),
                    _ => out.extend(least),
                }
            }
        }
        out.sort_by_cached_key(|e| format!("{e:?}"));
        out.dedup();
        out
    }

    /// Indices of an access that may count from the end, with how many elements there are if that is all of the array.
    fn counted_from_the_end(&self, a: &Access) -> Vec<(Expr, Option<Expr>)> {
        let Root::Value(root) = a.root else { return Vec::new() };
        let (is_all, of_part) = match &self.func.blocks[a.block.index()].insts[a.at].inst {
            Inst::Call(_, args) => (args.contains(&root), Vec::new()),
            Inst::Load(p) | Inst::Store(p, _) => match self.defs.inst(self.func, *p) {
                Some(Inst::ElemPtr { array, .. }) if *array == root => (true, Vec::new()),
                Some(Inst::ElemPtr { index, .. }) => (false, index.iter().map(|v| (self.of(*v), None)).collect()),
                _ => (false, Vec::new()),
            },
            _ => (false, Vec::new()),
        };
        let is_array = is_all && self.func.ty(root).as_array().is_some();
        let length = |k| is_array.then(|| Expr::sym(Sym::Shape(root, k)));
        let all = (0..).zip(&a.index).filter_map(|(k, e)| Some((e.clone()?, length(k))));
        all.chain(of_part).collect()
    }

    /// The least or greatest value in the first and in the last iteration, if it is known before the loop.
    fn at_both_ends(&self, e: &Expr, up: bool) -> Vec<Expr> {
        let Some((e, _)) = self.limits(e, up, &|_| true) else { return Vec::new() };
        let of = |at: &Expr| e.replace(&|s| Some(if s == Sym::Val(self.index) { at.clone() } else { Expr::sym(s) }));
        let ends = [Expr::int(0), self.limit.sub(&Expr::int(1))].map(|at| of(&at).filter(|e| self.is_all_fixed(e)));
        ends.into_iter().collect::<Option<_>>().unwrap_or_default()
    }
}
