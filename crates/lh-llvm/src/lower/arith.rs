//! Rows of the operation table and conversions between number types.

use super::function::FnCx;
use crate::ir::{Type, Val};
use crate::machine::Target;
use crate::passes::math_library;
use lh_ir::func::{Device, fastmath};
use lh_ir::op::{LlvmInst, Lower, Op, Sig};
use lh_ir::types::Prim;
use lh_ir::{Ty, Value};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::*;
use llvm_sys::LLVMRealPredicate::*;

impl FnCx<'_, '_> {
    /// Lowers a row; answers with its only result.
    pub(super) fn op(&mut self, op: &'static Op, args: &[Value], result: Option<Value>) -> Val {
        let subject = if matches!(op.sig, Sig::Select(_)) { args[1] } else { args[0] };
        let ty = self.ty(subject);
        let vals: Vec<Val> = args.iter().map(|a| self.one(*a)).collect();
        let v = match column(op, self.cx.target) {
            Lower::Inst { signed, unsigned, float } => {
                let inst = by_kind(ty, signed, unsigned, float);
                let to = result.and_then(|r| self.prims(r).first().copied());
                self.instruction(inst, &vals, to)
                    .unwrap_or_else(|| lh_ir::bug!("`{}` has no instruction on {ty}", op.name))
            }
            Lower::AnyOrder(inst) => {
                let v = self
                    .instruction(inst, &vals, None)
                    .unwrap_or_else(|| lh_ir::bug!("`{}` has no instruction on {ty}", op.name));
                self.set_fast_math(v, fast_math_flags(self.func.options.fastmath | fastmath::REASSOC));
                return v;
            }
            Lower::Intrinsic { signed, unsigned, float, flag } => {
                self.overloaded(by_kind(ty, signed, unsigned, float), &vals, flag, ty)
            }
            Lower::Math(single, double) => self.math(op, if ty.bits() == 32 { single } else { double }, &vals),
            Lower::Symbol(single, double) => self.c_function(if ty.bits() == 32 { single } else { double }, &vals),
            Lower::FpClass(mask) => {
                let (fn_type, f) = self.cx.m.intrinsic("llvm.is.fpclass", self.type_of(vals[0]));
                self.call(fn_type, f, &[vals[0], self.int(self.t.i32, i64::from(mask))])
            }
            Lower::SignBit => {
                let int = if ty.bits() == 32 { self.t.i32 } else { self.t.i64 };
                self.icmp(LLVMIntSLT, self.bitcast(vals[0], int), self.null(int))
            }
            Lower::TruncateOrLeast => self.truncate_or_least(vals[0]),
            Lower::Overflow { signed, unsigned } => {
                let name = if ty.is_signed() { signed } else { unsigned };
                let (fn_type, f) = self.cx.m.intrinsic(name, self.type_of(vals[0]));
                self.extract(self.call(fn_type, f, &vals), 1)
            }
            Lower::No => lh_ir::bug!("`{}` is not for {:?}", op.name, self.cx.target),
        };
        self.set_fast_math(v, fast_math_flags(self.func.options.fastmath));
        v
    }

