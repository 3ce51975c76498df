//! Records as wholes: tuples of their fields, and comparison.

use crate::cx::Infer;
use crate::operations::operators::element;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::types::{Buffer, Chars, Record};
use lh_ir::untyped::CmpOp;

/// The record of which a value is one, or an array.
fn record_of(t: Ty) -> Option<&'static Record> {
    element(t).as_record().filter(|_| element(t).is_record())
}

impl Infer<'_> {
    /// Stores a number in all fields of a record, as its text in those of texts.
    pub(crate) fn fill_record(&mut self, to: &Val, x: &Val) -> Result<()> {
        let Some(r) = to.ty.as_record() else { lh_ir::bug!("`{}` is no record", to.ty) };
        for f in &r.fields {
            if f.shape.is_empty() && f.ty.is_record() {
                let inner = self.record_field(to, r, f)?;
                self.fill_record(&inner, x)?;
            } else if f.ty.chars() == Some(Chars::CodePoints) {
                let text = self.call_library("text.text_of", std::slice::from_ref(x))?;
                self.set_record_field(to, &f.name, &text)?;
            } else {
                self.set_record_field(to, &f.name, x)?;
            }
        }
        Ok(())
    }

    /// Stores the items of a tuple in the fields of a record.
    pub(crate) fn store_tuple(&mut self, to: &Val, x: &Val) -> Result<()> {
        let (Some(r), Some(items)) = (to.ty.as_record(), self.tuple_parts(x)) else {
            lh_ir::bug!("`{}` is stored in `{}`", x.ty, to.ty);
        };
        if items.len() != r.fields.len() {
            let text = format!("`{}` has {} fields, not {}", to.ty, r.fields.len(), items.len());
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text));
        }
        for (f, x) in r.fields.iter().zip(&items) {
            self.set_record_field(to, &f.name, x)?;
        }
        Ok(())
    }

    /// Compares records, or arrays of them; `None` if an operand is neither.
    pub(crate) fn compare_records(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let (Some(r), Some(s), CmpOp::Eq | CmpOp::Ne) = (record_of(a.ty), record_of(b.ty), op) else {
            return Ok(None);
        };
        if a.ty.is_array() || b.ty.is_array() {
            let name = if op == CmpOp::Eq { "record_values.equal" } else { "record_values.unequal" };
            return self.call_library(name, &[a.clone(), b.clone()]).map(Some);
        }
        let same = self.same_fields(a, r, b, s)?;
        Ok(Some(if op == CmpOp::Eq { same } else { self.op("not", &[same]) }))
    }

    /// Compares arrays of texts of fixed length, or one and a text of its kind; `None` if an operand is neither.
    pub(crate) fn compare_texts(&mut self, op: CmpOp, a: &Val, b: &Val) -> Result<Option<Val>> {
        let array = |v: &Val| if v.ty.is_array() { element(v.ty).chars() } else { None };
        let one = |v: &Val| match v.ty.as_buffer() {
            Some(Buffer::Bytes | Buffer::ByteArray) => Some(Chars::Bytes),
            _ => (v.ty == Ty::str()).then_some(Chars::CodePoints),
        };
        let (x, y) = (array(a), array(b));
        if x.is_none() && y.is_none() || x.or(one(a)) != y.or(one(b)) {
            return Ok(None);
        }
        let of_order = match op {
            CmpOp::Eq => [false, true, false],
            CmpOp::Ne => [true, false, true],
            CmpOp::Lt => [true, false, false],
            CmpOp::Le => [true, true, false],
            CmpOp::Gt => [false, false, true],
            CmpOp::Ge => [false, true, true],
        };
        let [less, same, more] = of_order.map(Val::bool);
        self.call_library("chars.compared", &[a.clone(), b.clone(), less, same, more]).map(Some)
    }

    /// Whether all fields of two records are equal.
    fn same_fields(&mut self, a: &Val, r: &Record, b: &Val, s: &Record) -> Result<Val> {
        if !r.fields.iter().map(|f| &f.name).eq(s.fields.iter().map(|f| &f.name)) {
            let text = format!("`{}` and `{}` have different fields", a.ty, b.ty);
            return Err(Diagnostic::new(diag::NO_MATCHING_OP, text).note("compare field by field"));
        }
        let mut all = Val::bool(true);
        for (f, g) in r.fields.iter().zip(&s.fields) {
            let (x, y) = (self.record_field(a, r, f)?, self.record_field(b, s, g)?);
            let same = if f.shape.is_empty() && g.shape.is_empty() {
                self.compare(CmpOp::Eq, &x, &y)?
            } else {
                self.call_library("record_values.same_items", &[x, y])?
            };
            all = self.op("and", &[all, same]);
        }
        Ok(all)
    }

    /// The values of the fields of a record as a tuple; those of a record in it, too.
    pub(crate) fn record_parts(&mut self, v: &Val) -> Result<Val> {
        let Some(r) = v.ty.as_record() else { lh_ir::bug!("`{}` is no record", v.ty) };
        let mut parts = Vec::new();
        for f in &r.fields {
            let part = self.record_field(v, r, f)?;
            parts.push(if part.ty.is_record() { self.record_parts(&part)? } else { part });
        }
        Ok(Val::tuple(parts))
    }
}
