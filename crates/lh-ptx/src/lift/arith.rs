//! Arithmetic, comparisons and selections.

use super::build::{FnLift, ir_ty};
use super::inst::Words;
use crate::ast::{Operand, PtxTy};
use crate::parse::Parsed;
use lh_ir::func::Inst as Ir;
use lh_ir::{Ty, Value};

/// Instructions of one type whose operands are values.
const KNOWN: &[&str] = &[
    "add", "sub", "mul", "mad", "fma", "div", "rem", "abs", "neg", "min", "max", "sqrt", "rsqrt", "rcp", "sin", "cos",
    "lg2", "ex2", "tanh", "copysign", "addc", "subc", "madc", "mul24", "mad24", "sad",
];

impl FnLift<'_, '_> {
    /// Lifts an arithmetic instruction; `false` if it is none.
    pub(super) fn arithmetic(&mut self, name: &str, words: &Words<'_>, args: &[Operand]) -> Parsed<bool> {
        let types = words.types();
        let Some(ty) = types.last().copied() else { return Ok(false) };
        match name {
            "setp" | "set" => self.compare(name, words, args)?,
            "selp" => {
                let p = self.get(&args[3], PtxTy::Pred)?;
                let (a, b) = (self.get(&args[1], ty)?, self.get(&args[2], ty)?);
                let v = self.op("select", &[p, a, b]);
                self.set(&args[0], v)?;
            }
            "slct" => {
                let c = self.get(&args[3], ty)?;
                let zero = if ty.is_float() { self.float(0.0, ir_ty(ty)) } else { self.int(0, ir_ty(ty)) };
                let p = self.op("ge", &[c, zero]);
                let (a, b) = (self.get(&args[1], types[0])?, self.get(&args[2], types[0])?);
                let v = self.op("select", &[p, a, b]);
                self.set(&args[0], v)?;
            }
            "testp" => {
                let x = self.get(&args[1], ty)?;
                let v = self.test(words, x)?;
                self.set(&args[0], v)?;
            }
            _ => {
                if !KNOWN.contains(&name) {
                    return Ok(false);
                }
                let vals = args[1..].iter().enumerate().map(|(i, a)| self.get(a, operand_type(name, i, ty, words)));
                let vals = vals.collect::<Vec<_>>();
                let vals = vals.into_iter().collect::<Parsed<Vec<Value>>>()?;
                let v = if ty.is_float() {
                    self.float_op(name, words, &vals)?
                } else {
                    self.int_op(name, words, ty, &vals)?
                };
                self.set(&args[0], v)?;
            }
        }
        Ok(true)
    }

    fn float_op(&mut self, name: &str, words: &Words<'_>, v: &[Value]) -> Parsed<Value> {
        let ty = self.func.ty(v[0]);
        if ty == Ty::f16() {
            // Computed wider and rounded once: for a product and a sum, what `float64` has is enough.
            let wide = if matches!(name, "mad" | "fma") { Ty::f64() } else { Ty::f32() };
            let v: Vec<Value> = v.iter().map(|x| self.cast(*x, wide)).collect();
            let result = self.float_op(name, words, &v)?;
            return Ok(self.cast(result, ty));
        }
        let out = match (name, v) {
            ("add", [a, b]) => self.op("add", &[*a, *b]),
            ("sub", [a, b]) => self.op("sub", &[*a, *b]),
            ("mul", [a, b]) => self.op("mul", &[*a, *b]),
            ("mad" | "fma", [a, b, c]) => self.op("fma", &[*a, *b, *c]),
            ("div", [a, b]) => self.op("fdiv", &[*a, *b]),
            ("abs", [a]) => self.op("fabs", &[*a]),
            ("neg", [a]) => self.op("neg", &[*a]),
            ("min" | "max", [a, b]) => self.extreme(name == "max", words.has("NaN"), *a, *b),
            ("sqrt", [a]) => self.op("sqrt", &[*a]),
            ("rsqrt" | "rcp", [a]) => {
                let below = if name == "rcp" { *a } else { self.op("sqrt", &[*a]) };
                let one = self.float(1.0, ty);
                self.op("fdiv", &[one, below])
            }
            ("sin" | "cos" | "tanh", [a]) => self.op(name, &[*a]),
            ("lg2", [a]) => self.op("log2", &[*a]),
            ("ex2", [a]) => self.op("exp2", &[*a]),
            // The sign is the first operand's here.
            ("copysign", [a, b]) => self.op("copysign", &[*b, *a]),
            _ => return self.fail(format_args!("`{name}` of floats is not supported")),
        };
        if !words.has("sat") {
            return Ok(out);
        }
        let (zero, one) = (self.float(0.0, ty), self.float(1.0, ty));
        let low = self.extreme(true, false, out, zero);
        Ok(self.extreme(false, false, low, one))
    }

