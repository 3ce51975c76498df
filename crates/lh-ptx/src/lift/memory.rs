//! Moves, loads, stores, addresses and calls.

use super::build::{FnLift, ir_ty};
use super::inst::Words;
use super::unknown;
use crate::ast::{Operand, PtxTy, Space};
use crate::parse::Parsed;
use lh_ir::func::Inst as Ir;
use lh_ir::runtime::Rmw;
use lh_ir::{Ty, Value};
use lh_ops::families::atomic;
use lh_ops::runtime as rt;
use lh_ops::symbols;

impl FnLift<'_, '_> {
    pub(super) fn memory(&mut self, name: &str, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        match name {
            "mov" => self.mov(words, args),
            "ld" | "ldu" => self.load(words, args),
            "st" => self.store(words, args),
            "cvta" => self.convert_address(words, args),
            "isspacep" => self.is_in_space(words, args),
            // Hints.
            _ => Ok(()),
        }
    }

    fn mov(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let Some(ty) = words.types().last().copied() else { return self.fail("a move without a type") };
        match (&args[0], &args[1]) {
            (to, Operand::List(parts)) => {
                let v = self.joined(parts, ty)?;
                self.set(to, v)
            }
            (Operand::List(parts), from) => {
                let v = self.get(from, ty)?;
                self.split(parts, v)
            }
            (to, from) => {
                let v = self.get(from, ty)?;
                self.set(to, v)
            }
        }
    }

    /// One value of parts, the lowest first.
    fn joined(&mut self, parts: &[Operand], ty: PtxTy) -> Parsed<Value> {
        let (t, width) = (ir_ty(ty), ty.bits() / parts.len() as u32);
        let mut out = self.int(0, t);
        for (i, p) in parts.iter().enumerate() {
            let part = self.get(p, PtxTy::Bits(width))?;
            let (part, n) = (self.cast(part, t), self.int((width * i as u32).into(), t));
            let moved = self.op("shl", &[part, n]);
            out = self.op("or", &[out, moved]);
        }
        Ok(out)
    }

    fn split(&mut self, parts: &[Operand], v: Value) -> Parsed<()> {
        let v = self.bits_of(v);
        let t = self.func.ty(v);
        let width = t.bits() / parts.len() as u32;
        for (i, p) in parts.iter().enumerate() {
            let n = self.int((width * i as u32).into(), t);
            let moved = self.op("shr", &[v, n]);
            let part = self.cast(moved, ir_ty(PtxTy::Bits(width)));
            self.set(p, part)?;
        }
        Ok(())
    }

    /// The address that a memory operand means, as a pointer.
    pub(super) fn address(&mut self, words: &Words<'_>, operand: &Operand) -> Parsed<Value> {
        let Operand::Memory(base, offset) = operand else { return self.fail("an address was expected") };
        let space = words.0.iter().find_map(|w| Space::parse(w));
        if let (Some(Space::Param | Space::Local), Some(name)) | (None, Some(name)) = (space, base)
            && let Some(place) = self.place(name)
        {
            return Ok(self.offset(place, *offset));
        }
        let at = match base {
            Some(name) => self.get(&Operand::Name(name.clone()), PtxTy::Unsigned(64))?,
            None => self.int(0, Ty::u64()),
        };
        if space == Some(Space::Shared) {
            let base = self.shared_base()?;
            // Addresses in shared memory may have 32 bits; they are counted from its start, and may lie before it.
            let narrow = base_is_narrow(self, operand);
            let at = if narrow {
                let low = self.cast(at, Ty::i32());
                self.cast(low, Ty::i64())
            } else {
                self.cast(at, Ty::i64())
            };
            let p = self.push(Ir::PtrAdd(base, at), Ty::ptr());
            return Ok(self.offset(p, *offset));
        }
        let p = self.pointer(at);
        Ok(self.offset(p, *offset))
    }

    /// A number as an address.
    pub(super) fn pointer(&mut self, at: Value) -> Value {
        let n = self.cast(at, Ty::i64());
        self.call(&rt::lh_addr_ptr, vec![n], Ty::ptr())
    }

    fn load(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let Some(ty) = words.types().last().copied() else { return self.fail("a load without a type") };
        let at = self.address(words, &args[1])?;
        let waits = ["volatile", "relaxed", "acquire", "cg", "cv"].iter().any(|w| words.has(w));
        if waits && words.0.iter().all(|w| w != "param" && w != "local") {
            return self.load_now(ty, at, &args[0]);
        }
        let size = i64::from(ty.bits() / 8);
        let targets = if let Operand::List(parts) = &args[0] { &parts[..] } else { std::slice::from_ref(&args[0]) };
        // All are read before the first register is written, which may hold the address.
        let mut vals = Vec::new();
        for i in 0..targets.len() {
            let at = self.offset(at, size * i as i64);
            vals.push(self.push(Ir::Load(at), ir_ty(ty)));
        }
        for (to, v) in targets.iter().zip(vals) {
            self.set(to, v)?;
        }
        Ok(())
    }

