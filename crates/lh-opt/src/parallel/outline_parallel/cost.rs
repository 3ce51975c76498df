//! Estimated cost of an iteration: picoseconds times the trip counts of inner loops.

use crate::analysis::cost::picoseconds;
use crate::analysis::counted::{Defs, counted};
use crate::analysis::effects::Callees;
use crate::edit::{Cursor, row};
use crate::parallel::region::Region;
use lh_ir::cfg::{Cfg, DomTree, Loops};
use lh_ir::func::Inst;
use lh_ir::{Function, Ty, Value};

/// The trip count of an inner loop.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Constant(i64),
    /// A value from before the parallel loop.
    Value(Value),
    /// An extent of an array from before the parallel loop.
    Extent(Value, u32),
}

/// A sum of picoseconds with trip counts as factors.
pub(super) struct Cost(Vec<(Vec<Times>, i64)>);

/// The cost of an iteration that ends; `None` if it may run for long.
pub(super) fn cost(func: &Function, cfg: &Cfg, dom: &DomTree, r: &Region, callees: Callees<'_>) -> Option<Cost> {
    let defs = Defs::new(func);
    let loops = Loops::new(func, cfg, dom);
    let made = r.defined(func);
    // Others end in an exception.
    let goes_on = cfg.leading_to([r.header]);
    let mut terms: Vec<(Vec<Times>, i64)> = Vec::new();
    for b in r.blocks.iter().filter(|b| goes_on[b.index()]) {
        let mut times = Vec::new();
        let mut at = loops.innermost[b.index()];
        while let Some(l) = at.map(|l| &loops.loops[l]).filter(|l| l.header != r.header && r.inside[l.header.index()]) {
            let c = counted(func, cfg, &defs, l)?;
            times.push(match c.trips(func, cfg, &defs, l).map(i64::try_from) {
                Some(n) => Times::Constant(n.ok()?),
                None if c.step.abs() != 1 => return None,
                None if !made[c.limit.index()] => Times::Value(c.limit),
                None => match (defs.inst(func, c.limit)?, defs.int(func, c.limit)) {
                    (Inst::ArrayShape(array, d), _) if !made[array.index()] => Times::Extent(*array, *d),
                    (_, Some(n)) => Times::Constant(n.saturating_abs()),
                    _ => return None,
                },
            });
            at = l.parent;
        }
        let mut sum = 0;
        for d in &func.blocks[b.index()].insts {
            sum += picoseconds(&d.inst, callees)?;
        }
        match terms.iter_mut().find(|t| t.0 == times) {
            Some(t) => t.1 += sum,
            None => terms.push((times, sum)),
        }
    }
    Some(Cost(terms))
}

impl Cost {
    /// Computes the cost in nanoseconds, at least 1.
    pub(super) fn emit(&self, c: &mut Cursor<'_>) -> Value {
        let (zero, one) = (c.int(0), c.int(1));
        // Trip counts saturate, so that no product overflows.
        let most = c.int(1 << 20);
        let mut sum = one;
        for (times, picoseconds) in self.0.iter().filter(|t| t.1 > 0) {
            let mut product = one;
            for t in times {
                let n = match t {
                    Times::Constant(n) => c.int(*n),
                    Times::Value(v) => *v,
                    Times::Extent(array, d) => c.inst(Inst::ArrayShape(*array, *d), Ty::int()),
                };
                product = c.mul(product, n);
                let negative = c.lt(product, zero);
                product = c.select(negative, zero, product);
                let large = c.lt(most, product);
                product = c.select(large, most, product);
            }
            let each = c.int(*picoseconds);
            let all = c.mul(product, each);
            sum = c.add(sum, all);
        }
        let thousand = c.int(1000);
        let ns = c.op(row("sdiv"), &[sum, thousand], Ty::int());
        c.add(ns, one)
    }
}
