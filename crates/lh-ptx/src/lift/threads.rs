//! Special registers, barriers, warps and atomic operations.

use super::build::{FnLift, ir_ty};
use super::inst::Words;
use crate::ast::{Operand, PtxTy};
use crate::parse::Parsed;
use lh_ir::func::Inst as Ir;
use lh_ir::runtime::{Axis, Geometry, Rmw, RuntimeFn};
use lh_ir::{Ty, Value};
use lh_ops::families;
use lh_ops::runtime as rt;
use lh_ops::warp as kind;

const WORD: PtxTy = PtxTy::Unsigned(32);

impl FnLift<'_, '_> {
    /// A special register.
    pub(super) fn special(&mut self, name: &str) -> Parsed<Value> {
        let short = name.trim_start_matches('%');
        let (what, axis) = short.split_once('.').unwrap_or((short, "x"));
        let geometry = match what {
            "tid" => Some(Geometry::Thread),
            "ctaid" => Some(Geometry::Block),
            "ntid" => Some(Geometry::BlockDim),
            "nctaid" => Some(Geometry::GridDim),
            _ => None,
        };
        if let Some(g) = geometry {
            let Some(axis) = Axis::of_name(axis) else { return self.fail(format_args!("no axis `{axis}`")) };
            let v = self.geometry(g, axis)?;
            return Ok(self.cast(v, Ty::u32()));
        }
        let last = self.int(31, Ty::u32());
        match what {
            "laneid" => {
                let t = self.thread_number()?;
                Ok(self.op("and", &[t, last]))
            }
            "warpid" => {
                let (t, n) = (self.thread_number()?, self.int(5, Ty::u32()));
                Ok(self.op("shr", &[t, n]))
            }
            "lanemask_eq" | "lanemask_lt" | "lanemask_le" | "lanemask_gt" | "lanemask_ge" => self.lane_mask(what),
            "dynamic_smem_size" => {
                let cx = self.context()?;
                let n = self.call(&rt::lh_cuda_dynamic_bytes, vec![cx], Ty::int());
                Ok(self.cast(n, Ty::u32()))
            }
            "total_smem_size" => Ok(self.int(self.cx.shared_bytes as i128, Ty::u32())),
            // There is one multiprocessor as far as a program can tell.
            "smid" | "nsmid" => Ok(self.int(i128::from(what == "nsmid"), Ty::u32())),
            "WARP_SZ" => Ok(self.int(32, Ty::u32())),
            _ => self.fail(format_args!("the register `{name}` is not supported")),
        }
    }

    fn geometry(&mut self, what: Geometry, axis: Axis) -> Parsed<Value> {
        let f = families::geometry(what, axis);
        let cx = self.context()?;
        let args = if f.args.is_empty() { vec![] } else { vec![cx] };
        Ok(self.call(f, args, Ty::int()))
    }

    /// Number of the thread in its block.
    fn thread_number(&mut self) -> Parsed<Value> {
        let [x, y, z] = Axis::ALL.map(|a| self.geometry(Geometry::Thread, a));
        let [nx, ny] = [Axis::X, Axis::Y].map(|a| self.geometry(Geometry::BlockDim, a));
        let planes = self.op("mul", &[z?, ny?]);
        let rows = self.op("add", &[planes, y?]);
        let before = self.op("mul", &[rows, nx?]);
        let n = self.op("add", &[before, x?]);
        Ok(self.cast(n, Ty::u32()))
    }

    fn lane(&mut self) -> Parsed<Value> {
        let (n, last) = (self.thread_number()?, self.int(31, Ty::u32()));
        Ok(self.op("and", &[n, last]))
    }

    fn lane_mask(&mut self, what: &str) -> Parsed<Value> {
        let (lane, one) = (self.lane()?, self.int(1, Ty::u32()));
        let eq = self.op("shl", &[one, lane]);
        let lt = self.op("sub", &[eq, one]);
        let le = self.op("or", &[lt, eq]);
        Ok(match what {
            "lanemask_eq" => eq,
            "lanemask_lt" => lt,
            "lanemask_le" => le,
            "lanemask_gt" => self.op("invert", &[le]),
            _ => self.op("invert", &[lt]),
        })
    }

