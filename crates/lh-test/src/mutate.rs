//! Breaks functions in small ways, so that tests can show that the oracle finds it.

use lh_ir::algebra::{Algebra, Cmp};
use lh_ir::func::{Inst, Term};
use lh_ir::verify::verify;
use lh_ir::{Const, Function};

/// Rows that are taken for each other.
const CONFUSED: &[(&str, &str)] = &[
    ("add", "sub"),
    ("sub", "add"),
    ("mul", "add"),
    ("lt", "le"),
    ("le", "lt"),
    ("gt", "ge"),
    ("ge", "gt"),
    ("eq", "ne"),
    ("ne", "eq"),
    ("and", "or"),
    ("or", "and"),
    ("minnum", "maxnum"),
    ("maxnum", "minnum"),
    ("sdiv", "srem"),
    ("srem", "sdiv"),
];

/// All functions that differ from one in one place, with what differs.
pub fn mutants(func: &Function) -> Vec<(String, Function)> {
    let mut out = Vec::new();
    for b in 0..func.blocks.len() {
        let mut add = |what: &str, at: usize, change: &dyn Fn(&mut Function)| {
            let mut broken = func.clone();
            change(&mut broken);
            if verify(&broken).is_ok() {
                out.push((format!("{what} in block{b}, {at}, of %{}", func.name), broken));
            }
        };
        for (at, d) in func.blocks[b].insts.iter().enumerate() {
            of_inst(&d.inst, &mut |what, inst| {
                add(what, at, &|f| match &inst {
                    Some(inst) => f.blocks[b].insts[at].inst = inst.clone(),
                    None => drop(f.blocks[b].insts.remove(at)),
                });
            });
        }
        let end = func.blocks[b].insts.len();
        match &func.blocks[b].term {
            Some(Term::Branch { cond, then, els }) => {
                let swapped = Term::Branch { cond: *cond, then: els.clone(), els: then.clone() };
                add("a branch the other way", end, &|f| f.blocks[b].term = Some(swapped.clone()));
            }
            Some(Term::Jump(t)) if t.args.len() > 1 => {
                let mut turned = t.clone();
                turned.args.swap(0, t.args.len() - 1);
                add("arguments in another order", end, &|f| f.blocks[b].term = Some(Term::Jump(turned.clone())));
            }
            _ => {}
        }
        if func.blocks[b].unwind.is_some() {
            add("no handler", end, &|f| f.blocks[b].unwind = None);
        }
    }
    for (i, body) in func.bodies.iter().enumerate() {
        for (what, broken) in mutants(body) {
            let mut whole = func.clone();
            whole.bodies[i] = broken;
            out.push((what, whole));
        }
    }
    out
}

/// Emits the changes of an instruction; `None`: it is removed.
fn of_inst(inst: &Inst, emit: &mut dyn FnMut(&str, Option<Inst>)) {
    match inst {
        Inst::Op(op, args) => {
            if let Some(other) = CONFUSED.iter().find(|c| c.0 == op.name).and_then(|c| lh_ops::row(c.1)) {
                emit("another row", Some(Inst::Op(other, args.clone())));
            }
            if let [a, b] = args[..]
                && a != b
                && is_ordered(op.algebra)
            {
                emit("operands the other way", Some(Inst::Op(op, vec![b, a])));
            }
        }
        Inst::Const(Const::Int(i, t)) => emit("another constant", Some(Inst::Const(Const::Int(i + 1, *t)))),
        Inst::Const(Const::Float(x, t)) => emit("another constant", Some(Inst::Const(Const::Float(x + 1.0, *t)))),
        Inst::Const(Const::Bool(b)) => emit("another constant", Some(Inst::Const(Const::Bool(!b)))),
        Inst::ElemPtr { array, index, wrap, check } => {
            let flagged = |wrap, check| Some(Inst::ElemPtr { array: *array, index: index.clone(), wrap, check });
            if *check {
                emit("no check", flagged(*wrap, false));
            }
            if *wrap {
                emit("no wrapping", flagged(false, *check));
            }
        }
        Inst::Store(..) | Inst::SlotSet(..) | Inst::IncRef(_) | Inst::DecRef(_) => emit("nothing", None),
        Inst::ArrayShape(v, i) if *i > 0 => emit("another dimension", Some(Inst::ArrayShape(*v, i - 1))),
        _ => {}
    }
}

/// Whether an operation is not commutative.
fn is_ordered(algebra: Algebra) -> bool {
    matches!(
        algebra,
        Algebra::Sub
            | Algebra::Cmp(Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge)
            | Algebra::Divide
            | Algebra::Quotient
            | Algebra::Remainder
    )
}
