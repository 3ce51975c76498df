//! Lowers one instruction: structural ones here, others in the files beside this one.

use super::function::FnCx;
use crate::ir::Val;
use lh_ir::consts::ASCII;
use lh_ir::func::Inst;
use lh_ir::types::Prim;
use lh_ir::verify::parts;
use lh_ir::{Const, Layout, Ty, Value};

impl FnCx<'_, '_> {
    /// Lowers an instruction; answers with the LLVM values of its result.
    pub(super) fn inst(&mut self, inst: &Inst, result: Option<Value>) -> Vec<Val> {
        match inst {
            Inst::Const(c) => self.constant_value(c, result),
            Inst::Zero => {
                result.map_or(Vec::new(), |r| self.prims(r).iter().map(|p| self.null(self.prim(*p))).collect())
            }
            Inst::Extern(what) => vec![self.extern_word(*what, self.prims(result.expect("it has a result"))[0])],
            Inst::Op(op, args) => vec![self.op(op, args, result)],
            Inst::Cast(v) => self.cast(*v, self.result_ty(result)),
            Inst::Pack(parts) => parts.iter().flat_map(|v| self.get(*v)).copied().collect(),
            Inst::Field(v, i) => {
                let (at, n) = field_range(self.ty(*v), *i);
                self.get(*v)[at..at + n].to_vec()
            }
            Inst::Some(v) => std::iter::once(self.bool(true)).chain(self.get(*v).iter().copied()).collect(),
            Inst::IsSome(v) => vec![self.get(*v)[0]],
            Inst::Unwrap(v) => self.get(*v)[1..].to_vec(),
            Inst::Call(spec, args) => self.call_spec(*spec, args),
            Inst::ParFor(p, args) => {
                self.par_for(*p, args);
                Vec::new()
            }
            Inst::Foreign(f, args) => self.call_foreign(*f, args, result),
            Inst::Runtime(f, args) => self.call_runtime(f, args),
            Inst::SlotGet(s) => self.slot_get(s.index()),
            Inst::SlotSet(s, v) => {
                for (at, val, prim) in self.slot_parts(s.index(), *v) {
                    self.store(val, at, prim.size());
                }
                Vec::new()
            }
            Inst::ArrayMake { owner, data, shape, strides } => {
                std::iter::once(owner).chain([data]).chain(shape).chain(strides).map(|v| self.one(*v)).collect()
            }
            Inst::ArrayOwner(v) => vec![self.get(*v)[0]],
            Inst::ArrayData(v) => vec![self.get(*v)[1]],
            Inst::ArrayShape(v, d) => vec![self.get(*v)[2 + *d as usize]],
            Inst::ArrayStride(v, d) => vec![self.stride(*v, *d as usize)],
            Inst::ElemPtr { array, index, wrap, check } => vec![self.elem_ptr(*array, index, *wrap, *check)],
            Inst::Load(p) | Inst::Take(p) => self.load_value(self.one(*p), self.result_ty(result)),
            Inst::Store(p, v) => {
                self.store_value(self.one(*p), *v);
                Vec::new()
            }
            Inst::PtrAdd(p, n) => vec![self.gep(self.t.i8, self.one(*p), self.one(*n))],
            Inst::New(cap) => vec![self.new_object(*cap, self.result_ty(result))],
            Inst::ItemsLen(l) => vec![self.items_len(self.one(*l))],
            Inst::ItemsData(l) => vec![self.items_data(self.one(*l))],
            Inst::FieldPtr(v, i) => vec![self.field_ptr(*v, *i)],
            Inst::Map(..) | Inst::MapInto(..) => lh_ir::bug!("an elementwise instruction has not been lowered"),
            Inst::IncRef(v) => {
                self.count(*v, true);
                Vec::new()
            }
            Inst::DecRef(v) => {
                self.count(*v, false);
                Vec::new()
            }
        }
    }

    fn result_ty(&self, result: Option<Value>) -> Ty {
        result.map_or_else(|| lh_ir::bug!("an instruction of {} needs a result", self.func.name), |r| self.ty(r))
    }

    fn constant_value(&mut self, c: &Const, result: Option<Value>) -> Vec<Val> {
        let t = self.t;
        let prims: Vec<Prim> = result.map_or(Vec::new(), |r| self.prims(r).to_vec());
        let real = |p: Prim, v: f64| self.real(self.prim(p), v);
        match (c, &prims[..]) {
            (_, []) => Vec::new(),
            (Const::Bool(b), [Prim::I1]) => vec![self.bool(*b)],
            (Const::Int(v, _), [p @ (Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)]) => {
                vec![self.int(self.prim(*p), *v as i64)]
            }
            (Const::Int(v, _), [Prim::Ptr]) => vec![self.address(*v as i64)],
            (Const::Float(v, ty), [Prim::I16]) => vec![self.int(t.i16, i64::from(lh_ir::half::bits(*v, *ty)))],
            (Const::Float(v, _), [p @ (Prim::F16 | Prim::F32 | Prim::F64)]) => vec![real(*p, *v)],
            (Const::Complex(re, im, _), [p @ (Prim::F32 | Prim::F64), _]) => vec![real(*p, *re), real(*p, *im)],
            (Const::Str(s), [Prim::Mem, Prim::Ptr, Prim::I64]) => {
                let text = self.cx.text(s);
                let flag = if s.is_ascii() { ASCII } else { 0 };
                vec![self.null(t.ptr), text, self.int(t.i64, s.len() as i64 | flag)]
            }
            _ => lh_ir::bug!("constant {c:?} of {prims:?}"),
        }
    }

    fn slot_get(&self, slot: usize) -> Vec<Val> {
        let prims = self.func.slots[slot].flatten();
        self.slots[slot].iter().zip(prims).map(|(at, p)| self.load(self.prim(p), *at, p.size())).collect()
    }

    fn slot_parts(&self, slot: usize, v: Value) -> Vec<(Val, Val, Prim)> {
        let (vals, prims) = (self.get(v), self.prims(v));
        if vals.len() != self.slots[slot].len() {
            lh_ir::bug!("{v} does not fit slot{slot} of {}", self.func.name);
        }
        self.slots[slot].iter().zip(vals).zip(prims).map(|((at, v), p)| (*at, *v, *p)).collect()
    }
}

/// The first primitive of a part, and their number.
fn field_range(ty: Ty, i: u32) -> (usize, usize) {
    let mut sizes = parts(ty).map(|t| t.flatten().len());
    let before = sizes.by_ref().take(i as usize).sum();
    (before, sizes.next().unwrap_or_else(|| lh_ir::bug!("{ty} has no part {i}")))
}

/// The dimension with unit stride, by layout.
pub(super) fn unit_dim(ndim: usize, layout: Layout) -> Option<usize> {
    match layout {
        Layout::C => ndim.checked_sub(1),
        Layout::F => (ndim > 0).then_some(0),
        Layout::A => None,
    }
}
