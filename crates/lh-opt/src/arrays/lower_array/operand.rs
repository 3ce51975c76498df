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

/// The parts of a view, and extents that are statically 1, such as those of new axes.
struct View {
    data: Value,
    shape: Vec<Value>,
    strides: Vec<Value>,
    unit_extents: Vec<bool>,
}

/// The views that a function makes. Views of one array often share extents and strides, which need no comparison then.
pub(super) struct Views(HashMap<Value, View>);

impl Views {
    pub(super) fn of(func: &Function) -> Views {
        let insts = || func.blocks.iter().flat_map(|b| &b.insts);
        let is_one = |d: &InstData| matches!(d.inst, Inst::Const(Const::Int(1, _)));
        let one: HashSet<Value> = insts().filter(|d| is_one(d)).filter_map(|d| d.result).collect();
        let view = |d: &InstData| match &d.inst {
            Inst::ArrayMake { data, shape, strides, .. } => {
                let unit_extents = shape.iter().map(|e| one.contains(e)).collect();
                let (shape, strides) = (shape.clone(), strides.clone());
                Some((d.result?, View { data: *data, shape, strides, unit_extents }))
            }
            _ => None,
        };
        Views(insts().filter_map(view).collect())
    }
    /// The extents of an array that is a view.
    pub(super) fn shape(&self, array: Value) -> Option<&[Value]> {
        self.0.get(&array).map(|v| &v.shape[..])
    }
}

/// Decomposes all operands; loads arrays of rank 0. Equal operands share their parts.
pub(super) fn operands(c: &mut Cursor<'_>, args: &[Value], views: &Views) -> Vec<Operand> {
    let mut out: Vec<Operand> = Vec::with_capacity(args.len());
    for v in args {
        let o = match out.iter().find(|o| o.value == *v) {
            Some(o) => o.clone(),
            None => operand(c, *v, views),
        };
        out.push(o);
    }
    out
}

fn operand(c: &mut Cursor<'_>, value: Value, views: &Views) -> Operand {
    let ty = c.func.ty(value);
    let Some((elem, rank, layout, _)) = ty.as_array() else {
        let (shape, unit_extents, strides) = (Vec::new(), Vec::new(), Vec::new());
        return Operand { value, elem: ty, layout: Layout::C, shape, unit_extents, strides, data: value };
    };
    if let Some(v) = views.0.get(&value).filter(|_| rank > 0) {
        let (shape, unit_extents, strides) = (v.shape.clone(), v.unit_extents.clone(), v.strides.clone());
        return Operand { value, elem, layout, shape, unit_extents, strides, data: v.data };
    }
    let mut data = c.inst(Inst::ArrayData(value), Ty::ptr());
    if rank == 0 {
        data = c.inst(Inst::Load(data), elem);
    }
    let shape = (0..rank).map(|d| c.inst(Inst::ArrayShape(value, d as u32), Ty::int())).collect();
    let strides = (0..rank).map(|d| c.inst(Inst::ArrayStride(value, d as u32), Ty::int())).collect();
    Operand { value, elem, layout, shape, unit_extents: vec![false; rank], strides, data }
}
