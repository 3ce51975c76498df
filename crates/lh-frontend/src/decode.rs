//! Bytes to instructions: the part that all versions of CPython share. `decode/cpython311.rs` and its neighbours have
//! the differences.

mod cpython311;
mod cpython312;
mod cpython313;
mod cpython314;
mod opcode;

use crate::instr::{Instr, Op, Problem, Program, Region, Var};
use crate::raw::{RawCode, RawConst};
use lh_ir::Span;
use lh_ir::diag::{Diagnostic, Result, TOO_LARGE, UNSUPPORTED_BYTECODE, UNSUPPORTED_SYNTAX};
use lh_ir::untyped::{BinOp, CmpOp, PyConst, UnOp};
use opcode::{Opcode, Table};

/// Bytes of code that are accepted.
const MAX_CODE: usize = 1 << 20;
/// Items that one instruction may spread on the stack.
pub(crate) const MAX_SPREAD: u32 = 1 << 16;

/// Something that is refused by this name, and advice.
const TYPE_PARAMETER: (&str, &str) =
    ("a type parameter of an inner function", "leave it out: compiled functions take every type");

/// The differences between versions.
pub(crate) struct Version {
    /// Numbers of operations.
    pub(crate) table: &'static Table,
    /// Decodes the operations whose meaning is the version's own; `false` leaves one to [`Decoder::common`].
    pub(crate) decode: fn(&mut Decoder<'_>, Opcode, u32) -> Result<bool>,
}

fn version_rules(version: (u8, u8)) -> Option<Version> {
    match version {
        (3, 11) => Some(Version { table: &cpython311::TABLE, decode: cpython311::decode }),
        (3, 12) => Some(Version { table: &cpython312::TABLE, decode: cpython312::decode }),
        (3, 13) => Some(Version { table: &cpython313::TABLE, decode: cpython313::decode }),
        (3, 14) => Some(Version { table: &cpython314::TABLE, decode: cpython314::decode }),
        _ => None,
    }
}

/// Decodes a code object.
pub(crate) fn decode(raw: &RawCode, version: (u8, u8)) -> Result<Program<'_>> {
    let at = |d: Box<Diagnostic>| d.at(&raw.filename, Span { line: raw.firstlineno, ..Span::default() });
    let Some(rules) = version_rules(version) else {
        let text = format!("CPython {}.{} is not supported", version.0, version.1);
        return Err(at(Diagnostic::new(UNSUPPORTED_BYTECODE, text).note("supported are CPython 3.11 to 3.14")));
    };
    if raw.code.len() > MAX_CODE {
        let text = format!("`{}` is too large: {} bytes of bytecode", raw.name, raw.code.len());
        return Err(at(
            Diagnostic::new(TOO_LARGE, text).note(format!("at most {MAX_CODE} are accepted; split the function"))
        ));
    }
    let mut decoder = Decoder::new(raw);
    decoder.run(&rules)?;
    decoder.finish()
}

