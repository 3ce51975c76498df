//! Atomic operations.

use super::Stop;
use super::memory::Memory;
use super::word::{Word, Words, number, words_of};
use lh_ir::runtime::Rmw;
use lh_ir::types::Prim;
use lh_ir::{Const, Ty};

/// Executes an atomic operation: address, operands. Returns the previous value.
pub fn atomic(memory: &mut Memory, rmw: Rmw, prim: Prim, args: &[Word]) -> Option<Result<Words, Stop>> {
    let unsigned = matches!(rmw, Rmw::UMax | Rmw::UMin | Rmw::Inc | Rmw::Dec);
    let ty = match (prim, unsigned) {
        (Prim::I32, false) => Ty::i32(),
        (Prim::I32, true) => Ty::u32(),
        (Prim::I64, false) => Ty::i64(),
        (Prim::I64, true) => Ty::u64(),
        (Prim::F32, _) => Ty::f32(),
        (Prim::F64, _) => Ty::f64(),
        _ => return None,
    };
    let old = match memory.load(args[0], prim) {
        Ok(old) => old,
        Err(stop) => return Some(Err(stop)),
    };
    let operands: Option<Vec<Const>> =
        std::iter::once(old).chain(args[1..].iter().copied()).map(|w| Some(number(w?, ty))).collect();
    let new = match operands {
        Some(operands) => Some(words_of(&updated(rmw, ty, &operands)?)[0]?),
        None => None,
    };
    Some(memory.store(args[0], prim, new).map(|()| [old].into_iter().collect()))
}

/// The value in memory after an atomic operation.
fn updated(rmw: Rmw, ty: Ty, operands: &[Const]) -> Option<Const> {
    let (old, x) = (&operands[0], &operands[1]);
    let row = |name: &str, args: &[Const]| (lh_ops::row(name)?.eval)(args);
    let is = |name: &str, a: &Const, b: &Const| row(name, &[a.clone(), b.clone()]) == Some(Const::Bool(true));
    let choose = |wins: bool| Some(if wins { x.clone() } else { old.clone() });
    let (zero, one) = (Const::Int(0, ty), Const::Int(1, ty));
    match rmw {
        Rmw::Add => row("add", operands),
        Rmw::And => row("and", operands),
        Rmw::Or => row("or", operands),
        Rmw::Xor => row("xor", operands),
        Rmw::Exchange => Some(x.clone()),
        Rmw::CompareExchange => Some(if old.same(x) { operands.get(2)?.clone() } else { old.clone() }),
        Rmw::Max | Rmw::UMax => choose(is("gt", x, old)),
        Rmw::Min | Rmw::UMin => choose(is("lt", x, old)),
        Rmw::NanMax => choose(is("gt", x, old) || is("ne", old, old)),
        Rmw::NanMin => choose(is("lt", x, old) || is("ne", old, old)),
        Rmw::Inc if is("ge", old, x) => Some(zero),
        Rmw::Inc => row("add", &[old.clone(), one]),
        Rmw::Dec if is("eq", old, &zero) || is("gt", old, x) => Some(x.clone()),
        Rmw::Dec => row("sub", &[old.clone(), one]),
    }
}
