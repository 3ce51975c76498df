//! One function: its blocks, registers and operands.

use super::{ModuleCx, slots_of, unknown};
use crate::ast::{Func, Operand, PtxTy, Space, Stmt, StmtKind, Var};
use crate::parse::Parsed;
use lh_ir::diag::{self, Diagnostic};
use lh_ir::func::{BlockData, Device, Function, Inst, InstData, Target, Term};
use lh_ir::runtime::RuntimeFn;
use lh_ir::{Block, Const, Slot, Span, Ty, Value};
use lh_ops::runtime as rt;
use std::collections::HashMap;

/// The function being made.
pub(super) struct FnLift<'a, 'm> {
    pub(super) cx: &'a ModuleCx<'m>,
    pub(super) source: &'m Func,
    pub(super) func: Function,
    pub(super) block: Block,
    pub(super) line: u32,
    registers: HashMap<String, (Slot, PtxTy)>,
    labels: HashMap<String, Block>,
    /// Addresses of parameters and of variables in local memory, by name; a name may be declared again in another
    /// scope.
    places: HashMap<String, Value>,
    /// Addresses made before the first instruction, by statement.
    declared: HashMap<usize, Value>,
    /// The carry of extended arithmetic.
    carry: Option<Slot>,
    /// The block's context and its shared memory.
    pub(super) context: Option<Value>,
    shared: Option<Value>,
    /// Blocks at whose end the thread ends by `exit`.
    pub(super) exits: Vec<Block>,
    /// Blocks with barriers that a whole warp must come to together.
    pub(super) aligned: Vec<Block>,
}

/// Whether a function returns if its thread has ended in it.
fn ends(cx: &ModuleCx<'_>, source: &Func) -> bool {
    !source.is_entry && cx.ending.contains(&*source.name)
}

/// The IR type of values of a PTX type.
pub(super) fn ir_ty(ty: PtxTy) -> Ty {
    match ty {
        PtxTy::Pred => Ty::bool(),
        PtxTy::Bits(8) | PtxTy::Unsigned(8) => Ty::u8(),
        PtxTy::Bits(16) | PtxTy::Unsigned(16) => Ty::u16(),
        PtxTy::Bits(32) | PtxTy::Unsigned(32) => Ty::u32(),
        PtxTy::Bits(_) | PtxTy::Unsigned(_) => Ty::u64(),
        PtxTy::Signed(8) => Ty::i8(),
        PtxTy::Signed(16) => Ty::i16(),
        PtxTy::Signed(32) => Ty::i32(),
        PtxTy::Signed(_) => Ty::i64(),
        PtxTy::Float(16) => Ty::f16(),
        PtxTy::Float(32) => Ty::f32(),
        PtxTy::Float(_) => Ty::f64(),
    }
}

impl<'a, 'm> FnLift<'a, 'm> {
    /// Makes the function of a PTX function.
    pub(super) fn lift(cx: &'a ModuleCx<'m>, source: &'m Func) -> Parsed<Function> {
        let func = Function {
            name: source.name.clone(),
            qualname: source.name.clone(),
            file: "<PTX>".to_owned(),
            ret: Some(if ends(cx, source) { Ty::bool() } else { Ty::none() }),
            options: cx.options,
            ..Function::default()
        };
        let mut f = FnLift {
            cx,
            source,
            func,
            block: Block(0),
            line: 0,
            registers: HashMap::new(),
            labels: HashMap::new(),
            places: HashMap::new(),
            declared: HashMap::new(),
            carry: None,
            context: None,
            shared: None,
            exits: Vec::new(),
            aligned: Vec::new(),
        };
        f.func.blocks.push(BlockData::default());
        let body = source.body.as_deref().unwrap_or_default();
        f.prologue(body)?;
        f.body(body)?;
        f.tie_off();
        if cx.converged {
            f.check_convergence();
        }
        Ok(f.func)
    }

    pub(super) fn fail<T>(&self, what: impl std::fmt::Display) -> Parsed<T> {
        Err(Diagnostic::new(diag::BAD_PTX, format!("line {} of the PTX: {what}", self.line)))
    }

