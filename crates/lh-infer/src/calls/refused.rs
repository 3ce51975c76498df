//! Calls and operations that are refused: what is said of them, and where.

use crate::cx::Infer;
use crate::emit::opaque;
use crate::substitutes::{self, is_of_library};
use crate::val::Val;
use lh_ir::diag::{self, Diagnostic};
use lh_ir::untyped::Code;

impl Infer<'_> {
    /// The refusal of a call of a function that was not compiled.
    pub(super) fn refused_call(
        &mut self,
        d: Box<Diagnostic>,
        args: &[Val],
        callee: &Code,
        library: bool,
    ) -> Box<Diagnostic> {
        let opaque = if library && !self.is_library { self.because_of_opaque(&d, args) } else { None };
        opaque.unwrap_or_else(|| self.called_from(d, callee, library))
    }

    /// The refusal of an operation on an object of the program that has no meaning in compiled code.
    pub(crate) fn because_of_opaque<'v>(
        &mut self,
        d: &Diagnostic,
        operands: impl IntoIterator<Item = &'v Val>,
    ) -> Option<Box<Diagnostic>> {
        if ![diag::NO_MATCHING_OP, diag::NO_MATCHING_CALL].contains(&d.id) || !d.notes.is_empty() {
            return None;
        }
        operands.into_iter().find_map(|v| self.opaque_object(v.ty)).map(|text| opaque(&text))
    }

    /// Adds this call to the way that led to a diagnostic; one inside the library is shown at the user's call.
    pub(super) fn called_from(&self, mut d: Box<Diagnostic>, callee: &Code, library: bool) -> Box<Diagnostic> {
        // A function that the library makes is called as one of the program.
        let library = library || is_of_library(&callee.file);
        if library && !self.is_library && is_of_library(&callee.file) && !d.file.is_empty() && !is_of_library(&d.file) {
            // The library calls a function of the program.
            d.trail.retain(|(file, ..)| !is_of_library(file));
            d.trail.push((self.code.file.clone(), self.span, "called from here".to_owned()));
            return d;
        }
        if library && !self.is_library {
            d.file = self.code.file.clone();
            d.span = self.span;
            d.trail.clear();
            if d.label.is_empty() {
                d.label = format!("in `{}`", callee.name);
            }
            return d;
        }
        if let Some((name, text)) = substitutes::of_standard_library(&callee.file, &callee.name) {
            return Diagnostic::new(diag::UNSUPPORTED_CALL, format!("`{name}` is not supported in compiled code"))
                .note(text)
                .at(&self.code.file, self.span);
        }
        if d.file.is_empty() {
            d = d.at(&callee.file, lh_ir::Span::default());
        }
        d.trail.push((self.code.file.clone(), self.span, format!("called as `{}` here", callee.name)));
        d
    }
}
