//! Atomic operations.

use super::Stop;
use super::memory::Memory;
use super::word::{Word, Words, number, words_of};
use lh_ir::{Const, Ty};

/// An atomic operation, by what it does and the type's name: address, operands. The value before.
pub fn atomic(memory: &mut Memory, what: &str, ty: &str, args: &[Word]) -> Option<Result<Words, Stop>> {
    let ty = match ty {
        "i32" => Ty::i32(),
        "u32" => Ty::u32(),
        "f32" => Ty::f32(),
        "i64" => Ty::i64(),
        "u64" => Ty::u64(),
        "f64" => Ty::f64(),
        _ => return None,
    };
    let prim = ty.flatten()[0];
    let old = match memory.load(args[0], prim) {
        Ok(old) => old,
        Err(stop) => return Some(Err(stop)),
    };
    let operands: Option<Vec<Const>> =
        std::iter::once(old).chain(args[1..].iter().copied()).map(|w| Some(number(w?, ty))).collect();
    let new = match operands {
        Some(operands) => Some(words_of(&updated(what, ty, &operands)?)[0]?),
        None => None,
    };
    Some(memory.store(args[0], prim, new).map(|()| [old].into_iter().collect()))
}

/// The value in memory after an atomic operation.
fn updated(what: &str, ty: Ty, operands: &[Const]) -> Option<Const> {
    let (old, x) = (&operands[0], &operands[1]);
    let row = |name: &str, args: &[Const]| (lh_ops::row(name)?.eval)(args);
    let is = |name: &str, a: &Const, b: &Const| row(name, &[a.clone(), b.clone()]) == Some(Const::Bool(true));
    let choose = |wins: bool| Some(if wins { x.clone() } else { old.clone() });
    let (zero, one) = (Const::Int(0, ty), Const::Int(1, ty));
    match what {
        "add" | "and" | "or" | "xor" => row(what, operands),
        "exch" => Some(x.clone()),
        "cas" => Some(if old.same(x) { operands.get(2)?.clone() } else { old.clone() }),
        "max" => choose(is("gt", x, old)),
        "min" => choose(is("lt", x, old)),
        "nanmax" => choose(is("gt", x, old) || is("ne", old, old)),
        "nanmin" => choose(is("lt", x, old) || is("ne", old, old)),
        "inc" if is("ge", old, x) => Some(zero),
        "inc" => row("add", &[old.clone(), one]),
        "dec" if is("eq", old, &zero) || is("gt", old, x) => Some(x.clone()),
        "dec" => row("sub", &[old.clone(), one]),
        _ => None,
    }
}
