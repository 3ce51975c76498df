//! Variables that functions share, as instances of the library's class of cells; inner functions that know each other.

use crate::convert::unify;
use crate::cx::Infer;
use crate::val::Val;
use lh_ir::class::Class;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::TyKind;
use lh_ir::{Ty, Value};

/// The class of cells.
const CELL: &str = "cells.cell";

impl Infer<'_> {
    /// A new cell, whose type is found by what is assigned.
    pub(crate) fn new_cell(&mut self) -> Result<Val> {
        let class = Class::find(CELL).unwrap_or_else(|| lh_ir::bug!("the library has no `{CELL}`"));
        let site = self.result.unwrap_or_else(|| lh_ir::bug!("a cell is a result"));
        self.display(class, site, "", &[])
    }

    /// The value of a cell's variable, or its `del`.
    pub(crate) fn cell_method(&mut self, method: &str, cell: Value, name: &str) -> Result<Val> {
        let cell = self.val(cell);
        if let TyKind::Pending(..) = cell.ty.kind() {
            return Ok(Val::of_type(Ty::never()));
        }
        let is_free = self.code.freevars.iter().any(|n| n == name);
        self.method(&cell, method, &[Val::str(name), Val::bool(is_free)])
    }

    /// Assigns to a cell. If another function has made it for another type, that one is asked.
    pub(crate) fn cell_set(&mut self, cell: Value, x: Value) -> Result<()> {
        let (cell, x) = (self.val(cell), self.val(x));
        if let TyKind::Unbound | TyKind::MaybeUnbound(_) = cell.ty.kind() {
            return Err(Diagnostic::new(diag::UNSUPPORTED_BYTECODE, "a cell is used before it is made"));
        }
        if let (TyKind::Class(c), None) = (cell.ty.kind(), self.site_of(&cell)) {
            let held = c.args[0];
            match unify(held, x.ty, &mut self.pending) {
                Some(t) if t == held => {}
                Some(t) => {
                    let text = format!("a variable of the enclosing function is `{held}` there and `{}` here", x.ty);
                    let mut d = Diagnostic::new(diag::CANNOT_UNIFY, text).note("use one type for it, or two names");
                    d.widen = self.place_of(&cell).map(|at| (at, t));
                    return Err(d);
                }
                None => {
                    let text = format!("a variable of the enclosing function is `{held}` there and `{}` here", x.ty);
                    return Err(Diagnostic::new(diag::CANNOT_UNIFY, text).note("use one type for it, or two names"));
                }
            }
        }
        self.teaching_method("set", &cell, &[x], &[]).map(|_| ())
    }

    /// The parameter or capture that a value is: captures come after parameters.
    fn place_of(&self, x: &Val) -> Option<usize> {
        let captured = self.captures.iter().position(|c| c.v.is_some() && c.v == x.v);
        captured.map(|at| self.code.params.len() + at).or_else(|| self.parameter(x))
    }

    /// Answers a callee's request that a cell holds a type.
    pub(crate) fn widened_by_callee(&mut self, mut d: Box<Diagnostic>, bound: &[Val]) -> Result<()> {
        let Some((at, t)) = d.widen.take() else { return Err(d) };
        let Some(cell) = bound.get(at) else { return Err(d) };
        match self.site_of(cell) {
            Some(site) if self.pending.learn(site, 0, t) => {
                self.pending.changed = true;
                Ok(())
            }
            _ => {
                d.widen = self.place_of(cell).map(|at| (at, t));
                Err(d)
            }
        }
    }

    /// This function or another inner function of the function around it, which captures the same.
    pub(crate) fn sibling(&mut self, code: u32, defaults: Option<Value>, kwdefaults: &[(String, Value)]) -> Val {
        let func = self.world.sibling(self.id, code);
        let captures = self.captures.clone();
        self.closure(func, captures, defaults, kwdefaults)
    }
}