    /// A load that another thread's store may have to be waited for with: others go on, and memory is asked each time.
    fn load_now(&mut self, ty: PtxTy, at: Value, to: &Operand) -> Parsed<()> {
        let cx = self.context()?;
        let ns = self.int(0, Ty::int());
        self.effect(Ir::Runtime(&rt::lh_cuda_pause, vec![cx, ns]));
        let t = if ty.bits() == 32 { Ty::i32() } else { Ty::i64() };
        let or = match atomic(Rmw::Or, t.flatten()[0]) {
            Some(or) if t.bits() == ty.bits() => or,
            _ => {
                let v = self.push(Ir::Load(at), ir_ty(ty));
                return self.set(to, v);
            }
        };
        let zero = self.int(0, t);
        let v = self.call(or, vec![at, zero], t);
        let bits = self.bits_of(v);
        let v = self.interpret(bits, ty);
        self.set(to, v)
    }

    fn store(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let Some(ty) = words.types().last().copied() else { return self.fail("a store without a type") };
        let at = self.address(words, &args[0])?;
        let size = i64::from(ty.bits() / 8);
        let sources = if let Operand::List(parts) = &args[1] { &parts[..] } else { std::slice::from_ref(&args[1]) };
        for (i, from) in sources.iter().enumerate() {
            let v = self.get(from, ty)?;
            let at = self.offset(at, size * i as i64);
            self.effect(Ir::Store(at, v));
        }
        Ok(())
    }

    /// Between the addresses of a space and generic ones, which differ in shared memory.
    fn convert_address(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let a = self.get(&args[1], PtxTy::Unsigned(64))?;
        let is_shared = words.0.iter().any(|w| Space::parse(w) == Some(Space::Shared));
        let v = if is_shared {
            let base = self.shared_base()?;
            let base = self.as_number(base);
            self.op(if words.has("to") { "sub" } else { "add" }, &[a, base])
        } else {
            a
        };
        self.set(&args[0], v)
    }

    fn is_in_space(&mut self, words: &Words<'_>, args: &[Operand]) -> Parsed<()> {
        let a = self.get(&args[1], PtxTy::Unsigned(64))?;
        let base = self.shared_base()?;
        let start = self.as_number(base);
        let size = self.int(self.cx.shared_bytes as i128, Ty::u64());
        let at = self.op("sub", &[a, start]);
        let inside = self.op("lt", &[at, size]);
        let v = match words.0.first().and_then(|w| Space::parse(w)) {
            Some(Space::Shared) => inside,
            Some(Space::Global) => self.op("not", &[inside]),
            _ => return self.fail("`isspacep` of this space is not supported"),
        };
        self.set(&args[0], v)
    }

    /// `call (results), function, (arguments)`, either list may be missing.
    pub(super) fn call_function(&mut self, args: &[Operand]) -> Parsed<()> {
        let (rets, name, params) = match args {
            [Operand::List(r), Operand::Name(f), Operand::List(p)] => (&r[..], f, &p[..]),
            [Operand::List(r), Operand::Name(f)] => (&r[..], f, &[][..]),
            [Operand::Name(f), Operand::List(p)] => (&[][..], f, &p[..]),
            [Operand::Name(f)] => (&[][..], f, &[][..]),
            _ => return self.fail("indirect calls are not supported"),
        };
        let mut places = Vec::new();
        for a in rets.iter().chain(params) {
            let Operand::Name(n) = a else { return self.fail(format_args!("{a:?} is no parameter")) };
            match self.place(n) {
                Some(p) => places.push(p),
                None => return self.fail(format_args!("no parameter `{n}`")),
            }
        }
        if self.cx.aligned.contains(name.as_str()) {
            self.aligned.push(self.block);
        }
        // Our own code generator's barrier of the grid, which would wait for blocks that are not running.
        if name == symbols::GRID_SYNC {
            let cx = self.context()?;
            self.effect(Ir::Runtime(&rt::lh_cuda_grid_sync, vec![cx]));
            return Ok(());
        }
        match self.cx.specs.get(name.as_str()) {
            Some((spec, _)) if self.cx.ending.contains(name.as_str()) => {
                let ended = self.push(Ir::Call(*spec, places), Ty::bool());
                let (end, next) = (self.func.new_block(), self.func.new_block());
                self.branch(ended, end, next);
                self.block = end;
                self.exit();
                self.block = next;
                Ok(())
            }
            Some((spec, _)) => {
                self.push(Ir::Call(*spec, places), Ty::none());
                Ok(())
            }
            None => Err(unknown(name)),
        }
    }
}

/// Whether the register of an address has 32 bits.
fn base_is_narrow(cx: &FnLift<'_, '_>, operand: &Operand) -> bool {
    matches!(operand, Operand::Memory(Some(name), _) if cx.register_bits(name) == Some(32))
}