    /// The greater or lesser float. A NaN is passed over unless it is asked for.
    fn extreme(&mut self, greater: bool, keeps_nan: bool, a: Value, b: Value) -> Value {
        let v = self.op(if greater { "maximum" } else { "minimum" }, &[a, b]);
        if keeps_nan {
            return v;
        }
        let (a_is, b_is) = (self.op("isnan", &[a]), self.op("isnan", &[b]));
        let v = self.op("select", &[b_is, a, v]);
        self.op("select", &[a_is, b, v])
    }

    fn int_op(&mut self, name: &str, words: &Words<'_>, ty: PtxTy, v: &[Value]) -> Parsed<Value> {
        let carries = words.has("cc");
        Ok(match (name, v) {
            ("add", [a, b]) if carries => self.add_carry(*a, *b, false, true),
            ("addc", [a, b]) => self.add_carry(*a, *b, true, carries),
            ("sub", [a, b]) if carries => self.sub_borrow(*a, *b, false, true),
            ("subc", [a, b]) => self.sub_borrow(*a, *b, true, carries),
            ("add", [a, b]) if words.has("sat") => self.saturated("add", *a, *b),
            ("sub", [a, b]) if words.has("sat") => self.saturated("sub", *a, *b),
            ("add" | "sub", [a, b]) => self.op(name, &[*a, *b]),
            ("mul" | "mul24", [a, b]) => self.product(words, ty, *a, *b),
            ("mad" | "mad24" | "madc", [a, b, c]) => {
                let p = self.product(words, ty, *a, *b);
                let c = self.cast(*c, self.func.ty(p));
                let takes = name == "madc";
                if takes || carries { self.add_carry(p, c, takes, carries) } else { self.op("add", &[p, c]) }
            }
            ("div" | "rem", [a, b]) => self.quotient(name, *a, *b),
            ("abs", [a]) => self.op("abs", &[*a]),
            ("neg", [a]) => self.op("neg", &[*a]),
            ("min" | "max", [a, b]) => {
                let less = self.op("lt", &[*a, *b]);
                let (yes, no) = if name == "min" { (*a, *b) } else { (*b, *a) };
                self.op("select", &[less, yes, no])
            }
            ("sad", [a, b, c]) => {
                let less = self.op("lt", &[*a, *b]);
                let (up, down) = (self.op("sub", &[*b, *a]), self.op("sub", &[*a, *b]));
                let d = self.op("select", &[less, up, down]);
                self.op("add", &[d, *c])
            }
            _ => return self.fail(format_args!("`{name}` of integers is not supported")),
        })
    }

    /// A division by zero gives all bits set, as the hardware does; no operands are refused.
    fn quotient(&mut self, name: &str, a: Value, b: Value) -> Value {
        let ty = self.func.ty(b);
        let (zero, one) = (self.int(0, ty), self.int(1, ty));
        let by_zero = self.op("eq", &[b, zero]);
        let mut divisor = self.op("select", &[by_zero, one, b]);
        let mut flips = None;
        if ty.is_signed() {
            // The least number by -1 overflows: its negation is itself.
            let minus = self.int(-1, ty);
            let is_minus = self.op("eq", &[b, minus]);
            divisor = self.op("select", &[is_minus, one, divisor]);
            flips = Some(is_minus);
        }
        let v = self.op(if name == "div" { "sdiv" } else { "srem" }, &[a, divisor]);
        let v = match flips {
            Some(is_minus) if name == "div" => {
                let negated = self.op("sub", &[zero, a]);
                self.op("select", &[is_minus, negated, v])
            }
            _ => v,
        };
        let ones = self.int(-1, ty);
        let odd = if name == "div" { ones } else { a };
        self.op("select", &[by_zero, odd, v])
    }

