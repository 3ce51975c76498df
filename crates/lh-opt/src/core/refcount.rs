//! Makes reference counting explicit.
//!
//! Before, counting is implied by the rules in [`lh_ir::func`]; after, `IncRef` and `DecRef` are all there is: `Load`,
//! `Store`, `ArrayMake`, `Pack` and the like move bits only.
//!
//! ```text
//! block0(v0: array(float64, 1, C)):             block0(v0: array(float64, 1, C)) unwind block1():
//!     v1 = call spec0(v0): array(...)               v1 = call spec0(v0): array(...)
//!     v2 = call spec1(v1): float64          ->      jump block2()
//!     return v2                                 block1(): propagate        (only where something is owned)
//!                                               block2() unwind block3():
//!                                                   v2 = call spec1(v1): float64
//!                                                   decref v1
//!                                                   return v2
//!                                               block3():
//!                                                   decref v1
//!                                                   propagate
//! ```
//!
//! Values that are computed from owned ones by moving bits (a view of an array, a part of a tuple, an address) *borrow*:
//! they count nothing and keep their roots alive instead. A counted value loaded from a list borrows from the list as
//! long as nothing on the way to its uses may change lists. What an owned value's last use gives away (`Return`, a block
//! argument, a store) is moved.
//!
//! Requires: `Map` and `MapInto` are gone, the entry is no target, all blocks are reachable. Nothing may move
//! instructions over `DecRef` afterwards, so it is the last pass.

mod borrow;
mod own;
mod place;

use crate::analysis::Analyses;
use lh_ir::Function;

/// Runs the pass.
pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    if func.kernel.uncounted || !func.values.iter().any(|t| t.is_counted()) {
        return false;
    }
    let (cfg, dom) = (analyses.cfg(func), analyses.dom(func));
    let lasting = borrow::lasting_loads(func, cfg);
    let own = own::Ownership::new(func, cfg, dom, &lasting);
    place::place(func, cfg, &own)
}
