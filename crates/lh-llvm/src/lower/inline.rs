//! Run-time functions whose common case is a few instructions, emitted inline.

use super::function::FnCx;
use crate::ir::Val;
use crate::passes::{polls, strip_mine};
use lh_ir::Value;
use lh_ir::class::layout;
use lh_ir::runtime::{Address, Items, Poll, Random, Role, RuntimeFn};
use lh_ops::layout::stream;
use lh_ops::runtime as rt;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntSGT, LLVMIntUGE, LLVMIntULE, LLVMIntULT};

impl FnCx<'_, '_> {
    /// Lowers a call inline, if the function is one of these; answers with the primitives of its result.
    pub(super) fn inline_runtime(&mut self, f: &RuntimeFn, args: &[Value]) -> Option<Vec<Val>> {
        if self.cx.target.is_gpu() {
            return Some(self.device_runtime(f, args));
        }
        match f.role {
            Role::Poll(poll) => self.poll(poll, f),
            Role::Items(Items::Reserve) => self.items_reserve(self.one(args[0]), self.one(args[1])),
            Role::Items(Items::SetLen) => self.set_header_field(self.one(args[0]), layout::LEN, self.one(args[1])),
            Role::Items(Items::Closes) => self.generator_closes(args[0]),
            Role::Items(Items::Keeps) => {}
            Role::IsSame => {
                return Some(vec![self.icmp(LLVMIntEQ, self.one(args[0]), self.one(args[1]))]);
            }
            Role::Random(Random::Python) => return Some(vec![self.random(rt::lh_py_stream.name, f.name)]),
            Role::Random(Random::NumPy) => return Some(vec![self.random(rt::lh_np_stream.name, f.name)]),
            Role::Random(Random::UpTo) => return Some(vec![self.random_up_to(self.one(args[0]), f.name)]),
            Role::Address(of) => return Some(vec![self.convert_address(of, args[0])]),
            Role::Memory(memory) => return self.cpu_memory(memory, args),
            Role::Geometry(what, axis) => return Some(vec![self.cpu_geometry(what, axis, args)?]),
            Role::Launch(launch) => return self.cpu_launch(launch, args),
            Role::Lanes(lanes) => return Some(self.cpu_lanes(lanes, args)),
            Role::Atomic(rmw, prim) => return Some(vec![self.atomic(rmw, prim, args)]),
            Role::Plain
            | Role::Barrier(_)
            | Role::Warp(_)
            | Role::Text(_)
            | Role::Print(_)
            | Role::Exception(_)
            | Role::CheckIndex
            | Role::Shapes(_)
            | Role::Parts(_)
            | Role::Race(_)
            | Role::Threads(_) => return None,
        }
        Some(Vec::new())
    }

    fn poll(&mut self, poll: Poll, f: &RuntimeFn) {
        match poll {
            // For remarks, a loop without the poll: the poll is not the reason why it is not vectorised.
            Poll::Iteration if self.cx.unit.wanted.remarks => {}
            Poll::Loop | Poll::Iteration => self.raise_if(polls::ask(self), rt::lh_interrupted.name),
            Poll::After => self.raise_if(strip_mine::stopped(self), f.name),
        }
    }

    /// Converts an address to an integer or back.
    pub(super) fn convert_address(&self, of: Address, v: Value) -> Val {
        match of {
            Address::ToNumber => self.ptr_to_int(self.one(v)),
            Address::OfNumber => self.int_to_ptr(self.one(v)),
        }
    }

    /// Prefetches memory for a store into the nearest cache.
    pub(super) fn prefetch(&mut self, address: Val) {
        let prefetch = self.cx.m.intrinsic("llvm.prefetch", self.t.ptr);
        let [write, near, data] = [1, 3, 1].map(|i| self.int(self.t.i32, i));
        self.cx.call_external(prefetch, &[address, write, near, data]);
    }

    /// Calls the run-time function only if the buffer must grow.
    fn items_reserve(&mut self, object: Val, n: Val) {
        let t = self.t;
        let grows = self.icmp(LLVMIntSGT, n, self.header_field(object, layout::CAP, t.i64));
        let (next, _) = self.unlikely(grows);
        let reserve = self.cx.external(rt::lh_items_reserve.name, &[t.ptr, t.i64], t.i32);
        let status = self.cx.call_external(reserve, &[object, n]);
        self.check_status(status);
        self.br(next);
        self.at_end(next);
    }

