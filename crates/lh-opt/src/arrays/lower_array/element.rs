//! Code for one element of an elementwise computation.

use super::nest::At;
use super::operand::Operand;
use crate::edit::Cursor;
use lh_ir::Value;
use lh_ir::func::{Inst, MapExpr};

/// An expression with its operands: values of scalars, addresses for arrays.
pub(super) struct Element<'a> {
    expr: &'a MapExpr,
    ops: &'a [Operand],
}

impl<'a> Element<'a> {
    pub(super) fn new(expr: &'a MapExpr, ops: &'a [Operand]) -> Element<'a> {
        Element { expr, ops }
    }
    /// `at` holds the destination's address, then one entry for each operand with dimensions.
    pub(super) fn compute_and_store(&self, c: &mut Cursor<'_>, at: &[At]) {
        let mut addresses = at[1..].iter();
        let place = |o: &Operand| if o.rank() > 0 { addresses.next().copied() } else { None };
        let places: Vec<Option<At>> = self.ops.iter().map(place).collect();
        let mut loaded = vec![None; self.ops.len()];
        let v = self.compute(c, self.expr, &places, &mut loaded);
        c.effect(Inst::Store(at[0].address(), v));
    }
    fn compute(&self, c: &mut Cursor<'_>, e: &MapExpr, places: &[Option<At>], loaded: &mut [Option<Value>]) -> Value {
        match e {
            MapExpr::Arg(i, _) => {
                let i = *i as usize;
                let Some(p) = places[i] else { return self.ops[i].data };
                *loaded[i].get_or_insert_with(|| p.read(c, self.ops[i].elem))
            }
            MapExpr::Const(k) => c.inst(Inst::Const(k.clone()), k.ty()),
            MapExpr::Cast(ty, e) => {
                let v = self.compute(c, e, places, loaded);
                if c.func.ty(v) == *ty { v } else { c.inst(Inst::Cast(v), *ty) }
            }
            MapExpr::Op(op, ty, es) => {
                let args: Vec<Value> = es.iter().map(|e| self.compute(c, e, places, loaded)).collect();
                c.op(op, &args, *ty)
            }
            MapExpr::Call(spec, ty, es) => {
                let args: Vec<Value> = es.iter().map(|e| self.compute(c, e, places, loaded)).collect();
                c.inst(Inst::Call(*spec, args), *ty)
            }
        }
    }
}