    pub(super) fn threads(&mut self, name: &str, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        match name {
            "bar" | "barrier" => self.barrier(words, args),
            "membar" | "fence" => {
                let scope = match () {
                    () if words.has("cta") => 0,
                    () if words.has("gl") || words.has("gpu") => 1,
                    () => 2,
                };
                let scope = self.int(scope, Ty::int());
                self.run(&rt::lh_cuda_fence, vec![scope]);
                Ok(())
            }
            "nanosleep" => {
                let (cx, ns) = (self.context()?, self.get(&args[0], PtxTy::Unsigned(32))?);
                let ns = self.cast(ns, Ty::int());
                self.run(&rt::lh_cuda_pause, vec![cx, ns]);
                Ok(())
            }
            "activemask" => {
                let cx = self.context()?;
                let v = self.call(&rt::lh_cuda_activemask, vec![cx], Ty::int());
                let v = self.cast(v, Ty::u32());
                self.set(&args[0], v)
            }
            "shfl" => self.shuffle(words, args),
            "vote" => self.vote(words, args),
            "match" => self.matching(words, args),
            _ => self.atomic(name == "red", words, args),
        }
    }

    /// Calls the run-time library for its effect.
    fn run(&mut self, f: &'static RuntimeFn, args: Vec<Value>) {
        self.effect(Ir::Runtime(f, args));
    }

    fn barrier(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let cx = self.context()?;
        if words.has("warp") {
            let mask = self.get(&args[0], WORD)?;
            let zero = self.int(0, Ty::int());
            self.warp(kind::SYNC, mask, zero, None)?;
            return Ok(());
        }
        if words.has("red") {
            let p = self.get(args.last().unwrap_or(&args[0]), PtxTy::Pred)?;
            let p = self.cast(p, Ty::int());
            let barrier = match () {
                () if words.has("popc") => &rt::lh_cuda_sync_count,
                () if words.has("and") => &rt::lh_cuda_sync_and,
                () => &rt::lh_cuda_sync_or,
            };
            let v = self.call(barrier, vec![cx, p], Ty::int());
            let bits = self.bits_of(v);
            return self.set(&args[0], bits);
        }
        if words.has("arrive") || args.len() > 1 || args.first().is_some_and(|a| *a != Operand::Int(0)) {
            return self.fail("barriers of a part of the block are not supported");
        }
        self.run(&rt::lh_cuda_sync, vec![cx]);
        Ok(())
    }

    /// A request to the warp: a value of 64 bits and a truth value.
    fn warp(&mut self, kind: i64, mask: Value, value: Value, lane: Option<Value>) -> Parsed<(Value, Value)> {
        let cx = self.context()?;
        let kind = self.int(kind.into(), Ty::int());
        let mask = self.cast(mask, Ty::int());
        let lane = match lane {
            Some(l) => self.cast(l, Ty::int()),
            None => self.int(0, Ty::int()),
        };
        let pair = Ty::tuple(vec![Ty::int(); 2]);
        let answer = self.call(&rt::lh_cuda_warp, vec![cx, kind, mask, value, lane], pair);
        let (v, flag) = (self.push(Ir::Field(answer, 0), Ty::int()), self.push(Ir::Field(answer, 1), Ty::int()));
        let zero = self.int(0, Ty::int());
        let flag = self.op("ne", &[flag, zero]);
        Ok((v, flag))
    }

