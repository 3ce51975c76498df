//! Loop distribution of sums: sums into neighbouring elements of one array get loops of their own.
//!
//! ```text
//! for i in range(1, n - 1):                 for i in range(1, n - 1): u[i + 1] += x * v[i]
//!     u[i - 1] += x * v[i]                  for i in range(1, n - 1): u[i] += y * v[i]
//!     u[i] += y * v[i]             ->       for i in range(1, n - 1):
//!     u[i + 1] += x * v[i]                      u[i - 1] += x * v[i]
//!     v[i] = 0.0                                v[i] = 0.0
//! ```
//!
//! An iteration adds to elements that the one before has stored, so that the loop cannot be vectorised; those with one
//! sum each can. Derivatives of stencils have such sums. Each loop computes again what its terms need.
//!
//! Only sums whose order is free are moved: `add_any_order`, or all with `fastmath`. No iteration may read the arrays
//! that sums are added to, nor what another iteration writes. A test before the loops checks that arrays are apart.
//! Requires counted loops of one block without checks, as `bounds` leaves them; leaves such loops.

mod build;
mod plan;

use crate::analysis::Analyses;
use crate::core::dce;
use hashbrown::HashSet;
use lh_ir::Function;
use lh_ir::algebra::{Algebra, AnyOrder};
use lh_ir::func::{Inst, fastmath};
use lh_ir::op::Op;

pub(crate) fn run(func: &mut Function) -> bool {
    let has_sums = |d: &lh_ir::func::InstData| matches!(&d.inst, Inst::Op(op, _) if is_free(func, op));
    if func.options.debug || !func.blocks.iter().any(|b| b.insts.iter().any(has_sums)) {
        return false;
    }
    let mut seen = HashSet::new();
    loop {
        let analyses = Analyses::default();
        let loops = &analyses.loops(func).loops;
        let new = |l: &usize| loops[*l].is_innermost && !seen.contains(&loops[*l].header);
        let facts = analyses.facts(func);
        let found = (0..loops.len()).filter(new).find_map(|l| Some((l, plan::plan(&facts, l)?)));
        let Some((at, plan)) = found else { break };
        let (l, counted) = (&loops[at], analyses.counts(func)[at].as_ref().expect("planned"));
        let (cfg, dom, users) = (analyses.cfg(func), analyses.dom(func), analyses.users(func));
        seen.extend(build::split(func, cfg, dom, users, l, counted, &plan));
    }
    if !seen.is_empty() {
        dce::run(func);
    }
    !seen.is_empty()
}

/// Whether an operation is a sum or difference that may be made in any order.
fn is_free(func: &Function, op: &Op) -> bool {
    match op.algebra {
        Algebra::AnyOrder(AnyOrder::Add | AnyOrder::Sub) => true,
        Algebra::Add | Algebra::Sub => func.options.fastmath & fastmath::REASSOC != 0,
        _ => false,
    }
}
