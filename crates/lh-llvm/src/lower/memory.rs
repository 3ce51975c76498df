//! Memory: arrays, objects of classes, loads, stores and reference counts.

use super::function::FnCx;
use super::inst::unit_dim;
use crate::ir::{Type, Val};
use lh_ir::class::layout;
use lh_ir::types::Prim;
use lh_ir::{Ty, Value};
use lh_ops::symbols;
use llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use llvm_sys::LLVMOpcode::LLVMAdd;
use llvm_sys::core::{LLVMBuildGEP2, LLVMGetInstructionOpcode, LLVMGetOperand, LLVMIsAInstruction};

impl FnCx<'_, '_> {
    /// Loads one primitive of array or object data.
    pub(super) fn load_prim(&self, p: Prim, at: Val) -> Val {
        let ty = if p == Prim::I1 { self.t.i8 } else { self.prim(p) };
        let v = self.load(ty, at, self.alignment(p));
        self.attach(v, "tbaa", self.cx.tbaa_data);
        self.mark_access(v, at);
        if p == Prim::I1 { self.icmp(LLVMIntNE, v, self.int(self.t.i8, 0)) } else { v }
    }
    /// Stores one primitive of array or object data, or of a result.
    pub(super) fn store_prim(&self, v: Val, p: Prim, at: Val) {
        let v = if p == Prim::I1 { self.zext(v, self.t.i8) } else { v };
        let store = self.store(v, at, self.alignment(p));
        self.attach(store, "tbaa", self.cx.tbaa_data);
        self.mark_access(store, at);
    }
    /// The alignment of an access. Fields of packed records, and arrays of them, lie anywhere; on CPUs, loads and
    /// stores that are not aligned are the same instructions.
    fn alignment(&self, p: Prim) -> usize {
        if self.cx.target.is_gpu() { p.size() } else { 1 }
    }
    /// Marks an access in a kernel as independent of those of other threads, between barriers. Accesses to local arrays
    /// on the stack are not marked, since the next thread reuses the memory, unless each lane of a gang has its own.
    fn mark_access(&self, access: Val, at: Val) {
        let is_own = || self.has_own_memory && self.may_be_stack(at);
        if let Some(group) = self.group.filter(|_| !is_own()) {
            self.attach(access, "llvm.access.group", group);
        }
    }
    /// Loads a value without taking references.
    pub(super) fn load_value(&self, at: Val, ty: Ty) -> Vec<Val> {
        let (offsets, ..) = ty.mem_layout();
        ty.flatten().into_iter().zip(offsets).map(|(p, o)| self.load_prim(p, self.offset(at, o))).collect()
    }
    pub(super) fn store_value(&self, at: Val, v: Value) {
        let (offsets, ..) = self.ty(v).mem_layout();
        for ((val, p), o) in self.get(v).iter().zip(self.prims(v)).zip(offsets) {
            self.store_prim(*val, *p, self.offset(at, o));
        }
    }

    /// The stride of a dimension in bytes; constant where the layout determines it, so that addresses vectorise.
    pub(super) fn stride(&self, array: Value, dim: usize) -> Val {
        let (dtype, ndim, layout, _) = self.array_ty(array);
        if unit_dim(ndim, layout) == Some(dim) {
            return self.int(self.t.i64, item_size(dtype) as i64);
        }
        self.get(array)[2 + ndim + dim]
    }

    fn array_ty(&self, array: Value) -> (Ty, usize, lh_ir::Layout, bool) {
        self.ty(array).as_array().unwrap_or_else(|| lh_ir::bug!("{array}: {} is not an array", self.ty(array)))
    }

