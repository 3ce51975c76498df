//! Run-time functions and exceptions on a GPU.
//!
//! An exception ends its thread. In kernels that are compiled for debugging or wait for the whole grid, the first
//! exception of a launch is recorded in the variable [`ERROR`]: 0 or 1, the number of its site, the indices of the
//! block and of the thread.

use super::function::FnCx;
use crate::ir::Val;
use crate::unit::RaiseSite;
use lh_ir::func::Inst;
use lh_ir::runtime::{Launch, Memory, Print, Role, RuntimeFn, Shapes};
use lh_ir::{Const, ExcId, Value};
use lh_ops::exceptions::{INDEX_ERROR, VALUE_ERROR};
use lh_ops::symbols;
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntUGE};

/// The record of a launch's first exception, [`NOTE_WORDS`] times an `i32`.
pub const ERROR: &str = symbols::GPU_ERROR;
/// Size of the record in words.
pub(super) const NOTE_WORDS: usize = 8;

/// Text to print that is not written yet: `vprintf`'s format and its operands.
#[derive(Default)]
pub(super) struct Printed {
    format: String,
    operands: Vec<Val>,
}

impl FnCx<'_, '_> {
    /// Lowers a call of a run-time function; `check_device` has refused all others.
    pub(super) fn device_runtime(&mut self, f: &RuntimeFn, args: &[Value]) -> Vec<Val> {
        match f.role {
            Role::Poll(_) | Role::Shapes(Shapes::Begin | Shapes::Extent) => Vec::new(),
            Role::CheckIndex => {
                // The operands are the index in the program, the axis, the extent, and the index from the start.
                let outside = self.icmp(LLVMIntUGE, self.one(args[3]), self.one(args[2]));
                let (next, _) = self.unlikely(outside);
                self.device_raise_index();
                let landing = self.landing();
                self.br(landing);
                self.at_end(next);
                Vec::new()
            }
            Role::Shapes(Shapes::Raise) => self.device_value_error(f, "operands could not be broadcast together"),
            Role::Memory(Memory::Temporary) => self.device_value_error(f, "what is read is overwritten"),
            Role::Address(of) => vec![self.convert_address(of, args[0])],
            Role::Print(what) => {
                self.print(what, args);
                Vec::new()
            }
            Role::Geometry(what, axis) => vec![self.geometry_register(what, axis)],
            // Registers identify the block, so there is no context.
            Role::Launch(Launch::Context) => vec![self.null(self.t.ptr)],
            Role::Memory(memory) => self.gpu_memory(memory, f, args),
            Role::Barrier(barrier) => self.gpu_barrier(barrier, args),
            Role::Warp(warp) => self.gpu_warp(warp, args),
            Role::Atomic(rmw, prim) => vec![self.atomic(rmw, prim, args)],
            Role::Plain
            | Role::Launch(_)
            | Role::Lanes(_)
            | Role::Items(_)
            | Role::IsSame
            | Role::Text(_)
            | Role::Random(_)
            | Role::Exception(_)
            | Role::Parts(_)
            | Role::Race(_)
            | Role::Threads(_)
            | Role::LoopHint => lh_ir::bug!("`{}` is not for a GPU", f.name),
        }
    }

    /// Ends the thread. The code after it is unreachable, so that any result will do.
    fn device_value_error(&mut self, f: &RuntimeFn, text: &str) -> Vec<Val> {
        self.note_error(VALUE_ERROR, text.to_owned());
        let (landing, unreached) = (self.landing(), self.new_block());
        self.br(landing);
        self.at_end(unreached);
        vec![self.null(self.t.ptr); f.ret.len()]
    }

    /// Adds to the text that [`FnCx::flush_print`] writes.
    fn print(&mut self, what: Print, args: &[Value]) {
        let vals: Vec<Val> = args.iter().flat_map(|a| self.get(*a)).copied().collect();
        let (format, operands) = match what {
            Print::Str => match self.constant_text(args[0]) {
                Some(text) => (text.replace('%', "%%"), vec![]),
                None => ("%s".to_owned(), vec![vals[1]]),
            },
            Print::Signed => ("%lld".to_owned(), vals),
            Print::Unsigned => ("%llu".to_owned(), vals),
            Print::F64 => ("%f".to_owned(), vals),
            Print::F32 => ("%f".to_owned(), vec![self.fpext(vals[0], self.t.f64)]),
            Print::Complex => ("(%f%+fj)".to_owned(), vals),
            Print::Bool => {
                let (yes, no) = (self.cx.text("True"), self.cx.text("False"));
                ("%s".to_owned(), vec![self.select(vals[0], yes, no)])
            }
            Print::None => ("None".to_owned(), vec![]),
            Print::Flush => return self.flush_print(),
        };
        self.printed.format.push_str(&format);
        self.printed.operands.extend(operands);
    }

    /// Writes the text in one call, so that other threads' lines do not interleave.
    pub(super) fn flush_print(&mut self) {
        let Printed { format, operands } = std::mem::take(&mut self.printed);
        if format.is_empty() {
            return;
        }
        let t = self.t;
        let format = self.cx.text(&format);
        let buffer = self.stack(self.array_type(t.i64, operands.len().max(1)), 8);
        for (i, v) in operands.iter().enumerate() {
            self.store(*v, self.offset(buffer, 8 * i), 8);
        }
        let f = self.cx.external("vprintf", &[t.ptr, t.ptr], t.i32);
        self.cx.call_external(f, &[format, buffer]);
    }

    /// The text of a string constant.
    fn constant_text(&self, v: Value) -> Option<String> {
        let insts = self.func.blocks.iter().flat_map(|b| &b.insts);
        insts.filter(|i| i.result == Some(v)).find_map(|i| match &i.inst {
            Inst::Const(Const::Str(s)) => Some(s.to_string()),
            _ => None,
        })
    }

    /// Records an exception; the caller branches to the landing.
    pub(super) fn device_raise(&mut self, exc: ExcId, args: &[Value]) {
        let text = args.iter().filter_map(|a| self.constant_text(*a)).collect::<Vec<_>>().join(", ");
        self.note_error(exc, text);
    }

    pub(super) fn device_raise_index(&mut self) {
        self.note_error(INDEX_ERROR, "index is out of bounds".to_owned());
    }

    fn note_error(&mut self, exc: ExcId, text: String) {
        if !self.cx.notes && !self.func.options.debug && !self.func.options.boundscheck {
            return;
        }
        let site = RaiseSite {
            exc,
            text,
            function: self.func.qualname.clone(),
            file: self.func.file.clone(),
            line: self.span.line,
        };
        let number = self.cx.raise_sites.iter().position(|s| *s == site).unwrap_or_else(|| {
            self.cx.raise_sites.push(site);
            self.cx.raise_sites.len() - 1
        });
        let t = self.t;
        let record = self.device_variable(ERROR, self.array_type(t.i32, NOTE_WORDS));
        let before = self.compare_exchange(record, self.int(t.i32, 0), self.int(t.i32, 1));
        let first = self.icmp(LLVMIntEQ, before, self.int(t.i32, 0));
        let (note, next) = (self.new_block(), self.new_block());
        self.cond_br(first, note, next);
        self.at_end(note);
        self.store(self.int(t.i32, number as i64), self.offset(record, 4), 4);
        for (i, register) in ["ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z"].iter().enumerate() {
            let v = self.cx.special_register(register);
            self.store(v, self.offset(record, 8 + 4 * i), 4);
        }
        self.br(next);
        self.at_end(next);
    }
}