    /// Memory for parameters and variables, and blocks for labels.
    fn prologue(&mut self, body: &[Stmt]) -> Parsed<()> {
        if self.cx.options.device != Device::Host {
            self.context = Some(self.call(&rt::lh_cuda_context, vec![], Ty::ptr()));
        }
        let source = self.source;
        for p in source.rets.iter().filter(|_| !source.is_entry).chain(&source.params) {
            let place = if source.is_entry {
                let place = self.local(p);
                for (i, ty) in slots_of(p).into_iter().enumerate() {
                    let v = self.parameter(ty);
                    let at = self.offset(place, 8 * i as i64);
                    self.effect(Inst::Store(at, v));
                }
                place
            } else {
                self.parameter(Ty::ptr())
            };
            self.places.insert(p.name.clone(), place);
        }
        for (i, s) in body.iter().enumerate() {
            match &s.kind {
                StmtKind::Var(v) if matches!(v.space, Space::Param | Space::Local) => {
                    let place = self.local(v);
                    self.declared.insert(i, place);
                }
                StmtKind::Var(v) if v.space != Space::Shared => {
                    return self.fail(format_args!("`{}` is declared inside of a function", v.name));
                }
                StmtKind::Label(name) => {
                    let block = self.func.new_block();
                    self.labels.insert(name.clone(), block);
                }
                StmtKind::Regs(ty, names) => self.declare_registers(*ty, names),
                StmtKind::Var(_) | StmtKind::Inst(_) => {}
            }
        }
        // The first block cannot be jumped to.
        let first = self.func.new_block();
        self.jump(first);
        self.block = first;
        Ok(())
    }

    fn parameter(&mut self, ty: Ty) -> Value {
        self.func.new_param(Block(0), ty)
    }

    fn local(&mut self, var: &Var) -> Value {
        let (size, align) =
            (self.int(var.size.max(8) as i128, Ty::int()), self.int(var.align.max(8) as i128, Ty::int()));
        self.call(&rt::lh_cuda_local, vec![size, align], Ty::ptr())
    }

    fn declare_registers(&mut self, ty: PtxTy, names: &[String]) {
        for name in names {
            let raw = if ty == PtxTy::Pred { ty } else { PtxTy::Bits(ty.bits()) };
            let slot = self.func.new_slot(ir_ty(raw));
            self.registers.insert(name.clone(), (slot, raw));
        }
    }

    fn body(&mut self, body: &'m [Stmt]) -> Parsed<()> {
        for (i, s) in body.iter().enumerate() {
            self.line = s.line;
            match &s.kind {
                StmtKind::Regs(..) => {}
                StmtKind::Var(v) => {
                    if let Some(place) = self.declared.get(&i) {
                        self.places.insert(v.name.clone(), *place);
                    }
                }
                StmtKind::Label(name) => {
                    let block = self.labels[name];
                    if !self.is_closed() {
                        self.jump(block);
                    }
                    self.block = block;
                }
                StmtKind::Inst(inst) => {
                    if self.is_closed() {
                        self.block = self.func.new_block();
                    }
                    self.guarded(inst)?;
                }
            }
        }
        if !self.is_closed() {
            self.ret();
        }
        Ok(())
    }

    /// Blocks that nothing leads to have no terminator yet.
    fn tie_off(&mut self) {
        for b in &mut self.func.blocks {
            b.term.get_or_insert(Term::Unreachable);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.func.blocks[self.block.index()].term.is_some()
    }
    pub(super) fn terminate(&mut self, term: Term) {
        let span = self.span();
        let b = &mut self.func.blocks[self.block.index()];
        (b.term, b.term_span) = (Some(term), span);
    }
    pub(super) fn jump(&mut self, block: Block) {
        self.terminate(Term::Jump(Target { block, args: vec![] }));
    }
    pub(super) fn branch(&mut self, cond: Value, then: Block, els: Block) {
        let to = |block| Target { block, args: vec![] };
        self.terminate(Term::Branch { cond, then: to(then), els: to(els) });
    }
    pub(super) fn ret(&mut self) {
        let result = self.push(Inst::Zero, self.func.ret.unwrap_or_else(Ty::none));
        self.terminate(Term::Return(result));
    }
    /// Ends the thread: a function that a kernel calls tells its caller so.
    pub(super) fn exit(&mut self) {
        self.exits.push(self.block);
        if ends(self.cx, self.source) {
            let ended = self.int(1, Ty::bool());
            self.terminate(Term::Return(ended));
        } else {
            self.ret();
        }
    }
    pub(super) fn label(&self, name: &str) -> Parsed<Block> {
        match self.labels.get(name) {
            Some(b) => Ok(*b),
            None => self.fail(format_args!("no label `{name}`")),
        }
    }
    fn span(&self) -> Span {
        Span { line: self.line, end_line: self.line, ..Span::default() }
    }

    /// Adds an instruction with a result.
    pub(super) fn push(&mut self, inst: Inst, ty: Ty) -> Value {
        let (result, span) = (Some(self.func.new_value(ty)), self.span());
        self.func.blocks[self.block.index()].insts.push(InstData { result, inst, span });
        result.unwrap_or(Value(0))
    }
    /// Adds an instruction without a result.
    pub(super) fn effect(&mut self, inst: Inst) {
        let span = self.span();
        self.func.blocks[self.block.index()].insts.push(InstData { result: None, inst, span });
    }
    /// A row of the operation table; the result's type is the row's.
    pub(super) fn op(&mut self, name: &str, args: &[Value]) -> Value {
        let row = lh_ops::row(name).unwrap_or_else(|| lh_ir::bug!("no row `{name}`"));
        let types: Vec<Ty> = args.iter().map(|a| self.func.ty(*a)).collect();
        let ty = row.sig.result(&types, None).unwrap_or_else(|| lh_ir::bug!("`{name}` of {types:?}"));
        self.push(Inst::Op(row, args.to_vec()), ty)
    }
    /// A call of the run-time library.
    pub(super) fn call(&mut self, f: &'static RuntimeFn, args: Vec<Value>, ty: Ty) -> Value {
        self.push(Inst::Runtime(f, args), ty)
    }
    pub(super) fn cast(&mut self, v: Value, ty: Ty) -> Value {
        if self.func.ty(v) == ty { v } else { self.push(Inst::Cast(v), ty) }
    }
    /// An integer constant, wrapped to its type.
    pub(super) fn int(&mut self, n: i128, ty: Ty) -> Value {
        let wrapped = if ty.is_bool() {
            return self.push(Inst::Const(Const::Bool(n != 0)), ty);
        } else if ty.is_signed() {
            n << (128 - ty.bits()) >> (128 - ty.bits())
        } else {
            n & ((1i128 << ty.bits()) - 1)
        };
        self.push(Inst::Const(Const::Int(wrapped, ty)), ty)
    }
    pub(super) fn float(&mut self, x: f64, ty: Ty) -> Value {
        self.push(Inst::Const(Const::Float(x, ty)), ty)
    }
    /// Address plus a constant number of bytes.
    pub(super) fn offset(&mut self, at: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return at;
        }
        let n = self.int(bytes.into(), Ty::i64());
        self.push(Inst::PtrAdd(at, n), Ty::ptr())
    }

