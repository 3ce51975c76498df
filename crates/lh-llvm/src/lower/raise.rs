//! Raising exceptions, and recording lines for tracebacks.

use super::function::FnCx;
use crate::ir::{Type, Val};
use crate::outside::Outside;
use crate::unit::Captured;
use lh_ir::func::Extern;
use lh_ir::types::{Prim, TyKind};
use lh_ir::{ExcId, Ty, Value};
use lh_ops::symbols;

impl FnCx<'_, '_> {
    /// Makes an exception pending.
    pub(super) fn raise(&mut self, exc: ExcId, args: &[Value]) {
        if self.cx.target.is_gpu() {
            return self.device_raise(exc, args);
        }
        let class = if lh_ops::exceptions::is_builtin(exc) {
            self.int(self.t.i32, i64::from(exc.0))
        } else {
            let number = self.extern_word(Extern::Class(exc), Prim::I64);
            self.trunc(number, self.t.i32)
        };
        self.tell(symbols::RAISE_BEGIN, &[class]);
        for a in args {
            let vals = self.get(*a).to_vec();
            self.raise_arg(self.ty(*a), &vals);
        }
    }

    /// Calls a cold function without result.
    fn tell(&self, name: &str, args: &[Val]) {
        let types: Vec<Type> = args.iter().map(|a| self.type_of(*a)).collect();
        let f = self.cx.cold(name, &types, self.t.void);
        self.cx.call_external(f, args);
    }

    fn raise_arg(&mut self, ty: Ty, vals: &[Val]) {
        let t = self.t;
        match ty.kind() {
            TyKind::None => self.tell(symbols::RAISE_ARG_NONE, &[]),
            TyKind::Bool => self.tell(symbols::RAISE_ARG_BOOL, &[self.zext(vals[0], t.i8)]),
            TyKind::Int { bits: 64, signed: true, .. } => self.tell(symbols::RAISE_ARG_INT, vals),
            TyKind::Int { bits: 64, .. } => self.tell(symbols::RAISE_ARG_UINT, vals),
            TyKind::Int { signed: true, .. } => self.tell(symbols::RAISE_ARG_INT, &[self.sext(vals[0], t.i64)]),
            TyKind::Int { .. } => self.tell(symbols::RAISE_ARG_UINT, &[self.zext(vals[0], t.i64)]),
            TyKind::Float { .. } => self.tell(symbols::RAISE_ARG_FLOAT, &[self.wide(vals[0])]),
            TyKind::Bfloat16 => {
                let single = self.single_of(vals[0]);
                self.tell(symbols::RAISE_ARG_FLOAT, &[self.wide(single)]);
            }
            TyKind::Complex { .. } => self.tell(symbols::RAISE_ARG_COMPLEX, &[self.wide(vals[0]), self.wide(vals[1])]),
            TyKind::Str => self.tell(symbols::RAISE_ARG_STR, vals),
            TyKind::Tuple { elems, .. } => {
                self.tell(symbols::RAISE_ARG_TUPLE_BEGIN, &[]);
                let mut at = 0;
                for e in elems {
                    let n = e.flatten().len();
                    self.raise_arg(*e, &vals[at..at + n]);
                    at += n;
                }
                self.tell(symbols::RAISE_ARG_TUPLE_END, &[]);
            }
            TyKind::Optional(inner) => self.raise_optional(*inner, vals),
            TyKind::Never
            | TyKind::Array { .. }
            | TyKind::Class(_)
            | TyKind::Pending(..)
            | TyKind::Unbound
            | TyKind::MaybeUnbound(_)
            | TyKind::Range(_)
            | TyKind::Slice(_)
            | TyKind::DType(_)
            | TyKind::Func(_)
            | TyKind::Closure { .. }
            | TyKind::Choice(_)
            | TyKind::Literal(_)
            | TyKind::Generator(_)
            | TyKind::BoundMethod { .. }
            | TyKind::Instance { .. }
            | TyKind::Extension { .. }
            | TyKind::Obj(_)
            | TyKind::Exc
            | TyKind::Iter(_)
            | TyKind::Ptr
            | TyKind::MemInfo
            | TyKind::PyObject
            | TyKind::Record(_)
            | TyKind::Ellipsis => lh_ir::bug!("an exception cannot carry {ty}"),
        }
    }

    fn raise_optional(&mut self, inner: Ty, vals: &[Val]) {
        let (some, none, next) = (self.new_block(), self.new_block(), self.new_block());
        self.cond_br(vals[0], some, none);
        self.at_end(some);
        self.raise_arg(inner, &vals[1..]);
        self.br(next);
        self.at_end(none);
        self.tell(symbols::RAISE_ARG_NONE, &[]);
        self.br(next);
        self.at_end(next);
    }

    /// A number of the process that loads the code.
    pub(super) fn extern_word(&self, what: Extern, prim: Prim) -> Val {
        if let Extern::Array(o) | Extern::Foreign(o) = what
            && let Some(captured) = self.cx.unit.arrays.get(&o)
        {
            return match captured {
                Captured::Bytes(bytes) => self.device_constant(&format!("array.{}", o.0), bytes),
                Captured::At(address) => self.int_to_ptr(self.int(self.t.i64, *address as i64)),
                // Calls of the function use its name.
                Captured::Function(_) => self.null(self.t.ptr),
            };
        }
        let symbol = self.cx.m.external(&self.cx.unit.symbol(Outside::Word(what)), self.t.i8);
        if prim == Prim::Ptr { symbol } else { self.ptr_to_int(symbol) }
    }

    fn wide(&self, v: Val) -> Val {
        if self.type_of(v) == self.t.f64 { v } else { self.fpext(v, self.t.f64) }
    }

    /// Adds this function's frame to the traceback of the pending exception; frames of the library are not shown.
    pub(super) fn note_line(&mut self, line: Option<Val>) {
        if let (Some(line), false) = (line, self.cx.target.is_gpu()) {
            let info = self.function_info();
            self.tell(symbols::TRACEBACK, &[info, line]);
        }
    }

    /// A constant `{ qualname, file, first line, is library }` that lives as long as the code.
    fn function_info(&mut self) -> Val {
        if let Some(v) = self.info {
            return v;
        }
        let func = self.func;
        let name = self.cx.text(&func.qualname);
        // The path of the source may change while cached code stays valid.
        let file = match func.is_library {
            true => self.cx.text(""),
            false => self.cx.m.external(&self.cx.unit.symbol(self.cx.file_of(func)), self.t.i8),
        };
        let line = self.int(self.t.i32, i64::from(func.first_line));
        let library = self.int(self.t.i32, i64::from(func.is_library));
        let v = self.constant(self.const_struct(&[name, file, line, library]));
        self.info = Some(v);
        v
    }
}
