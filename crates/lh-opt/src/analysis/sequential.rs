//! Loops that LLVM cannot vectorise, because an iteration depends on the one before.
//!
//! ```text
//! for i in range(n):          for i in range(n):          for i in range(n):
//!     s += a[i]                   h[b[i]] += 1                d[i] = a[i] - p
//!                                                             p = a[i]
//! ```
//!
//! Floats that depend on their own value of the previous iteration (`s`, but not `p`) are computed in program order
//! unless `fastmath` allows reassociation or they are results of a parallel loop's block (`add_any_order`). Stores to
//! elements whose index is loaded (`h[b[i]]`) may alias between iterations.

use crate::analysis::counted::{Defs, in_loop, target_of};
use hashbrown::HashSet;
use lh_ir::algebra::{Algebra, Nan};
use lh_ir::cfg::{Cfg, Loop};
use lh_ir::func::{Entry, Inst, fastmath};
use lh_ir::op::Op;
use lh_ir::types::Prim;
use lh_ir::{Function, Value};

/// Whether each iteration of a loop depends on the one before.
pub(crate) fn is_sequential(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop) -> bool {
    let seen = Recurrences { func, cfg, defs, l };
    seen.has_ordered_recurrence() || seen.scatters()
}

/// Whether a loop-carried float may be computed in any order.
pub(crate) fn may_reassociate(func: &Function, cfg: &Cfg, defs: &Defs, l: &Loop, param: Value) -> bool {
    func.options.fastmath & fastmath::REASSOC != 0 || !Recurrences { func, cfg, defs, l }.depends_on_itself(param)
}

/// Whether LLVM may reassociate an operation.
fn is_reassociable(op: &Op) -> bool {
    matches!(op.algebra, Algebra::AnyOrder | Algebra::Max(Nan::Stays) | Algebra::Min(Nan::Stays))
}

struct Recurrences<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    defs: &'a Defs,
    l: &'a Loop,
}

impl Recurrences<'_> {
    /// Whether an iteration needs a result of the previous one, in program order.
    fn has_ordered_recurrence(&self) -> bool {
        self.func.options.fastmath == 0
            && self.func.blocks[self.l.header.index()].params.iter().any(|p| {
                let ty = self.func.ty(*p);
                let is_float = |p: &Prim| matches!(p, Prim::F32 | Prim::F64);
                ty.is_counted() || (ty.flatten().iter().any(is_float) && self.is_latency_bound(*p))
            })
    }

    /// Whether a header parameter depends on itself through operations that cannot be reassociated.
    fn depends_on_itself(&self, param: Value) -> bool {
        self.reaches(self.incoming(param), &|v, _| v == param)
    }

    /// Whether a header parameter is computed from itself by operations that cannot be reassociated. A select adds no
    /// latency.
    fn is_latency_bound(&self, param: Value) -> bool {
        self.reaches(self.incoming(param), &|v, inst| match inst {
            Some(Inst::Op(op, _)) if op.is(Algebra::Select) || is_reassociable(op) => false,
            Some(inst @ (Inst::Op(..) | Inst::Call(..) | Inst::Runtime(..) | Inst::Foreign(..)))
                if !self.func.ty(v).is_bool() =>
            {
                let mut operands = Vec::new();
                inst.for_each_operand(|o| operands.push(o));
                self.reaches(operands, &|v, _| v == param)
            }
            _ => false,
        })
    }

    /// Whether the loop scatters: stores to addresses computed from loaded values. Threads of a kernel are
    /// independent by definition.
    fn scatters(&self) -> bool {
        let data = || self.l.blocks.iter().map(|b| &self.func.blocks[b.index()]);
        let reads = |_, inst: Option<&Inst>| matches!(inst, Some(Inst::Load(..)));
        let scatters = |inst: &Inst| match inst {
            Inst::Store(to, _) => match self.defs.inst(self.func, *to) {
                Some(Inst::ElemPtr { index, .. }) => self.reaches(index.to_vec(), &reads),
                _ => false,
            },
            _ => false,
        };
        self.func.kernel.entry != Entry::Blocks
            && data().all(|d| !d.latch.is_parallel())
            && data().flat_map(|d| &d.insts).any(|d| scatters(&d.inst))
    }

    /// Whether one of some values, or a value in the loop that it is computed from, has a property.
    fn reaches(&self, mut work: Vec<Value>, found: &dyn Fn(Value, Option<&Inst>) -> bool) -> bool {
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(v) = work.pop() {
            let inside = self.defs.block(v).is_some_and(|b| in_loop(self.cfg, self.l, b));
            if !inside || !seen.insert(v) {
                continue;
            }
            let inst = self.defs.inst(self.func, v);
            if found(v, inst) {
                return true;
            }
            match inst {
                Some(Inst::Op(op, _)) if is_reassociable(op) => {}
                Some(inst) => inst.for_each_operand(|o| work.push(o)),
                None => work.extend(self.incoming(v)),
            }
        }
        false
    }

    /// Arguments for a block parameter on edges from inside the loop.
    fn incoming(&self, param: Value) -> Vec<Value> {
        let Some(block) = self.defs.block(param) else { return Vec::new() };
        let place = self.func.blocks[block.index()].params.iter().position(|p| *p == param);
        let Some(place) = place else { return Vec::new() };
        let inside = self.cfg.preds(block).iter().filter(|e| in_loop(self.cfg, self.l, e.from));
        inside.map(|e| target_of(self.func, *e).args[place]).collect()
    }
}
