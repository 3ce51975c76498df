//! Recognises array reductions: accesses that update elements by one operator, whatever the index: `a[k] += x`.

use super::{ArrayReduce, Update};
use crate::analysis::effects::expr::{Expr, Sym};
use crate::analysis::effects::{Access, Effects, Kind, Root, has_no_effect};
use crate::parallel::carried::{Reduce, Use, call_op, is_exact};
use lh_ir::algebra::{Algebra, AnyOrder, Cmp};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, InstData, MapExpr, Term};
use lh_ir::{Block, Meaning, Op, Ty, Value};

/// The accesses to an array.
struct ArrayAccesses<'a> {
    effects: &'a Effects<'a>,
    uses: &'a [Vec<Use>],
    all: &'a [Access],
    mine: Vec<&'a Access>,
    dtype: Ty,
}

/// An update: operator, position of its read, the single-element form if there is one, and whether many elements are
/// updated.
type Updated = (Reduce, (Block, usize), Option<Update>, bool);

/// Recognises an array that all accesses update by one operator.
pub(super) fn reduction(effects: &Effects<'_>, uses: &[Vec<Use>], all: &[Access], array: Value) -> Option<ArrayReduce> {
    let (dtype, ..) = effects.func.ty(array).as_array()?;
    if !dtype.is_number() {
        return None;
    }
    let mine: Vec<&Access> = all.iter().filter(|a| a.root == Root::Value(array)).collect();
    let facts = ArrayAccesses { effects, uses, all, mine, dtype };
    let writes = facts.mine.iter().filter(|a| a.kind != Kind::Read);
    let updates: Vec<Updated> = writes.map(|w| facts.update(w)).collect::<Option<_>>()?;
    let how = updates.first()?.0;
    let is_explained = |r: &&Access| r.kind != Kind::Read || updates.iter().any(|u| u.1 == (r.block, r.at));
    let fits = !dtype.is_bool() || !matches!(how, Reduce::Add | Reduce::Mul);
    if !fits || updates.iter().any(|u| u.0 != how) || !facts.mine.iter().all(is_explained) {
        return None;
    }
    let is_whole = updates.iter().all(|u| u.3);
    let updates = updates.into_iter().map(|u| u.2).collect::<Option<_>>().unwrap_or_default();
    Some(ArrayReduce { array, how, updates, is_whole })
}

