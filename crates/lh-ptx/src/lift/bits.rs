//! Operations on bits.

use super::build::{FnLift, ir_ty};
use super::inst::Words;
use crate::ast::{Operand, PtxTy};
use crate::parse::Parsed;
use lh_ir::{Ty, Value};

const WORD: PtxTy = PtxTy::Unsigned(32);

impl FnLift<'_, '_> {
    /// Lifts an operation on bits; `false` if it is none.
    pub(super) fn bit_operation(&mut self, name: &str, words: &Words<'_>, args: &[Operand]) -> Parsed<bool> {
        let Some(ty) = words.types().last().copied() else { return Ok(false) };
        let v = match name {
            "and" | "or" | "xor" => {
                let (a, b) = (self.get(&args[1], ty)?, self.get(&args[2], ty)?);
                self.op(name, &[a, b])
            }
            "not" => {
                let a = self.get(&args[1], ty)?;
                self.op(if ty == PtxTy::Pred { "not" } else { "invert" }, &[a])
            }
            "cnot" => {
                let a = self.get(&args[1], ty)?;
                let zero = self.int(0, ir_ty(ty));
                let is_zero = self.op("eq", &[a, zero]);
                self.cast(is_zero, ir_ty(ty))
            }
            "shl" | "shr" => {
                let (a, n) = (self.get(&args[1], ty)?, self.get(&args[2], WORD)?);
                self.shift(name, ty, a, n)
            }
            "popc" | "clz" => {
                let a = self.get(&args[1], ty)?;
                let n = self.op(if name == "popc" { "popcount" } else { "ctlz" }, &[a]);
                self.cast(n, Ty::u32())
            }
            "brev" => {
                let a = self.get(&args[1], ty)?;
                self.op("bitreverse", &[a])
            }
            "bfind" => {
                let a = self.get(&args[1], ty)?;
                self.find(ty, words.has("shiftamt"), a)
            }
            _ => match self.fields(name, words, ty, args)? {
                Some(v) => v,
                None => return Ok(false),
            },
        };
        self.set(&args[0], v)?;
        Ok(true)
    }

    /// Operations that take bits out of words and put them together.
    fn fields(&mut self, name: &str, words: &Words<'_>, ty: PtxTy, args: &[Operand]) -> Parsed<Option<Value>> {
        Ok(Some(match name {
            "bfe" => {
                let (a, at, n) = (self.get(&args[1], ty)?, self.get(&args[2], WORD)?, self.get(&args[3], WORD)?);
                self.field(ty, a, at, n)
            }
            "bfi" => {
                let (a, b) = (self.get(&args[1], ty)?, self.get(&args[2], ty)?);
                let (at, n) = (self.get(&args[3], WORD)?, self.get(&args[4], WORD)?);
                self.insert_field(ty, a, b, at, n)
            }
            "prmt" => {
                if words.0.len() > 1 {
                    return self.fail("`prmt` with a mode is not supported");
                }
                let [a, b, c] = [1, 2, 3].map(|i| self.get(&args[i], WORD));
                self.permuted(a?, b?, c?)
            }
            "lop3" => {
                let [a, b, c] = [1, 2, 3].map(|i| self.get(&args[i], ty));
                let Some(Operand::Int(table)) = args.get(4) else { return self.fail("`lop3` without a table") };
                self.table_of_three(*table as u32, a?, b?, c?)
            }
            "shf" => {
                let [low, high, n] = [1, 2, 3].map(|i| self.get(&args[i], WORD));
                self.funnel(words, low?, high?, n?)
            }
            _ => return Ok(None),
        }))
    }

    /// A shift whose count may be as large as it likes.
    pub(super) fn shift(&mut self, name: &str, ty: PtxTy, a: Value, n: Value) -> Value {
        let t = ir_ty(ty);
        let (last, zero) = (self.int((ty.bits() - 1).into(), Ty::u32()), self.int(0, t));
        let over = self.op("gt", &[n, last]);
        let n = self.op("select", &[over, last, n]);
        let n = self.cast(n, t);
        let v = self.op(name, &[a, n]);
        if name == "shr" && ty.is_signed() { v } else { self.op("select", &[over, zero, v]) }
    }

    /// Place of the highest bit that is not the sign; all bits set if there is none.
    fn find(&mut self, ty: PtxTy, distance: bool, a: Value) -> Value {
        let t = ir_ty(ty);
        let mut x = a;
        if ty.is_signed() {
            let zero = self.int(0, t);
            let negative = self.op("lt", &[a, zero]);
            let flipped = self.op("invert", &[a]);
            x = self.op("select", &[negative, flipped, a]);
        }
        let n = self.op("ctlz", &[x]);
        let n = self.cast(n, Ty::u32());
        let (width, none, last) = (
            self.int(ty.bits().into(), Ty::u32()),
            self.int(-1, Ty::u32()),
            self.int((ty.bits() - 1).into(), Ty::u32()),
        );
        let is_none = self.op("eq", &[n, width]);
        let place = if distance { n } else { self.op("sub", &[last, n]) };
        self.op("select", &[is_none, none, place])
    }

