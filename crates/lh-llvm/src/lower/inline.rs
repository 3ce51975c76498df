//! Run-time functions whose usual case is a few instructions: those are emitted in place.

use super::function::FnCx;
use super::memory::{LIST_CAP, LIST_LEN};
use crate::ir::Val;
use crate::polls;
use lh_ir::Value;
use lh_ir::op::RuntimeFn;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSGT};

impl FnCx<'_, '_> {
    /// Lowers a call in place if the function is one of these: the values of its result.
    pub(super) fn inline_runtime(&mut self, f: &RuntimeFn, args: &[Value]) -> Option<Vec<Val>> {
        if self.cx.target.is_gpu() {
            return Some(self.device_runtime(f, args));
        }
        match f.name {
            // Why the loop is not vectorised is not that it asks.
            "lh_interrupted_in_turn" if self.cx.unit.wanted.remarks => {}
            "lh_interrupted" | "lh_interrupted_in_turn" => self.poll(),
            "lh_list_reserve" => self.list_reserve(self.one(args[0]), self.one(args[1])),
            "lh_list_set_len" => self.set_header_field(self.one(args[0]), LIST_LEN, self.one(args[1])),
            "lh_ptr_addr" => return Some(vec![self.ptr_to_int(self.one(args[0]))]),
            "lh_addr_ptr" => return Some(vec![self.int_to_ptr(self.one(args[0]))]),
            "lh_list_is" => return Some(vec![self.icmp(LLVMIntEQ, self.one(args[0]), self.one(args[1]))]),
            name if name.starts_with("lh_cuda_") => return self.cpu_device_runtime(name, args),
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Calls only where the list has to grow.
    fn list_reserve(&mut self, list: Val, n: Val) {
        let t = self.t;
        let grows = self.icmp(LLVMIntSGT, n, self.header_field(list, LIST_CAP, t.i64));
        let (next, _) = self.unlikely(grows);
        let reserve = self.cx.external("lh_list_reserve", &[t.ptr, t.i64], t.i32);
        let status = self.cx.call_external(reserve, &[list, n]);
        self.check_status(status);
        self.br(next);
        self.at_end(next);
    }

    /// Raises KeyboardInterrupt if the user has asked for it: looks at the flag, and calls only if it is set.
    fn poll(&mut self) {
        let t = self.t;
        let asked = polls::ask(self);
        let (next, _) = self.unlikely(asked);
        let f = self.cx.cold("lh_interrupted", &[], t.i32);
        self.cx.call_external(f, &[]);
        let landing = self.landing();
        self.br(landing);
        self.at_end(next);
    }
}