    /// The lower half, the upper half or all of a product.
    fn product(&mut self, words: &Words<'_>, ty: PtxTy, a: Value, b: Value) -> Value {
        let (signed, bits) = (ty.is_signed(), ty.bits());
        if !words.has("wide") && !words.has("hi") {
            return self.op("mul", &[a, b]);
        }
        if bits == 64 {
            return self.high_product(signed, a, b);
        }
        let wide = ir_ty(if signed { PtxTy::Signed(2 * bits) } else { PtxTy::Unsigned(2 * bits) });
        let (a, b) = (self.cast(a, wide), self.cast(b, wide));
        let p = self.op("mul", &[a, b]);
        if words.has("wide") {
            return p;
        }
        let n = self.int(bits.into(), wide);
        let high = self.op("shr", &[p, n]);
        self.cast(high, ir_ty(ty))
    }

    /// The upper 64 bits of a product, from products of halves.
    fn high_product(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let t = Ty::u64();
        let (ua, ub) = (self.cast(a, t), self.cast(b, t));
        let (half, mask) = (self.int(32, t), self.int(0xffff_ffff, t));
        let halves = |cx: &mut Self, v: Value| (cx.op("shr", &[v, half]), cx.op("and", &[v, mask]));
        let ((ah, al), (bh, bl)) = (halves(self, ua), halves(self, ub));
        let low = self.op("mul", &[al, bl]);
        let carry = self.op("shr", &[low, half]);
        let one = self.op("mul", &[ah, bl]);
        let middle = self.op("add", &[one, carry]);
        let (mh, ml) = halves(self, middle);
        let other = self.op("mul", &[al, bh]);
        let rest = self.op("add", &[other, ml]);
        let up = self.op("shr", &[rest, half]);
        let top = self.op("mul", &[ah, bh]);
        let top = self.op("add", &[top, mh]);
        let mut high = self.op("add", &[top, up]);
        if signed {
            let zero = self.int(0, Ty::i64());
            for (x, y) in [(a, ub), (b, ua)] {
                let negative = self.op("lt", &[x, zero]);
                let none = self.int(0, t);
                let less = self.op("select", &[negative, y, none]);
                high = self.op("sub", &[high, less]);
            }
            high = self.cast(high, Ty::i64());
        }
        high
    }

    fn add_carry(&mut self, a: Value, b: Value, takes: bool, gives: bool) -> Value {
        let ty = self.func.ty(a);
        let slot = self.carry();
        let mut sum = self.op("add", &[a, b]);
        let (ua, us) = (self.bits_of(a), self.bits_of(sum));
        let mut over = self.op("lt", &[us, ua]);
        if takes {
            let c = self.push(Ir::SlotGet(slot), Ty::bool());
            let c = self.cast(c, ty);
            let before = us;
            sum = self.op("add", &[sum, c]);
            let us = self.bits_of(sum);
            let again = self.op("lt", &[us, before]);
            over = self.op("or", &[over, again]);
        }
        if gives {
            self.effect(Ir::SlotSet(slot, over));
        }
        sum
    }

    fn sub_borrow(&mut self, a: Value, b: Value, takes: bool, gives: bool) -> Value {
        let ty = self.func.ty(a);
        let slot = self.carry();
        let (ua, ub) = (self.bits_of(a), self.bits_of(b));
        let mut under = self.op("lt", &[ua, ub]);
        let mut out = self.op("sub", &[a, b]);
        if takes {
            let c = self.push(Ir::SlotGet(slot), Ty::bool());
            let c = self.cast(c, ty);
            let before = self.bits_of(out);
            let unsigned = self.bits_of(c);
            let again = self.op("lt", &[before, unsigned]);
            out = self.op("sub", &[out, c]);
            under = self.op("or", &[under, again]);
        }
        if gives {
            self.effect(Ir::SlotSet(slot, under));
        }
        out
    }

    /// A sum or difference of signed 32-bit numbers that stops at the ends of their range.
    fn saturated(&mut self, name: &str, a: Value, b: Value) -> Value {
        let (wa, wb) = (self.cast(a, Ty::i64()), self.cast(b, Ty::i64()));
        let v = self.op(name, &[wa, wb]);
        let (low, high) = (self.int(i32::MIN.into(), Ty::i64()), self.int(i32::MAX.into(), Ty::i64()));
        let (under, over) = (self.op("lt", &[v, low]), self.op("gt", &[v, high]));
        let v = self.op("select", &[under, low, v]);
        let v = self.op("select", &[over, high, v]);
        self.cast(v, Ty::i32())
    }

