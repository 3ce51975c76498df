//! Operands taken apart.

use crate::edit::Cursor;
use lh_ir::func::Inst;
use lh_ir::{Layout, Ty, Value};

/// An operand of an elementwise computation.
#[derive(Clone)]
pub(super) struct Operand {
    /// The operand.
    pub value: Value,
    /// Type of its elements; of a scalar, its own.
    pub elem: Ty,
    /// Static layout.
    pub layout: Layout,
    /// Extents; none for scalars and arrays of rank 0.
    pub shape: Vec<Value>,
    /// Strides in bytes.
    pub strides: Vec<Value>,
    /// Address of the first element; of a scalar or an array of rank 0, the element itself.
    pub data: Value,
}

impl Operand {
    /// Number of dimensions.
    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// Reads the parts of all operands, arrays of rank 0 altogether. The same operand has the same parts.
pub(super) fn operands(c: &mut Cursor<'_>, args: &[Value]) -> Vec<Operand> {
    let mut out: Vec<Operand> = Vec::with_capacity(args.len());
    for v in args {
        let o = match out.iter().find(|o| o.value == *v) {
            Some(o) => o.clone(),
            None => operand(c, *v),
        };
        out.push(o);
    }
    out
}

fn operand(c: &mut Cursor<'_>, value: Value) -> Operand {
    let ty = c.func.ty(value);
    let Some((elem, rank, layout, _)) = ty.as_array() else {
        let (shape, strides) = (Vec::new(), Vec::new());
        return Operand { value, elem: ty, layout: Layout::C, shape, strides, data: value };
    };
    let mut data = c.inst(Inst::ArrayData(value), Ty::ptr());
    if rank == 0 {
        data = c.inst(Inst::Load(data), elem);
    }
    let shape = (0..rank).map(|d| c.inst(Inst::ArrayShape(value, d as u32), Ty::int())).collect();
    let strides = (0..rank).map(|d| c.inst(Inst::ArrayStride(value, d as u32), Ty::int())).collect();
    Operand { value, elem, layout, shape, strides, data }
}