    fn mask_of(&mut self, ty: PtxTy, n: Value) -> Value {
        let (t, unsigned) = (ir_ty(PtxTy::Unsigned(ty.bits())), PtxTy::Unsigned(ty.bits()));
        let one = self.int(1, t);
        let bit = self.shift("shl", unsigned, one, n);
        let one = self.int(1, t);
        self.op("sub", &[bit, one])
    }

    fn field(&mut self, ty: PtxTy, a: Value, at: Value, n: Value) -> Value {
        let unsigned = PtxTy::Unsigned(ty.bits());
        let t = ir_ty(unsigned);
        let byte = self.int(0xff, Ty::u32());
        let (at, n) = (self.op("and", &[at, byte]), self.op("and", &[n, byte]));
        let raw = self.bits_of(a);
        let moved = if ty.is_signed() {
            let moved = self.shift("shr", ty, a, at);
            self.bits_of(moved)
        } else {
            self.shift("shr", unsigned, raw, at)
        };
        let mask = self.mask_of(ty, n);
        let v = self.op("and", &[moved, mask]);
        if !ty.is_signed() {
            return v;
        }
        // The highest bit of the field is its sign.
        let (one, zero) = (self.int(1, Ty::u32()), self.int(0, Ty::u32()));
        let none = self.op("eq", &[n, zero]);
        let last = self.op("sub", &[n, one]);
        let last = self.op("select", &[none, zero, last]);
        let one = self.int(1, t);
        let sign = self.shift("shl", unsigned, one, last);
        let flipped = self.op("xor", &[v, sign]);
        let extended = self.op("sub", &[flipped, sign]);
        let zero = self.int(0, t);
        self.op("select", &[none, zero, extended])
    }

    fn insert_field(&mut self, ty: PtxTy, a: Value, b: Value, at: Value, n: Value) -> Value {
        let byte = self.int(0xff, Ty::u32());
        let (at, n) = (self.op("and", &[at, byte]), self.op("and", &[n, byte]));
        let mask = self.mask_of(ty, n);
        let unsigned = PtxTy::Unsigned(ty.bits());
        let mask = self.shift("shl", unsigned, mask, at);
        let moved = self.shift("shl", unsigned, a, at);
        let new = self.op("and", &[moved, mask]);
        let keep = self.op("invert", &[mask]);
        let old = self.op("and", &[b, keep]);
        self.op("or", &[old, new])
    }

    /// Four bytes of eight, each chosen by four bits: three say which, the fourth that its sign is wanted.
    fn permuted(&mut self, a: Value, b: Value, c: Value) -> Value {
        let t = Ty::u64();
        let n = |cx: &mut Self, n: i128| cx.int(n, t);
        let (low, high, c) = (self.cast(a, t), self.cast(b, t), self.cast(c, t));
        let half = n(self, 32);
        let high = self.op("shl", &[high, half]);
        let all = self.op("or", &[low, high]);
        let mut out = n(self, 0);
        for i in 0..4 {
            let (place, seven, eight, byte) = (n(self, 4 * i), n(self, 7), n(self, 8), n(self, 0xff));
            let choice = self.op("shr", &[c, place]);
            let which = self.op("and", &[choice, seven]);
            let by = self.op("mul", &[which, eight]);
            let found = self.op("shr", &[all, by]);
            let found = self.op("and", &[found, byte]);
            let (wants_sign, zero, top) = (self.op("and", &[choice, eight]), n(self, 0), n(self, 0x80));
            let wants_sign = self.op("ne", &[wants_sign, zero]);
            let sign = self.op("and", &[found, top]);
            let is_set = self.op("ne", &[sign, zero]);
            let signs = self.op("select", &[is_set, byte, zero]);
            let found = self.op("select", &[wants_sign, signs, found]);
            let to = n(self, 8 * i);
            let moved = self.op("shl", &[found, to]);
            out = self.op("or", &[out, moved]);
        }
        self.cast(out, Ty::u32())
    }

    /// Any function of three bits, as a table of eight.
    fn table_of_three(&mut self, table: u32, a: Value, b: Value, c: Value) -> Value {
        let t = self.func.ty(a);
        let mut out = self.int(0, t);
        for i in 0..8u32 {
            if table >> i & 1 == 0 {
                continue;
            }
            let mut term = self.int(-1, t);
            for (bit, v) in [(4, a), (2, b), (1, c)] {
                let v = if i & bit != 0 { v } else { self.op("invert", &[v]) };
                term = self.op("and", &[term, v]);
            }
            out = self.op("or", &[out, term]);
        }
        out
    }

    /// A shift of two words as one, of which one is kept.
    fn funnel(&mut self, words: &Words<'_>, low: Value, high: Value, n: Value) -> Value {
        let t = Ty::u64();
        let n = if words.has("wrap") {
            let last = self.int(31, Ty::u32());
            self.op("and", &[n, last])
        } else {
            let most = self.int(32, Ty::u32());
            let over = self.op("gt", &[n, most]);
            self.op("select", &[over, most, n])
        };
        let (l, h, half) = (self.cast(low, t), self.cast(high, t), self.int(32, t));
        let h = self.op("shl", &[h, half]);
        let both = self.op("or", &[h, l]);
        let n = self.cast(n, t);
        let v = if words.has("l") {
            let moved = self.op("shl", &[both, n]);
            self.op("shr", &[moved, half])
        } else {
            self.op("shr", &[both, n])
        };
        self.cast(v, Ty::u32())
    }
}