    /// `setp` and `set`: a comparison, perhaps joined with another truth value.
    fn compare(&mut self, name: &str, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let types = words.types();
        let ty = types[types.len() - 1];
        let (a, b) = (self.get(&args[1], ty)?, self.get(&args[2], ty)?);
        let first = self.comparison(&words.0[0], ty, a, b)?;
        let other = match args.get(3) {
            Some(c) => Some(self.get(c, PtxTy::Pred)?),
            None => None,
        };
        let joined = |cx: &mut Self, v: Value| match other {
            Some(c) if words.has("and") => cx.op("and", &[v, c]),
            Some(c) if words.has("or") => cx.op("or", &[v, c]),
            Some(c) => cx.op("xor", &[v, c]),
            None => v,
        };
        let v = joined(self, first);
        if name == "set" {
            let to = types[0];
            let v = if to.is_float() {
                let (one, zero) = (self.float(1.0, ir_ty(to)), self.float(0.0, ir_ty(to)));
                self.op("select", &[v, one, zero])
            } else {
                let (ones, zero) = (self.int(-1, ir_ty(to)), self.int(0, ir_ty(to)));
                self.op("select", &[v, ones, zero])
            };
            return self.set(&args[0], v);
        }
        match &args[0] {
            Operand::Pair(p, q) => {
                let contrary = self.op("not", &[first]);
                let w = joined(self, contrary);
                self.set(&Operand::Name(p.clone()), v)?;
                self.set(&Operand::Name(q.clone()), w)
            }
            one => self.set(one, v),
        }
    }

    fn comparison(&mut self, word: &str, ty: PtxTy, a: Value, b: Value) -> Parsed<Value> {
        if ty.is_float() {
            return self.float_comparison(word, a, b);
        }
        let row = match word {
            "eq" | "ne" | "lt" | "le" | "gt" | "ge" => word,
            // Names of unsigned comparisons.
            "lo" => "lt",
            "ls" => "le",
            "hi" => "gt",
            "hs" => "ge",
            _ => return self.fail(format_args!("no comparison `{word}`")),
        };
        if ty == PtxTy::Pred {
            let v = self.op("xor", &[a, b]);
            return Ok(if row == "ne" { v } else { self.op("not", &[v]) });
        }
        Ok(self.op(row, &[a, b]))
    }

    /// Comparisons of floats: ordered ones, and with `u` those that hold of NaN too.
    fn float_comparison(&mut self, word: &str, a: Value, b: Value) -> Parsed<Value> {
        let (na, nb) = (self.op("isnan", &[a]), self.op("isnan", &[b]));
        let unordered = self.op("or", &[na, nb]);
        Ok(match word {
            "num" => self.op("not", &[unordered]),
            "nan" => unordered,
            "eq" | "lt" | "le" | "gt" | "ge" => self.op(word, &[a, b]),
            "ne" => {
                let (v, ordered) = (self.op("ne", &[a, b]), self.op("not", &[unordered]));
                self.op("and", &[v, ordered])
            }
            "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" => {
                let v = self.op(&word[..2], &[a, b]);
                self.op("or", &[v, unordered])
            }
            _ => return self.fail(format_args!("no comparison `{word}`")),
        })
    }

    fn test(&mut self, words: &Words<'_>, x: Value) -> Parsed<Value> {
        let what = words.0.first().map_or("", String::as_str);
        Ok(match what {
            "finite" => self.op("isfinite", &[x]),
            "infinite" => self.op("isinf", &[x]),
            "notanumber" => self.op("isnan", &[x]),
            "number" => {
                let v = self.op("isnan", &[x]);
                self.op("not", &[v])
            }
            _ => return self.fail(format_args!("`testp.{what}` is not supported")),
        })
    }
}

/// The type of an operand: the last of `mad.wide` is as wide as the result.
fn operand_type(name: &str, i: usize, ty: PtxTy, words: &Words<'_>) -> PtxTy {
    match ty {
        PtxTy::Signed(b) if name == "mad" && i == 2 && words.has("wide") => PtxTy::Signed(2 * b),
        PtxTy::Unsigned(b) if name == "mad" && i == 2 && words.has("wide") => PtxTy::Unsigned(2 * b),
        _ => ty,
    }
}
