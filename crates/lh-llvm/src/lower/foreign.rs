//! Calls of foreign code.

use super::function::FnCx;
use crate::ir::{Type, Val};
use crate::unit::Captured;
use lh_ir::Value;
use lh_ir::func::{Extern, Foreign, ForeignAbi, Inst};
use lh_ir::types::Prim;
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::LLVMIntNE;

impl FnCx<'_, '_> {
    pub(super) fn call_foreign(&mut self, f: Foreign, args: &[Value], result: Option<Value>) -> Vec<Val> {
        let [address, args @ ..] = args else { lh_ir::bug!("a call of nothing") };
        let (symbol, address) = (self.linked_symbol(*address), self.one(*address));
        let ret: Vec<Prim> = result.map_or(Vec::new(), |r| self.prims(r).to_vec());
        match f.abi {
            ForeignAbi::C => self.call_c(address, symbol, args, &ret),
            ForeignAbi::Table => self.call_table(address, args, &ret),
        }
    }

    /// The name of a function that NVIDIA's linker adds.
    fn linked_symbol(&self, address: Value) -> Option<String> {
        let mut insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        let Inst::Extern(Extern::Foreign(o)) = insts.find(|d| d.result == Some(address))?.inst else { return None };
        if let Captured::Function(name) = self.cx.unit.arrays.get(&o)? { Some(name.clone()) } else { None }
    }

    /// Calls a C function; the caller extends numbers narrower than `int`.
    fn call_c(&mut self, address: Val, symbol: Option<String>, args: &[Value], ret: &[Prim]) -> Vec<Val> {
        let t = self.t;
        let mut vals: Vec<Val> = Vec::new();
        for arg in args {
            let signed = self.ty(*arg).is_signed();
            for (v, p) in self.get(*arg).to_vec().into_iter().zip(self.prims(*arg).to_vec()) {
                vals.push(match p {
                    Prim::I8 | Prim::I16 if signed => self.sext(v, t.i32),
                    Prim::I1 | Prim::I8 | Prim::I16 => self.zext(v, t.i32),
                    _ => v,
                });
            }
        }
        let types: Vec<Type> = vals.iter().map(|v| self.type_of(*v)).collect();
        let of = match ret {
            [] => t.void,
            [Prim::I1] => t.i8,
            [p] => self.prim(*p),
            _ => lh_ir::bug!("a C function gives one number"),
        };
        let result = match symbol {
            Some(name) => {
                let (ty, f) = self.cx.external(&name, &types, of);
                // The function may contain a barrier.
                self.attribute(f, "convergent");
                self.call(ty, f, &vals)
            }
            None => self.call(self.cx.m.fn_type(&types, of), address, &vals),
        };
        match ret {
            [] => Vec::new(),
            [Prim::I1] => vec![self.icmp(LLVMIntNE, result, self.int(t.i8, 0))],
            _ => vec![result],
        }
    }

    /// Calls through 8-byte slots, as entry stubs do. If the result has no memory, arguments need no owners.
    fn call_table(&mut self, address: Val, args: &[Value], ret: &[Prim]) -> Vec<Val> {
        let t = self.t;
        let owned = ret.contains(&Prim::Mem);
        let parts: Vec<(Val, Prim)> = args
            .iter()
            .flat_map(|a| self.get(*a).iter().copied().zip(self.prims(*a).iter().copied()).collect::<Vec<_>>())
            .collect();
        let slots = |n: usize| self.array_type(t.i64, n.max(1));
        let (given, taken) = (slots(parts.len()), slots(ret.len()));
        let (given, taken) = (self.stack(given, 8), self.stack(taken, 8));
        for (i, (v, p)) in parts.into_iter().enumerate() {
            let v = if p == Prim::Mem && !owned { self.null(t.ptr) } else { v };
            self.cx.store_own(v, p, self.offset(given, 8 * i));
        }
        let callee = self.cx.external(symbols::FOREIGN_CALL, &[t.ptr; 3], t.i32);
        let status = self.cx.call_external(callee, &[address, given, taken]);
        self.check_status(status);
        ret.iter().enumerate().map(|(i, p)| self.cx.load_own(*p, self.offset(taken, 8 * i))).collect()
    }
}
