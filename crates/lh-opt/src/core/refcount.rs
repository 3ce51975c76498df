//! Makes reference counting explicit.
//!
//! Before the pass, counting follows implicitly from the rules in [`lh_ir::func`]. After it, only `IncRef` and `DecRef`
//! count: `Load`, `Store`, `ArrayMake`, `Pack` and the like copy bits.
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
//! Values that are copies of bits of owned values (a view of an array, a field of a tuple, an address) *borrow*: they
//! count nothing and keep their roots alive. A counted value loaded from an object borrows from it if
//! no object may change between the load and its uses. The last use of an owned value may move it (`Return`, a block
//! argument, a store).
//!
//! Requires that there is no `Map` or `MapInto`, that no edge leads to the entry and that all blocks are reachable. It
//! is the last pass, because no instruction may move over a `DecRef`.

mod borrow;
mod own;
mod place;

use crate::analysis::Analyses;
use lh_ir::Function;

pub(crate) fn run(func: &mut Function, analyses: &Analyses) -> bool {
    if func.kernel.uncounted || !func.values.iter().any(|t| t.is_counted()) {
        return false;
    }
    let (cfg, dom) = (analyses.cfg(func), analyses.dom(func));
    let lasting = borrow::lasting_loads(func, cfg);
    let own = own::Ownership::new(func, cfg, dom, &lasting);
    place::place(func, cfg, &own)
}