/// State of decoding one code object.
pub(crate) struct Decoder<'a> {
    raw: &'a RawCode,
    ops: Vec<Op<'a>>,
    vars: Vec<Var<'a>>,
    /// Instruction at each two-byte unit; `NOWHERE` inside instructions.
    at_unit: Vec<u32>,
    /// Place of the instruction being decoded.
    span: Span,
    /// Unit after it and its caches, from which jumps count.
    next: u32,
    /// Keyword names for the coming call.
    names: Option<&'a RawConst>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a> Decoder<'a> {
    fn new(raw: &'a RawCode) -> Self {
        let is_cell = |name: &String| raw.cellvars.contains(name);
        let mut vars: Vec<Var<'a>> = raw.varnames.iter().map(|n| Var { name: n, is_cell: is_cell(n) }).collect();
        let own_cells = raw.cellvars.iter().filter(|c| !raw.varnames.contains(c));
        vars.extend(own_cells.map(|n| Var { name: n, is_cell: true }));
        let units = raw.code.len() / 2;
        Decoder {
            raw,
            ops: Vec::with_capacity(units),
            vars,
            at_unit: vec![NOWHERE; units],
            span: Span::default(),
            next: 0,
            names: None,
        }
    }

    fn run(&mut self, rules: &Version) -> Result<()> {
        let units: Vec<(u8, u8)> = self.raw.code.chunks_exact(2).map(|u| (u[0], u[1])).collect();
        let (mut unit, mut start, mut extended) = (0, 0, 0u32);
        while let Some(&(byte, low)) = units.get(unit) {
            let opcode = rules.table[byte as usize];
            let arg = (extended << 8) | u32::from(low);
            unit += 1;
            if opcode == Opcode::ExtendedArg {
                extended = arg;
                continue;
            }
            let caches = units[unit..].iter().take_while(|u| rules.table[u.0 as usize] == Opcode::Cache).count();
            self.span = self.raw.positions.get(unit - 1).copied().unwrap_or_default();
            self.at_unit[start] = self.index();
            self.next = (unit + caches) as u32;
            if opcode == Opcode::Unknown {
                return Err(self.malformed(&format!("there is no operation number {byte}")));
            }
            if !(rules.decode)(self, opcode, arg)? {
                self.common(opcode, arg)?;
            }
            unit += caches;
            start = unit;
            extended = 0;
        }
        Ok(())
    }

    /// Resolves jumps and the exception table.
    fn finish(mut self) -> Result<Program<'a>> {
        let end = self.index();
        for i in 0..self.ops.len() {
            self.span = self.ops[i].span;
            let Some(target) = self.ops[i].instr.target() else { continue };
            let index = self.at_unit.get(target as usize).copied().unwrap_or(NOWHERE);
            if index == NOWHERE {
                return Err(self.malformed("a jump leads nowhere"));
            }
            if let Some(t) = self.ops[i].instr.target_mut() {
                *t = index;
            }
        }
        let regions = self.regions(end)?;
        Ok(Program { ops: self.ops, regions, vars: self.vars })
    }

    fn regions(&self, end: u32) -> Result<Vec<Region>> {
        let mut regions: Vec<Region> = Vec::new();
        let mut bytes = self.raw.exceptiontable.iter().copied();
        // A region may start or end at a unit inside an instruction (its caches): the next instruction counts.
        let index = |unit: u32| {
            let rest = self.at_unit.get(unit as usize..).unwrap_or(&[]);
            rest.iter().copied().find(|&i| i != NOWHERE).unwrap_or(end)
        };
        while let Some(start) = varint(&mut bytes) {
            let (Some(length), Some(target), Some(depth)) =
                (varint(&mut bytes), varint(&mut bytes), varint(&mut bytes))
            else {
                return Err(self.malformed("the exception table is cut off"));
            };
            let region = Region {
                start: index(start),
                end: index(start.saturating_add(length)),
                target: self.at_unit.get(target as usize).copied().unwrap_or(NOWHERE),
                depth: depth >> 1,
                lasti: depth & 1 == 1,
            };
            if region.target == NOWHERE {
                return Err(self.malformed("an exception handler is nowhere"));
            }
            if regions.last().is_some_and(|r| r.end > region.start) {
                return Err(self.malformed("the exception table is out of order"));
            }
            if region.start < region.end {
                regions.push(region);
            }
        }
        Ok(regions)
    }

    fn index(&self) -> u32 {
        self.ops.len() as u32
    }

    /// A diagnostic for bytes that no compiler of Python makes.
    pub(crate) fn malformed(&self, why: &str) -> Box<Diagnostic> {
        let text = format!("the bytecode of `{}` is malformed: {why}", self.raw.name);
        Diagnostic::new(UNSUPPORTED_BYTECODE, text).at(&self.raw.filename, self.span)
    }

    /// Adds an instruction.
    pub(crate) fn push(&mut self, instr: Instr<'a>) {
        self.ops.push(Op { instr, span: self.span });
    }

    /// Adds an instruction that is an error if it is reached.
    pub(crate) fn unsupported(&mut self, what: &str, note: &'static str) {
        let text = format!("{what} is not supported in compiled code");
        self.push(Instr::Unsupported(Box::new(Problem { id: UNSUPPORTED_SYNTAX, text, note })));
    }

    /// An entry of `co_names`.
    pub(crate) fn name(&self, index: u32) -> Result<&'a str> {
        self.raw.names.get(index as usize).map(String::as_str).ok_or_else(|| self.malformed("a name is out of range"))
    }

    /// An entry of `co_consts`.
    pub(crate) fn constant(&self, index: u32) -> Result<&'a RawConst> {
        self.raw.consts.get(index as usize).ok_or_else(|| self.malformed("a constant is out of range"))
    }

    fn var(&self, index: u32) -> Result<u32> {
        if (index as usize) < self.vars.len() { Ok(index) } else { Err(self.malformed("a variable is out of range")) }
    }

    /// Reads a local: the cell itself where it is one, for only closures read cells so.
    pub(crate) fn load_fast(&mut self, index: u32) -> Result<()> {
        if index as usize >= self.vars.len() {
            return self.load_closure(index);
        }
        let is_cell = self.vars[index as usize].is_cell;
        self.push(if is_cell { Instr::LoadRaw(index) } else { Instr::Load(index) });
        Ok(())
    }

    /// Assigns to a local.
    pub(crate) fn store_fast(&mut self, index: u32) -> Result<()> {
        let var = self.var(index)?;
        let is_cell = self.vars[index as usize].is_cell;
        self.push(if is_cell { Instr::StoreRaw(var) } else { Instr::Store(var) });
        Ok(())
    }

    fn free(&self, index: u32) -> Result<Option<u32>> {
        let Some(free) = index.checked_sub(self.vars.len() as u32) else { return Ok(None) };
        if (free as usize) < self.raw.freevars.len() {
            Ok(Some(free))
        } else {
            Err(self.malformed("a cell is out of range"))
        }
    }

    fn load_closure(&mut self, index: u32) -> Result<()> {
        let instr = self.free(index)?.map_or(Instr::LoadRaw(index), Instr::LoadFreeRaw);
        self.push(instr);
        Ok(())
    }

    fn load_deref(&mut self, index: u32) -> Result<()> {
        let instr = self.free(index)?.map_or(Instr::Load(index), Instr::LoadFree);
        self.push(instr);
        Ok(())
    }

    fn store_deref(&mut self, index: u32) -> Result<()> {
        let free = self.free(index)?;
        self.push(free.map_or(Instr::Store(index), Instr::StoreFree));
        Ok(())
    }

    /// Gives a variable a new cell. CPython 3.12 and 3.13 do so with a captured variable for a comprehension whose own
    /// variable has that name and is captured by a function inside; the function goes on with the new cell, by mistake.
    fn make_cell(&mut self, index: u32) -> Result<()> {
        match self.free(index)? {
            None => self.push(Instr::MakeCell(index)),
            Some(free) => {
                let name = &self.raw.freevars[free as usize];
                let what = format!("a comprehension whose variable has the name of the captured `{name}`");
                self.unsupported(&what, "give the variable of the comprehension a name of its own");
            }
        }
        Ok(())
    }

    fn delete_deref(&mut self, index: u32) -> Result<()> {
        let free = self.free(index)?;
        self.push(free.map_or(Instr::Delete(index), Instr::DeleteFree));
        Ok(())
    }

    /// Adds a global and, for a call, NULL before (up to 3.12) or after it.
    pub(crate) fn load_global(&mut self, arg: u32, null_first: bool) -> Result<()> {
        let name = self.name(arg >> 1)?;
        let null = arg & 1 == 1;
        if null && null_first {
            self.push(Instr::Null);
        }
        self.push(Instr::Global(name));
        if null && !null_first {
            self.push(Instr::Null);
        }
        Ok(())
    }

    /// Adds an attribute and, for a method call, NULL.
    pub(crate) fn load_attr(&mut self, name: u32, method: bool) -> Result<()> {
        let name = self.name(name)?;
        self.push(Instr::Attr(name));
        if method {
            self.push(Instr::Null);
        }
        Ok(())
    }

    /// Adds an attribute of `super()`, for which `super`, the class and the instance are on the stack: a call and an
    /// attribute. Unless bit 2 is set, the program calls `super` without arguments.
    fn load_super_attr(&mut self, arg: u32) -> Result<()> {
        if arg & 2 == 0 {
            self.push(Instr::Pop);
            self.push(Instr::Pop);
            self.push(Instr::Null);
            self.push(Instr::Call { argc: 0, names: None });
        } else {
            self.push(Instr::Null);
            self.push(Instr::Swap(3));
            self.push(Instr::Swap(2));
            self.push(Instr::Call { argc: 2, names: None });
        }
        self.load_attr(arg >> 2, arg & 1 == 1)
    }

    /// Adds a comparison by its index in `dis.cmp_op`.
    pub(crate) fn compare(&mut self, index: u32) -> Result<()> {
        const OPS: [CmpOp; 6] = [CmpOp::Lt, CmpOp::Le, CmpOp::Eq, CmpOp::Ne, CmpOp::Gt, CmpOp::Ge];
        let op = OPS.get(index as usize).ok_or_else(|| self.malformed("a comparison is unknown"))?;
        self.push(Instr::Compare(*op));
        Ok(())
    }

    /// Adds a loop head; when exhausted, `skip` further units (what pops the iterator) are passed over.
    pub(crate) fn for_iter(&mut self, arg: u32, skip: u32) {
        let target = self.next.saturating_add(arg).saturating_add(skip);
        self.push(Instr::ForIter(target));
    }

    /// Delegates to another generator; END_SEND, where it goes on, pops what stands below the result.
    pub(crate) fn send(&mut self, arg: u32) {
        self.push(Instr::YieldFrom);
        self.push(Instr::Const(&RawConst::Value(PyConst::None)));
        self.push(Instr::Swap(2));
        self.push(Instr::Jump(self.ahead(arg)));
    }

    /// Target of a jump forward.
    fn ahead(&self, arg: u32) -> u32 {
        self.next.saturating_add(arg)
    }

    /// Target of a jump backward.
    fn back(&self, arg: u32) -> Result<u32> {
        self.next.checked_sub(arg).ok_or_else(|| self.malformed("a jump leads nowhere"))
    }

    fn binary(&mut self, arg: u32) -> Result<()> {
        const OPS: [BinOp; 13] = [
            BinOp::Add,
            BinOp::And,
            BinOp::FloorDiv,
            BinOp::LShift,
            BinOp::MatMul,
            BinOp::Mul,
            BinOp::Mod,
            BinOp::Or,
            BinOp::Pow,
            BinOp::RShift,
            BinOp::Sub,
            BinOp::TrueDiv,
            BinOp::Xor,
        ];
        let op = OPS.get(arg as usize % OPS.len()).filter(|_| (arg as usize) < 2 * OPS.len());
        let op = op.ok_or_else(|| self.malformed("an operator is unknown"))?;
        self.push(Instr::Binary(*op, arg as usize >= OPS.len()));
        Ok(())
    }

    /// Decodes what means the same in every version that has it: first the operations without control flow.
    pub(crate) fn common(&mut self, opcode: Opcode, arg: u32) -> Result<()> {
        let instr = match opcode {
            Opcode::Cache
            | Opcode::Resume
            | Opcode::Nop
            | Opcode::NotTaken
            | Opcode::Precall
            | Opcode::CopyFreeVars
            | Opcode::ToBool => Instr::Nop,
            Opcode::MakeCell => return self.make_cell(arg),
            Opcode::PopTop | Opcode::PopIter => Instr::Pop,
            Opcode::PushNull => Instr::Null,
            Opcode::Copy => Instr::Copy(arg),
            Opcode::Swap => Instr::Swap(arg),
            Opcode::UnaryPositive => Instr::Unary(UnOp::Pos),
            Opcode::UnaryNegative => Instr::Unary(UnOp::Neg),
            Opcode::UnaryNot => Instr::Unary(UnOp::Not),
            Opcode::UnaryInvert => Instr::Unary(UnOp::Invert),
            Opcode::BinaryOp => return self.binary(arg),
            Opcode::IsOp => Instr::Is(arg == 1),
            Opcode::ContainsOp => Instr::Contains(arg == 1),
            Opcode::BinarySubscr => Instr::Item,
            Opcode::BinarySlice => Instr::LoadSlice,
            Opcode::StoreSlice => Instr::StoreSlice,
            Opcode::StoreSubscr => Instr::StoreItem,
            Opcode::DeleteSubscr => Instr::DeleteItem,
            Opcode::LoadConst => Instr::Const(self.constant(arg)?),
            Opcode::LoadAssertionError => Instr::Global("AssertionError"),
            Opcode::StoreAttr => Instr::StoreAttr(self.name(arg)?),
            Opcode::LoadFast | Opcode::LoadFastCheck | Opcode::LoadFastBorrow => return self.load_fast(arg),
            Opcode::LoadFastAndClear => Instr::LoadClear(self.var(arg)?),
            Opcode::StoreFast => return self.store_fast(arg),
            Opcode::DeleteFast => Instr::Delete(self.var(arg)?),
            Opcode::LoadClosure => return self.load_closure(arg),
            Opcode::LoadDeref => return self.load_deref(arg),
            Opcode::StoreDeref => return self.store_deref(arg),
            Opcode::DeleteDeref => return self.delete_deref(arg),
            Opcode::ImportName => Instr::Import(self.name(arg)?),
            Opcode::ImportFrom => Instr::ImportFrom(self.name(arg)?),
            _ => return self.containers(opcode, arg),
        };
        self.push(instr);
        Ok(())
    }

    fn containers(&mut self, opcode: Opcode, arg: u32) -> Result<()> {
        let conversion = |c: u32| [None, Some('s'), Some('r'), Some('a')][(c & 3) as usize];
        let instr = match opcode {
            Opcode::BuildTuple => Instr::Tuple(arg),
            Opcode::BuildList => Instr::List(arg),
            Opcode::BuildSet => Instr::Set(arg),
            Opcode::BuildMap => Instr::Map(arg),
            Opcode::BuildConstKeyMap => Instr::ConstKeyMap(arg),
            Opcode::BuildSlice => Instr::Slice(arg),
            Opcode::BuildString => Instr::Concat(arg),
            Opcode::ListAppend => Instr::ListAppend(arg),
            Opcode::ListExtend => Instr::ListExtend(arg),
            Opcode::SetAdd => Instr::SetAdd(arg),
            Opcode::SetUpdate => Instr::SetUpdate(arg),
            Opcode::MapAdd => Instr::MapAdd(arg),
            Opcode::DictMerge | Opcode::DictUpdate => Instr::MapUpdate(arg),
            Opcode::ListToTuple => Instr::ListToTuple,
            Opcode::FormatValue => Instr::Format { conversion: conversion(arg), spec: arg & 4 != 0 },
            Opcode::ConvertValue => Instr::Convert(conversion(arg).unwrap_or('s')),
            Opcode::FormatSimple => Instr::Format { conversion: None, spec: false },
            Opcode::FormatWithSpec => Instr::Format { conversion: None, spec: true },
            Opcode::UnpackSequence => Instr::Unpack(arg),
            Opcode::UnpackEx => Instr::UnpackEx(arg & 0xff, arg >> 8),
            Opcode::GetIter => Instr::Iter,
            Opcode::GetLen => Instr::GetLen,
            Opcode::MatchSequence => Instr::MatchSequence,
            Opcode::MatchMapping => Instr::MatchMapping,
            Opcode::MatchKeys => Instr::MatchKeys,
            Opcode::MatchClass => Instr::MatchClass(arg),
            _ => return self.calls(opcode, arg),
        };
        self.push(instr);
        Ok(())
    }

    fn calls(&mut self, opcode: Opcode, arg: u32) -> Result<()> {
        let instr = match opcode {
            Opcode::KwNames => {
                self.names = Some(self.constant(arg)?);
                Instr::Nop
            }
            Opcode::Call => Instr::Call { argc: arg, names: self.names.take() },
            Opcode::CallKw => Instr::CallKw(arg),
            Opcode::CallFunctionEx => Instr::CallStar { kwargs: arg & 1 == 1 },
            Opcode::LoadSuperAttr => return self.load_super_attr(arg),
            Opcode::CallIntrinsic1 => match arg {
                // The end of a generator's body: makes RuntimeError of StopIteration, as inference does itself.
                3 => Instr::Nop,
                5 => Instr::Unary(UnOp::Pos),
                6 => Instr::ListToTuple,
                _ => {
                    self.refuse_intrinsic(arg);
                    return Ok(());
                }
            },
            Opcode::MakeFunction => Instr::MakeFunction(arg),
            Opcode::SetFunctionAttribute => Instr::SetFunctionAttr(arg),
            Opcode::LoadFastLoadFast | Opcode::LoadFastBorrowLoadFastBorrow => {
                self.load_fast(arg >> 4)?;
                return self.load_fast(arg & 15);
            }
            Opcode::StoreFastLoadFast => {
                self.store_fast(arg >> 4)?;
                return self.load_fast(arg & 15);
            }
            Opcode::StoreFastStoreFast => {
                self.store_fast(arg >> 4)?;
                return self.store_fast(arg & 15);
            }
            _ => return self.flow(opcode, arg),
        };
        self.push(instr);
        Ok(())
    }

    fn flow(&mut self, opcode: Opcode, arg: u32) -> Result<()> {
        let instr = match opcode {
            Opcode::JumpForward => Instr::Jump(self.ahead(arg)),
            Opcode::JumpBackward | Opcode::JumpBackwardNoInterrupt => Instr::Jump(self.back(arg)?),
            Opcode::PopJumpIfFalse => Instr::JumpIf(false, self.ahead(arg)),
            Opcode::PopJumpIfTrue => Instr::JumpIf(true, self.ahead(arg)),
            Opcode::PopJumpIfNone => Instr::JumpIfNone(true, self.ahead(arg)),
            Opcode::PopJumpIfNotNone => Instr::JumpIfNone(false, self.ahead(arg)),
            Opcode::PopJumpBackwardIfFalse => Instr::JumpIf(false, self.back(arg)?),
            Opcode::PopJumpBackwardIfTrue => Instr::JumpIf(true, self.back(arg)?),
            Opcode::PopJumpBackwardIfNone => Instr::JumpIfNone(true, self.back(arg)?),
            Opcode::PopJumpBackwardIfNotNone => Instr::JumpIfNone(false, self.back(arg)?),
            Opcode::JumpIfFalseOrPop => Instr::JumpIfOrPop(false, self.ahead(arg)),
            Opcode::JumpIfTrueOrPop => Instr::JumpIfOrPop(true, self.ahead(arg)),
            Opcode::ReturnValue => Instr::Return,
            Opcode::ReturnConst => {
                let constant = self.constant(arg)?;
                self.push(Instr::Const(constant));
                Instr::Return
            }
            Opcode::ReturnGenerator => Instr::Junk,
            Opcode::YieldValue => Instr::Yield,
            Opcode::GetYieldFromIter => Instr::Nop,
            Opcode::EndSend => {
                self.push(Instr::Swap(2));
                Instr::Pop
            }
            Opcode::Send => {
                self.push(Instr::YieldFrom);
                Instr::Jump(self.ahead(arg))
            }
            Opcode::RaiseVarargs => Instr::Raise(arg),
            Opcode::Reraise => Instr::Reraise,
            Opcode::PushExcInfo => Instr::PushExcInfo,
            Opcode::PopExcept => Instr::PopExcept,
            Opcode::CheckExcMatch => Instr::ExcMatch,
            Opcode::BeforeWith => Instr::BeforeWith,
            Opcode::WithExceptStart => Instr::WithExceptStart(4),
            _ => {
                self.refuse(opcode);
                return Ok(());
            }
        };
        self.push(instr);
        Ok(())
    }

    /// Names the Python construct behind a rare operation with one operand.
    fn refuse_intrinsic(&mut self, number: u32) {
        let (what, note) = match number {
            2 => ("`import *`", "name what is imported"),
            4 => ("`async`", ""),
            7..=9 => TYPE_PARAMETER,
            11 => ("a `type` statement", "write it outside of the function"),
            _ => ("this form", ""),
        };
        self.unsupported(what, note);
    }

    /// Names the Python construct behind an operation that the language does not have.
    fn refuse(&mut self, opcode: Opcode) {
        let (what, note) = match opcode {
            Opcode::GetAiter
            | Opcode::GetAnext
            | Opcode::BeforeAsyncWith
            | Opcode::EndAsyncFor
            | Opcode::GetAwaitable
            | Opcode::AsyncGenWrap
            | Opcode::CleanupThrow => ("`async`", ""),
            Opcode::LoadBuildClass => ("a class definition", "define the class outside of the function"),
            Opcode::LoadName
            | Opcode::StoreName
            | Opcode::DeleteName
            | Opcode::LoadClassderef
            | Opcode::LoadLocals
            | Opcode::LoadFromDictOrGlobals
            | Opcode::LoadFromDictOrDeref
            | Opcode::SetupAnnotations => ("the body of a class or module", ""),
            Opcode::StoreGlobal | Opcode::DeleteGlobal => (
                "assignment to a global variable",
                "globals are constants here: return the value, or write to an array that is an argument",
            ),
            Opcode::DeleteAttr => ("`del` of an attribute", ""),
            Opcode::ImportStar => ("`import *`", "name what is imported"),
            Opcode::CheckEgMatch | Opcode::PrepReraiseStar => ("`except*`", "write `except`"),
            Opcode::BuildTemplate | Opcode::BuildInterpolation => ("a template string", "use an f-string"),
            // Its part in `except*` comes after CHECK_EG_MATCH.
            Opcode::CallIntrinsic2 => TYPE_PARAMETER,
            _ => ("this operation", ""),
        };
        self.unsupported(what, note);
    }
}

/// A number of the exception table: six bits a byte, the highest first.
fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut byte = bytes.next()?;
    let mut value = u32::from(byte & 63);
    while byte & 64 != 0 {
        byte = bytes.next()?;
        value = (value << 6) | u32::from(byte & 63);
    }
    Some(value)
}
