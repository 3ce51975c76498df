//! `prim.loop_hint`: the form that the library asks for.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Asked;
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// Asks for a form of the innermost loop around the call; outside of loops, of the function's elementwise
    /// computations.
    pub(super) fn loop_hint(&mut self, unroll: &Val, lanes: &Val) -> Result<Val> {
        for (n, most) in [(unroll, Asked::MOST), (lanes, Asked::ANY.into())] {
            let known =
                n.as_int().filter(|n| *n == 0 || *n == most || (1..=Asked::MOST).contains(n) && n & (n - 1) == 0);
            if known.is_none() {
                let text = format!("a loop has a power of two of iterations in a row, up to {}", Asked::MOST);
                return Err(Diagnostic::new(diag::NEEDS_CONSTANT, text));
            }
        }
        self.runtime(&rt::lh_loop_hint, &[unroll.clone(), lanes.clone()], Ty::none())
    }
}
