//! Operators of the program that are commutative: reductions may combine elements that are no neighbours by them.

use crate::cx::Infer;
use crate::val::Val;
use crate::world::Object;
use lh_ir::diag::Result;
use lh_ir::types::TyKind;
use lh_ir::untyped::{self, BinOp};

/// Operators of modules whose result does not depend on the order of their operands.
const COMMUTATIVE: [&str; 12] = [
    "operator.add",
    "operator.mul",
    "operator.and_",
    "operator.or_",
    "operator.xor",
    "numpy.add",
    "numpy.multiply",
    "numpy.minimum",
    "numpy.maximum",
    "numpy.bitwise_and",
    "numpy.bitwise_or",
    "numpy.bitwise_xor",
];

impl Infer<'_> {
    /// Whether a function of two operands is known to be commutative: one that only adds, multiplies or combines bits
    /// of them. `lancehead.xp` decides by the same list.
    pub(crate) fn is_commutative(&mut self, f: &Val) -> Result<bool> {
        let id = match f.ty.kind() {
            TyKind::Func(id) => *id,
            TyKind::Closure { func, captures, .. } if captures.is_empty() => *func,
            TyKind::Obj(o) => {
                return Ok(matches!(self.world.object(*o), Object::Path(path) if COMMUTATIVE.contains(&path.as_str())));
            }
            _ => return Ok(false),
        };
        let code = self.world.code(id)?;
        let [block] = &code.blocks[..] else { return Ok(false) };
        let (&[a, b], [inst]) = (&block.params[..], &block.insts[..]) else { return Ok(false) };
        let untyped::Inst::Binary { op, a: left, b: right, inplace: false } = inst.inst else { return Ok(false) };
        let is_plain = [left, right] == [a, b] || [left, right] == [b, a];
        let is_result = matches!(block.term, Some(untyped::Term::Return(v)) if Some(v) == inst.result);
        Ok(is_plain && is_result && matches!(op, BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor))
    }
}