    /// `shfl.sync.mode.b32 d|p, a, b, c, mask`: the lane that is read is found as the manual says, whatever the mode.
    fn shuffle(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let [a, b, c, mask] = [1, 2, 3, 4].map(|i| self.get(&args[i], WORD));
        let (a, b, c, mask) = (a?, b?, c?, mask?);
        let lane = self.lane()?;
        let (last, eight) = (self.int(31, Ty::u32()), self.int(8, Ty::u32()));
        let (b, clamp) = (self.op("and", &[b, last]), self.op("and", &[c, last]));
        let segments = self.op("shr", &[c, eight]);
        let segments = self.op("and", &[segments, last]);
        let fixed = self.op("and", &[lane, segments]);
        let free = self.op("invert", &[segments]);
        let within = self.op("and", &[clamp, free]);
        let most = self.op("or", &[fixed, within]);
        let signed = |cx: &mut Self, v: Value| cx.cast(v, Ty::i32());
        let (l, by, limit) = (signed(self, lane), signed(self, b), signed(self, most));
        let (from, inside) = match () {
            () if words.has("up") => {
                let j = self.op("sub", &[l, by]);
                let ok = self.op("ge", &[j, limit]);
                (j, ok)
            }
            () if words.has("idx") => {
                let own = self.op("and", &[b, free]);
                let j = self.op("or", &[fixed, own]);
                let j = signed(self, j);
                let ok = self.op("le", &[j, limit]);
                (j, ok)
            }
            () => {
                let j = self.op(if words.has("down") { "add" } else { "xor" }, &[l, by]);
                let ok = self.op("le", &[j, limit]);
                (j, ok)
            }
        };
        let from = self.op("select", &[inside, from, l]);
        let a = self.cast(a, Ty::int());
        let (v, _) = self.warp(kind::SHFL, mask, a, Some(from))?;
        let v = self.cast(v, Ty::u32());
        match &args[0] {
            Operand::Pair(d, p) => {
                self.set(&Operand::Name(d.clone()), v)?;
                self.set(&Operand::Name(p.clone()), inside)
            }
            d => self.set(d, v),
        }
    }

    fn vote(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let (p, mask) = (self.get(&args[1], PtxTy::Pred)?, self.get(&args[2], WORD)?);
        let p = self.cast(p, Ty::int());
        let kind = match () {
            () if words.has("ballot") => kind::BALLOT,
            () if words.has("all") => kind::ALL,
            () if words.has("any") => kind::ANY,
            () => kind::EQ,
        };
        let (v, _) = self.warp(kind, mask, p, None)?;
        let bits = self.bits_of(v);
        self.set(&args[0], bits)
    }

    fn matching(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let ty = words.types().last().copied().unwrap_or(WORD);
        let (a, mask) = (self.get(&args[1], ty)?, self.get(&args[2], WORD)?);
        let a = self.cast(a, Ty::int());
        let kind = if words.has("any") { kind::MATCH_ANY } else { kind::MATCH_ALL };
        let (v, flag) = self.warp(kind, mask, a, None)?;
        let v = self.cast(v, Ty::u32());
        match &args[0] {
            Operand::Pair(d, p) => {
                self.set(&Operand::Name(d.clone()), v)?;
                self.set(&Operand::Name(p.clone()), flag)
            }
            d => self.set(d, v),
        }
    }

    /// `atom.op.type d, [a], b{, c}` and `red`, which has no result.
    fn atomic(&mut self, is_red: bool, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let (to, args) = if is_red { (None, args) } else { (Some(&args[0]), &args[1..]) };
        let Some(ty) = words.types().last().copied() else { return self.fail("an atomic operation without a type") };
        let (unsigned, float) = (matches!(ty, PtxTy::Unsigned(_)), matches!(ty, PtxTy::Float(_)));
        let number = match ty {
            PtxTy::Float(_) => ir_ty(ty),
            t if t.bits() == 32 => Ty::i32(),
            _ => Ty::i64(),
        };
        // The first word says whether it is `atom` or `red`.
        let Some(rmw) = words.0.iter().find_map(|w| families::atomic_of_word(w, unsigned, float)) else {
            return self.fail("this atomic operation is not supported");
        };
        let at = self.address(words, &args[0])?;
        let Some(f) = families::atomic(rmw, number.flatten()[0]).filter(|_| number.bits() == ty.bits()) else {
            return self.fail(format_args!("the atomic operation {rmw:?} of {ty:?} is not supported"));
        };
        if rmw == Rmw::CompareExchange && args.len() < 3 {
            return self.fail("`atom.cas` has too few operands");
        }
        let mut operands = vec![at];
        for a in &args[1..] {
            let v = self.get(a, ty)?;
            operands.push(self.cast(v, number));
        }
        let v = self.call(f, operands, number);
        match to {
            None => Ok(()),
            Some(to) if number.is_float() => self.set(to, v),
            Some(to) => {
                let bits = self.bits_of(v);
                self.set(to, bits)
            }
        }
    }
}