impl ArrayAccesses<'_> {
    fn inst(&self, v: Value) -> Option<&Inst> {
        self.effects.defs.inst(self.effects.func, v)
    }

    fn update(&self, w: &Access) -> Option<Updated> {
        let (effects, func) = (self.effects, self.effects.func);
        match &func.blocks[w.block.index()].insts[w.at].inst {
            Inst::MapInto(e, args) => {
                // A `Map` that is stored by `MapInto` counts as one computation.
                let (read, e, from) = match (&**e, self.inst(args[1])) {
                    (MapExpr::Arg(0, _), Some(Inst::Map(e, from))) => (self.place_of(args[1])?, e, &from[..]),
                    _ => ((w.block, w.at), e, &args[1..]),
                };
                let is_same = |a: &Value| *a == args[0] || effects.same_view(*a, args[0]);
                let how = operator_of(effects, e, from.iter().position(is_same)? as u32)?;
                // The write must have exactly one read.
                let is_read = |r: &&&Access| r.kind == Kind::Read && (r.block, r.at) == read;
                (self.mine.iter().filter(is_read).count() == 1).then_some((how, read, None, true))
            }
            Inst::Store(_, v) => {
                let is_read = |r: &&&Access| r.kind == Kind::Read && same_index(effects, self.all, &r.index, &w.index);
                self.mine.iter().filter(is_read).find_map(|r| {
                    let d = &func.blocks[r.block.index()].insts[r.at];
                    let old = d.result.filter(|_| matches!(d.inst, Inst::Load(_)))?;
                    let (how, operand) = self.element_update(w, *v, old)?;
                    // An atomic operation needs the read and the write in one block, without other writes in between.
                    let is_between =
                        |x: &Access| x.kind != Kind::Read && x.block == w.block && r.at < x.at && x.at < w.at;
                    let is_atomic = r.block == w.block && !self.mine.iter().copied().any(is_between);
                    let (block, at) = (w.block, w.at);
                    let update = |(operand, negative)| Update { block, at, operand, negative };
                    Some((how, (r.block, r.at), operand.filter(|_| is_atomic).map(update), false))
                })
            }
            _ => None,
        }
    }

    /// The place of a value with a single use.
    fn place_of(&self, v: Value) -> Option<(Block, usize)> {
        let b = self.effects.defs.block(v)?;
        let at = self.effects.func.blocks[b.index()].insts.iter().position(|d| d.result == Some(v))?;
        (self.uses[v.index()].len() == 1).then_some((b, at))
    }

    /// How a stored value depends on the loaded one, which must have no other use: the operator, and for rows the other
    /// operand and whether it is subtracted.
    fn element_update(&self, w: &Access, v: Value, old: Value) -> Option<(Reduce, Option<(Value, bool)>)> {
        let (all, branches) = self.dependents(w, old)?;
        match branches[..] {
            [] => {}
            [from] => return self.guarded_store(w, v, old, &all, from).map(|how| (how, None)),
            _ => return None,
        }
        let is_step = |v: &&Value| !matches!(self.inst(**v), Some(Inst::Cast(_) | Inst::Field(..) | Inst::Pack(_)));
        let steps: Vec<Value> = all[1..].iter().filter(is_step).copied().collect();
        let core = self.unconverted(v);
        let ty = self.effects.func.ty(core);
        let is_old = |a: &Value| self.unconverted(*a) == old;
        match (self.inst(core)?, steps.len()) {
            (Inst::Call(f, args), 1) => {
                let is_one = args.iter().filter(|a| all.contains(a)).count() == 1 && args.iter().any(is_old);
                let fits = is_one && args.iter().all(|a| self.effects.func.ty(*a).strong() == ty.strong());
                call_op(*f, ty, self.effects.callees).filter(|_| fits).map(|how| (how, None))
            }
            (Inst::Pack(parts), n) if self.dtype.is_complex() => {
                self.complex_sum(parts, old, &all, n).then_some((Reduce::Add, None))
            }
            (Inst::Op(op, args), 2) if op.is(Algebra::Select) => {
                let operand = *args[1..].iter().find(|a| !all.contains(a))?;
                let how = self.selected(args, old, &all).filter(|_| !self.is_truncated(ty))?;
                Some((how, Some((operand, false))))
            }
            (Inst::Op(op, args), 1) if args.iter().filter(|a| all.contains(a)).count() == 1 => {
                let how = row_operator(op, is_old(&args[0])).filter(|how| how.modular() || !self.is_truncated(ty))?;
                let operand = *args.iter().find(|a| !all.contains(a)).filter(|_| args.iter().any(is_old))?;
                Some((how, Some((operand, op.is(Algebra::Sub)))))
            }
            _ => None,
        }
    }

    /// All values computed from a loaded element up to the store, if there is no other use, and branches on them.
    fn dependents(&self, w: &Access, old: Value) -> Option<(Vec<Value>, Vec<Block>)> {
        let (mut all, mut branches, mut at) = (vec![old], Vec::new(), 0);
        while at < all.len() {
            for u in &self.uses[all[at].index()] {
                match *u {
                    Use::Inst(b, i) if (b, i) == (w.block, w.at) => {}
                    Use::Inst(b, i) => {
                        let d = &self.effects.func.blocks[b.index()].insts[i];
                        let next = d.result.filter(|_| has_no_effect(&d.inst, self.effects.callees))?;
                        all.extend(Some(next).filter(|v| !all.contains(v)));
                    }
                    Use::Branch(b) => branches.push(b),
                    Use::Arg(..) | Use::Other => return None,
                }
            }
            at += 1;
        }
        Some((all, branches))
    }

    /// Whether an integer is stored with another width than that of the computation, which only ring operators allow.
    fn is_truncated(&self, ty: Ty) -> bool {
        ty.is_int() && ty.strong() != self.dtype.strong()
    }

    /// Recognises `if x > old: old = x`, where the condition guards nothing but the store.
    fn guarded_store(&self, w: &Access, v: Value, old: Value, all: &[Value], from: Block) -> Option<Reduce> {
        let data = |b: Block| &self.effects.func.blocks[b.index()];
        let Some(Term::Branch { cond, then, els }) = &data(from).term else { return None };
        let has_no_effect = |(i, d): (usize, &InstData)| i == w.at || has_no_effect(&d.inst, self.effects.callees);
        let is_alone = data(w.block).insts.iter().enumerate().all(has_no_effect);
        let (Some(Term::Jump(end)), other) = (&data(w.block).term, data(els.block)) else { return None };
        let passes = other.insts.is_empty() && other.params.is_empty() && other.term == data(w.block).term;
        let is_one_way = then.block == w.block && Cfg::new(self.effects.func).preds(w.block).len() == 1;
        let (op, compared) = self.row_of(*cond)?;
        let [a, b] = *compared else { return None };
        let in_order = (self.unconverted(a), self.unconverted(b)) == (self.unconverted(v), old);
        let swapped = (self.unconverted(a), self.unconverted(b)) == (old, self.unconverted(v));
        let steps = all.iter().filter(|v| self.unconverted(**v) != old).count();
        let fits =
            steps == 1 && !all.contains(&v) && !self.is_truncated(self.effects.func.ty(a)) && (in_order || swapped);
        extremum(op, in_order).filter(|_| fits && is_alone && is_one_way && (passes || els == end))
    }

    /// Whether a complex element is a sum of the old one and another number, by real and imaginary parts.
    fn complex_sum(&self, parts: &[Value], old: Value, all: &[Value], steps: usize) -> bool {
        let mut sums = 0;
        let fits = parts.iter().zip(0..).all(|(part, k)| {
            let is_old =
                |a: Value| matches!(self.inst(self.unconverted(a)), Some(Inst::Field(x, i)) if self.unconverted(*x) == old && *i == k);
            let is_sum = self.row_of(*part).is_some_and(|(op, args)| {
                let n = args.iter().filter(|a| all.contains(a)).count();
                n == 1 && args.iter().any(|a| is_old(*a)) && row_operator(op, is_old(args[0])) == Some(Reduce::Add)
            });
            sums += usize::from(is_sum);
            is_sum || is_old(*part)
        });
        fits && sums == steps && sums > 0
    }

    fn row_of(&self, v: Value) -> Option<(&'static Op, &[Value])> {
        match self.inst(self.unconverted(v))? {
            Inst::Op(op, args) => Some((op, args)),
            _ => None,
        }
    }

    /// The value behind conversions between widths of one kind of number.
    fn unconverted(&self, v: Value) -> Value {
        let ty = |v: Value| self.effects.func.ty(v);
        let part = |v: &Value, k: u32| match self.inst(*v) {
            Some(Inst::Cast(x)) => match self.inst(*x) {
                Some(Inst::Field(whole, i)) if *i == k => Some(*whole),
                _ => None,
            },
            _ => None,
        };
        match self.inst(v) {
            Some(Inst::Cast(x)) if (ty(*x).is_float() && ty(v).is_float()) || (ty(*x).is_int() && ty(v).is_int()) => {
                self.unconverted(*x)
            }
            Some(Inst::Cast(x)) if ty(*x).strong() == ty(v).strong() => self.unconverted(*x),
            Some(Inst::Pack(parts)) if ty(v).is_complex() => match (part(&parts[0], 0), part(&parts[1], 1)) {
                (Some(x), Some(y)) if x == y => self.unconverted(x),
                _ => v,
            },
            _ => v,
        }
    }

    /// Recognises the maximum or minimum of the old value and another, as a comparison and a select.
    fn selected(&self, args: &[Value], old: Value, all: &[Value]) -> Option<Reduce> {
        let (op, compared) = self.row_of(args[0])?;
        let is_same = |a: Value, b: Value| self.unconverted(a) == self.unconverted(b);
        let [a, b] = *compared else { return None };
        let in_order = is_same(a, args[1]) && is_same(b, args[2]);
        let swapped = is_same(a, args[2]) && is_same(b, args[1]);
        let is_old = |v: Value| self.unconverted(v) == old;
        let is_one = |x: Value, y: Value| is_old(x) != is_old(y) && all.contains(&x) != all.contains(&y);
        if !(in_order || swapped) || !is_one(a, b) || !is_one(args[1], args[2]) {
            return None;
        }
        // If the old value survives a true comparison, a NaN replaces it, and the result depends on the order.
        if is_old(args[1]) && is_exact(self.effects.func, old) {
            return None;
        }
        extremum(op, in_order)
    }
}

