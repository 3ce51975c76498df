//! Strength reduction of powers: those with constant exponents become products, quotients and square roots.
//!
//! ```text
//! v1 = const 2.0: float64
//! v2 = pow v0, v1: float64      ->      v2 = mul v0, v0: float64
//! ```
//!
//! Only where the result is as exact as that of the power: small integers become a row of their own, whose function
//! computes in twice the precision. With `fastmath` products of many factors and of roots are used, too.

use crate::edit::{Cursor, Replacements, row};
use hashbrown::HashMap;
use lh_ir::algebra::Algebra;
use lh_ir::func::{Inst, fastmath};
use lh_ir::{Block, Const, Function, Ty, Value};

/// The largest size of exponents that become products.
const MAX_EXPONENT: f64 = 16.0;

pub(crate) fn run(func: &mut Function) -> bool {
    let is_power = |inst: &Inst| matches!(inst, Inst::Op(op, _) if op.is(Algebra::Power));
    if !func.insts().any(|d| is_power(&d.inst)) {
        return false;
    }
    let constants: HashMap<Value, f64> = func.insts().filter_map(|d| constant(d.result?, &d.inst)).collect();
    let mut with = Replacements::new(func);
    let mut changed = false;
    for b in 0..func.blocks.len() {
        for d in std::mem::take(&mut func.blocks[b].insts) {
            let mut c = Cursor { func, block: Block::new(b), span: d.span, unwind: None, cold: false };
            let found = match (&d.inst, d.result) {
                (Inst::Op(op, args), Some(r)) if op.is(Algebra::Power) => {
                    let exponent = constants.get(&args[1]).copied();
                    exponent.and_then(|e| Some((r, Power { base: args[0], ty: c.func.ty(r) }.reduced(&mut c, e)?)))
                }
                _ => None,
            };
            match found {
                Some((r, v)) => {
                    with.set(r, v);
                    changed = true;
                }
                None => func.blocks[b].insts.push(d),
            }
        }
    }
    if changed {
        with.apply(func);
    }
    changed
}

fn constant(v: Value, inst: &Inst) -> Option<(Value, f64)> {
    match inst {
        Inst::Const(Const::Float(x, _)) => Some((v, *x)),
        _ => None,
    }
}

/// A power of a value, of the result's type.
#[derive(Clone, Copy)]
struct Power {
    base: Value,
    ty: Ty,
}

impl Power {
    fn reduced(self, c: &mut Cursor<'_>, exponent: f64) -> Option<Value> {
        const NEEDED: u8 = fastmath::AFN | fastmath::NINF;
        let is_fast = c.func.options.fastmath & NEEDED == NEEDED;
        let (size, is_small) = (exponent.abs(), exponent.abs() <= MAX_EXPONENT);
        let is_integer = size.fract() == 0.0;
        if exponent == 0.0 {
            Some(self.float(c, 1.0))
        } else if exponent == 1.0 {
            Some(self.base)
        } else if exponent == 2.0 {
            Some(self.product(c, self.base, self.base))
        } else if exponent == 0.5 {
            Some(self.root(c))
        } else if exponent == -1.0 {
            Some(self.inverse(c, self.base))
        } else if is_fast && is_small && size >= 0.5 && (2.0 * size).fract() == 0.0 {
            let mut power = self.integer(c, size as u32);
            if !is_integer {
                let root = c.op(row("sqrt"), &[self.base], self.ty);
                power = Some(power.map_or(root, |p| self.product(c, p, root)));
            }
            power.map(|p| if exponent < 0.0 { self.inverse(c, p) } else { p })
        } else if is_integer && is_small && size > 1.0 {
            let exponent = self.float(c, exponent);
            Some(c.op(row("whole_power"), &[self.base, exponent], self.ty))
        } else {
            None
        }
    }

    fn float(self, c: &mut Cursor<'_>, x: f64) -> Value {
        c.inst(Inst::Const(Const::Float(x, self.ty)), self.ty)
    }

    fn product(self, c: &mut Cursor<'_>, a: Value, b: Value) -> Value {
        c.op(row("mul"), &[a, b], self.ty)
    }

    fn inverse(self, c: &mut Cursor<'_>, x: Value) -> Value {
        let one = self.float(c, 1.0);
        c.op(row("fdiv"), &[one, x], self.ty)
    }

    /// The square root, except that the power of -0 is 0 and that of minus infinity is infinity.
    fn root(self, c: &mut Cursor<'_>) -> Value {
        let [zero, least, most] = [0.0, f64::NEG_INFINITY, f64::INFINITY].map(|x| self.float(c, x));
        let shifted = c.op(row("add"), &[self.base, zero], self.ty);
        let root = c.op(row("sqrt"), &[shifted], self.ty);
        let is_least = c.op(row("eq"), &[self.base, least], Ty::bool());
        c.op(row("select"), &[is_least, most, root], self.ty)
    }

    /// A power by squares and products; `None` for 0.
    fn integer(self, c: &mut Cursor<'_>, mut n: u32) -> Option<Value> {
        let (mut square, mut power) = (self.base, None);
        while n > 0 {
            if n & 1 == 1 {
                power = Some(power.map_or(square, |p| self.product(c, p, square)));
            }
            n >>= 1;
            if n > 0 {
                square = self.product(c, square, square);
            }
        }
        power
    }
}