    fn instruction(&self, inst: LlvmInst, a: &[Val], to: Option<Prim>) -> Option<Val> {
        use LlvmInst as I;
        let int = |p| self.icmp(p, a[0], a[1]);
        let float = |p| self.fcmp(p, a[0], a[1]);
        Some(match inst {
            I::Add => self.add(a[0], a[1]),
            I::Sub => self.sub(a[0], a[1]),
            I::Mul => self.mul(a[0], a[1]),
            I::SDiv => self.sdiv(a[0], a[1]),
            I::UDiv => self.udiv(a[0], a[1]),
            I::SRem => self.srem(a[0], a[1]),
            I::URem => self.urem(a[0], a[1]),
            I::FAdd => self.fadd(a[0], a[1]),
            I::FSub => self.fsub(a[0], a[1]),
            I::FMul => self.fmul(a[0], a[1]),
            I::FDiv => self.fdiv(a[0], a[1]),
            I::FNeg => self.fneg(a[0]),
            I::Neg => self.neg(a[0]),
            I::Not => self.not(a[0]),
            I::And => self.and(a[0], a[1]),
            I::Or => self.or(a[0], a[1]),
            I::Xor => self.xor(a[0], a[1]),
            I::Shl => self.shl(a[0], a[1]),
            I::AShr => self.ashr(a[0], a[1]),
            I::LShr => self.lshr(a[0], a[1]),
            I::Select => self.select(a[0], a[1], a[2]),
            I::Bitcast => self.bitcast(a[0], self.prim(to?)),
            I::IEq => int(LLVMIntEQ),
            I::INe => int(LLVMIntNE),
            I::ISlt => int(LLVMIntSLT),
            I::ISle => int(LLVMIntSLE),
            I::ISgt => int(LLVMIntSGT),
            I::ISge => int(LLVMIntSGE),
            I::IUlt => int(LLVMIntULT),
            I::IUle => int(LLVMIntULE),
            I::IUgt => int(LLVMIntUGT),
            I::IUge => int(LLVMIntUGE),
            I::FOeq => float(LLVMRealOEQ),
            I::FUne => float(LLVMRealUNE),
            I::FOlt => float(LLVMRealOLT),
            I::FOle => float(LLVMRealOLE),
            I::FOgt => float(LLVMRealOGT),
            I::FOge => float(LLVMRealOGE),
            I::FUno => float(LLVMRealUNO),
            I::None => return None,
        })
    }

    /// An intrinsic overloaded on the operands' type. Without a name, the operation is the identity.
    fn overloaded(&mut self, name: &'static str, vals: &[Val], flag: bool, ty: Ty) -> Val {
        // LLVM has no intrinsic for one byte, which is its own reverse.
        if name.is_empty() || (name == "llvm.bswap" && ty.bits() == 8) {
            return vals[0];
        }
        let (fn_type, f) = self.cx.m.intrinsic(name, self.type_of(vals[0]));
        let mut args = vals.to_vec();
        // `llvm.fabs` shares a row with `llvm.abs`, which takes a flag.
        if flag && !ty.is_float() {
            args.push(self.bool(false));
        }
        self.call(fn_type, f, &args)
    }

    /// A function of the vector math library, to be inlined; or a call of the C function of the same name without
    /// prefix, if the library lacks it or the code is cold and on the host. Kernels use the library in cold code, too,
    /// so that all devices compute the same bits.
    fn math(&mut self, op: &Op, name: &'static str, vals: &[Val]) -> Val {
        if let Some(approx) = op.approx.filter(|_| self.may_approximate(vals)) {
            return self.approximate(approx, vals);
        }
        let inlined =
            math_library::has_math(name) && (self.func.options.device != Device::Host || !self.is_cold(self.block));
        if !inlined {
            // C has one function for powers by whole and other numbers.
            let of_c = name.trim_start_matches(symbols::PREFIX).trim_start_matches("whole_");
            return self.c_function(of_c, vals);
        }
        // With `afn`, a faster version within 4 ulp is used if there is one.
        let quick = format!("{name}_fast");
        let approximate = self.is_approximate() && math_library::has_math(&quick);
        self.c_function(if approximate { &quick } else { name }, vals)
    }

    /// Calls a C function without side effects.
    fn c_function(&self, name: &str, vals: &[Val]) -> Val {
        let args: Vec<Type> = vals.iter().map(|v| self.type_of(*v)).collect();
        let (fn_type, f) = self.cx.external(name, &args, args[0]);
        self.attribute_pure(f, false);
        self.call(fn_type, f, vals)
    }

