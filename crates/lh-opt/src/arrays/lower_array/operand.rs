//! Operands of elementwise computations, decomposed into extents, strides and addresses.

use crate::edit::Cursor;
use hashbrown::{HashMap, HashSet};
use lh_ir::func::{Inst, InstData};
use lh_ir::{Const, Function, Layout, Ty, Value};

/// An operand of an elementwise computation.
#[derive(Clone)]
pub(super) struct Operand {
    pub value: Value,
    /// Type of its elements, or of the scalar itself.
    pub elem: Ty,
    /// Static layout.
    pub layout: Layout,
    /// Extents; none for scalars and arrays of rank 0.
    pub shape: Vec<Value>,
    /// Extents that are statically 1.
    pub unit_extents: Vec<bool>,
    pub strides: Vec<Value>,
    /// Address of the first element; for a scalar or an array of rank 0, the element itself.
    pub data: Value,
}

impl Operand {
    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// Extents that are statically 1, for arrays that have any.
pub(super) type UnitExtents = HashMap<Value, Vec<bool>>;

/// Collects views whose construction has constant extents 1, such as new axes.
pub(super) fn unit_extents(func: &Function) -> UnitExtents {
    let insts = || func.blocks.iter().flat_map(|b| &b.insts);
    let is_one = |d: &InstData| matches!(d.inst, Inst::Const(Const::Int(1, _)));
    let one: HashSet<Value> = insts().filter(|d| is_one(d)).filter_map(|d| d.result).collect();
    let known = |d: &InstData| match &d.inst {
        Inst::ArrayMake { shape, .. } if shape.iter().any(|e| one.contains(e)) => {
            Some((d.result?, shape.iter().map(|e| one.contains(e)).collect()))
        }
        _ => None,
    };
    insts().filter_map(known).collect()
}

/// Decomposes all operands; loads arrays of rank 0. Equal operands share their parts.
pub(super) fn operands(c: &mut Cursor<'_>, args: &[Value], unit_extents: &UnitExtents) -> Vec<Operand> {
    let mut out: Vec<Operand> = Vec::with_capacity(args.len());
    for v in args {
        let o = match out.iter().find(|o| o.value == *v) {
            Some(o) => o.clone(),
            None => operand(c, *v, unit_extents),
        };
        out.push(o);
    }
    out
}

fn operand(c: &mut Cursor<'_>, value: Value, unit_extents: &UnitExtents) -> Operand {
    let ty = c.func.ty(value);
    let Some((elem, rank, layout, _)) = ty.as_array() else {
        let (shape, unit_extents, strides) = (Vec::new(), Vec::new(), Vec::new());
        return Operand { value, elem: ty, layout: Layout::C, shape, unit_extents, strides, data: value };
    };
    let mut data = c.inst(Inst::ArrayData(value), Ty::ptr());
    if rank == 0 {
        data = c.inst(Inst::Load(data), elem);
    }
    let shape = (0..rank).map(|d| c.inst(Inst::ArrayShape(value, d as u32), Ty::int())).collect();
    let strides = (0..rank).map(|d| c.inst(Inst::ArrayStride(value, d as u32), Ty::int())).collect();
    let unit_extents = unit_extents.get(&value).cloned().unwrap_or_else(|| vec![false; rank]);
    Operand { value, elem, layout, shape, unit_extents, strides, data }
}
