//! Accesses that update an element by one operation, whatever the element: `a[k] += x`.

use super::Update;
use crate::effects::expr::{Expr, Sym};
use crate::effects::{Access, Effects, Kind, Root};
use crate::outline_parallel::carried::{Reduce, is_exact};
use lh_ir::cfg::Cfg;
use lh_ir::func::{Inst, MapExpr, Term};
use lh_ir::{Block, Op, Value};

/// The operation by which all accesses to an array update it, and where they update single elements.
pub(super) fn reduction(effects: &Effects<'_>, accesses: &[Access], array: Value) -> Option<(Reduce, Vec<Update>)> {
    let (dtype, ..) = effects.func.ty(array).as_array()?;
    if !dtype.is_number() {
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
    let fits = |how: &Reduce| !dtype.is_bool() || matches!(how, Reduce::And | Reduce::Or);
    how.filter(|how| all_explained && fits(how)).map(|how| (how, updates))
}

/// The operation of a write that updates, the read that belongs to it, and what is done to a single element.
fn update(
    effects: &Effects<'_>,
    all: &[Access],
    mine: &[&Access],
    w: &Access,
) -> Option<(Reduce, (Block, usize), Option<Update>)> {
    let func = effects.func;
    match &func.blocks[w.block.index()].insts[w.at].inst {
        Inst::MapInto(e, args) => {
            let arg = args[1..].iter().position(|a| *a == args[0])? as u32;
            let (op, first) = effects.combines(e, arg)?;
            // The others come from elsewhere.
            if mine.iter().filter(|r| r.kind == Kind::Read && (r.block, r.at) == (w.block, w.at)).count() != 1 {
                return None;
            }
            Some((group(op, first)?, (w.block, w.at), None))
        }
        Inst::Store(_, v) => {
            let reads = mine.iter().filter(|r| r.kind == Kind::Read && same_index(effects, all, &r.index, &w.index));
            reads.into_iter().find_map(|r| {
                let d = &func.blocks[r.block.index()].insts[r.at];
                let old = d.result.filter(|_| matches!(d.inst, Inst::Load(_)))?;
                let (how, element) = of_element(effects, w, *v, old)?;
                Some((how, (r.block, r.at), element))
            })
        }
        _ => None,
    }
}

/// How the new value of an element is made of the old one, which is used for nothing else.
fn of_element(effects: &Effects<'_>, w: &Access, v: Value, old: Value) -> Option<(Reduce, Option<Update>)> {
    let uses = crate::edit::use_counts(effects.func);
    let used = |v: Value, times: u32| uses[v.index()] == times;
    if effects.func.ty(v).is_complex() {
        return complex_sum(effects, v, old).filter(|_| used(old, 2)).map(|how| (how, None));
    }
    if let Some(how) = guarded(effects, w.block, v, old).filter(|_| used(old, 1)) {
        return Some((how, None));
    }
    let (op, args) = row_of(effects, v)?;
    // Floats may be computed with more digits than they are kept with.
    let wide = args.iter().copied().find(|a| *a != old && uncast(effects, *a) == old);
    if let Some(wide) = wide {
        let how = group(op, args[0] == wide).filter(|_| used(old, 1) && used(wide, 1));
        return how.map(|how| (how, None));
    }
    let (how, times) = match op.name {
        "select" => (chosen(effects, args, old)?, 2),
        _ if args.iter().filter(|a| **a == old).count() == 1 => (group(op, args[0] == old)?, 1),
        _ => return None,
    };
    let operand = *args[args.len() - 2..].iter().find(|a| **a != old)?;
    let element = Update { block: w.block, at: w.at, operand, negative: op.name == "sub" };
    used(old, times).then_some((how, Some(element)))
}

/// `if x > old: old = x`, where the write is all that the condition decides.
fn guarded(effects: &Effects<'_>, block: Block, v: Value, old: Value) -> Option<Reduce> {
    let func = effects.func;
    let cfg = Cfg::new(func);
    let [e] = cfg.preds(block) else { return None };
    let Some(Term::Branch { cond, then, els }) = &func.blocks[e.from.index()].term else { return None };
    if then.block != block || els.block == block {
        return None;
    }
    let (op, compared) = row_of(effects, *cond)?;
    let in_order = match compared {
        [a, b] if (*a, *b) == (v, old) => true,
        [a, b] if (*a, *b) == (old, v) => false,
        _ => return None,
    };
    best(op, in_order)
}

/// The sum of a complex element and something else, each part by itself.
fn complex_sum(effects: &Effects<'_>, v: Value, old: Value) -> Option<Reduce> {
    let inst = |v: Value| effects.defs.inst(effects.func, v);
    let Some(Inst::Pack(parts)) = inst(v) else { return None };
    let sums = parts.iter().zip(0..).all(|(part, k)| {
        let is_old = |a: Value| matches!(inst(a), Some(Inst::Field(whole, i)) if *whole == old && *i == k);
        let sum = row_of(effects, *part).filter(|(_, args)| args.iter().filter(|a| is_old(**a)).count() == 1);
        is_old(*part) || sum.is_some_and(|(op, args)| group(op, is_old(args[0])) == Some(Reduce::Add))
    });
    sums.then_some(Reduce::Add)
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
        Inst::Cast(_) if uncast(effects, v) != v => row_of(effects, uncast(effects, v)),
        _ => None,
    }
}

/// What a float is, to other digits.
fn uncast(effects: &Effects<'_>, v: Value) -> Value {
    let is_float = |v: Value| effects.func.ty(v).is_float();
    match effects.defs.inst(effects.func, v) {
        Some(Inst::Cast(x)) if is_float(*x) && is_float(v) => *x,
        _ => v,
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
    // Where it is kept if a comparison holds, it is lost to NaN, with all before it.
    if args[1] == old && is_exact(effects.func, old) {
        return None;
    }
    best(op, in_order)
}

/// What is kept if it compares so with the other, as the first of the two or the second.
fn best(op: &'static Op, in_order: bool) -> Option<Reduce> {
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