    /// Conversion with the rules of C; aggregates with the same primitives stay as they are.
    pub(super) fn cast(&mut self, v: Value, to: Ty) -> Vec<Val> {
        let from = self.ty(v);
        let vals = self.get(v).to_vec();
        let alike = from.is_float() == to.is_float() && from.is_signed() == to.is_signed();
        if alike && from.flatten() == to.flatten() {
            return vals;
        }
        if !from.is_number() || !to.is_number() {
            return if from.flatten() == to.flatten() { vals } else { lh_ir::bug!("cast from {from} to {to}") };
        }
        match (from.is_complex(), to.is_complex()) {
            (true, true) => vals.iter().map(|x| self.cast_real(*x, from.real_part(), to.real_part())).collect(),
            (false, true) => {
                let part = to.real_part();
                let re = self.cast_real(vals[0], from, part);
                vec![re, self.real(self.type_of(re), 0.0)]
            }
            (true, false) if to.is_bool() => {
                let nonzero = |x: Val| self.fcmp(LLVMRealUNE, x, self.null(self.type_of(x)));
                vec![self.or(nonzero(vals[0]), nonzero(vals[1]))]
            }
            (true, false) => vec![self.cast_real(vals[0], from.real_part(), to)],
            (false, false) => vec![self.cast_real(vals[0], from, to)],
        }
    }

    fn cast_real(&self, v: Val, from: Ty, to: Ty) -> Val {
        let target = self.prim(to.flatten()[0]);
        let fast = |x: Val| {
            self.set_fast_math(x, fast_math_flags(self.func.options.fastmath));
            x
        };
        if from == Ty::bf16() {
            return self.cast_real(self.single_of(v), Ty::f32(), to);
        }
        if to == Ty::bf16() {
            return self.upper_half(v, from);
        }
        match (from.is_float(), to.is_float()) {
            (true, true) if from.bits() == to.bits() => v,
            (true, true) => fast(if from.bits() > to.bits() { self.fptrunc(v, target) } else { self.fpext(v, target) }),
            (true, false) if to.is_bool() => self.fcmp(LLVMRealUNE, v, self.null(self.type_of(v))),
            (true, false) => self.float_to_int(v, to, target),
            (false, true) if from.is_signed() => self.sitofp(v, target),
            (false, true) => self.uitofp(v, target),
            (false, false) if from.is_bool() && to.is_bool() => v,
            (false, false) if to.is_bool() => self.icmp(LLVMIntNE, v, self.null(self.type_of(v))),
            (false, false) if from.is_bool() => self.zext(v, target),
            (false, false) if from.bits() == to.bits() => v,
            (false, false) if from.bits() > to.bits() => self.trunc(v, target),
            (false, false) if from.is_signed() => self.sext(v, target),
            (false, false) => self.zext(v, target),
        }
    }

    /// A `bfloat16` as a `float32`.
    pub(super) fn single_of(&self, v: Val) -> Val {
        let t = self.t;
        let word = self.shl(self.zext(v, t.i32), self.int(t.i32, 16));
        self.bitcast(word, t.f32)
    }

