//! Runs several iterations of a loop around other loops together.
//!
//! ```text
//! for j in range(n):                      for j in range(0, n - 7, 8):
//!     s = 0.0                                 s0 = s1 = ... = s7 = 0.0
//!     for k in range(m):                      for k in range(m):
//!         s += a[k] * b[k, j]       ->            x = a[k]
//!     c[j] = s                                    s0 += x * b[k, j]; ... s7 += x * b[k, j + 7]
//!                                             c[j] = s0; ... c[j + 7] = s7
//!                                         # what is left as it was
//! ```
//!
//! A sum in strict order waits for each of its additions; eight sums wait at the same time, share what does not depend on
//! `j`, and read neighbours. Every element is computed by the operations that computed it before, in their order.
//!
//! So do four rows of a block's threads whose sums are of a few terms each. Threads know nothing of each other's memory
//! between two barriers, and their loops along the row are left to be vectorised.
//!
//! The inner loops must go the same way for all iterations, what is written must be another element for each of them, and
//! may overlap nothing else that is read or written, which a test before the loop makes sure of. Requires what `bounds`
//! leaves; leaves counted loops, of which the inner ones are marked as not to be vectorised any further.

mod build;
mod plan;

use crate::bounds::{Facts, Users};
use crate::counted::{Counted, Defs, counted};
use hashbrown::HashSet;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::Inst;
use lh_ir::{Block, Function};

/// Runs the pass.
pub(crate) fn run(func: &mut Function) -> bool {
    let stores = |b: &lh_ir::func::BlockData| b.insts.iter().any(|d| matches!(d.inst, Inst::Store(..)));
    if func.options.debug || !func.blocks.iter().any(stores) {
        return false;
    }
    let mut seen = HashSet::new();
    while jam_one(func, &mut seen) {}
    !seen.is_empty()
}

/// Treats the first loop that has not been looked at; whether there was one.
fn jam_one(func: &mut Function, seen: &mut HashSet<Block>) -> bool {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(&cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let around = |l: &usize| !loops.loops[*l].is_innermost && !seen.contains(&loops.loops[*l].header);
    if !(0..loops.loops.len()).any(|l| around(&l)) {
        return false;
    }
    let defs = Defs::new(func);
    let counts: Vec<Option<Counted>> = loops.loops.iter().map(|l| counted(func, &cfg, &defs, l)).collect();
    let users = Users::new(func, &cfg, &defs);
    let facts = Facts { func, cfg: &cfg, dom: &dom, loops: &loops, defs: &defs, counts: &counts, users: &users };
    let Some(plan) = (0..loops.loops.len()).filter(around).find_map(|l| plan::plan(&facts, l)) else { return false };
    let l = &loops.loops[plan.at];
    seen.insert(l.header);
    let counted = counts[plan.at].as_ref().expect("planned");
    let inner = loops.loops.iter().filter(|x| x.is_innermost && l.blocks.contains(&x.header)).map(|x| x.header);
    let inner: Vec<Block> = inner.collect();
    seen.insert(build::jam(func, &cfg, &dom, &users, l, &inner, counted, &plan));
    true
}
