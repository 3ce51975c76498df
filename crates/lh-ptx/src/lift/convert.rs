//! `cvt`.

use super::build::{FnLift, ir_ty};
use super::inst::Words;
use crate::ast::{Operand, PtxTy};
use crate::parse::Parsed;
use lh_ir::Value;

impl FnLift<'_, '_> {
    /// `cvt{.rounding}{.ftz}{.sat}.to.from d, a`
    pub(super) fn convert(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let [to, from] = words.types()[..] else {
            return self.fail(format_args!("`cvt.{}` is not supported", words.0.join(".")));
        };
        let a = self.get(&args[1], from)?;
        let v = match (from.is_float(), to.is_float()) {
            (true, false) => {
                let x = self.rounded(words, a);
                self.clamped(x, to)
            }
            (true, true) => {
                let x = self.rounded(words, a);
                let v = self.cast(x, ir_ty(to));
                if words.has("sat") { self.unit_interval(v) } else { v }
            }
            (false, true) => {
                let rounds_down = words.has("rz") || words.has("rm") || words.has("rp");
                if rounds_down {
                    return self.fail("conversions with other roundings than to nearest are not supported");
                }
                self.cast(a, ir_ty(to))
            }
            (false, false) if words.has("sat") => self.saturate(a, from, to),
            (false, false) => self.cast(a, ir_ty(to)),
        };
        self.set(&args[0], v)
    }

    /// To an integral float, if a rounding to integers is asked for.
    fn rounded(&mut self, words: &Words<'_>, x: Value) -> Value {
        let row = match () {
            () if words.has("rni") => "rint",
            () if words.has("rzi") => "trunc",
            () if words.has("rmi") => "floor",
            () if words.has("rpi") => "ceil",
            () => return x,
        };
        self.op(row, &[x])
    }

    /// An integral float as an integer: the nearest there is, zero for NaN.
    fn clamped(&mut self, x: Value, to: PtxTy) -> Value {
        let (float, t) = (self.func.ty(x), ir_ty(to));
        let bits = to.bits();
        let (low, high) =
            if to.is_signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
        // One more than the highest is a float; the highest may not be.
        let (least, beyond) = (self.float(low as f64, float), self.float((high + 1) as f64, float));
        let (under, over) = (self.op("lt", &[x, least]), self.op("ge", &[x, beyond]));
        let is_nan = self.op("isnan", &[x]);
        let zero = self.float(0.0, float);
        let mut safe = x;
        for odd in [under, over, is_nan] {
            safe = self.op("select", &[odd, zero, safe]);
        }
        let v = self.cast(safe, t);
        let (low, high) = (self.int(low, t), self.int(high, t));
        let v = self.op("select", &[under, low, v]);
        self.op("select", &[over, high, v])
    }

    fn unit_interval(&mut self, x: Value) -> Value {
        let t = self.func.ty(x);
        let (zero, one) = (self.float(0.0, t), self.float(1.0, t));
        let above = self.op("gt", &[x, zero]);
        // NaN is not above zero, and becomes it.
        let x = self.op("select", &[above, x, zero]);
        let over = self.op("gt", &[x, one]);
        self.op("select", &[over, one, x])
    }

    /// An integer as the nearest of another type.
    fn saturate(&mut self, a: Value, from: PtxTy, to: PtxTy) -> Value {
        let range = |t: PtxTy| {
            if t.is_signed() {
                (-(1i128 << (t.bits() - 1)), (1i128 << (t.bits() - 1)) - 1)
            } else {
                (0, (1i128 << t.bits()) - 1)
            }
        };
        let ((from_low, from_high), (to_low, to_high)) = (range(from), range(to));
        let mut v = a;
        for (row, limit, inside) in [("lt", to_low, to_low >= from_low), ("gt", to_high, to_high <= from_high)] {
            if inside {
                let limit = self.int(limit, ir_ty(from));
                let beyond = self.op(row, &[v, limit]);
                v = self.op("select", &[beyond, limit, v]);
            }
        }
        self.cast(v, ir_ty(to))
    }
}
