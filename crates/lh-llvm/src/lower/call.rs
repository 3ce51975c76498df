//! Calls of compiled functions and of the run-time library.

use super::cx::Returns;
use super::function::FnCx;
use crate::ir::{Type, Val};
use lh_ir::runtime::RuntimeFn;
use lh_ir::types::Prim;
use lh_ir::{SpecId, Value};
use llvm_sys::LLVMIntPredicate::LLVMIntNE;

impl FnCx<'_, '_> {
    pub(super) fn call_spec(&mut self, spec: SpecId, args: &[Value]) -> Vec<Val> {
        let own = self.cx.specs.get(&spec).map(|index| &self.cx.functions[*index]);
        let Some(callee) = own.or_else(|| self.cx.linked.get(&spec)).cloned() else {
            lh_ir::bug!("{spec} is called but not in the unit")
        };
        let prims = callee.ret.flatten();
        let mut vals: Vec<Val> = Vec::new();
        if callee.returns == Returns::Memory {
            let (_, size, align) = callee.ret.mem_layout();
            vals.push(self.stack(self.array_type(self.t.i8, size), align));
        }
        vals.extend(args.iter().flat_map(|a| self.get(*a)));
        let result = self.call(callee.ty, callee.value, &vals);
        if callee.returns == Returns::Memory {
            self.check_status(result);
            return self.load_value(vals[0], callee.ret);
        }
        if prims.is_empty() {
            self.check_status(result);
            return Vec::new();
        }
        let status = self.extract(result, 0);
        self.check_status(status);
        (1..=prims.len()).map(|i| self.extract(result, i)).collect()
    }

    /// Calls a run-time function by the C signature that [`RuntimeFn`] describes.
    pub(super) fn call_runtime(&mut self, f: &RuntimeFn, args: &[Value]) -> Vec<Val> {
        if let Some(vals) = self.inline_runtime(f, args) {
            return vals;
        }
        if f.inlined {
            lh_ir::bug!("`{}` was not replaced in code for the CPU", f.name);
        }
        let t = self.t;
        let mut vals: Vec<Val> = args.iter().flat_map(|a| self.get(*a)).copied().collect();
        if vals.len() != f.args.len() {
            lh_ir::bug!("{} takes {} primitives, not {}", f.name, f.args.len(), vals.len());
        }
        for (v, p) in vals.iter_mut().zip(f.args) {
            if *p == Prim::I1 {
                *v = self.zext(*v, t.i8);
            }
        }
        let mut types: Vec<Type> = f.args.iter().map(|p| self.c_type(*p)).collect();
        let through = !f.ret.is_empty() && (f.raises || f.ret.len() > 1);
        let (offsets, size, align) = layout(f.ret);
        if through {
            types.push(t.ptr);
            vals.push(self.scratch(size, align));
        }
        let ret = match f.ret {
            _ if f.raises => t.i32,
            [one] => self.c_type(*one),
            _ => t.void,
        };
        let callee = self.cx.external(f.name, &types, ret);
        if f.pure && !through {
            self.attribute_pure(callee.1, true);
        }
        let result = self.cx.call_external(callee, &vals);
        if f.raises {
            self.check_status(result);
        }
        if through {
            let out = *vals.last().unwrap_or(&result);
            return f.ret.iter().zip(offsets).map(|(p, o)| self.load_prim(*p, self.offset(out, o))).collect();
        }
        match f.ret {
            [Prim::I1] => vec![self.icmp(LLVMIntNE, result, self.int(t.i8, 0))],
            [_] => vec![result],
            _ => Vec::new(),
        }
    }

    /// Stack memory for a result that is loaded immediately; all calls share it, to keep frames small.
    pub(super) fn scratch(&mut self, size: usize, align: usize) -> Val {
        const SHARED: usize = 64;
        if size > SHARED || align > 8 {
            return self.stack(self.array_type(self.t.i8, size), align);
        }
        if let Some(at) = self.scratch {
            return at;
        }
        let at = self.stack(self.array_type(self.t.i8, SHARED), 8);
        self.scratch = Some(at);
        at
    }

    /// The type of a primitive in a C signature.
    fn c_type(&self, p: Prim) -> Type {
        if p == Prim::I1 { self.t.i8 } else { self.prim(p) }
    }
}

/// Offsets, size and alignment of primitives as a C struct.
fn layout(prims: &[Prim]) -> (Vec<usize>, usize, usize) {
    let (mut offsets, mut at) = (Vec::new(), 0usize);
    for p in prims {
        at = at.next_multiple_of(p.size());
        offsets.push(at);
        at += p.size();
    }
    let align = prims.iter().map(|p| p.size()).max().unwrap_or(1);
    (offsets, at.next_multiple_of(align), align)
}