    /// The address of an element. Variable strides, which are often invariant in inner loops, are added first, then the
    /// contiguous dimension.
    pub(super) fn elem_ptr(&mut self, array: Value, index: &[Value], wrap: bool, check: bool) -> Val {
        let (dtype, ndim, layout, _) = self.array_ty(array);
        if index.len() > ndim {
            lh_ir::bug!("{} indices into {}", index.len(), self.ty(array));
        }
        let contiguous = unit_dim(ndim, layout);
        let (mut bytes, mut items, mut further) = (None, None, 0);
        for (d, i) in index.iter().enumerate() {
            let i = self.checked_index(*i, self.get(array)[2 + d], d, wrap, check);
            if contiguous == Some(d) {
                items = Some(i);
                continue;
            }
            let stride = self.stride(array, d);
            let (i, more) = self.displacement(i, stride).unwrap_or((i, 0));
            further += more;
            let step = self.mul_nsw(i, stride);
            bytes = Some(bytes.map_or(step, |b| self.add_nsw(b, step)));
        }
        let mut at = self.get(array)[1];
        // Without its constant part, the index may be outside of the array.
        let gep = |elem, at, i| if further == 0 { self.gep(elem, at, i) } else { self.displaced(elem, at, i) };
        if let Some(b) = bytes {
            at = gep(self.t.i8, at, b);
        }
        at = items.map_or(at, |i| gep(self.item_type(dtype), at, i));
        if further == 0 { at } else { gep(self.t.i8, at, self.int(self.t.i64, further)) }
    }

    /// The address of an item that may be outside of the array.
    fn displaced(&self, elem: Type, base: Val, index: Val) -> Val {
        let mut index = [index];
        // SAFETY: see the documentation of `ir`; one index is passed.
        unsafe { LLVMBuildGEP2(self.builder, elem, base, index.as_mut_ptr(), 1, c"".as_ptr()) }
    }
    /// Splits an index into another one and a constant, in bytes for a constant stride and small enough not to
    /// overflow. At the end of an address, the constant becomes part of the instruction, and jammed rows share the
    /// rest.
    fn displacement(&self, index: Val, stride: Val) -> Option<(Val, i64)> {
        let stride = self.constant_int(stride)?;
        // SAFETY: see the documentation of `ir`; an addition has two operands.
        let (of, more) = unsafe {
            let is_sum = !LLVMIsAInstruction(index).is_null() && LLVMGetInstructionOpcode(index) == LLVMAdd;
            is_sum.then(|| (LLVMGetOperand(index, 0), LLVMGetOperand(index, 1)))?
        };
        let bytes = stride.checked_mul(self.constant_int(more)?)?;
        (bytes.abs() < 1 << 30).then_some((of, bytes))
    }

    /// An LLVM type with the size of an element.
    fn item_type(&self, dtype: Ty) -> Type {
        match dtype.flatten()[..] {
            [Prim::I1] => self.t.i8,
            [p] => self.prim(p),
            _ => self.array_type(self.t.i8, item_size(dtype)),
        }
    }

