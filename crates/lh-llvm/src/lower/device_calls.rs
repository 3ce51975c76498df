//! Run-time functions and exceptions on a GPU.
//!
//! An exception ends its thread. In kernels that are compiled for debugging or wait for the whole grid, the first
//! exception of a launch is recorded in the variable [`ERROR`]: 0 or 1, the number of its site, the indices of the
//! block and of the thread.

use super::function::FnCx;
use crate::ir::Val;
use crate::ptx::RaiseSite;
use lh_ir::func::Inst;
use lh_ir::op::RuntimeFn;
use lh_ir::{Const, ExcId, Value};
use lh_ops::exceptions::{INDEX_ERROR, VALUE_ERROR};
use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntUGE};

/// The record of a launch's first exception, [`NOTE_WORDS`] times an `i32`.
pub const ERROR: &str = "lh_error";
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
        match f.name {
            "lh_interrupted" => Vec::new(),
            "lh_check_index" => {
                // The operands are the index in the program, the axis, the extent, and the index from the start.
                let outside = self.icmp(LLVMIntUGE, self.one(args[3]), self.one(args[2]));
                let (next, _) = self.unlikely(outside);
                self.device_raise_index();
                let landing = self.landing();
                self.br(landing);
                self.at_end(next);
                Vec::new()
            }
            "lh_shape_begin" | "lh_shape_extent" => Vec::new(),
            "lh_raise_broadcast" | "lh_cuda_temporary" => {
                let is_shape = f.name == "lh_raise_broadcast";
                let text =
                    if is_shape { "operands could not be broadcast together" } else { "what is read is overwritten" };
                self.note_error(VALUE_ERROR, text.to_owned());
                let (landing, unreached) = (self.landing(), self.new_block());
                self.br(landing);
                self.at_end(unreached);
                vec![self.null(self.t.ptr); f.ret.len()]
            }
            "lh_ptr_addr" => vec![self.ptr_to_int(self.one(args[0]))],
            "lh_addr_ptr" => vec![self.int_to_ptr(self.one(args[0]))],
            "lh_print_flush" => {
                self.flush_print();
                Vec::new()
            }
            name if name.starts_with("lh_print_") => {
                self.print(name, args);
                Vec::new()
            }
            name => match name.strip_prefix("lh_cuda_") {
                Some(name) => self.intrinsic_call(name, f, args),
                None => lh_ir::bug!("`{name}` is not for a GPU"),
            },
        }
    }

    /// Adds to the text that [`FnCx::flush_print`] writes.
    fn print(&mut self, name: &str, args: &[Value]) {
        let vals: Vec<Val> = args.iter().flat_map(|a| self.get(*a)).copied().collect();
        let (format, operands) = match name {
            "lh_print_str" => match self.constant_text(args[0]) {
                Some(text) => (text.replace('%', "%%"), vec![]),
                None => ("%s".to_owned(), vec![vals[1]]),
            },
            "lh_print_i64" => ("%lld".to_owned(), vals),
            "lh_print_u64" => ("%llu".to_owned(), vals),
            "lh_print_f64" => ("%f".to_owned(), vals),
            "lh_print_f32" => ("%f".to_owned(), vec![self.fpext(vals[0], self.t.f64)]),
            "lh_print_complex" => ("(%f%+fj)".to_owned(), vals),
            "lh_print_bool" => {
                let (yes, no) = (self.cx.text("True"), self.cx.text("False"));
                ("%s".to_owned(), vec![self.select(vals[0], yes, no)])
            }
            "lh_print_none" => ("None".to_owned(), vec![]),
            _ => lh_ir::bug!("`{name}` prints on no GPU"),
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