    /// The next two words of a thread's random stream as a double; calls the run-time function only at the end of a
    /// block of words. The address of the stream is invariant in a function, so that loops compute it once.
    fn random(&mut self, stream: &str, call: &str) -> Val {
        let t = self.t;
        let stream = self.stream(stream);
        let at = self.header_field(stream, stream::AT, t.i64);
        let ends = self.icmp(LLVMIntUGE, at, self.int(t.i64, stream::WORDS as i64 - 1));
        let (ready, rare) = self.unlikely(ends);
        let next = self.cx.cold(call, &[], t.f64);
        let made = self.cx.call_external(next, &[]);
        let join = self.new_block();
        self.br(join);
        self.at_end(ready);
        let words = self.gep(t.i32, self.offset(stream, stream::BLOCK), at);
        let (high, low) = (self.stream_word(words), self.stream_word(self.offset(words, 4)));
        self.set_header_field(stream, stream::AT, self.add(at, self.int(t.i64, 2)));
        // 53 bits: 27 of the first word and 26 of the second.
        let high = self.shl(self.lshr(high, self.int(t.i64, 5)), self.int(t.i64, 26));
        let bits = self.or(high, self.lshr(low, self.int(t.i64, 6)));
        let x = self.fmul(self.sitofp(bits, t.f64), self.real(t.f64, 1.0 / 9_007_199_254_740_992.0));
        self.br(join);
        self.at_end(join);
        let result = self.phi(t.f64);
        self.add_incoming(result, made, rare);
        self.add_incoming(result, x, ready);
        result
    }

    /// An integer up to a limit, included: a word of the stream of `numpy.random` under a mask. Calls the run-time
    /// function if the word does not fit, at the end of a block of words, and for limits that take no word or two.
    fn random_up_to(&mut self, most: Val, call: &str) -> Val {
        let t = self.t;
        let stream = self.stream(rt::lh_np_stream.name);
        let leading = self.cx.m.intrinsic("llvm.ctlz", t.i64);
        let leading = self.cx.call_external(leading, &[self.or(most, self.int(t.i64, 1)), self.int(t.i1, 0)]);
        let mask = self.lshr(self.int(t.i64, -1), leading);
        let takes_one = self.icmp(LLVMIntULT, self.sub(most, self.int(t.i64, 1)), self.int(t.i64, u32::MAX.into()));
        let at = self.header_field(stream, stream::AT, t.i64);
        let has_one = self.icmp(LLVMIntULT, at, self.int(t.i64, stream::WORDS as i64));
        let (ready, again, join) = (self.new_block(), self.new_block(), self.new_block());
        let br = self.cond_br(self.and(takes_one, has_one), ready, again);
        self.attach(br, "prof", self.cx.likely);
        self.at_end(ready);
        let word = self.stream_word(self.gep(t.i32, self.offset(stream, stream::BLOCK), at));
        self.set_header_field(stream, stream::AT, self.add(at, self.int(t.i64, 1)));
        let x = self.and(word, mask);
        self.cond_br(self.icmp(LLVMIntULE, x, most), join, again);
        self.at_end(again);
        let next = self.cx.external(call, &[t.i64], t.i64);
        let made = self.cx.call_external(next, &[most]);
        self.br(join);
        self.at_end(join);
        let result = self.phi(t.i64);
        self.add_incoming(result, x, ready);
        self.add_incoming(result, made, again);
        result
    }

    /// The address of a thread's stream.
    fn stream(&mut self, name: &str) -> Val {
        let stream = self.cx.external(name, &[], self.t.ptr);
        self.attribute_pure(stream.1, false);
        self.cx.call_external(stream, &[])
    }

    fn stream_word(&self, at: Val) -> Val {
        let v = self.load(self.t.i32, at, 4);
        self.attach(v, "tbaa", self.cx.tbaa_header);
        self.zext(v, self.t.i64)
    }

    /// Calls a function that raises, if an unlikely condition holds.
    fn raise_if(&mut self, cond: Val, function: &str) {
        let (next, _) = self.unlikely(cond);
        let f = self.cx.cold(function, &[], self.t.i32);
        self.cx.call_external(f, &[]);
        let landing = self.landing();
        self.br(landing);
        self.at_end(next);
    }
}
