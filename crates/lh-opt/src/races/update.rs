//! Accesses that update an element by one operation, whatever the element: `a[k] += x`.

use super::Update;
use crate::effects::expr::{Expr, Sym};
use crate::effects::{Access, Effects, Kind, Root, combines};
use crate::outline_parallel::carried::Reduce;
use lh_ir::func::{Inst, MapExpr};
use lh_ir::{Op, Value};

/// The operation by which all accesses to an array update it, and where they update single elements.
pub(super) fn reduction(effects: &Effects<'_>, accesses: &[Access], array: Value) -> Option<(Reduce, Vec<Update>)> {
    let (dtype, ..) = effects.func.ty(array).as_array()?;
    if !dtype.is_number() || dtype.is_complex() || dtype.is_bool() {
        return None;
    }
    let mine: Vec<&Access> = accesses.iter().filter(|a| a.root == Root::Value(array)).collect();
    let mut how = None;
    let (mut reads_explained, mut updates) = (Vec::new(), Vec::new());
    for w in mine.iter().filter(|a| a.kind != Kind::Read) {
        let (one, read, element) = update(effects, accesses, &mine, w)?;
        updates.push(element);
        if *how.get_or_insert(one) != one {
            return None;
        }
        reads_explained.push(read);
    }
    let all_explained =
        mine.iter().filter(|a| a.kind == Kind::Read).all(|a| reads_explained.contains(&(a.block, a.at)));
    let updates = updates.into_iter().collect::<Option<Vec<Update>>>().unwrap_or_default();
    how.filter(|_| all_explained).map(|how| (how, updates))
}

/// The operation of a write that updates, the read that belongs to it, and what is done to a single element.
fn update(
    effects: &Effects<'_>,
    all: &[Access],
    mine: &[&Access],
    w: &Access,
) -> Option<(Reduce, (lh_ir::Block, usize), Option<Update>)> {
    let func = effects.func;
    match &func.blocks[w.block.index()].insts[w.at].inst {
        Inst::MapInto(e, args) => {
            let arg = args[1..].iter().position(|a| *a == args[0])? as u32;
            let op = combines(e, arg)?;
            // The others come from elsewhere.
            if mine.iter().filter(|r| r.kind == Kind::Read && (r.block, r.at) == (w.block, w.at)).count() != 1 {
                return None;
            }
            let first = matches!(&**e, MapExpr::Op(_, _, es) if matches!(es[0], MapExpr::Arg(i, _) if i == arg));
            Some((group(op, first)?, (w.block, w.at), None))
        }
        Inst::Store(_, v) => {
            let (op, args) = row_of(effects, *v)?;
            for r in mine.iter().filter(|r| r.kind == Kind::Read && same_index(effects, all, &r.index, &w.index)) {
                let d = &func.blocks[r.block.index()].insts[r.at];
                let (Inst::Load(_), Some(old)) = (&d.inst, d.result) else { continue };
                let how = match op.name {
                    "select" => chosen(effects, args, old),
                    _ if args.iter().filter(|a| **a == old).count() == 1 => group(op, args[0] == old),
                    _ => None,
                };
                let uses = if op.name == "select" { 2 } else { 1 };
                if let Some(how) = how.filter(|_| crate::edit::use_counts(func)[old.index()] == uses) {
                    let operand = *args[args.len() - 2..].iter().find(|a| **a != old)?;
                    let negative = op.name == "sub";
                    let element = Update { block: w.block, at: w.at, operand, negative };
                    return Some((how, (r.block, r.at), Some(element)));
                }
            }
            None
        }
        _ => None,
    }
}

/// Whether two indices are the same, or read the same elements of arrays that the loop does not write.
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

fn row_of<'e>(effects: &'e Effects<'_>, v: Value) -> Option<(&'static Op, &'e [Value])> {
    match effects.defs.inst(effects.func, v)? {
        Inst::Op(op, args) => Some((op, args)),
        Inst::Cast(x) if effects.func.ty(*x).strong() == effects.func.ty(v).strong() => row_of(effects, *x),
        _ => None,
    }
}

fn group(op: &'static Op, first: bool) -> Option<Reduce> {
    Some(match op.name {
        "add" => Reduce::Add,
        "sub" if first => Reduce::Add,
        "mul" => Reduce::Mul,
        "fdiv" if first => Reduce::Mul,
        "and" => Reduce::And,
        "or" => Reduce::Or,
        "xor" => Reduce::Xor,
        "maxnum" | "minnum" | "maximum" | "minimum" => Reduce::Row(op),
        _ => return None,
    })
}

/// `max(old, x)` or `min(old, x)` as a comparison and a choice.
fn chosen(effects: &Effects<'_>, args: &[Value], old: Value) -> Option<Reduce> {
    let (op, compared) = row_of(effects, args[0])?;
    let in_order = (compared[0], compared[1]) == (args[1], args[2]);
    let swapped = (compared[0], compared[1]) == (args[2], args[1]);
    if !(in_order || swapped) || (args[1] == old) == (args[2] == old) {
        return None;
    }
    match op.name {
        "gt" | "ge" => Some(if in_order { Reduce::Max } else { Reduce::Min }),
        "lt" | "le" => Some(if in_order { Reduce::Min } else { Reduce::Max }),
        _ => None,
    }
}

/// A part of an array that is stored where it comes from, as `a[i, :] += x` does at its end.
pub(super) fn is_copy_of_itself(effects: &Effects<'_>, a: &Access) -> bool {
    let Inst::MapInto(e, args) = &effects.func.blocks[a.block.index()].insts[a.at].inst else { return false };
    let [to, from] = args[..] else { return false };
    matches!(**e, MapExpr::Arg(0, _)) && effects.same_view(to, from)
}