    /// The nearest `bfloat16`, ties to even, in integer arithmetic that every target and vector has.
    fn upper_half(&self, v: Val, from: Ty) -> Val {
        let t = self.t;
        let [one, sixteen] = [1, 16].map(|i| self.int(t.i32, i));
        let word = match (from.is_float(), from.bits()) {
            (true, 64) => {
                // Round to odd, so that the second rounding still sees if bits were cut off.
                let near = self.fptrunc(v, t.f32);
                let (back, word) = (self.fpext(near, t.f64), self.bitcast(near, t.i32));
                let negative = self.fcmp(LLVMRealOLT, v, self.null(t.f64));
                let beyond = self.xor(self.fcmp(LLVMRealOGT, back, v), negative);
                let odd = self.or(self.sub(word, self.zext(beyond, t.i32)), one);
                self.select(self.fcmp(LLVMRealONE, back, v), odd, word)
            }
            (true, _) => self.bitcast(self.cast_real(v, from, Ty::f32()), t.i32),
            (false, 64) => {
                // Bits that do not fit into a `float64` are joined to one sticky bit.
                let (low, size) = (self.int(t.i64, 0xfff), if from.is_signed() { 1i64 << 53 } else { 0 });
                let rest = self.icmp(LLVMIntNE, self.and(v, low), self.int(t.i64, 0));
                let marked = self.select(rest, self.int(t.i64, 0x800), self.int(t.i64, 0));
                let cut = self.or(self.and(v, self.int(t.i64, !0xfff)), marked);
                let limit = self.int(t.i64, (1i64 << 53) + size);
                let small = self.icmp(LLVMIntULT, self.add(v, self.int(t.i64, size)), limit);
                return self.upper_half(self.cast_real(self.select(small, v, cut), from, Ty::f64()), Ty::f64());
            }
            (false, _) => return self.upper_half(self.cast_real(v, from, Ty::f64()), Ty::f64()),
        };
        let bit = self.and(self.lshr(word, sixteen), one);
        let up = self.add(word, self.add(bit, self.int(t.i32, 0x7fff)));
        let quiet = self.or(word, self.int(t.i32, 0x0040_0000));
        let single = self.bitcast(word, t.f32);
        let chosen = self.select(self.fcmp(LLVMRealUNO, single, single), quiet, up);
        self.trunc(self.lshr(chosen, sixteen), t.i16)
    }

    /// Truncates a double; numbers out of range become the least integer. On x86 this is one instruction, for which
    /// LLVM has no other name.
    fn truncate_or_least(&mut self, v: Val) -> Val {
        let t = self.t;
        if cfg!(target_arch = "x86_64") && !self.cx.target.is_gpu() {
            let (fn_type, f) = self.cx.m.intrinsic("llvm.x86.sse2.cvttsd2si64", t.f64);
            return self.call(fn_type, f, &[self.in_vector(v, 2)]);
        }
        let limit = self.real(t.f64, 9_223_372_036_854_775_808.0);
        let low = self.fcmp(LLVMRealOGE, v, self.fneg(limit));
        let high = self.fcmp(LLVMRealOLT, v, limit);
        let least = self.int(t.i64, i64::MIN);
        let whole = self.freeze(self.fptosi(v, t.i64));
        self.select(low, self.select(high, whole, least), least)
    }

    /// Truncates to an integer. Out of range, the result is unspecified, as in C; narrow types wrap around, as in
    /// NumPy.
    fn float_to_int(&self, v: Val, to: Ty, target: Type) -> Val {
        let t = self.t;
        if to.bits() < 32 {
            return self.trunc(self.freeze(self.fptosi(v, t.i32)), target);
        }
        if to.is_signed() {
            return self.freeze(self.fptosi(v, target));
        }
        let wide = self.freeze(self.fptosi(v, t.i64));
        if to.bits() == 32 {
            return self.trunc(wide, target);
        }
        let limit = self.real(self.type_of(v), 9_223_372_036_854_775_808.0);
        let fits = self.fcmp(LLVMRealULT, v, limit);
        self.select(fits, wide, self.freeze(self.fptoui(v, t.i64)))
    }
}

/// The column of a row for a target.
pub(super) fn column(op: &Op, target: Target) -> Lower {
    match target {
        Target::Host | Target::Level(_) => op.host,
        Target::Nvptx(_) => op.nvptx,
    }
}

fn by_kind<T>(ty: Ty, signed: T, unsigned: T, float: T) -> T {
    if ty.is_float() {
        float
    } else if ty.is_signed() {
        signed
    } else {
        unsigned
    }
}

/// Our fast-math flags with the bits of LLVM's C API.
pub(super) fn fast_math_flags(ours: u8) -> u32 {
    use lh_ir::func::fastmath as f;
    let pairs =
        [(f::REASSOC, 1), (f::NNAN, 2), (f::NINF, 4), (f::NSZ, 8), (f::ARCP, 16), (f::CONTRACT, 32), (f::AFN, 64)];
    pairs.iter().filter(|(bit, _)| ours & bit != 0).map(|(_, llvm)| llvm).sum()
}