    /// The context of the block.
    pub(super) fn context(&mut self) -> Parsed<Value> {
        match self.context {
            Some(cx) => Ok(cx),
            None => self.fail("code for the host knows no blocks"),
        }
    }
    /// The block's shared memory of static size: one piece for the whole module.
    pub(super) fn shared_base(&mut self) -> Parsed<Value> {
        if let Some(v) = self.shared {
            return Ok(v);
        }
        let cx = self.context()?;
        // Made at the start, where it is visible from everywhere.
        let here = std::mem::replace(&mut self.block, Block(0));
        let term = self.func.blocks[0].term.take();
        let [site, bytes, align] =
            [1 << 60, self.cx.shared_bytes.max(1), self.cx.shared_align].map(|n| self.int(n as i128, Ty::int()));
        let v = self.call(&rt::lh_cuda_shared, vec![cx, site, bytes, align], Ty::ptr());
        self.func.blocks[0].term = term;
        self.block = here;
        self.shared = Some(v);
        Ok(v)
    }

    /// An operand as a value of a type.
    pub(super) fn get(&mut self, operand: &Operand, ty: PtxTy) -> Parsed<Value> {
        match operand {
            Operand::Int(n) if ty.is_float() => {
                let v = self.int(*n, ir_ty(PtxTy::Bits(ty.bits())));
                Ok(self.interpret(v, ty))
            }
            Operand::Int(n) => Ok(self.int(*n, ir_ty(ty))),
            Operand::Float(bits, 32) if ty == PtxTy::Float(32) => {
                Ok(self.float(f64::from(f32::from_bits(*bits as u32)), Ty::f32()))
            }
            Operand::Float(bits, 64) if ty.is_float() => Ok(self.float(f64::from_bits(*bits), ir_ty(ty))),
            Operand::Float(bits, _) => {
                let v = self.int((*bits).into(), ir_ty(PtxTy::Bits(ty.bits())));
                Ok(self.interpret(v, ty))
            }
            Operand::Name(name) => {
                let raw = self.name(name)?;
                Ok(self.interpret(raw, ty))
            }
            Operand::Not(name) => {
                let raw = self.name(name)?;
                let p = self.interpret(raw, PtxTy::Pred);
                Ok(self.op("not", &[p]))
            }
            Operand::Offset(name, n) => {
                let raw = self.name(name)?;
                let (base, n) = (self.cast(raw, Ty::u64()), self.int((*n).into(), Ty::u64()));
                let sum = self.op("add", &[base, n]);
                Ok(self.interpret(sum, ty))
            }
            other => self.fail(format_args!("{other:?} is no value")),
        }
    }