/// The operator by which an elementwise expression combines an operand, read once, with others. Complex sums are the
/// operator `add`, too.
pub(crate) fn operator_of(effects: &Effects<'_>, e: &MapExpr, arg: u32) -> Option<Reduce> {
    fn reads(e: &MapExpr, arg: u32) -> usize {
        match e {
            MapExpr::Arg(i, _) => usize::from(*i == arg),
            MapExpr::Const(_) => 0,
            MapExpr::Cast(_, e) => reads(e, arg),
            MapExpr::Op(_, _, es) | MapExpr::Call(_, _, es) => es.iter().map(|e| reads(e, arg)).sum(),
        }
    }
    // The computation may be wider than the element.
    let kinds = |t: Ty| (t.is_float(), t.is_complex(), t.is_int());
    let inner = match e {
        MapExpr::Cast(ty, inner) if kinds(inner.ty()) == kinds(*ty) => inner,
        _ => e,
    };
    let is_arg = |x: &MapExpr| match x {
        MapExpr::Arg(i, _) => *i == arg,
        MapExpr::Cast(t, x) => matches!(**x, MapExpr::Arg(i, ty) if i == arg && kinds(ty) == kinds(*t)),
        _ => false,
    };
    let (MapExpr::Op(.., es) | MapExpr::Call(.., es)) = inner else { return None };
    let first = es.first().is_some_and(is_arg);
    if !es.iter().any(is_arg) || reads(inner, arg) != 1 {
        return None;
    }
    let is_truncated = e.ty().is_int() && e.ty().strong() != inner.ty().strong();
    match inner {
        MapExpr::Op(op, ..) => row_operator(op, first).filter(|how| how.modular() || !is_truncated),
        MapExpr::Call(f, ty, _) => match (effects.callees)(*f)?.meaning? {
            Meaning::ComplexSum => Some(Reduce::Add),
            Meaning::ComplexDifference => first.then_some(Reduce::Add),
            _ => call_op(*f, *ty, effects.callees).filter(|_| es.iter().all(|e| e.ty() == *ty)),
        },
        MapExpr::Arg(..) | MapExpr::Const(_) | MapExpr::Cast(..) => None,
    }
}

