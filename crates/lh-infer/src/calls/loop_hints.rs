//! `prim.loop_hint`: a pragma for a loop.

use crate::cx::Infer;
use crate::val::Val;
use lh_ir::Ty;
use lh_ir::diag::{self, Diagnostic, Result};
use lh_ir::func::Pragma;
use lh_ops::runtime as rt;

impl Infer<'_> {
    /// The pragma of the innermost loop around the call; outside of loops, of the function's elementwise computations.
    pub(super) fn loop_hint(&mut self, unroll: &Val, lanes: &Val) -> Result<Val> {
        for (n, most) in [(unroll, Pragma::MOST), (lanes, Pragma::ANY.into())] {
            let known =
                n.as_int().filter(|n| *n == 0 || *n == most || (1..=Pragma::MOST).contains(n) && n & (n - 1) == 0);
            if known.is_none() {
                let text = format!("an unroll factor or a vector width is a power of two, up to {}", Pragma::MOST);
                return Err(Diagnostic::new(diag::NEEDS_CONSTANT, text));
            }
        }
        self.runtime(&rt::lh_loop_hint, &[unroll.clone(), lanes.clone()], Ty::none())
    }
}