    /// The value of a name: bits as an unsigned integer, or a truth value.
    fn name(&mut self, name: &str) -> Parsed<Value> {
        if let Some((slot, ty)) = self.registers.get(name).copied() {
            return Ok(self.push(Inst::SlotGet(slot), ir_ty(ty)));
        }
        if name.starts_with('%') {
            return self.special(name);
        }
        self.address_of(name)
    }

    /// The address of a variable as PTX has it: in shared memory counted from its start.
    pub(super) fn address_of(&mut self, name: &str) -> Parsed<Value> {
        if let Some(p) = self.places.get(name).copied() {
            return Ok(self.as_number(p));
        }
        if let Some(at) = self.cx.addresses.get(name) {
            return Ok(self.int(*at as i128, Ty::u64()));
        }
        if let Some(at) = self.cx.shared.get(name) {
            return Ok(self.int(*at as i128, Ty::u64()));
        }
        if self.cx.is_dynamic(name) {
            let (base, cx) = (self.shared_base()?, self.context()?);
            let dynamic = self.call(&rt::lh_cuda_dynamic, vec![cx], Ty::ptr());
            let (a, b) = (self.as_number(dynamic), self.as_number(base));
            return Ok(self.op("sub", &[a, b]));
        }
        Err(unknown(name))
    }
    /// Width of a register.
    pub(super) fn register_bits(&self, name: &str) -> Option<u32> {
        self.registers.get(name).map(|(_, ty)| ty.bits())
    }
    /// Where a parameter or a local variable is.
    pub(super) fn place(&self, name: &str) -> Option<Value> {
        self.places.get(name).copied()
    }
    pub(super) fn as_number(&mut self, p: Value) -> Value {
        let n = self.call(&rt::lh_ptr_addr, vec![p], Ty::i64());
        self.cast(n, Ty::u64())
    }

    /// Bits as a value of a type: cut or widened with zeros, then read as what it is.
    pub(super) fn interpret(&mut self, raw: Value, ty: PtxTy) -> Value {
        let from = self.func.ty(raw);
        match ty {
            PtxTy::Pred if from.is_bool() => raw,
            PtxTy::Pred => {
                let zero = self.int(0, from);
                self.op("ne", &[raw, zero])
            }
            PtxTy::Float(bits) => {
                let (unsigned, signed, row) = match bits {
                    16 => (Ty::u16(), Ty::i16(), "f16_of_bits"),
                    32 => (Ty::u32(), Ty::i32(), "f32_of_bits"),
                    _ => (Ty::u64(), Ty::i64(), "f64_of_bits"),
                };
                let wide = self.cast(raw, unsigned);
                let signed = self.cast(wide, signed);
                self.op(row, &[signed])
            }
            PtxTy::Bits(_) | PtxTy::Unsigned(_) | PtxTy::Signed(_) => {
                let same_width = self.cast(raw, ir_ty(PtxTy::Bits(ty.bits())));
                self.cast(same_width, ir_ty(ty))
            }
        }
    }

    /// The bits of a value, as an unsigned integer of its width.
    pub(super) fn bits_of(&mut self, v: Value) -> Value {
        let ty = self.func.ty(v);
        let v = match ty {
            t if t == Ty::f16() => self.op("bits_of_f16", &[v]),
            t if t == Ty::f32() => self.op("bits_of_f32", &[v]),
            t if t == Ty::f64() => self.op("bits_of_f64", &[v]),
            _ => v,
        };
        let unsigned = match self.func.ty(v).bits() {
            8 => Ty::u8(),
            16 => Ty::u16(),
            32 => Ty::u32(),
            _ => Ty::u64(),
        };
        self.cast(v, unsigned)
    }

    /// Writes a value to a register: a signed one is widened with its sign.
    pub(super) fn set(&mut self, to: &Operand, v: Value) -> Parsed<()> {
        let Operand::Name(name) = to else { return self.fail(format_args!("{to:?} is no register")) };
        if name == "_" {
            return Ok(());
        }
        let Some((slot, ty)) = self.registers.get(name).copied() else {
            return self.fail(format_args!("no register `{name}`"));
        };
        let v = match ty {
            PtxTy::Pred => self.interpret(v, PtxTy::Pred),
            _ if self.func.ty(v).is_float() => {
                let bits = self.bits_of(v);
                self.cast(bits, ir_ty(ty))
            }
            _ => self.cast(v, ir_ty(ty)),
        };
        self.effect(Inst::SlotSet(slot, v));
        Ok(())
    }

    /// The slot of the carry.
    pub(super) fn carry(&mut self) -> Slot {
        if let Some(s) = self.carry {
            return s;
        }
        let s = self.func.new_slot(Ty::bool());
        self.carry = Some(s);
        s
    }
}