/// Whether two indices are equal, or loads of equal elements from arrays that the loop does not write.
fn same_index(effects: &Effects<'_>, all: &[Access], a: &[Option<Expr>], b: &[Option<Expr>]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => a == b || same_element(effects, all, a, b),
            _ => false,
        })
}

fn same_element(effects: &Effects<'_>, all: &[Access], a: &Expr, b: &Expr) -> bool {
    let only = |e: &Expr| match &e.terms[..] {
        [(product, 1)] => match product[..] {
            [Sym::Val(v)] => Some((v, e.constant)),
            _ => None,
        },
        _ => None,
    };
    let (Some((x, c)), Some((y, d))) = (only(a), only(b)) else { return false };
    let (Some(Inst::Load(p)), Some(Inst::Load(q))) =
        (effects.defs.inst(effects.func, x), effects.defs.inst(effects.func, y))
    else {
        return false;
    };
    let (p, q) = (effects.of_address(*p), effects.of_address(*q));
    let ([p], [q]) = (&p[..], &q[..]) else { return false };
    let is_written = all.iter().any(|w| w.kind != Kind::Read && w.root == p.root);
    c == d && p.root == q.root && !is_written && same_index(effects, all, &p.index, &q.index)
}

fn row_operator(op: &'static Op, first: bool) -> Option<Reduce> {
    Some(match op.algebra {
        Algebra::Add | Algebra::AnyOrder(AnyOrder::Add) => Reduce::Add,
        Algebra::Sub if first => Reduce::Add,
        Algebra::Mul => Reduce::Mul,
        Algebra::Divide if first => Reduce::Mul,
        Algebra::And => Reduce::And,
        Algebra::Or => Reduce::Or,
        Algebra::Xor => Reduce::Xor,
        Algebra::Max(_) | Algebra::Min(_) => Reduce::Row(op),
        _ => return None,
    })
}

/// The operator of a select between a comparison's operands.
fn extremum(op: &'static Op, in_order: bool) -> Option<Reduce> {
    match op.comparison()? {
        Cmp::Gt | Cmp::Ge => Some(if in_order { Reduce::Max } else { Reduce::Min }),
        Cmp::Lt | Cmp::Le => Some(if in_order { Reduce::Min } else { Reduce::Max }),
        Cmp::Eq | Cmp::Ne => None,
    }
}

/// Whether an access stores a view into itself, as the last step of `a[i, :] += x` does.
pub(super) fn stores_into_itself(effects: &Effects<'_>, a: &Access) -> bool {
    let Inst::MapInto(e, args) = &effects.func.blocks[a.block.index()].insts[a.at].inst else { return false };
    let [to, from] = args[..] else { return false };
    matches!(**e, MapExpr::Arg(0, _)) && effects.same_view(to, from)
}
