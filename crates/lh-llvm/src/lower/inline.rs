//! Run-time functions whose common case is a few instructions, emitted inline.

use super::function::FnCx;
use crate::ir::{Val, loop_metadata};
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
            Role::Items(Items::Keeps) | Role::LoopHint => {}
            Role::IsSame => {
                return Some(vec![self.icmp(LLVMIntEQ, self.one(args[0]), self.one(args[1]))]);
            }
            Role::Random(draw) => return Some(vec![self.random(draw, f, args)]),
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

    /// Draws from a thread's random stream. The address of the stream is invariant in a function, so that loops compute
    /// it once.
    fn random(&mut self, draw: Random, f: &RuntimeFn, args: &[Value]) -> Val {
        let stream = match draw {
            Random::Python | Random::PythonBelow => rt::lh_py_stream.name,
            Random::NumPy | Random::NumPyUpTo => rt::lh_np_stream.name,
        };
        let stream = self.cx.external(stream, &[], self.t.ptr);
        self.attribute_pure(stream.1, false);
        let stream = self.cx.call_external(stream, &[]);
        match draw {
            Random::Python | Random::NumPy => self.random_double(stream, f.name),
            Random::PythonBelow | Random::NumPyUpTo => self.random_integer(draw, stream, f.name, self.one(args[0])),
        }
    }

    /// The next two words of a random stream as a double; calls the run-time function only at the end of a block of
    /// words.
    fn random_double(&mut self, stream: Val, call: &str) -> Val {
        let t = self.t;
        let at = self.header_field(stream, stream::AT, t.i64);
        let ends = self.icmp(LLVMIntUGE, at, self.int(t.i64, stream::WORDS as i64 - 1));
        let (ready, rare) = self.unlikely(ends);
        let next = self.cx.cold(call, &[], t.f64);
        let made = self.cx.call_external(next, &[]);
        let join = self.new_block();
        self.br(join);
        self.at_end(ready);
        let (high, low) = (self.random_word(stream, at, 0), self.random_word(stream, at, 1));
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

    /// A word of a random stream's block, after those that are used.
    fn random_word(&mut self, stream: Val, used: Val, further: usize) -> Val {
        let words = self.gep(self.t.i32, self.offset(stream, stream::BLOCK), used);
        let v = self.load(self.t.i32, self.offset(words, 4 * further), 4);
        self.attach(v, "tbaa", self.cx.tbaa_header);
        self.zext(v, self.t.i64)
    }

    /// An integer within a limit of 32 bits: bits of the next words until they are within it, by a loop that ends with
    /// the block of words. There, and for other limits, the run-time function continues.
    fn random_integer(&mut self, draw: Random, stream: Val, call: &str, limit: Val) -> Val {
        let t = self.t;
        let [one, word] = [1, u32::MAX.into()].map(|n| self.int(t.i64, n));
        let fits = self.icmp(LLVMIntULT, self.sub(limit, one), word);
        let (has_draw, other) = (self.new_block(), self.new_block());
        let likely = self.cond_br(fits, has_draw, other);
        self.attach(likely, "prof", self.cx.likely);
        self.at_end(has_draw);
        let (fn_type, clz) = self.cx.m.intrinsic("llvm.ctlz", t.i64);
        let unused = self.call(fn_type, clz, &[limit, self.bool(true)]);
        let (again, take, join) = (self.new_block(), self.new_block(), self.new_block());
        self.br(again);
        self.at_end(again);
        let at = self.header_field(stream, stream::AT, t.i64);
        let more = self.icmp(LLVMIntULT, at, self.int(t.i64, stream::WORDS as i64));
        let likely = self.cond_br(more, take, other);
        self.attach(likely, "prof", self.cx.likely);
        self.at_end(take);
        let bits = self.random_word(stream, at, 0);
        self.set_header_field(stream, stream::AT, self.add(at, one));
        let (x, is_within) = if draw == Random::PythonBelow {
            let x = self.lshr(bits, self.sub(unused, self.int(t.i64, 32)));
            (x, self.icmp(LLVMIntULT, x, limit))
        } else {
            let x = self.and(bits, self.lshr(self.int(t.i64, -1), unused));
            (x, self.icmp(LLVMIntULE, x, limit))
        };
        let latch = self.cond_br(is_within, join, again);
        let no_unroll = self.node(&[self.md_text("llvm.loop.unroll.disable")]);
        self.attach(latch, "llvm.loop", self.loop_node(&[loop_metadata::poll(self, false), no_unroll]));
        self.at_end(other);
        let next = self.cx.cold(call, &[t.i64], t.i64);
        let made = self.cx.call_external(next, &[limit]);
        self.br(join);
        self.at_end(join);
        let result = self.phi(t.i64);
        self.add_incoming(result, made, other);
        self.add_incoming(result, x, take);
        result
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