    /// A new object: with room for items, with fields of zeros, or both.
    pub(super) fn new_object(&mut self, cap: Value, ty: Ty) -> Val {
        let t = self.t;
        let (fields, counted_fields) = ty.object_layout().unwrap_or_else(|| lh_ir::bug!("`{ty}` has too many fields"));
        let Some(elem) = ty.items() else {
            let (size, mask) = (fields, counted_fields);
            let out = self.scratch(8, 8);
            let f = self.cx.external(symbols::OBJECT_NEW, &[t.i64, t.i64, t.ptr], t.i32);
            let status = self.cx.call_external(f, &[self.int(t.i64, size as i64), self.int(t.i64, mask as i64), out]);
            self.check_status(status);
            return self.load(t.ptr, out, 8);
        };
        let (offsets, size, _) = elem.mem_layout();
        let counted = elem.flatten().into_iter().zip(offsets).filter(|(p, _)| p.is_counted());
        let mask = counted.fold(0u64, |m, (_, o)| {
            m | 1u64.checked_shl(o as u32 / 8).unwrap_or_else(|| lh_ir::bug!("an item of {size} bytes"))
        });
        let out = self.scratch(8, 8);
        let [size, mask] = [size as i64, mask as i64].map(|n| self.int(t.i64, n));
        let status = if ty.as_class().is_some_and(|c| c.entries.is_some()) {
            let f = self.cx.external(symbols::ENTRIES_NEW, &[t.i64, t.i64, t.i64, t.i64, t.i64, t.ptr], t.i32);
            let [fields, counted_fields] = [fields as i64, counted_fields as i64].map(|n| self.int(t.i64, n));
            self.cx.call_external(f, &[self.one(cap), size, mask, fields, counted_fields, out])
        } else {
            let f = self.cx.external(symbols::ITEMS_NEW, &[t.i64, t.i64, t.i64, t.ptr], t.i32);
            self.cx.call_external(f, &[self.one(cap), size, mask, out])
        };
        self.check_status(status);
        self.load(t.ptr, out, 8)
    }
    pub(super) fn items_len(&self, object: Val) -> Val {
        self.header_field(object, layout::LEN, self.t.i64)
    }
    pub(super) fn items_data(&self, object: Val) -> Val {
        self.header_field(object, layout::DATA, self.t.ptr)
    }
    pub(super) fn field_ptr(&self, object: Value, field: u32) -> Val {
        self.offset(self.one(object), self.ty(object).fields()[field as usize].offset)
    }
    pub(super) fn header_field(&self, object: Val, at: usize, ty: Type) -> Val {
        let v = self.load(ty, self.offset(object, at), 8);
        self.attach(v, "tbaa", self.cx.tbaa_header);
        v
    }

    pub(super) fn set_header_field(&self, object: Val, at: usize, v: Val) {
        let store = self.store(v, self.offset(object, at), 8);
        self.attach(store, "tbaa", self.cx.tbaa_header);
    }

    /// Takes or drops a reference for every counted part of a value.
    pub(super) fn count(&mut self, v: Value, up: bool) {
        // The caller of the launch owns the memory of a GPU's arrays.
        if self.cx.target.is_gpu() {
            return;
        }
        let parts: Vec<Val> =
            self.get(v).iter().zip(self.prims(v)).filter(|(_, p)| p.is_counted()).map(|(v, _)| *v).collect();
        // Inner loops of the library make views without owners, and small parts of computations have none; after
        // inlining, LLVM removes the test. The call makes it, too, which suffices after an exception.
        let may_be_nobody = self.may_be_nobody && !self.unwinding[self.block.index()];
        for p in parts {
            match up {
                true => self.take_reference(p),
                false if may_be_nobody => self.drop_reference_if_any(p),
                false => self.drop_reference(p),
            }
        }
    }

    fn take_reference(&self, p: Val) {
        let (some, next) = (self.new_block(), self.new_block());
        let null = self.icmp(LLVMIntEQ, p, self.null(self.t.ptr));
        self.cond_br(null, next, some);
        self.at_end(some);
        self.atomic_add(p, 1, LLVMAtomicOrderingMonotonic);
        self.br(next);
        self.at_end(next);
    }

    fn drop_reference_if_any(&mut self, p: Val) {
        let (some, next) = (self.new_block(), self.new_block());
        let null = self.icmp(LLVMIntEQ, p, self.null(self.t.ptr));
        self.cond_br(null, next, some);
        self.at_end(some);
        self.drop_reference(p);
        self.br(next);
        self.at_end(next);
    }

    /// Drops a reference, if any, by a call, which costs little beside the atomic operation and saves three blocks.
    fn drop_reference(&mut self, p: Val) {
        let f = self.cx.external(symbols::DECREF, &[self.t.ptr], self.t.void);
        self.cx.call_external(f, &[p]);
    }
}

/// Size of an array element in bytes.
fn item_size(dtype: Ty) -> usize {
    let has_own = dtype.is_number() || dtype.is_pyobject() || dtype.as_record().is_some();
    if has_own { dtype.itemsize() } else { dtype.mem_layout().1 }
}
